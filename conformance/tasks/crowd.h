/* SPDX-License-Identifier: MIT */
/* What the crowd's users and the program agree on. */
#ifndef PMULAB_CONFORMANCE_TASKS_CROWD_H
#define PMULAB_CONFORMANCE_TASKS_CROWD_H

#include <stdint.h>

enum { CROWD_TASKS = 1000, CROWD_EVENTS = 6 };

struct crowd_config {
	uint64_t tasks, events, rounds; /* threads; events and yields of each */
	uint64_t orders; /* close and exit in every order, not all at the end */
};

#endif
