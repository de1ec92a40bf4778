/* SPDX-License-Identifier: MIT */
/*
 * futex(2): waiting and waking. A word is known by its address space and address:
 * that a word in memory that two address spaces share is one word is not built.
 */
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"

enum {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_PRIVATE = 128,
	FUTEX_REALTIME = 256,
	NSEC_PER_SEC = 1000000000,
};

/* Not 0, so that it is no other channel on the same address space. */
static struct channel channel_of(const struct mm *mm, uint64_t uaddr)
{
	return (struct channel){ mm, uaddr | 1 };
}

unsigned futex_wake(struct ksys *sys, const struct mm *mm, uint64_t uaddr, unsigned n)
{
	return task_wake_all(sys, channel_of(mm, uaddr), n);
}

static int deadline(struct ksys *sys, uint64_t utime, bool absolute, uint64_t *until)
{
	int64_t ts[2];

	*until = UINT64_MAX;
	if (!utime)
		return 0;
	if (ksys_copy_from_user(sys, ts, utime, sizeof(ts)))
		return -EFAULT;
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= NSEC_PER_SEC)
		return -EINVAL;
	if (ts[0] >= INT64_MAX / NSEC_PER_SEC)
		return 0;
	*until = (uint64_t)ts[0] * NSEC_PER_SEC + (uint64_t)ts[1];
	if (!absolute)
		*until += hal_clock_ns(ksys_hal(sys));
	return 0;
}

static long futex_wait(struct ksys *sys, const uint64_t *a, bool absolute)
{
	struct ksys_task *task = ksys_current(sys);
	struct task_call *call = &task->call;
	uint32_t value;
	int rc;

	if (call->again) /* woken, or the time is over */
		return call->timed_out ? -ETIMEDOUT : 0;
	rc = deadline(sys, a[3], absolute, &call->until);
	if (rc)
		return rc;
	if (a[0] & 3)
		return -EINVAL;
	task_sleep_on(sys, channel_of(task->mm, a[0]));
	rc = ksys_copy_from_user(sys, &value, a[0], sizeof(value));
	if (!rc && value != (uint32_t)a[2])
		rc = -EAGAIN;
	if (!rc)
		return task_block(sys, call->until);
	task_sleep_not(sys);
	return rc;
}

long sys_futex(struct ksys *sys, const uint64_t a[6])
{
	uint32_t op = (uint32_t)a[1] & ~(uint32_t)(FUTEX_PRIVATE | FUTEX_REALTIME);

	if ((op == FUTEX_WAIT_BITSET || op == FUTEX_WAKE_BITSET) && !(uint32_t)a[5])
		return -EINVAL;
	switch (op) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return futex_wait(sys, a, op == FUTEX_WAIT_BITSET);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		if (a[0] & 3)
			return -EINVAL;
		if (a[0] >= MM_VA_END) /* a private word is not looked at */
			return -EFAULT;
		return futex_wake(sys, ksys_current(sys)->mm, a[0],
				  (int32_t)a[2] < 1 ? 1 : (unsigned)a[2]);
	default:
		return -ENOSYS;
	}
}
