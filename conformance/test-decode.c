/* SPDX-License-Identifier: MIT */
/* Results, read buffers, pages and polls to a trace. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode-lab.h"

START_TEST(decode_log_cut_anywhere_is_refused)
{
	struct decode_log log;
	char *text;
	size_t n;

	lab_start("event c raw/8\nopen c\nread c\n");
	text = lab_log_text();
	n = strlen(text);
	for (size_t i = 0; i + 1 < n; i++)
		ck_assert_msg(decode_log_parse(&log, "c", text, i, lab_err,
					       sizeof(lab_err)) == -1,
			      "%zu of %zu bytes", i, n);
	free(text);
	scn_free(lab.scn);
}
END_TEST

START_TEST(decode_long_logs_keep_all_bytes)
{
	uint8_t bytes[4096];

	lab_start("event c raw/8 period=1\nopen c\nmmap c pages=1\nrecords c\n");
	for (size_t i = 0; i < sizeof(bytes); i += 8) {
		lab_put(bytes + i, 9, 4);
		lab_put(bytes + i + 4, 2 | 8 << 16, 4);
	}
	lab_drained(3, bytes, sizeof(bytes));
	struct tt_trace *trace = lab_decode();

	ck_assert_uint_eq(trace->steps[2].nrecords, 512);
	lab_finish(trace);
}
END_TEST

/* ---- results */

START_TEST(decode_results_have_names)
{
	struct tt_trace *trace;

	lab_start("event c raw/8 exclude=kernel disabled\nevent d raw/8\nopen c\nopen d\n"
		  "mmap c pages=1\nmmap d pages=3\nioctl c enable\nread d\npoll d\nclose "
		  "d\n"
		  "run spin 3\n");
	lab_result(2, -EINVAL);
	lab_result(4, -EBADF);
	lab_result(5, -ENOTTY);
	lab_result(6, -EOPNOTSUPP);
	lab_result(7, -4000);
	lab_result(8, 17);
	trace = lab_decode();
	lab_check_from(
		trace, 1,
		"step 1 open c -> fd\nstep 2 open d -> EINVAL\n"
		"step 3 mmap c pages=1 -> addr\nstep 4 mmap d pages=3 -> EBADF\n"
		"step 5 ioctl c enable -> ENOTTY\nstep 6 read d -> EOPNOTSUPP\n"
		"step 7 poll d -> E4000\nstep 8 close d -> 17\nstep 9 run spin 3 -> "
		"0\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_calls_and_the_size_left_in_an_attr)
{
	struct tt_trace *trace;

	lab_start("event c raw/8\nopen c\ncall fstat c buf\ncall dup c\n"
		  "call lseek c 0 0\n");
	lab_result(1, -E2BIG);
	lab_buffer(2, 16, 0600);
	lab_buffer(2, 48, 4660);
	lab_result(3, 9);
	lab_result(4, -ESPIPE);
	trace = lab_decode();
	lab_check_from(
		trace, 1,
		"step 1 open c -> E2BIG\n  attr size=0\n"
		"step 2 call fstat c buf -> 0\n  stat mode=0600 size=4660\n"
		"step 3 call dup c -> fd\nstep 4 call lseek c 0 0 -> ESPIPE\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_other_scenarios_log_is_refused)
{
	struct decode_log log = {.nresults = 1};

	lab_start("event c raw/8\nopen c\n");
	ck_assert_ptr_null(decode_trace(lab.scn, &log, NULL, lab_err, sizeof(lab_err)));
	ck_assert_str_eq(lab_err, "t: the log has 1 results, the scenario 3 operations");
	scn_free(lab.scn);
}
END_TEST

/* ---- reads */

START_TEST(decode_read_of_an_exact_event)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel read=total-time-enabled,"
		  "total-time-running,id,lost disabled\nopen c\nioctl c enable\nrun spin "
		  "1000\n"
		  "ioctl c disable\nread c\n");
	lab_result(5, 40);
	lab_buffer(5, 0, 8058);
	lab_buffer(5, 8, 9000);
	lab_buffer(5, 16, 8999);
	lab_buffer(5, 24, 41);
	lab_buffer(5, 32, 6);
	trace = lab_decode();
	lab_check_from(
		trace, 5,
		"step 5 read c -> 40\n"
		"  values value=8058 enabled=9000 running=8999 id=c lost=6\n"
		"  | 7a1f0000 00000000 ........ ........ ........ ........ ........ "
		"........\n"
		"  | 06000000 00000000\nend\n");
	lab_check_mask(trace, 5, 0, "xxxxxxxx........................xxxxxxxx");
	ck_assert_int_eq(lab_field(trace, 5, 0, "value")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 5, 0, "enabled")->class, TT_BOUNDED);
	ck_assert_uint_eq(lab_field(trace, 5, 0, "enabled")->lo, 8058 - 32);
	ck_assert_uint_eq(lab_field(trace, 5, 0, "enabled")->hi, UINT64_MAX);
	ck_assert_int_eq(lab_field(trace, 5, 0, "running")->class, TT_AT_MOST);
	ck_assert_str_eq(lab_field(trace, 5, 0, "running")->bound, "enabled");
	ck_assert_int_eq(lab_field(trace, 5, 0, "lost")->class, TT_EXACT);
	ck_assert_str_eq(tt_header_get(trace, "predicted"), "step 5 c=8058");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_read_before_the_first_enable_has_exact_times)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel read=total-time-enabled,"
		  "total-time-running disabled\nopen c\nread c\n");
	lab_result(2, 24);
	trace = lab_decode();
	ck_assert_int_eq(lab_field(trace, 2, 0, "enabled")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 2, 0, "running")->class, TT_EXACT);
	lab_check_mask(trace, 2, 0, "xxxxxxxxxxxxxxxxxxxxxxxx");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_running_alone_is_bounded)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel read=total-time-running "
		  "disabled\n"
		  "open c\nioctl c enable\nread c\n");
	lab_result(3, 16);
	trace = lab_decode();
	ck_assert_int_eq(lab_field(trace, 3, 0, "running")->class, TT_BOUNDED);
	lab_check_mask(trace, 3, 0, "xxxxxxxx........");
	lab_finish(trace);
}
END_TEST

static const char *const noisy[] = {
	"event c hardware/cycles disabled\nopen c\nread c\n",
	"event c hardware/cycles exclude=user disabled\nopen c\nread c\n",
	"event c hardware/cycles exclude=kernel disabled\nopen c pid=77 cpu=0\nread c\n",
	"event c software/task-clock exclude=kernel disabled\nopen c\nread c\n",
};

START_TEST(decode_read_of_a_noisy_event_is_bounded)
{
	struct tt_trace *trace;

	lab_start(noisy[_i]);
	lab_result(2, 8);
	lab_buffer(2, 0, 5);
	trace = lab_decode();
	ck_assert_int_eq(lab_field(trace, 2, 0, "value")->class, TT_BOUNDED);
	ck_assert_uint_eq(lab_field(trace, 2, 0, "value")->lo, 0);
	ck_assert_uint_eq(lab_field(trace, 2, 0, "value")->hi, UINT64_MAX);
	lab_check_mask(trace, 2, 0, "........");
	ck_assert_str_eq(tt_header_get(trace, "predicted"), "none");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_open_that_failed_makes_no_noise)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel disabled\nopen c pid=any "
		  "cpu=any\n"
		  "open c\nread c\n");
	lab_result(1, -EINVAL);
	lab_result(3, 8);
	trace = lab_decode();
	ck_assert_int_eq(lab_field(trace, 3, 0, "value")->class, TT_EXACT);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_group_read_names_its_members)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel read=group,id disabled\n"
		  "event i raw/8 exclude=kernel\nevent k raw/8\n"
		  "open c\nopen i group=c\nopen k group=c\nclose i\nread c\n");
	lab_result(5, 8 * 5);
	lab_buffer(5, 0, 2);
	lab_buffer(5, 16, 41);
	lab_buffer(5, 24, 9);
	lab_buffer(5, 32, 43);
	trace = lab_decode();
	lab_check_from(
		trace, 5,
		"step 5 read c -> 40\n  group nr=2\n  | 02000000 00000000\n"
		"  values event=c value=0 id=c\n  | 00000000 00000000 ........ ........\n"
		"  values event=k value=9 id=k\n  | ........ ........ ........ ........\n"
		"end\n");
	ck_assert_int_eq(lab_field(trace, 5, 1, "value")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 5, 2, "value")->class, TT_BOUNDED);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_read_cut_short_says_so)
{
	struct tt_trace *trace;

	lab_start("event c hardware/cycles exclude=kernel read=id disabled\nopen c\nread "
		  "c\n");
	lab_result(2, 12);
	trace = lab_decode();
	ck_assert_str_eq(lab_field(trace, 2, 0, "cut")->token, "12");
	tt_free(trace);
	lab_result(2, 17);
	ck_assert_ptr_null(lab_decode_with(NULL));
	ck_assert_str_eq(lab_err, "t: step 2: read gave more than it was asked for");
	scn_free(lab.scn);
}
END_TEST

/* ---- pages, polls, ids */

START_TEST(decode_page_has_the_header_fields)
{
	struct tt_trace *trace;
	uint8_t page[1088] = {0};

	lab_start(
		"event c raw/8 period=1 exclude=kernel disabled\nopen c\nmmap c pages=1\n"
		"page c\nioctl c enable\npage c\n");
	lab_put(page, 1, 4);
	lab_put(page + 4, 2, 4);
	lab_put(page + 12, 3, 4);
	lab_put(page + 16, 4, 8);
	lab_put(page + 24, 5, 8);
	lab_put(page + 32, 6, 8);
	lab_put(page + 40, 0x3a, 8);
	lab_put(page + 48, 64, 2);
	lab_put(page + 1024, 7, 8);
	lab_put(page + 1032, 8, 8);
	lab_put(page + 1040, 9, 8);
	lab_put(page + 1048, 10, 8);
	lab_drained(3, page, sizeof(page));
	lab_drained(5, page, sizeof(page));
	trace = lab_decode();
	lab_check_from(trace, 5,
		       "step 5 page c -> 1088\n  page version=1 compat_version=2 index=3 "
		       "offset=4"
		       " enabled=5 running=6 capabilities=0x3a pmc_width=64 data_head=7 "
		       "data_tail=8"
		       " data_offset=9 data_size=10\nend\n");
	ck_assert_int_eq(lab_field(trace, 3, 0, "enabled")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 5, 0, "enabled")->class, TT_BOUNDED);
	ck_assert_int_eq(lab_field(trace, 5, 0, "data_head")->class, TT_EXACT);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_poll_has_revents)
{
	struct tt_trace *trace;

	lab_start("event c raw/8 period=1 exclude=kernel disabled\nopen c\npoll c\n");
	lab_result(2, 1);
	lab_buffer(2, 0, 3 | 1ull << 32 | 0x11ull << 48);
	trace = lab_decode();
	lab_check_from(trace, 2, "step 2 poll c -> 1\n  poll revents=0x11\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_id_is_the_events_name)
{
	struct tt_trace *trace;

	lab_start(
		"event c raw/8\nevent d raw/8\nopen c\nopen d\nioctl d id\nioctl c id\n");
	lab_buffer(3, 0, 42);
	lab_buffer(4, 0, 1234);
	trace = lab_decode();
	lab_check_from(trace, 3,
		       "step 3 ioctl d id -> 0\n  id id=d\nstep 4 ioctl c id -> 0\n  id "
		       "id=1234\n"
		       "end\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_counts_are_held_against_the_prediction)
{
	struct decode_log log;
	struct tt_trace *trace;
	char *text;

	lab_start("event c hardware/cycles exclude=kernel read=group disabled\n"
		  "event i raw/8 exclude=kernel\nopen c\nopen i group=c\nioctl c "
		  "enable\nread c\n");
	lab_result(4, 24);
	lab_buffer(4, 0, 2);
	lab_buffer(4, 8, 32);
	lab_buffer(4, 16, 32);
	for (int planted = 0; planted < 2; planted++) {
		lab_buffer(4, 16, 32 + (unsigned)planted);
		text = lab_log_text();
		ck_assert(!decode_log_parse(&log, "c", text, strlen(text), lab_err,
					    sizeof(lab_err)));
		trace = decode_trace(lab.scn, &log, NULL, lab_err, sizeof(lab_err));
		ck_assert_str_eq(tt_header_get(trace, "predicted"),
				 "step 4 c=32, step 4 i=32");
		ck_assert_int_eq(decode_check_counts(lab.scn, &log, trace, lab_err,
						     sizeof(lab_err)),
				 planted ? -1 : 0);
		tt_free(trace);
		decode_log_free(&log);
		free(text);
	}
	scn_free(lab.scn);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Suite *suite(void)
{
	Suite *s = suite_create("decode");
	TCase *tc = tcase_create("decode");

	tcase_add_test(tc, decode_log_cut_anywhere_is_refused);
	tcase_add_test(tc, decode_long_logs_keep_all_bytes);
	tcase_add_test(tc, decode_results_have_names);
	tcase_add_test(tc, decode_calls_and_the_size_left_in_an_attr);
	tcase_add_test(tc, decode_other_scenarios_log_is_refused);
	tcase_add_test(tc, decode_read_of_an_exact_event);
	tcase_add_test(tc, decode_read_before_the_first_enable_has_exact_times);
	tcase_add_test(tc, decode_running_alone_is_bounded);
	tcase_add_loop_test(tc, decode_read_of_a_noisy_event_is_bounded, 0, COUNT(noisy));
	tcase_add_test(tc, decode_open_that_failed_makes_no_noise);
	tcase_add_test(tc, decode_group_read_names_its_members);
	tcase_add_test(tc, decode_read_cut_short_says_so);
	tcase_add_test(tc, decode_page_has_the_header_fields);
	tcase_add_test(tc, decode_poll_has_revents);
	tcase_add_test(tc, decode_id_is_the_events_name);
	tcase_add_test(tc, decode_counts_are_held_against_the_prediction);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(suite());
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
