/* SPDX-License-Identifier: MIT */
/* The mmap page's fields, and counters that user space reads by itself. */
#include "conformance/perf-fixture.h"

enum {
	USER_READ = 2, /* of config1 */
	LONG = 1,
	ALLOWED = 0xc, /* PMUSERENR: ER, CR */
};

static const char *const profiles[] = {"linux-6.1", "linux-6.12"};

static void begin(int profile)
{
	teardown();
	fk = fk_create(profiles[profile], 6, true);
	fk->sysctl[KSYS_SYSCTL_USER_ACCESS] = 1;
}

static struct perf_event_attr user_attr(uint64_t config, uint64_t config1)
{
	struct perf_event_attr attr = fk_attr(config, 0);

	attr.config1 = config1;
	return attr;
}

static long open_page(struct perf_event_attr attr, struct fk_ring *page)
{
	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 0, 3, page), 0);
	return fd;
}

/* What the manual page tells a program to do (perf_event_open(2), rdpmc). */
static uint64_t user_count(const struct perf_event_mmap_page *page)
{
	unsigned shift = 64u - page->pmc_width;
	uint32_t reg;
	uint64_t value;

	ck_assert_uint_ne(page->index, 0);
	ck_assert_uint_eq(page->lock % 2, 0);
	reg = page->index == 32 ? HAL_PMCCNTR_EL0 : HAL_PMEVCNTR_EL0(page->index - 1);
	ck_assert_int_eq(sysreg_read(&fk->regs, 1, reg, 0, &value), SYSREG_OK);
	return (uint64_t)page->offset + (uint64_t)((int64_t)(value << shift) >> shift);
}

START_TEST(page_index_and_offset_give_the_count)
{
	static const uint64_t runs[] = {0, 1, 999, 1000000, UINT64_C(5000000000), 7};
	struct fk_ring c, i;
	long cycles, insns;

	begin(_i);
	cycles = open_page(user_attr(CYCLES, USER_READ), &c);
	insns = open_page(user_attr(INSTRUCTIONS, USER_READ), &i);
	ck_assert_uint_eq(c.page->index, 0);
	ck_assert_uint_eq(c.page->pmc_width, 32);
	ck_assert(c.page->cap_user_rdpmc);
	enable(cycles);
	enable(insns);
	ck_assert_uint_eq(c.page->index, 32);
	ck_assert_uint_eq(i.page->index, 1);
	for (unsigned n = 0; n < sizeof(runs) / sizeof(runs[0]); n++) {
		fk_run(fk, runs[n]);
		ck_assert_uint_eq(user_count(c.page), fk_count(fk, cycles));
		ck_assert_uint_eq(user_count(i.page), fk_count(fk, insns));
		disable(insns);
		ck_assert_uint_eq(i.page->index, 0);
		ck_assert_uint_eq((uint64_t)i.page->offset, fk_count(fk, insns));
		enable(insns);
	}
	disable(cycles);
	ck_assert_uint_eq((uint64_t)c.page->offset, fk_count(fk, cycles));
	close_mapped(cycles);
	close_mapped(insns);
}
END_TEST

/* A sampling event's counter is written at each overflow, and the page with it. */
START_TEST(page_follows_a_sampling_event)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	struct fk_ring c;
	long fd;

	begin(_i);
	attr.config1 = USER_READ;
	fd = open_page(attr, &c);
	enable(fd);
	for (unsigned n = 0; n < 20; n++) {
		fk_run(fk, 333);
		ck_assert_uint_eq(user_count(c.page), fk_count(fk, fd));
	}
	close_mapped(fd);
}
END_TEST

START_TEST(page_of_a_long_counter)
{
	struct fk_ring c;
	long fd;

	begin(_i);
	fd = open_page(user_attr(CYCLES, USER_READ | LONG), &c);
	ck_assert_uint_eq(c.page->pmc_width, 64);
	enable(fd);
	ck_assert_uint_eq(c.page->index, 32);
	fk_run(fk, UINT64_C(10000000000));
	ck_assert_uint_eq(user_count(c.page), UINT64_C(10000000000));
	ck_assert_uint_eq(fk->irqs, 0);
	close_mapped(fd);
}
END_TEST

/* With the sysctl off the page says what the event could, and gives no index. */
START_TEST(page_without_the_sysctl)
{
	struct fk_ring c;
	uint64_t value = 1;
	long fd;

	begin(_i);
	fk->sysctl[KSYS_SYSCTL_USER_ACCESS] = 0;
	fd = open_page(user_attr(CYCLES, USER_READ), &c);
	enable(fd);
	fk_run(fk, 1000);
	ck_assert_uint_eq(c.page->index, 0);
	ck_assert(c.page->cap_user_rdpmc);
	ck_assert_uint_eq(c.page->pmc_width, 32);
	fk_writes(fk, HAL_PMUSERENR_EL0, &value);
	ck_assert_uint_eq(value, 0);
	close_mapped(fd);
}
END_TEST

/* A13: what is not in use is cleared first; on 6.1 the cycle counter first of all,
 * and access is taken away in between. */
START_TEST(user_access_clears_what_nobody_counts)
{
	static const uint32_t order[2][6] = {
		{HAL_PMCCNTR_EL0, HAL_PMEVCNTR_EL0(1), HAL_PMEVCNTR_EL0(2),
		 HAL_PMEVCNTR_EL0(3), HAL_PMEVCNTR_EL0(4), HAL_PMEVCNTR_EL0(5)},
		{HAL_PMEVCNTR_EL0(1), HAL_PMEVCNTR_EL0(2), HAL_PMEVCNTR_EL0(3),
		 HAL_PMEVCNTR_EL0(4), HAL_PMEVCNTR_EL0(5), HAL_PMCCNTR_EL0},
	};
	unsigned at = 0, zeros = 0;
	long fd;

	begin(_i);
	fd = open_attr(user_attr(INSTRUCTIONS, USER_READ));
	fk->pmu.pmevcntr[3] = 12345;
	fk_log_clear(fk);
	enable(fd);
	for (unsigned n = 0; n < fk->nlog; n++) {
		if (!fk->log[n].write)
			continue;
		if (at < 6 && fk->log[n].reg == order[_i][at] && !fk->log[n].value)
			at++;
		if (fk->log[n].reg == HAL_PMUSERENR_EL0 && !fk->log[n].value)
			zeros++;
	}
	ck_assert_uint_eq(at, 6);
	ck_assert_uint_eq(zeros, _i ? 0 : 1);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), ALLOWED);
	ck_assert_uint_eq(fk->pmu.pmevcntr[3], 0);
	fk_close(fk, fd);
}
END_TEST

/* Access is decided when PMCR.E goes on, so it outlives the event that wanted it
 * until another one runs. */
START_TEST(user_access_stays_until_the_pmu_starts_again)
{
	long user, other;

	begin(_i);
	user = open_attr(user_attr(CYCLES, USER_READ));
	other = open_attr(fk_attr(INSTRUCTIONS, 0));
	enable(user);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), ALLOWED);
	disable(user);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), ALLOWED);
	/* an event that is off still stands in the context */
	enable(other);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), ALLOWED);
	disable(other);
	fk_close(fk, user);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), ALLOWED);
	enable(other);
	ck_assert_uint_eq(last_write(HAL_PMUSERENR_EL0), 0);
	fk_close(fk, other);
}
END_TEST

/* Linux armv8pmu_proc_user_access_handler(). */
START_TEST(user_access_ends_with_the_sysctl_on_every_cpu)
{
	long fd[2];

	teardown();
	fk = fk_create_smp("linux-6.1", 6, 2);
	fk->sysctl[KSYS_SYSCTL_USER_ACCESS] = 1;
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		struct perf_event_attr attr = user_attr(CYCLES, USER_READ);

		attr.disabled = 0;
		fk_cpu(fk, cpu);
		if (cpu)
			fk_switch(fk, &fk->tasks[1]);
		fd[cpu] = open_attr(attr);
		ck_assert_uint_eq(fk->pmu.pmuserenr, ALLOWED);
	}
	kperf_sysctl_changed(fk->perf, KSYS_SYSCTL_USER_ACCESS);
	kperf_sysctl_changed(fk->perf, KSYS_SYSCTL_PARANOID);
	ck_assert_uint_eq(fk->pmu.pmuserenr, ALLOWED);
	fk->sysctl[KSYS_SYSCTL_USER_ACCESS] = 0;
	kperf_sysctl_changed(fk->perf, KSYS_SYSCTL_USER_ACCESS);
	for (unsigned cpu = 2; cpu--;) {
		fk_cpu(fk, cpu);
		ck_assert_uint_eq(fk->pmu.pmuserenr, 0);
		fk_close(fk, fd[cpu]);
	}
}
END_TEST

/* Each update is two steps of the lock. */
START_TEST(page_lock_is_even_outside)
{
	struct fk_ring c;
	uint32_t lock;
	long fd;

	begin(_i);
	fd = open_page(fk_attr(CYCLES, 0), &c);
	ck_assert_uint_eq(c.page->lock, 2);
	ck_assert(!c.page->cap_user_rdpmc);
	ck_assert_uint_eq(c.page->pmc_width, 0);
	lock = c.page->lock;
	enable(fd);
	ck_assert_uint_gt(c.page->lock, lock);
	ck_assert_uint_eq(c.page->lock % 2, 0);
	/* a reader that scribbles on it spoils it for itself alone */
	c.page->lock = 7;
	c.page->capabilities = UINT64_MAX;
	disable(fd);
	ck_assert_uint_eq(c.page->lock % 2, 1);
	ck_assert(!c.page->cap_user_rdpmc);
	ck_assert(c.page->cap_user_time);
	close_mapped(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mmap-page");
	TCase *tcase = tcase_create("mmap-page");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, page_index_and_offset_give_the_count, 0, 2);
	tcase_add_loop_test(tcase, page_follows_a_sampling_event, 0, 2);
	tcase_add_loop_test(tcase, page_of_a_long_counter, 0, 2);
	tcase_add_loop_test(tcase, page_without_the_sysctl, 0, 2);
	tcase_add_loop_test(tcase, user_access_clears_what_nobody_counts, 0, 2);
	tcase_add_loop_test(tcase, user_access_stays_until_the_pmu_starts_again, 0, 2);
	tcase_add_test(tcase, user_access_ends_with_the_sysctl_on_every_cpu);
	tcase_add_loop_test(tcase, page_lock_is_even_outside, 0, 2);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
