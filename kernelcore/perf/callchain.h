/* SPDX-License-Identifier: MIT */
/*
 * Call chains: where the interrupted code was called from, by frame pointers.
 */
#ifndef PMULAB_KERNELCORE_PERF_CALLCHAIN_H
#define PMULAB_KERNELCORE_PERF_CALLCHAIN_H

#include <stdint.h>

struct kperf_event;
struct perf_cpu;
struct hal_regs;

enum {
	PERF_CHAIN_FRAMES = 127, /* kernel.perf_event_max_stack */
	PERF_CHAIN_CONTEXTS = 8, /* kernel.perf_event_max_contexts_per_stack */
	PERF_CHAIN_WORDS = 1 + PERF_CHAIN_FRAMES + PERF_CHAIN_CONTEXTS,
};

/* Linux get_callchain_buffers(): -EOVERFLOW. */
int perf_callchain_check(const struct kperf_event *event);

/* [irq] The chain of @event at @regs: a word with the number of entries, then
 * these. Valid until this CPU's next. */
const uint64_t *perf_callchain(struct perf_cpu *cpu, const struct kperf_event *event,
			       const struct hal_regs *regs);

#endif
