/* SPDX-License-Identifier: MIT */
/*
 * Traces and goldens: one data model, one text form. A trace holds what one
 * run gave; a golden is a trace whose fields may be classes instead of values.
 *
 *     pmulab-trace v1                      (golden: pmulab-golden v1)
 *     scenario: cycles-ip-100000
 *     KEY: VALUE                           (header lines, golden mostly)
 *     ---
 *     step 3 ioctl c enable -> 0
 *     step 5 read c -> 8
 *       values value=1000029
 *     step 6 records c -> 10
 *       sample misc=user size=16 ip=spin+0x24
 *       | 09000000 02001000 24044200 00000000
 *     end
 *
 * A step line: number, the scenario's own words, the result (a decimal number,
 * an errno's name, or a name such as `fd` or `addr` where the number does not
 * matter). A record line: kind, then NAME=TOKEN fields in wire order. A raw
 * line: the record's bytes as stored, eight hex digits a group, eight groups a
 * line; `..` for a byte that is not compared.
 *
 * Tokens of a golden: a plain token is compared as text (exact); `>prev` is
 * greater than the same field of the previous record of this step (>=prev when
 * equal is allowed), `A..B` a number in [A, B] (decimal or 0x), `<=NAME` a
 * number at most another field's of this record, `*` anything.
 * A step whose result is `A..B` with records has one template record, marked
 * `each`, that every record of the run must match:
 *
 *     step 6 records k -> 20..40
 *       each sample misc=kernel size=16 ip=0xffff000000000000..0xffffffffffffffff
 *       | 09000000 01001000 ........ ........
 */
#ifndef PMULAB_CONFORMANCE_TRACE_TEXT_H
#define PMULAB_CONFORMANCE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tt_class {
	TT_EXACT,
	TT_ORDERED, /* golden: `>prev` or `>=prev` */
	TT_BOUNDED, /* golden: `A..B`; lo and hi are what the schema declares */
	TT_AT_MOST, /* golden: `<=NAME`; name in bound */
	TT_ANY,
};

struct tt_field {
	char *name;
	char *token; /* as printed */
	enum tt_class class;
	uint64_t lo, hi; /* TT_BOUNDED */
	char *bound;	 /* TT_AT_MOST: the other field's name; freed by tt_free */
};

struct tt_record {
	char *kind; /* "sample", "lost", "values", "page", "poll", "throttle" ... */
	bool each;
	unsigned line; /* in the file it was read from, 0 when made in memory */
	struct tt_field *fields;
	size_t nfields;
	uint8_t *raw;  /* nraw bytes, NULL when the record has none */
	uint8_t *mask; /* nraw bytes: 0xff compared, 0x00 not */
	size_t nraw;
};

struct tt_step {
	unsigned number; /* as the scenario counts its steps, from 1 */
	unsigned line;
	char *words;
	struct tt_field result; /* name "result" */
	struct tt_record *records;
	size_t nrecords;
};

struct tt_header {
	char *key, *value;
};

struct tt_trace {
	bool golden;
	char *scenario;
	struct tt_header *headers;
	size_t nheaders;
	struct tt_step *steps;
	size_t nsteps;
};

/* Raw bytes a line of text. */
#define TT_RAW_LINE_BYTES 32

struct tt_trace *tt_new(const char *scenario); /* aborts when out of memory */
void tt_free(struct tt_trace *trace);	       /* NULL is allowed */

void tt_header_set(struct tt_trace *trace, const char *key, const char *value);
const char *tt_header_get(const struct tt_trace *trace, const char *key); /* NULL */

/* Builders. Strings are copied. Pointers they return are valid until the next
 * element of the same kind is added. */
struct tt_step *tt_step_add(struct tt_trace *trace, unsigned number, const char *words);
void tt_result_set(struct tt_step *step, enum tt_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct tt_record *tt_record_add(struct tt_step *step, const char *kind);
struct tt_field *tt_field_add(struct tt_record *record, const char *name,
			      enum tt_class class, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void tt_raw_set(struct tt_record *record, const uint8_t *raw, const uint8_t *mask,
		size_t n);

/* NULL when the record has no such field. */
const struct tt_field *tt_field_get(const struct tt_record *record, const char *name);

/* Same kind, field names in their order, and number of raw bytes. */
bool tt_same_shape(const struct tt_record *a, const struct tt_record *b);

/* A token as a number: decimal without leading zeros, or 0x and lower-case hex. */
bool tt_number(const char *token, uint64_t *value);

/* 0, -EIO, or -EINVAL (nothing written) when the text form cannot carry a
 * string: step numbers must rise from 1, a header needs a value, a step words
 * and a result, names,
 * tokens and kinds hold no space, names and kinds start with a letter, a record
 * has no field twice, and only a golden has classes and `each`. */
int tt_write(const struct tt_trace *trace, FILE *out);

/* Reads a trace or a golden. NULL with one line in @err ("FILE:LINE: ...") on
 * bad input; a text without its `end` is truncated and so refused. */
struct tt_trace *tt_read(const char *path, char *err, size_t errsize);
struct tt_trace *tt_parse(const char *name, const char *text, size_t n, char *err,
			  size_t errsize);

#endif
