/* SPDX-License-Identifier: MIT */
/* Records as they are written to a ring. Field order: perf_event_open(2),
 * PERF_RECORD_SAMPLE and struct sample_id. */
#include <linux/perf_event.h>
#include <string.h>

#include "tools/story.h"

bool story_record_add(const struct story *story, struct story_record *record,
		      const struct story_event *event)
{
	struct perf_event_header header;
	/* a gap: room for a user's stack that could not be read stays as it was */
	uint64_t gap = event->b - record->next;
	bool begins = !record->left || record->id != event->a || gap >= record->left;
	size_t room, n = event->c;

	if (begins) {
		if (n < sizeof(header))
			return false;
		memcpy(&header, story->bytes + event->data, sizeof(header));
		record->id = event->a;
		record->left = header.size;
		record->nbytes = 0;
		gap = 0;
	}
	record->gap = gap;
	record->next = event->b + n;
	record->left = record->left > gap + n ? record->left - gap - n : 0;
	if (gap) /* what is behind it is far from the fields that have names */
		return false;
	room = sizeof(record->bytes) - record->nbytes;
	if (n > room)
		n = room;
	memcpy(record->bytes + record->nbytes, story->bytes + event->data, n);
	record->nbytes += n;
	return begins;
}

struct field {
	uint64_t bit;
	const char *name;
};

/* clang-format off */
static const struct field sample_fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, "id" },
	{ PERF_SAMPLE_IP, "ip" },
	{ PERF_SAMPLE_TID, "pid,tid" },
	{ PERF_SAMPLE_TIME, "time" },
	{ PERF_SAMPLE_ADDR, "addr" },
	{ PERF_SAMPLE_ID, "id" },
	{ PERF_SAMPLE_STREAM_ID, "stream_id" },
	{ PERF_SAMPLE_CPU, "cpu" },
	{ PERF_SAMPLE_PERIOD, "period" },
	{ 0, NULL },
};

static const struct field trailer_fields[] = {
	{ PERF_SAMPLE_TID, "pid,tid" },
	{ PERF_SAMPLE_TIME, "time" },
	{ PERF_SAMPLE_ID, "id" },
	{ PERF_SAMPLE_STREAM_ID, "stream_id" },
	{ PERF_SAMPLE_CPU, "cpu" },
	{ PERF_SAMPLE_IDENTIFIER, "id" },
	{ 0, NULL },
};
/* clang-format on */

/* The field in the @word-th place when the first one is in place @at. */
static const char *nth_field(const struct field *field, uint64_t sample_type, size_t at,
			     size_t word)
{
	for (; field->name; field++)
		if ((sample_type & field->bit) && at++ == word)
			return field->name;
	return NULL;
}

const char *story_record_field(const struct story *story, const struct story_record *record,
			       size_t word)
{
	int event = story_event_of(story, record->id);
	uint64_t sample_type = event < 0 ? 0 : story->scn->events[event].attr.sample_type;
	struct perf_event_header header;

	memcpy(&header, record->bytes, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		return nth_field(sample_fields, sample_type, 1, word);
	if (header.type != PERF_RECORD_LOST)
		return NULL;
	if (word == 1)
		return "id";
	return word == 2 ? "lost" : nth_field(trailer_fields, sample_type, 3, word);
}

const char *story_record_name(uint32_t type)
{
	static const char *const names[] = {
		[PERF_RECORD_MMAP] = "MMAP",
		[PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM",
		[PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE",
		[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK",
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE",
		[PERF_RECORD_MMAP2] = "MMAP2",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "record";
}
