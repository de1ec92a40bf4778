/* SPDX-License-Identifier: MIT */
/*
 * What an A64 instruction is, read off its word alone (Arm ARM, C4 "A64
 * Instruction Set Encoding"), and what the PMU events make of it (D14.3
 * "Common event numbers"). A const table of mask/value rows and nothing else:
 * called once per translated instruction, not per execution.
 *
 * Scope: Armv8.0 to Armv8.7 without SVE and SME, which are recognised as a
 * whole (INSN_SVE). Inside the Advanced SIMD groups not every reserved opcode
 * is told from an instruction.
 */
#ifndef PMULAB_EMU_INSN_H
#define PMULAB_EMU_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_class {
	INSN_LOAD = 1 << 0,	   /* reads memory; atomics and compare-and-swap too */
	INSN_STORE = 1 << 1,	   /* writes memory; the same, and DC ZVA */
	INSN_PAIR = 1 << 2,	   /* LDP, STP, LDXP, CASP ...: two registers */
	INSN_EXCLUSIVE = 1 << 3,   /* LDXR, STXR, LDXP, STXP with all their forms */
	INSN_ATOMIC = 1 << 4,	   /* LD<op>, ST<op>, SWP, CAS, CASP */
	INSN_ORDERED = 1 << 5,	   /* with acquire or release semantics in any case:
				     * LDAR, STLR, LDAXR, LDAPR, LDLAR ... */
	INSN_PREFETCH = 1 << 6,	   /* PRFM, PRFUM; no load: see insn_count() */
	INSN_BR_IMMED = 1 << 7,	   /* B, BL, B.cond, BC.cond, CBZ, CBNZ, TBZ, TBNZ */
	INSN_BR_COND = 1 << 8,	   /* those that may be not taken */
	INSN_BR_INDIRECT = 1 << 9, /* BR, BLR and authenticated forms; not RET */
	INSN_BR_RETURN = 1 << 10,  /* RET, RETAA, RETAB */
	INSN_CALL = 1 << 11,	   /* BL, BLR: writes X30 */
	INSN_PC_WRITE = 1 << 12,   /* software change of the PC, when taken: every
				     * branch and ERET; not ISB, not SVC */
	INSN_ERET = 1 << 13,
	INSN_EXCEPTION = 1 << 14, /* SVC HVC SMC BRK HLT UDF TCANCEL */
	INSN_MRS = 1 << 15,
	INSN_MSR = 1 << 16,	  /* MSR (register) */
	INSN_MSR_IMM = 1 << 17,	  /* MSR (immediate): insn_msr_immediate() */
	INSN_CID_WRITE = 1 << 18, /* MSR CONTEXTIDR_EL1; not _EL12, not _EL2 (0x0B) */
	INSN_SYS = 1 << 19,	  /* SYS, SYSL: AT, DC, IC, TLBI and the rest */
	INSN_CACHE = 1 << 20,	  /* of them DC and IC */
	INSN_TLB = 1 << 21,	  /* of them TLBI */
	INSN_BARRIER = 1 << 22,	  /* DMB DSB ISB SB CLREX */
	INSN_ISB = 1 << 23,
	INSN_HINT = 1 << 24,   /* all of the HINT space: NOP YIELD WFE PACIASP ... */
	INSN_WFI = 1 << 25,    /* WFI, WFIT */
	INSN_WFE = 1 << 26,    /* WFE, WFET */
	INSN_MUL = 1 << 27,    /* MADD .. UMULH: general registers only */
	INSN_DIV = 1 << 28,    /* UDIV SDIV, with INSN_FPSIMD: FDIV FSQRT */
	INSN_FPSIMD = 1 << 29, /* touches the SIMD&FP registers */
	INSN_SVE = 1 << 30,    /* SVE or SME, not looked into */
};
/* Not allocated, or UNDEFINED outside Debug state (DCPS1..3, DRPS). A uint32_t
 * of its own because an enumerator must fit an int. */
#define INSN_UNDEFINED (UINT32_C(1) << 31)

/* Whatever may go elsewhere than to the next instruction. */
#define INSN_BRANCH \
	((uint32_t)(INSN_BR_IMMED | INSN_BR_INDIRECT | INSN_BR_RETURN | INSN_ERET))

/* A mask of enum insn_class and INSN_UNDEFINED; 0 for plain data processing. */
uint32_t insn_classify(uint32_t word);

/* An instruction's data accesses. One access is one register's worth (Arm ARM
 * B2.2.1: what LDP and the structure loads do is not single-copy atomic as a
 * whole), or the pair of LDXP, STXP and CASP, which is. */
struct insn_access {
	uint8_t size;	/* bytes of each, 0 for none; 64 for DC ZVA, LD64B, ST64B */
	uint8_t reads;	/* 0..4 */
	uint8_t writes; /* 0..4; an atomic has one read and one write */
	uint8_t align;	/* what SCTLR_EL1.A would check: an element's size; 0 for
			 * DC ZVA, which aligns its address itself */
};
struct insn_access insn_access(uint32_t word);

/* UNALIGNED_LDST_RETIRED (0x0F): would it fault with alignment checks on? The
 * base register of a store to the stack does not matter. */
static inline bool insn_unaligned(const struct insn_access *access, uint64_t address)
{
	return access->align > 1 && (address & (access->align - 1u)) != 0;
}

/*
 * The first byte that a load or store accesses, as the instruction is about to be
 * executed at @pc. @reg gives a general register; for number 31 the stack pointer
 * where @sp, else 0. For a word without data accesses the answer means nothing.
 */
typedef uint64_t (*insn_reg_fn)(void *opaque, unsigned n, bool sp);
uint64_t insn_address(uint32_t word, uint64_t pc, insn_reg_fn reg, void *opaque);

/*
 * What events follow from the words of a block, for instructions that retire.
 * Summed: 65535 instructions at most.
 */
struct insn_counts {
	uint16_t insns;
	uint16_t ld;	       /* LD_RETIRED */
	uint16_t st;	       /* ST_RETIRED if no store-exclusive fails */
	uint16_t st_exclusive; /* of st and mem: count only with status 0 */
	uint16_t mem;	       /* MEM_ACCESS, in accesses as above */
	uint16_t br;	       /* BR_RETIRED */
	uint16_t br_immed;     /* BR_IMMED_RETIRED */
	uint16_t br_return;    /* BR_RETURN_RETIRED */
	uint16_t br_cond;      /* conditional branches; taken ones add a pc_write */
	uint16_t pc_write;     /* PC_WRITE_RETIRED but for conditional branches */
	uint16_t exc_return;   /* EXC_RETURN */
	uint16_t cid_write;    /* CID_WRITE_RETIRED */
};

/*
 * Add one instruction. The manual's choices, made here:
 * - LD_RETIRED (0x06): PRFM is not a load, since here it is a NOP (counting it
 *   is IMPLEMENTATION DEFINED, and recommended only where it does something).
 * - Atomics and compare-and-swap are one load and one store each, also when
 *   nothing new was stored. A store-exclusive that fails is no store (0x07),
 *   which the word does not say: see st_exclusive and insn_status_register().
 * - BR_IMMED_RETIRED (0x0D): conditional branches always count, taken or not.
 * - PC_WRITE_RETIRED (0x0C): conditional branches count only when taken. ISB,
 *   BRK, HLT, UDF, SVC, HVC, SMC do not count (a choice before FEAT_PMUv3p9, the
 *   rule from it on).
 * - BR_RETIRED (0x21): all branches, taken or not, unconditional direct ones and
 *   ERET among them (recommended before FEAT_PMUv3p9, the rule from it on).
 */
void insn_count(struct insn_counts *counts, uint32_t word);

/* An immediate branch's target; false when @word is none. A conditional branch
 * to the next instruction cannot be told taken from not taken by the PC. */
bool insn_branch_target(uint32_t word, uint64_t pc, uint64_t *target);

/* The register of an MRS, MSR (register), SYS or SYSL as SYSREG() has it
 * (op0:op1:CRn:CRm:op2), 0 for other words; *rt its general register. */
uint32_t insn_sysreg(uint32_t word, unsigned *rt);

enum insn_pstate {
	INSN_PSTATE_NONE, /* no MSR (immediate) */
	INSN_PSTATE_UAO,
	INSN_PSTATE_PAN,
	INSN_PSTATE_SPSEL,
	INSN_PSTATE_ALLINT,
	INSN_PSTATE_SSBS,
	INSN_PSTATE_DIT,
	INSN_PSTATE_SVCR,
	INSN_PSTATE_TCO,
	INSN_PSTATE_DAIFSET,
	INSN_PSTATE_DAIFCLR,
	INSN_PSTATE_UNKNOWN, /* an unallocated op1:op2 */
};
/* Which field, and *imm its 4-bit CRm: for DAIFSet and DAIFClr bit 1 is I. */
enum insn_pstate insn_msr_immediate(uint32_t word, unsigned *imm);

/* The status register of a store-exclusive, -1 for other words; 31 is WZR. */
int insn_status_register(uint32_t word);

/* -- the table, for its tests --------------------------------------------- */

/* How an access's size follows from the word. */
enum insn_size {
	INSN_SIZE_NONE,
	INSN_SIZE_1, /* one access of so many bytes */
	INSN_SIZE_2,
	INSN_SIZE_4,
	INSN_SIZE_8,
	INSN_SIZE_16,
	INSN_SIZE_64,
	INSN_SIZE_2X4, /* two */
	INSN_SIZE_2X8,
	INSN_SIZE_2X16,
	INSN_SIZE_ZVA,
	INSN_SIZE_FIELD,     /* 1 << bits 31:30 */
	INSN_SIZE_PAIR,	     /* one of 8 or 16 by bit 30 */
	INSN_SIZE_MULTIPLE1, /* so many registers of 8 or 16 bytes by bit 30 */
	INSN_SIZE_MULTIPLE2,
	INSN_SIZE_MULTIPLE3,
	INSN_SIZE_MULTIPLE4,
	INSN_SIZE_LANES, /* 1 to 4 elements, one of each register */
};

struct insn_row {
	uint32_t mask, value; /* it is this one when (word & mask) == value */
	uint32_t classes;
	uint8_t size;	  /* enum insn_size */
	uint32_t example; /* a word of this row and no earlier one */
	const char *name; /* the assembler's mnemonics, the example's first */
};

/* Rows with the same bits 28:25 stand together; the first that matches counts,
 * and rows overlap only where the earlier is a special case of the later. */
struct insn_group {
	const struct insn_row *rows;
	size_t nrows;
};
/* For bits 28:25 of a word, 0..15; several share a group. */
const struct insn_group *insn_group(unsigned bits);

/* NULL: not allocated. */
const struct insn_row *insn_find(uint32_t word);

#endif
