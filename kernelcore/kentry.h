/* SPDX-License-Identifier: MIT */
/*
 * What a backend (host/, arm64/) calls: bring the kernel up, start a program,
 * enter on exceptions. Implemented by sys/.
 */
#ifndef PMULAB_KERNELCORE_KENTRY_H
#define PMULAB_KERNELCORE_KENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "kernelcore/hal.h"

struct ksys;
struct kperf;

/* Where user space begins: what a backend puts into the CPU. */
struct kentry_start {
	uint64_t pc;
	uint64_t sp;
};

/* What became of the program. */
struct kentry_status {
	int exited;   /* 1 once it has ended */
	int code;     /* exit status 0..255, when it exited by itself */
	int signal;   /* 0, or the signal that a fault would have raised */
	uint64_t pc;  /* of the fault */
	uint64_t far; /* its address */
};

/*
 * Boot on the CPU of @hal: page allocator, GIC, MMU, perf core with @profile.
 * All memory comes from the machine's RAM. 0, -ENOMEM, or -ENOENT for an
 * unknown profile.
 */
int kentry_boot(struct hal *hal, const char *profile, struct ksys **out);

/* From now on slices and places of tasks are random, from @seed (not 0), the same
 * ones each time. Before the first program. */
void kentry_seed(struct ksys *sys, uint64_t seed);

/* Shut the perf core down. The RAM is the backend's. */
void kentry_shutdown(struct ksys *sys);

/*
 * Make the first program out of a static AArch64 ELF image: process and thread
 * number 2, argv = { "agent" }, fd 0 reads @input, fds 1 and 2 write to
 * hal_console_write(). @elf and @input are borrowed until the program ends.
 * 0; -ENOEXEC: not such an image; -ENOMEM.
 */
int kentry_exec(struct ksys *sys, const void *elf, size_t elf_size, const void *input,
		size_t input_size, struct kentry_start *start);

/*
 * What the CPU does after an entry: go on at EL0 with what is in the CPU now
 * (hal_context_load() may have changed it), or wait for an interrupt, which
 * comes from the idle task then. The backend comes back by kentry_irq() only.
 */
enum kentry_next { KENTRY_USER, KENTRY_IDLE };

/* A synchronous exception from EL0 on the CPU of @hal with @esr and @far; @regs as
 * hal.h says. Called with IRQs masked; returns with IRQs masked. */
enum kentry_next kentry_sync(struct ksys *sys, struct hal *hal, const struct hal_regs *regs,
			     uint64_t esr, uint64_t far);

/* An IRQ on the CPU of @hal, from EL0, from the kernel or from the idle task (EL1
 * too); IRQs masked. One that interrupted the kernel goes back there, whatever is
 * returned. */
enum kentry_next kentry_irq(struct ksys *sys, struct hal *hal, const struct hal_regs *regs);

/* The CPU of @hal, started by hal_cpu_start(), is in the kernel; IRQs masked. */
enum kentry_next kentry_cpu_start(struct ksys *sys, struct hal *hal);

/* Of the first program; exited is not set before its last thread is gone. */
struct kentry_status kentry_status(const struct ksys *sys);

#endif
