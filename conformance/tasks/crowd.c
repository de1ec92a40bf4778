/* SPDX-License-Identifier: MIT */
/* Many threads with some events each, which are closed before, while or after their
 * target runs; some never. */
#include "conformance/tasks/crowd.h"
#include "conformance/tasks/program.h"

enum {
	STACK = 512,
	RLIMIT_NOFILE = 7,
	FDS = 7000,
	ORDERS = 6,
	CLOSED_FIRST = 0,
	CLOSED_RUNNING = 1,
	HALF_RUNNING = 2,
	CLOSED_DEAD = 3,
	READ_DEAD = 4, /* and 5: never closed */
};

static struct crowd_config config;
static uint8_t stacks[CROWD_TASKS][STACK] __attribute__((aligned(16)));
static int tids[CROWD_TASKS], go, done, stop;
static long fds[CROWD_TASKS][CROWD_EVENTS];

static long work(void *arg)
{
	(void)arg;
	wait_while(&go, 0);
	for (uint64_t i = 0; i < config.rounds; i++) {
		spin(10);
		call(NR_YIELD);
	}
	__atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
	call(NR_FUTEX, &done, FUTEX_WAKE, 1);
	wait_while(&stop, 0);
	return 0;
}

static int start(uint64_t i)
{
	volatile struct attr attr;

	tids[i] = 1;
	if (thread(THREAD_FLAGS, stacks[i] + STACK, &tids[i], work, 0) < 0)
		return 0;
	for (uint64_t n = 0; n < config.events; n++) {
		fill_attr(&attr, n & 1, n == 3 ? 5000 : 0, ATTR_EXCLUDE_KERNEL);
		fds[i][n] = open_event(&attr, tids[i], -1);
		if (fds[i][n] < 0)
			return 0;
	}
	return 1;
}

/* Of each task whose order is @order: the events from @from on. */
static void close_some(uint64_t order, uint64_t from)
{
	for (uint64_t i = order; config.orders && i < config.tasks; i += ORDERS)
		for (uint64_t n = from; n < config.events; n++)
			call(NR_CLOSE, fds[i][n]);
}

static int read_some(uint64_t order)
{
	for (uint64_t i = order; config.orders && i < config.tasks; i += ORDERS)
		for (uint64_t n = 0; n < config.events; n++)
			if (read_event(fds[i][n]) == UINT64_MAX)
				return 0;
	return 1;
}

static void wait_all(void)
{
	int n;

	while ((n = load(&done)) != (int)config.tasks)
		call(NR_FUTEX, &done, FUTEX_WAIT, n, 0);
}

long program(const uint64_t *stack)
{
	const uint64_t limit[2] = { FDS, FDS };

	(void)stack;
	if (call(NR_READ, 0, &config, sizeof(config)) != sizeof(config))
		return 1;
	if (call(NR_SETRLIMIT, RLIMIT_NOFILE, limit))
		return 2;
	for (uint64_t i = 0; i < config.tasks; i++)
		if (!start(i))
			return 3;
	close_some(CLOSED_FIRST, 0);
	post(&go, 1);
	call(NR_YIELD);
	close_some(CLOSED_RUNNING, 0);
	close_some(HALF_RUNNING, config.events / 2);
	wait_all();
	if (!config.orders)
		return 0;
	post(&stop, 1);
	for (uint64_t i = 0; i < config.tasks; i++)
		while (load(&tids[i]))
			call(NR_FUTEX, &tids[i], FUTEX_WAIT, tids[i], 0);
	if (!read_some(READ_DEAD))
		return 4;
	close_some(CLOSED_DEAD, 0);
	close_some(READ_DEAD, 0);
	return 0;
}
