/* SPDX-License-Identifier: MIT */
#include "conformance/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode.h"
#include "conformance/expect.h"

enum { RAM_SIZE = 64 << 20 };

struct buffer {
	char *data;
	size_t n, room;
	bool full; /* memory ran out */
};

static void append(void *opaque, const void *data, size_t n)
{
	struct buffer *buf = opaque;

	if (buf->n + n > buf->room) {
		size_t room = (buf->n + n) * 2;
		char *more = realloc(buf->data, room);

		if (!more) {
			buf->full = true;
			return;
		}
		buf->data = more;
		buf->room = room;
	}
	memcpy(buf->data + buf->n, data, n);
	buf->n += n;
}

void *runner_slurp(const char *path, size_t *size, char *err, size_t errsize)
{
	struct buffer buf = { 0 };
	FILE *file = fopen(path, "rb");
	char chunk[65536];
	size_t n;

	if (!file) {
		snprintf(err, errsize, "%s: %s", path, strerror(errno));
		return NULL;
	}
	append(&buf, "", 0);
	while ((n = fread(chunk, 1, sizeof(chunk), file)))
		append(&buf, chunk, n);
	if (ferror(file) || buf.full) {
		snprintf(err, errsize, "%s: %s", path,
			 buf.full ? "out of memory" : strerror(errno));
		free(buf.data);
		buf.data = NULL;
	} else if (!buf.data) {
		buf.data = calloc(1, 1); /* an empty file is a file */
	}
	fclose(file);
	*size = buf.n;
	return buf.data;
}

static int machine_settings(const struct scn *scn, const struct runner_config *config,
			    struct machine_config *machine, char *err, size_t errsize)
{
	const struct scn_machine *m = &scn->machine;

	*machine = (struct machine_config){
		.preset = machine_preset(m->preset),
		.engine = config->engine,
		.counters = m->counters == UINT_MAX ? -1 : (int)m->counters,
		.poison_reset = m->poison,
		.no_pmu_irq = m->irq != SCN_IRQ_OK,
		.ram_size = RAM_SIZE,
		.max_insns = config->max_insns ? config->max_insns : RUNNER_MAX_INSNS,
	};
	if (machine->preset)
		return 0;
	snprintf(err, errsize, "%s:%u: no such preset: %s", scn->file, m->line,
		 m->preset);
	return -1;
}

static int run_program(const struct scn *scn, const struct runner_config *config,
		       struct host *host, char *err, size_t errsize)
{
	struct kentry_status status;
	size_t elf_size, image_size;
	uint8_t *image = NULL;
	void *elf = runner_slurp(config->agent, &elf_size, err, errsize);
	int rc = -1;

	if (!elf || scn_compile(scn, &image, &image_size, err, errsize))
		goto out;
	switch (host_run(host, elf, elf_size, image, image_size, err, errsize)) {
	case HOST_EXITED:
		status = host_status(host);
		if (!status.signal && !status.code)
			rc = 0;
		else if (status.signal)
			snprintf(err, errsize,
				 "%s: the agent died of signal %d at pc 0x%llx, address 0x%llx",
				 scn->file, status.signal, (unsigned long long)status.pc,
				 (unsigned long long)status.far);
		else
			snprintf(err, errsize, "%s: the agent exited with status %d",
				 scn->file, status.code);
		break;
	case HOST_LIMIT:
		snprintf(err, errsize, "%s: more than %llu instructions at EL0", scn->file,
			 (unsigned long long)host_machine(host)->config.max_insns);
		break;
	case HOST_ERROR:
		break;
	}
out:
	free(image);
	free(elf);
	return rc;
}

static void collect_expects(const struct expect_watch *watch, const struct scn *scn,
			    struct runner_result *result)
{
	size_t size;
	FILE *text = open_memstream(&result->expect_text, &size);

	result->expect_total = scn->nexpects;
	result->expect_failed = expect_failures(watch, text);
	if (text)
		fclose(text);
}

static struct tt_trace *decode(const struct scn *scn, const char *agent,
			       const struct buffer *text, char *err, size_t errsize)
{
	struct decode_symbols *symbols = decode_symbols_load(agent, err, errsize);
	struct tt_trace *trace = NULL;
	struct decode_log log;

	if (!symbols)
		return NULL;
	if (!decode_log_parse(&log, scn->name, text->data ? text->data : "", text->n, err,
			      errsize)) {
		trace = decode_trace(scn, &log, symbols, err, errsize);
		decode_log_free(&log);
	}
	decode_symbols_free(symbols);
	return trace;
}

int runner_run(const struct scn *scn, const struct runner_config *config,
	       struct runner_result *result, char *err, size_t errsize)
{
	struct buffer log = { 0 };
	struct host_config host_config = {
		.profile = config->profile,
		.output = append,
		.opaque = &log,
	};
	struct expect_watch *watch = NULL;
	struct host *host = NULL;
	int rc = -1;

	memset(result, 0, sizeof(*result));
	if (machine_settings(scn, config, &host_config.machine, err, errsize))
		return -1;
	host = host_create(&host_config, err, errsize);
	if (host)
		watch = expect_start(scn, host_machine(host), err, errsize);
	if (!watch)
		goto out;
	if (config->prepare)
		config->prepare(config->opaque, host);
	if (run_program(scn, config, host, err, errsize))
		goto out;
	if (config->finish)
		config->finish(config->opaque, host);
	collect_expects(watch, scn, result);
	result->trace = decode(scn, config->agent, &log, err, errsize);
	if (result->trace)
		rc = 0;
	else
		runner_result_free(result);
out:
	expect_free(watch);
	host_destroy(host);
	free(log.data);
	return rc;
}

void runner_result_free(struct runner_result *result)
{
	tt_free(result->trace);
	free(result->expect_text);
	memset(result, 0, sizeof(*result));
}
