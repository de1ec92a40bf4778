/* SPDX-License-Identifier: MIT */
/* The engine's start-up and the self-tests that find out how Unicorn does things. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cpu-priv.h"

enum {
	TABLE = 4096,
	PAGE = 4096,
	MIB2 = 2 << 20,
};

static const uint32_t pstate_el1h_masked = 0x3c5;
static const uint32_t word_hvc = 0xd4000002;
static const uint32_t word_mrs_x0 = 0xd5200000;
static const uint32_t word_msr_x0 = 0xd5000000;

static void bit_set(uint8_t *map, uint32_t enc)
{
	map[enc >> 3 & (OWNED_BYTES - 1)] |= (uint8_t)(1 << (enc & 7));
}

static uc_err put_entry(struct cpu *cpu, uint64_t table, uint64_t index, uint64_t entry)
{
	return uc_mem_write(cpu->uc, table + 8 * index, &entry, sizeof(entry));
}

/*
 * The RAM, in blocks of 2 MiB and pages for the rest, all else a fault to EL2. Each
 * step of the guest's own walks passes here, so the walk begins at level 2: two
 * tables side by side, for 31 bits of addresses (Arm ARM, D8.2 "Concatenated
 * translation tables").
 */
static uc_err map_stage2(struct cpu *cpu)
{
	const uint64_t leaf = UINT64_C(0xf) << 2 | 3 << 6 | 3 << 8 | 1 << 10;
	const uint64_t vtcr = 33 | 0 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | 2 << 16 |
			      UINT64_C(1) << 31;
	const uint64_t level3 = STAGE2_BASE + 2 * TABLE, first = cpu->ram_base / MIB2;
	const uint64_t blocks = cpu->ram_size / MIB2;
	uc_err err = uc_mem_map(cpu->uc, STAGE2_BASE, 3 * TABLE, UC_PROT_ALL);

	for (uint64_t i = 0; !err && i < blocks; i++)
		err = put_entry(cpu, STAGE2_BASE, first + i,
				(cpu->ram_base + i * MIB2) | leaf | 1);
	if (!err && cpu->ram_size % MIB2)
		err = put_entry(cpu, STAGE2_BASE, first + blocks, level3 | 3);
	for (uint64_t at = blocks * MIB2; !err && at < cpu->ram_size; at += PAGE)
		err = put_entry(cpu, level3, at % MIB2 / PAGE,
				(cpu->ram_base + at) | leaf | 3);
	if (!err)
		err = cpu_cp_write(cpu->uc, CPU_REG_VTCR, vtcr);
	if (!err)
		err = cpu_cp_write(cpu->uc, CPU_REG_VTTBR, STAGE2_BASE);
	return err;
}

/* EL1 must be told that it is AArch64, or every translated fetch faults; the OS
 * lock must be off, or single-step is disabled (Arm ARM, D2.12). */
static uc_err configure(struct cpu *cpu)
{
	uc_err err = cpu_cp_write(cpu->uc, CPU_REG_SCR_EL3, 0x5b1);

	if (!err)
		err = map_stage2(cpu);
	if (!err)
		err = cpu_cp_write(cpu->uc, CPU_REG_HCR_EL2, UINT64_C(1) << 31 | 1);
	if (!err) /* Unicorn's own PMU is out of reach: see judge_access() */
		err = cpu_cp_write(cpu->uc, CPU_REG_MDCR_EL2, MDCR_TPM);
	if (!err)
		err = cpu_cp_write(cpu->uc, CPU_REG_OSLAR, 0);
	if (!err)
		err = cpu_cp_write(cpu->uc, CPU_REG_MDSCR, 0);
	return err;
}

static uint32_t probe_access(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
			     void *opaque)
{
	struct cpu *cpu = opaque;

	(void)rt;
	(void)reg;
	if (++cpu->probed > 1)
		uc_emu_stop(uc);
	return 1;
}

static void probe_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	(void)intno;
	(void)opaque;
	uc_emu_stop(uc);
}

static bool replays(struct cpu *cpu, uint32_t word)
{
	uint32_t code[2] = { word, word_hvc };

	memcpy(cpu->ram, code, sizeof(code));
	uc_ctl_remove_cache(cpu->uc, cpu->ram_base, cpu->ram_base + sizeof(code));
	cpu->probed = 0;
	uc_emu_start(cpu->uc, cpu->ram_base, 0, 0, 0);
	return cpu->probed > 1;
}

/* Which registers the machine serves, and which of them nobody has tried: any? */
static bool find_owned(struct cpu *cpu, uint8_t untried[OWNED_BYTES])
{
	const struct cpu_traits *traits = cpu->ops.traits;
	bool any = false;

	for (uint32_t enc = 2 << 14; enc < 1 << 16; enc++)
		if (cpu->ops.owns(cpu->ops.opaque, enc))
			bit_set(cpu->owned, enc);
	for (size_t i = 0; i < OWNED_BYTES; i++) {
		untried[i] = cpu->owned[i] & (traits ? (uint8_t)~traits->tried[i] : 0xff);
		any |= untried[i] != 0;
	}
	return any;
}

static uc_err try_each(struct cpu *cpu, const uint8_t untried[OWNED_BYTES])
{
	uc_hook hooks[3];
	uc_err err = uc_hook_add(cpu->uc, &hooks[0], UC_HOOK_INSN, (void *)probe_access, cpu,
				 1, 0, UC_ARM64_INS_MRS);

	if (!err)
		err = uc_hook_add(cpu->uc, &hooks[1], UC_HOOK_INSN, (void *)probe_access,
				  cpu, 1, 0, UC_ARM64_INS_MSR);
	if (!err)
		err = uc_hook_add(cpu->uc, &hooks[2], UC_HOOK_INTR, (void *)probe_intr, cpu,
				  1, 0);
	for (uint32_t enc = 2 << 14; !err && enc < 1 << 16; enc++) {
		if (!cpu_bit_test(untried, enc))
			continue;
		if (replays(cpu, word_mrs_x0 | enc << 5))
			bit_set(cpu->foreign[false], enc);
		if (replays(cpu, word_msr_x0 | enc << 5))
			bit_set(cpu->foreign[true], enc);
	}
	memset(cpu->ram, 0, 2 * INSN_BYTES);
	uc_ctl_remove_cache(cpu->uc, cpu->ram_base, cpu->ram_base + 2 * INSN_BYTES);
	for (unsigned i = 0; !err && i < 3; i++)
		err = uc_hook_del(cpu->uc, hooks[i]);
	return err;
}

/* What was tried before is taken from the traits, what was tried now is added. */
static void share_traits(struct cpu *cpu)
{
	struct cpu_traits *traits = cpu->ops.traits;

	for (size_t i = 0; traits && i < OWNED_BYTES; i++) {
		for (unsigned write = 0; write < 2; write++) {
			traits->foreign[write][i] |= cpu->foreign[write][i];
			cpu->foreign[write][i] = traits->foreign[write][i] & cpu->owned[i];
		}
		traits->tried[i] |= cpu->owned[i];
	}
}

/* A register that Unicorn does not know replays its block for ever unless the
 * hook writes the PC; for one that it knows that would be a slow detour. Found
 * out by trying each. */
static uc_err probe_owned(struct cpu *cpu)
{
	uint8_t untried[OWNED_BYTES];
	uc_err err = UC_ERR_OK;

	if (find_owned(cpu, untried))
		err = try_each(cpu, untried);
	if (!err)
		share_traits(cpu);
	return err;
}

static uc_err open_engine(struct cpu *cpu, uint64_t ram_base, void *ram, size_t ram_size)
{
	uint32_t pstate = pstate_el1h_masked;
	uc_err e = uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &cpu->uc);

	cpu->ram_base = ram_base;
	cpu->ram = ram;
	cpu->ram_size = ram_size;
	cpu->el = 1;
	if (!e)
		e = cpu_buffer_init(cpu);
	if (!e)
		e = cpu_icache_init(cpu);
	if (!e)
		e = uc_ctl_set_cpu_model(cpu->uc, UC_CPU_ARM64_A57);
	if (!e)
		e = uc_mem_map_ptr(cpu->uc, ram_base, ram_size, UC_PROT_ALL, ram);
	if (!e)
		e = uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	return e;
}

struct cpu *cpu_create(enum cpu_engine engine, uint64_t ram_base, void *ram,
		       size_t ram_size, const struct cpu_ops *ops, char *err,
		       size_t errsize)
{
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	uc_err e;

	if (!cpu) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	cpu->engine = engine;
	cpu->ops = *ops;
	e = open_engine(cpu, ram_base, ram, ram_size);
	if (!e && exception_probe_init(&cpu->probe, cpu->uc, ram_base)) {
		snprintf(err, errsize, "Unicorn %u.%u: no syndrome in a saved context",
			 UC_API_MAJOR, UC_API_MINOR);
		cpu_destroy(cpu);
		return NULL;
	}
	if (!e)
		e = probe_owned(cpu);
	if (!e)
		e = configure(cpu);
	if (!e)
		e = cpu_add_hooks(cpu);
	if (e) {
		snprintf(err, errsize, "Unicorn: %s", uc_strerror(e));
		cpu_destroy(cpu);
		return NULL;
	}
	return cpu;
}

void cpu_destroy(struct cpu *cpu)
{
	if (!cpu)
		return;
	exception_probe_free(&cpu->probe);
	cpu_blocks_free(cpu);
	cpu_icache_free(cpu);
	if (cpu->uc)
		uc_close(cpu->uc);
	free(cpu);
}

