/* SPDX-License-Identifier: MIT */
/*
 * A GICv3 as far as one security state, no LPIs and no virtualization go (Arm
 * IHI 0069): the distributor with the shared interrupts (SPIs, INTID 32..255),
 * and in front of each CPU's struct gic_ppi its redistributor's two frames.
 *
 * An SPI is offered to the CPU that its GICD_IROUTER names; that CPU's gic_ppi
 * compares it with its private interrupts.
 */
#ifndef PMULAB_EMU_GICV3_H
#define PMULAB_EMU_GICV3_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/gic_ppi.h"
#include "emu/guest_log.h"
#include "emu/line.h"
#include "emu/trace.h"

enum {
	GICV3_CPUS = 8,
	GICV3_SPI_FIRST = 32,
	GICV3_SPIS = 224,
	GICV3_SPI_WORDS = GICV3_SPIS / 32,
	GICV3_GICD_SIZE = 0x10000,
	GICV3_GICR_SIZE = 0x20000, /* a CPU's two frames */
};

struct gicv3_cpu {
	struct gic_ppi *ppi;
	bool asleep; /* GICR_WAKER.ProcessorSleep: nothing is forwarded */
};

struct gicv3 {
	struct trace_bus *bus;
	struct guest_log *log;
	unsigned ncpus;
	struct gicv3_cpu cpu[GICV3_CPUS];

	uint32_t ctlr; /* the two group enables */
	/* one bit an SPI */
	uint32_t level[GICV3_SPI_WORDS], latched[GICV3_SPI_WORDS];
	uint32_t enabled[GICV3_SPI_WORDS], active[GICV3_SPI_WORDS];
	uint32_t group[GICV3_SPI_WORDS], edge[GICV3_SPI_WORDS];
	uint8_t priority[GICV3_SPIS];
	uint64_t route[GICV3_SPIS]; /* GICD_IROUTER<n>: an affinity */
};

/* @ppi: @ncpus (1..GICV3_CPUS) of them, initialised, number i for CPU i; from
 * now on they are signalled nothing until the guest enables the distributor.
 * @bus and @log may be NULL. Resets the device; the redistributors are awake, as
 * firmware hands them over. */
void gicv3_init(struct gicv3 *gic, struct gic_ppi *const *ppi, unsigned ncpus,
		struct trace_bus *bus, struct guest_log *log);
/* The distributor and the redistributors, including each gic_ppi. */
void gicv3_reset(struct gicv3 *gic);

/* Drive SPI @intid (32..255) to @level. */
void gicv3_set_line(struct gicv3 *gic, unsigned intid, int level);

/* A wire that drives @intid, as gic_ppi_line(). */
struct gicv3_pin {
	struct gicv3 *gic;
	unsigned intid;
};
struct irq_line gicv3_line(struct gicv3 *gic, struct gicv3_pin *pin, unsigned intid);

/* MPIDR_EL1's affinity fields of CPU @cpu: 16 CPUs to a cluster. */
static inline uint64_t gicv3_affinity(unsigned cpu)
{
	return (uint64_t)(cpu / 16) << 8 | cpu % 16;
}

/* @offset from GICD's base, within GICV3_GICD_SIZE; @size 1, 2, 4 or 8. */
uint64_t gicv3_dist_read(struct gicv3 *gic, uint32_t offset, unsigned size);
void gicv3_dist_write(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t value);
/* @offset from GICR's base, within ncpus * GICV3_GICR_SIZE. */
uint64_t gicv3_redist_read(struct gicv3 *gic, uint32_t offset, unsigned size);
void gicv3_redist_write(struct gicv3 *gic, uint32_t offset, unsigned size,
			uint64_t value);

#endif
