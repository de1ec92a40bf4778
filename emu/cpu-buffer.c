/* SPDX-License-Identifier: MIT */
/*
 * Unicorn's buffer for translations. It does not survive a full one, and does not
 * tell how full it is; so what has been translated is added up, at more than it
 * takes, and everything is flushed in time. A flush touches the whole buffer:
 * hence one of neither the default size (1 GiB) nor a small one.
 */
#include <string.h>

#include "emu/cpu-priv.h"

enum {
	BUFFER_SIZE = 128 << 20,
	BUFFER_FULL = BUFFER_SIZE / 4 * 3,
	/* Host code of a block with its hook, and of an instruction; measured: 320
	 * and 24 (DMB) to 250 (STP under a code hook). */
	BLOCK_COST = 320,
	INSN_COST = 256,
};

uc_err cpu_buffer_init(struct cpu *cpu)
{
	return uc_ctl_set_tcg_buffer_size(cpu->uc, BUFFER_SIZE);
}

void cpu_flush_soon(struct cpu *cpu)
{
	cpu->flush = true;
	cpu_hold(cpu);
}

void cpu_flush(struct cpu *cpu)
{
	if (!cpu->flush)
		return;
	cpu->flush = false;
	cpu->buffer_used = 0;
	memset(cpu->starts, 0, sizeof(cpu->starts));
	cpu_icache_reset(cpu);
	uc_ctl_flush_tb(cpu->uc);
}

static void add_up(struct cpu *cpu, uint32_t size)
{
	cpu->buffer_used += BLOCK_COST + (uint64_t)size / INSN_BYTES * INSN_COST;
	if (cpu->buffer_used >= BUFFER_FULL)
		cpu_flush_soon(cpu);
}

void cpu_translated(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	cpu_icache_fill(cpu, pc, size);
	add_up(cpu, size);
}

/* Remembered by address, so that many starts at one place count once. */
void cpu_started(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	const uint64_t key = pc | cpu->stepping | 2;
	uint64_t *slot = &cpu->starts[pc / INSN_BYTES % STARTS];

	cpu_icache_fill(cpu, pc, size);
	if (*slot == key)
		return;
	*slot = key;
	add_up(cpu, size);
}
