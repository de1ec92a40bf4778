/* SPDX-License-Identifier: MIT */
#include "emu/sysreg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

struct sysreg_hit sysreg_find(const struct sysreg_block *blocks, size_t nblocks,
			      uint32_t enc)
{
	for (size_t i = 0; i < nblocks; i++) {
		const struct sysreg_desc *desc = find_row(&blocks[i], enc);

		if (desc)
			return (struct sysreg_hit){ desc, blocks[i].dev, enc - desc->enc };
	}
	return (struct sysreg_hit){ 0 };
}

int sysreg_map_init(struct sysreg_map *map, const struct sysreg_block *blocks,
		    size_t nblocks)
{
	unsigned n = 0;

	memset(map->at, 0, sizeof(map->at));
	for (size_t i = 0; i < nblocks; i++)
		for (size_t row = 0; row < blocks[i].ndesc; row++) {
			const struct sysreg_desc *desc = &blocks[i].desc[row];

			if (n == SYSREG_MAP_ROWS)
				return -ENOSPC;
			map->block[n] = (uint8_t)i;
			map->row[n++] = desc;
			for (uint32_t enc = desc->enc; enc < desc->enc + desc->count; enc++)
				if (!map->at[enc % SYSREG_MAP_ENCS]) /* the first has it */
					map->at[enc % SYSREG_MAP_ENCS] = (uint8_t)n;
		}
	return 0;
}

struct sysreg_hit sysreg_map_find(const struct sysreg_map *map,
				  const struct sysreg_block *blocks, uint32_t enc)
{
	const unsigned n = enc >> 15 == 1 ? map->at[enc % SYSREG_MAP_ENCS] : 0;

	if (!n)
		return (struct sysreg_hit){ 0 };
	return (struct sysreg_hit){ map->row[n - 1], blocks[map->block[n - 1]].dev,
				    enc - map->row[n - 1]->enc };
}

/* UNDEFINED comes before any trap (Arm ARM, "Prioritization of synchronous
 * exceptions"): a register that is not there cannot be trapped. */
enum sysreg_result sysreg_may(const struct sysreg_hit *hit, unsigned el, int is_write)
{
	const struct sysreg_desc *desc = hit->desc;

	if (!desc || el < desc->el)
		return SYSREG_UNDEF;
	if (desc->kind == (is_write ? SYSREG_RO : SYSREG_WO))
		return SYSREG_UNDEF;
	if (desc->present && !desc->present(hit->dev, hit->index))
		return SYSREG_UNDEF;
	if (el == 0 && desc->el0)
		return desc->el0(hit->dev, hit->index, is_write);
	return SYSREG_OK;
}

static uint64_t *field(const struct sysreg_hit *hit)
{
	char *base = (char *)hit->dev + hit->desc->offset;

	return (uint64_t *)(void *)base + hit->index;
}

static void plain_write(const struct sysreg_hit *hit, uint64_t value)
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

uint64_t sysreg_get(const struct sysreg_hit *hit)
{
	return hit->desc->read ? hit->desc->read(hit->dev, hit->index) : *field(hit);
}

void sysreg_set(const struct sysreg_hit *hit, unsigned el, uint64_t value)
{
	value &= hit->desc->writable;
	if (hit->desc->write_at)
		hit->desc->write_at(hit->dev, hit->index, value, el);
	else if (hit->desc->write)
		hit->desc->write(hit->dev, hit->index, value);
	else
		plain_write(hit, value);
}

enum sysreg_result sysreg_read(const struct sysreg_block *blocks, size_t nblocks,
			       uint32_t enc, unsigned el, uint64_t *value)
{
	const struct sysreg_hit hit = sysreg_find(blocks, nblocks, enc);
	const enum sysreg_result result = sysreg_may(&hit, el, 0);

	if (result == SYSREG_OK)
		*value = sysreg_get(&hit);
	return result;
}

enum sysreg_result sysreg_write(const struct sysreg_block *blocks, size_t nblocks,
				uint32_t enc, unsigned el, uint64_t value)
{
	const struct sysreg_hit hit = sysreg_find(blocks, nblocks, enc);
	const enum sysreg_result result = sysreg_may(&hit, el, 1);

	if (result == SYSREG_OK)
		sysreg_set(&hit, el, value);
	return result;
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
	const struct sysreg_hit hit = sysreg_find(blocks, nblocks, enc);

	if (hit.desc)
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
