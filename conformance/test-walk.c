/* SPDX-License-Identifier: MIT */
/*
 * "The overflow falls at the k-th hal operation", for every k of a whole
 * scenario: open, mmap, enable, read, disable, close and the handler itself.
 * Host mode's kernel can be interrupted at its hal operations and nowhere else,
 * so this is every interleaving that it has.
 *
 * What must hold wherever the overflow falls (one event, period P, all work
 * injected, every injection a multiple of P in sum):
 *  - the count is the base work, plus the injected events if and only if the
 *    counter was counting at that moment;
 *  - one record a sample, none torn, and never more samples than overflows;
 *  - the phase survives: the next counter write continues the period exactly;
 *  - at the end nothing hangs: no flag, line, active interrupt or counter on.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "corpus/compiler/scenario.h"
#include "emu/machine.h"
#include "kernelcore/host/host.h"

enum { PERIOD = 1000, EVENTS = 2, EL1 = 1 };

static const uint32_t reg_pmevcntr0 = SYSREG(3, 3, 14, 8, 0);

static const char one_event[] = "scenario v1\n"
				"event c raw/0x0 period=1000 sample=ip,period disabled\n"
				"open c\n"
				"mmap c pages=1\n"
				"ioctl c enable\n"
				"inject c 300\n"
				"read c\n"
				"inject c 700\n"
				"read c\n"
				"ioctl c disable\n"
				"ioctl c enable\n"
				"ioctl c disable\n"
				"read c\n"
				"records c\n"
				"munmap c\n"
				"close c\n";

/* A second event in the group, redirected to the first one's ring. */
static const char two_events[] = "scenario v1\n"
				 "event c raw/0x0 period=1000 sample=ip,id disabled\n"
				 "event d raw/0x0 period=1000 sample=ip,id\n"
				 "open c\n"
				 "open d group=c\n"
				 "mmap c pages=1\n"
				 "ioctl d set-output c\n"
				 "ioctl c enable\n"
				 "inject c 1000\n"
				 "inject d 1000\n"
				 "read c\n"
				 "read d\n"
				 "ioctl c disable\n"
				 "ioctl c enable\n"
				 "ioctl c disable\n"
				 "read c\n"
				 "read d\n"
				 "records c\n"
				 "close d\n"
				 "close c\n";

struct walk {
	const struct scn *scn;
	const char *profile;
	/* in */
	uint64_t op; /* 0: no injection */
	unsigned counter;
	bool forced;
	/* out */
	uint64_t first_op, last_op;
	bool fired, counting;
	unsigned wraps, records, lost, taken;
	uint32_t last_write[EVENTS]; /* to each event counter while counters stand */
	struct host *host;
	unsigned injected; /* injections seen */
	bool planned;	   /* the next one on the bus is the planned one */
};

static void on_event(void *opaque, const struct trace_event *event)
{
	struct walk *walk = opaque;
	struct machine *m = host_machine(walk->host);

	switch (event->kind) {
	case TRACE_INJECT:
		if (walk->op && host_ops(walk->host) == walk->op) {
			walk->fired = true;
			walk->counting = m->cpu[0].pmu.pmcr & 1 &&
					 m->cpu[0].pmu.pmcnten >> event->a & 1;
		}
		break;
	case TRACE_SYSREG_WRITE:
		for (unsigned i = 0; i < EVENTS; i++)
			if (event->a == reg_pmevcntr0 + i)
				walk->last_write[i] = (uint32_t)event->b;
		break;
	case TRACE_WRAP:
		walk->wraps++;
		break;
	case TRACE_RECORD:
		walk->records++;
		break;
	case TRACE_LOST:
		walk->lost++;
		break;
	case TRACE_TAKEN:
		walk->taken++;
		break;
	default:
		break;
	}
}

static void prepare(void *opaque, struct machine *machine, struct host *host)
{
	struct walk *walk = opaque;

	walk->host = host;
	walk->first_op = host_ops(host) + 1;
	if (walk->op)
		host_inject_at(host, walk->op, walk->counter, PERIOD, walk->forced);
	ck_assert_int_eq(trace_subscribe(&machine->bus, on_event, walk), 0);
}

/* Nothing may hang at the end, wherever the overflow fell. */
static void finish(void *opaque, struct machine *m, struct host *host)
{
	struct walk *walk = opaque;

	walk->last_op = host_ops(host);
	ck_assert_msg(!m->cpu[0].irq, "op %" PRIu64 ": the IRQ wire is high", walk->op);
	ck_assert_msg(!m->cpu[0].pmu.level, "op %" PRIu64 ": the PMU's line is high", walk->op);
	ck_assert_msg(!m->cpu[0].gic.active && !m->cpu[0].gic.ap1r0,
		      "op %" PRIu64 ": an interrupt is still active", walk->op);
	ck_assert_msg(!m->cpu[0].pmu.pmcnten, "op %" PRIu64 ": a counter is still on", walk->op);
	ck_assert_msg(!m->cpu[0].pmu.pminten, "op %" PRIu64 ": an interrupt is still enabled",
		      walk->op);
	/* A forced wrap of a counter that nobody owns leaves its flag: Linux clears
	 * only what it starts from (reset) and what it stops. */
	if (!walk->forced)
		ck_assert_msg(!m->cpu[0].pmu.pmovs, "op %" PRIu64 ": a flag stayed", walk->op);
}

static const struct tt_record *read_record(const struct tt_trace *trace, unsigned number)
{
	for (size_t i = 0; i < trace->nsteps; i++)
		if (trace->steps[i].number == number && trace->steps[i].nrecords)
			return &trace->steps[i].records[0];
	ck_abort_msg("step %u has no record", number);
	return NULL;
}

static uint64_t read_value(const struct tt_trace *trace, unsigned number)
{
	const struct tt_record *record = read_record(trace, number);

	for (size_t i = 0; i < record->nfields; i++)
		if (!strcmp(record->fields[i].name, "value"))
			return strtoull(record->fields[i].token, NULL, 0);
	ck_abort_msg("step %u has no value", number);
	return 0;
}

/* Samples of the records step; anything else in the ring is a fault. */
static unsigned count_samples(const struct walk *walk, const struct tt_trace *trace,
			      unsigned number)
{
	unsigned samples = 0;

	for (size_t i = 0; i < trace->nsteps; i++) {
		const struct tt_step *step = &trace->steps[i];

		if (step->number != number)
			continue;
		for (size_t r = 0; r < step->nrecords; r++) {
			ck_assert_msg(!strcmp(step->records[r].kind, "sample"),
				      "op %" PRIu64 ": a %s record", walk->op,
				      step->records[r].kind);
			samples++;
		}
	}
	return samples;
}

static void run(struct walk *walk, struct runner_result *result)
{
	const struct runner_config config = {
		.profile = walk->profile,
		.engine = CPU_ENGINE_BLOCK,
		.agent = PMULAB_AGENT_PATH,
		.prepare = prepare,
		.finish = finish,
		.opaque = walk,
	};
	char err[512] = "";

	ck_assert_msg(!runner_run(walk->scn, &config, result, err, sizeof(err)), "%s", err);
	for (size_t i = 0; i < result->trace->nsteps; i++) {
		const char *token = result->trace->steps[i].result.token;

		ck_assert_msg(token[0] != 'E', "op %" PRIu64 ": step %u: %s", walk->op,
			      result->trace->steps[i].number, token);
	}
}

/* @steps: the last read of each event and its records step. */
struct shape {
	unsigned events;
	uint64_t base; /* events of each */
	unsigned last_read[EVENTS];
	unsigned records;
};

static void check_run(const struct walk *walk, const struct runner_result *result,
		      const struct shape *shape)
{
	unsigned samples = count_samples(walk, result->trace, shape->records);
	uint64_t total = 0;

	for (unsigned i = 0; i < shape->events; i++) {
		uint64_t count = read_value(result->trace, shape->last_read[i]);
		uint64_t extra = i == walk->counter && walk->counting && !walk->forced ?
					 PERIOD :
					 0;

		if (i != walk->counter || !walk->forced)
			ck_assert_msg(count == shape->base + extra,
				      "op %" PRIu64 ": event %u counted %" PRIu64
				      ", not %" PRIu64,
				      walk->op, i, count, shape->base + extra);
		else
			ck_assert_msg(count == shape->base ||
					      count == shape->base + PERIOD,
				      "op %" PRIu64 ": event %u counted %" PRIu64,
				      walk->op, i, count);
		ck_assert_msg((count + (uint32_t)-walk->last_write[i]) % PERIOD == 0,
			      "op %" PRIu64 ": count %" PRIu64
			      " and the next write 0x%08x lost the phase",
			      walk->op, count, walk->last_write[i]);
		total += count;
	}
	ck_assert_msg(samples == walk->records, "op %" PRIu64 ": %u samples, %u written",
		      walk->op, samples, walk->records);
	ck_assert_uint_eq(walk->lost, 0);
	ck_assert_msg(samples <= total / PERIOD, "op %" PRIu64 ": %u samples of %" PRIu64,
		      walk->op, samples, total);
	/* All but the planned one are served where they fall; that one may meet
	 * another that is pending, or a stop (CASES A17: no sample). */
	ck_assert_msg(samples + 1 >= total / PERIOD,
		      "op %" PRIu64 ": only %u samples of %" PRIu64, walk->op, samples,
		      total);
}

static void walk_scenario(const char *text, const struct shape *shape, const char *profile,
			  unsigned counter, bool forced)
{
	char err[512];
	struct scn *scn = scn_parse("walk.scn", text, strlen(text), err, sizeof(err));
	struct walk base = { .scn = scn, .profile = profile, .counter = EVENTS };
	struct runner_result result;
	unsigned fired = 0, counted = 0;

	ck_assert_msg(scn != NULL, "%s", err);
	run(&base, &result);
	check_run(&base, &result, shape);
	ck_assert_uint_eq(count_samples(&base, result.trace, shape->records),
			  shape->events * shape->base / PERIOD);
	runner_result_free(&result);
	for (uint64_t op = base.first_op; op <= base.last_op; op++) {
		struct walk walk = {
			.scn = scn,
			.profile = profile,
			.op = op,
			.counter = counter,
			.forced = forced,
		};

		run(&walk, &result);
		ck_assert_msg(walk.fired, "op %" PRIu64 " was never reached", op);
		check_run(&walk, &result, shape);
		runner_result_free(&result);
		fired++;
		counted += walk.counting;
	}
	/* The walk went through all of it, and met the counter on and off. */
	ck_assert_uint_eq(fired, base.last_op - base.first_op + 1);
	ck_assert_uint_gt(counted, 20);
	ck_assert_uint_lt(counted, fired);
	scn_free(scn);
}

static const struct shape one_shape = {
	.events = 1,
	.base = 1000,
	.last_read = { 11 },
	.records = 12,
};

static const struct shape two_shape = {
	.events = 2,
	.base = 1000,
	.last_read = { 13, 14 },
	.records = 15,
};

static const char *const profiles[] = { "linux-6.1", "linux-6.12" };

START_TEST(walk_one_event_at_every_hal_operation)
{
	walk_scenario(one_event, &one_shape, profiles[_i], 0, false);
}
END_TEST

START_TEST(walk_one_event_forced_whatever_the_enables_say)
{
	walk_scenario(one_event, &one_shape, profiles[_i], 0, true);
}
END_TEST

START_TEST(walk_two_events_one_ring_first_overflows)
{
	walk_scenario(two_events, &two_shape, profiles[_i], 0, false);
}
END_TEST

START_TEST(walk_two_events_one_ring_second_overflows)
{
	walk_scenario(two_events, &two_shape, profiles[_i], 1, false);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("walk");
	TCase *t = tcase_create("every hal operation");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, walk_one_event_at_every_hal_operation, 0, 2);
	tcase_add_loop_test(t, walk_one_event_forced_whatever_the_enables_say, 0, 2);
	tcase_add_loop_test(t, walk_two_events_one_ring_first_overflows, 0, 2);
	tcase_add_loop_test(t, walk_two_events_one_ring_second_overflows, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
