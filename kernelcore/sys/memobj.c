/* SPDX-License-Identifier: MIT */
#include "kernelcore/sys/memobj.h"

#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"

enum { LEAF = PAGE_SIZE / sizeof(void *), LEAVES = MEMOBJ_MAX / PAGE_SIZE / LEAF };

struct memobj {
	unsigned refs;
	bool read_only;
	uint64_t size;
	void **leaf[LEAVES];
};

struct memobj *memobj_create(struct ksys *sys, uint64_t size)
{
	struct memobj *obj = size > MEMOBJ_MAX ? NULL : ksys_alloc(sys, sizeof(*obj));

	if (obj) {
		obj->refs = 1;
		obj->size = size;
	}
	return obj;
}

struct memobj *memobj_from(struct ksys *sys, const void *data, size_t size)
{
	struct memobj *obj = memobj_create(sys, size);

	for (uint64_t at = 0; obj && at < size; at += PAGE_SIZE) {
		void *page = memobj_page(sys, obj, at >> PAGE_SHIFT, true);
		size_t n = size - at < PAGE_SIZE ? size - at : PAGE_SIZE;

		if (!page) {
			memobj_put(sys, obj);
			return NULL;
		}
		memcpy(page, (const uint8_t *)data + at, n);
	}
	if (obj)
		obj->read_only = true;
	return obj;
}

void memobj_get(struct memobj *obj)
{
	obj->refs++;
}

/* Pages from @pgoff on. */
static void drop_pages(struct ksys *sys, struct memobj *obj, uint64_t pgoff)
{
	for (uint64_t i = pgoff; i < LEAVES * LEAF; i++) {
		void **leaf = obj->leaf[i / LEAF];

		if (!leaf) {
			i |= LEAF - 1;
			continue;
		}
		if (leaf[i % LEAF])
			page_put(sys, leaf[i % LEAF]);
		leaf[i % LEAF] = NULL;
	}
}

void memobj_put(struct ksys *sys, struct memobj *obj)
{
	if (!obj || --obj->refs)
		return;
	drop_pages(sys, obj, 0);
	for (unsigned i = 0; i < LEAVES; i++)
		if (obj->leaf[i])
			ksys_page_free(sys, obj->leaf[i]);
	ksys_free(sys, obj);
}

uint64_t memobj_size(const struct memobj *obj)
{
	return obj->size;
}

int memobj_resize(struct ksys *sys, struct memobj *obj, uint64_t size)
{
	void *last;

	if (obj->read_only)
		return -EINVAL;
	if (size > MEMOBJ_MAX)
		return -EFBIG;
	if (size < obj->size) {
		uint64_t keep = page_up(size) >> PAGE_SHIFT;

		last = memobj_page(sys, obj, size >> PAGE_SHIFT, false);
		if (last && size & (PAGE_SIZE - 1))
			memset((uint8_t *)last + (size & (PAGE_SIZE - 1)), 0,
			       PAGE_SIZE - (size & (PAGE_SIZE - 1)));
		mm_forget(sys, obj, keep);
		drop_pages(sys, obj, keep);
	}
	obj->size = size;
	return 0;
}

void *memobj_page(struct ksys *sys, struct memobj *obj, uint64_t pgoff, bool make)
{
	void ***leaf;

	if (pgoff >= page_up(obj->size) >> PAGE_SHIFT)
		return NULL;
	leaf = &obj->leaf[pgoff / LEAF];
	if (!*leaf && make)
		*leaf = ksys_page_alloc(sys);
	if (!*leaf)
		return NULL;
	if (!(*leaf)[pgoff % LEAF] && make)
		(*leaf)[pgoff % LEAF] = page_new(sys);
	return (*leaf)[pgoff % LEAF];
}

size_t memobj_read(struct ksys *sys, struct memobj *obj, uint64_t at, void *buf, size_t n)
{
	uint8_t *to = buf;
	size_t done = 0;

	if (at >= obj->size)
		return 0;
	if (n > obj->size - at)
		n = obj->size - at;
	while (done < n) {
		uint64_t in = (at + done) & (PAGE_SIZE - 1);
		size_t part = n - done < PAGE_SIZE - in ? n - done : PAGE_SIZE - in;
		const uint8_t *page = memobj_page(sys, obj, (at + done) >> PAGE_SHIFT, false);

		if (page)
			memcpy(to + done, page + in, part);
		else
			memset(to + done, 0, part);
		done += part;
	}
	return done;
}
