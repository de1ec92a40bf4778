/* SPDX-License-Identifier: MIT */
/* The recorder's half that is not a shell script: images out, goldens in. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/decode.h"
#include "conformance/diff.h"
#include "tools/console.h"
#include "tools/golden-merge.h"

#define ERR_SIZE       2048
#define DEFAULT_PRESET "qemu-a57"

enum {
	OK,
	REFUSED,
	BAD
};

static const char usage_text[] =
	"usage: golden-tool compile [--preset P] [--cpus N] --out DIR SCENARIO.scn...\n"
	"       golden-tool merge [--preset P] [--cpus N] [--exact-samples]\n"
	"                         --kernel-name NAME\n"
	"                         --agent ELF --boots DIR --out DIR [--previous DIR]\n"
	"                         SCENARIO.scn...\n"
	"       golden-tool decode [--preset P] --agent ELF --console FILE [--golden DIR]\n"
	"                          SCENARIO.scn...\n"
	"\n"
	"compile writes one image for each scenario and one for the canary; those that\n"
	"only the emulator can run are named on stderr and left out.\n"
	"merge makes goldens of DIR/boot-1/console.txt, DIR/boot-2/console.txt ... and\n"
	"DIR/headers, or refuses and writes nothing. A previous golden that accepts\n"
	"every boot and holds as much keeps its body. Scenarios of another preset\n"
	"than P (qemu-a57) and of another number of CPUs than N (1) are left out.\n"
	"--exact-samples: every counter of the boots' machine samples without loss,\n"
	"which QEMU's event counters do not.\n"
	"decode prints the scenarios' traces in the console of one boot; with --golden it\n"
	"compares them with DIR/NAME.golden, as pmulab check does, and prints what differs.\n"
	"\n"
	"example: golden-tool compile --out images "
	"corpus/scenarios/cycles-ip-100000.scn\n"
	"exit status: 0 done, 1 refused, 2 usage, bad input or I/O\n";

struct arguments {
	const char *kernel, *agent, *boots, *out, *previous, *preset, *console, *golden;
	bool exact_samples;
	unsigned cpus;
	struct scn **scns;
	size_t nscns;
};

struct args_decode {
	const struct console *console;
	const struct decode_symbols *symbols;
	const char *golden; /* NULL: print */
};

static int complain(const char *what)
{
	fprintf(stderr, "golden-tool: %s (--help tells how)\n", what);
	return BAD;
}

static int load_scenarios(struct arguments *args, char **files, bool note)
{
	char err[ERR_SIZE];
	size_t n = 0;

	while (files[n])
		n++;
	args->scns = calloc(n + 1, sizeof(*args->scns));
	if (!args->scns)
		abort();
	for (; *files; files++) {
		struct scn *scn = scn_load(*files, err, sizeof(err));

		if (!scn) {
			fprintf(stderr, "%s\n", err);
			return BAD;
		}
		if (scn->emulator_only) {
			if (note)
				fprintf(stderr, "%s: emulator only: %s\n", scn->name,
					scn->emulator_only);
			scn_free(scn);
			continue;
		}
		if (!args->exact_samples &&
		    golden_refuse_companion(scn, NULL, 0, err, sizeof(err))) {
			if (note)
				fprintf(stderr, "%s: QEMU would lose its samples\n", scn->name);
			scn_free(scn);
			continue;
		}
		if (scn->machine.cpus != args->cpus) {
			scn_free(scn);
			continue;
		}
		if (strcmp(scn->machine.preset, args->preset)) {
			if (note && strcmp(args->preset, DEFAULT_PRESET) == 0)
				fprintf(stderr, "%s: of preset %s\n", scn->name,
					scn->machine.preset);
			scn_free(scn);
			continue;
		}
		args->scns[args->nscns++] = scn;
		if (!strcmp(scn->name, GOLDEN_CANARY)) {
			fprintf(stderr, "%s:1: a scenario cannot be named %s\n", *files,
				GOLDEN_CANARY);
			return BAD;
		}
	}
	return OK;
}

static int write_image(const char *dir, const struct scn *scn)
{
	char err[ERR_SIZE], path[4096];
	uint8_t *image;
	size_t size;
	FILE *out;
	bool ok;

	if (scn_compile(scn, &image, &size, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return BAD;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, scn->name);
	out = fopen(path, "wb");
	ok = out && fwrite(image, 1, size, out) == size;
	if (out && fclose(out))
		ok = false;
	free(image);
	if (ok)
		return OK;
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return BAD;
}

static int compile(const struct arguments *args)
{
	struct scn *canary = golden_canary();
	int ret = OK;

	if (mkdir(args->out, 0777) && errno != EEXIST) {
		fprintf(stderr, "%s: %s\n", args->out, strerror(errno));
		ret = BAD;
	}
	for (size_t i = 0; i < args->nscns && !ret; i++)
		ret = write_image(args->out, args->scns[i]);
	if (!ret)
		ret = write_image(args->out, canary);
	scn_free(canary);
	return ret;
}

static int compare(const char *dir, const struct scn *scn, const struct tt_trace *run)
{
	const struct diff_options options = {.schema = true};
	char path[4096], err[ERR_SIZE];
	struct tt_trace *golden;
	int differs;

	snprintf(path, sizeof(path), "%s/%s.golden", dir, scn->name);
	golden = tt_read(path, err, sizeof(err));
	if (!golden) {
		fprintf(stderr, "%s\n", err);
		return BAD;
	}
	differs = diff_trace(golden, run, &options, stdout, NULL);
	tt_free(golden);
	printf("%s %s\n", differs ? "FAIL" : "PASS", scn->name);
	return differs ? REFUSED : OK;
}

static int decode_one(const struct args_decode *with, const struct scn *scn)
{
	const struct console_run *run = console_find(with->console, scn->name);
	struct tt_trace *trace = NULL;
	struct decode_log log;
	char err[ERR_SIZE];
	int ret = OK;

	if (!run) {
		fprintf(stderr, "%s: scenario %s did not run\n", with->console->file, scn->name);
		return REFUSED;
	}
	if (decode_log_parse(&log, with->console->file, run->log ? run->log : "", run->nlog,
			     err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return REFUSED;
	}
	trace = decode_trace(scn, &log, with->symbols, err, sizeof(err));
	decode_log_free(&log);
	if (!trace) {
		fprintf(stderr, "%s\n", err);
		return REFUSED;
	}
	if (with->golden)
		ret = compare(with->golden, scn, trace);
	else
		tt_write(trace, stdout);
	tt_free(trace);
	return ret;
}

static int decode(const struct arguments *args)
{
	char err[ERR_SIZE];
	struct console console;
	struct decode_symbols *symbols;
	int ret = OK;

	if (console_load(&console, args->console, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return REFUSED;
	}
	symbols = decode_symbols_load(args->agent, err, sizeof(err));
	if (!symbols) {
		fprintf(stderr, "%s\n", err);
		ret = BAD;
	}
	for (size_t i = 0; i < args->nscns && ret != BAD; i++) {
		const struct args_decode with = { &console, symbols, args->golden };
		int one = decode_one(&with, args->scns[i]);

		if (one > ret)
			ret = one;
	}
	decode_symbols_free(symbols);
	console_free(&console);
	return ret;
}

static int merge(const struct arguments *args)
{
	const struct golden_options options = {
		.kernel = args->kernel,
		.agent = args->agent,
		.boots = args->boots,
		.out = args->out,
		.previous = args->previous,
		.exact_samples = args->exact_samples,
	};
	char err[ERR_SIZE];
	int ret;

	ret = golden_merge(&options, args->scns, args->nscns, err, sizeof(err));
	if (ret)
		fprintf(stderr, "%s%s\n", ret == REFUSED ? "refused: " : "", err);
	return ret;
}

static bool has_options(const struct arguments *args, char command)
{
	switch (command) {
	case 'c':
		return args->out;
	case 'm':
		return args->out && args->kernel && args->agent && args->boots;
	default:
		return args->agent && args->console;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"kernel-name", required_argument, NULL, 'k'},
		{"agent", required_argument, NULL, 'a'},
		{"boots", required_argument, NULL, 'b'},
		{"out", required_argument, NULL, 'o'},
		{"previous", required_argument, NULL, 'p'},
		{"preset", required_argument, NULL, 'P'},
		{"cpus", required_argument, NULL, 'n'},
		{"exact-samples", no_argument, NULL, 'x'},
		{"console", required_argument, NULL, 'c'},
		{"golden", required_argument, NULL, 'g'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct arguments args = {.preset = DEFAULT_PRESET, .cpus = 1};
	const char *command;
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'k':
			args.kernel = optarg;
			break;
		case 'a':
			args.agent = optarg;
			break;
		case 'b':
			args.boots = optarg;
			break;
		case 'o':
			args.out = optarg;
			break;
		case 'p':
			args.previous = optarg;
			break;
		case 'P':
			args.preset = optarg;
			break;
		case 'c':
			args.console = optarg;
			break;
		case 'n':
			args.cpus = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'g':
			args.golden = optarg;
			break;
		case 'x':
			args.exact_samples = true;
			break;
		case 'h':
			return fputs(usage_text, stdout) < 0 ? BAD : OK;
		default:
			return BAD;
		}
	}
	if (optind == argc)
		return complain("compile, merge or decode?");
	command = argv[optind];
	if (strcmp(command, "compile") && strcmp(command, "merge") && strcmp(command, "decode"))
		return complain("unknown command, compile, merge or decode?");
	if (!has_options(&args, *command))
		return complain("an option is missing");
	if (optind + 1 == argc)
		return complain("no scenario");
	if (*command == 'd')
		args.exact_samples = true; /* leave none out */
	ret = load_scenarios(&args, argv + optind + 1, *command == 'c');
	if (!ret)
		ret = *command == 'c' ? compile(&args) :
		      *command == 'm' ? merge(&args) :
					decode(&args);
	for (size_t i = 0; i < args.nscns; i++)
		scn_free(args.scns[i]);
	free(args.scns);
	return ret;
}
