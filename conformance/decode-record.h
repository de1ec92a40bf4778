/* SPDX-License-Identifier: MIT */
/* Ring records to trace records. Only decode.c uses it. */
#ifndef PMULAB_CONFORMANCE_DECODE_RECORD_H
#define PMULAB_CONFORMANCE_DECODE_RECORD_H

#include "conformance/decode.h"

struct decode_ctx {
	const struct scn *scn;
	const struct decode_log *log;
	const struct decode_symbols *symbols;
	uint64_t pid;		      /* the agent's own */
	uint64_t ids[SCN_MAX_EVENTS]; /* 0: not known */
	bool exact[SCN_MAX_EVENTS];   /* its records do not depend on noise */
	bool own[SCN_MAX_EVENTS];     /* watches the agent itself only */
	size_t drained;		      /* bytes of the drain log taken so far */
	char *err;
	size_t errsize;
};

/* A little-endian number of 2, 4 or 8 bytes. */
uint64_t decode_get(const uint8_t *p, unsigned bytes);

/* The event that has this id: its name, or the number. */
void decode_id_name(const struct decode_ctx *ctx, uint64_t id, char *text, size_t size);

/* Adds what @n bytes of ring hold to @step, records of the events in @writers
 * (bit i: event i). Returns how many records that were. */
size_t decode_records(const struct decode_ctx *ctx, struct tt_step *step,
		      uint64_t writers, const uint8_t *bytes, size_t n);

#endif
