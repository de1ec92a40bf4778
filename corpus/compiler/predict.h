/* SPDX-License-Identifier: MIT */
/* The two halves of scn_predict(): events (predict-events.c) and tasks. */
#ifndef PMULAB_CORPUS_COMPILER_PREDICT_H
#define PMULAB_CORPUS_COMPILER_PREDICT_H

#include "corpus/compiler/parse.h"

struct predict_event {
	bool open, enabled;
	bool dead; /* its task is gone */
	bool exec; /* enable_on_exec still to come */
	/* Processes that have the descriptor, that have the mapping; the last of
	 * both keeps it alive. By the task that leads them. */
	uint32_t fds, maps;
	int target;	    /* task whose work it counts, -1: everybody's */
	int owner;	    /* task that opened it */
	bool exact;	    /* EL0 instructions of known tasks, on a counter */
	bool known;	    /* count */
	bool samples_known; /* samples, left */
	bool at_edge;
	int leader; /* itself when not in a group */
	uint64_t count, samples;
	uint64_t period, left;
	int64_t limit; /* event_limit, 0: none */
	uint64_t ns;
	unsigned windows;
};

struct predict_task {
	unsigned pc; /* operation */
	bool tail;   /* its system call has been made */
	bool made;   /* and it did not put the task to sleep */
	bool started, gone;
};

/* Schedules: until it sleeps; the woken and the new one at once; in turn after
 * each operation; the same, and the newest task first. */
enum predict_schedule {
	SCHEDULE_LAZY,
	SCHEDULE_EAGER,
	SCHEDULE_FAIR,
	SCHEDULE_LIFO,
	SCHEDULES
};

struct predict_walk {
	const struct scn *scn;
	struct predict_event *events;
	const int64_t *results;
	size_t nresults;
	bool masked;
	enum predict_schedule schedule;
	struct predict_task tasks[SCN_MAX_TASKS];
	unsigned posts[SCN_MAX_POSTS];
	int now; /* the task that runs */
	struct scn_count *out;
};

bool predict_is_error(int64_t result);
/* The result of operation @op: the log's, or success. */
int64_t predict_result(const struct predict_walk *w, int op);
unsigned predict_process(const struct predict_walk *w, int task);

/* @n EL0 instructions more of the task that runs; @known false: nobody knows. */
void predict_advance(struct predict_walk *w, uint64_t n, bool known);
void predict_enable(struct predict_walk *w, unsigned i, bool enabled);
/* The last of fds and mappings may be gone. */
void predict_release(struct predict_walk *w, unsigned i);
/* What a step's system call does to events, after its SVC. */
void predict_effect(struct predict_walk *w, const struct scn_step *step);
void predict_snapshot(const struct predict_walk *w, struct scn_count *out);

#endif
