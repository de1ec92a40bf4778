/* SPDX-License-Identifier: MIT */
#include "emu/insn.h"

#include "emu/insn-table.h"

/* clang-format off */
/* 000x: UDF has bits 31:16 clear; bit 31 set is SME. */
static const struct insn_row reserved[] = {
	{0xffff0000, 0x00000000, INSN_EXCEPTION, SZ(NONE), 0x00000007, "udf"},
	{0x9e000000, 0x80000000, INSN_SVE, SZ(NONE), 0x80800000, ""},
};
static const struct insn_row sve[] = {
	{0x1e000000, 0x04000000, INSN_SVE, SZ(NONE), 0x04a00000, ""},
};
/* clang-format on */
static const struct insn_group group_reserved = ROWS(reserved);
static const struct insn_group group_sve = ROWS(sve);
static const struct insn_group group_hole = {NULL, 0};

const struct insn_group *insn_group(unsigned bits)
{
	static const struct insn_group *const groups[16] = {
		[0x0] = &group_reserved,
		[0x1] = &group_hole,
		[0x2] = &group_sve,
		[0x3] = &group_hole,
		[0x4] = &insn_group_ldst[0][0],
		[0x5] = &insn_group_dp_reg,
		[0x6] = &insn_group_ldst[1][0],
		[0x7] = &insn_group_simd,
		[0x8] = &insn_group_dp_imm,
		[0x9] = &insn_group_dp_imm,
		[0xa] = &insn_group_branch,
		[0xb] = &insn_group_branch,
		[0xc] = &insn_group_ldst[0][1],
		[0xd] = &insn_group_dp_reg,
		[0xe] = &insn_group_ldst[1][1],
		[0xf] = &insn_group_simd,
	};

	return groups[bits & 15];
}

static uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
	return word >> low & ((UINT32_C(2) << (high - low)) - 1);
}

static int64_t sign_extend(uint32_t value, unsigned width)
{
	const int64_t sign = INT64_C(1) << (width - 1);

	return ((int64_t)value ^ sign) - sign;
}

const struct insn_row *insn_find(uint32_t word)
{
	const struct insn_group *group = insn_group(bits(word, 28, 25));

	for (size_t i = 0; i < group->nrows; i++)
		if ((word & group->rows[i].mask) == group->rows[i].value)
			return &group->rows[i];
	return NULL;
}

uint32_t insn_classify(uint32_t word)
{
	const struct insn_row *row = insn_find(word);

	return row ? row->classes : INSN_UNDEFINED;
}

/* -- data accesses -------------------------------------------------------- */

/* Bytes of one element in the single-structure space: opcode<2:1> is its scale,
 * 3 the replicating loads' with the scale in bits 11:10; 2 is S or, with bit 10
 * set, D. */
static unsigned lane_bytes(uint32_t word)
{
	const unsigned scale = bits(word, 15, 14);

	if (scale == 3)
		return 1u << bits(word, 11, 10);
	return 1u << (scale + (scale == 2 && bits(word, 10, 10)));
}

struct extent {
	unsigned size, n, align; /* align 0: as size */
};

static struct extent extent_of(uint32_t word, enum insn_size size)
{
	const unsigned vector = bits(word, 30, 30) ? 16 : 8;
	const unsigned element = 1u << bits(word, 11, 10);

	switch (size) {
	case INSN_SIZE_NONE:
		break;
	case INSN_SIZE_1:
	case INSN_SIZE_2:
	case INSN_SIZE_4:
	case INSN_SIZE_8:
	case INSN_SIZE_16:
		return (struct extent){1u << (size - INSN_SIZE_1), 1, 0};
	case INSN_SIZE_64:
	case INSN_SIZE_ZVA:
		return (struct extent){64, 1, 0};
	case INSN_SIZE_2X4:
	case INSN_SIZE_2X8:
	case INSN_SIZE_2X16:
		return (struct extent){4u << (size - INSN_SIZE_2X4), 2, 0};
	case INSN_SIZE_FIELD:
		return (struct extent){1u << bits(word, 31, 30), 1, 0};
	case INSN_SIZE_PAIR:
		return (struct extent){vector, 1, 0};
	case INSN_SIZE_MULTIPLE1:
	case INSN_SIZE_MULTIPLE2:
	case INSN_SIZE_MULTIPLE3:
	case INSN_SIZE_MULTIPLE4:
		return (struct extent){vector, size - INSN_SIZE_MULTIPLE1 + 1u, element};
	case INSN_SIZE_LANES:
		/* R (bit 21) and opcode<0> (bit 13): 00 one, 10 two, 01 three */
		return (struct extent){lane_bytes(word),
				       1 + bits(word, 21, 21) + 2 * bits(word, 13, 13),
				       0};
	}
	return (struct extent){0, 0, 0};
}

static struct insn_access access_of(const struct insn_row *row, uint32_t word)
{
	struct insn_access access = {0, 0, 0, 0};

	if (!row)
		return access;

	const struct extent extent = extent_of(word, (enum insn_size)row->size);

	access.size = (uint8_t)extent.size;
	if (row->classes & INSN_LOAD)
		access.reads = (uint8_t)extent.n;
	if (row->classes & INSN_STORE)
		access.writes = (uint8_t)extent.n;
	if (row->size != INSN_SIZE_ZVA)
		access.align = (uint8_t)(extent.align ? extent.align : extent.size);
	return access;
}

struct insn_access insn_access(uint32_t word)
{
	return access_of(insn_find(word), word);
}

/* -- events --------------------------------------------------------------- */

void insn_count(struct insn_counts *counts, uint32_t word)
{
	const struct insn_row *row = insn_find(word);
	const uint32_t is = row ? row->classes : INSN_UNDEFINED;
	const struct insn_access access = access_of(row, word);

	counts->insns++;
	counts->ld += (is & INSN_LOAD) != 0;
	counts->st += (is & INSN_STORE) != 0;
	counts->st_exclusive += (is & INSN_STORE) && (is & INSN_EXCLUSIVE);
	counts->mem = (uint16_t)(counts->mem + access.reads + access.writes);
	counts->br += (is & INSN_BRANCH) != 0;
	counts->br_immed += (is & INSN_BR_IMMED) != 0;
	counts->br_return += (is & INSN_BR_RETURN) != 0;
	counts->br_cond += (is & INSN_BR_COND) != 0;
	counts->pc_write += (is & INSN_PC_WRITE) && !(is & INSN_BR_COND);
	counts->exc_return += (is & INSN_ERET) != 0;
	counts->cid_write += (is & INSN_CID_WRITE) != 0;
}

/* -- fields --------------------------------------------------------------- */

bool insn_branch_target(uint32_t word, uint64_t pc, uint64_t *target)
{
	const uint32_t is = insn_classify(word);
	int64_t offset;

	if (!(is & INSN_BR_IMMED))
		return false;
	if (!(is & INSN_BR_COND))
		offset = sign_extend(bits(word, 25, 0), 26);
	else if (bits(word, 30, 25) == 0x1b) /* TBZ, TBNZ */
		offset = sign_extend(bits(word, 18, 5), 14);
	else
		offset = sign_extend(bits(word, 23, 5), 19);
	*target = pc + (uint64_t)offset * 4;
	return true;
}

uint32_t insn_sysreg(uint32_t word, unsigned *rt)
{
	if (!(insn_classify(word) & (INSN_MRS | INSN_MSR | INSN_SYS)))
		return 0;
	*rt = bits(word, 4, 0);
	return bits(word, 20, 5);
}

enum insn_pstate insn_msr_immediate(uint32_t word, unsigned *imm)
{
	/* by op1:op2 */
	static const uint8_t fields[64] = {
		[003] = INSN_PSTATE_UAO,     [004] = INSN_PSTATE_PAN,
		[005] = INSN_PSTATE_SPSEL,   [010] = INSN_PSTATE_ALLINT,
		[031] = INSN_PSTATE_SSBS,    [032] = INSN_PSTATE_DIT,
		[033] = INSN_PSTATE_SVCR,    [034] = INSN_PSTATE_TCO,
		[036] = INSN_PSTATE_DAIFSET, [037] = INSN_PSTATE_DAIFCLR,
	};

	if (!(insn_classify(word) & INSN_MSR_IMM))
		return INSN_PSTATE_NONE;
	*imm = bits(word, 11, 8);

	const enum insn_pstate field =
		(enum insn_pstate)fields[bits(word, 18, 16) << 3 | bits(word, 7, 5)];

	return field == INSN_PSTATE_NONE ? INSN_PSTATE_UNKNOWN : field;
}

int insn_status_register(uint32_t word)
{
	const uint32_t is = insn_classify(word);

	return is & INSN_STORE && is & INSN_EXCLUSIVE ? (int)bits(word, 20, 16) : -1;
}
