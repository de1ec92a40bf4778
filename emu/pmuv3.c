/* SPDX-License-Identifier: MIT */
/*
 * Counting, flags and the line. The rows of the registers are the second half.
 * All that changes a flag, an enable or PMCR_EL0 ends in update(), the one
 * place that decides the line.
 *
 * Version p0: event counters of 32 bits, no CHAIN, no PMMIR_EL1, PMCR_EL0.LP
 * RES0.
 */
#include "emu/pmuv3.h"

#include <errno.h>
#include <string.h>

enum {
	PMCR_E = 1 << 0,
	PMCR_P = 1 << 1,
	PMCR_C = 1 << 2,
	PMCR_D = 1 << 3,
	PMCR_X = 1 << 4,
	PMCR_DP = 1 << 5,
	PMCR_LC = 1 << 6,
	PMCR_N_SHIFT = 11,
	PMCR_IDCODE_SHIFT = 16,
	PMCR_IMP_SHIFT = 24,
	/* what stays; P and C act and read as 0 */
	PMCR_KEPT = PMCR_E | PMCR_D | PMCR_X | PMCR_DP | PMCR_LC,
};

enum {
	PMUSERENR_EN = 1 << 0,
	PMUSERENR_SW = 1 << 1,
	PMUSERENR_CR = 1 << 2,
	PMUSERENR_ER = 1 << 3,
};

enum {
	EVENT_SW_INCR = 0x00,
	EVENT_INST_RETIRED = 0x08,
	EVENT_CPU_CYCLES = 0x11
};

#define CYCLE_BIT (UINT32_C(1) << PMUV3_CYCLE)
#define FILTER_P UINT64_C(0x80000000) /* not at EL1 */
#define FILTER_U UINT64_C(0x40000000) /* not at EL0 */
#define FILTER_EVENT UINT64_C(0x0000ffff)
#define DIVIDER 64u

/*
 * P, U, NSK, NSU, NSH, M, MT are stored. There is no EL3 and no EL2 here, so
 * NSK, NSU, NSH, M and MT change nothing: P alone decides at EL1 and U alone at
 * EL0, as on QEMU's cortex-a57 with has_el3 and has_el2 off. The manual makes
 * them, and bits 15:10 of the event before p1, RES0; QEMU stores and compares
 * all 16 bits of the event, and goldens are taken on QEMU.
 */
#define TYPER_WRITABLE UINT64_C(0xfe00ffff)
#define CCFILTR_WRITABLE UINT64_C(0xfc000000)

/* -- events --------------------------------------------------------------- */

static uint64_t count_insns(const struct pmuv3_step *step)
{
	return step->insns;
}

static uint64_t count_cycles(const struct pmuv3_step *step)
{
	return step->cycles;
}

static const struct pmuv3_event_desc events[] = {
	{EVENT_SW_INCR, "SW_INCR", "a write of one to the counter's bit of PMSWINC_EL0",
	 NULL},
	{EVENT_INST_RETIRED, "INST_RETIRED",
	 "an instruction architecturally executed; SVC counts, an instruction that "
	 "faults does not",
	 count_insns},
	{EVENT_CPU_CYCLES, "CPU_CYCLES", "a cycle of the CPU", count_cycles},
};

const struct pmuv3_event_desc *pmuv3_events(unsigned *n)
{
	*n = sizeof(events) / sizeof(events[0]);
	return events;
}

static const struct pmuv3_event_desc *find_event(uint64_t number)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].number == number)
			return &events[i];
	return NULL;
}

/* NULL for an event that this configuration does not implement. */
static const struct pmuv3_event_desc *implemented(const struct pmuv3 *pmu,
						  uint64_t number)
{
	for (unsigned i = 0; i < pmu->config.nevents; i++)
		if (pmu->config.events[i] == number)
			return find_event(number);
	return NULL;
}

/* PMCEID0 holds events 0..31, PMCEID1 32..63. Their upper halves (0x4000..)
 * come with p1. */
static void compute_pmceid(struct pmuv3 *pmu)
{
	pmu->pmceid[0] = 0;
	pmu->pmceid[1] = 0;
	for (unsigned i = 0; i < pmu->config.nevents; i++) {
		const unsigned number = pmu->config.events[i];

		if (number < 64)
			pmu->pmceid[number / 32] |= UINT64_C(1) << number % 32;
	}
}

/* -- flags and the line --------------------------------------------------- */

/* The bits that PMCNTEN, PMINTEN and PMOVS have: the cycle counter's and one
 * for each event counter. */
static uint64_t counter_bits(const struct pmuv3 *pmu)
{
	return CYCLE_BIT | ((UINT64_C(1) << pmu->config.counters) - 1);
}

static void emit(struct pmuv3 *pmu, enum trace_kind kind, uint64_t a, uint64_t b)
{
	trace_emit(pmu->bus, pmu->config.cpu, kind, a, b, 0);
}

static void update(struct pmuv3 *pmu)
{
	const int level = (pmu->pmcr & PMCR_E) && (pmu->pmovs & pmu->pminten);

	if (level == pmu->level)
		return;
	pmu->level = level;
	emit(pmu, TRACE_LINE, PMUV3_INTID, (uint64_t)level);
	irq_line_set(&pmu->line, level);
}

static void set_flags(struct pmuv3 *pmu, uint64_t pmovs)
{
	const uint64_t rose = pmovs & ~pmu->pmovs;
	const uint64_t fell = pmu->pmovs & ~pmovs;

	pmu->pmovs = pmovs;
	if (fell)
		emit(pmu, TRACE_FLAG_CLEAR, fell, pmovs);
	if (rose)
		emit(pmu, TRACE_FLAG_SET, rose, pmovs);
	update(pmu);
}

/* Counters @wrapped at this instruction: first all wraps, counter by counter,
 * then their flags as one change, then the line. */
static void raise_wraps(struct pmuv3 *pmu, uint32_t wrapped)
{
	for (uint32_t left = wrapped; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left);

		emit(pmu, TRACE_WRAP, n,
		     n == PMUV3_CYCLE ? pmu->pmccntr : pmu->pmevcntr[n]);
	}
	if (wrapped)
		set_flags(pmu, pmu->pmovs | wrapped);
}

/* -- counting ------------------------------------------------------------- */

static int filter_passes(uint64_t filter, unsigned el)
{
	return !(filter & (el ? FILTER_P : FILTER_U));
}

/*
 * Is the counter on and counting at @el? PMCR_EL0.DP stops the cycle counter
 * only where event counting is prohibited, which only MDCR_EL2.HPMD and
 * MDCR_EL3.SPME can do (Arm ARM, PMCR_EL0.DP): without EL2 and EL3 it is stored
 * and has no effect.
 */
static int enabled(const struct pmuv3 *pmu, unsigned n, unsigned el)
{
	const uint64_t filter = n == PMUV3_CYCLE ? pmu->pmccfiltr : pmu->pmevtyper[n];

	return (pmu->pmcr & PMCR_E) && (pmu->pmcnten >> n & 1) &&
	       filter_passes(filter, el);
}

/* After any change of PMCR_EL0.E, enables or types. */
static void recompute_counting(struct pmuv3 *pmu)
{
	for (unsigned el = 0; el < 2; el++) {
		uint32_t mask = enabled(pmu, PMUV3_CYCLE, el) ? CYCLE_BIT : 0;

		for (unsigned n = 0; n < pmu->config.counters; n++)
			if (pmu->event[n] && pmu->event[n]->count && enabled(pmu, n, el))
				mask |= UINT32_C(1) << n;
		pmu->counting[el] = mask;
	}
}

/* 1 if the counter wrapped; any number of wraps at once is one. */
static uint32_t add_events(struct pmuv3 *pmu, unsigned n, uint64_t count)
{
	const uint64_t old = pmu->pmevcntr[n];

	pmu->pmevcntr[n] = (uint32_t)(old + count);
	return count > UINT32_MAX - old;
}

/* PMCR_EL0.D is ignored while LC is set. */
static int divides(const struct pmuv3 *pmu)
{
	return (pmu->pmcr & (PMCR_D | PMCR_LC)) == PMCR_D;
}

/* The divider runs while the counter does; only PMCR_EL0.C restarts it (the
 * manual leaves its phase open). Without LC the flag rises when bits 31:0 wrap,
 * though the value runs on in 64 bits. */
static uint32_t add_cycles(struct pmuv3 *pmu, uint64_t cycles)
{
	const uint64_t old = pmu->pmccntr;
	uint64_t count = cycles;

	if (divides(pmu)) {
		const uint64_t rest = pmu->cycle_residue + cycles % DIVIDER;

		count = cycles / DIVIDER + rest / DIVIDER;
		pmu->cycle_residue = rest % DIVIDER;
	}
	pmu->pmccntr = old + count;
	if (pmu->pmcr & PMCR_LC)
		return count > UINT64_MAX - old;
	return count > UINT32_MAX - (uint32_t)old;
}

void pmuv3_advance(struct pmuv3 *pmu, const struct pmuv3_step *step)
{
	const uint32_t counting = pmu->counting[step->el != 0];
	uint32_t wrapped = 0;

	for (uint32_t left = counting & ~CYCLE_BIT; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left);

		wrapped |= add_events(pmu, n, pmu->event[n]->count(step)) << n;
	}
	if (counting & CYCLE_BIT)
		wrapped |= add_cycles(pmu, step->cycles) << PMUV3_CYCLE;
	if (wrapped)
		raise_wraps(pmu, wrapped);
}

/* Cycles until the cycle counter's flag rises; UINT64_MAX for 2^64. */
static uint64_t cycles_to_wrap(const struct pmuv3 *pmu)
{
	if (pmu->pmcr & PMCR_LC)
		return pmu->pmccntr ? -pmu->pmccntr : UINT64_MAX;

	const uint64_t count = (UINT64_C(1) << 32) - (uint32_t)pmu->pmccntr;

	return divides(pmu) ? count * DIVIDER - pmu->cycle_residue : count;
}

static uint64_t earlier(uint64_t near, uint64_t distance, uint64_t rate)
{
	uint64_t insns;

	if (!rate)
		return near;
	/* rounded up without overflow: distance is never 0 */
	insns = rate == 1 ? distance : (distance - 1) / rate + 1;
	return insns < near ? insns : near;
}

uint64_t pmuv3_deadline(const struct pmuv3 *pmu, unsigned el, unsigned cycles_per_insn)
{
	const struct pmuv3_step one = {.insns = 1, .cycles = cycles_per_insn, .el = el};
	const uint32_t counting = pmu->counting[el != 0];
	uint64_t near = UINT64_MAX;

	for (uint32_t left = counting & ~CYCLE_BIT; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left);

		near = earlier(near, (UINT64_C(1) << 32) - pmu->pmevcntr[n],
			       pmu->event[n]->count(&one));
	}
	if (counting & CYCLE_BIT)
		near = earlier(near, cycles_to_wrap(pmu), cycles_per_insn);
	return near;
}

int pmuv3_inject(struct pmuv3 *pmu, unsigned counter, uint64_t n, unsigned el, bool force)
{
	uint32_t wrapped;

	if (counter != PMUV3_CYCLE && counter >= pmu->config.counters)
		return -EINVAL;
	emit(pmu, TRACE_INJECT, counter, n);
	if (!force && !enabled(pmu, counter, el))
		return 0;
	wrapped =
		counter == PMUV3_CYCLE ? add_cycles(pmu, n) : add_events(pmu, counter, n);
	raise_wraps(pmu, wrapped << counter);
	return 0;
}

/* -- registers ------------------------------------------------------------ */

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

	if (value & PMCR_P)
		memset(pmu->pmevcntr, 0, sizeof(pmu->pmevcntr));
	if (value & PMCR_C) {
		pmu->pmccntr = 0;
		pmu->cycle_residue = 0;
	}
	pmu->pmcr = value & PMCR_KEPT;
	recompute_counting(pmu);
	update(pmu);
}

static void write_pmcntenset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pmcnten |= value & counter_bits(pmu);
	recompute_counting(pmu);
}

static void write_pmcntenclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pmcnten &= ~value;
	recompute_counting(pmu);
}

static void write_pmintenset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pminten |= value & counter_bits(pmu);
	update(pmu);
}

static void write_pmintenclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pminten &= ~value;
	update(pmu);
}

static void write_pmovsset(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	set_flags(pmu, pmu->pmovs | (value & counter_bits(pmu)));
}

static void write_pmovsclr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	set_flags(pmu, pmu->pmovs & ~value);
}

/* One event for each named counter that counts SW_INCR and is on at the
 * writer's level. */
static void write_pmswinc(void *dev, unsigned index, uint64_t value, unsigned el)
{
	struct pmuv3 *pmu = dev;
	uint32_t wrapped = 0;

	for (unsigned n = 0; n < pmu->config.counters; n++) {
		if (!(value >> n & 1) || !pmu->event[n] ||
		    pmu->event[n]->number != EVENT_SW_INCR || !enabled(pmu, n, el))
			continue;
		wrapped |= add_events(pmu, n, 1) << n;
	}
	raise_wraps(pmu, wrapped);
}

static void set_typer(struct pmuv3 *pmu, unsigned n, uint64_t value)
{
	pmu->pmevtyper[n] = value & TYPER_WRITABLE;
	pmu->event[n] = implemented(pmu, value & FILTER_EVENT);
	recompute_counting(pmu);
}

static void write_pmevtyper(void *dev, unsigned index, uint64_t value)
{
	set_typer(dev, index, value);
}

static void write_pmccfiltr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	pmu->pmccfiltr = value & CCFILTR_WRITABLE;
	recompute_counting(pmu);
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
		set_typer(pmu, (unsigned)pmu->pmselr, value);
}

/* SEL = 31 is not the cycle counter here: RAZ/WI like any other SEL >= N. */
static uint64_t read_pmxevcntr(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	return pmu->pmselr < pmu->config.counters ? pmu->pmevcntr[pmu->pmselr] : 0;
}

static void write_pmxevcntr(void *dev, unsigned index, uint64_t value)
{
	struct pmuv3 *pmu = dev;

	if (pmu->pmselr < pmu->config.counters)
		pmu->pmevcntr[pmu->pmselr] = value;
}

static int counter_present(void *dev, unsigned index)
{
	const struct pmuv3 *pmu = dev;

	return index < pmu->config.counters;
}

/* What PMUSERENR_EL0 lets through at EL0 without EN. */

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

#define STATE(field) .offset = offsetof(struct pmuv3, field)
#define ALL32 UINT64_C(0xffffffff)
#define ALL64 UINT64_MAX

/* clang-format off */
static const struct sysreg_desc rows[] = {
	{ .name = "pmintenset_el1", .enc = SYSREG(3, 0, 9, 14, 1), .count = 1, .el = 1,
	  .kind = SYSREG_W1S, .writable = ALL32, STATE(pminten), .write = write_pmintenset },
	{ .name = "pmintenclr_el1", .enc = SYSREG(3, 0, 9, 14, 2), .count = 1, .el = 1,
	  .kind = SYSREG_W1C, .writable = ALL32, STATE(pminten), .write = write_pmintenclr },
	{ .name = "pmcr_el0", .enc = SYSREG(3, 3, 9, 12, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = PMCR_KEPT | PMCR_P | PMCR_C, STATE(pmcr),
	  .read = read_pmcr, .write = write_pmcr, .el0 = el0_en },
	{ .name = "pmcntenset_el0", .enc = SYSREG(3, 3, 9, 12, 1), .count = 1,
	  .kind = SYSREG_W1S, .writable = ALL32, STATE(pmcnten),
	  .write = write_pmcntenset, .el0 = el0_en },
	{ .name = "pmcntenclr_el0", .enc = SYSREG(3, 3, 9, 12, 2), .count = 1,
	  .kind = SYSREG_W1C, .writable = ALL32, STATE(pmcnten),
	  .write = write_pmcntenclr, .el0 = el0_en },
	{ .name = "pmovsclr_el0", .enc = SYSREG(3, 3, 9, 12, 3), .count = 1,
	  .kind = SYSREG_W1C, .writable = ALL32, STATE(pmovs),
	  .write = write_pmovsclr, .el0 = el0_en },
	{ .name = "pmswinc_el0", .enc = SYSREG(3, 3, 9, 12, 4), .count = 1,
	  .kind = SYSREG_WO, .writable = ALL32 & ~UINT64_C(0x80000000),
	  .write_at = write_pmswinc, .el0 = el0_pmswinc },
	{ .name = "pmselr_el0", .enc = SYSREG(3, 3, 9, 12, 5), .count = 1,
	  .kind = SYSREG_RW, .writable = 0x1f, STATE(pmselr), .el0 = el0_pmselr },
	{ .name = "pmceid0_el0", .enc = SYSREG(3, 3, 9, 12, 6), .count = 1,
	  .kind = SYSREG_RO, STATE(pmceid[0]), .el0 = el0_en },
	{ .name = "pmceid1_el0", .enc = SYSREG(3, 3, 9, 12, 7), .count = 1,
	  .kind = SYSREG_RO, STATE(pmceid[1]), .el0 = el0_en },
	{ .name = "pmccntr_el0", .enc = SYSREG(3, 3, 9, 13, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = ALL64, STATE(pmccntr), .el0 = el0_pmccntr },
	{ .name = "pmxevtyper_el0", .enc = SYSREG(3, 3, 9, 13, 1), .count = 1,
	  .kind = SYSREG_RW, .writable = TYPER_WRITABLE | CCFILTR_WRITABLE,
	  .read = read_pmxevtyper, .write = write_pmxevtyper, .el0 = el0_en },
	{ .name = "pmxevcntr_el0", .enc = SYSREG(3, 3, 9, 13, 2), .count = 1,
	  .kind = SYSREG_RW, .writable = ALL32,
	  .read = read_pmxevcntr, .write = write_pmxevcntr, .el0 = el0_pmevcntr },
	{ .name = "pmuserenr_el0", .enc = SYSREG(3, 3, 9, 14, 0), .count = 1,
	  .kind = SYSREG_RW, .writable = 0xf, STATE(pmuserenr), .el0 = el0_pmuserenr },
	{ .name = "pmovsset_el0", .enc = SYSREG(3, 3, 9, 14, 3), .count = 1,
	  .kind = SYSREG_W1S, .writable = ALL32, STATE(pmovs),
	  .write = write_pmovsset, .el0 = el0_en },
	{ .name = "pmevcntr<n>_el0", .enc = SYSREG(3, 3, 14, 8, 0),
	  .count = PMUV3_MAX_COUNTERS, .kind = SYSREG_RW, .writable = ALL32,
	  STATE(pmevcntr), .present = counter_present, .el0 = el0_pmevcntr },
	{ .name = "pmevtyper<n>_el0", .enc = SYSREG(3, 3, 14, 12, 0),
	  .count = PMUV3_MAX_COUNTERS, .kind = SYSREG_RW, .writable = TYPER_WRITABLE,
	  STATE(pmevtyper), .write = write_pmevtyper, .present = counter_present,
	  .el0 = el0_en },
	{ .name = "pmccfiltr_el0", .enc = SYSREG(3, 3, 14, 15, 7), .count = 1,
	  .kind = SYSREG_RW, .writable = CCFILTR_WRITABLE, STATE(pmccfiltr),
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

/* -- life ----------------------------------------------------------------- */

/* Junk that a driver must survive: all counters on, armed and overflowed, about
 * to wrap, of every type; the cycle counter divided and flagged at bit 31. */
static void poison(struct pmuv3 *pmu)
{
	pmu->pmcr = PMCR_D | PMCR_DP | PMCR_X;
	pmu->pmcnten = counter_bits(pmu);
	pmu->pminten = counter_bits(pmu);
	pmu->pmselr = 0x15;
	pmu->pmuserenr = 0xa;
	pmu->pmccntr = UINT64_C(0xdeadbeeffffffff0);
	pmu->pmccfiltr = FILTER_P & CCFILTR_WRITABLE;
	pmu->cycle_residue = 0x2a;
	for (unsigned n = 0; n < pmu->config.counters; n++) {
		const unsigned nevents = pmu->config.nevents;

		pmu->pmevcntr[n] = UINT64_C(0xfffffff0) + n % 16;
		set_typer(pmu, n,
			  (nevents ? pmu->config.events[n % nevents] : 0x3ffu) |
				  (n & 1 ? FILTER_U : 0));
	}
}

void pmuv3_reset(struct pmuv3 *pmu)
{
	pmu->pmcr = 0;
	pmu->pmcnten = 0;
	pmu->pminten = 0;
	pmu->pmselr = 0;
	pmu->pmuserenr = 0;
	pmu->pmccntr = 0;
	pmu->pmccfiltr = 0;
	pmu->cycle_residue = 0;
	memset(pmu->pmevcntr, 0, sizeof(pmu->pmevcntr));
	for (unsigned n = 0; n < pmu->config.counters; n++)
		set_typer(pmu, n, 0);
	if (pmu->config.poison_reset)
		poison(pmu);
	recompute_counting(pmu);
	set_flags(pmu, pmu->config.poison_reset ? counter_bits(pmu) : 0);
}

int pmuv3_init(struct pmuv3 *pmu, const struct pmuv3_config *config, struct irq_line line,
	       struct trace_bus *bus)
{
	if (config->counters > PMUV3_MAX_COUNTERS)
		return -EINVAL;
	for (unsigned i = 0; i < config->nevents; i++)
		if (!find_event(config->events[i]))
			return -EINVAL;

	memset(pmu, 0, sizeof(*pmu));
	pmu->config = *config;
	pmu->line = line;
	pmu->bus = bus;
	compute_pmceid(pmu);
	pmuv3_reset(pmu);
	return 0;
}
