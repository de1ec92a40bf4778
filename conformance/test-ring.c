/* SPDX-License-Identifier: MIT */
/* The ring: fill, loss, wakeups, nested writers, hostile readers. */
#include "conformance/ring-fixture.h"

/* --- full rings ------------------------------------------------------------ */

/* B5 */
START_TEST(full_at_127_records_of_32)
{
	long fd = open_mapped(ring_attr(TYPE_32));

	write_records(fd, 127);
	ck_assert_uint_eq(ring.page->data_head, 4064);
	ck_assert_uint_eq(lost_of(fd), 0);
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4064);
	ck_assert_uint_eq(lost_of(fd), 1);
	ck_assert_uint_eq(fk_records(&ring, 0, PERF_RECORD_SAMPLE), 127);
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_LOST), 1);
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_RECORD), 127);
	/* what is dropped still counts */
	ck_assert_uint_eq(fk_count(fk, fd), 128 * PERIOD);
	munmap_fd(fd);
}
END_TEST

START_TEST(full_then_room_for_exactly_one)
{
	long fd = open_mapped(ring_attr(TYPE_32));

	write_records(fd, 127);
	ring.page->data_tail = 32;
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4096);
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4096);
	ck_assert_uint_eq(lost_of(fd), 1);
	munmap_fd(fd);
}
END_TEST

/* The last byte stays free, also for a reader that stops between records. */
START_TEST(full_to_the_byte)
{
	long fd = open_mapped(ring_attr(TYPE_32));

	write_records(fd, 127);
	ring.page->data_tail = 1;
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4096);
	ring.page->data_tail = 32;
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4096);
	munmap_fd(fd);
}
END_TEST

START_TEST(full_with_losses_pending)
{
	long fd = open_mapped(ring_attr(TYPE_32));

	write_records(fd, 130);
	ck_assert_uint_eq(lost_of(fd), 3);
	ring.page->data_tail = 32;
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 4120);
	expect_lost(4064, 1, 3);
	expect_sample(4088, 32, 1);
	ck_assert_uint_eq(lost_of(fd), 3);
	munmap_fd(fd);
}
END_TEST

/* B4: free bytes 24 to 56 with a 24-byte record and a 24-byte LOST. */
START_TEST(lost_needs_more_than_48_bytes)
{
	for (uint64_t room = 24; room <= 56; room += 8) {
		long fd = open_mapped(ring_attr(TYPE_24));
		uint64_t id = fk_id(fk, fd);

		write_records(fd, 172);
		ck_assert_uint_eq(ring.page->data_head, 4080);
		ck_assert_uint_eq(lost_of(fd), 2);
		ring.page->data_tail = 4080 + room - DATA;
		write_records(fd, 1);
		if (room <= 48) {
			ck_assert_uint_eq(ring.page->data_head, 4080);
			ck_assert_uint_eq(lost_of(fd), 3);
		} else {
			ck_assert_uint_eq(ring.page->data_head, 4128);
			ck_assert_uint_eq(lost_of(fd), 2);
			expect_lost(4080, id, 2);
			expect_sample(4104, 24, id);
		}
		munmap_fd(fd);
		fk_close(fk, fd);
	}
}
END_TEST

/* B4 */
START_TEST(lost_is_the_rings_and_names_the_writer)
{
	long a = open_mapped(ring_attr(TYPE_24));
	long b = open_type(TYPE_24);

	redirect(b, a);
	write_records(a, 170);
	ck_assert_uint_eq(ring.page->data_head, 4080);
	write_records(a, 3);
	write_records(b, 2);
	drain();
	write_records(b, 1);
	write_records(a, 1);
	ck_assert_uint_eq(ring.page->data_head, 4152);
	expect_lost(4080, 2, 5);
	expect_sample(4104, 24, 2);
	expect_sample(4128, 24, 1);
	ck_assert_uint_eq(lost_of(a), 3);
	ck_assert_uint_eq(lost_of(b), 2);
	munmap_fd(a);
}
END_TEST

START_TEST(lost_counts_while_paused)
{
	long fd = open_mapped(ring_attr(TYPE_24));

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 2), 0);
	write_records(fd, 3);
	ck_assert_uint_eq(ring.page->data_head, 0);
	ck_assert_uint_eq(lost_of(fd), 3);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	write_records(fd, 2);
	expect_lost(0, 1, 3);
	expect_sample(24, 24, 1);
	expect_sample(48, 24, 1);
	ck_assert_uint_eq(ring.page->data_head, 72);
	munmap_fd(fd);
}
END_TEST

START_TEST(lost_does_not_count_without_data_pages)
{
	long none = open_type(TYPE_24), header = open_type(TYPE_24);

	ck_assert_int_eq(fk_mmap(fk, header, 0, 3, &ring), 0);
	write_records(none, 3);
	write_records(header, 3);
	ck_assert_uint_eq(lost_of(none), 0);
	ck_assert_uint_eq(lost_of(header), 0);
	ck_assert_uint_eq(ring.page->data_head, 0);
	ck_assert_int_eq(fk_ioctl(fk, none, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -EINVAL);
	ck_assert_int_eq(fk_ioctl(fk, header, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), -EINVAL);
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_LOST), 0);
	munmap_fd(header);
}
END_TEST

START_TEST(read_only_mapping_overwrites)
{
	long fd = open_attr(ring_attr(TYPE_32));

	ck_assert_int_eq(fk_mmap(fk, fd, 1, KPERF_PROT_READ, &ring), 0);
	write_records(fd, 300);
	ck_assert_uint_eq(ring.page->data_head, 9600);
	ck_assert_uint_eq(lost_of(fd), 0);
	ck_assert_uint_eq(fk_records(&ring, 9600 - DATA, PERF_RECORD_SAMPLE), 128);
	munmap_fd(fd);
}
END_TEST

/* B5: 16 bytes before the end, 16 after. */
START_TEST(wrap_splits_a_record)
{
	long a = open_mapped(ring_attr(TYPE_24));
	long b = open_type(TYPE_32);
	uint64_t first[2], second[2];

	redirect(b, a);
	write_records(a, 170);
	drain();
	write_records(b, 1);
	ck_assert_uint_eq(ring.page->data_head, 4112);
	expect_sample(4080, 32, 2);
	memcpy(first, (char *)ring.pages[1] + 4080, 16);
	memcpy(second, ring.pages[1], 16);
	ck_assert_uint_eq(first[1], FK_CODE);
	ck_assert_uint_eq(second[0], 2);
	ck_assert_uint_eq(second[1], PERIOD);
	munmap_fd(a);
}
END_TEST

START_TEST(wrap_over_pages_of_a_larger_ring)
{
	long fd = open_type(TYPE_24);

	ck_assert_int_eq(fk_mmap(fk, fd, 4, 3, &ring), 0);
	for (unsigned round = 0; round < 5; round++) {
		uint64_t from = ring.page->data_head;

		write_records(fd, 500);
		ck_assert_uint_eq(ring.page->data_head - from, 12000);
		for (unsigned i = 0; i < 500; i++)
			expect_sample(from + 24 * i, 24, 1);
		drain();
	}
	munmap_fd(fd);
}
END_TEST

START_TEST(backward_ring_grows_down)
{
	struct perf_event_attr attr = ring_attr(TYPE_32);
	long fd;

	attr.write_backward = 1;
	fd = open_attr(attr);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, KPERF_PROT_READ, &ring), 0);
	write_records(fd, 1);
	expect_sample((uint64_t)-32, 32, 1);
	ck_assert_mem_eq(ring.pages[1], (const uint8_t[32]){0}, 32);
	write_records(fd, 63);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	write_records(fd, 1);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), WAKE);
	write_records(fd, 135);
	ck_assert_uint_eq(ring.page->data_head, (uint64_t)-6400);
	for (unsigned i = 0; i < 128; i++)
		expect_sample((uint64_t)-6400 + 32 * i, 32, 1);
	munmap_fd(fd);
	/* writable it loses like the other */
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	write_records(fd, 130);
	ck_assert_uint_eq(ring.page->data_head, (uint64_t)-4064);
	ck_assert_uint_eq(lost_of(fd), 3);
	munmap_fd(fd);
}
END_TEST

/* --- hostile readers ------------------------------------------------------- */

/* B5 */
START_TEST(hostile_header_changes_nothing)
{
	long fd = open_mapped(ring_attr(TYPE_32));

	write_records(fd, 2);
	ring.page->data_head = UINT64_C(0xdeadbeef00000000);
	ring.page->data_size = 1;
	ring.page->data_offset = UINT64_MAX;
	ring.page->lock = 77;
	write_records(fd, 1);
	ck_assert_uint_eq(ring.page->data_head, 96);
	ck_assert_uint_eq(ring.page->data_size, 1);
	ck_assert_uint_eq(ring.page->data_offset, UINT64_MAX);
	for (unsigned i = 0; i < 3; i++)
		expect_sample(32 * i, 32, 1);
	munmap_fd(fd);
}
END_TEST

START_TEST(hostile_tail_only_clamps)
{
	static const uint64_t tails[] = {0,
					 1,
					 31,
					 64,
					 4095,
					 4096,
					 4097,
					 12345,
					 UINT64_MAX,
					 UINT64_MAX - 63,
					 UINT64_C(1) << 63};
	long fd = open_mapped(ring_attr(TYPE_32));
	uint64_t head = 0;

	for (unsigned round = 0; round < 4096; round++) {
		uint64_t before = lost_of(fd), now;

		ring.page->data_tail = tails[round % 11] * (round + 1);
		write_records(fd, 1);
		now = ring.page->data_head;
		/* written, with a LOST before it or not, or counted: never both */
		if (now == head)
			ck_assert_uint_eq(lost_of(fd), before + 1);
		else
			ck_assert(now - head == 32 || now - head == 56);
		if (now != head)
			expect_sample(now - 32, 32, 1);
		head = now;
	}
	munmap_fd(fd);
}
END_TEST

/* --- wakeups --------------------------------------------------------------- */

/* Write @n records, draining after each; which of them woke, as a list. */
static unsigned wakes_of(long fd, unsigned n, unsigned *list, unsigned max)
{
	unsigned count = 0;

	for (unsigned i = 1; i <= n; i++) {
		unsigned before = fk->wakes, events;

		write_records(fd, 1);
		events = kperf_poll(fk->fds[fd]);
		ck_assert(events == 0 || events == WAKE);
		/* one wake each, and poll consumes it */
		ck_assert_uint_eq(fk->wakes - before, events ? 1 : 0);
		ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
		if (events && count < max)
			list[count++] = i;
		drain();
	}
	return count;
}

/* Linux perf_output_wakeup(): since 6.12 the ring's wakeups are told by SIGIO too,
 * whatever record crossed the watermark; before it samples alone. */
START_TEST(sigio_of_a_wakeup)
{
	static const char *const profiles[] = {"linux-6.1", "linux-6.12"};
	const uint64_t record[3] = {PERF_RECORD_UNTHROTTLE | UINT64_C(24) << 48};
	struct perf_output out;
	long fd;

	teardown();
	fk = fk_create(profiles[_i], 6, true);
	fd = open_mapped(ring_attr(TYPE_24));
	fk->async = true;
	for (unsigned i = 1; i <= 86; i++) { /* the last is beyond half the ring */
		ck_assert_uint_eq(fk->wakes, 0);
		ck_assert_uint_eq(fk->sigio_in, 0);
		fk_mask(fk);
		ck_assert(perf_output_begin(&out, &fk->hal, fk->fds[fd],
					    PERF_RECORD_UNTHROTTLE, 24));
		perf_output_copy(&out, record, 24);
		perf_output_end(&out);
		fk_unmask(fk);
	}
	ck_assert_uint_eq(fk->wakes, 1);
	ck_assert_uint_eq(fk->sigio_in, _i);
	write_records(fd, 1);
	ck_assert_uint_eq(fk->sigio_in, _i + 1);
	ck_assert_uint_eq(fk->sigio_hup, 0);
	munmap_fd(fd);
	fk_close(fk, fd);
}
END_TEST

static void expect_wakes(struct perf_event_attr attr, unsigned n, const unsigned *want,
			 unsigned nwant)
{
	long fd = open_mapped(attr);
	unsigned list[256];
	unsigned count = wakes_of(fd, n, list, 256);

	for (unsigned i = 0; i < nwant && i < count; i++)
		ck_assert_msg(list[i] == want[i], "wake %u at record %u, want %u", i,
			      list[i], want[i]);
	ck_assert_uint_eq(count, nwant);
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_WAKEUP), nwant);
	fk_log_clear(fk);
	munmap_fd(fd);
	fk_close(fk, fd);
}

/* B6 */
START_TEST(wake_at_half_the_ring)
{
	expect_wakes(ring_attr(TYPE_32), 400,
		     (const unsigned[]){65, 129, 193, 257, 321, 385}, 6);
}
END_TEST

START_TEST(wake_at_the_watermark)
{
	static const struct {
		uint32_t watermark;
		unsigned heads[2]; /* where it wakes, in bytes */
	} rows[] = {
		{1, {32, 64}},	      {31, {32, 64}},	    {32, {64, 96}},
		{33, {64, 96}},	      {100, {128, 224}},    {2048, {2080, 4128}},
		{4095, {4096, 8192}}, {4096, {4128, 8224}}, {5000, {4128, 8224}},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = ring_attr(TYPE_32);
		unsigned want[2] = {rows[i].heads[0] / 32, rows[i].heads[1] / 32};

		attr.watermark = 1;
		attr.wakeup_watermark = rows[i].watermark;
		expect_wakes(attr, want[1], want, 2);
	}
}
END_TEST

/* The same field is no number of events then. */
START_TEST(wake_at_the_watermark_only)
{
	struct perf_event_attr attr = ring_attr(TYPE_32);
	unsigned want[64], n = 0;

	attr.watermark = 1;
	attr.wakeup_watermark = 64;
	for (unsigned i = 3; i <= 130; i += 2)
		want[n++] = i;
	expect_wakes(attr, 130, want, n);
}
END_TEST

/* Multiples of @every up to 131 and the half-ring mark, which each of them
 * moves by one byte. */
static void expect_wakeup_events(unsigned every, unsigned extra1, unsigned extra2)
{
	struct perf_event_attr attr = ring_attr(TYPE_32);
	unsigned want[256], n = 0;

	for (unsigned i = 1; i <= 131; i++)
		if (i % every == 0 || i == extra1 || i == extra2)
			want[n++] = i;
	attr.wakeup_events = every;
	expect_wakes(attr, 131, want, n);
}

START_TEST(wake_by_events)
{
	expect_wakeup_events(1, 0, 0);
	expect_wakeup_events(2, 66, 131);
	expect_wakeup_events(3, 65, 130);
	expect_wakeup_events(40, 65, 129);
	expect_wakeup_events(1000, 65, 129);
}
END_TEST

START_TEST(wake_of_a_redirected_event)
{
	struct perf_event_attr attr = ring_attr(TYPE_24);
	long a = open_mapped(attr), b;

	attr.wakeup_events = 2;
	b = open_attr(attr);
	redirect(b, a);
	write_records(b, 1);
	ck_assert_uint_eq(fk->wakes, 0);
	write_records(b, 1);
	/* both files' pollers look; the flag is one */
	ck_assert_uint_eq(fk->wakes, 2);
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), WAKE);
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), 0);
	write_records(b, 2);
	ck_assert_uint_eq(kperf_poll(fk->fds[b]), WAKE);
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), 0);
	munmap_fd(a);
}
END_TEST

START_TEST(wake_does_not_come_for_what_is_dropped)
{
	struct perf_event_attr attr = ring_attr(TYPE_32);
	long fd;

	attr.wakeup_events = 1;
	fd = open_mapped(attr);
	write_records(fd, 127);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), WAKE);
	write_records(fd, 5);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	munmap_fd(fd);
}
END_TEST

/* B7 */
START_TEST(poll_without_a_ring)
{
	long fd = open_type(TYPE_24);

	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), HUP);
	ck_assert_int_eq(fk_mmap(fk, fd, 0, 3, &ring), 0);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	munmap_fd(fd);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), HUP);
}
END_TEST

/* --- nested writers -------------------------------------------------------- */

static void outer_begin(struct perf_output *out, long fd, uint64_t record[4])
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 32};

	memcpy(&record[0], &header, sizeof(header));
	record[1] = FK_CODE;
	record[2] = fk_id(fk, fd);
	record[3] = PERIOD;
	ck_assert(perf_output_begin(out, &fk->hal, fk->fds[fd], PERF_RECORD_SAMPLE, 32));
}

START_TEST(nested_writer_publishes_with_the_outer)
{
	long a = open_mapped(ring_attr(TYPE_32)), b = open_type(TYPE_24);
	struct perf_output out;
	uint64_t record[4];

	redirect(b, a);
	outer_begin(&out, a, record);
	write_records(b, 3); /* interrupts, each complete */
	ck_assert_uint_eq(ring.page->data_head, 0);
	perf_output_copy(&out, record, 32);
	ck_assert_uint_eq(ring.page->data_head, 0);
	perf_output_end(&out);
	ck_assert_uint_eq(ring.page->data_head, 32 + 3 * 24);
	expect_sample(0, 32, 1);
	for (unsigned i = 0; i < 3; i++)
		expect_sample(32 + 24 * i, 24, 2);
	write_records(b, 1); /* and the nesting is over */
	ck_assert_uint_eq(ring.page->data_head, 32 + 4 * 24);
	munmap_fd(a);
}
END_TEST

static unsigned nested_counter;

static void nested_write(struct fake_kernel *k)
{
	ck_assert_int_eq(pmuv3_inject(&k->pmu, nested_counter, PERIOD, 0, false), 0);
}

/* An interrupt in the middle of the copy, on either side of the wrap, with a
 * LOST record to write or not. */
START_TEST(nested_writer_in_every_copy)
{
	/* 16 and 16 bytes; LOST as 16 and 8, then 32 */
	for (unsigned k = 1; k <= 5; k++) {
		long a = open_mapped(ring_attr(TYPE_32)), b = open_type(TYPE_24);
		uint64_t record[4], ida = fk_id(fk, a), idb = fk_id(fk, b), at = 4080;
		bool lost = k > 2;
		struct perf_output out;

		redirect(b, a);
		write_records(b, lost ? 172 : 170);
		drain();
		nested_counter = counter_of(b);
		fk->hook_copy = fk->copy_op + (lost ? k - 2 : k);
		fk->hook = nested_write;
		outer_begin(&out, a, record);
		perf_output_copy(&out, record, 32);
		ck_assert_uint_eq(ring.page->data_head, 4080);
		perf_output_end(&out);
		ck_assert_ptr_null(fk->hook);
		if (lost) {
			expect_lost(at, ida, 2);
			at += 24;
		}
		expect_sample(at, 32, ida);
		/* the other one interrupted the kernel */
		ck_assert_uint_eq(fk_record(&ring, at + 32, record), 24);
		ck_assert_uint_eq(record[0], UINT64_C(24) << 48 | UINT64_C(1) << 32 | 9);
		ck_assert_uint_ge(record[1], FK_KERNEL_PC);
		ck_assert_uint_eq(record[2], idb);
		ck_assert_uint_eq(ring.page->data_head, at + 56);
		munmap_fd(a);
		fk_close(fk, b);
		fk_close(fk, a);
	}
}
END_TEST

START_TEST(nested_writer_crossing_the_mark_wakes_once)
{
	long a = open_mapped(ring_attr(TYPE_32)), b = open_type(TYPE_24);
	struct perf_output out;
	uint64_t record[4];

	redirect(b, a);
	write_records(a, 63); /* 2016 of 2048 */
	outer_begin(&out, a, record);
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), 0);
	write_records(b, 1); /* 2072 */
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), 0);
	perf_output_copy(&out, record, 32);
	perf_output_end(&out);
	fk_unmask(fk);
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), WAKE);
	ck_assert_uint_eq(kperf_poll(fk->fds[a]), 0);
	ck_assert_uint_eq(fk->wakes, 2); /* the two files, once */
	munmap_fd(a);
}
END_TEST

START_TEST(nested_writer_that_finds_no_room)
{
	long a = open_mapped(ring_attr(TYPE_32)), b = open_type(TYPE_32);
	struct perf_output out;
	uint64_t record[4];

	redirect(b, a);
	write_records(a, 126);
	outer_begin(&out, a, record); /* the 127th */
	write_records(b, 2);
	ck_assert_uint_eq(lost_of(b), 2);
	ck_assert_uint_eq(ring.page->data_head, 126 * 32);
	perf_output_copy(&out, record, 32);
	perf_output_end(&out);
	ck_assert_uint_eq(ring.page->data_head, 4064);
	drain();
	write_records(a, 1);
	expect_lost(4064, 1, 2);
	munmap_fd(a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("ring");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, full_at_127_records_of_32);
	tcase_add_test(tcase, full_then_room_for_exactly_one);
	tcase_add_test(tcase, full_to_the_byte);
	tcase_add_test(tcase, full_with_losses_pending);
	tcase_add_test(tcase, lost_needs_more_than_48_bytes);
	tcase_add_test(tcase, lost_is_the_rings_and_names_the_writer);
	tcase_add_test(tcase, lost_counts_while_paused);
	tcase_add_test(tcase, lost_does_not_count_without_data_pages);
	tcase_add_test(tcase, read_only_mapping_overwrites);
	tcase_add_test(tcase, wrap_splits_a_record);
	tcase_add_test(tcase, wrap_over_pages_of_a_larger_ring);
	tcase_add_test(tcase, backward_ring_grows_down);
	tcase_add_test(tcase, hostile_header_changes_nothing);
	tcase_add_test(tcase, hostile_tail_only_clamps);
	tcase_add_test(tcase, wake_at_half_the_ring);
	tcase_add_test(tcase, wake_at_the_watermark);
	tcase_add_test(tcase, wake_at_the_watermark_only);
	tcase_add_test(tcase, wake_by_events);
	tcase_add_loop_test(tcase, sigio_of_a_wakeup, 0, 2);
	tcase_add_test(tcase, wake_of_a_redirected_event);
	tcase_add_test(tcase, wake_does_not_come_for_what_is_dropped);
	tcase_add_test(tcase, poll_without_a_ring);
	tcase_add_test(tcase, nested_writer_publishes_with_the_outer);
	tcase_add_test(tcase, nested_writer_in_every_copy);
	tcase_add_test(tcase, nested_writer_crossing_the_mark_wakes_once);
	tcase_add_test(tcase, nested_writer_that_finds_no_room);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
