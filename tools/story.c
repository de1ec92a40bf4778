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
	free(story->ids);
}

/* -- listening ------------------------------------------------------------ */

static void add_id(struct story *story, uint64_t id, unsigned event)
{
	for (size_t i = 0; i < story->nids; i++)
		if (story->ids[i].id == id)
			return;
	story->ids = grow(story->ids, &story->ids_room, story->nids + 1, sizeof(*story->ids));
	story->ids[story->nids++] = (struct story_id){ id, event };
}

/* An opened event's id, where the agent has just had it stored. */
static void learn_id(struct story *story, const struct scn_step *step)
{
	uint64_t pa, id;
	const void *at;

	if (step->verb != SCN_OPEN || step->event < 0 || step->event >= SCN_MAX_EVENTS ||
	    !cpu_translate(story->machine->core, step->id_addr, &pa))
		return;
	at = machine_ram(story->machine, pa, sizeof(id));
	if (!at)
		return;
	memcpy(&id, at, sizeof(id));
	if (id)
		add_id(story, id, (unsigned)step->event);
}

static void look_at_step(struct story *story, unsigned cpu)
{
	unsigned was = story->step[cpu];

	if (story->machine->loaded->id != cpu)
		return; /* its registers are not in the core */
	story->step[cpu] = expect_step_at(story->scn,
					  cpu_x(story->machine->core, AGENT_OP_REG));
	if (was && was != story->step[cpu] && was <= story->scn->nsteps)
		learn_id(story, &story->scn->steps[was - 1]);
}

static void on_event(void *opaque, const struct trace_event *event)
{
	struct story *story = opaque;
	struct story_event *kept;

	if (event->kind == TRACE_EXCEPTION || event->kind == TRACE_WRAP)
		look_at_step(story, event->cpu);
	story->events = grow(story->events, &story->room, story->nevents + 1,
			     sizeof(*story->events));
	kept = &story->events[story->nevents++];
	*kept = (struct story_event){
		.cycle = event->cycle,
		.kind = event->kind,
		.cpu = event->cpu,
		.step = story->step[event->cpu],
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

	(void)host;
	story->machine = machine;
	story->ncpus = machine->ncpus;
	for (unsigned i = 0; i < machine->ncpus; i++) {
		const struct machine_cpu *cpu = &machine->cpu[i];

		story->begin[i] = (struct story_state){
			.cpu = i,
			.pmcr = cpu->pmu.pmcr,
			.pmcnten = cpu->pmu.pmcnten,
			.pminten = cpu->pmu.pminten,
			.pmovs = cpu->pmu.pmovs,
			.pmr = cpu->gic.pmr,
			.line = cpu->pmu.level,
			.masked = true,
			.el = 1,
		};
	}
	if (trace_subscribe(&story->machine->bus, on_event, story))
		abort(); /* there are more places than listeners in a run */
}

/* -- names ---------------------------------------------------------------- */

int story_event_of(const struct story *story, uint64_t id)
{
	for (size_t i = 0; i < story->nids; i++)
		if (story->ids[i].id == id)
			return (int)story->ids[i].event;
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
	return machine_sysreg_name(enc, buf, size);
}

const struct story_event *story_previous(const struct story *story, size_t at)
{
	unsigned cpu = story->events[at].cpu;

	while (at-- > 0)
		if (story->events[at].cpu == cpu)
			return &story->events[at];
	return NULL;
}

/* -- counters -------------------------------------------------------------- */

/* Arm ARM (DDI 0487), D13.4: event CHAIN, 0x1e, counts the overflows of the counter
 * below, which is an even one. */
bool story_chained(const struct story_state *state, unsigned n)
{
	return n < PMUV3_CYCLE && n % 2 && (state->type[n] & 0xffff) == 0x1e;
}

static bool is_long(const struct story_state *state, unsigned n)
{
	return story_chained(state, n) || (state->pmcr >> (n == PMUV3_CYCLE ? 6 : 7) & 1);
}

static uint64_t whole(const struct story_state *state, unsigned n, const uint64_t values[32])
{
	return story_chained(state, n) ? values[n] << 32 | (uint32_t)values[n - 1] : values[n];
}

uint64_t story_room(const struct story_state *state, unsigned n, const uint64_t values[32])
{
	uint64_t value = whole(state, n, values);

	return is_long(state, n) ? -value : (UINT64_C(1) << 32) - (uint32_t)value;
}

uint64_t story_counted(const struct story_state *state, unsigned n)
{
	uint64_t counted = whole(state, n, state->read) - whole(state, n, state->written);

	return n == PMUV3_CYCLE || is_long(state, n) ? counted : (uint32_t)counted;
}

/* -- what an event changes ------------------------------------------------ */

static void write_register(struct story_state *state, uint64_t cycle, const char *name,
			   uint64_t value)
{
	int n = regtext_counter_of(name);
	unsigned type;

	if (n < 0)
		state->arming = 0;
	if (n >= 0) {
		state->written[n] = value;
		state->written_cycle[n] = cycle;
		state->owner[n] = state->arming;
	} else if (sscanf(name, "pmevtyper%u_el0", &type) == 1) {
		state->type[type & 31] = value;
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

/* What is the same whichever CPU does it. */
static void advance_rings(const struct story *story, struct story_state *state,
			  const struct story_event *event)
{
	int i;

	if (event->kind == TRACE_ARM) {
		i = story_event_of(story, event->a);
		if (i >= 0) {
			state->event[i].left = event->b;
			state->event[i].period = event->c;
		}
	} else if (event->kind == TRACE_HEAD) {
		i = story_ring_of(story, event->a);
		if (i >= 0) {
			state->event[i].head = event->b;
			state->event[i].tail = event->c;
		}
	}
}

void story_advance(const struct story *story, struct story_state *state,
		   const struct story_event *event)
{
	char name[32];
	int n;

	advance_rings(story, state, event);
	if (event->cpu != state->cpu)
		return;
	if (event->kind != TRACE_SYSREG_WRITE)
		state->arming = event->kind == TRACE_ARM ? event->a : 0;
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
	case TRACE_WRAP:
	case TRACE_INJECT:
	case TRACE_RECORD:
	case TRACE_LOST:
	case TRACE_WAKEUP:
	case TRACE_SERVE:
	case TRACE_STORE:
	case TRACE_ARM:
	case TRACE_HEAD:
	case TRACE_ADJUST:
	case TRACE_KINDS:
		break;
	}
}

/* -- cutting -------------------------------------------------------------- */

/* What one CPU is in the middle of. */
struct cutter_cpu {
	struct story_state state;
	/* Exceptions that have not returned; true: an interrupt. */
	bool frame[FRAMES];
	unsigned depth;
	struct story_record record;
	size_t last_wrap; /* 1 + event */
};

struct cutter {
	struct story *story;
	struct cutter_cpu cpu[MACHINE_CPUS];
	/* Overflows from here on are still open. */
	size_t open;
	uint8_t *phase; /* per overflow: 0 flag set, else 1 + depth of its handler, 255 done */
	size_t phase_room;
};

enum { DONE = 255 };

static struct cutter_cpu *cpu_of(struct cutter *cut, size_t at)
{
	return &cut->cpu[cut->story->events[at].cpu];
}

/* The next open overflow of the CPU of event @at, from number @n on; NULL: none. */
static struct story_overflow *next_open(const struct cutter *cut, size_t at, size_t *n)
{
	struct story *story = cut->story;

	for (; *n < story->noverflows; ++*n)
		if (cut->phase[*n] != DONE &&
		    story->overflows[*n].cpu == story->events[at].cpu)
			return &story->overflows[*n];
	return NULL;
}

static struct story_overflow *new_overflow(struct cutter *cut, size_t at)
{
	const struct story_event *previous = story_previous(cut->story, at);
	struct story *story = cut->story;
	struct story_overflow *overflow;

	story->overflows = grow(story->overflows, &story->overflows_room,
				story->noverflows + 1, sizeof(*story->overflows));
	cut->phase = grow(cut->phase, &cut->phase_room, story->noverflows + 1, 1);
	cut->phase[story->noverflows] = 0;
	overflow = &story->overflows[story->noverflows++];
	memset(overflow, 0, sizeof(*overflow));
	overflow->first = at;
	overflow->cpu = story->events[at].cpu;
	overflow->cycle = story->events[at].cycle;
	overflow->pc = story->events[at].c;
	overflow->injected = previous && previous->kind == TRACE_INJECT;
	overflow->before = cpu_of(cut, at)->state;
	return overflow;
}

/* Wraps of one instruction are next to each other on the bus: one overflow. */
static void on_wrap(struct cutter *cut, size_t at)
{
	struct story *story = cut->story;
	struct story_overflow *overflow;

	if (at && cpu_of(cut, at)->last_wrap == at &&
	    story->events[at - 1].cycle == story->events[at].cycle)
		overflow = &story->overflows[story->noverflows - 1];
	else
		overflow = new_overflow(cut, at);
	overflow->counters |= UINT32_C(1) << (story->events[at].a & 31);
	overflow->last = at;
	cpu_of(cut, at)->last_wrap = at + 1;
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
	const struct cutter_cpu *cpu = cpu_of(cut, at);
	bool handler = cpu->depth && cpu->frame[cpu->depth - 1];
	struct story_overflow *overflow;

	for (size_t n = cut->open; (overflow = next_open(cut, at, &n)) != NULL; n++) {
		if (cut->phase[n] || !(overflow->counters & cut->story->events[at].a))
			continue;
		overflow->cleared = at;
		overflow->last = at;
		if (handler)
			cut->phase[n] = (uint8_t)(1 + cpu->depth);
		else
			close_overflow(cut, n, at);
	}
}

static void on_taken(struct cutter *cut, size_t at)
{
	struct story_overflow *overflow;

	for (size_t n = cut->open; (overflow = next_open(cut, at, &n)) != NULL; n++)
		if (!cut->phase[n] && !overflow->taken)
			overflow->taken = at;
}

static void on_return(struct cutter *cut, size_t at)
{
	struct cutter_cpu *cpu = cpu_of(cut, at);

	for (size_t n = cut->open; next_open(cut, at, &n); n++)
		if (cut->phase[n] == 1 + cpu->depth)
			close_overflow(cut, n, at);
	if (cpu->depth)
		cpu->depth--;
}

/* The ip of a whole SAMPLE. */
static bool sample_ip(const struct story *story, const struct story_record *record,
		      uint64_t *ip)
{
	for (size_t word = 1; 8 * word + 8 <= record->nbytes && word < 3; word++) {
		const char *name = story_record_field(story, record, word);

		if (!name || strcmp(name, "ip"))
			continue;
		memcpy(ip, record->bytes + 8 * word, sizeof(*ip));
		return true;
	}
	return false;
}

/* A record belongs to the overflow whose handler wrote it. */
static void on_output(struct cutter *cut, size_t at)
{
	const struct story_event *event = &cut->story->events[at];
	struct story_record *record = &cpu_of(cut, at)->record;
	struct perf_event_header header = { 0 };
	struct story_overflow *overflow;

	if (event->kind == TRACE_STORE) {
		story_record_add(cut->story, record, event);
		if (!record->left && record->nbytes >= sizeof(header))
			memcpy(&header, record->bytes, sizeof(header));
	}
	for (size_t n = cut->open; (overflow = next_open(cut, at, &n)) != NULL; n++) {
		if (!cut->phase[n])
			continue;
		overflow->lost |= event->kind == TRACE_LOST;
		if (header.type == PERF_RECORD_SAMPLE && !overflow->samples++)
			overflow->has_ip = sample_ip(cut->story, record, &overflow->ip);
	}
}

static void cut_at(struct cutter *cut, size_t at)
{
	const struct story_event *event = &cut->story->events[at];
	struct cutter_cpu *cpu = cpu_of(cut, at);

	if (event->kind == TRACE_WRAP)
		on_wrap(cut, at);
	if (event->kind == TRACE_FLAG_CLEAR)
		on_flag_clear(cut, at);
	if (event->kind == TRACE_TAKEN)
		on_taken(cut, at);
	if (event->kind == TRACE_TAKEN || event->kind == TRACE_EXCEPTION) {
		if (cpu->depth < FRAMES)
			cpu->frame[cpu->depth++] = event->kind == TRACE_TAKEN;
	}
	if (event->kind == TRACE_STORE || event->kind == TRACE_LOST)
		on_output(cut, at);
	if (event->kind == TRACE_ERET)
		on_return(cut, at);
	cut->story->records += event->kind == TRACE_RECORD;
	cut->story->lost += event->kind == TRACE_LOST;
	cut->story->wakeups += event->kind == TRACE_WAKEUP;
	for (unsigned i = 0; i < cut->story->ncpus; i++)
		story_advance(cut->story, &cut->cpu[i].state, event);
}

void story_cut(struct story *story)
{
	struct cutter cut = { .story = story };

	for (unsigned i = 0; i < story->ncpus; i++)
		cut.cpu[i].state = story->begin[i];
	for (size_t i = 0; i < story->nevents; i++)
		cut_at(&cut, i);
	free(cut.phase);
}
