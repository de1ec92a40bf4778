/* SPDX-License-Identifier: MIT */
#include "tools/story-json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/regtext.h"

enum {
	REGISTERS = MACHINE_CPUS * (16 + 2 * PMUV3_MAX_COUNTERS) + 2 * SCN_MAX_EVENTS,
	NAME = 100
};

struct change {
	size_t event;
	unsigned reg;
	uint64_t value;
};

struct story_json {
	struct story *story;
	size_t limit;
	char *names[REGISTERS];
	uint64_t value[REGISTERS];
	unsigned nregs;
	struct story_state state[MACHINE_CPUS];
	struct change *changes;
	size_t nchanges, room;
	bool begun;
};

/* One walk over the register file; the first one names it too. */
struct walk {
	struct story_json *json;
	size_t event;
	unsigned cpu;	     /* whose registers come now */
	const char *written; /* register that this event writes, "" none */
	unsigned writer;     /* and on which CPU */
	uint64_t value;
	unsigned reg;
};

static void add_change(struct story_json *json, size_t event, unsigned reg, uint64_t value)
{
	if (json->nchanges == json->room) {
		json->room = json->room ? 2 * json->room : 1024;
		json->changes = realloc(json->changes, json->room * sizeof(*json->changes));
		if (!json->changes)
			abort();
	}
	json->changes[json->nchanges++] = (struct change){ event, reg, value };
	json->value[reg] = value;
}

/* "cpu1 pmcr_el0" where there are several CPUs. */
static char *name_of(const struct walk *walk, const char *name)
{
	unsigned ncpus = walk->json->story->ncpus;
	char text[NAME], *copy;

	if (ncpus > 1 && walk->cpu < ncpus)
		snprintf(text, sizeof(text), "cpu%u %.80s", walk->cpu, name);
	else
		snprintf(text, sizeof(text), "%.80s", name);
	copy = strdup(text);
	if (!copy)
		abort();
	return copy;
}

/* A write is on the bus before it has its effect: here it has it. */
static void see(struct walk *walk, const char *name, uint64_t value)
{
	struct story_json *json = walk->json;
	unsigned reg = walk->reg++;

	if (walk->cpu == walk->writer && !strcmp(name, walk->written))
		value = walk->value;
	if (reg >= REGISTERS)
		return;
	if (!json->begun) {
		json->names[reg] = name_of(walk, name);
		json->nregs = reg + 1;
	}
	if (!json->begun || json->value[reg] != value)
		add_change(json, walk->event, reg, value);
}

static void see_rings(struct walk *walk)
{
	const struct scn *scn = walk->json->story->scn;
	char name[NAME];

	for (unsigned i = 0; i < scn->nsteps; i++) {
		int event = scn->steps[i].event;

		if (scn->steps[i].verb != SCN_MMAP || event < 0 || event >= SCN_MAX_EVENTS)
			continue;
		snprintf(name, sizeof(name), "%.60s data_head", scn->events[event].name);
		see(walk, name, walk->json->state[0].event[event].head);
		snprintf(name, sizeof(name), "%.60s data_tail", scn->events[event].name);
		see(walk, name, walk->json->state[0].event[event].tail);
	}
}

static void see_cpu(struct walk *walk)
{
	struct pmuv3 *pmu = &walk->json->story->machine->cpu[walk->cpu].pmu;
	const struct story_state *s = &walk->json->state[walk->cpu];
	char name[32];

	pmuv3_settle(pmu);
	see(walk, "pmcr_el0", s->pmcr);
	see(walk, "pmcntenset_el0", s->pmcnten);
	see(walk, "pmintenset_el1", s->pminten);
	see(walk, "pmovsset_el0", s->pmovs);
	see(walk, "pmuserenr_el0", pmu->pmuserenr);
	see(walk, "pmselr_el0", pmu->pmselr);
	see(walk, "pmccfiltr_el0", pmu->pmccfiltr);
	see(walk, "pmccntr_el0", pmu->pmccntr);
	for (unsigned n = 0; n < pmu->config.counters; n++) {
		regtext_counter(n, name, sizeof(name));
		see(walk, name, pmu->pmevcntr[n]);
		snprintf(name, sizeof(name), "pmevtyper%u_el0", n);
		see(walk, name, pmu->pmevtyper[n]);
	}
	see(walk, "icc_pmr_el1", s->pmr);
	see(walk, "line", s->line);
	see(walk, "pending", s->pending);
	see(walk, "active", s->active);
	see(walk, "EL", s->el);
	see(walk, "PSTATE.I", s->masked);
}

static void see_event(struct story_json *json, size_t at)
{
	const struct story *story = json->story;
	const struct story_event *event = &story->events[at];
	struct walk walk = { .json = json, .event = at, .writer = event->cpu, .written = "" };
	char name[32];

	if (event->kind == TRACE_SYSREG_WRITE) {
		walk.written = story_reg_name((uint32_t)event->a, name, sizeof(name));
		walk.value = event->b;
		/* those that set or clear have had their say in the state */
		if (strstr(walk.written, "set_el") || strstr(walk.written, "clr_el"))
			walk.written = "";
	}
	for (; walk.cpu < story->ncpus; walk.cpu++) {
		story_advance(story, &json->state[walk.cpu], event);
		see_cpu(&walk);
	}
	see_rings(&walk);
}

static void watch(void *opaque, struct story *story, size_t at)
{
	struct story_json *json = opaque;

	if (json->limit && at >= json->limit)
		return;
	if (!json->begun)
		memcpy(json->state, story->begin, sizeof(json->state));
	see_event(json, at);
	json->begun = true;
}

struct story_json *story_json_open(struct story *story, size_t limit)
{
	struct story_json *json = calloc(1, sizeof(*json));

	if (!json)
		abort();
	json->story = story;
	json->limit = limit;
	story->also = watch;
	story->opaque = json;
	return json;
}

void story_json_close(struct story_json *json)
{
	if (!json)
		return;
	for (unsigned i = 0; i < json->nregs; i++)
		free(json->names[i]);
	free(json->changes);
	free(json);
}

/* -- writing --------------------------------------------------------------- */

static json_t *event_args(const struct story_event *e, const struct code *code)
{
	const uint64_t value[3] = { e->a, e->b, e->c };
	char text[400] = "", buf[NAME];
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		const char *arg = trace_arg_name(e->kind, i);

		if (!arg)
			break;
		if (!strcmp(arg, "reg"))
			story_reg_name((uint32_t)value[i], buf, sizeof(buf));
		else if (!strcmp(arg, "pc") || !strcmp(arg, "elr"))
			code_name(code, value[i], buf, sizeof(buf));
		else
			snprintf(buf, sizeof(buf), value[i] < 10 ? "%llu" : "0x%llx",
				 (unsigned long long)value[i]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s", n ? " " : "", arg,
				      buf);
	}
	return json_string(text);
}

/* "REGISTER=HEX,...": what changed with event @i. The first has all registers of all
 * CPUs. */
static json_t *changes_of(const struct story_json *json, size_t i, size_t *change)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *comma = "";
	json_t *changes;

	if (!out)
		return NULL;
	for (; *change < json->nchanges && json->changes[*change].event == i; ++*change) {
		fprintf(out, "%s%u=%llx", comma, json->changes[*change].reg,
			(unsigned long long)json->changes[*change].value);
		comma = ",";
	}
	changes = fclose(out) ? NULL : json_string(text);
	free(text);
	return changes;
}

static json_t *all_events(const struct story_json *json, const struct code *code, size_t end)
{
	json_t *events = json_array();
	size_t change = 0;

	for (size_t i = 0; i < end; i++) {
		const struct story_event *e = &json->story->events[i];
		json_t *event = json_pack("[I, s, i, o]", (json_int_t)e->cycle,
					  trace_kind_name(e->kind), (int)e->step,
					  event_args(e, code));

		json_array_append_new(event, changes_of(json, i, &change));
		if (json->story->ncpus > 1)
			json_array_append_new(event, json_integer(e->cpu));
		json_array_append_new(events, event);
	}
	return events;
}

static void add_line(void *opaque, const struct story_line *line)
{
	json_array_append_new(opaque,
			      json_pack("[I, I, s, s]", (json_int_t)line->event,
					(json_int_t)line->cycle, line->tag, line->text));
}

static json_t *one_story(const struct story *story, const struct code *code, size_t n)
{
	const struct story_overflow *o = &story->overflows[n];
	char counters[NAME], brief[256];
	json_t *lines = json_array();

	story_counters(story, n, counters, sizeof(counters));
	story_brief(story, code, n, brief, sizeof(brief));
	story_tell(story, code, n, add_line, lines);
	return json_pack("{s:s, s:s, s:i, s:I, s:I, s:o}", "title", counters, "brief", brief,
			 "cpu", (int)o->cpu, "first", (json_int_t)o->first, "last",
			 (json_int_t)o->last, "lines", lines);
}

int story_json_write(const struct story_json *json, const struct code *code,
		     const char *profile, FILE *out)
{
	const struct story *story = json->story;
	size_t end = json->limit && json->limit < story->nevents ? json->limit : story->nevents;
	json_t *names = json_array(), *steps = json_array(), *stories = json_array(), *root;
	int rc;

	for (unsigned i = 0; i < json->nregs; i++)
		json_array_append_new(names, json_string(json->names[i]));
	for (unsigned i = 0; i < story->scn->nsteps; i++)
		json_array_append_new(steps, json_string(story->scn->steps[i].words));
	for (size_t i = 0; i < story->noverflows && story->overflows[i].last < end; i++)
		json_array_append_new(stories, one_story(story, code, i));
	root = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
			 "scenario", story->scn->name, "profile", profile, "cpus",
			 (int)story->ncpus, "overflows", (json_int_t)story->noverflows, "records", (json_int_t)story->records,
			 "lost", (json_int_t)story->lost, "wakeups", (json_int_t)story->wakeups,
			 "nevents", (json_int_t)story->nevents, "steps", steps, "registers",
			 names, "events", all_events(json, code, end), "stories", stories);
	rc = root ? json_dumpf(root, out, JSON_COMPACT) : -1;
	fputc('\n', out);
	json_decref(root);
	if (rc || fflush(out) || ferror(out)) {
		errno = errno ? errno : EIO;
		return -1;
	}
	return 0;
}
