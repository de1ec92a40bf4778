/* SPDX-License-Identifier: MIT */
/*
 * Bindings: Documentation/devicetree/bindings of Linux: arm,gic-v3, arm,arch_timer,
 * arm,pl011, arm,pmu, psci, cpus, cpu-topology, fixed-clock, chosen.
 */
#include "emu/virt_fdt.h"

#include <errno.h>
#include <libfdt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/virt.h"

enum {
	PHANDLE_GIC = 1,
	PHANDLE_CLOCK,
	PHANDLE_CPU0, /* and the other CPUs after it */
};

/* Interrupt specifiers: kind, number, trigger. */
enum {
	SPI = 0,
	PPI = 1,
	LEVEL_HIGH = 4
};

enum {
	UART_CLOCK_HZ = 24000000,
	MAX_CELLS = 16
};

/* The first error stays; later calls do nothing. */
struct tree {
	void *blob;
	int err;
};

static void begin(struct tree *t, const char *name)
{
	if (!t->err)
		t->err = fdt_begin_node(t->blob, name);
}

static void end(struct tree *t)
{
	if (!t->err)
		t->err = fdt_end_node(t->blob);
}

static void bytes(struct tree *t, const char *name, const void *value, size_t size)
{
	if (!t->err)
		t->err = fdt_property(t->blob, name, value, (int)size);
}

static void flag(struct tree *t, const char *name)
{
	bytes(t, name, "", 0);
}

static void text(struct tree *t, const char *name, const char *value)
{
	bytes(t, name, value, strlen(value) + 1);
}

/* A list of strings: its NULs are in the literal, the last one its own. */
#define TEXTS(t, name, literal) bytes(t, name, literal, sizeof(literal))

/* @n 32-bit cells. */
static void cells(struct tree *t, const char *name, unsigned n, ...)
{
	fdt32_t value[MAX_CELLS];
	va_list args;

	va_start(args, n);
	for (unsigned i = 0; i < n; i++)
		value[i] = cpu_to_fdt32(va_arg(args, uint32_t));
	va_end(args);
	bytes(t, name, value, n * sizeof(value[0]));
}

static void u64(struct tree *t, const char *name, uint64_t value)
{
	cells(t, name, 2, (uint32_t)(value >> 32), (uint32_t)value);
}

/* Address and size by two cells each. */
static void reg(struct tree *t, uint64_t base, uint64_t size)
{
	cells(t, "reg", 4, (uint32_t)(base >> 32), (uint32_t)base, (uint32_t)(size >> 32),
	      (uint32_t)size);
}

static void chosen(struct tree *t, const struct virt_fdt *c)
{
	begin(t, "chosen");
	if (c->bootargs)
		text(t, "bootargs", c->bootargs);
	text(t, "stdout-path", "/pl011@9000000");
	if (c->initrd != c->initrd_end) {
		u64(t, "linux,initrd-start", c->initrd);
		u64(t, "linux,initrd-end", c->initrd_end);
	}
	if (c->kaslr_seed)
		u64(t, "kaslr-seed", c->kaslr_seed);
	end(t);
}

static void memory(struct tree *t, const struct virt_fdt *c)
{
	begin(t, "memory@40000000");
	text(t, "device_type", "memory");
	reg(t, VIRT_RAM, c->ram_size);
	end(t);
}

static void cpu_map(struct tree *t, const struct virt_fdt *c)
{
	char name[16];

	begin(t, "cpu-map");
	begin(t, "socket0");
	begin(t, "cluster0");
	for (unsigned i = 0; i < c->cpus; i++) {
		snprintf(name, sizeof(name), "core%u", i);
		begin(t, name);
		cells(t, "cpu", 1, PHANDLE_CPU0 + i);
		end(t);
	}
	end(t);
	end(t);
	end(t);
}

static void cpus(struct tree *t, const struct virt_fdt *c)
{
	char name[16];

	begin(t, "cpus");
	cells(t, "#address-cells", 1, 1);
	cells(t, "#size-cells", 1, 0);
	cpu_map(t, c);
	for (unsigned i = 0; i < c->cpus; i++) {
		const uint32_t affinity = (uint32_t)gicv3_affinity(i);

		snprintf(name, sizeof(name), "cpu@%x", affinity);
		begin(t, name);
		text(t, "device_type", "cpu");
		text(t, "compatible",
		     c->cpu_compatible ? c->cpu_compatible : "arm,cortex-a57");
		cells(t, "reg", 1, affinity);
		text(t, "enable-method", "psci");
		cells(t, "phandle", 1, PHANDLE_CPU0 + i);
		end(t);
	}
	end(t);
}

static void psci(struct tree *t)
{
	begin(t, "psci");
	TEXTS(t, "compatible", "arm,psci-1.0\0arm,psci-0.2\0arm,psci");
	text(t, "method", "hvc");
	/* for drivers of version 0.1, which had no fixed identifiers */
	cells(t, "cpu_suspend", 1, 0xc4000001);
	cells(t, "cpu_off", 1, 0x84000002);
	cells(t, "cpu_on", 1, 0xc4000003);
	end(t);
}

static void interrupt_controller(struct tree *t, const struct virt_fdt *c)
{
	begin(t, "intc@8000000");
	text(t, "compatible", "arm,gic-v3");
	cells(t, "#interrupt-cells", 1, 3);
	flag(t, "interrupt-controller");
	cells(t, "#redistributor-regions", 1, 1);
	cells(t, "reg", 8, 0, (uint32_t)VIRT_GICD, 0, GICV3_GICD_SIZE, 0,
	      (uint32_t)VIRT_GICR, 0, c->cpus * GICV3_GICR_SIZE);
	cells(t, "#address-cells", 1, 2);
	cells(t, "#size-cells", 1, 2);
	flag(t, "ranges");
	cells(t, "phandle", 1, PHANDLE_GIC);
	end(t);
}

/* Secure physical, physical, virtual, hypervisor: the binding counts places, so the
 * two that do not exist are named too. */
static void timer(struct tree *t)
{
	begin(t, "timer");
	TEXTS(t, "compatible", "arm,armv8-timer\0arm,armv7-timer");
	flag(t, "always-on");
	cells(t, "interrupts", 12, PPI, 13, LEVEL_HIGH, PPI, GTIMER_PHYS_INTID - 16,
	      LEVEL_HIGH, PPI, GTIMER_VIRT_INTID - 16, LEVEL_HIGH, PPI, 10, LEVEL_HIGH);
	end(t);
}

static void pmu(struct tree *t)
{
	begin(t, "pmu");
	text(t, "compatible", "arm,armv8-pmuv3");
	cells(t, "interrupts", 3, PPI, GIC_PPI_PMU - 16, LEVEL_HIGH);
	end(t);
}

static void uart(struct tree *t)
{
	begin(t, "apb-pclk");
	text(t, "compatible", "fixed-clock");
	cells(t, "#clock-cells", 1, 0);
	cells(t, "clock-frequency", 1, UART_CLOCK_HZ);
	text(t, "clock-output-names", "clk24mhz");
	cells(t, "phandle", 1, PHANDLE_CLOCK);
	end(t);

	begin(t, "pl011@9000000");
	TEXTS(t, "compatible", "arm,pl011\0arm,primecell");
	reg(t, VIRT_UART, VIRT_UART_SIZE);
	cells(t, "interrupts", 3, SPI, VIRT_UART_SPI, LEVEL_HIGH);
	cells(t, "clocks", 2, PHANDLE_CLOCK, PHANDLE_CLOCK);
	TEXTS(t, "clock-names", "uartclk\0apb_pclk");
	end(t);
}

int virt_fdt_build(const struct virt_fdt *config, void *buf, size_t size)
{
	struct tree t = {.blob = buf};
	size_t used;

	t.err = fdt_create(buf, (int)size);
	if (!t.err)
		t.err = fdt_finish_reservemap(buf);
	begin(&t, "");
	text(&t, "compatible", "linux,dummy-virt");
	text(&t, "model", "linux,dummy-virt");
	cells(&t, "#address-cells", 1, 2);
	cells(&t, "#size-cells", 1, 2);
	cells(&t, "interrupt-parent", 1, PHANDLE_GIC);
	chosen(&t, config);
	memory(&t, config);
	cpus(&t, config);
	psci(&t);
	interrupt_controller(&t, config);
	timer(&t);
	if (config->pmu_irq)
		pmu(&t);
	uart(&t);
	end(&t);
	if (!t.err)
		t.err = fdt_finish(buf);
	/* The calls are in order and the names are ours: only room can lack. */
	if (t.err)
		return -ENOSPC;
	/* libfdt gathers the names at the buffer's end and moves them down when it
	 * is done: what it leaves lies where a kernel's memory begins. */
	used = fdt_totalsize(buf);
	memset((uint8_t *)buf + used, 0, size - used);
	return (int)used;
}
