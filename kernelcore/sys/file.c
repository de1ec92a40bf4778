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

enum {
	NR_DUP = 23,
	NR_FCNTL = 25,
	NR_FTRUNCATE = 46,
	NR_LSEEK = 62,
	NR_PREAD64 = 67,
	NR_PWRITE64 = 68,
	NR_FSTAT = 80,
	NR_FSYNC = 82,
	NR_FDATASYNC = 83,

	F_DUPFD = 0,
	F_GETFD = 1,
	F_SETFD = 2,
	F_GETFL = 3,
	F_SETFL = 4,
	F_DUPFD_CLOEXEC = 1030,

	O_RDWR = 02,
	O_APPEND = 02000,
	O_NONBLOCK = 04000,
	O_ASYNC = 020000,
	O_DIRECT = 0200000, /* arm's value */
	O_NOATIME = 01000000,
	SETFL_MASK = O_APPEND | O_NONBLOCK | O_ASYNC | O_NOATIME,

	FIONBIO = 0x5421,
	FIONCLEX = 0x5450,
	FIOCLEX = 0x5451,
	FIOASYNC = 0x5452,

	STAT_BYTES = 128,
	STAT_MODE = 16,
	STAT_NLINK = 20,
	STAT_BLKSIZE = 56,
	ANON_INODE_MODE = 0600, /* of no type */
};

static long duplicate(struct ksys *sys, const struct file *file, uint64_t from,
		      bool cloexec)
{
	if (from >= MAX_FDS)
		return -EINVAL;
	for (uint64_t fd = from; fd < MAX_FDS; fd++) {
		struct file *other = &ksys_current(sys)->file[fd];

		if (other->kind != FILE_NONE)
			continue;
		*other = *file;
		other->cloexec = cloexec;
		return (long)fd;
	}
	return -EMFILE;
}

static long set_flags(struct file *file, uint64_t flags)
{
	/* no file operation of perf's does direct I/O */
	if (flags & O_DIRECT)
		return -EINVAL;
	file->flags = (uint32_t)(flags & SETFL_MASK);
	return 0;
}

static long file_fcntl(struct ksys *sys, struct file *file, const uint64_t *a)
{
	switch (a[1]) {
	case F_DUPFD:
		return duplicate(sys, file, a[2], false);
	case F_DUPFD_CLOEXEC:
		return duplicate(sys, file, a[2], true);
	case F_GETFD:
		return file->cloexec;
	case F_SETFD:
		file->cloexec = a[2] & 1;
		return 0;
	case F_GETFL:
		return (long)(O_RDWR | file->flags);
	case F_SETFL:
		return set_flags(file, a[2]);
	default:
		return -EINVAL;
	}
}

static long file_stat(struct ksys *sys, uint64_t ubuf)
{
	uint8_t stat[STAT_BYTES] = { 0 };
	uint32_t mode = ANON_INODE_MODE, nlink = 1, blksize = PAGE_SIZE;

	memcpy(stat + STAT_MODE, &mode, sizeof(mode));
	memcpy(stat + STAT_NLINK, &nlink, sizeof(nlink));
	memcpy(stat + STAT_BLKSIZE, &blksize, sizeof(blksize));
	return ksys_copy_to_user(sys, ubuf, stat, sizeof(stat));
}

/* Linux do_vfs_ioctl(), the commands that any file takes. */
long file_vfs_ioctl(struct ksys *sys, struct file *file, uint32_t cmd, uint64_t arg)
{
	uint32_t bit = cmd == FIOASYNC ? O_ASYNC : O_NONBLOCK;
	int32_t on;

	switch (cmd) {
	case FIOCLEX:
	case FIONCLEX:
		file->cloexec = cmd == FIOCLEX;
		return 0;
	case FIONBIO:
	case FIOASYNC:
		if (ksys_copy_from_user(sys, &on, arg, sizeof(on)))
			return -EFAULT;
		file->flags = on ? file->flags | bit : file->flags & ~bit;
		return 0;
	default:
		return -ENOIOCTLCMD;
	}
}

long file_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	struct file *file = fd_get(ksys_current(sys), (int32_t)args[0]);

	/* these look at their arguments first */
	if (nr == NR_FTRUNCATE && (int64_t)args[1] < 0)
		return -EINVAL;
	if ((nr == NR_PREAD64 || nr == NR_PWRITE64) && (int64_t)args[3] < 0)
		return -EINVAL;
	if (!file)
		return -EBADF;
	switch (nr) {
	case NR_DUP:
		return duplicate(sys, file, 0, false);
	case NR_FCNTL:
		return file_fcntl(sys, file, args);
	case NR_FSTAT:
		return file_stat(sys, args[1]);
	case NR_LSEEK:
		return args[2] > 4 ? -EINVAL : -ESPIPE;
	case NR_PREAD64:
	case NR_PWRITE64:
		return -ESPIPE;
	default: /* no fsync, and no regular file to cut */
		return -EINVAL;
	}
}
