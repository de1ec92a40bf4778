/* SPDX-License-Identifier: MIT */
/* Ring records to a trace. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "conformance/decode-lab.h"
#include "corpus/agent/agent-abi.h"

#define ALL_NINE "identifier,ip,tid,time,addr,id,stream-id,cpu,period"

/* ---- records */

/* One sample of all nine fields, 80 bytes; @id names the event twice. */
static void nine(uint8_t *p, uint64_t ip, uint32_t pid, uint64_t time, uint64_t id)
{
	lab_put(p, 9, 4);
	lab_put(p + 4, 2, 2);
	lab_put(p + 6, 80, 2);
	lab_put(p + 8, id, 8);
	lab_put(p + 16, ip, 8);
	lab_put(p + 24, pid, 4);
	lab_put(p + 28, pid, 4);
	lab_put(p + 32, time, 8);
	lab_put(p + 40, 0x1234, 8);
	lab_put(p + 48, id, 8);
	lab_put(p + 56, id, 8);
	lab_put(p + 64, 0, 8);
	lab_put(p + 72, 1000, 8);
}

#define NINE_MASK                                                          \
	"xxxxxxxx........xxxxxxxx................xxxxxxxx................" \
	"xxxxxxxxxxxxxxxx"

START_TEST(decode_sample_has_its_nine_fields)
{
	struct tt_trace *trace;
	uint8_t bytes[160];

	lab_start("event c raw/8 period=1000 sample=" ALL_NINE
		  " exclude=kernel disabled\n"
		  "open c\nmmap c pages=1\nrecords c\n");
	nine(bytes, 0x400100, 77, 5000, 41);
	nine(bytes + 80, 0xffff800010000000, 78, 5001, 99);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	lab_check_from(
		trace, 3,
		"step 3 records c -> 2\n"
		"  sample misc=user size=80 identifier=c ip=0x400100 pid=self tid=self"
		" time=5000 addr=0x1234 id=c stream_id=c cpu=0 period=1000\n"
		"  | 09000000 02005000 ........ ........ 00014000 00000000 ........ "
		"........\n"
		"  | ........ ........ 34120000 00000000 ........ ........ ........ "
		"........\n"
		"  | 00000000 00000000 e8030000 00000000\n"
		"  sample misc=user size=80 identifier=99 ip=0xffff800010000000 "
		"pid=78 tid=78"
		" time=5001 addr=0x1234 id=99 stream_id=99 cpu=0 period=1000\n"
		"  | 09000000 02005000 ........ ........ 00000010 0080ffff ........ "
		"........\n"
		"  | ........ ........ 34120000 00000000 ........ ........ ........ "
		"........\n"
		"  | 00000000 00000000 e8030000 00000000\nend\n");
	lab_check_mask(trace, 3, 0, NINE_MASK);
	ck_assert_int_eq(lab_field(trace, 3, 0, "time")->class, TT_ORDERED);
	ck_assert_int_eq(lab_field(trace, 3, 0, "ip")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 3, 0, "misc")->class, TT_EXACT);
	ck_assert_int_eq(trace->steps[2].result.class, TT_EXACT);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_sample_of_a_noisy_event_is_any)
{
	struct tt_trace *trace;
	uint8_t bytes[80];

	lab_start("event c raw/8 period=1000 sample=" ALL_NINE " exclude=user disabled\n"
		  "open c\nmmap c pages=1\nrecords c\n");
	nine(bytes, 0xffff800010000000, 77, 5000, 41);
	lab_put(bytes + 4, 1, 2);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	ck_assert_int_eq(trace->steps[2].result.class, TT_BOUNDED);
	ck_assert_uint_eq(trace->steps[2].result.lo, 1);
	ck_assert_str_eq(lab_field(trace, 3, 0, "misc")->token, "kernel");
	ck_assert_int_eq(lab_field(trace, 3, 0, "misc")->class, TT_ANY);
	ck_assert_int_eq(lab_field(trace, 3, 0, "ip")->class, TT_BOUNDED);
	ck_assert_uint_eq(lab_field(trace, 3, 0, "ip")->lo, 0x400000);
	ck_assert_int_eq(lab_field(trace, 3, 0, "period")->class, TT_EXACT);
	ck_assert_int_eq(lab_field(trace, 3, 0, "pid")->class, TT_EXACT);
	lab_check_mask(trace, 3, 0,
		       "xxxx..xx................................xxxxxxxx................"
		       "xxxxxxxxxxxxxxxx");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_ip_is_a_symbol_of_the_agent)
{
	struct decode_symbols *symbols =
		decode_symbols_load(PMULAB_AGENT_PATH, lab_err, sizeof(lab_err));
	struct tt_trace *trace;
	uint8_t bytes[64];
	static const uint64_t ips[] = {AGENT_WORKLOADS, AGENT_WORKLOADS + 8,
				       AGENT_DISPATCH + 4, 0xffffffff};
	static const char *const names[] = {"spin+0x0", "spin+0x8", "agent_dispatch+0x4",
					    "0xffffffff"};

	ck_assert_msg(symbols != NULL, "%s", lab_err);
	lab_start("event c raw/8 period=1000 sample=ip exclude=kernel disabled\n"
		  "open c\nmmap c pages=1\npeek c\n");
	for (unsigned i = 0; i < 4; i++) {
		lab_put(bytes + 16 * i, 9, 4);
		lab_put(bytes + 16 * i + 4, 2 | 16 << 16, 4);
		lab_put(bytes + 16 * i + 8, ips[i], 8);
	}
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode_with(symbols);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_str_eq(lab_field(trace, 3, i, "ip")->token, names[i]);
	decode_symbols_free(symbols);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_shared_ring_tells_writers_by_id)
{
	struct tt_trace *trace;
	uint8_t bytes[160 + 24];

	lab_start("event c raw/8 period=7 sample=ip exclude=kernel disabled\n"
		  "event d raw/8 period=1000 sample=" ALL_NINE
		  " exclude=kernel disabled\n"
		  "event k raw/8 period=1000 sample=" ALL_NINE " disabled\n"
		  "open c\nopen d\nopen k\nmmap c pages=1\nioctl d set-output c\n"
		  "ioctl k set-output c\nrecords c\n");
	nine(bytes, 0x400100, 77, 1, 42);
	nine(bytes + 80, 0x400100, 77, 2, 43);
	lab_put(bytes + 160, 2, 4);
	lab_put(bytes + 164, 24 << 16, 4);
	lab_put(bytes + 168, 42, 8);
	lab_put(bytes + 176, 3, 8);
	lab_drained(7, bytes, sizeof(bytes));
	trace = lab_decode();
	ck_assert_str_eq(lab_field(trace, 7, 0, "id")->token, "d");
	ck_assert_int_eq(lab_field(trace, 7, 0, "ip")->class, TT_EXACT);
	ck_assert_str_eq(lab_field(trace, 7, 1, "id")->token, "k");
	ck_assert_int_eq(lab_field(trace, 7, 1, "ip")->class, TT_ANY);
	/* One noisy writer: whose records fit is chance. */
	ck_assert_str_eq(lab_field(trace, 7, 2, "lost")->token, "3");
	ck_assert_int_eq(lab_field(trace, 7, 2, "lost")->class, TT_BOUNDED);
	ck_assert_int_eq(trace->steps[6].result.class, TT_BOUNDED);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_shared_ring_without_identifier_finds_the_id)
{
	struct tt_trace *trace;
	uint8_t bytes[24] = {9, 0, 0, 0, 2, 0, 24, 0, 0x10};

	lab_start("event c raw/8 period=7 sample=ip,id exclude=kernel disabled\n"
		  "event k raw/8 period=7 sample=ip,id disabled\n"
		  "open c\nopen k\nmmap c pages=1\nioctl k set-output c\nrecords c\n");
	lab_put(bytes + 16, 42, 8);
	lab_drained(5, bytes, sizeof(bytes));
	trace = lab_decode();
	ck_assert_str_eq(lab_field(trace, 5, 0, "id")->token, "k");
	ck_assert_int_eq(lab_field(trace, 5, 0, "ip")->class, TT_ANY);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_lost_and_throttle_have_trailers)
{
	static const uint64_t words[] = {
		2 | 0ull << 32 | 48ull << 48,
		41,
		7,
		77 | 77ull << 32,
		41,
		0,
		5 | 0ull << 32 | 56ull << 48,
		900,
		41,
		41,
		77 | 77ull << 32,
		41,
		0,
		6 | 0ull << 32 | 56ull << 48,
		950,
		41,
		41,
		77 | 77ull << 32,
		41,
		0,
	};
	struct tt_trace *trace;
	uint8_t bytes[sizeof(words)];

	lab_start(
		"event c raw/8 period=1000 sample=ip,tid,id,cpu exclude=kernel disabled "
		"sample_id_all\nopen c\nmmap c pages=1\nrecords c\n");
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		lab_put(bytes + 8 * i, words[i], 8);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	lab_check_from(
		trace, 3,
		"step 3 records c -> 3\n"
		"  lost misc=unknown size=48 id=c lost=7 s_pid=self s_tid=self s_id=c "
		"s_cpu=0"
		" s_res=0\n"
		"  | 02000000 00003000 ........ ........ 07000000 00000000 ........ "
		"........\n"
		"  | ........ ........ 00000000 00000000\n"
		"  throttle misc=unknown size=56 time=900 id=c stream_id=c s_pid=self"
		" s_tid=self s_id=c s_cpu=0 s_res=0\n"
		"  | 05000000 00003800 ........ ........ ........ ........ ........ "
		"........\n"
		"  | ........ ........ ........ ........ 00000000 00000000\n"
		"  unthrottle misc=unknown size=56 time=950 id=c stream_id=c s_pid=self"
		" s_tid=self s_id=c s_cpu=0 s_res=0\n"
		"  | 06000000 00003800 ........ ........ ........ ........ ........ "
		"........\n"
		"  | ........ ........ ........ ........ 00000000 00000000\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_side_band_and_unknown_records)
{
	static const uint64_t words[] = {
		3 | 0x2000ull << 32 | 24ull << 48,
		77 | 77ull << 32,
		0x74696e69ull, /* init */
		7 | 32ull << 48,
		78 | 77ull << 32,
		78 | 77ull << 32,
		5,
		0x1234 | 1ull << 32 | 16ull << 48,
		6,
	};
	struct tt_trace *trace;
	uint8_t bytes[sizeof(words)];

	lab_start("event c raw/8 exclude=kernel comm task disabled\nopen c\nmmap c "
		  "pages=1\n"
		  "records c\n");
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		lab_put(bytes + 8 * i, words[i], 8);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	lab_check_from(
		trace, 3,
		"step 3 records c -> 3\n"
		"  comm misc=unknown|0x2000 size=24 pid=self tid=self comm=init\n"
		"  | 03000000 00201800 ........ ........ 696e6974 00000000\n"
		"  fork misc=unknown size=32 pid=78 ppid=self tid=78 ptid=self time=5\n"
		"  | 07000000 00002000 ........ ........ ........ ........ ........ "
		"........\n"
		"  type-4660 misc=kernel size=16 rest=8\n"
		"  | 34120000 01001000 ........ ........\nend\n");
	lab_finish(trace);
}
END_TEST

START_TEST(decode_sample_longer_or_shorter_than_its_type)
{
	struct tt_trace *trace;
	uint8_t bytes[24 + 8] = {9, 0, 0, 0, 2, 0, 24, 0};

	lab_start("event c raw/8 period=1 sample=ip exclude=kernel disabled\n"
		  "open c\nmmap c pages=1\nrecords c\n");
	lab_put(bytes + 24, 9 | 2ull << 32 | 8ull << 48, 8);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	ck_assert_str_eq(lab_field(trace, 3, 0, "rest")->token, "8");
	lab_check_mask(trace, 3, 0, "xxxxxxxxxxxxxxxxxxxxxxxx");
	ck_assert_str_eq(lab_field(trace, 3, 1, "cut")->token, "8");
	lab_finish(trace);
}
END_TEST

static const struct {
	uint16_t size;
	const char *want;
} broken[] = {
	{0, "step 3 records c -> 1\n  sample misc=user size=8\n  | 09000000 02000800\n"
	    "  broken offset=8\nend\n"},
	{4, "step 3 records c -> 1\n  sample misc=user size=8\n  | 09000000 02000800\n"
	    "  broken offset=8\nend\n"},
	{12, "step 3 records c -> 1\n  sample misc=user size=8\n  | 09000000 02000800\n"
	     "  broken offset=8\nend\n"},
	{24, "step 3 records c -> 1\n  sample misc=user size=8\n  | 09000000 02000800\n"
	     "  broken offset=8\nend\n"},
};

START_TEST(decode_broken_ring_ends_its_step)
{
	struct tt_trace *trace;
	uint8_t bytes[24] = {9, 0, 0, 0, 2, 0, 8, 0, 9};

	lab_start(
		"event c raw/8 period=1 exclude=kernel disabled\nopen c\nmmap c pages=1\n"
		"records c\n");
	lab_put(bytes + 14, broken[_i].size, 2);
	lab_drained(3, bytes, sizeof(bytes));
	trace = lab_decode();
	lab_check_from(trace, 3, broken[_i].want);
	lab_finish(trace);
}
END_TEST

/* Whatever a ring holds, every byte is a record's or behind a `broken`. */
START_TEST(decode_garbage_rings_never_crash)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull * (uint64_t)(_i + 1);
	struct tt_trace *trace;
	uint8_t bytes[512];

	lab_start("event c raw/8 period=1 sample=" ALL_NINE
		  " exclude=kernel sample_id_all disabled\n"
		  "event d raw/8 period=1 sample=ip,tid disabled\nopen c\nopen d\nmmap c "
		  "pages=1\n"
		  "ioctl d set-output c\nrecords c\n");
	for (size_t i = 0; i < sizeof(bytes); i += 8) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		lab_put(bytes + i,
			seed % 12 | (seed >> 8 & 0x7ull) << 32 |
				(seed >> 16 & 0x78ull) << 48,
			8);
	}
	lab_drained(5, bytes, sizeof(bytes));
	trace = lab_decode();
	ck_assert_uint_gt(trace->steps[4].nrecords, 0);
	lab_finish(trace);
}
END_TEST

START_TEST(decode_drain_log_must_fit_its_steps)
{
	uint8_t bytes[8] = {9, 0, 0, 0, 2, 0, 8, 0};

	lab_start(
		"event c raw/8 period=1 exclude=kernel disabled\nopen c\nmmap c pages=1\n"
		"records c\nrecords c\n");
	lab_drained(3, bytes, 8);
	lab_drained(4, bytes, 8);
	lab.ndrain -= 8;
	ck_assert_ptr_null(lab_decode_with(NULL));
	ck_assert_str_eq(lab_err, "t: step 4: the drain log does not hold its 8 bytes");
	lab.ndrain += 16;
	ck_assert_ptr_null(lab_decode_with(NULL));
	ck_assert_str_eq(lab_err, "t: 8 bytes of the drain log are left over");
	lab_result(4, -EFAULT);
	lab.ndrain = 16;
	tt_free(lab_decode());
	scn_free(lab.scn);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Suite *suite(void)
{
	Suite *s = suite_create("decode-record");
	TCase *tc = tcase_create("decode-record");

	tcase_add_test(tc, decode_sample_has_its_nine_fields);
	tcase_add_test(tc, decode_sample_of_a_noisy_event_is_any);
	tcase_add_test(tc, decode_ip_is_a_symbol_of_the_agent);
	tcase_add_test(tc, decode_shared_ring_tells_writers_by_id);
	tcase_add_test(tc, decode_shared_ring_without_identifier_finds_the_id);
	tcase_add_test(tc, decode_lost_and_throttle_have_trailers);
	tcase_add_test(tc, decode_side_band_and_unknown_records);
	tcase_add_test(tc, decode_sample_longer_or_shorter_than_its_type);
	tcase_add_loop_test(tc, decode_broken_ring_ends_its_step, 0, COUNT(broken));
	tcase_add_loop_test(tc, decode_garbage_rings_never_crash, 0, 200);
	tcase_add_test(tc, decode_drain_log_must_fit_its_steps);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(suite());
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
