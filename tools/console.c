/* SPDX-License-Identifier: MIT */
#include "tools/console.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct console *console;
	unsigned line;
	struct console_run *run; /* between @scenario and @exit */
	bool done;
	char *err;
	size_t errsize;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct parser *p, const char *fmt,
							...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(p->err, p->errsize, "%s:%u: %s", p->console->file, p->line, what);
	return -1;
}

static void *grow(void *array, size_t n, size_t size)
{
	void *larger = realloc(array, (n + 1) * size);

	if (!larger)
		abort();
	memset((char *)larger + n * size, 0, size);
	return larger;
}

/* What stands behind @mark, or NULL when the line has another one. */
static char *after(char *line, const char *mark)
{
	size_t n = strlen(mark);

	return strncmp(line, mark, n) ? NULL : line + n;
}

static int number(const char *text, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return errno || end == text || *end ? -1 : 0;
}

static int scenario(struct parser *p, char *name)
{
	struct console *c = p->console;

	if (p->run)
		return refuse(p, "scenario %s begins inside of %s", name, p->run->name);
	if (!*name || console_find(c, name))
		return refuse(p, "scenario '%s' has no name or ran twice", name);
	c->runs = grow(c->runs, c->nruns, sizeof(*c->runs));
	p->run = &c->runs[c->nruns++];
	p->run->name = name;
	p->run->line = p->line;
	return 0;
}

static int leave(struct parser *p, char *status)
{
	unsigned long value;

	if (!p->run)
		return refuse(p, "@exit without a scenario");
	if (number(status, &value))
		return refuse(p, "scenario %s: '%s' is no exit status", p->run->name,
			      status);
	if (value)
		return refuse(p, "scenario %s: the agent's exit status is %lu",
			      p->run->name, value);
	p->run = NULL;
	return 0;
}

static int sysctl(struct parser *p, char *name)
{
	struct console *c = p->console;
	char *value = strchr(name, ' ');

	if (!value)
		return refuse(p, "@sysctl without a value");
	*value++ = '\0';
	c->sysctls = grow(c->sysctls, c->nsysctls, sizeof(*c->sysctls));
	c->sysctls[c->nsysctls++] = (struct console_setting){name, value};
	return 0;
}

static int done(struct parser *p, const char *count)
{
	unsigned long value;

	if (p->run)
		return refuse(p, "the boot ends inside of scenario %s", p->run->name);
	if (number(count, &value) || value != p->console->nruns)
		return refuse(p, "%zu scenarios ran, but the boot counted %s",
			      p->console->nruns, count);
	p->done = true;
	return 0;
}

/* A line that is no mark belongs to the running agent's log, or to nobody: the
 * kernel's own lines before the first mark and between scenarios. */
static int mark(struct parser *p, char *line, size_t n)
{
	struct console *c = p->console;
	char *rest;

	if ((rest = after(line, "@scenario ")))
		return scenario(p, rest);
	if ((rest = after(line, "@exit ")))
		return leave(p, rest);
	if (p->run) {
		if (!p->run->log)
			p->run->log = line;
		p->run->nlog = (size_t)(line + n - p->run->log);
		line[n - 1] = '\n';
		return 0;
	}
	if ((rest = after(line, "@kernel ")))
		c->kernel = rest;
	else if ((rest = after(line, "@version ")))
		c->version = rest;
	else if ((rest = after(line, "@sysctl ")))
		return sysctl(p, rest);
	else if ((rest = after(line, "@done ")))
		return done(p, rest);
	return 0;
}

static int parse(struct parser *p, char *text)
{
	while (*text && !p->done) {
		char *end = strchr(text, '\n');

		p->line++;
		if (!end)
			break; /* a cut line: the end mark is missing then */
		*end = '\0';
		if (mark(p, text, (size_t)(end + 1 - text)))
			return -1;
		text = end + 1;
	}
	if (!p->done)
		return refuse(p, "the boot did not reach its end%s%s",
			      p->run ? ": it stopped in scenario " : "",
			      p->run ? p->run->name : "");
	if (!p->console->kernel)
		return refuse(p, "the boot does not say its kernel");
	return 0;
}

int console_parse(struct console *console, const char *file, const char *text, size_t n,
		  char *err, size_t errsize)
{
	struct parser p = {.console = console, .err = err, .errsize = errsize};
	size_t used = 0;

	memset(console, 0, sizeof(*console));
	console->file = strdup(file);
	console->text = malloc(n + 1);
	if (!console->file || !console->text)
		abort();
	/* The serial line puts a CR before each LF; a NUL would hide the rest. */
	for (size_t i = 0; i < n; i++)
		if (text[i] != '\r')
			console->text[used++] = text[i] ? text[i] : '?';
	console->text[used] = '\0';
	if (!parse(&p, console->text))
		return 0;
	console_free(console);
	return -1;
}

int console_load(struct console *console, const char *file, char *err, size_t errsize)
{
	FILE *in = fopen(file, "rb");
	char *text = NULL;
	size_t n = 0, got;
	int ret;

	memset(console, 0, sizeof(*console));
	if (!in) {
		snprintf(err, errsize, "%s: %s", file, strerror(errno));
		return -1;
	}
	do {
		text = realloc(text, n + 65536);
		if (!text)
			abort();
		got = fread(text + n, 1, 65536, in);
		n += got;
	} while (got);
	if (ferror(in)) {
		snprintf(err, errsize, "%s: %s", file, strerror(EIO));
		ret = -1;
	} else {
		ret = console_parse(console, file, text, n, err, errsize);
	}
	fclose(in);
	free(text);
	return ret;
}

void console_free(struct console *console)
{
	free(console->file);
	free(console->text);
	free(console->sysctls);
	free(console->runs);
	memset(console, 0, sizeof(*console));
}

const struct console_run *console_find(const struct console *console, const char *name)
{
	for (size_t i = 0; i < console->nruns; i++)
		if (!strcmp(console->runs[i].name, name))
			return &console->runs[i];
	return NULL;
}

const char *console_sysctl(const struct console *console, const char *name)
{
	for (size_t i = 0; i < console->nsysctls; i++)
		if (!strcmp(console->sysctls[i].name, name))
			return console->sysctls[i].value;
	return NULL;
}
