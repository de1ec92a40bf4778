/* SPDX-License-Identifier: MIT */
/*
 * Where a bare-metal program begins: at EL1 with the MMU off, entered by its ELF
 * entry point. It maps the devices, the code (both levels may execute it) and
 * the data (both may write it), takes all exceptions to bare_trap() and ends by
 * PSCI's SYSTEM_OFF.
 */
#define STACK 8192

#define PSCI_SYSTEM_OFF	    0x84000008
#define MAIR_NORMAL_DEVICE  0x00ff /* attribute 0: write-back; 1: nGnRnE */
#define TCR_39_BITS	    0x100803519 /* T0SZ 25, inner shareable write-back, 4 KiB; no
					 * TTBR1; 36-bit addresses */
#define SCTLR_RES1	    0x30d00800
#define SCTLR_M_C_I	    0x1005

	.section .text.start, "ax"
	.globl _start
_start:
	adrp	x0, bare_stacks + STACK
	add	x0, x0, :lo12:bare_stacks + STACK
	mov	sp, x0
	bl	turn_on
	bl	main
	b	bare_off

/* x0: the function that CPU_ON's context names; x1 .. are free. */
	.globl bare_secondary
bare_secondary:
	mov	x19, x0
	mrs	x1, mpidr_el1
	and	x1, x1, #7
	add	x1, x1, #1
	adrp	x2, bare_stacks
	add	x2, x2, :lo12:bare_stacks
	add	x1, x2, x1, lsl #13
	mov	sp, x1
	bl	turn_on
	blr	x19
1:	wfi
	b	1b

	.globl bare_off
bare_off:
	movz	w0, #(PSCI_SYSTEM_OFF & 0xffff)
	movk	w0, #(PSCI_SYSTEM_OFF >> 16), lsl #16
	hvc	#0
1:	b	1b

turn_on:
	adrp	x0, bare_vectors
	add	x0, x0, :lo12:bare_vectors
	msr	vbar_el1, x0
	mov	x0, #MAIR_NORMAL_DEVICE
	msr	mair_el1, x0
	ldr	x0, =TCR_39_BITS
	msr	tcr_el1, x0
	adrp	x0, level1
	msr	ttbr0_el1, x0
	tlbi	vmalle1
	dsb	sy
	isb
	ldr	x0, =(SCTLR_RES1 | SCTLR_M_C_I)
	msr	sctlr_el1, x0
	isb
	ret

/* -- exceptions ----------------------------------------------------------- */

	.macro	vector number
	.balign	0x80
	sub	sp, sp, #288
	stp	x0, x1, [sp]
	mov	x1, #\number
	b	taken
	.endm

	.balign	0x800
	.globl bare_vectors
bare_vectors:
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vector	\number
	.endr

/* struct bare_frame: x0..x30, elr, spsr, esr, far. */
	.balign	0x80
taken:
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x2, elr_el1
	stp	x30, x2, [sp, #240]
	mrs	x2, spsr_el1
	mrs	x3, esr_el1
	stp	x2, x3, [sp, #256]
	mrs	x2, far_el1
	str	x2, [sp, #272]
	mov	x0, sp
	bl	bare_trap
	ldp	x30, x2, [sp, #240]
	msr	elr_el1, x2
	ldr	x2, [sp, #256]
	msr	spsr_el1, x2
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	ldp	x0, x1, [sp], #288
	eret

/* Vectors for measured code: a call returns at once, one ERET in all. */
	.balign	0x800
	.globl bare_vectors_return
bare_vectors_return:
	.rept	16
	.balign	0x80
	eret
	.endr

/* The same, behind the instruction that faulted: four instructions. */
	.balign	0x800
	.globl bare_vectors_skip
bare_vectors_skip:
	.rept	16
	.balign	0x80
	mrs	x9, elr_el1
	add	x9, x9, #4
	msr	elr_el1, x9
	eret
	.endr

/* -- EL0 ------------------------------------------------------------------ */

/* uint64_t bare_el0(fn, x0, x1, pstate): @fn at EL0; its SVC, which bare_trap()
 * sends to bare_el0_back, ends it. */
	.globl bare_el0
bare_el0:
	stp	x29, x30, [sp, #-96]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x9, x0
	adr	x10, el0_start
	msr	elr_el1, x10
	msr	spsr_el1, x3
	adrp	x10, bare_el0_stack + STACK
	add	x10, x10, :lo12:bare_el0_stack + STACK
	msr	sp_el0, x10
	mov	x0, x1
	mov	x1, x2
	eret
el0_start:
	blr	x9
	svc	#0
	.globl bare_el0_back
bare_el0_back:
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret

/* -- tables and stacks ---------------------------------------------------- */

#define TABLE	     0x3
#define BLOCK	     0x1
#define ACCESSED     (1 << 10)
#define SHARED	     (3 << 8)
#define EL0_WRITES   (1 << 6)
#define BOTH_READ    (3 << 6)
#define DEVICE	     (1 << 2)
#define NO_EXECUTE   (3 << 53)

	.section .data.tables, "aw"
	.balign	4096
level1:	.quad	BLOCK | DEVICE | ACCESSED | NO_EXECUTE
	.quad	level2 + TABLE
	.fill	510, 8, 0
	.balign	4096
level2:	.quad	0
	.quad	0x40200000 + (BLOCK | SHARED | ACCESSED | BOTH_READ)
	.quad	0x40400000 + (BLOCK | SHARED | ACCESSED | EL0_WRITES | NO_EXECUTE)
	.fill	509, 8, 0

	.section .bss
	.balign	16
bare_stacks:
	.skip	8 * STACK
bare_el0_stack:
	.skip	STACK
