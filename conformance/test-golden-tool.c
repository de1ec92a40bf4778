/* SPDX-License-Identifier: MIT */
/*
 * The recorder's refusals, on recorded boots: conformance/recorded holds three
 * boots of one small scenario that make a golden. Each test changes one thing
 * in them and asks for one line and no file.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/console.h"
#include "tools/golden-merge.h"

#define BOOTS 3
#define RECORDED PMULAB_RECORDED_PATH

static char folder[64], out[96];
static char *consoles[BOOTS + 1];
static char err[2048];
static const char *previous;

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *text = calloc(1, 65536);

	ck_assert_msg(in && text, "%s is missing", path);
	ck_assert_uint_lt(fread(text, 1, 65535, in), 65535);
	fclose(in);
	return text;
}

static void spill(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static void setup(void)
{
	char path[512], *headers;

	strcpy(folder, "/tmp/test-golden-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(out, sizeof(out), "%s/out/linux-6.1", folder);
	headers = slurp(RECORDED "/headers");
	snprintf(path, sizeof(path), "%s/headers", folder);
	spill(path, headers);
	free(headers);
	for (int i = 0; i < BOOTS; i++) {
		snprintf(path, sizeof(path), RECORDED "/boot-%d/console.txt", i + 1);
		consoles[i] = slurp(path);
	}
}

static void teardown(void)
{
	char command[96];

	for (int i = 0; i <= BOOTS; i++) {
		free(consoles[i]);
		consoles[i] = NULL;
	}
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* The first @from at or behind @at in @text becomes @to; frees @text. */
static char *replace(char *text, const char *at, const char *from, const char *to)
{
	char *changed = calloc(1, strlen(text) + strlen(to) + 1);

	at = at ? strstr(at, from) : NULL;
	ck_assert_msg(at && changed, "nowhere: %s", from);
	memcpy(changed, text, (size_t)(at - text));
	strcat(strcat(changed, to), at + strlen(from));
	free(text);
	return changed;
}

/* The first @from behind @mark becomes @to, in boot @boot or in all (-1). */
static void change(int boot, const char *mark, const char *from, const char *to)
{
	for (int i = 0; i < BOOTS; i++)
		if (boot < 0 || boot == i)
			consoles[i] =
				replace(consoles[i], strstr(consoles[i], mark), from, to);
}

/* What the scenario's part of a boot is replaced by: that of another boot. */
static void copy_part(int to, int from, const char *mark)
{
	char part[8192], old[8192], *at, *end;

	for (int i = 0; i < 2; i++) {
		char *into = i ? old : part;

		at = strstr(consoles[i ? to : from], mark);
		ck_assert_ptr_nonnull(at);
		end = strstr(at, "@exit");
		ck_assert_ptr_nonnull(end);
		ck_assert_int_lt(end - at, (long)sizeof(part));
		memcpy(into, at, (size_t)(end - at));
		into[end - at] = '\0';
	}
	change(to, old, old, part);
}

static int merge_scenarios(const char *kernel, const char *agent,
			   const char *const names[], size_t n)
{
	struct golden_options options = {
		.kernel = kernel,
		.agent = agent,
		.boots = folder,
		.out = out,
		.previous = previous,
	};
	struct scn *scns[2] = {NULL};
	char path[512];
	int ret;

	for (size_t i = 0; i < n; i++) {
		scns[i] = scn_load(RECORDED "/recorded.scn", err, sizeof(err));
		ck_assert_msg(scns[i] != NULL, "%s", err);
		strcpy(scns[i]->name, names[i]);
	}
	for (int i = 0; consoles[i]; i++) {
		snprintf(path, sizeof(path), "%s/boot-%d", folder, i + 1);
		mkdir(path, 0777);
		strcat(path, "/console.txt");
		spill(path, consoles[i]);
	}
	err[0] = '\0';
	ret = golden_merge(&options, scns, n, err, sizeof(err));
	while (n)
		scn_free(scns[--n]);
	return ret;
}

static int merge_named(const char *kernel, const char *agent)
{
	static const char *const name[] = {"recorded"};

	return merge_scenarios(kernel, agent, name, 1);
}

static int merge(void)
{
	return merge_named("linux-6.1", PMULAB_AGENT_PATH);
}

/* One line that says @what, and nothing written. */
static void left(int status, int expected, const char *what)
{
	ck_assert_msg(status == expected, "status %d, not %d: %s", status, expected, err);
	ck_assert_msg(strstr(err, what) != NULL, "no \"%s\" in: %s", what, err);
	ck_assert_ptr_null(strchr(err, '\n'));
	ck_assert_int_ne(access(out, F_OK), 0);
}

START_TEST(golden_good_recording_is_written)
{
	char path[512], *text;

	ck_assert_msg(merge() == 0, "%s", err);
	snprintf(path, sizeof(path), "%s/recorded.golden", out);
	text = slurp(path);
	ck_assert_ptr_nonnull(strstr(text, "pmulab-golden v1\n"));
	ck_assert_ptr_nonnull(strstr(text, "kernel: 6.1."));
	ck_assert_ptr_nonnull(strstr(text, "boots: 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "predicted: step 6 c=100058"));
	ck_assert_ptr_nonnull(strstr(text, "step 7 records c -> 10\n"));
	ck_assert_ptr_nonnull(strstr(text, "sample misc=user size=32 ip=load+0x20"));
	free(text);
	strcat(path, ".tmp");
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* Of a previous golden only the body may survive, and only one that holds. */
START_TEST(golden_previous_body_is_kept_when_it_holds_as_much)
{
	static const struct {
		const char *from, *to;
		const char *header, *header_to; /* that must go with it */
		bool kept;
	} changes[] = {
		/* without its seal, and with the one it no longer fits */
		{"enabled=100026..", "enabled=50000..", "body: ", "unsealed: ", true},
		{"enabled=100026..", "enabled=50000..", "boots", "boots", false},
		{"enabled=100026..", "enabled=9000000..", "boots", "boots", false},
		{"value=100058", "value=100059", "boots", "boots", false},
		{"value=100058", "value=*", "compared=58 wildcarded=1",
		 "compared=57 wildcarded=2", false},
		{"da860100 00000000 ........", "da860100 ........ ........",
		 "compared=248 masked=88", "compared=244 masked=92", false},
	};
	char path[512], *text;

	previous = out;
	snprintf(path, sizeof(path), "%s/recorded.golden", out);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		ck_assert_msg(merge() == 0, "%s", err);
		text = slurp(path);
		text = replace(text, text, changes[i].header, changes[i].header_to);
		text = replace(text, text, changes[i].from, changes[i].to);
		spill(path, text);
		free(text);
		ck_assert_msg(merge() == 0, "%s", err);
		text = slurp(path);
		ck_assert_msg((strstr(text, changes[i].to) != NULL) == changes[i].kept,
			      "%s: %s", changes[i].to, text);
		free(text);
		unlink(path);
	}
	previous = NULL;
}
END_TEST

START_TEST(golden_carriage_returns_and_kernel_lines_are_skipped)
{
	change(-1, "@kernel", "@kernel", "[    0.1] a line of the kernel\r\n@kernel");
	change(-1, "@done", "@done 2\n", "@done 2\r\n[    2.4] reboot: Power down\r\n");
	change(-1, "@scenario recorded", "r 1 3\n", "r 1 3\r\n");
	ck_assert_msg(merge() == 0, "%s", err);
}
END_TEST

/* One sample becomes a THROTTLE of the same size. */
START_TEST(golden_throttle_is_refused)
{
	change(-1, "@scenario recorded", "1027000000000000090000000200",
	       "1027000000000000050000000200");
	left(merge(), 1, "throttle");
}
END_TEST

/* One record is taken out of the ring's bytes; lengths and marks are right. */
START_TEST(golden_missing_sample_is_refused)
{
	for (int i = 0; i < BOOTS; i++) {
		char line[128];
		char *at = strstr(consoles[i], "l 10270000000000000900");

		memcpy(line, at, 67);
		line[67] = '\0';
		change(i, line, line, "");
	}
	change(-1, "@scenario recorded", "l 4001", "l 2001");
	change(-1, "@scenario recorded", "r 9 140", "r 9 120");
	change(-1, "@scenario recorded", "@end 1b", "@end 1a");
	left(merge(), 1, "do not account");
}
END_TEST

START_TEST(golden_still_canary_is_refused)
{
	copy_part(1, 0, "@scenario canary");
	ck_assert_msg(merge() == 0, "two of three boots moved: %s", err);
	teardown();
	setup();
	copy_part(1, 0, "@scenario canary");
	copy_part(2, 0, "@scenario canary");
	left(merge(), 1, "stood still");
}
END_TEST

START_TEST(golden_count_that_is_not_the_works_is_refused)
{
	change(-1, "@scenario recorded", "da86010000000000", "db86010000000000");
	left(merge(), 1, "100059");
}
END_TEST

/* An IP that moves in one boot only. */
START_TEST(golden_boots_that_disagree_are_refused)
{
	change(1, "@scenario recorded", "6000420000000000", "6400420000000000");
	left(merge(), 1, "ip");
}
END_TEST

START_TEST(golden_failed_agent_is_refused)
{
	change(2, "@scenario recorded", "@exit 0", "@exit 139");
	left(merge(), 1, "139");
}
END_TEST

START_TEST(golden_cut_boot_is_refused)
{
	char *whole = consoles[1];
	size_t n = strlen(whole);

	/* At each line's end and in mid-line; the last cut leaves only the LF off. */
	for (size_t cut = 0; cut < n; cut += 37) {
		consoles[1] = strndup(whole, cut);
		left(merge(), 1, "boot-2/console.txt:");
		free(consoles[1]);
	}
	consoles[1] = strndup(whole, n - 1);
	left(merge(), 1, "did not reach its end");
	free(whole);
}
END_TEST

START_TEST(golden_scenario_that_did_not_run_is_refused)
{
	change(0, "@scenario recorded", "@scenario recorded", "@scenario another");
	left(merge(), 1, "scenario recorded did not run");
}
END_TEST

START_TEST(golden_canary_that_did_not_run_is_refused)
{
	change(0, "@scenario canary", "@scenario canary", "@scenario another");
	left(merge(), 1, "scenario canary did not run");
}
END_TEST

START_TEST(golden_wrong_number_of_scenarios_is_refused)
{
	change(0, "@done", "@done 2", "@done 3");
	left(merge(), 1, "2 scenarios ran");
}
END_TEST

START_TEST(golden_other_kernel_is_refused)
{
	left(merge_named("linux-6.12", PMULAB_AGENT_PATH), 1, "is not linux-6.12");
	change(1, "@kernel", "@kernel 6.1.0-", "@kernel 6.1.1-");
	left(merge(), 1, "another kernel");
}
END_TEST

START_TEST(golden_series_is_not_a_prefix_of_another)
{
	change(-1, "@kernel", "@kernel 6.1.", "@kernel 6.12.");
	left(merge(), 1, "is not linux-6.1");
}
END_TEST

START_TEST(golden_missing_sysctl_is_refused)
{
	change(1, "@sysctl", "perf_cpu_time_max_percent 0",
	       "perf_cpu_time_max_percent 25");
	left(merge(), 1, "perf_cpu_time_max_percent is 25");
	change(1, "@sysctl", "perf_event_max_sample_rate 100000000",
	       "perf_event_max_sample_rate 100000");
	left(merge(), 1, "perf_event_max_sample_rate is 100000,");
}
END_TEST

START_TEST(golden_two_boots_are_refused)
{
	free(consoles[2]);
	consoles[2] = NULL;
	left(merge(), 1, "2 boots, at least 3 prove something");
}
END_TEST

START_TEST(golden_bad_files_are_told)
{
	char path[512];

	left(merge_named("linux-6.1", "/no/agent"), 2, "/no/agent");
	snprintf(path, sizeof(path), "%s/headers", folder);
	spill(path, "qemu 7.2\n");
	left(merge(), 2, "/headers:1:");
	unlink(path);
	left(merge(), 2, "/headers: No such file");
}
END_TEST

START_TEST(golden_folder_that_cannot_be_made_is_told)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/out", folder);
	spill(path, "a file");
	left(merge(), 2, "/out");
}
END_TEST

/* The second file cannot be written: the first one must not be there either. */
START_TEST(golden_all_files_or_none)
{
	static const char *const names[] = {"recorded", "second"};
	char part[8192], path[512], *at;

	for (int i = 0; i < BOOTS; i++) {
		at = strstr(consoles[i], "@scenario recorded");
		snprintf(part, sizeof(part), "@scenario second%.*s@exit 0\n@done 3",
			 (int)(strstr(at, "@exit") - at - 18), at + 18);
		change(i, "@done", "@done 2", part);
	}
	ck_assert_msg(merge_scenarios("linux-6.1", PMULAB_AGENT_PATH, names, 2) == 0,
		      "%s", err);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s.golden", out, names[i]);
		ck_assert_int_eq(unlink(path), 0);
	}
	strcat(path, ".tmp");
	ck_assert_int_eq(mkdir(path, 0777), 0);
	ck_assert_int_eq(merge_scenarios("linux-6.1", PMULAB_AGENT_PATH, names, 2), 2);
	ck_assert_ptr_nonnull(strstr(err, "second.golden.tmp"));
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(out), 0); /* nothing else in it */
}
END_TEST

/* ---- the companion rule */

static int companion(const char *body, const int64_t *results, size_t n)
{
	char text[2048];
	struct scn *scn;
	int ret;

	snprintf(text, sizeof(text), "scenario v1\n%s", body);
	scn = scn_parse("companion.scn", text, strlen(text), err, sizeof(err));
	ck_assert_msg(scn != NULL, "%s", err);
	err[0] = '\0';
	ret = golden_refuse_companion(scn, results, n, err, sizeof(err));
	ck_assert_int_eq(ret ? -1 : 0, ret);
	ck_assert_int_eq(*err != '\0', ret != 0);
	scn_free(scn);
	return ret;
}

#define C(period) "event c hardware/cycles period=" period " sample=ip disabled\n"
#define I(period) "event i hardware/instructions period=" period " sample=ip disabled\n"
#define D(period) "event d hardware/cycles period=" period " sample=ip disabled\n"

START_TEST(companion_must_lead_and_divide)
{
	ck_assert_int_eq(companion(C("1000") "open c\n", NULL, 0), 0);
	ck_assert_int_eq(companion(I("1000") "open i\n", NULL, 0), -1);
	ck_assert_ptr_nonnull(strstr(err, "step 1 \"open i\""));
	ck_assert_int_eq(companion(C("1000") I("3000") "open c\nopen i\n", NULL, 0), -1);
	ck_assert_int_eq(
		companion(C("1000") I("3000") "open c\nopen i group=c\n", NULL, 0), 0);
	ck_assert_int_eq(
		companion(C("1000") I("1000") "open c\nopen i group=c\n", NULL, 0), 0);
	ck_assert_int_eq(
		companion(C("3000") I("1000") "open c\nopen i group=c\n", NULL, 0), -1);
	ck_assert_int_eq(
		companion(C("1000") I("2500") "open c\nopen i group=c\n", NULL, 0), -1);
	ck_assert_int_eq(
		companion(I("1000") C("1000") "open i\nopen c group=i\n", NULL, 0), -1);
	ck_assert_int_eq(companion("event s software/cpu-clock period=1000 disabled\n" I(
					   "1000") "open s\nopen i group=s\n",
				   NULL, 0),
			 -1);
}
END_TEST

START_TEST(companion_second_cycles_event_needs_one_too)
{
	ck_assert_int_eq(companion(C("1000") D("1000") "open c\nopen d\n", NULL, 0), -1);
	ck_assert_int_eq(
		companion(C("1000") D("1000") "open c\nopen d group=c\n", NULL, 0), 0);
	ck_assert_int_eq(
		companion(C("1000") D("1000") "open c\nclose c\nopen d\n", NULL, 0), 0);
	ck_assert_int_eq(
		companion("event r raw/0x11 period=1000 disabled\nopen r\n", NULL, 0), 0);
	ck_assert_int_eq(
		companion("event r raw/0x8 period=1000 disabled\nopen r\n", NULL, 0), -1);
}
END_TEST

START_TEST(companion_counting_and_failed_opens_need_none)
{
	static const int64_t refused[] = {1, -22};

	ck_assert_int_eq(
		companion("event i hardware/instructions disabled\nopen i\n", NULL, 0),
		0);
	ck_assert_int_eq(
		companion("event s software/cpu-clock period=1000 disabled\nopen s\n",
			  NULL, 0),
		0);
	ck_assert_int_eq(companion(I("1000") "open i\n", refused, 2), 0);
}
END_TEST

static TCase *recorded_case(void)
{
	TCase *tc = tcase_create("recorded");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, golden_good_recording_is_written);
	tcase_add_test(tc, golden_previous_body_is_kept_when_it_holds_as_much);
	tcase_add_test(tc, golden_carriage_returns_and_kernel_lines_are_skipped);
	tcase_add_test(tc, golden_throttle_is_refused);
	tcase_add_test(tc, golden_missing_sample_is_refused);
	tcase_add_test(tc, golden_still_canary_is_refused);
	tcase_add_test(tc, golden_count_that_is_not_the_works_is_refused);
	tcase_add_test(tc, golden_boots_that_disagree_are_refused);
	tcase_add_test(tc, golden_failed_agent_is_refused);
	tcase_add_test(tc, golden_cut_boot_is_refused);
	tcase_add_test(tc, golden_scenario_that_did_not_run_is_refused);
	tcase_add_test(tc, golden_canary_that_did_not_run_is_refused);
	tcase_add_test(tc, golden_wrong_number_of_scenarios_is_refused);
	tcase_add_test(tc, golden_other_kernel_is_refused);
	tcase_add_test(tc, golden_series_is_not_a_prefix_of_another);
	tcase_add_test(tc, golden_missing_sysctl_is_refused);
	tcase_add_test(tc, golden_two_boots_are_refused);
	tcase_add_test(tc, golden_bad_files_are_told);
	tcase_add_test(tc, golden_all_files_or_none);
	tcase_add_test(tc, golden_folder_that_cannot_be_made_is_told);
	return tc;
}

static TCase *companion_case(void)
{
	TCase *tc = tcase_create("companion");

	tcase_add_test(tc, companion_must_lead_and_divide);
	tcase_add_test(tc, companion_second_cycles_event_needs_one_too);
	tcase_add_test(tc, companion_counting_and_failed_opens_need_none);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("golden-tool");
	SRunner *sr;
	int failed;

	suite_add_tcase(s, recorded_case());
	suite_add_tcase(s, companion_case());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
