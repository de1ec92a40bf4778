/* SPDX-License-Identifier: MIT */
#include "emu/predict.h"

#include <string.h>

#include "emu/insn.h"

enum {
	WEAKLY_NOT_TAKEN = 1,
	WEAKLY_TAKEN = 2,
	STRONGLY_TAKEN = 3
};

#define NO_BRANCH UINT64_C(1) /* a pc is a multiple of 4 */

void predict_reset(struct predict *predict)
{
	memset(predict, 0, sizeof(*predict));
	memset(predict->counter, WEAKLY_NOT_TAKEN, sizeof(predict->counter));
	for (unsigned i = 0; i < PREDICT_TARGETS; i++)
		predict->last[i].pc = NO_BRANCH;
}

bool predict_covers(uint32_t classes)
{
	return (classes & (INSN_BRANCH & ~(uint32_t)INSN_ERET)) != 0;
}

static bool conditional(struct predict *predict, uint64_t pc, bool taken)
{
	uint8_t *counter = &predict->counter[pc / 4 % PREDICT_COUNTERS];
	const bool predicted = *counter >= WEAKLY_TAKEN;

	if (taken && *counter < STRONGLY_TAKEN)
		++*counter;
	else if (!taken && *counter > 0)
		--*counter;
	return predicted != taken;
}

static void push(struct predict *predict, uint64_t address)
{
	predict->returns[predict->top] = address;
	predict->top = (predict->top + 1) % PREDICT_RETURNS;
	if (predict->depth < PREDICT_RETURNS)
		predict->depth++;
}

static bool procedure_return(struct predict *predict, uint64_t target)
{
	if (predict->depth == 0)
		return true;
	predict->depth--;
	predict->top = (predict->top + PREDICT_RETURNS - 1) % PREDICT_RETURNS;
	return predict->returns[predict->top] != target;
}

static bool indirect(struct predict *predict, uint64_t pc, uint64_t target)
{
	const unsigned i = (unsigned)(pc / 4 % PREDICT_TARGETS);
	const bool right = predict->last[i].pc == pc && predict->last[i].target == target;

	predict->last[i].pc = pc;
	predict->last[i].target = target;
	return !right;
}

bool predict_classified(struct predict *predict, uint64_t pc, uint32_t classes,
			bool taken, uint64_t target)
{
	bool wrong = false;

	if (classes & INSN_BR_COND)
		wrong = conditional(predict, pc, taken);
	else if (classes & INSN_BR_RETURN)
		wrong = procedure_return(predict, target);
	else if (classes & INSN_BR_INDIRECT)
		wrong = indirect(predict, pc, target);
	if (classes & INSN_CALL)
		push(predict, pc + 4);
	return wrong;
}

bool predict_branch(struct predict *predict, uint64_t pc, uint32_t word, bool taken,
		    uint64_t target)
{
	return predict_classified(predict, pc, insn_classify(word), taken, target);
}
