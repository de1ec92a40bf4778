/* SPDX-License-Identifier: MIT */
/* Which comparisons a scenario has, and how one is made. */
#include "tools/check-item.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/diff.h"
#include "kernelcore/kperf.h"

const char *check_golden_profile(const char *golden)
{
	const char *profile;

	for (unsigned i = 0; (profile = kperf_profile(i)); i++) {
		size_t n = strlen(profile);

		if (!strncmp(golden, profile, n) && (!golden[n] || golden[n] == '-'))
			return profile;
	}
	return NULL;
}

static const char *profile_for(const struct check_args *args, const char *golden)
{
	return args->profile ? args->profile : check_golden_profile(golden);
}

/* -- the plan ------------------------------------------------------------------- */

static char *golden_path(const char *kernel, const struct scn *scn)
{
	char *path;

	if (asprintf(&path, "%s/golden/%s/%s.golden", where_corpus(), kernel, scn->name) < 0)
		usage_error("out of memory");
	return path;
}

static bool has_golden(const char *kernel, const struct scn *scn)
{
	char *path = golden_path(kernel, scn);
	const bool has = !access(path, F_OK);

	free(path);
	return has;
}

/* The machine that recorded: what stands behind the kernel's name. */
static const char *recorder(const char *golden)
{
	return golden + strlen(check_golden_profile(golden));
}

/* A machine that recorded a scenario did so with each of its kernels. */
static bool other_kernel_has(const struct check_args *args, const struct scn *scn,
			     const char *kernel)
{
	for (unsigned i = 0; i < args->ngoldens; i++)
		if (!strcmp(recorder(args->golden[i]), recorder(kernel)) &&
		    has_golden(args->golden[i], scn))
			return true;
	return false;
}

static void add(struct check_plan *plan, enum check_kind kind, const char *golden)
{
	plan->item[plan->nitems++] = (struct check_item){ .kind = kind, .golden = golden };
}

/* Returns whether there is one. */
static bool plan_golden(const struct check_args *args, const struct scn *scn,
			const char *kernel, struct check_plan *plan)
{
	const bool named = args->ngoldens == 1 && args->scenarios && *args->scenarios;

	if (has_golden(kernel, scn)) {
		add(plan, CHECK_GOLDEN, kernel);
		return true;
	}
	if (named)
		add(plan, CHECK_WANTED, kernel);
	else if (args->every && other_kernel_has(args, scn, kernel))
		add(plan, CHECK_MISSING, kernel);
	else
		add(plan, CHECK_ABSENT, kernel);
	return false;
}

static void plan_goldens(const struct check_args *args, const struct scn *scn,
			 struct check_plan *plan)
{
	bool any = false;

	for (unsigned i = 0; i < args->ngoldens; i++) {
		const char *kernel = args->golden[i];

		if (!scn->emulator_only)
			any |= plan_golden(args, scn, kernel, plan);
		else if (!args->every || !*recorder(kernel))
			add(plan, CHECK_EXPECTS, kernel);
	}
	if (args->every && !any && !scn->emulator_only)
		add(plan, CHECK_MISSING, NULL);
}

static void plan_engines(const struct check_args *args, struct check_plan *plan)
{
	const char *profile;

	for (unsigned i = 0; (profile = kperf_profile(i)); i++)
		if (!args->profile || !strcmp(args->profile, profile))
			add(plan, CHECK_ENGINES, profile);
}

void check_plan(const struct check_args *args, const struct scn *scn,
		struct check_plan *plan)
{
	const char *cannot = runner_cannot(scn, args->mode);

	plan->nitems = 0;
	if (cannot) {
		add(plan, CHECK_CANNOT, NULL);
		plan->item[0].why = cannot;
	} else if (args->engines) {
		plan_engines(args, plan);
	} else {
		plan_goldens(args, scn, plan);
	}
}

/* -- a comparison --------------------------------------------------------------- */

void check_run_free(struct check_run *run)
{
	if (run->profile)
		runner_result_free(&run->result);
	run->profile = NULL;
}

/* As the kernel of @golden, unless that was the last run. */
static int run_scenario(const struct check_args *args, const struct scn *scn,
			const char *golden, struct check_run *run)
{
	const struct runner_config config = {
		.profile = profile_for(args, golden),
		.mode = args->mode,
		.engine = args->engine,
		.agent = where_agent(),
		.kernel = where_kernel(),
	};
	char err[512];

	if (run->profile && !strcmp(run->profile, config.profile))
		return 0;
	check_run_free(run);
	if (runner_run(scn, &config, &run->result, err, sizeof(err))) {
		complain("%s", err);
		return -1;
	}
	run->profile = config.profile;
	return 0;
}

static enum check_verdict check_expects(const struct check_args *args, const struct scn *scn,
					const char *golden, struct check_run *run)
{
	const struct runner_result *result = &run->result;

	if (run_scenario(args, scn, golden, run))
		return CHECK_BAD;
	if (result->expect_failed || !result->expect_total) {
		printf("FAIL %s: %u of %u expectations do not hold as %s\n", scn->name,
		       result->expect_failed, result->expect_total, run->profile);
		fputs(result->expect_text ? result->expect_text : "", stdout);
		return CHECK_DIFFERS;
	}
	if (!args->quiet)
		printf("PASS %s: %u expectations hold as %s (emulator only: %s)\n", scn->name,
		       result->expect_total, run->profile, scn->emulator_only);
	return CHECK_SAME;
}

static void count(struct check_totals *totals, const struct diff_counts *counts)
{
	totals->compared += counts->compared;
	totals->bounded += counts->bounded;
	totals->wildcarded += counts->wildcarded;
	totals->raw_compared += counts->raw_compared;
	totals->raw_masked += counts->raw_masked;
}

static enum check_verdict compare(const struct check_args *args, const struct scn *scn,
				  const char *kernel, const struct tt_trace *golden,
				  struct check_run *run, struct check_totals *totals)
{
	const struct diff_options how = { .schema = true };
	struct diff_counts counts = { 0 };
	bool differs;

	if (run_scenario(args, scn, kernel, run))
		return CHECK_BAD;
	differs = diff_trace(golden, run->result.trace, &how, stdout, &counts);
	if (run->result.expect_failed) {
		fputs(run->result.expect_text, stdout);
		differs = true;
	}
	count(totals, &counts);
	if (differs)
		printf("FAIL %s: differs from %s\n", scn->name, kernel);
	else if (!args->quiet)
		printf("PASS %s: identical to %s (%zu compared, %zu bounded, %zu wildcarded; "
		       "raw bytes %zu compared, %zu masked)\n",
		       scn->name, kernel, counts.compared, counts.bounded, counts.wildcarded,
		       counts.raw_compared, counts.raw_masked);
	return differs ? CHECK_DIFFERS : CHECK_SAME;
}

static enum check_verdict check_golden(const struct check_args *args, const struct scn *scn,
				       const char *kernel, struct check_run *run,
				       struct check_totals *totals)
{
	char err[512], *path = golden_path(kernel, scn);
	struct tt_trace *golden = tt_read(path, err, sizeof(err));
	enum check_verdict verdict = CHECK_BAD;

	free(path);
	if (!golden) {
		complain("%s", err);
		return CHECK_BAD;
	}
	if (!tt_header_get(golden, "body"))
		complain("%s: the golden of %s is without its seal (header body)", scn->name,
			 kernel);
	else
		verdict = compare(args, scn, kernel, golden, run, totals);
	tt_free(golden);
	return verdict;
}

static enum check_verdict say_missing(const struct scn *scn, const char *kernel)
{
	if (kernel)
		printf("FAIL %s: no golden of %s, though another kernel has one\n", scn->name,
		       kernel);
	else
		printf("FAIL %s: no golden\n", scn->name);
	return CHECK_DIFFERS;
}

static enum check_verdict say_skipped(const struct check_args *args, const struct scn *scn,
				      const struct check_item *item)
{
	if (item->kind == CHECK_CANNOT)
		printf("SKIP %s: %s\n", scn->name, item->why);
	else if (!args->quiet)
		printf("SKIP %s: no golden of %s\n", scn->name, item->golden);
	return CHECK_SKIPPED;
}

static enum check_verdict say_wanted(const struct scn *scn, const char *kernel)
{
	char *path = golden_path(kernel, scn);

	complain("%s: no golden of %s: %s", scn->name, kernel, path);
	free(path);
	return CHECK_BAD;
}

static enum check_verdict make(const struct check_args *args, const struct scn *scn,
			       const struct check_item *item, struct check_run *run,
			       struct check_totals *totals)
{
	switch (item->kind) {
	case CHECK_GOLDEN:
		return check_golden(args, scn, item->golden, run, totals);
	case CHECK_EXPECTS:
		return check_expects(args, scn, item->golden, run);
	case CHECK_ENGINES:
		return check_engines(args, scn, item->golden);
	case CHECK_CANNOT:
	case CHECK_ABSENT:
		return say_skipped(args, scn, item);
	case CHECK_WANTED:
		return say_wanted(scn, item->golden);
	case CHECK_MISSING:
		return say_missing(scn, item->golden);
	}
	return CHECK_BAD;
}

enum check_verdict check_item(const struct check_args *args, const struct scn *scn,
			      const struct check_item *item, struct check_run *run,
			      struct check_totals *totals)
{
	const enum check_verdict verdict = make(args, scn, item, run, totals);

	totals->passed += verdict == CHECK_SAME;
	totals->failed += verdict == CHECK_DIFFERS || verdict == CHECK_BAD;
	totals->skipped += verdict == CHECK_SKIPPED;
	return verdict;
}

void check_say_totals(const struct check_args *args, const struct check_totals *totals)
{
	printf("%u passed, %u failed", totals->passed, totals->failed);
	if (totals->skipped)
		printf(", %u skipped", totals->skipped);
	if (!args->engines)
		printf(": %zu fields compared, %zu bounded, %zu wildcarded; "
		       "raw bytes %zu compared, %zu masked",
		       totals->compared, totals->bounded, totals->wildcarded,
		       totals->raw_compared, totals->raw_masked);
}
