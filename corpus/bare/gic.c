/* SPDX-License-Identifier: MIT */
/*
 * SGIs and PPIs by the redistributor and the CPU interface, polled with IRQs
 * masked but at the end; then SGIs to another CPU where there is one.
 */
#include "corpus/bare/bare.h"

#define icc_iar1()	   mrs(S3_0_C12_C12_0)
#define icc_eoir1(value)   msr(S3_0_C12_C12_1, value)
#define icc_hppir1()	   mrs(S3_0_C12_C12_2)
#define icc_bpr1()	   mrs(S3_0_C12_C12_3)
#define icc_set_bpr1(v)	   msr(S3_0_C12_C12_3, v)
#define icc_set_ctlr(v)	   msr(S3_0_C12_C12_4, v)
#define icc_set_igrpen1(v) msr(S3_0_C12_C12_7, v)
#define icc_rpr()	   mrs(S3_0_C12_C11_3)
#define icc_dir(value)	   msr(S3_0_C12_C11_1, value)
#define icc_sgi1r(value)   msr(S3_0_C12_C11_5, value)
#define icc_set_pmr(v)	   msr(S3_0_C4_C6_0, v)
#define icc_pmr()	   mrs(S3_0_C4_C6_0)
#define icc_ap1r0()	   mrs(S3_0_C12_C9_0)

#define GICD_CTLR UINT64_C(0x08000000)

enum {
	EOIMODE = 2,
	SGI_SHIFT = 24,
	IRM_SHIFT = 40,
	SGI = 3,
	PPI = 20, /* nobody drives it */
	SPURIOUS = 1023,
	PATIENCE = 1000000,
};

static volatile unsigned irqs, last_irq;
static volatile unsigned other_ready, other_irqs, other_last;

void bare_irq(struct bare_frame *frame)
{
	const uint64_t intid = icc_iar1();

	(void)frame;
	if (mrs(mpidr_el1) & 7) {
		other_last = (unsigned)intid;
		other_irqs++;
	} else {
		last_irq = (unsigned)intid;
		irqs++;
	}
	if (intid < SPURIOUS)
		icc_eoir1(intid);
}

static uint32_t get(unsigned reg)
{
	return bare_mmio_read(bare_gicr() + reg);
}

static void set(unsigned reg, uint32_t value)
{
	bare_mmio_write(bare_gicr() + reg, value);
}

static void priority(unsigned intid, unsigned value)
{
	const uint64_t at = bare_gicr() + GICR_IPRIORITYR0 + intid;

	__asm__ volatile("strb %w0, [%1]" ::"r"(value), "r"(at) : "memory");
}

static uint32_t bit(unsigned reg, unsigned intid)
{
	return get(reg) >> intid & 1;
}

/* pending,active,HPPIR,RPR */
static void state(const char *name, unsigned intid)
{
	isb();
	say_text(name);
	say_text(" ");
	say_number(bit(GICR_ISPENDR0, intid));
	say_text(",");
	say_number(bit(GICR_ISACTIVER0, intid));
	say_text(",");
	say_number(icc_hppir1());
	say_text(",");
	say_hex(icc_rpr());
	say_text("\n");
}

static uint64_t take(const char *name)
{
	const uint64_t intid = icc_iar1();

	isb();
	say_count(name, intid);
	return intid;
}

static void end(uint64_t intid)
{
	icc_eoir1(intid);
	isb();
}

/* All off, nothing pending or active, one priority, no preemption bits lost. */
static void calm(void)
{
	set(GICR_ICENABLER0, UINT32_MAX);
	set(GICR_ICPENDR0, UINT32_MAX);
	set(GICR_ICACTIVER0, UINT32_MAX);
	bare_gic_init();
	icc_set_bpr1(0);
	isb();
}

static void registers(void)
{
	calm();
	say("iar1-idle", icc_iar1());
	say("hppir1-idle", icc_hppir1());
	say("rpr-idle", icc_rpr());
	icc_set_pmr(0x100);
	say("pmr-over", icc_pmr());
	icc_set_pmr(0xff);
	say("pmr", icc_pmr());
	icc_set_bpr1(0);
	say("bpr1-least", icc_bpr1());
	icc_set_bpr1(7);
	say("bpr1-most", icc_bpr1());
	say("icfgr0", get(GICR_ICFGR0));
	set(GICR_ICFGR0, 0);
	say("icfgr0-zeros", get(GICR_ICFGR0));
	set(GICR_ICFGR1, 0);
	say("icfgr1-zeros", get(GICR_ICFGR1));
	set(GICR_ICFGR1, UINT32_MAX);
	say("icfgr1-ones", get(GICR_ICFGR1));
	set(GICR_ICFGR1, 0);
	set(GICR_ISENABLER0, 0x00100008);
	say("isenabler0", get(GICR_ISENABLER0));
	say("icenabler0", get(GICR_ICENABLER0));
	set(GICR_ICENABLER0, 8);
	say("isenabler0-less", get(GICR_ISENABLER0));
	priority(PPI, 0xff);
	say("priority", get(GICR_IPRIORITYR0 + PPI) & 0xff);
}

static void sgi(void)
{
	uint64_t intid;

	calm();
	icc_sgi1r((uint64_t)SGI << SGI_SHIFT | 1);
	state("sgi.disabled", SGI);
	set(GICR_ISENABLER0, 1 << SGI);
	state("sgi.enabled", SGI);
	intid = take("sgi.taken");
	state("sgi.active", SGI);
	icc_sgi1r((uint64_t)SGI << SGI_SHIFT | 1);
	state("sgi.again", SGI);
	say_count("sgi.none", icc_iar1());
	end(intid);
	state("sgi.ended", SGI);
	end(take("sgi.second"));
	state("sgi.done", SGI);
	icc_sgi1r((uint64_t)SGI << SGI_SHIFT | 1 << 1);
	state("sgi.elsewhere", SGI);
	set(GICR_IGROUPR0, ~(UINT32_C(1) << SGI));
	icc_sgi1r((uint64_t)SGI << SGI_SHIFT | 1);
	state("sgi.group0", SGI);
}

static void ppi(void)
{
	calm();
	set(GICR_ISENABLER0, 1 << PPI);
	set(GICR_ISPENDR0, 1 << PPI);
	state("ppi.set", PPI);
	set(GICR_ICPENDR0, 1 << PPI);
	state("ppi.cleared", PPI);
	set(GICR_ISACTIVER0, 1 << PPI);
	set(GICR_ISPENDR0, 1 << PPI);
	state("ppi.active-and-pending", PPI);
	say_count("ppi.none", icc_iar1());
	set(GICR_ICACTIVER0, 1 << PPI);
	state("ppi.inactive", PPI);
	icc_set_igrpen1(0);
	isb();
	state("ppi.igrpen1-off", PPI);
	say_count("ppi.igrpen1-off-iar1", icc_iar1());
	icc_set_igrpen1(1);
	bare_mmio_write(GICD_CTLR, 0x10);
	say_count("ppi.distributor-off-iar1", icc_iar1());
	bare_mmio_write(GICD_CTLR, 0x12);
	end(take("ppi.taken"));
}

static void priorities(void)
{
	uint64_t a, b;

	calm();
	set(GICR_ISENABLER0, 7 << 16);
	priority(16, 0x80);
	priority(17, 0x40);
	priority(18, 0x80);
	set(GICR_ISPENDR0, 1 << 16 | 1 << 18);
	a = take("priorities.first");
	say("priorities.rpr", icc_rpr());
	say_count("priorities.equal", icc_iar1());
	set(GICR_ISPENDR0, 1 << 17);
	b = take("priorities.preempts");
	say("priorities.rpr-nested", icc_rpr());
	say("priorities.ap1r0-nested", icc_ap1r0());
	end(b);
	say("priorities.rpr-back", icc_rpr());
	end(a);
	end(take("priorities.last"));
	say("priorities.rpr-idle", icc_rpr());

	icc_set_pmr(0x80);
	set(GICR_ISPENDR0, 1 << 16);
	say_count("pmr.equal", icc_iar1());
	icc_set_pmr(0x88);
	end(take("pmr.above"));
	icc_set_pmr(0xff);

	/* With the binary point above bit 6, 0x40 and 0x00 are one group. */
	icc_set_bpr1(7);
	priority(17, 0x40);
	priority(16, 0x00);
	set(GICR_ISPENDR0, 1 << 17);
	a = take("bpr.first");
	set(GICR_ISPENDR0, 1 << 16);
	say_count("bpr.same-group", icc_iar1());
	icc_set_bpr1(0);
	end(a);
	end(take("bpr.later"));
}

static void eoimode(void)
{
	uint64_t intid;

	calm();
	icc_set_ctlr(EOIMODE);
	set(GICR_ISENABLER0, 1 << PPI);
	set(GICR_ISPENDR0, 1 << PPI);
	intid = take("eoimode.taken");
	state("eoimode.active", PPI);
	end(intid);
	state("eoimode.dropped", PPI);
	set(GICR_ISPENDR0, 1 << PPI);
	say_count("eoimode.none", icc_iar1());
	icc_dir(intid);
	isb();
	state("eoimode.deactivated", PPI);
	intid = take("eoimode.second");
	end(intid);
	icc_dir(intid);
	isb();
	state("eoimode.done", PPI);
}

/* The PMU's wire, PPI 23, moved by PMOVSSET. */
static void wire(bool high)
{
	if (high)
		msr(pmovsset_el0, 1 << 31 | 0ull);
	else
		msr(pmovsclr_el0, UINT32_MAX);
	isb();
}

static void level(void)
{
	uint64_t intid;

	calm();
	bare_pmu_reset(PMCR_E);
	msr(pmintenset_el1, UINT32_MAX);
	set(GICR_ICFGR1, 0);
	set(GICR_ISENABLER0, 1 << INTID_PMU);
	wire(true);
	state("level.high", INTID_PMU);
	set(GICR_ICPENDR0, 1 << INTID_PMU);
	state("level.not-clearable", INTID_PMU);
	intid = take("level.taken");
	state("level.active", INTID_PMU);
	end(intid);
	state("level.ended-high", INTID_PMU);
	intid = take("level.again");
	wire(false);
	state("level.low", INTID_PMU);
	end(intid);
	state("level.done", INTID_PMU);
	set(GICR_ISPENDR0, 1 << INTID_PMU);
	state("level.set-by-hand", INTID_PMU);
	wire(true);
	wire(false);
	state("level.set-stays", INTID_PMU);
	set(GICR_ICPENDR0, 1 << INTID_PMU);
	state("level.cleared-by-hand", INTID_PMU);
}

static void edge(void)
{
	uint64_t intid;

	calm();
	set(GICR_ICFGR1, 2u << 2 * (INTID_PMU - 16));
	set(GICR_ISENABLER0, 1 << INTID_PMU);
	wire(true);
	state("edge.high", INTID_PMU);
	wire(false);
	state("edge.low", INTID_PMU);
	intid = take("edge.taken");
	state("edge.active", INTID_PMU);
	wire(true);
	state("edge.active-high", INTID_PMU);
	end(intid);
	state("edge.ended", INTID_PMU);
	set(GICR_ICPENDR0, 1 << INTID_PMU);
	state("edge.cleared", INTID_PMU);
	wire(false);
	set(GICR_ICFGR1, 0);
}

static void real(void)
{
	calm();
	set(GICR_ISENABLER0, 1 << SGI | 1 << PPI);
	bare_irq_on();
	icc_sgi1r((uint64_t)SGI << SGI_SHIFT | 1);
	isb();
	say_count("irq.sgi", irqs);
	say_count("irq.sgi-intid", last_irq);
	bare_irq_off();
	set(GICR_ISPENDR0, 1 << PPI);
	isb();
	say_count("irq.masked", irqs);
	bare_irq_on();
	isb();
	say_count("irq.unmasked", irqs);
	say_count("irq.unmasked-intid", last_irq);
	bare_irq_off();
}

/* -- another CPU ----------------------------------------------------------- */

static void other(void)
{
	bare_gic_init();
	set(GICR_ISENABLER0, 0xffff);
	other_ready = 1;
	bare_irq_on();
	for (;;)
		__asm__ volatile("wfi");
}

static bool wait_for(volatile unsigned *what, unsigned value)
{
	for (unsigned i = 0; i < PATIENCE; i++) {
		if (*what == value)
			return true;
		__asm__ volatile("yield"); /* the other CPU may share a host thread */
	}
	return false;
}

static void cpus(void)
{
	calm();
	set(GICR_ISENABLER0, 0xffff);
	if (bare_cpu_on(1, other)) {
		say_absent("cpu1");
		return;
	}
	say_count("cpu1.ready", wait_for(&other_ready, 1));
	say_count("cpu1.on-twice", bare_cpu_on(1, other) == -4); /* ALREADY_ON */
	icc_sgi1r(UINT64_C(5) << SGI_SHIFT | 1 << 1);
	say_count("cpu1.targeted", wait_for(&other_irqs, 1));
	say_count("cpu1.intid", other_last);
	icc_sgi1r(UINT64_C(1) << IRM_SHIFT | UINT64_C(6) << SGI_SHIFT);
	say_count("cpu1.all-others", wait_for(&other_irqs, 2));
	say_count("cpu1.intid-others", other_last);
	say_count("cpu1.not-self", icc_hppir1());
	icc_sgi1r(UINT64_C(7) << SGI_SHIFT | 3);
	say_count("cpu1.both", wait_for(&other_irqs, 3));
	end(take("cpu0.both"));
	icc_sgi1r(UINT64_C(7) << SGI_SHIFT | 1);
	say_count("cpu0.only", icc_hppir1());
	end(icc_iar1());
	say_count("cpu1.no-more", other_irqs);
}

int main(void)
{
	registers();
	sgi();
	ppi();
	priorities();
	eoimode();
	level();
	edge();
	real();
	cpus();
	return 0;
}
