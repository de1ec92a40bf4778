/* SPDX-License-Identifier: MIT */
/*
 * How the block engine counts. A block hook runs before each translated block
 * and takes the block's bytes from what is left of the budget; a block that
 * would pass it is not entered. The rest, less than a block, runs by
 * architectural single-step (MDSCR_EL1.SS, at EL1 with KDE and PSTATE.D clear),
 * which needs no retranslation. Whoever looks inside a block (an MRS, an abort)
 * finds the exact number from the PC.
 *
 * What may interest the machine at a block's edge goes one slow way: all of
 * `left` is moved to `reserve`, so that the next block does not fit. That is how
 * a high IRQ wire waits for PSTATE.I. A change to EL0 is seen there too: ERET is
 * the only one that makes it, each block that ends in one is marked when it is
 * translated, and a mark sends its successor the slow way. And so is a soft end,
 * which is at the first branch behind so many instructions: block and step engine
 * come by there, and nothing need be stepped.
 */
#include <stdio.h>
#include <string.h>

#include "emu/cpu-priv.h"

#define ESR_IL	   (UINT64_C(1) << 25)

/* -- counting ------------------------------------------------------------- */

/* Instructions executed before the one at @pc, which is in the current block. */
static uint64_t executed_before(const struct cpu *cpu, uint64_t pc)
{
	if (cpu->each)
		return cpu_entered(cpu);
	return cpu_entered(cpu) - (cpu->hook.block_end - pc) / INSN_BYTES;
}

static bool looks_at_all(const struct cpu *cpu)
{
	return cpu->each || cpu->stepping || cpu->tally.watch ||
	       cpu->ops.irq(cpu->ops.opaque);
}

/* Everything entered has retired and something changed: a new budget, and a
 * look at the next edge if the wire is high. */
static void regrant(struct cpu *cpu)
{
	cpu_ask(cpu, UINT64_MAX);
	if (looks_at_all(cpu))
		cpu_hold(cpu);
}

static void leave(struct cpu *cpu, bool interrupted)
{
	cpu->stopping = true;
	cpu->interrupted = interrupted;
	uc_emu_stop(cpu->uc);
}

static void give_up(struct cpu *cpu, uint64_t pc)
{
	snprintf(cpu->error, sizeof(cpu->error), "pc 0x%llx: what runs there is not in RAM",
		 (unsigned long long)pc);
	leave(cpu, false);
}

bool cpu_at_branch(struct cpu *cpu)
{
	uint32_t word;
	uint64_t pa;

	/* Behind an ERET to EL0 the kernel's address is none. */
	return !cpu_word_at(cpu, cpu_last_pc(cpu), &word, &pa) ||
	       insn_classify(word) & INSN_BRANCH;
}

static bool ends_softly(struct cpu *cpu)
{
	return cpu_entered(cpu) >= cpu->soft && cpu->soft < cpu->granted && cpu_at_branch(cpu);
}

/* -- blocks --------------------------------------------------------------- */

static void classify(struct cpu *cpu, uint64_t pc, uint32_t size)
{
	uint64_t pa;
	uint32_t word;

	if (cpu->el && size && cpu_word_at(cpu, pc + size - INSN_BYTES, &word, &pa) &&
	    word == WORD_ERET)
		*hook_mark(&cpu->hook, pc + size) = 1;
}

/* Every block that is translated, but for the first after a start. */
static void on_edge(uc_engine *uc, uc_tb *tb, uc_tb *prev, void *opaque)
{
	struct cpu *cpu = opaque;

	(void)uc;
	(void)prev;
	cpu_block_renew(cpu, tb->pc, tb->size);
	if (cpu->engine == CPU_ENGINE_BLOCK && !cpu->ops.el0_only)
		classify(cpu, tb->pc, tb->size);
	cpu_translated(cpu, tb->pc, (uint32_t)tb->size);
}

static bool is_interrupted(struct cpu *cpu)
{
	return cpu->ops.irq(cpu->ops.opaque) && !(cpu_pstate_read(cpu) & PSTATE_I);
}

/* Where the guest stands between two instructions; true: leave here. */
static bool at_edge(struct cpu *cpu)
{
	if (!cpu->ops.el0_only && (cpu->each || *hook_mark(&cpu->hook, cpu->hook.block_end))) {
		const unsigned el = cpu_pstate_el(cpu_pstate_read(cpu));

		if (el != cpu->el) {
			cpu_settle(cpu, cpu_entered(cpu));
			cpu->el = el;
			regrant(cpu);
		}
	}
	return is_interrupted(cpu);
}

/* Room for it, and for all that it may make? Then it is the block that runs. */
static bool enter(struct cpu *cpu, uint64_t address, uint32_t size, bool fresh)
{
	if (cpu->hook.left < size) {
		cpu->step_for = cpu->hook.left / INSN_BYTES;
		return false;
	}
	if (cpu->tally.watch) {
		struct cpu_block *block = cpu_block_find(cpu, address, size, fresh);

		if (!block) {
			give_up(cpu, address);
			return false;
		}
		if (!cpu_is_plain(cpu, block)) {
			cpu->step_for = size / INSN_BYTES;
			return false;
		}
		cpu->block = block;
		cpu->counted = 0;
	}
	cpu->hook.left -= size;
	cpu->hook.block_end = address + size;
	return true;
}

/* Single-step enters one block, of one instruction. */
static void step_block(struct cpu *cpu, uint64_t address, uint32_t size, bool fresh)
{
	const struct cpu_block *block;

	if (!fresh || cpu->hook.left + cpu->reserve < size) {
		leave(cpu, false);
		return;
	}
	cpu_hold(cpu);
	cpu->reserve -= size;
	cpu->hook.block_end = address + size;
	if (!cpu->tally.watch)
		return;
	block = cpu_block_find(cpu, address, size, true);
	if (block)
		cpu_take_off(cpu, &block->insn[0], address, block->pa[0]);
	else
		give_up(cpu, address);
}

/* What the hook took is given back first. */
static void slow_block(struct hook *hook, uint64_t address, uint32_t size)
{
	struct cpu *cpu = (struct cpu *)hook;
	bool fresh = cpu->fresh;

	cpu->hook.left += size;
	cpu->fresh = false;
	if (fresh)
		cpu_started(cpu, address, size);
	if (cpu->each) {
		cpu->edge = true;
		cpu->code_end = address + size;
		return;
	}
	if (cpu->stepping) {
		step_block(cpu, address, size, fresh);
		return;
	}
	cpu_count_block(cpu, address);
	if (at_edge(cpu)) {
		cpu_settle(cpu, cpu_entered(cpu));
		leave(cpu, true);
		return;
	}
	if (!fresh && (cpu->flush || ends_softly(cpu))) {
		leave(cpu, false);
		return;
	}
	if (fresh && !cpu->ops.el0_only)
		classify(cpu, address, size);
	cpu->hook.left += cpu->reserve;
	cpu->reserve = 0;
	if (!enter(cpu, address, size, fresh)) {
		leave(cpu, false);
		return;
	}
	if (looks_at_all(cpu))
		cpu_hold(cpu);
	else
		cpu_split(cpu);
}

/* -- each instruction ------------------------------------------------------ */

/* The instruction in flight has retired, and @next comes after it. */
static void land(struct cpu *cpu, uint64_t next)
{
	cpu->in_flight = false;
	cpu->reserve -= INSN_BYTES;
	if (cpu->tally.watch)
		cpu_touch_down(cpu, next);
}

static bool watch_next(struct cpu *cpu, uint64_t pc)
{
	struct cpu_block *block = cpu->code;
	uint32_t i;

	if (cpu->edge || !block || pc - block->pc >= (uint64_t)block->n * INSN_BYTES) {
		uint64_t size = cpu->code_end - pc;

		block = cpu_block_find(cpu, pc, size <= 0x1000 && size ? (uint32_t)size :
									 INSN_BYTES, false);
		cpu->code = block;
		if (!block)
			return false;
	}
	i = (uint32_t)((pc - block->pc) / INSN_BYTES);
	cpu_take_off(cpu, &block->insn[i], pc, cpu_block_pa(block, i));
	return true;
}

static void on_code(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct cpu *cpu = opaque;
	const bool landing = cpu->in_flight;

	(void)uc;
	(void)size;
	if (cpu->stopping)
		return;
	if (landing) {
		land(cpu, address);
		if (cpu->engine == CPU_ENGINE_STEP || cpu->tally.due)
			cpu_settle(cpu, cpu_entered(cpu));
	}
	if (cpu->edge ? at_edge(cpu) : is_interrupted(cpu)) {
		cpu_settle(cpu, cpu_entered(cpu));
		leave(cpu, true);
		return;
	}
	if (!cpu->reserve || cpu->tally.due || cpu->flush || (landing && ends_softly(cpu))) {
		leave(cpu, false);
		return;
	}
	if (cpu->tally.watch && !watch_next(cpu, address)) {
		give_up(cpu, address);
		return;
	}
	cpu->edge = false;
	cpu->in_flight = true;
	cpu->hook.block_end = address + INSN_BYTES;
}

/* -- exceptions ------------------------------------------------------------ */

/* PSTATE.SS for the next instruction, with D held clear so that EL1 steps. */
static void arm_single_step(struct cpu *cpu, uint64_t pstate)
{
	uint32_t value = (uint32_t)(pstate | PSTATE_SS);

	if (cpu->el)
		value &= ~(uint32_t)PSTATE_D;
	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &value);
	if (cpu->el) /* D has changed, and Unicorn caches what follows from it */
		cpu_cp_write(cpu->uc, CPU_REG_MDSCR, MDSCR_SS | MDSCR_KDE);
}

/* A step exception with more steps to come, between which nobody need look? A PC
 * that stands still may be an undefined instruction, and is looked at. */
static bool steps_on(struct cpu *cpu)
{
	uint64_t pc;

	if (!cpu->stepping || !cpu->steps || cpu->stopping ||
	    cpu->intno != EXCEPTION_INTR_UNDEF)
		return false;
	pc = cpu_pc(cpu);
	if (pc == cpu->step_pc)
		return false;
	cpu_touch_down(cpu, pc);
	if (cpu->tally.due || cpu->ops.irq(cpu->ops.opaque))
		return false;
	cpu->steps--;
	cpu->step_pc = pc;
	cpu->fresh = true;
	arm_single_step(cpu, cpu_pstate_read(cpu));
	return true;
}

static void on_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	struct cpu *cpu = opaque;

	cpu->intno = intno;
	if (steps_on(cpu))
		return;
	cpu->excepted = true;
	uc_emu_stop(uc);
}

/* -- system registers ----------------------------------------------------- */

static uint32_t enc_of(const uc_arm64_cp_reg *reg)
{
	return SYSREG(reg->op0, reg->op1, reg->crn, reg->crm, reg->op2);
}

/* Unicorn ends the block behind a register that it does not know, without a PC
 * of its own. */
static uint32_t taken_over(struct cpu *cpu, uint32_t enc, bool write, uint64_t pc)
{
	if (cpu_bit_test(cpu->foreign[write], enc))
		cpu_reg_write(cpu, UC_ARM64_REG_PC, pc + INSN_BYTES);
	return 1;
}

/*
 * Hooks run before Unicorn's own privilege check: on anything but OK the access
 * is left to it, which refuses it too; how, judge_access() says.
 */
static uint32_t on_mrs(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint32_t enc = enc_of(reg);
	uint64_t pc, value;

	if (enc == CPU_REG_DAIF && cpu->stepping && cpu->el) {
		value = (cpu_pstate_read(cpu) & ~PSTATE_D & 0x3c0) | cpu->stepping_d;
	} else if (cpu_bit_test(cpu->owned, enc)) {
		pc = cpu_pc(cpu);
		cpu_count_before(cpu, pc);
		cpu_settle(cpu, executed_before(cpu, pc));
		if (cpu->ops.sysreg_read(cpu->ops.opaque, enc, cpu->el, &value) !=
		    SYSREG_OK)
			return 0;
		taken_over(cpu, enc, false, pc);
	} else {
		return 0;
	}
	if (rt != UC_ARM64_REG_XZR)
		uc_reg_write(uc, rt, &value);
	return 1;
}

/* @rest bytes of the current block follow an MSR that ended nothing (OSDLR_EL1 is
 * such a one): they are entered under the new budget. */
static void charge_rest(struct cpu *cpu, uint64_t rest)
{
	uint64_t *from = cpu->hook.left >= rest ? &cpu->hook.left : &cpu->reserve;

	if (*from < rest || (rest && cpu->tally.watch)) {
		cpu->hook.block_end -= rest; /* it ends with the MSR */
		leave(cpu, false);
	} else {
		*from -= rest;
	}
}

/* The MSR itself retires under the old configuration. A change of what is watched
 * begins with a new start behind it. */
static uint32_t on_msr(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;
	uint32_t enc = enc_of(reg), watch = cpu->tally.watch;
	uint64_t pc, before;

	(void)uc;
	(void)rt;
	if (!cpu_bit_test(cpu->owned, enc)) {
		if (cpu->el)
			cpu_wrote(cpu, enc, reg->val);
		return 0;
	}
	pc = cpu_pc(cpu);
	before = executed_before(cpu, pc);
	cpu_count_before(cpu, pc);
	cpu_settle(cpu, before);
	if (cpu->ops.sysreg_may_write(cpu->ops.opaque, enc, cpu->el) != SYSREG_OK)
		return 0;
	if (cpu->in_flight)
		land(cpu, pc + INSN_BYTES);
	else if (cpu->stepping)
		cpu_touch_down(cpu, pc + INSN_BYTES);
	cpu_count_before(cpu, pc + INSN_BYTES);
	cpu_settle(cpu, before + 1);
	cpu->ops.sysreg_write(cpu->ops.opaque, enc, cpu->el, reg->val);
	regrant(cpu);
	if (!cpu->each && !cpu->stepping)
		charge_rest(cpu, cpu->hook.block_end - (pc + INSN_BYTES));
	if (cpu->tally.watch != watch)
		leave(cpu, false);
	return taken_over(cpu, enc, true, pc);
}

static uint32_t on_sys(uc_engine *uc, uc_arm64_reg rt, const uc_arm64_cp_reg *reg,
		       void *opaque)
{
	struct cpu *cpu = opaque;

	(void)uc;
	(void)rt;
	if (reg->op1 == 3 && reg->crn == 7 && reg->crm == 5 && reg->op2 == 1)
		cpu_icache_line(cpu, reg->val);
	else if (reg->op1 == 0 && reg->crn == 7 && (reg->crm == 1 || reg->crm == 5) &&
		 reg->op2 == 0)
		cpu_icache_all(cpu);
	else if (reg->crn == 8) /* TLBI */
		cpu->generation++;
	return 0;
}

/* -- start-up ------------------------------------------------------------- */

static uc_err add_hook(struct cpu *cpu, int type, void *fn)
{
	return uc_hook_add(cpu->uc, &cpu->hooks[cpu->nhooks++], type, fn, cpu, 1, 0);
}

static uc_err add_insn_hook(struct cpu *cpu, int insn, void *fn)
{
	return uc_hook_add(cpu->uc, &cpu->hooks[cpu->nhooks++], UC_HOOK_INSN, fn, cpu, 1, 0,
			   insn);
}

uc_err cpu_add_hooks(struct cpu *cpu)
{
	uc_err err = add_hook(cpu, UC_HOOK_BLOCK,
			      cpu->ops.el0_only ? (void *)hook_block_el0 : (void *)hook_block);

	cpu->hook.slow = slow_block;
	cpu->each = cpu->engine == CPU_ENGINE_STEP;
	if (!err && cpu->each)
		err = add_hook(cpu, UC_HOOK_CODE, (void *)on_code);
	if (!err)
		err = add_hook(cpu, UC_HOOK_EDGE_GENERATED, (void *)on_edge);
	if (!err)
		err = add_hook(cpu, UC_HOOK_INTR, (void *)on_intr);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_MRS, (void *)on_mrs);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_MSR, (void *)on_msr);
	if (!err)
		err = add_insn_hook(cpu, UC_ARM64_INS_SYS, (void *)on_sys);
	return err;
}

/* The hook on each instruction is translated into the code, so it comes with all
 * translations. Once there it stays: to take it away Unicorn looks up every address
 * that had it, in whatever address space is current, and a guest of several CPUs did
 * not survive what the faults of that left behind. */
static bool set_each(struct cpu *cpu)
{
	uc_err e;

	if (cpu->each || !(cpu->tally.watch & MODEL_DATA))
		return true;
	e = uc_hook_add(cpu->uc, &cpu->code_hook, UC_HOOK_CODE, (void *)on_code, cpu, 1, 0);
	cpu->each = true;
	cpu->flush = true;
	if (!e)
		return true;
	snprintf(cpu->error, sizeof(cpu->error), "Unicorn: %s", uc_strerror(e));
	return false;
}

/* -- running -------------------------------------------------------------- */

static bool start(struct cpu *cpu, uint64_t pc)
{
	uc_err e;

	cpu_flush(cpu);
	cpu->hook.block_end = pc; /* nothing entered yet */
	cpu->block = NULL;
	cpu->code = NULL;
	cpu->airborne = false;
	cpu->edge = false;
	cpu->step_for = 0;
	cpu->fresh = true;
	cpu->excepted = false;
	cpu->stopping = false;
	cpu->interrupted = false;
	cpu->in_flight = false;
	cpu_hold(cpu); /* the first block is looked at */
	e = uc_emu_start(cpu->uc, pc, 0, 0, 0);
	if (!e)
		return !cpu->error[0];
	snprintf(cpu->error, sizeof(cpu->error), "Unicorn: %s at pc 0x%llx",
		 uc_strerror(e), (unsigned long long)cpu_pc(cpu));
	return false;
}

static void set_stepping(struct cpu *cpu, bool on)
{
	if (!on) {
		uint32_t pstate = (uint32_t)(cpu_pstate_read(cpu) & ~PSTATE_SS);

		uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
	}
	/* This write also rebuilds the flags that Unicorn caches. */
	cpu_cp_write(cpu->uc, CPU_REG_MDSCR, on ? MDSCR_SS | MDSCR_KDE : 0);
	cpu->stepping = on;
}

static void set_d(struct cpu *cpu, uint64_t d)
{
	uint32_t pstate = (uint32_t)((cpu_pstate_read(cpu) & ~PSTATE_D) | d);

	uc_reg_write(cpu->uc, UC_ARM64_REG_PSTATE, &pstate);
}

/* PSTATE.D after the instruction at @pc was stepped at EL1 with D held clear. */
static uint64_t d_after(struct cpu *cpu, uint32_t word)
{
	uint64_t live = cpu_pstate_read(cpu) & PSTATE_D;

	if (word == WORD_ERET)
		return live;
	if ((word & 0xffffffe0) == 0xd51b4220) /* msr daif, xt */
		return live;
	if ((word & 0xfffff0ff) == 0xd50340df) /* msr daifset, #imm */
		return cpu->stepping_d | live;
	if ((word & 0xfffff0ff) == 0xd50340ff && word & 0x800) /* msr daifclr, #8.. */
		return 0;
	return cpu->stepping_d;
}

static bool retires_itself(uint32_t intno)
{
	return intno == EXCEPTION_INTR_SVC || intno == EXCEPTION_INTR_HVC ||
	       intno == EXCEPTION_INTR_SMC || intno == EXCEPTION_INTR_FETCH_ABORT;
}

/*
 * An access that a hook left to Unicorn. Some registers it does not know, where EL0
 * may be trapped and not undefined; others it does, which this machine may not have
 * or may refuse: those MDCR_EL2.TPM traps. The machine has the word.
 */
static void judge_access(struct cpu *cpu, struct cpu_exception *exc)
{
	const uint64_t ec = exc->esr >> CPU_EC_SHIFT;
	enum sysreg_result result;
	unsigned rt = 0;
	uint64_t value;
	uint32_t enc, read;

	if (!exc->began || (ec != CPU_EC_UNKNOWN && ec != CPU_EC_SYSREG))
		return;
	enc = insn_sysreg(exc->word, &rt);
	if (!enc || !cpu_bit_test(cpu->owned, enc))
		return;
	read = exc->word >> 21 & 1;
	result = read ? cpu->ops.sysreg_read(cpu->ops.opaque, enc, cpu->el, &value) :
			cpu->ops.sysreg_may_write(cpu->ops.opaque, enc, cpu->el);
	if (result == SYSREG_OK)
		return;
	exc->target = 1;
	exc->esr = ESR_IL;
	if (result == SYSREG_TRAP_EL1)
		exc->esr |= (uint64_t)CPU_EC_SYSREG << CPU_EC_SHIFT | (enc >> 14 & 3) << 20 |
			    (enc & 7) << 17 | (enc >> 11 & 7) << 14 |
			    (enc >> 7 & 15) << 10 | rt << 5 | (enc >> 3 & 15) << 1 | read;
}

/* The exception that stopped the engine, with what ran before it settled. */
static enum cpu_stop take_exception(struct cpu *cpu, struct cpu_exception *exc)
{
	uint64_t pc = cpu_pc(cpu), pa;

	if (exception_decode(&cpu->probe, cpu->uc, cpu->intno, pc, exc)) {
		snprintf(cpu->error, sizeof(cpu->error), "Unicorn: cannot save a context");
		return CPU_STOP_ERROR;
	}
	if (retires_itself(cpu->intno)) {
		/* A call retires; it is the last of its block. What could not be
		 * fetched was never begun: the branch to it retires. */
		if (cpu->in_flight)
			land(cpu, pc);
		cpu_touch_down(cpu, pc);
		cpu_count_block(cpu, pc);
		cpu_settle(cpu, cpu_entered(cpu));
	} else {
		cpu_count_before(cpu, pc);
		cpu_settle(cpu, executed_before(cpu, pc));
		exc->began = cpu_word_at(cpu, pc, &exc->word, &pa);
		judge_access(cpu, exc);
	}
	cpu->el = cpu_pstate_el(cpu_pstate_read(cpu));
	return CPU_STOP_EXCEPTION;
}

static bool is_step_exception(struct cpu *cpu)
{
	struct cpu_exception exc;
	uint64_t ec;

	if (!cpu->excepted)
		return cpu->stopping; /* an ERET to masked debug exceptions */
	if (cpu->intno != EXCEPTION_INTR_UNDEF)
		return false;
	if (cpu_pc(cpu) != cpu->step_pc)
		return true;
	/* A branch to itself and an undefined instruction both leave the PC. */
	if (exception_decode(&cpu->probe, cpu->uc, cpu->intno, cpu->step_pc, &exc))
		return false;
	ec = exc.esr >> CPU_EC_SHIFT;
	return ec == CPU_EC_STEP_LOWER || ec == CPU_EC_STEP_SAME;
}

/* It retired, as the step exception tells. */
static void end_step(struct cpu *cpu)
{
	if (cpu->airborne)
		cpu_touch_down(cpu, cpu_pc(cpu));
	cpu_settle(cpu, cpu_entered(cpu));
	if (cpu->el) /* only ERET changes it without an exception */
		cpu->el = cpu_pstate_el(cpu_pstate_read(cpu));
}

/* One instruction, or at EL0 cpu->steps more. CPU_STOP_BUDGET: it retired and nothing
 * else happened. */
static enum cpu_stop step_once(struct cpu *cpu, struct cpu_exception *exc)
{
	const uint64_t pc = cpu_pc(cpu), pstate = cpu_pstate_read(cpu);
	const unsigned el = cpu->el;
	uint32_t word = 0;
	uint64_t pa;

	if (el) {
		cpu->stepping_d = pstate & PSTATE_D;
		cpu_word_at(cpu, pc, &word, &pa);
	}
	cpu->step_pc = pc;
	arm_single_step(cpu, pstate);
	if (!start(cpu, pc))
		return CPU_STOP_ERROR;
	if (is_step_exception(cpu)) {
		if (el)
			set_d(cpu, d_after(cpu, word));
		end_step(cpu);
		return CPU_STOP_BUDGET;
	}
	if (el)
		set_d(cpu, cpu->stepping_d);
	if (cpu->excepted)
		return take_exception(cpu, exc);
	cpu_touch_down(cpu, cpu_pc(cpu));
	cpu_settle(cpu, cpu_entered(cpu));
	return CPU_STOP_WAIT;
}

static enum cpu_stop step_on(struct cpu *cpu, uint64_t n, struct cpu_exception *exc)
{
	const uint32_t watch = cpu->tally.watch;
	const unsigned el = cpu->el;

	while (n && cpu->hook.left + cpu->reserve) {
		enum cpu_stop stop;

		n--;
		cpu->steps = el ? 0 : n;
		stop = step_once(cpu, exc);
		if (!el)
			n = cpu->steps;
		if (stop != CPU_STOP_BUDGET)
			return stop;
		if (cpu->el != el || cpu->tally.due || cpu->tally.watch != watch)
			return CPU_STOP_BUDGET; /* the machine looks anew */
		if (is_interrupted(cpu))
			return CPU_STOP_IRQ;
	}
	return CPU_STOP_BUDGET;
}

/* Block engine: what is left of the budget, less than a block, or a block that
 * does not fit into a room. */
static enum cpu_stop single_step(struct cpu *cpu, struct cpu_exception *exc)
{
	const uint64_t n = cpu->step_for;
	enum cpu_stop stop;

	set_stepping(cpu, true);
	stop = step_on(cpu, n, exc);
	set_stepping(cpu, false);
	return stop;
}

enum cpu_stop cpu_run(struct cpu *cpu, uint64_t budget, struct cpu_exception *exc)
{
	if (is_interrupted(cpu))
		return CPU_STOP_IRQ;
	cpu->settled = 0;
	cpu_ask(cpu, budget);
	if (!set_each(cpu) || !start(cpu, cpu_pc(cpu)))
		return CPU_STOP_ERROR;
	if (cpu->excepted)
		return take_exception(cpu, exc);
	if (cpu->interrupted)
		return CPU_STOP_IRQ;
	if (!cpu->stopping) {
		uint64_t pc = cpu_pc(cpu);

		if (cpu->in_flight)
			land(cpu, pc);
		cpu_count_block(cpu, pc);
		cpu_settle(cpu, cpu_entered(cpu));
		return CPU_STOP_WAIT;
	}
	cpu_settle(cpu, cpu_entered(cpu));
	if (cpu->step_for)
		return single_step(cpu, exc);
	return CPU_STOP_BUDGET;
}

const char *cpu_error(const struct cpu *cpu)
{
	return cpu->error;
}

uint64_t cpu_last_pc(const struct cpu *cpu)
{
	return cpu->hook.block_end - INSN_BYTES;
}

unsigned cpu_el(const struct cpu *cpu)
{
	return cpu->el;
}

