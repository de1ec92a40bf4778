/* SPDX-License-Identifier: MIT */
/* Steps to a trace: results, read buffers, polls, mmap pages. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode-record.h"
#include "conformance/merge.h"
#include "corpus/agent/agent-abi.h"

enum {
	PAGE_BYTES = 1088
};
enum {
	FORMAT_ENABLED = 1,
	FORMAT_RUNNING = 2,
	FORMAT_ID = 4,
	FORMAT_GROUP = 8,
	FORMAT_LOST = 16
};
#define IOC_ID 0x80082407u
#define IOC_SET_OUTPUT 0x2405u

__attribute__((format(printf, 2, 3))) static int fail(const struct decode_ctx *ctx,
						      const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(ctx->err, ctx->errsize, "%s: ", ctx->scn->name);

	if (n < 0 || (size_t)n >= ctx->errsize)
		return -1;
	va_start(ap, fmt);
	vsnprintf(ctx->err + n, ctx->errsize - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

const char *decode_errno_name(int error)
{
	static const char *const names[] = {
		[EPERM] = "EPERM",
		[ENOENT] = "ENOENT",
		[ESRCH] = "ESRCH",
		[EINTR] = "EINTR",
		[EIO] = "EIO",
		[ENXIO] = "ENXIO",
		[E2BIG] = "E2BIG",
		[EBADF] = "EBADF",
		[ECHILD] = "ECHILD",
		[EAGAIN] = "EAGAIN",
		[ENOMEM] = "ENOMEM",
		[EACCES] = "EACCES",
		[EFAULT] = "EFAULT",
		[EBUSY] = "EBUSY",
		[EEXIST] = "EEXIST",
		[ENODEV] = "ENODEV",
		[EINVAL] = "EINVAL",
		[ENFILE] = "ENFILE",
		[EMFILE] = "EMFILE",
		[ENOTTY] = "ENOTTY",
		[EFBIG] = "EFBIG",
		[ENOSPC] = "ENOSPC",
		[ESPIPE] = "ESPIPE",
		[EPIPE] = "EPIPE",
		[ERANGE] = "ERANGE",
		[ENOSYS] = "ENOSYS",
		[EOVERFLOW] = "EOVERFLOW",
		[EOPNOTSUPP] = "EOPNOTSUPP",
	};

	if (error <= 0 || (size_t)error >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[error];
}

static bool is_error(int64_t result)
{
	return result < 0 && result >= -4095;
}

/* Bytes of the data area, NULL when the log does not hold them. */
static const uint8_t *data_at(const struct decode_ctx *ctx, uint64_t address, uint64_t n)
{
	const struct decode_log *log = ctx->log;

	if (address < log->data_addr || n > log->ndata ||
	    address - log->data_addr > log->ndata - n)
		return NULL;
	return log->data + (address - log->data_addr);
}

/* ---- what an event's noise is */

static void learn_events(struct decode_ctx *ctx)
{
	const struct scn *scn = ctx->scn;

	ctx->masked = scn->machine.cpus > 1;
	for (unsigned i = 0; i < scn->nevents; i++) {
		enum scn_counts counts = scn->events[i].counts;

		ctx->exact[i] = counts == SCN_COUNTS_NOTHING ||
				(!ctx->masked &&
				 (counts == SCN_COUNTS_EL0 || counts == SCN_COUNTS_SOFT ||
				  counts == SCN_COUNTS_PART));
		ctx->own[i] = true;
	}
	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];

		if (step->verb != SCN_OPEN || is_error(ctx->log->results[step->op]))
			continue;
		ctx->opener[step->event] = step->task;
		if (step->peer >= 0 || !step->pid)
			continue;
		/* At EL0 only the scenario's own tasks run meanwhile. */
		if (step->pid < 0 && scn->events[step->event].counts == SCN_COUNTS_EL0)
			continue;
		ctx->exact[step->event] = ctx->own[step->event] = false;
	}
}

/* Events whose records may be in the ring of @owner. */
static uint64_t ring_writers(const struct scn *scn, int owner)
{
	uint64_t writers = 1ull << owner;

	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];
		bool output = step->verb == SCN_IOCTL && step->cmd == IOC_SET_OUTPUT;
		/* PERF_FLAG_FD_OUTPUT */
		bool flag = step->verb == SCN_OPEN && (step->flags & 2);

		if ((output || flag) && step->other == owner)
			writers |= 1ull << step->event;
	}
	return writers;
}

static bool all_exact(const struct decode_ctx *ctx, uint64_t writers)
{
	for (unsigned i = 0; i < ctx->scn->nevents; i++)
		if ((writers >> i & 1) && !ctx->exact[i])
			return false;
	return true;
}

/* ---- read */

struct values {
	const struct decode_ctx *ctx;
	const struct scn_count *counts; /* of the step, one an event */
	struct tt_record *record;
	const uint8_t *bytes;
	uint8_t mask[256];
	size_t at, n; /* of the record; bytes behind it are the next one's */
	bool shorter;
};

static bool take(struct values *v, bool compare, uint64_t *value)
{
	if (v->n - v->at < 8 || v->at + 8 > sizeof(v->mask)) {
		v->shorter = true;
		return false;
	}
	*value = decode_get(v->bytes + v->at, 8);
	memset(v->mask + v->at, compare ? 0xff : 0, 8);
	v->at += 8;
	return true;
}

static struct tt_field *take_field(struct values *v, const char *name, bool exact)
{
	struct tt_field *field;
	uint64_t value;

	if (!take(v, exact, &value))
		return NULL;
	field = tt_field_add(v->record, name,
			     exact	      ? TT_EXACT
			     : v->ctx->masked ? TT_ANY
					      : TT_BOUNDED,
			     "%" PRIu64, value);
	field->hi = UINT64_MAX;
	return field;
}

static void take_times(struct values *v, uint64_t format, unsigned event)
{
	/* Never enabled: then there is no time to be noisy. */
	bool never = !v->counts[event].windows;
	struct tt_field *field;

	if (format & FORMAT_ENABLED) {
		field = take_field(v, "enabled", never);
		if (field)
			field->lo = v->counts[event].el0_ns;
	}
	if (format & FORMAT_RUNNING) {
		field = take_field(v, "running", never);
		if (!field || never)
			return;
		field->lo = v->counts[event].el0_ns;
		if (format & FORMAT_ENABLED) {
			field->class = TT_AT_MOST;
			field->bound = strdup("enabled");
			if (!field->bound)
				abort();
		}
	}
}

static void take_id(struct values *v, uint64_t format)
{
	char name[80];
	uint64_t id;

	if (!(format & FORMAT_ID) || !take(v, false, &id))
		return;
	decode_id_name(v->ctx, id, name, sizeof(name));
	tt_field_add(v->record, "id", TT_EXACT, "%s", name);
}

/* Closes the record with the bytes taken so far, and starts behind them. */
static void end_values(struct values *v)
{
	if (v->shorter)
		tt_field_add(v->record, "cut", TT_EXACT, "%zu", v->n);
	tt_raw_set(v->record, v->bytes, v->mask, v->at);
	v->bytes += v->at;
	v->n -= v->at;
	v->at = 0;
}

static void single_values(struct values *v, uint64_t format, unsigned event,
			  struct tt_step *out)
{
	bool exact = v->ctx->exact[event];

	v->record = tt_record_add(out, "values");
	take_field(v, "value", exact);
	take_times(v, format, event);
	take_id(v, format);
	if (format & FORMAT_LOST)
		take_field(v, "lost", exact);
	end_values(v);
}

/* The @nth member of a group as sibling_list has them after the steps before
 * @step: the leader, then the others as they were opened. -1: no such. */
static int group_member(const struct decode_ctx *ctx, const struct scn_step *step,
			unsigned nth)
{
	const struct scn *scn = ctx->scn;

	if (!nth)
		return step->event;
	for (unsigned i = 0; i + 1 < step->number; i++) {
		const struct scn_step *other = &scn->steps[i];
		bool closed = false;

		if (other->verb != SCN_OPEN || other->other != step->event ||
		    is_error(ctx->log->results[other->op]))
			continue;
		for (unsigned k = i; k + 1 < step->number; k++)
			closed |= scn->steps[k].verb == SCN_CLOSE &&
				  scn->steps[k].event == other->event;
		if (!closed && !--nth)
			return other->event;
	}
	return -1;
}

static void group_values(struct values *v, uint64_t format, const struct scn_step *step,
			 struct tt_step *out)
{
	unsigned i = 0;

	v->record = tt_record_add(out, "group");
	take_field(v, "nr", true);
	take_times(v, format, (unsigned)step->event);
	end_values(v);
	while (v->n && !v->shorter) {
		int event = group_member(v->ctx, step, i++);
		bool exact = event >= 0 && v->ctx->exact[event];

		v->record = tt_record_add(out, "values");
		if (event >= 0)
			tt_field_add(v->record, "event", TT_EXACT, "%s",
				     v->ctx->scn->events[event].name);
		take_field(v, "value", exact);
		take_id(v, format);
		if (format & FORMAT_LOST)
			take_field(v, "lost", exact);
		end_values(v);
	}
}

static int decode_read(struct decode_ctx *ctx, const struct scn_step *step,
		       const struct scn_count *counts, struct tt_step *out)
{
	int64_t result = ctx->log->results[step->op];
	uint64_t format = ctx->scn->events[step->event].attr.read_format;
	struct values v = {.ctx = ctx, .counts = counts};

	if (result <= 0)
		return 0;
	if ((uint64_t)result > step->buf_size)
		return fail(ctx, "step %u: read gave more than it was asked for",
			    step->number);
	v.bytes = data_at(ctx, step->buf, (uint64_t)result);
	v.n = (size_t)result;
	if (!v.bytes)
		return fail(ctx, "step %u: its buffer is not in the log", step->number);
	if (format & FORMAT_GROUP)
		group_values(&v, format, step, out);
	else
		single_values(&v, format, (unsigned)step->event, out);
	return 0;
}

/* ---- the mapping */

/* What this operation copied to the drain log. */
static int take_drained(struct decode_ctx *ctx, const struct scn_step *step,
			const uint8_t **bytes, size_t *n)
{
	const struct decode_log *log = ctx->log;
	int64_t result = log->results[step->op];
	size_t *at, left;

	at = &ctx->drained[step->task].at;
	left = ctx->drained[step->task].end - *at;
	if (left < 8 || decode_get(log->drain + *at, 8) != (uint64_t)result ||
	    left - 8 < (uint64_t)result)
		return fail(ctx,
			    "step %u: the drain log does not hold its %" PRId64 " bytes",
			    step->number, result);
	*bytes = log->drain + *at + 8;
	*n = (size_t)result;
	*at += 8 + *n;
	return 0;
}

static int decode_ring(struct decode_ctx *ctx, const struct scn_step *step,
		       struct tt_step *out)
{
	uint64_t writers = ring_writers(ctx->scn, step->event);
	bool exact = all_exact(ctx, writers);
	const uint8_t *bytes;
	size_t n, count;

	if (take_drained(ctx, step, &bytes, &n))
		return -1;
	count = decode_records(ctx, out, writers, bytes, n);
	tt_result_set(out, exact || !count ? TT_EXACT : TT_BOUNDED, "%zu", count);
	if (!exact && count) {
		out->result.lo = 1;
		out->result.hi = UINT64_MAX;
	}
	return 0;
}

/* struct perf_event_mmap_page */
static const struct page_field {
	const char *name;
	unsigned offset, bytes;
	enum {
		PAGE_SAME,
		PAGE_COUNT,
		PAGE_TIME,
		PAGE_HEX
	} kind;
} page_fields[] = {
	{"version", 0, 4, PAGE_SAME},	     {"compat_version", 4, 4, PAGE_SAME},
	{"index", 12, 4, PAGE_SAME},	     {"offset", 16, 8, PAGE_COUNT},
	{"enabled", 24, 8, PAGE_TIME},	     {"running", 32, 8, PAGE_TIME},
	{"capabilities", 40, 8, PAGE_HEX},   {"pmc_width", 48, 2, PAGE_SAME},
	{"data_head", 1024, 8, PAGE_COUNT},  {"data_tail", 1032, 8, PAGE_COUNT},
	{"data_offset", 1040, 8, PAGE_SAME}, {"data_size", 1048, 8, PAGE_SAME},
};

static int decode_page(struct decode_ctx *ctx, const struct scn_step *step,
		       const struct scn_count *counts, struct tt_step *out)
{
	bool exact = all_exact(ctx, ring_writers(ctx->scn, step->event));
	bool never = !counts[step->event].windows;
	enum tt_class class = ctx->masked ? TT_ANY : TT_BOUNDED;
	struct tt_record *record;
	const uint8_t *bytes;
	size_t n;

	if (take_drained(ctx, step, &bytes, &n))
		return -1;
	if (n < PAGE_BYTES)
		return fail(ctx, "step %u: only %zu bytes of a page", step->number, n);
	record = tt_record_add(out, "page");
	for (unsigned i = 0; i < sizeof(page_fields) / sizeof(page_fields[0]); i++) {
		const struct page_field *f = &page_fields[i];
		bool noisy = (f->kind == PAGE_TIME && !never) ||
			     (f->kind == PAGE_COUNT && !exact);
		struct tt_field *field;

		field = tt_field_add(record, f->name, noisy ? class : TT_EXACT,
				     f->kind == PAGE_HEX ? "0x%" PRIx64 : "%" PRIu64,
				     decode_get(bytes + f->offset, f->bytes));
		field->hi = UINT64_MAX;
	}
	return 0;
}

/* ---- other steps */

static int decode_poll(struct decode_ctx *ctx, const struct scn_step *step,
		       struct tt_step *out)
{
	const uint8_t *pollfd = data_at(ctx, step->buf, step->buf_size);
	bool exact = all_exact(ctx, ring_writers(ctx->scn, step->event));

	if (is_error(ctx->log->results[step->op]))
		return 0;
	if (!pollfd)
		return fail(ctx, "step %u: its buffer is not in the log", step->number);
	if (!exact)
		out->result.class = TT_ANY;
	tt_field_add(tt_record_add(out, "poll"), "revents", exact ? TT_EXACT : TT_ANY,
		     "0x%" PRIx64, decode_get(pollfd + 6, 2));
	return 0;
}

static int decode_ioctl(struct decode_ctx *ctx, const struct scn_step *step,
			struct tt_step *out)
{
	const uint8_t *id;
	char name[80];

	if (step->cmd != IOC_ID || !step->buf || is_error(ctx->log->results[step->op]))
		return 0;
	id = data_at(ctx, step->buf, 8);
	if (!id)
		return fail(ctx, "step %u: its buffer is not in the log", step->number);
	decode_id_name(ctx, decode_get(id, 8), name, sizeof(name));
	tt_field_add(tt_record_add(out, "id"), "id", TT_EXACT, "%s", name);
	return 0;
}

/* struct stat of arm64 (asm-generic/stat.h). */
static int decode_call(struct decode_ctx *ctx, const struct scn_step *step,
		       struct tt_step *out)
{
	enum {
		NR_DUP = 23,
		NR_FSTAT = 80,
		STAT_MODE = 16,
		STAT_SIZE = 48
	};
	int64_t result = ctx->log->results[step->op];
	struct tt_record *record;
	const uint8_t *stat;

	if (is_error(result))
		return 0;
	if (step->nr == NR_DUP)
		tt_result_set(out, TT_EXACT, "fd");
	if (step->nr != NR_FSTAT || !step->buf)
		return 0;
	stat = data_at(ctx, step->buf, step->buf_size);
	if (!stat)
		return fail(ctx, "step %u: its buffer is not in the log", step->number);
	record = tt_record_add(out, "stat");
	tt_field_add(record, "mode", TT_EXACT, "0%" PRIo64,
		     decode_get(stat + STAT_MODE, 4));
	tt_field_add(record, "size", TT_EXACT, "%" PRIu64,
		     decode_get(stat + STAT_SIZE, 8));
	return 0;
}

/* E2BIG: the size that the kernel left in the attr. */
static void decode_attr_size(const struct decode_ctx *ctx, const struct scn_step *step,
			     struct tt_step *out)
{
	const uint8_t *attr = data_at(ctx, ctx->scn->events[step->event].attr_addr, 8);

	if (ctx->log->results[step->op] == -E2BIG && attr)
		tt_field_add(tt_record_add(out, "attr"), "size", TT_EXACT, "%" PRIu64,
			     decode_get(attr + 4, 4));
}

static void learn_id(struct decode_ctx *ctx, const struct scn_step *step)
{
	const uint8_t *id = data_at(ctx, step->id_addr, 8);

	if (id && !is_error(ctx->log->results[step->op]) &&
	    !is_error(ctx->log->results[step->id_op]))
		ctx->ids[step->event] = decode_get(id, 8);
}

static void set_result(const struct scn_step *step, int64_t result, struct tt_step *out)
{
	const char *name = is_error(result) ? decode_errno_name((int)-result) : NULL;

	if (result == INT64_MIN) /* AGENT_NOT_RUN */
		tt_result_set(out, TT_EXACT, "none");
	else if (name)
		tt_result_set(out, TT_EXACT, "%s", name);
	else if (is_error(result))
		tt_result_set(out, TT_EXACT, "E%d", (int)-result);
	else if (step->verb == SCN_OPEN)
		tt_result_set(out, TT_EXACT, "fd");
	else if (step->verb == SCN_MMAP || step->verb == SCN_MAP)
		tt_result_set(out, TT_EXACT, "addr");
	else if (step->verb == SCN_THREAD)
		tt_result_set(out, TT_EXACT, "tid");
	else if (step->verb == SCN_FORK)
		tt_result_set(out, TT_EXACT, "pid");
	else
		tt_result_set(out, TT_EXACT, "%" PRId64, result);
}

/* `wait T` of a fork: whom, and how it ended (include/uapi/linux/wait.h). */
static int decode_wait(struct decode_ctx *ctx, const struct scn_step *step,
		       struct tt_step *out)
{
	const uint8_t *buf = data_at(ctx, step->buf, step->buf_size);
	int64_t result = ctx->log->results[step->op];
	struct tt_record *record;
	const char *name;
	uint64_t status;

	if (ctx->scn->tasks[step->peer].kind == SCN_TASK_THREAD) {
		/* Gone before or woken by it: nobody's merit. */
		if (result == -EAGAIN)
			tt_result_set(out, TT_EXACT, "0");
		return 0;
	}
	if (result <= 0)
		return 0;
	if (!buf)
		return fail(ctx, "step %u: its buffer is not in the log", step->number);
	name = decode_task_name(ctx, step->task, (uint64_t)result);
	tt_result_set(out, TT_EXACT, "%s", name ? name : "stranger");
	status = decode_get(buf, 4);
	record = tt_record_add(out, "wait");
	if (status & 0x7f)
		tt_field_add(record, "signal", TT_EXACT, "%" PRIu64, status & 0x7f);
	else
		tt_field_add(record, "exited", TT_EXACT, "%" PRIu64, status >> 8 & 0xff);
	return 0;
}

/* The file's open is the operation before; what it said counts. */
static void decode_file(struct decode_ctx *ctx, const struct scn_step *step,
			struct tt_step *out)
{
	int64_t result = ctx->log->results[step->op];
	int64_t opened = ctx->log->results[step->op - 1];

	if (step->verb == SCN_MAP && !strcmp(step->text, "anon"))
		return;
	if (is_error(opened) && decode_errno_name((int)-opened))
		tt_result_set(out, TT_EXACT, "%s", decode_errno_name((int)-opened));
	else if (step->verb == SCN_SYSCTL && result > 0)
		tt_result_set(out, TT_EXACT, "0");
}

static void decode_rdpmc(struct decode_ctx *ctx, const struct scn_step *step,
			 struct tt_step *out)
{
	int64_t result = ctx->log->results[step->op];

	if (!is_error(result) && result != INT64_MIN && !ctx->exact[step->event])
		out->result.class = TT_ANY;
}

static int decode_step(struct decode_ctx *ctx, const struct scn_step *step,
		       const struct scn_count *counts, struct tt_step *out)
{
	int64_t result = ctx->log->results[step->op];

	set_result(step, result, out);
	if (result == INT64_MIN)
		return 0;
	switch (step->verb) {
	case SCN_OPEN:
		learn_id(ctx, step);
		decode_attr_size(ctx, step, out);
		return 0;
	case SCN_CALL:
		return decode_call(ctx, step, out);
	case SCN_READ:
		return decode_read(ctx, step, counts, out);
	case SCN_RECORDS:
	case SCN_PEEK:
		return is_error(result) ? 0 : decode_ring(ctx, step, out);
	case SCN_PAGE:
		return is_error(result) ? 0 : decode_page(ctx, step, counts, out);
	case SCN_POLL:
		return decode_poll(ctx, step, out);
	case SCN_IOCTL:
		return decode_ioctl(ctx, step, out);
	case SCN_WAIT:
		return decode_wait(ctx, step, out);
	case SCN_SYSCTL:
	case SCN_MAP:
		decode_file(ctx, step, out);
		return 0;
	case SCN_SIGNAL:
		if (result <= 0)
			return 0;
		if (!data_at(ctx, step->buf, step->buf_size))
			return fail(ctx, "step %u: its buffer is not in the log",
				    step->number);
		decode_siginfo(ctx, step,
			       data_at(ctx, step->buf + step->buf_size - SCN_SIGINFO_SIZE,
				       SCN_SIGINFO_SIZE),
			       out);
		return 0;
	case SCN_RDPMC:
		decode_rdpmc(ctx, step, out);
		return 0;
	case SCN_SYNC:
	case SCN_SWITCH:
	case SCN_PAUSE:
	case SCN_WAKE:
		if (result == 8)
			tt_result_set(out, TT_EXACT, "0");
		return 0;
	default:
		return 0;
	}
}

/* ---- predictions */

static bool read_is_predicted(const struct decode_ctx *ctx, const struct scn_step *step,
			      const struct scn_count *counts, unsigned event)
{
	return step->verb == SCN_READ && ctx->log->results[step->op] > 0 &&
	       counts[event].known;
}

/* `7 c=1000029/10`: what step 7 must read, after how many overflows. */
static void predicted_header(const struct decode_ctx *ctx, struct tt_trace *trace,
			     const struct scn_count *counts)
{
	const struct scn *scn = ctx->scn;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];
		const struct scn_count *row = counts + (size_t)i * scn->nevents;

		for (unsigned nth = 0; step->verb == SCN_READ; nth++) {
			int event = group_member(ctx, step, nth);

			if (event < 0 ||
			    (nth &&
			     !(scn->events[step->event].attr.read_format & FORMAT_GROUP)))
				break;
			if (!read_is_predicted(ctx, step, row, (unsigned)event))
				continue;
			fprintf(out, "%sstep %u %s=%" PRIu64, ftell(out) ? ", " : "",
				step->number, scn->events[event].name, row[event].value);
			if (row[event].samples_known)
				fprintf(out, " samples=%" PRIu64, row[event].samples);
		}
	}
	fclose(out);
	tt_header_set(trace, "predicted", size ? text : "none");
	free(text);
}

static int decode_steps(struct decode_ctx *ctx, struct tt_trace *trace,
			const struct scn_count *counts)
{
	const struct scn *scn = ctx->scn;

	for (unsigned i = 0; i < scn->nsteps; i++) {
		const struct scn_step *step = &scn->steps[i];
		struct tt_step *out = tt_step_add(trace, step->number, step->words);

		if (decode_step(ctx, step, counts + (size_t)i * scn->nevents, out))
			return -1;
	}
	for (unsigned i = 0; i < scn->ntasks; i++)
		if (ctx->drained[i].at != ctx->drained[i].end)
			return fail(ctx, "%zu bytes of the drain log are left over",
				    ctx->drained[i].end - ctx->drained[i].at);
	return 0;
}

static void learn_tasks(struct decode_ctx *ctx)
{
	const struct scn *scn = ctx->scn;
	const int64_t *results = ctx->log->results;
	size_t at = 0;

	for (unsigned i = 0; i < scn->ntasks; i++) {
		const struct scn_task *task = &scn->tasks[i];

		if (results[task->tid_op] > 0)
			ctx->tasks[i].own = (uint64_t)results[task->tid_op];
		if (task->made_op >= 0 && results[task->made_op] > 0)
			ctx->tasks[i].made = (uint64_t)results[task->made_op];
		/* The agent prints the used part of one task's log after the other's. */
		ctx->drained[i].at = at;
		for (unsigned k = task->first_op;
		     scn->shared && k < task->first_op + task->nops && k < scn->nops; k++)
			if ((scn->ops[k].kind == AGENT_DRAIN ||
			     scn->ops[k].kind == AGENT_PEEK ||
			     scn->ops[k].kind == AGENT_PAGE) &&
			    results[k] >= 0)
				at += 8 + (size_t)results[k];
		ctx->drained[i].end = at = scn->shared ? at : ctx->log->ndrain;
	}
	if (at != ctx->log->ndrain)
		ctx->drained[scn->ntasks - 1].end = ctx->log->ndrain;
}

struct tt_trace *decode_trace(const struct scn *scn, const struct decode_log *log,
			      const struct decode_symbols *symbols, char *err,
			      size_t errsize)
{
	struct decode_ctx ctx = {.scn = scn,
				 .log = log,
				 .symbols = symbols,
				 .err = err,
				 .errsize = errsize};
	struct scn_count *counts;
	struct tt_trace *trace;
	int failed;

	if (log->nresults != scn->nops) {
		fail(&ctx, "the log has %zu results, the scenario %u operations",
		     log->nresults, scn->nops);
		return NULL;
	}
	learn_tasks(&ctx);
	learn_events(&ctx);
	counts = scn_predict(scn, log->results, log->nresults);
	trace = tt_new(scn->name);
	predicted_header(&ctx, trace, counts);
	failed = decode_steps(&ctx, trace, counts);
	free(counts);
	if (!failed)
		return trace;
	tt_free(trace);
	return NULL;
}

int decode_check_counts(const struct scn *scn, const struct decode_log *log,
			const struct tt_trace *trace, char *err, size_t errsize)
{
	struct decode_ctx ctx = {.scn = scn, .log = log, .err = err, .errsize = errsize};
	struct scn_count *counts = scn_predict(scn, log->results, log->nresults);
	int failed = 0;

	for (unsigned i = 0; i < scn->nsteps && !failed; i++) {
		const struct scn_step *step = &scn->steps[i];
		const struct scn_count *row = counts + (size_t)i * scn->nevents;
		bool group;

		if (step->verb != SCN_READ || log->results[step->op] <= 0)
			continue;
		group = scn->events[step->event].attr.read_format & FORMAT_GROUP;
		for (unsigned nth = 0; !failed && (!nth || group); nth++) {
			int event = group_member(&ctx, step, nth);

			if (event < 0)
				break;
			if (row[event].known)
				failed = merge_refuse_count(
					trace, step->number, nth + 1 + group,
					row[event].value, err, errsize);
		}
	}
	free(counts);
	return failed;
}
