/* SPDX-License-Identifier: MIT */
/* File descriptors of the one task. */
#include <string.h>

#include "kernelcore/sys/internal.h"

struct file *fd_get(struct ksys_task *task, int64_t fd)
{
	if (fd < 0 || fd >= MAX_FDS || task->file[fd].kind <= FILE_RESERVED)
		return NULL;
	return &task->file[fd];
}

int ksys_fd_reserve(struct ksys *sys, bool cloexec)
{
	for (int fd = 0; fd < MAX_FDS; fd++) {
		struct file *file = &ksys_current(sys)->file[fd];

		if (file->kind == FILE_NONE) {
			file->kind = FILE_RESERVED;
			file->cloexec = cloexec;
			return fd;
		}
	}
	return -EMFILE;
}

void ksys_fd_cancel(struct ksys *sys, int fd)
{
	ksys_current(sys)->file[fd] = (struct file){ .kind = FILE_NONE };
}

void ksys_fd_install(struct ksys *sys, int fd, struct kperf_event *event)
{
	struct file *file = &ksys_current(sys)->file[fd];

	file->event = event;
	file->kind = FILE_PERF;
}

int ksys_fd_event(struct ksys *sys, int fd, struct kperf_event **out)
{
	struct file *file = fd_get(ksys_current(sys), fd);

	if (!file)
		return -EBADF;
	if (file->kind != FILE_PERF)
		return -EINVAL;
	*out = file->event;
	return 0;
}

/* dup() gives a second number to one open file, so one event in two places. */
static bool open_elsewhere(const struct ksys_task *task, const struct kperf_event *event)
{
	for (int fd = 0; fd < MAX_FDS; fd++)
		if (task->file[fd].kind == FILE_PERF && task->file[fd].event == event)
			return true;
	return false;
}

static void drop(struct ksys_task *task, struct file *file)
{
	struct file old = *file;

	/* The number is free before the event's teardown can see it. */
	*file = (struct file){ .kind = FILE_NONE };
	if (old.kind == FILE_PERF && !open_elsewhere(task, old.event))
		kperf_release(old.event);
}

long fd_close(struct ksys *sys, int64_t fd)
{
	struct file *file = fd_get(ksys_current(sys), fd);

	if (!file)
		return -EBADF;
	drop(ksys_current(sys), file);
	return 0;
}

void fd_close_all(struct ksys *sys, struct ksys_task *task)
{
	(void)sys;
	for (int fd = 0; fd < MAX_FDS; fd++)
		if (task->file[fd].kind > FILE_RESERVED)
			drop(task, &task->file[fd]);
}
