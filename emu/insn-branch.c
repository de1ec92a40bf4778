/* SPDX-License-Identifier: MIT */
/*
 * Branches, exceptions, system instructions (Arm ARM, C4.1.93 "Branches,
 * Exception Generating and System instructions").
 */
#include "emu/insn-table.h"

#define IMMED (INSN_BR_IMMED | INSN_PC_WRITE)
#define COND (INSN_BR_IMMED | INSN_BR_COND | INSN_PC_WRITE)
#define IND (INSN_BR_INDIRECT | INSN_PC_WRITE)
#define RETURN (INSN_BR_RETURN | INSN_PC_WRITE)
#define ERET (INSN_ERET | INSN_PC_WRITE)
#define CALL INSN_CALL
#define EXC INSN_EXCEPTION
#define BAR INSN_BARRIER

/* clang-format off */
static const struct insn_row rows[] = {
	{0xfc000000, 0x14000000, IMMED, SZ(NONE), 0x17ffffff, "b"},
	{0xfc000000, 0x94000000, IMMED | CALL, SZ(NONE), 0x94000010, "bl"},
	{0x7f000000, 0x34000000, COND, SZ(NONE), 0xb4000041, "cbz"},
	{0x7f000000, 0x35000000, COND, SZ(NONE), 0x35ffffc1, "cbnz"},
	{0x7f000000, 0x36000000, COND, SZ(NONE), 0x36180041, "tbz"},
	{0x7f000000, 0x37000000, COND, SZ(NONE), 0xb7f80041, "tbnz"},
	{0xff000010, 0x54000000, COND, SZ(NONE), 0x54000041, "b.ne b."},
	{0xff000010, 0x54000010, COND, SZ(NONE), 0x54000051, "bc.ne bc."},

	/* 1101011 Z 0 op 1 11111 op3 Rn op4 */
	{0xfffffc1f, 0xd61f0000, IND, SZ(NONE), 0xd61f0200, "br"},
	{0xfffff81f, 0xd61f081f, IND, SZ(NONE), 0xd61f0a1f, "braaz brabz"},
	{0xfffff800, 0xd71f0800, IND, SZ(NONE), 0xd71f0a11, "braa brab"},
	{0xfffffc1f, 0xd63f0000, IND | CALL, SZ(NONE), 0xd63f0200, "blr"},
	{0xfffff81f, 0xd63f081f, IND | CALL, SZ(NONE), 0xd63f0a1f, "blraaz blrabz"},
	{0xfffff800, 0xd73f0800, IND | CALL, SZ(NONE), 0xd73f0a11, "blraa blrab"},
	{0xfffffc1f, 0xd65f0000, RETURN, SZ(NONE), 0xd65f03c0, "ret"},
	{0xfffffbff, 0xd65f0bff, RETURN, SZ(NONE), 0xd65f0bff, "retaa retab"},
	{0xffffffff, 0xd69f03e0, ERET, SZ(NONE), 0xd69f03e0, "eret"},
	{0xfffffbff, 0xd69f0bff, ERET, SZ(NONE), 0xd69f0bff, "eretaa eretab"},
	{0xffffffff, 0xd6bf03e0, NONE, SZ(NONE), 0xd6bf03e0, "drps"},

	/* 11010100 opc imm16 op2 LL */
	{0xffe0001f, 0xd4000001, EXC, SZ(NONE), 0xd4000001, "svc"},
	{0xffe0001f, 0xd4000002, EXC, SZ(NONE), 0xd4000002, "hvc"},
	{0xffe0001f, 0xd4000003, EXC, SZ(NONE), 0xd4000003, "smc"},
	{0xffe0001f, 0xd4200000, EXC, SZ(NONE), 0xd4210000, "brk"},
	{0xffe0001f, 0xd4400000, EXC, SZ(NONE), 0xd45e0000, "hlt"},
	{0xffe0001f, 0xd4600000, EXC, SZ(NONE), 0xd4600020, "tcancel"},
	{0xffe0001f, 0xd4a00001, NONE, SZ(NONE), 0xd4a00001, "dcps1"},
	{0xffe0001f, 0xd4a00002, NONE, SZ(NONE), 0xd4a00002, "dcps2"},
	{0xffe0001f, 0xd4a00003, NONE, SZ(NONE), 0xd4a00003, "dcps3"},

	/* 11010101 0 op0 op1 CRn CRm op2 Rt: op0 = 0 */
	{0xffffffe0, 0xd5031000, INSN_WFE, SZ(NONE), 0xd5031003, "wfet"},
	{0xffffffe0, 0xd5031020, INSN_WFI, SZ(NONE), 0xd5031023, "wfit"},
	{0xffffffff, 0xd503205f, INSN_HINT | INSN_WFE, SZ(NONE), 0xd503205f, "wfe"},
	{0xffffffff, 0xd503207f, INSN_HINT | INSN_WFI, SZ(NONE), 0xd503207f, "wfi"},
	{0xfffff01f, 0xd503201f, INSN_HINT, SZ(NONE), 0xd503201f, "nop yield sev sevl hint"},
	{0xfffff0ff, 0xd503305f, BAR, SZ(NONE), 0xd5033f5f, "clrex"},
	{0xfffff0ff, 0xd503309f, BAR, SZ(NONE), 0xd5033b9f, "dsb ssbb pssbb"},
	{0xfffff3ff, 0xd503323f, BAR, SZ(NONE), 0xd503323f, "dsb"}, /* nXS */
	{0xfffff0ff, 0xd50330bf, BAR, SZ(NONE), 0xd5033bbf, "dmb"},
	{0xfffff0ff, 0xd50330df, BAR | INSN_ISB, SZ(NONE), 0xd5033fdf, "isb"},
	{0xffffffff, 0xd50330ff, BAR, SZ(NONE), 0xd50330ff, "sb"},
	{0xffffffff, 0xd503307f, 0, SZ(NONE), 0xd503307f, "tcommit"},
	/* CFINV, XAFLAG and AXFLAG work on the flags: plain data processing */
	{0xfffff0ff, 0xd500401f, 0, SZ(NONE), 0xd500401f, "cfinv"},
	{0xfffff0ff, 0xd500403f, 0, SZ(NONE), 0xd500403f, "xaflag"},
	{0xfffff0ff, 0xd500405f, 0, SZ(NONE), 0xd500405f, "axflag"},
	{0xfff8f01f, 0xd500401f, INSN_MSR_IMM, SZ(NONE), 0xd50342df, "msr smstart smstop"},
	{0xfffffeff, 0xd5233060, 0, SZ(NONE), 0xd5233060, "tstart"}, /* and TTEST */

	/* op0 = 1 */
	{0xffffffe0, 0xd50b7420, INSN_SYS | INSN_CACHE | ST, SZ(ZVA), 0xd50b7421, "dc"}, /* ZVA */
	{0xfff8ffe0, 0xd5087100, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd508711f, "ic"}, /* IALLUIS */
	{0xfff8ff00, 0xd5087500, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd50b7523, "ic"}, /* IVAU */
	{0xfff8ff00, 0xd5087400, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd50b7461, "dc"}, /* GVA */
	{0xfff8ff00, 0xd5087600, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd5087641, "dc"},
	{0xfff8fe00, 0xd5087a00, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd50b7b23, "dc"},
	{0xfff8fe00, 0xd5087c00, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd50b7c23, "dc"},
	{0xfff8ff00, 0xd5087e00, INSN_SYS | INSN_CACHE, SZ(NONE), 0xd5087e41, "dc"},
	{0xfff8e000, 0xd5088000, INSN_SYS | INSN_TLB, SZ(NONE), 0xd508871f, "tlbi"},
	{0xfff80000, 0xd5080000, INSN_SYS, SZ(NONE), 0xd5087801, "at sys"},
	{0xfff80000, 0xd5280000, INSN_SYS, SZ(NONE), 0xd5280041, "sysl"},

	/* op0 = 2, 3 */
	{0xffffffe0, 0xd518d020, INSN_MSR | INSN_CID_WRITE, SZ(NONE), 0xd518d021, "msr"},
	{0xfff00000, 0xd5100000, INSN_MSR, SZ(NONE), 0xd51b9c01, "msr"},
	{0xfff00000, 0xd5300000, INSN_MRS, SZ(NONE), 0xd53b9d01, "mrs"},
};
/* clang-format on */

const struct insn_group insn_group_branch = ROWS(rows);
