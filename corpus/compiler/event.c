/* SPDX-License-Identifier: MIT */
/* `event` and `attr-raw`: from words to the bytes of a struct perf_event_attr. */
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/parse.h"

enum {
	MAX_ATTR = 4096
};

enum {
	TYPE_HARDWARE = 0,
	TYPE_SOFTWARE = 1,
	TYPE_RAW = 4
};

static void set(struct scn_event *event, const char *name, uint64_t value)
{
	parse_attr_set(event->bytes, parse_attr_field(name, strlen(name)), value);
}

static struct scn_event *add_event(struct parser *p, const struct parse_word *word)
{
	struct scn *scn = p->scn;
	struct scn_event *event;

	if (!parse_is_name(word->text)) {
		parse_fail(p, word, "not a name: `%s`", word->text);
		return NULL;
	}
	if (scn_event_find(scn, word->text) >= 0) {
		parse_fail(p, word, "event twice: %s", word->text);
		return NULL;
	}
	if (scn->nevents == SCN_MAX_EVENTS) {
		parse_fail(p, word, "more than %d events", SCN_MAX_EVENTS);
		return NULL;
	}
	scn->events = scn_grow(scn->events, scn->nevents, sizeof(*scn->events));
	event = &scn->events[scn->nevents++];
	memset(event, 0, sizeof(*event));
	event->name = strdup(word->text);
	event->line = p->line;
	event->bytes = calloc(1, MAX_ATTR);
	if (!event->name || !event->bytes)
		abort();
	event->nbytes = SCN_ATTR_SIZE;
	return event;
}

/* Events that the instructions alone decide, not what a cache or a predictor still
 * holds: L1D_CACHE, LD_RETIRED, ST_RETIRED, PC_WRITE_RETIRED, BR_IMMED_RETIRED,
 * BR_RETURN_RETIRED, UNALIGNED_LDST_RETIRED, MEM_ACCESS, INST_SPEC, BR_RETIRED. */
static bool is_part(const struct perf_event_attr *attr)
{
	static const uint8_t events[] = { 0x04, 0x06, 0x07, 0x0c, 0x0d,
					  0x0e, 0x0f, 0x13, 0x1b, 0x21 };

	if (attr->type == TYPE_HARDWARE)
		return attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	for (size_t i = 0; attr->type == TYPE_RAW && i < sizeof(events); i++)
		if (attr->config == events[i])
			return true;
	return false;
}

/* Software events that the scenario alone decides, as opposed to the clocks. */
static bool is_soft(const struct perf_event_attr *attr)
{
	return attr->type == TYPE_SOFTWARE && !attr->freq && !attr->inherit &&
	       attr->config >= PERF_COUNT_SW_PAGE_FAULTS &&
	       attr->config <= PERF_COUNT_SW_DUMMY;
}

/* Which instructions will it count? What the kernel makes of a raw number is
 * armpmu_map_event's and armv8_pmuv3's business: the numbers below are the
 * architecture's (Arm ARM D13.12: SW_INCR, INST_RETIRED, CPU_CYCLES). */
static enum scn_counts what_counts(const struct perf_event_attr *attr)
{
	uint64_t config = attr->config;
	bool hardware = attr->type == TYPE_HARDWARE && config <= 1;
	bool raw = attr->type == TYPE_RAW &&
		   (config == 0x00 || config == 0x08 || config == 0x11);

	if (is_part(attr) && attr->exclude_kernel && !attr->exclude_user && !attr->freq &&
	    !attr->inherit)
		return SCN_COUNTS_PART;
	if (is_soft(attr))
		return SCN_COUNTS_SOFT;
	if ((!hardware && !raw) || attr->freq || attr->inherit)
		return SCN_COUNTS_UNKNOWN;
	if (raw && config == 0)
		return SCN_COUNTS_NOTHING;
	if (attr->exclude_user)
		return attr->exclude_kernel ? SCN_COUNTS_NOTHING : SCN_COUNTS_EL1;
	return attr->exclude_kernel ? SCN_COUNTS_EL0 : SCN_COUNTS_BOTH;
}

static void finish_event(struct scn_event *event)
{
	size_t n =
		event->nbytes < sizeof(event->attr) ? event->nbytes : sizeof(event->attr);

	if (n > SCN_ATTR_SIZE)
		n = SCN_ATTR_SIZE;
	memcpy(&event->attr, event->bytes, n);
	event->counts = what_counts(&event->attr);
}

static int set_raw_field(struct parser *p, struct scn_event *event,
			 const struct parse_word *word)
{
	const char *text = word->text + 4;
	size_t n = strcspn(text, "=");
	const struct parse_field *field = parse_attr_field(text, n);
	uint64_t value, max;

	if (!field || text[n] != '=')
		return parse_fail(p, word, "unknown attr field: `%s`", text);
	max = field->width == 64 ? UINT64_MAX : (1ull << field->width) - 1;
	if (parse_number(p, word, text + n + 1, max, &value))
		return -1;
	parse_attr_set(event->bytes, field, value);
	return 0;
}

static int set_exclude(struct parser *p, struct scn_event *event,
		       const struct parse_word *word, const char *text)
{
	/* Values: bits of the flags' word, which all stand behind exclude_user. */
	static const struct parse_name names[] = {
		{"user", 1 << 4},  {"kernel", 1 << 5}, {"hv", 1 << 6}, {"idle", 1 << 7},
		{"host", 1 << 19}, {"guest", 1 << 20}, {NULL, 0},
	};
	const struct parse_field *field;
	uint64_t mask;

	if (parse_list(p, word, text, names, "exclude", &mask))
		return -1;
	for (unsigned i = 0; (field = parse_attr_row(i)); i++)
		if (field->offset == 40 && field->width == 1 && (mask >> field->bit & 1))
			parse_attr_set(event->bytes, field, 1);
	return 0;
}

static int set_sample(struct parser *p, struct scn_event *event,
		      const struct parse_word *word, const char *text)
{
	uint64_t mask;

	if (parse_list(p, word, text, parse_sample_names, "sample", &mask))
		return -1;
	set(event, "sample_type", mask);
	return 0;
}

static int set_size(struct parser *p, struct scn_event *event,
		    const struct parse_word *word, const char *text)
{
	uint64_t size;

	if (parse_number(p, word, text, UINT32_MAX, &size))
		return -1;
	set(event, "size", size);
	/* Beyond a page the kernel refuses before it reads. */
	if (size > event->nbytes)
		event->nbytes = size < MAX_ATTR ? size : MAX_ATTR;
	return 0;
}

static int set_clock(struct parser *p, struct scn_event *event,
		     const struct parse_word *word, const char *text)
{
	uint64_t clock;

	if (parse_lookup(parse_clock_names, text, strlen(text), &clock))
		return parse_fail(p, word, "unknown clock: `%s`", text);
	set(event, "use_clockid", 1);
	set(event, "clockid", clock);
	return 0;
}

enum option {
	PERIOD,
	FREQ,
	SAMPLE,
	READ,
	EXCLUDE,
	WAKEUP_EVENTS,
	WATERMARK,
	SIZE,
	CLOCK
};

static const char *const option_names[] = {
	[PERIOD] = "period",
	[FREQ] = "freq",
	[SAMPLE] = "sample",
	[READ] = "read",
	[EXCLUDE] = "exclude",
	[WAKEUP_EVENTS] = "wakeup-events",
	[WATERMARK] = "wakeup-watermark",
	[SIZE] = "size",
	[CLOCK] = "clockid",
};
enum {
	OPTIONS = sizeof(option_names) / sizeof(option_names[0])
};

static int set_u64(struct parser *p, struct scn_event *event,
		   const struct parse_word *word, const char *text, const char *field,
		   uint64_t max)
{
	uint64_t value;

	if (parse_number(p, word, text, max, &value))
		return -1;
	set(event, field, value);
	return 0;
}

static int set_option(struct parser *p, struct scn_event *event,
		      const struct parse_word *word, enum option option, const char *text)
{
	uint64_t mask;

	switch (option) {
	case PERIOD:
		return set_u64(p, event, word, text, "sample_period", UINT64_MAX);
	case FREQ:
		set(event, "freq", 1);
		return set_u64(p, event, word, text, "sample_freq", UINT64_MAX);
	case SAMPLE:
		return set_sample(p, event, word, text);
	case READ:
		if (parse_list(p, word, text, parse_read_names, "read", &mask))
			return -1;
		set(event, "read_format", mask);
		return 0;
	case EXCLUDE:
		return set_exclude(p, event, word, text);
	case WAKEUP_EVENTS:
		return set_u64(p, event, word, text, "wakeup_events", UINT32_MAX);
	case WATERMARK:
		set(event, "watermark", 1);
		return set_u64(p, event, word, text, "wakeup_watermark", UINT32_MAX);
	case SIZE:
		return set_size(p, event, word, text);
	case CLOCK:
		return set_clock(p, event, word, text);
	}
	return -1;
}

static int event_word(struct parser *p, struct scn_event *event,
		      const struct parse_word *word, unsigned *seen)
{
	const struct parse_field *flag;

	if (!strncmp(word->text, "set:", 4))
		return set_raw_field(p, event, word);
	for (unsigned i = 0; i < OPTIONS; i++) {
		const char *value = parse_value(word, option_names[i]);
		unsigned bits = 1u << i;

		if (!value)
			continue;
		/* Two names of one field. */
		if (i == PERIOD || i == FREQ)
			bits = 1u << PERIOD | 1u << FREQ;
		if (i == WAKEUP_EVENTS || i == WATERMARK)
			bits = 1u << WAKEUP_EVENTS | 1u << WATERMARK;
		if (*seen & bits)
			return parse_fail(p, word, "given twice: %s", option_names[i]);
		*seen |= bits;
		return set_option(p, event, word, (enum option)i, value);
	}
	flag = parse_attr_field(word->text, strlen(word->text));
	if (flag && flag->width == 1) {
		parse_attr_set(event->bytes, flag, 1);
		return 0;
	}
	return parse_fail(p, word, "unknown argument: `%s`", word->text);
}

int parse_event(struct parser *p)
{
	struct scn_event *event;
	unsigned seen = 0;

	if (parse_arity(p, 3, PARSE_MAX_WORDS, "event NAME TYPE/CONFIG ..."))
		return -1;
	event = add_event(p, &p->words[1]);
	if (!event)
		return -1;
	set(event, "size", SCN_ATTR_SIZE);
	if (parse_event_type(p, &p->words[2], event->bytes))
		return -1;
	for (unsigned i = 3; i < p->nwords; i++)
		if (event_word(p, event, &p->words[i], &seen))
			return -1;
	finish_event(event);
	return 0;
}

int parse_attr_raw(struct parser *p)
{
	struct scn_event *event;
	const char *hex;
	size_t n;

	if (parse_arity(p, 3, 3, "attr-raw NAME HEX"))
		return -1;
	event = add_event(p, &p->words[1]);
	if (!event)
		return -1;
	hex = p->words[2].text;
	n = strlen(hex);
	if (n % 2 || n / 2 > MAX_ATTR)
		return parse_fail(p, &p->words[2], "not a whole number of bytes up to %d",
				  MAX_ATTR);
	for (size_t i = 0; i < n / 2; i++) {
		char one[5] = {'0', 'x', hex[2 * i], hex[2 * i + 1], '\0'};
		uint64_t byte;

		if (parse_u64(one, &byte))
			return parse_fail(p, &p->words[2], "not hex: `%s`", one + 2);
		event->bytes[i] = (uint8_t)byte;
	}
	event->raw = true;
	event->nbytes = n / 2;
	finish_event(event);
	return 0;
}
