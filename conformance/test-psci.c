/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/psci.h"

enum {
	CPUS = 4
};

#define F32(n) (UINT64_C(0x84000000) | (n))
#define F64(n) (UINT64_C(0xc4000000) | (n))
#define ENTRY UINT64_C(0x40200000)
#define HIGH UINT64_C(0xdead000000000000)

/* A machine of which every touch is counted. */
static struct {
	bool on[CPUS];
	unsigned ons, offs, waits, power_offs, resets, cpu;
	uint64_t entry, context;
} m;

static bool is_on(void *opaque, unsigned cpu)
{
	ck_assert_ptr_eq(opaque, &m);
	ck_assert_uint_lt(cpu, CPUS);
	return m.on[cpu];
}

static bool is_code(void *opaque, uint64_t entry)
{
	return entry >= 0x40000000 && entry < 0x80000000;
}

static void cpu_on(void *opaque, unsigned cpu, uint64_t entry, uint64_t context)
{
	m.ons++;
	m.cpu = cpu;
	m.on[cpu] = true;
	m.entry = entry;
	m.context = context;
}

static void cpu_off(void *opaque, unsigned cpu)
{
	m.offs++;
	m.cpu = cpu;
	m.on[cpu] = false;
}

static void wait_op(void *opaque, unsigned cpu)
{
	m.waits++;
	m.cpu = cpu;
}

static void system_off(void *opaque)
{
	m.power_offs++;
}

static void system_reset(void *opaque)
{
	m.resets++;
}

static const struct psci_ops ops = {
	.ncpus = CPUS,
	.is_on = is_on,
	.is_code = is_code,
	.cpu_on = cpu_on,
	.cpu_off = cpu_off,
	.wait = wait_op,
	.system_off = system_off,
	.system_reset = system_reset,
	.opaque = &m,
};

static void set_up(void)
{
	memset(&m, 0, sizeof(m));
	m.on[0] = true;
}

static unsigned touches(void)
{
	return m.ons + m.offs + m.waits + m.power_offs + m.resets;
}

static int64_t call_from(unsigned cpu, uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t arg[4] = {fn, a, b, c};
	uint64_t ret = 0x5555;

	ck_assert(psci_call(&ops, cpu, arg, &ret));
	return (int64_t)ret;
}

static int64_t call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	return call_from(0, fn, a, b, c);
}

START_TEST(psci_version_is_1_0)
{
	ck_assert_int_eq(call(F32(0), 0, 0, 0), 0x10000);
	ck_assert_int_eq(call(HIGH | F32(0), 0, 0, 0), 0x10000); /* w0 */
	ck_assert_uint_eq(touches(), 0);
}
END_TEST

START_TEST(psci_features_names_what_is_there)
{
	static const uint64_t there[] = {
		F32(0), F32(1), F64(1), F32(2), F32(3), F64(3),
		F32(4), F64(4), F32(6), F32(8), F32(9), F32(10),
	};

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		ck_assert_int_eq(call(F32(10), there[i], 0, 0), PSCI_SUCCESS);
	/* and nothing else of the range */
	unsigned found = 0;

	for (unsigned n = 0; n < 0x40; n++) {
		found += call(F32(10), F32(n), 0, 0) == PSCI_SUCCESS;
		found += call(F32(10), F64(n), 0, 0) == PSCI_SUCCESS;
	}
	ck_assert_uint_eq(found, sizeof(there) / sizeof(there[0]));
	ck_assert_int_eq(call(F32(10), 0x80000000, 0, 0), PSCI_NOT_SUPPORTED); /* SMCCC */
	ck_assert_uint_eq(touches(), 0);
}
END_TEST

START_TEST(psci_unknown_functions_are_refused)
{
	static const uint64_t unknown[] = {
		1337,	0,	UINT64_MAX, F64(0),	F64(2),	    F32(5),	F64(5),
		F32(7), F64(8), F32(11),    0x04000000, 0xc5000003, 0x80000000,
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		ck_assert_msg(call(unknown[i], 1, ENTRY, 0) == PSCI_NOT_SUPPORTED,
			      "%#llx", (unsigned long long)unknown[i]);
	ck_assert_uint_eq(touches(), 0);
}
END_TEST

START_TEST(psci_cpu_on_starts_the_target)
{
	ck_assert_int_eq(call(F64(3), 2, ENTRY, 0x123456789abcdef0), PSCI_SUCCESS);
	ck_assert_uint_eq(m.cpu, 2);
	ck_assert_uint_eq(m.entry, ENTRY);
	ck_assert_uint_eq(m.context, 0x123456789abcdef0);
	ck_assert_uint_eq(touches(), 1);
	ck_assert_int_eq(call(F64(3), 2, ENTRY, 0), PSCI_ALREADY_ON);
	ck_assert_int_eq(call(F64(3), 0, ENTRY, 0), PSCI_ALREADY_ON);
	ck_assert_uint_eq(touches(), 1);
}
END_TEST

START_TEST(psci_cpu_on_by_smc32_takes_lower_halves)
{
	ck_assert_int_eq(call(F32(3), HIGH | 1, HIGH | ENTRY, HIGH | 7), PSCI_SUCCESS);
	ck_assert_uint_eq(m.cpu, 1);
	ck_assert_uint_eq(m.entry, ENTRY);
	ck_assert_uint_eq(m.context, 7);
}
END_TEST

START_TEST(psci_cpu_on_refuses_bad_arguments)
{
	static const uint64_t bad[] = {CPUS,	   0x100,    0x10001,
				       0x80000001, HIGH | 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(call(F64(3), bad[i], ENTRY, 0), PSCI_INVALID_PARAMETERS);
	ck_assert_int_eq(call(F64(3), 1, 0x1000, 0), PSCI_INVALID_ADDRESS);
	ck_assert_int_eq(call(F64(3), 1, ENTRY + 2, 0), PSCI_INVALID_ADDRESS);
	ck_assert_uint_eq(touches(), 0);
}
END_TEST

START_TEST(psci_affinity_info_tells_on_from_off)
{
	ck_assert_int_eq(call(F64(4), 0, 0, 0), 0);
	ck_assert_int_eq(call(F64(4), 1, 0, 0), 1);
	ck_assert_int_eq(call(F32(4), HIGH | 1, HIGH, 0), 1);
	ck_assert_int_eq(call(F64(4), CPUS, 0, 0), PSCI_INVALID_PARAMETERS);
	ck_assert_int_eq(call(F64(4), HIGH, 0, 0), PSCI_INVALID_PARAMETERS);
	/* higher levels: whoever asks is in the one cluster there is */
	for (unsigned level = 1; level < 4; level++)
		ck_assert_int_eq(call(F64(4), 3, level, 0), 0);
	ck_assert_int_eq(call(F64(4), 0x100, 1, 0), PSCI_INVALID_PARAMETERS);
	ck_assert_int_eq(call(F64(4), 0x100, 2, 0), 0);
	ck_assert_int_eq(call(F64(4), 0, 4, 0), PSCI_INVALID_PARAMETERS);
	m.on[0] = false;
	ck_assert_int_eq(call(F64(4), 0, 1, 0), 1);
	ck_assert_uint_eq(touches(), 0);
}
END_TEST

START_TEST(psci_suspend_waits)
{
	ck_assert_int_eq(call_from(3, F64(1), 0x10000, ENTRY, 0), PSCI_SUCCESS);
	ck_assert_uint_eq(m.waits, 1);
	ck_assert_uint_eq(m.cpu, 3);
	ck_assert_int_eq(call(F64(1), 0x1000000, ENTRY, 0), PSCI_INVALID_PARAMETERS);
	ck_assert_uint_eq(touches(), 1);
}
END_TEST

START_TEST(psci_no_trusted_os_to_migrate)
{
	ck_assert_int_eq(call(F32(6), 0, 0, 0), 2);
}
END_TEST

START_TEST(psci_off_and_reset_do_not_return)
{
	const uint64_t fn[] = {F32(2), F32(8), F32(9)};

	for (size_t i = 0; i < 3; i++) {
		const uint64_t arg[4] = {fn[i]};
		uint64_t ret;

		ck_assert(!psci_call(&ops, 1, arg, &ret));
		ck_assert_uint_eq(touches(), i + 1);
		ck_assert_uint_eq(m.offs, 1);
		ck_assert_uint_eq(m.cpu, 1);
		ck_assert_uint_eq(m.power_offs, i >= 1);
		ck_assert_uint_eq(m.resets, i >= 2);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("psci");
	TCase *tc = tcase_create("calls");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, psci_version_is_1_0);
	tcase_add_test(tc, psci_features_names_what_is_there);
	tcase_add_test(tc, psci_unknown_functions_are_refused);
	tcase_add_test(tc, psci_cpu_on_starts_the_target);
	tcase_add_test(tc, psci_cpu_on_by_smc32_takes_lower_halves);
	tcase_add_test(tc, psci_cpu_on_refuses_bad_arguments);
	tcase_add_test(tc, psci_affinity_info_tells_on_from_off);
	tcase_add_test(tc, psci_suspend_waits);
	tcase_add_test(tc, psci_no_trusted_os_to_migrate);
	tcase_add_test(tc, psci_off_and_reset_do_not_return);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
