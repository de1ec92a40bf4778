/* SPDX-License-Identifier: MIT */
/* uint64_t fn(uint64_t, uint64_t) for each register of pmu-regs.h, two
 * instructions each: its MRS, and its MSR of the first argument. */
#include "corpus/bare/pmu-regs.h"

	.text
	.balign	8
	.globl pmu_read_stubs
pmu_read_stubs:
#define REG(name, crn, crm, op2) mrs x0, S3_3_C##crn##_C##crm##_##op2 ; ret ;
#define REG1(name, crn, crm, op2) mrs x0, S3_0_C##crn##_C##crm##_##op2 ; ret ;
	PMU_REGS
#undef REG
#undef REG1
	.globl pmu_write_stubs
pmu_write_stubs:
#define REG(name, crn, crm, op2) msr S3_3_C##crn##_C##crm##_##op2, x0 ; ret ;
#define REG1(name, crn, crm, op2) msr S3_0_C##crn##_C##crm##_##op2, x0 ; ret ;
	PMU_REGS
