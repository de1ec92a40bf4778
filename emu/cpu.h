/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 core, executed by Unicorn: one engine that runs one CPU at a time
 * (their states are swapped). Guest code runs at EL0 and EL1; EL2 is this
 * program. What leaves EL0 or EL1 comes back as a stop, and the machine decides:
 * in host mode the kernel outside takes it, else cpu_deliver() enters EL1.
 *
 * Two engines. `step` settles after every instruction and is the reference;
 * `block` counts whole translated blocks and single-steps the last ones, so
 * that it stops after exactly the instruction it was told to. Both report what
 * they executed through cpu_ops.retired(), never beyond the grant.
 *
 * Devices are what stage 2 of the translation does not map: an access to them is
 * a stop with an exact PC and a syndrome that tells the register, as under a
 * hypervisor.
 */
#ifndef PMULAB_EMU_CPU_H
#define PMULAB_EMU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model.h"
#include "emu/sysreg.h"

enum cpu_engine {
	CPU_ENGINE_STEP,
	CPU_ENGINE_BLOCK,
};

enum cpu_stop {
	CPU_STOP_BUDGET,    /* executed all it was allowed to */
	CPU_STOP_IRQ,	    /* cpu_ops.irq() and PSTATE.I clear */
	CPU_STOP_EXCEPTION, /* a synchronous exception; see struct cpu_exception */
	CPU_STOP_WAIT,	    /* WFI retired */
	CPU_STOP_ERROR,	    /* the emulator itself gave up; see cpu_error() */
};

/* A synchronous exception, as its target finds it (Arm ARM, D1.10). */
struct cpu_exception {
	unsigned target; /* EL that takes it: 1, or 2 for this program */
	uint64_t esr;	 /* ESR_ELx: EC, IL, ISS */
	uint64_t far;	 /* FAR_ELx, 0 where the class has none */
	uint64_t ipa;	 /* target 2, abort: the physical address */
	uint64_t elr;	 /* preferred return address */
	bool began;	 /* @word at elr was fetched and did not retire */
	uint32_t word;
};

enum {
	CPU_EC_UNKNOWN = 0x00,
	CPU_EC_SVC64 = 0x15,
	CPU_EC_HVC64 = 0x16,
	CPU_EC_SMC64 = 0x17,
	CPU_EC_SYSREG = 0x18,
	CPU_EC_IABORT_LOWER = 0x20,
	CPU_EC_IABORT_SAME = 0x21,
	CPU_EC_PC_ALIGN = 0x22,
	CPU_EC_DABORT_LOWER = 0x24,
	CPU_EC_DABORT_SAME = 0x25,
	CPU_EC_STEP_LOWER = 0x32,
	CPU_EC_STEP_SAME = 0x33,
	CPU_EC_BRK64 = 0x3c,
	CPU_EC_SHIFT = 26,
};

/* What was executed at cpu_el(), in order, and no later than a room's end. */
struct cpu_work {
	uint64_t insns;
	uint64_t cycles;
	const uint32_t *signal; /* PMUV3_SIGNALS counts; NULL: none watched */
};

/* Until when the machine need not look. The core stops after the instruction that
 * uses one of them up. */
struct cpu_grant {
	uint64_t insns;		      /* 0: look anew before the next one */
	uint64_t soft;		      /* fewer, behind a branch: see cpu_at_branch() */
	uint32_t watch;		      /* signals that the core must report */
	uint32_t room[PMUV3_SIGNALS]; /* of each of those, 1 .. MODEL_ROOM */
};

enum { CPU_TRAITS_BYTES = (1 << 16) / 8 }; /* a bit a register's encoding */

/* What a start-up finds out about Unicorn by trying: zeroed at first, and the same for each
 * engine of a process, so whoever makes many gives all of them one. Not for two threads. */
struct cpu_traits {
	uint8_t tried[CPU_TRAITS_BYTES];
	/* unknown to Unicorn, for reading and for writing */
	uint8_t foreign[2][CPU_TRAITS_BYTES];
};

/* What the machine does for the core. Called while guest code runs. */
struct cpu_ops {
	void (*retired)(void *opaque, const struct cpu_work *work);
	/* Asked anew after what may change it (a register write, another EL). */
	void (*grant)(void *opaque, struct cpu_grant *grant);
	/* Is the IRQ wire high? */
	bool (*irq)(void *opaque);
	/* Does the machine serve this register? Asked once, at the start. */
	bool (*owns)(void *opaque, uint32_t enc);
	/* An MRS (everything before it retired) or MSR (itself too) at @el. */
	enum sysreg_result (*sysreg_read)(void *opaque, uint32_t enc, unsigned el,
					  uint64_t *value);
	enum sysreg_result (*sysreg_may_write)(void *opaque, uint32_t enc, unsigned el);
	enum sysreg_result (*sysreg_write)(void *opaque, uint32_t enc, unsigned el,
					   uint64_t value);
	void *opaque;
	bool el0_only; /* the guest never enters EL1: a cheaper block hook */
	struct cpu_traits *traits; /* NULL: all is tried */
};

struct cpu;

/* An engine with @ram_size bytes of @ram at physical @ram_base (1 GiB aligned,
 * ending below 2 GiB, page aligned memory; borrowed until cpu_destroy()). The core
 * starts at EL1h with all interrupts masked. NULL with a line in @err. */
struct cpu *cpu_create(enum cpu_engine engine, uint64_t ram_base, void *ram,
		       size_t ram_size, const struct cpu_ops *ops, char *err,
		       size_t errsize);
void cpu_destroy(struct cpu *cpu);

/* Whose predictor, caches and costs count. NULL: one cycle an instruction, and
 * nothing is watched. Borrowed. */
void cpu_set_model(struct cpu *cpu, struct model *model);

/* Execute at most @budget instructions (1 or more), within the grant. On an exception *exc is
 * filled and nothing of it has been done. PC is exact in every case. */
enum cpu_stop cpu_run(struct cpu *cpu, uint64_t budget, struct cpu_exception *exc);

/* What CPU_STOP_ERROR was about. */
const char *cpu_error(const struct cpu *cpu);

/* The instruction that retired last, within ops.retired() where the budget is used
 * up: the one that a deadline fell on. */
uint64_t cpu_last_pc(const struct cpu *cpu);

/* Is the instruction that retired last, in a cpu_run() that ended with the budget or
 * for an IRQ, a branch? Where nothing hangs on the very instruction (grant.soft) the
 * core goes on to the next one, since the block engine would have to single-step to
 * any other. */
bool cpu_at_branch(struct cpu *cpu);

/* The exception level that executes, or did last. */
unsigned cpu_el(const struct cpu *cpu);

/* The caller executed the load or store that stopped with *exc, or another single
 * instruction at exc->elr: it retires. */
void cpu_emulated(struct cpu *cpu, const struct cpu_exception *exc);
/* The fetch of an instruction that did not retire (exc->began), and the entry to
 * an exception where @entry: what they add to the machine's next report. */
void cpu_add_exception(struct cpu *cpu, const struct cpu_exception *exc, bool entry,
		       uint32_t signal[PMUV3_SIGNALS]);

/* Enter EL1 by its vectors: a synchronous exception, or an IRQ. */
void cpu_deliver(struct cpu *cpu, const struct cpu_exception *exc);
void cpu_deliver_irq(struct cpu *cpu);

/* General registers; @n 0..30. SP is the current one. */
uint64_t cpu_x(const struct cpu *cpu, unsigned n);
void cpu_set_x(struct cpu *cpu, unsigned n, uint64_t value);
void cpu_get_x_range(const struct cpu *cpu, unsigned first, unsigned count,
		     uint64_t *values);
uint64_t cpu_sp(const struct cpu *cpu);
void cpu_set_sp(struct cpu *cpu, uint64_t value);
uint64_t cpu_pc(const struct cpu *cpu);
void cpu_set_pc(struct cpu *cpu, uint64_t value);
/* As SPSR_EL1 holds it. EL and SP selection change with it: set SP after. */
uint64_t cpu_pstate(const struct cpu *cpu);
void cpu_set_pstate(struct cpu *cpu, uint64_t value);

/* All that a program at EL0 has. */
struct cpu_user {
	uint64_t x[31], sp, pc, pstate, tpidr, fpcr, fpsr;
	uint64_t v[64]; /* V0..V31, low half first */
};
void cpu_get_user(const struct cpu *cpu, struct cpu_user *user);
void cpu_set_user(struct cpu *cpu, const struct cpu_user *user);

/* A system register that the core itself implements (translation control and
 * the like). False when it has none by that encoding. */
bool cpu_sysreg_read(struct cpu *cpu, uint32_t enc, uint64_t *value);
bool cpu_sysreg_write(struct cpu *cpu, uint32_t enc, uint64_t value);

/* Virtual to physical for a read at the current EL; false: it would fault. */
bool cpu_translate(struct cpu *cpu, uint64_t va, uint64_t *pa);

/* Code was written to RAM [pa, pa+n): forget translations of it. */
void cpu_sync_icache(struct cpu *cpu, uint64_t pa, size_t n);

/* One CPU's whole architectural state, for machines of several. */
struct cpu_state;
struct cpu_state *cpu_state_new(struct cpu *cpu);
void cpu_state_free(struct cpu_state *state);
void cpu_save(struct cpu *cpu, struct cpu_state *state);
void cpu_load(struct cpu *cpu, const struct cpu_state *state);

#endif
