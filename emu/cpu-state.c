/* SPDX-License-Identifier: MIT */
/* Registers, translation, exceptions into EL1, and whole states of several CPUs. */
#include <stdlib.h>
#include <string.h>

#include "emu/cpu-priv.h"

uc_arm64_cp_reg cpu_cp_reg(uint32_t enc, uint64_t value)
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

uc_err cpu_cp_write(uc_engine *uc, uint32_t enc, uint64_t value)
{
	uc_arm64_cp_reg reg = cpu_cp_reg(enc, value);

	return uc_reg_write(uc, UC_ARM64_REG_CP_REG, &reg);
}

uint64_t cpu_cp_read(uc_engine *uc, uint32_t enc)
{
	uc_arm64_cp_reg reg = cpu_cp_reg(enc, 0);

	uc_reg_read(uc, UC_ARM64_REG_CP_REG, &reg);
	return reg.val;
}

uint64_t cpu_reg_read(const struct cpu *cpu, int reg)
{
	uint64_t value = 0;

	uc_reg_read(cpu->uc, reg, &value);
	return value;
}

void cpu_reg_write(struct cpu *cpu, int reg, uint64_t value)
{
	uc_reg_write(cpu->uc, reg, &value);
}

uint64_t cpu_pstate_read(const struct cpu *cpu)
{
	uint32_t value = 0;

	uc_reg_read(cpu->uc, UC_ARM64_REG_PSTATE, &value);
	return value;
}

bool cpu_translate(struct cpu *cpu, uint64_t va, uint64_t *pa)
{
	uint64_t par = cpu_cp_read(cpu->uc, CPU_REG_PAR), result;

	cpu_cp_write(cpu->uc, cpu->el ? CPU_REG_ATS1E1R : CPU_REG_ATS1E0R, va);
	result = cpu_cp_read(cpu->uc, CPU_REG_PAR);
	cpu_cp_write(cpu->uc, CPU_REG_PAR, par);
	if (result & 1)
		return false;
	*pa = (result & UINT64_C(0x0000fffffffff000)) | (va & 0xfff);
	return true;
}

/* -- exceptions into EL1 -------------------------------------------------- */

void cpu_deliver(struct cpu *cpu, const struct cpu_exception *exc)
{
	cpu_cp_write(cpu->uc, CPU_REG_ESR, exc->esr);
	cpu_cp_write(cpu->uc, CPU_REG_FAR, exc->far);
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
	return cpu_reg_read(cpu, x_reg(n));
}

uint64_t cpu_general(void *opaque, unsigned n, bool sp)
{
	const struct cpu *cpu = opaque;

	if (n < 31)
		return cpu_reg_read(cpu, x_reg(n));
	return sp ? cpu_sp(cpu) : 0;
}

void cpu_set_x(struct cpu *cpu, unsigned n, uint64_t value)
{
	cpu_reg_write(cpu, x_reg(n), value);
}

void cpu_get_x_range(const struct cpu *cpu, unsigned first, unsigned count,
		     uint64_t *values)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = cpu_x(cpu, first + i);
}

uint64_t cpu_sp(const struct cpu *cpu)
{
	return cpu_reg_read(cpu, UC_ARM64_REG_SP);
}

void cpu_set_sp(struct cpu *cpu, uint64_t value)
{
	cpu_reg_write(cpu, UC_ARM64_REG_SP, value);
}

uint64_t cpu_pc(const struct cpu *cpu)
{
	return cpu_reg_read(cpu, UC_ARM64_REG_PC);
}

void cpu_set_pc(struct cpu *cpu, uint64_t value)
{
	cpu_reg_write(cpu, UC_ARM64_REG_PC, value);
}

uint64_t cpu_pstate(const struct cpu *cpu)
{
	return cpu_pstate_read(cpu) & PSTATE_KEEP;
}

void cpu_set_pstate(struct cpu *cpu, uint64_t value)
{
	exception_set_pstate(cpu->uc, value & PSTATE_KEEP);
	cpu->el = cpu_pstate_el(value);
}

enum { USER_REGS = 31 + 3 + 2 + 32 };

/* Where each of them is in *user, but for PSTATE, which has its own way. */
static int user_regs(const struct cpu_user *user, int *regs, void **values)
{
	const struct { int reg; const uint64_t *at; } single[] = {
		{ UC_ARM64_REG_SP, &user->sp },
		{ UC_ARM64_REG_PC, &user->pc },
		{ UC_ARM64_REG_TPIDR_EL0, &user->tpidr },
		{ UC_ARM64_REG_FPCR, &user->fpcr },
		{ UC_ARM64_REG_FPSR, &user->fpsr },
	};
	int n = 0;

	for (unsigned i = 0; i < 31; i++) {
		regs[n] = x_reg(i);
		values[n++] = (void *)&user->x[i];
	}
	for (unsigned i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		regs[n] = single[i].reg;
		values[n++] = (void *)single[i].at;
	}
	for (unsigned i = 0; i < 32; i++) {
		regs[n] = UC_ARM64_REG_Q0 + (int)i;
		values[n++] = (void *)&user->v[2 * i];
	}
	return n;
}

void cpu_get_user(const struct cpu *cpu, struct cpu_user *user)
{
	int regs[USER_REGS], n;
	void *values[USER_REGS];

	*user = (struct cpu_user){ 0 };
	n = user_regs(user, regs, values);
	uc_reg_read_batch(cpu->uc, regs, values, n);
	user->pstate = cpu_pstate(cpu);
}

void cpu_set_user(struct cpu *cpu, const struct cpu_user *user)
{
	int regs[USER_REGS], n;
	void *values[USER_REGS];

	cpu_set_pstate(cpu, user->pstate);
	n = user_regs(user, regs, values);
	uc_reg_write_batch(cpu->uc, regs, values, n);
}

bool cpu_sysreg_read(struct cpu *cpu, uint32_t enc, uint64_t *value)
{
	uc_arm64_cp_reg reg = cpu_cp_reg(enc, 0);

	if (enc == CPU_REG_MDSCR || uc_reg_read(cpu->uc, UC_ARM64_REG_CP_REG, &reg))
		return false;
	*value = reg.val;
	return true;
}

bool cpu_sysreg_write(struct cpu *cpu, uint32_t enc, uint64_t value)
{
	if (enc == CPU_REG_MDSCR || enc == CPU_REG_OSLAR || cpu_cp_write(cpu->uc, enc, value))
		return false;
	cpu_wrote(cpu, enc, value);
	return true;
}

void cpu_set_model(struct cpu *cpu, struct model *model)
{
	cpu->model = model;
}

/*
 * Unicorn takes a virtual address for this and translates it for a fetch; one that
 * may not be executed, as what a JIT has just written, leaves a fetch abort behind
 * that the guest would be given at the next edge. So stage 1 is off meanwhile.
 */
void cpu_forget_code(struct cpu *cpu, uint64_t pa, uint64_t n)
{
	uint64_t sctlr = cpu_cp_read(cpu->uc, CPU_REG_SCTLR);

	if (sctlr & SCTLR_M)
		cpu_cp_write(cpu->uc, CPU_REG_SCTLR, sctlr & ~SCTLR_M);
	uc_ctl_remove_cache(cpu->uc, pa, pa + n);
	if (sctlr & SCTLR_M)
		cpu_cp_write(cpu->uc, CPU_REG_SCTLR, sctlr);
}

void cpu_sync_icache(struct cpu *cpu, uint64_t pa, size_t n)
{
	cpu->generation++;
	cpu_forget_code(cpu, pa, n);
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

/* What a cached translation depends on; stage 2 is every CPU's the same. */
struct regime {
	uint64_t reg[5];
};

static struct regime regime_of(const struct cpu *cpu)
{
	static const uint32_t regs[] = { CPU_REG_TTBR0, CPU_REG_TTBR1, CPU_REG_TCR,
					 CPU_REG_MAIR, CPU_REG_SCTLR };
	struct regime regime;

	for (unsigned i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		regime.reg[i] = cpu_cp_read(cpu->uc, regs[i]);
	return regime;
}

/*
 * The engine has one TLB. CPUs with the same tables, ASID included, share what is
 * in it: the other may have cached each entry itself, and a TLBI of either drops it
 * for both. Linux's CPUs are such whenever both are in the kernel. Else another VMID
 * drops the translations of the CPU before; the restored value must not be seen as
 * no change.
 */
void cpu_load(struct cpu *cpu, const struct cpu_state *state)
{
	const struct regime before = regime_of(cpu);
	struct regime after;

	uc_context_restore(cpu->uc, state->context);
	after = regime_of(cpu);
	if (memcmp(&before, &after, sizeof(after))) {
		cpu_cp_write(cpu->uc, CPU_REG_VTTBR,
			     cpu_cp_read(cpu->uc, CPU_REG_VTTBR) ^ UINT64_C(1) << 48);
		cpu->generation++;
	}
	cpu->el = cpu_pstate_el(cpu_pstate_read(cpu));
	cpu->space0 = after.reg[0];
}
