/* SPDX-License-Identifier: MIT */
/*
 * Register accesses are leaves that answer whether there is such a register in
 * such a size; the four entry points make "no" a zero and a guest error.
 *
 * One security state: GICD_CTLR.DS and ARE are fixed at 1, so the registers for
 * INTID 0..31 lie in the redistributors and the distributor's copies of them
 * read as zero, as do those of the legacy targets and of the other state.
 */
#include "emu/gicv3.h"

#include <stddef.h>
#include <string.h>

enum {
	PRIORITY_MASK = 0xf8, /* five bits, as the CPU interface's */
	PRIORITY_IDLE = 0xff,
};

enum {
	GICD_CTLR = 0x0000,
	GICD_TYPER = 0x0004,
	GICD_IIDR = 0x0008,
	GICD_TYPER2 = 0x000c,
	GICD_STATUSR = 0x0010,
	GICD_SETSPI_NSR = 0x0040,
	GICD_CLRSPI_SR = 0x0058,
	GICD_IGROUPR = 0x0080, /* the first of seven one-bit families, 0x80 apart */
	GICD_IPRIORITYR = 0x0400,
	GICD_ITARGETSR = 0x0800,
	GICD_ICFGR = 0x0c00,
	GICD_IGRPMODR = 0x0d00,
	GICD_NSACR = 0x0e00,
	GICD_SGIR = 0x0f00,
	GICD_SPENDSGIR_END = 0x0f30,
	GICD_IROUTER = 0x6000,
	GICD_IROUTER_END = 0x8000,

	GICR_CTLR = 0x0000,
	GICR_IIDR = 0x0004,
	GICR_TYPER = 0x0008,
	GICR_STATUSR = 0x0010,
	GICR_WAKER = 0x0014,
	GICR_PROPBASER = 0x0070,
	GICR_PENDBASER_END = 0x0080,
	GICR_SYNCR = 0x00c0,
	GICR_SGI_FRAME = 0x10000,
	GICR_IPRIORITYR = 0x0400,
	GICR_IGRPMODR0 = 0x0d00,
	GICR_NSACR = 0x0e00,

	IDREGS = 0xffd0, /* PIDR4..7, PIDR0..3, CIDR0..3 */
	IDREGS_END = 0x10000,
};

enum {
	CTLR_GRP0 = 1 << 0,
	CTLR_GRP1 = 1 << 1,
	CTLR_FIXED = 1 << 4 | 1 << 6, /* ARE, DS */
	TYPER_ITLINES = (GICV3_SPIS + 32) / 32 - 1,
	TYPER_FIXED = TYPER_ITLINES | 15 << 19 /* IDbits: 16 */ | 1 << 24 /* A3V */
		      | 1 << 25 /* No1N: IROUTER.IRM is RES0 */,
	IIDR_ARM = 0x43b,
	WAKER_PROCESSOR_SLEEP = 1 << 1,
	WAKER_CHILDREN_ASLEEP = 1 << 2,
	RTYPER_LAST = 1 << 4,
};

#define IROUTER_AFFINITY UINT64_C(0xff00ffffff)

/* PIDR2 says architecture 3; the other bytes are Arm's. */
static uint32_t read_idreg(uint32_t offset, uint8_t part)
{
	static const uint8_t ids[] = {
		0x44, 0, 0, 0, 0, 0xb4, 0x3b, 0, 0x0d, 0xf0, 0x05, 0xb1,
	};
	const uint32_t i = (offset - IDREGS) / 4;

	return i == 4 ? part : ids[i];
}

/* -- shared interrupts ------------------------------------------------------- */

static uint32_t pending(const struct gicv3 *gic, unsigned word)
{
	return gic->latched[word] | (gic->level[word] & ~gic->edge[word]);
}

static unsigned routed_to(const struct gicv3 *gic, unsigned spi)
{
	for (unsigned i = 0; i < gic->ncpus; i++)
		if (gic->route[spi] == gicv3_affinity(i))
			return i;
	return gic->ncpus;
}

static void signal_all(struct gicv3 *gic)
{
	for (unsigned i = 0; i < gic->ncpus; i++)
		gic_ppi_update(gic->cpu[i].ppi);
}

/* After a change of SPIs in @word: @was is pending() before it. */
static void update(struct gicv3 *gic, unsigned word, uint32_t was)
{
	const uint32_t now = pending(gic, word);

	for (uint32_t left = was ^ now; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left), spi = 32 * word + n;
		const unsigned cpu = routed_to(gic, spi);

		trace_emit(gic->bus, cpu < gic->ncpus ? cpu : 0, TRACE_PENDING,
			   GICV3_SPI_FIRST + spi, now >> n & 1, 0);
	}
	signal_all(gic);
}

static bool is_spi(unsigned intid)
{
	return intid >= GICV3_SPI_FIRST && intid < GICV3_SPI_FIRST + GICV3_SPIS;
}

void gicv3_set_line(struct gicv3 *gic, unsigned intid, int level)
{
	const unsigned spi = intid - GICV3_SPI_FIRST, word = spi / 32;
	const uint32_t bit = UINT32_C(1) << spi % 32;
	uint32_t was;

	if (!is_spi(intid))
		return;
	was = pending(gic, word);
	if (level && !(gic->level[word] & bit))
		gic->latched[word] |= gic->edge[word] & bit;
	if (level)
		gic->level[word] |= bit;
	else
		gic->level[word] &= ~bit;
	update(gic, word, was);
}

static void drive_pin(void *opaque, int level)
{
	const struct gicv3_pin *pin = opaque;

	gicv3_set_line(pin->gic, pin->intid, level);
}

struct irq_line gicv3_line(struct gicv3 *gic, struct gicv3_pin *pin, unsigned intid)
{
	pin->gic = gic;
	pin->intid = intid;
	return (struct irq_line){.set = drive_pin, .opaque = pin};
}

/* -- what the CPU interfaces ask (struct gic_shared) -------------------------- */

static unsigned shared_highest(void *opaque, unsigned cpu, uint8_t *priority)
{
	const struct gicv3 *gic = opaque;
	unsigned best = GIC_PPI_SPURIOUS;

	*priority = PRIORITY_IDLE;
	for (unsigned word = 0; word < GICV3_SPI_WORDS; word++) {
		uint32_t left = pending(gic, word) & gic->enabled[word] &
				gic->group[word] & ~gic->active[word];

		for (; left; left &= left - 1) {
			const unsigned spi = 32 * word + (unsigned)__builtin_ctz(left);

			if (gic->priority[spi] >= *priority || routed_to(gic, spi) != cpu)
				continue;
			*priority = gic->priority[spi];
			best = GICV3_SPI_FIRST + spi;
		}
	}
	return best;
}

static void shared_activate(void *opaque, unsigned intid)
{
	struct gicv3 *gic = opaque;
	const unsigned spi = intid - GICV3_SPI_FIRST, word = spi / 32;
	const uint32_t was = pending(gic, word), bit = UINT32_C(1) << spi % 32;

	gic->active[word] |= bit;
	gic->latched[word] &= ~bit;
	update(gic, word, was);
}

static void shared_deactivate(void *opaque, unsigned intid)
{
	struct gicv3 *gic = opaque;
	const unsigned spi = intid - GICV3_SPI_FIRST;

	if (!is_spi(intid))
		return;
	gic->active[spi / 32] &= ~(UINT32_C(1) << spi % 32);
	signal_all(gic);
}

static void shared_sgi(void *opaque, unsigned from, unsigned group, uint64_t value)
{
	struct gicv3 *gic = opaque;

	for (unsigned i = 0; i < gic->ncpus; i++)
		gic_ppi_take_sgi(gic->cpu[i].ppi, from, group, value);
}

/* -- distributor --------------------------------------------------------------- */

static void forward(struct gicv3 *gic)
{
	for (unsigned i = 0; i < gic->ncpus; i++)
		gic_ppi_forward(gic->cpu[i].ppi,
				(gic->ctlr & CTLR_GRP1) && !gic->cpu[i].asleep);
}

/* The one-bit families by their place: offset >> 7. */
enum {
	IGROUPR = GICD_IGROUPR >> 7,
	ISENABLER,
	ICENABLER,
	ISPENDR,
	ICPENDR,
	ISACTIVER,
	ICACTIVER,
	FAMILIES_END,
};

/* SPI word of a one-bit register, or -1 for one that reads as zero here. */
static int bits_word(uint32_t offset)
{
	const int word = (int)(offset % 0x80 / 4) - 1;

	return word < GICV3_SPI_WORDS ? word : -1;
}

static uint32_t read_bits(const struct gicv3 *gic, uint32_t offset)
{
	const int word = bits_word(offset);

	if (word < 0)
		return 0;
	switch (offset >> 7) {
	case IGROUPR:
		return gic->group[word];
	case ISENABLER:
	case ICENABLER:
		return gic->enabled[word];
	case ISPENDR:
	case ICPENDR:
		return pending(gic, (unsigned)word);
	default: /* ISACTIVER, ICACTIVER */
		return gic->active[word];
	}
}

static void write_bits(struct gicv3 *gic, uint32_t offset, uint32_t value)
{
	const int word = bits_word(offset);
	uint32_t was;

	if (word < 0)
		return;
	was = pending(gic, (unsigned)word);
	switch (offset >> 7) {
	case IGROUPR:
		gic->group[word] = value;
		break;
	case ISENABLER:
		gic->enabled[word] |= value;
		break;
	case ICENABLER:
		gic->enabled[word] &= ~value;
		break;
	case ISPENDR:
		gic->latched[word] |= value;
		break;
	case ICPENDR: /* the latch only: a level is pending while it is high */
		gic->latched[word] &= ~value;
		break;
	case ISACTIVER:
		gic->active[word] |= value;
		break;
	default: /* ICACTIVER */
		gic->active[word] &= ~value;
		break;
	}
	update(gic, (unsigned)word, was);
}

/* IPRIORITYR, by bytes. */
static uint32_t read_priority(const struct gicv3 *gic, uint32_t offset, unsigned size)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < size; i++) {
		const unsigned intid = offset - GICD_IPRIORITYR + i;

		if (is_spi(intid))
			value |= (uint32_t)gic->priority[intid - GICV3_SPI_FIRST]
				 << 8 * i;
	}
	return value;
}

static void write_priority(struct gicv3 *gic, uint32_t offset, unsigned size,
			   uint32_t value)
{
	for (unsigned i = 0; i < size; i++) {
		const unsigned intid = offset - GICD_IPRIORITYR + i;

		if (is_spi(intid))
			gic->priority[intid - GICV3_SPI_FIRST] =
				value >> 8 * i & PRIORITY_MASK;
	}
	signal_all(gic);
}

/* Two bits an INTID, of which the upper one says edge. */
static uint32_t read_config(const struct gicv3 *gic, uint32_t offset)
{
	const unsigned first = (offset - GICD_ICFGR) * 4;
	uint32_t value = 0;

	for (unsigned i = 0; i < 16 && is_spi(first + i); i++) {
		const unsigned spi = first + i - GICV3_SPI_FIRST;

		if (gic->edge[spi / 32] >> spi % 32 & 1)
			value |= UINT32_C(2) << 2 * i;
	}
	return value;
}

static void write_config(struct gicv3 *gic, uint32_t offset, uint32_t value)
{
	const unsigned first = (offset - GICD_ICFGR) * 4;
	const unsigned word = (first - GICV3_SPI_FIRST) / 32;
	uint32_t was;

	if (!is_spi(first))
		return;
	was = pending(gic, word);
	for (unsigned i = 0; i < 16; i++) {
		const uint32_t bit = UINT32_C(1) << (first + i) % 32;

		if (value & UINT32_C(2) << 2 * i)
			gic->edge[word] |= bit;
		else
			gic->edge[word] &= ~bit;
	}
	update(gic, word, was);
}

/* GICD_IROUTER<n>, or half of it. */
static uint64_t read_route(const struct gicv3 *gic, uint32_t offset)
{
	const unsigned intid = (offset - GICD_IROUTER) / 8;

	return is_spi(intid) ? gic->route[intid - GICV3_SPI_FIRST] >> offset % 8 * 8 : 0;
}

static void write_route(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t value)
{
	const unsigned intid = (offset - GICD_IROUTER) / 8, shift = offset % 8 * 8;
	const uint64_t mask = (size == 8 ? UINT64_MAX : UINT64_C(0xffffffff)) << shift;
	uint64_t *route;

	if (!is_spi(intid))
		return;
	route = &gic->route[intid - GICV3_SPI_FIRST];
	*route = ((*route & ~mask) | (value << shift & mask)) & IROUTER_AFFINITY;
	signal_all(gic);
}

/* Registers that are there and hold nothing in this configuration: RES0. */
static bool dist_res0(uint32_t offset)
{
	return offset == GICD_TYPER2 || offset == GICD_STATUSR ||
	       (offset >= GICD_SETSPI_NSR && offset <= GICD_CLRSPI_SR &&
		offset % 8 == 0) ||
	       (offset >= GICD_ITARGETSR && offset < GICD_ICFGR) ||
	       (offset >= GICD_IGRPMODR && offset < GICD_IGRPMODR + 0x80) ||
	       (offset >= GICD_NSACR && offset <= GICD_SGIR) ||
	       (offset >= GICD_SGIR + 0x10 && offset < GICD_SPENDSGIR_END);
}

/* The families by bytes (size 1 or 4) and by double words (4 or 8). */
static bool is_priority(uint32_t offset, unsigned size)
{
	return offset >= GICD_IPRIORITYR && offset < GICD_ITARGETSR && size != 8;
}

static bool is_route(uint32_t offset, unsigned size)
{
	return offset >= GICD_IROUTER + 8 * GICV3_SPI_FIRST &&
	       offset < GICD_IROUTER_END && size >= 4;
}

/* Bytes exist in IPRIORITYR and ITARGETSR and the SGI pending ones only. */
static bool dist_bytes_ok(uint32_t offset, unsigned size)
{
	return size == 4 ||
	       (size == 1 &&
		((offset >= GICD_ITARGETSR && offset < GICD_ICFGR) ||
		 (offset >= GICD_SGIR + 0x10 && offset < GICD_SPENDSGIR_END)));
}

static bool dist_load(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t *value)
{
	if (is_priority(offset, size)) {
		*value = read_priority(gic, offset, size);
		return true;
	}
	if (is_route(offset, size)) {
		*value = read_route(gic, offset);
		return true;
	}
	if (!dist_bytes_ok(offset, size))
		return false;
	if (offset >= GICD_IGROUPR && offset >> 7 < FAMILIES_END)
		*value = read_bits(gic, offset);
	else if (offset >= GICD_ICFGR && offset < GICD_IGRPMODR)
		*value = read_config(gic, offset);
	else if (offset >= IDREGS)
		*value = read_idreg(offset, 0x92);
	else if (offset == GICD_CTLR)
		*value = gic->ctlr | CTLR_FIXED;
	else if (offset == GICD_TYPER)
		*value = TYPER_FIXED;
	else if (offset == GICD_IIDR)
		*value = IIDR_ARM;
	else
		return dist_res0(offset);
	return true;
}

static bool dist_store(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t value)
{
	if (is_priority(offset, size)) {
		write_priority(gic, offset, size, (uint32_t)value);
		return true;
	}
	if (is_route(offset, size)) {
		write_route(gic, offset, size, value);
		return true;
	}
	if (!dist_bytes_ok(offset, size))
		return false;
	if (offset >= GICD_IGROUPR && offset >> 7 < FAMILIES_END) {
		write_bits(gic, offset, (uint32_t)value);
	} else if (offset >= GICD_ICFGR && offset < GICD_IGRPMODR) {
		write_config(gic, offset, (uint32_t)value);
	} else if (offset == GICD_CTLR) {
		gic->ctlr = value & (CTLR_GRP0 | CTLR_GRP1);
		forward(gic);
	} else {
		return dist_res0(offset); /* read-only ones are errors too */
	}
	return true;
}

/* -- redistributors ------------------------------------------------------------ */

static uint64_t read_rtyper(const struct gicv3 *gic, unsigned cpu)
{
	return gicv3_affinity(cpu) << 32 | (uint64_t)cpu << 8 |
	       (cpu == gic->ncpus - 1 ? RTYPER_LAST : 0);
}

/* RES0 without LPIs; 64 bits wide but for the last. */
static bool rd_res0(uint32_t offset, unsigned size)
{
	if (offset >= GICR_PROPBASER && offset < GICR_PENDBASER_END)
		return size >= 4;
	return size == 4 &&
	       (offset == GICR_CTLR || offset == GICR_STATUSR || offset == GICR_SYNCR);
}

static bool rd_load(const struct gicv3 *gic, unsigned cpu, uint32_t offset, unsigned size,
		    uint64_t *value)
{
	if (offset >> 3 == GICR_TYPER >> 3 && size >= 4)
		*value = read_rtyper(gic, cpu) >> offset % 8 * 8;
	else if (rd_res0(offset, size))
		*value = 0;
	else if (size != 4)
		return false;
	else if (offset == GICR_IIDR)
		*value = IIDR_ARM;
	else if (offset == GICR_WAKER)
		*value = gic->cpu[cpu].asleep
				 ? WAKER_PROCESSOR_SLEEP | WAKER_CHILDREN_ASLEEP
				 : 0;
	else if (offset >= IDREGS)
		*value = read_idreg(offset, 0x93);
	else
		return false;
	return true;
}

static bool rd_store(struct gicv3 *gic, unsigned cpu, uint32_t offset, unsigned size,
		     uint64_t value)
{
	if (offset != GICR_WAKER || size != 4)
		return rd_res0(offset, size);
	gic->cpu[cpu].asleep = value & WAKER_PROCESSOR_SLEEP;
	forward(gic);
	return true;
}

static bool sgi_res0(uint32_t offset)
{
	return offset == GICR_IGRPMODR0 || offset == GICR_NSACR;
}

static bool sgi_byte_ok(uint32_t offset)
{
	return offset >= GICR_IPRIORITYR && offset < GICR_IPRIORITYR + GIC_PPI_COUNT;
}

static bool sgi_load(struct gicv3 *gic, unsigned cpu, uint32_t offset, unsigned size,
		     uint64_t *value)
{
	uint32_t word = 0;

	if (size != 4 && !(size == 1 && sgi_byte_ok(offset)))
		return false;
	if (gic_ppi_redist_read(gic->cpu[cpu].ppi, offset & ~3u, &word) &&
	    !sgi_res0(offset))
		return false;
	*value = word >> offset % 4 * 8;
	return true;
}

static bool sgi_store(struct gicv3 *gic, unsigned cpu, uint32_t offset, unsigned size,
		      uint64_t value)
{
	struct gic_ppi *ppi = gic->cpu[cpu].ppi;
	const unsigned shift = offset % 4 * 8;
	uint32_t word;

	if (size == 4)
		return !gic_ppi_redist_write(ppi, offset, (uint32_t)value) ||
		       sgi_res0(offset);
	if (size != 1 || !sgi_byte_ok(offset) ||
	    gic_ppi_redist_read(ppi, offset & ~3u, &word))
		return false;
	word = (word & ~(UINT32_C(0xff) << shift)) | (uint32_t)(value & 0xff) << shift;
	return !gic_ppi_redist_write(ppi, offset & ~3u, word);
}

/* -- the four entry points ------------------------------------------------------ */

static uint64_t truncated(uint64_t value, unsigned size)
{
	return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

static bool access_ok(uint32_t offset, uint32_t end, unsigned size)
{
	return (size == 1 || size == 4 || size == 8) && offset % size == 0 &&
	       offset < end;
}

static void bad(struct gicv3 *gic, const char *device, bool write, uint32_t offset,
		unsigned size, uint64_t value)
{
	const struct guest_error error = {
		.device = device,
		.write = write,
		.size = size,
		.offset = offset,
		.value = value,
	};

	guest_log_add(gic->log, &error);
}

uint64_t gicv3_dist_read(struct gicv3 *gic, uint32_t offset, unsigned size)
{
	uint64_t value = 0;

	if (!access_ok(offset, GICV3_GICD_SIZE, size) ||
	    !dist_load(gic, offset, size, &value))
		bad(gic, "gicd", false, offset, size, 0);
	return truncated(value, size);
}

void gicv3_dist_write(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t value)
{
	if (!access_ok(offset, GICV3_GICD_SIZE, size) ||
	    !dist_store(gic, offset, size, value))
		bad(gic, "gicd", true, offset, size, value);
}

uint64_t gicv3_redist_read(struct gicv3 *gic, uint32_t offset, unsigned size)
{
	const unsigned cpu = offset / GICV3_GICR_SIZE;
	const uint32_t in_frame = offset % GICR_SGI_FRAME;
	uint64_t value = 0;
	bool ok = access_ok(offset, gic->ncpus * GICV3_GICR_SIZE, size);

	if (ok && offset / GICR_SGI_FRAME % 2)
		ok = sgi_load(gic, cpu, in_frame, size, &value);
	else if (ok)
		ok = rd_load(gic, cpu, in_frame, size, &value);
	if (!ok)
		bad(gic, "gicr", false, offset, size, 0);
	return truncated(value, size);
}

void gicv3_redist_write(struct gicv3 *gic, uint32_t offset, unsigned size, uint64_t value)
{
	const unsigned cpu = offset / GICV3_GICR_SIZE;
	const uint32_t in_frame = offset % GICR_SGI_FRAME;
	bool ok = access_ok(offset, gic->ncpus * GICV3_GICR_SIZE, size);

	if (ok && offset / GICR_SGI_FRAME % 2)
		ok = sgi_store(gic, cpu, in_frame, size, value);
	else if (ok)
		ok = rd_store(gic, cpu, in_frame, size, value);
	if (!ok)
		bad(gic, "gicr", true, offset, size, value);
}

/* -- life ---------------------------------------------------------------------- */

/* The input wires are not this device's to reset. */
void gicv3_reset(struct gicv3 *gic)
{
	gic->ctlr = 0;
	memset(gic->latched, 0, sizeof(gic->latched));
	memset(gic->enabled, 0, sizeof(gic->enabled));
	memset(gic->active, 0, sizeof(gic->active));
	memset(gic->group, 0, sizeof(gic->group));
	memset(gic->edge, 0, sizeof(gic->edge));
	memset(gic->priority, 0, sizeof(gic->priority));
	memset(gic->route, 0, sizeof(gic->route));
	for (unsigned i = 0; i < gic->ncpus; i++) {
		gic->cpu[i].asleep = false;
		gic_ppi_reset(gic->cpu[i].ppi);
	}
	forward(gic);
}

void gicv3_init(struct gicv3 *gic, struct gic_ppi *const *ppi, unsigned ncpus,
		struct trace_bus *bus, struct guest_log *log)
{
	const struct gic_shared shared = {
		.highest = shared_highest,
		.activate = shared_activate,
		.deactivate = shared_deactivate,
		.sgi = shared_sgi,
		.opaque = gic,
	};

	memset(gic, 0, sizeof(*gic));
	gic->bus = bus;
	gic->log = log;
	gic->ncpus = ncpus;
	for (unsigned i = 0; i < ncpus; i++) {
		gic->cpu[i].ppi = ppi[i];
		gic_ppi_attach(ppi[i], &shared);
	}
	gicv3_reset(gic);
}
