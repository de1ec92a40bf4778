/* SPDX-License-Identifier: MIT */
/* The EL1 image's reader of device trees, on what libfdt writes. */
#include <check.h>
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "emu/virt_fdt.h"
#include "kernelcore/arm64/fdt.h"

enum { SIZE = 1 << 16 };

static uint8_t blob[SIZE] __attribute__((aligned(8)));

START_TEST(fdt_prop_finds_what_the_board_has)
{
	const struct virt_fdt config = {
		.cpus = 8,
		.ram_size = 64 << 20,
		.bootargs = "profile=x",
		.initrd = 0x142000000,
		.initrd_end = 0x142000123,
		.pmu_irq = true,
	};
	uint32_t size;

	ck_assert_int_gt(virt_fdt_build(&config, blob, SIZE), 0);
	ck_assert_uint_eq(fdt_size(blob), fdt_totalsize(blob));
	ck_assert_str_eq(fdt_prop(blob, "chosen", "bootargs", &size), "profile=x");
	ck_assert_uint_eq(size, 10);
	ck_assert_uint_eq(fdt_cells2(fdt_prop(blob, "chosen", "linux,initrd-start", NULL), 0),
			  config.initrd);
	ck_assert_uint_eq(fdt_cells2(fdt_prop(blob, "chosen", "linux,initrd-end", NULL), 0),
			  config.initrd_end);
	ck_assert_uint_eq(fdt_cells2(fdt_prop(blob, "memory", "reg", NULL), 2), 64 << 20);
	ck_assert_uint_eq(fdt_cells2(fdt_prop(blob, "pl011", "reg", NULL), 0), 0x9000000);
	ck_assert_uint_eq(fdt_cells2(fdt_prop(blob, "intc", "reg", NULL), 4), 0x80a0000);
	ck_assert_uint_eq(fdt_cell(fdt_prop(blob, "pmu", "interrupts", NULL), 1), 7);
	ck_assert_ptr_null(fdt_prop(blob, "pmu", "reg", NULL));
	ck_assert_ptr_null(fdt_prop(blob, "pm", "interrupts", NULL));
	ck_assert_ptr_null(fdt_prop(blob, "pmux", "interrupts", NULL));
	ck_assert_ptr_null(fdt_prop(blob, "cpu", "reg", NULL)); /* two levels down */
}
END_TEST

/* A child of the same name, or one behind which the parent goes on, is not it. */
START_TEST(fdt_prop_looks_at_children_of_the_root_alone)
{
	uint32_t size = 0;

	ck_assert_int_eq(fdt_create(blob, SIZE), 0);
	ck_assert_int_eq(fdt_finish_reservemap(blob), 0);
	fdt_begin_node(blob, "");
	fdt_property_u32(blob, "value", 1);
	fdt_begin_node(blob, "outer");
	fdt_property_string(blob, "pad", "xy"); /* three bytes, to be padded */
	fdt_begin_node(blob, "wanted");
	fdt_property_u32(blob, "value", 2);
	fdt_end_node(blob);
	fdt_end_node(blob);
	fdt_begin_node(blob, "wanted@1000");
	fdt_property(blob, "empty", "", 0);
	fdt_begin_node(blob, "child");
	fdt_property_u32(blob, "value", 3);
	fdt_end_node(blob);
	fdt_end_node(blob);
	fdt_begin_node(blob, "wanted");
	fdt_property_u32(blob, "value-of", 4);
	fdt_property_u32(blob, "value", 5);
	fdt_end_node(blob);
	fdt_end_node(blob);
	ck_assert_int_eq(fdt_finish(blob), 0);
	ck_assert_uint_eq(fdt_cell(fdt_prop(blob, "wanted", "value", &size), 0), 5);
	ck_assert_uint_eq(size, 4);
	ck_assert_ptr_nonnull(fdt_prop(blob, "wanted", "empty", &size));
	ck_assert_uint_eq(size, 0);
	ck_assert_ptr_null(fdt_prop(blob, "outer", "value", NULL));
	ck_assert_ptr_null(fdt_prop(blob, "child", "value", NULL));
}
END_TEST

START_TEST(fdt_size_of_something_else_is_0)
{
	memset(blob, 0x5a, 64);
	ck_assert_uint_eq(fdt_size(blob), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guest-fdt");
	TCase *tc = tcase_create("guest-fdt");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, fdt_prop_finds_what_the_board_has);
	tcase_add_test(tc, fdt_prop_looks_at_children_of_the_root_alone);
	tcase_add_test(tc, fdt_size_of_something_else_is_0);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
