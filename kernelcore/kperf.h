/* SPDX-License-Identifier: MIT */
/*
 * The way down: what a perf core provides to the kernel around it. perf/ is
 * the one of this project; `-Dcore=path/to/libX.a` links another one instead,
 * and null/ is the smallest that fits (open gives ENOSYS).
 *
 * All longs and ints are 0 or more on success, -Exxx (Linux's numbers) else.
 * A perf core never blocks. Process context unless a line says otherwise.
 */
#ifndef PMULAB_KERNELCORE_KPERF_H
#define PMULAB_KERNELCORE_KPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/ksys.h"

struct kperf;
struct kperf_event;

/* Make a core with the profile's policy ("linux-6.1", "linux-6.12"). Memory is
 * from ksys_alloc(). -ENOENT: no such profile; -ENOMEM. */
int kperf_create(struct ksys *sys, const char *profile, struct kperf **out);
/* No event may be left. */
void kperf_destroy(struct kperf *perf);

/* The @i-th profile's name, NULL after the last. */
const char *kperf_profile(unsigned i);

/* This CPU (hal's) comes up: reset its PMU (Linux armv8pmu_reset: CNTENCLR,
 * INTENCLR, OVSCLR, PMCR = P|C|LC, E=0), request and enable the PMU interrupt.
 * An interrupt that cannot be had is no error: sampling opens then fail
 * EOPNOTSUPP. */
int kperf_cpu_online(struct kperf *perf, struct hal *hal);

/* perf_event_open(2). Arguments as the user passed them; @uattr is a user
 * address of the current task. Reserves and installs the fd by ksys_fd_*().
 * Returns the fd. */
long kperf_open(struct kperf *perf, uint64_t uattr, int32_t pid, int32_t cpu,
		int32_t group_fd, uint64_t flags);

/* The fd's operations. @event is what kperf_open() installed. */
long kperf_read(struct kperf_event *event, uint64_t ubuf, uint64_t count);
long kperf_ioctl(struct kperf_event *event, uint32_t cmd, uint64_t arg);
/* POLLIN, POLLHUP, POLLERR as poll(2) has them; consumes the wakeup. */
unsigned kperf_poll(struct kperf_event *event);

enum {
	KPERF_PROT_READ = 1,
	KPERF_PROT_WRITE = 2,
	KPERF_MAP_SHARED = 1,
};

/* mmap(2) of the fd. @size in bytes, a multiple of the page size, not 0;
 * @pgoff in pages; @prot KPERF_PROT_*; @flags KPERF_MAP_*. On success *pages
 * is an array of *npages kernel addresses of pages (header first) that the
 * event owns until the last kperf_munmap(). */
long kperf_mmap(struct kperf_event *event, uint64_t size, uint64_t pgoff,
		unsigned prot, unsigned flags, void *const **pages,
		size_t *npages);
/* One mapping made by kperf_mmap() goes away. Holds the event until then. */
void kperf_munmap(struct kperf_event *event);

/* The fd's last reference is gone. The event lives on while mapped. */
void kperf_release(struct kperf_event *event);

/* The PMU's interrupt on hal's CPU, IRQs masked. IRQ context: no allocation,
 * no unbounded loop, no libc. True when it was ours. */
bool kperf_irq(struct kperf *perf, struct hal *hal, const struct hal_regs *regs);

/*
 * The scheduler's hooks, IRQs masked, on the CPU of @hal, for every switch: out
 * before it (ksys_current() is still @prev), in behind it (it is @next); NULL is
 * the idle task. One relaxed load when perf is unused. The events that count
 * switches and migrations are told by kperf_sw_event(), as Linux does:
 * CONTEXT_SWITCHES before kperf_sched_out(), CPU_MIGRATIONS behind
 * kperf_sched_in() of a task that has moved since it last ran.
 */
void kperf_sched_out(struct kperf *perf, struct hal *hal, struct ksys_task *prev);
void kperf_sched_in(struct kperf *perf, struct hal *hal, struct ksys_task *next);

/* The timer's tick on hal's CPU, IRQs masked: IRQ context. @regs as in
 * kperf_irq(). */
void kperf_tick(struct kperf *perf, struct hal *hal, const struct hal_regs *regs);

/* Software events: Linux's PERF_COUNT_SW_*. */
enum kperf_sw {
	KPERF_SW_CPU_CLOCK,
	KPERF_SW_TASK_CLOCK,
	KPERF_SW_PAGE_FAULTS,
	KPERF_SW_CONTEXT_SWITCHES,
	KPERF_SW_CPU_MIGRATIONS,
	KPERF_SW_PAGE_FAULTS_MIN,
	KPERF_SW_PAGE_FAULTS_MAJ,
	KPERF_SW_ALIGNMENT_FAULTS,
	KPERF_SW_EMULATION_FAULTS,
	KPERF_SW_DUMMY,
	KPERF_SW_BPF_OUTPUT,
	KPERF_SW_CGROUP_SWITCHES,
	KPERF_SWS,
};

/* @nr of @sw happened on hal's CPU to the current task; @regs: where (NULL: in
 * the kernel, where nobody asks), @addr: what a sample's ADDR says. Any context,
 * no interrupt of perf's may be under way. One relaxed load when nobody counts
 * @sw. Of the clocks nobody tells. */
void kperf_sw_event(struct kperf *perf, struct hal *hal, enum kperf_sw sw, uint64_t nr,
		    const struct hal_regs *regs, uint64_t addr);

/* clone(2) has made @child, which does not run yet and nobody can find; @flags
 * are clone's. -ENOMEM: then kperf_task_free(child) has been done. */
int kperf_fork(struct kperf *perf, struct ksys_task *parent, struct ksys_task *child,
	       uint64_t flags);
/* execve(2) succeeded: the new image is in place, @task (the current one) has
 * not returned to it. */
void kperf_exec(struct kperf *perf, struct ksys_task *task);
/* The current @task has begun to exit, its memory and files are gone (Linux
 * do_exit's order); it may still be switched out. Poll is woken. */
void kperf_task_exit(struct kperf *perf, struct ksys_task *task);
/* A clone(2) that kperf_fork() saw failed: what @task has inherited, which holds
 * it, goes. Also, and without effect, when the last reference does. */
void kperf_task_free(struct kperf *perf, struct ksys_task *task);

/* PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: all events that the current task
 * has opened. 0. */
long kperf_prctl(struct kperf *perf, bool enable);

/* A valid value is about to be written to @name: -EBUSY while events hold what depends
 * on it (Linux perf_event_max_stack_handler()). */
int kperf_sysctl_check(struct kperf *perf, enum ksys_sysctl name);
/* It has been written. */
void kperf_sysctl_changed(struct kperf *perf, enum ksys_sysctl name);

/* [irq] The hardware counter (0..30, 31: cycle counter) that the event is on
 * now, for the laboratory's injections; -ENOENT when it is on none. */
int kperf_event_counter(const struct kperf_event *event);

#endif
