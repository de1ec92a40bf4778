/* SPDX-License-Identifier: MIT */
/*
 * /proc/sys/kernel/perf_*: numbers, read and written as text (Linux kernel/sysctl.c
 * proc_dointvec_minmax(), kernel/events/core.c's and callchain.c's handlers).
 */
#include <string.h>

#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"

enum { TEXT = 64 };

struct knob {
	const char *name;
	int32_t min, max;
};

/* clang-format off */
static const struct knob knobs[KSYS_SYSCTLS] = {
	[KSYS_SYSCTL_PARANOID]		= { "perf_event_paranoid", INT32_MIN, INT32_MAX },
	[KSYS_SYSCTL_MAX_SAMPLE_RATE]	= { "perf_event_max_sample_rate", 1, INT32_MAX },
	[KSYS_SYSCTL_MLOCK_KB]		= { "perf_event_mlock_kb", INT32_MIN, INT32_MAX },
	[KSYS_SYSCTL_CPU_TIME_PERCENT]	= { "perf_cpu_time_max_percent", 0, 100 },
	[KSYS_SYSCTL_MAX_STACK]		= { "perf_event_max_stack", 0, 640 * 1024 },
	[KSYS_SYSCTL_MAX_CONTEXTS]	= { "perf_event_max_contexts_per_stack", 0, 1000 },
	[KSYS_SYSCTL_USER_ACCESS]	= { "perf_user_access", 0, 1 },
};
/* clang-format on */

/* What the golden kernels have when a scenario begins: the recorder has raised the
 * rate, then switched the limit of perf's own time off. */
void sysctl_init(struct ksys *sys)
{
	sys->sysctl[KSYS_SYSCTL_PARANOID] = 3;
	sys->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 100000000;
	sys->sysctl[KSYS_SYSCTL_MLOCK_KB] = 516;
	sys->sysctl[KSYS_SYSCTL_CPU_TIME_PERCENT] = 0;
	sys->sysctl[KSYS_SYSCTL_MAX_STACK] = 127;
	sys->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 8;
}

int64_t ksys_sysctl(struct ksys *sys, enum ksys_sysctl name)
{
	return sys->sysctl[name];
}

static const char *after(const char *path, const char *prefix)
{
	while (*prefix && *path == *prefix) {
		path++;
		prefix++;
	}
	return *prefix ? NULL : path;
}

/* Mode 0644: whoever is not root may only read. */
long sysctl_open(struct ksys *sys, const char *path, uint32_t flags, struct file **out)
{
	const char *name = after(path, "/proc/sys/kernel/");
	const char *end;
	unsigned i = 0;

	if (!name)
		return -ENOENT;
	for (; i < KSYS_SYSCTLS; i++) {
		end = after(name, knobs[i].name);
		if (end && !*end)
			break;
	}
	if (i == KSYS_SYSCTLS)
		return -ENOENT;
	if ((flags & O_ACCMODE) != O_RDONLY && ksys_current(sys)->cred.euid)
		return -EACCES;
	*out = file_create(sys, FILE_SYSCTL, (flags & ~(uint32_t)O_CLOEXEC) | O_LARGEFILE);
	if (!*out)
		return -ENOMEM;
	(*out)->sysctl = i;
	return 0;
}

static size_t print(char *text, int64_t value)
{
	char digits[20];
	size_t n = 0, at = 0;
	uint64_t left = value < 0 ? (uint64_t)-value : (uint64_t)value;

	do
		digits[n++] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		text[at++] = '-';
	while (n)
		text[at++] = digits[--n];
	text[at++] = '\n';
	return at;
}

/* All of it at the beginning, nothing later. */
long sysctl_read(struct ksys *sys, const struct file *file, uint64_t pos, uint64_t ubuf,
		 uint64_t count)
{
	char text[24];
	size_t n = print(text, sys->sysctl[file->sysctl]);

	if (pos || !count)
		return 0;
	if (n > count)
		n = count;
	return ksys_copy_to_user(sys, ubuf, text, n) ? -EFAULT : (long)n;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/* An optional sign, then C's three bases; a space, tab or newline must follow, if
 * anything does. How many characters; 0: no such number. */
static size_t parse(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	const char *p = text + negative, *first;
	unsigned base = 10;
	uint64_t v = 0;

	if (digit(*p) > 9)
		return 0;
	if (*p == '0') {
		bool hex = (p[1] | 0x20) == 'x' && digit(p[2]) < 16;

		base = hex ? 16 : 8;
		p += hex ? 2 : 0;
	}
	for (first = p; digit(*p) < base; p++) {
		v = v * base + digit(*p);
		if (v > UINT64_C(1) << 32)
			return 0;
	}
	if (p == first || (*p && *p != ' ' && *p != '\t' && *p != '\n'))
		return 0;
	*value = negative ? -(int64_t)v : (int64_t)v;
	return (size_t)(p - text);
}

static long set(struct ksys *sys, enum ksys_sysctl i, int64_t value)
{
	int rc;

	if (value < INT32_MIN || value > INT32_MAX || value < knobs[i].min ||
	    value > knobs[i].max)
		return -EINVAL;
	rc = kperf_sysctl_check(sys->perf, i);
	if (rc)
		return rc;
	sys->sysctl[i] = value;
	kperf_sysctl_changed(sys->perf, i);
	return 0;
}

long sysctl_write(struct ksys *sys, const struct file *file, uint64_t pos, uint64_t ubuf,
		  uint64_t count)
{
	int64_t percent = sys->sysctl[KSYS_SYSCTL_CPU_TIME_PERCENT], value;
	char text[TEXT + 1] = { 0 };
	size_t n = count < TEXT ? count : TEXT, at = 0, used;
	long rc;

	/* Linux perf_proc_update_handler(): nobody adapts the rate any more */
	if (file->sysctl == KSYS_SYSCTL_MAX_SAMPLE_RATE && (percent == 0 || percent == 100))
		return -EINVAL;
	if (!count)
		return 0;
	if (pos) /* kernel.sysctl_writes_strict */
		return (long)count;
	if (ksys_copy_from_user(sys, text, ubuf, n))
		return -EFAULT;
	while (is_space(text[at]))
		at++;
	used = parse(text + at, &value);
	if (!used)
		return -EINVAL;
	rc = set(sys, file->sysctl, value);
	if (rc)
		return rc;
	at += used;
	while (is_space(text[at]))
		at++;
	return (long)(at < n ? at : n);
}
