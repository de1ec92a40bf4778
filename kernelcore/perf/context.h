/* SPDX-License-Identifier: MIT */
/*
 * A context: the events of one task or of one CPU, which come and go together.
 * The rules are Linux's (kernel/events/core.c); where it takes ctx->lock this
 * core has IRQs off, since kernel code of two CPUs is atomic to each other.
 * Linux 6.1 keeps a task's software events in a context of their own; here both
 * kernels have one, and a software event never waits for a counter.
 *
 *     event state   DEAD < EXIT < ERROR < OFF < INACTIVE < ACTIVE
 *
 *     open, ENABLE     OFF -> INACTIVE        (then scheduling may follow)
 *     sched in, out    INACTIVE <-> ACTIVE    (a counter, or none)
 *     DISABLE          INACTIVE, ACTIVE -> OFF
 *     pinned, no room  INACTIVE -> ERROR      (ENABLE leads out)
 *     task's exit      any -> EXIT            (for good)
 *     release          any -> DEAD
 *
 * context.c keeps lists, times and states; sched.c puts events on counters and
 * takes them off; remote.c does what a file asks, on the CPU where it belongs.
 */
#ifndef PMULAB_KERNELCORE_PERF_CONTEXT_H
#define PMULAB_KERNELCORE_PERF_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/list.h"

struct kperf;
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
	struct kperf *perf;
	struct ksys_task *task; /* held; NULL: a CPU's, or the task is dead */
	bool is_cpu;
	bool dead;     /* the task has exited */
	unsigned refs; /* the task and each event */
	unsigned is_active;
	unsigned nr_events, nr_active;
	unsigned nr_pinned;	 /* groups */
	unsigned nr_freq;	 /* of the active ones: with a frequency */
	unsigned nr_user;	 /* that user space may read */
	bool rotate_disable;	 /* somebody walks the groups */
	bool rotate_necessary;	 /* a flexible group found no room */
	struct perf_list events; /* all */
	struct perf_list groups; /* leaders, in order of arrival or rotation */
	uint64_t time, timestamp, timeoffset; /* ns */
};

/* What perf keeps of a task, from the first event that it opens or that is
 * opened for it until its exit. */
struct perf_task {
	struct perf_list entry; /* kperf.tasks */
	struct ksys_task *task;
	struct perf_context *ctx; /* NULL: no event was for it */
	struct perf_list owned;	  /* events that it has opened */
};

/* --- context.c --------------------------------------------------------------- */

void perf_ctx_init(struct perf_context *ctx, struct kperf *perf);
/* What there is of @task, made when there is nothing; NULL: no memory. */
struct perf_task *perf_task_get(struct kperf *perf, struct ksys_task *task);
/* No event of it or in its context is left. */
void perf_task_drop(struct kperf *perf, struct perf_task *task);
/* If an open that failed has left nothing but that. */
void perf_task_trim(struct kperf *perf, struct ksys_task *task);
/* The task's context, made when there is none; NULL: no memory. Takes a
 * reference. */
struct perf_context *perf_ctx_get_task(struct kperf *perf, struct ksys_task *task);
/* [irq] NULL: none. */
struct perf_context *perf_ctx_of_task(struct ksys_task *task);
void perf_ctx_get(struct perf_context *ctx);
void perf_ctx_put(struct perf_context *ctx);

/* IRQs off: the context's clock. @advance: the time since the last call counts. */
void perf_ctx_update_time(struct perf_context *ctx, bool advance);
/* ... if it runs. */
void perf_ctx_update_running(struct perf_context *ctx);

/* [irq] Times of the event at context time @now, without changing it. */
void perf_event_times(const struct kperf_event *event, uint64_t now, uint64_t *enabled,
		      uint64_t *running);
/* [irq] Bring them up to the context's last time; those of the siblings. */
void perf_event_update_time(struct kperf_event *event);
void perf_event_update_siblings(struct kperf_event *leader);
/* [irq] The event's context time at the clock value @now. */
uint64_t perf_ctx_time_now(const struct kperf_event *event, uint64_t now);

/* IRQs off. */
enum perf_event_state perf_event_effective_state(const struct kperf_event *event);
void perf_event_set_state(struct kperf_event *event, enum perf_event_state state);
void perf_ctx_add_event(struct perf_context *ctx, struct kperf_event *event);
void perf_ctx_del_event(struct perf_context *ctx, struct kperf_event *event);
/* Members of a leader that goes become leaders of themselves. */
void perf_ctx_detach_group(struct kperf_event *event);

/* --- sched.c: IRQs off, on the CPU of @cpu ----------------------------------- */

void perf_ctx_sched_out(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type);
void perf_ctx_sched_in(struct perf_cpu *cpu, struct perf_context *ctx, unsigned type);
/* Take down the groups of equal and lower priority, and put everybody on anew. */
void perf_ctx_resched(struct perf_cpu *cpu, struct perf_context *task_ctx, unsigned type);
void perf_event_sched_out(struct perf_cpu *cpu, struct kperf_event *event);
void perf_group_sched_out(struct perf_cpu *cpu, struct kperf_event *leader);
/* May it be on this CPU at all? */
bool perf_event_filter(const struct perf_cpu *cpu, const struct kperf_event *event);
/* PERF_CTX_*: what a change of the event concerns. */
unsigned perf_event_type(const struct kperf_event *event);
/* The timer of flexible groups that take turns; once per CPU. */
void perf_mux_init(struct perf_cpu *cpu);
void perf_mux_stop(struct perf_cpu *cpu);

/* --- remote.c: process context ----------------------------------------------- */

/* @flags of perf_ctx_remove(). */
enum {
	PERF_DETACH_GROUP = 1,
	PERF_DETACH_DEAD = 2,
	PERF_DETACH_EXIT = 4,
	PERF_DETACH_CHILD = 8,
};

void perf_ctx_install(struct perf_context *ctx, struct kperf_event *event);
void perf_ctx_remove(struct kperf_event *event, unsigned flags);
void perf_ctx_enable(struct kperf_event *event);
void perf_ctx_disable(struct kperf_event *event);
/* The count to 0; times stay. */
void perf_ctx_reset(struct kperf_event *event);
/* One of the three for the event and its children. */
enum perf_family_op { PERF_FAMILY_ENABLE, PERF_FAMILY_DISABLE, PERF_FAMILY_RESET };
void perf_ctx_family(struct kperf_event *event, enum perf_family_op op);
void perf_ctx_period(struct kperf_event *event, uint64_t period);
/* Bring count and times up to date; with @group those of the siblings too. */
void perf_ctx_read(struct kperf_event *event, bool group);

/* [irq] IRQs off: disable @event if this CPU's context allows. */
void perf_ctx_disable_local(struct perf_cpu *cpu, struct kperf_event *event);

#endif
