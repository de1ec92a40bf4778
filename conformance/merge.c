/* SPDX-License-Identifier: MIT */
#include "conformance/merge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/diff.h"

/* One observation of a field: where it stood in which boot. */
struct site {
	const struct tt_step *step;
	size_t record; /* index in the step; nrecords for a result */
	const struct tt_field *field;
};

struct merger {
	struct tt_trace *const *traces;
	size_t n;
	struct tt_trace *golden;
	char *err;
	size_t errsize;
	/* where we are */
	const struct tt_step *step;
	size_t record;	  /* from 1; 0: at the step itself */
	const char *each; /* kind of the template being merged */
};

__attribute__((format(printf, 3, 4))) static int refuse(char *err, size_t errsize,
							const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (errsize)
		vsnprintf(err, errsize, fmt, ap);
	va_end(ap);
	return -1;
}

__attribute__((format(printf, 2, 3))) static bool fail(struct merger *m, const char *fmt,
						       ...)
{
	char what[512], at[64] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (m->each)
		snprintf(at, sizeof(at), "each %s: ", m->each);
	else if (m->record)
		snprintf(at, sizeof(at), "record %zu: ", m->record);
	if (m->step)
		refuse(m->err, m->errsize, "scenario %s: step %u \"%s\": %s%s",
		       m->golden->scenario, m->step->number, m->step->words, at, what);
	else
		refuse(m->err, m->errsize, "scenario %s: %s", m->golden->scenario, what);
	return false;
}

static void *array(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

/* ---- one field over all its sites ---- */

/* The first few values that were seen, each once. */
static void list_tokens(const struct site *sites, size_t n, char *text, size_t size)
{
	size_t used = 0, told = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		size_t j = 0;

		while (j < i && strcmp(sites[j].field->token, sites[i].field->token))
			j++;
		if (j < i)
			continue;
		if (told++ == 4) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 used ? ", " : "", sites[i].field->token);
	}
}

static bool merge_exact(struct merger *m, const struct site *sites, size_t n,
			struct tt_field *out)
{
	char seen[256];

	(void)out;
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(sites[0].field->token, sites[i].field->token))
			continue;
		list_tokens(sites, n, seen, sizeof(seen));
		return fail(m, "field %s is exact by schema but moved between %s: %s",
			    sites[0].field->name, m->each ? "records" : "boots", seen);
	}
	return true;
}

static const struct tt_field *previous(const struct site *site)
{
	const struct tt_field *field = NULL;

	for (size_t i = site->record; i-- > 0 && !field;)
		field = tt_field_get(&site->step->records[i], site->field->name);
	return field;
}

static bool number(struct merger *m, const struct tt_field *field, uint64_t *value)
{
	return tt_number(field->token, value) ||
	       fail(m, "field %s: %s is no number", field->name, field->token);
}

static void set_token(struct tt_field *out, const char *text)
{
	free(out->token);
	out->token = strdup(text);
	if (!out->token)
		abort();
}

static bool merge_ordered(struct merger *m, const struct site *sites, size_t n,
			  struct tt_field *out)
{
	bool equal = false;

	for (size_t i = 0; i < n; i++) {
		const struct tt_field *before = previous(&sites[i]);
		uint64_t value, last;

		if (!number(m, sites[i].field, &value))
			return false;
		if (!before)
			continue;
		if (!number(m, before, &last))
			return false;
		if (value < last)
			return fail(m,
				    "field %s is ordered by schema but fell: %s after %s",
				    out->name, sites[i].field->token, before->token);
		equal |= value == last;
	}
	set_token(out, equal ? ">=prev" : ">prev");
	return true;
}

static uint64_t widen_up(uint64_t max, uint64_t limit)
{
	uint64_t wide = max ? max : 1;

	if (wide > limit / MERGE_WIDEN)
		return limit;
	return wide * MERGE_WIDEN;
}

static bool merge_bounded(struct merger *m, const struct site *sites, size_t n,
			  struct tt_field *out)
{
	uint64_t lo = sites[0].field->lo, hi = sites[0].field->hi;
	uint64_t min = UINT64_MAX, max = 0, value;
	bool hex = !strncmp(sites[0].field->token, "0x", 2);
	char text[64];

	for (size_t i = 0; i < n; i++) {
		if (!number(m, sites[i].field, &value))
			return false;
		if (value < lo || value > hi)
			return fail(m,
				    "field %s: %s is outside of the declared %" PRIu64
				    "..%" PRIu64,
				    out->name, sites[i].field->token, lo, hi);
		min = value < min ? value : min;
		max = value > max ? value : max;
	}
	out->lo = min / MERGE_WIDEN > lo ? min / MERGE_WIDEN : lo;
	out->hi = widen_up(max, hi);
	snprintf(text, sizeof(text),
		 hex ? "0x%" PRIx64 "..0x%" PRIx64 : "%" PRIu64 "..%" PRIu64, out->lo,
		 out->hi);
	set_token(out, text);
	return true;
}

static bool merge_at_most(struct merger *m, const struct site *sites, size_t n,
			  struct tt_field *out)
{
	const char *bound = sites[0].field->bound;
	char text[128];

	for (size_t i = 0; i < n; i++) {
		const struct tt_field *limit = NULL;
		uint64_t value, most;

		if (bound && sites[i].record < sites[i].step->nrecords)
			limit = tt_field_get(&sites[i].step->records[sites[i].record],
					     bound);
		if (!limit)
			return fail(m,
				    "field %s: its record has no field %s to be at most",
				    out->name, bound ? bound : "(none)");
		if (!number(m, sites[i].field, &value) || !number(m, limit, &most))
			return false;
		if (value > most)
			return fail(
				m, "field %s is at most %s by schema but %s is above %s",
				out->name, bound, sites[i].field->token, limit->token);
	}
	free(out->bound);
	out->bound = strdup(bound);
	if (!out->bound)
		abort();
	snprintf(text, sizeof(text), "<=%s", bound);
	set_token(out, text);
	return true;
}

/* @out has its name and the first boot's token already. */
static bool merge_field(struct merger *m, const struct site *sites, size_t n,
			struct tt_field *out)
{
	enum tt_class class = sites[0].field->class;

	for (size_t i = 1; i < n; i++)
		if (sites[i].field->class != class)
			return fail(m, "field %s has two classes in its schema",
				    out->name);
	out->class = class;
	switch (class) {
	case TT_EXACT:
		return merge_exact(m, sites, n, out);
	case TT_ORDERED:
		return merge_ordered(m, sites, n, out);
	case TT_BOUNDED:
		return merge_bounded(m, sites, n, out);
	case TT_AT_MOST:
		return merge_at_most(m, sites, n, out);
	case TT_ANY:
		set_token(out, "*");
		return true;
	}
	return false;
}

/* ---- one record over all its sites ---- */

static const struct tt_record *record_at(const struct site *site)
{
	return &site->step->records[site->record];
}

static bool merge_raw(struct merger *m, const struct site *sites, size_t n,
		      struct tt_record *out)
{
	const struct tt_record *first = record_at(&sites[0]);
	bool ok = true;

	tt_raw_set(out, first->raw, first->mask, first->nraw);
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < out->nraw; j++)
			out->mask[j] &= record_at(&sites[i])->mask[j];
	for (size_t i = 1; ok && i < n; i++) {
		const struct tt_record *other = record_at(&sites[i]);

		for (size_t j = 0; ok && j < out->nraw; j++)
			if (out->mask[j] && other->raw[j] != out->raw[j])
				ok = fail(
					m,
					"raw byte %zu is compared but moved: %02x, %02x",
					j, out->raw[j], other->raw[j]);
	}
	for (size_t j = 0; j < out->nraw; j++)
		out->raw[j] &= out->mask[j];
	return ok;
}

/* Records of one shape at @n sites become one record of the golden. */
static bool merge_record(struct merger *m, struct tt_step *golden, struct site *sites,
			 size_t n)
{
	const struct tt_record *first = record_at(&sites[0]);
	struct tt_record *out = tt_record_add(golden, first->kind);
	struct tt_field *field;

	out->each = m->each;
	for (size_t i = 0; i < first->nfields; i++) {
		for (size_t j = 0; j < n; j++)
			sites[j].field = &record_at(&sites[j])->fields[i];
		field = tt_field_add(out, first->fields[i].name, TT_EXACT, "%s",
				     first->fields[i].token);
		if (!merge_field(m, sites, n, field))
			return false;
	}
	return merge_raw(m, sites, n, out);
}

/* False, with what is not the same, when two boots have other records here. */
static bool explain_shape(struct merger *m, const struct tt_record *a,
			  const struct tt_record *b)
{
	if (strcmp(a->kind, b->kind))
		return fail(m, "%s in one boot, %s in another", a->kind, b->kind);
	if (a->nfields != b->nfields)
		return fail(m, "%zu fields in one boot, %zu in another", a->nfields,
			    b->nfields);
	for (size_t i = 0; i < a->nfields; i++)
		if (strcmp(a->fields[i].name, b->fields[i].name))
			return fail(m, "field %s in one boot, %s in another",
				    a->fields[i].name, b->fields[i].name);
	if (a->nraw != b->nraw)
		return fail(m, "%zu raw bytes in one boot, %zu in another", a->nraw,
			    b->nraw);
	return true;
}

/* ---- steps ---- */

static bool merge_records(struct merger *m, struct tt_step *golden, struct site *sites)
{
	const struct tt_step *first = m->step;

	for (size_t i = 1; i < m->n; i++)
		if (sites[i].step->nrecords != first->nrecords)
			return fail(m, "%zu records in boot 1, %zu in boot %zu",
				    first->nrecords, sites[i].step->nrecords, i + 1);
	for (size_t r = 0; r < first->nrecords; r++) {
		m->record = r + 1;
		for (size_t i = 0; i < m->n; i++)
			sites[i].record = r;
		for (size_t i = 1; i < m->n; i++)
			if (!explain_shape(m, record_at(&sites[0]), record_at(&sites[i])))
				return false;
		if (!merge_record(m, golden, sites, m->n))
			return false;
	}
	m->record = 0;
	return true;
}

/* All records of this shape, of all boots; each boot must have one. */
static bool gather(struct merger *m, const struct site *boots,
		   const struct tt_record *shape, struct site *sites, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct tt_step *step = boots[i].step;
		size_t before = *n;

		for (size_t r = 0; r < step->nrecords; r++)
			if (tt_same_shape(&step->records[r], shape))
				sites[(*n)++] = (struct site){.step = step, .record = r};
		if (*n == before)
			return fail(m,
				    "boot %zu has no such record of this size and fields",
				    i + 1);
	}
	return true;
}

/* A template for each shape, in the order of its first appearance. */
static bool merge_templates(struct merger *m, struct tt_step *golden,
			    const struct site *boots)
{
	size_t total = 0, n;
	struct site *sites;
	bool ok = true;

	for (size_t i = 0; i < m->n; i++) {
		const struct tt_step *step = boots[i].step;
		uint64_t result;

		if (!number(m, &step->result, &result))
			return false;
		if (result != step->nrecords)
			return fail(m, "result %s but %zu records in boot %zu",
				    step->result.token, step->nrecords, i + 1);
		total += step->nrecords;
	}
	sites = array(total, sizeof(*sites));
	for (size_t i = 0; ok && i < m->n; i++) {
		for (size_t r = 0; ok && r < boots[i].step->nrecords; r++) {
			const struct tt_record *shape = &boots[i].step->records[r];
			size_t t = 0;

			while (t < golden->nrecords &&
			       !tt_same_shape(&golden->records[t], shape))
				t++;
			if (t < golden->nrecords)
				continue;
			m->each = shape->kind;
			ok = gather(m, boots, shape, sites, &n) &&
			     merge_record(m, golden, sites, n);
			m->each = NULL;
		}
	}
	free(sites);
	return ok;
}

static bool any_records(const struct merger *m, const struct site *boots)
{
	for (size_t i = 0; i < m->n; i++)
		if (boots[i].step->nrecords)
			return true;
	return false;
}

static bool merge_step(struct merger *m, size_t index, struct site *sites)
{
	const struct tt_step *first = &m->traces[0]->steps[index];
	struct tt_step *golden;

	m->step = first;
	for (size_t i = 0; i < m->n; i++) {
		const struct tt_step *step = &m->traces[i]->steps[index];

		if (step->number != first->number || strcmp(step->words, first->words))
			return fail(m, "boot %zu has step %u \"%s\" there", i + 1,
				    step->number, step->words);
		sites[i].step = step;
		sites[i].record = step->nrecords;
		sites[i].field = &step->result;
	}
	golden = tt_step_add(m->golden, first->number, first->words);
	tt_result_set(golden, TT_EXACT, "%s", first->result.token);
	if (!merge_field(m, sites, m->n, &golden->result))
		return false;
	if (golden->result.class == TT_ORDERED || golden->result.class == TT_AT_MOST)
		return fail(m, "a result is neither ordered nor at most another field");
	if (golden->result.class == TT_BOUNDED && any_records(m, sites))
		return merge_templates(m, golden, sites);
	return merge_records(m, golden, sites);
}

static bool merge_steps(struct merger *m)
{
	struct site *sites = array(m->n, sizeof(*sites));
	bool ok = true;

	for (size_t i = 1; ok && i < m->n; i++)
		if (m->traces[i]->nsteps != m->traces[0]->nsteps)
			ok = fail(m, "%zu steps in boot 1, %zu in boot %zu",
				  m->traces[0]->nsteps, m->traces[i]->nsteps, i + 1);
	for (size_t s = 0; ok && s < m->traces[0]->nsteps; s++)
		ok = merge_step(m, s, sites);
	free(sites);
	m->step = NULL;
	return ok;
}

/* ---- headers ---- */

static bool merge_headers(struct merger *m)
{
	const struct tt_trace *first = m->traces[0];

	for (size_t h = 0; h < first->nheaders; h++) {
		const char *key = first->headers[h].key, *value = first->headers[h].value;
		bool same = true;

		for (size_t i = 1; i < m->n; i++) {
			const char *other = tt_header_get(m->traces[i], key);

			same &= other && !strcmp(other, value);
		}
		if (same)
			tt_header_set(m->golden, key, value);
	}
	for (size_t i = 0; i < m->n; i++)
		if (tt_header_get(m->traces[i], "kernel") &&
		    !tt_header_get(m->golden, "kernel"))
			return fail(m, "the boots are not of one kernel");
	return true;
}

static void add_counts(struct merger *m)
{
	struct diff_counts counts;
	char text[128];

	snprintf(text, sizeof(text), "%zu", m->n);
	tt_header_set(m->golden, "boots", text);
	diff_count(m->golden, &counts);
	diff_fields_header(&counts, text, sizeof(text));
	tt_header_set(m->golden, "fields", text);
	diff_raw_header(&counts, text, sizeof(text));
	tt_header_set(m->golden, "raw", text);
}

static bool merge_all(struct merger *m)
{
	if (m->n < MERGE_MIN_BOOTS)
		return fail(m, "%zu boots, a golden takes at least %d", m->n,
			    MERGE_MIN_BOOTS);
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->traces[i]->scenario, m->golden->scenario))
			return fail(m, "boot %zu ran scenario %s", i + 1,
				    m->traces[i]->scenario);
		if (m->traces[i]->golden)
			return fail(m, "boot %zu is a golden, not a trace", i + 1);
	}
	return merge_headers(m) && merge_steps(m);
}

struct tt_trace *merge_boots(struct tt_trace *const traces[], size_t n, char *err,
			     size_t errsize)
{
	struct merger m = {.traces = traces, .n = n, .err = err, .errsize = errsize};

	m.golden = tt_new(n ? traces[0]->scenario : "(none)");
	m.golden->golden = true;
	if (!merge_all(&m)) {
		tt_free(m.golden);
		return NULL;
	}
	add_counts(&m);
	return m.golden;
}

/* ---- the recorder's refusals ---- */

int merge_refuse_throttle(const struct tt_trace *trace, char *err, size_t errsize)
{
	for (size_t s = 0; s < trace->nsteps; s++) {
		const struct tt_step *step = &trace->steps[s];

		for (size_t r = 0; r < step->nrecords; r++) {
			const char *kind = step->records[r].kind;

			if (!strcmp(kind, "throttle") || !strcmp(kind, "unthrottle"))
				return refuse(
					err, errsize,
					"scenario %s: step %u \"%s\": record %zu is %s, "
					"which the scenario does not ask for",
					trace->scenario, step->number, step->words, r + 1,
					kind);
		}
	}
	return 0;
}

static const char *owner_of(const struct tt_record *record, const char *drained)
{
	const struct tt_field *id = tt_field_get(record, "id");

	if (!id)
		id = tt_field_get(record, "identifier");
	return id ? id->token : drained;
}

int merge_refuse_samples(const struct tt_trace *trace,
			 const struct merge_account *account, char *err, size_t errsize)
{
	uint64_t want = account->count / account->period, samples = 0, lost = 0, n;

	for (size_t s = 0; s < trace->nsteps; s++) {
		const struct tt_step *step = &trace->steps[s];

		if (strncmp(step->words, "records ", 8))
			continue;
		for (size_t r = 0; r < step->nrecords; r++) {
			const struct tt_record *record = &step->records[r];
			const struct tt_field *field = tt_field_get(record, "lost");

			if (strcmp(owner_of(record, step->words + 8), account->event))
				continue;
			if (!strcmp(record->kind, "sample"))
				samples++;
			else if (!strcmp(record->kind, "lost") && field &&
				 tt_number(field->token, &n))
				lost += n;
		}
	}
	if (samples + lost == want || (account->pending && samples + lost < want))
		return 0;
	return refuse(err, errsize,
		      "scenario %s: event %s: %" PRIu64 " samples and %" PRIu64
		      " lost do not account for %" PRIu64 " = %" PRIu64 " / %" PRIu64,
		      trace->scenario, account->event, samples, lost, want,
		      account->count, account->period);
}

int merge_refuse_count(const struct tt_trace *trace, unsigned step, size_t record,
		       uint64_t predicted, char *err, size_t errsize)
{
	const struct tt_field *value = NULL;
	uint64_t n;

	for (size_t s = 0; s < trace->nsteps; s++)
		if (trace->steps[s].number == step && record &&
		    record <= trace->steps[s].nrecords)
			value = tt_field_get(&trace->steps[s].records[record - 1],
					     "value");
	if (!value)
		return refuse(err, errsize,
			      "scenario %s: step %u record %zu has no value",
			      trace->scenario, step, record);
	if (tt_number(value->token, &n) && n == predicted)
		return 0;
	return refuse(err, errsize,
		      "scenario %s: step %u record %zu counts %s, the work is %" PRIu64,
		      trace->scenario, step, record, value->token, predicted);
}

int merge_refuse_canary(const char *name, const uint64_t values[], size_t n, char *err,
			size_t errsize)
{
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[0])
			return 0;
	if (!n)
		return refuse(err, errsize, "canary %s: no boot has it", name);
	return refuse(err, errsize,
		      "canary %s stood still at %" PRIu64
		      " in %zu boots: there was no noise",
		      name, values[0], n);
}
