/* SPDX-License-Identifier: MIT */
#include "emu/virt.h"

#include <stdlib.h>
#include <string.h>

enum {
	SYS_EXIT = 0x18,
	SYS_EXIT_EXTENDED = 0x20,
	ADP_STOPPED_APPLICATION_EXIT = 0x20026,
	EXIT_FAILED = 1, /* the end of a guest that stopped for another reason */
};

/* -- the console, and what the guest says on it ------------------------------- */

/* QEMU's users run kvm-unit-tests without its test device and read the status off
 * this line: shifted left with bit 0 set, so that it is never 0. */
static void line_ended(struct virt *virt)
{
	static const char start[] = "EXIT: STATUS=";
	const size_t n = sizeof(start) - 1;
	char *end;
	long status;

	if (virt->line_size >= VIRT_EXIT_LINE || virt->exit_by == VIRT_EXIT_SEMIHOSTING)
		return;
	virt->line[virt->line_size] = 0;
	if (strncmp(virt->line, start, n))
		return;
	status = strtol(virt->line + n, &end, 10);
	if (end == virt->line + n || *end || !(status & 1))
		return;
	virt->exit_by = VIRT_EXIT_CONSOLE;
	virt->exit_status = (int)((unsigned long)status >> 1 & 0xff);
}

static void console_put(void *opaque, uint8_t byte)
{
	struct virt *virt = opaque;

	if (byte == '\n') {
		line_ended(virt);
		virt->line_size = 0;
	} else if (byte != '\r' && virt->line_size < VIRT_EXIT_LINE) {
		virt->line[virt->line_size++] = (char)byte;
	}
	if (virt->console.put)
		virt->console.put(virt->console.opaque, byte);
}

enum virt_semihost
virt_semihosting(struct virt *virt, uint32_t op, uint64_t arg,
		 bool (*load)(void *opaque, uint64_t va, uint64_t *value), void *opaque)
{
	uint64_t reason, status;

	if (op != SYS_EXIT && op != SYS_EXIT_EXTENDED)
		return VIRT_SEMIHOST_UNKNOWN;
	virt->exit_by = VIRT_EXIT_SEMIHOSTING;
	virt->exit_status = EXIT_FAILED;
	/* In AArch64 both take a block of two words (semihosting, 6.5 and 6.6). */
	if (load(opaque, arg, &reason) && load(opaque, arg + 8, &status) &&
	    reason == ADP_STOPPED_APPLICATION_EXIT)
		virt->exit_status = (int)(status & 0xff);
	return VIRT_SEMIHOST_EXIT;
}

/* -- the physical map ---------------------------------------------------------- */

static bool within(uint64_t pa, unsigned size, uint64_t base, uint64_t bytes,
		   uint32_t *offset)
{
	if (pa < base || pa - base > bytes - size)
		return false;
	*offset = (uint32_t)(pa - base);
	return true;
}

bool virt_mmio_read(struct virt *virt, uint64_t pa, unsigned size, uint64_t *value)
{
	const uint64_t redists = (uint64_t)virt->cpus * GICV3_GICR_SIZE;
	uint32_t offset;

	if (within(pa, size, VIRT_GICD, GICV3_GICD_SIZE, &offset))
		*value = gicv3_dist_read(&virt->gic, offset, size);
	else if (within(pa, size, VIRT_GICR, redists, &offset))
		*value = gicv3_redist_read(&virt->gic, offset, size);
	else if (within(pa, size, VIRT_UART, VIRT_UART_SIZE, &offset))
		*value = pl011_read(&virt->uart, offset, size);
	else
		return false;
	return true;
}

bool virt_mmio_write(struct virt *virt, uint64_t pa, unsigned size, uint64_t value)
{
	const uint64_t redists = (uint64_t)virt->cpus * GICV3_GICR_SIZE;
	uint32_t offset;

	if (within(pa, size, VIRT_GICD, GICV3_GICD_SIZE, &offset))
		gicv3_dist_write(&virt->gic, offset, size, value);
	else if (within(pa, size, VIRT_GICR, redists, &offset))
		gicv3_redist_write(&virt->gic, offset, size, value);
	else if (within(pa, size, VIRT_UART, VIRT_UART_SIZE, &offset))
		pl011_write(&virt->uart, offset, size, value);
	else
		return false;
	return true;
}

/* -- time ---------------------------------------------------------------------- */

uint64_t virt_deadline(const struct virt *virt)
{
	uint64_t nearest = UINT64_MAX;

	for (unsigned i = 0; i < virt->cpus; i++) {
		const uint64_t cycles = gtimer_deadline(virt->timer[i]);

		if (cycles < nearest)
			nearest = cycles;
	}
	return nearest;
}

void virt_update(struct virt *virt)
{
	for (unsigned i = 0; i < virt->cpus; i++)
		gtimer_update(virt->timer[i]);
}

/* -- life ---------------------------------------------------------------------- */

static void wire_cpu(struct virt *virt, unsigned i, struct gic_ppi *gic,
		     struct gtimer *timer)
{
	virt->timer[i] = timer;
	gtimer_wire(
		timer, GTIMER_VIRT,
		gic_ppi_line(gic, &virt->timer_pin[i][GTIMER_VIRT], GTIMER_VIRT_INTID));
	gtimer_wire(
		timer, GTIMER_PHYS,
		gic_ppi_line(gic, &virt->timer_pin[i][GTIMER_PHYS], GTIMER_PHYS_INTID));
	/* A kernel that wants EL0 to read counters must say so, as on QEMU. */
	timer->cntkctl = 0;
}

void virt_init(struct virt *virt, const struct virt_config *config)
{
	struct pl011_ops tap = {.put = console_put, .opaque = virt};

	memset(virt, 0, sizeof(*virt));
	virt->cpus = config->cpus;
	virt->console = config->console;
	virt->log.report = config->guest_error;
	virt->log.opaque = config->opaque;
	gicv3_init(&virt->gic, config->gic, config->cpus, config->bus, &virt->log);
	for (unsigned i = 0; i < config->cpus; i++)
		wire_cpu(virt, i, config->gic[i], config->timer[i]);
	pl011_init(&virt->uart, tap,
		   gicv3_line(&virt->gic, &virt->uart_pin, VIRT_UART_INTID), &virt->log);
}
