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
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/runner.h"
#include "corpus/agent/agent-cost.h"
#include "tools/bench-raw.h"

enum {
	EXIT_MEASURED = 0,
	EXIT_USAGE = 2
};
enum {
	MIN_ROUNDS = 1,
	DEFAULT_ROUNDS = 11,
	MAX_ROUNDS = 1001
};
enum {
	MAX_TRIED_CPUS = 8,
	TRIALS = 2
};

static const double target_ratio = 0.6, target_overflow_us = 5;

struct workload {
	const char *name;
	unsigned loop, rest; /* instructions: loop * n + rest */
	bool targeted;	     /* block@100000 must reach target_ratio */
};

enum {
	SPIN,
	LOAD,
	STORE,
	BRANCH,
	MIXED,
	NWORKLOADS
};

/* clang-format off */
static const struct workload workloads[NWORKLOADS] = {
	[SPIN]   = { "spin",   AGENT_WL_SPIN_LOOP,   AGENT_WL_SPIN_REST,   true },
	[LOAD]   = { "load",   AGENT_WL_LOAD_LOOP,   AGENT_WL_LOAD_REST,   false },
	[STORE]  = { "store",  AGENT_WL_STORE_LOOP,  AGENT_WL_STORE_REST,  false },
	[BRANCH] = { "branch", AGENT_WL_BRANCH_LOOP, AGENT_WL_BRANCH_REST, true },
	[MIXED]  = { "mixed",  AGENT_WL_MIXED_LOOP,  AGENT_WL_MIXED_REST,  true },
};
/* clang-format on */

enum which {
	RAW,
	CODE_HOOK,
	BLOCK_100000,
	BLOCK_10000,
	STEP_100000,
	NCONFIGS
};

struct config {
	const char *name, *what;
	uint64_t insns;	 /* about as many: 0.1 to 0.4 s */
	unsigned period; /* 0: bare Unicorn */
	enum cpu_engine engine;
	bool code_hook;
};

/* The two block configurations do the same work: their difference is overflows. */
/* clang-format off */
static const struct config configs[NCONFIGS] = {
	[RAW] = {
		.name = "raw",
		.what = "bare Unicorn, no hook, MMU off",
		.insns = 200000000,
	},
	[CODE_HOOK] = {
		.name = "code-hook",
		.what = "the same with an empty hook on each instruction",
		.insns = 40000000,
		.code_hook = true,
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
};
/* clang-format on */

/* Of one process. */
struct measure {
	double seconds;
	uint64_t insns, overflows;
};

struct args {
	unsigned rounds;
	bool json;
	bool wanted[NWORKLOADS];
	const struct config *child; /* NULL: the parent */
};

/* Everything measured: all[round][workload][config]. */
struct results {
	const struct args *args;
	unsigned cpu; /* where all of it ran */
	struct measure (*all)[NWORKLOADS][NCONFIGS];
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

static uint64_t turns(const struct config *config, const struct workload *w)
{
	return config->insns / w->loop;
}

static uint64_t cost(const struct config *config, const struct workload *w)
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
	struct measure begin, longest;
	uint64_t overflows;
};

static void on_event(void *opaque, const struct trace_event *event)
{
	struct window *w = opaque;
	struct measure now, *longest = &w->longest;

	if (event->kind == TRACE_TAKEN)
		w->overflows++;
	if (event->kind != TRACE_EXCEPTION)
		return;
	now = (struct measure){bench_clock(), w->machine->insns, w->overflows};
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

/* A read-only ring is overwritten for ever: nothing is lost, nobody drains. */
static struct scn *make_scenario(const struct config *config, const struct workload *w,
				 char *err, size_t errsize)
{
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"scenario v1\n"
		"machine preset=qemu-a57\n"
		"event e hardware/cycles period=%u sample=ip exclude=kernel,hv disabled\n"
		"open e\n"
		"mmap e pages=8 prot=r\n"
		"ioctl e enable\n"
		"run %s %" PRIu64 "\n"
		"ioctl e disable\n"
		"close e\n",
		config->period, w->name, turns(config, w));

	return scn_parse("bench.scn", text, (size_t)n, err, errsize);
}

static int run_emulated(const struct config *config, const struct workload *w,
			struct measure *m, char *err, size_t errsize)
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

static int run_bare(const struct config *config, const struct workload *w,
		    struct measure *m, char *err, size_t errsize)
{
	m->insns = cost(config, w) + 1; /* the SVC that ends it */
	m->overflows = 0;
	return bench_raw(where_agent(), w->name, turns(config, w), config->code_hook,
			 &m->seconds, err, errsize);
}

static int child(const struct config *config, const struct workload *w)
{
	struct measure m;
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

static _Noreturn void become_child(int out, const struct config *config,
				   const struct workload *w)
{
	char *argv[] = {(char *)"pmulab-bench", (char *)"--child", (char *)config->name,
			(char *)w->name, NULL};

	if (dup2(out, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	_exit(127);
}

static int measure(const struct config *config, const struct workload *w,
		   struct measure *m)
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
static int choose_cpu(struct results *r)
{
	const struct config *config = &configs[RAW];
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
			struct measure m;

			if (measure(config, &workloads[BRANCH], &m))
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

static int measure_all(struct results *r)
{
	const struct args *args = r->args;
	int rc = 0;

	for (unsigned i = 0; i < args->rounds && !rc; i++)
		for (unsigned w = 0; w < NWORKLOADS && !rc; w++)
			for (unsigned c = 0; c < NCONFIGS && !rc && args->wanted[w];
			     c++) {
				progress(i, args->rounds, configs[c].name,
					 workloads[w].name);
				rc = measure(&configs[c], &workloads[w],
					     &r->all[i][w][c]);
			}
	progress(0, 0, NULL, NULL);
	return rc;
}

/* ---------------------------------------------------------------- figures */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

typedef double (*figure_fn)(const struct measure *round, unsigned a, unsigned b);

/* The median over the rounds of @figure; @round is a row of one workload. */
static double median(const struct results *r, unsigned w, figure_fn figure, unsigned a,
		     unsigned b)
{
	double values[MAX_ROUNDS];
	unsigned n = r->args->rounds;

	for (unsigned i = 0; i < n; i++)
		values[i] = figure(r->all[i][w], a, b);
	qsort(values, n, sizeof(values[0]), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double figure_mips(const struct measure *round, unsigned a, unsigned b)
{
	(void)b;
	return (double)round[a].insns / round[a].seconds / 1e6;
}

static double figure_seconds(const struct measure *round, unsigned a, unsigned b)
{
	(void)b;
	return round[a].seconds;
}

static double figure_ratio(const struct measure *round, unsigned a, unsigned b)
{
	return figure_mips(round, a, 0) / figure_mips(round, b, 0);
}

static double mips(const struct results *r, unsigned w, unsigned c)
{
	return median(r, w, figure_mips, c, 0);
}

static double ratio(const struct results *r, unsigned w, unsigned c)
{
	return mips(r, w, c) / mips(r, w, RAW);
}

static double round_ratio(const struct results *r, unsigned w, unsigned c)
{
	return median(r, w, figure_ratio, c, RAW);
}

/* Host time of one overflow: both did the same work, one with more of them. */
static double overflow_us(const struct results *r, unsigned w)
{
	const struct measure *some = &r->all[0][w][BLOCK_100000];
	const struct measure *many = &r->all[0][w][BLOCK_10000];
	double seconds = median(r, w, figure_seconds, BLOCK_10000, 0) -
			 median(r, w, figure_seconds, BLOCK_100000, 0);

	return seconds * 1e6 / (double)(many->overflows - some->overflows);
}

struct verdict {
	bool measured, met;
	char figures[96];
};

static struct verdict judge_ratio(const struct results *r)
{
	struct verdict v = {.measured = true, .met = true};
	size_t at = 0;

	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!workloads[w].targeted)
			continue;
		if (!r->args->wanted[w])
			return (struct verdict){0};
		if (ratio(r, w, BLOCK_100000) < target_ratio)
			v.met = false;
		at += (size_t)snprintf(v.figures + at, sizeof(v.figures) - at, "%s%.2f",
				       at ? ", " : "", ratio(r, w, BLOCK_100000));
	}
	return v;
}

static struct verdict judge_overflow(const struct results *r)
{
	struct verdict v = {.measured = true, .met = true};
	unsigned worst = NWORKLOADS;

	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (r->args->wanted[w] &&
		    (worst == NWORKLOADS || overflow_us(r, w) > overflow_us(r, worst)))
			worst = w;
	v.met = overflow_us(r, worst) <= target_overflow_us;
	snprintf(v.figures, sizeof(v.figures), "%.2f at worst, on %s",
		 overflow_us(r, worst), workloads[worst].name);
	return v;
}

/* ----------------------------------------------------------------- report */

static void host_name(char *text, size_t size)
{
	FILE *in = fopen("/proc/cpuinfo", "r");
	char line[256], *colon;

	snprintf(text, size, "unknown");
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon || !colon[1])
			continue;
		snprintf(text, size, "%s", colon + 2);
		break;
	}
	if (in)
		fclose(in);
}

static void print_speed(const struct results *r)
{
	printf("Million instructions a second:\n\n%-8s", "");
	for (unsigned c = 0; c < NCONFIGS; c++)
		printf(" %13s", configs[c].name);
	printf(" %14s\n", "us an overflow");
	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!r->args->wanted[w])
			continue;
		printf("%-8s", workloads[w].name);
		for (unsigned c = 0; c < NCONFIGS; c++)
			printf(" %13.0f", mips(r, w, c));
		printf(" %14.2f\n", overflow_us(r, w));
	}
}

static void print_ratios(const struct results *r)
{
	printf("\nOf raw: ratio of the medians (median of the rounds' ratios):\n\n%-8s "
	       "%13s",
	       "", "");
	for (unsigned c = CODE_HOOK; c < NCONFIGS; c++)
		printf(" %13s", configs[c].name);
	putchar('\n');
	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!r->args->wanted[w])
			continue;
		printf("%-8s %13s", workloads[w].name, "");
		for (unsigned c = CODE_HOOK; c < NCONFIGS; c++)
			printf("   %.2f (%.2f)", ratio(r, w, c), round_ratio(r, w, c));
		putchar('\n');
	}
}

static void print_verdict(const char *what, const struct verdict *v)
{
	if (v->measured)
		printf("%s: %s (%s)\n", what, v->met ? "met" : "missed", v->figures);
	else
		printf("%s: not measured\n", what);
}

static void print_report(const struct results *r)
{
	const struct verdict speed = judge_ratio(r), overflow = judge_overflow(r);
	char version[16], host[128];

	bench_raw_version(version, sizeof(version));
	host_name(host, sizeof(host));
	printf("%u fresh processes of each, in turn; medians of their CPU time.\n"
	       "Unicorn %s on %s, CPU %u\n\n",
	       r->args->rounds, version, host, r->cpu);
	for (unsigned c = 0; c < NCONFIGS; c++)
		printf("  %-13s %s\n", configs[c].name, configs[c].what);
	printf("\nTimed: bare, the call of the workload; else from the SVC of ENABLE to "
	       "that of\n"
	       "DISABLE. us an overflow: what block@10000 took longer than block@100000, "
	       "for each\n"
	       "overflow that it had more.\n\n");
	print_speed(r);
	print_ratios(r);
	putchar('\n');
	print_verdict("block at period 100000 >= 0.6 of raw on spin, branch, mixed",
		      &speed);
	print_verdict("overflow <= 5 us", &overflow);
}

static json_t *json_workload(const struct results *r, unsigned w)
{
	json_t *speeds = json_object();

	for (unsigned c = 0; c < NCONFIGS; c++) {
		json_t *all = json_array();

		for (unsigned i = 0; i < r->args->rounds; i++)
			json_array_append_new(all, json_real(r->all[i][w][c].seconds));
		json_object_set_new(
			speeds, configs[c].name,
			json_pack("{s:f, s:f, s:f, s:I, s:I, s:o}", "mips", mips(r, w, c),
				  "of_raw", ratio(r, w, c), "of_raw_by_round",
				  round_ratio(r, w, c), "insns",
				  (json_int_t)r->all[0][w][c].insns, "overflows",
				  (json_int_t)r->all[0][w][c].overflows, "seconds", all));
	}
	return json_pack("{s:f, s:o}", "overflow_us", overflow_us(r, w), "configs",
			 speeds);
}

static json_t *json_verdict(const struct verdict *v)
{
	return v->measured ? json_boolean(v->met) : json_null();
}

static int print_json(const struct results *r)
{
	const struct verdict speed = judge_ratio(r), overflow = judge_overflow(r);
	json_t *all = json_object(), *root;
	char version[16], host[128];
	int rc;

	bench_raw_version(version, sizeof(version));
	host_name(host, sizeof(host));
	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (r->args->wanted[w])
			json_object_set_new(all, workloads[w].name, json_workload(r, w));
	root = json_pack("{s:s, s:s, s:i, s:i, s:o, s:{s:o, s:o}}", "unicorn", version,
			 "host", host, "cpu", (int)r->cpu, "rounds", (int)r->args->rounds,
			 "workloads", all, "met", "block_of_raw", json_verdict(&speed),
			 "overflow", json_verdict(&overflow));
	rc = json_dumpf(root, stdout,
			JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(root);
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
		if (!strcmp(workloads[w].name, name)) {
			args->wanted[w] = true;
			return;
		}
	complain("no such workload: %s", name);
	exit(EXIT_USAGE);
}

static void want_rounds(struct args *args, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || n < MIN_ROUNDS || n > MAX_ROUNDS) {
		complain("--rounds wants a number from %d to %d, not %s", MIN_ROUNDS,
			 MAX_ROUNDS, text);
		exit(EXIT_USAGE);
	}
	args->rounds = (unsigned)n;
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
			if (!strcmp(configs[c].name, arg))
				args->child = &configs[c];
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
			args->wanted[w] = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int parent(const struct args *args)
{
	struct results r = {.args = args};
	int rc;

	r.all = calloc(args->rounds, sizeof(*r.all));
	if (!r.all) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	rc = choose_cpu(&r);
	if (!rc)
		rc = measure_all(&r);
	if (!rc && args->json)
		rc = print_json(&r);
	else if (!rc)
		print_report(&r);
	free(r.all);
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
	struct args args = {.rounds = DEFAULT_ROUNDS};

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!args.child)
		return parent(&args);
	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (args.wanted[w])
			return child(args.child, &workloads[w]);
	return EXIT_USAGE;
}
