/* SPDX-License-Identifier: MIT */
/* What the image asks of the flattened device tree (devicetree.org, 0.4, chapter 5).
 * The blob is trusted: it comes with the machine. */
#ifndef PMULAB_KERNELCORE_ARM64_FDT_H
#define PMULAB_KERNELCORE_ARM64_FDT_H

#include <stdint.h>

/* Property @name of the root's child @node, up to its unit address; NULL when there is
 * none. *size in bytes, may be NULL. */
const void *fdt_prop(const void *blob, const char *node, const char *name, uint32_t *size);

/* The @i-th big-endian cell, or the two from the @i-th cell on. */
uint32_t fdt_cell(const void *prop, unsigned i);
uint64_t fdt_cells2(const void *prop, unsigned i);

/* Bytes of the whole blob; 0 when it is none. */
uint32_t fdt_size(const void *blob);

#endif
