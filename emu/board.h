/* SPDX-License-Identifier: MIT */
/*
 * A machine that boots: the CPUs and RAM of struct machine on the board of
 * emu/virt.h, with this program at EL2: devices by trapped accesses, PSCI by
 * HVC, exceptions into the guest's vectors.
 *
 * Several CPUs take turns of a fixed number of cycles, in order, each with its
 * own clock within the round; so the same run twice is the same run.
 */
#ifndef PMULAB_EMU_BOARD_H
#define PMULAB_EMU_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/loader.h"
#include "emu/machine.h"
#include "emu/virt.h"

struct board;

struct board_config {
	struct machine_config machine; /* cpus, counters, pmuver, ram_size, max_insns */
	struct loader_file image, initrd; /* initrd.data NULL: none */
	const char *append;		  /* boot arguments, NULL: none */
	uint64_t kaslr_seed;		  /* for Linux; 0: none, and it stays */
	uint64_t quantum;		  /* cycles of a turn; 0: BOARD_QUANTUM */
	void (*output)(void *opaque, uint8_t byte);		/* console */
	void (*guest_error)(void *opaque, const struct guest_error *error);
	/* An HVC of the current CPU with x0..x6 in @arg, before PSCI sees it. True:
	 * it goes on with x0 = *ret. NULL: all are PSCI's. */
	bool (*hypercall)(void *opaque, struct machine *machine, const uint64_t arg[7],
			  uint64_t *ret);
	void *opaque;
};

enum { BOARD_QUANTUM = 20000 };

/* NULL with a line in @err. */
struct board *board_create(const struct board_config *config, char *err, size_t errsize);
void board_destroy(struct board *board); /* NULL is allowed */

enum board_end {
	BOARD_OFF,   /* the guest turned it off, or said how it ended */
	BOARD_RESET, /* the guest asked for a reset */
	BOARD_LIMIT, /* machine.max_insns were executed */
	BOARD_STUCK, /* every CPU waits, or is off, and nothing is due */
	BOARD_ERROR, /* board_error() */
};

enum board_end board_run(struct board *board);

/* 0..255 when the guest said how it ended, else -1. */
int board_exit_status(const struct board *board);
const char *board_error(const struct board *board);
struct machine *board_machine(struct board *board);

#endif
