/* SPDX-License-Identifier: MIT */
/*
 * The registers of one CPU's PMUv3, in the order in which Linux's driver
 * touches them. Knows a counter's programming (struct perf_slot), not events.
 * All functions want IRQs off unless a line says otherwise.
 */
#ifndef PMULAB_KERNELCORE_PERF_PMU_ARMV8_H
#define PMULAB_KERNELCORE_PERF_PMU_ARMV8_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/hal.h"

struct perf_slot;
struct kperf_policy;

enum {
	PMU_CYCLE = 31,		 /* the cycle counter's bit and number */
	PMU_INTID = 23,		 /* PPI 7 */
	PMU_EVENT_CYCLES = 0x11, /* CPU_CYCLES */
	PMU_EVENT_CHAIN = 0x1e,
};

/* PMEVTYPER and PMCCFILTR bits (Arm ARM, D24.5). */
#define PMU_EXCLUDE_EL1 (UINT64_C(1) << 31)
#define PMU_EXCLUDE_EL0 (UINT64_C(1) << 30)
#define PMU_INCLUDE_EL2 (UINT64_C(1) << 27)

struct perf_pmu_info {
	unsigned counters; /* PMCR_EL0.N */
	uint64_t pmceid[2];
	bool long_events; /* PMUv3 p5: every counter is 64 bits wide */
};

/* Any context: what this PMU has. */
void perf_pmu_probe(struct hal *hal, struct perf_pmu_info *info);
bool perf_pmu_has_event(const struct perf_pmu_info *info, unsigned number);
void perf_pmu_reset(struct hal *hal, const struct kperf_policy *policy,
		    const struct perf_pmu_info *info);

/* May EL0 read counters? Those of @unused are cleared before it may. */
void perf_pmu_user(struct hal *hal, const struct kperf_policy *policy, bool allow,
		   uint32_t unused);

/* All counters: PMCR.E. */
void perf_pmu_start(struct hal *hal);
void perf_pmu_stop(struct hal *hal);

/* One counter (or a chained pair). */
uint64_t perf_pmu_read(struct hal *hal, const struct perf_slot *slot);
void perf_pmu_write(struct hal *hal, const struct perf_slot *slot, uint64_t value);
void perf_pmu_enable(struct hal *hal, const struct perf_slot *slot);
void perf_pmu_disable(struct hal *hal, const struct perf_slot *slot);

/* Read the overflow flags and clear what was read. */
uint32_t perf_pmu_getreset_flags(struct hal *hal);

#endif
