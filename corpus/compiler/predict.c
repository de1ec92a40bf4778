/* SPDX-License-Identifier: MIT */
/*
 * Counts by arithmetic: the agent's operations have known lengths, so what an
 * event counts is the sum of the operations between its ENABLE and its DISABLE.
 * This walks the operations as the kernel sees them and keeps, for each event,
 * what perf_event keeps: state, count, period_left, event_limit.
 *
 * What cannot be known (a drain whose length is not given, an event of several
 * CPUs) makes a count unknown from there on; a RESET makes it known again.
 *
 * Several tasks are walked by a scheduler of its own, several times, each time
 * another one: what all of them agree on does not depend on the kernel's.
 */
#include <errno.h>
#include <stdlib.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/agent/agent-cost.h"
#include "corpus/compiler/predict.h"

enum {
	FLAG_FD_CLOEXEC = 8,
	PAGE_SIZE = 4096
};

static uint64_t workload_cost(uint64_t number, uint64_t n)
{
	switch (number) {
	case AGENT_WL_SPIN:
		return AGENT_WL_SPIN_COST(n);
	case AGENT_WL_LOAD:
		return AGENT_WL_LOAD_COST(n);
	case AGENT_WL_STORE:
		return AGENT_WL_STORE_COST(n);
	case AGENT_WL_BRANCH:
		return AGENT_WL_BRANCH_COST(n);
	case AGENT_WL_MIXED:
		return AGENT_WL_MIXED_COST(n);
	case AGENT_WL_FRAMES:
		return AGENT_WL_FRAMES_COST(n);
	}
	return 0;
}

/* EL0 instructions of an operation that is no system call; false: not known. */
static bool cost_of(const struct predict_walk *w, const struct scn_op *op, int64_t result,
		    uint64_t *cost)
{
	/* An error value in the slot, or an address that is one by itself. */
	uint64_t fault = op->slot[0] ? AGENT_COST_FAULT_SLOT : AGENT_COST_FAULT_SUM;
	bool faults = result == -EFAULT || op->args[0] == (uint64_t)-EFAULT;

	switch (op->kind) {
	case AGENT_RUN:
		*cost = op->args[1]
				? AGENT_COST_RUN + workload_cost(op->args[0], op->args[1])
				: AGENT_COST_RUN_BAD_N;
		return true;
	case AGENT_DRAIN:
	case AGENT_PEEK:
		if (faults)
			*cost = fault;
		else if (!w->results)
			return false;
		else if (result == -ENOSPC)
			*cost = op->kind == AGENT_DRAIN ? AGENT_COST_DRAIN_FULL
							: AGENT_COST_PEEK_FULL;
		else if (op->kind == AGENT_DRAIN)
			*cost = AGENT_COST_DRAIN_BASE +
				(uint64_t)result / 8 * AGENT_COST_DRAIN_WORD;
		else
			*cost = AGENT_COST_PEEK_BASE +
				(uint64_t)result / 8 * AGENT_COST_PEEK_WORD;
		return true;
	case AGENT_POKE:
		*cost = faults ? fault : AGENT_COST_POKE;
		return true;
	case AGENT_PAGE:
		*cost = faults ? fault
			: result == -ENOSPC
				? AGENT_COST_PAGE_FULL
				: AGENT_COST_PAGE_BASE +
					  op->args[1] / 8 * AGENT_COST_PAGE_WORD;
		return true;
	case AGENT_TOUCH:
		*cost = faults ? fault
			       : AGENT_COST_TOUCH_BASE + (op->args[1] + PAGE_SIZE - 1) /
								 PAGE_SIZE *
								 AGENT_COST_TOUCH_PAGE;
		return true;
	case AGENT_DIRTY:
		*cost = faults ? fault
			       : AGENT_COST_DIRTY_BASE + (op->args[1] + PAGE_SIZE - 1) /
								 PAGE_SIZE *
								 AGENT_COST_DIRTY_PAGE;
		return true;
	}
	return false;
}

/* ---- tasks */

static void drop_process(struct predict_walk *w, unsigned process, bool fds, bool exec)
{
	for (unsigned i = 0; i < w->scn->nevents; i++) {
		struct predict_event *s = &w->events[i];
		bool cloexec = false;

		s->maps &= ~(1u << process);
		for (unsigned k = 0; exec && k < w->scn->nsteps; k++)
			cloexec |= w->scn->steps[k].verb == SCN_OPEN &&
				   w->scn->steps[k].event == (int)i &&
				   (w->scn->steps[k].flags & FLAG_FD_CLOEXEC);
		if (fds || cloexec)
			s->fds &= ~(1u << process);
		predict_release(w, i);
	}
}

static void end_task(struct predict_walk *w, int task)
{
	bool last = true;

	w->tasks[task].gone = true;
	for (unsigned i = 0; i < w->scn->nevents; i++)
		if (w->events[i].open && w->events[i].target == task) {
			/* Its overflow at the edge may have no sample. */
			w->events[i].dead = true;
		}
	for (int i = 0; i < (int)w->scn->ntasks; i++)
		last &= predict_process(w, i) != predict_process(w, task) ||
			w->tasks[i].gone || !w->tasks[i].started;
	if (last)
		drop_process(w, predict_process(w, task), true, false);
}

/* The others of the process go; @self too unless it is exec's. */
static void end_process(struct predict_walk *w, int self, bool exec)
{
	for (int i = 0; i < (int)w->scn->ntasks; i++)
		if (i != self && predict_process(w, i) == predict_process(w, self) &&
		    w->tasks[i].started && !w->tasks[i].gone)
			end_task(w, i);
	if (!exec)
		end_task(w, self);
}

/* perf_event_exec(): enable_on_exec works once; remove_on_exec. */
static void exec_task(struct predict_walk *w)
{
	end_process(w, w->now, true);
	drop_process(w, predict_process(w, w->now), false, true);
	for (unsigned i = 0; i < w->scn->nevents; i++) {
		struct predict_event *s = &w->events[i];

		if (!s->open || s->target != w->now)
			continue;
		if (w->scn->events[i].attr.remove_on_exec)
			s->dead = true;
		if (s->exec)
			predict_enable(w, i, true);
		s->exec = false;
	}
}

static void start_task(struct predict_walk *w, unsigned task)
{
	unsigned child = predict_process(w, (int)task),
		 parent = predict_process(w, w->now);

	w->tasks[task].started = true;
	w->tasks[task].pc = w->scn->tasks[task].first_op;
	for (unsigned i = 0; child != parent && i < w->scn->nevents; i++)
		if (w->events[i].fds >> parent & 1)
			w->events[i].fds |= 1u << child;
}

/* Would nobody else do anything? Those that sleep until then do not, either. */
static bool others_sleep(const struct predict_walk *w)
{
	for (int i = 0; i < (int)w->scn->ntasks; i++) {
		const struct predict_task *task = &w->tasks[i];
		const struct scn_op *op = &w->scn->ops[task->pc];

		if (i == w->now || !task->started || task->gone)
			continue;
		if (!task->tail || task->made)
			return false;
		if ((op->effect == SCN_OP_PEND && w->posts[op->which]) ||
		    (op->effect == SCN_OP_WAIT && (!w->tasks[op->which].started ||
						   w->tasks[op->which].gone)))
			return false;
	}
	return true;
}

/* What an operation of tasks does after its SVC. False: it sleeps, and is to be
 * asked again. */
static bool task_effect(struct predict_walk *w, const struct scn_op *op, int64_t result)
{
	switch (op->effect) {
	case SCN_OP_PLAIN:
		break;
	case SCN_OP_CLONE:
		if (!predict_is_error(result))
			start_task(w, op->which);
		break;
	case SCN_OP_EXEC:
		if (!predict_is_error(result))
			exec_task(w);
		break;
	case SCN_OP_POST:
		w->posts[op->which]++;
		break;
	case SCN_OP_PEND:
		if (!w->posts[op->which])
			return false;
		w->posts[op->which]--;
		break;
	case SCN_OP_SETTLE:
		return others_sleep(w);
	case SCN_OP_WAIT:
		return !w->tasks[op->which].started || w->tasks[op->which].gone;
	case SCN_OP_EXIT:
		if (op->which)
			end_process(w, w->now, false);
		else
			end_task(w, w->now);
		break;
	}
	return true;
}

static void see(struct predict_walk *w, const struct scn_op *op)
{
	if (op->visible)
		predict_snapshot(w, w->out + (size_t)op->step * w->scn->nevents);
}

static uint64_t head_of(const struct scn_op *op)
{
	return op->kind == AGENT_CLONE	? AGENT_COST_CLONE_HEAD
	       : op->kind == AGENT_EXEC ? AGENT_COST_EXEC_HEAD
					: AGENT_COST_SYSCALL_HEAD;
}

static uint64_t tail_of(const struct scn_op *op, int64_t result)
{
	return op->kind == AGENT_CLONE	  ? AGENT_COST_CLONE_TAIL
	       : op->kind != AGENT_EXEC	  ? AGENT_COST_SYSCALL_TAIL
	       : predict_is_error(result) ? AGENT_COST_EXEC_TAIL
					  : AGENT_COST_EXEC_NEW;
}

/* The page's index and so the path are the kernel's to say; the log has it. */
static void walk_rdpmc(struct predict_walk *w, const struct scn_op *op, int64_t result)
{
	uint64_t fault = op->slot[0] ? AGENT_COST_FAULT_SLOT : AGENT_COST_FAULT_SUM;

	if (result == -EFAULT || op->args[0] == (uint64_t)-EFAULT) {
		predict_advance(w, fault, true);
		see(w, op);
	} else if (result == -ENOENT) {
		predict_advance(w, AGENT_COST_RDPMC_NONE, true);
		see(w, op);
	} else {
		predict_advance(w, AGENT_COST_RDPMC_HEAD, w->results);
		see(w, op);
		predict_advance(w, AGENT_COST_RDPMC_TAIL, true);
	}
}

/* One operation of the task that runs, or what is left of it. False: it sleeps. */
static bool walk_op(struct predict_walk *w)
{
	struct predict_task *task = &w->tasks[w->now];
	const struct scn_op *op = &w->scn->ops[task->pc];
	int64_t result = predict_result(w, (int)task->pc);
	uint64_t cost = 0;

	switch (op->kind) {
	case AGENT_END:
		task->gone = true;
		return false;
	case AGENT_SYSCALL:
	case AGENT_CLONE:
	case AGENT_EXEC:
		if (!task->tail)
			predict_advance(w, head_of(op), true);
		task->tail = true;
		if (!task_effect(w, op, result) || task->gone)
			return false;
		if (op->step >= 0 && op->visible)
			predict_effect(w, &w->scn->steps[op->step]);
		see(w, op);
		return true;
	case AGENT_RDPMC:
		walk_rdpmc(w, op, result);
		break;
	default:
		if (cost_of(w, op, result, &cost))
			predict_advance(w, cost, true);
		else
			predict_advance(w, 0, false);
		see(w, op);
	}
	task->pc++;
	return true;
}

/* Behind a system call: not at once, when another task may go first. */
static void walk_tail(struct predict_walk *w)
{
	struct predict_task *task = &w->tasks[w->now];
	const struct scn_op *op = &w->scn->ops[task->pc];

	if (!task->tail)
		return;
	predict_advance(w, tail_of(op, predict_result(w, (int)task->pc)), true);
	task->tail = false;
	task->pc++;
}

/* Is it @task's turn to be tried? A sleeper is: it finds out itself. */
static bool may_run(const struct predict_walk *w, int task)
{
	return w->tasks[task].started && !w->tasks[task].gone;
}

/* A new task starts with the tail of the clone. */
static void walk_child(struct predict_walk *w, int task)
{
	if (w->tasks[task].pc != w->scn->tasks[task].first_op || !task ||
	    w->tasks[task].tail)
		return;
	predict_advance(w, AGENT_COST_CLONE_CHILD, true);
}

/* A turn of one task: false when it did nothing. */
static bool walk_turn(struct predict_walk *w, int task, bool fresh[SCN_MAX_TASKS])
{
	struct predict_task *t = &w->tasks[task];
	bool moved = false;

	w->now = task;
	if (!fresh[task]) {
		fresh[task] = true;
		walk_child(w, task);
		moved = true;
	}
	while (may_run(w, task)) {
		const struct scn_op *op = &w->scn->ops[t->pc];
		bool wakes;

		/* Made, and not asleep in it: go on behind it. */
		if (t->tail && t->made) {
			t->made = false;
			walk_tail(w);
			moved = true;
			continue;
		}
		wakes = op->effect == SCN_OP_POST || op->effect == SCN_OP_CLONE;
		if (!walk_op(w))
			return moved || t->gone;
		moved = true;
		t->made = t->tail;
		if (w->schedule >= SCHEDULE_FAIR ||
		    (w->schedule == SCHEDULE_EAGER && wakes))
			return true;
	}
	return moved;
}

static void walk_all(struct predict_walk *w)
{
	bool fresh[SCN_MAX_TASKS] = {true};
	int n = (int)w->scn->ntasks, at = 0;

	w->tasks[0].started = true;
	for (int idle = 0; idle < n;) {
		bool moved = may_run(w, at) && walk_turn(w, at, fresh);

		idle = moved ? 0 : idle + 1;
		if (w->schedule == SCHEDULE_LIFO)
			at = (at + n - 1) % n;
		else
			at = (at + 1) % n;
	}
}

static struct scn_count *walk_once(const struct scn *scn, const int64_t *results,
				   size_t nresults, enum predict_schedule schedule)
{
	size_t row = scn->nevents ? scn->nevents : 1;
	struct predict_walk *w = calloc(1, sizeof(*w));
	struct scn_count *out;

	if (!w)
		abort();
	w->scn = scn;
	w->results = results;
	w->nresults = nresults;
	w->schedule = schedule;
	w->events = calloc(row, sizeof(*w->events));
	w->out = out = calloc((scn->nsteps + 1) * row, sizeof(*out));
	if (!out || !w->events)
		abort();
	walk_all(w);
	free(w->events);
	free(w);
	return out;
}

/* Known is what both say alike. */
static void agree(struct scn_count *a, const struct scn_count *b)
{
	a->known = a->known && b->known && a->value == b->value;
	a->samples_known =
		a->samples_known && b->samples_known && a->samples == b->samples;
	a->at_edge |= b->at_edge;
	if (b->el0_ns < a->el0_ns)
		a->el0_ns = b->el0_ns;
	if (b->windows > a->windows)
		a->windows = b->windows;
}

struct scn_count *scn_predict(const struct scn *scn, const int64_t *results,
			      size_t nresults)
{
	size_t n = (size_t)scn->nsteps * scn->nevents;
	struct scn_count *out = walk_once(scn, results, nresults, SCHEDULE_LAZY), *other;

	for (int k = SCHEDULE_LAZY + 1; scn->ntasks > 1 && k < SCHEDULES; k++) {
		other = walk_once(scn, results, nresults, (enum predict_schedule)k);
		for (size_t i = 0; i < n; i++)
			agree(&out[i], &other[i]);
		free(other);
	}
	return out;
}
