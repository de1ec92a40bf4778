/* SPDX-License-Identifier: MIT */
/* The parser's own: words, errors, name tables. Only corpus/compiler uses it. */
#ifndef PMULAB_CORPUS_COMPILER_PARSE_H
#define PMULAB_CORPUS_COMPILER_PARSE_H

#include "corpus/compiler/scenario.h"

enum {
	PARSE_MAX_WORDS = 64,
	PARSE_MAX_LINE = 16384,
	PARSE_MAX_BLOCKS = 16
};

struct parse_word {
	char *text;
	unsigned col; /* from 1 */
};

struct parse_block {
	const char *verb;
	unsigned line;
	int task; /* who goes on behind it */
	bool exec;
};

/* What is mapped where, as far as a scenario's text tells. */
struct parse_map {
	bool mapped;
	uint64_t pages;
	uint32_t prot;
};

struct parser {
	struct scn *scn;
	const char *file;
	char *err;
	size_t errsize;
	int error; /* errno of the first error, 0 none */

	unsigned line;
	unsigned nwords;
	struct parse_word words[PARSE_MAX_WORDS];
	char *buffer; /* the line's words, NUL-separated */
	char *joined; /* the line's words, one space between two */
	bool opens;   /* the line ended in `{` */
	bool started; /* `scenario v1` was there */

	/* The first thing that is grammar but not built. */
	unsigned unbuilt_line;
	char unbuilt[64];

	struct parse_block blocks[PARSE_MAX_BLOCKS];
	unsigned nblocks;
	int task;     /* whose steps the lines are */
	/* By the task that leads the process. */
	struct parse_map maps[SCN_MAX_TASKS][SCN_MAX_EVENTS];
	/* Of a task: nothing of it may follow, since that line; the namespace of
	 * its next children. */
	unsigned over[SCN_MAX_TASKS];
	unsigned child_ns[SCN_MAX_TASKS], nns;
};

/* All return -1, so that callers can return it; the first error stays. */
int parse_fail(struct parser *p, const struct parse_word *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Remembers that this line needs what is not built; parsing goes on. */
void parse_unbuilt(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Splits one line (no newline in it) into p->words. */
int parse_split(struct parser *p, const char *text, size_t n);

/* Exactly @min..@max words on the line, the verb among them. @use is the
 * verb's form, for the message. */
int parse_arity(struct parser *p, unsigned min, unsigned max, const char *use);

/* The value of `key=value`, NULL when @word is not `key=`. */
const char *parse_value(const struct parse_word *word, const char *key);

/* Decimal or 0x; the whole text. 0 or -1, without a message. */
int parse_u64(const char *text, uint64_t *value);
/* The same with a message on @word, and a limit. */
int parse_number(struct parser *p, const struct parse_word *word, const char *text,
		 uint64_t max, uint64_t *value);
/* As parse_number(), with a minus allowed: -max..max. */
int parse_signed(struct parser *p, const struct parse_word *word, const char *text,
		 int64_t max, int64_t *value);

bool parse_is_name(const char *text); /* a letter, then letters digits - _ */

/* Names of the UAPI: `-` and `_` are the same. -1: none of them. */
struct parse_name {
	const char *name;
	uint64_t value;
};
int parse_lookup(const struct parse_name *table, const char *text, size_t n,
		 uint64_t *value);
/* A comma-separated list of names, their values or-ed. */
int parse_list(struct parser *p, const struct parse_word *word, const char *text,
	       const struct parse_name *table, const char *what, uint64_t *mask);

extern const struct parse_name parse_sample_names[];
extern const struct parse_name parse_read_names[];
extern const struct parse_name parse_open_flags[];
extern const struct parse_name parse_clock_names[];
extern const struct parse_name parse_page_fields[]; /* value: offset, 8-byte ones */
extern const struct parse_name parse_workloads[];
extern const struct parse_name parse_calls[]; /* value: arm64's number */

/* Fields of struct perf_event_attr. */
struct parse_field {
	const char *name;
	unsigned offset; /* bytes */
	unsigned bit;	 /* within the u64 there */
	unsigned width;	 /* bits */
};
const struct parse_field *parse_attr_field(const char *name, size_t n);
void parse_attr_set(uint8_t *attr, const struct parse_field *field, uint64_t value);
/* Number of the i-th field's row, NULL behind the last: tests walk the table. */
const struct parse_field *parse_attr_row(unsigned i);

/* TYPE/CONFIG of an event line into @attr. */
int parse_event_type(struct parser *p, const struct parse_word *word, uint8_t *attr);

/* Lines. */
int parse_event(struct parser *p);
int parse_attr_raw(struct parser *p);
int parse_verb(struct parser *p); /* everything else */

struct scn_step *parse_step(struct parser *p, enum scn_verb verb);
/* Index of a task that stands above, -1 with a message. */
int parse_task_ref(struct parser *p, const struct parse_word *word, const char *text);
/* What is mapped in the process that the line belongs to. */
struct parse_map *parse_map_of(struct parser *p, int event);
/* Index of a declared event, -1 with a message. */
int parse_event_ref(struct parser *p, const struct parse_word *word, const char *text);

/* Gives every step its operations and its buffers. */
int scn_layout(struct scn *scn, char *err, size_t errsize);

enum {
	SCN_STEP_OPS = 6
};
/* The operations of one step; *visible is the index of the step's own. */
unsigned scn_step_ops(const struct scn *scn, const struct scn_step *step,
		      struct scn_op ops[SCN_STEP_OPS], unsigned *visible);
/* The same for the verbs of tasks (tasks.c). 0: none of them. */
unsigned scn_task_ops(const struct scn *scn, const struct scn_step *step,
		      struct scn_op ops[SCN_STEP_OPS], unsigned *visible);
/* Hidden ones before a task's first step and behind its last. */
enum {
	SCN_EDGE_OPS = 128
};
unsigned scn_task_prologue(const struct scn *scn, unsigned task, struct scn_op *ops);
unsigned scn_task_epilogue(const struct scn *scn, unsigned task, struct scn_op *ops);
/* The data that a task's verb needs: bytes of buf; what stands in it. */
uint64_t scn_task_buffer(const struct scn_step *step);
void scn_task_fill(const struct scn *scn, const struct scn_step *step, uint8_t *buf);

struct scn_op scn_syscall_op(unsigned nr);
struct scn_op scn_memory_op(unsigned kind, uint64_t address, uint64_t arg);
struct scn_op scn_mapping_op(const struct scn *scn, const struct scn_step *step,
			     unsigned kind, uint64_t offset, uint64_t arg);
void scn_put(uint8_t *to, uint64_t value, unsigned bytes);

/* Value slots: events' fds, their mappings, tasks' ids, eventfds, one to pass a
 * value on to the next operation of the same step. */
enum {
	SCN_FD_SLOTS = 1,
	SCN_MAP_SLOTS = SCN_FD_SLOTS + SCN_MAX_EVENTS,
	SCN_TASK_SLOTS = SCN_MAP_SLOTS + SCN_MAX_EVENTS,
	SCN_POST_SLOTS = SCN_TASK_SLOTS + SCN_MAX_TASKS,
	SCN_MAX_POSTS = 80,
	SCN_PASS_SLOT = SCN_POST_SLOTS + SCN_MAX_POSTS /* + task */
};

void *scn_grow(void *array, size_t n, size_t size); /* room for one more */

#endif
