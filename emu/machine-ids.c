/* SPDX-License-Identifier: MIT */
#include "emu/machine-ids.h"

#include <string.h>

enum {
	DEBUG_ARMV8 = 6,
	BREAKPOINTS = 6,
	WATCHPOINTS = 4,
	CONTEXT_BREAKPOINTS = 2,
	CPUS_PER_CLUSTER = 16,
};

#define MPIDR_RES1 (UINT64_C(1) << 31)
#define OSLSR_OSLM (UINT64_C(1) << 3) /* the OS lock exists */
#define OSLSR_OSLK (UINT64_C(1) << 1)

void machine_ids_init(struct machine_ids *ids, unsigned id, enum pmuv3_version version)
{
	memset(ids, 0, sizeof(*ids));
	ids->mpidr = MPIDR_RES1 | id / CPUS_PER_CLUSTER << 8 | id % CPUS_PER_CLUSTER;
	ids->dfr0 = DEBUG_ARMV8 | (uint64_t)version << 8 |
		    (uint64_t)(BREAKPOINTS - 1) << 12 | (uint64_t)(WATCHPOINTS - 1) << 20 |
		    (uint64_t)(CONTEXT_BREAKPOINTS - 1) << 28;
	ids->oslock = OSLSR_OSLM | OSLSR_OSLK;
}

static void write_oslar(void *dev, unsigned index, uint64_t value)
{
	struct machine_ids *ids = dev;

	(void)index;
	ids->oslock = OSLSR_OSLM | (value & 1 ? OSLSR_OSLK : 0);
}

/* The debug registers: numbers in CRm, the kind in op2. */
#define DEBUG_ROW(n, op, field)                                                        \
	{                                                                              \
		.name = "dbg" #field #n "_el1", .enc = SYSREG(2, 0, 0, n, op),          \
		.count = 1, .el = 1, .kind = SYSREG_RW, .writable = UINT64_MAX,         \
		.offset = offsetof(struct machine_ids, field[n]),                       \
	}

/* clang-format off */
static const struct sysreg_desc rows[] = {
	DEBUG_ROW(0, 4, bvr), DEBUG_ROW(0, 5, bcr), DEBUG_ROW(0, 6, wvr), DEBUG_ROW(0, 7, wcr),
	DEBUG_ROW(1, 4, bvr), DEBUG_ROW(1, 5, bcr), DEBUG_ROW(1, 6, wvr), DEBUG_ROW(1, 7, wcr),
	{ .name = "mdccint_el1", .enc = SYSREG(2, 0, 0, 2, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 3 << 29, .offset = offsetof(struct machine_ids, mdccint) },
	{ .name = "mdscr_el1", .enc = SYSREG(2, 0, 0, 2, 2), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = UINT32_MAX, .offset = offsetof(struct machine_ids, mdscr) },
	DEBUG_ROW(2, 4, bvr), DEBUG_ROW(2, 5, bcr), DEBUG_ROW(2, 6, wvr), DEBUG_ROW(2, 7, wcr),
	DEBUG_ROW(3, 4, bvr), DEBUG_ROW(3, 5, bcr), DEBUG_ROW(3, 6, wvr), DEBUG_ROW(3, 7, wcr),
	DEBUG_ROW(4, 4, bvr), DEBUG_ROW(4, 5, bcr),
	DEBUG_ROW(5, 4, bvr), DEBUG_ROW(5, 5, bcr),
	{ .name = "oslar_el1", .enc = SYSREG(2, 0, 1, 0, 4), .count = 1, .el = 1,
	  .kind = SYSREG_WO, .writable = 1, .offset = offsetof(struct machine_ids, oslock),
	  .write = write_oslar },
	{ .name = "oslsr_el1", .enc = SYSREG(2, 0, 1, 1, 4), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .offset = offsetof(struct machine_ids, oslock) },
	{ .name = "osdlr_el1", .enc = SYSREG(2, 0, 1, 3, 4), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = 1, .offset = offsetof(struct machine_ids, osdlr) },
	{ .name = "mpidr_el1", .enc = SYSREG(3, 0, 0, 0, 5), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .offset = offsetof(struct machine_ids, mpidr) },
	{ .name = "id_aa64dfr0_el1", .enc = SYSREG(3, 0, 0, 5, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RO, .offset = offsetof(struct machine_ids, dfr0) },
};
/* clang-format on */

struct sysreg_block machine_ids_sysregs(struct machine_ids *ids)
{
	return (struct sysreg_block){ rows, sizeof(rows) / sizeof(rows[0]), ids };
}
