/* SPDX-License-Identifier: MIT */
/* What arithmetic knows about a scenario, held against what a boot said. */
#include "tools/golden-merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/merge.h"

#define EVTYPE_CPU_CYCLES 0x11 /* Arm ARM, PMUv3 common events */
#define EVTYPE_MASK 0xffff     /* what of a raw config reaches PMEVTYPER */

/* A LOST record and its longest sample_id trailer; the ring wants strictly more
 * room than this and the record. */
#define LOST_ROOM (24 + 48)

struct refusal {
	const struct scn *scn;
	const int64_t *results;
	size_t nresults;
	char *err;
	size_t errsize;
};

static int64_t result_of(const struct refusal *r, const struct scn_step *step)
{
	return step->op >= 0 && (size_t)step->op < r->nresults ? r->results[step->op] : 0;
}

static bool failed(const struct refusal *r, const struct scn_step *step)
{
	int64_t result = result_of(r, step);

	return result < 0 && result >= -4095;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

static bool is_cycles(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return (uint32_t)attr->config == PERF_COUNT_HW_CPU_CYCLES;
	return is_hardware(attr) && attr->type != PERF_TYPE_HW_CACHE &&
	       (attr->config & EVTYPE_MASK) == EVTYPE_CPU_CYCLES;
}

/* Whose work a step's event counts: a task, -1 everybody's. */
static int target_of(const struct scn_step *open)
{
	return open->peer >= 0 ? open->peer : open->pid < 0 ? -1 : open->task;
}

/* Can the event @other, opened above, be on a CPU together with that of @step? */
static bool meet(const struct refusal *r, int other, const struct scn_step *step)
{
	int target = target_of(step), before = -1;

	for (unsigned i = 0; &r->scn->steps[i] != step; i++)
		if (r->scn->steps[i].verb == SCN_OPEN &&
		    r->scn->steps[i].event == other && !failed(r, &r->scn->steps[i]))
			before = target_of(&r->scn->steps[i]);
	return target < 0 || before < 0 || target == before;
}

/* The first cycles event gets PMCCNTR (armv8pmu_get_event_idx); any other
 * sampling event stands on an event counter. */
static bool companion_found(const struct refusal *r, const struct scn_step *step,
			    const bool *open)
{
	const struct perf_event_attr *attr = &r->scn->events[step->event].attr, *leader;

	if (!attr->sample_period || !is_hardware(attr))
		return true;
	if (step->other < 0) {
		if (!is_cycles(attr))
			return false;
		for (unsigned i = 0; i < r->scn->nevents; i++)
			if (open[i] && is_cycles(&r->scn->events[i].attr) &&
			    meet(r, (int)i, step))
				return false;
		return true;
	}
	leader = &r->scn->events[step->other].attr;
	return is_cycles(leader) && !leader->freq && !attr->freq &&
	       leader->sample_period && attr->sample_period % leader->sample_period == 0;
}

int golden_refuse_companion(const struct scn *scn, const int64_t *results, size_t n,
			    char *err, size_t errsize)
{
	struct refusal r = {scn, results, n, err, errsize};
	bool open[SCN_MAX_EVENTS] = {false};

	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];

		if (step->event < 0 || failed(&r, step))
			continue;
		if (step->verb == SCN_CLOSE)
			open[step->event] = false;
		if (step->verb != SCN_OPEN)
			continue;
		if (!companion_found(&r, step, open)) {
			snprintf(err, errsize,
				 "scenario %s: step %u \"%s\": event %s samples on an "
				 "event "
				 "counter without a cycles-led companion whose period "
				 "divides its own",
				 scn->name, step->number, step->words,
				 scn->events[step->event].name);
			return -1;
		}
		open[step->event] = true;
	}
	return 0;
}

static const struct scn_count *count_at(const struct refusal *r,
					const struct scn_count *counts, unsigned step,
					unsigned event)
{
	return &counts[(size_t)step * r->scn->nevents + event];
}

/* Which event's ring @event writes to before step @until. */
static int ring_of(const struct refusal *r, int event, unsigned until)
{
	int ring = event;

	for (unsigned i = 0; i < until; i++) {
		const struct scn_step *step = &r->scn->steps[i];

		if (step->verb == SCN_IOCTL && step->event == event &&
		    step->cmd == PERF_EVENT_IOC_SET_OUTPUT && !failed(r, step))
			ring = step->other >= 0 ? step->other : event;
	}
	return ring;
}

/* The last `records` of the ring that @event writes to; -1: none, or a mapping
 * that its reader cannot write, which overwrites and never accounts. */
static int last_drain(const struct refusal *r, int event)
{
	int last = -1;

	for (unsigned i = 0; i < r->scn->nsteps; i++) {
		const struct scn_step *step = &r->scn->steps[i];

		/* The mapping goes with the image, the ring with its last mapping. */
		if (step->verb == SCN_EXEC && !failed(r, step))
			return -1;
		if (step->event != ring_of(r, event, i) || failed(r, step))
			continue;
		if (step->verb == SCN_RECORDS)
			last = (int)i;
		if (step->verb == SCN_MMAP && !(step->prot & 2))
			return -1;
	}
	return last;
}

/* Did the last drain find the ring so full that a loss may still be pending? */
static bool may_be_pending(const struct refusal *r, const struct tt_trace *trace,
			   int drain)
{
	const struct scn_step *step = &r->scn->steps[drain];
	uint64_t bytes = (uint64_t)result_of(r, step), largest = 0;

	for (size_t s = 0; s < trace->nsteps; s++)
		for (size_t i = 0; i < trace->steps[s].nrecords; i++)
			if (trace->steps[s].records[i].nraw > largest)
				largest = trace->steps[s].records[i].nraw;
	return bytes + LOST_ROOM + largest >= step->data_bytes;
}

/* All overflows of @event until step @drain, over all its opens. */
static bool samples_until(const struct refusal *r, const struct scn_count *counts,
			  unsigned event, unsigned drain, uint64_t *samples)
{
	*samples = 0;
	for (unsigned i = 1; i <= drain; i++) {
		const struct scn_step *step = &r->scn->steps[i];
		const struct scn_count *before = count_at(r, counts, i - 1, event);

		if (step->verb != SCN_OPEN || step->event != (int)event ||
		    failed(r, step) || !before->windows)
			continue;
		if (!before->samples_known)
			return false;
		*samples += before->samples;
	}
	*samples += count_at(r, counts, drain, event)->samples;
	return count_at(r, counts, drain, event)->samples_known;
}

static int check_samples(const struct refusal *r, const struct scn_count *counts,
			 const struct tt_trace *trace)
{
	for (unsigned i = 0; i < r->scn->nevents; i++) {
		const struct perf_event_attr *attr = &r->scn->events[i].attr;
		struct merge_account account = {.event = r->scn->events[i].name,
						.period = attr->sample_period};
		int drain = last_drain(r, (int)i);
		uint64_t samples;

		if (attr->freq || !attr->sample_period || drain < 0 ||
		    !samples_until(r, counts, i, (unsigned)drain, &samples))
			continue;
		account.count = samples * account.period;
		account.pending = may_be_pending(r, trace, drain);
		if (merge_refuse_samples(trace, &account, r->err, r->errsize))
			return -1;
	}
	return 0;
}

int golden_refuse_samples(const struct scn *scn, const int64_t *results, size_t n,
			  const struct tt_trace *trace, char *err, size_t errsize)
{
	struct refusal r = {scn, results, n, err, errsize};
	struct scn_count *counts = scn_predict(scn, results, n);
	int ret = check_samples(&r, counts, trace);

	free(counts);
	return ret;
}
