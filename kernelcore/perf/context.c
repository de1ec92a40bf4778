/* SPDX-License-Identifier: MIT */
/* Contexts as lists of events with a clock, and the states of the events. */
#include "kernelcore/perf/context.h"

#include "kernelcore/hal.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/policy.h"

/* --- life ------------------------------------------------------------------ */

void perf_ctx_init(struct perf_context *ctx, struct kperf *perf)
{
	*ctx = (struct perf_context){.perf = perf, .refs = 1};
	perf_list_init(&ctx->events);
	perf_list_init(&ctx->groups);
}

struct perf_task *perf_task_get(struct kperf *perf, struct ksys_task *task)
{
	void **where = ksys_task_perf(task);
	struct perf_task *pt = *where;

	if (pt)
		return pt;
	pt = ksys_alloc(perf->sys, sizeof(*pt));
	if (!pt)
		return NULL;
	pt->task = task;
	perf_list_init(&pt->owned);
	perf_list_add_tail(&perf->tasks, &pt->entry);
	*where = pt;
	return pt;
}

void perf_task_drop(struct kperf *perf, struct perf_task *pt)
{
	*ksys_task_perf(pt->task) = NULL;
	perf_list_del(&pt->entry);
	if (pt->ctx)
		perf_ctx_put(pt->ctx);
	ksys_free(perf->sys, pt);
}

void perf_task_trim(struct kperf *perf, struct ksys_task *task)
{
	struct perf_task *pt = *ksys_task_perf(task);

	if (pt && !pt->ctx && perf_list_empty(&pt->owned))
		perf_task_drop(perf, pt);
}

struct perf_context *perf_ctx_get_task(struct kperf *perf, struct ksys_task *task)
{
	struct perf_task *pt = perf_task_get(perf, task);

	if (!pt)
		return NULL;
	if (!pt->ctx) {
		struct perf_context *ctx = ksys_alloc(perf->sys, sizeof(*ctx));

		if (!ctx)
			return NULL;
		perf_ctx_init(ctx, perf);
		ctx->task = task;
		ksys_task_get(task);
		pt->ctx = ctx;
	}
	perf_ctx_get(pt->ctx);
	return pt->ctx;
}

struct perf_context *perf_ctx_of_task(struct ksys_task *task)
{
	struct perf_task *pt = *ksys_task_perf(task);

	return pt ? pt->ctx : NULL;
}

void perf_ctx_get(struct perf_context *ctx)
{
	ctx->refs++;
}

void perf_ctx_put(struct perf_context *ctx)
{
	struct ksys *sys = ctx->perf->sys;

	if (--ctx->refs || ctx->is_cpu)
		return;
	ksys_task_put(sys, ctx->task);
	ksys_free(sys, ctx);
}

/* --- time ------------------------------------------------------------------ */

void perf_ctx_update_time(struct perf_context *ctx, bool advance)
{
	uint64_t now = hal_clock_ns(ksys_hal(ctx->perf->sys));

	if (advance)
		ctx->time += now - ctx->timestamp;
	ctx->timestamp = now;
	ctx->timeoffset = ctx->time - ctx->timestamp;
}

void perf_ctx_update_running(struct perf_context *ctx)
{
	if (ctx->is_active & PERF_CTX_TIME)
		perf_ctx_update_time(ctx, true);
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
enum perf_event_state perf_event_effective_state(const struct kperf_event *event)
{
	if (event->leader->state <= PERF_EVENT_OFF)
		return event->leader->state;
	return event->state;
}

void perf_event_times(const struct kperf_event *event, uint64_t now, uint64_t *enabled,
		      uint64_t *running)
{
	enum perf_event_state state = perf_event_effective_state(event);
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

void perf_event_update_siblings(struct kperf_event *leader)
{
	struct kperf_event *event;

	perf_list_for_each(event, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_update_time(event);
}

void perf_event_set_state(struct kperf_event *event, enum perf_event_state state)
{
	if (event->state == state)
		return;
	perf_event_update_time(event);
	/* a leader going on or off turns the members' clocks too */
	if ((event->state < 0) != (state < 0))
		perf_event_update_siblings(event);
	event->state = state;
}

/* --- membership ------------------------------------------------------------ */

static void header_sizes(struct kperf_event *leader)
{
	struct kperf_event *sibling;

	perf_event_header_size(leader);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		perf_event_header_size(sibling);
}

static void attach_group(struct kperf_event *event)
{
	struct kperf_event *leader = event->leader;

	if (event->in_group)
		return;
	event->in_group = true;
	if (leader == event)
		return;
	if (event->kind == PERF_KIND_HW)
		leader->software_group = false;
	perf_list_add_tail(&leader->siblings, &event->sibling_entry);
	leader->nr_siblings++;
	leader->generation++;
	header_sizes(leader);
}

static void add_group(struct perf_context *ctx, struct kperf_event *leader)
{
	perf_list_add_tail(&ctx->groups, &leader->group_entry);
	ctx->nr_pinned += leader->attr.u.a.pinned;
}

static void promote(struct kperf_event *event, bool software_group)
{
	event->leader = event;
	event->software_group = software_group;
	if (event->in_context)
		add_group(event->ctx, event);
	if (!event->perf->policy->promoted_read_size_stays)
		perf_event_header_size(event);
}

void perf_ctx_detach_group(struct kperf_event *event)
{
	struct kperf_event *leader = event->leader, *sibling;

	if (!event->in_group)
		return;
	event->in_group = false;
	if (leader != event) {
		perf_list_del(&event->sibling_entry);
		leader->nr_siblings--;
		leader->generation++;
		promote(event, event->kind != PERF_KIND_HW);
	} else {
		while (!perf_list_empty(&event->siblings)) {
			sibling = perf_list_entry(event->siblings.next,
						  struct kperf_event, sibling_entry);
			perf_list_del(&sibling->sibling_entry);
			promote(sibling, event->software_group);
		}
		event->nr_siblings = 0;
	}
	header_sizes(leader);
}

void perf_ctx_add_event(struct perf_context *ctx, struct kperf_event *event)
{
	event->in_context = true;
	event->tstamp = ctx->time;
	if (event->leader == event) {
		event->software_group = event->kind != PERF_KIND_HW;
		add_group(ctx, event);
	}
	perf_list_add_tail(&ctx->events, &event->ctx_entry);
	ctx->nr_events++;
	ctx->nr_user += event->hw.user_read;
	attach_group(event);
}

void perf_ctx_del_event(struct perf_context *ctx, struct kperf_event *event)
{
	if (!event->in_context)
		return;
	event->in_context = false;
	ctx->nr_events--;
	ctx->nr_user -= event->hw.user_read;
	perf_list_del(&event->ctx_entry);
	if (!perf_list_empty(&event->group_entry)) {
		perf_list_del(&event->group_entry);
		ctx->nr_pinned -= event->attr.u.a.pinned;
	}
}
