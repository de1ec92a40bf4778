/* SPDX-License-Identifier: MIT */
/*
 * `expect bus` lines against the machine's event bus: each counts the events of
 * its step that match, and fails when the number is not what it says.
 */
#ifndef PMULAB_CONFORMANCE_EXPECT_H
#define PMULAB_CONFORMANCE_EXPECT_H

#include <stddef.h>
#include <stdio.h>

#include "corpus/compiler/scenario.h"
#include "emu/machine.h"

struct expect_watch;

/* Watch @machine's bus while it runs @scn; both must outlive the watch. NULL
 * with "FILE:LINE: what" in @err when a line names no event or register. */
struct expect_watch *expect_start(const struct scn *scn, struct machine *machine,
				  char *err, size_t errsize);

/* How many expectations failed, one line each on @out (NULL: none). */
unsigned expect_failures(const struct expect_watch *watch, FILE *out);

/* The number of the step that the agent is in when its AGENT_OP_REG is @op_reg; 0:
 * none. */
unsigned expect_step_at(const struct scn *scn, uint64_t op_reg);

void expect_free(struct expect_watch *watch); /* NULL is allowed */

#endif
