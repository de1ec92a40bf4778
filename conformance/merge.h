/* SPDX-License-Identifier: MIT */
/*
 * The traces of several boots of one scenario become its golden, and recordings
 * that would make a lying golden are refused.
 *
 * The schema (tt_field.class, set by the decoder) says what a field may do, and
 * observation only ever widens what is written:
 *
 *  exact     equal in every boot, else refused
 *  ordered   rising inside every boot: `>prev`; `>=prev` where two were equal
 *  bounded   observed min..max, widened to min/8..max*8, but never beyond what
 *            the schema declares; a value outside of that is refused. Nothing
 *            that spans less than a factor of 8 can be narrowed by this, so a
 *            declared range of addresses is written as declared
 *  at most   checked against the other field in every boot: `<=NAME`
 *  any       `*`
 *
 * A step with a bounded result and records gets one `each` template for each
 * kind and shape of record, over all records of all boots; each boot must have
 * that kind. Raw bytes are compared where every boot's mask compares them, and
 * must be equal there. Steps, words, records, kinds, names and sizes must be the
 * same in every boot.
 */
#ifndef PMULAB_CONFORMANCE_MERGE_H
#define PMULAB_CONFORMANCE_MERGE_H

#include "conformance/trace-text.h"

#define MERGE_MIN_BOOTS 3
#define MERGE_WIDEN 8

/*
 * NULL with one line in @err when the boots do not agree. Headers that all boots
 * have with one value are kept (`kernel` must be one of them if any boot has it);
 * boots, fields and raw are added. The caller frees the golden.
 */
struct tt_trace *merge_boots(struct tt_trace *const traces[], size_t n, char *err,
			     size_t errsize);

/* The rest are the recorder's refusals: 0, or -1 with one line in @err. */

/* A throttle or unthrottle record, in a scenario that does not ask for one. */
int merge_refuse_throttle(const struct tt_trace *trace, char *err, size_t errsize);

struct merge_account {
	const char *event;
	uint64_t count;	 /* all that the event counted, resets or not */
	uint64_t period; /* > 0 */
	/* The ring ends full, so losses may be pending that no record tells. */
	bool pending;
};

/*
 * Samples and lost records of the event that do not add up to count / period.
 * A record belongs to the event that its field id or identifier names; one
 * without belongs to the event whose `records` step drained it.
 */
int merge_refuse_samples(const struct tt_trace *trace,
			 const struct merge_account *account, char *err, size_t errsize);

/* A count that is not the work's: the field value of record @record (from 1) of
 * step @step. */
int merge_refuse_count(const struct tt_trace *trace, unsigned step, size_t record,
		       uint64_t predicted, char *err, size_t errsize);

/* A canary, one value a boot, that did not move: there was no noise, so nothing
 * was proved. */
int merge_refuse_canary(const char *name, const uint64_t values[], size_t n, char *err,
			size_t errsize);

#endif
