/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/ring.h"

#include <string.h>

#include "kernelcore/hal.h"
#include "kernelcore/ksys.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/sample.h"

enum {
	POLL_DATA = 0x41,			/* POLLIN | POLLRDNORM */
	PAGES_MAX = 65536 / sizeof(void *) / 2, /* of data, what one array holds */
};

/* --- life ------------------------------------------------------------------ */

static void free_pages(struct perf_ring *ring)
{
	for (uint64_t i = 0; i <= ring->nr_pages && ring->pages[i]; i++)
		ksys_page_free(ring->sys, ring->pages[i]);
	ksys_free(ring->sys, ring->pages);
	ksys_free(ring->sys, ring);
}

static bool alloc_pages(struct perf_ring *ring)
{
	for (uint64_t i = 0; i <= ring->nr_pages; i++) {
		ring->pages[i] = ksys_page_alloc(ring->sys);
		if (!ring->pages[i])
			return false;
	}
	ring->user_page = ring->pages[0];
	return true;
}

struct perf_ring *perf_ring_alloc(struct ksys *sys, uint64_t nr_pages, uint64_t watermark,
				  bool writable)
{
	struct perf_ring *ring;
	uint64_t size;

	if (nr_pages > PAGES_MAX)
		return NULL;
	ring = ksys_alloc(sys, sizeof(*ring));
	if (!ring)
		return NULL;
	ring->sys = sys;
	ring->refs = 1;
	ring->nr_pages = nr_pages;
	ring->overwrite = !writable;
	ring->paused = nr_pages == 0;
	perf_list_init(&ring->events);
	size = perf_ring_size(ring);
	ring->watermark = watermark < size ? watermark : size;
	if (!ring->watermark)
		ring->watermark = size / 2;
	ring->pages = ksys_alloc(sys, (nr_pages + 1) * sizeof(*ring->pages));
	if (!ring->pages) {
		ksys_free(sys, ring);
		return NULL;
	}
	if (!alloc_pages(ring)) {
		free_pages(ring);
		return NULL;
	}
	return ring;
}

void perf_ring_put(struct perf_ring *ring)
{
	if (--ring->refs == 0)
		free_pages(ring);
}

/* --- one record ------------------------------------------------------------ */

static void get_handle(struct perf_output *out)
{
	__atomic_store_n(&out->ring->nest, out->ring->nest + 1, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	out->wakeup = atomic_load_explicit(&out->ring->wakeup, memory_order_relaxed);
}

static void queue_wakeup(struct perf_output *out)
{
	struct kperf_event *event = out->event;
	struct kperf *perf = event->perf;

	atomic_store_explicit(&out->ring->poll, POLL_DATA, memory_order_relaxed);
	event->pending_wakeup = true;
	if (perf->policy->wakeup_tells_async && event->pending_kill == PERF_KILL_NONE &&
	    ksys_sigio_wanted(perf->sys, event))
		event->pending_kill = PERF_KILL_IN;
	ksys_irq_work_queue(perf->sys, &event->pending_irq);
}

/*
 * Only the outermost writer publishes the head: an inner one may have finished
 * its record while an outer one, which lies before it, has not. Since another
 * interrupt may write between reading head and leaving, look again afterwards.
 */
static void put_handle(struct perf_output *out)
{
	struct perf_ring *ring = out->ring;
	uint64_t head;

	if (ring->nest > 1) {
		__atomic_store_n(&ring->nest, ring->nest - 1, __ATOMIC_RELAXED);
		return;
	}
	for (;;) {
		atomic_signal_fence(memory_order_seq_cst);
		head = atomic_load_explicit(&ring->head, memory_order_relaxed);
		/* the bytes before the head that covers them */
		__atomic_store_n(&ring->user_page->data_head, head, __ATOMIC_RELEASE);
		hal_story(out->hal, HAL_STORY_HEAD, out->event->id, head,
			  __atomic_load_n(&ring->user_page->data_tail, __ATOMIC_RELAXED),
			  NULL);
		atomic_signal_fence(memory_order_seq_cst);
		__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
		if (head == atomic_load_explicit(&ring->head, memory_order_relaxed))
			break;
		__atomic_store_n(&ring->nest, 1, __ATOMIC_RELAXED);
	}
	if (out->wakeup != atomic_load_explicit(&ring->wakeup, memory_order_relaxed))
		queue_wakeup(out);
}

/* One byte always stays free (Linux CIRC_SPACE), so full is not empty. Whatever
 * the reader wrote into data_tail, the result is below the ring's size. */
static bool has_space(const struct perf_ring *ring, uint64_t head, uint64_t tail,
		      uint64_t size, bool backward)
{
	uint64_t mask = perf_ring_size(ring) - 1;
	uint64_t space = backward ? (head - tail - 1) & mask : (tail - head - 1) & mask;

	return space >= size;
}

static void drop(struct perf_output *out, struct kperf_event *event, uint32_t type,
		 uint32_t size)
{
	atomic_fetch_add_explicit(&out->ring->lost, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&event->lost_samples, 1, memory_order_relaxed);
	hal_note(out->hal, HAL_NOTE_LOST, type, size);
}

/* Move the private head; false when the reader is too far behind. */
static bool reserve(struct perf_output *out, uint64_t size, bool backward)
{
	struct perf_ring *ring = out->ring;
	uint64_t old = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t tail, head, written;

	do {
		tail = __atomic_load_n(&ring->user_page->data_tail, __ATOMIC_ACQUIRE);
		if (!ring->overwrite && !has_space(ring, old, tail, size, backward))
			return false;
		head = backward ? old - size : old + size;
	} while (!atomic_compare_exchange_weak_explicit(
		&ring->head, &old, head, memory_order_relaxed, memory_order_relaxed));

	out->pos = backward ? head : old;
	written = backward ? -head : head;
	if (written - atomic_load_explicit(&ring->wakeup, memory_order_relaxed) >
	    ring->watermark)
		atomic_fetch_add_explicit(&ring->wakeup, ring->watermark,
					  memory_order_relaxed);
	return true;
}

static uint32_t lost_record_size(const struct kperf_event *event)
{
	return (uint32_t)(sizeof(struct perf_event_header) + 16 +
			  perf_trailer_size(event));
}

static void write_lost(struct perf_output *out)
{
	struct kperf_event *event = out->event;
	uint64_t buf[3 + PERF_TRAILER_BYTES_MAX / 8];
	struct perf_event_header header = {
		.type = PERF_RECORD_LOST,
		.size = (uint16_t)lost_record_size(event),
	};

	memcpy(&buf[0], &header, sizeof(header));
	buf[1] = event->id;
	buf[2] = atomic_exchange_explicit(&out->ring->lost, 0, memory_order_relaxed);
	perf_trailer_build(out->hal, event, &buf[3]);
	perf_output_copy(out, buf, header.size);
	hal_note(out->hal, HAL_NOTE_RECORD, PERF_RECORD_LOST, header.size);
}

bool perf_output_begin(struct perf_output *out, struct hal *hal,
		       struct kperf_event *event, uint32_t type, uint32_t size)
{
	struct perf_ring *ring;
	uint64_t want = size;
	bool have_lost;

	/* an inherited event's records are its parent's */
	if (event->parent)
		event = event->parent;
	ring = event->ring;
	if (!ring)
		return false;
	*out = (struct perf_output){.hal = hal, .ring = ring, .event = event};
	if (ring->paused) {
		if (ring->nr_pages)
			drop(out, event, type, size);
		return false;
	}
	have_lost = atomic_load_explicit(&ring->lost, memory_order_relaxed) != 0;
	if (have_lost)
		want += lost_record_size(event);
	get_handle(out);
	if (!reserve(out, want, event->attr.u.a.write_backward)) {
		drop(out, event, type, size);
		put_handle(out);
		return false;
	}
	if (have_lost)
		write_lost(out);
	return true;
}

/* Where the record goes on, and how many of @n bytes fit into that page. */
static uint8_t *next_part(const struct perf_output *out, size_t n, size_t *part)
{
	uint64_t offset = out->pos & (perf_ring_size(out->ring) - 1);
	uint64_t in_page = offset % KSYS_PAGE_SIZE;

	*part = KSYS_PAGE_SIZE - in_page;
	if (*part > n)
		*part = n;
	return (uint8_t *)out->ring->pages[1 + offset / KSYS_PAGE_SIZE] + in_page;
}

void perf_output_copy(struct perf_output *out, const void *src, size_t n)
{
	const uint8_t *from = src;
	size_t part;

	while (n) {
		uint8_t *to = next_part(out, n, &part);

		hal_copy(out->hal, to, from, part);
		hal_story(out->hal, HAL_STORY_STORE, out->event->id, out->pos, part,
			  from);
		from += part;
		out->pos += part;
		n -= part;
	}
}

size_t perf_output_copy_user(struct perf_output *out, uint64_t uaddr, size_t n)
{
	size_t part, missing = 0;

	while (n && !missing) {
		uint8_t *to = next_part(out, n, &part);

		missing = ksys_copy_from_user_nofault(out->ring->sys, to, uaddr, part);
		hal_story(out->hal, HAL_STORY_STORE, out->event->id, out->pos,
			  part - missing, to);
		uaddr += part;
		out->pos += part;
		n -= part;
	}
	out->pos += n;
	return missing + n;
}

void perf_output_end(struct perf_output *out)
{
	put_handle(out);
}
