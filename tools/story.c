/* SPDX-License-Identifier: MIT */
#include "tools/story.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/expect.h"
#include "corpus/agent/agent-abi.h"
#include "tools/regtext.h"

enum { FRAMES = 16 };

static void *grow(void *list, size_t *room, size_t n, size_t size)
{
	if (n <= *room)
		return list;
	*room = *room ? 2 * *room : 256;
	while (*room < n)
		*room *= 2;
	list = realloc(list, *room * size);
	if (!list)
		abort();
	return list;
}

void story_init(struct story *story, const struct scn *scn)
{
	memset(story, 0, sizeof(*story));
	story->scn = scn;
}

void story_free(struct story *story)
{
	free(story->events);
	free(story->bytes);
	free(story->overflows);
}

/* -- listening ------------------------------------------------------------ */

/* An opened event's id, where the agent has just had it stored. */
static void learn_id(struct story *story, const struct scn_step *step)
{
	uint64_t pa;
	const void *at;

	if (step->verb != SCN_OPEN || step->event < 0 || step->event >= SCN_MAX_EVENTS ||
	    story->ids[step->event] ||
	    !cpu_translate(story->machine->core, step->id_addr, &pa))
		return;
	at = machine_ram(story->machine, pa, sizeof(uint64_t));
	if (at)
		memcpy(&story->ids[step->event], at, sizeof(uint64_t));
}

static void look_at_step(struct story *story)
{
	unsigned was = story->step;

	story->step = expect_step_at(story->scn,
				     cpu_x(story->machine->core, AGENT_OP_REG));
	if (was && was != story->step && was <= story->scn->nsteps)
		learn_id(story, &story->scn->steps[was - 1]);
}

static void on_event(void *opaque, const struct trace_event *event)
{
	struct story *story = opaque;
	struct story_event *kept;

	if (event->kind == TRACE_EXCEPTION || event->kind == TRACE_WRAP)
		look_at_step(story);
	story->events = grow(story->events, &story->room, story->nevents + 1,
			     sizeof(*story->events));
	kept = &story->events[story->nevents++];
	*kept = (struct story_event){
		.cycle = event->cycle,
		.kind = event->kind,
		.step = story->step,
		.a = event->a,
		.b = event->b,
		.c = event->c,
	};
	if (event->data) {
		story->bytes = grow(story->bytes, &story->bytes_room,
				    story->nbytes + event->c, 1);
		memcpy(story->bytes + story->nbytes, event->data, event->c);
		kept->data = story->nbytes;
		story->nbytes += event->c;
	}
	if (story->also)
		story->also(story->opaque, story, story->nevents - 1);
}

void story_listen(void *opaque, struct machine *machine, struct host *host)
{
	struct story *story = opaque;
	const struct machine_cpu *cpu;

	(void)host;
	story->machine = machine;
	cpu = &story->machine->cpu[0];
	story->begin = (struct story_state){
		.pmcr = cpu->pmu.pmcr,
		.pmcnten = cpu->pmu.pmcnten,
		.pminten = cpu->pmu.pminten,
		.pmovs = cpu->pmu.pmovs,
		.pmr = cpu->gic.pmr,
		.line = cpu->pmu.level,
		.masked = true,
		.el = 1,
	};
	if (trace_subscribe(&story->machine->bus, on_event, story))
		abort(); /* there are more places than listeners in a run */
}

/* -- names ---------------------------------------------------------------- */

int story_event_of(const struct story *story, uint64_t id)
{
	for (unsigned i = 0; id && i < story->scn->nevents && i < SCN_MAX_EVENTS; i++)
		if (story->ids[i] == id)
			return (int)i;
	return -1;
}

int story_ring_of(const struct story *story, uint64_t id)
{
	int event = story_event_of(story, id), ring = event;

	for (unsigned i = 0; event >= 0 && i < story->scn->nsteps; i++) {
		const struct scn_step *step = &story->scn->steps[i];

		if (step->verb == SCN_IOCTL && step->event == event && step->other >= 0 &&
		    step->cmd == PERF_EVENT_IOC_SET_OUTPUT)
			ring = step->other;
	}
	return ring;
}

const char *story_event_name(const struct story *story, uint64_t id, char *buf, size_t size)
{
	int event = story_event_of(story, id);

	if (event >= 0)
		return story->scn->events[event].name;
	snprintf(buf, size, "id %llu", (unsigned long long)id);
	return buf;
}

const char *story_reg_name(uint32_t enc, char *buf, size_t size)
{
	const struct sysreg_block blocks[] = {
		pmuv3_sysregs(NULL),
		gic_ppi_sysregs(NULL),
	};

	return sysreg_name(blocks, sizeof(blocks) / sizeof(blocks[0]), enc, buf, size);
}

uint64_t story_room(unsigned n, uint64_t value, uint64_t pmcr)
{
	bool wide = pmcr >> (n == PMUV3_CYCLE ? 6 : 7) & 1; /* LC, LP */

	return wide ? -value : (UINT64_C(1) << 32) - (uint32_t)value;
}

/* -- what an event changes ------------------------------------------------ */

static void write_register(struct story_state *state, uint64_t cycle, const char *name,
			   uint64_t value)
{
	int n = regtext_counter_of(name);

	if (n >= 0) {
		state->written[n] = value;
		state->written_cycle[n] = cycle;
	} else if (!strcmp(name, "pmcr_el0")) {
		state->pmcr = value;
	} else if (!strcmp(name, "pmcntenset_el0")) {
		state->pmcnten |= value;
	} else if (!strcmp(name, "pmcntenclr_el0")) {
		state->pmcnten &= ~value;
	} else if (!strcmp(name, "pmintenset_el1")) {
		state->pminten |= value;
	} else if (!strcmp(name, "pmintenclr_el1")) {
		state->pminten &= ~value;
	} else if (!strcmp(name, "icc_pmr_el1")) {
		state->pmr = value;
	}
}

void story_advance(const struct story *story, struct story_state *state,
		   const struct story_event *event)
{
	char name[32];
	int i, n;

	switch (event->kind) {
	case TRACE_FLAG_SET:
	case TRACE_FLAG_CLEAR:
		state->pmovs = event->b;
		break;
	case TRACE_LINE:
		state->line = event->b;
		break;
	case TRACE_PENDING:
		if (event->a == PMUV3_INTID)
			state->pending = event->b;
		break;
	case TRACE_ACK:
		state->active = event->a == PMUV3_INTID;
		break;
	case TRACE_EOI:
		state->active = false;
		break;
	case TRACE_TAKEN:
	case TRACE_EXCEPTION:
		state->el = 1;
		break;
	case TRACE_ERET:
		state->el = event->b >> 2 & 3;
		break;
	case TRACE_MASK:
		state->masked = event->a;
		break;
	case TRACE_SYSREG_READ:
		n = regtext_counter_of(story_reg_name((uint32_t)event->a, name, sizeof(name)));
		if (n >= 0)
			state->read[n] = event->b;
		break;
	case TRACE_SYSREG_WRITE:
		write_register(state, event->cycle,
			       story_reg_name((uint32_t)event->a, name, sizeof(name)),
			       event->b);
		break;
	case TRACE_ARM:
		i = story_event_of(story, event->a);
		if (i >= 0) {
			state->event[i].left = event->b;
			state->event[i].period = event->c;
		}
		break;
	case TRACE_HEAD:
		i = story_ring_of(story, event->a);
		if (i >= 0) {
			state->event[i].head = event->b;
			state->event[i].tail = event->c;
		}
		break;
	case TRACE_WRAP:
	case TRACE_INJECT:
	case TRACE_RECORD:
	case TRACE_LOST:
	case TRACE_WAKEUP:
	case TRACE_SERVE:
	case TRACE_STORE:
	case TRACE_KINDS:
		break;
	default: /* kinds that only boards of several CPUs have */
		break;
	}
}

/* -- cutting -------------------------------------------------------------- */

struct cutter {
	struct story *story;
	struct story_state state;
	/* Exceptions that have not returned; true: an interrupt. */
	bool frame[FRAMES];
	unsigned depth;
	/* Overflows from here on are still open. */
	size_t open;
	struct story_record record;
	uint8_t *phase; /* per overflow: 0 flag set, else 1 + depth of its handler, 255 done */
	size_t phase_room;
};

enum { DONE = 255 };

static struct story_overflow *new_overflow(struct cutter *cut, size_t at)
{
	struct story *story = cut->story;
	struct story_overflow *overflow;

	story->overflows = grow(story->overflows, &story->overflows_room,
				story->noverflows + 1, sizeof(*story->overflows));
	cut->phase = grow(cut->phase, &cut->phase_room, story->noverflows + 1, 1);
	cut->phase[story->noverflows] = 0;
	overflow = &story->overflows[story->noverflows++];
	memset(overflow, 0, sizeof(*overflow));
	overflow->first = at;
	overflow->cycle = story->events[at].cycle;
	overflow->pc = story->events[at].c;
	overflow->injected = at && story->events[at - 1].kind == TRACE_INJECT;
	overflow->before = cut->state;
	return overflow;
}

static void on_wrap(struct cutter *cut, size_t at)
{
	struct story *story = cut->story;
	struct story_overflow *overflow;

	if (at && story->events[at - 1].kind == TRACE_WRAP)
		overflow = &story->overflows[story->noverflows - 1];
	else
		overflow = new_overflow(cut, at);
	overflow->counters |= UINT32_C(1) << (story->events[at].a & 31);
	overflow->last = at;
}

static void close_overflow(struct cutter *cut, size_t n, size_t at)
{
	cut->story->overflows[n].last = at;
	cut->phase[n] = DONE;
	while (cut->open < cut->story->noverflows && cut->phase[cut->open] == DONE)
		cut->open++;
}

static void on_flag_clear(struct cutter *cut, size_t at)
{
	struct story *story = cut->story;
	bool handler = cut->depth && cut->frame[cut->depth - 1];

	for (size_t n = cut->open; n < story->noverflows; n++) {
		struct story_overflow *overflow = &story->overflows[n];

		if (cut->phase[n] || !(overflow->counters & story->events[at].a))
			continue;
		overflow->cleared = at;
		overflow->last = at;
		if (handler)
			cut->phase[n] = (uint8_t)(1 + cut->depth);
		else
			close_overflow(cut, n, at);
	}
}

static void on_taken(struct cutter *cut, size_t at)
{
	for (size_t n = cut->open; n < cut->story->noverflows; n++)
		if (!cut->phase[n] && !cut->story->overflows[n].taken)
			cut->story->overflows[n].taken = at;
}

static void on_return(struct cutter *cut, size_t at)
{
	for (size_t n = cut->open; n < cut->story->noverflows; n++)
		if (cut->phase[n] != DONE && cut->phase[n] == 1 + cut->depth)
			close_overflow(cut, n, at);
	if (cut->depth)
		cut->depth--;
}

/* A record belongs to the overflow whose handler wrote it. */
static void on_output(struct cutter *cut, size_t at)
{
	const struct story_event *event = &cut->story->events[at];
	bool begins = event->kind == TRACE_STORE &&
		      story_record_add(cut->story, &cut->record, event);
	uint32_t type;

	for (size_t n = cut->open; n < cut->story->noverflows; n++) {
		struct story_overflow *overflow = &cut->story->overflows[n];

		if (!cut->phase[n] || cut->phase[n] == DONE)
			continue;
		if (event->kind == TRACE_LOST)
			overflow->lost = true;
		if (!begins || event->c < sizeof(type))
			continue;
		memcpy(&type, cut->story->bytes + event->data, sizeof(type));
		if (type == PERF_RECORD_SAMPLE && !overflow->samples++)
			overflow->store = at;
	}
}

static void cut_at(struct cutter *cut, size_t at)
{
	const struct story_event *event = &cut->story->events[at];

	if (event->kind == TRACE_WRAP)
		on_wrap(cut, at);
	if (event->kind == TRACE_FLAG_CLEAR)
		on_flag_clear(cut, at);
	if (event->kind == TRACE_TAKEN)
		on_taken(cut, at);
	if (event->kind == TRACE_TAKEN || event->kind == TRACE_EXCEPTION) {
		if (cut->depth < FRAMES)
			cut->frame[cut->depth++] = event->kind == TRACE_TAKEN;
	}
	if (event->kind == TRACE_STORE || event->kind == TRACE_LOST)
		on_output(cut, at);
	if (event->kind == TRACE_ERET)
		on_return(cut, at);
	cut->story->records += event->kind == TRACE_RECORD;
	cut->story->lost += event->kind == TRACE_LOST;
	cut->story->wakeups += event->kind == TRACE_WAKEUP;
	story_advance(cut->story, &cut->state, event);
}

void story_cut(struct story *story)
{
	struct cutter cut = { .story = story, .state = story->begin };

	for (size_t i = 0; i < story->nevents; i++)
		cut_at(&cut, i);
	free(cut.phase);
}
