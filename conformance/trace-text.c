/* SPDX-License-Identifier: MIT */
/*
 * Traces in memory and their text. The reader is strict: it takes exactly what
 * the writer makes, so that a changed character of a golden is either refused
 * here or a difference in diff.c, never a silent nothing.
 */
#include "conformance/trace-text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 4
#define LINE_BYTES TT_RAW_LINE_BYTES

static void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		abort();
	return p;
}

/* Room for element @n: the array doubles whenever n is a power of two. */
static void *grow(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	return xrealloc(p, (n ? 2 * n : 1) * size);
}

static char *copy_n(const char *s, size_t n)
{
	char *copy = xrealloc(NULL, n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

static char *copy(const char *s)
{
	return copy_n(s, strlen(s));
}

static char *format(const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	s = xrealloc(NULL, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

/* ---- what a word may look like ---- */

/* Text of one line: no control character, no space at either end. */
static bool is_text(const char *s)
{
	size_t n = strlen(s);

	if (!n || s[0] == ' ' || s[n - 1] == ' ')
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

static bool is_token(const char *s)
{
	return is_text(s) && !strchr(s, ' ');
}

static bool is_name(const char *s)
{
	bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');

	return letter && is_token(s) && !strpbrk(s, "=<>*");
}

static bool is_key(const char *s)
{
	return is_name(s) && !strchr(s, ':');
}

bool tt_number(const char *s, uint64_t *value)
{
	unsigned base = 10, digit;
	uint64_t v = 0;

	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	} else if (s[0] == '0' && s[1]) {
		return false;
	}
	if (!*s)
		return false;
	for (; *s; s++) {
		if (*s >= '0' && *s <= '9')
			digit = (unsigned)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			digit = (unsigned)(*s - 'a') + 10;
		else
			return false;
		if (digit >= base || v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	*value = v;
	return true;
}

static bool bounds(const char *token, uint64_t *lo, uint64_t *hi)
{
	const char *dots = strstr(token, "..");
	char *left = copy_n(token, (size_t)(dots - token));
	bool ok = tt_number(left, lo) && tt_number(dots + 2, hi) && *lo <= *hi;

	free(left);
	return ok;
}

/*
 * The class that a golden's token states. The first characters `*`, `<`, `>`
 * and the form DIGIT...`..` are reserved: what starts like a class and is none
 * is an error, or a typing slip in a class would turn into an exact token.
 */
static bool classify(const char *token, struct tt_field *field)
{
	field->class = TT_EXACT;
	if (!strcmp(token, "*")) {
		field->class = TT_ANY;
	} else if (!strcmp(token, ">prev") || !strcmp(token, ">=prev")) {
		field->class = TT_ORDERED;
	} else if (!strncmp(token, "<=", 2) && is_name(token + 2)) {
		field->class = TT_AT_MOST;
		free(field->bound);
		field->bound = copy(token + 2);
	} else if (strchr("*<>", token[0])) {
		return false;
	} else if (token[0] >= '0' && token[0] <= '9' && strstr(token, "..")) {
		field->class = TT_BOUNDED;
		return bounds(token, &field->lo, &field->hi);
	}
	return true;
}

/* ---- building ---- */

struct tt_trace *tt_new(const char *scenario)
{
	struct tt_trace *trace = xrealloc(NULL, sizeof(*trace));

	memset(trace, 0, sizeof(*trace));
	trace->scenario = copy(scenario);
	return trace;
}

static void field_drop(struct tt_field *field)
{
	free(field->name);
	free(field->token);
	free(field->bound);
}

static void record_drop(struct tt_record *record)
{
	for (size_t i = 0; i < record->nfields; i++)
		field_drop(&record->fields[i]);
	free(record->fields);
	free(record->kind);
	free(record->raw);
	free(record->mask);
}

static void step_drop(struct tt_step *step)
{
	for (size_t i = 0; i < step->nrecords; i++)
		record_drop(&step->records[i]);
	free(step->records);
	free(step->words);
	field_drop(&step->result);
}

void tt_free(struct tt_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->nheaders; i++) {
		free(trace->headers[i].key);
		free(trace->headers[i].value);
	}
	for (size_t i = 0; i < trace->nsteps; i++)
		step_drop(&trace->steps[i]);
	free(trace->headers);
	free(trace->steps);
	free(trace->scenario);
	free(trace);
}

static struct tt_header *header_find(const struct tt_trace *trace, const char *key)
{
	for (size_t i = 0; i < trace->nheaders; i++)
		if (!strcmp(trace->headers[i].key, key))
			return &trace->headers[i];
	return NULL;
}

void tt_header_set(struct tt_trace *trace, const char *key, const char *value)
{
	struct tt_header *header = header_find(trace, key);
	char *text = copy(value);

	if (!header) {
		trace->headers = grow(trace->headers, trace->nheaders, sizeof(*header));
		header = &trace->headers[trace->nheaders++];
		header->key = copy(key);
		header->value = NULL;
	}
	free(header->value);
	header->value = text;
}

const char *tt_header_get(const struct tt_trace *trace, const char *key)
{
	struct tt_header *header = header_find(trace, key);

	return header ? header->value : NULL;
}

struct tt_step *tt_step_add(struct tt_trace *trace, unsigned number, const char *words)
{
	struct tt_step *step;

	trace->steps = grow(trace->steps, trace->nsteps, sizeof(*step));
	step = &trace->steps[trace->nsteps++];
	memset(step, 0, sizeof(*step));
	step->number = number;
	step->words = copy(words);
	step->result.name = copy("result");
	step->result.token = copy("");
	return step;
}

/* A class token given as such (a golden in the making) fills in its parts. */
static void field_fill(struct tt_field *field, enum tt_class class, char *token)
{
	struct tt_field parts = {0};

	free(field->token);
	field->token = token;
	field->class = class;
	if (classify(token, &parts) && parts.class == class) {
		field->lo = parts.lo;
		field->hi = parts.hi;
		free(field->bound);
		field->bound = parts.bound;
		parts.bound = NULL;
	}
	free(parts.bound);
}

void tt_result_set(struct tt_step *step, enum tt_class class, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	field_fill(&step->result, class, format(fmt, ap));
	va_end(ap);
}

struct tt_record *tt_record_add(struct tt_step *step, const char *kind)
{
	struct tt_record *record;

	step->records = grow(step->records, step->nrecords, sizeof(*record));
	record = &step->records[step->nrecords++];
	memset(record, 0, sizeof(*record));
	record->kind = copy(kind);
	return record;
}

struct tt_field *tt_field_add(struct tt_record *record, const char *name,
			      enum tt_class class, const char *fmt, ...)
{
	struct tt_field *field;
	va_list ap;

	record->fields = grow(record->fields, record->nfields, sizeof(*field));
	field = &record->fields[record->nfields++];
	memset(field, 0, sizeof(*field));
	field->name = copy(name);
	va_start(ap, fmt);
	field_fill(field, class, format(fmt, ap));
	va_end(ap);
	return field;
}

const struct tt_field *tt_field_get(const struct tt_record *record, const char *name)
{
	for (size_t i = 0; i < record->nfields; i++)
		if (!strcmp(record->fields[i].name, name))
			return &record->fields[i];
	return NULL;
}

bool tt_same_shape(const struct tt_record *a, const struct tt_record *b)
{
	if (strcmp(a->kind, b->kind) || a->nfields != b->nfields || a->nraw != b->nraw)
		return false;
	for (size_t i = 0; i < a->nfields; i++)
		if (strcmp(a->fields[i].name, b->fields[i].name))
			return false;
	return true;
}

void tt_raw_set(struct tt_record *record, const uint8_t *raw, const uint8_t *mask,
		size_t n)
{
	free(record->raw);
	free(record->mask);
	record->raw = NULL;
	record->mask = NULL;
	record->nraw = n;
	if (!n)
		return;
	record->raw = xrealloc(NULL, n);
	memcpy(record->raw, raw, n);
	record->mask = xrealloc(NULL, n);
	if (mask)
		memcpy(record->mask, mask, n);
	else
		memset(record->mask, 0xff, n);
}

/* ---- what holds for a whole trace, read or about to be written ---- */

static const char *check_token(const struct tt_field *field, bool golden)
{
	struct tt_field parts = {0};
	bool ok = is_token(field->token) && classify(field->token, &parts);

	free(parts.bound);
	if (!ok)
		return "malformed token";
	if (!golden && parts.class != TT_EXACT)
		return "a class where a trace needs a value";
	return NULL;
}

static const char *check_record(const struct tt_record *record, bool golden)
{
	const char *bad;

	if (!is_name(record->kind) || !strcmp(record->kind, "each"))
		return "malformed kind of record";
	for (size_t i = 0; i < record->nfields; i++) {
		const struct tt_field *field = &record->fields[i];

		if (!is_name(field->name))
			return "malformed name of a field";
		if (tt_field_get(record, field->name) != field)
			return "a field twice in one record";
		bad = check_token(field, golden);
		if (bad)
			return bad;
		if (!golden || field->class != TT_AT_MOST)
			continue;
		if (!strcmp(field->bound, field->name) ||
		    !tt_field_get(record, field->bound))
			return "`<=` names no other field of its record";
	}
	return NULL;
}

static const char *check_result(const struct tt_step *step, bool golden)
{
	const char *bad = check_token(&step->result, golden);

	if (bad)
		return bad;
	if (golden &&
	    (step->result.class == TT_ORDERED || step->result.class == TT_AT_MOST))
		return "a result cannot be of this class";
	return NULL;
}

static const char *check_each(const struct tt_step *step, const struct tt_record *record,
			      bool golden)
{
	bool template = golden && step->result.class == TT_BOUNDED;

	if (record->each && !template)
		return "`each` needs a step with result A..B";
	if (!record->each && template)
		return "a step with result A..B has `each` records only";
	return NULL;
}

static bool writable(const struct tt_trace *trace)
{
	unsigned last = 0;

	if (!is_token(trace->scenario))
		return false;
	for (size_t i = 0; i < trace->nheaders; i++)
		if (!is_key(trace->headers[i].key) ||
		    !strcmp(trace->headers[i].key, "scenario") ||
		    !is_text(trace->headers[i].value))
			return false;
	for (size_t i = 0; i < trace->nsteps; i++) {
		const struct tt_step *step = &trace->steps[i];

		if (step->number <= last || !is_text(step->words) ||
		    check_result(step, trace->golden))
			return false;
		last = step->number;
		for (size_t j = 0; j < step->nrecords; j++)
			if (check_record(&step->records[j], trace->golden) ||
			    check_each(step, &step->records[j], trace->golden))
				return false;
	}
	return true;
}

/* ---- writing ---- */

static void write_raw(const struct tt_record *record, FILE *out)
{
	for (size_t i = 0; i < record->nraw; i++) {
		if (i % LINE_BYTES == 0)
			fputs(i ? "\n  | " : "  | ", out);
		else if (i % GROUP_BYTES == 0)
			fputc(' ', out);
		if (record->mask[i])
			fprintf(out, "%02x", record->raw[i]);
		else
			fputs("..", out);
	}
	if (record->nraw)
		fputc('\n', out);
}

static void write_record(const struct tt_record *record, FILE *out)
{
	fprintf(out, "  %s%s", record->each ? "each " : "", record->kind);
	for (size_t i = 0; i < record->nfields; i++)
		fprintf(out, " %s=%s", record->fields[i].name, record->fields[i].token);
	fputc('\n', out);
	write_raw(record, out);
}

int tt_write(const struct tt_trace *trace, FILE *out)
{
	if (!writable(trace))
		return -EINVAL;
	fprintf(out, "pmulab-%s v1\nscenario: %s\n", trace->golden ? "golden" : "trace",
		trace->scenario);
	for (size_t i = 0; i < trace->nheaders; i++)
		fprintf(out, "%s: %s\n", trace->headers[i].key, trace->headers[i].value);
	fputs("---\n", out);
	for (size_t i = 0; i < trace->nsteps; i++) {
		const struct tt_step *step = &trace->steps[i];

		fprintf(out, "step %u %s -> %s\n", step->number, step->words,
			step->result.token);
		for (size_t j = 0; j < step->nrecords; j++)
			write_record(&step->records[j], out);
	}
	fputs("end\n", out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

struct reader {
	const char *name;
	const char *text, *end;
	unsigned line;
	char *now; /* the current line, without its newline; owned */
	char *err;
	size_t errsize;
	struct tt_trace *trace;
	struct tt_step *step;	  /* the one that records go to */
	struct tt_record *record; /* the one that raw bytes go to */
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reader *r, const char *fmt,
						       ...)
{
	va_list ap;
	char *what;

	va_start(ap, fmt);
	what = format(fmt, ap);
	va_end(ap);
	if (r->errsize)
		snprintf(r->err, r->errsize, "%s:%u: %s", r->name, r->line, what);
	free(what);
	return false;
}

static bool next_line(struct reader *r)
{
	const char *newline;
	size_t n;

	if (r->text == r->end)
		return fail(r, "truncated: no `end`");
	r->line++;
	newline = memchr(r->text, '\n', (size_t)(r->end - r->text));
	if (!newline)
		return fail(r, "truncated: the last line has no newline");
	n = (size_t)(newline - r->text);
	if (memchr(r->text, '\0', n))
		return fail(r, "a NUL byte in the text");
	free(r->now);
	r->now = copy_n(r->text, n);
	r->text = newline + 1;
	return true;
}

static bool read_magic(struct reader *r)
{
	if (!next_line(r))
		return false;
	if (!strcmp(r->now, "pmulab-golden v1"))
		r->trace->golden = true;
	else if (strcmp(r->now, "pmulab-trace v1"))
		return fail(r, "neither `pmulab-trace v1` nor `pmulab-golden v1`");
	if (!next_line(r))
		return false;
	if (strncmp(r->now, "scenario: ", 10) || !is_token(r->now + 10))
		return fail(r, "expected `scenario: NAME`");
	free(r->trace->scenario);
	r->trace->scenario = copy(r->now + 10);
	return true;
}

static bool read_headers(struct reader *r)
{
	char *colon;

	while (next_line(r)) {
		if (!strcmp(r->now, "---"))
			return true;
		colon = strstr(r->now, ": ");
		if (!colon)
			return fail(r, "expected `KEY: VALUE` or `---`");
		*colon = '\0';
		if (!is_key(r->now) || !is_text(colon + 2))
			return fail(r, "malformed header");
		if (!strcmp(r->now, "scenario") || header_find(r->trace, r->now))
			return fail(r, "header %s twice", r->now);
		tt_header_set(r->trace, r->now, colon + 2);
	}
	return false;
}

/* `step N WORDS -> RESULT`. The words may hold an arrow of their own: the last
 * one is ours, because no result has a space in it. */
static bool read_step(struct reader *r)
{
	char *number = r->now + 5, *words = strchr(number, ' '), *arrow = NULL, *at;
	uint64_t n, last = r->step ? r->step->number : 0;
	const char *bad;

	for (at = words; at && (at = strstr(at, " -> ")); at++)
		arrow = at;
	if (!arrow || arrow <= words)
		return fail(r, "expected `step N WORDS -> RESULT`");
	*words++ = '\0';
	*arrow = '\0';
	if (!tt_number(number, &n) || number[1] == 'x' || !n || n > INT32_MAX)
		return fail(r, "malformed step number `%s`", number);
	if (n <= last)
		return fail(r, "step %s after step %u", number, (unsigned)last);
	if (!is_text(words))
		return fail(r, "malformed words of a step");
	if (!is_token(arrow + 4))
		return fail(r, "malformed result `%s`", arrow + 4);
	r->step = tt_step_add(r->trace, (unsigned)n, words);
	r->step->line = r->line;
	r->record = NULL;
	free(r->step->result.token);
	r->step->result.token = copy(arrow + 4);
	if (!classify(arrow + 4, &r->step->result))
		return fail(r, "malformed result `%s`", arrow + 4);
	bad = check_result(r->step, r->trace->golden);
	return !bad || fail(r, "result `%s`: %s", arrow + 4, bad);
}

static bool read_field(struct reader *r, char *word)
{
	char *equals = strchr(word, '=');
	struct tt_field *field;

	if (!equals || !equals[1])
		return fail(r, "expected NAME=TOKEN, not `%s`", word);
	*equals = '\0';
	field = tt_field_add(r->record, word, TT_EXACT, "%s", equals + 1);
	if (!classify(field->token, field))
		return fail(r, "field %s: malformed token `%s`", word, equals + 1);
	return true;
}

/* `  [each ]KIND NAME=TOKEN ...`: single spaces only. */
static bool read_record(struct reader *r)
{
	char *word = r->now + 2, *space;
	const char *bad;
	bool each;

	if (!r->step)
		return fail(r, "a record before the first step");
	each = !strncmp(word, "each ", 5);
	word += each ? 5 : 0;
	space = strchr(word, ' ');
	if (space)
		*space = '\0';
	r->record = tt_record_add(r->step, word);
	r->record->line = r->line;
	r->record->each = each;
	while (space) {
		word = space + 1;
		space = strchr(word, ' ');
		if (space)
			*space = '\0';
		if (!read_field(r, word))
			return false;
	}
	bad = check_record(r->record, r->trace->golden);
	if (!bad)
		bad = check_each(r->step, r->record, r->trace->golden);
	return !bad || fail(r, "%s", bad);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte: two hex digits or `..`. */
static bool read_byte(const char *s, uint8_t *byte, uint8_t *mask)
{
	int high = hex_digit(s[0]), low = s[0] ? hex_digit(s[1]) : -1;

	*byte = 0;
	*mask = 0;
	if (s[0] == '.' && s[1] == '.')
		return true;
	if (high < 0 || low < 0)
		return false;
	*byte = (uint8_t)(high << 4 | low);
	*mask = 0xff;
	return true;
}

/* `  | ` and up to 8 groups of 4 bytes; only the last line may hold fewer, only
 * the last group of it may be short. */
static bool read_raw(struct reader *r)
{
	struct tt_record *record = r->record;
	uint8_t bytes[LINE_BYTES], mask[LINE_BYTES];
	const char *s = r->now + 4;
	size_t n = 0;

	if (!record)
		return fail(r, "raw bytes without a record");
	if (record->nraw % LINE_BYTES)
		return fail(r, "raw bytes after a short line of raw bytes");
	while (n < LINE_BYTES && read_byte(s, &bytes[n], &mask[n])) {
		s += 2;
		n++;
		if (n % GROUP_BYTES == 0 && n < LINE_BYTES && *s == ' ' && s[1])
			s++;
		else if (n % GROUP_BYTES == 0)
			break;
	}
	if (*s || !n)
		return fail(r, "malformed raw bytes at column %zu",
			    (size_t)(s - r->now) + 1);
	record->raw = xrealloc(record->raw, record->nraw + n);
	record->mask = xrealloc(record->mask, record->nraw + n);
	memcpy(record->raw + record->nraw, bytes, n);
	memcpy(record->mask + record->nraw, mask, n);
	record->nraw += n;
	return true;
}

static bool read_body(struct reader *r)
{
	while (next_line(r)) {
		bool ok;

		if (!strcmp(r->now, "end"))
			return true;
		if (!strncmp(r->now, "step ", 5))
			ok = read_step(r);
		else if (!strncmp(r->now, "  | ", 4))
			ok = read_raw(r);
		else if (!strncmp(r->now, "  ", 2))
			ok = read_record(r);
		else
			ok = fail(r, "neither step, record, raw bytes nor `end`");
		if (!ok)
			return false;
	}
	return false;
}

struct tt_trace *tt_parse(const char *name, const char *text, size_t n, char *err,
			  size_t errsize)
{
	struct reader r = {.name = name,
			   .text = text,
			   .end = text + n,
			   .err = err,
			   .errsize = errsize};
	bool ok;

	r.trace = tt_new("");
	ok = read_magic(&r) && read_headers(&r) && read_body(&r);
	if (ok && r.text != r.end) {
		r.line++;
		ok = fail(&r, "text after `end`");
	}
	free(r.now);
	if (ok)
		return r.trace;
	tt_free(r.trace);
	return NULL;
}

struct tt_trace *tt_read(const char *path, char *err, size_t errsize)
{
	FILE *in = fopen(path, "rb");
	struct tt_trace *trace = NULL;
	size_t n = 0, got, room = 1 << 16;
	char *text;

	if (!in) {
		snprintf(err, errsize, "%s:0: cannot read: %s", path, strerror(errno));
		return NULL;
	}
	text = xrealloc(NULL, room);
	while ((got = fread(text + n, 1, room - n, in)) > 0) {
		n += got;
		if (n == room)
			text = xrealloc(text, room *= 2);
	}
	if (ferror(in))
		snprintf(err, errsize, "%s:0: cannot read: %s", path, strerror(errno));
	else
		trace = tt_parse(path, text, n, err, errsize);
	free(text);
	fclose(in);
	return trace;
}
