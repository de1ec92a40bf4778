/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out: the n-th allocation fails, for every n that a sequence of
 * calls makes. The call that meets it says ENOMEM, everything before it still
 * works, nothing is half made and nothing is left behind.
 */
#include <poll.h>

#include "conformance/perf-fixture.h"

enum {
	FEWEST = 9,
	MOST = 64,
	KEPT = 2 /* by a task for good: its context, and what it has opened */
};

struct steps {
	long leader, member, other;
	long mapped, output;
	struct fk_ring ring;
};

static struct perf_event_attr any_attr(uint64_t config)
{
	struct perf_event_attr attr = fk_attr(config, 1000);

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_LOST;
	return attr;
}

static void is_memory(long ret)
{
	ck_assert_msg(ret >= 0 || ret == -ENOMEM, "%ld", ret);
}

static void check_works(const struct steps *s)
{
	uint64_t values[2];

	if (s->leader < 0)
		return;
	enable(s->leader);
	fk_run(fk, 2500);
	disable(s->leader);
	ck_assert_int_eq(fk_read(fk, s->leader, values, 16), 16);
	ck_assert_uint_eq(values[0], 2500);
	ck_assert_uint_eq(values[1], 0);
	if (s->mapped)
		ck_assert_uint_eq(kperf_poll(fk->fds[s->leader]), POLLHUP);
	else
		ck_assert_uint_eq(fk_records(&s->ring, 0, PERF_RECORD_SAMPLE),
				  s->member >= 0 && !s->output ? 4 : 2);
}

static void run_steps(struct steps *s)
{
	struct perf_event_attr attr = any_attr(CYCLES);

	s->mapped = s->output = -EINVAL;
	s->member = -1;
	s->leader = fk_open(fk, &attr, -1);
	is_memory(s->leader);
	if (s->leader >= 0) {
		attr = any_attr(INSTRUCTIONS);
		attr.disabled = 0;
		s->member = fk_open(fk, &attr, (int)s->leader);
		is_memory(s->member);
		s->mapped = fk_mmap(fk, s->leader, 4, 3, &s->ring);
		is_memory(s->mapped);
	}
	if (!s->mapped && s->member >= 0)
		s->output = fk_ioctl(fk, s->member, PERF_EVENT_IOC_SET_OUTPUT,
				     (uint64_t)s->leader);
	/* a ring of its own from the start, and an event of the CPU */
	attr = any_attr(CYCLES);
	s->other =
		s->mapped ? -1 : fk_open_args(fk, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	ck_assert(s->other >= 0 || s->other == -1 || s->other == -ENOMEM);
	check_works(s);
}

static void undo_steps(struct steps *s)
{
	struct kperf_event *mapped = s->mapped ? NULL : fk->fds[s->leader];

	if (s->other >= 0)
		fk_close(fk, s->other);
	if (s->member >= 0)
		fk_close(fk, s->member);
	if (s->leader >= 0)
		fk_close(fk, s->leader);
	if (mapped)
		kperf_munmap(mapped);
}


START_TEST(alloc_failure_at_every_allocation)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	unsigned n, kept;

	for (n = 1; n < MOST; n++) {
		struct steps s = {0};

		teardown();
		fk = fk_create(_i ? "linux-6.12" : "linux-6.1", 6, true);
		kept = fk->allocations;
		fk->fail_alloc = n;
		run_steps(&s);
		undo_steps(&s);
		ck_assert_uint_le(fk->allocations, kept + KEPT);
		if (fk->fail_alloc)
			break;
		/* and the next ones have all they need */
		run_steps(&s);
		ck_assert_int_ge(s.leader, 0);
		ck_assert_int_ge(s.member, 0);
		ck_assert_int_ge(s.other, 0);
		ck_assert_int_eq(s.mapped, 0);
		ck_assert_int_eq(s.output, 0);
		undo_steps(&s);
		fk_close(fk, open_attr(attr));
		ck_assert_uint_eq(fk->allocations, kept + KEPT);
	}
	/* the last one did not come to its failure: all of them have had theirs */
	ck_assert_uint_gt(n, FEWEST);
	ck_assert_uint_lt(n, MOST);
}
END_TEST

START_TEST(alloc_failure_while_the_core_is_made)
{
	/* fk_create() cannot be told; the core's own makers can */
	struct kperf *perf;

	for (unsigned n = 1; n <= 2; n++) {
		unsigned before = fk->allocations;

		fk->fail_alloc = n;
		ck_assert_int_eq(kperf_create(&fk->sys, "linux-6.1", &perf), -ENOMEM);
		ck_assert_uint_eq(fk->allocations, before);
	}
	ck_assert_int_eq(kperf_create(&fk->sys, "linux-6.1", &perf), 0);
	kperf_destroy(perf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("alloc");
	TCase *tcase = tcase_create("alloc");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, alloc_failure_at_every_allocation, 0, 2);
	tcase_add_test(tcase, alloc_failure_while_the_core_is_made);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
