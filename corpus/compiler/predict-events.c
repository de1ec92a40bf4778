/* SPDX-License-Identifier: MIT */
/* What perf_event keeps, kept by arithmetic: state, count, period_left, limit. */
#include <errno.h>
#include <string.h>

#include "corpus/compiler/predict.h"

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
	PRCTL_ENABLE = 32
};

bool predict_is_error(int64_t result)
{
	return result < 0 && result >= -4095;
}

/* The result of operation @op: the log's, or success. */
int64_t predict_result(const struct predict_walk *w, int op)
{
	if (op < 0 || !w->results || (size_t)op >= w->nresults)
		return 0;
	return w->results[op];
}

/* A group's member counts while its leader does. */
static bool counts(const struct predict_walk *w, unsigned i)
{
	const struct predict_event *s = &w->events[i];

	return s->open && !s->dead && s->enabled && w->events[s->leader].enabled;
}

/* @n events more on one that counts: perf's arithmetic of period_left
 * (armpmu_event_set_period), each overflow taken at its own instruction. */
static void add_events(struct predict_walk *w, struct predict_event *s, uint64_t n)
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
static uint64_t until_limit(const struct predict_event *s, uint64_t n)
{
	uint64_t limit;

	if (!s->period || s->limit <= 0)
		return n;
	limit = s->left + (uint64_t)(s->limit - 1) * s->period;
	return n < limit ? n : limit;
}

static void advance_event(struct predict_walk *w, unsigned i, uint64_t n, bool known)
{
	struct predict_event *s = &w->events[i];
	uint64_t before = s->samples, counted;

	if (!counts(w, i) || (s->target >= 0 && s->target != w->now))
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

void predict_advance(struct predict_walk *w, uint64_t n, bool known)
{
	for (unsigned i = 0; i < w->scn->nevents; i++)
		advance_event(w, i, n, known);
}

void predict_enable(struct predict_walk *w, unsigned i, bool enabled)
{
	struct predict_event *s = &w->events[i];
	bool counted[SCN_MAX_EVENTS];

	for (unsigned k = 0; k < w->scn->nevents; k++)
		counted[k] = counts(w, k);
	s->enabled = enabled;
	for (unsigned k = 0; k < w->scn->nevents; k++) {
		struct predict_event *other = &w->events[k];

		if (!counted[k] && counts(w, k))
			other->windows++;
		/* The overflow on the DISABLE's own SVC: the kernel takes it after entry. */
		if (counted[k] && !counts(w, k) && other->period && other->known &&
		    other->left == other->period && other->samples)
			other->at_edge = true;
	}
}

unsigned predict_process(const struct predict_walk *w, int task)
{
	return (unsigned)w->scn->tasks[task].process;
}

static void open_event(struct predict_walk *w, const struct scn_step *step)
{
	const struct scn_event *event = &w->scn->events[step->event];
	struct predict_event *s = &w->events[step->event];

	if (predict_is_error(predict_result(w, step->op)))
		return;
	memset(s, 0, sizeof(*s));
	s->open = true;
	s->leader = step->other >= 0 ? step->other : step->event;
	s->period = event->attr.freq ? 0 : event->attr.sample_period;
	s->left = s->period;
	s->owner = step->task;
	s->target = step->peer >= 0 ? step->peer : step->task;
	s->fds = 1u << predict_process(w, step->task);
	s->exec = event->attr.enable_on_exec;
	/* What other numbers name is not known; on several CPUs QEMU's counters
	 * count each other's instructions. */
	s->exact =
		(step->peer >= 0 || step->pid <= 0) && w->scn->machine.cpus == 1 &&
		(event->counts == SCN_COUNTS_EL0 || event->counts == SCN_COUNTS_NOTHING);
	if (step->peer < 0 && step->pid < 0)
		s->target = -1;
	s->known = s->samples_known = s->exact;
	if (!event->attr.disabled)
		predict_enable(w, (unsigned)step->event, true);
}

static void forget(struct predict_event *s)
{
	s->exact = s->known = s->samples_known = false;
}

static bool wants_counter(const struct predict_walk *w, unsigned i)
{
	return w->events[i].open && w->scn->events[i].counts != SCN_COUNTS_UNKNOWN &&
	       w->scn->events[i].counts != SCN_COUNTS_SOFT;
}

/* More events than counters: the kernel multiplexes. */
static void check_counters(struct predict_walk *w)
{
	for (int task = 0; task < (int)w->scn->ntasks; task++) {
		unsigned n = 0;

		for (unsigned i = 0; i < w->scn->nevents; i++)
			n += wants_counter(w, i) &&
			     (w->events[i].target < 0 || w->events[i].target == task);
		for (unsigned i = 0; n > HARDWARE_COUNTERS && i < w->scn->nevents; i++)
			if (w->events[i].target < 0 || w->events[i].target == task)
				forget(&w->events[i]);
	}
}

/* The last of fds and mappings is gone (perf_event_release). */
void predict_release(struct predict_walk *w, unsigned i)
{
	struct predict_event *s = &w->events[i];

	if (!s->open || s->fds || s->maps)
		return;
	predict_enable(w, i, false);
	s->open = false;
}

static void map_event(struct predict_walk *w, const struct scn_step *step)
{
	struct predict_event *s = &w->events[step->event];
	uint32_t bit = 1u << predict_process(w, step->task);

	if (predict_is_error(predict_result(w, step->op)))
		return;
	if (step->verb == SCN_MMAP)
		s->maps |= bit;
	else
		s->maps &= ~bit;
	predict_release(w, (unsigned)step->event);
}

static void close_event(struct predict_walk *w, const struct scn_step *step)
{
	struct predict_event *s = &w->events[step->event];

	if (predict_is_error(predict_result(w, step->op)))
		return;
	s->fds &= ~(1u << predict_process(w, step->task));
	/* A group's members are set free then, and start at the next context
	 * switch: not predicted further. */
	for (unsigned i = 0; !s->fds && i < w->scn->nevents; i++)
		if (w->events[i].leader == step->event && (int)i != step->event)
			forget(&w->events[i]);
	predict_release(w, (unsigned)step->event);
}

static void period_event(struct predict_walk *w, unsigned i, uint64_t period)
{
	struct predict_event *s = &w->events[i];

	s->period = period;
	s->left = period;
}

static void ioctl_one(struct predict_walk *w, unsigned i, uint32_t cmd)
{
	struct predict_event *s = &w->events[i];

	if (cmd == IOC_ENABLE) {
		predict_enable(w, i, true);
	} else if (cmd == IOC_DISABLE) {
		predict_enable(w, i, false);
	} else if (cmd == IOC_RESET) {
		s->count = 0;
		s->known = s->exact;
	}
}

static void ioctl_event(struct predict_walk *w, const struct scn_step *step)
{
	unsigned event = (unsigned)step->event;
	struct predict_event *s = &w->events[event];
	bool group = step->arg & 1;

	if (!s->open || predict_is_error(predict_result(w, step->op)))
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
		predict_enable(w, event, true);
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

static void inject(struct predict_walk *w, const struct scn_step *step)
{
	const struct scn_event *event;
	struct predict_event *s;
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
	    !predict_is_error(predict_result(w, step->op))) {
		/* One burst is one interrupt at most. */
		if (s->period && step->n > s->left)
			s->samples_known = false;
		add_events(w, s, step->n);
	}
}

/* PR_TASK_PERF_EVENTS_*: all that this task has opened. */
static void prctl_events(struct predict_walk *w, const struct scn_step *step)
{
	for (unsigned i = 0; !step->text && i < w->scn->nevents; i++)
		if (w->events[i].open && w->events[i].owner == w->now)
			predict_enable(w, i, step->cmd == PRCTL_ENABLE);
}

/* What a system call does, after its SVC. */
void predict_effect(struct predict_walk *w, const struct scn_step *step)
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
	case SCN_PRCTL:
		prctl_events(w, step);
		break;
	default:
		break;
	}
}

void predict_snapshot(const struct predict_walk *w, struct scn_count *out)
{
	for (unsigned i = 0; i < w->scn->nevents; i++) {
		const struct predict_event *s = &w->events[i];
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
