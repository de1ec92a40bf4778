/* SPDX-License-Identifier: MIT */
#include "tools/wave.h"

#include <stdlib.h>

#include "tools/regtext.h"

/* What the counters hold at this event, from the device itself. */
static void read_counters(struct wave_sample *now, struct pmuv3 *pmu)
{
	pmuv3_settle(pmu);
	now->present = UINT32_C(1) << PMUV3_CYCLE;
	now->counter[PMUV3_CYCLE] = pmu->pmccntr;
	for (unsigned n = 0; n < pmu->config.counters; n++) {
		now->present |= UINT32_C(1) << n;
		now->counter[n] = pmu->pmevcntr[n];
	}
}

/* A write is on the bus before it has its effect. */
static void heed_write(struct wave_sample *now, const struct story_event *event)
{
	char name[32];
	int n;

	if (event->kind != TRACE_SYSREG_WRITE)
		return;
	n = regtext_counter_of(story_reg_name((uint32_t)event->a, name, sizeof(name)));
	if (n >= 0)
		now->counter[n] = event->b;
}

static void begin(struct wave *wave, const struct story *story, uint64_t cycle)
{
	wave->begun = 1;
	for (unsigned i = 0; i < story->ncpus; i++)
		wave->now[i].state = story->begin[i];
	for (unsigned i = 0; i < wave->nsinks; i++)
		wave->sink[i]->begin(wave->sink[i]->opaque, story, wave->now, cycle);
}

void wave_event(void *opaque, struct story *story, size_t at)
{
	const struct story_event *event = &story->events[at];
	struct wave *wave = opaque;

	for (unsigned i = 0; i < story->ncpus; i++)
		read_counters(&wave->now[i], &story->machine->cpu[i].pmu);
	if (!wave->begun)
		begin(wave, story, event->cycle);
	heed_write(&wave->now[event->cpu], event);
	for (unsigned i = 0; i < story->ncpus; i++)
		story_advance(story, &wave->now[i].state, event);
	wave->now[event->cpu].step = event->step;
	for (unsigned i = 0; i < wave->nsinks; i++)
		wave->sink[i]->event(wave->sink[i]->opaque, story, wave->now, at);
}

void wave_close(struct wave_sink *sink)
{
	if (!sink)
		return;
	free(sink->opaque);
	free(sink);
}
