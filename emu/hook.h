/* SPDX-License-Identifier: MIT */
/*
 * What runs once for each block of the guest that the block engine enters, and the
 * few words it looks at. A library of its own, shared: a program's own code lies
 * tens of TiB away from translated code, so that Unicorn must call it through a
 * register, but shared libraries lie beside what mmap() gives it, within reach of a
 * direct call.
 */
#ifndef PMULAB_EMU_HOOK_H
#define PMULAB_EMU_HOOK_H

#include <stdint.h>

enum { HOOK_MARKS = 4096 };

struct hook {
	uint64_t left;	    /* bytes of code that may still be entered */
	uint64_t block_end; /* address behind the block entered last */
	/* The block of @size bytes at @address does not fit, or is looked at; it was
	 * taken from left. */
	void (*slow)(struct hook *hook, uint64_t address, uint32_t size);
	uint8_t mark[HOOK_MARKS]; /* by end address: the block may leave EL1 */
};

static inline uint8_t *hook_mark(struct hook *hook, uint64_t block_end)
{
	return &hook->mark[block_end / 4 % HOOK_MARKS];
}

/* Unicorn's UC_HOOK_BLOCK, @opaque a struct hook: @size bytes at @address are about
 * to be executed. The second is for a machine where no block ends in an ERET. */
void hook_block(void *uc, uint64_t address, uint32_t size, void *opaque);
void hook_block_el0(void *uc, uint64_t address, uint32_t size, void *opaque);

#endif
