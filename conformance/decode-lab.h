/* SPDX-License-Identifier: MIT */
/*
 * A log in the making, for tests of the decoder: what the agent would print is
 * put together byte by byte, so that a fault of the decoder is not one of the
 * test too.
 */
#ifndef PMULAB_CONFORMANCE_DECODE_LAB_H
#define PMULAB_CONFORMANCE_DECODE_LAB_H

#include "conformance/decode.h"

struct decode_lab {
	struct scn *scn;
	int64_t results[64];
	uint8_t data[8192], drain[16384];
	size_t ndrain;
};

extern struct decode_lab lab;
extern char lab_err[512];

void lab_put(uint8_t *p, uint64_t value, unsigned bytes);

/* A scenario of these lines. Every open gives a file descriptor and the event's
 * index + 41 as its id; the agent's pid is 77. */
void lab_start(const char *body);
void lab_result(unsigned number, int64_t value);
/* 8 bytes of what step @number's call left in its buffer. */
void lab_buffer(unsigned number, unsigned offset, uint64_t value);
/* What a drain of step @number copied. */
void lab_drained(unsigned number, const uint8_t *bytes, size_t n);

char *lab_log_text(void);
struct tt_trace *lab_decode(void); /* must succeed */
struct tt_trace *lab_decode_with(const struct decode_symbols *symbols);

/* The trace's text from step @number on. */
void lab_check_from(struct tt_trace *trace, unsigned number, const char *want);
const struct tt_field *lab_field(const struct tt_trace *trace, unsigned step,
				 size_t record, const char *name);
/* `x` a byte that is compared, `.` one that is not. */
void lab_check_mask(const struct tt_trace *trace, unsigned step, size_t record,
		    const char *want);
void lab_finish(struct tt_trace *trace);

#endif
