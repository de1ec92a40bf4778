/* SPDX-License-Identifier: MIT */
/*
 * What tools/bench prints. Each ratio is the median of the rounds' own: what ran
 * side by side is compared.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench.h"

static const double target_ratio = 0.7, target_six = 1.15, target_31 = 1.5,
		    target_overflow_us = 3;

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

typedef double (*figure_fn)(const struct bench_measure *round, unsigned a, unsigned b);

/* The median over the rounds of @figure; @round is a row of one workload. */
static double median(const struct bench_results *r, unsigned w, figure_fn figure,
		     unsigned a, unsigned b)
{
	double values[BENCH_MAX_ROUNDS];
	unsigned n = r->rounds;

	for (unsigned i = 0; i < n; i++)
		values[i] = figure(r->all[i][w], a, b);
	qsort(values, n, sizeof(values[0]), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double figure_mips(const struct bench_measure *round, unsigned a, unsigned b)
{
	(void)b;
	return (double)round[a].insns / round[a].seconds / 1e6;
}

static double figure_ratio(const struct bench_measure *round, unsigned a, unsigned b)
{
	return figure_mips(round, a, 0) / figure_mips(round, b, 0);
}

static double mips(const struct bench_results *r, unsigned w, unsigned c)
{
	return median(r, w, figure_mips, c, 0);
}

static double ratio(const struct bench_results *r, unsigned w, unsigned c)
{
	return median(r, w, figure_ratio, c, RAW);
}

/* Times as long as @b. */
static double times(const struct bench_results *r, unsigned w, unsigned a, unsigned b)
{
	return median(r, w, figure_ratio, b, a);
}

static double figure_overflow(const struct bench_measure *round, unsigned a, unsigned b)
{
	return (round[a].seconds - round[b].seconds) * 1e6 /
	       (double)(round[a].overflows - round[b].overflows);
}

/* Host time of one overflow: both did the same work, one with more of them. */
static double overflow_us(const struct bench_results *r, unsigned w)
{
	return median(r, w, figure_overflow, BLOCK_10000, BLOCK_100000);
}

struct verdict {
	bool measured, met;
	char figures[96];
};

static void add_figure(struct verdict *v, double figure, bool met)
{
	const size_t at = strlen(v->figures);

	v->measured = true;
	v->met &= met;
	snprintf(v->figures + at, sizeof(v->figures) - at, "%s%.2f", at ? ", " : "",
		 figure);
}

static struct verdict judge_ratio(const struct bench_results *r)
{
	struct verdict v = {.met = true};

	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (r->wanted[w])
			add_figure(&v, ratio(r, w, BLOCK_100000),
				   ratio(r, w, BLOCK_100000) >= target_ratio);
	return v;
}

/* Of both kinds of events. */
static struct verdict judge_armed(const struct bench_results *r, unsigned more,
				  double most)
{
	struct verdict v = {.met = true};

	for (unsigned w = 0; w < NWORKLOADS; w++)
		for (unsigned one = SAME_1; r->wanted[w] && one <= KINDS_1; one += 3) {
			const double cost = times(r, w, one + more, one);

			add_figure(&v, cost, cost <= most);
		}
	return v;
}

static struct verdict judge_overflow(const struct bench_results *r)
{
	struct verdict v = {.met = true};

	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (r->wanted[w])
			add_figure(&v, overflow_us(r, w),
				   overflow_us(r, w) <= target_overflow_us);
	return v;
}

enum {
	SPEED,
	SIX,
	THIRTY_ONE,
	OVERFLOW,
	VERDICTS
};

static void judge(const struct bench_results *r, struct verdict v[VERDICTS])
{
	v[SPEED] = judge_ratio(r);
	v[SIX] = judge_armed(r, 1, target_six);
	v[THIRTY_ONE] = judge_armed(r, 2, target_31);
	v[OVERFLOW] = judge_overflow(r);
}

/* -- report ---------------------------------------------------------------- */

static void host_name(char *text, size_t size)
{
	FILE *in = fopen("/proc/cpuinfo", "r");
	char line[256], *colon;

	snprintf(text, size, "unknown");
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon || !colon[1])
			continue;
		snprintf(text, size, "%s", colon + 2);
		break;
	}
	if (in)
		fclose(in);
}

static void print_speed(const struct bench_results *r)
{
	printf("Million instructions a second:\n\n%-8s", "");
	for (unsigned c = 0; c < NSPEEDS; c++)
		printf(" %12s", bench_configs[c].name);
	printf(" %14s\n", "us an overflow");
	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!r->wanted[w])
			continue;
		printf("%-8s", bench_workloads[w].name);
		for (unsigned c = 0; c < NSPEEDS; c++)
			printf(" %12.0f", mips(r, w, c));
		printf(" %14.2f\n", overflow_us(r, w));
	}
}

static void print_ratios(const struct bench_results *r)
{
	printf("\nOf raw:\n\n%-8s %12s", "", "");
	for (unsigned c = RAW + 1; c < NSPEEDS; c++)
		printf(" %12s", bench_configs[c].name);
	putchar('\n');
	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!r->wanted[w])
			continue;
		printf("%-8s %12s", bench_workloads[w].name, "");
		for (unsigned c = RAW + 1; c < NSPEEDS; c++)
			printf(" %12.2f", ratio(r, w, c));
		putchar('\n');
	}
}

static void print_armed(const struct bench_results *r)
{
	printf("\nArmed event counters: million instructions a second with 1, and how "
	       "much longer\n6 and 31 take:\n\n%-8s",
	       "");
	for (unsigned c = SAME_1; c < NCONFIGS; c++)
		printf(" %12s", bench_configs[c].name);
	putchar('\n');
	for (unsigned w = 0; w < NWORKLOADS; w++) {
		if (!r->wanted[w])
			continue;
		printf("%-8s", bench_workloads[w].name);
		for (unsigned c = SAME_1; c < NCONFIGS; c++) {
			const unsigned one = c < KINDS_1 ? SAME_1 : KINDS_1;

			if (c == one)
				printf(" %12.0f", mips(r, w, c));
			else
				printf(" %12.2f", times(r, w, c, one));
		}
		putchar('\n');
	}
}

static void print_verdict(const char *what, const struct verdict *v)
{
	printf("%s: %s (%s)\n", what, v->met ? "met" : "missed", v->figures);
}

void bench_print(const struct bench_results *r)
{
	struct verdict v[VERDICTS];
	char version[16], host[128];

	judge(r, v);
	bench_raw_version(version, sizeof(version));
	host_name(host, sizeof(host));
	printf("%u fresh processes of each, in turn; medians of their CPU time.\n"
	       "Unicorn %s on %s, CPU %u\n\n",
	       r->rounds, version, host, r->cpu);
	for (unsigned c = 0; c < NCONFIGS; c++)
		printf("  %-13s %s\n", bench_configs[c].name, bench_configs[c].what);
	printf("\nTimed: bare, the call of the workload; else from the SVC of ENABLE to "
	       "that of\n"
	       "DISABLE. us an overflow: what block@10000 took longer than block@100000, "
	       "for each\n"
	       "overflow that it had more.\n\n");
	print_speed(r);
	print_ratios(r);
	print_armed(r);
	putchar('\n');
	print_verdict("block at period 100000 >= 0.7 of raw", &v[SPEED]);
	print_verdict("6 armed counters <= 1.15 of one", &v[SIX]);
	print_verdict("31 armed counters <= 1.5 of one", &v[THIRTY_ONE]);
	print_verdict("overflow with its handler <= 3 us", &v[OVERFLOW]);
}

static json_t *json_workload(const struct bench_results *r, unsigned w)
{
	json_t *speeds = json_object();

	for (unsigned c = 0; c < NCONFIGS; c++) {
		json_t *all = json_array();

		for (unsigned i = 0; i < r->rounds; i++)
			json_array_append_new(all, json_real(r->all[i][w][c].seconds));
		json_object_set_new(
			speeds, bench_configs[c].name,
			json_pack("{s:f, s:f, s:I, s:I, s:o}", "mips", mips(r, w, c),
				  "of_raw", ratio(r, w, c), "insns",
				  (json_int_t)r->all[0][w][c].insns, "overflows",
				  (json_int_t)r->all[0][w][c].overflows, "seconds", all));
	}
	return json_pack("{s:f, s:o}", "overflow_us", overflow_us(r, w), "configs",
			 speeds);
}

int bench_print_json(const struct bench_results *r)
{
	json_t *all = json_object(), *root;
	struct verdict v[VERDICTS];
	char version[16], host[128];
	int rc;

	judge(r, v);
	bench_raw_version(version, sizeof(version));
	host_name(host, sizeof(host));
	for (unsigned w = 0; w < NWORKLOADS; w++)
		if (r->wanted[w])
			json_object_set_new(all, bench_workloads[w].name,
					    json_workload(r, w));
	root = json_pack("{s:s, s:s, s:i, s:i, s:o, s:{s:b, s:b, s:b, s:b}}", "unicorn",
			 version, "host", host, "cpu", (int)r->cpu, "rounds",
			 (int)r->rounds, "workloads", all, "met", "block_of_raw",
			 v[SPEED].met, "armed_6", v[SIX].met, "armed_31",
			 v[THIRTY_ONE].met, "overflow", v[OVERFLOW].met);
	rc = json_dumpf(root, stdout,
			JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(root);
	return rc;
}
