/* SPDX-License-Identifier: MIT */
/*
 * Time: each CPU's timer, the tick and the timers of struct ksys_hrtimer. The
 * hardware timer is armed for the nearest of them only, and is off when nobody
 * waits for time: a task that is alone is never interrupted for nothing.
 */
#include "kernelcore/sys/internal.h"

enum {
	NSEC_PER_SEC = 1000000000,
	TICK_NS = NSEC_PER_SEC / KSYS_HZ,
	CTL_ENABLE = 1,
};

/* The first count at which hal_clock_ns() has reached @ns. Seconds apart, so that
 * the product fits for any uptime. */
static uint64_t count_of(uint64_t ns, uint64_t cntfrq)
{
	const uint64_t part = ns % NSEC_PER_SEC * cntfrq;

	return ns / NSEC_PER_SEC * cntfrq + (part + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
}

static uint64_t nearest(const struct sys_cpu *cpu)
{
	uint64_t due = cpu->next_tick ? cpu->next_tick : UINT64_MAX;

	if (cpu->timers && cpu->timers->expires < due)
		due = cpu->timers->expires;
	return due;
}

/* Program the timer for what is due next, if that is not what it waits for. */
static void program(struct ksys *sys, struct sys_cpu *cpu)
{
	const uint64_t due = nearest(cpu);

	if (due == cpu->armed_for)
		return;
	if (!cpu->cntfrq) { /* the first time */
		cpu->cntfrq = hal_sysreg_read(cpu->hal, HAL_CNTFRQ_EL0);
		cpu->armed_for = UINT64_MAX;
		ksys_irq_enable(sys, cpu->hal, HAL_IRQ_TIMER, true);
	}
	if (due == UINT64_MAX) {
		hal_sysreg_write(cpu->hal, HAL_CNTV_CTL_EL0, 0);
	} else {
		hal_sysreg_write(cpu->hal, HAL_CNTV_CVAL_EL0, count_of(due, cpu->cntfrq));
		if (cpu->armed_for == UINT64_MAX)
			hal_sysreg_write(cpu->hal, HAL_CNTV_CTL_EL0, CTL_ENABLE);
	}
	cpu->armed_for = due;
	hal_isb(cpu->hal);
}

/* -- the tick ------------------------------------------------------------- */

/* Ticks fall on multiples of their length, on every CPU, so that when one begins
 * to need them does not matter. */
static uint64_t tick_after(uint64_t ns)
{
	return (ns / TICK_NS + 1) * TICK_NS;
}

static void want_tick(struct ksys *sys, struct sys_cpu *cpu, bool *why, bool on)
{
	bool wanted;

	if (*why == on)
		return;
	*why = on;
	wanted = cpu->perf_tick || cpu->sched_tick;
	if (wanted == (cpu->next_tick != 0))
		return;
	cpu->next_tick = wanted ? tick_after(hal_clock_ns(cpu->hal)) : 0;
	program(sys, cpu);
}

void ksys_tick_need(struct ksys *sys, struct hal *hal, bool on)
{
	struct sys_cpu *cpu = sys_cpu_of(sys, hal);
	unsigned long flags = hal_irq_save(hal);

	want_tick(sys, cpu, &cpu->perf_tick, on);
	hal_irq_restore(hal, flags);
}

void timer_sched_tick(struct ksys *sys, struct sys_cpu *cpu, bool on)
{
	want_tick(sys, cpu, &cpu->sched_tick, on);
}

/* -- timers --------------------------------------------------------------- */

static void unlink_timer(struct sys_cpu *cpu, struct ksys_hrtimer *timer)
{
	struct ksys_hrtimer **at = &cpu->timers;

	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	timer->queued = false;
	cpu->ntimers--;
}

/* Behind those of the same time. */
static void link_timer(struct sys_cpu *cpu, struct ksys_hrtimer *timer)
{
	struct ksys_hrtimer **at = &cpu->timers;

	while (*at && (*at)->expires <= timer->expires)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
	timer->queued = true;
	cpu->ntimers++;
}

void ksys_hrtimer_start(struct ksys *sys, struct ksys_hrtimer *timer, uint64_t expires)
{
	struct hal *hal = ksys_hal(sys);
	struct sys_cpu *cpu = sys_cpu_of(sys, hal);
	unsigned long flags = hal_irq_save(hal);

	if (timer->queued)
		unlink_timer(&sys->cpu[timer->cpu], timer);
	timer->expires = expires;
	timer->cpu = hal_cpu_id(hal);
	link_timer(cpu, timer);
	program(sys, cpu);
	hal_irq_restore(hal, flags);
}

/* Another CPU's timer is taken off its list alone: its hardware comes in vain
 * then, which is cheaper than a call there. */
void ksys_hrtimer_cancel(struct ksys *sys, struct ksys_hrtimer *timer)
{
	struct hal *hal = ksys_hal(sys);
	unsigned long flags;

	if (!timer->queued)
		return;
	flags = hal_irq_save(hal);
	if (timer->queued) {
		unlink_timer(&sys->cpu[timer->cpu], timer);
		if (timer->cpu == hal_cpu_id(hal))
			program(sys, sys_cpu_of(sys, hal));
	}
	hal_irq_restore(hal, flags);
}

/* -- the interrupt -------------------------------------------------------- */

/* One pass over what is there now: a timer that starts itself again for a time
 * that is over waits for the next interrupt. */
static void run_timers(struct sys_cpu *cpu, uint64_t now)
{
	for (unsigned n = cpu->ntimers; n && cpu->timers && cpu->timers->expires <= now; n--) {
		struct ksys_hrtimer *timer = cpu->timers;

		unlink_timer(cpu, timer);
		timer->fn(timer->arg);
	}
}

void timer_irq(struct ksys *sys, struct sys_cpu *cpu, const struct hal_regs *regs)
{
	uint64_t now = hal_clock_ns(cpu->hal);

	run_timers(cpu, now);
	if (cpu->next_tick && cpu->next_tick <= now) {
		cpu->next_tick = tick_after(now);
		cpu->ticks++;
		sched_tick(sys, cpu, now);
		kperf_tick(sys->perf, cpu->hal, regs);
	}
	program(sys, cpu);
}
