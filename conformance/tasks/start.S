/* SPDX-License-Identifier: MIT */
/* What C cannot say: a program's beginning, a system call, a thread's. */
	.text
	.globl _start, call6, thread, spin
_start:
	mov x29, #0
	mov x30, #0
	mov x0, sp
	bl program
	mov x8, #94
	svc #0

/* long call6(a, b, c, d, e, f, nr) */
call6:
	mov x8, x6
	svc #0
	ret

/* long thread(flags, stack top, int *tid, fn, arg): clone(2) of a thread that calls
 * fn(arg) and exits with what it returns; the word at tid is cleared then. */
thread:
	stp x3, x4, [x1, #-16]!
	mov x4, x2
	mov x3, #0
	mov x8, #220
	svc #0
	cbnz x0, 1f
	ldp x3, x0, [sp], #16
	mov x29, #0
	mov x30, #0
	blr x3
	mov x8, #93
	svc #0
1:	ret

/* spin(n): 2n + 1 instructions */
spin:
	cbz x0, 2f
1:	subs x0, x0, #1
	b.ne 1b
2:	ret

	.section .note.GNU-stack, "", %progbits
