/* SPDX-License-Identifier: MIT */
/*
 * What came with the versions: CHAIN, 64-bit event counters, freezing, the bits
 * of each. Loop tests run over all versions, or those that have the thing.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

#define TWO32 UINT64_C(0x100000000)

static int wide(enum pmuv3_version version)
{
	return version >= PMUV3_P5;
}

/* A value of 33 bits as the version's counter has it. */
static uint64_t as(enum pmuv3_version version, uint64_t value)
{
	return wide(version) ? value : value & UINT32_MAX;
}

/* -- CHAIN ----------------------------------------------------------------- */

/* Counter 0 counts @event, counter 1 CHAIN, both on. */
static void chained(enum pmuv3_version version, unsigned event)
{
	use_version(version, 6);
	wr(PMEVTYPER(0), event);
	wr(PMEVTYPER(1), CHAIN);
	wr(PMCNTENSET_EL0, 3);
	wr(PMCR_EL0, E | LC);
}

/* A2 */
START_TEST(chain_counts_the_wraps_of_the_even_counter)
{
	const enum pmuv3_version version = versions[_i];

	chained(version, SW_INCR);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMSWINC_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), as(version, TWO32));
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);

	wr(PMOVSCLR_EL0, 1);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMEVCNTR(1), UINT32_MAX);
	bus_log_skip(&bench.log);
	wr(PMSWINC_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), as(version, TWO32));
	ck_assert_uint_eq(rd(PMEVCNTR(1)), as(version, TWO32));
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 3);
	bus_log_next(&bench.log, 0, TRACE_WRAP, 0, as(version, TWO32));
	bus_log_next(&bench.log, 0, TRACE_WRAP, 1, as(version, TWO32));
	bus_log_next(&bench.log, 0, TRACE_FLAG_SET, 3, 3);
	bus_log_end(&bench.log);

	wr(PMCNTENCLR_EL0, 2);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMEVCNTR(1), 7);
	wr(PMSWINC_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 7);

	wr(PMCNTENSET_EL0, 2);
	wr(PMSWINC_EL0, 2); /* CHAIN is not SW_INCR */
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 7);
}
END_TEST

START_TEST(chain_counts_at_the_very_instruction)
{
	const enum pmuv3_version version = versions[_i];

	chained(version, INST_RETIRED);
	wr(PMEVCNTR(0), TWO32 - 100);
	wr(PMEVCNTR(1), 5);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 100);
	run(0, 99);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 5);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 6);
	bus_log_next(&bench.log, 100, TRACE_WRAP, 0, as(version, TWO32));
	bus_log_next(&bench.log, 100, TRACE_FLAG_SET, 1, 1);
	bus_log_end(&bench.log);
	/* the flag still set: the next wrap is counted all the same */
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 7);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), TWO32);
}
END_TEST

START_TEST(chain_passes_the_odd_counters_own_filter)
{
	chained(versions[_i], INST_RETIRED);
	wr(PMEVTYPER(1), NOT_EL1 | CHAIN);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(1, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
	wr(PMEVTYPER(1), NOT_EL0 | CHAIN);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
}
END_TEST

/* An even CHAIN counter never counts, nor does an odd one for another pair, and
 * the last counter of an odd number has no partner. */
START_TEST(chain_pairs_an_even_counter_with_the_next)
{
	use_version(versions[_i], 5);
	wr(PMEVTYPER(0), CHAIN);
	wr(PMEVTYPER(1), INST_RETIRED);
	wr(PMEVTYPER(2), CHAIN);
	wr(PMEVTYPER(3), CHAIN);
	wr(PMEVTYPER(4), INST_RETIRED);
	wr(PMEVCNTR(1), UINT32_MAX);
	wr(PMEVCNTR(4), UINT32_MAX);
	wr(PMCNTENSET_EL0, 0x1f);
	wr(PMCR_EL0, E | LC);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(3)), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0x12);
}
END_TEST

START_TEST(chain_outside_the_preset_stays_still)
{
	static const uint16_t three[] = {SW_INCR, INST_RETIRED, CPU_CYCLES};
	struct pmuv3_config config = full(versions[_i], 2);

	config.events = three;
	config.nevents = 3;
	bench_init(&bench, &config);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVTYPER(1), CHAIN);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMCNTENSET_EL0, 3);
	wr(PMCR_EL0, E | LC);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
}
END_TEST

START_TEST(chain_counts_every_wrap_of_an_injection)
{
	chained(versions[_i], INST_RETIRED);
	wr(PMEVCNTR(0), 7);
	pmuv3_inject(&bench.pmu, 0, 3 * TWO32, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), as(versions[_i], 3 * TWO32 + 7));
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 3);
	pmuv3_inject(&bench.pmu, 0, TWO32 - 8, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 3);
	pmuv3_inject(&bench.pmu, 0, 1, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 4);
	pmuv3_inject(&bench.pmu, 1, 5, 0, false); /* its own event, whatever that is */
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 9);
}
END_TEST

/* -- 64-bit event counters ------------------------------------------------- */

/* A3, from p5 on. */
START_TEST(wide_lp_only_moves_the_flag)
{
	chained(versions[_i], INST_RETIRED);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), TWO32);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);

	wr(PMOVSCLR_EL0, 1);
	wr(PMCR_EL0, E | LC | LP);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), TWO32);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);

	wr(PMEVCNTR(0), UINT64_MAX - 9);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 10);
	run(0, 9);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1); /* CHAIN never counts under LP */

	wr(PMEVCNTR(0), UINT64_MAX);
	wr(PMCR_EL0, E | LC); /* without LP it is bits 31:0 again */
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 2);
}
END_TEST

/* A3 with events that come one by one. */
START_TEST(wide_lp_holds_for_software_increments_and_injections)
{
	chained(versions[_i], SW_INCR);
	wr(PMCR_EL0, E | LC | LP);
	wr(PMEVCNTR(0), UINT32_MAX);
	wr(PMSWINC_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), TWO32);
	pmuv3_inject(&bench.pmu, 0, 3 * TWO32, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 4 * TWO32);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	wr(PMEVCNTR(0), UINT64_MAX);
	wr(PMSWINC_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
}
END_TEST

/* A3, before p5. */
START_TEST(narrow_upper_halves_and_lp_are_raz_wi)
{
	chained(versions[_i], INST_RETIRED);
	wr(PMEVCNTR(0), UINT64_C(0xfeedfacefffffffe));
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0xfffffffe);
	wr(PMSELR_EL0, 1);
	wr(PMXEVCNTR_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMXEVCNTR_EL0), UINT32_MAX);
	wr(PMCR_EL0, E | LC | LP);
	ck_assert_uint_eq(rd(PMCR_EL0) & LP, 0);
	run(0, 2);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 3);
}
END_TEST

START_TEST(wide_deadline_is_at_the_bit_that_lp_chooses)
{
	use_version(versions[_i], 2);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVCNTR(0), UINT64_C(0x7fffffff0));
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, E | LC);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 1, 1), 16);
	wr(PMCR_EL0, E | LC | LP);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 1, 1), -UINT64_C(0x7fffffff0));
	wr(PMEVCNTR(0), 0);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 1, 1), UINT64_MAX);
}
END_TEST

/* P clears all 64 bits, C none of them. */
START_TEST(wide_pmcr_p_clears_the_upper_half_too)
{
	use_version(versions[_i], 3);
	wr(PMEVCNTR(2), UINT64_MAX);
	wr(PMCR_EL0, C);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), UINT64_MAX);
	wr(PMCR_EL0, P);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0);
}
END_TEST

/* -- freezing, p7 ---------------------------------------------------------- */

/* Counters 0 and 1 count instructions, 2 software increments; PMCCNTR cycles. */
static void freezing(uint64_t pmcr)
{
	use_version(PMUV3_P7, 6);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVTYPER(1), INST_RETIRED);
	wr(PMEVTYPER(2), SW_INCR);
	wr(PMCNTENSET_EL0, CYCLE | 7);
	wr(PMCR_EL0, E | LC | pmcr);
}

START_TEST(freeze_stops_event_counters_after_the_overflowing_instruction)
{
	freezing(FZO);
	wr(PMEVCNTR(0), TWO32 - 10);
	run(0, 10);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 10); /* that instruction still counts */
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX - 9);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 1u << PMUV3_SIG_CYCLE);
	run(0, 5);
	run(1, 5);
	wr(PMSWINC_EL0, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), TWO32);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 10);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 20);
	wr(PMOVSCLR_EL0, 1);
	run(0, 1);
	wr(PMSWINC_EL0, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), TWO32 + 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 11);
	ck_assert_uint_eq(rd(PMEVCNTR(2)), 1);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 21);
}
END_TEST

START_TEST(freeze_with_dp_stops_cycles_too)
{
	freezing(FZO | DP);
	run(0, 3);
	wr(PMOVSSET_EL0, 2);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 3);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 3);
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), UINT64_MAX);
	ck_assert_uint_eq(pmuv3_signals(&bench.pmu), 0);
	wr(PMOVSCLR_EL0, 2);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 8);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 8);
}
END_TEST

START_TEST(freeze_is_not_for_the_cycle_counters_own_flag)
{
	freezing(FZO | DP);
	wr(PMCCNTR_EL0, UINT64_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE);
	run(0, 4);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 4);
}
END_TEST

/* The flag of a counter that is not enabled, set by hand, with INTEN 0. */
START_TEST(freeze_asks_for_fzo_and_any_flag_only)
{
	freezing(0);
	wr(PMOVSSET_EL0, 0x20);
	run(0, 2);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 2);
	wr(PMCR_EL0, E | LC | FZO);
	run(0, 3);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 2);
	pmuv3_inject(&bench.pmu, 0, 4, 0, false);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 2);
	pmuv3_inject(&bench.pmu, 0, 4, 0, true);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 6);
	wr(PMCR_EL0, E | LC);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 11);
}
END_TEST

START_TEST(freeze_lets_chain_see_the_wrap)
{
	freezing(FZO);
	wr(PMEVTYPER(1), CHAIN);
	wr(PMEVCNTR(0), UINT32_MAX);
	run(0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(1)), 1);
}
END_TEST

START_TEST(freeze_is_not_in_earlier_versions)
{
	use_version(versions[_i], 2);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMCNTENSET_EL0, CYCLE | 1);
	wr(PMOVSSET_EL0, 2);
	wr(PMCR_EL0, E | LC | FZO | DP);
	ck_assert_uint_eq(rd(PMCR_EL0) & (FZO | DP), 0);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 5);
}
END_TEST

/* -- bits ------------------------------------------------------------------ */

START_TEST(bits_events_have_10_and_from_p1_on_16)
{
	const int narrow = versions[_i] == PMUV3_P0;

	use_version(versions[_i], 2);
	wr(PMEVTYPER(0), 0xfc00 | INST_RETIRED);
	ck_assert_uint_eq(rd(PMEVTYPER(0)), narrow ? INST_RETIRED : 0xfc08);
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, E);
	run(0, 5);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), narrow ? 5 : 0);
}
END_TEST

/* Without EL2 and EL3 only P and U are there. */
START_TEST(bits_filters_of_absent_levels_are_res0)
{
	for (unsigned bits = 0; bits < 4; bits++) {
		const uint64_t filter = (uint64_t)bits << 30;

		use_version(versions[_i], 1);
		wr(PMEVTYPER(0), filter | 0x3e000000 | INST_RETIRED);
		wr(PMCCFILTR_EL0, filter | 0x3c000000);
		ck_assert_uint_eq(rd(PMEVTYPER(0)), filter | INST_RETIRED);
		ck_assert_uint_eq(rd(PMCCFILTR_EL0), filter);
		wr(PMCNTENSET_EL0, CYCLE | 1);
		wr(PMCR_EL0, E | LC);
		run(0, 100);
		run(1, 7);

		const uint64_t want = (bits & 1 ? 0 : 100) + (bits & 2 ? 0 : 7);

		ck_assert_uint_eq(rd(PMEVCNTR(0)), want);
		ck_assert_uint_eq(rd(PMCCNTR_EL0), want);
	}
}
END_TEST

/* Kept as QEMU keeps them, they change nothing, DP neither. */
START_TEST(bits_kept_res0_has_no_effect)
{
	struct pmuv3_config config = full(versions[_i], 1);

	config.keeps_res0 = true;
	bench_init(&bench, &config);
	wr(PMEVTYPER(0), 0x3e000000 | INST_RETIRED);
	wr(PMCCFILTR_EL0, 0x3c000000);
	ck_assert_uint_eq(rd(PMEVTYPER(0)), 0x3e000000 | INST_RETIRED);
	ck_assert_uint_eq(rd(PMCCFILTR_EL0), 0x3c000000);
	wr(PMCNTENSET_EL0, CYCLE | 1);
	wr(PMOVSSET_EL0, 1);
	wr(PMCR_EL0, E | LC | DP);
	ck_assert_uint_eq(rd(PMCR_EL0) & DP, DP);
	run(0, 100);
	run(1, 7);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 107);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 107);
}
END_TEST

START_TEST(bits_pmmir_comes_with_p4)
{
	struct pmuv3_config config = full(versions[_i], 1);
	uint64_t value = 42;

	config.pmmir = 0x10203;
	bench_init(&bench, &config);
	if (versions[_i] < PMUV3_P4) {
		ck_assert_int_eq(sysreg_read(&bench.block, 1, PMMIR_EL1, 1, &value),
				 SYSREG_UNDEF);
		ck_assert_uint_eq(value, 42);
	} else {
		ck_assert_uint_eq(rd(PMMIR_EL1), 0x10203);
	}
}
END_TEST

START_TEST(bits_versions_have_names)
{
	static const char *const names[] = {"p0", "p1", "p4", "p5", "p7"};

	ck_assert_str_eq(pmuv3_version_name(versions[_i]), names[_i]);
	ck_assert_int_eq(pmuv3_version_from_name(names[_i]), versions[_i]);
	ck_assert_ptr_null(pmuv3_version_name((enum pmuv3_version)2));
	ck_assert_int_eq(pmuv3_version_from_name("p2"), -1);
	ck_assert_int_eq(pmuv3_version_from_name(""), -1);
}
END_TEST

/* -- a driver's arithmetic ------------------------------------------------- */

/* A23: the 1000th event comes with interrupts masked, 40 more before they are
 * not. The line waits; the raw count says how late it is. */
START_TEST(late_handler_finds_the_events_since_the_wrap)
{
	const enum pmuv3_version version = versions[_i];
	const uint64_t top = wide(version) ? UINT64_C(0xffffffff00000000) : 0;

	/* what Linux writes: from p5 on with LP and ones above */
	use_version(version, 6);
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMCNTENSET_EL0, 1);
	wr(PMINTENSET_EL1, 1);
	wr(PMEVCNTR(0), top | 0xfffffc18); /* -1000 */
	wr(PMCR_EL0, E | LC | LP);
	run(0, 999);
	ck_assert_int_eq(bench.irq.level, 0);
	run(1, 1);
	ck_assert_int_eq(bench.irq.level, 1);
	run(1, 40);
	ck_assert_uint_eq(bench.irq.driven, 1);
	bus_log_next(&bench.log, 1000, TRACE_WRAP, 0, 0);
	bus_log_next(&bench.log, 1000, TRACE_FLAG_SET, 1, 1);
	bus_log_next(&bench.log, 1000, TRACE_LINE, 23, 1);
	bus_log_end(&bench.log);

	wr(PMOVSCLR_EL0, 1);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 40); /* in all 1040 */
	wr(PMEVCNTR(0), top | 0xfffffc40);	/* -(1000 - 40) */
	ck_assert_uint_eq(pmuv3_deadline(&bench.pmu, 0, 1), 960);
	run(0, 959);
	ck_assert_int_eq(bench.irq.level, 0);
	run(0, 1);
	ck_assert_int_eq(bench.irq.level, 1);
}
END_TEST

static void add(TCase *tcase, const TTest *test, int from)
{
	tcase_add_loop_test(tcase, test, from, VERSIONS);
}

int main(void)
{
	enum {
		FIRST = 0,
		WIDE = 3, /* versions[3] is p5 */
		FREEZES = 4
	};
	Suite *s = suite_create("pmuv3-versions");
	TCase *chain = tcase_create("chain"), *width = tcase_create("width");
	TCase *freeze = tcase_create("freeze"), *bits = tcase_create("bits");

	add(chain, chain_counts_the_wraps_of_the_even_counter, FIRST);
	add(chain, chain_counts_at_the_very_instruction, FIRST);
	add(chain, chain_passes_the_odd_counters_own_filter, FIRST);
	add(chain, chain_pairs_an_even_counter_with_the_next, FIRST);
	add(chain, chain_outside_the_preset_stays_still, FIRST);
	add(chain, chain_counts_every_wrap_of_an_injection, FIRST);
	suite_add_tcase(s, chain);

	add(width, wide_lp_only_moves_the_flag, WIDE);
	add(width, wide_lp_holds_for_software_increments_and_injections, WIDE);
	tcase_add_loop_test(width, narrow_upper_halves_and_lp_are_raz_wi, FIRST, WIDE);
	add(width, wide_deadline_is_at_the_bit_that_lp_chooses, WIDE);
	add(width, wide_pmcr_p_clears_the_upper_half_too, WIDE);
	suite_add_tcase(s, width);

	tcase_add_test(freeze,
		       freeze_stops_event_counters_after_the_overflowing_instruction);
	tcase_add_test(freeze, freeze_with_dp_stops_cycles_too);
	tcase_add_test(freeze, freeze_is_not_for_the_cycle_counters_own_flag);
	tcase_add_test(freeze, freeze_asks_for_fzo_and_any_flag_only);
	tcase_add_test(freeze, freeze_lets_chain_see_the_wrap);
	tcase_add_loop_test(freeze, freeze_is_not_in_earlier_versions, FIRST, FREEZES);
	suite_add_tcase(s, freeze);

	add(bits, bits_events_have_10_and_from_p1_on_16, FIRST);
	add(bits, bits_filters_of_absent_levels_are_res0, FIRST);
	add(bits, bits_kept_res0_has_no_effect, FIRST);
	add(bits, bits_pmmir_comes_with_p4, FIRST);
	add(bits, bits_versions_have_names, FIRST);
	add(bits, late_handler_finds_the_events_since_the_wrap, FIRST);
	suite_add_tcase(s, bits);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
