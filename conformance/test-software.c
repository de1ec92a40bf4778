/* SPDX-License-Identifier: MIT */
/* Events that the kernel counts itself, clocks, and groups with hardware. */
#include "conformance/perf-fixture.h"

enum { US = 1000, MS = 1000000 };

static struct perf_event_attr software(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = fk_attr(config, period);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	attr.disabled = 0;
	return attr;
}

static long open_ring(struct perf_event_attr attr)
{
	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	return fd;
}

/* A page fault of EL0 (@el 0) or the kernel at @addr. */
static void fault(uint64_t addr, unsigned el)
{
	struct hal_regs regs = {.pc = el ? FK_KERNEL_PC : FK_CODE, .pstate = el ? 5 : 0};

	kperf_sw_event(fk->perf, &fk->hal, KPERF_SW_PAGE_FAULTS, 1, &regs, addr);
	kperf_sw_event(fk->perf, &fk->hal, KPERF_SW_PAGE_FAULTS_MIN, 1, &regs, addr);
}

/* --- counting ------------------------------------------------------------------- */

START_TEST(faults_are_counted_for_the_task)
{
	long all = open_attr(software(PERF_COUNT_SW_PAGE_FAULTS, 0));
	long min = open_attr(software(PERF_COUNT_SW_PAGE_FAULTS_MIN, 0));
	long maj = open_attr(software(PERF_COUNT_SW_PAGE_FAULTS_MAJ, 0));
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 0);
	long user, kernel;

	attr.exclude_kernel = 1;
	user = open_attr(attr);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	kernel = open_attr(attr);
	for (int i = 0; i < 5; i++)
		fault(0x1000, 0);
	fault(0x1000, 1);
	fk_switch(fk, &fk->tasks[1]);
	fault(0x1000, 0);
	fk_switch(fk, &fk->tasks[0]);
	disable(min);
	fault(0x1000, 0);
	ck_assert_uint_eq(fk_count(fk, all), 7);
	ck_assert_uint_eq(fk_count(fk, min), 6);
	ck_assert_uint_eq(fk_count(fk, maj), 0);
	ck_assert_uint_eq(fk_count(fk, user), 6);
	ck_assert_uint_eq(fk_count(fk, kernel), 1);
	/* none of it wants a counter */
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
}
END_TEST

START_TEST(switches_and_moves_are_counted)
{
	long switches = open_attr(software(PERF_COUNT_SW_CONTEXT_SWITCHES, 0));
	long moves = open_attr(software(PERF_COUNT_SW_CPU_MIGRATIONS, 0));
	struct perf_event_attr attr = software(PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
	long cpu = fk_open_args(fk, &attr, -1, 0, -1, 0);

	fk_switch(fk, &fk->tasks[1]);
	fk_switch(fk, NULL);
	fk_switch(fk, &fk->tasks[0]);
	fk_switch(fk, NULL);
	fk_cpu(fk, 1);
	fk_switch(fk, &fk->tasks[0]);
	fk_switch(fk, NULL);
	fk_cpu(fk, 0);
	fk_switch(fk, &fk->tasks[0]);
	ck_assert_uint_eq(fk_count(fk, switches), 3); /* each time it left */
	ck_assert_uint_eq(fk_count(fk, moves), 2);
	ck_assert_uint_eq(fk_count(fk, cpu), 5); /* idle's too */
}
END_TEST

START_TEST(dummy_counts_nothing)
{
	long fd = open_attr(software(PERF_COUNT_SW_DUMMY, 0));

	fk_run(fk, 1000);
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 0);
}
END_TEST

/* --- sampling --------------------------------------------------------------------- */

START_TEST(every_third_fault_is_a_sample)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 3);
	uint64_t record[3];
	long fd;

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = open_ring(attr);
	for (uint64_t i = 1; i <= 10; i++)
		fault(i << 12, 0);
	ck_assert_uint_eq(samples(), 3);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], FK_CODE);
	ck_assert_uint_eq(record[2], 3 << 12);
	fk_record(&ring, 48, record);
	ck_assert_uint_eq(record[2], 9 << 12);
	/* what is left lasts over a switch */
	fk_switch(fk, &fk->tasks[1]);
	fk_switch(fk, &fk->tasks[0]);
	fault(11 << 12, 0);
	fault(12 << 12, 0);
	ck_assert_uint_eq(samples(), 4);
	/* seven at once: two periods, and one of the third's */
	kperf_sw_event(fk->perf, &fk->hal, KPERF_SW_PAGE_FAULTS, 7, NULL, 0);
	ck_assert_uint_eq(samples(), 6);
	fault(0, 0);
	ck_assert_uint_eq(samples(), 6);
	fault(0, 0);
	ck_assert_uint_eq(samples(), 7);
	ck_assert_uint_eq(fk_count(fk, fd), 21);
	close_mapped(fd);
}
END_TEST

/* Linux perf_swevent_event(): with PERIOD in the record each occurrence is one. */
START_TEST(whoever_asks_for_the_period_gets_each)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 3);
	uint64_t record[2];
	long fd;

	attr.sample_type = PERF_SAMPLE_PERIOD;
	fd = open_ring(attr);
	for (int i = 0; i < 5; i++)
		fault(0, 0);
	ck_assert_uint_eq(samples(), 5);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 1);
	close_mapped(fd);
}
END_TEST

START_TEST(a_limit_stops_software_events_too)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 1);
	long fd;

	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_ring(attr);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_REFRESH, 2), 0);
	for (int i = 0; i < 5; i++) {
		fault(0, 0);
		fk_run(fk, 1); /* deferred work */
	}
	ck_assert_uint_eq(samples(), 2);
	ck_assert_uint_eq(fk_count(fk, fd), 2);
	close_mapped(fd);
}
END_TEST

/* --- clocks ------------------------------------------------------------------------ */

START_TEST(clocks_count_ns)
{
	long cpu = open_attr(software(PERF_COUNT_SW_CPU_CLOCK, 0));
	long task = open_attr(software(PERF_COUNT_SW_TASK_CLOCK, 0));
	uint64_t before = fk->ns, count;

	fk_run(fk, 50000);
	ck_assert_uint_ge(fk_count(fk, cpu), 50000);
	ck_assert_uint_ge(fk_count(fk, task), 50000);
	fk_switch(fk, &fk->tasks[1]);
	fk_run(fk, 1000000);
	fk_switch(fk, &fk->tasks[0]);
	count = fk_count(fk, task);
	ck_assert_uint_ge(count, 50000);
	ck_assert_uint_lt(count, 52000);
	ck_assert_uint_lt(fk_count(fk, cpu), 52000);
	ck_assert_uint_gt(fk->ns - before, 1000000);
}
END_TEST

/* The timer keeps its beat: 1 ms, over 10.5 ms; cpu-clock 0, task-clock 1. */
START_TEST(a_clock_samples_by_its_timer)
{
	struct perf_event_attr attr = software((uint64_t)_i, 1 * MS);
	uint64_t record[3], last = 0;
	long fd;

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	fd = open_ring(attr);
	fk_run(fk, 10 * MS + MS / 2);
	ck_assert_uint_eq(samples(), 10);
	for (uint64_t i = 0; i < 10; i++) {
		fk_record(&ring, 24 * i, record);
		ck_assert_uint_eq(record[0] & UINT32_MAX, 9); /* SAMPLE */
		ck_assert_uint_ge(record[1], FK_CODE);
		if (i) {
			ck_assert_uint_ge(record[2] - last, MS - US);
			ck_assert_uint_le(record[2] - last, MS + US);
		}
		last = record[2];
	}
	/* half a period is left, and is what the next slice waits for */
	fk_switch(fk, &fk->tasks[1]);
	fk_run(fk, 3 * MS);
	ck_assert_uint_eq(samples(), 10);
	fk_switch(fk, &fk->tasks[0]);
	fk_run(fk, MS / 2 - 10 * US);
	ck_assert_uint_eq(samples(), 10);
	fk_run(fk, 20 * US);
	ck_assert_uint_eq(samples(), 11);
	close_mapped(fd);
	ck_assert_ptr_null(fk->timers);
}
END_TEST

START_TEST(a_clocks_frequency_is_a_period)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_CPU_CLOCK, 0);
	long fd;

	attr.freq = 1;
	attr.sample_freq = 1000;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_ring(attr);
	fk_run(fk, 20 * MS + MS / 2);
	ck_assert_uint_eq(samples(), 20);
	close_mapped(fd);
	/* and no shorter than 10 us */
	attr.freq = 0;
	attr.sample_period = 1;
	fd = open_ring(attr);
	fk_run(fk, 1 * MS);
	ck_assert_uint_ge(samples(), 99);
	ck_assert_uint_le(samples(), 101);
	close_mapped(fd);
}
END_TEST

START_TEST(a_clock_knows_who_is_excluded)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_CPU_CLOCK, 1 * MS);
	uint64_t record[2];
	long fd;

	attr.sample_type = PERF_SAMPLE_TID;
	attr.exclude_user = 1;
	fd = fk_open_args(fk, &attr, -1, 0, -1, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	fk_run(fk, 3 * MS);
	ck_assert_uint_eq(samples(), 0);
	fk_switch(fk, NULL);
	fk_sleep(fk, 3 * MS);
	ck_assert_uint_eq(samples(), 3);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 0);
	fk_switch(fk, &fk->tasks[0]);
	close_mapped(fd);
	attr.exclude_idle = 1;
	attr.exclude_user = 0;
	fd = fk_open_args(fk, &attr, -1, 0, -1, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	fk_switch(fk, NULL);
	fk_sleep(fk, 3 * MS);
	ck_assert_uint_eq(samples(), 0);
	fk_switch(fk, &fk->tasks[0]);
	close_mapped(fd);
}
END_TEST

START_TEST(a_clock_needs_no_pmu_interrupt)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_CPU_CLOCK, 1 * MS);
	struct fake_kernel *deaf = fk_create(_i ? "linux-6.12" : "linux-6.1", 6, false);
	struct perf_event_attr hw = fk_attr(CYCLES, 1000);

	ck_assert_int_eq(fk_open(deaf, &hw, -1), -EOPNOTSUPP);
	ck_assert_int_ge(fk_open(deaf, &attr, -1), 0);
	fk_run(deaf, 2 * MS);
	fk_destroy(deaf);
}
END_TEST

/* A clock that may be read in no NMI is a software event's to choose. */
START_TEST(clockids_of_software_events)
{
	static const int ok[] = {0, 1, 4, 7, 11}, bad[] = {2, 3, 5, 6, 8, 9, 10, 12, -1};
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY, 0);
	struct perf_event_attr hw = fk_attr(CYCLES, 0);

	attr.use_clockid = hw.use_clockid = 1;
	for (unsigned i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		attr.clockid = hw.clockid = ok[i];
		ck_assert_int_ge(fk_open(fk, &attr, -1), 0);
		if (ok[i] != 1 && ok[i] != 4)
			ck_assert_int_eq(fk_open(fk, &hw, -1), -EINVAL);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		attr.clockid = bad[i];
		ck_assert_int_eq(fk_open(fk, &attr, -1), -EINVAL);
	}
}
END_TEST

/* --- groups with hardware ------------------------------------------------------------- */

START_TEST(software_waits_for_no_counter)
{
	struct perf_event_attr attr = fk_attr(INSTRUCTIONS, 0);
	long sw;

	attr.disabled = 0;
	attr.exclusive = 1;
	open_attr(attr); /* alone on the CPU */
	attr.exclusive = 0;
	for (int i = 0; i < 8; i++)
		open_attr(attr);
	sw = open_attr(software(PERF_COUNT_SW_PAGE_FAULTS, 0));
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, sw), 1);
	fk_run(fk, 9 * MS); /* turns do not concern it */
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, sw), 2);
	for (int fd = 3; fd < 13; fd++)
		fk_close(fk, fd);
	fk_run(fk, 9 * MS);
}
END_TEST

/* The group waits with its hardware member, and every member as it was opened. */
START_TEST(a_software_group_becomes_a_hardware_one)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 0);
	struct perf_event_attr hw = fk_attr(CYCLES, 0);
	long leader, member, third;

	attr.disabled = 1;
	leader = open_attr(attr);
	attr.disabled = 0;
	member = fk_open(fk, &attr, (int)leader);
	enable(leader);
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, leader), 1);
	hw.disabled = 0;
	third = fk_open(fk, &hw, (int)leader);
	ck_assert_int_ge(third, 0);
	/* Linux perf_event__state_init(): as opened, off */
	fault(0, 0);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, leader), 1);
	ck_assert_uint_eq(fk_count(fk, third), 0);
	enable(leader);
	fault(0, 0);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, leader), 2);
	ck_assert_uint_eq(fk_count(fk, member), 2);
	ck_assert_uint_eq(fk_count(fk, third), 100);
	/* what the leader is decides no more; the group does */
	fk_close(fk, third);
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, member), 3);
	/* as opened, on */
	attr.disabled = 0;
	leader = open_attr(attr);
	disable(leader);
	third = fk_open(fk, &hw, (int)leader);
	fault(0, 0);
	ck_assert_uint_eq(fk_count(fk, leader), 1);
}
END_TEST

START_TEST(software_joins_hardware)
{
	struct perf_event_attr hw = fk_attr(CYCLES, 1000);
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS, 0);
	uint64_t record[8];
	long leader, member;

	hw.sample_type = PERF_SAMPLE_READ;
	hw.read_format = PERF_FORMAT_GROUP;
	leader = open_ring(hw);
	attr.disabled = 0;
	member = fk_open(fk, &attr, (int)leader);
	ck_assert_int_ge(member, 0);
	fault(0, 0); /* the leader is off */
	enable(leader);
	fault(0, 0);
	fault(0, 0);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_count(fk, member), 2);
	ck_assert_uint_eq(samples(), 1);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 2);
	ck_assert_uint_eq(record[2], 1000);
	ck_assert_uint_eq(record[3], 2);
	close_mapped(leader);
}
END_TEST

static void setup_smp(void)
{
	fk = fk_create_smp("linux-6.1", 6, 2);
}

int main(void)
{
	Suite *suite = suite_create("software");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("software");
	int failed;

	tcase_add_checked_fixture(tcase, setup_smp, teardown);
	tcase_add_test(tcase, faults_are_counted_for_the_task);
	tcase_add_test(tcase, switches_and_moves_are_counted);
	tcase_add_test(tcase, dummy_counts_nothing);
	tcase_add_test(tcase, every_third_fault_is_a_sample);
	tcase_add_test(tcase, whoever_asks_for_the_period_gets_each);
	tcase_add_test(tcase, a_limit_stops_software_events_too);
	tcase_add_test(tcase, clocks_count_ns);
	tcase_add_loop_test(tcase, a_clock_samples_by_its_timer, 0, 2);
	tcase_add_test(tcase, a_clocks_frequency_is_a_period);
	tcase_add_test(tcase, a_clock_knows_who_is_excluded);
	tcase_add_loop_test(tcase, a_clock_needs_no_pmu_interrupt, 0, 2);
	tcase_add_test(tcase, clockids_of_software_events);
	tcase_add_test(tcase, software_waits_for_no_counter);
	tcase_add_test(tcase, a_software_group_becomes_a_hardware_one);
	tcase_add_test(tcase, software_joins_hardware);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
