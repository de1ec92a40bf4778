/* SPDX-License-Identifier: MIT */
/*
 * Scalar floating point and Advanced SIMD (Arm ARM, C4.1.96 "Data Processing --
 * Scalar Floating-Point and Advanced SIMD"). The Advanced SIMD rows are the
 * manual's groups, with division and square root taken out for the timing
 * model; reserved opcodes inside a group pass for instructions.
 */
#include "emu/insn-table.h"

#define VDIV (INSN_FPSIMD | INSN_DIV)

/* clang-format off */

/* ptype (bits 23:22): 0x single and double, 11 half precision, 10 reserved */
#define FP(mask, value, classes, example, name)                                    \
	{(mask) | 0x00800000, value, classes, SZ(NONE), example, name},                     \
	{(mask) | 0x00c00000, (value) | 0x00c00000, classes, SZ(NONE),                      \
	 (example) | 0x00c00000, name}

static const struct insn_row rows[] = {
	/* -- scalar floating point -- */
	/* sf 0 0 11110 ptype 0 rmode opcode scale Rn Rd; 32 bits: scale >= 32 */
	FP(0xff3e8000, 0x1e028000, V, 0x1e02fc41, "scvtf ucvtf"),
	FP(0xff3e8000, 0x1e188000, V, 0x1e18fc41, "fcvtzs fcvtzu"),
	FP(0xff3e0000, 0x9e020000, V, 0x9e42fc41, "scvtf ucvtf"),
	FP(0xff3e0000, 0x9e180000, V, 0x9e58fc41, "fcvtzs fcvtzu"),
	/* sf 0 0 11110 ptype 1 rmode opcode 000000 Rn Rd */
	{0xfffefc00, 0x9eae0000, V, SZ(NONE), 0x9eaf0041, "fmov"}, /* to and from V.D[1] */
	{0xfffefc00, 0x1e260000, V, SZ(NONE), 0x1e270041, "fmov"}, /* W and S */
	{0xfffefc00, 0x9e660000, V, SZ(NONE), 0x9e670041, "fmov"}, /* X and D */
	{0x7ffefc00, 0x1ee60000, V, SZ(NONE), 0x1ee70041, "fmov"}, /* W or X and H */
	{0xfffffc00, 0x1e7e0000, V, SZ(NONE), 0x1e7e0041, "fjcvtzs"},
	FP(0x7f3cfc00, 0x1e200000, V, 0x9e620041, "scvtf ucvtf fcvtns fcvtnu"),
	FP(0x7f3efc00, 0x1e240000, V, 0x9e640041, "fcvtas fcvtau"),
	FP(0x7f3efc00, 0x1e280000, V, 0x9e680041, "fcvtps fcvtpu"),
	FP(0x7f3efc00, 0x1e300000, V, 0x9e700041, "fcvtms fcvtmu"),
	FP(0x7f3efc00, 0x1e380000, V, 0x9e780041, "fcvtzs fcvtzu"),
	/* 0 0 0 11110 ptype 1 opcode 10000 Rn Rd */
	FP(0xff3ffc00, 0x1e21c000, VDIV, 0x1e21c041, "fsqrt"),
	FP(0xff3e7c00, 0x1e204000, V, 0x1e204041, "fmov fabs fneg"),
	{0xfffffc00, 0x1e22c000, V, SZ(NONE), 0x1e22c041, "fcvt"}, /* S to D */
	{0xfffffc00, 0x1e23c000, V, SZ(NONE), 0x1e23c041, "fcvt"}, /* S to H */
	{0xfffffc00, 0x1e624000, V, SZ(NONE), 0x1e624041, "fcvt"}, /* D to S */
	{0xffff7c00, 0x1e634000, V, SZ(NONE), 0x1e63c041, "fcvt bfcvt"}, /* D to H */
	{0xffff7c00, 0x1ee24000, V, SZ(NONE), 0x1ee24041, "fcvt"}, /* H to S and D */
	FP(0xff3e7c00, 0x1e244000, V, 0x1e244041, "frintn frintp frintm frintz"),
	FP(0xff3ffc00, 0x1e264000, V, 0x1e264041, "frinta"),
	FP(0xff3f7c00, 0x1e274000, V, 0x1e274041, "frintx frinti"),
	{0xffbe7c00, 0x1e284000, V, SZ(NONE), 0x1e284041, "frint32z frint32x frint64z frint64x"},
	FP(0xff20fc07, 0x1e202000, V, 0x1e632040, "fcmp fcmpe"),
	FP(0xff201fe0, 0x1e201000, V, 0x1e6e1001, "fmov"),
	FP(0xff200c00, 0x1e200400, V, 0x1e630444, "fccmp fccmpe"),
	FP(0xff20fc00, 0x1e201800, VDIV, 0x1e631841, "fdiv"),
	FP(0xff208c00, 0x1e200800, V, 0x1e632841, "fadd fmul fsub fmax fmin fmaxnm fminnm"),
	FP(0xff20fc00, 0x1e208800, V, 0x1e638841, "fnmul"),
	FP(0xff200c00, 0x1e200c00, V, 0x1e631c41, "fcsel"),
	FP(0xff000000, 0x1f000000, V, 0x1f431041, "fmadd fmsub fnmadd fnmsub"),

	/* -- Advanced SIMD scalar: 01 U 1111 ... -- */
	{0xffe0fc00, 0x5e000400, V, SZ(NONE), 0x5e080441, "mov dup"},
	{0xdf60c400, 0x5e400400, V, SZ(NONE), 0x5e431c41, ""}, /* three same, half */
	{0xdf7e0c00, 0x5e780800, V, SZ(NONE), 0x5e79b841, ""}, /* two-register, half */
	{0xff208400, 0x7e008400, V, SZ(NONE), 0x7e438441, "sqrdmlah sqrdmlsh"},
	{0xdf3e0c00, 0x5e200800, V, SZ(NONE), 0x5ee0b841, "abs"},
	{0xdf3e0c00, 0x5e300800, V, SZ(NONE), 0x5ef1b841, "addp"},
	{0xff200c00, 0x5e200000, V, SZ(NONE), 0x5e639041, "sqdmlal sqdmlsl sqdmull"},
	{0xdf200400, 0x5e200400, V, SZ(NONE), 0x5ee38441, "add"},
	{0xdff80400, 0x5f000400, NONE, SZ(NONE), 0x5f000400, ""}, /* immh 0 */
	{0xdf800400, 0x5f000400, V, SZ(NONE), 0x5f410441, "sshr"},
	{0xdf000400, 0x5f000000, V, SZ(NONE), 0x5fc39041, "fmul"},

	/* -- Advanced SIMD vector: 0 Q U 0111 ... -- */
	{0xbfe08c00, 0x0e000000, V, SZ(NONE), 0x4e030041, "tbl tbx"},
	{0xbf20bc00, 0x0e000800, NONE, SZ(NONE), 0x0e000800, ""},
	{0xbf208c00, 0x0e000800, V, SZ(NONE), 0x4e831841, "uzp1 uzp2 zip1 zip2 trn1 trn2"},
	{0xffe0c400, 0x2e000000, V, SZ(NONE), 0x2e032041, "ext"}, /* 8 bytes: no index above 7 */
	{0xffe08400, 0x6e000000, V, SZ(NONE), 0x6e034041, "ext"},
	{0x9fe08400, 0x0e000400, V, SZ(NONE), 0x4e040441, "dup mov smov umov ins"},
	{0xbfe0fc00, 0x2e403c00, VDIV, SZ(NONE), 0x6e433c41, "fdiv"}, /* half */
	{0x9f60c400, 0x0e400400, V, SZ(NONE), 0x4e431441, ""}, /* three same, half */
	{0xbffffc00, 0x2ef9f800, VDIV, SZ(NONE), 0x6ef9f841, "fsqrt"}, /* half */
	{0x9f7e0c00, 0x0e780800, V, SZ(NONE), 0x4ef8f841, ""}, /* two-register, half */
	{0x9f208400, 0x0e008400, V, SZ(NONE), 0x6e838441, "sqrdmlah"},
	{0xfffffc00, 0x2ee1f800, NONE, SZ(NONE), 0x2ee1f800, ""}, /* 1D */
	{0xbfbffc00, 0x2ea1f800, VDIV, SZ(NONE), 0x6ee1f841, "fsqrt"},
	{0x9f3e0c00, 0x0e200800, V, SZ(NONE), 0x4e205841, "cnt"},
	{0x9f3e0c00, 0x0e300800, V, SZ(NONE), 0x4e31b841, "addv"},
	{0x9f200c00, 0x0e200000, V, SZ(NONE), 0x0e630041, "saddl"},
	{0xffe0fc00, 0x2e60fc00, NONE, SZ(NONE), 0x2e60fc00, ""}, /* 1D */
	{0xbfa0fc00, 0x2e20fc00, VDIV, SZ(NONE), 0x6e63fc41, "fdiv"},
	{0x9f200400, 0x0e200400, V, SZ(NONE), 0x4ee38441, "add"},
	{0x9ff80400, 0x0f000400, V, SZ(NONE), 0x4f000421, "movi mvni orr bic fmov"}, /* immh 0 */
	{0x9f800400, 0x0f000400, V, SZ(NONE), 0x4f410441, "sshr"},
	{0x9f000400, 0x0f000000, V, SZ(NONE), 0x4fc39041, "fmul"},

	/* -- cryptography -- */
	{0xff3e0c00, 0x4e280800, V, SZ(NONE), 0x4e284841, "aese aesd aesmc aesimc"},
	{0xffe08c00, 0x5e000000, V, SZ(NONE), 0x5e030041, "sha1c"},
	{0xfffe0c00, 0x5e280800, V, SZ(NONE), 0x5e280841, "sha1h sha1su1 sha256su0"},
	{0xffe0c000, 0xce408000, V, SZ(NONE), 0xce438041, "sm3tt1a"},
	{0xffe0b000, 0xce608000, V, SZ(NONE), 0xce638041, "sha512h"},
	{0xffc08000, 0xce000000, V, SZ(NONE), 0xce031041, "eor3 bcax"},
	{0xffe08000, 0xce400000, V, SZ(NONE), 0xce431041, "sm3ss1"},
	{0xffe00000, 0xce800000, V, SZ(NONE), 0xce830441, "xar"},
	{0xfffff800, 0xcec08000, V, SZ(NONE), 0xcec08041, "sha512su0 sm4e"},
};
/* clang-format on */

const struct insn_group insn_group_simd = ROWS(rows);
