/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/insn.h"

#define FP INSN_FPSIMD
#define IMM (INSN_BR_IMMED | INSN_PC_WRITE)
#define IND (INSN_BR_INDIRECT | INSN_PC_WRITE)
#define SYS INSN_SYS

/* -- the table ------------------------------------------------------------ */

static void each_row(void (*check)(const struct insn_group *, size_t))
{
	for (unsigned i = 0; i < 16; i++) {
		const struct insn_group *group = insn_group(i);
		bool again = false;

		for (unsigned k = 0; k < i; k++)
			again |= insn_group(k) == group;
		for (size_t row = 0; !again && row < group->nrows; row++)
			check(group, row);
	}
}

static void is_found_by_its_example(const struct insn_group *group, size_t i)
{
	const struct insn_row *row = &group->rows[i];

	ck_assert_msg(!(row->value & ~row->mask), "%08x: value outside its mask",
		      row->value);
	ck_assert_msg(insn_find(row->example) == row,
		      "%08x: its example %08x is another's", row->value, row->example);
}

START_TEST(table_each_row_has_an_example_that_finds_it)
{
	each_row(is_found_by_its_example);
}
END_TEST

static bool compatible(uint32_t value, uint32_t mask, const struct insn_row *row)
{
	return !((value ^ row->value) & mask & row->mask);
}

static void stands_in_its_group(const struct insn_group *group, size_t i)
{
	for (uint32_t top = 0; top < 16; top++)
		if (compatible(top << 25, UINT32_C(15) << 25, &group->rows[i]))
			ck_assert_msg(insn_group(top) == group, "%08x: not reached by %x",
				      group->rows[i].value, top);
}

START_TEST(table_each_row_stands_in_every_group_of_its_words)
{
	each_row(stands_in_its_group);
}
END_TEST

static void overlaps_only_as_a_special_case(const struct insn_group *group, size_t i)
{
	const struct insn_row *row = &group->rows[i];

	for (size_t k = i + 1; k < group->nrows; k++) {
		const struct insn_row *later = &group->rows[k];

		if (!compatible(row->value, row->mask, later))
			continue;
		ck_assert_msg((row->mask & later->mask) == later->mask &&
				      row->mask != later->mask,
			      "%08x and %08x overlap", row->value, later->value);
	}
}

START_TEST(table_rows_overlap_only_where_one_is_a_case_of_the_other)
{
	each_row(overlaps_only_as_a_special_case);
}
END_TEST

static bool implies(uint32_t is, uint32_t one, uint32_t other)
{
	return !(is & one) || (is & other);
}

static void has_classes_that_agree(const struct insn_group *group, size_t i)
{
	const struct insn_row *row = &group->rows[i];
	const uint32_t is = row->classes;
	const bool tags = (row->mask & 0xff200000) == 0xff200000 &&
			  (row->value & 0xff200000) == 0xd9200000;
	bool ok = implies(is, INSN_BR_COND, INSN_BR_IMMED) &&
		  implies(is, INSN_BRANCH, INSN_PC_WRITE) &&
		  implies(is, INSN_PC_WRITE, INSN_BRANCH) &&
		  implies(is, INSN_CALL, INSN_BR_IMMED | INSN_BR_INDIRECT) &&
		  implies(is, INSN_ISB, INSN_BARRIER) &&
		  implies(is, INSN_CACHE | INSN_TLB, INSN_SYS) &&
		  implies(is, INSN_CID_WRITE, INSN_MSR) &&
		  implies(is, INSN_PAIR | INSN_EXCLUSIVE | INSN_ORDERED,
			  INSN_LOAD | INSN_STORE);

	if (is & INSN_ATOMIC)
		ok &= (is & INSN_LOAD) && (is & INSN_STORE);
	else
		ok &= !((is & INSN_LOAD) && (is & INSN_STORE));
	if (is & (INSN_UNDEFINED | INSN_SVE))
		ok &= !(is & ~(INSN_UNDEFINED | INSN_SVE));
	ck_assert_msg(ok, "%08x: classes %08x", row->value, is);
	ck_assert_msg((row->size != INSN_SIZE_NONE) ==
			      ((is & (INSN_LOAD | INSN_STORE)) && !tags),
		      "%08x: size", row->value);
}

START_TEST(table_classes_of_a_row_agree_with_each_other)
{
	each_row(has_classes_that_agree);
}
END_TEST

/* -- words ---------------------------------------------------------------- */

/* clang-format off */
static const struct {
	uint32_t word;
	uint32_t classes;
	struct insn_access access; /* size, reads, writes, align */
} words[] = {
	{0xf9400020, INSN_LOAD, {8, 1, 0, 8}},		/* ldr x0, [x1] */
	{0x38401420, INSN_LOAD, {1, 1, 0, 1}},		/* ldrb w0, [x1], #1 */
	{0xb8a27820, INSN_LOAD, {4, 1, 0, 4}},		/* ldrsw x0, [x1, x2, lsl #2] */
	{0x78c00820, INSN_LOAD, {2, 1, 0, 2}},		/* ldtrsh w0, [x1] */
	{0xb81fd020, INSN_STORE, {4, 0, 1, 4}},		/* stur w0, [x1, #-3] */
	{0xa8c17bfd, INSN_LOAD | INSN_PAIR, {8, 2, 0, 8}}, /* ldp x29, x30, [sp], #16 */
	{0x69400440, INSN_LOAD | INSN_PAIR, {4, 2, 0, 4}}, /* ldpsw x0, x1, [x2] */
	{0xad000440, INSN_STORE | INSN_PAIR | FP, {16, 0, 2, 16}}, /* stp q0, q1, [x2] */
	{0xfd0007e0, INSN_STORE | FP, {8, 0, 1, 8}},	/* str d0, [sp, #8] */
	{0x9c000000, INSN_LOAD | FP, {16, 1, 0, 16}},	/* ldr q0, . */
	{0x4c407000, INSN_LOAD | FP, {16, 1, 0, 1}},	/* ld1 {v0.16b}, [x0] */
	{0x4cdf0400, INSN_LOAD | FP, {16, 4, 0, 2}},	/* ld4 {v0.8h-v3.8h}, [x0], #64 */
	{0x0d209000, INSN_STORE | FP, {4, 0, 2, 4}},	/* st2 {v0.s, v1.s}[1], [x0] */
	{0x4d9f8400, INSN_STORE | FP, {8, 0, 1, 8}},	/* st1 {v0.d}[1], [x0], #8 */
	{0x0d40e400, INSN_LOAD | FP, {2, 3, 0, 2}},	/* ld3r {v0.4h-v2.4h}, [x0] */
	{0x0c000c00, INSN_UNDEFINED, {0, 0, 0, 0}},	/* st4 of 1D */
	{0xf9800000, INSN_PREFETCH, {0, 0, 0, 0}},	/* prfm pldl1keep, [x0] */

	{0xc85f7c20, INSN_LOAD | INSN_EXCLUSIVE, {8, 1, 0, 8}}, /* ldxr x0, [x1] */
	{0x0803fc20, INSN_STORE | INSN_EXCLUSIVE | INSN_ORDERED, {1, 0, 1, 1}}, /* stlxrb w3, w0, [x1] */
	{0xc8250861, INSN_STORE | INSN_EXCLUSIVE | INSN_PAIR, {16, 0, 1, 16}}, /* stxp w5, x1, x2, [x3] */
	{0x887f8861, INSN_LOAD | INSN_EXCLUSIVE | INSN_PAIR | INSN_ORDERED, {8, 1, 0, 8}}, /* ldaxp w1, w2, [x3] */
	{0x88dffc20, INSN_LOAD | INSN_ORDERED, {4, 1, 0, 4}}, /* ldar w0, [x1] */
	{0x489ffc20, INSN_STORE | INSN_ORDERED, {2, 0, 1, 2}}, /* stlrh w0, [x1] */
	{0xf8bfc020, INSN_LOAD | INSN_ORDERED, {8, 1, 0, 8}}, /* ldapr x0, [x1] */
	{0xf8e00041, INSN_LOAD | INSN_STORE | INSN_ATOMIC, {8, 1, 1, 8}}, /* ldaddal x0, x1, [x2] */
	{0xb820003f, INSN_LOAD | INSN_STORE | INSN_ATOMIC, {4, 1, 1, 4}}, /* stadd w0, [x1] */
	{0x38208041, INSN_LOAD | INSN_STORE | INSN_ATOMIC, {1, 1, 1, 1}}, /* swpb w0, w1, [x2] */
	{0x88a07c41, INSN_LOAD | INSN_STORE | INSN_ATOMIC, {4, 1, 1, 4}}, /* cas w0, w1, [x2] */
	{0x4860fc82, INSN_LOAD | INSN_STORE | INSN_ATOMIC | INSN_PAIR, {16, 1, 1, 16}}, /* caspal x0, x1, x2, x3, [x4] */
	{0x4861fc82, INSN_UNDEFINED, {0, 0, 0, 0}},	/* caspal at an odd register */

	{0x14000002, IMM, {0, 0, 0, 0}},		/* b .+8 */
	{0x97ffffff, IMM | INSN_CALL, {0, 0, 0, 0}},	/* bl .-4 */
	{0x54000080, IMM | INSN_BR_COND, {0, 0, 0, 0}},	/* b.eq .+16 */
	{0x35ffffc0, IMM | INSN_BR_COND, {0, 0, 0, 0}},	/* cbnz w0, .-8 */
	{0xb6080020, IMM | INSN_BR_COND, {0, 0, 0, 0}},	/* tbz x0, #33, .+4 */
	{0xd61f0200, IND, {0, 0, 0, 0}},		/* br x16 */
	{0xd63f0020, IND | INSN_CALL, {0, 0, 0, 0}},	/* blr x1 */
	{0xd61f083f, IND, {0, 0, 0, 0}},		/* braaz x1 */
	{0xd65f03c0, INSN_BR_RETURN | INSN_PC_WRITE, {0, 0, 0, 0}}, /* ret */
	{0xd65f0fff, INSN_BR_RETURN | INSN_PC_WRITE, {0, 0, 0, 0}}, /* retab */
	{0xd69f03e0, INSN_ERET | INSN_PC_WRITE, {0, 0, 0, 0}}, /* eret */
	{0xd4000001, INSN_EXCEPTION, {0, 0, 0, 0}},	/* svc #0 */
	{0xd4000022, INSN_EXCEPTION, {0, 0, 0, 0}},	/* hvc #1 */
	{0xd4200000, INSN_EXCEPTION, {0, 0, 0, 0}},	/* brk #0 */
	{0x00000000, INSN_EXCEPTION, {0, 0, 0, 0}},	/* udf #0 */
	{0xd4a00001, INSN_UNDEFINED, {0, 0, 0, 0}},	/* dcps1 */

	{0xd5033fdf, INSN_BARRIER | INSN_ISB, {0, 0, 0, 0}}, /* isb */
	{0xd5033bbf, INSN_BARRIER, {0, 0, 0, 0}},	/* dmb ish */
	{0xd5033f5f, INSN_BARRIER, {0, 0, 0, 0}},	/* clrex */
	{0xd503201f, INSN_HINT, {0, 0, 0, 0}},		/* nop */
	{0xd503207f, INSN_HINT | INSN_WFI, {0, 0, 0, 0}}, /* wfi */
	{0xd503205f, INSN_HINT | INSN_WFE, {0, 0, 0, 0}}, /* wfe */
	{0xd503233f, INSN_HINT, {0, 0, 0, 0}},		/* paciasp */
	{0xd5031000, INSN_WFE, {0, 0, 0, 0}},		/* wfet x0 */

	{0xd50b7420, SYS | INSN_CACHE | INSN_STORE, {64, 0, 1, 0}}, /* dc zva, x0 */
	{0xd50b7a20, SYS | INSN_CACHE, {0, 0, 0, 0}},	/* dc cvac, x0 */
	{0xd50b7521, SYS | INSN_CACHE, {0, 0, 0, 0}},	/* ic ivau, x1 */
	{0xd508751f, SYS | INSN_CACHE, {0, 0, 0, 0}},	/* ic iallu */
	{0xd508871f, SYS | INSN_TLB, {0, 0, 0, 0}},	/* tlbi vmalle1 */
	{0xd5087800, SYS, {0, 0, 0, 0}},		/* at s1e1r, x0 */
	{0xd50342df, INSN_MSR_IMM, {0, 0, 0, 0}},	/* msr daifset, #2 */
	{0xd518d027, INSN_MSR | INSN_CID_WRITE, {0, 0, 0, 0}}, /* msr contextidr_el1, x7 */
	{0xd51dd027, INSN_MSR, {0, 0, 0, 0}},		/* msr contextidr_el12, x7 */
	{0xd538d027, INSN_MRS, {0, 0, 0, 0}},		/* mrs x7, contextidr_el1 */
	{0xd51b9c61, INSN_MSR, {0, 0, 0, 0}},		/* msr pmovsclr_el0, x1 */

	{0x9b027c20, INSN_MUL, {0, 0, 0, 0}},		/* mul x0, x1, x2 */
	{0x9bc27c20, INSN_MUL, {0, 0, 0, 0}},		/* umulh x0, x1, x2 */
	{0x1ac20820, INSN_DIV, {0, 0, 0, 0}},		/* udiv w0, w1, w2 */
	{0x1e621820, FP | INSN_DIV, {0, 0, 0, 0}},	/* fdiv d0, d1, d2 */
	{0x6ea1f820, FP | INSN_DIV, {0, 0, 0, 0}},	/* fsqrt v0.4s, v1.4s */
	{0x1e622820, FP, {0, 0, 0, 0}},			/* fadd d0, d1, d2 */
	{0x9e660000, FP, {0, 0, 0, 0}},			/* fmov x0, d0 */
	{0x4ea29c20, FP, {0, 0, 0, 0}},			/* mul v0.4s, v1.4s, v2.4s */
	{0x91000420, 0, {0, 0, 0, 0}},			/* add x0, x1, #1 */
	{0x04a00000, INSN_SVE, {0, 0, 0, 0}},
	{0x0000ffff, INSN_EXCEPTION, {0, 0, 0, 0}},	/* udf #65535 */
	{0x00010000, INSN_UNDEFINED, {0, 0, 0, 0}},
	{0x02000000, INSN_UNDEFINED, {0, 0, 0, 0}},
	{0xffffffff, INSN_UNDEFINED, {0, 0, 0, 0}},
};
/* clang-format on */

START_TEST(classify_word_by_hand)
{
	const uint32_t word = words[_i].word;
	const struct insn_access access = insn_access(word);

	ck_assert_msg(insn_classify(word) == words[_i].classes, "%08x: %08x, want %08x",
		      word, insn_classify(word), words[_i].classes);
	ck_assert_msg(!memcmp(&access, &words[_i].access, sizeof(access)),
		      "%08x: size %u reads %u writes %u align %u", word, access.size,
		      access.reads, access.writes, access.align);
}
END_TEST

START_TEST(unaligned_is_by_element)
{
	struct insn_access access = insn_access(0xf9400020); /* ldr x */

	ck_assert(!insn_unaligned(&access, 0x1000));
	ck_assert(insn_unaligned(&access, 0x1004));
	access = insn_access(0xa8c17bfd); /* ldp x, x: to 8, not 16 */
	ck_assert(!insn_unaligned(&access, 0x1008));
	ck_assert(insn_unaligned(&access, 0x1001));
	access = insn_access(0x4cdf0400); /* ld4 of halfwords */
	ck_assert(!insn_unaligned(&access, 0x1002));
	ck_assert(insn_unaligned(&access, 0x1001));
	access = insn_access(0x38401420); /* ldrb */
	ck_assert(!insn_unaligned(&access, 0x1001));
	access = insn_access(0xd50b7420); /* dc zva */
	ck_assert(!insn_unaligned(&access, 0x1001));
	access = insn_access(0x91000420); /* add */
	ck_assert(!insn_unaligned(&access, 0x1001));
}
END_TEST

/* -- counts --------------------------------------------------------------- */

static struct insn_counts count(const uint32_t *code, size_t n)
{
	struct insn_counts counts;

	memset(&counts, 0, sizeof(counts));
	for (size_t i = 0; i < n; i++)
		insn_count(&counts, code[i]);
	return counts;
}

START_TEST(count_loads_and_stores)
{
	/*			 ld st mem */
	static const uint32_t code[] = {
		0xf9400020, /* ldr	  1  0  1 */
		0xa8c17bfd, /* ldp	  1  0  2 */
		0xad000440, /* stp q	  0  1  2 */
		0x4cdf0400, /* ld4	  1  0  4 */
		0xf8e00041, /* ldaddal	  1  1  2 */
		0xc85f7c20, /* ldxr	  1  0  1 */
		0x0803fc20, /* stlxrb	  0  1  1, and st_exclusive */
		0xd50b7420, /* dc zva	  0  1  1 */
		0xf9800000, /* prfm	  0  0  0 */
		0x4860fc82, /* caspal	  1  1  2 */
		0x91000420, /* add	  0  0  0 */
	};
	const struct insn_counts counts = count(code, 11);

	ck_assert_uint_eq(counts.insns, 11);
	ck_assert_uint_eq(counts.ld, 6);
	ck_assert_uint_eq(counts.st, 5);
	ck_assert_uint_eq(counts.st_exclusive, 1);
	ck_assert_uint_eq(counts.mem, 16);
	ck_assert_uint_eq(counts.br + counts.br_immed + counts.br_return +
				  counts.br_cond + counts.pc_write + counts.exc_return +
				  counts.cid_write,
			  0);
}
END_TEST

START_TEST(count_branches)
{
	/*			  br immed return cond pc_write exc_return */
	static const uint32_t code[] = {
		0x14000002, /* b	   1  1  0  0  1  0 */
		0x97ffffff, /* bl	   1  1  0  0  1  0 */
		0x54000080, /* b.eq	   1  1  0  1  0  0 */
		0x35ffffc0, /* cbnz	   1  1  0  1  0  0 */
		0xb6080020, /* tbz	   1  1  0  1  0  0 */
		0xd61f0200, /* br	   1  0  0  0  1  0 */
		0xd63f0020, /* blr	   1  0  0  0  1  0 */
		0xd65f03c0, /* ret	   1  0  1  0  1  0 */
		0xd65f0fff, /* retab	   1  0  1  0  1  0 */
		0xd69f03e0, /* eret	   1  0  0  0  1  1 */
		0xd5033fdf, /* isb	   0  0  0  0  0  0 */
		0xd4000001, /* svc	   0  0  0  0  0  0 */
		0xd4200000, /* brk	   0  0  0  0  0  0 */
	};
	const struct insn_counts counts = count(code, 13);

	ck_assert_uint_eq(counts.insns, 13);
	ck_assert_uint_eq(counts.br, 10);
	ck_assert_uint_eq(counts.br_immed, 5);
	ck_assert_uint_eq(counts.br_return, 2);
	ck_assert_uint_eq(counts.br_cond, 3);
	ck_assert_uint_eq(counts.pc_write, 7);
	ck_assert_uint_eq(counts.exc_return, 1);
	ck_assert_uint_eq(counts.ld + counts.st + counts.mem + counts.cid_write, 0);
}
END_TEST

START_TEST(count_contextidr_writes_by_the_el1_name_only)
{
	static const uint32_t code[] = {
		0xd518d027, /* msr contextidr_el1, x7 */
		0xd51dd027, /* msr contextidr_el12, x7 */
		0xd51cd027, /* msr contextidr_el2, x7 */
		0xd538d027, /* mrs x7, contextidr_el1 */
		0xd518d03f, /* msr contextidr_el1, xzr */
	};

	ck_assert_uint_eq(count(code, 5).cid_write, 2);
}
END_TEST

/* -- fields --------------------------------------------------------------- */

static uint64_t target_of(uint32_t word, uint64_t pc)
{
	uint64_t target = 0xdead;

	ck_assert(insn_branch_target(word, pc, &target));
	return target;
}

START_TEST(branch_target_of_each_form)
{
	uint64_t target = 0xdead;

	ck_assert_uint_eq(target_of(0x14000002, 0x1000), 0x1008);	 /* b .+8 */
	ck_assert_uint_eq(target_of(0x97ffffff, 0x1000), 0xffc);	 /* bl .-4 */
	ck_assert_uint_eq(target_of(0x16000000, 0x10000000), 0x8000000); /* b .-128M */
	ck_assert_uint_eq(target_of(0x54000080, 0x1000), 0x1010);	 /* b.eq .+16 */
	ck_assert_uint_eq(target_of(0x54800000, 0x200000), 0x100000);	 /* b.eq .-1M */
	ck_assert_uint_eq(target_of(0x35ffffc0, 0x1000), 0xff8);  /* cbnz w0, .-8 */
	ck_assert_uint_eq(target_of(0xb6080020, 0x1000), 0x1004); /* tbz x0, #33, .+4 */
	ck_assert_uint_eq(target_of(0x37040000, 0x10000),
			  0x8000); /* tbnz w0, #0, .-32K */
	ck_assert_uint_eq(target_of(0x97ffffff, 0), UINT64_MAX - 3);
	ck_assert(!insn_branch_target(0xd61f0200, 0x1000, &target)); /* br x16 */
	ck_assert(!insn_branch_target(0x91000420, 0x1000, &target)); /* add */
	ck_assert_uint_eq(target, 0xdead);
}
END_TEST

START_TEST(msr_immediate_says_field_and_value)
{
	static const struct {
		uint32_t word;
		enum insn_pstate field;
		unsigned imm;
	} cases[] = {
		/* clang-format off */
		{0xd50342df, INSN_PSTATE_DAIFSET, 2}, {0xd5034fff, INSN_PSTATE_DAIFCLR, 15},
		{0xd50041bf, INSN_PSTATE_SPSEL, 1},   {0xd500419f, INSN_PSTATE_PAN, 1},
		{0xd500407f, INSN_PSTATE_UAO, 0},     {0xd503413f, INSN_PSTATE_SSBS, 1},
		{0xd503415f, INSN_PSTATE_DIT, 1},     {0xd503419f, INSN_PSTATE_TCO, 1},
		{0xd501411f, INSN_PSTATE_ALLINT, 1},  {0xd503477f, INSN_PSTATE_SVCR, 7},
		{0xd507435f, INSN_PSTATE_UNKNOWN, 3},
		/* clang-format on */
	};
	unsigned imm = 99;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(insn_msr_immediate(cases[i].word, &imm), cases[i].field);
		ck_assert_uint_eq(imm, cases[i].imm);
	}
	imm = 99;
	ck_assert_int_eq(insn_msr_immediate(0xd51b4220, &imm),
			 INSN_PSTATE_NONE); /* msr daif, x0 */
	ck_assert_int_eq(insn_msr_immediate(0xd500401f, &imm),
			 INSN_PSTATE_NONE); /* cfinv */
	ck_assert_uint_eq(imm, 99);
}
END_TEST

START_TEST(sysreg_and_status_registers)
{
	unsigned rt = 99;

	/* op0 3 op1 3 CRn 9 CRm 13 op2 0, CRm 12 op2 3, op0 1 op1 3 CRn 7 CRm 4 op2 1 */
	ck_assert_uint_eq(insn_sysreg(0xd53b9d00, &rt), 0xdce8); /* mrs x0, pmccntr_el0 */
	ck_assert_uint_eq(rt, 0);
	ck_assert_uint_eq(insn_sysreg(0xd51b9c61, &rt),
			  0xdce3); /* msr pmovsclr_el0, x1 */
	ck_assert_uint_eq(rt, 1);
	ck_assert_uint_eq(insn_sysreg(0xd50b7427, &rt), 0x5ba1); /* dc zva, x7 */
	ck_assert_uint_eq(rt, 7);
	ck_assert_uint_eq(insn_sysreg(0xd503201f, &rt), 0); /* nop */
	ck_assert_uint_eq(insn_sysreg(0xd50342df, &rt), 0); /* msr daifset, #2 */

	ck_assert_int_eq(insn_status_register(0x0803fc20), 3); /* stlxrb w3, w0, [x1] */
	ck_assert_int_eq(insn_status_register(0xc8250861), 5); /* stxp w5, x1, x2, [x3] */
	ck_assert_int_eq(insn_status_register(0xc85f7c20), -1); /* ldxr */
	ck_assert_int_eq(insn_status_register(0x88a07c41), -1); /* cas */
	ck_assert_int_eq(insn_status_register(0xf9400020), -1); /* ldr */
}
END_TEST

static Suite *insn_suite(void)
{
	Suite *s = suite_create("insn");
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, table_each_row_has_an_example_that_finds_it);
	tcase_add_test(tc, table_each_row_stands_in_every_group_of_its_words);
	tcase_add_test(tc, table_rows_overlap_only_where_one_is_a_case_of_the_other);
	tcase_add_test(tc, table_classes_of_a_row_agree_with_each_other);
	suite_add_tcase(s, tc);
	tc = tcase_create("words");
	tcase_add_loop_test(tc, classify_word_by_hand, 0,
			    sizeof(words) / sizeof(words[0]));
	tcase_add_test(tc, unaligned_is_by_element);
	suite_add_tcase(s, tc);
	tc = tcase_create("counts");
	tcase_add_test(tc, count_loads_and_stores);
	tcase_add_test(tc, count_branches);
	tcase_add_test(tc, count_contextidr_writes_by_the_el1_name_only);
	suite_add_tcase(s, tc);
	tc = tcase_create("fields");
	tcase_add_test(tc, branch_target_of_each_form);
	tcase_add_test(tc, msr_immediate_says_field_and_value);
	tcase_add_test(tc, sysreg_and_status_registers);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(insn_suite());

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
