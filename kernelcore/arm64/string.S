/* SPDX-License-Identifier: MIT */
/* What compilers call by themselves. Memory is normal: any alignment will do. */

	.text

	.macro function name
	.balign 16
	.globl \name
	.type \name, %function
\name:
	.endm

/* x0 = memcpy(x0 dst, x1 src, x2 n) */
function memcpy
	mov x3, x0
1:	subs x2, x2, #16
	b.lo 2f
	ldp x4, x5, [x1], #16
	stp x4, x5, [x3], #16
	b 1b
2:	tbz x2, #3, 3f
	ldr x4, [x1], #8
	str x4, [x3], #8
3:	ands x2, x2, #7
	b.eq 5f
4:	ldrb w4, [x1], #1
	strb w4, [x3], #1
	subs x2, x2, #1
	b.ne 4b
5:	ret
	.size memcpy, . - memcpy

/* As memcpy, from the end where dst lies in [src, src + n). */
function memmove
	sub x3, x0, x1
	cmp x3, x2
	b.hs memcpy
	add x3, x0, x2
	add x1, x1, x2
	cbz x2, 2f
1:	ldrb w4, [x1, #-1]!
	strb w4, [x3, #-1]!
	subs x2, x2, #1
	b.ne 1b
2:	ret
	.size memmove, . - memmove

/* x0 = memset(x0 dst, w1 byte, x2 n) */
function memset
	and x4, x1, #0xff
	mov x5, #0x0101010101010101
	mul x4, x4, x5
	mov x3, x0
1:	subs x2, x2, #16
	b.lo 2f
	stp x4, x4, [x3], #16
	b 1b
2:	tbz x2, #3, 3f
	str x4, [x3], #8
3:	ands x2, x2, #7
	b.eq 5f
4:	strb w4, [x3], #1
	subs x2, x2, #1
	b.ne 4b
5:	ret
	.size memset, . - memset

/* w0 = memcmp(x0, x1, x2 n) */
function memcmp
	cbz x2, 2f
1:	ldrb w3, [x0], #1
	ldrb w4, [x1], #1
	cmp w3, w4
	b.ne 3f
	subs x2, x2, #1
	b.ne 1b
2:	mov w0, #0
	ret
3:	sub w0, w3, w4
	ret
	.size memcmp, . - memcmp

	.section .note.GNU-stack, "", %progbits
