/* SPDX-License-Identifier: MIT */
/* Resource limits: a thread group's own, copied by fork(2). */
#ifndef PMULAB_KERNELCORE_SYS_RLIMIT_H
#define PMULAB_KERNELCORE_SYS_RLIMIT_H

#include <stdint.h>

struct ksys;
struct ksys_task;
struct limits;

enum rlimit {
	RLIMIT_CPU,
	RLIMIT_FSIZE,
	RLIMIT_DATA,
	RLIMIT_STACK,
	RLIMIT_CORE,
	RLIMIT_RSS,
	RLIMIT_NPROC,
	RLIMIT_NOFILE,
	RLIMIT_MEMLOCK,
	RLIMIT_AS,
	RLIMIT_LOCKS,
	RLIMIT_SIGPENDING,
	RLIMIT_MSGQUEUE,
	RLIMIT_NICE,
	RLIMIT_RTPRIO,
	RLIMIT_RTTIME,
	RLIMITS,
};

#define RLIM_INFINITY UINT64_MAX

/* What the first program of the golden kernels has; NULL without memory. */
struct limits *limits_create(struct ksys *sys);
void limits_get(struct limits *limits);
struct limits *limits_copy(struct ksys *sys, const struct limits *limits);
void limits_put(struct ksys *sys, struct limits *limits);

/* The soft limit in the limit's own unit. */
uint64_t rlimit_cur(const struct ksys_task *task, enum rlimit which);

/* prlimit64, getrlimit, setrlimit by arm64's number. */
long rlimit_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

#endif
