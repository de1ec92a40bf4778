/* SPDX-License-Identifier: MIT */
/*
 * pmulab-bench-records: what a record costs in handler, sample and ring code, for
 * several sets of fields, against memcpy() of the same bytes into the same ring. The
 * machine below is nothing: a flag that is always set, a counter that has just
 * wrapped, a clock that is a number; so what is measured is the perf core.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernelcore/hal.h"
#include "kernelcore/kperf.h"
#include "kernelcore/ksys.h"

enum {
	PAGES = 64,
	RING = PAGES * 4096,
	DEFAULT_RECORDS = 200000,
	ROUNDS = 11,
	STACK = 4096
};

struct ksys_task {
	void *perf;
};

struct hal {
	uint64_t ns;
};

struct ksys {
	struct hal hal;
	struct ksys_task task;
	struct kperf_event *event;
	uint8_t user[STACK]; /* the attr, then a stack of frames */
};

/* --- a machine of nothing ------------------------------------------------------ */

uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg)
{
	switch (reg) {
	case HAL_PMCR_EL0:
		return 6 << 11 | 1;
	case HAL_PMCEID0_EL0:
		return UINT32_MAX;
	case HAL_PMOVSCLR_EL0:
		return UINT64_C(1) << 31;
	case HAL_CNTFRQ_EL0:
		return 62500000;
	}
	return 0; /* PMCCNTR: it has just passed its end */
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
}

void hal_isb(struct hal *hal)
{
}

unsigned long hal_irq_save(struct hal *hal)
{
	return 0;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
}

uint64_t hal_clock_ns(struct hal *hal)
{
	return hal->ns += 16;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

unsigned hal_cpu_id(struct hal *hal)
{
	return 0;
}

void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b)
{
}

void hal_story(struct hal *hal, enum hal_story what, uint64_t id, uint64_t a, uint64_t b,
	       const void *data)
{
}

void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->pc = 0x400000;
	regs->sp = regs->x[29] = 256;
}

void hal_irq_regs(struct hal *hal, const struct hal_regs *irq, struct hal_regs *full)
{
	hal_user_regs(hal, full);
}

/* --- a kernel of nothing ------------------------------------------------------- */

struct hal *ksys_hal(struct ksys *sys)
{
	return &sys->hal;
}

unsigned ksys_ncpus(struct ksys *sys)
{
	return 1;
}

int ksys_cpu_call(struct ksys *sys, unsigned cpu, void (*fn)(void *arg), void *arg)
{
	fn(arg);
	return 0;
}

void *ksys_alloc(struct ksys *sys, size_t size)
{
	return calloc(1, size);
}

void ksys_free(struct ksys *sys, void *p)
{
	free(p);
}

void *ksys_page_alloc(struct ksys *sys)
{
	void *page = aligned_alloc(KSYS_PAGE_SIZE, KSYS_PAGE_SIZE);

	return page ? memset(page, 0, KSYS_PAGE_SIZE) : NULL;
}

void ksys_page_free(struct ksys *sys, void *page)
{
	free(page);
}

int ksys_copy_from_user(struct ksys *sys, void *dst, uint64_t uaddr, size_t size)
{
	if (uaddr > STACK || size > STACK - uaddr)
		return -EFAULT;
	memcpy(dst, sys->user + uaddr, size);
	return 0;
}

int ksys_copy_to_user(struct ksys *sys, uint64_t uaddr, const void *src, size_t size)
{
	return -EFAULT;
}

size_t ksys_copy_from_user_nofault(struct ksys *sys, void *dst, uint64_t uaddr,
				   size_t size)
{
	return ksys_copy_from_user(sys, dst, uaddr, size) ? size : 0;
}

uint64_t ksys_user_page_size(struct ksys *sys, uint64_t uaddr)
{
	return KSYS_PAGE_SIZE;
}

struct ksys_task *ksys_current(struct ksys *sys)
{
	return &sys->task;
}

struct ksys_task *ksys_find_task(struct ksys *sys, int32_t pid)
{
	return &sys->task;
}

void ksys_task_get(struct ksys_task *task)
{
}

void ksys_task_put(struct ksys *sys, struct ksys_task *task)
{
}

int ksys_task_cpu(const struct ksys_task *task)
{
	return 0;
}

bool ksys_task_dead(const struct ksys_task *task)
{
	return false;
}

bool ksys_may_attach(struct ksys *sys, const struct ksys_task *task)
{
	return true;
}

int32_t ksys_task_tgid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return 1;
}

int32_t ksys_task_tid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return 1;
}

void **ksys_task_perf(struct ksys_task *task)
{
	return &task->perf;
}

int ksys_fd_reserve(struct ksys *sys, bool cloexec)
{
	return 3;
}

void ksys_fd_cancel(struct ksys *sys, int fd)
{
}

void ksys_fd_install(struct ksys *sys, int fd, struct kperf_event *event)
{
	sys->event = event;
}

int ksys_fd_event(struct ksys *sys, int fd, struct kperf_event **out)
{
	return -EBADF;
}

bool ksys_capable(struct ksys *sys, enum ksys_cap cap)
{
	return true;
}

int ksys_lock_pages(struct ksys *sys, uint64_t pages, uint64_t user_limit, bool enforce,
		    struct ksys_lock *lock)
{
	return 0;
}

void ksys_unlock_pages(struct ksys *sys, struct ksys_lock *lock)
{
}

int64_t ksys_sysctl(struct ksys *sys, enum ksys_sysctl name)
{
	return name == KSYS_SYSCTL_MAX_SAMPLE_RATE ? 100000000 : 0;
}

int ksys_irq_request(struct ksys *sys, unsigned intid)
{
	return 0;
}

void ksys_irq_enable(struct ksys *sys, struct hal *hal, unsigned intid, bool on)
{
}

const struct hal_regs *ksys_irq_regs(struct ksys *sys)
{
	return NULL;
}

void ksys_irq_work_queue(struct ksys *sys, struct ksys_irq_work *work)
{
}

void ksys_irq_work_cancel(struct ksys *sys, struct ksys_irq_work *work)
{
}

void ksys_hrtimer_start(struct ksys *sys, struct ksys_hrtimer *timer, uint64_t expires)
{
}

void ksys_hrtimer_cancel(struct ksys *sys, struct ksys_hrtimer *timer)
{
}

void ksys_tick_need(struct ksys *sys, struct hal *hal, bool on)
{
}

bool ksys_sigio_wanted(struct ksys *sys, const struct kperf_event *event)
{
	return false;
}

void ksys_sigio(struct ksys *sys, struct kperf_event *event, bool hup)
{
}

void ksys_poll_wake(struct ksys *sys, struct kperf_event *event)
{
}

/* --- the measurement ------------------------------------------------------------ */

#define IP_TID_TIME_PERIOD \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static const struct field_set {
	const char *name;
	uint64_t type;
} sets[] = {
	{"nothing", 0},
	{"ip", PERF_SAMPLE_IP},
	{"ip tid time period", IP_TID_TIME_PERIOD},
	{"all nine scalars", IP_TID_TIME_PERIOD | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				     PERF_SAMPLE_IDENTIFIER},
	{"ip read", PERF_SAMPLE_IP | PERF_SAMPLE_READ},
	{"ip callchain of 8", PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN},
	{"ip regs-user", PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER},
	{"ip stack-user 1024", PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER},
};

static double now_ns(void)
{
	struct timespec t;

	/* this program's own time: others on the CPU do not count */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void put_frames(struct ksys *sys)
{
	for (uint64_t i = 0; i < 7; i++) {
		uint64_t frame[2] = {i < 6 ? 256 + 16 * (i + 1) : 0, 0x400000 + 4 * i};

		memcpy(sys->user + 256 + 16 * i, frame, sizeof(frame));
	}
}

static struct kperf_event *open_set(struct ksys *sys, struct kperf *perf, uint64_t type)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = 128;
	attr.type = PERF_TYPE_HARDWARE;
	attr.sample_period = 1000;
	attr.sample_type = type;
	attr.exclude_kernel = 1;
	attr.sample_regs_user = (UINT64_C(1) << 33) - 1;
	attr.sample_stack_user = 1024;
	memcpy(sys->user, &attr, sizeof(attr) < 128 ? sizeof(attr) : 128);
	if (kperf_open(perf, 0, 0, -1, -1, 0) < 0) {
		fprintf(stderr, "bench-records: no event\n");
		exit(1);
	}
	return sys->event;
}

struct target {
	struct kperf *perf;
	struct ksys *sys;
	struct perf_event_mmap_page *page;
	uint8_t *copy; /* where memcpy() goes */
	uint64_t bytes;
};

static double ns_a_record(const struct target *t, unsigned long records)
{
	static const struct hal_regs regs = {.pc = 0x400100};
	double start = now_ns();

	for (unsigned long i = 0; i < records; i++) {
		kperf_irq(t->perf, &t->sys->hal, &regs);
		t->page->data_tail = t->page->data_head;
	}
	return (now_ns() - start) / (double)records;
}

static double ns_a_copy(const struct target *t, unsigned long records)
{
	static uint8_t from[4096];
	double start = now_ns();
	uint64_t at = 0;

	for (unsigned long i = 0; i < records; i++) {
		memcpy(t->copy + at, from, t->bytes);
		__asm__ volatile("" ::: "memory");
		at = (at + t->bytes) % (RING - 4096);
	}
	return (now_ns() - start) / (double)records;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double (*measure)(const struct target *, unsigned long),
		     const struct target *t, unsigned long records)
{
	double rounds[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		rounds[i] = measure(t, records);
	qsort(rounds, ROUNDS, sizeof(rounds[0]), ascending);
	return rounds[ROUNDS / 2];
}

static void bench(struct ksys *sys, struct kperf *perf, const struct field_set *set,
		  unsigned long records)
{
	struct kperf_event *event = open_set(sys, perf, set->type);
	struct target t = {perf, sys, NULL, malloc(RING), 0};
	static const struct hal_regs regs = {.pc = 0x400100};
	void *const *pages;
	size_t npages;
	double record, copy;

	if (!t.copy ||
	    kperf_mmap(event, RING + 4096, 0, KPERF_PROT_READ | KPERF_PROT_WRITE,
		       KPERF_MAP_SHARED, &pages, &npages))
		exit(1);
	t.page = pages[0];
	kperf_irq(perf, &sys->hal, &regs);
	t.bytes = t.page->data_head;
	record = median(ns_a_record, &t, records);
	copy = median(ns_a_copy, &t, records);
	printf("%-20s %6llu %10.1f %10.2f %8.1f\n", set->name,
	       (unsigned long long)t.bytes, record, copy, record / copy);
	kperf_munmap(event);
	kperf_release(event);
	free(t.copy);
}

int main(int argc, char **argv)
{
	unsigned long records = DEFAULT_RECORDS;
	struct ksys *sys = calloc(1, sizeof(*sys));
	struct kperf *perf;
	char *end;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("usage: bench-records [RECORDS]\n\n"
		     "ns a record through handler, sample and ring code, and of memcpy() "
		     "of\n"
		     "its bytes: medians of 11 rounds of RECORDS (200000) each.");
		return 0;
	}
	if (argc == 2)
		records = strtoul(argv[1], &end, 10);
	if (argc > 2 || !records || (argc == 2 && *end)) {
		fprintf(stderr, "bench-records: not a number of records (--help)\n");
		return 2;
	}
	if (!sys || kperf_create(sys, "linux-6.1", &perf) ||
	    kperf_cpu_online(perf, &sys->hal))
		return 1;
	put_frames(sys);
	printf("%-20s %6s %10s %10s %8s\n", "fields", "bytes", "ns/record", "ns/memcpy",
	       "ratio");
	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		bench(sys, perf, &sets[i], records);
	kperf_destroy(perf);
	free(sys);
	return 0;
}
