/* SPDX-License-Identifier: MIT */
/*
 * One CPU's private interrupts and CPU interface of a GICv3 (Arm IHI 0069):
 * PPIs INTID 16..31 and SGIs 0..15 with enable, pending, active, priority and
 * group; ICC_* system registers. Group 1, one security state, affinity routing
 * on. It stands alone, or behind a distributor (emu/gicv3.h) that adds shared
 * interrupts, carries SGIs to other CPUs and says whether anything is forwarded.
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

/* What a distributor does for the CPU interface of @cpu. */
struct gic_shared {
	/* The best pending, enabled, inactive group 1 interrupt from INTID 32
	 * on that is routed to @cpu, with its *priority; or GIC_PPI_SPURIOUS. */
	unsigned (*highest)(void *opaque, unsigned cpu, uint8_t *priority);
	/* @intid is from 32 on; deactivate() ignores one that is not there. */
	void (*activate)(void *opaque, unsigned intid);
	void (*deactivate)(void *opaque, unsigned intid);
	/* CPU @from wrote @value to ICC_SGI1R_EL1 (@group 1) or ICC_SGI0R_EL1
	 * (0): gic_ppi_take_sgi() of every CPU, @from too. */
	void (*sgi)(void *opaque, unsigned from, unsigned group, uint64_t value);
	void *opaque;
};

struct gic_ppi {
	struct trace_bus *bus;
	struct irq_line irq; /* to the CPU */
	unsigned cpu;
	int irq_level;
	struct gic_shared shared; /* no functions: stands alone */
	int forwards;		  /* group 1 reaches the CPU interface; alone: always */

	uint32_t level;	  /* input wires, one bit an INTID */
	uint32_t latched; /* pending by edge, SGI or GICR_ISPENDR0 */
	uint32_t enabled, active, group, edge;
	uint8_t priority[GIC_PPI_COUNT];
	uint64_t pmr, bpr0, bpr1, igrpen0, igrpen1, ctlr, sre;
	uint64_t ap0r0; /* stored only: group 0 never runs */
	uint64_t ap1r0; /* active priorities, one bit each; the lowest one runs */
};

/* @irq is copied; @bus may be NULL. Resets the device. */
void gic_ppi_init(struct gic_ppi *gic, struct irq_line irq, struct trace_bus *bus,
		  unsigned cpu);
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

/* Behind a distributor from now on; @shared is copied. */
void gic_ppi_attach(struct gic_ppi *gic, const struct gic_shared *shared);
/* Does the distributor forward group 1 interrupts to this CPU interface? */
void gic_ppi_forward(struct gic_ppi *gic, int on);
/* A shared interrupt changed: signal anew. */
void gic_ppi_update(struct gic_ppi *gic);
/* CPU @from wrote @value to the SGI register of @group: make the SGI pending if
 * this CPU is a target and has it in that group. */
void gic_ppi_take_sgi(struct gic_ppi *gic, unsigned from, unsigned group, uint64_t value);

/* All of ICC_*_EL1 that one security state without LPIs has. Alone, an SGI goes
 * to this CPU only. @gic may be NULL for names only. */
struct sysreg_block gic_ppi_sysregs(struct gic_ppi *gic);

/* The redistributor's SGI_base frame (GICR_IGROUPR0 0x080, ISENABLER0 0x100,
 * ICENABLER0 0x180, ISPENDR0, ICPENDR0, ISACTIVER0, ICACTIVER0,
 * IPRIORITYR<n> 0x400.., ICFGR0/1 0xc00..). @offset within the 64 KiB frame,
 * a multiple of 4. 0, or -ENXIO for an offset that is not modelled. */
int gic_ppi_redist_read(struct gic_ppi *gic, uint32_t offset, uint32_t *value);
int gic_ppi_redist_write(struct gic_ppi *gic, uint32_t offset, uint32_t value);

#endif
