/* SPDX-License-Identifier: MIT */
/*
 * pmulab-bench: how fast the emulated machine is, against a bare Unicorn.
 *
 * What a process measures depends on the CPU that it runs on, by up to two times
 * (a virtual one may share its core with a neighbour), and on where the JIT happens
 * to put the loop. So all of them run on one CPU, the quickest in a
 * short trial; each figure is a median over fresh processes (this program again,
 * with --child); and all configurations run in turn in every round, that a slow
 * minute of the host hits all of them.
 */
#include <argp.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/runner.h"
#include "corpus/agent/agent-cost.h"
#include "tools/bench.h"

enum {
	EXIT_MEASURED = 0,
	EXIT_USAGE = 2
};
enum {
	MIN_ROUNDS = 1,
	DEFAULT_ROUNDS = 11
};
enum {
	MAX_TRIED_CPUS = 8,
	TRIALS = 2
};

/* clang-format off */
const struct bench_workload bench_workloads[NWORKLOADS] = {
	[SPIN]   = { "spin",   AGENT_WL_SPIN_LOOP,   AGENT_WL_SPIN_REST },
	[LOAD]   = { "load",   AGENT_WL_LOAD_LOOP,   AGENT_WL_LOAD_REST },
	[STORE]  = { "store",  AGENT_WL_STORE_LOOP,  AGENT_WL_STORE_REST },
	[BRANCH] = { "branch", AGENT_WL_BRANCH_LOOP, AGENT_WL_BRANCH_REST },
	[MIXED]  = { "mixed",  AGENT_WL_MIXED_LOOP,  AGENT_WL_MIXED_REST },
};

#define ARMED(n, which)                                                    \
	.insns = 100000000, .period = 100000, .engine = CPU_ENGINE_BLOCK, \
	.armed = n, .events = which

/* The two block configurations do the same work: their difference is overflows. */
const struct bench_config bench_configs[NCONFIGS] = {
	[RAW] = {
		.name = "raw",
		.what = "bare Unicorn, no hook, MMU off",
		.insns = 200000000,
	},
	[CODE_HOOK] = {
		.name = "code-hook",
		.what = "the same with an empty hook on each instruction",
		.insns = 40000000,
		.hook = BENCH_RAW_CODE,
	},
	[BLOCK_HOOK] = {
		.name = "block-hook",
		.what = "the same with an empty hook on each block: the most that counting "
			"blocks can reach",
		.insns = 200000000,
		.hook = BENCH_RAW_BLOCK,
	},
	[BLOCK_100000] = {
		.name = "block@100000",
		.what = "block engine, a cycles event sampling each 100000 (ip, user only)",
		.insns = 200000000,
		.period = 100000,
		.engine = CPU_ENGINE_BLOCK,
	},
	[BLOCK_10000] = {
		.name = "block@10000",
		.what = "the same, each 10000",
		.insns = 200000000,
		.period = 10000,
		.engine = CPU_ENGINE_BLOCK,
	},
	[STEP_100000] = {
		.name = "step@100000",
		.what = "step engine, each 100000",
		.insns = 15000000,
		.period = 100000,
		.engine = CPU_ENGINE_STEP,
	},
	[SAME_1]   = { "same-1", "block@100000 with 1 armed event counter",
		       ARMED(1, BENCH_SAME) },
	[SAME_6]   = { "same-6", "with 6: all of instructions", ARMED(6, BENCH_SAME) },
	[SAME_31]  = { "same-31", "with 31", ARMED(31, BENCH_SAME) },
	[KINDS_1]  = { "kinds-1", "with 1: loads", ARMED(1, BENCH_KINDS) },
	[KINDS_6]  = { "kinds-6", "with 6: loads, stores, branches ... in turn",
		       ARMED(6, BENCH_KINDS) },
	[KINDS_31] = { "kinds-31", "with 31", ARMED(31, BENCH_KINDS) },
};
/* clang-format on */

/* LD_RETIRED, ST_RETIRED, PC_WRITE_RETIRED, BR_IMMED_RETIRED, BR_RETIRED, MEM_ACCESS,
 * L1I_CACHE, INST_SPEC, BR_RETURN_RETIRED, CID_WRITE_RETIRED, BR_PRED, BUS_CYCLES. */
static const unsigned kinds[] = {
	0x06, 0x07, 0x0c, 0x0d, 0x21, 0x13, 0x14, 0x1b, 0x0e, 0x0b, 0x12, 0x1d,
};

struct args {
	struct bench_results results;
	bool json;
	const struct bench_config *child; /* NULL: the parent */
};

static void __attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	char line[640];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "pmulab-bench: %s\n", line);
}

static const char *where_agent(void)
{
	const char *path = getenv("PMULAB_AGENT");

	return path && *path ? path : PMULAB_AGENT_PATH;
}

static uint64_t turns(const struct bench_config *config, const struct bench_workload *w)
{
	return config->insns / w->loop;
}

static uint64_t cost(const struct bench_config *config, const struct bench_workload *w)
{
	return w->loop * turns(config, w) + w->rest;
}

/* ------------------------------------------------------------------ child */

/*
 * Between two system calls of the agent the most instructions run: from the SVC
 * of ENABLE to the SVC of DISABLE. That is what is timed, with the kernel's part
 * of ENABLE in it.
 */
struct window {
	const struct machine *machine;
	struct bench_measure begin, longest;
	uint64_t overflows;
};

static void on_event(void *opaque, const struct trace_event *event)
{
	struct window *w = opaque;
	struct bench_measure now, *longest = &w->longest;

	if (event->kind == TRACE_TAKEN)
		w->overflows++;
	if (event->kind != TRACE_EXCEPTION)
		return;
	now = (struct bench_measure){bench_clock(), w->machine->insns, w->overflows};
	if (now.insns - w->begin.insns > longest->insns) {
		longest->seconds = now.seconds - w->begin.seconds;
		longest->insns = now.insns - w->begin.insns;
		longest->overflows = now.overflows - w->begin.overflows;
	}
	w->begin = now;
}

static void watch(void *opaque, struct machine *machine, struct host *host)
{
	struct window *w = opaque;

	w->machine = machine;
	if (trace_subscribe(&machine->bus, on_event, w))
		abort(); /* nobody else listens in this program */
}

/* An event counter that counts and does not sample is armed at half its range. */
static void put_armed(FILE *out, const struct bench_config *config)
{
	for (unsigned i = 0; i < config->armed; i++) {
		const unsigned number =
			config->events == BENCH_SAME
				? 0x08
				: kinds[i % (sizeof(kinds) / sizeof(kinds[0]))];

		fprintf(out, "event a%u raw/0x%02x exclude=kernel,hv\nopen a%u\n", i,
			number, i);
	}
}

/* A read-only ring is overwritten for ever: nothing is lost, nobody drains. */
static struct scn *make_scenario(const struct bench_config *config,
				 const struct bench_workload *w, char *err,
				 size_t errsize)
{
	struct scn *scn = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	fprintf(out, "scenario v1\nmachine preset=%s\n",
		config->armed ? "full counters=31" : "qemu-a57");
	put_armed(out, config);
	fprintf(out,
		"event e hardware/cycles period=%u sample=ip exclude=kernel,hv disabled\n"
		"open e\n"
		"mmap e pages=8 prot=r\n"
		"ioctl e enable\n"
		"run %s %" PRIu64 "\n"
		"ioctl e disable\n"
		"close e\n",
		config->period, w->name, turns(config, w));
	if (!fclose(out))
		scn = scn_parse("bench.scn", text, size, err, errsize);
	free(text);
	return scn;
}

static int run_emulated(const struct bench_config *config, const struct bench_workload *w,
			struct bench_measure *m, char *err, size_t errsize)
{
	struct window window = {0};
	const struct runner_config runner = {
		.profile = "linux-6.1",
		.engine = config->engine,
		.agent = where_agent(),
		.prepare = watch,
		.opaque = &window,
	};
	const uint64_t counted = AGENT_COST_SYSCALL + AGENT_COST_RUN + cost(config, w);
	struct scn *scn = make_scenario(config, w, err, errsize);
	struct runner_result result;
	int rc;

	if (!scn)
		return -1;
	rc = runner_run(scn, &runner, &result, err, errsize);
	scn_free(scn);
	if (rc)
		return -1;
	runner_result_free(&result);
	*m = window.longest;
	/* A fast way to do something else is not what is measured. */
	if (m->insns == counted && m->overflows == counted / config->period)
		return 0;
	snprintf(err, errsize,
		 "%" PRIu64 " instructions with %" PRIu64 " overflows, not %" PRIu64
		 " with %" PRIu64,
		 m->insns, m->overflows, counted, counted / config->period);
	return -1;
}

static int run_bare(const struct bench_config *config, const struct bench_workload *w,
		    struct bench_measure *m, char *err, size_t errsize)
{
	m->insns = cost(config, w) + 1; /* the SVC that ends it */
	m->overflows = 0;
	return bench_raw(where_agent(), w->name, turns(config, w), config->hook,
			 &m->seconds, err, errsize);
}

static int child(const struct bench_config *config, const struct bench_workload *w)
{
	struct bench_measure m;
	char err[512] = "";
	int rc;

	rc = config->period ? run_emulated(config, w, &m, err, sizeof(err))
			    : run_bare(config, w, &m, err, sizeof(err));
	if (rc) {
		complain("%s on %s: %s", w->name, config->name, err);
		return EXIT_USAGE;
	}
	printf("%.9f %" PRIu64 " %" PRIu64 "\n", m.seconds, m.insns, m.overflows);
	return EXIT_MEASURED;
}

/* ----------------------------------------------------------------- parent */

static _Noreturn void become_child(int out, const struct bench_config *config,
				   const struct bench_workload *w)
{
	char *argv[] = {(char *)"pmulab-bench", (char *)"--child", (char *)config->name,
			(char *)w->name, NULL};

	if (dup2(out, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	_exit(127);
}

static int measure(const struct bench_config *config, const struct bench_workload *w,
		   struct bench_measure *m)
{
	int fd[2], status = -1, fields = 0;
	FILE *in;
	pid_t pid;

	if (pipe(fd) || (pid = fork()) < 0) {
		complain("cannot start a process");
		return -1;
	}
	if (!pid)
		become_child(fd[1], config, w);
	close(fd[1]);
	in = fdopen(fd[0], "r");
	if (in) {
		fields = fscanf(in, "%lf %" SCNu64 " %" SCNu64, &m->seconds, &m->insns,
				&m->overflows);
		fclose(in);
	}
	if (waitpid(pid, &status, 0) == pid && !status && fields == 3)
		return 0;
	/* A child that gave up has said why. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_USAGE)
		complain("%s on %s: the process died", w->name, config->name);
	return -1;
}

static void progress(unsigned round, unsigned rounds, const char *config,
		     const char *workload)
{
	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	if (config)
		fprintf(stderr, "round %u of %u: %s on %s", round + 1, rounds, workload,
			config);
}

static int pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* A shared core slows down what keeps it busy, like hooks, more than what waits for
 * its own results, so not even ratios are the same on all CPUs. */
static int choose_cpu(struct bench_results *r)
{
	const struct bench_config *config = &bench_configs[RAW];
	double best = 0;
	cpu_set_t allowed;
	unsigned tried = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		complain("cannot tell the CPUs");
		return -1;
	}
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && tried < MAX_TRIED_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || pin(cpu))
			continue;
		tried++;
		for (unsigned i = 0; i < TRIALS; i++) {
			struct bench_measure m;

			if (measure(config, &bench_workloads[BRANCH], &m))
				return -1;
			if (best && m.seconds >= best)
				continue;
			best = m.seconds;
			r->cpu = cpu;
		}
	}
	if (tried && !pin(r->cpu))
		return 0;
	complain("cannot choose a CPU");
	return -1;
}

static int measure_all(struct bench_results *r)
{
	int rc = 0;

	for (unsigned i = 0; i < r->rounds && !rc; i++)
		for (unsigned w = 0; w < NWORKLOADS && !rc; w++)
			for (unsigned c = 0; c < NCONFIGS && !rc && r->wanted[w]; c++) {
				progress(i, r->rounds, bench_configs[c].name,
					 bench_workloads[w].name);
				rc = measure(&bench_configs[c], &bench_workloads[w],
					     &r->all[i][w][c]);
			}
	progress(0, 0, NULL, NULL);
	return rc;
}

/* ---------------------------------------------------------------- command */

enum {
	OPT_CHILD = 256
};

static const struct argp_option options[] = {
	{"rounds", 'r', "N", 0, "Processes of each configuration (default 11)", 0},
	{"json", 'j', NULL, 0, "Print everything measured as JSON", 0},
	{"child", OPT_CHILD, "CONFIG", OPTION_HIDDEN, NULL, 0},
	{0},
};

static void want_workload(struct args *args, const char *name)
{
	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (!strcmp(bench_workloads[w].name, name)) {
			args->results.wanted[w] = true;
			return;
		}
	complain("no such workload: %s", name);
	exit(EXIT_USAGE);
}

static void want_rounds(struct args *args, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || n < MIN_ROUNDS || n > BENCH_MAX_ROUNDS) {
		complain("--rounds wants a number from %d to %d, not %s", MIN_ROUNDS,
			 BENCH_MAX_ROUNDS, text);
		exit(EXIT_USAGE);
	}
	args->results.rounds = (unsigned)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case 'r':
		want_rounds(args, arg);
		break;
	case 'j':
		args->json = true;
		break;
	case OPT_CHILD:
		for (unsigned c = 0; c < NCONFIGS; c++)
			if (!strcmp(bench_configs[c].name, arg))
				args->child = &bench_configs[c];
		if (!args->child) {
			complain("no such configuration: %s", arg);
			exit(EXIT_USAGE);
		}
		break;
	case ARGP_KEY_ARG:
		want_workload(args, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		for (unsigned w = 0; w < NWORKLOADS; w++)
			args->results.wanted[w] = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int parent(struct args *args)
{
	struct bench_results *r = &args->results;
	int rc;

	r->all = calloc(r->rounds, sizeof(*r->all));
	if (!r->all) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	rc = choose_cpu(r);
	if (!rc)
		rc = measure_all(r);
	if (!rc && args->json)
		rc = bench_print_json(r);
	else if (!rc)
		bench_print(r);
	free(r->all);
	if (!rc && !fflush(stdout) && !ferror(stdout))
		return EXIT_MEASURED;
	if (!rc)
		complain("stdout: cannot be written");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[WORKLOAD...]",
		.doc = "Measure how many instructions the emulated machine executes a "
		       "second, "
		       "beside a bare Unicorn, and what an overflow costs. WORKLOAD is "
		       "spin, "
		       "load, store, branch or mixed; all of them unless some are named."
		       "\vexample: tools/bench --rounds 21 branch mixed\n"
		       "exit status: 0 measured, whatever came out; 2 usage, input or "
		       "output",
	};
	struct args args = {.results.rounds = DEFAULT_ROUNDS};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!args.child)
		return parent(&args);
	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (args.results.wanted[w])
			return child(args.child, &bench_workloads[w]);
	return EXIT_USAGE;
}
