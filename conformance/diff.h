/* SPDX-License-Identifier: MIT */
/*
 * A golden against a run, or one run against another: every missing, extra and
 * differing step, record, field and raw byte, one a line, both ways:
 *
 *     S: step 6 "records c": record 3 sample: ip: golden spin+0x24 (line 31), run spin+0x28
 *
 * Steps are paired by number. Records are aligned by their longest common
 * subsequence, so one lost sample is one line and not a line for each later one.
 */
#ifndef PMULAB_CONFORMANCE_DIFF_H
#define PMULAB_CONFORMANCE_DIFF_H

#include "conformance/trace-text.h"

#define DIFF_LINES_PER_STEP 10

struct diff_options {
	const char *golden_name, *run_name; /* in the lines; NULL: golden, run */
	unsigned lines_per_step;	    /* 0: DIFF_LINES_PER_STEP */
	/* The run comes from the decoder, so its fields carry the schema's classes:
	 * a golden's field of another class is a difference. A run that was read
	 * from text has no classes. */
	bool schema;
};

/*
 * What a golden compares, and what a run differs in. Fields include results.
 *  compared    exact tokens, `>prev` with an earlier record to be greater than
 *  bounded     `A..B` and `<=NAME`
 *  wildcarded  `*`, and `>prev` of a first record, which holds nothing
 */
struct diff_counts {
	size_t compared, bounded, wildcarded;
	size_t raw_compared, raw_masked; /* bytes */
	size_t differing;
};

/* All but differing. A template counts once. */
void diff_count(const struct tt_trace *golden, struct diff_counts *counts);

/* What a golden's `fields` and `raw` headers must say. */
void diff_fields_header(const struct diff_counts *counts, char *text, size_t size);
void diff_raw_header(const struct diff_counts *counts, char *text, size_t size);

/* The seal in a golden's `body` header: the CRC-32 of its text behind `---`. A body
 * that was changed by hand, be it by a bound that still holds, is a difference. */
void diff_body_header(const struct tt_trace *golden, char *text, size_t size);

/*
 * 0 when @run is what @golden says, 1 when it differs. Prints to @out (NULL:
 * nothing) at most lines_per_step lines a step, then how many more there are.
 * A golden must have the headers `fields` and `raw`, and they must say what the
 * comparison finds. The header `predicted` must be equal when both have it;
 * other headers say where a trace comes from and are not compared. @options and
 * @counts may be NULL. A @golden that is a plain trace is compared as text.
 */
int diff_trace(const struct tt_trace *golden, const struct tt_trace *run,
	       const struct diff_options *options, FILE *out, struct diff_counts *counts);

#endif
