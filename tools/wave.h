/* SPDX-License-Identifier: MIT */
/*
 * A machine's signals over time, for the programs that draw them: GTKWave (VCD) and
 * Perfetto (Chrome's JSON trace). One cycle is one nanosecond.
 */
#ifndef PMULAB_TOOLS_WAVE_H
#define PMULAB_TOOLS_WAVE_H

#include <stdio.h>

#include "tools/code.h"
#include "tools/story.h"

/* The registers and wires of one CPU at one event. */
struct wave_sample {
	uint64_t counter[32]; /* pmevcntr<n>, 31: pmccntr */
	uint32_t present;     /* which of them the machine has */
	struct story_state state;
	unsigned step;
};

/* What a sink is told, in this order: begin, event for each event of the bus, end. @now
 * has an element for each CPU of the story. The bus keeps each CPU's time; that of the
 * event of another CPU may be earlier. */
struct wave_sink {
	void (*begin)(void *opaque, const struct story *story, const struct wave_sample *now,
		      uint64_t cycle);
	void (*event)(void *opaque, const struct story *story, const struct wave_sample *now,
		      size_t event);
	/* 0, or -1 with errno when not all could be written. */
	int (*end)(void *opaque, const struct story *story);
	void *opaque;
};

struct wave_sink *wave_vcd_open(FILE *out);
struct wave_sink *wave_perfetto_open(FILE *out, const struct code *code, const char *profile);
/* Frees; @out stays open. */
void wave_close(struct wave_sink *sink);

enum { WAVE_SINKS = 2 };

/* Listens for its story and tells the sinks. Its story's `also`. */
struct wave {
	struct wave_sample now[MACHINE_CPUS];
	unsigned nsinks;
	struct wave_sink *sink[WAVE_SINKS];
	int begun;
};
void wave_event(void *opaque, struct story *story, size_t event);

#endif
