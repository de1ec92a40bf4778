/* SPDX-License-Identifier: MIT */
/*
 * Programs that try guest mode's ways in and out, one a build: -DPROGRAM_<NAME>.
 * Exit status 0 is well.
 */

	.macro call nr
	mov x8, #\nr
	svc #0
	.endm

	.macro exit status
	mov x0, #\status
	call 93
	.endm

/* x19 = an event that runs with the attributes at \attr; status 100 when not. */
	.macro start_event attr
	adr x0, \attr
	mov x1, #0
	mov x2, #-1
	mov x3, #-1
	mov x4, #0
	call 241
	mov x19, x0
	mov x1, #0x2400		/* PERF_EVENT_IOC_ENABLE */
	mov x2, #0
	call 29
	cbz x0, 1f
	exit 100
1:
	.endm

/* struct perf_event_attr: hardware/cycles, sample=ip */
	.macro attr period, flags
	.long 0, 128
	.quad 0, \period, 1, 0, \flags
	.fill 80, 1, 0
	.endm

	.text
	.globl _start
_start:

#if defined(PROGRAM_REGISTERS)
/* Every register holds a number of its own through interrupts, then through a system
 * call; status n + 1 when xn did not, 41 for the flags, 42 for SP. */
	.macro set n
	movz x\n, #0x100 + \n
	movk x\n, #0xa5a5, lsl #48
	.endm
	.macro check n
	movz x1, #0x100 + \n
	movk x1, #0xa5a5, lsl #48
	ldr x2, [sp, #8 * \n]
	mov x0, #\n + 1
	cmp x1, x2
	b.ne fail
	.endm
	.macro store_all
	stp x0, x1, [sp, #0]
	stp x2, x3, [sp, #16]
	stp x4, x5, [sp, #32]
	stp x6, x7, [sp, #48]
	stp x8, x9, [sp, #64]
	stp x10, x11, [sp, #80]
	stp x12, x13, [sp, #96]
	stp x14, x15, [sp, #112]
	stp x16, x17, [sp, #128]
	stp x18, x19, [sp, #144]
	stp x20, x21, [sp, #160]
	stp x22, x23, [sp, #176]
	stp x24, x25, [sp, #192]
	stp x26, x27, [sp, #208]
	stp x28, x29, [sp, #224]
	str x30, [sp, #240]
	.endm

	start_event el0_7
	adr x0, saved
	mov sp, x0
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	set \n
	.endr
	subs xzr, x0, x0	/* Z and C; no other number is needed for it */
	.rept 700
	nop
	.endr
	b.ne bad_flags
	b.cc bad_flags
	store_all
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	check \n
	.endr
	adr x1, saved
	mov x0, #42
	mov x2, sp
	cmp x1, x2
	b.ne fail

	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	set \n
	.endr
	call 172
	store_all
	.irp n, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	check \n
	.endr
	exit 0
bad_flags:
	mov x0, #41
fail:
	call 93

#elif defined(PROGRAM_ECHO)
/* fd 0 to fd 1, the kernel interrupted all the way. The stack it was given holds
 * argc first. */
	ldr x0, [sp]
	cmp x0, #1
	mov x0, #101
	b.ne end
	start_event el1_1009
again:
	mov x0, #0
	adr x1, saved
	mov x2, #256
	call 63
	cmp x0, #0
	b.le end
	mov x2, x0
	mov x0, #1
	adr x1, saved
	call 64
	b again
end:
	call 93

#elif defined(PROGRAM_FAULT)
	mov x1, #0x10
fault:
	ldr x0, [x1]
	exit 0

#elif defined(PROGRAM_UNMAP)
/* A page that was mapped, used and unmapped is gone, for reads and at once. */
	mov x0, #0
	mov x1, #4096
	mov x2, #3
	mov x3, #0x22		/* private, anonymous */
	mov x4, #-1
	mov x5, #0
	call 222
	mov x20, x0
	str x20, [x20]
	ldr x1, [x20]
	mov x1, #4096
	call 215
	cbnz x0, 1f
	ldr x1, [x20]
1:	exit 1

#elif defined(PROGRAM_MASK)
/* The laboratory's MASK; its error is the status. */
	call 0x7001
	neg x0, x0
	call 93
#else
#error "which program?"
#endif

	.data
	.balign 8
el0_7:	attr 7, 0x61		/* disabled, exclude kernel and hv */
el1_1009: attr 1009, 0x51	/* disabled, exclude user and hv */
	.balign 16
saved:	.fill 256, 1, 0

	.section .note.GNU-stack, "", %progbits
