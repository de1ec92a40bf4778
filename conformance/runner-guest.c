/* SPDX-License-Identifier: MIT */
/*
 * Guest mode: the kernel's image on the board, agent and scenario in its initrd,
 * the log from its console. Here is also the laboratory that it calls by HVC.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/runner-priv.h"
#include "emu/board.h"
#include "kernelcore/arm64/initrd.h"
#include "kernelcore/arm64/lab.h"
#include "kernelcore/hal.h"

enum { ALIGN = 16 };

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void *make_initrd(const struct runner_job *job, size_t *size)
{
	const size_t elf = aligned(sizeof(struct initrd_header));
	const size_t input = elf + aligned(job->elf_size);
	const struct initrd_header header = {
		.magic = INITRD_MAGIC,
		.elf = elf,
		.elf_size = job->elf_size,
		.input = input,
		.input_size = job->image_size,
	};
	uint8_t *initrd = calloc(1, input + job->image_size);

	if (!initrd)
		return NULL;
	memcpy(initrd, &header, sizeof(header));
	memcpy(initrd + elf, job->elf, job->elf_size);
	memcpy(initrd + input, job->image, job->image_size);
	*size = input + job->image_size;
	return initrd;
}

/* -- the laboratory ------------------------------------------------------------- */

static long lab_inject(struct machine *m, const uint64_t *arg)
{
	struct pmuv3 *pmu = &m->current->pmu;

	if (arg[4] > 1)
		return -EINVAL;
	return pmuv3_inject(pmu, (unsigned)arg[2], arg[3], (unsigned)arg[4], arg[1]);
}

static void lab_note(struct machine *m, const uint64_t *arg)
{
	switch ((enum hal_note)arg[1]) {
	case HAL_NOTE_RECORD:
		trace_emit(&m->bus, m->current->id, TRACE_RECORD, arg[2], arg[3], 0);
		break;
	case HAL_NOTE_LOST:
		trace_emit(&m->bus, m->current->id, TRACE_LOST, arg[2], arg[3], 0);
		break;
	case HAL_NOTE_WAKEUP:
		trace_emit(&m->bus, m->current->id, TRACE_WAKEUP, arg[2], arg[3], 0);
		break;
	case HAL_NOTE_ADJUST:
		trace_emit(&m->bus, m->current->id, TRACE_ADJUST, arg[2], arg[3], 0);
		break;
	case HAL_NOTE_ARMED: /* the kernel keeps its plans itself */
		break;
	}
}

static bool hypercall(void *opaque, struct machine *m, const uint64_t arg[7], uint64_t *ret)
{
	(void)opaque;
	switch ((uint32_t)arg[0]) {
	case LAB_INJECT:
		*ret = (uint64_t)lab_inject(m, arg);
		return true;
	case LAB_NOTE:
		lab_note(m, arg);
		*ret = 0;
		return true;
	default:
		return false;
	}
}

/* -- a run ---------------------------------------------------------------------- */

static void console(void *opaque, uint8_t byte)
{
	runner_append(opaque, &byte, 1);
}

/* The line before the one that says the status tells what went wrong. */
static void guest_failed(const struct runner_job *job, int status)
{
	const char *text = job->log.data ? job->log.data : "";
	const char *end = text + job->log.n, *at = end, *line;
	static const char name[] = "kernelcore: ";

	for (int newlines = 0; at > text; at--)
		if (at[-1] == '\n' && ++newlines == 3)
			break;
	line = at;
	while (at < end && *at != '\n')
		at++;
	if ((size_t)(at - line) > sizeof(name) && !memcmp(line, name, sizeof(name) - 1))
		snprintf(job->err, job->errsize, "%s: %.*s", job->scn->file, (int)(at - line),
			 line);
	else
		snprintf(job->err, job->errsize, "%s: the agent exited with status %d",
			 job->scn->file, status);
}

static int run(struct runner_job *job, struct board *board)
{
	const char *file = job->scn->file;
	int status;

	switch (board_run(board)) {
	case BOARD_OFF:
		status = board_exit_status(board);
		if (!status)
			return 0;
		guest_failed(job, status);
		return -1;
	case BOARD_LIMIT:
		snprintf(job->err, job->errsize, "%s: more than %llu instructions", file,
			 (unsigned long long)job->machine.max_insns);
		return -1;
	case BOARD_RESET:
	case BOARD_STUCK:
		snprintf(job->err, job->errsize, "%s: the kernel hangs", file);
		return -1;
	case BOARD_ERROR:
		snprintf(job->err, job->errsize, "%s: %s", file, board_error(board));
		return -1;
	}
	return -1;
}

static int run_board(struct runner_job *job, const struct board_config *board_config)
{
	const struct runner_config *config = job->config;
	struct board *board = board_create(board_config, job->err, job->errsize);
	struct machine *machine;
	int rc = -1;

	if (!board)
		return -1;
	machine = board_machine(board);
	job->watch = expect_start(job->scn, machine, job->err, job->errsize);
	if (job->watch && config->prepare)
		config->prepare(config->opaque, machine, NULL);
	if (job->watch)
		rc = run(job, board);
	if (!rc && config->finish)
		config->finish(config->opaque, machine, NULL);
	board_destroy(board);
	return rc;
}

int runner_run_guest(struct runner_job *job)
{
	struct board_config board = {
		.machine = job->machine,
		.output = console,
		.hypercall = hypercall,
		.opaque = &job->log,
	};
	void *kernel = NULL, *initrd = NULL;
	char append[128];
	int rc = -1;

	/* The laboratory's calls take time of the kernel's: only who needs them has
	 * them. */
	snprintf(append, sizeof(append), "profile=%s%s", job->config->profile,
		 job->scn->emulator_only ? " laboratory" : "");
	board.append = append;
	if (!job->config->kernel)
		snprintf(job->err, job->errsize, "guest mode: no kernel image was built");
	else
		kernel = runner_slurp(job->config->kernel, &board.image.size, job->err,
				      job->errsize);
	if (!kernel)
		return -1;
	initrd = make_initrd(job, &board.initrd.size);
	if (initrd) {
		board.image.data = kernel;
		board.initrd.data = initrd;
		rc = run_board(job, &board);
	} else {
		snprintf(job->err, job->errsize, "out of memory");
	}
	free(initrd);
	free(kernel);
	return rc;
}
