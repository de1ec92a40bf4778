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

enum runner_mode {
	RUNNER_HOST,  /* the kernel is a library of this program */
	RUNNER_GUEST, /* the kernel is an image at EL1 of the emulated CPU */
};

struct runner_config {
	const char *profile;	/* "linux-6.1", ... */
	enum runner_mode mode;
	enum cpu_engine engine;
	const char *agent;	/* path of the agent's ELF */
	const char *kernel;	/* path of the EL1 image; guest mode only */
	uint64_t max_insns;	/* 0: RUNNER_MAX_INSNS */
	const struct timing_model *timing; /* NULL: icount */
	const uint64_t *skid;	/* instead of the scenario's; NULL: that */
	/* Called before the program starts: with the booted host (host mode), or
	 * before the image does (guest mode; @host is NULL). May be NULL. */
	void (*prepare)(void *opaque, struct machine *machine, struct host *host);
	/* Called when the program has ended, before the machine goes. */
	void (*finish)(void *opaque, struct machine *machine, struct host *host);
	void *opaque;
};

/* A scenario that executes more than this has lost its way. */
#define RUNNER_MAX_INSNS UINT64_C(20000000000)

struct runner_result {
	struct tt_trace *trace;
	unsigned expect_failed, expect_total;
	char *expect_text; /* the failed ones, one line each; malloc()ed */
};

/* Why @mode cannot run @scn, NULL when it can. */
const char *runner_cannot(const struct scn *scn, enum runner_mode mode);

/* 0; -1 with a line in @err: bad input, no such profile, or a run that did not
 * come to its end. */
int runner_run(const struct scn *scn, const struct runner_config *config,
	       struct runner_result *result, char *err, size_t errsize);
void runner_result_free(struct runner_result *result);

/* The whole of a file in malloc()ed memory, NULL with a line in @err. */
void *runner_slurp(const char *path, size_t *size, char *err, size_t errsize);

#endif
