/* SPDX-License-Identifier: MIT */
/*
 * What an executed instruction is worth: its PMU signals (emu/pmuv3.h) and its
 * cycles, from its word, its branch and its data addresses, by the predictor, the
 * caches and the timing model. One for each CPU. Pure C: the engine tells it what
 * ran, in order; whole blocks at once where nothing but the words matters.
 *
 * Order. What an instruction makes is counted when it has retired, together with
 * it and at the level it ran at: ERET and SVC at the level they leave. An MSR
 * retires under the configuration before it, an MRS sees what ran before it. An
 * instruction that faults makes L1I, L1I_REFILL and INST_SPEC only, and together
 * with the exception (EXC_TAKEN), which counts at the level that it leaves, after
 * all before it and before anything of its handler. So do interrupts and HVC. A
 * fetch that aborts makes nothing; the branch to it was taken.
 *
 * Choices. The CPU fetches one instruction at a time: L1I is the number of
 * instructions started. The bus runs at the CPU's clock. A device access is
 * executed outside of the data cache. Predictor and caches see what runs while an
 * enabled counter counts one of their signals, or always where their misses cost
 * cycles.
 */
#ifndef PMULAB_EMU_MODEL_H
#define PMULAB_EMU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/cache.h"
#include "emu/insn.h"
#include "emu/pmuv3.h"
#include "emu/predict.h"
#include "emu/timing.h"

#define MODEL_BIT(name) (UINT32_C(1) << PMUV3_SIG_##name)

/* Signals that depend on the addresses of data. */
#define MODEL_DATA (MODEL_BIT(UNALIGNED) | MODEL_BIT(L1D) | MODEL_BIT(L1D_REFILL))
/* Signals that depend on whether a store-exclusive failed. */
#define MODEL_STATUS (MODEL_BIT(ST) | MODEL_BIT(MEM))

/* Where a tally says that it is full: 32 bits hold one more block of anything. */
#define MODEL_ROOM (UINT32_C(1) << 30)

struct model_config {
	const struct timing_model *timing;
	uint64_t skid;
	bool predictor;
	struct cache_config l1i, l1d; /* sets 0: no caches */
};

struct model {
	struct timing timing;
	bool predictor, caches;
	uint32_t always; /* signals whose models cost cycles */
	struct predict predict;
	struct cache l1i, l1d;
	uint64_t fetched; /* the line that was fetched from last: it is there */
};

/* -EINVAL: as timing_init() and cache_init() have it. */
int model_init(struct model *model, const struct model_config *config);

/* Which signals the engine must keep so that an enabled counter's @signals are
 * right, cycles among them where they are not the instructions. 0: none, insns
 * are all. */
uint32_t model_watch(const struct model *model, uint32_t signals);

/* Signals in vectors of the host: what is done for each block is done for all of
 * them at once, so that many counters cost what one does. */
enum { MODEL_LANES = (PMUV3_SIGNALS + 7) / 8 * 8 };

/* Signals counted since they were last reported, and how many may be. */
struct model_tally {
	uint32_t watch;
	bool due; /* a room is used up: report before the next instruction */
	uint32_t signal[MODEL_LANES]; /* junk in those not watched */
	uint32_t room[MODEL_LANES];   /* MODEL_NEVER there */
};

#define MODEL_NEVER UINT32_C(0x7fffffff)

static inline void model_add(struct model_tally *tally, unsigned signal, uint32_t n)
{
	if (!(tally->watch >> signal & 1))
		return;
	tally->signal[signal] += n;
	if (tally->signal[signal] >= tally->room[signal])
		tally->due = true;
}

/* What a word says: once per translation. */
struct model_insn {
	uint32_t word, classes;
	uint32_t ones; /* signals of which it makes one in any case */
	struct insn_access access;
	struct timing_cost cost;
	int8_t status; /* of a store-exclusive: its register, else -1 */
	uint8_t mem;
};
void model_decode(const struct model *model, uint32_t word, struct model_insn *insn);

/* A block's: of @sum in any case, with all that may come to it @bound. */
struct model_sum {
	uint32_t sum[MODEL_LANES], bound[MODEL_LANES];
	bool exclusive; /* has a store-exclusive */
	bool blind;	/* ends in a conditional branch to its own successor */
};
void model_sum(const struct model *model, const struct model_insn *insn, unsigned n,
	       struct model_sum *sum);
/* Whether that branch is taken the next PC does not tell. */
bool model_is_blind(const struct model_insn *insn);

/* The static part of one instruction, or of a whole block. @failed: a
 * store-exclusive that stored nothing; with WZR for its status nobody can tell. */
void model_insn(struct model_tally *tally, const struct model_insn *insn, bool failed);
void model_block(struct model_tally *restrict tally, const struct model_sum *restrict sum);
/* Is there room for all that a block may make? */
bool model_fits(const struct model_tally *tally, const struct model_sum *sum);

/* Its fetch from physical @pa, or that of so many in a row. */
void model_fetch(struct model *model, struct model_tally *tally, uint64_t pa, unsigned n);

/* @insn at @pc retired and @next comes after it. A conditional branch to its own
 * successor: @taken, which is not looked at otherwise. */
void model_branch(struct model *model, struct model_tally *tally,
		  const struct model_insn *insn, uint64_t pc, uint64_t next, bool taken);

/* Its data: at @va, where @translate gives the physical address (false: none, no
 * cache). */
typedef bool (*model_translate_fn)(void *opaque, uint64_t va, uint64_t *pa);
void model_data(struct model *model, struct model_tally *tally,
		const struct model_insn *insn, uint64_t va, model_translate_fn translate,
		void *opaque);

/* Cycles of exception entry. */
void model_exception(struct model *model, struct model_tally *tally);

#endif
