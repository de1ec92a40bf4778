/* SPDX-License-Identifier: MIT */
/*
 * A story for programs: the events, what each changed in the register file, and the
 * stories of the overflows among them.
 *
 *     {"scenario", "profile", "overflows", "records", "lost", "wakeups",
 *      "nevents": how many there were, "steps": ["open c", ...],
 *      "registers": ["pmcr_el0", ..., "line", ...],
 *      "events": [[cycle, kind, step, "NAME=VALUE ...", "REGISTER=HEX,..."], ...],
 *      "stories": [{"title", "brief", "first", "last",
 *                   "lines": [[event, cycle, tag, text], ...]}, ...]}
 *
 * REGISTER is an index; a register keeps its value until it is named again.
 */
#ifndef PMULAB_TOOLS_STORY_JSON_H
#define PMULAB_TOOLS_STORY_JSON_H

#include <stdio.h>

#include "tools/story.h"

struct story_json;

/* Watches @story's run, up to event number @limit (0: all). */
struct story_json *story_json_open(struct story *story, size_t limit);
/* 0, or -1 with errno. */
int story_json_write(const struct story_json *json, const struct code *code,
		     const char *profile, FILE *out);
void story_json_close(struct story_json *json); /* NULL is allowed */

#endif
