/* SPDX-License-Identifier: MIT */
/*
 * The tree is read back property by property, beside what QEMU's virt machine says
 * of the same devices.
 */
#include <check.h>
#include <errno.h>
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "emu/virt_fdt.h"

static unsigned char blob[VIRT_FDT_SIZE];

static const struct virt_fdt plain = {
	.cpus = 2,
	.ram_size = 512 << 20,
	.pmu_irq = true,
};

static void build(const struct virt_fdt *config)
{
	const int size = virt_fdt_build(config, blob, sizeof(blob));

	ck_assert_int_gt(size, 0);
	ck_assert_int_eq(fdt_check_full(blob, (size_t)size), 0);
	ck_assert_int_eq((int)fdt_totalsize(blob), size);
}

static const void *prop(const char *path, const char *name, int *size)
{
	const int node = fdt_path_offset(blob, path);

	ck_assert_msg(node >= 0, "no node %s", path);
	return fdt_getprop(blob, node, name, size);
}

static void expect_cells(const char *path, const char *name, unsigned n,
			 const uint32_t *cell)
{
	int size = -1;
	const fdt32_t *value = prop(path, name, &size);

	ck_assert_msg(value && size == (int)(4 * n), "%s %s: %d bytes", path, name, size);
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(fdt32_to_cpu(value[i]) == cell[i], "%s %s, cell %u: %#x",
			      path, name, i, fdt32_to_cpu(value[i]));
}

static void expect_bytes(const char *path, const char *name, const char *text, int n)
{
	int size = -1;
	const char *value = prop(path, name, &size);

	ck_assert_msg(value && size == n && !memcmp(value, text, (size_t)n), "%s %s",
		      path, name);
}

#define CELLS(path, name, ...)                                                  \
	do {                                                                    \
		static const uint32_t cell[] = {__VA_ARGS__};                   \
		expect_cells(path, name, sizeof(cell) / sizeof(cell[0]), cell); \
	} while (0)
#define TEXTS(path, name, text) expect_bytes(path, name, text, sizeof(text))

static void expect_none(const char *path, const char *name)
{
	ck_assert_ptr_null(prop(path, name, NULL));
}

/* Which node a phandle in cell @i means. */
static void expect_phandle(const char *path, const char *name, unsigned i,
			   const char *target)
{
	int size = -1;
	const fdt32_t *value = prop(path, name, &size);

	ck_assert(value && size >= (int)(4 * i + 4));
	ck_assert_int_eq(fdt_node_offset_by_phandle(blob, fdt32_to_cpu(value[i])),
			 fdt_path_offset(blob, target));
}

static unsigned count_subnodes(const char *path)
{
	unsigned n = 0;
	int node;

	fdt_for_each_subnode(node, blob, fdt_path_offset(blob, path)) n++;
	return n;
}

START_TEST(fdt_root_says_how_to_read_it)
{
	build(&plain);
	CELLS("/", "#address-cells", 2);
	CELLS("/", "#size-cells", 2);
	TEXTS("/", "compatible", "linux,dummy-virt");
	expect_phandle("/", "interrupt-parent", 0, "/intc@8000000");
	ck_assert_uint_eq(count_subnodes("/"), 9);
}
END_TEST

START_TEST(fdt_memory_is_rams)
{
	struct virt_fdt config = plain;

	config.ram_size = UINT64_C(0x240000000);
	build(&config);
	TEXTS("/memory@40000000", "device_type", "memory");
	CELLS("/memory@40000000", "reg", 0, 0x40000000, 2, 0x40000000);
}
END_TEST

START_TEST(fdt_cpus_are_started_by_psci)
{
	build(&plain);
	CELLS("/cpus", "#address-cells", 1);
	CELLS("/cpus", "#size-cells", 0);
	ck_assert_uint_eq(count_subnodes("/cpus"), 3);
	for (unsigned i = 0; i < 2; i++) {
		const char *path = i ? "/cpus/cpu@1" : "/cpus/cpu@0";

		TEXTS(path, "device_type", "cpu");
		TEXTS(path, "compatible", "arm,cortex-a57");
		TEXTS(path, "enable-method", "psci");
		expect_cells(path, "reg", 1, &i);
		expect_phandle(i ? "/cpus/cpu-map/socket0/cluster0/core1"
				 : "/cpus/cpu-map/socket0/cluster0/core0",
			       "cpu", 0, path);
	}
	TEXTS("/psci", "compatible", "arm,psci-1.0\0arm,psci-0.2\0arm,psci");
	TEXTS("/psci", "method", "hvc");
	CELLS("/psci", "cpu_on", 0xc4000003);
	CELLS("/psci", "cpu_off", 0x84000002);
	CELLS("/psci", "cpu_suspend", 0xc4000001);
}
END_TEST

START_TEST(fdt_cpu_count_and_kind_are_configured)
{
	struct virt_fdt config = plain;

	for (config.cpus = 1; config.cpus <= 8; config.cpus++) {
		const uint32_t region[] = {0, 0x08000000, 0, 0x10000,
					   0, 0x080a0000, 0, config.cpus * 0x20000};

		build(&config);
		ck_assert_uint_eq(count_subnodes("/cpus"), config.cpus + 1);
		ck_assert_uint_eq(count_subnodes("/cpus/cpu-map/socket0/cluster0"),
				  config.cpus);
		expect_cells("/intc@8000000", "reg", 8, region);
	}
	config.cpus = 1;
	config.cpu_compatible = "arm,cortex-a72";
	build(&config);
	TEXTS("/cpus/cpu@0", "compatible", "arm,cortex-a72");
}
END_TEST

START_TEST(fdt_interrupt_controller_is_a_gicv3)
{
	build(&plain);
	TEXTS("/intc@8000000", "compatible", "arm,gic-v3");
	CELLS("/intc@8000000", "#interrupt-cells", 3);
	CELLS("/intc@8000000", "#redistributor-regions", 1);
	expect_bytes("/intc@8000000", "interrupt-controller", "", 0);
	ck_assert_uint_eq(count_subnodes("/intc@8000000"), 0); /* no ITS */
}
END_TEST

START_TEST(fdt_timer_and_pmu_are_private_levels)
{
	struct virt_fdt config = plain;

	build(&config);
	TEXTS("/timer", "compatible", "arm,armv8-timer\0arm,armv7-timer");
	expect_bytes("/timer", "always-on", "", 0);
	CELLS("/timer", "interrupts", 1, 13, 4, 1, 14, 4, 1, 11, 4, 1, 10, 4);
	TEXTS("/pmu", "compatible", "arm,armv8-pmuv3");
	CELLS("/pmu", "interrupts", 1, 7, 4);
	config.pmu_irq = false;
	build(&config);
	ck_assert_int_lt(fdt_path_offset(blob, "/pmu"), 0);
}
END_TEST

START_TEST(fdt_uart_has_its_clock_and_interrupt)
{
	build(&plain);
	TEXTS("/pl011@9000000", "compatible", "arm,pl011\0arm,primecell");
	CELLS("/pl011@9000000", "reg", 0, 0x09000000, 0, 0x1000);
	CELLS("/pl011@9000000", "interrupts", 0, 1, 4);
	TEXTS("/pl011@9000000", "clock-names", "uartclk\0apb_pclk");
	expect_phandle("/pl011@9000000", "clocks", 0, "/apb-pclk");
	expect_phandle("/pl011@9000000", "clocks", 1, "/apb-pclk");
	TEXTS("/apb-pclk", "compatible", "fixed-clock");
	CELLS("/apb-pclk", "clock-frequency", 24000000);
	CELLS("/apb-pclk", "#clock-cells", 0);
	TEXTS("/chosen", "stdout-path", "/pl011@9000000");
}
END_TEST

START_TEST(fdt_chosen_carries_what_was_asked_for)
{
	struct virt_fdt config = plain;

	build(&config);
	expect_none("/chosen", "bootargs");
	expect_none("/chosen", "linux,initrd-start");
	expect_none("/chosen", "linux,initrd-end");
	expect_none("/chosen", "rng-seed");
	expect_none("/chosen", "kaslr-seed");
	config.bootargs = "console=ttyAMA0 quiet";
	config.initrd = UINT64_C(0x148000000);
	config.initrd_end = UINT64_C(0x148000001);
	config.kaslr_seed = UINT64_C(0x0123456789abcdef);
	build(&config);
	TEXTS("/chosen", "bootargs", "console=ttyAMA0 quiet");
	CELLS("/chosen", "linux,initrd-start", 1, 0x48000000);
	CELLS("/chosen", "linux,initrd-end", 1, 0x48000001);
	CELLS("/chosen", "kaslr-seed", 0x01234567, 0x89abcdef);
	expect_none("/chosen", "rng-seed");
}
END_TEST

/* Every size is either refused or leaves a whole tree and nothing behind it. */
/* It lies in RAM that is handed over as zeroed. */
START_TEST(fdt_leaves_nothing_behind_it)
{
	int used;

	memset(blob, 0xaa, sizeof(blob));
	used = virt_fdt_build(&plain, blob, sizeof(blob));
	ck_assert_int_gt(used, 0);
	for (size_t i = (size_t)used; i < sizeof(blob); i++)
		ck_assert_msg(!blob[i], "byte %zu of %d is 0x%x", i, used, blob[i]);
}
END_TEST

START_TEST(fdt_needs_room)
{
	struct virt_fdt config = plain;
	static char args[2000];
	int whole;

	memset(args, 'x', sizeof(args) - 1);
	config.bootargs = args;
	whole = virt_fdt_build(&config, blob, sizeof(blob));
	ck_assert_int_gt(whole, 2000);
	for (size_t size = 0; size < (size_t)whole + 64; size++) {
		int ret;

		memset(blob, 0xee, sizeof(blob));
		ret = virt_fdt_build(&config, blob, size);
		ck_assert(ret == whole || ret == -ENOSPC);
		ck_assert_uint_eq(blob[size], 0xee);
	}
	ck_assert_int_eq(virt_fdt_build(&config, blob, (size_t)whole + 64), whole);
	ck_assert_int_eq(virt_fdt_build(&config, blob, (size_t)whole - 1), -ENOSPC);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("virt-fdt");
	TCase *tc = tcase_create("tree");

	tcase_add_test(tc, fdt_root_says_how_to_read_it);
	tcase_add_test(tc, fdt_memory_is_rams);
	tcase_add_test(tc, fdt_cpus_are_started_by_psci);
	tcase_add_test(tc, fdt_cpu_count_and_kind_are_configured);
	tcase_add_test(tc, fdt_interrupt_controller_is_a_gicv3);
	tcase_add_test(tc, fdt_timer_and_pmu_are_private_levels);
	tcase_add_test(tc, fdt_uart_has_its_clock_and_interrupt);
	tcase_add_test(tc, fdt_chosen_carries_what_was_asked_for);
	tcase_add_test(tc, fdt_leaves_nothing_behind_it);
	tcase_add_test(tc, fdt_needs_room);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
