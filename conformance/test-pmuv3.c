/* SPDX-License-Identifier: MIT */
/*
 * The PMU's line, registers and reset. Counting is in test-pmuv3-count.c.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

/* -- the line --------------------------------------------------------------- */

/* A1. PMCNTEN has no say. */
START_TEST(line_is_e_and_flag_and_inten_whatever_is_enabled)
{
	use_version(versions[_i], 6);
	wr(PMCR_EL0, E);
	wr(PMINTENSET_EL1, 1);
	ck_assert_int_eq(bench.irq.level, 0);
	wr(PMOVSSET_EL0, 1);
	ck_assert_uint_eq(rd(PMCNTENSET_EL0), 0);
	ck_assert_int_eq(bench.irq.level, 1);
	wr(PMCR_EL0, 0);
	ck_assert_int_eq(bench.irq.level, 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
	wr(PMCR_EL0, E);
	ck_assert_int_eq(bench.irq.level, 1);
	wr(PMINTENCLR_EL1, 1);
	ck_assert_int_eq(bench.irq.level, 0);
	wr(PMINTENSET_EL1, 1); /* A14: on a flag already set, at once */
	ck_assert_int_eq(bench.irq.level, 1);
	wr(PMOVSCLR_EL0, 1);
	ck_assert_int_eq(bench.irq.level, 0);
	ck_assert_uint_eq(bench.irq.driven, 6);
}
END_TEST

START_TEST(line_needs_flag_and_inten_of_the_same_counter)
{
	wr(PMCR_EL0, E);
	wr(PMINTENSET_EL1, 2);
	wr(PMOVSSET_EL0, 1);
	ck_assert_int_eq(bench.irq.level, 0);
	wr(PMOVSSET_EL0, 2);
	ck_assert_int_eq(bench.irq.level, 1);
	wr(PMINTENSET_EL1, CYCLE);
	wr(PMOVSSET_EL0, CYCLE);
	wr(PMOVSCLR_EL0, 2); /* one of two reasons goes: still high */
	ck_assert_int_eq(bench.irq.level, 1);
	wr(PMOVSCLR_EL0, CYCLE);
	ck_assert_int_eq(bench.irq.level, 0);
	ck_assert_uint_eq(bench.irq.driven, 2);
}
END_TEST

START_TEST(line_rises_at_the_wrap_and_the_bus_tells_in_order)
{
	count_instructions(0xfffffff0);
	wr(PMINTENSET_EL1, 1);
	run(0, 15);
	bus_log_end(&bench.log);
	ck_assert_int_eq(bench.irq.level, 0);
	run(0, 1);
	ck_assert_int_eq(bench.irq.level, 1);
	bus_log_next(&bench.log, 16, TRACE_WRAP, 0, 0);
	bus_log_next(&bench.log, 16, TRACE_FLAG_SET, 1, 1);
	bus_log_next(&bench.log, 16, TRACE_LINE, 23, 1);
	bench.now = 40;
	wr(PMOVSCLR_EL0, 1);
	bus_log_next(&bench.log, 40, TRACE_FLAG_CLEAR, 1, 0);
	bus_log_next(&bench.log, 40, TRACE_LINE, 23, 0);
	wr(PMOVSCLR_EL0, 1);
	wr(PMOVSSET_EL0, 0);
	wr(PMCR_EL0, E | LC);
	bus_log_end(&bench.log);
	ck_assert_uint_eq(bench.irq.driven, 2);
}
END_TEST

START_TEST(line_wraps_of_one_instruction_are_one_change_of_flags)
{
	count_instructions(UINT32_MAX);
	wr(PMEVTYPER(4), CPU_CYCLES);
	wr(PMEVCNTR(4), UINT32_MAX);
	wr(PMCCNTR_EL0, UINT64_MAX);
	wr(PMCNTENSET_EL0, CYCLE | 0x10);
	wr(PMINTENSET_EL1, CYCLE | 0x11);
	run(1, 1);
	bus_log_next(&bench.log, 1, TRACE_WRAP, 0, 0);
	bus_log_next(&bench.log, 1, TRACE_WRAP, 4, 0);
	bus_log_next(&bench.log, 1, TRACE_WRAP, 31, 0);
	bus_log_next(&bench.log, 1, TRACE_FLAG_SET, CYCLE | 0x11, CYCLE | 0x11);
	bus_log_next(&bench.log, 1, TRACE_LINE, 23, 1);
	bus_log_end(&bench.log);
}
END_TEST

START_TEST(line_second_wrap_on_a_set_flag_is_a_wrap_only)
{
	count_instructions(UINT32_MAX);
	run(0, 1);
	wr(PMEVCNTR(0), UINT32_MAX);
	bus_log_skip(&bench.log);
	run(0, 1);
	bus_log_next(&bench.log, 2, TRACE_WRAP, 0, 0);
	bus_log_end(&bench.log);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 1);
}
END_TEST

START_TEST(line_falls_at_reset)
{
	wr(PMCR_EL0, E);
	wr(PMINTENSET_EL1, 1);
	wr(PMOVSSET_EL0, 1);
	bus_log_skip(&bench.log);
	pmuv3_reset(&bench.pmu);
	ck_assert_int_eq(bench.irq.level, 0);
	bus_log_next(&bench.log, 0, TRACE_FLAG_CLEAR, 1, 0);
	bus_log_next(&bench.log, 0, TRACE_LINE, 23, 0);
	bus_log_end(&bench.log);
}
END_TEST

/* -- registers -------------------------------------------------------------- */

/* A5 */
START_TEST(regs_masks_are_bit_31_and_n_low_bits)
{
	static const unsigned counters[] = {0, 1, 4, 6, 31};
	static const uint64_t masks[] = {0x80000000, 0x80000001, 0x8000000f, 0x8000003f,
					 0xffffffff};
	const unsigned n = counters[_i % 5];
	const uint64_t mask = masks[_i % 5];

	use_version(versions[_i / 5], n);
	ck_assert_uint_eq(rd(PMCR_EL0) >> 11 & 0x1f, n);
	wr(PMCNTENSET_EL0, UINT64_MAX);
	wr(PMINTENSET_EL1, UINT64_MAX);
	wr(PMOVSSET_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMCNTENSET_EL0), mask);
	ck_assert_uint_eq(rd(PMINTENSET_EL1), mask);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), mask);
	wr(PMCNTENCLR_EL0, UINT64_MAX);
	wr(PMINTENCLR_EL1, UINT64_MAX);
	wr(PMOVSCLR_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMCNTENCLR_EL0), 0);
	ck_assert_uint_eq(rd(PMINTENCLR_EL1), 0);
	ck_assert_uint_eq(rd(PMOVSCLR_EL0), 0);

	wr(PMCCNTR_EL0, UINT64_MAX);
	wr(PMCNTENSET_EL0, CYCLE);
	wr(PMCR_EL0, E | LC);
	run(1, 1);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), CYCLE); /* bits 63:32 are 0 */
}
END_TEST

/* A14 */
START_TEST(regs_set_and_clear_are_write_one_and_read_one_mask)
{
	static const uint32_t pairs[][2] = {
		{PMCNTENSET_EL0, PMCNTENCLR_EL0},
		{PMINTENSET_EL1, PMINTENCLR_EL1},
		{PMOVSSET_EL0, PMOVSCLR_EL0},
	};
	const uint32_t set = pairs[_i % 3][0], clr = pairs[_i % 3][1];

	use_version(versions[_i / 3], 6);
	wr(set, 0x0d);
	wr(set, 0);
	ck_assert_uint_eq(rd(set), 0x0d);
	ck_assert_uint_eq(rd(clr), 0x0d);
	wr(clr, 0);
	wr(clr, 0x24);
	ck_assert_uint_eq(rd(set), 0x09);
	ck_assert_uint_eq(rd(clr), 0x09);
	wr(set, 0x02);
	ck_assert_uint_eq(rd(clr), 0x0b);
}
END_TEST

/* A11 */
START_TEST(regs_pmcr_p_and_c_restart_their_own_counters)
{
	use_version(versions[_i], 6);
	wr(PMEVCNTR(0), 5);
	wr(PMEVCNTR(5), 6);
	wr(PMCCNTR_EL0, 7);
	wr(PMOVSSET_EL0, 0x80000001);
	wr(PMCR_EL0, E | P);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 0);
	ck_assert_uint_eq(rd(PMEVCNTR(5)), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 7);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0x80000001);
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000 | E);
	wr(PMEVCNTR(0), 5);
	wr(PMCR_EL0, E | C);
	ck_assert_uint_eq(rd(PMEVCNTR(0)), 5);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0x80000001);
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000 | E);
}
END_TEST

START_TEST(regs_pmcr_identity_is_read_only_and_lp_is_res0)
{
	wr(PMCR_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000 | E | D | X | DP | LC);
	wr(PMCR_EL0, 0);
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000);
}
END_TEST

/* A12 */
START_TEST(regs_pmselr_31_is_the_cycle_filter_and_no_counter)
{
	use_version(versions[_i % VERSIONS], _i < VERSIONS ? 6 : 31);
	wr(PMCCNTR_EL0, 0x1234);
	wr(PMCCFILTR_EL0, NOT_EL1);
	wr(PMSELR_EL0, 31);
	ck_assert_uint_eq(rd(PMXEVTYPER_EL0), NOT_EL1);
	wr(PMXEVTYPER_EL0, NOT_EL0 | CPU_CYCLES);
	ck_assert_uint_eq(rd(PMCCFILTR_EL0), NOT_EL0);
	ck_assert_uint_eq(rd(PMXEVTYPER_EL0), NOT_EL0);
	ck_assert_uint_eq(rd(PMXEVCNTR_EL0), 0);
	wr(PMXEVCNTR_EL0, 99);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0x1234);
	ck_assert_uint_eq(rd(PMXEVCNTR_EL0), 0);
}
END_TEST

START_TEST(regs_pmselr_selects_the_counter_or_nothing)
{
	struct pmuv3 before;

	for (unsigned n = 0; n < 6; n++) {
		wr(PMSELR_EL0, n);
		wr(PMXEVCNTR_EL0, 100 + n);
		wr(PMXEVTYPER_EL0, NOT_EL1 | n);
	}
	for (unsigned n = 0; n < 6; n++) {
		ck_assert_uint_eq(rd(PMEVCNTR(n)), 100 + n);
		ck_assert_uint_eq(rd(PMEVTYPER(n)), NOT_EL1 | n);
		wr(PMSELR_EL0, n);
		ck_assert_uint_eq(rd(PMXEVCNTR_EL0), 100 + n);
		ck_assert_uint_eq(rd(PMXEVTYPER_EL0), NOT_EL1 | n);
	}
	for (unsigned n = 6; n < 31; n++) {
		wr(PMSELR_EL0, n);
		before = bench.pmu;
		wr(PMXEVCNTR_EL0, UINT64_MAX);
		wr(PMXEVTYPER_EL0, UINT64_MAX);
		ck_assert_mem_eq(&bench.pmu, &before, sizeof(before));
		ck_assert_uint_eq(rd(PMXEVCNTR_EL0), 0);
		ck_assert_uint_eq(rd(PMXEVTYPER_EL0), 0);
	}
	wr(PMSELR_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMSELR_EL0), 31);
}
END_TEST

START_TEST(regs_counters_from_n_up_are_undefined)
{
	const unsigned counters[] = {0, 1, 6, 31};
	uint64_t value = 0;

	use(counters[_i]);
	for (unsigned n = 0; n < 31; n++) {
		const int want = n < counters[_i] ? SYSREG_OK : SYSREG_UNDEF;

		ck_assert_int_eq(sysreg_read(&bench.block, 1, PMEVCNTR(n), 1, &value),
				 want);
		ck_assert_int_eq(sysreg_write(&bench.block, 1, PMEVCNTR(n), 1, 1), want);
		ck_assert_int_eq(sysreg_read(&bench.block, 1, PMEVTYPER(n), 1, &value),
				 want);
		ck_assert_int_eq(sysreg_write(&bench.block, 1, PMEVTYPER(n), 1, 1), want);
	}
	ck_assert_int_eq(sysreg_read(&bench.block, 1, PMEVCNTR(31), 1, &value),
			 SYSREG_UNDEF);
}
END_TEST

START_TEST(regs_event_counters_are_32_bits_and_cycles_64)
{
	wr(PMEVCNTR(3), UINT64_MAX);
	wr(PMCCNTR_EL0, UINT64_C(0xfedcba9876543210));
	ck_assert_uint_eq(rd(PMEVCNTR(3)), UINT32_MAX);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), UINT64_C(0xfedcba9876543210));
	wr(PMEVTYPER(3), UINT64_MAX);
	ck_assert_uint_eq(rd(PMEVTYPER(3)), 0xfe00ffff); /* QEMU's: keeps_res0 */
	wr(PMCCFILTR_EL0, UINT64_MAX);
	ck_assert_uint_eq(rd(PMCCFILTR_EL0), 0xfc000000);
}
END_TEST

/* A13, for every value of PMUSERENR_EL0 and every register both ways. */
START_TEST(regs_pmuserenr_says_what_el0_may_do)
{
	enum {
		EN = 1,
		SW = 2,
		CR = 4,
		ER = 8,
		ALWAYS = 16,
		UNDEF = 0
	};
	/* clang-format off */
	static const struct {
		uint32_t enc;
		unsigned read, write; /* bits of which one is enough */
	} rights[] = {
		{ PMCR_EL0, EN, EN },		{ PMCNTENSET_EL0, EN, EN },
		{ PMCNTENCLR_EL0, EN, EN },	{ PMOVSCLR_EL0, EN, EN },
		{ PMOVSSET_EL0, EN, EN },	{ PMSWINC_EL0, UNDEF, EN | SW },
		{ PMSELR_EL0, EN | ER, EN | ER }, { PMCEID0_EL0, EN, UNDEF },
		{ PMCEID1_EL0, EN, UNDEF },	{ PMCCNTR_EL0, EN | CR, EN },
		{ PMXEVTYPER_EL0, EN, EN },	{ PMXEVCNTR_EL0, EN | ER, EN },
		{ PMEVCNTR(0), EN | ER, EN },	{ PMEVCNTR(5), EN | ER, EN },
		{ PMEVTYPER(0), EN, EN },	{ PMCCFILTR_EL0, EN, EN },
		{ PMUSERENR_EL0, ALWAYS, UNDEF }, { PMINTENSET_EL1, UNDEF, UNDEF },
		{ PMINTENCLR_EL1, UNDEF, UNDEF }, { PMEVCNTR(6), UNDEF, UNDEF },
	};
	/* clang-format on */
	const unsigned user = (unsigned)_i % 16;

	use_version(versions[_i / 16], 6);
	wr(PMUSERENR_EL0, ~UINT64_C(0xf) | user);
	ck_assert_uint_eq(rd(PMUSERENR_EL0), user);
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		const unsigned r = rights[i].read, w = rights[i].write;
		const struct pmuv3 before = bench.pmu;
		uint64_t value = 42;
		int got = sysreg_read(&bench.block, 1, rights[i].enc, 0, &value);

		ck_assert_int_eq(got, !r		    ? SYSREG_UNDEF
				      : (user | ALWAYS) & r ? SYSREG_OK
							    : SYSREG_TRAP_EL1);
		ck_assert(got == SYSREG_OK || value == 42);
		got = sysreg_write(&bench.block, 1, rights[i].enc, 0, 0);
		ck_assert_int_eq(got, !w		    ? SYSREG_UNDEF
				      : (user | ALWAYS) & w ? SYSREG_OK
							    : SYSREG_TRAP_EL1);
		ck_assert(got == SYSREG_OK ||
			  !memcmp(&bench.pmu, &before, sizeof(before)));
	}
}
END_TEST

START_TEST(regs_init_refuses_bad_configurations)
{
	static const uint16_t bad[] = {SW_INCR, 0x3fe};
	struct pmuv3_config config = a57(32);
	struct pmuv3 pmu;

	ck_assert_int_eq(pmuv3_init(&pmu, &config, (struct irq_line){0}, NULL), -EINVAL);
	config = a57(6);
	config.events = bad;
	config.nevents = 2;
	ck_assert_int_eq(pmuv3_init(&pmu, &config, (struct irq_line){0}, NULL), -EINVAL);
	config.nevents = 1;
	ck_assert_int_eq(pmuv3_init(&pmu, &config, (struct irq_line){0}, NULL), 0);
	for (unsigned version = 0; version < 16; version++) {
		const int known = version == 1 || (version >= 4 && version <= 7);

		config.version = (enum pmuv3_version)version;
		ck_assert_int_eq(pmuv3_init(&pmu, &config, (struct irq_line){0}, NULL),
				 known ? 0 : -EINVAL);
	}
}
END_TEST

/* -- reset ------------------------------------------------------------------ */

START_TEST(reset_is_zero_without_poison)
{
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000);
	ck_assert_uint_eq(rd(PMCNTENSET_EL0) | rd(PMINTENSET_EL1) | rd(PMOVSSET_EL0), 0);
	ck_assert_uint_eq(rd(PMCCNTR_EL0) | rd(PMCCFILTR_EL0) | rd(PMUSERENR_EL0), 0);
	for (unsigned n = 0; n < 6; n++)
		ck_assert_uint_eq(rd(PMEVCNTR(n)) | rd(PMEVTYPER(n)), 0);
	bus_log_end(&bench.log);
	ck_assert_uint_eq(bench.irq.driven, 0);
}
END_TEST

/* A15. The sequence is Linux's armv8pmu_reset(). */
START_TEST(reset_poison_is_survived_by_the_reset_of_linux)
{
	struct pmuv3_config config = full(versions[_i], 6);

	config.poison_reset = true;
	bench_init(&bench, &config);
	ck_assert_uint_eq(rd(PMCR_EL0) & (E | LC), 0);
	ck_assert_int_eq(!!(rd(PMCR_EL0) & LP), config.version >= PMUV3_P5);
	ck_assert_int_eq(!!(rd(PMCR_EL0) & FZO), config.version >= PMUV3_P7);
	ck_assert_int_eq(rd(PMEVCNTR(0)) > UINT32_MAX, config.version >= PMUV3_P5);
	ck_assert_uint_eq(rd(PMCNTENSET_EL0), 0x8000003f);
	ck_assert_uint_eq(rd(PMINTENSET_EL1), 0x8000003f);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0x8000003f);
	ck_assert_uint_ne(rd(PMCCNTR_EL0), 0);
	for (unsigned n = 0; n < 6; n++)
		ck_assert_uint_ne(rd(PMEVCNTR(n)), 0);
	run(1, 1000); /* E = 0: the boot counts nothing and raises nothing */
	ck_assert_uint_eq(bench.irq.driven, 0);

	wr(PMCNTENCLR_EL0, 0xffffffff);
	wr(PMINTENCLR_EL1, 0xffffffff);
	wr(PMOVSCLR_EL0, 0xffffffff);
	wr(PMCR_EL0, P | C | LC);
	ck_assert_uint_eq(rd(PMCNTENSET_EL0), 0);
	ck_assert_uint_eq(rd(PMINTENSET_EL1), 0);
	ck_assert_uint_eq(rd(PMOVSSET_EL0), 0);
	ck_assert_uint_eq(rd(PMCR_EL0), 0x41013000 | LC);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	wr(PMCR_EL0, E | LC);
	run(1, 1000);
	ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	ck_assert_uint_eq(bench.irq.driven, 0);
}
END_TEST

/* The other way round: a driver that forgets INTEN and OVS gets an interrupt. */
START_TEST(reset_poison_bites_a_driver_that_only_sets_e)
{
	struct pmuv3_config config = full(versions[_i], 6);

	config.poison_reset = true;
	bench_init(&bench, &config);
	wr(PMCR_EL0, E);
	ck_assert_int_eq(bench.irq.level, 1);
	run(0, 100);
	bus_log_next(&bench.log, 0, TRACE_FLAG_SET, 0x8000003f, 0x8000003f);
	bus_log_next(&bench.log, 0, TRACE_LINE, 23, 1);
	ck_assert_uint_gt(bench.log.n, 2); /* counters about to wrap did */
}
END_TEST

/* A second reset, after use, is as good as the first. */
START_TEST(reset_twice_gives_the_same_state)
{
	struct pmuv3_config config = full(versions[_i / 2], 6);

	config.poison_reset = _i % 2;
	bench_init(&bench, &config);

	const struct pmuv3 first = bench.pmu;

	wr(PMCNTENSET_EL0, CYCLE | 0x3f);
	wr(PMCCFILTR_EL0, 0);
	wr(PMEVTYPER(2), NOT_EL0 | CPU_CYCLES);
	wr(PMSELR_EL0, 3);
	wr(PMUSERENR_EL0, 0xf);
	wr(PMCR_EL0, E | D);
	run(1, 77);
	wr(PMINTENSET_EL1, 0x3f);
	pmuv3_reset(&bench.pmu);
	ck_assert_mem_eq(&bench.pmu, &first, sizeof(first));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmuv3");
	TCase *line = tcase_create("line"), *regs = tcase_create("regs");

	tcase_add_checked_fixture(line, six_counters, NULL);
	tcase_add_loop_test(line, line_is_e_and_flag_and_inten_whatever_is_enabled, 0,
			    VERSIONS);
	tcase_add_test(line, line_needs_flag_and_inten_of_the_same_counter);
	tcase_add_test(line, line_rises_at_the_wrap_and_the_bus_tells_in_order);
	tcase_add_test(line, line_wraps_of_one_instruction_are_one_change_of_flags);
	tcase_add_test(line, line_second_wrap_on_a_set_flag_is_a_wrap_only);
	tcase_add_test(line, line_falls_at_reset);
	suite_add_tcase(s, line);

	tcase_add_checked_fixture(regs, six_counters, NULL);
	tcase_add_loop_test(regs, regs_masks_are_bit_31_and_n_low_bits, 0, 5 * VERSIONS);
	tcase_add_loop_test(regs, regs_set_and_clear_are_write_one_and_read_one_mask, 0,
			    3 * VERSIONS);
	tcase_add_loop_test(regs, regs_pmcr_p_and_c_restart_their_own_counters, 0,
			    VERSIONS);
	tcase_add_test(regs, regs_pmcr_identity_is_read_only_and_lp_is_res0);
	tcase_add_loop_test(regs, regs_pmselr_31_is_the_cycle_filter_and_no_counter, 0,
			    2 * VERSIONS);
	tcase_add_test(regs, regs_pmselr_selects_the_counter_or_nothing);
	tcase_add_loop_test(regs, regs_counters_from_n_up_are_undefined, 0, 4);
	tcase_add_test(regs, regs_event_counters_are_32_bits_and_cycles_64);
	tcase_add_loop_test(regs, regs_pmuserenr_says_what_el0_may_do, 0, 16 * VERSIONS);
	tcase_add_test(regs, regs_init_refuses_bad_configurations);
	tcase_add_test(regs, reset_is_zero_without_poison);
	tcase_add_loop_test(regs, reset_poison_is_survived_by_the_reset_of_linux, 0,
			    VERSIONS);
	tcase_add_loop_test(regs, reset_poison_bites_a_driver_that_only_sets_e, 0,
			    VERSIONS);
	tcase_add_loop_test(regs, reset_twice_gives_the_same_state, 0, 2 * VERSIONS);
	suite_add_tcase(s, regs);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
