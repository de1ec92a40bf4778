/* SPDX-License-Identifier: MIT */
#include "tools/pmulab.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernelcore/kperf.h"

static const struct {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "run a scenario and print its trace", cmd_run },
	{ "check", "compare scenarios with the goldens of real Linux", cmd_check },
	{ "explain", "tell each overflow's story, cycle by cycle", cmd_explain },
	{ "trace", "write a scenario's signals for GTKWave or Perfetto", cmd_trace },
	{ "boot", "boot a guest image on the board", cmd_boot },
	{ "scenarios", "list the corpus' scenarios", cmd_scenarios },
	{ "profiles", "list the kernels that the perf core can be", cmd_profiles },
	{ "events", "list the hardware events of a machine preset", cmd_events },
};

enum { NCOMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Commands that are to come; said plainly until they are built. */
static const char *const later[] = { "exec", "stat", "record" };

static void usage(FILE *out)
{
	fputs("usage: pmulab COMMAND [ARGUMENT ...]\n\n"
	      "A laboratory for AArch64 PMU overflow: an emulated CPU, a real perf core,\n"
	      "and goldens of real Linux to compare with.\n\n",
	      out);
	for (int i = 0; i < NCOMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
	fputs("\nEach command knows --help. Exit status: 0 done and the same, 1 differs,\n"
	      "2 usage, input or output.\n\n"
	      "PMULAB_CORPUS and PMULAB_AGENT name another corpus folder and another agent\n"
	      "than the build's.\n\n"
	      "example: pmulab check cycles-ip-100000\n",
	      out);
}

static void complain_v(const char *fmt, va_list ap)
{
	char line[1024] = "pmulab: ";
	size_t at = strlen(line);

	vsnprintf(line + at, sizeof(line) - at - 1, fmt, ap);
	fprintf(stderr, "%s\n", line);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_v(fmt, ap);
	va_end(ap);
}

void usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_v(fmt, ap);
	va_end(ap);
	exit(EXIT_USAGE);
}

void one_line_errors(struct argp_state *state)
{
	FILE *nowhere = fopen("/dev/null", "w");

	if (nowhere)
		state->err_stream = nowhere;
}

/* A verdict that did not reach its reader is not given. */
static int finish(int rc)
{
	if (!fflush(stdout) && !ferror(stdout))
		return rc;
	complain("stdout: %s", strerror(errno ? errno : EIO));
	return EXIT_USAGE;
}

const char *where_agent(void)
{
	const char *path = getenv("PMULAB_AGENT");

	return path && *path ? path : PMULAB_AGENT_PATH;
}

const char *where_kernel(void)
{
	const char *path = getenv("PMULAB_KERNEL");

	if (!path || !*path)
		path = PMULAB_KERNEL_PATH;
	return *path ? path : NULL;
}

const char *where_corpus(void)
{
	const char *path = getenv("PMULAB_CORPUS");

	return path && *path ? path : PMULAB_CORPUS_PATH;
}

static char *find_scenario(const char *name, char *err, size_t errsize)
{
	size_t n = strlen(name);
	char *path = NULL;

	if (strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".scn"))) {
		path = strdup(name);
	} else if (asprintf(&path, "%s/scenarios/%s.scn", where_corpus(), name) < 0) {
		path = NULL;
	} else if (access(path, F_OK)) {
		snprintf(err, errsize, "%s: no such scenario (see `pmulab scenarios`)", name);
		free(path);
		return NULL;
	}
	if (!path)
		snprintf(err, errsize, "out of memory");
	return path;
}

int where_scenario(const char *name, char **path)
{
	char err[512];

	*path = find_scenario(name, err, sizeof(err));
	if (*path)
		return 0;
	complain("%s", err);
	return -1;
}

struct scn *read_scenario(const char *name, char *err, size_t errsize)
{
	char *path = find_scenario(name, err, errsize);
	struct scn *scn = path ? scn_load(path, err, errsize) : NULL;

	free(path);
	return scn;
}

struct scn *load_scenario(const char *name)
{
	char err[512];
	struct scn *scn = read_scenario(name, err, sizeof(err));

	if (!scn)
		complain("%s", err);
	return scn;
}

static int is_scenario(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && entry->d_name[0] != '.' && !strcmp(entry->d_name + n - 4, ".scn");
}

char **scenario_names(size_t *n)
{
	struct dirent **entries;
	char **names, *dir;
	int found;

	if (asprintf(&dir, "%s/scenarios", where_corpus()) < 0)
		return NULL;
	found = scandir(dir, &entries, is_scenario, alphasort);
	if (found < 0) {
		complain("%s: %s", dir, strerror(errno));
		free(dir);
		return NULL;
	}
	free(dir);
	names = calloc((size_t)found + 1, sizeof(*names));
	for (int i = 0; i < found; i++) {
		if (names)
			names[i] = strndup(entries[i]->d_name,
					   strlen(entries[i]->d_name) - 4);
		free(entries[i]);
	}
	free(entries);
	*n = (size_t)found;
	return names;
}

void names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

uint64_t parse_count(const char *what, const char *text, uint64_t lo, uint64_t hi)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < lo || value > hi) {
		complain("--%s takes a number from %" PRIu64 " to %" PRIu64 ": %s", what, lo,
			 hi, text);
		exit(EXIT_USAGE);
	}
	return value;
}

enum cpu_engine need_engine(const char *text)
{
	if (!strcmp(text, "step"))
		return CPU_ENGINE_STEP;
	if (strcmp(text, "block"))
		usage_error("no such engine: %s", text);
	return CPU_ENGINE_BLOCK;
}

enum runner_mode need_mode(const char *text)
{
	if (!strcmp(text, "guest"))
		return RUNNER_GUEST;
	if (strcmp(text, "host"))
		usage_error("no such mode: %s", text);
	return RUNNER_HOST;
}

const struct timing_model *need_timing(const char *text)
{
	const struct timing_model *timing = timing_model(text);

	if (!timing)
		usage_error("no such timing: %s", text);
	return timing;
}

void need_profile(const char *name)
{
	for (unsigned i = 0; kperf_profile(i); i++)
		if (!strcmp(kperf_profile(i), name))
			return;
	usage_error("no such profile: %s", name);
}

int main(int argc, char **argv)
{
	argp_err_exit_status = EXIT_USAGE;
	if (argc < 2) {
		complain("which command? See `pmulab --help`");
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("pmulab " PMULAB_VERSION);
		return finish(0);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return finish(0);
	}
	for (int i = 0; i < NCOMMANDS; i++) {
		char name[64];

		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "pmulab %s", argv[1]);
		argv[1] = name;
		return finish(commands[i].run(argc - 1, argv + 1));
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (!strcmp(argv[1], later[i])) {
			complain("not built yet: %s", argv[1]);
			return EXIT_USAGE;
		}
	}
	complain("no such command: %s (see `pmulab --help`)", argv[1]);
	return EXIT_USAGE;
}
