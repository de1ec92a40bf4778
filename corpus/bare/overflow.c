/* SPDX-License-Identifier: MIT */
/*
 * What happens when a counter wraps: flags, widths, CHAIN, the line and the
 * instruction that its interrupt is taken at.
 */
#include "corpus/bare/bare.h"

enum {
	SW_INCR = 0x00,
	INST_RETIRED = 0x08,
	CHAIN = 0x1e,
	CYCLE = 31,
	TAKEN = 8,
};

#define CYCLE_BIT    (UINT64_C(1) << CYCLE)
#define FILTER_P     (UINT64_C(1) << 31)
#define FILTER_U     (UINT64_C(1) << 30)
#define ALMOST_32    UINT64_C(0xffffffff)
#define ALMOST_64    UINT64_C(0xffffffffffffffff)

uint64_t armed_nops(uint64_t pmcr, uint64_t unused);
uint64_t armed_spin(uint64_t pmcr, uint64_t n);
uint64_t armed_masked(uint64_t pmcr, uint64_t unused);
extern char armed_first[], armed_masked_first[];

/* What the interrupts of one case did. */
static struct {
	unsigned count;
	uint64_t elr[TAKEN], ovs[TAKEN], el[TAKEN];
	uint64_t reload;     /* to counter 0 at each, 0: none */
	unsigned keep_flags; /* so many interrupts do not clear them */
} taken;

void bare_irq(struct bare_frame *frame)
{
	const uint64_t intid = mrs(S3_0_C12_C12_0); /* ICC_IAR1_EL1 */
	const uint64_t ovs = mrs(pmovsset_el0);

	if (intid != INTID_PMU) {
		say("unexpected-irq", intid);
		bare_off();
	}
	if (taken.reload)
		msr(pmevcntr0_el0, taken.reload);
	if (taken.count < TAKEN) {
		taken.elr[taken.count] = frame->elr;
		taken.ovs[taken.count] = ovs;
		taken.el[taken.count] = frame->spsr >> 2 & 3;
	}
	if (taken.count++ >= taken.keep_flags)
		msr(pmovsclr_el0, ovs);
	isb();
	msr(S3_0_C12_C12_1, intid); /* ICC_EOIR1_EL1 */
}

static void begin(void)
{
	bare_pmu_reset(0);
	taken.count = 0;
	taken.reload = 0;
	taken.keep_flags = 0;
}

static bool line(void)
{
	return bare_mmio_read(bare_gicr() + GICR_ISPENDR0) >> INTID_PMU & 1;
}

/* -- flags and widths ------------------------------------------------------ */

/* Counters 0 and 1 with these events and values, then PMSWINC_EL0 @times. */
static void chain(const char *name, uint64_t pmcr, uint64_t type0, uint64_t type1,
		  uint64_t enabled, uint64_t c0, uint64_t c1, uint64_t swinc)
{
	begin();
	msr(pmevtyper0_el0, type0);
	msr(pmevtyper1_el0, type1);
	msr(pmevcntr0_el0, c0);
	msr(pmevcntr1_el0, c1);
	msr(pmcntenset_el0, enabled);
	msr(pmcr_el0, PMCR_E | pmcr);
	isb();
	msr(pmswinc_el0, swinc);
	isb();
	msr(pmcr_el0, 0);
	say_text(name);
	say_text(" ");
	say_hex(mrs(pmevcntr0_el0));
	say_text(",");
	say_hex(mrs(pmevcntr1_el0));
	say_text(",");
	say_hex(mrs(pmovsset_el0));
	say_text("\n");
}

static void chains(void)
{
	chain("swinc.plain", 0, SW_INCR, SW_INCR, 3, 7, 9, 1);
	chain("swinc.both", 0, SW_INCR, SW_INCR, 3, 7, 9, 3);
	chain("swinc.disabled", 0, SW_INCR, SW_INCR, 1, 7, 9, 3);
	chain("swinc.other-event", 0, 0x3f, SW_INCR, 3, 7, 9, 3);
	chain("swinc.excluded", 0, SW_INCR | FILTER_P, SW_INCR | FILTER_U, 3, 7, 9, 3);
	chain("swinc.wrap", 0, SW_INCR, SW_INCR, 3, ALMOST_32, 9, 1);
	if (!bare_has_event(CHAIN)) {
		say_absent("chain");
		return;
	}
	chain("chain.wrap", 0, SW_INCR, CHAIN, 3, ALMOST_32, 0, 1);
	chain("chain.no-wrap", 0, SW_INCR, CHAIN, 3, ALMOST_32 - 1, 0, 1);
	chain("chain.both-wrap", 0, SW_INCR, CHAIN, 3, ALMOST_32, ALMOST_32, 1);
	chain("chain.odd-disabled", 0, SW_INCR, CHAIN, 1, ALMOST_32, 5, 1);
	chain("chain.even-disabled", 0, SW_INCR, CHAIN, 2, ALMOST_32, 5, 1);
	chain("chain.swinc-of-odd", 0, SW_INCR, CHAIN, 3, 3, 5, 2);
	chain("chain.on-even", 0, CHAIN, SW_INCR, 3, 3, ALMOST_32, 2);
	chain("chain.odd-excluded", 0, SW_INCR, CHAIN | FILTER_P, 3, ALMOST_32, 5, 1);
}

static void wide(void)
{
	if (bare_pmuver() < PMUVER_P5) {
		say_absent("wide");
		return;
	}
	chain("wide.lp0-32", 0, SW_INCR, SW_INCR, 3, ALMOST_32, 0, 1);
	chain("wide.lp1-32", PMCR_LP, SW_INCR, SW_INCR, 3, ALMOST_32, 0, 1);
	chain("wide.lp0-64", 0, SW_INCR, SW_INCR, 3, ALMOST_64, 0, 1);
	chain("wide.lp1-64", PMCR_LP, SW_INCR, SW_INCR, 3, ALMOST_64, 0, 1);
	if (!bare_has_event(CHAIN)) {
		say_absent("wide-chain");
		return;
	}
	chain("wide-chain.lp0-32", 0, SW_INCR, CHAIN, 3, ALMOST_32, 5, 1);
	chain("wide-chain.lp1-32", PMCR_LP, SW_INCR, CHAIN, 3, ALMOST_32, 5, 1);
	chain("wide-chain.lp1-64", PMCR_LP, SW_INCR, CHAIN, 3, ALMOST_64, 5, 1);
}

static void cycles(const char *name, uint64_t pmcr, uint64_t start, uint64_t spin)
{
	begin();
	msr(pmccntr_el0, start);
	msr(pmcntenset_el0, CYCLE_BIT);
	isb();
	armed_spin(PMCR_E | pmcr, spin);
	say_text(name);
	say_text(" ");
	say_hex(mrs(pmccntr_el0));
	say_text(",");
	say_hex(mrs(pmovsset_el0));
	say_text("\n");
}

/* 10 instructions after the write, or 6400. */
static void cycle_counter(void)
{
	cycles("cycle.plain", PMCR_LC, 5, 4);
	cycles("cycle.lc0-32", 0, ALMOST_32 - 4, 4);
	cycles("cycle.lc1-32", PMCR_LC, ALMOST_32 - 4, 4);
	cycles("cycle.lc1-64", PMCR_LC, ALMOST_64 - 4, 4);
	cycles("cycle.lc0-64", 0, ALMOST_64 - 4, 4);
	cycles("cycle.d-lc0", PMCR_D | PMCR_C, 0, 3199);
	cycles("cycle.d-lc1", PMCR_D | PMCR_LC, 0, 3199);
}

static void freeze(void)
{
	if (bare_pmuver() < PMUVER_P7) {
		say_absent("freeze");
		return;
	}
	for (unsigned fzo = 0; fzo < 2; fzo++) {
		begin();
		msr(pmevtyper0_el0, INST_RETIRED);
		msr(pmevtyper1_el0, INST_RETIRED);
		msr(pmevcntr0_el0, ALMOST_32 - 9); /* wraps with the 10th */
		msr(pmcntenset_el0, 3 | CYCLE_BIT);
		isb();
		armed_nops(PMCR_E | PMCR_LC | (fzo ? PMCR_FZO : 0), 0);
		say_text(fzo ? "freeze.on " : "freeze.off ");
		say_hex(mrs(pmevcntr0_el0));
		say_text(",");
		say_hex(mrs(pmevcntr1_el0));
		say_text(",");
		say_hex(mrs(pmccntr_el0));
		say_text("\n");
	}
}

/* -- filters --------------------------------------------------------------- */

static void filter(const char *name, uint64_t bits)
{
	for (unsigned el = 0; el < 2; el++) {
		begin();
		msr(pmevtyper0_el0, INST_RETIRED | bits);
		msr(pmccfiltr_el0, bits);
		msr(pmcntenset_el0, 1 | CYCLE_BIT);
		msr(pmuserenr_el0, 1);
		isb();
		if (el)
			armed_nops(PMCR_E | PMCR_LC, 0);
		else
			bare_el0(armed_nops, PMCR_E | PMCR_LC, 0, PSTATE_EL0);
		say_text(el ? "filter-el1." : "filter-el0.");
		say_text(name);
		say_text(" ");
		say_number(mrs(pmevcntr0_el0));
		say_text(",");
		say_number(mrs(pmccntr_el0));
		say_text("\n");
	}
}

/* -- interrupts ------------------------------------------------------------ */

static void say_taken(const char *name, uint64_t k, const char *first)
{
	say_text(name);
	say_text(".");
	say_number(k);
	say_text(" ");
	say_number(taken.count);
	for (unsigned i = 0; i < taken.count && i < TAKEN; i++) {
		say_text(i ? "," : " at ");
		say_number((taken.elr[i] - (uint64_t)first) / 4);
		say_text("/");
		say_hex(taken.ovs[i]);
		say_text("/el");
		say_number(taken.el[i]);
	}
	say_text("\n");
}

/* The @k-th instruction wraps counter 0; its interrupt is taken before the next. */
static void interrupt_at(uint64_t k)
{
	begin();
	msr(pmevtyper0_el0, INST_RETIRED);
	msr(pmevcntr0_el0, ALMOST_32 + 1 - k);
	msr(pmintenset_el1, 1);
	msr(pmcntenset_el0, 1);
	isb();
	armed_nops(PMCR_E, 0);
	say_taken("irq-inst", k, armed_first);

	begin();
	msr(pmccntr_el0, 0 - k);
	msr(pmintenset_el1, CYCLE_BIT);
	msr(pmcntenset_el0, CYCLE_BIT);
	isb();
	armed_nops(PMCR_E | PMCR_LC, 0);
	say_taken("irq-cycle", k, armed_first);
}

/* At EL0, EL1 not counted, counter 0 loaded anew in each interrupt. */
static void interrupts_every(uint64_t k)
{
	begin();
	taken.reload = ALMOST_32 + 1 - k;
	msr(pmevtyper0_el0, INST_RETIRED | FILTER_P);
	msr(pmevcntr0_el0, taken.reload);
	msr(pmintenset_el1, 1);
	msr(pmcntenset_el0, 1);
	msr(pmuserenr_el0, 1);
	isb();
	bare_el0(armed_nops, PMCR_E, 0, PSTATE_EL0_IRQ);
	say_taken("irq-el0-every", k, armed_first);
}

static void interrupt_masked(uint64_t k)
{
	begin();
	msr(pmevtyper0_el0, INST_RETIRED);
	msr(pmevcntr0_el0, ALMOST_32 + 1 - k);
	msr(pmintenset_el1, 1);
	msr(pmcntenset_el0, 1);
	isb();
	armed_masked(PMCR_E, 0);
	say_taken("irq-masked", k, armed_masked_first);
}

static void interrupt_two(void)
{
	begin();
	msr(pmevtyper0_el0, INST_RETIRED);
	msr(pmevtyper1_el0, INST_RETIRED);
	msr(pmevcntr0_el0, ALMOST_32 - 4);
	msr(pmevcntr1_el0, ALMOST_32 - 4);
	msr(pmintenset_el1, 3);
	msr(pmcntenset_el0, 3);
	isb();
	armed_nops(PMCR_E, 0);
	say_taken("irq-two", 5, armed_first);
}

/* The line follows E, flags and INTEN, whatever is enabled. */
static void the_line(void)
{
	begin();
	bare_irq_off();
	msr(pmcr_el0, PMCR_E);
	msr(pmintenset_el1, 1);
	say_count("line.no-flag", line());
	msr(pmovsset_el0, 1);
	say_count("line.flag", line());
	msr(pmcr_el0, 0);
	say_count("line.e0", line());
	say("line.e0-ovs", mrs(pmovsclr_el0));
	msr(pmcr_el0, PMCR_E);
	say_count("line.e1", line());
	msr(pmintenclr_el1, 1);
	say_count("line.intenclr", line());
	msr(pmintenset_el1, 1);
	say_count("line.intenset", line());
	msr(pmovsclr_el0, 1);
	say_count("line.ovsclr", line());
	/* An EOI that leaves the flag is taken again at once. */
	taken.keep_flags = 2;
	msr(pmovsset_el0, 1);
	isb();
	bare_irq_on();
	isb();
	say_count("line.taken", taken.count);
	say_count("line.after", line());
}

int main(void)
{
	static const unsigned at[] = { 1, 2, 3, 7, 31, 40, 63 };

	bare_gic_init();
	bare_mmio_write(bare_gicr() + GICR_ISENABLER0, UINT32_C(1) << INTID_PMU);
	chains();
	wide();
	cycle_counter();
	freeze();
	filter("none", 0);
	filter("p", FILTER_P);
	filter("u", FILTER_U);
	filter("p-u", FILTER_P | FILTER_U);
	bare_irq_on();
	the_line();
	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		interrupt_at(at[i]);
	interrupts_every(10);
	interrupts_every(13);
	interrupt_masked(7);
	interrupt_two();
	return 0;
}
