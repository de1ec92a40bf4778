/* SPDX-License-Identifier: MIT */
/*
 * Self-hosted debug of EL0 (Arm ARM, D2): software step, breakpoints and
 * watchpoints by address. While one of them is armed the machine executes EL0 an
 * instruction at a time and looks before each, in both engines alike.
 *
 * Not modelled: debug of EL1 itself (MDSCR_EL1.KDE), matches by context or of
 * linked breakpoints, an access of EL1 with EL0's rights (LDTR). Such a register
 * reads back what was written and nothing comes of it.
 */
#ifndef PMULAB_EMU_DEBUG_H
#define PMULAB_EMU_DEBUG_H

#include "emu/machine.h"

/* An ERET has brought the current CPU to EL0: PSTATE.SS is what SPSR_EL1 says. */
void debug_returned(struct machine *m);
/* Must the current CPU be looked at before its next instruction? */
bool debug_armed(const struct machine *m);
/* Is a debug exception due instead of that instruction? Then it is in m->exc. */
bool debug_due(struct machine *m);
/* The current CPU has entered EL1 by an exception, not a debug one perhaps: SPSR_EL1
 * keeps PSTATE.SS. */
void debug_entered(struct machine *m);

#endif
