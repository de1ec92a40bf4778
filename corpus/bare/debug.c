/* SPDX-License-Identifier: MIT */
/*
 * Debug of EL0 by EL1: software step, breakpoints and watchpoints by address. What
 * comes, for which instruction and with which syndrome; and how often.
 */
#include "corpus/bare/bare.h"

enum {
	EC_BREAKPOINT = 0x30,
	EC_STEP = 0x32,
	EC_WATCHPOINT = 0x34,
	MDSCR_SS = 1 << 0,
	MDSCR_MDE = 1 << 15,
	ENABLED = 1,
	EL0 = 2 << 1,
	LOAD = 1 << 3,
	STORE = 2 << 3,
	BAS = 5, /* its place in DBGBCR and DBGWCR */
	MASK = 24,
	MOST = 32,
	WNR = 1 << 6,
};

#define SPSR_SS UINT64_C(0x200000)

/* debug-work.S */
void debug_work(uint64_t *data, uint64_t n);
extern char debug_load[], debug_store[], debug_pair[], debug_end[];

static uint64_t data[4] __attribute__((aligned(32)));
static unsigned taken;
static struct {
	uint64_t at, esr, far;
} hit[MOST];
static bool step_on; /* each exception steps over its instruction */

/* Over the instruction without its breakpoint, then on with it: as a debugger does. */
static bool on_debug(struct bare_frame *frame)
{
	const unsigned ec = (unsigned)(frame->esr >> 26);
	const bool stepped = ec == EC_STEP;

	if (ec != EC_STEP && ec != EC_BREAKPOINT && ec != EC_WATCHPOINT)
		return false;
	if (taken < MOST && (!stepped || step_on)) {
		hit[taken].at = frame->elr;
		hit[taken].esr = frame->esr;
		hit[taken].far = frame->far;
		taken++;
	}
	if (step_on || !stepped) {
		msr(mdscr_el1, MDSCR_SS);
		frame->spsr |= SPSR_SS;
	} else {
		msr(mdscr_el1, MDSCR_MDE);
	}
	isb();
	return true;
}

void bare_irq(struct bare_frame *frame)
{
	(void)frame; /* always masked */
}

static uint64_t work(uint64_t at, uint64_t n)
{
	debug_work((uint64_t *)at, n);
	return 0;
}

static void start(uint64_t mdscr, uint64_t pstate)
{
	taken = 0;
	msr(mdscr_el1, mdscr);
	isb();
	bare_el0(work, (uint64_t)data, 2, pstate);
	msr(mdscr_el1, 0);
	msr(dbgbcr0_el1, 0);
	msr(dbgbcr1_el1, 0);
	msr(dbgwcr0_el1, 0);
	msr(dbgwcr1_el1, 0);
	isb();
}

/* `name times: place.kind+byte ...`: place in debug_work, byte of data. */
static void tell(const char *name)
{
	say_text(name);
	say_text(" ");
	say_number(taken);
	for (unsigned i = 0; i < taken; i++) {
		const unsigned ec = (unsigned)(hit[i].esr >> 26);

		say_text(" ");
		say_number((hit[i].at - (uint64_t)debug_work) / 4);
		if (ec == EC_BREAKPOINT)
			say_text("b");
		if (ec != EC_WATCHPOINT)
			continue;
		say_text(hit[i].esr & WNR ? "w" : "r");
		say_number(hit[i].far - (uint64_t)data);
	}
	say_text("\n");
}

static void steps(void)
{
	unsigned inside = 0;

	step_on = true;
	start(MDSCR_SS, PSTATE_EL0 | SPSR_SS);
	for (unsigned i = 0; i < taken; i++)
		if (hit[i].at >= (uint64_t)debug_work && hit[i].at <= (uint64_t)debug_end)
			hit[inside++] = hit[i];
	taken = inside;
	tell("step");
	say("step.esr", hit[0].esr & ~UINT64_C(0x40));
	step_on = false;
}

static void points(void)
{
	msr(dbgbvr0_el1, (uint64_t)debug_load);
	msr(dbgbcr0_el1, ENABLED | EL0 | 15 << BAS);
	start(MDSCR_MDE, PSTATE_EL0);
	tell("breakpoint");
	say("breakpoint.esr", hit[0].esr);
	msr(dbgbvr0_el1, (uint64_t)debug_load);
	msr(dbgbcr0_el1, ENABLED | EL0 | 15 << BAS);
	msr(dbgbvr1_el1, (uint64_t)debug_end);
	msr(dbgbcr1_el1, ENABLED | EL0 | 15 << BAS);
	start(MDSCR_MDE, PSTATE_EL0);
	tell("breakpoint.two");
	msr(dbgbvr0_el1, (uint64_t)debug_load);
	msr(dbgbcr0_el1, ENABLED | 1 << 1 | 15 << BAS);
	start(MDSCR_MDE, PSTATE_EL0);
	tell("breakpoint.of-el1");
	msr(dbgbvr0_el1, (uint64_t)debug_load);
	msr(dbgbcr0_el1, ENABLED | EL0 | 15 << BAS);
	start(0, PSTATE_EL0);
	tell("breakpoint.off");
}

static void watch(const char *name, uint64_t byte, uint64_t control)
{
	msr(dbgwvr0_el1, (uint64_t)data + byte);
	msr(dbgwcr0_el1, ENABLED | EL0 | control);
	start(MDSCR_MDE, PSTATE_EL0);
	tell(name);
}

int main(void)
{
	bare_debug = on_debug;
	msr(oslar_el1, 0);
	isb();
	steps();
	points();
	watch("watch.loads", 0, LOAD | 255 << BAS);
	watch("watch.stores", 8, STORE | 255 << BAS);
	say("watch.esr", hit[0].esr);
	watch("watch.both", 8, LOAD | STORE | 255 << BAS);
	watch("watch.byte", 8, STORE | 1 << (BAS + 1));
	watch("watch.byte-beside", 8, STORE | 1 << (BAS + 4));
	watch("watch.pair-second", 24, STORE | 255 << BAS);
	watch("watch.mask", 0, LOAD | STORE | 255 << BAS | 5ull << MASK);
	return 0;
}
