/* SPDX-License-Identifier: MIT */
/*
 * The differ is what every golden rests on, so this file changes goldens one
 * character at a time and asks that each change is seen.
 */
#include <check.h>
#include <ctype.h>
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

/* ---- the corpus: goldens, each with a run that it accepts ---- */

/* A token whose change may still hold the run, because it is a class: a bound
 * that moves but keeps what the run has, between min and max, or a relation that
 * gets looser. No other character of a golden's body may change unseen. */
struct loose {
	const char *token;
	unsigned long long min, max;
	const char *looser; /* the one other token that holds as well */
};

static const struct golden_case {
	const char *golden, *run;
	struct loose loose[6];
} corpus[] = {
	/* all exact: counts, errnos, ips, raw bytes */
	{.golden = "pmulab-golden v1\nscenario: cycles-ip-100000\nkernel: 6.1.192\n"
		   "fields: compared=19 wildcarded=0 bounded=0\n"
		   "raw: compared=48 masked=0\n---\n"
		   "step 1 open c -> fd\n"
		   "step 3 ioctl c enable -> 0\n"
		   "step 5 read c -> 8\n"
		   "  values value=1000029\n"
		   "step 6 records c -> 3\n"
		   "  sample misc=user size=16 ip=spin+0x24\n"
		   "  | 09000000 02001000 24044200 00000000\n"
		   "  sample misc=user size=16 ip=spin+0x28\n"
		   "  | 09000000 02001000 28044200 00000000\n"
		   "  sample misc=user size=16 ip=spin+0x24\n"
		   "  | 09000000 02001000 24044200 00000000\n"
		   "step 7 records k -> 0\n"
		   "step 8 close c -> 0\n"
		   "step 12 read c size=4 -> ENOSPC\n"
		   "step 13 page c -> 1\n"
		   "  page index=0\n"
		   "end\n",
	 .run = "pmulab-trace v1\nscenario: cycles-ip-100000\n---\n"
		"step 1 open c -> fd\n"
		"step 3 ioctl c enable -> 0\n"
		"step 5 read c -> 8\n"
		"  values value=1000029\n"
		"step 6 records c -> 3\n"
		"  sample misc=user size=16 ip=spin+0x24\n"
		"  | 09000000 02001000 24044200 00000000\n"
		"  sample misc=user size=16 ip=spin+0x28\n"
		"  | 09000000 02001000 28044200 00000000\n"
		"  sample misc=user size=16 ip=spin+0x24\n"
		"  | 09000000 02001000 24044200 00000000\n"
		"step 7 records k -> 0\n"
		"step 8 close c -> 0\n"
		"step 12 read c size=4 -> ENOSPC\n"
		"step 13 page c -> 1\n"
		"  page index=0\n"
		"end\n"},
	/* ordered times, masked raw bytes over two lines, a lost record, limits */
	{.golden = "pmulab-golden v1\nscenario: nine\n"
		   "fields: compared=10 wildcarded=2 bounded=2\n"
		   "raw: compared=68 masked=20\n---\n"
		   "step 2 read c -> 24\n"
		   "  values value=400015 enabled=100..90000 running=<=enabled\n"
		   "step 4 records c -> 3\n"
		   "  sample ip=load+0x8 time=>prev period=10\n"
		   "  | 09000000 02002000 08044200 00000000 ........ ........ "
		   "a0860100 00000000\n"
		   "  | 0102....\n"
		   "  lost id=c lost=12 time=>prev\n"
		   "  | 02000000 00001800 0c000000 ........ ....0000\n"
		   "  sample ip=load+0xc time=>=prev extra=*\n"
		   "  | 09000000 02002000 0c044200 00000000 ..000000 ......00 "
		   "a0860100 00000000\n"
		   "end\n",
	 .run = "pmulab-trace v1\nscenario: nine\n---\n"
		"step 2 read c -> 24\n"
		"  values value=400015 enabled=5000 running=4990\n"
		"step 4 records c -> 3\n"
		"  sample ip=load+0x8 time=700 period=10\n"
		"  | 09000000 02002000 08044200 00000000 bc020000 00000000 "
		"a0860100 00000000\n"
		"  | 0102....\n"
		"  lost id=c lost=12 time=900\n"
		"  | 02000000 00001800 0c000000 84030000 00000000\n"
		"  sample ip=load+0xc time=900 extra=7\n"
		"  | 09000000 02002000 0c044200 00000000 84000000 00000000 "
		"a0860100 00000000\n"
		"end\n",
	 .loose = {{.token = "100..90000", .min = 5000, .max = 5000},
		   /* the first record has no earlier time to be greater than */
		   {.token = "time=>prev period", .looser = "time=>=prev period"},
		   {.token = "time=>prev\n", .looser = "time=>=prev\n"}}},
	/* templates and an unknown result */
	{.golden = "pmulab-golden v1\nscenario: kernel\n"
		   "fields: compared=4 wildcarded=2 bounded=3\n"
		   "raw: compared=16 masked=8\n---\n"
		   "step 3 run spin 100 -> *\n"
		   "step 6 records k -> 2..40\n"
		   "  each sample misc=kernel time=>prev ip=0xff00..0xffff\n"
		   "  | 09000000 01001000 ........ ........\n"
		   "  each lost lost=1..900 id=k\n"
		   "  | 02000000 00001000\n"
		   "step 7 page k -> 1\n"
		   "  note v=*\n"
		   "end\n",
	 .run = "pmulab-trace v1\nscenario: kernel\n---\n"
		"step 3 run spin 100 -> 77\n"
		"step 6 records k -> 4\n"
		"  sample misc=kernel time=5 ip=0xff10\n"
		"  | 09000000 01001000 10ff0000 00000000\n"
		"  sample misc=kernel time=6 ip=0xff80\n"
		"  | 09000000 01001000 80ff0000 00000000\n"
		"  lost lost=30 id=k\n"
		"  | 02000000 00001000\n"
		"  sample misc=kernel time=9 ip=0xfff0\n"
		"  | 09000000 01001000 f0ff0000 00000000\n"
		"step 7 page k -> 1\n"
		"  note v=0\n"
		"end\n",
	 .loose = {{.token = "2..40", .min = 4, .max = 4},
		   {.token = "time=>prev", .looser = "time=>=prev"},
		   {.token = "0xff00..0xffff", .min = 0xff10, .max = 0xfff0},
		   {.token = "1..900", .min = 30, .max = 30}}},
};

#define CASES ((int)(sizeof(corpus) / sizeof(*corpus)))

START_TEST(diff_corpus_accepts_its_runs)
{
	struct diff_counts counts;
	struct tt_trace *golden = parse(corpus[_i].golden), *run = parse(corpus[_i].run);
	char fields[64], raw[64], *text;
	int rc;

	text = lines_of(golden, run, NULL, &rc, &counts);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(counts.differing, 0);
	diff_fields_header(&counts, fields, sizeof(fields));
	diff_raw_header(&counts, raw, sizeof(raw));
	ck_assert_str_eq(fields, tt_header_get(golden, "fields"));
	ck_assert_str_eq(raw, tt_header_get(golden, "raw"));
	free(text);
	tt_free(golden);
	tt_free(run);
}
END_TEST

/* ---- every character of every body ---- */

/* What a change did: the reader refused it, the differ told it, or nobody did. */
enum fate {
	REFUSED,
	TOLD,
	SURVIVED
};

static enum fate fate_of(const char *golden_text, const struct tt_trace *run, char *said,
			 size_t size)
{
	struct tt_trace *golden =
		tt_parse("t", golden_text, strlen(golden_text), said, size);
	char *text;
	int rc;

	if (!golden)
		return REFUSED;
	text = lines_of(golden, run, NULL, &rc, NULL);
	ck_assert_int_eq(rc, *text ? 1 : 0);
	snprintf(said, size, "%s", text);
	free(text);
	tt_free(golden);
	return rc ? TOLD : SURVIVED;
}

/* May the text that stands where @loose stood hold the run? Reckoned here, with
 * nothing of the differ. */
static bool may_hold(const struct loose *loose, const char *now, size_t n)
{
	char token[64], end;
	long long lo, hi;

	ck_assert_uint_lt(n, sizeof(token));
	memcpy(token, now, n);
	token[n] = '\0';
	if (loose->looser)
		return !strcmp(token, loose->looser);
	return sscanf(token, "%lli..%lli%c", &lo, &hi, &end) == 2 && lo >= 0 &&
	       (unsigned long long)lo <= loose->min &&
	       (unsigned long long)hi >= loose->max;
}

/* @text is @c->golden with @cut bytes at @at replaced by @put others. */
static void judge(const struct golden_case *c, const char *text, size_t at, size_t cut,
		  size_t put, const struct tt_trace *run)
{
	char said[4096];

	if (fate_of(text, run, said, sizeof(said)) != SURVIVED)
		return;
	for (const struct loose *l = c->loose; l->token; l++) {
		size_t from = (size_t)(strstr(c->golden, l->token) - c->golden);
		size_t n = strlen(l->token);

		if (at >= from && at + cut <= from + n &&
		    may_hold(l, text + from, n - cut + put))
			return;
	}
	ck_abort_msg("nobody saw the change at byte %zu:\n%s", at, text);
}

static const char put_chars[] = "0123456789abcdefxkz=.>*<|+-_ \n";

static size_t body_of(const char *golden)
{
	return (size_t)(strstr(golden, "\n---\n") - golden) + 5;
}

START_TEST(diff_every_changed_character_is_seen)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	size_t n = strlen(c->golden), seen = 0;
	char text[2048];

	ck_assert_uint_lt(n + 2, sizeof(text));
	for (size_t at = body_of(c->golden); at < n; at++) {
		for (const char *put = put_chars; *put; put++) {
			memcpy(text, c->golden, n + 1);
			if (text[at] == *put)
				continue;
			text[at] = *put;
			judge(c, text, at, 1, 1, run);
			seen++;
		}
	}
	ck_assert_uint_gt(seen, 25 * (n - body_of(c->golden)));
	tt_free(run);
}
END_TEST

START_TEST(diff_every_missing_character_is_seen)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	size_t n = strlen(c->golden);
	char text[2048];

	for (size_t at = body_of(c->golden); at < n; at++) {
		memcpy(text, c->golden, at);
		memcpy(text + at, c->golden + at + 1, n - at);
		judge(c, text, at, 1, 0, run);
	}
	tt_free(run);
}
END_TEST

START_TEST(diff_every_added_character_is_seen)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	size_t n = strlen(c->golden);
	char text[2048];

	for (size_t at = body_of(c->golden); at <= n; at++) {
		for (const char *put = put_chars; *put; put++) {
			memcpy(text, c->golden, at);
			text[at] = *put;
			memcpy(text + at + 1, c->golden + at, n - at + 1);
			judge(c, text, at, 0, 1, run);
		}
	}
	tt_free(run);
}
END_TEST

/* Whole lines too: gone, doubled, or two neighbours exchanged. */
START_TEST(diff_every_moved_line_is_seen)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	const char *line = c->golden + body_of(c->golden), *next, *after;
	char text[4096], said[4096];

	for (; *line; line = next) {
		size_t before = (size_t)(line - c->golden);
		int n;

		next = strchr(line, '\n') + 1;
		n = (int)(next - line);
		snprintf(text, sizeof(text), "%.*s%s", (int)before, c->golden, next);
		ck_assert_int_ne(fate_of(text, run, said, sizeof(said)), SURVIVED);
		snprintf(text, sizeof(text), "%.*s%.*s%s", (int)before, c->golden, n,
			 line, line);
		ck_assert_int_ne(fate_of(text, run, said, sizeof(said)), SURVIVED);
		if (!*next)
			continue;
		after = strchr(next, '\n') + 1;
		if (after - next == n && !strncmp(line, next, (size_t)n))
			continue;
		snprintf(text, sizeof(text), "%.*s%.*s%.*s%s", (int)before, c->golden,
			 (int)(after - next), next, n, line, after);
		if (fate_of(text, run, said, sizeof(said)) != SURVIVED)
			continue;
		ck_abort_msg("nobody saw two lines exchanged:\n%s", text);
	}
	tt_free(run);
}
END_TEST

/* ---- a changed digit is told by name ---- */

struct place {
	unsigned line, step, record; /* record 0: at the step's line */
	char words[64];
	char what[64]; /* as the differ names it */
};

static void place_in_step(struct place *p, const char *line, size_t column)
{
	const char *arrow = strstr(line, " -> ");
	const char *words = strchr(line + 5, ' ') + 1;

	p->step = (unsigned)strtoul(line + 5, NULL, 10);
	p->record = 0;
	snprintf(p->words, sizeof(p->words), "%.*s", (int)(arrow - words), words);
	if (line + column < words - 1)
		strcpy(p->what, "missing: ");
	else if (line + column < arrow)
		strcpy(p->what, "words: ");
	else
		strcpy(p->what, "result: ");
}

static void place_in_record(struct place *p, const char *line, size_t column)
{
	const char *name = line + column, *equals;

	if (line[2] == '|') {
		strcpy(p->what, "raw byte");
		return;
	}
	while (name[-1] != ' ')
		name--;
	equals = strchr(name, '=');
	snprintf(p->what, sizeof(p->what), "%.*s: ", (int)(equals - name), name);
}

/* Where byte @at of @golden stands. */
static struct place place_of(const char *golden, size_t at)
{
	struct place p = {.line = 1};
	const char *line = golden, *next;

	for (;; line = next, p.line++) {
		next = strchr(line, '\n') + 1;
		if (!strncmp(line, "step ", 5))
			place_in_step(&p, line,
				      golden + at < next ? (size_t)(golden + at - line)
							 : 0);
		else if (!strncmp(line, "  ", 2) && line[2] != '|')
			p.record++;
		if (golden + at < next)
			break;
	}
	if (line[0] == ' ')
		place_in_record(&p, line, (size_t)(golden + at - line));
	return p;
}

START_TEST(diff_changed_digit_names_step_record_and_field)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	size_t n = strlen(c->golden), told = 0;
	char text[2048], said[4096], want[256];

	for (size_t at = body_of(c->golden); at < n; at++) {
		struct place p = place_of(c->golden, at);

		for (char digit = '0'; digit <= '9'; digit++) {
			memcpy(text, c->golden, n + 1);
			if (!isdigit((unsigned char)text[at]) || text[at] == digit)
				continue;
			text[at] = digit;
			if (fate_of(text, run, said, sizeof(said)) != TOLD)
				continue;
			told++;
			snprintf(want, sizeof(want), "%s: step ", run->scenario);
			ck_assert_msg(strstr(said, want) != NULL, "%s", said);
			if (strcmp(p.what, "missing: ") && strcmp(p.what, "words: ")) {
				snprintf(want, sizeof(want), "step %u \"%s\": ", p.step,
					 p.words);
				ck_assert_msg(strstr(said, want) != NULL, "%s", said);
				snprintf(want, sizeof(want), "(line %u)", p.line);
				ck_assert_msg(strstr(said, want) != NULL, "%s", said);
			}
			ck_assert_msg(strstr(said, p.what) != NULL, "no `%s` in:\n%s",
				      p.what, said);
			if (!p.record)
				continue;
			ck_assert_msg(strstr(said, ": record ") != NULL, "%s", said);
			/* a template's records are numbered as the run has them */
			if (strstr(c->golden, "  each "))
				continue;
			snprintf(want, sizeof(want), ": record %u ", p.record);
			ck_assert_msg(strstr(said, want) != NULL, "no `%s` in:\n%s", want,
				      said);
		}
	}
	ck_assert_uint_gt(told, 100);
	tt_free(run);
}
END_TEST

/* ---- headers ---- */

START_TEST(diff_changed_header_count_is_seen)
{
	const struct golden_case *c = &corpus[_i];
	struct tt_trace *run = parse(c->run);
	size_t n = strlen(c->golden), from, to;
	char text[2048], said[4096];

	from = (size_t)(strstr(c->golden, "\nfields: ") - c->golden) + 1;
	to = body_of(c->golden);
	for (size_t at = 0; at < to; at++) {
		/* where a golden comes from is not compared */
		if (at >= (size_t)(strstr(c->golden, "scenario: ") - c->golden) +
				    strlen("scenario: ") + strlen(run->scenario) &&
		    at < from)
			continue;
		for (const char *put = put_chars; *put; put++) {
			memcpy(text, c->golden, n + 1);
			if (text[at] == *put)
				continue;
			text[at] = *put;
			ck_assert_msg(fate_of(text, run, said, sizeof(said)) != SURVIVED,
				      "nobody saw the change at byte %zu:\n%s", at, text);
		}
	}
	tt_free(run);
}
END_TEST

static TCase *corpus_case(void)
{
	TCase *tc = tcase_create("corpus");

	tcase_add_loop_test(tc, diff_corpus_accepts_its_runs, 0, CASES);
	tcase_add_loop_test(tc, diff_every_changed_character_is_seen, 0, CASES);
	tcase_add_loop_test(tc, diff_every_missing_character_is_seen, 0, CASES);
	tcase_add_loop_test(tc, diff_every_added_character_is_seen, 0, CASES);
	tcase_add_loop_test(tc, diff_every_moved_line_is_seen, 0, CASES);
	tcase_add_loop_test(tc, diff_changed_digit_names_step_record_and_field, 0, CASES);
	tcase_add_loop_test(tc, diff_changed_header_count_is_seen, 0, CASES);
	tcase_set_timeout(tc, 30);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("diff-mutants");
	SRunner *sr;
	int failed;

	suite_add_tcase(s, corpus_case());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
