/* SPDX-License-Identifier: MIT */
#include "emu/sysreg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct hit {
	const struct sysreg_desc *desc;
	void *dev;
	unsigned index;
};

/* The row of @block that holds @enc: the last one that starts at or below. */
static const struct sysreg_desc *find_row(const struct sysreg_block *block, uint32_t enc)
{
	size_t low = 0, high = block->ndesc;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (block->desc[mid].enc <= enc)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;

	const struct sysreg_desc *desc = &block->desc[low - 1];

	return enc - desc->enc < desc->count ? desc : NULL;
}

static int find(const struct sysreg_block *blocks, size_t nblocks, uint32_t enc,
		struct hit *hit)
{
	for (size_t i = 0; i < nblocks; i++) {
		hit->desc = find_row(&blocks[i], enc);
		if (hit->desc) {
			hit->dev = blocks[i].dev;
			hit->index = enc - hit->desc->enc;
			return 1;
		}
	}
	return 0;
}

/* UNDEFINED comes before any trap (Arm ARM, "Prioritization of synchronous
 * exceptions"): a register that is not there cannot be trapped. */
static enum sysreg_result check(const struct hit *hit, unsigned el, int is_write)
{
	const struct sysreg_desc *desc = hit->desc;

	if (el < desc->el)
		return SYSREG_UNDEF;
	if (desc->kind == (is_write ? SYSREG_RO : SYSREG_WO))
		return SYSREG_UNDEF;
	if (desc->present && !desc->present(hit->dev, hit->index))
		return SYSREG_UNDEF;
	if (el == 0 && desc->el0)
		return desc->el0(hit->dev, hit->index, is_write);
	return SYSREG_OK;
}

static uint64_t *field(const struct hit *hit)
{
	char *base = (char *)hit->dev + hit->desc->offset;

	return (uint64_t *)(void *)base + hit->index;
}

static void plain_write(const struct hit *hit, uint64_t value)
{
	uint64_t *reg = field(hit);

	switch (hit->desc->kind) {
	case SYSREG_W1S:
		*reg |= value;
		break;
	case SYSREG_W1C:
		*reg &= ~value;
		break;
	case SYSREG_RW:
	case SYSREG_WO:
		*reg = (*reg & ~hit->desc->writable) | value;
		break;
	case SYSREG_RO:
		break;
	}
}

enum sysreg_result sysreg_read(const struct sysreg_block *blocks, size_t nblocks,
			       uint32_t enc, unsigned el, uint64_t *value)
{
	struct hit hit;

	if (!find(blocks, nblocks, enc, &hit))
		return SYSREG_UNDEF;

	const enum sysreg_result result = check(&hit, el, 0);

	if (result != SYSREG_OK)
		return result;
	*value = hit.desc->read ? hit.desc->read(hit.dev, hit.index) : *field(&hit);
	return SYSREG_OK;
}

int sysreg_exists(const struct sysreg_block *blocks, size_t nblocks, uint32_t enc)
{
	struct hit hit;

	return find(blocks, nblocks, enc, &hit);
}

enum sysreg_result sysreg_may_write(const struct sysreg_block *blocks, size_t nblocks,
				    uint32_t enc, unsigned el)
{
	struct hit hit;

	return find(blocks, nblocks, enc, &hit) ? check(&hit, el, 1) : SYSREG_UNDEF;
}

enum sysreg_result sysreg_write(const struct sysreg_block *blocks, size_t nblocks,
				uint32_t enc, unsigned el, uint64_t value)
{
	struct hit hit;

	if (!find(blocks, nblocks, enc, &hit))
		return SYSREG_UNDEF;

	const enum sysreg_result result = check(&hit, el, 1);

	if (result != SYSREG_OK)
		return result;
	value &= hit.desc->writable;
	if (hit.desc->write_at)
		hit.desc->write_at(hit.dev, hit.index, value, el);
	else if (hit.desc->write)
		hit.desc->write(hit.dev, hit.index, value);
	else
		plain_write(&hit, value);
	return SYSREG_OK;
}

static void row_name(const struct sysreg_desc *desc, unsigned index, char *buf,
		     size_t size)
{
	const char *hole = strstr(desc->name, "<n>");

	if (hole)
		snprintf(buf, size, "%.*s%u%s", (int)(hole - desc->name), desc->name,
			 index, hole + 3);
	else
		snprintf(buf, size, "%s", desc->name);
}

const char *sysreg_name(const struct sysreg_block *blocks, size_t nblocks, uint32_t enc,
			char *buf, size_t size)
{
	struct hit hit;

	if (find(blocks, nblocks, enc, &hit))
		row_name(hit.desc, hit.index, buf, size);
	else
		snprintf(buf, size, "s%u_%u_c%u_c%u_%u", enc >> 14 & 3, enc >> 11 & 7,
			 enc >> 7 & 15, enc >> 3 & 15, enc & 7);
	return buf;
}

int64_t sysreg_from_name(const struct sysreg_block *blocks, size_t nblocks,
			 const char *name)
{
	char buf[64];

	for (size_t i = 0; i < nblocks; i++) {
		for (size_t row = 0; row < blocks[i].ndesc; row++) {
			const struct sysreg_desc *desc = &blocks[i].desc[row];

			for (unsigned n = 0; n < desc->count; n++) {
				row_name(desc, n, buf, sizeof(buf));
				if (!strcmp(buf, name))
					return desc->enc + n;
			}
		}
	}
	return -ENOENT;
}
