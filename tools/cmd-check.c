/* SPDX-License-Identifier: MIT */
/* pmulab check: scenarios against the goldens of real kernels. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/diff.h"
#include "conformance/runner.h"
#include "kernelcore/kperf.h"
#include "tools/pmulab.h"

enum { MAX_GOLDENS = 32 };

struct args {
	char **scenarios; /* ends with NULL; empty: all */
	char *golden[MAX_GOLDENS];
	unsigned ngoldens;
	bool every; /* all goldens there are: each scenario must have one of them */
	const char *profile; /* NULL: the golden's own */
	enum cpu_engine engine;
	enum runner_mode mode;
	bool quiet;
};

struct totals {
	unsigned passed, failed, skipped;
	size_t compared, bounded, wildcarded, raw_compared, raw_masked;
};

static const struct argp_option options[] = {
	{ "golden", 'g', "KERNEL", 0,
	  "Compare with this folder of goldens only, e.g. linux-6.12 or "
	  "linux-6.1-pmulab (default: all)", 0 },
	{ "profile", 'p', "P", 0,
	  "Be this kernel (default: the one that the golden's name begins with)", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ "mode", 'm', "MODE", 0, "host (default), or guest: the kernel at EL1 of the emulated CPU", 0 },
	{ "quiet", 'q', NULL, 0, "Print only what does not pass, and the total", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'g':
		if (args->ngoldens == MAX_GOLDENS)
			usage_error("too many goldens");
		args->golden[args->ngoldens++] = arg;
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
	case 'q':
		args->quiet = true;
		break;
	case ARGP_KEY_ARGS:
		args->scenarios = state->argv + state->next;
		break;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* ask for all of them at once */
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* linux-6.1-pmulab is a recording of linux-6.1. NULL: of no kernel known. */
static const char *golden_profile(const char *golden)
{
	const char *profile;

	for (unsigned i = 0; (profile = kperf_profile(i)); i++) {
		size_t n = strlen(profile);

		if (!strncmp(golden, profile, n) && (!golden[n] || golden[n] == '-'))
			return profile;
	}
	return NULL;
}

static const char *profile_for(const struct args *args, const char *golden)
{
	return args->profile ? args->profile : golden_profile(golden);
}

static int run_scenario(const struct args *args, const struct scn *scn, const char *profile,
			struct runner_result *result)
{
	struct runner_config config = {
		.profile = profile,
		.mode = args->mode,
		.engine = args->engine,
		.agent = where_agent(),
		.kernel = where_kernel(),
	};
	char err[512];

	if (!runner_run(scn, &config, result, err, sizeof(err)))
		return 0;
	complain("%s", err);
	return -1;
}

/* What the emulator alone can run is judged by its own expectations. */
static int check_expects(const struct args *args, const struct scn *scn,
			 const char *profile, struct totals *totals)
{
	struct runner_result result;

	if (run_scenario(args, scn, profile, &result))
		return EXIT_USAGE;
	if (result.expect_failed || !result.expect_total) {
		totals->failed++;
		printf("FAIL %s: %u of %u expectations do not hold as %s\n", scn->name,
		       result.expect_failed, result.expect_total, profile);
		fputs(result.expect_text ? result.expect_text : "", stdout);
	} else {
		totals->passed++;
		if (!args->quiet)
			printf("PASS %s: %u expectations hold as %s (emulator only: %s)\n",
			       scn->name, result.expect_total, profile,
			       scn->emulator_only);
	}
	runner_result_free(&result);
	return 0;
}

static void count(struct totals *totals, const struct diff_counts *counts)
{
	totals->compared += counts->compared;
	totals->bounded += counts->bounded;
	totals->wildcarded += counts->wildcarded;
	totals->raw_compared += counts->raw_compared;
	totals->raw_masked += counts->raw_masked;
}

static int compare(const struct args *args, const struct scn *scn, const char *kernel,
		   const struct tt_trace *golden, struct totals *totals)
{
	const struct diff_options how = { .schema = true };
	struct diff_counts counts = { 0 };
	struct runner_result result;
	bool differs;

	if (run_scenario(args, scn, profile_for(args, kernel), &result))
		return EXIT_USAGE;
	differs = diff_trace(golden, result.trace, &how, stdout, &counts);
	if (result.expect_failed) {
		fputs(result.expect_text, stdout);
		differs = true;
	}
	runner_result_free(&result);
	count(totals, &counts);
	if (differs) {
		totals->failed++;
		printf("FAIL %s: differs from %s\n", scn->name, kernel);
	} else {
		totals->passed++;
		if (!args->quiet)
			printf("PASS %s: identical to %s (%zu compared, %zu bounded, %zu wildcarded; "
			       "raw bytes %zu compared, %zu masked)\n",
			       scn->name, kernel, counts.compared, counts.bounded,
			       counts.wildcarded, counts.raw_compared, counts.raw_masked);
	}
	return 0;
}

static int check_golden(const struct args *args, const struct scn *scn, const char *kernel,
			struct totals *totals, bool *compared)
{
	struct tt_trace *golden;
	char err[512], *path;
	int rc;

	if (asprintf(&path, "%s/golden/%s/%s.golden", where_corpus(), kernel, scn->name) < 0)
		return EXIT_USAGE;
	if (access(path, F_OK)) {
		rc = 0;
		if (args->ngoldens == 1 && args->scenarios && *args->scenarios) {
			complain("%s: no golden of %s: %s", scn->name, kernel, path);
			rc = EXIT_USAGE;
		} else if (!args->quiet) {
			printf("SKIP %s: no golden of %s\n", scn->name, kernel);
		}
		totals->skipped += !rc;
		free(path);
		return rc;
	}
	golden = tt_read(path, err, sizeof(err));
	free(path);
	if (!golden) {
		complain("%s", err);
		return EXIT_USAGE;
	}
	*compared = true;
	if (!tt_header_get(golden, "body")) {
		complain("%s: the golden of %s is without its seal (header body)", scn->name,
			 kernel);
		tt_free(golden);
		return EXIT_USAGE;
	}
	rc = compare(args, scn, kernel, golden, totals);
	tt_free(golden);
	return rc;
}

static int check_one(const struct args *args, const char *name, struct totals *totals)
{
	struct scn *scn = load_scenario(name);
	const char *cannot;
	bool compared = false;
	int rc = 0;

	if (!scn)
		return EXIT_USAGE;
	cannot = runner_cannot(scn, args->mode);
	if (cannot) {
		printf("SKIP %s: %s\n", scn->name, cannot);
		totals->skipped++;
	}
	for (unsigned i = 0; !cannot && i < args->ngoldens && !rc; i++) {
		const char *kernel = args->golden[i];

		if (!scn->emulator_only)
			rc = check_golden(args, scn, kernel, totals, &compared);
		else if (!args->every || !strcmp(kernel, golden_profile(kernel)))
			rc = check_expects(args, scn, profile_for(args, kernel), totals);
	}
	if (args->every && !rc && !cannot && !compared && !scn->emulator_only) {
		printf("FAIL %s: no golden\n", scn->name);
		totals->failed++;
	}
	scn_free(scn);
	return rc;
}

static void progress(size_t at, size_t n, const char *name)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%zu/%zu %s", at, n, name);
}

static int check_all(const struct args *args, char *const *names, size_t n)
{
	struct totals totals = { 0 };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (n > 4)
			progress(i + 1, n, names[i]);
		rc = check_one(args, names[i], &totals);
	}
	if (n > 4 && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (rc)
		return rc;
	printf("%u passed, %u failed", totals.passed, totals.failed);
	if (totals.skipped)
		printf(", %u skipped", totals.skipped);
	printf(": %zu fields compared, %zu bounded, %zu wildcarded; "
	       "raw bytes %zu compared, %zu masked\n",
	       totals.compared, totals.bounded, totals.wildcarded, totals.raw_compared, totals.raw_masked);
	return totals.failed || !totals.passed ? EXIT_DIFFERS : EXIT_SAME;
}

static bool golden_exists(const struct args *args, const char *golden)
{
	bool exists;
	char *dir;

	if (!profile_for(args, golden) ||
	    asprintf(&dir, "%s/golden/%s", where_corpus(), golden) < 0)
		return false;
	exists = !access(dir, F_OK);
	free(dir);
	return exists;
}

static int check_names(const struct args *args)
{
	for (unsigned i = 0; i < args->ngoldens; i++) {
		if (!golden_exists(args, args->golden[i])) {
			complain("no such golden kernel: %s", args->golden[i]);
			return -1;
		}
	}
	if (args->profile)
		need_profile(args->profile);
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_golden_dir(const struct dirent *entry)
{
	return golden_profile(entry->d_name) != NULL;
}

/* All folders of goldens of kernels we can be; their names are args's. */
static int every_golden(struct args *args)
{
	struct dirent **list;
	char *dir;
	int n;

	if (asprintf(&dir, "%s/golden", where_corpus()) < 0)
		return -1;
	n = scandir(dir, &list, is_golden_dir, by_name);
	if (n < 0)
		complain("%s: %s", dir, strerror(errno));
	free(dir);
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (args->ngoldens < MAX_GOLDENS)
			args->golden[args->ngoldens++] = strdup(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	args->every = true;
	return 0;
}

static int check_wanted(const struct args *args)
{
	char **names;
	size_t n = 0;
	int rc;

	if (args->scenarios && *args->scenarios) {
		while (args->scenarios[n])
			n++;
		return check_all(args, args->scenarios, n);
	}
	names = scenario_names(&n);
	if (!names)
		return EXIT_USAGE;
	rc = check_all(args, names, n);
	names_free(names);
	return rc;
}

int cmd_check(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[SCENARIO ...]",
		.doc = "Run scenarios (default: all of the corpus) and compare their traces with "
		       "what real Linux recorded, field by field and byte by byte."
		       "\vexample: pmulab check cycles-ip-100000 --golden linux-6.1",
	};
	struct args args = { .engine = CPU_ENGINE_BLOCK };
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!args.ngoldens && every_golden(&args))
		return EXIT_USAGE;
	rc = check_names(&args) ? EXIT_USAGE : check_wanted(&args);
	for (unsigned i = 0; args.every && i < args.ngoldens; i++)
		free(args.golden[i]);
	return rc;
}
