/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/insn.h"
#include "emu/predict.h"

#define B_EQ 0x54000080u /* b.eq .+16 */
#define B 0x14000002u	 /* b .+8 */
#define BL 0x94000010u	 /* bl .+64 */
#define BR 0xd61f0200u	 /* br x16 */
#define BLR 0xd63f0020u	 /* blr x1 */
#define RET 0xd65f03c0u	 /* ret */
#define ERET 0xd69f03e0u
#define ADD 0x91000420u /* add x0, x1, #1 */

static struct predict predict;

static void setup(void)
{
	memset(&predict, 0xa5, sizeof(predict));
	predict_reset(&predict);
}

static bool cond(uint64_t pc, bool taken)
{
	return predict_branch(&predict, pc, B_EQ, taken, pc + 16);
}

static bool go(uint64_t pc, uint32_t word, uint64_t target)
{
	return predict_branch(&predict, pc, word, true, target);
}

START_TEST(conditional_branch_follows_a_two_bit_counter)
{
	/* t t t n t n n n n t t t, from 1: wrong where < 2 and t, >= 2 and n */
	static const struct {
		bool taken, wrong;
	} steps[] = {
		{true, true},	/* 1 -> 2 */
		{true, false},	/* 2 -> 3 */
		{true, false},	/* 3 stays */
		{false, true},	/* 3 -> 2 */
		{true, false},	/* 2 -> 3 */
		{false, true},	/* 3 -> 2 */
		{false, true},	/* 2 -> 1 */
		{false, false}, /* 1 -> 0 */
		{false, false}, /* 0 stays */
		{true, true},	/* 0 -> 1 */
		{true, true},	/* 1 -> 2 */
		{true, false},	/* 2 -> 3 */
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		ck_assert_msg(cond(0x1000, steps[i].taken) == steps[i].wrong, "step %zu",
			      i);
}
END_TEST

START_TEST(conditional_branches_share_a_counter_512_words_apart)
{
	ck_assert(cond(0x1000, true));			       /* 1 -> 2 */
	ck_assert(!cond(0x1000 + 4 * PREDICT_COUNTERS, true)); /* the same one */
	ck_assert(cond(0x1004, true));			       /* the next one */
	ck_assert(cond(0x0ffc, true));
}
END_TEST

START_TEST(loop_of_ten_is_mispredicted_twice)
{
	unsigned wrong = 0;

	for (int i = 0; i < 10; i++)
		wrong += cond(0x2000, i < 9);
	ck_assert_uint_eq(wrong, 2); /* the first and the last */
	for (int i = 0; i < 10; i++)
		wrong += cond(0x2000, i < 9);
	ck_assert_uint_eq(wrong, 3); /* only the last: the counter stood at 2 */
}
END_TEST

START_TEST(unconditional_immediate_branch_is_never_mispredicted)
{
	ck_assert(!go(0x1000, B, 0x1008));
	ck_assert(!go(0x1000, BL, 0x1040));
	ck_assert(!go(0x1000, B, 0x1008));
}
END_TEST

START_TEST(return_goes_where_the_last_call_came_from)
{
	ck_assert(!go(0x1000, BL, 0x2000));
	ck_assert(go(0x2000, BLR, 0x3000)); /* no prediction yet; pushes */
	ck_assert(!go(0x3000, RET, 0x2004));
	ck_assert(!go(0x2004, RET, 0x1004));
	ck_assert(go(0x1004, RET, 0x1004)); /* empty */
}
END_TEST

START_TEST(return_elsewhere_is_mispredicted_and_pops)
{
	go(0x1000, BL, 0x2000);
	go(0x2000, BL, 0x3000);
	ck_assert(go(0x3000, RET, 0x2008));
	ck_assert(!go(0x2008, RET, 0x1004));
	ck_assert_uint_eq(predict.depth, 0);
}
END_TEST

START_TEST(return_stack_loses_its_oldest_address)
{
	for (uint64_t i = 1; i <= PREDICT_RETURNS + 1; i++)
		go(i * 0x1000, BL, (i + 1) * 0x1000);
	for (uint64_t i = PREDICT_RETURNS + 1; i >= 2; i--)
		ck_assert(!go((i + 1) * 0x1000, RET, i * 0x1000 + 4));
	/* empty; its slot still holds the last call's address */
	ck_assert(go(0x2004, RET, (PREDICT_RETURNS + 1) * 0x1000 + 4));
}
END_TEST

START_TEST(indirect_branch_goes_where_it_went_last)
{
	ck_assert(go(0x1000, BR, 0x5000)); /* never seen */
	ck_assert(!go(0x1000, BR, 0x5000));
	ck_assert(go(0x1000, BR, 0x6000));
	ck_assert(go(0x1000, BR, 0x5000));
	ck_assert(!go(0x1000, BR, 0x5000));
	/* 64 words on: the same entry, another tag */
	ck_assert(go(0x1000 + 4 * PREDICT_TARGETS, BR, 0x5000));
	ck_assert(go(0x1000, BR, 0x5000));
	ck_assert(go(0x1004, BR, 0x5000));
	ck_assert(!go(0x1000, BR, 0x5000));
}
END_TEST

START_TEST(indirect_branch_at_zero_to_zero_is_no_prediction)
{
	ck_assert(go(0, BR, 0));
	ck_assert(!go(0, BR, 0));
}
END_TEST

START_TEST(eret_and_other_words_teach_nothing)
{
	struct predict before;

	go(0x1000, BL, 0x2000);
	cond(0x2000, true);
	before = predict;
	ck_assert(!go(0x2004, ERET, 0x8000));
	ck_assert(!go(0x2004, ADD, 0x2008));
	ck_assert_mem_eq(&predict, &before, sizeof(before));
	ck_assert(!predict_covers(insn_classify(ERET)));
	ck_assert(!predict_covers(insn_classify(ADD)));
	ck_assert(predict_covers(insn_classify(B)));
	ck_assert(predict_covers(insn_classify(B_EQ)));
	ck_assert(predict_covers(insn_classify(BR)));
	ck_assert(predict_covers(insn_classify(RET)));
}
END_TEST

START_TEST(reset_forgets_everything)
{
	struct predict fresh = predict;

	cond(0x1000, true);
	go(0x1000, BLR, 0x2000);
	predict_reset(&predict);
	ck_assert_mem_eq(&predict, &fresh, sizeof(fresh));
	ck_assert(cond(0x1000, true));
	ck_assert(go(0x1000, BLR, 0x2000));
}
END_TEST

static Suite *predict_suite(void)
{
	Suite *s = suite_create("predict");
	TCase *tc = tcase_create("predict");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, conditional_branch_follows_a_two_bit_counter);
	tcase_add_test(tc, conditional_branches_share_a_counter_512_words_apart);
	tcase_add_test(tc, loop_of_ten_is_mispredicted_twice);
	tcase_add_test(tc, unconditional_immediate_branch_is_never_mispredicted);
	tcase_add_test(tc, return_goes_where_the_last_call_came_from);
	tcase_add_test(tc, return_elsewhere_is_mispredicted_and_pops);
	tcase_add_test(tc, return_stack_loses_its_oldest_address);
	tcase_add_test(tc, indirect_branch_goes_where_it_went_last);
	tcase_add_test(tc, indirect_branch_at_zero_to_zero_is_no_prediction);
	tcase_add_test(tc, eret_and_other_words_teach_nothing);
	tcase_add_test(tc, reset_forgets_everything);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(predict_suite());

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
