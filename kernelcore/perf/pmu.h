/* SPDX-License-Identifier: MIT */
/*
 * What counts an event: a counter of the PMU, the kernel itself (software
 * events), or a clock. The same five things can be asked of each.
 */
#ifndef PMULAB_KERNELCORE_PERF_PMU_H
#define PMULAB_KERNELCORE_PERF_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelcore/perf/slots.h"

struct hal_regs;
struct kperf_event;
struct perf_cpu;

/* IRQs off, on the CPU of @cpu; Linux pmu->add (with START), del, start (with
 * RELOAD), stop (with UPDATE) and read. -EAGAIN: no counter is free. */
int perf_event_add(struct perf_cpu *cpu, struct kperf_event *event);
void perf_event_del(struct perf_cpu *cpu, struct kperf_event *event);
void perf_event_start(struct perf_cpu *cpu, struct kperf_event *event);
void perf_event_stop(struct perf_cpu *cpu, struct kperf_event *event);
void perf_event_update(struct perf_cpu *cpu, struct kperf_event *event);

/* Software events and clocks, swevent.c: what the functions above do for them. */
void perf_sw_add(struct perf_cpu *cpu, struct kperf_event *event);
void perf_sw_del(struct perf_cpu *cpu, struct kperf_event *event);
void perf_sw_start(struct perf_cpu *cpu, struct kperf_event *event);
void perf_sw_stop(struct perf_cpu *cpu, struct kperf_event *event);
void perf_sw_update(struct perf_cpu *cpu, struct kperf_event *event);

/* Find out what counts the event: kind and hw are filled in, or -ENOENT, -EINVAL,
 * -EOPNOTSUPP. */
int perf_event_init_pmu(struct kperf_event *event);

/* Is it one of PERF_TYPE_SOFTWARE's that exist? Fills kind and hw in; -ENOENT,
 * -EOPNOTSUPP. */
int perf_sw_init(struct kperf_event *event);
#endif
