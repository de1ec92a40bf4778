/* SPDX-License-Identifier: MIT */
/* PERIOD, REFRESH, RESET, the group flag and the other ioctl numbers. */
#include <assert.h>

#include "conformance/perf-fixture.h"

/* --- ioctl ----------------------------------------------------------------- */

/* B8 */
START_TEST(period_acts_now)
{
	long fd = open_sampling(CYCLES, 10000);

	enable(fd);
	fk_run(fk, 4000);
	ck_assert_int_eq(fk_set_period(fk, fd, 1000), 0);
	ck_assert_uint_eq(last_cycle_write(), 0xfffffc18);
	ck_assert_uint_eq(fk_count(fk, fd), 4000);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, fd), 4500);
	fk_run(fk, 499);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 1);
	fk_run(fk, 2000);
	ck_assert_uint_eq(samples(), 3);
	close_mapped(fd);
}
END_TEST

START_TEST(period_same_value_restarts)
{
	long fd = open_sampling(CYCLES, 10000);

	enable(fd);
	fk_run(fk, 4000);
	ck_assert_int_eq(fk_set_period(fk, fd, 10000), 0);
	fk_run(fk, 9999);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 1);
	close_mapped(fd);
}
END_TEST

START_TEST(period_of_a_disabled_event)
{
	long fd = open_sampling(CYCLES, 10000);

	fk_log_clear(fk);
	ck_assert_int_eq(fk_set_period(fk, fd, 1000), 0);
	ck_assert_uint_eq(fk->nlog, 0);
	enable(fd);
	ck_assert_uint_eq(last_cycle_write(), 0xfffffc18);
	close_mapped(fd);
}
END_TEST

START_TEST(period_errors)
{
	long counting = open_attr(fk_attr(CYCLES, 0));
	long fd = open_attr(fk_attr(CYCLES, 10000));

	ck_assert_int_eq(fk_set_period(fk, counting, 1000), -EINVAL);
	ck_assert_int_eq(fk_set_period(fk, fd, 0), -EINVAL);
	ck_assert_int_eq(fk_set_period(fk, fd, UINT64_C(1) << 63), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PERIOD, 0), -EFAULT);
	ck_assert_int_eq(fk_ioctl(fk, counting, PERF_EVENT_IOC_PERIOD, 0), -EFAULT);
	ck_assert_int_eq(fk_set_period(fk, fd, (UINT64_C(1) << 63) - 1), 0);
}
END_TEST

/* B9 */
START_TEST(refresh_stops_inside_the_handler)
{
	long fd = open_sampling(CYCLES, 1000);

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	fk_run(fk, 10000);
	ck_assert_uint_eq(fk_count(fk, fd), 3000);
	ck_assert_uint_eq(samples(), 3);
	ck_assert_int_eq(kperf_event_counter(fk->fds[fd]), -ENOENT);
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	fk_run(fk, 10000);
	ck_assert_uint_eq(fk_count(fk, fd), 4000);
	ck_assert_uint_eq(samples(), 4);
	/* a plain ENABLE has no limit */
	enable(fd);
	fk_run(fk, 10000);
	ck_assert_uint_eq(samples(), 14);
	close_mapped(fd);
}
END_TEST

/* Linux __perf_event_overflow(): POLL_IN of each overflow, POLL_HUP of the last, and
 * of none before O_ASYNC is set. */
START_TEST(each_overflow_is_told_by_sigio)
{
	long fd = open_attr(fk_attr(CYCLES, 1000));

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 4), 0);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk->sigio_in, 0);
	fk->async = true;
	fk_run(fk, 2000);
	ck_assert_uint_eq(fk->sigio_in, 2);
	ck_assert_uint_eq(fk->sigio_hup, 0);
	fk_run(fk, 2000);
	ck_assert_uint_eq(fk->sigio_in, 2);
	ck_assert_uint_eq(fk->sigio_hup, 1);
}
END_TEST

START_TEST(refresh_disables_before_pmcr_is_on)
{
	long fd = open_sampling(CYCLES, 1000);
	unsigned off = 0;

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	fk_log_clear(fk);
	fk_run(fk, 1000);
	/* the counter's own enable is cleared between the two PMCR writes */
	for (unsigned i = 0; i < fk->nlog; i++) {
		if (fk->log[i].write && fk->log[i].reg == HAL_PMCNTENCLR_EL0 && !off)
			off = i;
		if (fk->log[i].write && fk->log[i].reg == HAL_PMCR_EL0 &&
		    fk->log[i].value & 1)
			ck_assert_uint_gt(off, 0);
	}
	ck_assert_uint_gt(off, 0);
	close_mapped(fd);
}
END_TEST

START_TEST(refresh_adds)
{
	long fd = open_sampling(CYCLES, 1000);

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	fk_run(fk, 1500);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	fk_run(fk, 5000);
	ck_assert_uint_eq(samples(), 4);
	ck_assert_uint_eq(fk_count(fk, fd), 4000);
	close_mapped(fd);
}
END_TEST

START_TEST(refresh_without_limit)
{
	long fd = open_sampling(CYCLES, 1000);

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 0), 0);
	fk_run(fk, 5000);
	ck_assert_uint_eq(samples(), 5);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, UINT64_MAX), 0);
	fk_run(fk, 5000);
	ck_assert_uint_eq(samples(), 10);
	close_mapped(fd);
}
END_TEST

START_TEST(refresh_errors)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	long counting = open_attr(fk_attr(CYCLES, 0));
	long fd;

	attr.inherit = 1;
	fd = open_attr(attr);
	ck_assert_int_eq(fk_ioctl(fk, counting, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
}
END_TEST

/* B10 */
START_TEST(reset_clears_the_count_only)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk_run(fk, 700);
	fk_log_clear(fk);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_RESET, 0), 0);
	ck_assert_uint_eq(fk->nlog, 1); /* one read, no write */
	ck_assert(!fk->log[0].write);
	ck_assert_uint_eq(fk->log[0].reg, HAL_PMCCNTR_EL0);
	ck_assert_uint_eq(fk_count(fk, fd), 0);
	fk_run(fk, 299);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(fk_count(fk, fd), 300);
	close_mapped(fd);
}
END_TEST

START_TEST(reset_leaves_times)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t before[3], after[3];

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	long fd = open_attr(attr);

	enable(fd);
	fk_run(fk, 100000);
	disable(fd);
	ck_assert_int_eq(fk_read(fk, fd, before, 24), 24);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_RESET, 0), 0);
	ck_assert_int_eq(fk_read(fk, fd, after, 24), 24);
	ck_assert_uint_eq(before[0], 100000);
	ck_assert_uint_eq(after[0], 0);
	ck_assert_uint_eq(after[1], before[1]);
	ck_assert_uint_eq(after[2], before[2]);
}
END_TEST

START_TEST(ioctl_group_flag)
{
	long leader = open_attr(fk_attr(CYCLES, 0));
	struct perf_event_attr attr = fk_attr(INSTRUCTIONS, 0);
	long member = fk_open(fk, &attr, (int)leader);

	ck_assert_int_eq(fk_ioctl(fk, member, PERF_EVENT_IOC_ENABLE, 1), 0);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, leader), 500);
	ck_assert_uint_eq(fk_count(fk, member), 500);
	ck_assert_int_eq(fk_ioctl(fk, leader, PERF_EVENT_IOC_RESET, UINT64_MAX), 0);
	ck_assert_uint_eq(fk_count(fk, leader), 0);
	ck_assert_uint_eq(fk_count(fk, member), 0);
	/* only bit 0 counts: this is the leader alone, which stops both */
	ck_assert_int_eq(fk_ioctl(fk, leader, PERF_EVENT_IOC_DISABLE, 2), 0);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, member), 0);
	/* the member stayed on and comes back with its leader */
	enable(leader);
	fk_run(fk, 300);
	ck_assert_uint_eq(fk_count(fk, member), 300);
}
END_TEST

START_TEST(ioctl_others)
{
	long fd = open_attr(fk_attr(CYCLES, 0));
	struct perf_event_attr attr = fk_attr(CYCLES, 0);

	ck_assert_int_eq(fk_ioctl(fk, fd, 0x1234, 0), -ENOTTY);
	ck_assert_int_eq(fk_ioctl(fk, fd, 0, 0), -ENOTTY);
	/* the 32-bit form of ID */
	ck_assert_int_eq(fk_ioctl(fk, fd, 0x80042407, FK_USER_BASE), -ENOTTY);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ID, 0), -EFAULT);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_SET_FILTER, 0), -EFAULT);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_SET_FILTER, FK_USER_BASE),
			 -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_SET_BPF, 50), -EBADF);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_SET_BPF, (uint64_t)fd), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0), -EFAULT);
	memcpy(fk->user, &attr, sizeof(attr));
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, FK_USER_BASE),
			 -EOPNOTSUPP);
	attr.type = PERF_TYPE_RAW;
	memcpy(fk->user, &attr, sizeof(attr));
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, FK_USER_BASE),
			 -EINVAL);
	memset(fk->caps, 0, sizeof(fk->caps));
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EPERM);
}
END_TEST

/* A 32-bit program's numbers carry the size of its own pointer where the UAPI
 * has one; Linux perf_compat_ioctl() widens these four and no other. A core
 * takes the wide ones only: whoever serves 32-bit programs translates. The attr
 * has no pointer and no padding, so its layout is one. */
START_TEST(ioctl_of_32_bit_programs_differ_in_four_numbers)
{
	static const struct {
		uint32_t wide, narrow;
	} rows[] = {
		{PERF_EVENT_IOC_SET_FILTER, 0x40042406},
		{PERF_EVENT_IOC_ID, 0x80042407},
		{PERF_EVENT_IOC_QUERY_BPF, 0xc004240a},
		{PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0x4004240b},
	};
	const uint32_t size_bits = 0x3fff0000; /* _IOC: size 16..29 */
	long fd = open_attr(fk_attr(CYCLES, 0));

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_uint_eq(rows[i].wide & ~size_bits, rows[i].narrow & ~size_bits);
		ck_assert_uint_eq(rows[i].wide & size_bits, 8 << 16);
		ck_assert_int_eq(fk_ioctl(fk, fd, rows[i].narrow, 0), -ENOTTY);
		ck_assert_int_ne(fk_ioctl(fk, fd, rows[i].wide, 0), -ENOTTY);
	}
	fk_close(fk, fd);
	static_assert(offsetof(struct perf_event_attr, config) == 8 &&
			      offsetof(struct perf_event_attr, branch_sample_type) ==
				      72 &&
			      offsetof(struct perf_event_attr, aux_watermark) == 104 &&
			      offsetof(struct perf_event_attr, sig_data) == 120,
		      "no hole that a 32-bit compiler would lay out in another way");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ioctl");
	TCase *tcase = tcase_create("ioctl");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, ioctl_of_32_bit_programs_differ_in_four_numbers);
	tcase_add_test(tcase, period_acts_now);
	tcase_add_test(tcase, period_same_value_restarts);
	tcase_add_test(tcase, period_of_a_disabled_event);
	tcase_add_test(tcase, period_errors);
	tcase_add_test(tcase, refresh_stops_inside_the_handler);
	tcase_add_test(tcase, each_overflow_is_told_by_sigio);
	tcase_add_test(tcase, refresh_disables_before_pmcr_is_on);
	tcase_add_test(tcase, refresh_adds);
	tcase_add_test(tcase, refresh_without_limit);
	tcase_add_test(tcase, refresh_errors);
	tcase_add_test(tcase, reset_clears_the_count_only);
	tcase_add_test(tcase, reset_leaves_times);
	tcase_add_test(tcase, ioctl_group_flag);
	tcase_add_test(tcase, ioctl_others);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
