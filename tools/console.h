/* SPDX-License-Identifier: MIT */
/*
 * A recorded boot: the console of corpus/agent/init.c, taken apart into one
 * agent's log for each scenario. A console that stops before its end mark, or
 * an agent that failed, is refused here; what the logs say is not looked at.
 */
#ifndef PMULAB_TOOLS_CONSOLE_H
#define PMULAB_TOOLS_CONSOLE_H

#include <stddef.h>

struct console_run {
	char *name;
	unsigned line; /* of its @scenario */
	char *log;     /* the agent's text; not NUL-terminated */
	size_t nlog;
};

struct console_setting {
	char *name, *value;
};

struct console {
	char *file;
	char *text; /* owns all strings below */
	char *kernel, *version;
	struct console_setting *sysctls;
	size_t nsysctls;
	struct console_run *runs;
	size_t nruns;
};

/* 0, or -1 with one line "FILE:LINE: what" in @err. */
int console_parse(struct console *console, const char *file, const char *text, size_t n,
		  char *err, size_t errsize);
int console_load(struct console *console, const char *file, char *err, size_t errsize);
void console_free(struct console *console);

/* NULL when there is none of that name. */
const struct console_run *console_find(const struct console *console, const char *name);
const char *console_sysctl(const struct console *console, const char *name);

#endif
