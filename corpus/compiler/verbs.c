/* SPDX-License-Identifier: MIT */
/* Verbs that make steps, and `machine` and `expect`. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/verbs.h"

enum {
	IOC_ENABLE = 0x2400,
	IOC_DISABLE = 0x2401,
	IOC_REFRESH = 0x2402,
	IOC_RESET = 0x2403,
	IOC_SET_OUTPUT = 0x2405
};
#define IOC_PERIOD 0x40082404u
#define IOC_ID 0x80082407u
#define IOC_PAUSE_OUTPUT 0x40042409u
#define IOC_MODIFY_ATTRIBUTES 0x4008240bu

enum {
	PROT_R = 1,
	PROT_W = 2,
	MAX_PAGES = 4095,
	PAGE_SIZE = 4096
};

/* The step of a verb whose first argument is an event; NULL with a message. */
static struct scn_step *event_step(struct parser *p, enum scn_verb verb)
{
	int event = parse_event_ref(p, &p->words[1], p->words[1].text);
	struct scn_step *step;

	if (event < 0)
		return NULL;
	step = parse_step(p, verb);
	step->event = event;
	return step;
}

static int open_pid(struct parser *p, const struct parse_word *word, const char *text,
		    struct scn_step *step)
{
	int64_t pid;

	if (!strcmp(text, "self")) {
		step->pid = 0;
	} else if (!strcmp(text, "any")) {
		step->pid = -1;
	} else if (scn_task_find(p->scn, text) >= 0) {
		step->peer = scn_task_find(p->scn, text);
	} else {
		if (parse_is_name(text))
			return parse_fail(p, word, "unknown task: `%s`", text);
		if (parse_signed(p, word, text, INT_MAX, &pid))
			return -1;
		step->pid = (int32_t)pid;
	}
	return 0;
}

static int open_cpu(struct parser *p, const struct parse_word *word, const char *text,
		    struct scn_step *step)
{
	int64_t cpu = -1;

	if (strcmp(text, "any") && parse_signed(p, word, text, INT_MAX, &cpu))
		return -1;
	step->cpu = (int32_t)cpu;
	return 0;
}

static int open_flags(struct parser *p, const struct parse_word *word, const char *text,
		      struct scn_step *step)
{
	uint64_t flags;

	if (text[0] >= '0' && text[0] <= '9') {
		if (parse_number(p, word, text, UINT32_MAX, &flags))
			return -1;
	} else if (parse_list(p, word, text, parse_open_flags, "flag", &flags)) {
		return -1;
	}
	step->flags = (uint32_t)flags;
	return 0;
}

static int verb_open(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_OPEN);

	if (!step)
		return -1;
	step->cpu = -1;
	for (unsigned i = 2; i < p->nwords; i++) {
		const struct parse_word *word = &p->words[i];
		const char *text;
		int failed = 0;

		if ((text = parse_value(word, "pid")))
			failed = open_pid(p, word, text, step);
		else if ((text = parse_value(word, "cpu")))
			failed = open_cpu(p, word, text, step);
		else if ((text = parse_value(word, "flags")))
			failed = open_flags(p, word, text, step);
		else if ((text = parse_value(word, "group")))
			failed = (step->other = parse_event_ref(p, word, text)) < 0;
		else
			failed =
				parse_fail(p, word, "unknown argument: `%s`", word->text);
		if (failed)
			return -1;
	}
	return 0;
}

static int verb_close(struct parser *p)
{
	return event_step(p, SCN_CLOSE) ? 0 : -1;
}

static int mmap_prot(struct parser *p, const struct parse_word *word, const char *text,
		     struct scn_step *step)
{
	if (!strcmp(text, "r"))
		step->prot = PROT_R;
	else if (!strcmp(text, "rw"))
		step->prot = PROT_R | PROT_W;
	else
		return parse_fail(p, word, "prot is r or rw, not `%s`", text);
	return 0;
}

static int verb_mmap(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_MMAP);
	bool pages = false;

	if (!step)
		return -1;
	step->prot = PROT_R | PROT_W;
	for (unsigned i = 2; i < p->nwords; i++) {
		const struct parse_word *word = &p->words[i];
		const char *text;
		int failed = 0;

		if ((text = parse_value(word, "pages"))) {
			failed = parse_number(p, word, text, MAX_PAGES, &step->pages);
			pages = true;
		} else if ((text = parse_value(word, "prot"))) {
			failed = mmap_prot(p, word, text, step);
		} else if ((text = parse_value(word, "offset"))) {
			failed = parse_number(p, word, text, INT64_MAX, &step->offset);
		} else {
			failed =
				parse_fail(p, word, "unknown argument: `%s`", word->text);
		}
		if (failed)
			return -1;
	}
	if (!pages)
		return parse_fail(p, NULL, "arguments missing: mmap EV pages=N");
	*parse_map_of(p, step->event) =
		(struct parse_map){true, step->pages, step->prot};
	return 0;
}

static int verb_munmap(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_MUNMAP);

	if (!step)
		return -1;
	step->mapped = parse_map_of(p, step->event)->mapped;
	step->pages = parse_map_of(p, step->event)->pages;
	parse_map_of(p, step->event)->mapped = false;
	return 0;
}

static int signed_or_hex(struct parser *p, const struct parse_word *word, uint64_t *value)
{
	int64_t number;

	if (word->text[0] != '-')
		return parse_number(p, word, word->text, UINT64_MAX, value);
	if (parse_signed(p, word, word->text, INT64_MAX, &number))
		return -1;
	*value = (uint64_t)number;
	return 0;
}

static int ioctl_arg(struct parser *p, unsigned i, struct scn_step *step)
{
	const struct parse_word *word = &p->words[i];
	uint64_t cmd;
	int64_t arg;

	switch (step->cmd) {
	case IOC_PERIOD:
		return parse_number(p, word, word->text, UINT64_MAX, &step->arg);
	case IOC_REFRESH:
		if (parse_signed(p, word, word->text, INT_MAX, &arg))
			return -1;
		step->arg = (uint64_t)arg;
		return 0;
	case IOC_SET_OUTPUT:
		if (!strcmp(word->text, "none")) {
			step->arg = (uint64_t)-1;
			return 0;
		}
		step->other = parse_event_ref(p, word, word->text);
		return step->other < 0 ? -1 : 0;
	case IOC_MODIFY_ATTRIBUTES:
		step->other = parse_event_ref(p, word, word->text);
		return step->other < 0 ? -1 : 0;
	}
	step->raw = true;
	if (parse_number(p, word, word->text, UINT32_MAX, &cmd))
		return -1;
	step->cmd = (uint32_t)cmd;
	return signed_or_hex(p, &p->words[i + 1], &step->arg);
}

static const struct ioctl_kind {
	const char *name;
	uint32_t cmd;
	uint64_t arg;
	unsigned words; /* behind the name */
	bool group;	/* takes PERF_IOC_FLAG_GROUP */
} ioctl_kinds[] = {
	{"enable", IOC_ENABLE, 0, 0, true},
	{"disable", IOC_DISABLE, 0, 0, true},
	{"reset", IOC_RESET, 0, 0, true},
	{"refresh", IOC_REFRESH, 0, 1, false},
	{"period", IOC_PERIOD, 0, 1, false},
	{"set-output", IOC_SET_OUTPUT, 0, 1, false},
	{"id", IOC_ID, 0, 0, false},
	{"pause", IOC_PAUSE_OUTPUT, 1, 0, false},
	{"resume", IOC_PAUSE_OUTPUT, 0, 0, false},
	{"modify", IOC_MODIFY_ATTRIBUTES, 0, 1, false},
	{"raw", 0, 0, 2, false},
};

static int ioctl_words(struct parser *p, const struct ioctl_kind *kind,
		       struct scn_step *step)
{
	unsigned want = 3 + kind->words;

	step->cmd = kind->cmd;
	step->arg = kind->arg;
	if (p->nwords < want)
		return parse_fail(p, NULL, "arguments missing: ioctl EV %s", kind->name);
	if (p->nwords == want + 1 && !strcmp(p->words[want].text, "group")) {
		if (!kind->group)
			return parse_fail(p, &p->words[want], "%s has no group form",
					  kind->name);
		step->group = true;
		step->arg = 1;
	} else if (p->nwords > want) {
		return parse_fail(p, &p->words[want], "unexpected: %s",
				  p->words[want].text);
	}
	return kind->words ? ioctl_arg(p, 3, step) : 0;
}

static int verb_ioctl(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_IOCTL);
	const struct parse_word *word = &p->words[2];

	if (!step)
		return -1;
	for (unsigned i = 0; i < sizeof(ioctl_kinds) / sizeof(ioctl_kinds[0]); i++)
		if (!strcmp(word->text, ioctl_kinds[i].name))
			return ioctl_words(p, &ioctl_kinds[i], step);
	return parse_fail(p, word, "unknown ioctl: `%s`", word->text);
}

/* `call NAME EV ARG...`; `buf` is memory of the agent's own. */
static int verb_call(struct parser *p)
{
	struct scn_step *step;
	uint64_t nr;
	int event;

	if (parse_lookup(parse_calls, p->words[1].text, strlen(p->words[1].text), &nr))
		return parse_fail(p, &p->words[1], "unknown call: `%s`",
				  p->words[1].text);
	event = parse_event_ref(p, &p->words[2], p->words[2].text);
	if (event < 0)
		return -1;
	step = parse_step(p, SCN_CALL);
	step->event = event;
	step->nr = (uint32_t)nr;
	for (unsigned i = 3; i < p->nwords; i++) {
		if (!strcmp(p->words[i].text, "buf"))
			step->in_buf |= 1u << (i - 3);
		else if (signed_or_hex(p, &p->words[i], &step->args[i - 3]))
			return -1;
	}
	return 0;
}

static int verb_read(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_READ);
	const char *text;

	if (!step)
		return -1;
	step->size = UINT64_MAX; /* the layout finds it */
	if (p->nwords == 2)
		return 0;
	text = parse_value(&p->words[2], "size");
	if (!text)
		return parse_fail(p, &p->words[2], "unknown argument: `%s`",
				  p->words[2].text);
	return parse_number(p, &p->words[2], text, 65536, &step->size);
}

static int verb_poll(struct parser *p)
{
	struct scn_step *step = event_step(p, SCN_POLL);
	const char *text;

	if (!step)
		return -1;
	if (p->nwords == 2)
		return 0;
	text = parse_value(&p->words[2], "timeout-ms");
	if (!text)
		return parse_fail(p, &p->words[2], "unknown argument: `%s`",
				  p->words[2].text);
	return parse_signed(p, &p->words[2], text, INT_MAX, &step->timeout_ms);
}

/* Verbs that look into an event's mapping. */
static struct scn_step *mapping_step(struct parser *p, enum scn_verb verb)
{
	struct scn_step *step = event_step(p, verb);

	if (!step)
		return NULL;
	step->mapped = parse_map_of(p, step->event)->mapped;
	step->data_bytes = parse_map_of(p, step->event)->pages * PAGE_SIZE;
	if (step->mapped && (verb == SCN_RECORDS || verb == SCN_POKE) &&
	    !(parse_map_of(p, step->event)->prot & PROT_W)) {
		/* The agent would die on the store. */
		parse_fail(p, &p->words[1], "%s is mapped prot=r, %s writes to it",
			   p->words[1].text, p->words[0].text);
		return NULL;
	}
	return step;
}

static int verb_page(struct parser *p)
{
	return mapping_step(p, SCN_PAGE) ? 0 : -1;
}

static int verb_records(struct parser *p)
{
	return mapping_step(p, SCN_RECORDS) ? 0 : -1;
}

static int verb_peek(struct parser *p)
{
	return mapping_step(p, SCN_PEEK) ? 0 : -1;
}

static int verb_poke(struct parser *p)
{
	struct scn_step *step = mapping_step(p, SCN_POKE);
	const struct parse_word *word = &p->words[2];
	char *equals, *end;

	if (!step)
		return -1;
	equals = strchr(word->text, '=');
	if (!equals)
		return parse_fail(p, word, "not FIELD=VALUE: `%s`", word->text);
	if (parse_number(p, word, equals + 1, UINT64_MAX, &step->arg))
		return -1;
	if (!parse_lookup(parse_page_fields, word->text, (size_t)(equals - word->text),
			  &step->offset))
		return 0;
	/* Else a byte offset in the mapping. */
	step->offset = strtoull(word->text, &end, 0);
	if (end != equals || end == word->text)
		return parse_fail(p, word, "no field of 8 bytes: `%s`", word->text);
	if (step->offset % 8 ||
	    (step->mapped && step->offset >= step->data_bytes + PAGE_SIZE))
		return parse_fail(p, word, "outside the mapping or not aligned: `%s`",
				  word->text);
	return 0;
}

static int verb_run(struct parser *p)
{
	struct scn_step *step;
	uint64_t workload;

	if (parse_lookup(parse_workloads, p->words[1].text, strlen(p->words[1].text),
			 &workload))
		return parse_fail(p, &p->words[1], "unknown workload: `%s`",
				  p->words[1].text);
	step = parse_step(p, SCN_RUN);
	step->workload = (unsigned)workload;
	/* the agent's stack is no larger */
	return parse_number(p, &p->words[2], p->words[2].text,
			    workload == AGENT_WL_FRAMES ? AGENT_WL_FRAMES_MAX
							: UINT32_MAX,
			    &step->n);
}

static void emulator_only(struct parser *p, const char *why)
{
	if (!p->scn->emulator_only)
		p->scn->emulator_only = why;
}

static int verb_hostile(struct parser *p)
{
	struct scn_step *step = mapping_step(p, SCN_HOSTILE);

	if (!step)
		return -1;
	emulator_only(p, "hostile");
	step->arg = p->nwords == 2;
	if (!step->arg && strcmp(p->words[2].text, "off"))
		return parse_fail(p, &p->words[2], "unexpected: %s", p->words[2].text);
	return 0;
}

/* `inject EV|COUNTER N [el=0|1]` from word @i on. */
static int inject_words(struct parser *p, unsigned i, struct scn_step *step)
{
	const struct parse_word *what, *word;
	uint64_t value;
	const char *el;

	if (p->nwords < i + 3)
		return parse_fail(p, NULL,
				  "arguments missing: inject EV|COUNTER N [el=0|1]");
	what = &p->words[i + 1];
	if (!parse_u64(what->text, &value)) {
		if (value > 31)
			return parse_fail(p, what, "counters are 0..30 and 31, not %s",
					  what->text);
		step->counter = (int)value;
	} else {
		step->other = parse_event_ref(p, what, what->text);
		if (step->other < 0)
			return -1;
	}
	word = &p->words[i + 2];
	/* The cycle counter may take 2^64 - 1 to wrap. */
	if (parse_number(p, word, word->text, step->counter < 0 ? UINT32_MAX : UINT64_MAX,
			 &step->n))
		return -1;
	if (p->nwords == i + 3)
		return 0;
	word = &p->words[i + 3];
	el = parse_value(word, "el");
	if (!el || p->nwords > i + 4)
		return parse_fail(p, word, "unexpected: %s", word->text);
	if (parse_number(p, word, el, 1, &value))
		return -1;
	step->el = (unsigned)value;
	return 0;
}

static int verb_inject(struct parser *p)
{
	emulator_only(p, "inject");
	return inject_words(p, 0, parse_step(p, SCN_INJECT));
}

static int verb_mask(struct parser *p)
{
	emulator_only(p, "mask");
	parse_step(p, SCN_MASK);
	return 0;
}

static int verb_unmask(struct parser *p)
{
	emulator_only(p, "unmask");
	parse_step(p, SCN_UNMASK);
	return 0;
}

/* `at hal K inject ...` or `at EV[nth] inject ...` */
static int verb_at(struct parser *p)
{
	const struct parse_word *word = &p->words[1];
	bool hal = !strcmp(word->text, "hal");
	unsigned inject = hal ? 3 : 2;
	char *open = strchr(word->text, '[');
	struct scn_step *step;

	emulator_only(p, "at");
	if (p->nwords <= inject || strcmp(p->words[inject].text, "inject"))
		return parse_fail(p, NULL, "at: `inject` expected");
	step = parse_step(p, hal ? SCN_AT_HAL : SCN_AT_OVERFLOW);
	step->at = 1;
	if (hal) {
		if (parse_number(p, &p->words[2], p->words[2].text, UINT32_MAX,
				 &step->at))
			return -1;
	} else {
		if (open) {
			size_t n = strlen(open);

			if (open[n - 1] != ']')
				return parse_fail(p, word, "not EV[nth]: `%s`",
						  word->text);
			open[n - 1] = '\0';
			*open = '\0';
			if (parse_number(p, word, open + 1, UINT32_MAX, &step->at))
				return -1;
		}
		step->event = parse_event_ref(p, word, word->text);
		if (step->event < 0)
			return -1;
	}
	if (!step->at)
		return parse_fail(p, word, "counted from 1");
	return inject_words(p, inject, step);
}

const struct parse_verb parse_built_verbs[] = {
	{"open", 2, 6, "open EV [pid=] [cpu=] [group=EV] [flags=]", verb_open, false},
	{"close", 2, 2, "close EV", verb_close, false},
	{"mmap", 3, 5, "mmap EV pages=N [prot=r|rw] [offset=N]", verb_mmap, false},
	{"munmap", 2, 2, "munmap EV", verb_munmap, false},
	{"ioctl", 3, 5, "ioctl EV COMMAND ...", verb_ioctl, false},
	{"call", 3, 8, "call NAME EV [ARG ...]", verb_call, false},
	{"read", 2, 3, "read EV [size=N]", verb_read, false},
	{"poll", 2, 3, "poll EV [timeout-ms=N]", verb_poll, false},
	{"page", 2, 2, "page EV", verb_page, false},
	{"records", 2, 2, "records EV", verb_records, false},
	{"peek", 2, 2, "peek EV", verb_peek, false},
	{"poke", 3, 3, "poke EV FIELD=VALUE", verb_poke, false},
	{"run", 3, 3, "run WORKLOAD N", verb_run, false},
	{"hostile", 2, 3, "hostile EV [off]", verb_hostile, false},
	{"inject", 3, 4, "inject EV|COUNTER N [el=0|1]", verb_inject, false},
	{"mask", 1, 1, "mask", verb_mask, false},
	{"unmask", 1, 1, "unmask", verb_unmask, false},
	{"at", 5, 7, "at hal K|EV[nth] inject EV|COUNTER N [el=0|1]", verb_at, false},
	{NULL, 0, 0, NULL, NULL, false},
};
