/* SPDX-License-Identifier: MIT */
/*
 * The transmit interrupt is an edge (DDI 0183, 2.8.2): UARTRIS.TX is set when the
 * FIFO drains to its trigger level, not while it is below it, and stays until
 * UARTICR. Here each byte drains at once, so each write sets it. Linux clears
 * it, fills the FIFO and waits for the next (pl011_tx_chars): without it output
 * from user space stops after the first burst.
 */
#include "emu/pl011.h"

#include <string.h>

enum {
	UARTDR = 0x000,
	UARTRSR = 0x004, /* write: UARTECR */
	UARTFR = 0x018,
	UARTILPR = 0x020,
	UARTIBRD = 0x024,
	UARTFBRD = 0x028,
	UARTLCR_H = 0x02c,
	UARTCR = 0x030,
	UARTIFLS = 0x034,
	UARTIMSC = 0x038,
	UARTRIS = 0x03c,
	UARTMIS = 0x040,
	UARTICR = 0x044,
	UARTDMACR = 0x048,
	IDREGS = 0xfe0, /* PeriphID0..3, PCellID0..3 */
	IDREGS_END = 0x1000,
};

enum {
	FR_RXFE = 1 << 4,
	FR_RXFF = 1 << 6,
	FR_TXFE = 1 << 7,

	LCR_FEN = 1 << 4,

	CR_UARTEN = 1 << 0,
	CR_LBE = 1 << 7,
	CR_TXE = 1 << 8,
	CR_RXE = 1 << 9,

	INT_RX = 1 << 4,
	INT_TX = 1 << 5,
	INT_RT = 1 << 6,
	INT_OE = 1 << 10,
	INT_ALL = 0x7ff,

	RSR_OE = 1 << 3,
	DR_OE = 1 << 11,

	IFLS_RESET = 0x12, /* both at half */
	CR_RESET = CR_TXE | CR_RXE,
};

static void update(struct pl011 *uart)
{
	const int level = (uart->ris & uart->imsc) != 0;

	if (level == uart->level)
		return;
	uart->level = level;
	irq_line_set(&uart->irq, level);
}

/* -- data ---------------------------------------------------------------------- */

static unsigned rx_room(const struct pl011 *uart)
{
	return uart->lcr_h & LCR_FEN ? PL011_RX_FIFO : 1;
}

/* Bytes in the FIFO that make UARTRIS.RX rise: 1/8, 1/4, 1/2, 3/4, 7/8 of it. */
static unsigned rx_trigger(const struct pl011 *uart)
{
	static const uint8_t sixteenths[8] = {2, 4, 8, 12, 14, 14, 14, 14};

	return uart->lcr_h & LCR_FEN ? sixteenths[uart->ifls >> 3 & 7] : 1;
}

/* A timeout interrupt comes with the first byte: no time passes on this wire, so
 * whoever waits for more than it would wait for ever. */
static void rx_interrupts(struct pl011 *uart)
{
	uart->ris &= ~(uint32_t)(INT_RX | INT_RT);
	if (uart->rx_count)
		uart->ris |= INT_RT;
	if (uart->rx_count >= rx_trigger(uart))
		uart->ris |= INT_RX;
}

static bool receive(struct pl011 *uart, uint8_t byte)
{
	if (uart->rx_count >= rx_room(uart)) {
		uart->rsr |= RSR_OE;
		uart->ris |= INT_OE;
		update(uart);
		return false;
	}
	uart->rx[(uart->rx_first + uart->rx_count++) % PL011_RX_FIFO] = byte;
	rx_interrupts(uart);
	update(uart);
	return true;
}

bool pl011_receive(struct pl011 *uart, uint8_t byte)
{
	if ((uart->cr & (CR_UARTEN | CR_RXE)) != (CR_UARTEN | CR_RXE))
		return true;
	return receive(uart, byte);
}

static uint32_t read_data(struct pl011 *uart)
{
	uint32_t value;

	if (!uart->rx_count)
		return 0;
	value = uart->rx[uart->rx_first] | (uart->rsr & RSR_OE ? DR_OE : 0);
	uart->rx_first = (uart->rx_first + 1) % PL011_RX_FIFO;
	uart->rx_count--;
	rx_interrupts(uart);
	update(uart);
	return value;
}

/* A disabled transmitter sends too: kernels' early consoles write to a UART that
 * they believe firmware has set up, and QEMU's lets them. */
static void write_data(struct pl011 *uart, uint8_t byte)
{
	if (uart->cr & CR_LBE)
		receive(uart, byte);
	else if (uart->ops.put)
		uart->ops.put(uart->ops.opaque, byte);
	uart->ris |= INT_TX;
	update(uart);
}

static uint32_t read_flags(const struct pl011 *uart)
{
	return FR_TXFE | (uart->rx_count ? 0 : FR_RXFE) |
	       (uart->rx_count >= rx_room(uart) ? FR_RXFF : 0);
}

/* -- registers ------------------------------------------------------------------ */

/* Part 0x011, designer Arm, revision 1; then the PrimeCell's 0xb105f00d. */
static uint32_t read_idreg(uint32_t offset)
{
	static const uint8_t ids[] = {0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1};

	return ids[(offset - IDREGS) / 4];
}

static bool load(struct pl011 *uart, uint32_t offset, uint64_t *value)
{
	switch (offset) {
	case UARTDR:
		*value = read_data(uart);
		return true;
	case UARTRSR:
		*value = uart->rsr;
		return true;
	case UARTFR:
		*value = read_flags(uart);
		return true;
	case UARTILPR:
		*value = uart->ilpr;
		return true;
	case UARTIBRD:
		*value = uart->ibrd;
		return true;
	case UARTFBRD:
		*value = uart->fbrd;
		return true;
	case UARTLCR_H:
		*value = uart->lcr_h;
		return true;
	case UARTCR:
		*value = uart->cr;
		return true;
	case UARTIFLS:
		*value = uart->ifls;
		return true;
	case UARTIMSC:
		*value = uart->imsc;
		return true;
	case UARTRIS:
		*value = uart->ris;
		return true;
	case UARTMIS:
		*value = uart->ris & uart->imsc;
		return true;
	case UARTDMACR:
		*value = uart->dmacr;
		return true;
	default:
		if (offset < IDREGS)
			return false;
		*value = read_idreg(offset);
		return true;
	}
}

/* Turning the FIFO on or off empties it. */
static void write_lcr_h(struct pl011 *uart, uint32_t value)
{
	if ((uart->lcr_h ^ value) & LCR_FEN) {
		uart->rx_first = 0;
		uart->rx_count = 0;
	}
	uart->lcr_h = value & 0xff;
	rx_interrupts(uart);
}

static bool store(struct pl011 *uart, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case UARTDR:
		write_data(uart, (uint8_t)value);
		break;
	case UARTRSR: /* UARTECR: any value clears */
		uart->rsr = 0;
		break;
	case UARTILPR:
		uart->ilpr = value & 0xff;
		break;
	case UARTIBRD:
		uart->ibrd = value & 0xffff;
		break;
	case UARTFBRD:
		uart->fbrd = value & 0x3f;
		break;
	case UARTLCR_H:
		write_lcr_h(uart, value);
		break;
	case UARTCR:
		uart->cr = value & 0xff87;
		break;
	case UARTIFLS:
		uart->ifls = value & 0x3f;
		rx_interrupts(uart);
		break;
	case UARTIMSC:
		uart->imsc = value & INT_ALL;
		break;
	case UARTICR:
		uart->ris &= ~value;
		break;
	case UARTDMACR: /* stored: there is no DMA controller */
		uart->dmacr = value & 7;
		break;
	default:
		return false;
	}
	update(uart);
	return true;
}

/* -- access --------------------------------------------------------------------- */

static bool access_ok(uint32_t offset, unsigned size)
{
	return (size == 1 || size == 2 || size == 4) && offset % 4 == 0 &&
	       offset < IDREGS_END;
}

static void bad(struct pl011 *uart, bool write, uint32_t offset, unsigned size,
		uint64_t value)
{
	const struct guest_error error = {
		.device = "pl011",
		.write = write,
		.size = size,
		.offset = offset,
		.value = value,
	};

	guest_log_add(uart->log, &error);
}

uint64_t pl011_read(struct pl011 *uart, uint32_t offset, unsigned size)
{
	uint64_t value = 0;

	if (!access_ok(offset, size) || !load(uart, offset, &value))
		bad(uart, false, offset, size, 0);
	return size == 1 ? value & 0xff : value;
}

void pl011_write(struct pl011 *uart, uint32_t offset, unsigned size, uint64_t value)
{
	if (!access_ok(offset, size) || !store(uart, offset, (uint32_t)value))
		bad(uart, true, offset, size, value);
}

/* -- life ----------------------------------------------------------------------- */

void pl011_reset(struct pl011 *uart)
{
	uart->rx_first = 0;
	uart->rx_count = 0;
	uart->rsr = 0;
	uart->ilpr = 0;
	uart->ibrd = 0;
	uart->fbrd = 0;
	uart->lcr_h = 0;
	uart->cr = CR_RESET;
	uart->ifls = IFLS_RESET;
	uart->imsc = 0;
	uart->ris = 0;
	uart->dmacr = 0;
	update(uart);
}

void pl011_init(struct pl011 *uart, struct pl011_ops ops, struct irq_line irq,
		struct guest_log *log)
{
	memset(uart, 0, sizeof(*uart));
	uart->ops = ops;
	uart->irq = irq;
	uart->log = log;
	pl011_reset(uart);
}
