/* SPDX-License-Identifier: MIT */
/* Files without a name: memfd_create(2) and eventfd2(2). */
#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/nr.h"

enum {
	MFD_CLOEXEC = 1,
	MFD_ALLOW_SEALING = 2,
	MFD_NOEXEC_SEAL = 8,
	MFD_EXEC = 16,
	MFD_NAME_MAX = 249,

	EFD_SEMAPHORE = 1,

	POLL_IN = 1,
	POLL_OUT = 4,
	POLL_ERR = 8,
};

struct eventfd {
	uint64_t count;
	bool semaphore;
};

static long install(struct ksys *sys, struct file *file, bool cloexec)
{
	int fd = fd_add(sys, ksys_current(sys), file, 0, cloexec);

	if (fd < 0)
		file_put(sys, file);
	return fd;
}

/* --- memfd --------------------------------------------------------------------- */

/* Its name is seen nowhere, but it must be one. */
static long check_name(struct ksys *sys, uint64_t uname)
{
	char c;

	for (unsigned n = 0; n <= MFD_NAME_MAX; n++) {
		if (ksys_copy_from_user(sys, &c, uname + n, 1))
			return -EFAULT;
		if (!c)
			return 0;
	}
	return -EINVAL;
}

static long sys_memfd_create(struct ksys *sys, const uint64_t *a)
{
	uint32_t known = MFD_CLOEXEC | MFD_ALLOW_SEALING, flags = (uint32_t)a[1];
	struct file *file;
	long rc;

	if (!sys->unmap_failure_enomem) /* later than 6.1 */
		known |= MFD_NOEXEC_SEAL | MFD_EXEC;
	if (flags & ~known)
		return -EINVAL;
	if ((flags & (MFD_EXEC | MFD_NOEXEC_SEAL)) == (MFD_EXEC | MFD_NOEXEC_SEAL))
		return -EINVAL;
	rc = check_name(sys, a[0]);
	if (rc)
		return rc;
	file = file_create(sys, FILE_MEMORY, O_RDWR | O_LARGEFILE);
	if (!file)
		return -ENOMEM;
	file->obj = memobj_create(sys, 0);
	if (!file->obj) {
		file_put(sys, file);
		return -ENOMEM;
	}
	return install(sys, file, flags & MFD_CLOEXEC);
}

/* --- eventfd ------------------------------------------------------------------- */

static long sys_eventfd2(struct ksys *sys, const uint64_t *a)
{
	uint32_t flags = (uint32_t)a[1];
	struct file *file;

	if (flags & ~(uint32_t)(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE))
		return -EINVAL;
	file = file_create(sys, FILE_EVENTFD, O_RDWR | (flags & O_NONBLOCK));
	if (!file)
		return -ENOMEM;
	file->eventfd = ksys_alloc(sys, sizeof(*file->eventfd));
	if (!file->eventfd) {
		file_put(sys, file);
		return -ENOMEM;
	}
	file->eventfd->count = (uint32_t)a[0];
	file->eventfd->semaphore = flags & EFD_SEMAPHORE;
	return install(sys, file, flags & O_CLOEXEC);
}

/* Readers and writers sleep on the same: each looks again for itself. */
static struct channel channel_of(const struct eventfd *e)
{
	return (struct channel){ e, 0 };
}

static void wake(struct ksys *sys, const struct eventfd *e)
{
	task_wake_all(sys, channel_of(e), ~0U);
	task_wake_all(sys, poll_channel(sys), ~0U);
}

static long wait(struct ksys *sys, const struct file *file)
{
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	task_sleep_on(sys, channel_of(file->eventfd));
	return task_block(sys, UINT64_MAX);
}

long eventfd_read(struct ksys *sys, struct file *file, uint64_t ubuf, uint64_t count)
{
	struct eventfd *e = file->eventfd;
	uint64_t value;

	if (count < sizeof(value))
		return -EINVAL;
	if (!e->count)
		return wait(sys, file);
	value = e->semaphore ? 1 : e->count;
	e->count -= value;
	wake(sys, e);
	/* what cannot be told is gone all the same, as in Linux */
	if (ksys_copy_to_user(sys, ubuf, &value, sizeof(value)))
		return -EFAULT;
	return sizeof(value);
}

long eventfd_write(struct ksys *sys, struct file *file, uint64_t ubuf, uint64_t count)
{
	struct eventfd *e = file->eventfd;
	uint64_t value;

	if (count < sizeof(value))
		return -EINVAL;
	if (ksys_copy_from_user(sys, &value, ubuf, sizeof(value)))
		return -EFAULT;
	if (value == UINT64_MAX)
		return -EINVAL;
	if (UINT64_MAX - e->count <= value)
		return wait(sys, file);
	e->count += value;
	wake(sys, e);
	return sizeof(value);
}

unsigned eventfd_poll(const struct file *file)
{
	uint64_t count = file->eventfd->count;

	return (count ? POLL_IN : 0) | (count == UINT64_MAX ? POLL_ERR : 0) |
	       (count < UINT64_MAX - 1 ? POLL_OUT : 0);
}

void eventfd_free(struct ksys *sys, struct eventfd *e)
{
	ksys_free(sys, e);
}

long special_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	return nr == NR_EVENTFD2 ? sys_eventfd2(sys, args) : sys_memfd_create(sys, args);
}
