/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/gtimer.h"

#define CNTFRQ_EL0 SYSREG(3, 3, 14, 0, 0)
#define CNTPCT_EL0 SYSREG(3, 3, 14, 0, 1)
#define CNTVCT_EL0 SYSREG(3, 3, 14, 0, 2)
#define CNTKCTL_EL1 SYSREG(3, 0, 14, 1, 0)
#define CNTP_TVAL_EL0 SYSREG(3, 3, 14, 2, 0)
#define CNTP_CTL_EL0 SYSREG(3, 3, 14, 2, 1)
#define CNTP_CVAL_EL0 SYSREG(3, 3, 14, 2, 2)
#define CNTV_TVAL_EL0 SYSREG(3, 3, 14, 3, 0)
#define CNTV_CTL_EL0 SYSREG(3, 3, 14, 3, 1)
#define CNTV_CVAL_EL0 SYSREG(3, 3, 14, 3, 2)

enum {
	ENABLE = 1,
	IMASK = 2,
	ISTATUS = 4
};

START_TEST(gtimer_count_rounds_down)
{
	struct gtimer timer;
	uint64_t now = 15;

	gtimer_init(&timer, &now, 1000000000, 62500000);
	ck_assert_uint_eq(gtimer_count(&timer), 0);
	now = 16;
	ck_assert_uint_eq(gtimer_count(&timer), 1);
	now = 1000000000;
	ck_assert_uint_eq(gtimer_count(&timer), 62500000);
	now = 999999999;
	ck_assert_uint_eq(gtimer_count(&timer), 62499999);
}
END_TEST

START_TEST(gtimer_count_is_exact_over_64_bits)
{
	struct gtimer timer;
	uint64_t now = UINT64_MAX;

	gtimer_init(&timer, &now, 1000000000, 62500000);
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX / 16);
	gtimer_init(&timer, &now, 3, 2); /* 2^64-1 is a multiple of 3 */
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX / 3 * 2);
	gtimer_init(&timer, &now, 3000000000u, 3000000000u);
	ck_assert_uint_eq(gtimer_count(&timer), UINT64_MAX);
}
END_TEST

START_TEST(gtimer_registers_read_at_el1_and_by_rights_at_el0)
{
	struct gtimer timer;
	uint64_t now = 1600, value = 0;

	gtimer_init(&timer, &now, 1000000000, 62500000);

	const struct sysreg_block block = gtimer_sysregs(&timer);

	for (unsigned el = 0; el < 2; el++) {
		ck_assert_int_eq(sysreg_read(&block, 1, CNTVCT_EL0, el, &value),
				 SYSREG_OK);
		ck_assert_uint_eq(value, 100);
		ck_assert_int_eq(sysreg_read(&block, 1, CNTFRQ_EL0, el, &value),
				 SYSREG_OK);
		ck_assert_uint_eq(value, 62500000);
	}
	ck_assert_int_eq(sysreg_read(&block, 1, CNTPCT_EL0, 1, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 100);
	value = 1;
	ck_assert_int_eq(sysreg_read(&block, 1, CNTPCT_EL0, 0, &value), SYSREG_TRAP_EL1);
	ck_assert_uint_eq(value, 1);
	ck_assert_int_eq(sysreg_write(&block, 1, CNTVCT_EL0, 1, 5), SYSREG_UNDEF);
	ck_assert_int_eq(sysreg_write(&block, 1, CNTFRQ_EL0, 0, 5), SYSREG_UNDEF);
	ck_assert_uint_eq(timer.cntfrq, 62500000);
}
END_TEST

/* What software notes in CNTFRQ_EL0 changes the register, not the clock. */
START_TEST(gtimer_cntfrq_is_a_note)
{
	struct gtimer timer;
	uint64_t now = 1600, value = 0;

	gtimer_init(&timer, &now, 1000000000, 62500000);

	const struct sysreg_block block = gtimer_sysregs(&timer);

	ck_assert_int_eq(sysreg_write(&block, 1, CNTFRQ_EL0, 1, 5), SYSREG_OK);
	ck_assert_int_eq(sysreg_read(&block, 1, CNTFRQ_EL0, 1, &value), SYSREG_OK);
	ck_assert_uint_eq(value, 5);
	ck_assert_uint_eq(gtimer_count(&timer), 100);
}
END_TEST

/* -- timers ----------------------------------------------------------------- */

static struct gtimer dev;
static uint64_t cycle;
static struct wire_end wire[GTIMERS];

static void wr(uint32_t enc, uint64_t value)
{
	const struct sysreg_block block = gtimer_sysregs(&dev);

	ck_assert_int_eq(sysreg_write(&block, 1, enc, 1, value), SYSREG_OK);
}

static uint64_t rd(uint32_t enc)
{
	const struct sysreg_block block = gtimer_sysregs(&dev);
	uint64_t value = 0;

	ck_assert_int_eq(sysreg_read(&block, 1, enc, 1, &value), SYSREG_OK);
	return value;
}

static void power_on(uint64_t cpu_hz, uint64_t cntfrq)
{
	cycle = 0;
	memset(wire, 0, sizeof(wire));
	gtimer_init(&dev, &cycle, cpu_hz, cntfrq);
	for (unsigned i = 0; i < GTIMERS; i++)
		gtimer_wire(&dev, i, (struct irq_line){wire_end_set, &wire[i]});
}

static void set_up(void)
{
	power_on(1000000000, 62500000);
}

static void at(uint64_t t)
{
	cycle = t;
	gtimer_update(&dev);
}

static const struct {
	uint32_t tval, ctl, cval;
} regs[GTIMERS] = {
	[GTIMER_VIRT] = {CNTV_TVAL_EL0, CNTV_CTL_EL0, CNTV_CVAL_EL0},
	[GTIMER_PHYS] = {CNTP_TVAL_EL0, CNTP_CTL_EL0, CNTP_CVAL_EL0},
};

/* Count 100 is reached at cycle 1600, not one before it. */
START_TEST(gtimer_fires_at_its_compare_value)
{
	const unsigned other = 1 - _i;

	wr(regs[_i].cval, 100);
	ck_assert_uint_eq(gtimer_deadline(&dev), UINT64_MAX);
	wr(regs[_i].ctl, ENABLE);
	ck_assert_uint_eq(gtimer_deadline(&dev), 1600);
	at(1);
	ck_assert_uint_eq(gtimer_deadline(&dev), 1599);
	at(1599);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(rd(regs[_i].ctl), ENABLE);
	ck_assert_uint_eq(gtimer_deadline(&dev), 1);
	at(1600);
	ck_assert_int_eq(wire[_i].level, 1);
	ck_assert_uint_eq(rd(regs[_i].ctl), ENABLE | ISTATUS);
	ck_assert_uint_eq(gtimer_deadline(&dev), UINT64_MAX);
	ck_assert_uint_eq(wire[_i].driven, 1);
	ck_assert_uint_eq(wire[other].driven, 0);
	ck_assert_uint_eq(rd(regs[other].ctl), 0);
}
END_TEST

START_TEST(gtimer_level_falls_by_mask_disable_and_new_value)
{
	at(1600);
	wr(regs[_i].cval, 100);
	wr(regs[_i].ctl, ENABLE);
	ck_assert_int_eq(wire[_i].level, 1);
	wr(regs[_i].ctl, ENABLE | IMASK);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(rd(regs[_i].ctl), ENABLE | IMASK | ISTATUS);
	wr(regs[_i].ctl, ENABLE);
	ck_assert_int_eq(wire[_i].level, 1);
	wr(regs[_i].cval, 101);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(gtimer_deadline(&dev), 16);
	wr(regs[_i].tval, 0);
	ck_assert_int_eq(wire[_i].level, 1);
	wr(regs[_i].ctl, 0);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(rd(regs[_i].ctl), 0);
	ck_assert_uint_eq(wire[_i].driven, 6);
}
END_TEST

/* TVAL is a signed distance from the count at the write. */
START_TEST(gtimer_tval_is_signed_and_relative)
{
	at(16 * 1000);
	wr(regs[_i].tval, 500);
	ck_assert_uint_eq(rd(regs[_i].cval), 1500);
	ck_assert_uint_eq(rd(regs[_i].tval), 500);
	at(16 * 1600);
	ck_assert_uint_eq(rd(regs[_i].tval), 0xffffff9c); /* -100 */
	wr(regs[_i].tval, 0xffffffff);
	ck_assert_uint_eq(rd(regs[_i].cval), 1599);
	wr(regs[_i].tval, UINT64_C(0x100000005)); /* bits 63:32 are RES0 */
	ck_assert_uint_eq(rd(regs[_i].cval), 1605);
	wr(regs[_i].cval, UINT64_C(0x500000000));
	ck_assert_uint_eq(rd(regs[_i].tval), (uint32_t)-1600);
}
END_TEST

/* The comparison is unsigned: a value behind zero is never reached. */
START_TEST(gtimer_far_values_never_fire)
{
	wr(regs[_i].tval, 0xffffffff); /* count -1 */
	wr(regs[_i].ctl, ENABLE);
	ck_assert_uint_eq(rd(regs[_i].cval), UINT64_MAX);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(gtimer_deadline(&dev), UINT64_MAX);
	wr(regs[_i].cval, UINT64_MAX / 16); /* the last that a cycle can reach */
	ck_assert_uint_eq(gtimer_deadline(&dev), UINT64_MAX - 15);
	at(UINT64_MAX - 16);
	ck_assert_int_eq(wire[_i].level, 0);
	ck_assert_uint_eq(gtimer_deadline(&dev), 1);
	at(UINT64_MAX - 15);
	ck_assert_int_eq(wire[_i].level, 1);
}
END_TEST

START_TEST(gtimer_deadline_is_the_nearer_of_two)
{
	wr(CNTV_CVAL_EL0, 100);
	wr(CNTP_CVAL_EL0, 50);
	wr(CNTV_CTL_EL0, ENABLE);
	wr(CNTP_CTL_EL0, ENABLE);
	ck_assert_uint_eq(gtimer_deadline(&dev), 800);
	wr(CNTP_CTL_EL0, ENABLE | IMASK);
	ck_assert_uint_eq(gtimer_deadline(&dev), 1600);
	wr(CNTP_CTL_EL0, ENABLE);
	at(800);
	ck_assert_int_eq(wire[GTIMER_PHYS].level, 1);
	ck_assert_int_eq(wire[GTIMER_VIRT].level, 0);
	ck_assert_uint_eq(gtimer_deadline(&dev), 800);
}
END_TEST

START_TEST(gtimer_reset_turns_both_off)
{
	wr(CNTV_CTL_EL0, ENABLE);
	wr(CNTP_CTL_EL0, ENABLE);
	ck_assert_int_eq(wire[0].level & wire[1].level, 1);
	gtimer_reset(&dev);
	ck_assert_int_eq(wire[0].level | wire[1].level, 0);
	ck_assert_uint_eq(rd(CNTV_CTL_EL0) | rd(CNTP_CTL_EL0), 0);
}
END_TEST

/* -- rights at EL0 ------------------------------------------------------------ */

static const struct {
	uint32_t enc;
	uint64_t bits; /* of CNTKCTL_EL1, any of which lets EL0 in */
	int writable;
} rights[] = {
	{CNTFRQ_EL0, 0x003, 0},	   {CNTPCT_EL0, 0x001, 0},   {CNTVCT_EL0, 0x002, 0},
	{CNTP_TVAL_EL0, 0x200, 1}, {CNTP_CTL_EL0, 0x200, 1}, {CNTP_CVAL_EL0, 0x200, 1},
	{CNTV_TVAL_EL0, 0x100, 1}, {CNTV_CTL_EL0, 0x100, 1}, {CNTV_CVAL_EL0, 0x100, 1},
};

START_TEST(gtimer_cntkctl_rules_el0)
{
	const struct sysreg_block block = gtimer_sysregs(&dev);

	for (unsigned b = 0; b < 10; b++) {
		wr(CNTKCTL_EL1, UINT64_C(1) << b);
		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
			const int in = rights[i].bits >> b & 1;
			const enum sysreg_result ok = in ? SYSREG_OK : SYSREG_TRAP_EL1;
			uint64_t value;

			ck_assert_msg(sysreg_read(&block, 1, rights[i].enc, 0, &value) ==
					      ok,
				      "bit %u, register %zu", b, i);
			ck_assert_msg(sysreg_write(&block, 1, rights[i].enc, 0, 0) ==
					      (rights[i].writable ? ok : SYSREG_UNDEF),
				      "bit %u, write of register %zu", b, i);
		}
	}
	ck_assert_int_eq(sysreg_write(&block, 1, CNTKCTL_EL1, 0, 0), SYSREG_UNDEF);
	wr(CNTKCTL_EL1, UINT64_MAX);
	ck_assert_uint_eq(rd(CNTKCTL_EL1), 0x3ff);
}
END_TEST

/* -- against a clock that moves one cycle at a time ----------------------------- */

enum {
	RATIOS = 6,
	STEPS = 600000
};

static const struct {
	uint64_t hz, frq;
} ratio[RATIOS] = {{16, 1}, {3, 2}, {7, 7}, {10, 3}, {1000, 1}, {625, 24}};

static uint32_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % sides;
}

/* The reference: what an adder would hold, no division in it. */
struct adder {
	uint64_t hz, frq, rest, count;
	uint64_t ctl[GTIMERS], cval[GTIMERS];
};

static void adder_tick(struct adder *ref)
{
	ref->rest += ref->frq;
	if (ref->rest >= ref->hz) {
		ref->rest -= ref->hz;
		ref->count++;
	}
}

static int adder_level(const struct adder *ref, unsigned i)
{
	return ref->ctl[i] == ENABLE && ref->count >= ref->cval[i];
}

static void poke(struct adder *ref)
{
	const unsigned i = dice(2), what = dice(8);

	if (what < 3) {
		ref->ctl[i] = dice(4) ? ENABLE : dice(4);
		wr(regs[i].ctl, ref->ctl[i]);
	} else if (what < 6) {
		const uint32_t distance = dice(40) - 10;

		ref->cval[i] = ref->count + (uint64_t)(int64_t)(int32_t)distance;
		wr(regs[i].tval, distance);
	} else {
		ref->cval[i] = ref->count + dice(40);
		wr(regs[i].cval, ref->cval[i]);
	}
}

/* Reference and device advance together; the device is updated at its own
 * deadlines only, and must be right at every cycle between. */
START_TEST(gtimer_equals_a_cycle_by_cycle_clock)
{
	struct adder ref = {.hz = ratio[_i].hz, .frq = ratio[_i].frq};
	const uint32_t often = (uint32_t)(5 * ref.hz / ref.frq);
	uint64_t due, rises = 0;

	seed = 12345 + (uint32_t)_i;
	power_on(ref.hz, ref.frq);
	due = gtimer_deadline(&dev);
	for (unsigned step = 0; step < STEPS; step++) {
		if (!dice(often)) {
			poke(&ref);
			due = gtimer_deadline(&dev);
		}
		adder_tick(&ref);
		cycle++;
		if (due != UINT64_MAX)
			due--;
		if (!due) {
			const unsigned before = wire[0].driven + wire[1].driven;

			gtimer_update(&dev);
			ck_assert_uint_gt(wire[0].driven + wire[1].driven, before);
			due = gtimer_deadline(&dev);
			rises++;
		}
		/* an assertion a cycle would take a minute */
		if (gtimer_count(&dev) == ref.count &&
		    wire[0].level == adder_level(&ref, 0) &&
		    wire[1].level == adder_level(&ref, 1))
			continue;
		ck_abort_msg("step %u: count %llu, not %llu; wires %d %d", step,
			     (unsigned long long)gtimer_count(&dev),
			     (unsigned long long)ref.count, wire[0].level, wire[1].level);
	}
	ck_assert_uint_gt(rises, 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gtimer");
	TCase *tc = tcase_create("counter"), *timers = tcase_create("timers");

	tcase_add_test(tc, gtimer_count_rounds_down);
	tcase_add_test(tc, gtimer_count_is_exact_over_64_bits);
	tcase_add_test(tc, gtimer_registers_read_at_el1_and_by_rights_at_el0);
	tcase_add_test(tc, gtimer_cntfrq_is_a_note);
	suite_add_tcase(s, tc);

	tcase_add_checked_fixture(timers, set_up, NULL);
	tcase_add_loop_test(timers, gtimer_fires_at_its_compare_value, 0, GTIMERS);
	tcase_add_loop_test(timers, gtimer_level_falls_by_mask_disable_and_new_value, 0,
			    GTIMERS);
	tcase_add_loop_test(timers, gtimer_tval_is_signed_and_relative, 0, GTIMERS);
	tcase_add_loop_test(timers, gtimer_far_values_never_fire, 0, GTIMERS);
	tcase_add_test(timers, gtimer_deadline_is_the_nearer_of_two);
	tcase_add_test(timers, gtimer_reset_turns_both_off);
	tcase_add_test(timers, gtimer_cntkctl_rules_el0);
	tcase_add_loop_test(timers, gtimer_equals_a_cycle_by_cycle_clock, 0, RATIOS);
	suite_add_tcase(s, timers);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
