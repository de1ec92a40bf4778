/* SPDX-License-Identifier: MIT */
/*
 * Counting, flags and the line. Registers are in pmuv3-regs.c, events in
 * pmuv3-events.c.
 */
#include "emu/pmuv3-priv.h"

#include <errno.h>

#define DIVIDER 64u

/* -- flags and the line --------------------------------------------------- */

uint64_t pmuv3_counter_bits(const struct pmuv3 *pmu)
{
	return CYCLE_BIT | ((UINT64_C(1) << pmu->config.counters) - 1);
}

static void emit(struct pmuv3 *pmu, enum trace_kind kind, uint64_t a, uint64_t b)
{
	trace_emit(pmu->bus, pmu->config.cpu, kind, a, b, 0);
}

void pmuv3_update(struct pmuv3 *pmu)
{
	const int level = (pmu->pmcr & PMCR_E) && (pmu->pmovs & pmu->pminten);

	if (level == pmu->level)
		return;
	pmu->level = level;
	emit(pmu, TRACE_LINE, PMUV3_INTID, (uint64_t)level);
	irq_line_set(&pmu->line, level);
}

/* Under FZO a flag is part of the configuration: it freezes and thaws. */
void pmuv3_set_flags(struct pmuv3 *pmu, uint64_t pmovs)
{
	const uint64_t rose = pmovs & ~pmu->pmovs;
	const uint64_t fell = pmu->pmovs & ~pmovs;
	const int freezes = (pmu->pmcr & PMCR_FZO) && (rose | fell);

	if (freezes)
		pmuv3_settle(pmu);
	pmu->pmovs = pmovs;
	if (freezes)
		pmuv3_regroup(pmu);
	if (fell)
		emit(pmu, TRACE_FLAG_CLEAR, fell, pmovs);
	if (rose)
		emit(pmu, TRACE_FLAG_SET, rose, pmovs);
	pmuv3_update(pmu);
}

/* Counters @wrapped at this instruction: first all wraps, counter by counter,
 * then their flags as one change, then the line. */
static void raise_wraps(struct pmuv3 *pmu, uint32_t wrapped)
{
	for (uint32_t left = wrapped; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left);

		trace_emit(pmu->bus, pmu->config.cpu, TRACE_WRAP, n,
			   n == PMUV3_CYCLE ? pmu->pmccntr : pmu->pmevcntr[n], pmu->pc);
	}
	if (wrapped)
		pmuv3_set_flags(pmu, pmu->pmovs | wrapped);
}

/* -- which counter counts, and where --------------------------------------- */

/*
 * FZO: a flag of any event counter stops all of them, and with DP the cycle
 * counter, whose own flag stops nothing (Arm ARM, "Freezing event counters").
 * The manual leaves open what of the overflowing instruction is still counted:
 * here all of it, CHAIN too.
 */
static int frozen(const struct pmuv3 *pmu, unsigned n)
{
	return (pmu->pmcr & PMCR_FZO) && (pmu->pmovs & ~(uint64_t)CYCLE_BIT) &&
	       (n != PMUV3_CYCLE || (pmu->pmcr & PMCR_DP));
}

/*
 * The levels, as struct pmuv3_group has them, at which a counter counts. Without
 * EL3 P alone decides at EL1 and U alone at EL0; NSK, NSU, NSH, M and MT have no
 * effect even where they are kept. Nothing prohibits counting without EL2 and
 * EL3, so PMCR_EL0.DP acts on a freeze only.
 */
static unsigned levels_of(const struct pmuv3 *pmu, unsigned n)
{
	const uint64_t filter = n == PMUV3_CYCLE ? pmu->pmccfiltr : pmu->pmevtyper[n];

	if (!(pmu->pmcr & PMCR_E) || !(pmu->pmcnten >> n & 1) || frozen(pmu, n))
		return 0;
	return (filter & FILTER_U ? 0 : 1u) | (filter & FILTER_P ? 0 : 2u);
}

static int counts_at(const struct pmuv3 *pmu, unsigned n, unsigned el)
{
	return levels_of(pmu, n) >> (el != 0) & 1;
}

static unsigned signal_of(const struct pmuv3 *pmu, unsigned n)
{
	if (n == PMUV3_CYCLE)
		return PMUV3_SIG_CYCLE;
	return pmu->event[n] ? pmu->event[n]->signal : PMUV3_SIGNALS;
}

static int has_event(const struct pmuv3 *pmu, unsigned n, unsigned number)
{
	return pmu->event[n] && pmu->event[n]->number == number;
}

/* PMCR_EL0.D is ignored while LC is set. */
static int divides(const struct pmuv3 *pmu)
{
	return (pmu->pmcr & (PMCR_D | PMCR_LC)) == PMCR_D;
}

/* Cycles or events until the counter's flag rises. */
static uint64_t room_of(const struct pmuv3 *pmu, unsigned n)
{
	const uint64_t value = n == PMUV3_CYCLE ? pmu->pmccntr : pmu->pmevcntr[n];
	uint64_t count;

	if (pmu->pmcr & (n == PMUV3_CYCLE ? PMCR_LC : PMCR_LP))
		return value ? -value : UINT64_MAX;
	count = (UINT64_C(1) << 32) - (value & LOW32);
	if (n == PMUV3_CYCLE && divides(pmu))
		return count * DIVIDER - pmu->cycle_residue;
	return count;
}

static void join_group(struct pmuv3 *pmu, unsigned n, unsigned signal, unsigned levels)
{
	const uint64_t room = room_of(pmu, n);
	struct pmuv3_group *group = pmu->group;
	struct pmuv3_group *const end = group + pmu->ngroups;

	while (group != end && (group->signal != signal || group->levels != levels))
		group++;
	if (group == end) {
		*group = (struct pmuv3_group){
			.room = room,
			.signal = (uint8_t)signal,
			.most = (uint8_t)pmuv3_signal_max(signal),
			.levels = (uint8_t)levels,
		};
		pmu->ngroups++;
	}
	group->members |= UINT32_C(1) << n;
	if (room < group->room)
		group->room = room;
}

void pmuv3_regroup(struct pmuv3 *pmu)
{
	pmu->ngroups = 0;
	pmu->signals = 0;
	if (!(pmu->pmcr & PMCR_E))
		return;
	for (uint32_t left = (uint32_t)pmu->pmcnten; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctz(left);
		const unsigned signal = signal_of(pmu, n), levels = levels_of(pmu, n);

		if (signal == PMUV3_SIGNALS || !levels)
			continue;
		join_group(pmu, n, signal, levels);
		pmu->signals |= UINT32_C(1) << signal;
	}
}

uint32_t pmuv3_signals(const struct pmuv3 *pmu)
{
	return pmu->signals;
}

/* -- counting -------------------------------------------------------------- */

/* How often the flag rose. From p5 on the counter goes on in 64 bits whatever LP
 * says: LP only chooses the bit (pseudocode IncrementEventCounter). */
static uint64_t add_events(struct pmuv3 *pmu, unsigned n, uint64_t count)
{
	const uint64_t old = pmu->pmevcntr[n];

	pmu->pmevcntr[n] = (old + count) & pmu->writable.cntr;
	if (pmu->pmcr & PMCR_LP)
		return old + count < old;
	return (count >> 32) + (((old & LOW32) + (count & LOW32)) >> 32);
}

/* The divider runs while the counter does; only PMCR_EL0.C restarts it (the
 * manual leaves its phase open). Without LC the flag rises when bits 31:0 wrap,
 * though the value runs on in 64 bits. */
static int add_cycles(struct pmuv3 *pmu, uint64_t cycles)
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

/* @count events, or cycles, on counter @n at @el, and what CHAIN makes of them
 * on the next one. The counters that wrapped, as PMOVS has them. */
static uint32_t count_on(struct pmuv3 *pmu, unsigned n, uint64_t count, unsigned el)
{
	uint64_t wraps;
	uint32_t wrapped = 0;

	if (n == PMUV3_CYCLE)
		return add_cycles(pmu, count) ? CYCLE_BIT : 0;
	wraps = add_events(pmu, n, count);
	if (!wraps)
		return 0;
	if (n % 2 == 0 && n + 1 < pmu->config.counters && !(pmu->pmcr & PMCR_LP) &&
	    has_event(pmu, n + 1, EVENT_CHAIN) && counts_at(pmu, n + 1, el) &&
	    add_events(pmu, n + 1, wraps))
		wrapped = UINT32_C(2) << n;
	return wrapped | UINT32_C(1) << n;
}

/* What is pending goes to its counters. */
static uint32_t spread(struct pmuv3 *pmu, unsigned el)
{
	uint32_t wrapped = 0;

	for (unsigned i = 0; i < pmu->ngroups; i++) {
		struct pmuv3_group *group = &pmu->group[i];

		if (!group->pending)
			continue;
		for (uint32_t left = group->members; left; left &= left - 1)
			wrapped |= count_on(pmu, (unsigned)__builtin_ctz(left),
					    group->pending, el);
		group->pending = 0;
	}
	return wrapped;
}

/* Nothing wraps here: advance() saw to each wrap when it came. */
void pmuv3_settle(struct pmuv3 *pmu)
{
	spread(pmu, 0);
}

static uint64_t events_of(const struct pmuv3_step *step, unsigned signal)
{
	if (signal == PMUV3_SIG_INSN)
		return step->insns;
	if (signal == PMUV3_SIG_CYCLE)
		return step->cycles;
	return step->signal ? step->signal[signal] : 0;
}

void pmuv3_advance(struct pmuv3 *pmu, const struct pmuv3_step *step)
{
	const unsigned here = 1u << (step->el != 0);
	int due = 0;

	for (unsigned i = 0; i < pmu->ngroups; i++) {
		struct pmuv3_group *group = &pmu->group[i];
		uint64_t count;

		if (!(group->levels & here))
			continue;
		count = events_of(step, group->signal);
		group->pending += count;
		if (count < group->room)
			group->room -= count;
		else
			due = 1;
	}
	if (!due)
		return;

	const uint32_t wrapped = spread(pmu, step->el);

	pmuv3_regroup(pmu);
	raise_wraps(pmu, wrapped);
}

void pmuv3_rooms(const struct pmuv3 *pmu, unsigned el, uint64_t room[PMUV3_SIGNALS])
{
	const unsigned here = 1u << (el != 0);

	for (unsigned i = 0; i < PMUV3_SIGNALS; i++)
		room[i] = UINT64_MAX;
	for (unsigned i = 0; i < pmu->ngroups; i++) {
		const struct pmuv3_group *group = &pmu->group[i];

		if (group->levels & here && group->room < room[group->signal])
			room[group->signal] = group->room;
	}
}

uint64_t pmuv3_room(const struct pmuv3 *pmu, unsigned el, uint32_t signals)
{
	const unsigned here = 1u << (el != 0);
	uint64_t near = UINT64_MAX;

	for (unsigned i = 0; i < pmu->ngroups; i++) {
		const struct pmuv3_group *group = &pmu->group[i];

		if (group->levels & here && signals >> group->signal & 1 &&
		    group->room < near)
			near = group->room;
	}
	return near;
}

/* The last instruction of those that may make @room events, at most @most each. */
static uint64_t instructions(uint64_t room, uint64_t most)
{
	return most == 1 ? room : (room - 1) / most + 1;
}

uint64_t pmuv3_deadline(const struct pmuv3 *pmu, unsigned el, unsigned cycles_per_insn)
{
	const unsigned here = 1u << (el != 0);
	uint64_t near = UINT64_MAX;

	for (unsigned i = 0; i < pmu->ngroups; i++) {
		const struct pmuv3_group *group = &pmu->group[i];
		const unsigned most = group->most ? group->most : cycles_per_insn;
		uint64_t insns;

		if (!(group->levels & here) || !most)
			continue;
		insns = instructions(group->room, most);
		if (insns < near)
			near = insns;
	}
	return near;
}

int pmuv3_inject(struct pmuv3 *pmu, unsigned counter, uint64_t n, unsigned el, bool force)
{
	uint32_t wrapped;

	if (counter != PMUV3_CYCLE && counter >= pmu->config.counters)
		return -EINVAL;
	emit(pmu, TRACE_INJECT, counter, n);
	if (!force && !counts_at(pmu, counter, el))
		return 0;
	pmuv3_settle(pmu);
	wrapped = count_on(pmu, counter, n, el);
	pmuv3_regroup(pmu);
	raise_wraps(pmu, wrapped);
	return 0;
}

/* One event for each named counter that counts SW_INCR and is on at the
 * writer's level. */
void pmuv3_software_increment(struct pmuv3 *pmu, uint64_t value, unsigned el)
{
	uint32_t wrapped = 0;

	for (unsigned n = 0; n < pmu->config.counters; n++)
		if ((value >> n & 1) && has_event(pmu, n, EVENT_SW_INCR) &&
		    counts_at(pmu, n, el))
			wrapped |= count_on(pmu, n, 1, el);
	raise_wraps(pmu, wrapped);
}
