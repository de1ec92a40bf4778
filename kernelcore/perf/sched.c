/* SPDX-License-Identifier: MIT */
/*
 * Events on and off their counters: one, a group, a context, two contexts by
 * priority, and the turns that flexible groups take. IRQs are off, and the CPU is
 * the one that executes.
 */
#include <asm-generic/errno.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"
#include "kernelcore/perf/slots.h"

/* --- one event --------------------------------------------------------------- */

void perf_event_sched_out(struct perf_cpu *cpu, struct kperf_event *event)
{
	enum perf_event_state state = PERF_EVENT_INACTIVE;

	if (event->state != PERF_EVENT_ACTIVE)
		return;
	perf_slots_disable(cpu);
	perf_event_del(cpu, event);
	event->oncpu = -1;
	if (event->pending_disable) {
		event->pending_disable = false;
		state = PERF_EVENT_OFF;
	}
	perf_event_set_state(event, state);
	cpu->active -= event->kind == PERF_KIND_HW;
	event->ctx->nr_active--;
	perf_freq_sched_out(cpu, event);
	if (event->attr.u.a.exclusive || !cpu->active)
		cpu->exclusive = false;
	perf_slots_enable(cpu);
}

static int event_sched_in(struct perf_cpu *cpu, struct kperf_event *event)
{
	int ret = 0;

	if (event->state <= PERF_EVENT_OFF)
		return 0;
	event->oncpu = (int)hal_cpu_id(cpu->hal);
	perf_event_set_state(event, PERF_EVENT_ACTIVE);
	/* It may have missed the tick that would have let it go on. */
	if (event->hw.interrupts == PERF_THROTTLED)
		perf_freq_unthrottle(cpu, event);
	perf_slots_disable(cpu);
	if (perf_event_add(cpu, event)) {
		perf_event_set_state(event, PERF_EVENT_INACTIVE);
		event->oncpu = -1;
		ret = -EAGAIN;
	} else {
		cpu->active += event->kind == PERF_KIND_HW;
		event->ctx->nr_active++;
		perf_freq_sched_in(cpu, event);
		if (event->attr.u.a.exclusive)
			cpu->exclusive = true;
	}
	perf_slots_enable(cpu);
	return ret;
}

/* --- a group ----------------------------------------------------------------- */

void perf_group_sched_out(struct perf_cpu *cpu, struct kperf_event *leader)
{
	struct kperf_event *event;

	if (leader->state != PERF_EVENT_ACTIVE)
		return;
	perf_slots_disable(cpu);
	perf_event_sched_out(cpu, leader);
	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_sched_out(cpu, event);
	perf_slots_enable(cpu);
}

/* All members or none. */
static int group_sched_in(struct perf_cpu *cpu, struct kperf_event *leader)
{
	struct kperf_event *event, *failed = NULL;

	if (leader->state == PERF_EVENT_OFF)
		return 0;
	perf_slots_disable(cpu);
	if (event_sched_in(cpu, leader))
		goto error;
	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
	{
		if (event_sched_in(cpu, event)) {
			failed = event;
			goto undo;
		}
	}
	perf_slots_enable(cpu);
	return 0;

undo:
	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
	{
		if (event == failed)
			break;
		perf_event_sched_out(cpu, event);
	}
	perf_event_sched_out(cpu, leader);
error:
	perf_slots_enable(cpu);
	return -EAGAIN;
}

/* --- a context ---------------------------------------------------------------- */

static bool is_pinned(const struct kperf_event *leader)
{
	return leader->attr.u.a.pinned;
}

static bool has_active(const struct perf_context *ctx, bool pinned)
{
	const struct kperf_event *event;

	perf_list_for_each(event, &ctx->groups, struct kperf_event,
			   group_entry) if (event->state == PERF_EVENT_ACTIVE &&
					    !event->software_group &&
					    is_pinned(event) == pinned) return true;
	return false;
}

bool perf_event_filter(const struct perf_cpu *cpu, const struct kperf_event *event)
{
	if (event->cpu != -1 && event->cpu != (int)hal_cpu_id(cpu->hal))
		return false;
	/* Where a lone CHAIN event may be opened, it never gets a counter. */
	return event->kind != PERF_KIND_HW ||
	       (event->hw.evtype & 0xffff) != PMU_EVENT_CHAIN;
}

static bool group_can_go_on(const struct perf_cpu *cpu, const struct kperf_event *leader,
			    bool can_add)
{
	if (leader->software_group)
		return true;
	if (cpu->exclusive)
		return false;
	if (leader->attr.u.a.exclusive && has_active(leader->ctx, is_pinned(leader)))
		return false;
	return can_add;
}

static void group_update_pages(struct kperf_event *leader)
{
	struct kperf_event *event;

	if (!leader->mmap_count)
		return;
	perf_event_update_time(leader);
	perf_mmap_page_update(leader);
	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
	{
		if (!event->mmap_count)
			continue;
		perf_event_update_time(event);
		perf_mmap_page_update(event);
	}
}

static void mux_start(struct perf_cpu *cpu);

/* Linux merge_sched_in(): once a group did not fit, no later one of this pass
 * may, or short groups would starve it. */
static void sched_in_one(struct perf_cpu *cpu, struct kperf_event *leader, bool *can_add)
{
	if (leader->state <= PERF_EVENT_OFF || !perf_event_filter(cpu, leader))
		return;
	if (group_can_go_on(cpu, leader, *can_add))
		group_sched_in(cpu, leader);
	if (leader->state != PERF_EVENT_INACTIVE)
		return;
	*can_add = false;
	if (is_pinned(leader)) {
		perf_event_set_state(leader, PERF_EVENT_ERROR);
	} else {
		leader->ctx->rotate_necessary = true;
		mux_start(cpu);
		group_update_pages(leader);
	}
}

static void sched_in_kind(struct perf_cpu *cpu, struct perf_context *ctx, bool pinned)
{
	struct kperf_event *event;
	bool can_add = true;

	perf_list_for_each(event, &ctx->groups, struct kperf_event,
			   group_entry) if (is_pinned(event) == pinned)
		sched_in_one(cpu, event, &can_add);
}

static void sched_out_kind(struct perf_cpu *cpu, struct perf_context *ctx, bool pinned)
{
	struct kperf_event *event;

	perf_list_for_each(event, &ctx->groups, struct kperf_event,
			   group_entry) if (is_pinned(event) == pinned)
		perf_group_sched_out(cpu, event);
}

void perf_ctx_sched_out(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type)
{
	unsigned changed = ctx->is_active;

	if (!ctx->nr_events)
		return;
	perf_ctx_update_running(ctx);
	ctx->is_active &= ~type;
	if (!(ctx->is_active & PERF_CTX_ALL))
		ctx->is_active = 0;
	if (!ctx->is_cpu && !ctx->is_active)
		cpu->task_ctx = NULL;
	changed ^= ctx->is_active;
	if (!ctx->nr_active || !(changed & PERF_CTX_ALL))
		return;
	perf_slots_disable(cpu);
	if (changed & PERF_CTX_PINNED)
		sched_out_kind(cpu, ctx, true);
	if (changed & PERF_CTX_FLEXIBLE) {
		sched_out_kind(cpu, ctx, false);
		ctx->rotate_necessary = false;
	}
	perf_slots_enable(cpu);
}

void perf_ctx_sched_in(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type)
{
	unsigned changed = ctx->is_active;

	if (!ctx->nr_events)
		return;
	if (!(ctx->is_active & PERF_CTX_TIME))
		perf_ctx_update_time(ctx, false);
	ctx->is_active |= type | PERF_CTX_TIME;
	if (!ctx->is_cpu && !changed)
		cpu->task_ctx = ctx;
	changed ^= ctx->is_active;
	if (changed & PERF_CTX_PINNED)
		sched_in_kind(cpu, ctx, true);
	if (changed & PERF_CTX_FLEXIBLE)
		sched_in_kind(cpu, ctx, false);
}

/* Priority: the CPU's pinned groups, the task's, the CPU's flexible, the task's. */
static void sched_in_both(struct perf_cpu *cpu, struct perf_context *task_ctx)
{
	perf_ctx_sched_in(cpu, &cpu->ctx, PERF_CTX_PINNED);
	if (task_ctx)
		perf_ctx_sched_in(cpu, task_ctx, PERF_CTX_PINNED);
	perf_ctx_sched_in(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	if (task_ctx)
		perf_ctx_sched_in(cpu, task_ctx, PERF_CTX_FLEXIBLE);
}

void perf_ctx_resched(struct perf_cpu *cpu, struct perf_context *task_ctx, unsigned type)
{
	unsigned all;

	if (type & PERF_CTX_PINNED)
		type |= PERF_CTX_FLEXIBLE;
	all = type & PERF_CTX_ALL;
	perf_slots_disable(cpu);
	if (task_ctx && cpu->task_ctx == task_ctx)
		perf_ctx_sched_out(cpu, task_ctx, type);
	if (type & PERF_CTX_CPU)
		perf_ctx_sched_out(cpu, &cpu->ctx, all);
	else if (all & PERF_CTX_PINNED)
		perf_ctx_sched_out(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	sched_in_both(cpu, task_ctx);
	perf_slots_enable(cpu);
}

unsigned perf_event_type(const struct kperf_event *event)
{
	unsigned type = is_pinned(event->leader) ? PERF_CTX_PINNED : PERF_CTX_FLEXIBLE;

	return event->ctx->is_cpu ? type | PERF_CTX_CPU : type;
}

/* --- turns --------------------------------------------------------------------- */

enum {
	MUX_NS = 1000000000 / KSYS_HZ /* Linux perf_event_mux_interval_ms: 4 */
};

/* Linux ctx_event_to_rotate(): the flexible group whose turn is over. */
static struct kperf_event *to_rotate(const struct perf_cpu *cpu, struct perf_context *ctx)
{
	struct kperf_event *event, *first = NULL;

	ctx->rotate_necessary = false;
	perf_list_for_each(event, &ctx->groups, struct kperf_event, group_entry)
	{
		if (is_pinned(event) || event->software_group)
			continue;
		if (event->state == PERF_EVENT_ACTIVE)
			return event;
		if (!first && perf_event_filter(cpu, event))
			first = event;
	}
	return first;
}

static void move_behind(struct perf_context *ctx, struct kperf_event *event)
{
	if (ctx->rotate_disable)
		return;
	perf_list_del(&event->group_entry);
	perf_list_add_tail(&ctx->groups, &event->group_entry);
}

/* Linux perf_rotate_context(). False: everybody has a counter. */
static bool rotate(struct perf_cpu *cpu)
{
	struct perf_context *task_ctx = cpu->task_ctx;
	struct kperf_event *task_event = NULL, *cpu_event = NULL;
	bool cpu_turn = cpu->ctx.rotate_necessary;
	bool task_turn = task_ctx && task_ctx->rotate_necessary;

	if (!cpu_turn && !task_turn)
		return false;
	perf_slots_disable(cpu);
	if (task_turn)
		task_event = to_rotate(cpu, task_ctx);
	if (cpu_turn)
		cpu_event = to_rotate(cpu, &cpu->ctx);
	if (task_event || (task_ctx && cpu_event))
		perf_ctx_sched_out(cpu, task_ctx, PERF_CTX_FLEXIBLE);
	if (cpu_event)
		perf_ctx_sched_out(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	if (task_event)
		move_behind(task_ctx, task_event);
	if (cpu_event)
		move_behind(&cpu->ctx, cpu_event);
	sched_in_both(cpu, task_ctx);
	perf_slots_enable(cpu);
	return true;
}

/* hrtimer_forward_now() from an expiry that was a multiple: the next one. */
static uint64_t next_turn(struct perf_cpu *cpu)
{
	return (hal_clock_ns(cpu->hal) / MUX_NS + 1) * MUX_NS;
}

static void mux_fire(void *arg)
{
	struct perf_cpu *cpu = arg;

	if (rotate(cpu))
		ksys_hrtimer_start(cpu->perf->sys, &cpu->mux, next_turn(cpu));
	else
		cpu->mux_on = false;
}

static void mux_start(struct perf_cpu *cpu)
{
	if (cpu->mux_on)
		return;
	cpu->mux_on = true;
	ksys_hrtimer_start(cpu->perf->sys, &cpu->mux, next_turn(cpu));
}

void perf_mux_init(struct perf_cpu *cpu)
{
	cpu->mux.fn = mux_fire;
	cpu->mux.arg = cpu;
}

void perf_mux_stop(struct perf_cpu *cpu)
{
	ksys_hrtimer_cancel(cpu->perf->sys, &cpu->mux);
	cpu->mux_on = false;
}

/* --- the scheduler's hooks ------------------------------------------------------ */

static bool unused(struct kperf *perf, struct ksys_task *task)
{
	return atomic_load_explicit(&perf->task_events, memory_order_relaxed) == 0 ||
	       !task;
}

void kperf_sched_in(struct kperf *perf, struct hal *hal, struct ksys_task *next)
{
	struct perf_cpu *cpu;
	struct perf_context *ctx;

	if (unused(perf, next))
		return;
	cpu = perf_this_cpu(perf, hal);
	ctx = perf_ctx_of_task(next);
	if (!ctx || cpu->task_ctx == ctx || !ctx->nr_events)
		return;
	perf_slots_disable(cpu);
	if (ctx->nr_pinned)
		perf_ctx_sched_out(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	sched_in_both(cpu, ctx);
	perf_slots_enable(cpu);
}

void kperf_sched_out(struct kperf *perf, struct hal *hal, struct ksys_task *prev)
{
	struct perf_cpu *cpu;
	struct perf_context *ctx;

	if (unused(perf, prev))
		return;
	cpu = perf_this_cpu(perf, hal);
	ctx = perf_ctx_of_task(prev);
	if (!ctx || cpu->task_ctx != ctx)
		return;
	perf_slots_disable(cpu);
	perf_ctx_sched_out(cpu, ctx, PERF_CTX_ALL);
	perf_slots_enable(cpu);
}
