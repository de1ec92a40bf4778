/* SPDX-License-Identifier: MIT */
/*
 * `machine`, `expect`, and the verbs of grammar v1 that are checked but not
 * built: their arguments must be right, then they say so.
 */
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/verbs.h"

/* ---- machine */

static const struct parse_name irq_names[] = {
	{"ok", SCN_IRQ_OK},
	{"none", SCN_IRQ_NONE},
	{"fail", SCN_IRQ_FAIL},
	{NULL, 0},
};
static const struct parse_name reset_names[] = {{"zero", 0}, {"poison", 1}, {NULL, 0}};

static int choice(struct parser *p, const struct parse_word *word, const char *text,
		  const struct parse_name *names, uint64_t *value)
{
	if (parse_lookup(names, text, strlen(text), value))
		return parse_fail(p, word, "unknown value: `%s`", word->text);
	return 0;
}

static int machine_preset(struct parser *p, const struct parse_word *word,
			  const char *text)
{
	char *copy;

	if (strcmp(text, "qemu-a57") && strcmp(text, "full") && strcmp(text, "full-p4"))
		return parse_fail(p, word, "unknown preset: `%s`", text);
	copy = strdup(text);
	if (!copy)
		abort();
	free(p->scn->machine.preset);
	p->scn->machine.preset = copy;
	return 0;
}

static int machine_word(struct parser *p, const struct parse_word *word)
{
	struct scn_machine *machine = &p->scn->machine;
	const char *text;
	uint64_t value = 0;
	int failed;

	if ((text = parse_value(word, "preset")))
		return machine_preset(p, word, text);
	if ((text = parse_value(word, "cpus"))) {
		failed = parse_number(p, word, text, 8, &value);
		if (!failed && !value)
			return parse_fail(p, word, "no CPU: `%s`", word->text);
		machine->cpus = (unsigned)value;
		return failed;
	}
	if ((text = parse_value(word, "counters"))) {
		failed = parse_number(p, word, text, 31, &value);
		machine->counters = (unsigned)value;
	} else if ((text = parse_value(word, "hz"))) {
		failed = parse_number(p, word, text, 10000, &value);
		machine->hz = (unsigned)value;
	} else if ((text = parse_value(word, "skid"))) {
		failed = parse_number(p, word, text, UINT32_MAX, &machine->skid);
	} else if ((text = parse_value(word, "irq"))) {
		failed = choice(p, word, text, irq_names, &value);
		machine->irq = value;
	} else if ((text = parse_value(word, "reset"))) {
		failed = choice(p, word, text, reset_names, &value);
		machine->poison = value;
	} else {
		return parse_fail(p, word, "unknown argument: `%s`", word->text);
	}
	if (!failed && !p->scn->emulator_only)
		p->scn->emulator_only = "machine";
	return failed;
}

static int verb_machine(struct parser *p)
{
	if (p->scn->machine.line)
		return parse_fail(p, NULL, "second machine line, the first is %u",
				  p->scn->machine.line);
	if (p->scn->nsteps)
		return parse_fail(p, NULL, "machine stands before the first step");
	p->scn->machine.line = p->line;
	for (unsigned i = 1; i < p->nwords; i++)
		if (machine_word(p, &p->words[i]))
			return -1;
	return 0;
}

/* ---- expect */

static int expect_arg(struct parser *p, const struct parse_word *word,
		      struct scn_expect *expect)
{
	const char *equals = strchr(word->text, '=');
	const char *times = parse_value(word, "times");
	struct scn_arg *arg;

	if (times)
		return parse_number(p, word, times, UINT32_MAX, &expect->times);
	if (!equals || equals == word->text || !equals[1])
		return parse_fail(p, word, "not NAME=VALUE: `%s`", word->text);
	if (expect->nargs == SCN_MAX_ARGS)
		return parse_fail(p, word, "more than %d arguments", SCN_MAX_ARGS);
	arg = &expect->args[expect->nargs++];
	arg->name = strndup(word->text, (size_t)(equals - word->text));
	arg->text = strdup(equals + 1);
	if (!arg->name || !arg->text)
		abort();
	arg->number = !parse_u64(arg->text, &arg->value);
	return 0;
}

/* Functions of Linux's whose calls the emulated machine shows as well, and what a
 * probe on them may be asked for: corpus/probes/ has the kprobes. */
static const struct probe {
	const char *function, *args;
} probes[] = {
	{"armv8pmu_write_counter", "value"},
	{"armpmu_event_set_period", ""},
	{"perf_adjust_period", "nsec count"},
};

static int check_probe(struct parser *p)
{
	const struct parse_word *name = &p->words[2];
	const struct probe *probe = NULL;

	for (unsigned i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcmp(name->text, probes[i].function))
			probe = &probes[i];
	if (!probe)
		return parse_fail(p, name, "no probe stands on `%s`", name->text);
	for (unsigned i = 3; i < p->nwords; i++) {
		const char *equals = strchr(p->words[i].text, '=');
		size_t n = equals ? (size_t)(equals - p->words[i].text) : 0;
		const char *at = probe->args;
		uint64_t value;

		if (!strncmp(p->words[i].text, "times=", 6))
			continue;
		while (*at && (strncmp(at, p->words[i].text, n) || (at[n] && at[n] != ' '))) {
			at += strcspn(at, " ");
			at += strspn(at, " ");
		}
		if (!n || !*at || parse_u64(equals + 1, &value))
			return parse_fail(p, &p->words[i], "%s has no number `%s`",
					  name->text, p->words[i].text);
	}
	return 0;
}

static int expect_any(struct parser *p, bool probe)
{
	struct scn *scn = p->scn;
	struct scn_expect *expect;

	if (!parse_is_name(p->words[2].text))
		return parse_fail(p, &p->words[2], "not a name: `%s`", p->words[2].text);
	if (probe && check_probe(p))
		return -1;
	if (!scn->emulator_only && !probe)
		scn->emulator_only = "expect bus";
	scn->expects = scn_grow(scn->expects, scn->nexpects, sizeof(*scn->expects));
	expect = &scn->expects[scn->nexpects++];
	memset(expect, 0, sizeof(*expect));
	expect->line = p->line;
	expect->probe = probe;
	expect->after = scn->nsteps;
	expect->times = 1;
	expect->words = strdup(p->joined);
	expect->kind = strdup(p->words[2].text);
	if (!expect->words || !expect->kind)
		abort();
	for (unsigned i = 3; i < p->nwords; i++)
		if (expect_arg(p, &p->words[i], expect))
			return -1;
	return 0;
}

static int verb_expect(struct parser *p)
{
	if (!strcmp(p->words[1].text, "bus"))
		return expect_any(p, false);
	if (!strcmp(p->words[1].text, "probe"))
		return expect_any(p, true);
	return parse_fail(p, &p->words[1], "expect bus or expect probe, not `%s`",
			  p->words[1].text);
}

/* ---- checked, not built: one pattern a verb */

/*
 * A pattern is one letter a word behind the verb:
 *   w any word	  n a number	s a number, perhaps negative	v a name
 *   e an event
 * and `|` in front of what may be left out. The few verbs with more shape have
 * a function.
 */
static int later_word(struct parser *p, const struct parse_word *word, char kind)
{
	uint64_t value;
	int64_t sign;

	switch (kind) {
	case 'n':
		return parse_number(p, word, word->text, UINT64_MAX, &value);
	case 's':
		return parse_signed(p, word, word->text, INT64_MAX, &sign);
	case 'v':
		if (!parse_is_name(word->text))
			return parse_fail(p, word, "not a name: `%s`", word->text);
		return 0;
	case 'e':
		return parse_event_ref(p, word, word->text) < 0 ? -1 : 0;
	}
	return 0;
}

static int one_of(struct parser *p, unsigned i, const char *list)
{
	const char *text = p->words[i].text;
	size_t n = strlen(text);

	for (const char *at = list; !strchr(text, '|') && (at = strstr(at, text));
	     at += n)
		if ((at == list || at[-1] == '|') && (at[n] == '|' || !at[n]))
			return 0;
	return parse_fail(p, &p->words[i], "%s, not `%s`", list, text);
}

static int shape_deny(struct parser *p)
{
	return one_of(p, 1, "open|read|write");
}

static const struct later {
	const char *name, *pattern, *use;
	int (*shape)(struct parser *p);
} later_verbs[] = {
	{"deny", "w", "deny open|read|write", shape_deny},
	{"feed", "w", "feed FILE", NULL},
};

static int later_verb(struct parser *p, const struct later *verb)
{
	const char *bar = strchr(verb->pattern, '|');
	unsigned all = (unsigned)strlen(verb->pattern) - (bar ? 1 : 0);
	unsigned must = bar ? (unsigned)(bar - verb->pattern) : all;
	const char *kind = verb->pattern;

	if (parse_arity(p, 1 + must, 1 + all, verb->use))
		return -1;
	for (unsigned i = 1; i < p->nwords; i++, kind++) {
		if (*kind == '|')
			kind++;
		if (later_word(p, &p->words[i], *kind))
			return -1;
	}
	if (verb->shape && verb->shape(p))
		return -1;
	if (p->opens)
		return parse_fail(p, NULL, "no block: %s", verb->use);
	parse_unbuilt(p, "%s", verb->name);
	return 0;
}

static const struct parse_verb declarations[] = {
	{"machine", 2, PARSE_MAX_WORDS, "machine KEY=VALUE ...", verb_machine, false},
	{"expect", 3, PARSE_MAX_WORDS, "expect bus KIND ...|probe FUNCTION ARGS",
	 verb_expect, false},
	{NULL, 0, 0, NULL, NULL, false},
};

static const struct parse_verb *find_verb(const struct parse_verb *table,
					  const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

int parse_verb(struct parser *p)
{
	const char *name = p->words[0].text;
	const struct parse_verb *verb = find_verb(parse_built_verbs, name);

	if (!verb)
		verb = find_verb(parse_task_verbs, name);
	if (!verb)
		verb = find_verb(declarations, name);
	if (verb) {
		if (p->opens != verb->block)
			return parse_fail(p, NULL,
					  verb->block ? "`{` missing: %s" : "no block: %s",
					  verb->use);
		if (parse_arity(p, verb->min, verb->max, verb->use))
			return -1;
		return verb->parse(p);
	}
	for (unsigned i = 0; i < sizeof(later_verbs) / sizeof(later_verbs[0]); i++)
		if (!strcmp(later_verbs[i].name, name))
			return later_verb(p, &later_verbs[i]);
	if (!strcmp(name, "}")) {
		if (!p->nblocks)
			return parse_fail(p, &p->words[0], "`}` closes nothing");
		return parse_close_block(p);
	}
	return parse_fail(p, NULL, "unknown verb: %s", name);
}
