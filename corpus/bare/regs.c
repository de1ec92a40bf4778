/* SPDX-License-Identifier: MIT */
/*
 * Every PMU register at EL1 and at EL0: what it holds at reset, what stays of
 * ones and zeros written, who may touch it, and the rules that tie one to the
 * other. Counting is off throughout.
 */
#include "corpus/bare/bare.h"
#include "corpus/bare/pmu-regs.h"

#define REG(name, crn, crm, op2)  #name,
#define REG1(name, crn, crm, op2) #name,
static const char *const names[] = { PMU_REGS };
#undef REG
#undef REG1

enum {
	REGS = sizeof(names) / sizeof(names[0]),
	PMINTENSET = 0,
	PMINTENCLR = 1,
	PMCR = 3,
	PMCNTENSET = 4,
	PMCNTENCLR = 5,
	PMOVSCLR = 6,
	PMSELR = 8,
	PMXEVTYPER = 12,
	PMXEVCNTR = 13,
	PMUSERENR = 14,
	PMOVSSET = 15,
	PMCCFILTR = 16,
	CNTR0 = 17,
	TYPER0 = CNTR0 + 31,
	STUB = 8,
	CYCLE = 31,
};

extern char pmu_read_stubs[], pmu_write_stubs[];

typedef uint64_t stub(uint64_t, uint64_t);

void bare_irq(struct bare_frame *frame)
{
	say("unexpected-irq", frame->elr);
	bare_off();
}

static stub *reader(unsigned reg)
{
	return (stub *)(pmu_read_stubs + STUB * reg);
}

static stub *writer(unsigned reg)
{
	return (stub *)(pmu_write_stubs + STUB * reg);
}

/* False: the access was refused. */
static bool get(unsigned reg, uint64_t *value)
{
	unsigned before = bare_faults;

	*value = reader(reg)(0, 0);
	return bare_faults == before;
}

static bool set(unsigned reg, uint64_t value)
{
	unsigned before = bare_faults;

	writer(reg)(value, 0);
	isb();
	return bare_faults == before;
}

static uint64_t read_one(unsigned reg)
{
	uint64_t value;

	get(reg, &value);
	return value;
}

/* -- answers of a register, equal neighbours of an array on one line ------- */

struct answer {
	bool refused;
	uint64_t value;
};

static unsigned array_of(unsigned reg)
{
	return reg < CNTR0 ? 0 : reg < TYPER0 ? CNTR0 : TYPER0;
}

static void say_name(unsigned reg, unsigned last)
{
	const unsigned first = array_of(reg);

	if (!first) {
		say_text(names[reg]);
		return;
	}
	say_text(first == CNTR0 ? "pmevcntr" : "pmevtyper");
	say_number(reg - first);
	if (last != reg) {
		say_text("-");
		say_number(last - first);
	}
	say_text("_el0");
}

static void walk(const char *what, struct answer (*ask)(unsigned reg))
{
	static struct answer answers[REGS];
	unsigned last;

	for (unsigned reg = 0; reg < REGS; reg++)
		answers[reg] = ask(reg);
	for (unsigned reg = 0; reg < REGS; reg = last + 1) {
		const struct answer *a = &answers[reg];

		for (last = reg; array_of(reg) && last + 1 < REGS &&
				 array_of(last + 1) == array_of(reg) &&
				 answers[last + 1].refused == a->refused &&
				 answers[last + 1].value == a->value;
		     last++)
			;
		say_text(what);
		say_text(".");
		say_name(reg, last);
		say_text(" ");
		if (a->refused)
			say_text("undef");
		else
			say_hex(a->value);
		say_text("\n");
	}
}

static struct answer ask_value(unsigned reg)
{
	struct answer a = { 0 };

	a.refused = !get(reg, &a.value);
	return a;
}

/* PMCR_EL0.E stays 0: the counters must stand still. */
static struct answer ask_written(unsigned reg, uint64_t value)
{
	struct answer a = { .refused = !set(reg, value) };

	if (!a.refused && !get(reg, &a.value))
		a.value = 0; /* write-only */
	return a;
}

static struct answer ask_ones(unsigned reg)
{
	return ask_written(reg, reg == PMCR ? ~UINT64_C(1) : ~UINT64_C(0));
}

static struct answer ask_zeros(unsigned reg)
{
	return ask_written(reg, 0);
}

/* -- SET and CLR ----------------------------------------------------------- */

static void say_mask(const char *what, const char *name, uint64_t value)
{
	say_text(what);
	say_text(".");
	say(name, value);
}

/* Both name the same mask; ones act and zeros do not. */
static void pair(const char *name, unsigned setter, unsigned clearer)
{
	set(clearer, ~UINT64_C(0));
	say_mask(name, "clear-all", read_one(setter));
	set(setter, UINT64_C(0x80000005));
	say_mask(name, "set-some", read_one(setter));
	say_mask(name, "set-some-by-clr", read_one(clearer));
	set(setter, 0);
	say_mask(name, "set-none", read_one(setter));
	set(clearer, 4);
	say_mask(name, "clear-one", read_one(setter));
	set(clearer, 0);
	say_mask(name, "clear-none", read_one(setter));
	set(setter, ~UINT64_C(0));
	say_mask(name, "set-all", read_one(setter));
	set(clearer, ~UINT64_C(0));
}

/* -- PMSELR_EL0 ------------------------------------------------------------ */

static void through_pmselr(unsigned n)
{
	const uint64_t type = UINT64_C(0x40000008), count = 0x1000 + n;
	const bool direct = n < bare_counters();

	set(PMSELR, n);
	set(PMXEVTYPER, type);
	set(PMXEVCNTR, count);
	say_text("pmselr.");
	say_number(n);
	say_text(" ");
	say_hex(read_one(PMXEVTYPER));
	say_text(",");
	say_hex(read_one(PMXEVCNTR));
	if (direct || n == CYCLE) {
		say_text(",");
		say_hex(read_one(n == CYCLE ? PMCCFILTR : TYPER0 + n));
	}
	if (direct) {
		say_text(",");
		say_hex(read_one(CNTR0 + n));
	}
	say_text("\n");
}

/* -- PMCR_EL0's actions ---------------------------------------------------- */

static void pmcr_resets(const char *name, uint64_t bits)
{
	bare_pmu_reset(0);
	msr(pmccntr_el0, 7);
	set(CNTR0, 5); /* undefined without counters */
	set(PMOVSSET, UINT64_C(0x80000001));
	set(PMCR, bits);
	say_mask(name, "pmcr-written-bits", mrs(pmcr_el0) & 0x7ff);
	say_mask(name, "pmccntr", mrs(pmccntr_el0));
	if (bare_counters())
		say_mask(name, "pmevcntr0", read_one(CNTR0));
	say_mask(name, "pmovs", read_one(PMOVSSET));
}

/* -- EL0 ------------------------------------------------------------------- */

/* For each value 0..15 of PMUSERENR_EL0 (EN SW CR ER from bit 0): o is allowed,
 * t a trap of a system register access, u undefined. */
static void rights(unsigned reg, stub *(*of)(unsigned), char out[17])
{
	for (unsigned bits = 0; bits < 16; bits++) {
		unsigned before = bare_faults;

		msr(pmuserenr_el0, bits);
		isb();
		bare_el0(of(reg), 0, 0, PSTATE_EL0);
		out[bits] = bare_faults == before ? 'o' :
			    bare_fault_esr >> 26 == EC_SYSREG ? 't' : 'u';
	}
	out[16] = 0;
}

static bool same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static void walk_rights(const char *what, stub *(*of)(unsigned))
{
	static char all[REGS][17];
	unsigned last;

	for (unsigned reg = 0; reg < REGS; reg++)
		rights(reg, of, all[reg]);
	for (unsigned reg = 0; reg < REGS; reg = last + 1) {
		for (last = reg; array_of(reg) && last + 1 < REGS &&
				 array_of(last + 1) == array_of(reg) &&
				 same(all[last + 1], all[reg]);
		     last++)
			;
		say_text(what);
		say_text(".");
		say_name(reg, last);
		say_text(" ");
		say_text(all[reg]);
		say_text("\n");
	}
}

/* The syndrome names the access: op0 21:20, op2 19:17, op1 16:14, CRn 13:10, Rt
 * 9:5, CRm 4:1, read 0. */
static void syndromes(void)
{
	static const unsigned regs[] = { PMCR, PMSELR, PMXEVCNTR, PMOVSSET, PMCCFILTR };

	msr(pmuserenr_el0, 0);
	isb();
	for (unsigned i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		bare_el0(reader(regs[i]), 0, 0, PSTATE_EL0);
		say_text("esr-read.");
		say(names[regs[i]], bare_fault_esr);
		bare_el0(writer(regs[i]), 0, 0, PSTATE_EL0);
		say_text("esr-write.");
		say(names[regs[i]], bare_fault_esr);
	}
}

int main(void)
{
	say_count("counters", bare_counters());
	say_count("pmuver", bare_pmuver());
	walk("reset", ask_value);
	bare_pmu_reset(0);
	walk("ones", ask_ones);
	bare_pmu_reset(0);
	walk("zeros", ask_zeros);
	pair("pmcnten", PMCNTENSET, PMCNTENCLR);
	pair("pminten", PMINTENSET, PMINTENCLR);
	pair("pmovs", PMOVSSET, PMOVSCLR);
	bare_pmu_reset(0);
	for (unsigned n = 0; n < 32; n++)
		through_pmselr(n);
	pmcr_resets("pmcr-p", PMCR_P);
	pmcr_resets("pmcr-c", PMCR_C);
	pmcr_resets("pmcr-none", 0);
	bare_pmu_reset(0);
	walk_rights("el0-read", reader);
	walk_rights("el0-write", writer);
	syndromes();
	return 0;
}
