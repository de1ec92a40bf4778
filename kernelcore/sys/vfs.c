/* SPDX-License-Identifier: MIT */
/* read(2), write(2), openat(2) and their like, by what the file is. */
#include <string.h>

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/nr.h"

enum {
	PATH_BYTES = 128,
	O_CREAT = 0100,
	O_EXCL = 0200,
};

/* --- standard input and output ------------------------------------------------ */

static long read_input(struct ksys *sys, uint64_t ubuf, uint64_t count)
{
	size_t n = sys->input_size - sys->input_at;

	if (n > count)
		n = count;
	if (ksys_copy_to_user(sys, ubuf, sys->input + sys->input_at, n))
		return -EFAULT;
	sys->input_at += n;
	return (long)n;
}

static long write_output(struct ksys *sys, uint64_t ubuf, uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint8_t buf[256];
		uint64_t n = count - done;

		if (n > sizeof(buf))
			n = sizeof(buf);
		if (ksys_copy_from_user(sys, buf, ubuf + done, n))
			return done ? (long)done : -EFAULT;
		hal_console_write(ksys_hal(sys), buf, n);
		done += n;
	}
	return (long)done;
}

/* --- memory ------------------------------------------------------------------- */

static long read_memory(struct ksys *sys, struct memobj *obj, uint64_t at, uint64_t ubuf,
			uint64_t count)
{
	uint64_t size = memobj_size(obj), done = 0;

	if (at >= size)
		return 0;
	if (count > size - at)
		count = size - at;
	while (done < count) {
		uint8_t buf[256];
		size_t n = count - done < sizeof(buf) ? count - done : sizeof(buf);

		memobj_read(sys, obj, at + done, buf, n);
		if (ksys_copy_to_user(sys, ubuf + done, buf, n))
			return done ? (long)done : -EFAULT;
		done += n;
	}
	return (long)done;
}

/* Grows what it writes beyond the end of, as far as it got. */
static long write_memory(struct ksys *sys, struct memobj *obj, uint64_t at, uint64_t ubuf,
			 uint64_t count)
{
	uint64_t done = 0;
	int rc;

	if (at >= MEMOBJ_MAX)
		return count ? -EFBIG : 0;
	if (count > MEMOBJ_MAX - at)
		count = MEMOBJ_MAX - at;
	while (done < count) {
		uint64_t in = (at + done) & (PAGE_SIZE - 1);
		size_t n = count - done < PAGE_SIZE - in ? count - done : PAGE_SIZE - in;
		uint64_t end = at + done + n;
		uint8_t *page;

		rc = end > memobj_size(obj) ? memobj_resize(sys, obj, end) : 0;
		page = rc ? NULL : memobj_page(sys, obj, (at + done) >> PAGE_SHIFT, true);
		if (!page)
			return done ? (long)done : rc ? rc : -ENOSPC;
		if (ksys_copy_from_user(sys, page + in, ubuf + done, n))
			return done ? (long)done : -EFAULT;
		done += n;
	}
	return (long)done;
}

/* --- read and write ------------------------------------------------------------ */

static long read_at(struct ksys *sys, struct file *file, uint64_t *pos, uint64_t ubuf,
		    uint64_t count)
{
	long n = 0;

	switch (file->kind) {
	case FILE_RESERVED:
	case FILE_OUTPUT:
		return -EBADF;
	case FILE_INPUT:
		return read_input(sys, ubuf, count);
	case FILE_PERF:
		return kperf_read(file->event, ubuf, count);
	case FILE_EVENTFD:
		return eventfd_read(sys, file, ubuf, count);
	case FILE_SYSCTL:
		n = sysctl_read(sys, file, *pos, ubuf, count);
		break;
	case FILE_MEMORY:
		n = read_memory(sys, file->obj, *pos, ubuf, count);
		break;
	}
	if (n > 0)
		*pos += (uint64_t)n;
	return n;
}

static long write_at(struct ksys *sys, struct file *file, uint64_t *pos, uint64_t ubuf,
		     uint64_t count)
{
	long n = 0;

	switch (file->kind) {
	case FILE_RESERVED:
	case FILE_INPUT:
		return -EBADF;
	case FILE_OUTPUT:
		return write_output(sys, ubuf, count);
	case FILE_PERF: /* has no write: Linux vfs_write() */
		return -EINVAL;
	case FILE_EVENTFD:
		return eventfd_write(sys, file, ubuf, count);
	case FILE_SYSCTL:
		n = sysctl_write(sys, file, *pos, ubuf, count);
		break;
	case FILE_MEMORY:
		if (file->flags & O_APPEND)
			*pos = memobj_size(file->obj);
		n = write_memory(sys, file->obj, *pos, ubuf, count);
		break;
	}
	if (n > 0)
		*pos += (uint64_t)n;
	return n;
}

static bool has_position(const struct file *file)
{
	return file->kind == FILE_MEMORY || file->kind == FILE_SYSCTL;
}

static long transfer(struct ksys *sys, uint64_t nr, const uint64_t *a)
{
	struct file *file = fd_get(ksys_current(sys), (int32_t)a[0]);
	bool writes = nr == NR_WRITE || nr == NR_PWRITE64, at = nr >= NR_PREAD64;
	uint64_t given = a[3], *pos = at ? &given : &file->pos;
	unsigned mode = file ? file->flags & O_ACCMODE : 0;

	if (at && (int64_t)a[3] < 0)
		return -EINVAL;
	if (!file)
		return -EBADF;
	if (at && !has_position(file))
		return -ESPIPE;
	if (mode == (writes ? O_RDONLY : O_WRONLY))
		return -EBADF;
	return writes ? write_at(sys, file, pos, a[1], a[2]) :
			read_at(sys, file, pos, a[1], a[2]);
}

/* Linux generic_file_llseek(), and what proc's files take of it. */
long file_seek(struct file *file, int64_t offset, uint32_t whence)
{
	uint64_t size = file->kind == FILE_MEMORY ? memobj_size(file->obj) : 0;

	if (whence > 4)
		return -EINVAL;
	if (!has_position(file))
		return -ESPIPE;
	switch (whence) {
	case 0:
		break;
	case 1:
		offset += (int64_t)file->pos;
		break;
	case 2:
		offset += (int64_t)size;
		break;
	default: /* SEEK_DATA, SEEK_HOLE: without holes */
		if ((uint64_t)offset >= size)
			return -ENXIO;
		offset = whence == 3 ? offset : (int64_t)size;
	}
	if (offset < 0)
		return -EINVAL;
	file->pos = (uint64_t)offset;
	return offset;
}

/* --- names --------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static long open_program(struct ksys *sys, uint32_t flags, struct file **out)
{
	if ((flags & O_ACCMODE) != O_RDONLY)
		return -ETXTBSY;
	*out = file_create(sys, FILE_MEMORY, (flags & ~(uint32_t)O_CLOEXEC) | O_LARGEFILE);
	if (!*out)
		return -ENOMEM;
	(*out)->obj = sys->image;
	memobj_get(sys->image);
	return 0;
}

static long open_path(struct ksys *sys, const char *path, uint32_t flags, struct file **out)
{
	if (same(path, "/proc/self/exe") || same(path, "/agent"))
		return open_program(sys, flags, out);
	return sysctl_open(sys, path, flags, out);
}

static long copy_path(struct ksys *sys, char *path, uint64_t upath)
{
	for (unsigned n = 0; n < PATH_BYTES; n++) {
		if (ksys_copy_from_user(sys, path + n, upath + n, 1))
			return -EFAULT;
		if (!path[n])
			return n ? 0 : -ENOENT;
	}
	return -ENOENT; /* a longer name is nobody's */
}

/* There is no directory to be relative to, and nothing can be made. */
static long sys_openat(struct ksys *sys, const uint64_t *a)
{
	struct file *file = NULL;
	char path[PATH_BYTES];
	long rc = copy_path(sys, path, a[1]);
	int fd;

	if (rc)
		return rc;
	if ((a[2] & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	rc = open_path(sys, path, (uint32_t)a[2] & ~(uint32_t)O_CREAT, &file);
	if (rc)
		return rc;
	fd = fd_add(sys, ksys_current(sys), file, 0, a[2] & O_CLOEXEC);
	if (fd < 0)
		file_put(sys, file);
	return fd;
}

long vfs_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	return nr == NR_OPENAT ? sys_openat(sys, args) : transfer(sys, nr, args);
}
