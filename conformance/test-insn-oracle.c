/* SPDX-License-Identifier: MIT */
/*
 * emu/insn.c against capstone: two million random words and a thousand of each
 * row of the table. For a word that capstone decodes, classes and accesses must
 * be what its mnemonic, groups and operands say; words that it does not know
 * (newer extensions, holes) say nothing.
 *
 * Faults of capstone 4.0.2 that the test allows for:
 * - MSR and MRS are decoded with op0 0 and 1 too (hint, barrier, SYS space and
 *   holes): such words are left out.
 * - BLR is in the group BRANCH_RELATIVE.
 * - BL and BLR are in no group CALL, and ERET, HVC, SMC, BRK, HLT in no group at
 *   all; only what a group says is checked, not what it fails to say.
 * - SIMD&FP loads and stores are in no group FPARMV8 or NEON: the registers tell.
 */
#include <capstone/capstone.h>
#include <check.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/insn.h"

enum {
	RANDOM_WORDS = 2000000,
	WORDS_A_ROW = 1000
};

#define LD INSN_LOAD
#define ST INSN_STORE
#define EX INSN_EXCLUSIVE
#define AQ INSN_ORDERED
#define PR INSN_PAIR
#define AT (INSN_LOAD | INSN_STORE | INSN_ATOMIC)
#define IMM (INSN_BR_IMMED | INSN_PC_WRITE)
#define IND (INSN_BR_INDIRECT | INSN_PC_WRITE)
#define RET (INSN_BR_RETURN | INSN_PC_WRITE)
#define COND (IMM | INSN_BR_COND)

/* The first pattern that matches the mnemonic counts; none: 0. INSN_FPSIMD
 * follows from groups and registers, and what else the operands say is added by
 * operand_classes(). */
/* clang-format off */
static const struct {
	const char *mnemonic;
	uint32_t classes;
} patterns[] = {
	{"ldaxp", LD | EX | PR | AQ}, {"ldxp", LD | EX | PR},
	{"stlxp", ST | EX | PR | AQ}, {"stxp", ST | EX | PR},
	{"ldaxr*", LD | EX | AQ}, {"ldxr*", LD | EX},
	{"stlxr*", ST | EX | AQ}, {"stxr*", ST | EX},
	{"ldap*", LD | AQ}, {"ldar*", LD | AQ}, {"ldlar*", LD | AQ},
	{"stlr*", ST | AQ}, {"stllr*", ST | AQ}, {"stlur*", ST | AQ},
	{"ldadd*", AT}, {"ldclr*", AT}, {"ldeor*", AT}, {"ldset*", AT},
	{"lds[m]*", AT}, {"ldum*", AT}, {"swp*", AT},
	{"stadd*", AT}, {"stclr*", AT}, {"steor*", AT}, {"stset*", AT},
	{"stsm*", AT}, {"stum*", AT}, {"casp*", AT | PR}, {"cas*", AT},
	{"ldp", LD | PR}, {"ldpsw", LD | PR}, {"ldnp", LD | PR},
	{"stp", ST | PR}, {"stnp", ST | PR}, {"stgp", ST | PR},
	{"ld*", LD}, {"st*", ST},
	{"prf*", INSN_PREFETCH},
	{"b", IMM}, {"b.*", COND}, {"bc.*", COND}, {"bl", IMM | INSN_CALL},
	{"cbz", COND}, {"cbnz", COND}, {"tbz", COND}, {"tbnz", COND},
	{"br", IND}, {"braa*", IND}, {"brab*", IND}, {"blr*", IND | INSN_CALL},
	{"ret*", RET}, {"eret*", INSN_ERET | INSN_PC_WRITE},
	{"svc", INSN_EXCEPTION}, {"hvc", INSN_EXCEPTION}, {"smc", INSN_EXCEPTION},
	{"brk", INSN_EXCEPTION}, {"hlt", INSN_EXCEPTION}, {"udf", INSN_EXCEPTION},
	{"tcancel", INSN_EXCEPTION},
	{"dcps?", INSN_UNDEFINED}, {"drps", INSN_UNDEFINED},
	{"isb", INSN_BARRIER | INSN_ISB},
	{"dsb", INSN_BARRIER}, {"dmb", INSN_BARRIER}, {"clrex", INSN_BARRIER},
	{"sb", INSN_BARRIER}, {"dfb", INSN_BARRIER}, {"ssbb", INSN_BARRIER}, {"pssbb", INSN_BARRIER},
	{"wfi", INSN_HINT | INSN_WFI}, {"wfe", INSN_HINT | INSN_WFE},
	{"wfit", INSN_WFI}, {"wfet", INSN_WFE},
	{"nop", INSN_HINT}, {"yield", INSN_HINT}, {"sev", INSN_HINT}, {"sevl", INSN_HINT},
	{"hint", INSN_HINT}, {"esb", INSN_HINT}, {"psb", INSN_HINT}, {"tsb", INSN_HINT},
	{"csdb", INSN_HINT}, {"bti", INSN_HINT}, {"dgh", INSN_HINT}, {"xpaclri", INSN_HINT},
	{"pac*sp", INSN_HINT}, {"aut*sp", INSN_HINT}, {"pac*1716", INSN_HINT},
	{"aut*1716", INSN_HINT}, {"pacia?", INSN_HINT}, {"pacib?", INSN_HINT},
	{"autia?", INSN_HINT}, {"autib?", INSN_HINT},
	{"smstart", INSN_MSR_IMM}, {"smstop", INSN_MSR_IMM},
	{"msr", INSN_MSR}, {"mrs", INSN_MRS},
	{"ic", INSN_SYS | INSN_CACHE}, {"dc", INSN_SYS | INSN_CACHE},
	{"tlbi", INSN_SYS | INSN_TLB}, {"at", INSN_SYS},
	{"sys", INSN_SYS}, {"sysl", INSN_SYS},
	{"mul", INSN_MUL}, {"mneg", INSN_MUL}, {"madd", INSN_MUL}, {"msub", INSN_MUL},
	{"[su]mull", INSN_MUL}, {"[su]mnegl", INSN_MUL}, {"[su]maddl", INSN_MUL},
	{"[su]msubl", INSN_MUL}, {"[su]mulh", INSN_MUL},
	{"[su]div", INSN_DIV}, {"fdiv", INSN_DIV}, {"fsqrt", INSN_DIV},
};
/* clang-format on */

static csh handle;
static cs_insn *decoded;

static void setup(void)
{
	ck_assert_int_eq(cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle),
			 CS_ERR_OK);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	decoded = cs_malloc(handle);
	ck_assert_ptr_nonnull(decoded);
}

static void teardown(void)
{
	cs_free(decoded, 1);
	cs_close(&handle);
}

static bool decode(uint32_t word)
{
	const uint8_t code[4] = {(uint8_t)word, (uint8_t)(word >> 8),
				 (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
	const uint8_t *at = code;
	size_t left = sizeof(code);
	uint64_t address = 0x100000000;

	return cs_disasm_iter(handle, &at, &left, &address, decoded);
}

static bool starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool in_group(unsigned group)
{
	return cs_insn_group(handle, decoded, group);
}

/* The first letter of a register operand's name, 0 when operand @i is none. The
 * general registers with names (sp, xzr; fp and lr in capstone 5) are an x. */
static char register_letter(int i)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;

	if (i >= arm64->op_count || arm64->operands[i].type != ARM64_OP_REG)
		return 0;

	const char *name = cs_reg_name(handle, arm64->operands[i].reg);

	return name[0] == 'w' || (name[1] >= '0' && name[1] <= '9') ? name[0] : 'x';
}

static bool touches_simd(void)
{
	if (in_group(ARM64_GRP_NEON) || in_group(ARM64_GRP_FPARMV8) ||
	    in_group(ARM64_GRP_CRYPTO))
		return true;
	for (int i = 0; i < decoded->detail->arm64.op_count; i++)
		if (register_letter(i) && strchr("bhsdqv", register_letter(i)))
			return true;
	return false;
}

static uint32_t expected_classes(void)
{
	uint32_t is = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!fnmatch(patterns[i].mnemonic, decoded->mnemonic, 0)) {
			is = patterns[i].classes;
			break;
		}
	if (touches_simd())
		is = (is & ~(uint32_t)INSN_MUL) | INSN_FPSIMD; /* MUL (vector) */
	if (is == INSN_MSR && decoded->detail->arm64.operands[0].type == ARM64_OP_PSTATE)
		is = INSN_MSR_IMM;
	if (is == INSN_MSR && starts(decoded->op_str, "contextidr_el1,"))
		is |= INSN_CID_WRITE;
	if ((is & INSN_CACHE) && starts(decoded->op_str, "zva"))
		is |= INSN_STORE;
	return is;
}

/* Check's assertions cost a system call each, passed or not: only faults call it. */
static void fault(uint32_t word, uint32_t is, const char *what)
{
	ck_abort_msg("%08x %s %s: classes %08x, capstone: %s", word, decoded->mnemonic,
		     decoded->op_str, is, what);
}

static void check_groups(uint32_t word, uint32_t is)
{
	static const struct {
		unsigned group;
		uint32_t classes;
	} groups[] = {
		{ARM64_GRP_JUMP,
		 INSN_BR_IMMED | INSN_BR_INDIRECT | INSN_BR_RETURN | INSN_ERET},
		{ARM64_GRP_CALL, INSN_CALL},
		{ARM64_GRP_RET, INSN_BR_RETURN | INSN_ERET},
		{ARM64_GRP_INT, INSN_EXCEPTION | INSN_UNDEFINED},
		{ARM64_GRP_PRIVILEGE, INSN_MRS | INSN_MSR | INSN_MSR_IMM | INSN_SYS |
					      INSN_EXCEPTION | INSN_ERET |
					      INSN_UNDEFINED},
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (in_group(groups[i].group) && !(is & groups[i].classes))
			fault(word, is, cs_group_name(handle, groups[i].group));
	if (in_group(ARM64_GRP_BRANCH_RELATIVE) && !(is & INSN_BR_IMMED) &&
	    !starts(decoded->mnemonic, "blr")) /* the fault named above */
		fault(word, is, "relative");
	if ((is & (INSN_BR_IMMED | INSN_BR_INDIRECT)) && !in_group(ARM64_GRP_JUMP) &&
	    !in_group(ARM64_GRP_CALL) && !starts(decoded->mnemonic, "bc."))
		fault(word, is, "no jump");
}

/* -- accesses ------------------------------------------------------------- */

static unsigned letter_bytes(char letter)
{
	switch (letter) {
	case 'b':
		return 1;
	case 'h':
		return 2;
	case 's':
	case 'w':
		return 4;
	case 'd':
	case 'x':
		return 8;
	default:
		return 16; /* q */
	}
}

/* Structure loads name their registers "v0.16b, v1.16b", one lane "v0.b". */
static struct insn_access structure_access(uint32_t is)
{
	const char *shape = strchr(decoded->op_str, '.') + 1;
	char *letter;
	const unsigned lanes = (unsigned)strtoul(shape, &letter, 10);
	const bool replicates = decoded->mnemonic[strlen(decoded->mnemonic) - 1] == 'r';
	const unsigned element = letter_bytes(*letter);
	const bool one = replicates || lanes == 0;
	unsigned n = 0;

	for (const char *at = decoded->op_str; *at; at++)
		n += *at == '.';
	return (struct insn_access){
		.size = (uint8_t)(one ? element : lanes * element),
		.reads = (uint8_t)(is & INSN_LOAD ? n : 0),
		.writes = (uint8_t)(is & INSN_STORE ? n : 0),
		.align = (uint8_t)element,
	};
}

static struct insn_access expected_access(uint32_t is)
{
	const char *name = decoded->mnemonic;
	const char last = name[strlen(name) - 1];
	const bool status = (is & INSN_EXCLUSIVE) && (is & INSN_STORE);
	unsigned size, n = 1;

	if (!(is & (INSN_LOAD | INSN_STORE)) || !fnmatch("*g", name, 0) ||
	    !fnmatch("*gm", name, 0)) /* tags */
		return (struct insn_access){0, 0, 0, 0};
	if (is & INSN_CACHE)
		return (struct insn_access){64, 0, 1, 0};
	if (strchr("1234", name[2]))
		return structure_access(is);
	if (starts(name, "ldra"))
		size = 8; /* LDRAA, LDRAB */
	else if (starts(name, "ld64") || starts(name, "st64"))
		size = 64;
	else if (last == 'b' || last == 'h')
		size = letter_bytes(last);
	else if (last == 'w')
		size = 4; /* LDRSW, LDPSW */
	else
		size = letter_bytes(register_letter(status ? 1 : 0));
	if ((is & INSN_PAIR) && (is & (INSN_EXCLUSIVE | INSN_ATOMIC)))
		size *= 2;
	else if (is & INSN_PAIR)
		n = 2;
	return (struct insn_access){
		.size = (uint8_t)size,
		.reads = (uint8_t)(is & INSN_LOAD ? n : 0),
		.writes = (uint8_t)(is & INSN_STORE ? n : 0),
		.align = (uint8_t)size,
	};
}

/* -- words ---------------------------------------------------------------- */

static bool is_fault_of_capstone(uint32_t word)
{
	const unsigned op0 = word >> 19 & 3;

	return (decoded->id == ARM64_INS_MSR || decoded->id == ARM64_INS_MRS) &&
	       op0 < 2 && decoded->detail->arm64.operands[0].type != ARM64_OP_PSTATE;
}

/* What emu/insn.c leaves out and capstone 5 knows: FEAT_MOPS. */
static bool is_out_of_scope(void)
{
	return !fnmatch("cpy*", decoded->mnemonic, 0) ||
	       !fnmatch("set[pmeg]*", decoded->mnemonic, 0);
}

/* 1 when capstone had an opinion. */
static unsigned check_word(uint32_t word)
{
	const uint32_t is = insn_classify(word);
	uint32_t want;
	char what[100];

	if ((is & INSN_SVE) || !decode(word) || is_fault_of_capstone(word) ||
	    is_out_of_scope())
		return 0;
	want = expected_classes();
	/* capstone knows fewer operations by name: others are SYS to it */
	if (!strcmp(decoded->mnemonic, "sys"))
		want |= is & (INSN_CACHE | INSN_TLB);
	if (is != want) {
		snprintf(what, sizeof(what), "%08x", want);
		fault(word, is, what);
	}
	check_groups(word, is);

	const struct insn_access access = insn_access(word);
	const struct insn_access other = expected_access(is);

	if (memcmp(&access, &other, sizeof(access))) {
		snprintf(what, sizeof(what),
			 "size %u reads %u writes %u align %u, not %u %u %u %u",
			 other.size, other.reads, other.writes, other.align, access.size,
			 access.reads, access.writes, access.align);
		fault(word, is, what);
	}
	return 1;
}

/* splitmix64: the same words in each run */
static uint32_t next_word(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) >> 32);
}

START_TEST(oracle_random_words_have_capstones_classes)
{
	uint64_t state = 20240229;
	unsigned known = 0;

	for (unsigned i = 0; i < RANDOM_WORDS; i++)
		known += check_word(next_word(&state));
	/* 4.0.2 decodes three words in ten; far fewer would mean no oracle */
	ck_assert_msg(known > RANDOM_WORDS / 4, "capstone knew only %u words", known);
}
END_TEST

static unsigned check_row(const struct insn_row *row, uint64_t *state)
{
	unsigned known = 0;

	for (unsigned i = 0; i < WORDS_A_ROW; i++)
		known += check_word((next_word(state) & ~row->mask) | row->value);
	return known;
}

/* The row's name, as far as it is one: aliases differ between versions. */
static void check_example(const struct insn_row *row)
{
	if (!row->name[0] || (row->classes & INSN_SVE) || !decode(row->example) ||
	    is_fault_of_capstone(row->example))
		return;

	const size_t length = strcspn(row->name, " ");

	if ((row->classes & INSN_SYS) && !strcmp(decoded->mnemonic, "sys"))
		return;

	ck_assert_msg(!strncmp(row->name, decoded->mnemonic, length),
		      "%08x is %s, the table says %s", row->example, decoded->mnemonic,
		      row->name);
}

START_TEST(oracle_words_of_each_row_have_capstones_classes)
{
	uint64_t state = 42;
	unsigned rows = 0, known = 0;

	for (unsigned top = 0; top < 16; top++) {
		const struct insn_group *group = insn_group(top);
		bool again = false;

		for (unsigned k = 0; k < top; k++)
			again |= insn_group(k) == group;
		for (size_t i = 0; !again && i < group->nrows; i++) {
			check_example(&group->rows[i]);
			rows++;
			known += check_row(&group->rows[i], &state) != 0;
		}
	}
	/* the others: holes, and extensions that 4.0.2 lacks */
	ck_assert_msg(known >= rows * 2 / 3, "capstone knew words of %u of %u rows",
		      known, rows);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("insn-oracle");
	TCase *tc = tcase_create("capstone");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, oracle_random_words_have_capstones_classes);
	tcase_add_test(tc, oracle_words_of_each_row_have_capstones_classes);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
