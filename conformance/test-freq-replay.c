/* SPDX-License-Identifier: MIT */
/*
 * The frequency filter against real kernels, to the last digit. corpus/probes holds
 * what kprobes saw of one event on Debian's 6.1 and 6.12, each call in order:
 *
 *     adjust  perf_adjust_period(): its arguments, and period and period_left as
 *             they were before it
 *     set     armpmu_event_set_period(): period and period_left before it
 *
 * Times and counts are inputs; every period, and what is left of it where no
 * counter has moved in between, has to come out.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"

static const char *const folders[] = {"linux-6.1", "linux-6.12", "linux-6.1-pmulab",
				      "linux-6.12-pmulab"};
enum {
	FOLDERS = sizeof(folders) / sizeof(folders[0])
};

struct replay {
	struct perf_hw hw;
	bool left_known; /* nothing has counted since hw.period_left was true */
	unsigned line, sets, overflows, ticks, restarts;
};

/* Linux armpmu_event_set_period(), its bookkeeping alone. */
static void set(struct replay *r, uint64_t period, int64_t left)
{
	ck_assert_msg(period == r->hw.sample_period, "line %u: period %" PRIu64, r->line,
		      r->hw.sample_period);
	if (r->left_known)
		ck_assert_msg(left == r->hw.period_left, "line %u: left %" PRId64,
			      r->line, r->hw.period_left);
	r->left_known = false;
	r->hw.period_left = left;
	if (left <= -(int64_t)period)
		r->hw.period_left = 0;
	if (left <= 0) {
		r->hw.period_left += (int64_t)period;
		r->hw.last_period = period;
	}
	r->sets++;
}

struct adjust {
	uint64_t nsec, count, freq, period;
	int64_t left;
	unsigned running;
};

static void adjust(struct replay *r, const struct adjust *a)
{
	ck_assert_msg(a->period == r->hw.sample_period, "line %u: period %" PRIu64,
		      r->line, r->hw.sample_period);
	if (a->running) {
		/* in the overflow: the interval just programmed, all of it left */
		ck_assert_uint_eq(a->count, r->hw.last_period);
		ck_assert_int_eq(a->left, r->hw.period_left);
		r->overflows++;
	} else {
		ck_assert_uint_eq(a->nsec, 1000000000 / KSYS_HZ);
		r->hw.period_left = a->left;
		r->ticks++;
	}
	if (perf_freq_step(&r->hw, a->freq, a->nsec, a->count)) {
		r->hw.period_left = 0;
		r->restarts++;
	}
	r->left_known = !a->running;
}

static void replay_line(struct replay *r, const char *line)
{
	struct adjust a;
	uint64_t period;
	int64_t left;

	r->line++;
	if (!strncmp(line, "write ", 6)) /* the same as the `set` before it */
		return;
	if (sscanf(line, "set period=%" SCNu64 " left=%" SCNd64, &period, &left) == 2) {
		set(r, period, left);
		return;
	}
	ck_assert_msg(
		sscanf(line,
		       "adjust nsec=%" SCNu64 " count=%" SCNu64
		       " running=%u freq=%" SCNu64 " period=%" SCNu64 " left=%" SCNd64,
		       &a.nsec, &a.count, &a.running, &a.freq, &a.period, &a.left) == 6,
		"line %u: %s", r->line, line);
	adjust(r, &a);
}

static struct replay replay(const char *folder, const char *scenario)
{
	struct replay r = {.hw = {.sample_period = 1, .last_period = 1}};
	char path[512], line[512];
	bool body = false;
	FILE *file;

	snprintf(path, sizeof(path), PMULAB_PROBES "/%s/%s.probe", folder, scenario);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		if (body)
			replay_line(&r, line);
		else
			body = !strcmp(line, "---\n");
	}
	fclose(file);
	ck_assert_uint_gt(r.sets, 0);
	return r;
}

START_TEST(replay_1000_a_second)
{
	struct replay r = replay(folders[_i], "freq-1000");

	ck_assert_uint_ge(r.overflows, 30);
	ck_assert_uint_ge(r.ticks, 8);
	ck_assert_uint_eq(r.restarts, 0);
	/* from 1 it has come near a million: an instruction takes a ns */
	ck_assert_uint_ge(r.hw.sample_period, 700000);
	ck_assert_uint_le(r.hw.sample_period, 1400000);
}
END_TEST

START_TEST(replay_20000_a_second)
{
	struct replay r = replay(folders[_i], "freq-20000");

	ck_assert_uint_ge(r.overflows, 350);
	ck_assert_uint_eq(r.restarts, 0);
	ck_assert_uint_ge(r.hw.sample_period, 40000);
	ck_assert_uint_le(r.hw.sample_period, 60000);
}
END_TEST

START_TEST(replay_100000_a_second)
{
	struct replay r = replay(folders[_i], "freq-100000");

	ck_assert_uint_ge(r.overflows, 800);
	ck_assert_uint_eq(r.restarts, 0);
}
END_TEST

/* B13: what is left of a period of a second is given up by the tick. */
START_TEST(replay_a_new_frequency)
{
	struct replay r = replay(folders[_i], "freq-retune");

	ck_assert_uint_ge(r.ticks, 30);
	ck_assert_uint_ge(r.restarts, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("freq-replay");
	TCase *tcase = tcase_create("freq-replay");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, replay_1000_a_second, 0, FOLDERS);
	tcase_add_loop_test(tcase, replay_20000_a_second, 0, FOLDERS);
	tcase_add_loop_test(tcase, replay_100000_a_second, 0, FOLDERS);
	tcase_add_loop_test(tcase, replay_a_new_frequency, 0, FOLDERS);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
