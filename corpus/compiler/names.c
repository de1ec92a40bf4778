/* SPDX-License-Identifier: MIT */
/* The names that scenarios use, as include/uapi/linux/perf_event.h has them,
 * lower case and without prefix. Values are numbers, not the host header's
 * constants: the host may be older than the guest. */
#include <string.h>

#include "corpus/agent/agent-abi.h"
#include "corpus/compiler/parse.h"

/* clang-format off */
const struct parse_name parse_sample_names[] = {
	{"ip", 1 << 0}, {"tid", 1 << 1}, {"time", 1 << 2}, {"addr", 1 << 3},
	{"read", 1 << 4}, {"callchain", 1 << 5}, {"id", 1 << 6}, {"cpu", 1 << 7},
	{"period", 1 << 8}, {"stream-id", 1 << 9}, {"raw", 1 << 10},
	{"branch-stack", 1 << 11}, {"regs-user", 1 << 12}, {"stack-user", 1 << 13},
	{"weight", 1 << 14}, {"data-src", 1 << 15}, {"identifier", 1 << 16},
	{"transaction", 1 << 17}, {"regs-intr", 1 << 18}, {"phys-addr", 1 << 19},
	{"aux", 1 << 20}, {"cgroup", 1 << 21}, {"data-page-size", 1 << 22},
	{"code-page-size", 1 << 23}, {"weight-struct", 1 << 24}, {NULL, 0},
};

const struct parse_name parse_read_names[] = {
	{"total-time-enabled", 1}, {"total-time-running", 2}, {"id", 4},
	{"group", 8}, {"lost", 16}, {NULL, 0},
};

const struct parse_name parse_open_flags[] = {
	{"fd-no-group", 1}, {"fd-output", 2}, {"pid-cgroup", 4}, {"fd-cloexec", 8},
	{NULL, 0},
};

const struct parse_name parse_clock_names[] = {
	{"realtime", 0}, {"monotonic", 1}, {"process-cputime-id", 2},
	{"thread-cputime-id", 3}, {"monotonic-raw", 4}, {"realtime-coarse", 5},
	{"monotonic-coarse", 6}, {"boottime", 7}, {"tai", 11}, {NULL, 0},
};

const struct parse_name parse_page_fields[] = {
	{"offset", 16}, {"time-enabled", 24}, {"time-running", 32},
	{"capabilities", 40}, {"time-offset", 56}, {"data-head", 1024},
	{"data-tail", 1032}, {"data-offset", 1040}, {"data-size", 1048},
	{"aux-head", 1056}, {"aux-tail", 1064}, {"aux-offset", 1072},
	{"aux-size", 1080}, {NULL, 0},
};

const struct parse_name parse_workloads[] = {
	{"spin", AGENT_WL_SPIN}, {"load", AGENT_WL_LOAD}, {"store", AGENT_WL_STORE},
	{"branch", AGENT_WL_BRANCH}, {"mixed", AGENT_WL_MIXED},
	{"frames", AGENT_WL_FRAMES}, {NULL, 0},
};

/* include/uapi/asm-generic/unistd.h */
const struct parse_name parse_calls[] = {
	{"dup", 23}, {"fcntl", 25}, {"ftruncate", 46}, {"lseek", 62}, {"write", 64},
	{"pread64", 67}, {"pwrite64", 68}, {"fstat", 80}, {"fsync", 82},
	{"fdatasync", 83}, {NULL, 0},
};

/* name, byte offset, bit, width: struct perf_event_attr up to VER7 */
static const struct parse_field attr_fields[] = {
	{"type", 0, 0, 32}, {"size", 4, 0, 32}, {"config", 8, 0, 64},
	{"sample_period", 16, 0, 64}, {"sample_freq", 16, 0, 64},
	{"sample_type", 24, 0, 64}, {"read_format", 32, 0, 64},
	{"disabled", 40, 0, 1}, {"inherit", 40, 1, 1}, {"pinned", 40, 2, 1},
	{"exclusive", 40, 3, 1}, {"exclude_user", 40, 4, 1},
	{"exclude_kernel", 40, 5, 1}, {"exclude_hv", 40, 6, 1},
	{"exclude_idle", 40, 7, 1}, {"mmap", 40, 8, 1}, {"comm", 40, 9, 1},
	{"freq", 40, 10, 1}, {"inherit_stat", 40, 11, 1},
	{"enable_on_exec", 40, 12, 1}, {"task", 40, 13, 1}, {"watermark", 40, 14, 1},
	{"precise_ip", 40, 15, 2}, {"mmap_data", 40, 17, 1},
	{"sample_id_all", 40, 18, 1}, {"exclude_host", 40, 19, 1},
	{"exclude_guest", 40, 20, 1}, {"exclude_callchain_kernel", 40, 21, 1},
	{"exclude_callchain_user", 40, 22, 1}, {"mmap2", 40, 23, 1},
	{"comm_exec", 40, 24, 1}, {"use_clockid", 40, 25, 1},
	{"context_switch", 40, 26, 1}, {"write_backward", 40, 27, 1},
	{"namespaces", 40, 28, 1}, {"ksymbol", 40, 29, 1}, {"bpf_event", 40, 30, 1},
	{"aux_output", 40, 31, 1}, {"cgroup", 40, 32, 1}, {"text_poke", 40, 33, 1},
	{"build_id", 40, 34, 1}, {"inherit_thread", 40, 35, 1},
	{"remove_on_exec", 40, 36, 1}, {"sigtrap", 40, 37, 1},
	{"reserved_1", 40, 38, 26},
	{"wakeup_events", 48, 0, 32}, {"wakeup_watermark", 48, 0, 32},
	{"bp_type", 52, 0, 32}, {"bp_addr", 56, 0, 64}, {"config1", 56, 0, 64},
	{"bp_len", 64, 0, 64}, {"config2", 64, 0, 64},
	{"branch_sample_type", 72, 0, 64}, {"sample_regs_user", 80, 0, 64},
	{"sample_stack_user", 88, 0, 32}, {"clockid", 92, 0, 32},
	{"sample_regs_intr", 96, 0, 64}, {"aux_watermark", 104, 0, 32},
	{"sample_max_stack", 108, 0, 16}, {"reserved_2", 110, 0, 16},
	{"aux_sample_size", 112, 0, 32}, {"reserved_3", 116, 0, 32},
	{"sig_data", 120, 0, 64},
};

enum { HW_CACHE = 3, BREAKPOINT = 5, TRACEPOINT = 2 };

static const struct parse_name type_names[] = {
	{"hardware", 0}, {"software", 1}, {"tracepoint", TRACEPOINT},
	{"hw-cache", HW_CACHE}, {"raw", 4}, {"breakpoint", BREAKPOINT}, {NULL, 0},
};

static const struct parse_name hardware_names[] = {
	{"cpu-cycles", 0}, {"cycles", 0}, {"instructions", 1},
	{"cache-references", 2}, {"cache-misses", 3}, {"branch-instructions", 4},
	{"branches", 4}, {"branch-misses", 5}, {"bus-cycles", 6},
	{"stalled-cycles-frontend", 7}, {"stalled-cycles-backend", 8},
	{"ref-cpu-cycles", 9}, {NULL, 0},
};

static const struct parse_name software_names[] = {
	{"cpu-clock", 0}, {"task-clock", 1}, {"page-faults", 2},
	{"context-switches", 3}, {"cpu-migrations", 4}, {"page-faults-min", 5},
	{"page-faults-maj", 6}, {"alignment-faults", 7}, {"emulation-faults", 8},
	{"dummy", 9}, {"bpf-output", 10}, {"cgroup-switches", 11}, {NULL, 0},
};

static const struct parse_name cache_names[] = {
	{"l1d", 0}, {"l1i", 1}, {"ll", 2}, {"dtlb", 3}, {"itlb", 4}, {"bpu", 5},
	{"node", 6}, {NULL, 0},
};
static const struct parse_name cache_ops[] = {
	{"read", 0}, {"write", 1}, {"prefetch", 2}, {NULL, 0},
};
static const struct parse_name cache_results[] = {
	{"access", 0}, {"miss", 1}, {NULL, 0},
};
static const struct parse_name breakpoint_types[] = {
	{"r", 1}, {"w", 2}, {"rw", 3}, {"x", 4}, {NULL, 0},
};
/* clang-format on */

const struct parse_field *parse_attr_row(unsigned i)
{
	if (i >= sizeof(attr_fields) / sizeof(attr_fields[0]))
		return NULL;
	return &attr_fields[i];
}

const struct parse_field *parse_attr_field(const char *name, size_t n)
{
	const struct parse_field *field;

	for (unsigned i = 0; (field = parse_attr_row(i)); i++) {
		const struct parse_name one[] = {{field->name, 0}, {NULL, 0}};
		uint64_t unused;

		if (!parse_lookup(one, name, n, &unused))
			return field;
	}
	return NULL;
}

void parse_attr_set(uint8_t *attr, const struct parse_field *field, uint64_t value)
{
	/* Byte by byte: the 16-bit fields do not start a u64. */
	for (unsigned i = 0; i < field->width; i++) {
		unsigned at = field->offset * 8 + field->bit + i;
		uint8_t bit = (uint8_t)(1u << (at % 8));

		attr[at / 8] =
			(uint8_t)((attr[at / 8] & ~bit) | ((value >> i & 1) ? bit : 0));
	}
}

static void set_field(uint8_t *attr, const char *name, uint64_t value)
{
	parse_attr_set(attr, parse_attr_field(name, strlen(name)), value);
}

/* `l1d-read-miss`: three names, joined by dashes as their own words have none. */
static int cache_config(const char *text, uint64_t *config)
{
	const struct parse_name *tables[] = {cache_names, cache_ops, cache_results};

	*config = 0;
	for (unsigned i = 0; i < 3; i++) {
		size_t n = strcspn(text, "-");
		uint64_t v;

		if (parse_lookup(tables[i], text, n, &v) || (text[n] == '-') != (i < 2))
			return -1;
		*config |= v << (8 * i);
		text += n + 1;
	}
	return 0;
}

/* `ADDR[:r|w|rw|x[:LEN]]` */
static int breakpoint_config(struct parser *p, const struct parse_word *word,
			     const char *text, uint8_t *attr)
{
	uint64_t addr, type = 3, len = 8;
	char buffer[32];
	size_t n = strcspn(text, ":");

	if (n >= sizeof(buffer))
		return parse_fail(p, word, "not a number: `%s`", text);
	memcpy(buffer, text, n);
	buffer[n] = '\0';
	if (parse_number(p, word, buffer, UINT64_MAX, &addr))
		return -1;
	if (text[n]) {
		text += n + 1;
		n = strcspn(text, ":");
		if (parse_lookup(breakpoint_types, text, n, &type))
			return parse_fail(p, word, "unknown breakpoint type: `%.*s`",
					  (int)n, text);
		if (text[n] && parse_number(p, word, text + n + 1, 8, &len))
			return -1;
	}
	set_field(attr, "bp_type", type);
	set_field(attr, "bp_addr", addr);
	set_field(attr, "bp_len", len);
	return 0;
}

static int named_config(struct parser *p, const struct parse_word *word, uint64_t type,
			const char *text, uint64_t *config)
{
	int found = -1;

	if (!parse_u64(text, config))
		return 0;
	if (type == 0)
		found = parse_lookup(hardware_names, text, strlen(text), config);
	else if (type == 1)
		found = parse_lookup(software_names, text, strlen(text), config);
	else if (type == HW_CACHE)
		found = cache_config(text, config);
	else if (type == TRACEPOINT && *text) {
		parse_unbuilt(p, "tracepoint by name");
		found = 0;
	}
	if (found)
		return parse_fail(p, word, "unknown event: `%s`", word->text);
	return 0;
}

int parse_event_type(struct parser *p, const struct parse_word *word, uint8_t *attr)
{
	const char *slash = strchr(word->text, '/');
	uint64_t type = 0, config = 0;
	char name[64];
	size_t n;

	if (!slash)
		return parse_fail(p, word, "not TYPE/CONFIG: `%s`", word->text);
	n = (size_t)(slash - word->text);
	if (n >= sizeof(name))
		return parse_fail(p, word, "unknown event type: `%s`", word->text);
	memcpy(name, word->text, n);
	name[n] = '\0';
	if (!strncmp(name, "armv8_", 6)) {
		/* Its number stands in the guest's sysfs only. */
		parse_unbuilt(p, "event type %s", name);
		type = 4;
	} else if (parse_lookup(type_names, name, n, &type) && parse_u64(name, &type)) {
		return parse_fail(p, word, "unknown event type: `%s`", name);
	}
	if (type > UINT32_MAX)
		return parse_fail(p, word, "event type is more than 32 bits: %s", name);
	if (type == BREAKPOINT && !parse_is_name(name))
		return named_config(p, word, type, slash + 1, &config);
	if (type == BREAKPOINT) {
		if (breakpoint_config(p, word, slash + 1, attr))
			return -1;
	} else if (named_config(p, word, type, slash + 1, &config)) {
		return -1;
	}
	set_field(attr, "type", type);
	set_field(attr, "config", config);
	return 0;
}
