/* SPDX-License-Identifier: MIT */
/*
 * The few things that a program without libc needs, for the agent and for
 * init. AArch64 Linux only.
 */
#ifndef PMULAB_AGENT_BARE_H
#define PMULAB_AGENT_BARE_H

#include <stddef.h>
#include <stdint.h>
#include <asm/unistd.h>

/* Returns what the kernel gave: a value or -errno. */
static inline long bare_syscall(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory", "cc");
	return x0;
}

static inline long bare_mmap(long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = __NR_mmap;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

__attribute__((noreturn)) static inline void bare_exit(int status)
{
	for (;;)
		bare_syscall(__NR_exit_group, status, 0, 0, 0, 0);
}

static inline size_t bare_strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* Leaves the program with status 4 when the descriptor takes no more. */
static inline void bare_write(int fd, const char *p, size_t n)
{
	while (n) {
		long done = bare_syscall(__NR_write, fd, (long)p, (long)n, 0, 0);

		if (done == -4) /* EINTR */
			continue;
		if (done <= 0)
			bare_exit(4);
		p += done;
		n -= (size_t)done;
	}
}

#endif
