/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/sample.h"

#include <linux/perf_event.h>
#include <string.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/ring.h"

static uint64_t pair(uint32_t low, uint32_t high)
{
	uint64_t word;
	uint32_t halves[2] = {low, high};

	memcpy(&word, halves, sizeof(word));
	return word;
}

/* The task that runs, as the pid namespace of the event's opener sees it. Idle
 * is 0. */
static uint64_t tid_entry(const struct kperf_event *event)
{
	const struct ksys_task *task = ksys_current(event->perf->sys);
	const struct ksys_task *observer = event->observer ? event->observer : task;

	if (!task)
		return 0;
	return pair((uint32_t)ksys_task_tgid(task, observer),
		    (uint32_t)ksys_task_tid(task, observer));
}

/* What a record says of where and when it was written. */
struct stamp {
	uint64_t tid, time, cpu;
};

static void take_stamp(struct hal *hal, const struct kperf_event *event,
		       struct stamp *stamp)
{
	uint64_t type = event->attr.u.a.sample_type;

	if (type & PERF_SAMPLE_TID)
		stamp->tid = tid_entry(event);
	if (type & PERF_SAMPLE_TIME)
		stamp->time = hal_clock_ns(hal);
	if (type & PERF_SAMPLE_CPU)
		stamp->cpu = pair(hal_cpu_id(hal), 0);
}

size_t perf_sample_build(struct hal *hal, struct kperf_event *event,
			 const struct hal_regs *regs, uint64_t period,
			 uint64_t buf[PERF_SAMPLE_BYTES_MAX / 8])
{
	uint64_t type = event->attr.u.a.sample_type;
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	struct stamp stamp;
	size_t n = 1;

	header.misc =
		hal_regs_user(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	take_stamp(hal, event, &stamp);
	if (type & PERF_SAMPLE_IDENTIFIER)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_IP)
		buf[n++] = regs->pc;
	if (type & PERF_SAMPLE_TID)
		buf[n++] = stamp.tid;
	if (type & PERF_SAMPLE_TIME)
		buf[n++] = stamp.time;
	if (type & PERF_SAMPLE_ADDR)
		buf[n++] = 0; /* this PMU has none to give */
	if (type & PERF_SAMPLE_ID)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_CPU)
		buf[n++] = stamp.cpu;
	if (type & PERF_SAMPLE_PERIOD)
		buf[n++] = period;
	header.size = (uint16_t)(n * sizeof(*buf));
	memcpy(&buf[0], &header, sizeof(header));
	return header.size;
}

size_t perf_trailer_size(const struct kperf_event *event)
{
	static const uint64_t fields[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					  PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	size_t size = 0;

	if (!event->attr.u.a.sample_id_all)
		return 0;
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (event->attr.u.a.sample_type & fields[i])
			size += 8;
	return size;
}

size_t perf_trailer_build(struct hal *hal, struct kperf_event *event,
			  uint64_t buf[PERF_TRAILER_BYTES_MAX / 8])
{
	uint64_t type = event->attr.u.a.sample_type;
	struct stamp stamp;
	size_t n = 0;

	if (!event->attr.u.a.sample_id_all)
		return 0;
	take_stamp(hal, event, &stamp);
	if (type & PERF_SAMPLE_TID)
		buf[n++] = stamp.tid;
	if (type & PERF_SAMPLE_TIME)
		buf[n++] = stamp.time;
	if (type & PERF_SAMPLE_ID)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_CPU)
		buf[n++] = stamp.cpu;
	if (type & PERF_SAMPLE_IDENTIFIER)
		buf[n++] = event->id;
	return n * sizeof(*buf);
}

/* wakeup_events moves the ring's wakeup mark by one byte: enough to be seen by
 * the outermost writer, and what shifts the half-ring mark as Linux does. */
static void count_wakeup_events(struct perf_output *out)
{
	const struct perf_event_attr *attr = &out->event->attr.u.a;
	struct perf_ring *ring = out->ring;
	unsigned n;

	if (attr->watermark || !attr->wakeup_events)
		return;
	n = atomic_fetch_add_explicit(&ring->events_since, 1, memory_order_relaxed) + 1;
	if ((int32_t)n < (int32_t)attr->wakeup_events)
		return;
	atomic_fetch_sub_explicit(&ring->events_since, attr->wakeup_events,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&ring->wakeup, 1, memory_order_relaxed);
}

void perf_sample_output(struct hal *hal, struct kperf_event *event,
			const struct hal_regs *regs, uint64_t period)
{
	uint64_t buf[PERF_SAMPLE_BYTES_MAX / 8];
	size_t size = perf_sample_build(hal, event, regs, period, buf);
	struct perf_output out;

	if (!perf_output_begin(&out, hal, event, PERF_RECORD_SAMPLE, (uint32_t)size))
		return;
	perf_output_copy(&out, buf, size);
	count_wakeup_events(&out);
	perf_output_end(&out);
	hal_note(hal, HAL_NOTE_RECORD, PERF_RECORD_SAMPLE, size);
}
