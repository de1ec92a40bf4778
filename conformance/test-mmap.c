/* SPDX-License-Identifier: MIT */
/* Mapping, redirection, and what munmap and close leave armed. */
#include "conformance/ring-fixture.h"

/* --- mmap ------------------------------------------------------------------ */

static long try_mmap(long fd, uint64_t size, uint64_t pgoff, unsigned flags)
{
	void *const *pages;
	size_t npages;

	return kperf_mmap(fk->fds[fd], size, pgoff, 3, flags, &pages, &npages);
}

START_TEST(mmap_sizes)
{
	for (uint64_t pages = 1; pages <= 130; pages++) {
		uint64_t data = pages - 1;
		bool ok = !(data & (data - 1));
		long fd = open_type(TYPE_24);

		ck_assert_int_eq(try_mmap(fd, pages * 4096, 0, KPERF_MAP_SHARED),
				 ok ? 0 : -EINVAL);
		if (ok)
			munmap_fd(fd);
		fk_close(fk, fd);
	}
}
END_TEST

START_TEST(mmap_errors)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	long fd = open_type(TYPE_24), child;

	ck_assert_int_eq(try_mmap(fd, 8192, 0, 0), -EINVAL);
	ck_assert_int_eq(try_mmap(fd, 8192, 2, KPERF_MAP_SHARED), -EINVAL);
	attr.inherit = 1;
	child = open_attr(attr);
	ck_assert_int_eq(try_mmap(child, 8192, 0, KPERF_MAP_SHARED), -EINVAL);
	child = fk_open_args(fk, &attr, 0, 0, -1, 0);
	ck_assert_int_eq(try_mmap(child, 8192, 0, KPERF_MAP_SHARED), 0);
	munmap_fd(child);
	/* an AUX area must lie behind the data, and there is no such PMU */
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	ck_assert_int_eq(try_mmap(fd, 8192, 2, KPERF_MAP_SHARED), -EINVAL);
	ring.page->aux_offset = 8192;
	ring.page->aux_size = 8192;
	ck_assert_int_eq(try_mmap(fd, 8192, 2, KPERF_MAP_SHARED), -EOPNOTSUPP);
	ck_assert_int_eq(try_mmap(fd, 4096, 2, KPERF_MAP_SHARED), -EINVAL);
	ck_assert_int_eq(try_mmap(fd, 8192, 3, KPERF_MAP_SHARED), -EINVAL);
	munmap_fd(fd);
}
END_TEST

START_TEST(mmap_twice_shares)
{
	struct fk_ring again;
	long fd = open_mapped(ring_attr(TYPE_24));

	ck_assert_int_eq(fk_mmap(fk, fd, 2, 3, &again), -EINVAL);
	ck_assert_int_eq(fk_mmap(fk, fd, 0, 3, &again), -EINVAL);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 1, &again), 0);
	ck_assert_ptr_eq(again.page, ring.page);
	munmap_fd(fd);
	write_records(fd, 1);
	expect_sample(0, 24, 1);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	munmap_fd(fd);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), HUP);
}
END_TEST

START_TEST(mmap_limit)
{
	long fd = open_type(TYPE_24);

	/* root may */
	fk->sysctl[KSYS_SYSCTL_MLOCK_KB] = 0;
	fk->sysctl[KSYS_SYSCTL_PARANOID] = 2;
	ck_assert_int_eq(try_mmap(fd, 2049 * 4096, 0, KPERF_MAP_SHARED), 0);
	munmap_fd(fd);
	/* 8 MiB of locked memory are everybody's */
	fk->caps[KSYS_CAP_IPC_LOCK] = false;
	ck_assert_int_eq(try_mmap(fd, 2049 * 4096, 0, KPERF_MAP_SHARED), -EPERM);
	ck_assert_int_eq(try_mmap(fd, 1025 * 4096, 0, KPERF_MAP_SHARED), 0);
	munmap_fd(fd);
	/* and perf_event_mlock_kb on top */
	fk->sysctl[KSYS_SYSCTL_MLOCK_KB] = 4;
	ck_assert_int_eq(try_mmap(fd, 2049 * 4096, 0, KPERF_MAP_SHARED), 0);
	munmap_fd(fd);
	fk->sysctl[KSYS_SYSCTL_MLOCK_KB] = 0;
	fk->sysctl[KSYS_SYSCTL_PARANOID] = -1;
	ck_assert_int_eq(try_mmap(fd, 2049 * 4096, 0, KPERF_MAP_SHARED), 0);
	munmap_fd(fd);
}
END_TEST

START_TEST(mmap_limit_is_given_back)
{
	long fd = open_type(TYPE_24), other = open_type(TYPE_24);

	fk->caps[KSYS_CAP_IPC_LOCK] = false;
	fk->sysctl[KSYS_SYSCTL_MLOCK_KB] = 0;
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(try_mmap(fd, 1025 * 4096, 0, KPERF_MAP_SHARED), 0);
		ck_assert_int_eq(try_mmap(other, 1025 * 4096, 0, KPERF_MAP_SHARED),
				 -EPERM);
		munmap_fd(fd);
	}
}
END_TEST

START_TEST(mmap_out_of_memory_leaves_nothing)
{
	long fd = open_type(TYPE_24);
	unsigned before = fk->allocations;

	for (unsigned n = 1; n <= 5; n++) {
		fk->fail_alloc = n;
		ck_assert_int_eq(fk_mmap(fk, fd, 2, 3, &ring), -ENOMEM);
		ck_assert_uint_eq(fk->allocations, before);
	}
	ck_assert_int_eq(fk_mmap(fk, fd, 2, 3, &ring), 0);
	munmap_fd(fd);
}
END_TEST

START_TEST(mmap_page_fields)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	uint64_t v[3];
	long fd;

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.config1 = 2; /* user space wants to read the counter */
	fd = open_attr(attr);
	ck_assert_int_eq(fk_mmap(fk, fd, 2, 3, &ring), 0);
	ck_assert_uint_eq(ring.npages, 3);
	ck_assert_uint_eq(ring.page->version, 0);
	ck_assert_uint_eq(ring.page->compat_version, 0);
	ck_assert_uint_eq(ring.page->size,
			  offsetof(struct perf_event_mmap_page, __reserved));
	ck_assert_uint_eq(ring.page->data_offset, 4096);
	ck_assert_uint_eq(ring.page->data_size, 8192);
	ck_assert_uint_eq(ring.page->data_head, 0);
	ck_assert_uint_eq(ring.page->data_tail, 0);
	ck_assert_uint_eq(ring.page->cap_bit0_is_deprecated, 1);
	ck_assert_uint_eq(ring.page->cap_user_time, 1);
	ck_assert_uint_eq(ring.page->cap_user_time_zero, 1);
	ck_assert_uint_eq(ring.page->cap_user_time_short, 1);
	ck_assert_uint_eq(ring.page->cap_user_rdpmc, 1);
	ck_assert_uint_eq(ring.page->pmc_width, 32);
	ck_assert_uint_eq(ring.page->index, 0); /* not granted */
	/* 62.5 MHz: 16 ns a count */
	ck_assert_uint_eq((uint64_t)ring.page->time_mult >> ring.page->time_shift, 16);
	ck_assert_uint_eq(ring.page->time_mult, UINT32_C(1) << 25);
	ck_assert_uint_eq(ring.page->time_shift, 21);
	ck_assert_uint_eq(ring.page->lock % 2, 0);
	fk_run(fk, 700);
	/* the page is as of the last update: an overflow, RESET, DISABLE */
	ck_assert_int_eq(ring.page->offset, 0);
	fk_run(fk, 300);
	ck_assert_int_eq(ring.page->offset, 1000);
	fk_run(fk, 50);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	ck_assert_int_eq(ring.page->offset, 1050);
	ck_assert_int_eq(fk_read(fk, fd, v, 24), 24);
	ck_assert_uint_ge(ring.page->time_enabled, 1050);
	ck_assert_uint_ge(v[1] + FK_NS_A_CLOCK_READ, ring.page->time_enabled);
	ck_assert_uint_eq(ring.page->time_enabled, ring.page->time_running);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_RESET, 0), 0);
	ck_assert_int_eq(ring.page->offset, 0);
	ck_assert_uint_eq(ring.page->lock % 2, 0);
	munmap_fd(fd);
}
END_TEST

/* --- who writes where ------------------------------------------------------ */

START_TEST(output_rules)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	long a = open_mapped(attr), b = open_type(TYPE_24), bare = open_type(TYPE_24);
	long other;
	uint32_t cmd = PERF_EVENT_IOC_SET_OUTPUT;

	fk->fd_other[40] = true;
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, 41), -EBADF);
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, 40), -EBADF);
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, UINT32_MAX), -EBADF);
	fk->fd_other[40] = false;
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, (uint64_t)b), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, (uint64_t)bare), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, a, cmd, (uint64_t)b), -EINVAL); /* a is mapped */
	ck_assert_int_eq(fk_ioctl(fk, a, cmd, UINT64_MAX), -EINVAL);
	other = fk_open_args(fk, &attr, 0, 0, -1, 0);
	ck_assert_int_eq(fk_ioctl(fk, other, cmd, (uint64_t)a), -EINVAL);
	other = fk_open_args(fk, &attr, 101, -1, -1, 0);
	ck_assert_int_eq(fk_ioctl(fk, other, cmd, (uint64_t)a), -EINVAL);
	attr.write_backward = 1;
	other = open_attr(attr);
	ck_assert_int_eq(fk_ioctl(fk, other, cmd, (uint64_t)a), -EINVAL);
	attr = ring_attr(TYPE_24);
	attr.use_clockid = 1;
	attr.clockid = 1;
	other = open_attr(attr);
	ck_assert_int_eq(fk_ioctl(fk, other, cmd, (uint64_t)a), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, (uint64_t)a), 0);
	write_records(b, 1);
	expect_sample(0, 24, fk_id(fk, b));
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, (uint64_t)b), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, b, cmd, UINT64_MAX), 0);
	write_records(b, 1);
	ck_assert_uint_eq(ring.page->data_head, 24);
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), HUP);
	munmap_fd(a);
}
END_TEST

START_TEST(output_at_open)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	long a = open_type(TYPE_24), b;

	/* no ring yet */
	ck_assert_int_eq(fk_open_args(fk, &attr, 0, -1, (int)a,
				      PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP),
			 -EINVAL);
	ck_assert_int_eq(fk_mmap(fk, a, 1, 3, &ring), 0);
	b = fk_open_args(fk, &attr, 0, -1, (int)a,
			 PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	ck_assert_int_ge(b, 0);
	write_records(b, 1);
	expect_sample(0, 24, fk_id(fk, b));
	/* no group: it goes on without the other */
	ck_assert_int_eq(fk_ioctl(fk, a, PERF_EVENT_IOC_DISABLE, 0), 0);
	write_records(b, 1);
	munmap_fd(a);
}
END_TEST

START_TEST(output_ends_with_the_targets_mapping)
{
	long a = open_mapped(ring_attr(TYPE_24)), b = open_type(TYPE_24);

	redirect(b, a);
	munmap_fd(a);
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), HUP);
	write_records(b, 2);
	ck_assert_uint_eq(fk_count(fk, b), 2 * PERIOD);
	/* and it may have one of its own */
	ck_assert_int_eq(fk_mmap(fk, b, 2, 3, &ring), 0);
	write_records(b, 1);
	expect_sample(0, 24, 2);
	munmap_fd(b);
}
END_TEST

START_TEST(output_own_mapping_of_a_redirected_event)
{
	struct fk_ring mine;
	long a = open_mapped(ring_attr(TYPE_24)), b = open_type(TYPE_24);

	redirect(b, a);
	ck_assert_int_eq(fk_mmap(fk, b, 2, 3, &mine), -EINVAL);
	ck_assert_int_eq(fk_mmap(fk, b, 1, 3, &mine), 0);
	ck_assert_ptr_eq(mine.page, ring.page);
	write_records(b, 1);
	munmap_fd(b);
	/* detached; the target goes on */
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), HUP);
	write_records(b, 1);
	ck_assert_uint_eq(ring.page->data_head, 24);
	write_records(a, 1);
	ck_assert_uint_eq(ring.page->data_head, 48);
	munmap_fd(a);
}
END_TEST

START_TEST(output_survives_the_targets_close)
{
	long a = open_mapped(ring_attr(TYPE_24)), b = open_type(TYPE_24);
	struct kperf_event *event = fk->fds[a];
	uint64_t head;

	redirect(b, a);
	fk_close(fk, a); /* mapped: it lives and runs on */
	fk_inject(fk, 0, PERIOD, 0);
	ck_assert_uint_eq(ring.page->data_head, 24);
	write_records(b, 1);
	head = ring.page->data_head;
	ck_assert_uint_eq(head, 48);
	expect_sample(0, 24, 1);
	expect_sample(24, 24, 2);
	kperf_munmap(event);
	/* now its counter is free */
	ck_assert_uint_eq(fk->pmu.pmcnten, 1u << counter_of(b));
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), HUP);
	write_records(b, 1);
}
END_TEST

START_TEST(close_with_a_wakeup_queued)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	long a = open_mapped(ring_attr(TYPE_24)), b;
	struct perf_output out;
	uint64_t record[3] = {PERF_RECORD_SAMPLE | UINT64_C(24) << 48};

	attr.wakeup_events = 1;
	attr.watermark = 0;
	b = open_attr(attr);
	redirect(b, a);
	/* a wakeup of b is put off, and b goes before it comes */
	fk->in_irq = false;
	fk_mask(fk);
	fk->pmu.pmcr &= ~UINT64_C(1);
	ck_assert(perf_output_begin(&out, &fk->hal, fk->fds[b], PERF_RECORD_SAMPLE, 24));
	perf_output_copy(&out, record, 24);
	atomic_fetch_add(&out.ring->wakeup, 1);
	perf_output_end(&out);
	ck_assert_ptr_nonnull(fk->work);
	fk_close(fk, b);
	ck_assert_ptr_null(fk->work);
	fk_unmask(fk);
	munmap_fd(a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mmap");
	TCase *tcase = tcase_create("mmap");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, mmap_sizes);
	tcase_add_test(tcase, mmap_errors);
	tcase_add_test(tcase, mmap_twice_shares);
	tcase_add_test(tcase, mmap_limit);
	tcase_add_test(tcase, mmap_limit_is_given_back);
	tcase_add_test(tcase, mmap_out_of_memory_leaves_nothing);
	tcase_add_test(tcase, mmap_page_fields);
	tcase_add_test(tcase, output_rules);
	tcase_add_test(tcase, output_at_open);
	tcase_add_test(tcase, output_ends_with_the_targets_mapping);
	tcase_add_test(tcase, output_own_mapping_of_a_redirected_event);
	tcase_add_test(tcase, output_survives_the_targets_close);
	tcase_add_test(tcase, close_with_a_wakeup_queued);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
