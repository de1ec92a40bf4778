/* SPDX-License-Identifier: MIT */
/* hal.h's registers by number. MRS and MSR name theirs in the instruction, so
 * each has an instruction of its own here. */
#include "kernelcore/arm64/arm64.h"

/* The assembler's name of any register, S<op0>_<op1>_C<n>_C<m>_<op2>. */
#define NAME "S%c[op0]_%c[op1]_C%c[crn]_C%c[crm]_%c[op2]"
#define FIELDS(reg) \
	[op0] "i"((reg) >> 14 & 3), [op1] "i"((reg) >> 11 & 7), [crn] "i"((reg) >> 7 & 15), \
	[crm] "i"((reg) >> 3 & 15), [op2] "i"((reg) & 7)

#define READ(reg)                                                                    \
	case reg:                                                                    \
		__asm__ volatile("mrs %0, " NAME : "=r"(value) : FIELDS(reg) : "memory"); \
		return value;
#define WRITE(reg)                                                                   \
	case reg:                                                                    \
		__asm__ volatile("msr " NAME ", %0" : : "r"(value), FIELDS(reg) : "memory"); \
		return;

#define EACH_COUNTER(op, of)                                                         \
	op(of(0)) op(of(1)) op(of(2)) op(of(3)) op(of(4)) op(of(5)) op(of(6)) op(of(7)) \
	op(of(8)) op(of(9)) op(of(10)) op(of(11)) op(of(12)) op(of(13)) op(of(14))    \
	op(of(15)) op(of(16)) op(of(17)) op(of(18)) op(of(19)) op(of(20)) op(of(21))  \
	op(of(22)) op(of(23)) op(of(24)) op(of(25)) op(of(26)) op(of(27)) op(of(28))  \
	op(of(29)) op(of(30))

__attribute__((noreturn)) static void no_such_register(struct hal *hal, uint32_t reg)
{
	arm64_puts(hal, "kernelcore: no register by number ");
	arm64_puthex(hal, reg);
	arm64_puts(hal, "\n");
	arm64_exit(hal, 255);
}

uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg)
{
	uint64_t value;

	switch (reg) {
	READ(HAL_PMCR_EL0)
	READ(HAL_PMCNTENSET_EL0)
	READ(HAL_PMCNTENCLR_EL0)
	READ(HAL_PMOVSCLR_EL0)
	READ(HAL_PMSELR_EL0)
	READ(HAL_PMCEID0_EL0)
	READ(HAL_ID_AA64DFR0_EL1)
	READ(HAL_PMCEID1_EL0)
	READ(HAL_PMCCNTR_EL0)
	READ(HAL_PMUSERENR_EL0)
	READ(HAL_PMINTENSET_EL1)
	READ(HAL_PMINTENCLR_EL1)
	READ(HAL_PMOVSSET_EL0)
	READ(HAL_PMCCFILTR_EL0)
	EACH_COUNTER(READ, HAL_PMEVCNTR_EL0)
	EACH_COUNTER(READ, HAL_PMEVTYPER_EL0)
	READ(HAL_ICC_PMR_EL1)
	READ(HAL_ICC_IAR1_EL1)
	READ(HAL_ICC_BPR1_EL1)
	READ(HAL_ICC_CTLR_EL1)
	READ(HAL_ICC_SRE_EL1)
	READ(HAL_ICC_IGRPEN1_EL1)
	READ(HAL_SCTLR_EL1)
	READ(HAL_TTBR0_EL1)
	READ(HAL_TCR_EL1)
	READ(HAL_MAIR_EL1)
	READ(HAL_CNTFRQ_EL0)
	READ(HAL_CNTVCT_EL0)
	READ(HAL_CNTV_CTL_EL0)
	READ(HAL_CNTV_CVAL_EL0)
	default:
		no_such_register(hal, reg);
	}
}

/* As hal.h says of TTBR0_EL1, all translations of the old tables go. */
static void write_ttbr0(uint64_t value)
{
	__asm__ volatile("dsb ishst\n\t"
			 "msr ttbr0_el1, %0\n\t"
			 "isb\n\t"
			 "tlbi vmalle1\n\t"
			 "dsb nsh\n\t"
			 "isb"
			 :
			 : "r"(value)
			 : "memory");
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
	switch (reg) {
	WRITE(HAL_PMCR_EL0)
	WRITE(HAL_PMCNTENSET_EL0)
	WRITE(HAL_PMCNTENCLR_EL0)
	WRITE(HAL_PMOVSCLR_EL0)
	WRITE(HAL_PMSWINC_EL0)
	WRITE(HAL_PMSELR_EL0)
	WRITE(HAL_PMCCNTR_EL0)
	WRITE(HAL_PMUSERENR_EL0)
	WRITE(HAL_PMINTENSET_EL1)
	WRITE(HAL_PMINTENCLR_EL1)
	WRITE(HAL_PMOVSSET_EL0)
	WRITE(HAL_PMCCFILTR_EL0)
	EACH_COUNTER(WRITE, HAL_PMEVCNTR_EL0)
	EACH_COUNTER(WRITE, HAL_PMEVTYPER_EL0)
	WRITE(HAL_ICC_PMR_EL1)
	WRITE(HAL_ICC_EOIR1_EL1)
	WRITE(HAL_ICC_BPR1_EL1)
	WRITE(HAL_ICC_CTLR_EL1)
	WRITE(HAL_ICC_SRE_EL1)
	WRITE(HAL_ICC_IGRPEN1_EL1)
	WRITE(HAL_SCTLR_EL1)
	WRITE(HAL_TCR_EL1)
	WRITE(HAL_MAIR_EL1)
	WRITE(HAL_CNTV_CTL_EL0)
	WRITE(HAL_CNTV_CVAL_EL0)
	WRITE(HAL_ICC_SGI1R_EL1)
	case HAL_TTBR0_EL1:
		write_ttbr0(value);
		return;
	default:
		no_such_register(hal, reg);
	}
}
