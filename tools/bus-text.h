/* SPDX-License-Identifier: MIT */
/* The events of a machine's bus as text, one a line. */
#ifndef PMULAB_TOOLS_BUS_TEXT_H
#define PMULAB_TOOLS_BUS_TEXT_H

#include <stdio.h>

#include "emu/machine.h"

struct bus_text {
	FILE *out;
	struct machine *machine;
};

/* Write @machine's events to @out, which the caller closes when the machine is gone.
 * 0, or -errno. @bus must stay where it is. */
int bus_text_start(struct bus_text *bus, FILE *out, struct machine *machine);

/* Write @machine's events to a new file @path until bus_text_close(). 0, or -1
 * with errno. @bus must stay where it is. */
int bus_text_open(struct bus_text *bus, const char *path, struct machine *machine);

/* 0, or -1 with errno when not all of it could be written. */
int bus_text_close(struct bus_text *bus);

#endif
