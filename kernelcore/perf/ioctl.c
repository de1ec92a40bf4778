/* SPDX-License-Identifier: MIT */
#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <linux/perf_event.h>

#include "kernelcore/perf/attr.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/ring.h"

static long refresh(struct kperf_event *event, uint64_t arg)
{
	if (event->attr.u.a.inherit || !perf_event_is_sampling(event))
		return -EINVAL;
	event->event_limit = (int)((unsigned)event->event_limit + (unsigned)arg);
	perf_ctx_enable(event);
	return 0;
}

static long set_period(struct kperf_event *event, uint64_t arg)
{
	uint64_t value;

	if (ksys_copy_from_user(event->perf->sys, &value, arg, sizeof(value)))
		return -EFAULT;
	if (!perf_event_is_sampling(event) || !value)
		return -EINVAL;
	if (event->attr.u.a.freq) {
		if (value > (uint64_t)ksys_sysctl(event->perf->sys,
						  KSYS_SYSCTL_MAX_SAMPLE_RATE))
			return -EINVAL;
	} else if (value >> 63) {
		return -EINVAL;
	}
	perf_ctx_period(event, value);
	return 0;
}

static long get_id(struct kperf_event *event, uint64_t arg)
{
	if (ksys_copy_to_user(event->perf->sys, arg, &event->id, sizeof(event->id)))
		return -EFAULT;
	return 0;
}

static long set_output(struct kperf_event *event, uint64_t arg)
{
	struct kperf_event *output = NULL;

	/* anything that is no event's fd is EBADF here */
	if (arg != UINT64_MAX &&
	    ksys_fd_event(event->perf->sys, (int32_t)(uint32_t)arg, &output))
		return -EBADF;
	return perf_event_set_output(event, output);
}

static long pause_output(struct kperf_event *event, uint64_t arg)
{
	if (!event->ring || !event->ring->nr_pages)
		return -EINVAL;
	event->ring->paused = arg != 0;
	return 0;
}

/* Filters belong to tracepoints and address-filtering PMUs; the string is
 * fetched before that is found out. */
static long set_filter(struct kperf_event *event, uint64_t arg)
{
	char c;

	for (unsigned i = 0; i < KSYS_PAGE_SIZE; i++) {
		if (ksys_copy_from_user(event->perf->sys, &c, arg + i, 1))
			return -EFAULT;
		if (!c)
			break;
	}
	return -EINVAL;
}

/* There are no BPF programs: an fd that is open is the wrong kind. */
static long set_bpf(struct kperf_event *event, uint64_t arg)
{
	struct kperf_event *other;
	int ret = ksys_fd_event(event->perf->sys, (int32_t)(uint32_t)arg, &other);

	return ret == -EBADF ? -EBADF : -EINVAL;
}

static long query_bpf(const struct kperf_event *event)
{
	return perf_perfmon_capable(event->perf) ? -EINVAL : -EPERM;
}

/* Linux modifies breakpoints only. */
static long modify_attributes(struct kperf_event *event, uint64_t arg)
{
	struct perf_attr attr;
	int ret = perf_attr_copy(event->perf, arg, &attr);

	if (ret)
		return ret;
	return event->attr.u.a.type != attr.u.a.type ? -EINVAL : -EOPNOTSUPP;
}

/* ENABLE, DISABLE, RESET: of the event, or of its whole group. Only bit 0 of
 * the argument is looked at. */
static long for_each(struct kperf_event *event, uint64_t arg, enum perf_family_op op)
{
	struct kperf_event *leader = event->leader, *sibling;

	if (!(arg & PERF_IOC_FLAG_GROUP)) {
		perf_ctx_family(event, op);
		return 0;
	}
	perf_ctx_family(leader, op);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		perf_ctx_family(sibling, op);
	return 0;
}

long kperf_ioctl(struct kperf_event *event, uint32_t cmd, uint64_t arg)
{
	switch (cmd) {
	case PERF_EVENT_IOC_ENABLE:
		return for_each(event, arg, PERF_FAMILY_ENABLE);
	case PERF_EVENT_IOC_DISABLE:
		return for_each(event, arg, PERF_FAMILY_DISABLE);
	case PERF_EVENT_IOC_RESET:
		return for_each(event, arg, PERF_FAMILY_RESET);
	case PERF_EVENT_IOC_REFRESH:
		return refresh(event, arg);
	case PERF_EVENT_IOC_PERIOD:
		return set_period(event, arg);
	case PERF_EVENT_IOC_ID:
		return get_id(event, arg);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(event, arg);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return pause_output(event, arg);
	case PERF_EVENT_IOC_SET_FILTER:
		return set_filter(event, arg);
	case PERF_EVENT_IOC_SET_BPF:
		return set_bpf(event, arg);
	case PERF_EVENT_IOC_QUERY_BPF:
		return query_bpf(event);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify_attributes(event, arg);
	default:
		return -ENOTTY;
	}
}
