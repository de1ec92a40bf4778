/* SPDX-License-Identifier: MIT */
/*
 * Chrome's JSON trace ("Trace Event Format"), which ui.perfetto.dev opens: for each CPU
 * tracks of the task's steps, the exception level, the handler, the line and records as
 * instants with their fields; counters.
 */
#include <errno.h>
#include <jansson.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "tools/regtext.h"
#include "tools/wave.h"

enum { PID = 1 };
enum track { TASK = 1, LEVEL, HANDLER, LINE, RECORDS, TRACKS };
enum { CPU_TRACKS = 8 }; /* from one CPU's tid to the next one's */

static const char *const track_names[TRACKS] = {
	[TASK] = "task: agent, by step",
	[LEVEL] = "exception level",
	[HANDLER] = "interrupt handler",
	[LINE] = "PMU interrupt line",
	[RECORDS] = "records",
};

/* What is drawn of one CPU. */
struct lane {
	bool open[TRACKS];
	unsigned step;
	uint64_t cycle, counter[32];
	bool known[32];
	struct story_record record;
};

struct perfetto {
	FILE *out;
	const struct code *code;
	const char *profile;
	json_t *events;
	unsigned cpu; /* whose lane is in hand */
	unsigned ncpus;
	struct lane lane[MACHINE_CPUS];
};

static void put(struct perfetto *p, uint64_t cycle, const char *phase, unsigned track,
		const char *name, json_t *args)
{
	json_t *event = json_pack("{s:s, s:s, s:i, s:i, s:f, s:o}", "ph", phase, "name", name,
				  "pid", PID, "tid", (int)(p->cpu * CPU_TRACKS + track), "ts",
				  (double)cycle / 1000, "args", args ? args : json_object());

	if (!event || json_array_append_new(p->events, event))
		abort();
	if (*phase == 'i')
		json_object_set_new(event, "s", json_string("t"));
}

static void close_slice(struct perfetto *p, uint64_t cycle, enum track track)
{
	bool *open = &p->lane[p->cpu].open[track];

	if (*open)
		put(p, cycle, "E", track, "", NULL);
	*open = false;
}

static void open_slice(struct perfetto *p, uint64_t cycle, enum track track,
		       const char *name)
{
	close_slice(p, cycle, track);
	put(p, cycle, "B", track, name, NULL);
	p->lane[p->cpu].open[track] = true;
}

static void name_tracks(struct perfetto *p, uint64_t cycle)
{
	char name[64];

	for (unsigned i = TASK; i < TRACKS; i++) {
		snprintf(name, sizeof(name), "CPU %u: %s", p->cpu, track_names[i]);
		put(p, cycle, "M", i, "thread_name", json_pack("{s:s}", "name", name));
		put(p, cycle, "M", i, "thread_sort_index",
		    json_pack("{s:i}", "sort_index", (int)(p->cpu * CPU_TRACKS + i)));
	}
}

static void begin(void *opaque, const struct story *story, const struct wave_sample *now,
		  uint64_t cycle)
{
	struct perfetto *p = opaque;
	char name[200];

	(void)now;
	p->ncpus = story->ncpus;
	snprintf(name, sizeof(name), "%.100s as %.60s", story->scn->name, p->profile);
	put(p, cycle, "M", 0, "process_name", json_pack("{s:s}", "name", name));
	for (p->cpu = 0; p->cpu < p->ncpus; p->cpu++)
		name_tracks(p, cycle);
}

/* The low 32 bits: a JSON number holds no more than 53, and Linux writes ones into
 * the upper half. */
static void put_counters(struct perfetto *p, const struct wave_sample *now, uint64_t cycle)
{
	struct lane *lane = &p->lane[p->cpu];

	for (unsigned n = 0; n < 32; n++) {
		char reg[32], name[64];

		if (!(now->present >> n & 1) ||
		    (lane->known[n] && lane->counter[n] == now->counter[n]))
			continue;
		if (!lane->known[n] && !now->counter[n])
			continue; /* not in use yet */
		regtext_counter(n, reg, sizeof(reg));
		if (p->ncpus > 1)
			snprintf(name, sizeof(name), "CPU %u: %s[31:0]", p->cpu, reg);
		else
			snprintf(name, sizeof(name), "%s[31:0]", reg);
		put(p, cycle, "C", 0, name,
		    json_pack("{s:I}", "value", (json_int_t)(uint32_t)now->counter[n]));
		lane->known[n] = true;
		lane->counter[n] = now->counter[n];
	}
}

static json_t *record_args(const struct perfetto *p, const struct story *story)
{
	const struct story_record *record = &p->lane[p->cpu].record;
	json_t *args = json_object();

	for (size_t at = 8; at + 8 <= record->nbytes; at += 8) {
		const char *name = story_record_field(story, record, at / 8);
		uint64_t value;
		char text[96];

		if (!name)
			continue;
		memcpy(&value, record->bytes + at, sizeof(value));
		if (!strcmp(name, "ip"))
			code_name(p->code, value, text, sizeof(text));
		else if (!strcmp(name, "pid,tid"))
			snprintf(text, sizeof(text), "%u,%u", (unsigned)(uint32_t)value,
				 (unsigned)(value >> 32));
		else
			snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		json_object_set_new(args, name, json_string(text));
	}
	return args;
}

static void put_record(struct perfetto *p, const struct story *story,
		       const struct story_event *event)
{
	struct story_record *record = &p->lane[p->cpu].record;
	struct perf_event_header header;
	char name[128], who[64];
	json_t *args;

	story_record_add(story, record, event);
	if (record->left || record->nbytes < sizeof(header))
		return;
	memcpy(&header, record->bytes, sizeof(header));
	snprintf(name, sizeof(name), "%s %.60s", story_record_name(header.type),
		 story_event_name(story, event->a, who, sizeof(who)));
	args = record_args(p, story);
	json_object_set_new(args, "bytes", json_integer(header.size));
	put(p, event->cycle, "i", RECORDS, name, args);
}

static void put_event(struct perfetto *p, const struct story *story,
		      const struct story_event *e)
{
	char text[96];

	switch (e->kind) {
	case TRACE_TAKEN:
		open_slice(p, e->cycle, HANDLER, "IRQ");
		break;
	case TRACE_ERET:
		close_slice(p, e->cycle, HANDLER);
		break;
	case TRACE_LINE:
		if (e->b)
			open_slice(p, e->cycle, LINE, "high");
		else
			close_slice(p, e->cycle, LINE);
		break;
	case TRACE_WRAP:
		regtext_counter((unsigned)e->a, text, sizeof(text));
		strcat(text, " wraps");
		put(p, e->cycle, "i", LINE, text, NULL);
		break;
	case TRACE_STORE:
		put_record(p, story, e);
		break;
	case TRACE_LOST:
		snprintf(text, sizeof(text), "%s lost", story_record_name((uint32_t)e->a));
		put(p, e->cycle, "i", RECORDS, text, NULL);
		break;
	case TRACE_WAKEUP:
		put(p, e->cycle, "i", RECORDS, "wakeup", NULL);
		break;
	default: /* in the counters and levels, or of no interest here */
		break;
	}
}

static void event(void *opaque, const struct story *story, const struct wave_sample *now,
		  size_t at)
{
	const struct story_event *e = &story->events[at];
	struct perfetto *p = opaque;
	struct lane *lane = &p->lane[e->cpu];

	p->cpu = e->cpu;
	now += e->cpu;
	if (!lane->cycle)
		open_slice(p, e->cycle, LEVEL, "EL1");
	lane->cycle = e->cycle;
	if (now->step != lane->step) {
		lane->step = now->step;
		open_slice(p, e->cycle, TASK,
			   lane->step ? story->scn->steps[lane->step - 1].words : "start and end");
	}
	if (e->kind == TRACE_TAKEN || e->kind == TRACE_EXCEPTION)
		open_slice(p, e->cycle, LEVEL, "EL1");
	if (e->kind == TRACE_ERET)
		open_slice(p, e->cycle, LEVEL, now->state.el ? "EL1" : "EL0");
	put_event(p, story, e);
	put_counters(p, now, e->cycle);
}

static int end(void *opaque, const struct story *story)
{
	struct perfetto *p = opaque;
	json_t *root;
	int rc;

	(void)story;
	for (p->cpu = 0; p->cpu < p->ncpus; p->cpu++)
		for (unsigned i = TASK; i < TRACKS; i++)
			close_slice(p, p->lane[p->cpu].cycle, (enum track)i);
	root = json_pack("{s:o, s:s}", "traceEvents", p->events, "displayTimeUnit", "ns");
	rc = root ? json_dumpf(root, p->out, JSON_COMPACT | JSON_REAL_PRECISION(15)) : -1;
	fputc('\n', p->out);
	json_decref(root);
	return rc || ferror(p->out) ? -1 : 0;
}

struct wave_sink *wave_perfetto_open(FILE *out, const struct code *code, const char *profile)
{
	struct wave_sink *sink = calloc(1, sizeof(*sink));
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!sink || !p)
		abort();
	p->out = out;
	p->code = code;
	p->profile = profile;
	p->events = json_array();
	*sink = (struct wave_sink){ begin, event, end, p };
	return sink;
}
