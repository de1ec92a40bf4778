/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "emu/gtimer.h"

#define CNTFRQ_EL0 SYSREG(3, 3, 14, 0, 0)
#define CNTPCT_EL0 SYSREG(3, 3, 14, 0, 1)
#define CNTVCT_EL0 SYSREG(3, 3, 14, 0, 2)

START_TEST(gtimer_count_rounds_down)
{
	struct gtimer timer;
	uint64_t now = 15;

	gtimer_init(&timer, &now, 1000000000, 62500000);
	ck_assert_uint_eq(gtimer_count(&timer), 0);
	now = 16;
	ck_assert_uint_eq(gtimer_count(&timer), 1);
	now = 1000000000;
	ck_assert_uint_eq(gtimer_count(&timer), 62500000);
	now = 999999999;
	ck_assert_uint_eq(gtimer_count(&timer), 62499999);
}
END_TEST

START_TEST(gtimer_count_is_exact_over_64_bits)
{
	struct gtimer timer;
	uint64_t now = UINT64_MAX;

	gtimer_init(&timer, &now, 1000000000, 62500000);
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX / 16);
	gtimer_init(&timer, &now, 3, 2); /* 2^64-1 is a multiple of 3 */
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX / 3 * 2);
	gtimer_init(&timer, &now, 3000000000u, 3000000000u);
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX);
}
END_TEST

START_TEST(gtimer_registers_read_at_el1_and_by_rights_at_el0)
{
	struct gtimer timer;
	uint64_t now = 1600, value = 0;

	gtimer_init(&timer, &now, 1000000000, 62500000);

	const struct sysreg_block block = gtimer_sysregs(&timer);

	for (unsigned el = 0; el < 2; el++) {
		ck_assert_int_eq(sysreg_read(&block, 1, CNTVCT_EL0, el, &value),
				 SYSREG_OK);
		ck_assert_uint_eq(value, 100);
		ck_assert_int_eq(sysreg_read(&block, 1, CNTFRQ_EL0, el, &value),
				 SYSREG_OK);
		ck_assert_uint_eq(value, 62500000);
	}
	ck_assert_int_eq(sysreg_read(&block, 1, CNTPCT_EL0, 1, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 100);
	value = 1;
	ck_assert_int_eq(sysreg_read(&block, 1, CNTPCT_EL0, 0, &value), SYSREG_TRAP_EL1);
	ck_assert_uint_eq(value, 1);
	ck_assert_int_eq(sysreg_write(&block, 1, CNTVCT_EL0, 1, 5), SYSREG_UNDEF);
	ck_assert_int_eq(sysreg_write(&block, 1, CNTFRQ_EL0, 0, 5), SYSREG_UNDEF);
	ck_assert_uint_eq(timer.cntfrq, 62500000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gtimer");
	TCase *tc = tcase_create("counter");

	tcase_add_test(tc, gtimer_count_rounds_down);
	tcase_add_test(tc, gtimer_count_is_exact_over_64_bits);
	tcase_add_test(tc, gtimer_registers_read_at_el1_and_by_rights_at_el0);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
