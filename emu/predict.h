/* SPDX-License-Identifier: MIT */
/*
 * A branch predictor, for BR_MIS_PRED and BR_PRED and for the timing model's
 * penalty. Small enough to be followed by hand and deterministic: the same
 * branches from a reset give the same answers.
 *
 * - Conditional branches: PREDICT_COUNTERS two-bit saturating counters by
 *   pc / 4, no history. 0 and 1 predict not taken, 2 and 3 taken; a taken branch
 *   adds one, another takes one off. All start at 1 (weakly not taken). Their
 *   targets stand in the instruction and are never wrong.
 * - Unconditional immediate branches are decoded before the predictor and never
 *   mispredicted.
 * - Returns: a stack of PREDICT_RETURNS addresses. BL and BLR push the address
 *   after them, the oldest one falls out of a full stack; RET pops what it
 *   predicts. An empty stack is no prediction.
 * - BR and BLR: the last target of the same branch, from a direct-mapped table
 *   of PREDICT_TARGETS entries by pc / 4, tagged with the whole pc. A branch not
 *   in the table is no prediction.
 * No prediction counts as mispredicted (Arm ARM D14.3, BR_MIS_PRED: "mispredicted
 * or not predicted"). Exceptions and ERET are not predicted and count as neither.
 */
#ifndef PMULAB_EMU_PREDICT_H
#define PMULAB_EMU_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PREDICT_COUNTERS = 512,
	PREDICT_RETURNS = 8,
	PREDICT_TARGETS = 64
};

struct predict {
	uint8_t counter[PREDICT_COUNTERS]; /* 0..3 */
	uint64_t returns[PREDICT_RETURNS];
	unsigned top;	/* where the next call pushes */
	unsigned depth; /* valid entries below it, 0..PREDICT_RETURNS */
	struct {
		uint64_t pc, target; /* pc 1, which no branch has: free */
	} last[PREDICT_TARGETS];
};

void predict_reset(struct predict *predict);

/* Is this a branch for BR_PRED (all branches, as the manual recommends)?
 * @classes: of insn_classify(). */
bool predict_covers(uint32_t classes);

/*
 * The branch at @pc was executed, @taken to @target (ignored when not taken).
 * True when it was mispredicted; learns from it. False, and nothing learned, for
 * a word that is no branch.
 */
bool predict_branch(struct predict *predict, uint64_t pc, uint32_t word, bool taken,
		    uint64_t target);

/* The same for a caller that kept the classes of the word. */
bool predict_classified(struct predict *predict, uint64_t pc, uint32_t classes,
			bool taken, uint64_t target);

#endif
