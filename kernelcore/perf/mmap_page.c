/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/mmap_page.h"

#include <asm-generic/errno-base.h>
#include <asm-generic/errno.h>
#include <linux/perf_event.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"
#include "kernelcore/perf/pmu_armv8.h"
#include "kernelcore/perf/policy.h"
#include "kernelcore/perf/ring.h"

enum {
	CLOCK_BITS = 57, /* Linux's width of CNTVCT_EL0 at 62.5 MHz */
	INDEX_CYCLE = 32 /* an index is a counter's number and 1 */
};

/* perf_event_mmap_page.capabilities */
enum {
	CAP_BIT0_IS_DEPRECATED = 1 << 1,
	CAP_USER_RDPMC = 1 << 2,
	CAP_USER_TIME = 1 << 3,
	CAP_USER_TIME_ZERO = 1 << 4,
	CAP_USER_TIME_SHORT = 1 << 5,
	CAP_UPDATED =
		CAP_USER_RDPMC | CAP_USER_TIME | CAP_USER_TIME_ZERO | CAP_USER_TIME_SHORT,
};

/* The page is read, and may be written, by user space at the same time. */
#define put(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

static void update_lock(struct perf_event_mmap_page *page)
{
	put(page->lock, get(page->lock) + 1);
}

/* What user space needs to turn CNTVCT_EL0 into perf's time: this kernel's
 * clock starts with the counter. */
static void update_clock(const struct kperf *perf, struct perf_event_mmap_page *page,
			 uint64_t now)
{
	put(page->time_mult, perf->time_mult);
	put(page->time_shift, (uint16_t)perf->time_shift);
	put(page->time_zero, 0);
	put(page->time_cycles, 0);
	put(page->time_mask, (UINT64_C(1) << CLOCK_BITS) - 1);
	put(page->time_offset, -now);
}

/* Linux armv8pmu_user_event_idx(): 0, or what user space may read by mrs. */
static uint32_t user_index(const struct kperf_event *event)
{
	if (event->hw.stopped || event->state != PERF_EVENT_ACTIVE ||
	    !event->hw.user_read ||
	    !ksys_sysctl(event->perf->sys, KSYS_SYSCTL_USER_ACCESS))
		return 0;
	return event->hw.counter == PMU_CYCLE ? INDEX_CYCLE
					      : (uint32_t)event->hw.counter + 1;
}

void perf_mmap_page_update(struct kperf_event *event)
{
	struct perf_event_mmap_page *page;
	uint64_t now, enabled, running, caps;
	uint32_t index;

	if (!event->ring)
		return;
	now = hal_clock_ns(ksys_hal(event->perf->sys));
	perf_event_times(event, perf_ctx_time_now(event, now), &enabled, &running);
	page = event->ring->user_page;
	update_lock(page);
	atomic_signal_fence(memory_order_seq_cst);
	index = user_index(event);
	put(page->index, index);
	put(page->offset, (int64_t)(perf_event_total(event) - (index ? event->hw.prev_count : 0)));
	put(page->time_enabled, enabled);
	put(page->time_running, running);
	caps = CAP_USER_TIME | CAP_USER_TIME_ZERO | CAP_USER_TIME_SHORT;
	if (event->hw.user_read) {
		caps |= CAP_USER_RDPMC;
		put(page->pmc_width, event->hw.is_64bit ? 64 : 32);
	}
	put(page->capabilities,
	    (get(page->capabilities) & ~(uint64_t)CAP_UPDATED) | caps);
	update_clock(event->perf, page, now);
	atomic_signal_fence(memory_order_seq_cst);
	update_lock(page);
}

static void init_page(const struct perf_ring *ring)
{
	struct perf_event_mmap_page *page = ring->user_page;

	page->capabilities = CAP_BIT0_IS_DEPRECATED;
	page->size = offsetof(struct perf_event_mmap_page, __reserved);
	page->data_offset = KSYS_PAGE_SIZE;
	page->data_size = perf_ring_size(ring);
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* An AUX area: no PMU here has one. Offset and size come from the page that
 * user space writes. */
static long mmap_aux(const struct kperf_event *event, uint64_t size, uint64_t pgoff)
{
	const struct perf_event_mmap_page *page;
	uint64_t offset;

	if (!event->ring)
		return -EINVAL;
	page = event->ring->user_page;
	offset = get(page->aux_offset);
	if (offset < perf_ring_size(event->ring) + KSYS_PAGE_SIZE ||
	    offset != pgoff * KSYS_PAGE_SIZE || get(page->aux_size) != size ||
	    !is_power_of_two(size / KSYS_PAGE_SIZE))
		return -EINVAL;
	return -EOPNOTSUPP;
}

static uint64_t online_cpus(const struct kperf *perf)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < KSYS_MAX_CPUS; i++)
		n += perf->cpus[i].hal != NULL;
	return n;
}

/* perf_event_mlock_kb a CPU are a user's, the rest is RLIMIT_MEMLOCK's. A negative
 * number of kB is no limit, as in Linux, where it turns into a large one. */
static int lock_pages(struct kperf *perf, uint64_t pages, struct ksys_lock *lock)
{
	int64_t kb = ksys_sysctl(perf->sys, KSYS_SYSCTL_MLOCK_KB);
	uint64_t limit = (uint64_t)(kb >> 2) * online_cpus(perf);
	bool enforce = ksys_sysctl(perf->sys, KSYS_SYSCTL_PARANOID) > -1 &&
		       !ksys_capable(perf->sys, KSYS_CAP_IPC_LOCK);

	return ksys_lock_pages(perf->sys, pages, limit, enforce, lock);
}

static long new_ring(struct kperf_event *event, uint64_t nr_pages, bool writable)
{
	const struct perf_event_attr *attr = &event->attr.u.a;
	struct kperf *perf = event->perf;
	struct ksys_lock lock;
	struct perf_ring *ring;
	int ret = lock_pages(perf, nr_pages + 1, &lock);

	if (ret)
		return ret;
	ring = perf_ring_alloc(perf->sys, nr_pages,
			       attr->watermark ? attr->wakeup_watermark : 0, writable);
	if (!ring) {
		ksys_unlock_pages(perf->sys, &lock);
		return -ENOMEM;
	}
	ring->lock = lock;
	ring->mmap_count = 1;
	init_page(ring);
	/* last: from here on the handler may write */
	perf_event_attach_ring(event, ring);
	perf_event_update_time(event);
	perf_mmap_page_update(event);
	return 0;
}

long kperf_mmap(struct kperf_event *event, uint64_t size, uint64_t pgoff, unsigned prot,
		unsigned flags, void *const **pages, size_t *npages)
{
	uint64_t nr_pages;
	long ret = 0;

	/* every child would write the same ring */
	if (event->cpu == -1 && event->attr.u.a.inherit)
		return -EINVAL;
	if (!(flags & KPERF_MAP_SHARED) || size < KSYS_PAGE_SIZE)
		return -EINVAL;
	if (pgoff)
		return mmap_aux(event, size, pgoff);
	nr_pages = size / KSYS_PAGE_SIZE - 1;
	if ((nr_pages && !is_power_of_two(nr_pages)) ||
	    size != (nr_pages + 1) * KSYS_PAGE_SIZE)
		return -EINVAL;
	if (event->ring) {
		if (event->ring->nr_pages != nr_pages)
			return -EINVAL;
		event->ring->mmap_count++;
	} else {
		ret = new_ring(event, nr_pages, prot & KPERF_PROT_WRITE);
	}
	if (ret)
		return ret;
	event->mmap_count++;
	event->files++;
	*pages = event->ring->pages;
	*npages = nr_pages + 1;
	return 0;
}

/* Nobody maps the ring any more: whoever still writes to it stops. */
static void detach_rest(struct perf_ring *ring)
{
	while (!perf_list_empty(&ring->events))
		perf_event_attach_ring(perf_list_entry(ring->events.next,
						       struct kperf_event, ring_entry),
				       NULL);
}

void kperf_munmap(struct kperf_event *event)
{
	struct perf_ring *ring = event->ring;
	bool last;

	ring->refs++;
	last = --ring->mmap_count == 0;
	if (--event->mmap_count == 0) {
		perf_event_attach_ring(event, NULL);
		if (last) {
			detach_rest(ring);
			ksys_unlock_pages(event->perf->sys, &ring->lock);
		}
	}
	perf_ring_put(ring);
	perf_event_put_file(event);
}
