/* SPDX-License-Identifier: MIT */
/*
 * Lives of tasks with events. "The overflow falls at the k-th hal operation", for
 * every k of fork, exec, switch, migration, exit and close (conformance/tasks/
 * family.c); a thousand tasks with six events each that are closed in every order
 * (crowd.c).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "conformance/tasks/crowd.h"
#include "kernelcore/host/host.h"

enum { PERIOD = 1000, COUNTER = 0, MAX_INSNS = 50000000 };

static struct cpu_traits traits;

struct run {
	struct host *host;
	uint64_t op; /* that the injection is planned for; 0: none */
	bool fired, counting;
	uint64_t first_op, last_op;
	uint64_t count; /* what the program read */
	size_t noutput;
};

static void see(void *opaque, const struct trace_event *event)
{
	struct run *run = opaque;
	const struct machine *m = host_machine(run->host);

	if (event->kind != TRACE_INJECT)
		return;
	run->fired = true;
	run->counting = m->current->pmu.pmcr & 1 && m->current->pmu.pmcnten >> event->a & 1;
}

static void take_output(void *opaque, const void *buf, size_t n)
{
	struct run *run = opaque;

	ck_assert_uint_le(run->noutput + n, sizeof(run->count));
	memcpy((uint8_t *)&run->count + run->noutput, buf, n);
	run->noutput += n;
}

/* Whatever happened, the machine is quiet in the end. */
static void check_quiet(const struct run *run)
{
	const struct machine *m = host_machine(run->host);

	for (unsigned i = 0; i < m->ncpus; i++) {
		const struct machine_cpu *cpu = &m->cpu[i];

		ck_assert_msg(!cpu->pmu.level, "op %" PRIu64 ": a line is high", run->op);
		ck_assert_msg(!cpu->pmu.pmcnten, "op %" PRIu64 ": a counter is on", run->op);
		ck_assert_msg(!cpu->pmu.pminten, "op %" PRIu64 ": an interrupt is enabled",
			      run->op);
		ck_assert_msg(!cpu->pmu.pmovs, "op %" PRIu64 ": a flag stayed", run->op);
		ck_assert_msg(!cpu->gic.active && !cpu->gic.ap1r0,
			      "op %" PRIu64 ": an interrupt is still active", run->op);
	}
}

static void go(struct run *run, const char *program, unsigned cpus, const void *input,
	       size_t size, const char *profile)
{
	const struct host_config config = {
		.machine = {
			.preset = machine_preset("qemu-a57"),
			.engine = CPU_ENGINE_BLOCK,
			.counters = -1,
			.ram_size = 64 << 20,
			.cpus = cpus,
			.max_insns = MAX_INSNS,
			.traits = &traits,
		},
		.profile = profile,
		.output = take_output,
		.opaque = run,
	};
	char err[200] = "";
	size_t elf_size;
	void *elf = runner_slurp(program, &elf_size, err, sizeof(err));
	enum host_result end;

	ck_assert_msg(elf, "%s", err);
	run->host = host_create(&config, err, sizeof(err));
	ck_assert_msg(run->host, "%s", err);
	run->first_op = host_ops(run->host) + 1;
	if (run->op)
		host_inject_at(run->host, run->op, COUNTER, PERIOD, false);
	ck_assert_int_eq(trace_subscribe(&host_machine(run->host)->bus, see, run), 0);
	end = host_run(run->host, elf, elf_size, input, size, err, sizeof(err));
	ck_assert_msg(end == HOST_EXITED, "op %" PRIu64 ": ended by %d: %s", run->op, end, err);
	ck_assert_msg(!host_status(run->host).signal && !host_status(run->host).code,
		      "op %" PRIu64 ": status %d, signal %d", run->op,
		      host_status(run->host).code, host_status(run->host).signal);
	run->last_op = host_ops(run->host);
	check_quiet(run);
	host_destroy(run->host);
	free(elf);
}

static const char *const profiles[] = { "linux-6.1", "linux-6.12" };

START_TEST(walk_of_fork_exec_switch_migration_exit_and_close)
{
	struct run base = { 0 };
	unsigned counted = 0, fired = 0;

	go(&base, PMULAB_TASKS "family", 2, NULL, 0, profiles[_i]);
	ck_assert_uint_eq(base.count, 0);
	for (uint64_t op = base.first_op; op <= base.last_op; op++) {
		struct run run = { .op = op };

		go(&run, PMULAB_TASKS "family", 2, NULL, 0, profiles[_i]);
		/* what a handler adds moves the end: all of the first run is met */
		ck_assert_msg(run.fired, "op %" PRIu64 " was never reached", op);
		ck_assert_msg(run.count == (run.counting ? PERIOD : 0),
			      "op %" PRIu64 ": counted %" PRIu64, op, run.count);
		fired++;
		counted += run.counting;
	}
	ck_assert_uint_gt(counted, 100);
	ck_assert_uint_lt(counted, fired);
}
END_TEST

START_TEST(a_thousand_tasks_with_six_events_each_in_every_order)
{
	static const unsigned cpus[] = { 1, 4 };
	const struct crowd_config crowd = {
		.tasks = CROWD_TASKS,
		.events = CROWD_EVENTS,
		.rounds = 3,
		.orders = 1,
	};
	struct run run = { 0 };

	go(&run, PMULAB_TASKS "crowd", cpus[_i], &crowd, sizeof(crowd), "linux-6.1");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lives");
	TCase *tcase = tcase_create("tasks with events");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 200);
	tcase_add_loop_test(tcase, walk_of_fork_exec_switch_migration_exit_and_close, 0, 2);
	tcase_add_loop_test(tcase, a_thousand_tasks_with_six_events_each_in_every_order, 0, 2);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
