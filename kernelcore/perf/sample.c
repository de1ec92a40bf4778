/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/sample.h"

#include <linux/perf_event.h>
#include <string.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/callchain.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/ring.h"
#include "kernelcore/perf/slots.h"

/* The nine fields that say who, where and when. */
#define SCALARS                                                                          \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
	 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_IDENTIFIER)

enum {
	CGROUP_ROOT = 1 /* the id of the only cgroup */
};

static uint64_t pair(uint32_t low, uint32_t high)
{
	uint64_t word;
	uint32_t halves[2] = {low, high};

	memcpy(&word, halves, sizeof(word));
	return word;
}

/* The task that runs, as the pid namespace of the event's opener sees it. Idle
 * is 0. */
static uint64_t tid_entry(const struct kperf_event *event)
{
	const struct ksys_task *task = ksys_current(event->perf->sys);

	if (!task)
		return 0;
	return pair((uint32_t)ksys_task_tgid(task, event->observer),
		    (uint32_t)ksys_task_tid(task, event->observer));
}

/* What a record says of where and when it was written. */
struct stamp {
	uint64_t tid, time, cpu;
};

static void take_stamp(struct hal *hal, const struct kperf_event *event,
		       struct stamp *stamp)
{
	uint64_t type = event->attr.u.a.sample_type;

	if (type & PERF_SAMPLE_TID)
		stamp->tid = tid_entry(event);
	if (type & PERF_SAMPLE_TIME)
		stamp->time = hal_clock_ns(hal);
	if (type & PERF_SAMPLE_CPU)
		stamp->cpu = pair(hal_cpu_id(hal), 0);
}

/* --- what a sample will hold ------------------------------------------------- */

enum {
	REGS_NONE = PERF_SAMPLE_REGS_ABI_NONE,
	REGS_64 = PERF_SAMPLE_REGS_ABI_64,
	RAW_NONE = 4, /* u32: bytes that follow in it, all 0 */
	REG_SP = 31,
	REG_PC = 32,
};
static const uint64_t task_size = UINT64_C(1) << 48;

/* Everything that has to be known before room can be reserved; Linux
 * perf_prepare_sample(). */
struct sample {
	struct perf_cpu *cpu;
	struct kperf_event *event;
	const struct hal_regs *regs;
	uint64_t type, period, addr;
	struct stamp stamp;
	const uint64_t *chain;
	uint64_t user_abi;
	struct hal_regs user, intr;
	uint32_t size, stack_size;
};

/* Fields of one word each, whatever the event. */
#define ONE_WORD                                                                        \
	(SCALARS | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |   \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |       \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | \
	 PERF_SAMPLE_AUX)

static uint32_t words(uint64_t n)
{
	return (uint32_t)(n * sizeof(uint64_t));
}

/* No builtin: on AArch64 without vector registers it is a library call. */
static uint32_t count_bits(uint64_t mask)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Linux perf_sample_ustack_size(): what is asked, as far as there is a user
 * address space above SP, cut to what a record can hold. Fields that follow
 * the stack have their room too; Linux forgets those of REGS_INTR, and then
 * the 16 bits of the size wrap. */
static uint32_t stack_size(const struct sample *s, uint32_t before, uint32_t behind)
{
	uint32_t wanted = s->event->attr.u.a.sample_stack_user;
	uint64_t sp = s->user.sp;

	if (s->user_abi == REGS_NONE || !sp || sp >= task_size)
		return 0;
	if (wanted > task_size - sp)
		wanted = (uint32_t)(task_size - sp);
	before += words(2);
	if (before + wanted + behind > PERF_SAMPLE_BYTES_LIMIT)
		wanted = PERF_SAMPLE_BYTES_LIMIT - before - behind;
	return wanted;
}

static void take_user_regs(struct sample *s)
{
	if (!ksys_current(s->event->perf->sys))
		return;
	s->user_abi = REGS_64;
	hal_user_regs(s->cpu->hal, &s->user);
}

/* Entries of a call chain that a record has room for, with all that follows it. Linux
 * asks nobody: with perf_event_max_stack near 8192 its 16 bits of the size wrap. */
static unsigned chain_room(const struct sample *s)
{
	const struct perf_event_attr *a = &s->event->attr.u.a;
	uint32_t others = s->size + words(1);

	if (s->type & PERF_SAMPLE_REGS_USER)
		others += words(1 + count_bits(a->sample_regs_user));
	if (s->type & PERF_SAMPLE_REGS_INTR)
		others += words(1 + count_bits(a->sample_regs_intr));
	if (s->type & PERF_SAMPLE_STACK_USER)
		others += words(2);
	return (PERF_SAMPLE_BYTES_LIMIT - others) / (unsigned)sizeof(uint64_t);
}

static void prepare_variable(struct sample *s)
{
	const struct perf_event_attr *a = &s->event->attr.u.a;
	uint32_t intr = 0;

	if (s->type & PERF_SAMPLE_READ)
		s->size += (uint32_t)s->event->read_size;
	if (s->type & PERF_SAMPLE_CALLCHAIN) {
		s->chain = perf_callchain(s->cpu, s->event, s->regs, chain_room(s));
		s->size += words(1 + s->chain[0]);
	}
	if (s->type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER))
		take_user_regs(s);
	if (s->type & PERF_SAMPLE_REGS_USER)
		s->size += words(1 + (s->user_abi == REGS_NONE
					      ? 0
					      : count_bits(a->sample_regs_user)));
	if (s->type & PERF_SAMPLE_REGS_INTR) {
		hal_irq_regs(s->cpu->hal, s->regs, &s->intr);
		intr = words(1 + count_bits(a->sample_regs_intr));
	}
	if (s->type & PERF_SAMPLE_STACK_USER) {
		s->stack_size = stack_size(s, s->size, intr);
		s->size += words(1);
		if (s->stack_size)
			s->size += s->stack_size + words(1);
	}
	s->size += intr;
}

static void prepare(struct sample *s)
{
	s->size = words(1 + count_bits(s->type & ONE_WORD));
	if (s->type & ~(uint64_t)ONE_WORD)
		prepare_variable(s);
	take_stamp(s->cpu->hal, s->event, &s->stamp);
}

/* --- writing it --------------------------------------------------------------- */

/* Words on their way to the ring, so that a copy is worth its while. */
struct writer {
	struct perf_output *out;
	unsigned n;
	uint64_t buf[64];
};

static void flush(struct writer *w)
{
	perf_output_copy(w->out, w->buf, w->n * sizeof(w->buf[0]));
	w->n = 0;
}

static void put(struct writer *w, uint64_t word)
{
	w->buf[w->n++] = word;
	if (w->n == sizeof(w->buf) / sizeof(w->buf[0]))
		flush(w);
}

static void put_scalars(struct writer *w, const struct sample *s)
{
	uint64_t id = perf_event_primary_id(s->event);

	if (s->type & PERF_SAMPLE_IDENTIFIER)
		put(w, id);
	if (s->type & PERF_SAMPLE_IP)
		put(w, s->regs->pc);
	if (s->type & PERF_SAMPLE_TID)
		put(w, s->stamp.tid);
	if (s->type & PERF_SAMPLE_TIME)
		put(w, s->stamp.time);
	if (s->type & PERF_SAMPLE_ADDR)
		put(w, s->addr);
	if (s->type & PERF_SAMPLE_ID)
		put(w, id);
	if (s->type & PERF_SAMPLE_STREAM_ID)
		put(w, s->event->id);
	if (s->type & PERF_SAMPLE_CPU)
		put(w, s->stamp.cpu);
	if (s->type & PERF_SAMPLE_PERIOD)
		put(w, s->period);
}

static void put_member(struct writer *w, const struct sample *s,
		       struct kperf_event *member)
{
	uint64_t format = s->event->attr.u.a.read_format;

	/* the sampled event was brought up to date by its overflow */
	if (member != s->event && member->state == PERF_EVENT_ACTIVE)
		perf_event_update(s->cpu, member);
	put(w, member->count);
	if (format & PERF_FORMAT_ID)
		put(w, perf_event_primary_id(member));
	if (format & PERF_FORMAT_LOST)
		put(w, atomic_load_explicit(&member->lost_samples, memory_order_relaxed));
}

/* Linux perf_output_read(): the layout of read(), at this moment. */
static void put_read(struct writer *w, const struct sample *s)
{
	uint64_t format = s->event->attr.u.a.read_format;
	struct kperf_event *leader = s->event->leader, *sibling;
	uint64_t now, enabled = 0, running = 0;

	if (format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)) {
		now = perf_ctx_time_now(s->event, hal_clock_ns(s->cpu->hal));
		perf_event_times(s->event, now, &enabled, &running);
	}
	if (format & PERF_FORMAT_GROUP)
		put(w, 1 + leader->nr_siblings);
	else
		put(w, s->event->count);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(w, enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(w, running);
	if (!(format & PERF_FORMAT_GROUP)) {
		if (format & PERF_FORMAT_ID)
			put(w, perf_event_primary_id(s->event));
		if (format & PERF_FORMAT_LOST)
			put(w, atomic_load_explicit(&s->event->lost_samples,
						    memory_order_relaxed));
		return;
	}
	put_member(w, s, leader);
	perf_list_for_each(sibling, &leader->siblings, struct kperf_event, sibling_entry)
		put_member(w, s, sibling);
}

static void put_regs(struct writer *w, uint64_t abi, uint64_t mask,
		     const struct hal_regs *regs)
{
	put(w, abi);
	if (abi == REGS_NONE)
		return;
	for (; mask; mask &= mask - 1) {
		unsigned n = (unsigned)__builtin_ctzll(mask);

		put(w, n == REG_PC ? regs->pc : n == REG_SP ? regs->sp : regs->x[n]);
	}
}

/* The stack's bytes go from user memory to the ring without a stop. What is not
 * there leaves a hole, and the number of bytes that were stands behind it. */
static void put_stack(struct writer *w, const struct sample *s)
{
	size_t missing;

	put(w, s->stack_size);
	if (!s->stack_size)
		return;
	flush(w);
	missing = perf_output_copy_user(w->out, s->user.sp, s->stack_size);
	put(w, s->stack_size - missing);
}

static void put_rest(struct writer *w, const struct sample *s)
{
	const struct perf_event_attr *a = &s->event->attr.u.a;
	uint64_t type = s->type;

	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(w, s->user_abi, a->sample_regs_user, &s->user);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(w, s);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put(w, 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		put(w, s->event->perf->policy->data_src_none);
	if (type & PERF_SAMPLE_TRANSACTION)
		put(w, 0);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(w, REGS_64, a->sample_regs_intr, &s->intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put(w, 0); /* of an address that is not known */
	if (type & PERF_SAMPLE_CGROUP)
		put(w, CGROUP_ROOT);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put(w, 0);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put(w, hal_regs_user(s->regs)
			       ? ksys_user_page_size(s->event->perf->sys, s->regs->pc)
			       : 0);
	if (type & PERF_SAMPLE_AUX)
		put(w, 0);
}

static void put_sample(struct writer *w, const struct sample *s)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.misc = hal_regs_user(s->regs) ? PERF_RECORD_MISC_USER
					       : PERF_RECORD_MISC_KERNEL,
		.size = (uint16_t)s->size,
	};

	memcpy(&w->buf[w->n++], &header, sizeof(header));
	put_scalars(w, s);
	if (s->type & PERF_SAMPLE_READ)
		put_read(w, s);
	for (uint64_t i = 0; s->chain && i <= s->chain[0]; i++)
		put(w, s->chain[i]);
	if (s->type & PERF_SAMPLE_RAW)
		put(w, RAW_NONE);
	put_rest(w, s);
	flush(w);
}

/* --- the trailer of other records --------------------------------------------- */

size_t perf_trailer_size(const struct kperf_event *event)
{
	static const uint64_t fields[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					  PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	size_t size = 0;

	if (!event->attr.u.a.sample_id_all)
		return 0;
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (event->attr.u.a.sample_type & fields[i])
			size += 8;
	return size;
}

size_t perf_trailer_build(struct hal *hal, struct kperf_event *event,
			  uint64_t buf[PERF_TRAILER_BYTES_MAX / 8])
{
	uint64_t type = event->attr.u.a.sample_type;
	struct stamp stamp;
	size_t n = 0;

	if (!event->attr.u.a.sample_id_all)
		return 0;
	take_stamp(hal, event, &stamp);
	if (type & PERF_SAMPLE_TID)
		buf[n++] = stamp.tid;
	if (type & PERF_SAMPLE_TIME)
		buf[n++] = stamp.time;
	if (type & PERF_SAMPLE_ID)
		buf[n++] = perf_event_primary_id(event);
	if (type & PERF_SAMPLE_STREAM_ID)
		buf[n++] = event->id;
	if (type & PERF_SAMPLE_CPU)
		buf[n++] = stamp.cpu;
	if (type & PERF_SAMPLE_IDENTIFIER)
		buf[n++] = perf_event_primary_id(event);
	return n * sizeof(*buf);
}

/* wakeup_events moves the ring's wakeup mark by one byte: enough to be seen by
 * the outermost writer, and what shifts the half-ring mark as Linux does. */
static void count_wakeup_events(struct perf_output *out)
{
	const struct perf_event_attr *attr = &out->event->attr.u.a;
	struct perf_ring *ring = out->ring;
	unsigned n;

	if (attr->watermark || !attr->wakeup_events)
		return;
	n = atomic_fetch_add_explicit(&ring->events_since, 1, memory_order_relaxed) + 1;
	if ((int32_t)n < (int32_t)attr->wakeup_events)
		return;
	atomic_fetch_sub_explicit(&ring->events_since, attr->wakeup_events,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&ring->wakeup, 1, memory_order_relaxed);
}

void perf_sample_output(struct perf_cpu *cpu, struct kperf_event *event,
			const struct hal_regs *regs, uint64_t period, uint64_t addr)
{
	struct sample s;
	struct perf_output out;
	struct writer w;

	/* not all of it: registers are 1 KB that most samples do not want */
	s.cpu = cpu;
	s.event = event;
	s.regs = regs;
	s.type = event->attr.u.a.sample_type;
	s.period = period;
	s.addr = addr;
	s.chain = NULL;
	s.user_abi = REGS_NONE;
	s.stack_size = 0;
	prepare(&s);
	if (!perf_output_begin(&out, cpu->hal, event, PERF_RECORD_SAMPLE, s.size))
		return;
	w.out = &out;
	w.n = 0;
	put_sample(&w, &s);
	count_wakeup_events(&out);
	perf_output_end(&out);
	hal_note(cpu->hal, HAL_NOTE_RECORD, PERF_RECORD_SAMPLE, s.size);
}

/* Its own time is taken before the trailer's. */
void perf_throttle_output(struct perf_cpu *cpu, struct kperf_event *event, uint32_t type)
{
	uint64_t buf[4 + PERF_TRAILER_BYTES_MAX / 8];
	struct perf_event_header header = {.type = type};
	struct perf_output out;

	buf[1] = hal_clock_ns(cpu->hal);
	buf[2] = perf_event_primary_id(event);
	buf[3] = event->id;
	header.size = (uint16_t)(4 * sizeof(buf[0]) +
				 perf_trailer_build(cpu->hal, event, &buf[4]));
	memcpy(&buf[0], &header, sizeof(header));
	if (!perf_output_begin(&out, cpu->hal, event, type, header.size))
		return;
	perf_output_copy(&out, buf, header.size);
	perf_output_end(&out);
	hal_note(cpu->hal, HAL_NOTE_RECORD, type, header.size);
}
