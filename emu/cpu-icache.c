/* SPDX-License-Identifier: MIT */
/*
 * What the guest says of its instruction cache. After one write to a page with
 * translated code Unicorn no longer sees further ones, so it must be heeded.
 *
 * Each line of RAM that has been translated is kept as it was then. So IC IVAU of
 * any other costs nothing (Linux patches 44,000 places that were never executed while
 * it boots), and IC IALLU, which each CPU executes when it comes up, drops what has
 * changed and nothing else.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/cpu-priv.h"

struct cpu_icache {
	size_t lines;
	uint8_t *copy;	/* of RAM: the lines that are `kept` */
	uint64_t *kept; /* a bit a line: there are translations of it */
	uint64_t *torn; /* ... and not all of them of what `copy` has */
	bool unknown;	/* there are translations of nobody knows what */
};

enum { WORD_BITS = 64 };

uc_err cpu_icache_init(struct cpu *cpu)
{
	struct cpu_icache *icache = calloc(1, sizeof(*icache));
	size_t words;

	cpu->icache = icache;
	if (!icache)
		return UC_ERR_NOMEM;
	icache->lines = cpu->ram_size / LINE_BYTES;
	words = icache->lines / WORD_BITS + 1;
	icache->kept = calloc(words, sizeof(*icache->kept));
	icache->torn = calloc(words, sizeof(*icache->torn));
	/* As large as RAM, and as sparse as code is in it. */
	icache->copy = mmap(NULL, cpu->ram_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (icache->copy == MAP_FAILED)
		icache->copy = NULL;
	if (!icache->copy || !icache->kept || !icache->torn)
		return UC_ERR_NOMEM;
	madvise(icache->copy, cpu->ram_size, MADV_NOHUGEPAGE);
	return UC_ERR_OK;
}

void cpu_icache_free(struct cpu *cpu)
{
	struct cpu_icache *icache = cpu->icache;

	if (!icache)
		return;
	if (icache->copy)
		munmap(icache->copy, cpu->ram_size);
	free(icache->kept);
	free(icache->torn);
	free(icache);
}

static bool bit(const uint64_t *map, size_t line)
{
	return map[line / WORD_BITS] >> line % WORD_BITS & 1;
}

static void set_bit(uint64_t *map, size_t line)
{
	map[line / WORD_BITS] |= UINT64_C(1) << line % WORD_BITS;
}

static void clear_bit(uint64_t *map, size_t line)
{
	map[line / WORD_BITS] &= ~(UINT64_C(1) << line % WORD_BITS);
}

static bool line_of(const struct cpu *cpu, uint64_t va, size_t *line)
{
	uint64_t pa;

	if (!cpu_page((void *)cpu, va, &pa) || pa < cpu->ram_base ||
	    pa - cpu->ram_base >= cpu->ram_size)
		return false;
	*line = (pa - cpu->ram_base) / LINE_BYTES;
	return true;
}

static void keep(struct cpu *cpu, size_t line)
{
	struct cpu_icache *icache = cpu->icache;
	const uint8_t *now = cpu->ram + line * LINE_BYTES;
	uint8_t *copy = icache->copy + line * LINE_BYTES;

	if (!bit(icache->kept, line)) {
		memcpy(copy, now, LINE_BYTES);
		set_bit(icache->kept, line);
	} else if (memcmp(copy, now, LINE_BYTES)) {
		set_bit(icache->torn, line);
	}
}

void cpu_icache_fill(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	const uint64_t first = pc & ~(uint64_t)(LINE_BYTES - 1);
	size_t line;

	for (uint64_t va = first; va < pc + size; va += LINE_BYTES) {
		if (line_of(cpu, va, &line))
			keep(cpu, line);
		else /* it may be executed and not be read */
			cpu->icache->unknown = true;
	}
}

static void drop(struct cpu *cpu, size_t line)
{
	cpu_forget_code(cpu, cpu->ram_base + line * LINE_BYTES, LINE_BYTES);
	clear_bit(cpu->icache->kept, line);
	clear_bit(cpu->icache->torn, line);
}

void cpu_icache_line(struct cpu *cpu, uint64_t va)
{
	size_t line;

	if (line_of(cpu, va, &line) && (cpu->icache->unknown || bit(cpu->icache->kept, line)))
		drop(cpu, line);
}

static bool has_changed(const struct cpu *cpu, size_t line)
{
	const struct cpu_icache *icache = cpu->icache;

	return bit(icache->torn, line) ||
	       memcmp(icache->copy + line * LINE_BYTES, cpu->ram + line * LINE_BYTES,
		      LINE_BYTES);
}

void cpu_icache_all(struct cpu *cpu)
{
	struct cpu_icache *icache = cpu->icache;

	if (icache->unknown) {
		cpu_flush_soon(cpu);
		return;
	}
	for (size_t at = 0; at <= icache->lines / WORD_BITS; at++) {
		for (uint64_t left = icache->kept[at]; left; left &= left - 1) {
			const size_t line = at * WORD_BITS + (unsigned)__builtin_ctzll(left);

			if (has_changed(cpu, line))
				drop(cpu, line);
		}
	}
}

void cpu_icache_reset(struct cpu *cpu)
{
	struct cpu_icache *icache = cpu->icache;
	const size_t size = (icache->lines / WORD_BITS + 1) * sizeof(*icache->kept);

	memset(icache->kept, 0, size);
	memset(icache->torn, 0, size);
	icache->unknown = false;
}
