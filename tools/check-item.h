/* SPDX-License-Identifier: MIT */
/* What `pmulab check` is made of: cmd-check.c reads the command line, check-item.c plans
 * and makes comparisons, check-tap.c says them as TAP, check-engines.c compares
 * engines. */
#ifndef PMULAB_TOOLS_CHECK_ITEM_H
#define PMULAB_TOOLS_CHECK_ITEM_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/runner.h"
#include "corpus/compiler/scenario.h"
#include "tools/pmulab.h"

enum { CHECK_MAX_GOLDENS = 32 };

struct check_args {
	char **scenarios; /* names and patterns, ends with NULL; NULL or empty: all */
	char *golden[CHECK_MAX_GOLDENS];
	unsigned ngoldens;
	bool every; /* all goldens there are: each scenario must have one of them */
	const char *profile; /* NULL: the golden's own */
	enum cpu_engine engine;
	enum runner_mode mode;
	const struct timing_model *timing;
	uint64_t skid;
	bool has_skid;
	bool engines; /* with each other, instead of goldens */
	bool quiet, tap;
	unsigned shard, shards; /* from 1 */
	unsigned limit;		/* seconds a scenario, for TAP */
};

struct check_totals {
	unsigned passed, failed, skipped;
	size_t compared, bounded, wildcarded, raw_compared, raw_masked;
};

enum check_kind {
	CHECK_GOLDEN,  /* with the golden of item.golden */
	CHECK_EXPECTS, /* what the emulator alone can run, with what it expects */
	CHECK_ENGINES, /* step with block, as profile item.golden */
	CHECK_CANNOT,  /* item.why: this mode cannot run it */
	CHECK_ABSENT,  /* there is no golden of item.golden, and need not be */
	CHECK_WANTED,  /* there is none, and it was asked for by name */
	CHECK_MISSING, /* there is none (item.golden NULL: at all), and must be */
};

/* One comparison. */
struct check_item {
	enum check_kind kind;
	const char *golden, *why;
};

struct check_plan {
	unsigned nitems;
	struct check_item item[CHECK_MAX_GOLDENS + 1];
};

enum check_verdict { CHECK_SAME, CHECK_DIFFERS, CHECK_SKIPPED, CHECK_BAD };

/* A scenario's last run: goldens of one kernel, from several machines, share it. */
struct check_run {
	const char *profile; /* NULL: none */
	struct runner_result result;
};

/* linux-6.1-pmulab is a recording of linux-6.1. NULL: of no kernel known. */
const char *check_golden_profile(const char *golden);

/* All comparisons of @scn. */
void check_plan(const struct check_args *args, const struct scn *scn,
		struct check_plan *plan);

/* Make one, say its outcome on stdout and, when it could not be made (CHECK_BAD), a
 * line on stderr; count it. @run is of this scenario alone. */
enum check_verdict check_item(const struct check_args *args, const struct scn *scn,
			      const struct check_item *item, struct check_run *run,
			      struct check_totals *totals);
void check_run_free(struct check_run *run);

/* "N passed, N failed: ... fields compared", without the line's end. */
void check_say_totals(const struct check_args *args, const struct check_totals *totals);

/* All of @names as TAP. Returns the exit status. */
int check_tap(const struct check_args *args, char *const *names, size_t n);

/* Both engines, as @profile: their traces and the events on the bus, as text, must
 * be the same to the byte; the scenario's own expectations must hold on the clock that they
 * were written for, without --timing and --skid. */
enum check_verdict check_engines(const struct check_args *args, const struct scn *scn,
				 const char *profile);

#endif
