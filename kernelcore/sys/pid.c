/* SPDX-License-Identifier: MIT */
/* Task numbers and their namespaces. */
#include "kernelcore/sys/internal.h"

enum { PID_RESERVED = 300 }; /* below it no number is given out twice */

struct pid_ns *pid_ns_create(struct ksys *sys, struct pid_ns *parent)
{
	struct pid_ns *ns;

	if (parent && parent->level + 1 >= PID_LEVELS)
		return NULL;
	ns = ksys_alloc(sys, sizeof(*ns));
	if (!ns)
		return NULL;
	ns->refs = 1;
	ns->parent = parent;
	ns->level = parent ? parent->level + 1 : 0;
	if (parent)
		pid_ns_get(parent);
	return ns;
}

void pid_ns_get(struct pid_ns *ns)
{
	ns->refs++;
}

void pid_ns_put(struct ksys *sys, struct pid_ns *ns)
{
	while (ns && !--ns->refs) {
		struct pid_ns *parent = ns->parent;

		ksys_free(sys, ns);
		ns = parent;
	}
}

/* Is @ns @above, or a namespace in it? */
static bool within(const struct pid_ns *ns, const struct pid_ns *above)
{
	while (ns && ns->level > above->level)
		ns = ns->parent;
	return ns == above;
}

int32_t pid_in(const struct ksys_task *task, const struct pid_ns *ns)
{
	return within(task->ns, ns) ? task->nr[ns->level] : 0;
}

static struct ksys_task **bucket(struct ksys *sys, int32_t nr)
{
	return &sys->by_pid[(uint32_t)nr % PID_BUCKETS];
}

struct ksys_task *pid_find(struct ksys *sys, const struct pid_ns *ns, int32_t nr)
{
	struct ksys_task *task;

	if (nr <= 0)
		return NULL;
	if (!ns->level) {
		for (task = *bucket(sys, nr); task; task = task->hash_next)
			if (task->nr[0] == nr)
				return task;
		return NULL;
	}
	for (task = sys->tasks; task; task = task->all_next)
		if (!task->released && pid_in(task, ns) == nr)
			return task;
	return NULL;
}

/* The next free one in turn, as Linux's alloc_pid(). */
static int32_t next_number(struct ksys *sys, struct pid_ns *ns)
{
	int32_t nr = ns->last;

	for (int tries = 0; tries < PID_MAX; tries++) {
		if (++nr >= PID_MAX)
			nr = PID_RESERVED;
		if (!pid_find(sys, ns, nr)) {
			ns->last = nr;
			return nr;
		}
	}
	return 0;
}

int pid_assign(struct ksys *sys, struct ksys_task *task, struct pid_ns *ns)
{
	struct ksys_task **head;

	if (ns->dead)
		return -ENOMEM;
	for (struct pid_ns *at = ns; at; at = at->parent) {
		task->nr[at->level] = next_number(sys, at);
		if (!task->nr[at->level])
			return -EAGAIN;
	}
	pid_ns_get(ns);
	task->ns = ns;
	pid_ns_get(ns);
	task->ns_children = ns;
	head = bucket(sys, task->nr[0]);
	task->hash_next = *head;
	*head = task;
	task->all_next = sys->tasks;
	sys->tasks = task;
	return 0;
}

void pid_release(struct ksys *sys, struct ksys_task *task)
{
	struct ksys_task **at = bucket(sys, task->nr[0]);

	if (!task->ns || task->released)
		return;
	task->released = true;
	while (*at != task)
		at = &(*at)->hash_next;
	*at = task->hash_next;
	for (at = &sys->tasks; *at != task;)
		at = &(*at)->all_next;
	*at = task->all_next;
}

static void rehash(struct ksys *sys, struct ksys_task *task, bool in)
{
	struct ksys_task **at = bucket(sys, task->nr[0]);

	if (in) {
		task->hash_next = *at;
		*at = task;
		return;
	}
	while (*at != task)
		at = &(*at)->hash_next;
	*at = task->hash_next;
}

void pid_exchange(struct ksys *sys, struct ksys_task *a, struct ksys_task *b)
{
	rehash(sys, a, false);
	rehash(sys, b, false);
	for (unsigned i = 0; i < PID_LEVELS; i++) {
		int32_t nr = a->nr[i];

		a->nr[i] = b->nr[i];
		b->nr[i] = nr;
	}
	rehash(sys, a, true);
	rehash(sys, b, true);
}

struct ksys_task *ksys_find_task(struct ksys *sys, int32_t pid)
{
	struct ksys_task *current = ksys_current(sys);
	struct ksys_task *task = pid ? pid_find(sys, current->ns, pid) : current;

	if (task)
		ksys_task_get(task);
	return task;
}

int32_t ksys_task_tgid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return task->released ? -1 : pid_in(task->group->leader, observer->ns);
}

int32_t ksys_task_tid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return task->released ? -1 : pid_in(task, observer->ns);
}
