/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/trace-text.h"

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

static struct tt_trace *parse(const char *text)
{
	char err[256] = "";
	struct tt_trace *trace = tt_parse("t", text, strlen(text), err, sizeof(err));

	ck_assert_msg(trace != NULL, "refused: %s", err);
	return trace;
}

static const char golden_text[] =
	"pmulab-golden v1\n"
	"scenario: cycles-ip-100000\n"
	"kernel: 6.1.192\n"
	"fields: compared=7 wildcarded=1 bounded=2\n"
	"---\n"
	"step 3 ioctl c enable -> 0\n"
	"step 5 read c -> 24\n"
	"  values value=1000029 time_enabled=* time_running=<=time_enabled\n"
	"step 6 records c -> 2\n"
	"  sample misc=user size=16 ip=spin+0x24 time=>prev\n"
	"  | 09000000 02001000 24044200 00000000 ........ ........ 00000000 00000000\n"
	"  | 0900..\n"
	"  lost lost=3 time=>=prev\n"
	"step 9 records k -> 20..40\n"
	"  each sample misc=kernel ip=0xffff000000000000..0xffffffffffffffff\n"
	"  | 09000000 01001000 ........ ........\n"
	"end\n";

START_TEST(trace_text_golden_reads_every_part)
{
	struct tt_trace *t = parse(golden_text);
	const struct tt_record *r;

	ck_assert(t->golden);
	ck_assert_str_eq(t->scenario, "cycles-ip-100000");
	ck_assert_str_eq(tt_header_get(t, "kernel"), "6.1.192");
	ck_assert_ptr_null(tt_header_get(t, "qemu"));
	ck_assert_uint_eq(t->nsteps, 4);
	ck_assert_uint_eq(t->steps[1].number, 5);
	ck_assert_uint_eq(t->steps[1].line, 7);
	ck_assert_str_eq(t->steps[1].words, "read c");
	ck_assert_str_eq(t->steps[1].result.token, "24");
	r = &t->steps[1].records[0];
	ck_assert_str_eq(r->kind, "values");
	ck_assert_uint_eq(r->nfields, 3);
	ck_assert_int_eq(r->fields[0].class, TT_EXACT);
	ck_assert_int_eq(r->fields[1].class, TT_ANY);
	ck_assert_int_eq(r->fields[2].class, TT_AT_MOST);
	ck_assert_str_eq(r->fields[2].bound, "time_enabled");
	r = &t->steps[2].records[0];
	ck_assert_uint_eq(r->line, 10);
	ck_assert_uint_eq(r->nraw, 35);
	ck_assert_uint_eq(r->raw[4], 0x02);
	ck_assert_uint_eq(r->mask[4], 0xff);
	ck_assert_uint_eq(r->mask[16], 0);
	ck_assert_uint_eq(r->mask[33], 0xff);
	ck_assert_uint_eq(r->mask[34], 0);
	ck_assert_int_eq(r->fields[3].class, TT_ORDERED);
	ck_assert_int_eq(t->steps[3].result.class, TT_BOUNDED);
	ck_assert_uint_eq(t->steps[3].result.lo, 20);
	ck_assert_uint_eq(t->steps[3].result.hi, 40);
	r = &t->steps[3].records[0];
	ck_assert(r->each);
	ck_assert_uint_eq(r->fields[1].lo, 0xffff000000000000);
	ck_assert_uint_eq(r->fields[1].hi, UINT64_MAX);
	tt_free(t);
}
END_TEST

START_TEST(trace_text_golden_writes_what_it_read)
{
	struct tt_trace *t = parse(golden_text);
	char *text = text_of(t);

	ck_assert_str_eq(text, golden_text);
	free(text);
	tt_free(t);
}
END_TEST

START_TEST(trace_text_words_with_an_arrow_keep_it)
{
	struct tt_trace *t = parse("pmulab-trace v1\nscenario: s\n---\n"
				   "step 1 a -> b -> EINVAL\nend\n");

	ck_assert_str_eq(t->steps[0].words, "a -> b");
	ck_assert_str_eq(t->steps[0].result.token, "EINVAL");
	tt_free(t);
}
END_TEST

START_TEST(trace_text_header_set_twice_replaces)
{
	struct tt_trace *t = tt_new("s");

	tt_header_set(t, "kernel", "6.1");
	tt_header_set(t, "kernel", tt_header_get(t, "kernel"));
	tt_header_set(t, "kernel", "6.12");
	ck_assert_uint_eq(t->nheaders, 1);
	ck_assert_str_eq(tt_header_get(t, "kernel"), "6.12");
	tt_free(t);
}
END_TEST

/* ---- refusals ---- */

#define TRACE "pmulab-trace v1\nscenario: s\n---\n"
#define GOLDEN "pmulab-golden v1\nscenario: s\n---\n"
#define RAW32 "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000"

static const struct {
	const char *text, *err;
} malformed[] = {
	{"", "t:0: truncated: no `end`"},
	{"pmulab-trace v2\n", "t:1: neither `pmulab-trace v1` nor `pmulab-golden v1`"},
	{"pmulab-trace v1\r\n", "t:1: neither `pmulab-trace v1` nor `pmulab-golden v1`"},
	{"pmulab-trace v1\nkernel: 6\nscenario: s\n---\nend\n",
	 "t:2: expected `scenario: NAME`"},
	{"pmulab-trace v1\nscenario: s t\n---\nend\n", "t:2: expected `scenario: NAME`"},
	{"pmulab-trace v1\nscenario: s\nkernel 6\n---\nend\n",
	 "t:3: expected `KEY: VALUE` or `---`"},
	{"pmulab-trace v1\nscenario: s\nend\n", "t:3: expected `KEY: VALUE` or `---`"},
	{"pmulab-trace v1\nscenario: s\nKernel x: 6\n---\nend\n",
	 "t:3: malformed header"},
	{"pmulab-trace v1\nscenario: s\nkernel: 6 \n---\nend\n", "t:3: malformed header"},
	{"pmulab-trace v1\nscenario: s\nkernel: 6\nkernel: 6\n---\nend\n",
	 "t:4: header kernel twice"},
	{"pmulab-trace v1\nscenario: s\nscenario: s\n---\nend\n",
	 "t:3: header scenario twice"},
	{"pmulab-trace v1\nscenario: s\n", "t:2: truncated: no `end`"},
	{TRACE, "t:3: truncated: no `end`"},
	{TRACE "end", "t:4: truncated: the last line has no newline"},
	{TRACE "step 1 a -> 0\n", "t:4: truncated: no `end`"},
	{TRACE "end\n\n", "t:5: text after `end`"},
	{TRACE "end\nstep 1 a -> 0\n", "t:5: text after `end`"},
	{TRACE "\nend\n", "t:4: neither step, record, raw bytes nor `end`"},
	{TRACE "# no comments\nend\n", "t:4: neither step, record, raw bytes nor `end`"},
	{TRACE " sample\nend\n", "t:4: neither step, record, raw bytes nor `end`"},
	{TRACE "step 1 a 0\nend\n", "t:4: expected `step N WORDS -> RESULT`"},
	{TRACE "step 1 -> 0\nend\n", "t:4: expected `step N WORDS -> RESULT`"},
	{TRACE "step 1  -> 0\nend\n", "t:4: malformed words of a step"},
	{TRACE "step 1  a -> 0\nend\n", "t:4: malformed words of a step"},
	{TRACE "step 1 a\tb -> 0\nend\n", "t:4: malformed words of a step"},
	{TRACE "step 1 a -> \nend\n", "t:4: malformed result ``"},
	{TRACE "step 1 a -> 0 \nend\n", "t:4: malformed result `0 `"},
	{TRACE "step 0 a -> 0\nend\n", "t:4: malformed step number `0`"},
	{TRACE "step 01 a -> 0\nend\n", "t:4: malformed step number `01`"},
	{TRACE "step 0x1 a -> 0\nend\n", "t:4: malformed step number `0x1`"},
	{TRACE "step -1 a -> 0\nend\n", "t:4: malformed step number `-1`"},
	{TRACE "step 4294967297 a -> 0\nend\n",
	 "t:4: malformed step number `4294967297`"},
	{TRACE "step 2 a -> 0\nstep 2 a -> 0\nend\n", "t:5: step 2 after step 2"},
	{TRACE "step 2 a -> 0\nstep 1 a -> 0\nend\n", "t:5: step 1 after step 2"},
	{TRACE "  sample\nend\n", "t:4: a record before the first step"},
	{TRACE "  | 00\nend\n", "t:4: raw bytes without a record"},
	{TRACE "step 1 a -> 0\n  | 00\nend\n", "t:5: raw bytes without a record"},
	{TRACE "step 1 a -> 1\n  v\nstep 2 a -> 0\n  | 00\nend\n",
	 "t:7: raw bytes without a record"},
	{TRACE "step 1 a -> 0\n   v x=1\nend\n", "t:5: expected NAME=TOKEN, not `v`"},
	{TRACE "step 1 a -> 0\n  v=1\nend\n", "t:5: malformed kind of record"},
	{TRACE "step 1 a -> 0\n  9 x=1\nend\n", "t:5: malformed kind of record"},
	{TRACE "step 1 a -> 0\n  each\nend\n", "t:5: malformed kind of record"},
	{TRACE "step 1 a -> 0\n  v  x=1\nend\n", "t:5: expected NAME=TOKEN, not ``"},
	{TRACE "step 1 a -> 0\n  v x=1 \nend\n", "t:5: expected NAME=TOKEN, not ``"},
	{TRACE "step 1 a -> 0\n  v x\nend\n", "t:5: expected NAME=TOKEN, not `x`"},
	{TRACE "step 1 a -> 0\n  v x=\nend\n", "t:5: expected NAME=TOKEN, not `x=`"},
	{TRACE "step 1 a -> 0\n  v =1\nend\n", "t:5: malformed name of a field"},
	{TRACE "step 1 a -> 0\n  v 1=1\nend\n", "t:5: malformed name of a field"},
	{TRACE "step 1 a -> 0\n  v x=1 y=2 x=1\nend\n",
	 "t:5: a field twice in one record"},
	{TRACE "step 1 a -> 0\n  v x=1\t\nend\n", "t:5: malformed token"},
	/* classes are a golden's */
	{TRACE "step 1 a -> *\nend\n",
	 "t:4: result `*`: a class where a trace needs a value"},
	{TRACE "step 1 a -> 1..2\nend\n",
	 "t:4: result `1..2`: a class where a trace needs a value"},
	{TRACE "step 1 a -> 0\n  v x=*\nend\n",
	 "t:5: a class where a trace needs a value"},
	{TRACE "step 1 a -> 0\n  v x=>prev\nend\n",
	 "t:5: a class where a trace needs a value"},
	{TRACE "step 1 a -> 0\n  v x=1 y=<=x\nend\n",
	 "t:5: a class where a trace needs a value"},
	{TRACE "step 1 a -> 0\n  v x=0x1..0x2\nend\n",
	 "t:5: a class where a trace needs a value"},
	{TRACE "step 1 a -> 0\n  each v x=1\nend\n",
	 "t:5: `each` needs a step with result A..B"},
	/* what starts like a class and is none */
	{GOLDEN "step 1 a -> >prev\nend\n",
	 "t:4: result `>prev`: a result cannot be of this class"},
	{GOLDEN "step 1 a -> <=x\nend\n",
	 "t:4: result `<=x`: a result cannot be of this class"},
	{GOLDEN "step 1 a -> 2..1\nend\n", "t:4: malformed result `2..1`"},
	{GOLDEN "step 1 a -> 0\n  v x=>prew\nend\n",
	 "t:5: field x: malformed token `>prew`"},
	{GOLDEN "step 1 a -> 0\n  v x=>=\nend\n", "t:5: field x: malformed token `>=`"},
	{GOLDEN "step 1 a -> 0\n  v x=**\nend\n", "t:5: field x: malformed token `**`"},
	{GOLDEN "step 1 a -> 0\n  v x=<y y=1\nend\n",
	 "t:5: field x: malformed token `<y`"},
	{GOLDEN "step 1 a -> 0\n  v x=<= y=1\nend\n",
	 "t:5: field x: malformed token `<=`"},
	{GOLDEN "step 1 a -> 0\n  v x=1..\nend\n", "t:5: field x: malformed token `1..`"},
	{GOLDEN "step 1 a -> 0\n  v x=1..y\nend\n",
	 "t:5: field x: malformed token `1..y`"},
	{GOLDEN "step 1 a -> 0\n  v x=1...2\nend\n",
	 "t:5: field x: malformed token `1...2`"},
	{GOLDEN "step 1 a -> 0\n  v x=3..2\nend\n",
	 "t:5: field x: malformed token `3..2`"},
	{GOLDEN "step 1 a -> 0\n  v x=01..2\nend\n",
	 "t:5: field x: malformed token `01..2`"},
	{GOLDEN "step 1 a -> 0\n  v x=1..18446744073709551616\nend\n",
	 "t:5: field x: malformed token `1..18446744073709551616`"},
	{GOLDEN "step 1 a -> 0\n  v x=1 y=<=z\nend\n",
	 "t:5: `<=` names no other field of its record"},
	{GOLDEN "step 1 a -> 0\n  v x=1 y=<=y\nend\n",
	 "t:5: `<=` names no other field of its record"},
	{GOLDEN "step 1 a -> 2\n  each v x=1\nend\n",
	 "t:5: `each` needs a step with result A..B"},
	{GOLDEN "step 1 a -> *\n  each v x=1\nend\n",
	 "t:5: `each` needs a step with result A..B"},
	{GOLDEN "step 1 a -> 1..2\n  v x=1\nend\n",
	 "t:5: a step with result A..B has `each` records only"},
	/* raw bytes */
	{TRACE "step 1 a -> 0\n  v\n  | \nend\n", "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | 0\nend\n",
	 "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | 0g\nend\n",
	 "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | 0A\nend\n",
	 "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | 0.\nend\n",
	 "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | .0\nend\n",
	 "t:6: malformed raw bytes at column 5"},
	{TRACE "step 1 a -> 0\n  v\n  | 00 00\nend\n",
	 "t:6: malformed raw bytes at column 7"},
	{TRACE "step 1 a -> 0\n  v\n  | 0000000000\nend\n",
	 "t:6: malformed raw bytes at column 13"},
	{TRACE "step 1 a -> 0\n  v\n  | 00000000 \nend\n",
	 "t:6: malformed raw bytes at column 13"},
	{TRACE "step 1 a -> 0\n  v\n  | " RAW32 " 00\nend\n",
	 "t:6: malformed raw bytes at column 76"},
	{TRACE "step 1 a -> 0\n  v\n  | 00000000\n  | 00000000\nend\n",
	 "t:7: raw bytes after a short line of raw bytes"},
	{TRACE "step 1 a -> 0\n  v\n  |00\nend\n", "t:6: malformed kind of record"},
};

START_TEST(trace_text_malformed_is_refused_with_its_line)
{
	const char *text = malformed[_i].text;
	char err[256] = "";
	struct tt_trace *t = tt_parse("t", text, strlen(text), err, sizeof(err));

	ck_assert_msg(!t, "accepted: %s", text);
	ck_assert_str_eq(err, malformed[_i].err);
}
END_TEST

START_TEST(trace_text_nul_byte_is_refused)
{
	static const char text[] = TRACE "step 1 a\0b -> 0\nend\n";
	char err[64] = "";

	ck_assert_ptr_null(tt_parse("t", text, sizeof(text) - 1, err, sizeof(err)));
	ck_assert_str_eq(err, "t:4: a NUL byte in the text");
}
END_TEST

/* No beginning of a golden is a golden. */
START_TEST(trace_text_truncated_anywhere_is_refused)
{
	char err[128];

	for (size_t n = 0; n < strlen(golden_text); n++) {
		struct tt_trace *t = tt_parse("t", golden_text, n, err, sizeof(err));

		ck_assert_msg(!t, "accepted the first %zu bytes", n);
	}
}
END_TEST

START_TEST(trace_text_error_buffer_may_be_short)
{
	char err[8];

	ck_assert_ptr_null(tt_parse("name", "x", 1, err, sizeof(err)));
	ck_assert_str_eq(err, "name:1:");
	ck_assert_ptr_null(tt_parse("name", "x", 1, NULL, 0));
}
END_TEST

START_TEST(trace_text_unreadable_file_is_refused)
{
	char err[128];

	ck_assert_ptr_null(tt_read("/nonexistent/g", err, sizeof(err)));
	ck_assert_str_eq(err, "/nonexistent/g:0: cannot read: No such file or directory");
	ck_assert_ptr_null(tt_read("/", err, sizeof(err)));
	ck_assert_str_eq(err, "/:0: cannot read: Is a directory");
}
END_TEST

START_TEST(trace_text_file_reads_as_its_text)
{
	char path[] = "/tmp/trace-text-XXXXXX", err[128];
	int fd = mkstemp(path);
	struct tt_trace *t;
	char *text;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, golden_text, strlen(golden_text)),
			 (int)strlen(golden_text));
	close(fd);
	t = tt_read(path, err, sizeof(err));
	unlink(path);
	ck_assert_ptr_nonnull(t);
	text = text_of(t);
	ck_assert_str_eq(text, golden_text);
	free(text);
	tt_free(t);
}
END_TEST

/* ---- what the writer refuses ---- */

static void refused(struct tt_trace *t)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(tt_write(t, out), -EINVAL);
	fclose(out);
	ck_assert_uint_eq(size, 0);
	free(text);
	tt_free(t);
}

static struct tt_trace *one_field(const char *name, const char *token)
{
	struct tt_trace *t = tt_new("s");
	struct tt_step *step = tt_step_add(t, 1, "read c");

	tt_result_set(step, TT_EXACT, "%d", 8);
	tt_field_add(tt_record_add(step, "values"), name, TT_EXACT, "%s", token);
	return t;
}

START_TEST(trace_text_write_refuses_what_cannot_be_read_back)
{
	struct tt_trace *t;

	refused(tt_new("a b"));
	refused(tt_new(""));
	t = tt_new("s");
	tt_header_set(t, "kernel", "");
	refused(t);
	t = tt_new("s");
	tt_header_set(t, "scenario", "s");
	refused(t);
	t = tt_new("s");
	tt_header_set(t, "a b", "c");
	refused(t);
	t = tt_new("s");
	tt_step_add(t, 1, "no result");
	refused(t);
	t = tt_new("s");
	tt_result_set(tt_step_add(t, 1, "two\nlines"), TT_EXACT, "0");
	refused(t);
	t = tt_new("s");
	tt_result_set(tt_step_add(t, 2, "a"), TT_EXACT, "0");
	tt_result_set(tt_step_add(t, 2, "a"), TT_EXACT, "0");
	refused(t);
	t = tt_new("s");
	tt_result_set(tt_step_add(t, 0, "a"), TT_EXACT, "0");
	refused(t);
	refused(one_field("x", ""));
	refused(one_field("x", "a b"));
	refused(one_field("x", ">prev"));
	refused(one_field("x", "1..2"));
	refused(one_field("x y", "1"));
	t = one_field("x", "1");
	tt_field_add(t->steps[0].records, "x", TT_EXACT, "1");
	refused(t);
	t = one_field("x", "1");
	t->steps[0].records[0].each = true;
	refused(t);
	t = one_field("x", "1");
	tt_record_add(&t->steps[0], "each");
	refused(t);
}
END_TEST

START_TEST(trace_text_write_to_a_full_device_is_eio)
{
	struct tt_trace *t = one_field("x", "1");
	FILE *out = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(tt_write(t, out), -EIO);
	fclose(out);
	tt_free(t);
}
END_TEST

/* ---- numbers ---- */

START_TEST(trace_text_number_takes_one_form_only)
{
	static const char *const bad[] = {"",
					  "x",
					  "-1",
					  "+1",
					  " 1",
					  "01",
					  "0x",
					  "0X1",
					  "0xA",
					  "1a",
					  "1 ",
					  "0xg",
					  "0xZ",
					  "18446744073709551616",
					  "0x10000000000000000"};
	uint64_t v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!tt_number(bad[i], &v), "took `%s`", bad[i]);
	ck_assert(tt_number("0", &v) && v == 0);
	ck_assert(tt_number("18446744073709551615", &v) && v == UINT64_MAX);
	ck_assert(tt_number("0xffffffffffffffff", &v) && v == UINT64_MAX);
	ck_assert(tt_number("0x00ab", &v) && v == 0xab);
}
END_TEST

/* ---- any trace reads back as it was ---- */

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void word(char *to, size_t n, const char *alphabet)
{
	to[0] = (char)('a' + rnd(26));
	for (size_t i = 1; i < n; i++)
		to[i] = alphabet[rnd((uint32_t)strlen(alphabet))];
	to[n] = '\0';
}

static void random_field(struct tt_record *record, bool golden)
{
	static const char *const classes[] = {"*",    ">prev",	     ">=prev",
					      "3..9", "0x10..0xff0", "<=first"};
	static const enum tt_class kinds[] = {TT_ANY,	  TT_ORDERED, TT_ORDERED,
					      TT_BOUNDED, TT_BOUNDED, TT_AT_MOST};
	char name[16], token[24];
	uint32_t pick = rnd(golden ? 12 : 6);

	snprintf(name, sizeof(name), "f%zu", record->nfields);
	word(token, 1 + rnd(20), "abcxyz0123456789+-._:<>=*|/,");
	if (pick >= 6)
		tt_field_add(record, name, kinds[pick - 6], "%s", classes[pick - 6]);
	else if (pick < 2)
		tt_field_add(record, name, TT_EXACT, "%u", rnd(UINT32_MAX));
	else
		tt_field_add(record, name, TT_EXACT, "%s", token);
}

static void random_record(struct tt_step *step, bool golden)
{
	struct tt_record *record;
	uint8_t raw[100], mask[100];
	size_t n = rnd(3) ? rnd(sizeof(raw)) : 0;
	char kind[12];

	word(kind, 1 + rnd(10), "abcdefgh-_0123456789");
	if (!strcmp(kind, "each"))
		return;
	record = tt_record_add(step, kind);
	record->each = golden && step->result.class == TT_BOUNDED;
	tt_field_add(record, "first", TT_EXACT, "0x%x", rnd(1000));
	for (uint32_t i = rnd(5); i > 0; i--)
		random_field(record, golden);
	for (size_t i = 0; i < n; i++) {
		mask[i] = rnd(4) ? 0xff : 0;
		raw[i] = mask[i] ? (uint8_t)rnd(256) : 0;
	}
	tt_raw_set(record, raw, rnd(4) ? mask : NULL, n);
}

static struct tt_trace *random_trace(void)
{
	struct tt_trace *t;
	char a[40], b[40];
	unsigned number = 0;

	word(a, 1 + rnd(30), "abc-0123");
	t = tt_new(a);
	t->golden = rnd(2);
	for (uint32_t i = rnd(4); i > 0; i--) {
		word(a, 1 + rnd(10), "abc-");
		word(b, 1 + rnd(30), "abc=0123:>");
		tt_header_set(t, a, b);
	}
	for (uint32_t i = rnd(6); i > 0; i--) {
		struct tt_step *step;

		word(a, 1 + rnd(30), "abc=-> 0");
		strcat(a, ".");
		number += 1 + rnd(3);
		step = tt_step_add(t, number, a);
		if (t->golden && !rnd(3))
			tt_result_set(step, TT_BOUNDED, "%u..%u", rnd(9), 9 + rnd(9));
		else
			tt_result_set(step, TT_EXACT, "%s", rnd(2) ? "EINVAL" : "0");
		for (uint32_t j = rnd(5); j > 0; j--)
			random_record(step, t->golden);
	}
	return t;
}

static void fields_equal(const struct tt_field *a, const struct tt_field *b)
{
	ck_assert_str_eq(a->name, b->name);
	ck_assert_str_eq(a->token, b->token);
	ck_assert_int_eq(a->class, b->class);
	ck_assert_uint_eq(a->lo, b->lo);
	ck_assert_uint_eq(a->hi, b->hi);
	ck_assert_str_eq(a->bound ? a->bound : "", b->bound ? b->bound : "");
}

static void records_equal(const struct tt_record *a, const struct tt_record *b)
{
	ck_assert_str_eq(a->kind, b->kind);
	ck_assert(a->each == b->each);
	ck_assert_uint_eq(a->nfields, b->nfields);
	for (size_t i = 0; i < a->nfields; i++)
		fields_equal(&a->fields[i], &b->fields[i]);
	ck_assert_uint_eq(a->nraw, b->nraw);
	if (!a->nraw)
		return;
	ck_assert_mem_eq(a->raw, b->raw, a->nraw);
	ck_assert_mem_eq(a->mask, b->mask, a->nraw);
}

static void traces_equal(const struct tt_trace *a, const struct tt_trace *b)
{
	ck_assert(a->golden == b->golden);
	ck_assert_str_eq(a->scenario, b->scenario);
	ck_assert_uint_eq(a->nheaders, b->nheaders);
	ck_assert_uint_eq(a->nsteps, b->nsteps);
	for (size_t i = 0; i < a->nsteps; i++) {
		const struct tt_step *s = &a->steps[i], *u = &b->steps[i];

		ck_assert_uint_eq(s->number, u->number);
		ck_assert_str_eq(s->words, u->words);
		fields_equal(&s->result, &u->result);
		ck_assert_uint_eq(s->nrecords, u->nrecords);
		for (size_t j = 0; j < s->nrecords; j++)
			records_equal(&s->records[j], &u->records[j]);
	}
}

START_TEST(trace_text_random_traces_survive_the_round)
{
	seed = (uint64_t)_i + 1;
	for (int i = 0; i < 200; i++) {
		struct tt_trace *made = random_trace(), *read;
		char *first = text_of(made), *second;

		read = parse(first);
		traces_equal(made, read);
		second = text_of(read);
		ck_assert_str_eq(first, second);
		free(first);
		free(second);
		tt_free(made);
		tt_free(read);
	}
}
END_TEST

/* The reader takes nothing but what the writer makes: whatever one byte of a
 * golden becomes, what is still read is written back as it stood. */
START_TEST(trace_text_what_is_read_is_canonical)
{
	char text[sizeof(golden_text)], err[128];

	for (size_t at = 0; at < strlen(golden_text); at++) {
		for (const char *c = "0129abfxzA=.>*<|-: \n\t\x80"; *c; c++) {
			struct tt_trace *t;
			char *again;

			memcpy(text, golden_text, sizeof(text));
			text[at] = *c;
			t = tt_parse("t", text, strlen(text), err, sizeof(err));
			if (!t)
				continue;
			again = text_of(t);
			ck_assert_str_eq(text, again);
			free(again);
			tt_free(t);
		}
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("trace-text");
	TCase *tc = tcase_create("trace-text");

	tcase_add_test(tc, trace_text_golden_reads_every_part);
	tcase_add_test(tc, trace_text_golden_writes_what_it_read);
	tcase_add_test(tc, trace_text_words_with_an_arrow_keep_it);
	tcase_add_test(tc, trace_text_header_set_twice_replaces);
	tcase_add_loop_test(tc, trace_text_malformed_is_refused_with_its_line, 0,
			    (int)(sizeof(malformed) / sizeof(*malformed)));
	tcase_add_test(tc, trace_text_nul_byte_is_refused);
	tcase_add_test(tc, trace_text_truncated_anywhere_is_refused);
	tcase_add_test(tc, trace_text_error_buffer_may_be_short);
	tcase_add_test(tc, trace_text_unreadable_file_is_refused);
	tcase_add_test(tc, trace_text_file_reads_as_its_text);
	tcase_add_test(tc, trace_text_write_refuses_what_cannot_be_read_back);
	tcase_add_test(tc, trace_text_write_to_a_full_device_is_eio);
	tcase_add_test(tc, trace_text_number_takes_one_form_only);
	tcase_add_loop_test(tc, trace_text_random_traces_survive_the_round, 0, 5);
	tcase_add_test(tc, trace_text_what_is_read_is_canonical);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(suite());
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
