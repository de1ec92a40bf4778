/* SPDX-License-Identifier: MIT */
/*
 * Host mode: the kernel as a host library, its user program at EL0 on the
 * emulated CPU. hal.h on top of emu/.
 *
 * The kernel takes time: each [op] of hal.h costs EL1 cycles from a table and
 * is an interrupt point. Stated limit: what the kernel does between two
 * operations takes no time and cannot be interrupted.
 */
#ifndef PMULAB_KERNELCORE_HOST_H
#define PMULAB_KERNELCORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/machine.h"
#include "kernelcore/kentry.h"

struct host;

struct host_config {
	struct machine_config machine;
	const char *profile; /* "linux-6.1", ... */
	uint64_t seed;	     /* kentry_seed(); 0: the schedule is the plain one */
	/* What the program writes. */
	void (*output)(void *opaque, const void *buf, size_t n);
	void *opaque;
};

/* Machine and kernel, booted. NULL with a line in @err. */
struct host *host_create(const struct host_config *config, char *err, size_t errsize);
void host_destroy(struct host *host); /* NULL is allowed */

enum host_result {
	HOST_EXITED, /* see host_status() */
	HOST_LIMIT,  /* machine.max_insns were executed */
	HOST_ERROR,  /* a line in @err */
};

/* Run the program @elf on @input until it ends. Once per host. */
enum host_result host_run(struct host *host, const void *elf, size_t elf_size,
			  const void *input, size_t input_size, char *err,
			  size_t errsize);
struct kentry_status host_status(const struct host *host);

struct machine *host_machine(struct host *host);

/* hal operations so far. */
uint64_t host_ops(const struct host *host);

/* At the @op-th hal operation from boot (1 is the first), before its interrupt
 * point: inject @events into @counter at EL1; @forced as pmuv3_inject(). One
 * plan at a time; 0 events: none. */
void host_inject_at(struct host *host, uint64_t op, unsigned counter, uint64_t events,
		    bool forced);

#endif
