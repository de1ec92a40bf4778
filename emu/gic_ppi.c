/* SPDX-License-Identifier: MIT */
/*
 * An interrupt's life here (IHI 0069, 4.1.2):
 *
 *     inactive --wire or latch--> pending --IAR1--> active --EOIR1/DIR--> inactive
 *
 * with "active and pending" for a level that stays high while it is served: it
 * is signalled again once it is no longer active. Pending is not stored for a
 * level-sensitive input; it is the wire, or a latch set through GICR_ISPENDR0.
 *
 * Only group 1 is signalled, as IRQ. A group 0 interrupt would be an FIQ, which
 * is not modelled: it stays pending for ever and holds nothing back, and group
 * 0's registers (IAR0, EOIR0, IGRPEN0 ...) are there for drivers that set them
 * up. IGROUPR0 is 0 at reset, so a driver must set it.
 *
 * Five bits of priority, as QEMU gives a cortex-a57.
 */
#include "emu/gic_ppi.h"

#include <errno.h>
#include <string.h>

enum {
	PRIORITY_BITS = 5,
	PRIORITY_MASK = 0xff & ~((1 << (8 - PRIORITY_BITS)) - 1),
	PRIORITY_IDLE = 0xff,
	/* Group 1's point is one above group 0's: 3 leaves all five bits to
	 * preemption (IHI 0069, 4.8.4). */
	BPR1_MIN = 8 - PRIORITY_BITS,
	BPR0_MIN = BPR1_MIN - 1,
	BPR_MAX = 7,
	SGI_BITS = 0xffff,
};

enum {
	CTLR_CBPR = 1 << 0,
	CTLR_EOIMODE = 1 << 1,
	CTLR_WRITABLE = CTLR_CBPR | CTLR_EOIMODE,
	CTLR_READ_ONLY = (PRIORITY_BITS - 1) << 8 /* PRIbits */
			 | 1 << 11		  /* IDbits: 24 */
			 | 1 << 15,		  /* A3V */
	SRE_FIXED = 7, /* SRE, DFB, DIB: no memory-mapped interface to go back to */
};

/* -- what is signalled ---------------------------------------------------- */

static uint32_t bit(unsigned intid)
{
	return UINT32_C(1) << intid;
}

static uint32_t pending(const struct gic_ppi *gic)
{
	return gic->latched | (gic->level & ~gic->edge);
}

/* With CBPR group 0's point rules both; group 1's is always one above it. */
static unsigned binary_point(const struct gic_ppi *gic)
{
	if (!(gic->ctlr & CTLR_CBPR))
		return (unsigned)gic->bpr1;
	return gic->bpr0 < BPR_MAX ? (unsigned)gic->bpr0 + 1 : BPR_MAX;
}

static unsigned group_priority(const struct gic_ppi *gic, unsigned priority)
{
	return priority & (0xffu << binary_point(gic));
}

static unsigned running_priority(const struct gic_ppi *gic)
{
	return gic->ap1r0 ? (unsigned)__builtin_ctzll(gic->ap1r0) << BPR1_MIN
			  : PRIORITY_IDLE;
}

struct candidate {
	unsigned intid; /* GIC_PPI_SPURIOUS: none */
	uint8_t priority;
};

/* Highest priority pending interrupt; the lowest INTID among equals. */
static struct candidate highest_pending(const struct gic_ppi *gic)
{
	struct candidate best = {GIC_PPI_SPURIOUS, PRIORITY_IDLE};
	uint32_t left = pending(gic) & gic->enabled & gic->group & ~gic->active;
	uint8_t priority;
	unsigned intid;

	if (!(gic->igrpen1 & 1) || !gic->forwards)
		return best;
	for (; left; left &= left - 1) {
		intid = (unsigned)__builtin_ctz(left);
		if (gic->priority[intid] < best.priority)
			best = (struct candidate){intid, gic->priority[intid]};
	}
	if (!gic->shared.highest)
		return best;
	intid = gic->shared.highest(gic->shared.opaque, gic->cpu, &priority);
	if (intid != GIC_PPI_SPURIOUS && priority < best.priority)
		best = (struct candidate){intid, priority};
	return best;
}

/* The one that the CPU is to take now. */
static struct candidate signalled(const struct gic_ppi *gic)
{
	struct candidate best = highest_pending(gic);

	if (best.priority >= gic->pmr ||
	    group_priority(gic, best.priority) >= running_priority(gic))
		best.intid = GIC_PPI_SPURIOUS;
	return best;
}

/* After every change: @was is pending() before it. */
static void update(struct gic_ppi *gic, uint32_t was)
{
	const uint32_t now = pending(gic);
	const int irq = signalled(gic).intid != GIC_PPI_SPURIOUS;

	for (uint32_t left = was ^ now; left; left &= left - 1) {
		const unsigned intid = (unsigned)__builtin_ctz(left);

		trace_emit(gic->bus, gic->cpu, TRACE_PENDING, intid, now >> intid & 1, 0);
	}
	if (irq == gic->irq_level)
		return;
	gic->irq_level = irq;
	irq_line_set(&gic->irq, irq);
}

void gic_ppi_update(struct gic_ppi *gic)
{
	update(gic, pending(gic));
}

void gic_ppi_attach(struct gic_ppi *gic, const struct gic_shared *shared)
{
	gic->shared = *shared;
	gic_ppi_update(gic);
}

void gic_ppi_forward(struct gic_ppi *gic, int on)
{
	gic->forwards = on;
	gic_ppi_update(gic);
}

void gic_ppi_set_line(struct gic_ppi *gic, unsigned intid, int level)
{
	const uint32_t was = pending(gic);

	if (intid >= GIC_PPI_COUNT)
		return;
	if (level && !(gic->level & bit(intid)))
		gic->latched |= gic->edge & bit(intid);
	if (level)
		gic->level |= bit(intid);
	else
		gic->level &= ~bit(intid);
	update(gic, was);
}

static void drive_pin(void *opaque, int level)
{
	const struct gic_ppi_pin *pin = opaque;

	gic_ppi_set_line(pin->gic, pin->intid, level);
}

struct irq_line gic_ppi_line(struct gic_ppi *gic, struct gic_ppi_pin *pin, unsigned intid)
{
	pin->gic = gic;
	pin->intid = intid;
	return (struct irq_line){.set = drive_pin, .opaque = pin};
}

/* -- CPU interface -------------------------------------------------------- */

static uint64_t read_iar1(void *dev, unsigned index)
{
	struct gic_ppi *gic = dev;
	const uint32_t was = pending(gic);
	const struct candidate best = signalled(gic);

	if (best.intid != GIC_PPI_SPURIOUS)
		gic->ap1r0 |= UINT64_C(1)
			      << (group_priority(gic, best.priority) >> BPR1_MIN);
	if (best.intid < GIC_PPI_COUNT) {
		gic->active |= bit(best.intid);
		gic->latched &= ~bit(best.intid);
	}
	/* ACK goes first: what the distributor says next follows from it. */
	trace_emit(gic->bus, gic->cpu, TRACE_ACK, best.intid, 0, 0);
	if (best.intid >= GIC_PPI_COUNT && best.intid != GIC_PPI_SPURIOUS)
		gic->shared.activate(gic->shared.opaque, best.intid);
	update(gic, was);
	return best.intid;
}

static void deactivate(struct gic_ppi *gic, uint64_t intid)
{
	if (intid < GIC_PPI_COUNT)
		gic->active &= ~bit((unsigned)intid);
	else if (gic->shared.deactivate)
		gic->shared.deactivate(gic->shared.opaque, (unsigned)intid);
}

/* Is there an interrupt by that number? 1020..1023 never are one. */
static int exists(const struct gic_ppi *gic, uint64_t intid)
{
	return intid < GIC_PPI_COUNT || (gic->shared.deactivate && intid < 1020);
}

/* Priority drop, and deactivation unless EOImode splits them. An INTID that is
 * not there is ignored; without a running priority there is nothing to drop
 * (UNPREDICTABLE by IHI 0069: ignored too, as in QEMU). */
static void write_eoir1(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;
	const uint32_t was = pending(gic);

	trace_emit(gic->bus, gic->cpu, TRACE_EOI, value, 0, 0);
	if (!exists(gic, value) || !gic->ap1r0)
		return;
	gic->ap1r0 &= gic->ap1r0 - 1;
	if (!(gic->ctlr & CTLR_EOIMODE))
		deactivate(gic, value);
	update(gic, was);
}

/* Ignored without EOImode, where it is UNPREDICTABLE. */
static void write_dir(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;
	const uint32_t was = pending(gic);

	if (!exists(gic, value) || !(gic->ctlr & CTLR_EOIMODE))
		return;
	deactivate(gic, value);
	update(gic, was);
}

static void write_pmr(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	gic->pmr = value & PRIORITY_MASK;
	update(gic, pending(gic));
}

static void write_bpr0(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	gic->bpr0 = value < BPR0_MIN ? BPR0_MIN : value;
	gic_ppi_update(gic);
}

/* With CBPR it is a read-only view of group 0's (IHI 0069, 4.8.4). */
static uint64_t read_bpr1(void *dev, unsigned index)
{
	return binary_point(dev);
}

static void write_bpr1(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	if (gic->ctlr & CTLR_CBPR)
		return;
	gic->bpr1 = value < BPR1_MIN ? BPR1_MIN : value;
	gic_ppi_update(gic);
}

static void write_igrpen1(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	gic->igrpen1 = value;
	gic_ppi_update(gic);
}

static void write_ctlr(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	gic->ctlr = CTLR_READ_ONLY | value;
	gic_ppi_update(gic);
}

/* Software saves and restores it, and clears it when it starts. */
static void write_ap1r0(void *dev, unsigned index, uint64_t value)
{
	struct gic_ppi *gic = dev;

	gic->ap1r0 = value;
	gic_ppi_update(gic);
}

static uint64_t read_rpr(void *dev, unsigned index)
{
	return running_priority(dev);
}

static uint64_t read_hppir1(void *dev, unsigned index)
{
	return highest_pending(dev).intid;
}

/* No group 0 interrupt is ever signalled. */
static uint64_t read_spurious(void *dev, unsigned index)
{
	return GIC_PPI_SPURIOUS;
}

static void write_ignored(void *dev, unsigned index, uint64_t value)
{
}

/* A CPU is affinity 0.0.(cpu / 16).(cpu % 16), 16 to a cluster. IRM says all
 * but self; RS moves the list away from the first 16. An SGI that the target has
 * in the other group is dropped (IHI 0069, 12.1.10, one security state). */
void gic_ppi_take_sgi(struct gic_ppi *gic, unsigned from, unsigned group, uint64_t value)
{
	const uint32_t was = pending(gic);
	const unsigned intid = value >> 24 & 0xf;
	const int all_but_self = value >> 40 & 1;
	const unsigned aff3 = value >> 48 & 0xff, rs = value >> 44 & 0xf;
	const unsigned aff2 = value >> 32 & 0xff, aff1 = value >> 16 & 0xff;

	if (all_but_self) {
		if (from == gic->cpu)
			return;
	} else if (aff3 || rs || aff2 || aff1 != gic->cpu / 16 ||
		   !(value >> gic->cpu % 16 & 1)) {
		return;
	}
	if ((gic->group >> intid & 1) != group)
		return;
	gic->latched |= bit(intid);
	update(gic, was);
}

static void send_sgi(struct gic_ppi *gic, unsigned group, uint64_t value)
{
	if (gic->shared.sgi)
		gic->shared.sgi(gic->shared.opaque, gic->cpu, group, value);
	else
		gic_ppi_take_sgi(gic, gic->cpu, group, value);
}

static void write_sgi1r(void *dev, unsigned index, uint64_t value)
{
	send_sgi(dev, 1, value);
}

static void write_sgi0r(void *dev, unsigned index, uint64_t value)
{
	send_sgi(dev, 0, value);
}

#define STATE(field) .offset = offsetof(struct gic_ppi, field)

/* clang-format off */
static const struct sysreg_desc rows[] = {
	{ .name = "icc_pmr_el1", .enc = SYSREG(3, 0, 4, 6, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = PRIORITY_MASK, STATE(pmr), .write = write_pmr },
	{ .name = "icc_iar0_el1", .enc = SYSREG(3, 0, 12, 8, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .read = read_spurious },
	{ .name = "icc_eoir0_el1", .enc = SYSREG(3, 0, 12, 8, 1), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = 0xffffff, .write = write_ignored },
	{ .name = "icc_hppir0_el1", .enc = SYSREG(3, 0, 12, 8, 2), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .read = read_spurious },
	{ .name = "icc_bpr0_el1", .enc = SYSREG(3, 0, 12, 8, 3), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 7, STATE(bpr0), .write = write_bpr0 },
	{ .name = "icc_ap0r0_el1", .enc = SYSREG(3, 0, 12, 8, 4), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 0xffffffff, STATE(ap0r0) },
	{ .name = "icc_ap1r0_el1", .enc = SYSREG(3, 0, 12, 9, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 0xffffffff, STATE(ap1r0), .write = write_ap1r0 },
	{ .name = "icc_dir_el1", .enc = SYSREG(3, 0, 12, 11, 1), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = 0xffffff, .write = write_dir },
	{ .name = "icc_rpr_el1", .enc = SYSREG(3, 0, 12, 11, 3), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .read = read_rpr },
	{ .name = "icc_sgi1r_el1", .enc = SYSREG(3, 0, 12, 11, 5), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = UINT64_C(0x00fff1ff0fffffff), .write = write_sgi1r },
	/* the other security state's group 1, which is not there */
	{ .name = "icc_asgi1r_el1", .enc = SYSREG(3, 0, 12, 11, 6), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = UINT64_C(0x00fff1ff0fffffff), .write = write_ignored },
	{ .name = "icc_sgi0r_el1", .enc = SYSREG(3, 0, 12, 11, 7), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = UINT64_C(0x00fff1ff0fffffff), .write = write_sgi0r },
	{ .name = "icc_iar1_el1", .enc = SYSREG(3, 0, 12, 12, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .read = read_iar1 },
	{ .name = "icc_eoir1_el1", .enc = SYSREG(3, 0, 12, 12, 1), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = 0xffffff, .write = write_eoir1 },
	{ .name = "icc_hppir1_el1", .enc = SYSREG(3, 0, 12, 12, 2), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .read = read_hppir1 },
	{ .name = "icc_bpr1_el1", .enc = SYSREG(3, 0, 12, 12, 3), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 7, STATE(bpr1), .read = read_bpr1, .write = write_bpr1 },
	{ .name = "icc_ctlr_el1", .enc = SYSREG(3, 0, 12, 12, 4), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = CTLR_WRITABLE, STATE(ctlr), .write = write_ctlr },
	{ .name = "icc_sre_el1", .enc = SYSREG(3, 0, 12, 12, 5), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 0, STATE(sre), .write = write_ignored },
	{ .name = "icc_igrpen0_el1", .enc = SYSREG(3, 0, 12, 12, 6), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 1, STATE(igrpen0) },
	{ .name = "icc_igrpen1_el1", .enc = SYSREG(3, 0, 12, 12, 7), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 1, STATE(igrpen1), .write = write_igrpen1 },
};
/* clang-format on */

struct sysreg_block gic_ppi_sysregs(struct gic_ppi *gic)
{
	return (struct sysreg_block){
		.desc = rows,
		.ndesc = sizeof(rows) / sizeof(rows[0]),
		.dev = gic,
	};
}

/* -- redistributor -------------------------------------------------------- */

enum {
	GICR_IGROUPR0 = 0x080,
	GICR_ISENABLER0 = 0x100,
	GICR_ICENABLER0 = 0x180,
	GICR_ISPENDR0 = 0x200,
	GICR_ICPENDR0 = 0x280,
	GICR_ISACTIVER0 = 0x300,
	GICR_ICACTIVER0 = 0x380,
	GICR_IPRIORITYR = 0x400,
	GICR_IPRIORITYR_END = GICR_IPRIORITYR + GIC_PPI_COUNT,
	GICR_ICFGR0 = 0xc00,
	GICR_ICFGR1 = 0xc04,
};

/* Two bits an INTID, of which the upper one says edge. */
static uint32_t read_icfgr(const struct gic_ppi *gic, unsigned first)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 16; i++)
		if (gic->edge & bit(first + i))
			value |= UINT32_C(2) << 2 * i;
	return value;
}

static void write_icfgr1(struct gic_ppi *gic, uint32_t value)
{
	for (unsigned i = 0; i < 16; i++) {
		if (value & UINT32_C(2) << 2 * i)
			gic->edge |= bit(16 + i);
		else
			gic->edge &= ~bit(16 + i);
	}
}

int gic_ppi_redist_read(struct gic_ppi *gic, uint32_t offset, uint32_t *value)
{
	if (offset >= GICR_IPRIORITYR && offset < GICR_IPRIORITYR_END) {
		const uint8_t *p = &gic->priority[offset - GICR_IPRIORITYR];

		*value = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[3] << 24;
		return 0;
	}
	switch (offset) {
	case GICR_IGROUPR0:
		*value = gic->group;
		return 0;
	case GICR_ISENABLER0:
	case GICR_ICENABLER0:
		*value = gic->enabled;
		return 0;
	case GICR_ISPENDR0:
	case GICR_ICPENDR0:
		*value = pending(gic);
		return 0;
	case GICR_ISACTIVER0:
	case GICR_ICACTIVER0:
		*value = gic->active;
		return 0;
	case GICR_ICFGR0:
		*value = read_icfgr(gic, 0);
		return 0;
	case GICR_ICFGR1:
		*value = read_icfgr(gic, 16);
		return 0;
	default:
		return -ENXIO;
	}
}

static int redist_store(struct gic_ppi *gic, uint32_t offset, uint32_t value)
{
	if (offset >= GICR_IPRIORITYR && offset < GICR_IPRIORITYR_END) {
		for (unsigned i = 0; i < 4; i++)
			gic->priority[offset - GICR_IPRIORITYR + i] =
				value >> 8 * i & PRIORITY_MASK;
		return 0;
	}
	switch (offset) {
	case GICR_IGROUPR0:
		gic->group = value;
		return 0;
	case GICR_ISENABLER0:
		gic->enabled |= value;
		return 0;
	case GICR_ICENABLER0:
		gic->enabled &= ~value;
		return 0;
	case GICR_ISPENDR0:
		gic->latched |= value;
		return 0;
	case GICR_ICPENDR0: /* the latch only: a level is pending while it is high */
		gic->latched &= ~value;
		return 0;
	case GICR_ISACTIVER0:
		gic->active |= value;
		return 0;
	case GICR_ICACTIVER0:
		gic->active &= ~value;
		return 0;
	case GICR_ICFGR0: /* SGIs are edges, read-only */
		return 0;
	case GICR_ICFGR1:
		write_icfgr1(gic, value);
		return 0;
	default:
		return -ENXIO;
	}
}

int gic_ppi_redist_write(struct gic_ppi *gic, uint32_t offset, uint32_t value)
{
	const uint32_t was = pending(gic);
	const int ret = redist_store(gic, offset, value);

	if (!ret)
		update(gic, was);
	return ret;
}

/* -- life ----------------------------------------------------------------- */

/* The input wires and the distributor's say are not this device's to reset. */
void gic_ppi_reset(struct gic_ppi *gic)
{
	const uint32_t was = pending(gic);

	gic->latched = 0;
	gic->enabled = 0;
	gic->active = 0;
	gic->group = 0;
	gic->edge = SGI_BITS;
	memset(gic->priority, 0, sizeof(gic->priority));
	gic->ap0r0 = 0;
	gic->ap1r0 = 0;
	gic->pmr = 0;
	gic->bpr0 = BPR0_MIN;
	gic->bpr1 = BPR1_MIN;
	gic->igrpen0 = 0;
	gic->igrpen1 = 0;
	gic->ctlr = CTLR_READ_ONLY;
	gic->sre = SRE_FIXED;
	update(gic, was);
}

void gic_ppi_init(struct gic_ppi *gic, struct irq_line irq, struct trace_bus *bus,
		  unsigned cpu)
{
	memset(gic, 0, sizeof(*gic));
	gic->irq = irq;
	gic->bus = bus;
	gic->cpu = cpu;
	gic->forwards = 1;
	gic_ppi_reset(gic);
}
