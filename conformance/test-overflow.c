/* SPDX-License-Identifier: MIT */
/*
 * The counter's arithmetic, the order of register accesses, the handler. Names
 * such as A17 are those of the project's list of cases.
 */
#include "conformance/perf-fixture.h"

/* --- first writes ---------------------------------------------------------- */

/* A19 */
START_TEST(arm_counting_is_half_range)
{
	long a = open_attr(fk_attr(CYCLES, 0));
	long b = open_attr(fk_attr(INSTRUCTIONS, 0));
	long c = open_attr(fk_attr(CYCLES, 0));

	enable(a);
	ck_assert_uint_eq(last_cycle_write(), 0x80000001);
	enable(b);
	ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), 0x80000001);
	enable(c);
	ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(1)), 0x80000001);
	ck_assert_int_eq(kperf_event_counter(fk->fds[a]), CYCLE);
	ck_assert_int_eq(kperf_event_counter(fk->fds[b]), 0);
	ck_assert_int_eq(kperf_event_counter(fk->fds[c]), 1);
	ck_assert_uint_eq(fk->pmu.pmevtyper[0] & 0xffff, 8);
	ck_assert_uint_eq(fk->pmu.pmevtyper[1] & 0xffff, 0x11);
	disable(a);
	ck_assert_int_eq(kperf_event_counter(fk->fds[a]), -ENOENT);
}
END_TEST

START_TEST(arm_64_bit_counts)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	uint64_t value = 0;
	long a, b;

	attr.config1 = 1;
	a = open_attr(attr);
	b = open_attr(attr);
	enable(a);
	fk_writes(fk, HAL_PMCCNTR_EL0, &value);
	ck_assert_uint_eq(value, UINT64_C(0x8000000000000001));
	/* the next one takes a pair: the odd counter is the upper half */
	enable(b);
	ck_assert_int_eq(kperf_event_counter(fk->fds[b]), 1);
	ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(1)), 0x80000000);
	ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), 1);
	ck_assert_uint_eq(last_write(HAL_PMEVTYPER_EL0(1)), 0x0800001e);
	ck_assert_uint_eq(last_write(HAL_PMEVTYPER_EL0(0)), 0x80000011);
	ck_assert_uint_eq(last_write(HAL_PMCNTENSET_EL0), 3);
	ck_assert_uint_eq(last_write(HAL_PMINTENSET_EL1), 2);
	disable(b);
	ck_assert_uint_eq(last_write(HAL_PMCNTENCLR_EL0), 3);
	/* sampling beyond 32 bits */
	attr.sample_period = UINT64_C(1) << 40;
	disable(a);
	a = open_attr(attr);
	enable(a);
	fk_writes(fk, HAL_PMCCNTR_EL0, &value);
	ck_assert_uint_eq(value, UINT64_C(0xffffff0000000000));
}
END_TEST

/* A19 */
START_TEST(arm_sampling_periods)
{
	static const struct {
		uint64_t period;
		uint32_t write;
	} rows[] = {
		{1, 0xffffffff},
		{2, 0xfffffffe},
		{1000, 0xfffffc18},
		{0x7ffffffe, 0x80000002},
		{0x7fffffff, 0x80000001},
		{0x80000000, 0x80000001},
		{UINT64_C(1) << 40, 0x80000001},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long fd = open_attr(fk_attr(CYCLES, rows[i].period));

		enable(fd);
		ck_assert_uint_eq(last_cycle_write(), rows[i].write);
		fk_close(fk, fd);
		fd = open_attr(fk_attr(INSTRUCTIONS, rows[i].period));
		enable(fd);
		ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), rows[i].write);
		fk_close(fk, fd);
	}
}
END_TEST

/* A19: the interrupt at half range is no sample. */
START_TEST(arm_long_period_is_split)
{
	long fd = open_sampling(CYCLES, 0x7fffffff + UINT64_C(4000));

	enable(fd);
	fk_run(fk, 0x7fffffff + UINT64_C(3000));
	ck_assert_uint_eq(fk->irqs, 1);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 999);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(fk->irqs, 2);
	ck_assert_uint_eq(fk_count(fk, fd), 0x80000f9f);
	ck_assert_uint_eq(last_cycle_write(), 0x80000001);
	close_mapped(fd);
}
END_TEST

START_TEST(count_over_many_wraps)
{
	long a = open_sampling(CYCLES, 0); /* a ring, but nothing to write */
	long b = open_attr(fk_attr(INSTRUCTIONS, 0));

	enable(a);
	enable(b);
	fk_run(fk, UINT64_C(20000000000));
	ck_assert_uint_eq(fk_count(fk, a), UINT64_C(20000000000));
	ck_assert_uint_eq(fk_count(fk, b), UINT64_C(20000000000));
	ck_assert_uint_eq(fk->spurious, 0);
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_RECORD), 0);
	ck_assert_uint_eq(ring.page->data_head, 0);
	close_mapped(a);
}
END_TEST

/* --- signed period_left ---------------------------------------------------- */

/* A17: an overflow pending at the stop is folded into the next period; the
 * sample is lost. */
START_TEST(stop_with_overflow_pending)
{
	static const struct {
		uint64_t events;
		uint32_t next;
	} rows[] = {
		{10005, 0xffffd8f5},
		{10002, 0xffffd8f2},
		{10003, 0xffffd8f3},
		{10000, 0xffffd8f0}, /* left 0: overflowed, a full period again */
		{9999, 0xffffffff},
		{20000, 0xffffd8f0},
		{25000, 0xffffd8f0}, /* late by a period: forgotten */
		{19999, 0xffffffff},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long fd = open_sampling(INSTRUCTIONS, 10000);
		uint64_t to_go;

		enable(fd);
		ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), 0xffffd8f0);
		fk_mask(fk);
		fk_inject(fk, 0, rows[i].events, 0);
		disable(fd);
		ck_assert_uint_eq(fk->pmu.pmovs, 0);
		fk_unmask(fk);
		ck_assert_uint_eq(fk_count(fk, fd), rows[i].events);
		enable(fd);
		ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), rows[i].next);
		ck_assert_uint_eq(samples(), 0);
		to_go = -(uint64_t)rows[i].next & UINT32_MAX;
		fk_run(fk, to_go - 1);
		ck_assert_uint_eq(samples(), 0);
		fk_run(fk, 1);
		ck_assert_uint_eq(samples(), 1);
		ck_assert_uint_eq(last_write(HAL_PMEVCNTR_EL0(0)), 0xffffd8f0);
		close_mapped(fd);
	}
	ck_assert_uint_eq(fk->spurious, 0);
}
END_TEST

/* A17, A23: a late interrupt. */
START_TEST(late_interrupt)
{
	static const struct {
		uint64_t period, events;
		uint32_t next;
	} rows[] = {
		{10000, 25000, 0xffffd8f0}, {1000, 1040, 0xfffffc40},
		{400, 854, 0xfffffe70},	    {4000, 4454, 0xfffff226},
		{1000, 2000, 0xfffffc18}, /* late by exactly a period */
		{1000, 1999, 0xffffffff},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long fd = open_sampling(CYCLES, rows[i].period);

		enable(fd);
		fk_mask(fk);
		fk_inject(fk, CYCLE, rows[i].events, 0);
		fk_unmask(fk);
		ck_assert_uint_eq(samples(), 1);
		ck_assert_uint_eq(last_cycle_write(), rows[i].next);
		ck_assert_uint_eq(fk_count(fk, fd), rows[i].events);
		close_mapped(fd);
	}
}
END_TEST

START_TEST(late_interrupts_do_not_add_up)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	for (unsigned i = 1; i <= 5; i++) {
		uint64_t to_go = -(uint64_t)last_cycle_write() & UINT32_MAX;

		fk_mask(fk);
		fk_inject(fk, CYCLE, to_go + 40, 0);
		fk_unmask(fk);
		ck_assert_uint_eq(samples(), i);
		ck_assert_uint_eq(last_cycle_write(), 0xfffffc40);
	}
	close_mapped(fd);
}
END_TEST

/* A23: the sample of a masked window is where it ends. */
START_TEST(late_interrupt_is_a_kernel_sample)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	uint64_t record[4];

	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;

	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk_mask(fk);
	fk_inject(fk, CYCLE, 1000, 1);
	fk_inject(fk, CYCLE, 40, 1);
	ck_assert_uint_eq(samples(), 0);
	fk_unmask(fk);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(fk_record(&ring, 0, record), 24);
	ck_assert_uint_eq(record[0], UINT64_C(24) << 48 | UINT64_C(1) << 32 | 9);
	ck_assert_uint_ge(record[1], FK_KERNEL_PC);
	ck_assert_uint_eq(record[2], 1000);
	ck_assert_uint_eq(fk_count(fk, fd), 1040);
	close_mapped(fd);
}
END_TEST

/* B1: 400000 of 1000000, three times. */
static void three_slices(void (*off)(long fd), void (*on)(long fd))
{
	static const uint32_t writes[] = {0xfff0bdc0, 0xfff6d840, 0xfffcf2c0};
	long fd = open_sampling(CYCLES, 1000000);
	uint64_t ip[2];

	enable(fd);
	for (unsigned i = 0; i < 3; i++) {
		if (i) {
			off(fd);
			on(fd);
		}
		ck_assert_uint_eq(last_cycle_write(), writes[i]);
		ck_assert_uint_eq(samples(), 0);
		fk_run(fk, 400000);
	}
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(last_cycle_write(), 0xfff0bdc0);
	fk_record(&ring, 0, ip);
	ck_assert_uint_eq(ip[1], FK_CODE + 4 * UINT64_C(1000000));
	ck_assert_uint_eq(fk_count(fk, fd), 1200000);
	/* what is left of the next period */
	off(fd);
	on(fd);
	ck_assert_uint_eq(last_cycle_write(), 0xfff3cb00);
	fk_run(fk, 799999);
	ck_assert_uint_eq(samples(), 1);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 2);
	close_mapped(fd);
}

START_TEST(slices_by_ioctl)
{
	three_slices(disable, enable);
}
END_TEST

START_TEST(slices_by_the_scheduler)
{
	three_slices(task_out, task_in);
}
END_TEST

/* B2 */
START_TEST(read_of_a_sampling_event)
{
	long fd = open_sampling(CYCLES, 1000000);

	enable(fd);
	fk_run(fk, 700);
	ck_assert_uint_eq(fk_count(fk, fd), 700);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 999300);
	ck_assert_uint_eq(fk_count(fk, fd), 1000000);
	fk_run(fk, 50);
	ck_assert_uint_eq(fk_count(fk, fd), 1000050);
	ck_assert_uint_eq(samples(), 1);
	close_mapped(fd);
}
END_TEST

START_TEST(read_between_overflow_and_interrupt)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk_mask(fk);
	fk_inject(fk, CYCLE, 1005, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 1005);
	ck_assert_uint_eq(samples(), 0);
	fk_unmask(fk);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(fk_count(fk, fd), 1005);
	ck_assert_uint_eq(last_cycle_write(), 0xfffffc1d);
	close_mapped(fd);
}
END_TEST

/* --- the order of register accesses ---------------------------------------- */

#define R(reg)                \
	{                     \
		false, reg, 0 \
	}
#define W(reg, v)            \
	{                    \
		true, reg, v \
	}
#define ISB                \
	{                  \
		true, 0, 0 \
	}

/* The log is exactly @want; a read's value is not compared. */
static void expect_log(const struct fk_access *want, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_lt(i, fk->nlog);
		ck_assert_msg(fk->log[i].write == want[i].write &&
				      fk->log[i].reg == want[i].reg,
			      "access %u is %s %#x", i,
			      fk->log[i].write ? "write" : "read", fk->log[i].reg);
		if (want[i].write)
			ck_assert_msg(fk->log[i].value == want[i].value,
				      "access %u writes %#llx", i,
				      (unsigned long long)fk->log[i].value);
	}
	ck_assert_uint_eq(fk->nlog, n);
}
#define EXPECT_LOG(...)                                               \
	do {                                                          \
		static const struct fk_access want[] = {__VA_ARGS__}; \
		expect_log(want, sizeof(want) / sizeof(want[0]));     \
	} while (0)

START_TEST(order_open_enable_read_disable)
{
	long fd = open_attr(fk_attr(CYCLES, 1000));

	/* the first event reschedules, which takes PMCR.E off; nobody puts it on */
	EXPECT_LOG(R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x40));
	fk_log_clear(fk);
	enable(fd);
	EXPECT_LOG(R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x40),
		   W(HAL_PMCCNTR_EL0, UINT64_C(0xfffffffffffffc18)),
		   W(HAL_PMCNTENCLR_EL0, 0x80000000), ISB,
		   W(HAL_PMCCFILTR_EL0, UINT64_C(0x80000011)),
		   W(HAL_PMINTENSET_EL1, 0x80000000), ISB,
		   W(HAL_PMCNTENSET_EL0, 0x80000000), W(HAL_PMUSERENR_EL0, 0),
		   R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x41));
	fk_log_clear(fk);
	fk_count(fk, fd);
	EXPECT_LOG(R(HAL_PMCCNTR_EL0));
	fk_log_clear(fk);
	disable(fd);
	EXPECT_LOG(R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x40),
		   W(HAL_PMCNTENCLR_EL0, 0x80000000), ISB,
		   W(HAL_PMINTENCLR_EL1, 0x80000000), ISB,
		   W(HAL_PMOVSCLR_EL0, 0x80000000), ISB, R(HAL_PMCCNTR_EL0));
	fk_log_clear(fk);
	fk_count(fk, fd);
	ck_assert_uint_eq(fk->nlog, 0);
	/* enabling what is enabled, disabling what is disabled: nothing */
	disable(fd);
	ck_assert_uint_eq(fk->nlog, 0);
	enable(fd);
	fk_log_clear(fk);
	enable(fd);
	ck_assert_uint_eq(fk->nlog, 0);
}
END_TEST

START_TEST(order_second_disabled_event_touches_nothing)
{
	open_attr(fk_attr(CYCLES, 1000));
	fk_log_clear(fk);
	open_attr(fk_attr(INSTRUCTIONS, 1000));
	ck_assert_uint_eq(fk->nlog, 0);
}
END_TEST

/* A20 */
START_TEST(order_handler)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk_log_clear(fk);
	fk_run(fk, 1000);
	EXPECT_LOG(R(HAL_PMOVSCLR_EL0), W(HAL_PMOVSCLR_EL0, 0x80000000), R(HAL_PMCR_EL0),
		   ISB, W(HAL_PMCR_EL0, 0x40), R(HAL_PMCCNTR_EL0),
		   W(HAL_PMCCNTR_EL0, UINT64_C(0xfffffffffffffc18)),
		   W(HAL_PMUSERENR_EL0, 0), R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x41));
	/* the record before the counter is armed; armed is said last */
	ck_assert_uint_eq(fk->nnotes, 2);
	ck_assert_int_eq(fk->notes[0].note, HAL_NOTE_RECORD);
	ck_assert_uint_eq(fk->notes[0].a, PERF_RECORD_SAMPLE);
	ck_assert_uint_eq(fk->notes[0].b, 16);
	ck_assert_int_eq(fk->notes[1].note, HAL_NOTE_ARMED);
	ck_assert_uint_eq(fk->notes[1].a, CYCLE);
	close_mapped(fd);
}
END_TEST

START_TEST(order_period_ioctl)
{
	long fd = open_attr(fk_attr(CYCLES, 10000));

	enable(fd);
	fk_log_clear(fk);
	ck_assert_int_eq(fk_set_period(fk, fd, 1000), 0);
	EXPECT_LOG(
		R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x40),
		W(HAL_PMCNTENCLR_EL0, 0x80000000), ISB, W(HAL_PMINTENCLR_EL1, 0x80000000),
		ISB, W(HAL_PMOVSCLR_EL0, 0x80000000), ISB, R(HAL_PMCCNTR_EL0),
		W(HAL_PMCCNTR_EL0, UINT64_C(0xfffffffffffffc18)),
		W(HAL_PMCNTENCLR_EL0, 0x80000000), ISB,
		W(HAL_PMCCFILTR_EL0, UINT64_C(0x80000011)),
		W(HAL_PMINTENSET_EL1, 0x80000000), ISB, W(HAL_PMCNTENSET_EL0, 0x80000000),
		W(HAL_PMUSERENR_EL0, 0), R(HAL_PMCR_EL0), ISB, W(HAL_PMCR_EL0, 0x41));
}
END_TEST

/* A15 */
START_TEST(order_reset)
{
	struct fake_kernel *k;

	/* the poisoned registers made no interrupt and are clean */
	ck_assert_uint_eq(fk->irqs, 0);
	ck_assert(!fk->line);
	ck_assert_uint_eq(fk->pmu.pmcnten | fk->pmu.pminten | fk->pmu.pmovs, 0);
	ck_assert_uint_eq(fk->pmu.pmcr, 0x40);
	ck_assert_int_eq(kperf_cpu_online(fk->perf, &fk->hal), 0);
	EXPECT_LOG(W(HAL_PMCNTENCLR_EL0, 0xffffffff), ISB,
		   W(HAL_PMINTENCLR_EL1, 0xffffffff), ISB,
		   W(HAL_PMOVSCLR_EL0, 0xffffffff), ISB, ISB, W(HAL_PMCR_EL0, 0x46));
	k = fk;
	fk = fk_create("linux-6.12", 6, true);
	ck_assert_int_eq(kperf_cpu_online(fk->perf, &fk->hal), 0);
	EXPECT_LOG(W(HAL_PMCNTENCLR_EL0, 0x8000003f), ISB,
		   W(HAL_PMINTENCLR_EL1, 0x8000003f), ISB,
		   W(HAL_PMOVSCLR_EL0, 0x8000003f), ISB, ISB, W(HAL_PMCR_EL0, 0x46));
	fk_destroy(fk);
	fk = k;
}
END_TEST

/* --- the handler ----------------------------------------------------------- */

/* A20: a whole period right after PMCR.E is on again. */
START_TEST(handler_overflow_right_after_armed)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk->armed_inject = 1000;
	fk_run(fk, 1000);
	ck_assert_uint_eq(samples(), 2);
	ck_assert_uint_eq(fk->irqs, 2);
	ck_assert_uint_eq(fk_count(fk, fd), 2000);
	close_mapped(fd);
}
END_TEST

static void overflow_other_counter(struct fake_kernel *k)
{
	pmuv3_inject(&k->pmu, 0, 5000, 1, true);
}

/* A20: a flag that rises between the read of PMOVS and the end of the handler,
 * at each operation. */
START_TEST(handler_flag_rising_while_serving_survives)
{
	for (unsigned k = 1; k <= 12; k++) {
		long a = open_sampling(CYCLES, 1000);
		struct perf_event_attr attr = fk_attr(INSTRUCTIONS, 5000);
		long b;
		uint64_t before;

		attr.sample_type = PERF_SAMPLE_IP;
		b = open_attr(attr);
		ck_assert_int_eq(fk_ioctl(fk, b, PERF_EVENT_IOC_SET_OUTPUT, (uint64_t)a),
				 0);
		enable(a);
		enable(b);
		before = fk->ops;
		fk->hook_op = before + k;
		fk->hook = overflow_other_counter;
		fk_run(fk, 1000);
		fk->hook = NULL;
		ck_assert_msg(samples() == 2, "operation %u: %u samples", k, samples());
		fk_run(fk, 3999);
		disable(b);
		/* forced events count even while PMCR.E is off */
		ck_assert_uint_eq(fk_count(fk, b), 9999);
		fk_close(fk, b);
		close_mapped(a);
	}
}
END_TEST

/* A21 */
START_TEST(handler_flag_without_owner)
{
	long fd = open_sampling(INSTRUCTIONS, 1000);

	enable(fd);
	sysreg_write(&fk->regs, 1, HAL_PMINTENSET_EL1, 1, 0x80000001);
	sysreg_write(&fk->regs, 1, HAL_PMOVSSET_EL0, 1, 0x80000001);
	ck_assert(fk->line);
	fk_unmask(fk);
	ck_assert_uint_eq(fk->irqs, 1);
	ck_assert_uint_eq(fk->spurious, 0);
	ck_assert(!fk->line);
	ck_assert_uint_eq(fk->pmu.pmovs, 0);
	ck_assert_uint_eq(samples(), 0); /* the owned one had not overflowed */
	ck_assert_uint_eq(fk_notes(fk, HAL_NOTE_ARMED), 1);
	fk_run(fk, 1000);
	ck_assert_uint_eq(samples(), 1);
	close_mapped(fd);
}
END_TEST

/* A flag of a counter whose event is gone leads nowhere. */
START_TEST(handler_flag_of_a_closed_event)
{
	long gone = open_attr(fk_attr(INSTRUCTIONS, 1000)),
	     fd = open_sampling(CYCLES, 1000);

	enable(gone);
	enable(fd);
	fk_close(fk, gone);
	sysreg_write(&fk->regs, 1, HAL_PMINTENSET_EL1, 1, 1);
	sysreg_write(&fk->regs, 1, HAL_PMOVSSET_EL0, 1, 1);
	fk_log_clear(fk);
	fk_unmask(fk);
	ck_assert_uint_eq(fk->irqs, 1);
	ck_assert_uint_eq(fk->nnotes, 0);
	close_mapped(fd);
}
END_TEST

/* A21 */
START_TEST(handler_without_flag_is_not_ours)
{
	struct hal_regs regs = {.pc = FK_CODE};
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk_log_clear(fk);
	ck_assert(!kperf_irq(fk->perf, &fk->hal, &regs));
	EXPECT_LOG(R(HAL_PMOVSCLR_EL0), W(HAL_PMOVSCLR_EL0, 0));
	ck_assert_uint_eq(samples(), 0);
	ck_assert_uint_eq(fk->nnotes, 0);
	close_mapped(fd);
}
END_TEST

/* A24: three events of one period in one ring. */
static void simultaneous(const char *profile, const uint64_t ids[3])
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	uint64_t record[2];
	long fd[3];

	fk_destroy(fk);
	fk = fk_create(profile, 6, true);
	attr.sample_type = PERF_SAMPLE_ID;
	for (int i = 0; i < 3; i++) {
		fd[i] = fk_open(fk, &attr, i ? (int)fd[0] : -1);
		ck_assert_int_ge(fd[i], 0);
	}
	ck_assert_int_eq(fk_mmap(fk, fd[0], 1, 3, &ring), 0);
	for (int i = 1; i < 3; i++)
		ck_assert_int_eq(
			fk_ioctl(fk, fd[i], PERF_EVENT_IOC_SET_OUTPUT, (uint64_t)fd[0]),
			0);
	ck_assert_int_eq(fk_ioctl(fk, fd[0], PERF_EVENT_IOC_ENABLE, 1), 0);
	fk_run(fk, 1000);
	ck_assert_uint_eq(fk->irqs, 1);
	ck_assert_uint_eq(samples(), 3);
	for (unsigned i = 0; i < 3; i++) {
		fk_record(&ring, 16 * i, record);
		ck_assert_uint_eq(record[1], ids[i]);
	}
	close_mapped(fd[0]);
}

START_TEST(handler_order_of_counters)
{
	simultaneous("linux-6.1", (const uint64_t[]){1, 2, 3});
	simultaneous("linux-6.12", (const uint64_t[]){2, 3, 1});
}
END_TEST

START_TEST(handler_short_periods)
{
	for (uint64_t period = 1; period <= 5; period++) {
		long fd = open_sampling(CYCLES, period);
		uint64_t ip[2];

		enable(fd);
		fk->pc = FK_CODE;
		fk_run(fk, 60);
		ck_assert_uint_eq(samples(), 60 / period);
		for (unsigned i = 0; i < 60 / period; i++) {
			fk_record(&ring, 16 * i, ip);
			ck_assert_uint_eq(ip[1], FK_CODE + 4 * period * (i + 1));
		}
		ck_assert_uint_eq(fk_count(fk, fd), 60);
		close_mapped(fd);
	}
}
END_TEST

/* --- an overflow at every operation ---------------------------------------- */

enum {
	WALK_PERIOD = 100000
};

struct walk {
	uint64_t count, ops;
	unsigned samples;
};

/* One life of an event with the overflow of @counter at operation @k. */
static struct walk walk(uint64_t config, unsigned counter, uint64_t k)
{
	struct perf_event_attr attr = fk_attr(config, WALK_PERIOD);
	struct walk w;
	struct kperf_event *event;
	long fd;

	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	fk->ops = 0;
	fk->inject_op = k;
	fk->inject_n = WALK_PERIOD;
	fk->inject_counter = counter;
	fk->injected_counted = false;
	fd = open_attr(attr);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk_run(fk, WALK_PERIOD / 2);
	fk_count(fk, fd);
	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_RESET, 0), 0);
	disable(fd);
	enable(fd);
	fk_run(fk, 2 * WALK_PERIOD);
	ck_assert_int_eq(fk_set_period(fk, fd, WALK_PERIOD), 0);
	fk_run(fk, WALK_PERIOD);
	disable(fd);
	w.count = fk_count(fk, fd);
	w.samples = samples();
	event = fk->fds[fd];
	enable(fd);
	fk_close(fk, fd);
	fk_run(fk, 10);
	kperf_munmap(event);
	w.ops = fk->ops;
	fk->inject_n = 0;
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
	ck_assert_uint_eq(fk->pmu.pmovs, 0);
	ck_assert(!fk->line);
	return w;
}

static void walk_all(uint64_t config, unsigned counter)
{
	struct walk plain = walk(config, counter, 0);
	uint64_t counted = 0, k;

	ck_assert_uint_eq(plain.count, 3 * WALK_PERIOD);
	ck_assert_uint_eq(plain.samples, 3);
	for (k = 1; k <= plain.ops; k++) {
		struct walk w = walk(config, counter, k);

		/* before RESET, or after the last read: not seen in the count */
		ck_assert_msg(w.count == plain.count ||
				      (fk->injected_counted &&
				       w.count == plain.count + WALK_PERIOD),
			      "operation %llu: count %llu", (unsigned long long)k,
			      (unsigned long long)w.count);
		/* lost at most when a stop found it pending */
		ck_assert_msg(w.samples == 3 || (w.samples == 4 && fk->injected_counted),
			      "operation %llu: %u samples", (unsigned long long)k,
			      w.samples);
		counted += fk->injected_counted;
	}
	/* the walk did walk over an armed counter */
	ck_assert_uint_gt(counted, 20);
	ck_assert_uint_eq(fk->spurious, 0);
}

START_TEST(walk_overflow_at_every_operation)
{
	walk_all(CYCLES, CYCLE);
	walk_all(INSTRUCTIONS, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overflow");
	TCase *tcase = tcase_create("overflow");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, arm_counting_is_half_range);
	tcase_add_test(tcase, arm_64_bit_counts);
	tcase_add_test(tcase, arm_sampling_periods);
	tcase_add_test(tcase, arm_long_period_is_split);
	tcase_add_test(tcase, count_over_many_wraps);
	tcase_add_test(tcase, stop_with_overflow_pending);
	tcase_add_test(tcase, late_interrupt);
	tcase_add_test(tcase, late_interrupts_do_not_add_up);
	tcase_add_test(tcase, late_interrupt_is_a_kernel_sample);
	tcase_add_test(tcase, slices_by_ioctl);
	tcase_add_test(tcase, slices_by_the_scheduler);
	tcase_add_test(tcase, read_of_a_sampling_event);
	tcase_add_test(tcase, read_between_overflow_and_interrupt);
	tcase_add_test(tcase, order_open_enable_read_disable);
	tcase_add_test(tcase, order_second_disabled_event_touches_nothing);
	tcase_add_test(tcase, order_handler);
	tcase_add_test(tcase, order_period_ioctl);
	tcase_add_test(tcase, order_reset);
	tcase_add_test(tcase, handler_overflow_right_after_armed);
	tcase_add_test(tcase, handler_flag_rising_while_serving_survives);
	tcase_add_test(tcase, handler_flag_without_owner);
	tcase_add_test(tcase, handler_flag_of_a_closed_event);
	tcase_add_test(tcase, handler_without_flag_is_not_ours);
	tcase_add_test(tcase, handler_order_of_counters);
	tcase_add_test(tcase, handler_short_periods);
	tcase_add_test(tcase, walk_overflow_at_every_operation);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
