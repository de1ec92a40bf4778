/* SPDX-License-Identifier: MIT */
/* host.c is hal.h on emu/; run.c is the way between EL0 and the kernel. */
#ifndef PMULAB_KERNELCORE_HOST_PRIV_H
#define PMULAB_KERNELCORE_HOST_PRIV_H

#include "kernelcore/hal.h"
#include "kernelcore/host/host.h"

/* Every kind of operation, its cost in EL1 cycles (= instructions), and where
 * an interrupt taken after it returns to (an address in no guest's map). */
enum op {
	OP_SYSREG_READ,
	OP_SYSREG_WRITE,
	OP_ISB,
	OP_IRQ_SAVE,
	OP_IRQ_RESTORE,
	OP_IRQ_ENABLE,
	OP_IRQ_DISABLE,
	OP_CLOCK,
	OP_COPY,
	OP_MMIO,
	OP_CONSOLE,
	OP_LAB,
	OP_SYNC_ENTRY,
	OP_SYNC_EXIT,
	OP_IRQ_ENTRY,
	OP_IRQ_EXIT,
	OP_CONTEXT,
	OPS,
};

#define HOST_KERNEL_TEXT UINT64_C(0xffff800008000000)
/* Where the idle task waits. */
#define HOST_IDLE_PC (HOST_KERNEL_TEXT + 4 * (uint64_t)OPS)

enum { HOST_PSTATE_EL1H = 0x5 };

struct plan {
	uint64_t op; /* absolute operation number, 0: none */
	unsigned counter;
	uint64_t events;
	unsigned el;
	bool forced;
};

/* A CPU. */
struct hal {
	struct host *host;
	struct machine *machine;
	struct machine_cpu *cpu;
	struct gic_ppi_pin timer_pin;
	bool masked; /* PSTATE.I at EL1 */
	bool idle;   /* it waits for an interrupt */
	uint64_t now; /* cycles, while another CPU is the current one */
};

struct host {
	struct hal hal[MACHINE_CPUS];
	unsigned ncpus;
	struct machine *machine;
	struct ksys *sys;
	bool booted; /* interrupts may be taken */
	uint64_t last_ns; /* what a clock said last */
	uint64_t ops;
	struct plan at_op;
	struct plan at_armed; /* op counts the notes that are still to come */
	unsigned armed_counter;
	uint64_t *hostile;  /* header page of a ring, NULL: nobody scribbles */
	uint64_t hostile_next; /* random number; the same in each run */
	bool at_op_pending; /* at_op.op is relative to the next system call */
	void (*output)(void *opaque, const void *buf, size_t n);
	void *opaque;
};

/* Time before an operation's effect; after it, whatever may interrupt. */
void host_spend(struct hal *hal, enum op op);
void host_interrupt_point(struct hal *hal, enum op op);
void host_set_masked(struct hal *hal, bool masked);
/* The machine goes on with the CPU of @hal, at that CPU's own time. */
void host_switch(struct host *host, struct hal *hal);

/* An interrupt that came at @pc; into the kernel and back. */
void host_take_irq(struct hal *hal, uint64_t pc, uint64_t pstate);

#endif
