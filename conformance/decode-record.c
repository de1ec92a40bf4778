/* SPDX-License-Identifier: MIT */
/*
 * Records as include/uapi/linux/perf_event.h lays them out (enum
 * perf_event_type): one cursor over a record's bytes, one function a field, and
 * a mask that says which bytes a golden compares.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/decode-record.h"

enum {
	HEADER = 8,
	MAX_RECORD = 65536
};

enum record_type {
	LOST = 2,
	COMM = 3,
	EXIT = 4,
	THROTTLE = 5,
	UNTHROTTLE = 6,
	FORK = 7,
	SAMPLE = 9
};

enum {
	S_IP = 1 << 0,
	S_TID = 1 << 1,
	S_TIME = 1 << 2,
	S_ADDR = 1 << 3,
	S_READ = 1 << 4,
	S_CALLCHAIN = 1 << 5,
	S_ID = 1 << 6,
	S_CPU = 1 << 7,
	S_PERIOD = 1 << 8,
	S_STREAM_ID = 1 << 9,
	S_RAW = 1 << 10,
	S_BRANCH_STACK = 1 << 11,
	S_REGS_USER = 1 << 12,
	S_STACK_USER = 1 << 13,
	S_WEIGHT = 1 << 14,
	S_DATA_SRC = 1 << 15,
	S_IDENTIFIER = 1 << 16,
	S_TRANSACTION = 1 << 17,
	S_REGS_INTR = 1 << 18,
	S_PHYS_ADDR = 1 << 19,
	S_AUX = 1 << 20,
	S_CGROUP = 1 << 21,
	S_DATA_PAGE_SIZE = 1 << 22,
	S_CODE_PAGE_SIZE = 1 << 23,
	S_WEIGHT_STRUCT = 1 << 24
};

enum {
	FORMAT_ENABLED = 1,
	FORMAT_RUNNING = 2,
	FORMAT_ID = 4,
	FORMAT_GROUP = 8,
	FORMAT_LOST = 16
};

#define AGENT_LOW 0x400000ull /* the lowest address of its ELF */
/* Nothing can be told of what follows one that is not in here. */
#define SAMPLE_FIELDS (((1u << 25) - 1) & ~(uint32_t)S_BRANCH_STACK)

struct cursor {
	const struct decode_ctx *ctx;
	struct tt_record *record;
	const uint8_t *bytes;
	uint8_t *mask;
	size_t at, n;
	const struct scn_event *event; /* whose record it is, NULL: not known */
	unsigned index;		       /* of that event */
	bool exact, all_exact;
	bool shorter; /* the record ended before its fields did */
};

uint64_t decode_get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

void decode_id_name(const struct decode_ctx *ctx, uint64_t id, char *text, size_t size)
{
	for (unsigned i = 0; id && i < ctx->scn->nevents; i++) {
		if (ctx->ids[i] == id) {
			snprintf(text, size, "%s", ctx->scn->events[i].name);
			return;
		}
	}
	snprintf(text, size, "%llu", (unsigned long long)id);
}

/* The next number; its bytes are compared when @compare. */
static bool take(struct cursor *c, unsigned bytes, bool compare, uint64_t *value)
{
	if (c->n - c->at < bytes) {
		c->shorter = true;
		c->at = c->n;
		return false;
	}
	*value = decode_get(c->bytes + c->at, bytes);
	memset(c->mask + c->at, compare ? 0xff : 0, bytes);
	c->at += bytes;
	return true;
}

static void field_number(struct cursor *c, const char *name, unsigned bytes,
			 enum tt_class class)
{
	uint64_t value;

	if (take(c, bytes, class == TT_EXACT, &value))
		tt_field_add(c->record, name, class, "%llu", (unsigned long long)value);
}

static void field_bounded(struct cursor *c, const char *name, bool exact)
{
	struct tt_field *field;
	uint64_t value;

	if (!take(c, 8, exact, &value))
		return;
	field = tt_field_add(c->record, name,
			     exact	      ? TT_EXACT
			     : c->ctx->masked ? TT_ANY
					      : TT_BOUNDED,
			     "%llu", (unsigned long long)value);
	field->hi = UINT64_MAX;
}

static void field_id(struct cursor *c, const char *name)
{
	char text[80];
	uint64_t id;

	if (!take(c, 8, false, &id))
		return;
	decode_id_name(c->ctx, id, text, sizeof(text));
	tt_field_add(c->record, name, TT_EXACT, "%s", text);
}

const char *decode_task_name(const struct decode_ctx *ctx, int seer, uint64_t id)
{
	const struct scn *scn = ctx->scn;

	for (unsigned i = 0; id && i < scn->ntasks; i++) {
		const struct scn_task *task = &scn->tasks[i];
		bool own = task->ns == scn->tasks[seer].ns;
		bool made = task->parent >= 0 &&
			    scn->tasks[task->parent].ns == scn->tasks[seer].ns;

		if ((own && ctx->tasks[i].own == id) ||
		    (made && ctx->tasks[i].made == id))
			return scn->shared ? task->name : "self";
	}
	return NULL;
}

static void one_pid(struct cursor *c, const char *name)
{
	bool own = !c->event || c->ctx->own[c->index];
	const char *task;
	uint64_t pid;

	if (!take(c, 4, false, &pid))
		return;
	task = decode_task_name(c->ctx, c->event ? c->ctx->opener[c->index] : 0, pid);
	if (task)
		tt_field_add(c->record, name, own ? TT_EXACT : TT_ANY, "%s", task);
	else
		tt_field_add(c->record, name, own ? TT_EXACT : TT_ANY, "%lld",
			     (long long)(int32_t)pid);
}

static void field_tid(struct cursor *c)
{
	one_pid(c, "pid");
	one_pid(c, "tid");
}

/* A place in the kernel, which every kernel has elsewhere. */
static bool in_kernel(const struct scn_event *event)
{
	return event && event->counts == SCN_COUNTS_SOFT &&
	       (event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static void field_ip(struct cursor *c)
{
	bool exact = c->exact && !in_kernel(c->event);
	struct tt_field *field;
	char text[128];
	uint64_t ip;

	if (!take(c, 8, exact, &ip))
		return;
	decode_symbols_name(c->ctx->symbols, ip, text, sizeof(text));
	if (exact) {
		tt_field_add(c->record, "ip", TT_EXACT, "%s", text);
	} else if (c->event && c->event->counts == SCN_COUNTS_EL1) {
		/* The kernel, or where its masked exit path returned to. */
		field = tt_field_add(c->record, "ip", TT_BOUNDED, "0x%llx",
				     (unsigned long long)ip);
		field->lo = AGENT_LOW;
		field->hi = UINT64_MAX;
	} else {
		tt_field_add(c->record, "ip", TT_ANY, "%s", text);
	}
}

static void field_hex(struct cursor *c, const char *name)
{
	uint64_t value;

	if (take(c, 8, true, &value))
		tt_field_add(c->record, name, TT_EXACT, "0x%llx",
			     (unsigned long long)value);
}

static void field_cpu(struct cursor *c)
{
	uint64_t reserved;

	field_number(c, "cpu", 4, TT_EXACT);
	take(c, 4, true, &reserved);
}

static void rest(struct cursor *c, bool compare)
{
	if (c->shorter) {
		tt_field_add(c->record, "cut", TT_EXACT, "%zu", c->n);
		return;
	}
	if (c->at == c->n)
		return;
	tt_field_add(c->record, "rest", TT_EXACT, "%zu", c->n - c->at);
	memset(c->mask + c->at, compare ? 0xff : 0, c->n - c->at);
	c->at = c->n;
}

/* ---- header */

static const char *mode_name(unsigned mode)
{
	static const char *const names[] = {"unknown", "kernel",       "user",
					    "hv",      "guest-kernel", "guest-user"};

	return mode < 6 ? names[mode] : "mode-7";
}

static void field_misc(struct cursor *c, enum tt_class class)
{
	uint64_t misc;

	if (!take(c, 2, class == TT_EXACT, &misc))
		return;
	if (misc & ~7ull)
		tt_field_add(c->record, "misc", class, "%s|0x%llx", mode_name(misc & 7),
			     (unsigned long long)(misc & ~7ull));
	else
		tt_field_add(c->record, "misc", class, "%s", mode_name(misc & 7));
}

static enum tt_class misc_class(const struct cursor *c, unsigned type)
{
	if (type != SAMPLE || c->exact)
		return TT_EXACT;
	/* Even an event that counts EL1 only: an overflow in the masked exit path
	 * is taken behind the ERET, at the first EL0 instruction. */
	return TT_ANY;
}

/* ---- bodies */

/* What read() would give: `value`, or `nr` and a `value_I` for each member. */
static void field_read(struct cursor *c)
{
	uint64_t format = c->event->attr.read_format, nr = 1;
	char name[32];

	if (format & FORMAT_GROUP) {
		if (!take(c, 8, true, &nr))
			return;
		tt_field_add(c->record, "nr", TT_EXACT, "%llu", (unsigned long long)nr);
	} else {
		field_bounded(c, "value", c->exact);
	}
	if (format & FORMAT_ENABLED)
		field_number(c, "enabled", 8, TT_ORDERED);
	if (format & FORMAT_RUNNING)
		field_number(c, "running", 8, TT_ORDERED);
	for (uint64_t i = 0; i < nr && !c->shorter; i++) {
		if (format & FORMAT_GROUP) {
			snprintf(name, sizeof(name), "value_%u", (unsigned)i);
			field_bounded(c, name, c->all_exact);
		}
		snprintf(name, sizeof(name), "id_%u", (unsigned)i);
		if (format & FORMAT_ID)
			field_id(c, name);
		snprintf(name, sizeof(name), "lost_%u", (unsigned)i);
		if (format & FORMAT_LOST)
			field_bounded(c, name, c->all_exact);
	}
}

static void print_frame(FILE *out, const struct cursor *c, uint64_t ip)
{
	static const struct {
		uint64_t mark;
		const char *name;
	} marks[] = {
		{-32ull, "HV"},	     {-128ull, "KERNEL"},	 {-512ull, "USER"},
		{-2048ull, "GUEST"}, {-2176ull, "GUEST_KERNEL"}, {-2560ull, "GUEST_USER"},
	};
	char text[128];

	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (ip == marks[i].mark) {
			fputs(marks[i].name, out);
			return;
		}
	}
	decode_symbols_name(c->ctx->symbols, ip, text, sizeof(text));
	fputs(text, out);
}

/* `chain=USER,spin+0x8,...`, `-` when there is nothing in it. */
static void field_callchain(struct cursor *c)
{
	uint64_t nr, ip;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!take(c, 8, c->exact, &nr))
		return;
	out = open_memstream(&text, &size);
	if (!out)
		abort();
	for (uint64_t i = 0; i < nr && take(c, 8, c->exact, &ip); i++) {
		if (i)
			fputc(',', out);
		print_frame(out, c, ip);
	}
	fclose(out);
	tt_field_add(c->record, "chain", c->exact ? TT_EXACT : TT_ANY, "%s",
		     size ? text : "-");
	free(text);
}

static void field_raw(struct cursor *c)
{
	uint64_t size;

	if (!take(c, 4, true, &size))
		return;
	tt_field_add(c->record, "raw_size", TT_EXACT, "%llu", (unsigned long long)size);
	for (; size && c->at < c->n; size--)
		c->mask[c->at++] = 0xff;
}

/* `PREFIX_abi`, and `PREFIX_x0` and so on where there is one. */
static void field_regs(struct cursor *c, const char *prefix, uint64_t wanted)
{
	enum tt_class class = c->exact ? TT_EXACT : TT_ANY;
	uint64_t abi, value;
	char name[32], symbol[128];

	if (!take(c, 8, c->exact, &abi))
		return;
	snprintf(name, sizeof(name), "%s_abi", prefix);
	tt_field_add(c->record, name, class, "%llu", (unsigned long long)abi);
	for (unsigned i = 0; abi && i < 64; i++) {
		if (!(wanted >> i & 1) || !take(c, 8, c->exact, &value))
			continue;
		if (i < 31)
			snprintf(name, sizeof(name), "%s_x%u", prefix, i);
		else
			snprintf(name, sizeof(name), "%s_%s", prefix,
				 i == 31 ? "sp" : "pc");
		decode_symbols_name(c->ctx->symbols, value, symbol, sizeof(symbol));
		tt_field_add(c->record, name, class, "%s", symbol);
	}
}

static void field_stack(struct cursor *c)
{
	enum tt_class class = c->exact ? TT_EXACT : TT_ANY;
	uint64_t size, filled;
	size_t at;

	if (!take(c, 8, c->exact, &size))
		return;
	tt_field_add(c->record, "stack", class, "%llu", (unsigned long long)size);
	if (!size)
		return;
	at = c->at;
	if (size > c->n - c->at) {
		c->shorter = true;
		c->at = c->n;
		return;
	}
	c->at += size;
	if (!take(c, 8, c->exact, &filled))
		return;
	tt_field_add(c->record, "filled", class, "%llu", (unsigned long long)filled);
	/* what was not filled is whatever was in the ring */
	memset(c->mask + at, 0, size);
	if (c->exact && filled <= size)
		memset(c->mask + at, 0xff, filled);
}

static void scalar_fields(struct cursor *c, uint64_t type)
{
	bool fixed = c->event && !c->event->attr.freq;

	if (type & S_IDENTIFIER)
		field_id(c, "identifier");
	if (type & S_IP)
		field_ip(c);
	if (type & S_TID)
		field_tid(c);
	if (type & S_TIME)
		field_number(c, "time", 8, TT_ORDERED);
	if (type & S_ADDR)
		field_hex(c, "addr");
	if (type & S_ID)
		field_id(c, "id");
	if (type & S_STREAM_ID)
		field_id(c, "stream_id");
	if (type & S_CPU)
		field_cpu(c);
	if (type & S_PERIOD)
		field_number(c, "period", 8, fixed ? TT_EXACT : TT_ANY);
}

static void sample_body(struct cursor *c)
{
	uint64_t type = c->event ? c->event->attr.sample_type : 0;

	scalar_fields(c, type);
	if (type & S_READ)
		field_read(c);
	if (type & S_CALLCHAIN)
		field_callchain(c);
	if (type & S_RAW)
		field_raw(c);
	if (type & S_REGS_USER)
		field_regs(c, "user", c->event->attr.sample_regs_user);
	if (type & S_STACK_USER)
		field_stack(c);
	if (type & (S_WEIGHT | S_WEIGHT_STRUCT))
		field_hex(c, "weight");
	if (type & S_DATA_SRC)
		field_hex(c, "data_src");
	if (type & S_TRANSACTION)
		field_hex(c, "txn");
	if (type & S_REGS_INTR)
		field_regs(c, "intr", c->event->attr.sample_regs_intr);
	if (type & S_PHYS_ADDR)
		field_hex(c, "phys_addr");
	if (type & S_CGROUP)
		field_number(c, "cgroup", 8, TT_EXACT);
	if (type & S_DATA_PAGE_SIZE)
		field_number(c, "data_page_size", 8, TT_EXACT);
	if (type & S_CODE_PAGE_SIZE)
		field_number(c, "code_page_size", 8, c->exact ? TT_EXACT : TT_ANY);
	if (type & S_AUX)
		field_number(c, "aux_size", 8, TT_EXACT);
	rest(c, !(type & ~(uint64_t)SAMPLE_FIELDS));
}

/* What sample_id_all puts behind every other record; names of its own, since
 * bodies have an id and a time too. */
static void trailer(struct cursor *c)
{
	uint64_t type = c->event ? c->event->attr.sample_type : 0;

	if (!c->event || !c->event->attr.sample_id_all) {
		rest(c, true);
		return;
	}
	if (type & S_TID) {
		one_pid(c, "s_pid");
		one_pid(c, "s_tid");
	}
	if (type & S_TIME)
		field_number(c, "s_time", 8, TT_ORDERED);
	if (type & S_ID)
		field_id(c, "s_id");
	if (type & S_STREAM_ID)
		field_id(c, "s_stream_id");
	if (type & S_CPU) {
		field_number(c, "s_cpu", 4, TT_EXACT);
		field_number(c, "s_res", 4, TT_EXACT);
	}
	if (type & S_IDENTIFIER)
		field_id(c, "s_identifier");
	rest(c, true);
}

static void comm_body(struct cursor *c)
{
	char name[17] = "";
	size_t n = 0;

	field_tid(c);
	while (c->at + n < c->n && n < 16 && c->bytes[c->at + n] > ' ') {
		name[n] = (char)c->bytes[c->at + n];
		n++;
	}
	tt_field_add(c->record, "comm", TT_EXACT, "%s", n ? name : "-");
	/* NUL-padded to 8 bytes. */
	n = (n + 8) / 8 * 8;
	for (; n && c->at < c->n; n--)
		c->mask[c->at++] = 0xff;
	trailer(c);
}

static void task_body(struct cursor *c)
{
	one_pid(c, "pid");
	one_pid(c, "ppid");
	one_pid(c, "tid");
	one_pid(c, "ptid");
	field_number(c, "time", 8, TT_ORDERED);
	trailer(c);
}

static void throttle_body(struct cursor *c)
{
	field_number(c, "time", 8, TT_ORDERED);
	field_id(c, "id");
	field_id(c, "stream_id");
	trailer(c);
}

static void lost_body(struct cursor *c)
{
	field_id(c, "id");
	field_bounded(c, "lost", c->exact);
	trailer(c);
}

static void body(struct cursor *c, unsigned type)
{
	switch (type) {
	case SAMPLE:
		sample_body(c);
		return;
	case LOST:
		lost_body(c);
		return;
	case COMM:
		comm_body(c);
		return;
	case FORK:
	case EXIT:
		task_body(c);
		return;
	case THROTTLE:
	case UNTHROTTLE:
		throttle_body(c);
		return;
	}
	rest(c, false);
}

static void kind_name(unsigned type, char *text, size_t size)
{
	static const char *const names[] = {
		[LOST] = "lost",
		[COMM] = "comm",
		[EXIT] = "exit",
		[THROTTLE] = "throttle",
		[UNTHROTTLE] = "unthrottle",
		[FORK] = "fork",
		[SAMPLE] = "sample",
	};

	if (type < sizeof(names) / sizeof(names[0]) && names[type])
		snprintf(text, size, "%s", names[type]);
	else
		snprintf(text, size, "type-%u", type);
}

/* ---- whose record is it? */

static int first_writer(uint64_t writers)
{
	for (int i = 0; i < SCN_MAX_EVENTS; i++)
		if (writers >> i & 1)
			return i;
	return -1;
}

static int event_by_id(const struct decode_ctx *ctx, uint64_t writers, uint64_t id)
{
	for (unsigned i = 0; id && i < ctx->scn->nevents; i++)
		if ((writers >> i & 1) && ctx->ids[i] == id)
			return (int)i;
	return -1;
}

/* Offset of the id that a sample of this type carries, 0: none (the header is
 * there). IDENTIFIER comes first; ID stands behind IP, TID, TIME and ADDR. */
static size_t sample_id_offset(uint64_t type)
{
	size_t at = HEADER;

	if (type & S_IDENTIFIER)
		return at;
	if (!(type & S_ID))
		return 0;
	for (unsigned bit = 0; bit < 4; bit++)
		at += (type >> bit & 1) ? 8 : 0;
	return at;
}

/* Several events may share a ring. Their ids tell them apart, if each one's
 * record, read by its own sample type, names itself; else they must be alike
 * and the first of them stands for all. */
static int writer_of(const struct decode_ctx *ctx, uint64_t writers, unsigned type,
		     const uint8_t *bytes, size_t n)
{
	for (unsigned i = 0; i < ctx->scn->nevents; i++) {
		size_t at;

		if (!(writers >> i & 1))
			continue;
		if (type == LOST)
			at = HEADER;
		else if (type == THROTTLE || type == UNTHROTTLE)
			at = HEADER + 8;
		else
			at = sample_id_offset(ctx->scn->events[i].attr.sample_type);
		if (at && at + 8 <= n &&
		    event_by_id(ctx, writers, decode_get(bytes + at, 8)) == (int)i)
			return (int)i;
	}
	return first_writer(writers);
}

static bool all_exact(const struct decode_ctx *ctx, uint64_t writers)
{
	for (unsigned i = 0; i < ctx->scn->nevents; i++)
		if ((writers >> i & 1) && !ctx->exact[i])
			return false;
	return true;
}

static void decode_one(const struct decode_ctx *ctx, struct tt_step *step,
		       uint64_t writers, const uint8_t *bytes, size_t n)
{
	unsigned type = (unsigned)decode_get(bytes, 4);
	int writer = writer_of(ctx, writers, type, bytes, n);
	struct cursor c = {.ctx = ctx, .bytes = bytes, .n = n};
	char kind[32];
	uint64_t unused;

	c.mask = malloc(n);
	if (!c.mask)
		abort();
	/* One noisy writer makes everyone's losses a matter of chance. */
	c.exact = c.all_exact = all_exact(ctx, writers);
	if (writer >= 0) {
		c.event = &ctx->scn->events[writer];
		c.index = (unsigned)writer;
		if (type == SAMPLE)
			c.exact = ctx->exact[writer];
	}
	kind_name(type, kind, sizeof(kind));
	c.record = tt_record_add(step, kind);
	take(&c, 4, true, &unused);
	field_misc(&c, misc_class(&c, type));
	field_number(&c, "size", 2, TT_EXACT);
	body(&c, type);
	tt_raw_set(c.record, bytes, c.mask, n);
	free(c.mask);
}

size_t decode_records(const struct decode_ctx *ctx, struct tt_step *step,
		      uint64_t writers, const uint8_t *bytes, size_t n)
{
	size_t at = 0, count = 0;

	while (at < n) {
		size_t size = n - at < HEADER ? 0 : decode_get(bytes + at + 6, 2);

		if (size < HEADER || size % 8 || size > n - at) {
			struct tt_record *record = tt_record_add(step, "broken");

			tt_field_add(record, "offset", TT_EXACT, "%zu", at);
			break;
		}
		decode_one(ctx, step, writers, bytes + at, size);
		at += size;
		count++;
	}
	return count;
}
