/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/compiler/parse.h"

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

/* ---- what is refused, and with which words */

static const struct {
	const char *text, *message;
} refused[] = {
	{"", "t:1: no `scenario v1` in it"},
	{"# nothing\n\n", "t:2: no `scenario v1` in it"},
	{"open c\n", "t:1:1: the first line is not `scenario v1`"},
	{"scenario v2\n", "t:1:1: the first line is not `scenario v1`"},
	{"scenario v1\nfrobnicate c\n", "t:2: unknown verb: frobnicate"},
	{"scenario v1\n\n\nopen c\n", "t:4:6: unknown event: `c`"},
	{"scenario v1\nevent c\n", "t:2: arguments missing: event NAME TYPE/CONFIG ..."},
	{"scenario v1\nevent 1c hardware/cycles\n", "t:2:7: not a name: `1c`"},
	{"scenario v1\n" EVENT EVENT, "t:3:7: event twice: c"},
	{"scenario v1\nevent c hardware\n", "t:2:9: not TYPE/CONFIG: `hardware`"},
	{"scenario v1\nevent c hardwear/cycles\n",
	 "t:2:9: unknown event type: `hardwear`"},
	{"scenario v1\nevent c hardware/bicycles\n",
	 "t:2:9: unknown event: `hardware/bicycles`"},
	{"scenario v1\nevent c hw-cache/l1d-read\n",
	 "t:2:9: unknown event: `hw-cache/l1d-read`"},
	{"scenario v1\nevent c hw-cache/l1d-read-miss-x\n",
	 "t:2:9: unknown event: `hw-cache/l1d-read-miss-x`"},
	{"scenario v1\nevent c breakpoint/1:q\n", "t:2:9: unknown breakpoint type: `q`"},
	{"scenario v1\nevent c 0x100000000/1\n",
	 "t:2:9: event type is more than 32 bits: 0x100000000"},
	{"scenario v1\nevent c raw/1 period=1k\n", "t:2:15: not a number: `1k`"},
	{"scenario v1\nevent c raw/1 period=18446744073709551616\n",
	 "t:2:15: not a number: `18446744073709551616`"},
	{"scenario v1\nevent c raw/1 period=\n", "t:2:15: not a number: ``"},
	{"scenario v1\nevent c raw/1 period=0x\n", "t:2:15: not a number: `0x`"},
	{"scenario v1\nevent c raw/1 period=-1\n", "t:2:15: not a number: `-1`"},
	{"scenario v1\nevent c raw/1 period=1 freq=2\n", "t:2:24: given twice: freq"},
	{"scenario v1\nevent c raw/1 wakeup-events=1 wakeup-watermark=2\n",
	 "t:2:31: given twice: wakeup-watermark"},
	{"scenario v1\nevent c raw/1 wakeup-events=4294967296\n",
	 "t:2:15: 4294967296 is more than 4294967295"},
	{"scenario v1\nevent c raw/1 sample=ip,it\n", "t:2:15: unknown sample: `it`"},
	{"scenario v1\nevent c raw/1 sample=ip,\n", "t:2:15: unknown sample: ``"},
	{"scenario v1\nevent c raw/1 sample=ip,ip\n", "t:2:15: sample twice: ip"},
	{"scenario v1\nevent c raw/1 read=time\n", "t:2:15: unknown read: `time`"},
	{"scenario v1\nevent c raw/1 exclude=all\n", "t:2:15: unknown exclude: `all`"},
	{"scenario v1\nevent c raw/1 clockid=local\n", "t:2:15: unknown clock: `local`"},
	{"scenario v1\nevent c raw/1 enabled\n", "t:2:15: unknown argument: `enabled`"},
	{"scenario v1\nevent c raw/1 config1\n", "t:2:15: unknown argument: `config1`"},
	{"scenario v1\nevent c raw/1 set:config9=1\n",
	 "t:2:15: unknown attr field: `config9=1`"},
	{"scenario v1\nevent c raw/1 set:config1\n",
	 "t:2:15: unknown attr field: `config1`"},
	{"scenario v1\nevent c raw/1 set:precise_ip=4\n", "t:2:15: 4 is more than 3"},
	{"scenario v1\nattr-raw c 123\n",
	 "t:2:12: not a whole number of bytes up to 4096"},
	{"scenario v1\nattr-raw c 12g4\n", "t:2:12: not hex: `g4`"},
	{"scenario v1\n" EVENT "open c pid=me\n", "t:3:8: unknown task: `me`"},
	{"scenario v1\n" EVENT "open c cpu=one\n", "t:3:8: not a number: `one`"},
	{"scenario v1\n" EVENT "open c group=d\n", "t:3:8: unknown event: `d`"},
	{"scenario v1\n" EVENT "open c flags=x\n", "t:3:8: unknown flag: `x`"},
	{"scenario v1\n" EVENT "open c now\n", "t:3:8: unknown argument: `now`"},
	{"scenario v1\n" EVENT "close c c\n", "t:3:9: unexpected: c (close EV)"},
	{"scenario v1\n" EVENT "mmap c prot=r\n",
	 "t:3: arguments missing: mmap EV pages=N"},
	{"scenario v1\n" EVENT "mmap c pages=4096\n", "t:3:8: 4096 is more than 4095"},
	{"scenario v1\n" EVENT "mmap c pages=1 prot=w\n",
	 "t:3:16: prot is r or rw, not `w`"},
	{"scenario v1\n" EVENT "ioctl c start\n", "t:3:9: unknown ioctl: `start`"},
	{"scenario v1\n" EVENT "ioctl c period\n",
	 "t:3: arguments missing: ioctl EV period"},
	{"scenario v1\n" EVENT "ioctl c id group\n", "t:3:12: id has no group form"},
	{"scenario v1\n" EVENT "ioctl c enable 1\n", "t:3:16: unexpected: 1"},
	{"scenario v1\n" EVENT "ioctl c raw 0x100000000 1\n",
	 "t:3:13: 0x100000000 is more than 4294967295"},
	{"scenario v1\n" EVENT "ioctl c set-output d\n", "t:3:20: unknown event: `d`"},
	{"scenario v1\n" EVENT "read c length=4\n",
	 "t:3:8: unknown argument: `length=4`"},
	{"scenario v1\n" EVENT "poll c 5\n", "t:3:8: unknown argument: `5`"},
	{"scenario v1\n" EVENT "mmap c pages=1 prot=r\nrecords c\n",
	 "t:4:9: c is mapped prot=r, records writes to it"},
	{"scenario v1\n" EVENT "poke c data-head\n",
	 "t:3:8: not FIELD=VALUE: `data-head`"},
	{"scenario v1\n" EVENT "poke c index=1\n",
	 "t:3:8: no field of 8 bytes: `index=1`"},
	{"scenario v1\n" EVENT "mmap c pages=1\npoke c 8192=1\n",
	 "t:4:8: outside the mapping or not aligned: `8192=1`"},
	{"scenario v1\nrun spun 1\n", "t:2:5: unknown workload: `spun`"},
	{"scenario v1\nrun spin\n", "t:2: arguments missing: run WORKLOAD N"},
	{"scenario v1\ninject 32 1\n", "t:2:8: counters are 0..30 and 31, not 32"},
	{"scenario v1\ninject 3 1 el=2\n", "t:2:12: 2 is more than 1"},
	{"scenario v1\nat hal 3 run spin 1\n", "t:2: at: `inject` expected"},
	{"scenario v1\nat hal 0 inject 3 1\n", "t:2:4: counted from 1"},
	{"scenario v1\n" EVENT "at c[2 inject 3 1\n", "t:3:4: not EV[nth]: `c[2`"},
	{"scenario v1\nmachine preset=cray\n", "t:2:9: unknown preset: `cray`"},
	{"scenario v1\nmachine cpus=9\n", "t:2:9: 9 is more than 8"},
	{"scenario v1\nmachine irq=maybe\n", "t:2:9: unknown value: `irq=maybe`"},
	{"scenario v1\nmachine hz=1\nmachine hz=1\n",
	 "t:3: second machine line, the first is 2"},
	{"scenario v1\nmask\nmachine hz=1\n",
	 "t:3: machine stands before the first step"},
	{"scenario v1\nexpect bus 1\n", "t:2:12: not a name: `1`"},
	{"scenario v1\nexpect bus wrap counter\n", "t:2:17: not NAME=VALUE: `counter`"},
	{"scenario v1\nexpect train wrap\n",
	 "t:2:8: expect bus or expect probe, not `train`"},
	{"scenario v1\nhostile c\n", "t:2:9: unknown event: `c`"},
	{"scenario v1\nevent c hardware/cycles\nhostile c on\n", "t:3:11: unexpected: on"},
	{"scenario v1\nexpect probe main\n", "t:2:14: no probe stands on `main`"},
	{"scenario v1\nexpect probe armv8pmu_write_counter val=1\n",
	 "t:2:37: armv8pmu_write_counter has no number `val=1`"},
	{"scenario v1\nexpect probe armpmu_event_set_period value=1\n",
	 "t:2:38: armpmu_event_set_period has no number `value=1`"},
	{"scenario v1\nexpect probe perf_adjust_period count=x\n",
	 "t:2:33: perf_adjust_period has no number `count=x`"},
	{"scenario v1\nmask {\n", "t:2: no block: mask"},
	{"scenario v1\n}\n", "t:2:1: `}` closes nothing"},
	{"scenario v1\nrepeat 3\nmask\n", "t:2: `{` missing: repeat N {"},
	{"scenario v1\nyield {\n}\n", "t:2: no block: yield"},
	{"scenario v1\nrepeat { 3\n}\n", "t:2:8: `{` in the wrong place"},
	{"scenario v1\nthread t {\nmask\n", "t:2: block not closed: thread"},
	{"scenario v1\nwait t\n", "t:2:6: unknown task: `t`"},
	{"scenario v1\nfcntl c async\n", "t:2:7: unknown event: `c`"},
	{"scenario v1\nprctl start\n", "t:2:7: enable|disable|name, not `start`"},
	{"scenario v1\nprctl enable|disable\n",
	 "t:2:7: enable|disable|name, not `enable|disable`"},
	{"scenario v1\nsetuid root\n", "t:2:8: not a number: `root`"},
	{"scenario v1\nmask\x01\n", "t:2:5: not a printable character: 0x01"},
	{"scenario v1\nmask\r\n", "t:2:5: not a printable character: 0x0d"},
	{"scenario v1\nyield\nfrobnicate\n", "t:3: unknown verb: frobnicate"},
};

START_TEST(scenario_malformed_is_refused_with_its_place)
{
	const char *text = refused[_i].text;

	errno = 0;
	ck_assert_ptr_null(scn_parse("t", text, strlen(text), err, sizeof(err)));
	ck_assert_str_eq(err, refused[_i].message);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

static const struct {
	const char *text, *message;
} unbuilt[] = {
	{"deny open\n", "t:3: not built yet: deny"},
	{"feed samples.txt\n", "t:3: not built yet: feed"},
	{"event d armv8_pmuv3/0x11\n", "t:3: not built yet: event type armv8_pmuv3"},
	{"event d tracepoint/sched:sched_switch\n",
	 "t:3: not built yet: tracepoint by name"},
};

START_TEST(scenario_unbuilt_is_checked_and_says_so)
{
	char text[512];

	snprintf(text, sizeof(text), "scenario v1\n" EVENT "%s", unbuilt[_i].text);
	errno = 0;
	ck_assert_ptr_null(scn_parse("t", text, strlen(text), err, sizeof(err)));
	ck_assert_str_eq(err, unbuilt[_i].message);
	ck_assert_int_eq(errno, ENOSYS);
}
END_TEST

START_TEST(scenario_set_reaches_what_names_do_not)
{
	struct scn *scn = parse("event d raw/1 set:sample_type=0x21 set:freq=1\n");

	ck_assert_uint_eq(scn->events[0].attr.sample_type, 0x21);
	ck_assert_uint_eq(scn->events[0].attr.freq, 1);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_missing_file_is_named)
{
	errno = 0;
	ck_assert_ptr_null(scn_load("no/such.scn", err, sizeof(err)));
	ck_assert_str_eq(err, "no/such.scn: No such file or directory");
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(scenario_line_and_word_limits_are_refused)
{
	char *text = malloc(20000);
	size_t n = (size_t)sprintf(text, "scenario v1\nmask");

	memset(text + n, ' ', 17000);
	ck_assert_ptr_null(scn_parse("t", text, n + 17000, err, sizeof(err)));
	ck_assert_str_eq(err, "t:2: line longer than 16384 bytes");
	for (size_t i = 0; i < 200; i++)
		text[n + i] = i % 2 ? 'x' : ' ';
	ck_assert_ptr_null(scn_parse("t", text, n + 200, err, sizeof(err)));
	ck_assert_str_eq(err, "t:2: more than 64 words");
	free(text);
}
END_TEST

START_TEST(scenario_more_events_than_slots_is_refused)
{
	char text[8192] = "scenario v1\n";
	size_t n = strlen(text);

	for (int i = 0; i < 65; i++)
		n += (size_t)sprintf(text + n, "event e%d raw/1\n", i);
	ck_assert_ptr_null(scn_parse("t", text, n, err, sizeof(err)));
	ck_assert_str_eq(err, "t:66:7: more than 64 events");
}
END_TEST

START_TEST(scenario_cut_anywhere_never_crashes)
{
	static const char text[] =
		"scenario v1\n" SAMPLING
		"open c cpu=0 flags=fd-cloexec\nmmap c pages=1 prot=rw\n"
		"at c[2] inject c 7 el=1\nexpect bus wrap counter=1 times=2\n";

	for (size_t n = 0; n < sizeof(text) - 1; n++)
		scn_free(scn_parse("t", text, n, err, sizeof(err)));
}
END_TEST

/* ---- attrs */

START_TEST(scenario_attr_defaults_are_zero_but_size)
{
	struct scn *scn = parse("event c raw/0x11\n");
	struct perf_event_attr want = {
		.type = PERF_TYPE_RAW, .size = 128, .config = 0x11};

	ck_assert_uint_eq(scn->events[0].nbytes, SCN_ATTR_SIZE);
	ck_assert_mem_eq(scn->events[0].bytes, &want, SCN_ATTR_SIZE);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_attr_options_fill_the_struct)
{
	struct scn *scn = parse(
		"event c hardware/instructions period=4000 sample=ip,tid,time,addr,id,"
		"stream-id,cpu,period,identifier "
		"read=total-time-enabled,total-time-running,"
		"id,group,lost exclude=user,kernel,hv,idle,host,guest "
		"wakeup-watermark=77 "
		"clockid=boottime disabled pinned sample_id_all exclude-callchain-user "
		"set:precise_ip=2 set:sample_max_stack=0x1234 "
		"set:sig_data=0x1122334455667788\n");
	struct perf_event_attr want = {
		.type = PERF_TYPE_HARDWARE,
		.size = 128,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			       PERF_FORMAT_GROUP | PERF_FORMAT_LOST,
		.exclude_user = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_idle = 1,
		.exclude_host = 1,
		.exclude_guest = 1,
		.watermark = 1,
		.wakeup_watermark = 77,
		.use_clockid = 1,
		.clockid = 7,
		.disabled = 1,
		.pinned = 1,
		.sample_id_all = 1,
		.exclude_callchain_user = 1,
		.precise_ip = 2,
		.sample_max_stack = 0x1234,
		.sig_data = 0x1122334455667788,
	};

	ck_assert_mem_eq(scn->events[0].bytes, &want, SCN_ATTR_SIZE);
	scn_free(scn);
}
END_TEST

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} types[] = {
	{"hardware/cpu-cycles", 0, 0},
	{"hardware/cycles", 0, 0},
	{"hardware/stalled-cycles-backend", 0, 8},
	{"hardware/0x1000000001", 0, 0x1000000001},
	{"software/task-clock", 1, 1},
	{"software/cgroup-switches", 1, 11},
	{"hw-cache/l1d-read-miss", 3, 0x10000},
	{"hw-cache/node-prefetch-access", 3, 0x206},
	{"raw/0x11", 4, 0x11},
	{"tracepoint/42", 2, 42},
	{"8/0x11", 8, 0x11},
	{"0xffffffff/0", 0xffffffff, 0},
};

START_TEST(scenario_attr_types_have_their_numbers)
{
	char text[128];
	struct scn *scn;

	snprintf(text, sizeof(text), "event c %s\n", types[_i].name);
	scn = parse(text);
	ck_assert_uint_eq(scn->events[0].attr.type, types[_i].type);
	ck_assert_uint_eq(scn->events[0].attr.config, types[_i].config);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_attr_breakpoint_has_address_type_length)
{
	struct scn *scn =
		parse("event a breakpoint/0x420000:x:4\nevent b breakpoint/4096\n");

	ck_assert_uint_eq(scn->events[0].attr.type, PERF_TYPE_BREAKPOINT);
	ck_assert_uint_eq(scn->events[0].attr.bp_addr, 0x420000);
	ck_assert_uint_eq(scn->events[0].attr.bp_type, 4);
	ck_assert_uint_eq(scn->events[0].attr.bp_len, 4);
	ck_assert_uint_eq(scn->events[1].attr.bp_type, 3);
	ck_assert_uint_eq(scn->events[1].attr.bp_len, 8);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_attr_size_asks_for_as_many_bytes)
{
	struct scn *scn = parse("event a raw/1 size=63\nevent b raw/1 size=4096\n"
				"event d raw/1 size=0xffffffff\n");

	ck_assert_uint_eq(scn->events[0].attr.size, 63);
	ck_assert_uint_eq(scn->events[0].nbytes, 128);
	ck_assert_uint_eq(scn->events[1].nbytes, 4096);
	ck_assert_uint_eq(scn->events[2].attr.size, 0xffffffff);
	ck_assert_uint_eq(scn->events[2].nbytes, 4096);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_attr_raw_is_the_bytes)
{
	struct scn *scn = parse("attr-raw c 0400000040000000110000000000000007\n");

	ck_assert_uint_eq(scn->events[0].nbytes, 17);
	ck_assert_uint_eq(scn->events[0].attr.type, 4);
	ck_assert_uint_eq(scn->events[0].attr.size, 64);
	ck_assert_uint_eq(scn->events[0].attr.config, 0x11);
	ck_assert_uint_eq(scn->events[0].attr.sample_period, 7);
	ck_assert(scn->events[0].raw);
	scn_free(scn);
}
END_TEST

/* Each bit of the flags' word has one row, and rows lie within the struct. */
START_TEST(scenario_attr_table_covers_the_flags_once)
{
	const struct parse_field *field;
	uint64_t seen = 0;

	for (unsigned i = 0; (field = parse_attr_row(i)); i++) {
		ck_assert_uint_le(field->offset * 8 + field->bit + field->width,
				  SCN_ATTR_SIZE * 8);
		ck_assert_ptr_eq(parse_attr_field(field->name, strlen(field->name)),
				 field);
		for (unsigned bit = 0; field->offset == 40 && bit < field->width; bit++) {
			ck_assert_uint_eq(seen >> (field->bit + bit) & 1, 0);
			seen |= 1ull << (field->bit + bit);
		}
	}
	ck_assert_uint_eq(seen, UINT64_MAX);
	ck_assert_uint_eq(offsetof(struct perf_event_attr, read_format) + 8, 40);
}
END_TEST

START_TEST(scenario_event_counts_follow_type_and_exclusions)
{
	struct scn *scn = parse("event a hardware/cycles exclude=kernel\n"
				"event b raw/0x8 exclude=user\n"
				"event c raw/0x11\n"
				"event d raw/0x0 exclude=kernel\n"
				"event e hardware/instructions exclude=user,kernel\n"
				"event f software/task-clock exclude=kernel\n"
				"event g hardware/cycles exclude=kernel set:freq=1\n"
				"event h hardware/cycles exclude=kernel inherit\n"
				"event i raw/0x1e exclude=kernel\n");
	static const enum scn_counts want[] = {
		SCN_COUNTS_EL0,	    SCN_COUNTS_EL1,	SCN_COUNTS_BOTH,
		SCN_COUNTS_NOTHING, SCN_COUNTS_NOTHING, SCN_COUNTS_UNKNOWN,
		SCN_COUNTS_UNKNOWN, SCN_COUNTS_UNKNOWN, SCN_COUNTS_UNKNOWN,
	};

	for (unsigned i = 0; i < 9; i++)
		ck_assert_msg(scn->events[i].counts == want[i], "%s",
			      scn->events[i].name);
	scn_free(scn);
}
END_TEST

/* ---- steps */

START_TEST(scenario_words_are_its_own_with_single_spaces)
{
	struct scn *scn =
		parse("machine preset=qemu-a57 cpus=1\n" EVENT "  open   c # comment\n\n"
		      "event d raw/1\n"
		      "\tread\tc\tsize=16   \n");

	ck_assert_uint_eq(scn->nsteps, 2);
	ck_assert_str_eq(scn->name, "t");
	ck_assert_str_eq(scn->steps[0].words, "open c");
	ck_assert_uint_eq(scn->steps[0].number, 1);
	ck_assert_uint_eq(scn->steps[0].line, 4);
	ck_assert_str_eq(scn->steps[1].words, "read c size=16");
	ck_assert_uint_eq(scn->steps[1].number, 2);
	ck_assert_uint_eq(scn->steps[1].line, 7);
	ck_assert_ptr_null(scn->emulator_only);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_machine_and_lab_verbs_are_emulator_only)
{
	static const char *const bodies[] = {
		"mask\n",
		"unmask\n",
		"inject 3 1\n",
		"machine hz=100\n",
		"machine reset=poison\n",
		"machine counters=2\n",
		"machine irq=none\n",
		"machine skid=3\n",
		"expect bus wrap\n",
		"at hal 1 inject 3 1\n",
		"hostile c\n",
	};
	struct scn *scn = parse(bodies[_i]);

	ck_assert_ptr_nonnull(scn->emulator_only);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_machine_keys_are_kept)
{
	struct scn *scn =
		parse("machine counters=2 hz=100 skid=7 irq=fail reset=poison\n");

	ck_assert_uint_eq(scn->machine.counters, 2);
	ck_assert_uint_eq(scn->machine.hz, 100);
	ck_assert_uint_eq(scn->machine.skid, 7);
	ck_assert_int_eq(scn->machine.irq, SCN_IRQ_FAIL);
	ck_assert(scn->machine.poison);
	ck_assert_str_eq(scn->machine.preset, "qemu-a57");
	scn_free(scn);
	scn = parse("");
	ck_assert_uint_eq(scn->machine.counters, UINT_MAX);
	ck_assert_uint_eq(scn->machine.cpus, 1);
	ck_assert_int_eq(scn->machine.irq, SCN_IRQ_OK);
	scn_free(scn);
}
END_TEST

/* Real Linux can run it: the recording is corpus/probes'. */
START_TEST(scenario_expect_probe_is_not_the_emulators_alone)
{
	struct scn *scn = parse("yield\n"
				"expect probe armv8pmu_write_counter value=0xfffffc18 times=3\n"
				"expect probe perf_adjust_period count=1 nsec=2\n");

	ck_assert_ptr_null(scn->emulator_only);
	ck_assert_uint_eq(scn->nexpects, 2);
	ck_assert(scn->expects[0].probe);
	ck_assert_uint_eq(scn->expects[0].times, 3);
	ck_assert_uint_eq(scn->expects[0].args[0].value, 0xfffffc18);
	ck_assert_str_eq(scn->expects[1].kind, "perf_adjust_period");
	ck_assert_uint_eq(scn->expects[1].after, 1);
	scn_free(scn);
}
END_TEST

START_TEST(scenario_expect_speaks_of_the_step_before)
{
	struct scn *scn =
		parse("expect bus taken times=0\nmask\n"
		      "expect bus sysreg-write reg=pmevcntr0_el0 value=0xffff\n");

	ck_assert_uint_eq(scn->nsteps, 1);
	ck_assert_uint_eq(scn->nexpects, 2);
	ck_assert_uint_eq(scn->expects[0].after, 0);
	ck_assert_uint_eq(scn->expects[0].times, 0);
	ck_assert_uint_eq(scn->expects[1].after, 1);
	ck_assert_uint_eq(scn->expects[1].times, 1);
	ck_assert_str_eq(scn->expects[1].kind, "sysreg-write");
	ck_assert_uint_eq(scn->expects[1].nargs, 2);
	ck_assert(!scn->expects[1].probe);
	ck_assert_str_eq(scn->expects[1].args[0].name, "reg");
	ck_assert_str_eq(scn->expects[1].args[0].text, "pmevcntr0_el0");
	ck_assert(!scn->expects[1].args[0].number);
	ck_assert(scn->expects[1].args[1].number);
	ck_assert_uint_eq(scn->expects[1].args[1].value, 0xffff);
	ck_assert_uint_eq(scn->expects[1].line, 4);
	scn_free(scn);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void add_parser(Suite *s)
{
	TCase *tc = tcase_create("parser");

	tcase_add_loop_test(tc, scenario_malformed_is_refused_with_its_place, 0,
			    COUNT(refused));
	tcase_add_loop_test(tc, scenario_unbuilt_is_checked_and_says_so, 0,
			    COUNT(unbuilt));
	tcase_add_test(tc, scenario_set_reaches_what_names_do_not);
	tcase_add_test(tc, scenario_missing_file_is_named);
	tcase_add_test(tc, scenario_line_and_word_limits_are_refused);
	tcase_add_test(tc, scenario_more_events_than_slots_is_refused);
	tcase_add_test(tc, scenario_cut_anywhere_never_crashes);
	tcase_add_test(tc, scenario_attr_defaults_are_zero_but_size);
	tcase_add_test(tc, scenario_attr_options_fill_the_struct);
	tcase_add_loop_test(tc, scenario_attr_types_have_their_numbers, 0, COUNT(types));
	tcase_add_test(tc, scenario_attr_breakpoint_has_address_type_length);
	tcase_add_test(tc, scenario_attr_size_asks_for_as_many_bytes);
	tcase_add_test(tc, scenario_attr_raw_is_the_bytes);
	tcase_add_test(tc, scenario_attr_table_covers_the_flags_once);
	tcase_add_test(tc, scenario_event_counts_follow_type_and_exclusions);
	tcase_add_test(tc, scenario_words_are_its_own_with_single_spaces);
	tcase_add_loop_test(tc, scenario_machine_and_lab_verbs_are_emulator_only, 0, 10);
	tcase_add_test(tc, scenario_machine_keys_are_kept);
	tcase_add_test(tc, scenario_expect_speaks_of_the_step_before);
	tcase_add_test(tc, scenario_expect_probe_is_not_the_emulators_alone);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("scenario");
	SRunner *sr;
	int failed;

	add_parser(s);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
