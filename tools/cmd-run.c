/* SPDX-License-Identifier: MIT */
/* pmulab run: one scenario, its trace on stdout or in a file. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "kernelcore/kperf.h"
#include "tools/bus-text.h"
#include "tools/pmulab.h"
#include "tools/whole-file.h"

struct args {
	const char *scenario, *profile, *output, *bus;
	enum cpu_engine engine;
	enum runner_mode mode;
	const struct timing_model *timing;
	uint64_t skid;
	bool has_skid, json;
};

enum { KEY_SKID = 256 };

static const struct argp_option options[] = {
	{ "profile", 'p', "P", 0, "The kernel to be (default: the first of `pmulab profiles`)", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ "mode", 'm', "MODE", 0, "host (default), or guest: the kernel at EL1 of the emulated CPU", 0 },
	{ "timing", 't', "T", 0, "icount (default) or inorder", 0 },
	{ "skid", KEY_SKID, "N", 0, "Cycles between an interrupt and its being taken "
	  "(default: the scenario's)", 0 },
	{ "json", 'j', NULL, 0, "Print the trace as JSON", 0 },
	{ "output", 'o', "FILE", 0, "Write the trace there", 0 },
	{ "bus", 'b', "FILE", 0, "Write every event of the machine's bus there, one a line", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'p':
		args->profile = arg;
		break;
	case 'e':
		args->engine = need_engine(arg);
		break;
	case 'm':
		args->mode = need_mode(arg);
		break;
	case 't':
		args->timing = need_timing(arg);
		break;
	case KEY_SKID:
		args->skid = parse_count("skid", arg, 0, UINT32_MAX);
		args->has_skid = true;
		break;
	case 'j':
		args->json = true;
		break;
	case 'o':
		args->output = arg;
		break;
	case 'b':
		args->bus = arg;
		break;
	case ARGP_KEY_ARG:
		if (args->scenario)
			usage_error("one scenario at a time: %s", arg);
		args->scenario = arg;
		break;
	case ARGP_KEY_NO_ARGS:
		usage_error("which scenario? See --help");
		break;
	case ARGP_KEY_SUCCESS:
		if (args->output && args->bus && !strcmp(args->output, args->bus))
			usage_error("--output and --bus: one file for both: %s", args->bus);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static json_t *json_record(const struct tt_record *record)
{
	json_t *fields = json_object();
	json_t *out = json_pack("{s:s, s:o}", "kind", record->kind, "fields", fields);
	char *hex;

	for (size_t i = 0; i < record->nfields; i++)
		json_object_set_new(fields, record->fields[i].name,
				    json_string(record->fields[i].token));
	if (!record->nraw)
		return out;
	hex = malloc(record->nraw * 2 + 1);
	if (!hex)
		return out;
	for (size_t i = 0; i < record->nraw; i++)
		sprintf(hex + 2 * i, "%02x", record->raw[i]);
	json_object_set_new(out, "raw", json_string(hex));
	free(hex);
	return out;
}

static int write_json(const struct tt_trace *trace, FILE *out)
{
	json_t *steps = json_array();
	json_t *root = json_pack("{s:s, s:o}", "scenario", trace->scenario, "steps", steps);
	int rc;

	for (size_t i = 0; i < trace->nsteps; i++) {
		const struct tt_step *step = &trace->steps[i];
		json_t *records = json_array();

		for (size_t r = 0; r < step->nrecords; r++)
			json_array_append_new(records, json_record(&step->records[r]));
		json_array_append_new(steps, json_pack("{s:i, s:s, s:s, s:o}", "step",
						       (int)step->number, "words",
						       step->words, "result",
						       step->result.token, "records",
						       records));
	}
	rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(root);
	return rc;
}

static int write_output(const struct args *args, const struct tt_trace *trace)
{
	struct whole_file whole = { .file = stdout };
	int rc;

	if (args->output && whole_file_open(&whole, args->output)) {
		whole_file_close(&whole, false);
		return -1;
	}
	rc = args->json ? write_json(trace, whole.file) : tt_write(trace, whole.file);
	if (!args->output && (fflush(stdout) || ferror(stdout)))
		rc = -1;
	if (rc)
		complain("%s: %s", args->output ? args->output : "stdout",
			 strerror(errno ? errno : EIO));
	return args->output ? whole_file_close(&whole, !rc) : rc;
}

struct watch {
	struct bus_text bus;
	const char *path;
	int failed; /* errno */
};

static void watch_bus(void *opaque, struct machine *machine, struct host *host)
{
	struct watch *watch = opaque;

	(void)host;
	if (bus_text_open(&watch->bus, watch->path, machine))
		watch->failed = errno;
}

/* The bus goes with the machine: its file is complete before. */
static void unwatch_bus(void *opaque, struct machine *machine, struct host *host)
{
	struct watch *watch = opaque;

	(void)machine;
	(void)host;
	if (!watch->failed && bus_text_close(&watch->bus))
		watch->failed = errno;
}

static int run(const struct args *args, const struct scn *scn)
{
	struct watch watch = { .path = args->bus };
	struct runner_config config = {
		.profile = args->profile,
		.mode = args->mode,
		.engine = args->engine,
		.timing = args->timing,
		.skid = args->has_skid ? &args->skid : NULL,
		.agent = where_agent(),
		.kernel = where_kernel(),
		.prepare = args->bus ? watch_bus : NULL,
		.finish = args->bus ? unwatch_bus : NULL,
		.opaque = &watch,
	};
	struct runner_result result;
	char err[512] = "";
	int rc = 0;

	if (runner_run(scn, &config, &result, err, sizeof(err))) {
		complain("%s", err);
		return EXIT_USAGE;
	}
	if (watch.failed) {
		complain("%s: %s", args->bus, strerror(watch.failed));
		runner_result_free(&result);
		return EXIT_USAGE;
	}
	if (write_output(args, result.trace))
		rc = EXIT_USAGE;
	if (!rc && result.expect_failed) {
		fputs(result.expect_text, stderr);
		rc = EXIT_DIFFERS;
	}
	runner_result_free(&result);
	return rc;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "SCENARIO",
		.doc = "Run a scenario on the emulated machine and print its trace. SCENARIO is "
		       "a .scn file or a name that `pmulab scenarios` lists."
		       "\vexample: pmulab run cycles-ip-100000 --engine step",
	};
	struct args args = { .profile = kperf_profile(0), .engine = CPU_ENGINE_BLOCK };
	struct scn *scn;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	need_profile(args.profile);
	scn = load_scenario(args.scenario);
	if (!scn)
		return EXIT_USAGE;
	rc = run(&args, scn);
	scn_free(scn);
	return rc;
}
