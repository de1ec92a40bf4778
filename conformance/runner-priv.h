/* SPDX-License-Identifier: MIT */
/* What the two modes' halves of the runner share. */
#ifndef PMULAB_CONFORMANCE_RUNNER_PRIV_H
#define PMULAB_CONFORMANCE_RUNNER_PRIV_H

#include "conformance/expect.h"
#include "conformance/runner.h"

struct buffer {
	char *data;
	size_t n, room;
	bool full; /* memory ran out */
};

void runner_append(void *opaque, const void *data, size_t n); /* to a struct buffer */

struct runner_job {
	const struct scn *scn;
	const struct runner_config *config;
	struct machine_config machine;
	const void *elf, *image;
	size_t elf_size, image_size;
	/* out, the caller's to free */
	struct buffer log;
	struct expect_watch *watch; /* its machine is gone */
	char *err;
	size_t errsize;
};

/* Run the program to its end. 0, or -1 with a line in @err. */
int runner_run_host(struct runner_job *job);
int runner_run_guest(struct runner_job *job);

#endif
