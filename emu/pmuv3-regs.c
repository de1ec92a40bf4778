/* SPDX-License-Identifier: MIT */
/*
 * The registers, one row each, and what they hold at reset (Arm ARM, D24.5
 * "Performance Monitors registers"). A row's writable bits are those of the
 * newest version with all of keeps_res0; pmu->writable has this device's.
 */
#include "emu/pmuv3-priv.h"

#include <errno.h>
#include <string.h>

enum {
	PMCR_N_SHIFT = 11,
	PMCR_IDCODE_SHIFT = 16,
	PMCR_IMP_SHIFT = 24,
	/* what stays in the newest version; P and C act and read as 0 */
	PMCR_KEPT = PMCR_E | PMCR_D | PMCR_X | PMCR_DP | PMCR_LC | PMCR_LP | PMCR_FZO,
};

enum {
	PMUSERENR_EN = 1 << 0,
	PMUSERENR_SW = 1 << 1,
	PMUSERENR_CR = 1 << 2,
	PMUSERENR_ER = 1 << 3,
};

/* With NSK, NSU, NSH, M and MT, and the whole event. */
#define TYPER_KEPT UINT64_C(0xfe00ffff)
#define CCFILTR_KEPT UINT64_C(0xfc000000)
#define EVENT_P0 UINT64_C(0x3ff)

/* -- writing and reading --------------------------------------------------- */

static uint64_t read_pmcr(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;
	const struct pmuv3_config *config = &pmu->config;

	return pmu->pmcr | (uint64_t)config->counters << PMCR_N_SHIFT |
	       (uint64_t)config->idcode << PMCR_IDCODE_SHIFT |
	       (uint64_t)config->imp << PMCR_IMP_SHIFT;
}

static void write_pmcr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	if (value & PMCR_P)
		memset(pmu->pmevcntr, 0, sizeof(pmu->pmevcntr));
	if (value & PMCR_C) {
		pmu->pmccntr = 0;
		pmu->cycle_residue = 0;
	}
	pmu->pmcr = value & pmu->writable.pmcr;
	pmuv3_regroup(pmu);
	pmuv3_update(pmu);
}

static void set_pmcnten(struct pmuv3 *pmu, uint64_t value)
{
	pmuv3_settle(pmu);
	pmu->pmcnten = value;
	pmuv3_regroup(pmu);
}

static void write_pmcntenset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	set_pmcnten(pmu, pmu->pmcnten | (value & pmuv3_counter_bits(pmu)));
}

static void write_pmcntenclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	set_pmcnten(pmu, pmu->pmcnten & ~value);
}

static void write_pmintenset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pminten |= value & pmuv3_counter_bits(pmu);
	pmuv3_update(pmu);
}

static void write_pmintenclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pminten &= ~value;
	pmuv3_update(pmu);
}

static void write_pmovsset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_set_flags(pmu, pmu->pmovs | (value & pmuv3_counter_bits(pmu)));
}

static void write_pmovsclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_set_flags(pmu, pmu->pmovs & ~value);
}

static void write_pmswinc(void *dev, unsigned index, uint64_t value, unsigned el)
{
	pmuv3_software_increment(dev, value, el);
}

void pmuv3_set_typer(struct pmuv3 *pmu, unsigned n, uint64_t value)
{
	const struct pmuv3_event_desc *event;
	unsigned nevents;
	const struct pmuv3_event_desc *const table = pmuv3_events(&nevents);

	pmuv3_settle(pmu);
	pmu->pmevtyper[n] = value & pmu->writable.typer;
	event = pmuv3_event_find(pmu->pmevtyper[n] & FILTER_EVENT);
	if (event && !(pmu->implemented >> (event - table) & 1))
		event = NULL;
	pmu->event[n] = event;
	pmuv3_regroup(pmu);
}

static void write_pmevtyper(void *dev, unsigned index, uint64_t value)
{
	pmuv3_set_typer(dev, index, value);
}

static void write_pmccfiltr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	pmu->pmccfiltr = value & pmu->writable.ccfiltr;
	pmuv3_regroup(pmu);
}

static uint64_t read_pmccntr(void *dev, unsigned index)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	return pmu->pmccntr;
}

static void write_pmccntr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	pmu->pmccntr = value;
	pmuv3_regroup(pmu);
}

static uint64_t read_pmevcntr(void *dev, unsigned index)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	return pmu->pmevcntr[index];
}

static void write_pmevcntr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmuv3_settle(pmu);
	pmu->pmevcntr[index] = value & pmu->writable.cntr;
	pmuv3_regroup(pmu);
}

static uint64_t read_pmxevtyper(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	if (pmu->pmselr == PMUV3_CYCLE)
		return pmu->pmccfiltr;
	return pmu->pmselr < pmu->config.counters ? pmu->pmevtyper[pmu->pmselr] : 0;
}

static void write_pmxevtyper(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	if (pmu->pmselr == PMUV3_CYCLE)
		write_pmccfiltr(pmu, 0, value);
	else if (pmu->pmselr < pmu->config.counters)
		pmuv3_set_typer(pmu, (unsigned)pmu->pmselr, value);
}

/* SEL = 31 is not the cycle counter here: RAZ/WI like any other SEL >= N. */
static uint64_t read_pmxevcntr(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	if (pmu->pmselr >= pmu->config.counters)
		return 0;
	return read_pmevcntr(dev, (unsigned)pmu->pmselr);
}

static void write_pmxevcntr(void *dev, unsigned index, uint64_t value)
{
	const struct pmuv3 *pmu = dev;

	if (pmu->pmselr < pmu->config.counters)
		write_pmevcntr(dev, (unsigned)pmu->pmselr, value);
}

static int counter_present(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	return index < pmu->config.counters;
}

static int pmmir_present(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	return pmu->config.version >= PMUV3_P4;
}

/* -- what PMUSERENR_EL0 lets through at EL0 -------------------------------- */

static enum sysreg_result allow(void *dev, uint64_t bits)
{
	const struct pmuv3 *pmu = dev;

	return pmu->pmuserenr & bits ? SYSREG_OK : SYSREG_TRAP_EL1;
}

static enum sysreg_result el0_en(void *dev, unsigned index, int is_write)
{
	return allow(dev, PMUSERENR_EN);
}

static enum sysreg_result el0_pmccntr(void *dev, unsigned index, int is_write)
{
	return allow(dev, is_write ? PMUSERENR_EN : PMUSERENR_EN | PMUSERENR_CR);
}

static enum sysreg_result el0_pmevcntr(void *dev, unsigned index, int is_write)
{
	return allow(dev, is_write ? PMUSERENR_EN : PMUSERENR_EN | PMUSERENR_ER);
}

static enum sysreg_result el0_pmselr(void *dev, unsigned index, int is_write)
{
	return allow(dev, PMUSERENR_EN | PMUSERENR_ER);
}

static enum sysreg_result el0_pmswinc(void *dev, unsigned index, int is_write)
{
	return allow(dev, PMUSERENR_EN | PMUSERENR_SW);
}

static enum sysreg_result el0_pmuserenr(void *dev, unsigned index, int is_write)
{
	return is_write ? SYSREG_UNDEF : SYSREG_OK;
}

/* -- the rows -------------------------------------------------------------- */

#define STATE(field) .offset = offsetof(struct pmuv3, field)
#define ALL64 UINT64_MAX

/* clang-format off */
static const struct sysreg_desc rows[] = {
	{ .name = "pmintenset_el1", .enc = SYSREG(3, 0, 9, 14, 1), .count = 1, .el = 1,
	  .kind = SYSREG_W1S, .writable = LOW32, STATE(pminten), .write = write_pmintenset },
	{ .name = "pmintenclr_el1", .enc = SYSREG(3, 0, 9, 14, 2), .count = 1, .el = 1,
	  .kind = SYSREG_W1C, .writable = LOW32, STATE(pminten), .write = write_pmintenclr },
	{ .name = "pmmir_el1", .enc = SYSREG(3, 0, 9, 14, 6), .count = 1, .el = 1,
	  .kind = SYSREG_RO, STATE(pmmir), .present = pmmir_present },
	{ .name = "pmcr_el0", .enc = SYSREG(3, 3, 9, 12, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = PMCR_KEPT | PMCR_P | PMCR_C, STATE(pmcr),
	  .read = read_pmcr, .write = write_pmcr, .el0 = el0_en },
	{ .name = "pmcntenset_el0", .enc = SYSREG(3, 3, 9, 12, 1), .count = 1,
	  .kind = SYSREG_W1S, .writable = LOW32, STATE(pmcnten),
	  .write = write_pmcntenset, .el0 = el0_en },
	{ .name = "pmcntenclr_el0", .enc = SYSREG(3, 3, 9, 12, 2), .count = 1,
	  .kind = SYSREG_W1C, .writable = LOW32, STATE(pmcnten),
	  .write = write_pmcntenclr, .el0 = el0_en },
	{ .name = "pmovsclr_el0", .enc = SYSREG(3, 3, 9, 12, 3), .count = 1,
	  .kind = SYSREG_W1C, .writable = LOW32, STATE(pmovs),
	  .write = write_pmovsclr, .el0 = el0_en },
	{ .name = "pmswinc_el0", .enc = SYSREG(3, 3, 9, 12, 4), .count = 1,
	  .kind = SYSREG_WO, .writable = LOW32 & ~(uint64_t)CYCLE_BIT,
	  .write_at = write_pmswinc, .el0 = el0_pmswinc },
	{ .name = "pmselr_el0", .enc = SYSREG(3, 3, 9, 12, 5), .count = 1,
	  .kind = SYSREG_RW, .writable = 0x1f, STATE(pmselr), .el0 = el0_pmselr },
	{ .name = "pmceid0_el0", .enc = SYSREG(3, 3, 9, 12, 6), .count = 1,
	  .kind = SYSREG_RO, STATE(pmceid[0]), .el0 = el0_en },
	{ .name = "pmceid1_el0", .enc = SYSREG(3, 3, 9, 12, 7), .count = 1,
	  .kind = SYSREG_RO, STATE(pmceid[1]), .el0 = el0_en },
	{ .name = "pmccntr_el0", .enc = SYSREG(3, 3, 9, 13, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = ALL64, STATE(pmccntr),
	  .read = read_pmccntr, .write = write_pmccntr, .el0 = el0_pmccntr },
	{ .name = "pmxevtyper_el0", .enc = SYSREG(3, 3, 9, 13, 1), .count = 1,
	  .kind = SYSREG_RW, .writable = TYPER_KEPT | CCFILTR_KEPT,
	  .read = read_pmxevtyper, .write = write_pmxevtyper, .el0 = el0_en },
	{ .name = "pmxevcntr_el0", .enc = SYSREG(3, 3, 9, 13, 2), .count = 1,
	  .kind = SYSREG_RW, .writable = ALL64,
	  .read = read_pmxevcntr, .write = write_pmxevcntr, .el0 = el0_pmevcntr },
	{ .name = "pmuserenr_el0", .enc = SYSREG(3, 3, 9, 14, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = 0xf, STATE(pmuserenr), .el0 = el0_pmuserenr },
	{ .name = "pmovsset_el0", .enc = SYSREG(3, 3, 9, 14, 3), .count = 1,
	  .kind = SYSREG_W1S, .writable = LOW32, STATE(pmovs),
	  .write = write_pmovsset, .el0 = el0_en },
	{ .name = "pmevcntr<n>_el0", .enc = SYSREG(3, 3, 14, 8, 0),
	  .count = PMUV3_MAX_COUNTERS, .kind = SYSREG_RW, .writable = ALL64,
	  STATE(pmevcntr), .read = read_pmevcntr, .write = write_pmevcntr,
	  .present = counter_present, .el0 = el0_pmevcntr },
	{ .name = "pmevtyper<n>_el0", .enc = SYSREG(3, 3, 14, 12, 0),
	  .count = PMUV3_MAX_COUNTERS, .kind = SYSREG_RW, .writable = TYPER_KEPT,
	  STATE(pmevtyper), .write = write_pmevtyper, .present = counter_present,
	  .el0 = el0_en },
	{ .name = "pmccfiltr_el0", .enc = SYSREG(3, 3, 14, 15, 7), .count = 1,
	  .kind = SYSREG_RW, .writable = CCFILTR_KEPT, STATE(pmccfiltr),
	  .write = write_pmccfiltr, .el0 = el0_en },
};
/* clang-format on */

struct sysreg_block pmuv3_sysregs(struct pmuv3 *pmu)
{
	return (struct sysreg_block){
		.desc = rows,
		.ndesc = sizeof(rows) / sizeof(rows[0]),
		.dev = pmu,
	};
}

/* -- life ------------------------------------------------------------------ */

/* Junk that a driver must survive: all counters on, armed and overflowed, about
 * to wrap, of every type; the cycle counter divided and flagged at bit 31; the
 * event counters flagged at bit 63 and frozen, where the version can. */
static void poison(struct pmuv3 *pmu)
{
	pmu->pmcr = (PMCR_D | PMCR_DP | PMCR_X | PMCR_LP | PMCR_FZO) & pmu->writable.pmcr;
	pmu->pmcnten = pmuv3_counter_bits(pmu);
	pmu->pminten = pmuv3_counter_bits(pmu);
	pmu->pmselr = 0x15;
	pmu->pmuserenr = 0xa;
	pmu->pmccntr = UINT64_C(0xdeadbeeffffffff0);
	pmu->pmccfiltr = FILTER_P & pmu->writable.ccfiltr;
	pmu->cycle_residue = 0x2a;
	for (unsigned n = 0; n < pmu->config.counters; n++) {
		const unsigned nevents = pmu->config.nevents;

		pmu->pmevcntr[n] =
			(UINT64_C(0xfeedfacefffffff0) + n % 16) & pmu->writable.cntr;
		pmuv3_set_typer(pmu, n,
				(nevents ? pmu->config.events[n % nevents] : 0x3ffu) |
					(n & 1 ? FILTER_U : 0));
	}
}

void pmuv3_reset(struct pmuv3 *pmu)
{
	pmu->pmcr = 0;
	memset(pmu->group, 0, sizeof(pmu->group)); /* what is pending is lost */
	pmu->pmcnten = 0;
	pmu->pminten = 0;
	pmu->pmselr = 0;
	pmu->pmuserenr = 0;
	pmu->pmccntr = 0;
	pmu->pmccfiltr = 0;
	pmu->cycle_residue = 0;
	memset(pmu->pmevcntr, 0, sizeof(pmu->pmevcntr));
	for (unsigned n = 0; n < pmu->config.counters; n++)
		pmuv3_set_typer(pmu, n, 0);
	if (pmu->config.poison_reset)
		poison(pmu);
	pmuv3_set_flags(pmu, pmu->config.poison_reset ? pmuv3_counter_bits(pmu) : 0);
	pmuv3_regroup(pmu);
}

/* Without EL2 and EL3 DP comes with p7 (Arm ARM, PMCR_EL0.DP); PMEVTYPER and
 * PMCCFILTR have P and U only. */
static void choose_writable(struct pmuv3 *pmu)
{
	const enum pmuv3_version version = pmu->config.version;
	const bool all = pmu->config.keeps_res0;
	const uint64_t event = version >= PMUV3_P1 ? FILTER_EVENT : EVENT_P0;

	pmu->writable.pmcr = PMCR_E | PMCR_D | PMCR_X | PMCR_LC |
			     (all || version >= PMUV3_P7 ? PMCR_DP : 0) |
			     (version >= PMUV3_P5 ? PMCR_LP : 0) |
			     (version >= PMUV3_P7 ? PMCR_FZO : 0);
	pmu->writable.typer = all ? TYPER_KEPT : FILTER_P | FILTER_U | event;
	pmu->writable.ccfiltr = all ? CCFILTR_KEPT : FILTER_P | FILTER_U;
	pmu->writable.cntr = version >= PMUV3_P5 ? ALL64 : LOW32;
}

int pmuv3_init(struct pmuv3 *pmu, const struct pmuv3_config *config, struct irq_line line,
	       struct trace_bus *bus)
{
	unsigned nrows;
	const struct pmuv3_event_desc *const table = pmuv3_events(&nrows);
	uint32_t implemented = 0;

	if (config->counters > PMUV3_MAX_COUNTERS || !pmuv3_version_name(config->version))
		return -EINVAL;
	for (unsigned i = 0; i < config->nevents; i++) {
		const struct pmuv3_event_desc *event =
			pmuv3_event_find(config->events[i]);

		if (!event)
			return -EINVAL;
		implemented |= UINT32_C(1) << (event - table);
	}

	memset(pmu, 0, sizeof(*pmu));
	pmu->config = *config;
	pmu->line = line;
	pmu->bus = bus;
	pmu->implemented = implemented;
	pmu->pmmir = config->pmmir;
	choose_writable(pmu);
	pmuv3_pmceid(config->events, config->nevents, config->version, pmu->pmceid);
	pmuv3_reset(pmu);
	return 0;
}
