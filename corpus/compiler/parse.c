/* SPDX-License-Identifier: MIT */
/* Files to lines to a struct scn. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/parse.h"

enum {
	MAX_FILE = 1 << 20
};

void *scn_grow(void *array, size_t n, size_t size)
{
	/* Powers of two: grows when n is one, or nothing yet. */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		abort();
	return array;
}

static char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	size_t n = strlen(base);

	if (n > 4 && !strcmp(base + n - 4, ".scn"))
		n -= 4;
	return strndup(base, n);
}

static struct scn *new_scn(const char *file)
{
	struct scn *scn = calloc(1, sizeof(*scn));

	if (!scn)
		abort();
	scn->name = base_name(file);
	scn->file = strdup(file);
	scn->machine.preset = strdup("qemu-a57");
	if (!scn->name || !scn->file || !scn->machine.preset)
		abort();
	scn->machine.cpus = 1;
	scn->machine.counters = UINT_MAX;
	scn->tasks = scn_grow(NULL, 0, sizeof(*scn->tasks));
	scn->tasks[0] = (struct scn_task){
		.name = strdup("main"), .parent = -1, .made_op = -1, .tid_op = -1};
	if (!scn->tasks[0].name)
		abort();
	scn->ntasks = 1;
	return scn;
}

void scn_free(struct scn *scn)
{
	if (!scn)
		return;
	for (unsigned i = 0; i < scn->nevents; i++) {
		free(scn->events[i].name);
		free(scn->events[i].bytes);
	}
	for (unsigned i = 0; i < scn->nsteps; i++) {
		free(scn->steps[i].words);
		free(scn->steps[i].text);
		free(scn->steps[i].text2);
	}
	for (unsigned i = 0; i < scn->ntasks; i++)
		free(scn->tasks[i].name);
	for (unsigned i = 0; i < scn->nexpects; i++) {
		struct scn_expect *expect = &scn->expects[i];

		free(expect->words);
		free(expect->kind);
		for (unsigned k = 0; k < expect->nargs; k++) {
			free(expect->args[k].name);
			free(expect->args[k].text);
		}
	}
	free(scn->tasks);
	free(scn->ops);
	free(scn->events);
	free(scn->steps);
	free(scn->expects);
	free(scn->machine.preset);
	free(scn->name);
	free(scn->file);
	free(scn);
}

int scn_event_find(const struct scn *scn, const char *name)
{
	for (unsigned i = 0; i < scn->nevents; i++)
		if (!strcmp(scn->events[i].name, name))
			return (int)i;
	return -1;
}

int scn_task_find(const struct scn *scn, const char *name)
{
	for (unsigned i = 0; i < scn->ntasks; i++)
		if (!strcmp(scn->tasks[i].name, name))
			return (int)i;
	return -1;
}

int parse_task_ref(struct parser *p, const struct parse_word *word, const char *text)
{
	int task = scn_task_find(p->scn, text);

	if (task < 0)
		return parse_fail(p, word, "unknown task: `%s`", text);
	return task;
}

struct parse_map *parse_map_of(struct parser *p, int event)
{
	return &p->maps[p->scn->tasks[p->task].process][event];
}

int parse_event_ref(struct parser *p, const struct parse_word *word, const char *text)
{
	int event = scn_event_find(p->scn, text);

	if (event < 0)
		return parse_fail(p, word, "unknown event: `%s`", text);
	return event;
}

struct scn_step *parse_step(struct parser *p, enum scn_verb verb)
{
	struct scn *scn = p->scn;
	struct scn_step *step;

	scn->steps = scn_grow(scn->steps, scn->nsteps, sizeof(*scn->steps));
	step = &scn->steps[scn->nsteps++];
	memset(step, 0, sizeof(*step));
	step->number = scn->nsteps;
	step->line = p->line;
	step->verb = verb;
	step->event = step->other = step->counter = step->peer = -1;
	step->task = p->task;
	/* Callers see the message by p->error. */
	if (p->over[p->task])
		parse_fail(p, NULL, "%s is over since line %u", scn->tasks[p->task].name,
			   p->over[p->task]);
	step->op = step->id_op = -1;
	step->words = strdup(p->joined);
	if (!step->words)
		abort();
	return step;
}

static int first_line(struct parser *p)
{
	if (strcmp(p->joined, "scenario v1"))
		return parse_fail(p, &p->words[0], "the first line is not `scenario v1`");
	p->started = true;
	return 0;
}

static int parse_line(struct parser *p)
{
	const char *verb = p->words[0].text;

	if (!p->started)
		return first_line(p);
	if (p->opens && (!strcmp(verb, "event") || !strcmp(verb, "attr-raw")))
		return parse_fail(p, NULL, "no block: %s", verb);
	if (!strcmp(verb, "event"))
		return parse_event(p);
	if (!strcmp(verb, "attr-raw"))
		return parse_attr_raw(p);
	return parse_verb(p);
}

/* The line that closes the block opened just before @text; NULL: none. */
static const char *block_end(struct parser *p, const char *text, const char *end,
			     unsigned *lines)
{
	unsigned line = p->line, depth = 1;

	*lines = 0;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		p->line++;
		if (parse_split(p, text, length))
			return NULL;
		if (p->opens)
			depth++;
		else if (p->nwords && !strcmp(p->words[0].text, "}"))
			depth--;
		if (!depth) {
			p->line = line;
			return text;
		}
		++*lines;
		text += length + 1;
	}
	p->line = line;
	parse_fail(p, NULL, "block not closed: repeat");
	return NULL;
}

static int parse_lines(struct parser *p, const char *text, const char *end);

/* `repeat N {`: its lines, N times. */
static const char *parse_repeat(struct parser *p, const char *text, const char *end)
{
	unsigned line = p->line, lines, blocks = p->nblocks;
	const char *close;
	uint64_t n;

	if (parse_arity(p, 2, 2, "repeat N {") ||
	    parse_number(p, &p->words[1], p->words[1].text, 10000, &n))
		return NULL;
	close = block_end(p, text, end, &lines);
	if (!close)
		return NULL;
	while (n--) {
		p->line = line;
		if (parse_lines(p, text, close))
			return NULL;
		if (p->nblocks != blocks) {
			parse_fail(p, NULL, "repeat ends in the middle of a block");
			return NULL;
		}
	}
	p->line = line + lines + 1;
	text = memchr(close, '\n', (size_t)(end - close));
	return text ? text + 1 : end;
}

static int parse_lines(struct parser *p, const char *text, const char *end)
{
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		p->line++;
		if (parse_split(p, text, length))
			return -1;
		text += length + 1;
		if (p->started && p->opens && !strcmp(p->words[0].text, "repeat")) {
			text = parse_repeat(p, text, end);
			if (!text)
				return -1;
			continue;
		}
		if (p->nwords && (parse_line(p) || p->error))
			return -1;
	}
	return 0;
}

static int parse_text(struct parser *p, const char *text, size_t n)
{
	if (parse_lines(p, text, text + n))
		return -1;
	if (!p->started) {
		p->line = p->line ? p->line : 1;
		return parse_fail(p, NULL, "no `scenario v1` in it");
	}
	if (p->nblocks) {
		p->line = p->blocks[p->nblocks - 1].line;
		return parse_fail(p, NULL, "block not closed: %s",
				  p->blocks[p->nblocks - 1].verb);
	}
	return 0;
}

static void give_up_unbuilt(struct parser *p)
{
	snprintf(p->err, p->errsize, "%s:%u: not built yet: %s", p->file, p->unbuilt_line,
		 p->unbuilt);
	p->error = ENOSYS;
}

/* What a throttled event misses hangs on the tick. */
static void forget_counts(struct scn *scn)
{
	for (unsigned i = 0; i < scn->nevents; i++)
		if (scn->events[i].attr.sample_period)
			scn->events[i].counts = SCN_COUNTS_UNKNOWN;
}

struct scn *scn_parse(const char *file, const char *text, size_t n, char *err,
		      size_t errsize)
{
	struct parser *p = calloc(1, sizeof(*p));
	struct scn *scn = new_scn(file);
	int error;

	if (!p)
		abort();
	p->scn = scn;
	p->file = file;
	p->err = err;
	p->errsize = errsize;
	p->buffer = malloc(PARSE_MAX_LINE + 1);
	p->joined = malloc(PARSE_MAX_LINE + 2);
	if (!p->buffer || !p->joined)
		abort();
	if (!parse_text(p, text, n)) {
		if (scn->may_throttle)
			forget_counts(scn);
		if (p->unbuilt_line)
			give_up_unbuilt(p);
		else if (scn_layout(scn, err, errsize))
			p->error = EINVAL;
	}
	error = p->error;
	free(p->buffer);
	free(p->joined);
	free(p);
	if (!error)
		return scn;
	scn_free(scn);
	errno = error;
	return NULL;
}

struct scn *scn_load(const char *path, char *err, size_t errsize)
{
	FILE *file = fopen(path, "rb");
	struct scn *scn = NULL;
	char *text = malloc(MAX_FILE + 1);
	int error = 0;
	size_t n = 0;

	if (!text)
		abort();
	if (file) {
		n = fread(text, 1, MAX_FILE + 1, file);
		error = ferror(file) ? errno : n > MAX_FILE ? EFBIG : 0;
		fclose(file);
	} else {
		error = errno;
	}
	if (error)
		snprintf(err, errsize, "%s: %s", path, strerror(error));
	else
		scn = scn_parse(path, text, n, err, errsize);
	if (!error && !scn)
		error = errno;
	free(text);
	if (!scn)
		errno = error;
	return scn;
}
