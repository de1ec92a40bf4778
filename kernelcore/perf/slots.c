/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/slots.h"

#include <asm-generic/errno.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu_armv8.h"
#include "kernelcore/perf/policy.h"

static bool take(struct perf_slot_set *set, unsigned counter)
{
	uint32_t bit = UINT32_C(1) << counter;

	if (set->used & bit)
		return false;
	set->used |= bit;
	return true;
}

/* Linux armv8pmu_event_is_chained(): without long counters a 64-bit event
 * needs two, unless it sits on the cycle counter or user space may read it. */
static bool is_chained(const struct perf_slot_set *set, const struct kperf_event *event,
		       int counter)
{
	return !set->long_events && event->hw.is_64bit && !event->hw.user_read &&
	       counter != PMU_CYCLE;
}

static int get_single(struct perf_slot_set *set)
{
	for (unsigned n = 0; n < set->counters; n++)
		if (take(set, n))
			return (int)n;
	return -EAGAIN;
}

/* An even counter and the one above it. */
static int get_pair(struct perf_slot_set *set)
{
	for (unsigned n = 1; n < set->counters; n += 2) {
		uint32_t both = UINT32_C(3) << (n - 1);

		if (!(set->used & both)) {
			set->used |= both;
			return (int)n;
		}
	}
	return -EAGAIN;
}

int perf_slot_get(struct perf_slot_set *set, const struct kperf_event *event)
{
	if ((event->hw.evtype & 0xffff) == PMU_EVENT_CYCLES) {
		if (take(set, PMU_CYCLE))
			return PMU_CYCLE;
		if (event->hw.is_64bit && event->hw.user_read)
			return -EAGAIN;
	}
	return is_chained(set, event, event->hw.counter) ? get_pair(set)
							 : get_single(set);
}

void perf_slot_put(struct perf_slot_set *set, const struct kperf_event *event)
{
	uint32_t bit = UINT32_C(1) << event->hw.counter;

	if (is_chained(set, event, event->hw.counter))
		bit |= bit >> 1;
	set->used &= ~bit;
}

/* The largest value of an event's counter (Linux arm_pmu_event_max_period). */
static uint64_t max_period(const struct kperf_event *event)
{
	return event->hw.is_64bit ? UINT64_MAX : UINT32_MAX;
}

static struct perf_slot *slot_of(struct perf_cpu *cpu, const struct kperf_event *event)
{
	return &cpu->slots[event->hw.counter];
}

bool perf_slot_set_period(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct perf_hw *hw = &event->hw;
	int64_t period = (int64_t)hw->sample_period;
	int64_t left = hw->period_left;
	bool ended = false;

	if (left <= -period) {
		/* later than a whole period: what is over is not made up */
		left = period;
		ended = true;
	} else if (left <= 0) {
		left += period;
		ended = true;
	}
	if (ended) {
		hw->period_left = left;
		hw->last_period = hw->sample_period;
	}
	/* No more than half the range at once, so that a late interrupt finds
	 * a value that has not passed the one programmed. */
	if ((uint64_t)left > max_period(event) >> 1)
		left = (int64_t)(max_period(event) >> 1);
	hal_story(cpu->hal, HAL_STORY_ARM, event->id, (uint64_t)hw->period_left,
		  hw->sample_period, NULL);
	hw->prev_count = -(uint64_t)left;
	perf_pmu_write(cpu->hal, slot_of(cpu, event),
		       -(uint64_t)left & max_period(event));
	perf_mmap_page_update(event);
	return ended;
}

void perf_slot_update(struct perf_cpu *cpu, struct kperf_event *event)
{
	uint64_t value = perf_pmu_read(cpu->hal, slot_of(cpu, event));
	uint64_t delta = (value - event->hw.prev_count) & max_period(event);

	event->hw.prev_count = value;
	event->count += delta;
	event->hw.period_left = (int64_t)((uint64_t)event->hw.period_left - delta);
}

void perf_slot_stop(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->hw.stopped)
		return;
	perf_pmu_disable(cpu->hal, slot_of(cpu, event));
	perf_slot_update(cpu, event);
	event->hw.stopped = true;
}

void perf_slot_start(struct perf_cpu *cpu, struct kperf_event *event)
{
	event->hw.stopped = false;
	perf_slot_set_period(cpu, event);
	perf_pmu_enable(cpu->hal, slot_of(cpu, event));
}

int perf_slot_add(struct perf_cpu *cpu, struct kperf_event *event)
{
	int counter = perf_slot_get(&cpu->set, event);

	if (counter < 0)
		return counter;
	cpu->slots[counter] = (struct perf_slot){
		.event = event,
		.evtype = event->hw.evtype,
		.counter = (uint8_t)counter,
		.chained = is_chained(&cpu->set, event, counter),
		/* Linux armv8pmu_event_needs_bias() */
		.biased = !event->hw.is_64bit &&
			  (counter == PMU_CYCLE || cpu->set.long_events),
	};
	event->hw.counter = counter;
	event->hw.stopped = true;
	perf_slot_start(cpu, event);
	perf_mmap_page_update(event);
	return 0;
}

void perf_slot_del(struct perf_cpu *cpu, struct kperf_event *event)
{
	perf_slot_stop(cpu, event);
	slot_of(cpu, event)->event = NULL;
	perf_slot_put(&cpu->set, event);
	perf_mmap_page_update(event);
	event->hw.counter = -1;
}

void perf_slots_disable(struct perf_cpu *cpu)
{
	if (cpu->disable_depth++ == 0)
		perf_pmu_stop(cpu->hal);
}

void perf_slots_enable(struct perf_cpu *cpu)
{
	/* With no counter in use the PMU stays off. */
	if (--cpu->disable_depth == 0 && cpu->set.used)
		perf_slots_start(cpu);
}

void perf_slots_start(struct perf_cpu *cpu)
{
	const struct perf_context *ctx = cpu->task_ctx;
	uint32_t present =
		UINT32_C(1) << PMU_CYCLE | ((UINT32_C(1) << cpu->set.counters) - 1);

	perf_pmu_user(cpu->hal, cpu->perf->policy,
		      ctx && ctx->nr_user &&
			      ksys_sysctl(cpu->perf->sys, KSYS_SYSCTL_USER_ACCESS),
		      present & ~cpu->set.used);
	perf_pmu_start(cpu->hal);
}

unsigned perf_slot_first(const struct kperf *perf, uint32_t counters)
{
	if (perf->policy->cycle_counter_first && counters >> PMU_CYCLE)
		return PMU_CYCLE;
	return (unsigned)__builtin_ctz(counters);
}
