/* SPDX-License-Identifier: MIT */
/*
 * What the benchmark compares with: a workload of the agent on a bare Unicorn,
 * without a machine, a kernel or counting around it.
 */
#ifndef PMULAB_TOOLS_BENCH_RAW_H
#define PMULAB_TOOLS_BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An empty function called at each of them. */
enum bench_raw_hook {
	BENCH_RAW_NONE,
	BENCH_RAW_BLOCK,
	BENCH_RAW_CODE,
};

/* Call the symbol @workload of the ELF file @agent with x0 = @n, at EL0 with
 * the MMU off; *seconds: CPU time of it, translation included. 0, or -1 with a
 * line in @err. */
int bench_raw(const char *agent, const char *workload, uint64_t n,
	      enum bench_raw_hook hook, double *seconds, char *err, size_t errsize);

/* Of the Unicorn that runs, e.g. "2.1.1". */
void bench_raw_version(char *text, size_t size);

/* CPU time of this process, seconds. */
double bench_clock(void);

#endif
