/* SPDX-License-Identifier: MIT */
/*
 * What a test of one device needs around it: the bus, written down, and an end
 * for a wire that counts how often it is driven.
 */
#ifndef PMULAB_CONFORMANCE_BUS_LOG_H
#define PMULAB_CONFORMANCE_BUS_LOG_H

#include <check.h>
#include <stdint.h>

#include "emu/line.h"
#include "emu/trace.h"

enum {
	BUS_LOG_MAX = 4096
};

struct bus_log {
	unsigned n, seen;
	struct trace_event event[BUS_LOG_MAX];
};

static inline void bus_log_add(void *opaque, const struct trace_event *event)
{
	struct bus_log *log = opaque;

	ck_assert_uint_lt(log->n, BUS_LOG_MAX);
	log->event[log->n++] = *event;
}

/* The next event not yet looked at must be this one. */
static inline void bus_log_next(struct bus_log *log, uint64_t cycle, enum trace_kind kind,
				uint64_t a, uint64_t b)
{
	const struct trace_event *event = &log->event[log->seen];

	ck_assert_msg(log->seen < log->n, "no event, expected %s", trace_kind_name(kind));
	ck_assert_str_eq(trace_kind_name(event->kind), trace_kind_name(kind));
	ck_assert_uint_eq(event->a, a);
	ck_assert_uint_eq(event->b, b);
	ck_assert_uint_eq(event->cycle, cycle);
	log->seen++;
}

/* Nothing else happened since. */
static inline void bus_log_end(const struct bus_log *log)
{
	ck_assert_msg(log->seen == log->n, "%u events more, the first is %s",
		      log->n - log->seen, trace_kind_name(log->event[log->seen].kind));
}

static inline void bus_log_skip(struct bus_log *log)
{
	log->seen = log->n;
}

struct wire_end {
	int level;
	unsigned driven;
};

static inline void wire_end_set(void *opaque, int level)
{
	struct wire_end *end = opaque;

	end->level = level;
	end->driven++;
}

#endif
