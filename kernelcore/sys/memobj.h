/* SPDX-License-Identifier: MIT */
/*
 * Memory that files and shared mappings are of (Linux: shmem). Pages appear when
 * they are first asked for, and stay until the object goes or is cut.
 */
#ifndef PMULAB_KERNELCORE_SYS_MEMOBJ_H
#define PMULAB_KERNELCORE_SYS_MEMOBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksys;
struct memobj;

enum { MEMOBJ_MAX = 128 << 20 };

/* @size in bytes. One reference; NULL without memory. */
struct memobj *memobj_create(struct ksys *sys, uint64_t size);
/* A read-only one that holds @data. */
struct memobj *memobj_from(struct ksys *sys, const void *data, size_t size);
void memobj_get(struct memobj *obj);
void memobj_put(struct ksys *sys, struct memobj *obj);

uint64_t memobj_size(const struct memobj *obj);
/* Cut or grow; what is cut off is unmapped everywhere. -EFBIG; -EINVAL: read-only. */
int memobj_resize(struct ksys *sys, struct memobj *obj, uint64_t size);

/* The page at @pgoff, which is the object's (the caller takes references of his
 * own); NULL: beyond the end, none there and not to @make, or no memory. */
void *memobj_page(struct ksys *sys, struct memobj *obj, uint64_t pgoff, bool make);

/* Kernel memory out of it; what lies beyond the end is not copied. Returns how many
 * bytes were. */
size_t memobj_read(struct ksys *sys, struct memobj *obj, uint64_t at, void *buf, size_t n);

#endif
