/* SPDX-License-Identifier: MIT */
/*
 * The generic timers: the counters, CNTV on PPI 27, CNTP on PPI 30, and what EL0
 * may touch. Only what holds on every board is printed, never a time.
 */
#include "corpus/bare/bare.h"

enum {
	ENABLE = 1,
	IMASK = 2,
	ISTATUS = 4,
	TICKS = 1000,
};

static volatile unsigned irqs;
static volatile uint64_t last_irq, at_irq;

static uint64_t count(void)
{
	isb();
	return mrs(cntvct_el0);
}

/* One row a timer, so that both go the same way. */
struct timer {
	const char *name;
	unsigned intid;
	uint64_t (*ctl)(void), (*cval)(void), (*tval)(void);
	void (*set_ctl)(uint64_t), (*set_cval)(uint64_t), (*set_tval)(uint64_t);
};

#define TIMER_REG(prefix, reg)                              \
	static uint64_t prefix##_##reg(void)                \
	{                                                   \
		isb();                                      \
		return mrs(prefix##_##reg##_el0);           \
	}                                                   \
	static void prefix##_set_##reg(uint64_t value)      \
	{                                                   \
		msr(prefix##_##reg##_el0, value);           \
		isb();                                      \
	}

TIMER_REG(cntv, ctl)
TIMER_REG(cntv, cval)
TIMER_REG(cntv, tval)
TIMER_REG(cntp, ctl)
TIMER_REG(cntp, cval)
TIMER_REG(cntp, tval)

static const struct timer timers[] = {
	{ "cntv", INTID_VTIMER, cntv_ctl, cntv_cval, cntv_tval, cntv_set_ctl, cntv_set_cval,
	  cntv_set_tval },
	{ "cntp", INTID_PTIMER, cntp_ctl, cntp_cval, cntp_tval, cntp_set_ctl, cntp_set_cval,
	  cntp_set_tval },
};

void bare_irq(struct bare_frame *frame)
{
	const uint64_t intid = mrs(S3_0_C12_C12_0);

	(void)frame;
	at_irq = count();
	last_irq = intid;
	irqs++;
	for (unsigned i = 0; i < 2; i++)
		if (timers[i].intid == intid)
			timers[i].set_ctl(ENABLE | IMASK);
	msr(S3_0_C12_C12_1, intid);
}

static bool pending(const struct timer *t)
{
	return bare_mmio_read(bare_gicr() + GICR_ISPENDR0) >> t->intid & 1;
}

static void is(const struct timer *t, const char *what, uint64_t value)
{
	say_text(t->name);
	say_text(".");
	say_count(what, value);
}

static void by_registers(const struct timer *t)
{
	uint64_t before, value;

	t->set_ctl(~UINT64_C(0));
	is(t, "ctl-ones", t->ctl() & ~(uint64_t)ISTATUS);
	t->set_ctl(0);
	is(t, "ctl-zeros", t->ctl() & ~(uint64_t)ISTATUS);
	t->set_cval(UINT64_C(0x8123456789abcdef));
	is(t, "cval-64-bits", t->cval() == UINT64_C(0x8123456789abcdef));

	before = count();
	t->set_tval(TICKS);
	value = t->cval();
	is(t, "tval-sets-cval", value >= before + TICKS && value <= count() + TICKS);
	value = t->tval();
	is(t, "tval-counts-down", value <= TICKS && value > 0);
	t->set_tval(UINT64_C(0xffffffffffffff9c)); /* -100 */
	value = t->cval();
	is(t, "tval-is-signed", value >= before - 100 && value <= count() - 100);
	is(t, "tval-reads-32-bits", t->tval() >> 32);
	is(t, "tval-below-zero", t->tval() >> 31);
}

static void by_line(const struct timer *t)
{
	t->set_ctl(0);
	t->set_cval(count() - 1);
	is(t, "off-pending", pending(t));
	t->set_ctl(ENABLE);
	is(t, "past-status", t->ctl());
	is(t, "past-pending", pending(t));
	t->set_ctl(ENABLE | IMASK);
	is(t, "masked-status", t->ctl());
	is(t, "masked-pending", pending(t));
	t->set_ctl(ENABLE);
	t->set_cval(~UINT64_C(0));
	is(t, "future-status", t->ctl());
	is(t, "future-pending", pending(t));
	t->set_tval(TICKS);
	is(t, "soon-status", t->ctl());
	while (!(t->ctl() & ISTATUS))
		;
	is(t, "then-early", count() < t->cval());
	is(t, "then-pending", pending(t));
	t->set_ctl(0);
	is(t, "off-again-pending", pending(t));
}

static void by_interrupt(const struct timer *t)
{
	uint64_t due;

	bare_mmio_write(bare_gicr() + GICR_ISENABLER0, UINT32_C(1) << t->intid);
	irqs = 0;
	bare_irq_on();
	t->set_tval(TICKS);
	due = t->cval();
	t->set_ctl(ENABLE);
	while (!irqs)
		;
	is(t, "busy-irqs", irqs);
	is(t, "busy-intid", last_irq);
	is(t, "busy-early", at_irq < due);
	is(t, "busy-late", at_irq - due > TICKS);

	irqs = 0;
	t->set_tval(100 * TICKS);
	due = t->cval();
	bare_irq_off();
	t->set_ctl(ENABLE);
	/* Wakes though masked. */
	__asm__ volatile("wfi" ::: "memory");
	is(t, "wfi-early", count() < due);
	is(t, "wfi-late", count() - due > TICKS);
	is(t, "wfi-masked-irqs", irqs);
	bare_irq_on();
	isb();
	is(t, "wfi-irqs", irqs);
	bare_irq_off();
	t->set_ctl(0);
	bare_mmio_write(bare_gicr() + GICR_ICENABLER0, UINT32_C(1) << t->intid);
}

/* -- EL0 ------------------------------------------------------------------- */

#define EL0_READ(name, reg)                                  \
	static uint64_t name(uint64_t a, uint64_t b)         \
	{                                                    \
		(void)a;                                     \
		(void)b;                                     \
		return mrs(reg);                             \
	}

EL0_READ(el0_cntvct, cntvct_el0)
EL0_READ(el0_cntpct, cntpct_el0)
EL0_READ(el0_cntfrq, cntfrq_el0)
EL0_READ(el0_cntv_ctl, cntv_ctl_el0)
EL0_READ(el0_cntp_ctl, cntp_ctl_el0)

/* CNTKCTL_EL1: EL0PCTEN 0, EL0VCTEN 1, EL0VTEN 8, EL0PTEN 9. */
static void rights(const char *name, uint64_t (*fn)(uint64_t, uint64_t))
{
	static const uint64_t bits[] = { 0, 1 << 0, 1 << 1, 1 << 8, 1 << 9 };

	say_text("el0.");
	say_text(name);
	say_text(" ");
	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		const unsigned before = bare_faults;

		msr(cntkctl_el1, bits[i]);
		isb();
		bare_el0(fn, 0, 0, PSTATE_EL0);
		say_text(bare_faults == before		      ? "o" :
			 bare_fault_esr >> 26 == EC_SYSREG ? "t" :
							      "u");
	}
	say_text("\n");
}

int main(void)
{
	uint64_t a, b, c;

	bare_gic_init();
	say_count("cntfrq", mrs(cntfrq_el0));
	a = count();
	b = mrs(cntpct_el0);
	isb();
	c = count();
	say_count("counters-agree", a <= b && b <= c);
	say_count("counters-move", ({ while (count() == c) ; true; }));
	for (unsigned i = 0; i < 2; i++) {
		by_registers(&timers[i]);
		by_line(&timers[i]);
		by_interrupt(&timers[i]);
	}
	rights("cntvct", el0_cntvct);
	rights("cntpct", el0_cntpct);
	rights("cntfrq", el0_cntfrq);
	rights("cntv_ctl", el0_cntv_ctl);
	rights("cntp_ctl", el0_cntp_ctl);
	return 0;
}
