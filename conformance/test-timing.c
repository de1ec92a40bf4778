/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/insn.h"
#include "emu/timing.h"

static struct timing timing;

static void init(const char *model, bool predictor, unsigned l1i, unsigned l1d)
{
	const struct timing_config config = {timing_model(model), predictor, l1i, l1d, 0};

	ck_assert_int_eq(timing_init(&timing, &config), 0);
}

START_TEST(models_have_names)
{
	ck_assert_ptr_eq(timing_model("icount"), timing_model_at(0));
	ck_assert_ptr_eq(timing_model("inorder"), timing_model_at(1));
	ck_assert_ptr_null(timing_model_at(2));
	ck_assert_ptr_null(timing_model("outoforder"));
}
END_TEST

START_TEST(config_without_model_or_with_odd_lines_is_refused)
{
	const struct timing_model *model = timing_model("inorder");
	static const unsigned bad[] = {1, 8, 48, 4096};
	struct timing_config config = {NULL, false, 0, 0, 0};

	ck_assert_int_eq(timing_init(&timing, &config), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		config = (struct timing_config){model, false, bad[i], 0, 0};
		ck_assert_int_eq(timing_init(&timing, &config), -EINVAL);
		config = (struct timing_config){model, false, 0, bad[i], 0};
		ck_assert_int_eq(timing_init(&timing, &config), -EINVAL);
	}
}
END_TEST

/* Stalls by hand; an instruction's cycles are one more. */
/* clang-format off */
static const struct {
	uint32_t word;
	struct timing_cost cost;
} costs[] = {
	{0x91000420, {0, 0}},	/* add x0, x1, #1 */
	{0xd503201f, {0, 0}},	/* nop */
	{0xf9400020, {0, 1}},	/* ldr x0, [x1] */
	{0xfd0007e0, {0, 0}},	/* str d0, [sp, #8] */
	{0xa8c17bfd, {0, 2}},	/* ldp x29, x30, [sp], #16: load, second access */
	{0xad000440, {0, 1}},	/* stp q0, q1, [x2] */
	{0x4cdf0400, {0, 4}},	/* ld4: load, three more */
	{0x9c000000, {0, 1}},	/* ldr q0, . */
	{0xc85f7c20, {0, 3}},	/* ldxr: load, monitor */
	{0x0803fc20, {0, 2}},	/* stlxrb */
	{0x887f8861, {0, 3}},	/* ldaxp: one access */
	{0xf8e00041, {0, 4}},	/* ldaddal */
	{0xf9800000, {0, 0}},	/* prfm */
	{0x9b027c20, {0, 2}},	/* mul x0, x1, x2 */
	{0x1ac20820, {0, 11}},	/* udiv w0, w1, w2 */
	{0x1e621820, {0, 17}},	/* fdiv d0, d1, d2 */
	{0x1e622820, {0, 3}},	/* fadd d0, d1, d2 */
	{0xd53b9d00, {0, 1}},	/* mrs x0, pmccntr_el0 */
	{0xd51b9c61, {0, 3}},	/* msr pmovsclr_el0, x1 */
	{0xd50342df, {0, 1}},	/* msr daifset, #2 */
	{0xd508871f, {0, 9}},	/* tlbi vmalle1 */
	{0xd50b7420, {0, 9}},	/* dc zva, x0 */
	{0xd5033bbf, {0, 5}},	/* dmb ish */
	{0xd5033fdf, {7, 0}},	/* isb */
	{0xd69f03e0, {7, 0}},	/* eret */
	{0x14000002, {0, 0}},	/* b .+8: what it costs taken is an extra */
	{0xd4000001, {0, 0}},	/* svc #0: the entry is an extra */
};
/* clang-format on */

START_TEST(inorder_costs_by_hand)
{
	struct timing_cost cost;

	init("inorder", false, 0, 0);
	cost = timing_insn(&timing, costs[_i].word);
	ck_assert_msg(!memcmp(&cost, &costs[_i].cost, sizeof(cost)), "%08x: %u %u",
		      costs[_i].word, cost.frontend, cost.backend);
	init("icount", true, 64, 64);
	cost = timing_insn(&timing, costs[_i].word);
	ck_assert_uint_eq(cost.frontend + cost.backend, 0);
}
END_TEST

static void check_extra(enum timing_extra extra, uint32_t n, uint32_t frontend,
			uint32_t backend)
{
	const struct timing_cost cost = timing_extra(&timing, extra, n);

	ck_assert_uint_eq(cost.frontend, frontend);
	ck_assert_uint_eq(cost.backend, backend);
}

START_TEST(icount_needs_nothing_and_is_flat)
{
	init("icount", true, 64, 64);
	ck_assert_uint_eq(timing_needs(&timing), 0);
	ck_assert(timing_is_flat(&timing));
	ck_assert_uint_eq(timing_max_cycles(&timing), 1);
	ck_assert_uint_eq(timing_max_stalls(&timing).frontend, 0);
	ck_assert_uint_eq(timing_max_stalls(&timing).backend, 0);
	for (int i = 0; i < TIMING_EXTRAS; i++)
		check_extra((enum timing_extra)i, 3, 0, 0);
	ck_assert_uint_eq(timing_insns_within(&timing, 12345), 12345);
	ck_assert_uint_eq(timing_insns_within(&timing, 0), 0);
}
END_TEST

START_TEST(inorder_without_models_pays_for_taken_branches)
{
	init("inorder", false, 0, 0);
	ck_assert_uint_eq(timing_needs(&timing), 1u << TIMING_TAKEN);
	ck_assert(!timing_is_flat(&timing));
	check_extra(TIMING_TAKEN, 1, 2, 0);
	check_extra(TIMING_TAKEN, 5, 10, 0);
	check_extra(TIMING_MISPREDICT, 1, 0, 0);
	check_extra(TIMING_L1I_REFILL, 1, 0, 0);
	check_extra(TIMING_L1D_REFILL, 1, 0, 0);
	check_extra(TIMING_EXCEPTION, 1, 7, 0);
	/* issue, a floating-point division, a taken branch */
	ck_assert_uint_eq(timing_max_cycles(&timing), 1 + 17 + 2);
	ck_assert_uint_eq(timing_max_stalls(&timing).frontend, 7 + 2);
	ck_assert_uint_eq(timing_max_stalls(&timing).backend, 17);
}
END_TEST

START_TEST(inorder_with_models_pays_for_their_misses)
{
	init("inorder", true, 64, 64);
	ck_assert_uint_eq(timing_needs(&timing), 1u << TIMING_MISPREDICT |
							 1u << TIMING_L1I_REFILL |
							 1u << TIMING_L1D_REFILL);
	check_extra(TIMING_TAKEN, 1, 0, 0);
	check_extra(TIMING_MISPREDICT, 1, 7, 0);
	check_extra(TIMING_L1I_REFILL, 1, 12, 0);
	check_extra(TIMING_L1D_REFILL, 2, 0, 24);
	/* 64 bytes touch two lines of 64 at most */
	ck_assert_uint_eq(timing_max_cycles(&timing), 1 + 17 + 7 + 12 + 2 * 12);
	ck_assert_uint_eq(timing_max_stalls(&timing).frontend, 7 + 7 + 12);
	ck_assert_uint_eq(timing_max_stalls(&timing).backend, 17 + 2 * 12);
	/* and five of 16 */
	init("inorder", false, 0, 16);
	ck_assert_uint_eq(timing_max_cycles(&timing), 1 + 17 + 2 + 5 * 12);
	init("inorder", false, 0, 2048);
	ck_assert_uint_eq(timing_max_cycles(&timing), 1 + 17 + 2 + 2 * 12);
}
END_TEST

/* Forty cycles by hand: a loop of three passes, the last not taken back.
 *
 *	mov	x0, #3			1
 * 1:	ldp	x1, x2, [x3]		1 + 2
 *	mul	x1, x1, x2		1 + 2
 *	str	x1, [x3]		1
 *	subs	x0, x0, #1		1
 *	b.ne	1b			1 + 2 when taken
 *	isb				1 + 7
 * 1 + 3 * (3 + 3 + 1 + 1 + 1) + 2 * 2 + 8 = 40: 17 instructions, 11 cycles of
 * frontend stalls, 12 of backend.
 */
START_TEST(inorder_loop_by_hand)
{
	static const uint32_t loop[] = {0xa9400861, 0x9b027c21, 0xf9000061, 0xf1000400,
					0x54ffff81};
	struct timing_cost stalls = {0, 0}, cost;
	unsigned insns = 2;

	init("inorder", false, 0, 0);
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < 5; i++, insns++) {
			cost = timing_insn(&timing, loop[i]);
			stalls.frontend += cost.frontend;
			stalls.backend += cost.backend;
		}
	stalls.frontend += timing_insn(&timing, 0xd5033fdf).frontend; /* isb */
	stalls.frontend += timing_insn(&timing, 0xd2800060).frontend; /* mov x0, #3 */
	stalls.frontend += timing_extra(&timing, TIMING_TAKEN, 2).frontend;
	ck_assert_uint_eq(insns, 17);
	ck_assert_uint_eq(stalls.frontend, 11);
	ck_assert_uint_eq(stalls.backend, 12);
	ck_assert_uint_eq(insns + stalls.frontend + stalls.backend, 40);
}
END_TEST

/* No word costs more than the model's maximum, and the maximum is reached. */
START_TEST(inorder_maximum_is_the_most_that_a_word_costs)
{
	const struct timing_model *model = timing_model("inorder");
	struct timing_cost most = {0, 0};
	uint32_t both = 0, noise = 1;

	init("inorder", false, 0, 0);
	for (unsigned top = 0; top < 16; top++) {
		const struct insn_group *group = insn_group(top);

		for (size_t i = 0; i < group->nrows * 64; i++) {
			const struct insn_row *row = &group->rows[i / 64];

			noise = noise * 1664525 + 1013904223;

			const struct timing_cost cost =
				timing_insn(&timing, (noise & ~row->mask) | row->value);

			if (cost.frontend > most.frontend)
				most.frontend = cost.frontend;
			if (cost.backend > most.backend)
				most.backend = cost.backend;
			if (cost.frontend + cost.backend > both)
				both = cost.frontend + cost.backend;
		}
	}
	ck_assert_uint_eq(most.frontend, model->max.frontend);
	ck_assert_uint_eq(most.backend, model->max.backend);
	ck_assert_uint_eq(both, model->max_both);
}
END_TEST

START_TEST(deadline_in_instructions_is_never_late)
{
	init("inorder", false, 0, 0); /* 20 cycles at most */
	ck_assert_uint_eq(timing_insns_within(&timing, 0), 0);
	ck_assert_uint_eq(timing_insns_within(&timing, 1), 1);
	ck_assert_uint_eq(timing_insns_within(&timing, 19), 1);
	ck_assert_uint_eq(timing_insns_within(&timing, 39), 1);
	ck_assert_uint_eq(timing_insns_within(&timing, 40), 2);
	ck_assert_uint_eq(timing_insns_within(&timing, UINT64_MAX), UINT64_MAX / 20);
}
END_TEST

START_TEST(skid_moves_the_interrupt_and_saturates)
{
	struct timing_config config = {timing_model("icount"), false, 0, 0, 0};

	ck_assert_int_eq(timing_init(&timing, &config), 0);
	ck_assert_uint_eq(timing_due(&timing, 1000), 1000);
	config.skid = 30;
	ck_assert_int_eq(timing_init(&timing, &config), 0);
	ck_assert_uint_eq(timing_due(&timing, 1000), 1030);
	ck_assert_uint_eq(timing_due(&timing, UINT64_MAX - 29), UINT64_MAX);
	ck_assert_uint_eq(timing_due(&timing, UINT64_MAX - 30), UINT64_MAX);
	ck_assert_uint_eq(timing_due(&timing, UINT64_MAX - 31), UINT64_MAX - 1);
}
END_TEST

static Suite *timing_suite(void)
{
	Suite *s = suite_create("timing");
	TCase *tc = tcase_create("timing");

	tcase_add_test(tc, models_have_names);
	tcase_add_test(tc, config_without_model_or_with_odd_lines_is_refused);
	tcase_add_loop_test(tc, inorder_costs_by_hand, 0,
			    sizeof(costs) / sizeof(costs[0]));
	tcase_add_test(tc, icount_needs_nothing_and_is_flat);
	tcase_add_test(tc, inorder_without_models_pays_for_taken_branches);
	tcase_add_test(tc, inorder_with_models_pays_for_their_misses);
	tcase_add_test(tc, inorder_loop_by_hand);
	tcase_add_test(tc, inorder_maximum_is_the_most_that_a_word_costs);
	tcase_add_test(tc, deadline_in_instructions_is_never_late);
	tcase_add_test(tc, skid_moves_the_interrupt_and_saturates);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(timing_suite());

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
