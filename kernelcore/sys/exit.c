/* SPDX-License-Identifier: MIT */
/* exit(2), exit_group(2), wait4(2). */
#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/rlimit.h"

enum {
	WNOHANG = 1,
	WUNTRACED = 2,
	WCONTINUED = 8,
	WNOTHREAD = 0x20000000,
	RUSAGE_BYTES = 144,
	CLD_EXITED = 1,
	CLD_KILLED = 2,
};
#define WALL   UINT32_C(0x40000000)
#define WCLONE UINT32_C(0x80000000)

/* -- the end of a group ------------------------------------------------------ */

static void leave_parent(struct group *group)
{
	struct group **at;

	if (!group->parent)
		return;
	for (at = &group->parent->children; *at != group;)
		at = &(*at)->sibling;
	*at = group->sibling;
	group->sibling = NULL;
	group->parent = NULL;
}

/* Linux release_task() of the leader: its number is free again. */
static void group_reap(struct ksys *sys, struct group *group)
{
	struct ksys_task *leader = group->leader;

	group->state = GROUP_GONE;
	leave_parent(group);
	pid_release(sys, leader);
	ksys_task_put(sys, leader); /* the group's own */
}

/* The absent init takes them, and waits for each at once. */
static void orphan(struct ksys *sys, struct group *group)
{
	while (group->children) {
		struct group *child = group->children;

		leave_parent(child);
		if (child->state == GROUP_ZOMBIE)
			group_reap(sys, child);
	}
}

/* The first process of a namespace takes all others of it with it (Linux
 * zap_pid_ns_processes(); it waits for them, which nobody can see here). */
static void end_namespace(struct ksys *sys, struct ksys_task *task)
{
	if (!task->ns->level || task->nr[task->ns->level] != 1 || task->group->leader != task)
		return;
	task->ns->dead = true;
	for (struct ksys_task *at = sys->tasks; at; at = at->all_next)
		if (at->group != task->group && pid_in(at, task->ns) && !at->group->exiting) {
			at->group->exiting = true;
			at->group->status = SIG_KILL;
			group_kill(sys, at->group, NULL);
		}
}

/* Linux do_notify_parent(). */
static void tell_parent(struct ksys *sys, struct group *group)
{
	struct ksys_task *to = group->parent->threads;
	bool killed = group->status & 0x7f;
	const struct siginfo info = {
		.signo = (int32_t)group->exit_signal,
		.code = killed ? CLD_KILLED : CLD_EXITED,
		.pid = to ? pid_in(group->leader, to->ns) : 0,
		.uid = group->leader->cred.uid,
		.value = (uint64_t)(killed ? group->status & 0x7f : group->status >> 8),
	};

	if (to && info.signo)
		signal_send(sys, to, &info, true);
}

static void group_ended(struct ksys *sys, struct group *group)
{
	struct group *parent = group->parent;

	end_namespace(sys, group->leader);
	orphan(sys, group);
	if (group == sys->first) {
		sys->status.exited = 1;
		sys->status.signal = group->status & 0x7f;
		sys->status.code = group->status >> 8 & 0xff;
	}
	group->state = GROUP_ZOMBIE;
	signal_flush(sys, &group->pending);
	if (!parent) {
		group_reap(sys, group);
		return;
	}
	tell_parent(sys, group);
	task_wake_all(sys, (struct channel){ parent, 0 }, ~0U);
}

/* -- the end of a task ------------------------------------------------------- */

static void unlink_thread(struct ksys *sys, struct ksys_task *task)
{
	struct group *group = task->group;
	struct ksys_task **at = &group->threads;

	while (*at != task)
		at = &(*at)->thread_next;
	*at = task->thread_next;
	group->nthreads--;
	/* the leader's number stays the group's */
	if (task == group->leader)
		ksys_task_get(task);
	else
		pid_release(sys, task);
	if (!group->nthreads)
		group_ended(sys, group);
	else if (group->execing && group->nthreads == 1)
		task_wake(sys, group->execing);
}

void task_vfork_done(struct ksys *sys, struct ksys_task *task)
{
	task->vfork_done = true;
	task_wake_all(sys, (struct channel){ task, 0 }, 1);
}

/* Linux mm_release() and exit_mm(). */
static void exit_mm(struct ksys *sys, struct ksys_task *task)
{
	struct mm *mm = task->mm;
	unsigned long flags;

	if (task->clear_tid && mm_shared(mm)) {
		int32_t zero = 0;

		ksys_copy_to_user(sys, task->clear_tid, &zero, sizeof(zero));
		futex_wake(sys, mm, task->clear_tid, 1);
	}
	task_vfork_done(sys, task);
	flags = hal_irq_save(ksys_hal(sys));
	task->mm = NULL;
	hal_irq_restore(ksys_hal(sys), flags);
	mm_put(sys, mm);
}

/* Linux do_exit()'s order: memory, files, perf's view of the task, the parent. */
void task_exit(struct ksys *sys, int status)
{
	struct ksys_task *task = ksys_current(sys);
	struct group *group = task->group;
	struct files *files = task->files;

	task_sleep_not(sys);
	task->call.pending = false;
	task->killed = false;
	task->exiting = true;
	if (task == group->leader && !group->exiting)
		group->status = status;
	ksys_task_put(sys, task->vfork_child);
	task->vfork_child = NULL;
	exit_mm(sys, task);
	task->files = NULL;
	files_put(sys, files);
	kperf_task_exit(sys->perf, task);
	limits_put(sys, task->limits);
	task->limits = NULL;
	signal_exit(sys, task);
	unlink_thread(sys, task);
	task->state = TASK_DEAD;
}

void group_kill(struct ksys *sys, struct group *group, const struct ksys_task *except)
{
	for (struct ksys_task *at = group->threads; at; at = at->thread_next) {
		if (at == except || at->exiting)
			continue;
		at->killed = true;
		task_prod(sys, at);
	}
}

void group_exit(struct ksys *sys, int status)
{
	struct ksys_task *task = ksys_current(sys);
	struct group *group = task->group;

	if (!group->exiting) {
		group->exiting = true;
		group->status = status;
		group_kill(sys, group, task);
	}
	task_exit(sys, status);
}

/* -- wait4 ------------------------------------------------------------------- */

/* Does @child answer to @pid? Process groups are not told apart. */
static bool eligible(const struct group *child, const struct ksys_task *waiter, int32_t pid,
		     uint32_t options)
{
	if (pid > 0 && pid_in(child->leader, waiter->ns) != pid)
		return false;
	return options & WALL || (child->exit_signal != SIG_CHLD) == !!(options & WCLONE);
}

static struct group *find_zombie(const struct ksys_task *waiter, int32_t pid, uint32_t options,
				 bool *any)
{
	struct group *child;

	for (child = waiter->group->children; child; child = child->sibling) {
		if (!eligible(child, waiter, pid, options))
			continue;
		*any = true;
		if (child->state == GROUP_ZOMBIE)
			return child;
	}
	return NULL;
}

static long report(struct ksys *sys, struct group *child, uint64_t ustatus, uint64_t urusage)
{
	static const uint8_t rusage[RUSAGE_BYTES];
	int32_t status = child->status;
	long nr = pid_in(child->leader, ksys_current(sys)->ns);

	group_reap(sys, child);
	if (ustatus && ksys_copy_to_user(sys, ustatus, &status, sizeof(status)))
		return -EFAULT;
	if (urusage && ksys_copy_to_user(sys, urusage, rusage, sizeof(rusage)))
		return -EFAULT;
	return nr;
}

long sys_wait4(struct ksys *sys, const uint64_t a[6])
{
	struct ksys_task *task = ksys_current(sys);
	uint32_t options = (uint32_t)a[2];
	struct group *child;
	bool any = false;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | WNOTHREAD | WCLONE | WALL))
		return -EINVAL;
	task_sleep_on(sys, (struct channel){ task->group, 0 });
	child = find_zombie(task, (int32_t)a[0], options, &any);
	if (any && !child && !(options & WNOHANG))
		return task_block(sys, UINT64_MAX);
	task_sleep_not(sys);
	if (!any)
		return -ECHILD;
	return child ? report(sys, child, a[1], a[3]) : 0;
}
