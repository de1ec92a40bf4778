/* SPDX-License-Identifier: MIT */
/* What a signal says of itself: siginfo_t of asm-generic/siginfo.h, as far as perf
 * and other tasks fill it. */
#include <inttypes.h>

#include "conformance/decode-record.h"

enum {
	CHLD = 17,
	INFO_CODE = 8,
	INFO_PID = 16, /* of who sent it, or ended */
	INFO_BAND = 16,
	INFO_FD = 24,
	INFO_STATUS = 24,
};

/* The events by their descriptors, as the steps up to @step left them. */
static const char *fd_name(const struct decode_ctx *ctx, const struct scn_step *step, int64_t fd)
{
	const struct scn *scn = ctx->scn;
	const char *name = NULL;

	for (unsigned i = 0; i + 1 < step->number; i++)
		if (scn->steps[i].verb == SCN_OPEN && ctx->log->results[scn->steps[i].op] == fd)
			name = scn->events[scn->steps[i].event].name;
	return name;
}

static const char *code_name(uint64_t signo, int32_t code)
{
	static const char *const poll[] = {NULL,       "POLL_IN",  "POLL_OUT", "POLL_MSG",
					   "POLL_ERR", "POLL_PRI", "POLL_HUP"};
	static const char *const chld[] = {NULL, "CLD_EXITED", "CLD_KILLED"};

	switch (code) {
	case 0:
		return "SI_USER";
	case 0x80:
		return "SI_KERNEL";
	case -5:
		return "SI_SIGIO";
	case -6:
		return "SI_TKILL";
	default: /* with F_SETSIG the codes are SIGIO's, unless the signal has its own */
		if (signo == CHLD)
			return code > 0 && code <= 2 ? chld[code] : NULL;
		return code > 0 && code <= 6 ? poll[code] : NULL;
	}
}

static void sender(const struct decode_ctx *ctx, const struct scn_step *step,
		   const uint8_t *info, struct tt_record *record)
{
	const char *who = decode_task_name(ctx, step->task, decode_get(info + INFO_PID, 4));

	tt_field_add(record, "pid", TT_EXACT, "%s", who ? who : "stranger");
}

static void file(const struct decode_ctx *ctx, const struct scn_step *step, const uint8_t *info,
		 struct tt_record *record)
{
	int64_t fd = (int32_t)decode_get(info + INFO_FD, 4);
	const char *name = fd_name(ctx, step, fd);

	tt_field_add(record, "band", TT_EXACT, "0x%" PRIx64, decode_get(info + INFO_BAND, 8));
	if (name)
		tt_field_add(record, "fd", TT_EXACT, "%s", name);
	else
		tt_field_add(record, "fd", TT_EXACT, "%" PRId64, fd);
}

void decode_siginfo(const struct decode_ctx *ctx, const struct scn_step *step,
		    const uint8_t *info, struct tt_step *out)
{
	uint64_t signo = decode_get(info, 4);
	int32_t code = (int32_t)decode_get(info + INFO_CODE, 4);
	const char *name = code_name(signo, code);
	struct tt_record *record = tt_record_add(out, "siginfo");

	tt_field_add(record, "signo", TT_EXACT, "%" PRIu64, signo);
	if (name)
		tt_field_add(record, "code", TT_EXACT, "%s", name);
	else
		tt_field_add(record, "code", TT_EXACT, "%" PRId32, code);
	if (code == 0x80) /* the kernel tells nothing more */
		return;
	if (code == 0 || code == -6 || (signo == CHLD && code > 0)) {
		sender(ctx, step, info, record);
		if (signo == CHLD)
			tt_field_add(record, "status", TT_EXACT, "%" PRIu64,
				     decode_get(info + INFO_STATUS, 4));
		return;
	}
	file(ctx, step, info, record);
}
