/* SPDX-License-Identifier: MIT */
/*
 * User address spaces. A struct mm is shared by threads and copied by fork(2); it
 * is a sorted list of areas, and page tables that faults fill: nothing is mapped
 * before it is touched, as on Linux, because faults are counted.
 *
 * Process context unless a line says otherwise.
 */
#ifndef PMULAB_KERNELCORE_SYS_MM_H
#define PMULAB_KERNELCORE_SYS_MM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct hal;
struct hal_regs;
struct ksys;
struct kperf_event;
struct memobj;

enum area_prot {
	AREA_READ = 1,
	AREA_WRITE = 2,
	AREA_EXEC = 4,
};

/* [start, end) of user address space, page aligned, end > start. */
struct area {
	struct area *next;
	uint64_t start, end;
	unsigned prot;
	bool shared;
	bool grows_down;     /* the stack */
	bool private_pages;  /* has pages of its own (Linux: an anon_vma) */
	struct file *file;   /* of a ring: referenced; else NULL */
	struct memobj *obj;  /* of a file or of shared memory: referenced */
	uint64_t pgoff;	     /* in obj or ring, in pages */
	void *const *ring;   /* the pages, kperf_mmap()'s */
};

struct mm {
	unsigned refs;
	uint16_t asid;
	uint64_t *pgd; /* level 1 table: 39-bit addresses, 4 KiB pages */
	uint64_t pinned; /* pages beyond its user's, by ksys_lock_pages(); may wrap */
	struct area *areas;
	struct mm *next; /* of all */
};

/* pagetable.c: descriptors. */
#define PT_VALID     UINT64_C(1)
#define PT_READ_ONLY (UINT64_C(1) << 7)
#define PT_ACCESSED  (UINT64_C(1) << 10) /* clear: the next touch is a fault */
#define PT_ADDR	     UINT64_C(0x0000fffffffff000)
/* Software's: a page that nobody may touch (PROT_NONE); a page written to. */
#define PT_NONE	 (UINT64_C(1) << 58)
#define PT_DIRTY (UINT64_C(1) << 55)

#define MM_VA_END (UINT64_C(1) << 39) /* of user addresses */

/* [irq without @make] The level 3 entry of @va; NULL without its tables (or
 * without memory). */
uint64_t *pt_entry(struct ksys *sys, const struct mm *mm, uint64_t va, bool make);
/* @writable: of the page, now; @prot: of its area. */
uint64_t pt_desc(struct ksys *sys, const void *page, unsigned prot, bool writable);
/* The page of an entry that has one. */
void *pt_page(struct ksys *sys, uint64_t desc);
static inline bool pt_present(uint64_t desc)
{
	return desc & (PT_VALID | PT_NONE);
}
/* The tables themselves; no page may be left in them. */
void pt_destroy(struct ksys *sys, struct mm *mm);

/* mm.c. One reference; NULL without memory. */
struct mm *mm_create(struct ksys *sys);
void mm_get(struct mm *mm);
/* Does anybody else hold it? */
bool mm_shared(const struct mm *mm);
/* The last reference unmaps all. NULL is allowed. */
void mm_put(struct ksys *sys, struct mm *mm);
/* What fork(2) gives the child: private pages are copied by whoever writes first;
 * rings stay behind. NULL without memory. */
struct mm *mm_copy(struct ksys *sys, struct mm *mm);
/* Make it this CPU's. */
void mm_activate(struct ksys *sys, const struct mm *mm);
/* Its translations are not what they were. */
void mm_changed(struct ksys *sys, const struct mm *mm);

/* How to map: zeroed memory when @obj and @ring are NULL. The new area takes its
 * own references. */
struct mapping {
	unsigned prot;
	bool shared, grows_down;
	struct file *file;
	struct memobj *obj;
	void *const *ring;
	uint64_t pgoff;
};
/* [start, start + size) is free. -ENOMEM. */
int mm_map(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size,
	   const struct mapping *how);
/* -EINVAL: no such range, or it would split a ring (Linux perf_mmap_may_split);
 * -ENOMEM. */
int mm_unmap(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size);
bool mm_range_ok(uint64_t start, uint64_t size);
bool mm_range_free(const struct mm *mm, uint64_t start, uint64_t size);
uint64_t mm_find_free(const struct mm *mm, uint64_t size);
struct area *mm_area(const struct mm *mm, uint64_t va);
/* Pages of @obj from @pgoff on are cut off: nobody maps them any more. */
void mm_forget(struct ksys *sys, const struct memobj *obj, uint64_t pgoff);

/* mmap, munmap, mprotect, madvise by arm64's number. */
long mm_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* fault.c. What became of a fault: its signal and si_code, or 0: touch again. */
enum fault { FAULT_DONE, FAULT_MAPERR, FAULT_ACCERR, FAULT_BUS, FAULT_OOM };
/* @access: one of AREA_*. */
enum fault mm_fault(struct ksys *sys, struct mm *mm, uint64_t va, unsigned access);
/* As if [start, start + size) was touched, without counting. */
void mm_populate(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size);
/* [irq] Kernel address of user byte @va if it is mapped with @prot; NULL if not. */
uint8_t *mm_user_byte(struct ksys *sys, const struct mm *mm, uint64_t va, unsigned prot);
/* To user memory that need not be the current task's; nothing is counted, bytes
 * that cannot be written are left out. */
void mm_copy_to(struct ksys *sys, struct mm *mm, uint64_t va, const void *src, size_t n);
/* The same after a fault that made it so. */
uint8_t *mm_touch(struct ksys *sys, struct mm *mm, uint64_t va, unsigned prot);
/* An exception at EL0 that is no system call. */
void fault_user(struct ksys *sys, const struct hal_regs *regs, uint64_t esr, uint64_t far);

#endif
