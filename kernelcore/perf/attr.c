/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/attr.h"

#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <string.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu_armv8.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/sample.h"

/* What the UAPI's struct has is where the profile's kernels have it. */
static_assert(sizeof(struct perf_event_attr) >= PERF_ATTR_SIZE_VER7, "attr VER7");
static_assert(offsetof(struct perf_event_attr, size) == 4, "attr.size");

enum {
	FLAGS_OFFSET = 40,	 /* the one-bit fields */
	AUX_ACTION_OFFSET = 116, /* after aux_sample_size */
	REGS_ARM64 = 33,	 /* x0..x30, sp, pc */
	PARANOID_ANY = 2,	 /* Debian: above, only CAP_SYS_ADMIN may open */
	PARANOID_KERNEL = 1,
	PARANOID_CPU = 0,
	BRANCH_PLM_ALL = 7, /* PERF_SAMPLE_BRANCH_USER, _KERNEL, _HV */
	BRANCH_PERM_PLM = 6,
};

/* --- rights ---------------------------------------------------------------- */

static bool paranoid_above(struct kperf *perf, int64_t level)
{
	return ksys_sysctl(perf->sys, KSYS_SYSCTL_PARANOID) > level;
}

bool perf_perfmon_capable(struct kperf *perf)
{
	return ksys_capable(perf->sys, KSYS_CAP_PERFMON) ||
	       ksys_capable(perf->sys, KSYS_CAP_SYS_ADMIN);
}

int perf_allow_kernel(struct kperf *perf)
{
	return paranoid_above(perf, PARANOID_KERNEL) && !perf_perfmon_capable(perf)
		       ? -EACCES
		       : 0;
}

int perf_allow_cpu(struct kperf *perf)
{
	return paranoid_above(perf, PARANOID_CPU) && !perf_perfmon_capable(perf) ? -EACCES
										 : 0;
}

/* --- the copy -------------------------------------------------------------- */

/* Bytes that this kernel does not know must be 0. */
static int check_zero_tail(struct kperf *perf, uint64_t uaddr, uint64_t n)
{
	uint8_t chunk[64];

	while (n) {
		size_t part = n < sizeof(chunk) ? n : sizeof(chunk);

		if (ksys_copy_from_user(perf->sys, chunk, uaddr, part))
			return -EFAULT;
		for (size_t i = 0; i < part; i++)
			if (chunk[i])
				return -E2BIG;
		uaddr += part;
		n -= part;
	}
	return 0;
}

static int copy_struct(struct kperf *perf, uint64_t uattr, struct perf_attr *attr,
		       uint32_t size)
{
	uint32_t known = perf->policy->attr_size;
	int ret;

	if (size > known) {
		ret = check_zero_tail(perf, uattr + known, size - known);
		if (ret)
			return ret;
		size = known;
	}
	return ksys_copy_from_user(perf->sys, attr->u.bytes, uattr, size) ? -EFAULT : 0;
}

static uint64_t flag_bits(const struct perf_attr *attr)
{
	uint64_t bits;

	memcpy(&bits, &attr->u.bytes[FLAGS_OFFSET], sizeof(bits));
	return bits;
}

uint32_t perf_attr_aux_action(const struct perf_attr *attr)
{
	uint32_t word;

	memcpy(&word, &attr->u.bytes[AUX_ACTION_OFFSET], sizeof(word));
	return word;
}

static int check_branch_stack(struct kperf *perf, const struct perf_event_attr *a)
{
	uint64_t mask = a->branch_sample_type;

	if (mask & ~perf->policy->branch_sample_valid ||
	    !(mask & ~(uint64_t)BRANCH_PLM_ALL))
		return -EINVAL;
	if (!(mask & BRANCH_PLM_ALL)) {
		/* no level asked for: those of the event */
		mask |= a->exclude_kernel ? 0 : PERF_SAMPLE_BRANCH_KERNEL;
		mask |= a->exclude_hv ? 0 : PERF_SAMPLE_BRANCH_HV;
	}
	return mask & BRANCH_PERM_PLM ? perf_allow_kernel(perf) : 0;
}

static int check_regs(uint64_t mask)
{
	return !mask || mask >> REGS_ARM64 ? -EINVAL : 0;
}

/* Linux's order: with two faults the first one's errno is what is seen. */
static int check_fields(struct kperf *perf, const struct perf_attr *attr)
{
	const struct kperf_policy *policy = perf->policy;
	const struct perf_event_attr *a = &attr->u.a;
	int ret;

	if (flag_bits(attr) & policy->attr_reserved_bits || a->__reserved_2 ||
	    perf_attr_aux_action(attr) & ~policy->aux_action_valid)
		return -EINVAL;
	if (a->sample_type & ~policy->sample_type_valid ||
	    a->read_format & ~policy->read_format_valid)
		return -EINVAL;
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		ret = check_branch_stack(perf, a);
		if (ret)
			return ret;
	}
	if (a->sample_type & PERF_SAMPLE_REGS_USER && check_regs(a->sample_regs_user))
		return -EINVAL;
	if (a->sample_type & PERF_SAMPLE_STACK_USER &&
	    (a->sample_stack_user >= UINT16_MAX || a->sample_stack_user % 8))
		return -EINVAL;
	if (a->sample_type & PERF_SAMPLE_REGS_INTR && check_regs(a->sample_regs_intr))
		return -EINVAL;
	if (a->sample_type & PERF_SAMPLE_WEIGHT &&
	    a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		return -EINVAL;
	if ((!a->inherit && a->inherit_thread) ||
	    (a->remove_on_exec && a->enable_on_exec) ||
	    (a->sigtrap && !a->remove_on_exec))
		return -EINVAL;
	return 0;
}

int perf_attr_copy(struct kperf *perf, uint64_t uattr, struct perf_attr *attr)
{
	uint64_t usize = uattr + offsetof(struct perf_event_attr, size);
	uint32_t known = perf->policy->attr_size;
	uint32_t size;
	int ret = -E2BIG;

	memset(attr, 0, sizeof(*attr));
	if (ksys_copy_from_user(perf->sys, &size, usize, sizeof(size)))
		return -EFAULT;
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size >= PERF_ATTR_SIZE_VER0 && size <= KSYS_PAGE_SIZE)
		ret = copy_struct(perf, uattr, attr, size);
	if (ret == -E2BIG)
		/* tell what would fit; that it cannot be told is no news */
		(void)ksys_copy_to_user(perf->sys, usize, &known, sizeof(known));
	if (ret)
		return ret;
	attr->u.a.size = size;
	return check_fields(perf, attr);
}

int perf_attr_check(struct kperf *perf, const struct perf_attr *attr)
{
	const struct perf_event_attr *a = &attr->u.a;
	bool kernel = !a->exclude_kernel || a->text_poke;

	if (paranoid_above(perf, PARANOID_ANY) &&
	    !ksys_capable(perf->sys, KSYS_CAP_SYS_ADMIN))
		return -EACCES;
	if (perf->policy->callchain_needs_kernel &&
	    a->sample_type & PERF_SAMPLE_CALLCHAIN && !a->exclude_callchain_kernel)
		kernel = true;
	if (kernel && perf_allow_kernel(perf))
		return -EACCES;
	if (a->namespaces && !perf_perfmon_capable(perf))
		return -EACCES;
	if (a->freq) {
		if (a->sample_freq >
		    (uint64_t)ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_SAMPLE_RATE))
			return -EINVAL;
	} else if (a->sample_period >> 63) {
		return -EINVAL;
	}
	if (a->sample_type & PERF_SAMPLE_PHYS_ADDR)
		return perf_allow_kernel(perf);
	return 0;
}

/* --- the PMU --------------------------------------------------------------- */

static int map_hardware(const struct kperf *perf, uint64_t config)
{
	if (config >= PERF_POLICY_HW_CONFIGS)
		return -EINVAL;
	for (unsigned i = 0; i < PERF_POLICY_HW_CANDIDATES; i++) {
		unsigned number = perf->policy->hw_events[config][i];

		if (number && perf_pmu_has_event(&perf->pmu, number))
			return (int)number;
	}
	return -ENOENT;
}

/* Linux's table for a PMU that it knows as PMUv3 alone: reads, by result. */
static const uint16_t cache_reads[PERF_COUNT_HW_CACHE_MAX][2] = {
	[PERF_COUNT_HW_CACHE_L1D] = { 0x04, 0x03 },
	[PERF_COUNT_HW_CACHE_L1I] = { 0x14, 0x01 },
	[PERF_COUNT_HW_CACHE_LL] = { 0x36, 0x37 },
	[PERF_COUNT_HW_CACHE_DTLB] = { 0x25, 0x05 },
	[PERF_COUNT_HW_CACHE_ITLB] = { 0x26, 0x02 },
	[PERF_COUNT_HW_CACHE_BPU] = { 0x12, 0x10 },
};

static int map_cache(const struct kperf *perf, uint64_t config)
{
	const unsigned cache = config & 0xff, op = config >> 8 & 0xff,
		       result = config >> 16 & 0xff;
	unsigned number = 0;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	if (op == PERF_COUNT_HW_CACHE_OP_READ)
		number = cache_reads[cache][result];
	return number && perf_pmu_has_event(&perf->pmu, number) ? (int)number : -ENOENT;
}

static int map_event(const struct kperf *perf, const struct perf_event_attr *a)
{
	if (a->type == perf->policy->pmu_type || a->type == PERF_TYPE_RAW)
		return (int)(a->config & 0xffff);
	if (a->type == PERF_TYPE_HARDWARE)
		return map_hardware(perf, a->config);
	if (a->type == PERF_TYPE_HW_CACHE)
		return map_cache(perf, a->config);
	return -ENOENT;
}

/* Hardware and cache events may name a PMU in config[63:32] (Linux
 * perf_init_event). An unknown one is offered to every PMU. */
static int resolve_extended_type(const struct kperf *perf, struct perf_event_attr *a)
{
	uint64_t type = a->config >> 32;

	if ((a->type != PERF_TYPE_HARDWARE && a->type != PERF_TYPE_HW_CACHE) || !type)
		return 0;
	a->config &= UINT32_MAX;
	if (type < 32 && perf->policy->other_pmu_types >> type & 1)
		return -ENOENT;
	if (type == perf->policy->pmu_type && !perf->policy->extended_hw_type)
		return -ENOENT;
	return 0;
}

static uint64_t filter_bits(const struct perf_event_attr *a)
{
	uint64_t bits = 0;

	if (!a->exclude_hv && !a->exclude_host)
		bits |= PMU_INCLUDE_EL2;
	if (a->exclude_kernel)
		bits |= PMU_EXCLUDE_EL1;
	if (a->exclude_user)
		bits |= PMU_EXCLUDE_EL0;
	return bits;
}

/* Linux armv8_pmuv3_map_event() with config1: bit 0 a 64-bit count, bit 1
 * counter access from user space. */
static int map_with_config1(struct kperf_event *event)
{
	const struct kperf_policy *policy = event->perf->policy;
	const struct perf_event_attr *a = &event->attr.u.a;
	int number = map_event(event->perf, a);

	if (number == -ENOENT)
		return number;
	if (number == PMU_EVENT_CHAIN && policy->chain_refused)
		return -EINVAL;
	event->hw.is_64bit = a->config1 & 1;
	if (a->config1 & 2) {
		if (!event->attach_task)
			return -EINVAL;
		if (event->hw.is_64bit && number != PMU_EVENT_CYCLES &&
		    !event->perf->pmu.long_events)
			return -EOPNOTSUPP;
		event->hw.user_read = true;
	}
	return number;
}

int perf_attr_init_hw(struct kperf_event *event)
{
	struct perf_event_attr *a = &event->attr.u.a;
	struct kperf *perf = event->perf;
	int number = resolve_extended_type(perf, a);

	if (number)
		return number;
	if (a->type < 32 && a->type != perf->policy->pmu_type &&
	    perf->policy->other_pmu_types >> a->type & 1)
		return -ENOENT;
	if (!perf->online)
		return -ENOENT;
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	number = map_with_config1(event);
	if (number < 0)
		return number;
	if (a->exclude_idle)
		return -EOPNOTSUPP;
	if (a->config1 & perf->policy->config1_refused)
		return -EINVAL;
	event->hw.counter = -1;
	event->hw.evtype = filter_bits(a) | (unsigned)number;
	if (!perf_event_is_sampling(event)) {
		/* half the range: see perf_slot_set_period() */
		event->hw.sample_period =
			(event->hw.is_64bit ? UINT64_MAX : UINT32_MAX) >> 1;
		event->hw.last_period = event->hw.sample_period;
		event->hw.period_left = (int64_t)event->hw.sample_period;
	}
	return 0;
}

int perf_attr_not_built(const struct perf_attr *attr)
{
	const struct perf_event_attr *a = &attr->u.a;

	/* records that are no samples */
	if (a->mmap || a->mmap_data || a->mmap2 || a->comm || a->task ||
	    a->context_switch)
		return -EOPNOTSUPP;
	/* a signal for each sample */
	if (a->sigtrap)
		return -EOPNOTSUPP;
	return 0;
}
