/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/event.h"

#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <linux/perf_event.h>

#include "kernelcore/perf/callchain.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/ring.h"
#include "kernelcore/perf/slots.h"

enum {
	OPEN_FLAGS = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP |
		     PERF_FLAG_FD_CLOEXEC,
	READ_SIZE_MAX = 16 * 1024,
	CLOCK_MONOTONIC_ID = 1,
	CLOCK_MONOTONIC_RAW_ID = 4,
};

/* --- sizes ----------------------------------------------------------------- */

static uint64_t read_size(uint64_t format, unsigned nr_siblings)
{
	uint64_t entry = 8, size = 0, nr = 1;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		size += 8;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		size += 8;
	if (format & PERF_FORMAT_ID)
		entry += 8;
	if (format & PERF_FORMAT_LOST)
		entry += 8;
	if (format & PERF_FORMAT_GROUP) {
		nr += nr_siblings;
		size += 8;
	}
	return size + nr * entry;
}

void perf_event_header_size(struct kperf_event *event)
{
	event->read_size =
		read_size(event->attr.u.a.read_format, event->leader->nr_siblings);
}

static bool size_fits(const struct kperf_event *event, unsigned nr_siblings)
{
	return read_size(event->attr.u.a.read_format, nr_siblings) <= READ_SIZE_MAX;
}

/* Does every member's read() still fit with one more of them? */
static bool group_sizes_fit(const struct kperf_event *event)
{
	const struct kperf_event *leader = event->leader, *sibling;
	unsigned n = leader->nr_siblings + 1;

	if (!size_fits(event, n) || !size_fits(leader, n))
		return false;
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event,
			   sibling_entry) if (!size_fits(sibling, n)) return false;
	return true;
}

/* --- wakeups --------------------------------------------------------------- */

void perf_event_wakeup(struct kperf_event *event)
{
	struct kperf_event *other;

	if (!event->ring)
		return;
	perf_list_for_each(other, &event->ring->events, struct kperf_event, ring_entry)
		ksys_poll_wake(event->perf->sys, other);
}

/* What the handler put off. */
static void pending_irq(void *arg)
{
	struct kperf_event *event = arg;
	struct hal *hal = ksys_hal(event->perf->sys);

	if (event->pending_wakeup) {
		event->pending_wakeup = false;
		hal_note(hal, HAL_NOTE_WAKEUP, event->id, 0);
		perf_event_wakeup(event);
	}
	if (event->oncpu == (int)hal_cpu_id(hal) && event->pending_disable) {
		event->pending_disable = false;
		perf_ctx_disable_local(perf_this_cpu(event->perf, hal), event);
	}
}

/* --- ring attachment ------------------------------------------------------- */

void perf_event_attach_ring(struct kperf_event *event, struct perf_ring *ring)
{
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags = hal_irq_save(hal);
	struct perf_ring *old = event->ring;

	perf_list_del(&event->ring_entry);
	if (ring)
		perf_list_add_tail(&ring->events, &event->ring_entry);
	event->ring = ring;
	hal_irq_restore(hal, flags);
	if (!old)
		return;
	perf_ring_put(old);
	/* what the old ring's last record owed it */
	ksys_poll_wake(event->perf->sys, event);
}

static int64_t clock_of(const struct kperf_event *event)
{
	return event->attr.u.a.use_clockid ? event->attr.u.a.clockid : -1;
}

int perf_event_set_output(struct kperf_event *event, struct kperf_event *output)
{
	struct perf_ring *ring = NULL;

	if (output) {
		if (event == output || output->cpu != event->cpu)
			return -EINVAL;
		/* without a CPU in common it takes one task */
		if (output->cpu == -1 && output->ctx != event->ctx)
			return -EINVAL;
		if (clock_of(output) != clock_of(event) ||
		    output->attr.u.a.write_backward != event->attr.u.a.write_backward)
			return -EINVAL;
	}
	if (event->mmap_count)
		return -EINVAL;
	if (output) {
		ring = output->ring;
		if (!ring || !ring->mmap_count)
			return -EINVAL;
		ring->refs++;
	}
	perf_event_attach_ring(event, ring);
	return 0;
}

/* --- birth and death ------------------------------------------------------- */

static void event_free(struct kperf_event *event)
{
	struct kperf *perf = event->perf;

	ksys_irq_work_cancel(perf->sys, &event->pending_irq);
	if (event->ring)
		perf_event_attach_ring(event, NULL);
	if (event->ctx)
		perf_ctx_put(event->ctx);
	perf_list_del(&event->all);
	ksys_free(perf->sys, event);
}

void perf_event_put(struct kperf_event *event)
{
	struct kperf *perf = event->perf;

	if (--event->refs)
		return;
	perf_ctx_remove(event, PERF_DETACH_GROUP | PERF_DETACH_DEAD);
	if (event->attach_task)
		atomic_fetch_sub_explicit(&perf->task_events, 1, memory_order_relaxed);
	event_free(event);
}

void kperf_release(struct kperf_event *event)
{
	perf_event_put(event);
}

int kperf_event_counter(const struct kperf_event *event)
{
	return event->hw.counter < 0 ? -ENOENT : event->hw.counter;
}

static void event_init(struct kperf *perf, struct kperf_event *event,
		       const struct perf_attr *attr, int cpu, struct kperf_event *leader)
{
	const struct perf_event_attr *a = &attr->u.a;

	event->perf = perf;
	event->attr = *attr;
	event->cpu = cpu;
	event->refs = 1;
	event->observer = ksys_current(perf->sys);
	event->id = ++perf->next_id;
	event->leader = leader ? leader : event;
	event->oncpu = -1;
	event->state = a->disabled ? PERF_EVENT_OFF : PERF_EVENT_INACTIVE;
	event->hw.counter = -1;
	event->hw.stopped = true;
	/* a frequency is approached from below */
	event->hw.sample_period = a->freq && a->sample_freq ? 1 : a->sample_period;
	event->hw.last_period = event->hw.sample_period;
	event->hw.period_left = (int64_t)event->hw.sample_period;
	event->pending_irq.fn = pending_irq;
	event->pending_irq.arg = event;
	perf_list_init(&event->ctx_entry);
	perf_list_init(&event->group_entry);
	perf_list_init(&event->siblings);
	perf_list_init(&event->sibling_entry);
	perf_list_init(&event->ring_entry);
	perf_list_add_tail(&perf->events, &event->all);
}

/* A member that is off at open takes no counter in the trial, as in Linux. */
static bool try_slot(struct perf_slot_set *set, const struct kperf_event *event)
{
	if (event->state < PERF_EVENT_OFF)
		return true;
	if (event->state == PERF_EVENT_OFF && !event->attr.u.a.enable_on_exec)
		return true;
	return perf_slot_get(set, event) >= 0;
}

/* Linux validate_group(): could the group ever go on? */
static bool group_fits(const struct kperf_event *event)
{
	struct perf_slot_set set = {.counters = event->perf->pmu.counters,
				    .long_events = event->perf->pmu.long_events};
	const struct kperf_event *leader = event->leader, *sibling;

	if (!try_slot(&set, leader))
		return false;
	if (event == leader)
		return true;
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event,
			   sibling_entry) if (!try_slot(&set, sibling)) return false;
	return try_slot(&set, event);
}

/* --- perf_event_open ------------------------------------------------------- */

struct open_args {
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	struct perf_attr attr;
	struct ksys_task *task;	    /* NULL: the CPU's events */
	struct kperf_event *leader; /* NULL: a group of its own */
	struct kperf_event *output;
};

static int find_group(struct kperf *perf, struct open_args *args)
{
	struct kperf_event *event;

	if (args->group_fd == -1)
		return 0;
	if (ksys_fd_event(perf->sys, args->group_fd, &event))
		return -EBADF;
	if (perf->policy->group_exit_enodev && event->state <= PERF_EVENT_EXIT)
		return -ENODEV;
	if (args->flags & PERF_FLAG_FD_OUTPUT)
		args->output = event;
	if (!(args->flags & PERF_FLAG_FD_NO_GROUP))
		args->leader = event;
	return 0;
}

static int find_task(struct kperf *perf, struct open_args *args)
{
	if (args->pid == -1 || args->flags & PERF_FLAG_PID_CGROUP)
		return 0;
	args->task = ksys_find_task(perf->sys, args->pid);
	if (!args->task)
		return -ESRCH;
	if (args->leader && args->leader->attr.u.a.inherit != args->attr.u.a.inherit)
		return -EINVAL;
	return 0;
}

static int check_target(struct kperf *perf, const struct open_args *args)
{
	const struct perf_event_attr *a = &args->attr.u.a;

	if ((uint32_t)args->cpu >= ksys_ncpus(perf->sys) &&
	    (!args->task || args->cpu != -1))
		return -EINVAL;
	return a->sigtrap && !args->task ? -EINVAL : 0;
}

static int check_inherit_read(const struct kperf_event *event)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	if (!a->inherit || !(a->sample_type & PERF_SAMPLE_READ))
		return 0;
	if (event->perf->policy->inherit_read_with_tid &&
	    a->sample_type & PERF_SAMPLE_TID)
		return 0;
	return -EINVAL;
}

/* aux_start_paused, aux_pause, aux_resume; on a kernel without them they were
 * refused before. */
static int check_aux(const struct kperf_event *event)
{
	uint32_t action = perf_attr_aux_action(&event->attr);

	if (event->attr.u.a.aux_output)
		return -EOPNOTSUPP;
	if ((action & 6) == 6)
		return -EINVAL;
	return action & 1 ? -EOPNOTSUPP : 0;
}

static bool needs_aux_leader(const struct kperf_event *event)
{
	return event->attr.u.a.aux_sample_size || perf_attr_aux_action(&event->attr) & 6;
}

static int check_clock(const struct kperf_event *event)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	/* only these may be read in an NMI, and the PMU promises no less */
	if (a->use_clockid && a->clockid != CLOCK_MONOTONIC_ID &&
	    a->clockid != CLOCK_MONOTONIC_RAW_ID)
		return -EINVAL;
	return 0;
}

/* What Linux perf_event_alloc() finds out, and what follows before a context. */
static int init_pmu(struct kperf_event *event, const struct open_args *args)
{
	struct kperf *perf = event->perf;
	int ret = check_inherit_read(event);

	if (!ret)
		ret = perf_attr_init_hw(event);
	if (!ret && !group_fits(event))
		ret = -EINVAL;
	if (!ret)
		ret = check_aux(event);
	/* there is no cgroup file system whose fd it could be */
	if (!ret && args->flags & PERF_FLAG_PID_CGROUP)
		ret = -EBADF;
	if (!ret)
		ret = perf_callchain_check(event);
	if (!ret && perf_event_is_sampling(event) && !perf->irq_requested)
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = check_clock(event);
	if (!ret)
		ret = perf_attr_not_built(&event->attr);
	return ret;
}

static int check_permission(struct kperf *perf, const struct open_args *args)
{
	/* another task needs rights; ptrace's rules are not built yet */
	if (!args->task || args->task == ksys_current(perf->sys) ||
	    perf_perfmon_capable(perf))
		return 0;
	return -EACCES;
}

static int get_context(struct kperf_event *event, const struct open_args *args)
{
	struct kperf *perf = event->perf;
	int ret;

	if (args->task) {
		event->ctx = perf_ctx_get_task(perf, args->task);
		return event->ctx ? 0 : -ENOMEM;
	}
	ret = perf_allow_cpu(perf);
	if (ret)
		return ret;
	event->ctx = &perf->cpus[event->cpu].ctx;
	perf_ctx_get(event->ctx);
	return 0;
}

static int check_online(const struct kperf_event *event, const struct open_args *args)
{
	struct kperf *perf = event->perf;

	if (args->task)
		return 0;
	if (!perf->cpus[event->cpu].hal)
		return -ENODEV;
	/* work on another CPU's counters needs a cross-CPU call: not built yet */
	return event->cpu == (int)hal_cpu_id(ksys_hal(perf->sys)) ? 0 : -EOPNOTSUPP;
}

static int check_group(const struct kperf_event *event, const struct open_args *args)
{
	const struct kperf_event *leader = args->leader;

	if (!leader)
		return 0;
	if (leader->leader != leader || clock_of(leader) != clock_of(event) ||
	    leader->cpu != event->cpu || leader->ctx != event->ctx)
		return -EINVAL;
	return event->attr.u.a.exclusive || event->attr.u.a.pinned ? -EINVAL : 0;
}

static int join(struct kperf_event *event, const struct open_args *args)
{
	bool early = event->perf->policy->group_exit_enodev;
	int ret = early ? check_permission(event->perf, args) : 0;

	if (!ret)
		ret = get_context(event, args);
	if (!ret && early)
		ret = check_online(event, args);
	if (!ret)
		ret = check_group(event, args);
	if (!ret && args->output)
		ret = perf_event_set_output(event, args->output);
	if (!ret && !early)
		ret = check_permission(event->perf, args);
	if (!ret && !group_sizes_fit(event))
		ret = -E2BIG;
	if (!ret && !early)
		ret = check_online(event, args);
	if (!ret && needs_aux_leader(event))
		ret = -EINVAL;
	return ret;
}

static int open_event(struct kperf *perf, const struct open_args *args,
		      struct kperf_event **out)
{
	struct kperf_event *event;
	int ret = check_target(perf, args);

	if (ret)
		return ret;
	event = ksys_alloc(perf->sys, sizeof(*event));
	if (!event)
		return -ENOMEM;
	event_init(perf, event, &args->attr, args->cpu, args->leader);
	event->attach_task = args->task != NULL;
	ret = init_pmu(event, args);
	if (!ret)
		ret = join(event, args);
	if (ret) {
		event_free(event);
		return ret;
	}
	/* From here on nothing fails. */
	perf_event_header_size(event);
	if (event->attach_task)
		atomic_fetch_add_explicit(&perf->task_events, 1, memory_order_relaxed);
	perf_ctx_install(event->ctx, event);
	*out = event;
	return 0;
}

long kperf_open(struct kperf *perf, uint64_t uattr, int32_t pid, int32_t cpu,
		int32_t group_fd, uint64_t flags)
{
	struct open_args args = {
		.pid = pid, .cpu = cpu, .group_fd = group_fd, .flags = flags};
	struct kperf_event *event;
	int fd, ret;

	if (flags & ~(uint64_t)OPEN_FLAGS)
		return -EINVAL;
	ret = perf_attr_copy(perf, uattr, &args.attr);
	if (!ret)
		ret = perf_attr_check(perf, &args.attr);
	if (!ret && flags & PERF_FLAG_PID_CGROUP && (pid == -1 || cpu == -1))
		ret = -EINVAL;
	if (ret)
		return ret;
	if (!args.attr.u.a.sample_max_stack)
		args.attr.u.a.sample_max_stack = PERF_CHAIN_FRAMES;
	fd = ksys_fd_reserve(perf->sys, flags & PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	ret = find_group(perf, &args);
	if (!ret)
		ret = find_task(perf, &args);
	if (!ret)
		ret = open_event(perf, &args, &event);
	ksys_task_put(perf->sys, args.task);
	if (ret) {
		ksys_fd_cancel(perf->sys, fd);
		return ret;
	}
	ksys_fd_install(perf->sys, fd, event);
	return fd;
}
