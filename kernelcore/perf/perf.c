/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/perf.h"

#include <asm-generic/errno-base.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/policy.h"

int kperf_sysctl_check(struct kperf *perf, enum ksys_sysctl name)
{
	bool chain = name == KSYS_SYSCTL_MAX_STACK || name == KSYS_SYSCTL_MAX_CONTEXTS;

	return chain && perf->chain_events ? -EBUSY : 0;
}

static void disallow_user(void *arg)
{
	struct perf_cpu *cpu = arg;

	perf_pmu_user(cpu->hal, cpu->perf->policy, false, 0);
}

/* Linux armv8pmu_proc_user_access_handler(): what may be read no longer cannot be
 * either, on any CPU; where it may be is seen to when counters start. */
void kperf_sysctl_changed(struct kperf *perf, enum ksys_sysctl name)
{
	if (name != KSYS_SYSCTL_USER_ACCESS || ksys_sysctl(perf->sys, name))
		return;
	for (unsigned i = 0; i < KSYS_MAX_CPUS; i++)
		if (perf->cpus[i].hal)
			ksys_cpu_call(perf->sys, i, disallow_user, &perf->cpus[i]);
}

static bool cpu_init(struct kperf *perf, struct perf_cpu *cpu)
{
	size_t size = PERF_SLOTS * sizeof(struct perf_slot);
	uintptr_t base;

	cpu->perf = perf;
	perf_ctx_init(&cpu->ctx, perf);
	cpu->ctx.is_cpu = true;
	perf_mux_init(cpu);
	for (unsigned i = 0; i < KPERF_SWS; i++)
		perf_list_init(&cpu->sw_events[i]);
	cpu->slots_memory = ksys_alloc(perf->sys, size + PERF_SLOT_SIZE);
	if (!cpu->slots_memory)
		return false;
	base = (uintptr_t)cpu->slots_memory + PERF_SLOT_SIZE - 1;
	cpu->slots = (struct perf_slot *)(base & ~(uintptr_t)(PERF_SLOT_SIZE - 1));
	return true;
}

int kperf_create(struct ksys *sys, const char *profile, struct kperf **out)
{
	const struct kperf_policy *policy = perf_policy_find(profile);
	struct kperf *perf;

	if (!policy)
		return -ENOENT;
	perf = ksys_alloc(sys, sizeof(*perf));
	if (!perf)
		return -ENOMEM;
	perf->sys = sys;
	perf->policy = policy;
	perf_list_init(&perf->events);
	perf_list_init(&perf->tasks);
	for (unsigned i = 0; i < ksys_ncpus(sys) && i < KSYS_MAX_CPUS; i++) {
		if (!cpu_init(perf, &perf->cpus[i])) {
			kperf_destroy(perf);
			return -ENOMEM;
		}
	}
	*out = perf;
	return 0;
}

void kperf_destroy(struct kperf *perf)
{
	struct ksys *sys = perf->sys;

	/* of tasks that still live; they have no events */
	while (!perf_list_empty(&perf->tasks))
		perf_task_drop(perf, perf_list_entry(perf->tasks.next, struct perf_task,
						     entry));
	for (unsigned i = 0; i < KSYS_MAX_CPUS; i++) {
		if (perf->cpus[i].mux_on)
			perf_mux_stop(&perf->cpus[i]);
		ksys_free(sys, perf->cpus[i].slots_memory);
	}
	ksys_free(sys, perf);
}

/* Linux clocks_calc_mult_shift() for an hour's range: ns = (count * mult) >>
 * shift, with the largest shift that does not overflow 64 bits. */
static void calc_mult_shift(struct kperf *perf, uint64_t hz)
{
	enum {
		HOUR = 3600,
		NS = 1000000000
	};
	unsigned spare = 32;

	for (uint64_t n = HOUR * hz >> 32; n; n >>= 1)
		spare--;
	for (unsigned shift = 32; shift > 0; shift--) {
		uint64_t mult = (((uint64_t)NS << shift) + hz / 2) / hz;

		if (mult >> spare)
			continue;
		perf->time_mult = (uint32_t)mult;
		perf->time_shift = shift;
		return;
	}
}

int kperf_cpu_online(struct kperf *perf, struct hal *hal)
{
	struct perf_cpu *cpu = perf_this_cpu(perf, hal);

	cpu->hal = hal;
	if (!perf->online) {
		perf_pmu_probe(hal, &perf->pmu);
		calc_mult_shift(perf, hal_sysreg_read(hal, HAL_CNTFRQ_EL0));
		perf->online = true;
	}
	cpu->set.counters = perf->pmu.counters;
	cpu->set.long_events = perf->pmu.long_events;
	if (!perf->irq_requested)
		perf->irq_requested = ksys_irq_request(perf->sys, PMU_INTID) == 0;
	perf_pmu_reset(hal, perf->policy, &perf->pmu);
	if (perf->irq_requested)
		ksys_irq_enable(perf->sys, hal, PMU_INTID, true);
	return 0;
}
