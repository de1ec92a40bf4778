/* SPDX-License-Identifier: MIT */
/*
 * The event table: numbers and names as the manual has them, the signal that
 * each event counts, PMCEID, and what pmuv3_signals() and pmuv3_deadline() make
 * of events other than instructions and cycles.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

#define SIG(name) PMUV3_SIG_##name

/* Arm ARM, D13.12.3 "Common event numbers". */
/* clang-format off */
static const struct {
	unsigned number;
	const char *name;
	unsigned signal;
	unsigned most; /* an instruction; 0: its cycles */
} expected[] = {
	{ 0x00, "SW_INCR",		  PMUV3_SIGNALS,       0 },
	{ 0x01, "L1I_CACHE_REFILL",	  SIG(L1I_REFILL),     1 },
	{ 0x03, "L1D_CACHE_REFILL",	  SIG(L1D_REFILL),     8 },
	{ 0x04, "L1D_CACHE",		  SIG(L1D),	       8 },
	{ 0x06, "LD_RETIRED",		  SIG(LD),	       1 },
	{ 0x07, "ST_RETIRED",		  SIG(ST),	       1 },
	{ 0x08, "INST_RETIRED",		  SIG(INSN),	       1 },
	{ 0x09, "EXC_TAKEN",		  SIG(EXC_TAKEN),      2 },
	{ 0x0a, "EXC_RETURN",		  SIG(EXC_RETURN),     1 },
	{ 0x0b, "CID_WRITE_RETIRED",	  SIG(CID_WRITE),      1 },
	{ 0x0c, "PC_WRITE_RETIRED",	  SIG(PC_WRITE),       1 },
	{ 0x0d, "BR_IMMED_RETIRED",	  SIG(BR_IMMED),       1 },
	{ 0x0e, "BR_RETURN_RETIRED",	  SIG(BR_RETURN),      1 },
	{ 0x0f, "UNALIGNED_LDST_RETIRED", SIG(UNALIGNED),      1 },
	{ 0x10, "BR_MIS_PRED",		  SIG(BR_MIS_PRED),    1 },
	{ 0x11, "CPU_CYCLES",		  SIG(CYCLE),	       0 },
	{ 0x12, "BR_PRED",		  SIG(BR_PRED),	       1 },
	{ 0x13, "MEM_ACCESS",		  SIG(MEM),	       4 },
	{ 0x14, "L1I_CACHE",		  SIG(L1I),	       1 },
	{ 0x1b, "INST_SPEC",		  SIG(INST_SPEC),      1 },
	{ 0x1d, "BUS_CYCLES",		  SIG(BUS_CYCLES),     0 },
	{ 0x1e, "CHAIN",		  PMUV3_SIGNALS,       0 },
	{ 0x21, "BR_RETIRED",		  SIG(BR),	       1 },
	{ 0x23, "STALL_FRONTEND",	  SIG(STALL_FRONTEND), 0 },
	{ 0x24, "STALL_BACKEND",	  SIG(STALL_BACKEND),  0 },
};
/* clang-format on */

enum {
	NEXPECTED = sizeof(expected) / sizeof(expected[0])
};

START_TEST(events_are_the_manuals)
{
	unsigned n;
	const struct pmuv3_event_desc *desc = pmuv3_events(&n);
	uint32_t signals = 0;

	ck_assert_uint_eq(n, NEXPECTED);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(desc[i].number, expected[i].number);
		ck_assert_str_eq(desc[i].name, expected[i].name);
		ck_assert_uint_eq(desc[i].signal, expected[i].signal);
		ck_assert_uint_gt(strlen(desc[i].rule), 5);
		if (desc[i].signal == PMUV3_SIGNALS)
			continue;
		ck_assert_uint_eq(pmuv3_signal_max(desc[i].signal), expected[i].most);
		signals |= UINT32_C(1) << desc[i].signal;
	}
	/* none without an event */
	ck_assert_uint_eq(signals, (UINT32_C(1) << PMUV3_SIGNALS) - 1);
}
END_TEST

START_TEST(events_say_which_model_they_need)
{
	static const struct {
		unsigned number;
		const char *model;
	} needs[] = {
		{0x01, "cache"},     {0x03, "cache"},	  {0x04, "cache"},
		{0x10, "predictor"}, {0x12, "predictor"}, {0x14, "cache"},
		{0x1d, "timing"},    {0x23, "timing"},	  {0x24, "timing"},
	};
	unsigned n, need = 0;
	const struct pmuv3_event_desc *desc = pmuv3_events(&n);

	for (unsigned i = 0; i < n; i++) {
		if (need < 9 && desc[i].number == needs[need].number)
			ck_assert_str_eq(desc[i].model, needs[need++].model);
		else
			ck_assert_ptr_null(desc[i].model);
	}
	ck_assert_uint_eq(need, 9);
}
END_TEST

/* Every signal has a count of its own, so that a wrong one shows. */
START_TEST(events_count_their_signal_and_no_other)
{
	uint32_t signals[PMUV3_SIGNALS];
	struct pmuv3_step step = {.insns = 1000, .cycles = 3000, .signal = signals};
	const unsigned number = expected[_i].number, signal = expected[_i].signal;
	uint64_t want = 0;

	for (unsigned i = 0; i < PMUV3_SIGNALS; i++)
		signals[i] = 100 + i;
	if (signal == PMUV3_SIG_INSN)
		want = 1000;
	else if (signal == PMUV3_SIG_CYCLE)
		want = 3000;
	else if (signal != PMUV3_SIGNALS)
		want = 100 + signal;

	use_version(PMUV3_P5, 6);
	wr(PMEVTYPER(0), number);
	wr(PMEVTYPER(1), NOT_EL1 | number);
	wr(PMEVTYPER(2), NOT_EL0 | number);
	wr(PMEVTYPER(3), number); /* stays off */
	wr(PMCNTENSET_EL0, CYCLE | 7);
	wr(PMCR_EL0, E | LC);
	pmuv3_advance(&bench.pmu, &step);
	step.el = 1;
	pmuv3_advance(&bench.pmu, &step);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 2 * want);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), want);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), want);
	ck_assert_uint_eq(rd(PMEVCNTR(3)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 6000);

	step.signal = NULL; /* instructions and cycles only */
	pmuv3_advance(&bench.pmu, &step);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), signal <= PMUV3_SIG_CYCLE ? 2 * want : want);
}
END_TEST

START_TEST(events_tell_which_signals_are_wanted)
{
	const unsigned number = expected[_i].number, signal = expected[_i].signal;
	const uint32_t bit = signal == PMUV3_SIGNALS ? 0 : UINT32_C(1) << signal;

	use_version(PMUV3_P5, 6);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 0);
	wr(PMEVTYPER(3), NOT_EL0 | number);
	wr(PMCNTENSET_EL0, 8);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 0);
	wr(PMCR_EL0, E);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), bit);
	wr(PMCNTENSET_EL0, CYCLE);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), bit | 1u << PMUV3_SIG_CYCLE);
	wr(PMEVTYPER(3), NOT_EL0 | NOT_EL1 | number); /* counts nowhere */
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 1u << PMUV3_SIG_CYCLE);
	wr(PMEVTYPER(3), 0x3f); /* no event */
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 1u << PMUV3_SIG_CYCLE);
	wr(PMCNTENCLR_EL0, CYCLE);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 0);
}
END_TEST

/* The instruction at which the wrap may be at the earliest: each making as many
 * events as it can. */
START_TEST(events_deadline_is_the_earliest_wrap)
{
	const unsigned number = expected[_i].number;
	const int counts = expected[_i].signal != PMUV3_SIGNALS;

	use_version(PMUV3_P7, 6);
	wr(PMEVTYPER(0), NOT_EL1 | number);
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, E | LC | LP);
	for (unsigned room = 1; room < 40; room++) {
		const unsigned cpi = 1 + room % 5;
		const unsigned most = expected[_i].most ? expected[_i].most : cpi;
		uint64_t insns = 0;

		while (insns * most < room)
			insns++;
		wr(PMEVCNTR(0), -(uint64_t)room);
		ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, cpi),
				  counts ? insns : UINT64_MAX);
		ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 1, cpi), UINT64_MAX);
	}
	/* events that do not come leave it where it is */
	if (!counts || expected[_i].signal <= PMUV3_SIG_CYCLE)
		return;
	wr(PMEVCNTR(0), -UINT64_C(64));
	run(0, 1000);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 2),
			  64 / (expected[_i].most ? expected[_i].most : 2));
	run_signal(0, 1000, expected[_i].signal, 63);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 2), 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	run_signal(0, 1, expected[_i].signal, 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
}
END_TEST

/* One instruction may make several: the wrap leaves the rest in the counter. */
START_TEST(events_of_one_instruction_may_pass_the_wrap)
{
	use_version(PMUV3_P0, 2);
	wr(PMEVTYPER(0), 0x13);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, E);
	run_signal(0, 1, PMUV3_SIG_MEM, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 3);
	bus_log_next(&bench.log, 1, TRACE_WRAP, 0, 3);
	bus_log_next(&bench.log, 1, TRACE_FLAG_SET, 1, 1);
	bus_log_end(&bench.log);
}
END_TEST

START_TEST(events_make_pmceid)
{
	static const uint16_t numbers[] = {0x1f,   0x20,   0x3f,   0x40,   0x4000,
					   0x401f, 0x4020, 0x403f, 0x4040, 0x8000};
	const enum pmuv3_version version = versions[_i];
	uint64_t pmceid[2] = {42, 42};

	pmuv3_pmceid(numbers, 10, version, pmceid);
	if (version == PMUV3_P0) {
		ck_assert_uint_eq(pmceid[0], UINT64_C(0x80000000));
		ck_assert_uint_eq(pmceid[1], UINT64_C(0x80000001));
	} else {
		ck_assert_uint_eq(pmceid[0], UINT64_C(0x8000000180000000));
		ck_assert_uint_eq(pmceid[1], UINT64_C(0x8000000180000001));
	}
	pmuv3_pmceid(numbers, 0, version, pmceid);
	ck_assert_uint_eq(pmceid[0] | pmceid[1], 0);

	use_version(version, 6);
	ck_assert_uint_eq(rd(PMCEID0_EL0), 0x681fffdb);
	ck_assert_uint_eq(rd(PMCEID1_EL0), 0x1a);
	six_counters();
	ck_assert_uint_eq(rd(PMCEID0_EL0), 0x20101);
	ck_assert_uint_eq(rd(PMCEID1_EL0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmuv3-events");
	TCase *events = tcase_create("events");

	tcase_add_test(events, events_are_the_manuals);
	tcase_add_test(events, events_say_which_model_they_need);
	tcase_add_loop_test(events, events_count_their_signal_and_no_other, 0, NEXPECTED);
	tcase_add_loop_test(events, events_tell_which_signals_are_wanted, 0, NEXPECTED);
	tcase_add_loop_test(events, events_deadline_is_the_earliest_wrap, 0, NEXPECTED);
	tcase_add_test(events, events_of_one_instruction_may_pass_the_wrap);
	tcase_add_loop_test(events, events_make_pmceid, 0, VERSIONS);
	suite_add_tcase(s, events);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
