/* SPDX-License-Identifier: MIT */
/* The agent's log as text, and the agent's symbols. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode.h"

static char err[512];

START_TEST(decode_log_is_found_in_a_console)
{
	static const char text[] =
		"booting\r\n@pmulab-log v1\r\nr 0 4d\r\nr 1 ffffffffffffffea\r\n"
		"d 10000100 0102\r\nd 10000102 03\r\nl ff00\r\nl 7f\r\n@end 6\r\n"
		"r garbage\n";
	struct decode_log log;

	ck_assert_int_eq(
		decode_log_parse(&log, "c", text, sizeof(text) - 1, err, sizeof(err)), 0);
	ck_assert_uint_eq(log.nresults, 2);
	ck_assert_int_eq(log.results[0], 77);
	ck_assert_int_eq(log.results[1], -22);
	ck_assert_uint_eq(log.data_addr, 0x10000100);
	ck_assert_uint_eq(log.ndata, 3);
	ck_assert_mem_eq(log.data, "\1\2\3", 3);
	ck_assert_uint_eq(log.ndrain, 3);
	ck_assert_mem_eq(log.drain, "\xff\0\x7f", 3);
	decode_log_free(&log);
}
END_TEST

static const struct {
	const char *text, *message;
} bad_logs[] = {
	{"", "c:0: no log: no @pmulab-log v1"},
	{"hello\n", "c:1: no log: no @pmulab-log v1"},
	{"@pmulab-log v2\n@end 0\n", "c:2: no log: no @pmulab-log v1"},
	{"@pmulab-log v1\nr 0 1\n", "c:2: cut log: no @end"},
	{"@pmulab-log v1\nr 0 1\n@end 2\n", "c:3: cut log: 1 lines, its end says 2"},
	{"@pmulab-log v1\nr 0 1\nr 1 1\n@end 1\n",
	 "c:4: cut log: 2 lines, its end says 1"},
	{"@pmulab-log v1\n@end\n", "c:2: not a line of a log: `@end`"},
	{"@pmulab-log v1\n@end x\n", "c:2: not `@end LINES`"},
	{"@pmulab-log v1\nr 0\n@end 1\n", "c:2: not `r OP RESULT`"},
	{"@pmulab-log v1\nr 0 1 \n@end 1\n", "c:2: not `r OP RESULT`"},
	{"@pmulab-log v1\nr 0 12345678901234567\n@end 1\n", "c:2: not `r OP RESULT`"},
	{"@pmulab-log v1\nr 1 1\n@end 1\n", "c:2: result of operation 1, not of 0"},
	{"@pmulab-log v1\nd 10 \n@end 1\n", "c:2: not a whole number of bytes"},
	{"@pmulab-log v1\nd 10 123\n@end 1\n", "c:2: not a whole number of bytes"},
	{"@pmulab-log v1\nd 10 1g\n@end 1\n", "c:2: not hex: `1g`"},
	{"@pmulab-log v1\nd 10 11\nd 12 11\n@end 2\n", "c:3: data at 0x12, not at 0x11"},
	{"@pmulab-log v1\nl 0\n@end 1\n", "c:2: not a whole number of bytes"},
	{"@pmulab-log v1\n[ 1.0] oops\n@end 1\n",
	 "c:2: not a line of a log: `[ 1.0] oops`"},
};

START_TEST(decode_log_malformed_is_refused)
{
	const char *text = bad_logs[_i].text;
	struct decode_log log;

	ck_assert_int_eq(
		decode_log_parse(&log, "c", text, strlen(text), err, sizeof(err)), -1);
	ck_assert_str_eq(err, bad_logs[_i].message);
	ck_assert_ptr_null(log.results);
}
END_TEST

START_TEST(decode_symbols_of_no_elf_are_refused)
{
	ck_assert_ptr_null(decode_symbols_load("/nowhere/agent", err, sizeof(err)));
	ck_assert_str_eq(err, "/nowhere/agent: No such file or directory");
	ck_assert_ptr_null(decode_symbols_load("/dev/null", err, sizeof(err)));
	ck_assert_str_eq(err, "/dev/null: not an ELF file");
	decode_symbols_free(NULL);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Suite *suite(void)
{
	Suite *s = suite_create("decode-log");
	TCase *tc = tcase_create("decode-log");

	tcase_add_test(tc, decode_log_is_found_in_a_console);
	tcase_add_loop_test(tc, decode_log_malformed_is_refused, 0, COUNT(bad_logs));
	tcase_add_test(tc, decode_symbols_of_no_elf_are_refused);
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
