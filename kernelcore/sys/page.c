/* SPDX-License-Identifier: MIT */
/* Pages and small objects. No locks: one CPU, process context only. */
#include <string.h>

#include "kernelcore/sys/internal.h"

enum { SLAB_MIN_SHIFT = 5, BIG_MAX = 64 * 1024 };
_Static_assert(BIG_MAX / PAGE_SIZE < BIG_PAGES, "the lists of large objects are too few");

/* In front of every object of ksys_alloc(); keeps 16-byte alignment. */
struct header {
	uint64_t order; /* slab class, or BIG + pages */
	uint64_t pad;
};

enum { BIG = 0x100 };

/* Under AddressSanitizer a freed object's memory must not be touched: the machine's
 * RAM is one mapping to it otherwise. */
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *addr, size_t size);
void __asan_unpoison_memory_region(const volatile void *addr, size_t size);
#define poison(p, n)   __asan_poison_memory_region(p, n)
#define unpoison(p, n) __asan_unpoison_memory_region(p, n)
#else
#define poison(p, n)   ((void)(p), (void)(n))
#define unpoison(p, n) ((void)(p), (void)(n))
#endif

/* The counts of references lie in front of what they count. */
void page_pool_init(struct hal *hal, struct page_pool *pool, uint64_t base, uint64_t end)
{
	memset(pool, 0, sizeof(*pool));
	unpoison(hal_phys_to_virt(hal, base), end - base);
	base = page_up(base);
	pool->refs = hal_phys_to_virt(hal, base);
	pool->base = page_up(base + (end - base) / PAGE_SIZE * sizeof(*pool->refs));
	pool->fresh = pool->base;
	pool->end = end;
}

static uint32_t *page_refs(struct ksys *sys, const void *page)
{
	return &sys->pool.refs[(hal_virt_to_phys(ksys_hal(sys), page) - sys->pool.base) >>
			       PAGE_SHIFT];
}

static void *take_freed(struct ksys *sys)
{
	struct page_pool *pool = &sys->pool;
	const uint64_t n = pool->freed - 1;
	void *page = hal_phys_to_virt(ksys_hal(sys), pool->base + (n << PAGE_SHIFT));

	pool->freed = pool->refs[n];
	pool->nfreed--;
	return memset(page, 0, PAGE_SIZE);
}

void *ksys_page_alloc(struct ksys *sys)
{
	struct page_pool *pool = &sys->pool;
	void *page;

	if (pool->freed)
		return take_freed(sys);
	if (pool->end - pool->fresh < PAGE_SIZE)
		return NULL;
	page = hal_phys_to_virt(ksys_hal(sys), pool->fresh);
	pool->fresh += PAGE_SIZE;
	return page;
}

void ksys_page_free(struct ksys *sys, void *page)
{
	uint32_t *refs = page_refs(sys, page);

	*refs = sys->pool.freed;
	sys->pool.freed = (uint32_t)(refs - sys->pool.refs) + 1;
	sys->pool.nfreed++;
}

uint64_t page_pool_used(const struct page_pool *pool)
{
	return (pool->fresh - pool->base) / PAGE_SIZE - pool->nfreed;
}

void *page_new(struct ksys *sys)
{
	void *page = ksys_page_alloc(sys);

	if (page)
		*page_refs(sys, page) = 1;
	return page;
}

void page_get(struct ksys *sys, void *page)
{
	++*page_refs(sys, page);
}

void page_put(struct ksys *sys, void *page)
{
	if (!--*page_refs(sys, page))
		ksys_page_free(sys, page);
}

bool page_is_shared(struct ksys *sys, const void *page)
{
	return *page_refs(sys, page) > 1;
}

/* Contiguous pages come from the fresh end only, so a freed object is kept whole for
 * the next of its size. */
static void *big_alloc(struct ksys *sys, size_t size)
{
	const uint64_t bytes = page_up(size + sizeof(struct header)), pages = bytes / PAGE_SIZE;
	struct page_pool *pool = &sys->pool;
	struct slab_free *freed = pool->big[pages];
	struct header *h;

	if (freed) {
		pool->big[pages] = freed->next;
		pool->nfreed -= pages;
		unpoison(freed, bytes);
		h = memset(freed, 0, bytes);
	} else if (pool->end - pool->fresh < bytes) {
		return NULL;
	} else {
		h = hal_phys_to_virt(ksys_hal(sys), pool->fresh);
		pool->fresh += bytes;
	}
	h->order = BIG + pages;
	return h + 1;
}

static void big_free(struct ksys *sys, struct header *h)
{
	struct page_pool *pool = &sys->pool;
	const uint64_t pages = h->order - BIG;
	struct slab_free *item = (void *)h;

	item->next = pool->big[pages];
	pool->big[pages] = item;
	pool->nfreed += pages;
	poison(item + 1, pages * PAGE_SIZE - sizeof(*item));
}

static unsigned slab_class(size_t bytes)
{
	unsigned class = 0;

	while (((size_t)1 << (SLAB_MIN_SHIFT + class)) < bytes)
		class++;
	return class;
}

static bool slab_refill(struct ksys *sys, unsigned class)
{
	size_t size = (size_t)1 << (SLAB_MIN_SHIFT + class);
	uint8_t *page = ksys_page_alloc(sys);

	if (!page)
		return false;
	for (size_t at = 0; at + size <= PAGE_SIZE; at += size) {
		struct slab_free *item = (void *)(page + at);

		item->next = sys->pool.slab[class];
		sys->pool.slab[class] = item;
	}
	return true;
}

void *ksys_alloc(struct ksys *sys, size_t size)
{
	size_t bytes = size + sizeof(struct header);
	struct slab_free *item;
	struct header *h;
	unsigned class;

	if (!size || size > BIG_MAX)
		return NULL;
	if (bytes > PAGE_SIZE)
		return big_alloc(sys, size);
	class = slab_class(bytes);
	if (!sys->pool.slab[class] && !slab_refill(sys, class))
		return NULL;
	item = sys->pool.slab[class];
	sys->pool.slab[class] = item->next;
	h = (void *)item;
	unpoison(h, (size_t)1 << (SLAB_MIN_SHIFT + class));
	memset(h, 0, (size_t)1 << (SLAB_MIN_SHIFT + class));
	h->order = class;
	return h + 1;
}

void ksys_free(struct ksys *sys, void *p)
{
	struct header *h = p;
	struct slab_free *item, **head;
	uint64_t class;

	if (!p)
		return;
	h--;
	if (h->order >= BIG) {
		big_free(sys, h);
		return;
	}
	class = h->order;
	head = &sys->pool.slab[class];
	item = (void *)h;
	item->next = *head;
	*head = item;
	poison(item + 1, ((size_t)1 << (SLAB_MIN_SHIFT + class)) - sizeof(*item));
}
