/* SPDX-License-Identifier: MIT */
/* pmulab check --engines: step, the reference, against block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bus-text.h"
#include "tools/check-item.h"

struct text {
	char *data;
	size_t size;
};

/* What one engine gave. */
struct account {
	struct text trace, bus;
	struct bus_text watch;
	FILE *bus_out;
	bool failed;
};

static void watch_bus(void *opaque, struct machine *machine, struct host *host)
{
	struct account *account = opaque;

	(void)host;
	account->bus_out = open_memstream(&account->bus.data, &account->bus.size);
	if (!account->bus_out || bus_text_start(&account->watch, account->bus_out, machine))
		account->failed = true;
}

static bool write_trace(struct account *account, const struct tt_trace *trace)
{
	FILE *out = open_memstream(&account->trace.data, &account->trace.size);
	bool bad;

	if (!out)
		return false;
	bad = tt_write(trace, out) != 0;
	return !fclose(out) && !bad;
}

/* The bus goes with the machine; its text stays. */
static bool close_bus(struct account *account)
{
	bool bad;

	if (!account->bus_out)
		return false;
	bad = ferror(account->bus_out) || account->failed;
	return !fclose(account->bus_out) && !bad;
}

/* What a scenario expects is of the clock it was written for; of another one the
 * engines must be equal, no more. */
static bool as_written(const struct check_args *args)
{
	return !args->timing && !args->has_skid;
}

static enum check_verdict run_engine(const struct check_args *args, const struct scn *scn,
				     const char *profile, enum cpu_engine engine,
				     struct account *account)
{
	struct runner_config config = {
		.profile = profile,
		.mode = args->mode,
		.engine = engine,
		.timing = args->timing,
		.skid = args->has_skid ? &args->skid : NULL,
		.agent = where_agent(),
		.kernel = where_kernel(),
		.prepare = watch_bus,
		.opaque = account,
	};
	enum check_verdict verdict = CHECK_SAME;
	struct runner_result result;
	char err[512] = "";
	bool whole;

	if (runner_run(scn, &config, &result, err, sizeof(err))) {
		complain("%s", err);
		close_bus(account);
		return CHECK_BAD;
	}
	whole = write_trace(account, result.trace);
	if (!close_bus(account) || !whole) {
		complain("%s: out of memory", scn->name);
		verdict = CHECK_BAD;
	} else if (result.expect_failed && as_written(args)) {
		fputs(result.expect_text, stdout);
		verdict = CHECK_DIFFERS;
	}
	runner_result_free(&result);
	return verdict;
}

static size_t count_lines(const struct text *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->size; i++)
		n += text->data[i] == '\n';
	return n;
}

static void say_line(const char *who, const struct text *text, size_t at)
{
	if (at >= text->size)
		printf("  %s: ends here\n", who);
	else
		printf("  %s: %.*s\n", who, (int)strcspn(text->data + at, "\n"), text->data + at);
}

/* The first line in which they differ, with its number. */
static bool same_text(const struct scn *scn, const char *what, const struct text *step,
		      const struct text *block)
{
	const size_t n = step->size < block->size ? step->size : block->size;
	size_t at = 0, line = 1, start = 0;

	if (step->size == block->size && !memcmp(step->data, block->data, n))
		return true;
	for (; at < n && step->data[at] == block->data[at]; at++) {
		if (step->data[at] == '\n') {
			line++;
			start = at + 1;
		}
	}
	printf("%s: the engines' %s differ in line %zu\n", scn->name, what, line);
	say_line("step", step, start);
	say_line("block", block, start);
	return false;
}

static enum check_verdict compare(const struct check_args *args, const struct scn *scn,
				  const char *profile, const struct account *step,
				  const struct account *block)
{
	bool same = same_text(scn, "traces", &step->trace, &block->trace);

	same &= same_text(scn, "buses", &step->bus, &block->bus);
	if (!step->bus.size) {
		printf("%s: nothing happened on the bus\n", scn->name);
		same = false;
	}
	if (same && !args->quiet)
		printf("PASS %s: step and block give the same trace (%zu bytes) and bus "
		       "(%zu events) as %s\n",
		       scn->name, step->trace.size, count_lines(&step->bus), profile);
	return same ? CHECK_SAME : CHECK_DIFFERS;
}

enum check_verdict check_engines(const struct check_args *args, const struct scn *scn,
				 const char *profile)
{
	struct account step = { 0 }, block = { 0 };
	enum check_verdict of_step = run_engine(args, scn, profile, CPU_ENGINE_STEP, &step);
	enum check_verdict verdict = of_step;

	if (of_step != CHECK_BAD)
		verdict = run_engine(args, scn, profile, CPU_ENGINE_BLOCK, &block);
	if (verdict != CHECK_BAD &&
	    (compare(args, scn, profile, &step, &block) != CHECK_SAME || of_step != CHECK_SAME))
		verdict = CHECK_DIFFERS;
	if (verdict == CHECK_DIFFERS)
		printf("FAIL %s: engines, as %s\n", scn->name, profile);
	free(step.trace.data);
	free(step.bus.data);
	free(block.trace.data);
	free(block.bus.data);
	return verdict;
}
