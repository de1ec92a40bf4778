/* SPDX-License-Identifier: MIT */
/* pmulab check: scenarios against the goldens of real kernels, or engine against
 * engine. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernelcore/kperf.h"
#include "tools/check-item.h"

enum { TIME_LIMIT = 120 }; /* seconds of CPU time */
enum { KEY_ENGINES = 256, KEY_TAP, KEY_SHARD, KEY_LIMIT, KEY_SKID };

static const struct argp_option options[] = {
	{ "golden", 'g', "KERNEL", 0,
	  "Compare with this folder of goldens only, e.g. linux-6.12 or "
	  "linux-6.1-pmulab (default: all)", 0 },
	{ "profile", 'p', "P", 0,
	  "Be this kernel (default: the one that the golden's name begins with)", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ "mode", 'm', "MODE", 0, "host (default), or guest: the kernel at EL1 of the emulated CPU", 0 },
	{ "quiet", 'q', NULL, 0, "Print only what does not pass, and the total", 0 },
	{ "engines", KEY_ENGINES, NULL, 0,
	  "Compare no golden but both engines with each other, as each profile: trace and "
	  "bus to the byte", 0 },
	{ "timing", 't', "T", 0, "With --engines: icount (default) or inorder", 0 },
	{ "skid", KEY_SKID, "N", 0, "With --engines: cycles between an interrupt and its being "
	  "taken (default: the scenario's)", 0 },
	{ "tap", KEY_TAP, NULL, 0,
	  "Print TAP, a line a comparison; a scenario that dies or hangs fails alone", 0 },
	{ "time-limit", KEY_LIMIT, "SECONDS", 0,
	  "With --tap: what takes more CPU time has failed (default: 120)", 0 },
	{ "shard", KEY_SHARD, "K/N", 0,
	  "Take each N-th of the scenarios only, from the K-th on", 0 },
	{ 0 },
};

static void parse_shard(struct check_args *args, const char *text)
{
	int end = 0;

	if (strchr(text, '-') || sscanf(text, "%3u/%3u%n", &args->shard, &args->shards, &end) < 2 || text[end] ||
	    !args->shard || args->shard > args->shards)
		usage_error("--shard takes K/N, K from 1 to N: %s", text);
}

static void parse_skid(struct check_args *args, const char *text)
{
	args->skid = parse_count("skid", text, 0, UINT32_MAX);
	args->has_skid = true;
}

static void add_golden(struct check_args *args, char *name)
{
	if (args->ngoldens == CHECK_MAX_GOLDENS)
		usage_error("too many goldens");
	args->golden[args->ngoldens++] = name;
}

static error_t parse_how(int key, char *arg, struct check_args *args)
{
	switch (key) {
	case KEY_ENGINES:
		args->engines = true;
		break;
	case 't':
		args->timing = need_timing(arg);
		break;
	case KEY_SKID:
		parse_skid(args, arg);
		break;
	case KEY_TAP:
		args->tap = true;
		break;
	case KEY_LIMIT:
		args->limit = (unsigned)parse_count("time-limit", arg, 1, 100000);
		break;
	case KEY_SHARD:
		parse_shard(args, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'g':
		add_golden(args, arg);
		break;
	case 'p':
		args->profile = arg;
		break;
	case 'e':
		args->engine = need_engine(arg);
		break;
	case 'm':
		args->mode = need_mode(arg);
		break;
	case 'q':
		args->quiet = true;
		break;
	case ARGP_KEY_ARGS:
		args->scenarios = state->argv + state->next;
		break;
	default: /* ARGP_KEY_ARG too: ask for all of them at once */
		return parse_how(key, arg, args);
	}
	return 0;
}

static int check_one(const struct check_args *args, const char *name,
		     struct check_totals *totals)
{
	struct scn *scn = load_scenario(name);
	struct check_run run = { 0 };
	struct check_plan plan;
	int rc = 0;

	if (!scn)
		return EXIT_USAGE;
	check_plan(args, scn, &plan);
	for (unsigned i = 0; i < plan.nitems && !rc; i++)
		if (check_item(args, scn, &plan.item[i], &run, totals) == CHECK_BAD)
			rc = EXIT_USAGE;
	check_run_free(&run);
	scn_free(scn);
	return rc;
}

static void progress(size_t at, size_t n, const char *name)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%zu/%zu %s", at, n, name);
}

static int check_all(const struct check_args *args, char *const *names, size_t n)
{
	struct check_totals totals = { 0 };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (n > 4)
			progress(i + 1, n, names[i]);
		rc = check_one(args, names[i], &totals);
	}
	if (n > 4 && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (rc)
		return rc;
	check_say_totals(args, &totals);
	putchar('\n');
	return totals.failed || !totals.passed ? EXIT_DIFFERS : EXIT_SAME;
}

/* -- which goldens -------------------------------------------------------------- */

static bool golden_exists(const struct check_args *args, const char *golden)
{
	bool exists;
	char *dir;

	if (!(args->profile || check_golden_profile(golden)) ||
	    asprintf(&dir, "%s/golden/%s", where_corpus(), golden) < 0)
		return false;
	exists = !access(dir, F_OK);
	free(dir);
	return exists;
}

static int check_names(const struct check_args *args)
{
	for (unsigned i = 0; i < args->ngoldens; i++) {
		if (!golden_exists(args, args->golden[i])) {
			complain("no such golden kernel: %s", args->golden[i]);
			return -1;
		}
	}
	if (args->profile)
		need_profile(args->profile);
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_golden_dir(const struct dirent *entry)
{
	return check_golden_profile(entry->d_name) != NULL;
}

/* All folders of goldens of kernels we can be; their names are args's. */
static int every_golden(struct check_args *args)
{
	struct dirent **list;
	char *dir;
	int n;

	if (asprintf(&dir, "%s/golden", where_corpus()) < 0)
		return -1;
	n = scandir(dir, &list, is_golden_dir, by_name);
	if (n < 0)
		complain("%s: %s", dir, strerror(errno));
	free(dir);
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (args->ngoldens < CHECK_MAX_GOLDENS)
			args->golden[args->ngoldens++] = strdup(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	args->every = true;
	return 0;
}

/* -- which scenarios ------------------------------------------------------------ */

struct names {
	char **name;
	size_t n, room;
};

static void take(struct names *names, const char *name)
{
	if (names->n == names->room) {
		names->room = names->room * 2 + 64;
		names->name = realloc(names->name, names->room * sizeof(*names->name));
	}
	if (!names->name || !(names->name[names->n++] = strdup(name)))
		usage_error("out of memory");
}

static int take_pattern(struct names *names, const char *pattern)
{
	const size_t before = names->n;
	size_t n;
	char **all = scenario_names(&n);

	if (!all)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(pattern, all[i], 0))
			take(names, all[i]);
	names_free(all);
	if (names->n > before)
		return 0;
	complain("%s: no such scenarios (see `pmulab scenarios`)", pattern);
	return -1;
}

/* A name or a path as it is; of a pattern all that fit. */
static int take_word(struct names *names, const char *word)
{
	if (strpbrk(word, "*?[") && !strchr(word, '/'))
		return take_pattern(names, word);
	take(names, word);
	return 0;
}

static void keep_shard(struct names *names, const struct check_args *args)
{
	size_t kept = 0;

	for (size_t i = 0; args->shards && i < names->n; i++) {
		if (i % args->shards == args->shard - 1)
			names->name[kept++] = names->name[i];
		else
			free(names->name[i]);
	}
	if (args->shards)
		names->n = kept;
}

static int wanted_names(const struct check_args *args, struct names *names)
{
	char **words = args->scenarios && *args->scenarios ? args->scenarios : NULL;
	int rc = words ? 0 : take_pattern(names, "*");

	for (; !rc && words && *words; words++)
		rc = take_word(names, *words);
	keep_shard(names, args);
	if (!rc && !names->n) {
		complain("no scenario is left for --shard %u/%u", args->shard, args->shards);
		rc = -1;
	}
	return rc;
}

static int check_wanted(const struct check_args *args)
{
	struct names names = { 0 };
	int rc = EXIT_USAGE;

	if (!wanted_names(args, &names))
		rc = args->tap ? check_tap(args, names.name, names.n) :
				 check_all(args, names.name, names.n);
	for (size_t i = 0; i < names.n; i++)
		free(names.name[i]);
	free(names.name);
	return rc;
}

/* -- the command ---------------------------------------------------------------- */

static void check_options(const struct check_args *args)
{
	if (args->engines && args->ngoldens)
		usage_error("--engines compares with no golden");
	if (!args->engines && (args->timing || args->has_skid))
		usage_error("--timing and --skid are for --engines");
	if (args->limit && !args->tap)
		usage_error("--time-limit is for --tap");
}

int cmd_check(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[SCENARIO ...]",
		.doc = "Run scenarios (default: all of the corpus) and compare their traces with "
		       "what real Linux recorded, field by field and byte by byte. SCENARIO is a "
		       ".scn file, a name that `pmulab scenarios` lists, or a pattern of such names."
		       "\vexample: pmulab check cycles-ip-100000 --golden linux-6.1",
	};
	struct check_args args = { .engine = CPU_ENGINE_BLOCK };
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	check_options(&args);
	if (!args.limit)
		args.limit = TIME_LIMIT;
	if (!args.engines && !args.ngoldens && every_golden(&args))
		return EXIT_USAGE;
	rc = check_names(&args) ? EXIT_USAGE : check_wanted(&args);
	for (unsigned i = 0; args.every && i < args.ngoldens; i++)
		free(args.golden[i]);
	return rc;
}
