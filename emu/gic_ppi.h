/* SPDX-License-Identifier: MIT */
/*
 * One CPU's private interrupts and CPU interface of a GICv3 (Arm IHI 0069),
 * as far as a PMU overflow needs them: PPIs INTID 16..31 and SGIs 0..15 with
 * enable, pending, active, priority and group; ICC_* system registers. Group 1,
 * one security state, affinity routing on.
 *
 * Output: the IRQ wire to the CPU, high while the highest priority pending
 * enabled interrupt beats ICC_PMR_EL1 and the running priority and its group
 * is enabled.
 */
#ifndef PMULAB_EMU_GIC_PPI_H
#define PMULAB_EMU_GIC_PPI_H

#include <stdint.h>

#include "emu/line.h"
#include "emu/sysreg.h"
#include "emu/trace.h"

enum {
	GIC_PPI_PMU = 23, /* PPI 7 */
	GIC_PPI_COUNT = 32,
	GIC_PPI_SPURIOUS = 1023,
};

struct gic_ppi {
	struct trace_bus *bus;
	struct irq_line irq; /* to the CPU */
	unsigned cpu;
	int irq_level;

	uint32_t level;	  /* input wires, one bit an INTID */
	uint32_t latched; /* pending by edge, SGI or GICR_ISPENDR0 */
	uint32_t enabled, active, group, edge;
	uint8_t priority[GIC_PPI_COUNT];
	uint64_t pmr, bpr1, igrpen1, ctlr, sre;
	/* active priorities, innermost last; depth of preemption is bounded by
	 * the number of priority levels */
	uint8_t running[GIC_PPI_COUNT];
	unsigned nrunning;
};

/* @irq is copied; @bus may be NULL. Resets the device. */
void gic_ppi_init(struct gic_ppi *gic, struct irq_line irq,
		  struct trace_bus *bus, unsigned cpu);
void gic_ppi_reset(struct gic_ppi *gic);

/* Drive input @intid (0..31) to @level. */
void gic_ppi_set_line(struct gic_ppi *gic, unsigned intid, int level);

/* A wire that drives @intid; valid as long as @gic. The struct in @pin is
 * filled and must live as long as the wire. */
struct gic_ppi_pin {
	struct gic_ppi *gic;
	unsigned intid;
};
struct irq_line gic_ppi_line(struct gic_ppi *gic, struct gic_ppi_pin *pin,
			     unsigned intid);

/* ICC_IAR1, EOIR1, DIR, PMR, BPR1, RPR, HPPIR1, IGRPEN1, CTLR, SRE, and SGI1R
 * (to this CPU only; other targets are the machine's affair). @gic may be NULL
 * for names only. */
struct sysreg_block gic_ppi_sysregs(struct gic_ppi *gic);

/* The redistributor's SGI_base frame (GICR_IGROUPR0 0x080, ISENABLER0 0x100,
 * ICENABLER0 0x180, ISPENDR0, ICPENDR0, ISACTIVER0, ICACTIVER0,
 * IPRIORITYR<n> 0x400.., ICFGR0/1 0xc00..). @offset within the 64 KiB frame,
 * a multiple of 4. 0, or -ENXIO for an offset that is not modelled. */
int gic_ppi_redist_read(struct gic_ppi *gic, uint32_t offset, uint32_t *value);
int gic_ppi_redist_write(struct gic_ppi *gic, uint32_t offset, uint32_t value);

#endif
