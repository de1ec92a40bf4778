/* SPDX-License-Identifier: MIT */
/*
 * Where a slice ends, and code that the guest rewrites: both are places where the
 * block engine takes a liberty that the step engine must take in the same way.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine.h"

enum {
	RAM_SIZE = 2 << 20,
	CODE = 0x10000,
	TARGET = 0x11000,
	L1_TABLE = 0x20000,
	L2_TABLE = 0x21000,
	ALIAS = 0x200000, /* from there on the same RAM once more */
	SLICE = 3,
};

#define NOP	   UINT32_C(0xd503201f)
#define HVC	   UINT32_C(0xd4000002)
#define B(n)	   (UINT32_C(0x14000000) | ((uint32_t)(n)&0x3ffffff))
#define CBZ_X1(n)  (UINT32_C(0xb4000001) | ((uint32_t)(n)&0x7ffff) << 5)
#define ADD_X1(i)  (UINT32_C(0x91000021) | (uint32_t)(i) << 10)
#define STR_W3_X2  UINT32_C(0xb9000043)
#define BR_X4	   UINT32_C(0xd61f0080)
#define IC_IVAU_X4 UINT32_C(0xd50b7524)
#define IC_IALLU   UINT32_C(0xd508751f)
#define ISB	   UINT32_C(0xd5033fdf)

static const enum cpu_engine engines[] = { CPU_ENGINE_STEP, CPU_ENGINE_BLOCK };

static struct machine *create(enum cpu_engine engine, const char *timing)
{
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.engine = engine,
		.timing = timing_model(timing),
		.counters = -1,
		.ram_size = RAM_SIZE,
	};
	char err[128];
	struct machine *m = machine_create(&config, err, sizeof(err));

	ck_assert_msg(m != NULL, "%s", err);
	/* EL1 with the MMU off, the instruction cache on */
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 1, 0, 0), 0x30d01800));
	return m;
}

static void put(struct machine *m, uint64_t offset, const uint32_t *code, size_t size)
{
	memcpy(m->ram + offset, code, size);
	cpu_sync_icache(m->core, MACHINE_RAM_BASE + offset, size);
}

static const uint32_t straight[] = {
	NOP, NOP, NOP, NOP, CBZ_X1(1), NOP, NOP, B(1), NOP, NOP, HVC,
};

static struct machine *on_straight(enum cpu_engine engine, const char *timing)
{
	struct machine *m = create(engine, timing);

	put(m, CODE, straight, sizeof(straight));
	cpu_set_pc(m->core, MACHINE_RAM_BASE + CODE);
	m->slice_end = SLICE;
	return m;
}

/* Behind the branch, be it taken or not, that is the first at or after its end. */
START_TEST(slice_ends_behind_a_branch)
{
	static const unsigned behind[] = { 5, 5, 5, 5, 5, 8, 8, 8 };

	for (unsigned slice = 1; slice <= 8; slice++) {
		struct machine *m = on_straight(engines[_i], "icount");

		m->slice_end = slice;
		ck_assert_int_eq(machine_run(m), MACHINE_STOP_SLICE);
		ck_assert_uint_eq(m->insns, behind[slice - 1]);
		ck_assert_uint_eq(m->now, behind[slice - 1]);
		ck_assert_uint_eq(cpu_pc(m->core),
				  MACHINE_RAM_BASE + CODE + 4 * behind[slice - 1]);
		m->slice_end = UINT64_MAX;
		ck_assert_int_eq(machine_run(m), MACHINE_STOP_EXCEPTION);
		ck_assert_uint_eq(m->insns, 11);
		machine_destroy(m);
	}
}
END_TEST

START_TEST(slice_without_a_branch_ends_with_an_exception)
{
	struct machine *m = on_straight(engines[_i], "icount");

	m->slice_end = 9;
	ck_assert_int_eq(machine_run(m), MACHINE_STOP_EXCEPTION);
	ck_assert_uint_eq(m->insns, 11);
	cpu_set_pc(m->core, MACHINE_RAM_BASE + CODE);
	ck_assert_int_eq(machine_run(m), MACHINE_STOP_SLICE);
	ck_assert_uint_eq(m->insns, 11);
	machine_destroy(m);
}
END_TEST

/* A limit of instructions is none of the slice's affair. */
START_TEST(slice_is_cut_by_the_limit)
{
	struct machine *m = on_straight(engines[_i], "icount");

	m->config.max_insns = 4;
	ck_assert_int_eq(machine_run(m), MACHINE_STOP_LIMIT);
	ck_assert_uint_eq(m->insns, 4);
	machine_destroy(m);
}
END_TEST

/* -- code that is rewritten ------------------------------------------------ */

static void put_word(struct machine *m, uint64_t offset, uint64_t value)
{
	memcpy(m->ram + offset, &value, sizeof(value));
}

static void map(struct machine *m)
{
	const uint64_t block = MACHINE_RAM_BASE | 1 | 3 << 8 | 1 << 10;
	const uint64_t tcr = UINT64_C(25) | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 |
			     UINT64_C(2) << 32;

	put_word(m, L1_TABLE + 8, (MACHINE_RAM_BASE + L2_TABLE) | 3);
	put_word(m, L2_TABLE, block);
	put_word(m, L2_TABLE + 8, block);
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 10, 2, 0), 0xff));
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 2, 0, 2), tcr));
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 2, 0, 0),
				   MACHINE_RAM_BASE + L1_TABLE));
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 1, 0, 0), 0x30d01805));
}

/* Each round writes another instruction to one place at an address of its own, as
 * Linux patches itself. Whoever only heeds the first write goes on adding that. */
static void rewrite(enum cpu_engine engine, uint32_t maintenance)
{
	const uint32_t code[] = { STR_W3_X2, maintenance, ISB, BR_X4 };
	const uint32_t target[] = { ADD_X1(1), HVC };
	struct machine *m = create(engine, "icount");
	uint64_t sum = 0;

	put(m, CODE, code, sizeof(code));
	put(m, TARGET, target, sizeof(target));
	cpu_set_x(m->core, 1, 0);
	cpu_set_x(m->core, 2, MACHINE_RAM_BASE + ALIAS + TARGET);
	cpu_set_x(m->core, 4, MACHINE_RAM_BASE + TARGET);
	map(m);
	for (unsigned round = 1; round <= 6; round++) {
		sum += round;
		cpu_set_x(m->core, 3, ADD_X1(round));
		cpu_set_pc(m->core, MACHINE_RAM_BASE + CODE);
		ck_assert_int_eq(machine_run(m), MACHINE_STOP_EXCEPTION);
		ck_assert_uint_eq(m->exc.esr >> CPU_EC_SHIFT, CPU_EC_HVC64);
		ck_assert_uint_eq(cpu_x(m->core, 1), sum);
	}
	machine_destroy(m);
}

START_TEST(icache_line_is_dropped_each_time)
{
	rewrite(engines[_i], IC_IVAU_X4);
}
END_TEST

START_TEST(icache_as_a_whole_drops_what_has_changed)
{
	rewrite(engines[_i], IC_IALLU);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("slice");
	TCase *t = tcase_create("slice");

	tcase_add_loop_test(t, slice_ends_behind_a_branch, 0, 2);
	tcase_add_loop_test(t, slice_without_a_branch_ends_with_an_exception, 0, 2);
	tcase_add_loop_test(t, slice_is_cut_by_the_limit, 0, 2);
	tcase_add_loop_test(t, icache_line_is_dropped_each_time, 0, 2);
	tcase_add_loop_test(t, icache_as_a_whole_drops_what_has_changed, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
