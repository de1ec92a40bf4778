/* SPDX-License-Identifier: MIT */
/*
 * An event: its attributes, counts, times and place in context and group.
 */
#ifndef PMULAB_KERNELCORE_PERF_EVENT_H
#define PMULAB_KERNELCORE_PERF_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/ksys.h"
#include "kernelcore/perf/attr.h"
#include "kernelcore/perf/list.h"

struct kperf;
struct perf_context;
struct perf_ring;

/* Linux's values: the order is compared. */
enum perf_event_state {
	PERF_EVENT_DEAD = -4,
	PERF_EVENT_EXIT = -3,
	PERF_EVENT_ERROR = -2,
	PERF_EVENT_OFF = -1,
	PERF_EVENT_INACTIVE = 0,
	PERF_EVENT_ACTIVE = 1,
};

/* What counts it. */
enum perf_kind {
	PERF_KIND_HW, /* a counter of the PMU */
	PERF_KIND_SW, /* the kernel: kperf_sw_event() */
	PERF_KIND_CPU_CLOCK,
	PERF_KIND_TASK_CLOCK,
};

/* The event's side of a counter. */
struct perf_hw {
	uint64_t evtype; /* event number and filter bits */
	bool is_64bit;	 /* config1 bit 0 */
	bool user_read;	 /* config1 bit 1 */
	bool stopped;
	int counter;		/* -1: on none */
	uint64_t sample_period; /* half range for an event that only counts */
	uint64_t last_period;	/* the period that ended last */
	int64_t period_left;	/* <= 0: it ended and nobody served it; of a
				 * software event: below 0 until it ends; of a
				 * stopped clock: ns of its timer, 0 is all */
	uint64_t prev_count;	/* the counter when count was up to date */
	uint64_t interrupts;	/* since the tick of interrupts_seq; see freq.h */
	uint64_t interrupts_seq;
	bool needs_tick;
	uint64_t freq_time_stamp;  /* ns: the last overflow */
	uint64_t freq_count_stamp; /* count at the last tick */
};

struct kperf_event {
	struct kperf *perf;
	struct perf_list all; /* kperf.events */
	struct perf_attr attr;
	uint64_t id;
	int cpu; /* -1: any */
	enum perf_kind kind;
	bool attach_task;
	bool accounted;		    /* in kperf.task_events, sw_enabled */
	unsigned files;		    /* the fd and each mapping */
	unsigned refs;		    /* all those together, and each child */
	struct ksys_task *observer; /* held: whose pid namespace */
	struct ksys_task *target;   /* held: whose event; NULL: a CPU's */
	struct perf_list owner_entry; /* perf_task.owned */

	/* inheritance: children are in one list, whosever child they are */
	struct kperf_event *parent;
	struct perf_list children, child_entry;
	uint64_t child_count, child_time_enabled, child_time_running;

	struct perf_context *ctx;
	bool in_context; /* on ctx->events */
	bool in_group;
	struct perf_list ctx_entry;
	struct perf_list group_entry; /* ctx->groups, leaders only */
	struct kperf_event *leader;   /* itself when alone */
	struct perf_list siblings, sibling_entry;
	unsigned nr_siblings;
	unsigned generation;	/* of the group: members that came or went */
	bool software_group;	/* of a leader: no member needs a counter */
	uint64_t read_size;

	enum perf_event_state state;
	int oncpu; /* -1: inactive */
	struct perf_hw hw;
	struct perf_list sw_entry;   /* perf_cpu.sw_events */
	struct ksys_hrtimer hrtimer; /* a sampling clock's */
	uint64_t count;
	uint64_t tstamp, total_time_enabled, total_time_running; /* ns */

	struct perf_ring *ring;	     /* its own or another event's */
	struct perf_list ring_entry; /* ring->events */
	unsigned mmap_count;
	atomic_uint_least64_t lost_samples;

	int event_limit; /* IOC_REFRESH's rest, 0: none */
	bool pending_wakeup, pending_disable;
	bool has_chain; /* perf_callchain_get() was for it */
	/* what the next wakeup says by SIGIO, if that was asked for */
	enum { PERF_KILL_NONE, PERF_KILL_IN, PERF_KILL_HUP } pending_kill;
	struct ksys_irq_work pending_irq;
};

static inline bool perf_event_is_sampling(const struct kperf_event *event)
{
	return event->attr.u.a.sample_period != 0;
}

/* Linux primary_event_id(): an inherited event goes by its parent's. */
static inline uint64_t perf_event_primary_id(const struct kperf_event *event)
{
	return event->parent ? event->parent->id : event->id;
}

/* With what children that are gone had. */
static inline uint64_t perf_event_total(const struct kperf_event *event)
{
	return event->count + event->child_count;
}

/* Bytes a read() wants, for the group as it is. */
void perf_event_header_size(struct kperf_event *event);

/* Where records of @event go from now on: NULL is nowhere. Takes over one
 * reference to @ring. */
void perf_event_attach_ring(struct kperf_event *event, struct perf_ring *ring);

/* PERF_EVENT_IOC_SET_OUTPUT; @output NULL is -1. -EINVAL. */
int perf_event_set_output(struct kperf_event *event, struct kperf_event *output);

/* [irq] Everybody who polls the ring of @event. */
void perf_event_wakeup(struct kperf_event *event);

/* One of fd and mappings is gone. */
void perf_event_put_file(struct kperf_event *event);
/* A reference is; the last one's event leaves no trace. */
void perf_event_put(struct kperf_event *event);

/* Linux inherit_event(): @parent's (or its parent's) for @child's context, on
 * none of the lists yet. NULL: no memory. */
struct kperf_event *perf_event_inherit(struct kperf_event *parent,
				       struct perf_context *ctx,
				       struct kperf_event *leader);

#endif
