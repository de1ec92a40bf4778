/* SPDX-License-Identifier: MIT */
#include "emu/timing.h"

#include <errno.h>
#include <string.h>

#include "emu/insn.h"

enum {
	BLOCK_BYTES = 64, /* the largest access: four vectors, DC ZVA, ST64B */
	SMALLEST_LINE = 16,
	LARGEST_LINE = 2048,
};

/* A small in-order core's, rounded: each is one number to count by hand with, no
 * one product's. */
/* clang-format off */
static const struct timing_row inorder_rows[] = {
	{INSN_LOAD, INSN_ATOMIC, {0, 1}, "a load: two cycles to the first data"},
	{INSN_ATOMIC, 0, {0, 4}, "an atomic or compare-and-swap: load, modify, store"},
	{INSN_EXCLUSIVE, 0, {0, 2}, "the monitor, on top of the load or store"},
	{INSN_MUL, 0, {0, 2}, "a multiplication: three cycles"},
	{INSN_DIV, INSN_FPSIMD, {0, 11}, "an integer division: twelve cycles"},
	{INSN_DIV | INSN_FPSIMD, 0, {0, 17}, "a floating-point division or square root: eighteen"},
	{INSN_FPSIMD, INSN_DIV | INSN_LOAD | INSN_STORE, {0, 3}, "other FP and SIMD: four cycles"},
	{INSN_MRS, 0, {0, 1}, "a system register read: two cycles"},
	{INSN_MSR, 0, {0, 3}, "a system register write: four cycles"},
	{INSN_MSR_IMM, 0, {0, 1}, "a PSTATE write: two cycles"},
	{INSN_SYS, 0, {0, 9}, "cache, TLB and address translation operations: ten cycles"},
	{INSN_BARRIER, INSN_ISB, {0, 5}, "DMB, DSB, SB, CLREX: six cycles"},
	{INSN_ISB, 0, {7, 0}, "ISB: the instructions after it are fetched again"},
	{INSN_ERET, 0, {7, 0}, "ERET: the same"},
};

static const struct timing_model models[] = {
	{
		.name = "icount",
		.what = "one cycle an instruction, nothing stalls",
	},
	{
		.name = "inorder",
		.what = "one instruction a cycle in order, stalls by class",
		.rows = inorder_rows,
		.nrows = sizeof(inorder_rows) / sizeof(inorder_rows[0]),
		.per_access = {0, 1},
		.extra = {
			[TIMING_TAKEN] = {2, 0},
			[TIMING_MISPREDICT] = {7, 0},
			[TIMING_L1I_REFILL] = {12, 0},
			[TIMING_L1D_REFILL] = {0, 12},
			[TIMING_EXCEPTION] = {7, 0},
		},
		.max = {7, 17},
		.max_both = 17,
	},
};
/* clang-format on */

const struct timing_model *timing_model_at(unsigned i)
{
	return i < sizeof(models) / sizeof(models[0]) ? &models[i] : NULL;
}

const struct timing_model *timing_model(const char *name)
{
	for (unsigned i = 0; timing_model_at(i); i++)
		if (!strcmp(timing_model_at(i)->name, name))
			return timing_model_at(i);
	return NULL;
}

/* -- the configuration ---------------------------------------------------- */

static bool is_line(unsigned line)
{
	return line == 0 ||
	       (line >= SMALLEST_LINE && line <= LARGEST_LINE && !(line & (line - 1)));
}

static bool is_free(struct timing_cost cost)
{
	return cost.frontend == 0 && cost.backend == 0;
}

static void add(struct timing_cost *sum, struct timing_cost cost, uint32_t n)
{
	sum->frontend += n * cost.frontend;
	sum->backend += n * cost.backend;
}

/* Lines that BLOCK_BYTES bytes at any address can touch. */
static uint32_t lines_of_a_block(unsigned line)
{
	return (BLOCK_BYTES + line - 2) / line + 1;
}

/* How often each extra can happen in one instruction. */
static uint32_t most(const struct timing_config *config, enum timing_extra extra)
{
	switch (extra) {
	case TIMING_TAKEN:
		return !config->predictor;
	case TIMING_MISPREDICT:
		return config->predictor;
	case TIMING_L1I_REFILL:
		return config->l1i_line != 0;
	case TIMING_L1D_REFILL:
		return config->l1d_line ? lines_of_a_block(config->l1d_line) : 0;
	case TIMING_EXCEPTION:
	case TIMING_EXTRAS:
		break;
	}
	return 0;
}

int timing_init(struct timing *timing, const struct timing_config *config)
{
	const struct timing_model *model = config->model;
	struct timing_cost extras = {0, 0};

	if (!model || !is_line(config->l1i_line) || !is_line(config->l1d_line))
		return -EINVAL;
	timing->config = *config;
	timing->needs = 0;
	for (int i = 0; i < TIMING_EXTRAS; i++) {
		const uint32_t n = most(config, (enum timing_extra)i);

		if (n == 0 || is_free(model->extra[i]))
			continue;
		timing->needs |= UINT32_C(1) << i;
		add(&extras, model->extra[i], n);
	}
	timing->max = model->max;
	add(&timing->max, extras, 1);
	timing->max_cycles = 1 + model->max_both + extras.frontend + extras.backend;
	return 0;
}

uint32_t timing_needs(const struct timing *timing)
{
	return timing->needs;
}

bool timing_is_flat(const struct timing *timing)
{
	return timing->max_cycles == 1;
}

/* -- costs ---------------------------------------------------------------- */

struct timing_cost timing_insn(const struct timing *timing, uint32_t word)
{
	const struct timing_model *model = timing->config.model;
	const uint32_t is = insn_classify(word);
	const struct insn_access access = insn_access(word);
	const uint32_t accesses = (uint32_t)access.reads + access.writes;
	struct timing_cost cost = {0, 0};

	for (size_t i = 0; i < model->nrows; i++)
		if ((is & model->rows[i].all) == model->rows[i].all &&
		    !(is & model->rows[i].none))
			add(&cost, model->rows[i].cost, 1);
	/* an atomic's two are one access to memory */
	if (accesses > 1 && !(is & INSN_ATOMIC))
		add(&cost, model->per_access, accesses - 1);
	return cost;
}

struct timing_cost timing_extra(const struct timing *timing, enum timing_extra extra,
				uint32_t n)
{
	struct timing_cost cost = {0, 0};

	if (extra == TIMING_EXCEPTION || timing->needs >> extra & 1)
		add(&cost, timing->config.model->extra[extra], n);
	return cost;
}

/* -- deadlines ------------------------------------------------------------ */

uint32_t timing_max_cycles(const struct timing *timing)
{
	return timing->max_cycles;
}

struct timing_cost timing_max_stalls(const struct timing *timing)
{
	return timing->max;
}

uint64_t timing_insns_within(const struct timing *timing, uint64_t cycles)
{
	const uint64_t insns = cycles / timing->max_cycles;

	return cycles && !insns ? 1 : insns;
}

uint64_t timing_due(const struct timing *timing, uint64_t since)
{
	const uint64_t due = since + timing->config.skid;

	return due < since ? UINT64_MAX : due;
}
