/* SPDX-License-Identifier: MIT */
/* pmulab explain: the story of each overflow, cycle by cycle. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/runner.h"
#include "kernelcore/kperf.h"
#include "tools/pmulab.h"
#include "tools/story-json.h"
#include "tools/story.h"

enum { COLUMNS = STORY_COLUMNS, CYCLE_COLUMNS = 12, TAG_COLUMNS = 8, INDENT = CYCLE_COLUMNS + TAG_COLUMNS + 4 };

#define PLURAL(n) ((n) == 1 ? "" : "s")

struct args {
	const char *scenario, *profile;
	enum cpu_engine engine;
	unsigned long event; /* from 1; 0: all */
	unsigned long first; /* of the events, with --json; 0: all */
	bool brief, json;
};

static const struct argp_option options[] = {
	{ "event", 'n', "N", 0, "Only the N-th overflow", 0 },
	{ "brief", 'b', NULL, 0, "One line an overflow", 0 },
	{ "json", 'j', NULL, 0, "Events, registers and stories for programs", 0 },
	{ "first", 'f', "N", 0, "With --json: only the first N events", 0 },
	{ "profile", 'p', "P", 0, "The kernel to be (default: the first of `pmulab profiles`)", 0 },
	{ "engine", 'e', "ENGINE", 0, "step (reference) or block (default)", 0 },
	{ 0 },
};

static unsigned long positive(const char *arg, const char *what)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg >= '0' && *arg <= '9' && !*end && n)
		return n;
	usage_error("%s: not a number from 1 on: %s", what, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		one_line_errors(state);
		break;
	case 'n':
		args->event = positive(arg, "--event");
		break;
	case 'f':
		args->first = positive(arg, "--first");
		break;
	case 'j':
		args->json = true;
		break;
	case 'b':
		args->brief = true;
		break;
	case 'p':
		args->profile = arg;
		break;
	case 'e':
		args->engine = need_engine(arg);
		break;
	case ARGP_KEY_ARG:
		if (args->scenario)
			usage_error("one scenario at a time: %s", arg);
		args->scenario = arg;
		break;
	case ARGP_KEY_NO_ARGS:
		usage_error("which scenario? See --help");
		break;
	case ARGP_KEY_SUCCESS:
		if (args->json && (args->event || args->brief))
			usage_error("--json tells all overflows: not with --event or --brief");
		if (args->first && !args->json)
			usage_error("--first is for --json");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- lines ---------------------------------------------------------------- */

struct printer {
	bool colour;
	bool any;
	uint64_t cycle; /* of the line before */
};

/* https://no-color.org: any value but the empty one. */
static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no && *no);
}

static const char *colour_of(const char *tag)
{
	static const struct {
		const char *tag, *colour;
	} colours[] = {
		{ "wrap", "1;31" },   { "flag", "33" },	  { "line", "33" },
		{ "pending", "33" },  { "taken", "1;36" }, { "eret", "1;36" },
		{ "record", "32" },   { "head", "32" },	  { "lost", "1;31" },
		{ "period", "35" },   { "skid", "1" },	  { "wakeup", "32" },
	};

	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		if (!strcmp(tag, colours[i].tag))
			return colours[i].colour;
	return "0";
}

/* How much of @text fits into @room columns, cut at a space where there is one. */
static size_t fitting(const char *text, size_t room)
{
	size_t n = strlen(text), cut = room;

	if (n <= room)
		return n;
	while (cut > 1 && text[cut] != ' ')
		cut--;
	return cut > 1 ? cut : room;
}

static void print_line(void *opaque, const struct story_line *line)
{
	struct printer *p = opaque;
	const char *text = line->text;
	size_t n = fitting(text, COLUMNS - INDENT);

	if (p->any && p->cycle == line->cycle)
		printf("%*s", CYCLE_COLUMNS, "");
	else
		printf("%*llu", CYCLE_COLUMNS, (unsigned long long)line->cycle);
	p->any = true;
	p->cycle = line->cycle;
	if (p->colour)
		printf("  \033[%sm%-*s\033[0m  %.*s\n", colour_of(line->tag), TAG_COLUMNS,
		       line->tag, (int)n, text);
	else
		printf("  %-*s  %.*s\n", TAG_COLUMNS, line->tag, (int)n, text);
	while (text += n, *text) {
		text += *text == ' ';
		n = fitting(text, COLUMNS - INDENT - 2);
		printf("%*s%.*s\n", INDENT + 2, "", (int)n, text);
	}
}

static void print_words(const char *indent, const char *text)
{
	size_t n = fitting(text, COLUMNS);

	printf("%.*s\n", (int)n, text);
	while (text += n, *text) {
		text += *text == ' ';
		n = fitting(text, COLUMNS - strlen(indent));
		printf("%s%.*s\n", indent, (int)n, text);
	}
}

static void print_overflow(const struct story *story, const struct code *code, size_t n)
{
	const struct story_overflow *o = &story->overflows[n];
	unsigned step = story->events[o->first].step;
	struct printer printer = { .colour = wants_colour() };
	char counters[200], title[512];

	story_counters(story, n, counters, sizeof(counters));
	snprintf(title, sizeof(title), "Overflow %zu of %zu: %s at cycle %llu, step %u: %s", n + 1,
		 story->noverflows, counters, (unsigned long long)o->cycle, step,
		 step ? story->scn->steps[step - 1].words : "before the first");
	if (printer.colour)
		fputs("\033[1m", stdout);
	print_words("    ", title);
	if (printer.colour)
		fputs("\033[0m", stdout);
	story_tell(story, code, n, print_line, &printer);
}

static int explain(const struct args *args, const struct story *story, const struct code *code)
{
	char line[512];

	if (args->event > story->noverflows) {
		complain("%s has %zu overflows, no number %lu", story->scn->name,
			 story->noverflows, args->event);
		return EXIT_USAGE;
	}
	if (!args->event) {
		snprintf(line, sizeof(line),
			 "%s as %s: %zu overflow%s, %zu record%s, %zu lost, %zu wakeup%s",
			 story->scn->name, args->profile, story->noverflows,
			 PLURAL(story->noverflows), story->records, PLURAL(story->records),
			 story->lost, story->wakeups, PLURAL(story->wakeups));
		print_words("    ", line);
	}
	for (size_t n = 0; n < story->noverflows; n++) {
		if (args->event && n + 1 != args->event)
			continue;
		if (!args->brief) {
			if (!args->event)
				putchar('\n');
			print_overflow(story, code, n);
			continue;
		}
		story_brief(story, code, n, line, sizeof(line));
		puts(line);
	}
	return fflush(stdout) || ferror(stdout) ? EXIT_USAGE : 0;
}

static int run(const struct args *args, const struct scn *scn)
{
	struct runner_config config = {
		.profile = args->profile,
		.engine = args->engine,
		.agent = where_agent(),
		.prepare = story_listen,
	};
	struct runner_result result;
	struct story_json *json = NULL;
	struct code *code = NULL;
	struct story story;
	char err[512] = "";
	int rc = EXIT_USAGE;

	story_init(&story, scn);
	config.opaque = &story;
	if (args->json)
		json = story_json_open(&story, args->first);
	if (!runner_run(scn, &config, &result, err, sizeof(err))) {
		runner_result_free(&result);
		code = code_load(config.agent, err, sizeof(err));
	}
	if (code) {
		story_cut(&story);
		if (!json)
			rc = explain(args, &story, code);
		else if (!story_json_write(json, code, args->profile, stdout))
			rc = 0;
	} else {
		complain("%s", err);
	}
	story_json_close(json);
	code_free(code);
	story_free(&story);
	return rc;
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "SCENARIO",
		.doc = "Run a scenario and tell the story of each counter overflow: the instruction "
		       "that wrapped the counter, flag, line, interrupt, handler, record and return, "
		       "each with its cycle."
		       "\vexample: pmulab explain cycles-ip-100000 --event 1",
	};
	struct args args = { .profile = kperf_profile(0), .engine = CPU_ENGINE_BLOCK };
	struct scn *scn;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	need_profile(args.profile);
	scn = load_scenario(args.scenario);
	if (!scn)
		return EXIT_USAGE;
	rc = run(&args, scn);
	scn_free(scn);
	return rc;
}
