/* SPDX-License-Identifier: MIT */
/* Who is on a counter and for how long, and what read() says of it. */
#include "conformance/perf-fixture.h"

/* --- scheduling ------------------------------------------------------------ */

START_TEST(sched_without_a_free_counter)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[3];
	long fd[8];

	attr.disabled = 0;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int i = 0; i < 8; i++)
		fd[i] = open_attr(attr);
	fk_run(fk, 100000);
	for (int i = 0; i < 7; i++) {
		ck_assert_int_eq(fk_read(fk, fd[i], v, 24), 24);
		ck_assert_uint_eq(v[0], 100000);
		ck_assert_uint_eq(v[1], v[2]);
		ck_assert_uint_ge(v[1], 100000);
	}
	ck_assert_int_eq(kperf_event_counter(fk->fds[fd[7]]), -ENOENT);
	ck_assert_int_eq(fk_read(fk, fd[7], v, 24), 24);
	ck_assert_uint_eq(v[0], 0);
	ck_assert_uint_ge(v[1], 100000);
	ck_assert_uint_eq(v[2], 0);
	/* room alone does not put it on; the next rescheduling does */
	fk_close(fk, fd[0]);
	ck_assert_int_eq(kperf_event_counter(fk->fds[fd[7]]), -ENOENT);
	disable(fd[1]);
	enable(fd[1]);
	ck_assert_int_ge(kperf_event_counter(fk->fds[fd[7]]), 0);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, fd[7]), 1000);
}
END_TEST

START_TEST(sched_group_all_or_nothing)
{
	struct perf_event_attr attr = fk_attr(INSTRUCTIONS, 0);
	long single[5], leader, member;

	attr.disabled = 0;
	for (int i = 0; i < 5; i++)
		single[i] = open_attr(attr);
	attr.disabled = 1;
	leader = open_attr(attr);
	attr.disabled = 0;
	attr.config = CYCLES; /* fits, by the cycle counter */
	ck_assert_int_ge(fk_open(fk, &attr, (int)leader), 0);
	attr.config = INSTRUCTIONS;
	member = fk_open(fk, &attr, (int)leader);
	ck_assert_int_ge(member, 0);
	enable(leader); /* one free event counter, two wanted */
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, leader), 0);
	ck_assert_uint_eq(fk_count(fk, member), 0);
	ck_assert_uint_eq(fk_count(fk, single[4]), 1000);
	ck_assert_uint_eq(fk->pmu.pmcnten, 0x1f);
	/* a later single may not overtake the group that waits */
	attr.disabled = 0;
	long late = open_attr(attr);
	fk_run(fk, 10);
	ck_assert_uint_eq(fk_count(fk, late), 0);
	disable(single[0]);
	fk_mask(fk);
	kperf_sched_out(fk->perf, &fk->hal, fk->current);
	kperf_sched_in(fk->perf, &fk->hal, fk->current);
	fk_unmask(fk);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, leader), 500);
	ck_assert_uint_eq(fk_count(fk, member), 500);
	ck_assert_uint_eq(fk_count(fk, late), 0);
}
END_TEST

START_TEST(sched_member_waits_for_its_leader)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[3];

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	long leader = open_attr(attr);
	long member = fk_open(fk, &attr, (int)leader);

	enable(member);
	fk_run(fk, 1000);
	ck_assert_int_eq(fk_read(fk, member, v, 24), 24);
	ck_assert_uint_eq(v[0] | v[1] | v[2], 0);
	/* it is free once the leader is gone, and on at the next switch */
	fk_close(fk, leader);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, member), 0);
	fk_mask(fk);
	kperf_sched_out(fk->perf, &fk->hal, fk->current);
	kperf_sched_in(fk->perf, &fk->hal, fk->current);
	fk_unmask(fk);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, member), 1000);
}
END_TEST

START_TEST(sched_members_outlive_their_leader)
{
	long leader = open_attr(fk_attr(CYCLES, 0));
	struct perf_event_attr attr = fk_attr(INSTRUCTIONS, 0);
	long member = fk_open(fk, &attr, (int)leader);

	ck_assert_int_eq(fk_ioctl(fk, leader, PERF_EVENT_IOC_ENABLE, 1), 0);
	fk_run(fk, 1000);
	fk_close(fk, leader);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, member), 2000);
	disable(member);
	enable(member);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, member), 3000);
}
END_TEST

START_TEST(sched_pinned_without_room_is_an_error)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[1];
	long fd = -1, flexible;

	attr.disabled = 0;
	flexible = open_attr(attr);
	attr.pinned = 1;
	for (int i = 0; i < 7; i++)
		fd = open_attr(attr);
	ck_assert_int_ge(kperf_event_counter(fk->fds[fd]), 0);
	/* pinned ones pushed it out */
	ck_assert_int_eq(kperf_event_counter(fk->fds[flexible]), -ENOENT);
	fd = open_attr(attr);
	ck_assert_int_eq(fk_read(fk, fd, v, 8), 0);
	ck_assert_int_eq(fk_read(fk, fd, v, 0), 0);
	/* ENABLE leads out of the error, into it again */
	enable(fd);
	ck_assert_int_eq(fk_read(fk, fd, v, 8), 0);
}
END_TEST

START_TEST(sched_exclusive_is_alone)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long a, b, c;

	attr.disabled = 0;
	a = open_attr(attr);
	attr.exclusive = 1;
	b = open_attr(attr);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, a), 100);
	ck_assert_uint_eq(fk_count(fk, b), 0);
	disable(a);
	disable(b);
	enable(b);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, b), 100);
	/* both anew, in order of arrival */
	enable(a);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, b), 100);
	ck_assert_uint_eq(fk_count(fk, a), 200);
	/* nor does one that comes later get on beside it */
	disable(a);
	attr.exclusive = 0;
	c = open_attr(attr);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, b), 200);
	ck_assert_uint_eq(fk_count(fk, c), 0);
}
END_TEST

START_TEST(sched_other_task_does_not_count)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long other = fk_open_args(fk, &attr, 101, -1, -1, 0);
	long mine = open_attr(attr);
	long cpu = fk_open_args(fk, &attr, -1, 0, -1, 0);

	ck_assert_int_ge(other, 0);
	ck_assert_int_ge(cpu, 0);
	enable(other);
	enable(mine);
	enable(cpu);
	fk_run(fk, 1000);
	task_out(0); /* 5000 by the other task */
	ck_assert_uint_eq(fk_count(fk, other), 5000);
	ck_assert_uint_eq(fk_count(fk, mine), 1000);
	ck_assert_uint_eq(fk_count(fk, cpu), 6000);
	task_in(0);
	fk_run(fk, 10);
	ck_assert_uint_eq(fk_count(fk, other), 5000);
	ck_assert_uint_eq(fk_count(fk, mine), 1010);
	ck_assert_uint_eq(fk_count(fk, cpu), 6010);
	fk_close(fk, other);
	kperf_task_exit(fk->perf, &fk->tasks[1]);
}
END_TEST

START_TEST(sched_event_of_another_cpu_stays_off)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[3];

	attr.disabled = 0;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	long there = fk_open_args(fk, &attr, 0, 1, -1, 0);
	long here = fk_open_args(fk, &attr, 0, 0, -1, 0);

	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, here), 1000);
	ck_assert_int_eq(fk_read(fk, there, v, 24), 24);
	ck_assert_uint_eq(v[0], 0);
	ck_assert_uint_ge(v[1], 1000);
	ck_assert_uint_eq(v[2], 0);
}
END_TEST

START_TEST(sched_chain_alone_never_runs)
{
	struct perf_event_attr attr = fk_attr(0x1e, 0);

	attr.type = PERF_TYPE_RAW;
	attr.disabled = 0;

	long fd = open_attr(attr);
	long other = open_attr(fk_attr(CYCLES, 0));

	enable(other);
	ck_assert_int_eq(kperf_event_counter(fk->fds[fd]), -ENOENT);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, fd), 0);
	ck_assert_uint_eq(fk_count(fk, other), 100);
}
END_TEST

START_TEST(exit_ends_events_for_good)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long fd = open_sampling(CYCLES, 1000);
	long plain = open_attr(attr);

	enable(fd);
	enable(plain);
	fk_run(fk, 2500);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	kperf_task_exit(fk->perf, fk->current);
	fk->current = &fk->tasks[1];
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
	ck_assert_uint_ge(fk->wakes, 1);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0x10);
	ck_assert_uint_eq(fk_count(fk, fd), 2500);
	ck_assert_uint_eq(fk_count(fk, plain), 2500);
	ck_assert_uint_eq(samples(), 2);
	enable(fd);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, fd), 2500);
	ck_assert_int_eq(fk_set_period(fk, fd, 500), 0);
	close_mapped(fd);
	fk_close(fk, plain);
	/* nobody looks at the task any more */
	ck_assert_uint_eq(fk->tasks[0].refs, 1);
}
END_TEST

/* A pinned event of a task goes before the CPU's flexible ones. */
START_TEST(sched_pinned_task_event_displaces_the_cpus)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long cpu[7], pinned;

	attr.pinned = 1;
	attr.disabled = 0;
	pinned = fk_open_args(fk, &attr, 101, -1, -1, 0);
	ck_assert_int_ge(pinned, 0);
	attr.pinned = 0;
	for (int i = 0; i < 7; i++)
		cpu[i] = fk_open_args(fk, &attr, -1, 0, -1, 0);
	fk_run(fk, 100);
	task_out(0);
	ck_assert_uint_eq(fk_count(fk, pinned), 5000);
	ck_assert_uint_eq(fk_count(fk, cpu[0]), 5100);
	ck_assert_uint_eq(fk_count(fk, cpu[6]), 100);
	task_in(0);
	fk_close(fk, pinned);
	kperf_task_exit(fk->perf, &fk->tasks[1]);
}
END_TEST

/* --- read ------------------------------------------------------------------ */

/* B29 and the layout of all 16 formats without a group. */
START_TEST(read_formats)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct perf_event_attr attr = fk_attr(CYCLES, 0);
		bool group = format & PERF_FORMAT_GROUP;
		uint64_t v[16] = {0}, size = 8, id;
		unsigned n = 0;
		long fd;

		attr.read_format = format;
		fd = open_attr(attr);
		id = fk_id(fk, fd);
		enable(fd);
		fk_run(fk, 1000);
		disable(fd);
		for (unsigned bit = 0; bit < 5; bit++)
			size += format >> bit & 1 ? 8 : 0;
		ck_assert_int_eq(fk_read(fk, fd, v, size - 1), -ENOSPC);
		ck_assert_int_eq(fk_read(fk, fd, v, 4), -ENOSPC);
		ck_assert_int_eq(kperf_read(fk->fds[fd], 0, size - 1), -ENOSPC);
		ck_assert_int_eq(kperf_read(fk->fds[fd], 0, size), -EFAULT);
		ck_assert_int_eq(fk_read(fk, fd, v, size + 100), (long)size);
		if (group)
			ck_assert_uint_eq(v[n++], 1);
		else
			ck_assert_uint_eq(v[n++], 1000);
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			ck_assert_uint_ge(v[n++], 1000);
		if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			ck_assert_uint_ge(v[n++], 1000);
		if (group)
			ck_assert_uint_eq(v[n++], 1000);
		if (format & PERF_FORMAT_ID)
			ck_assert_uint_eq(v[n++], id);
		if (format & PERF_FORMAT_LOST)
			ck_assert_uint_eq(v[n++], 0);
		ck_assert_uint_eq(n * 8, size);
		fk_close(fk, fd);
	}
}
END_TEST

START_TEST(read_group)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[16];
	long fd[3];

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			   PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int i = 0; i < 3; i++)
		fd[i] = fk_open(fk, &attr, i ? (int)fd[0] : -1);
	ck_assert_int_eq(fk_ioctl(fk, fd[0], PERF_EVENT_IOC_ENABLE, 1), 0);
	fk_run(fk, 1000);
	/* any member gives the whole group, running counts included */
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(fk_read(fk, fd[i], v, sizeof(v)), 72);
		ck_assert_uint_eq(v[0], 3);
		ck_assert_uint_eq(v[1], v[2]);
		for (unsigned m = 0; m < 3; m++) {
			ck_assert_uint_eq(v[3 + 2 * m], 1000);
			ck_assert_uint_eq(v[4 + 2 * m], m + 1);
		}
	}
	fk_close(fk, fd[1]);
	ck_assert_int_eq(fk_read(fk, fd[0], v, sizeof(v)), 56);
	ck_assert_uint_eq(v[0], 2);
	ck_assert_uint_eq(v[6], 3);
}
END_TEST

/* Enabled and running time, exactly: the fake clock moves by a run's ns and 16
 * a clock read. */
START_TEST(read_times_stand_still_when_off)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t a[3], b[3];

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	long fd = open_attr(attr);

	fk_run(fk, 1000000);
	enable(fd);
	fk_run(fk, 500000);
	disable(fd);
	ck_assert_int_eq(fk_read(fk, fd, a, 24), 24);
	ck_assert_uint_ge(a[1], 500000);
	ck_assert_uint_le(a[1], 500000 + 10 * FK_NS_A_CLOCK_READ);
	ck_assert_uint_eq(a[1], a[2]);
	fk_run(fk, 1000000);
	ck_assert_int_eq(fk_read(fk, fd, b, 24), 24);
	ck_assert_mem_eq(a, b, 24);
	enable(fd);
	fk_run(fk, 500000);
	ck_assert_int_eq(fk_read(fk, fd, b, 24), 24);
	ck_assert_uint_ge(b[1], 1000000);
	ck_assert_uint_le(b[1], 1000000 + 20 * FK_NS_A_CLOCK_READ);
	/* out of the CPU the task's time does not run */
	fk_run(fk, 1000);
	task_out(fd);
	fk->ns += 1000000;
	ck_assert_int_eq(fk_read(fk, fd, a, 24), 24);
	ck_assert_uint_ge(a[1], 1001000);
	ck_assert_uint_le(a[1], 1001000 + 20 * FK_NS_A_CLOCK_READ);
	ck_assert_uint_eq(a[1], a[2]);
	task_in(fd);
	fk_run(fk, 1000);
	ck_assert_int_eq(fk_read(fk, fd, b, 24), 24);
	ck_assert_uint_ge(b[1], 1002000);
	ck_assert_uint_le(b[1], 1002000 + 30 * FK_NS_A_CLOCK_READ);
}
END_TEST

/* What a member's clock does while its leader is off. */
START_TEST(read_times_of_a_member_follow_the_leader)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[3];
	long leader, member;

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = open_attr(attr);
	member = fk_open(fk, &attr, (int)leader);
	enable(member);
	for (unsigned i = 0; i < 2; i++) {
		fk_run(fk, 1000000); /* off: not its time */
		enable(leader);
		fk_run(fk, 1000);
		disable(leader);
	}
	fk_run(fk, 1000000);
	ck_assert_int_eq(fk_read(fk, member, v, 24), 24);
	ck_assert_uint_eq(v[0], 2000);
	ck_assert_uint_ge(v[1], 2000);
	ck_assert_uint_le(v[1], 2000 + 40 * FK_NS_A_CLOCK_READ);
	ck_assert_uint_eq(v[1], v[2]);
}
END_TEST

START_TEST(read_times_begin_with_the_event)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t v[3];
	long fd;

	attr.disabled = 0;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fk_close(fk, open_attr(attr)); /* the context has no event again */
	fk_run(fk, 1000000);
	fd = open_attr(attr);
	fk_run(fk, 1000);
	ck_assert_int_eq(fk_read(fk, fd, v, 24), 24);
	ck_assert_uint_ge(v[1], 1000);
	ck_assert_uint_le(v[1], 1000 + 20 * FK_NS_A_CLOCK_READ);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sched");
	TCase *tcase = tcase_create("sched");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, sched_without_a_free_counter);
	tcase_add_test(tcase, sched_group_all_or_nothing);
	tcase_add_test(tcase, sched_member_waits_for_its_leader);
	tcase_add_test(tcase, sched_members_outlive_their_leader);
	tcase_add_test(tcase, sched_pinned_without_room_is_an_error);
	tcase_add_test(tcase, sched_exclusive_is_alone);
	tcase_add_test(tcase, sched_other_task_does_not_count);
	tcase_add_test(tcase, sched_event_of_another_cpu_stays_off);
	tcase_add_test(tcase, sched_chain_alone_never_runs);
	tcase_add_test(tcase, exit_ends_events_for_good);
	tcase_add_test(tcase, sched_pinned_task_event_displaces_the_cpus);
	tcase_add_test(tcase, read_formats);
	tcase_add_test(tcase, read_group);
	tcase_add_test(tcase, read_times_stand_still_when_off);
	tcase_add_test(tcase, read_times_of_a_member_follow_the_leader);
	tcase_add_test(tcase, read_times_begin_with_the_event);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
