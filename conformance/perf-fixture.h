/* SPDX-License-Identifier: MIT */
/*
 * What the suites of the perf core's counting side share: a fake kernel, one
 * ring, and short words for what every test does.
 */
#ifndef PMULAB_CONFORMANCE_PERF_FIXTURE_H
#define PMULAB_CONFORMANCE_PERF_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/fake-kernel.h"

enum {
	CYCLE = 31
};
#define CYCLES PERF_COUNT_HW_CPU_CYCLES
#define INSTRUCTIONS PERF_COUNT_HW_INSTRUCTIONS

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

static inline long open_attr(struct perf_event_attr attr)
{
	long fd = fk_open(fk, &attr, -1);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static inline void enable(long fd)
{
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

static inline void disable(long fd)
{
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
}

/* An event with a ring of one page, all IP-only records. */
static inline long open_sampling(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = fk_attr(config, period);

	attr.sample_type = PERF_SAMPLE_IP;

	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	return fd;
}

static inline unsigned samples(void)
{
	return fk_records(&ring, 0, PERF_RECORD_SAMPLE);
}

static inline uint32_t last_write(uint32_t reg)
{
	uint64_t value = 0;

	ck_assert_uint_ge(fk_writes(fk, reg, &value), 1);
	return (uint32_t)value;
}

/* The last value written to the cycle counter: its upper half is all ones. */
static inline uint32_t last_cycle_write(void)
{
	uint64_t value = 0;

	ck_assert_uint_ge(fk_writes(fk, HAL_PMCCNTR_EL0, &value), 1);
	ck_assert_uint_eq(value >> 32, UINT32_MAX);
	return (uint32_t)value;
}

static inline void close_mapped(long fd)
{
	struct kperf_event *event = fk->fds[fd];

	fk_close(fk, fd);
	kperf_munmap(event);
}

static inline void task_out(long fd)
{
	fk_mask(fk);
	kperf_sched_out(fk->perf, &fk->hal, fk->current);
	fk->current = &fk->tasks[1];
	kperf_sched_in(fk->perf, &fk->hal, fk->current);
	fk_unmask(fk);
	fk_run(fk, 5000); /* somebody else's */
}

static inline void task_in(long fd)
{
	fk_mask(fk);
	kperf_sched_out(fk->perf, &fk->hal, fk->current);
	fk->current = &fk->tasks[0];
	fk->pc = FK_CODE + (fk->pc - FK_CODE - 4 * UINT64_C(5000));
	kperf_sched_in(fk->perf, &fk->hal, fk->current);
	fk_unmask(fk);
}

#endif
