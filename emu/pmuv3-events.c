/* SPDX-License-Identifier: MIT */
/*
 * The events, one row each, with the choices that the manual leaves made in the
 * rule (Arm ARM, D13.12 "PMU events and event numbers", before FEAT_PMUv3p9).
 * What class an instruction is stands in emu/insn.h.
 */
#include "emu/pmuv3-priv.h"

#include <stddef.h>
#include <string.h>

#define SIG(name) PMUV3_SIG_##name
#define CACHE "cache"
#define PREDICTOR "predictor"
#define TIMING "timing"

/* clang-format off */
static const struct pmuv3_event_desc events[] = {
	{ EVENT_SW_INCR, PMUV3_SIGNALS, "SW_INCR",
	  "a write of one to the counter's bit of PMSWINC_EL0", NULL },
	{ 0x01, SIG(L1I_REFILL), "L1I_CACHE_REFILL",
	  "a line brought into the level 1 instruction cache for a fetch", CACHE },
	{ 0x03, SIG(L1D_REFILL), "L1D_CACHE_REFILL",
	  "a line brought into the level 1 data cache for an access", CACHE },
	{ 0x04, SIG(L1D), "L1D_CACHE",
	  "a line of the level 1 data cache looked up for an access; an access across "
	  "two lines is two", CACHE },
	{ 0x06, SIG(LD), "LD_RETIRED",
	  "an instruction executed that reads memory, an atomic one too; not PRFM", NULL },
	{ 0x07, SIG(ST), "ST_RETIRED",
	  "an instruction executed that writes memory, an atomic one and DC ZVA too; not "
	  "a store-exclusive that fails", NULL },
	{ 0x08, SIG(INSN), "INST_RETIRED",
	  "an instruction architecturally executed; SVC counts, an instruction that "
	  "faults does not", NULL },
	{ 0x09, SIG(EXC_TAKEN), "EXC_TAKEN",
	  "an exception taken, of any kind, at the level that it leaves", NULL },
	{ 0x0a, SIG(EXC_RETURN), "EXC_RETURN",
	  "an ERET executed, at the level that it leaves", NULL },
	{ 0x0b, SIG(CID_WRITE), "CID_WRITE_RETIRED",
	  "an MSR to CONTEXTIDR_EL1 executed", NULL },
	{ 0x0c, SIG(PC_WRITE), "PC_WRITE_RETIRED",
	  "a branch or ERET executed that is taken; not SVC and its like, not ISB", NULL },
	{ 0x0d, SIG(BR_IMMED), "BR_IMMED_RETIRED",
	  "an immediate branch executed, taken or not", NULL },
	{ 0x0e, SIG(BR_RETURN), "BR_RETURN_RETIRED", "a RET executed; not ERET", NULL },
	{ 0x0f, SIG(UNALIGNED), "UNALIGNED_LDST_RETIRED",
	  "a load or store executed whose address an alignment check would refuse", NULL },
	{ 0x10, SIG(BR_MIS_PRED), "BR_MIS_PRED",
	  "a branch executed that was predicted wrong or not at all", PREDICTOR },
	{ 0x11, SIG(CYCLE), "CPU_CYCLES", "a cycle of the CPU", NULL },
	{ 0x12, SIG(BR_PRED), "BR_PRED",
	  "a branch executed that a predictor may predict, taken or not; not ERET", PREDICTOR },
	{ 0x13, SIG(MEM), "MEM_ACCESS",
	  "a data access of one register's worth, or of the pair of LDXP, STXP and CASP; "
	  "LDP is two", NULL },
	{ 0x14, SIG(L1I), "L1I_CACHE",
	  "a line of the level 1 instruction cache looked up for a fetch", CACHE },
	{ 0x1b, SIG(INST_SPEC), "INST_SPEC",
	  "an instruction started, also one that then faults; nothing is started on a "
	  "path that is not taken", NULL },
	{ 0x1d, SIG(BUS_CYCLES), "BUS_CYCLES", "a cycle of the bus", TIMING },
	{ EVENT_CHAIN, PMUV3_SIGNALS, "CHAIN",
	  "on an odd counter: a wrap of bits 31:0 of the even one below; none under "
	  "PMCR_EL0.LP, none on an even counter", NULL },
	{ 0x21, SIG(BR), "BR_RETIRED", "a branch or ERET executed, taken or not", NULL },
	{ 0x23, SIG(STALL_FRONTEND), "STALL_FRONTEND",
	  "a cycle without an instruction because none was fetched", TIMING },
	{ 0x24, SIG(STALL_BACKEND), "STALL_BACKEND",
	  "a cycle without an instruction because the one before is not done", TIMING },
};

/* Of one instruction. A structure load makes four accesses, each over two lines;
 * an SVC can be followed by another exception before anything else retires. */
static const uint8_t most[PMUV3_SIGNALS] = {
	[SIG(INSN)] = 1,
	[SIG(LD)] = 1,
	[SIG(ST)] = 1,
	[SIG(UNALIGNED)] = 1,
	[SIG(BR_IMMED)] = 1,
	[SIG(BR_RETURN)] = 1,
	[SIG(BR)] = 1,
	[SIG(PC_WRITE)] = 1,
	[SIG(EXC_TAKEN)] = 2,
	[SIG(EXC_RETURN)] = 1,
	[SIG(CID_WRITE)] = 1,
	[SIG(MEM)] = 4,
	[SIG(L1I)] = 1,
	[SIG(L1I_REFILL)] = 1,
	[SIG(L1D)] = 8,
	[SIG(L1D_REFILL)] = 8,
	[SIG(BR_PRED)] = 1,
	[SIG(BR_MIS_PRED)] = 1,
	[SIG(INST_SPEC)] = 1,
	/* CYCLE, STALL_*, BUS_CYCLES: the instruction's cycles */
};
/* clang-format on */

#define NEVENTS (sizeof(events) / sizeof(events[0]))
_Static_assert(NEVENTS <= PMUV3_MAX_EVENTS, "pmu->implemented is too narrow");

const struct pmuv3_event_desc *pmuv3_events(unsigned *n)
{
	*n = NEVENTS;
	return events;
}

unsigned pmuv3_signal_max(enum pmuv3_signal signal)
{
	return most[signal];
}

const struct pmuv3_event_desc *pmuv3_event_find(uint64_t number)
{
	unsigned low = 0, high = NEVENTS;

	while (low < high) {
		const unsigned mid = (low + high) / 2;

		if (events[mid].number == number)
			return &events[mid];
		if (events[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* PMCEID0 holds events 0..31, PMCEID1 32..63; from p1 on their upper halves hold
 * 0x4000..0x401f and 0x4020..0x403f. */
void pmuv3_pmceid(const uint16_t *numbers, unsigned n, enum pmuv3_version version,
		  uint64_t pmceid[2])
{
	pmceid[0] = 0;
	pmceid[1] = 0;
	for (unsigned i = 0; i < n; i++) {
		const unsigned number = numbers[i], low = number & 0x3f;

		if (number == low)
			pmceid[low / 32] |= UINT64_C(1) << low % 32;
		else if (number == (0x4000 | low) && version >= PMUV3_P1)
			pmceid[low / 32] |= UINT64_C(1) << (32 + low % 32);
	}
}

/* -- versions -------------------------------------------------------------- */

static const struct {
	enum pmuv3_version version;
	const char *name;
} versions[] = {
	{PMUV3_P0, "p0"}, {PMUV3_P1, "p1"}, {PMUV3_P4, "p4"},
	{PMUV3_P5, "p5"}, {PMUV3_P7, "p7"},
};

const char *pmuv3_version_name(enum pmuv3_version version)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == version)
			return versions[i].name;
	return NULL;
}

int pmuv3_version_from_name(const char *name)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strcmp(versions[i].name, name))
			return (int)versions[i].version;
	return -1;
}
