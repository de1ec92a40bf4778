/* SPDX-License-Identifier: MIT */
/*
 * Counts by arithmetic: the agent's operations have known lengths, so what an
 * event counts is the sum of the operations between its ENABLE and its DISABLE.
 * This walks the operations as the kernel sees them and keeps, for each event,
 * what perf_event keeps: state, count, period_left, event_limit.
 *
 * What cannot be known (a drain whose length is not given, another task's
 * work) makes a count unknown from there on; a RESET makes it known again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/agent/agent-cost.h"
#include "corpus/compiler/parse.h"

enum {
	IOC_ENABLE = 0x2400,
	IOC_DISABLE = 0x2401,
	IOC_REFRESH = 0x2402,
	IOC_RESET = 0x2403
};
#define IOC_PERIOD 0x40082404u

/* The agent's PMU: six event counters and the cycle counter. */
enum {
	HARDWARE_COUNTERS = 6,
	TIME_QUANTUM_NS = 16,
	PAGE_SIZE = 4096
};

struct state {
	bool open, enabled;
	bool closed, mapped; /* a mapping keeps a closed event alive */
	bool exact;	     /* its own task's EL0 instructions, on a counter */
	bool known;	     /* count */
	bool samples_known;  /* samples, left */
	bool at_edge;
	int leader; /* itself when not in a group */
	uint64_t count, samples;
	uint64_t period, left;
	int64_t limit; /* event_limit, 0: none */
	uint64_t ns;
	unsigned windows;
};

struct walk {
	const struct scn *scn;
	struct state *events;
	const int64_t *results;
	size_t nresults;
	bool masked;
};

static bool is_error(int64_t result)
{
	return result < 0 && result >= -4095;
}

/* The result of operation @op: the log's, or success. */
static int64_t result_of(const struct walk *w, int op)
{
	if (op < 0 || !w->results || (size_t)op >= w->nresults)
		return 0;
	return w->results[op];
}

static uint64_t workload_cost(uint64_t number, uint64_t n)
{
	switch (number) {
	case AGENT_WL_SPIN:
		return AGENT_WL_SPIN_COST(n);
	case AGENT_WL_LOAD:
		return AGENT_WL_LOAD_COST(n);
	case AGENT_WL_STORE:
		return AGENT_WL_STORE_COST(n);
	case AGENT_WL_BRANCH:
		return AGENT_WL_BRANCH_COST(n);
	case AGENT_WL_MIXED:
		return AGENT_WL_MIXED_COST(n);
	case AGENT_WL_FRAMES:
		return AGENT_WL_FRAMES_COST(n);
	}
	return 0;
}

/* EL0 instructions of an operation that is no system call; false: not known. */
static bool cost_of(const struct walk *w, const struct scn_op *op, int64_t result,
		    uint64_t *cost)
{
	/* An error value in the slot, or an address that is one by itself. */
	uint64_t fault = op->slot[0] ? AGENT_COST_FAULT_SLOT : AGENT_COST_FAULT_SUM;
	bool faults = result == -EFAULT || op->args[0] == (uint64_t)-EFAULT;

	switch (op->kind) {
	case AGENT_RUN:
		*cost = op->args[1]
				? AGENT_COST_RUN + workload_cost(op->args[0], op->args[1])
				: AGENT_COST_RUN_BAD_N;
		return true;
	case AGENT_DRAIN:
	case AGENT_PEEK:
		if (faults)
			*cost = fault;
		else if (!w->results)
			return false;
		else if (result == -ENOSPC)
			*cost = op->kind == AGENT_DRAIN ? AGENT_COST_DRAIN_FULL
							: AGENT_COST_PEEK_FULL;
		else if (op->kind == AGENT_DRAIN)
			*cost = AGENT_COST_DRAIN_BASE +
				(uint64_t)result / 8 * AGENT_COST_DRAIN_WORD;
		else
			*cost = AGENT_COST_PEEK_BASE +
				(uint64_t)result / 8 * AGENT_COST_PEEK_WORD;
		return true;
	case AGENT_POKE:
		*cost = faults ? fault : AGENT_COST_POKE;
		return true;
	case AGENT_PAGE:
		*cost = faults ? fault
			: result == -ENOSPC
				? AGENT_COST_PAGE_FULL
				: AGENT_COST_PAGE_BASE +
					  op->args[1] / 8 * AGENT_COST_PAGE_WORD;
		return true;
	case AGENT_TOUCH:
		*cost = faults ? fault
			       : AGENT_COST_TOUCH_BASE + (op->args[1] + PAGE_SIZE - 1) /
								 PAGE_SIZE *
								 AGENT_COST_TOUCH_PAGE;
		return true;
	}
	return false;
}

/* A group's member counts while its leader does. */
static bool counts(const struct walk *w, unsigned i)
{
	const struct state *s = &w->events[i];

	return s->open && s->enabled && w->events[s->leader].enabled;
}

/* @n events more on one that counts: perf's arithmetic of period_left
 * (armpmu_event_set_period), each overflow taken at its own instruction. */
static void add_events(struct walk *w, struct state *s, uint64_t n)
{
	s->count += n;
	if (!s->period || !s->samples_known)
		return;
	if (w->masked) {
		s->samples_known = false;
		return;
	}
	if (n < s->left) {
		s->left -= n;
		return;
	}
	n -= s->left;
	s->samples += 1 + n / s->period;
	s->left = s->period - n % s->period;
}

/* Events up to the one that uses up event_limit (perf_event_refresh). */
static uint64_t until_limit(const struct state *s, uint64_t n)
{
	uint64_t limit;

	if (!s->period || s->limit <= 0)
		return n;
	limit = s->left + (uint64_t)(s->limit - 1) * s->period;
	return n < limit ? n : limit;
}

static void advance_event(struct walk *w, unsigned i, uint64_t n, bool known)
{
	struct state *s = &w->events[i];
	uint64_t before = s->samples, counted;

	if (!counts(w, i))
		return;
	if (w->scn->events[i].counts != SCN_COUNTS_EL0 || !known) {
		s->ns += n;
		if (w->scn->events[i].counts != SCN_COUNTS_NOTHING)
			s->known = s->samples_known = false;
		return;
	}
	counted = until_limit(s, n);
	s->ns += counted;
	add_events(w, s, counted);
	if (s->limit > 0 && s->samples > before) {
		s->limit -= (int64_t)(s->samples - before);
		if (s->limit <= 0) {
			s->limit = 0;
			s->enabled = false;
		}
	}
}

static void advance(struct walk *w, uint64_t n, bool known)
{
	for (unsigned i = 0; i < w->scn->nevents; i++)
		advance_event(w, i, n, known);
}

static void set_enabled(struct walk *w, unsigned i, bool enabled)
{
	struct state *s = &w->events[i];
	bool counted[SCN_MAX_EVENTS];

	for (unsigned k = 0; k < w->scn->nevents; k++)
		counted[k] = counts(w, k);
	s->enabled = enabled;
	for (unsigned k = 0; k < w->scn->nevents; k++) {
		struct state *other = &w->events[k];

		if (!counted[k] && counts(w, k))
			other->windows++;
		/* The overflow on the DISABLE's own SVC: the kernel takes it after entry. */
		if (counted[k] && !counts(w, k) && other->period && other->known &&
		    other->left == other->period && other->samples)
			other->at_edge = true;
	}
}

static void open_event(struct walk *w, const struct scn_step *step)
{
	const struct scn_event *event = &w->scn->events[step->event];
	struct state *s = &w->events[step->event];

	if (is_error(result_of(w, step->op)))
		return;
	memset(s, 0, sizeof(*s));
	s->open = true;
	s->leader = step->other >= 0 ? step->other : step->event;
	s->period = event->attr.freq ? 0 : event->attr.sample_period;
	s->left = s->period;
	/* Another task's or a CPU's: not only the agent's own instructions. */
	s->exact = !step->pid && (event->counts == SCN_COUNTS_EL0 ||
				  event->counts == SCN_COUNTS_NOTHING);
	s->known = s->samples_known = s->exact;
	if (!event->attr.disabled)
		set_enabled(w, (unsigned)step->event, true);
}

static void forget(struct state *s)
{
	s->exact = s->known = s->samples_known = false;
}

/* More events than counters: the kernel multiplexes. */
static void check_counters(struct walk *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->scn->nevents; i++)
		n += w->events[i].open && w->scn->events[i].counts != SCN_COUNTS_UNKNOWN;
	if (n <= HARDWARE_COUNTERS)
		return;
	for (unsigned i = 0; i < w->scn->nevents; i++)
		forget(&w->events[i]);
}

/* The last of fd and mapping is gone (perf_event_release). */
static void release_event(struct walk *w, unsigned i)
{
	struct state *s = &w->events[i];

	if (!s->closed || s->mapped)
		return;
	set_enabled(w, i, false);
	s->open = false;
}

static void map_event(struct walk *w, const struct scn_step *step)
{
	struct state *s = &w->events[step->event];

	if (is_error(result_of(w, step->op)))
		return;
	s->mapped = step->verb == SCN_MMAP;
	release_event(w, (unsigned)step->event);
}

static void close_event(struct walk *w, const struct scn_step *step)
{
	if (is_error(result_of(w, step->op)))
		return;
	/* A group's members are set free then, and start at the next context
	 * switch: not predicted further. */
	for (unsigned i = 0; i < w->scn->nevents; i++)
		if (w->events[i].leader == step->event && (int)i != step->event)
			forget(&w->events[i]);
	w->events[step->event].closed = true;
	release_event(w, (unsigned)step->event);
}

static void period_event(struct walk *w, unsigned i, uint64_t period)
{
	struct state *s = &w->events[i];

	s->period = period;
	s->left = period;
}

static void ioctl_one(struct walk *w, unsigned i, uint32_t cmd)
{
	struct state *s = &w->events[i];

	if (cmd == IOC_ENABLE) {
		set_enabled(w, i, true);
	} else if (cmd == IOC_DISABLE) {
		set_enabled(w, i, false);
	} else if (cmd == IOC_RESET) {
		s->count = 0;
		s->known = s->exact;
	}
}

static void ioctl_event(struct walk *w, const struct scn_step *step)
{
	unsigned event = (unsigned)step->event;
	struct state *s = &w->events[event];
	bool group = step->arg & 1;

	if (!s->open || is_error(result_of(w, step->op)))
		return;
	switch (step->cmd) {
	case IOC_PERIOD:
		if (step->raw)
			s->samples_known = false;
		else
			period_event(w, event, step->arg);
		break;
	case IOC_REFRESH:
		s->limit += (int32_t)step->arg;
		set_enabled(w, event, true);
		break;
	case IOC_ENABLE:
	case IOC_DISABLE:
	case IOC_RESET:
		for (unsigned i = 0; i < w->scn->nevents; i++)
			if (i == event || (group && w->events[i].open &&
					   w->events[i].leader == s->leader))
				ioctl_one(w, i, step->cmd);
		break;
	}
}

static void inject(struct walk *w, const struct scn_step *step)
{
	const struct scn_event *event;
	struct state *s;
	bool excluded;

	if (step->other < 0 || step->verb != SCN_INJECT) {
		/* Forced, or at a moment of its own. */
		for (unsigned i = 0; i < w->scn->nevents; i++)
			if (step->other < 0 || (int)i == step->other)
				w->events[i].known = w->events[i].samples_known = false;
		return;
	}
	event = &w->scn->events[step->other];
	s = &w->events[step->other];
	excluded = step->el ? event->attr.exclude_kernel : event->attr.exclude_user;
	if (counts(w, (unsigned)step->other) && !excluded &&
	    !is_error(result_of(w, step->op))) {
		/* One burst is one interrupt at most. */
		if (s->period && step->n > s->left)
			s->samples_known = false;
		add_events(w, s, step->n);
	}
}

/* What a system call does, after its SVC. */
static void effect(struct walk *w, const struct scn_step *step)
{
	switch (step->verb) {
	case SCN_OPEN:
		open_event(w, step);
		check_counters(w);
		break;
	case SCN_CLOSE:
		close_event(w, step);
		break;
	case SCN_MMAP:
	case SCN_MUNMAP:
		map_event(w, step);
		break;
	case SCN_IOCTL:
		ioctl_event(w, step);
		break;
	case SCN_INJECT:
	case SCN_AT_HAL:
	case SCN_AT_OVERFLOW:
		inject(w, step);
		break;
	case SCN_MASK:
		w->masked = true;
		break;
	case SCN_UNMASK:
		w->masked = false;
		break;
	default:
		break;
	}
}

static void snapshot(const struct walk *w, struct scn_count *out)
{
	for (unsigned i = 0; i < w->scn->nevents; i++) {
		const struct state *s = &w->events[i];
		uint64_t slack = (uint64_t)TIME_QUANTUM_NS * (s->windows + 1);

		out[i].known = s->open && s->known;
		out[i].value = s->count;
		out[i].samples_known = s->open && s->samples_known && s->period;
		out[i].samples = s->samples;
		out[i].at_edge = s->at_edge;
		out[i].el0_ns = s->ns > slack ? s->ns - slack : 0;
		out[i].windows = s->windows;
	}
}

static void walk_step(struct walk *w, const struct scn_step *step, struct scn_count *out)
{
	struct scn_op ops[SCN_STEP_OPS];
	unsigned visible, n = scn_step_ops(w->scn, step, ops, &visible);

	for (unsigned k = 0; k < n; k++) {
		int op = step->op + (int)k - (int)visible;
		uint64_t cost = 0;

		if (ops[k].kind == AGENT_SYSCALL) {
			advance(w, AGENT_COST_SYSCALL_HEAD, true);
			if (k == visible) {
				effect(w, step);
				snapshot(w, out);
			}
			advance(w, AGENT_COST_SYSCALL_TAIL, true);
			continue;
		}
		if (cost_of(w, &ops[k], result_of(w, op), &cost))
			advance(w, cost, true);
		else
			advance(w, 0, false);
		if (k == visible)
			snapshot(w, out);
	}
}

struct scn_count *scn_predict(const struct scn *scn, const int64_t *results,
			      size_t nresults)
{
	struct walk w = {.scn = scn, .results = results, .nresults = nresults};
	size_t row = scn->nevents ? scn->nevents : 1;
	struct scn_count *out = calloc((scn->nsteps + 1) * row, sizeof(*out));

	w.events = calloc(row, sizeof(*w.events));
	if (!out || !w.events)
		abort();
	for (unsigned i = 0; i < scn->nsteps; i++)
		walk_step(&w, &scn->steps[i], out + (size_t)i * scn->nevents);
	free(w.events);
	return out;
}
