/* SPDX-License-Identifier: MIT */
/*
 * Entry, page tables and vectors. Whoever boots the image leaves it at EL1 with
 * the MMU off, all interrupts masked and x0 = device tree (Documentation/arm64/
 * booting.rst of Linux, whose Image header this is).
 */
#include "kernelcore/arm64/arm64.h"

	.section .head, "ax"
head:
	b start
	.long 0
	.quad 0			/* no text offset: RAM + 2 MiB */
	.quad image_size
	.quad 2			/* little-endian, 4 KiB pages */
	.quad 0, 0, 0
	.ascii "ARM\x64"
	.long 0

/* Literals are read where they stand, so this runs at either address. */
start:
	mov x20, x0
	ldr x1, =0xff		/* 0: normal write-back, 1: Device-nGnRnE */
	msr mair_el1, x1
	ldr x1, =TCR_LOWER | TCR_UPPER
	msr tcr_el1, x1
	/* Both halves see the kernel's map while the PC moves up. */
	adrp x1, level1
	msr ttbr0_el1, x1
	msr ttbr1_el1, x1
	tlbi vmalle1
	dsb nsh
	isb
	ldr x1, =SCTLR_ON
	msr sctlr_el1, x1
	isb
	ldr x1, =high
	br x1
high:
	adrp x1, empty
	mov x2, #KERNEL_OFFSET
	sub x1, x1, x2
	msr ttbr0_el1, x1
	isb
	tlbi vmalle1
	dsb nsh
	ldr x1, =vectors
	msr vbar_el1, x1
	ldr x1, =arm64_cpu
	msr tpidr_el1, x1
	ldr x1, =arm64_stack_top
	mov sp, x1
	mov x1, #3 << 20	/* CPACR_EL1.FPEN: EL0 has the registers alone */
	msr cpacr_el1, x1
	mov x1, #2		/* CNTKCTL_EL1.EL0VCTEN, as Linux */
	msr cntkctl_el1, x1
	isb
	sub sp, sp, #FRAME_SIZE
	mov x0, x20
	mov x1, sp
	bl arm64_main
	b return_el0
	.ltorg

/* -- vectors --------------------------------------------------------------- */

	.text

/* struct hal_regs; \el is where it came from. */
	.macro save el
	sub sp, sp, #FRAME_SIZE
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
	.if \el
	add x0, sp, #FRAME_SIZE
	.else
	mrs x0, sp_el0
	.endif
	stp x30, x0, [sp, #FRAME_SP - 8]
	mrs x0, elr_el1
	mrs x1, spsr_el1
	stp x0, x1, [sp, #FRAME_PC]
	.endm

	.macro restore el
	ldp x0, x1, [sp, #FRAME_PC]
	msr elr_el1, x0
	msr spsr_el1, x1
	ldp x30, x0, [sp, #FRAME_SP - 8]
	.if \el == 0
	msr sp_el0, x0
	.endif
	ldp x0, x1, [sp, #0]
	ldp x2, x3, [sp, #16]
	ldp x4, x5, [sp, #32]
	ldp x6, x7, [sp, #48]
	ldp x8, x9, [sp, #64]
	ldp x10, x11, [sp, #80]
	ldp x12, x13, [sp, #96]
	ldp x14, x15, [sp, #112]
	ldp x16, x17, [sp, #128]
	ldp x18, x19, [sp, #144]
	ldp x20, x21, [sp, #160]
	ldp x22, x23, [sp, #176]
	ldp x24, x25, [sp, #192]
	ldp x26, x27, [sp, #208]
	ldp x28, x29, [sp, #224]
	add sp, sp, #FRAME_SIZE
	eret
	.endm

el0_sync:
	save 0
	mov x0, sp
	mrs x1, esr_el1
	mrs x2, far_el1
	bl arm64_el0_sync
return_el0:
	dsb ishst		/* page tables that the call wrote are seen now */
	restore 0

el0_irq:
	save 0
	mov x0, sp
	bl arm64_irq
	restore 0

el1_irq:
	save 1
	mov x0, sp
	bl arm64_irq
	restore 1

/* The kernel's own faults end the run. The stack may be what is wrong. */
el1_sync:
	msr tpidrro_el0, x0
	ldr x0, =arm64_emergency_top
	mov sp, x0
	mrs x0, tpidrro_el0
	save 1
	mov x0, sp
	mov x1, #BAD_EL1_SYNC
	mrs x2, esr_el1
	mrs x3, far_el1
	bl arm64_bad

bad:
	msr tpidrro_el0, x0
	ldr x0, =arm64_emergency_top
	mov sp, x0
	mrs x0, tpidrro_el0
	save 1
	mov x0, sp
	mov x1, #BAD_VECTOR
	mrs x2, esr_el1
	mrs x3, far_el1
	bl arm64_bad
	.ltorg

	.macro vector to
	.balign 0x80
	b \to
	.endm

	.balign 0x800
vectors:
	.rept 4			/* EL1 on SP_EL0: never */
	vector bad
	.endr
	vector el1_sync
	vector el1_irq
	vector bad
	vector bad
	vector el0_sync
	vector el0_irq
	vector bad
	vector bad
	.rept 4			/* AArch32 */
	vector bad
	.endr

/* -- a task's other registers ------------------------------------------------ */

	.macro each_pair insn
	\insn q0, q1, [x0, #0]
	\insn q2, q3, [x0, #32]
	\insn q4, q5, [x0, #64]
	\insn q6, q7, [x0, #96]
	\insn q8, q9, [x0, #128]
	\insn q10, q11, [x0, #160]
	\insn q12, q13, [x0, #192]
	\insn q14, q15, [x0, #224]
	\insn q16, q17, [x0, #256]
	\insn q18, q19, [x0, #288]
	\insn q20, q21, [x0, #320]
	\insn q22, q23, [x0, #352]
	\insn q24, q25, [x0, #384]
	\insn q26, q27, [x0, #416]
	\insn q28, q29, [x0, #448]
	\insn q30, q31, [x0, #480]
	.endm

	.globl arm64_save_v, arm64_load_v
arm64_save_v:
	each_pair stp
	ret
arm64_load_v:
	each_pair ldp
	ret

/* -- page tables ----------------------------------------------------------- */

#define BLOCK  1
#define TABLE  3
#define DEVICE (1 << 2)
#define RO     (1 << 7)
#define INNER  (3 << 8)
#define AF     (1 << 10)
#define PXN    (1 << 53)
#define UXN    (1 << 54)

	.section .tables, "a"
	.balign 4096
level1:	/* devices below 1 GiB, RAM in the second */
	.quad DEVICE | AF | PXN | UXN | BLOCK
	.quad level2 - KERNEL_OFFSET + TABLE
	.fill 510, 8, 0
level2:	/* the image's block is code and constants, all else is data */
	.set pa, RAM_BASE
	.rept 512
	.if pa == IMAGE_BASE
	.quad pa | INNER | AF | RO | UXN | BLOCK
	.else
	.quad pa | INNER | AF | PXN | UXN | BLOCK
	.endif
	.set pa, pa + BLOCK_SIZE
	.endr
empty:	/* the lower half before there is a user */
	.fill 512, 8, 0

	.section .note.GNU-stack, "", %progbits
