/* SPDX-License-Identifier: MIT */
#ifndef PMULAB_KERNELCORE_PERF_OVERFLOW_H
#define PMULAB_KERNELCORE_PERF_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

struct hal_regs;
struct kperf_event;
struct perf_cpu;

/* What a period's end says of itself. */
struct perf_overflow {
	const struct hal_regs *regs;
	uint64_t period, addr;
	bool brake; /* it may throttle the event */
};

/* [irq] IRQs off, on the CPU that the event is on; Linux __perf_event_overflow().
 * True: stop what counts it. */
bool perf_event_overflow(struct perf_cpu *cpu, struct kperf_event *event,
			 const struct perf_overflow *overflow);

#endif
