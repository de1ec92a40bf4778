/* SPDX-License-Identifier: MIT */
/*
 * Frequencies and throttling. A tick is 4,000,000 ns; the program executes one
 * instruction a ns, and the fake kernel's clock moves 16 ns at each reading, so
 * every time that the core sees can be said beforehand.
 */
#include "conformance/perf-fixture.h"
#include "kernelcore/perf/freq.h"

enum {
	TICK = 4000000,
	RATE_LIMIT = 1000, /* the sysctl: 4 samples a tick */
	LIMIT = 4,
};

/* --- the filter -------------------------------------------------------------- */

/* B12, with what 6.1 and 6.12 were seen to do. */
START_TEST(filter_moves_by_an_eighth)
{
	static const struct {
		int64_t old, ideal, next;
	} rows[] = {
		{23, 11, 21},	 {23, 22, 22},	  {100, 101, 101}, {100, 80, 97},
		{195, 130, 186}, {212, 81, 195},  {239, 26, 212},  {188, 125, 180},
		{225, 25, 200},	 {200, 110, 188}, {1, 285, 37},	   {1, 290, 38},
		{1, 0, 1},	 {7, 7, 7},	  {8, 0, 7},	   {1, 1000000, 125001},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_int_eq(perf_freq_filter(rows[i].old, rows[i].ideal),
				 rows[i].next);
}
END_TEST

/* From either side it arrives, and then it stays. */
START_TEST(filter_converges)
{
	static const int64_t from[] = {1, 999999, 1000001, INT64_C(1) << 40};

	for (unsigned i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		int64_t period = from[i];
		unsigned steps = 0;

		while (period != 1000000 && steps < 1000) {
			period = perf_freq_filter(period, 1000000);
			steps++;
		}
		ck_assert_uint_lt(steps, 200);
		ck_assert_int_eq(perf_freq_filter(period, 1000000), 1000000);
	}
}
END_TEST

START_TEST(filter_of_the_largest_numbers_wraps)
{
	/* UBSan looks on */
	perf_freq_filter(1, INT64_MAX);
	perf_freq_filter(1, INT64_MIN);
	perf_freq_filter(INT64_MAX, INT64_MIN);
	ck_assert_int_ne(perf_freq_filter(INT64_MIN, INT64_MAX), 0);
}
END_TEST

/* Where nothing has to be cut, it is the plain quotient. */
START_TEST(ideal_is_the_quotient)
{
	ck_assert_uint_eq(perf_freq_ideal(1000, 5600, 37), 6607);
	ck_assert_uint_eq(perf_freq_ideal(1000, 5328, 38), 7132);
	ck_assert_uint_eq(perf_freq_ideal(1000, TICK, TICK), 1000000);
	ck_assert_uint_eq(perf_freq_ideal(1, TICK, TICK), 1000000000);
	ck_assert_uint_eq(perf_freq_ideal(20000, TICK, TICK), 50000);
	ck_assert_uint_eq(perf_freq_ideal(1000, TICK, 0), 0);
	ck_assert_uint_eq(perf_freq_ideal(4000, 250001, 1), 0);
}
END_TEST

/* Of factors too long for 64 bits some accuracy is given up, one bit a step:
 * near enough, and never a division by 0. */
START_TEST(ideal_of_long_factors_is_near)
{
	static const struct {
		uint64_t freq, nsec, count;
	} rows[] = {
		{1000, TICK, UINT64_C(1) << 40},
		{1, UINT64_C(1) << 40, UINT64_C(1) << 50},
		{100000, UINT64_C(1) << 50, (UINT64_C(1) << 62) + 12345},
		{99999999, UINT64_C(1) << 60, UINT64_C(1) << 36},
		{99999999, UINT64_MAX, UINT64_MAX},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		__extension__ typedef unsigned __int128 wide;
		uint64_t got = perf_freq_ideal(rows[i].freq, rows[i].nsec, rows[i].count);
		wide divisor = (wide)rows[i].nsec * rows[i].freq;
		uint64_t exact = (uint64_t)((wide)rows[i].count * 1000000000u / divisor);

		ck_assert_uint_ge(got, exact - exact / 1000);
		ck_assert_uint_le(got, exact + exact / 1000 + 1);
	}
	/* all of the divisor cut away: the dividend alone */
	ck_assert_uint_eq(perf_freq_ideal(1, 1, UINT64_MAX),
			  (UINT64_MAX >> 30) * (1000000000 >> 0));
}
END_TEST

/* --- an event with a frequency ------------------------------------------------ */

static struct perf_event_attr freq_attr(uint64_t freq)
{
	struct perf_event_attr attr = fk_attr(CYCLES, freq);

	attr.freq = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	return attr;
}

static long open_mapped(struct perf_event_attr attr)
{
	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 8, 3, &ring), 0);
	return fd;
}

static uint64_t period_of_record(unsigned n)
{
	uint64_t record[4], pos = 24 * UINT64_C(1) * n;

	ck_assert_uint_eq(fk_record(&ring, pos, record), 24);
	return record[2];
}

/* What is programmed now. */
static uint64_t programmed(void)
{
	return -(uint64_t)last_cycle_write() & UINT32_MAX;
}

/* Period 1, then 1 again: the first overflow is too far from no earlier one, and
 * what the second one finds is programmed by the third. */
START_TEST(freq_starts_at_period_1)
{
	long fd = open_mapped(freq_attr(1000));

	fk->ns = 10 * UINT64_C(1000000000);
	enable(fd);
	ck_assert_uint_eq(programmed(), 1);
	fk_run(fk, 1);
	ck_assert_uint_eq(programmed(), 1);
	/* 16 ns of each clock reading, and those to come: 1 event of period 1 */
	fk_run(fk, 1);
	ck_assert_uint_eq(programmed(), 1);
	ck_assert_uint_eq(samples(), 2);
	fk_run(fk, 1);
	ck_assert_uint_gt(programmed(), 1);
	ck_assert_uint_eq(samples(), 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(period_of_record(i), 1);
	close_mapped(fd);
}
END_TEST

/* The overflow path adapts to the interval just programmed, in the time of the
 * one that ended. */
START_TEST(freq_feeds_the_interval_just_programmed)
{
	long fd = open_mapped(freq_attr(1000));
	uint64_t period, before, after;

	fk->ns = 10 * UINT64_C(1000000000);
	enable(fd);
	fk_run(fk, 3);
	period = programmed();
	ck_assert_uint_gt(period, 1);
	/* the overflow that this one was set in stamped its time */
	before = fk->ns;
	fk_run(fk, period);
	after = fk->ns;
	/* what was programmed at this overflow was decided at the last one */
	ck_assert_uint_lt(after - before, 2 * period + 200);
	period = programmed();
	before = after;
	fk_run(fk, period);
	ck_assert_uint_gt(programmed(), period);
	close_mapped(fd);
}
END_TEST

/* Exactly, by hand: both stamps are known. */
START_TEST(freq_one_step_by_hand)
{
	struct perf_event_attr attr = freq_attr(1000);
	uint64_t stamp, now;
	long fd;

	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_attr(attr); /* no ring: nothing else reads the clock */
	fk->ns = 10 * UINT64_C(1000000000);
	enable(fd);
	fk_run(fk, 1); /* stamps the time */
	stamp = fk->ns - FK_NS_A_CLOCK_READ;
	fk->ns += 100000;
	now = fk->ns + 1;
	fk_run(fk, 1); /* one event, period 1, in now - stamp */
	ck_assert_uint_eq(now - stamp, 100017);
	/* 1e9 / (100017 * 1000) = 9; 1 + (9 - 1 + 7) / 8 = 2 */
	ck_assert_uint_eq(programmed(), 1);
	fk->ns += 100000;
	fk_run(fk, 1);
	ck_assert_uint_eq(programmed(), 2);
	/* 2e9 / 100017000 = 19; 2 + (17 + 7) / 8 = 5 */
	fk->ns += 100000;
	fk_run(fk, 2);
	ck_assert_uint_eq(programmed(), 5);
	fk_close(fk, fd);
}
END_TEST

/* B13: the overflow path adapts where 0 < delta < 2 ticks. */
START_TEST(freq_window_is_two_ticks)
{
	static const struct {
		uint64_t delta;
		bool adapts;
	} rows[] = {
		{2 * TICK - 1, true},
		{2 * TICK, false},
		{2 * TICK + 1, false},
		{UINT64_C(1) << 63, false},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = freq_attr(1);
		long fd = open_attr(attr);

		fk->ns = 10 * UINT64_C(1000000000);
		enable(fd);
		fk_run(fk, 1);
		/* the reading's 16 and the instruction's 1 are part of it */
		fk->ns += rows[i].delta - FK_NS_A_CLOCK_READ - 1;
		fk_run(fk, 1);
		ck_assert_uint_eq(programmed(), 1);
		fk_run(fk, 1);
		ck_assert_int_eq(programmed() > 1, rows[i].adapts);
		fk_close(fk, fd);
		fk_log_clear(fk);
	}
}
END_TEST

/* The clock of this machine has a quantum: two overflows may have one time. */
START_TEST(freq_same_time_does_not_adapt)
{
	long fd = open_attr(freq_attr(1));

	fk->ns = 10 * UINT64_C(1000000000);
	enable(fd);
	fk_run(fk, 1);
	fk->ns -= FK_NS_A_CLOCK_READ + 1;
	fk_run(fk, 1);
	fk_run(fk, 1);
	ck_assert_uint_eq(programmed(), 1);
	fk_close(fk, fd);
}
END_TEST

/* The tick adapts to what was counted since the last one. */
START_TEST(freq_tick_adapts)
{
	long fd = open_attr(freq_attr(1000));

	enable(fd);
	/* period_left is 1: not more than 8 periods, so no restart */
	fk_mask(fk);
	fk_inject(fk, CYCLE, 800, 0);
	fk_tick(fk); /* 800 in a tick: 200; 1 + (199 + 7) / 8 = 26 */
	/* the overflow was due at the stop: the new period, from here */
	ck_assert_uint_eq(programmed(), 26);
	ck_assert_uint_eq(fk_count(fk, fd), 800);
	/* nothing counted: no new period, the counter goes on where it was */
	fk_run(fk, 6);
	fk_tick(fk); /* 6 in a tick: 1; 26 + (1 - 26 - 7) / 8 = 22 */
	ck_assert_uint_eq(programmed(), 20);
	fk_tick(fk);
	ck_assert_uint_eq(programmed(), 20);
	fk_run(fk, 20);
	ck_assert_uint_eq(programmed(), 22);
	fk_close(fk, fd);
}
END_TEST

/* B13: more than 8 new periods left: the tick begins anew. A frequency of 1 has
 * made a long period; one of 50000 finds it. */
START_TEST(freq_tick_restarts_beyond_8_periods)
{
	long fd = open_attr(freq_attr(1));
	uint64_t period, left, restarts = 0;

	enable(fd);
	fk_mask(fk);
	fk_inject(fk, CYCLE, 4000000, 0);
	fk_tick(fk); /* 4,000,000 in a tick: 10^9; an eighth of that */
	period = 1 + (1000000000 - 1 + 7) / 8;
	ck_assert_uint_eq(programmed(), period + 1 - 4000000);
	ck_assert_int_eq(fk_set_period(fk, fd, 50000), 0);
	left = period;
	ck_assert_uint_eq(programmed(), left);
	for (unsigned i = 0; i < 40; i++) {
		fk_run(fk, 100);
		fk_tick(fk); /* 100 in a tick: 0.5, so 0 */
		left -= 100;
		period -= (period + 7) / 8;
		if (left > 8 * period) {
			left = period;
			restarts++;
		}
		ck_assert_uint_eq(programmed(), left);
	}
	ck_assert_uint_eq(restarts, 2);
	fk_close(fk, fd);
}
END_TEST

/* IOC_PERIOD of such an event is its frequency: the period stays, what was left of
 * it does not. */
START_TEST(freq_period_ioctl_sets_the_frequency)
{
	long fd = open_attr(freq_attr(1000));

	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 5000;
	enable(fd);
	fk_mask(fk);
	fk_inject(fk, CYCLE, 8000, 0);
	fk_tick(fk); /* 2000; 1 + (1999 + 7) / 8 */
	ck_assert_uint_eq(programmed(), 251);
	fk_run(fk, 51);
	ck_assert_int_eq(fk_set_period(fk, fd, 5000), 0);
	ck_assert_uint_eq(programmed(), 251);
	fk_tick(fk); /* 51 in a tick: 51 * 250 / 5000 = 2; 251 - (249 + 7) / 8 */
	ck_assert_uint_eq(programmed(), 251);
	fk_run(fk, 251);
	ck_assert_uint_eq(programmed(), 219);
	ck_assert_int_eq(fk_set_period(fk, fd, 5001), -EINVAL);
	ck_assert_int_eq(fk_set_period(fk, fd, 0), -EINVAL);
	fk_close(fk, fd);
}
END_TEST

START_TEST(freq_above_the_sysctl_is_refused)
{
	struct perf_event_attr attr = freq_attr(RATE_LIMIT);

	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = RATE_LIMIT;
	open_attr(attr);
	attr.sample_freq = RATE_LIMIT + 1;
	ck_assert_int_eq(fk_open(fk, &attr, -1), -EINVAL);
	/* no frequency: it counts, and there is none to set */
	attr.sample_freq = 0;
	ck_assert_int_eq(fk_set_period(fk, open_attr(attr), 100), -EINVAL);
}
END_TEST

/* 10 kHz of one instruction a ns: from 1 to 100,000 and no further. */
START_TEST(freq_converges)
{
	struct perf_event_attr attr = freq_attr(10000);
	uint64_t next_tick = TICK, period = 1;
	long fd;

	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_attr(attr);
	enable(fd);
	for (unsigned i = 0; i < 2000; i++) {
		fk_log_clear(fk);
		fk_run(fk, period);
		if (fk->ns >= next_tick) {
			fk_tick(fk);
			next_tick += TICK;
		}
		period = programmed();
		if (i >= 1000) {
			ck_assert_uint_ge(period, 99000);
			ck_assert_uint_le(period, 100100);
		}
	}
	fk_close(fk, fd);
}
END_TEST

/* --- throttling ----------------------------------------------------------------- */

/* Who lives from the tick asks for it, and no one else. */
START_TEST(tick_is_asked_for)
{
	long a = open_attr(fk_attr(CYCLES, 1000));
	long b = open_attr(freq_attr(1000));
	long c = open_attr(freq_attr(2000));

	enable(a);
	ck_assert(!fk->tick_needed);
	enable(b);
	enable(c);
	ck_assert(fk->tick_needed);
	disable(b);
	ck_assert(fk->tick_needed);
	disable(c);
	ck_assert(!fk->tick_needed);
	disable(a);
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = RATE_LIMIT;
	enable(a);
	ck_assert(fk->tick_needed);
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 100000000;
	disable(a);
	ck_assert(!fk->tick_needed);
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = RATE_LIMIT;
	enable(open_attr(fk_attr(INSTRUCTIONS, 0)));
	ck_assert(!fk->tick_needed);
}
END_TEST

static struct perf_event_attr throttle_attr(void)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);

	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = RATE_LIMIT;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
	return attr;
}

/* All records so far, a letter each: S, T, U, L. */
static const char *letters(void)
{
	static char text[64];
	uint64_t record[64], pos = 0;
	unsigned n = 0;

	while (pos < ring.page->data_head && n < sizeof(text) - 1) {
		struct perf_event_header header;

		pos += fk_record(&ring, pos, record);
		memcpy(&header, record, sizeof(header));
		text[n++] = header.type == PERF_RECORD_SAMPLE	    ? 'S'
			    : header.type == PERF_RECORD_THROTTLE   ? 'T'
			    : header.type == PERF_RECORD_UNTHROTTLE ? 'U'
			    : header.type == PERF_RECORD_LOST	    ? 'L'
								    : '?';
	}
	text[n] = '\0';
	return text;
}

static bool counts(void)
{
	return fk->pmu.pmcnten >> CYCLE & 1;
}

/* B15: the last sample of a tick's allowance says before that it is the last. */
START_TEST(throttle_at_the_limit)
{
	long fd = open_mapped(throttle_attr());

	enable(fd);
	fk_run(fk, 3999);
	ck_assert_str_eq(letters(), "SSS");
	fk_run(fk, 1);
	ck_assert_str_eq(letters(), "SSSTS");
	ck_assert(!counts());
	fk_run(fk, 5000);
	ck_assert_uint_eq(fk_count(fk, fd), 4000);
	fk_tick(fk);
	ck_assert_str_eq(letters(), "SSSTSU");
	ck_assert(counts());
	fk_run(fk, 3999);
	ck_assert_str_eq(letters(), "SSSTSUSSS");
	fk_run(fk, 1);
	ck_assert_str_eq(letters(), "SSSTSUSSSTS");
	ck_assert_uint_eq(fk_count(fk, fd), 8000);
	close_mapped(fd);
}
END_TEST

/* ceil(rate / HZ) samples a tick. */
START_TEST(throttle_limits)
{
	static const struct {
		int64_t rate;
		const char *letters;
	} rows[] = {
		{1, "TS"},    {250, "TS"},	     {251, "STS"},
		{500, "STS"}, {2500, "SSSSSSSSSTS"}, {1001, "SSSSTS"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long fd = open_mapped(throttle_attr());

		fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = rows[i].rate;
		enable(fd);
		fk_run(fk, 20000);
		ck_assert_str_eq(letters(), rows[i].letters);
		fk_tick(fk);
		ck_assert(counts());
		close_mapped(fd);
	}
}
END_TEST

START_TEST(throttle_counts_from_the_tick)
{
	long fd = open_mapped(throttle_attr());

	enable(fd);
	for (unsigned i = 0; i < 5; i++) {
		fk_run(fk, 3000);
		fk_tick(fk);
	}
	ck_assert_str_eq(letters(), "SSSSSSSSSSSSSSS");
	ck_assert_uint_eq(fk_count(fk, fd), 15000);
	close_mapped(fd);
}
END_TEST

/* A limit that no counter reaches between two ticks needs no tick. */
START_TEST(throttle_not_without_a_limit)
{
	struct perf_event_attr attr = throttle_attr();
	long fd = open_attr(attr);

	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 1000000; /* 4000 a tick */
	enable(fd);
	for (unsigned i = 0; i < 5000; i++)
		fk_inject(fk, CYCLE, 1000, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 5000000);
	fk_close(fk, fd);
}
END_TEST

START_TEST(throttle_record_and_trailer)
{
	struct perf_event_attr attr = throttle_attr();
	uint64_t record[16];
	long fd;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 1;
	fd = open_mapped(attr);
	enable(fd);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk_record(&ring, 0, record), 56);
	ck_assert_uint_eq(record[0], UINT64_C(56) << 48 | (uint64_t)PERF_RECORD_THROTTLE);
	ck_assert_uint_eq(record[2], fk_id(fk, fd));
	ck_assert_uint_eq(record[3], fk_id(fk, fd));
	/* the trailer's time is of a later reading */
	ck_assert_uint_eq(record[4], record[1] + FK_NS_A_CLOCK_READ);
	ck_assert_uint_eq(record[5], 0);
	ck_assert_uint_eq(record[6], fk_id(fk, fd));
	close_mapped(fd);
}
END_TEST

/* The other ways out: a new allowance each time. */
static void release(void (*how)(long fd))
{
	long fd = open_mapped(throttle_attr());

	enable(fd);
	fk_run(fk, 5000);
	ck_assert_str_eq(letters(), "SSSTS");
	how(fd);
	ck_assert_str_eq(letters(), "SSSTSU");
	fk_run(fk, 5000);
	ck_assert_str_eq(letters(), "SSSTSUSSSTS");
	ck_assert_uint_eq(fk_count(fk, fd), 8000);
	/* what the tick finds is the second time */
	fk_tick(fk);
	ck_assert_str_eq(letters(), "SSSTSUSSSTSU");
	close_mapped(fd);
}

static void by_period(long fd)
{
	ck_assert_int_eq(fk_set_period(fk, fd, 1000), 0);
}

static void by_enable(long fd)
{
	disable(fd);
	enable(fd);
}

static void by_schedule(long fd)
{
	task_out(fd);
	task_in(fd);
}

START_TEST(throttle_ends_with_the_period_ioctl)
{
	release(by_period);
}
END_TEST

START_TEST(throttle_ends_with_enable)
{
	release(by_enable);
}
END_TEST

START_TEST(throttle_ends_with_the_schedule)
{
	release(by_schedule);
}
END_TEST

/* The others of a group go on; and on 6.12 the tick looks at leaders only. */
static void throttled_member(const char *profile, bool goes_on)
{
	struct perf_event_attr attr;
	long leader, member;

	teardown();
	fk = fk_create(profile, 6, true);
	leader = open_attr(fk_attr(INSTRUCTIONS, 0));
	attr = throttle_attr();
	attr.disabled = 0;
	member = fk_open(fk, &attr, (int)leader);
	ck_assert_int_ge(member, 0);
	ck_assert_int_eq(fk_mmap(fk, member, 8, 3, &ring), 0);
	enable(leader);
	fk_run(fk, 5000);
	ck_assert_str_eq(letters(), "SSSTS");
	ck_assert_uint_eq(fk_count(fk, leader), 5000);
	fk_tick(fk);
	ck_assert_int_eq(counts(), goes_on);
	ck_assert_str_eq(letters(), goes_on ? "SSSTSU" : "SSSTS");
	disable(leader);
	enable(leader);
	ck_assert_str_eq(letters(), "SSSTSU");
	ck_assert(counts());
	close_mapped(member);
}

START_TEST(throttled_member_and_the_tick_of_6_1)
{
	throttled_member("linux-6.1", true);
}
END_TEST

START_TEST(throttled_member_and_the_tick_of_6_12)
{
	throttled_member("linux-6.12", false);
}
END_TEST

/* With a frequency 6.1 starts a throttled counter as it was, and then anew. */
static void throttled_frequency(const char *profile, unsigned starts)
{
	uint64_t value;
	long fd;

	teardown();
	fk = fk_create(profile, 6, true);
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = RATE_LIMIT;
	fd = open_mapped(freq_attr(RATE_LIMIT));
	fk->ns = 10 * UINT64_C(1000000000);
	enable(fd);
	for (unsigned i = 0; i < LIMIT; i++)
		fk_inject(fk, CYCLE, programmed(), 0);
	ck_assert_str_eq(letters(), "SSSTS");
	ck_assert(!counts());
	fk_log_clear(fk);
	fk_tick(fk);
	ck_assert(counts());
	ck_assert_uint_eq(fk_writes(fk, HAL_PMCNTENSET_EL0, &value), starts);
	close_mapped(fd);
}

START_TEST(throttled_frequency_on_6_1)
{
	throttled_frequency("linux-6.1", 2);
}
END_TEST

START_TEST(throttled_frequency_on_6_12)
{
	throttled_frequency("linux-6.12", 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("freq");
	TCase *tcase = tcase_create("freq");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, filter_moves_by_an_eighth);
	tcase_add_test(tcase, filter_converges);
	tcase_add_test(tcase, filter_of_the_largest_numbers_wraps);
	tcase_add_test(tcase, ideal_is_the_quotient);
	tcase_add_test(tcase, ideal_of_long_factors_is_near);
	tcase_add_test(tcase, freq_starts_at_period_1);
	tcase_add_test(tcase, freq_feeds_the_interval_just_programmed);
	tcase_add_test(tcase, freq_one_step_by_hand);
	tcase_add_test(tcase, freq_window_is_two_ticks);
	tcase_add_test(tcase, freq_same_time_does_not_adapt);
	tcase_add_test(tcase, freq_tick_adapts);
	tcase_add_test(tcase, freq_tick_restarts_beyond_8_periods);
	tcase_add_test(tcase, freq_period_ioctl_sets_the_frequency);
	tcase_add_test(tcase, freq_above_the_sysctl_is_refused);
	tcase_add_test(tcase, freq_converges);
	tcase_add_test(tcase, tick_is_asked_for);
	tcase_add_test(tcase, throttle_at_the_limit);
	tcase_add_test(tcase, throttle_limits);
	tcase_add_test(tcase, throttle_counts_from_the_tick);
	tcase_add_test(tcase, throttle_not_without_a_limit);
	tcase_add_test(tcase, throttle_record_and_trailer);
	tcase_add_test(tcase, throttle_ends_with_the_period_ioctl);
	tcase_add_test(tcase, throttle_ends_with_enable);
	tcase_add_test(tcase, throttle_ends_with_the_schedule);
	tcase_add_test(tcase, throttled_member_and_the_tick_of_6_1);
	tcase_add_test(tcase, throttled_member_and_the_tick_of_6_12);
	tcase_add_test(tcase, throttled_frequency_on_6_1);
	tcase_add_test(tcase, throttled_frequency_on_6_12);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
