/* SPDX-License-Identifier: MIT */
#include "conformance/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode.h"
#include "conformance/runner-priv.h"

enum { RAM_SIZE = 64 << 20 };

static struct cpu_traits traits; /* found out by the first run */

void runner_append(void *opaque, const void *data, size_t n)
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
	runner_append(&buf, "", 0);
	while ((n = fread(chunk, 1, sizeof(chunk), file)))
		runner_append(&buf, chunk, n);
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
		.cpus = m->cpus,
		.max_insns = config->max_insns ? config->max_insns : RUNNER_MAX_INSNS,
		.timing = config->timing,
		.skid = config->skid ? *config->skid : m->skid,
		.traits = &traits,
	};
	if (machine->preset)
		return 0;
	snprintf(err, errsize, "%s:%u: no such preset: %s", scn->file, m->line,
		 m->preset);
	return -1;
}

static int run_program(struct runner_job *job, struct host *host)
{
	const char *file = job->scn->file;
	struct kentry_status status;

	switch (host_run(host, job->elf, job->elf_size, job->image, job->image_size, job->err,
			 job->errsize)) {
	case HOST_EXITED:
		status = host_status(host);
		if (!status.signal && !status.code)
			return 0;
		if (status.signal)
			snprintf(job->err, job->errsize,
				 "%s: the agent died of signal %d at pc 0x%llx, address 0x%llx",
				 file, status.signal, (unsigned long long)status.pc,
				 (unsigned long long)status.far);
		else
			snprintf(job->err, job->errsize, "%s: the agent exited with status %d",
				 file, status.code);
		return -1;
	case HOST_LIMIT:
		snprintf(job->err, job->errsize, "%s: more than %llu instructions at EL0", file,
			 (unsigned long long)job->machine.max_insns);
		return -1;
	case HOST_ERROR:
		break;
	}
	return -1;
}

int runner_run_host(struct runner_job *job)
{
	const struct runner_config *config = job->config;
	const struct host_config host_config = {
		.machine = job->machine,
		.profile = config->profile,
		.output = runner_append,
		.opaque = &job->log,
	};
	struct host *host = host_create(&host_config, job->err, job->errsize);
	int rc = -1;

	if (!host)
		return -1;
	job->watch = expect_start(job->scn, host_machine(host), job->err, job->errsize);
	if (job->watch && config->prepare)
		config->prepare(config->opaque, host_machine(host), host);
	if (job->watch)
		rc = run_program(job, host);
	if (!rc && config->finish)
		config->finish(config->opaque, host_machine(host), host);
	/* its tasks are ended now, which is nothing that the scenario did */
	trace_bus_mute(&host_machine(host)->bus);
	host_destroy(host);
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

const char *runner_cannot(const struct scn *scn, enum runner_mode mode)
{
	if (mode != RUNNER_GUEST)
		return NULL;
	if (scn->machine.cpus > 1)
		return "guest mode has one CPU";
	for (unsigned i = 0; i < scn->nsteps; i++) {
		if (scn->steps[i].verb == SCN_AT_HAL)
			return "at hal: only host mode counts the kernel's operations";
		if (scn->steps[i].verb == SCN_HOSTILE)
			return "hostile: only host mode counts the kernel's operations";
	}
	return NULL;
}

static int run_job(struct runner_job *job, struct runner_result *result)
{
	const struct runner_config *config = job->config;
	int rc = config->mode == RUNNER_GUEST ? runner_run_guest(job) : runner_run_host(job);

	if (!rc && job->log.full) {
		snprintf(job->err, job->errsize, "out of memory");
		rc = -1;
	}
	if (rc)
		return rc;
	collect_expects(job->watch, job->scn, result);
	result->trace = decode(job->scn, config->agent, &job->log, job->err, job->errsize);
	if (result->trace)
		return 0;
	runner_result_free(result);
	return -1;
}

int runner_run(const struct scn *scn, const struct runner_config *config,
	       struct runner_result *result, char *err, size_t errsize)
{
	struct runner_job job = {
		.scn = scn,
		.config = config,
		.err = err,
		.errsize = errsize,
	};
	const char *cannot = runner_cannot(scn, config->mode);
	uint8_t *image = NULL;
	void *elf = NULL;
	int rc = -1;

	memset(result, 0, sizeof(*result));
	if (cannot) {
		snprintf(err, errsize, "%s: %s", scn->file, cannot);
		return -1;
	}
	if (machine_settings(scn, config, &job.machine, err, errsize))
		return -1;
	elf = runner_slurp(config->agent, &job.elf_size, err, errsize);
	if (elf && !scn_compile(scn, &image, &job.image_size, err, errsize)) {
		job.elf = elf;
		job.image = image;
		rc = run_job(&job, result);
	}
	expect_free(job.watch);
	free(job.log.data);
	free(image);
	free(elf);
	return rc;
}

void runner_result_free(struct runner_result *result)
{
	tt_free(result->trace);
	free(result->expect_text);
	memset(result, 0, sizeof(*result));
}
