/* SPDX-License-Identifier: MIT */
/*
 * What a context switch costs in the perf core: ns on the host and hal operations,
 * with 0, 1 and 6 events a task and 1 to 1000 tasks. The kernel around it is the
 * tests' (conformance/fake-kernel.c), whose registers are emu/'s: its own cost is
 * in the figures, and in the row of 0 events nearly alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/fake-kernel.h"

enum { ROUNDS = 11, SWITCHES = 2000 };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* An operation of the log costs what it costs; it is full from the start. */
static void measure(int ntasks, int nevents)
{
	struct fake_kernel *fk = fk_create_smp("linux-6.1", 6, 1);
	struct perf_event_attr attr = fk_attr(0, 0);
	double ns[ROUNDS];
	uint64_t ops = 0;

	fk_grow(fk, ntasks + 1, 3 + ntasks * nevents);
	attr.disabled = 0;
	for (int t = 1; t <= ntasks; t++)
		for (int i = 0; i < nevents; i++)
			fk_open_args(fk, &attr, 100 + t, -1, -1, 0);
	for (int round = 0; round < ROUNDS; round++) {
		double begin = now_ns();

		ops = fk->ops;
		for (int i = 0; i < SWITCHES; i++)
			fk_switch(fk, &fk->tasks[ntasks == 1 ? (i + 1) % 2 : 1 + i % ntasks]);
		ops = fk->ops - ops;
		ns[round] = (now_ns() - begin) / SWITCHES;
	}
	qsort(ns, ROUNDS, sizeof(ns[0]), by_size);
	printf("%6d tasks %2d events  %8.0f ns a switch  %6.1f hal operations\n", ntasks,
	       nevents, ns[ROUNDS / 2], (double)ops / SWITCHES);
}

int main(int argc, char **argv)
{
	static const int tasks[] = {1, 10, 100, 1000}, events[] = {0, 1, 6};

	if (argc > 1) {
		int help = !strcmp(argv[1], "--help");

		fprintf(help ? stdout : stderr,
			"usage: pmulab-bench-switch\n\n"
			"ns and hal operations of a context switch, medians of %d rounds of\n"
			"%d; with 1 task each other switch is to one without events.\n",
			ROUNDS, SWITCHES);
		return help ? 0 : 2;
	}
	for (unsigned e = 0; e < sizeof(events) / sizeof(events[0]); e++)
		for (unsigned t = 0; t < sizeof(tasks) / sizeof(tasks[0]); t++)
			measure(tasks[t], events[e]);
	return 0;
}
