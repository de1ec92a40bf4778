/* SPDX-License-Identifier: MIT */
/*
 * What differs between the kernels that this core can be. A profile is one
 * const table; code asks the table and never the kernel's name.
 */
#ifndef PMULAB_KERNELCORE_PERF_POLICY_H
#define PMULAB_KERNELCORE_PERF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* PERF_TYPE_HARDWARE configs, 0..9 of the UAPI. */
enum {
	PERF_POLICY_HW_CONFIGS = 10,
	PERF_POLICY_HW_CANDIDATES = 2
};

struct kperf_policy {
	char name[16]; /* no pointer: the table needs no relocation */

	/* perf_copy_attr() */
	uint32_t attr_size;	     /* sizeof(struct perf_event_attr) there */
	uint64_t attr_reserved_bits; /* of the one-bit fields */
	uint64_t sample_type_valid;
	uint64_t read_format_valid;
	uint64_t branch_sample_valid;
	uint32_t aux_action_valid;   /* bits of the word after aux_sample_size */
	bool inherit_read_with_tid;  /* else inherit + SAMPLE_READ is EINVAL */
	bool callchain_needs_kernel; /* rights, without exclude_callchain_kernel */
	bool group_exit_enodev;	     /* a leader whose task is dead; and the task is
					* looked at before the group */

	uint64_t data_src_none;	     /* PERF_MEM_NA: nothing is known of an access */

	/* perf_init_event() */
	uint32_t pmu_type;	  /* of armv8_pmuv3 */
	uint32_t other_pmu_types; /* mask: types that belong to other PMUs */
	uint32_t cpu_clock_type;  /* PMUs of their own; 0: of the software type */
	uint32_t task_clock_type;
	bool extended_hw_type;	  /* PERF_PMU_CAP_EXTENDED_HW_TYPE */

	/* perf_group_detach() */
	bool promoted_read_size_stays; /* that of the group it was in */

	/* perf_output_wakeup() */
	bool wakeup_tells_async; /* O_ASYNC hears of every wakeup, not of samples alone */

	/* perf_event_task_tick() */
	bool tick_leaders_only; /* else every event of the context */
	bool tick_starts_twice; /* a throttled event with a frequency, first as it is */

	/* the driver */
	uint64_t config1_refused; /* event threshold without the feature */
	bool chain_refused;	  /* a raw CHAIN event is EINVAL, else never runs */
	bool cycle_counter_first; /* in the handler's order */
	bool user_access_twice;	  /* PMUSERENR: first 0, then what is allowed */
	bool reset_present_only;  /* reset touches counters that exist only */
	/* Event numbers in order of preference, 0 ends. */
	uint16_t hw_events[PERF_POLICY_HW_CONFIGS][PERF_POLICY_HW_CANDIDATES];
};

/* NULL when there is none. */
const struct kperf_policy *perf_policy_find(const char *name);

#endif
