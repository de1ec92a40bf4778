/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/pl011.h"

enum {
	DR = 0x000,
	RSR = 0x004,
	FR = 0x018,
	ILPR = 0x020,
	IBRD = 0x024,
	FBRD = 0x028,
	LCR_H = 0x02c,
	CR = 0x030,
	IFLS = 0x034,
	IMSC = 0x038,
	RIS = 0x03c,
	MIS = 0x040,
	ICR = 0x044,
	DMACR = 0x048,
};

enum {
	INT_RX = 1 << 4,
	INT_TX = 1 << 5,
	INT_RT = 1 << 6,
	INT_OE = 1 << 10,
	FR_RXFE = 1 << 4,
	FR_RXFF = 1 << 6,
	FR_TXFE = 1 << 7,
	FEN = 1 << 4,
	UART_ON = 0x301,
	LOOP = 1 << 7
};

static struct pl011 uart;
static struct guest_log errors;
static struct guest_error last_error;
static struct wire_end irq;
static char sent[64];
static unsigned nsent;

static void put(void *opaque, uint8_t byte)
{
	ck_assert_ptr_eq(opaque, sent);
	ck_assert_uint_lt(nsent, sizeof(sent));
	sent[nsent++] = (char)byte;
}

static void report(void *opaque, const struct guest_error *error)
{
	last_error = *error;
}

static void set_up(void)
{
	memset(&irq, 0, sizeof(irq));
	errors = (struct guest_log){.report = report};
	nsent = 0;
	pl011_init(&uart, (struct pl011_ops){put, sent},
		   (struct irq_line){wire_end_set, &irq}, &errors);
}

static uint32_t rd(uint32_t offset)
{
	return (uint32_t)pl011_read(&uart, offset, 4);
}

static void wr(uint32_t offset, uint32_t value)
{
	pl011_write(&uart, offset, 4, value);
}

START_TEST(pl011_sends_at_once_and_is_always_ready)
{
	static const char text[] = "hello\n";

	for (unsigned i = 0; i < 6; i++) {
		ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
		pl011_write(&uart, DR, 1u << i % 3, 0xffffff00 | (uint8_t)text[i]);
	}
	ck_assert_uint_eq(nsent, 6);
	ck_assert_int_eq(memcmp(sent, text, 6), 0);
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
	ck_assert_uint_eq(errors.count, 0);
	ck_assert_uint_eq(irq.driven, 0);
}
END_TEST

/* As Linux drives it: clear, unmask, fill; each write after that interrupts. */
START_TEST(pl011_tx_interrupt_follows_each_write)
{
	ck_assert_uint_eq(rd(RIS), 0);
	wr(IMSC, INT_TX);
	ck_assert_int_eq(irq.level, 0); /* an edge: an empty FIFO alone is none */
	wr(DR, 'a');
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(RIS), INT_TX);
	ck_assert_uint_eq(rd(MIS), INT_TX);
	wr(ICR, INT_TX);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(RIS), 0);
	wr(DR, 'b');
	ck_assert_int_eq(irq.level, 1);
	wr(IMSC, 0);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(RIS), INT_TX);
	ck_assert_uint_eq(rd(MIS), 0);
	wr(IMSC, INT_TX); /* pending from before */
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(irq.driven, 5);
	wr(ICR, ~(uint32_t)INT_TX);
	ck_assert_int_eq(irq.level, 1);
}
END_TEST

START_TEST(pl011_ids_are_a_primecells)
{
	static const uint8_t ids[] = {0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1};
	uint32_t periph = 0, cell = 0;

	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(rd(0xfe0 + 4 * i), ids[i]);
	for (unsigned i = 0; i < 4; i++) {
		periph |= rd(0xfe0 + 4 * i) << 8 * i;
		cell |= rd(0xff0 + 4 * i) << 8 * i;
	}
	ck_assert_uint_eq(periph & 0x000fffff, 0x00041011); /* amba's mask for it */
	ck_assert_uint_eq(cell, 0xb105f00d);
	ck_assert_uint_eq(errors.count, 0);
}
END_TEST

START_TEST(pl011_registers_keep_their_bits)
{
	static const struct {
		uint32_t offset, kept, reset;
	} regs[] = {
		{ILPR, 0xff, 0},  {IBRD, 0xffff, 0},   {FBRD, 0x3f, 0},
		{LCR_H, 0xff, 0}, {CR, 0xff87, 0x300}, {IFLS, 0x3f, 0x12},
		{IMSC, 0x7ff, 0}, {DMACR, 7, 0},
	};

	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		ck_assert_uint_eq(rd(regs[i].offset), regs[i].reset);
		wr(regs[i].offset, 0xffffffff);
		ck_assert_msg(rd(regs[i].offset) == regs[i].kept, "%#x: %#x",
			      regs[i].offset, rd(regs[i].offset));
	}
	wr(DR, 'x'); /* looped back now */
	ck_assert_int_eq(irq.level, 1);
	pl011_reset(&uart);
	ck_assert_int_eq(irq.level, 0);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		ck_assert_uint_eq(rd(regs[i].offset), regs[i].reset);
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
	ck_assert_uint_eq(errors.count, 0);
}
END_TEST

START_TEST(pl011_unknown_accesses_read_zero_and_are_reported)
{
	static const struct {
		uint32_t offset;
		unsigned size;
		int write;
	} bad[] =
		{
			{0x008, 4, 0}, {0x04c, 4, 1}, {0xfdc, 4, 0},
			{0x018, 4, 1}, /* UARTFR: RO */
			{0x03c, 4, 1}, {0x040, 4, 1}, {0xfe0, 4, 1},
			{0x044, 4, 0}, /* UARTICR: WO */
			{0x001, 1, 0}, {0x002, 2, 1}, {0xfe1, 1, 0},
			{0x000, 8, 0}, {0x000, 8, 1},
		};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (bad[i].write)
			pl011_write(&uart, bad[i].offset, bad[i].size, 0x77);
		else
			ck_assert_uint_eq(pl011_read(&uart, bad[i].offset, bad[i].size),
					  0);
		ck_assert_uint_eq(errors.count, i + 1);
		ck_assert_str_eq(last_error.device, "pl011");
		ck_assert_uint_eq(last_error.offset, bad[i].offset);
		ck_assert_uint_eq(last_error.size, bad[i].size);
		ck_assert_int_eq(last_error.write, bad[i].write);
		ck_assert_uint_eq(last_error.value, bad[i].write ? 0x77 : 0);
	}
	ck_assert_uint_eq(nsent, 0);
	ck_assert_uint_eq(irq.driven, 0);
}
END_TEST

START_TEST(pl011_error_reports_stop_and_counting_does_not)
{
	for (unsigned i = 1; i <= 100; i++) {
		pl011_write(&uart, 0x800, 4, i);
		ck_assert_uint_eq(errors.count, i);
		ck_assert_uint_eq(last_error.value,
				  i < GUEST_LOG_REPORTS ? i : GUEST_LOG_REPORTS);
	}
}
END_TEST

/* -- receiving ---------------------------------------------------------------- */

START_TEST(pl011_receives_only_when_on)
{
	ck_assert(pl011_receive(&uart, 'q')); /* UARTEN is clear: lost */
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
	wr(CR, UART_ON);
	wr(IMSC, INT_RX);
	ck_assert(pl011_receive(&uart, 'a'));
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFF); /* one byte without the FIFO */
	ck_assert(!pl011_receive(&uart, 'b'));
	ck_assert_uint_eq(rd(RIS), INT_RX | INT_RT | INT_OE);
	ck_assert_uint_eq(rd(RSR), 8);
	ck_assert_uint_eq(rd(DR), 0x800 | 'a'); /* overrun stands beside the byte */
	ck_assert_int_eq(irq.level, 0);
	wr(RSR, 0);
	ck_assert_uint_eq(rd(RSR), 0);
	ck_assert_uint_eq(rd(DR), 0);
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
}
END_TEST

START_TEST(pl011_fifo_holds_sixteen_and_interrupts_at_its_trigger)
{
	wr(CR, UART_ON);
	wr(LCR_H, FEN);
	for (unsigned i = 0; i < 16; i++) {
		/* IFLS at reset: half; the timeout comes with the first byte */
		ck_assert_uint_eq(rd(RIS), i == 0 ? 0 : i < 8 ? INT_RT : INT_RT | INT_RX);
		ck_assert(pl011_receive(&uart, (uint8_t)('a' + i)));
	}
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFF);
	ck_assert(!pl011_receive(&uart, '!'));
	wr(RSR, 0);
	for (unsigned i = 0; i < 16; i++) {
		ck_assert_uint_eq(rd(RIS) & INT_RX, i <= 8 ? INT_RX : 0);
		ck_assert_uint_eq(rd(DR), 'a' + i);
	}
	wr(IFLS, 0x02); /* RX at an eighth */
	ck_assert(pl011_receive(&uart, 'v'));
	ck_assert_uint_eq(rd(RIS), INT_OE | INT_RT);
	ck_assert(pl011_receive(&uart, 'w'));
	ck_assert_uint_eq(rd(RIS), INT_OE | INT_RT | INT_RX);
	wr(IFLS, 0x12); /* back to half: two are not enough */
	ck_assert_uint_eq(rd(RIS), INT_OE | INT_RT);
	ck_assert_uint_eq(rd(DR), 'v');
	ck_assert_uint_eq(rd(DR), 'w');
	ck_assert_uint_eq(rd(RIS), INT_OE);
	ck_assert(pl011_receive(&uart, 'z')); /* round the end of the buffer */
	ck_assert_uint_eq(rd(DR), 'z');
	ck_assert(pl011_receive(&uart, 'y'));
	wr(LCR_H, 0); /* the FIFO is emptied */
	ck_assert_uint_eq(rd(FR), FR_TXFE | FR_RXFE);
	ck_assert_uint_eq(rd(RIS), INT_OE);
}
END_TEST

START_TEST(pl011_loops_back)
{
	wr(CR, UART_ON | LOOP);
	wr(DR, 'L');
	ck_assert_uint_eq(nsent, 0);
	ck_assert_uint_eq(rd(DR), 'L');
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pl011");
	TCase *tc = tcase_create("uart");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, pl011_sends_at_once_and_is_always_ready);
	tcase_add_test(tc, pl011_tx_interrupt_follows_each_write);
	tcase_add_test(tc, pl011_ids_are_a_primecells);
	tcase_add_test(tc, pl011_registers_keep_their_bits);
	tcase_add_test(tc, pl011_unknown_accesses_read_zero_and_are_reported);
	tcase_add_test(tc, pl011_error_reports_stop_and_counting_does_not);
	tcase_add_test(tc, pl011_receives_only_when_on);
	tcase_add_test(tc, pl011_fifo_holds_sixteen_and_interrupts_at_its_trigger);
	tcase_add_test(tc, pl011_loops_back);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
