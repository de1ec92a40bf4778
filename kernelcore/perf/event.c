/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/event.h"

#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <linux/perf_event.h>

#include "kernelcore/perf/callchain.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/ring.h"
#include "kernelcore/perf/slots.h"

enum {
	CLOCK_REALTIME_ID = 0,
	CLOCK_BOOTTIME_ID = 7,
	CLOCK_TAI_ID = 11,
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

	if (event->parent)
		event = event->parent;
	if (!event->ring)
		return;
	perf_list_for_each(other, &event->ring->events, struct kperf_event, ring_entry)
		ksys_poll_wake(event->perf->sys, other);
}

/* Linux perf_event_wakeup(): pollers of the ring, then whoever set O_ASYNC. */
static void wake_and_tell(struct kperf_event *event)
{
	struct kperf_event *told = event->parent ? event->parent : event;

	perf_event_wakeup(event);
	if (event->pending_kill)
		ksys_sigio(event->perf->sys, told, event->pending_kill == PERF_KILL_HUP);
	event->pending_kill = PERF_KILL_NONE;
}

/* What the handler put off. */
static void pending_irq(void *arg)
{
	struct kperf_event *event = arg;
	struct hal *hal = ksys_hal(event->perf->sys);

	if (event->pending_wakeup) {
		event->pending_wakeup = false;
		hal_note(hal, HAL_NOTE_WAKEUP, event->id, 0);
		wake_and_tell(event);
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
		if (output->cpu == -1 && output->target != event->target)
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

/* What the fast ways out of hooks and software events look at. Children are not
 * counted: they do not outlive their parents. */
static void account(struct kperf_event *event, bool born)
{
	struct kperf *perf = event->perf;

	event->accounted = born;
	if (event->attach_task)
		atomic_fetch_add_explicit(&perf->task_events, born ? 1u : -1u,
					  memory_order_relaxed);
	if (event->kind == PERF_KIND_SW)
		atomic_fetch_add_explicit(&perf->sw_enabled[event->attr.u.a.config],
					  born ? 1u : -1u, memory_order_relaxed);
}

static void event_free(struct kperf_event *event)
{
	struct kperf *perf = event->perf;

	ksys_irq_work_cancel(perf->sys, &event->pending_irq);
	if (event->ring)
		perf_event_attach_ring(event, NULL);
	if (event->accounted)
		account(event, false);
	if (event->has_chain)
		perf_callchain_put(perf);
	if (event->ctx)
		perf_ctx_put(event->ctx);
	ksys_task_put(perf->sys, event->target);
	ksys_task_put(perf->sys, event->observer);
	perf_list_del(&event->all);
	ksys_free(perf->sys, event);
}

void perf_event_put(struct kperf_event *event)
{
	while (event && --event->refs == 0) {
		struct kperf_event *parent = event->parent;

		event_free(event);
		event = parent;
	}
}

/* Linux perf_event_release_kernel(): nobody can ask for the counts any more, so
 * the children go too, whatever they still count. */
static void release(struct kperf_event *event)
{
	perf_list_del(&event->owner_entry);
	perf_ctx_remove(event, PERF_DETACH_GROUP | PERF_DETACH_DEAD);
	while (!perf_list_empty(&event->children)) {
		struct kperf_event *child = perf_list_entry(
			event->children.next, struct kperf_event, child_entry);

		perf_ctx_remove(child, PERF_DETACH_GROUP);
		perf_list_del(&child->child_entry);
		perf_event_put(child);
	}
}

void perf_event_put_file(struct kperf_event *event)
{
	if (--event->files)
		return;
	release(event);
	perf_event_put(event);
}

void kperf_release(struct kperf_event *event)
{
	perf_event_put_file(event);
}

int kperf_event_counter(const struct kperf_event *event)
{
	return event->hw.counter < 0 ? -ENOENT : event->hw.counter;
}

static void init_lists(struct kperf_event *event)
{
	perf_list_init(&event->owner_entry);
	perf_list_init(&event->children);
	perf_list_init(&event->child_entry);
	perf_list_init(&event->ctx_entry);
	perf_list_init(&event->group_entry);
	perf_list_init(&event->siblings);
	perf_list_init(&event->sibling_entry);
	perf_list_init(&event->sw_entry);
	perf_list_init(&event->ring_entry);
}

static void hold_task(struct ksys_task **where, struct ksys_task *task)
{
	*where = task;
	if (task)
		ksys_task_get(task);
}

static struct kperf_event *event_alloc(struct kperf *perf, const struct perf_attr *attr,
				       int cpu, struct ksys_task *target)
{
	const struct perf_event_attr *a = &attr->u.a;
	struct kperf_event *event = ksys_alloc(perf->sys, sizeof(*event));

	if (!event)
		return NULL;
	event->perf = perf;
	event->attr = *attr;
	event->cpu = cpu;
	event->files = event->refs = 1;
	hold_task(&event->observer, ksys_current(perf->sys));
	hold_task(&event->target, target);
	event->attach_task = target != NULL;
	event->id = ++perf->next_id;
	event->leader = event;
	event->oncpu = -1;
	event->state = a->disabled ? PERF_EVENT_OFF : PERF_EVENT_INACTIVE;
	event->hw.counter = -1;
	event->hw.stopped = true;
	/* a frequency is approached from below */
	event->hw.sample_period = a->freq && a->sample_freq ? 1 : a->sample_period;
	event->hw.last_period = event->hw.sample_period;
	perf_freq_init(&event->hw);
	event->hw.period_left = (int64_t)event->hw.sample_period;
	event->pending_irq.fn = pending_irq;
	event->pending_irq.arg = event;
	init_lists(event);
	perf_list_add_tail(&perf->events, &event->all);
	return event;
}

struct kperf_event *perf_event_inherit(struct kperf_event *parent,
				       struct perf_context *ctx,
				       struct kperf_event *leader)
{
	enum perf_event_state state = parent->state;
	struct kperf_event *event;

	if (parent->parent)
		parent = parent->parent;
	event = event_alloc(parent->perf, &parent->attr, parent->cpu, ctx->task);
	if (!event)
		return NULL;
	ksys_task_put(parent->perf->sys, event->observer);
	hold_task(&event->observer, parent->observer);
	event->parent = parent;
	parent->refs++;
	if (leader)
		event->leader = leader;
	if (perf_event_init_pmu(event)) {
		/* what the parent could be, the child can */
		perf_event_put(event);
		return NULL;
	}
	event->state = state >= PERF_EVENT_INACTIVE ? PERF_EVENT_INACTIVE : PERF_EVENT_OFF;
	if (parent->attr.u.a.freq) {
		event->hw.sample_period = parent->hw.sample_period;
		event->hw.last_period = event->hw.sample_period;
		event->hw.period_left = (int64_t)event->hw.sample_period;
	}
	event->ctx = ctx;
	perf_ctx_get(ctx);
	perf_event_header_size(event);
	return event;
}

/* A member that is off at open takes no counter in the trial, as in Linux. */
static bool try_slot(struct perf_slot_set *set, const struct kperf_event *event)
{
	if (event->kind != PERF_KIND_HW || event->state < PERF_EVENT_OFF)
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

	if (!a->use_clockid || a->clockid == CLOCK_MONOTONIC_ID ||
	    a->clockid == CLOCK_MONOTONIC_RAW_ID)
		return 0;
	/* the others may not be read in an NMI, and the PMU promises no less */
	if (event->kind != PERF_KIND_HW &&
	    (a->clockid == CLOCK_REALTIME_ID || a->clockid == CLOCK_BOOTTIME_ID ||
	     a->clockid == CLOCK_TAI_ID))
		return 0;
	return -EINVAL;
}

/* What Linux perf_event_alloc() finds out, and what follows before a context. */
static int init_pmu(struct kperf_event *event, const struct open_args *args)
{
	struct kperf *perf = event->perf;
	int ret = check_inherit_read(event);

	if (!ret)
		ret = perf_event_init_pmu(event);
	if (!ret && !group_fits(event))
		ret = -EINVAL;
	if (!ret)
		ret = check_aux(event);
	/* there is no cgroup file system whose fd it could be */
	if (!ret && args->flags & PERF_FLAG_PID_CGROUP)
		ret = -EBADF;
	if (!ret && event->attr.u.a.sample_type & PERF_SAMPLE_CALLCHAIN) {
		ret = perf_callchain_get(perf, event);
		event->has_chain = !ret;
	}
	if (!ret && event->kind == PERF_KIND_HW && perf_event_is_sampling(event) &&
	    !perf->irq_requested)
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = check_clock(event);
	if (!ret)
		ret = perf_attr_not_built(&event->attr);
	return ret;
}

/* Linux perf_check_permission(). */
static int check_permission(struct kperf *perf, const struct open_args *args)
{
	if (!args->task || perf_perfmon_capable(perf) ||
	    ksys_may_attach(perf->sys, args->task))
		return 0;
	return -EACCES;
}

static int get_context(struct kperf_event *event, const struct open_args *args)
{
	struct kperf *perf = event->perf;
	int ret;

	if (args->task) {
		if (ksys_task_dead(args->task))
			return -ESRCH;
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
	if (args->task)
		return 0;
	return event->perf->cpus[event->cpu].hal ? 0 : -ENODEV;
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

static bool moves_group(const struct kperf_event *event)
{
	const struct kperf_event *leader = event->leader;

	return leader != event && event->kind == PERF_KIND_HW && leader->software_group;
}

/* Linux perf_event__state_init(). */
static void state_init(struct kperf_event *event)
{
	event->state = event->attr.u.a.disabled ? PERF_EVENT_OFF : PERF_EVENT_INACTIVE;
}

/* A hardware event joins software events: the group leaves its context and comes
 * back as one that waits for counters, its members first, each as it was
 * opened. */
static void move_group(struct kperf_event *leader)
{
	struct perf_context *ctx = leader->ctx;
	struct kperf_event *sibling;

	perf_ctx_remove(leader, 0);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		perf_ctx_remove(sibling, 0);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
	{
		state_init(sibling);
		perf_ctx_install(ctx, sibling);
	}
	state_init(leader);
	perf_ctx_install(ctx, leader);
}

static int open_event(struct kperf *perf, const struct open_args *args,
		      struct perf_task *opener, struct kperf_event **out)
{
	struct kperf_event *event;
	int ret = check_target(perf, args);

	if (ret)
		return ret;
	event = event_alloc(perf, &args->attr, args->cpu, args->task);
	if (!event)
		return -ENOMEM;
	if (args->leader)
		event->leader = args->leader;
	ret = init_pmu(event, args);
	if (!ret)
		ret = join(event, args);
	if (ret) {
		event_free(event);
		return ret;
	}
	/* From here on nothing fails. */
	if (moves_group(event))
		move_group(event->leader);
	perf_event_header_size(event);
	account(event, true);
	perf_ctx_install(event->ctx, event);
	perf_list_add_tail(&opener->owned, &event->owner_entry);
	*out = event;
	return 0;
}

long kperf_open(struct kperf *perf, uint64_t uattr, int32_t pid, int32_t cpu,
		int32_t group_fd, uint64_t flags)
{
	struct open_args args = {
		.pid = pid, .cpu = cpu, .group_fd = group_fd, .flags = flags};
	struct perf_task *opener;
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
		args.attr.u.a.sample_max_stack =
			(uint16_t)ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_STACK);
	opener = perf_task_get(perf, ksys_current(perf->sys));
	if (!opener)
		return -ENOMEM;
	fd = ksys_fd_reserve(perf->sys, flags & PERF_FLAG_FD_CLOEXEC);
	ret = fd < 0 ? fd : find_group(perf, &args);
	if (!ret)
		ret = find_task(perf, &args);
	if (!ret)
		ret = open_event(perf, &args, opener, &event);
	if (ret) {
		if (args.task)
			perf_task_trim(perf, args.task);
		perf_task_trim(perf, ksys_current(perf->sys));
		if (fd >= 0)
			ksys_fd_cancel(perf->sys, fd);
	} else {
		ksys_fd_install(perf->sys, fd, event);
	}
	ksys_task_put(perf->sys, args.task);
	return ret ? ret : fd;
}
