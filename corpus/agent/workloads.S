/* SPDX-License-Identifier: MIT */
/*
 * Workloads: x0 = n >= 1 turns of a loop. Each executes exactly
 * AGENT_WL_<NAME>_COST(n) instructions (agent-cost.h), whichever way its
 * branches go: where two ways meet again both have the same length. They use
 * x0 to x15 and x30 only; the result is of no use to anyone.
 */
#include "corpus/agent/agent-abi.h"
#include "corpus/agent/agent-cost.h"

.macro CHECK from, to, cost
	.if ((\to) - (\from)) / 4 != (\cost)
	.error "agent-cost.h has another figure"
	.endif
.endm

.macro FUNC name
	.globl \name
	.type \name, %function
	.balign 64
\name:
.endm

.macro ENDFUNC name
	.size \name, . - \name
.endm

	.section .workloads, "ax", %progbits

/* spin: arithmetic, each instruction on what the one before gave.
 * 2 + 8 n + 1 */
FUNC spin
	mov	x1, #1
	mov	x2, #3
1:	add	x1, x1, x0
	eor	x2, x2, x1
	add	x3, x2, x1, lsl #1
	eor	x1, x1, x3
	add	x2, x2, x3
	eor	x1, x1, x2, lsr #5
	subs	x0, x0, #1
	b.ne	1b
	ret
	CHECK	spin, ., AGENT_WL_SPIN_COST(1)
ENDFUNC spin

/* load: words, a pair and a byte of one line, then the next line.
 * 2 + 10 n + 1 */
FUNC load
	mov	x1, #AGENT_SCRATCH
	mov	x2, #0
1:	add	x3, x1, x2
	ldr	x4, [x3]
	ldr	x5, [x3, #8]
	ldp	x6, x7, [x3, #16]
	ldrb	w8, [x3, #33]
	add	x4, x4, x5
	add	x2, x2, #64
	and	x2, x2, #AGENT_SCRATCH_SIZE - 1
	subs	x0, x0, #1
	b.ne	1b
	ret
	CHECK	load, ., AGENT_WL_LOAD_COST(1)
ENDFUNC load

/* store: the same with stores. 2 + 10 n + 1 */
FUNC store
	mov	x1, #AGENT_SCRATCH
	mov	x2, #0
1:	add	x3, x1, x2
	str	x0, [x3]
	str	x2, [x3, #8]
	stp	x0, x2, [x3, #16]
	strb	w0, [x3, #33]
	strh	w2, [x3, #34]
	add	x2, x2, #64
	and	x2, x2, #AGENT_SCRATCH_SIZE - 1
	subs	x0, x0, #1
	b.ne	1b
	ret
	CHECK	store, ., AGENT_WL_STORE_COST(1)
ENDFUNC store

/*
 * branch: conditional branches that alternate, that are always and that are
 * never taken, a call, an indirect jump to alternating targets; between them it
 * waits for three loads, as code that branches on what it reads does.
 * 6 + (4 + 2 + 1 + 4 + 1 + 5 + 3 + 2 + 2) n + 1 = 6 + 24 n + 1
 */
FUNC branch
	mov	x9, x30
	mov	x1, #1
	mov	x2, #3
	mov	x13, #AGENT_SCRATCH
	adr	x10, 5f
	adr	x11, 6f
1:	and	x4, x1, #0xff8
	ldr	x4, [x13, x4]
	add	x1, x1, x4
	tbz	x0, #0, 2f
	add	x1, x1, #3
	b	3f
2:	eor	x1, x1, x0
	add	x1, x1, #1
3:	cbz	xzr, 4f		/* always */
	brk	#0
4:	and	x4, x1, #0xff8
	ldr	x4, [x13, x4]
	eor	x1, x1, x4
	cbnz	xzr, 4b		/* never */
	bl	branch_leaf
	tst	x0, #2
	csel	x12, x10, x11, eq
	br	x12
5:	add	x1, x1, x2
	b	7f
6:	eor	x1, x1, x2
	add	x1, x1, #5
7:	subs	x0, x0, #1
	b.ne	1b
	ret	x9
ENDFUNC branch

/* 5 */
FUNC branch_leaf
	eor	x2, x2, x1
	and	x4, x2, #0xff8
	ldr	x4, [x13, x4]
	add	x1, x1, x4
	ret
ENDFUNC branch_leaf

/*
 * mixed: loads, stores, multiplication, division, a call, branches.
 * 6 + (11 + 2 + 1 + 2 + 3 + 2 + 4) n + 1 = 6 + 25 n + 1
 */
FUNC mixed
	mov	x9, x30
	mov	x1, #AGENT_SCRATCH
	mov	x2, #0
	mov	x3, #1
	adr	x10, 5f
	adr	x11, 6f
1:	add	x4, x1, x2
	ldr	x5, [x4]
	add	x3, x3, x5
	eor	x3, x3, x0
	str	x3, [x4]
	ldp	x6, x7, [x4, #16]
	madd	x3, x6, x0, x3
	stp	x3, x7, [x4, #16]
	orr	x8, x0, #1
	udiv	x8, x3, x8
	bl	mixed_leaf
	tbnz	x0, #1, 2f
	rbit	x3, x3
	b	3f
2:	clz	x12, x3
	add	x3, x3, x12
3:	tst	x0, #4
	csel	x12, x10, x11, ne
	br	x12
5:	ror	x3, x3, #7
	b	7f
6:	mvn	x3, x3
	add	x3, x3, #5
7:	add	x2, x2, #64
	and	x2, x2, #AGENT_SCRATCH_SIZE - 1
	subs	x0, x0, #1
	b.ne	1b
	ret	x9
ENDFUNC mixed

/* 2 */
FUNC mixed_leaf
	add	x3, x3, x8
	ret
ENDFUNC mixed_leaf

/*
 * frames: n calls deep with a frame record each, as compilers make them, and a
 * loop at the bottom. x29 is 0 in the dispatcher: the chain ends above the
 * first record. The records lie on the agent's stack.
 * 3 + (7 n + 3 AGENT_WL_FRAMES_SPIN) + 2
 */
FUNC frames
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	frames_level
	ldp	x29, x30, [sp], #16
	ret
ENDFUNC frames

/* 5 + 2 with a deeper one; the last is 4 + 1 + 3 turns + 2. */
FUNC frames_level
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	subs	x0, x0, #1
	b.eq	1f
	bl	frames_level
	ldp	x29, x30, [sp], #16
	ret
1:	mov	x1, #AGENT_WL_FRAMES_SPIN
2:	add	x2, x2, x1
	subs	x1, x1, #1
	b.ne	2b
	ldp	x29, x30, [sp], #16
	ret
ENDFUNC frames_level

	.section .note.GNU-stack, "", %progbits
