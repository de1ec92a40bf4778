/* SPDX-License-Identifier: MIT */
/* Scenarios of several tasks: what is refused, what the image holds, what
 * arithmetic says, what a trace calls them. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode-lab.h"
#include "corpus/agent/agent-abi.h"
#include "corpus/agent/agent-cost.h"
#include "corpus/compiler/scenario.h"

#define EVENT "event c hardware/cycles exclude=kernel,hv disabled\n"

static char err[512];

static struct scn *parse(const char *body)
{
	char text[8192];
	struct scn *scn;

	snprintf(text, sizeof(text), "scenario v1\n%s", body);
	err[0] = '\0';
	scn = scn_parse("t", text, strlen(text), err, sizeof(err));
	ck_assert_msg(scn != NULL, "refused: %s", err);
	return scn;
}

static const struct {
	const char *text, *message;
} refused[] = {
	{"thread 1 {\n}\n", "t:2:8: not a name: `1`"},
	{"thread main {\n}\n", "t:2:8: task twice: main"},
	{"fork any {\n}\n", "t:2:6: task twice: any"},
	{"fork a {\n}\nthread a {\n}\n", "t:4:8: task twice: a"},
	{"fork a {\nwait a\n}\n", "t:3:6: a itself"},
	{"fork a {\nwait main\n}\n", "t:3:6: main ends last"},
	{"fork a {\nexit\nyield\n}\n", "t:4: a is over since line 3"},
	{"exec {\n}\nyield\n", "t:4: main is over since line 3"},
	{"exit\n", "t:2: main ends where the text does"},
	{"fork a {\nexit 256\n}\n", "t:3:6: 256 is more than 255"},
	{"fork a {\n}\nfork b {\nsync main a\n}\n",
	 "t:5: sync is of two tasks, this one among them"},
	{"sync main main\n", "t:2: sync is of two tasks, this one among them"},
	{"switch b\n", "t:2:8: unknown task: `b`"},
	{"touch map0 1\n", "t:2:7: no such map above: `map0`"},
	{"touch 1 1 read\n", "t:2:11: unexpected: read"},
	{"map x prot=rq\n", "t:2:7: prot is of r, w, x: `prot=rq`"},
	{"map x often\n", "t:2:7: unknown argument: `often`"},
	{"unshare net\n", "t:2:9: pid, not `net`"},
	{"rlimit cpu 1\n", "t:2:8: unknown limit: `cpu`"},
	{"sysctl ../x 1\n", "t:2:8: not a name: `../x`"},
	{"machine cpus=0\n", "t:2:9: no CPU: `cpus=0`"},
	{"repeat 2 {\nfork a {\n}\n}\n", "t:3:6: task twice: a"},
	{"repeat 2 {\nyield\n", "t:2: block not closed: repeat"},
	{"fork a {\nrepeat 2 {\n}\n}\n}\n", "t:6:1: `}` closes nothing"},
};

START_TEST(tasks_malformed_is_refused_with_its_place)
{
	char text[512];

	snprintf(text, sizeof(text), "scenario v1\n%s", refused[_i].text);
	errno = 0;
	ck_assert_ptr_null(scn_parse("t", text, strlen(text), err, sizeof(err)));
	ck_assert_str_eq(err, refused[_i].message);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(tasks_repeat_is_unrolled_and_steps_keep_the_text_s_order)
{
	struct scn *scn = parse(EVENT "repeat 2 {\nrepeat 2 {\nopen c\n}\nclose c\n}\n"
				      "yield\n");
	static const enum scn_verb want[] = {SCN_OPEN, SCN_OPEN,  SCN_CLOSE, SCN_OPEN,
					     SCN_OPEN, SCN_CLOSE, SCN_YIELD};

	ck_assert_uint_eq(scn->nsteps, 7);
	for (unsigned i = 0; i < 7; i++) {
		ck_assert_int_eq(scn->steps[i].verb, want[i]);
		ck_assert_uint_eq(scn->steps[i].number, i + 1);
	}
	ck_assert_uint_eq(scn->steps[4].line, 5);
	ck_assert_uint_eq(scn->steps[6].line, 9);
	ck_assert(!scn->shared);
	scn_free(scn);
}
END_TEST

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

START_TEST(tasks_image_has_a_program_for_each_and_a_table)
{
	struct scn *scn = parse("fork T {\nyield\n}\nthread U {\n}\nyield\n");
	const uint8_t *table, *clone;
	uint8_t *image;
	size_t size;

	ck_assert_int_eq(scn_compile(scn, &image, &size, err, sizeof(err)), 0);
	ck_assert_uint_eq(get(image, 4), AGENT_MAGIC_TASKS);
	table = image + (scn->data - AGENT_BASE);
	ck_assert_uint_eq(get(table, 4), 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct scn_task *task = &scn->tasks[i];
		unsigned end = task->first_op + task->nops - 1;

		ck_assert_uint_eq(get(table + 8 + 8 * i, 4), task->first_op);
		ck_assert_uint_eq(get(table + 12 + 8 * i, 4), task->nops);
		ck_assert_uint_eq(get(image + 16 + 64 * end + AGENT_OP_KIND, 2),
				  AGENT_END);
		if (i)
			ck_assert_uint_eq(task->first_op,
					  task[-1].first_op + task[-1].nops);
	}
	ck_assert_uint_eq(get(image + AGENT_HDR_NOPS, 4),
			  scn->tasks[2].first_op + scn->tasks[2].nops - 1);
	clone = image + 16 + 64 * (size_t)scn->steps[0].op;
	ck_assert_uint_eq(get(clone + AGENT_OP_KIND, 2), AGENT_CLONE);
	ck_assert_uint_eq(get(clone, 8), 17);
	ck_assert_uint_eq(get(clone + 24, 8),
			  AGENT_BASE + 16 + 64ull * scn->tasks[1].first_op);
	ck_assert_uint_eq(get(clone + 40, 8), AGENT_LOG + AGENT_TASK_LOG);
	clone = image + 16 + 64 * (size_t)scn->steps[2].op;
	ck_assert_uint_eq(get(clone, 8), 0x350f00);
	ck_assert_uint_eq(get(clone + 16, 8), scn->tasks[2].tid_addr);
	/* main waits for both at its end: wait4, futex, and a pause. */
	ck_assert_uint_eq(scn->ops[scn->tasks[0].nops - 4].nr, 260);
	ck_assert_uint_eq(scn->ops[scn->tasks[0].nops - 3].nr, 98);
	ck_assert_uint_eq(scn->ops[scn->tasks[0].nops - 2].nr, 115);
	free(image);
	scn_free(scn);
}
END_TEST

START_TEST(tasks_exec_carries_its_resume_block_in_letters)
{
	struct scn *scn = parse("exec {\nyield\n}\n");
	const struct scn_step *step = &scn->steps[0];
	const uint8_t *buf;
	uint8_t *image;
	uint64_t block = 0;
	size_t size;

	ck_assert_int_eq(scn_compile(scn, &image, &size, err, sizeof(err)), 0);
	buf = image + (step->buf - AGENT_BASE);
	ck_assert_uint_eq(get(buf, 8), AGENT_BASE + 16 + 64ull * (unsigned)step->op);
	buf = image + (get(buf + AGENT_RESUME_SIZE + 8, 8) - AGENT_BASE);
	for (unsigned i = 0; i < 8; i++)
		block = block << 4 | (buf[i] - (unsigned)'a');
	ck_assert_uint_eq(block, step->buf);
	ck_assert_uint_eq(buf[8], 0);
	free(image);
	scn_free(scn);
}
END_TEST

/* ---- arithmetic */

static struct scn_count count_of(const struct scn *scn, unsigned step)
{
	struct scn_count *counts = scn_predict(scn, NULL, 0), count;

	count = counts[(size_t)(step - 1) * scn->nevents];
	free(counts);
	return count;
}

START_TEST(predict_counts_the_task_that_is_watched)
{
	/* T sleeps in `pause` when main opens: the tail of that, the run, and the
	 * head of exit_group are its own;
	 * the pause behind `pause` as well. */
	struct scn *scn = parse(EVENT "fork T {\nswitch main\nrun spin 100\n}\npause\n"
				      "open c pid=T\nioctl c enable\nrun spin 7\nwake T\n"
				      "wait T\nread c\n");
	struct scn_count count = count_of(scn, 10);

	ck_assert(count.known);
	ck_assert_uint_eq(count.value, 6 + 32 + 23 + 803 + 26);
	scn_free(scn);
}
END_TEST

START_TEST(predict_does_not_know_what_the_scheduler_decides)
{
	/* Nothing keeps T from ending before the ENABLE. */
	struct scn *scn = parse(EVENT "fork T {\nrun spin 100\n}\nopen c pid=T\n"
				      "ioctl c enable\nwait T\nread c\n");

	ck_assert(!count_of(scn, 6).known);
	scn_free(scn);
}
END_TEST

START_TEST(predict_everybody_s_event_counts_every_task)
{
	struct scn *scn = parse(EVENT "open c pid=any cpu=0\nioctl c enable\nthread T {\n"
				      "run spin 100\n}\nwait T\nioctl c disable\nread c\n");
	uint64_t mine = 6 + AGENT_COST_CLONE_HEAD + AGENT_COST_CLONE_TAIL + 2 * 32 + 26;
	uint64_t child = AGENT_COST_CLONE_CHILD + 32 + 23 + 803 + 26;
	struct scn_count count = count_of(scn, 7);

	ck_assert(count.known);
	ck_assert_uint_eq(count.value, mine + child);
	scn_free(scn);
}
END_TEST

START_TEST(predict_exec_enables_once_and_counts_from_the_new_image_on)
{
	struct scn *scn =
		parse("event c hardware/cycles exclude=kernel disabled enable_on_exec\n"
		      "open c\nrun spin 100\nexec {\nread c\n}\n");
	uint64_t dirty = 0;

	for (unsigned i = 0; i < scn->nops; i++)
		if (scn->ops[i].kind == AGENT_DIRTY)
			dirty += 26 + 5 * ((scn->ops[i].args[1] + 4095) / 4096);
	ck_assert_uint_ne(dirty, 0);
	ck_assert(count_of(scn, 4).known);
	ck_assert_uint_eq(count_of(scn, 4).value, AGENT_COST_EXEC_NEW + dirty + 26);
	scn_free(scn);
}
END_TEST

START_TEST(predict_a_dead_task_s_count_stands_still)
{
	struct scn *scn = parse(EVENT "fork T {\nswitch main\n}\npause\nopen c pid=T\n"
				      "ioctl c enable\nwake T\nwait T\nread c\n"
				      "run spin 9\nioctl c enable\nread c\n");

	ck_assert(count_of(scn, 8).known);
	ck_assert_uint_eq(count_of(scn, 8).value, 6 + 32 + 26);
	ck_assert_uint_eq(count_of(scn, 11).value, 6 + 32 + 26);
	scn_free(scn);
}
END_TEST

START_TEST(predict_prctl_is_for_what_the_caller_opened)
{
	struct scn *scn = parse(EVENT "open c\nprctl enable\nrun spin 100\n"
				      "prctl disable\nread c\n");

	ck_assert_uint_eq(count_of(scn, 5).value, 6 + 23 + 803 + 26);
	scn_free(scn);
	scn = parse(EVENT "open c\nioctl c enable\nfork T {\nprctl disable\n}\nwait T\n"
			  "run spin 100\nioctl c disable\nread c\n");
	ck_assert(count_of(scn, 8).known);
	ck_assert_uint_eq(count_of(scn, 8).value, 6 + 16 + 32 + 826 + 26);
	scn_free(scn);
}
END_TEST

START_TEST(predict_an_event_lives_while_a_child_has_its_fd)
{
	struct scn *scn = parse(EVENT "open c\nioctl c enable\nfork T {\npause\n"
				      "read c\n}\nclose c\nrun spin 10\nwake T\n"
				      "wait T\n");

	ck_assert(count_of(scn, 5).known);
	ck_assert_uint_gt(count_of(scn, 5).value, 16 + 32 + 106);
	scn_free(scn);
}
END_TEST

/* ---- traces */

START_TEST(decode_tasks_have_names_and_ways_to_end)
{
	struct tt_trace *trace;

	lab_start("fork T {\nexit 3\n}\nwait T\nthread U {\nyield\n}\nwait U\n");
	lab_result(1, 80);
	lab_result(2, INT64_MIN);
	lab_result(3, 80);
	lab_buffer(3, 0, 3 << 8);
	lab_result(4, 81);
	lab_result(6, -EAGAIN);
	trace = lab_decode();
	lab_check_from(trace, 1,
		       "step 1 fork T -> pid\nstep 2 exit 3 -> none\nstep 3 wait T -> T\n"
		       "  wait exited=3\nstep 4 thread U -> tid\nstep 5 yield -> 0\n"
		       "step 6 wait U -> 0\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_records_name_tasks_as_their_opener_sees_them)
{
	/* T is 80 for main, 1 for itself. */
	uint8_t sample[2][16] = {{9, 0, 0, 0, 2, 0, 16, 0}, {9, 0, 0, 0, 2, 0, 16, 0}};
	struct tt_trace *trace;

	lab_start("event m hardware/cycles period=9 sample=tid exclude=kernel disabled\n"
		  "event t hardware/cycles period=9 sample=tid exclude=kernel disabled\n"
		  "unshare pid\nfork T {\nopen t\nmmap t pages=1\nrecords t\n}\n"
		  "open m pid=T\nmmap m pages=1\nrecords m\n");
	lab_result(2, 80);
	lab.results[lab.scn->tasks[1].tid_op] = 1;
	for (unsigned i = 0; i < 2; i++) {
		lab_put(sample[i] + 8, i ? 1 : 80, 4);
		lab_put(sample[i] + 12, i ? 1 : 80, 4);
	}
	/* The log has main's part first. */
	lab_drained(8, sample[0], 16);
	lab_drained(5, sample[1], 16);
	trace = lab_decode();
	ck_assert_str_eq(lab_field(trace, 8, 0, "tid")->token, "T");
	ck_assert_str_eq(lab_field(trace, 5, 0, "pid")->token, "T");
	ck_assert_int_eq(lab_field(trace, 8, 0, "tid")->class, TT_EXACT);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_several_cpus_compare_no_counts)
{
	struct tt_trace *trace;

	lab_start("machine cpus=2\n" EVENT "open c\nread c\n");
	lab_result(2, 8);
	trace = lab_decode();
	ck_assert_int_eq(lab_field(trace, 2, 0, "value")->class, TT_ANY);
	lab_check_mask(trace, 2, 0, "........");
	lab_finish(trace);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("tasks");
	TCase *tc = tcase_create("tasks");

	tcase_add_loop_test(tc, tasks_malformed_is_refused_with_its_place, 0,
			    (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_test(tc, tasks_repeat_is_unrolled_and_steps_keep_the_text_s_order);
	tcase_add_test(tc, tasks_image_has_a_program_for_each_and_a_table);
	tcase_add_test(tc, tasks_exec_carries_its_resume_block_in_letters);
	tcase_add_test(tc, predict_counts_the_task_that_is_watched);
	tcase_add_test(tc, predict_does_not_know_what_the_scheduler_decides);
	tcase_add_test(tc, predict_everybody_s_event_counts_every_task);
	tcase_add_test(tc, predict_exec_enables_once_and_counts_from_the_new_image_on);
	tcase_add_test(tc, predict_a_dead_task_s_count_stands_still);
	tcase_add_test(tc, predict_prctl_is_for_what_the_caller_opened);
	tcase_add_test(tc, predict_an_event_lives_while_a_child_has_its_fd);
	tcase_add_test(tc, decode_tasks_have_names_and_ways_to_end);
	tcase_add_test(tc, decode_records_name_tasks_as_their_opener_sees_them);
	tcase_add_test(tc, decode_several_cpus_compare_no_counts);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
