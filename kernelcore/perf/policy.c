/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/policy.h"

#include <stddef.h>

#include "kernelcore/kperf.h"

/* clang-format off */

/* Linux armv8_pmuv3_perf_map: cycles, instructions, cache-references,
 * cache-misses, branches, branch-misses, bus-cycles, stalled-cycles-frontend,
 * stalled-cycles-backend, ref-cycles. */
#define HW_EVENTS(...)                                                   \
	{ { 0x11 }, { 0x08 }, { 0x04 }, { 0x03 }, { __VA_ARGS__ }, { 0x10 }, \
	  { 0x1d }, { 0x23 }, { 0x24 }, { 0 } }

static const struct kperf_policy policies[] = {
	{
		.name = "linux-6.1",
		.attr_size = 128,
		.attr_reserved_bits = ~((UINT64_C(1) << 38) - 1),
		.sample_type_valid = (UINT64_C(1) << 25) - 1,
		.read_format_valid = (UINT64_C(1) << 5) - 1,
		.branch_sample_valid = (UINT64_C(1) << 19) - 1,
		.aux_action_valid = 0,
		.inherit_read_with_tid = false,
		.data_src_none = UINT64_C(0x5080021),
		.pmu_type = 8,
		/* tracepoint, breakpoint, kprobe, uprobe; software is not
		 * in the type table there: a hardware event that asks for
		 * extended type 1 goes through. */
		.other_pmu_types = 1u << 2 | 1u << 5 | 1u << 6 | 1u << 7,
		.extended_hw_type = false,
		.promoted_read_size_stays = true,
		.wakeup_tells_async = false,
		.tick_leaders_only = false,
		.tick_starts_twice = true,
		.config1_refused = 0,
		.chain_refused = false,
		.cycle_counter_first = true,
		.user_access_twice = true,
		.reset_present_only = false,
		.hw_events = HW_EVENTS(0x0c),
	},
	{
		.name = "linux-6.12",
		.attr_size = 136,
		.attr_reserved_bits = ~((UINT64_C(1) << 38) - 1),
		.sample_type_valid = (UINT64_C(1) << 25) - 1,
		.read_format_valid = (UINT64_C(1) << 5) - 1,
		.branch_sample_valid = (UINT64_C(1) << 20) - 1,
		.aux_action_valid = 7,
		.inherit_read_with_tid = true,
		.data_src_none = UINT64_C(0x1e05080021), /* + region, hops */
		.callchain_needs_kernel = true,
		.group_exit_enodev = true,
		.pmu_type = 10,
		/* ... and software, cpu-clock 6, task-clock 7, kprobe 8,
		 * uprobe 9 */
		.other_pmu_types = 1u << 1 | 1u << 2 | 1u << 5 | 1u << 6 | 1u << 7 |
				   1u << 8 | 1u << 9,
		.cpu_clock_type = 6,
		.task_clock_type = 7,
		.extended_hw_type = true,
		.promoted_read_size_stays = false,
		.wakeup_tells_async = true,
		.tick_leaders_only = true,
		.tick_starts_twice = false,
		.config1_refused = UINT64_C(0x1ffe0),
		.chain_refused = true,
		.cycle_counter_first = false,
		.user_access_twice = false,
		.reset_present_only = true,
		.hw_events = HW_EVENTS(0x21, 0x0c),
	},
};
/* clang-format on */

enum {
	NPOLICIES = sizeof(policies) / sizeof(policies[0])
};

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct kperf_policy *perf_policy_find(const char *name)
{
	for (unsigned i = 0; i < NPOLICIES; i++)
		if (same(policies[i].name, name))
			return &policies[i];
	return NULL;
}

const char *kperf_profile(unsigned i)
{
	return i < NPOLICIES ? policies[i].name : NULL;
}
