/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "emu/cache.h"

/* Two sets of two ways, lines of 16: lines 0, 2, 4, ... share set 0. */
static const struct cache_config tiny = {2, 2, 16, CACHE_LRU};

static struct cache cache;

static void init(unsigned sets, unsigned ways, unsigned line, enum cache_policy policy)
{
	const struct cache_config config = {sets, ways, line, policy};

	ck_assert_int_eq(cache_init(&cache, &config), 0);
}

static void setup(void)
{
	ck_assert_int_eq(cache_init(&cache, &tiny), 0);
}

static unsigned rd(uint64_t pa)
{
	return cache_access(&cache, pa, 1, false);
}

static unsigned wr(uint64_t pa)
{
	return cache_access(&cache, pa, 1, true);
}

START_TEST(lru_evicts_the_line_used_longest_ago)
{
	ck_assert_uint_eq(rd(0x00), 1); /* 0 */
	ck_assert_uint_eq(rd(0x0f), 0);
	ck_assert_uint_eq(rd(0x20), 1); /* 2 0 */
	ck_assert_uint_eq(rd(0x00), 0); /* 0 2 */
	ck_assert_uint_eq(rd(0x40), 1); /* 4 0, 2 went */
	ck_assert_uint_eq(rd(0x00), 0); /* 0 4 */
	ck_assert_uint_eq(rd(0x20), 1); /* 2 0, 4 went */
	ck_assert_uint_eq(rd(0x40), 1); /* 4 2, 0 went */
	ck_assert_uint_eq(rd(0x20), 0);
	ck_assert_uint_eq(rd(0x00), 1);
	ck_assert_uint_eq(rd(0x10), 1); /* the other set has been empty all along */
	ck_assert_uint_eq(rd(0x30), 1);
	ck_assert_uint_eq(rd(0x10), 0);
	ck_assert_uint_eq(rd(0x20), 0);
}
END_TEST

START_TEST(lru_orders_three_ways)
{
	init(1, 3, 64, CACHE_LRU);
	ck_assert_uint_eq(rd(0x000), 1); /* 0 */
	ck_assert_uint_eq(rd(0x040), 1); /* 1 0 */
	ck_assert_uint_eq(rd(0x080), 1); /* 2 1 0 */
	ck_assert_uint_eq(rd(0x040), 0); /* 1 2 0 */
	ck_assert_uint_eq(rd(0x0c0), 1); /* 3 1 2, 0 went */
	ck_assert_uint_eq(rd(0x080), 0); /* 2 3 1 */
	ck_assert_uint_eq(rd(0x000), 1); /* 0 2 3, 1 went */
	ck_assert_uint_eq(rd(0x0c0), 0);
	ck_assert_uint_eq(rd(0x080), 0);
	ck_assert_uint_eq(rd(0x040), 1);
}
END_TEST

START_TEST(round_robin_does_not_look_at_use)
{
	init(2, 2, 16, CACHE_ROUND_ROBIN);
	ck_assert_uint_eq(rd(0x00), 1); /* way 0: 0 */
	ck_assert_uint_eq(rd(0x20), 1); /* way 1: 2 */
	ck_assert_uint_eq(rd(0x00), 0);
	ck_assert_uint_eq(rd(0x40), 1); /* way 0: 4 */
	ck_assert_uint_eq(rd(0x20), 0);
	ck_assert_uint_eq(rd(0x00), 1); /* way 1: 0 */
	ck_assert_uint_eq(rd(0x40), 0);
	ck_assert_uint_eq(rd(0x20), 1); /* way 0: 2 */
	ck_assert_uint_eq(rd(0x00), 0);
}
END_TEST

START_TEST(access_over_a_lines_end_touches_both)
{
	ck_assert_uint_eq(cache_lines(&cache, 0x1c, 4), 1);
	ck_assert_uint_eq(cache_lines(&cache, 0x1c, 5), 2);
	ck_assert_uint_eq(cache_lines(&cache, 0x10, 64), 4);
	ck_assert_uint_eq(cache_lines(&cache, 0x11, 64), 5);
	ck_assert_uint_eq(cache_access(&cache, 0x1c, 8, false), 2);
	ck_assert_uint_eq(rd(0x10), 0);
	ck_assert_uint_eq(rd(0x20), 0);
	ck_assert_uint_eq(cache_access(&cache, 0x1c, 8, false), 0);
	ck_assert_uint_eq(cache_access(&cache, 0x2c, 8, false), 1); /* 0x30 is new */
	/* five lines through four places: 3 and 5 in set 1; 4, 6 in set 0 ... */
	ck_assert_uint_eq(cache_access(&cache, 0x101, 64, false), 5);
}
END_TEST

START_TEST(high_addresses_are_told_apart)
{
	ck_assert_uint_eq(rd(0x40000000), 1);
	ck_assert_uint_eq(rd(0x100040000000), 1);
	ck_assert_uint_eq(rd(0x40000000), 0);
	ck_assert_uint_eq(rd(0xfffffffffffffff0), 1);
	ck_assert_uint_eq(rd(0xffffffffffffffff), 0);
}
END_TEST

START_TEST(dirty_lines_are_written_back_once)
{
	wr(0x00);
	wr(0x04);
	rd(0x20);
	ck_assert_uint_eq(cache.writebacks, 0);
	rd(0x40); /* 0 goes, dirty */
	ck_assert_uint_eq(cache.writebacks, 1);
	rd(0x00); /* 2 goes, clean */
	rd(0x20); /* 4 goes, clean */
	rd(0x40); /* 0 goes, clean now */
	ck_assert_uint_eq(cache.writebacks, 1);
}
END_TEST

START_TEST(read_after_write_leaves_the_line_dirty)
{
	wr(0x00);
	rd(0x00);
	rd(0x20);
	rd(0x40);
	ck_assert_uint_eq(cache.writebacks, 1);
}
END_TEST

START_TEST(clean_writes_back_and_keeps_the_line)
{
	wr(0x08);
	cache_clean(&cache, 0x00);
	ck_assert_uint_eq(cache.writebacks, 1);
	cache_clean(&cache, 0x0f);
	cache_clean(&cache, 0x40); /* not there */
	ck_assert_uint_eq(cache.writebacks, 1);
	ck_assert_uint_eq(rd(0x00), 0);
}
END_TEST

START_TEST(invalidate_drops_one_line_without_writing_back)
{
	wr(0x00);
	cache_invalidate(&cache, 0x0c);
	cache_invalidate(&cache, 0x40); /* not there */
	ck_assert_uint_eq(rd(0x00), 1);
	rd(0x20);
	rd(0x40); /* 0 goes: its dirt went with the line */
	ck_assert_uint_eq(cache.writebacks, 0);
}
END_TEST

static void check_free_way_is_filled_first(void)
{
	ck_assert_uint_eq(rd(0x00) + rd(0x20), 2);
	cache_invalidate(&cache, 0x20); /* the newest */
	ck_assert_uint_eq(rd(0x40), 1);
	ck_assert_uint_eq(rd(0x00), 0);
	ck_assert_uint_eq(rd(0x40), 0);
}

START_TEST(free_way_is_filled_before_a_line_goes)
{
	check_free_way_is_filled_first();
	init(2, 2, 16, CACHE_ROUND_ROBIN);
	check_free_way_is_filled_first();
}
END_TEST

START_TEST(invalidate_all_empties_every_set)
{
	wr(0x00);
	rd(0x20);
	rd(0x10);
	cache_invalidate_all(&cache);
	ck_assert_uint_eq(rd(0x00) + rd(0x20) + rd(0x10), 3);
	ck_assert_uint_eq(rd(0x40), 1);
	ck_assert_uint_eq(cache.writebacks, 0);
}
END_TEST

START_TEST(stream_of_a_cortex_a57s_size_fills_it_once)
{
	unsigned refills = 0;

	init(256, 2, 64, CACHE_LRU); /* 32 KiB */
	for (int pass = 0; pass < 3; pass++)
		for (uint64_t pa = 0x40000000; pa < 0x40008000; pa += 8)
			refills += cache_access(&cache, pa, 8, false);
	ck_assert_uint_eq(refills, 512);
	/* one line more, and LRU misses in that line's set each time */
	for (int pass = 0; pass < 3; pass++)
		for (uint64_t pa = 0x40000000; pa < 0x40008040; pa += 64)
			refills += cache_access(&cache, pa, 8, false);
	ck_assert_uint_eq(refills, 512 + 1 + 3 + 3);
}
END_TEST

START_TEST(config_that_makes_no_cache_is_refused)
{
	/* clang-format off */
	static const struct cache_config bad[] = {
		{0, 2, 16, CACHE_LRU},	{3, 2, 16, CACHE_LRU},	 {2, 0, 16, CACHE_LRU},
		{2, 17, 16, CACHE_LRU}, {1024, 3, 64, CACHE_LRU}, {4096, 1, 64, CACHE_LRU},
		{2, 2, 8, CACHE_LRU},	{2, 2, 48, CACHE_LRU},	 {2, 2, 4096, CACHE_LRU},
		{2, 2, 0, CACHE_LRU},	{2, 2, 16, (enum cache_policy)2},
		{0x80000000, 2, 16, CACHE_LRU},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(cache_init(&cache, &bad[i]) == -EINVAL, "config %zu", i);
	init(2048, 1, 2048, CACHE_ROUND_ROBIN);
	init(128, 16, 16, CACHE_LRU);
}
END_TEST

static Suite *cache_suite(void)
{
	Suite *s = suite_create("cache");
	TCase *tc = tcase_create("cache");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, lru_evicts_the_line_used_longest_ago);
	tcase_add_test(tc, lru_orders_three_ways);
	tcase_add_test(tc, round_robin_does_not_look_at_use);
	tcase_add_test(tc, access_over_a_lines_end_touches_both);
	tcase_add_test(tc, high_addresses_are_told_apart);
	tcase_add_test(tc, dirty_lines_are_written_back_once);
	tcase_add_test(tc, read_after_write_leaves_the_line_dirty);
	tcase_add_test(tc, clean_writes_back_and_keeps_the_line);
	tcase_add_test(tc, invalidate_drops_one_line_without_writing_back);
	tcase_add_test(tc, free_way_is_filled_before_a_line_goes);
	tcase_add_test(tc, invalidate_all_empties_every_set);
	tcase_add_test(tc, stream_of_a_cortex_a57s_size_fills_it_once);
	tcase_add_test(tc, config_that_makes_no_cache_is_refused);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(cache_suite());

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
