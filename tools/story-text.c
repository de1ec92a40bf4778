/* SPDX-License-Identifier: MIT */
/* A story's events in words. Every number is the bus's, or the arithmetic that is
 * written next to it. */
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/regtext.h"
#include "tools/story.h"

enum { TEXT = 256, NAME = 80, TOLD_BYTES = 160 };

struct teller {
	const struct story *story;
	const struct code *code;
	const struct story_overflow *overflow;
	size_t number;
	struct story_state state; /* before the event in hand */
	struct story_record record;
	size_t told; /* bytes of it that are in lines already */
	story_line_fn fn;
	void *opaque;
	size_t at; /* event in hand */
};

static void __attribute__((format(printf, 3, 4))) say(struct teller *t, const char *tag,
						      const char *fmt, ...)
{
	struct story_line line = {
		.event = t->at,
		.cycle = t->story->events[t->at].cycle,
		.tag = tag,
	};
	char text[TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line.text = text;
	t->fn(t->opaque, &line);
}

#define U(x) ((unsigned long long)(x))

/* " of CPU 1" with @word " of", where there are several. */
static const char *on_cpu(const struct teller *t, const char *word, char *buf)
{
	buf[0] = '\0';
	if (t->story->ncpus > 1)
		snprintf(buf, NAME, "%s CPU %u", word, t->overflow->cpu);
	return buf;
}

static const char *at_pc(const struct teller *t, uint64_t pc, char *buf)
{
	code_name(t->code, pc, buf, NAME);
	return buf;
}

static const char *who(const struct teller *t, uint64_t id, char *buf)
{
	return story_event_name(t->story, id, buf, NAME);
}

/* -- before --------------------------------------------------------------- */

void story_counters(const struct story *story, size_t n, char *text, size_t size)
{
	const struct story_overflow *overflow = &story->overflows[n];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned c = 0; c < 32 && used < size; c++) {
		int event;
		char name[32];

		if (!(overflow->counters >> c & 1))
			continue;
		event = story_event_of(story, overflow->before.owner[c]);
		regtext_counter(c, name, sizeof(name));
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s",
					 used ? " and " : "", name, event < 0 ? "" : " (",
					 event < 0 ? "" : story->scn->events[event].name,
					 event < 0 ? "" : ")");
	}
	if (story->ncpus > 1 && used < size)
		snprintf(text + used, size - used, " of CPU %u", overflow->cpu);
}

static void tell_armed(struct teller *t, unsigned n)
{
	const struct story_state *s = &t->overflow->before;
	bool lower = n < PMUV3_CYCLE && story_chained(s, n + 1);
	int event = story_event_of(t->story, s->owner[n]);
	struct story_line line = { .event = t->at, .tag = "armed" };
	char text[TEXT], name[32];
	size_t used;

	if (!s->written_cycle[n])
		return;
	regtext_counter(n, name, sizeof(name));
	if (lower)
		used = (size_t)snprintf(text, sizeof(text),
					"%s <- 0x%llx: the lower half of a chain", name,
					U(s->written[n]));
	else
		used = (size_t)snprintf(text, sizeof(text), "%s <- 0x%llx: %llu before %s", name,
					U(s->written[n]), U(story_room(s, n, s->written)),
					story_chained(s, n) ? "the chain wraps" : "it wraps");
	if (!lower && event >= 0 && s->event[event].period && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used,
			 "; %s has period %llu, period_left %lld",
			 t->story->scn->events[event].name, U(s->event[event].period),
			 (long long)s->event[event].left);
	line.cycle = s->written_cycle[n];
	line.text = text;
	t->fn(t->opaque, &line);
}

/* -- the wrap and the wires ------------------------------------------------ */

static void tell_wrap(struct teller *t, const struct story_event *e)
{
	const struct story_event *previous = story_previous(t->story, t->at);
	char name[32], cpu[NAME], pc[NAME], insn[NAME];

	regtext_counter((unsigned)e->a, name, sizeof(name));
	on_cpu(t, " of", cpu);
	if (e->c) {
		code_insn(t->code, e->c, insn, sizeof(insn));
		say(t, "wrap", "%s%s passes its end: 0x%llx after %s%s%s", name, cpu, U(e->b),
		    at_pc(t, e->c, pc), *insn ? ": " : "", insn);
	} else if (previous && previous->kind == TRACE_INJECT) {
		say(t, "wrap", "%s%s passes its end: 0x%llx after %llu injected events", name, cpu,
		    U(e->b), U(previous->b));
	} else {
		say(t, "wrap", "%s%s passes its end: 0x%llx, in the kernel (EL1)", name, cpu,
		    U(e->b));
	}
	if (t->state.pmovs >> (e->a & 31) & 1)
		say(t, "flag", "was set already and nobody has cleared it: two overflows, one flag");
}

static void tell_flag(struct teller *t, const struct story_event *e, const char *verb)
{
	char bits[100];

	regtext_bits(e->a, bits, sizeof(bits));
	say(t, "flag", "PMOVS %s %s %s: PMOVS = 0x%llx", e->a & (e->a - 1) ? "bits" : "bit", bits,
	    verb, U(e->b));
}

static void tell_line(struct teller *t, const struct story_event *e)
{
	char cpu[NAME];

	on_cpu(t, " on", cpu);
	if (e->b)
		say(t, "line", "up%s: PMCR_EL0.E = 1, PMOVS & PMINTENSET = 0x%llx & 0x%llx", cpu,
		    U(t->state.pmovs), U(t->state.pminten));
	else if (!(t->state.pmcr & 1))
		say(t, "line", "down%s: PMCR_EL0.E = 0", cpu);
	else
		say(t, "line", "down%s: PMOVS & PMINTENSET = 0x%llx & 0x%llx", cpu,
		    U(t->state.pmovs), U(t->state.pminten));
}

static bool taken_at_once(const struct teller *t)
{
	const struct story_overflow *o = t->overflow;

	return o->taken && o->taken > t->at &&
	       t->story->events[o->taken].cycle == t->story->events[t->at].cycle;
}

static const char *why_masked(const struct teller *t, char *buf, size_t size)
{
	const struct story_state *s = &t->state;

	if (s->active)
		snprintf(buf, size, "INTID 23 is still active: its own priority runs");
	else if (s->pmr < 0xa0)
		snprintf(buf, size, "ICC_PMR_EL1 = 0x%llx lets no interrupt through", U(s->pmr));
	else if (s->el && s->masked)
		snprintf(buf, size, "PSTATE.I = 1, the kernel holds interrupts off");
	else
		snprintf(buf, size, "the CPU takes it at its next interrupt point");
	return buf;
}

static void tell_pending(struct teller *t, const struct story_event *e)
{
	char why[NAME];

	if (e->a != PMUV3_INTID)
		return;
	if (!e->b)
		say(t, "pending", "INTID %llu no longer pending", U(e->a));
	else if (taken_at_once(t))
		say(t, "pending", "INTID %llu (PPI 7) pending; PSTATE.I = 0, ICC_PMR_EL1 = 0x%llx: "
		    "not masked", U(e->a), U(t->state.pmr));
	else
		say(t, "pending", "INTID %llu (PPI 7) pending, not taken: %s", U(e->a),
		    why_masked(t, why, sizeof(why)));
}

static void tell_taken(struct teller *t, const struct story_event *e)
{
	char cpu[NAME], pc[NAME], pstate[NAME];

	regtext_pstate(e->b, pstate, sizeof(pstate));
	say(t, "taken", "IRQ vector%s: ELR_EL1 = 0x%llx (%s), SPSR_EL1 = 0x%llx (%s)",
	    on_cpu(t, " of", cpu), U(e->a), at_pc(t, e->a, pc), U(e->b), pstate);
}

static void tell_mask(struct teller *t, const struct story_event *e)
{
	const struct story_overflow *o = t->overflow;

	/* of interest only while this interrupt waits */
	if (t->at > (o->taken ? o->taken : o->last) || !t->state.pending || t->state.active)
		return;
	say(t, "mask", e->a ? "PSTATE.I = 1: interrupts off" : "PSTATE.I = 0: interrupts on");
}

/* -- the handler ----------------------------------------------------------- */

/* What this write of counter @n means; of a chain Linux writes the upper half first. */
static void room_of(const struct teller *t, unsigned n, const struct story_event *e,
		    char *text, size_t size)
{
	uint64_t values[32];

	memcpy(values, t->state.written, sizeof(values));
	values[n] = e->b;
	if (story_chained(&t->state, n))
		snprintf(text, size, "the upper half of a chain");
	else if (n < PMUV3_CYCLE && story_chained(&t->state, n + 1))
		snprintf(text, size, "%llu before the chain wraps",
			 U(story_room(&t->state, n + 1, values)));
	else
		snprintf(text, size, "%llu before it wraps", U(story_room(&t->state, n, values)));
}

static void tell_register(struct teller *t, const struct story_event *e, bool write)
{
	char name[32], fields[120];
	int n;

	story_reg_name((uint32_t)e->a, name, sizeof(name));
	regtext_fields(name, e->b, fields, sizeof(fields));
	if (write && strstr(fields, " N="))
		*strstr(fields, " N=") = '\0'; /* read-only */
	n = regtext_counter_of(name);
	if (n >= 0 && write)
		room_of(t, (unsigned)n, e, fields, sizeof(fields));
	say(t, write ? "write" : "read", "%s %s 0x%llx%s%s", name, write ? "<-" : "=", U(e->b),
	    *fields ? ": " : "", fields);
}

static void tell_serve(struct teller *t, const struct story_event *e)
{
	char name[32], buf[NAME];

	regtext_counter((unsigned)e->b, name, sizeof(name));
	say(t, "serve", "%s on %s: the period that ends here was %llu", who(t, e->a, buf),
	    name, U(e->c));
}

/* period_left, as perf counts it down: what was left when the counter was written,
 * less what it has counted since, and the next period on top. */
static void tell_arm(struct teller *t, const struct story_event *e)
{
	const struct story_event *previous = story_previous(t->story, t->at);
	int event = story_event_of(t->story, e->a);
	const char *name;
	long long left, counted, after, period = (long long)e->c, now = (long long)e->b;
	unsigned n = 32;
	char buf[NAME];

	name = who(t, e->a, buf);
	if (previous && previous->kind == TRACE_SERVE)
		n = (unsigned)previous->b;
	if (event < 0 || n > 31) {
		say(t, "period", "%s: period_left = %lld of %lld", name, now, period);
		return;
	}
	left = (long long)t->state.event[event].left;
	counted = (long long)story_counted(&t->state, n);
	after = left - counted;
	if (after > 0 && after == now)
		say(t, "period", "%s: period_left = %lld - %lld counted = %lld: not over yet",
		    name, left, counted, now);
	else if (after <= -period && now == period)
		say(t, "period", "%s: period_left = %lld - %lld counted = %lld, a period late or "
		    "more: starts again at %lld", name, left, counted, after, now);
	else if (after + period == now)
		say(t, "period", "%s: period_left = %lld - %lld counted = %lld; + period %lld = %lld",
		    name, left, counted, after, period, now);
	else
		say(t, "period", "%s: period_left = %lld of %lld", name, now, period);
}

/* -- records --------------------------------------------------------------- */

static const char *misc_name(unsigned misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return " KERNEL";
	case PERF_RECORD_MISC_USER:
		return " USER";
	default:
		return "";
	}
}

static void tell_word(struct teller *t, size_t word)
{
	struct perf_event_header header;
	const char *name;
	uint64_t value;
	char pc[NAME], buf[NAME];

	memcpy(&header, t->record.bytes, sizeof(header));
	memcpy(&value, t->record.bytes + 8 * word, sizeof(value));
	if (!word) {
		say(t, "record", "+0x00 type = %u %s, misc = 0x%x%s, size = %u", header.type,
		    story_record_name(header.type), header.misc, misc_name(header.misc),
		    header.size);
		return;
	}
	name = story_record_field(t->story, &t->record, word);
	if (!name)
		say(t, "record", "+0x%02zx 0x%llx", 8 * word, U(value));
	else if (!strcmp(name, "ip"))
		say(t, "record", "+0x%02zx ip = 0x%llx (%s)", 8 * word, U(value),
		    at_pc(t, value, pc));
	else if (!strcmp(name, "id"))
		say(t, "record", "+0x%02zx id = %llu (%s)", 8 * word, U(value),
		    who(t, value, buf));
	else if (!strcmp(name, "pid,tid"))
		say(t, "record", "+0x%02zx pid = %u, +0x%02zx tid = %u", 8 * word,
		    (unsigned)(uint32_t)value, 8 * word + 4, (unsigned)(value >> 32));
	else if (!strcmp(name, "cpu"))
		say(t, "record", "+0x%02zx cpu = %u", 8 * word, (unsigned)(uint32_t)value);
	else
		say(t, "record", "+0x%02zx %s = %llu", 8 * word, name, U(value));
}

static void tell_store(struct teller *t, const struct story_event *e)
{
	if (story_record_add(t->story, &t->record, e)) {
		t->told = 0;
		say(t, "record", "%llu bytes go to the ring at byte %llu:",
		    U(t->record.left + e->c), U(e->b));
	} else if (t->record.gap) {
		say(t, "record", "%llu bytes more, behind %llu left alone, at byte %llu:", U(e->c),
		    U(t->record.gap), U(e->b));
	} else {
		say(t, "record", "%llu bytes more, at byte %llu:", U(e->c), U(e->b));
	}
	for (; t->told + 8 <= t->record.nbytes && t->told < TOLD_BYTES; t->told += 8)
		tell_word(t, t->told / 8);
	if (t->told >= TOLD_BYTES && !t->record.left)
		say(t, "record", "and what is behind these %zu bytes", t->told);
}

static uint64_t ring_size(const struct teller *t, int event)
{
	for (unsigned i = 0; event >= 0 && i < t->story->scn->nsteps; i++) {
		const struct scn_step *step = &t->story->scn->steps[i];

		if (step->verb == SCN_MMAP && step->event == event)
			return step->pages * 4096;
	}
	return 0;
}

static void tell_head(struct teller *t, const struct story_event *e)
{
	int event = story_ring_of(t->story, e->a);
	uint64_t size = ring_size(t, event), was = event < 0 ? 0 : t->state.event[event].head;

	if (event >= 0 && was == e->b)
		say(t, "head", "data_head stays %llu; data_tail %llu", U(e->b), U(e->c));
	else if (event < 0 || !size)
		say(t, "head", "data_head %llu published; data_tail %llu", U(e->b), U(e->c));
	else
		say(t, "head", "data_head %llu -> %llu published; data_tail %llu; %llu of %llu "
		    "bytes wait", U(was), U(e->b), U(e->c), U(e->b - e->c), U(size));
}

static void tell_lost(struct teller *t, const struct story_event *e)
{
	const struct story_event *head = NULL;

	for (size_t i = t->at + 1; i < t->story->nevents && i < t->at + 4 && !head; i++)
		if (t->story->events[i].kind == TRACE_HEAD &&
		    t->story->events[i].cpu == e->cpu)
			head = &t->story->events[i];
	if (head && ring_size(t, story_ring_of(t->story, head->a)))
		say(t, "lost", "%s of %llu bytes dropped: the ring holds %llu - 1 bytes and "
		    "%llu - %llu wait for the reader", story_record_name((uint32_t)e->a), U(e->b),
		    U(ring_size(t, story_ring_of(t->story, head->a))), U(head->b),
		    U(head->c));
	else
		say(t, "lost", "%s of %llu bytes dropped", story_record_name((uint32_t)e->a), U(e->b));
}

static void tell_exception(struct teller *t, const struct story_event *e)
{
	char pc[NAME];

	say(t, "call", "exception to EL1: ESR_EL1 = 0x%llx%s, ELR_EL1 = 0x%llx (%s)", U(e->a),
	    e->a >> 26 == 0x15 ? " (SVC)" : "", U(e->b), at_pc(t, e->b, pc));
}

static void tell_eret(struct teller *t, const struct story_event *e)
{
	char pc[NAME], pstate[NAME];

	regtext_pstate(e->b, pstate, sizeof(pstate));
	say(t, "eret", "to 0x%llx (%s), %s", U(e->a), at_pc(t, e->a, pc), pstate);
}

static void tell_other_wrap(struct teller *t)
{
	const struct story_overflow *all = t->story->overflows;
	size_t n = t->number;

	for (size_t i = n + 1; i < t->story->noverflows && all[i].first <= t->at; i++)
		if (all[i].cpu == t->overflow->cpu)
			n = i;
	say(t, "wrap", "and meanwhile another one: overflow %zu", n + 1);
}

static void tell(struct teller *t, const struct story_event *e)
{
	char buf[NAME];

	switch (e->kind) {
	case TRACE_WRAP:
		if (e->cycle == t->overflow->cycle && t->at < t->overflow->first + 32)
			tell_wrap(t, e);
		else
			tell_other_wrap(t);
		break;
	case TRACE_FLAG_SET:
		tell_flag(t, e, "set");
		break;
	case TRACE_FLAG_CLEAR:
		tell_flag(t, e, "cleared");
		break;
	case TRACE_LINE:
		tell_line(t, e);
		break;
	case TRACE_PENDING:
		tell_pending(t, e);
		break;
	case TRACE_ACK:
		say(t, "active", "INTID %llu acknowledged: pending -> active", U(e->a));
		break;
	case TRACE_EOI:
		say(t, "eoi", "INTID %llu: priority dropped, no longer active", U(e->a));
		break;
	case TRACE_TAKEN:
		tell_taken(t, e);
		break;
	case TRACE_EXCEPTION:
		tell_exception(t, e);
		break;
	case TRACE_ERET:
		tell_eret(t, e);
		break;
	case TRACE_SYSREG_READ:
		tell_register(t, e, false);
		break;
	case TRACE_SYSREG_WRITE:
		tell_register(t, e, true);
		break;
	case TRACE_INJECT:
		say(t, "inject", "%llu events into counter %llu", U(e->b), U(e->a));
		break;
	case TRACE_LOST:
		tell_lost(t, e);
		break;
	case TRACE_WAKEUP:
		say(t, "wakeup", "whoever polls %s is woken", who(t, e->a, buf));
		break;
	case TRACE_MASK:
		tell_mask(t, e);
		break;
	case TRACE_SERVE:
		tell_serve(t, e);
		break;
	case TRACE_ARM:
		tell_arm(t, e);
		break;
	case TRACE_STORE:
		tell_store(t, e);
		break;
	case TRACE_HEAD:
		tell_head(t, e);
		break;
	case TRACE_ADJUST: /* of the event that has just been armed */
		say(t, "adjust", "%llu event%s in %llu ns: from that comes the next period", U(e->b),
		    e->b == 1 ? "" : "s", U(e->a));
		break;
	case TRACE_RECORD: /* its bytes have been told */
	case TRACE_KINDS:
		break;
	}
}

/* -- afterwards ------------------------------------------------------------ */

static void tell_skid(struct teller *t)
{
	const struct story_overflow *o = t->overflow;
	const struct story_event *taken = &t->story->events[o->taken];
	char pc[NAME], elr[NAME];

	t->at = o->last;
	if (!o->cleared) {
		say(t, "skid", "nobody has cleared the flag when the scenario ends");
	} else if (!o->taken) {
		say(t, "skid", "no interrupt of its own: the flag was cleared before one was taken");
	} else if (taken->cycle == o->cycle && o->pc) {
		say(t, "skid", "0 cycles. The instruction at %s wrapped the counter, %s would be "
		    "next: that is the IP", at_pc(t, o->pc, pc), at_pc(t, taken->a, elr));
	} else if (o->pc) {
		say(t, "skid", "%llu cycles masked. %s wrapped the counter, but the IP is where "
		    "interrupts came on: %s", U(taken->cycle - o->cycle), at_pc(t, o->pc, pc),
		    at_pc(t, taken->a, elr));
	} else {
		say(t, "skid", "%llu cycles from the wrap to the vector; the IP is where "
		    "interrupts came on: %s", U(taken->cycle - o->cycle),
		    at_pc(t, taken->a, elr));
	}
}

/* As they were written. */
static void tell_all_armed(struct teller *t)
{
	const struct story_state *s = &t->overflow->before;

	for (unsigned c = 0; c < 32; c++) {
		bool chain = c + 1 < PMUV3_CYCLE && story_chained(s, c + 1);

		if (chain && t->overflow->counters >> c & 3)
			tell_armed(t, c + 1);
		if (t->overflow->counters >> c & 1 && !story_chained(s, c))
			tell_armed(t, c);
	}
}

void story_tell(const struct story *story, const struct code *code, size_t n,
		story_line_fn fn, void *opaque)
{
	struct teller t = {
		.story = story,
		.code = code,
		.overflow = &story->overflows[n],
		.number = n,
		.state = story->overflows[n].before,
		.fn = fn,
		.opaque = opaque,
		.at = story->overflows[n].first,
	};

	tell_all_armed(&t);
	for (; t.at <= t.overflow->last; t.at++) {
		if (story->events[t.at].cpu == t.overflow->cpu)
			tell(&t, &story->events[t.at]);
		story_advance(story, &t.state, &story->events[t.at]);
	}
	tell_skid(&t);
}

/* Its counters, by the first one's name where they are many. */
static void few_counters(const struct story *story, size_t n, char *text, size_t size)
{
	const struct story_overflow *o = &story->overflows[n];
	unsigned counter = (unsigned)__builtin_ctz(o->counters);
	char name[32];

	regtext_counter(counter, name, sizeof(name));
	snprintf(text, size, "%s and %d more", name, __builtin_popcount(o->counters) - 1);
	if (story->ncpus > 1)
		snprintf(text + strlen(text), size - strlen(text), " of CPU %u", o->cpu);
}

void story_brief(const struct story *story, const struct code *code, size_t n, char *text,
		 size_t size)
{
	const struct story_overflow *o = &story->overflows[n];
	char counters[2 * NAME], ip_text[NAME] = "none", skid[32] = "-";
	uint64_t head = 0;

	if (o->has_ip)
		code_name(code, o->ip, ip_text, sizeof(ip_text));
	if (o->taken)
		snprintf(skid, sizeof(skid), "%llu", U(story->events[o->taken].cycle - o->cycle));
	for (size_t i = o->cleared ? o->cleared : o->last; i <= o->last; i++)
		if (story->events[i].kind == TRACE_HEAD && story->events[i].cpu == o->cpu)
			head = story->events[i].b;
	story_counters(story, n, counters, sizeof(counters));
	for (bool few = false;; few = true) {
		snprintf(text, size, "overflow %zu: cycle %llu %s skid %s ip %s head %llu%s", n + 1,
			 U(o->cycle), counters, skid, ip_text, U(head), o->lost ? " LOST" : "");
		if (few || strlen(text) <= STORY_COLUMNS || !(o->counters & (o->counters - 1)))
			break;
		few_counters(story, n, counters, sizeof(counters));
	}
}
