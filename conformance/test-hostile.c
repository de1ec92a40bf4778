/* SPDX-License-Identifier: MIT */
/*
 * A reader of the ring that does not play by the rules: a thread of its own writes
 * noise over the whole header page while the core writes records, updates the
 * page, is paused, polled and remapped. Nothing may be written outside the ring,
 * and what the core says of its own work stays true. Made for AddressSanitizer and
 * ThreadSanitizer; the argument is how many seconds it goes on.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* before the fixture, whose ring would be shadowed */
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/ring.h"

#include "conformance/perf-fixture.h"

enum {
	PERIOD = 500,
	PAGE_WORDS = KSYS_PAGE_SIZE / 8,
	MAPPINGS_AT_LEAST = 20
};

struct reader {
	pthread_t thread;
	uint64_t *_Atomic page; /* NULL: none is mapped, and the reader says so */
	_Atomic bool stop, resting;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Any word of the page, small numbers and near misses among them. */
static void scribble(uint64_t *page, uint64_t *random)
{
	uint64_t r = next_random(random);
	uint64_t value = next_random(random);

	switch (r >> 60 & 3) {
	case 0:
		value &= 0xffff;
		break;
	case 1:
		value = -(value & 0xffff);
		break;
	case 2:
		value = __atomic_load_n(&page[1024 / 8], __ATOMIC_ACQUIRE) +
			(value & 63) - 32;
		break;
	}
	__atomic_store_n(&page[r % PAGE_WORDS], value, __ATOMIC_RELAXED);
	/* the one that counts, often */
	if (r >> 63)
		__atomic_store_n(&page[1032 / 8], value, __ATOMIC_RELEASE);
}

static void *read_hostile(void *arg)
{
	struct reader *reader = arg;
	uint64_t random = 88172645463325252u;

	while (!reader->stop) {
		uint64_t *page = reader->page;

		reader->resting = !page;
		for (unsigned i = 0; page && i < 64; i++)
			scribble(page, &random);
	}
	reader->resting = true;
	return NULL;
}

static void show(struct reader *reader, void *page)
{
	reader->resting = false;
	reader->page = page;
}

/* The page goes: as for a program, a store after munmap() is not the core's. */
static void hide(struct reader *reader)
{
	reader->page = NULL;
	reader->resting = false;
	while (!reader->resting)
		;
}

static uint64_t lost_of(long fd)
{
	uint64_t v[2];

	ck_assert_int_eq(fk_read(fk, fd, v, 16), 16);
	return v[1];
}

/* One ring's life under fire. */
static void one_mapping(struct reader *reader, uint64_t pages, unsigned how)
{
	struct perf_event_attr attr = fk_attr(CYCLES, PERIOD);
	struct kperf_event *event;
	uint64_t head, records;
	long fd;

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	attr.read_format = PERF_FORMAT_LOST;
	attr.sample_id_all = 1;
	attr.write_backward = how & 1;
	attr.wakeup_events = how & 2;
	attr.config1 = how & 4 ? 2 : 0;
	fd = open_attr(attr);
	event = fk->fds[fd];
	ck_assert_int_eq(fk_mmap(fk, fd, pages, how & 8 ? 1 : 3, &ring), 0);
	show(reader, ring.page);
	enable(fd);
	for (unsigned i = 0; i < 40; i++) {
		fk_run(fk, 9 * PERIOD);
		kperf_poll(event);
		if (i == 20) {
			ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1),
					 0);
			fk_run(fk, PERIOD);
			ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0),
					 0);
		}
		fk_log_clear(fk);
	}
	disable(fd);
	ck_assert_uint_eq(fk_count(fk, fd), (40 * 9 + 1) * PERIOD);
	head = event->ring->head;
	if (attr.write_backward)
		head = -head;
	/* each overflow is a record or a loss; LOST records come on top */
	records = 40 * 9 + 1 - lost_of(fd);
	ck_assert_uint_ge(head, records * 32);
	ck_assert_uint_eq(head % 8, 0);
	hide(reader);
	fk_close(fk, fd);
	kperf_munmap(event);
}

static int seconds = 1;

START_TEST(hostile_reader)
{
	struct reader reader = {.resting = true};
	time_t end;
	unsigned n = 0;

	fk->sysctl[KSYS_SYSCTL_USER_ACCESS] = 1;
	ck_assert_int_eq(pthread_create(&reader.thread, NULL, read_hostile, &reader), 0);
	end = time(NULL) + seconds;
	while (time(NULL) <= end || n < MAPPINGS_AT_LEAST) {
		one_mapping(&reader, UINT64_C(1) << n % 3, n);
		n++;
	}
	reader.stop = true;
	ck_assert_int_eq(pthread_join(reader.thread, NULL), 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("hostile");
	TCase *tcase = tcase_create("hostile");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (argc > 1)
		seconds = atoi(argv[1]);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60 + 2 * seconds);
	tcase_add_test(tcase, hostile_reader);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
