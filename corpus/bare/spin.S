/* SPDX-License-Identifier: MIT */
/* For EL0, without a stack: uint64_t smp_spin(n, -): 2 * n + 1 instructions, and
 * bare_el0()'s BLR before them and SVC behind them. */
	.text
	.globl smp_spin
smp_spin:
	subs	x0, x0, #1
	b.ne	smp_spin
	ret
