/* SPDX-License-Identifier: MIT */
#include "conformance/diff.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Above this many pairs records are compared by index: 512 by 512 records. */
#define ALIGN_PAIRS (1u << 18)

struct differ {
	const struct tt_trace *golden, *run;
	const char *golden_name, *run_name;
	unsigned lines_per_step;
	bool schema;
	FILE *out; /* NULL: count only */
	size_t differing;
	/* where we are */
	const struct tt_step *step; /* NULL: in the headers */
	size_t lines;		    /* differences of this step so far */
	size_t record;		    /* from 1; 0: at the step itself */
	const char *kind;
};

static void report(struct differ *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void report(struct differ *d, const char *fmt, ...)
{
	va_list ap;

	d->differing++;
	if (d->step && ++d->lines > d->lines_per_step)
		return;
	if (!d->out)
		return;
	fprintf(d->out, "%s: ", d->golden->scenario);
	if (d->step)
		fprintf(d->out, "step %u \"%s\": ", d->step->number, d->step->words);
	if (d->step && d->record)
		fprintf(d->out, "record %zu %s: ", d->record, d->kind);
	va_start(ap, fmt);
	vfprintf(d->out, fmt, ap);
	va_end(ap);
	fputc('\n', d->out);
}

static void step_begin(struct differ *d, const struct tt_step *step)
{
	d->step = step;
	d->lines = 0;
	d->record = 0;
}

static void step_end(struct differ *d)
{
	if (d->out && d->lines > d->lines_per_step)
		fprintf(d->out, "%s: step %u \"%s\": ... and %zu more\n",
			d->golden->scenario, d->step->number, d->step->words,
			d->lines - d->lines_per_step);
	d->step = NULL;
}

/* " (line N)", or nothing for a trace that was never in a file. */
struct where {
	char text[24];
};

static struct where line_of(unsigned line)
{
	struct where where = {""};

	if (line)
		snprintf(where.text, sizeof(where.text), " (line %u)", line);
	return where;
}

static void differ_tokens(struct differ *d, const char *what, const char *golden,
			  unsigned line, const char *run)
{
	report(d, "%s: %s %s%s, %s %s", what, d->golden_name, golden, line_of(line).text,
	       d->run_name, run);
}

/* ---- fields ---- */

static const char *const class_names[] = {
	[TT_EXACT] = "exact",	  [TT_ORDERED] = "ordered", [TT_BOUNDED] = "bounded",
	[TT_AT_MOST] = "at most", [TT_ANY] = "any",
};

/* A plain trace's classes say what its schema would allow; its text is exact. */
static enum tt_class class_of(const struct differ *d, const struct tt_field *field)
{
	return d->golden->golden ? field->class : TT_EXACT;
}

/* The field of the same name of the nearest earlier record that has it. */
static const struct tt_field *previous(const struct tt_step *step, size_t record,
				       const char *name)
{
	const struct tt_field *field = NULL;

	while (record-- > 0 && !field)
		field = tt_field_get(&step->records[record], name);
	return field;
}

static bool ordered(const struct tt_field *golden, const struct tt_field *run,
		    const struct tt_step *step, size_t record)
{
	const struct tt_field *before = previous(step, record, run->name);
	uint64_t value, last;

	if (!tt_number(run->token, &value))
		return false;
	if (!before)
		return true;
	if (!tt_number(before->token, &last))
		return false;
	return value > last || (value == last && !strcmp(golden->token, ">=prev"));
}

/* The field that `<=NAME` names; a result has no record and so none. */
static const struct tt_field *limit_of(const struct tt_field *golden,
				       const struct tt_step *step, size_t record)
{
	if (record >= step->nrecords)
		return NULL;
	return tt_field_get(&step->records[record], golden->bound);
}

static bool at_most(const struct tt_field *golden, const struct tt_field *run,
		    const struct tt_step *step, size_t record)
{
	const struct tt_field *bound = limit_of(golden, step, record);
	uint64_t value, limit;

	return bound && tt_number(run->token, &value) &&
	       tt_number(bound->token, &limit) && value <= limit;
}

static bool bounded(const struct tt_field *golden, const struct tt_field *run)
{
	uint64_t value;

	return tt_number(run->token, &value) && value >= golden->lo &&
	       value <= golden->hi;
}

static bool field_matches(const struct differ *d, const struct tt_field *golden,
			  const struct tt_field *run, const struct tt_step *step,
			  size_t record)
{
	switch (class_of(d, golden)) {
	case TT_EXACT:
		return !strcmp(golden->token, run->token);
	case TT_ORDERED:
		return ordered(golden, run, step, record);
	case TT_BOUNDED:
		return bounded(golden, run);
	case TT_AT_MOST:
		return at_most(golden, run, step, record);
	case TT_ANY:
		return true;
	}
	return false;
}

static void differ_field(struct differ *d, const struct tt_field *golden, unsigned line,
			 const struct tt_field *run, const struct tt_step *step,
			 size_t record)
{
	const struct tt_field *other = NULL;
	const char *relation = "";

	if (class_of(d, golden) == TT_ORDERED) {
		other = previous(step, record, run->name);
		relation = "after";
	} else if (class_of(d, golden) == TT_AT_MOST) {
		other = limit_of(golden, step, record);
		relation = golden->bound;
	}
	if (other)
		report(d, "%s: %s %s%s, %s %s (%s %s)", golden->name, d->golden_name,
		       golden->token, line_of(line).text, d->run_name, run->token,
		       relation, other->token);
	else
		differ_tokens(d, golden->name, golden->token, line, run->token);
}

/* Differences between two fields of one name; printed when @say. */
static size_t compare_field(struct differ *d, const struct tt_field *golden,
			    unsigned line, const struct tt_field *run,
			    const struct tt_step *step, size_t record, bool say)
{
	size_t n = 0;

	if (!field_matches(d, golden, run, step, record)) {
		n++;
		if (say)
			differ_field(d, golden, line, run, step, record);
	}
	if (d->schema && d->golden->golden && golden->class != run->class) {
		n++;
		if (say)
			report(d, "%s: %s %s%s is %s, the schema says %s", golden->name,
			       d->golden_name, golden->token, line_of(line).text,
			       class_names[golden->class], class_names[run->class]);
	}
	return n;
}

static size_t compare_fields(struct differ *d, const struct tt_record *golden,
			     const struct tt_step *step, size_t index, bool say)
{
	const struct tt_record *run = &step->records[index];
	size_t n = 0;

	for (size_t i = 0; i < golden->nfields; i++) {
		const struct tt_field *field = &golden->fields[i];
		const struct tt_field *other = tt_field_get(run, field->name);

		if (other) {
			n += compare_field(d, field, golden->line, other, step, index,
					   say);
			continue;
		}
		n++;
		if (say)
			differ_tokens(d, field->name, field->token, golden->line,
				      "has no such field");
	}
	for (size_t i = 0; i < run->nfields; i++) {
		if (tt_field_get(golden, run->fields[i].name))
			continue;
		n++;
		if (say)
			differ_tokens(d, run->fields[i].name, "has no such field",
				      golden->line, run->fields[i].token);
	}
	for (size_t i = 0; !n && i < golden->nfields; i++) {
		if (!strcmp(golden->fields[i].name, run->fields[i].name))
			continue;
		n++;
		if (say)
			report(d, "field %zu: %s %s%s, %s %s: another order", i + 1,
			       d->golden_name, golden->fields[i].name,
			       line_of(golden->line).text, d->run_name,
			       run->fields[i].name);
	}
	return n;
}

/* ---- raw bytes ---- */

static bool byte_differs(const struct tt_record *golden, const struct tt_record *run,
			 size_t i)
{
	return golden->mask[i] && (!run->mask[i] || golden->raw[i] != run->raw[i]);
}

static void byte_text(char *to, const struct tt_record *record, size_t i)
{
	if (record->mask[i])
		snprintf(to, 3, "%02x", record->raw[i]);
	else
		memcpy(to, "..", 3);
}

/* Neighbouring differing bytes of one line of text are one difference. */
static size_t compare_raw(struct differ *d, const struct tt_record *golden,
			  const struct tt_record *run, bool say)
{
	size_t n = 0, i, first;

	if (golden->nraw != run->nraw) {
		if (say)
			report(d, "raw: %s %zu bytes%s, %s %zu bytes", d->golden_name,
			       golden->nraw, line_of(golden->line).text, d->run_name,
			       run->nraw);
		return 1;
	}
	for (i = 0; i < golden->nraw; i++) {
		char want[2 * TT_RAW_LINE_BYTES + 1], got[2 * TT_RAW_LINE_BYTES + 1];
		unsigned line = golden->line;

		if (!byte_differs(golden, run, i))
			continue;
		n++;
		for (first = i; i < golden->nraw && byte_differs(golden, run, i) &&
				i / TT_RAW_LINE_BYTES == first / TT_RAW_LINE_BYTES;
		     i++) {
			byte_text(want + 2 * (i - first), golden, i);
			byte_text(got + 2 * (i - first), run, i);
		}
		i--;
		if (line)
			line += 1 + (unsigned)(first / TT_RAW_LINE_BYTES);
		if (say && i == first)
			report(d, "raw byte %zu: %s %s%s, %s %s", first, d->golden_name,
			       want, line_of(line).text, d->run_name, got);
		else if (say)
			report(d, "raw bytes %zu to %zu: %s %s%s, %s %s", first, i,
			       d->golden_name, want, line_of(line).text, d->run_name,
			       got);
	}
	return n;
}

/* ---- records ---- */

static size_t compare_record(struct differ *d, const struct tt_record *golden,
			     const struct tt_step *step, size_t index, bool say)
{
	const struct tt_record *run = &step->records[index];

	d->record = index + 1;
	d->kind = run->kind;
	if (strcmp(golden->kind, run->kind)) {
		if (say)
			differ_tokens(d, "kind", golden->kind, golden->line, run->kind);
		return 1;
	}
	return compare_fields(d, golden, step, index, say) +
	       compare_raw(d, golden, run, say);
}

/* A record's fields as text, for one that stands alone. */
static char *fields_text(const struct tt_record *record)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; i < record->nfields; i++)
		fprintf(out, " %s=%s", record->fields[i].name, record->fields[i].token);
	fclose(out);
	return text;
}

static void report_alone(struct differ *d, const struct tt_record *record, size_t index,
			 bool missing)
{
	char *text = fields_text(record);

	d->record = index + 1;
	d->kind = record->kind;
	if (missing)
		report(d, "missing: %s has%s%s, %s has no such record", d->golden_name,
		       *text ? text : " it", line_of(record->line).text, d->run_name);
	else
		report(d, "extra: %s has no such record, %s has%s", d->golden_name,
		       d->run_name, *text ? text : " it");
	free(text);
}

/* Records [g, g+ng) of the golden stand where [r, r+nr) of the run do: pair by
 * pair they differ, what is left over is missing or extra. */
static void report_gap(struct differ *d, const struct tt_step *golden, size_t g,
		       size_t ng, const struct tt_step *run, size_t r, size_t nr)
{
	size_t both = ng < nr ? ng : nr;

	for (size_t i = 0; i < both; i++)
		compare_record(d, &golden->records[g + i], run, r + i, true);
	for (size_t i = both; i < ng; i++)
		report_alone(d, &golden->records[g + i], g + i, true);
	for (size_t i = both; i < nr; i++)
		report_alone(d, &run->records[r + i], r + i, false);
}

/* Longest common subsequence of [g, g+ng) and [r, r+nr): len[i][j] is its length
 * from (i, j) on, same[i][j] whether the two match. */
static void align(struct differ *d, const struct tt_step *golden, size_t g, size_t ng,
		  const struct tt_step *run, size_t r, size_t nr)
{
	size_t width = nr + 1, i, j, gap_g = 0, gap_r = 0;
	unsigned *len = calloc((ng + 1) * width, sizeof(*len));
	bool *same = calloc((ng + 1) * width, sizeof(*same));

	if (!len || !same)
		abort();
	for (i = ng; i-- > 0;) {
		for (j = nr; j-- > 0;) {
			unsigned *cell = &len[i * width + j];
			unsigned down = cell[width], right = cell[1];

			same[i * width + j] = !compare_record(d, &golden->records[g + i],
							      run, r + j, false);
			if (same[i * width + j])
				*cell = cell[width + 1] + 1;
			else
				*cell = down > right ? down : right;
		}
	}
	for (i = 0, j = 0; i < ng && j < nr;) {
		const unsigned *cell = &len[i * width + j];

		if (same[i * width + j]) {
			report_gap(d, golden, g + gap_g, i - gap_g, run, r + gap_r,
				   j - gap_r);
			gap_g = ++i;
			gap_r = ++j;
		} else if (cell[width] >= cell[1]) {
			i++;
		} else {
			j++;
		}
	}
	report_gap(d, golden, g + gap_g, ng - gap_g, run, r + gap_r, nr - gap_r);
	free(len);
	free(same);
}

static void diff_records(struct differ *d, const struct tt_step *golden,
			 const struct tt_step *run)
{
	size_t ng = golden->nrecords, nr = run->nrecords, head = 0;

	while (head < ng && head < nr &&
	       !compare_record(d, &golden->records[head], run, head, false))
		head++;
	while (ng > head && nr > head &&
	       !compare_record(d, &golden->records[ng - 1], run, nr - 1, false)) {
		ng--;
		nr--;
	}
	ng -= head;
	nr -= head;
	if (ng && nr && ng <= ALIGN_PAIRS / nr)
		align(d, golden, head, ng, run, head, nr);
	else
		report_gap(d, golden, head, ng, run, head, nr);
}

/* ---- templates ---- */

/* The template of a record's shape, else of its kind, else NULL. */
static const struct tt_record *template_of(const struct tt_step *golden,
					   const struct tt_record *record)
{
	const struct tt_record *kind = NULL;

	for (size_t i = 0; i < golden->nrecords; i++) {
		if (tt_same_shape(&golden->records[i], record))
			return &golden->records[i];
		if (!kind && !strcmp(golden->records[i].kind, record->kind))
			kind = &golden->records[i];
	}
	return kind;
}

static void diff_templates(struct differ *d, const struct tt_step *golden,
			   const struct tt_step *run)
{
	const struct tt_field *result = &golden->result;

	if (run->nrecords < result->lo || run->nrecords > result->hi)
		report(d, "records: %s %s%s, %s %zu", d->golden_name, result->token,
		       line_of(golden->line).text, d->run_name, run->nrecords);
	for (size_t i = 0; i < golden->nrecords; i++) {
		size_t j = 0;

		while (j < run->nrecords &&
		       template_of(golden, &run->records[j]) != &golden->records[i])
			j++;
		if (j == run->nrecords)
			report(d, "each %s: %s has it%s, %s has no such record",
			       golden->records[i].kind, d->golden_name,
			       line_of(golden->records[i].line).text, d->run_name);
	}
	for (size_t j = 0; j < run->nrecords; j++) {
		const struct tt_record *template = template_of(golden, &run->records[j]);

		if (template)
			compare_record(d, template, run, j, true);
		else
			report_alone(d, &run->records[j], j, false);
	}
}

/* ---- steps ---- */

static void diff_step(struct differ *d, const struct tt_step *golden,
		      const struct tt_step *run)
{
	step_begin(d, golden);
	if (strcmp(golden->words, run->words))
		report(d, "words: %s \"%s\"%s, %s \"%s\"", d->golden_name, golden->words,
		       line_of(golden->line).text, d->run_name, run->words);
	compare_field(d, &golden->result, golden->line, &run->result, run, 0, true);
	if (class_of(d, &golden->result) == TT_BOUNDED && golden->nrecords)
		diff_templates(d, golden, run);
	else
		diff_records(d, golden, run);
	step_end(d);
}

static void diff_step_alone(struct differ *d, const struct tt_step *step, bool missing)
{
	step_begin(d, step);
	if (missing)
		report(d, "missing: %s -> %s%s, %s has no such step", d->golden_name,
		       step->result.token, line_of(step->line).text, d->run_name);
	else
		report(d, "extra: %s has no such step, %s -> %s", d->golden_name,
		       d->run_name, step->result.token);
	step_end(d);
}

static void diff_steps(struct differ *d)
{
	const struct tt_trace *golden = d->golden, *run = d->run;
	size_t g = 0, r = 0;

	while (g < golden->nsteps || r < run->nsteps) {
		const struct tt_step *a = g < golden->nsteps ? &golden->steps[g] : NULL;
		const struct tt_step *b = r < run->nsteps ? &run->steps[r] : NULL;

		if (a && b && a->number == b->number) {
			diff_step(d, a, b);
			g++;
			r++;
		} else if (a && (!b || a->number < b->number)) {
			diff_step_alone(d, a, true);
			g++;
		} else {
			diff_step_alone(d, b, false);
			r++;
		}
	}
}

/* ---- counts and headers ---- */

static void count_field(struct diff_counts *counts, const struct tt_field *field,
			bool has_previous)
{
	switch (field->class) {
	case TT_EXACT:
		counts->compared++;
		break;
	case TT_ORDERED:
		if (has_previous)
			counts->compared++;
		else
			counts->wildcarded++;
		break;
	case TT_BOUNDED:
	case TT_AT_MOST:
		counts->bounded++;
		break;
	case TT_ANY:
		counts->wildcarded++;
		break;
	}
}

static void count_step(struct diff_counts *counts, const struct tt_step *step)
{
	count_field(counts, &step->result, false);
	for (size_t i = 0; i < step->nrecords; i++) {
		const struct tt_record *record = &step->records[i];

		for (size_t j = 0; j < record->nfields; j++) {
			const struct tt_field *field = &record->fields[j];

			count_field(counts, field,
				    record->each || previous(step, i, field->name));
		}
		for (size_t j = 0; j < record->nraw; j++) {
			if (record->mask[j])
				counts->raw_compared++;
			else
				counts->raw_masked++;
		}
	}
}

void diff_count(const struct tt_trace *golden, struct diff_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < golden->nsteps; i++)
		count_step(counts, &golden->steps[i]);
}

void diff_fields_header(const struct diff_counts *counts, char *text, size_t size)
{
	snprintf(text, size, "compared=%zu wildcarded=%zu bounded=%zu", counts->compared,
		 counts->wildcarded, counts->bounded);
}

void diff_raw_header(const struct diff_counts *counts, char *text, size_t size)
{
	snprintf(text, size, "compared=%zu masked=%zu", counts->raw_compared,
		 counts->raw_masked);
}

void diff_body_header(const struct tt_trace *golden, char *text, size_t size)
{
	static const char rule[] = "\n---\n";
	char *all = NULL, *body;
	size_t n = 0;
	FILE *out = open_memstream(&all, &n);
	bool bad = !out || tt_write(golden, out);

	if (out)
		bad |= fclose(out) != 0;
	body = bad ? NULL : strstr(all, rule);
	if (body)
		snprintf(text, size, "crc32=%08lx",
			 crc32(0, (const Bytef *)body, (uInt)(n - (size_t)(body - all))));
	else
		snprintf(text, size, "unknown");
	free(all);
}

static void diff_header(struct differ *d, const char *key, const char *found)
{
	const char *says = tt_header_get(d->golden, key);

	if (!says || strcmp(says, found))
		report(d, "header %s: %s says %s, the comparison finds %s", key,
		       d->golden_name, says ? says : "nothing", found);
}

static void diff_headers(struct differ *d, const struct diff_counts *counts)
{
	const char *predicted = tt_header_get(d->golden, "predicted");
	const char *run_predicted = tt_header_get(d->run, "predicted");
	char text[128];

	if (strcmp(d->golden->scenario, d->run->scenario))
		differ_tokens(d, "scenario", d->golden->scenario, 0, d->run->scenario);
	if (d->golden->golden) {
		diff_fields_header(counts, text, sizeof(text));
		diff_header(d, "fields", text);
		diff_raw_header(counts, text, sizeof(text));
		diff_header(d, "raw", text);
		diff_body_header(d->golden, text, sizeof(text));
		if (tt_header_get(d->golden, "body"))
			diff_header(d, "body", text);
	}
	if (predicted && run_predicted && strcmp(predicted, run_predicted))
		differ_tokens(d, "header predicted", predicted, 0, run_predicted);
}

int diff_trace(const struct tt_trace *golden, const struct tt_trace *run,
	       const struct diff_options *options, FILE *out, struct diff_counts *counts)
{
	struct diff_options none = {0};
	struct diff_counts found;
	struct differ d = {.golden = golden, .run = run, .out = out};

	if (!options)
		options = &none;
	d.golden_name = options->golden_name ? options->golden_name : "golden";
	d.run_name = options->run_name ? options->run_name : "run";
	d.lines_per_step =
		options->lines_per_step ? options->lines_per_step : DIFF_LINES_PER_STEP;
	d.schema = options->schema;
	diff_count(golden, &found);
	diff_headers(&d, &found);
	diff_steps(&d);
	found.differing = d.differing;
	if (counts)
		*counts = found;
	return d.differing ? 1 : 0;
}
