/* SPDX-License-Identifier: MIT */
/*
 * The generic timer's counter: CNTVCT_EL0, CNTPCT_EL0 and CNTFRQ_EL0 (Arm ARM,
 * D12). The counter is a pure function of the machine's cycle count, so it
 * needs no settling.
 */
#ifndef PMULAB_EMU_GTIMER_H
#define PMULAB_EMU_GTIMER_H

#include <stdint.h>

#include "emu/sysreg.h"

struct gtimer {
	const uint64_t *now;  /* machine cycles, owned by the machine */
	uint64_t cpu_hz;      /* cycles a second */
	uint64_t cntfrq;      /* counts a second, e.g. 62500000; <= cpu_hz */
};

/* @cpu_hz and @cntfrq above 0. @now must outlive the device. */
void gtimer_init(struct gtimer *timer, const uint64_t *now, uint64_t cpu_hz,
		 uint64_t cntfrq);

/* Counts since reset, rounded down; exact over the whole 64-bit range. */
uint64_t gtimer_count(const struct gtimer *timer);

struct sysreg_block gtimer_sysregs(struct gtimer *timer);

#endif
