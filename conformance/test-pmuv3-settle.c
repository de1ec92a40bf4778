/* SPDX-License-Identifier: MIT */
/*
 * It does not matter how often the PMU is settled: random devices of all
 * versions, random work, random register writes; one in steps of an instruction,
 * one in steps as long as its deadline allows. State, line and bus are the same
 * to the cycle.
 */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

static uint64_t rng(uint64_t *state) /* xorshift64 */
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void put(struct bench *b, uint32_t enc, uint64_t value, unsigned el)
{
	ck_assert_int_eq(sysreg_write(&b->block, 1, enc, el, value), SYSREG_OK);
}

/* Any event of the table, and some that are none. */
static uint64_t random_type(uint64_t *r)
{
	unsigned n;
	const struct pmuv3_event_desc *events = pmuv3_events(&n);
	const unsigned pick = (unsigned)(rng(r) % (2 * n));
	const uint64_t filter = rng(r) % 4 ? rng(r) & rng(r) & 3 : 0;
	uint64_t number;

	if (pick < n)
		number = events[pick].number;
	else if (pick < n + 3)
		number = 0x3f;
	else if (pick < n + 8)
		number = CHAIN;
	else
		number = pick % 2 ? INST_RETIRED : CPU_CYCLES;
	return number | filter << 30;
}

/* A few hundred events before one wrap or the other. */
static uint64_t random_value(uint64_t *r)
{
	const uint64_t near = -(rng(r) % 600);

	return rng(r) & 1 ? near : near & UINT32_MAX;
}

static uint64_t random_pmcr(uint64_t *r)
{
	return (rng(r) & (D | LC | LP | DP | FZO)) | E;
}

static void randomise(struct bench *b, uint64_t seed)
{
	uint64_t r = seed;
	const unsigned counters = rng(&r) % 4 ? (unsigned)(rng(&r) % 7) : 31;
	struct pmuv3_config config = full(versions[rng(&r) % VERSIONS], counters);

	config.keeps_res0 = rng(&r) % 4 == 0;
	bench_init(b, &config);
	for (unsigned n = 0; n < counters; n++) {
		put(b, PMEVTYPER(n), random_type(&r), 1);
		put(b, PMEVCNTR(n), random_value(&r), 1);
	}
	put(b, PMCCFILTR_EL0, (rng(&r) & rng(&r) & 3) << 30, 1);
	put(b, PMCCNTR_EL0, random_value(&r), 1);
	put(b, PMUSERENR_EL0, rng(&r) & 2, 1);
	if (rng(&r) & 1)
		put(b, PMOVSSET_EL0, rng(&r) & rng(&r), 1);
	put(b, PMINTENSET_EL1, rng(&r), 1);
	put(b, PMCNTENSET_EL0, rng(&r) | rng(&r), 1);
	put(b, PMCR_EL0, random_pmcr(&r), 1);
	bus_log_skip(&b->log);
}

/* -- work ------------------------------------------------------------------ */

enum {
	PHASES = 8,
	MAX_INSNS = 300
};

/* What each instruction of a phase does; only what is asked for is told. */
struct work {
	unsigned el, insns, max_cpi;
	unsigned cycles[MAX_INSNS];
	uint32_t signal[MAX_INSNS][PMUV3_SIGNALS];
};

static void random_work(struct work *work, uint64_t *r)
{
	memset(work, 0, sizeof(*work));
	work->el = rng(r) & 1;
	work->insns = 1 + (unsigned)(rng(r) % MAX_INSNS);
	work->max_cpi = 1 + (unsigned)(rng(r) % 4);
	for (unsigned i = 0; i < work->insns; i++) {
		const unsigned cpi =
			work->max_cpi < 4 ? work->max_cpi : (unsigned)(rng(r) % 5);

		work->cycles[i] = cpi;
		for (unsigned s = 0; s < PMUV3_SIGNALS; s++) {
			const unsigned most = pmuv3_signal_max((enum pmuv3_signal)s);

			work->signal[i][s] =
				(uint32_t)(rng(r) % ((most ? most : cpi) + 1));
		}
	}
}

/* One step over @n instructions of @work from @from. */
static void step_over(struct bench *b, const struct work *work, unsigned from, unsigned n)
{
	uint32_t signal[PMUV3_SIGNALS] = {0};
	const uint32_t wanted = pmuv3_signals(&b->pmu);
	struct pmuv3_step step = {.insns = n, .el = work->el};

	for (unsigned i = from; i < from + n; i++) {
		step.cycles += work->cycles[i];
		for (unsigned s = 0; s < PMUV3_SIGNALS; s++)
			if (wanted >> s & 1)
				signal[s] += work->signal[i][s];
	}
	if (wanted >> (PMUV3_SIG_CYCLE + 1))
		step.signal = signal;
	b->now += step.cycles;
	pmuv3_advance(&b->pmu, &step);
}

static void finely(struct bench *b, const struct work *work)
{
	for (unsigned i = 0; i < work->insns; i++)
		step_over(b, work, i, 1);
}

static unsigned wraps_since(const struct bench *b, unsigned since)
{
	unsigned wraps = 0;

	for (unsigned i = since; i < b->log.n; i++)
		wraps += b->log.event[i].kind == TRACE_WRAP;
	return wraps;
}

/* Steps as long as the deadline and @cap allow. No wrap before the deadline's
 * instruction; and one there, where nothing but a steady rate counts. */
static void coarsely(struct bench *b, const struct work *work, uint64_t cap, uint64_t *r)
{
	for (unsigned from = 0; from < work->insns;) {
		const uint64_t deadline =
			pmuv3_deadline(&b->pmu, work->el, work->max_cpi);
		const int steady = work->max_cpi < 4 &&
				   !(pmuv3_signals(&b->pmu) >> (PMUV3_SIG_CYCLE + 1));
		const unsigned before = b->log.n;
		uint64_t n = work->insns - from, value;

		ck_assert_uint_gt(deadline, 0);
		if (n > cap)
			n = cap;
		if (n > deadline)
			n = deadline;
		step_over(b, work, from, (unsigned)n);
		if (n < deadline)
			ck_assert_uint_eq(wraps_since(b, before), 0);
		else if (steady)
			ck_assert_uint_gt(wraps_since(b, before), 0);
		from += (unsigned)n;
		if (rng(r) % 4 == 0) /* looking changes nothing */
			sysreg_read(&b->block, 1, PMCCNTR_EL0, 1, &value);
	}
}

/* -- register writes between the phases ------------------------------------ */

static void write_something(struct bench *b, uint64_t seed)
{
	uint64_t r = seed;
	const unsigned n = (unsigned)(rng(&r) % 32), what = (unsigned)(rng(&r) % 10);
	const int counter = n < b->pmu.config.counters;

	switch (what) {
	case 0:
		put(b, PMOVSCLR_EL0, rng(&r), 1);
		break;
	case 1:
		put(b, PMOVSSET_EL0, rng(&r) & rng(&r) & rng(&r), 1);
		break;
	case 2:
		put(b, PMCR_EL0, random_pmcr(&r) | (rng(&r) & (P | C)), 1);
		break;
	case 3:
		put(b, PMCR_EL0, 0, 1);
		put(b, PMCR_EL0, random_pmcr(&r), 1);
		break;
	case 4:
		put(b, PMSELR_EL0, n, 1);
		put(b, PMXEVTYPER_EL0, random_type(&r), 1);
		break;
	case 5:
		put(b, PMSELR_EL0, n, 1);
		put(b, PMXEVCNTR_EL0, random_value(&r), 1);
		put(b, PMCCNTR_EL0, random_value(&r), 1);
		break;
	case 6:
		put(b, PMCNTENCLR_EL0, rng(&r) & rng(&r), 1);
		break;
	case 7:
		put(b, PMCNTENSET_EL0, rng(&r), 1);
		break;
	case 8:
		put(b, PMSWINC_EL0, rng(&r), b->pmu.pmuserenr ? rng(&r) & 1 : 1);
		break;
	case 9:
		if (counter || n == PMUV3_CYCLE)
			pmuv3_inject(&b->pmu, n, rng(&r) % 700, rng(&r) & 1, rng(&r) & 1);
		break;
	}
}

/* -- the same -------------------------------------------------------------- */

static void ck_same(struct bench *a, struct bench *b)
{
	pmuv3_settle(&a->pmu);
	pmuv3_settle(&b->pmu);

	struct pmuv3 x = a->pmu, y = b->pmu;

	memset(&x.line, 0, sizeof(x.line));
	memset(&y.line, 0, sizeof(y.line));
	x.bus = NULL;
	y.bus = NULL;
	ck_assert_mem_eq(&x, &y, offsetof(struct pmuv3, signals));
	ck_assert_uint_eq(x.signals, y.signals);
	ck_assert_uint_eq(x.ngroups, y.ngroups);
	for (unsigned i = 0; i < x.ngroups; i++) {
		ck_assert_uint_eq(x.group[i].pending, 0);
		ck_assert_uint_eq(y.group[i].pending, 0);
		ck_assert_uint_eq(x.group[i].members, y.group[i].members);
		ck_assert_uint_eq(x.group[i].room, y.group[i].room);
	}
	ck_assert_uint_eq(a->now, b->now);
	ck_assert_int_eq(a->irq.level, b->irq.level);
	ck_assert_uint_eq(a->irq.driven, b->irq.driven);
	ck_assert_uint_eq(a->log.n, b->log.n);
	for (unsigned i = a->log.seen; i < a->log.n; i++)
		bus_log_next(&a->log, b->log.event[i].cycle, b->log.event[i].kind,
			     b->log.event[i].a, b->log.event[i].b);
	bus_log_skip(&b->log);
}

START_TEST(settle_long_steps_equal_single_instructions)
{
	static struct bench fine, coarse;
	static struct work work;
	unsigned wraps = 0, chained = 0, frozen = 0;

	for (uint64_t seed = 1; seed <= 500; seed++) {
		const uint64_t start =
			(seed + 500 * (uint64_t)_i) * UINT64_C(0x9e3779b97f4a7c15);
		uint64_t r = start ^ UINT64_C(0x5555555555555555), s = ~r;

		randomise(&fine, start);
		randomise(&coarse, start);
		for (unsigned phase = 0; phase < PHASES; phase++) {
			const uint64_t write = rng(&r);

			random_work(&work, &r);
			finely(&fine, &work);
			coarsely(&coarse, &work, 1 + rng(&r) % 200, &s);
			/* comparing settles; a write must do without */
			if (write % 2)
				ck_same(&fine, &coarse);
			write_something(&fine, write);
			write_something(&coarse, write);
			frozen += (fine.pmu.pmcr & FZO) && (fine.pmu.pmovs & 0x7fffffff);
		}
		ck_same(&fine, &coarse);
		wraps += wraps_since(&fine, 0);
		for (unsigned n = 1; n < fine.pmu.config.counters; n += 2)
			chained += (fine.pmu.pmevtyper[n] & 0xffff) == CHAIN &&
				   fine.pmu.pmevcntr[n] < 10;
	}
	/* the devices are not idle ones */
	ck_assert_uint_gt(wraps, 1500);
	ck_assert_uint_gt(chained, 10);
	ck_assert_uint_gt(frozen, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmuv3-settle");
	TCase *settle = tcase_create("settle");

	tcase_add_loop_test(settle, settle_long_steps_equal_single_instructions, 0, 4);
	tcase_set_timeout(settle, 30);
	suite_add_tcase(s, settle);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
