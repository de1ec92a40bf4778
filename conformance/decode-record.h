/* SPDX-License-Identifier: MIT */
/* Ring records to trace records. Only decode.c uses it. */
#ifndef PMULAB_CONFORMANCE_DECODE_RECORD_H
#define PMULAB_CONFORMANCE_DECODE_RECORD_H

#include "conformance/decode.h"

struct decode_ctx {
	const struct scn *scn;
	const struct decode_log *log;
	const struct decode_symbols *symbols;
	/* What a task is called in each namespace that sees it: its own view, and
	 * its maker's. 0: not known. */
	struct {
		uint64_t own, made;
	} tasks[SCN_MAX_TASKS];
	uint64_t ids[SCN_MAX_EVENTS]; /* 0: not known */
	bool exact[SCN_MAX_EVENTS];   /* its records do not depend on noise */
	bool own[SCN_MAX_EVENTS];     /* watches tasks of the scenario only */
	int opener[SCN_MAX_EVENTS];   /* task */
	bool masked;		      /* several CPUs: counts are not compared at all */
	/* Of a task's part of the drain log: bytes taken so far, and its end. */
	struct {
		size_t at, end;
	} drained[SCN_MAX_TASKS];
	char *err;
	size_t errsize;
};

/* A little-endian number of 2, 4 or 8 bytes. */
uint64_t decode_get(const uint8_t *p, unsigned bytes);

/* The event that has this id: its name, or the number. */
void decode_id_name(const struct decode_ctx *ctx, uint64_t id, char *text, size_t size);

/* The task that has this id in the namespace of task @seer: its name (`self` in a
 * scenario of one task), NULL: none. */
const char *decode_task_name(const struct decode_ctx *ctx, int seer, uint64_t id);

/* decode-signal.c. What the siginfo_t at @info says, to @out. */
void decode_siginfo(const struct decode_ctx *ctx, const struct scn_step *step,
		    const uint8_t *info, struct tt_step *out);

/* Adds what @n bytes of ring hold to @step, records of the events in @writers
 * (bit i: event i). Returns how many records that were. */
size_t decode_records(const struct decode_ctx *ctx, struct tt_step *step,
		      uint64_t writers, const uint8_t *bytes, size_t n);

#endif
