/* SPDX-License-Identifier: MIT */
/*
 * The slot registry: which event is on which counter of a CPU, and the
 * arithmetic between a counter and its event (Linux arm_pmu.c).
 *
 * A CPU's slots change only on that CPU with IRQs off, and an event leaves its
 * slot before anything that the slot leads to may go.
 */
#ifndef PMULAB_KERNELCORE_PERF_SLOTS_H
#define PMULAB_KERNELCORE_PERF_SLOTS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct kperf;
struct kperf_event;
struct perf_cpu;
struct hal;

enum {
	PERF_SLOTS = 32,
	PERF_SLOT_SIZE = 64
};

/* One counter, one cache line; index = the counter's number. */
struct perf_slot {
	struct kperf_event *event; /* NULL: free, or the lower half of a pair */
	uint64_t evtype;	   /* PMEVTYPER or PMCCFILTR value */
	uint8_t counter;	   /* its own number; the upper one of a pair */
	bool chained;		   /* with the counter below */
	bool biased;		   /* bits 63:32 held at ones */
	uint8_t pad[PERF_SLOT_SIZE - sizeof(void *) - sizeof(uint64_t) - 3];
};
static_assert(sizeof(struct perf_slot) == PERF_SLOT_SIZE, "one cache line a slot");

/* Which counters are taken; also used to try a group without hardware. */
struct perf_slot_set {
	uint32_t used;
	unsigned counters; /* PMCR_EL0.N */
	bool long_events;  /* of 64 bits each */
};

/* A counter for @event, marked as used: 0..31 (of a pair the upper), or
 * -EAGAIN. */
int perf_slot_get(struct perf_slot_set *set, const struct kperf_event *event);
void perf_slot_put(struct perf_slot_set *set, const struct kperf_event *event);

/* Linux armpmu_add/del/start/stop/read. IRQs off, on the CPU of @cpu. */
int perf_slot_add(struct perf_cpu *cpu, struct kperf_event *event);
void perf_slot_del(struct perf_cpu *cpu, struct kperf_event *event);
void perf_slot_start(struct perf_cpu *cpu, struct kperf_event *event);
void perf_slot_stop(struct perf_cpu *cpu, struct kperf_event *event);
void perf_slot_update(struct perf_cpu *cpu, struct kperf_event *event);

/* Write the counter for what is left of the period. True when a period ended
 * since the last call. */
bool perf_slot_set_period(struct perf_cpu *cpu, struct kperf_event *event);

/* Nested PMCR.E off and on again, Linux perf_pmu_disable() and _enable(). */
void perf_slots_disable(struct perf_cpu *cpu);
void perf_slots_enable(struct perf_cpu *cpu);
/* PMCR.E on, and what user space may read. */
void perf_slots_start(struct perf_cpu *cpu);

/* Of @counters (not 0, by bit) the one that the handler serves first. */
unsigned perf_slot_first(const struct kperf *perf, uint32_t counters);

#endif
