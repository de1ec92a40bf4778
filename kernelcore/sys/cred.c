/* SPDX-License-Identifier: MIT */
/*
 * Users, groups and capabilities (Linux kernel/sys.c, kernel/capability.c,
 * security/commoncap.c). One user namespace; no supplementary groups, no securebits.
 */
#include "kernelcore/sys/cred.h"

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/nr.h"

enum {
	CAP_VERSION_3 = 0x20080522,
};

#define ALL_CAPS  ((UINT64_C(1) << KSYS_CAPS) - 1)
#define UNCHANGED UINT32_MAX

void cred_init(struct cred *cred)
{
	*cred = (struct cred){ .effective = ALL_CAPS, .permitted = ALL_CAPS, .dumpable = true };
}

void cred_exec(struct cred *cred)
{
	bool root = !cred->uid || !cred->euid;

	cred->permitted = root ? ALL_CAPS : 0;
	cred->effective = cred->euid ? 0 : cred->permitted;
	cred->suid = cred->fsuid = cred->euid;
	cred->sgid = cred->fsgid = cred->egid;
	cred->dumpable = cred->uid == cred->euid && cred->gid == cred->egid;
}

bool cred_capable(const struct cred *cred, unsigned cap)
{
	return cred->effective >> cap & 1;
}

bool cred_may_kill(const struct cred *cred, const struct cred *target)
{
	return cred->euid == target->suid || cred->euid == target->uid ||
	       cred->uid == target->suid || cred->uid == target->uid ||
	       cred_capable(cred, KSYS_CAP_KILL);
}

bool ksys_capable(struct ksys *sys, enum ksys_cap cap)
{
	return cred_capable(&ksys_current(sys)->cred, cap);
}

/* Linux __ptrace_may_access() with PTRACE_MODE_READ_REALCREDS. */
static bool may_trace(const struct ksys_task *task, const struct ksys_task *target)
{
	const struct cred *c = &task->cred, *t = &target->cred;

	if (task->group == target->group)
		return true;
	if (cred_capable(c, KSYS_CAP_SYS_PTRACE))
		return true;
	if (c->uid != t->euid || c->uid != t->suid || c->uid != t->uid ||
	    c->gid != t->egid || c->gid != t->sgid || c->gid != t->gid)
		return false;
	return t->dumpable && !(t->permitted & ~c->permitted);
}

bool ksys_may_attach(struct ksys *sys, const struct ksys_task *task)
{
	return ksys_capable(sys, KSYS_CAP_PERFMON) || ksys_capable(sys, KSYS_CAP_SYS_ADMIN) ||
	       may_trace(ksys_current(sys), task);
}

/* --- changes ------------------------------------------------------------------- */

/* Rights go with the last of the root ids (commoncap.c cap_emulate_setxuid()). */
static void fix_caps(struct cred *new, const struct cred *old)
{
	if ((!old->uid || !old->euid || !old->suid) && new->uid && new->euid && new->suid)
		new->permitted = new->effective = 0;
	if (!old->euid && new->euid)
		new->effective = 0;
	if (old->euid && !new->euid)
		new->effective = new->permitted;
}

static long commit(struct ksys *sys, struct cred *new)
{
	struct cred *cred = &ksys_current(sys)->cred;

	fix_caps(new, cred);
	/* commit_creds(): who was somebody else may hold secrets */
	if (new->euid != cred->euid || new->egid != cred->egid || new->fsuid != cred->fsuid ||
	    new->fsgid != cred->fsgid || new->permitted & ~cred->permitted)
		new->dumpable = false;
	*cred = *new;
	return 0;
}

static bool one_of(uint32_t id, uint32_t a, uint32_t b, uint32_t c)
{
	return id == a || id == b || id == c;
}

static long set_uid(struct ksys *sys, uint32_t uid)
{
	struct cred new = ksys_current(sys)->cred;

	if (uid == UNCHANGED)
		return -EINVAL;
	if (ksys_capable(sys, KSYS_CAP_SETUID))
		new.uid = new.suid = uid;
	else if (uid != new.uid && uid != new.suid)
		return -EPERM;
	new.euid = new.fsuid = uid;
	return commit(sys, &new);
}

static long set_gid(struct ksys *sys, uint32_t gid)
{
	struct cred new = ksys_current(sys)->cred;

	if (gid == UNCHANGED)
		return -EINVAL;
	if (ksys_capable(sys, KSYS_CAP_SETGID))
		new.gid = new.sgid = gid;
	else if (gid != new.gid && gid != new.sgid)
		return -EPERM;
	new.egid = new.fsgid = gid;
	return commit(sys, &new);
}

/* @id: real, effective, saved of either kind. */
static long set_res(const uint64_t *a, bool capable, uint32_t *const id[3])
{
	uint32_t old[3] = { *id[0], *id[1], *id[2] };

	for (unsigned i = 0; i < 3; i++)
		if ((uint32_t)a[i] != UNCHANGED && !capable &&
		    !one_of((uint32_t)a[i], old[0], old[1], old[2]))
			return -EPERM;
	for (unsigned i = 0; i < 3; i++)
		if ((uint32_t)a[i] != UNCHANGED)
			*id[i] = (uint32_t)a[i];
	return 0;
}

/* The saved id follows when the real one is set, or the effective one to another. */
static long set_re(const uint64_t *a, bool capable, uint32_t *const id[3])
{
	uint32_t real = (uint32_t)a[0], effective = (uint32_t)a[1], was = *id[0];

	if (real != UNCHANGED && !capable && real != *id[0] && real != *id[1])
		return -EPERM;
	if (effective != UNCHANGED && !capable && !one_of(effective, *id[0], *id[1], *id[2]))
		return -EPERM;
	if (real != UNCHANGED)
		*id[0] = real;
	if (effective != UNCHANGED)
		*id[1] = effective;
	if (real != UNCHANGED || (effective != UNCHANGED && effective != was))
		*id[2] = *id[1];
	return 0;
}

static long set_uids(struct ksys *sys, const uint64_t *a, bool three)
{
	struct cred new = ksys_current(sys)->cred;
	uint32_t *const id[3] = { &new.uid, &new.euid, &new.suid };
	bool capable = ksys_capable(sys, KSYS_CAP_SETUID);
	long rc = three ? set_res(a, capable, id) : set_re(a, capable, id);

	if (rc)
		return rc;
	new.fsuid = new.euid;
	return commit(sys, &new);
}

static long set_gids(struct ksys *sys, const uint64_t *a, bool three)
{
	struct cred new = ksys_current(sys)->cred;
	uint32_t *const id[3] = { &new.gid, &new.egid, &new.sgid };
	bool capable = ksys_capable(sys, KSYS_CAP_SETGID);
	long rc = three ? set_res(a, capable, id) : set_re(a, capable, id);

	if (rc)
		return rc;
	new.fsgid = new.egid;
	return commit(sys, &new);
}

static long get_three(struct ksys *sys, const uint64_t *a, const uint32_t id[3])
{
	for (unsigned i = 0; i < 3; i++)
		if (ksys_copy_to_user(sys, a[i], &id[i], sizeof(id[i])))
			return -EFAULT;
	return 0;
}

/* --- capabilities ---------------------------------------------------------------- */

struct cap_header {
	uint32_t version;
	int32_t pid;
};

struct cap_words {
	uint32_t effective, permitted, inheritable;
};

/* Version 3 and the caller only; another version is told the right one. */
static long cap_header(struct ksys *sys, uint64_t uheader)
{
	struct ksys_task *task = ksys_current(sys);
	struct cap_header h;
	uint32_t version = CAP_VERSION_3;

	if (ksys_copy_from_user(sys, &h, uheader, sizeof(h)))
		return -EFAULT;
	if (h.version != version) {
		if (ksys_copy_to_user(sys, uheader, &version, sizeof(version)))
			return -EFAULT;
		return -EINVAL;
	}
	if (h.pid < 0)
		return -EINVAL;
	return h.pid && h.pid != ksys_task_tid(task, task) ? -EPERM : 0;
}

static long sys_capget(struct ksys *sys, const uint64_t *a)
{
	const struct cred *cred = &ksys_current(sys)->cred;
	struct cap_words words[2];
	long rc = cap_header(sys, a[0]);

	if (!a[1] && (!rc || rc == -EINVAL))
		return 0; /* asks for the version alone */
	if (rc)
		return rc;
	for (unsigned i = 0; i < 2; i++) {
		words[i].effective = (uint32_t)(cred->effective >> 32 * i);
		words[i].permitted = (uint32_t)(cred->permitted >> 32 * i);
		words[i].inheritable = (uint32_t)(cred->inheritable >> 32 * i);
	}
	return ksys_copy_to_user(sys, a[1], words, sizeof(words));
}

static long sys_capset(struct ksys *sys, const uint64_t *a)
{
	struct cred new = ksys_current(sys)->cred;
	uint64_t permitted = new.permitted;
	struct cap_words w[2];
	long rc = cap_header(sys, a[0]);

	if (rc)
		return rc;
	if (ksys_copy_from_user(sys, w, a[1], sizeof(w)))
		return -EFAULT;
	new.effective = (w[0].effective | (uint64_t)w[1].effective << 32) & ALL_CAPS;
	new.permitted = (w[0].permitted | (uint64_t)w[1].permitted << 32) & ALL_CAPS;
	new.inheritable = (w[0].inheritable | (uint64_t)w[1].inheritable << 32) & ALL_CAPS;
	if (new.permitted & ~permitted || new.effective & ~new.permitted)
		return -EPERM;
	ksys_current(sys)->cred = new;
	return 0;
}

long cred_call(struct ksys *sys, uint64_t nr, const uint64_t a[6])
{
	const struct cred *cred = &ksys_current(sys)->cred;

	switch (nr) {
	case NR_GETUID:
		return cred->uid;
	case NR_GETEUID:
		return cred->euid;
	case NR_GETGID:
		return cred->gid;
	case NR_GETEGID:
		return cred->egid;
	case NR_SETUID:
		return set_uid(sys, (uint32_t)a[0]);
	case NR_SETGID:
		return set_gid(sys, (uint32_t)a[0]);
	case NR_SETREUID:
		return set_uids(sys, a, false);
	case NR_SETREGID:
		return set_gids(sys, a, false);
	case NR_SETRESUID:
		return set_uids(sys, a, true);
	case NR_SETRESGID:
		return set_gids(sys, a, true);
	case NR_GETRESUID:
		return get_three(sys, a, (uint32_t[]){ cred->uid, cred->euid, cred->suid });
	case NR_GETRESGID:
		return get_three(sys, a, (uint32_t[]){ cred->gid, cred->egid, cred->sgid });
	case NR_CAPGET:
		return sys_capget(sys, a);
	default:
		return sys_capset(sys, a);
	}
}
