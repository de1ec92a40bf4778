/* SPDX-License-Identifier: MIT */
/* The agent's log: lines of text to results, data area and drain log. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode.h"

struct reader {
	struct decode_log *log;
	const char *name;
	char *err;
	size_t errsize;
	unsigned line;
	bool started, ended;
	uint64_t lines; /* between the two marks */
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *fmt,
						      ...)
{
	va_list ap;
	int n = snprintf(r->err, r->errsize, "%s:%u: ", r->name, r->line);

	if (n < 0 || (size_t)n >= r->errsize)
		return -1;
	va_start(ap, fmt);
	vsnprintf(r->err + n, r->errsize - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Takes one number off *at. */
static int take_hex(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;

	*value = 0;
	for (; p < end && hex_digit(*p) >= 0; p++) {
		if (p - *at == 16)
			return -1;
		*value = *value << 4 | (uint64_t)hex_digit(*p);
	}
	if (p == *at)
		return -1;
	*at = p;
	return 0;
}

static int take_space(const char **at, const char *end)
{
	if (*at == end || **at != ' ')
		return -1;
	++*at;
	return 0;
}

/* Doubles whenever n passes a power of two; bytes come in lines of 32. */
static void *room(void *p, size_t used, size_t more, size_t size)
{
	size_t have = 64, need = used + more;

	if (used) {
		while (have < used)
			have *= 2;
		if (need <= have)
			return p;
	}
	while (have < need)
		have *= 2;
	p = realloc(p, have * size);
	if (!p)
		abort();
	return p;
}

static int take_bytes(struct reader *r, const char *at, const char *end, uint8_t **bytes,
		      size_t *n)
{
	if (at == end || (end - at) % 2)
		return fail(r, "not a whole number of bytes");
	*bytes = room(*bytes, *n, (size_t)(end - at) / 2, 1);
	for (; at < end; at += 2) {
		int high = hex_digit(at[0]), low = hex_digit(at[1]);

		if (high < 0 || low < 0)
			return fail(r, "not hex: `%.2s`", at);
		(*bytes)[(*n)++] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int result_line(struct reader *r, const char *at, const char *end)
{
	struct decode_log *log = r->log;
	uint64_t op, value;

	if (take_hex(&at, end, &op) || take_space(&at, end) ||
	    take_hex(&at, end, &value) || at != end)
		return fail(r, "not `r OP RESULT`");
	if (op != log->nresults)
		return fail(r, "result of operation %llu, not of %zu",
			    (unsigned long long)op, log->nresults);
	log->results = room(log->results, log->nresults, 1, sizeof(*log->results));
	log->results[log->nresults++] = (int64_t)value;
	return 0;
}

static int data_line(struct reader *r, const char *at, const char *end)
{
	struct decode_log *log = r->log;
	uint64_t address;

	if (take_hex(&at, end, &address) || take_space(&at, end))
		return fail(r, "not `d ADDRESS HEX`");
	if (!log->ndata)
		log->data_addr = address;
	else if (address != log->data_addr + log->ndata)
		return fail(r, "data at 0x%llx, not at 0x%llx",
			    (unsigned long long)address,
			    (unsigned long long)(log->data_addr + log->ndata));
	return take_bytes(r, at, end, &log->data, &log->ndata);
}

static int end_line(struct reader *r, const char *at, const char *end)
{
	uint64_t lines;

	if (take_hex(&at, end, &lines) || at != end)
		return fail(r, "not `@end LINES`");
	if (lines != r->lines)
		return fail(r, "cut log: %llu lines, its end says %llu",
			    (unsigned long long)r->lines, (unsigned long long)lines);
	r->ended = true;
	return 0;
}

static int log_line(struct reader *r, const char *at, const char *end)
{
	size_t n = (size_t)(end - at);

	if (!r->started) {
		r->started = n == 14 && !memcmp(at, "@pmulab-log v1", n);
		return 0;
	}
	if (n > 5 && !memcmp(at, "@end ", 5))
		return end_line(r, at + 5, end);
	r->lines++;
	if (n > 2 && at[1] == ' ') {
		switch (at[0]) {
		case 'r':
			return result_line(r, at + 2, end);
		case 'd':
			return data_line(r, at + 2, end);
		case 'l':
			return take_bytes(r, at + 2, end, &r->log->drain,
					  &r->log->ndrain);
		}
	}
	return fail(r, "not a line of a log: `%.*s`", (int)(n < 40 ? n : 40), at);
}

int decode_log_parse(struct decode_log *log, const char *name, const char *text, size_t n,
		     char *err, size_t errsize)
{
	struct reader r = {.log = log, .name = name, .err = err, .errsize = errsize};
	const char *end = text + n;

	memset(log, 0, sizeof(*log));
	while (text < end && !r.ended) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		r.line++;
		while (stop > text && stop[-1] == '\r')
			stop--;
		if (log_line(&r, text, stop)) {
			decode_log_free(log);
			return -1;
		}
		text = newline ? newline + 1 : end;
	}
	if (r.ended)
		return 0;
	fail(&r, r.started ? "cut log: no @end" : "no log: no @pmulab-log v1");
	decode_log_free(log);
	return -1;
}

void decode_log_free(struct decode_log *log)
{
	free(log->results);
	free(log->data);
	free(log->drain);
	memset(log, 0, sizeof(*log));
}
