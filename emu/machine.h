/* SPDX-License-Identifier: MIT */
/*
 * The machine: RAM, a CPU with its PMU and private interrupts, the generic
 * counter, one clock and one deadline. Everything hangs off struct machine.
 *
 * Time moves by instructions: under timing `icount` each costs one cycle at
 * 1 GHz, at EL0 and at EL1, the clock that QEMU's -icount shift=0 gives; under
 * `inorder` what emu/timing.h says, with the predictor and the caches that the
 * preset has. The machine never runs past its nearest deadline (a counter's wrap,
 * a timer, the instruction limit), so each event on the bus carries the cycle in
 * which its instruction ended. What counts when stands in emu/model.h.
 */
#ifndef PMULAB_EMU_MACHINE_H
#define PMULAB_EMU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/cpu.h"
#include "emu/gic_ppi.h"
#include "emu/gtimer.h"
#include "emu/model.h"
#include "emu/pmuv3.h"
#include "emu/sysreg.h"
#include "emu/trace.h"

/* Physical map, at QEMU virt's addresses. */
#define MACHINE_RAM_BASE UINT64_C(0x40000000)
#define MACHINE_GICR_SGI UINT64_C(0x080b0000) /* SGI_base frame of CPU 0 */
#define MACHINE_GICR_STRIDE UINT64_C(0x20000) /* to the next CPU's */

enum {
	MACHINE_CPUS = 8,
	MACHINE_BLOCKS = 4, /* of system registers, a CPU */
};

/* A machine model: what its PMU has and how fast it runs. */
struct machine_preset {
	const char *name;
	const char *what;
	unsigned counters;	  /* event counters, 0..31 */
	enum pmuv3_version pmuver;
	const uint16_t *events;
	unsigned nevents;
	bool keeps_res0;	  /* as struct pmuv3_config has it */
	uint64_t cpu_hz;	  /* cycles a second */
	uint64_t cntfrq;	  /* counts a second */
	bool predictor;
	struct cache_config l1i, l1d; /* sets 0: none */
};

/* NULL: no such preset. */
const struct machine_preset *machine_preset(const char *name);
/* The @i-th, NULL after the last. */
const struct machine_preset *machine_preset_at(unsigned i);

struct machine_config {
	const struct machine_preset *preset;
	enum cpu_engine engine;
	int counters;		 /* 0..31, -1: the preset's */
	int pmuver;		 /* enum pmuv3_version, 0: the preset's */
	bool poison_reset;	 /* PMU registers hold junk at reset */
	bool no_pmu_irq;	 /* the PMU's line is not wired */
	size_t ram_size;	 /* bytes, a multiple of 4096 */
	unsigned cpus;		 /* 1..MACHINE_CPUS; 0: 1 */
	bool el0_only;		 /* the guest stays at EL0, its kernel is outside */
	uint64_t max_insns;	 /* in all; 0: no limit */
	const struct timing_model *timing; /* NULL: icount */
	uint64_t skid;		 /* cycles from the wire to the interrupt */
	struct cpu_traits *traits; /* of all machines of a process; NULL: found out anew */
};

enum machine_stop {
	MACHINE_STOP_EXCEPTION, /* a synchronous exception: machine->exc */
	MACHINE_STOP_IRQ,	/* the IRQ wire is high and PSTATE.I clear */
	MACHINE_STOP_WAIT,	/* WFI */
	MACHINE_STOP_SLICE,	/* the CPU's slice is used up */
	MACHINE_STOP_LIMIT,	/* max_insns were executed */
	MACHINE_STOP_ERROR,	/* machine_error() */
};

/* The identification and debug registers of one CPU; emu/debug.h heeds the latter. */
struct machine_ids {
	uint64_t mpidr, dfr0;
	uint64_t mdscr, osdlr, oslock, mdccint;
	uint64_t bvr[6], bcr[6], wvr[4], wcr[4];
};

struct machine_cpu {
	struct machine *machine;
	unsigned id;
	struct pmuv3 pmu;
	struct gic_ppi gic;
	struct gic_ppi_pin pmu_pin;
	struct gtimer timer;
	struct machine_ids ids;
	struct sysreg_block blocks[MACHINE_BLOCKS];
	struct model model;
	bool irq; /* the wire from the GIC to the CPU */
	bool at_el1; /* when last looked at, for the bus */
	bool ss;     /* PSTATE.SS: an instruction before the step exception */
	uint64_t irq_due;  /* cycle from which on it may be taken */
	uint64_t overrun;  /* cycles that its last turn was longer than its slice */
	/* Boards of several CPUs. */
	bool on, waiting;
	struct cpu_state *state;
};

struct machine {
	struct machine_config config;
	uint64_t now;	/* cycles since reset, of the CPU that runs */
	uint64_t insns; /* retired since reset, at EL0 and EL1, by all CPUs */
	struct trace_bus bus;
	uint8_t *ram;	 /* config.ram_size bytes at MACHINE_RAM_BASE */
	uint8_t *map;	 /* what the host gave for it */
	size_t map_size;

	struct cpu *core;
	struct sysreg_map sysregs; /* of the blocks of any CPU */
	struct machine_cpu cpu[MACHINE_CPUS];
	unsigned ncpus;
	struct cpu_state *reset_state; /* of several CPUs */
	struct machine_cpu *current;
	struct machine_cpu *loaded; /* whose registers are in the core */
	uint64_t slice_end; /* cycle at which machine_run() returns; UINT64_MAX */
	bool soft_slice;    /* ... or behind the first branch after it */
	bool at_branch;
	bool alone;	    /* the other CPUs wait: the slice ends when one need not */
	bool timers;	    /* the generic timers' lines are wired: heed them */
	uint64_t looked;    /* insns when debug_due() was last asked */

	struct cpu_exception exc;
	char error[128];
};

/* NULL with a line in @err. */
struct machine *machine_create(const struct machine_config *config, char *err,
			       size_t errsize);
void machine_destroy(struct machine *machine); /* NULL is allowed */

/* Execute guest code on the current CPU until something needs the caller. */
enum machine_stop machine_run(struct machine *machine);

/* The caller executed the instruction that stopped with machine->exc. */
void machine_emulated(struct machine *machine);

/* The current CPU leaves @el by an exception: that counts, and costs what the
 * timing model says. Before it enters. With the kernel outside, its way back too:
 * its ERET. */
void machine_exception_taken(struct machine *machine, unsigned el);
void machine_exception_return(struct machine *machine);

/* May the CPU take an interrupt now, PSTATE.I aside? */
bool machine_irq(const struct machine *machine);

/* Go on with another CPU; machine->now stays. Its registers follow when it runs:
 * a CPU that waits costs no swap. */
void machine_switch(struct machine *machine, struct machine_cpu *cpu);

/* @cpu, another than the current one, begins at physical @pc as after reset: EL1,
 * MMU off, all interrupts masked, x0 = @x0. */
void machine_start_cpu(struct machine *machine, struct machine_cpu *cpu, uint64_t pc,
		       uint64_t x0);

/* The current CPU waits for @cycles cycles: they count as its level's, no
 * instruction retires. Not beyond machine_wait_deadline(). */
void machine_wait(struct machine *machine, uint64_t cycles);
/* Cycles until a wait changes something of @cpu; UINT64_MAX for never. */
uint64_t machine_wait_deadline(const struct machine_cpu *cpu);

/* EL1 executes for @cycles cycles (one plain instruction a cycle). */
void machine_spend(struct machine *machine, uint64_t cycles);

/* The core with the current CPU's registers in it. */
struct cpu *machine_core(struct machine *machine);

/* A system register of the current CPU as seen from EL1; put on the bus. False:
 * the machine has no such register. */
bool machine_sysreg_read(struct machine *machine, uint32_t enc, uint64_t *value);
bool machine_sysreg_write(struct machine *machine, uint32_t enc, uint64_t value);

/* "pmcr_el0": what every machine calls this system register; @buf of at least 32
 * bytes. */
const char *machine_sysreg_name(uint32_t enc, char *buf, size_t size);

/* A 32-bit register of a CPU's redistributor by physical address. False: nothing there. */
bool machine_mmio_read(struct machine *machine, uint64_t pa, uint32_t *value);
bool machine_mmio_write(struct machine *machine, uint64_t pa, uint32_t value);

/* NULL when [pa, pa+n) is not RAM. */
void *machine_ram(struct machine *machine, uint64_t pa, size_t n);

const char *machine_error(const struct machine *machine);

#endif
