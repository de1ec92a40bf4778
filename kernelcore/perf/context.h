/* SPDX-License-Identifier: MIT */
/*
 * A context: the events of one task or of one CPU, which come and go together.
 * The rules are Linux's (kernel/events/core.c); where it takes ctx->lock this
 * core has IRQs off, since kernel code of two CPUs is atomic to each other.
 *
 *     event state   DEAD < EXIT < ERROR < OFF < INACTIVE < ACTIVE
 *
 *     open, ENABLE     OFF -> INACTIVE        (then scheduling may follow)
 *     sched in, out    INACTIVE <-> ACTIVE    (a counter, or none)
 *     DISABLE          INACTIVE, ACTIVE -> OFF
 *     pinned, no room  INACTIVE -> ERROR      (ENABLE leads out)
 *     task's exit      any -> EXIT            (for good)
 *     release          any -> DEAD
 */
#ifndef PMULAB_KERNELCORE_PERF_CONTEXT_H
#define PMULAB_KERNELCORE_PERF_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/perf/list.h"

struct kperf;
struct kperf_event;
struct ksys_task;
struct perf_cpu;
struct hal;

/* is_active and event types. */
enum {
	PERF_CTX_FLEXIBLE = 1,
	PERF_CTX_PINNED = 2,
	PERF_CTX_ALL = PERF_CTX_FLEXIBLE | PERF_CTX_PINNED,
	PERF_CTX_TIME = 4,
	PERF_CTX_CPU = 8,
};

struct perf_context {
	struct perf_list entry; /* kperf.contexts, task contexts only */
	struct kperf *perf;
	struct ksys_task *task; /* NULL: a CPU's, or the task is dead */
	bool is_cpu;
	bool dead;     /* the task has exited */
	unsigned refs; /* the task and each event */
	unsigned is_active;
	unsigned nr_events, nr_active;
	unsigned nr_freq; /* of the active ones: with a frequency */
	struct perf_list events;	      /* all */
	struct perf_list groups;	      /* leaders, in order of arrival */
	uint64_t time, timestamp, timeoffset; /* ns */
};

/* @flags of perf_ctx_remove(). */
enum {
	PERF_DETACH_GROUP = 1,
	PERF_DETACH_DEAD = 2,
	PERF_DETACH_EXIT = 4
};

void perf_ctx_init(struct perf_context *ctx, struct kperf *perf);
/* The task's context, made when there is none; NULL: no memory. Takes a
 * reference. */
struct perf_context *perf_ctx_get_task(struct kperf *perf, struct ksys_task *task);
void perf_ctx_get(struct perf_context *ctx);
void perf_ctx_put(struct perf_context *ctx);

/* Process context, IRQs as they are; each masks them while it works. */
void perf_ctx_install(struct perf_context *ctx, struct kperf_event *event);
void perf_ctx_remove(struct kperf_event *event, unsigned flags);
void perf_ctx_enable(struct kperf_event *event);
void perf_ctx_disable(struct kperf_event *event);
void perf_ctx_period(struct kperf_event *event, uint64_t period);
/* Bring count and times up to date; with @group those of the siblings too. */
void perf_ctx_read(struct kperf_event *event, bool group);

/* [irq] IRQs off: disable @event if this CPU's context allows. */
void perf_ctx_disable_local(struct perf_cpu *cpu, struct kperf_event *event);

/* [irq] Times of the event at context time @now, without changing it. */
void perf_event_times(const struct kperf_event *event, uint64_t now, uint64_t *enabled,
		      uint64_t *running);
/* [irq] Bring them up to the context's last time. */
void perf_event_update_time(struct kperf_event *event);

/* [irq] The event's context time at the clock value @now. */
uint64_t perf_ctx_time_now(const struct kperf_event *event, uint64_t now);

#endif
