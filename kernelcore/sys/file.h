/* SPDX-License-Identifier: MIT */
/*
 * Open files. A struct file is an open file description: dup(2), fork(2) and
 * mappings share it by reference, and what it stands for is released with the
 * last one (Linux fput()). A struct files is a table of descriptors, which
 * tasks share (CLONE_FILES) or copy.
 *
 * Process context; no function sleeps. The kernel is not preempted there, so a
 * file found in a table stays until the caller itself closes it.
 */
#ifndef PMULAB_KERNELCORE_SYS_FILE_H
#define PMULAB_KERNELCORE_SYS_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct eventfd;
struct file;
struct files;
struct kperf_event;
struct ksys;
struct ksys_task;
struct memobj;

enum file_kind {
	FILE_RESERVED, /* a number without a file yet: not open */
	FILE_INPUT,
	FILE_OUTPUT,
	FILE_PERF,
	FILE_EVENTFD,
	FILE_MEMORY, /* memfd_create(2)'s, and the program's own file */
	FILE_SYSCTL,
};

enum {
	O_ACCMODE = 03,
	O_RDONLY = 0,
	O_WRONLY = 01,
	O_RDWR = 02,
	O_APPEND = 02000,
	O_NONBLOCK = 04000,
	O_ASYNC = 020000,
	O_DIRECT = 0200000, /* arm's value */
	O_LARGEFILE = 0400000,
	O_NOATIME = 01000000,
	O_CLOEXEC = 02000000,
};

struct file {
	enum file_kind kind;
	unsigned refs;
	uint32_t flags; /* what F_GETFL says */
	uint64_t pos;
	struct {
		struct ksys_task *task; /* a reference; NULL: nobody */
		int type;		/* F_OWNER_* */
		int signo;		/* F_SETSIG's */
		uint32_t uid, euid;	/* who said so */
	} owner;
	struct file *async_next;
	int32_t async_fd; /* that O_ASYNC was set by */
	union {
		struct kperf_event *event;
		struct eventfd *eventfd;
		struct memobj *obj;
		unsigned sysctl; /* enum ksys_sysctl */
	};
};

/* One reference; NULL without memory. */
struct file *file_create(struct ksys *sys, enum file_kind kind, uint32_t flags);
void file_get(struct file *file);
void file_put(struct ksys *sys, struct file *file);

/* One reference to an empty table; NULL without memory. */
struct files *files_create(struct ksys *sys);
void files_get(struct files *files);
/* Another table with the same files; NULL without memory. */
struct files *files_copy(struct ksys *sys, const struct files *files);
/* The last reference closes all, the lowest first. */
void files_put(struct ksys *sys, struct files *files);
/* execve(2): what is marked so is closed. The table is the task's alone. */
void files_exec(struct ksys *sys, struct files *files);

/* The open file @fd of @task; NULL. No reference of the caller's. */
struct file *fd_get(struct ksys_task *task, int64_t fd);
/* The lowest free number of @task from @from on (below RLIMIT_NOFILE) for @file,
 * whose reference it takes; -EMFILE, -ENOMEM: it does not. */
int fd_add(struct ksys *sys, struct ksys_task *task, struct file *file, unsigned from,
	   bool cloexec);
long fd_close(struct ksys *sys, int64_t fd);
/* dup3(2): @fd is another number of @file from now on. */
long fd_dup_to(struct ksys *sys, struct file *file, int64_t fd, bool cloexec);

/* close, dup, fcntl, lseek, fstat and their like, by arm64's number. */
long file_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* What mmap(2) maps of it; NULL when it is no memory. */
struct memobj *file_memobj(const struct file *file);
/* Has it an mmap at all? */
bool file_can_map(const struct file *file);

/* async.c: F_SETOWN and its like; -EINVAL: another command. */
long async_fcntl(struct ksys *sys, struct file *file, uint64_t cmd, uint64_t arg);
/* The file's O_ASYNC, as number @fd. */
void async_set(struct ksys *sys, struct file *file, int64_t fd, bool on);
void async_release(struct ksys *sys, struct file *file);

/* vfs.c: read, write, pread64, pwrite64, openat by arm64's number. */
long vfs_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);
long file_seek(struct file *file, int64_t offset, uint32_t whence);

/* special.c: eventfd2, memfd_create by arm64's number. */
long special_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);
long eventfd_read(struct ksys *sys, struct file *file, uint64_t ubuf, uint64_t count);
long eventfd_write(struct ksys *sys, struct file *file, uint64_t ubuf, uint64_t count);
unsigned eventfd_poll(const struct file *file);
void eventfd_free(struct ksys *sys, struct eventfd *eventfd);

/* sysctl.c: files under /proc/sys/kernel. -ENOENT: no such name. */
void sysctl_init(struct ksys *sys);
long sysctl_open(struct ksys *sys, const char *path, uint32_t flags, struct file **out);
long sysctl_read(struct ksys *sys, const struct file *file, uint64_t pos, uint64_t ubuf,
		 uint64_t count);
long sysctl_write(struct ksys *sys, const struct file *file, uint64_t pos, uint64_t ubuf,
		  uint64_t count);

/* What the VFS itself answers of ioctl(2); -ENOIOCTLCMD: ask the file. */
enum { ENOIOCTLCMD = 515 };
long file_vfs_ioctl(struct ksys *sys, int64_t fd, struct file *file, uint32_t cmd, uint64_t arg);

/* A descriptor's own flag. */
bool fd_cloexec(const struct ksys_task *task, int64_t fd);
void fd_set_cloexec(struct ksys_task *task, int64_t fd, bool on);

#endif
