/* SPDX-License-Identifier: MIT */
/*
 * What the suites of rings and mappings share. Each event counts instructions
 * on an event counter of its own, so that a test decides which one overflows.
 */
#ifndef PMULAB_CONFORMANCE_RING_FIXTURE_H
#define PMULAB_CONFORMANCE_RING_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/fake-kernel.h"
#include "kernelcore/perf/ring.h"

enum {
	PERIOD = 1000,
	DATA = 4096,
	WAKE = 0x41, /* POLLIN | POLLRDNORM */
	HUP = 0x10,
};

/* 24 and 32 bytes a record. */
#define TYPE_24 (PERF_SAMPLE_IP | PERF_SAMPLE_ID)
#define TYPE_32 (PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD)

static struct fake_kernel *fk;
static struct fk_ring ring;

static inline void setup(void)
{
	fk = fk_create("linux-6.1", 6, true);
}

static inline void teardown(void)
{
	fk_destroy(fk);
}

static struct perf_event_attr ring_attr(uint64_t type)
{
	struct perf_event_attr attr = fk_attr(PERF_COUNT_HW_INSTRUCTIONS, PERIOD);

	attr.sample_type = type;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 0;
	return attr;
}

static inline long open_attr(struct perf_event_attr attr)
{
	long fd = fk_open(fk, &attr, -1);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* An event on the next event counter, running, without a ring. */
static inline long open_type(uint64_t type)
{
	return open_attr(ring_attr(type));
}

static inline long open_mapped(struct perf_event_attr attr)
{
	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	return fd;
}

static inline void redirect(long fd, long to)
{
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_SET_OUTPUT, (uint64_t)to), 0);
}

static inline void munmap_fd(long fd)
{
	kperf_munmap(fk->fds[fd]);
}

static inline unsigned counter_of(long fd)
{
	int counter = kperf_event_counter(fk->fds[fd]);

	ck_assert_int_ge(counter, 0);
	return (unsigned)counter;
}

/* @n records of @fd. */
static inline void write_records(long fd, unsigned n)
{
	unsigned counter = counter_of(fd);

	while (n--)
		fk_inject(fk, counter, PERIOD, 0);
}

static inline void drain(void)
{
	ring.page->data_tail = ring.page->data_head;
}

static inline uint64_t lost_of(long fd)
{
	uint64_t v[2];

	ck_assert_int_eq(fk_read(fk, fd, v, 16), 16);
	return v[1];
}

static inline void expect_record(uint64_t pos, uint32_t type, uint32_t size,
				 uint64_t second)
{
	uint64_t record[16];
	struct perf_event_header header;

	ck_assert_uint_eq(fk_record(&ring, pos, record), size);
	memcpy(&header, record, sizeof(header));
	ck_assert_uint_eq(header.type, type);
	ck_assert_uint_eq(record[1], second);
}

/* A sample of TYPE_24 or TYPE_32 by the event with @id. */
static inline void expect_sample(uint64_t pos, uint32_t size, uint64_t id)
{
	uint64_t record[16];

	expect_record(pos, PERF_RECORD_SAMPLE, size, FK_CODE);
	fk_record(&ring, pos, record);
	ck_assert_uint_eq(record[2], id);
	if (size == 32)
		ck_assert_uint_eq(record[3], PERIOD);
}

static inline void expect_lost(uint64_t pos, uint64_t id, uint64_t lost)
{
	uint64_t record[16];

	expect_record(pos, PERF_RECORD_LOST, 24, id);
	fk_record(&ring, pos, record);
	ck_assert_uint_eq(record[2], lost);
}

#endif
