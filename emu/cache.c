/* SPDX-License-Identifier: MIT */
#include "emu/cache.h"

#include <errno.h>

enum {
	SMALLEST_LINE = 16,
	LARGEST_LINE = 2048
};

static bool is_power_of_two(unsigned n)
{
	return n && !(n & (n - 1));
}

int cache_init(struct cache *cache, const struct cache_config *config)
{
	if (!is_power_of_two(config->sets) || config->sets > CACHE_MAX_LINES ||
	    config->ways == 0 || config->ways > CACHE_MAX_WAYS ||
	    config->sets * config->ways > CACHE_MAX_LINES)
		return -EINVAL;
	if (!is_power_of_two(config->line) || config->line < SMALLEST_LINE ||
	    config->line > LARGEST_LINE)
		return -EINVAL;
	if (config->policy != CACHE_LRU && config->policy != CACHE_ROUND_ROBIN)
		return -EINVAL;
	cache->config = *config;
	cache->shift = 0;
	while (1u << cache->shift < config->line)
		cache->shift++;
	cache_reset(cache);
	return 0;
}

void cache_reset(struct cache *cache)
{
	cache_invalidate_all(cache);
	cache->writebacks = 0;
}

void cache_invalidate_all(struct cache *cache)
{
	const unsigned ways = cache->config.ways;
	const bool lru = cache->config.policy == CACHE_LRU;

	for (unsigned i = 0; i < cache->config.sets * ways; i++) {
		cache->tag[i] = CACHE_NO_LINE;
		cache->dirty[i] = 0;
		cache->age[i] = (uint8_t)(lru ? ways - 1 - i % ways : 0);
	}
}

/* -- one set -------------------------------------------------------------- */

static unsigned first_way(const struct cache *cache, uint64_t line)
{
	return (unsigned)(line & (cache->config.sets - 1)) * cache->config.ways;
}

/* The way that holds @line, as an offset into the set; ways when none does. */
static unsigned find(const struct cache *cache, unsigned set, uint64_t line)
{
	unsigned way = 0;

	while (way < cache->config.ways && cache->tag[set + way] != line)
		way++;
	return way;
}

static void make_newest(struct cache *cache, unsigned set, unsigned way)
{
	const uint8_t age = cache->age[set + way];

	for (unsigned i = set; i < set + cache->config.ways; i++)
		if (cache->age[i] < age)
			cache->age[i]++;
	cache->age[set + way] = 0;
}

static unsigned victim(struct cache *cache, unsigned set)
{
	const unsigned ways = cache->config.ways;
	unsigned way = find(cache, set, CACHE_NO_LINE);

	if (way < ways)
		return way;
	if (cache->config.policy == CACHE_ROUND_ROBIN) {
		way = cache->age[set];
		cache->age[set] = (uint8_t)((way + 1) % ways);
		return way;
	}
	way = 0;
	while (cache->age[set + way] != ways - 1)
		way++;
	return way;
}

static bool touch(struct cache *cache, uint64_t line, bool is_write)
{
	const unsigned set = first_way(cache, line);
	unsigned way = find(cache, set, line);
	const bool miss = way == cache->config.ways;

	if (miss) {
		way = victim(cache, set);
		cache->writebacks += cache->dirty[set + way];
		cache->tag[set + way] = line;
		cache->dirty[set + way] = 0;
	}
	if (is_write)
		cache->dirty[set + way] = 1;
	if (cache->config.policy == CACHE_LRU)
		make_newest(cache, set, way);
	return miss;
}

/* -- the outside ---------------------------------------------------------- */

unsigned cache_lines(const struct cache *cache, uint64_t pa, unsigned size)
{
	return (unsigned)(((pa + size - 1) >> cache->shift) - (pa >> cache->shift)) + 1;
}

unsigned cache_access(struct cache *cache, uint64_t pa, unsigned size, bool is_write)
{
	const uint64_t first = pa >> cache->shift;
	const unsigned lines = cache_lines(cache, pa, size);
	unsigned refills = 0;

	for (unsigned i = 0; i < lines; i++)
		refills += touch(cache, first + i, is_write);
	return refills;
}

void cache_clean(struct cache *cache, uint64_t pa)
{
	const uint64_t line = pa >> cache->shift;
	const unsigned set = first_way(cache, line);
	const unsigned way = find(cache, set, line);

	if (way == cache->config.ways)
		return;
	cache->writebacks += cache->dirty[set + way];
	cache->dirty[set + way] = 0;
}

void cache_invalidate(struct cache *cache, uint64_t pa)
{
	const uint64_t line = pa >> cache->shift;
	const unsigned set = first_way(cache, line);
	const unsigned way = find(cache, set, line);

	if (way == cache->config.ways)
		return;
	cache->tag[set + way] = CACHE_NO_LINE;
	cache->dirty[set + way] = 0;
}
