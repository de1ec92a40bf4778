/* SPDX-License-Identifier: MIT */
/*
 * A task's whole life under one event that counts nothing by itself: fork, exec in
 * the child, switches, a move to the second CPU and back, the child's end, wait,
 * close. What is injected meanwhile is all that the count may be.
 */
#include "conformance/tasks/program.h"

enum { TYPE_RAW = 4, SW_INCR = 0, PERIOD = 1000 };

static void on_cpu(unsigned cpu)
{
	volatile uint64_t mask = UINT64_C(1) << cpu;

	call(NR_SETAFFINITY, 0, 8, &mask);
}

static void child(void)
{
	static const char path[] = "/proc/self/exe", name[] = "x";
	const char *volatile argv[3];

	argv[0] = name;
	argv[1] = name;
	argv[2] = 0;
	call(NR_EXECVE, path, argv, 0);
	call(NR_EXIT_GROUP, 9);
}

long program(const uint64_t *stack)
{
	volatile struct attr attr;
	volatile uint64_t count;
	volatile int status = -1;
	long fd, pid;

	if (stack[0] > 1) { /* the new image */
		spin(20);
		return 7;
	}
	fill_attr(&attr, SW_INCR, PERIOD, ATTR_DISABLED | ATTR_INHERIT);
	attr.type = TYPE_RAW;
	fd = open_event(&attr, 0, -1);
	if (fd < 0)
		return 1;
	call(NR_PRCTL, PR_ENABLE);
	pid = call(NR_CLONE, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		child();
	call(NR_YIELD);
	on_cpu(1);
	spin(30);
	call(NR_YIELD);
	if (call(NR_WAIT4, pid, &status, 0, 0) != pid || status != 7 << 8)
		return 2;
	on_cpu(0);
	call(NR_PRCTL, PR_DISABLE);
	count = read_event(fd);
	call(NR_CLOSE, fd);
	call(NR_WRITE, 1, &count, 8);
	return 0;
}
