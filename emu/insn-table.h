/* SPDX-License-Identifier: MIT */
/*
 * Shorthand for the rows of insn-*.c: a class set's short name each, because a
 * row is one line.
 */
#ifndef PMULAB_EMU_INSN_TABLE_H
#define PMULAB_EMU_INSN_TABLE_H

#include "emu/insn.h"

#define LD INSN_LOAD
#define ST INSN_STORE
#define VLD (INSN_LOAD | INSN_FPSIMD)
#define VST (INSN_STORE | INSN_FPSIMD)
#define LDST (INSN_LOAD | INSN_STORE)
#define AT (INSN_LOAD | INSN_STORE | INSN_ATOMIC)
#define PRF INSN_PREFETCH
#define PR INSN_PAIR
#define EX INSN_EXCLUSIVE
#define AQ INSN_ORDERED
#define V INSN_FPSIMD
#define NONE INSN_UNDEFINED
#define SZ(x) INSN_SIZE_##x

/* clang-format off */
#define ROWS(a) {a, sizeof(a) / sizeof((a)[0])}
/* clang-format on */

extern const struct insn_group insn_group_dp_imm, insn_group_dp_reg, insn_group_branch,
	insn_group_simd;
/* by V (bit 26) and bit 28 */
extern const struct insn_group insn_group_ldst[2][2];

#endif
