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

/* Linux __perf_event_read_value(): with children alive and gone. */
static uint64_t read_value(struct kperf_event *event, uint64_t *enabled, uint64_t *running)
{
	struct kperf_event *child;
	uint64_t total;

	perf_ctx_read(event, false);
	total = perf_event_total(event);
	*enabled = event->total_time_enabled + event->child_time_enabled;
	*running = event->total_time_running + event->child_time_running;
	perf_list_for_each(child, &event->children, struct kperf_event, child_entry)
	{
		perf_ctx_read(child, false);
		total += perf_event_total(child);
		*enabled += child->total_time_enabled;
		*running += child->total_time_running;
	}
	return total;
}

static long read_one(struct kperf_event *event, uint64_t ubuf)
{
	uint64_t format = event->attr.u.a.read_format;
	uint64_t values[5], enabled, running;
	size_t n = 0;

	values[n++] = read_value(event, &enabled, &running);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values[n++] = enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values[n++] = running;
	if (format & PERF_FORMAT_ID)
		values[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		values[n++] = lost_of(event);
	if (ksys_copy_to_user(event->perf->sys, ubuf, values, n * sizeof(*values)))
		return -EFAULT;
	return (long)(n * sizeof(*values));
}

/* Counts add up over a family, ids and losses are each group's own: the last
 * one's stay, and children go by their parents' ids. */
static size_t add_member(struct kperf_event *event, uint64_t format, uint64_t *values,
			 size_t n)
{
	values[n++] += perf_event_total(event);
	if (format & PERF_FORMAT_ID)
		values[n++] = perf_event_primary_id(event);
	if (format & PERF_FORMAT_LOST)
		values[n++] = lost_of(event);
	return n;
}

/* Linux __perf_read_group_add(). -ECHILD: an inherited group is not what its
 * parent is by now, and a sum would mean nothing. */
static int add_group(struct kperf_event *leader, uint64_t format, uint64_t *values)
{
	struct kperf_event *sibling;
	size_t n = 1;

	perf_ctx_read(leader, true);
	if (leader->parent && (leader->parent->generation != leader->generation ||
			       leader->parent->nr_siblings != leader->nr_siblings))
		return -ECHILD;
	/* members run together: the leader's times are everybody's */
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values[n++] += leader->total_time_enabled + leader->child_time_enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values[n++] += leader->total_time_running + leader->child_time_running;
	n = add_member(leader, format, values, n);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		n = add_member(sibling, format, values, n);
	return 0;
}

/* The whole group, in the format of the member that was asked. */
static long read_group(struct kperf_event *event, uint64_t ubuf)
{
	struct ksys *sys = event->perf->sys;
	struct kperf_event *leader = event->leader, *child;
	uint64_t format = event->attr.u.a.read_format;
	uint64_t *values = ksys_alloc(sys, event->read_size);
	long ret;

	if (!values)
		return -ENOMEM;
	values[0] = 1 + leader->nr_siblings;
	ret = add_group(leader, format, values);
	perf_list_for_each(child, &leader->children, struct kperf_event, child_entry)
	{
		if (!ret)
			ret = add_group(child, format, values);
	}
	if (!ret)
		ret = (long)event->read_size;
	if (ret > 0 && ksys_copy_to_user(sys, ubuf, values, event->read_size))
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
	/* over only when no child is left to write (Linux is_event_hup()) */
	if ((event->state <= PERF_EVENT_EXIT && perf_list_empty(&event->children)) ||
	    !event->ring)
		return POLL_HUP_BIT;
	return atomic_exchange_explicit(&event->ring->poll, 0, memory_order_relaxed);
}
