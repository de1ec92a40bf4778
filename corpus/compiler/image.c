/* SPDX-License-Identifier: MIT */
/*
 * Steps to the agent's image. Hidden operations stand around a step's own one:
 * getpid before everything (so that traces can say `self`), ioctl(ID) behind
 * each open (so that they can name events), TOUCH behind each mmap (so that no
 * page fault falls into a measured window), POKE before each poll (the fd's
 * number is known to the agent only).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/parse.h"

/* include/uapi/asm-generic/unistd.h */
enum {
	NR_IOCTL = 29,
	NR_CLOSE = 57,
	NR_READ = 63,
	NR_PPOLL = 73,
	NR_GETPID = 172,
	NR_MUNMAP = 215,
	NR_MMAP = 222,
	NR_PERF_EVENT_OPEN = 241
};

enum {
	PAGE_SIZE = 4096,
	PAGE_FIELDS = 1088,
	CALL_BUFFER = 256,
	POLLIN = 1,
	MAP_SHARED_FIXED = 0x11
};

#define IOC_PERIOD 0x40082404u
#define IOC_ID 0x80082407u
#define IOC_SET_OUTPUT 0x2405u
#define IOC_MODIFY_ATTRIBUTES 0x4008240bu
#define NO_ADDRESS ((uint64_t)-EFAULT)

struct scn_op scn_syscall_op(unsigned nr)
{
	return (struct scn_op){
		.kind = AGENT_SYSCALL,
		.nr = (uint16_t)nr,
		.dst = AGENT_SLOT_NONE,
	};
}

struct scn_op scn_memory_op(unsigned kind, uint64_t address, uint64_t arg)
{
	return (struct scn_op){
		.kind = (uint16_t)kind,
		.args = {address, arg},
		.dst = AGENT_SLOT_NONE,
	};
}

/* An operation on the event's mapping, wherever mmap said that it is. */
struct scn_op scn_mapping_op(const struct scn *scn, const struct scn_step *step,
			     unsigned kind, uint64_t offset, uint64_t arg)
{
	struct scn_op op = scn_memory_op(kind, NO_ADDRESS, arg);

	if (step->mapped) {
		op.args[0] = offset;
		op.slot[0] = scn->events[step->event].map_slot;
	}
	return op;
}

static unsigned open_ops(const struct scn *scn, const struct scn_step *step,
			 struct scn_op *ops)
{
	const struct scn_event *event = &scn->events[step->event];

	ops[0] = scn_syscall_op(NR_PERF_EVENT_OPEN);
	ops[0].args[0] = event->attr_addr;
	if (step->peer >= 0)
		ops[0].slot[1] = (uint8_t)(SCN_TASK_SLOTS + step->peer);
	else
		ops[0].args[1] = (uint64_t)(int64_t)step->pid;
	ops[0].args[2] = (uint64_t)(int64_t)step->cpu;
	if (step->other >= 0)
		ops[0].slot[3] = scn->events[step->other].fd_slot;
	else
		ops[0].args[3] = (uint64_t)-1;
	ops[0].args[4] = step->flags;
	ops[0].dst = event->fd_slot;
	ops[1] = scn_syscall_op(NR_IOCTL);
	ops[1].slot[0] = event->fd_slot;
	ops[1].args[1] = IOC_ID;
	ops[1].args[2] = step->id_addr;
	return 2;
}

static unsigned mmap_ops(const struct scn *scn, const struct scn_step *step,
			 struct scn_op *ops)
{
	const struct scn_event *event = &scn->events[step->event];
	uint64_t bytes = (1 + step->pages) * PAGE_SIZE;

	ops[0] = scn_syscall_op(NR_MMAP);
	ops[0].args[0] = AGENT_RING((uint64_t)step->event);
	ops[0].args[1] = bytes;
	ops[0].args[2] = step->prot;
	ops[0].args[3] = MAP_SHARED_FIXED;
	ops[0].slot[4] = event->fd_slot;
	ops[0].args[5] = step->offset;
	ops[0].dst = event->map_slot;
	ops[1] = scn_memory_op(AGENT_TOUCH, 0, bytes);
	ops[1].slot[0] = event->map_slot;
	return 2;
}

static unsigned munmap_ops(const struct scn *scn, const struct scn_step *step,
			   struct scn_op *ops)
{
	ops[0] = scn_syscall_op(NR_MUNMAP);
	if (step->mapped)
		ops[0].slot[0] = scn->events[step->event].map_slot;
	else
		ops[0].args[0] = AGENT_RING((uint64_t)step->event);
	ops[0].args[1] = (1 + step->pages) * PAGE_SIZE;
	return 1;
}

static unsigned ioctl_ops(const struct scn *scn, const struct scn_step *step,
			  struct scn_op *ops)
{
	ops[0] = scn_syscall_op(NR_IOCTL);
	ops[0].slot[0] = scn->events[step->event].fd_slot;
	ops[0].args[1] = step->cmd;
	if (step->cmd == IOC_MODIFY_ATTRIBUTES && step->other >= 0)
		ops[0].args[2] = scn->events[step->other].attr_addr;
	else if (step->cmd == IOC_SET_OUTPUT && step->other >= 0)
		ops[0].slot[2] = scn->events[step->other].fd_slot;
	else
		ops[0].args[2] = step->buf ? step->buf : step->arg;
	return 1;
}

/* pollfd at buf, timespec behind it. */
static unsigned poll_ops(const struct scn *scn, const struct scn_step *step,
			 struct scn_op *ops, unsigned *visible)
{
	ops[0] = scn_memory_op(AGENT_POKE, step->buf, (uint64_t)POLLIN << 32);
	ops[0].slot[1] = scn->events[step->event].fd_slot;
	ops[1] = scn_syscall_op(NR_PPOLL);
	ops[1].args[0] = step->buf;
	ops[1].args[1] = 1;
	ops[1].args[2] = step->timeout_ms < 0 ? 0 : step->buf + 8;
	ops[1].args[4] = 8; /* sizeof(sigset_t), with no set */
	*visible = 1;
	return 2;
}

static unsigned call_ops(const struct scn *scn, const struct scn_step *step,
			 struct scn_op *ops)
{
	ops[0] = scn_syscall_op(step->nr);
	ops[0].slot[0] = scn->events[step->event].fd_slot;
	for (unsigned i = 0; i < 5; i++)
		ops[0].args[1 + i] = step->in_buf >> i & 1 ? step->buf : step->args[i];
	return 1;
}

static unsigned lab_ops(const struct scn *scn, const struct scn_step *step,
			struct scn_op *ops)
{
	static const uint8_t calls[] = {
		[SCN_INJECT - SCN_INJECT] = AGENT_LAB_INJECT,
		[SCN_MASK - SCN_INJECT] = AGENT_LAB_MASK,
		[SCN_UNMASK - SCN_INJECT] = AGENT_LAB_UNMASK,
		[SCN_AT_HAL - SCN_INJECT] = AGENT_LAB_AT_HAL,
		[SCN_AT_OVERFLOW - SCN_INJECT] = AGENT_LAB_AT_OVF,
	};

	ops[0] = scn_syscall_op(AGENT_LAB_BASE + calls[step->verb - SCN_INJECT]);
	if (step->verb == SCN_MASK || step->verb == SCN_UNMASK)
		return 1;
	if (step->counter >= 0) {
		ops[0].args[0] = (uint64_t)-1;
		ops[0].args[1] = (uint64_t)step->counter;
	} else {
		ops[0].slot[0] = scn->events[step->other].fd_slot;
	}
	ops[0].args[2] = step->n;
	ops[0].args[3] = step->el;
	if (step->verb == SCN_AT_HAL) {
		ops[0].args[4] = step->at;
	} else if (step->verb == SCN_AT_OVERFLOW) {
		ops[0].slot[4] = scn->events[step->event].fd_slot;
		ops[0].args[5] = step->at;
	}
	return 1;
}

unsigned scn_step_ops(const struct scn *scn, const struct scn_step *step,
		      struct scn_op ops[SCN_STEP_OPS], unsigned *visible)
{
	*visible = 0;
	switch (step->verb) {
	case SCN_OPEN:
		return open_ops(scn, step, ops);
	case SCN_CALL:
		return call_ops(scn, step, ops);
	case SCN_CLOSE:
		ops[0] = scn_syscall_op(NR_CLOSE);
		ops[0].slot[0] = scn->events[step->event].fd_slot;
		return 1;
	case SCN_MMAP:
		return mmap_ops(scn, step, ops);
	case SCN_MUNMAP:
		return munmap_ops(scn, step, ops);
	case SCN_IOCTL:
		return ioctl_ops(scn, step, ops);
	case SCN_READ:
		ops[0] = scn_syscall_op(NR_READ);
		ops[0].slot[0] = scn->events[step->event].fd_slot;
		ops[0].args[1] = step->buf;
		ops[0].args[2] = step->size;
		return 1;
	case SCN_POLL:
		return poll_ops(scn, step, ops, visible);
	case SCN_PAGE:
		ops[0] = scn_mapping_op(scn, step, AGENT_PAGE, 0, PAGE_FIELDS);
		return 1;
	case SCN_RECORDS:
		ops[0] = scn_mapping_op(scn, step, AGENT_DRAIN, 0, step->data_bytes);
		return 1;
	case SCN_PEEK:
		ops[0] = scn_mapping_op(scn, step, AGENT_PEEK, 0, step->data_bytes);
		return 1;
	case SCN_POKE:
		ops[0] = scn_mapping_op(scn, step, AGENT_POKE, step->offset, step->arg);
		return 1;
	case SCN_RUN:
		ops[0] = scn_memory_op(AGENT_RUN, step->workload, step->n);
		return 1;
	case SCN_INJECT:
	case SCN_MASK:
	case SCN_UNMASK:
	case SCN_AT_HAL:
	case SCN_AT_OVERFLOW:
		return lab_ops(scn, step, ops);
	case SCN_HOSTILE:
		ops[0] = scn_mapping_op(scn, step, AGENT_SYSCALL, 0, step->arg);
		ops[0].nr = AGENT_LAB_BASE + AGENT_LAB_HOSTILE;
		return 1;
	default:
		return scn_task_ops(scn, step, ops, visible);
	}
}

/* ---- layout */

static unsigned group_members(const struct scn *scn, int leader)
{
	unsigned n = 1;

	for (unsigned i = 0; i < scn->nsteps; i++)
		n += scn->steps[i].verb == SCN_OPEN && scn->steps[i].other == leader;
	return n;
}

/* What read(2) needs at most: struct read_format in perf_event.h. */
static uint64_t read_size(const struct scn *scn, const struct scn_step *step)
{
	uint64_t format = scn->events[step->event].attr.read_format;
	unsigned times = !!(format & 1) + !!(format & 2);
	unsigned each = 1 + !!(format & 4) + !!(format & 16);

	if (!(format & 8))
		return 8ull * (times + each);
	return 8ull * (1 + times + each * group_members(scn, step->event));
}

static uint64_t allot(struct scn *scn, uint64_t bytes)
{
	uint64_t address = scn->data + scn->data_size;

	scn->data_size += (bytes + 7) / 8 * 8;
	return address;
}

static void layout_buffers(struct scn *scn, struct scn_step *step)
{
	switch (step->verb) {
	case SCN_OPEN:
		step->id_addr = allot(scn, 8);
		break;
	case SCN_READ:
		if (step->size == UINT64_MAX)
			step->size = read_size(scn, step);
		step->buf_size = step->size;
		step->buf = allot(scn, step->buf_size);
		break;
	case SCN_CALL:
		if (step->in_buf) {
			step->buf_size = CALL_BUFFER;
			step->buf = allot(scn, step->buf_size);
		}
		break;
	case SCN_POLL:
		step->buf_size = 24;
		step->buf = allot(scn, step->buf_size);
		break;
	case SCN_IOCTL:
		if (!step->raw && (step->cmd == IOC_PERIOD || step->cmd == IOC_ID)) {
			step->buf_size = 8;
			step->buf = allot(scn, step->buf_size);
		}
		break;
	default:
		step->buf_size = scn_task_buffer(step);
		if (step->buf_size)
			step->buf = allot(scn, step->buf_size);
		break;
	}
}

/* They go to scn->ops[n], if there is room yet. Returns what follows them. */
static unsigned put_ops(struct scn *scn, unsigned n, const struct scn_op *ops,
			unsigned count, int step, unsigned visible)
{
	for (unsigned i = 0; i < count; i++, n++) {
		if (!scn->ops)
			continue;
		scn->ops[n] = ops[i];
		scn->ops[n].step = step;
		scn->ops[n].visible = i == visible;
	}
	return n;
}

/* All operations of one task from scn->ops[n] on, or only their number while there
 * is no room yet. */
static unsigned task_program(struct scn *scn, unsigned index, unsigned n)
{
	struct scn_op ops[SCN_EDGE_OPS];
	struct scn_task *task = &scn->tasks[index];
	unsigned first = n, count, visible;

	if (!index) {
		ops[0] = scn_syscall_op(NR_GETPID);
		ops[0].dst = SCN_TASK_SLOTS;
	}
	count = !index + scn_task_prologue(scn, index, ops + !index);
	task->first_op = first;
	task->tid_op = (int)first;
	n = put_ops(scn, n, ops, count, -1, count);
	for (unsigned i = 0; i < scn->nsteps; i++) {
		struct scn_step *step = &scn->steps[i];

		if (step->task != (int)index)
			continue;
		count = scn_step_ops(scn, step, ops, &visible);
		step->op = (int)(n + visible);
		if (step->verb == SCN_OPEN)
			step->id_op = step->op + 1;
		if (step->verb == SCN_THREAD || step->verb == SCN_FORK)
			scn->tasks[step->peer].made_op = step->op;
		n = put_ops(scn, n, ops, count, (int)i, visible);
	}
	count = scn_task_epilogue(scn, index, ops);
	ops[count++] = (struct scn_op){.kind = AGENT_END, .dst = AGENT_SLOT_NONE};
	n = put_ops(scn, n, ops, count, -1, count);
	task->nops = n - first;
	return n;
}

static unsigned all_programs(struct scn *scn)
{
	unsigned n = 0;

	for (unsigned i = 0; i < scn->ntasks; i++)
		n = task_program(scn, i, n);
	return n;
}

static void layout_tasks(struct scn *scn)
{
	if (!scn->shared)
		return;
	allot(scn, 8 + 8ull * scn->ntasks);
	scn->pause_addr = allot(scn, 24);
	for (unsigned i = 0; i < scn->ntasks; i++) {
		scn->tasks[i].tid_addr = allot(scn, 8);
		scn->tasks[i].log = AGENT_LOG + (uint64_t)AGENT_TASK_LOG * i;
	}
}

int scn_layout(struct scn *scn, char *err, size_t errsize)
{
	unsigned n;

	for (unsigned i = 0; i < scn->nevents; i++) {
		scn->events[i].fd_slot = (uint8_t)(SCN_FD_SLOTS + i);
		scn->events[i].map_slot = (uint8_t)(SCN_MAP_SLOTS + i);
	}
	n = all_programs(scn);
	scn->nops = n - 1;
	scn->data = AGENT_BASE + AGENT_HDR_OPS + (uint64_t)AGENT_OP_SIZE * n;
	layout_tasks(scn);
	for (unsigned i = 0; i < scn->nevents; i++)
		scn->events[i].attr_addr = allot(scn, scn->events[i].nbytes);
	for (unsigned i = 0; i < scn->nsteps; i++)
		layout_buffers(scn, &scn->steps[i]);
	if (scn->data + scn->data_size > AGENT_BASE + AGENT_SIZE ||
	    n > AGENT_RESULTS_SIZE / 8) {
		snprintf(err, errsize,
			 "%s:1: too long: %u operations, %llu bytes of data", scn->file,
			 n - 1, (unsigned long long)scn->data_size);
		return -1;
	}
	/* Once more: now all addresses are known. */
	scn->ops = calloc(n, sizeof(*scn->ops));
	if (!scn->ops)
		abort();
	all_programs(scn);
	return 0;
}

/* ---- bytes */

void scn_put(uint8_t *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

static void put_op(uint8_t *image, unsigned index, const struct scn_op *op)
{
	uint8_t *at = image + AGENT_HDR_OPS + (size_t)index * AGENT_OP_SIZE;

	for (unsigned i = 0; i < 6; i++) {
		scn_put(at + AGENT_OP_ARGS + 8 * i, op->args[i], 8);
		at[AGENT_OP_SLOT + i] = op->slot[i];
	}
	scn_put(at + AGENT_OP_KIND, op->kind, 2);
	scn_put(at + AGENT_OP_NR, op->nr, 2);
	at[AGENT_OP_DST] = op->dst;
}

static void put_data(const struct scn *scn, uint8_t *image)
{
	for (unsigned i = 0; i < scn->nevents; i++)
		memcpy(image + (scn->events[i].attr_addr - AGENT_BASE),
		       scn->events[i].bytes, scn->events[i].nbytes);
	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];
		uint8_t *buf;

		if (!step->buf)
			continue;
		buf = image + (step->buf - AGENT_BASE);
		if (step->verb == SCN_IOCTL && step->cmd == IOC_PERIOD) {
			scn_put(buf, step->arg, 8);
		} else if (step->verb == SCN_POLL && step->timeout_ms > 0) {
			scn_put(buf + 8, (uint64_t)step->timeout_ms / 1000, 8);
			scn_put(buf + 16, (uint64_t)step->timeout_ms % 1000 * 1000000, 8);
		} else {
			scn_task_fill(scn, step, buf);
		}
	}
}

static void put_tasks(const struct scn *scn, uint8_t *image)
{
	uint8_t *table = image + (scn->data - AGENT_BASE);

	scn_put(table, scn->ntasks, 4);
	for (unsigned i = 0; i < scn->ntasks; i++) {
		scn_put(table + 8 + 8 * (size_t)i, scn->tasks[i].first_op, 4);
		scn_put(table + 12 + 8 * (size_t)i, scn->tasks[i].nops, 4);
	}
	scn_put(image + (scn->pause_addr + 8 - AGENT_BASE), 1000000, 8);
}

int scn_compile(const struct scn *scn, uint8_t **image, size_t *size, char *err,
		size_t errsize)
{
	uint8_t *bytes;

	*size = scn->data - AGENT_BASE + scn->data_size;
	bytes = calloc(1, *size);
	if (!bytes) {
		snprintf(err, errsize, "%s:1: out of memory", scn->file);
		errno = ENOMEM;
		return -1;
	}
	scn_put(bytes + AGENT_HDR_MAGIC, scn->shared ? AGENT_MAGIC_TASKS : AGENT_MAGIC,
		4);
	scn_put(bytes + AGENT_HDR_NOPS, scn->nops, 4);
	scn_put(bytes + AGENT_HDR_DATA, scn->data - AGENT_BASE, 4);
	scn_put(bytes + AGENT_HDR_DATA_SIZE, scn->data_size, 4);
	for (unsigned i = 0; i <= scn->nops; i++)
		put_op(bytes, i, &scn->ops[i]);
	if (scn->shared)
		put_tasks(scn, bytes);
	put_data(scn, bytes);
	*image = bytes;
	return 0;
}
