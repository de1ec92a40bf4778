/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores (Arm ARM, C4.1.94 "Loads and Stores"), in four groups by
 * V (bit 26) and bit 28.
 */
#include "emu/insn-table.h"

/* clang-format off */

/* bit 28 = 0, general registers: exclusive, ordered, compare-and-swap, pairs */
static const struct insn_row general_0[] = {
	/* size 001000 o2 L o1 Rs o0 Rt2 Rn Rt */
	{0x3fe08000, 0x08000000, ST | EX, SZ(FIELD), 0xc8027c20, "stxr stxrb stxrh"},
	{0x3fe08000, 0x08008000, ST | EX | AQ, SZ(FIELD), 0x8802fc20, "stlxr stlxrb stlxrh"},
	{0x3fe08000, 0x08400000, LD | EX, SZ(FIELD), 0xc85f7c20, "ldxr ldxrb ldxrh"},
	{0x3fe08000, 0x08408000, LD | EX | AQ, SZ(FIELD), 0x085ffc20, "ldaxrb ldaxr ldaxrh"},
	{0xbfe08000, 0x88200000, ST | EX | PR, SZ(PAIR), 0xc8220c24, "stxp"},
	{0xbfe08000, 0x88208000, ST | EX | PR | AQ, SZ(PAIR), 0x88228c24, "stlxp"},
	{0xbfe08000, 0x88600000, LD | EX | PR, SZ(PAIR), 0xc87f0c24, "ldxp"},
	{0xbfe08000, 0x88608000, LD | EX | PR | AQ, SZ(PAIR), 0x887f8c24, "ldaxp"},
	/* CASP: both pairs begin at an even register */
	{0xbfa17c01, 0x08207c00, AT | PR, SZ(PAIR), 0x48207c82, "casp caspa caspal caspl"},
	{0x3fe08000, 0x08800000, ST | AQ, SZ(FIELD), 0xc89f7c20, "stllr stllrb stllrh"},
	{0x3fe08000, 0x08808000, ST | AQ, SZ(FIELD), 0xc89ffc20, "stlr stlrb stlrh"},
	{0x3fe08000, 0x08c00000, LD | AQ, SZ(FIELD), 0xc8df7c20, "ldlar ldlarb ldlarh"},
	{0x3fe08000, 0x08c08000, LD | AQ, SZ(FIELD), 0x88dffc20, "ldar ldarb ldarh"},
	{0x3fa07c00, 0x08a07c00, AT, SZ(FIELD), 0xc8a07c41, "cas casa casal casl casab casalb "
	 "casb caslb casah casalh cash caslh"},
	/* opc 101 V 0 mode L imm7 Rt2 Rn Rt: mode 00 no-allocate, 01 post-index,
	 * 10 offset, 11 pre-index */
	{0xffc00000, 0x28000000, ST | PR, SZ(2X4), 0x28000861, "stnp"},
	{0xffc00000, 0xa8000000, ST | PR, SZ(2X8), 0xa8000861, "stnp"},
	{0xffc00000, 0x28400000, LD | PR, SZ(2X4), 0x28400861, "ldnp"},
	{0xffc00000, 0xa8400000, LD | PR, SZ(2X8), 0xa8400861, "ldnp"},
	{0xffc00000, 0x68000000, NONE, SZ(NONE), 0x68000861, ""}, /* no STGP ... */
	{0xffc00000, 0x68400000, NONE, SZ(NONE), 0x68400861, ""}, /* ... LDPSW without mode */
	{0xfe400000, 0x28000000, ST | PR, SZ(2X4), 0x29010861, "stp"},
	{0xfe400000, 0x28400000, LD | PR, SZ(2X4), 0x29c10861, "ldp"},
	{0xfe400000, 0x68000000, ST | PR, SZ(2X8), 0x69010861, "stgp"},
	{0xfe400000, 0x68400000, LD | PR, SZ(2X4), 0x69410861, "ldpsw"},
	{0xfe400000, 0xa8000000, ST | PR, SZ(2X8), 0xa9bf7bfd, "stp"},
	{0xfe400000, 0xa8400000, LD | PR, SZ(2X8), 0xa8c17bfd, "ldp"},
};

/* An opcode of the multiple-structures space, with and without post-index.
 * LD2 to LD4 want elements narrower than the register: 1D (size 11, Q 0) is
 * reserved. */
#define MULTIPLE(op, size, ldname, stname)                                         \
	{0xbffff000, 0x0c400000 | (op) << 12, VLD, size, 0x4c400400 | (op) << 12, ldname},  \
	{0xbffff000, 0x0c000000 | (op) << 12, VST, size, 0x4c000400 | (op) << 12, stname},  \
	{0xbfe0f000, 0x0cc00000 | (op) << 12, VLD, size, 0x4cc20400 | (op) << 12, ldname},  \
	{0xbfe0f000, 0x0c800000 | (op) << 12, VST, size, 0x4c820400 | (op) << 12, stname}
#define NOT_1D_OF(value, op)                                                       \
	{0xfffffc00, (value) | 0xc00 | (op) << 12, NONE, SZ(NONE),                          \
	 (value) | 0xc00 | (op) << 12, ""},                                                 \
	{0xffe0fc00, (value) | 0x800c00 | (op) << 12, NONE, SZ(NONE),                       \
	 (value) | 0x800c00 | (op) << 12, ""}
#define NOT_1D(op) NOT_1D_OF(0x0c000000, op), NOT_1D_OF(0x0c400000, op)

/* A width of the single-structure space: opcode's upper bits and what is fixed
 * of S and size; R and opcode's lowest bit say how many structures. */
#define SINGLE(mask, value)                                                        \
	{0xbfdf0000 | (mask), 0x0d400000 | (value), VLD, SZ(LANES), 0x0d400000 | (value),   \
	 "ld1 ld2 ld3 ld4"},                                                                \
	{0xbfdf0000 | (mask), 0x0d000000 | (value), VST, SZ(LANES), 0x0d000000 | (value),   \
	 "st1 st2 st3 st4"},                                                                \
	{0xbfc00000 | (mask), 0x0dc00000 | (value), VLD, SZ(LANES), 0x0dc20000 | (value),   \
	 "ld1 ld2 ld3 ld4"},                                                                \
	{0xbfc00000 | (mask), 0x0d800000 | (value), VST, SZ(LANES), 0x0d820000 | (value),   \
	 "st1 st2 st3 st4"}

/* bit 28 = 0, SIMD&FP registers: structures, pairs */
static const struct insn_row simd_0[] = {
	NOT_1D(0u), NOT_1D(4u), NOT_1D(8u),
	MULTIPLE(0u, SZ(MULTIPLE4), "ld4", "st4"),
	MULTIPLE(2u, SZ(MULTIPLE4), "ld1", "st1"),
	MULTIPLE(4u, SZ(MULTIPLE3), "ld3", "st3"),
	MULTIPLE(6u, SZ(MULTIPLE3), "ld1", "st1"),
	MULTIPLE(7u, SZ(MULTIPLE1), "ld1", "st1"),
	MULTIPLE(8u, SZ(MULTIPLE2), "ld2", "st2"),
	MULTIPLE(10u, SZ(MULTIPLE2), "ld1", "st1"),
	SINGLE(0xc000, 0x0000), /* B: opcode 00x */
	SINGLE(0xc400, 0x4000), /* H: opcode 01x, size x0 */
	SINGLE(0xcc00, 0x8000), /* S: opcode 10x, size 00 */
	SINGLE(0xdc00, 0x8400), /* D: opcode 10x, S 0, size 01 */
	/* LD1R..LD4R: opcode 11x, S 0 */
	{0xbfdfd000, 0x0d40c000, VLD, SZ(LANES), 0x4d40c020, "ld1r ld2r ld3r ld4r"},
	{0xbfc0d000, 0x0dc0c000, VLD, SZ(LANES), 0x4dc2c020, "ld1r ld2r ld3r ld4r"},
	{0xfe400000, 0x2c000000, VST | PR, SZ(2X4), 0x2d010861, "stp stnp"},
	{0xfe400000, 0x2c400000, VLD | PR, SZ(2X4), 0x2d410861, "ldp ldnp"},
	{0xfe400000, 0x6c000000, VST | PR, SZ(2X8), 0x6dbf0861, "stp stnp"},
	{0xfe400000, 0x6c400000, VLD | PR, SZ(2X8), 0x6cc10861, "ldp ldnp"},
	{0xfe400000, 0xac000000, VST | PR, SZ(2X16), 0xac010861, "stnp stp"},
	{0xfe400000, 0xac400000, VLD | PR, SZ(2X16), 0xac410861, "ldnp ldp"},
};

/* The four ways to address with imm9 or a register, each at its own bits 11:10
 * and 21, and the unsigned offset: one opcode of them all. Unprivileged ones
 * have names of their own. */
#define REGISTER(op, classes, size, name, uname, tname)                            \
	{0xffe00c00, (op), classes, size, (op) | 0x001f0041, uname},                \
	{0xffe00c00, (op) | 0x400, classes, size, (op) | 0x001f0441, name},                 \
	{0xffe00c00, (op) | 0x800, classes, size, (op) | 0x001f0841, tname},                \
	{0xffe00c00, (op) | 0xc00, classes, size, (op) | 0x001f0c41, name},                 \
	{0xffe04c00, (op) | 0x204800, classes, size, (op) | 0x236841, name},                \
	{0xffc00000, (op) | 0x1000000, classes, size, (op) | 0x01000841, name}

/* size 111 V 00 A R 1 Rs o3 opc 00 Rn Rt */
#define ATOMIC(op, name)                                                           \
	{0x3f20fc00, 0x38200000 | (op), AT, SZ(FIELD), 0xf8220041 | (op), name}

/* bit 28 = 1, general registers */
static const struct insn_row general_1[] = {
	{0xff000000, 0x18000000, LD, SZ(4), 0x18000041, "ldr"}, /* literal */
	{0xff000000, 0x58000000, LD, SZ(8), 0x58000041, "ldr"},
	{0xff000000, 0x98000000, LD, SZ(4), 0x98000041, "ldrsw"},
	{0xff000000, 0xd8000000, PRF, SZ(NONE), 0xd8000041, "prfm"},

	REGISTER(0x38000000, ST, SZ(1), "strb", "sturb", "sttrb"),
	REGISTER(0x38400000, LD, SZ(1), "ldrb", "ldurb", "ldtrb"),
	REGISTER(0x38800000, LD, SZ(1), "ldrsb", "ldursb", "ldtrsb"),
	REGISTER(0x38c00000, LD, SZ(1), "ldrsb", "ldursb", "ldtrsb"),
	REGISTER(0x78000000, ST, SZ(2), "strh", "sturh", "sttrh"),
	REGISTER(0x78400000, LD, SZ(2), "ldrh", "ldurh", "ldtrh"),
	REGISTER(0x78800000, LD, SZ(2), "ldrsh", "ldursh", "ldtrsh"),
	REGISTER(0x78c00000, LD, SZ(2), "ldrsh", "ldursh", "ldtrsh"),
	REGISTER(0xb8000000, ST, SZ(4), "str", "stur", "sttr"),
	REGISTER(0xb8400000, LD, SZ(4), "ldr", "ldur", "ldtr"),
	REGISTER(0xb8800000, LD, SZ(4), "ldrsw", "ldursw", "ldtrsw"),
	REGISTER(0xf8000000, ST, SZ(8), "str", "stur", "sttr"),
	REGISTER(0xf8400000, LD, SZ(8), "ldr", "ldur", "ldtr"),
	{0xffe00c00, 0xf8800000, PRF, SZ(NONE), 0xf8801041, "prfum"},
	{0xffe04c00, 0xf8a04800, PRF, SZ(NONE), 0xf8a36841, "prfm"},
	{0xffc00000, 0xf9800000, PRF, SZ(NONE), 0xf9800041, "prfm"},

	/* FEAT_LRCPC2: size 011001 opc 0 imm9 00 Rn Rt */
	{0xffe00c00, 0x19000000, ST | AQ, SZ(1), 0x19001041, "stlurb"},
	{0xffa00c00, 0x19800000, LD | AQ, SZ(1), 0x19801041, "ldapursb"},
	{0xffe00c00, 0x19400000, LD | AQ, SZ(1), 0x19401041, "ldapurb"},
	{0xffe00c00, 0x59000000, ST | AQ, SZ(2), 0x59001041, "stlurh"},
	{0xffa00c00, 0x59800000, LD | AQ, SZ(2), 0x59801041, "ldapursh"},
	{0xffe00c00, 0x59400000, LD | AQ, SZ(2), 0x59401041, "ldapurh"},
	{0xffe00c00, 0x99000000, ST | AQ, SZ(4), 0x99001041, "stlur"},
	{0xffe00c00, 0x99400000, LD | AQ, SZ(4), 0x99401041, "ldapur"},
	{0xffe00c00, 0x99800000, LD | AQ, SZ(4), 0x99801041, "ldapursw"},
	{0xffe00c00, 0xd9000000, ST | AQ, SZ(8), 0xd9001041, "stlur"},
	{0xffe00c00, 0xd9400000, LD | AQ, SZ(8), 0xd9401041, "ldapur"},

	/* FEAT_MTE. Tags are no data accesses: no size. */
	{0xfffffc00, 0xd9200000, ST, SZ(NONE), 0xd9200041, "stzgm"},
	{0xfffffc00, 0xd9a00000, ST, SZ(NONE), 0xd9a00041, "stgm"},
	{0xfffffc00, 0xd9e00000, LD, SZ(NONE), 0xd9e00041, "ldgm"},
	{0xffe00c00, 0xd9600000, LD, SZ(NONE), 0xd9600041, "ldg"},
	{0xff200c00, 0xd9200400, ST, SZ(NONE), 0xd9201441, "stg st2g stzg stz2g"},
	{0xff200800, 0xd9200800, ST, SZ(NONE), 0xd9200841, "stg st2g stzg stz2g"},

	/* FEAT_LSE, and FEAT_LRCPC and FEAT_LS64 in the same space */
	{0x3fe0fc00, 0x38a0c000, LD | AQ, SZ(FIELD), 0xf8bfc041, "ldapr ldaprb ldaprh"},
	{0xffe0fc00, 0xf8209000, ST, SZ(64), 0xf83f9042, "st64b"},
	{0xffe0fc00, 0xf820a000, ST, SZ(64), 0xf821a042, "st64bv0"},
	{0xffe0fc00, 0xf820b000, ST, SZ(64), 0xf821b042, "st64bv"},
	{0xffe0fc00, 0xf820d000, LD, SZ(64), 0xf83fd042, "ld64b"},
	ATOMIC(0x0000, "ldadd"),
	ATOMIC(0x1000, "ldclr"),
	ATOMIC(0x2000, "ldeor"),
	ATOMIC(0x3000, "ldset"),
	ATOMIC(0x4000, "ldsmax"),
	ATOMIC(0x5000, "ldsmin"),
	ATOMIC(0x6000, "ldumax"),
	ATOMIC(0x7000, "ldumin"),
	ATOMIC(0x8000, "swp"),

	/* FEAT_PAuth: LDRAA, LDRAB */
	{0xff200400, 0xf8200400, LD, SZ(8), 0xf8200441, "ldraa ldrab"},
};

/* As REGISTER, without the unprivileged way. */
#define VREGISTER(op, classes, size, name, uname)                                  \
	{0xffe00c00, (op), classes, size, (op) | 0x001f0041, uname},                        \
	{0xffe00c00, (op) | 0x400, classes, size, (op) | 0x001f0441, name},                 \
	{0xffe00c00, (op) | 0xc00, classes, size, (op) | 0x001f0c41, name},                 \
	{0xffe04c00, (op) | 0x204800, classes, size, (op) | 0x236841, name},                \
	{0xffc00000, (op) | 0x1000000, classes, size, (op) | 0x01000841, name}

/* bit 28 = 1, SIMD&FP registers */
static const struct insn_row simd_1[] = {
	{0xff000000, 0x1c000000, VLD, SZ(4), 0x1c000041, "ldr"}, /* literal */
	{0xff000000, 0x5c000000, VLD, SZ(8), 0x5c000041, "ldr"},
	{0xff000000, 0x9c000000, VLD, SZ(16), 0x9c000041, "ldr"},
	VREGISTER(0x3c000000, VST, SZ(1), "str", "stur"),
	VREGISTER(0x3c400000, VLD, SZ(1), "ldr", "ldur"),
	VREGISTER(0x3c800000, VST, SZ(16), "str", "stur"),
	VREGISTER(0x3cc00000, VLD, SZ(16), "ldr", "ldur"),
	VREGISTER(0x7c000000, VST, SZ(2), "str", "stur"),
	VREGISTER(0x7c400000, VLD, SZ(2), "ldr", "ldur"),
	VREGISTER(0xbc000000, VST, SZ(4), "str", "stur"),
	VREGISTER(0xbc400000, VLD, SZ(4), "ldr", "ldur"),
	VREGISTER(0xfc000000, VST, SZ(8), "str", "stur"),
	VREGISTER(0xfc400000, VLD, SZ(8), "ldr", "ldur"),
};
/* clang-format on */

const struct insn_group insn_group_ldst[2][2] = {
	{ROWS(general_0), ROWS(general_1)},
	{ROWS(simd_0), ROWS(simd_1)},
};
