/* SPDX-License-Identifier: MIT */
/*
 * The performance monitors, PMUv3 (Arm ARM DDI 0487, D13 "The Performance
 * Monitors Extension"; pseudocode CountPMUEvents, IncrementEventCounter,
 * IncrementCycleCounter, CheckForPMUOverflow). Pure C: no Unicorn, no GIC.
 * Drives one level-sensitive line:
 *
 *     line = PMCR_EL0.E && (PMOVS & PMINTEN) != 0
 *
 * whatever PMCNTEN says. There is no EL2 and no EL3, so nothing prohibits
 * counting, and PMCR_EL0.N counters are all of the first range (the HPMN that
 * an EL2 would have at reset).
 *
 * Whoever executes instructions calls pmuv3_advance() for them before any
 * register access or line decision, and never past pmuv3_deadline(), so every
 * wrap falls on its exact instruction.
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
	PMUV3_MAX_EVENTS = 32, /* rows of the event table */
};

/* ID_AA64DFR0_EL1.PMUVer values, each with all that the earlier ones have. */
enum pmuv3_version {
	PMUV3_P0 = 1,
	PMUV3_P1 = 4, /* 16-bit event numbers, PMCEID0/1_EL0[63:32] */
	PMUV3_P4 = 5, /* PMMIR_EL1 */
	PMUV3_P5 = 6, /* 64-bit event counters, PMCR_EL0.LP */
	PMUV3_P7 = 7, /* PMCR_EL0.FZO, and DP without EL2 and EL3 */
};

/* "p0", "p1", "p4", "p5", "p7"; NULL for a value that is none. */
const char *pmuv3_version_name(enum pmuv3_version version);
/* The PMUVer value of such a name, -1 when there is no such version. */
int pmuv3_version_from_name(const char *name);

/* What the machine reports of the instructions it executes, and the events
 * count: the rules stand in the event table. */
enum pmuv3_signal {
	PMUV3_SIG_INSN, /* these two are the step's insns and cycles */
	PMUV3_SIG_CYCLE,
	PMUV3_SIG_LD,
	PMUV3_SIG_ST,
	PMUV3_SIG_UNALIGNED,
	PMUV3_SIG_BR_IMMED,
	PMUV3_SIG_BR_RETURN,
	PMUV3_SIG_BR,
	PMUV3_SIG_PC_WRITE,
	PMUV3_SIG_EXC_TAKEN,
	PMUV3_SIG_EXC_RETURN,
	PMUV3_SIG_CID_WRITE,
	PMUV3_SIG_MEM,
	PMUV3_SIG_L1I,
	PMUV3_SIG_L1I_REFILL,
	PMUV3_SIG_L1D,
	PMUV3_SIG_L1D_REFILL,
	PMUV3_SIG_BR_PRED,
	PMUV3_SIG_BR_MIS_PRED,
	PMUV3_SIG_STALL_FRONTEND,
	PMUV3_SIG_STALL_BACKEND,
	PMUV3_SIG_BUS_CYCLES,
	PMUV3_SIG_INST_SPEC,
	PMUV3_SIGNALS, /* their number; as an event's signal: none */
};

/*
 * How many of @signal one instruction may make at most; 0: as many as the
 * instruction has cycles. The deadline is safe only for a machine that keeps to
 * these.
 */
unsigned pmuv3_signal_max(enum pmuv3_signal signal);

struct pmuv3_config {
	unsigned counters;	     /* PMCR_EL0.N, 0..31 */
	enum pmuv3_version version;
	const uint16_t *events;	     /* event numbers implemented, from the event
				      * table; must outlive the device */
	unsigned nevents;
	bool poison_reset;	     /* all that is UNKNOWN at reset holds junk */
	/* The bits of PMEVTYPER, PMCCFILTR and PMCR that are RES0 without EL2 and
	 * EL3, and event bits 15:10 before p1, are kept and read back, as QEMU
	 * does; those of the event are compared too. */
	bool keeps_res0;
	uint32_t idcode, imp;	     /* PMCR_EL0.IDCODE, IMP */
	uint32_t pmmir;		     /* PMMIR_EL1 */
	unsigned cpu;		     /* for the bus */
};

/* What the machine did: @insns instructions retired in @cycles cycles at @el.
 * An exception's entry and return belong to the level that is left. */
struct pmuv3_step {
	uint64_t insns;
	uint64_t cycles;
	unsigned el; /* 0 or 1 */
	/* PMUV3_SIGNALS counts, those of INSN and CYCLE not looked at; NULL: only
	 * insns and cycles count */
	const uint32_t *signal;
};

struct pmuv3_event_desc;

/* Counters that count one signal at the same levels move in step: one sum stands
 * for them all until somebody looks (pmuv3_settle()). */
struct pmuv3_group {
	uint64_t pending; /* events not yet added to the members */
	uint64_t room;	  /* events until the first member wraps, at least 1;
			   * UINT64_MAX: that many or one more */
	uint32_t members; /* counters, bit 31 the cycle counter */
	uint8_t signal;
	uint8_t most;	  /* pmuv3_signal_max() */
	uint8_t levels;	  /* bit 0: counts at EL0, bit 1: at EL1 */
};

struct pmuv3 {
	struct pmuv3_config config;
	struct irq_line line;
	struct trace_bus *bus;
	int level;	      /* of the line */
	uint64_t pc;	      /* of the last instruction of the step under way, set by
			       * whoever advances, for the bus; 0: not known */
	uint64_t pmceid[2];   /* PMCEID0/1_EL0, computed from the event table */
	uint64_t pmmir;
	uint32_t implemented; /* rows of the event table */
	struct {	      /* bits that this version and configuration keep */
		uint64_t pmcr, typer, ccfiltr, cntr;
	} writable;

	uint64_t pmcr;	    /* writable bits only: E D X DP LC LP FZO */
	uint64_t pmcnten;   /* enables */
	uint64_t pminten;
	uint64_t pmovs;
	uint64_t pmselr;
	uint64_t pmuserenr;
	uint64_t pmccntr;   /* this and pmevcntr: as of the last pmuv3_settle() */
	uint64_t pmccfiltr;
	uint64_t cycle_residue; /* cycles not yet counted under PMCR_EL0.D, 0..63 */
	uint64_t pmevcntr[PMUV3_MAX_COUNTERS];
	uint64_t pmevtyper[PMUV3_MAX_COUNTERS];

	/* Derived from the registers at each write to them, because advance and
	 * deadline may run once an instruction. */
	const struct pmuv3_event_desc *event[PMUV3_MAX_COUNTERS];
	uint32_t signals;
	unsigned ngroups;
	struct pmuv3_group group[PMUV3_MAX_COUNTERS + 1];
};

/* @bus may be NULL. @line is copied. Resets the device. Returns 0, or -EINVAL:
 * counters above 31, no such version, or an event number the table does not
 * have. */
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

/*
 * Count @step; wraps set flags, flags move the line. Must not pass the
 * deadline: a step may reach a wrap but not go beyond the first one, unless it
 * is a single instruction.
 */
void pmuv3_advance(struct pmuv3 *pmu, const struct pmuv3_step *step);

/* Bring pmccntr and pmevcntr up to date. Register accesses do it by themselves;
 * it is for whoever looks at the struct. Nothing else changes. */
void pmuv3_settle(struct pmuv3 *pmu);

/* The signals that an enabled counter counts (bit: enum pmuv3_signal), at any
 * level: which models the machine must run. Changes with register writes, and
 * with a wrap under PMCR_EL0.FZO. */
uint32_t pmuv3_signals(const struct pmuv3 *pmu);

/* How many of each signal may come at @el until the first counter wraps, that one
 * included: @room[signal]; UINT64_MAX for never. */
void pmuv3_rooms(const struct pmuv3 *pmu, unsigned el, uint64_t room[PMUV3_SIGNALS]);

/* The least of them among @signals (bit: enum pmuv3_signal). */
uint64_t pmuv3_room(const struct pmuv3 *pmu, unsigned el, uint32_t signals);

/*
 * How many instructions may retire at @el, each costing at most
 * @cycles_per_insn, until the earliest one at which a counter may wrap (that
 * instruction included): 1 or more; UINT64_MAX when nothing that counts by
 * itself will. Never too late. Where only insns and cycles count and each
 * instruction costs just that many, the wrap is at that instruction; other
 * signals make it earlier (pmuv3_signal_max()).
 */
uint64_t pmuv3_deadline(const struct pmuv3 *pmu, unsigned el,
			unsigned cycles_per_insn);

/* Deliver @n events of counter @counter's (0..N-1, or PMUV3_CYCLE) own event
 * at @el at once, as if the hardware had seen them, whatever event that is:
 * counted only if the counter is enabled and its filter lets @el through;
 * several wraps set the flag once (but are as many CHAIN events). For
 * PMUV3_CYCLE an event is a cycle before the divider. With @force they are
 * counted whatever enables and filters say. -EINVAL: no such counter. */
int pmuv3_inject(struct pmuv3 *pmu, unsigned counter, uint64_t n, unsigned el,
		 bool force);

/* The event table, for PMCEID, `pmulab events` and its tests; sorted by number. */
struct pmuv3_event_desc {
	uint16_t number;
	uint8_t signal;		/* enum pmuv3_signal; PMUV3_SIGNALS: never by itself */
	const char *name;	/* the manual's mnemonic, upper case */
	const char *rule;	/* what one event is, in a sentence */
	const char *model;	/* "cache", "predictor", "timing": what the machine must
				 * have for it; NULL: nothing */
};
const struct pmuv3_event_desc *pmuv3_events(unsigned *n);

/* PMCEID0/1_EL0 of a machine with these @events. */
void pmuv3_pmceid(const uint16_t *events, unsigned nevents,
		  enum pmuv3_version version, uint64_t pmceid[2]);

#endif
