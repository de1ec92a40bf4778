/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/context.h"

#include <asm-generic/errno.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/slots.h"

/* --- life ------------------------------------------------------------------ */

void perf_ctx_init(struct perf_context *ctx, struct kperf *perf)
{
	*ctx = (struct perf_context){.perf = perf, .refs = 1};
	perf_list_init(&ctx->entry);
	perf_list_init(&ctx->events);
	perf_list_init(&ctx->groups);
}

struct perf_context *perf_ctx_get_task(struct kperf *perf, struct ksys_task *task)
{
	void **where = ksys_task_perf(task);
	struct perf_context *ctx = *where;

	if (!ctx) {
		ctx = ksys_alloc(perf->sys, sizeof(*ctx));
		if (!ctx)
			return NULL;
		perf_ctx_init(ctx, perf);
		ctx->task = task;
		perf_list_add_tail(&perf->contexts, &ctx->entry);
		*where = ctx;
	}
	perf_ctx_get(ctx);
	return ctx;
}

void perf_ctx_get(struct perf_context *ctx)
{
	ctx->refs++;
}

void perf_ctx_put(struct perf_context *ctx)
{
	if (--ctx->refs || ctx->is_cpu)
		return;
	perf_list_del(&ctx->entry);
	ksys_free(ctx->perf->sys, ctx);
}

/* --- time ------------------------------------------------------------------ */

/* @advance: the time since the last call counts. */
static void update_time(struct perf_context *ctx, bool advance)
{
	uint64_t now = hal_clock_ns(ksys_hal(ctx->perf->sys));

	if (advance)
		ctx->time += now - ctx->timestamp;
	ctx->timestamp = now;
	ctx->timeoffset = ctx->time - ctx->timestamp;
}

static void update_running_time(struct perf_context *ctx)
{
	if (ctx->is_active & PERF_CTX_TIME)
		update_time(ctx, true);
}

uint64_t perf_ctx_time_now(const struct kperf_event *event, uint64_t now)
{
	const struct perf_context *ctx = event->ctx;

	if (!ctx)
		return 0;
	return ctx->is_active & PERF_CTX_TIME ? now + ctx->timeoffset : ctx->time;
}

/* --- state ----------------------------------------------------------------- */

/* Under a leader that is off no member's time runs, whatever its own state. */
static enum perf_event_state effective_state(const struct kperf_event *event)
{
	if (event->leader->state <= PERF_EVENT_OFF)
		return event->leader->state;
	return event->state;
}

void perf_event_times(const struct kperf_event *event, uint64_t now, uint64_t *enabled,
		      uint64_t *running)
{
	enum perf_event_state state = effective_state(event);
	uint64_t delta = now - event->tstamp;

	*enabled = event->total_time_enabled;
	*running = event->total_time_running;
	if (state >= PERF_EVENT_INACTIVE)
		*enabled += delta;
	if (state >= PERF_EVENT_ACTIVE)
		*running += delta;
}

void perf_event_update_time(struct kperf_event *event)
{
	uint64_t now = event->ctx ? event->ctx->time : 0;

	perf_event_times(event, now, &event->total_time_enabled,
			 &event->total_time_running);
	event->tstamp = now;
}

static void update_sibling_times(struct kperf_event *leader)
{
	struct kperf_event *event;

	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_update_time(event);
}

static void set_state(struct kperf_event *event, enum perf_event_state state)
{
	if (event->state == state)
		return;
	perf_event_update_time(event);
	/* a leader going on or off turns the members' clocks too */
	if ((event->state < 0) != (state < 0))
		update_sibling_times(event);
	event->state = state;
}

/* --- one event on and off a counter ---------------------------------------- */

static void event_sched_out(struct perf_cpu *cpu, struct kperf_event *event)
{
	enum perf_event_state state = PERF_EVENT_INACTIVE;

	if (event->state != PERF_EVENT_ACTIVE)
		return;
	perf_slots_disable(cpu);
	perf_slot_del(cpu, event);
	event->oncpu = -1;
	if (event->pending_disable) {
		event->pending_disable = false;
		state = PERF_EVENT_OFF;
	}
	set_state(event, state);
	cpu->active--;
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
	set_state(event, PERF_EVENT_ACTIVE);
	/* It may have missed the tick that would have let it go on. */
	if (event->hw.interrupts == PERF_THROTTLED)
		perf_freq_unthrottle(cpu, event);
	perf_slots_disable(cpu);
	if (perf_slot_add(cpu, event)) {
		set_state(event, PERF_EVENT_INACTIVE);
		event->oncpu = -1;
		ret = -EAGAIN;
	} else {
		cpu->active++;
		event->ctx->nr_active++;
		perf_freq_sched_in(cpu, event);
		if (event->attr.u.a.exclusive)
			cpu->exclusive = true;
	}
	perf_slots_enable(cpu);
	return ret;
}

static void group_sched_out(struct perf_cpu *cpu, struct kperf_event *leader)
{
	struct kperf_event *event;

	if (leader->state != PERF_EVENT_ACTIVE)
		return;
	perf_slots_disable(cpu);
	event_sched_out(cpu, leader);
	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
		event_sched_out(cpu, event);
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
		event_sched_out(cpu, event);
	}
	event_sched_out(cpu, leader);
error:
	perf_slots_enable(cpu);
	return -EAGAIN;
}

/* --- a context in and out -------------------------------------------------- */

static bool is_pinned(const struct kperf_event *leader)
{
	return leader->attr.u.a.pinned;
}

static bool has_active(const struct perf_context *ctx, bool pinned)
{
	const struct kperf_event *event;

	perf_list_for_each(event, &ctx->groups, struct kperf_event,
			   group_entry) if (event->state == PERF_EVENT_ACTIVE &&
					    is_pinned(event) == pinned) return true;
	return false;
}

static bool filter_match(const struct perf_cpu *cpu, const struct kperf_event *event)
{
	if (event->cpu != -1 && event->cpu != (int)hal_cpu_id(cpu->hal))
		return false;
	/* Where a lone CHAIN event may be opened, it never gets a counter. */
	return (event->hw.evtype & 0xffff) != PMU_EVENT_CHAIN;
}

static bool group_can_go_on(const struct perf_cpu *cpu, const struct kperf_event *leader,
			    bool can_add)
{
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

/* Linux merge_sched_in(): once a group did not fit, no later one of this pass
 * may, or short groups would starve it. */
static void sched_in_one(struct perf_cpu *cpu, struct kperf_event *leader, bool *can_add)
{
	if (leader->state <= PERF_EVENT_OFF || !filter_match(cpu, leader))
		return;
	if (group_can_go_on(cpu, leader, *can_add))
		group_sched_in(cpu, leader);
	if (leader->state != PERF_EVENT_INACTIVE)
		return;
	*can_add = false;
	if (is_pinned(leader))
		set_state(leader, PERF_EVENT_ERROR);
	else
		group_update_pages(leader);
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
		group_sched_out(cpu, event);
}

static void ctx_sched_out(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type)
{
	unsigned changed = ctx->is_active;

	if (!ctx->nr_events)
		return;
	update_running_time(ctx);
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
	if (changed & PERF_CTX_FLEXIBLE)
		sched_out_kind(cpu, ctx, false);
	perf_slots_enable(cpu);
}

static void ctx_sched_in(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type)
{
	unsigned changed = ctx->is_active;

	if (!ctx->nr_events)
		return;
	if (!(ctx->is_active & PERF_CTX_TIME))
		update_time(ctx, false);
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
	ctx_sched_in(cpu, &cpu->ctx, PERF_CTX_PINNED);
	if (task_ctx)
		ctx_sched_in(cpu, task_ctx, PERF_CTX_PINNED);
	ctx_sched_in(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	if (task_ctx)
		ctx_sched_in(cpu, task_ctx, PERF_CTX_FLEXIBLE);
}

/* Take down the groups of equal and lower priority, and put everybody on anew. */
static void ctx_resched(struct perf_cpu *cpu, struct perf_context *task_ctx,
			unsigned type)
{
	unsigned all;

	if (type & PERF_CTX_PINNED)
		type |= PERF_CTX_FLEXIBLE;
	all = type & PERF_CTX_ALL;
	perf_slots_disable(cpu);
	if (task_ctx && cpu->task_ctx == task_ctx)
		ctx_sched_out(cpu, task_ctx, type);
	if (type & PERF_CTX_CPU)
		ctx_sched_out(cpu, &cpu->ctx, all);
	else if (all & PERF_CTX_PINNED)
		ctx_sched_out(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	sched_in_both(cpu, task_ctx);
	perf_slots_enable(cpu);
}

static unsigned event_type(const struct kperf_event *event)
{
	unsigned type = is_pinned(event->leader) ? PERF_CTX_PINNED : PERF_CTX_FLEXIBLE;

	return event->ctx->is_cpu ? type | PERF_CTX_CPU : type;
}

/* --- membership ------------------------------------------------------------ */

static void group_attach(struct kperf_event *event)
{
	struct kperf_event *leader = event->leader, *sibling;

	if (event->in_group)
		return;
	event->in_group = true;
	if (leader == event)
		return;
	perf_list_add_tail(&leader->siblings, &event->sibling_entry);
	leader->nr_siblings++;
	perf_event_header_size(leader);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_header_size(sibling);
}

static void promote(struct kperf_event *event, struct perf_context *ctx)
{
	event->leader = event;
	if (event->in_context)
		perf_list_add_tail(&ctx->groups, &event->group_entry);
	perf_event_header_size(event);
}

/* Members of a leader that goes become leaders of themselves. */
static void group_detach(struct kperf_event *event)
{
	struct kperf_event *leader = event->leader, *sibling;

	if (!event->in_group)
		return;
	event->in_group = false;
	if (leader != event) {
		perf_list_del(&event->sibling_entry);
		leader->nr_siblings--;
		promote(event, event->ctx);
	} else {
		while (!perf_list_empty(&event->siblings)) {
			sibling = perf_list_entry(event->siblings.next,
						  struct kperf_event, sibling_entry);
			perf_list_del(&sibling->sibling_entry);
			promote(sibling, event->ctx);
		}
		event->nr_siblings = 0;
	}
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_header_size(sibling);
	perf_event_header_size(leader);
}

static void add_event(struct perf_context *ctx, struct kperf_event *event)
{
	event->in_context = true;
	event->tstamp = ctx->time;
	if (event->leader == event)
		perf_list_add_tail(&ctx->groups, &event->group_entry);
	perf_list_add_tail(&ctx->events, &event->ctx_entry);
	ctx->nr_events++;
	group_attach(event);
}

static void del_event(struct perf_context *ctx, struct kperf_event *event)
{
	if (!event->in_context)
		return;
	event->in_context = false;
	ctx->nr_events--;
	perf_list_del(&event->ctx_entry);
	if (event->leader == event)
		perf_list_del(&event->group_entry);
}

/* Does this CPU run what the context belongs to? */
static bool ctx_is_here(const struct perf_context *ctx)
{
	if (ctx->is_cpu)
		return true;
	return ctx->task && ctx->task == ksys_current(ctx->perf->sys);
}

static struct perf_cpu *ctx_cpu(const struct perf_context *ctx)
{
	return perf_this_cpu(ctx->perf, ksys_hal(ctx->perf->sys));
}

/* Linux perf_install_in_context(): a disabled event that is not the first one
 * only joins the lists. */
void perf_ctx_install(struct perf_context *ctx, struct kperf_event *event)
{
	struct hal *hal = ksys_hal(ctx->perf->sys);
	unsigned long flags = hal_irq_save(hal);
	struct perf_cpu *cpu = ctx_cpu(ctx);

	if ((effective_state(event) == PERF_EVENT_OFF && ctx->nr_events) ||
	    !ctx_is_here(ctx)) {
		add_event(ctx, event);
	} else {
		ctx_sched_out(cpu, ctx, PERF_CTX_TIME);
		add_event(ctx, event);
		ctx_resched(cpu, ctx->is_cpu ? cpu->task_ctx : ctx, event_type(event));
	}
	hal_irq_restore(hal, flags);
}

static void event_disable(struct perf_cpu *cpu, struct kperf_event *event,
			  enum perf_event_state state)
{
	event_sched_out(cpu, event);
	set_state(event, event->state < state ? event->state : state);
}

void perf_ctx_remove(struct kperf_event *event, unsigned detach)
{
	struct perf_context *ctx = event->ctx;
	struct hal *hal = ksys_hal(ctx->perf->sys);
	unsigned long flags = hal_irq_save(hal);
	struct perf_cpu *cpu = ctx_cpu(ctx);
	enum perf_event_state state = PERF_EVENT_OFF;

	update_running_time(ctx);
	if (detach & PERF_DETACH_EXIT)
		state = PERF_EVENT_EXIT;
	if (detach & PERF_DETACH_DEAD) {
		event->pending_disable = true;
		state = PERF_EVENT_DEAD;
	}
	event_disable(cpu, event, state);
	if (detach & PERF_DETACH_GROUP)
		group_detach(event);
	del_event(ctx, event);
	if (!ctx->nr_events && ctx->is_active) {
		ctx->is_active = 0;
		if (!ctx->is_cpu)
			cpu->task_ctx = NULL;
	}
	hal_irq_restore(hal, flags);
}

/* --- what the fd asks for -------------------------------------------------- */

static void enable_locked(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct perf_context *ctx = event->ctx;
	struct kperf_event *leader = event->leader;

	if (event->state >= PERF_EVENT_INACTIVE || event->state < PERF_EVENT_ERROR ||
	    ctx->dead)
		return;
	if (event->state == PERF_EVENT_ERROR)
		event->state = PERF_EVENT_OFF;
	if (ctx->is_active)
		ctx_sched_out(cpu, ctx, PERF_CTX_TIME);
	set_state(event, PERF_EVENT_INACTIVE);
	if (!ctx->is_active)
		return;
	/* A member goes on with its group only. */
	if (!filter_match(cpu, event) ||
	    (leader != event && leader->state != PERF_EVENT_ACTIVE)) {
		ctx_sched_in(cpu, ctx, PERF_CTX_TIME);
		return;
	}
	ctx_resched(cpu, cpu->task_ctx, event_type(event));
}

static void disable_locked(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->state < PERF_EVENT_INACTIVE)
		return;
	update_running_time(event->ctx);
	/* The whole group leaves the hardware, but only the leader is off. */
	if (event == event->leader)
		group_sched_out(cpu, event);
	event_disable(cpu, event, PERF_EVENT_OFF);
}

void perf_ctx_enable(struct kperf_event *event)
{
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags = hal_irq_save(hal);

	enable_locked(ctx_cpu(event->ctx), event);
	hal_irq_restore(hal, flags);
}

void perf_ctx_disable(struct kperf_event *event)
{
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags = hal_irq_save(hal);

	disable_locked(ctx_cpu(event->ctx), event);
	hal_irq_restore(hal, flags);
}

void perf_ctx_disable_local(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->ctx->is_cpu || event->ctx->task == ksys_current(event->perf->sys))
		disable_locked(cpu, event);
}

/* Linux __perf_event_period(): acts now, whatever was left. */
void perf_ctx_period(struct kperf_event *event, uint64_t period)
{
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags = hal_irq_save(hal);
	struct perf_cpu *cpu = ctx_cpu(event->ctx);
	bool active = event->state == PERF_EVENT_ACTIVE;

	if (!event->ctx->dead) {
		event->attr.u.a.sample_period = period; /* or sample_freq */
		if (!event->attr.u.a.freq)
			event->hw.sample_period = period;
		if (active) {
			perf_slots_disable(cpu);
			if (event->hw.interrupts == PERF_THROTTLED)
				perf_freq_unthrottle(cpu, event);
			perf_slot_stop(cpu, event);
		}
		event->hw.period_left = 0;
		if (active) {
			perf_slot_start(cpu, event);
			perf_slots_enable(cpu);
		}
	}
	hal_irq_restore(hal, flags);
}

static void read_siblings(struct perf_cpu *cpu, struct kperf_event *leader)
{
	struct kperf_event *event;

	perf_list_for_each(event, &leader->siblings, struct kperf_event,
			   sibling_entry) if (event->state == PERF_EVENT_ACTIVE)
		perf_slot_update(cpu, event);
}

void perf_ctx_read(struct kperf_event *event, bool group)
{
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags;

	if (event->state < PERF_EVENT_INACTIVE)
		return;
	flags = hal_irq_save(hal);
	update_running_time(event->ctx);
	perf_event_update_time(event);
	if (group)
		update_sibling_times(event);
	if (event->state == PERF_EVENT_ACTIVE) {
		struct perf_cpu *cpu = ctx_cpu(event->ctx);

		perf_slot_update(cpu, event);
		if (group)
			read_siblings(cpu, event);
	}
	hal_irq_restore(hal, flags);
}

/* --- the scheduler's hooks ------------------------------------------------- */

static bool unused(struct kperf *perf, struct ksys_task *task)
{
	return atomic_load_explicit(&perf->task_events, memory_order_relaxed) == 0 ||
	       !task;
}

static bool has_pinned(const struct perf_context *ctx)
{
	const struct kperf_event *event;

	perf_list_for_each(event, &ctx->groups, struct kperf_event,
			   group_entry) if (is_pinned(event)) return true;
	return false;
}

void kperf_sched_in(struct kperf *perf, struct hal *hal, struct ksys_task *task)
{
	struct perf_cpu *cpu;
	struct perf_context *ctx;

	if (unused(perf, task))
		return;
	cpu = perf_this_cpu(perf, hal);
	ctx = *ksys_task_perf(task);
	if (!ctx || cpu->task_ctx == ctx || !ctx->nr_events)
		return;
	perf_slots_disable(cpu);
	if (has_pinned(ctx))
		ctx_sched_out(cpu, &cpu->ctx, PERF_CTX_FLEXIBLE);
	sched_in_both(cpu, ctx);
	perf_slots_enable(cpu);
}

void kperf_sched_out(struct kperf *perf, struct hal *hal, struct ksys_task *task)
{
	struct perf_cpu *cpu;
	struct perf_context *ctx;

	if (unused(perf, task))
		return;
	cpu = perf_this_cpu(perf, hal);
	ctx = *ksys_task_perf(task);
	if (!ctx || cpu->task_ctx != ctx)
		return;
	perf_slots_disable(cpu);
	ctx_sched_out(cpu, ctx, PERF_CTX_ALL);
	perf_slots_enable(cpu);
}

/* No event may look at the task any more, neither as its target nor for the
 * pid namespace. */
static void forget_observer(struct kperf *perf, struct ksys_task *task)
{
	struct kperf_event *event;

	perf_list_for_each(event, &perf->events, struct kperf_event,
			   all) if (event->observer == task) event->observer = NULL;
}

static void exit_events(struct perf_context *ctx)
{
	while (!perf_list_empty(&ctx->events)) {
		struct kperf_event *event =
			perf_list_entry(ctx->events.next, struct kperf_event, ctx_entry);

		perf_ctx_remove(event, PERF_DETACH_EXIT);
		perf_event_wakeup(event);
	}
}

void kperf_task_exit(struct kperf *perf, struct ksys_task *task)
{
	struct perf_context *ctx = *ksys_task_perf(task);
	struct hal *hal = ksys_hal(perf->sys);
	unsigned long flags;

	if (ctx) {
		flags = hal_irq_save(hal);
		if (ctx_cpu(ctx)->task_ctx == ctx)
			ctx_sched_out(ctx_cpu(ctx), ctx, PERF_CTX_ALL);
		*ksys_task_perf(task) = NULL;
		ctx->task = NULL;
		ctx->dead = true;
		hal_irq_restore(hal, flags);
		exit_events(ctx);
		perf_ctx_put(ctx);
	}
	flags = hal_irq_save(hal);
	forget_observer(perf, task);
	hal_irq_restore(hal, flags);
}
