/* SPDX-License-Identifier: MIT */
/*
 * Data processing with general registers (Arm ARM, C4.1.92 "Data Processing --
 * Immediate" and C4.1.95 "Data Processing -- Register"). Of interest to the PMU
 * are MUL and DIV alone; the rest is here to tell instructions from holes.
 */
#include "emu/insn-table.h"

#define MUL INSN_MUL
#define DIV INSN_DIV

/* clang-format off */

/* A reserved pattern of the bitmask immediate: an element of ones only, or one
 * with no length (DecodeBitMasks). @imms in bits 15:10, N in bit 22. */
#define BAD_BITMASK(mask, value)                                                   \
	{0x1fc00000 | (mask), 0x12000000 | (value), NONE, SZ(NONE), 0x12000000 | (value), ""}

static const struct insn_row immediate[] = {
	{0x1f000000, 0x10000000, 0, SZ(NONE), 0x90000001, "adrp adr"},
	{0x1f800000, 0x11000000, 0, SZ(NONE), 0x91000421, "add sub adds subs cmp cmn mov"},
	{0xffc00000, 0x91800000, 0, SZ(NONE), 0x91810441, "addg"},
	{0xffc00000, 0xd1800000, 0, SZ(NONE), 0xd1810441, "subg"},
	/* sf opc 100100 N immr imms */
	BAD_BITMASK(0x80400000, 0x00400000), /* 64-bit elements in 32 bits */
	{0x9fc0fc00, 0x9240fc00, NONE, SZ(NONE), 0x9240fc00, ""},
	BAD_BITMASK(0x0000fc00, 0x00007c00),
	BAD_BITMASK(0x0000fc00, 0x0000bc00),
	BAD_BITMASK(0x0000fc00, 0x0000dc00),
	BAD_BITMASK(0x0000fc00, 0x0000ec00),
	BAD_BITMASK(0x0000fc00, 0x0000f400),
	BAD_BITMASK(0x0000f800, 0x0000f800),
	{0x1f800000, 0x12000000, 0, SZ(NONE), 0x92401c41, "and ands orr eor tst mov"},
	/* sf opc 100101 hw imm16 */
	{0xffc00000, 0x12800000, 0, SZ(NONE), 0x12800041, "mov movn"},
	{0xffc00000, 0x52800000, 0, SZ(NONE), 0x52800041, "mov movz"},
	{0xffc00000, 0x72800000, 0, SZ(NONE), 0x72a00041, "movk"},
	{0xff800000, 0x92800000, 0, SZ(NONE), 0x92c00041, "mov movn"},
	{0xff800000, 0xd2800000, 0, SZ(NONE), 0xd2c00041, "mov movz"},
	{0xff800000, 0xf2800000, 0, SZ(NONE), 0xf2e00041, "movk"},
	/* sf opc 100110 N immr imms: opc 0 SBFM, 1 BFM, 2 UBFM */
	{0xffe08000, 0x13000000, 0, SZ(NONE), 0x13010c41, "sbfx sbfm sbfiz asr sxtb sxth"},
	{0xffe08000, 0x33000000, 0, SZ(NONE), 0x33010c41, "bfxil bfm bfi bfc"},
	{0xffe08000, 0x53000000, 0, SZ(NONE), 0x53010c41, "ubfx ubfm ubfiz lsl lsr uxtb uxth"},
	{0xffc00000, 0x93400000, 0, SZ(NONE), 0x93410c41, "sbfx sbfm sbfiz asr sxtb sxth sxtw"},
	{0xffc00000, 0xb3400000, 0, SZ(NONE), 0xb3410c41, "bfxil bfm bfi bfc"},
	{0xffc00000, 0xd3400000, 0, SZ(NONE), 0xd3410c41, "ubfx ubfm ubfiz lsl lsr"},
	{0xffe08000, 0x13800000, 0, SZ(NONE), 0x13831041, "extr ror"},
	{0xffe00000, 0x93c00000, 0, SZ(NONE), 0x93c3a041, "extr ror"},
};

/* One-source forms of pointer authentication that use no modifier: Rn is 31. */
#define REG1(op, name) {0xfffffc00, 0xdac00000 | (op) << 10, 0, SZ(NONE),          \
			0xdac00041 | (op) << 10, name}

static const struct insn_row reg[] = {
	/* sf op S 11010110 Rm opcode Rn Rd */
	{0x7fe0fc00, 0x1ac00800, DIV, SZ(NONE), 0x9ac30841, "udiv"},
	{0x7fe0fc00, 0x1ac00c00, DIV, SZ(NONE), 0x1ac30c41, "sdiv"},
	{0x7fe0f000, 0x1ac02000, 0, SZ(NONE), 0x9ac32041, "lsl lsr asr ror"},
	{0xffe0fc00, 0x1ac04000, 0, SZ(NONE), 0x1ac34041, "crc32b"},
	{0xffe0fc00, 0x1ac04400, 0, SZ(NONE), 0x1ac34441, "crc32h"},
	{0xffe0fc00, 0x1ac04800, 0, SZ(NONE), 0x1ac34841, "crc32w"},
	{0xffe0fc00, 0x9ac04c00, 0, SZ(NONE), 0x9ac34c41, "crc32x"},
	{0xffe0fc00, 0x1ac05000, 0, SZ(NONE), 0x1ac35041, "crc32cb"},
	{0xffe0fc00, 0x1ac05400, 0, SZ(NONE), 0x1ac35441, "crc32ch"},
	{0xffe0fc00, 0x1ac05800, 0, SZ(NONE), 0x1ac35841, "crc32cw"},
	{0xffe0fc00, 0x9ac05c00, 0, SZ(NONE), 0x9ac35c41, "crc32cx"},
	{0xffe0fc00, 0x9ac00000, 0, SZ(NONE), 0x9ac30041, "subp"},
	{0xffe0fc00, 0xbac00000, 0, SZ(NONE), 0xbac30041, "subps cmpp"},
	{0xffe0fc00, 0x9ac01000, 0, SZ(NONE), 0x9ac31041, "irg"},
	{0xffe0fc00, 0x9ac01400, 0, SZ(NONE), 0x9ac31441, "gmi"},
	{0xffe0fc00, 0x9ac03000, 0, SZ(NONE), 0x9ac33041, "pacga"},
	/* sf 1 S 11010110 opcode2 opcode Rn Rd */
	{0x7ffff800, 0x5ac00000, 0, SZ(NONE), 0xdac00041, "rbit rev16"},
	{0x7ffff800, 0x5ac01000, 0, SZ(NONE), 0xdac01041, "clz cls"},
	{0xfffffc00, 0x5ac00800, 0, SZ(NONE), 0x5ac00841, "rev"},
	REG1(2u, "rev32"),
	REG1(3u, "rev rev64"),
	{0xffffe000, 0xdac10000, 0, SZ(NONE), 0xdac10041, "pacia pacib pacda pacdb autia autib "
	 "autda autdb"},
	{0xffffe3e0, 0xdac123e0, 0, SZ(NONE), 0xdac123e1, "paciza pacizb pacdza pacdzb autiza "
	 "autizb autdza autdzb"},
	{0xfffffbe0, 0xdac143e0, 0, SZ(NONE), 0xdac143e1, "xpaci xpacd"},
	/* sf opc 01010 shift N Rm imm6 Rn Rd, no amount above 31 in 32 bits */
	{0x9f008000, 0x0a000000, 0, SZ(NONE), 0x0a030041, "and bic orr orn eor eon tst mov mvn"},
	{0x9f000000, 0x8a000000, 0, SZ(NONE), 0x8a033c41, "and bic orr orn eor eon tst mov mvn"},
	/* sf op S 01011 shift 0 Rm imm6 Rn Rd: LSL, LSR; ASR; no ROR */
	{0x9fa08000, 0x0b000000, 0, SZ(NONE), 0x0b030041, "add sub adds subs cmp cmn neg"},
	{0x9fe08000, 0x0b800000, 0, SZ(NONE), 0x0b830441, "add sub adds subs cmp cmn neg"},
	{0x9fa00000, 0x8b000000, 0, SZ(NONE), 0x8b033c41, "add sub adds subs cmp cmn neg"},
	{0x9fe00000, 0x8b800000, 0, SZ(NONE), 0x8b83fc41, "add sub adds subs cmp cmn neg"},
	/* sf op S 01011 00 1 Rm option imm3 Rn Rd: amounts 0 to 4 */
	{0x1fe01000, 0x0b200000, 0, SZ(NONE), 0x8b234441, "add sub adds subs cmp cmn"},
	{0x1fe01c00, 0x0b201000, 0, SZ(NONE), 0x8b235041, "add sub adds subs cmp cmn"},
	/* carry and flags */
	{0x1fe0fc00, 0x1a000000, 0, SZ(NONE), 0x9a030041, "adc sbc adcs sbcs ngc"},
	{0xffe07c10, 0xba000400, 0, SZ(NONE), 0xba018441, "rmif"},
	{0xffffbc1f, 0x3a00080d, 0, SZ(NONE), 0x3a00084d, "setf8 setf16"},
	{0x3fe00410, 0x3a400000, 0, SZ(NONE), 0xfa430044, "ccmp ccmn"},
	{0x3fe00800, 0x1a800000, 0, SZ(NONE), 0x9a831041, "csel csinc csinv csneg cset cinc cinv cneg"},
	/* sf 00 11011 op31 Rm o0 Ra Rn Rd */
	{0x7fe00000, 0x1b000000, MUL, SZ(NONE), 0x9b031041, "madd msub mul mneg"},
	{0xffe00000, 0x9b200000, MUL, SZ(NONE), 0x9b231041, "smaddl smsubl smull smnegl"},
	{0xffe08000, 0x9b400000, MUL, SZ(NONE), 0x9b437c41, "smulh"},
	{0xffe00000, 0x9ba00000, MUL, SZ(NONE), 0x9ba31041, "umaddl umsubl umull umnegl"},
	{0xffe08000, 0x9bc00000, MUL, SZ(NONE), 0x9bc37c41, "umulh"},
};
/* clang-format on */

const struct insn_group insn_group_dp_imm = ROWS(immediate);
const struct insn_group insn_group_dp_reg = ROWS(reg);
