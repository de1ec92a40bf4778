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
	struct parse_map maps[SCN_MAX_EVENTS];
	char **tasks;
	unsigned ntasks;
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
/* Index of a declared event, -1 with a message. */
int parse_event_ref(struct parser *p, const struct parse_word *word, const char *text);

/* Gives every step its operations and its buffers. */
int scn_layout(struct scn *scn, char *err, size_t errsize);

/* One operation of the image. */
struct scn_op {
	uint64_t args[6];
	uint8_t slot[6];
	uint8_t dst;
	uint16_t kind, nr;
};
enum {
	SCN_STEP_OPS = 3
};
/* The operations of one step; *visible is the index of the step's own. */
unsigned scn_step_ops(const struct scn *scn, const struct scn_step *step,
		      struct scn_op ops[SCN_STEP_OPS], unsigned *visible);

void *scn_grow(void *array, size_t n, size_t size); /* room for one more */

#endif
