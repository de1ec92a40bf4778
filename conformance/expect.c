/* SPDX-License-Identifier: MIT */
#include "conformance/expect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "emu/trace.h"

struct match {
	enum trace_kind kind;
	bool counters; /* of a write: to a counter, and not of 0, which clears one */
	unsigned after;
	struct {
		bool used;
		uint64_t value;
	} arg[3];
	uint64_t seen;
};

struct expect_watch {
	const struct scn *scn;
	struct machine *machine;
	uint64_t el0_op; /* AGENT_OP_REG when EL0 was left; EL1 uses it for its own */
	unsigned nmatches;
	struct match match[];
};

/* The step whose operation, or whose hidden operation behind it, is @op. */
static unsigned step_of_op(const struct scn *scn, int op)
{
	unsigned number = 0;
	int nearest = -1;

	/* Steps of several tasks do not stand in the order of their operations. */
	for (unsigned i = 0; i < scn->nsteps; i++) {
		if (scn->steps[i].op <= op && scn->steps[i].op > nearest) {
			nearest = scn->steps[i].op;
			number = scn->steps[i].number;
		}
	}
	return number;
}

unsigned expect_step_at(const struct scn *scn, uint64_t at)
{
	if (at < AGENT_BASE + AGENT_HDR_OPS || at >= AGENT_BASE + AGENT_SIZE)
		return 0;
	return step_of_op(scn, (int)((at - AGENT_BASE - AGENT_HDR_OPS) / AGENT_OP_SIZE));
}

static unsigned current_step(const struct expect_watch *watch)
{
	const struct cpu *core = watch->machine->core;

	return expect_step_at(watch->scn,
			      cpu_el(core) ? watch->el0_op : cpu_x(core, AGENT_OP_REG));
}

static bool is_counter(uint64_t reg)
{
	/* PMCCNTR_EL0; PMEVCNTR0_EL0 .. PMEVCNTR30_EL0 */
	return reg == SYSREG(3, 3, 9, 13, 0) ||
	       (reg >= SYSREG(3, 3, 14, 8, 0) && reg <= SYSREG(3, 3, 14, 11, 6));
}

/* What the driver's write_counter() was called with: on a counter of 64 bits it sets
 * the upper half of a 32-bit value to ones, so that it overflows as well. */
static bool written(uint64_t want, uint64_t value)
{
	return value == want || (want == (uint32_t)want && value == (want | UINT64_MAX << 32));
}

static bool matches(const struct match *match, const struct trace_event *event)
{
	const uint64_t value[3] = { event->a, event->b, event->c };

	if (match->counters)
		return is_counter(event->a) && event->b &&
		       (!match->arg[1].used || written(match->arg[1].value, event->b));
	for (unsigned i = 0; i < 3; i++)
		if (match->arg[i].used && match->arg[i].value != value[i])
			return false;
	return true;
}

static void on_event(void *opaque, const struct trace_event *event)
{
	struct expect_watch *watch = opaque;
	unsigned step = 0;
	bool known = false;

	if ((event->kind == TRACE_EXCEPTION || event->kind == TRACE_TAKEN) &&
	    !cpu_el(watch->machine->core))
		watch->el0_op = cpu_x(watch->machine->core, AGENT_OP_REG);
	for (unsigned i = 0; i < watch->nmatches; i++) {
		struct match *match = &watch->match[i];

		if (match->kind != event->kind || !matches(match, event))
			continue;
		if (!known)
			step = current_step(watch);
		known = true;
		if (match->after == step)
			match->seen++;
	}
}

static int arg_place(enum trace_kind kind, const char *name)
{
	for (unsigned i = 0; i < 3; i++) {
		const char *arg = trace_arg_name(kind, i);

		if (arg && !strcmp(arg, name))
			return (int)i;
	}
	return -1;
}

static int arg_value(const struct machine *machine, const struct scn_arg *arg,
		     uint64_t *value)
{
	int64_t enc;

	if (arg->number) {
		*value = arg->value;
		return 0;
	}
	enc = sysreg_from_name(machine->current->blocks, MACHINE_BLOCKS, arg->text);
	if (strcmp(arg->name, "reg") || enc < 0)
		return -1;
	*value = (uint64_t)enc;
	return 0;
}

static int resolve(const struct scn *scn, const struct machine *machine,
		   const struct scn_expect *expect, struct match *match, char *err,
		   size_t errsize)
{
	bool adjust = expect->probe && !strcmp(expect->kind, "perf_adjust_period");
	int kind = adjust	   ? TRACE_ADJUST
		   : expect->probe ? TRACE_SYSREG_WRITE
				   : trace_kind_from_name(expect->kind);

	match->counters = expect->probe && !adjust;
	if (kind < 0) {
		snprintf(err, errsize, "%s:%u: no bus event is called %s", scn->file,
			 expect->line, expect->kind);
		return -1;
	}
	match->kind = (enum trace_kind)kind;
	match->after = expect->after;
	for (unsigned i = 0; i < expect->nargs; i++) {
		const struct scn_arg *arg = &expect->args[i];
		int place = arg_place(match->kind, arg->name);

		if (place < 0) {
			snprintf(err, errsize, "%s:%u: %s has no %s", scn->file,
				 expect->line, expect->kind, arg->name);
			return -1;
		}
		match->arg[place].used = true;
		if (arg_value(machine, arg, &match->arg[place].value)) {
			snprintf(err, errsize, "%s:%u: neither a number nor a register: %s",
				 scn->file, expect->line, arg->text);
			return -1;
		}
	}
	return 0;
}

struct expect_watch *expect_start(const struct scn *scn, struct machine *machine,
				  char *err, size_t errsize)
{
	size_t n = scn->nexpects;
	struct expect_watch *watch = calloc(1, sizeof(*watch) + n * sizeof(struct match));

	if (!watch) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	watch->scn = scn;
	watch->machine = machine;
	watch->nmatches = scn->nexpects;
	for (unsigned i = 0; i < scn->nexpects; i++) {
		if (resolve(scn, machine, &scn->expects[i], &watch->match[i], err,
			    errsize)) {
			expect_free(watch);
			return NULL;
		}
	}
	if (n && trace_subscribe(&machine->bus, on_event, watch)) {
		snprintf(err, errsize, "%s: too many listeners on the bus", scn->file);
		expect_free(watch);
		return NULL;
	}
	return watch;
}

unsigned expect_failures(const struct expect_watch *watch, FILE *out)
{
	unsigned failures = 0;

	for (unsigned i = 0; i < watch->nmatches; i++) {
		const struct scn_expect *expect = &watch->scn->expects[i];
		unsigned long long seen = watch->match[i].seen;

		if (seen == expect->times)
			continue;
		failures++;
		if (out)
			fprintf(out, "%s: step %u: %s: %s:%u: expected %llu times, seen %llu\n",
				watch->scn->name, expect->after, expect->words,
				watch->scn->file, expect->line,
				(unsigned long long)expect->times, seen);
	}
	return failures;
}

void expect_free(struct expect_watch *watch)
{
	free(watch);
}
