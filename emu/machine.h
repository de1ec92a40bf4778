/* SPDX-License-Identifier: MIT */
/*
 * The machine: RAM, a CPU with its PMU and private interrupts, the generic
 * counter, one clock and one deadline. Everything hangs off struct machine.
 *
 * Time moves by instructions: under timing `icount` each costs one cycle at
 * 1 GHz, at EL0 and at EL1, the clock that QEMU's -icount shift=0 gives.
 * The machine never runs past its nearest deadline (a counter's wrap, the
 * instruction limit), so each event on the bus carries its exact cycle.
 */
#ifndef PMULAB_EMU_MACHINE_H
#define PMULAB_EMU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/cpu.h"
#include "emu/gic_ppi.h"
#include "emu/gtimer.h"
#include "emu/pmuv3.h"
#include "emu/sysreg.h"
#include "emu/trace.h"

/* Physical map, at QEMU virt's addresses. */
#define MACHINE_RAM_BASE UINT64_C(0x40000000)
#define MACHINE_GICR_SGI UINT64_C(0x080b0000) /* SGI_base frame of CPU 0 */

enum { MACHINE_BLOCKS = 3 };

/* A machine model: what its PMU has and how fast it runs. */
struct machine_preset {
	const char *name;
	const char *what;
	unsigned counters;	  /* event counters, 0..31 */
	enum pmuv3_version pmuver;
	const uint16_t *events;
	unsigned nevents;
	uint64_t cpu_hz;	  /* cycles a second */
	uint64_t cntfrq;	  /* counts a second */
};

/* NULL: no such preset. */
const struct machine_preset *machine_preset(const char *name);
/* The @i-th, NULL after the last. */
const struct machine_preset *machine_preset_at(unsigned i);

struct machine_config {
	const struct machine_preset *preset;
	enum cpu_engine engine;
	int counters;		 /* 0..31, -1: the preset's */
	bool poison_reset;	 /* PMU registers hold junk at reset */
	bool no_pmu_irq;	 /* the PMU's line is not wired */
	size_t ram_size;	 /* bytes, a multiple of 4096 */
	uint64_t max_insns;	 /* at EL0 in all; 0: no limit */
};

enum machine_stop {
	MACHINE_STOP_EXCEPTION, /* a synchronous exception: machine->exc */
	MACHINE_STOP_IRQ,	/* the IRQ wire is high and PSTATE.I clear */
	MACHINE_STOP_LIMIT,	/* max_insns were executed */
	MACHINE_STOP_ERROR,	/* machine_error() */
};

struct machine {
	struct machine_config config;
	uint64_t now;	 /* cycles since reset */
	uint64_t insns;	 /* retired at EL0 since reset */
	struct trace_bus bus;
	uint8_t *ram;	 /* config.ram_size bytes at MACHINE_RAM_BASE */
	uint8_t *map;	 /* what the host gave for it */
	size_t map_size;

	struct cpu *cpu;
	struct pmuv3 pmu;
	struct gic_ppi gic;
	struct gic_ppi_pin pmu_pin;
	struct gtimer timer;
	struct sysreg_block blocks[MACHINE_BLOCKS];
	bool irq; /* the wire from the GIC to the CPU */
	bool user_irqs_masked; /* PSTATE.I at EL0 */

	struct cpu_exception exc;
	char error[128];
};

/* NULL with a line in @err. */
struct machine *machine_create(const struct machine_config *config, char *err,
			       size_t errsize);
void machine_destroy(struct machine *machine); /* NULL is allowed */

/* Execute guest code at EL0 until something needs EL1. */
enum machine_stop machine_run(struct machine *machine);

/* EL1 executes for @cycles cycles (one instruction a cycle). */
void machine_spend(struct machine *machine, uint64_t cycles);

/* A system register as seen from EL1; counted, and put on the bus. False: the
 * machine has no such register. */
bool machine_sysreg_read(struct machine *machine, uint32_t enc, uint64_t *value);
bool machine_sysreg_write(struct machine *machine, uint32_t enc, uint64_t value);

/* A 32-bit device register by physical address. False: nothing there. */
bool machine_mmio_read(struct machine *machine, uint64_t pa, uint32_t *value);
bool machine_mmio_write(struct machine *machine, uint64_t pa, uint32_t value);

/* NULL when [pa, pa+n) is not RAM. */
void *machine_ram(struct machine *machine, uint64_t pa, size_t n);

const char *machine_error(const struct machine *machine);

#endif
