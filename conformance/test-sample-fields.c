/* SPDX-License-Identifier: MIT */
/* The sample fields beyond the scalars: sizes, order, and memory that is not
 * what it should be. */
#include "conformance/perf-fixture.h"

enum {
	PERIOD = 1000,
	STACK = 64,
	SP = FK_USER_BASE + 0x8000,
	FRAME = FK_USER_BASE + 0x9000,
};

static uint64_t record[8192];

/* In wire order (B26), with the words of each when the event is one of its own,
 * the stack has STACK bytes, three registers are asked for, no frame is there. */
static const struct {
	uint64_t bit;
	unsigned words;
} fields[] = {
	{PERF_SAMPLE_IP, 1},
	{PERF_SAMPLE_READ, 1},
	{PERF_SAMPLE_CALLCHAIN, 3},
	{PERF_SAMPLE_RAW, 1},
	{PERF_SAMPLE_REGS_USER, 4},
	{PERF_SAMPLE_STACK_USER, 2 + STACK / 8},
	{PERF_SAMPLE_WEIGHT, 1},
	{PERF_SAMPLE_DATA_SRC, 1},
	{PERF_SAMPLE_TRANSACTION, 1},
	{PERF_SAMPLE_REGS_INTR, 4},
	{PERF_SAMPLE_PHYS_ADDR, 1},
	{PERF_SAMPLE_CGROUP, 1},
	{PERF_SAMPLE_DATA_PAGE_SIZE, 1},
	{PERF_SAMPLE_CODE_PAGE_SIZE, 1},
	{PERF_SAMPLE_AUX, 1},
};
enum {
	NFIELDS = sizeof(fields) / sizeof(fields[0])
};

static struct perf_event_attr attr_of(uint64_t type)
{
	struct perf_event_attr attr = fk_attr(CYCLES, PERIOD);

	attr.sample_type = type;
	attr.sample_regs_user = UINT64_C(0x180000002); /* x1 sp pc */
	attr.sample_regs_intr = UINT64_C(0x100000005); /* x0 x2 pc */
	attr.sample_stack_user = STACK;
	return attr;
}

static long start(struct perf_event_attr attr, uint64_t pages)
{
	long fd = open_attr(attr);

	ck_assert_int_eq(fk_mmap(fk, fd, pages, 3, &ring), 0);
	enable(fd);
	return fd;
}

static void put_word(uint64_t uaddr, uint64_t word)
{
	memcpy(fk->user + (uaddr - FK_USER_BASE), &word, sizeof(word));
}

static uint64_t want_word(uint64_t bit, unsigned i, uint64_t pc)
{
	switch (bit) {
	case PERF_SAMPLE_IP:
		return pc;
	case PERF_SAMPLE_READ:
		return PERIOD;
	case PERF_SAMPLE_CALLCHAIN:
		return (uint64_t[]){2, PERF_CONTEXT_USER, pc}[i];
	case PERF_SAMPLE_RAW:
		return 4;
	case PERF_SAMPLE_REGS_USER:
		return (uint64_t[]){2, 0x101, SP, pc}[i];
	case PERF_SAMPLE_STACK_USER:
		return i == 0 || i == 1 + STACK / 8 ? STACK : 0x5000 + i;
	case PERF_SAMPLE_DATA_SRC:
		return 0x5080021;
	case PERF_SAMPLE_REGS_INTR:
		return (uint64_t[]){2, 0x100, 0x102, pc}[i];
	case PERF_SAMPLE_CGROUP:
		return 1;
	case PERF_SAMPLE_CODE_PAGE_SIZE:
		return 4096;
	default:
		return 0;
	}
}

static void user_state(void)
{
	for (unsigned i = 0; i < 29; i++)
		fk->user_regs.x[i] = 0x100 + i;
	fk->user_regs.x[29] = 0;
	fk->user_regs.sp = SP;
	for (unsigned i = 0; i < STACK / 8; i++)
		put_word(SP + 8 * i, 0x5001 + i);
}

START_TEST(fields_every_combination)
{
	user_state();
	for (unsigned mask = 0; mask < 1u << NFIELDS; mask += 1 + mask % 3) {
		uint64_t type = 0, pc = FK_CODE + 4 * PERIOD;
		unsigned n = 1;
		long fd;

		for (unsigned i = 0; i < NFIELDS; i++)
			type |= mask >> i & 1 ? fields[i].bit : 0;
		fd = start(attr_of(type), 1);
		fk->pc = FK_CODE;
		fk_run(fk, PERIOD);
		fk_record(&ring, 0, record);
		for (unsigned i = 0; i < NFIELDS; i++)
			for (unsigned k = 0; mask >> i & 1 && k < fields[i].words; k++)
				ck_assert_uint_eq(record[n++],
						  want_word(fields[i].bit, k, pc));
		ck_assert_uint_eq(record[0] >> 48, 8 * n);
		ck_assert_uint_eq(ring.page->data_head, 8 * n);
		close_mapped(fd);
	}
}
END_TEST

/* The frames of one sample; their number. */
static uint64_t chain(uint64_t fp, unsigned max_stack)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);
	long fd;

	attr.sample_max_stack = (uint16_t)max_stack;
	fd = start(attr, 1);
	fk->user_regs.x[29] = fp;
	fk->pc = FK_CODE;
	fk_run(fk, PERIOD);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[0] >> 48, 8 * (2 + record[1]));
	ck_assert_uint_eq(record[2], PERF_CONTEXT_USER);
	ck_assert_uint_eq(record[3], FK_CODE + 4 * PERIOD);
	close_mapped(fd);
	return record[1] - 2;
}

START_TEST(callchain_ends_where_the_records_do)
{
	uint64_t last = FK_USER_BASE + FK_USER_SIZE - 16;

	for (unsigned i = 0; i < 200; i++) {
		put_word(FRAME + 16 * i, FRAME + 16 * (i + 1));
		put_word(FRAME + 16 * i + 8, 0x9000 + i);
	}
	ck_assert_uint_eq(chain(0, 0), 0);
	ck_assert_uint_eq(chain(FRAME + 4, 0), 0); /* not aligned */
	ck_assert_uint_eq(chain(last + 8, 0), 0);  /* half of it mapped */
	ck_assert_uint_eq(chain(-16ull, 0), 0);	   /* no user address */
	ck_assert_uint_eq(chain(FRAME, 0), 126);   /* 127 with the pc */
	ck_assert_uint_eq(record[4], 0x9000);
	ck_assert_uint_eq(record[129], 0x9000 + 125);
	ck_assert_uint_eq(chain(FRAME, 5), 4);
	ck_assert_uint_eq(chain(FRAME, 1), 0);
	put_word(FRAME + 32, FRAME + 32); /* itself */
	ck_assert_uint_eq(chain(FRAME, 0), 3);
	put_word(FRAME + 32, FRAME); /* back: a loop */
	ck_assert_uint_eq(chain(FRAME, 0), 3);
	put_word(FRAME + 32, FRAME + 52); /* not aligned */
	ck_assert_uint_eq(chain(FRAME, 0), 3);
	put_word(FRAME + 32, UINT64_MAX - 15); /* mapped to nobody */
	ck_assert_uint_eq(chain(FRAME, 0), 3);
	put_word(last, 0);
	put_word(last + 8, 0x9999);
	ck_assert_uint_eq(chain(last, 0), 1);
	ck_assert_uint_eq(record[4], 0x9999);
}
END_TEST

START_TEST(callchain_of_the_kernel_has_both_parts)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);
	long fd;

	attr.exclude_kernel = 0;
	user_state();
	fd = start(attr, 1);
	fk->pc = FK_CODE + 40;
	fk_inject(fk, CYCLE, PERIOD, 1);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 4);
	ck_assert_uint_eq(record[2], PERF_CONTEXT_KERNEL);
	ck_assert_uint_ge(record[3], FK_KERNEL_PC);
	ck_assert_uint_eq(record[4], PERF_CONTEXT_USER);
	ck_assert_uint_eq(record[5], FK_CODE + 40);
	close_mapped(fd);
	/* the mark does not count, its frame does */
	attr.sample_max_stack = 1;
	fd = start(attr, 1);
	fk_inject(fk, CYCLE, PERIOD, 1);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 3);
	ck_assert_uint_eq(record[4], PERF_CONTEXT_USER);
	close_mapped(fd);
}
END_TEST

/* A task's event that overflows late, when another task runs; a CPU's event
 * while nothing runs: idle has no user registers, no stack, no chain. */
START_TEST(fields_of_the_idle_task_are_empty)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CODE_PAGE_SIZE);
	long fd;

	attr.exclude_kernel = 0;
	fd = fk_open_args(fk, &attr, -1, 0, -1, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk->current = NULL;
	fk_inject(fk, CYCLE, PERIOD, 1);
	fk->current = &fk->tasks[0];
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[0] >> 48, 8 * (1 + 3 + 1 + 1 + 1));
	ck_assert_uint_eq(record[1], 2);
	ck_assert_uint_eq(record[2], PERF_CONTEXT_KERNEL);
	ck_assert_uint_eq(record[4], PERF_SAMPLE_REGS_ABI_NONE);
	ck_assert_uint_eq(record[5], 0);
	ck_assert_uint_eq(record[6], 0);
	close_mapped(fd);
}
END_TEST

/* What is not mapped leaves what was there; the record keeps its size. */
START_TEST(stack_that_ends_is_filled_in_part)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_STACK_USER);
	uint64_t sp = FK_USER_BASE + FK_USER_SIZE - 24;
	long fd = start(attr, 1);

	user_state();
	fk->user_regs.sp = sp;
	for (unsigned i = 0; i < 3; i++)
		put_word(sp + 8 * i, 0x77 + i);
	memset(ring.pages[1], 0xaa, 4096);
	fk_run(fk, PERIOD);
	ck_assert_uint_eq(fk_record(&ring, 0, record), 8 * (3 + STACK / 8));
	ck_assert_uint_eq(record[1], STACK);
	for (unsigned i = 0; i < STACK / 8; i++)
		ck_assert_uint_eq(record[2 + i],
				  i < 3 ? 0x77 + i : UINT64_C(0xaaaaaaaaaaaaaaaa));
	ck_assert_uint_eq(record[2 + STACK / 8], 24);
	close_mapped(fd);
}
END_TEST

/* The part that is missing may go over several pages of the ring. */
START_TEST(stack_that_ends_keeps_its_room)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP);
	uint64_t sp = FK_USER_BASE + FK_USER_SIZE - 16;
	long fd;

	attr.sample_stack_user = 12000;
	fk->user_regs.sp = sp;
	fd = start(attr, 4);
	fk_run(fk, PERIOD);
	ck_assert_uint_eq(fk_record(&ring, 0, record), 8 * 4 + 12000);
	ck_assert_uint_eq(record[2 + 12000 / 8], 16);
	ck_assert_uint_eq(record[3 + 12000 / 8], 1);
	close_mapped(fd);
}
END_TEST

/* B25, and what follows the stack still fits. */
START_TEST(stack_is_cut_to_the_largest_record)
{
	static const struct {
		uint64_t type;
		uint64_t stack;
	} rows[] = {
		{PERF_SAMPLE_STACK_USER, 65504},
		{PERF_SAMPLE_STACK_USER | PERF_SAMPLE_IP, 65496},
		{PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER, 65504 - 32},
		{PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR, 65504 - 32},
		{PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP, 65496},
	};

	user_state();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = attr_of(rows[i].type);
		long fd;

		attr.sample_stack_user = 65528;
		fd = start(attr, 32);
		fk_run(fk, PERIOD);
		ck_assert_uint_eq(fk_record(&ring, 0, record), 65528);
		ck_assert_uint_eq(ring.page->data_head, 65528);
		for (unsigned k = 1; k < 7; k++)
			if (record[k] == rows[i].stack)
				goto found;
		ck_abort_msg("row %u: the stack has another size", i);
	found:
		close_mapped(fd);
	}
}
END_TEST

/* The leader's sample brings the members up to date, at its own moment. */
START_TEST(read_of_a_group_is_of_one_moment)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_READ);
	long fd, member;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	fd = open_attr(attr);
	attr = fk_attr(INSTRUCTIONS, 0);
	attr.disabled = 0;
	member = fk_open(fk, &attr, (int)fd);
	ck_assert_int_ge(member, 0);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk_run(fk, 2 * PERIOD + 300);
	ck_assert_uint_eq(fk_records(&ring, 0, PERF_RECORD_SAMPLE), 2);
	ck_assert_uint_eq(fk_record(&ring, 64, record), 64);
	ck_assert_uint_eq(record[1], 2);
	ck_assert_uint_eq(record[2], 2 * PERIOD);
	ck_assert_uint_eq(record[3], fk_id(fk, fd));
	ck_assert_uint_eq(record[5], 2 * PERIOD);
	ck_assert_uint_eq(record[6], fk_id(fk, member));
	fk_close(fk, member);
	close_mapped(fd);
}
END_TEST

START_TEST(max_stack_beyond_the_limit_is_an_overflow)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);

	attr.sample_max_stack = 128;
	ck_assert_int_eq(fk_open(fk, &attr, -1), -EOVERFLOW);
	attr.config = PERF_COUNT_HW_BUS_CYCLES; /* looked at before */
	ck_assert_int_eq(fk_open(fk, &attr, -1), -ENOENT);
	attr.config = CYCLES;
	attr.sample_type = PERF_SAMPLE_IP;
	fk_close(fk, open_attr(attr));
}
END_TEST

/* Linux get_callchain_buffers(), perf_event_max_stack_handler(). */
START_TEST(stack_sysctls_are_held_by_events_with_chains)
{
	const enum ksys_sysctl depth = KSYS_SYSCTL_MAX_STACK, marks = KSYS_SYSCTL_MAX_CONTEXTS;
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);
	long fd, other;

	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), 0);
	fd = start(attr_of(PERF_SAMPLE_IP), 1);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), 0);
	close_mapped(fd);
	fd = start(attr, 1);
	other = open_attr(attr);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), -EBUSY);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, marks), -EBUSY);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, KSYS_SYSCTL_PARANOID), 0);
	fk_close(fk, other);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), -EBUSY);
	close_mapped(fd);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, marks), 0);
	/* an open that fails holds nothing */
	attr.sample_max_stack = 128;
	ck_assert_int_eq(fk_open(fk, &attr, -1), -EOVERFLOW);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), 0);
	fk->sysctl[depth] = 200;
	fk_close(fk, open_attr(attr));
	/* a kmalloc() of 4 MiB and not a byte more */
	attr.sample_max_stack = 0;
	fk->sysctl[depth] = 131063;
	fk_close(fk, open_attr(attr));
	fk->sysctl[depth] = 131064;
	ck_assert_int_eq(fk_open(fk, &attr, -1), -ENOMEM);
	ck_assert_int_eq(kperf_sysctl_check(fk->perf, depth), 0);
}
END_TEST

/* Entries of a chain with both parts, of a user stack without callers. */
static uint64_t entries(uint16_t max_stack)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);
	long fd;

	attr.exclude_kernel = 0;
	attr.sample_max_stack = max_stack;
	fk->user_regs.x[29] = 0;
	fd = start(attr, 1);
	fk_inject(fk, CYCLE, PERIOD, 1);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[0] >> 48, 8 * (2 + record[1]));
	close_mapped(fd);
	return record[1];
}

/* Frame records that overlap, 8 bytes apart: more callers than a record can say, whose
 * header has 16 bits for its size. Of the stack there is its size, 0, and no room. */
START_TEST(a_chain_leaves_room_for_what_follows_it)
{
	static const struct {
		uint64_t with;
		unsigned size;
	} runs[] = {
		{ 0, 65528 },
		{ PERF_SAMPLE_IP, 65528 },
		{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR, 65528 },
		{ PERF_SAMPLE_STACK_USER, 65520 },
		{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR, 65520 },
	};

	fk->sysctl[KSYS_SYSCTL_MAX_STACK] = 20000;
	fk->user_regs.sp = FK_USER_BASE;
	fk->user_regs.x[29] = FK_USER_BASE;
	for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		long fd = start(attr_of(PERF_SAMPLE_CALLCHAIN | runs[i].with), 32);

		/* over the attr too, which lay there */
		for (uint64_t at = FK_USER_BASE; at < FK_USER_BASE + FK_USER_SIZE; at += 8)
			put_word(at, at + 8);
		fk_run(fk, PERIOD);
		ck_assert_uint_eq(fk_record(&ring, 0, record), runs[i].size);
		ck_assert_uint_eq(ring.page->data_head, runs[i].size);
		close_mapped(fd);
	}
}
END_TEST

START_TEST(stack_sysctls_bound_the_chain)
{
	fk->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 2;
	ck_assert_uint_eq(entries(0), 4);
	/* no room for the second mark, nor for what it stands before */
	fk->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 1;
	ck_assert_uint_eq(entries(0), 2);
	ck_assert_uint_eq(record[2], PERF_CONTEXT_KERNEL);
	fk->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 0;
	ck_assert_uint_eq(entries(0), 0);
	/* no frames, and both marks */
	fk->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 8;
	fk->sysctl[KSYS_SYSCTL_MAX_STACK] = 0;
	ck_assert_uint_eq(entries(0), 2);
	ck_assert_uint_eq(record[3], PERF_CONTEXT_USER);
	for (unsigned i = 0; i < 200; i++) {
		put_word(FRAME + 16 * i, FRAME + 16 * (i + 1));
		put_word(FRAME + 16 * i + 8, 0x9000 + i);
	}
	fk->sysctl[KSYS_SYSCTL_MAX_STACK] = 16;
	ck_assert_uint_eq(chain(FRAME, 0), 15);
	fk->sysctl[KSYS_SYSCTL_MAX_STACK] = 180;
	ck_assert_uint_eq(chain(FRAME, 150), 149);
	ck_assert_uint_eq(chain(FRAME, 0), 179);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample-fields");
	TCase *tcase = tcase_create("sample-fields");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, fields_every_combination);
	tcase_add_test(tcase, callchain_ends_where_the_records_do);
	tcase_add_test(tcase, callchain_of_the_kernel_has_both_parts);
	tcase_add_test(tcase, fields_of_the_idle_task_are_empty);
	tcase_add_test(tcase, stack_that_ends_is_filled_in_part);
	tcase_add_test(tcase, stack_that_ends_keeps_its_room);
	tcase_add_test(tcase, stack_is_cut_to_the_largest_record);
	tcase_add_test(tcase, read_of_a_group_is_of_one_moment);
	tcase_add_test(tcase, max_stack_beyond_the_limit_is_an_overflow);
	tcase_add_test(tcase, stack_sysctls_are_held_by_events_with_chains);
	tcase_add_test(tcase, stack_sysctls_bound_the_chain);
	tcase_add_test(tcase, a_chain_leaves_room_for_what_follows_it);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
