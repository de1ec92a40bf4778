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
enum { EQ, NE, CS, CC, MI, PL, VS, VC, AL = 14 };

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

/* Until HVC; what stage 2 does not map reads as nothing. */
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
		case MACHINE_STOP_WAIT:
		case MACHINE_STOP_SLICE:
		case MACHINE_STOP_LIMIT:
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
		uint16_t event;
		uint64_t icount, inorder; /* what it counts under each timing */
	} want[24];
};

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
	{ "store-exclusives",
	  /* the second one has no reservation and fails */
	  { LDXR(0, 17), STXR(1, 0, 17), STXR(2, 0, 17), NOP }, 4,
	  { { 0x08, 5, 5 }, { 0x06, 1, 1 }, { 0x07, 1, 1 }, { 0x13, 2, 2 } } },
};
/* clang-format on */
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static uint64_t count_of(const struct program *p, uint16_t event, enum cpu_engine engine,
			 const char *timing)
{
	static struct lab lab;
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.engine = engine,
		.counters = -1,
		.ram_size = RAM_SIZE,
		.timing = timing_model(timing),
	};
	uint64_t count;

	lab.n = 0;
	add(&lab, MSR(CNTENSET, 25));
	for (unsigned i = 0; i < p->n; i++)
		add(&lab, p->code[i]);
	add(&lab, MSR(CNTENCLR, 25));
	add(&lab, HVC);
	open_lab(&lab, &config);
	set(&lab, TYPER(1), event);
	set(&lab, PMCR, 1);
	cpu_set_x(lab.machine->core, 25, 2);
	run(&lab);
	count = get(&lab, CNTR(1));
	close_lab(&lab);
	return count;
}

static void check_count(const struct program *p, uint16_t event, enum cpu_engine engine,
			const char *timing, uint64_t want)
{
	const uint64_t have = count_of(p, event, engine, timing);

	ck_assert_msg(have == want, "%s, event 0x%02x, %s: %llu, not %llu", p->name, event,
		      timing, (unsigned long long)have, (unsigned long long)want);
}

START_TEST(events_count_what_was_counted_by_hand)
{
	const struct program *p = &programs[_i / 2];
	const enum cpu_engine engine = engines[_i % 2];

	for (unsigned i = 0; i < 24 && p->want[i].event; i++) {
		check_count(p, p->want[i].event, engine, "icount", p->want[i].icount);
		check_count(p, p->want[i].event, engine, "inorder", p->want[i].inorder);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("events");
	TCase *t = tcase_create("by hand");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, events_count_what_was_counted_by_hand, 0, 2 * PROGRAMS);
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
