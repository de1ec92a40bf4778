/* SPDX-License-Identifier: MIT */
/*
 * A PL011 UART (Arm DDI 0183). What is written to it leaves at once, so the
 * transmit FIFO is always empty; input comes one byte at a time.
 *
 * Output: the combined interrupt (UARTINTR), high while an unmasked raw
 * interrupt is set.
 */
#ifndef PMULAB_EMU_PL011_H
#define PMULAB_EMU_PL011_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/guest_log.h"
#include "emu/line.h"

enum {
	PL011_RX_FIFO = 16
};

struct pl011_ops {
	void (*put)(void *opaque, uint8_t byte); /* a byte was sent; may be NULL */
	void *opaque;
};

struct pl011 {
	struct pl011_ops ops;
	struct irq_line irq;
	struct guest_log *log;
	int level;

	uint8_t rx[PL011_RX_FIFO];
	unsigned rx_first, rx_count;
	uint32_t rsr; /* receive errors: overrun only */
	uint32_t ilpr, ibrd, fbrd, lcr_h, cr, ifls, imsc, ris, dmacr;
};

/* @ops and @irq are copied; @log may be NULL. Resets the device. */
void pl011_init(struct pl011 *uart, struct pl011_ops ops, struct irq_line irq,
		struct guest_log *log);
void pl011_reset(struct pl011 *uart);

/* A register by @offset within its 4 KiB, @size 1, 2 or 4 bytes. */
uint64_t pl011_read(struct pl011 *uart, uint32_t offset, unsigned size);
void pl011_write(struct pl011 *uart, uint32_t offset, unsigned size, uint64_t value);

/* A byte arrives. False, and an overrun, when there is no room for it; lost
 * without a trace while the receiver is off. */
bool pl011_receive(struct pl011 *uart, uint8_t byte);

#endif
