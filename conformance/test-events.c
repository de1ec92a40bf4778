/* SPDX-License-Identifier: MIT */
/*
 * Every event of preset `full` on the machine itself: programs counted by hand,
 * and random programs on which both engines must agree about counters, bus and
 * time. The machine is bare: EL1 with the MMU off, this file in the place of a
 * board.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine.h"

enum {
	RAM_SIZE = 2 << 20,
	VECTORS = 0x1000,
	CODE = 0x10000,
	SCRATCH = 0x80000,
	MAX_CODE = 4096,
	MAX_LOG = 1 << 16,
};

#define BASE	 MACHINE_RAM_BASE
#define CNTR(n)	 SYSREG(3, 3, 14, 8 + (n) / 8, (n) % 8)
#define TYPER(n) SYSREG(3, 3, 14, 12 + (n) / 8, (n) % 8)
#define PMCR	 SYSREG(3, 3, 9, 12, 0)
#define CNTENSET SYSREG(3, 3, 9, 12, 1)
#define CNTENCLR SYSREG(3, 3, 9, 12, 2)
#define OVSCLR	 SYSREG(3, 3, 9, 12, 3)
#define SWINC	 SYSREG(3, 3, 9, 12, 4)
#define CCNTR	 SYSREG(3, 3, 9, 13, 0)
#define USERENR	 SYSREG(3, 3, 9, 14, 0)
#define INTENSET SYSREG(3, 0, 9, 14, 1)
#define CONTEXTIDR SYSREG(3, 0, 13, 0, 1)
#define VBAR	 SYSREG(3, 0, 12, 0, 0)
#define ESR	 SYSREG(3, 0, 5, 2, 0)
#define ELR	 SYSREG(3, 0, 4, 0, 1)
#define SPSR	 SYSREG(3, 0, 4, 0, 0)
#define IAR1	 SYSREG(3, 0, 12, 12, 0)
#define EOIR1	 SYSREG(3, 0, 12, 12, 1)
#define PMR	 SYSREG(3, 0, 4, 6, 0)
#define IGRPEN1	 SYSREG(3, 0, 12, 12, 7)

/* Instructions; offsets of branches in instructions. */
#define NOP		UINT32_C(0xd503201f)
#define HVC		UINT32_C(0xd4000002)
#define SVC		UINT32_C(0xd4000001)
#define UDF		UINT32_C(0)
#define ERET		UINT32_C(0xd69f03e0)
#define RET		UINT32_C(0xd65f03c0)
#define ISB		UINT32_C(0xd5033fdf)
#define B(n)		(UINT32_C(0x14000000) | ((uint32_t)(n)&0x3ffffff))
#define BL(n)		(UINT32_C(0x94000000) | ((uint32_t)(n)&0x3ffffff))
#define BCOND(c, n)	(UINT32_C(0x54000000) | ((uint32_t)(n)&0x7ffff) << 5 | (c))
#define CBZ(r, n)	(UINT32_C(0xb4000000) | ((uint32_t)(n)&0x7ffff) << 5 | (r))
#define CBNZ(r, n)	(UINT32_C(0xb5000000) | ((uint32_t)(n)&0x7ffff) << 5 | (r))
#define TBZ(r, b, n)	(UINT32_C(0x36000000) | (b) << 19 | ((uint32_t)(n)&0x3fff) << 5 | (r))
#define BR(r)		(UINT32_C(0xd61f0000) | (r) << 5)
#define BLR(r)		(UINT32_C(0xd63f0000) | (r) << 5)
#define ADR(r, n)	(UINT32_C(0x10000000) | ((uint32_t)(n)&0x7ffff) << 5 | (r))
#define ADD(d, n, i)	(UINT32_C(0x91000000) | (uint32_t)(i) << 10 | (n) << 5 | (d))
#define SUBS(d, n, i)	(UINT32_C(0xf1000000) | (uint32_t)(i) << 10 | (n) << 5 | (d))
#define CMP(n, i)	SUBS(31, n, i)
#define LSR26(d, n)	(UINT32_C(0xd35afc00) | (n) << 5 | (d))
#define MOVZ(d, i)	(UINT32_C(0xd2800000) | (uint32_t)(i) << 5 | (d))
#define AND4095(d, n)	(UINT32_C(0x92402c00) | (n) << 5 | (d))
#define EOR(d, n, m)	(UINT32_C(0xca000000) | (m) << 16 | (n) << 5 | (d))
#define ADDR(d, n, m)	(UINT32_C(0x8b000000) | (m) << 16 | (n) << 5 | (d))
#define MUL(d, n, m)	(UINT32_C(0x9b007c00) | (m) << 16 | (n) << 5 | (d))
#define UDIV(d, n, m)	(UINT32_C(0x9ac00800) | (m) << 16 | (n) << 5 | (d))
#define LDR(t, n, i)	(UINT32_C(0xf9400000) | (uint32_t)(i) << 10 | (n) << 5 | (t))
#define STR(t, n, i)	(UINT32_C(0xf9000000) | (uint32_t)(i) << 10 | (n) << 5 | (t))
#define LDUR(t, n, i)	(UINT32_C(0xf8400000) | ((uint32_t)(i)&511) << 12 | (n) << 5 | (t))
#define STURH(t, n, i)	(UINT32_C(0x78000000) | ((uint32_t)(i)&511) << 12 | (n) << 5 | (t))
#define LDRPOST(t, n, i) (UINT32_C(0xf8400400) | ((uint32_t)(i)&511) << 12 | (n) << 5 | (t))
#define STRPRE(t, n, i)	(UINT32_C(0xf8000c00) | ((uint32_t)(i)&511) << 12 | (n) << 5 | (t))
#define LDRX(t, n, m)	(UINT32_C(0xf8606800) | (m) << 16 | (n) << 5 | (t))
#define STRX(t, n, m)	(UINT32_C(0xf8206800) | (m) << 16 | (n) << 5 | (t))
#define LDRQ(t, n, i)	(UINT32_C(0x3dc00000) | (uint32_t)(i) << 10 | (n) << 5 | (t))
#define LDP(t, u, n, i)	(UINT32_C(0xa9400000) | ((uint32_t)(i)&127) << 15 | (u) << 10 | (n) << 5 | (t))
#define STP(t, u, n, i)	(UINT32_C(0xa9000000) | ((uint32_t)(i)&127) << 15 | (u) << 10 | (n) << 5 | (t))
#define LD1X4(t, n)	(UINT32_C(0x4c402000) | (n) << 5 | (t))
#define LDXR(t, n)	(UINT32_C(0xc85f7c00) | (n) << 5 | (t))
#define STXR(s, t, n)	(UINT32_C(0xc8007c00) | (s) << 16 | (n) << 5 | (t))
#define CLREX		UINT32_C(0xd5033f5f)
#define PRFM(n)		(UINT32_C(0xf9800000) | (n) << 5)
#define DCZVA(n)	(UINT32_C(0xd50b7420) | (n))
#define MRS(t, enc)	(UINT32_C(0xd5200000) | (uint32_t)(enc) << 5 | (t))
#define MSR(enc, t)	(UINT32_C(0xd5000000) | (uint32_t)(enc) << 5 | (t))
#define DAIFCLR2	UINT32_C(0xd50342ff)
#define DAIFSET2	UINT32_C(0xd50342df)
#define MOVZ32(d, i)	(UINT32_C(0xd2c00000) | (uint32_t)(i) << 5 | (d))
#define CBZ32(r, n)	(UINT32_C(0x34000000) | ((uint32_t)(n)&0x7ffff) << 5 | (r))
#define TBZ32(r, b, n)	(TBZ(r, b, n) | UINT32_C(1) << 31)
#define TBNZ32(r, b, n) (TBZ32(r, b, n) | UINT32_C(1) << 24)
enum { EQ, NE, CS, CC, MI, PL, VS, VC, HI, LS, GE, LT, GT, LE };

static const enum cpu_engine engines[] = { CPU_ENGINE_STEP, CPU_ENGINE_BLOCK };

struct lab {
	struct machine *machine;
	uint32_t code[MAX_CODE];
	unsigned n;
	struct trace_event *log;
	size_t nlog;
};

static void on_event(void *opaque, const struct trace_event *event)
{
	struct lab *lab = opaque;

	ck_assert_uint_lt(lab->nlog, MAX_LOG);
	lab->log[lab->nlog++] = *event;
}

static void set(struct lab *lab, uint32_t enc, uint64_t value)
{
	ck_assert(machine_sysreg_write(lab->machine, enc, value));
}

static uint64_t get(struct lab *lab, uint32_t enc)
{
	uint64_t value = 0;

	ck_assert(machine_sysreg_read(lab->machine, enc, &value));
	return value;
}

static void put(struct lab *lab, uint64_t offset, const uint32_t *code, size_t size)
{
	memcpy(lab->machine->ram + offset, code, size);
	cpu_sync_icache(lab->machine->core, BASE + offset, size);
}

/*
 * SVC changes the level, any other exception skips its instruction at the same
 * level; an interrupt reloads counter 0 from x22 and acknowledges. x20 to x25 are
 * the vectors'.
 */
static void put_vectors(struct lab *lab)
{
	for (unsigned from = 0; from < 2; from++) {
		const unsigned here = from ? 0x5 : 0x0, there = from ? 0x0 : 0x5;
		const uint32_t sync[] = {
			MRS(23, ESR),	 LSR26(23, 23),	  CMP(23, 0x15),
			MOVZ(24, there), BCOND(EQ, 5),	  MRS(24, ELR),
			ADD(24, 24, 4),	 MSR(ELR, 24),	  MOVZ(24, here),
			MSR(SPSR, 24),	 ERET,
		};
		const uint32_t irq[] = {
			MRS(20, IAR1),	MRS(21, OVSCLR), MSR(OVSCLR, 21),
			MSR(CNTR(0), 22), MSR(EOIR1, 20),  ERET,
		};
		const uint64_t at = VECTORS + (from ? 0x200 : 0x400);

		put(lab, at, sync, sizeof(sync));
		put(lab, at + 0x80, irq, sizeof(irq));
	}
}

static void open_lab(struct lab *lab, const struct machine_config *config)
{
	char err[128];

	lab->machine = machine_create(config, err, sizeof(err));
	ck_assert_msg(lab->machine != NULL, "%s", err);
	lab->log = calloc(MAX_LOG, sizeof(*lab->log));
	lab->nlog = 0;
	ck_assert(!trace_subscribe(&lab->machine->bus, on_event, lab));
	ck_assert(cpu_sysreg_write(lab->machine->core, SYSREG(3, 0, 1, 0, 0), 0x30d00800));
	ck_assert(cpu_sysreg_write(lab->machine->core, VBAR, BASE + VECTORS));
	/* FPEN: SIMD at both levels */
	ck_assert(cpu_sysreg_write(lab->machine->core, SYSREG(3, 0, 1, 0, 2), 3 << 20));
	put_vectors(lab);
	put(lab, CODE, lab->code, lab->n * sizeof(lab->code[0]));
	cpu_set_pc(lab->machine->core, BASE + CODE);
	cpu_set_sp(lab->machine->core, BASE + SCRATCH + 0x8000);
	cpu_set_x(lab->machine->core, 17, BASE + SCRATCH);
}

static void enable_irq(struct lab *lab)
{
	set(lab, PMR, 0xf0);
	set(lab, IGRPEN1, 1);
	/* the PMU's PPI: group 1, enabled */
	ck_assert(machine_mmio_write(lab->machine, MACHINE_GICR_SGI + 0x80, 1 << 23));
	ck_assert(machine_mmio_write(lab->machine, MACHINE_GICR_SGI + 0x100, 1 << 23));
}

static void close_lab(struct lab *lab)
{
	machine_destroy(lab->machine);
	free(lab->log);
	lab->n = 0;
}

static void add(struct lab *lab, uint32_t word)
{
	ck_assert_uint_lt(lab->n, MAX_CODE);
	lab->code[lab->n++] = word;
}

/* Until HVC or the limit; what stage 2 does not map reads as nothing. */
static void run(struct lab *lab)
{
	struct machine *m = lab->machine;

	for (;;) {
		switch (machine_run(m)) {
		case MACHINE_STOP_EXCEPTION:
			if (m->exc.esr >> CPU_EC_SHIFT == CPU_EC_HVC64)
				return;
			if (m->exc.target == 2) {
				cpu_set_pc(m->core, m->exc.elr + 4);
				machine_emulated(m);
				break;
			}
			machine_exception_taken(m, cpu_el(m->core));
			cpu_deliver(m->core, &m->exc);
			break;
		case MACHINE_STOP_IRQ:
			trace_emit(&m->bus, 0, TRACE_TAKEN, cpu_pc(m->core),
				   cpu_pstate(m->core), 0);
			machine_exception_taken(m, cpu_el(m->core));
			cpu_deliver_irq(m->core);
			break;
		case MACHINE_STOP_ERROR:
			ck_abort_msg("%s", machine_error(m));
		case MACHINE_STOP_LIMIT:
			return;
		case MACHINE_STOP_WAIT:
		case MACHINE_STOP_SLICE:
			ck_abort_msg("the machine stopped");
		}
	}
}

/* -- counted by hand ------------------------------------------------------- */

/*
 * The counters run from the instruction after the MSR to PMCNTENSET up to and
 * including the one to PMCNTENCLR: that last one is in each count of instructions.
 */
struct program {
	const char *name;
	uint32_t code[24];
	unsigned n;
	struct {
		uint32_t event; /* and where: EL0, EL1 */
		uint64_t icount, inorder; /* what it counts under each timing */
	} want[25];
};

#define EL0_ONLY (UINT32_C(1) << 31)
#define EL1_ONLY (UINT32_C(1) << 30)

/* clang-format off */
static const struct program programs[] = {
	{ "loads and stores",
	  /* x17 is a line's start; 14 instructions with the MSR */
	  { LDR(0, 17, 0), LDUR(1, 17, 1), STURH(2, 17, 3), LDP(3, 4, 17, 1),
	    STP(3, 4, 17, 7), LDRQ(0, 17, 1), LD1X4(0, 17), PRFM(17), DCZVA(17),
	    LDUR(1, 17, 60), LDXR(5, 17), STXR(6, 5, 17), CLREX }, 13,
	  { { 0x08, 14, 14 }, { 0x1b, 14, 14 }, { 0x14, 14, 14 },
	    { 0x06, 7, 7 }, /* LDR LDUR LDP LDRQ LD1 LDUR LDXR */
	    { 0x07, 4, 4 }, /* STURH STP ZVA STXR */
	    { 0x13, 16, 16 }, /* 1 1 1 2 2 1 4 1 1 1 1 */
	    { 0x0f, 3, 3 }, /* LDUR +1, STURH +3, LDUR +60 */
	    { 0x04, 17, 17 }, /* each access a line, LDUR +60 two */
	    { 0x03, 2, 2 }, /* the line of x17 and the next one, by STP at +56 */
	    { 0x01, 1, 0 }, { 0x0c, 0, 0 }, { 0x21, 0, 0 }, { 0x23, 0, 0 },
	    /* 1 1 0 2 1 1 4 0 9 1 3 2 5, MSR 3, two refills of 12 */
	    { 0x24, 0, 57 }, { 0x11, 14, 71 }, { 0x1d, 14, 71 } } },
	{ "branches",
	  /* B; B.NE not taken, since Z is set; CBZ taken; a branch to its successor,
	   * taken, and one that is not; BL, RET; BR */
	  { CMP(0, 0), B(2), UDF, BCOND(NE, 2), MOVZ(0, 0), CBZ(0, 2), UDF, BCOND(EQ, 1),
	    BCOND(NE, 1), BL(4), ADR(1, 4), BR(1), UDF, RET, NOP }, 15,
	  { { 0x08, 13, 13 }, /* CMP B B.NE MOVZ CBZ B.EQ B.NE BL RET ADR BR NOP MSR */
	    { 0x0d, 6, 6 }, { 0x0e, 1, 1 }, { 0x21, 8, 8 }, { 0x12, 8, 8 },
	    { 0x0c, 6, 6 }, /* B CBZ B.EQ BL RET BR */
	    { 0x10, 3, 3 }, /* CBZ and B.EQ taken the first time, BR unknown */
	    { 0x01, 2, 1 }, /* the MSR to PMCNTENCLR is in the second line */
	    { 0x23, 0, 33 }, /* three mispredictions, one refill */
	    { 0x24, 0, 3 }, { 0x11, 13, 49 },
	    { 0x06, 0, 0 }, { 0x07, 0, 0 }, { 0x13, 0, 0 } } },
	{ "branches to their successors",
	  /* 0 - 1: N, not Z, not C, not V; x1 is 1 << 32 */
	  { CMP(0, 1), BCOND(NE, 1), BCOND(CC, 1), BCOND(MI, 1), BCOND(VC, 1), BCOND(LS, 1),
	    BCOND(LT, 1), BCOND(LE, 1), BCOND(GT, 1), MOVZ32(1, 1), CBZ32(1, 1), CBZ(1, 1),
	    CBNZ(1, 1), TBZ32(1, 0, 1), TBNZ32(1, 0, 1), TBZ(0, 3, 1) }, 16,
	  { { 0x08, 17, 17 }, { 0x0d, 14, 14 }, { 0x21, 14, 14 },
	    { 0x0c, 11, 11 }, /* all but B.GT, CBZ x1 and TBZ of bit 32 */
	    { 0x10, 11, 11 } } },
	{ "exceptions",
	  /* to EL0 by SVC (sync vector: 7 instructions to ERET), there an UNDEF,
	   * which is skipped (11), and back by SVC (7) */
	  { MSR(CONTEXTIDR, 0), SVC, UDF, SVC, ISB }, 5,
	  { { 0x08, 30, 30 }, /* 5 less UDF, 25, the MSR */
	    { 0x09, 3, 3 }, { 0x0a, 3, 3 }, { 0x0b, 1, 1 },
	    { 0x1b, 31, 31 }, { 0x14, 31, 31 }, /* UDF is started */
	    { 0x0c, 5, 5 }, { 0x21, 6, 6 }, { 0x0d, 3, 3 }, { 0x0e, 0, 0 },
	    { 0x10, 2, 2 }, /* the vectors' B.EQ, taken at each SVC */
	    { 0x01, 3, 2 },
	    { 0x23, 0, 87 }, /* entries 21, ERETs 21, B.EQ 14, ISB 7, vectors' lines 24 */
	    { 0x24, 0, 22 }, { 0x11, 30, 139 } } },
	{ "exceptions by level",
	  { MSR(CONTEXTIDR, 0), SVC, UDF, SVC, ISB }, 5,
	  { { EL0_ONLY | 0x09, 2, 2 }, { EL1_ONLY | 0x09, 1, 1 },
	    { EL0_ONLY | 0x0a, 0, 0 }, { EL1_ONLY | 0x0a, 3, 3 },
	    { EL0_ONLY | 0x08, 1, 1 }, { EL0_ONLY | 0x1b, 2, 2 },
	    { EL0_ONLY | 0x14, 2, 2 }, { EL0_ONLY | 0x0b, 0, 0 },
	    { EL0_ONLY | 0x11, 1, 15 }, /* SVC; two entries of 7 */
	    { EL0_ONLY | 0x23, 0, 14 } } },
	{ "device accesses",
	  /* made outside of the core: no data cache, but a fetch */
	  { LDR(0, 28, 0), STR(0, 28, 1), LDUR(0, 28, 1), NOP }, 4,
	  { { 0x08, 5, 5 }, { 0x1b, 5, 5 }, { 0x14, 5, 5 }, { 0x06, 2, 2 },
	    { 0x07, 1, 1 }, { 0x13, 3, 3 }, { 0x0f, 1, 1 }, { 0x04, 0, 0 },
	    { 0x03, 0, 0 }, { 0x01, 1, 0 }, { 0x09, 0, 0 }, { 0x24, 0, 5 } } },
	{ "store-exclusives",
	  /* the second one has no reservation and fails */
	  { LDXR(0, 17), STXR(1, 0, 17), STXR(2, 0, 17), NOP }, 4,
	  { { 0x08, 5, 5 }, { 0x06, 1, 1 }, { 0x07, 1, 1 }, { 0x13, 2, 2 }, { 0x04, 2, 2 },
	    { 0x03, 1, 1 } } },
	{ "stack",
	  { LDR(0, 31, 0), LDUR(1, 31, 60) }, 2,
	  { { 0x04, 3, 3 }, { 0x03, 2, 2 }, { 0x0f, 1, 1 } } },
};
/* clang-format on */
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static void check_program(const struct program *p, enum cpu_engine engine, const char *timing)
{
	static struct lab lab;
	const bool inorder = !strcmp(timing, "inorder");
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.engine = engine,
		.counters = 31,
		.ram_size = RAM_SIZE,
		.timing = timing_model(timing),
	};

	lab.n = 0;
	add(&lab, MSR(CNTENSET, 25));
	for (unsigned i = 0; i < p->n; i++)
		add(&lab, p->code[i]);
	add(&lab, MSR(CNTENCLR, 25));
	add(&lab, HVC);
	open_lab(&lab, &config);
	for (unsigned i = 0; p->want[i].event; i++)
		set(&lab, TYPER(i), p->want[i].event);
	set(&lab, PMCR, 1);
	cpu_set_x(lab.machine->core, 25, 0x7fffffff);
	cpu_set_x(lab.machine->core, 28, UINT64_C(0x09000000));
	run(&lab);
	for (unsigned i = 0; p->want[i].event; i++) {
		const uint64_t have = get(&lab, CNTR(i)),
			       want = inorder ? p->want[i].inorder : p->want[i].icount;

		ck_assert_msg(have == want, "%s, event 0x%02x, %s: %llu, not %llu", p->name,
			      p->want[i].event, timing, (unsigned long long)have,
			      (unsigned long long)want);
	}
	close_lab(&lab);
}

START_TEST(events_count_what_was_counted_by_hand)
{
	check_program(&programs[_i / 2], engines[_i % 2], "icount");
	check_program(&programs[_i / 2], engines[_i % 2], "inorder");
}
END_TEST

/* An interrupt is taken at the first instruction boundary that is so many cycles
 * behind the wire: one by one in NOPs, or behind a division of twelve cycles. */
START_TEST(events_skid_puts_the_interrupt_off)
{
	static const struct {
		const char *timing;
		uint64_t skid, late;
		uint32_t word;
	} cases[] = {
		{ "icount", 0, 0, NOP },     { "icount", 25, 25, NOP },
		{ "inorder", 0, 0, NOP },    { "inorder", 25, 25, NOP },
		{ "inorder", 25, 36, UDIV(1, 1, 2) }, { "inorder", 24, 24, UDIV(1, 1, 2) },
	};
	static struct lab lab;
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.engine = engines[_i % 2],
		.counters = -1,
		.pmuver = PMUV3_P4,
		.ram_size = RAM_SIZE,
		.timing = timing_model(cases[_i / 2].timing),
		.skid = cases[_i / 2].skid,
	};
	uint64_t raised = 0, taken = 0;

	lab.n = 0;
	for (unsigned i = 0; i < 48; i++)
		add(&lab, cases[_i / 2].word);
	add(&lab, HVC);
	open_lab(&lab, &config);
	set(&lab, TYPER(0), 0x08);
	set(&lab, CNTR(0), 0xfffffff8); /* the 8th instruction */
	set(&lab, INTENSET, 1);
	enable_irq(&lab);
	set(&lab, CNTENSET, 1);
	set(&lab, PMCR, 1);
	cpu_set_pstate(lab.machine->core, 0x5);
	run(&lab);
	for (size_t i = 0; i < lab.nlog && !taken; i++) {
		if (lab.log[i].kind == TRACE_LINE && lab.log[i].b)
			raised = lab.log[i].cycle;
		if (lab.log[i].kind == TRACE_TAKEN)
			taken = lab.log[i].cycle;
	}
	ck_assert_uint_ne(raised, 0);
	ck_assert_uint_eq(taken - raised, cases[_i / 2].late);
	close_lab(&lab);
}
END_TEST

/* -- random programs ------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Registers: x0 to x14 data, x16 an index into the scratch page x17, x19 the loop,
 * x26 and x27 masks of counters, x28 a device; x18 targets of BR. */
static unsigned any(uint64_t *state)
{
	return (unsigned)(next_random(state) % 15);
}

/* One or more instructions that go on behind themselves, whatever they do. */
static void add_any(struct lab *lab, uint64_t *state, unsigned functions)
{
	const unsigned a = any(state), b = any(state), c = any(state);
	const unsigned skip = 1 + (unsigned)(next_random(state) % 4);

	switch (next_random(state) % 34) {
	case 0:
		add(lab, BCOND(next_random(state) % 14, skip));
		return;
	case 1:
		add(lab, CBZ(a, skip));
		return;
	case 2:
		add(lab, CBNZ(a, skip));
		return;
	case 3:
		add(lab, TBZ(a, next_random(state) % 8, skip));
		return;
	case 4:
		add(lab, B(skip));
		return;
	case 5:
		add(lab, ADR(18, 1 + skip));
		add(lab, BR(18));
		return;
	case 6:
	case 7: /* functions stand at the beginning, two instructions each */
		add(lab, BL(2 * (int)(next_random(state) % functions) + 1 - (int)lab->n));
		return;
	case 8:
		add(lab, SVC);
		return;
	case 9:
		add(lab, MSR(CONTEXTIDR, a)); /* undefined at EL0 */
		return;
	case 10:
		add(lab, UDF);
		return;
	case 11:
		add(lab, LDR(a, 17, next_random(state) % 64));
		return;
	case 12:
		add(lab, STR(a, 17, next_random(state) % 64));
		return;
	case 13:
		add(lab, LDUR(a, 17, next_random(state) % 256));
		return;
	case 14:
		add(lab, STURH(a, 17, next_random(state) % 256));
		return;
	case 15:
		add(lab, AND4095(16, b));
		add(lab, LDRX(a, 17, 16));
		return;
	case 16:
		add(lab, AND4095(16, b));
		add(lab, STRX(a, 17, 16));
		return;
	case 17:
		add(lab, LDP(a, (a + 1) % 15, 17, next_random(state) % 32));
		return;
	case 18:
		add(lab, STP(a, b, 17, next_random(state) % 32));
		return;
	case 19:
		add(lab, LDRQ(a, 17, next_random(state) % 16));
		add(lab, LD1X4(b, 17));
		return;
	case 20:
		add(lab, LDXR(a, 17));
		add(lab, EOR(c, a, c));
		add(lab, STXR((a + 1) % 15, c, 17));
		return;
	case 21:
		add(lab, STXR(a, (a + 1) % 15, 17));
		return;
	case 22:
		add(lab, PRFM(17));
		add(lab, DCZVA(17));
		return;
	case 23:
		add(lab, MRS(a, CNTR(next_random(state) % 6)));
		return;
	case 24:
		add(lab, MRS(a, CCNTR));
		return;
	case 25:
		add(lab, MSR(SWINC, 26));
		return;
	case 26:
		add(lab, MSR(next_random(state) % 2 ? CNTENSET : CNTENCLR, 27));
		return;
	case 27:
		add(lab, LDR(a, 28, 0));
		return;
	case 28:
		add(lab, STRPRE(a, 17, 8));
		add(lab, LDRPOST(b, 17, -8));
		return;
	case 29:
		add(lab, next_random(state) % 2 ? DAIFSET2 : DAIFCLR2); /* EL1's */
		return;
	case 30:
		add(lab, UDIV(a, b, c));
		add(lab, CMP(b, 7));
		return;
	case 31:
		add(lab, ISB);
		return;
	default:
		add(lab, next_random(state) % 2 ? MUL(a, b, c) : ADDR(a, b, c));
		return;
	}
}

static void make_random(struct lab *lab, uint64_t seed)
{
	enum { FUNCTIONS = 4, BODY = 120, TURNS = 12 };
	uint64_t state = seed;

	lab->n = 0;
	add(lab, B(2 * FUNCTIONS + 1));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		add(lab, ADD(i, i, 3));
		add(lab, RET);
	}
	add(lab, MOVZ(19, TURNS));
	const unsigned top = lab->n;

	while (lab->n < top + BODY)
		add_any(lab, &state, FUNCTIONS);
	/* whatever branches over the end lands here */
	for (unsigned i = 0; i < 6; i++)
		add(lab, NOP);
	add(lab, SUBS(19, 19, 1));
	add(lab, BCOND(NE, (int)top - (int)lab->n));
	add(lab, HVC);
	add(lab, B(-1)); /* at EL0 HVC is undefined and skipped: change the level */
	lab->code[lab->n - 1] = SVC;
	add(lab, B(-2));
}

struct setting {
	const char *timing;
	uint64_t skid;
	uint16_t event; /* of counter 0, which interrupts each @period */
	unsigned period;
	bool user_only;
};

struct outcome {
	struct lab lab;
	uint64_t counter[6], cycles, now, insns, x[31];
};

static void run_random(struct outcome *out, enum cpu_engine engine, uint64_t seed,
		       const struct setting *setting)
{
	/* beside counter 0 some of everything, according to the seed */
	static const uint16_t other[] = {
		0x01, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1b, 0x1d, 0x00, 0x21, 0x23, 0x24,
	};
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.engine = engine,
		.counters = -1,
		.pmuver = PMUV3_P4, /* counters of 32 bits */
		.ram_size = RAM_SIZE,
		.timing = timing_model(setting->timing),
		.skid = setting->skid,
		.max_insns = 9973, /* some end there, in their own handler */
	};
	struct lab *lab = &out->lab;
	uint64_t state = ~seed;
	struct machine *m;

	make_random(lab, seed);
	open_lab(lab, &config);
	m = lab->machine;
	for (unsigned i = 0; i < 15; i++)
		cpu_set_x(m->core, i, next_random(&state) << 20 | next_random(&state));
	cpu_set_x(m->core, 22, (uint32_t)-setting->period);
	cpu_set_x(m->core, 26, 0x3f);
	cpu_set_x(m->core, 27, seed % 3 ? 0x3c : 0x80000002);
	cpu_set_x(m->core, 28, UINT64_C(0x09000000));
	set(lab, TYPER(0), setting->event | (setting->user_only ? UINT64_C(1) << 31 : 0));
	set(lab, CNTR(0), (uint32_t)-setting->period);
	for (unsigned i = 1; i < 6; i++) {
		const uint64_t event = other[next_random(&state) % 24];

		/* most of the time nothing but counter 0 is watched */
		set(lab, TYPER(i), seed % 4 ? 0x11 : event | (next_random(&state) & 3) << 30);
		set(lab, CNTR(i), (uint32_t)-(next_random(&state) % 100));
	}
	set(lab, INTENSET, 1);
	set(lab, USERENR, 0xf);
	enable_irq(lab);
	set(lab, CNTENSET, 0x8000003f);
	set(lab, PMCR, 1);
	cpu_set_pstate(m->core, 0x5);
	cpu_set_sp(m->core, BASE + SCRATCH + 0x8000);
	run(lab);
	out->now = m->now;
	out->insns = m->insns;
	for (unsigned i = 0; i < 6; i++)
		out->counter[i] = get(lab, CNTR(i));
	out->cycles = get(lab, CCNTR);
	for (unsigned i = 0; i < 31; i++)
		out->x[i] = cpu_x(m->core, i);
}

static bool same_event(const struct trace_event *a, const struct trace_event *b)
{
	return a->cycle == b->cycle && a->kind == b->kind && a->a == b->a && a->b == b->b &&
	       a->c == b->c;
}

static void compare(const struct outcome *step, const struct outcome *block, uint64_t seed,
		    const struct setting *s)
{
	size_t i = 0;
	char what[128];

	snprintf(what, sizeof(what), "seed %llu, %s, skid %llu, event 0x%02x each %u%s",
		 (unsigned long long)seed, s->timing, (unsigned long long)s->skid, s->event,
		 s->period, s->user_only ? ", user only" : "");
	while (i < step->lab.nlog && i < block->lab.nlog &&
	       same_event(&step->lab.log[i], &block->lab.log[i]))
		i++;
	if (i < step->lab.nlog && i < block->lab.nlog) {
		const struct trace_event *a = &step->lab.log[i], *b = &block->lab.log[i];

		ck_abort_msg("%s: event %zu: step %llu %s 0x%llx 0x%llx 0x%llx, block "
			     "%llu %s 0x%llx 0x%llx 0x%llx",
			     what, i, (unsigned long long)a->cycle, trace_kind_name(a->kind),
			     (unsigned long long)a->a, (unsigned long long)a->b,
			     (unsigned long long)a->c, (unsigned long long)b->cycle,
			     trace_kind_name(b->kind), (unsigned long long)b->a,
			     (unsigned long long)b->b, (unsigned long long)b->c);
	}
	ck_assert_msg(step->lab.nlog == block->lab.nlog, "%s: %zu events, %zu", what,
		      step->lab.nlog, block->lab.nlog);
	for (i = 0; i < 6; i++)
		ck_assert_msg(step->counter[i] == block->counter[i],
			      "%s: counter %zu: step %llu, block %llu", what, i,
			      (unsigned long long)step->counter[i],
			      (unsigned long long)block->counter[i]);
	for (i = 0; i < 31; i++)
		ck_assert_msg(step->x[i] == block->x[i], "%s: x%zu", what, i);
	ck_assert_msg(step->now == block->now && step->insns == block->insns &&
			      step->cycles == block->cycles,
		      "%s: time", what);
}

static const uint16_t all_events[] = {
	0x01, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
	0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1b, 0x1d, 0x21, 0x23, 0x24,
};
enum { ALL_EVENTS = sizeof(all_events) / sizeof(all_events[0]), SEEDS = 4 };

static unsigned taken(const struct lab *lab)
{
	unsigned n = 0;

	for (size_t i = 0; i < lab->nlog; i++)
		n += lab->log[i].kind == TRACE_TAKEN;
	return n;
}

START_TEST(events_are_the_same_in_both_engines)
{
	unsigned interrupts = 0;

	static const unsigned periods[] = { 5, 37, 400 };
	static struct outcome step, block;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const uint64_t mix = seed + (uint64_t)_i * SEEDS;
		const struct setting setting = {
			.timing = mix % 2 ? "inorder" : "icount",
			.skid = mix % 5 == 3 ? 25 : 0,
			.event = all_events[_i],
			.period = periods[seed % 3],
			.user_only = mix % 7 == 2,
		};

		run_random(&step, CPU_ENGINE_STEP, mix, &setting);
		run_random(&block, CPU_ENGINE_BLOCK, mix, &setting);
		compare(&step, &block, mix, &setting);
		interrupts += taken(&block.lab);
		close_lab(&step.lab);
		close_lab(&block.lab);
	}
	ck_assert_uint_ge(interrupts, 1);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("events");
	TCase *t = tcase_create("by hand");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, events_count_what_was_counted_by_hand, 0, 2 * PROGRAMS);
	tcase_add_loop_test(t, events_skid_puts_the_interrupt_off, 0, 12);
	suite_add_tcase(s, t);

	t = tcase_create("engines");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, events_are_the_same_in_both_engines, 0, ALL_EVENTS);
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
