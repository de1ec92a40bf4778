/* SPDX-License-Identifier: MIT */
/*
 * Exceptions out of Unicorn and into EL1. Unicorn delivers none to VBAR_EL1: it
 * calls an interrupt hook with a number, and the syndrome and fault address
 * stand only inside a saved context. This module finds them there, and enters
 * the vectors by hand.
 */
#ifndef PMULAB_EMU_EXCEPTION_H
#define PMULAB_EMU_EXCEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/cpu.h"

struct uc_struct;
struct uc_context;

/* What Unicorn calls the exceptions in its interrupt hook. */
enum {
	EXCEPTION_INTR_UNDEF = 1, /* also the single-step exception */
	EXCEPTION_INTR_SVC = 2,
	EXCEPTION_INTR_FETCH_ABORT = 3,
	EXCEPTION_INTR_DATA_ABORT = 4,
	EXCEPTION_INTR_HVC = 11,
	EXCEPTION_INTR_SMC = 13,
};

struct exception_probe {
	struct uc_context *context; /* owned */
	size_t syndrome;	    /* offset of the 32-bit syndrome in it */
};

/*
 * Provoke two known exceptions on a fresh engine (MMU off, EL1, RAM at
 * @ram_base) and find where a saved context keeps the syndrome. Leaves the two
 * first words of RAM zero. 0, or -1 when no unique place is found.
 */
int exception_probe_init(struct exception_probe *probe, struct uc_struct *uc,
			 uint64_t ram_base);
void exception_probe_free(struct exception_probe *probe);

/* Fill *exc for interrupt @intno that the engine stopped at with PC @pc. */
int exception_decode(const struct exception_probe *probe, struct uc_struct *uc,
		     uint32_t intno, uint64_t pc, struct cpu_exception *exc);

/* EL1's vectors: @offset 0 for synchronous, 0x80 for IRQ. ELR, SPSR, the stack
 * pointers, PSTATE and PC are set; ESR and FAR are the caller's. */
void exception_enter_el1(struct uc_struct *uc, unsigned offset, uint64_t elr,
			 uint64_t spsr);

/* Change PSTATE with the stack pointers that go with it. */
void exception_set_pstate(struct uc_struct *uc, uint64_t pstate);

#endif
