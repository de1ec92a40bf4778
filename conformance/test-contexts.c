/* SPDX-License-Identifier: MIT */
/* Events of tasks and CPUs: who counts where, over switches, moves, exec, exit. */
#include "conformance/perf-fixture.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void setup_smp(void)
{
	fk = fk_create_smp("linux-6.1", 6, FK_CPUS);
}

static struct ksys_task *task(int n)
{
	return &fk->tasks[n];
}

static long open_for(struct perf_event_attr attr, int pid, int cpu)
{
	long fd = fk_open_args(fk, &attr, pid, cpu, -1, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static struct perf_event_attr counting(void)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);

	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}

/* --- slices -------------------------------------------------------------------- */

/* The task leaves this CPU, another one runs, and it goes on on CPU @to. */
static void next_slice(unsigned to)
{
	fk_switch(fk, task(1));
	fk_run(fk, 12345);
	fk_switch(fk, NULL);
	fk_cpu(fk, to);
	fk_switch(fk, task(0));
}

/* CASES B1: what is left of the period is what the counter is written with, on
 * one CPU (0) and on three (1). */
START_TEST(b1_a_period_lasts_over_slices)
{
	long fd = open_sampling(CYCLES, 1000000);

	enable(fd);
	ck_assert_uint_eq(last_cycle_write(), 0xfff0bdc0);
	fk_run(fk, 400000);
	next_slice(_i ? 1 : 0);
	ck_assert_uint_eq(last_cycle_write(), 0xfff6d840);
	fk_run(fk, 400000);
	next_slice(_i ? 3 : 0);
	ck_assert_uint_eq(last_cycle_write(), 0xfffcf2c0);
	fk_run(fk, 199999);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 1);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(last_cycle_write(), 0xfff0bdc0);
	fk_run(fk, 200000);
	ck_assert_uint_eq(samples(), 1);
	ck_assert_uint_eq(fk_count(fk, fd), 1200000);
	close_mapped(fd);
}
END_TEST

/* What was over when the slice ended is no sample, and the next period is
 * shorter by what went beyond (A17). */
START_TEST(b1_a_period_that_ends_with_the_slice)
{
	long fd = open_sampling(CYCLES, 1000);

	enable(fd);
	fk_mask(fk);
	fk_run(fk, 1005);
	fk_switch(fk, task(1));
	ck_assert_uint_eq(fk->pmu.pmovs, 0);
	fk_run(fk, 5000);
	fk_switch(fk, task(0));
	ck_assert_uint_eq(last_cycle_write(), (uint32_t)-995);
	ck_assert_uint_eq(samples(), 0);
	fk_run(fk, 995);
	ck_assert_uint_eq(samples(), 1);
	close_mapped(fd);
}
END_TEST

START_TEST(t1_times_and_counts_add_up_over_slices)
{
	long fd = open_attr(counting());
	uint64_t v[3], w[3];

	fk_run(fk, 1000);
	next_slice(1);
	fk_run(fk, 500);
	ck_assert_int_eq(fk_read(fk, fd, v, 24), 24);
	ck_assert_uint_eq(v[0], 1500);
	ck_assert_uint_eq(v[1], v[2]);
	ck_assert_uint_ge(v[1], 1500);
	ck_assert_uint_lt(v[1], 12345);
	/* off its CPU nothing moves, whoever looks */
	fk_switch(fk, task(1));
	fk_read(fk, fd, v, 24);
	fk_run(fk, 100000);
	ck_assert_int_eq(fk_read(fk, fd, w, 24), 24);
	ck_assert_mem_eq(v, w, sizeof(v));
}
END_TEST

START_TEST(t1_disabled_time_is_not_enabled_time)
{
	long fd = open_attr(counting());
	uint64_t v[3], w[3];

	fk_run(fk, 1000);
	disable(fd);
	fk_read(fk, fd, v, 24);
	fk_run(fk, 100000);
	ck_assert_int_eq(fk_read(fk, fd, w, 24), 24);
	ck_assert_mem_eq(v, w, sizeof(v));
	enable(fd);
	fk_run(fk, 10);
	ck_assert_uint_eq(fk_count(fk, fd), 1010);
}
END_TEST

/* A whole system runs, and no register is touched for it. */
START_TEST(t2_hooks_cost_nothing_when_unused)
{
	struct hal_regs regs = {.pc = FK_CODE};
	uint64_t ops = fk->ops;

	for (unsigned n = 0; n < 10; n++) {
		kperf_sched_out(fk->perf, &fk->hal, fk->current);
		kperf_sched_in(fk->perf, &fk->hal, fk->current);
		kperf_sched_out(fk->perf, &fk->hal, NULL);
		for (unsigned sw = 0; sw < KPERF_SWS; sw++)
			kperf_sw_event(fk->perf, &fk->hal, (enum kperf_sw)sw, 1, &regs, 0);
	}
	ck_assert_uint_eq(fk->ops, ops);
	/* nor when the events are a CPU's, and nothing of the task's changes */
	open_for(counting(), -1, 0);
	ops = fk->ops;
	kperf_sched_out(fk->perf, &fk->hal, fk->current);
	kperf_sched_in(fk->perf, &fk->hal, fk->current);
	ck_assert_uint_eq(fk->ops, ops);
}
END_TEST

/* --- who is meant ----------------------------------------------------------------- */

START_TEST(t9_a_running_task_is_read_where_it_runs)
{
	long fd = open_for(counting(), 101, -1);
	unsigned calls;

	fk_cpu(fk, 2);
	fk_switch(fk, task(1));
	fk_run(fk, 777);
	fk_cpu(fk, 0);
	calls = fk->cpu_calls;
	ck_assert_uint_eq(fk_count(fk, fd), 777);
	ck_assert_uint_eq(fk->cpu_calls, calls + 1);
	/* off and on again, from here */
	disable(fd);
	ck_assert_uint_eq(fk->still[2].pmu.pmcnten, 0);
	fk_cpu(fk, 2);
	fk_run(fk, 1000);
	fk_cpu(fk, 0);
	enable(fd);
	ck_assert_uint_eq(fk->still[2].pmu.pmcnten, UINT32_C(1) << CYCLE);
	fk_cpu(fk, 2);
	fk_run(fk, 3);
	fk_cpu(fk, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 780);
	/* a task that sleeps needs no call */
	fk_cpu(fk, 2);
	fk_switch(fk, NULL);
	fk_cpu(fk, 0);
	calls = fk->cpu_calls;
	ck_assert_uint_eq(fk_count(fk, fd), 780);
	disable(fd);
	enable(fd);
	ck_assert_uint_eq(fk->cpu_calls, calls);
}
END_TEST

START_TEST(t9_a_period_is_changed_where_the_task_runs)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 10000);
	long fd;

	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_for(attr, 101, -1);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_run(fk, 4000);
	fk_cpu(fk, 0);
	ck_assert_int_eq(fk_set_period(fk, fd, 1000), 0);
	ck_assert_uint_eq(last_cycle_write(), 0xfffffc18);
	fk_cpu(fk, 1);
	fk_run(fk, 1000);
	ck_assert_uint_eq(samples(), 1);
	fk_switch(fk, NULL);
	fk_cpu(fk, 0);
	close_mapped(fd);
}
END_TEST

/* pid x cpu: a task on any CPU, a task on one CPU, all tasks on one CPU. */
START_TEST(pid_and_cpu_in_every_combination)
{
	long any = open_for(counting(), 101, -1), one = open_for(counting(), 101, 1);
	long cpu0 = open_for(counting(), -1, 0), cpu1 = open_for(counting(), -1, 1);
	struct perf_event_attr attr = counting();
	uint64_t v[3];

	for (unsigned cpu = 0; cpu < 3; cpu++) {
		fk_cpu(fk, cpu);
		fk_switch(fk, NULL);
		fk_switch(fk, task(1));
		fk_run(fk, 1000 + cpu);
		fk_switch(fk, NULL);
		fk_switch(fk, task(2));
		fk_run(fk, 50);
		fk_switch(fk, NULL);
	}
	ck_assert_uint_eq(fk_count(fk, any), 3003);
	ck_assert_uint_eq(fk_count(fk, one), 1001);
	ck_assert_uint_eq(fk_count(fk, cpu0), 1050);
	ck_assert_uint_eq(fk_count(fk, cpu1), 1051);
	/* its time is enabled time wherever the task runs */
	fk_read(fk, one, v, 24);
	ck_assert_uint_ge(v[1], 3003);
	ck_assert_uint_lt(v[2], 2000);
	fk_switch(fk, task(3));
	ck_assert_int_eq(fk_open_args(fk, &attr, -1, -1, -1, 0), -EINVAL);
	ck_assert_int_eq(fk_open_args(fk, &attr, -1, FK_CPUS, -1, 0), -EINVAL);
	ck_assert_int_eq(fk_open_args(fk, &attr, 101, FK_CPUS, -1, 0), -EINVAL);
	ck_assert_int_eq(fk_open_args(fk, &attr, 4711, -1, -1, 0), -ESRCH);
}
END_TEST

START_TEST(another_task_needs_rights)
{
	struct perf_event_attr attr = counting();

	fk->sysctl[KSYS_SYSCTL_PARANOID] = 2;
	memset(fk->caps, 0, sizeof(fk->caps));
	ck_assert_int_eq(fk_open_args(fk, &attr, 101, -1, -1, 0), -EACCES);
	ck_assert_int_ge(fk_open_args(fk, &attr, 0, -1, -1, 0), 0);
	fk->may_attach = true;
	ck_assert_int_ge(fk_open_args(fk, &attr, 101, -1, -1, 0), 0);
	ck_assert_int_eq(fk_open_args(fk, &attr, -1, 0, -1, 0), -EACCES);
}
END_TEST

START_TEST(a_cpus_event_from_another_cpu)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	uint64_t record[4];
	long fd;

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	fd = open_for(attr, -1, 2);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	enable(fd);
	fk_run(fk, 5000); /* here nobody counts */
	fk_cpu(fk, 2);
	fk_run(fk, 1000); /* the idle task */
	fk_switch(fk, task(5));
	fk_run(fk, 1000);
	fk_cpu(fk, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 2000);
	ck_assert_uint_eq(samples(), 2);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], 0);
	ck_assert_uint_eq(record[2], 2);
	fk_record(&ring, 24, record);
	ck_assert_uint_eq(record[1], UINT64_C(105) << 32 | 100);
	close_mapped(fd);
	ck_assert_uint_eq(fk->still[2].pmu.pmcnten, 0);
}
END_TEST

START_TEST(s5_ids_are_those_of_the_openers_namespace)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	struct fk_ring outer;
	uint64_t record[2];
	long a, b;

	task(1)->ns = task(2)->ns = 1;
	task(1)->inner_tgid = task(1)->inner_tid = 1;
	task(2)->inner_tgid = 7, task(2)->inner_tid = 8;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.disabled = 0;
	a = open_for(attr, -1, 0); /* the opener is task 0: outside */
	ck_assert_int_eq(fk_mmap(fk, a, 1, 3, &outer), 0);
	fk_switch(fk, task(1));
	b = open_for(attr, -1, 0);
	ck_assert_int_eq(fk_mmap(fk, b, 1, 3, &ring), 0);
	fk_switch(fk, task(2));
	/* the opener's end changes nothing: the event keeps its namespace */
	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_exit(fk);
	fk_reap(fk, task(1));
	fk_cpu(fk, 0);
	fk_run(fk, 1000);
	fk_switch(fk, task(3)); /* of no namespace that 1 sees */
	fk_run(fk, 1000);
	fk_record(&outer, 0, record);
	ck_assert_uint_eq(record[1], UINT64_C(102) << 32 | 100);
	fk_record(&ring, 0, record);
	ck_assert_uint_eq(record[1], UINT64_C(8) << 32 | 7);
	fk_record(&outer, 16, record);
	ck_assert_uint_eq(record[1], UINT64_C(103) << 32 | 100);
	fk_record(&ring, 16, record);
	ck_assert_uint_eq(record[1], 0);
	kperf_munmap(fk->fds[a]);
	close_mapped(b);
}
END_TEST

/* --- attach, exit, close ----------------------------------------------------------- */

static long sampling_of(int pid)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 1000);
	long fd;

	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 0;
	fd = open_for(attr, pid, -1);
	ck_assert_int_eq(fk_mmap(fk, fd, 1, 3, &ring), 0);
	return fd;
}

/* Opened while it runs elsewhere (0), while it sleeps (1). */
START_TEST(attach_to_a_task)
{
	long fd;

	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_run(fk, 10000);
	if (_i)
		fk_switch(fk, NULL);
	fk_cpu(fk, 0);
	fd = sampling_of(101);
	if (_i)
		fk_cpu(fk, 3);
	else
		fk_cpu(fk, 1);
	if (_i)
		fk_switch(fk, task(1));
	fk_run(fk, 2500);
	ck_assert_uint_eq(samples(), 2);
	fk_cpu(fk, 0);
	ck_assert_uint_eq(fk_count(fk, fd), 2500);
	close_mapped(fd);
}
END_TEST

START_TEST(t8_a_tasks_end)
{
	long fd = sampling_of(101);
	struct perf_event_attr attr = counting();
	uint64_t v[3];
	long plain = open_for(attr, 101, -1);

	fk_cpu(fk, 1);
	fk_switch(fk, task(1));
	fk_run(fk, 1500);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0);
	fk_exit(fk);
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
	ck_assert_uint_ge(fk->wakes, 1);
	fk_run(fk, 1000);
	fk_cpu(fk, 0);
	/* t11: the file says so, and what was counted and written is there */
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0x10);
	ck_assert_uint_eq(kperf_poll(fk->fds[plain]), 0x10);
	ck_assert_uint_eq(fk_count(fk, fd), 1500);
	ck_assert_uint_eq(samples(), 1);
	enable(plain);
	ck_assert_int_eq(fk_read(fk, plain, v, 24), 24);
	ck_assert_uint_eq(v[0], 1500);
	/* nobody attaches to the dead, or joins what was theirs */
	ck_assert_int_eq(fk_open_args(fk, &attr, 101, -1, -1, 0), -ESRCH);
	ck_assert_int_eq(fk_open_args(fk, &attr, 101, -1, (int)plain, 0), -ESRCH);
	ck_assert_int_eq(fk_open_args(fk, &attr, 0, -1, (int)plain, 0), -EINVAL);
	fk_reap(fk, task(1));
	ck_assert_uint_eq(fk_count(fk, plain), 1500);
	close_mapped(fd);
	ck_assert_uint_eq(task(1)->refs, 1);
	fk_close(fk, plain);
	ck_assert_uint_eq(task(1)->refs, 0);
}
END_TEST

/* What may happen to a task and its event, each once. */
enum step { RUN, SWITCH_OUT, EXIT, REAP, CLOSE, UNMAP, STEPS };

/* -1: cannot happen now. */
static int apply(enum step step, long fd, bool *open, bool *mapped)
{
	struct ksys_task *t = task(1);
	bool here = fk->still[1].current == t;

	fk_cpu(fk, 1);
	here = fk->current == t;
	switch (step) {
	case RUN:
		if (t->dead || here)
			return -1;
		fk_switch(fk, t);
		fk_run(fk, 1500);
		break;
	case SWITCH_OUT:
		if (!here)
			return -1;
		fk_switch(fk, NULL);
		break;
	case EXIT:
		if (!here)
			return -1;
		fk_exit(fk);
		break;
	case REAP:
		if (!t->dead)
			return -1;
		fk_reap(fk, t);
		break;
	case CLOSE:
		fk_cpu(fk, 0);
		*open = false;
		if (*mapped) /* the mapping holds the event */
			fk->fds[60] = fk->fds[fd];
		fk_close(fk, fd);
		break;
	case UNMAP:
		fk_cpu(fk, 0);
		*mapped = false;
		if (*open)
			kperf_munmap(fk->fds[fd]);
		else
			kperf_munmap(fk->fds[60]);
		fk->fds[60] = NULL;
		break;
	case STEPS:
		break;
	}
	return 0;
}

static unsigned orders;

/* Every order of the steps: depth first, each in a kernel of its own. */
static void play(const enum step *steps, unsigned n)
{
	bool open = true, mapped = true, possible = true;
	unsigned used = 0;
	long fd;

	fk = fk_create_smp("linux-6.1", 6, 2);
	fd = sampling_of(101);
	for (unsigned i = 0; i < n && possible; i++) {
		possible = apply(steps[i], fd, &open, &mapped) == 0;
		used |= 1u << steps[i];
	}
	if (possible && open && !mapped)
		ck_assert_int_ge((long)fk_count(fk, fd), 0);
	fk_cpu(fk, 0);
	if (mapped)
		apply(UNMAP, fd, &open, &mapped);
	if (open)
		fk_close(fk, fd);
	if (task(1)->perf) {
		fk_cpu(fk, 1);
		if (fk->current != task(1))
			fk_switch(fk, task(1));
		fk_exit(fk);
	}
	ck_assert_uint_eq(fk->still[1].pmu.pmcnten, 0);
	ck_assert_uint_eq(fk->pmu.pmcnten, 0);
	fk_destroy(fk);
	if (!possible)
		return;
	orders++;
	for (unsigned s = 0; s < STEPS; s++) {
		enum step more[STEPS];

		if (used & 1u << s)
			continue;
		memcpy(more, steps, n * sizeof(*steps));
		more[n] = (enum step)s;
		play(more, n + 1);
	}
}

START_TEST(t3_exit_and_close_in_every_order)
{
	enum step none[1] = {RUN};

	orders = 0;
	play(none, 0);
	/* chains of the task: none, R, RS, RE, REP; CLOSE and UNMAP woven in */
	ck_assert_uint_eq(orders, 5 + 11 + 19 + 19 + 29);
}
END_TEST

/* --- exec --------------------------------------------------------------------------- */

START_TEST(t4_enable_on_exec_is_done_once)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long fd, plain;

	attr.enable_on_exec = 1;
	fd = open_attr(attr);
	attr.enable_on_exec = 0;
	plain = open_attr(attr);
	fk_run(fk, 1000);
	kperf_exec(fk->perf, fk->current);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, fd), 500);
	ck_assert_uint_eq(fk_count(fk, plain), 0);
	disable(fd);
	kperf_exec(fk->perf, fk->current);
	fk_run(fk, 500);
	ck_assert_uint_eq(fk_count(fk, fd), 500);
}
END_TEST

START_TEST(t4_enable_on_exec_of_a_group)
{
	struct perf_event_attr attr = fk_attr(CYCLES, 0);
	long leader, member;

	attr.enable_on_exec = 1;
	leader = open_attr(attr);
	attr = fk_attr(INSTRUCTIONS, 0);
	attr.disabled = 0;
	member = fk_open(fk, &attr, (int)leader);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, member), 0);
	kperf_exec(fk->perf, fk->current);
	fk_run(fk, 300);
	ck_assert_uint_eq(fk_count(fk, leader), 300);
	ck_assert_uint_eq(fk_count(fk, member), 300);
}
END_TEST

START_TEST(remove_on_exec_ends_the_event)
{
	struct perf_event_attr attr = counting();
	long fd, kept = open_attr(attr);

	attr.remove_on_exec = 1;
	fd = open_attr(attr);
	fk_run(fk, 100);
	kperf_exec(fk->perf, fk->current);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, fd), 100);
	ck_assert_uint_eq(kperf_poll(fk->fds[fd]), 0x10);
	enable(fd);
	fk_run(fk, 100);
	ck_assert_uint_eq(fk_count(fk, fd), 100);
	ck_assert_uint_eq(fk_count(fk, kept), 300);
}
END_TEST

START_TEST(prctl_turns_what_the_task_has_opened)
{
	long mine = open_attr(counting()), other = open_for(counting(), 101, -1);
	long theirs;

	fk_switch(fk, task(1));
	theirs = open_for(counting(), 100, -1);
	fk_switch(fk, task(0));
	ck_assert_int_eq(kperf_prctl(fk->perf, false), 0);
	fk_run(fk, 100);
	fk_switch(fk, task(1));
	fk_run(fk, 100);
	fk_switch(fk, task(0));
	ck_assert_uint_eq(fk_count(fk, mine), 0);
	ck_assert_uint_eq(fk_count(fk, other), 0);
	ck_assert_uint_eq(fk_count(fk, theirs), 100);
	ck_assert_int_eq(kperf_prctl(fk->perf, true), 0);
	fk_run(fk, 7);
	ck_assert_uint_eq(fk_count(fk, mine), 7);
	ck_assert_uint_eq(fk_count(fk, theirs), 107);
}
END_TEST

/* --- turns -------------------------------------------------------------------------- */

enum { MS = 1000000 };

/* Nine events that want counters, seven that there are: each has its turn, and
 * what it counted in its time says what it would have. */
START_TEST(flexible_groups_take_turns)
{
	struct perf_event_attr attr = counting();
	uint64_t v[3], running = 0;
	long fd[9];

	for (int i = 0; i < 9; i++)
		fd[i] = open_attr(attr);
	fk_run(fk, 90 * 4 * MS);
	for (int i = 0; i < 9; i++) {
		ck_assert_int_eq(fk_read(fk, fd[i], v, 24), 24);
		ck_assert_uint_lt(v[2], v[1]);
		ck_assert_uint_gt(v[2], v[1] / 2);
		/* a clock read costs time in which nothing is counted */
		ck_assert_uint_le(v[0], v[2]);
		ck_assert_uint_gt(v[0], v[2] - v[2] / 100);
		running += v[2];
	}
	ck_assert_uint_gt(running, 6 * 360 * (uint64_t)MS);
	ck_assert_uint_le(running, 7 * 361 * (uint64_t)MS);
	for (int i = 0; i < 9; i++)
		fk_close(fk, fd[i]);
	fk_run(fk, 9 * MS);
	ck_assert_ptr_null(fk->timers);
}
END_TEST

START_TEST(pinned_events_take_no_turns)
{
	struct perf_event_attr attr = counting();
	long pinned, fd[8];
	uint64_t v[3];

	attr.pinned = 1;
	pinned = open_attr(attr);
	attr.pinned = 0;
	for (int i = 0; i < 8; i++)
		fd[i] = open_attr(attr);
	fk_run(fk, 40 * MS);
	fk_read(fk, pinned, v, 24);
	ck_assert_uint_eq(v[1], v[2]);
	ck_assert_uint_eq(v[0], 40 * MS);
	for (int i = 0; i < 8; i++) {
		fk_read(fk, fd[i], v, 24);
		ck_assert_uint_gt(v[0], 0);
		ck_assert_uint_lt(v[2], v[1]);
	}
	for (int i = 0; i < 8; i++)
		fk_close(fk, fd[i]);
	fk_run(fk, 9 * MS);
}
END_TEST

/* --- many --------------------------------------------------------------------------- */

enum { MANY = 1000, EACH = 6 };

START_TEST(a_thousand_tasks_with_six_events)
{
	struct perf_event_attr attr = counting();
	static long fd[MANY][EACH];

	fk_grow(fk, MANY + 1, 3 + MANY * EACH);
	for (int t = 0; t < MANY; t++)
		for (int i = 0; i < EACH; i++) {
			attr.config = i ? INSTRUCTIONS : CYCLES;
			fd[t][i] = open_for(attr, 101 + t, -1);
		}
	for (int t = 0; t < MANY; t++) {
		fk_cpu(fk, (unsigned)t % FK_CPUS);
		fk_switch(fk, task(1 + t));
		fk_run(fk, 1 + (uint64_t)t);
	}
	for (unsigned cpu = 0; cpu < FK_CPUS; cpu++) {
		fk_cpu(fk, cpu);
		fk_switch(fk, NULL);
	}
	for (int t = 0; t < MANY; t++)
		for (int i = 0; i < EACH; i++) {
			uint64_t count = fk_count(fk, fd[t][i]);

			if (count != 1 + (uint64_t)t)
				ck_abort_msg("task %d event %d: %lu", t, i, count);
		}
	fk_cpu(fk, 0);
	fk_switch(fk, task(0));
	for (int t = 0; t < MANY; t += 2) {
		fk_cpu(fk, 1);
		fk_switch(fk, task(1 + t));
		fk_exit(fk);
	}
	for (int t = 0; t < MANY; t++)
		for (int i = 0; i < EACH; i++)
			fk_close(fk, fd[t][i]);
	for (int t = 1; t < MANY; t += 2) {
		fk_switch(fk, task(1 + t));
		fk_exit(fk);
	}
	fk_cpu(fk, 0);
}
END_TEST

static void add(Suite *suite, const char *name, void (*up)(void), void (*down)(void),
		TCase **out)
{
	*out = tcase_create(name);
	if (up)
		tcase_add_checked_fixture(*out, up, down);
	tcase_set_timeout(*out, 60);
	suite_add_tcase(suite, *out);
}

int main(void)
{
	Suite *suite = suite_create("contexts");
	SRunner *runner = srunner_create(suite);
	TCase *smp, *up, *own;
	int failed;

	add(suite, "smp", setup_smp, teardown, &smp);
	tcase_add_loop_test(smp, b1_a_period_lasts_over_slices, 0, 2);
	tcase_add_test(smp, b1_a_period_that_ends_with_the_slice);
	tcase_add_test(smp, t1_times_and_counts_add_up_over_slices);
	tcase_add_test(smp, t9_a_running_task_is_read_where_it_runs);
	tcase_add_test(smp, t9_a_period_is_changed_where_the_task_runs);
	tcase_add_test(smp, pid_and_cpu_in_every_combination);
	tcase_add_test(smp, another_task_needs_rights);
	tcase_add_test(smp, a_cpus_event_from_another_cpu);
	tcase_add_test(smp, s5_ids_are_those_of_the_openers_namespace);
	tcase_add_loop_test(smp, attach_to_a_task, 0, 2);
	tcase_add_test(smp, t8_a_tasks_end);
	tcase_add_test(smp, a_thousand_tasks_with_six_events);
	add(suite, "up", setup, teardown, &up);
	tcase_add_test(up, t1_disabled_time_is_not_enabled_time);
	tcase_add_test(up, t2_hooks_cost_nothing_when_unused);
	tcase_add_test(up, t4_enable_on_exec_is_done_once);
	tcase_add_test(up, t4_enable_on_exec_of_a_group);
	tcase_add_test(up, remove_on_exec_ends_the_event);
	tcase_add_test(up, prctl_turns_what_the_task_has_opened);
	tcase_add_test(up, flexible_groups_take_turns);
	tcase_add_test(up, pinned_events_take_no_turns);
	add(suite, "orders", NULL, NULL, &own);
	tcase_add_test(own, t3_exit_and_close_in_every_order);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
