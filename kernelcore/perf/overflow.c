/* SPDX-License-Identifier: MIT */
/*
 * The overflow interrupt. Everything here runs with IRQs off: no allocation,
 * no loop that the user's input bounds.
 */
#include "kernelcore/perf/overflow.h"

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu_armv8.h"
#include "kernelcore/perf/sample.h"
#include "kernelcore/perf/slots.h"

bool perf_event_overflow(struct perf_cpu *cpu, struct kperf_event *event,
			 const struct perf_overflow *overflow)
{
	bool stop;

	/* A counting event's wrap at half range is no sample. */
	if (!perf_event_is_sampling(event))
		return false;
	stop = perf_freq_account(cpu, event, overflow->brake);
	event->pending_kill = PERF_KILL_IN;
	if (event->event_limit && --event->event_limit == 0) {
		stop = true;
		event->pending_disable = true;
		event->pending_kill = PERF_KILL_HUP;
		ksys_irq_work_queue(event->perf->sys, &event->pending_irq);
	}
	perf_sample_output(cpu, event, overflow->regs, overflow->period, overflow->addr);
	/* O_ASYNC is told of each, whatever the watermark */
	if (ksys_sigio_wanted(event->perf->sys, event->parent ? event->parent : event)) {
		event->pending_wakeup = true;
		ksys_irq_work_queue(event->perf->sys, &event->pending_irq);
	}
	return stop;
}

static void serve(struct perf_cpu *cpu, struct perf_slot *slot,
		  const struct hal_regs *regs)
{
	struct kperf_event *event = slot->event;
	struct perf_overflow overflow = {.regs = regs, .brake = true};

	perf_slot_update(cpu, event);
	/* the period that this overflow ends, before the next one is set */
	overflow.period = event->hw.last_period;
	hal_story(cpu->hal, HAL_STORY_SERVE, event->id, slot->counter, overflow.period,
		  NULL);
	if (!perf_slot_set_period(cpu, event))
		return;
	if (perf_event_overflow(cpu, event, &overflow))
		perf_pmu_disable(cpu->hal, slot);
}

/* Linux armv8pmu_handle_irq(). The flags are read and cleared before anything
 * else, all of them, owned or not: one that rises from here on is a new
 * interrupt. PMCR.E is off while counters are served, so that the members of a
 * group do not drift apart. */
bool kperf_irq(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
	struct perf_cpu *cpu = perf_this_cpu(perf, hal);
	uint32_t flags = perf_pmu_getreset_flags(hal);
	uint32_t served = 0;

	if (!flags)
		return false;
	perf_pmu_stop(hal);
	while (flags) {
		unsigned n = perf_slot_first(perf, flags);
		struct perf_slot *slot = &cpu->slots[n];

		flags &= ~(UINT32_C(1) << n);
		if (!slot->event)
			continue;
		serve(cpu, slot, regs);
		served |= UINT32_C(1) << n;
	}
	perf_slots_start(cpu);
	while (served) {
		unsigned n = perf_slot_first(perf, served);

		served &= ~(UINT32_C(1) << n);
		hal_note(hal, HAL_NOTE_ARMED, n, 0);
	}
	return true;
}
