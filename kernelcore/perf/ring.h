/* SPDX-License-Identifier: MIT */
/*
 * The ring: a header page that belongs to the reader and 2^k data pages, or
 * none. Writers nest (an interrupt during a write): space is reserved first by
 * moving the private head, bytes follow, and only the outermost writer
 * publishes. The header page is never trusted: head, size and offset are kept
 * here and data_tail is read only to clamp.
 */
#ifndef PMULAB_KERNELCORE_PERF_RING_H
#define PMULAB_KERNELCORE_PERF_RING_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernelcore/ksys.h"
#include "kernelcore/perf/list.h"

struct kperf;

struct perf_ring {
	struct ksys *sys;
	unsigned refs; /* events attached */
	unsigned mmap_count;
	struct perf_list events; /* attached */
	uint64_t nr_pages;	 /* of data; a power of two, or 0 */
	uint64_t watermark;	 /* bytes */
	bool overwrite;		 /* mapped read-only: nothing is lost */
	bool paused;
	atomic_uint_least64_t head;   /* bytes ever reserved */
	atomic_uint_least64_t wakeup; /* head at the last wakeup, and a little */
	atomic_uint_least64_t lost;
	atomic_uint events_since; /* samples since the last wakeup_events one */
	atomic_uint poll;	  /* what the next poll() gets */
	unsigned nest;		  /* writers inside */
	struct ksys_lock lock;	  /* its pages */
	struct perf_event_mmap_page *user_page;
	void **pages; /* 1 + nr_pages, the header first */
};

/* NULL: no memory. One reference. @watermark 0: half the ring. */
struct perf_ring *perf_ring_alloc(struct ksys *sys, uint64_t nr_pages, uint64_t watermark,
				  bool writable);
void perf_ring_put(struct perf_ring *ring);

static inline uint64_t perf_ring_size(const struct perf_ring *ring)
{
	return ring->nr_pages * 4096;
}

/* A record being written. */
struct perf_output {
	struct hal *hal;
	struct perf_ring *ring;
	struct kperf_event *event;
	uint64_t pos;	 /* next byte, as an offset since the beginning */
	uint64_t wakeup; /* ring->wakeup when we came in */
};

/* Room for @size bytes, and the LOST record before them when one is due. False:
 * the record is dropped (and counted when there is a ring to count for). The
 * caller then writes exactly @size bytes and ends. Any context. */
bool perf_output_begin(struct perf_output *out, struct hal *hal,
		       struct kperf_event *event, uint32_t type, uint32_t size);
void perf_output_copy(struct perf_output *out, const void *src, size_t n);
/* The same from the current task's memory: @n bytes are taken up in the record
 * in any case; returns how many of them, at the end, were not filled. */
size_t perf_output_copy_user(struct perf_output *out, uint64_t uaddr, size_t n);
void perf_output_end(struct perf_output *out);

#endif
