/* SPDX-License-Identifier: MIT */
/*
 * Conservation: what exclude_kernel events count, summed over tasks or over CPUs, is
 * what the machine executed at EL0 between the enabling and the disabling, to the
 * instruction, whatever the schedule is. Each schedule has a seed for the slices'
 * lengths and the places (kentry_seed()) and another for what the tasks do
 * (conformance/tasks/mill.c).
 *
 * usage: test-schedules [FIRST COUNT]: seeds, 1 to 1000
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner.h"
#include "conformance/tasks/mill.h"
#include "kernelcore/host/host.h"

enum {
	NR_PRCTL = 167,
	PR_DISABLE = 31,
	PR_ENABLE = 32,
	ESR_SVC64 = 0x15,
	RAM_SIZE = 16 << 20,
	MAX_INSNS = 20000000,
};

static unsigned long first_seed = 1, seeds = 1000;
static struct cpu_traits traits;

struct run {
	struct host *host;
	uint64_t enabled, disabled; /* instructions at EL0 by then */
	uint64_t hash;		    /* of all that was on the bus */
	uint64_t migrations, switches, cpus_used;
	struct mill_result result;
	size_t nresult;
};

static void mix(struct run *run, uint64_t value)
{
	run->hash = (run->hash ^ value) * UINT64_C(0x100000001b3);
}

static void see(void *opaque, const struct trace_event *event)
{
	struct run *run = opaque;
	struct machine *m = run->host ? host_machine(run->host) : NULL;

	mix(run, event->cycle);
	mix(run, event->kind << 4 | event->cpu);
	mix(run, event->a);
	mix(run, event->b);
	if (event->kind == TRACE_ERET && !(event->b & 0xc))
		run->cpus_used |= UINT64_C(1) << event->cpu;
	if (!m || event->kind != TRACE_EXCEPTION || event->a >> 26 != ESR_SVC64 ||
	    cpu_x(m->core, 8) != NR_PRCTL)
		return;
	if (cpu_x(m->core, 0) == PR_ENABLE)
		run->enabled = m->insns;
	else if (cpu_x(m->core, 0) == PR_DISABLE)
		run->disabled = m->insns;
}

static void take_output(void *opaque, const void *buf, size_t n)
{
	struct run *run = opaque;

	ck_assert_uint_le(run->nresult + n, sizeof(run->result));
	memcpy((uint8_t *)&run->result + run->nresult, buf, n);
	run->nresult += n;
}

static void go(struct run *run, const struct mill_config *mill, uint64_t seed,
	       enum cpu_engine engine)
{
	const struct host_config config = {
		.machine = {
			.preset = machine_preset("qemu-a57"),
			.engine = engine,
			.counters = -1,
			.ram_size = RAM_SIZE,
			.cpus = (unsigned)mill->cpus,
			.max_insns = MAX_INSNS,
			.traits = &traits,
		},
		.profile = "linux-6.1",
		.seed = seed,
		.output = take_output,
		.opaque = run,
	};
	char err[200] = "";
	size_t size;
	void *elf = runner_slurp(PMULAB_MILL, &size, err, sizeof(err));
	enum host_result end;

	memset(run, 0, sizeof(*run));
	ck_assert_msg(elf, "%s", err);
	run->host = host_create(&config, err, sizeof(err));
	ck_assert_msg(run->host, "%s", err);
	ck_assert_int_eq(trace_subscribe(&host_machine(run->host)->bus, see, run), 0);
	end = host_run(run->host, elf, size, mill, sizeof(*mill), err, sizeof(err));
	ck_assert_msg(end == HOST_EXITED, "seed %" PRIu64 ": ended by %d: %s", seed, end, err);
	ck_assert_int_eq(host_status(run->host).signal, 0);
	ck_assert_int_eq(host_status(run->host).code, 0);
	ck_assert_uint_eq(run->nresult, sizeof(run->result));
	host_destroy(run->host);
	free(elf);
	run->host = NULL;
}

/* Few of everything, or many; all that matters is that seeds differ in it. */
static struct mill_config config_of(unsigned long seed)
{
	static const uint64_t cpus[] = { 1, 2, 4, 3 };

	return (struct mill_config){
		.seed = seed,
		.cpus = cpus[seed % 4],
		.tasks = 1 + seed / 4 % 6,
		.acts = 4 + seed / 3 % 9,
		.period = 100 + seed * 37 % 3000,
		.inherit = seed / 5 % 2,
	};
}

static void check_sums(const struct run *run, unsigned long seed)
{
	uint64_t executed = run->disabled - run->enabled;

	ck_assert_msg(run->result.failed == 0, "seed %lu: %" PRIu64, seed, run->result.failed);
	ck_assert_uint_gt(executed, 0);
	ck_assert_msg(run->result.tasks == executed,
		      "seed %lu: tasks counted %" PRIu64 ", executed %" PRIu64, seed,
		      run->result.tasks, executed);
	ck_assert_msg(run->result.cpus == executed,
		      "seed %lu: CPUs counted %" PRIu64 ", executed %" PRIu64, seed,
		      run->result.cpus, executed);
}

START_TEST(counts_are_conserved_under_any_schedule)
{
	uint64_t used = 0;

	for (unsigned long seed = first_seed; seed < first_seed + seeds; seed++) {
		const struct mill_config mill = config_of(seed);
		struct run run;

		go(&run, &mill, seed, CPU_ENGINE_BLOCK);
		check_sums(&run, seed);
		used |= run.cpus_used;
	}
	ck_assert_uint_eq(used, seeds > 3 ? 0xf : used);
}
END_TEST

/* As many as MACHINE_CPUS: more tasks than those, and fewer. */
START_TEST(counts_are_conserved_on_5_to_8_cpus)
{
	uint64_t used = 0;

	for (unsigned long seed = 1; seed <= 48; seed++) {
		struct mill_config mill = config_of(seed);
		struct run run, again;

		mill.cpus = 5 + seed % 4;
		mill.tasks = 2 + seed / 4 % 12;
		go(&run, &mill, seed % 3 ? seed : 0, CPU_ENGINE_BLOCK);
		check_sums(&run, seed);
		ck_assert_uint_eq(run.cpus_used >> mill.cpus, 0);
		used |= run.cpus_used;
		if (seed % 6)
			continue;
		go(&again, &mill, seed % 3 ? seed : 0, CPU_ENGINE_STEP);
		ck_assert_msg(run.hash == again.hash, "seed %lu", seed);
	}
	ck_assert_uint_eq(used, 0xff);
}
END_TEST

/* No seed: ticks, FIFO, places by load. */
START_TEST(counts_are_conserved_under_the_plain_schedule)
{
	for (unsigned long seed = 1; seed < 60; seed++) {
		const struct mill_config mill = config_of(seed);
		struct run run;

		go(&run, &mill, 0, CPU_ENGINE_BLOCK);
		check_sums(&run, seed);
	}
}
END_TEST

START_TEST(the_same_run_twice_is_the_same_trace)
{
	for (unsigned long seed = 1; seed < 25; seed++) {
		const struct mill_config mill = config_of(seed);
		struct run a, b;

		go(&a, &mill, seed % 3 ? seed : 0, CPU_ENGINE_BLOCK);
		go(&b, &mill, seed % 3 ? seed : 0, CPU_ENGINE_BLOCK);
		ck_assert_uint_eq(a.hash, b.hash);
	}
}
END_TEST

START_TEST(both_engines_give_one_trace_on_1_2_and_4_cpus)
{
	for (unsigned long seed = 1; seed < 25; seed++) {
		const struct mill_config mill = config_of(seed);
		struct run a, b;

		go(&a, &mill, seed % 3 ? seed : 0, CPU_ENGINE_BLOCK);
		go(&b, &mill, seed % 3 ? seed : 0, CPU_ENGINE_STEP);
		ck_assert_msg(a.hash == b.hash, "seed %lu", seed);
	}
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("schedules");
	TCase *tcase = tcase_create("conservation");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (argc == 3) {
		first_seed = strtoul(argv[1], NULL, 10);
		seeds = strtoul(argv[2], NULL, 10);
	} else if (argc != 1) {
		fprintf(stderr, "usage: test-schedules [FIRST COUNT]\n");
		return 2;
	}
	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, counts_are_conserved_under_any_schedule);
	if (argc == 1) {
		tcase_add_test(tcase, counts_are_conserved_under_the_plain_schedule);
		tcase_add_test(tcase, counts_are_conserved_on_5_to_8_cpus);
		tcase_add_test(tcase, the_same_run_twice_is_the_same_trace);
		tcase_add_test(tcase, both_engines_give_one_trace_on_1_2_and_4_cpus);
	}
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
