/* SPDX-License-Identifier: MIT */
/* clone(2), unshare(2), and a task's making and end as a piece of memory. */
#include <string.h>

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/rlimit.h"

#define CLONE_SIGNAL	     UINT64_C(0xff)
#define CLONE_VM	     UINT64_C(0x100)
#define CLONE_FS	     UINT64_C(0x200)
#define CLONE_FILES	     UINT64_C(0x400)
#define CLONE_SIGHAND	     UINT64_C(0x800)
#define CLONE_VFORK	     UINT64_C(0x4000)
#define CLONE_PARENT	     UINT64_C(0x8000)
#define CLONE_THREAD	     UINT64_C(0x10000)
#define CLONE_SYSVSEM	     UINT64_C(0x40000)
#define CLONE_SETTLS	     UINT64_C(0x80000)
#define CLONE_PARENT_SETTID  UINT64_C(0x100000)
#define CLONE_CHILD_CLEARTID UINT64_C(0x200000)
#define CLONE_DETACHED	     UINT64_C(0x400000)
#define CLONE_UNTRACED	     UINT64_C(0x800000)
#define CLONE_CHILD_SETTID   UINT64_C(0x1000000)
#define CLONE_NEWPID	     UINT64_C(0x20000000)
#define CLONE_IO	     UINT64_C(0x80000000)
#define CLONE_KNOWN                                                                     \
	(CLONE_SIGNAL | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | \
	 CLONE_PARENT | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |                    \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED | CLONE_UNTRACED |   \
	 CLONE_CHILD_SETTID | CLONE_NEWPID | CLONE_IO)

/* -- memory ------------------------------------------------------------------ */

static void group_join(struct group *group, struct ksys_task *task)
{
	struct ksys_task **end = &group->threads;

	while (*end)
		end = &(*end)->thread_next;
	*end = task;
	group->nthreads++;
	group->refs++;
	task->group = group;
}

static struct group *group_create(struct ksys *sys, struct ksys_task *leader)
{
	struct group *group = ksys_alloc(sys, sizeof(*group));

	if (!group)
		return NULL;
	group->leader = leader;
	group_join(group, leader);
	return group;
}

void group_put(struct ksys *sys, struct group *group)
{
	if (group && !--group->refs)
		ksys_free(sys, group);
}

static struct ksys_task *task_alloc(struct ksys *sys)
{
	struct ksys_task *task = ksys_alloc(sys, sizeof(*task));

	if (!task)
		return NULL;
	task->refs = 1; /* the scheduler's, until it is switched away from dead */
	task->sys = sys;
	task->cpu = -1;
	task->affinity = ~UINT32_C(0);
	return task;
}

struct ksys_task *task_create(struct ksys *sys)
{
	struct ksys_task *task = task_alloc(sys);

	if (task && !group_create(sys, task)) {
		ksys_free(sys, task);
		return NULL;
	}
	return task;
}

void ksys_task_get(struct ksys_task *task)
{
	task->refs++;
}

void ksys_task_put(struct ksys *sys, struct ksys_task *task)
{
	if (!task || --task->refs)
		return;
	kperf_task_free(sys->perf, task);
	pid_ns_put(sys, task->ns);
	pid_ns_put(sys, task->ns_children);
	group_put(sys, task->group);
	ksys_free(sys, task);
}

/* -- clone ------------------------------------------------------------------- */

static int check_flags(const struct ksys_task *parent, uint64_t flags)
{
	bool thread = flags & CLONE_THREAD;

	if (flags & ~CLONE_KNOWN)
		return -EINVAL;
	if (thread && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if (flags & CLONE_SIGHAND && !(flags & CLONE_VM))
		return -EINVAL;
	/* a thread is where its group is */
	if (thread && (flags & CLONE_NEWPID || parent->ns != parent->ns_children))
		return -EINVAL;
	return 0;
}

static int share(struct ksys *sys, struct ksys_task *child, const struct ksys_task *parent,
		 uint64_t flags)
{
	if (flags & CLONE_FILES) {
		child->files = parent->files;
		files_get(child->files);
	} else {
		child->files = files_copy(sys, parent->files);
	}
	if (!child->files)
		return -ENOMEM;
	if (flags & CLONE_THREAD) {
		child->limits = parent->limits;
		limits_get(child->limits);
	} else {
		child->limits = limits_copy(sys, parent->limits);
	}
	if (!child->limits)
		return -ENOMEM;
	if (signal_clone(sys, child, parent, flags & CLONE_SIGHAND))
		return -ENOMEM;
	if (flags & CLONE_VM) {
		child->mm = parent->mm;
		mm_get(child->mm);
	} else {
		child->mm = mm_copy(sys, parent->mm);
	}
	return child->mm ? 0 : -ENOMEM;
}

static int number(struct ksys *sys, struct ksys_task *child, const struct ksys_task *parent,
		  uint64_t flags)
{
	struct pid_ns *ns = parent->ns_children;
	int rc;

	if (!(flags & CLONE_NEWPID))
		return pid_assign(sys, child, ns);
	if (ns->level + 1 >= PID_LEVELS)
		return -ENOSPC; /* Linux create_pid_namespace() */
	ns = pid_ns_create(sys, ns);
	if (!ns)
		return -ENOMEM;
	rc = pid_assign(sys, child, ns);
	pid_ns_put(sys, ns);
	return rc;
}

/* What the child returns to: the call's end, with 0. */
static void child_state(struct ksys *sys, struct ksys_task *child, const uint64_t *a)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	hal_context_save(ksys_hal(sys), &child->ctx);
	hal_irq_restore(ksys_hal(sys), flags);
	child->ctx.regs.x[0] = 0;
	if (a[1])
		child->ctx.regs.sp = a[1];
	if (a[0] & CLONE_SETTLS)
		child->ctx.tpidr = a[3];
}

static struct ksys_task *child_alloc(struct ksys *sys, const struct ksys_task *parent,
				     uint64_t flags)
{
	struct ksys_task *child = task_alloc(sys);

	if (!child)
		return NULL;
	if (flags & CLONE_THREAD) {
		group_join(parent->group, child);
	} else if (!group_create(sys, child)) {
		ksys_free(sys, child);
		return NULL;
	}
	child->affinity = parent->affinity;
	child->cred = parent->cred;
	child->on = parent->on;
	memcpy(child->comm, parent->comm, COMM_SIZE);
	return child;
}

/* Undo of what child_alloc() and what followed it did. */
static void child_drop(struct ksys *sys, struct ksys_task *child)
{
	struct ksys_task **at = &child->group->threads;

	while (*at != child)
		at = &(*at)->thread_next;
	*at = child->thread_next;
	child->group->nthreads--;
	mm_put(sys, child->mm);
	files_put(sys, child->files);
	limits_put(sys, child->limits);
	signal_exit(sys, child);
	pid_release(sys, child);
	/* what it has inherited holds it */
	kperf_task_free(sys->perf, child);
	ksys_task_put(sys, child);
}

static void adopt(struct group *parent, struct group *child)
{
	struct group **end = &parent->children;

	while (*end)
		end = &(*end)->sibling;
	*end = child;
	child->parent = parent;
}

static void tell_numbers(struct ksys *sys, struct ksys_task *child,
			 const struct ksys_task *parent, const uint64_t *a)
{
	int32_t nr = pid_in(child, parent->ns);

	if (a[0] & CLONE_PARENT_SETTID)
		ksys_copy_to_user(sys, a[2], &nr, sizeof(nr));
	if (a[0] & CLONE_CHILD_SETTID) {
		int32_t own = pid_in(child, child->ns);

		mm_copy_to(sys, child->mm, a[4], &own, sizeof(own));
	}
	if (a[0] & CLONE_CHILD_CLEARTID)
		child->clear_tid = a[4];
}

/* Linux copy_process(): the core hears of the child first, before its files. */
static int make_child(struct ksys *sys, const uint64_t *a, struct ksys_task **out)
{
	struct ksys_task *parent = ksys_current(sys), *child;
	int rc = check_flags(parent, a[0]);

	if (rc)
		return rc;
	child = child_alloc(sys, parent, a[0]);
	if (!child)
		return -ENOMEM;
	rc = kperf_fork(sys->perf, parent, child, a[0]);
	if (!rc)
		rc = share(sys, child, parent, a[0]);
	if (!rc)
		rc = number(sys, child, parent, a[0]);
	if (rc) {
		child_drop(sys, child);
		return rc;
	}
	if (!(a[0] & CLONE_THREAD)) {
		child->group->exit_signal = (unsigned)(a[0] & CLONE_SIGNAL);
		if (!(a[0] & CLONE_PARENT))
			adopt(parent->group, child->group);
		else if (parent->group->parent)
			adopt(parent->group->parent, child->group);
	}
	child_state(sys, child, a);
	tell_numbers(sys, child, parent, a);
	*out = child;
	return 0;
}

long sys_clone(struct ksys *sys, const uint64_t a[6])
{
	struct ksys_task *parent = ksys_current(sys), *child;
	long nr;
	int rc;

	child = parent->vfork_child;
	if (!parent->call.again) {
		rc = make_child(sys, a, &child);
		if (rc)
			return rc;
		if (a[0] & CLONE_VFORK) {
			ksys_task_get(child);
			parent->vfork_child = child;
		}
		task_start(sys, child);
	}
	nr = pid_in(child, parent->ns);
	if (!(a[0] & CLONE_VFORK))
		return nr;
	task_sleep_on(sys, (struct channel){ child, 0 });
	if (!child->vfork_done)
		return task_block(sys, UINT64_MAX);
	task_sleep_not(sys);
	ksys_task_put(sys, child);
	parent->vfork_child = NULL;
	return nr;
}

long sys_unshare(struct ksys *sys, uint64_t flags)
{
	struct ksys_task *task = ksys_current(sys);
	struct pid_ns *ns;

	if (flags & ~(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM |
		      CLONE_THREAD | CLONE_NEWPID))
		return -EINVAL;
	if (flags & (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD) && task->group->nthreads > 1)
		return -EINVAL;
	if (flags & CLONE_FILES) {
		struct files *files = files_copy(sys, task->files);

		if (!files)
			return -ENOMEM;
		files_put(sys, task->files);
		task->files = files;
	}
	if (!(flags & CLONE_NEWPID))
		return 0;
	if (!ksys_capable(sys, KSYS_CAP_SYS_ADMIN))
		return -EPERM;
	if (task->ns != task->ns_children) /* Linux copy_pid_ns() */
		return -EINVAL;
	if (task->ns->level + 1 >= PID_LEVELS)
		return -ENOSPC;
	ns = pid_ns_create(sys, task->ns);
	if (!ns)
		return -ENOMEM;
	pid_ns_put(sys, task->ns_children);
	task->ns_children = ns;
	return 0;
}
