/* SPDX-License-Identifier: MIT */
/* Areas of user address spaces: made, cut, copied; the system calls on them. */
#include "kernelcore/sys/mm.h"

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/nr.h"

static const uint64_t mmap_base = UINT64_C(0x7000000000);

enum { LEAF_BYTES = 2 << 20, ASIDS = 255 };

struct mm *mm_create(struct ksys *sys)
{
	struct mm *mm = ksys_alloc(sys, sizeof(*mm));

	if (!mm)
		return NULL;
	mm->pgd = ksys_page_alloc(sys);
	if (!mm->pgd) {
		ksys_free(sys, mm);
		return NULL;
	}
	mm->refs = 1;
	/* a number may come again: whoever is switched to forgets the others */
	mm->asid = (uint16_t)(1 + sys->next_asid++ % ASIDS);
	mm->next = sys->mms;
	sys->mms = mm;
	return mm;
}

void mm_get(struct mm *mm)
{
	mm->refs++;
}

void mm_activate(struct ksys *sys, const struct mm *mm)
{
	struct hal *hal = ksys_hal(sys);

	hal_sysreg_write(hal, HAL_TTBR0_EL1,
			 hal_virt_to_phys(hal, mm->pgd) | (uint64_t)mm->asid << 48);
	hal_isb(hal);
}

/* Other CPUs that run threads of @mm forget by themselves: emu/ drops all
 * translations when it goes on with another CPU. */
void mm_changed(struct ksys *sys, const struct mm *mm)
{
	if (sys_this_cpu(sys)->mm == mm)
		mm_activate(sys, mm);
}

/* --- areas ------------------------------------------------------------------ */

bool mm_range_ok(uint64_t start, uint64_t size)
{
	return size && !(start & (PAGE_SIZE - 1)) && size <= MM_VA_END &&
	       start <= MM_VA_END - size;
}

struct area *mm_area(const struct mm *mm, uint64_t va)
{
	for (struct area *area = mm->areas; area && area->start <= va; area = area->next)
		if (va < area->end)
			return area;
	return NULL;
}

bool mm_range_free(const struct mm *mm, uint64_t start, uint64_t size)
{
	for (const struct area *area = mm->areas; area; area = area->next)
		if (area->start < start + size && start < area->end)
			return false;
	return true;
}

/* Sorted, so one pass. */
uint64_t mm_find_free(const struct mm *mm, uint64_t size)
{
	uint64_t at = mmap_base;

	for (const struct area *area = mm->areas; area; area = area->next)
		if (area->start < at + size && at < area->end)
			at = area->end;
	return at;
}

static void area_refs(struct area *area)
{
	if (area->file)
		file_get(area->file);
	if (area->obj)
		memobj_get(area->obj);
}

static void insert(struct mm *mm, struct area *area)
{
	struct area **at = &mm->areas;

	while (*at && (*at)->start < area->start)
		at = &(*at)->next;
	area->next = *at;
	*at = area;
}

int mm_map(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size,
	   const struct mapping *how)
{
	struct area *area = mm_range_ok(start, size) ? ksys_alloc(sys, sizeof(*area)) : NULL;

	if (!area)
		return -ENOMEM;
	*area = (struct area){
		.start = start,
		.end = start + size,
		.prot = how->prot,
		.shared = how->shared,
		.grows_down = how->grows_down,
		.file = how->file,
		.obj = how->obj,
		.ring = how->ring,
		.pgoff = how->pgoff,
	};
	area_refs(area);
	insert(mm, area);
	return 0;
}

/* Each entry with a page in [start, end): fn may change it. Tables that are not
 * there are skipped whole. */
static void for_entries(struct ksys *sys, struct mm *mm, struct area *area, uint64_t start,
			uint64_t end,
			void (*fn)(struct ksys *sys, struct area *area, uint64_t *entry))
{
	for (uint64_t va = start; va < end; va += PAGE_SIZE) {
		uint64_t *entry = pt_entry(sys, mm, va, false);

		if (!entry)
			va |= LEAF_BYTES - PAGE_SIZE;
		else if (pt_present(*entry))
			fn(sys, area, entry);
	}
}

/* First out of sight: an interrupt may look at user memory. */
static void zap_entry(struct ksys *sys, struct area *area, uint64_t *entry)
{
	void *page = pt_page(sys, *entry);

	*(volatile uint64_t *)entry = 0;
	if (!area->ring && page != sys->zero_page)
		page_put(sys, page);
}

static void ring_unmap(struct ksys *sys, struct mm *mm, struct kperf_event *event,
		       void *const *ring)
{
	syscall_end_hostile(sys, ring[0]);
	sys->unmapping = mm;
	kperf_munmap(event);
	sys->unmapping = NULL;
}

/* The ring's mapping goes before the file's reference (Linux perf_mmap_close()). */
static void area_free(struct ksys *sys, struct mm *mm, struct area *area)
{
	for_entries(sys, mm, area, area->start, area->end, zap_entry);
	if (area->ring)
		ring_unmap(sys, mm, area->file->event, area->ring);
	file_put(sys, area->file);
	memobj_put(sys, area->obj);
	ksys_free(sys, area);
}

/* Cut an area in two at @at, which is inside it. */
static int split(struct ksys *sys, struct area *area, uint64_t at)
{
	struct area *upper = ksys_alloc(sys, sizeof(*upper));

	if (!upper)
		return -ENOMEM;
	*upper = *area;
	area_refs(upper);
	upper->start = at;
	upper->pgoff += (at - area->start) >> PAGE_SHIFT;
	upper->grows_down = false;
	area->end = at;
	area->next = upper;
	return 0;
}

/* Make [start, end) a matter of whole areas. -EINVAL: it would cut a ring. */
static int isolate(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t end)
{
	for (struct area *area = mm->areas; area; area = area->next)
		if (area->ring && area->start < end && start < area->end &&
		    (area->start < start || area->end > end))
			return -EINVAL;
	for (struct area *area = mm->areas; area; area = area->next) {
		int rc = 0;

		if (area->start < start && start < area->end)
			rc = split(sys, area, start);
		else if (area->start < end && end < area->end)
			rc = split(sys, area, end);
		if (rc)
			return rc;
	}
	return 0;
}

int mm_unmap(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size)
{
	uint64_t end = start + size;
	struct area **at = &mm->areas;
	bool any = false;
	int rc;

	if (!mm_range_ok(start, size))
		return -EINVAL;
	rc = isolate(sys, mm, start, end);
	if (rc)
		return rc;
	while (*at && (*at)->start < end) {
		struct area *area = *at;

		if (area->start < start) {
			at = &area->next;
			continue;
		}
		*at = area->next;
		area_free(sys, mm, area);
		any = true;
	}
	if (any)
		mm_changed(sys, mm);
	return 0;
}

bool mm_shared(const struct mm *mm)
{
	return mm->refs > 1;
}

/* A CPU that idles, or is about to switch, may have it still. */
void mm_put(struct ksys *sys, struct mm *mm)
{
	struct mm **at = &sys->mms;

	if (!mm || --mm->refs)
		return;
	for (unsigned i = 0; i < sys->ncpus; i++)
		if (sys->cpu[i].mm == mm)
			sys->cpu[i].mm = NULL;
	while (mm->areas) {
		struct area *area = mm->areas;

		mm->areas = area->next;
		area_free(sys, mm, area);
	}
	while (*at != mm)
		at = &(*at)->next;
	*at = mm->next;
	pt_destroy(sys, mm);
	ksys_free(sys, mm);
}

void mm_forget(struct ksys *sys, const struct memobj *obj, uint64_t pgoff)
{
	const struct mm *own = sys_this_cpu(sys)->mm;

	for (struct mm *mm = sys->mms; mm; mm = mm->next) {
		for (struct area *area = mm->areas; area; area = area->next) {
			uint64_t start = area->start;

			if (area->obj != obj)
				continue;
			if (pgoff > area->pgoff)
				start += (pgoff - area->pgoff) << PAGE_SHIFT;
			/* private copies too: Linux unmap_mapping_range(even_cows) */
			for_entries(sys, mm, area, start, area->end, zap_entry);
		}
	}
	if (own)
		mm_activate(sys, own);
}

/* --- fork ------------------------------------------------------------------- */

/* What two will share from now on is read-only to both, and new to the child: without
 * FEAT_HAFDBS its first touch of each page is a fault (Linux copy_present_pte() makes
 * the copy old; here as on the CPUs that this one is like, software sets the flag). */
static int copy_entries(struct ksys *sys, struct mm *from, struct mm *to,
			const struct area *area)
{
	for (uint64_t va = area->start; va < area->end; va += PAGE_SIZE) {
		uint64_t *entry = pt_entry(sys, from, va, false), *copy;

		if (!entry) {
			va |= LEAF_BYTES - PAGE_SIZE;
			continue;
		}
		if (!pt_present(*entry))
			continue;
		copy = pt_entry(sys, to, va, true);
		if (!copy)
			return -ENOMEM;
		if (pt_page(sys, *entry) != sys->zero_page)
			page_get(sys, pt_page(sys, *entry));
		*entry |= PT_READ_ONLY;
		*copy = *entry & ~PT_ACCESSED;
	}
	return 0;
}

/* Linux dup_mmap(): an area without pages of its own finds its pages again by
 * faults, and no ring is inherited (VM_DONTCOPY). */
struct mm *mm_copy(struct ksys *sys, struct mm *mm)
{
	struct mm *copy = mm_create(sys);
	struct area **tail = copy ? &copy->areas : NULL;
	int rc = 0;

	for (struct area *area = mm->areas; copy && area && !rc; area = area->next) {
		if (area->ring)
			continue;
		*tail = ksys_alloc(sys, sizeof(**tail));
		if (!*tail) {
			rc = -ENOMEM;
			break;
		}
		**tail = *area;
		(*tail)->next = NULL;
		area_refs(*tail);
		tail = &(*tail)->next;
		if (area->private_pages)
			rc = copy_entries(sys, mm, copy, area);
	}
	mm_changed(sys, mm);
	if (rc) {
		mm_put(sys, copy);
		return NULL;
	}
	return copy;
}

/* --- system calls ------------------------------------------------------------ */

enum {
	MAP_SHARED = 0x01,
	MAP_PRIVATE = 0x02,
	MAP_SHARED_VALIDATE = 0x03,
	MAP_TYPE = 0x0f,
	MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20,
	MAP_POPULATE = 0x8000,
	MAP_NONBLOCK = 0x10000,
	MAP_FIXED_NOREPLACE = 0x100000,

	PROT_ALL = AREA_READ | AREA_WRITE | AREA_EXEC,
	MADV_WILLNEED = 3,
	MADV_DONTNEED = 4,
};

/* What do_mmap() asks of a file once it has an address for it. */
static long check_file(const struct file *file, const uint64_t *a)
{
	unsigned type = a[3] & MAP_TYPE;

	if (type != MAP_SHARED && type != MAP_SHARED_VALIDATE && type != MAP_PRIVATE)
		return -EINVAL;
	if (type != MAP_PRIVATE && a[2] & AREA_WRITE && (file->flags & O_ACCMODE) == O_RDONLY)
		return -EACCES;
	if ((file->flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	return file_can_map(file) ? 0 : -ENODEV;
}

/* Where it goes, before anything is unmapped. */
static long place(const struct mm *mm, const uint64_t *a, uint64_t size, uint64_t *addr)
{
	if (size > MM_VA_END)
		return -ENOMEM;
	*addr = a[0];
	if (a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (*addr > MM_VA_END - size)
			return -ENOMEM;
		if (*addr & (PAGE_SIZE - 1))
			return -EINVAL;
		if (a[3] & MAP_FIXED_NOREPLACE && !mm_range_free(mm, *addr, size))
			return -EEXIST;
		return 0;
	}
	*addr = page_up(*addr);
	if (!*addr || !mm_range_ok(*addr, size) || !mm_range_free(mm, *addr, size))
		*addr = mm_find_free(mm, size);
	return 0;
}

static long map_ring(struct ksys *sys, struct file *file, const uint64_t *a, uint64_t addr,
		     uint64_t size)
{
	struct mapping how = { .shared = true, .file = file, .prot = a[2] & PROT_ALL };
	size_t npages;
	long rc = kperf_mmap(file->event, size, a[5] >> PAGE_SHIFT, (unsigned)a[2] & 3,
			     (a[3] & MAP_TYPE) == MAP_PRIVATE ? 0 : KPERF_MAP_SHARED,
			     &how.ring, &npages);

	if (rc)
		return rc;
	rc = mm_map(sys, ksys_current(sys)->mm, addr, size, &how);
	if (rc)
		ring_unmap(sys, ksys_current(sys)->mm, file->event, how.ring);
	return rc;
}

static long map_other(struct ksys *sys, struct file *file, const uint64_t *a, uint64_t addr,
		      uint64_t size)
{
	struct mapping how = {
		.shared = (a[3] & MAP_TYPE) != MAP_PRIVATE,
		.prot = a[2] & PROT_ALL,
		.obj = file ? file_memobj(file) : NULL,
		.pgoff = file ? a[5] >> PAGE_SHIFT : 0,
	};
	struct memobj *own = NULL;
	long rc;

	if (!file && how.shared) {
		how.obj = own = memobj_create(sys, size);
		if (!own)
			return -ENOMEM;
	}
	rc = mm_map(sys, ksys_current(sys)->mm, addr, size, &how);
	memobj_put(sys, own);
	return rc;
}

/* In the order in which Linux looks at the arguments: ksys_mmap_pgoff(), do_mmap(),
 * mmap_region(). */
static long sys_mmap(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);
	uint64_t size = page_up(a[1]), addr;
	struct file *file = NULL;
	long rc;

	if (a[5] & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(a[3] & MAP_ANONYMOUS)) {
		file = fd_get(task, (int32_t)a[4]);
		if (!file)
			return -EBADF;
	}
	if (!a[1])
		return -EINVAL;
	if (!size)
		return -ENOMEM;
	if ((a[5] >> PAGE_SHIFT) + (size >> PAGE_SHIFT) < a[5] >> PAGE_SHIFT)
		return -EOVERFLOW;
	rc = place(task->mm, a, size, &addr);
	if (!rc && file)
		rc = check_file(file, a);
	else if (!rc && (a[3] & MAP_TYPE) != MAP_SHARED && (a[3] & MAP_TYPE) != MAP_PRIVATE)
		rc = -EINVAL;
	if (rc)
		return rc;
	if (a[3] & MAP_FIXED) {
		rc = mm_unmap(sys, task->mm, addr, size);
		if (rc)
			return sys->unmap_failure_enomem ? -ENOMEM : rc;
	}
	if (file && file->kind == FILE_PERF)
		rc = map_ring(sys, file, a, addr, size);
	else
		rc = map_other(sys, file, a, addr, size);
	if (!rc && (a[3] & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE)
		mm_populate(sys, task->mm, addr, size);
	return rc ? rc : (long)addr;
}

/* An entry after mprotect(2). What is private and nobody else's stays writable
 * without another fault (Linux can_change_pte_writable()); of shared memory, what
 * was written to already. */
static void protect_entry(struct ksys *sys, struct area *area, uint64_t *entry)
{
	void *page = pt_page(sys, *entry);
	bool writable = area->prot & AREA_WRITE;
	uint64_t dirty = *entry & PT_DIRTY, old = ~*entry & PT_ACCESSED;

	if (area->shared)
		writable = writable && dirty;
	else
		writable = writable && page != sys->zero_page && !page_is_shared(sys, page);
	*(volatile uint64_t *)entry =
		(pt_desc(sys, page, area->prot, writable) & ~old) | dirty;
}

/* Areas up to a hole are changed before the hole is found, as in Linux. */
static long sys_mprotect(struct ksys *sys, const uint64_t *a)
{
	struct mm *mm = ksys_current(sys)->mm;
	uint64_t size = page_up(a[1]), at = a[0], end = a[0] + size;
	int rc;

	if (a[0] & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!a[1])
		return 0;
	if (end <= a[0])
		return -ENOMEM;
	if (a[2] & ~(uint64_t)PROT_ALL)
		return -EINVAL;
	if (!mm_area(mm, at))
		return -ENOMEM;
	rc = isolate(sys, mm, at, end);
	if (rc)
		return rc;
	while (at < end) {
		struct area *area = mm_area(mm, at);

		if (!area)
			break;
		area->prot = (unsigned)a[2];
		for_entries(sys, mm, area, area->start, area->end, protect_entry);
		at = area->end;
	}
	mm_changed(sys, mm);
	return at < end ? -ENOMEM : 0;
}

static long sys_madvise(struct ksys *sys, const uint64_t *a)
{
	struct mm *mm = ksys_current(sys)->mm;
	uint64_t size = page_up(a[1]), end = a[0] + size;
	long rc = 0;

	if ((int32_t)a[2] < 0 || (int32_t)a[2] > MADV_DONTNEED)
		return -EINVAL;
	if (a[0] & (PAGE_SIZE - 1) || (a[1] && !size) || end < a[0])
		return -EINVAL;
	for (uint64_t at = a[0]; at < end;) {
		struct area *area = mm_area(mm, at);

		if (!area) { /* a hole: all else is done, then it is told */
			rc = -ENOMEM;
			at += PAGE_SIZE;
			continue;
		}
		if (a[2] == MADV_DONTNEED)
			for_entries(sys, mm, area, at, area->end < end ? area->end : end,
				    zap_entry);
		at = area->end;
	}
	mm_changed(sys, mm);
	return rc;
}

long mm_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	switch (nr) {
	case NR_MMAP:
		return sys_mmap(sys, args);
	case NR_MUNMAP:
		return mm_unmap(sys, ksys_current(sys)->mm, args[0], page_up(args[1]));
	case NR_MPROTECT:
		return sys_mprotect(sys, args);
	default:
		return sys_madvise(sys, args);
	}
}
