/* SPDX-License-Identifier: MIT */
/*
 * How the block engine counts. A block hook runs before each translated block
 * and adds the block's instructions at once; a block that would pass the budget
 * is not entered. The rest, less than a block, runs by architectural single-step
 * (MDSCR_EL1.SS and PSTATE.SS), which needs no retranslation. Whoever looks
 * inside a block (an MRS, an abort) finds the exact number from the PC.
 */
#include "emu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <unicorn/unicorn.h>

#include "emu/exception.h"

static const uint32_t reg_mdscr_el1 = SYSREG(2, 0, 0, 2, 2);
static const uint32_t reg_oslar_el1 = SYSREG(2, 0, 1, 0, 4);
static const uint32_t reg_scr_el3 = SYSREG(3, 6, 1, 1, 0);
static const uint32_t reg_hcr_el2 = SYSREG(3, 4, 1, 1, 0);

static const uint64_t pstate_ss = UINT64_C(1) << 21;
static const uint64_t pstate_nzcv = UINT64_C(0xf) << 28;
static const uint32_t pstate_el1h_masked = 0x3c5;
enum { EC_SHIFT = 26 };

struct cpu {
	uc_engine *uc;
	enum cpu_engine engine;
	struct cpu_ops ops;
	struct exception_probe probe;
	uc_hook hooks[4];
	char error[96];

	/* What follows belongs to one cpu_run(). */
	uint64_t limit;	       /* instructions that may still be entered */
	uint64_t ran;	       /* entered so far: whole blocks */
	uint64_t settled;      /* of those, reported by ops.retired() */
	uint64_t block_pc;     /* the block entered last */
	uint32_t block_insns;
	bool in_flight;	       /* step engine: an instruction was begun */
	bool stopping;	       /* the budget is used up, or attention */
	bool excepted;	       /* intno is valid */
	uint32_t intno;
};

static bool sysreg_ours(uint32_t enc)
{
	/* Debug and PMU state is not for the guest's use of Unicorn's own. */
	return enc != reg_mdscr_el1 && enc != reg_oslar_el1;
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

static void settle(struct cpu *cpu, uint64_t executed)
{
	uint64_t n = executed - cpu->settled;

	cpu->settled = executed;
	if (n)
		cpu->ops.retired(cpu->ops.opaque, n);
}

/* Instructions executed before the one at @pc, which is in the current block. */
static uint64_t executed_before(const struct cpu *cpu, uint64_t pc)
{
	if (cpu->engine == CPU_ENGINE_STEP)
		return cpu->ran;
	return cpu->ran - cpu->block_insns + (pc - cpu->block_pc) / 4;
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;
	uint64_t ran = cpu->ran + (size >> 2);

	if (ran > cpu->limit) {
		cpu->stopping = true;
		uc_emu_stop(uc);
		return;
	}
	cpu->ran = ran;
	cpu->block_pc = address;
	cpu->block_insns = size >> 2;
}

static void on_code(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;

	(void)address;
	(void)size;
	if (cpu->stopping)
		return;
	if (cpu->in_flight) {
		cpu->in_flight = false;
		settle(cpu, ++cpu->ran);
	}
	if (cpu->ran >= cpu->limit ||
	    (cpu->settled && cpu->ops.attention(cpu->ops.opaque))) {
		cpu->stopping = true;
		uc_emu_stop(uc);
		return;
	}
	cpu->in_flight = true;
}

static void on_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	struct cpu *cpu = opaque;

	cpu->excepted = true;
	cpu->intno = intno;
	uc_emu_stop(uc);
}

static uint32_t enc_of(const uc_arm64_cp_reg *reg)
{
	return SYSREG(reg->op0, reg->op1, reg->crn, reg->crm, reg->op2);
}

/*
 * Hooks run before Unicorn's own privilege check: on anything but OK the access
 * is left to it, which traps what EL0 may not touch.
 */
static uint32_t on_mrs(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint64_t value;

	settle(cpu, executed_before(cpu, cpu_pc(cpu)));
	if (cpu->ops.sysreg_read(cpu->ops.opaque, enc_of(reg), &value) != SYSREG_OK)
		return 0;
	if (rt != UC_ARM64_REG_XZR)
		uc_reg_write(uc, rt, &value);
	return 1;
}

static uint32_t on_msr(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;

	(void)uc;
	(void)rt;
	settle(cpu, executed_before(cpu, cpu_pc(cpu)));
	return cpu->ops.sysreg_write(cpu->ops.opaque, enc_of(reg), reg->val) == SYSREG_OK;
}

static uc_err add_hooks(struct cpu *cpu)
{
	uc_engine *uc = cpu->uc;
	uc_err err;

	if (cpu->engine == CPU_ENGINE_STEP)
		err = uc_hook_add(uc, &cpu->hooks[0], UC_HOOK_CODE, (void *)on_code, cpu,
				  1, 0);
	else
		err = uc_hook_add(uc, &cpu->hooks[0], UC_HOOK_BLOCK, (void *)on_block,
				  cpu, 1, 0);
	if (!err)
		err = uc_hook_add(uc, &cpu->hooks[1], UC_HOOK_INTR, (void *)on_intr, cpu,
				  1, 0);
	if (!err)
		err = uc_hook_add(uc, &cpu->hooks[2], UC_HOOK_INSN, (void *)on_mrs, cpu, 1,
				  0, UC_ARM64_INS_MRS);
	if (!err)
		err = uc_hook_add(uc, &cpu->hooks[3], UC_HOOK_INSN, (void *)on_msr, cpu, 1,
				  0, UC_ARM64_INS_MSR);
	return err;
}

/* EL1 must be told that it is AArch64, or every translated fetch faults; the OS
 * lock must be off, or single-step is disabled (Arm ARM, D2.12). */
static uc_err configure(struct cpu *cpu)
{
	uint32_t pstate = 0;
	uc_err err = cp_write(cpu->uc, reg_scr_el3, 0x5b1);

	if (!err)
		err = cp_write(cpu->uc, reg_hcr_el2, UINT64_C(1) << 31);
	if (!err)
		err = cp_write(cpu->uc, reg_oslar_el1, 0);
	if (!err)
		err = uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	if (!err)
		err = cp_write(cpu->uc, reg_mdscr_el1, 0);
	return err;
}

struct cpu *cpu_create(enum cpu_engine engine, uint64_t ram_base, void *ram,
		       size_t ram_size, const struct cpu_ops *ops, char *err,
		       size_t errsize)
{
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	uint32_t pstate = pstate_el1h_masked;
	uc_err e;

	if (!cpu) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	cpu->engine = engine;
	cpu->ops = *ops;
	e = uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &cpu->uc);
	if (!e)
		e = uc_ctl_set_cpu_model(cpu->uc, UC_CPU_ARM64_A57);
	if (!e)
		e = uc_mem_map_ptr(cpu->uc, ram_base, ram_size, UC_PROT_ALL, ram);
	if (!e)
		e = uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	if (!e && exception_probe_init(&cpu->probe, cpu->uc, ram_base)) {
		snprintf(err, errsize, "Unicorn %u.%u: no syndrome in a saved context",
			 UC_API_MAJOR, UC_API_MINOR);
		cpu_destroy(cpu);
		return NULL;
	}
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

static bool start(struct cpu *cpu)
{
	uc_err e;

	cpu->excepted = false;
	cpu->stopping = false;
	cpu->in_flight = false;
	e = uc_emu_start(cpu->uc, cpu_pc(cpu), 0, 0, 0);
	if (!e)
		return true;
	snprintf(cpu->error, sizeof(cpu->error), "Unicorn: %s at pc 0x%llx",
		 uc_strerror(e), (unsigned long long)cpu_pc(cpu));
	return false;
}

static void set_single_step(struct cpu *cpu, bool on)
{
	uint32_t pstate = (uint32_t)pstate_read(cpu) & ~(uint32_t)pstate_ss;

	if (on)
		pstate |= (uint32_t)pstate_ss;
	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	/* This write also rebuilds the flags that Unicorn caches. */
	cp_write(cpu->uc, reg_mdscr_el1, on);
}

/* The exception that stopped the engine, with what ran before it settled. */
static enum cpu_stop take_exception(struct cpu *cpu, struct cpu_exception *exc)
{
	uint64_t pc = cpu_pc(cpu);

	if (exception_decode(&cpu->probe, cpu->uc, cpu->intno, pc, exc)) {
		snprintf(cpu->error, sizeof(cpu->error), "Unicorn: cannot save a context");
		return CPU_STOP_ERROR;
	}
	if (cpu->intno == EXCEPTION_INTR_SVC ||
	    cpu->intno == EXCEPTION_INTR_FETCH_ABORT) {
		/* An SVC retires; it is the last of its block. What could not be
		 * fetched was never begun: the branch to it retires. */
		if (cpu->in_flight)
			cpu->ran++;
		settle(cpu, cpu->ran);
	} else {
		settle(cpu, executed_before(cpu, pc));
	}
	return CPU_STOP_EXCEPTION;
}

static bool is_step_exception(struct cpu *cpu, uint64_t pc_before)
{
	struct cpu_exception exc;

	if (!cpu->excepted || cpu->intno != EXCEPTION_INTR_UNDEF)
		return false;
	if (cpu_pc(cpu) != pc_before)
		return true;
	/* A branch to itself and an undefined instruction both leave the PC. */
	return !exception_decode(&cpu->probe, cpu->uc, cpu->intno, pc_before, &exc) &&
	       exc.esr >> EC_SHIFT == CPU_EC_STEP_LOWER;
}

/* Block engine: the last @n instructions of the budget, less than a block. */
static enum cpu_stop single_step(struct cpu *cpu, uint64_t n, struct cpu_exception *exc)
{
	enum cpu_stop stop = CPU_STOP_BUDGET;

	cpu->limit = UINT64_MAX;
	while (n--) {
		uint64_t pc = cpu_pc(cpu);

		set_single_step(cpu, true);
		if (!start(cpu)) {
			stop = CPU_STOP_ERROR;
			break;
		}
		if (is_step_exception(cpu, pc)) {
			settle(cpu, cpu->ran);
			continue;
		}
		stop = cpu->excepted ? take_exception(cpu, exc) : CPU_STOP_ERROR;
		break;
	}
	set_single_step(cpu, false);
	return stop;
}

enum cpu_stop cpu_run(struct cpu *cpu, uint64_t budget, struct cpu_exception *exc)
{
	cpu->limit = budget;
	cpu->ran = 0;
	cpu->settled = 0;
	cpu->block_insns = 0;
	cpu->block_pc = 0;
	if (!start(cpu))
		return CPU_STOP_ERROR;
	if (cpu->excepted)
		return take_exception(cpu, exc);
	if (!cpu->stopping) {
		snprintf(cpu->error, sizeof(cpu->error), "Unicorn stopped by itself");
		return CPU_STOP_ERROR;
	}
	settle(cpu, cpu->ran);
	if (cpu->engine == CPU_ENGINE_BLOCK && cpu->ran < budget)
		return single_step(cpu, budget - cpu->ran, exc);
	return CPU_STOP_BUDGET;
}

const char *cpu_error(const struct cpu *cpu)
{
	return cpu->error;
}

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
	return pstate_read(cpu) & ~pstate_ss;
}

void cpu_set_pstate(struct cpu *cpu, uint64_t value)
{
	uint32_t pstate = (uint32_t)(value & pstate_nzcv);

	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	cp_write(cpu->uc, reg_mdscr_el1, 0);
}

bool cpu_sysreg_read(struct cpu *cpu, uint32_t enc, uint64_t *value)
{
	uc_arm64_cp_reg reg = cp_reg(enc, 0);

	if (!sysreg_ours(enc) || uc_reg_read(cpu->uc, UC_ARM64_REG_CP_REG, &reg))
		return false;
	*value = reg.val;
	return true;
}

bool cpu_sysreg_write(struct cpu *cpu, uint32_t enc, uint64_t value)
{
	return sysreg_ours(enc) && !cp_write(cpu->uc, enc, value);
}

void cpu_sync_icache(struct cpu *cpu, uint64_t pa, size_t n)
{
	uc_ctl_remove_cache(cpu->uc, pa, pa + n);
}
