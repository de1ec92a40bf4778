/* SPDX-License-Identifier: MIT */
/* System calls (arm64 numbers, asm-generic/unistd.h) and EL0's faults. */
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/file.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/nr.h"
#include "kernelcore/sys/rlimit.h"

enum {
	POLL_NVAL = 0x20,
};

static long sys_ioctl(struct ksys *sys, const uint64_t *a)
{
	struct file *file = fd_get(ksys_current(sys), (int32_t)a[0]);
	long rc;

	if (!file)
		return -EBADF;
	rc = file_vfs_ioctl(sys, (int32_t)a[0], file, (uint32_t)a[1], a[2]);
	if (rc != -ENOIOCTLCMD)
		return rc;
	if (file->kind != FILE_PERF)
		return -ENOTTY;
	return kperf_ioctl(file->event, (uint32_t)a[1], a[2]);
}

struct pollfd {
	int32_t fd;
	int16_t events, revents;
};

static unsigned poll_one(struct ksys *sys, const struct pollfd *p)
{
	struct file *file;

	if (p->fd < 0)
		return 0;
	file = fd_get(ksys_current(sys), p->fd);
	if (!file)
		return POLL_NVAL;
	if (file->kind == FILE_EVENTFD)
		return eventfd_poll(file) & ((unsigned)(uint16_t)p->events | 0x18);
	if (file->kind != FILE_PERF)
		return (unsigned)p->events & 5; /* POLLIN | POLLOUT: always ready */
	/* HUP and ERR are reported whether asked for or not. */
	return kperf_poll(file->event) & ((unsigned)(uint16_t)p->events | 0x18);
}

static int poll_deadline(struct ksys *sys, uint64_t utime, uint64_t *until)
{
	int64_t ts[2];

	*until = UINT64_MAX;
	if (!utime)
		return 0;
	if (ksys_copy_from_user(sys, ts, utime, sizeof(ts)))
		return -EFAULT;
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000)
		return -EINVAL;
	*until = 0;
	if (ts[0] || ts[1])
		*until = hal_clock_ns(ksys_hal(sys)) + (uint64_t)ts[0] * 1000000000 +
			 (uint64_t)ts[1];
	return 0;
}

/* Linux looks once before it sleeps, and once more at the end of the time. */
static long sys_ppoll(struct ksys *sys, const uint64_t *a)
{
	struct task_call *call = &ksys_current(sys)->call;
	struct pollfd p[8];
	long ready = 0;
	int rc;

	if (a[1] > sizeof(p) / sizeof(p[0]))
		return -EINVAL;
	if (!call->again) {
		rc = poll_deadline(sys, a[2], &call->until);
		if (rc)
			return rc;
	}
	if (ksys_copy_from_user(sys, p, a[0], a[1] * sizeof(p[0])))
		return -EFAULT;
	if (call->until && !call->timed_out)
		task_sleep_on(sys, poll_channel(sys));
	for (uint64_t i = 0; i < a[1]; i++) {
		p[i].revents = (int16_t)poll_one(sys, &p[i]);
		ready += p[i].revents != 0;
	}
	if (call->until && !call->timed_out) {
		if (!ready)
			return task_block(sys, call->until);
		task_sleep_not(sys);
	}
	if (ksys_copy_to_user(sys, a[0], p, a[1] * sizeof(p[0])))
		return -EFAULT;
	return ready;
}

/* The laboratory knows counters; an fd stands for the one its event is on. */
static long lab_counter(struct ksys *sys, uint64_t fd, uint64_t *counter)
{
	struct kperf_event *event;
	int rc = ksys_fd_event(sys, (int32_t)fd, &event);

	if (rc)
		return rc;
	rc = kperf_event_counter(event);
	if (rc < 0)
		return rc;
	*counter = (uint64_t)rc;
	return 0;
}

/* The header page of a ring that is mapped at @va, NULL: none is. */
static void *header_page(struct ksys *sys, uint64_t va)
{
	const struct area *area = mm_area(ksys_current(sys)->mm, va);

	return area && area->ring && area->start == va ? area->ring[0] : NULL;
}

static long lab_hostile(struct ksys *sys, uint64_t va, bool on)
{
	void *page = header_page(sys, va);
	const uint64_t a[6] = { on && page ? hal_virt_to_phys(ksys_hal(sys), page) : 0 };
	long rc = page ? hal_lab_call(ksys_hal(sys), HAL_LAB_HOSTILE, a) : -EFAULT;

	if (!rc)
		sys->hostile = on ? page : NULL;
	return rc;
}

void syscall_end_hostile(struct ksys *sys, const void *page)
{
	const uint64_t a[6] = { 0 };

	if (sys->hostile != page)
		return;
	hal_lab_call(ksys_hal(sys), HAL_LAB_HOSTILE, a);
	sys->hostile = NULL;
}

static long sys_lab(struct ksys *sys, unsigned call, const uint64_t *args)
{
	bool injects = call == HAL_LAB_INJECT || call == HAL_LAB_AT_OP ||
		       call == HAL_LAB_AT_ARMED;
	uint64_t a[6];
	long rc = 0;

	if (call >= HAL_LAB_CALLS)
		return -ENOSYS;
	if (call == HAL_LAB_HOSTILE)
		return lab_hostile(sys, args[0], args[1]);
	for (int i = 0; i < 6; i++)
		a[i] = args[i];
	if (injects && (int64_t)a[0] >= 0)
		rc = lab_counter(sys, args[0], &a[1]);
	if (!rc && call == HAL_LAB_AT_ARMED)
		rc = lab_counter(sys, args[4], &a[4]);
	return rc ? rc : hal_lab_call(ksys_hal(sys), call, a);
}

long syscall_dispatch(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	switch (nr) {
	case NR_READ:
	case NR_WRITE:
	case NR_PREAD64:
	case NR_PWRITE64:
	case NR_OPENAT:
		return vfs_call(sys, nr, args);
	case NR_EVENTFD2:
	case NR_MEMFD_CREATE:
		return special_call(sys, nr, args);
	case NR_CLOSE:
	case NR_DUP:
	case NR_DUP3:
	case NR_FCNTL:
	case NR_FTRUNCATE:
	case NR_LSEEK:
	case NR_FSTAT:
	case NR_FSYNC:
	case NR_FDATASYNC:
		return file_call(sys, nr, args);
	case NR_GETRLIMIT:
	case NR_SETRLIMIT:
	case NR_PRLIMIT64:
		return rlimit_call(sys, nr, args);
	case NR_IOCTL:
		return sys_ioctl(sys, args);
	case NR_PPOLL:
		return sys_ppoll(sys, args);
	case NR_MMAP:
	case NR_MUNMAP:
	case NR_MPROTECT:
	case NR_MADVISE:
		return mm_call(sys, nr, args);
	case NR_PERF_EVENT_OPEN:
		return kperf_open(sys->perf, args[0], (int32_t)args[1], (int32_t)args[2],
				  (int32_t)args[3], args[4]);
	default:
		if (nr == NR_CAPGET || nr == NR_CAPSET || (nr >= NR_SETREGID && nr <= NR_GETRESGID) ||
		    (nr >= NR_GETUID && nr <= NR_GETEGID))
			return cred_call(sys, nr, args);
		if (nr >= NR_KILL && nr <= NR_RT_SIGRETURN)
			return signal_call(sys, nr, args);
		if (nr >= HAL_LAB_BASE && nr < HAL_LAB_BASE + 16)
			return sys_lab(sys, (unsigned)(nr - HAL_LAB_BASE), args);
		return task_call(sys, nr, args);
	}
}

enum { EC_SHIFT = 26, EC_SVC64 = 0x15 };

void syscall_again(struct ksys *sys, struct ksys_task *task)
{
	struct task_call *call = &task->call;
	long rc = syscall_dispatch(sys, call->nr, call->args);

	if (rc == SYS_BLOCK && signal_pending(task) && !task->killed && call->nr != NR_CLONE &&
	    call->nr != NR_EXECVE)
		rc = signal_interrupts(sys, task);
	call->again = true;
	call->pending = rc == SYS_BLOCK;
	if (!call->pending && rc != SYS_NO_RESULT)
		hal_user_set_x0(ksys_hal(sys), (uint64_t)rc);
}

static void syscall_begin(struct ksys *sys, struct ksys_task *task, const struct hal_regs *regs)
{
	task->call = (struct task_call){ .nr = regs->x[8] };
	for (unsigned i = 0; i < 6; i++)
		task->call.args[i] = regs->x[i];
	syscall_again(sys, task);
}

enum kentry_next kentry_sync(struct ksys *sys, struct hal *hal, const struct hal_regs *regs,
			     uint64_t esr, uint64_t far)
{
	unsigned ec = (unsigned)(esr >> EC_SHIFT) & 0x3f;
	struct sys_cpu *cpu = sys_cpu_of(sys, hal);
	enum kentry_next next;

	cpu->depth++;
	hal_irq_enable(hal);
	if (ec == EC_SVC64)
		syscall_begin(sys, cpu->current, regs);
	else
		fault_user(sys, regs, esr, far);
	hal_irq_disable(hal);
	next = sched_leave(sys, cpu);
	cpu->depth--;
	return next;
}
