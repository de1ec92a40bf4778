/* SPDX-License-Identifier: MIT */
/*
 * Page faults, of EL0 and of the kernel's own copies, and those copies. What is
 * counted when is Linux's: arch/arm64/mm/fault.c and mm/memory.c.
 */
#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/rlimit.h"

enum { FAULT_AROUND = 16, LEAF_PAGES = 512, PSTATE_EL1H = 5 };

static void set_entry(struct ksys *sys, const struct area *area, uint64_t *entry, void *page,
		      bool writable)
{
	struct hal *hal = ksys_hal(sys);

	if (area->prot & AREA_EXEC) /* whoever filled it was not the program */
		hal_sync_icache(hal, hal_virt_to_phys(hal, page), PAGE_SIZE);
	*(volatile uint64_t *)entry = pt_desc(sys, page, area->prot, writable);
}

static enum fault private_copy(struct ksys *sys, struct area *area, uint64_t *entry, void *old)
{
	void *page = page_new(sys);

	if (!page)
		return FAULT_OOM;
	if (old && old != sys->zero_page)
		hal_copy(ksys_hal(sys), page, old, PAGE_SIZE);
	area->private_pages = true;
	set_entry(sys, area, entry, page, true);
	return FAULT_DONE;
}

/* Reading memory that nobody wrote to costs no page. */
static enum fault anon_fault(struct ksys *sys, struct area *area, uint64_t *entry, bool write)
{
	if (write)
		return private_copy(sys, area, entry, NULL);
	if (!sys->zero_page)
		sys->zero_page = ksys_page_alloc(sys);
	if (!sys->zero_page)
		return FAULT_OOM;
	set_entry(sys, area, entry, sys->zero_page, false);
	return FAULT_DONE;
}

/* Pages around that are in memory anyway are mapped too (Linux do_fault_around()):
 * 16 in their own alignment, inside the area and the table. */
static void fault_around(struct ksys *sys, struct mm *mm, struct area *area, uint64_t va)
{
	const uint64_t window = (uint64_t)FAULT_AROUND * PAGE_SIZE;
	const uint64_t table = (uint64_t)LEAF_PAGES * PAGE_SIZE;
	uint64_t at = va & ~(window - 1), end;

	if (at < area->start)
		at = area->start;
	end = at + window;
	if (end > area->end)
		end = area->end;
	if (end > (va | (table - 1)) + 1)
		end = (va | (table - 1)) + 1;
	for (; at < end; at += PAGE_SIZE) {
		uint64_t *entry = pt_entry(sys, mm, at, false);
		void *page = memobj_page(sys, area->obj,
					 area->pgoff + ((at - area->start) >> PAGE_SHIFT), false);

		if (!page || pt_present(*entry))
			continue;
		page_get(sys, page);
		set_entry(sys, area, entry, page, false);
	}
}

static enum fault obj_fault(struct ksys *sys, struct mm *mm, struct area *area, uint64_t va,
			    uint64_t *entry, bool write)
{
	uint64_t pgoff = area->pgoff + ((va - area->start) >> PAGE_SHIFT);
	void *page;

	if (!write)
		fault_around(sys, mm, area, va);
	if (pt_present(*entry))
		return FAULT_DONE;
	if (pgoff >= page_up(memobj_size(area->obj)) >> PAGE_SHIFT)
		return FAULT_BUS;
	page = memobj_page(sys, area->obj, pgoff, true);
	if (!page)
		return FAULT_OOM;
	if (write && !area->shared)
		return private_copy(sys, area, entry, page);
	page_get(sys, page);
	set_entry(sys, area, entry, page, write);
	return FAULT_DONE;
}

/* Only the header of a ring may be written to (Linux perf_mmap_fault(), also as
 * page_mkwrite), whatever the mapping's rights are. */
static enum fault ring_fault(struct ksys *sys, struct area *area, uint64_t va, uint64_t *entry,
			     bool write)
{
	uint64_t n = (va - area->start) >> PAGE_SHIFT;

	if (write && n)
		return FAULT_BUS;
	set_entry(sys, area, entry, area->ring[n], write);
	return FAULT_DONE;
}

/* A write to a page that is there (Linux do_wp_page()): it is the writer's alone,
 * or he gets a copy. */
static enum fault write_fault(struct ksys *sys, struct area *area, uint64_t va, uint64_t *entry)
{
	void *page = pt_page(sys, *entry);
	enum fault rc;

	if (area->ring)
		return ring_fault(sys, area, va, entry, true);
	if (area->shared || (page != sys->zero_page && !page_is_shared(sys, page))) {
		set_entry(sys, area, entry, page, true);
		return FAULT_DONE;
	}
	rc = private_copy(sys, area, entry, page);
	if (rc == FAULT_DONE && page != sys->zero_page)
		page_put(sys, page);
	return rc;
}

/* The stack grows to the page that was touched, within RLIMIT_STACK. */
static struct area *find_area(struct ksys *sys, struct mm *mm, uint64_t va)
{
	struct area *area = mm_area(mm, va), *below = NULL;

	if (area)
		return area;
	for (area = mm->areas; area && area->start <= va; area = area->next)
		below = area;
	if (!area || !area->grows_down || !ksys_current(sys) || (below && below->grows_down))
		return NULL;
	if (area->end - (va & ~(uint64_t)(PAGE_SIZE - 1)) >
	    rlimit_cur(ksys_current(sys), RLIMIT_STACK))
		return NULL;
	area->start = va & ~(uint64_t)(PAGE_SIZE - 1);
	return area;
}

/* arm64 has no page that can be written or executed but not read. */
static bool allowed(const struct area *area, unsigned access)
{
	return access == AREA_READ ? area->prot != 0 : (area->prot & access) != 0;
}

static enum fault make_present(struct ksys *sys, struct mm *mm, uint64_t va, unsigned access)
{
	struct area *area = find_area(sys, mm, va);
	bool write = access == AREA_WRITE;
	enum fault rc = FAULT_DONE;
	uint64_t *entry;

	if (!area)
		return FAULT_MAPERR;
	if (!allowed(area, access))
		return FAULT_ACCERR;
	entry = pt_entry(sys, mm, va, true);
	if (!entry)
		return FAULT_OOM;
	if (pt_present(*entry)) {
		if (write && *entry & PT_READ_ONLY)
			rc = write_fault(sys, area, va, entry);
		else
			*(volatile uint64_t *)entry |= PT_ACCESSED;
	} else if (area->ring) {
		rc = ring_fault(sys, area, va, entry, write);
	} else if (area->obj) {
		rc = obj_fault(sys, mm, area, va, entry, write);
	} else {
		rc = anon_fault(sys, area, entry, write);
	}
	return rc;
}

enum fault mm_fault(struct ksys *sys, struct mm *mm, uint64_t va, unsigned access)
{
	enum fault rc = make_present(sys, mm, va, access);

	if (rc == FAULT_DONE)
		mm_changed(sys, mm);
	return rc;
}

/* Linux populate_vma_page_range(): private memory as if written to. */
void mm_populate(struct ksys *sys, struct mm *mm, uint64_t start, uint64_t size)
{
	struct area *area = mm_area(mm, start);
	unsigned access = area && area->prot & AREA_WRITE && !area->shared ? AREA_WRITE :
									       AREA_READ;

	for (uint64_t va = start; va < start + size; va += PAGE_SIZE)
		if (!mm_user_byte(sys, mm, va, access) &&
		    make_present(sys, mm, va, access) != FAULT_DONE)
			break;
	mm_changed(sys, mm);
}

/* --- the program's own faults ------------------------------------------------ */

enum {
	EC_SHIFT = 26,
	EC_PC_ALIGN = 0x22,
	EC_SP_ALIGN = 0x26,
	EC_IABORT = 0x20,
	EC_DABORT = 0x24,
	ESR_WNR = 1 << 6,
	ESR_CM = 1 << 8,
	FSC_MASK = 0x3c,
	FSC_TRANSLATION = 0x04, /* of any level */
	FSC_ACCESS = 0x08,
	FSC_PERMISSION = 0x0c,

	EC_BRK64 = 0x3c,
	FSC_ALIGNMENT = 0x21,

	CODE_SEGV_MAPERR = 1,
	CODE_SEGV_ACCERR = 2,
	CODE_BUS_ADRALN = 1,
	CODE_BUS_ADRERR = 2,
	CODE_ILL_ILLOPC = 1,
	CODE_TRAP_BRKPT = 1,
};

static unsigned access_of(unsigned ec, uint64_t esr)
{
	if (ec == EC_IABORT)
		return AREA_EXEC;
	return esr & ESR_WNR && !(esr & ESR_CM) ? AREA_WRITE : AREA_READ;
}

static bool is_page_fault(unsigned ec, uint64_t esr, uint64_t far)
{
	unsigned fsc = esr & FSC_MASK;

	/* the kernel's half is a bad area, not a fault */
	return (ec == EC_IABORT || ec == EC_DABORT) && !(far >> 55) &&
	       (fsc == FSC_TRANSLATION || fsc == FSC_ACCESS || fsc == FSC_PERMISSION);
}

/* Counted before anybody knows whether it can be helped, and once more when it was. */
static enum fault counted_fault(struct ksys *sys, struct mm *mm, const struct hal_regs *regs,
				uint64_t va, unsigned access)
{
	struct hal *hal = ksys_hal(sys);
	enum fault rc;

	kperf_sw_event(sys->perf, hal, KPERF_SW_PAGE_FAULTS, 1, regs, va);
	rc = mm_fault(sys, mm, va, access);
	if (rc == FAULT_DONE)
		kperf_sw_event(sys->perf, hal, KPERF_SW_PAGE_FAULTS_MIN, 1, regs, va);
	return rc;
}

static struct siginfo memory_signal(enum fault fault, uint64_t esr, uint64_t far)
{
	struct siginfo info = { .kind = INFO_FAULT, .signo = SIG_SEGV, .value = far };

	info.code = fault == FAULT_ACCERR ? CODE_SEGV_ACCERR : CODE_SEGV_MAPERR;
	if ((esr & 0x3f) == FSC_ALIGNMENT) {
		info.signo = SIG_BUS;
		info.code = CODE_BUS_ADRALN;
	} else if (fault == FAULT_BUS) {
		info.signo = SIG_BUS;
		info.code = CODE_BUS_ADRERR;
	} else if (fault == FAULT_OOM) {
		info.signo = SIG_KILL;
	}
	return info;
}

/* As Linux's entry-common.c and traps.c tell them apart. */
static struct siginfo signal_of(unsigned ec, enum fault fault, const struct hal_regs *regs,
				uint64_t esr, uint64_t far)
{
	struct siginfo info = { .kind = INFO_FAULT, .value = regs->pc };

	switch (ec) {
	case EC_IABORT:
	case EC_DABORT:
		return memory_signal(fault, esr, far);
	case EC_PC_ALIGN:
	case EC_SP_ALIGN:
		info.signo = SIG_BUS;
		info.code = CODE_BUS_ADRALN;
		info.value = ec == EC_PC_ALIGN ? far : regs->sp;
		return info;
	case EC_BRK64:
		info.signo = SIG_TRAP;
		info.code = CODE_TRAP_BRKPT;
		return info;
	default:
		info.signo = SIG_ILL;
		info.code = CODE_ILL_ILLOPC;
		return info;
	}
}

void fault_user(struct ksys *sys, const struct hal_regs *regs, uint64_t esr, uint64_t far)
{
	unsigned ec = (unsigned)(esr >> EC_SHIFT) & 0x3f;
	struct ksys_task *task = ksys_current(sys);
	enum fault fault = FAULT_MAPERR;
	bool aborted = ec == EC_IABORT || ec == EC_DABORT;
	struct siginfo info;

	if (is_page_fault(ec, esr, far)) {
		fault = counted_fault(sys, task->mm, regs, far, access_of(ec, esr));
		if (fault == FAULT_DONE)
			return;
	}
	info = signal_of(ec, fault, regs, esr, far);
	task->sig.fault_address = aborted ? far : 0;
	task->sig.fault_code = aborted ? esr : 0;
	if (task->group == sys->first) {
		sys->status.pc = regs->pc;
		sys->status.far = far;
	}
	signal_force(sys, &info);
}

/* --- the kernel's copies ------------------------------------------------------ */

uint8_t *mm_user_byte(struct ksys *sys, const struct mm *mm, uint64_t va, unsigned prot)
{
	uint64_t *entry = mm ? pt_entry(sys, mm, va, false) : NULL;

	if (!entry || !(*entry & PT_VALID) || !(*entry & PT_ACCESSED))
		return NULL;
	if (prot & AREA_WRITE && *entry & PT_READ_ONLY)
		return NULL;
	return (uint8_t *)pt_page(sys, *entry) + (va & (PAGE_SIZE - 1));
}

void mm_copy_to(struct ksys *sys, struct mm *mm, uint64_t va, const void *src, size_t n)
{
	const uint8_t *from = src;

	for (size_t i = 0; i < n; i++) {
		uint8_t *to = mm_user_byte(sys, mm, va + i, AREA_WRITE);

		if (!to && mm_fault(sys, mm, va + i, AREA_WRITE) == FAULT_DONE)
			to = mm_user_byte(sys, mm, va + i, AREA_WRITE);
		if (to)
			*to = from[i];
	}
}

/* An address that no user has is refused before it is touched (access_ok()). */
uint8_t *mm_touch(struct ksys *sys, struct mm *mm, uint64_t va, unsigned prot)
{
	static const struct hal_regs kernel = { .pc = UINT64_C(0xffff800008000000),
						.pstate = PSTATE_EL1H };
	uint8_t *byte = mm_user_byte(sys, mm, va, prot);

	if (byte || va >> 48)
		return byte;
	if (counted_fault(sys, mm, &kernel, va, prot) != FAULT_DONE)
		return NULL;
	return mm_user_byte(sys, mm, va, prot);
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
		uint8_t *from = mm_touch(sys, ksys_current(sys)->mm, uaddr, AREA_READ);

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
		uint8_t *to = mm_touch(sys, ksys_current(sys)->mm, uaddr, AREA_WRITE);

		if (!to)
			return -EFAULT;
		hal_copy(ksys_hal(sys), to, from, n);
		from += n;
		uaddr += n;
		size -= n;
	}
	return 0;
}

/* NULL in the idle task and in one that is about to end. */
static struct mm *current_mm(struct ksys *sys)
{
	struct ksys_task *task = ksys_current(sys);

	return task ? task->mm : NULL;
}

/* Mapped bytes from @va on, at most @n. */
static size_t readable(struct ksys *sys, uint64_t va, size_t n)
{
	size_t ok = 0;

	while (ok < n && mm_user_byte(sys, current_mm(sys), va + ok, AREA_READ))
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
		hal_copy(ksys_hal(sys), to,
			 mm_user_byte(sys, current_mm(sys), uaddr, AREA_READ), n);
		to += n;
		uaddr += n;
		left -= n;
	}
	return size - todo;
}

uint64_t ksys_user_page_size(struct ksys *sys, uint64_t uaddr)
{
	const struct mm *mm = current_mm(sys);
	const uint64_t *entry = mm ? pt_entry(sys, mm, uaddr, false) : NULL;

	/* whoever may touch it, and whether it was (Linux perf_get_pgtable_size()) */
	return entry && pt_present(*entry) ? PAGE_SIZE : 0;
}
