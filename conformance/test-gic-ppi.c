/* SPDX-License-Identifier: MIT */
/*
 * The interrupt controller of one CPU, set up as Linux does it; the last case
 * wires a PMU to it.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/gic_ppi.h"
#include "emu/pmuv3.h"

#define ICC_PMR SYSREG(3, 0, 4, 6, 0)
#define ICC_DIR SYSREG(3, 0, 12, 11, 1)
#define ICC_RPR SYSREG(3, 0, 12, 11, 3)
#define ICC_SGI1R SYSREG(3, 0, 12, 11, 5)
#define ICC_IAR1 SYSREG(3, 0, 12, 12, 0)
#define ICC_EOIR1 SYSREG(3, 0, 12, 12, 1)
#define ICC_HPPIR1 SYSREG(3, 0, 12, 12, 2)
#define ICC_BPR0 SYSREG(3, 0, 12, 8, 3)
#define ICC_BPR1 SYSREG(3, 0, 12, 12, 3)
#define ICC_CTLR SYSREG(3, 0, 12, 12, 4)
#define ICC_SRE SYSREG(3, 0, 12, 12, 5)
#define ICC_IGRPEN1 SYSREG(3, 0, 12, 12, 7)

enum {
	IGROUPR0 = 0x080,
	ISENABLER0 = 0x100,
	ICENABLER0 = 0x180,
	ISPENDR0 = 0x200,
	ICPENDR0 = 0x280,
	ISACTIVER0 = 0x300,
	ICACTIVER0 = 0x380,
	IPRIORITYR = 0x400,
	ICFGR0 = 0xc00,
	ICFGR1 = 0xc04,
};

enum {
	PMU = 23,
	TIMER = 27,
	SPURIOUS = 1023,
	IDLE = 0xff,
	CBPR = 1,
	EOIMODE = 2
};

static uint64_t now;
static struct trace_bus bus;
static struct bus_log bus_events;
static struct wire_end irq;
static struct gic_ppi gic;

static void wr(uint32_t enc, uint64_t value)
{
	const struct sysreg_block block = gic_ppi_sysregs(&gic);

	ck_assert_int_eq(sysreg_write(&block, 1, enc, 1, value), SYSREG_OK);
}

static uint64_t rd(uint32_t enc)
{
	const struct sysreg_block block = gic_ppi_sysregs(&gic);
	uint64_t value = 0;

	ck_assert_int_eq(sysreg_read(&block, 1, enc, 1, &value), SYSREG_OK);
	return value;
}

static void redist(uint32_t offset, uint32_t value)
{
	ck_assert_int_eq(gic_ppi_redist_write(&gic, offset, value), 0);
}

static uint32_t redist_rd(uint32_t offset)
{
	uint32_t value = 0;

	ck_assert_int_eq(gic_ppi_redist_read(&gic, offset, &value), 0);
	return value;
}

static void set_priority(unsigned intid, unsigned priority)
{
	const uint32_t offset = IPRIORITYR + (intid & ~3u), shift = 8 * (intid & 3);

	redist(offset, (redist_rd(offset) & ~(0xffu << shift)) | priority << shift);
}

static void power_on(void)
{
	now = 0;
	memset(&bus_events, 0, sizeof(bus_events));
	memset(&irq, 0, sizeof(irq));
	trace_bus_init(&bus, &now);
	ck_assert_int_eq(trace_subscribe(&bus, bus_log_add, &bus_events), 0);
	gic_ppi_init(&gic, (struct irq_line){wire_end_set, &irq}, &bus, 0);
}

/* All in group 1 at 0xa0, PMU and timer enabled, mask 0xf0, group on. */
static void set_up(void)
{
	power_on();
	redist(IGROUPR0, 0xffffffff);
	for (unsigned intid = 0; intid < 32; intid++)
		set_priority(intid, 0xa0);
	redist(ISENABLER0, 1u << PMU | 1u << TIMER | 0xffff);
	wr(ICC_PMR, 0xf0);
	wr(ICC_BPR1, 0);
	wr(ICC_IGRPEN1, 1);
	bus_log_end(&bus_events);
	ck_assert_uint_eq(irq.driven, 0);
}

/* -- signalling ------------------------------------------------------------- */

START_TEST(gic_level_is_signalled_and_follows_the_wire)
{
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 1);
	gic_ppi_set_line(&gic, PMU, 1);
	gic_ppi_set_line(&gic, PMU, 0);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(irq.driven, 2);
	bus_log_next(&bus_events, 0, TRACE_PENDING, PMU, 1);
	bus_log_next(&bus_events, 0, TRACE_PENDING, PMU, 0);
	bus_log_end(&bus_events);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS); /* gone before it was read */
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 0);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
}
END_TEST

START_TEST(gic_every_gate_holds_the_irq_back)
{
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 1);

	redist(ICENABLER0, 1u << PMU);
	ck_assert_int_eq(irq.level, 0);
	redist(ISENABLER0, 1u << PMU);
	ck_assert_int_eq(irq.level, 1);

	redist(IGROUPR0, ~(1u << PMU)); /* group 0 is never an IRQ */
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_HPPIR1), SPURIOUS);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	redist(IGROUPR0, 1u << PMU);
	ck_assert_int_eq(irq.level, 1);

	wr(ICC_IGRPEN1, 0);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_HPPIR1), SPURIOUS);
	wr(ICC_IGRPEN1, 1);
	ck_assert_int_eq(irq.level, 1);

	redist(ISACTIVER0, 1u << PMU);
	ck_assert_int_eq(irq.level, 0);
	redist(ICACTIVER0, 1u << PMU);
	ck_assert_int_eq(irq.level, 1);

	wr(ICC_PMR, 0xa0); /* must be strictly above the mask */
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_HPPIR1), PMU);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	wr(ICC_PMR, 0xa8);
	ck_assert_int_eq(irq.level, 1);

	set_priority(PMU, 0xb0); /* now it is not */
	ck_assert_int_eq(irq.level, 0);
	set_priority(PMU, 0x00);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(irq.driven, 13);
}
END_TEST

START_TEST(gic_nothing_is_signalled_before_set_up)
{
	power_on();
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	ck_assert_uint_eq(rd(ICC_HPPIR1), SPURIOUS);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_uint_eq(redist_rd(IGROUPR0), 0);
	ck_assert_uint_eq(redist_rd(ISENABLER0), 0);
	ck_assert_uint_eq(redist_rd(IPRIORITYR + 20), 0);
	ck_assert_uint_eq(redist_rd(ISPENDR0), 1u << PMU);
	ck_assert_uint_eq(redist_rd(ICFGR0), 0xaaaaaaaa);
	ck_assert_uint_eq(redist_rd(ICFGR1), 0);
	ck_assert_uint_eq(rd(ICC_PMR), 0);
	ck_assert_uint_eq(rd(ICC_IGRPEN1), 0);
	ck_assert_uint_eq(rd(ICC_BPR1), 3);
	ck_assert_uint_eq(rd(ICC_SRE), 7);
	ck_assert_uint_eq(rd(ICC_CTLR), 0x8c00);
}
END_TEST

/* -- the CPU interface ------------------------------------------------------ */

/* A1, its GIC half */
START_TEST(gic_eoi_with_the_wire_still_high_is_taken_again_at_once)
{
	gic_ppi_set_line(&gic, PMU, 1);
	bus_log_skip(&bus_events);
	now = 5;
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << PMU);
	ck_assert_uint_eq(redist_rd(ISPENDR0), 1u << PMU); /* active and pending */
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	wr(ICC_EOIR1, PMU);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	gic_ppi_set_line(&gic, PMU, 0);
	wr(ICC_EOIR1, PMU);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	bus_log_next(&bus_events, 5, TRACE_ACK, PMU, 0);
	bus_log_next(&bus_events, 5, TRACE_ACK, SPURIOUS, 0);
	bus_log_next(&bus_events, 5, TRACE_EOI, PMU, 0);
	bus_log_next(&bus_events, 5, TRACE_ACK, PMU, 0);
	bus_log_next(&bus_events, 5, TRACE_PENDING, PMU, 0);
	bus_log_next(&bus_events, 5, TRACE_EOI, PMU, 0);
	bus_log_next(&bus_events, 5, TRACE_ACK, SPURIOUS, 0);
	bus_log_end(&bus_events);
}
END_TEST

START_TEST(gic_eoimode_1_drops_first_and_deactivates_with_dir)
{
	wr(ICC_CTLR, EOIMODE);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	wr(ICC_EOIR1, PMU);
	ck_assert_uint_eq(rd(ICC_CTLR), 0x8c00 | EOIMODE);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << PMU);
	ck_assert_int_eq(irq.level, 0); /* still active: not signalled */
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER); /* but others are */
	wr(ICC_DIR, PMU);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << TIMER);
	ck_assert_int_eq(irq.level, 0); /* equal to the running priority */
	wr(ICC_EOIR1, TIMER);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
}
END_TEST

START_TEST(gic_dir_without_eoimode_is_ignored)
{
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	wr(ICC_DIR, PMU);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
}
END_TEST

START_TEST(gic_eoi_of_special_or_absent_intids_changes_nothing)
{
	static const uint64_t intids[] = {32, 500, 1020, 1023, 0xffffff};

	gic_ppi_set_line(&gic, PMU, 1);
	wr(ICC_EOIR1, PMU); /* nothing is running */
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	for (size_t i = 0; i < sizeof(intids) / sizeof(intids[0]); i++) {
		wr(ICC_EOIR1, intids[i]);
		ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
		ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << PMU);
	}
	wr(ICC_CTLR, EOIMODE);
	wr(ICC_DIR, 32 + PMU);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 1u << PMU);
}
END_TEST

/* -- priorities ------------------------------------------------------------- */

START_TEST(gic_higher_priority_preempts_and_eoi_unwinds)
{
	set_priority(TIMER, 0xa0);
	set_priority(PMU, 0x98);
	set_priority(3, 0x20);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
	ck_assert_int_eq(irq.level, 0);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0x98);
	redist(ISPENDR0, 1u << 3);
	ck_assert_uint_eq(rd(ICC_IAR1), 3);
	ck_assert_uint_eq(rd(ICC_RPR), 0x20);
	wr(ICC_EOIR1, 3);
	ck_assert_uint_eq(rd(ICC_RPR), 0x98);
	ck_assert_int_eq(irq.level, 0);
	wr(ICC_EOIR1, PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
	ck_assert_int_eq(irq.level, 1); /* the PMU's wire is still high */
	gic_ppi_set_line(&gic, PMU, 0);
	ck_assert_int_eq(irq.level, 0);
	wr(ICC_EOIR1, TIMER);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_int_eq(irq.level, 1);
}
END_TEST

START_TEST(gic_equal_priority_waits_and_the_lower_intid_goes_first)
{
	gic_ppi_set_line(&gic, TIMER, 1);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_uint_eq(rd(ICC_HPPIR1), PMU);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_HPPIR1), TIMER); /* whatever is running */
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	set_priority(PMU, 0xa8); /* what runs keeps the priority it was taken at */
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
	wr(ICC_EOIR1, PMU);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
}
END_TEST

START_TEST(gic_binary_point_groups_priorities)
{
	wr(ICC_BPR1, 5); /* groups of 0x20 */
	ck_assert_uint_eq(rd(ICC_BPR1), 5);
	set_priority(TIMER, 0xb8);
	set_priority(PMU, 0xa8);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0); /* the group's */
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 0); /* same group */
	set_priority(PMU, 0x98);
	ck_assert_int_eq(irq.level, 1);
	wr(ICC_BPR1, 7);
	ck_assert_int_eq(irq.level, 1); /* 0x80 is still above 0xa0 */
	wr(ICC_BPR1, 3);
	set_priority(PMU, 0xa0);
	ck_assert_int_eq(irq.level, 0);
	wr(ICC_EOIR1, TIMER);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
}
END_TEST

/* A new binary point groups what is pending, not what runs. */
START_TEST(gic_binary_point_leaves_the_running_priority)
{
	set_priority(TIMER, 0xb8);
	set_priority(PMU, 0xb8);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 0);
	wr(ICC_BPR1, 5);
	ck_assert_uint_eq(rd(ICC_RPR), 0xb8);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0xa0);
}
END_TEST

/* CBPR: group 0's point, plus one, rules group 1 too. */
START_TEST(gic_common_binary_point_is_group_0s)
{
	wr(ICC_BPR1, 4);
	wr(ICC_BPR0, 5);
	ck_assert_uint_eq(rd(ICC_BPR1), 4);
	set_priority(TIMER, 0xb8);
	set_priority(PMU, 0xa8);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
	ck_assert_uint_eq(rd(ICC_RPR), 0xb0);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 1); /* 0xa0 beats 0xb0 */
	wr(ICC_CTLR, CBPR);
	ck_assert_int_eq(irq.level, 1); /* 0x80 beats it */
	ck_assert_uint_eq(rd(ICC_BPR1), 6);
	wr(ICC_BPR1, 3); /* a view only */
	ck_assert_uint_eq(rd(ICC_BPR1), 6);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	ck_assert_uint_eq(rd(ICC_RPR), 0x80);
	wr(ICC_BPR0, 7);
	ck_assert_uint_eq(rd(ICC_BPR1), 7);
	wr(ICC_CTLR, 0);
	ck_assert_uint_eq(rd(ICC_BPR1), 4);
}
END_TEST

/* Group 0's registers are there, and no group 0 interrupt ever is. */
START_TEST(gic_group_0_is_never_signalled)
{
	redist(IGROUPR0, ~(1u << PMU));
	wr(SYSREG(3, 0, 12, 12, 6), 1); /* ICC_IGRPEN0_EL1 */
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(SYSREG(3, 0, 12, 8, 0)), SPURIOUS); /* ICC_IAR0_EL1 */
	ck_assert_uint_eq(rd(SYSREG(3, 0, 12, 8, 2)), SPURIOUS); /* ICC_HPPIR0_EL1 */
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
	wr(SYSREG(3, 0, 12, 8, 1), PMU); /* ICC_EOIR0_EL1 */
	wr(SYSREG(3, 0, 12, 8, 4), 0);	 /* ICC_AP0R0_EL1 */
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
}
END_TEST

/* Within a group subpriority still orders what is pending. */
START_TEST(gic_subpriority_orders_the_pending)
{
	wr(ICC_BPR1, 7);
	set_priority(TIMER, 0xa0);
	set_priority(PMU, 0xa8);
	gic_ppi_set_line(&gic, PMU, 1);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), TIMER);
	ck_assert_uint_eq(rd(ICC_RPR), 0x80);
}
END_TEST

START_TEST(gic_five_bits_of_priority_are_kept)
{
	redist(IPRIORITYR + 20, 0xffeddcab);
	ck_assert_uint_eq(redist_rd(IPRIORITYR + 20), 0xf8e8d8a8);
	ck_assert_uint_eq(redist_rd(IPRIORITYR + 16), 0xa0a0a0a0);
	ck_assert_uint_eq(redist_rd(IPRIORITYR + 24), 0xa0a0a0a0);
	wr(ICC_PMR, UINT64_MAX);
	ck_assert_uint_eq(rd(ICC_PMR), 0xf8);
	set_priority(PMU, 0xf8); /* the lowest priority is never above a mask */
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_int_eq(irq.level, 0);
}
END_TEST

/* All 32 levels in one another: ICC_AP1R0_EL1 holds them. */
START_TEST(gic_preemption_nests_through_every_priority)
{
	wr(ICC_PMR, 0xf8);
	redist(ISENABLER0, 0xffffffff);
	for (unsigned i = 0; i < 31; i++)
		set_priority(i, 0xf0 - 8 * i);
	for (unsigned i = 0; i < 31; i++) {
		redist(ISPENDR0, 1u << i);
		ck_assert_uint_eq(rd(ICC_IAR1), i);
		ck_assert_uint_eq(rd(ICC_RPR), 0xf0 - 8 * i);
	}
	for (unsigned i = 31; i-- > 0;) {
		ck_assert_uint_eq(rd(ICC_RPR), 0xf0 - 8 * i);
		wr(ICC_EOIR1, i);
	}
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 0);
}
END_TEST

/* -- edges and SGIs --------------------------------------------------------- */

START_TEST(gic_sgi_is_an_edge_that_the_ack_clears)
{
	wr(ICC_SGI1R, 5u << 24 | 1);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), 5);
	ck_assert_uint_eq(redist_rd(ISPENDR0), 0);
	wr(ICC_SGI1R, 5u << 24 | 1); /* again while active */
	ck_assert_int_eq(irq.level, 0);
	wr(ICC_EOIR1, 5);
	ck_assert_int_eq(irq.level, 1);
	redist(ICPENDR0, 1u << 5);
	ck_assert_int_eq(irq.level, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, 5, 1);
	bus_log_next(&bus_events, 0, TRACE_ACK, 5, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, 5, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, 5, 1);
	bus_log_next(&bus_events, 0, TRACE_EOI, 5, 0);
	bus_log_next(&bus_events, 0, TRACE_PENDING, 5, 0);
	bus_log_end(&bus_events);
}
END_TEST

START_TEST(gic_sgi1r_reaches_this_cpu_only_if_named)
{
	static const struct {
		unsigned cpu;
		uint64_t value;
		int hit;
	} cases[] = {
		{0, 0x1, 1},
		{0, 0xfffe, 0},
		{0, 0x10001, 0},
		{0, UINT64_C(0x10000000001), 0},   /* IRM: all but self */
		{0, UINT64_C(0x00100000001), 0},   /* Aff2 */
		{0, UINT64_C(0x1000000000001), 0}, /* Aff3 */
		{0, UINT64_C(0x0100000000001), 0}, /* RS */
		{3, 0x8, 1},
		{3, 0x7, 0},
		{17, 0x10002, 1},
		{17, 0x2, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gic_ppi_init(&gic, (struct irq_line){0}, NULL, cases[i].cpu);
		redist(IGROUPR0, 1u << 2);
		wr(ICC_SGI1R, cases[i].value | 2u << 24);
		ck_assert_msg(redist_rd(ISPENDR0) == (cases[i].hit ? 4u : 0u), "case %zu",
			      i);
	}
}
END_TEST

START_TEST(gic_edge_ppi_latches_the_rise)
{
	redist(ICFGR0, 0);
	ck_assert_uint_eq(redist_rd(ICFGR0), 0xaaaaaaaa);
	redist(ICFGR1, UINT32_C(2) << 2 * (PMU - 16));
	ck_assert_uint_eq(redist_rd(ICFGR1), UINT32_C(2) << 2 * (PMU - 16));
	gic_ppi_set_line(&gic, PMU, 1);
	gic_ppi_set_line(&gic, PMU, 0);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	gic_ppi_set_line(&gic, PMU, 1);
	wr(ICC_EOIR1, PMU);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU); /* the second rise */
	wr(ICC_EOIR1, PMU);
	gic_ppi_set_line(&gic, PMU, 1); /* no rise */
	ck_assert_int_eq(irq.level, 0);
}
END_TEST

START_TEST(gic_pending_latch_of_a_level_is_apart_from_its_wire)
{
	gic_ppi_set_line(&gic, PMU, 1);
	redist(ICPENDR0, 1u << PMU);
	ck_assert_int_eq(irq.level, 1); /* the wire is high: still pending */
	gic_ppi_set_line(&gic, PMU, 0);
	ck_assert_int_eq(irq.level, 0);
	redist(ISPENDR0, 1u << PMU);
	ck_assert_int_eq(irq.level, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	wr(ICC_EOIR1, PMU);
	ck_assert_int_eq(irq.level, 0); /* the ack cleared the latch */
}
END_TEST

/* -- the redistributor ------------------------------------------------------ */

START_TEST(gic_redist_set_and_clear_share_a_mask)
{
	static const uint32_t pairs[][2] = {
		{ISENABLER0, ICENABLER0},
		{ISPENDR0, ICPENDR0},
		{ISACTIVER0, ICACTIVER0},
	};
	const uint32_t set = pairs[_i][0], clr = pairs[_i][1];

	redist(clr, 0xffffffff);
	redist(set, 0x80010003);
	redist(set, 0);
	ck_assert_uint_eq(redist_rd(set), 0x80010003);
	ck_assert_uint_eq(redist_rd(clr), 0x80010003);
	redist(clr, 0x00010001);
	redist(clr, 0);
	ck_assert_uint_eq(redist_rd(set), 0x80000002);
	ck_assert_uint_eq(redist_rd(clr), 0x80000002);
}
END_TEST

START_TEST(gic_redist_refuses_offsets_it_lacks)
{
	static const uint32_t offsets[] = {0,	  0x84,	 0x104, 0x3fc,
					   0x420, 0xc08, 0xd00, 0xfffc};
	const struct gic_ppi before = gic;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint32_t value = 42;

		ck_assert_int_eq(gic_ppi_redist_read(&gic, offsets[i], &value), -ENXIO);
		ck_assert_uint_eq(value, 42);
		ck_assert_int_eq(gic_ppi_redist_write(&gic, offsets[i], 1), -ENXIO);
	}
	ck_assert_mem_eq(&gic, &before, sizeof(gic));
	gic_ppi_set_line(&gic, 32, 1);
	ck_assert_mem_eq(&gic, &before, sizeof(gic));
}
END_TEST

START_TEST(gic_reset_forgets_all_but_the_wires)
{
	wr(ICC_CTLR, EOIMODE);
	gic_ppi_set_line(&gic, PMU, 1);
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	redist(ISPENDR0, 1);
	set_priority(TIMER, 0x10);
	gic_ppi_set_line(&gic, TIMER, 1);
	ck_assert_int_eq(irq.level, 1);
	gic_ppi_reset(&gic);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_RPR), IDLE);
	ck_assert_uint_eq(rd(ICC_CTLR), 0x8c00);
	ck_assert_uint_eq(redist_rd(ISACTIVER0), 0);
	ck_assert_uint_eq(redist_rd(ISENABLER0), 0);
	ck_assert_uint_eq(redist_rd(IPRIORITYR + 24), 0);
	ck_assert_uint_eq(redist_rd(ISPENDR0), 1u << PMU | 1u << TIMER);
}
END_TEST

/* -- a PMU at the other end (A1) -------------------------------------------- */

START_TEST(gic_pmu_overflow_is_taken_until_its_flag_is_cleared)
{
	static const uint16_t events[] = {0x08};
	const struct pmuv3_config config = {
		.counters = 1,
		.version = PMUV3_P0,
		.events = events,
		.nevents = 1,
	};
	const struct pmuv3_step step = {.insns = 10, .cycles = 10, .el = 0};
	struct gic_ppi_pin pin;
	struct pmuv3 pmu;

	ck_assert_int_eq(
		pmuv3_init(&pmu, &config, gic_ppi_line(&gic, &pin, GIC_PPI_PMU), &bus),
		0);

	const struct sysreg_block block = pmuv3_sysregs(&pmu);

	sysreg_write(&block, 1, SYSREG(3, 3, 14, 12, 0), 1, 0x08); /* PMEVTYPER0 */
	sysreg_write(&block, 1, SYSREG(3, 3, 14, 8, 0), 1, -10);   /* PMEVCNTR0 */
	sysreg_write(&block, 1, SYSREG(3, 0, 9, 14, 1), 1, 1);	   /* PMINTENSET */
	sysreg_write(&block, 1, SYSREG(3, 3, 9, 12, 1), 1, 1);	   /* PMCNTENSET */
	sysreg_write(&block, 1, SYSREG(3, 3, 9, 12, 0), 1, 1);	   /* PMCR.E */
	now = 10;
	pmuv3_advance(&pmu, &step);
	bus_log_next(&bus_events, 10, TRACE_WRAP, 0, 0);
	bus_log_next(&bus_events, 10, TRACE_FLAG_SET, 1, 1);
	bus_log_next(&bus_events, 10, TRACE_LINE, PMU, 1);
	bus_log_next(&bus_events, 10, TRACE_PENDING, PMU, 1);
	bus_log_end(&bus_events);
	ck_assert_int_eq(irq.level, 1);
	for (int i = 0; i < 3; i++) { /* a handler that forgets the flag */
		ck_assert_uint_eq(rd(ICC_IAR1), PMU);
		ck_assert_int_eq(irq.level, 0);
		wr(ICC_EOIR1, PMU);
		ck_assert_int_eq(irq.level, 1);
	}
	ck_assert_uint_eq(rd(ICC_IAR1), PMU);
	sysreg_write(&block, 1, SYSREG(3, 3, 9, 12, 3), 1, 1); /* PMOVSCLR */
	wr(ICC_EOIR1, PMU);
	ck_assert_int_eq(irq.level, 0);
	ck_assert_uint_eq(rd(ICC_IAR1), SPURIOUS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gic-ppi");
	TCase *tc = tcase_create("gic");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, gic_level_is_signalled_and_follows_the_wire);
	tcase_add_test(tc, gic_every_gate_holds_the_irq_back);
	tcase_add_test(tc, gic_nothing_is_signalled_before_set_up);
	tcase_add_test(tc, gic_eoi_with_the_wire_still_high_is_taken_again_at_once);
	tcase_add_test(tc, gic_eoimode_1_drops_first_and_deactivates_with_dir);
	tcase_add_test(tc, gic_dir_without_eoimode_is_ignored);
	tcase_add_test(tc, gic_eoi_of_special_or_absent_intids_changes_nothing);
	tcase_add_test(tc, gic_higher_priority_preempts_and_eoi_unwinds);
	tcase_add_test(tc, gic_equal_priority_waits_and_the_lower_intid_goes_first);
	tcase_add_test(tc, gic_binary_point_groups_priorities);
	tcase_add_test(tc, gic_binary_point_leaves_the_running_priority);
	tcase_add_test(tc, gic_common_binary_point_is_group_0s);
	tcase_add_test(tc, gic_group_0_is_never_signalled);
	tcase_add_test(tc, gic_subpriority_orders_the_pending);
	tcase_add_test(tc, gic_five_bits_of_priority_are_kept);
	tcase_add_test(tc, gic_preemption_nests_through_every_priority);
	tcase_add_test(tc, gic_sgi_is_an_edge_that_the_ack_clears);
	tcase_add_test(tc, gic_sgi1r_reaches_this_cpu_only_if_named);
	tcase_add_test(tc, gic_edge_ppi_latches_the_rise);
	tcase_add_test(tc, gic_pending_latch_of_a_level_is_apart_from_its_wire);
	tcase_add_loop_test(tc, gic_redist_set_and_clear_share_a_mask, 0, 3);
	tcase_add_test(tc, gic_redist_refuses_offsets_it_lacks);
	tcase_add_test(tc, gic_reset_forgets_all_but_the_wires);
	tcase_add_test(tc, gic_pmu_overflow_is_taken_until_its_flag_is_cleared);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
