/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/diff.h"
#include "conformance/merge.h"

#define BOOTS 3

static char *text_of(const struct tt_trace *trace)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(tt_write(trace, out), 0);
	fclose(out);
	return text;
}

static void free_all(struct tt_trace *boots[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		tt_free(boots[i]);
}

/* The boots make this golden, and each of them passes it, in memory and read
 * back from its text. */
static void expect_golden(struct tt_trace *boots[], size_t n, const char *want)
{
	static const struct diff_options schema = {.schema = true};
	char err[512] = "", *text;
	struct tt_trace *golden = merge_boots(boots, n, err, sizeof(err)), *read;

	ck_assert_msg(golden != NULL, "refused: %s", err);
	text = text_of(golden);
	ck_assert_str_eq(text, want);
	read = tt_parse("t", text, strlen(text), err, sizeof(err));
	ck_assert_msg(read != NULL, "refused: %s", err);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(diff_trace(golden, boots[i], &schema, stderr, NULL), 0);
		ck_assert_int_eq(diff_trace(read, boots[i], &schema, stderr, NULL), 0);
	}
	free(text);
	tt_free(read);
	tt_free(golden);
	free_all(boots, n);
}

static void expect_refusal(struct tt_trace *boots[], size_t n, const char *want)
{
	char err[512] = "";
	struct tt_trace *golden = merge_boots(boots, n, err, sizeof(err));

	ck_assert_str_eq(err, want);
	ck_assert_ptr_null(golden);
	free_all(boots, n);
}

/* A boot with one step, `step 6 "records c"`, that holds no record yet. */
static struct tt_trace *boot(enum tt_class class, const char *result)
{
	struct tt_trace *t = tt_new("s");

	tt_result_set(tt_step_add(t, 6, "records c"), class, "%s", result);
	return t;
}

static struct tt_record *add_record(struct tt_trace *t, const char *kind)
{
	return tt_record_add(&t->steps[t->nsteps - 1], kind);
}

/* Three boots of one record with one field of these tokens. */
static void three(struct tt_trace *boots[], enum tt_class class, uint64_t lo, uint64_t hi,
		  const char *const tokens[])
{
	for (size_t i = 0; i < BOOTS; i++) {
		struct tt_field *field;

		boots[i] = boot(TT_EXACT, "1");
		field = tt_field_add(add_record(boots[i], "sample"), "v", class, "%s",
				     tokens[i]);
		field->lo = lo;
		field->hi = hi;
	}
}

#define HEAD(f, r) \
	"pmulab-golden v1\nscenario: s\nboots: 3\nfields: " f "\nraw: " r "\n---\n"

/* ---- classes ---- */

START_TEST(merge_exact_equal_is_written_as_it_is)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"spin+0x24", "spin+0x24", "spin+0x24"});
	expect_golden(b, BOOTS,
		      HEAD("compared=2 wildcarded=0 bounded=0",
			   "compared=0 masked=0") "step 6 records c -> 1\n  sample "
						  "v=spin+0x24\nend\n");
}
END_TEST

START_TEST(merge_exact_that_moved_is_refused)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"spin+0x24", "spin+0x24", "spin+0x28"});
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field v is exact by "
		       "schema but moved between boots: spin+0x24, spin+0x28");
}
END_TEST

START_TEST(merge_exact_result_that_moved_is_refused)
{
	struct tt_trace *b[] = {boot(TT_EXACT, "0"), boot(TT_EXACT, "EINVAL"),
				boot(TT_EXACT, "0")};

	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": field result is exact by schema "
		"but moved between boots: 0, EINVAL");
}
END_TEST

START_TEST(merge_any_is_a_wildcard)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_ANY, 0, 0, (const char *[]){"1", "x", "1"});
	expect_golden(
		b, BOOTS,
		HEAD("compared=1 wildcarded=1 bounded=0",
		     "compared=0 masked=0") "step 6 records c -> 1\n  sample v=*\nend\n");
}
END_TEST

/* Bounds of a golden by what was declared and what three boots saw. */
static const struct {
	uint64_t lo, hi;
	const char *seen[BOOTS];
	const char *token;
} widened[] = {
	/* observed / 8 .. observed * 8 */
	{0, UINT64_MAX, {"8000", "9000", "10000"}, "1000..80000"},
	/* never beyond the declared bounds, either side */
	{5000, 20000, {"8000", "9000", "10000"}, "5000..20000"},
	{5000, UINT64_MAX, {"8000", "9000", "10000"}, "5000..80000"},
	{0, 20000, {"8000", "9000", "10000"}, "1000..20000"},
	/* the edges themselves are inside */
	{8000, 10000, {"8000", "9000", "10000"}, "8000..10000"},
	/* zero cannot be widened by a factor: 8 counts are allowed */
	{0, 1000, {"0", "0", "0"}, "0..8"},
	{0, 1000, {"0", "3", "0"}, "0..24"},
	{0, 0, {"0", "0", "0"}, "0..0"},
	/* no overflow at the top */
	{0, UINT64_MAX, {"2305843009213693951", "9", "9"}, "1..18446744073709551608"},
	{0, UINT64_MAX, {"2305843009213693952", "9", "9"}, "1..18446744073709551615"},
	/* addresses: hex stays hex, and the declared range comes out whole */
	{0xffff000000000000,
	 UINT64_MAX,
	 {"0xffff800008012345", "0xffff800008012349", "0xffff800009000000"},
	 "0xffff000000000000..0xffffffffffffffff"},
};

START_TEST(merge_bounded_widens_what_was_seen)
{
	struct tt_trace *b[BOOTS];
	char want[256];

	three(b, TT_BOUNDED, widened[_i].lo, widened[_i].hi, widened[_i].seen);
	snprintf(
		want, sizeof(want),
		HEAD("compared=1 wildcarded=0 bounded=1",
		     "compared=0 masked=0") "step 6 records c -> 1\n  sample v=%s\nend\n",
		widened[_i].token);
	expect_golden(b, BOOTS, want);
}
END_TEST

START_TEST(merge_bounded_outside_of_the_declared_is_refused)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_BOUNDED, 10, 20, (const char *[]){"10", "20", "21"});
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 1: field v: 21 is outside "
		"of the declared 10..20");
	three(b, TT_BOUNDED, 10, 20, (const char *[]){"9", "20", "20"});
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 1: field v: 9 is outside "
		"of the declared 10..20");
	three(b, TT_BOUNDED, 10, 20, (const char *[]){"10", "spin+0x4", "20"});
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field v: spin+0x4 is "
		       "no number");
}
END_TEST

/* Three boots of two records with a time each. */
static void times(struct tt_trace *boots[], const char *const tokens[BOOTS][2])
{
	for (size_t i = 0; i < BOOTS; i++) {
		boots[i] = boot(TT_EXACT, "3");
		tt_field_add(add_record(boots[i], "sample"), "time", TT_ORDERED, "%s",
			     tokens[i][0]);
		tt_field_add(add_record(boots[i], "lost"), "lost", TT_EXACT, "3");
		tt_field_add(add_record(boots[i], "sample"), "time", TT_ORDERED, "%s",
			     tokens[i][1]);
	}
}

START_TEST(merge_ordered_is_greater_than_the_previous)
{
	struct tt_trace *b[BOOTS];

	/* rising inside each boot; between boots anything goes */
	times(b,
	      (const char *const[BOOTS][2]){{"50", "60"}, {"9", "10"}, {"700", "701"}});
	expect_golden(b, BOOTS,
		      HEAD("compared=3 wildcarded=1 bounded=0",
			   "compared=0 masked=0") "step 6 records c -> 3\n  sample "
						  "time=>prev\n  lost lost=3\n"
						  "  sample time=>prev\nend\n");
}
END_TEST

START_TEST(merge_ordered_equal_once_widens)
{
	struct tt_trace *b[BOOTS];

	times(b, (const char *const[BOOTS][2]){{"50", "60"}, {"9", "9"}, {"700", "701"}});
	expect_golden(b, BOOTS,
		      HEAD("compared=3 wildcarded=1 bounded=0",
			   "compared=0 masked=0") "step 6 records c -> 3\n  sample "
						  "time=>prev\n  lost lost=3\n"
						  "  sample time=>=prev\nend\n");
}
END_TEST

START_TEST(merge_ordered_that_falls_is_refused)
{
	struct tt_trace *b[BOOTS];

	times(b,
	      (const char *const[BOOTS][2]){{"50", "60"}, {"9", "10"}, {"700", "699"}});
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 3: field time is ordered "
		"by schema but fell: 699 after 700");
	times(b, (const char *const[BOOTS][2]){{"50", "60"}, {"9", "10"}, {"x", "1"}});
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field time: x is no "
		       "number");
}
END_TEST

/* Three boots of enabled and running. */
static void running(struct tt_trace *boots[], const char *bound, const char *last)
{
	const char *const run[] = {"90", "100", last};

	for (size_t i = 0; i < BOOTS; i++) {
		struct tt_record *record;

		boots[i] = boot(TT_EXACT, "24");
		record = add_record(boots[i], "values");
		tt_field_add(record, "enabled", TT_ANY, "100");
		tt_field_add(record, "running", TT_AT_MOST, "%s", run[i])->bound =
			strdup(bound);
	}
}

START_TEST(merge_at_most_names_the_other_field)
{
	struct tt_trace *b[BOOTS];

	running(b, "enabled", "0");
	expect_golden(b, BOOTS,
		      HEAD("compared=1 wildcarded=1 bounded=1",
			   "compared=0 masked=0") "step 6 records c -> 24\n  values "
						  "enabled=* running=<=enabled\n"
						  "end\n");
}
END_TEST

START_TEST(merge_at_most_that_is_more_is_refused)
{
	struct tt_trace *b[BOOTS];

	running(b, "enabled", "101");
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field running is at "
		       "most enabled by schema but 101 is above 100");
	running(b, "enabling", "0");
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field running: its "
		       "record has no field enabling to be at most");
}
END_TEST

START_TEST(merge_two_classes_of_one_field_are_refused)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[2]->steps[0].records[0].fields[0].class = TT_ANY;
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: field v has two "
		       "classes in its schema");
}
END_TEST

START_TEST(merge_result_with_a_records_class_is_refused)
{
	struct tt_trace *b[BOOTS];

	for (size_t i = 0; i < BOOTS; i++)
		b[i] = boot(TT_ORDERED, "1");
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": a result is neither ordered nor "
		"at most another field");
}
END_TEST

/* ---- raw bytes ---- */

static void raw(struct tt_trace *boots[], const char *const bytes[BOOTS],
		const char *const masks[BOOTS])
{
	for (size_t i = 0; i < BOOTS; i++) {
		uint8_t mask[8];
		size_t n = strlen(bytes[i]);

		for (size_t j = 0; j < n; j++)
			mask[j] = masks[i][j] == '#' ? 0xff : 0;
		boots[i] = boot(TT_EXACT, "1");
		tt_raw_set(add_record(boots[i], "sample"), (const uint8_t *)bytes[i],
			   mask, n);
	}
}

START_TEST(merge_raw_is_compared_where_every_mask_compares)
{
	struct tt_trace *b[BOOTS];

	raw(b, (const char *[]){"ABCD", "AXCD", "ABYD"},
	    (const char *[]){"####", "#.##", "##.#"});
	/* X and Y are not compared, so they hide neither B nor C: those go */
	expect_golden(b, BOOTS,
		      HEAD("compared=1 wildcarded=0 bounded=0",
			   "compared=2 masked=2") "step 6 records c -> 1\n  sample\n  | "
						  "41....44\nend\n");
}
END_TEST

START_TEST(merge_raw_byte_that_moved_is_refused)
{
	struct tt_trace *b[BOOTS];

	raw(b, (const char *[]){"ABCD", "ABCD", "ABED"},
	    (const char *[]){"####", "####", "####"});
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 1: raw byte 2 is compared "
		"but moved: 43, 45");
	raw(b, (const char *[]){"ABCD", "ABCD", "ABCDE"},
	    (const char *[]){"####", "####", "#####"});
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: 4 raw bytes in one "
		       "boot, 5 in another");
}
END_TEST

/* ---- structure ---- */

START_TEST(merge_other_structure_is_refused)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_result_set(tt_step_add(b[1], 7, "close c"), TT_EXACT, "0");
	expect_refusal(b, BOOTS, "scenario s: 1 steps in boot 1, 2 in boot 2");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[2]->steps[0].number = 5;
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": boot 3 has step 5 \"records c\" "
		"there");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[2]->steps[0].words[8] = 'k';
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": boot 3 has step 6 \"records k\" "
		"there");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_record_add(&b[1]->steps[0], "lost");
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": 1 records in boot 1, 2 in boot "
		       "2");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	memcpy(b[2]->steps[0].records[0].kind, "sampla", 6);
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records c\": record 1: sample in one boot, "
		       "sampla in another");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[1]->steps[0].records[0].fields[0].name[0] = 'w';
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 1: field v in one boot, w "
		"in another");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_field_add(b[1]->steps[0].records, "w", TT_EXACT, "1");
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records c\": record 1: 1 fields in one boot, "
		"2 in another");
}
END_TEST

START_TEST(merge_needs_three_boots_of_one_scenario)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_free(b[2]);
	expect_refusal(b, 2, "scenario s: 2 boots, a golden takes at least 3");
	expect_refusal(b, 0, "scenario (none): 0 boots, a golden takes at least 3");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[1]->scenario[0] = 't';
	expect_refusal(b, BOOTS, "scenario s: boot 2 ran scenario t");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	b[1]->golden = true;
	expect_refusal(b, BOOTS, "scenario s: boot 2 is a golden, not a trace");
}
END_TEST

/* ---- headers ---- */

START_TEST(merge_headers_keep_what_all_boots_have)
{
	struct tt_trace *b[BOOTS];
	static const char *const command[] = {"a", "b", "c"};

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	for (size_t i = 0; i < BOOTS; i++) {
		tt_header_set(b[i], "kernel", "6.1.192");
		tt_header_set(b[i], "append", command[i]);
	}
	tt_header_set(b[0], "note", "only here");
	expect_golden(b, BOOTS,
		      "pmulab-golden v1\nscenario: s\nkernel: 6.1.192\nboots: 3\n"
		      "fields: compared=2 wildcarded=0 bounded=0\n"
		      "raw: compared=0 masked=0\n---\n"
		      "step 6 records c -> 1\n  sample v=1\nend\n");
}
END_TEST

START_TEST(merge_boots_of_two_kernels_are_refused)
{
	struct tt_trace *b[BOOTS];

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_header_set(b[0], "kernel", "6.1.192");
	tt_header_set(b[1], "kernel", "6.1.192");
	tt_header_set(b[2], "kernel", "6.12.117");
	expect_refusal(b, BOOTS, "scenario s: the boots are not of one kernel");

	three(b, TT_EXACT, 0, 0, (const char *[]){"1", "1", "1"});
	tt_header_set(b[1], "kernel", "6.1.192");
	expect_refusal(b, BOOTS, "scenario s: the boots are not of one kernel");
}
END_TEST

/* ---- templates ---- */

/* A boot of @n kernel samples from ip 0xff00 + @first on, time rising. */
static struct tt_trace *kernel_boot(unsigned n, unsigned first)
{
	struct tt_trace *t = tt_new("s");
	struct tt_step *step = tt_step_add(t, 6, "records k");

	tt_result_set(step, TT_BOUNDED, "%u", n);
	step->result.lo = 0;
	step->result.hi = 1000;
	for (unsigned i = 0; i < n; i++) {
		struct tt_record *record = tt_record_add(step, "sample");
		struct tt_field *ip;
		uint8_t bytes[4] = {9, 0, (uint8_t)i, 0}, mask[4] = {0xff, 0xff, 0, 0xff};

		tt_field_add(record, "misc", TT_EXACT, "kernel");
		ip = tt_field_add(record, "ip", TT_BOUNDED, "0x%x", 0xff00 + first + i);
		ip->lo = 0xff00;
		ip->hi = 0xffff;
		tt_field_add(record, "time", TT_ORDERED, "%u", 100 + first + i);
		tt_raw_set(record, bytes, mask, 4);
	}
	return t;
}

START_TEST(merge_bounded_result_makes_one_template)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(30, 9),
				kernel_boot(40, 5)};

	expect_golden(b, BOOTS,
		      HEAD("compared=2 wildcarded=0 bounded=2",
			   "compared=3 masked=1") "step 6 records k -> 3..320\n"
						  "  each sample misc=kernel "
						  "ip=0xff00..0xffff time=>prev\n"
						  "  | 0900..00\nend\n");
}
END_TEST

static void add_lost(struct tt_trace *t, unsigned lost)
{
	struct tt_step *step = &t->steps[0];
	struct tt_field *field;

	field = tt_field_add(tt_record_add(step, "lost"), "lost", TT_BOUNDED, "%u", lost);
	field->lo = 1;
	field->hi = 100;
	free(step->result.token);
	step->result.token = strdup("25");
}

START_TEST(merge_template_for_each_shape)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};

	for (size_t i = 0; i < BOOTS; i++)
		add_lost(b[i], 5);
	expect_golden(b, BOOTS,
		      HEAD("compared=2 wildcarded=0 bounded=3",
			   "compared=3 masked=1") "step 6 records k -> 3..200\n"
						  "  each sample misc=kernel "
						  "ip=0xff00..0xffff time=>prev\n"
						  "  | 0900..00\n  each lost "
						  "lost=1..40\nend\n");
}
END_TEST

START_TEST(merge_template_shape_that_a_boot_lacks_is_refused)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};

	add_lost(b[1], 5);
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records k\": each lost: boot 1 has no such "
		       "record of this size and fields");
}
END_TEST

START_TEST(merge_template_exact_that_moves_is_refused)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};
	struct tt_field *misc = &b[1]->steps[0].records[7].fields[0];

	free(misc->token);
	misc->token = strdup("user");
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records k\": each sample: field misc is exact "
		"by schema but moved between records: kernel, user");
}
END_TEST

START_TEST(merge_template_raw_that_moves_is_refused)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};

	b[0]->steps[0].records[7].raw[3] = 1;
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records k\": each sample: raw byte 3 is "
		       "compared but moved: 00, 01");
}
END_TEST

START_TEST(merge_template_time_that_falls_is_refused)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};
	struct tt_field *time = &b[2]->steps[0].records[20].fields[2];

	free(time->token);
	time->token = strdup("7");
	expect_refusal(b, BOOTS,
		       "scenario s: step 6 \"records k\": each sample: field time is "
		       "ordered by schema but fell: 7 after 124");
}
END_TEST

START_TEST(merge_template_result_that_is_not_its_records_is_refused)
{
	struct tt_trace *b[] = {kernel_boot(24, 0), kernel_boot(24, 9),
				kernel_boot(24, 5)};

	b[1]->steps[0].result.token[1] = '5';
	expect_refusal(
		b, BOOTS,
		"scenario s: step 6 \"records k\": result 25 but 24 records in boot "
		"2");
}
END_TEST

START_TEST(merge_bounded_result_without_records_has_no_template)
{
	struct tt_trace *b[] = {kernel_boot(0, 0), kernel_boot(0, 0), kernel_boot(0, 0)};

	expect_golden(b, BOOTS,
		      HEAD("compared=0 wildcarded=0 bounded=1",
			   "compared=0 masked=0") "step 6 records k -> 0..8\nend\n");
}
END_TEST

static TCase *golden_case(void)
{
	TCase *tc = tcase_create("golden");

	tcase_add_test(tc, merge_exact_equal_is_written_as_it_is);
	tcase_add_test(tc, merge_exact_that_moved_is_refused);
	tcase_add_test(tc, merge_exact_result_that_moved_is_refused);
	tcase_add_test(tc, merge_any_is_a_wildcard);
	tcase_add_loop_test(tc, merge_bounded_widens_what_was_seen, 0,
			    (int)(sizeof(widened) / sizeof(*widened)));
	tcase_add_test(tc, merge_bounded_outside_of_the_declared_is_refused);
	tcase_add_test(tc, merge_ordered_is_greater_than_the_previous);
	tcase_add_test(tc, merge_ordered_equal_once_widens);
	tcase_add_test(tc, merge_ordered_that_falls_is_refused);
	tcase_add_test(tc, merge_at_most_names_the_other_field);
	tcase_add_test(tc, merge_at_most_that_is_more_is_refused);
	tcase_add_test(tc, merge_two_classes_of_one_field_are_refused);
	tcase_add_test(tc, merge_result_with_a_records_class_is_refused);
	tcase_add_test(tc, merge_raw_is_compared_where_every_mask_compares);
	tcase_add_test(tc, merge_raw_byte_that_moved_is_refused);
	tcase_add_test(tc, merge_other_structure_is_refused);
	tcase_add_test(tc, merge_needs_three_boots_of_one_scenario);
	tcase_add_test(tc, merge_headers_keep_what_all_boots_have);
	tcase_add_test(tc, merge_boots_of_two_kernels_are_refused);
	tcase_add_test(tc, merge_bounded_result_makes_one_template);
	tcase_add_test(tc, merge_template_for_each_shape);
	tcase_add_test(tc, merge_template_shape_that_a_boot_lacks_is_refused);
	tcase_add_test(tc, merge_template_exact_that_moves_is_refused);
	tcase_add_test(tc, merge_template_raw_that_moves_is_refused);
	tcase_add_test(tc, merge_template_time_that_falls_is_refused);
	tcase_add_test(tc, merge_template_result_that_is_not_its_records_is_refused);
	tcase_add_test(tc, merge_bounded_result_without_records_has_no_template);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("merge");
	SRunner *sr;
	int failed;

	suite_add_tcase(s, golden_case());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
