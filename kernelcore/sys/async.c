/* SPDX-License-Identifier: MIT */
/*
 * Who is told by a signal that a file has something: fcntl(2)'s F_SETOWN, F_SETSIG
 * and O_ASYNC (Linux fs/fcntl.c), and the telling, for perf events.
 */
#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/signal.h"

enum {
	F_SETOWN = 8,
	F_GETOWN = 9,
	F_SETSIG = 10,
	F_GETSIG = 11,
	F_SETOWN_EX = 15,
	F_GETOWN_EX = 16,

	OWNER_TID = 0,
	OWNER_PID = 1,
	OWNER_PGRP = 2,

	CODE_IN = 1, /* POLL_IN and POLL_HUP as si_code has them */
	CODE_HUP = 6,
	BAND_IN = 0x41,	 /* EPOLLIN | EPOLLRDNORM */
	BAND_HUP = 0x18, /* EPOLLHUP | EPOLLERR */
};

struct owner_ex {
	int32_t type, pid;
};

static long set_owner(struct ksys *sys, struct file *file, int32_t type, int32_t pid)
{
	struct ksys_task *task = ksys_current(sys), *to = NULL, *old = file->owner.task;

	if (pid) {
		to = pid_find(sys, task->ns, pid);
		if (!to)
			return -ESRCH;
		ksys_task_get(to);
	}
	file->owner.task = to;
	file->owner.type = type;
	file->owner.uid = task->cred.uid;
	file->owner.euid = task->cred.euid;
	ksys_task_put(sys, old);
	return 0;
}

static int32_t owner_number(struct ksys *sys, const struct file *file)
{
	const struct ksys_task *task = file->owner.task;

	return task && !task->released ? pid_in(task, ksys_current(sys)->ns) : 0;
}

static long set_owner_ex(struct ksys *sys, struct file *file, uint64_t uarg)
{
	struct owner_ex o;

	if (ksys_copy_from_user(sys, &o, uarg, sizeof(o)))
		return -EFAULT;
	if (o.type < OWNER_TID || o.type > OWNER_PGRP)
		return -EINVAL;
	return set_owner(sys, file, o.type, o.pid);
}

static long get_owner_ex(struct ksys *sys, const struct file *file, uint64_t uarg)
{
	const struct owner_ex o = { file->owner.type, owner_number(sys, file) };

	return ksys_copy_to_user(sys, uarg, &o, sizeof(o));
}

long async_fcntl(struct ksys *sys, struct file *file, uint64_t cmd, uint64_t arg)
{
	int32_t who = (int32_t)arg;

	switch (cmd) {
	case F_SETOWN: /* negative: a process group */
		if (who == INT32_MIN)
			return -EINVAL;
		return set_owner(sys, file, who < 0 ? OWNER_PGRP : OWNER_PID,
				 who < 0 ? -who : who);
	case F_GETOWN:
		who = owner_number(sys, file);
		return file->owner.type == OWNER_PGRP ? -who : who;
	case F_SETOWN_EX:
		return set_owner_ex(sys, file, arg);
	case F_GETOWN_EX:
		return get_owner_ex(sys, file, arg);
	case F_SETSIG:
		if (arg > NSIG)
			return -EINVAL;
		file->owner.signo = (int)arg;
		return 0;
	case F_GETSIG:
		return file->owner.signo;
	default:
		return -EINVAL;
	}
}

void async_set(struct ksys *sys, struct file *file, int64_t fd, bool on)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	struct file **at = &sys->async_files;

	while (*at && *at != file)
		at = &(*at)->async_next;
	if (on && !*at) {
		file->async_next = NULL;
		*at = file;
	} else if (!on && *at) {
		*at = file->async_next;
	}
	if (on)
		file->async_fd = (int32_t)fd;
	hal_irq_restore(ksys_hal(sys), flags);
}

void async_release(struct ksys *sys, struct file *file)
{
	if (file->flags & O_ASYNC)
		async_set(sys, file, 0, false);
	ksys_task_put(sys, file->owner.task);
}

/* Linux sigio_perm(). */
static bool permitted(const struct file *file, const struct cred *cred)
{
	return !file->owner.euid || file->owner.euid == cred->suid ||
	       file->owner.euid == cred->uid || file->owner.uid == cred->suid ||
	       file->owner.uid == cred->uid;
}

/* Signals whose si_code means something of their own get another one. */
static bool has_own_codes(int signo)
{
	return signo == SIG_ILL || signo == SIG_FPE || signo == SIG_SEGV || signo == SIG_BUS ||
	       signo == SIG_TRAP || signo == SIG_CHLD || signo == SIG_SYS;
}

/* Linux send_sigio_to_task(): F_SETSIG's signal tells which file and what, plain
 * SIGIO, which also stands in when that one cannot be queued, tells nothing. */
static void send(struct ksys *sys, const struct file *file, int code)
{
	struct ksys_task *task = file->owner.task;
	bool group = file->owner.type != OWNER_TID;
	const struct siginfo plain = { .signo = SIG_IO, .code = SI_KERNEL };
	const struct siginfo info = {
		.kind = INFO_POLL,
		.signo = file->owner.signo,
		.code = has_own_codes(file->owner.signo) ? SI_SIGIO : code,
		.pid = file->async_fd,
		.value = code == CODE_HUP ? BAND_HUP : BAND_IN,
	};

	if (!permitted(file, &task->cred))
		return;
	if (file->owner.signo && !signal_send(sys, task, &info, group))
		return;
	signal_send(sys, task, &plain, group);
}

bool ksys_sigio_wanted(struct ksys *sys, const struct kperf_event *event)
{
	const struct file *file = sys->async_files;

	while (file && !(file->kind == FILE_PERF && file->event == event))
		file = file->async_next;
	return file;
}

void ksys_sigio(struct ksys *sys, struct kperf_event *event, bool hup)
{
	for (struct file *file = sys->async_files; file; file = file->async_next)
		if (file->kind == FILE_PERF && file->event == event && file->owner.task)
			send(sys, file, hup ? CODE_HUP : CODE_IN);
}
