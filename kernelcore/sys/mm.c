/* SPDX-License-Identifier: MIT */
/*
 * User address spaces: areas, and stage 1 tables of 4 KiB pages under TTBR0 for
 * 39-bit addresses (TCR_EL1.T0SZ = 25: three levels, Arm ARM D8.2).
 */
#include <string.h>

#include "kernelcore/sys/internal.h"

#define DESC_VALID	   UINT64_C(1)
#define DESC_TABLE	   UINT64_C(2) /* at level 3: a page */
#define DESC_USER	   (UINT64_C(1) << 6)
#define DESC_READ_ONLY	   (UINT64_C(1) << 7)
#define DESC_INNER	   (UINT64_C(3) << 8)
#define DESC_ACCESSED	   (UINT64_C(1) << 10)
#define DESC_NOT_GLOBAL	   (UINT64_C(1) << 11)
#define DESC_PXN	   (UINT64_C(1) << 53)
#define DESC_UXN	   (UINT64_C(1) << 54)
#define DESC_ADDR	   UINT64_C(0x0000fffffffff000)

enum { VA_BITS = 39, INDEX_MASK = 511 };

static const uint64_t va_end = UINT64_C(1) << VA_BITS;
static const uint64_t mmap_base = UINT64_C(0x7000000000);

static unsigned table_index(uint64_t va, unsigned level)
{
	return va >> (PAGE_SHIFT + 9 * (3 - level)) & INDEX_MASK;
}

static uint64_t *next_table(struct ksys *sys, uint64_t *entry, bool make)
{
	void *page;

	if (*entry & DESC_VALID)
		return hal_phys_to_virt(ksys_hal(sys), *entry & DESC_ADDR);
	if (!make)
		return NULL;
	page = ksys_page_alloc(sys);
	if (!page)
		return NULL;
	*entry = hal_virt_to_phys(ksys_hal(sys), page) | DESC_TABLE | DESC_VALID;
	return page;
}

/* The level 3 entry of @va; NULL without its tables (or without memory). */
static uint64_t *walk(struct ksys *sys, const struct mm *mm, uint64_t va, bool make)
{
	uint64_t *l2, *l3;

	/* an interrupt may come while the address space is torn down */
	if (va >= va_end || !mm || !mm->pgd)
		return NULL;
	l2 = next_table(sys, &mm->pgd[table_index(va, 1)], make);
	if (!l2)
		return NULL;
	l3 = next_table(sys, &l2[table_index(va, 2)], make);
	return l3 ? &l3[table_index(va, 3)] : NULL;
}

static uint64_t page_desc(uint64_t pa, unsigned prot)
{
	uint64_t desc = pa | DESC_VALID | DESC_TABLE | DESC_INNER | DESC_ACCESSED |
			DESC_NOT_GLOBAL | DESC_PXN | DESC_USER;

	if (!(prot & AREA_WRITE))
		desc |= DESC_READ_ONLY;
	if (!(prot & AREA_EXEC))
		desc |= DESC_UXN;
	return desc;
}

struct mm *mm_create(struct ksys *sys)
{
	struct mm *mm = ksys_alloc(sys, sizeof(*mm));

	if (!mm)
		return NULL;
	mm->refs = 1;
	mm->pgd = ksys_page_alloc(sys);
	mm->asid = 1;
	if (mm->pgd)
		return mm;
	ksys_free(sys, mm);
	return NULL;
}

void mm_get(struct mm *mm)
{
	mm->refs++;
}

bool mm_shared(const struct mm *mm)
{
	return mm->refs > 1;
}

void mm_activate(struct ksys *sys, const struct mm *mm)
{
	hal_sysreg_write(ksys_hal(sys), HAL_TTBR0_EL1,
			 hal_virt_to_phys(ksys_hal(sys), mm->pgd) | (uint64_t)mm->asid << 48);
	hal_isb(ksys_hal(sys));
}

static int area_add(struct mm *mm, uint64_t start, uint64_t end, unsigned prot,
		    struct kperf_event *event)
{
	if (mm->nareas == MAX_AREAS)
		return -ENOMEM;
	mm->area[mm->nareas++] = (struct area){ start, end, prot, event };
	return 0;
}

static bool range_ok(uint64_t start, uint64_t size)
{
	return size && !(start & (PAGE_SIZE - 1)) && size <= va_end &&
	       start <= va_end - size;
}

static void clear_pages(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t end,
			bool free_pages)
{
	for (uint64_t va = start; va < end; va += PAGE_SIZE) {
		uint64_t *entry = walk(sys, mm, va, false);
		void *page;

		if (!entry || !(*entry & DESC_VALID))
			continue;
		page = hal_phys_to_virt(ksys_hal(sys), *entry & DESC_ADDR);
		/* first out of sight: an interrupt may look at user memory */
		*(volatile uint64_t *)entry = 0;
		if (free_pages)
			ksys_page_free(sys, page);
	}
}

int mm_map_anon(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size,
		unsigned prot)
{
	if (!range_ok(start, size))
		return -ENOMEM;
	for (uint64_t at = 0; at < size; at += PAGE_SIZE) {
		uint64_t *entry = walk(sys, mm, start + at, true);
		void *page = entry ? ksys_page_alloc(sys) : NULL;

		if (!page) {
			clear_pages(sys, mm, start, start + at, true);
			return -ENOMEM;
		}
		*entry = page_desc(hal_virt_to_phys(ksys_hal(sys), page), prot);
	}
	return area_add(mm, start, start + size, prot, NULL);
}

int mm_map_pages(struct ksys *sys, struct mm *mm, uint64_t start, void *const *pages,
		 size_t npages, unsigned prot, struct kperf_event *event)
{
	uint64_t size = (uint64_t)npages * PAGE_SIZE;

	if (!range_ok(start, size))
		return -ENOMEM;
	for (size_t i = 0; i < npages; i++) {
		uint64_t *entry = walk(sys, mm, start + i * PAGE_SIZE, true);

		if (!entry) {
			clear_pages(sys, mm, start, start + i * PAGE_SIZE, false);
			return -ENOMEM;
		}
		*entry = page_desc(hal_virt_to_phys(ksys_hal(sys), pages[i]), prot);
	}
	return area_add(mm, start, start + size, prot, event);
}

static void area_remove(struct ksys *sys, struct mm *mm, unsigned i)
{
	struct area area = mm->area[i];

	mm->area[i] = mm->area[--mm->nareas];
	clear_pages(sys, mm, area.start, area.end, !area.event);
	if (area.event)
		kperf_munmap(area.event);
}

/*
 * Whole areas only, or the tail or head of private memory. A ring cannot be
 * split (Linux perf_mmap_may_split: EINVAL).
 */
int mm_unmap(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size)
{
	uint64_t end = start + size;
	bool any = false;

	if (!range_ok(start, size))
		return -EINVAL;
	for (unsigned i = 0; i < mm->nareas; i++) {
		struct area *area = &mm->area[i];

		if (area->start < end && start < area->end &&
		    (area->start < start || area->end > end))
			return -EINVAL;
	}
	for (unsigned i = mm->nareas; i--;) {
		if (mm->area[i].start >= start && mm->area[i].end <= end) {
			area_remove(sys, mm, i);
			any = true;
		}
	}
	/* A changed TTBR0 forgets the old translations. Other CPUs that run threads of
	 * @mm do it by themselves: emu/ drops them all when it goes on with another CPU. */
	if (any)
		mm_activate(sys, mm);
	return 0;
}

uint64_t mm_find_free(const struct mm *mm, uint64_t size)
{
	uint64_t at = mmap_base;
	bool moved;

	do {
		moved = false;
		for (unsigned i = 0; i < mm->nareas; i++) {
			const struct area *area = &mm->area[i];

			if (area->start < at + size && at < area->end) {
				at = area->end;
				moved = true;
			}
		}
	} while (moved);
	return at;
}

uint8_t *mm_user_byte(struct ksys *sys, const struct mm *mm, uint64_t va, unsigned prot)
{
	uint64_t *entry = walk(sys, mm, va, false);

	if (!entry || !(*entry & DESC_VALID))
		return NULL;
	if (prot & AREA_WRITE && *entry & DESC_READ_ONLY)
		return NULL;
	return (uint8_t *)hal_phys_to_virt(ksys_hal(sys), *entry & DESC_ADDR) +
	       (va & (PAGE_SIZE - 1));
}

static void destroy(struct ksys *sys, struct mm *mm)
{
	uint64_t *pgd = mm->pgd;

	while (mm->nareas)
		area_remove(sys, mm, mm->nareas - 1);
	*(uint64_t *volatile *)&mm->pgd = NULL;
	for (unsigned i = 0; i <= INDEX_MASK; i++) {
		uint64_t *l2 = next_table(sys, &pgd[i], false);

		for (unsigned j = 0; l2 && j <= INDEX_MASK; j++) {
			void *l3 = next_table(sys, &l2[j], false);

			if (l3)
				ksys_page_free(sys, l3);
		}
		if (l2)
			ksys_page_free(sys, l2);
	}
	ksys_page_free(sys, pgd);
}

/* A CPU that idles, or is about to switch, may have it still. */
void mm_put(struct ksys *sys, struct mm *mm)
{
	if (!mm || --mm->refs)
		return;
	destroy(sys, mm);
	for (unsigned i = 0; i < sys->ncpus; i++)
		if (sys->cpu[i].mm == mm)
			sys->cpu[i].mm = NULL;
	ksys_free(sys, mm);
}

static bool copy_area(struct ksys *sys, struct mm *to, struct mm *from, const struct area *area)
{
	if (mm_map_anon(sys, to, area->start, area->end - area->start, area->prot))
		return false;
	for (uint64_t va = area->start; va < area->end; va += PAGE_SIZE) {
		uint8_t *page = mm_user_byte(sys, to, va, 0);

		hal_copy(ksys_hal(sys), page, mm_user_byte(sys, from, va, 0), PAGE_SIZE);
		if (area->prot & AREA_EXEC)
			hal_sync_icache(ksys_hal(sys), hal_virt_to_phys(ksys_hal(sys), page),
					PAGE_SIZE);
	}
	return true;
}

/* Linux: a perf ring is VM_DONTCOPY. */
struct mm *mm_copy(struct ksys *sys, struct mm *mm)
{
	struct mm *copy = mm_create(sys);

	for (unsigned i = 0; copy && i < mm->nareas; i++) {
		if (mm->area[i].event || copy_area(sys, copy, mm, &mm->area[i]))
			continue;
		mm_put(sys, copy);
		copy = NULL;
	}
	return copy;
}

void mm_copy_to(struct ksys *sys, struct mm *mm, uint64_t va, const void *src, size_t n)
{
	const uint8_t *from = src;

	for (size_t i = 0; i < n; i++) {
		uint8_t *to = mm_user_byte(sys, mm, va + i, AREA_WRITE);

		if (to)
			*to = from[i];
	}
}

enum { CHUNK = 64 };

static size_t chunk_size(uint64_t va, size_t left)
{
	size_t n = PAGE_SIZE - (va & (PAGE_SIZE - 1));

	if (n > left)
		n = left;
	return n > CHUNK ? CHUNK : n;
}

int ksys_copy_from_user(struct ksys *sys, void *dst, uint64_t uaddr, size_t size)
{
	uint8_t *to = dst;

	while (size) {
		size_t n = chunk_size(uaddr, size);
		uint8_t *from = mm_user_byte(sys, ksys_current(sys)->mm, uaddr, AREA_READ);

		if (!from)
			return -EFAULT;
		hal_copy(ksys_hal(sys), to, from, n);
		to += n;
		uaddr += n;
		size -= n;
	}
	return 0;
}

int ksys_copy_to_user(struct ksys *sys, uint64_t uaddr, const void *src, size_t size)
{
	const uint8_t *from = src;

	while (size) {
		size_t n = chunk_size(uaddr, size);
		uint8_t *to = mm_user_byte(sys, ksys_current(sys)->mm, uaddr, AREA_WRITE);

		if (!to)
			return -EFAULT;
		hal_copy(ksys_hal(sys), to, from, n);
		from += n;
		uaddr += n;
		size -= n;
	}
	return 0;
}

/* Mapped bytes from @va on, at most @n. */
static size_t readable(struct ksys *sys, uint64_t va, size_t n)
{
	size_t ok = 0;

	while (ok < n && mm_user_byte(sys, ksys_current(sys)->mm, va + ok, AREA_READ))
		ok += PAGE_SIZE - ((va + ok) & (PAGE_SIZE - 1));
	return ok < n ? ok : n;
}

/*
 * Linux's arm64 copy (copy_template.S) keeps up to four 16-byte pairs in
 * registers, and a fault loses those that are not stored yet. A reader of a
 * user stack sees it, so it is kept: how many of @n bytes from @va it stores
 * when only the first @ok of them, up to a page's end, are mapped.
 */
static size_t stored_before_fault(uint64_t va, size_t n, size_t ok)
{
	static const uint8_t short_block[4] = { 0, 1, 1, 3 };
	size_t lead = -va & 15, left = n - lead, pairs, stored = 0;

	if (!ok)
		return 0;
	if (n < 16) { /* 8, 4, 2, 1 */
		for (size_t part = 8; part; part /= 2) {
			if (!(n & part))
				continue;
			if (stored + part > ok)
				break;
			stored += part;
		}
		return stored ? stored : 1;
	}
	pairs = (ok - lead) / 16; /* and the next one faults */
	stored = pairs;
	if (left >= 128 && pairs < left / 64 * 4)
		stored = pairs < 4 ? 0 : pairs - 3;
	else if (left >= 64 && left < 128 && pairs < 4)
		stored = short_block[pairs];
	stored = lead + 16 * stored;
	/* what could do nothing tries one byte */
	return stored ? stored : 1;
}

size_t ksys_copy_from_user_nofault(struct ksys *sys, void *dst, uint64_t uaddr,
				   size_t size)
{
	size_t ok = readable(sys, uaddr, size);
	size_t todo = ok < size ? stored_before_fault(uaddr, size, ok) : size;
	size_t left = todo;
	uint8_t *to = dst;

	while (left) {
		size_t n = PAGE_SIZE - (uaddr & (PAGE_SIZE - 1));

		if (n > left)
			n = left;
		hal_copy(ksys_hal(sys), to, mm_user_byte(sys, ksys_current(sys)->mm, uaddr, AREA_READ),
			 n);
		to += n;
		uaddr += n;
		left -= n;
	}
	return size - todo;
}

uint64_t ksys_user_page_size(struct ksys *sys, uint64_t uaddr)
{
	return mm_user_byte(sys, ksys_current(sys)->mm, uaddr, AREA_READ) ? PAGE_SIZE : 0;
}
