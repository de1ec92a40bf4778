/* SPDX-License-Identifier: MIT */
/*
 * `expect probe` against real kernels: what a scenario expects of each function, and
 * with each value, over all its steps is what kprobes counted in the recordings of
 * corpus/probes. Of which step a hit was they do not say; the emulated machine does.
 */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/scenario.h"

/* Of the corpus that say something about a whole run. */
enum { EXPECTATIONS = 16 };

static const char *const folders[] = {"linux-6.1", "linux-6.12", "linux-6.1-pmulab",
				      "linux-6.12-pmulab"};

/* What linux-SERIES.kprobes calls them. */
static const struct {
	const char *function, *probe;
} names[] = {
	{"armv8pmu_write_counter", "write"},
	{"armpmu_event_set_period", "set"},
	{"perf_adjust_period", "adjust"},
};

static const char *probe_name(const char *function)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].function, function))
			return names[i].probe;
	ck_abort_msg("no kprobe on %s", function);
	return NULL;
}

static bool same(const struct scn_expect *a, const struct scn_expect *b)
{
	if (!b->probe || strcmp(a->kind, b->kind) || a->nargs != b->nargs)
		return false;
	for (unsigned i = 0; i < a->nargs; i++)
		if (strcmp(a->args[i].name, b->args[i].name) ||
		    a->args[i].value != b->args[i].value)
			return false;
	return true;
}

static bool line_has(const char *line, const struct scn_arg *arg)
{
	char want[80];
	const char *at;
	size_t n = (size_t)snprintf(want, sizeof(want), " %s=%" PRIu64, arg->name, arg->value);

	at = strstr(line, want);
	return at && (at[n] == ' ' || at[n] == '\n');
}

static bool matches(const char *line, const struct scn_expect *expect)
{
	const char *name = probe_name(expect->kind);
	size_t n = strlen(name);

	if (strncmp(line, name, n) || (line[n] != ' ' && line[n] != '\n'))
		return false;
	for (unsigned i = 0; i < expect->nargs; i++)
		if (!line_has(line, &expect->args[i]))
			return false;
	return true;
}

static uint64_t hits(const char *folder, const char *scenario, const struct scn_expect *expect)
{
	char path[512], line[512];
	bool body = false;
	uint64_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), PMULAB_PROBES "/%s/%s.probe", folder, scenario);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s: not recorded", path);
	while (fgets(line, sizeof(line), file)) {
		n += body && matches(line, expect);
		body |= !strcmp(line, "---\n");
	}
	fclose(file);
	return n;
}

/* Was there something to compare? */
static bool check(const struct scn *scn, unsigned nth, const char *folder)
{
	const struct scn_expect *expect = &scn->expects[nth];
	uint64_t times = 0, seen = hits(folder, scn->name, expect);

	/* "nothing is written during this step" says nothing of the others */
	if (!expect->times && !expect->nargs && strcmp(expect->kind, "perf_adjust_period"))
		return false;
	for (unsigned i = 0; i < scn->nexpects; i++)
		if (same(expect, &scn->expects[i]))
			times += scn->expects[i].times;
	ck_assert_msg(seen == times, "%s of %s: %s: seen %" PRIu64 ", expected %" PRIu64, scn->name,
		      folder, expect->words, seen, times);
	return true;
}

START_TEST(expected_probes_were_hit_on_linux)
{
	DIR *dir = opendir(PMULAB_SCENARIOS);
	unsigned checked = 0;
	struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		char path[512], err[512];
		struct scn *scn;

		if (!strstr(entry->d_name, ".scn"))
			continue;
		snprintf(path, sizeof(path), PMULAB_SCENARIOS "/%.255s", entry->d_name);
		scn = scn_load(path, err, sizeof(err));
		ck_assert_msg(scn != NULL, "%s", err);
		for (unsigned i = 0; i < scn->nexpects; i++) {
			if (scn->expects[i].probe)
				checked += check(scn, i, folders[_i]);
		}
		scn_free(scn);
	}
	closedir(dir);
	ck_assert_uint_eq(checked, EXPECTATIONS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probes");
	TCase *tcase = tcase_create("probes");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, expected_probes_were_hit_on_linux, 0, 4);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
