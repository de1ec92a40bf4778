/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/trace.h"

static struct bus_log log_a, log_b;

static void fresh_logs(void)
{
	log_a.n = log_a.seen = 0;
	log_b.n = log_b.seen = 0;
}

START_TEST(trace_names_round_trip_and_are_unique)
{
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		const char *name = trace_kind_name((enum trace_kind)kind);

		ck_assert_ptr_nonnull(name);
		ck_assert_int_eq(trace_kind_from_name(name), kind);
	}
	ck_assert_ptr_null(trace_kind_name(TRACE_KINDS));
	ck_assert_int_eq(trace_kind_from_name("flag"), -1);
	ck_assert_int_eq(trace_kind_from_name(""), -1);
}
END_TEST

/* The spelling is part of the scenario grammar. */
START_TEST(trace_names_are_those_of_the_grammar)
{
	static const char *const names[] = {
		"wrap",	     "flag-set", "flag-clear",	"line",
		"pending",   "ack",	 "eoi",		"taken",
		"exception", "eret",	 "sysreg-read", "sysreg-write",
		"inject",    "record",	 "lost",	"wakeup",
		"mask",
		"serve",
		"arm",
		"store",
		"head",
		"adjust",
	};

	ck_assert_uint_eq(sizeof(names) / sizeof(names[0]), TRACE_KINDS);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		ck_assert_str_eq(trace_kind_name((enum trace_kind)kind), names[kind]);
}
END_TEST

START_TEST(trace_args_are_named_from_the_front_and_differ)
{
	for (int k = 0; k < TRACE_KINDS; k++) {
		const enum trace_kind kind = (enum trace_kind)k;

		ck_assert_ptr_nonnull(trace_arg_name(kind, 0));
		for (unsigned i = 1; i < 3; i++) {
			const char *name = trace_arg_name(kind, i);

			if (!name)
				continue;
			ck_assert_ptr_nonnull(trace_arg_name(kind, i - 1));
			for (unsigned j = 0; j < i; j++)
				ck_assert_str_ne(name, trace_arg_name(kind, j));
		}
		ck_assert_ptr_null(trace_arg_name(kind, 3));
	}
	ck_assert_ptr_null(trace_arg_name(TRACE_KINDS, 0));
	ck_assert_str_eq(trace_arg_name(TRACE_SYSREG_WRITE, 0), "reg");
	ck_assert_str_eq(trace_arg_name(TRACE_SYSREG_WRITE, 1), "value");
	ck_assert_str_eq(trace_arg_name(TRACE_WRAP, 0), "counter");
	ck_assert_str_eq(trace_arg_name(TRACE_EXCEPTION, 2), "far");
	ck_assert_ptr_null(trace_arg_name(TRACE_ACK, 1));
}
END_TEST

START_TEST(trace_emit_reaches_every_listener_with_the_time_of_now)
{
	struct trace_bus bus;
	uint64_t now = 5;

	trace_bus_init(&bus, &now);
	trace_emit(&bus, 0, TRACE_WRAP, 1, 2, 3); /* nobody hears it */
	ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &log_a), 0);
	trace_emit(&bus, 3, TRACE_EXCEPTION, 7, 8, 9);
	ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &log_b), 0);
	now = 77;
	trace_emit(&bus, 0, TRACE_LINE, 23, 1, 0);

	ck_assert_uint_eq(log_a.event[0].c, 9);
	ck_assert_uint_eq(log_a.event[0].cpu, 3);
	bus_log_next(&log_a, 5, TRACE_EXCEPTION, 7, 8);
	bus_log_next(&log_a, 77, TRACE_LINE, 23, 1);
	bus_log_end(&log_a);
	bus_log_next(&log_b, 77, TRACE_LINE, 23, 1);
	bus_log_end(&log_b);
}
END_TEST

static void keep_data(void *opaque, const struct trace_event *event)
{
	*(const void **)opaque = event->data;
}

START_TEST(trace_data_is_there_only_where_it_was_given)
{
	const void *data = &data;
	const char bytes[4] = "abc";
	struct trace_bus bus;
	uint64_t now = 0;

	trace_bus_init(&bus, &now);
	ck_assert_int_eq(trace_subscribe(&bus, keep_data, &data), 0);
	trace_emit(&bus, 0, TRACE_STORE, 1, 2, 0);
	ck_assert_ptr_null(data);
	trace_emit_data(&bus, 0, TRACE_STORE, 1, 2, sizeof(bytes), bytes);
	ck_assert_ptr_eq(data, bytes);
}
END_TEST

START_TEST(trace_subscribe_refuses_one_too_many)
{
	struct trace_bus bus;
	uint64_t now = 0;

	trace_bus_init(&bus, &now);
	for (int i = 0; i < TRACE_LISTENERS; i++)
		ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &log_a), 0);
	ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &log_b), -ENOSPC);
	trace_emit(&bus, 0, TRACE_ERET, 0, 0, 0);
	ck_assert_uint_eq(log_a.n, TRACE_LISTENERS);
	ck_assert_uint_eq(log_b.n, 0);
}
END_TEST

START_TEST(trace_emit_without_a_bus_does_nothing)
{
	trace_emit(NULL, 0, TRACE_WRAP, 0, 0, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace");
	TCase *tc = tcase_create("bus");

	tcase_add_checked_fixture(tc, fresh_logs, NULL);
	tcase_add_test(tc, trace_names_round_trip_and_are_unique);
	tcase_add_test(tc, trace_names_are_those_of_the_grammar);
	tcase_add_test(tc, trace_args_are_named_from_the_front_and_differ);
	tcase_add_test(tc, trace_emit_reaches_every_listener_with_the_time_of_now);
	tcase_add_test(tc, trace_data_is_there_only_where_it_was_given);
	tcase_add_test(tc, trace_subscribe_refuses_one_too_many);
	tcase_add_test(tc, trace_emit_without_a_bus_does_nothing);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
