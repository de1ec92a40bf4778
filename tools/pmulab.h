/* SPDX-License-Identifier: MIT */
/* The pmulab command: one file a subcommand, what they share here. */
#ifndef PMULAB_TOOLS_PMULAB_H
#define PMULAB_TOOLS_PMULAB_H

#include <stddef.h>

#include "conformance/runner.h"
#include "corpus/compiler/scenario.h"
#include "emu/cpu.h"

/* Exit statuses of all subcommands. */
enum {
	EXIT_SAME = 0,
	EXIT_DIFFERS = 1,
	EXIT_USAGE = 2, /* usage, input or output */
};

int cmd_run(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_boot(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_scenarios(int argc, char **argv);
int cmd_profiles(int argc, char **argv);
int cmd_events(int argc, char **argv);

/* Where things are: the environment's PMULAB_AGENT and PMULAB_CORPUS, else what
 * the build knew. */
const char *where_agent(void);
const char *where_corpus(void);
/* Guest mode's kernel image: PMULAB_KERNEL, else the build's; NULL: none was built. */
const char *where_kernel(void);

/* @name is a path of a .scn file, or the name of a scenario of the corpus.
 * Returns 0 and the path in malloc()ed memory; -1 after a line on stderr. */
int where_scenario(const char *name, char **path);

/* The scenario of that name or path; NULL with a line in @err, or on stderr. */
struct scn *read_scenario(const char *name, char *err, size_t errsize);
struct scn *load_scenario(const char *name);

/* Names of the corpus' scenarios, sorted, in malloc()ed memory ending with NULL;
 * NULL after a line on stderr. */
char **scenario_names(size_t *n);
void names_free(char **names);

/* One line on stderr, in one write. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* complain(), then exit(EXIT_USAGE). */
void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

struct argp_state;
/* From a parser's ARGP_KEY_INIT: a wrong option is one line, without argp's
 * second one that says where help is. */
void one_line_errors(struct argp_state *state);

/* What option --@what says, from @lo to @hi; else complains and exits. */
uint64_t parse_count(const char *what, const char *text, uint64_t lo, uint64_t hi);

/* What an option says; else complains and exits. */
enum cpu_engine need_engine(const char *text);
enum runner_mode need_mode(const char *text);
const struct timing_model *need_timing(const char *text);
void need_profile(const char *name);

#endif
