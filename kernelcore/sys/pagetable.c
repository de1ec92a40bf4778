/* SPDX-License-Identifier: MIT */
/*
 * Stage 1 tables of 4 KiB pages under TTBR0 for 39-bit addresses (TCR_EL1.T0SZ =
 * 25: three levels, Arm ARM D8.2).
 */
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"

#define DESC_TABLE	UINT64_C(2) /* at level 3: a page */
#define DESC_USER	(UINT64_C(1) << 6)
#define DESC_INNER	(UINT64_C(3) << 8)
#define DESC_NOT_GLOBAL (UINT64_C(1) << 11)
#define DESC_PXN	(UINT64_C(1) << 53)
#define DESC_UXN	(UINT64_C(1) << 54)

enum { INDEX_MASK = 511 };

static unsigned table_index(uint64_t va, unsigned level)
{
	return va >> (PAGE_SHIFT + 9 * (3 - level)) & INDEX_MASK;
}

static uint64_t *next_table(struct ksys *sys, uint64_t *entry, bool make)
{
	void *page;

	if (*entry & PT_VALID)
		return hal_phys_to_virt(ksys_hal(sys), *entry & PT_ADDR);
	if (!make)
		return NULL;
	page = ksys_page_alloc(sys);
	if (!page)
		return NULL;
	*entry = hal_virt_to_phys(ksys_hal(sys), page) | DESC_TABLE | PT_VALID;
	return page;
}

uint64_t *pt_entry(struct ksys *sys, const struct mm *mm, uint64_t va, bool make)
{
	uint64_t *l2, *l3;

	if (va >= MM_VA_END)
		return NULL;
	l2 = next_table(sys, &mm->pgd[table_index(va, 1)], make);
	if (!l2)
		return NULL;
	l3 = next_table(sys, &l2[table_index(va, 2)], make);
	return l3 ? &l3[table_index(va, 3)] : NULL;
}

uint64_t pt_desc(struct ksys *sys, const void *page, unsigned prot, bool writable)
{
	uint64_t desc = hal_virt_to_phys(ksys_hal(sys), page) | DESC_TABLE | DESC_INNER |
			PT_ACCESSED | DESC_NOT_GLOBAL | DESC_PXN | DESC_USER;

	desc |= prot ? PT_VALID : PT_NONE;
	desc |= writable ? PT_DIRTY : PT_READ_ONLY;
	if (!(prot & AREA_EXEC))
		desc |= DESC_UXN;
	return desc;
}

void *pt_page(struct ksys *sys, uint64_t desc)
{
	return hal_phys_to_virt(ksys_hal(sys), desc & PT_ADDR);
}

void pt_destroy(struct ksys *sys, struct mm *mm)
{
	for (unsigned i = 0; i <= INDEX_MASK; i++) {
		uint64_t *l2 = next_table(sys, &mm->pgd[i], false);

		for (unsigned j = 0; l2 && j <= INDEX_MASK; j++) {
			void *l3 = next_table(sys, &l2[j], false);

			if (l3)
				ksys_page_free(sys, l3);
		}
		if (l2)
			ksys_page_free(sys, l2);
	}
	ksys_page_free(sys, mm->pgd);
}
