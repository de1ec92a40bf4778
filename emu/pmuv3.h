/* SPDX-License-Identifier: MIT */
/*
 * The performance monitors, PMUv3 (Arm ARM, D13 "The Performance Monitors
 * Extension"). Pure C: no Unicorn, no GIC. Drives one level-sensitive line:
 *
 *     line = PMCR_EL0.E && (PMOVS & PMINTEN) != 0
 *
 * whatever PMCNTEN says (Arm ARM, pseudocode CheckForPMUOverflow).
 *
 * The device keeps its counters settled: whoever executes instructions calls
 * pmuv3_advance() for them before any register access or line decision, and
 * never past pmuv3_deadline(), so every wrap falls on its exact cycle.
 */
#ifndef PMULAB_EMU_PMUV3_H
#define PMULAB_EMU_PMUV3_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/line.h"
#include "emu/sysreg.h"
#include "emu/trace.h"

enum {
	PMUV3_CYCLE = 31,
	PMUV3_MAX_COUNTERS = 31,
	PMUV3_INTID = 23, /* what TRACE_LINE calls the line: PPI 7, as SBSA has it */
};

/* ID_AA64DFR0_EL1.PMUVer values. */
enum pmuv3_version {
	PMUV3_P0 = 1,
};

struct pmuv3_config {
	unsigned counters;	     /* PMCR_EL0.N, 0..31 */
	enum pmuv3_version version;
	const uint16_t *events;	     /* event numbers implemented, from the event
				      * table; must outlive the device */
	unsigned nevents;
	bool poison_reset;	     /* all that is UNKNOWN at reset holds junk */
	uint32_t idcode, imp;	     /* PMCR_EL0.IDCODE, IMP */
	unsigned cpu;		     /* for the bus */
};

/* What the machine did: @insns instructions retired in @cycles cycles at @el.
 * The rules that turn this into events stand in the event table. */
struct pmuv3_step {
	uint64_t insns;
	uint64_t cycles;
	unsigned el; /* 0 or 1 */
};

struct pmuv3_event_desc;

struct pmuv3 {
	struct pmuv3_config config;
	struct irq_line line;
	struct trace_bus *bus;
	int level;	    /* of the line */
	uint64_t pmceid[2]; /* PMCEID0/1_EL0, computed from the event table */

	uint64_t pmcr;	    /* writable bits only: E C P D X DP LC */
	uint64_t pmcnten;   /* enables */
	uint64_t pminten;
	uint64_t pmovs;
	uint64_t pmselr;
	uint64_t pmuserenr;
	uint64_t pmccntr;
	uint64_t pmccfiltr;
	uint64_t cycle_residue; /* cycles not yet counted under PMCR_EL0.D, 0..63 */
	uint64_t pmevcntr[PMUV3_MAX_COUNTERS];
	uint64_t pmevtyper[PMUV3_MAX_COUNTERS];

	/* Derived from the registers at each write to them, because advance
	 * and deadline run once an instruction: the counters (bit 31: cycles)
	 * that count by themselves at EL0 and EL1, and what each counts. */
	uint32_t counting[2];
	const struct pmuv3_event_desc *event[PMUV3_MAX_COUNTERS];
};

/* @bus may be NULL. @line is copied. Resets the device. Returns 0, or -EINVAL:
 * counters above 31, or an event number the table does not have. */
int pmuv3_init(struct pmuv3 *pmu, const struct pmuv3_config *config,
	       struct irq_line line, struct trace_bus *bus);

/* Cold reset. PMCR_EL0.E is 0; the rest of PMCR_EL0, counters, types, enables,
 * flags, PMSELR_EL0 and PMUSERENR_EL0 are architecturally UNKNOWN: zero, or a
 * fixed junk pattern with poison_reset. */
void pmuv3_reset(struct pmuv3 *pmu);

/* The register rows, for the machine's list of blocks. @pmu may be NULL for
 * names only. PMEVCNTR<n> and PMEVTYPER<n> with n >= N are UNDEFINED (one of
 * the choices that the manual leaves; QEMU's); PMXEVCNTR_EL0 and PMXEVTYPER_EL0
 * with PMSELR_EL0.SEL >= N are RAZ/WI, but for PMXEVTYPER_EL0 at 31. */
struct sysreg_block pmuv3_sysregs(struct pmuv3 *pmu);

/* Count @step; wraps set flags, flags move the line. Must not pass the
 * deadline: a step may reach a wrap but not go beyond the first one. */
void pmuv3_advance(struct pmuv3 *pmu, const struct pmuv3_step *step);

/* How many instructions may retire at @el, each costing @cycles_per_insn,
 * until the first wrap of any counter (that instruction included): 1 or more;
 * UINT64_MAX when nothing that counts by itself will wrap. */
uint64_t pmuv3_deadline(const struct pmuv3 *pmu, unsigned el,
			unsigned cycles_per_insn);

/* Deliver @n events of counter @counter's (0..N-1, or PMUV3_CYCLE) own event
 * at @el at once, as if the hardware had seen them, whatever event that is:
 * counted only if the counter is enabled and its filter lets @el through;
 * several wraps set the flag once. For PMUV3_CYCLE an event is a cycle before
 * the divider. With @force they are counted whatever enables and filters say.
 * -EINVAL: no such counter. */
int pmuv3_inject(struct pmuv3 *pmu, unsigned counter, uint64_t n, unsigned el,
		 bool force);

/* The event table, for PMCEID, `pmulab events` and its tests. */
struct pmuv3_event_desc {
	uint16_t number;
	const char *name;	/* the manual's mnemonic, upper case */
	const char *rule;	/* what one event is, in a sentence */
	/* events in one step, at a level the filter lets through; linear in
	 * insns and cycles, for pmuv3_deadline() extrapolates from one
	 * instruction; NULL: never by itself (SW_INCR) */
	uint64_t (*count)(const struct pmuv3_step *step);
};
const struct pmuv3_event_desc *pmuv3_events(unsigned *n);

#endif
