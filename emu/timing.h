/* SPDX-License-Identifier: MIT */
/*
 * What instructions cost, in cycles.
 *
 * Both models issue one instruction a cycle, in order. Every other cycle is a
 * stall, of one kind:
 *
 *     cycles = instructions + frontend stalls + backend stalls
 *
 * - STALL_FRONTEND: nothing to issue, since instructions have to be fetched
 *   again or from afar: a branch that went another way than fetched, ISB, ERET,
 *   exception entry, a refill of the instruction cache.
 * - STALL_BACKEND: an instruction is there and its predecessor is not done: the
 *   stalls of its cost row (an instruction pays its own), a refill of the data
 *   cache.
 *
 * icount: nothing stalls. One cycle an instruction, what QEMU's -icount shift=0
 * has at 1 GHz, and what goldens compare with.
 *
 * inorder: the cost rows of the model (timing_model.rows), and
 * - without a predictor the machine fetches straight on: each taken branch pays
 *   TIMING_TAKEN, ERET excepted (it pays in its row); with one, each mispredicted
 *   branch pays TIMING_MISPREDICT instead;
 * - with caches, each line filled pays TIMING_L1I_REFILL or TIMING_L1D_REFILL.
 * Results are used without penalty (a load's latency is in its own row), and
 * costs do not depend on operands. Whether events are enabled changes no cost.
 */
#ifndef PMULAB_EMU_TIMING_H
#define PMULAB_EMU_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stalls; the cycle of issue is not in it. */
struct timing_cost {
	uint32_t frontend, backend;
};

/* What happens besides the instruction itself. */
enum timing_extra {
	TIMING_TAKEN,	   /* a taken branch, without a predictor */
	TIMING_MISPREDICT, /* a mispredicted branch, with one */
	TIMING_L1I_REFILL,
	TIMING_L1D_REFILL,
	TIMING_EXCEPTION, /* entry to an exception, an interrupt too; where EL1's
			   * instructions are executed (guest mode, boot) */
	TIMING_EXTRAS,
};

/* An instruction pays each row that fits, all of them together. */
struct timing_row {
	uint32_t all;  /* it is this row's with all of these classes */
	uint32_t none; /* and none of these */
	struct timing_cost cost;
	const char *what;
};

struct timing_model {
	const char *name; /* icount, inorder */
	const char *what; /* one line */
	const struct timing_row *rows;
	size_t nrows;
	struct timing_cost per_access; /* each data access after the first */
	struct timing_cost extra[TIMING_EXTRAS];
	struct timing_cost max; /* that one instruction's rows and accesses can sum
				 * up to, each side by itself */
	uint32_t max_both;	/* the most that both sides together can */
};

/* NULL: no such model. */
const struct timing_model *timing_model(const char *name);
/* The @i-th, NULL after the last. */
const struct timing_model *timing_model_at(unsigned i);

struct timing_config {
	const struct timing_model *model;
	bool predictor;	   /* branches are predicted (emu/predict.h) */
	unsigned l1i_line; /* bytes of a cache line; 0: no such cache */
	unsigned l1d_line;
	uint64_t skid; /* cycles between an interrupt and its being taken */
};

struct timing {
	struct timing_config config;
	uint32_t needs;		/* see timing_needs() */
	struct timing_cost max; /* extras included */
	uint32_t max_cycles;
};

/* -EINVAL: no model, or lines that no cache of emu/cache.h has. */
int timing_init(struct timing *timing, const struct timing_config *config);

/* What the machine must find out while it runs because it costs cycles, whatever
 * events are enabled: a mask of 1 << enum timing_extra. 0 and timing_is_flat():
 * time is the number of instructions. */
uint32_t timing_needs(const struct timing *timing);
bool timing_is_flat(const struct timing *timing);

/* The static cost of an instruction: once per translation, and summed up over a
 * block. An instruction that faults does not retire and costs nothing. */
struct timing_cost timing_insn(const struct timing *timing, uint32_t word);

/* @n (up to 100 million) times @extra; nothing when timing_needs() lacks it. TIMING_EXCEPTION is
 * always charged as the model has it. */
struct timing_cost timing_extra(const struct timing *timing, enum timing_extra extra,
				uint32_t n);

/* Upper bounds for one instruction, issue included in the cycles, exception
 * entry not: what deadlines divide by. max.frontend and max.backend bound what
 * STALL_FRONTEND and STALL_BACKEND count in it. */
uint32_t timing_max_cycles(const struct timing *timing);
struct timing_cost timing_max_stalls(const struct timing *timing);

/* Instructions that cannot cost more than @cycles together: at least 1 for a
 * @cycles above 0, since less than an instruction cannot be run. */
uint64_t timing_insns_within(const struct timing *timing, uint64_t cycles);

/* The first cycle at which an interrupt pending since @since may be taken, at an
 * instruction boundary; saturates. */
uint64_t timing_due(const struct timing *timing, uint64_t since);

#endif
