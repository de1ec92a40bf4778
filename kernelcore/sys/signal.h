/* SPDX-License-Identifier: MIT */
/*
 * Signals (Linux kernel/signal.c). What is pending hangs on a task or its group;
 * actions belong to a struct sighand, which clone(2) shares or copies. Stopping a
 * task is not built: what would stop one does nothing.
 */
#ifndef PMULAB_KERNELCORE_SYS_SIGNAL_H
#define PMULAB_KERNELCORE_SYS_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct group;
struct hal_context;
struct ksys;
struct ksys_task;
struct sys_cpu;

enum {
	NSIG = 64,
	SIG_QUIT = 3,
	SIG_ILL = 4,
	SIG_TRAP = 5,
	SIG_ABRT = 6,
	SIG_BUS = 7,
	SIG_FPE = 8,
	SIG_KILL = 9,
	SIG_SEGV = 11,
	SIG_CHLD = 17,
	SIG_CONT = 18,
	SIG_STOP = 19,
	SIG_TSTP = 20,
	SIG_TTIN = 21,
	SIG_TTOU = 22,
	SIG_URG = 23,
	SIG_XCPU = 24,
	SIG_XFSZ = 25,
	SIG_WINCH = 28,
	SIG_IO = 29,
	SIG_SYS = 31,
	SIG_RTMIN = 32,

	SI_USER = 0,
	SI_KERNEL = 0x80,
	SI_TKILL = -6,
	SI_SIGIO = -5,

	SA_SIGINFO = 4,
	SA_RESTORER = 0x04000000,
	SA_ONSTACK = 0x08000000,
	SA_RESTART = 0x10000000,
	SA_NODEFER = 0x40000000,
};
#define SA_RESETHAND UINT32_C(0x80000000)

/* Where the way back from a handler is mapped. */
#define SIGRETURN_VA UINT64_C(0x7ffff10000)

#define SIG_DFL UINT64_C(0)
#define SIG_IGN UINT64_C(1)

/* As the user's struct sigaction. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/* Which members of the user's union are meant. */
enum info_kind { INFO_PROCESS, INFO_FAULT, INFO_POLL };

struct siginfo {
	enum info_kind kind;
	int32_t signo, code;
	int32_t pid; /* of the sender; or the fd of SIGIO */
	uint32_t uid;
	uint64_t value; /* an address, a band, a queued value */
};

struct sigqueue {
	struct sigqueue *next;
	struct siginfo info;
};

struct sigpending {
	uint64_t set;
	struct sigqueue *queue; /* the oldest first */
};

struct sighand {
	unsigned refs;
	struct action action[NSIG];
};

/* A task's own. */
struct sigstate {
	struct sighand *hand;
	struct sigpending pending;
	uint64_t blocked;
	uint64_t saved; /* the mask to go back to, when has_saved */
	bool has_saved;
	/* while it sleeps in rt_sigtimedwait(2): what it really blocks, though it is to
	 * be woken by some of it */
	uint64_t real_blocked;
	uint64_t stack, stack_size; /* sigaltstack(2); size 0: none */
	uint32_t stack_flags;
	/* the result of a call that a signal ended: it may be made again */
	int restart;
	uint64_t fault_address, fault_code; /* of the last fault: 0 or its ESR */
};

/* For all: room for @n queued signals. -ENOMEM. */
int signal_init(struct ksys *sys);
/* The first task's; NULL without memory. */
struct sighand *sighand_create(struct ksys *sys);
/* clone(2): @child gets its own or the shared one. -ENOMEM */
int signal_clone(struct ksys *sys, struct ksys_task *child, const struct ksys_task *parent,
		 bool share);
/* execve(2): handlers are no more. */
void signal_exec(struct ksys *sys, struct ksys_task *task);
void signal_exit(struct ksys *sys, struct ksys_task *task);
void signal_flush(struct ksys *sys, struct sigpending *pending);

/* [irq] To @task, or to its whole group. -EAGAIN: no room for a queued one. */
int signal_send(struct ksys *sys, struct ksys_task *task, const struct siginfo *info,
		bool group);
/* A fault of the current task: it cannot be blocked or ignored. */
void signal_force(struct ksys *sys, const struct siginfo *info);

/* [irq] Is there one that is not blocked? */
bool signal_pending(const struct ksys_task *task);
/* Before the current task goes back to EL0: handlers are entered, calls that a
 * signal ended made again, or it ends. IRQs on. */
void signal_deliver(struct ksys *sys, struct sys_cpu *cpu);
/* The call would block, but a signal has come: what it returns. */
long signal_interrupts(struct ksys *sys, struct ksys_task *task);

/* kill, tgkill, rt_sig*, sigaltstack by arm64's number. */
long signal_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* sigframe.c. Enter a handler: the frame on the user's stack, and @ctx. -EFAULT */
int sigframe_push(struct ksys *sys, struct hal_context *ctx, const struct action *action,
		  const struct siginfo *info, uint64_t mask);
/* What rt_sigreturn(2) finds there. -EFAULT: nothing good. */
int sigframe_pop(struct ksys *sys, struct hal_context *ctx, uint64_t *mask);
/* To the user in his form. */
int siginfo_to_user(struct ksys *sys, uint64_t uaddr, const struct siginfo *info);

#endif
