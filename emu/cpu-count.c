/* SPDX-License-Identifier: MIT */
/* How far the core may go, and what it has executed. */
#include <string.h>

#include "emu/cpu-priv.h"

/* A budget without end: nobody lives to see it used up, and its bytes fit. */
#define MAX_GRANT (UINT64_MAX / (2 * INSN_BYTES))

/*
 * @executed instructions, with all that the tally holds. What is watched has been
 * counted up to there before.
 */
void cpu_settle(struct cpu *cpu, uint64_t executed)
{
	struct model_tally *tally = &cpu->tally;
	struct cpu_work work = { .insns = executed - cpu->settled };

	if (!work.insns)
		return;
	cpu->settled = executed;
	work.cycles = tally->watch >> PMUV3_SIG_CYCLE & 1 ? tally->signal[PMUV3_SIG_CYCLE] :
							    work.insns;
	work.signal = tally->watch ? tally->signal : NULL;
	cpu->ops.retired(cpu->ops.opaque, &work);
	for (uint32_t left = tally->watch; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctz(left);

		tally->room[i] -= tally->signal[i] < tally->room[i] ? tally->signal[i] :
								      tally->room[i];
	}
	if (tally->watch)
		memset(tally->signal, 0, sizeof(tally->signal));
}

void cpu_ask(struct cpu *cpu, uint64_t most)
{
	struct model_tally *tally = &cpu->tally;
	struct cpu_grant grant = { .soft = UINT64_MAX };
	uint64_t budget;

	cpu->ops.grant(cpu->ops.opaque, &grant);
	budget = grant.insns < most ? grant.insns : most;
	if (budget > MAX_GRANT - cpu->settled)
		budget = MAX_GRANT - cpu->settled;
	cpu->granted = cpu->settled + budget;
	cpu->hook.left = budget * INSN_BYTES;
	cpu->reserve = 0;
	cpu->soft = cpu->granted;
	if (grant.soft < budget)
		cpu->soft = cpu->settled + grant.soft;
	cpu_split(cpu);
	tally->watch = cpu->model ? grant.watch : 0;
	tally->due = false;
	if (!tally->watch)
		return;
	for (unsigned i = 0; i < MODEL_LANES; i++)
		tally->room[i] = MODEL_NEVER;
	for (uint32_t left = tally->watch; left; left &= left - 1)
		tally->room[__builtin_ctz(left)] = grant.room[__builtin_ctz(left)];
	memset(tally->signal, 0, sizeof(tally->signal));
}

/* -- what is watched ------------------------------------------------------- */

static bool holds(uint64_t pstate, unsigned condition)
{
	const bool n = pstate >> 31 & 1, z = pstate >> 30 & 1, c = pstate >> 29 & 1,
		   v = pstate >> 28 & 1;
	const bool base[] = { z, c, n, v, c && !z, n == v, n == v && !z, true };

	return base[condition >> 1] != (condition & 1 && condition != 15);
}

/* It and what it looks at are unchanged by itself, so before is as good as after. */
static bool is_taken(struct cpu *cpu, const struct model_insn *insn)
{
	const uint32_t word = insn->word;
	uint64_t value = cpu_general(cpu, word & 31, false);

	if ((word & 0xfe000000) == 0x54000000)
		return holds(cpu_pstate_read(cpu), word & 15);
	if ((word & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
		value = value >> ((word >> 31 << 5) | (word >> 19 & 31)) & 1;
	else if (!(word >> 31))
		value = (uint32_t)value;
	return (value != 0) == (word >> 24 & 1);
}

static bool has_failed(struct cpu *cpu, const struct model_insn *insn)
{
	return insn->status >= 0 && (uint32_t)cpu_general(cpu, (unsigned)insn->status, false);
}

/* An instruction about to be executed by itself. */
void cpu_take_off(struct cpu *cpu, const struct model_insn *insn, uint64_t pc,
		     uint64_t pa)
{
	cpu->flying = *insn;
	cpu->flying_pc = pc;
	cpu->flying_pa = pa;
	if (insn->access.size && cpu->tally.watch & MODEL_DATA)
		cpu->flying_va = insn_address(insn->word, pc, cpu_general, cpu);
	cpu->flying_taken = model_is_blind(insn) && is_taken(cpu, insn);
	cpu->airborne = true;
}

/* It has retired, and @next comes after it. */
void cpu_touch_down(struct cpu *cpu, uint64_t next)
{
	const struct model_insn *insn = &cpu->flying;
	const bool failed = has_failed(cpu, insn);

	if (!cpu->airborne)
		return;
	cpu->airborne = false;
	model_insn(&cpu->tally, insn, failed);
	model_fetch(cpu->model, &cpu->tally, cpu->flying_pa, 1);
	if (insn->access.size && cpu->tally.watch & MODEL_DATA && !failed)
		model_data(cpu->model, &cpu->tally, insn, cpu->flying_va, cpu_page, cpu);
	model_branch(cpu->model, &cpu->tally, insn, cpu->flying_pc, next, cpu->flying_taken);
}

/* Instructions [i, end) of the block, a page at a time. */
static void fetch(struct cpu *cpu, uint32_t i, uint32_t end)
{
	while (i < end) {
		const uint64_t pa = cpu_block_pa(cpu->block, i);
		const uint32_t in_page = (uint32_t)(0x1000 - (pa & 0xfff)) / INSN_BYTES;
		const uint32_t n = end - i < in_page ? end - i : in_page;

		model_fetch(cpu->model, &cpu->tally, pa, n);
		i += n;
	}
}

/* Of the block entered, the instructions before number @end that were not counted
 * yet. */
static void count_to(struct cpu *cpu, uint32_t end)
{
	const struct cpu_block *block = cpu->block;

	if (!block || cpu->counted >= end)
		return;
	if (!cpu->counted && end == block->n)
		model_block(&cpu->tally, &block->sum);
	else
		for (uint32_t i = cpu->counted; i < end; i++)
			model_insn(&cpu->tally, &block->insn[i], false);
	if (cpu->tally.watch & MODEL_BIT(L1I_REFILL))
		fetch(cpu, cpu->counted, end);
	cpu->counted = end;
}

/* All of it: @next is what came after. */
void cpu_count_block(struct cpu *cpu, uint64_t next)
{
	const struct cpu_block *block = cpu->block;

	if (!block)
		return;
	count_to(cpu, block->n);
	model_branch(cpu->model, &cpu->tally, &block->insn[block->n - 1],
		     block->pc + (uint64_t)(block->n - 1) * INSN_BYTES, next, false);
	cpu->block = NULL;
}

/* Those before the one at @pc. */
void cpu_count_before(struct cpu *cpu, uint64_t pc)
{
	if (cpu->block)
		count_to(cpu, (uint32_t)((pc - cpu->block->pc) / INSN_BYTES));
}

/* Can all of it run without a look between its instructions? */
bool cpu_is_plain(const struct cpu *cpu, const struct cpu_block *block)
{
	const struct model_tally *tally = &cpu->tally;

	if (block->sum.blind || (block->sum.exclusive && tally->watch & MODEL_STATUS))
		return false;
	return model_fits(tally, &block->sum);
}

/* -- what the machine does for an instruction ------------------------------ */

void cpu_emulated(struct cpu *cpu, const struct cpu_exception *exc)
{
	struct model_insn insn;
	uint64_t pa = 0;
	uint32_t word;

	cpu->settled = 0;
	cpu_ask(cpu, UINT64_MAX);
	cpu_hold(cpu);
	cpu->reserve -= INSN_BYTES;
	cpu->hook.block_end = exc->elr + INSN_BYTES;
	if (cpu->tally.watch) {
		model_decode(cpu->model, exc->word, &insn);
		cpu_word_at(cpu, exc->elr, &word, &pa);
		model_insn(&cpu->tally, &insn, false);
		model_fetch(cpu->model, &cpu->tally, pa, 1);
		model_data(cpu->model, &cpu->tally, &insn, exc->far, NULL, NULL);
	}
	cpu_settle(cpu, 1);
}

void cpu_add_exception(struct cpu *cpu, const struct cpu_exception *exc, bool entry,
		       uint32_t signal[PMUV3_SIGNALS])
{
	struct model_tally *tally = &cpu->tally;
	uint32_t word;
	uint64_t pa;

	if (!cpu->model)
		return;
	/* Nothing of the core's own is pending: a tally of this alone. */
	memset(tally->signal, 0, sizeof(tally->signal));
	for (unsigned i = 0; i < MODEL_LANES; i++)
		tally->room[i] = MODEL_NEVER;
	if (exc->began) {
		model_add(tally, PMUV3_SIG_INST_SPEC, 1);
		model_add(tally, PMUV3_SIG_L1I, 1);
		if (cpu_word_at(cpu, exc->elr, &word, &pa))
			model_fetch(cpu->model, tally, pa, 1);
	}
	if (entry)
		model_exception(cpu->model, tally);
	memcpy(signal, tally->signal, PMUV3_SIGNALS * sizeof(signal[0]));
}
