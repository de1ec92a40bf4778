/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/freq.h"

#include <linux/perf_event.h>

#include "kernelcore/hal.h"
#include "kernelcore/ksys.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/sample.h"
#include "kernelcore/perf/slots.h"

#define NS_A_SECOND UINT64_C(1000000000)

enum {
	TICK_NS = 1000000000 / KSYS_HZ,
	RESTART = 8, /* new periods: what is left above that is given up */
	/* A limit that no counter can reach in a tick, since serving an overflow
	 * takes over a microsecond, is none. */
	NO_LIMIT = TICK_NS / 1000,
};

/* --- the filter -------------------------------------------------------------- */

/* A factor with its number of bits, as Linux carries both. */
struct factor {
	uint64_t value;
	unsigned bits;
};

static struct factor factor(uint64_t value)
{
	return (struct factor){value, value ? 64 - (unsigned)__builtin_clzll(value) : 0};
}

/* Take a bit off the longer of two; of equals off the second. */
static void reduce(struct factor *a, struct factor *b)
{
	struct factor *longer = a->bits > b->bits ? a : b;

	longer->value >>= 1;
	longer->bits--;
}

static bool overflows(const struct factor *a, const struct factor *b)
{
	return a->bits + b->bits > 64;
}

/* count * 10^9 / (nsec * freq), where both products must fit into 64 bits:
 * accuracy goes bit by bit, on both sides as long as both are too long. */
uint64_t perf_freq_ideal(uint64_t freq, uint64_t nsec, uint64_t count)
{
	struct factor c = factor(count), s = factor(NS_A_SECOND);
	struct factor n = factor(nsec), f = factor(freq);
	uint64_t dividend, divisor;

	while (overflows(&c, &s) && overflows(&n, &f)) {
		reduce(&n, &f);
		reduce(&s, &c);
	}
	if (overflows(&c, &s)) {
		divisor = n.value * f.value;
		while (overflows(&c, &s)) {
			reduce(&c, &s);
			divisor >>= 1;
		}
		dividend = c.value * s.value;
	} else {
		dividend = c.value * s.value;
		while (overflows(&n, &f)) {
			reduce(&n, &f);
			dividend >>= 1;
		}
		divisor = n.value * f.value;
	}
	return divisor ? dividend / divisor : dividend;
}

int64_t perf_freq_filter(int64_t period, int64_t ideal)
{
	int64_t delta = (int64_t)((uint64_t)ideal - (uint64_t)period);

	/* away from 0, so that the last few steps are made too; Linux wraps */
	delta = (int64_t)((uint64_t)delta + (uint64_t)(delta >= 0 ? 7 : -7));
	period = (int64_t)((uint64_t)period + (uint64_t)(delta / 8));
	return period ? period : 1;
}

/* Linux perf_adjust_period(). The new period counts from the next reload on, unless
 * so much is left of the present one that waiting for it would be worse. */
bool perf_freq_step(struct perf_hw *hw, uint64_t freq, uint64_t nsec, uint64_t count)
{
	uint64_t ideal = perf_freq_ideal(freq, nsec, count);

	hw->sample_period =
		(uint64_t)perf_freq_filter((int64_t)hw->sample_period, (int64_t)ideal);
	return hw->period_left > (int64_t)(RESTART * hw->sample_period);
}

/* @running: the counter has to be stopped to begin anew. */
static void adjust(struct perf_cpu *cpu, struct kperf_event *event, uint64_t nsec,
		   uint64_t count, bool running)
{
	struct perf_hw *hw = &event->hw;

	hal_note(cpu->hal, HAL_NOTE_ADJUST, nsec, count);
	if (!perf_freq_step(hw, event->attr.u.a.sample_freq, nsec, count))
		return;
	if (running)
		perf_event_stop(cpu, event);
	hw->period_left = 0;
	if (running)
		perf_event_start(cpu, event);
}

static bool has_freq(const struct kperf_event *event)
{
	return event->attr.u.a.freq && event->attr.u.a.sample_freq;
}

/* Linux has 0 there, and has always been up for longer than the two ticks within
 * which a first overflow would be taken for a second one. This kernel may not. */
void perf_freq_init(struct perf_hw *hw)
{
	hw->freq_time_stamp = -(uint64_t)(2 * TICK_NS);
}

/* The driver has reloaded before this is called: it is the interval just
 * programmed that is fed in with the time of the one that ended. */
static void adjust_on_overflow(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct perf_hw *hw = &event->hw;
	uint64_t now = hal_clock_ns(cpu->hal);
	int64_t delta = (int64_t)(now - hw->freq_time_stamp);

	hw->freq_time_stamp = now;
	/* beyond, it was not running all the time, or it is the tick's to adjust */
	if (delta > 0 && delta < 2 * (int64_t)TICK_NS)
		adjust(cpu, event, (uint64_t)delta, hw->last_period, true);
}

/* --- the brake ---------------------------------------------------------------- */

static uint64_t samples_a_tick(const struct kperf *perf)
{
	int64_t rate = ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_SAMPLE_RATE);

	return ((uint64_t)rate + KSYS_HZ - 1) / KSYS_HZ;
}

/* Linux __perf_event_account_interrupt(). */
bool perf_freq_account(struct perf_cpu *cpu, struct kperf_event *event, bool brake)
{
	struct perf_hw *hw = &event->hw;
	uint64_t limit = samples_a_tick(cpu->perf);
	bool throttled = false;

	if (hw->interrupts_seq != cpu->tick_seq || limit >= NO_LIMIT) {
		hw->interrupts_seq = cpu->tick_seq;
		hw->interrupts = 1;
	} else {
		hw->interrupts++;
	}
	if (brake && hw->interrupts >= limit) {
		cpu->throttled++;
		hw->interrupts = PERF_THROTTLED;
		perf_throttle_output(cpu, event, PERF_RECORD_THROTTLE);
		throttled = true;
	}
	if (event->attr.u.a.freq)
		adjust_on_overflow(cpu, event);
	return throttled;
}

void perf_freq_unthrottle(struct perf_cpu *cpu, struct kperf_event *event)
{
	event->hw.interrupts = 0;
	perf_throttle_output(cpu, event, PERF_RECORD_UNTHROTTLE);
}

/* --- the tick ------------------------------------------------------------------ */

static void tick_event(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct perf_hw *hw = &event->hw;
	int64_t delta;

	if (event->state != PERF_EVENT_ACTIVE)
		return;
	if (hw->interrupts == PERF_THROTTLED) {
		perf_freq_unthrottle(cpu, event);
		if (!has_freq(event) || cpu->perf->policy->tick_starts_twice)
			perf_event_start(cpu, event);
	}
	if (!has_freq(event))
		return;
	perf_event_stop(cpu, event);
	delta = (int64_t)(event->count - hw->freq_count_stamp);
	hw->freq_count_stamp = event->count;
	if (delta > 0)
		adjust(cpu, event, TICK_NS, (uint64_t)delta, false);
	perf_event_start(cpu, event);
}

/* All of a context's events, the youngest first. */
static void tick_all(struct perf_cpu *cpu, struct perf_context *ctx)
{
	struct perf_list *at;

	for (at = ctx->events.prev; at != &ctx->events; at = at->prev)
		tick_event(cpu, perf_list_entry(at, struct kperf_event, ctx_entry));
}

/* Leaders alone: a member is neither adjusted nor let go on by the tick. */
static void tick_leaders(struct perf_cpu *cpu, struct perf_context *ctx, bool pinned)
{
	struct kperf_event *event;

	perf_list_for_each(event, &ctx->groups, struct kperf_event, group_entry)
	{
		if (event->attr.u.a.pinned == pinned)
			tick_event(cpu, event);
	}
}

static void tick_context(struct perf_cpu *cpu, struct perf_context *ctx, bool throttled)
{
	if (!ctx || !ctx->nr_active || !(ctx->nr_freq || throttled))
		return;
	perf_slots_disable(cpu);
	if (cpu->perf->policy->tick_leaders_only) {
		tick_leaders(cpu, ctx, true);
		tick_leaders(cpu, ctx, false);
	} else {
		tick_all(cpu, ctx);
	}
	perf_slots_enable(cpu);
}

/* Linux perf_event_task_tick(). */
void perf_freq_tick(struct perf_cpu *cpu)
{
	bool throttled = cpu->throttled != 0;

	cpu->tick_seq++;
	cpu->throttled = 0;
	tick_context(cpu, &cpu->ctx, throttled);
	tick_context(cpu, cpu->task_ctx, throttled);
}

/* --- who needs the tick ---------------------------------------------------------- */

static bool needs_tick(const struct perf_cpu *cpu, const struct kperf_event *event)
{
	return has_freq(event) ||
	       (perf_event_is_sampling(event) && samples_a_tick(cpu->perf) < NO_LIMIT);
}

void perf_freq_sched_in(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (has_freq(event))
		event->ctx->nr_freq++;
	/* kept: the sysctl may be another when it goes */
	event->hw.needs_tick = needs_tick(cpu, event);
	if (event->hw.needs_tick && cpu->tick_users++ == 0)
		ksys_tick_need(cpu->perf->sys, cpu->hal, true);
}

void perf_freq_sched_out(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (has_freq(event))
		event->ctx->nr_freq--;
	if (event->hw.needs_tick && --cpu->tick_users == 0)
		ksys_tick_need(cpu->perf->sys, cpu->hal, false);
}
