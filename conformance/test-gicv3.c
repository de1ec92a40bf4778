/* SPDX-License-Identifier: MIT */
/*
 * The distributor and the redistributors with two CPU interfaces behind them, set
 * up as Linux does it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/gicv3.h"

#define ICC_PMR SYSREG(3, 0, 4, 6, 0)
#define ICC_AP1R0 SYSREG(3, 0, 12, 9, 0)
#define ICC_DIR SYSREG(3, 0, 12, 11, 1)
#define ICC_RPR SYSREG(3, 0, 12, 11, 3)
#define ICC_SGI1R SYSREG(3, 0, 12, 11, 5)
#define ICC_SGI0R SYSREG(3, 0, 12, 11, 7)
#define ICC_IAR1 SYSREG(3, 0, 12, 12, 0)
#define ICC_EOIR1 SYSREG(3, 0, 12, 12, 1)
#define ICC_HPPIR1 SYSREG(3, 0, 12, 12, 2)
#define ICC_CTLR SYSREG(3, 0, 12, 12, 4)
#define ICC_IGRPEN1 SYSREG(3, 0, 12, 12, 7)

enum {
	CPUS = 2,
	SPURIOUS = 1023,
	IDLE = 0xff,
	UART = 33,
	DISK = 79,
	LAST = 255,
	TIMER = 27,
};

enum {
	CTLR = 0x000,
	TYPER = 0x004,
	IIDR = 0x008,
	IGROUPR = 0x080,
	ISENABLER = 0x100,
	ICENABLER = 0x180,
	ISPENDR = 0x200,
	ICPENDR = 0x280,
	ISACTIVER = 0x300,
	ICACTIVER = 0x380,
	IPRIORITYR = 0x400,
	ICFGR = 0xc00,
	IROUTER = 0x6000,
	PIDR2 = 0xffe8,
	R_TYPER = 0x008,
	R_WAKER = 0x014,
	R_FRAME = 0x20000,
	R_SGI = 0x10000,
};

static uint64_t now;
static struct trace_bus bus;
static struct bus_log bus_events;
static struct guest_log errors;
static struct guest_error last_error;
static struct gic_ppi ppi[CPUS];
static struct wire_end irq[CPUS];
static struct gicv3 gic;

static void report(void *opaque, const struct guest_error *error)
{
	last_error = *error;
}

static void wr(unsigned cpu, uint32_t enc, uint64_t value)
{
	const struct sysreg_block block = gic_ppi_sysregs(&ppi[cpu]);

	ck_assert_int_eq(sysreg_write(&block, 1, enc, 1, value), SYSREG_OK);
}

static uint64_t rd(unsigned cpu, uint32_t enc)
{
	const struct sysreg_block block = gic_ppi_sysregs(&ppi[cpu]);
	uint64_t value = 0;

	ck_assert_int_eq(sysreg_read(&block, 1, enc, 1, &value), SYSREG_OK);
	return value;
}

static void dist(uint32_t offset, uint32_t value)
{
	gicv3_dist_write(&gic, offset, 4, value);
}

static uint32_t dist_rd(uint32_t offset)
{
	return (uint32_t)gicv3_dist_read(&gic, offset, 4);
}

static void redist(unsigned cpu, uint32_t offset, uint32_t value)
{
	gicv3_redist_write(&gic, cpu * R_FRAME + offset, 4, value);
}

static uint32_t redist_rd(unsigned cpu, uint32_t offset)
{
	return (uint32_t)gicv3_redist_read(&gic, cpu * R_FRAME + offset, 4);
}

/* The one bit of @intid in the family at @base. */
static void dist_bit(uint32_t base, unsigned intid)
{
	dist(base + intid / 32 * 4, 1u << intid % 32);
}

static int dist_bit_rd(uint32_t base, unsigned intid)
{
	return dist_rd(base + intid / 32 * 4) >> intid % 32 & 1;
}

static void route(unsigned intid, uint64_t affinity)
{
	gicv3_dist_write(&gic, IROUTER + 8 * intid, 8, affinity);
}

static void power_on(void)
{
	struct gic_ppi *const all[CPUS] = {&ppi[0], &ppi[1]};

	now = 0;
	memset(&bus_events, 0, sizeof(bus_events));
	memset(irq, 0, sizeof(irq));
	errors = (struct guest_log){.report = report};
	trace_bus_init(&bus, &now);
	ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &bus_events), 0);
	for (unsigned i = 0; i < CPUS; i++)
		gic_ppi_init(&ppi[i], (struct irq_line){wire_end_set, &irq[i]}, &bus, i);
	gicv3_init(&gic, all, CPUS, &bus, &errors);
}

static void set_up(void)
{
	power_on();
	for (unsigned word = 1; word < 8; word++)
		dist(IGROUPR + 4 * word, 0xffffffff);
	for (unsigned intid = 32; intid <= LAST; intid += 4)
		dist(IPRIORITYR + intid, 0xa0a0a0a0);
	dist(CTLR, 0x12);
	for (unsigned i = 0; i < CPUS; i++) {
		redist(i, R_SGI + IGROUPR, 0xffffffff);
		for (unsigned intid = 0; intid < 32; intid += 4)
			redist(i, R_SGI + IPRIORITYR + intid, 0xa0a0a0a0);
		redist(i, R_SGI + ISENABLER, 0xffff | 1u << TIMER);
		wr(i, ICC_PMR, 0xf0);
		wr(i, ICC_IGRPEN1, 1);
	}
	dist_bit(ISENABLER, UART);
	dist_bit(ISENABLER, DISK);
	dist_bit(ISENABLER, LAST);
	ck_assert_uint_eq(irq[0].driven + irq[1].driven, 0);
	ck_assert_uint_eq(errors.count, 0);
	bus_log_end(&bus_events);
}

static void tear_down(void)
{
	/* No test that did not count them made an error. */
	ck_assert_uint_eq(errors.count, 0);
}

/* -- shared interrupts --------------------------------------------------------- */

START_TEST(gicv3_level_spi_lives_as_long_as_its_wire)
{
	gicv3_set_line(&gic, UART, 1);
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_int_eq(irq[1].level, 0);
	ck_assert_int_eq(dist_bit_rd(ISPENDR, UART), 1);
	ck_assert_uint_eq(rd(0, ICC_HPPIR1), UART);
	ck_assert_uint_eq(rd(1, ICC_HPPIR1), SPURIOUS);
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_int_eq(dist_bit_rd(ISACTIVER, UART), 1);
	ck_assert_int_eq(dist_bit_rd(ISPENDR, UART), 1); /* active and pending */
	ck_assert_uint_eq(rd(0, ICC_RPR), 0xa0);
	wr(0, ICC_EOIR1, UART);
	ck_assert_int_eq(irq[0].level, 1); /* still high: again */
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
	gicv3_set_line(&gic, UART, 0);
	wr(0, ICC_EOIR1, UART);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(rd(0, ICC_IAR1), SPURIOUS);
	ck_assert_uint_eq(rd(0, ICC_RPR), IDLE);
	ck_assert_int_eq(dist_bit_rd(ISACTIVER, UART), 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, UART, 1);
	bus_log_next(&bus_events, 0, TRACE_ACK, UART, 0);
	bus_log_next(&bus_events, 0, TRACE_EOI, UART, 0);
	bus_log_next(&bus_events, 0, TRACE_ACK, UART, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, UART, 0);
	bus_log_next(&bus_events, 0, TRACE_EOI, UART, 0);
	bus_log_next(&bus_events, 0, TRACE_ACK, SPURIOUS, 0);
	bus_log_end(&bus_events);
}
END_TEST

START_TEST(gicv3_edge_spi_latches_the_rise)
{
	dist(ICFGR + DISK / 16 * 4, 2u << 2 * (DISK % 16));
	ck_assert_uint_eq(dist_rd(ICFGR + DISK / 16 * 4), 2u << 2 * (DISK % 16));
	gicv3_set_line(&gic, DISK, 1);
	gicv3_set_line(&gic, DISK, 0);
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_uint_eq(rd(0, ICC_IAR1), DISK);
	ck_assert_int_eq(dist_bit_rd(ISPENDR, DISK), 0);
	gicv3_set_line(&gic, DISK, 1); /* again while active */
	ck_assert_int_eq(irq[0].level, 0);
	wr(0, ICC_EOIR1, DISK);
	ck_assert_uint_eq(rd(0, ICC_IAR1), DISK);
	wr(0, ICC_EOIR1, DISK);
	ck_assert_int_eq(irq[0].level, 0);
	dist(ICFGR + DISK / 16 * 4, 0); /* the same wire, now a level */
	ck_assert_int_eq(irq[0].level, 1);
}
END_TEST

START_TEST(gicv3_set_and_clear_registers_do_one_bit)
{
	dist_bit(ISPENDR, DISK);
	ck_assert_uint_eq(dist_rd(ISPENDR + DISK / 32 * 4), 1u << DISK % 32);
	ck_assert_uint_eq(dist_rd(ICPENDR + DISK / 32 * 4), 1u << DISK % 32);
	ck_assert_int_eq(irq[0].level, 1);
	dist_bit(ICPENDR, DISK + 1);
	ck_assert_int_eq(irq[0].level, 1);
	dist_bit(ICENABLER, DISK);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(dist_rd(ISENABLER + DISK / 32 * 4), 0);
	dist_bit(ISENABLER, DISK);
	ck_assert_uint_eq(dist_rd(ICENABLER + DISK / 32 * 4), 1u << DISK % 32);
	ck_assert_int_eq(irq[0].level, 1);
	dist_bit(ISACTIVER, DISK);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(dist_rd(ICACTIVER + DISK / 32 * 4), 1u << DISK % 32);
	dist_bit(ICACTIVER, DISK);
	ck_assert_int_eq(irq[0].level, 1);
	dist(IGROUPR + DISK / 32 * 4, ~(1u << DISK % 32)); /* group 0 is never an IRQ */
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(dist_rd(IGROUPR + DISK / 32 * 4), ~(1u << DISK % 32));
	dist(IGROUPR + DISK / 32 * 4, ~0u);
	ck_assert_int_eq(irq[0].level, 1);
	dist_bit(ICPENDR, DISK);
	ck_assert_int_eq(irq[0].level, 0);
	gicv3_set_line(&gic, DISK, 1);
	dist_bit(ICPENDR, DISK); /* does not pull a wire down */
	ck_assert_int_eq(irq[0].level, 1);
}
END_TEST

START_TEST(gicv3_priorities_decide_across_all_kinds)
{
	gicv3_set_line(&gic, UART, 1);
	gicv3_set_line(&gic, DISK, 1);
	gicv3_set_line(&gic, LAST, 1);
	gic_ppi_set_line(&ppi[0], TIMER, 1);
	ck_assert_uint_eq(rd(0, ICC_HPPIR1), TIMER); /* the lowest INTID among equals */
	gic_ppi_set_line(&ppi[0], TIMER, 0);
	ck_assert_uint_eq(rd(0, ICC_HPPIR1), UART);
	gic_ppi_set_line(&ppi[0], TIMER, 1);
	gicv3_dist_write(&gic, IPRIORITYR + DISK, 1, 0x97);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IPRIORITYR + DISK, 1), 0x90);
	ck_assert_uint_eq(dist_rd(IPRIORITYR + (DISK & ~3u)), 0x90a0a0a0);
	ck_assert_uint_eq(rd(0, ICC_HPPIR1), DISK);
	gicv3_dist_write(&gic, IPRIORITYR + LAST, 1, 0x80);
	ck_assert_uint_eq(rd(0, ICC_IAR1), LAST);
	ck_assert_int_eq(irq[0].level, 0); /* nothing beats what runs */
	gicv3_dist_write(&gic, IPRIORITYR + UART, 1, 0x78);
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
	ck_assert_uint_eq(rd(0, ICC_AP1R0), 1u << (0x78 >> 3) | 1u << (0x80 >> 3));
	wr(0, ICC_EOIR1, UART);
	ck_assert_uint_eq(rd(0, ICC_RPR), 0x80);
	wr(0, ICC_PMR, 0x78);
	wr(0, ICC_EOIR1, LAST);
	ck_assert_int_eq(irq[0].level, 0);
	wr(0, ICC_PMR, 0x80);
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
}
END_TEST

START_TEST(gicv3_route_follows_irouter)
{
	gicv3_set_line(&gic, UART, 1);
	route(UART, 1);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_int_eq(irq[1].level, 1);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART, 8), 1);
	route(UART, 7); /* no such CPU */
	ck_assert_int_eq(irq[0].level | irq[1].level, 0);
	ck_assert_int_eq(dist_bit_rd(ISPENDR, UART), 1);
	route(UART, UINT64_C(0x8000000000) | 1); /* Aff3 */
	ck_assert_int_eq(irq[0].level | irq[1].level, 0);
	/* by halves; IRM is RES0 (TYPER.No1N) */
	gicv3_dist_write(&gic, IROUTER + 8 * UART + 4, 4, 0);
	ck_assert_int_eq(irq[1].level, 1);
	gicv3_dist_write(&gic, IROUTER + 8 * UART, 8, UINT64_MAX);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART, 8), 0xff00ffffff);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART, 4), 0x00ffffff);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART + 4, 4), 0xff);
	gicv3_dist_write(&gic, IROUTER + 8 * UART, 8, 0);
	ck_assert_int_eq(irq[0].level, 1);
}
END_TEST

/* Who acknowledges need not be who deactivates; DIR needs EOImode. */
START_TEST(gicv3_spi_is_deactivated_from_anywhere)
{
	wr(0, ICC_CTLR, 2);
	wr(1, ICC_CTLR, 2);
	dist_bit(ISPENDR, UART);
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
	wr(0, ICC_EOIR1, UART);
	ck_assert_uint_eq(rd(0, ICC_RPR), IDLE);
	ck_assert_int_eq(dist_bit_rd(ISACTIVER, UART), 1);
	dist_bit(ISPENDR, UART);
	ck_assert_int_eq(irq[0].level, 0);
	wr(1, ICC_DIR, UART);
	ck_assert_int_eq(dist_bit_rd(ISACTIVER, UART), 0);
	ck_assert_int_eq(irq[0].level, 1);
	wr(1, ICC_DIR, 256); /* not there */
	wr(1, ICC_DIR, SPURIOUS);
	ck_assert_int_eq(irq[0].level, 1);
}
END_TEST

START_TEST(gicv3_ap1r0_is_saved_and_restored)
{
	dist_bit(ISPENDR, UART);
	ck_assert_uint_eq(rd(0, ICC_IAR1), UART);
	dist_bit(ISPENDR, DISK);
	ck_assert_int_eq(irq[0].level, 0);
	wr(0, ICC_AP1R0, 0); /* a kernel that starts afresh */
	ck_assert_uint_eq(rd(0, ICC_RPR), IDLE);
	ck_assert_int_eq(irq[0].level, 1);
	wr(0, ICC_AP1R0, UINT64_C(1) << (0x98 >> 3));
	ck_assert_uint_eq(rd(0, ICC_RPR), 0x98);
	ck_assert_int_eq(irq[0].level, 0);
}
END_TEST

START_TEST(gicv3_wires_outside_are_ignored)
{
	static const unsigned none[] = {0, 23, 31, 256, 1019, 1023, ~0u};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		gicv3_set_line(&gic, none[i], 1);
	bus_log_end(&bus_events);

	struct gicv3_pin pin;
	const struct irq_line line = gicv3_line(&gic, &pin, UART);

	irq_line_set(&line, 1);
	bus_log_next(&bus_events, 0, TRACE_PENDING, UART, 1);
	irq_line_set(&line, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, UART, 0);
	bus_log_end(&bus_events);
}
END_TEST

/* -- enables above the interrupts ------------------------------------------------ */

START_TEST(gicv3_distributor_holds_everything_back)
{
	gicv3_set_line(&gic, UART, 1);
	gic_ppi_set_line(&ppi[1], TIMER, 1);
	ck_assert_int_eq(irq[0].level & irq[1].level, 1);
	dist(CTLR, 0x11); /* group 0 only */
	ck_assert_int_eq(irq[0].level | irq[1].level, 0);
	ck_assert_uint_eq(rd(0, ICC_IAR1), SPURIOUS);
	ck_assert_uint_eq(dist_rd(CTLR), 0x51); /* ARE and DS are fixed */
	dist(CTLR, 0xffffffff);
	ck_assert_uint_eq(dist_rd(CTLR), 0x53);
	ck_assert_int_eq(irq[0].level & irq[1].level, 1);
}
END_TEST

START_TEST(gicv3_sleeping_redistributor_forwards_nothing)
{
	gicv3_set_line(&gic, UART, 1);
	gic_ppi_set_line(&ppi[1], TIMER, 1);
	ck_assert_uint_eq(redist_rd(0, R_WAKER), 0); /* awake when firmware is done */
	redist(0, R_WAKER, 2);
	ck_assert_uint_eq(redist_rd(0, R_WAKER), 6);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_int_eq(irq[1].level, 1);
	dist(CTLR, 0);
	dist(CTLR, 2);
	ck_assert_int_eq(irq[0].level, 0);
	redist(0, R_WAKER, 0);
	ck_assert_uint_eq(redist_rd(0, R_WAKER), 0);
	ck_assert_int_eq(irq[0].level, 1);
	redist(0, R_WAKER, 2);
	gicv3_reset(&gic);
	ck_assert_uint_eq(redist_rd(0, R_WAKER), 0);
}
END_TEST

START_TEST(gicv3_reset_leaves_the_wires)
{
	gicv3_set_line(&gic, UART, 1);
	gic_ppi_set_line(&ppi[0], TIMER, 1);
	route(UART, 1);
	ck_assert_uint_eq(rd(0, ICC_IAR1), TIMER);
	gicv3_reset(&gic);
	ck_assert_int_eq(irq[0].level | irq[1].level, 0);
	ck_assert_uint_eq(dist_rd(CTLR), 0x50);
	ck_assert_uint_eq(dist_rd(ISENABLER + 4), 0);
	ck_assert_uint_eq(dist_rd(IGROUPR + 4), 0);
	ck_assert_uint_eq(dist_rd(IPRIORITYR + UART / 4 * 4), 0);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART, 8), 0);
	ck_assert_uint_eq(redist_rd(0, R_SGI + ISACTIVER), 0);
	ck_assert_uint_eq(rd(0, ICC_RPR), IDLE);
	ck_assert_int_eq(dist_bit_rd(ISPENDR, UART), 1);
}
END_TEST

/* -- SGIs to others --------------------------------------------------------------- */

START_TEST(gicv3_sgi_reaches_whom_it_names)
{
	static const struct {
		uint64_t value;
		unsigned hit; /* one bit a CPU, sent from CPU 0 */
	} cases[] = {
		{0x1, 1},
		{0x2, 2},
		{0x3, 3},
		{0xfffc, 0},
		{UINT64_C(0x10000000000), 2}, /* IRM: all but self */
		{UINT64_C(0x10000000003), 2},
		{0x10003, 0},			/* Aff1 */
		{UINT64_C(0x100000003), 0},	/* Aff2 */
		{UINT64_C(0x1000000000003), 0}, /* Aff3 */
		{UINT64_C(0x100000000003), 0},	/* RS */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr(0, ICC_SGI1R, cases[i].value | 9u << 24);
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			const int hit = cases[i].hit >> cpu & 1;

			ck_assert_msg(irq[cpu].level == hit, "case %zu, CPU %u", i, cpu);
			ck_assert_uint_eq(rd(cpu, ICC_IAR1), hit ? 9 : SPURIOUS);
			if (hit)
				wr(cpu, ICC_EOIR1, 9);
			ck_assert_int_eq(irq[cpu].level, 0);
		}
	}
	wr(1, ICC_SGI1R, UINT64_C(0x10000000000)); /* from the other one */
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_int_eq(irq[1].level, 0);
}
END_TEST

START_TEST(gicv3_sgi_needs_the_targets_group)
{
	wr(0, ICC_SGI0R, 0x2 | 9u << 24); /* group 1 there */
	ck_assert_uint_eq(redist_rd(1, R_SGI + ISPENDR), 0);
	redist(1, R_SGI + IGROUPR, ~(1u << 9));
	wr(0, ICC_SGI1R, 0x2 | 9u << 24);
	ck_assert_uint_eq(redist_rd(1, R_SGI + ISPENDR), 0);
	wr(0, ICC_SGI0R, 0x2 | 9u << 24);
	ck_assert_uint_eq(redist_rd(1, R_SGI + ISPENDR), 1u << 9);
	ck_assert_int_eq(irq[1].level, 0); /* an FIQ would it be */
}
END_TEST

/* -- what a driver probes ------------------------------------------------------------ */

START_TEST(gicv3_identifies_itself)
{
	const uint32_t typer = dist_rd(TYPER);

	ck_assert_uint_eq(32 * ((typer & 31) + 1), LAST + 1);
	ck_assert_uint_eq(typer >> 10 & 1, 0); /* one security state */
	ck_assert_uint_eq(typer >> 17 & 1, 0); /* no LPIs */
	ck_assert_uint_ge((typer >> 19 & 31) + 1, 10);
	ck_assert_uint_eq(typer >> 25 & 1, 1);
	ck_assert_uint_eq(dist_rd(IIDR) & 0xfff, 0x43b);
	ck_assert_uint_eq(dist_rd(PIDR2) & 0xf0, 0x30);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		const uint64_t r = gicv3_redist_read(&gic, cpu * R_FRAME + R_TYPER, 8);

		ck_assert_uint_eq(r >> 32, cpu);		/* affinity */
		ck_assert_uint_eq(r >> 8 & 0xffff, cpu);	/* processor number */
		ck_assert_uint_eq(r >> 4 & 1, cpu == CPUS - 1); /* Last */
		ck_assert_uint_eq(r & 0xf, 0);			/* no LPIs of any kind */
		ck_assert_uint_eq(redist_rd(cpu, R_TYPER), (uint32_t)r);
		ck_assert_uint_eq(redist_rd(cpu, R_TYPER + 4), r >> 32);
		ck_assert_uint_eq(redist_rd(cpu, PIDR2) & 0xf0, 0x30);
		ck_assert_uint_eq(redist_rd(cpu, 0), 0);
	}
	ck_assert_uint_eq(dist_rd(0xfff0) | dist_rd(0xfff4) << 8 | dist_rd(0xfff8) << 16 |
				  dist_rd(0xfffc) << 24,
			  0xb105f00d);
}
END_TEST

/* The private ones of the distributor's registers are in the redistributors. */
START_TEST(gicv3_private_words_read_as_zero_in_the_distributor)
{
	for (uint32_t base = IGROUPR; base < IPRIORITYR; base += 0x80) {
		dist(base, 0xffffffff);
		ck_assert_uint_eq(dist_rd(base), 0);
		dist(base + 8 * 4, 0xffffffff); /* INTID 256 */
		ck_assert_uint_eq(dist_rd(base + 8 * 4), 0);
		ck_assert_uint_eq(dist_rd(base + 0x7c), 0);
	}
	for (unsigned intid = 0; intid < 32; intid += 4) {
		dist(IPRIORITYR + intid, 0xffffffff);
		ck_assert_uint_eq(dist_rd(IPRIORITYR + intid), 0);
	}
	dist(ICFGR, 0xffffffff);
	dist(ICFGR + 4, 0xffffffff);
	dist(ICFGR + 16 * 4, 0xffffffff);
	ck_assert_uint_eq(dist_rd(ICFGR) | dist_rd(ICFGR + 4) | dist_rd(ICFGR + 16 * 4),
			  0);
	dist(IPRIORITYR + 256, 0xffffffff);
	ck_assert_uint_eq(dist_rd(IPRIORITYR + 256), 0);
	route(256, 1);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * 256, 8), 0);
	ck_assert_uint_eq(redist_rd(0, R_SGI + IGROUPR), 0xffffffff);
	ck_assert_int_eq(irq[0].level, 0);
}
END_TEST

START_TEST(gicv3_redistributor_frames_are_the_cpus_own)
{
	redist(1, R_SGI + ISENABLER, 1u << 30);
	ck_assert_uint_eq(redist_rd(1, R_SGI + ISENABLER),
			  0xffff | 1u << TIMER | 1u << 30);
	ck_assert_uint_eq(redist_rd(0, R_SGI + ISENABLER), 0xffff | 1u << TIMER);
	gicv3_redist_write(&gic, R_FRAME + R_SGI + IPRIORITYR + TIMER, 1, 0x44);
	ck_assert_uint_eq(redist_rd(1, R_SGI + IPRIORITYR + 24), 0x40a0a0a0);
	ck_assert_uint_eq(
		gicv3_redist_read(&gic, R_FRAME + R_SGI + IPRIORITYR + TIMER, 1), 0x40);
	ck_assert_uint_eq(redist_rd(0, R_SGI + IPRIORITYR + 24), 0xa0a0a0a0);
	/* the other state's registers and those of LPIs: there, and nothing in them */
	redist(0, R_SGI + 0xd00, ~0u);
	redist(0, R_SGI + 0xe00, ~0u);
	gicv3_redist_write(&gic, 0x70, 8, UINT64_MAX);
	gicv3_redist_write(&gic, 0x78, 8, UINT64_MAX);
	ck_assert_uint_eq(redist_rd(0, R_SGI + 0xd00) | redist_rd(0, R_SGI + 0xe00), 0);
	ck_assert_uint_eq(gicv3_redist_read(&gic, 0x70, 8), 0);
}
END_TEST

/* -- guest errors ----------------------------------------------------------------------- */

START_TEST(gicv3_bad_distributor_accesses_are_errors)
{
	static const struct {
		uint32_t offset;
		unsigned size;
		int write;
	} bad[] = {
		{0x00c + 0x10, 4, 0},
		{0x1000, 4, 0},
		{0x4000, 4, 1},
		{0xf80, 4, 0},
		{TYPER, 4, 1},
		{IIDR, 4, 1},
		{PIDR2, 4, 1},
		{CTLR, 1, 0},
		{CTLR, 2, 0},
		{CTLR, 8, 1},
		{ISENABLER + 4, 1, 1},
		{ISENABLER + 4, 8, 1},
		{ISENABLER + 2, 4, 1},
		{ICFGR + 8, 1, 1},
		{IPRIORITYR + 32, 8, 1},
		{IPRIORITYR + 32, 2, 1},
		{IPRIORITYR + 33, 4, 1},
		{IROUTER + 8 * UART, 1, 1},
		{IROUTER + 8 * UART + 4, 8, 1},
		{IROUTER, 8, 0},
		{IROUTER + 8 * 31, 8, 1},
		{0x10000, 4, 0},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&last_error, 0, sizeof(last_error));
		errors.count = 0;
		if (bad[i].write)
			gicv3_dist_write(&gic, bad[i].offset, bad[i].size, 0xff);
		else
			ck_assert_uint_eq(
				gicv3_dist_read(&gic, bad[i].offset, bad[i].size), 0);
		ck_assert_msg(errors.count == 1, "case %zu", i);
		ck_assert_str_eq(last_error.device, "gicd");
		ck_assert_uint_eq(last_error.offset, bad[i].offset);
		ck_assert_uint_eq(last_error.size, bad[i].size);
		ck_assert_int_eq(last_error.write, bad[i].write);
		ck_assert_uint_eq(last_error.value, bad[i].write ? 0xff : 0);
	}
	ck_assert_uint_eq(dist_rd(ISENABLER + 4), 1u << UART % 32);
	ck_assert_uint_eq(dist_rd(IPRIORITYR + 32), 0xa0a0a0a0);
	ck_assert_uint_eq(gicv3_dist_read(&gic, IROUTER + 8 * UART, 8), 0);
}
END_TEST

START_TEST(gicv3_bad_redistributor_accesses_are_errors)
{
	static const struct {
		uint32_t offset;
		unsigned size;
		int write;
	} bad[] = {
		{0x020, 4, 0},
		{0x004, 4, 1},
		{R_TYPER, 8, 1},
		{R_TYPER, 1, 0},
		{R_WAKER, 1, 1},
		{R_WAKER, 8, 1},
		{0x100, 4, 1},
		{PIDR2, 4, 1},
		{R_SGI, 4, 0},
		{R_SGI + 0x104, 4, 1},
		{R_SGI + ISENABLER, 8, 1},
		{R_SGI + ISENABLER, 1, 1},
		{R_SGI + IPRIORITYR + 32, 4, 0},
		{R_SGI + IPRIORITYR + 32, 1, 0},
		{R_SGI + IPRIORITYR, 8, 0},
		{R_SGI + 0xc08, 4, 1},
		{CPUS * R_FRAME, 4, 0},
		{~3u, 4, 0},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&last_error, 0, sizeof(last_error));
		errors.count = 0;
		if (bad[i].write)
			gicv3_redist_write(&gic, bad[i].offset, bad[i].size, 0xff);
		else
			ck_assert_uint_eq(
				gicv3_redist_read(&gic, bad[i].offset, bad[i].size), 0);
		ck_assert_msg(errors.count == 1, "case %zu", i);
		ck_assert_str_eq(last_error.device, "gicr");
		ck_assert_uint_eq(last_error.offset, bad[i].offset);
		ck_assert_int_eq(last_error.write, bad[i].write);
	}
	ck_assert_uint_eq(redist_rd(0, R_SGI + ISENABLER), 0xffff | 1u << TIMER);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gicv3");
	TCase *tc = tcase_create("shared"), *bad = tcase_create("errors");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, gicv3_level_spi_lives_as_long_as_its_wire);
	tcase_add_test(tc, gicv3_edge_spi_latches_the_rise);
	tcase_add_test(tc, gicv3_set_and_clear_registers_do_one_bit);
	tcase_add_test(tc, gicv3_priorities_decide_across_all_kinds);
	tcase_add_test(tc, gicv3_route_follows_irouter);
	tcase_add_test(tc, gicv3_spi_is_deactivated_from_anywhere);
	tcase_add_test(tc, gicv3_ap1r0_is_saved_and_restored);
	tcase_add_test(tc, gicv3_wires_outside_are_ignored);
	tcase_add_test(tc, gicv3_distributor_holds_everything_back);
	tcase_add_test(tc, gicv3_sleeping_redistributor_forwards_nothing);
	tcase_add_test(tc, gicv3_reset_leaves_the_wires);
	tcase_add_test(tc, gicv3_sgi_reaches_whom_it_names);
	tcase_add_test(tc, gicv3_sgi_needs_the_targets_group);
	tcase_add_test(tc, gicv3_identifies_itself);
	tcase_add_test(tc, gicv3_private_words_read_as_zero_in_the_distributor);
	tcase_add_test(tc, gicv3_redistributor_frames_are_the_cpus_own);
	suite_add_tcase(s, tc);

	tcase_add_checked_fixture(bad, set_up, NULL);
	tcase_add_test(bad, gicv3_bad_distributor_accesses_are_errors);
	tcase_add_test(bad, gicv3_bad_redistributor_accesses_are_errors);
	suite_add_tcase(s, bad);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
