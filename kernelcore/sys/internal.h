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
	MAX_AREAS = 96,
	SLAB_CLASSES = 8, /* 32 bytes .. 4096 bytes */
	INTIDS = 32,
};

enum area_prot {
	AREA_READ = 1,
	AREA_WRITE = 2,
	AREA_EXEC = 4,
};

/* [start, end) of user address space, page aligned, end > start. */
struct area {
	uint64_t start, end;
	unsigned prot;
	struct kperf_event *event; /* a ring, or NULL: private memory */
};

struct mm {
	unsigned refs;
	uint64_t *pgd; /* level 1 table: 39-bit addresses, 4 KiB pages */
	uint16_t asid;
	struct area area[MAX_AREAS];
	unsigned nareas;
};

struct slab_free {
	struct slab_free *next;
};

/* Pages: never-used ones from [fresh, end) are zero already; freed ones wait
 * on a list and are zeroed when they are given out again. */
struct page_pool {
	uint64_t fresh, end; /* physical */
	struct slab_free *freed;
	struct slab_free *slab[SLAB_CLASSES];
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
	const uint8_t *image; /* what exec starts */
	size_t image_size;
	int64_t sysctl[KSYS_SYSCTLS];
	/* 6.1's mmap_region() says ENOMEM when MAP_FIXED cannot unmap what is
	 * there; later kernels pass the reason on. */
	bool unmap_failure_enomem;
	uint32_t irq_requested; /* by INTID */
	const uint8_t *input;
	size_t input_size, input_at;
};

/* page.c */
void page_pool_init(struct page_pool *pool, uint64_t base, uint64_t end);

/* mm.c */

/* One reference to an empty address space; NULL without memory. */
struct mm *mm_create(struct ksys *sys);
void mm_get(struct mm *mm);
void mm_put(struct ksys *sys, struct mm *mm);
/* Does anybody else hold it? */
bool mm_shared(const struct mm *mm);
/* The same contents in pages of its own; rings stay with the original. */
struct mm *mm_copy(struct ksys *sys, struct mm *mm);
/* To user memory that need not be the current task's; bytes not mapped are left out. */
void mm_copy_to(struct ksys *sys, struct mm *mm, uint64_t va, const void *src, size_t n);
void mm_activate(struct ksys *sys, const struct mm *mm);
int mm_map_anon(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size,
		unsigned prot);
int mm_map_pages(struct ksys *sys, struct mm *mm, uint64_t start, void *const *pages,
		 size_t npages, unsigned prot, struct kperf_event *event);
int mm_unmap(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size);
uint64_t mm_find_free(const struct mm *mm, uint64_t size);
/* Kernel address of user byte @va if it is mapped with @prot; NULL if not. */
uint8_t *mm_user_byte(struct ksys *sys, const struct mm *mm, uint64_t va, unsigned prot);

/* elf.c */
int elf_load(struct ksys *sys, struct mm *mm, const uint8_t *image, size_t size,
	     uint64_t *entry);

/* syscall.c */
long syscall_dispatch(struct ksys *sys, uint64_t nr, const uint64_t args[6]);
/* The pending call of @task, which is current, once more. */
void syscall_again(struct ksys *sys, struct ksys_task *task);

/* irq.c */
void irq_init(struct sys_cpu *cpu);
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
