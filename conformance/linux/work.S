/* SPDX-License-Identifier: MIT */
/*
 * A program whose EL0 instructions are known: 2 + 1 in _start, 2 * 2000000 + 1 in
 * hot, 3 to leave: 4000007. All but 7 of them are hot's loop.
 */
	.text
	.globl	_start
	.type	_start, %function
_start:
	mov	x0, #2000000 & 0xffff
	movk	x0, #2000000 >> 16, lsl #16
	bl	hot
	mov	x0, #0
	mov	x8, #93			/* exit */
	svc	#0
	.size	_start, . - _start

	.globl	hot
	.type	hot, %function
hot:
	subs	x0, x0, #1
	b.ne	hot
	ret
	.size	hot, . - hot
