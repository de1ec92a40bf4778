/* SPDX-License-Identifier: MIT */
/*
 * The way up: what a perf core may ask of the kernel around it. sys/ provides
 * it; tests of perf/ alone provide a small one of their own.
 *
 * Functions marked [irq] may be called in IRQ context; the others may not.
 */
#ifndef PMULAB_KERNELCORE_KSYS_H
#define PMULAB_KERNELCORE_KSYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/hal.h"

struct ksys;
struct ksys_task;
struct kperf_event;

enum {
	KSYS_PAGE_SIZE = 4096,
	KSYS_HZ = 250,
	KSYS_MAX_CPUS = 8,
};

/* [irq] The CPU that executes the caller. */
struct hal *ksys_hal(struct ksys *sys);
/* How many there can be, and whether kperf_cpu_online() was called for CPU @cpu. */
unsigned ksys_ncpus(struct ksys *sys);
bool ksys_cpu_online(struct ksys *sys, unsigned cpu);

/* fn(arg) on CPU @cpu in IRQ context, IRQs masked; done on return. On this CPU it
 * is called with IRQs masked. -ENXIO: not online. */
int ksys_cpu_call(struct ksys *sys, unsigned cpu, void (*fn)(void *arg), void *arg);

/* Zeroed kernel memory, 16-byte aligned, up to 64 KiB; NULL when there is
 * none. ksys_free(NULL) is allowed. */
void *ksys_alloc(struct ksys *sys, size_t size);
void ksys_free(struct ksys *sys, void *p);

/* One zeroed page that may be lent to user mappings; NULL when out of memory. */
void *ksys_page_alloc(struct ksys *sys);
void ksys_page_free(struct ksys *sys, void *page);

/*
 * Pages that stay in memory because the current task maps them: the first ones are
 * charged to its user, of all whose tasks no more than @user_limit (Linux
 * user->locked_vm), the others to its address space (mm->pinned_vm), where
 * RLIMIT_MEMLOCK ends them if @enforce says so: -EPERM. -ENOMEM.
 */
struct ksys_lock {
	void *user;
	uint64_t user_pages, pinned;
};
int ksys_lock_pages(struct ksys *sys, uint64_t pages, uint64_t user_limit, bool enforce,
		    struct ksys_lock *lock);
/* Of a ring that was not made after all, or inside kperf_munmap(): the pages that are pinned are given back to the address space
 * that is unmapped from, be it the one that they were charged to or not. */
void ksys_unlock_pages(struct ksys *sys, struct ksys_lock *lock);

/* To and from the current task's memory, in chunks of one [op] each. 0, or
 * -EFAULT when any byte is not mapped with that right; then a prefix may have
 * been copied. @size 0 is 0. */
int ksys_copy_from_user(struct ksys *sys, void *dst, uint64_t uaddr, size_t size);
int ksys_copy_to_user(struct ksys *sys, uint64_t uaddr, const void *src, size_t size);

/* [irq] From the current task's memory without faulting anything in, at most
 * 4096 bytes an [op]. Returns how many bytes, at the end, were not copied: 0
 * when all are mapped readable, else as many as arm64's copy leaves out. */
size_t ksys_copy_from_user_nofault(struct ksys *sys, void *dst, uint64_t uaddr,
				   size_t size);
/* [irq] Size of the page that the current task has at @uaddr; 0: none. */
uint64_t ksys_user_page_size(struct ksys *sys, uint64_t uaddr);

/* [irq] The task that runs on this CPU; NULL is the idle task. */
struct ksys_task *ksys_current(struct ksys *sys);
/* A task by its number as the current task sees it, NULL when there is none;
 * 0 is the current task. The caller gets a reference. */
struct ksys_task *ksys_find_task(struct ksys *sys, int32_t pid);
/* [irq: get] A reference keeps the struct, not the task's life. ksys_task_put(NULL)
 * is allowed. */
void ksys_task_get(struct ksys_task *task);
void ksys_task_put(struct ksys *sys, struct ksys_task *task);
/* [irq] The CPU that the task is on now; -1 when it does not run. */
int ksys_task_cpu(const struct ksys_task *task);
/* [irq] From before kperf_task_exit(). */
bool ksys_task_dead(const struct ksys_task *task);
/* [irq] A thread of the kernel's own. */
bool ksys_task_is_kernel(const struct ksys_task *task);
/* May the current task attach to @task? Linux ptrace_may_access() with
 * PTRACE_MODE_READ_REALCREDS: the same user, or CAP_PERFMON. */
bool ksys_may_attach(struct ksys *sys, const struct ksys_task *task);
/* [irq] The task's numbers as the namespace of @observer sees them: process
 * (tgid) and thread. 0 when invisible there; -1 once the task is dead. */
int32_t ksys_task_tgid(const struct ksys_task *task, const struct ksys_task *observer);
int32_t ksys_task_tid(const struct ksys_task *task, const struct ksys_task *observer);
/* [irq] Where perf hangs its per-task context; NULL at first. */
void **ksys_task_perf(struct ksys_task *task);

/* File descriptors of the current task. Reserve first, install last: -EMFILE. */
int ksys_fd_reserve(struct ksys *sys, bool cloexec);
void ksys_fd_cancel(struct ksys *sys, int fd);
void ksys_fd_install(struct ksys *sys, int fd, struct kperf_event *event);
/* -EBADF: not open; -EINVAL: open, but no perf event. */
int ksys_fd_event(struct ksys *sys, int fd, struct kperf_event **out);

/* Rights of the current task, by Linux's numbers. */
enum ksys_cap {
	KSYS_CAP_KILL = 5,
	KSYS_CAP_SETGID = 6,
	KSYS_CAP_SETUID = 7,
	KSYS_CAP_IPC_LOCK = 14,
	KSYS_CAP_SYS_PTRACE = 19,
	KSYS_CAP_SYS_ADMIN = 21,
	KSYS_CAP_SYS_RESOURCE = 24,
	KSYS_CAP_PERFMON = 38,
	KSYS_CAPS = 41,
};
bool ksys_capable(struct ksys *sys, enum ksys_cap cap);

/* State behind /proc/sys/kernel/perf_event_*; [irq]. */
enum ksys_sysctl {
	KSYS_SYSCTL_PARANOID,	     /* -1..4, Debian's default 3 */
	KSYS_SYSCTL_MAX_SAMPLE_RATE, /* samples a second */
	KSYS_SYSCTL_MLOCK_KB,
	KSYS_SYSCTL_CPU_TIME_PERCENT, /* perf_cpu_time_max_percent */
	KSYS_SYSCTL_MAX_STACK,
	KSYS_SYSCTL_MAX_CONTEXTS, /* perf_event_max_contexts_per_stack */
	KSYS_SYSCTL_USER_ACCESS, /* perf_user_access: 0, 1 */
	KSYS_SYSCTLS,
};
int64_t ksys_sysctl(struct ksys *sys, enum ksys_sysctl name);

/* Request the per-CPU interrupt @intid on every CPU: kentry_irq() then
 * hands it to kperf_irq(). -ENOENT: the machine does not wire it; -EBUSY. */
int ksys_irq_request(struct ksys *sys, unsigned intid);
/* Enable or disable it at the GIC for the CPU of @hal. */
void ksys_irq_enable(struct ksys *sys, struct hal *hal, unsigned intid, bool on);

/* [irq] Where the interrupt that this CPU serves came from; NULL: none is served. */
const struct hal_regs *ksys_irq_regs(struct ksys *sys);

/* [irq] Deferred work: fn(arg) runs once on this CPU, IRQs masked, after the
 * interrupt (or at once after the current IRQ-off region when none is active).
 * Queueing a queued item does nothing. @work lives with its owner. */
struct ksys_irq_work {
	void (*fn)(void *arg);
	void *arg;
	struct ksys_irq_work *next;
	bool queued;
};
void ksys_irq_work_queue(struct ksys *sys, struct ksys_irq_work *work);
/* Drop it if still queued, so that its memory may go. */
void ksys_irq_work_cancel(struct ksys *sys, struct ksys_irq_work *work);

/*
 * [irq] A timer of the CPU that starts it: fn(arg) in IRQ context there, IRQs
 * masked, once hal_clock_ns() has reached @expires. fn may start it again.
 * Starting a started timer moves it. @timer lives with its owner, who cancels it
 * on the same CPU before it goes.
 */
struct ksys_hrtimer {
	void (*fn)(void *arg);
	void *arg;
	uint64_t expires;
	struct ksys_hrtimer *next;
	unsigned cpu;
	bool queued;
};
void ksys_hrtimer_start(struct ksys *sys, struct ksys_hrtimer *timer, uint64_t expires);
void ksys_hrtimer_cancel(struct ksys *sys, struct ksys_hrtimer *timer);

/* [irq] Does perf want this CPU's tick (kperf_tick(), KSYS_HZ times a second)? The
 * scheduler may want it besides. */
void ksys_tick_need(struct ksys *sys, struct hal *hal, bool on);

/* [irq] Whoever polls @event's fd should look again. */
void ksys_poll_wake(struct ksys *sys, struct kperf_event *event);
/* [irq] Whoever asked for it by O_ASYNC on @event's fd gets his signal (Linux
 * kill_fasync() with POLL_IN, or POLL_HUP). */
void ksys_sigio(struct ksys *sys, struct kperf_event *event, bool hup);
/* [irq] Has anybody asked so? */
bool ksys_sigio_wanted(struct ksys *sys, const struct kperf_event *event);

#endif
