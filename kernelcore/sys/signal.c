/* SPDX-License-Identifier: MIT */
#include "kernelcore/sys/signal.h"

#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/nr.h"

enum {
	SIG_BLOCK = 0,
	SIG_UNBLOCK = 1,
	SIG_SETMASK = 2,
	SIGSET_BYTES = 8,
	SS_ONSTACK = 1,
	SS_DISABLE = 2,
	MINSIGSTKSZ = 5120,
	QUEUED = 256,
	INSN_BYTES = 4,

	/* Linux's, never seen by a program */
	ERESTARTSYS = 512,
	ERESTARTNOHAND = 514,
};

static uint64_t bit(int signo)
{
	return UINT64_C(1) << (signo - 1);
}

#define UNBLOCKABLE (UINT64_C(1) << (SIG_KILL - 1) | UINT64_C(1) << (SIG_STOP - 1))

/* --- what is pending ------------------------------------------------------------- */

int signal_init(struct ksys *sys)
{
	struct sigqueue *q = ksys_alloc(sys, QUEUED * sizeof(*q));

	for (unsigned i = 0; q && i < QUEUED; i++) {
		q[i].next = sys->sigqueues;
		sys->sigqueues = &q[i];
	}
	return q ? 0 : -ENOMEM;
}

struct sighand *sighand_create(struct ksys *sys)
{
	struct sighand *hand = ksys_alloc(sys, sizeof(*hand));

	if (hand)
		hand->refs = 1;
	return hand;
}

static void sighand_put(struct ksys *sys, struct sighand *hand)
{
	if (hand && !--hand->refs)
		ksys_free(sys, hand);
}

int signal_clone(struct ksys *sys, struct ksys_task *child, const struct ksys_task *parent,
		 bool share)
{
	struct sigstate *s = &child->sig;

	*s = (struct sigstate){ .hand = parent->sig.hand, .blocked = parent->sig.blocked };
	if (share) {
		s->hand->refs++;
		return 0;
	}
	s->stack = parent->sig.stack;
	s->stack_size = parent->sig.stack_size;
	s->stack_flags = parent->sig.stack_flags;
	s->hand = sighand_create(sys);
	if (!s->hand)
		return -ENOMEM;
	*s->hand = *parent->sig.hand;
	s->hand->refs = 1;
	return 0;
}

void signal_exec(struct ksys *sys, struct ksys_task *task)
{
	struct sighand *old = task->sig.hand, *own = sighand_create(sys);

	/* shared with another process (CLONE_SIGHAND without CLONE_THREAD) */
	if (old->refs > 1 && own) {
		*own = *old;
		own->refs = 1;
		task->sig.hand = own;
		old->refs--;
	} else {
		sighand_put(sys, own);
	}
	for (unsigned i = 0; i < NSIG; i++) {
		struct action *a = &task->sig.hand->action[i];

		*a = (struct action){ .handler = a->handler == SIG_IGN ? SIG_IGN : SIG_DFL };
	}
	task->sig.stack_size = 0;
}

void signal_flush(struct ksys *sys, struct sigpending *pending)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	pending->set = 0;
	while (pending->queue) {
		struct sigqueue *q = pending->queue;

		pending->queue = q->next;
		q->next = sys->sigqueues;
		sys->sigqueues = q;
	}
	hal_irq_restore(ksys_hal(sys), flags);
}

void signal_exit(struct ksys *sys, struct ksys_task *task)
{
	struct sighand *hand = task->sig.hand;

	if (task->sig.pending.set)
		signal_flush(sys, &task->sig.pending);
	task->sig.hand = NULL;
	sighand_put(sys, hand);
}

bool signal_pending(const struct ksys_task *task)
{
	return (task->sig.pending.set | task->group->pending.set) & ~task->sig.blocked;
}

/* --- sending --------------------------------------------------------------------- */

static bool default_ignores(int signo)
{
	return signo == SIG_CHLD || signo == SIG_CONT || signo == SIG_URG || signo == SIG_WINCH;
}

static bool stops(int signo)
{
	return signo == SIG_STOP || signo == SIG_TSTP || signo == SIG_TTIN || signo == SIG_TTOU;
}

static bool ignored(const struct ksys_task *task, int signo)
{
	uint64_t handler = task->sig.hand->action[signo - 1].handler;

	/* a blocked one's action may be another when it comes to it */
	if ((task->sig.blocked | task->sig.real_blocked) & bit(signo))
		return false;
	return handler == SIG_IGN || (handler == SIG_DFL && default_ignores(signo));
}

static bool add(struct ksys *sys, struct sigpending *pending, const struct siginfo *info)
{
	struct sigqueue *q = sys->sigqueues, **at = &pending->queue;

	if (q) {
		sys->sigqueues = q->next;
		q->info = *info;
		q->next = NULL;
		while (*at)
			at = &(*at)->next;
		*at = q;
	} else if (info->signo >= SIG_RTMIN && info->code != SI_USER) {
		return false;
	}
	pending->set |= bit(info->signo);
	return true;
}

/* Linux SIG_KERNEL_COREDUMP_MASK: their end comes when they are taken. */
static bool dumps_core(int signo)
{
	const uint64_t set = bit(SIG_QUIT) | bit(SIG_ILL) | bit(SIG_TRAP) | bit(SIG_ABRT) |
			     bit(SIG_FPE) | bit(SIG_SEGV) | bit(SIG_BUS) | bit(SIG_SYS) |
			     bit(SIG_XCPU) | bit(SIG_XFSZ);

	return set & bit(signo);
}

/* Linux complete_signal(): what will be everybody's end is so at once, before the one
 * who takes it gets to it. */
static void end_now(struct ksys *sys, struct ksys_task *to, int signo)
{
	struct group *group = to->group;

	if (group->exiting || dumps_core(signo) || default_ignores(signo) || stops(signo) ||
	    to->sig.real_blocked & bit(signo) ||
	    to->sig.hand->action[signo - 1].handler != SIG_DFL)
		return;
	group->exiting = true;
	group->status = signo;
	group_kill(sys, group, NULL);
}

/* Whoever takes it: the one it was sent to, or any that does not block it. */
static struct ksys_task *receiver(struct ksys_task *task, int signo, bool group)
{
	struct ksys_task *at = task;

	if (!at->exiting && !(at->sig.blocked & bit(signo)))
		return at;
	for (at = group ? task->group->threads : NULL; at; at = at->thread_next)
		if (!at->exiting && !(at->sig.blocked & bit(signo)))
			return at;
	return NULL;
}

int signal_send(struct ksys *sys, struct ksys_task *task, const struct siginfo *info, bool group)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	struct sigpending *pending = group ? &task->group->pending : &task->sig.pending;
	struct ksys_task *to;
	int rc = 0;

	if (task->exiting || !task->sig.hand || ignored(task, info->signo))
		goto out;
	/* one of each of the old ones */
	if (info->signo < SIG_RTMIN && pending->set & bit(info->signo))
		goto out;
	if (!add(sys, pending, info)) {
		rc = -EAGAIN;
		goto out;
	}
	to = receiver(task, info->signo, group);
	if (to) {
		end_now(sys, to, info->signo);
		task_prod(sys, to);
	}
out:
	hal_irq_restore(ksys_hal(sys), flags);
	return rc;
}

void signal_force(struct ksys *sys, const struct siginfo *info)
{
	struct ksys_task *task = ksys_current(sys);
	struct action *action = &task->sig.hand->action[info->signo - 1];

	if (task->sig.blocked & bit(info->signo) || action->handler == SIG_IGN) {
		*action = (struct action){ .handler = SIG_DFL };
		task->sig.blocked &= ~bit(info->signo);
	}
	signal_send(sys, task, info, false);
}

/* --- delivery -------------------------------------------------------------------- */

/* Faults first, then the lowest number (Linux next_signal()). */
static int next_signal(uint64_t set)
{
	const uint64_t synchronous = bit(SIG_SEGV) | bit(SIG_BUS) | bit(SIG_ILL) | bit(SIG_TRAP) |
				     bit(SIG_FPE) | bit(SIG_SYS);

	if (set & synchronous)
		set &= synchronous;
	return set ? __builtin_ctzll(set) + 1 : 0;
}

/* Take the first queued one of @signo out; the bit goes with the last. */
static void take(struct ksys *sys, struct sigpending *pending, int signo, struct siginfo *info)
{
	struct sigqueue **at = &pending->queue, *q;
	bool more = false;

	*info = (struct siginfo){ .signo = signo };
	while (*at && (*at)->info.signo != signo)
		at = &(*at)->next;
	q = *at;
	if (q) {
		*info = q->info;
		*at = q->next;
		for (struct sigqueue *next = q->next; next; next = next->next)
			more = more || next->info.signo == signo;
		q->next = sys->sigqueues;
		sys->sigqueues = q;
	}
	if (!more)
		pending->set &= ~bit(signo);
}

/* The task's own before its group's. */
static int dequeue(struct ksys *sys, struct ksys_task *task, uint64_t mask, struct siginfo *info)
{
	struct sigpending *pending = &task->sig.pending;
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	int signo = next_signal(pending->set & mask);

	if (!signo) {
		pending = &task->group->pending;
		signo = next_signal(pending->set & mask);
	}
	if (signo)
		take(sys, pending, signo, info);
	hal_irq_restore(ksys_hal(sys), flags);
	return signo;
}

/* A signal with a handler; others have had their effect. False: none, or the end. */
static bool next_handled(struct ksys *sys, struct ksys_task *task, struct siginfo *info,
			 struct action *action)
{
	int signo;

	while ((signo = dequeue(sys, task, ~task->sig.blocked, info))) {
		struct action *a = &task->sig.hand->action[signo - 1];

		if (a->handler == SIG_IGN)
			continue;
		if (a->handler != SIG_DFL) {
			*action = *a;
			if (a->flags & SA_RESETHAND)
				a->handler = SIG_DFL;
			return true;
		}
		if (default_ignores(signo) || stops(signo))
			continue;
		group_exit(sys, signo);
		return false;
	}
	return false;
}

/* The call again, by the SVC once more, as Linux does it. */
static void make_again(struct ksys_task *task, struct hal_context *ctx)
{
	ctx->regs.x[0] = task->call.args[0];
	ctx->regs.pc -= INSN_BYTES;
}

static void save(struct ksys *sys, struct hal_context *ctx)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	hal_context_save(ksys_hal(sys), ctx);
	hal_irq_restore(ksys_hal(sys), flags);
}

static void load(struct ksys *sys, const struct hal_context *ctx)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	hal_context_load(ksys_hal(sys), ctx);
	hal_irq_restore(ksys_hal(sys), flags);
}

static void handle(struct ksys *sys, struct ksys_task *task, struct hal_context *ctx,
		   const struct siginfo *info, const struct action *action)
{
	struct sigstate *s = &task->sig;
	uint64_t mask = s->has_saved ? s->saved : s->blocked;
	const struct siginfo segv = { .signo = SIG_SEGV, .code = SI_KERNEL };

	s->has_saved = false;
	s->real_blocked = 0;
	if (sigframe_push(sys, ctx, action, info, mask)) {
		if (info->signo == SIG_SEGV)
			s->hand->action[SIG_SEGV - 1].handler = SIG_DFL;
		signal_force(sys, &segv);
		return;
	}
	s->blocked |= action->mask;
	if (!(action->flags & SA_NODEFER))
		s->blocked |= bit(info->signo);
	s->blocked &= ~UNBLOCKABLE;
}

/* Linux do_signal(). */
void signal_deliver(struct ksys *sys, struct sys_cpu *cpu)
{
	struct ksys_task *task = cpu->current;
	struct hal_context ctx;
	struct action action;
	struct siginfo info;
	int restart = task->sig.restart;

	task->sig.restart = 0;
	if (next_handled(sys, task, &info, &action)) {
		save(sys, &ctx);
		if (restart == ERESTARTSYS && action.flags & SA_RESTART)
			make_again(task, &ctx);
		handle(sys, task, &ctx, &info, &action);
		load(sys, &ctx);
		return;
	}
	if (task->exiting)
		return;
	if (restart) {
		save(sys, &ctx);
		make_again(task, &ctx);
		load(sys, &ctx);
	}
	if (task->sig.has_saved) {
		task->sig.has_saved = false;
		task->sig.blocked = task->sig.saved;
		task->sig.real_blocked = 0;
	}
}

long signal_interrupts(struct ksys *sys, struct ksys_task *task)
{
	uint64_t nr = task->call.nr;

	task_sleep_not(sys);
	/* some calls a handler ends, whatever its SA_RESTART says */
	task->sig.restart = nr == NR_PPOLL || nr == NR_NANOSLEEP || nr == NR_CLOCK_NANOSLEEP ||
					    nr == NR_RT_SIGSUSPEND ?
				    ERESTARTNOHAND :
				    ERESTARTSYS;
	if (nr == NR_RT_SIGTIMEDWAIT)
		task->sig.restart = 0;
	return -EINTR;
}

/* --- system calls ------------------------------------------------------------------ */

static long send_from(struct ksys *sys, struct ksys_task *to, int signo, int code, bool group)
{
	struct ksys_task *task = ksys_current(sys);
	const struct siginfo info = {
		.signo = signo,
		.code = code,
		.pid = pid_in(task->group->leader, to->ns),
		.uid = task->cred.uid,
	};

	if (task->group != to->group && !cred_may_kill(&task->cred, &to->cred))
		return -EPERM;
	return signo ? signal_send(sys, to, &info, group) : 0;
}

/* A thread of the group that can be asked: the leader may have gone already. */
static struct ksys_task *group_task(struct ksys_task *task)
{
	return task->exiting && task->group->threads ? task->group->threads : task;
}

/* Process groups are not told apart: 0 is one's own process. */
static long sys_kill(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys), *to = task;
	int32_t pid = (int32_t)a[0];

	if ((int32_t)a[1] < 0 || (int32_t)a[1] > NSIG)
		return -EINVAL;
	if (pid < 0)
		return -ESRCH;
	if (pid)
		to = pid_find(sys, task->ns, pid);
	return to ? send_from(sys, group_task(to), (int32_t)a[1], SI_USER, true) : -ESRCH;
}

static long sys_tgkill(struct ksys *sys, int32_t tgid, int32_t tid, int32_t signo)
{
	struct ksys_task *task = ksys_current(sys), *to;

	if (tid <= 0 || tgid <= 0 || signo < 0 || signo > NSIG)
		return -EINVAL;
	to = pid_find(sys, task->ns, tid);
	if (!to || to->exiting || (tgid != INT32_MAX && pid_in(to->group->leader, task->ns) != tgid))
		return -ESRCH;
	return send_from(sys, to, signo, SI_TKILL, false);
}

static long sys_sigaction(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);
	struct action new, *at;
	int32_t signo = (int32_t)a[0];

	if (a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (a[1] && ksys_copy_from_user(sys, &new, a[1], sizeof(new)))
		return -EFAULT;
	if (signo < 1 || signo > NSIG || (a[1] && UNBLOCKABLE & bit(signo)))
		return -EINVAL;
	at = &task->sig.hand->action[signo - 1];
	if (a[2] && ksys_copy_to_user(sys, a[2], at, sizeof(*at)))
		return -EFAULT;
	if (!a[1])
		return 0;
	new.mask &= ~UNBLOCKABLE;
	*at = new;
	if (new.handler == SIG_IGN || (new.handler == SIG_DFL && default_ignores(signo))) {
		struct siginfo gone;

		/* POSIX: what is pending is dropped */
		while (dequeue(sys, task, bit(signo), &gone))
			;
	}
	return 0;
}

static long sys_sigprocmask(struct ksys *sys, const uint64_t *a)
{
	struct sigstate *s = &ksys_current(sys)->sig;
	uint64_t old = s->blocked, set;

	if (a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (a[1]) {
		if (ksys_copy_from_user(sys, &set, a[1], sizeof(set)))
			return -EFAULT;
		set &= ~UNBLOCKABLE;
		switch ((int32_t)a[0]) {
		case SIG_BLOCK:
			s->blocked |= set;
			break;
		case SIG_UNBLOCK:
			s->blocked &= ~set;
			break;
		case SIG_SETMASK:
			s->blocked = set;
			break;
		default:
			return -EINVAL;
		}
	}
	return a[2] ? ksys_copy_to_user(sys, a[2], &old, sizeof(old)) : 0;
}

static long sys_sigpending(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);
	uint64_t set = (task->sig.pending.set | task->group->pending.set) & task->sig.blocked;

	if (a[1] > SIGSET_BYTES)
		return -EINVAL;
	return ksys_copy_to_user(sys, a[0], &set, a[1]);
}

static long sys_sigsuspend(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);
	struct sigstate *s = &task->sig;
	uint64_t set;

	if (!task->call.again) {
		if (a[1] != SIGSET_BYTES)
			return -EINVAL;
		if (ksys_copy_from_user(sys, &set, a[0], sizeof(set)))
			return -EFAULT;
		s->saved = s->blocked;
		s->has_saved = true;
		s->blocked = set & ~UNBLOCKABLE;
	}
	task_sleep_on(sys, (struct channel){ 0 });
	return task_block(sys, UINT64_MAX);
}

/* Waits with the set unblocked, so that its signals wake the task up. */
static long sys_sigtimedwait(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);
	struct task_call *call = &task->call;
	struct sigstate *s = &task->sig;
	struct siginfo info;
	uint64_t set;
	int64_t ts[2];
	int signo;

	if (a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (ksys_copy_from_user(sys, &set, a[0], sizeof(set)))
		return -EFAULT;
	set &= ~UNBLOCKABLE;
	if (!call->again) {
		call->until = UINT64_MAX;
		if (a[2]) {
			if (ksys_copy_from_user(sys, ts, a[2], sizeof(ts)))
				return -EFAULT;
			if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000)
				return -EINVAL;
			call->until = ts[0] || ts[1] ? hal_clock_ns(ksys_hal(sys)) +
							       (uint64_t)ts[0] * 1000000000 +
							       (uint64_t)ts[1] :
						       0;
		}
	} else if (s->has_saved) {
		s->blocked = s->saved;
		s->has_saved = false;
		s->real_blocked = 0;
	}
	signo = dequeue(sys, task, set, &info);
	if (signo)
		return a[1] && siginfo_to_user(sys, a[1], &info) ? -EFAULT : signo;
	if (!call->until || call->timed_out)
		return -EAGAIN;
	if (signal_pending(task))
		return -EINTR;
	s->saved = s->blocked;
	s->has_saved = true;
	s->real_blocked = s->blocked;
	s->blocked &= ~set;
	task_sleep_on(sys, (struct channel){ 0 });
	return task_block(sys, call->until);
}

static bool on_stack(const struct sigstate *s, uint64_t sp)
{
	return s->stack_size && sp > s->stack && sp - s->stack <= s->stack_size;
}

static long sys_sigaltstack(struct ksys *sys, const uint64_t *a)
{
	struct sigstate *s = &ksys_current(sys)->sig;
	struct hal_regs regs;
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} new, old = { .sp = s->stack, .size = s->stack_size };
	bool on;

	hal_user_regs(ksys_hal(sys), &regs);
	on = on_stack(s, regs.sp);
	old.flags = !s->stack_size ? SS_DISABLE : on ? SS_ONSTACK : 0;
	if (a[0]) {
		if (ksys_copy_from_user(sys, &new, a[0], sizeof(new)))
			return -EFAULT;
		if (on)
			return -EPERM;
		if (new.flags != SS_DISABLE && new.flags != SS_ONSTACK && new.flags)
			return -EINVAL;
		if (new.flags != SS_DISABLE && new.size < MINSIGSTKSZ)
			return -ENOMEM;
		s->stack = new.flags == SS_DISABLE ? 0 : new.sp;
		s->stack_size = new.flags == SS_DISABLE ? 0 : new.size;
	}
	return a[1] ? ksys_copy_to_user(sys, a[1], &old, sizeof(old)) : 0;
}

static long sys_sigreturn(struct ksys *sys)
{
	const struct siginfo segv = { .signo = SIG_SEGV, .code = SI_KERNEL };
	struct ksys_task *task = ksys_current(sys);
	struct hal_context ctx;
	uint64_t mask;

	save(sys, &ctx);
	if (sigframe_pop(sys, &ctx, &mask)) {
		signal_force(sys, &segv);
		return 0;
	}
	task->sig.blocked = mask & ~UNBLOCKABLE;
	load(sys, &ctx);
	return SYS_NO_RESULT;
}

long signal_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	switch (nr) {
	case NR_KILL:
		return sys_kill(sys, args);
	case NR_TKILL:
		return sys_tgkill(sys, INT32_MAX, (int32_t)args[0], (int32_t)args[1]);
	case NR_TGKILL:
		return sys_tgkill(sys, (int32_t)args[0], (int32_t)args[1], (int32_t)args[2]);
	case NR_SIGALTSTACK:
		return sys_sigaltstack(sys, args);
	case NR_RT_SIGSUSPEND:
		return sys_sigsuspend(sys, args);
	case NR_RT_SIGACTION:
		return sys_sigaction(sys, args);
	case NR_RT_SIGPROCMASK:
		return sys_sigprocmask(sys, args);
	case NR_RT_SIGPENDING:
		return sys_sigpending(sys, args);
	case NR_RT_SIGTIMEDWAIT:
		return sys_sigtimedwait(sys, args);
	case NR_RT_SIGRETURN:
		return sys_sigreturn(sys);
	default:
		return -ENOSYS;
	}
}
