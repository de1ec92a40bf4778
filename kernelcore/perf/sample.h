/* SPDX-License-Identifier: MIT */
/*
 * The layout of records. Field order: perf_event_open(2), PERF_RECORD_SAMPLE
 * and struct sample_id.
 */
#ifndef PMULAB_KERNELCORE_PERF_SAMPLE_H
#define PMULAB_KERNELCORE_PERF_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct hal;
struct hal_regs;
struct kperf_event;
struct perf_cpu;

enum {
	PERF_TRAILER_BYTES_MAX = 6 * 8,
	PERF_SAMPLE_BYTES_LIMIT = 65528, /* what header.size can say */
};

/* [irq] The sample_id_all trailer of @event's records: its bytes (0 without
 * sample_id_all), and the trailer itself. */
size_t perf_trailer_size(const struct kperf_event *event);
size_t perf_trailer_build(struct hal *hal, struct kperf_event *event,
			  uint64_t buf[PERF_TRAILER_BYTES_MAX / 8]);

/* [irq] Build a sample of @event at @regs, write it to the event's ring, keep
 * the wakeup rules. @addr: what ADDR says, 0 where nothing is known. */
void perf_sample_output(struct perf_cpu *cpu, struct kperf_event *event,
			const struct hal_regs *regs, uint64_t period, uint64_t addr);

/* [irq] PERF_RECORD_THROTTLE or _UNTHROTTLE of @event. */
void perf_throttle_output(struct perf_cpu *cpu, struct kperf_event *event, uint32_t type);

#endif
