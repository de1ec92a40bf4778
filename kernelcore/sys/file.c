/* SPDX-License-Identifier: MIT */
/*
 * Operations on an open file beyond read, write and ioctl. A perf event's file
 * is an anonymous inode without a position: what Linux's VFS says of such a one
 * (fs/open.c, read_write.c, sync.c, fcntl.c) with perf_fops. Standard input and
 * output are no files of this kind and take none of it but dup and fcntl.
 */
#include "kernelcore/sys/file.h"

#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/nr.h"
#include "kernelcore/sys/rlimit.h"

enum {
	F_DUPFD = 0,
	F_GETFD = 1,
	F_SETFD = 2,
	F_GETFL = 3,
	F_SETFL = 4,
	F_DUPFD_CLOEXEC = 1030,

	SETFL_MASK = O_APPEND | O_NONBLOCK | O_ASYNC | O_NOATIME,

	FIONBIO = 0x5421,
	FIONCLEX = 0x5450,
	FIOCLEX = 0x5451,
	FIOASYNC = 0x5452,

	STAT_BYTES = 128,
	STAT_MODE = 16,
	STAT_NLINK = 20,
	STAT_SIZE = 48,
	STAT_BLKSIZE = 56,
	ANON_INODE_MODE = 0600, /* of no type */
	S_IFREG = 0100000,
};

struct file *file_create(struct ksys *sys, enum file_kind kind, uint32_t flags)
{
	struct file *file = ksys_alloc(sys, sizeof(*file));

	if (file) {
		file->kind = kind;
		file->refs = 1;
		file->flags = flags;
	}
	return file;
}

void file_get(struct file *file)
{
	file->refs++;
}

void file_put(struct ksys *sys, struct file *file)
{
	if (!file || --file->refs)
		return;
	async_release(sys, file);
	switch (file->kind) {
	case FILE_PERF:
		kperf_release(file->event);
		break;
	case FILE_EVENTFD:
		eventfd_free(sys, file->eventfd);
		break;
	case FILE_MEMORY:
		memobj_put(sys, file->obj);
		break;
	case FILE_RESERVED:
	case FILE_INPUT:
	case FILE_OUTPUT:
	case FILE_SYSCTL:
		break;
	}
	ksys_free(sys, file);
}

struct memobj *file_memobj(const struct file *file)
{
	return file->kind == FILE_MEMORY ? file->obj : NULL;
}

bool file_can_map(const struct file *file)
{
	return file->kind == FILE_PERF || file_memobj(file);
}

static long duplicate(struct ksys *sys, struct file *file, uint64_t from, bool cloexec)
{
	int fd;

	if (from >= rlimit_cur(ksys_current(sys), RLIMIT_NOFILE))
		return -EINVAL;
	file_get(file);
	fd = fd_add(sys, ksys_current(sys), file, (unsigned)from, cloexec);
	if (fd < 0)
		file_put(sys, file);
	return fd;
}

/* dup(2) has no lower bound that could be out of range: EMFILE when it is 0. */
static long dup_any(struct ksys *sys, struct file *file)
{
	long fd = duplicate(sys, file, 0, false);

	return fd == -EINVAL ? -EMFILE : fd;
}

static long dup3(struct ksys *sys, struct file *file, const uint64_t *a)
{
	if (a[2] & ~(uint64_t)O_CLOEXEC || (uint32_t)a[0] == (uint32_t)a[1])
		return -EINVAL;
	return file ? fd_dup_to(sys, file, (int32_t)a[1], a[2] & O_CLOEXEC) : -EBADF;
}

static long set_flags(struct ksys *sys, struct file *file, int64_t fd, uint64_t flags)
{
	/* no file operation of perf's does direct I/O */
	if (flags & O_DIRECT)
		return -EINVAL;
	if ((flags ^ file->flags) & O_ASYNC && file->kind == FILE_PERF)
		async_set(sys, file, fd, flags & O_ASYNC);
	file->flags = (uint32_t)((file->flags & ~(uint32_t)SETFL_MASK) | (flags & SETFL_MASK));
	return 0;
}

static long file_fcntl(struct ksys *sys, struct file *file, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);

	switch (a[1]) {
	case F_DUPFD:
		return duplicate(sys, file, (uint32_t)a[2], false);
	case F_DUPFD_CLOEXEC:
		return duplicate(sys, file, (uint32_t)a[2], true);
	case F_GETFD:
		return fd_cloexec(task, (int32_t)a[0]);
	case F_SETFD:
		fd_set_cloexec(task, (int32_t)a[0], a[2] & 1);
		return 0;
	case F_GETFL:
		return (long)file->flags;
	case F_SETFL:
		return set_flags(sys, file, (int32_t)a[0], a[2]);
	default:
		return async_fcntl(sys, file, a[1], a[2]);
	}
}

static long file_stat(struct ksys *sys, const struct file *file, uint64_t ubuf)
{
	uint8_t stat[STAT_BYTES] = { 0 };
	uint32_t mode = ANON_INODE_MODE, nlink = 1, blksize = PAGE_SIZE;
	uint64_t size = file_memobj(file) ? memobj_size(file_memobj(file)) : 0;

	if (file_memobj(file))
		mode = S_IFREG | 0777;
	else if (file->kind == FILE_SYSCTL)
		mode = S_IFREG | 0644;
	memcpy(stat + STAT_SIZE, &size, sizeof(size));
	memcpy(stat + STAT_MODE, &mode, sizeof(mode));
	memcpy(stat + STAT_NLINK, &nlink, sizeof(nlink));
	memcpy(stat + STAT_BLKSIZE, &blksize, sizeof(blksize));
	return ksys_copy_to_user(sys, ubuf, stat, sizeof(stat));
}

/* Linux do_vfs_ioctl(), the commands that any file takes. */
long file_vfs_ioctl(struct ksys *sys, int64_t fd, struct file *file, uint32_t cmd, uint64_t arg)
{
	uint32_t bit = cmd == FIOASYNC ? O_ASYNC : O_NONBLOCK;
	int32_t on;

	switch (cmd) {
	case FIOCLEX:
	case FIONCLEX:
		fd_set_cloexec(ksys_current(sys), fd, cmd == FIOCLEX);
		return 0;
	case FIONBIO:
	case FIOASYNC:
		if (ksys_copy_from_user(sys, &on, arg, sizeof(on)))
			return -EFAULT;
		if (cmd == FIOASYNC && file->kind != FILE_PERF)
			return !on == !(file->flags & O_ASYNC) ? 0 : -ENOTTY;
		if (cmd == FIOASYNC && !on != !(file->flags & O_ASYNC))
			async_set(sys, file, fd, on);
		file->flags = on ? file->flags | bit : file->flags & ~bit;
		return 0;
	default:
		return -ENOIOCTLCMD;
	}
}

long file_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	struct file *file = fd_get(ksys_current(sys), (int32_t)args[0]);

	if (nr == NR_CLOSE)
		return fd_close(sys, (int32_t)args[0]);
	if (nr == NR_DUP3)
		return dup3(sys, file, args);
	/* these look at their arguments first */
	if (nr == NR_FTRUNCATE && (int64_t)args[1] < 0)
		return -EINVAL;
	if (!file)
		return -EBADF;
	switch (nr) {
	case NR_DUP:
		return dup_any(sys, file);
	case NR_FCNTL:
		return file_fcntl(sys, file, args);
	case NR_FSTAT:
		return file_stat(sys, file, args[1]);
	case NR_LSEEK:
		return file_seek(file, (int64_t)args[1], (uint32_t)args[2]);
	case NR_FTRUNCATE:
		if (!file_memobj(file) || (file->flags & O_ACCMODE) == O_RDONLY)
			return -EINVAL;
		return memobj_resize(sys, file->obj, args[1]);
	default: /* fsync: what is memory has nothing to write back */
		return file_memobj(file) ? 0 : -EINVAL;
	}
}
