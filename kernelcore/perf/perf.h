/* SPDX-License-Identifier: MIT */
/*
 * One instance of the perf core and its CPUs. Everything hangs off struct
 * kperf: the library has no writable data of its own.
 */
#ifndef PMULAB_KERNELCORE_PERF_PERF_H
#define PMULAB_KERNELCORE_PERF_PERF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/kperf.h"
#include "kernelcore/ksys.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/list.h"
#include "kernelcore/perf/pmu_armv8.h"
#include "kernelcore/perf/slots.h"

struct kperf_policy;

struct perf_cpu {
	struct kperf *perf;
	struct hal *hal;	 /* NULL until the CPU is online */
	struct perf_slot *slots; /* PERF_SLOTS, on a cache line's border */
	void *slots_memory;
	struct perf_slot_set set;
	unsigned disable_depth;	       /* of PMCR.E */
	unsigned active;	       /* events on counters */
	bool exclusive;		       /* by a group that wants to be alone */
	uint64_t *chain; /* the sample's that is being written; its length first */
	uint64_t tick_seq;	       /* ticks so far */
	unsigned tick_users;	       /* events on counters that need the tick */
	unsigned throttled;	       /* overflows that did, since the last tick */
	struct perf_context ctx;       /* events that follow the CPU */
	struct perf_context *task_ctx; /* of the task that runs, when it is in */
	struct perf_list sw_events[KPERF_SWS]; /* of PERF_KIND_SW that are on */
	struct ksys_hrtimer mux; /* flexible groups take turns */
	bool mux_on;
};

struct kperf {
	struct ksys *sys;
	const struct kperf_policy *policy;
	struct perf_pmu_info pmu;
	bool online; /* pmu is filled in */
	bool irq_requested;
	uint32_t time_mult, time_shift; /* CNTVCT_EL0 to ns, for the mmap page */
	uint64_t next_id;
	atomic_uint task_events;   /* attached to tasks: 0 is the fast way out */
	unsigned chain_events;	   /* with call chains; 0: no CPU has a chain */
	unsigned chain_entries;	   /* that a chain has room for */
	struct perf_list events;   /* all that exist */
	struct perf_list tasks;	   /* struct perf_task */
	atomic_uint sw_enabled[KPERF_SWS]; /* events that exist: 0 is the fast way
					    * out of kperf_sw_event() */
	struct perf_cpu cpus[KSYS_MAX_CPUS];
};

static inline struct perf_cpu *perf_this_cpu(struct kperf *perf, struct hal *hal)
{
	return &perf->cpus[hal_cpu_id(hal)];
}

#endif
