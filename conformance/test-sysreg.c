/* SPDX-License-Identifier: MIT */
/*
 * sysreg.c on a table made for it, then a walk over the tables of the devices:
 * an independent list of the manual's encodings, order, names, masks.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/gic_ppi.h"
#include "emu/gtimer.h"
#include "emu/pmuv3.h"
#include "emu/sysreg.h"

/* -- a made-up device ------------------------------------------------------ */

struct toy {
	uint64_t rw, mask, ro, wo, family[4];
	unsigned last_index, last_el;
	uint64_t last_value;
};

static uint64_t toy_read(void *dev, unsigned index)
{
	return 1000 + index;
}

static void toy_write(void *dev, unsigned index, uint64_t value)
{
	struct toy *toy = dev;

	toy->last_index = index;
	toy->last_value = value;
}

static void toy_write_at(void *dev, unsigned index, uint64_t value, unsigned el)
{
	toy_write(dev, index, value);
	((struct toy *)dev)->last_el = el;
}

static int toy_present(void *dev, unsigned index)
{
	return index < 2;
}

static enum sysreg_result toy_reads_only(void *dev, unsigned index, int is_write)
{
	return is_write ? SYSREG_TRAP_EL1 : SYSREG_OK;
}

#define TOY(n) SYSREG(3, 1, 11, n, 0)
#define AT(name) .offset = offsetof(struct toy, name)

/* clang-format off */
static const struct sysreg_desc toy_rows[] = {
	{ .name = "rw_el1", .enc = TOY(0), .count = 1, .el = 1, .kind = SYSREG_RW,
	  .writable = 0xff, AT(rw) },
	{ .name = "set_el0", .enc = TOY(1), .count = 1, .kind = SYSREG_W1S,
	  .writable = 0xf0, AT(mask) },
	{ .name = "clr_el0", .enc = TOY(2), .count = 1, .kind = SYSREG_W1C,
	  .writable = 0xf0, AT(mask) },
	{ .name = "ro_el0", .enc = TOY(3), .count = 1, .kind = SYSREG_RO, AT(ro) },
	{ .name = "wo_el0", .enc = TOY(4), .count = 1, .kind = SYSREG_WO,
	  .writable = 0xff, AT(wo) },
	{ .name = "f<n>_el0", .enc = TOY(5), .count = 4, .kind = SYSREG_RW,
	  .writable = ~0ull, AT(family), .el0 = toy_reads_only },
	{ .name = "call_el0", .enc = TOY(6), .count = 3, .kind = SYSREG_RW,
	  .writable = 0xf, .read = toy_read, .write = toy_write, .present = toy_present },
	{ .name = "at_el0", .enc = TOY(7), .count = 1, .kind = SYSREG_WO,
	  .writable = 0xf, .write_at = toy_write_at },
};
/* clang-format on */

static struct toy toy;

static struct sysreg_block toy_block(void)
{
	return (struct sysreg_block){toy_rows, sizeof(toy_rows) / sizeof(toy_rows[0]),
				     &toy};
}

static enum sysreg_result toy_rd(uint32_t enc, unsigned el, uint64_t *value)
{
	const struct sysreg_block block = toy_block();

	return sysreg_read(&block, 1, enc, el, value);
}

static enum sysreg_result toy_wr(uint32_t enc, unsigned el, uint64_t value)
{
	const struct sysreg_block block = toy_block();

	return sysreg_write(&block, 1, enc, el, value);
}

static void fresh_toy(void)
{
	memset(&toy, 0, sizeof(toy));
}

START_TEST(sysreg_rw_changes_writable_bits_only)
{
	uint64_t value = 0;

	toy.rw = 0xab00;
	ck_assert_int_eq(toy_wr(TOY(0), 1, ~0ull), SYSREG_OK);
	ck_assert_uint_eq(toy.rw, 0xabff);
	ck_assert_int_eq(toy_wr(TOY(0), 1, 0x11), SYSREG_OK);
	ck_assert_int_eq(toy_rd(TOY(0), 1, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 0xab11);
}
END_TEST

START_TEST(sysreg_w1s_and_w1c_share_a_mask)
{
	uint64_t set = 0, clr = 0;

	ck_assert_int_eq(toy_wr(TOY(1), 1, 0x3f), SYSREG_OK);
	ck_assert_int_eq(toy_wr(TOY(1), 1, 0), SYSREG_OK);
	ck_assert_uint_eq(toy.mask, 0x30);
	toy.mask |= 0xf;
	ck_assert_int_eq(toy_wr(TOY(2), 1, 0x1f), SYSREG_OK);
	ck_assert_int_eq(toy_rd(TOY(1), 0, &set), SYSREG_OK);
	ck_assert_int_eq(toy_rd(TOY(2), 0, &clr), SYSREG_OK);
	ck_assert_uint_eq(set, 0x2f);
	ck_assert_uint_eq(clr, 0x2f);
}
END_TEST

START_TEST(sysreg_bad_access_is_undef_and_changes_nothing)
{
	const struct toy before = toy;
	uint64_t value = 42;

	ck_assert_int_eq(toy_wr(TOY(3), 1, 1), SYSREG_UNDEF);
	ck_assert_int_eq(toy_rd(TOY(4), 1, &value), SYSREG_UNDEF);
	ck_assert_int_eq(toy_rd(TOY(0), 0, &value), SYSREG_UNDEF);
	ck_assert_int_eq(toy_wr(TOY(0), 0, 1), SYSREG_UNDEF);
	ck_assert_int_eq(toy_rd(TOY(15), 1, &value), SYSREG_UNDEF);
	ck_assert_int_eq(toy_wr(TOY(15), 1, 1), SYSREG_UNDEF);
	ck_assert_int_eq(toy_rd(TOY(0) - 1, 1, &value), SYSREG_UNDEF);
	ck_assert_int_eq(toy_rd(TOY(5) + 4, 1, &value), SYSREG_UNDEF);
	ck_assert_uint_eq(value, 42);
	ck_assert_mem_eq(&toy, &before, sizeof(toy));
}
END_TEST

START_TEST(sysreg_wo_and_ro_work_their_way_round)
{
	uint64_t value = 0;

	toy.ro = 9;
	ck_assert_int_eq(toy_rd(TOY(3), 0, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 9);
	ck_assert_int_eq(toy_wr(TOY(4), 0, 0x1234), SYSREG_OK);
	ck_assert_uint_eq(toy.wo, 0x34);
}
END_TEST

START_TEST(sysreg_family_indexes_consecutive_fields)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(toy_wr(TOY(5) + i, 1, 100 + i), SYSREG_OK);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(toy.family[i], 100 + i);
		ck_assert_int_eq(toy_rd(TOY(5) + i, 0, &value), SYSREG_OK);
		ck_assert_uint_eq(value, 100 + i);
	}
}
END_TEST

START_TEST(sysreg_el0_check_traps_el0_only)
{
	ck_assert_int_eq(toy_wr(TOY(5), 0, 7), SYSREG_TRAP_EL1);
	ck_assert_uint_eq(toy.family[0], 0);
	ck_assert_int_eq(toy_wr(TOY(5), 1, 7), SYSREG_OK);
	ck_assert_uint_eq(toy.family[0], 7);
}
END_TEST

START_TEST(sysreg_functions_get_index_masked_value_and_level)
{
	uint64_t value = 0;

	ck_assert_int_eq(toy_rd(TOY(6) + 1, 0, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 1001);
	ck_assert_int_eq(toy_wr(TOY(6) + 1, 0, 0x1234), SYSREG_OK);
	ck_assert_uint_eq(toy.last_index, 1);
	ck_assert_uint_eq(toy.last_value, 4);
	ck_assert_int_eq(toy_rd(TOY(6) + 2, 1, &value), SYSREG_UNDEF);
	ck_assert_int_eq(toy_wr(TOY(6) + 2, 1, 1), SYSREG_UNDEF);
	ck_assert_uint_eq(toy.last_value, 4);
	ck_assert_int_eq(toy_wr(TOY(7), 1, 0xff), SYSREG_OK);
	ck_assert_uint_eq(toy.last_value, 0xf);
	ck_assert_uint_eq(toy.last_el, 1);
	ck_assert_int_eq(toy_wr(TOY(7), 0, 1), SYSREG_OK);
	ck_assert_uint_eq(toy.last_el, 0);
}
END_TEST

/* -- the devices' tables --------------------------------------------------- */

static struct pmuv3 pmu;
static struct gic_ppi gic;
static struct gtimer timer;
static uint64_t now;

enum {
	NBLOCKS = 3
};
static struct sysreg_block block[NBLOCKS];

/* The newest PMU with all the bits that it may keep: a row's writable bits are
 * those of all versions together. test-pmuv3-rows has each version's. */
static void devices(void)
{
	static const uint16_t events[] = {0x00, 0x08, 0x11};
	const struct pmuv3_config config = {
		.counters = PMUV3_MAX_COUNTERS,
		.version = PMUV3_P7,
		.keeps_res0 = true,
		.events = events,
		.nevents = 3,
	};

	ck_assert_int_eq(pmuv3_init(&pmu, &config, (struct irq_line){0}, NULL), 0);
	gic_ppi_init(&gic, (struct irq_line){0}, NULL, 0);
	gtimer_init(&timer, &now, 1000000000, 62500000);
	block[0] = pmuv3_sysregs(&pmu);
	block[1] = gic_ppi_sysregs(&gic);
	block[2] = gtimer_sysregs(&timer);
}

/* Arm ARM, D24, and IHI 0069, 12.2: op0 op1 CRn CRm op2, as MRS takes them. */
/* clang-format off */
static const struct {
	const char *name;
	unsigned op0, op1, crn, crm, op2;
} manual[] = {
	{ "pmintenset_el1",	3, 0,  9, 14, 1 },
	{ "pmintenclr_el1",	3, 0,  9, 14, 2 },
	{ "pmmir_el1",		3, 0,  9, 14, 6 },
	{ "pmcr_el0",		3, 3,  9, 12, 0 },
	{ "pmcntenset_el0",	3, 3,  9, 12, 1 },
	{ "pmcntenclr_el0",	3, 3,  9, 12, 2 },
	{ "pmovsclr_el0",	3, 3,  9, 12, 3 },
	{ "pmswinc_el0",	3, 3,  9, 12, 4 },
	{ "pmselr_el0",		3, 3,  9, 12, 5 },
	{ "pmceid0_el0",	3, 3,  9, 12, 6 },
	{ "pmceid1_el0",	3, 3,  9, 12, 7 },
	{ "pmccntr_el0",	3, 3,  9, 13, 0 },
	{ "pmxevtyper_el0",	3, 3,  9, 13, 1 },
	{ "pmxevcntr_el0",	3, 3,  9, 13, 2 },
	{ "pmuserenr_el0",	3, 3,  9, 14, 0 },
	{ "pmovsset_el0",	3, 3,  9, 14, 3 },
	{ "pmevcntr0_el0",	3, 3, 14,  8, 0 },
	{ "pmevcntr7_el0",	3, 3, 14,  8, 7 },
	{ "pmevcntr8_el0",	3, 3, 14,  9, 0 },
	{ "pmevcntr30_el0",	3, 3, 14, 11, 6 },
	{ "pmevtyper0_el0",	3, 3, 14, 12, 0 },
	{ "pmevtyper13_el0",	3, 3, 14, 13, 5 },
	{ "pmevtyper30_el0",	3, 3, 14, 15, 6 },
	{ "pmccfiltr_el0",	3, 3, 14, 15, 7 },
	{ "icc_pmr_el1",	3, 0,  4,  6, 0 },
	{ "icc_iar0_el1",	3, 0, 12,  8, 0 },
	{ "icc_eoir0_el1",	3, 0, 12,  8, 1 },
	{ "icc_hppir0_el1",	3, 0, 12,  8, 2 },
	{ "icc_bpr0_el1",	3, 0, 12,  8, 3 },
	{ "icc_ap0r0_el1",	3, 0, 12,  8, 4 },
	{ "icc_ap1r0_el1",	3, 0, 12,  9, 0 },
	{ "icc_dir_el1",	3, 0, 12, 11, 1 },
	{ "icc_rpr_el1",	3, 0, 12, 11, 3 },
	{ "icc_sgi1r_el1",	3, 0, 12, 11, 5 },
	{ "icc_asgi1r_el1",	3, 0, 12, 11, 6 },
	{ "icc_sgi0r_el1",	3, 0, 12, 11, 7 },
	{ "icc_iar1_el1",	3, 0, 12, 12, 0 },
	{ "icc_eoir1_el1",	3, 0, 12, 12, 1 },
	{ "icc_hppir1_el1",	3, 0, 12, 12, 2 },
	{ "icc_bpr1_el1",	3, 0, 12, 12, 3 },
	{ "icc_ctlr_el1",	3, 0, 12, 12, 4 },
	{ "icc_sre_el1",	3, 0, 12, 12, 5 },
	{ "icc_igrpen0_el1",	3, 0, 12, 12, 6 },
	{ "icc_igrpen1_el1",	3, 0, 12, 12, 7 },
	{ "cntkctl_el1",	3, 0, 14,  1, 0 },
	{ "cntfrq_el0",		3, 3, 14,  0, 0 },
	{ "cntpct_el0",		3, 3, 14,  0, 1 },
	{ "cntvct_el0",		3, 3, 14,  0, 2 },
	{ "cntp_tval_el0",	3, 3, 14,  2, 0 },
	{ "cntp_ctl_el0",	3, 3, 14,  2, 1 },
	{ "cntp_cval_el0",	3, 3, 14,  2, 2 },
	{ "cntv_tval_el0",	3, 3, 14,  3, 0 },
	{ "cntv_ctl_el0",	3, 3, 14,  3, 1 },
	{ "cntv_cval_el0",	3, 3, 14,  3, 2 },
};
/* clang-format on */

START_TEST(sysreg_tables_have_the_manuals_encodings)
{
	char buf[32];

	for (size_t i = 0; i < sizeof(manual) / sizeof(manual[0]); i++) {
		const uint32_t enc = SYSREG(manual[i].op0, manual[i].op1, manual[i].crn,
					    manual[i].crm, manual[i].op2);

		ck_assert_str_eq(sysreg_name(block, NBLOCKS, enc, buf, sizeof(buf)),
				 manual[i].name);
		ck_assert_int_eq(sysreg_from_name(block, NBLOCKS, manual[i].name), enc);
	}
}
END_TEST

/* Every row is in the manual's list above: a family by its first member. */
START_TEST(sysreg_tables_have_no_row_the_manual_lacks)
{
	char buf[32];

	for (unsigned b = 0; b < NBLOCKS; b++) {
		for (size_t row = 0; row < block[b].ndesc; row++) {
			int found = 0;

			sysreg_name(block, NBLOCKS, block[b].desc[row].enc, buf,
				    sizeof(buf));
			for (size_t i = 0; i < sizeof(manual) / sizeof(manual[0]); i++)
				found |= !strcmp(manual[i].name, buf);
			ck_assert_msg(found, "%s is not in the list", buf);
		}
	}
}
END_TEST

START_TEST(sysreg_tables_are_sorted_and_do_not_overlap)
{
	static uint8_t used[1 << 16];

	memset(used, 0, sizeof(used));

	for (unsigned b = 0; b < NBLOCKS; b++) {
		uint32_t next = 0;

		ck_assert_uint_gt(block[b].ndesc, 0);
		for (size_t row = 0; row < block[b].ndesc; row++) {
			const struct sysreg_desc *desc = &block[b].desc[row];

			ck_assert_uint_ge(desc->enc, next);
			ck_assert_uint_gt(desc->count, 0);
			next = desc->enc + desc->count;
			ck_assert_uint_le(next, sizeof(used));
			for (uint32_t enc = desc->enc; enc < next; enc++)
				ck_assert_uint_eq(used[enc]++, 0);
		}
	}
}
END_TEST

/* All 16 bits: also the encodings of op0 0 and 1, which are no registers. */
START_TEST(sysreg_map_finds_what_a_search_does)
{
	static struct sysreg_map map;

	ck_assert_int_eq(sysreg_map_init(&map, block, NBLOCKS), 0);
	for (uint32_t enc = 0; enc < 1 << 16; enc++) {
		const struct sysreg_hit want = sysreg_find(block, NBLOCKS, enc);
		const struct sysreg_hit have = sysreg_map_find(&map, block, enc);

		if (have.desc != want.desc || have.dev != want.dev ||
		    have.index != want.index)
			ck_abort_msg("encoding 0x%x", enc);
	}
}
END_TEST

START_TEST(sysreg_names_round_trip_without_a_device)
{
	const struct sysreg_block bare[NBLOCKS] = {
		pmuv3_sysregs(NULL),
		gic_ppi_sysregs(NULL),
		gtimer_sysregs(NULL),
	};
	char buf[32];
	unsigned n = 0;

	for (unsigned b = 0; b < NBLOCKS; b++) {
		for (size_t row = 0; row < bare[b].ndesc; row++) {
			const struct sysreg_desc *desc = &bare[b].desc[row];

			for (uint32_t enc = desc->enc; enc < desc->enc + desc->count;
			     enc++) {
				sysreg_name(bare, NBLOCKS, enc, buf, sizeof(buf));
				/* first match: so no name stands twice */
				ck_assert_int_eq(sysreg_from_name(bare, NBLOCKS, buf),
						 enc);
				n++;
			}
		}
	}
	ck_assert_uint_eq(n, 17 + 31 + 31 + 20 + 10);
	ck_assert_int_eq(sysreg_from_name(bare, NBLOCKS, "pmevcntr31_el0"), -ENOENT);
	ck_assert_int_eq(sysreg_from_name(bare, NBLOCKS, "pmevcntr<n>_el0"), -ENOENT);
	ck_assert_int_eq(sysreg_from_name(bare, NBLOCKS, "PMCR_EL0"), -ENOENT);
	ck_assert_str_eq(
		sysreg_name(bare, NBLOCKS, SYSREG(3, 3, 9, 15, 7), buf, sizeof(buf)),
		"s3_3_c9_c15_7");
}
END_TEST

START_TEST(sysreg_masks_fit_their_kind)
{
	for (unsigned b = 0; b < NBLOCKS; b++) {
		for (size_t row = 0; row < block[b].ndesc; row++) {
			const struct sysreg_desc *desc = &block[b].desc[row];
			const int reads = desc->kind != SYSREG_WO;
			const int writes = desc->kind != SYSREG_RO;

			ck_assert_msg(writes || !desc->writable, "%s", desc->name);
			ck_assert_msg(writes || (!desc->write && !desc->write_at), "%s",
				      desc->name);
			ck_assert_msg(reads || !desc->read, "%s", desc->name);
			ck_assert_msg(!desc->write || !desc->write_at, "%s", desc->name);
			ck_assert_msg(desc->el <= 1, "%s", desc->name);
			ck_assert_msg(desc->el == 0 || !desc->el0, "%s", desc->name);
			/* the name says who may: _el0 or _el1 */
			ck_assert_int_eq(desc->name[strlen(desc->name) - 1] - '0',
					 desc->el);
		}
	}
}
END_TEST

/* All ones written and read back are the writable bits, except where a write
 * acts instead of being kept. */
START_TEST(sysreg_writable_bits_read_back)
{
	char buf[32];

	for (unsigned b = 0; b < NBLOCKS; b++) {
		for (size_t row = 0; row < block[b].ndesc; row++) {
			const struct sysreg_desc *desc = &block[b].desc[row];
			uint64_t before = 0, after = 0, kept = desc->writable;

			if (desc->kind != SYSREG_RW)
				continue;
			sysreg_name(block, NBLOCKS, desc->enc, buf, sizeof(buf));
			if (!strcmp(buf, "pmcr_el0"))
				kept &= ~UINT64_C(6); /* P and C read 0 */
			if (!strcmp(buf, "pmxevcntr_el0") ||
			    !strcmp(buf, "pmxevtyper_el0"))
				continue; /* by PMSELR_EL0: test-pmuv3 */
			sysreg_write(block, NBLOCKS, desc->enc, 1, 0);
			ck_assert_int_eq(
				sysreg_read(block, NBLOCKS, desc->enc, 1, &before),
				SYSREG_OK);
			sysreg_write(block, NBLOCKS, desc->enc, 1, ~UINT64_C(0));
			ck_assert_int_eq(
				sysreg_read(block, NBLOCKS, desc->enc, 1, &after),
				SYSREG_OK);
			if (!strcmp(buf, "icc_bpr0_el1") ||
			    !strcmp(buf, "icc_bpr1_el1")) {
				/* the least that counts */
				ck_assert_uint_eq(before, buf[7] == '0' ? 2 : 3);
				ck_assert_uint_eq(after, 7);
				continue;
			}
			ck_assert_msg((before ^ after) == kept, "%s: %#llx, not %#llx",
				      buf, (unsigned long long)(before ^ after),
				      (unsigned long long)kept);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sysreg");
	TCase *access = tcase_create("access"), *tables = tcase_create("tables");

	tcase_add_checked_fixture(access, fresh_toy, NULL);
	tcase_add_test(access, sysreg_rw_changes_writable_bits_only);
	tcase_add_test(access, sysreg_w1s_and_w1c_share_a_mask);
	tcase_add_test(access, sysreg_bad_access_is_undef_and_changes_nothing);
	tcase_add_test(access, sysreg_wo_and_ro_work_their_way_round);
	tcase_add_test(access, sysreg_family_indexes_consecutive_fields);
	tcase_add_test(access, sysreg_el0_check_traps_el0_only);
	tcase_add_test(access, sysreg_functions_get_index_masked_value_and_level);
	suite_add_tcase(s, access);

	tcase_add_checked_fixture(tables, devices, NULL);
	tcase_add_test(tables, sysreg_tables_have_the_manuals_encodings);
	tcase_add_test(tables, sysreg_tables_have_no_row_the_manual_lacks);
	tcase_add_test(tables, sysreg_tables_are_sorted_and_do_not_overlap);
	tcase_add_test(tables, sysreg_map_finds_what_a_search_does);
	tcase_add_test(tables, sysreg_names_round_trip_without_a_device);
	tcase_add_test(tables, sysreg_masks_fit_their_kind);
	tcase_add_test(tables, sysreg_writable_bits_read_back);
	suite_add_tcase(s, tables);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
