/* SPDX-License-Identifier: MIT */
/*
 * A level 1 cache, instruction or data: physically indexed and tagged, write-back
 * and write-allocate, tags only. It answers one question, how many lines an
 * access had to fetch (L1I_CACHE_REFILL, L1D_CACHE_REFILL); data always comes
 * from RAM. Deterministic: the same accesses from a reset give the same answers.
 */
#ifndef PMULAB_EMU_CACHE_H
#define PMULAB_EMU_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CACHE_MAX_LINES = 2048,
	CACHE_MAX_WAYS = 16
};

enum cache_policy {
	CACHE_LRU,	   /* the way used longest ago goes */
	CACHE_ROUND_ROBIN, /* the ways of a full set go in turn */
};

struct cache_config {
	unsigned sets; /* a power of two */
	unsigned ways; /* 1..CACHE_MAX_WAYS; sets * ways <= CACHE_MAX_LINES */
	unsigned line; /* bytes, a power of two from 16 to 2048 */
	enum cache_policy policy;
};

struct cache {
	struct cache_config config;
	unsigned shift;	     /* log2 of line */
	uint64_t writebacks; /* dirty lines pushed out or cleaned, since reset */
	/* By set, then by way. Invalid ways go first, lowest first. */
	uint64_t tag[CACHE_MAX_LINES]; /* pa >> shift; CACHE_NO_LINE: invalid */
	uint8_t dirty[CACHE_MAX_LINES];
	uint8_t age[CACHE_MAX_LINES]; /* LRU: a permutation, 0 the newest; round
				       * robin: way 0's is the next way to go */
};

/* No physical address has a tag of all ones: lines have 16 bytes at least. */
#define CACHE_NO_LINE UINT64_MAX

/* -EINVAL: a size that is none of the above. Empty after it. */
int cache_init(struct cache *cache, const struct cache_config *config);
void cache_reset(struct cache *cache);

/* @size bytes (1 or more) at @pa, read or written. Returns the lines that were
 * not there and are now; an access over a line's end touches both. The address
 * must not wrap. */
unsigned cache_access(struct cache *cache, uint64_t pa, unsigned size, bool is_write);

/* How many lines that touches: what L1I_CACHE and L1D_CACHE count ("each access
 * to a cache line", Arm ARM D14.3). */
unsigned cache_lines(const struct cache *cache, uint64_t pa, unsigned size);

/* The line with @pa: written back if dirty (DC CVAC, CIVAC, CVAU), dropped from
 * the cache (DC IVAC, CIVAC, IC IVAU), or both. Nothing if it is not there. */
void cache_clean(struct cache *cache, uint64_t pa);
void cache_invalidate(struct cache *cache, uint64_t pa);

/* IC IALLU. Dirty lines are dropped, not written back. */
void cache_invalidate_all(struct cache *cache);

#endif
