/* SPDX-License-Identifier: MIT */
/*
 * Work to be counted: void work_NAME(pmcr, page). What is counted begins after the
 * MSR that sets PMCR_EL0.E and includes the one that clears it; so each work has
 * an ISB and an MSR besides its own instructions, 2 of INST_RETIRED. The page is
 * data that nothing touched before.
 */
	.section .text.works, "ax"

#define PMCR_P 2

/* void work_twice(work, pmcr, page, other): the second time counts, and between the
 * two nothing runs but this. */
	.balign	64
	.globl work_twice
work_twice:
	stp	x29, x30, [sp, #-48]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	mov	x19, x0
	mov	x20, x1
	mov	x21, x3
	mov	x0, x1
	mov	x1, x2
	blr	x19
	mov	x0, #PMCR_P
	msr	pmcr_el0, x0
	isb
	mov	x0, x20
	mov	x1, x21
	blr	x19
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x29, x30, [sp], #48
	ret

	.macro	begin name
	.balign	64
	.globl work_\name
work_\name:
	msr	pmcr_el0, x0
	isb
	.endm

	.macro	finish
	msr	pmcr_el0, xzr
	isb
	ret
	.endm

/* 8 instructions. */
	begin	nops
	.rept	8
	nop
	.endr
	finish

/* 5: 4 loads in 5 accesses of one line; a prefetch is none. */
	begin	loads
	ldr	x2, [x1]
	ldrb	w3, [x1, #8]
	ldp	x4, x5, [x1, #16]
	ldr	w6, [x1, #32]
	prfm	pldl1keep, [x1, #128]
	finish

/* 4 stores in 5 accesses of one line. */
	begin	stores
	str	x2, [x1]
	strb	w3, [x1, #8]
	stp	x4, x5, [x1, #16]
	str	w6, [x1, #32]
	finish

/* 3: a load, a store, and a store that the monitor refuses. */
	begin	exclusives
	ldxr	x2, [x1]
	stxr	w3, x2, [x1]
	stxr	w3, x2, [x1]
	finish

/* 5: 4 loads and a store, 4 of the 5 not aligned, one over two lines. */
	begin	unaligned
	ldr	x2, [x1, #1]
	str	w3, [x1, #6]
	ldrh	w4, [x1, #3]
	ldr	x5, [x1, #60]
	ldr	x6, [x1, #8]
	finish

/* 4 loads of one set of two ways: three lines, then the first one again. */
	begin	evict
	ldr	x2, [x1]
	ldr	x3, [x1, #4096]
	ldr	x4, [x1, #8192]
	ldr	x5, [x1]
	finish

/* 14: MOV, 5 times SUBS and B.NE (4 taken), B, CBZ taken, CBNZ not taken. */
	begin	branches
	mov	x2, #5
1:	subs	x2, x2, #1
	b.ne	1b
	b	2f
2:	cbz	xzr, 3f
	nop
3:	cbnz	xzr, 4f
4:	finish

/* 7: BL, RET, ADR, BLR, RET, ADR, BR. X30 is kept in X9. */
	.balign	64
	.globl work_calls
work_calls:
	mov	x9, x30
	msr	pmcr_el0, x0
	isb
	bl	2f
	adr	x2, 2f
	blr	x2
	adr	x3, 1f
	br	x3
1:	msr	pmcr_el0, xzr
	isb
	ret	x9
2:	ret

/* 2, with bare_vectors_return: SVC, ERET. */
	begin	svc
	svc	#0
	finish

/* 4, with bare_vectors_skip: one that faults, then MRS, ADD, MSR, ERET. */
	begin	undefined
	.inst	0
	finish

/* 3, two of them writes. */
	begin	contextidr
	msr	contextidr_el1, xzr
	mrs	x2, contextidr_el1
	msr	contextidr_el1, xzr
	finish

/* 4: MOV, and three increments of all counters that count SW_INCR. */
	begin	swinc
	mov	w2, #-1
	msr	pmswinc_el0, x2
	msr	pmswinc_el0, x2
	msr	pmswinc_el0, x2
	finish

/* 4 branches through three lines of one set of two ways (here set 32; this code
 * is in set 0). */
	.balign	4096
	.globl work_far
work_far:
	msr	pmcr_el0, x0
	isb
	b	1f
4:	msr	pmcr_el0, xzr
	isb
	ret
	.skip	0x800 - (. - work_far)
1:	b	2f
	.skip	0x1800 - (. - work_far)
2:	b	3f
	.skip	0x2800 - (. - work_far)
3:	b	4b

/* For EL0: 2 instructions, and bare_el0()'s BLR and SVC there make 4. */
	.globl work_el0
work_el0:
	nop
	ret
