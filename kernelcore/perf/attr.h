/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr: the copy from user memory and what can be said of it
 * without a task, a CPU or a group.
 */
#ifndef PMULAB_KERNELCORE_PERF_ATTR_H
#define PMULAB_KERNELCORE_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct kperf;
struct kperf_event;

/* As large as the largest profile's; the UAPI's struct may be older (no
 * config3) or newer. */
enum {
	PERF_ATTR_SIZE_MAX = 136
};
struct perf_attr {
	union {
		struct perf_event_attr a;
		uint8_t bytes[PERF_ATTR_SIZE_MAX];
	} u;
};

/* aux_start_paused (bit 0), aux_pause (1), aux_resume (2). */
uint32_t perf_attr_aux_action(const struct perf_attr *attr);

/* Linux perf_copy_attr(): -EFAULT, -E2BIG with the kernel's size stored back,
 * -EINVAL, -EACCES. */
int perf_attr_copy(struct kperf *perf, uint64_t uattr, struct perf_attr *attr);

/* What perf_event_open() checks before it looks at its other arguments:
 * -EACCES, -EINVAL. */
int perf_attr_check(struct kperf *perf, const struct perf_attr *attr);

/* May the caller see kernel, all CPUs; -EACCES. */
int perf_allow_kernel(struct kperf *perf);
int perf_allow_cpu(struct kperf *perf);
bool perf_perfmon_capable(struct kperf *perf);

/* Linux perf_init_event() for the one PMU that there is: fills event->hw or
 * gives -ENOENT, -EINVAL, -EOPNOTSUPP. */
int perf_attr_init_hw(struct kperf_event *event);

/* What Linux would do and this core does not yet: -EOPNOTSUPP. */
int perf_attr_not_built(const struct perf_attr *attr);

#endif
