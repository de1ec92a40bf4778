/* SPDX-License-Identifier: MIT */
/*
 * A PMU on a bench: bus and wire watched, registers written at EL1 as a driver
 * writes them. For the suites of emu/pmuv3.c.
 */
#ifndef PMULAB_CONFORMANCE_PMUV3_BENCH_H
#define PMULAB_CONFORMANCE_PMUV3_BENCH_H

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/pmuv3.h"
#include "emu/sysreg.h"

#define PMINTENSET_EL1 SYSREG(3, 0, 9, 14, 1)
#define PMINTENCLR_EL1 SYSREG(3, 0, 9, 14, 2)
#define PMMIR_EL1 SYSREG(3, 0, 9, 14, 6)
#define PMCR_EL0 SYSREG(3, 3, 9, 12, 0)
#define PMCNTENSET_EL0 SYSREG(3, 3, 9, 12, 1)
#define PMCNTENCLR_EL0 SYSREG(3, 3, 9, 12, 2)
#define PMOVSCLR_EL0 SYSREG(3, 3, 9, 12, 3)
#define PMSWINC_EL0 SYSREG(3, 3, 9, 12, 4)
#define PMSELR_EL0 SYSREG(3, 3, 9, 12, 5)
#define PMCEID0_EL0 SYSREG(3, 3, 9, 12, 6)
#define PMCEID1_EL0 SYSREG(3, 3, 9, 12, 7)
#define PMCCNTR_EL0 SYSREG(3, 3, 9, 13, 0)
#define PMXEVTYPER_EL0 SYSREG(3, 3, 9, 13, 1)
#define PMXEVCNTR_EL0 SYSREG(3, 3, 9, 13, 2)
#define PMUSERENR_EL0 SYSREG(3, 3, 9, 14, 0)
#define PMOVSSET_EL0 SYSREG(3, 3, 9, 14, 3)
#define PMEVCNTR(n) (SYSREG(3, 3, 14, 8, 0) + (n))
#define PMEVTYPER(n) (SYSREG(3, 3, 14, 12, 0) + (n))
#define PMCCFILTR_EL0 SYSREG(3, 3, 14, 15, 7)

enum {
	E = 1,
	P = 2,
	C = 4,
	D = 8,
	X = 16,
	DP = 32,
	LC = 64,
	LP = 128,
	FZO = 512
};
enum {
	SW_INCR = 0x00,
	INST_RETIRED = 0x08,
	CPU_CYCLES = 0x11,
	CHAIN = 0x1e
};

#define NOT_EL1 UINT64_C(0x80000000)
#define NOT_EL0 UINT64_C(0x40000000)
#define CYCLE UINT64_C(0x80000000)

struct bench {
	uint64_t now;
	struct trace_bus bus;
	struct bus_log log;
	struct wire_end irq;
	struct pmuv3 pmu;
	struct sysreg_block block;
};

/* What the short forms below work on. */
static struct bench bench;

static const uint16_t a57_events[] = {SW_INCR, INST_RETIRED, CPU_CYCLES};

static inline struct pmuv3_config a57(unsigned counters)
{
	return (struct pmuv3_config){
		.counters = counters,
		.version = PMUV3_P0,
		.events = a57_events,
		.nevents = 3,
		.keeps_res0 = true,
		.idcode = 0x01,
		.imp = 0x41,
	};
}

/* Everything of the table, as the manual has it for @version. */
static inline struct pmuv3_config full(enum pmuv3_version version, unsigned counters)
{
	static uint16_t numbers[PMUV3_MAX_EVENTS];
	unsigned n;
	const struct pmuv3_event_desc *events = pmuv3_events(&n);
	struct pmuv3_config config = a57(counters);

	for (unsigned i = 0; i < n; i++)
		numbers[i] = events[i].number;
	config.version = version;
	config.events = numbers;
	config.nevents = n;
	config.keeps_res0 = false;
	return config;
}

/* For loop tests over what there is. */
static const enum pmuv3_version versions[] = {PMUV3_P0, PMUV3_P1, PMUV3_P4, PMUV3_P5,
					      PMUV3_P7};
enum {
	VERSIONS = sizeof(versions) / sizeof(versions[0])
};

static inline void bench_init(struct bench *b, const struct pmuv3_config *config)
{
	memset(b, 0, sizeof(*b));
	trace_bus_init(&b->bus, &b->now);
	ck_assert_int_eq(trace_subscribe(&b->bus, bus_log_add, &b->log), 0);
	ck_assert_int_eq(pmuv3_init(&b->pmu, config,
				    (struct irq_line){wire_end_set, &b->irq}, &b->bus),
			 0);
	b->block = pmuv3_sysregs(&b->pmu);
}

static inline void use(unsigned counters)
{
	const struct pmuv3_config config = a57(counters);

	bench_init(&bench, &config);
}

static inline void use_version(enum pmuv3_version version, unsigned counters)
{
	const struct pmuv3_config config = full(version, counters);

	bench_init(&bench, &config);
}

static inline void six_counters(void)
{
	use(6);
}

static inline void wr(uint32_t enc, uint64_t value)
{
	ck_assert_int_eq(sysreg_write(&bench.block, 1, enc, 1, value), SYSREG_OK);
}

static inline uint64_t rd(uint32_t enc)
{
	uint64_t value = 0;

	ck_assert_int_eq(sysreg_read(&bench.block, 1, enc, 1, &value), SYSREG_OK);
	return value;
}

static inline void step_of(struct bench *b, unsigned el, uint64_t insns, uint64_t cycles)
{
	const struct pmuv3_step step = {.insns = insns, .cycles = cycles, .el = el};

	b->now += cycles;
	pmuv3_advance(&b->pmu, &step);
}

static inline void run(unsigned el, uint64_t insns)
{
	step_of(&bench, el, insns, insns);
}

/* And @count of @signal. */
static inline void run_signal(unsigned el, uint64_t insns, unsigned signal,
			      uint32_t count)
{
	uint32_t signals[PMUV3_SIGNALS] = {0};
	const struct pmuv3_step step = {
		.insns = insns, .cycles = insns, .el = el, .signal = signals};

	signals[signal] = count;
	bench.now += insns;
	pmuv3_advance(&bench.pmu, &step);
}

/* Counter 0 counts instructions at every level and is on. */
static inline void count_instructions(uint64_t from)
{
	wr(PMEVTYPER(0), INST_RETIRED);
	wr(PMEVCNTR(0), from);
	wr(PMCNTENSET_EL0, 1);
	wr(PMCR_EL0, E | LC);
}

#endif
