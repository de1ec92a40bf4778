/* SPDX-License-Identifier: MIT */
/* Children count for their parents' events, as deep as they come. */
#include "conformance/perf-fixture.h"

#define CLONE_THREAD UINT64_C(0x10000)

static void setup_smp(void)
{
	fk = fk_create_smp("linux-6.1", 6, 2);
}

static struct perf_event_attr inherited(uint64_t config)
{
	struct perf_event_attr attr = fk_attr(config, 0);

	attr.inherit = 1;
	attr.disabled = 0;
	return attr;
}

static struct ksys_task *task(int n)
{
	return &fk->tasks[n];
}

static void fork_as(int n, uint64_t flags)
{
	ck_assert_int_eq(kperf_fork(fk->perf, fk->current, task(n), flags), 0);
}

/* The current task gives way to task @n, which runs @insns. */
static void run_as(int n, uint64_t insns)
{
	if (fk->current != task(n))
		fk_switch(fk, task(n));
	fk_run(fk, insns);
}

static void end_of(int n)
{
	if (fk->current != task(n))
		fk_switch(fk, task(n));
	fk_exit(fk);
	fk_reap(fk, task(n));
}

START_TEST(t7_children_add_to_their_parents_count)
{
	struct perf_event_attr attr = inherited(CYCLES);
	uint64_t v[3];
	long fd, own;

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_attr(attr);
	attr.inherit = 0;
	own = open_attr(attr);
	fk_run(fk, 100);
	fork_as(1, 0);
	run_as(1, 1000);
	fork_as(2, 0); /* a grandchild is the root's too */
	run_as(2, 20000);
	run_as(0, 7);
	ck_assert_uint_eq(fk_count(fk, fd), 21107);
	ck_assert_uint_eq(fk_count(fk, own), 107);
	fk_read(fk, fd, v, 24);
	ck_assert_uint_ge(v[1], 21107);
	ck_assert_uint_eq(v[1], v[2]);
	end_of(1);
	run_as(0, 1);
	ck_assert_uint_eq(fk_count(fk, fd), 21108);
	run_as(2, 5);
	end_of(2);
	run_as(0, 1);
	ck_assert_uint_eq(fk_count(fk, fd), 21114);
	fk_close(fk, own);
	/* RESET is of what the event counts itself, not of what came to it */
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_RESET, 0), 0);
	ck_assert_uint_eq(fk_count(fk, fd), 21005);
}
END_TEST

START_TEST(t7_a_child_on_another_cpu_is_read_there)
{
	long fd = open_attr(inherited(CYCLES));

	fork_as(1, 0);
	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_run(fk, 500);
	fk_cpu(fk, 0);
	fk_run(fk, 3);
	ck_assert_uint_eq(fk_count(fk, fd), 503);
	/* the whole family goes off and on */
	disable(fd);
	ck_assert_uint_eq(fk->still[1].pmu.pmcnten, 0);
	fk_cpu(fk, 1);
	fk_run(fk, 500);
	fk_cpu(fk, 0);
	enable(fd);
	fk_cpu(fk, 1);
	fk_run(fk, 40);
	end_of(1);
	fk_cpu(fk, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 543);
}
END_TEST

START_TEST(t7_what_is_inherited)
{
	struct perf_event_attr attr = inherited(CYCLES);
	long fd, threads;

	fd = open_attr(attr);
	attr.inherit_thread = 1;
	threads = open_attr(attr);
	fork_as(1, 0);
	fork_as(2, CLONE_THREAD);
	run_as(1, 100);
	run_as(2, 1000);
	end_of(1);
	end_of(2);
	run_as(0, 1);
	ck_assert_uint_eq(fk_count(fk, fd), 1101);
	ck_assert_uint_eq(fk_count(fk, threads), 1001);
	/* off is inherited as off, whatever the attributes say */
	disable(fd);
	fork_as(3, 0);
	run_as(3, 50);
	run_as(0, 1);
	ck_assert_uint_eq(fk_count(fk, fd), 1101);
	enable(fd);
	run_as(3, 50);
	end_of(3);
	run_as(0, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 1151);
}
END_TEST

/* One file, one ring: the root's, with the root's id and a stream of its own. */
START_TEST(t7_children_write_to_the_root_ring)
{
	struct perf_event_attr attr = inherited(CYCLES);
	uint64_t record[4];
	long fd;

	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;
	fd = fk_open_args(fk, &attr, 0, 0, -1, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	fork_as(1, 0);
	run_as(1, 1500);
	fork_as(2, 0);
	run_as(2, 1000);
	ck_assert_uint_eq(samples(), 2);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], UINT64_C(101) << 32 | 100);
	ck_assert_uint_eq(record[2], 1);
	ck_assert_uint_eq(record[3], 2);
	fk_record(&ring, 32, record);
	ck_assert_uint_eq(record[1], UINT64_C(102) << 32 | 100);
	ck_assert_uint_eq(record[2], 1);
	ck_assert_uint_eq(record[3], 3);
	/* over only when the last of the family is gone */
	end_of(1);
	fk_switch(fk, task(0));
	fk_exit(fk);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]) & 0x10, 0);
	end_of(2);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0x10);
	fk_switch(fk, task(3));
	close_mapped(fd);
}
END_TEST

START_TEST(t7_groups_are_inherited_whole)
{
	struct perf_event_attr attr = inherited(CYCLES);
	uint64_t v[8];
	long leader, member;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	leader = open_attr(attr);
	attr.config = INSTRUCTIONS;
	member = fk_open(fk, &attr, (int)leader);
	ck_assert_int_ge(member, 0);
	fork_as(1, 0);
	run_as(1, 100);
	run_as(0, 11);
	ck_assert_int_eq(fk_read(fk, leader, v, sizeof(v)), 40);
	ck_assert_uint_eq(v[0], 2);
	ck_assert_uint_eq(v[1], 111);
	ck_assert_uint_eq(v[2], 1);
	ck_assert_uint_eq(v[3], 111);
	ck_assert_uint_eq(v[4], 2);
	/* a group that has changed since has no sum */
	ck_assert_int_ge(fk_open(fk, &attr, (int)leader), 0);
	ck_assert_int_eq(fk_read(fk, leader, v, sizeof(v)), -ECHILD);
	end_of(1);
	run_as(0, 0);
	ck_assert_int_eq(fk_read(fk, leader, v, sizeof(v)), 56);
	ck_assert_uint_eq(v[1], 111);
}
END_TEST

/* Nobody can ask any more: the children's events go with the file. */
START_TEST(t7_closing_the_file_ends_the_children)
{
	long fd = open_attr(inherited(CYCLES));

	fork_as(1, 0);
	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_run(fk, 500);
	fk_cpu(fk, 0);
	fk_close(fk, fd);
	ck_assert_uint_eq(fk->still[1].pmu.pmcnten, 0);
	fk_cpu(fk, 1);
	fk_run(fk, 500);
	end_of(1);
	fk_cpu(fk, 0);
}
END_TEST

/* The n-th allocation fails, for every n: no child event, no half context. */
START_TEST(t7_a_fork_that_fails_leaves_nothing)
{
	struct perf_event_attr attr = inherited(CYCLES);
	long leader = open_attr(attr);
	unsigned n;

	attr.config = INSTRUCTIONS;
	fk_open(fk, &attr, (int)leader);
	open_attr(attr);
	for (n = 1;; n++) {
		unsigned before = fk->allocations;
		int ret;

		fk->fail_alloc = n;
		ret = kperf_fork(fk->perf, fk->current, task(1), 0);
		if (fk->fail_alloc) {
			ck_assert_int_eq(ret, 0);
			break;
		}
		ck_assert_int_eq(ret, -ENOMEM);
		ck_assert_uint_eq(fk->allocations, before);
		ck_assert_ptr_null(task(1)->perf);
		ck_assert_uint_eq(task(1)->refs, 1);
	}
	fk->fail_alloc = 0;
	ck_assert_uint_eq(n, 2 + 3 + 1); /* the task's, its context, events */
	kperf_task_free(fk->perf, task(1));
	ck_assert_ptr_null(task(1)->perf);
	fk_run(fk, 10);
	ck_assert_uint_eq(fk_count(fk, leader), 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inherit");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("inherit");
	int failed;

	tcase_add_checked_fixture(tcase, setup_smp, teardown);
	tcase_add_test(tcase, t7_children_add_to_their_parents_count);
	tcase_add_test(tcase, t7_a_child_on_another_cpu_is_read_there);
	tcase_add_test(tcase, t7_what_is_inherited);
	tcase_add_test(tcase, t7_children_write_to_the_root_ring);
	tcase_add_test(tcase, t7_groups_are_inherited_whole);
	tcase_add_test(tcase, t7_closing_the_file_ends_the_children);
	tcase_add_test(tcase, t7_a_fork_that_fails_leaves_nothing);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
