/* SPDX-License-Identifier: MIT */
/*
 * The generic timer of one CPU (Arm ARM, D12): the counter (CNTVCT_EL0,
 * CNTPCT_EL0, CNTFRQ_EL0), the EL1 virtual and physical timers, CNTKCTL_EL1.
 * The virtual offset is 0.
 *
 * The counter is a pure function of the machine's cycle count, so it needs no
 * settling. A timer's wire is high while it is enabled, not masked and the
 * counter has reached its compare value; time alone can only raise it.
 * gtimer_deadline() says when, and gtimer_update() at that cycle does it.
 */
#ifndef PMULAB_EMU_GTIMER_H
#define PMULAB_EMU_GTIMER_H

#include <stdint.h>

#include "emu/line.h"
#include "emu/sysreg.h"

enum gtimer_which {
	GTIMER_VIRT,
	GTIMER_PHYS,
	GTIMERS,
};

/* INTIDs, as server base systems have them: PPI 11 and 14. */
enum {
	GTIMER_VIRT_INTID = 27,
	GTIMER_PHYS_INTID = 30
};

struct gtimer_compare {
	struct irq_line line;
	int level;
	uint64_t ctl; /* ENABLE, IMASK; ISTATUS is computed */
	uint64_t cval;
	uint64_t due; /* first cycle at which the count has reached it; UINT64_MAX: none */
};

struct gtimer {
	const uint64_t *now; /* machine cycles, owned by the machine */
	uint64_t cpu_hz;     /* cycles a second */
	uint64_t cntfrq;     /* counts a second, e.g. 62500000; <= cpu_hz */
	uint64_t cntfrq_el0; /* the register: software's note, changes no rate */
	uint64_t cntkctl;
	struct gtimer_compare timer[GTIMERS];
};

/* @cpu_hz and @cntfrq above 0. @now must outlive the device. No wires. */
void gtimer_init(struct gtimer *timer, const uint64_t *now, uint64_t cpu_hz,
		 uint64_t cntfrq);

/* Both timers off. */
void gtimer_reset(struct gtimer *timer);

/* @line (copied) is timer @which's output from now on. */
void gtimer_wire(struct gtimer *timer, enum gtimer_which which, struct irq_line line);

/* Counts since reset, rounded down; exact over the whole 64-bit range. */
uint64_t gtimer_count(const struct gtimer *timer);

/* Drive both wires to what the present cycle says. Register writes do it by
 * themselves; the machine calls it whenever time has passed. */
void gtimer_update(struct gtimer *timer);

/* Cycles from now until a wire changes if no register is written: at least 1,
 * UINT64_MAX for never. Right after gtimer_update(). */
uint64_t gtimer_deadline(const struct gtimer *timer);

struct sysreg_block gtimer_sysregs(struct gtimer *timer);

#endif
