/* SPDX-License-Identifier: MIT */
/*
 * Address spaces: which touch is a fault and is counted (Linux mm/memory.c,
 * arch/arm64/mm/fault.c), what fork(2) shares, what mmap(2) and its like refuse, and
 * that every page comes back.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bare-machine.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"

enum {
	PAGE = 4096,
	R = 1,
	W = 2,
	X = 4,
	SHARED = 1,
	PRIVATE = 2,
	FIXED = 0x10,
	ANON = 0x20,
	POPULATE = 0x8000,
	NOREPLACE = 0x100000,
	MADV_DONTNEED = 4,
	SIGBUS = 7,
	SIGSEGV = 11,
};

static const uint64_t at = UINT64_C(0x10000000);
static struct bare_machine *bm;

static void setup(void)
{
	bm = bm_create();
}

static void teardown(void)
{
	bm_destroy(bm);
}

static long map(uint64_t va, unsigned pages, int prot, int flags)
{
	return bm_sys(bm, BM_MMAP, va, pages * PAGE, prot, flags | FIXED, -1, 0);
}

static void check_faults(uint64_t all, uint64_t min, uint64_t user)
{
	struct bm_faults f = bm_faults(bm);

	ck_assert_uint_eq(f.all, all);
	ck_assert_uint_eq(f.min, min);
	ck_assert_uint_eq(f.user, user);
}

START_TEST(untouched_memory_is_read_then_written_in_two_faults)
{
	ck_assert_int_eq(map(at, 4, R | W, PRIVATE | ANON), (long)at);
	bm_faults(bm);
	ck_assert_int_eq(bm_touch(bm, at + 5, BM_READS), 1);
	ck_assert_uint_eq(bm->sw_addr, at + 5);
	ck_assert_int_eq(bm_touch(bm, at + 9, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 0);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + 2 * PAGE, BM_READS), 1);
	check_faults(4, 4, 4);
	*bm_byte(bm, at) = 7;
	ck_assert_uint_eq(*bm_byte(bm, at + 2 * PAGE), 0);
	ck_assert_ptr_null(bm_byte(bm, at + 3 * PAGE));
}
END_TEST

START_TEST(reading_costs_no_page)
{
	uint64_t used;

	map(at, 64, R | W, PRIVATE | ANON);
	bm_touch(bm, at, BM_READS);
	used = bm_pages(bm);
	for (int i = 1; i < 64; i++)
		ck_assert_int_eq(bm_touch(bm, at + i * PAGE, BM_READS), 1);
	ck_assert_uint_eq(bm_pages(bm), used);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	ck_assert_uint_eq(bm_pages(bm), used + 1);
}
END_TEST

START_TEST(the_kernels_own_touch_is_a_kernel_fault)
{
	map(at, 3, R | W, PRIVATE | ANON);
	bm_faults(bm);
	/* five bytes over a page's end */
	ck_assert_int_eq(bm_sys(bm, BM_READ, 0, at + PAGE - 2, 64), 5);
	check_faults(2, 2, 0);
	ck_assert_mem_eq(bm_byte(bm, at + PAGE - 2), "in", 2);
	ck_assert_mem_eq(bm_byte(bm, at + PAGE), "put", 3);
	/* what cannot be helped is a fault all the same, but no minor one */
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, 1, at + 8 * PAGE, 1), -EFAULT);
	check_faults(1, 0, 0);
	/* an address that no user has is not touched */
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, 1, UINT64_C(1) << 48, 1), -EFAULT);
	check_faults(0, 0, 0);
}
END_TEST

START_TEST(populated_memory_has_no_faults)
{
	bm_faults(bm);
	map(at, 4, R | W, PRIVATE | ANON | POPULATE);
	check_faults(0, 0, 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(bm_touch(bm, at + i * PAGE, BM_WRITES), 0);
}
END_TEST

START_TEST(shared_memory_is_clean_until_written)
{
	map(at, 32, R | W, SHARED | ANON);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 1);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_READS), 0);
	/* no page was there to be mapped along */
	ck_assert_int_eq(bm_touch(bm, at + 2 * PAGE, BM_READS), 1);
}
END_TEST

START_TEST(pages_in_memory_are_mapped_around_a_read)
{
	/* two mappings of the same memory: one fills it, one finds it */
	struct mm *child;

	map(at, 40, R | W, SHARED | ANON);
	child = mm_copy(bm->sys, ksys_current(bm->sys)->mm);
	for (int i = 0; i < 40; i++)
		if (i != 20)
			ck_assert_int_eq(mm_fault(bm->sys, child, at + i * PAGE, AREA_WRITE), 0);
	ck_assert_int_eq(bm_touch(bm, at + 5 * PAGE, BM_READS), 1);
	for (int i = 0; i < 16; i++)
		ck_assert_int_eq(bm_touch(bm, at + i * PAGE, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at + 16 * PAGE, BM_READS), 1);
	ck_assert_int_eq(bm_touch(bm, at + 19 * PAGE, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at + 20 * PAGE, BM_READS), 1);
	/* a write brings its own page alone */
	ck_assert_int_eq(bm_touch(bm, at + 39 * PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + 38 * PAGE, BM_READS), 1);
	mm_put(bm->sys, child);
}
END_TEST

START_TEST(the_programs_file_is_mapped_privately)
{
	/* code: found in the file; data: a page of the program's own once written */
	bm_faults(bm);
	ck_assert_int_eq(bm_touch(bm, BM_CODE, BM_EXECUTES), 1);
	ck_assert_int_eq(bm_touch(bm, BM_CODE, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, BM_DATA, BM_READS), 1);
	ck_assert_uint_eq(*bm_byte(bm, BM_DATA), 0xda);
	ck_assert_int_eq(bm_touch(bm, BM_DATA, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, BM_DATA + PAGE, BM_WRITES), 1);
	ck_assert_uint_eq(*bm_byte(bm, BM_DATA + PAGE), 0);
	check_faults(4, 4, 4);
	ck_assert_int_eq(bm_touch(bm, BM_CODE, BM_WRITES), -1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIGSEGV);
	check_faults(1, 0, 1);
}
END_TEST

START_TEST(only_a_rings_header_may_be_written)
{
	int fd = bm_event(bm);

	ck_assert_int_eq(bm_sys(bm, BM_MMAP, at, 3 * PAGE, R | W, SHARED | FIXED, fd, 0),
			 (long)at);
	bm_faults(bm);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 1);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_READS), 1);
	check_faults(3, 3, 3);
	ck_assert_int_eq(bm_sys(bm, BM_READ, 0, at + PAGE, 1), -EFAULT);
	check_faults(1, 0, 0);
	ck_assert_int_eq(bm_touch(bm, at + 2 * PAGE, BM_WRITES), -1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIGBUS);
}
END_TEST

START_TEST(a_mapped_event_outlives_its_descriptor)
{
	int fd = bm_event(bm);

	bm_sys(bm, BM_MMAP, at, 3 * PAGE, R | W, SHARED | FIXED, fd, 0);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, fd), 0);
	ck_assert_str_eq(bm_diary(bm), "open1 mmap1");
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at + PAGE, PAGE), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, PAGE, R), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at, 3 * PAGE), 0);
	ck_assert_str_eq(bm_diary(bm), "munmap1 release1");
}
END_TEST

START_TEST(a_hole_is_cut_and_filled)
{
	uint64_t used;

	map(at, 5, R | W, PRIVATE | ANON);
	for (int i = 0; i < 5; i++)
		bm_touch(bm, at + i * PAGE, BM_WRITES);
	used = bm_pages(bm);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at + PAGE, 3 * PAGE - 1), 0);
	ck_assert_uint_eq(bm_pages(bm), used - 3);
	ck_assert_ptr_null(bm_byte(bm, at + 2 * PAGE));
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 0);
	ck_assert_int_eq(bm_touch(bm, at + 4 * PAGE, BM_WRITES), 0);
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, 1, at + PAGE, 1), -EFAULT);
	ck_assert_int_eq(map(at + 2 * PAGE, 1, R, PRIVATE | ANON), (long)at + 2 * PAGE);
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, 1, at + 2 * PAGE, 1), 1);
	ck_assert_int_eq(map(at, 5, R, PRIVATE | ANON), (long)at);
	ck_assert_ptr_null(bm_byte(bm, at));
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at, 5 * PAGE), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), -1);
}
END_TEST

START_TEST(rights_taken_and_given_back)
{
	map(at, 3, R | W, PRIVATE | ANON);
	bm_touch(bm, at, BM_WRITES);
	bm_touch(bm, at + PAGE, BM_READS);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 2 * PAGE, 0), 0);
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, 1, at, 1), -EFAULT);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 3 * PAGE, R), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 0);
	ck_assert_int_eq(bm_sys(bm, BM_READ, 0, at, 1), -EFAULT);
	/* a page of one's own is writable again at once, the zeroes are not */
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 3 * PAGE, R | W), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 0);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at, BM_EXECUTES), -1);
}
END_TEST

START_TEST(mprotect_refuses_in_linux_order)
{
	map(at, 2, R | W, PRIVATE | ANON);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at + 1, PAGE, R), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 0, R), 0);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, -PAGE, R), -ENOMEM);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, PAGE, 0x80), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at + 5 * PAGE, PAGE, R), -ENOMEM);
	/* what stands before the hole has changed */
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 3 * PAGE, R), -ENOMEM);
	ck_assert_int_eq(bm_sys(bm, BM_READ, 0, at + PAGE, 1), -EFAULT);
}
END_TEST

START_TEST(memory_not_needed_is_zero_again)
{
	uint64_t used;

	map(at, 3, R | W, PRIVATE | ANON);
	for (int i = 0; i < 3; i++)
		bm_touch(bm, at + i * PAGE, BM_WRITES);
	used = bm_pages(bm);
	*bm_byte(bm, at + PAGE) = 9;
	ck_assert_int_eq(bm_sys(bm, BM_MADVISE, at + PAGE, PAGE, MADV_DONTNEED), 0);
	ck_assert_uint_eq(bm_pages(bm), used - 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_uint_eq(*bm_byte(bm, at + PAGE), 0);
	ck_assert_int_eq(bm_touch(bm, at + 2 * PAGE, BM_WRITES), 0);
	ck_assert_int_eq(bm_sys(bm, BM_MADVISE, at + 2 * PAGE, 2 * PAGE, MADV_DONTNEED),
			 -ENOMEM);
	ck_assert_int_eq(bm_touch(bm, at + 2 * PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_sys(bm, BM_MADVISE, at + 1, PAGE, MADV_DONTNEED), -EINVAL);
}
END_TEST

START_TEST(a_forked_page_is_copied_by_who_writes_first)
{
	struct mm *mm = ksys_current(bm->sys)->mm, *child;
	uint64_t used;
	uint8_t *page;

	map(at, 2, R | W, PRIVATE | ANON);
	bm_touch(bm, at, BM_WRITES);
	bm_touch(bm, at + PAGE, BM_WRITES);
	*bm_byte(bm, at) = 1;
	child = mm_copy(bm->sys, mm);
	used = bm_pages(bm);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	*bm_byte(bm, at) = 2;
	ck_assert_uint_eq(bm_pages(bm), used + 1);
	ck_assert_int_eq(mm_fault(bm->sys, child, at, AREA_READ), FAULT_DONE);
	ck_assert_uint_eq(*mm_user_byte(bm->sys, child, at, AREA_READ), 1);
	/* the child is alone with its page then: a fault, but no copy */
	ck_assert_ptr_null(mm_user_byte(bm->sys, child, at, AREA_WRITE));
	ck_assert_int_eq(mm_fault(bm->sys, child, at, AREA_WRITE), FAULT_DONE);
	ck_assert_uint_eq(bm_pages(bm), used + 1);
	mm_put(bm->sys, child);
	/* so is the parent when the child has gone */
	used = bm_pages(bm);
	page = bm_byte(bm, at + PAGE);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_ptr_eq(bm_byte(bm, at + PAGE), page);
	ck_assert_uint_eq(bm_pages(bm), used);
}
END_TEST

/* CPUs without FEAT_HAFDBS: Linux copy_present_pte() makes each copy old. */
START_TEST(what_a_child_touches_first_is_a_fault)
{
	struct ksys_task *task = ksys_current(bm->sys);
	struct mm *mm = task->mm, *child;

	map(at, 5, R | W, PRIVATE | ANON);
	for (int i = 0; i < 4; i++)
		bm_touch(bm, at + i * PAGE, i < 3 ? BM_WRITES : BM_READS);
	child = mm_copy(bm->sys, mm);
	bm_faults(bm);
	for (int i = 0; i < 4; i++) /* the parent's are as young as they were */
		ck_assert_int_eq(bm_touch(bm, at + i * PAGE, BM_READS), 0);
	task->mm = child;
	mm_activate(bm->sys, child);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 1);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 1);
	/* a write at once is one fault, not two; so it is to the zero page */
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, at + 3 * PAGE, BM_WRITES), 1);
	check_faults(4, 4, 4);
	/* the kernel's touch is one too, what may not fault finds nothing there, and the
	 * size of what is mapped is the same whether touched or not */
	ck_assert_uint_eq(ksys_copy_from_user_nofault(bm->sys, &(uint8_t){0}, at + 2 * PAGE, 1),
			  1);
	ck_assert_uint_eq(ksys_user_page_size(bm->sys, at + 2 * PAGE), PAGE);
	ck_assert_uint_eq(ksys_user_page_size(bm->sys, at + 4 * PAGE), 0);
	/* rights change, age does not */
	ck_assert_int_eq(bm_sys(bm, BM_MPROTECT, at, 4 * PAGE, R), 0);
	check_faults(0, 0, 0);
	ck_assert_int_eq(ksys_copy_from_user(bm->sys, &(uint8_t){0}, at + 2 * PAGE, 1), 0);
	check_faults(1, 1, 0);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 0);
	task->mm = mm;
	mm_activate(bm->sys, mm);
	mm_put(bm->sys, child);
}
END_TEST

/* Linux perf_mmap(): user->locked_vm first, then mm->pinned_vm. */
START_TEST(locked_pages_are_a_users_then_an_address_spaces)
{
	struct ksys_task *task = ksys_current(bm->sys);
	struct mm *mm = task->mm, *child = mm_copy(bm->sys, mm);
	const uint64_t limit[2] = { 3 * PAGE + 5, 16 * PAGE };
	struct ksys_lock a, b, c;

	bm_poke(bm, BM_DATA, limit, sizeof(limit));
	ck_assert_int_eq(bm_sys(bm, BM_SETRLIMIT, 8, BM_DATA), 0);
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 6, 4, true, &a), 0);
	ck_assert_uint_eq(a.user_pages, 4);
	ck_assert_uint_eq(a.pinned, 2);
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 2, 4, true, &b), -EPERM);
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 2, 4, false, &b), 0);
	ck_assert_uint_eq(mm->pinned, 4);
	/* another process of the same user has a limit of its own, but no more of the
	 * user's pages; another user has */
	task->mm = child;
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 4, 4, true, &c), -EPERM);
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 3, 4, true, &c), 0);
	ck_assert_uint_eq(child->pinned, 3);
	ksys_unlock_pages(bm->sys, &c);
	task->cred.uid = 1000;
	ck_assert_int_eq(ksys_lock_pages(bm->sys, 7, 4, true, &c), 0);
	ck_assert_uint_eq(c.user_pages, 4);
	ksys_unlock_pages(bm->sys, &c);
	/* whoever unmaps last gets back what was pinned, if it was not his */
	task->mm = mm;
	bm->sys->unmapping = child;
	ksys_unlock_pages(bm->sys, &a);
	bm->sys->unmapping = NULL;
	ck_assert_uint_eq(child->pinned, (uint64_t)-2);
	ck_assert_uint_eq(mm->pinned, 4);
	task->cred.uid = 0;
	ksys_unlock_pages(bm->sys, &b);
	ck_assert_ptr_null(bm->sys->users);
	mm_put(bm->sys, child);
}
END_TEST

START_TEST(shared_memory_stays_shared_and_rings_stay_behind)
{
	struct mm *mm = ksys_current(bm->sys)->mm, *child;
	int fd = bm_event(bm);

	map(at, 1, R | W, SHARED | ANON);
	bm_sys(bm, BM_MMAP, at + PAGE, 2 * PAGE, R | W, SHARED | FIXED, fd, 0);
	bm_touch(bm, at, BM_WRITES);
	bm_touch(bm, at + PAGE, BM_READS);
	child = mm_copy(bm->sys, mm);
	/* found again by a fault of its own */
	ck_assert_ptr_null(mm_user_byte(bm->sys, child, at, AREA_READ));
	ck_assert_int_eq(mm_fault(bm->sys, child, at, AREA_WRITE), FAULT_DONE);
	*mm_user_byte(bm->sys, child, at, AREA_WRITE) = 5;
	ck_assert_uint_eq(*bm_byte(bm, at), 5);
	ck_assert_int_eq(bm_touch(bm, at, BM_WRITES), 0);
	ck_assert_int_eq(mm_fault(bm->sys, child, at + PAGE, AREA_READ), FAULT_MAPERR);
	bm_diary(bm);
	mm_put(bm->sys, child);
	ck_assert_str_eq(bm_diary(bm), "");
}
END_TEST

START_TEST(every_page_comes_back)
{
	struct mm *mm = ksys_current(bm->sys)->mm;
	uint64_t used = 0;

	for (int turn = 0; turn < 4; turn++) {
		struct mm *child;

		map(at, 600, R | W, PRIVATE | ANON);
		map(at + 700 * PAGE, 20, R | W, SHARED | ANON | POPULATE);
		for (int i = 0; i < 600; i += 7)
			bm_touch(bm, at + i * PAGE, i % 2 ? BM_READS : BM_WRITES);
		child = mm_copy(bm->sys, mm);
		for (int i = 0; i < 600; i += 3)
			mm_fault(bm->sys, child, at + i * PAGE, AREA_WRITE);
		mm_put(bm->sys, child);
		ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at, 800 * PAGE), 0);
		if (turn)
			ck_assert_uint_eq(bm_pages(bm), used);
		used = bm_pages(bm);
	}
}
END_TEST

START_TEST(fork_without_memory_leaves_nothing)
{
	struct mm *mm = ksys_current(bm->sys)->mm, *child;
	uint64_t used, pages, fresh = bm->sys->pool.end;

	map(at, 8, R | W, PRIVATE | ANON | POPULATE);
	child = mm_copy(bm->sys, mm);
	mm_put(bm->sys, child);
	used = bm_pages(bm);
	/* nothing fresh, and of the freed ones the first few */
	bm->sys->pool.end = bm->sys->pool.fresh;
	for (pages = 0;; pages++) {
		uint32_t *refs = bm->sys->pool.refs, rest, *cut = &bm->sys->pool.freed;

		for (uint64_t i = 0; i < pages && *cut; i++)
			cut = &refs[*cut - 1];
		rest = *cut;
		*cut = 0;
		child = mm_copy(bm->sys, mm);
		if (child)
			mm_put(bm->sys, child);
		for (cut = &bm->sys->pool.freed; *cut;)
			cut = &refs[*cut - 1];
		*cut = rest;
		ck_assert_uint_eq(bm_pages(bm), used);
		if (child)
			break;
	}
	ck_assert_uint_ge(pages, 3);
	bm->sys->pool.end = fresh;
	for (int i = 0; i < 8; i++)
		ck_assert_int_le(bm_touch(bm, at + i * PAGE, BM_WRITES), 1);
	ck_assert_uint_eq(bm_pages(bm), used);
}
END_TEST

START_TEST(the_stack_grows_to_its_limit)
{
	const uint64_t limit[2] = { 64 * PAGE, 64 * PAGE };
	uint64_t sp = bm->user.regs.sp & ~(uint64_t)(PAGE - 1);

	bm_poke(bm, BM_DATA, limit, sizeof(limit));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, 3, BM_DATA, 0), 0);
	ck_assert_int_eq(bm_touch(bm, sp - 63 * PAGE, BM_WRITES), 1);
	ck_assert_int_eq(bm_touch(bm, sp - 64 * PAGE, BM_WRITES), -1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIGSEGV);
}
END_TEST

/* ksys_mmap_pgoff(), do_mmap(), get_unmapped_area(), in their order. */
static const struct {
	uint64_t addr, size;
	int prot, flags, fd;
	uint64_t offset;
	long result;
} mmaps[] = {
	{ 0, PAGE, R, PRIVATE | ANON, -1, 1, -EINVAL },
	{ 0, 0, R, PRIVATE, 99, 0, -EBADF },
	{ 0, 0, R, PRIVATE | ANON, -1, 0, -EINVAL },
	{ 0, UINT64_MAX, R, PRIVATE | ANON, -1, 0, -ENOMEM },
	{ 0, UINT64_C(1) << 40, R, 0, -1, 0, -EBADF },
	{ 0, UINT64_C(1) << 40, R, ANON, -1, 0, -ENOMEM },
	{ 0x1001, PAGE, R, ANON | FIXED, -1, 0, -EINVAL },
	{ (UINT64_C(1) << 39) - PAGE, 2 * PAGE, R, ANON | PRIVATE | FIXED, -1, 0, -ENOMEM },
	{ BM_DATA, PAGE, R, ANON | PRIVATE | NOREPLACE, -1, 0, -EEXIST },
	{ 0, PAGE, R, ANON, -1, 0, -EINVAL },
	{ 0, PAGE, R, ANON | 3, -1, 0, -EINVAL },
	{ 0, PAGE, R, 0, 0, 0, -EINVAL },
	{ 0, PAGE, W, SHARED, 0, 0, -EACCES },
	{ 0, PAGE, R, SHARED, 0, 0, -ENODEV },
	{ 0, PAGE, R, PRIVATE, 1, 0, -ENODEV },
	{ 0x20001000, PAGE, R, ANON | PRIVATE, -1, 0, 0x20001000 },
	{ 0x20001001, PAGE, R, ANON | PRIVATE, -1, 0, 0x20002000 },
	{ 0x20003000, PAGE, R, ANON | PRIVATE | NOREPLACE, -1, 0, 0x20003000 },
	{ 0, PAGE, R, ANON | PRIVATE, -1, 0, 0x7000000000 },
	{ 0x20001000, PAGE, R, ANON | PRIVATE, -1, 0, 0x7000001000 },
};

START_TEST(mmap_answers_as_linux)
{
	for (size_t i = 0; i < sizeof(mmaps) / sizeof(mmaps[0]); i++) {
		long result = bm_sys(bm, BM_MMAP, mmaps[i].addr, mmaps[i].size, mmaps[i].prot,
				     mmaps[i].flags, mmaps[i].fd, mmaps[i].offset);

		ck_assert_msg(result == mmaps[i].result, "row %zu: %ld", i, result);
	}
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, 1, PAGE), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, 0, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, PAGE, UINT64_C(1) << 39), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, 0x30000000, PAGE), 0);
}
END_TEST

/* Of more than a page, in the sizes that call chains have: more of them one after the
 * other than RAM has pages. */
START_TEST(large_objects_come_back)
{
	const uint64_t before = bm_pages(bm);

	for (unsigned i = 0; i < 2000; i++) {
		uint8_t *small = ksys_alloc(bm->sys, 5000), *large = ksys_alloc(bm->sys, 65536);

		ck_assert_ptr_nonnull(small);
		ck_assert_ptr_nonnull(large);
		ck_assert_uint_eq(bm_pages(bm), before + 2 + 17);
		ck_assert_uint_eq(small[0] | small[4999] | large[0] | large[65535], 0);
		memset(small, 0xee, 5000);
		memset(large, 0xee, 65536);
		ksys_free(bm->sys, small);
		ksys_free(bm->sys, large);
		ck_assert_uint_eq(bm_pages(bm), before);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mm");
	TCase *tc = tcase_create("mm");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, untouched_memory_is_read_then_written_in_two_faults);
	tcase_add_test(tc, reading_costs_no_page);
	tcase_add_test(tc, the_kernels_own_touch_is_a_kernel_fault);
	tcase_add_test(tc, populated_memory_has_no_faults);
	tcase_add_test(tc, shared_memory_is_clean_until_written);
	tcase_add_test(tc, pages_in_memory_are_mapped_around_a_read);
	tcase_add_test(tc, the_programs_file_is_mapped_privately);
	tcase_add_test(tc, only_a_rings_header_may_be_written);
	tcase_add_test(tc, a_mapped_event_outlives_its_descriptor);
	tcase_add_test(tc, a_hole_is_cut_and_filled);
	tcase_add_test(tc, rights_taken_and_given_back);
	tcase_add_test(tc, mprotect_refuses_in_linux_order);
	tcase_add_test(tc, memory_not_needed_is_zero_again);
	tcase_add_test(tc, a_forked_page_is_copied_by_who_writes_first);
	tcase_add_test(tc, what_a_child_touches_first_is_a_fault);
	tcase_add_test(tc, locked_pages_are_a_users_then_an_address_spaces);
	tcase_add_test(tc, shared_memory_stays_shared_and_rings_stay_behind);
	tcase_add_test(tc, every_page_comes_back);
	tcase_add_test(tc, fork_without_memory_leaves_nothing);
	tcase_add_test(tc, the_stack_grows_to_its_limit);
	tcase_add_test(tc, mmap_answers_as_linux);
	tcase_add_test(tc, large_objects_come_back);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
