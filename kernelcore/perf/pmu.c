/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/pmu.h"

#include <asm-generic/errno-base.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/slots.h"

/* No table of functions: the image is not relocated. */
static bool on_counter(const struct kperf_event *event)
{
	return event->kind == PERF_KIND_HW;
}

int perf_event_add(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (on_counter(event))
		return perf_slot_add(cpu, event);
	perf_sw_add(cpu, event);
	return 0;
}

void perf_event_del(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (on_counter(event))
		perf_slot_del(cpu, event);
	else
		perf_sw_del(cpu, event);
}

void perf_event_start(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (on_counter(event))
		perf_slot_start(cpu, event);
	else
		perf_sw_start(cpu, event);
}

void perf_event_stop(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (on_counter(event))
		perf_slot_stop(cpu, event);
	else
		perf_sw_stop(cpu, event);
}

void perf_event_update(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (on_counter(event))
		perf_slot_update(cpu, event);
	else
		perf_sw_update(cpu, event);
}

/* Linux perf_init_event(): whose is it? */
int perf_event_init_pmu(struct kperf_event *event)
{
	int ret = perf_sw_init(event);

	return ret == -ENOENT ? perf_attr_init_hw(event) : ret;
}
