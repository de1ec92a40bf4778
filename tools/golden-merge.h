/* SPDX-License-Identifier: MIT */
/*
 * Recorded boots to goldens, or to a refusal. A folder of boots holds
 *
 *     headers                KEY: VALUE lines for every golden (QEMU, command)
 *     boot-1/console.txt     what golden-tool's images printed, boot for boot
 *     boot-2/console.txt     ...
 *
 * Each boot must have run each scenario and the canary.
 */
#ifndef PMULAB_TOOLS_GOLDEN_MERGE_H
#define PMULAB_TOOLS_GOLDEN_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/trace-text.h"
#include "corpus/compiler/scenario.h"

#define GOLDEN_CANARY "canary"

/* The scenario whose count must move from boot to boot: it counts EL1. */
struct scn *golden_canary(void);

struct golden_options {
	const char *kernel; /* "linux-6.1[-...]": the release must begin with 6.1. */
	const char *agent;  /* its ELF, for symbols */
	const char *boots;  /* the folder */
	const char *out;    /* where NAME.golden goes; made when it is not there */
	/* Where older goldens stand, or NULL. One that accepts every boot and holds
	 * as much as the new one keeps its body: the bounds of what counts EL1 would
	 * move with every scenario that is added. */
	const char *previous;
	/* Every counter of the machine samples without loss: no companion needed. */
	bool exact_samples;
};

/* One file for each scenario, all or none. 0; 1 with one line in @err when the
 * recording must not become a golden; 2 when a file is unreadable or bad. */
int golden_merge(const struct golden_options *options, struct scn *const scns[], size_t n,
		 char *err, size_t errsize);

/*
 * The refusals that need a scenario and one boot's results (one an operation).
 * 0, or -1 with one line in @err.
 */

/* A sampling event on an event counter without a cycles event as leader whose
 * period divides its own: QEMU loses its samples. */
int golden_refuse_companion(const struct scn *scn, const int64_t *results, size_t n,
			    char *err, size_t errsize);

/* Samples and losses that do not add up to the predicted overflows, as far as
 * those are predicted and drained. */
int golden_refuse_samples(const struct scn *scn, const int64_t *results, size_t n,
			  const struct tt_trace *trace, char *err, size_t errsize);

struct tt_trace;
/* Set the header that a changed body no longer fits (see diff_body_header()). */
void golden_seal(struct tt_trace *golden);

#endif
