/* SPDX-License-Identifier: MIT */
/* What the recorder refuses, with recorded inputs. */
#include <check.h>
#include <stdlib.h>

#include "conformance/merge.h"

static struct tt_trace *recorded(const char *body)
{
	char text[2048], err[256] = "";
	struct tt_trace *t;

	snprintf(text, sizeof(text), "pmulab-trace v1\nscenario: s\n---\n%send\n", body);
	t = tt_parse("t", text, strlen(text), err, sizeof(err));
	ck_assert_msg(t != NULL, "refused: %s", err);
	return t;
}

START_TEST(merge_planted_throttle_is_refused)
{
	struct tt_trace *clean = recorded("step 6 records c -> 2\n  sample ip=a\n"
					  "  lost lost=1\n");
	struct tt_trace *throttle = recorded("step 6 records c -> 2\n  sample ip=a\n"
					     "  throttle time=7\n");
	struct tt_trace *unthrottle = recorded("step 4 records c -> 0\n"
					       "step 6 records c -> 1\n"
					       "  unthrottle time=7\n");
	char err[256] = "";

	ck_assert_int_eq(merge_refuse_throttle(clean, err, sizeof(err)), 0);
	ck_assert_str_eq(err, "");
	ck_assert_int_eq(merge_refuse_throttle(throttle, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "scenario s: step 6 \"records c\": record 2 is throttle, "
			      "which the scenario does not ask for");
	ck_assert_int_eq(merge_refuse_throttle(unthrottle, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "scenario s: step 6 \"records c\": record 1 is unthrottle, "
			      "which the scenario does not ask for");
	tt_free(clean);
	tt_free(throttle);
	tt_free(unthrottle);
}
END_TEST

static const struct {
	const char *body;
	struct merge_account account;
	const char *err; /* "": accounted for */
} accounts[] = {
	/* by the words of the step, peeks not counted twice */
	{"step 5 peek c -> 1\n  sample ip=a\n"
	 "step 6 records c -> 3\n  sample ip=a\n  sample ip=a\n  sample ip=a\n"
	 "step 7 records k -> 1\n  sample ip=a\n",
	 {"c", 399999, 100000, false},
	 ""},
	/* drained in two steps */
	{"step 6 records c -> 1\n  sample ip=a\nstep 8 records c -> 1\n  sample ip=a\n",
	 {"c", 299999, 100000, false},
	 ""},
	/* a planted missing sample */
	{"step 6 records c -> 2\n  sample ip=a\n  sample ip=a\n",
	 {"c", 399999, 100000, false},
	 "scenario s: event c: 2 samples and 0 lost do not account for 3 = 399999 / "
	 "100000"},
	/* one too many */
	{"step 6 records c -> 2\n  sample ip=a\n  sample ip=a\n",
	 {"c", 199999, 100000, false},
	 "scenario s: event c: 2 samples and 0 lost do not account for 1 = 199999 / "
	 "100000"},
	{"step 5 peek c -> 1\n  sample id=c\n"
	 "step 6 records c -> 1\n  sample id=c\n",
	 {"c", 199999, 100000, false},
	 ""},
	/* losses told in two records */
	{"step 6 records c -> 3\n  sample ip=a\n  lost lost=3\n  lost lost=2\n",
	 {"c", 600, 100, false},
	 ""},
	/* by id, in a ring that two events share */
	{"step 6 records k -> 2\n  sample identifier=c\n  sample identifier=k\n",
	 {"c", 100, 100, false},
	 ""},
	{"step 6 records c -> 4\n  sample id=c\n  sample id=k\n  sample identifier=c\n"
	 "  lost id=c lost=5\n",
	 {"c", 700, 100, false},
	 ""},
	{"step 6 records c -> 4\n  sample id=c\n  sample id=k\n  sample identifier=c\n"
	 "  lost id=c lost=5\n",
	 {"k", 100, 100, false},
	 ""},
	{"step 6 records c -> 3\n  sample id=c\n  sample id=k\n  lost id=c lost=4\n",
	 {"c", 700, 100, false},
	 "scenario s: event c: 1 samples and 4 lost do not account for 7 = 700 / 100"},
	/* losses that no record tells yet, but never more than there were */
	{"step 6 records c -> 1\n  sample ip=a\n", {"c", 700, 100, true}, ""},
	{"step 6 records c -> 2\n  sample ip=a\n  lost lost=7\n",
	 {"c", 700, 100, true},
	 "scenario s: event c: 1 samples and 7 lost do not account for 7 = 700 / 100"},
};

START_TEST(merge_samples_account_for_the_count)
{
	struct tt_trace *t = recorded(accounts[_i].body);
	char err[256] = "";
	int rc = merge_refuse_samples(t, &accounts[_i].account, err, sizeof(err));

	ck_assert_str_eq(err, accounts[_i].err);
	ck_assert_int_eq(rc, *err ? -1 : 0);
	tt_free(t);
}
END_TEST

START_TEST(merge_count_that_is_not_the_works_is_refused)
{
	struct tt_trace *t = recorded("step 5 read c -> 8\n  values value=1000029\n"
				      "step 6 read c -> 16\n  values value=1\n"
				      "  values value=7\n  page index=0\n");
	char err[256] = "";

	ck_assert_int_eq(merge_refuse_count(t, 5, 1, 1000029, err, sizeof(err)), 0);
	ck_assert_int_eq(merge_refuse_count(t, 6, 2, 7, err, sizeof(err)), 0);
	ck_assert_str_eq(err, "");
	ck_assert_int_eq(merge_refuse_count(t, 5, 1, 1000028, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "scenario s: step 5 record 1 counts 1000029, the work is "
			      "1000028");
	ck_assert_int_eq(merge_refuse_count(t, 6, 3, 0, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "scenario s: step 6 record 3 has no value");
	ck_assert_int_eq(merge_refuse_count(t, 7, 1, 0, err, sizeof(err)), -1);
	ck_assert_int_eq(merge_refuse_count(t, 5, 0, 0, err, sizeof(err)), -1);
	ck_assert_int_eq(merge_refuse_count(t, 5, 2, 0, err, sizeof(err)), -1);
	tt_free(t);
}
END_TEST

START_TEST(merge_still_canary_is_refused)
{
	static const uint64_t moved[] = {26451, 26451, 26440}, still[] = {7, 7, 7};
	char err[256] = "";

	ck_assert_int_eq(merge_refuse_canary("u", moved, 3, err, sizeof(err)), 0);
	ck_assert_str_eq(err, "");
	ck_assert_int_eq(merge_refuse_canary("u", still, 3, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "canary u stood still at 7 in 3 boots: there was no noise");
	ck_assert_int_eq(merge_refuse_canary("u", moved, 1, err, sizeof(err)), -1);
	ck_assert_int_eq(merge_refuse_canary("u", moved, 0, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "canary u: no boot has it");
}
END_TEST

static TCase *recorder_case(void)
{
	TCase *tc = tcase_create("recorder");

	tcase_add_test(tc, merge_planted_throttle_is_refused);
	tcase_add_loop_test(tc, merge_samples_account_for_the_count, 0,
			    (int)(sizeof(accounts) / sizeof(*accounts)));
	tcase_add_test(tc, merge_count_that_is_not_the_works_is_refused);
	tcase_add_test(tc, merge_still_canary_is_refused);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("merge-refuse");
	SRunner *sr;
	int failed;

	suite_add_tcase(s, recorder_case());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
