/* SPDX-License-Identifier: MIT */
/*
 * Value change dump (IEEE 1364-2005, 18.2). Several events of one cycle are one
 * time: what they leave behind is what is written. A dump's time only rises, but the
 * bus tells of one CPU's turn and then of another's: changes are kept and sorted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/regtext.h"
#include "tools/wave.h"

enum {
	VARS_MAX = MACHINE_CPUS * 48 + 2 * SCN_MAX_EVENTS,
	ID_FIRST = '!',
	ID_RANGE = '~' - '!' + 1,
};

struct var {
	unsigned width;
	uint64_t value, written;
};

struct change {
	uint64_t cycle, value;
	size_t order; /* as it happened */
	unsigned var;
};

struct vcd {
	FILE *out;
	struct var var[VARS_MAX];
	unsigned nvars, set; /* how many have their value of this event */
	uint64_t cycle;
	bool begun;
	struct change *changes;
	size_t nchanges, room;
};

/* One or two printable characters. */
static const char *id_of(unsigned n, char buf[3])
{
	unsigned at = 0;

	if (n >= ID_RANGE)
		buf[at++] = (char)(ID_FIRST + n / ID_RANGE - 1);
	buf[at++] = (char)(ID_FIRST + n % ID_RANGE);
	buf[at] = '\0';
	return buf;
}

static void scope(struct vcd *vcd, const char *name)
{
	fprintf(vcd->out, "$scope module %s $end\n", name);
}

static void upscope(struct vcd *vcd)
{
	fputs("$upscope $end\n", vcd->out);
}

static void declare(struct vcd *vcd, const char *name, unsigned width)
{
	char id[3];

	if (vcd->nvars == VARS_MAX)
		return;
	fprintf(vcd->out, "$var wire %u %s %s $end\n", width, id_of(vcd->nvars, id), name);
	vcd->var[vcd->nvars++].width = width;
}

static void write_value(struct vcd *vcd, unsigned n, uint64_t value)
{
	unsigned bit = vcd->var[n].width;
	char id[3];

	if (bit == 1) {
		fprintf(vcd->out, "%u%s\n", (unsigned)(value & 1), id_of(n, id));
		return;
	}
	while (bit > 1 && !(value >> (bit - 1) & 1))
		bit--; /* a vector may be shortened on its left */
	fputc('b', vcd->out);
	while (bit--)
		fputc(value >> bit & 1 ? '1' : '0', vcd->out);
	fprintf(vcd->out, " %s\n", id_of(n, id));
}

static void keep(struct vcd *vcd, unsigned var, uint64_t value)
{
	if (vcd->nchanges == vcd->room) {
		vcd->room = vcd->room ? 2 * vcd->room : 1024;
		vcd->changes = realloc(vcd->changes, vcd->room * sizeof(*vcd->changes));
		if (!vcd->changes)
			abort();
	}
	vcd->changes[vcd->nchanges] = (struct change){ vcd->cycle, value, vcd->nchanges, var };
	vcd->nchanges++;
}

/* The next variable's value, in the order in which they were declared. */
static void set(struct vcd *vcd, uint64_t value)
{
	unsigned n = vcd->set++;
	struct var *var = &vcd->var[n];

	if (n >= vcd->nvars)
		return;
	value = var->width < 64 ? value & ((UINT64_C(1) << var->width) - 1) : value;
	if (!vcd->begun)
		var->written = value;
	else if (value != var->value)
		keep(vcd, n, value);
	var->value = value;
}

static bool has_ring(const struct story *story, unsigned event)
{
	for (unsigned i = 0; i < story->scn->nsteps; i++)
		if (story->scn->steps[i].verb == SCN_MMAP &&
		    story->scn->steps[i].event == (int)event)
			return true;
	return false;
}

static void set_cpu(struct vcd *vcd, const struct wave_sample *now)
{
	const struct story_state *s = &now->state;

	set(vcd, now->step);
	set(vcd, s->el);
	set(vcd, s->masked);
	set(vcd, now->counter[PMUV3_CYCLE]);
	for (unsigned c = 0; c < PMUV3_CYCLE; c++)
		if (now->present >> c & 1)
			set(vcd, now->counter[c]);
	set(vcd, s->pmcr & 1);
	set(vcd, s->pmcnten);
	set(vcd, s->pminten);
	set(vcd, s->pmovs);
	set(vcd, s->line);
	set(vcd, s->pending);
	set(vcd, s->active);
	set(vcd, s->pmr);
}

/* The order here is the order of declare_all(). */
static void set_all(struct vcd *vcd, const struct story *story, const struct wave_sample *now)
{
	vcd->set = 0;
	for (unsigned i = 0; i < story->ncpus; i++)
		set_cpu(vcd, &now[i]);
	for (unsigned e = 0; e < story->scn->nevents && e < SCN_MAX_EVENTS; e++) {
		if (!has_ring(story, e))
			continue;
		set(vcd, now->state.event[e].head);
		set(vcd, now->state.event[e].tail);
	}
}

static void declare_cpu(struct vcd *vcd, unsigned cpu, const struct wave_sample *now)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	scope(vcd, name);
	declare(vcd, "step", 16);
	declare(vcd, "el", 2);
	declare(vcd, "daif_i", 1);
	scope(vcd, "pmu");
	declare(vcd, "pmccntr_el0", 64);
	for (unsigned c = 0; c < PMUV3_CYCLE; c++) {
		if (!(now->present >> c & 1))
			continue;
		regtext_counter(c, name, sizeof(name));
		declare(vcd, name, 64);
	}
	declare(vcd, "pmcr_e", 1);
	declare(vcd, "pmcnten", 32);
	declare(vcd, "pminten", 32);
	declare(vcd, "pmovs", 32);
	declare(vcd, "line", 1);
	upscope(vcd);
	scope(vcd, "gic");
	declare(vcd, "pending", 1);
	declare(vcd, "active", 1);
	declare(vcd, "pmr", 8);
	upscope(vcd);
	upscope(vcd);
}

static void declare_all(struct vcd *vcd, const struct story *story,
			const struct wave_sample *now)
{
	char name[96];

	for (unsigned i = 0; i < story->ncpus; i++)
		declare_cpu(vcd, i, &now[i]);
	scope(vcd, "ring");
	for (unsigned e = 0; e < story->scn->nevents && e < SCN_MAX_EVENTS; e++) {
		if (!has_ring(story, e))
			continue;
		snprintf(name, sizeof(name), "%.80s_data_head", story->scn->events[e].name);
		declare(vcd, name, 64);
		snprintf(name, sizeof(name), "%.80s_data_tail", story->scn->events[e].name);
		declare(vcd, name, 64);
	}
	upscope(vcd);
}

static void begin(void *opaque, const struct story *story, const struct wave_sample *now,
		  uint64_t cycle)
{
	struct vcd *vcd = opaque;

	fprintf(vcd->out,
		"$comment %s: one cycle is one nanosecond $end\n"
		"$version pmulab $end\n$timescale 1 ns $end\n",
		story->scn->name);
	declare_all(vcd, story, now);
	fputs("$enddefinitions $end\n", vcd->out);
	vcd->cycle = cycle;
	set_all(vcd, story, now);
	vcd->begun = true;
}

static void event(void *opaque, const struct story *story, const struct wave_sample *now,
		  size_t at)
{
	struct vcd *vcd = opaque;

	vcd->cycle = story->events[at].cycle;
	set_all(vcd, story, now);
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* What was before the first change. */
static void write_first(struct vcd *vcd)
{
	uint64_t first = vcd->nchanges ? vcd->changes[0].cycle : vcd->cycle;

	fprintf(vcd->out, "#%" PRIu64 "\n$dumpvars\n", first ? first - 1 : 0);
	for (unsigned n = 0; n < vcd->nvars; n++)
		write_value(vcd, n, vcd->var[n].written);
	fputs("$end\n", vcd->out);
}

/* The changes of one cycle, from @at on; the first one behind it. */
static size_t write_cycle(struct vcd *vcd, size_t at)
{
	uint64_t cycle = vcd->changes[at].cycle;
	bool told = false;
	size_t end = at;

	for (; end < vcd->nchanges && vcd->changes[end].cycle == cycle; end++)
		vcd->var[vcd->changes[end].var].value = vcd->changes[end].value;
	for (; at < end; at++) {
		struct var *var = &vcd->var[vcd->changes[at].var];

		if (var->value == var->written)
			continue;
		if (!told)
			fprintf(vcd->out, "#%" PRIu64 "\n", cycle);
		told = true;
		write_value(vcd, vcd->changes[at].var, var->value);
		var->written = var->value;
	}
	return end;
}

static int end(void *opaque, const struct story *story)
{
	struct vcd *vcd = opaque;

	(void)story;
	if (vcd->nchanges)
		qsort(vcd->changes, vcd->nchanges, sizeof(*vcd->changes), by_time);
	write_first(vcd);
	for (size_t at = 0; at < vcd->nchanges;)
		at = write_cycle(vcd, at);
	free(vcd->changes);
	vcd->changes = NULL;
	return ferror(vcd->out) ? -1 : 0;
}

struct wave_sink *wave_vcd_open(FILE *out)
{
	struct wave_sink *sink = calloc(1, sizeof(*sink));
	struct vcd *vcd = calloc(1, sizeof(*vcd));

	if (!sink || !vcd)
		abort();
	vcd->out = out;
	*sink = (struct wave_sink){ begin, event, end, vcd };
	return sink;
}
