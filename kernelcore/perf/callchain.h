/* SPDX-License-Identifier: MIT */
/*
 * Call chains: where the interrupted code was called from, by frame pointers.
 */
#ifndef PMULAB_KERNELCORE_PERF_CALLCHAIN_H
#define PMULAB_KERNELCORE_PERF_CALLCHAIN_H

#include <stdint.h>

struct kperf;
struct kperf_event;
struct perf_cpu;
struct hal_regs;

/* Linux get_callchain_buffers(), for an event that has been opened with CALLCHAIN:
 * -EOVERFLOW: it asks for more frames than there may be; -ENOMEM. Paired with
 * perf_callchain_put(). Between them both sysctls stay as they are. */
int perf_callchain_get(struct kperf *perf, const struct kperf_event *event);
void perf_callchain_put(struct kperf *perf);

/* [irq] The chain of @event at @regs: a word with the number of entries, at most @room,
 * then these. Valid until this CPU's next. */
const uint64_t *perf_callchain(struct perf_cpu *cpu, const struct kperf_event *event,
			       const struct hal_regs *regs, unsigned room);

#endif
