/* SPDX-License-Identifier: MIT */
/*
 * The EL1 image's own world. Included by C and by assembly.
 *
 * One address map, made once: kernel virtual = KERNEL_OFFSET + physical, under
 * TTBR1; the user's half is sys/'s, under TTBR0. The image is linked at the
 * address where QEMU and `pmulab boot` put an Image that asks for none.
 */
#ifndef PMULAB_KERNELCORE_ARM64_H
#define PMULAB_KERNELCORE_ARM64_H

#ifdef __ASSEMBLER__
#define U(n) n
#else
#define U(n) n##UL
#endif

#define KERNEL_OFFSET 0xffffff8000000000 /* T1SZ = 25: 39-bit addresses */
#define RAM_BASE      0x40000000
#define IMAGE_BASE    0x40200000
#define BLOCK_SIZE    0x200000

/* struct hal_regs on the stack. */
#define FRAME_SP   248
#define FRAME_PC   256
#define FRAME_SIZE 272

/* TCR_EL1 of the upper half: T1SZ = 25, 4 KiB granule, write-back, inner
 * shareable (Arm ARM, D19.2.139). */
#define TCR_UPPER (U(25) << 16 | U(1) << 24 | U(1) << 26 | U(3) << 28 | U(2) << 30)
/* The lower half and the rest, as sys/ will write them again. */
#define TCR_LOWER (U(25) | U(1) << 8 | U(1) << 10 | U(3) << 12 | U(2) << 32)
/* RES1, MMU, caches; as sys/ will write it again. */
#define SCTLR_ON (U(0x30d00800) | 1 << 0 | 1 << 2 | 1 << 12 | 1 << 14 | 1 << 15 | 1 << 26)

/* What may not happen, as arm64_bad() is told. */
#define BAD_EL1_SYNC 0
#define BAD_VECTOR   1

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/hal.h"
#include "kernelcore/kentry.h"

/* The CPU: TPIDR_EL1 points here. */
struct hal {
	struct ksys *sys; /* NULL while booting: no interrupt can come */
	uint64_t ram_base, ram_size; /* what the image leaves, physical */
	uint64_t gicr_sgi, uart;     /* physical */
	uint64_t cntfrq;
	uint32_t wired; /* bit n: a device is on private interrupt n */
	bool laboratory;
	bool mid_line; /* the console's last byte was no newline */
	struct hal_regs *user; /* EL0's, on the stack */
	struct {
		unsigned left; /* notes still to come; 0: no plan */
		unsigned counter;
		uint64_t args[4]; /* of the injection */
	} armed;
};

static inline struct hal *arm64_this_cpu(void)
{
	struct hal *hal;

	__asm__("mrs %0, tpidr_el1" : "=r"(hal));
	return hal;
}

/* Any device; one instruction each, whose register a hypervisor can see. */
static inline uint32_t arm64_mmio_read(uint64_t pa)
{
	uint32_t value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(pa + KERNEL_OFFSET) : "memory");
	return value;
}

static inline void arm64_mmio_write(uint64_t pa, uint32_t value)
{
	__asm__ volatile("str %w0, [%1]" : : "r"(value), "r"(pa + KERNEL_OFFSET) : "memory");
}

/* SMCCC by HVC: function identifier and six arguments. */
uint64_t arm64_hvc(uint64_t function, const uint64_t args[6]);

/* One line on the console, and the machine off with @status. */
__attribute__((noreturn)) void arm64_exit(struct hal *hal, unsigned status);

/* Text to the console; a number in hex. */
void arm64_puts(struct hal *hal, const char *text);
void arm64_puthex(struct hal *hal, uint64_t value);

/* From start.S. */
void arm64_main(uint64_t dtb, struct hal_regs *user);
void arm64_el0_sync(struct hal_regs *regs, uint64_t esr, uint64_t far);
void arm64_irq(struct hal_regs *regs);
__attribute__((noreturn)) void arm64_bad(struct hal_regs *regs, uint64_t what,
					  uint64_t esr, uint64_t far);

/* V0..V31, 512 bytes. */
void arm64_save_v(uint64_t *v);
void arm64_load_v(const uint64_t *v);

/* From kernel.ld: this CPU's struct hal, and the image's end. */
extern char arm64_cpu[], arm64_image_end[];

#endif
#endif
