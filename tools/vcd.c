/* SPDX-License-Identifier: MIT */
/*
 * Value change dump (IEEE 1364-2005, 18.2). Several events of one cycle are one
 * time: what they leave behind is what is written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/regtext.h"
#include "tools/wave.h"

enum {
	VARS_MAX = 64 + 2 * SCN_MAX_EVENTS,
	ID_FIRST = '!',
	ID_RANGE = '~' - '!' + 1,
};

struct var {
	unsigned width;
	uint64_t value, written;
};

struct vcd {
	FILE *out;
	struct var var[VARS_MAX];
	unsigned nvars;
	uint64_t cycle;
	bool dirty;
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
	if (vcd->nvars)
		fputs("$upscope $end\n", vcd->out);
	fprintf(vcd->out, "$scope module %s $end\n", name);
}

static void declare(struct vcd *vcd, const char *name, unsigned width)
{
	char id[3];

	if (vcd->nvars == VARS_MAX)
		return;
	fprintf(vcd->out, "$var wire %u %s %s $end\n", width, id_of(vcd->nvars, id), name);
	vcd->var[vcd->nvars++].width = width;
}

static void write_value(struct vcd *vcd, unsigned n)
{
	const struct var *var = &vcd->var[n];
	unsigned bit = var->width;
	char id[3];

	if (var->width == 1) {
		fprintf(vcd->out, "%u%s\n", (unsigned)(var->value & 1), id_of(n, id));
		return;
	}
	while (bit > 1 && !(var->value >> (bit - 1) & 1))
		bit--; /* a vector may be shortened on its left */
	fputc('b', vcd->out);
	while (bit--)
		fputc(var->value >> bit & 1 ? '1' : '0', vcd->out);
	fprintf(vcd->out, " %s\n", id_of(n, id));
}

static void set(struct vcd *vcd, unsigned *n, uint64_t value)
{
	struct var *var;

	if (*n == vcd->nvars)
		return;
	var = &vcd->var[(*n)++];
	var->value = var->width < 64 ? value & ((UINT64_C(1) << var->width) - 1) : value;
	vcd->dirty |= var->value != var->written;
}

static bool has_ring(const struct story *story, unsigned event)
{
	for (unsigned i = 0; i < story->scn->nsteps; i++)
		if (story->scn->steps[i].verb == SCN_MMAP &&
		    story->scn->steps[i].event == (int)event)
			return true;
	return false;
}

/* The order here is the order of declare_all(). */
static void set_all(struct vcd *vcd, const struct story *story, const struct wave_sample *now)
{
	const struct story_state *s = &now->state;
	unsigned n = 0;

	set(vcd, &n, now->step);
	set(vcd, &n, s->el);
	set(vcd, &n, s->masked);
	set(vcd, &n, now->counter[PMUV3_CYCLE]);
	for (unsigned c = 0; c < PMUV3_CYCLE; c++)
		if (now->present >> c & 1)
			set(vcd, &n, now->counter[c]);
	set(vcd, &n, s->pmcr & 1);
	set(vcd, &n, s->pmcnten);
	set(vcd, &n, s->pminten);
	set(vcd, &n, s->pmovs);
	set(vcd, &n, s->line);
	set(vcd, &n, s->pending);
	set(vcd, &n, s->active);
	set(vcd, &n, s->pmr);
	for (unsigned e = 0; e < story->scn->nevents && e < SCN_MAX_EVENTS; e++) {
		if (!has_ring(story, e))
			continue;
		set(vcd, &n, s->event[e].head);
		set(vcd, &n, s->event[e].tail);
	}
}

static void declare_all(struct vcd *vcd, const struct story *story,
			const struct wave_sample *now)
{
	char name[96];

	scope(vcd, "cpu0");
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
	scope(vcd, "gic");
	declare(vcd, "pending", 1);
	declare(vcd, "active", 1);
	declare(vcd, "pmr", 8);
	scope(vcd, "ring");
	for (unsigned e = 0; e < story->scn->nevents && e < SCN_MAX_EVENTS; e++) {
		if (!has_ring(story, e))
			continue;
		snprintf(name, sizeof(name), "%.80s_data_head", story->scn->events[e].name);
		declare(vcd, name, 64);
		snprintf(name, sizeof(name), "%.80s_data_tail", story->scn->events[e].name);
		declare(vcd, name, 64);
	}
	fputs("$upscope $end\n", vcd->out);
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
	set_all(vcd, story, now);
	/* what was before the first event */
	fprintf(vcd->out, "#%" PRIu64 "\n$dumpvars\n", cycle ? cycle - 1 : 0);
	for (unsigned n = 0; n < vcd->nvars; n++) {
		write_value(vcd, n);
		vcd->var[n].written = vcd->var[n].value;
	}
	fputs("$end\n", vcd->out);
	vcd->cycle = cycle;
	vcd->dirty = false;
}

static void flush(struct vcd *vcd)
{
	if (!vcd->dirty)
		return;
	fprintf(vcd->out, "#%" PRIu64 "\n", vcd->cycle);
	for (unsigned n = 0; n < vcd->nvars; n++) {
		if (vcd->var[n].value == vcd->var[n].written)
			continue;
		write_value(vcd, n);
		vcd->var[n].written = vcd->var[n].value;
	}
	vcd->dirty = false;
}

static void event(void *opaque, const struct story *story, const struct wave_sample *now,
		  size_t at)
{
	struct vcd *vcd = opaque;

	if (story->events[at].cycle != vcd->cycle)
		flush(vcd);
	vcd->cycle = story->events[at].cycle;
	set_all(vcd, story, now);
}

static int end(void *opaque, const struct story *story)
{
	struct vcd *vcd = opaque;

	(void)story;
	flush(vcd);
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
