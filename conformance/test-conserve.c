/* SPDX-License-Identifier: MIT */
/*
 * Conservation: under any schedule an event counts what its task or its CPU
 * executed while it was on, to the instruction, and a sampling event has a sample
 * for every whole period of that. The schedules are random, with a seed each: a
 * failure names it, and PMULAB_SEED=N plays that one alone.
 */
#include "conformance/perf-fixture.h"

enum {
	SEEDS = 1000,
	STEPS = 150,
	EVENTS = 10, /* at most seven want a counter of one CPU at a time */
	A_CPU = 2,   /* of them a CPU's */
	TASKS = 96,
};

struct model {
	long fd;
	int root, cpu; /* task -1: the CPU's */
	bool enabled, inherit, open;
	bool family[TASKS]; /* tasks that count for it */
	uint64_t expect, period;
	struct fk_ring ring;
};

static struct model events[EVENTS];
static int next_task, on_cpu[FK_CPUS]; /* -1: idle */
static uint64_t seed, state;

static unsigned roll(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 20) % n;
}

static void check(struct model *e)
{
	uint64_t count = fk_count(fk, e->fd);

	if (count != e->expect)
		ck_abort_msg("seed %lu: event %ld counted %lu of %lu", seed, e->fd, count,
			     e->expect);
	if (e->period && e->ring.page->data_head / 16 != count / e->period)
		ck_abort_msg("seed %lu: event %ld: %llu samples of %lu/%lu", seed, e->fd,
			     e->ring.page->data_head / 16, count, e->period);
}

static void close_event(struct model *e)
{
	if (!e->open)
		return;
	check(e);
	if (e->period)
		kperf_munmap(fk->fds[e->fd]);
	fk_close(fk, e->fd);
	e->open = false;
}

/* A task that still lives, 0 is the one that asks for everything. */
static int living(void)
{
	int t = (int)roll((unsigned)next_task);

	return fk->tasks[t].dead ? 0 : t;
}

/* Of one task three at most, so that nobody waits for a counter. */
static bool crowded(const struct model *mine, int root)
{
	int n = 0;

	for (struct model *e = events; e < events + EVENTS; e++)
		n += e != mine && e->open && (e->root == root || e->inherit);
	return n >= 3;
}

static void open_event(struct model *e)
{
	struct perf_event_attr attr = fk_attr(roll(2) ? CYCLES : INSTRUCTIONS, 0);
	bool a_cpu = e - events < A_CPU;

	*e = (struct model){.root = a_cpu ? -1 : living()};
	if (!a_cpu && crowded(e, e->root))
		return;
	e->cpu = a_cpu || roll(3) == 0 ? (int)roll(FK_CPUS) : -1;
	e->enabled = roll(2);
	e->inherit = !a_cpu && roll(3) == 0;
	e->period = !e->inherit && roll(2) ? 100 + roll(1000) : 0;
	attr.disabled = !e->enabled;
	attr.inherit = e->inherit;
	attr.sample_period = e->period;
	attr.sample_type = PERF_SAMPLE_IP;
	e->fd = fk_open_args(fk, &attr, a_cpu ? -1 : 100 + e->root, e->cpu, -1, 0);
	ck_assert_int_ge(e->fd, 0);
	if (e->period)
		ck_assert_int_eq(fk_mmap(fk, e->fd, 1, 1, &e->ring), 0);
	if (!a_cpu)
		e->family[e->root] = true;
	e->open = true;
}

static void run(unsigned cpu)
{
	unsigned n = roll(3000);
	int t = on_cpu[cpu];

	for (struct model *e = events; e < events + EVENTS; e++) {
		bool counts = e->open && e->enabled && (e->cpu == -1 || e->cpu == (int)cpu);

		if (counts && (e->root == -1 || (t >= 0 && e->family[t])))
			e->expect += n;
	}
	fk_cpu(fk, cpu);
	fk_run(fk, n);
}

static void switch_task(unsigned cpu)
{
	int t = (int)roll((unsigned)next_task + 1) - 1;

	if (t == 0 || (t > 0 && fk->tasks[t].dead))
		return;
	for (unsigned i = 0; i < FK_CPUS; i++)
		if (t >= 0 && on_cpu[i] == t)
			return;
	fk_cpu(fk, cpu);
	fk_switch(fk, t < 0 ? NULL : &fk->tasks[t]);
	on_cpu[cpu] = t;
}

static void fork_task(unsigned cpu)
{
	int parent = on_cpu[cpu], child = next_task;

	if (parent < 0 || child == TASKS)
		return;
	next_task++;
	fk_cpu(fk, cpu);
	ck_assert_int_eq(kperf_fork(fk->perf, &fk->tasks[parent], &fk->tasks[child], 0), 0);
	for (struct model *e = events; e < events + EVENTS; e++)
		if (e->open && e->inherit && e->family[parent])
			e->family[child] = true;
}

static void exit_task(unsigned cpu)
{
	int t = on_cpu[cpu];

	if (t < 1)
		return;
	fk_cpu(fk, cpu);
	fk_exit(fk);
	fk_reap(fk, &fk->tasks[t]);
	on_cpu[cpu] = -1;
	for (struct model *e = events; e < events + EVENTS; e++)
		e->family[t] = false;
	fk->tasks[t].dead = true;
}

static void toggle(struct model *e)
{
	if (!e->open)
		return;
	e->enabled = !e->enabled;
	if (e->enabled)
		enable(e->fd);
	else
		disable(e->fd);
}

static void step(void)
{
	struct model *e = &events[roll(EVENTS)];
	unsigned cpu = 1 + roll(FK_CPUS - 1);

	switch (roll(12)) {
	case 0:
		fk_cpu(fk, 0);
		toggle(e);
		break;
	case 1:
		fk_cpu(fk, 0);
		close_event(e);
		open_event(e);
		break;
	case 2:
		fk_cpu(fk, 0);
		if (e->open)
			check(e);
		break;
	case 3:
		fork_task(cpu);
		break;
	case 4:
		exit_task(cpu);
		break;
	case 5:
		fk_cpu(fk, cpu);
		fk_tick(fk);
		break;
	case 6:
	case 7:
	case 8:
		switch_task(cpu);
		break;
	default:
		run(roll(FK_CPUS));
		break;
	}
}

static void play(void)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15);
	fk = fk_create_smp(seed % 2 ? "linux-6.1" : "linux-6.12", 6, FK_CPUS);
	fk_grow(fk, TASKS, FK_FDS);
	next_task = 8;
	memset(events, 0, sizeof(events));
	for (unsigned i = 0; i < FK_CPUS; i++)
		on_cpu[i] = i ? -1 : 0;
	for (unsigned i = 0; i < STEPS; i++)
		step();
	fk_cpu(fk, 0);
	for (struct model *e = events; e < events + EVENTS; e++)
		close_event(e);
	for (int t = 1; t < TASKS; t++) {
		if (!fk->tasks[t].perf)
			continue;
		for (unsigned cpu = 1; cpu < FK_CPUS; cpu++) {
			fk_cpu(fk, cpu);
			if (fk->current)
				fk_switch(fk, NULL);
		}
		fk_switch(fk, &fk->tasks[t]);
		fk_exit(fk);
	}
	fk_cpu(fk, 0);
	fk_destroy(fk);
}

START_TEST(nothing_is_lost_under_any_schedule)
{
	const char *one = getenv("PMULAB_SEED"), *many = getenv("PMULAB_SEEDS");
	uint64_t last = many ? strtoull(many, NULL, 0) : SEEDS;

	seed = one ? strtoull(one, NULL, 0) : 1;
	if (one)
		last = seed;
	for (; seed <= last; seed++)
		play();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conserve");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("conserve");
	int failed;

	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, nothing_is_lost_under_any_schedule);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
