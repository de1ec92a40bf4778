/* SPDX-License-Identifier: MIT */
/*
 * The kernel of sys/ on a machine of plain memory: no instruction is executed,
 * tests call the kernel as a program would and look at what it left. The perf core
 * under it keeps a diary and nothing else.
 */
#ifndef PMULAB_CONFORMANCE_BARE_MACHINE_H
#define PMULAB_CONFORMANCE_BARE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/hal.h"
#include "kernelcore/kentry.h"
#include "kernelcore/kperf.h"
#include "kernelcore/ksys.h"

enum {
	BM_RAM_BASE = 0x40000000,
	BM_RAM_SIZE = 16 << 20,
	BM_CODE = 0x400000, /* one page, r-x */
	BM_DATA = 0x500000, /* two pages, rw-; the second is not in the file */
	BM_DIARY = 8192,
	BM_RING_PAGES = 9,
};

/* arm64's numbers. */
enum {
	BM_DUP = 23,
	BM_DUP3 = 24,
	BM_FCNTL = 25,
	BM_IOCTL = 29,
	BM_FTRUNCATE = 46,
	BM_OPENAT = 56,
	BM_CLOSE = 57,
	BM_LSEEK = 62,
	BM_READ = 63,
	BM_WRITE = 64,
	BM_PREAD64 = 67,
	BM_PPOLL = 73,
	BM_FSTAT = 80,
	BM_EXIT = 93,
	BM_GETRLIMIT = 163,
	BM_SETRLIMIT = 164,
	BM_GETPID = 172,
	BM_MUNMAP = 215,
	BM_MMAP = 222,
	BM_MPROTECT = 226,
	BM_MADVISE = 233,
	BM_PERF_EVENT_OPEN = 241,
	BM_PRLIMIT64 = 261,
};

struct kperf_event {
	int id; /* 1, 2, ... in the order of their opening */
	struct bare_machine *bm;
	unsigned mapped, released;
	void *page[BM_RING_PAGES];
};

struct hal {
	struct bare_machine *bm;
	unsigned cpu;
	bool masked;
};

struct bare_machine {
	uint8_t *ram;
	struct hal hal;
	struct ksys *sys;
	struct hal_context user; /* what EL0 would go on with */
	uint64_t clock_ns, timer; /* ns; timer: its compare value */
	bool timer_on;
	uint64_t ttbr0;
	unsigned ttbr_writes;
	unsigned long waits;
	uint64_t sw[KPERF_SWS], sw_user[KPERF_SWS]; /* all, and those at EL0 */
	uint64_t sw_addr; /* of the last one */
	int events;
	struct kperf_event *event[64];
	char diary[BM_DIARY]; /* a word an act of perf's: "open1 release1 exit" */
	char output[1024];
	size_t noutput;
};

/* Booted as linux-6.1, a program of the two areas above started. */
struct bare_machine *bm_create(void);
/* A kernel that has not ended yet is shut down. */
void bm_destroy(struct bare_machine *bm);

/* A system call of the program. */
long bm_call(struct bare_machine *bm, uint64_t nr, uint64_t a, uint64_t b, uint64_t c,
	     uint64_t d, uint64_t e, uint64_t f);
#define BM_CALL_(bm, nr, a, b, c, d, e, f, ...)                                            \
	bm_call(bm, nr, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), \
		(uint64_t)(e), (uint64_t)(f))
#define bm_sys(bm, ...) BM_CALL_(bm, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* EL0 touches the byte at @va as the page tables in memory have it: it takes what
 * aborts there are. How many; -1: the program ended. */
enum bm_access { BM_READS, BM_WRITES, BM_EXECUTES };
int bm_touch(struct bare_machine *bm, uint64_t va, enum bm_access access);
/* The byte's value and place in RAM, NULL when it is not mapped. */
uint8_t *bm_byte(struct bare_machine *bm, uint64_t va);

/* Pages that are not free. */
uint64_t bm_pages(struct bare_machine *bm);
/* Fault counts since the last call: all, and those at EL0. */
struct bm_faults {
	uint64_t all, min, user;
};
struct bm_faults bm_faults(struct bare_machine *bm);

/* An exception other than a system call at EL0. */
void bm_fault(struct bare_machine *bm, uint64_t esr, uint64_t far);

/* The program's memory by the kernel's own copy; the test fails when it cannot. */
void bm_poke(struct bare_machine *bm, uint64_t va, const void *data, size_t n);
void bm_peek(struct bare_machine *bm, uint64_t va, void *data, size_t n);

/* A perf event of the program: its fd. */
int bm_event(struct bare_machine *bm);

/* The diary since the last call. */
const char *bm_diary(struct bare_machine *bm);

#endif
