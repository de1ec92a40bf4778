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

enum {
	PAGE_SHIFT = 12,
	PAGE_SIZE = KSYS_PAGE_SIZE,
	MAX_FDS = 256,	/* RLIMIT_NOFILE of the one task */
	MAX_AREAS = 96,
	SLAB_CLASSES = 8, /* 32 bytes .. 4096 bytes */
	INTIDS = 32,
};

enum file_kind {
	FILE_NONE,
	FILE_RESERVED,
	FILE_INPUT,
	FILE_OUTPUT,
	FILE_PERF,
};

struct file {
	enum file_kind kind;
	bool cloexec;
	uint32_t flags;		   /* F_SETFL's */
	struct kperf_event *event; /* FILE_PERF */
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
	uint64_t *pgd; /* level 1 table: 39-bit addresses, 4 KiB pages */
	uint16_t asid;
	struct area area[MAX_AREAS];
	unsigned nareas;
};

struct ksys_task {
	int32_t tgid, tid;
	bool dead;
	void *perf;
	struct mm mm;
	struct file file[MAX_FDS];
	struct kentry_status status;
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
	struct hal *hal;
	struct kperf *perf;
	struct page_pool pool;
	struct ksys_task *task; /* the one task, NULL before exec */
	int64_t sysctl[KSYS_SYSCTLS];
	/* 6.1's mmap_region() says ENOMEM when MAP_FIXED cannot unmap what is
	 * there; later kernels pass the reason on. */
	bool unmap_failure_enomem;
	uint32_t irq_requested; /* by INTID */
	unsigned irq_depth;
	struct ksys_irq_work *work_head, **work_tail;
	const uint8_t *input;
	size_t input_size, input_at;
};

/* page.c */
void page_pool_init(struct page_pool *pool, uint64_t base, uint64_t end);

/* mm.c */
int mm_init(struct ksys *sys, struct mm *mm);
void mm_activate(struct ksys *sys, const struct mm *mm);
int mm_map_anon(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size,
		unsigned prot);
int mm_map_pages(struct ksys *sys, struct mm *mm, uint64_t start, void *const *pages,
		 size_t npages, unsigned prot, struct kperf_event *event);
int mm_unmap(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size);
uint64_t mm_find_free(const struct mm *mm, uint64_t size);
/* Kernel address of user byte @va if it is mapped with @prot; NULL if not. */
uint8_t *mm_user_byte(struct ksys *sys, const struct mm *mm, uint64_t va, unsigned prot);
void mm_destroy(struct ksys *sys, struct mm *mm);

/* elf.c */
int elf_load(struct ksys *sys, struct mm *mm, const uint8_t *image, size_t size,
	     uint64_t *entry);

/* fd.c */
struct file *fd_get(struct ksys_task *task, int64_t fd);
long fd_close(struct ksys *sys, int64_t fd);
void fd_close_all(struct ksys *sys, struct ksys_task *task);

/* syscall.c */
long syscall_dispatch(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* irq.c */
void irq_init(struct ksys *sys);
void irq_work_run(struct ksys *sys);

/* task.c */
void task_exit(struct ksys *sys, int code, int signal);

static inline uint64_t page_up(uint64_t n)
{
	return (n + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
}

#endif
