/* SPDX-License-Identifier: MIT */
/* void debug_work(uint64_t *data, uint64_t n): n turns, whose places debug.c tells
 * by their number of instructions from the beginning. */
	.text
	.globl	debug_work
debug_work:
	mov	x2, #1
1:
	.globl	debug_load
debug_load:
	ldr	x3, [x0]
	add	x2, x2, x3
	.globl	debug_store
debug_store:
	strh	w2, [x0, #8]
	.globl	debug_pair
debug_pair:
	stp	x2, x3, [x0, #16]
	subs	x1, x1, #1
	b.ne	1b
	.globl	debug_end
debug_end:
	ret
