/* SPDX-License-Identifier: MIT */
/*
 * The smallest kernel under which perf/ runs: CPUs whose PMUs are emu/'s, tasks
 * without address spaces, user memory as one array. Kernel code costs no events,
 * so a handler "counts nothing" and every value can be predicted by hand. Every
 * hal operation is an interrupt point.
 *
 * One CPU executes at a time, and the others stand still: what the fields of
 * struct fake_kernel say of a CPU they say of that one. Time is everybody's.
 */
#ifndef PMULAB_CONFORMANCE_FAKE_KERNEL_H
#define PMULAB_CONFORMANCE_FAKE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/pmuv3.h"
#include "kernelcore/hal.h"
#include "kernelcore/kperf.h"
#include "kernelcore/ksys.h"

enum {
	FK_USER_BASE = 0x10000, /* user addresses */
	FK_USER_SIZE = 0x10000,
	FK_CODE = 0x400000, /* where the program runs; 4 bytes an instruction */
	FK_KERNEL_PC = 0x80000000,
	FK_LOG = 4096,
	FK_FDS = 64, /* RLIMIT_NOFILE, until fk_grow() */
	FK_TASKS = 8,
	FK_CPUS = 4,
	FK_NS_A_CLOCK_READ = 16,
};

struct fake_kernel;

struct ksys_task {
	struct fake_kernel *fk;
	int32_t tgid, tid;
	void *perf;
	unsigned refs; /* one is the kernel's own */
	bool dead;
	int cpu; /* where it ran last; -1: never */
	int ns; /* pid namespace; 0, the outer one, sees all tasks */
	int32_t inner_tgid, inner_tid; /* in it, when that is not 0 */
};

struct fk_access {
	bool write;
	uint32_t reg; /* HAL_SYSREG; 0: an ISB */
	uint64_t value;
};

struct fk_note {
	enum hal_note note;
	uint64_t a, b;
};

struct hal {
	struct fake_kernel *fk;
	unsigned cpu;
};

struct ksys {
	struct fake_kernel *fk;
};

/* What a CPU that stands still has to keep; the names are fake_kernel's. */
struct fk_cpu {
	struct pmuv3 pmu;
	bool line, masked, in_irq, irq_enabled, at_el0, online, tick_needed;
	uint64_t pc;
	struct ksys_task *current;
	struct ksys_irq_work *work;
	const struct hal_regs *irq_regs;
};

struct fake_kernel {
	struct hal hal; /* CPU 0's */
	struct hal more[FK_CPUS];
	struct fk_cpu still[FK_CPUS];
	unsigned cpu; /* the one that executes */
	unsigned cpu_calls;
	struct ksys_hrtimer *timers;
	struct ksys sys;
	struct kperf *perf;
	struct pmuv3 pmu;
	struct sysreg_block regs;
	const struct hal_regs *irq_regs;
	bool line, masked, in_irq, irq_enabled;
	unsigned irqs;	   /* taken */
	unsigned spurious; /* taken and not ours */

	uint64_t ns, pc; /* clock; the next instruction at EL0 */
	bool at_el0;
	struct hal_regs user_regs; /* EL0's x and sp; pc is above */
	uint64_t ops; /* hal operations so far */
	/* at the inject_op-th: inject_n events into inject_counter, at EL1 */
	uint64_t inject_op, inject_n;
	unsigned inject_counter;
	uint64_t armed_inject; /* at the next ARMED note: events into its counter */
	bool injected_counted; /* did the last planned injection count */
	/* at the hook_op-th: call this (IRQs as they are) */
	uint64_t hook_op;
	void (*hook)(struct fake_kernel *fk);
	uint64_t copy_op; /* hal_copy calls so far; the hook may be tied to one */
	uint64_t hook_copy;

	struct fk_access log[FK_LOG];
	unsigned nlog;
	struct fk_note notes[FK_LOG];
	unsigned nnotes;

	uint8_t user[FK_USER_SIZE];
	uint64_t user_limit; /* first user address that is not mapped */
	int nfds;
	struct kperf_event **fds;
	bool *fd_other; /* open, but no perf event */
	int ntasks;
	struct ksys_task *tasks;
	struct ksys_task *current;
	bool may_attach; /* to any task */
	bool caps[KSYS_CAPS];
	int64_t sysctl[KSYS_SYSCTLS];
	uint64_t locked, pinned; /* pages, by ksys_lock_pages() */
	unsigned ncpus;
	bool irq_wired;
	struct ksys_irq_work *work;
	unsigned allocations; /* live */
	unsigned fail_alloc;  /* the n-th from now fails; 0: none */
	bool tick_needed; /* fk_tick() is the test's to call all the same */
	unsigned wakes;
	bool async; /* somebody has set O_ASYNC on every event */
	unsigned sigio_in, sigio_hup;
	struct kperf_event *last_woken;
};

/* A kernel with the profile, @counters event counters, all rights, the CPU
 * online. */
struct fake_kernel *fk_create(const char *profile, unsigned counters, bool irq_wired);
/* The same with @ncpus CPUs, all of them online. */
struct fake_kernel *fk_create_smp(const char *profile, unsigned counters, unsigned ncpus);
/* More tasks and fds, before the first is used. */
void fk_grow(struct fake_kernel *fk, int ntasks, int nfds);
/* Checks that nothing was leaked. */
void fk_destroy(struct fake_kernel *fk);

/* The program executes @n instructions at EL0, one cycle and one ns each;
 * interrupts are taken after the instruction that raises them. */
void fk_run(struct fake_kernel *fk, uint64_t n);
/* @n events of @counter at once, then an interrupt point. At @el 1 the kernel
 * is what is interrupted. */
void fk_inject(struct fake_kernel *fk, unsigned counter, uint64_t n, unsigned el);
/* CPU @cpu goes on, the others stand still. */
void fk_cpu(struct fake_kernel *fk, unsigned cpu);
/* This CPU switches to @next, NULL is idle; as the scheduler does it. */
void fk_switch(struct fake_kernel *fk, struct ksys_task *next);
/* This CPU's task exits, and idle follows. */
void fk_exit(struct fake_kernel *fk);
/* The kernel drops a dead task: its struct is used anew. */
void fk_reap(struct fake_kernel *fk, struct ksys_task *task);
/* Idle for @ns, with the timers' interrupts. */
void fk_sleep(struct fake_kernel *fk, uint64_t ns);
/* @task's; perf_event_open for it. */
long fk_open_task(struct fake_kernel *fk, const struct perf_event_attr *attr,
		  const struct ksys_task *task, int group_fd);

/* The timer's tick. */
void fk_tick(struct fake_kernel *fk);
void fk_mask(struct fake_kernel *fk);
void fk_unmask(struct fake_kernel *fk);

/* perf_event_open of @attr (copied to user memory) for self, any CPU. */
long fk_open(struct fake_kernel *fk, const struct perf_event_attr *attr, int group_fd);
long fk_open_args(struct fake_kernel *fk, const struct perf_event_attr *attr, int32_t pid,
		  int32_t cpu, int32_t group_fd, uint64_t flags);
void fk_close(struct fake_kernel *fk, long fd);
long fk_ioctl(struct fake_kernel *fk, long fd, uint32_t cmd, uint64_t arg);
/* PERIOD and ID with the value itself. */
long fk_set_period(struct fake_kernel *fk, long fd, uint64_t period);
uint64_t fk_id(struct fake_kernel *fk, long fd);
/* The first word of a read(), which must not fail. */
uint64_t fk_count(struct fake_kernel *fk, long fd);
/* read() of @size bytes into @values; its result. */
long fk_read(struct fake_kernel *fk, long fd, uint64_t *values, uint64_t size);

/* A ring of @pages data pages, writable. */
struct fk_ring {
	struct perf_event_mmap_page *page;
	void *const *pages;
	size_t npages;
};
long fk_mmap(struct fake_kernel *fk, long fd, uint64_t pages, unsigned prot,
	     struct fk_ring *ring);
/* The record at @pos into @buf (64 KiB at least); its size. Consumes nothing. */
size_t fk_record(const struct fk_ring *ring, uint64_t pos, void *buf);
/* Number of records of @type from @from up to data_head. */
unsigned fk_records(const struct fk_ring *ring, uint64_t from, uint32_t type);

/* Writes to @reg in the log, the last one's value in *last. */
unsigned fk_writes(const struct fake_kernel *fk, uint32_t reg, uint64_t *last);
unsigned fk_notes(const struct fake_kernel *fk, enum hal_note note);
void fk_log_clear(struct fake_kernel *fk);

/* hardware/CONFIG, exclude_kernel, exclude_hv, disabled; period 0 counts. */
struct perf_event_attr fk_attr(uint64_t config, uint64_t period);

#endif
