/* SPDX-License-Identifier: MIT */
/* pmulab trace: a scenario's signals for GTKWave and Perfetto. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "kernelcore/kperf.h"
#include "tools/pmulab.h"
#include "tools/wave.h"
#include "tools/whole-file.h"

enum format { VCD, PERFETTO, FORMATS };

struct args {
	const char *scenario, *profile;
	enum cpu_engine engine;
	const char *path[FORMATS]; /* NULL: not wanted */
};

static const struct argp_option options[] = {
	{ "vcd", 'v', "FILE", 0, "Write a value change dump there, for GTKWave", 0 },
	{ "perfetto", 'P', "FILE", 0, "Write Chrome's JSON trace there, for ui.perfetto.dev", 0 },
	{ "profile", 'p', "P", 0, "The kernel to be (default: the first of `pmulab profiles`)", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'v':
		args->path[VCD] = arg;
		break;
	case 'P':
		args->path[PERFETTO] = arg;
		break;
	case 'p':
		args->profile = arg;
		break;
	case 'e':
		args->engine = need_engine(arg);
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
		if (!args->path[VCD] && !args->path[PERFETTO])
			usage_error("what to write? --vcd FILE or --perfetto FILE");
		if (args->path[VCD] && args->path[PERFETTO] &&
		    !strcmp(args->path[VCD], args->path[PERFETTO]))
			usage_error("--vcd and --perfetto: one file for both: %s", args->path[VCD]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct output {
	struct whole_file whole;
	struct wave_sink *sink;
};

static int open_output(const struct args *args, enum format format, const struct code *code,
		       struct output *output)
{
	if (whole_file_open(&output->whole, args->path[format]))
		return -1;
	output->sink = format == VCD ? wave_vcd_open(output->whole.file) :
				       wave_perfetto_open(output->whole.file, code, args->profile);
	return 0;
}

static int close_output(const struct story *story, struct output *output, bool good)
{
	if (good && output->sink && output->sink->end(output->sink->opaque, story)) {
		complain("%s: %s", output->whole.path, strerror(errno ? errno : EIO));
		good = false;
	}
	wave_close(output->sink);
	return whole_file_close(&output->whole, good);
}

static int record(const struct args *args, const struct scn *scn, const struct code *code,
		  struct output *output, struct story *story)
{
	struct runner_config config = {
		.profile = args->profile,
		.engine = args->engine,
		.agent = where_agent(),
		.prepare = story_listen,
		.opaque = story,
	};
	struct wave wave = { 0 };
	struct runner_result result;
	char err[512];

	for (int i = 0; i < FORMATS; i++) {
		if (!args->path[i])
			continue;
		if (open_output(args, (enum format)i, code, &output[i]))
			return -1;
		wave.sink[wave.nsinks++] = output[i].sink;
	}
	story->also = wave_event;
	story->opaque = &wave;
	if (runner_run(scn, &config, &result, err, sizeof(err))) {
		complain("%s", err);
		return -1;
	}
	runner_result_free(&result);
	return 0;
}

static int run(const struct args *args, const struct scn *scn)
{
	struct output output[FORMATS] = { { .sink = NULL } };
	struct story story;
	char err[512];
	struct code *code = code_load(where_agent(), err, sizeof(err));
	int rc;

	if (!code) {
		complain("%s", err);
		return EXIT_USAGE;
	}
	story_init(&story, scn);
	rc = record(args, scn, code, output, &story);
	for (int i = 0; i < FORMATS; i++)
		if (args->path[i] && close_output(&story, &output[i], !rc))
			rc = -1;
	story_free(&story);
	code_free(code);
	return rc ? EXIT_USAGE : 0;
}

int cmd_trace(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "SCENARIO",
		.doc = "Run a scenario and write its signals over time: counters, flags, line, "
		       "interrupt, exception level, head and tail, records."
		       "\vexample: pmulab trace cycles-ip-100000 --vcd wave.vcd --perfetto wave.json",
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
