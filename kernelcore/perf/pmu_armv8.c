/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/pmu_armv8.h"

#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/slots.h"

/* PMCR_EL0 (Arm ARM, D24.5.8). */
#define PMCR_E (UINT64_C(1) << 0)
#define PMCR_P (UINT64_C(1) << 1)
#define PMCR_C (UINT64_C(1) << 2)
#define PMCR_LC (UINT64_C(1) << 6)
#define PMCR_LP (UINT64_C(1) << 7)
#define PMCR_MASK UINT64_C(0xff) /* the writable ones */
#define PMCR_N(v) ((unsigned)((v) >> 11 & 0x1f))
#define EVTYPE_MASK UINT64_C(0xc800ffff)

/* PMUSERENR_EL0 */
enum {
	PMUSERENR_CR = 4,
	PMUSERENR_ER = 8
};

/* ID_AA64DFR0_EL1.PMUVer */
enum {
	PMUVER_P5 = 6,
	PMUVER_IMP_DEF = 15
};

/* An unlengthened 64-bit counter is made to overflow at 32 bits. */
#define BIAS (UINT64_C(0xffffffff) << 32)

static void pmcr_write(struct hal *hal, uint64_t value)
{
	hal_isb(hal);
	hal_sysreg_write(hal, HAL_PMCR_EL0, value & PMCR_MASK);
}

void perf_pmu_probe(struct hal *hal, struct perf_pmu_info *info)
{
	uint64_t version;

	info->counters = PMCR_N(hal_sysreg_read(hal, HAL_PMCR_EL0));
	info->pmceid[0] = hal_sysreg_read(hal, HAL_PMCEID0_EL0);
	info->pmceid[1] = hal_sysreg_read(hal, HAL_PMCEID1_EL0);
	version = hal_sysreg_read(hal, HAL_ID_AA64DFR0_EL1) >> 8 & 0xf;
	info->long_events = version >= PMUVER_P5 && version != PMUVER_IMP_DEF;
}

/* PMCEID0 has events 0 to 31 below and 0x4000 to 0x401f above, PMCEID1 the
 * next 32 of both; Linux asks about the low halves only. */
bool perf_pmu_has_event(const struct perf_pmu_info *info, unsigned number)
{
	return number < 64 && (info->pmceid[number / 32] >> (number % 32) & 1);
}

static void disable_counters(struct hal *hal, uint32_t mask)
{
	hal_sysreg_write(hal, HAL_PMCNTENCLR_EL0, mask);
	hal_isb(hal);
}

static void disable_interrupts(struct hal *hal, uint32_t mask)
{
	hal_sysreg_write(hal, HAL_PMINTENCLR_EL1, mask);
	hal_isb(hal);
	/* A stopped counter has no flag: what overflowed before the stop is
	 * found by arithmetic at the next start. */
	hal_sysreg_write(hal, HAL_PMOVSCLR_EL0, mask);
	hal_isb(hal);
}

/* Linux armv8pmu_reset(): the enables are UNKNOWN at reset. */
void perf_pmu_reset(struct hal *hal, const struct kperf_policy *policy,
		    const struct perf_pmu_info *info)
{
	uint32_t mask = UINT32_MAX;

	if (policy->reset_present_only)
		mask = UINT32_C(1) << PMU_CYCLE | ((UINT32_C(1) << info->counters) - 1);
	disable_counters(hal, mask);
	disable_interrupts(hal, mask);
	pmcr_write(hal, PMCR_P | PMCR_C | PMCR_LC | (info->long_events ? PMCR_LP : 0));
}

/* Linux armv8pmu_enable_user_access(). What no event counts would tell of others'
 * work. */
static void allow_user(struct hal *hal, const struct kperf_policy *policy,
		       uint32_t unused)
{
	bool first = policy->cycle_counter_first;

	if (first && unused >> PMU_CYCLE)
		hal_sysreg_write(hal, HAL_PMCCNTR_EL0, 0);
	for (unsigned n = 0; n < PMU_CYCLE; n++)
		if (unused >> n & 1)
			hal_sysreg_write(hal, HAL_PMEVCNTR_EL0(n), 0);
	if (!first && unused >> PMU_CYCLE)
		hal_sysreg_write(hal, HAL_PMCCNTR_EL0, 0);
	if (policy->user_access_twice)
		hal_sysreg_write(hal, HAL_PMUSERENR_EL0, 0);
	hal_sysreg_write(hal, HAL_PMUSERENR_EL0, PMUSERENR_ER | PMUSERENR_CR);
}

void perf_pmu_user(struct hal *hal, const struct kperf_policy *policy, bool allow,
		   uint32_t unused)
{
	if (allow)
		allow_user(hal, policy, unused);
	else
		hal_sysreg_write(hal, HAL_PMUSERENR_EL0, 0);
}

void perf_pmu_start(struct hal *hal)
{
	pmcr_write(hal, hal_sysreg_read(hal, HAL_PMCR_EL0) | PMCR_E);
}

void perf_pmu_stop(struct hal *hal)
{
	pmcr_write(hal, hal_sysreg_read(hal, HAL_PMCR_EL0) & ~PMCR_E);
}

uint64_t perf_pmu_read(struct hal *hal, const struct perf_slot *slot)
{
	uint64_t value;

	if (slot->counter == PMU_CYCLE)
		value = hal_sysreg_read(hal, HAL_PMCCNTR_EL0);
	else
		value = hal_sysreg_read(hal, HAL_PMEVCNTR_EL0(slot->counter));
	if (slot->chained)
		value = value << 32 |
			hal_sysreg_read(hal, HAL_PMEVCNTR_EL0(slot->counter - 1u));
	return slot->biased ? value & ~BIAS : value;
}

void perf_pmu_write(struct hal *hal, const struct perf_slot *slot, uint64_t value)
{
	if (slot->biased)
		value |= BIAS;
	if (slot->counter == PMU_CYCLE) {
		hal_sysreg_write(hal, HAL_PMCCNTR_EL0, value);
		return;
	}
	if (!slot->chained) {
		hal_sysreg_write(hal, HAL_PMEVCNTR_EL0(slot->counter), value);
		return;
	}
	hal_sysreg_write(hal, HAL_PMEVCNTR_EL0(slot->counter), value >> 32);
	hal_sysreg_write(hal, HAL_PMEVCNTR_EL0(slot->counter - 1u), value & UINT32_MAX);
}

static void write_event_type(struct hal *hal, const struct perf_slot *slot)
{
	if (slot->counter == PMU_CYCLE) {
		hal_sysreg_write(hal, HAL_PMCCFILTR_EL0, slot->evtype);
		return;
	}
	if (!slot->chained) {
		hal_sysreg_write(hal, HAL_PMEVTYPER_EL0(slot->counter),
				 slot->evtype & EVTYPE_MASK);
		return;
	}
	/* The upper half counts the lower one's wraps, at every level. */
	hal_sysreg_write(hal, HAL_PMEVTYPER_EL0(slot->counter - 1u),
			 slot->evtype & EVTYPE_MASK);
	hal_sysreg_write(hal, HAL_PMEVTYPER_EL0(slot->counter),
			 PMU_EVENT_CHAIN | PMU_INCLUDE_EL2);
}

static uint32_t counter_bit(const struct perf_slot *slot)
{
	return UINT32_C(1) << slot->counter;
}

static uint32_t enable_mask(const struct perf_slot *slot)
{
	uint32_t mask = counter_bit(slot);

	return slot->chained ? mask | mask >> 1 : mask;
}

void perf_pmu_enable(struct hal *hal, const struct perf_slot *slot)
{
	disable_counters(hal, enable_mask(slot));
	write_event_type(hal, slot);
	hal_sysreg_write(hal, HAL_PMINTENSET_EL1, counter_bit(slot));
	hal_isb(hal);
	hal_sysreg_write(hal, HAL_PMCNTENSET_EL0, enable_mask(slot));
}

void perf_pmu_disable(struct hal *hal, const struct perf_slot *slot)
{
	disable_counters(hal, enable_mask(slot));
	disable_interrupts(hal, counter_bit(slot));
}

uint32_t perf_pmu_getreset_flags(struct hal *hal)
{
	uint32_t flags = (uint32_t)hal_sysreg_read(hal, HAL_PMOVSCLR_EL0);

	hal_sysreg_write(hal, HAL_PMOVSCLR_EL0, flags);
	return flags;
}
