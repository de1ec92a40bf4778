/* SPDX-License-Identifier: MIT */
/*
 * Events that the kernel counts itself: what it tells of (faults, switches,
 * migrations), and two clocks, whose samples come from a timer of their own.
 */
#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/context.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/mmap_page.h"
#include "kernelcore/perf/overflow.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"
#include "kernelcore/perf/policy.h"

enum {
	CLOCK_PERIOD_MIN = 10000, /* ns, of a clock's samples */
	NS_A_SECOND = 1000000000,
};

/* --- whose is it --------------------------------------------------------------- */

static void init_clock(struct kperf_event *event, enum perf_kind kind)
{
	struct perf_event_attr *a = &event->attr.u.a;

	event->kind = kind;
	if (!a->freq || !a->sample_freq)
		return;
	/* A clock's frequency is a period, once and for all. */
	a->sample_period = NS_A_SECOND / a->sample_freq;
	a->freq = 0;
	event->hw.sample_period = a->sample_period;
	event->hw.last_period = a->sample_period;
	event->hw.period_left = (int64_t)a->sample_period;
}

static bool is_clock(const struct kperf_event *event, uint32_t own_type, uint64_t config)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	return a->config == config &&
	       (a->type == PERF_TYPE_SOFTWARE || (own_type && a->type == own_type));
}

static void clock_fire(void *arg);

int perf_sw_init(struct kperf_event *event)
{
	const struct kperf_policy *policy = event->perf->policy;
	const struct perf_event_attr *a = &event->attr.u.a;
	enum perf_kind kind = PERF_KIND_SW;

	if (is_clock(event, policy->cpu_clock_type, PERF_COUNT_SW_CPU_CLOCK))
		kind = PERF_KIND_CPU_CLOCK;
	else if (is_clock(event, policy->task_clock_type, PERF_COUNT_SW_TASK_CLOCK))
		kind = PERF_KIND_TASK_CLOCK;
	else if (a->type != PERF_TYPE_SOFTWARE || a->config >= KPERF_SWS)
		return -ENOENT;
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	event->kind = kind;
	event->hrtimer.fn = clock_fire;
	event->hrtimer.arg = event;
	if (kind != PERF_KIND_SW)
		init_clock(event, kind);
	return 0;
}

static bool excluded(const struct kperf_event *event, const struct hal_regs *regs)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	if (event->hw.stopped)
		return true;
	return hal_regs_user(regs) ? a->exclude_user : a->exclude_kernel;
}

/* --- clocks ---------------------------------------------------------------------- */

/* A CPU's clock is the kernel's; a task's the one of its context. */
static uint64_t clock_now(struct perf_cpu *cpu, const struct kperf_event *event, bool live)
{
	const struct perf_context *ctx = event->ctx;

	if (event->kind == PERF_KIND_CPU_CLOCK)
		return hal_clock_ns(cpu->hal);
	if (!live)
		return ctx->time;
	return ctx->time + (hal_clock_ns(cpu->hal) - ctx->timestamp);
}

static void clock_update(struct perf_cpu *cpu, struct kperf_event *event, bool live)
{
	uint64_t now = clock_now(cpu, event, live);

	event->count += now - event->hw.prev_count;
	event->hw.prev_count = now;
}

static uint64_t clock_period(const struct kperf_event *event)
{
	uint64_t period = event->hw.sample_period;

	return period < CLOCK_PERIOD_MIN ? CLOCK_PERIOD_MIN : period;
}

static void clock_start_timer(struct perf_cpu *cpu, struct kperf_event *event)
{
	int64_t left = event->hw.period_left;
	uint64_t ns = clock_period(event);

	if (left)
		ns = left < 0 ? CLOCK_PERIOD_MIN : (uint64_t)left;
	event->hw.period_left = 0;
	ksys_hrtimer_start(cpu->perf->sys, &event->hrtimer,
			   hal_clock_ns(cpu->hal) + ns);
}

static void clock_stop_timer(struct perf_cpu *cpu, struct kperf_event *event)
{
	event->hw.period_left =
		(int64_t)(event->hrtimer.expires - hal_clock_ns(cpu->hal));
	ksys_hrtimer_cancel(cpu->perf->sys, &event->hrtimer);
}

static void clock_start(struct perf_cpu *cpu, struct kperf_event *event)
{
	event->hw.prev_count = clock_now(cpu, event, false);
	if (perf_event_is_sampling(event))
		clock_start_timer(cpu, event);
}

static void clock_stop(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (perf_event_is_sampling(event))
		clock_stop_timer(cpu, event);
	clock_update(cpu, event, false);
}

/* hrtimer_forward_now(): the timer keeps its beat. */
static uint64_t next_beat(const struct kperf_event *event, uint64_t now)
{
	uint64_t period = clock_period(event), last = event->hrtimer.expires;

	return now < last ? last : last + ((now - last) / period + 1) * period;
}

/* Linux perf_swevent_hrtimer(). */
static void clock_fire(void *arg)
{
	struct kperf_event *event = arg;
	struct ksys *sys = event->perf->sys;
	struct perf_cpu *cpu = perf_this_cpu(event->perf, ksys_hal(sys));
	struct perf_overflow overflow = {.regs = ksys_irq_regs(sys),
					 .period = event->hw.last_period,
					 .brake = true};
	bool stop = false;

	if (event->state != PERF_EVENT_ACTIVE)
		return;
	clock_update(cpu, event, true);
	if (overflow.regs && !excluded(event, overflow.regs) &&
	    !(event->attr.u.a.exclude_idle && !ksys_current(sys)))
		stop = perf_event_overflow(cpu, event, &overflow);
	/* also of one that stops: what is left then counts from here */
	event->hrtimer.expires = next_beat(event, hal_clock_ns(cpu->hal));
	if (!stop)
		ksys_hrtimer_start(sys, &event->hrtimer, event->hrtimer.expires);
}

/* --- software events --------------------------------------------------------------- */

/* Linux perf_swevent_set_period(): how many periods have ended. What is left is
 * kept below 0 until it ends. */
static uint64_t set_period(struct kperf_event *event)
{
	struct perf_hw *hw = &event->hw;
	uint64_t period = hw->last_period, nr;

	hw->last_period = hw->sample_period;
	if (hw->period_left < 0)
		return 0;
	nr = (period + (uint64_t)hw->period_left) / period;
	hw->period_left -= (int64_t)(nr * period);
	return nr;
}

static void overflows(struct perf_cpu *cpu, struct kperf_event *event, uint64_t n,
		      struct perf_overflow *overflow)
{
	if (!n)
		n = set_period(event);
	if (event->hw.interrupts == PERF_THROTTLED)
		return;
	for (overflow->brake = false; n; n--, overflow->brake = true)
		if (perf_event_overflow(cpu, event, overflow))
			break;
}

/* Linux perf_swevent_event(). Whoever wants periods gets each occurrence. */
static void occurred(struct perf_cpu *cpu, struct kperf_event *event, uint64_t nr,
		     const struct hal_regs *regs, uint64_t addr)
{
	struct perf_overflow overflow = {.regs = regs, .addr = addr};
	const struct perf_event_attr *a = &event->attr.u.a;
	struct perf_hw *hw = &event->hw;

	event->count += nr;
	if (!perf_event_is_sampling(event))
		return;
	if (a->sample_type & PERF_SAMPLE_PERIOD && !a->freq) {
		overflow.period = nr;
		overflows(cpu, event, 1, &overflow);
		return;
	}
	overflow.period = hw->last_period;
	if (nr == 1 && hw->sample_period == 1 && !a->freq) {
		overflows(cpu, event, 1, &overflow);
		return;
	}
	hw->period_left += (int64_t)nr;
	if (hw->period_left >= 0)
		overflows(cpu, event, 0, &overflow);
}

void kperf_sw_event(struct kperf *perf, struct hal *hal, enum kperf_sw sw, uint64_t nr,
		    const struct hal_regs *regs, uint64_t addr)
{
	/* the kernel itself, where nobody looks */
	static const struct hal_regs kernel = {.pstate = 5};
	struct perf_cpu *cpu;
	struct kperf_event *event;
	unsigned long flags;

	if (!atomic_load_explicit(&perf->sw_enabled[sw], memory_order_relaxed))
		return;
	cpu = perf_this_cpu(perf, hal);
	flags = hal_irq_save(hal);
	perf_list_for_each(event, &cpu->sw_events[sw], struct kperf_event, sw_entry)
	{
		if (!excluded(event, regs ? regs : &kernel))
			occurred(cpu, event, nr, regs ? regs : &kernel, addr);
	}
	hal_irq_restore(hal, flags);
}

/* --- on and off ---------------------------------------------------------------------- */

static void sw_add(struct perf_cpu *cpu, struct kperf_event *event)
{
	struct perf_list *head = &cpu->sw_events[event->attr.u.a.config];

	if (perf_event_is_sampling(event)) {
		event->hw.last_period = event->hw.sample_period;
		set_period(event);
	}
	/* the latest is told first */
	perf_list_add_tail(head->next, &event->sw_entry);
}

void perf_sw_add(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->kind == PERF_KIND_SW)
		sw_add(cpu, event);
	else
		clock_start(cpu, event);
	event->hw.stopped = false;
	perf_mmap_page_update(event);
}

void perf_sw_del(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->kind == PERF_KIND_SW)
		perf_list_del(&event->sw_entry);
	else
		clock_stop(cpu, event);
}

void perf_sw_start(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->kind != PERF_KIND_SW)
		clock_start(cpu, event);
	event->hw.stopped = false;
}

void perf_sw_stop(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->kind != PERF_KIND_SW)
		clock_stop(cpu, event);
	else
		event->hw.stopped = true;
}

void perf_sw_update(struct perf_cpu *cpu, struct kperf_event *event)
{
	if (event->kind != PERF_KIND_SW)
		clock_update(cpu, event, true);
}
