/* SPDX-License-Identifier: MIT */
/* Lines to words, words to numbers, and the one place that makes messages. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/parse.h"

int parse_fail(struct parser *p, const struct parse_word *word, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (p->error)
		return -1;
	p->error = EINVAL;
	if (word)
		n = snprintf(p->err, p->errsize, "%s:%u:%u: ", p->file, p->line,
			     word->col);
	else
		n = snprintf(p->err, p->errsize, "%s:%u: ", p->file, p->line);
	if (n < 0 || (size_t)n >= p->errsize)
		return -1;
	va_start(ap, fmt);
	vsnprintf(p->err + n, p->errsize - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

void parse_unbuilt(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	if (p->unbuilt_line)
		return;
	p->unbuilt_line = p->line;
	va_start(ap, fmt);
	vsnprintf(p->unbuilt, sizeof(p->unbuilt), fmt, ap);
	va_end(ap);
}

static int add_word(struct parser *p, const char *text, size_t from, size_t to)
{
	struct parse_word *word;

	if (p->nwords == PARSE_MAX_WORDS)
		return parse_fail(p, NULL, "more than %d words", PARSE_MAX_WORDS);
	word = &p->words[p->nwords++];
	word->text = p->buffer + from;
	word->col = (unsigned)from + 1;
	memcpy(word->text, text + from, to - from);
	word->text[to - from] = '\0';
	return 0;
}

static void join_words(struct parser *p)
{
	char *out = p->joined;
	size_t n;

	for (unsigned i = 0; i < p->nwords; i++) {
		n = strlen(p->words[i].text);
		if (i)
			*out++ = ' ';
		memcpy(out, p->words[i].text, n);
		out += n;
	}
	*out = '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

int parse_split(struct parser *p, const char *text, size_t n)
{
	size_t i = 0, start;

	p->nwords = 0;
	p->opens = false;
	if (n > PARSE_MAX_LINE)
		return parse_fail(p, NULL, "line longer than %d bytes", PARSE_MAX_LINE);
	while (i < n) {
		if (is_blank(text[i])) {
			i++;
			continue;
		}
		if (text[i] == '#')
			break;
		start = i;
		for (; i < n && !is_blank(text[i]); i++) {
			struct parse_word here = {.col = (unsigned)i + 1};

			if (!isgraph((unsigned char)text[i]))
				return parse_fail(p, &here,
						  "not a printable character: 0x%02x",
						  (unsigned char)text[i]);
		}
		if (add_word(p, text, start, i))
			return -1;
	}
	if (p->nwords > 1 && !strcmp(p->words[p->nwords - 1].text, "{")) {
		p->opens = true;
		p->nwords--;
	}
	for (unsigned w = 0; w < p->nwords; w++)
		if (!strcmp(p->words[w].text, "{") ||
		    (p->nwords > 1 && !strcmp(p->words[w].text, "}")))
			return parse_fail(p, &p->words[w], "`%s` in the wrong place",
					  p->words[w].text);
	join_words(p);
	return 0;
}

int parse_arity(struct parser *p, unsigned min, unsigned max, const char *use)
{
	if (p->nwords < min)
		return parse_fail(p, NULL, "arguments missing: %s", use);
	if (p->nwords > max)
		return parse_fail(p, &p->words[max], "unexpected: %s (%s)",
				  p->words[max].text, use);
	return 0;
}

const char *parse_value(const struct parse_word *word, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(word->text, key, n) || word->text[n] != '=')
		return NULL;
	return word->text + n + 1;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

int parse_u64(const char *text, uint64_t *value)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (text[0] == '0' && text[1] == 'x') {
		base = 16;
		text += 2;
	}
	if (!*text)
		return -1;
	for (; *text; text++) {
		unsigned d = (unsigned)digit_value(*text);

		if (d >= base || v > (UINT64_MAX - d) / base)
			return -1;
		v = v * base + d;
	}
	*value = v;
	return 0;
}

int parse_number(struct parser *p, const struct parse_word *word, const char *text,
		 uint64_t max, uint64_t *value)
{
	if (parse_u64(text, value))
		return parse_fail(p, word, "not a number: `%s`", text);
	if (*value > max)
		return parse_fail(p, word, "%s is more than %llu", text,
				  (unsigned long long)max);
	return 0;
}

int parse_signed(struct parser *p, const struct parse_word *word, const char *text,
		 int64_t max, int64_t *value)
{
	bool minus = text[0] == '-';
	uint64_t v;

	if (parse_number(p, word, text + minus, (uint64_t)max, &v))
		return -1;
	*value = minus ? -(int64_t)v : (int64_t)v;
	return 0;
}

bool parse_is_name(const char *text)
{
	if (!isalpha((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
			return false;
	return true;
}

static bool same_name(const char *name, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n && name[i]; i++)
		if (name[i] != text[i] && !(name[i] == '-' && text[i] == '_') &&
		    !(name[i] == '_' && text[i] == '-'))
			return false;
	return i == n && !name[i];
}

int parse_lookup(const struct parse_name *table, const char *text, size_t n,
		 uint64_t *value)
{
	for (; table->name; table++) {
		if (same_name(table->name, text, n)) {
			*value = table->value;
			return 0;
		}
	}
	return -1;
}

int parse_list(struct parser *p, const struct parse_word *word, const char *text,
	       const struct parse_name *table, const char *what, uint64_t *mask)
{
	*mask = 0;
	for (;;) {
		size_t n = strcspn(text, ",");
		uint64_t bit;

		if (parse_lookup(table, text, n, &bit))
			return parse_fail(p, word, "unknown %s: `%.*s`", what, (int)n,
					  text);
		if (*mask & bit)
			return parse_fail(p, word, "%s twice: %.*s", what, (int)n, text);
		*mask |= bit;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}
