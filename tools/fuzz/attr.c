/* SPDX-License-Identifier: MIT */
/*
 * Any attr through perf_event_open, events into its counter, and what comes out
 * read back. Built twice: with libFuzzer, and with replay.c as a plain program
 * over corpus/fuzz/attr.
 *
 * Input: byte 0 how (see enum), 1 ring (bit 5: few samples a tick, bit 6: ticks), 2
 * number of bursts, 3 their size, 4 and 5 the user's stack pointer and frame, then
 * the attr's bytes.
 *
 * What must hold: an errno that Linux has for it, or records that are whole;
 * a record's size is the sum of its fields; the count is what was injected
 * less what the filters exclude; no more samples than whole periods; nothing
 * is written outside the ring, nothing is left behind.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/fake-kernel.h"

enum {
	HOW_LATER_KERNEL = 1, /* linux-6.12 */
	HOW_TAME = 2,	      /* an attr that has a chance */
	HOW_EL1 = 4,	      /* every other burst at EL1 */
	HOW_READ_ONLY = 8,    /* an overwriting ring */
	HOW_CPU = 16,	      /* an event of the CPU */
	HOW_IDLE = 32,	      /* and nobody runs */
	FEW = 3 * KSYS_HZ,    /* samples a second: 3 a tick */
	RING_LIMIT = 32,      /* of byte 1 */
	RING_TICKS = 64,
	HEAD = 6,
	ATTR_MAX = 136,
	RECORD_MAX = 65536,
	CYCLE_COUNTER = 31,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(what)                                                                \
	do {                                                                       \
		if (!(what)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                   \
		}                                                                  \
	} while (0)

static struct fake_kernel *kernels[2];

struct run {
	struct fake_kernel *fk;
	struct perf_event_attr attr;
	uint8_t how;
	uint64_t injected, read_words;
	unsigned samples, others, ticks;
	bool clock; /* on no counter */
	struct fk_ring ring;
	uint64_t record[RECORD_MAX / 8];
};
static struct run run;

/* Only errnos that perf_event_open(2) has for a bad attr or target. */
static bool is_known(long error)
{
	static const int known[] = {EINVAL, E2BIG, ENOENT, EOPNOTSUPP, EOVERFLOW, ENOSPC};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (error == -known[i])
			return true;
	return false;
}

static void tame(uint8_t bytes[ATTR_MAX])
{
	struct perf_event_attr *a = (void *)bytes;
	uint64_t flags;

	a->type = PERF_TYPE_HARDWARE;
	a->size = 128;
	a->config &= 1;
	a->config1 &= 1;
	a->sample_type &= ((UINT64_C(1) << 25) - 1) & ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	if (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
	a->read_format &= 31;
	memcpy(&flags, bytes + 40, sizeof(flags));
	/* not: inherit, side-band records, sigtrap, reserved ones */
	flags &= UINT64_C(0x37f9b97fff) & ~UINT64_C(0x24078a002);
	memcpy(bytes + 40, &flags, sizeof(flags));
	a->exclude_idle = a->remove_on_exec = a->inherit = a->aux_output = 0;
	a->use_clockid = 0;
	a->sample_regs_user = (a->sample_regs_user & ((UINT64_C(1) << 33) - 1)) | 1;
	a->sample_regs_intr = (a->sample_regs_intr & ((UINT64_C(1) << 33) - 1)) | 1;
	a->sample_stack_user &= 0x7ff8;
	a->sample_max_stack &= 127;
	a->__reserved_2 = 0;
	a->aux_sample_size = 0;
	a->sample_period &= 0xffff;
	memset(bytes + 116, 0, 4);
}

static long open_input(struct run *r, const uint8_t *data, size_t size)
{
	uint8_t bytes[ATTR_MAX] = {0};

	if (size > ATTR_MAX)
		size = ATTR_MAX;
	memcpy(bytes, data, size);
	if (r->how & HOW_TAME)
		tame(bytes);
	memcpy(r->fk->user, bytes, sizeof(bytes));
	memset(r->fk->user + ATTR_MAX, 0, 4096 - ATTR_MAX);
	memset(&r->attr, 0, sizeof(r->attr));
	memcpy(&r->attr, bytes, sizeof(r->attr) < ATTR_MAX ? sizeof(r->attr) : ATTR_MAX);
	if (r->attr.size < sizeof(r->attr)) {
		uint32_t known = r->attr.size ? r->attr.size : PERF_ATTR_SIZE_VER0;

		if (known < sizeof(r->attr))
			memset((uint8_t *)&r->attr + known, 0, sizeof(r->attr) - known);
	}
	return kperf_open(r->fk->perf, FK_USER_BASE, r->how & HOW_CPU ? -1 : 0,
			  r->how & HOW_CPU ? 0 : -1, -1, 0);
}

/* Words of a record's fields as the record itself tells them. */
static size_t sample_words(const struct run *r, const uint64_t *w)
{
	uint64_t type = r->attr.sample_type;
	size_t n = 1;

	n += (size_t)__builtin_popcountll(
		type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD));
	if (type & PERF_SAMPLE_READ)
		n += r->read_words;
	if (type & PERF_SAMPLE_CALLCHAIN) {
		CHECK(w[n] <= 127 + 2);
		n += 1 + w[n];
	}
	if (type & PERF_SAMPLE_RAW)
		n++;
	if (type & PERF_SAMPLE_REGS_USER)
		n += 1 +
		     (w[n] ? (size_t)__builtin_popcountll(r->attr.sample_regs_user) : 0);
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t stack = w[n];

		CHECK(stack <= r->attr.sample_stack_user && stack % 8 == 0);
		n += 1 + stack / 8;
		if (stack) {
			CHECK(w[n] <= stack);
			n++;
		}
	}
	if (type & PERF_SAMPLE_REGS_INTR)
		n += 1 + (size_t)__builtin_popcountll(r->attr.sample_regs_intr);
	return n + (size_t)__builtin_popcountll(
			   type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
				   PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
				   PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
				   PERF_SAMPLE_DATA_PAGE_SIZE |
				   PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX));
}

static size_t trailer_size(const struct run *r)
{
	return !r->attr.sample_id_all
		       ? 0
		       : 8 * (size_t)__builtin_popcountll(
				     r->attr.sample_type &
				     (PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
}

/* One record at @at; its size. */
static size_t check_record(struct run *r, uint64_t at)
{
	struct perf_event_header header;
	size_t size;

	memcpy(&header,
	       (uint8_t *)r->ring.pages[1 + at % ((r->ring.npages - 1) * 4096) / 4096] +
		       at % 4096,
	       sizeof(header));
	size = header.size;
	CHECK(size >= 8 && size % 8 == 0);
	CHECK(fk_record(&r->ring, at, r->record) == size);
	CHECK(header.type == PERF_RECORD_SAMPLE || header.type == PERF_RECORD_LOST ||
	      header.type == PERF_RECORD_THROTTLE ||
	      header.type == PERF_RECORD_UNTHROTTLE);
	if (header.type == PERF_RECORD_THROTTLE ||
	    header.type == PERF_RECORD_UNTHROTTLE) {
		CHECK(size == 32 + trailer_size(r));
		r->others++;
	}
	if (header.type == PERF_RECORD_SAMPLE) {
		CHECK(size == 8 * sample_words(r, r->record));
		r->samples++;
	}
	return size;
}

static void check_ring(struct run *r)
{
	uint64_t head, at = 0, bytes;

	if (!r->ring.page)
		return;
	bytes = (r->ring.npages - 1) * 4096;
	head = r->ring.page->data_head;
	for (const uint8_t *p = (const uint8_t *)r->ring.page + 1088;
	     p < (const uint8_t *)r->ring.page + 4096; p++)
		CHECK(!*p);
	/* an overwriting ring that went round has no first record */
	if (!bytes ||
	    (r->how & HOW_READ_ONLY && (r->attr.write_backward ? -head : head) > bytes))
		return;
	if (r->attr.write_backward) {
		at = head;
		head = 0;
	}
	CHECK(head - at <= bytes);
	while (at != head)
		at += check_record(r, at);
}

static void inject(struct run *r, long fd, unsigned bursts, uint64_t each, bool ticks)
{
	int counter = kperf_event_counter(r->fk->fds[fd]);

	/* a pair needs CHAIN, which this kernel's PMU has not */
	if (r->attr.config1 & 1 && counter != CYCLE_COUNTER)
		bursts = 0;
	for (unsigned i = 0; i < bursts && counter >= 0; i++) {
		unsigned el = r->how & HOW_EL1 && i & 1;
		/* a throttled one does not */
		bool counts = r->fk->pmu.pmcnten >> counter & 1;

		fk_inject(r->fk, (unsigned)counter, each, el);
		if (counts && !(el ? r->attr.exclude_kernel : r->attr.exclude_user))
			r->injected += each;
		if (ticks && i % 3 == 2) {
			fk_tick(r->fk);
			r->ticks++;
		}
	}
}

static void check_counts(struct run *r, long fd)
{
	uint64_t values[8] = {0}, n, lost = 0;
	bool group = r->attr.read_format & PERF_FORMAT_GROUP;

	CHECK(fk_read(r->fk, fd, values, sizeof(values)) == (long)(8 * r->read_words));
	n = values[group ? 1 + !!(r->attr.read_format & 1) + !!(r->attr.read_format & 2)
			 : 0];
	if (r->clock) /* the kernel's own: nothing was injected */
		return;
	CHECK(n == r->injected);
	if (r->attr.read_format & PERF_FORMAT_LOST)
		lost = values[r->read_words - 1];
	/* lost may be THROTTLE records too, two a tick and one of the last */
	if (!r->attr.sample_period)
		CHECK(r->samples + lost + r->others == 0);
	else if (r->fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] == FEW)
		CHECK(r->samples <= (r->ticks + 1) * FEW / KSYS_HZ);
	else if (r->attr.freq)
		CHECK(r->samples + lost <= n);
	else
		CHECK((r->samples + lost) * r->attr.sample_period <= n);
}

static void use_event(struct run *r, const uint8_t *data, long fd)
{
	struct kperf_event *event = r->fk->fds[fd];
	struct ksys_task *current = r->fk->current;
	uint64_t each = (uint64_t)data[3] * data[3] + 1;
	long mapped;

	r->read_words = 1 + (uint64_t)__builtin_popcountll(r->attr.read_format & 31);
	r->ring = (struct fk_ring){0};
	r->injected = 0;
	r->samples = r->others = r->ticks = 0;
	mapped = fk_mmap(r->fk, fd,
			 data[1] & 8	 ? 0
			 : data[1] & 128 ? 32
					 : UINT64_C(1) << (data[1] & 3),
			 r->how & HOW_READ_ONLY ? 1 : 3, &r->ring);
	CHECK(mapped == 0 || mapped == -EINVAL);
	if (mapped)
		r->ring.page = NULL;
	fk_ioctl(r->fk, fd, PERF_EVENT_IOC_ENABLE, 0);
	r->clock = kperf_event_counter(event) < 0;
	if (r->how & HOW_IDLE && r->how & HOW_CPU)
		r->fk->current = NULL;
	inject(r, fd, data[2] & 31, each, data[1] & RING_TICKS);
	r->fk->current = current;
	fk_ioctl(r->fk, fd, PERF_EVENT_IOC_DISABLE, 0);
	check_ring(r);
	check_counts(r, fd);
	CHECK(!(kperf_poll(event) & ~(unsigned)(POLLIN | POLLRDNORM | POLLHUP)));
	fk_close(r->fk, fd);
	if (!mapped)
		kperf_munmap(event);
}

/* The rest of user memory is one chain of frames, and not all of it is there. */
static struct fake_kernel *new_kernel(const char *profile)
{
	struct fake_kernel *fk = fk_create(profile, 6, true);

	for (uint64_t at = 8192; at + 16 <= FK_USER_SIZE; at += 16) {
		uint64_t words[2] = {FK_USER_BASE + at + 16, at};

		memcpy(fk->user + at, words, sizeof(words));
	}
	return fk;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *r = &run;
	unsigned allocations, which;
	long fd;

	if (size < HEAD)
		return 0;
	r->how = data[0];
	which = r->how & HOW_LATER_KERNEL;
	if (!kernels[which])
		kernels[which] = new_kernel(which ? "linux-6.12" : "linux-6.1");
	r->fk = kernels[which];
	/* what a task keeps for good is there before the first count */
	if (!r->fk->tasks[0].perf) {
		struct perf_event_attr attr = fk_attr(PERF_COUNT_HW_CPU_CYCLES, 0);

		fk_close(r->fk, fk_open(r->fk, &attr, -1));
	}
	allocations = r->fk->allocations;
	r->fk->pc = FK_CODE;
	r->fk->user_regs.sp = FK_USER_BASE + 8 * (uint64_t)(data[4] << 5);
	r->fk->user_regs.x[29] = FK_USER_BASE + (uint64_t)data[5] * 240 + (data[4] & 4);
	fk_log_clear(r->fk);
	r->fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] =
		data[1] & RING_LIMIT ? FEW : 100000000;
	fd = open_input(r, data + HEAD, size - HEAD);
	if (fd < 0)
		CHECK(is_known(fd));
	else
		use_event(r, data, fd);
	CHECK(r->fk->allocations == allocations);
	CHECK(!r->fk->work && !r->fk->masked && !r->fk->spurious);
	return 0;
}
