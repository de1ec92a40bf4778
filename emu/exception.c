/* SPDX-License-Identifier: MIT */
#include "emu/exception.h"

#include <string.h>
#include <unicorn/unicorn.h>

enum {
	ESR_EC_SHIFT = 26,
	VECTOR_SAME_SPX = 0x200,
	VECTOR_LOWER_A64 = 0x400,
};

#define PSTATE_SP      UINT64_C(0x1)
#define PSTATE_EL_MASK UINT64_C(0xc)
#define PSTATE_EL1H    UINT64_C(0x5)
#define PSTATE_DAIF    UINT64_C(0x3c0)
#define PSTATE_NZCV    (UINT64_C(0xf) << 28)

static const uint32_t reg_mdscr_el1 = SYSREG(2, 0, 0, 2, 2);
static const uint32_t reg_vbar_el1 = SYSREG(3, 0, 12, 0, 0);
static const uint32_t reg_elr_el1 = SYSREG(3, 0, 4, 0, 1);
static const uint32_t reg_spsr_el1 = SYSREG(3, 0, 4, 0, 0);
static const uint32_t reg_hpfar_el2 = SYSREG(3, 4, 6, 0, 4);
static const uint32_t esr_il = UINT32_C(1) << 25;

/* Two immediates that no other word of a context is likely to hold. */
static const uint16_t probe_imm[2] = { 0x5ac3, 0xa35c };

static uint32_t svc_word(uint16_t imm)
{
	return UINT32_C(0xd4000001) | (uint32_t)imm << 5;
}

static uint32_t svc_syndrome(uint16_t imm)
{
	return (uint32_t)CPU_EC_SVC64 << ESR_EC_SHIFT | esr_il | imm;
}

static void stop_at_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	(void)intno;
	(void)opaque;
	uc_emu_stop(uc);
}

/* Copies of both contexts after one SVC each, @size bytes a context. */
static int provoke(struct exception_probe *probe, uc_engine *uc, uint64_t ram_base,
		   uint8_t *copy[2], size_t size)
{
	uint32_t code[2] = { svc_word(probe_imm[0]), svc_word(probe_imm[1]) };
	const uint32_t zero[2] = { 0, 0 };
	uc_hook hook;
	int rc = -1;

	if (uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)stop_at_intr, NULL, 1, 0))
		return -1;
	if (uc_mem_write(uc, ram_base, code, sizeof(code)))
		goto out;
	for (int i = 0; i < 2; i++) {
		if (uc_emu_start(uc, ram_base + 4 * (unsigned)i, 0, 0, 0) ||
		    uc_context_save(uc, probe->context))
			goto out;
		memcpy(copy[i], probe->context, size);
	}
	rc = 0;
out:
	uc_mem_write(uc, ram_base, zero, sizeof(zero));
	uc_ctl_remove_cache(uc, ram_base, ram_base + sizeof(code));
	uc_hook_del(uc, hook);
	return rc;
}

int exception_probe_init(struct exception_probe *probe, struct uc_struct *uc,
			 uint64_t ram_base)
{
	uint8_t *copy[2] = { NULL, NULL };
	size_t size, found = 0;
	int rc = -1;

	probe->context = NULL;
	if (uc_context_alloc(uc, &probe->context))
		return -1;
	size = uc_context_size(uc);
	copy[0] = malloc(size);
	copy[1] = malloc(size);
	if (!copy[0] || !copy[1] || provoke(probe, uc, ram_base, copy, size))
		goto out;
	for (size_t at = 0; at + 16 <= size; at += 4) {
		uint32_t word[2];

		memcpy(&word[0], copy[0] + at, 4);
		memcpy(&word[1], copy[1] + at, 4);
		if (word[0] == svc_syndrome(probe_imm[0]) &&
		    word[1] == svc_syndrome(probe_imm[1])) {
			probe->syndrome = at;
			found++;
		}
	}
	rc = found == 1 ? 0 : -1;
out:
	free(copy[0]);
	free(copy[1]);
	if (rc)
		exception_probe_free(probe);
	return rc;
}

void exception_probe_free(struct exception_probe *probe)
{
	if (probe->context)
		uc_context_free(probe->context);
	probe->context = NULL;
}

static uint64_t cp_read(uc_engine *uc, uint32_t enc)
{
	uc_arm64_cp_reg reg = {
		.op0 = enc >> 14 & 3,
		.op1 = enc >> 11 & 7,
		.crn = enc >> 7 & 15,
		.crm = enc >> 3 & 15,
		.op2 = enc & 7,
	};

	uc_reg_read(uc, UC_ARM64_REG_CP_REG, &reg);
	return reg.val;
}

static void cp_write(uc_engine *uc, uint32_t enc, uint64_t value)
{
	uc_arm64_cp_reg reg = {
		.op0 = enc >> 14 & 3,
		.op1 = enc >> 11 & 7,
		.crn = enc >> 7 & 15,
		.crm = enc >> 3 & 15,
		.op2 = enc & 7,
		.val = value,
	};

	uc_reg_write(uc, UC_ARM64_REG_CP_REG, &reg);
}

int exception_decode(const struct exception_probe *probe, struct uc_struct *uc,
		     uint32_t intno, uint64_t pc, struct cpu_exception *exc)
{
	const uint8_t *at = (uint8_t *)probe->context + probe->syndrome;
	uint32_t syndrome, target;
	uint64_t fault;

	if (uc_context_save(uc, probe->context))
		return -1;
	/* Behind the syndrome: a 32-bit FSR, the fault address, the target EL. */
	memcpy(&syndrome, at, sizeof(syndrome));
	memcpy(&fault, at + 8, sizeof(fault));
	memcpy(&target, at + 16, sizeof(target));
	*exc = (struct cpu_exception){ .target = target, .esr = syndrome, .elr = pc };
	if (intno != EXCEPTION_INTR_FETCH_ABORT && intno != EXCEPTION_INTR_DATA_ABORT)
		return 0;
	exc->far = fault;
	if (target == 2) /* HPFAR_EL2 holds the page of it from bit 4 on */
		exc->ipa = (cp_read(uc, reg_hpfar_el2) & UINT64_C(0xffffffff0)) << 8 |
			   (fault & 0xfff);
	return 0;
}

static int bank(uint64_t pstate)
{
	return (pstate & PSTATE_EL_MASK) && (pstate & PSTATE_SP) ? UC_ARM64_REG_SP_EL1 :
								    UC_ARM64_REG_SP_EL0;
}

void exception_set_pstate(struct uc_struct *uc, uint64_t pstate)
{
	uint32_t old = 0, new = (uint32_t)pstate;
	uint64_t sp = 0;

	uc_reg_read(uc, UC_ARM64_REG_PSTATE, &old);
	uc_reg_read(uc, UC_ARM64_REG_SP, &sp);
	uc_reg_write(uc, bank(old), &sp);
	uc_reg_write(uc, UC_ARM64_REG_PSTATE, &new);
	uc_reg_read(uc, bank(new), &sp);
	uc_reg_write(uc, UC_ARM64_REG_SP, &sp);
	/* Any such write also rebuilds the flags that Unicorn caches. */
	cp_write(uc, reg_mdscr_el1, 0);
}

void exception_enter_el1(struct uc_struct *uc, unsigned offset, uint64_t elr,
			 uint64_t spsr)
{
	uint64_t pc = cp_read(uc, reg_vbar_el1) + offset;

	if (!(spsr & PSTATE_EL_MASK))
		pc += VECTOR_LOWER_A64;
	else if (spsr & PSTATE_SP)
		pc += VECTOR_SAME_SPX;
	cp_write(uc, reg_elr_el1, elr);
	cp_write(uc, reg_spsr_el1, spsr);
	exception_set_pstate(uc, (spsr & PSTATE_NZCV) | PSTATE_DAIF | PSTATE_EL1H);
	uc_reg_write(uc, UC_ARM64_REG_PC, &pc);
}
