/* SPDX-License-Identifier: MIT */
/*
 * One AArch64 CPU, executed by Unicorn. Guest code runs at EL0 (the laboratory's
 * host mode keeps the kernel outside); whatever leaves EL0 comes back as a stop.
 *
 * Two engines. `step` settles after every instruction and is the reference;
 * `block` counts whole translated blocks and single-steps the last ones, so
 * that it stops after exactly the instruction it was told to. Both report the
 * instructions they executed through cpu_ops.retired(), never beyond the budget.
 */
#ifndef PMULAB_EMU_CPU_H
#define PMULAB_EMU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sysreg.h"

enum cpu_engine {
	CPU_ENGINE_STEP,
	CPU_ENGINE_BLOCK,
};

enum cpu_stop {
	CPU_STOP_BUDGET,    /* executed all it was allowed to, or ops asked to stop */
	CPU_STOP_EXCEPTION, /* a synchronous exception; see struct cpu_exception */
	CPU_STOP_ERROR,	    /* the emulator itself gave up; see cpu_error() */
};

/* A synchronous exception from EL0, as EL1 would find it (Arm ARM, D1.10). */
struct cpu_exception {
	uint64_t esr; /* ESR_EL1: EC, IL, ISS */
	uint64_t far; /* FAR_EL1, 0 where the class has none */
	uint64_t elr; /* preferred return address */
};

enum {
	CPU_EC_UNKNOWN = 0x00,
	CPU_EC_SVC64 = 0x15,
	CPU_EC_SYSREG = 0x18,
	CPU_EC_IABORT_LOWER = 0x20,
	CPU_EC_PC_ALIGN = 0x22,
	CPU_EC_DABORT_LOWER = 0x24,
	CPU_EC_STEP_LOWER = 0x32,
};

/* What the machine does for its CPU. Called while guest code runs. */
struct cpu_ops {
	/* @insns more instructions have retired at EL0, in order. */
	void (*retired)(void *opaque, uint64_t insns);
	/* step engine only, after each retired(1): leave before the next one? */
	bool (*attention)(void *opaque);
	/* An MRS or MSR at EL0, everything before it retired. */
	enum sysreg_result (*sysreg_read)(void *opaque, uint32_t enc, uint64_t *value);
	enum sysreg_result (*sysreg_write)(void *opaque, uint32_t enc, uint64_t value);
	void *opaque;
};

struct cpu;

/* An engine with @ram_size bytes of @ram at physical @ram_base (page aligned;
 * borrowed until cpu_destroy()). NULL with a line in @err. */
struct cpu *cpu_create(enum cpu_engine engine, uint64_t ram_base, void *ram,
		       size_t ram_size, const struct cpu_ops *ops, char *err,
		       size_t errsize);
void cpu_destroy(struct cpu *cpu);

/* Execute at EL0 at most @budget instructions (1 or more). On an exception
 * *exc is filled. PC is exact in every case. */
enum cpu_stop cpu_run(struct cpu *cpu, uint64_t budget, struct cpu_exception *exc);

/* What CPU_STOP_ERROR was about. */
const char *cpu_error(const struct cpu *cpu);

/* General registers; @n 0..30. SP is SP_EL0. */
uint64_t cpu_x(const struct cpu *cpu, unsigned n);
void cpu_set_x(struct cpu *cpu, unsigned n, uint64_t value);
void cpu_get_x_range(const struct cpu *cpu, unsigned first, unsigned count,
		     uint64_t *values);
uint64_t cpu_sp(const struct cpu *cpu);
void cpu_set_sp(struct cpu *cpu, uint64_t value);
uint64_t cpu_pc(const struct cpu *cpu);
void cpu_set_pc(struct cpu *cpu, uint64_t value);
/* NZCV and the rest as SPSR_EL1 would hold it; only EL0t can be set. */
uint64_t cpu_pstate(const struct cpu *cpu);
void cpu_set_pstate(struct cpu *cpu, uint64_t value);

/* A system register that the CPU itself implements (translation control and
 * the like). False when it has none by that encoding. */
bool cpu_sysreg_read(struct cpu *cpu, uint32_t enc, uint64_t *value);
bool cpu_sysreg_write(struct cpu *cpu, uint32_t enc, uint64_t value);

/* Code was written to RAM [pa, pa+n): forget translations of it. */
void cpu_sync_icache(struct cpu *cpu, uint64_t pa, size_t n);

#endif
