/* SPDX-License-Identifier: MIT */
/*
 * Tasks that do things by chance, counted by every event that could count them:
 * what the counts come to in the end is known, whatever the schedule was.
 *
 * attach: threads, an event for each (pid=THREAD) and one for each CPU (pid=-1).
 * inherit: one event of main's that its children inherit, and one for each CPU;
 * main and its children fork, exit and wait.
 */
#include "conformance/tasks/mill.h"
#include "conformance/tasks/program.h"

enum { STACK = 4096, CYCLES = 0, INSTRUCTIONS = 1 };

static struct mill_config config;
static struct mill_result result;
static uint8_t stacks[MILL_TASKS][STACK] __attribute__((aligned(16)));
static int tids[MILL_TASKS], go, stop, done, lock;
static long events[2 * MILL_TASKS + MILL_CPUS];
static unsigned nevents;

static uint64_t roll(uint64_t *seed, uint64_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % n;
}

static void doze(uint64_t ns)
{
	volatile uint64_t ts[2] = { 0, ns };

	call(NR_NANOSLEEP, ts, 0);
}

static void move(uint64_t *seed)
{
	volatile uint64_t mask = 1 + roll(seed, (UINT64_C(1) << config.cpus) - 1);

	call(NR_SETAFFINITY, 0, 8, &mask);
}

/* Two that want the same lock wait for each other. */
static void contend(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		call(NR_FUTEX, &lock, FUTEX_WAIT, 1, 0);
	spin(50);
	post(&lock, 0);
}

static void offspring(uint64_t *seed, unsigned depth);

static void act(uint64_t *seed, unsigned depth)
{
	switch (roll(seed, 9)) {
	case 0:
		call(NR_YIELD);
		break;
	case 1:
		doze(roll(seed, 30000));
		break;
	case 2:
		move(seed);
		break;
	case 3:
		if (!config.inherit)
			contend();
		break;
	case 4:
		call(NR_GETTID);
		break;
	case 5:
		if (config.inherit && depth < 2)
			offspring(seed, depth + 1);
		break;
	default:
		spin(roll(seed, 4000));
	}
}

static void offspring(uint64_t *seed, unsigned depth)
{
	long child = call(NR_CLONE, SIGCHLD, 0, 0, 0, 0);

	if (!child) {
		for (unsigned i = 0; i < config.acts / 2; i++)
			act(seed, depth);
		call(NR_EXIT_GROUP, 0);
	}
	act(seed, depth);
	if (child > 0)
		call(NR_WAIT4, child, 0, 0, 0);
}

static long work(void *arg)
{
	uint64_t seed = config.seed * 77 + (uint64_t)(uintptr_t)arg + 1;

	wait_while(&go, 0);
	for (unsigned i = 0; i < config.acts; i++)
		act(&seed, 0);
	__atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
	call(NR_FUTEX, &done, FUTEX_WAKE, 1);
	if (!config.inherit)
		wait_while(&stop, 0); /* a dead task cannot be read */
	return 0;
}

static void open_cpus(void)
{
	volatile struct attr attr;

	fill_attr(&attr, INSTRUCTIONS, 0, ATTR_DISABLED | ATTR_EXCLUDE_KERNEL);
	for (unsigned i = 0; i < config.cpus; i++)
		events[nevents++] = open_event(&attr, -1, i);
}

static void start(unsigned i)
{
	tids[i] = 1;
	if (thread(THREAD_FLAGS, stacks[i] + STACK, &tids[i], work, (void *)(uintptr_t)i) < 0)
		result.failed = 1;
}

/* An event for each task; of an odd one its cycles are sampled. */
static void open_task(long pid, unsigned i)
{
	volatile struct attr attr;

	fill_attr(&attr, i & 1 ? CYCLES : INSTRUCTIONS, i & 1 ? config.period : 0,
		  ATTR_DISABLED | ATTR_EXCLUDE_KERNEL |
			  (config.inherit ? ATTR_INHERIT : 0));
	events[nevents++] = open_event(&attr, pid, -1);
}

static void wait_all(void)
{
	int n;

	while ((n = load(&done)) != (int)config.tasks)
		call(NR_FUTEX, &done, FUTEX_WAIT, n, 0);
}

static void read_all(void)
{
	for (unsigned i = 0; i < nevents; i++) {
		uint64_t count = events[i] < 0 ? UINT64_MAX : read_event(events[i]);

		if (events[i] < 0 || count == UINT64_MAX)
			result.failed = (uint64_t)(1000 + i);
		else if (i < config.cpus)
			result.cpus += count;
		else
			result.tasks += count;
	}
}

long program(const uint64_t *stack)
{
	(void)stack;
	if (call(NR_READ, 0, &config, sizeof(config)) != sizeof(config))
		return 1;
	open_cpus();
	open_task(0, 0);
	if (!config.inherit)
		for (unsigned i = 0; i < config.tasks; i++)
			start(i);
	for (unsigned i = 0; !config.inherit && i < config.tasks; i++)
		open_task(tids[i], i + 1);
	call(NR_PRCTL, PR_ENABLE);
	if (config.inherit)
		for (unsigned i = 0; i < config.tasks; i++)
			start(i);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	call(NR_FUTEX, &go, FUTEX_WAKE, 1 << 30);
	wait_all();
	call(NR_PRCTL, PR_DISABLE);
	read_all();
	call(NR_WRITE, 1, &result, sizeof(result));
	return 0;
}
