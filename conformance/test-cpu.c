/* SPDX-License-Identifier: MIT */
/*
 * The two engines against each other and against the architecture: each stops
 * after exactly the instructions it was given, and counts what an exception or
 * a register access in mid-block leaves behind.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cpu.h"

enum {
	MAPPED = 4 << 20, /* at EL0 */
	RAM_SIZE = MAPPED + 0x3000, /* blocks and pages of stage 2 */
	CODE = 0x10000, /* offsets in RAM */
	L1_TABLE = 0x1000,
	L2_TABLE = 0x2000,
	MAX_CALLS = 64,
};

#define RAM_BASE UINT64_C(0x40000000)
#define NOWHERE	 UINT64_C(0x1000) /* not mapped */
#define CNTVCT	   SYSREG(3, 3, 14, 0, 2)
#define PMSWINC	   SYSREG(3, 3, 9, 12, 4)
#define OSDLR	   SYSREG(2, 0, 1, 3, 4)
#define PMEVCNTR30 SYSREG(3, 3, 14, 11, 6) /* unknown to Unicorn; traps at EL0 */
#define PMEVCNTR0  SYSREG(3, 3, 14, 8, 0)  /* known to it, not to the machine */

/* Encodings; branch offsets in instructions. */
#define ADD_X1	     UINT32_C(0x91000421) /* add x1, x1, #1 */
#define SUBS_X0	     UINT32_C(0xf1000400) /* subs x0, x0, #1 */
#define EOR_X1_X0    UINT32_C(0xca000021) /* eor x1, x1, x0 */
#define TBZ_X1(n)    (UINT32_C(0x36000001) | ((uint32_t)(n)&0x3fff) << 5)
#define B_NE(n)	     (UINT32_C(0x54000001) | ((uint32_t)(n)&0x7ffff) << 5)
#define B(n)	     (UINT32_C(0x14000000) | ((uint32_t)(n)&0x3ffffff))
#define SVC(imm)     (UINT32_C(0xd4000001) | (uint32_t)(imm) << 5)
#define MRS_X2	     UINT32_C(0xd53be042) /* mrs x2, cntvct_el0 */
#define MRS_X5_MIDR  UINT32_C(0xd5380005) /* mrs x5, midr_el1 */
#define LDR_X3_X4    UINT32_C(0xf9400083)
#define BR_X4	     UINT32_C(0xd61f0080)
#define UDF	     UINT32_C(0x00000000)
#define NOP	     UINT32_C(0xd503201f)
#define WFI	     UINT32_C(0xd503207f)
#define HVC	     UINT32_C(0xd4000002)
#define ERET	     UINT32_C(0xd69f03e0)
#define STR_W3_X2    UINT32_C(0xb9000043)
#define LDR_W5_X2    UINT32_C(0xb9400045)
#define DAIFSET(n)   (UINT32_C(0xd50340df) | (uint32_t)(n) << 8)
#define DAIFCLR(n)   (UINT32_C(0xd50340ff) | (uint32_t)(n) << 8)
#define MRS_X6_DAIF  UINT32_C(0xd53b4226)
#define MSR_SWINC_X3 UINT32_C(0xd51b9c83)
#define MSR_C30_X3   UINT32_C(0xd51bebc3) /* msr pmevcntr30_el0, x3 */
#define MRS_X7_C30   UINT32_C(0xd53bebc7)
#define MRS_X7_PMCCNTR UINT32_C(0xd53b9d07) /* refused when it is executed */
#define MRS_X7_C0    UINT32_C(0xd53be807) /* mrs x7, pmevcntr0_el0 */
#define MSR_C0_X3    UINT32_C(0xd51be803)
#define IC_IVAU_X4   UINT32_C(0xd50b7524)
#define MSR_OSDLR_X3 UINT32_C(0xd5101383) /* ends no block */

static uint8_t *ram;
static struct cpu *cpu;

static struct {
	uint64_t retired;
	uint64_t at_read[MAX_CALLS]; /* retired when a register was read */
	unsigned reads;
	uint64_t at_write[MAX_CALLS], written[MAX_CALLS];
	unsigned writes;
} seen;

static void on_retired(void *opaque, const struct cpu_work *work)
{
	(void)opaque;
	seen.retired += work->insns;
}

static void (*retired_hook)(void *opaque, const struct cpu_work *work) = on_retired;

/* The tests' budgets are all that limits. */
static void on_grant(void *opaque, struct cpu_grant *grant)
{
	(void)opaque;
	grant->insns = UINT64_MAX;
	grant->watch = 0;
}

static bool wire;

static bool on_irq(void *opaque)
{
	(void)opaque;
	return wire;
}

static bool on_owns(void *opaque, uint32_t enc)
{
	(void)opaque;
	return enc == CNTVCT || enc == PMSWINC || enc == PMEVCNTR30 || enc == OSDLR ||
	       enc == PMEVCNTR0;
}

static enum sysreg_result on_read(void *opaque, uint32_t enc, unsigned el, uint64_t *value)
{
	(void)opaque;
	if (enc == PMEVCNTR30 && !el)
		return SYSREG_TRAP_EL1;
	if (!on_owns(NULL, enc) || enc == PMEVCNTR0)
		return SYSREG_UNDEF;
	ck_assert_uint_lt(seen.reads, MAX_CALLS);
	seen.at_read[seen.reads++] = seen.retired;
	*value = seen.retired;
	return SYSREG_OK;
}

static enum sysreg_result on_may_write(void *opaque, uint32_t enc, unsigned el)
{
	(void)opaque;
	if (enc == PMEVCNTR30 && !el)
		return SYSREG_TRAP_EL1;
	return el && on_owns(NULL, enc) && enc != PMEVCNTR0 ? SYSREG_OK : SYSREG_UNDEF;
}

/* PMSWINC raises the wire, as a register that makes an interrupt pending does. */
static enum sysreg_result on_write(void *opaque, uint32_t enc, unsigned el, uint64_t value)
{
	(void)opaque;
	(void)el;
	ck_assert_uint_lt(seen.writes, MAX_CALLS);
	seen.at_write[seen.writes] = seen.retired;
	seen.written[seen.writes++] = value;
	if (enc == PMSWINC)
		wire = true;
	return SYSREG_OK;
}

static void store64(uint64_t offset, uint64_t value)
{
	memcpy(ram + offset, &value, sizeof(value));
}

/* RAM at its own address for EL0, all else unmapped. */
static void map_ram(void)
{
	const uint64_t block = UINT64_C(1) | 1 << 6 | 3 << 8 | 1 << 10 | 1 << 11;

	store64(L1_TABLE + 8, (RAM_BASE + L2_TABLE) | 3);
	store64(L2_TABLE, RAM_BASE | block);
	store64(L2_TABLE + 8, (RAM_BASE + 0x200000) | block);
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 10, 2, 0), 0xff));
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 2, 0, 2),
				   UINT64_C(25) | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 |
					   UINT64_C(2) << 32));
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 2, 0, 0), RAM_BASE + L1_TABLE));
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 1, 0, 0), UINT64_C(0x30d00801) | 4 | 1 << 12));
}

static void start(enum cpu_engine engine, const uint32_t *code, size_t n)
{
	const struct cpu_ops ops = {
		.retired = retired_hook,
		.grant = on_grant,
		.irq = on_irq,
		.owns = on_owns,
		.sysreg_read = on_read,
		.sysreg_may_write = on_may_write,
		.sysreg_write = on_write,
	};
	char err[128];

	memset(&seen, 0, sizeof(seen));
	wire = false;
	ram = aligned_alloc(4096, RAM_SIZE);
	ck_assert_ptr_nonnull(ram);
	memset(ram, 0, RAM_SIZE);
	cpu = cpu_create(engine, RAM_BASE, ram, RAM_SIZE, &ops, err, sizeof(err));
	ck_assert_msg(cpu != NULL, "%s", err);
	map_ram();
	memcpy(ram + CODE, code, n * sizeof(*code));
	cpu_set_pstate(cpu, 0);
	cpu_set_pc(cpu, RAM_BASE + CODE);
}

static void stop(void)
{
	cpu_destroy(cpu);
	free(ram);
}

#define START(engine, code) start(engine, code, sizeof(code) / sizeof((code)[0]))

static uint64_t code_address(unsigned insn)
{
	return RAM_BASE + CODE + 4 * insn;
}

static const enum cpu_engine engines[] = { CPU_ENGINE_STEP, CPU_ENGINE_BLOCK };

/* Flags, a data-dependent branch and blocks of 2, 3 and 1 instructions. */
static const uint32_t branchy[] = {
	SUBS_X0, EOR_X1_X0, TBZ_X1(3), ADD_X1, ADD_X1, ADD_X1, B_NE(-6), SVC(7),
};

struct state {
	uint64_t pc, x0, x1, pstate;
};

static struct state state_after(enum cpu_engine engine, uint64_t first, uint64_t second)
{
	struct cpu_exception exc;
	struct state state;

	START(engine, branchy);
	cpu_set_x(cpu, 0, 1000);
	ck_assert_int_eq(cpu_run(cpu, first, &exc), CPU_STOP_BUDGET);
	ck_assert_uint_eq(seen.retired, first);
	ck_assert_int_eq(cpu_run(cpu, second, &exc), CPU_STOP_BUDGET);
	ck_assert_uint_eq(seen.retired, first + second);
	state = (struct state){ cpu_pc(cpu), cpu_x(cpu, 0), cpu_x(cpu, 1), cpu_pstate(cpu) };
	stop();
	return state;
}

START_TEST(cpu_block_engine_stops_where_the_step_engine_does)
{
	for (uint64_t n = 1; n <= 24; n++) {
		struct state want = state_after(CPU_ENGINE_STEP, n, 17);
		struct state have = state_after(CPU_ENGINE_BLOCK, n, 17);

		ck_assert_uint_eq(have.pc, want.pc);
		ck_assert_uint_eq(have.x0, want.x0);
		ck_assert_uint_eq(have.x1, want.x1);
		ck_assert_uint_eq(have.pstate, want.pstate);
	}
}
END_TEST

START_TEST(cpu_svc_counts_and_returns_behind_itself)
{
	static const uint32_t code[] = { ADD_X1, ADD_X1, SVC(0x123), ADD_X1, SVC(1) };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 3);
	ck_assert_uint_eq(exc.esr, (uint64_t)CPU_EC_SVC64 << CPU_EC_SHIFT | 1 << 25 | 0x123);
	ck_assert_uint_eq(exc.elr, code_address(3));
	ck_assert_uint_eq(cpu_pc(cpu), code_address(3));
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 5);
	ck_assert_uint_eq(cpu_x(cpu, 1), 3);
	stop();
}
END_TEST

/* The budget ends on the SVC itself: it is taken, not put off. */
START_TEST(cpu_svc_as_the_last_of_the_budget_is_taken)
{
	static const uint32_t code[] = { ADD_X1, ADD_X1, SVC(5), ADD_X1 };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 3, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 3);
	ck_assert_uint_eq(exc.esr & 0xffff, 5);
	stop();
}
END_TEST

START_TEST(cpu_data_abort_in_mid_block_is_not_counted)
{
	static const uint32_t code[] = { ADD_X1, ADD_X1, LDR_X3_X4, ADD_X1, SVC(0) };
	struct cpu_exception exc;

	START(engines[_i], code);
	cpu_set_x(cpu, 4, NOWHERE + 8);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_DABORT_LOWER);
	ck_assert_uint_eq(exc.far, NOWHERE + 8);
	ck_assert_uint_eq(exc.elr, code_address(2));
	ck_assert_uint_eq(cpu_x(cpu, 1), 2);
	/* Mended, the same instruction runs and is counted once. */
	cpu_set_x(cpu, 4, RAM_BASE);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 5);
	stop();
}
END_TEST

START_TEST(cpu_fetch_abort_is_not_counted_but_its_branch_is)
{
	static const uint32_t code[] = { ADD_X1, BR_X4 };
	struct cpu_exception exc;

	START(engines[_i], code);
	cpu_set_x(cpu, 4, NOWHERE);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_IABORT_LOWER);
	ck_assert_uint_eq(exc.far, NOWHERE);
	ck_assert_uint_eq(exc.elr, NOWHERE);
	stop();
}
END_TEST

START_TEST(cpu_undefined_instruction_is_not_counted)
{
	static const uint32_t code[] = { ADD_X1, ADD_X1, UDF, ADD_X1 };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_UNKNOWN);
	ck_assert_uint_eq(exc.elr, code_address(2));
	stop();
}
END_TEST

/* The same under single-step, where both arrive as one interrupt number. */
START_TEST(cpu_undefined_instruction_within_the_last_block_is_told_from_a_step)
{
	static const uint32_t code[] = { ADD_X1, ADD_X1, UDF, ADD_X1, ADD_X1, ADD_X1 };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 2, &exc), CPU_STOP_BUDGET);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_int_eq(cpu_run(cpu, 1, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_UNKNOWN);
	stop();
}
END_TEST

/* One that Unicorn finds when it is executed, with more of the budget to come: it
 * is told at once, and not tried again for each instruction that is left. */
START_TEST(cpu_refused_register_with_steps_to_come_is_not_counted)
{
	static const uint32_t code[] = { ADD_X1, MRS_X7_PMCCNTR, ADD_X1, ADD_X1, ADD_X1, SVC(0) };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 4, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.elr, code_address(1));
	ck_assert_uint_eq(seen.retired, 1);
	stop();
}
END_TEST

START_TEST(cpu_branch_to_itself_uses_up_the_budget)
{
	static const uint32_t code[] = { ADD_X1, B(0) };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 8, &exc), CPU_STOP_BUDGET);
	ck_assert_uint_eq(seen.retired, 8);
	ck_assert_uint_eq(cpu_pc(cpu), code_address(1));
	stop();
}
END_TEST

START_TEST(cpu_register_read_in_mid_block_sees_what_ran_before_it)
{
	static const uint32_t code[] = { ADD_X1, MRS_X2, ADD_X1, ADD_X1, MRS_X2, SVC(0) };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.reads, 2);
	ck_assert_uint_eq(seen.at_read[0], 1);
	ck_assert_uint_eq(seen.at_read[1], 4);
	ck_assert_uint_eq(cpu_x(cpu, 2), 4);
	ck_assert_uint_eq(seen.retired, 6);
	stop();
}
END_TEST

START_TEST(cpu_register_of_el1_traps_at_el0)
{
	static const uint32_t code[] = { ADD_X1, MRS_X5_MIDR, ADD_X1, SVC(0) };
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_ne(exc.esr >> CPU_EC_SHIFT, CPU_EC_SVC64);
	ck_assert_uint_eq(exc.elr, code_address(1));
	ck_assert_uint_eq(seen.retired, 1);
	stop();
}
END_TEST

START_TEST(cpu_new_code_runs_after_a_sync)
{
	static const uint32_t code[] = { ADD_X1, SVC(1) };
	const uint32_t patched = SVC(2);
	struct cpu_exception exc;

	START(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	memcpy(ram + CODE, &patched, sizeof(patched));
	cpu_sync_icache(cpu, RAM_BASE + CODE, sizeof(patched));
	cpu_set_pc(cpu, RAM_BASE + CODE);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.esr & 0xffff, 2);
	stop();
}
END_TEST

/* The second block of RAM may not be executed at EL0: what a JIT compiler has
 * written and not yet made executable. */
START_TEST(cpu_icache_line_of_data_is_no_abort)
{
	static const uint32_t code[] = { IC_IVAU_X4, ADD_X1, ADD_X1, SVC(1) };
	const uint64_t block = UINT64_C(1) | 1 << 6 | 3 << 8 | 1 << 10 | 1 << 11;
	struct cpu_exception exc;

	START(engines[_i], code);
	store64(L2_TABLE + 8, (RAM_BASE + 0x200000) | block | UINT64_C(1) << 54);
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 1, 0, 0),
				   UINT64_C(0x30d00801) | 4 | 1 << 12 | 1 << 26));
	cpu_set_x(cpu, 4, RAM_BASE + 0x200040);
	ck_assert_int_eq(cpu_run(cpu, 2, &exc), CPU_STOP_BUDGET);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_SVC64);
	ck_assert_uint_eq(seen.retired, 4);
	stop();
}
END_TEST

/* More blocks than Unicorn's buffer for translations has room for: about 450
 * bytes for each of 393,000. */
START_TEST(cpu_translations_beyond_the_buffer_are_flushed)
{
	static const uint32_t code[] = { SVC(0) };
	static const uint32_t block[] = { LDR_X3_X4, B(1) };
	static const uint32_t last = SVC(3);
	const uint64_t first = 0x100000;
	struct cpu_exception exc;
	uint64_t blocks = 0;
	enum cpu_stop reason;

	START(engines[_i], code);
	for (uint64_t at = first; at + sizeof(block) <= MAPPED - 64; at += sizeof(block)) {
		memcpy(ram + at, block, sizeof(block));
		blocks++;
	}
	memcpy(ram + first + blocks * sizeof(block), &last, sizeof(last));
	cpu_set_x(cpu, 4, RAM_BASE + 0x8000);
	cpu_set_pc(cpu, RAM_BASE + first);
	do
		reason = cpu_run(cpu, UINT64_MAX, &exc);
	while (reason == CPU_STOP_BUDGET);
	ck_assert_int_eq(reason, CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.esr & 0xffff, 3);
	ck_assert_uint_eq(seen.retired, 2 * blocks + 1);
	stop();
}
END_TEST

/* -- EL1 ------------------------------------------------------------------ */

enum { VECTORS = 0x8000, EL0_CODE = 0x20000, PSTATE_EL1H_MASKED = 0x3c5 };

#define DEVICE UINT64_C(0x09000000)
#define VBAR   SYSREG(3, 0, 12, 0, 0)
#define ELR    SYSREG(3, 0, 4, 0, 1)
#define SPSR   SYSREG(3, 0, 4, 0, 0)

/* At EL1 with the MMU off: physical addresses, devices behind stage 2. */
static void start_el1(enum cpu_engine engine, const uint32_t *code, size_t n)
{
	start(engine, code, n);
	ck_assert(cpu_sysreg_write(cpu, SYSREG(3, 0, 1, 0, 0), UINT64_C(0x30d00800)));
	ck_assert(cpu_sysreg_write(cpu, VBAR, RAM_BASE + VECTORS));
	cpu_set_pstate(cpu, PSTATE_EL1H_MASKED);
	cpu_set_sp(cpu, RAM_BASE + 0x100000);
}

#define START_EL1(engine, code) start_el1(engine, code, sizeof(code) / sizeof((code)[0]))

START_TEST(cpu_device_access_stops_with_its_register_and_address)
{
	static const uint32_t code[] = { NOP, STR_W3_X2, NOP, LDR_W5_X2, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	cpu_set_x(cpu, 2, DEVICE + 0x18);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.target, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_DABORT_LOWER);
	ck_assert_uint_eq(exc.ipa, DEVICE + 0x18);
	ck_assert_uint_eq(exc.esr >> 24 & 1, 1);	/* ISV: the rest holds */
	ck_assert_uint_eq(exc.esr >> 22 & 3, 2);	/* SAS: a word */
	ck_assert_uint_eq(exc.esr >> 16 & 31, 3);	/* SRT: w3 */
	ck_assert_uint_eq(exc.esr >> 6 & 1, 1);		/* WnR: a write */
	ck_assert_uint_eq(exc.elr, code_address(1));
	ck_assert_uint_eq(seen.retired, 1);
	cpu_set_pc(cpu, code_address(2));
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.esr >> 16 & 31, 5);
	ck_assert_uint_eq(exc.esr >> 6 & 1, 0);
	ck_assert_uint_eq(seen.retired, 2);
	stop();
}
END_TEST

START_TEST(cpu_hvc_and_wfi_retire)
{
	static const uint32_t code[] = { NOP, WFI, NOP, HVC, NOP };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_WAIT);
	ck_assert_uint_eq(seen.retired, 2);
	ck_assert_uint_eq(cpu_pc(cpu), code_address(2));
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.target, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_HVC64);
	ck_assert_uint_eq(seen.retired, 4);
	stop();
}
END_TEST

/* Budgets of 1 step through it all: single-step at EL1 with PSTATE.D set. */
START_TEST(cpu_masked_debug_survives_single_step)
{
	static const uint32_t code[] = {
		NOP, MRS_X6_DAIF, NOP, DAIFCLR(8), NOP, MRS_X6_DAIF, NOP, DAIFSET(8),
		NOP, MRS_X6_DAIF, NOP, NOP,
	};
	static const uint64_t d_behind[] = { 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1 };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	for (unsigned n = 0; n < sizeof(d_behind) / sizeof(d_behind[0]); n++) {
		ck_assert_int_eq(cpu_run(cpu, 1, &exc), CPU_STOP_BUDGET);
		ck_assert_uint_eq(cpu_pc(cpu), code_address(n + 1));
		ck_assert_uint_eq(cpu_pstate(cpu) >> 9 & 1, d_behind[n]);
		if (code[n] == MRS_X6_DAIF)
			ck_assert_uint_eq(cpu_x(cpu, 6) >> 9 & 1, d_behind[n]);
	}
	ck_assert_uint_eq(seen.retired, 11);
	stop();
}
END_TEST

/* A register that Unicorn does not know, in the middle of straight code. */
START_TEST(cpu_unknown_register_is_served_once)
{
	static const uint32_t code[] = { NOP, MSR_C30_X3, NOP, MRS_X7_C30, NOP, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	cpu_set_x(cpu, 3, 77);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.writes, 1);
	ck_assert_uint_eq(seen.written[0], 77);
	ck_assert_uint_eq(seen.at_write[0], 2); /* the MSR has retired */
	ck_assert_uint_eq(seen.reads, 1);
	ck_assert_uint_eq(cpu_x(cpu, 7), 3); /* the MRS has not */
	ck_assert_uint_eq(seen.retired, 6);
	stop();
}
END_TEST

/* One that it would serve by itself. */
START_TEST(cpu_register_that_the_machine_lacks_is_undefined)
{
	static const uint32_t code[] = { NOP, MRS_X7_C0, MSR_C0_X3, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	for (unsigned i = 1; i < 3; i++) {
		ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
		ck_assert_uint_eq(exc.target, 1);
		ck_assert_uint_eq(exc.esr, UINT64_C(1) << 25);
		ck_assert_uint_eq(exc.elr, code_address(i));
		ck_assert_uint_eq(seen.retired, 1);
		cpu_set_pc(cpu, code_address(i + 1));
	}
	ck_assert_uint_eq(seen.reads + seen.writes, 0);
	stop();
}
END_TEST

/* ISS: op0 op2 op1 CRn Rt CRm and the direction. */
START_TEST(cpu_unknown_register_traps_at_el0)
{
	static const uint32_t code[] = { ADD_X1, MRS_X7_C30, MSR_C30_X3, SVC(0) };
	static const uint32_t iss[] = {
		3 << 20 | 6 << 17 | 3 << 14 | 14 << 10 | 7 << 5 | 11 << 1 | 1,
		3 << 20 | 6 << 17 | 3 << 14 | 14 << 10 | 3 << 5 | 11 << 1,
	};
	struct cpu_exception exc;

	START(engines[_i], code);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
		ck_assert_uint_eq(exc.target, 1);
		ck_assert_uint_eq(exc.esr, (UINT64_C(0x18) << 26 | 1 << 25) + iss[i]);
		ck_assert_uint_eq(exc.elr, code_address(1 + i));
		ck_assert_uint_eq(seen.retired, 1);
		cpu_set_pc(cpu, code_address(2 + i));
	}
	stop();
}
END_TEST

START_TEST(cpu_address_behind_the_ram_is_none_of_it)
{
	static const uint32_t code[] = { LDR_W5_X2, LDR_X3_X4, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	cpu_set_x(cpu, 2, RAM_BASE + RAM_SIZE - 4);
	cpu_set_x(cpu, 4, RAM_BASE + RAM_SIZE);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.target, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_DABORT_LOWER);
	ck_assert_uint_eq(exc.ipa, RAM_BASE + RAM_SIZE);
	ck_assert_uint_eq(seen.retired, 1);
	cpu_set_pc(cpu, RAM_BASE + RAM_SIZE + 0x10);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.target, 2);
	ck_assert_uint_eq(exc.esr >> CPU_EC_SHIFT, CPU_EC_IABORT_LOWER);
	stop();
}
END_TEST

/* Unicorn goes on with the same block behind it. */
START_TEST(cpu_write_in_mid_block_counts_the_rest_too)
{
	static const uint32_t code[] = { NOP, MSR_OSDLR_X3, MSR_OSDLR_X3, NOP, NOP, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(seen.writes, 2);
	ck_assert_uint_eq(seen.at_write[0], 2);
	ck_assert_uint_eq(seen.at_write[1], 3);
	ck_assert_uint_eq(seen.retired, 6);
	stop();
}
END_TEST

START_TEST(cpu_irq_raised_by_a_write_is_taken_behind_it)
{
	static const uint32_t code[] = { DAIFCLR(2), NOP, MSR_SWINC_X3, NOP, NOP, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_IRQ);
	ck_assert_uint_eq(seen.retired, 3);
	ck_assert_uint_eq(cpu_pc(cpu), code_address(3));
	cpu_deliver_irq(cpu);
	ck_assert_uint_eq(cpu_pc(cpu), RAM_BASE + VECTORS + 0x280);
	ck_assert_uint_eq(cpu_pstate(cpu) & 0x3c0, 0x3c0);
	stop();
}
END_TEST

START_TEST(cpu_pending_irq_waits_for_the_unmasking_instruction)
{
	static const uint32_t code[] = { NOP, MSR_SWINC_X3, NOP, NOP, DAIFCLR(2), NOP, HVC };
	struct cpu_exception exc;

	START_EL1(engines[_i], code);
	ck_assert_int_eq(cpu_run(cpu, 100, &exc), CPU_STOP_IRQ);
	ck_assert_uint_eq(cpu_pc(cpu), code_address(5));
	ck_assert_uint_eq(seen.retired, 5);
	stop();
}
END_TEST

/* EL1 to EL0 by ERET, back by SVC; each instruction counts where it ran. */
static uint64_t retired_at[2];

static void on_retired_at(void *opaque, const struct cpu_work *work)
{
	(void)opaque;
	seen.retired += work->insns;
	retired_at[cpu_el(cpu)] += work->insns;
}

START_TEST(cpu_eret_changes_the_level_that_counts)
{
	static const uint32_t el1[] = { NOP, NOP, ERET };
	static const uint32_t el0[] = { ADD_X1, ADD_X1, ADD_X1, SVC(9) };
	const uint64_t budget = (uint64_t[]){ 100, 1 }[_i & 1];
	struct cpu_exception exc;
	enum cpu_stop reason;

	retired_at[0] = retired_at[1] = 0;
	retired_hook = on_retired_at;
	START_EL1(engines[_i >> 1], el1);
	memcpy(ram + EL0_CODE, el0, sizeof(el0));
	ck_assert(cpu_sysreg_write(cpu, ELR, RAM_BASE + EL0_CODE));
	ck_assert(cpu_sysreg_write(cpu, SPSR, 0));
	for (unsigned i = 0; i < 10; i++) {
		reason = cpu_run(cpu, budget, &exc);
		if (reason != CPU_STOP_BUDGET)
			break;
	}
	retired_hook = on_retired;
	ck_assert_int_eq(reason, CPU_STOP_EXCEPTION);
	ck_assert_uint_eq(exc.esr & 0xffff, 9);
	ck_assert_uint_eq(exc.target, 1);
	ck_assert_uint_eq(retired_at[1], 3);
	ck_assert_uint_eq(retired_at[0], 4);
	cpu_deliver(cpu, &exc);
	ck_assert_uint_eq(cpu_pc(cpu), RAM_BASE + VECTORS + 0x400);
	ck_assert_uint_eq(cpu_el(cpu), 1);
	ck_assert_uint_eq(cpu_sp(cpu), RAM_BASE + 0x100000);
	stop();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("cpu");
	TCase *t = tcase_create("engines");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, cpu_block_engine_stops_where_the_step_engine_does);
	tcase_add_loop_test(t, cpu_svc_counts_and_returns_behind_itself, 0, 2);
	tcase_add_loop_test(t, cpu_svc_as_the_last_of_the_budget_is_taken, 0, 2);
	tcase_add_loop_test(t, cpu_data_abort_in_mid_block_is_not_counted, 0, 2);
	tcase_add_loop_test(t, cpu_fetch_abort_is_not_counted_but_its_branch_is, 0, 2);
	tcase_add_loop_test(t, cpu_undefined_instruction_is_not_counted, 0, 2);
	tcase_add_loop_test(
		t, cpu_undefined_instruction_within_the_last_block_is_told_from_a_step, 0, 2);
	tcase_add_loop_test(t, cpu_refused_register_with_steps_to_come_is_not_counted, 0, 2);
	tcase_add_loop_test(t, cpu_branch_to_itself_uses_up_the_budget, 0, 2);
	tcase_add_loop_test(t, cpu_register_read_in_mid_block_sees_what_ran_before_it, 0, 2);
	tcase_add_loop_test(t, cpu_register_of_el1_traps_at_el0, 0, 2);
	tcase_add_loop_test(t, cpu_unknown_register_traps_at_el0, 0, 2);
	tcase_add_loop_test(t, cpu_new_code_runs_after_a_sync, 0, 2);
	tcase_add_loop_test(t, cpu_translations_beyond_the_buffer_are_flushed, 0, 2);
	tcase_add_loop_test(t, cpu_icache_line_of_data_is_no_abort, 0, 2);
	suite_add_tcase(s, t);

	t = tcase_create("EL1");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, cpu_device_access_stops_with_its_register_and_address, 0, 2);
	tcase_add_loop_test(t, cpu_hvc_and_wfi_retire, 0, 2);
	tcase_add_loop_test(t, cpu_masked_debug_survives_single_step, 0, 2);
	tcase_add_loop_test(t, cpu_unknown_register_is_served_once, 0, 2);
	tcase_add_loop_test(t, cpu_register_that_the_machine_lacks_is_undefined, 0, 2);
	tcase_add_loop_test(t, cpu_address_behind_the_ram_is_none_of_it, 0, 2);
	tcase_add_loop_test(t, cpu_write_in_mid_block_counts_the_rest_too, 0, 2);
	tcase_add_loop_test(t, cpu_irq_raised_by_a_write_is_taken_behind_it, 0, 2);
	tcase_add_loop_test(t, cpu_pending_irq_waits_for_the_unmasking_instruction, 0, 2);
	tcase_add_loop_test(t, cpu_eret_changes_the_level_that_counts, 0, 4);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
