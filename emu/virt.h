/* SPDX-License-Identifier: MIT */
/*
 * The board: a GICv3, generic timers and a PL011 at the addresses and on the
 * interrupts of QEMU's virt machine, power by PSCI, and what a guest has for
 * saying how it ended. The CPUs, their PMUs and the RAM are the machine's.
 */
#ifndef PMULAB_EMU_VIRT_H
#define PMULAB_EMU_VIRT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/gic_ppi.h"
#include "emu/gicv3.h"
#include "emu/gtimer.h"
#include "emu/guest_log.h"
#include "emu/pl011.h"

#define VIRT_GICD UINT64_C(0x08000000)
#define VIRT_GICR UINT64_C(0x080a0000)
#define VIRT_UART UINT64_C(0x09000000)
#define VIRT_UART_SIZE UINT64_C(0x1000)
#define VIRT_RAM UINT64_C(0x40000000)

enum {
	VIRT_UART_SPI = 1,
	VIRT_UART_INTID = 32 + VIRT_UART_SPI
};

enum {
	VIRT_EXIT_LINE = 32
};

/* The guest's own word about its end, in the order of trust. It stands once the
 * guest powers off (or, by semihosting, at once). */
enum virt_exit_by {
	VIRT_EXIT_NONE,	   /* it said nothing */
	VIRT_EXIT_CONSOLE, /* a line EXIT: STATUS=(n << 1 | 1), as kvm-unit-tests print */
	VIRT_EXIT_SEMIHOSTING, /* SYS_EXIT, SYS_EXIT_EXTENDED */
};

struct virt_config {
	unsigned cpus;
	/* @cpus of each, initialised by the machine and living as long as the
	 * board. virt_init() wires the timers to them. */
	struct gic_ppi *const *gic;
	struct gtimer *const *timer;
	struct trace_bus *bus; /* may be NULL */
	struct pl011_ops console;
	/* First guest errors; may be NULL. */
	void (*guest_error)(void *opaque, const struct guest_error *error);
	void *opaque;
};

struct virt {
	unsigned cpus;
	struct guest_log log;
	struct gicv3 gic;
	struct pl011 uart;
	struct pl011_ops console;
	struct gtimer *timer[GICV3_CPUS];
	struct gic_ppi_pin timer_pin[GICV3_CPUS][GTIMERS];
	struct gicv3_pin uart_pin;

	enum virt_exit_by exit_by;
	int exit_status;	   /* 0..255; 0 while exit_by says nothing */
	char line[VIRT_EXIT_LINE]; /* the console's present line, cut off */
	unsigned line_size;	   /* its length, one more when it was cut */
};

void virt_init(struct virt *virt, const struct virt_config *config);

/* A device access by physical address, @size 1, 2, 4 or 8 bytes. False: no
 * device there, and the CPU takes an external abort. */
bool virt_mmio_read(struct virt *virt, uint64_t pa, unsigned size, uint64_t *value);
bool virt_mmio_write(struct virt *virt, uint64_t pa, unsigned size, uint64_t value);

/* Cycles until the board changes a wire by itself; UINT64_MAX for never. The
 * machine calls virt_update() then (at the latest). */
uint64_t virt_deadline(const struct virt *virt);
void virt_update(struct virt *virt);

/*
 * HLT #0xf000 at EL1 (Arm's semihosting) with @op in w0 and @arg in x1. @load reads
 * the 8 bytes at a virtual address, false on a fault.
 */
enum virt_semihost {
	VIRT_SEMIHOST_EXIT,    /* exit_status is set: stop the machine */
	VIRT_SEMIHOST_UNKNOWN, /* not offered: x0 = -1, go on */
};
enum virt_semihost
virt_semihosting(struct virt *virt, uint32_t op, uint64_t arg,
		 bool (*load)(void *opaque, uint64_t va, uint64_t *value), void *opaque);

#endif
