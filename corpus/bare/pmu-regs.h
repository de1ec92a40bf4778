/* SPDX-License-Identifier: MIT */
/*
 * Every PMUv3 register that AArch64 has without EL2, REG(name, CRn, CRm, op2) for
 * those under op1 = 3, REG1 for op1 = 0. For C and for the assembler.
 */
#define PMU_REGS                                                    \
	REG1(pmintenset_el1, 9, 14, 1)                              \
	REG1(pmintenclr_el1, 9, 14, 2)                              \
	REG1(pmmir_el1, 9, 14, 6)                                   \
	REG(pmcr_el0, 9, 12, 0)                                     \
	REG(pmcntenset_el0, 9, 12, 1)                               \
	REG(pmcntenclr_el0, 9, 12, 2)                               \
	REG(pmovsclr_el0, 9, 12, 3)                                 \
	REG(pmswinc_el0, 9, 12, 4)                                  \
	REG(pmselr_el0, 9, 12, 5)                                   \
	REG(pmceid0_el0, 9, 12, 6)                                  \
	REG(pmceid1_el0, 9, 12, 7)                                  \
	REG(pmccntr_el0, 9, 13, 0)                                  \
	REG(pmxevtyper_el0, 9, 13, 1)                               \
	REG(pmxevcntr_el0, 9, 13, 2)                                \
	REG(pmuserenr_el0, 9, 14, 0)                                \
	REG(pmovsset_el0, 9, 14, 3)                                 \
	REG(pmccfiltr_el0, 14, 15, 7)                               \
	REG8(pmevcntr0_el0, 8, 0) REG8(pmevcntr8_el0, 9, 8)         \
	REG8(pmevcntr16_el0, 10, 16) REG7(pmevcntr24_el0, 11, 24)   \
	REG8(pmevtyper0_el0, 12, 0) REG8(pmevtyper8_el0, 13, 8)     \
	REG8(pmevtyper16_el0, 14, 16) REG7(pmevtyper24_el0, 15, 24)

/* The eight registers of one CRm, or the seven before PMCCFILTR's place. */
#define REG7(name, crm, n)                                          \
	REG(name, 14, crm, 0) REG(name, 14, crm, 1) REG(name, 14, crm, 2) \
	REG(name, 14, crm, 3) REG(name, 14, crm, 4) REG(name, 14, crm, 5) \
	REG(name, 14, crm, 6)
#define REG8(name, crm, n) REG7(name, crm, n) REG(name, 14, crm, 7)
