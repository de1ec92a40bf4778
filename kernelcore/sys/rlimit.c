/* SPDX-License-Identifier: MIT */
/*
 * Resource limits (Linux kernel/sys.c do_prlimit()). RLIMIT_NOFILE and
 * RLIMIT_MEMLOCK bind; the others are kept and given back.
 */
#include "kernelcore/sys/rlimit.h"

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/nr.h"

enum {
	NR_OPEN = 1024 * 1024, /* fs.nr_open */
};

struct rlimit_pair {
	uint64_t cur, max;
};

struct limits {
	unsigned refs;
	struct rlimit_pair pair[RLIMITS];
};

/* asm-generic/resource.h; processes and signals are 512 MiB of RAM's. */
struct limits *limits_create(struct ksys *sys)
{
	static const uint64_t infinity = RLIM_INFINITY, threads = 1961;
	const struct rlimit_pair first[RLIMITS] = {
		[RLIMIT_CPU] = { infinity, infinity },
		[RLIMIT_FSIZE] = { infinity, infinity },
		[RLIMIT_DATA] = { infinity, infinity },
		[RLIMIT_STACK] = { 8 << 20, infinity },
		[RLIMIT_CORE] = { 0, infinity },
		[RLIMIT_RSS] = { infinity, infinity },
		[RLIMIT_NPROC] = { threads, threads },
		[RLIMIT_NOFILE] = { 1024, 4096 },
		[RLIMIT_MEMLOCK] = { 8 << 20, 8 << 20 },
		[RLIMIT_AS] = { infinity, infinity },
		[RLIMIT_LOCKS] = { infinity, infinity },
		[RLIMIT_SIGPENDING] = { threads, threads },
		[RLIMIT_MSGQUEUE] = { 819200, 819200 },
		[RLIMIT_RTTIME] = { infinity, infinity },
	};
	struct limits *limits = ksys_alloc(sys, sizeof(*limits));

	if (!limits)
		return NULL;
	limits->refs = 1;
	for (unsigned i = 0; i < RLIMITS; i++)
		limits->pair[i] = first[i];
	return limits;
}

void limits_get(struct limits *limits)
{
	limits->refs++;
}

struct limits *limits_copy(struct ksys *sys, const struct limits *limits)
{
	struct limits *copy = ksys_alloc(sys, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *limits;
	copy->refs = 1;
	return copy;
}

void limits_put(struct ksys *sys, struct limits *limits)
{
	if (limits && !--limits->refs)
		ksys_free(sys, limits);
}

uint64_t rlimit_cur(const struct ksys_task *task, enum rlimit which)
{
	return task->limits->pair[which].cur;
}

static long set_limit(struct ksys *sys, struct rlimit_pair *pair, unsigned which,
		      const struct rlimit_pair *new)
{
	if (new->cur > new->max)
		return -EINVAL;
	if (which == RLIMIT_NOFILE && new->max > NR_OPEN)
		return -EPERM;
	if (new->max > pair->max && !ksys_capable(sys, KSYS_CAP_SYS_RESOURCE))
		return -EPERM;
	*pair = *new;
	return 0;
}

/* In Linux's order: the new value is fetched before anything is looked at, the
 * old one goes out last. */
static long prlimit(struct ksys *sys, int32_t pid, uint32_t which, uint64_t unew, uint64_t uold)
{
	struct ksys_task *task = ksys_current(sys);
	struct rlimit_pair new, old;
	long rc = 0;

	if (unew && ksys_copy_from_user(sys, &new, unew, sizeof(new)))
		return -EFAULT;
	/* of the caller's own group only: others are a gap */
	if (pid && pid != ksys_task_tid(task, task) && pid != ksys_task_tgid(task, task))
		return -ESRCH;
	if (which >= RLIMITS)
		return -EINVAL;
	old = task->limits->pair[which];
	if (unew)
		rc = set_limit(sys, &task->limits->pair[which], which, &new);
	if (!rc && uold && ksys_copy_to_user(sys, uold, &old, sizeof(old)))
		return -EFAULT;
	return rc;
}

long rlimit_call(struct ksys *sys, uint64_t nr, const uint64_t args[6])
{
	struct rlimit_pair old;

	switch (nr) {
	case NR_PRLIMIT64:
		return prlimit(sys, (int32_t)args[0], (uint32_t)args[1], args[2], args[3]);
	case NR_GETRLIMIT: /* a NULL is a bad address here */
		if ((uint32_t)args[0] >= RLIMITS)
			return -EINVAL;
		old = ksys_current(sys)->limits->pair[(uint32_t)args[0]];
		return ksys_copy_to_user(sys, args[1], &old, sizeof(old));
	default:
		if (ksys_copy_from_user(sys, &old, args[1], sizeof(old)))
			return -EFAULT;
		if ((uint32_t)args[0] >= RLIMITS)
			return -EINVAL;
		return set_limit(sys, &ksys_current(sys)->limits->pair[(uint32_t)args[0]],
				 (uint32_t)args[0], &old);
	}
}

/* --- locked memory ------------------------------------------------------------ */

/* Whoever has it as his real uid; there while he has locks. */
struct user {
	struct user *next;
	uint32_t uid;
	unsigned locks;
	uint64_t pages;
};

static struct user *user_of(struct ksys *sys, uint32_t uid)
{
	struct user *user = sys->users;

	while (user && user->uid != uid)
		user = user->next;
	if (user)
		return user;
	user = ksys_alloc(sys, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	user->next = sys->users;
	sys->users = user;
	return user;
}

static void user_trim(struct ksys *sys, struct user *user)
{
	struct user **at = &sys->users;

	if (user->locks)
		return;
	while (*at != user)
		at = &(*at)->next;
	*at = user->next;
	ksys_free(sys, user);
}

/* In Linux perf_mmap()'s words: the limit may have been lowered below what the user
 * has already. */
int ksys_lock_pages(struct ksys *sys, uint64_t pages, uint64_t user_limit, bool enforce,
		    struct ksys_lock *lock)
{
	struct ksys_task *task = ksys_current(sys);
	struct user *user = user_of(sys, task->cred.uid);
	uint64_t has;

	if (!user)
		return -ENOMEM;
	has = user->pages < user_limit ? user->pages : user_limit;
	*lock = (struct ksys_lock){ .user = user, .user_pages = pages };
	if (has + pages > user_limit) {
		lock->pinned = has + pages - user_limit;
		lock->user_pages -= lock->pinned;
	}
	if (enforce && task->mm->pinned + lock->pinned >
			       rlimit_cur(task, RLIMIT_MEMLOCK) >> PAGE_SHIFT) {
		user_trim(sys, user);
		return -EPERM;
	}
	user->locks++;
	user->pages += lock->user_pages;
	task->mm->pinned += lock->pinned;
	return 0;
}

void ksys_unlock_pages(struct ksys *sys, struct ksys_lock *lock)
{
	struct mm *mm = sys->unmapping ? sys->unmapping : ksys_current(sys)->mm;
	struct user *user = lock->user;

	user->locks--;
	user->pages -= lock->user_pages;
	mm->pinned -= lock->pinned;
	user_trim(sys, user);
}
