/* SPDX-License-Identifier: MIT */
/*
 * The device tree that the board's guests find in x0: what emu/virt.h has, in
 * the words of QEMU's virt machine.
 */
#ifndef PMULAB_EMU_VIRT_FDT_H
#define PMULAB_EMU_VIRT_FDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virt_fdt {
	unsigned cpus;		     /* 1..GICV3_CPUS */
	const char *cpu_compatible;  /* NULL: "arm,cortex-a57" */
	uint64_t ram_size;	     /* bytes at VIRT_RAM */
	const char *bootargs;	     /* NULL: none */
	uint64_t initrd, initrd_end; /* physical, end exclusive; equal: none */
	bool pmu_irq;		     /* the PMU's interrupt is wired */
	uint64_t kaslr_seed;	     /* 0: none, and Linux stays where it is */
};

/* A safe size for any tree, bootargs not counted. */
enum {
	VIRT_FDT_SIZE = 0x10000
};

/* The tree into @buf. Its bytes, or -ENOSPC when @size is too small. What of
 * @size is left behind it is zero. */
int virt_fdt_build(const struct virt_fdt *config, void *buf, size_t size);

#endif
