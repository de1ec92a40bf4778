/* SPDX-License-Identifier: MIT */
#include "kernelcore/arm64/fdt.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	MAGIC = (int)0xd00dfeed,
	HEADER_SIZE = 1, /* cells */
	HEADER_STRUCT = 2,
	HEADER_STRINGS = 3,

	BEGIN_NODE = 1,
	END_NODE = 2,
	PROP = 3,
	NOP = 4,
};

uint32_t fdt_cell(const void *prop, unsigned i)
{
	return __builtin_bswap32(((const uint32_t *)prop)[i]);
}

uint64_t fdt_cells2(const void *prop, unsigned i)
{
	return (uint64_t)fdt_cell(prop, i) << 32 | fdt_cell(prop, i + 1);
}

uint32_t fdt_size(const void *blob)
{
	return fdt_cell(blob, 0) == (uint32_t)MAGIC ? fdt_cell(blob, HEADER_SIZE) : 0;
}

/* Is @text @name, as far as its unit address? */
static bool same(const char *text, const char *name)
{
	while (*name && *text == *name) {
		text++;
		name++;
	}
	return !*name && (!*text || *text == '@');
}

static const uint32_t *skip(const uint32_t *at, size_t bytes)
{
	return at + (bytes + 3) / 4;
}

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

const void *fdt_prop(const void *blob, const char *node, const char *name, uint32_t *size)
{
	const char *strings = (const char *)blob + fdt_cell(blob, HEADER_STRINGS);
	const uint32_t *at = (const void *)((const char *)blob + fdt_cell(blob, HEADER_STRUCT));
	unsigned depth = 0;
	bool here = false; /* in the node itself, not in one of its children */

	for (;;) {
		switch (fdt_cell(at++, 0)) {
		case BEGIN_NODE:
			here = ++depth == 2 && same((const char *)at, node);
			at = skip(at, length((const char *)at) + 1);
			break;
		case END_NODE:
			here = false;
			depth--;
			break;
		case PROP:
			if (here && same(strings + fdt_cell(at, 1), name)) {
				if (size)
					*size = fdt_cell(at, 0);
				return at + 2;
			}
			at = skip(at + 2, fdt_cell(at, 0));
			break;
		case NOP:
			break;
		default: /* its end */
			return NULL;
		}
	}
}
