/* SPDX-License-Identifier: MIT */
/*
 * The core's parts among themselves: cpu.c runs, cpu-count.c counts, cpu-block.c knows what blocks
 * hold, cpu-state.c has registers and translation, cpu-setup.c starts it all up.
 * These and exception.c are all that knows Unicorn.
 */
#ifndef PMULAB_EMU_CPU_PRIV_H
#define PMULAB_EMU_CPU_PRIV_H

#include <unicorn/unicorn.h>

#include "emu/cpu.h"
#include "emu/exception.h"
#include "emu/hook.h"

enum {
	INSN_BYTES = 4,
	LINE_BYTES = 64, /* what CTR_EL0 says */
	OWNED_BYTES = CPU_TRAITS_BYTES,
	BLOCKS = 8192,
	PAGES = 64,
	HOOKS = 8,
	STARTS = 1 << 14,
};

/* Stage 2's tables, outside of any guest's RAM, which is below 2 GiB. */
#define STAGE2_BASE UINT64_C(0x3ffe000)

#define PSTATE_SS   (UINT64_C(1) << 21)
#define PSTATE_D    (UINT64_C(1) << 9)
#define PSTATE_I    (UINT64_C(1) << 7)
#define PSTATE_KEEP (~(PSTATE_SS | UINT64_C(1) << 20))
#define MDSCR_SS    UINT64_C(1)
#define SCTLR_M	    UINT64_C(1)
#define MDCR_TPM    UINT64_C(0x40)
#define MDSCR_KDE   (UINT64_C(1) << 13)

#define CPU_REG_MDSCR	 SYSREG(2, 0, 0, 2, 2)
#define CPU_REG_OSLAR	 SYSREG(2, 0, 1, 0, 4)
#define CPU_REG_SCR_EL3	 SYSREG(3, 6, 1, 1, 0)
#define CPU_REG_HCR_EL2	 SYSREG(3, 4, 1, 1, 0)
#define CPU_REG_MDCR_EL2 SYSREG(3, 4, 1, 1, 1)
#define CPU_REG_VTTBR	 SYSREG(3, 4, 2, 1, 0)
#define CPU_REG_VTCR	 SYSREG(3, 4, 2, 1, 2)
#define CPU_REG_ATS1E1R	 SYSREG(1, 0, 7, 8, 0)
#define CPU_REG_ATS1E0R	 SYSREG(1, 0, 7, 8, 2)
#define CPU_REG_PAR	 SYSREG(3, 0, 7, 4, 0)
#define CPU_REG_ESR	 SYSREG(3, 0, 5, 2, 0)
#define CPU_REG_FAR	 SYSREG(3, 0, 6, 0, 0)
#define CPU_REG_DAIF	 SYSREG(3, 3, 4, 2, 1)
#define CPU_REG_SCTLR	 SYSREG(3, 0, 1, 0, 0)
#define CPU_REG_TTBR0	 SYSREG(3, 0, 2, 0, 0)
#define CPU_REG_TTBR1	 SYSREG(3, 0, 2, 0, 1)
#define CPU_REG_TCR	 SYSREG(3, 0, 2, 0, 2)
#define CPU_REG_MAIR	 SYSREG(3, 0, 10, 2, 0)

#define WORD_ERET UINT32_C(0xd69f03e0)

/* A translated block as its words were when it was translated. */
struct cpu_block {
	uint64_t pc;
	uint64_t space;	     /* whose addresses: see cpu_space() */
	uint64_t generation; /* of the translation tables that gave pa */
	uint64_t pa[2];	     /* of the first instruction; of the next page */
	uint32_t n;	     /* instructions */
	struct model_sum sum;
	struct model_insn insn[];
};

struct cpu {
	struct hook hook; /* the block engine's; first: hook.slow() gets this */

	uc_engine *uc;
	enum cpu_engine engine;
	struct cpu_ops ops;
	struct exception_probe probe;
	struct model *model;
	uc_hook hooks[HOOKS], code_hook;
	unsigned nhooks;
	uint64_t ram_base;
	uint8_t *ram;
	size_t ram_size;
	uint8_t owned[OWNED_BYTES];   /* encodings that the machine serves */
	/* of those, unknown to Unicorn, for reading and for writing */
	uint8_t foreign[2][OWNED_BYTES];
	uint32_t probed;	      /* self-test: hook calls for one instruction */
	bool flush;		      /* all translations are to go at the next start */
	uint64_t buffer_used;	      /* bytes of translations since then, at most */
	uint64_t starts[STARTS];      /* by PC: first blocks of a start since then */
	struct cpu_icache *icache;
	unsigned el;
	char error[96];

	/* What code is where. */
	struct cpu_block *blocks[BLOCKS];
	uint64_t space0;	  /* TTBR0_EL1 */
	uint64_t generation;	  /* of translations, changes with tables */
	struct {
		uint64_t key, generation, space, pa;
	} page[PAGES];		  /* seen last */

	/* Each instruction has its hook: always in the step engine, in the block
	 * engine once data addresses were watched. */
	bool each;

	/* What follows belongs to one cpu_run(). */
	struct model_tally tally;
	uint64_t reserve;      /* bytes held back from left */
	uint64_t granted;      /* instructions, with which left + reserve began */
	uint64_t soft;	       /* ... from which on a branch ends the run */
	uint64_t settled;      /* of those entered, reported by ops.retired() */
	uint64_t step_for;     /* instructions to single-step now */
	uint64_t steps, step_pc; /* stepping: more to come; the one under way */
	struct cpu_block *block; /* entered and not yet counted from `counted` on */
	uint32_t counted;
	bool edge;	       /* each: an instruction begins a block */
	uint64_t code_end;     /* each: of that block */
	bool fresh;	       /* no block entered since the engine started */
	bool in_flight;	       /* each: an instruction was begun */
	bool stopping;	       /* a hook stopped the engine */
	bool interrupted;      /* ... for the IRQ wire */
	bool excepted;	       /* intno is valid */
	bool stepping;	       /* single-step is on */
	uint64_t stepping_d;   /* PSTATE.D of the guest while it is */
	uint32_t intno;

	struct cpu_block *code; /* each: holds the instruction executed last */

	/* With signals watched: the instruction that is executed by itself. */
	bool airborne;
	bool flying_taken; /* a conditional branch to its successor */
	struct model_insn flying;
	uint64_t flying_pc, flying_va, flying_pa;
};

_Static_assert(offsetof(struct cpu, hook) == 0, "hook.slow() finds no CPU");

uc_arm64_cp_reg cpu_cp_reg(uint32_t enc, uint64_t value);
uc_err cpu_cp_write(uc_engine *uc, uint32_t enc, uint64_t value);
uint64_t cpu_cp_read(uc_engine *uc, uint32_t enc);
uint64_t cpu_reg_read(const struct cpu *cpu, int reg);
void cpu_reg_write(struct cpu *cpu, int reg, uint64_t value);
uint64_t cpu_pstate_read(const struct cpu *cpu);
static inline unsigned cpu_pstate_el(uint64_t pstate)
{
	return pstate >> 2 & 3;
}
/* Drop the translations of RAM [pa, pa+n). */
void cpu_forget_code(struct cpu *cpu, uint64_t pa, uint64_t n);
/* For insn_address(). */
uint64_t cpu_general(void *cpu, unsigned n, bool sp);

/* The instruction at @va; false when it is not in RAM. */
bool cpu_word_at(struct cpu *cpu, uint64_t va, uint32_t *word, uint64_t *pa);
/* cpu_translate() with a memory of pages; for a model, too. */
bool cpu_page(void *cpu, uint64_t va, uint64_t *pa);
/* The guest, or the kernel outside, wrote a register; tables may have changed. */
void cpu_wrote(struct cpu *cpu, uint32_t enc, uint64_t value);

/* The block of @size bytes at @pc. @anew: its words may have changed. NULL: it is
 * not in RAM, or there is no memory for it. */
struct cpu_block *cpu_block_find(struct cpu *cpu, uint64_t pc, uint32_t size, bool anew);
/* Unicorn translated it anew. */
void cpu_block_renew(struct cpu *cpu, uint64_t pc, uint32_t size);
void cpu_blocks_free(struct cpu *cpu);
static inline uint64_t cpu_block_pa(const struct cpu_block *block, uint32_t i)
{
	uint64_t in_page = (block->pc & 0xfff) + (uint64_t)i * INSN_BYTES;

	return in_page < 0x1000 ? block->pa[0] + (uint64_t)i * INSN_BYTES :
				  block->pa[1] + (in_page & 0xfff);
}

static inline bool cpu_bit_test(const uint8_t *map, uint32_t enc)
{
	return map[enc >> 3 & (OWNED_BYTES - 1)] >> (enc & 7) & 1;
}

/* Instructions entered so far; the block engine's are whole blocks. */
static inline uint64_t cpu_entered(const struct cpu *cpu)
{
	return cpu->granted - (cpu->hook.left + cpu->reserve) / INSN_BYTES;
}

/* Each block, or each instruction, is looked at. */
static inline void cpu_hold(struct cpu *cpu)
{
	cpu->reserve += cpu->hook.left;
	cpu->hook.left = 0;
}

/* Up to the soft end and no further without a look. */
static inline void cpu_split(struct cpu *cpu)
{
	const uint64_t entered = cpu_entered(cpu);
	const uint64_t room = cpu->soft > entered ? (cpu->soft - entered) * INSN_BYTES : 0;

	if (cpu->hook.left > room) {
		cpu->reserve += cpu->hook.left - room;
		cpu->hook.left = room;
	}
}

/* A new budget of at most @most instructions, and new rooms. */
void cpu_ask(struct cpu *cpu, uint64_t most);
/* Report @executed instructions in all, with all that the tally holds. */
void cpu_settle(struct cpu *cpu, uint64_t executed);

/* An instruction about to be executed by itself, and after it: @next follows. */
void cpu_take_off(struct cpu *cpu, const struct model_insn *insn, uint64_t pc, uint64_t pa);
void cpu_touch_down(struct cpu *cpu, uint64_t next);

/* Can all of @block run without a look between its instructions? Then count it
 * when it has run (@next follows), or what of it ran before @pc. */
bool cpu_is_plain(const struct cpu *cpu, const struct cpu_block *block);
void cpu_count_block(struct cpu *cpu, uint64_t next);
void cpu_count_before(struct cpu *cpu, uint64_t pc);

/* The buffer for translations: its size, before anything else is done. */
uc_err cpu_buffer_init(struct cpu *cpu);
/* The engine leaves at the next edge, and cpu_flush() at the next start acts. */
void cpu_flush_soon(struct cpu *cpu);
void cpu_flush(struct cpu *cpu);
/* @size bytes of guest code at @pc were translated. */
void cpu_translated(struct cpu *cpu, uint64_t pc, uint32_t size);
/* A start at @pc, whose first block no hook reports as translated. */
void cpu_started(struct cpu *cpu, uint64_t pc, uint32_t size);

/* IC IVAU and IC IALLU, and what was translated since the last flush. */
uc_err cpu_icache_init(struct cpu *cpu);
void cpu_icache_free(struct cpu *cpu);
void cpu_icache_line(struct cpu *cpu, uint64_t va);
void cpu_icache_all(struct cpu *cpu);
void cpu_icache_fill(struct cpu *cpu, uint64_t pc, uint32_t size);
void cpu_icache_reset(struct cpu *cpu);

/* The hooks, for cpu-setup.c. */
uc_err cpu_add_hooks(struct cpu *cpu);

#endif
