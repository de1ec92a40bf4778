/* SPDX-License-Identifier: MIT */
/* What the test and its program agree on: input, and output. */
#ifndef PMULAB_CONFORMANCE_TASKS_MILL_H
#define PMULAB_CONFORMANCE_TASKS_MILL_H

#include <stdint.h>

enum { MILL_TASKS = 16, MILL_CPUS = 8 };

struct mill_config {
	uint64_t seed, tasks, cpus, acts, period, inherit;
};

struct mill_result {
	uint64_t tasks, cpus; /* sums of the counts */
	uint64_t failed;      /* 0, or where */
};

#endif
