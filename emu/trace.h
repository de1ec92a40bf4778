/* SPDX-License-Identifier: MIT */
/*
 * The event bus. Whatever an observer may want to see of the machine or of the
 * kernel on it is one event here; tests, `expect bus` and later `explain` read
 * the bus, nothing prints on its own.
 *
 * Rule: no event exists, or carries a time, because of how often an engine
 * settles. An event's time is the machine's cycle count at which the thing
 * happened, the same in both engines.
 */
#ifndef PMULAB_EMU_TRACE_H
#define PMULAB_EMU_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum trace_kind {
	TRACE_WRAP,	    /* a = counter (31: cycle counter), b = value after, c = address
			     * of the instruction that wrapped it, 0: not the guest's */
	TRACE_FLAG_SET,	    /* a = PMOVS bits that rose, b = PMOVS after */
	TRACE_FLAG_CLEAR,   /* a = PMOVS bits that fell, b = PMOVS after */
	TRACE_LINE,	    /* a = INTID, b = level */
	TRACE_PENDING,	    /* a = INTID, b = 1 became pending, 0 no longer */
	TRACE_ACK,	    /* a = INTID read from ICC_IAR1_EL1 */
	TRACE_EOI,	    /* a = INTID written to ICC_EOIR1_EL1 */
	TRACE_TAKEN,	    /* IRQ exception: a = ELR, b = SPSR */
	TRACE_EXCEPTION,    /* synchronous exception: a = ESR, b = ELR, c = FAR */
	TRACE_ERET,	    /* a = PC returned to, b = PSTATE */
	TRACE_SYSREG_READ,  /* a = encoding (SYSREG()), b = value */
	TRACE_SYSREG_WRITE, /* a = encoding, b = value */
	TRACE_INJECT,	    /* a = counter, b = events */
	TRACE_RECORD,	    /* the kernel wrote a record: a = PERF_RECORD type, b = bytes */
	TRACE_LOST,	    /* the kernel dropped a record: a = type, b = bytes */
	TRACE_WAKEUP,	    /* the kernel woke the ring's pollers: a = event id */
	TRACE_MASK,	    /* a = PSTATE.I at EL1, of a kernel outside the machine */
	TRACE_SERVE,	    /* the kernel serves event a's overflow of counter b, whose
			     * period was c */
	TRACE_ARM,	    /* the kernel programs event a's counter: b events of its
			     * period c are left */
	TRACE_STORE,	    /* the kernel wrote c bytes (data) of event a's record to
			     * its ring, at byte b since the ring's beginning */
	TRACE_HEAD,	    /* the kernel published data_head b in event a's ring, where
			     * data_tail was c */
	TRACE_ADJUST,	    /* the kernel adjusts a frequency's period, by a = ns and
			     * b = events in them */
	TRACE_KINDS,
};

struct trace_event {
	uint64_t cycle; /* cycles since machine reset */
	enum trace_kind kind;
	unsigned cpu;
	uint64_t a, b, c;
	const void *data; /* TRACE_STORE: c bytes, valid during the call; else NULL */
};

typedef void (*trace_fn)(void *opaque, const struct trace_event *event);

enum { TRACE_LISTENERS = 4 };

struct trace_bus {
	const uint64_t *now; /* the machine's cycle count, owned by the machine */
	unsigned nlisteners;
	struct {
		trace_fn fn;
		void *opaque;
	} listener[TRACE_LISTENERS];
};

/* @now must outlive the bus. */
void trace_bus_init(struct trace_bus *bus, const uint64_t *now);

/* 0, or -ENOSPC when all TRACE_LISTENERS places are taken. */
int trace_subscribe(struct trace_bus *bus, trace_fn fn, void *opaque);

/* Nobody listens any more: what follows is the end of the program around it. */
void trace_bus_mute(struct trace_bus *bus);

/* Costs one compare when nobody listens. */
void trace_emit(struct trace_bus *bus, unsigned cpu, enum trace_kind kind,
		uint64_t a, uint64_t b, uint64_t c);

/* The same for an event that has @data. */
void trace_emit_data(struct trace_bus *bus, unsigned cpu, enum trace_kind kind,
		     uint64_t a, uint64_t b, uint64_t c, const void *data);

/* "wrap", "flag-set", ... as `expect bus` spells it; NULL if out of range. */
const char *trace_kind_name(enum trace_kind kind);

/* Inverse of trace_kind_name(); -1 when there is no such name. */
int trace_kind_from_name(const char *name);

/* What a, b and c are called for this kind ("counter", "value", ...); NULL
 * where the kind does not use that place. @place is 0, 1 or 2. */
const char *trace_arg_name(enum trace_kind kind, unsigned place);

#endif
