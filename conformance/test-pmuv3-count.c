/* SPDX-License-Identifier: MIT */
/*
 * What the PMU counts, when the next wrap is due, what is injected. Versions are
 * in test-pmuv3-versions.c, other events in test-pmuv3-events.c.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

/* -- counting --------------------------------------------------------------- */

START_TEST(count_events_count_what_the_table_says)
{
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVTYPER(1), CPU_CYCLES);
	wr(PMEVTYPER(2), SW_INCR);
	wr(PMEVTYPER(3), CHAIN);  /* not in this preset */
	wr(PMEVTYPER(4), 0x0411); /* 16 bits are compared */
	wr(PMCNTENSET_EL0, CYCLE | 0x1f);
	wr(PMCR_EL0, E | LC);
	step_of(&bench, 0, 10, 35);
	step_of(&bench, 1, 3, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 13);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 39);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(3)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(4)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(5)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 39);
	bus_log_end(&bench.log);
}
END_TEST

START_TEST(count_an_event_outside_the_preset_stays_still)
{
	static const uint16_t one[] = {CPU_CYCLES};
	struct pmuv3_config config = a57(2);

	config.events = one;
	config.nevents = 1;
	bench_init(&bench, &config);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVTYPER(1), CPU_CYCLES);
	wr(PMCNTENSET_EL0, 3);
	wr(PMCR_EL0, E);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 5);
}
END_TEST

START_TEST(count_needs_e_and_enable)
{
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMCNTENSET_EL0, CYCLE | 1);
	run(0, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	wr(PMCR_EL0, E);
	run(0, 10);
	wr(PMCNTENCLR_EL0, 1);
	run(0, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 10);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 20);
	wr(PMCNTENCLR_EL0, CYCLE);
	run(0, 10);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 20);
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, 0);
	run(0, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 10);
}
END_TEST

/* P and U decide alone; the bits for EL2, EL3 and Secure state change nothing
 * where those are not. */
START_TEST(count_filters_by_level)
{
	const uint64_t others = (uint64_t)_i << 25; /* MT M NSH NSU NSK */

	for (unsigned filter = 0; filter < 4; filter++) {
		const uint64_t bits = (uint64_t)filter << 30 | others;

		use(2);
		wr(PMEVTYPER(1), bits | INST_RETIRED);
		wr(PMCCFILTR_EL0, bits);
		wr(PMCNTENSET_EL0, CYCLE | 2);
		wr(PMCR_EL0, E | LC);
		run(0, 100);
		run(1, 7);

		const uint64_t want =
			(bits & NOT_EL0 ? 0 : 100) + (bits & NOT_EL1 ? 0 : 7);

		ck_assert_uint_eq(rd(PMEVCNTR(1)), want);
		ck_assert_uint_eq(rd(PMCCNTR_EL0), want);
	}
}
END_TEST

START_TEST(count_a_new_type_acts_at_once)
{
	count_instructions(0);
	step_of(&bench, 0, 1, 10);
	wr(PMEVTYPER(0), CPU_CYCLES);
	step_of(&bench, 0, 1, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 11);
	wr(PMSELR_EL0, 0);
	wr(PMXEVTYPER_EL0, NOT_EL0 | CPU_CYCLES);
	step_of(&bench, 0, 1, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 11);
	wr(PMXEVTYPER_EL0, INST_RETIRED);
	step_of(&bench, 0, 1, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 12);

	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCCFILTR_EL0, NOT_EL0);
	run(0, 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	wr(PMSELR_EL0, 31);
	wr(PMXEVTYPER_EL0, NOT_EL1);
	run(0, 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 5);
}
END_TEST

/* What was counted before a write was counted under the old configuration, on
 * the counters that the write is not about too. */
START_TEST(count_writes_come_after_what_was_counted)
{
	count_instructions(0);
	wr(PMCNTENSET_EL0, CYCLE);
	run(0, 10);
	wr(PMCCFILTR_EL0, NOT_EL0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 10);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 10);
	wr(PMCCFILTR_EL0, 0);
	run(0, 10);
	wr(PMCCNTR_EL0, 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 20);
	run(0, 10);
	wr(PMEVCNTR(0), 3);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 3);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 15);
	run(0, 10);
	pmuv3_inject(&bench.pmu, 0, 4, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 17);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 25);
	run(0, 10);
	wr(PMCR_EL0, E | D); /* divides from here on */
	run(0, 64);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 36);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 91);
	run(0, 10);
	wr(PMCR_EL0, 0);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 101);
}
END_TEST

/* A6 */
START_TEST(count_cycles_flag_at_bit_31_without_lc)
{
	use_version(versions[_i], 6);
	wr(PMCCNTR_EL0, UINT64_C(0x5ffffffff));
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E);
	run(0, 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0x600000000));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE);
	bus_log_next(&bench.log, 1, TRACE_WRAP, 31, UINT64_C(0x600000000));
}
END_TEST

START_TEST(count_cycles_flag_at_bit_63_with_lc)
{
	use_version(versions[_i], 6);
	wr(PMCCNTR_EL0, UINT64_C(0x5ffffffff));
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E | LC);
	run(0, 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0x600000000));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	wr(PMCCNTR_EL0, UINT64_MAX - 1);
	run(0, 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	run(0, 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE);
}
END_TEST

START_TEST(count_cycles_divided_only_without_lc)
{
	use_version(versions[_i], 6);
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E | D | LC);
	run(0, 6400);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 6400);
	wr(PMCR_EL0, E | D);
	run(0, 6400);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 6500);
}
END_TEST

START_TEST(count_cycles_divider_keeps_its_remainder)
{
	use_version(versions[_i], 6);
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E | D);
	run(0, 63);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	run(0, 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 1);
	run(0, 100);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 2);
	run(0, 28);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 3);
	run(0, 63);
	wr(PMCR_EL0, E | D | C); /* restarts the divider */
	run(0, 63);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	run(0, 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 1);
}
END_TEST

/* D divides PMCCNTR only; DP stops nothing where nothing is prohibited. */
START_TEST(count_cpu_cycles_on_an_event_counter_is_not_divided)
{
	wr(PMEVTYPER(0), CPU_CYCLES);
	wr(PMCNTENSET_EL0, CYCLE | 1);
	wr(PMCR_EL0, E | D | DP);
	run(1, 640);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 640);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 10);
}
END_TEST

START_TEST(count_swinc_counts_on_enabled_sw_incr_counters)
{
	wr(PMEVTYPER(0), SW_INCR);
	wr(PMEVTYPER(1), INST_RETIRED);
	wr(PMEVTYPER(2), SW_INCR);
	wr(PMEVTYPER(3), SW_INCR);
	wr(PMCNTENSET_EL0, CYCLE | 0x0b);
	wr(PMSWINC_EL0, UINT64_MAX); /* E = 0 */
	wr(PMCR_EL0, E);
	wr(PMSWINC_EL0, UINT64_C(0xfffffff7)); /* all but 3 */
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0); /* not enabled */
	ck_assert_uint_eq(rd(PMEVCNTR(3)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	wr(PMSWINC_EL0, 8);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(3)), 1);
}
END_TEST

START_TEST(count_swinc_passes_the_filter_of_the_writers_level)
{
	wr(PMEVTYPER(0), NOT_EL1 | SW_INCR);
	wr(PMEVTYPER(1), NOT_EL0 | SW_INCR);
	wr(PMCNTENSET_EL0, 3);
	wr(PMCR_EL0, E);
	wr(PMUSERENR_EL0, 2);
	wr(PMSWINC_EL0, 3);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
	ck_assert_int_eq(sysreg_write(&bench.block, 1, PMSWINC_EL0, 0, 3), SYSREG_OK);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
}
END_TEST

START_TEST(count_swinc_wraps_raise_flags_and_line)
{
	wr(PMEVTYPER(2), SW_INCR);
	wr(PMEVCNTR(2), UINT32_MAX);
	wr(PMCNTENSET_EL0, 4);
	wr(PMINTENSET_EL1, 4);
	wr(PMCR_EL0, E);
	wr(PMSWINC_EL0, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0);
	bus_log_next(&bench.log, 0, TRACE_WRAP, 2, 0);
	bus_log_next(&bench.log, 0, TRACE_FLAG_SET, 4, 4);
	bus_log_next(&bench.log, 0, TRACE_LINE, 23, 1);
	bus_log_end(&bench.log);
}
END_TEST

/* -- deadline --------------------------------------------------------------- */

START_TEST(deadline_is_never_when_nothing_counts_by_itself)
{
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX);
	wr(PMEVTYPER(0), SW_INCR);
	wr(PMEVTYPER(1), CHAIN);
	wr(PMEVTYPER(2), NOT_EL0 | INST_RETIRED);
	wr(PMCNTENSET_EL0, 7);
	wr(PMCR_EL0, E | LC);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 1, 1), UINT64_C(1) << 32);
	wr(PMCNTENSET_EL0, CYCLE);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX); /* 2^64 */
	wr(PMCCNTR_EL0, 1);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX);
	wr(PMCCNTR_EL0, 2);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX - 1);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 0), UINT64_MAX);
}
END_TEST

/* An interrupt is not asked for: a wrap is on the bus all the same. */
START_TEST(deadline_is_the_nearest_wrap_of_any_counter)
{
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVTYPER(1), CPU_CYCLES);
	wr(PMEVCNTR(0), UINT64_C(0x100000000) - 1000);
	wr(PMEVCNTR(1), UINT64_C(0x100000000) - 2000);
	wr(PMCCNTR_EL0, -UINT64_C(1501));
	wr(PMCNTENSET_EL0, CYCLE | 3);
	wr(PMCR_EL0, E | LC);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 1000);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 2), 751);
	wr(PMCNTENCLR_EL0, CYCLE);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 2), 1000);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 3), 667);
	wr(PMCR_EL0, 0);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX);
}
END_TEST

START_TEST(deadline_knows_the_divider)
{
	wr(PMCCNTR_EL0, UINT64_C(0xabcdef00fffffffe));
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E | D);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 128);
	run(0, 10);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 118);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 5), 24);
	wr(PMCR_EL0, E);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 2);
}
END_TEST

/* -- injection -------------------------------------------------------------- */

START_TEST(inject_counts_like_hardware)
{
	count_instructions(0xfffffff0);
	wr(PMINTENSET_EL1, 1);
	bench.now = 9;
	ck_assert_int_eq(pmuv3_inject(&bench.pmu, 0, 15, 0, false), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), UINT32_MAX);
	bus_log_next(&bench.log, 9, TRACE_INJECT, 0, 15);
	bus_log_end(&bench.log);
	ck_assert_int_eq(pmuv3_inject(&bench.pmu, 0, 3, 0, false), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 2);
	bus_log_next(&bench.log, 9, TRACE_INJECT, 0, 3);
	bus_log_next(&bench.log, 9, TRACE_WRAP, 0, 2);
	bus_log_next(&bench.log, 9, TRACE_FLAG_SET, 1, 1);
	bus_log_next(&bench.log, 9, TRACE_LINE, 23, 1);
	bus_log_end(&bench.log);
}
END_TEST

START_TEST(inject_obeys_enable_and_filter_unless_forced)
{
	wr(PMEVTYPER(0), NOT_EL1 | INST_RETIRED);
	wr(PMCNTENSET_EL0, 1);
	pmuv3_inject(&bench.pmu, 0, 5, 0, false); /* E = 0 */
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	wr(PMCR_EL0, E);
	pmuv3_inject(&bench.pmu, 0, 5, 1, false);
	pmuv3_inject(&bench.pmu, 1, 5, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
	pmuv3_inject(&bench.pmu, 0, 5, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 5);
	pmuv3_inject(&bench.pmu, 0, 5, 1, true);
	pmuv3_inject(&bench.pmu, 1, 5, 1, true);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 10);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 5);
}
END_TEST

START_TEST(inject_many_wraps_set_the_flag_once)
{
	count_instructions(7);
	wr(PMCNTENSET_EL0, CYCLE);
	pmuv3_inject(&bench.pmu, 0, UINT64_C(0x300000000), 0, false);
	bus_log_skip(&bench.log);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 7);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	wr(PMOVSCLR_EL0, 1);
	pmuv3_inject(&bench.pmu, 0, UINT64_MAX, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 6);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);

	wr(PMCCNTR_EL0, 5);
	pmuv3_inject(&bench.pmu, 31, UINT64_C(0x300000000), 0, false);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0x300000005));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	wr(PMCR_EL0, E);
	pmuv3_inject(&bench.pmu, 31, UINT64_C(0x300000000), 0, false);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0x600000005));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE | 1);
	wr(PMCR_EL0, E | D);
	wr(PMOVSCLR_EL0, CYCLE);
	pmuv3_inject(&bench.pmu, 31, UINT64_MAX, 0, false);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0x600000005) + (UINT64_MAX >> 6));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE | 1);
}
END_TEST

START_TEST(inject_refuses_a_counter_that_is_not_there)
{
	ck_assert_int_eq(pmuv3_inject(&bench.pmu, 6, 1, 0, true), -EINVAL);
	ck_assert_int_eq(pmuv3_inject(&bench.pmu, 32, 1, 0, true), -EINVAL);
	ck_assert_int_eq(pmuv3_inject(&bench.pmu, 31, 1, 0, true), 0);
	bus_log_next(&bench.log, 0, TRACE_INJECT, 31, 1);
	bus_log_end(&bench.log);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmuv3-count");
	TCase *count = tcase_create("count");

	tcase_add_checked_fixture(count, six_counters, NULL);
	tcase_add_test(count, count_events_count_what_the_table_says);
	tcase_add_test(count, count_an_event_outside_the_preset_stays_still);
	tcase_add_test(count, count_needs_e_and_enable);
	tcase_add_loop_test(count, count_filters_by_level, 0, 32);
	tcase_add_test(count, count_a_new_type_acts_at_once);
	tcase_add_test(count, count_writes_come_after_what_was_counted);
	tcase_add_loop_test(count, count_cycles_flag_at_bit_31_without_lc, 0, VERSIONS);
	tcase_add_loop_test(count, count_cycles_flag_at_bit_63_with_lc, 0, VERSIONS);
	tcase_add_loop_test(count, count_cycles_divided_only_without_lc, 0, VERSIONS);
	tcase_add_loop_test(count, count_cycles_divider_keeps_its_remainder, 0, VERSIONS);
	tcase_add_test(count, count_cpu_cycles_on_an_event_counter_is_not_divided);
	tcase_add_test(count, count_swinc_counts_on_enabled_sw_incr_counters);
	tcase_add_test(count, count_swinc_passes_the_filter_of_the_writers_level);
	tcase_add_test(count, count_swinc_wraps_raise_flags_and_line);
	tcase_add_test(count, deadline_is_never_when_nothing_counts_by_itself);
	tcase_add_test(count, deadline_is_the_nearest_wrap_of_any_counter);
	tcase_add_test(count, deadline_knows_the_divider);
	tcase_add_test(count, inject_counts_like_hardware);
	tcase_add_test(count, inject_obeys_enable_and_filter_unless_forced);
	tcase_add_test(count, inject_many_wraps_set_the_flag_once);
	tcase_add_test(count, inject_refuses_a_counter_that_is_not_there);
	suite_add_tcase(s, count);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
