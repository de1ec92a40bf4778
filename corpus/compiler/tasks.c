/* SPDX-License-Identifier: MIT */
/* Verbs of tasks, and of what belongs to a task: its name, user, limits, memory. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/verbs.h"

enum {
	PROT_R = 1,
	PROT_W = 2,
	PROT_X = 4,
	MAX_TEXT = 64,
	PAGE_SIZE = 4096
};

/* include/uapi/linux/prctl.h, fcntl.h */
enum {
	PR_SET_NAME = 15,
	PR_TASK_PERF_EVENTS_DISABLE = 31,
	PR_TASK_PERF_EVENTS_ENABLE = 32,
	F_SETFL = 4,
	F_SETOWN = 8,
	F_SETSIG = 10,
	F_SETOWN_EX = 15,
	O_ASYNC = 0x2000,
	O_RDWR = 2
};

static char *copy(const char *text)
{
	char *to = strdup(text);

	if (!to)
		abort();
	return to;
}

/* ---- blocks */

static int open_block(struct parser *p, bool exec)
{
	if (p->nblocks == PARSE_MAX_BLOCKS)
		return parse_fail(p, NULL, "more than %d blocks deep", PARSE_MAX_BLOCKS);
	p->blocks[p->nblocks++] = (struct parse_block){
		.verb = exec ? "exec"
			: p->scn->tasks[p->scn->ntasks - 1].kind == SCN_TASK_THREAD
				? "thread"
				: "fork",
		.line = p->line,
		.task = p->task,
		.exec = exec,
	};
	return 0;
}

int parse_close_block(struct parser *p)
{
	const struct parse_block *block = &p->blocks[--p->nblocks];

	/* What exec ran is all that the task had left to do. */
	if (block->exec && !p->over[p->task])
		p->over[p->task] = p->line;
	p->task = block->task;
	return 0;
}

static int new_task(struct parser *p, enum scn_verb verb, enum scn_task_kind kind)
{
	const struct parse_word *word = &p->words[1];
	struct scn *scn = p->scn;
	struct scn_step *step;
	struct scn_task *task;
	int index = (int)scn->ntasks;

	if (!parse_is_name(word->text))
		return parse_fail(p, word, "not a name: `%s`", word->text);
	if (scn_task_find(scn, word->text) >= 0 || !strcmp(word->text, "self") ||
	    !strcmp(word->text, "any"))
		return parse_fail(p, word, "task twice: %s", word->text);
	if (scn->ntasks == SCN_MAX_TASKS)
		return parse_fail(p, word, "more than %d tasks", SCN_MAX_TASKS);
	step = parse_step(p, verb);
	step->peer = index;
	scn->tasks = scn_grow(scn->tasks, scn->ntasks, sizeof(*scn->tasks));
	task = &scn->tasks[scn->ntasks++];
	*task = (struct scn_task){
		.name = copy(word->text),
		.kind = kind,
		.line = p->line,
		.parent = p->task,
		.process = kind == SCN_TASK_THREAD ? scn->tasks[p->task].process : index,
		.ns = kind == SCN_TASK_THREAD ? scn->tasks[p->task].ns
					      : p->child_ns[scn->tasks[p->task].process],
		.made = step->number,
		.made_op = -1,
		.tid_op = -1,
	};
	p->child_ns[index] = task->ns;
	scn->shared = true;
	if (open_block(p, false))
		return -1;
	p->task = index;
	return 0;
}

static int verb_thread(struct parser *p)
{
	return new_task(p, SCN_THREAD, SCN_TASK_THREAD);
}

static int verb_fork(struct parser *p)
{
	return new_task(p, SCN_FORK, SCN_TASK_FORK);
}

static int verb_exec(struct parser *p)
{
	struct scn_task *task = &p->scn->tasks[p->task];
	struct scn_step *step = parse_step(p, SCN_EXEC);

	step->map = task->execs++;
	p->scn->shared = true;
	memset(p->maps[task->process], 0, sizeof(p->maps[0]));
	return open_block(p, true);
}

/* ---- of one task to another */

static int peer_step(struct parser *p, enum scn_verb verb, struct scn_step **step)
{
	int task = parse_task_ref(p, &p->words[1], p->words[1].text);

	if (task < 0)
		return -1;
	if (task == p->task)
		return parse_fail(p, &p->words[1], "%s itself", p->words[1].text);
	*step = parse_step(p, verb);
	(*step)->peer = task;
	p->scn->shared = true;
	return 0;
}

static int verb_wait(struct parser *p)
{
	struct scn_step *step;

	if (peer_step(p, SCN_WAIT, &step))
		return -1;
	if (!step->peer)
		return parse_fail(p, &p->words[1], "main ends last");
	p->scn->tasks[step->peer].waited = true;
	return 0;
}

static int post_of(struct parser *p, int from, int to, unsigned *index)
{
	struct scn *scn = p->scn;

	for (*index = 0; *index < scn->nposts; ++*index)
		if (scn->posts[*index].from == from && scn->posts[*index].to == to)
			return 0;
	if (scn->nposts == SCN_MAX_POSTS)
		return parse_fail(p, NULL, "more than %d pairs", SCN_MAX_POSTS);
	scn->posts[scn->nposts].from = from;
	scn->posts[scn->nposts++].to = to;
	return 0;
}

static int verb_switch(struct parser *p)
{
	struct scn_step *step;
	unsigned unused;

	return peer_step(p, SCN_SWITCH, &step) || post_of(p, -1, step->peer, &unused) ||
			       post_of(p, -1, p->task, &unused)
		       ? -1
		       : 0;
}

static int verb_wake(struct parser *p)
{
	struct scn_step *step;
	unsigned unused;

	return peer_step(p, SCN_WAKE, &step) || post_of(p, -1, step->peer, &unused) ? -1
										    : 0;
}

static int verb_pause(struct parser *p)
{
	unsigned unused;

	parse_step(p, SCN_PAUSE);
	p->scn->shared = true;
	return post_of(p, -1, p->task, &unused);
}

static int verb_sync(struct parser *p)
{
	int a = parse_task_ref(p, &p->words[1], p->words[1].text);
	int b = a < 0 ? -1 : parse_task_ref(p, &p->words[2], p->words[2].text);
	struct scn_step *step;
	unsigned unused;

	if (a < 0 || b < 0)
		return -1;
	if (a == b || (a != p->task && b != p->task))
		return parse_fail(p, NULL, "sync is of two tasks, this one among them");
	step = parse_step(p, SCN_SYNC);
	step->peer = a == p->task ? b : a;
	p->scn->shared = true;
	return post_of(p, p->task, step->peer, &unused) ||
			       post_of(p, step->peer, p->task, &unused)
		       ? -1
		       : 0;
}

static int verb_exit(struct parser *p)
{
	struct scn_step *step;

	if (!p->task)
		return parse_fail(p, NULL, "main ends where the text does");
	step = parse_step(p, SCN_EXIT);
	p->over[p->task] = p->line;
	if (p->nwords == 1)
		return 0;
	return parse_number(p, &p->words[1], p->words[1].text, 255, &step->value);
}

static int verb_yield(struct parser *p)
{
	parse_step(p, SCN_YIELD);
	return 0;
}

static int number_step(struct parser *p, enum scn_verb verb, uint64_t max)
{
	struct scn_step *step = parse_step(p, verb);

	return parse_number(p, &p->words[1], p->words[1].text, max, &step->value);
}

static int verb_sleep(struct parser *p)
{
	return number_step(p, SCN_SLEEP, 10000000000ull);
}

static int verb_affinity(struct parser *p)
{
	return number_step(p, SCN_AFFINITY, 63);
}

static int verb_setuid(struct parser *p)
{
	return number_step(p, SCN_SETUID, UINT32_MAX);
}

/* ---- memory */

/* Number, or `mapN`: what the N-th `map` of the text mapped, from 0. */
static int verb_touch(struct parser *p)
{
	struct scn_step *step = parse_step(p, SCN_TOUCH);
	const struct parse_word *word = &p->words[1];
	uint64_t map;

	if (!strncmp(word->text, "map", 3) && !parse_u64(word->text + 3, &map)) {
		if (map >= p->scn->nmaps)
			return parse_fail(p, word, "no such map above: `%s`", word->text);
		step->value = AGENT_MAP(map);
	} else if (parse_number(p, word, word->text, UINT64_MAX, &step->value)) {
		return -1;
	}
	if (parse_number(p, &p->words[2], p->words[2].text, UINT32_MAX, &step->n))
		return -1;
	if (p->nwords == 3)
		return 0;
	step->write = true;
	if (strcmp(p->words[3].text, "write"))
		return parse_fail(p, &p->words[3], "unexpected: %s", p->words[3].text);
	return 0;
}

static int map_prot(struct parser *p, const struct parse_word *word, const char *text,
		    struct scn_step *step)
{
	static const struct parse_name letters[] = {
		{"r", PROT_R}, {"w", PROT_W}, {"x", PROT_X}, {NULL, 0}};
	uint64_t bit;

	for (step->prot = 0; *text; text++) {
		if (parse_lookup(letters, text, 1, &bit))
			return parse_fail(p, word, "prot is of r, w, x: `%s`",
					  word->text);
		step->prot |= (uint32_t)bit;
	}
	return 0;
}

static int map_word(struct parser *p, const struct parse_word *word,
		    struct scn_step *step)
{
	const char *text;

	if ((text = parse_value(word, "prot")))
		return map_prot(p, word, text, step);
	if ((text = parse_value(word, "offset")))
		return parse_number(p, word, text, INT64_MAX, &step->offset);
	if ((text = parse_value(word, "pages")))
		return parse_number(p, word, text, 0x1000, &step->pages);
	if (strcmp(word->text, "shared") && strcmp(word->text, "private"))
		return parse_fail(p, word, "unknown argument: `%s`", word->text);
	step->shared = word->text[0] == 's';
	return 0;
}

static int verb_map(struct parser *p)
{
	struct scn_step *step = parse_step(p, SCN_MAP);

	if (p->scn->nmaps == AGENT_MAX_MAPS)
		return parse_fail(p, NULL, "more than %d maps", AGENT_MAX_MAPS);
	if (strlen(p->words[1].text) >= MAX_TEXT)
		return parse_fail(p, &p->words[1], "a name this long");
	step->map = p->scn->nmaps++;
	step->text = copy(p->words[1].text);
	step->prot = PROT_R;
	step->pages = 1;
	for (unsigned i = 2; i < p->nwords; i++)
		if (map_word(p, &p->words[i], step))
			return -1;
	return 0;
}

/* ---- what a task is */

static int verb_prctl(struct parser *p)
{
	struct scn_step *step = parse_step(p, SCN_PRCTL);
	const char *what = p->words[1].text;

	if (!strcmp(what, "name")) {
		if (parse_arity(p, 3, 3, "prctl name TEXT"))
			return -1;
		step->cmd = PR_SET_NAME;
		step->text = copy(p->words[2].text);
		return strlen(step->text) < MAX_TEXT
			       ? 0
			       : parse_fail(p, &p->words[2], "a name this long");
	}
	step->cmd =
		what[0] == 'e' ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE;
	if (strcmp(what, "enable") && strcmp(what, "disable"))
		return parse_fail(p, &p->words[1], "enable|disable|name, not `%s`", what);
	return parse_arity(p, 2, 2, "prctl enable|disable");
}

static int verb_unshare(struct parser *p)
{
	if (strcmp(p->words[1].text, "pid"))
		return parse_fail(p, &p->words[1], "pid, not `%s`", p->words[1].text);
	parse_step(p, SCN_UNSHARE);
	p->child_ns[p->scn->tasks[p->task].process] = ++p->nns;
	return 0;
}

static int verb_rlimit(struct parser *p)
{
	/* include/uapi/asm-generic/resource.h */
	static const struct parse_name names[] = {
		{"nproc", 6}, {"nofile", 7}, {"memlock", 8}, {"as", 9}, {NULL, 0}};
	struct scn_step *step = parse_step(p, SCN_RLIMIT);
	uint64_t what;

	if (parse_lookup(names, p->words[1].text, strlen(p->words[1].text), &what))
		return parse_fail(p, &p->words[1], "unknown limit: `%s`",
				  p->words[1].text);
	step->cmd = (uint32_t)what;
	return parse_number(p, &p->words[2], p->words[2].text, UINT64_MAX, &step->value);
}

static int verb_sysctl(struct parser *p)
{
	struct scn_step *step = parse_step(p, SCN_SYSCTL);

	if (!parse_is_name(p->words[1].text) || strlen(p->words[1].text) > 48)
		return parse_fail(p, &p->words[1], "not a name: `%s`", p->words[1].text);
	if (strlen(p->words[2].text) > 30)
		return parse_fail(p, &p->words[2], "a value this long");
	step->text = copy(p->words[1].text);
	step->text2 = copy(p->words[2].text);
	if (!strcmp(step->text, "perf_event_max_sample_rate"))
		p->scn->may_throttle = true;
	return 0;
}

static int fcntl_owner(struct parser *p, struct scn_step *step)
{
	step->peer = parse_task_ref(p, &p->words[3], p->words[3].text);
	if (step->peer < 0)
		return -1;
	step->cmd = p->scn->tasks[step->peer].kind == SCN_TASK_THREAD ? F_SETOWN_EX
								      : F_SETOWN;
	return 0;
}

static int verb_fcntl(struct parser *p)
{
	int event = parse_event_ref(p, &p->words[1], p->words[1].text);
	const char *what = p->words[2].text;
	struct scn_step *step;

	if (event < 0)
		return -1;
	step = parse_step(p, SCN_FCNTL);
	step->event = event;
	if (!strcmp(what, "async")) {
		step->cmd = F_SETFL;
		step->arg = O_ASYNC | O_RDWR;
		return parse_arity(p, 3, 3, "fcntl EV async");
	}
	if (parse_arity(p, 4, 4, "fcntl EV sig N|owner TASK"))
		return -1;
	if (!strcmp(what, "owner"))
		return fcntl_owner(p, step);
	step->cmd = F_SETSIG;
	if (strcmp(what, "sig"))
		return parse_fail(p, &p->words[2], "async|sig|owner, not `%s`", what);
	return parse_number(p, &p->words[3], p->words[3].text, UINT32_MAX, &step->arg);
}

static int verb_rdpmc(struct parser *p)
{
	int event = parse_event_ref(p, &p->words[1], p->words[1].text);
	struct scn_step *step;

	if (event < 0)
		return -1;
	step = parse_step(p, SCN_RDPMC);
	step->event = event;
	step->mapped = parse_map_of(p, event)->mapped;
	return 0;
}

static int verb_signal(struct parser *p)
{
	parse_step(p, SCN_SIGNAL);
	return 0;
}

const struct parse_verb parse_task_verbs[] = {
	{"thread", 2, 2, "thread T {", verb_thread, true},
	{"fork", 2, 2, "fork T {", verb_fork, true},
	{"exec", 1, 1, "exec {", verb_exec, true},
	{"wait", 2, 2, "wait T", verb_wait, false},
	{"exit", 1, 2, "exit [N]", verb_exit, false},
	{"yield", 1, 1, "yield", verb_yield, false},
	{"switch", 2, 2, "switch T", verb_switch, false},
	{"wake", 2, 2, "wake T", verb_wake, false},
	{"pause", 1, 1, "pause", verb_pause, false},
	{"sync", 3, 3, "sync A B", verb_sync, false},
	{"sleep", 2, 2, "sleep NS", verb_sleep, false},
	{"affinity", 2, 2, "affinity N", verb_affinity, false},
	{"touch", 3, 4, "touch ADDR N [write]", verb_touch, false},
	{"map", 2, 6, "map FILE|anon [pages=] [prot=] [shared|private] [offset=]",
	 verb_map, false},
	{"prctl", 2, 3, "prctl enable|disable|name TEXT", verb_prctl, false},
	{"unshare", 2, 2, "unshare pid", verb_unshare, false},
	{"setuid", 2, 2, "setuid N", verb_setuid, false},
	{"rlimit", 3, 3, "rlimit NAME N", verb_rlimit, false},
	{"sysctl", 3, 3, "sysctl NAME VALUE", verb_sysctl, false},
	{"fcntl", 3, 4, "fcntl EV async|sig N|owner TASK", verb_fcntl, false},
	{"signal", 1, 1, "signal", verb_signal, false},
	{"rdpmc", 2, 2, "rdpmc EV", verb_rdpmc, false},
	{"repeat", 2, 2, "repeat N {", NULL, true}, /* parse.c takes it before */
	{NULL, 0, 0, NULL, NULL, false},
};
