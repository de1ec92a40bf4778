/* SPDX-License-Identifier: MIT */
/*
 * From what the agent printed to a trace: the log's text, the scenario that was
 * compiled, and the agent's symbols give results, read buffers and ring records,
 * each field with the class that the schema gives it:
 *
 *   event counts          value, ip, misc,  time      enabled      running
 *                         period, lost
 *   EL0 only              exact             >prev     bounded      <=enabled
 *   the kernel too        bounded, any      >prev     bounded      <=enabled
 *
 * Raw bytes are those that were stored; the mask leaves out ids, pids, times and
 * whatever is not exact.
 *
 * A `read` of a group gives one record `group` and one `values` for each member.
 * The result of `records` and `peek` is the number of records. What cannot be a
 * record is `broken offset=N` and ends its step.
 */
#ifndef PMULAB_CONFORMANCE_DECODE_H
#define PMULAB_CONFORMANCE_DECODE_H

#include "conformance/trace-text.h"
#include "corpus/compiler/scenario.h"

/* ---- the agent's log, text of agent-abi.h */

struct decode_log {
	int64_t *results; /* one an operation */
	size_t nresults;
	uint64_t data_addr;
	uint8_t *data;
	size_t ndata;
	uint8_t *drain;
	size_t ndrain;
};

/* Text around the log (a console's boot messages) is skipped; carriage returns
 * are dropped. 0, or -1 with "NAME:LINE: what": a log without its `@end`, or
 * with another number of lines than that says, is cut and refused. */
int decode_log_parse(struct decode_log *log, const char *name, const char *text, size_t n,
		     char *err, size_t errsize);
void decode_log_free(struct decode_log *log);

/* ---- the agent's symbols */

struct decode_symbols;

/* NULL with @err. */
struct decode_symbols *decode_symbols_load(const char *elf, char *err, size_t errsize);
void decode_symbols_free(struct decode_symbols *symbols); /* NULL is allowed */
/* "spin+0x24", or hex where no function stands. @symbols may be NULL. */
void decode_symbols_name(const struct decode_symbols *symbols, uint64_t address,
			 char *text, size_t size);

/* ---- both, and the scenario, to a trace */

/* NULL with @err: the log is not this scenario's. The trace's header `predicted`
 * holds what scn_predict() says of every read. */
struct tt_trace *decode_trace(const struct scn *scn, const struct decode_log *log,
			      const struct decode_symbols *symbols, char *err,
			      size_t errsize);

/* Are the counts that were read the predicted ones? 0, or -1 with @err. */
int decode_check_counts(const struct scn *scn, const struct decode_log *log,
			const struct tt_trace *trace, char *err, size_t errsize);

/* An errno's name ("EINVAL"), NULL when it has none here. */
const char *decode_errno_name(int error);

#endif
