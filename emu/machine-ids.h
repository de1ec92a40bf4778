/* SPDX-License-Identifier: MIT */
/* Identification and debug registers of one CPU, as system register rows. */
#ifndef PMULAB_EMU_MACHINE_IDS_H
#define PMULAB_EMU_MACHINE_IDS_H

#include "emu/machine.h"

/* MPIDR_EL1 of CPU @id, ID_AA64DFR0_EL1 with PMUVer @version. */
void machine_ids_init(struct machine_ids *ids, unsigned id, enum pmuv3_version version);

struct sysreg_block machine_ids_sysregs(struct machine_ids *ids);

#endif
