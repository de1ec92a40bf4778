/* SPDX-License-Identifier: MIT */
/*
 * Every event counted over every work of works.S, as `work.EVENT count`. Each runs
 * twice under the same counters, and the second time counts: then code, predictor
 * and return stack are warm, data is not.
 */
#include "corpus/bare/bare.h"

#define FILTER_P (UINT64_C(1) << 31)
#define FILTER_U (UINT64_C(1) << 30)

enum {
	PAGE = 4096,
	PAGES = 256,
	EVICT_PAGES = 3,
	EXC_TAKEN = 0x09,
	EXC_RETURN = 0x0a,
	INST_RETIRED = 0x08,
	BR_RETIRED = 0x21,
};

static const struct event {
	unsigned number;
	const char *name;
} events[] = {
	{ 0x00, "SW_INCR" },
	{ 0x01, "L1I_CACHE_REFILL" },
	{ 0x03, "L1D_CACHE_REFILL" },
	{ 0x04, "L1D_CACHE" },
	{ 0x06, "LD_RETIRED" },
	{ 0x07, "ST_RETIRED" },
	{ 0x08, "INST_RETIRED" },
	{ 0x09, "EXC_TAKEN" },
	{ 0x0a, "EXC_RETURN" },
	{ 0x0b, "CID_WRITE_RETIRED" },
	{ 0x0c, "PC_WRITE_RETIRED" },
	{ 0x0d, "BR_IMMED_RETIRED" },
	{ 0x0e, "BR_RETURN_RETIRED" },
	{ 0x0f, "UNALIGNED_LDST_RETIRED" },
	{ 0x10, "BR_MIS_PRED" },
	{ 0x11, "CPU_CYCLES" },
	{ 0x12, "BR_PRED" },
	{ 0x13, "MEM_ACCESS" },
	{ 0x14, "L1I_CACHE" },
	{ 0x1b, "INST_SPEC" },
	{ 0x1d, "BUS_CYCLES" },
	{ 0x1e, "CHAIN" },
	{ 0x21, "BR_RETIRED" },
	{ 0x23, "STALL_FRONTEND" },
	{ 0x24, "STALL_BACKEND" },
};

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

typedef void work(uint64_t pmcr, void *page);
work work_nops, work_loads, work_stores, work_exclusives, work_unaligned, work_evict,
	work_branches, work_calls, work_svc, work_undefined, work_contextidr, work_swinc,
	work_far;
void work_twice(work *run, uint64_t pmcr, void *page, void *other);
uint64_t work_el0(uint64_t, uint64_t);

static const struct {
	const char *name;
	work *run;
	char *vectors;
} works[] = {
	{ "nops", work_nops, bare_vectors },
	{ "loads", work_loads, bare_vectors },
	{ "stores", work_stores, bare_vectors },
	{ "exclusives", work_exclusives, bare_vectors },
	{ "unaligned", work_unaligned, bare_vectors },
	{ "evict", work_evict, bare_vectors },
	{ "branches", work_branches, bare_vectors },
	{ "calls", work_calls, bare_vectors },
	{ "svc", work_svc, bare_vectors_return },
	{ "undefined", work_undefined, bare_vectors_skip },
	{ "contextidr", work_contextidr, bare_vectors },
	{ "swinc", work_swinc, bare_vectors },
	{ "far", work_far, bare_vectors },
};

enum { WORKS = sizeof(works) / sizeof(works[0]) };

static char memory[PAGES][PAGE] __attribute__((aligned(PAGE)));
static unsigned used;

void bare_irq(struct bare_frame *frame)
{
	say("unexpected-irq", frame->elr);
	bare_off();
}

static void select_event(unsigned n, uint64_t type)
{
	msr(pmselr_el0, n);
	isb();
	msr(pmxevtyper_el0, type);
	msr(pmxevcntr_el0, 0);
}

static uint64_t counted(unsigned n)
{
	msr(pmselr_el0, n);
	isb();
	return mrs(pmxevcntr_el0);
}

static void run(unsigned w)
{
	const unsigned pages = works[w].run == work_evict ? EVICT_PAGES : 1;

	if (used + 2 * pages > PAGES) {
		say_text("out of pages\n");
		bare_off();
	}
	msr(pmcr_el0, PMCR_P);
	msr(vbar_el1, works[w].vectors);
	isb();
	work_twice(works[w].run, PMCR_E, memory[used], memory[used + pages]);
	msr(vbar_el1, bare_vectors);
	isb();
	used += 2 * pages;
}

/* @n events from @first on, those implemented, one a counter. */
static void measure(const struct event *const *batch, unsigned n)
{
	bare_pmu_reset(0);
	for (unsigned i = 0; i < n; i++)
		select_event(i, batch[i]->number);
	msr(pmcntenset_el0, (UINT64_C(1) << n) - 1);
	for (unsigned w = 0; w < WORKS; w++) {
		run(w);
		for (unsigned i = 0; i < n; i++)
			say_of(works[w].name, batch[i]->name, counted(i));
	}
}

/* BLR, NOP, RET and SVC at EL0; two ERETs at EL1, there and from the SVC. */
static void both_levels(void)
{
	static const struct event some[] = {
		{ INST_RETIRED, "INST_RETIRED" },
		{ BR_RETIRED, "BR_RETIRED" },
		{ EXC_TAKEN, "EXC_TAKEN" },
		{ EXC_RETURN, "EXC_RETURN" },
	};

	for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		if (!bare_has_event(some[i].number))
			continue;
		bare_pmu_reset(0);
		select_event(0, some[i].number | FILTER_P);
		select_event(1, some[i].number | FILTER_U);
		msr(pmcntenset_el0, 3);
		msr(pmcr_el0, PMCR_E);
		bare_el0(work_el0, 0, 0, PSTATE_EL0);
		msr(pmcr_el0, 0);
		say_of("at-el0", some[i].name, counted(0));
		if (some[i].number == EXC_TAKEN || some[i].number == EXC_RETURN)
			say_of("at-el1", some[i].name, counted(1));
	}
}

int main(void)
{
	const struct event *batch[32];
	unsigned n = 0;

	for (unsigned i = 0; i < EVENTS; i++) {
		if (!bare_has_event(events[i].number)) {
			say_absent(events[i].name);
			continue;
		}
		batch[n++] = &events[i];
		if (n == bare_counters()) {
			measure(batch, n);
			n = 0;
		}
	}
	if (n)
		measure(batch, n);
	both_levels();
	return 0;
}
