/* SPDX-License-Identifier: MIT */
/*
 * Tasks, thread groups, and the scheduler.
 *
 *              task_start()            schedule()
 *   TASK_NEW -------------> TASK_READY <---------> TASK_RUNNING
 *                               ^                     |      |
 *                    task_wake()|    task_sleep_on()  |      | task_exit()
 *                               +------ TASK_SLEEPING<+      +-> TASK_DEAD
 *
 * One kernel stack a CPU: a system call that must wait does not wait on a stack.
 * It queues its task by task_sleep_on(), looks again whether it must wait, and
 * returns task_block(); the CPU goes on with another task. Once woken, the same
 * call with the same arguments is made again by the kernel, with call.again set,
 * before the task goes back to EL0.
 */
#ifndef PMULAB_KERNELCORE_SYS_TASK_H
#define PMULAB_KERNELCORE_SYS_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/hal.h"
#include "kernelcore/kentry.h"
#include "kernelcore/ksys.h"
#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/signal.h"

struct files;
struct limits;
struct mm;

enum {
	PID_LEVELS = 4, /* namespaces in each other; Linux has 32 */
	PID_MAX = 32768,
	COMM_SIZE = 16,
	PID_BUCKETS = 64,
	SLEEP_BUCKETS = 64,
};

/* What syscall_dispatch() may return besides a result. */
enum {
	SYS_BLOCK = -4096,     /* the task sleeps; the call is made again */
	SYS_NO_RESULT = -4097, /* x0 is what it shall be already */
};

enum task_state {
	TASK_NEW,
	TASK_READY,
	TASK_RUNNING,
	TASK_SLEEPING,
	TASK_DEAD,
};

struct pid_ns {
	unsigned refs;
	unsigned level; /* 0: the first one */
	struct pid_ns *parent;
	int32_t last; /* number given out */
	bool dead;    /* its first process has gone: no further ones */
};

/* What tasks sleep on: an address that means something to the waker. */
struct channel {
	const void *what;
	uint64_t which;
};

/* A list of tasks by their `next`; FIFO. */
struct task_queue {
	struct ksys_task *head, *tail;
};

struct task_call {
	bool pending;	/* it sleeps, or will be made again */
	bool again;	/* it has been made before */
	bool timed_out; /* since then the time given to task_block() was over */
	uint64_t nr, args[6];
	uint64_t until; /* its own: a deadline that it found out the first time */
};

struct group;

struct ksys_task {
	unsigned refs;
	struct group *group;
	struct ksys_task *thread_next;	    /* in the group */
	struct ksys_task *all_next;	    /* of all tasks, newest first */
	struct ksys_task *hash_next;	    /* by nr[0] */
	struct ksys_task *next;		    /* in a run queue or a sleepers' bucket */
	enum task_state state;
	int cpu;      /* that it is on, -1: it does not run */
	unsigned on;  /* the CPU whose queue it is in, or was on last */
	uint32_t affinity; /* a bit a CPU */
	bool moved;   /* to another CPU since it last ran */
	bool exiting; /* Linux PF_EXITING */
	bool released; /* its numbers are free again */
	bool killed;   /* goes no more to EL0 */
	bool vfork_done;
	struct ksys_task *vfork_child; /* that it waits for; a reference */
	struct pid_ns *ns, *ns_children;
	int32_t nr[PID_LEVELS]; /* its number in ns and in those above */
	char comm[COMM_SIZE];
	uint64_t clear_tid;
	struct channel channel;
	struct ksys_hrtimer timer; /* of a sleep */
	bool asleep_queued;
	struct ksys *sys; /* for the timer */
	struct task_call call;
	void *perf;
	struct mm *mm;
	struct files *files;
	struct limits *limits;
	struct cred cred;
	struct sigstate sig;
	struct hal_context ctx; /* while it does not run */
};

enum group_state { GROUP_ALIVE, GROUP_ZOMBIE, GROUP_GONE };

/* A process. */
struct group {
	unsigned refs;
	enum group_state state;
	struct ksys_task *leader;
	struct ksys_task *threads; /* that live */
	unsigned nthreads;
	struct group *parent;	   /* NULL: the absent init */
	struct group *children, *sibling;
	struct ksys_task *execing; /* waits until it is alone */
	bool exiting;
	int status; /* as wait4(2) reports it */
	unsigned exit_signal;
	struct sigpending pending;
};

/* A CPU's own; it alone changes it, with IRQs masked. */
struct sys_cpu {
	struct hal *hal;
	struct ksys_task *current; /* NULL: the idle task */
	struct mm *mm;		   /* in TTBR0 */
	unsigned depth;		   /* entries of the kernel in each other */
	struct task_queue ready;
	unsigned nready;
	bool resched;
	const struct hal_regs *irq_regs; /* of the innermost one served */
	uint64_t since; /* ns, when the current task came in */
	struct ksys_irq_work *work_head, **work_tail;
	bool online;
	/* timer.c's; times in ns, next_tick 0: there is none */
	struct ksys_hrtimer *timers; /* the next one first */
	unsigned ntimers;
	bool perf_tick, sched_tick; /* who wants it */
	uint64_t next_tick, ticks;
	uint64_t armed_for; /* UINT64_MAX: the hardware is off */
	uint64_t cntfrq;    /* 0: nobody has waited for time yet */
	struct ksys_hrtimer slice; /* of a seeded schedule */
};

/* -- task.c ---------------------------------------------------------------- */

/* What the calls of this header are by arm64's number; -ENOSYS. */
long task_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* -- sched.c -------------------------------------------------------------- */

/* Entry of the kernel on @cpu, and the way out of the outermost one: switches
 * tasks, makes calls again. IRQs masked. */
enum kentry_next sched_leave(struct ksys *sys, struct sys_cpu *cpu);
/* Another task from now on, if there is one. IRQs masked. */
void sched_switch(struct ksys *sys, struct sys_cpu *cpu);
/* [irq] The tick; an interrupt of another CPU. */
void sched_tick(struct ksys *sys, struct sys_cpu *cpu, uint64_t now);
void sched_kicked(struct ksys *sys, struct sys_cpu *cpu);
/* A new task may run. */
void task_start(struct ksys *sys, struct ksys_task *task);
/* [irq] The current task sleeps on @channel unless woken before it blocks. */
void task_sleep_on(struct ksys *sys, struct channel channel);
/* [irq] It need not after all. */
void task_sleep_not(struct ksys *sys);
/* Whatever @task waits for, it is in no queue any more, and runs as far as it knows. */
void sched_forget(struct ksys *sys, struct ksys_task *task);
/* What a call returns that must wait, at most until @until (ns; UINT64_MAX). */
long task_block(struct ksys *sys, uint64_t until);
/* [irq] Up to @most sleepers on @channel, the first one first; how many. */
unsigned task_wake_all(struct ksys *sys, struct channel channel, unsigned most);
/* [irq] @task if it sleeps. */
void task_wake(struct ksys *sys, struct ksys_task *task);
/* It is to come into the kernel soon, wherever it is. */
void task_prod(struct ksys *sys, struct ksys_task *task);
/* sched_yield, sched_setaffinity, sched_getaffinity, nanosleep, clock_nanosleep. */
long sched_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* -- pid.c ---------------------------------------------------------------- */

/* Numbers for @task in @ns and above. -ENOMEM: the namespace is dead. -EAGAIN */
int pid_assign(struct ksys *sys, struct ksys_task *task, struct pid_ns *ns);
void pid_release(struct ksys *sys, struct ksys_task *task);
/* Two of one namespace take each other's numbers. */
void pid_exchange(struct ksys *sys, struct ksys_task *a, struct ksys_task *b);
/* Its number in @ns; 0: it is not visible there. */
int32_t pid_in(const struct ksys_task *task, const struct pid_ns *ns);
/* The task by its number in @ns; no reference. */
struct ksys_task *pid_find(struct ksys *sys, const struct pid_ns *ns, int32_t nr);
struct pid_ns *pid_ns_create(struct ksys *sys, struct pid_ns *parent);
void pid_ns_get(struct pid_ns *ns);
void pid_ns_put(struct ksys *sys, struct pid_ns *ns);

/* -- fork.c, exec.c, exit.c ------------------------------------------------- */

/* A task without memory and files, of a new group. NULL without memory. */
struct ksys_task *task_create(struct ksys *sys);
void group_put(struct ksys *sys, struct group *group);
long sys_clone(struct ksys *sys, const uint64_t args[6]);
long sys_unshare(struct ksys *sys, uint64_t flags);
long sys_execve(struct ksys *sys, const uint64_t args[6]);
long sys_wait4(struct ksys *sys, const uint64_t args[6]);
long sys_futex(struct ksys *sys, const uint64_t args[6]);
/* [irq] Wake up to @n that wait for the word at @uaddr of @mm. */
unsigned futex_wake(struct ksys *sys, const struct mm *mm, uint64_t uaddr, unsigned n);
/* execve(2) has given the task another memory, or it ends: vfork(2) returns. */
void task_vfork_done(struct ksys *sys, struct ksys_task *task);
/* The current task ends; wait4(2) reports @status if it is the group that does. */
void task_exit(struct ksys *sys, int status);
/* All threads of the current task's group end. */
void group_exit(struct ksys *sys, int status);
/* All threads of @group but @except are to end. */
void group_kill(struct ksys *sys, struct group *group, const struct ksys_task *except);

#endif
