/* SPDX-License-Identifier: MIT */
/* Arm ARM, C4.1.66 "Loads and Stores": where the base register is the address,
 * where an offset is added, and where it is added only afterwards. */
#include "emu/insn.h"

static int64_t sign_extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static unsigned field(uint32_t word, unsigned at, unsigned bits)
{
	return word >> at & ((1u << bits) - 1);
}

static uint64_t base_of(uint32_t word, insn_reg_fn reg, void *opaque)
{
	return reg(opaque, field(word, 5, 5), true);
}

/* LDP and STP; bits 24:23 are 1 where the offset is added afterwards. */
static uint64_t pair_offset(uint32_t word)
{
	const bool simd = word >> 26 & 1;
	const unsigned opc = field(word, 30, 2);
	const unsigned scale = simd ? 2 + opc : 2 + (opc >> 1);

	if (field(word, 23, 2) == 1)
		return 0;
	return (uint64_t)sign_extend(field(word, 15, 7), 7) << scale;
}

static uint64_t register_offset(uint32_t word, unsigned scale, insn_reg_fn reg, void *opaque)
{
	uint64_t offset = reg(opaque, field(word, 16, 5), false);

	switch (field(word, 13, 3)) {
	case 2: /* UXTW */
		offset = (uint32_t)offset;
		break;
	case 6: /* SXTW */
		offset = (uint64_t)sign_extend(offset, 32);
		break;
	}
	return word >> 12 & 1 ? offset << scale : offset;
}

/* One register, or PRFM. */
static uint64_t single_offset(uint32_t word, insn_reg_fn reg, void *opaque)
{
	const bool simd = word >> 26 & 1, bit23 = word >> 23 & 1;
	const unsigned scale = simd && bit23 ? 4 : field(word, 30, 2);
	const unsigned form = field(word, 10, 2);

	if (word >> 24 & 1)
		return (uint64_t)field(word, 10, 12) << scale;
	if (!(word >> 21 & 1))
		return form == 1 ? 0 : (uint64_t)sign_extend(field(word, 12, 9), 9);
	if (form == 2)
		return register_offset(word, scale, reg, opaque);
	if (form == 0) /* atomics, LD64B and ST64B */
		return 0;
	return (uint64_t)sign_extend(field(word, 22, 1) << 9 | field(word, 12, 9), 10) * 8;
}

uint64_t insn_address(uint32_t word, uint64_t pc, insn_reg_fn reg, void *opaque)
{
	if ((word & 0xffffffe0) == 0xd50b7420) /* DC ZVA */
		return reg(opaque, field(word, 0, 5), false) & ~UINT64_C(63);
	if ((word & 0x3b000000) == 0x18000000)
		return pc + (uint64_t)sign_extend(field(word, 5, 19), 19) * 4;
	if ((word & 0x3b200c00) == 0x19000000) /* LDAPUR, STLUR */
		return base_of(word, reg, opaque) +
		       (uint64_t)sign_extend(field(word, 12, 9), 9);
	if ((word & 0x3a000000) == 0x28000000)
		return base_of(word, reg, opaque) + pair_offset(word);
	if ((word & 0x3a000000) == 0x38000000)
		return base_of(word, reg, opaque) + single_offset(word, reg, opaque);
	return base_of(word, reg, opaque); /* exclusive, ordered, SIMD structures */
}
