/* SPDX-License-Identifier: MIT */
#include "tools/wave.h"

#include <stdlib.h>

#include "tools/regtext.h"

/* What the counters hold at this event, from the device itself. */
static void read_counters(struct wave_sample *now, struct machine *machine)
{
	struct pmuv3 *pmu = &machine->cpu[0].pmu;

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

void wave_event(void *opaque, struct story *story, size_t at)
{
	const struct story_event *event = &story->events[at];
	struct wave *wave = opaque;

	read_counters(&wave->now, story->machine);
	if (!wave->begun) {
		wave->begun = 1;
		wave->now.state = story->begin;
		for (unsigned i = 0; i < wave->nsinks; i++)
			wave->sink[i]->begin(wave->sink[i]->opaque, story, &wave->now,
					     event->cycle);
	}
	heed_write(&wave->now, event);
	story_advance(story, &wave->now.state, event);
	wave->now.step = event->step;
	for (unsigned i = 0; i < wave->nsinks; i++)
		wave->sink[i]->event(wave->sink[i]->opaque, story, &wave->now, at);
}

void wave_close(struct wave_sink *sink)
{
	if (!sink)
		return;
	free(sink->opaque);
	free(sink);
}
