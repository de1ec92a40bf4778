/* SPDX-License-Identifier: MIT */
/*
 * What a file asks of its event, done on the CPU where the event's context is:
 * nobody reaches over to another CPU's counters. A task's context is where the
 * task runs; of one that does not run, any CPU may change the lists.
 */
#include <asm-generic/errno-base.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"

/* --- the call ------------------------------------------------------------------ */

struct request {
	struct kperf_event *event;
	/* @cpu NULL: the context is on none */
	void (*fn)(struct perf_cpu *cpu, struct request *request);
	struct ksys_task *task; /* only if it runs there; NULL: whoever does */
	uint64_t arg;
	int ret;
};

static struct perf_cpu *this_cpu(struct kperf *perf)
{
	return perf_this_cpu(perf, ksys_hal(perf->sys));
}

/* IRQs off, on the CPU that was called. */
static void serve(void *arg)
{
	struct request *request = arg;
	struct kperf *perf = request->event->perf;

	if (request->task && request->task != ksys_current(perf->sys)) {
		request->ret = -ESRCH;
		return;
	}
	request->ret = 0;
	request->fn(this_cpu(perf), request);
}

/* Linux task_function_call() and cpu_function_call(). */
static int call_cpu(struct request *request, int cpu)
{
	struct ksys *sys = request->event->perf->sys;

	if (cpu < 0)
		return -ESRCH;
	request->ret = -ENXIO;
	if (ksys_cpu_call(sys, (unsigned)cpu, serve, request))
		return -ENXIO;
	return request->ret;
}

static int call_task(struct request *request)
{
	int ret;

	/* it may have moved on while the call was under way */
	do {
		ret = call_cpu(request, ksys_task_cpu(request->task));
	} while (ret == -ENXIO);
	return ret;
}

/* Linux event_function_call(): where the context is active; else here, with no
 * CPU's counters concerned. */
static void event_call(struct request *request)
{
	struct perf_context *ctx = request->event->ctx;
	struct hal *hal = ksys_hal(ctx->perf->sys);
	unsigned long flags;

	if (ctx->is_cpu) {
		call_cpu(request, request->event->cpu);
		return;
	}
	for (;;) {
		if (ctx->dead)
			return;
		request->task = ctx->task;
		if (!call_task(request))
			return;
		flags = hal_irq_save(hal);
		if (ctx->dead || !ctx->is_active)
			break;
		hal_irq_restore(hal, flags); /* it runs by now */
	}
	if (!ctx->dead)
		request->fn(NULL, request);
	hal_irq_restore(hal, flags);
}

/* --- install --------------------------------------------------------------------- */

static void do_install(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event;
	struct perf_context *ctx = event->ctx;

	perf_ctx_sched_out(cpu, ctx, PERF_CTX_TIME);
	perf_ctx_add_event(ctx, event);
	perf_ctx_resched(cpu, ctx->is_cpu ? cpu->task_ctx : ctx, perf_event_type(event));
}

/* Linux perf_install_in_context(): a disabled event that is not the first one
 * only joins the lists. */
void perf_ctx_install(struct perf_context *ctx, struct kperf_event *event)
{
	struct request request = {.event = event, .fn = do_install, .task = ctx->task};
	struct hal *hal = ksys_hal(ctx->perf->sys);
	bool lists_only =
		perf_event_effective_state(event) == PERF_EVENT_OFF && ctx->nr_events;
	unsigned long flags;

	if (!lists_only && ctx->is_cpu) {
		call_cpu(&request, event->cpu);
		return;
	}
	if (!lists_only && !call_task(&request))
		return;
	flags = hal_irq_save(hal);
	perf_ctx_add_event(ctx, event);
	hal_irq_restore(hal, flags);
}

/* --- remove ---------------------------------------------------------------------- */

static void event_disable(struct perf_cpu *cpu, struct kperf_event *event,
			  enum perf_event_state state)
{
	if (cpu)
		perf_event_sched_out(cpu, event);
	perf_event_set_state(event, event->state < state ? event->state : state);
}

/* An inherited event's counts are its parent's from now on; Linux
 * sync_child_event(). */
static void detach_child(struct kperf_event *event)
{
	struct kperf_event *parent = event->parent;

	if (perf_list_empty(&event->child_entry))
		return;
	perf_event_update_time(event);
	parent->child_count += event->count;
	parent->child_time_enabled += event->total_time_enabled;
	parent->child_time_running += event->total_time_running;
	perf_list_del(&event->child_entry);
}

static void do_remove(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event;
	struct perf_context *ctx = event->ctx;
	unsigned detach = (unsigned)request->arg;
	enum perf_event_state state = PERF_EVENT_OFF;

	perf_ctx_update_running(ctx);
	if (detach & PERF_DETACH_EXIT)
		state = PERF_EVENT_EXIT;
	if (detach & PERF_DETACH_DEAD) {
		event->pending_disable = true;
		state = PERF_EVENT_DEAD;
	}
	event_disable(cpu, event, state);
	if (detach & PERF_DETACH_GROUP)
		perf_ctx_detach_group(event);
	if (detach & PERF_DETACH_CHILD)
		detach_child(event);
	perf_ctx_del_event(ctx, event);
	if (!ctx->nr_events && ctx->is_active) {
		ctx->is_active = 0;
		ctx->rotate_necessary = false;
		if (!ctx->is_cpu)
			cpu->task_ctx = NULL;
	}
}

void perf_ctx_remove(struct kperf_event *event, unsigned detach)
{
	struct request request = {.event = event, .fn = do_remove, .arg = detach};
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags;

	if (event->ctx->is_active) {
		event_call(&request);
		return;
	}
	/* also of a dead task's context, unlike everything else */
	flags = hal_irq_save(hal);
	do_remove(NULL, &request);
	hal_irq_restore(hal, flags);
}

/* --- enable, disable ---------------------------------------------------------------- */

static void do_enable(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event, *leader = event->leader;
	struct perf_context *ctx = event->ctx;

	if (event->state >= PERF_EVENT_INACTIVE || event->state <= PERF_EVENT_ERROR)
		return;
	if (cpu && ctx->is_active)
		perf_ctx_sched_out(cpu, ctx, PERF_CTX_TIME);
	perf_event_set_state(event, PERF_EVENT_INACTIVE);
	if (!cpu || !ctx->is_active)
		return;
	/* A member goes on with its group only. */
	if (!perf_event_filter(cpu, event) ||
	    (leader != event && leader->state != PERF_EVENT_ACTIVE)) {
		perf_ctx_sched_in(cpu, ctx, PERF_CTX_TIME);
		return;
	}
	perf_ctx_resched(cpu, cpu->task_ctx, perf_event_type(event));
}

void perf_ctx_enable(struct kperf_event *event)
{
	struct request request = {.event = event, .fn = do_enable};

	if (event->state >= PERF_EVENT_INACTIVE || event->state < PERF_EVENT_ERROR)
		return;
	if (event->state == PERF_EVENT_ERROR)
		event->state = PERF_EVENT_OFF;
	event_call(&request);
}

static void do_disable(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event;

	if (event->state < PERF_EVENT_INACTIVE)
		return;
	perf_ctx_update_running(event->ctx);
	/* The whole group leaves the hardware, but only the leader is off. */
	if (cpu && event == event->leader)
		perf_group_sched_out(cpu, event);
	event_disable(cpu, event, PERF_EVENT_OFF);
}

void perf_ctx_disable(struct kperf_event *event)
{
	struct request request = {.event = event, .fn = do_disable};

	if (event->state > PERF_EVENT_OFF)
		event_call(&request);
}

void perf_ctx_disable_local(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct request request = {.event = event};

	if (event->ctx->is_cpu || event->ctx->task == ksys_current(event->perf->sys))
		do_disable(cpu, &request);
}

/* --- period ---------------------------------------------------------------------- */

/* Linux __perf_event_period(): acts now, whatever was left. */
static void do_period(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event;
	bool active = cpu && event->state == PERF_EVENT_ACTIVE;

	event->attr.u.a.sample_period = request->arg; /* or sample_freq */
	if (!event->attr.u.a.freq)
		event->hw.sample_period = request->arg;
	if (active) {
		perf_slots_disable(cpu);
		if (event->hw.interrupts == PERF_THROTTLED)
			perf_freq_unthrottle(cpu, event);
		perf_event_stop(cpu, event);
	}
	event->hw.period_left = 0;
	if (active) {
		perf_event_start(cpu, event);
		perf_slots_enable(cpu);
	}
}

void perf_ctx_period(struct kperf_event *event, uint64_t period)
{
	struct request request = {.event = event, .fn = do_period, .arg = period};

	event_call(&request);
}

/* --- read ------------------------------------------------------------------------ */

static void read_siblings(struct perf_cpu *cpu, struct kperf_event *leader)
{
	struct kperf_event *event;

	perf_list_for_each(event, &leader->siblings, struct kperf_event,
			   sibling_entry) if (event->state == PERF_EVENT_ACTIVE)
		perf_event_update(cpu, event);
}

static void read_times(struct kperf_event *event, bool group)
{
	perf_ctx_update_running(event->ctx);
	perf_event_update_time(event);
	if (group)
		perf_event_update_siblings(event);
}

/* Linux __perf_event_read(). */
static void do_read(struct perf_cpu *cpu, struct request *request)
{
	struct kperf_event *event = request->event;
	bool group = request->arg;

	/* switched out before the call arrived: all is up to date */
	if (!event->ctx->is_cpu && cpu->task_ctx != event->ctx)
		return;
	read_times(event, group);
	if (event->state != PERF_EVENT_ACTIVE)
		return;
	perf_event_update(cpu, event);
	if (group)
		read_siblings(cpu, event);
}

void perf_ctx_read(struct kperf_event *event, bool group)
{
	struct request request = {.event = event, .fn = do_read, .arg = group};
	struct hal *hal = ksys_hal(event->perf->sys);
	unsigned long flags;

	if (event->state == PERF_EVENT_ACTIVE) {
		call_cpu(&request, event->oncpu);
	} else if (event->state == PERF_EVENT_INACTIVE) {
		flags = hal_irq_save(hal);
		read_times(event, group);
		hal_irq_restore(hal, flags);
	}
}

/* --- a family ---------------------------------------------------------------------- */

void perf_ctx_reset(struct kperf_event *event)
{
	perf_ctx_read(event, false);
	event->count = 0;
	perf_mmap_page_update(event);
}

static void one(struct kperf_event *event, enum perf_family_op op)
{
	switch (op) {
	case PERF_FAMILY_ENABLE:
		perf_ctx_enable(event);
		break;
	case PERF_FAMILY_DISABLE:
		perf_ctx_disable(event);
		break;
	case PERF_FAMILY_RESET:
		perf_ctx_reset(event);
		break;
	}
}

void perf_ctx_family(struct kperf_event *event, enum perf_family_op op)
{
	struct kperf_event *child;

	one(event, op);
	perf_list_for_each(child, &event->children, struct kperf_event, child_entry)
		one(child, op);
}
