/* SPDX-License-Identifier: MIT */
/* A task's life: fork, exec, exit; what it asks of all its events. */
#include <asm-generic/errno-base.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/perf.h"

/* include/uapi/linux/sched.h */
#define CLONE_THREAD UINT64_C(0x10000)

/* --- fork ---------------------------------------------------------------------- */

/* An inherited event joins the lists of a context that runs nowhere. */
static struct kperf_event *inherit_one(struct kperf_event *event,
				       struct perf_context *ctx,
				       struct kperf_event *leader)
{
	struct kperf_event *child = perf_event_inherit(event, ctx, leader);

	if (!child)
		return NULL;
	perf_ctx_add_event(ctx, child);
	perf_list_add_tail(&child->parent->children, &child->child_entry);
	return child;
}

/* Linux inherit_task_group(). The parent's members keep their groups. */
static int inherit_group(struct kperf_event *event, struct perf_context *ctx)
{
	struct kperf_event *leader = inherit_one(event, ctx, NULL), *sibling;

	if (!leader)
		return -ENOMEM;
	perf_list_for_each(sibling, &event->siblings, struct kperf_event, sibling_entry)
	{
		if (!inherit_one(sibling, ctx, leader))
			return -ENOMEM;
	}
	leader->generation = event->generation;
	return 0;
}

static bool is_inherited(const struct kperf_event *event, uint64_t flags)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	return a->inherit && (!a->inherit_thread || flags & CLONE_THREAD);
}

static int inherit_kind(struct kperf *perf, struct perf_context *from,
			struct ksys_task *child, uint64_t flags, bool pinned)
{
	struct kperf_event *event;
	int ret = 0;

	perf_list_for_each(event, &from->groups, struct kperf_event, group_entry)
	{
		struct perf_context *ctx;

		if (event->attr.u.a.pinned != pinned || !is_inherited(event, flags))
			continue;
		ctx = perf_ctx_get_task(perf, child);
		if (!ctx)
			return -ENOMEM;
		ret = inherit_group(event, ctx);
		perf_ctx_put(ctx);
		if (ret)
			break;
	}
	return ret;
}

int kperf_fork(struct kperf *perf, struct ksys_task *parent, struct ksys_task *child,
	       uint64_t flags)
{
	struct perf_context *ctx = perf_ctx_of_task(parent);
	int ret;

	*ksys_task_perf(child) = NULL;
	if (!ctx)
		return 0;
	/* turns must wait: the list is walked with IRQs on */
	ctx->rotate_disable = true;
	ret = inherit_kind(perf, ctx, child, flags, true);
	if (!ret)
		ret = inherit_kind(perf, ctx, child, flags, false);
	ctx->rotate_disable = false;
	if (ret)
		kperf_task_free(perf, child);
	return ret;
}

/* --- the end -------------------------------------------------------------------- */

/* Linux perf_event_exit_event(). */
static void exit_event(struct kperf_event *event, unsigned detach)
{
	struct kperf_event *parent = event->parent;

	if (parent)
		detach |= PERF_DETACH_GROUP | PERF_DETACH_CHILD;
	perf_ctx_remove(event, detach | PERF_DETACH_EXIT);
	/* whoever polls is told that it is over */
	perf_event_wakeup(event);
	if (parent)
		perf_event_put(event);
}

static void forget_owner(struct kperf_event *event)
{
	perf_list_del(&event->owner_entry);
}

static void forget_owned(struct perf_task *pt)
{
	while (!perf_list_empty(&pt->owned))
		forget_owner(perf_list_entry(pt->owned.next, struct kperf_event,
					     owner_entry));
}

static void exit_context(struct kperf *perf, struct perf_task *pt)
{
	struct perf_context *ctx = pt->ctx;
	struct ksys_task *task = ctx->task;
	struct hal *hal = ksys_hal(perf->sys);
	unsigned long flags = hal_irq_save(hal);
	struct perf_cpu *cpu = perf_this_cpu(perf, hal);

	if (cpu->task_ctx == ctx)
		perf_ctx_sched_out(cpu, ctx, PERF_CTX_ALL);
	perf_ctx_get(ctx);
	perf_task_drop(perf, pt);
	ctx->task = NULL;
	ctx->dead = true;
	hal_irq_restore(hal, flags);
	while (!perf_list_empty(&ctx->events))
		exit_event(perf_list_entry(ctx->events.next, struct kperf_event,
					   ctx_entry),
			   0);
	perf_ctx_put(ctx);
	ksys_task_put(perf->sys, task);
}

void kperf_task_exit(struct kperf *perf, struct ksys_task *task)
{
	struct perf_task *pt = *ksys_task_perf(task);

	if (!pt)
		return;
	forget_owned(pt);
	if (pt->ctx)
		exit_context(perf, pt);
	else
		perf_task_drop(perf, pt);
}

/* Linux perf_event_free_task(): the task never ran. */
void kperf_task_free(struct kperf *perf, struct ksys_task *task)
{
	struct perf_task *pt = *ksys_task_perf(task);
	struct perf_context *ctx;

	if (!pt)
		return;
	ctx = pt->ctx;
	while (ctx && !perf_list_empty(&ctx->events)) {
		struct kperf_event *event =
			perf_list_entry(ctx->events.next, struct kperf_event, ctx_entry);

		perf_list_del(&event->child_entry);
		perf_ctx_remove(event, PERF_DETACH_GROUP);
		perf_event_put(event);
	}
	perf_task_drop(perf, pt);
}

/* --- exec ------------------------------------------------------------------------ */

static bool enable_on_exec(struct kperf_event *event)
{
	if (!event->attr.u.a.enable_on_exec)
		return false;
	event->attr.u.a.enable_on_exec = 0; /* once */
	if (event->state >= PERF_EVENT_INACTIVE)
		return false;
	perf_event_set_state(event, PERF_EVENT_INACTIVE);
	return true;
}

static void enable_all_on_exec(struct perf_cpu *cpu, struct perf_context *ctx)
{
	struct kperf_event *event;
	bool enabled = false;
	unsigned type = 0;

	perf_ctx_sched_out(cpu, ctx, PERF_CTX_TIME);
	perf_list_for_each(event, &ctx->events, struct kperf_event, ctx_entry)
	{
		enabled |= enable_on_exec(event);
		type |= perf_event_type(event);
	}
	if (enabled)
		perf_ctx_resched(cpu, ctx, type);
	else
		perf_ctx_sched_in(cpu, ctx, PERF_CTX_TIME);
}

/* The first event that goes with the old image; each time anew, because one that
 * goes may take others along. */
static struct kperf_event *to_remove(struct perf_context *ctx)
{
	struct kperf_event *event;

	perf_list_for_each(event, &ctx->events, struct kperf_event,
			   ctx_entry) if (event->attr.u.a.remove_on_exec) return event;
	return NULL;
}

void kperf_exec(struct kperf *perf, struct ksys_task *task)
{
	struct perf_context *ctx = perf_ctx_of_task(task);
	struct hal *hal = ksys_hal(perf->sys);
	struct kperf_event *event;
	unsigned long flags;

	if (!ctx || !ctx->nr_events)
		return;
	flags = hal_irq_save(hal);
	enable_all_on_exec(perf_this_cpu(perf, hal), ctx);
	hal_irq_restore(hal, flags);
	while ((event = to_remove(ctx)) != NULL) {
		forget_owner(event);
		exit_event(event, PERF_DETACH_GROUP);
	}
}

/* --- prctl ----------------------------------------------------------------------- */

long kperf_prctl(struct kperf *perf, bool enable)
{
	struct perf_task *pt = *ksys_task_perf(ksys_current(perf->sys));
	struct kperf_event *event;

	if (!pt)
		return 0;
	perf_list_for_each(event, &pt->owned, struct kperf_event, owner_entry)
		perf_ctx_family(event, enable ? PERF_FAMILY_ENABLE : PERF_FAMILY_DISABLE);
	return 0;
}

/* --- the tick -------------------------------------------------------------------- */

void kperf_tick(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
	(void)regs;
	perf_freq_tick(perf_this_cpu(perf, hal));
}
