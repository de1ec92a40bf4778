/* SPDX-License-Identifier: MIT */
/*
 * Measured code: from the instruction after the MSR that sets PMCR_EL0.E up to and
 * including the one that clears it.
 */
	.text

/* uint64_t armed_nops(pmcr, -): 64 instructions, one ISB, 62 NOPs, one MSR. */
	.globl armed_nops, armed_first
armed_nops:
	msr	pmcr_el0, x0
armed_first:
	isb
	.rept	62
	nop
	.endr
	msr	pmcr_el0, xzr
	isb
	ret

/* uint64_t armed_spin(pmcr, n): 2 * n + 2 instructions, n at least 1. */
	.globl armed_spin
armed_spin:
	msr	pmcr_el0, x0
	isb
1:	subs	x1, x1, #1
	b.ne	1b
	msr	pmcr_el0, xzr
	isb
	ret

/* uint64_t armed_masked(pmcr, -): armed_nops with IRQs masked; they come in after
 * the DAIFClr behind 40 NOPs, 42 instructions after the MSR. */
	.globl armed_masked, armed_masked_first
armed_masked:
	msr	daifset, #2
	msr	pmcr_el0, x0
armed_masked_first:
	isb
	.rept	40
	nop
	.endr
	msr	daifclr, #2
	nop
	nop
	msr	pmcr_el0, xzr
	isb
	ret
