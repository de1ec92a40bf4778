/* SPDX-License-Identifier: MIT */
/* What the differ says about each kind of difference, word for word. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/diff.h"

static struct tt_trace *parse(const char *text)
{
	char err[256] = "";
	struct tt_trace *trace = tt_parse("t", text, strlen(text), err, sizeof(err));

	ck_assert_msg(trace != NULL, "refused: %s", err);
	return trace;
}

/* The differ's lines; *rc gets its result. */
static char *lines_of(const struct tt_trace *golden, const struct tt_trace *run,
		      const struct diff_options *options, int *rc,
		      struct diff_counts *counts)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	*rc = diff_trace(golden, run, options, out, counts);
	fclose(out);
	return text;
}

static void expect(const char *golden_text, const char *run_text,
		   const struct diff_options *options, const char *lines)
{
	struct tt_trace *golden = parse(golden_text), *run = parse(run_text);
	char *text;
	int rc;

	text = lines_of(golden, run, options, &rc, NULL);
	ck_assert_str_eq(text, lines);
	ck_assert_int_eq(rc, *lines ? 1 : 0);
	free(text);
	tt_free(golden);
	tt_free(run);
}

#define T "pmulab-trace v1\nscenario: s\n---\n"
#define G(f, r) "pmulab-golden v1\nscenario: s\nfields: " f "\nraw: " r "\n---\n"

/* ---- headers ---- */

START_TEST(diff_golden_without_counts_differs)
{
	expect("pmulab-golden v1\nscenario: s\n---\nstep 1 a -> 0\nend\n",
	       T "step 1 a -> 0\nend\n", NULL,
	       "s: header fields: golden says nothing, the comparison finds compared=1 "
	       "wildcarded=0 bounded=0\n"
	       "s: header raw: golden says nothing, the comparison finds compared=0 "
	       "masked=0\n");
}
END_TEST

START_TEST(diff_wildcard_more_than_the_header_says_differs)
{
	expect(G("compared=2 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 1 a -> 1\n  v x=*\nend\n",
	       T "step 1 a -> 1\n  v x=5\nend\n", NULL,
	       "s: header fields: golden says compared=2 wildcarded=0 bounded=0, the "
	       "comparison finds compared=1 wildcarded=1 bounded=0\n");
}
END_TEST

/* A bound that still holds the run, moved by hand. */
START_TEST(diff_body_that_its_seal_does_not_fit_differs)
{
	static const char run[] = T "step 1 a -> 1\n  v x=5\nend\n";
	struct tt_trace *golden = parse(G("compared=1 wildcarded=0 bounded=1",
					  "compared=0 masked=0") "step 1 a -> 1\n"
					  "  v x=4..6\nend\n");
	struct tt_trace *parsed = parse(run);
	char seal[32], text[256];

	diff_body_header(golden, seal, sizeof(seal));
	tt_free(golden);
	snprintf(text, sizeof(text), "%s%s%s", "pmulab-golden v1\nscenario: s\nfields: "
		 "compared=1 wildcarded=0 bounded=1\nraw: compared=0 masked=0\nbody: ",
		 seal, "\n---\nstep 1 a -> 1\n  v x=4..6\nend\n");
	expect(text, run, NULL, "");
	*strstr(text, "4..6") = '3';
	golden = parse(text);
	ck_assert_int_eq(diff_trace(golden, parsed, NULL, NULL, NULL), 1);
	tt_free(golden);
	tt_free(parsed);
}
END_TEST

START_TEST(diff_predicted_is_compared_when_both_have_it)
{
	static const char golden[] =
		"pmulab-golden v1\nscenario: s\npredicted: c=4000015\n"
		"fields: compared=1 wildcarded=0 bounded=0\n"
		"raw: compared=0 masked=0\n---\nstep 1 a -> 0\nend\n";

	expect(golden, T "step 1 a -> 0\nend\n", NULL, "");
	expect(golden,
	       "pmulab-trace v1\nscenario: s\npredicted: c=4000015\n---\n"
	       "step 1 a -> 0\nend\n",
	       NULL, "");
	expect(golden,
	       "pmulab-trace v1\nscenario: s\npredicted: c=4000016\n---\n"
	       "step 1 a -> 0\nend\n",
	       NULL, "s: header predicted: golden c=4000015, run c=4000016\n");
}
END_TEST

START_TEST(diff_other_scenario_differs)
{
	expect(G("compared=0 wildcarded=0 bounded=0", "compared=0 masked=0") "end\n",
	       "pmulab-trace v1\nscenario: t\n---\nend\n", NULL,
	       "s: scenario: golden s, run t\n");
}
END_TEST

/* ---- the words of each difference ---- */

START_TEST(diff_steps_missing_extra_and_differing)
{
	expect(G("compared=3 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 1 open c -> fd\nstep 3 read c -> 8\nstep 4 "
					"close c -> 0\nend\n",
	       T "step 1 open c -> EINVAL\nstep 2 poll c -> 0\nstep 4 close k -> 0\n"
		 "step 5 yield -> 0\nend\n",
	       NULL,
	       "s: step 1 \"open c\": result: golden fd (line 6), run EINVAL\n"
	       "s: step 2 \"poll c\": extra: golden has no such step, run -> 0\n"
	       "s: step 3 \"read c\": missing: golden -> 8 (line 7), run has no such "
	       "step\n"
	       "s: step 4 \"close c\": words: golden \"close c\" (line 8), run \"close "
	       "k\"\n"
	       "s: step 5 \"yield\": extra: golden has no such step, run -> 0\n");
}
END_TEST

START_TEST(diff_field_differs_both_ways)
{
	expect(G("compared=4 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 6 records c -> 1\n  sample ip=spin+0x24 "
					"cpu=0 period=10\nend\n",
	       T "step 6 records c -> 1\n  sample ip=spin+0x28 tid=t period=10\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 1 sample: ip: golden spin+0x24 (line 7), "
	       "run spin+0x28\n"
	       "s: step 6 \"records c\": record 1 sample: cpu: golden 0 (line 7), run "
	       "has "
	       "no such field\n"
	       "s: step 6 \"records c\": record 1 sample: tid: golden has no such field "
	       "(line 7), run t\n");
}
END_TEST

START_TEST(diff_fields_in_another_order_differ)
{
	expect(G("compared=3 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 6 records c -> 1\n  sample a=1 b=2\nend\n",
	       T "step 6 records c -> 1\n  sample b=2 a=1\nend\n", NULL,
	       "s: step 6 \"records c\": record 1 sample: field 1: golden a (line 7), "
	       "run "
	       "b: another order\n");
}
END_TEST

START_TEST(diff_kind_differs)
{
	expect(G("compared=2 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 6 records c -> 1\n  sample a=1\nend\n",
	       T "step 6 records c -> 1\n  lost a=1\nend\n", NULL,
	       "s: step 6 \"records c\": record 1 lost: kind: golden sample (line 7), "
	       "run "
	       "lost\n");
}
END_TEST

START_TEST(diff_one_lost_record_is_one_line)
{
	expect(G("compared=6 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 6 records c -> 4\n  sample n=1\n  sample "
					"n=2\n  sample n=3\n"
					"  sample n=4\n  lost\n  sample n=5\nend\n",
	       T "step 6 records c -> 4\n  sample n=1\n  sample n=3\n  sample n=4\n"
		 "  lost\n  sample n=5\n  note\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 2 sample: missing: golden has n=2 (line "
	       "8), run has no such record\n"
	       "s: step 6 \"records c\": record 6 note: extra: golden has no such "
	       "record, "
	       "run has it\n");
}
END_TEST

START_TEST(diff_replaced_record_among_missing_ones)
{
	expect(G("compared=5 wildcarded=0 bounded=0",
		 "compared=0 masked=0") "step 6 records c -> 4\n  sample n=1\n  sample "
					"n=2\n  sample n=3\n"
					"  sample n=4\nend\n",
	       T "step 6 records c -> 4\n  sample n=9\n  sample n=3\n  sample n=5\n"
		 "  sample n=4\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 1 sample: n: golden 1 (line 7), run 9\n"
	       "s: step 6 \"records c\": record 2 sample: missing: golden has n=2 (line "
	       "8), run has no such record\n"
	       "s: step 6 \"records c\": record 3 sample: extra: golden has no such "
	       "record, run has n=5\n");
}
END_TEST

START_TEST(diff_raw_bytes_name_offset_and_line)
{
	expect(G("compared=2 wildcarded=0 bounded=0",
		 "compared=39 masked=1") "step 6 records c -> 1\n  sample a=1\n"
					 "  | 00010203 04050607 08090a0b 0c0d0e0f "
					 "10111213 14151617 18191a1b "
					 "1c1d1e1f\n"
					 "  | 20212223 ..252627\nend\n",
	       T "step 6 records c -> 1\n  sample a=1\n"
		 "  | 00010203 04ff0607 08090a0b 0c0d0e0f 10111213 14151617 18191a1b "
		 "1c1d1eee\n"
		 "  | 2fee2223 77..2627\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 1 sample: raw byte 5: golden 05 (line "
	       "8), "
	       "run ff\n"
	       "s: step 6 \"records c\": record 1 sample: raw byte 31: golden 1f (line "
	       "8), run ee\n"
	       "s: step 6 \"records c\": record 1 sample: raw bytes 32 to 33: golden "
	       "2021 "
	       "(line 9), run 2fee\n"
	       "s: step 6 \"records c\": record 1 sample: raw byte 37: golden 25 (line "
	       "9), run ..\n");
	expect(G("compared=2 wildcarded=0 bounded=0",
		 "compared=4 masked=0") "step 6 records c -> 1\n  sample a=1\n  | "
					"00010203\nend\n",
	       T "step 6 records c -> 1\n  sample a=1\nend\n", NULL,
	       "s: step 6 \"records c\": record 1 sample: raw: golden 4 bytes (line 7), "
	       "run 0 bytes\n");
	expect(G("compared=2 wildcarded=0 bounded=0",
		 "compared=4 masked=0") "step 6 records c -> 1\n  sample a=1\n  | "
					"09000000\nend\n",
	       T "step 6 records c -> 1\n  sample a=1\n  | 0900..00\nend\n", NULL,
	       "s: step 6 \"records c\": record 1 sample: raw byte 2: golden 00 (line "
	       "8), "
	       "run ..\n");
}
END_TEST

/* ---- classes ---- */

START_TEST(diff_ordered_looks_at_the_previous_record_that_has_it)
{
#define ORDERED_GOLDEN                                                            \
	G("compared=5 wildcarded=1 bounded=0", "compared=0 masked=0")             \
	"step 6 records c -> 3\n  sample t=>prev\n  lost n=1\n  sample t=>prev\n" \
	"  sample t=>=prev id=c\nend\n"
	expect(ORDERED_GOLDEN,
	       T "step 6 records c -> 3\n  sample t=7\n  lost n=1\n  sample t=8\n"
		 "  sample t=8 id=c\nend\n",
	       NULL, "");
	expect(ORDERED_GOLDEN,
	       T "step 6 records c -> 3\n  sample t=7\n  lost n=1\n  sample t=7\n"
		 "  sample t=6 id=c\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 3 sample: t: golden >prev (line 9), run "
	       "7 "
	       "(after 7)\n"
	       "s: step 6 \"records c\": record 4 sample: t: golden >=prev (line 10), "
	       "run "
	       "6 (after 7)\n");
	expect(ORDERED_GOLDEN,
	       T "step 6 records c -> 3\n  sample t=x\n  lost n=1\n  sample t=8\n"
		 "  sample t=9 id=c\nend\n",
	       NULL,
	       "s: step 6 \"records c\": record 1 sample: t: golden >prev (line 7), run "
	       "x\n"
	       "s: step 6 \"records c\": record 3 sample: t: golden >prev (line 9), run "
	       "8 "
	       "(after x)\n");
}
END_TEST

START_TEST(diff_bounds_are_inclusive)
{
	static const char *const runs[] = {"19", "20", "40", "41", "0x14", "EINVAL"};
	static const bool holds[] = {false, true, true, false, true, false};
	char run[128], lines[128];

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		snprintf(run, sizeof(run), T "step 1 a -> 1\n  v x=%s\nend\n", runs[i]);
		snprintf(lines, sizeof(lines),
			 "s: step 1 \"a\": record 1 v: x: golden 20..40 (line 7), run "
			 "%s\n",
			 runs[i]);
		expect(G("compared=1 wildcarded=0 bounded=1",
			 "compared=0 masked=0") "step 1 a -> 1\n  v x=20..40\nend\n",
		       run, NULL, holds[i] ? "" : lines);
	}
}
END_TEST

START_TEST(diff_at_most_looks_at_the_runs_own_field)
{
#define AT_MOST_GOLDEN                                                \
	G("compared=1 wildcarded=1 bounded=1", "compared=0 masked=0") \
	"step 1 a -> 1\n  v e=* r=<=e\nend\n"
	expect(AT_MOST_GOLDEN, T "step 1 a -> 1\n  v e=9 r=9\nend\n", NULL, "");
	expect(AT_MOST_GOLDEN, T "step 1 a -> 1\n  v e=9 r=10\nend\n", NULL,
	       "s: step 1 \"a\": record 1 v: r: golden <=e (line 7), run 10 (e 9)\n");
	expect(AT_MOST_GOLDEN, T "step 1 a -> 1\n  v e=y r=1\nend\n", NULL,
	       "s: step 1 \"a\": record 1 v: r: golden <=e (line 7), run 1 (e y)\n");
}
END_TEST

START_TEST(diff_plain_trace_is_compared_as_text)
{
	static const struct diff_options engines = {.golden_name = "step",
						    .run_name = "block"};

	expect(T "step 1 a -> 1\n  v x=20\nend\n", T "step 1 a -> 1\n  v x=21\nend\n",
	       &engines, "s: step 1 \"a\": record 1 v: x: step 20 (line 5), block 21\n");
}
END_TEST

/* What the decoder's classes would allow is no excuse between two engines. */
START_TEST(diff_plain_trace_has_no_classes)
{
	static const char *const tokens[] = {"5", "6"};
	struct tt_trace *t[2];
	char *text;
	int rc;

	for (int i = 0; i < 2; i++) {
		struct tt_step *step;

		t[i] = tt_new("s");
		step = tt_step_add(t[i], 1, "a");
		tt_result_set(step, TT_ANY, "%s", tokens[i]);
		tt_field_add(tt_record_add(step, "v"), "x", TT_ANY, "%s", tokens[i]);
	}
	text = lines_of(t[0], t[1], NULL, &rc, NULL);
	ck_assert_int_eq(rc, 1);
	ck_assert_str_eq(text, "s: step 1 \"a\": result: golden 5, run 6\n"
			       "s: step 1 \"a\": record 1 v: x: golden 5, run 6\n");
	free(text);
	tt_free(t[0]);
	tt_free(t[1]);
}
END_TEST

/* ---- templates ---- */

#define EACH                                                          \
	G("compared=1 wildcarded=0 bounded=2", "compared=0 masked=0") \
	"step 6 records k -> 2..3\n  each sample ip=5..9 misc=kernel\nend\n"

START_TEST(diff_template_checks_every_record_and_how_many)
{
	expect(EACH,
	       T "step 6 records k -> 2\n  sample ip=5 misc=kernel\n"
		 "  sample ip=9 misc=kernel\nend\n",
	       NULL, "");
	expect(EACH,
	       T "step 6 records k -> 2\n  sample ip=5 misc=kernel\n"
		 "  sample ip=10 misc=user\n  lost n=1\nend\n",
	       NULL,
	       "s: step 6 \"records k\": record 2 sample: ip: golden 5..9 (line 7), run "
	       "10\n"
	       "s: step 6 \"records k\": record 2 sample: misc: golden kernel (line 7), "
	       "run user\n"
	       "s: step 6 \"records k\": record 3 lost: extra: golden has no such "
	       "record, "
	       "run has n=1\n");
	expect(EACH, T "step 6 records k -> 1\n  sample ip=5 misc=kernel\nend\n", NULL,
	       "s: step 6 \"records k\": result: golden 2..3 (line 6), run 1\n"
	       "s: step 6 \"records k\": records: golden 2..3 (line 6), run 1\n");
	/* results that lie about their records */
	expect(EACH,
	       T "step 6 records k -> 2\n  sample ip=5 misc=kernel\n"
		 "  sample ip=9 misc=kernel\n  sample ip=9 misc=kernel\n"
		 "  sample ip=9 misc=kernel\nend\n",
	       NULL, "s: step 6 \"records k\": records: golden 2..3 (line 6), run 4\n");
	expect(EACH, T "step 6 records k -> 3\nend\n", NULL,
	       "s: step 6 \"records k\": records: golden 2..3 (line 6), run 0\n"
	       "s: step 6 \"records k\": each sample: golden has it (line 7), run has no "
	       "such record\n");
}
END_TEST

START_TEST(diff_bounded_result_without_template_takes_no_records)
{
	expect(G("compared=0 wildcarded=0 bounded=1",
		 "compared=0 masked=0") "step 6 poll k -> 0..3\nend\n",
	       T "step 6 poll k -> 1\n  poll in=1\nend\n", NULL,
	       "s: step 6 \"poll k\": record 1 poll: extra: golden has no such record, "
	       "run has in=1\n");
	expect(G("compared=0 wildcarded=0 bounded=1",
		 "compared=0 masked=0") "step 6 poll k -> 1..3\nend\n",
	       T "step 6 poll k -> 1\nend\n", NULL, "");
}
END_TEST

START_TEST(diff_template_of_the_same_shape_comes_first)
{
	expect(G("compared=3 wildcarded=0 bounded=1",
		 "compared=0 masked=0") "step 6 records k -> 1..3\n  each sample a=1\n  "
					"each sample a=2 b=3\nend\n",
	       T "step 6 records k -> 2\n  sample a=2 b=3\n  sample a=1\nend\n", NULL,
	       "");
}
END_TEST

/* ---- the schema's classes ---- */

START_TEST(diff_class_that_is_not_the_schemas_differs)
{
	static const struct diff_options schema = {.schema = true};
	struct tt_trace *golden =
		parse(G("compared=1 wildcarded=1 bounded=0",
			"compared=0 masked=0") "step 1 a -> 1\n  v x=*\nend\n");
	struct tt_trace *run = tt_new("s");
	struct tt_step *step = tt_step_add(run, 1, "a");
	struct tt_field *field;
	char *text;
	int rc;

	tt_result_set(step, TT_EXACT, "1");
	field = tt_field_add(tt_record_add(step, "v"), "x", TT_EXACT, "5");
	text = lines_of(golden, run, &schema, &rc, NULL);
	ck_assert_int_eq(rc, 1);
	ck_assert_str_eq(text,
			 "s: step 1 \"a\": record 1 v: x: golden * (line 7) is any, "
			 "the schema says exact\n");
	free(text);
	field->class = TT_ANY;
	text = lines_of(golden, run, &schema, &rc, NULL);
	ck_assert_int_eq(rc, 0);
	free(text);
	tt_free(golden);
	tt_free(run);
}
END_TEST

/* ---- many differences ---- */

static struct tt_trace *many(unsigned n, unsigned add)
{
	struct tt_trace *t = tt_new("s");

	for (unsigned s = 1; s <= 2; s++) {
		struct tt_step *step = tt_step_add(t, s, "records c");

		tt_result_set(step, TT_EXACT, "%u", n);
		for (unsigned i = 0; i < n; i++)
			tt_field_add(tt_record_add(step, "sample"), "n", TT_EXACT, "%u",
				     2 * i + add);
	}
	return t;
}

START_TEST(diff_limit_tells_how_many_more)
{
	static const struct diff_options two = {.lines_per_step = 2};
	struct tt_trace *a = many(13, 0), *b = many(13, 1);
	struct diff_counts counts;
	char *text;
	int rc;

	text = lines_of(a, b, &two, &rc, &counts);
	ck_assert_int_eq(rc, 1);
	ck_assert_uint_eq(counts.differing, 26);
	ck_assert_str_eq(text,
			 "s: step 1 \"records c\": record 1 sample: n: golden 0, run "
			 "1\n"
			 "s: step 1 \"records c\": record 2 sample: n: golden 2, run "
			 "3\n"
			 "s: step 1 \"records c\": ... and 11 more\n"
			 "s: step 2 \"records c\": record 1 sample: n: golden 0, run "
			 "1\n"
			 "s: step 2 \"records c\": record 2 sample: n: golden 2, run "
			 "3\n"
			 "s: step 2 \"records c\": ... and 11 more\n");
	free(text);
	text = lines_of(a, b, NULL, &rc, NULL);
	ck_assert_ptr_nonnull(strstr(text, "record 10 sample"));
	ck_assert_ptr_null(strstr(text, "record 11 sample"));
	ck_assert_ptr_nonnull(strstr(text, "... and 3 more\n"));
	free(text);
	ck_assert_int_eq(diff_trace(a, b, NULL, NULL, &counts), 1);
	ck_assert_uint_eq(counts.differing, 26);
	tt_free(a);
	tt_free(b);
}
END_TEST

/* Too many pairs to align: by index, and still nothing is hidden. */
START_TEST(diff_long_steps_are_compared_by_index)
{
	struct tt_trace *a = many(600, 0), *b = many(600, 1), *c = many(599, 1);
	struct tt_trace *shifted = many(600, 2);
	struct diff_counts counts;

	ck_assert_int_eq(diff_trace(a, b, NULL, NULL, &counts), 1);
	ck_assert_uint_eq(counts.differing, 1200);
	/* the results differ too, and one record a step is missing */
	ck_assert_int_eq(diff_trace(a, c, NULL, NULL, &counts), 1);
	ck_assert_uint_eq(counts.differing, 2 * (1 + 599 + 1));
	ck_assert_int_eq(diff_trace(a, a, NULL, NULL, &counts), 0);
	/* shifted by one: an alignment would find 599 of them again */
	ck_assert_int_eq(diff_trace(a, shifted, NULL, NULL, &counts), 1);
	ck_assert_uint_eq(counts.differing, 1200);
	tt_free(shifted);
	tt_free(a);
	tt_free(b);
	tt_free(c);
}
END_TEST

/* Alignment may explain a difference, never explain it away: two random lists
 * of records differ exactly when they are not equal, and no less than their
 * lengths do. */
START_TEST(diff_random_records_differ_exactly_when_unequal)
{
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		struct tt_trace *t[2] = {tt_new("s"), tt_new("s")};
		struct diff_counts counts;
		unsigned n[2], values[2][6];
		bool equal;

		for (int i = 0; i < 2; i++) {
			struct tt_step *step = tt_step_add(t[i], 1, "a");

			tt_result_set(step, TT_EXACT, "0");
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			n[i] = (unsigned)(seed >> 60) % 7;
			for (unsigned j = 0; j < n[i]; j++) {
				values[i][j] = (unsigned)(seed >> (33 + j)) & 1;
				tt_field_add(tt_record_add(step, "v"), "x", TT_EXACT,
					     "%u", values[i][j]);
			}
		}
		equal = n[0] == n[1] &&
			!memcmp(values[0], values[1], n[0] * sizeof(unsigned));
		ck_assert_int_eq(diff_trace(t[0], t[1], NULL, NULL, &counts), !equal);
		ck_assert_uint_ge(counts.differing,
				  n[0] > n[1] ? n[0] - n[1] : n[1] - n[0]);
		ck_assert_uint_le(counts.differing, n[0] + n[1]);
		tt_free(t[0]);
		tt_free(t[1]);
	}
}
END_TEST

static TCase *words_case(void)
{
	TCase *tc = tcase_create("words");

	tcase_add_test(tc, diff_golden_without_counts_differs);
	tcase_add_test(tc, diff_wildcard_more_than_the_header_says_differs);
	tcase_add_test(tc, diff_predicted_is_compared_when_both_have_it);
	tcase_add_test(tc, diff_other_scenario_differs);
	tcase_add_test(tc, diff_steps_missing_extra_and_differing);
	tcase_add_test(tc, diff_field_differs_both_ways);
	tcase_add_test(tc, diff_fields_in_another_order_differ);
	tcase_add_test(tc, diff_kind_differs);
	tcase_add_test(tc, diff_one_lost_record_is_one_line);
	tcase_add_test(tc, diff_replaced_record_among_missing_ones);
	tcase_add_test(tc, diff_raw_bytes_name_offset_and_line);
	tcase_add_test(tc, diff_ordered_looks_at_the_previous_record_that_has_it);
	tcase_add_test(tc, diff_bounds_are_inclusive);
	tcase_add_test(tc, diff_at_most_looks_at_the_runs_own_field);
	tcase_add_test(tc, diff_plain_trace_is_compared_as_text);
	tcase_add_test(tc, diff_plain_trace_has_no_classes);
	tcase_add_test(tc, diff_template_checks_every_record_and_how_many);
	tcase_add_test(tc, diff_bounded_result_without_template_takes_no_records);
	tcase_add_test(tc, diff_template_of_the_same_shape_comes_first);
	tcase_add_test(tc, diff_class_that_is_not_the_schemas_differs);
	tcase_add_test(tc, diff_body_that_its_seal_does_not_fit_differs);
	tcase_add_test(tc, diff_limit_tells_how_many_more);
	tcase_add_test(tc, diff_long_steps_are_compared_by_index);
	tcase_add_test(tc, diff_random_records_differ_exactly_when_unequal);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("diff");
	SRunner *sr;
	int failed;

	suite_add_tcase(s, words_case());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
