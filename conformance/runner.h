/* SPDX-License-Identifier: MIT */
/*
 * A scenario through the agent, the emulated machine and the kernel, to a
 * trace.
 */
#ifndef PMULAB_CONFORMANCE_RUNNER_H
#define PMULAB_CONFORMANCE_RUNNER_H

#include <stdio.h>

#include "conformance/trace-text.h"
#include "corpus/compiler/scenario.h"
#include "emu/machine.h"
#include "kernelcore/host/host.h"

struct runner_config {
	const char *profile;	/* "linux-6.1", ... */
	enum cpu_engine engine;
	const char *agent;	/* path of the agent's ELF */
	uint64_t max_insns;	/* 0: RUNNER_MAX_INSNS */
	/* Called with the booted host before the program starts; may be NULL. */
	void (*prepare)(void *opaque, struct host *host);
	/* Called when the program has ended, before the machine goes. */
	void (*finish)(void *opaque, struct host *host);
	void *opaque;
};

/* A scenario that executes more than this at EL0 has lost its way. */
#define RUNNER_MAX_INSNS UINT64_C(20000000000)

struct runner_result {
	struct tt_trace *trace;
	unsigned expect_failed, expect_total;
	char *expect_text; /* the failed ones, one line each; malloc()ed */
};

/* 0; -1 with a line in @err: bad input, no such profile, or a run that did not
 * come to its end. */
int runner_run(const struct scn *scn, const struct runner_config *config,
	       struct runner_result *result, char *err, size_t errsize);
void runner_result_free(struct runner_result *result);

/* The whole of a file in malloc()ed memory, NULL with a line in @err. */
void *runner_slurp(const char *path, size_t *size, char *err, size_t errsize);

#endif
