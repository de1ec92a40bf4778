/* SPDX-License-Identifier: MIT */
/* What a scenario compiles to, and what arithmetic says that it must count. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/scenario.h"

#define EVENT "event c hardware/cycles exclude=kernel,hv disabled\n"
#define SAMPLING \
	"event c hardware/cycles period=1000 sample=ip exclude=kernel,hv disabled\n"

static char err[512];

static struct scn *parse(const char *body)
{
	char text[8192];
	struct scn *scn;

	snprintf(text, sizeof(text), "scenario v1\n%s", body);
	err[0] = '\0';
	scn = scn_parse("dir/t.scn", text, strlen(text), err, sizeof(err));
	ck_assert_msg(scn != NULL, "refused: %s", err);
	return scn;
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/* ---- the image */

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image compile(const struct scn *scn)
{
	struct image image;

	ck_assert_int_eq(scn_compile(scn, &image.bytes, &image.size, err, sizeof(err)),
			 0);
	return image;
}

static const uint8_t *op_at(const struct image *image, int op)
{
	return image->bytes + AGENT_HDR_OPS + (size_t)op * AGENT_OP_SIZE;
}

static void check_op(const struct image *image, int op, unsigned kind, unsigned nr,
		     const uint64_t args[6], const uint8_t slots[6], unsigned dst)
{
	const uint8_t *at = op_at(image, op);

	ck_assert_uint_eq(get(at + AGENT_OP_KIND, 2), kind);
	ck_assert_uint_eq(get(at + AGENT_OP_NR, 2), nr);
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_msg(get(at + AGENT_OP_ARGS + 8 * i, 8) == args[i],
			      "op %d argument %u: 0x%llx, not 0x%llx", op, i,
			      (unsigned long long)get(at + AGENT_OP_ARGS + 8 * i, 8),
			      (unsigned long long)args[i]);
		ck_assert_msg(at[AGENT_OP_SLOT + i] == slots[i], "op %d slot %u: %u", op,
			      i, at[AGENT_OP_SLOT + i]);
	}
	ck_assert_uint_eq(at[AGENT_OP_DST], dst);
}

#define ARGS(...) ((const uint64_t[6]){__VA_ARGS__})
#define SLOTS(...) ((const uint8_t[6]){__VA_ARGS__})
#define NONE AGENT_SLOT_NONE

START_TEST(scenario_image_has_header_end_and_data)
{
	struct scn *scn = parse(EVENT "open c\nclose c\n");
	struct image image = compile(scn);

	ck_assert_uint_eq(get(image.bytes + AGENT_HDR_MAGIC, 4), AGENT_MAGIC);
	ck_assert_uint_eq(get(image.bytes + AGENT_HDR_NOPS, 4), 4);
	ck_assert_uint_eq(get(image.bytes + AGENT_HDR_DATA, 4), 16 + 5 * 64);
	ck_assert_uint_eq(get(image.bytes + AGENT_HDR_DATA_SIZE, 4), 128 + 8);
	ck_assert_uint_eq(image.size, 16 + 5 * 64 + 128 + 8);
	check_op(&image, 0, AGENT_SYSCALL, 172, ARGS(0), SLOTS(0), 129);
	check_op(&image, 4, AGENT_END, 0, ARGS(0), SLOTS(0), NONE);
	ck_assert_mem_eq(image.bytes + (scn->events[0].attr_addr - AGENT_BASE),
			 scn->events[0].bytes, SCN_ATTR_SIZE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_open_and_close)
{
	struct scn *scn =
		parse(EVENT "event d raw/8\nopen c\n"
			    "open d pid=any cpu=2 group=c flags=fd-output,pid-cgroup\n"
			    "open d pid=77 cpu=-2 flags=0x40\nclose d\n");
	struct image image = compile(scn);
	uint64_t attr = scn->events[1].attr_addr;

	check_op(&image, 1, AGENT_SYSCALL, 241,
		 ARGS(scn->events[0].attr_addr, 0, (uint64_t)-1, (uint64_t)-1, 0, 0),
		 SLOTS(0), 1);
	ck_assert_int_eq(scn->steps[0].op, 1);
	ck_assert_int_eq(scn->steps[0].id_op, 2);
	check_op(&image, 2, AGENT_SYSCALL, 29, ARGS(0, 0x80082407, scn->steps[0].id_addr),
		 SLOTS(1), NONE);
	check_op(&image, 3, AGENT_SYSCALL, 241, ARGS(attr, (uint64_t)-1, 2, 0, 6, 0),
		 SLOTS(0, 0, 0, 1), 2);
	check_op(&image, 5, AGENT_SYSCALL, 241,
		 ARGS(attr, 77, (uint64_t)-2, (uint64_t)-1, 0x40, 0), SLOTS(0), 2);
	check_op(&image, 7, AGENT_SYSCALL, 57, ARGS(0), SLOTS(2), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_mapping_goes_by_what_mmap_said)
{
	struct scn *scn =
		parse(EVENT "event d raw/8\nrecords d\nmmap d pages=4 prot=r "
			    "offset=0x1000\npeek d\nmmap d pages=2\npoke d data-tail=5\n"
			    "poke d 4096=6\nrecords d\npage d\nmunmap d\npage d\n");
	struct image image = compile(scn);
	uint8_t map = scn->events[1].map_slot;
	uint64_t fault = (uint64_t)-EFAULT;

	check_op(&image, 1, AGENT_DRAIN, 0, ARGS(fault, 0), SLOTS(0), NONE);
	check_op(&image, 2, AGENT_SYSCALL, 222,
		 ARGS(0x21000000, 5 * 4096, 1, 0x11, 0, 0x1000), SLOTS(0, 0, 0, 0, 2),
		 map);
	check_op(&image, 3, AGENT_TOUCH, 0, ARGS(0, 5 * 4096), SLOTS(map), NONE);
	check_op(&image, 4, AGENT_PEEK, 0, ARGS(0, 4 * 4096), SLOTS(map), NONE);
	check_op(&image, 5, AGENT_SYSCALL, 222, ARGS(0x21000000, 3 * 4096, 3, 0x11, 0, 0),
		 SLOTS(0, 0, 0, 0, 2), map);
	check_op(&image, 7, AGENT_POKE, 0, ARGS(1032, 5), SLOTS(map), NONE);
	check_op(&image, 8, AGENT_POKE, 0, ARGS(4096, 6), SLOTS(map), NONE);
	check_op(&image, 9, AGENT_DRAIN, 0, ARGS(0, 2 * 4096), SLOTS(map), NONE);
	check_op(&image, 10, AGENT_PAGE, 0, ARGS(0, 1088), SLOTS(map), NONE);
	check_op(&image, 11, AGENT_SYSCALL, 215, ARGS(0, 3 * 4096), SLOTS(map), NONE);
	check_op(&image, 12, AGENT_PAGE, 0, ARGS(fault, 1088), SLOTS(0), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

static const struct {
	const char *words;
	uint64_t cmd, arg;
	uint8_t slot;
} ioctls[] = {
	{"enable", 0x2400, 0, 0},
	{"enable group", 0x2400, 1, 0},
	{"disable", 0x2401, 0, 0},
	{"disable group", 0x2401, 1, 0},
	{"refresh 3", 0x2402, 3, 0},
	{"refresh -1", 0x2402, (uint64_t)-1, 0},
	{"reset", 0x2403, 0, 0},
	{"reset group", 0x2403, 1, 0},
	{"set-output c", 0x2405, 0, 1},
	{"set-output none", 0x2405, (uint64_t)-1, 0},
	{"pause", 0x40042409, 1, 0},
	{"resume", 0x40042409, 0, 0},
	{"raw 0x40082404 -5", 0x40082404, (uint64_t)-5, 0},
	{"raw 0x80082407 0", 0x80082407, 0, 0},
};

START_TEST(scenario_image_ioctls_have_their_commands)
{
	char text[256];
	struct scn *scn;
	struct image image;

	snprintf(text, sizeof(text), EVENT "event d raw/8\nioctl d %s\n",
		 ioctls[_i].words);
	scn = parse(text);
	image = compile(scn);
	check_op(&image, 1, AGENT_SYSCALL, 29, ARGS(0, ioctls[_i].cmd, ioctls[_i].arg),
		 SLOTS(2, 0, ioctls[_i].slot), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_period_and_id_go_by_pointer)
{
	struct scn *scn = parse(EVENT "ioctl c period 0x123456789\nioctl c id\n");
	struct image image = compile(scn);
	uint64_t buf = scn->steps[0].buf;

	check_op(&image, 1, AGENT_SYSCALL, 29, ARGS(0, 0x40082404, buf), SLOTS(1), NONE);
	ck_assert_uint_eq(get(image.bytes + (buf - AGENT_BASE), 8), 0x123456789);
	check_op(&image, 2, AGENT_SYSCALL, 29, ARGS(0, 0x80082407, scn->steps[1].buf),
		 SLOTS(1), NONE);
	ck_assert_uint_ne(buf, scn->steps[1].buf);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_calls_and_attrs_to_change_to)
{
	struct scn *scn = parse(EVENT "event d raw/8\ncall fstat d buf\n"
				      "call lseek c -8 0x2\ncall dup c\n"
				      "ioctl c modify d\n");
	struct image image = compile(scn);

	ck_assert_uint_ne(scn->steps[0].buf, 0);
	ck_assert_uint_eq(scn->steps[1].buf, 0);
	check_op(&image, 1, AGENT_SYSCALL, 80, ARGS(0, scn->steps[0].buf), SLOTS(2), NONE);
	check_op(&image, 2, AGENT_SYSCALL, 62, ARGS(0, (uint64_t)-8, 2), SLOTS(1), NONE);
	check_op(&image, 3, AGENT_SYSCALL, 23, ARGS(0), SLOTS(1), NONE);
	check_op(&image, 4, AGENT_SYSCALL, 29,
		 ARGS(0, 0x4008240b, scn->events[1].attr_addr), SLOTS(1), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_poll_writes_the_fd_first)
{
	struct scn *scn =
		parse(EVENT "poll c\npoll c timeout-ms=1500\npoll c timeout-ms=-1\n");
	struct image image = compile(scn);
	uint64_t buf = scn->steps[1].buf;

	check_op(&image, 1, AGENT_POKE, 0, ARGS(scn->steps[0].buf, 1ull << 32),
		 SLOTS(0, 1), NONE);
	check_op(&image, 2, AGENT_SYSCALL, 73,
		 ARGS(scn->steps[0].buf, 1, scn->steps[0].buf + 8, 0, 8), SLOTS(0), NONE);
	ck_assert_int_eq(scn->steps[0].op, 2);
	ck_assert_uint_eq(get(image.bytes + (scn->steps[0].buf + 8 - AGENT_BASE), 8), 0);
	ck_assert_uint_eq(get(image.bytes + (buf + 8 - AGENT_BASE), 8), 1);
	ck_assert_uint_eq(get(image.bytes + (buf + 16 - AGENT_BASE), 8), 500000000);
	check_op(&image, 6, AGENT_SYSCALL, 73, ARGS(scn->steps[2].buf, 1, 0, 0, 8),
		 SLOTS(0), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_read_asks_for_the_format)
{
	struct scn *scn = parse(
		"event c raw/8 read=group,total-time-enabled,total-time-running,id,lost\n"
		"event d raw/8 read=total-time-running,lost\nevent e raw/8\n"
		"open c\nopen d group=c\nopen e group=c\nread c\nread d\nread e "
		"size=3\nread e\n");
	struct image image = compile(scn);
	static const uint64_t size[] = {8 * (3 + 3 * 3), 24, 3, 8};

	for (unsigned i = 0; i < 4; i++) {
		const struct scn_step *step = &scn->steps[3 + i];

		check_op(&image, step->op, AGENT_SYSCALL, 63, ARGS(0, step->buf, size[i]),
			 SLOTS(scn->events[step->event].fd_slot), NONE);
		ck_assert_uint_le(step->buf + size[i], scn->data + scn->data_size);
		ck_assert_uint_eq(step->buf % 8, 0);
	}
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_run_and_laboratory)
{
	struct scn *scn =
		parse(EVENT "event d raw/0\nrun mixed 7\ninject d 5\n"
			    "inject 31 6 el=1\nmask\nunmask\nat hal 9 inject c 4\n"
			    "at d[3] inject 2 8 el=1\nat c inject d 1\n");
	struct image image = compile(scn);
	uint64_t by_number = (uint64_t)-1;

	check_op(&image, 1, AGENT_RUN, 0, ARGS(AGENT_WL_MIXED, 7), SLOTS(0), NONE);
	check_op(&image, 2, AGENT_SYSCALL, 0x7000, ARGS(0, 0, 5, 0), SLOTS(2), NONE);
	check_op(&image, 3, AGENT_SYSCALL, 0x7000, ARGS(by_number, 31, 6, 1), SLOTS(0),
		 NONE);
	check_op(&image, 4, AGENT_SYSCALL, 0x7001, ARGS(0), SLOTS(0), NONE);
	check_op(&image, 5, AGENT_SYSCALL, 0x7002, ARGS(0), SLOTS(0), NONE);
	check_op(&image, 6, AGENT_SYSCALL, 0x7003, ARGS(0, 0, 4, 0, 9), SLOTS(1), NONE);
	check_op(&image, 7, AGENT_SYSCALL, 0x7004, ARGS(by_number, 2, 8, 1, 0, 3),
		 SLOTS(0, 0, 0, 0, 2), NONE);
	check_op(&image, 8, AGENT_SYSCALL, 0x7004, ARGS(0, 0, 1, 0, 0, 1),
		 SLOTS(2, 0, 0, 0, 1), NONE);
	free(image.bytes);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_image_too_long_is_refused)
{
	size_t n = 0, lines = 70000, size = lines * 12 + 64;
	char *text = malloc(size);

	n += (size_t)sprintf(text, "scenario v1\n");
	for (size_t i = 0; i < lines; i++)
		n += (size_t)sprintf(text + n, "run spin 1\n");
	ck_assert_ptr_null(scn_parse("t", text, n, err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "t:1: too long: 70001 operations"));
	free(text);
}
END_TEST

/* ---- predictions; numbers by hand from agent-cost.h's table, not its macros */

static struct scn_count count_of(const struct scn *scn, const char *event, unsigned step,
				 const int64_t *results, size_t n)
{
	struct scn_count *counts = scn_predict(scn, results, n), count;

	count = counts[(step - 1) * scn->nevents + (unsigned)scn_event_find(scn, event)];
	free(counts);
	return count;
}

static void check_count(const char *body, const char *event, unsigned step,
			uint64_t value, int64_t samples)
{
	struct scn *scn = parse(body);
	struct scn_count count = count_of(scn, event, step, NULL, 0);

	ck_assert_msg(count.known, "%s is not known", event);
	ck_assert_uint_eq(count.value, value);
	ck_assert_int_eq(count.samples_known, samples >= 0);
	if (samples >= 0)
		ck_assert_uint_eq(count.samples, (uint64_t)samples);
	scn_free(scn);
}

START_TEST(predict_window_is_tail_runs_and_head)
{
	check_count(EVENT "open c\nioctl c enable\nioctl c disable\nread c\n", "c", 4, 32,
		    -1);
	check_count(EVENT
		    "open c\nioctl c enable\nrun spin 10\nioctl c disable\nread c\n",
		    "c", 5, 6 + 23 + 83 + 26, -1);
	check_count(EVENT
		    "open c\nioctl c enable\nrun load 10\nrun store 1\nrun branch 2\n"
		    "run mixed 3\nread c\n",
		    "c", 7, 6 + 4 * 23 + 103 + 13 + 55 + 82 + 26, -1);
	check_count(EVENT "open c\nrun spin 10\nread c\n", "c", 3, 0, -1);
}
END_TEST

START_TEST(predict_every_operation_in_a_window_has_its_cost)
{
	check_count(EVENT
		    "open c\nioctl c enable\nmmap c pages=2\npoll c\npoke c data-tail=0\n"
		    "page c\nread c\n",
		    "c", 7, 6 + (32 + 26 + 4 * 3) + (22 + 32) + 22 + (31 + 4 * 136) + 26,
		    -1);
	check_count(EVENT
		    "event d raw/8\nopen c\nioctl c enable\nopen d\nrecords d\nread c\n",
		    "c", 5, 6 + 64 + 18 + 26, -1);
}
END_TEST

START_TEST(predict_group_window_enable_and_reset)
{
	const char *text = EVENT "event i raw/8 exclude=kernel\nopen c\nopen i group=c\n"
				 "ioctl c enable\nioctl i reset\nread i\nread c\n"
				 "ioctl c disable\nread i\n";

	check_count(text, "i", 5, 6 + 26, -1);
	check_count(text, "c", 6, 6 + 32 + 32 + 26, -1);
	check_count(text, "i", 8, 6 + 32 + 32 + 26, -1);
	check_count(EVENT
		    "event i raw/8 exclude=kernel disabled\nopen c\nopen i group=c\n"
		    "ioctl i enable\nrun spin 1\nread i\n",
		    "i", 5, 0, -1);
	check_count(EVENT
		    "event i raw/8 exclude=kernel disabled\nopen c\nopen i group=c\n"
		    "ioctl c enable group\nread i\nioctl c reset group\nread i\n",
		    "i", 6, 32, -1);
}
END_TEST

START_TEST(predict_period_left_survives_disable_reset_and_reads)
{
	const char *slices =
		SAMPLING "open c\nioctl c enable\nrun spin 50\nioctl c disable\n"
			 "ioctl c reset\nioctl c enable\nrun spin 50\n"
			 "ioctl c disable\nread c\n";

	/* 458 and 458 again: 916, then the 1000th is 84 into a third. */
	check_count(slices, "c", 8, 458, 0);
	check_count(SAMPLING "open c\nioctl c enable\nrun spin 50\nioctl c disable\n"
			     "ioctl c enable\nrun spin 60\nioctl c disable\nread c\n",
		    "c", 7, 458 + 538, 0);
	check_count(SAMPLING "open c\nioctl c enable\nrun spin 50\nioctl c disable\n"
			     "ioctl c enable\nrun spin 61\nioctl c disable\nread c\n",
		    "c", 7, 458 + 546, 1);
}
END_TEST

START_TEST(predict_period_ioctl_starts_afresh)
{
	check_count(SAMPLING "open c\nioctl c enable\nrun spin 100\nioctl c period 300\n"
			     "run spin 100\nread c\n",
		    "c", 6, 858 + 858, 2);
}
END_TEST

START_TEST(predict_refresh_stops_at_the_overflow)
{
	const char *text = SAMPLING "open c\nioctl c refresh 2\nrun spin 1000\nread c\n"
				    "ioctl c enable\nrun spin 100\nread c\n";

	check_count(text, "c", 4, 2000, 2);
	check_count(text, "c", 7, 2000 + 858, 2);
	/* A second REFRESH adds to what is left of the first. */
	check_count(SAMPLING
		    "open c\nioctl c refresh 2\nrun spin 180\nioctl c refresh 2\n"
		    "run spin 1000\nread c\n",
		    "c", 6, 4000, 4);
}
END_TEST

START_TEST(predict_overflow_on_the_last_instruction_is_an_edge)
{
	struct scn *scn =
		parse("event c raw/8 period=138 sample=ip exclude=kernel disabled\n"
		      "open c\nioctl c enable\nrun spin 10\nioctl c disable\n"
		      "read c\n");
	struct scn_count count = count_of(scn, "c", 5, NULL, 0);

	ck_assert_uint_eq(count.value, 138);
	ck_assert(count.at_edge);
	scn_free(scn);
	scn = parse("event c raw/8 period=137 sample=ip exclude=kernel disabled\n"
		    "open c\nioctl c enable\nrun spin 10\nioctl c disable\nread c\n");
	ck_assert(!count_of(scn, "c", 5, NULL, 0).at_edge);
	scn_free(scn);
}
END_TEST

START_TEST(predict_drain_in_a_window_needs_the_log)
{
	struct scn *scn =
		parse(SAMPLING "open c\nmmap c pages=1\nioctl c enable\nrecords c\n"
			       "ioctl c disable\nread c\nioctl c reset\nread c\n");
	int64_t results[12] = {77, 3, 0, 0x20000000, 0, 0, 48, 0, 8, 0, 8};

	ck_assert(!count_of(scn, "c", 6, NULL, 0).known);
	ck_assert(count_of(scn, "c", 8, NULL, 0).known);
	ck_assert_uint_eq(scn->steps[3].op, 6);
	ck_assert(count_of(scn, "c", 6, results, scn->nops).known);
	ck_assert_uint_eq(count_of(scn, "c", 6, results, scn->nops).value,
			  6 + 43 + 6 * 6 + 26);
	results[6] = -ENOSPC;
	ck_assert_uint_eq(count_of(scn, "c", 6, results, scn->nops).value, 6 + 36 + 26);
	scn_free(scn);
}
END_TEST

START_TEST(predict_failed_calls_change_nothing)
{
	struct scn *scn = parse(EVENT "open c\nioctl c enable\nread c\n");
	int64_t results[5] = {77, -EINVAL, -EBADF, -EBADF, -EBADF};

	ck_assert(!count_of(scn, "c", 3, results, 5).known);
	results[1] = 3;
	results[3] = -EINVAL;
	ck_assert(count_of(scn, "c", 3, results, 5).known);
	ck_assert_uint_eq(count_of(scn, "c", 3, results, 5).value, 0);
	scn_free(scn);
}
END_TEST

START_TEST(predict_noise_is_not_known)
{
	static const char *const bodies[] = {
		"event c hardware/cycles disabled\nopen c\nioctl c enable\nread c\n",
		"event c raw/8 exclude=user disabled\nopen c\nioctl c enable\nread c\n",
		EVENT "open c pid=77 cpu=0\nioctl c enable\nread c\n",
	};
	struct scn *scn = parse(bodies[_i]);

	ck_assert(!count_of(scn, "c", 3, NULL, 0).known);
	scn_free(scn);
}
END_TEST

START_TEST(predict_more_events_than_counters_is_not_known)
{
	struct scn *scn =
		parse("event a raw/8 exclude=kernel\nevent b raw/8 exclude=kernel\n"
		      "event c raw/8 exclude=kernel\nevent d raw/8 exclude=kernel\n"
		      "event e raw/8 exclude=kernel\nevent f raw/8 exclude=kernel\n"
		      "event g raw/8 exclude=kernel\nopen a\nopen b\nopen c\nopen d\n"
		      "open e\nopen f\nread a\nopen g\nread a\n");

	ck_assert(count_of(scn, "a", 7, NULL, 0).known);
	ck_assert(!count_of(scn, "a", 9, NULL, 0).known);
	scn_free(scn);
}
END_TEST

START_TEST(predict_injections_count_where_they_are_let)
{
	const char *head =
		"event s raw/0 period=1000 sample=ip exclude=kernel disabled\nopen s\n";
	char text[512];

	snprintf(text, sizeof(text),
		 "%sinject s 5\nioctl s enable\ninject s 700\n"
		 "inject s 9 el=1\nread s\ninject s 300\nread s\n",
		 head);
	check_count(text, "s", 6, 700, 0);
	check_count(text, "s", 8, 1000, 1);
}
END_TEST

START_TEST(predict_time_is_at_least_the_instructions)
{
	struct scn *scn = parse(EVENT "open c\nread c\nioctl c enable\nrun spin 1000\n"
				      "ioctl c disable\nread c\n");
	struct scn_count count = count_of(scn, "c", 6, NULL, 0);

	ck_assert_uint_eq(count_of(scn, "c", 2, NULL, 0).windows, 0);
	ck_assert_uint_eq(count.windows, 1);
	ck_assert_uint_eq(count.el0_ns, 8058 - 32);
	scn_free(scn);
}
END_TEST

START_TEST(predict_mapping_keeps_a_closed_event_counting)
{
	struct scn *scn =
		parse(SAMPLING "open c\nmmap c pages=1\nioctl c enable\nclose c\n"
			       "run spin 1\nmunmap c\nrun spin 1\n");

	ck_assert_uint_eq(count_of(scn, "c", 5, NULL, 0).value, 6 + 32 + 34);
	ck_assert(!count_of(scn, "c", 6, NULL, 0).known);
	scn_free(scn);
}
END_TEST

/* ---- the corpus */

static void check_shipped(const char *name)
{
	char path[512];
	struct scn *scn;
	struct image image;
	struct scn_count *counts;

	snprintf(path, sizeof(path), "%s/%s", PMULAB_SCENARIOS, name);
	scn = scn_load(path, err, sizeof(err));
	ck_assert_msg(scn != NULL, "%s", err);
	ck_assert_msg((scn->emulator_only != NULL) == !strncmp(name, "emu-", 4),
		      "%s: emulator only is not what its name says", name);
	image = compile(scn);
	free(image.bytes);
	counts = scn_predict(scn, NULL, 0);
	for (unsigned i = 0; i < scn->nsteps * scn->nevents; i++)
		ck_assert_msg(!counts[i].at_edge, "%s: an overflow at a window's end",
			      name);
	free(counts);
	scn_free(scn);
}

START_TEST(scenario_corpus_parses_compiles_and_has_no_edge)
{
	DIR *dir = opendir(PMULAB_SCENARIOS);
	const struct dirent *entry;
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length < 4 || strcmp(entry->d_name + length - 4, ".scn"))
			continue;
		check_shipped(entry->d_name);
		n++;
	}
	closedir(dir);
	ck_assert_uint_ge(n, 200); /* the corpus, not another folder */
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void add_image(Suite *s)
{
	TCase *tc = tcase_create("image");

	tcase_add_test(tc, scenario_image_has_header_end_and_data);
	tcase_add_test(tc, scenario_image_open_and_close);
	tcase_add_test(tc, scenario_image_mapping_goes_by_what_mmap_said);
	tcase_add_loop_test(tc, scenario_image_ioctls_have_their_commands, 0,
			    COUNT(ioctls));
	tcase_add_test(tc, scenario_image_period_and_id_go_by_pointer);
	tcase_add_test(tc, scenario_image_calls_and_attrs_to_change_to);
	tcase_add_test(tc, scenario_image_poll_writes_the_fd_first);
	tcase_add_test(tc, scenario_image_read_asks_for_the_format);
	tcase_add_test(tc, scenario_image_run_and_laboratory);
	tcase_add_test(tc, scenario_image_too_long_is_refused);
	tcase_add_test(tc, scenario_corpus_parses_compiles_and_has_no_edge);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
}

static void add_predict(Suite *s)
{
	TCase *tc = tcase_create("predict");

	tcase_add_test(tc, predict_window_is_tail_runs_and_head);
	tcase_add_test(tc, predict_every_operation_in_a_window_has_its_cost);
	tcase_add_test(tc, predict_group_window_enable_and_reset);
	tcase_add_test(tc, predict_period_left_survives_disable_reset_and_reads);
	tcase_add_test(tc, predict_period_ioctl_starts_afresh);
	tcase_add_test(tc, predict_refresh_stops_at_the_overflow);
	tcase_add_test(tc, predict_overflow_on_the_last_instruction_is_an_edge);
	tcase_add_test(tc, predict_drain_in_a_window_needs_the_log);
	tcase_add_test(tc, predict_failed_calls_change_nothing);
	tcase_add_loop_test(tc, predict_noise_is_not_known, 0, 3);
	tcase_add_test(tc, predict_more_events_than_counters_is_not_known);
	tcase_add_test(tc, predict_injections_count_where_they_are_let);
	tcase_add_test(tc, predict_time_is_at_least_the_instructions);
	tcase_add_test(tc, predict_mapping_keeps_a_closed_event_counting);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("scenario-image");
	SRunner *sr;
	int failed;

	add_image(s);
	add_predict(s);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
