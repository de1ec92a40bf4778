/* SPDX-License-Identifier: MIT */
/*
 * Everything that was on the bus while a scenario ran, kept, and cut into
 * overflows: from the wrap of a counter (or of several at one instruction) to
 * the return from the interrupt that cleared its flag.
 *
 *     struct story story;
 *     story_init(&story, scn);
 *     runner_run() with prepare = story_listen and opaque = &story
 *     story_cut(&story)
 *     story_tell(&story, i, ...) for i < story.noverflows
 *     story_free(&story)
 */
#ifndef PMULAB_TOOLS_STORY_H
#define PMULAB_TOOLS_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/compiler/scenario.h"
#include "emu/machine.h"
#include "tools/code.h"

struct host;

enum { STORY_RECORD_BYTES = 512 };

struct story_event {
	uint64_t cycle;
	enum trace_kind kind;
	unsigned cpu;
	unsigned step; /* of the scenario, where that CPU is; 0: before the first */
	uint64_t a, b, c;
	size_t data; /* offset in story.bytes, of TRACE_STORE */
};

/* What the bus says of one CPU and of all rings, at one place of the story. */
struct story_state {
	unsigned cpu;
	uint64_t pmcr, pmcnten, pminten, pmovs, pmr;
	bool line, pending, active, masked; /* masked: PSTATE.I at EL1 */
	unsigned el;
	uint64_t written[32], written_cycle[32]; /* a counter's last value written */
	uint64_t read[32];			 /* and read */
	uint64_t type[32];   /* pmevtyper<n>, as last written */
	uint64_t owner[32];  /* id of the event that it was last written for, 0: none */
	uint64_t arming;     /* the event that the kernel is writing counters for */
	struct {
		uint64_t left, period, head, tail;
	} event[SCN_MAX_EVENTS];
};

struct story_overflow {
	size_t first, last; /* events, last included; of them those of this CPU */
	unsigned cpu;
	uint64_t cycle;
	uint32_t counters; /* that wrapped together */
	uint64_t pc;	   /* of the instruction that did it, 0: the kernel's or none */
	bool injected;
	/* What came of it, index of the event or 0: none. */
	size_t taken, cleared;
	size_t samples;	       /* records of type SAMPLE that it gave */
	bool has_ip;
	uint64_t ip; /* of the first of them */
	bool lost;
	struct story_state before;
};

/* An event that is opened twice has two. */
struct story_id {
	uint64_t id;
	unsigned event; /* of the scenario */
};

struct story {
	const struct scn *scn;
	struct machine *machine; /* valid while it runs */
	unsigned ncpus;
	struct story_event *events;
	size_t nevents, room;
	uint8_t *bytes;
	size_t nbytes, bytes_room;
	unsigned step[MACHINE_CPUS]; /* where the agent is on each */
	struct story_id *ids;
	size_t nids, ids_room;
	struct story_state begin[MACHINE_CPUS];
	struct story_overflow *overflows;
	size_t noverflows, overflows_room;
	size_t records, lost, wakeups;
	/* Called behind each event with its index; may be NULL. */
	void (*also)(void *opaque, struct story *story, size_t event);
	void *opaque;
};

void story_init(struct story *story, const struct scn *scn);
void story_free(struct story *story);

/* As runner_config.prepare, with the story as opaque. */
void story_listen(void *opaque, struct machine *machine, struct host *host);

/* Once the scenario has run. */
void story_cut(struct story *story);

/* One event's consequences for a CPU; the registers and wires of another CPU's event
 * are not its own. */
void story_advance(const struct story *story, struct story_state *state,
		   const struct story_event *event);

/* The scenario's event that the kernel calls @id; -1: none that is known. */
int story_event_of(const struct story *story, uint64_t id);
/* The event whose ring it writes to: its own, or set-output's target. */
int story_ring_of(const struct story *story, uint64_t id);
/* Its name, or "id 7". */
const char *story_event_name(const struct story *story, uint64_t id, char *buf,
			     size_t size);
/* A record that is being written, part by part. */
struct story_record {
	uint64_t id, next; /* whose, and the byte that its next part starts at */
	uint64_t left;	   /* bytes to come; 0: it is complete */
	uint64_t gap;	   /* bytes that its last part left alone before it */
	uint8_t bytes[STORY_RECORD_BYTES]; /* of it, as far as known */
	size_t nbytes;
};
/* This TRACE_STORE's part too; true: it begins a record. */
bool story_record_add(const struct story *story, struct story_record *record,
		      const struct story_event *event);
/* "ip", "time", "pid,tid" ...: what the @word-th 8 bytes (1: behind the header) of a
 * record are; NULL where nobody here knows. */
const char *story_record_field(const struct story *story, const struct story_record *record,
			       size_t word);
/* "SAMPLE", "record" for a type without a name here. */
const char *story_record_name(uint32_t type);

/* A register's name; @buf of at least 32 bytes. */
const char *story_reg_name(uint32_t enc, char *buf, size_t size);
/* The event before @at on the same CPU; NULL: none. */
const struct story_event *story_previous(const struct story *story, size_t at);

/* Counter @n (odd) is the upper half of a 64-bit one, by CHAIN. */
bool story_chained(const struct story_state *state, unsigned n);
/* Events until counter @n overflows from @values[n], of a chain from both halves. */
uint64_t story_room(const struct story_state *state, unsigned n, const uint64_t values[32]);
/* What counter @n, or the chain that it is the upper half of, counted between the two. */
uint64_t story_counted(const struct story_state *state, unsigned n);

/* One line of a story: at @cycle, about event number @event, what and how. */
struct story_line {
	size_t event;
	uint64_t cycle;
	const char *tag; /* at most 8 characters */
	const char *text;
};
typedef void (*story_line_fn)(void *opaque, const struct story_line *line);

/* Overflow number @n (from 0), line by line. */
void story_tell(const struct story *story, const struct code *code, size_t n,
		story_line_fn fn, void *opaque);

/* "overflow 3: cycle ...", and "cycle counter (c)" for its counters. */
void story_brief(const struct story *story, const struct code *code, size_t n, char *text,
		 size_t size);
void story_counters(const struct story *story, size_t n, char *text, size_t size);
/* Widest line that a story's reader gets. */
enum { STORY_COLUMNS = 100 };

#endif
