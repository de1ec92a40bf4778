/* SPDX-License-Identifier: MIT */
/*
 * Between pmuv3.c, which counts, and pmuv3-regs.c, which has the registers.
 * Every change of enable, filter, event, value or mode is
 *
 *     pmuv3_settle(pmu);       what was counted, under the old configuration
 *     ... the change ...
 *     pmuv3_regroup(pmu);
 */
#ifndef PMULAB_EMU_PMUV3_PRIV_H
#define PMULAB_EMU_PMUV3_PRIV_H

#include "emu/pmuv3.h"

enum {
	PMCR_E = 1 << 0,
	PMCR_P = 1 << 1,
	PMCR_C = 1 << 2,
	PMCR_D = 1 << 3,
	PMCR_X = 1 << 4,
	PMCR_DP = 1 << 5,
	PMCR_LC = 1 << 6,
	PMCR_LP = 1 << 7,
	PMCR_FZO = 1 << 9,
};

enum {
	EVENT_SW_INCR = 0x00,
	EVENT_CHAIN = 0x1e
};

#define CYCLE_BIT (UINT32_C(1) << PMUV3_CYCLE)
#define FILTER_P UINT64_C(0x80000000) /* not at EL1 */
#define FILTER_U UINT64_C(0x40000000) /* not at EL0 */
#define FILTER_EVENT UINT64_C(0x0000ffff)
#define LOW32 UINT64_C(0xffffffff)

/* NULL: the table has no such event. */
const struct pmuv3_event_desc *pmuv3_event_find(uint64_t number);

/* The bits that PMCNTEN, PMINTEN and PMOVS have. */
uint64_t pmuv3_counter_bits(const struct pmuv3 *pmu);

/* Derive groups and signals anew; nothing may be pending. */
void pmuv3_regroup(struct pmuv3 *pmu);

/* The one place that decides the line: after any change of PMCR_EL0.E, PMOVS
 * or PMINTEN. */
void pmuv3_update(struct pmuv3 *pmu);

/* PMOVS becomes @pmovs; does all three of the above where they are needed. */
void pmuv3_set_flags(struct pmuv3 *pmu, uint64_t pmovs);

/* PMEVTYPER<n> becomes @value, in the bits that it has. */
void pmuv3_set_typer(struct pmuv3 *pmu, unsigned n, uint64_t value);

/* A write of @value to PMSWINC_EL0 at @el. */
void pmuv3_software_increment(struct pmuv3 *pmu, uint64_t value, unsigned el);

#endif
