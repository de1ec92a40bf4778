/* SPDX-License-Identifier: MIT */
/* What tools/bench measures, between bench.c, which does, and bench-report.c. */
#ifndef PMULAB_TOOLS_BENCH_H
#define PMULAB_TOOLS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/cpu.h"
#include "tools/bench-raw.h"

enum {
	BENCH_MAX_ROUNDS = 1001
};

struct bench_workload {
	const char *name;
	unsigned loop, rest; /* instructions: loop * n + rest */
};

enum {
	SPIN,
	LOAD,
	STORE,
	BRANCH,
	MIXED,
	NWORKLOADS
};
extern const struct bench_workload bench_workloads[NWORKLOADS];

enum {
	RAW,
	CODE_HOOK,
	BLOCK_HOOK,
	BLOCK_100000,
	BLOCK_10000,
	STEP_100000,
	NSPEEDS,
	SAME_1 = NSPEEDS,
	SAME_6,
	SAME_31,
	KINDS_1,
	KINDS_6,
	KINDS_31,
	NCONFIGS
};

/* What events the armed counters count. */
enum bench_events {
	BENCH_SAME,  /* instructions, all of them */
	BENCH_KINDS, /* kinds of instructions, in turn */
};

struct bench_config {
	const char *name, *what;
	uint64_t insns;	 /* about as many: 0.1 to 0.4 s */
	unsigned period; /* 0: bare Unicorn */
	enum cpu_engine engine;
	enum bench_raw_hook hook; /* of a bare one */
	unsigned armed;		  /* event counters besides the one that samples */
	enum bench_events events;
};
extern const struct bench_config bench_configs[NCONFIGS];

/* Of one process. */
struct bench_measure {
	double seconds;
	uint64_t insns, overflows;
};

/* Everything measured: all[round][workload][config]. */
struct bench_results {
	unsigned rounds;
	bool wanted[NWORKLOADS];
	unsigned cpu; /* where all of it ran */
	struct bench_measure (*all)[NWORKLOADS][NCONFIGS];
};

void bench_print(const struct bench_results *results);
/* 0, or not when it could not be printed. */
int bench_print_json(const struct bench_results *results);

#endif
