/* SPDX-License-Identifier: MIT */
/*
 * The timers of all CPUs come due at the same count, again and again, while one of
 * the CPUs executes and the others sleep: the end of its turn, its own interrupt and
 * the end of a block are all one.
 */
#include "corpus/bare/bare.h"

enum { CPUS = 4, TICKS = 20, PERIOD = 3000, ENABLE = 1 };

extern char ticks_spin[]; /* leaves by an interrupt alone */
static volatile unsigned ticks[CPUS], early, ready;
static volatile uint64_t first;

static unsigned self(void)
{
	return mrs(mpidr_el1) & 7;
}

void bare_irq(struct bare_frame *frame)
{
	const uint64_t intid = mrs(S3_0_C12_C12_0), due = mrs(cntv_cval_el0);

	if (frame->elr == (uint64_t)ticks_spin)
		frame->elr += 4;
	isb();
	if (intid != INTID_VTIMER || mrs(cntvct_el0) < due)
		early++;
	msr(cntv_cval_el0, due + PERIOD);
	isb();
	ticks[self()]++;
	msr(S3_0_C12_C12_1, intid);
}

/* Each CPU in turn is the one that does not sleep. */
static void work(void)
{
	const unsigned me = self();

	while (!first)
		;
	bare_mmio_write(bare_gicr() + GICR_ISENABLER0, UINT32_C(1) << INTID_VTIMER);
	msr(cntv_cval_el0, first);
	msr(cntv_ctl_el0, ENABLE);
	while (ticks[me] < TICKS) {
		const bool spins = ticks[me] % CPUS == me;

		/* Masked, so that no tick comes between the look and the sleep. */
		if (!spins)
			__asm__ volatile("wfi" ::: "memory");
		bare_irq_on();
		isb();
		if (spins)
			__asm__ volatile("ticks_spin: b ticks_spin" ::: "memory");
		bare_irq_off();
	}
	msr(cntv_ctl_el0, 0);
	isb();
}

static void other(void)
{
	bare_gic_init();
	ready |= 1u << self();
	work();
	ready &= ~(1u << self());
}

int main(void)
{
	unsigned others = 0;

	bare_gic_init();
	for (unsigned i = 1; i < CPUS; i++) {
		if (bare_cpu_on(i, other))
			break;
		others |= 1u << i;
		while (!(ready & 1u << i))
			;
	}
	isb();
	first = mrs(cntvct_el0) + PERIOD;
	work();
	while (ready)
		;
	say_count("cpu0", ticks[0]);
	for (unsigned i = 1; i < CPUS; i++)
		if (others & 1u << i)
			say_count(i == 1 ? "cpu1" : i == 2 ? "cpu2" : "cpu3", ticks[i]);
	say_count("early", early);
	return 0;
}
