/* SPDX-License-Identifier: MIT */
/*
 * The PMUs of up to four CPUs at once, each with a period and a work of its own:
 * INST_RETIRED at EL0, which each interrupt starts again. Whatever the other CPUs
 * do, each has its own interrupts, at its own instructions.
 */
#include "corpus/bare/bare.h"

enum {
	INST_RETIRED = 0x08,
	CPU_CYCLES = 0x11,
	CPUS = 4,
};

#define NOT_AT_EL1 (UINT64_C(1) << 31)
#define LOW32 UINT64_C(0xffffffff)

uint64_t smp_spin(uint64_t n, uint64_t unused);

static const struct {
	uint32_t period, turns;
} plan[CPUS] = {
	{1000, 5000},
	{1111, 5250},
	{1222, 5500},
	{1333, 5750},
};

/* Of one CPU each. */
static volatile struct {
	uint64_t irqs, offsets, rest, cycles, other_irqs;
	uint64_t done;
} seen[CPUS];

static unsigned self(void)
{
	return mrs(mpidr_el1) & (CPUS - 1);
}

void bare_irq(struct bare_frame *frame)
{
	const uint64_t intid = mrs(S3_0_C12_C12_0); /* ICC_IAR1_EL1 */
	const unsigned cpu = self();

	if (intid == INTID_PMU) {
		seen[cpu].irqs++;
		seen[cpu].offsets += frame->elr - (uint64_t)smp_spin;
		msr(pmevcntr0_el0, -(uint64_t)plan[cpu].period & LOW32);
		msr(pmovsclr_el0, 1);
		isb();
	} else {
		seen[cpu].other_irqs++;
	}
	msr(S3_0_C12_C12_1, intid); /* ICC_EOIR1_EL1 */
}

static void measure(void)
{
	const unsigned cpu = self();

	bare_gic_init();
	bare_mmio_write(bare_gicr() + GICR_ISENABLER0, 1 << INTID_PMU);
	bare_pmu_reset(0);
	msr(pmevtyper0_el0, INST_RETIRED | NOT_AT_EL1);
	msr(pmevtyper1_el0, CPU_CYCLES | NOT_AT_EL1);
	msr(pmevcntr0_el0, -(uint64_t)plan[cpu].period & LOW32);
	msr(pmevcntr1_el0, 0);
	msr(pmintenset_el1, 1);
	msr(pmcntenset_el0, 3);
	msr(pmcr_el0, PMCR_E);
	isb();
	bare_el0(smp_spin, plan[cpu].turns, 0, PSTATE_EL0_IRQ);
	msr(pmcr_el0, 0);
	isb();
	seen[cpu].rest = (mrs(pmevcntr0_el0) + plan[cpu].period) & LOW32;
	seen[cpu].cycles = mrs(pmevcntr1_el0);
	seen[cpu].done = 1;
}

static void tell(const char *cpu, unsigned n)
{
	say_of(cpu, "irqs", seen[n].irqs);
	say_of(cpu, "offsets", seen[n].offsets);
	say_of(cpu, "rest", seen[n].rest);
	say_of(cpu, "cycles", seen[n].cycles);
	say_of(cpu, "other-irqs", seen[n].other_irqs);
}

int main(void)
{
	static const char *const names[CPUS] = {"cpu0", "cpu1", "cpu2", "cpu3"};
	bool on[CPUS] = {true};

	for (unsigned i = 1; i < CPUS; i++)
		on[i] = !bare_cpu_on(i, measure);
	measure();
	for (unsigned i = 0; i < CPUS; i++) {
		if (!on[i]) {
			say_absent(names[i]);
			continue;
		}
		while (!seen[i].done)
			__asm__ volatile("yield");
		tell(names[i], i);
	}
	return 0;
}
