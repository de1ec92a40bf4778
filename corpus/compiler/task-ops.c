/* SPDX-License-Identifier: MIT */
/* Operations and data of the verbs that tasks.c parses. */
#include <stdio.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/parse.h"

/* include/uapi/asm-generic/unistd.h */
enum {
	NR_EVENTFD2 = 19,
	NR_FCNTL = 25,
	NR_OPENAT = 56,
	NR_CLOSE = 57,
	NR_READ = 63,
	NR_WRITE = 64,
	NR_EXIT = 93,
	NR_EXIT_GROUP = 94,
	NR_UNSHARE = 97,
	NR_FUTEX = 98,
	NR_CLOCK_NANOSLEEP = 115,
	NR_SCHED_SETAFFINITY = 122,
	NR_SCHED_YIELD = 124,
	NR_RT_SIGPROCMASK = 135,
	NR_RT_SIGTIMEDWAIT = 137,
	NR_SETUID = 146,
	NR_PRCTL = 167,
	NR_GETTID = 178,
	NR_MMAP = 222,
	NR_WAIT4 = 260,
	NR_PRLIMIT64 = 261
};

enum {
	SIGCHLD = 17,
	EFD_SEMAPHORE = 1,
	CLOCK_MONOTONIC = 1,
	O_WRONLY = 1,
	O_RDWR = 2,
	PR_SET_NAME = 15,
	F_SETFL = 4,
	F_SETOWN = 8,
	F_SETOWN_EX = 15,
	MAP_SHARED = 1,
	MAP_PRIVATE = 2,
	MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20,
	PAGE_SIZE = 4096
};

/* CLONE_VM|FS|FILES|SIGHAND|THREAD|SYSVSEM|PARENT_SETTID|CHILD_CLEARTID */
#define THREAD_FLAGS 0x00350f00u
#define CLONE_NEWPID 0x20000000u
#define AT_FDCWD ((uint64_t)-100)

/* Of a signal's: the set, a time of 0, the siginfo. */
enum {
	SIGNAL_TIME = 8,
	SIGNAL_INFO = SIGNAL_TIME + 16,
	SIGNAL_SIZE = SIGNAL_INFO + SCN_SIGINFO_SIZE
};

/* Of an exec's buffer: resume block, argv, envp, the strings. */
enum {
	EXEC_ARGV = AGENT_RESUME_SIZE,
	EXEC_ENVP = EXEC_ARGV + 24,
	EXEC_PATH = EXEC_ENVP + 8,
	EXEC_NAME = EXEC_PATH + 8,
	EXEC_LETTERS = EXEC_NAME + 8,
	EXEC_SIZE = EXEC_LETTERS + 16
};

/* Long enough for a thread to get through the end of do_exit(): CLEARTID comes
 * with exit_mm(), the perf events' part behind it. */
#define EXIT_NS 1000000u
/* Long enough for a task to get from a write to its next read. */
#define SETTLE_NS 100000u

enum {
	PATH_ROOM = 96,
	VALUE_ROOM = 32,
	FIRST_LOG = 0x4000
};

static uint8_t task_slot(int task)
{
	return (uint8_t)(SCN_TASK_SLOTS + task);
}

static uint8_t pass_slot(const struct scn_step *step)
{
	return (uint8_t)(SCN_PASS_SLOT + step->task);
}

static unsigned post_index(const struct scn *scn, int from, int to)
{
	unsigned i = 0;

	while (i < scn->nposts && (scn->posts[i].from != from || scn->posts[i].to != to))
		i++;
	return i;
}

/* One write or read of an eventfd; @step's buffer holds 1 and room for 8 bytes. */
static struct scn_op post_op(const struct scn *scn, const struct scn_step *step,
			     bool post, int from, int to)
{
	struct scn_op op = scn_syscall_op(post ? NR_WRITE : NR_READ);

	op.which = post_index(scn, from, to);
	op.slot[0] = (uint8_t)(SCN_POST_SLOTS + op.which);
	op.args[1] = step->buf + (post ? 0 : 8);
	op.args[2] = 8;
	op.effect = post ? SCN_OP_POST : SCN_OP_PEND;
	return op;
}

/*
 * Takes one, then a pause: whoever has given it may have been preempted on the
 * spot, and shall be asleep himself, if that is what he is about to do, before
 * this task goes on. Which kernel preempts when is nothing to measure.
 */
static unsigned pend_ops(const struct scn *scn, const struct scn_step *step, int from,
			 int to, struct scn_op *ops)
{
	ops[0] = post_op(scn, step, false, from, to);
	ops[1] = scn_syscall_op(NR_CLOCK_NANOSLEEP);
	ops[1].args[0] = CLOCK_MONOTONIC;
	ops[1].args[2] = step->buf + 16;
	ops[1].effect = SCN_OP_SETTLE;
	return 2;
}

static struct scn_op clone_op(const struct scn *scn, int index)
{
	const struct scn_task *task = &scn->tasks[index];
	struct scn_op op = scn_memory_op(AGENT_CLONE, SIGCHLD, 0);

	if (task->kind == SCN_TASK_THREAD) {
		op.args[0] = THREAD_FLAGS;
		op.args[1] = AGENT_STACKS + (uint64_t)AGENT_STACK_SIZE * (unsigned)index +
			     AGENT_STACK_SIZE;
		op.args[2] = op.args[4] = task->tid_addr;
	}
	op.args[3] =
		AGENT_BASE + AGENT_HDR_OPS + (uint64_t)AGENT_OP_SIZE * task->first_op;
	op.args[5] = task->log;
	op.dst = task_slot(index);
	op.effect = SCN_OP_CLONE;
	op.which = (unsigned)index;
	return op;
}

/* What a process with new page tables is going to write, made writable. */
static unsigned dirty_ops(const struct scn *scn, int task, struct scn_op *ops)
{
	ops[0] = scn_memory_op(AGENT_DIRTY, AGENT_BASE,
			       scn->data + scn->data_size - AGENT_BASE);
	ops[1] = scn_memory_op(AGENT_DIRTY, AGENT_RESULTS, 8ull * scn->nops);
	ops[2] = scn_memory_op(AGENT_DIRTY, AGENT_VALUES, AGENT_VALUES_SIZE);
	ops[3] = scn_memory_op(AGENT_DIRTY, scn->tasks[task].log, FIRST_LOG);
	return 4;
}

static unsigned exec_ops(const struct scn *scn, const struct scn_step *step,
			 struct scn_op *ops)
{
	ops[0] = scn_memory_op(AGENT_EXEC, step->buf + EXEC_PATH, step->buf + EXEC_ARGV);
	ops[0].args[2] = step->buf + EXEC_ENVP;
	ops[0].args[3] = step->buf;
	ops[0].effect = SCN_OP_EXEC;
	return 1 + dirty_ops(scn, step->task, ops + 1);
}

/* A thread leaves its tid's word; behind that a pause, whether needed or not, so
 * that the number of instructions is always the same. */
static unsigned wait_ops(const struct scn *scn, int index, uint64_t buf,
			 struct scn_op *ops)
{
	const struct scn_task *task = &scn->tasks[index];
	bool thread = task->kind == SCN_TASK_THREAD;

	ops[0] = scn_syscall_op(thread ? NR_FUTEX : NR_WAIT4);
	ops[0].effect = SCN_OP_WAIT;
	ops[0].which = (unsigned)index;
	if (!thread) {
		ops[0].slot[0] = task_slot(index);
		ops[0].args[1] = buf;
		return 1;
	}
	ops[0].args[0] = task->tid_addr;
	ops[0].slot[2] = task_slot(index);
	ops[1] = scn_syscall_op(NR_CLOCK_NANOSLEEP);
	ops[1].args[0] = CLOCK_MONOTONIC;
	ops[1].args[2] = buf;
	return 2;
}

static struct scn_op exit_op(const struct scn_task *task, uint64_t status)
{
	bool thread = task->kind == SCN_TASK_THREAD;
	struct scn_op op = scn_syscall_op(thread ? NR_EXIT : NR_EXIT_GROUP);

	op.args[0] = status;
	op.effect = SCN_OP_EXIT;
	op.which = !thread;
	return op;
}

static unsigned sysctl_ops(const struct scn_step *step, struct scn_op *ops,
			   unsigned *visible)
{
	ops[0] = scn_syscall_op(NR_OPENAT);
	ops[0].args[0] = AT_FDCWD;
	ops[0].args[1] = step->buf;
	ops[0].args[2] = O_WRONLY;
	ops[0].dst = pass_slot(step);
	ops[1] = scn_syscall_op(NR_WRITE);
	ops[1].slot[0] = pass_slot(step);
	ops[1].args[1] = step->buf + PATH_ROOM;
	ops[1].args[2] = strlen(step->text2);
	ops[2] = scn_syscall_op(NR_CLOSE);
	ops[2].slot[0] = pass_slot(step);
	*visible = 1;
	return 3;
}

static unsigned map_ops(const struct scn_step *step, struct scn_op *ops,
			unsigned *visible)
{
	bool anon = !strcmp(step->text, "anon");
	struct scn_op *map = &ops[anon ? 0 : 1];

	*map = scn_syscall_op(NR_MMAP);
	map->args[0] = AGENT_MAP((uint64_t)step->map);
	map->args[1] = step->pages * PAGE_SIZE;
	map->args[2] = step->prot;
	map->args[3] = (unsigned)MAP_FIXED | (step->shared ? MAP_SHARED : MAP_PRIVATE) |
		       (anon ? MAP_ANONYMOUS : 0u);
	map->args[5] = step->offset;
	if (anon) {
		map->args[4] = (uint64_t)-1;
		return 1;
	}
	map->slot[4] = pass_slot(step);
	ops[0] = scn_syscall_op(NR_OPENAT);
	ops[0].args[0] = AT_FDCWD;
	ops[0].args[1] = step->buf;
	ops[0].args[2] = step->shared && (step->prot & 2) ? O_RDWR : 0;
	ops[0].dst = pass_slot(step);
	ops[2] = scn_syscall_op(NR_CLOSE);
	ops[2].slot[0] = pass_slot(step);
	*visible = 1;
	return 3;
}

static unsigned fcntl_ops(const struct scn *scn, const struct scn_step *step,
			  struct scn_op *ops, unsigned *visible)
{
	struct scn_op *op = &ops[step->cmd == F_SETOWN_EX || step->cmd == F_SETFL];

	*op = scn_syscall_op(NR_FCNTL);
	op->slot[0] = scn->events[step->event].fd_slot;
	op->args[1] = step->cmd;
	op->args[2] = step->arg;
	if (step->cmd == F_SETOWN)
		op->slot[2] = task_slot(step->peer);
	*visible = (unsigned)(op - ops);
	if (step->cmd == F_SETOWN_EX) {
		/* struct f_owner_ex: F_OWNER_TID is 0, the id behind it. */
		op->args[2] = step->buf;
		ops[0] = scn_memory_op(AGENT_POKE, step->buf + 4, 0);
		ops[0].slot[1] = task_slot(step->peer);
	} else if (step->cmd == F_SETFL) {
		/* Nobody dies of a signal that no one expects: block them all. */
		ops[0] = scn_syscall_op(NR_RT_SIGPROCMASK);
		ops[0].args[1] = step->buf;
		ops[0].args[3] = 8;
	}
	return *visible + 1;
}

/* Verbs of one system call with up to three arguments. */
static bool simple_op(const struct scn_step *step, struct scn_op *op)
{
	switch (step->verb) {
	case SCN_YIELD:
		*op = scn_syscall_op(NR_SCHED_YIELD);
		return true;
	case SCN_SLEEP:
		*op = scn_syscall_op(NR_CLOCK_NANOSLEEP);
		op->args[0] = CLOCK_MONOTONIC;
		op->args[2] = step->buf;
		return true;
	case SCN_AFFINITY:
		*op = scn_syscall_op(NR_SCHED_SETAFFINITY);
		op->args[1] = 8;
		op->args[2] = step->buf;
		return true;
	case SCN_SIGNAL: /* the first pending one, if any */
		*op = scn_syscall_op(NR_RT_SIGTIMEDWAIT);
		op->args[0] = step->buf;
		op->args[1] = step->buf + SIGNAL_INFO;
		op->args[2] = step->buf + SIGNAL_TIME;
		op->args[3] = 8; /* sizeof(sigset_t) */
		return true;
	case SCN_TOUCH:
		*op = scn_memory_op(step->write ? AGENT_DIRTY : AGENT_TOUCH, step->value,
				    step->n);
		return true;
	case SCN_PRCTL:
		*op = scn_syscall_op(NR_PRCTL);
		op->args[0] = step->cmd;
		op->args[1] = step->buf;
		return true;
	case SCN_UNSHARE:
		*op = scn_syscall_op(NR_UNSHARE);
		op->args[0] = CLONE_NEWPID;
		return true;
	case SCN_SETUID:
		*op = scn_syscall_op(NR_SETUID);
		op->args[0] = step->value;
		return true;
	case SCN_RLIMIT:
		*op = scn_syscall_op(NR_PRLIMIT64);
		op->args[1] = step->cmd;
		op->args[2] = step->buf;
		return true;
	default:
		return false;
	}
}

unsigned scn_task_ops(const struct scn *scn, const struct scn_step *step,
		      struct scn_op ops[SCN_STEP_OPS], unsigned *visible)
{
	if (simple_op(step, ops))
		return 1;
	switch (step->verb) {
	case SCN_THREAD:
	case SCN_FORK:
		ops[0] = clone_op(scn, step->peer);
		return 1;
	case SCN_EXEC:
		return exec_ops(scn, step, ops);
	case SCN_WAIT:
		return wait_ops(scn, step->peer, step->buf, ops);
	case SCN_EXIT:
		ops[0] = exit_op(&scn->tasks[step->task], step->value);
		return 1;
	case SCN_SWITCH:
		ops[0] = post_op(scn, step, true, -1, step->peer);
		*visible = 1;
		return 1 + pend_ops(scn, step, -1, step->task, ops + 1);
	case SCN_WAKE:
		ops[0] = post_op(scn, step, true, -1, step->peer);
		return 1;
	case SCN_PAUSE:
		return pend_ops(scn, step, -1, step->task, ops);
	case SCN_SYNC:
		ops[0] = post_op(scn, step, true, step->task, step->peer);
		*visible = 1;
		return 1 + pend_ops(scn, step, step->peer, step->task, ops + 1);
	case SCN_MAP:
		return map_ops(step, ops, visible);
	case SCN_SYSCTL:
		return sysctl_ops(step, ops, visible);
	case SCN_FCNTL:
		return fcntl_ops(scn, step, ops, visible);
	case SCN_RDPMC:
		ops[0] = scn_mapping_op(scn, step, AGENT_RDPMC, 0, 0);
		return 1;
	default:
		return 0;
	}
}

/* ---- edges */

static unsigned main_prologue(const struct scn *scn, struct scn_op *ops)
{
	unsigned n = 0;

	for (unsigned i = 0; i < scn->nposts; i++) {
		ops[n] = scn_syscall_op(NR_EVENTFD2);
		ops[n].args[1] = EFD_SEMAPHORE;
		ops[n++].dst = (uint8_t)(SCN_POST_SLOTS + i);
	}
	return n;
}

unsigned scn_task_prologue(const struct scn *scn, unsigned task, struct scn_op *ops)
{
	unsigned n = 1;

	if (!task)
		return main_prologue(scn, ops);
	ops[0] = scn_syscall_op(NR_GETTID);
	if (scn->tasks[task].kind == SCN_TASK_FORK)
		n += dirty_ops(scn, (int)task, ops + 1);
	return n;
}

/* A process waits for what it made and the text does not wait for; then it goes. */
unsigned scn_task_epilogue(const struct scn *scn, unsigned task, struct scn_op *ops)
{
	unsigned n = 0;

	for (unsigned i = 1; i < scn->ntasks; i++) {
		const struct scn_task *other = &scn->tasks[i];

		if (!other->waited && other->parent >= 0 && i != task &&
		    scn->tasks[task].kind != SCN_TASK_THREAD &&
		    scn->tasks[other->parent].process == (int)task)
			n += wait_ops(scn, (int)i,
				      scn->pause_addr +
					      (other->kind == SCN_TASK_THREAD ? 0 : 16),
				      ops + n);
	}
	if (task)
		ops[n++] = exit_op(&scn->tasks[task], 0);
	return n;
}

/* ---- data */

uint64_t scn_task_buffer(const struct scn_step *step)
{
	switch (step->verb) {
	case SCN_EXEC:
		return EXEC_SIZE;
	case SCN_SWITCH:
	case SCN_WAKE:
	case SCN_PAUSE:
	case SCN_SYNC:
		return 32;
	case SCN_WAIT:
	case SCN_SLEEP:
	case SCN_RLIMIT:
		return 16;
	case SCN_AFFINITY:
		return 8;
	case SCN_SIGNAL:
		return SIGNAL_SIZE;
	case SCN_PRCTL:
		return step->text ? strlen(step->text) + 1 : 0;
	case SCN_MAP:
		return strcmp(step->text, "anon") ? strlen(step->text) + 1 : 0;
	case SCN_SYSCTL:
		return PATH_ROOM + VALUE_ROOM;
	case SCN_FCNTL:
		return step->cmd == F_SETOWN_EX ? 16 : step->cmd == F_SETFL ? 8 : 0;
	default:
		return 0;
	}
}

static void fill_exec(const struct scn_step *step, uint8_t *buf)
{
	uint64_t op =
		AGENT_BASE + AGENT_HDR_OPS + (uint64_t)AGENT_OP_SIZE * (unsigned)step->op;

	scn_put(buf + AGENT_RESUME_OP, op, 8);
	scn_put(buf + EXEC_ARGV, step->buf + EXEC_NAME, 8);
	scn_put(buf + EXEC_ARGV + 8, step->buf + EXEC_LETTERS, 8);
	memcpy(buf + EXEC_PATH, "/agent", 7);
	memcpy(buf + EXEC_NAME, "agent", 6);
	for (unsigned i = 0; i < 8; i++)
		buf[EXEC_LETTERS + i] = (uint8_t)('a' + (step->buf >> (28 - 4 * i) & 15));
}

static void fill_time(uint8_t *buf, uint64_t ns)
{
	scn_put(buf, ns / 1000000000, 8);
	scn_put(buf + 8, ns % 1000000000, 8);
}

void scn_task_fill(const struct scn *scn, const struct scn_step *step, uint8_t *buf)
{
	switch (step->verb) {
	case SCN_EXEC:
		fill_exec(step, buf);
		break;
	case SCN_WAIT:
		if (scn->tasks[step->peer].kind == SCN_TASK_THREAD)
			fill_time(buf, EXIT_NS);
		break;
	case SCN_SWITCH:
	case SCN_WAKE:
	case SCN_PAUSE:
	case SCN_SYNC:
		scn_put(buf, 1, 8);
		fill_time(buf + 16, SETTLE_NS);
		break;
	case SCN_SLEEP:
		fill_time(buf, step->value);
		break;
	case SCN_RLIMIT:
		scn_put(buf, step->value, 8);
		scn_put(buf + 8, step->value, 8);
		break;
	case SCN_AFFINITY:
		scn_put(buf, 1ull << step->value, 8);
		break;
	case SCN_PRCTL:
	case SCN_MAP:
		if (step->text)
			memcpy(buf, step->text, strlen(step->text));
		break;
	case SCN_SYSCTL:
		snprintf((char *)buf, PATH_ROOM, "/proc/sys/kernel/%s", step->text);
		memcpy(buf + PATH_ROOM, step->text2, strlen(step->text2));
		break;
	case SCN_SIGNAL:
		memset(buf, 0xff, SIGNAL_TIME);
		break;
	case SCN_FCNTL:
		if (step->cmd == F_SETFL)
			memset(buf, 0xff, 8);
		break;
	default:
		break;
	}
}
