/* SPDX-License-Identifier: MIT */
/*
 * The little kernel's own state. One task for now; the perf core sees it only
 * through ksys.h.
 */
#ifndef PMULAB_KERNELCORE_SYS_INTERNAL_H
#define PMULAB_KERNELCORE_SYS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/errno.h>

#include "kernelcore/hal.h"
#include "kernelcore/kentry.h"
#include "kernelcore/kperf.h"
#include "kernelcore/ksys.h"
#include "kernelcore/sys/task.h"

enum {
	PAGE_SHIFT = 12,
	PAGE_SIZE = KSYS_PAGE_SIZE,
	SLAB_CLASSES = 8, /* 32 bytes .. 4096 bytes */
	BIG_PAGES = 17, /* of the largest object of ksys_alloc() */
	INTIDS = 32,
};

struct slab_free {
	struct slab_free *next;
};

/* Pages: never-used ones from [fresh, end) are zero already; freed ones wait
 * on a list and are zeroed when they are given out again. The list's links lie where
 * the references are counted, so that giving back a page nobody touched, as most of
 * what is populated, does not touch it. */
struct page_pool {
	uint64_t base, fresh, end; /* physical */
	uint64_t nfreed;
	uint32_t *refs; /* of user pages, from base on; of freed ones the next, as freed */
	uint32_t freed; /* the first's number from base on, and 1; 0: none */
	struct slab_free *slab[SLAB_CLASSES];
	struct slab_free *big[BIG_PAGES + 1]; /* larger ones that were freed, by their pages */
};

struct ksys {
	struct sys_cpu cpu[KSYS_MAX_CPUS];
	unsigned ncpus;
	struct kperf *perf;
	struct page_pool pool;
	struct group *first; /* the first program's, NULL before exec */
	struct kentry_status status; /* its */
	struct pid_ns *pid_ns;
	struct ksys_task *tasks, *by_pid[PID_BUCKETS];
	struct task_queue sleepers[SLEEP_BUCKETS];
	uint64_t seed; /* of the schedule; 0: none */
	struct memobj *image; /* the program's file, what exec starts */
	struct mm *mms; /* all */
	struct user *users; /* that have locked pages */
	const void *hostile; /* header page of a ring that the laboratory scribbles on */
	struct mm *unmapping; /* from which a ring is unmapped now; else NULL */
	struct sigqueue *sigqueues; /* free */
	struct file *async_files;   /* that have O_ASYNC */
	unsigned next_asid;
	void *zero_page; /* what reading untouched memory sees */
	int64_t sysctl[KSYS_SYSCTLS];
	/* 6.1's mmap_region() says ENOMEM when MAP_FIXED cannot unmap what is
	 * there; later kernels pass the reason on. */
	bool unmap_failure_enomem;
	uint32_t irq_requested; /* by INTID */
	const uint8_t *input;
	size_t input_size, input_at;
};

/* page.c */
void page_pool_init(struct hal *hal, struct page_pool *pool, uint64_t base, uint64_t end);
/* Pages that are not free. */
uint64_t page_pool_used(const struct page_pool *pool);
/* A zeroed page with one reference; NULL without memory. */
void *page_new(struct ksys *sys);
void page_get(struct ksys *sys, void *page);
void page_put(struct ksys *sys, void *page);
bool page_is_shared(struct ksys *sys, const void *page);

/* elf.c: map the program in @image. -ENOEXEC, -ENOMEM. */
int elf_load(struct ksys *sys, struct mm *mm, struct memobj *image, uint64_t *entry);

/* syscall.c */
long syscall_dispatch(struct ksys *sys, uint64_t nr, const uint64_t args[6]);
/* The pending call of @task, which is current, once more. */
void syscall_again(struct ksys *sys, struct ksys_task *task);

/* The laboratory leaves this page alone, if it is the one: it is about to go. */
void syscall_end_hostile(struct ksys *sys, const void *page);

/* irq.c */
void irq_init(struct ksys *sys, struct sys_cpu *cpu);
void irq_work_run(struct sys_cpu *cpu);

/* timer.c; [irq], IRQs masked */
void timer_irq(struct ksys *sys, struct sys_cpu *cpu, const struct hal_regs *regs);
/* Does the scheduler want the CPU's tick? On that CPU. */
void timer_sched_tick(struct ksys *sys, struct sys_cpu *cpu, bool on);

static inline struct sys_cpu *sys_cpu_of(struct ksys *sys, struct hal *hal)
{
	return &sys->cpu[hal_cpu_id(hal)];
}

static inline struct sys_cpu *sys_this_cpu(struct ksys *sys)
{
	return sys_cpu_of(sys, ksys_hal(sys));
}

/* What everybody sleeps on who polls. */
static inline struct channel poll_channel(const struct ksys *sys)
{
	return (struct channel){ sys, 0 };
}

static inline uint64_t page_up(uint64_t n)
{
	return (n + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
}

#endif
