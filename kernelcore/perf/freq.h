/* SPDX-License-Identifier: MIT */
/*
 * How often an event may sample: the period that follows a frequency, and the
 * brake on events that overflow too often. Both live from the tick.
 *
 *     overflow ---> account: too many since the tick? -> THROTTLE, stopped
 *                   freq: 0 < time since the last one < 2 ticks -> adjust
 *     tick -------> throttled: UNTHROTTLE, started again
 *                   freq: events since the last tick -> adjust
 */
#ifndef PMULAB_KERNELCORE_PERF_FREQ_H
#define PMULAB_KERNELCORE_PERF_FREQ_H

#include <stdbool.h>
#include <stdint.h>

struct kperf;
struct kperf_event;
struct perf_context;
struct perf_cpu;
struct perf_hw;

#define PERF_THROTTLED UINT64_MAX /* hw.interrupts of a throttled event */

/* The period that gives @freq samples a second where @count events took @nsec
 * (Linux perf_calculate_period(), its rounding and its limits too). */
uint64_t perf_freq_ideal(uint64_t freq, uint64_t nsec, uint64_t count);
/* One step of an eighth from @period towards @ideal, never 0. */
int64_t perf_freq_filter(int64_t period, int64_t ideal);
/* A new hw->sample_period from @count events in @nsec. True: so much is left of the
 * old one that the event should begin anew. */
bool perf_freq_step(struct perf_hw *hw, uint64_t freq, uint64_t nsec, uint64_t count);

/* Of an event that has never overflowed. */
void perf_freq_init(struct perf_hw *hw);

/* [irq] @event has overflowed: count it. True: it is throttled now, and has
 * said so in its ring; never without @brake. */
bool perf_freq_account(struct perf_cpu *cpu, struct kperf_event *event, bool brake);
/* [irq] Let a throttled event go on, with a record of it; its counter is the
 * caller's to start. */
void perf_freq_unthrottle(struct perf_cpu *cpu, struct kperf_event *event);
/* [irq] The CPU's tick. */
void perf_freq_tick(struct perf_cpu *cpu);

/* [irq] An event went onto or left a counter. */
void perf_freq_sched_in(struct perf_cpu *cpu, struct kperf_event *event);
void perf_freq_sched_out(struct perf_cpu *cpu, struct kperf_event *event);

#endif
