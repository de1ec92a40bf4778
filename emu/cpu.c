/* SPDX-License-Identifier: MIT */
/*
 * How the block engine counts. A block hook runs before each translated block
 * and takes the block's bytes from what is left of the budget; a block that
 * would pass it is not entered. The rest, less than a block, runs by
 * architectural single-step (MDSCR_EL1.SS, at EL1 with KDE and PSTATE.D clear),
 * which needs no retranslation. Whoever looks inside a block (an MRS, an abort)
 * finds the exact number from the PC.
 *
 * What may interest the machine at a block's edge goes one slow way: all of
 * `left` is moved to `reserve`, so that the next block does not fit. That is how
 * a high IRQ wire waits for PSTATE.I. A change to EL0 is seen there too: ERET is
 * the only one that makes it, each block that ends in one is marked when it is
 * translated, and a mark sends its successor the slow way.
 */
#include "emu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#include "emu/exception.h"

enum {
	INSN_BYTES = 4,
	OWNED_BYTES = (1 << 16) / 8,
	MARKS = 4096,
	STAGE2_SIZE = 4096,
	HOOKS = 7,
};

/* Stage 2's one table, outside of any guest's RAM. */
#define STAGE2_BASE UINT64_C(0x3fff000)
#define GIB	    (UINT64_C(1) << 30)

/* A budget without end: nobody lives to see it used up, and its bytes fit. */
#define MAX_GRANT (UINT64_MAX / (2 * INSN_BYTES))

#define PSTATE_SS   (UINT64_C(1) << 21)
#define PSTATE_D    (UINT64_C(1) << 9)
#define PSTATE_I    (UINT64_C(1) << 7)
#define PSTATE_KEEP (~(PSTATE_SS | UINT64_C(1) << 20))
#define MDSCR_SS    UINT64_C(1)
#define SCTLR_M	    UINT64_C(1)
#define LINE_BYTES  UINT64_C(64) /* what CTR_EL0 says */
#define MDSCR_KDE   (UINT64_C(1) << 13)

static const uint32_t reg_mdscr_el1 = SYSREG(2, 0, 0, 2, 2);
static const uint32_t reg_oslar_el1 = SYSREG(2, 0, 1, 0, 4);
static const uint32_t reg_sctlr_el1 = SYSREG(3, 0, 1, 0, 0);
static const uint32_t reg_scr_el3 = SYSREG(3, 6, 1, 1, 0);
static const uint32_t reg_hcr_el2 = SYSREG(3, 4, 1, 1, 0);
static const uint32_t reg_vttbr_el2 = SYSREG(3, 4, 2, 1, 0);
static const uint32_t reg_vtcr_el2 = SYSREG(3, 4, 2, 1, 2);
static const uint32_t reg_ats1e1r = SYSREG(1, 0, 7, 8, 0);
static const uint32_t reg_ats1e0r = SYSREG(1, 0, 7, 8, 2);
static const uint32_t reg_par_el1 = SYSREG(3, 0, 7, 4, 0);
static const uint32_t reg_esr_el1 = SYSREG(3, 0, 5, 2, 0);
static const uint32_t reg_far_el1 = SYSREG(3, 0, 6, 0, 0);
static const uint32_t reg_daif = SYSREG(3, 3, 4, 2, 1);
static const uint32_t pstate_el1h_masked = 0x3c5;

static const uint32_t word_eret = 0xd69f03e0;
static const uint32_t word_hvc = 0xd4000002;
static const uint32_t word_mrs_x0 = 0xd5200000;
static const uint32_t word_msr_x0 = 0xd5000000;

struct cpu {
	/* The block hook's whole world, first and together: it runs once every
	 * few guest instructions. */
	uint64_t left;	    /* bytes of code that may still be entered */
	uint64_t block_end; /* behind the block entered last */
	uint8_t mark[MARKS]; /* by end address: may leave EL1 */

	uc_engine *uc;
	enum cpu_engine engine;
	struct cpu_ops ops;
	struct exception_probe probe;
	uc_hook hooks[HOOKS];
	unsigned nhooks;
	uint64_t ram_base;
	uint8_t *ram;
	size_t ram_size;
	uint8_t owned[OWNED_BYTES];   /* encodings that the machine serves */
	/* of those, unknown to Unicorn, for reading and for writing */
	uint8_t foreign[2][OWNED_BYTES];
	uint32_t probed;	      /* self-test: hook calls for one instruction */
	bool flush;		      /* all translations are to go at the next start */
	unsigned el;
	char error[96];

	/* What follows belongs to one cpu_run(). */
	uint64_t reserve;      /* bytes held back from left */
	uint64_t granted;      /* instructions, with which left + reserve began */
	uint64_t settled;      /* of those entered, reported by ops.retired() */
	bool fresh;	       /* no block entered since the engine started */
	bool in_flight;	       /* step engine: an instruction was begun */
	bool stopping;	       /* a hook stopped the engine */
	bool interrupted;      /* ... for the IRQ wire */
	bool excepted;	       /* intno is valid */
	bool stepping;	       /* single-step is on */
	uint64_t stepping_d;   /* PSTATE.D of the guest while it is */
	uint32_t intno;
};

static bool bit_test(const uint8_t *map, uint32_t enc)
{
	return map[enc >> 3 & (OWNED_BYTES - 1)] >> (enc & 7) & 1;
}

static void bit_set(uint8_t *map, uint32_t enc)
{
	map[enc >> 3 & (OWNED_BYTES - 1)] |= (uint8_t)(1 << (enc & 7));
}

static uc_arm64_cp_reg cp_reg(uint32_t enc, uint64_t value)
{
	return (uc_arm64_cp_reg){
		.op0 = enc >> 14 & 3,
		.op1 = enc >> 11 & 7,
		.crn = enc >> 7 & 15,
		.crm = enc >> 3 & 15,
		.op2 = enc & 7,
		.val = value,
	};
}

static uc_err cp_write(uc_engine *uc, uint32_t enc, uint64_t value)
{
	uc_arm64_cp_reg reg = cp_reg(enc, value);

	return uc_reg_write(uc, UC_ARM64_REG_CP_REG, &reg);
}

static uint64_t cp_read(uc_engine *uc, uint32_t enc)
{
	uc_arm64_cp_reg reg = cp_reg(enc, 0);

	uc_reg_read(uc, UC_ARM64_REG_CP_REG, &reg);
	return reg.val;
}

static uint64_t reg_read(const struct cpu *cpu, int reg)
{
	uint64_t value = 0;

	uc_reg_read(cpu->uc, reg, &value);
	return value;
}

static void reg_write(struct cpu *cpu, int reg, uint64_t value)
{
	uc_reg_write(cpu->uc, reg, &value);
}

static uint64_t pstate_read(const struct cpu *cpu)
{
	uint32_t value = 0;

	uc_reg_read(cpu->uc, UC_ARM64_REG_PSTATE, &value);
	return value;
}

static unsigned pstate_el(uint64_t pstate)
{
	return pstate >> 2 & 3;
}

/* -- counting ------------------------------------------------------------- */

static void settle(struct cpu *cpu, uint64_t executed)
{
	uint64_t n = executed - cpu->settled;

	cpu->settled = executed;
	if (n)
		cpu->ops.retired(cpu->ops.opaque, n);
}

/* Instructions entered so far; the block engine's are whole blocks. */
static uint64_t entered(const struct cpu *cpu)
{
	return cpu->granted - (cpu->left + cpu->reserve) / INSN_BYTES;
}

/* Instructions executed before the one at @pc, which is in the current block. */
static uint64_t executed_before(const struct cpu *cpu, uint64_t pc)
{
	if (cpu->engine == CPU_ENGINE_STEP)
		return entered(cpu);
	return entered(cpu) - (cpu->block_end - pc) / INSN_BYTES;
}

/* The step engine's instruction in flight has retired. */
static void land(struct cpu *cpu)
{
	cpu->in_flight = false;
	cpu->left -= INSN_BYTES;
}

/* Everything entered has retired and something changed: a new budget, and a
 * look at the next edge if the wire is high. */
static void regrant(struct cpu *cpu)
{
	uint64_t budget = cpu->ops.budget(cpu->ops.opaque);

	if (budget > MAX_GRANT - cpu->settled)
		budget = MAX_GRANT - cpu->settled;
	cpu->granted = cpu->settled + budget;
	cpu->left = budget * INSN_BYTES;
	cpu->reserve = 0;
	if (cpu->ops.irq(cpu->ops.opaque) || cpu->stepping) {
		cpu->reserve = cpu->left;
		cpu->left = 0;
	}
}

static void leave(struct cpu *cpu, bool interrupted)
{
	cpu->stopping = true;
	cpu->interrupted = interrupted;
	uc_emu_stop(cpu->uc);
}

/* -- blocks --------------------------------------------------------------- */

bool cpu_translate(struct cpu *cpu, uint64_t va, uint64_t *pa)
{
	uint64_t par = cp_read(cpu->uc, reg_par_el1), result;

	cp_write(cpu->uc, cpu->el ? reg_ats1e1r : reg_ats1e0r, va);
	result = cp_read(cpu->uc, reg_par_el1);
	cp_write(cpu->uc, reg_par_el1, par);
	if (result & 1)
		return false;
	*pa = (result & UINT64_C(0x0000fffffffff000)) | (va & 0xfff);
	return true;
}

/* The instruction at @va; false when it is not in RAM. */
static bool word_at(struct cpu *cpu, uint64_t va, uint32_t *word)
{
	uint64_t pa;

	if (!cpu_translate(cpu, va, &pa) || pa < cpu->ram_base ||
	    pa - cpu->ram_base > cpu->ram_size - INSN_BYTES)
		return false;
	memcpy(word, cpu->ram + (pa - cpu->ram_base), INSN_BYTES);
	return true;
}

static uint8_t *mark_of(struct cpu *cpu, uint64_t block_end)
{
	return &cpu->mark[block_end / INSN_BYTES % MARKS];
}

static void classify(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	uint32_t word;

	if (cpu->el && size && word_at(cpu, pc + size - INSN_BYTES, &word) &&
	    word == word_eret)
		*mark_of(cpu, pc + size) = 1;
}

/* Every block that is translated, but for the first after a start. */
static void on_edge(uc_engine *uc, uc_tb *tb, uc_tb *prev, void *opaque)
{
	(void)uc;
	(void)prev;
	classify(opaque, tb->pc, tb->size);
}

/* Where the guest stands between two instructions; true: leave here. */
static bool at_edge(struct cpu *cpu)
{
	uint64_t pstate = pstate_read(cpu);

	if (pstate_el(pstate) != cpu->el) {
		settle(cpu, entered(cpu));
		cpu->el = pstate_el(pstate);
		regrant(cpu);
	}
	return !(pstate & PSTATE_I) && cpu->ops.irq(cpu->ops.opaque);
}

/* Never inlined: its registers would be saved for each block. */
static void __attribute__((noinline, cold)) slow_block(struct cpu *cpu, uint64_t address,
						       uint32_t size)
{
	bool fresh = cpu->fresh;

	cpu->fresh = false;
	if (!cpu->stepping && at_edge(cpu)) {
		settle(cpu, entered(cpu));
		leave(cpu, true);
		return;
	}
	if (fresh && !cpu->stepping)
		classify(cpu, address, size);
	if (!cpu->stepping || fresh) {
		cpu->left += cpu->reserve;
		cpu->reserve = 0;
	}
	if (cpu->left < size) {
		leave(cpu, false);
		return;
	}
	cpu->left -= size;
	cpu->block_end = address + size;
	if (cpu->stepping || cpu->ops.irq(cpu->ops.opaque)) {
		cpu->reserve += cpu->left;
		cpu->left = 0;
	}
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;
	uint64_t left = cpu->left;

	(void)uc;
	if (__builtin_expect(left < size || *mark_of(cpu, cpu->block_end), 0)) {
		slow_block(cpu, address, size);
		return;
	}
	cpu->left = left - size;
	cpu->block_end = address + size;
}

/* The same where no block can end in an ERET that is executed. */
static void on_block_el0(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;
	uint64_t left = cpu->left;

	(void)uc;
	if (__builtin_expect(left < size, 0)) {
		slow_block(cpu, address, size);
		return;
	}
	cpu->left = left - size;
	cpu->block_end = address + size;
}

static void on_code(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;

	(void)uc;
	(void)size;
	if (cpu->stopping)
		return;
	if (cpu->in_flight) {
		land(cpu);
		settle(cpu, entered(cpu));
	}
	cpu->left += cpu->reserve;
	cpu->reserve = 0;
	if (at_edge(cpu)) {
		leave(cpu, true);
		return;
	}
	cpu->left += cpu->reserve;
	cpu->reserve = 0;
	if (!cpu->left) {
		leave(cpu, false);
		return;
	}
	cpu->in_flight = true;
	cpu->block_end = address + INSN_BYTES;
}

static void on_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	struct cpu *cpu = opaque;

	cpu->excepted = true;
	cpu->intno = intno;
	uc_emu_stop(uc);
}

/* -- system registers ----------------------------------------------------- */

static uint32_t enc_of(const uc_arm64_cp_reg *reg)
{
	return SYSREG(reg->op0, reg->op1, reg->crn, reg->crm, reg->op2);
}

/* Unicorn ends the block behind a register that it does not know, without a PC
 * of its own. */
static uint32_t taken_over(struct cpu *cpu, uint32_t enc, bool write, uint64_t pc)
{
	if (bit_test(cpu->foreign[write], enc))
		reg_write(cpu, UC_ARM64_REG_PC, pc + INSN_BYTES);
	return 1;
}

/*
 * Hooks run before Unicorn's own privilege check: on anything but OK the access
 * is left to it, which traps what EL0 may not touch.
 */
static uint32_t on_mrs(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint32_t enc = enc_of(reg);
	uint64_t pc, value;

	if (enc == reg_daif && cpu->stepping && cpu->el) {
		value = (pstate_read(cpu) & ~PSTATE_D & 0x3c0) | cpu->stepping_d;
	} else if (bit_test(cpu->owned, enc)) {
		pc = cpu_pc(cpu);
		settle(cpu, executed_before(cpu, pc));
		if (cpu->ops.sysreg_read(cpu->ops.opaque, enc, cpu->el, &value) !=
		    SYSREG_OK)
			return 0;
		taken_over(cpu, enc, false, pc);
	} else {
		return 0;
	}
	if (rt != UC_ARM64_REG_XZR)
		uc_reg_write(uc, rt, &value);
	return 1;
}

/* @rest bytes of the current block follow an MSR that ended nothing (OSDLR_EL1 is
 * such a one): they are entered under the new budget. */
static void charge_rest(struct cpu *cpu, uint64_t rest)
{
	uint64_t *from = cpu->left ? &cpu->left : &cpu->reserve;

	if (*from < rest)
		leave(cpu, false);
	else
		*from -= rest;
}

/* The MSR itself retires under the old configuration. */
static uint32_t on_msr(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint32_t enc = enc_of(reg);
	uint64_t pc, before;

	(void)uc;
	(void)rt;
	if (!bit_test(cpu->owned, enc))
		return 0;
	pc = cpu_pc(cpu);
	before = executed_before(cpu, pc);
	settle(cpu, before);
	if (cpu->ops.sysreg_may_write(cpu->ops.opaque, enc, cpu->el) != SYSREG_OK)
		return 0;
	if (cpu->in_flight)
		land(cpu);
	settle(cpu, before + 1);
	cpu->ops.sysreg_write(cpu->ops.opaque, enc, cpu->el, reg->val);
	regrant(cpu);
	if (cpu->engine == CPU_ENGINE_BLOCK && !cpu->stepping)
		charge_rest(cpu, cpu->block_end - (pc + INSN_BYTES));
	return taken_over(cpu, enc, true, pc);
}

/*
 * Drop the translations of RAM [pa, pa+n). Unicorn takes a virtual address for
 * this and translates it for a fetch; one that may not be executed, as what a
 * JIT has just written, leaves a fetch abort behind that the guest would be
 * given at the next edge. So stage 1 is off meanwhile.
 */
static void forget_code(struct cpu *cpu, uint64_t pa, uint64_t n)
{
	uint64_t sctlr = cp_read(cpu->uc, reg_sctlr_el1);

	if (sctlr & SCTLR_M)
		cp_write(cpu->uc, reg_sctlr_el1, sctlr & ~SCTLR_M);
	uc_ctl_remove_cache(cpu->uc, pa, pa + n);
	if (sctlr & SCTLR_M)
		cp_write(cpu->uc, reg_sctlr_el1, sctlr);
}

/* After one write to a page with translated code Unicorn no longer sees further
 * ones, so what the guest says of its instruction cache must be heeded. */
static uint32_t on_sys(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint64_t pa;

	(void)uc;
	(void)rt;
	if (reg->op1 == 3 && reg->crn == 7 && reg->crm == 5 && reg->op2 == 1) {
		if (cpu_translate(cpu, reg->val & ~(LINE_BYTES - 1), &pa) &&
		    pa >= cpu->ram_base && pa - cpu->ram_base < cpu->ram_size)
			forget_code(cpu, pa, LINE_BYTES);
	} else if (reg->op1 == 0 && reg->crn == 7 && (reg->crm == 1 || reg->crm == 5) &&
		   reg->op2 == 0) {
		cpu->flush = true;
	}
	return 0;
}

/* -- start-up ------------------------------------------------------------- */

static uc_err add_hook(struct cpu *cpu, int type, void *fn)
{
	return uc_hook_add(cpu->uc, &cpu->hooks[cpu->nhooks++], type, fn, cpu, 1, 0);
}

static uc_err add_insn_hook(struct cpu *cpu, int insn, void *fn)
{
	return uc_hook_add(cpu->uc, &cpu->hooks[cpu->nhooks++], UC_HOOK_INSN, fn, cpu, 1, 0,
			   insn);
}

static uc_err add_hooks(struct cpu *cpu)
{
	uc_err err;

	if (cpu->engine == CPU_ENGINE_STEP)
		err = add_hook(cpu, UC_HOOK_CODE, (void *)on_code);
	else
		err = add_hook(cpu, UC_HOOK_BLOCK,
			       cpu->ops.el0_only ? (void *)on_block_el0 : (void *)on_block);
	if (!err && cpu->engine == CPU_ENGINE_BLOCK && !cpu->ops.el0_only)
		err = add_hook(cpu, UC_HOOK_EDGE_GENERATED, (void *)on_edge);
	if (!err)
		err = add_hook(cpu, UC_HOOK_INTR, (void *)on_intr);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_MRS, (void *)on_mrs);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_MSR, (void *)on_msr);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_SYS, (void *)on_sys);
	return err;
}

/* One block descriptor of 1 GiB for the RAM, all else a fault to EL2. */
static uc_err map_stage2(struct cpu *cpu)
{
	const uint64_t block = 1 | UINT64_C(0xf) << 2 | 3 << 6 | 3 << 8 | 1 << 10;
	const uint64_t vtcr = 25 | 1 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | 2 << 16 |
			      UINT64_C(1) << 31;
	uint64_t entry = cpu->ram_base | block;
	uc_err err = uc_mem_map(cpu->uc, STAGE2_BASE, STAGE2_SIZE, UC_PROT_ALL);

	if (!err)
		err = uc_mem_write(cpu->uc, STAGE2_BASE + 8 * (cpu->ram_base / GIB), &entry,
				   sizeof(entry));
	if (!err)
		err = cp_write(cpu->uc, reg_vtcr_el2, vtcr);
	if (!err)
		err = cp_write(cpu->uc, reg_vttbr_el2, STAGE2_BASE);
	return err;
}

/* EL1 must be told that it is AArch64, or every translated fetch faults; the OS
 * lock must be off, or single-step is disabled (Arm ARM, D2.12). */
static uc_err configure(struct cpu *cpu)
{
	uc_err err = cp_write(cpu->uc, reg_scr_el3, 0x5b1);

	if (!err)
		err = map_stage2(cpu);
	if (!err)
		err = cp_write(cpu->uc, reg_hcr_el2, UINT64_C(1) << 31 | 1);
	if (!err)
		err = cp_write(cpu->uc, reg_oslar_el1, 0);
	if (!err)
		err = cp_write(cpu->uc, reg_mdscr_el1, 0);
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

/* A register that Unicorn does not know replays its block for ever unless the
 * hook writes the PC; for one that it knows that would be a slow detour. Found
 * out by trying each. */
static uc_err probe_owned(struct cpu *cpu)
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
		if (!cpu->ops.owns(cpu->ops.opaque, enc))
			continue;
		bit_set(cpu->owned, enc);
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

static uc_err open_engine(struct cpu *cpu, uint64_t ram_base, void *ram, size_t ram_size)
{
	uint32_t pstate = pstate_el1h_masked;
	uc_err e = uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &cpu->uc);

	cpu->ram_base = ram_base;
	cpu->ram = ram;
	cpu->ram_size = ram_size;
	cpu->el = 1;
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
		e = add_hooks(cpu);
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
	if (cpu->uc)
		uc_close(cpu->uc);
	free(cpu);
}

/* -- running -------------------------------------------------------------- */

static bool start(struct cpu *cpu)
{
	uint64_t pc = cpu_pc(cpu);
	uc_err e;

	if (cpu->flush) {
		cpu->flush = false;
		uc_ctl_flush_tb(cpu->uc);
	}
	cpu->block_end = pc; /* nothing entered yet */
	cpu->fresh = true;
	cpu->excepted = false;
	cpu->stopping = false;
	cpu->interrupted = false;
	cpu->in_flight = false;
	/* The first block is looked at. */
	cpu->reserve += cpu->left;
	cpu->left = 0;
	e = uc_emu_start(cpu->uc, pc, 0, 0, 0);
	if (!e)
		return true;
	snprintf(cpu->error, sizeof(cpu->error), "Unicorn: %s at pc 0x%llx",
		 uc_strerror(e), (unsigned long long)cpu_pc(cpu));
	return false;
}

static void set_single_step(struct cpu *cpu, bool on)
{
	uint32_t pstate = (uint32_t)(pstate_read(cpu) & ~PSTATE_SS);

	if (on)
		pstate |= (uint32_t)PSTATE_SS;
	if (on && cpu->el)
		pstate &= ~(uint32_t)PSTATE_D;
	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	/* This write also rebuilds the flags that Unicorn caches. */
	cp_write(cpu->uc, reg_mdscr_el1, on ? MDSCR_SS | MDSCR_KDE : 0);
}

static void set_d(struct cpu *cpu, uint64_t d)
{
	uint32_t pstate = (uint32_t)((pstate_read(cpu) & ~PSTATE_D) | d);

	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
}

/* PSTATE.D after the instruction at @pc was stepped at EL1 with D held clear. */
static uint64_t d_after(struct cpu *cpu, uint32_t word)
{
	uint64_t live = pstate_read(cpu) & PSTATE_D;

	if (word == word_eret)
		return live;
	if ((word & 0xffffffe0) == 0xd51b4220) /* msr daif, xt */
		return live;
	if ((word & 0xfffff0ff) == 0xd50340df) /* msr daifset, #imm */
		return cpu->stepping_d | live;
	if ((word & 0xfffff0ff) == 0xd50340ff && word & 0x800) /* msr daifclr, #8.. */
		return 0;
	return cpu->stepping_d;
}

static bool retires_itself(uint32_t intno)
{
	return intno == EXCEPTION_INTR_SVC || intno == EXCEPTION_INTR_HVC ||
	       intno == EXCEPTION_INTR_SMC || intno == EXCEPTION_INTR_FETCH_ABORT;
}

/* The exception that stopped the engine, with what ran before it settled. */
static enum cpu_stop take_exception(struct cpu *cpu, struct cpu_exception *exc)
{
	uint64_t pc = cpu_pc(cpu);

	if (exception_decode(&cpu->probe, cpu->uc, cpu->intno, pc, exc)) {
		snprintf(cpu->error, sizeof(cpu->error), "Unicorn: cannot save a context");
		return CPU_STOP_ERROR;
	}
	if (retires_itself(cpu->intno)) {
		/* A call retires; it is the last of its block. What could not be
		 * fetched was never begun: the branch to it retires. */
		if (cpu->in_flight)
			land(cpu);
		settle(cpu, entered(cpu));
	} else {
		settle(cpu, executed_before(cpu, pc));
	}
	cpu->el = pstate_el(pstate_read(cpu));
	return CPU_STOP_EXCEPTION;
}

static bool is_step_exception(struct cpu *cpu, uint64_t pc_before)
{
	struct cpu_exception exc;
	uint64_t ec;

	if (!cpu->excepted)
		return cpu->stopping; /* an ERET to masked debug exceptions */
	if (cpu->intno != EXCEPTION_INTR_UNDEF)
		return false;
	if (cpu_pc(cpu) != pc_before)
		return true;
	/* A branch to itself and an undefined instruction both leave the PC. */
	if (exception_decode(&cpu->probe, cpu->uc, cpu->intno, pc_before, &exc))
		return false;
	ec = exc.esr >> CPU_EC_SHIFT;
	return ec == CPU_EC_STEP_LOWER || ec == CPU_EC_STEP_SAME;
}

/* One instruction. CPU_STOP_BUDGET: it retired and nothing else happened. */
static enum cpu_stop step_once(struct cpu *cpu, struct cpu_exception *exc)
{
	enum cpu_stop stop = CPU_STOP_BUDGET;
	uint64_t pc = cpu_pc(cpu);
	unsigned el = cpu->el;
	uint32_t word = 0;

	if (el) {
		cpu->stepping_d = pstate_read(cpu) & PSTATE_D;
		word_at(cpu, pc, &word);
	}
	cpu->stepping = true;
	set_single_step(cpu, true);
	if (!start(cpu)) {
		stop = CPU_STOP_ERROR;
	} else if (is_step_exception(cpu, pc)) {
		if (el)
			set_d(cpu, d_after(cpu, word));
		settle(cpu, entered(cpu));
		cpu->el = pstate_el(pstate_read(cpu));
	} else {
		if (el)
			set_d(cpu, cpu->stepping_d);
		if (cpu->excepted) {
			stop = take_exception(cpu, exc);
		} else {
			settle(cpu, entered(cpu));
			stop = CPU_STOP_WAIT;
		}
	}
	set_single_step(cpu, false);
	cpu->stepping = false;
	return stop;
}

/* Block engine: what is left of the budget, less than a block. */
static enum cpu_stop single_step(struct cpu *cpu, struct cpu_exception *exc)
{
	while (cpu->left + cpu->reserve) {
		unsigned el = cpu->el;
		enum cpu_stop stop = step_once(cpu, exc);

		if (stop != CPU_STOP_BUDGET)
			return stop;
		if (cpu->el != el)
			return CPU_STOP_BUDGET; /* the machine looks anew */
		if (cpu->ops.irq(cpu->ops.opaque) && !(pstate_read(cpu) & PSTATE_I))
			return CPU_STOP_IRQ;
	}
	return CPU_STOP_BUDGET;
}

enum cpu_stop cpu_run(struct cpu *cpu, uint64_t budget, struct cpu_exception *exc)
{
	if (cpu->ops.irq(cpu->ops.opaque) && !(pstate_read(cpu) & PSTATE_I))
		return CPU_STOP_IRQ;
	cpu->granted = budget < MAX_GRANT ? budget : MAX_GRANT;
	cpu->left = cpu->granted * INSN_BYTES;
	cpu->reserve = 0;
	cpu->settled = 0;
	cpu->el = pstate_el(pstate_read(cpu));
	if (!start(cpu))
		return CPU_STOP_ERROR;
	if (cpu->excepted)
		return take_exception(cpu, exc);
	if (cpu->interrupted)
		return CPU_STOP_IRQ;
	if (!cpu->stopping) {
		if (cpu->in_flight)
			land(cpu);
		settle(cpu, entered(cpu));
		return CPU_STOP_WAIT;
	}
	settle(cpu, entered(cpu));
	if (cpu->engine == CPU_ENGINE_BLOCK && cpu->left + cpu->reserve)
		return single_step(cpu, exc);
	return CPU_STOP_BUDGET;
}

const char *cpu_error(const struct cpu *cpu)
{
	return cpu->error;
}

uint64_t cpu_last_pc(const struct cpu *cpu)
{
	return cpu->block_end - INSN_BYTES;
}

unsigned cpu_el(const struct cpu *cpu)
{
	return cpu->el;
}

/* -- exceptions into EL1 -------------------------------------------------- */

void cpu_deliver(struct cpu *cpu, const struct cpu_exception *exc)
{
	cp_write(cpu->uc, reg_esr_el1, exc->esr);
	cp_write(cpu->uc, reg_far_el1, exc->far);
	exception_enter_el1(cpu->uc, 0, exc->elr, cpu_pstate(cpu));
	cpu->el = 1;
}

void cpu_deliver_irq(struct cpu *cpu)
{
	exception_enter_el1(cpu->uc, 0x80, cpu_pc(cpu), cpu_pstate(cpu));
	cpu->el = 1;
}

/* -- state ---------------------------------------------------------------- */

static int x_reg(unsigned n)
{
	if (n == 29)
		return UC_ARM64_REG_X29;
	if (n == 30)
		return UC_ARM64_REG_X30;
	return UC_ARM64_REG_X0 + (int)n;
}

uint64_t cpu_x(const struct cpu *cpu, unsigned n)
{
	return reg_read(cpu, x_reg(n));
}

void cpu_set_x(struct cpu *cpu, unsigned n, uint64_t value)
{
	reg_write(cpu, x_reg(n), value);
}

void cpu_get_x_range(const struct cpu *cpu, unsigned first, unsigned count,
		     uint64_t *values)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = cpu_x(cpu, first + i);
}

uint64_t cpu_sp(const struct cpu *cpu)
{
	return reg_read(cpu, UC_ARM64_REG_SP);
}

void cpu_set_sp(struct cpu *cpu, uint64_t value)
{
	reg_write(cpu, UC_ARM64_REG_SP, value);
}

uint64_t cpu_pc(const struct cpu *cpu)
{
	return reg_read(cpu, UC_ARM64_REG_PC);
}

void cpu_set_pc(struct cpu *cpu, uint64_t value)
{
	reg_write(cpu, UC_ARM64_REG_PC, value);
}

uint64_t cpu_pstate(const struct cpu *cpu)
{
	return pstate_read(cpu) & PSTATE_KEEP;
}

void cpu_set_pstate(struct cpu *cpu, uint64_t value)
{
	exception_set_pstate(cpu->uc, value & PSTATE_KEEP);
	cpu->el = pstate_el(value);
}

bool cpu_sysreg_read(struct cpu *cpu, uint32_t enc, uint64_t *value)
{
	uc_arm64_cp_reg reg = cp_reg(enc, 0);

	if (enc == reg_mdscr_el1 || uc_reg_read(cpu->uc, UC_ARM64_REG_CP_REG, &reg))
		return false;
	*value = reg.val;
	return true;
}

bool cpu_sysreg_write(struct cpu *cpu, uint32_t enc, uint64_t value)
{
	return enc != reg_mdscr_el1 && enc != reg_oslar_el1 && !cp_write(cpu->uc, enc, value);
}

void cpu_sync_icache(struct cpu *cpu, uint64_t pa, size_t n)
{
	forget_code(cpu, pa, n);
}

/* -- several CPUs --------------------------------------------------------- */

struct cpu_state {
	uc_context *context;
};

struct cpu_state *cpu_state_new(struct cpu *cpu)
{
	struct cpu_state *state = calloc(1, sizeof(*state));

	if (state && uc_context_alloc(cpu->uc, &state->context)) {
		free(state);
		return NULL;
	}
	if (state)
		uc_context_save(cpu->uc, state->context);
	return state;
}

void cpu_state_free(struct cpu_state *state)
{
	if (!state)
		return;
	uc_context_free(state->context);
	free(state);
}

void cpu_save(struct cpu *cpu, struct cpu_state *state)
{
	uc_context_save(cpu->uc, state->context);
}

void cpu_load(struct cpu *cpu, const struct cpu_state *state, unsigned id)
{
	uc_context_restore(cpu->uc, state->context);
	/* Another VMID drops the translations of the CPU before; the restored
	 * value must not be seen as no change. */
	cp_write(cpu->uc, reg_vttbr_el2, STAGE2_BASE | (uint64_t)(id + 16) << 48);
	cp_write(cpu->uc, reg_vttbr_el2, STAGE2_BASE | (uint64_t)(id + 1) << 48);
	cpu->el = pstate_el(pstate_read(cpu));
}
