/* SPDX-License-Identifier: MIT */
/*
 * The machine under the kernel. kernelcore/ reaches the hardware only through
 * this door; host/ implements it on emu/, arm64/ in real mrs and msr.
 *
 * On the host each operation marked [op] costs EL1 cycles from a table and is
 * an interrupt point: when it is done, a pending interrupt that PSTATE.I, the
 * GIC's mask and the running priority let through is taken as a nested call of
 * kentry_irq(). Nothing else is an interrupt point.
 *
 * `struct hal` stands for one CPU: the one that executes the caller, unless a line
 * says that another's may be named. No function here allocates or may be called
 * with an invalid pointer.
 *
 * Where a function switches to another CPU or sleeps in between, there is none: the
 * kernel runs on one stack a CPU, and what one CPU's kernel does between two [op]s
 * is atomic towards the others on the host.
 */
#ifndef PMULAB_KERNELCORE_HAL_H
#define PMULAB_KERNELCORE_HAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct hal;

/* op0:op1:CRn:CRm:op2 as in MRS/MSR. */
#define HAL_SYSREG(op0, op1, crn, crm, op2) \
	((uint32_t)((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))

/* Performance monitors (Arm ARM, D24.5). */
#define HAL_PMCR_EL0	   HAL_SYSREG(3, 3, 9, 12, 0)
#define HAL_PMCNTENSET_EL0 HAL_SYSREG(3, 3, 9, 12, 1)
#define HAL_PMCNTENCLR_EL0 HAL_SYSREG(3, 3, 9, 12, 2)
#define HAL_PMOVSCLR_EL0   HAL_SYSREG(3, 3, 9, 12, 3)
#define HAL_PMSWINC_EL0	   HAL_SYSREG(3, 3, 9, 12, 4)
#define HAL_PMSELR_EL0	   HAL_SYSREG(3, 3, 9, 12, 5)
#define HAL_PMCEID0_EL0	   HAL_SYSREG(3, 3, 9, 12, 6)
#define HAL_ID_AA64DFR0_EL1 HAL_SYSREG(3, 0, 0, 5, 0)
#define HAL_PMCEID1_EL0	   HAL_SYSREG(3, 3, 9, 12, 7)
#define HAL_PMCCNTR_EL0	   HAL_SYSREG(3, 3, 9, 13, 0)
#define HAL_PMUSERENR_EL0  HAL_SYSREG(3, 3, 9, 14, 0)
#define HAL_PMINTENSET_EL1 HAL_SYSREG(3, 0, 9, 14, 1)
#define HAL_PMINTENCLR_EL1 HAL_SYSREG(3, 0, 9, 14, 2)
#define HAL_PMOVSSET_EL0   HAL_SYSREG(3, 3, 9, 14, 3)
#define HAL_PMCCFILTR_EL0  HAL_SYSREG(3, 3, 14, 15, 7)
/* n: 0..30 */
#define HAL_PMEVCNTR_EL0(n)  HAL_SYSREG(3, 3, 14, 8 + ((n) >> 3), (n) & 7)
#define HAL_PMEVTYPER_EL0(n) HAL_SYSREG(3, 3, 14, 12 + ((n) >> 3), (n) & 7)

/* GIC CPU interface (IHI 0069, 12.2). */
#define HAL_ICC_PMR_EL1	    HAL_SYSREG(3, 0, 4, 6, 0)
#define HAL_ICC_IAR1_EL1    HAL_SYSREG(3, 0, 12, 12, 0)
#define HAL_ICC_EOIR1_EL1   HAL_SYSREG(3, 0, 12, 12, 1)
#define HAL_ICC_BPR1_EL1    HAL_SYSREG(3, 0, 12, 12, 3)
#define HAL_ICC_CTLR_EL1    HAL_SYSREG(3, 0, 12, 12, 4)
#define HAL_ICC_SRE_EL1	    HAL_SYSREG(3, 0, 12, 12, 5)
#define HAL_ICC_SGI1R_EL1   HAL_SYSREG(3, 0, 12, 11, 5)
#define HAL_ICC_IGRPEN1_EL1 HAL_SYSREG(3, 0, 12, 12, 7)

/* Memory management. */
#define HAL_SCTLR_EL1 HAL_SYSREG(3, 0, 1, 0, 0)
#define HAL_TTBR0_EL1 HAL_SYSREG(3, 0, 2, 0, 0)
#define HAL_TCR_EL1   HAL_SYSREG(3, 0, 2, 0, 2)
#define HAL_MAIR_EL1  HAL_SYSREG(3, 0, 10, 2, 0)

#define HAL_CNTFRQ_EL0 HAL_SYSREG(3, 3, 14, 0, 0)
#define HAL_CNTVCT_EL0 HAL_SYSREG(3, 3, 14, 0, 2)
/* The virtual timer of this CPU (Arm ARM, D12.2.4); its interrupt is PPI 11. */
#define HAL_CNTV_CTL_EL0  HAL_SYSREG(3, 3, 14, 3, 1)
#define HAL_CNTV_CVAL_EL0 HAL_SYSREG(3, 3, 14, 3, 2)

/* The kernel's interrupts: SGIs of hal_cpu_kick() and hal_cpu_call(), and devices. */
enum { HAL_IRQ_KICK = 0, HAL_IRQ_CALL = 1, HAL_IRQ_PMU = 23, HAL_IRQ_TIMER = 27 };

/* PSTATE as SPSR_EL1 holds it. */
#define HAL_PSTATE_I	   (UINT64_C(1) << 7)
#define HAL_PSTATE_EL_MASK UINT64_C(0xc)

/* A CPU's general state at an exception. For a system call x[0..8], pc, sp and
 * pstate are valid; in an interrupt only pc and pstate. */
struct hal_regs {
	uint64_t x[31];
	uint64_t sp;
	uint64_t pc;
	uint64_t pstate;
};

static inline int hal_regs_user(const struct hal_regs *regs)
{
	return (regs->pstate & HAL_PSTATE_EL_MASK) == 0;
}

/*
 * What a task is at EL0, all of it; regs.pstate is EL0's flags. A context is the
 * kernel's memory: it may be looked into and changed while no CPU runs it.
 */
struct hal_context {
	struct hal_regs regs;
	uint64_t tpidr; /* TPIDR_EL0 */
	uint64_t fpcr, fpsr;
	_Alignas(16) uint64_t v[64]; /* V0..V31, low half first */
};

/* A task that begins at @pc with the stack @sp, all else 0. */
static inline void hal_context_init(struct hal_context *ctx, uint64_t pc, uint64_t sp)
{
	*ctx = (struct hal_context){ .regs = { .pc = pc, .sp = sp } };
}

/* The CPU that executes the caller; @any is a CPU of the machine. */
struct hal *hal_this_cpu(struct hal *any);
/* How many there are, 1..8, and the @n-th. */
unsigned hal_ncpus(struct hal *any);
struct hal *hal_cpu(struct hal *any, unsigned n);

/* [op] From and to what this CPU returns to EL0 with. IRQs masked. */
void hal_context_save(struct hal *hal, struct hal_context *ctx);
void hal_context_load(struct hal *hal, const struct hal_context *ctx);
/* x0 of what this CPU returns to EL0 with: a system call's result. */
void hal_user_set_x0(struct hal *hal, uint64_t value);

/*
 * [op] fn(arg) in the IRQ context of the CPU of @cpu, IRQs masked there; done when
 * this returns (Linux smp_call_function_single(), wait = 1). On the caller's own
 * CPU it is called at once with IRQs masked. Not in IRQ context.
 */
void hal_cpu_call(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg);
/* [op] Make the CPU of @cpu come into the kernel: it will schedule. */
void hal_cpu_kick(struct hal *hal, struct hal *cpu);

/* [op] Read or write a system register of this CPU. A register that the
 * machine does not have is a bug of the kernel: the host backend aborts. */
uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg);
void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value);

/* What TCR_EL1 holds for the upper half of the address space, which is the
 * backend's: the kernel writes its own half and ors this in. A write of TTBR0_EL1
 * makes stores to page tables seen, and forgets every translation of the lower
 * half. */
uint64_t hal_tcr_upper(struct hal *hal);

/* [op] Instruction synchronisation barrier. */
void hal_isb(struct hal *hal);

/* [op] Mask IRQs; returns what hal_irq_restore() wants back. Nests. */
unsigned long hal_irq_save(struct hal *hal);
/* [op] */
void hal_irq_restore(struct hal *hal, unsigned long flags);
/* [op] Unmask IRQs (the way in of a system call). */
void hal_irq_enable(struct hal *hal);
/* [op] Mask IRQs (the way out of a system call). */
void hal_irq_disable(struct hal *hal);

/* [op] The kernel's clock: ns since reset, from CNTVCT_EL0; monotonic, quantum
 * 1e9/CNTFRQ ns. Also perf's clock (Linux: local_clock()). */
uint64_t hal_clock_ns(struct hal *hal);

/* [op] One chunk of a copy between kernel memory (either side may be a page
 * that a user maps). @n: 0..4096 bytes. */
void hal_copy(struct hal *hal, void *dst, const void *src, size_t n);

/* [op] A device register by physical address (multiple of 4). */
uint32_t hal_mmio_read32(struct hal *hal, uint64_t pa);
void hal_mmio_write32(struct hal *hal, uint64_t pa, uint32_t value);

/* RAM: physical base, bytes, and the kernel's view of an address in it. */
uint64_t hal_ram_base(struct hal *hal);
uint64_t hal_ram_size(struct hal *hal);
void *hal_phys_to_virt(struct hal *hal, uint64_t pa);
uint64_t hal_virt_to_phys(struct hal *hal, const void *va);

/* 0..7 */
unsigned hal_cpu_id(struct hal *hal);

/* Instructions were written to [pa, pa+n): make them visible to execution. */
void hal_sync_icache(struct hal *hal, uint64_t pa, size_t n);

/* [op] Program output. */
void hal_console_write(struct hal *hal, const void *buf, size_t n);

/* Is a device wired to this private interrupt (device tree)? @intid 16..31. */
int hal_irq_wired(struct hal *hal, unsigned intid);

/* Redistributor SGI_base frame of the CPU of @hal, physical; any CPU's may be
 * written by any. */
uint64_t hal_gicr_sgi(struct hal *hal);

/* Tell an observer. Costs nothing, is no interrupt point, may be empty. */
enum hal_note {
	HAL_NOTE_RECORD, /* a = PERF_RECORD type, b = bytes written */
	HAL_NOTE_LOST,	 /* a = PERF_RECORD type, b = bytes dropped */
	HAL_NOTE_WAKEUP, /* a = event id */
	HAL_NOTE_ARMED,	 /* a = counter, b = PMCR.E is on again after serving it */
	HAL_NOTE_ADJUST, /* a = ns, b = events in them, by which a period is adjusted */
};
void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b);

/* The same of an event's life. */
enum hal_story {
	HAL_STORY_SERVE, /* a = counter that overflowed, b = the period that ended */
	HAL_STORY_ARM,	 /* a = period_left as the counter is programmed, b = the period */
	HAL_STORY_STORE, /* a = bytes since the ring's beginning, b = bytes at @data */
	HAL_STORY_HEAD,	 /* a = data_head published, b = data_tail seen */
};
void hal_story(struct hal *hal, enum hal_story what, uint64_t id, uint64_t a, uint64_t b,
	       const void *data);

/*
 * What the laboratory asks of the kernel's host (emulator only): system call
 * HAL_LAB_BASE + call. Counters are hardware numbers (31: the cycle counter);
 * sys/ has turned fds into them. 0 or -Exxx; -ENOSYS on real hardware.
 */
enum { HAL_LAB_BASE = 0x7000 };
enum hal_lab {
	HAL_LAB_INJECT,	  /* args: forced if < 0, counter, events, el */
	HAL_LAB_MASK,	  /* no interrupt passes the GIC */
	HAL_LAB_UNMASK,	  /* [op] they pass again */
	HAL_LAB_AT_OP,	  /* args 0..3 as INJECT, at the args[4]-th [op] from the
			   * next system call on */
	HAL_LAB_AT_ARMED, /* args 0..3 as INJECT, when counter args[4] was noted
			   * HAL_NOTE_ARMED for the args[5]-th time from now */
	HAL_LAB_HOSTILE,  /* at each [op] from now on, somebody writes over the page at
			   * physical address args[0]; 0: nobody does any more */
	HAL_LAB_CALLS,
};
long hal_lab_call(struct hal *hal, enum hal_lab call, const uint64_t args[6]);

/* [irq] All registers of the interrupt that @irq (as kentry_irq() got it) is of.
 * Taken at EL1 on the host: x and sp are 0, that kernel has none. Costs nothing,
 * like the next: the exception's entry has saved them. */
void hal_irq_regs(struct hal *hal, const struct hal_regs *irq, struct hal_regs *full);
/* [irq] EL0's registers as this CPU's last exception from there found them. */
void hal_user_regs(struct hal *hal, struct hal_regs *regs);

/* Barriers between CPUs, and between the kernel and a ring's reader. */
static inline void hal_smp_wmb(void)
{
	atomic_thread_fence(memory_order_release);
}

static inline void hal_smp_rmb(void)
{
	atomic_thread_fence(memory_order_acquire);
}

static inline void hal_smp_mb(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

#endif
