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

/* The nine fields that are one 8-byte word each. */
#define PERF_SAMPLE_SCALARS                                                              \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
	 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_IDENTIFIER)

enum {
	PERF_SAMPLE_BYTES_MAX = 8 + 9 * 8,
	PERF_TRAILER_BYTES_MAX = 6 * 8,
};

/* [irq] A sample of @event at @regs into @buf; returns its bytes. */
size_t perf_sample_build(struct hal *hal, struct kperf_event *event,
			 const struct hal_regs *regs, uint64_t period,
			 uint64_t buf[PERF_SAMPLE_BYTES_MAX / 8]);

/* [irq] The sample_id_all trailer of @event's records: its bytes (0 without
 * sample_id_all), and the trailer itself. */
size_t perf_trailer_size(const struct kperf_event *event);
size_t perf_trailer_build(struct hal *hal, struct kperf_event *event,
			  uint64_t buf[PERF_TRAILER_BYTES_MAX / 8]);

/* [irq] Build a sample, write it to the event's ring, keep the wakeup rules. */
void perf_sample_output(struct hal *hal, struct kperf_event *event,
			const struct hal_regs *regs, uint64_t period);

#endif
