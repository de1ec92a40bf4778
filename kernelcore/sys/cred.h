/* SPDX-License-Identifier: MIT */
/* Who a task is, and what it may: each task's own, copied by clone(2). */
#ifndef PMULAB_KERNELCORE_SYS_CRED_H
#define PMULAB_KERNELCORE_SYS_CRED_H

#include <stdbool.h>
#include <stdint.h>

struct ksys;
struct ksys_task;

struct cred {
	uint32_t uid, euid, suid, fsuid;
	uint32_t gid, egid, sgid, fsgid;
	uint64_t effective, permitted, inheritable;
	bool dumpable; /* nobody's rights have changed since exec */
};

/* The first program's: root with all rights. */
void cred_init(struct cred *cred);
/* execve(2) of a file without set-id bits and rights of its own. */
void cred_exec(struct cred *cred);
/* Linux capable(), by Linux's number. */
bool cred_capable(const struct cred *cred, unsigned cap);
/* Linux kill_ok_by_cred(). */
bool cred_may_kill(const struct cred *cred, const struct cred *target);

/* getuid, setuid, setresuid ..., capget, capset by arm64's number. */
long cred_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

#endif
