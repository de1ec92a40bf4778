/* SPDX-License-Identifier: MIT */
/*
 * The PMU's registers, walked row by row in every version: what each holds at
 * reset, which bits a write changes, who may. What is right stands here once
 * more, written from the manual (Arm ARM, D24.5) and not from the table.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/pmuv3-bench.h"

enum {
	COUNTERS = 6
};

/* Of PMUSERENR_EL0 one bit is enough. */
enum {
	EN = 1,
	SW = 2,
	CR = 4,
	ER = 8,
	ALWAYS = 16,
	NEVER = 0
};

#define BITS(high, low) ((~UINT64_C(0) >> (63 - (high))) & ~((UINT64_C(1) << (low)) - 1))
#define ENABLES (BITS(31, 31) | BITS(5, 0))
#define FILTERS BITS(31, 30)
#define PMCR_P0 (BITS(6, 6) | BITS(4, 3) | BITS(0, 0)) /* LC X D E; P and C read 0 */
#define PMCR_LP BITS(7, 7)
#define PMCR_P7 (BITS(9, 9) | BITS(5, 5)) /* FZO DP */
#define EVENTS_P0 BITS(9, 0)
#define EVENTS_P1 BITS(15, 0)

struct expected {
	uint32_t enc;
	unsigned count;
	enum sysreg_kind kind;
	unsigned el0_read, el0_write;
	uint64_t reset;		 /* without poison */
	uint64_t mask[VERSIONS]; /* bits that a write of RW, W1S, W1C changes */
	unsigned since;		 /* index in versions[] */
	bool el1_only;
};

#define ALL(mask)                            \
	{                                    \
		mask, mask, mask, mask, mask \
	}

/* clang-format off */
static const struct expected expected[] = {
	{ PMINTENSET_EL1, 1, SYSREG_W1S, NEVER, NEVER, 0, ALL(ENABLES), 0, true },
	{ PMINTENCLR_EL1, 1, SYSREG_W1C, NEVER, NEVER, 0, ALL(ENABLES), 0, true },
	{ PMMIR_EL1, 1, SYSREG_RO, NEVER, NEVER, 0x30201, ALL(0), 2, true },
	{ PMCR_EL0, 1, SYSREG_RW, EN, EN, 0x41013000,
	  { PMCR_P0, PMCR_P0, PMCR_P0, PMCR_P0 | PMCR_LP, PMCR_P0 | PMCR_LP | PMCR_P7 }, 0, false },
	{ PMCNTENSET_EL0, 1, SYSREG_W1S, EN, EN, 0, ALL(ENABLES), 0, false },
	{ PMCNTENCLR_EL0, 1, SYSREG_W1C, EN, EN, 0, ALL(ENABLES), 0, false },
	{ PMOVSCLR_EL0, 1, SYSREG_W1C, EN, EN, 0, ALL(ENABLES), 0, false },
	{ PMOVSSET_EL0, 1, SYSREG_W1S, EN, EN, 0, ALL(ENABLES), 0, false },
	{ PMSWINC_EL0, 1, SYSREG_WO, NEVER, EN | SW, 0, ALL(0), 0, false },
	{ PMSELR_EL0, 1, SYSREG_RW, EN | ER, EN | ER, 0, ALL(BITS(4, 0)), 0, false },
	/* 0x00..0x1f but 02 05 15..1a 1c 1f; 21 23 24 */
	{ PMCEID0_EL0, 1, SYSREG_RO, EN, NEVER, 0x681fffdb, ALL(0), 0, false },
	{ PMCEID1_EL0, 1, SYSREG_RO, EN, NEVER, 0x1a, ALL(0), 0, false },
	{ PMCCNTR_EL0, 1, SYSREG_RW, EN | CR, EN, 0, ALL(BITS(63, 0)), 0, false },
	/* by PMSELR_EL0, which is 0 */
	{ PMXEVTYPER_EL0, 1, SYSREG_RW, EN, EN, 0,
	  { FILTERS | EVENTS_P0, FILTERS | EVENTS_P1, FILTERS | EVENTS_P1,
	    FILTERS | EVENTS_P1, FILTERS | EVENTS_P1 }, 0, false },
	{ PMXEVCNTR_EL0, 1, SYSREG_RW, EN | ER, EN, 0,
	  { BITS(31, 0), BITS(31, 0), BITS(31, 0), BITS(63, 0), BITS(63, 0) }, 0, false },
	{ PMUSERENR_EL0, 1, SYSREG_RW, ALWAYS, NEVER, 0, ALL(BITS(3, 0)), 0, false },
	{ PMEVCNTR(0), 31, SYSREG_RW, EN | ER, EN, 0,
	  { BITS(31, 0), BITS(31, 0), BITS(31, 0), BITS(63, 0), BITS(63, 0) }, 0, false },
	{ PMEVTYPER(0), 31, SYSREG_RW, EN, EN, 0,
	  { FILTERS | EVENTS_P0, FILTERS | EVENTS_P1, FILTERS | EVENTS_P1,
	    FILTERS | EVENTS_P1, FILTERS | EVENTS_P1 }, 0, false },
	{ PMCCFILTR_EL0, 1, SYSREG_RW, EN, EN, 0, ALL(FILTERS), 0, false },
};
/* clang-format on */

enum {
	NEXPECTED = sizeof(expected) / sizeof(expected[0])
};

static unsigned version; /* index in versions[] */

static void fresh(void)
{
	struct pmuv3_config config = full(versions[version], COUNTERS);

	config.pmmir = 0x30201;
	bench_init(&bench, &config);
}

static enum sysreg_result get(uint32_t enc, unsigned el, uint64_t *value)
{
	return sysreg_read(&bench.block, 1, enc, el, value);
}

static enum sysreg_result put(uint32_t enc, unsigned el, uint64_t value)
{
	return sysreg_write(&bench.block, 1, enc, el, value);
}

static unsigned members(const struct expected *reg)
{
	return reg->count == 1 ? 1 : COUNTERS;
}

/* -- the table and the list are the same ----------------------------------- */

START_TEST(rows_are_the_manuals_and_each_encoding_has_one)
{
	static uint8_t listed[1 << 16], in_table[1 << 16];
	const struct sysreg_block block = pmuv3_sysregs(NULL);

	memset(listed, 0, sizeof(listed));
	memset(in_table, 0, sizeof(in_table));
	for (unsigned i = 0; i < NEXPECTED; i++)
		for (unsigned n = 0; n < expected[i].count; n++)
			ck_assert_uint_eq(listed[expected[i].enc + n]++, 0);
	for (size_t row = 0; row < block.ndesc; row++)
		for (unsigned n = 0; n < block.desc[row].count; n++)
			ck_assert_uint_eq(in_table[block.desc[row].enc + n]++, 0);
	ck_assert_mem_eq(listed, in_table, sizeof(listed));
}
END_TEST

START_TEST(rows_exist_in_their_versions_only)
{
	version = (unsigned)_i;
	for (unsigned i = 0; i < NEXPECTED; i++) {
		const struct expected *reg = &expected[i];
		const int reads = reg->kind != SYSREG_WO, writes = reg->kind != SYSREG_RO;

		for (unsigned n = 0; n < reg->count; n++) {
			const int there = version >= reg->since &&
					  (reg->count == 1 || n < COUNTERS);
			uint64_t value = 42;

			fresh();
			const struct pmuv3 before = bench.pmu;

			ck_assert_int_eq(get(reg->enc + n, 1, &value),
					 there && reads ? SYSREG_OK : SYSREG_UNDEF);
			ck_assert(value == 42 || (there && reads));
			ck_assert_mem_eq(&bench.pmu, &before, sizeof(before));
			ck_assert_int_eq(put(reg->enc + n, 1, UINT64_MAX),
					 there && writes ? SYSREG_OK : SYSREG_UNDEF);
			ck_assert((there && writes) ||
				  !memcmp(&bench.pmu, &before, sizeof(before)));
		}
	}
}
END_TEST

START_TEST(rows_reset_to_what_the_manual_says)
{
	version = (unsigned)_i;
	fresh();
	for (unsigned i = 0; i < NEXPECTED; i++) {
		const struct expected *reg = &expected[i];
		uint64_t value;

		if (reg->kind == SYSREG_WO || version < reg->since)
			continue;
		for (unsigned n = 0; n < members(reg); n++) {
			ck_assert_int_eq(get(reg->enc + n, 1, &value), SYSREG_OK);
			ck_assert_msg(value == reg->reset,
				      "register %u: %#llx, not %#llx", i,
				      (unsigned long long)value,
				      (unsigned long long)reg->reset);
		}
	}
}
END_TEST

/* -- bits ------------------------------------------------------------------ */

/* Each bit alone: it is what was written, or nothing changes. */
START_TEST(rows_rw_keep_their_bits_and_no_other)
{
	version = (unsigned)_i;
	for (unsigned i = 0; i < NEXPECTED; i++) {
		const struct expected *reg = &expected[i];
		const uint64_t mask = reg->mask[version];

		if (reg->kind != SYSREG_RW)
			continue;
		for (unsigned n = 0; n < members(reg); n++) {
			const uint32_t enc = reg->enc + n;

			fresh();
			for (unsigned bit = 0; bit < 64; bit++) {
				const uint64_t one = UINT64_C(1) << bit;

				wr(enc, one);
				ck_assert_msg(rd(enc) == (reg->reset | (one & mask)),
					      "register %u bit %u", i, bit);
				if (reg->enc == PMSELR_EL0)
					continue;
				wr(enc, ~one);
				ck_assert_msg(rd(enc) == (reg->reset | (mask & ~one)),
					      "register %u without bit %u", i, bit);
			}
			wr(enc, 0);
			ck_assert_uint_eq(rd(enc), reg->reset);
		}
	}
}
END_TEST

/* The other one of a SET and CLR pair. */
static uint32_t partner(uint32_t enc)
{
	static const uint32_t pairs[][2] = {
		{PMINTENSET_EL1, PMINTENCLR_EL1},
		{PMCNTENSET_EL0, PMCNTENCLR_EL0},
		{PMOVSSET_EL0, PMOVSCLR_EL0},
	};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned side = 0; side < 2; side++)
			if (pairs[i][side] == enc)
				return pairs[i][!side];
	ck_abort_msg("no pair");
	return 0;
}

START_TEST(rows_w1s_and_w1c_act_bit_by_bit)
{
	version = (unsigned)_i;
	for (unsigned i = 0; i < NEXPECTED; i++) {
		const struct expected *reg = &expected[i];
		const uint64_t mask = reg->mask[version];
		const int sets = reg->kind == SYSREG_W1S;

		if (!sets && reg->kind != SYSREG_W1C)
			continue;
		for (unsigned bit = 0; bit < 64; bit++) {
			const uint64_t one = UINT64_C(1) << bit, some = mask & 0x5;
			const uint32_t set = sets ? reg->enc : partner(reg->enc);

			fresh();
			wr(set, sets ? some : UINT64_MAX);
			ck_assert_uint_eq(rd(reg->enc), sets ? some : mask);
			wr(reg->enc, 0);
			ck_assert_uint_eq(rd(reg->enc), sets ? some : mask);
			wr(reg->enc, one);
			ck_assert_uint_eq(rd(reg->enc),
					  sets ? some | (one & mask) : mask & ~one);
			ck_assert_uint_eq(rd(partner(reg->enc)), rd(reg->enc));
		}
	}
}
END_TEST

/* PMSWINC acts on its counter's bit; bits 63:31 on nothing. */
START_TEST(rows_pmswinc_has_the_counters_bits)
{
	version = (unsigned)_i;
	for (unsigned bit = 0; bit < 64; bit++) {
		fresh();
		wr(PMCNTENSET_EL0, UINT64_MAX); /* all count SW_INCR at reset */
		wr(PMCR_EL0, E);
		wr(PMSWINC_EL0, UINT64_C(1) << bit);
		for (unsigned n = 0; n < COUNTERS; n++)
			ck_assert_uint_eq(rd(PMEVCNTR(n)), n == bit);
		ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
	}
}
END_TEST

/* PMXEVTYPER and PMXEVCNTR at every SEL. */
START_TEST(rows_pmxev_are_the_selected_counters)
{
	version = (unsigned)_i;
	for (unsigned sel = 0; sel < 32; sel++) {
		const int counter = sel < COUNTERS;

		fresh();
		wr(PMSELR_EL0, sel);
		wr(PMXEVTYPER_EL0, UINT64_MAX);
		wr(PMXEVCNTR_EL0, UINT64_MAX);
		for (unsigned n = 0; n < COUNTERS; n++) {
			ck_assert_uint_eq(rd(PMEVTYPER(n)),
					  n == sel ? rd(PMXEVTYPER_EL0) : 0);
			ck_assert_uint_eq(rd(PMEVCNTR(n)),
					  n == sel ? rd(PMXEVCNTR_EL0) : 0);
		}
		ck_assert_uint_eq(rd(PMCCFILTR_EL0), sel == 31 ? FILTERS : 0);
		ck_assert_uint_eq(rd(PMCCNTR_EL0), 0);
		ck_assert_int_eq(rd(PMXEVTYPER_EL0) != 0, counter || sel == 31);
		ck_assert_int_eq(rd(PMXEVCNTR_EL0) != 0, counter);
	}
}
END_TEST

/* -- EL0 ------------------------------------------------------------------- */

static enum sysreg_result right(const struct expected *reg, unsigned need, unsigned user)
{
	if (version < reg->since || need == NEVER)
		return SYSREG_UNDEF;
	return (user | ALWAYS) & need ? SYSREG_OK : SYSREG_TRAP_EL1;
}

START_TEST(rows_el0_rights_are_pmuserenrs)
{
	const unsigned user = (unsigned)_i % 16;

	version = (unsigned)_i / 16;
	for (unsigned i = 0; i < NEXPECTED; i++) {
		const struct expected *reg = &expected[i];

		for (unsigned n = 0; n < members(reg); n++) {
			uint64_t value = 42, at_el1 = 42;
			int got;

			fresh();
			wr(PMUSERENR_EL0, user);
			const struct pmuv3 before = bench.pmu;

			got = get(reg->enc + n, 0, &value);
			ck_assert_int_eq(got, right(reg, reg->el0_read, user));
			if (got == SYSREG_OK)
				get(reg->enc + n, 1, &at_el1);
			ck_assert_uint_eq(value, at_el1);
			got = put(reg->enc + n, 0, UINT64_MAX);
			ck_assert_int_eq(got, right(reg, reg->el0_write, user));
			ck_assert(got == SYSREG_OK ||
				  !memcmp(&bench.pmu, &before, sizeof(before)));
			if (reg->el1_only)
				ck_assert_int_eq(got, SYSREG_UNDEF);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmuv3-rows");
	TCase *rows = tcase_create("rows");

	tcase_add_test(rows, rows_are_the_manuals_and_each_encoding_has_one);
	tcase_add_loop_test(rows, rows_exist_in_their_versions_only, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_reset_to_what_the_manual_says, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_rw_keep_their_bits_and_no_other, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_w1s_and_w1c_act_bit_by_bit, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_pmswinc_has_the_counters_bits, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_pmxev_are_the_selected_counters, 0, VERSIONS);
	tcase_add_loop_test(rows, rows_el0_rights_are_pmuserenrs, 0, 16 * VERSIONS);
	suite_add_tcase(s, rows);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
