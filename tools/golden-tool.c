/* SPDX-License-Identifier: MIT */
/* The recorder's half that is not a shell script: images out, goldens in. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/golden-merge.h"

#define ERR_SIZE       2048
#define DEFAULT_PRESET "qemu-a57"

enum {
	OK,
	REFUSED,
	BAD
};

static const char usage_text[] =
	"usage: golden-tool compile [--preset P] --out DIR SCENARIO.scn...\n"
	"       golden-tool merge [--preset P] [--exact-samples] --kernel-name NAME\n"
	"                         --agent ELF --boots DIR --out DIR [--previous DIR]\n"
	"                         SCENARIO.scn...\n"
	"\n"
	"compile writes one image for each scenario and one for the canary; those that\n"
	"only the emulator can run are named on stderr and left out.\n"
	"merge makes goldens of DIR/boot-1/console.txt, DIR/boot-2/console.txt ... and\n"
	"DIR/headers, or refuses and writes nothing. A previous golden that accepts\n"
	"every boot and holds as much keeps its body. Scenarios of another preset\n"
	"than P (qemu-a57) are left out. --exact-samples: every counter of the boots'\n"
	"machine samples without loss, which QEMU's event counters do not.\n"
	"\n"
	"example: golden-tool compile --out images "
	"corpus/scenarios/cycles-ip-100000.scn\n"
	"exit status: 0 done, 1 refused, 2 usage, bad input or I/O\n";

struct arguments {
	const char *kernel, *agent, *boots, *out, *previous, *preset;
	bool exact_samples;
	struct scn **scns;
	size_t nscns;
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

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"kernel-name", required_argument, NULL, 'k'},
		{"agent", required_argument, NULL, 'a'},
		{"boots", required_argument, NULL, 'b'},
		{"out", required_argument, NULL, 'o'},
		{"previous", required_argument, NULL, 'p'},
		{"preset", required_argument, NULL, 'P'},
		{"exact-samples", no_argument, NULL, 'x'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct arguments args = {.preset = DEFAULT_PRESET};
	bool compiles;
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
		return complain("compile or merge?");
	compiles = !strcmp(argv[optind], "compile");
	if (!compiles && strcmp(argv[optind], "merge"))
		return complain("unknown command, compile or merge?");
	if (!args.out || (!compiles && (!args.kernel || !args.agent || !args.boots)))
		return complain("an option is missing");
	if (optind + 1 == argc)
		return complain("no scenario");
	ret = load_scenarios(&args, argv + optind + 1, compiles);
	if (!ret)
		ret = compiles ? compile(&args) : merge(&args);
	for (size_t i = 0; i < args.nscns; i++)
		scn_free(args.scns[i]);
	free(args.scns);
	return ret;
}
