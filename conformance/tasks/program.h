/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share: AArch64 Linux, no libc. */
#ifndef PMULAB_CONFORMANCE_TASKS_PROGRAM_H
#define PMULAB_CONFORMANCE_TASKS_PROGRAM_H

#include <stdint.h>

long call6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t nr);
long thread(uint64_t flags, void *stack_top, int *tid, long (*fn)(void *), void *arg);
void spin(uint64_t n);
/* @stack: argc, argv. */
long program(const uint64_t *stack);

#define CALL_(nr, a, b, c, d, e, f, ...)                                                  \
	call6((uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e), \
	      (uint64_t)(f), nr)
#define call(nr, ...) CALL_(nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

enum {
	NR_IOCTL = 29,
	NR_CLOSE = 57,
	NR_READ = 63,
	NR_WRITE = 64,
	NR_EXIT = 93,
	NR_EXIT_GROUP = 94,
	NR_UNSHARE = 97,
	NR_FUTEX = 98,
	NR_NANOSLEEP = 101,
	NR_SETAFFINITY = 122,
	NR_GETAFFINITY = 123,
	NR_YIELD = 124,
	NR_SETRLIMIT = 164,
	NR_PRCTL = 167,
	NR_GETPID = 172,
	NR_GETPPID = 173,
	NR_GETTID = 178,
	NR_CLONE = 220,
	NR_EXECVE = 221,
	NR_MMAP = 222,
	NR_PERF_EVENT_OPEN = 241,
	NR_WAIT4 = 260,

	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	PR_DISABLE = 31,
	PR_ENABLE = 32,
	SIGCHLD = 17,
	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, CHILD_CLEARTID, CHILD_SETTID */
	THREAD_FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000 | 0x1000000,
};

/* The first 128 bytes of struct perf_event_attr, which this is all of. */
struct attr {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags;
	uint32_t wakeup, bp_type;
	uint64_t rest[9];
};
_Static_assert(sizeof(struct attr) == 128, "struct perf_event_attr");

enum {
	ATTR_DISABLED = 1,
	ATTR_INHERIT = 2,
	ATTR_EXCLUDE_KERNEL = 1 << 5,
};

/* No memcpy of anybody's is linked. */
static inline void fill_attr(volatile struct attr *attr, uint64_t config, uint64_t period,
			     uint64_t flags)
{
	for (unsigned i = 0; i < sizeof(*attr) / 8; i++)
		((volatile uint64_t *)attr)[i] = 0;
	attr->size = sizeof(*attr);
	attr->config = config;
	attr->period = period;
	attr->sample_type = 1;
	attr->flags = flags;
}

static inline long open_event(const volatile struct attr *attr, long pid, long cpu)
{
	return call(NR_PERF_EVENT_OPEN, attr, pid, cpu, -1, 0);
}

static inline uint64_t read_event(long fd)
{
	volatile uint64_t value = 0;

	return call(NR_READ, fd, &value, 8) == 8 ? value : UINT64_MAX;
}

static inline int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Until *word is no longer @value. */
static inline void wait_while(int *word, int value)
{
	while (load(word) == value)
		call(NR_FUTEX, word, FUTEX_WAIT, value, 0);
}

static inline void post(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	call(NR_FUTEX, word, FUTEX_WAKE, 1 << 30);
}

#endif
