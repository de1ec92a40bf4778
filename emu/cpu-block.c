/* SPDX-License-Identifier: MIT */
/*
 * What the guest's blocks hold. An entry is filled from the words when Unicorn
 * translates the block, so that it stays right when code is rewritten, and from
 * memory when a block is met that has none.
 *
 * Entries are found by virtual address, since that is what hooks are told, and
 * one address is several codes where there are several address spaces. So an
 * entry belongs to a value of TTBR0_EL1 (or to none, in the upper half), and it
 * is compared with the tables again after anything that may have changed them
 * (TLBI, other translation registers, another CPU).
 */
#include <stdlib.h>
#include <string.h>

#include "emu/cpu-priv.h"

enum { PAGE = 0x1000, ASID_SHIFT = 48 };

static uint64_t space_of(const struct cpu *cpu, uint64_t va)
{
	return va >> 55 & 1 ? UINT64_MAX : cpu->space0;
}

bool cpu_page(void *opaque, uint64_t va, uint64_t *pa)
{
	struct cpu *cpu = opaque;
	const uint64_t key = (va & ~(uint64_t)(PAGE - 1)) | cpu->el;
	const uint64_t space = space_of(cpu, va);
	const unsigned i = va / PAGE % PAGES;

	if (cpu->page[i].key != key || cpu->page[i].generation != cpu->generation ||
	    cpu->page[i].space != space) {
		if (!cpu_translate(cpu, va & ~(uint64_t)(PAGE - 1), &cpu->page[i].pa))
			return false;
		cpu->page[i].key = key;
		cpu->page[i].generation = cpu->generation;
		cpu->page[i].space = space;
	}
	*pa = cpu->page[i].pa | (va & (PAGE - 1));
	return true;
}

bool cpu_word_at(struct cpu *cpu, uint64_t va, uint32_t *word, uint64_t *pa)
{
	if (!cpu_page(cpu, va, pa) || *pa < cpu->ram_base ||
	    *pa - cpu->ram_base > cpu->ram_size - INSN_BYTES)
		return false;
	memcpy(word, cpu->ram + (*pa - cpu->ram_base), INSN_BYTES);
	return true;
}

static void forget_pages(struct cpu *cpu)
{
	for (unsigned i = 0; i < PAGES; i++)
		cpu->page[i].key = UINT64_MAX;
}

void cpu_wrote(struct cpu *cpu, uint32_t enc, uint64_t value)
{
	if (enc == CPU_REG_TTBR0) {
		if ((cpu->space0 ^ value) >> ASID_SHIFT)
			forget_pages(cpu); /* the same one again may have other tables */
		cpu->space0 = value;
	} else if (enc == CPU_REG_TTBR1 || enc == CPU_REG_TCR || enc == CPU_REG_SCTLR) {
		cpu->generation++;
	}
}

static struct cpu_block **slot(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	const uint64_t key = pc / INSN_BYTES ^ (uint64_t)size << 7 ^ space_of(cpu, pc) >> 3;

	return &cpu->blocks[key * UINT64_C(0x9e3779b97f4a7c15) >> 51];
}
_Static_assert(BLOCKS == 1 << (64 - 51), "the hash has another width");

/* Is the entry still what memory holds at its address? */
static bool is_current(struct cpu *cpu, struct cpu_block *block)
{
	uint64_t pa = 0;

	for (uint32_t i = 0; i < block->n; i++) {
		uint32_t word;

		if (!i || !((block->pc + (uint64_t)i * INSN_BYTES) & (PAGE - 1))) {
			if (!cpu_word_at(cpu, block->pc + (uint64_t)i * INSN_BYTES, &word, &pa))
				return false;
			block->pa[i != 0] = pa;
		} else {
			memcpy(&word, cpu->ram + (pa - cpu->ram_base), INSN_BYTES);
		}
		if (word != block->insn[i].word)
			return false;
		pa += INSN_BYTES;
	}
	block->generation = cpu->generation;
	return true;
}

static bool fill(struct cpu *cpu, struct cpu_block *block)
{
	uint64_t pa = 0;

	for (uint32_t i = 0; i < block->n; i++) {
		uint32_t word;

		if (!i || !((block->pc + (uint64_t)i * INSN_BYTES) & (PAGE - 1))) {
			if (!cpu_word_at(cpu, block->pc + (uint64_t)i * INSN_BYTES, &word, &pa))
				return false;
			block->pa[i != 0] = pa;
		} else {
			memcpy(&word, cpu->ram + (pa - cpu->ram_base), INSN_BYTES);
		}
		model_decode(cpu->model, word, &block->insn[i]);
		pa += INSN_BYTES;
	}
	model_sum(cpu->model, block->insn, block->n, &block->sum);
	return true;
}

/* Only marked: this may be called while the entry in that place is in use. */
void cpu_block_renew(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	struct cpu_block *block = *slot(cpu, pc, size);

	if (block && block->pc == pc)
		block->generation = UINT64_MAX;
}

struct cpu_block *cpu_block_find(struct cpu *cpu, uint64_t pc, uint32_t size, bool anew)
{
	struct cpu_block **at = slot(cpu, pc, size), *block = *at;
	const uint32_t n = size / INSN_BYTES;

	if (block && block->pc == pc && block->n == n &&
	    block->space == space_of(cpu, pc) &&
	    ((!anew && block->generation == cpu->generation) || is_current(cpu, block)))
		return block;
	if (!n || !cpu->model)
		return NULL;
	free(block);
	*at = NULL;
	block = malloc(sizeof(*block) + n * sizeof(block->insn[0]));
	if (!block)
		return NULL;
	block->pc = pc;
	block->n = n;
	block->space = space_of(cpu, pc);
	block->generation = cpu->generation;
	if (!fill(cpu, block)) {
		free(block);
		return NULL;
	}
	*at = block;
	return block;
}

void cpu_blocks_free(struct cpu *cpu)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		free(cpu->blocks[i]);
}
