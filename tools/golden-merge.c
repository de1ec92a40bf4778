/* SPDX-License-Identifier: MIT */
#include "tools/golden-merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/decode.h"
#include "conformance/diff.h"
#include "conformance/merge.h"
#include "tools/console.h"

#define MAX_BOOTS 64
#define PATH_SIZE 4096

/* Without both, a kernel throttles short periods and lowers its rate. */
static const struct console_setting wanted_sysctls[] = {
	{"perf_event_max_sample_rate", "100000000"},
	{"perf_cpu_time_max_percent", "0"},
};

struct merge {
	const struct golden_options *options;
	struct scn *const *scns;
	size_t nscns;
	struct scn *canary;
	struct decode_symbols *symbols;
	struct console boots[MAX_BOOTS];
	size_t nboots;
	struct console_setting headers[16];
	size_t nheaders;
	char *headers_text;
	char canaries[1024];	   /* values as a header has them */
	struct tt_trace **goldens; /* one a scenario */
	char *err;
	size_t errsize;
};

enum {
	REFUSED = 1,
	BAD = 2
};

__attribute__((format(printf, 3, 4))) static int leave(struct merge *m, int status,
						       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->err, m->errsize, fmt, ap);
	va_end(ap);
	return status;
}

/* A few system calls alone cost the same in every boot; long runs between them
 * meet the timer's ticks, whose work does not. */
struct scn *golden_canary(void)
{
	static const char text[] = "scenario v1\n"
				   "event k hardware/cycles exclude=user,hv disabled\n"
				   "open k\n"
				   "ioctl k enable\n"
				   "read k\n"
				   "run spin 2000000\n"
				   "read k\n"
				   "run mixed 500000\n"
				   "read k\n"
				   "ioctl k disable\n"
				   "read k\n"
				   "close k\n";
	char err[256];
	struct scn *scn =
		scn_parse(GOLDEN_CANARY ".scn", text, sizeof(text) - 1, err, sizeof(err));

	if (!scn) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	return scn;
}

/* ---- what was recorded */

static int load_headers(struct merge *m)
{
	char path[PATH_SIZE], *line, *save = NULL;
	unsigned number = 0;
	size_t size = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/headers", m->options->boots);
	in = fopen(path, "r");
	if (!in)
		return leave(m, BAD, "%s: %s", path, strerror(errno));
	if (getdelim(&m->headers_text, &size, '\0', in) < 0)
		size = 0;
	fclose(in);
	if (!size)
		return leave(m, BAD, "%s:1: no headers", path);
	for (line = strtok_r(m->headers_text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *colon = strstr(line, ": ");

		number++;
		if (!colon || colon == line || !colon[2] ||
		    m->nheaders == sizeof(m->headers) / sizeof(m->headers[0]))
			return leave(m, BAD, "%s:%u: not KEY: VALUE, or too many", path,
				     number);
		*colon = '\0';
		m->headers[m->nheaders++] = (struct console_setting){line, colon + 2};
	}
	return 0;
}

static int check_boot(struct merge *m, const struct console *boot)
{
	const char *series = strchr(m->options->kernel, '-');
	size_t n;

	series = series ? series + 1 : m->options->kernel;
	n = strcspn(series, "-");
	if (strncmp(boot->kernel, series, n) || boot->kernel[n] != '.')
		return leave(m, REFUSED, "%s: kernel %s is not %s", boot->file,
			     boot->kernel, m->options->kernel);
	if (strcmp(boot->kernel, m->boots[0].kernel) ||
	    strcmp(boot->version ? boot->version : "",
		   m->boots[0].version ? m->boots[0].version : ""))
		return leave(m, REFUSED, "%s: another kernel than in the first boot: %s",
			     boot->file, boot->kernel);
	for (size_t i = 0; i < sizeof(wanted_sysctls) / sizeof(wanted_sysctls[0]); i++) {
		const char *value = console_sysctl(boot, wanted_sysctls[i].name);

		if (!value || strcmp(value, wanted_sysctls[i].value))
			return leave(m, REFUSED, "%s: %s is %s, not %s", boot->file,
				     wanted_sysctls[i].name, value ? value : "not told",
				     wanted_sysctls[i].value);
	}
	return 0;
}

static int load_boots(struct merge *m)
{
	while (m->nboots < MAX_BOOTS) {
		char path[PATH_SIZE];
		int ret;

		snprintf(path, sizeof(path), "%s/boot-%zu/console.txt", m->options->boots,
			 m->nboots + 1);
		if (access(path, F_OK))
			break;
		if (access(path, R_OK))
			return leave(m, BAD, "%s: %s", path, strerror(errno));
		if (console_load(&m->boots[m->nboots], path, m->err, m->errsize))
			return REFUSED;
		m->nboots++;
		ret = check_boot(m, &m->boots[m->nboots - 1]);
		if (ret)
			return ret;
	}
	if (m->nboots < MERGE_MIN_BOOTS)
		return leave(m, REFUSED, "%s: %zu boots, at least %d prove something",
			     m->options->boots, m->nboots, MERGE_MIN_BOOTS);
	return 0;
}

/* ---- one scenario of one boot */

static int parse_log(struct merge *m, const struct console *boot, const char *name,
		     struct decode_log *log)
{
	const struct console_run *run = console_find(boot, name);
	char where[PATH_SIZE];

	if (!run)
		return leave(m, REFUSED, "%s: scenario %s did not run", boot->file, name);
	snprintf(where, sizeof(where), "%s: scenario %s", boot->file, name);
	return decode_log_parse(log, where, run->log ? run->log : "", run->nlog, m->err,
				m->errsize)
		       ? REFUSED
		       : 0;
}

static void set_headers(const struct merge *m, struct tt_trace *trace)
{
	const struct console *boot = &m->boots[0];
	char sysctls[1024];
	size_t used = 0;

	tt_header_set(trace, "kernel", boot->kernel);
	if (boot->version && *boot->version)
		tt_header_set(trace, "kernel-version", boot->version);
	for (size_t i = 0; i < m->nheaders; i++)
		tt_header_set(trace, m->headers[i].name, m->headers[i].value);
	sysctls[0] = '\0';
	for (size_t i = 0; i < boot->nsysctls && used < sizeof(sysctls); i++)
		used += (size_t)snprintf(sysctls + used, sizeof(sysctls) - used,
					 "%s%s=%s", i ? " " : "", boot->sysctls[i].name,
					 boot->sysctls[i].value);
	tt_header_set(trace, "sysctls", sysctls);
	tt_header_set(trace, GOLDEN_CANARY, m->canaries);
}

/* NULL with the reason in m->err. */
static struct tt_trace *trace_of(struct merge *m, const struct scn *scn,
				 const struct console *boot)
{
	struct decode_log log;
	struct tt_trace *trace;
	char what[1024];

	if (parse_log(m, boot, scn->name, &log))
		return NULL;
	trace = decode_trace(scn, &log, m->symbols, what, sizeof(what));
	if (!trace ||
	    (!scn->may_throttle && merge_refuse_throttle(trace, what, sizeof(what))) ||
	    decode_check_counts(scn, &log, trace, what, sizeof(what)) ||
	    (!m->options->exact_samples &&
	     golden_refuse_companion(scn, log.results, log.nresults, what, sizeof(what))) ||
	    golden_refuse_samples(scn, log.results, log.nresults, trace, what,
				  sizeof(what))) {
		leave(m, REFUSED, "%s: %s", boot->file, what);
		tt_free(trace);
		trace = NULL;
	} else {
		set_headers(m, trace);
	}
	decode_log_free(&log);
	return trace;
}

/* ---- over all boots */

/* The last read's value of the canary in one boot. */
static int canary_value(struct merge *m, const struct console *boot, uint64_t *value)
{
	const struct tt_field *field = NULL;
	struct decode_log log;
	struct tt_trace *trace;
	int ret = parse_log(m, boot, GOLDEN_CANARY, &log);

	if (ret)
		return ret;
	trace = decode_trace(m->canary, &log, m->symbols, m->err, m->errsize);
	decode_log_free(&log);
	if (!trace)
		return REFUSED;
	for (size_t i = 0; i < trace->nsteps; i++)
		if (trace->steps[i].nrecords)
			field = tt_field_get(&trace->steps[i].records[0], "value");
	if (!field || !tt_number(field->token, value) || !*value)
		ret = leave(m, REFUSED, "%s: the canary counted nothing", boot->file);
	tt_free(trace);
	return ret;
}

static int check_canary(struct merge *m)
{
	uint64_t values[MAX_BOOTS];
	size_t used = 0;
	int ret;

	for (size_t i = 0; i < m->nboots; i++) {
		ret = canary_value(m, &m->boots[i], &values[i]);
		if (ret)
			return ret;
		used += (size_t)snprintf(m->canaries + used, sizeof(m->canaries) - used,
					 "%s%" PRIu64, i ? " " : "", values[i]);
	}
	return merge_refuse_canary(GOLDEN_CANARY, values, m->nboots, m->err, m->errsize)
		       ? REFUSED
		       : 0;
}

static bool holds_as_much(const struct tt_trace *old, const struct tt_trace *golden)
{
	struct diff_counts a, b;

	diff_count(old, &a);
	diff_count(golden, &b);
	return a.compared == b.compared && a.bounded == b.bounded &&
	       a.wildcarded == b.wildcarded && a.raw_compared == b.raw_compared &&
	       a.raw_masked == b.raw_masked;
}

static void keep_previous_body(const struct merge *m, const struct scn *scn,
			       struct tt_trace *const traces[], struct tt_trace *golden)
{
	const struct diff_options schema = {.schema = true};
	struct tt_trace *old;
	char path[PATH_SIZE], ignored[256];
	bool keep;

	if (!m->options->previous)
		return;
	snprintf(path, sizeof(path), "%s/%s.golden", m->options->previous, scn->name);
	old = tt_read(path, ignored, sizeof(ignored));
	keep = old && old->golden && holds_as_much(old, golden);
	for (size_t i = 0; i < m->nboots && keep; i++)
		keep = !diff_trace(old, traces[i], &schema, NULL, NULL);
	if (keep) {
		struct tt_step *steps = golden->steps;
		size_t nsteps = golden->nsteps;

		golden->steps = old->steps;
		golden->nsteps = old->nsteps;
		old->steps = steps;
		old->nsteps = nsteps;
	}
	tt_free(old);
}

void golden_seal(struct tt_trace *golden)
{
	char text[32];

	diff_body_header(golden, text, sizeof(text));
	tt_header_set(golden, "body", text);
}

static int merge_scenario(struct merge *m, const struct scn *scn,
			  struct tt_trace **golden)
{
	struct tt_trace *traces[MAX_BOOTS] = {NULL};
	size_t n = 0;

	while (n < m->nboots && (traces[n] = trace_of(m, scn, &m->boots[n])))
		n++;
	if (n == m->nboots)
		*golden = merge_boots(traces, n, m->err, m->errsize);
	if (*golden) {
		keep_previous_body(m, scn, traces, *golden);
		golden_seal(*golden);
	}
	while (n)
		tt_free(traces[--n]);
	return *golden ? 0 : REFUSED;
}

/* ---- writing */

static int make_folder(struct merge *m)
{
	char path[PATH_SIZE];
	size_t n = strlen(m->options->out);

	if (n >= sizeof(path))
		return leave(m, BAD, "%s: %s", m->options->out, strerror(ENAMETOOLONG));
	memcpy(path, m->options->out, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i])
			continue;
		path[i] = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return leave(m, BAD, "%s: %s", path, strerror(errno));
		path[i] = m->options->out[i];
	}
	return 0;
}

static void name_file(const struct merge *m, const struct scn *scn, const char *end,
		      char *path)
{
	snprintf(path, PATH_SIZE, "%s/%s.golden%s", m->options->out, scn->name, end);
}

static int write_one(struct merge *m, const struct scn *scn,
		     const struct tt_trace *golden)
{
	char path[PATH_SIZE];
	FILE *out;
	int ret;

	name_file(m, scn, ".tmp", path);
	out = fopen(path, "w");
	if (!out)
		return leave(m, BAD, "%s: %s", path, strerror(errno));
	ret = tt_write(golden, out);
	if (fclose(out) && !ret)
		ret = -errno;
	return ret ? leave(m, BAD, "%s: %s", path, strerror(-ret)) : 0;
}

/* All files as NAME.golden.tmp first; the names come when all stand. */
static int write_all(struct merge *m)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	int ret = make_folder(m);
	size_t i;

	for (i = 0; i < m->nscns && !ret; i++)
		ret = write_one(m, m->scns[i], m->goldens[i]);
	for (size_t k = 0; k < i; k++) {
		name_file(m, m->scns[k], ".tmp", from);
		name_file(m, m->scns[k], "", to);
		if (ret)
			unlink(from);
		else if (rename(from, to))
			ret = leave(m, BAD, "%s: %s", to, strerror(errno));
	}
	return ret;
}

static int merge_all(struct merge *m)
{
	int ret = load_headers(m);

	if (!ret)
		ret = load_boots(m);
	if (!ret) {
		m->symbols = decode_symbols_load(m->options->agent, m->err, m->errsize);
		ret = m->symbols ? check_canary(m) : BAD;
	}
	for (size_t i = 0; i < m->nscns && !ret; i++)
		ret = merge_scenario(m, m->scns[i], &m->goldens[i]);
	return ret ? ret : write_all(m);
}

int golden_merge(const struct golden_options *options, struct scn *const scns[], size_t n,
		 char *err, size_t errsize)
{
	struct merge *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		abort();
	*m = (struct merge){
		.options = options,
		.scns = scns,
		.nscns = n,
		.canary = golden_canary(),
		.goldens = calloc(n + 1, sizeof(*m->goldens)),
		.err = err,
		.errsize = errsize,
	};
	if (!m->goldens)
		abort();
	ret = merge_all(m);
	for (size_t i = 0; i < n; i++)
		tt_free(m->goldens[i]);
	for (size_t i = 0; i < m->nboots; i++)
		console_free(&m->boots[i]);
	decode_symbols_free(m->symbols);
	scn_free(m->canary);
	free(m->goldens);
	free(m->headers_text);
	free(m);
	return ret;
}
