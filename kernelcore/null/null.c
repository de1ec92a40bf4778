/* SPDX-License-Identifier: MIT */
/*
 * The smallest perf core that fits the door: there is no perf_event_open(2).
 * No event ever exists, so what takes one is never called.
 */
#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <stddef.h>

#include "kernelcore/kperf.h"

int kperf_create(struct ksys *sys, const char *profile, struct kperf **out)
{
	*out = NULL;
	return 0;
}

void kperf_destroy(struct kperf *perf)
{
}

const char *kperf_profile(unsigned i)
{
	return i == 0 ? "null" : NULL;
}

int kperf_cpu_online(struct kperf *perf, struct hal *hal)
{
	return 0;
}

long kperf_open(struct kperf *perf, uint64_t uattr, int32_t pid, int32_t cpu,
		int32_t group_fd, uint64_t flags)
{
	return -ENOSYS;
}

long kperf_read(struct kperf_event *event, uint64_t ubuf, uint64_t count)
{
	return -EBADF;
}

long kperf_ioctl(struct kperf_event *event, uint32_t cmd, uint64_t arg)
{
	return -EBADF;
}

unsigned kperf_poll(struct kperf_event *event)
{
	return 0;
}

long kperf_mmap(struct kperf_event *event, uint64_t size, uint64_t pgoff, unsigned prot,
		unsigned flags, void *const **pages, size_t *npages)
{
	return -ENODEV;
}

void kperf_munmap(struct kperf_event *event)
{
}

void kperf_release(struct kperf_event *event)
{
}

bool kperf_irq(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
	return false;
}

void kperf_sched_in(struct kperf *perf, struct hal *hal, struct ksys_task *next)
{
}

void kperf_sched_out(struct kperf *perf, struct hal *hal, struct ksys_task *prev)
{
}

void kperf_tick(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
}

void kperf_sw_event(struct kperf *perf, struct hal *hal, enum kperf_sw sw, uint64_t nr,
		    const struct hal_regs *regs, uint64_t addr)
{
}

int kperf_fork(struct kperf *perf, struct ksys_task *parent, struct ksys_task *child,
	       uint64_t flags)
{
	return 0;
}

void kperf_exec(struct kperf *perf, struct ksys_task *task)
{
}

void kperf_task_exit(struct kperf *perf, struct ksys_task *task)
{
}

void kperf_task_free(struct kperf *perf, struct ksys_task *task)
{
}

int kperf_sysctl_check(struct kperf *perf, enum ksys_sysctl name)
{
	return 0;
}

void kperf_sysctl_changed(struct kperf *perf, enum ksys_sysctl name)
{
}

long kperf_prctl(struct kperf *perf, bool enable)
{
	return 0;
}

int kperf_event_counter(const struct kperf_event *event)
{
	return -ENOENT;
}
