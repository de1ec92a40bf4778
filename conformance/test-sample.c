/* SPDX-License-Identifier: MIT */
/* The layout of SAMPLE and LOST records, every combination of the scalars. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/fake-kernel.h"

static struct fake_kernel *fk;
static struct fk_ring ring;

static void setup(void)
{
	fk = fk_create("linux-6.1", 6, true);
}

static void teardown(void)
{
	fk_destroy(fk);
}

enum {
	PERIOD = 1000,
	NFIELDS = 9,
	NTRAILER = 6
};

/* In wire order (B26), written down apart from the code under test. */
static const uint64_t fields[NFIELDS] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	  PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD};
static const uint64_t trailer[NTRAILER] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					   PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};

static uint64_t type_of(unsigned mask)
{
	uint64_t type = 0;

	for (unsigned i = 0; i < NFIELDS; i++)
		if (mask >> i & 1)
			type |= fields[i];
	return type;
}

static long open_type(uint64_t type, bool id_all)
{
	struct perf_event_attr attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, PERIOD);
	long fd;

	attr.sample_type = type;
	attr.sample_id_all = id_all;
	fd = fk_open(fk, &attr, -1);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	return fd;
}

static void close_mapped(long fd)
{
	struct kperf_event *event = fk->fds[fd];

	fk_close(fk, fd);
	kperf_munmap(event);
}

/* What a field must hold; the time is only bounded. */
static void check_word(uint64_t field, uint64_t word, uint64_t id, uint64_t from_ns)
{
	switch (field) {
	case PERF_SAMPLE_IDENTIFIER:
	case PERF_SAMPLE_ID:
	case PERF_SAMPLE_STREAM_ID:
		ck_assert_uint_eq(word, id);
		break;
	case PERF_SAMPLE_IP:
		ck_assert_uint_eq(word, FK_CODE + 4 * PERIOD);
		break;
	case PERF_SAMPLE_TID:
		ck_assert_uint_eq(word, UINT64_C(177) << 32 | 100);
		break;
	case PERF_SAMPLE_TIME:
		ck_assert_uint_ge(word, from_ns);
		ck_assert_uint_lt(word, fk->ns);
		break;
	case PERF_SAMPLE_ADDR:
	case PERF_SAMPLE_CPU:
		ck_assert_uint_eq(word, 0);
		break;
	case PERF_SAMPLE_PERIOD:
		ck_assert_uint_eq(word, PERIOD);
		break;
	default:
		ck_abort();
	}
}

START_TEST(sample_every_combination)
{
	fk->tasks[0].tid = 177;
	for (unsigned mask = 0; mask < 1u << NFIELDS; mask++) {
		long fd = open_type(type_of(mask), false);
		uint64_t id = fk_id(fk, fd), from_ns = fk->ns, record[10];
		unsigned words = 1 + (unsigned)__builtin_popcount(mask), n = 1;

		fk->pc = FK_CODE;
		fk_run(fk, PERIOD);
		ck_assert_uint_eq(ring.page->data_head, 8 * words);
		fk_record(&ring, 0, record);
		ck_assert_uint_eq(record[0], (uint64_t)(8 * words) << 48 |
						     UINT64_C(2) << 32 |
						     PERF_RECORD_SAMPLE);
		for (unsigned i = 0; i < NFIELDS; i++)
			if (mask >> i & 1)
				check_word(fields[i], record[n++], id, from_ns);
		close_mapped(fd);
	}
}
END_TEST

/* With one lost sample before it: LOST's trailer in every combination. */
START_TEST(lost_every_combination)
{
	fk->tasks[0].tid = 177;
	for (unsigned mask = 0; mask < 1u << NFIELDS; mask++) {
		uint64_t type = type_of(mask), id, from_ns, record[10];
		long fd = open_type(type, true);
		unsigned n = 3, size = 24;

		id = fk_id(fk, fd);
		from_ns = fk->ns;
		ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
		fk_run(fk, 3 * PERIOD);
		ck_assert_uint_eq(ring.page->data_head, 0);
		ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
		fk_run(fk, PERIOD);
		for (unsigned i = 0; i < NTRAILER; i++)
			size += type & trailer[i] ? 8 : 0;
		ck_assert_uint_eq(fk_record(&ring, 0, record), size);
		ck_assert_uint_eq(record[0], (uint64_t)size << 48 | PERF_RECORD_LOST);
		ck_assert_uint_eq(record[1], id);
		ck_assert_uint_eq(record[2], 3);
		for (unsigned i = 0; i < NTRAILER; i++)
			if (type & trailer[i])
				check_word(trailer[i], record[n++], id, from_ns);
		/* the sample has no trailer */
		ck_assert_uint_eq(fk_record(&ring, size, record),
				  8 + 8 * (unsigned)__builtin_popcount(mask));
		ck_assert_uint_eq(fk_records(&ring, 0, PERF_RECORD_SAMPLE), 1);
		close_mapped(fd);
	}
}
END_TEST

START_TEST(lost_without_sample_id_all_is_24_bytes)
{
	long fd = open_type(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, false);
	uint64_t record[10];

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	fk_run(fk, PERIOD);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	fk_run(fk, PERIOD);
	ck_assert_uint_eq(fk_record(&ring, 0, record), 24);
	ck_assert_uint_eq(fk_record(&ring, 24, record), 32);
	close_mapped(fd);
}
END_TEST

START_TEST(sample_of_the_idle_task_and_a_dead_one)
{
	struct perf_event_attr attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, PERIOD);
	uint64_t record[2];
	long fd;

	attr.sample_type = PERF_SAMPLE_TID;
	fd = fk_open_args(fk, &attr, -1, 0, -1, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	fk->current = NULL;
	fk_run(fk, PERIOD);
	fk->current = &fk->tasks[1];
	fk->tasks[1].tgid = fk->tasks[1].tid = -1;
	fk_run(fk, PERIOD);
	/* the opener is gone: the sampled task's own view */
	kperf_task_exit(fk->perf, &fk->tasks[0]);
	fk->tasks[0].dead = true;
	fk->current = &fk->tasks[2];
	fk_run(fk, PERIOD);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 0);
	fk_record(&ring, 16, record);
	ck_assert_uint_eq(record[1], UINT64_MAX);
	fk_record(&ring, 32, record);
	ck_assert_uint_eq(record[1], UINT64_C(102) << 32 | 100);
	close_mapped(fd);
}
END_TEST

/* The period that ended, not the one that begins. */
START_TEST(sample_period_is_the_one_that_ended)
{
	long fd = open_type(PERF_SAMPLE_PERIOD, false);
	static const uint64_t want[] = {1000, 1000, 300, 300};
	uint64_t record[2];

	fk_run(fk, 2 * PERIOD);
	ck_assert_int_eq(fk_set_period(fk, fd, 300), 0);
	fk_run(fk, 600);
	ck_assert_uint_eq(fk_records(&ring, 0, PERF_RECORD_SAMPLE), 4);
	for (unsigned i = 0; i < 4; i++) {
		fk_record(&ring, 16 * i, record);
		ck_assert_uint_eq(record[1], want[i]);
	}
	close_mapped(fd);
}
END_TEST

START_TEST(sample_misc_follows_the_interrupted_level)
{
	struct perf_event_attr attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, PERIOD);
	uint64_t record[2];
	long fd;

	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = fk_open(fk, &attr, -1);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	fk_inject(fk, 31, PERIOD, 1);
	fk_inject(fk, 31, PERIOD, 0);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[0] >> 32 & 0xffff, PERF_RECORD_MISC_KERNEL);
	ck_assert_uint_ge(record[1], FK_KERNEL_PC);
	fk_record(&ring, 16, record);
	ck_assert_uint_eq(record[0] >> 32 & 0xffff, PERF_RECORD_MISC_USER);
	ck_assert_uint_eq(record[1], FK_CODE);
	close_mapped(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *tcase = tcase_create("sample");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, sample_every_combination);
	tcase_add_test(tcase, lost_every_combination);
	tcase_add_test(tcase, lost_without_sample_id_all_is_24_bytes);
	tcase_add_test(tcase, sample_of_the_idle_task_and_a_dead_one);
	tcase_add_test(tcase, sample_period_is_the_one_that_ended);
	tcase_add_test(tcase, sample_misc_follows_the_interrupted_level);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
