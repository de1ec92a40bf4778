/* SPDX-License-Identifier: MIT */
#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <linux/perf_event.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/ring.h"

enum {
	POLL_HUP_BIT = 0x10
};

static uint64_t lost_of(struct kperf_event *event)
{
	return atomic_load_explicit(&event->lost_samples, memory_order_relaxed);
}

static long read_one(struct kperf_event *event, uint64_t ubuf)
{
	uint64_t format = event->attr.u.a.read_format;
	uint64_t values[5];
	size_t n = 0;

	perf_ctx_read(event, false);
	values[n++] = event->count;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values[n++] = event->total_time_enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values[n++] = event->total_time_running;
	if (format & PERF_FORMAT_ID)
		values[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		values[n++] = lost_of(event);
	if (ksys_copy_to_user(event->perf->sys, ubuf, values, n * sizeof(*values)))
		return -EFAULT;
	return (long)(n * sizeof(*values));
}

static size_t add_member(struct kperf_event *event, uint64_t format, uint64_t *values,
			 size_t n)
{
	values[n++] = event->count;
	if (format & PERF_FORMAT_ID)
		values[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		values[n++] = lost_of(event);
	return n;
}

/* The whole group, in the format of the member that was asked. */
static long read_group(struct kperf_event *event, uint64_t ubuf)
{
	struct ksys *sys = event->perf->sys;
	struct hal *hal = ksys_hal(sys);
	struct kperf_event *leader = event->leader, *sibling;
	uint64_t format = event->attr.u.a.read_format;
	uint64_t *values = ksys_alloc(sys, event->read_size);
	unsigned long flags;
	size_t n = 0;
	long ret;

	if (!values)
		return -ENOMEM;
	perf_ctx_read(leader, true);
	flags = hal_irq_save(hal);
	values[n++] = 1 + leader->nr_siblings;
	/* members run together: the leader's times are everybody's */
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values[n++] = leader->total_time_enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values[n++] = leader->total_time_running;
	n = add_member(leader, format, values, n);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		n = add_member(sibling, format, values, n);
	hal_irq_restore(hal, flags);
	ret = (long)event->read_size;
	if (ksys_copy_to_user(sys, ubuf, values, event->read_size))
		ret = -EFAULT;
	ksys_free(sys, values);
	return ret;
}

long kperf_read(struct kperf_event *event, uint64_t ubuf, uint64_t count)
{
	/* a pinned event that found no room: end of file */
	if (event->state == PERF_EVENT_ERROR)
		return 0;
	if (count < event->read_size)
		return -ENOSPC;
	if (event->attr.u.a.read_format & PERF_FORMAT_GROUP)
		return read_group(event, ubuf);
	return read_one(event, ubuf);
}

unsigned kperf_poll(struct kperf_event *event)
{
	if (event->state <= PERF_EVENT_EXIT || !event->ring)
		return POLL_HUP_BIT;
	return atomic_exchange_explicit(&event->ring->poll, 0, memory_order_relaxed);
}
