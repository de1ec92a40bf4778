/* SPDX-License-Identifier: MIT */
#include "emu/debug.h"

#include <string.h>

#include "emu/insn.h"

enum {
	MDSCR_SS = 1 << 0,
	MDSCR_MDE = 1 << 15,
	OSLK = 1 << 1,
	ENABLED = 1 << 0,
	AT_EL0 = 1 << 2, /* PMC<1>, PAC<1> */
	MATCH_LOAD = 1,
	MATCH_STORE = 2,
	EC_BREAKPOINT_LOWER = 0x30,
	EC_WATCHPOINT_LOWER = 0x34,
	FSC_DEBUG = 0x22,
	WNR = 1 << 6,
	SMALLEST_MASK = 3,
};

#define ESR_IL	 (UINT64_C(1) << 25)
#define STEP_ISV (UINT64_C(1) << 24)
#define SPSR_SS	 (UINT64_C(1) << 21)

static const uint32_t reg_spsr_el1 = SYSREG(3, 0, 4, 0, 0);

/* BT or WT 0: by an address, linked to nothing. */
static bool matches_el0(uint64_t control)
{
	return control & ENABLED && control & AT_EL0 && !(control >> 20 & 15);
}

static bool has_points(const struct machine_ids *ids)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < sizeof(ids->bcr) / sizeof(ids->bcr[0]); i++)
		any |= ids->bcr[i];
	for (unsigned i = 0; i < sizeof(ids->wcr) / sizeof(ids->wcr[0]); i++)
		any |= ids->wcr[i];
	return any & ENABLED;
}

bool debug_armed(const struct machine *m)
{
	const struct machine_ids *ids = &m->current->ids;

	if (!(ids->mdscr & (MDSCR_SS | MDSCR_MDE)) || ids->oslock & OSLK ||
	    cpu_el(m->core))
		return false;
	return ids->mdscr & MDSCR_SS || has_points(ids);
}

void debug_returned(struct machine *m)
{
	uint64_t spsr = 0;

	m->current->ss = false;
	if (debug_armed(m) && cpu_sysreg_read(m->core, reg_spsr_el1, &spsr))
		m->current->ss = spsr & SPSR_SS;
}

void debug_entered(struct machine *m)
{
	uint64_t spsr = 0;

	if (m->current->ss && cpu_sysreg_read(m->core, reg_spsr_el1, &spsr))
		cpu_sysreg_write(m->core, reg_spsr_el1, spsr | SPSR_SS);
	m->current->ss = false;
}

/* -- what matches ----------------------------------------------------------- */

static uint64_t syndrome(unsigned ec, uint64_t iss)
{
	return (uint64_t)ec << CPU_EC_SHIFT | ESR_IL | FSC_DEBUG | iss;
}

static bool breaks(const struct machine_ids *ids, uint64_t pc)
{
	for (unsigned i = 0; i < sizeof(ids->bcr) / sizeof(ids->bcr[0]); i++)
		if (matches_el0(ids->bcr[i]) && (ids->bvr[i] & ~UINT64_C(3)) == pc)
			return true;
	return false;
}

/* The lowest of the @n bytes at @va that watchpoint @i is about: MASK makes it a
 * power of two of bytes, else BAS picks bytes of a doubleword. */
static bool touches(const struct machine_ids *ids, unsigned i, uint64_t va, uint64_t n,
		    uint64_t *at)
{
	const unsigned mask = ids->wcr[i] >> 24 & 31, bas = ids->wcr[i] >> 5 & 255;
	const uint64_t low = mask >= SMALLEST_MASK ? (UINT64_C(1) << mask) - 1 : 3;
	const uint64_t base = ids->wvr[i] & ~low;

	for (*at = va; *at - va < n; ++*at) {
		if (mask >= SMALLEST_MASK && (*at & ~low) == base)
			return true;
		if (mask < SMALLEST_MASK && *at - base < 8 && bas >> (*at - base) & 1)
			return true;
	}
	return false;
}

static bool watches(const struct machine_ids *ids, const struct insn_access *access,
		    uint64_t va, struct cpu_exception *exc)
{
	const uint64_t n = access->size * (uint64_t)(access->reads > access->writes ?
							     access->reads :
							     access->writes);

	for (unsigned i = 0; i < sizeof(ids->wcr) / sizeof(ids->wcr[0]); i++) {
		const unsigned lsc = ids->wcr[i] >> 3 & 3;
		const bool load = access->reads && lsc & MATCH_LOAD;
		const bool store = access->writes && lsc & MATCH_STORE;

		if (!matches_el0(ids->wcr[i]) || !(load || store) ||
		    !touches(ids, i, va, n, &exc->far))
			continue;
		exc->esr = syndrome(EC_WATCHPOINT_LOWER, load ? 0 : WNR);
		return true;
	}
	exc->far = 0;
	return false;
}

static uint64_t general(void *core, unsigned n, bool sp)
{
	if (n == 31)
		return sp ? cpu_sp(core) : 0;
	return cpu_x(core, n);
}

/* The data access of the instruction at @pc; false: none, or it will fault. */
static bool access_at(struct machine *m, uint64_t pc, struct insn_access *access,
		      uint64_t *va)
{
	const void *from;
	uint32_t word;
	uint64_t pa;

	if (!cpu_translate(m->core, pc, &pa))
		return false;
	from = machine_ram(m, pa, sizeof(word));
	if (!from)
		return false;
	memcpy(&word, from, sizeof(word));
	*access = insn_access(word);
	*va = insn_address(word, pc, general, m->core);
	return access->size && cpu_translate(m->core, *va, &pa);
}

bool debug_due(struct machine *m)
{
	const struct machine_ids *ids = &m->current->ids;
	const uint64_t pc = cpu_pc(m->core);
	struct cpu_exception exc = { .target = 1, .elr = pc };
	struct insn_access access;
	uint64_t va;

	if (!debug_armed(m))
		return false;
	if (ids->mdscr & MDSCR_SS && !m->current->ss)
		exc.esr = syndrome(CPU_EC_STEP_LOWER, STEP_ISV);
	else if (ids->mdscr & MDSCR_MDE && breaks(ids, pc))
		exc.esr = syndrome(EC_BREAKPOINT_LOWER, 0);
	else if (!(ids->mdscr & MDSCR_MDE) || !access_at(m, pc, &access, &va) ||
		 !watches(ids, &access, va, &exc))
		return false;
	m->exc = exc;
	return true;
}
