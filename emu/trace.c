/* SPDX-License-Identifier: MIT */
#include "emu/trace.h"

#include <errno.h>
#include <string.h>

struct kind_desc {
	const char *name;
	const char *arg[3];
};

/* clang-format off */
static const struct kind_desc kinds[TRACE_KINDS] = {
	[TRACE_WRAP]	     = { "wrap",	 { "counter", "value", "pc" } },
	[TRACE_FLAG_SET]     = { "flag-set",	 { "bits", "pmovs" } },
	[TRACE_FLAG_CLEAR]   = { "flag-clear",	 { "bits", "pmovs" } },
	[TRACE_LINE]	     = { "line",	 { "intid", "level" } },
	[TRACE_PENDING]	     = { "pending",	 { "intid", "level" } },
	[TRACE_ACK]	     = { "ack",		 { "intid" } },
	[TRACE_EOI]	     = { "eoi",		 { "intid" } },
	[TRACE_TAKEN]	     = { "taken",	 { "elr", "spsr" } },
	[TRACE_EXCEPTION]    = { "exception",	 { "esr", "elr", "far" } },
	[TRACE_ERET]	     = { "eret",	 { "pc", "pstate" } },
	[TRACE_SYSREG_READ]  = { "sysreg-read",	 { "reg", "value" } },
	[TRACE_SYSREG_WRITE] = { "sysreg-write", { "reg", "value" } },
	[TRACE_INJECT]	     = { "inject",	 { "counter", "events" } },
	[TRACE_RECORD]	     = { "record",	 { "type", "bytes" } },
	[TRACE_LOST]	     = { "lost",	 { "type", "bytes" } },
	[TRACE_WAKEUP]	     = { "wakeup",	 { "id" } },
	[TRACE_MASK]	     = { "mask",	 { "i" } },
	[TRACE_SERVE]	     = { "serve",	 { "id", "counter", "period" } },
	[TRACE_ARM]	     = { "arm",		 { "id", "left", "period" } },
	[TRACE_STORE]	     = { "store",	 { "id", "at", "bytes" } },
	[TRACE_HEAD]	     = { "head",	 { "id", "head", "tail" } },
	[TRACE_ADJUST]	     = { "adjust",	 { "nsec", "count" } },
};
/* clang-format on */

void trace_bus_init(struct trace_bus *bus, const uint64_t *now)
{
	memset(bus, 0, sizeof(*bus));
	bus->now = now;
}

int trace_subscribe(struct trace_bus *bus, trace_fn fn, void *opaque)
{
	if (bus->nlisteners == TRACE_LISTENERS)
		return -ENOSPC;
	bus->listener[bus->nlisteners].fn = fn;
	bus->listener[bus->nlisteners].opaque = opaque;
	bus->nlisteners++;
	return 0;
}

void trace_bus_mute(struct trace_bus *bus)
{
	bus->nlisteners = 0;
}

void trace_emit(struct trace_bus *bus, unsigned cpu, enum trace_kind kind, uint64_t a,
		uint64_t b, uint64_t c)
{
	trace_emit_data(bus, cpu, kind, a, b, c, NULL);
}

void trace_emit_data(struct trace_bus *bus, unsigned cpu, enum trace_kind kind, uint64_t a,
		     uint64_t b, uint64_t c, const void *data)
{
	if (!bus || !bus->nlisteners)
		return;

	const struct trace_event event = {
		.cycle = *bus->now,
		.kind = kind,
		.cpu = cpu,
		.a = a,
		.b = b,
		.c = c,
		.data = data,
	};
	for (unsigned i = 0; i < bus->nlisteners; i++)
		bus->listener[i].fn(bus->listener[i].opaque, &event);
}

const char *trace_kind_name(enum trace_kind kind)
{
	return (unsigned)kind < TRACE_KINDS ? kinds[kind].name : NULL;
}

int trace_kind_from_name(const char *name)
{
	for (unsigned i = 0; i < TRACE_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return (int)i;
	return -1;
}

const char *trace_arg_name(enum trace_kind kind, unsigned place)
{
	if ((unsigned)kind >= TRACE_KINDS || place > 2)
		return NULL;
	return kinds[kind].arg[place];
}
