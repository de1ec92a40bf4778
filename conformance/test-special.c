/* SPDX-License-Identifier: MIT */
/*
 * Files that are no perf events: memfd_create(2), eventfd2(2), the program's own
 * file, and the numbers under /proc/sys/kernel.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bare-machine.h"

enum {
	PAGE = 4096,
	EVENTFD2 = 19,
	PWRITE64 = 68,
	MEMFD_CREATE = 279,
	SETUID = 146,
	R = 1,
	W = 2,
	X = 4,
	SHARED = 1,
	PRIVATE = 2,
	AT_FDCWD = -100,
	O_RDONLY = 0,
	O_WRONLY = 1,
	O_RDWR = 2,
	O_NONBLOCK = 04000,
	SEMAPHORE = 1,
	NAME = BM_DATA + 0x200,
	BUF = BM_DATA + 0x400,
};

static const uint64_t at = UINT64_C(0x10000000);
static struct bare_machine *bm;

static void setup(void)
{
	bm = bm_create();
}

static void teardown(void)
{
	bm_destroy(bm);
}

static long open_file(const char *path, int flags)
{
	bm_poke(bm, NAME, path, strlen(path) + 1);
	return bm_sys(bm, BM_OPENAT, AT_FDCWD, NAME, flags, 0);
}

static long memfd(void)
{
	bm_poke(bm, NAME, "name", 5);
	return bm_sys(bm, MEMFD_CREATE, NAME, 0);
}

static long write_text(long fd, const char *text)
{
	bm_poke(bm, BUF, text, strlen(text));
	return bm_sys(bm, BM_WRITE, fd, BUF, strlen(text));
}

static const char *read_text(long fd)
{
	static char text[64];
	long n = bm_sys(bm, BM_READ, fd, BUF, 63);

	ck_assert_int_ge(n, 0);
	bm_peek(bm, BUF, text, (size_t)n);
	text[n] = '\0';
	return text;
}

START_TEST(a_memfd_is_read_written_and_cut)
{
	long fd = memfd();
	uint8_t stat[128];
	uint64_t size;

	ck_assert_int_eq(fd, 3);
	ck_assert_int_eq(write_text(fd, "hello"), 5);
	ck_assert_int_eq(bm_sys(bm, BM_LSEEK, fd, -3, 1), 2);
	ck_assert_str_eq(read_text(fd), "llo");
	ck_assert_str_eq(read_text(fd), "");
	bm_poke(bm, BUF, "xy", 2);
	ck_assert_int_eq(bm_sys(bm, PWRITE64, fd, BUF, 2, PAGE - 1), 2);
	ck_assert_int_eq(bm_sys(bm, BM_LSEEK, fd, 0, 2), PAGE + 1);
	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, 2), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, 6), 0);
	ck_assert_int_eq(bm_sys(bm, BM_PREAD64, fd, BUF, 63, 0), 6);
	bm_peek(bm, BUF, stat, 6);
	ck_assert_mem_eq(stat, "he\0\0\0\0", 6);
	ck_assert_int_eq(bm_sys(bm, BM_FSTAT, fd, BUF), 0);
	bm_peek(bm, BUF, stat, sizeof(stat));
	memcpy(&size, stat + 48, sizeof(size));
	ck_assert_uint_eq(size, 6);
	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, -1), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, MEMFD_CREATE, NAME, 0x100), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, MEMFD_CREATE, NAME, 8), -EINVAL); /* 6.1 has no MFD_EXEC */
	ck_assert_int_eq(bm_sys(bm, MEMFD_CREATE, 16, 0), -EFAULT);
}
END_TEST

START_TEST(a_memfds_mapping_is_its_contents)
{
	long fd = memfd();
	uint64_t used = bm_pages(bm);

	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, 3 * PAGE), 0);
	ck_assert_int_eq(bm_sys(bm, BM_MMAP, at, 4 * PAGE, R | W, SHARED | 0x10, fd, 0),
			 (long)at);
	ck_assert_int_eq(bm_sys(bm, BM_MMAP, at + 8 * PAGE, PAGE, R | W, PRIVATE | 0x10, fd, PAGE),
			 (long)at + 8 * PAGE);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_WRITES), 1);
	*bm_byte(bm, at + PAGE) = 'a';
	ck_assert_int_eq(bm_sys(bm, BM_PREAD64, fd, BUF, 1, PAGE), 1);
	/* read, then written: a copy of one's own */
	ck_assert_int_eq(bm_touch(bm, at + 8 * PAGE, BM_READS), 1);
	ck_assert_uint_eq(*bm_byte(bm, at + 8 * PAGE), 'a');
	ck_assert_int_eq(bm_touch(bm, at + 8 * PAGE, BM_WRITES), 1);
	*bm_byte(bm, at + 8 * PAGE) = 'b';
	ck_assert_uint_eq(*bm_byte(bm, at + PAGE), 'a');
	/* cut off: gone from both, and what a private copy was */
	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, PAGE), 0);
	ck_assert_ptr_null(bm_byte(bm, at + PAGE));
	ck_assert_ptr_null(bm_byte(bm, at + 8 * PAGE));
	ck_assert_int_eq(bm_sys(bm, BM_READ, 0, at + PAGE, 1), -EFAULT);
	bm_sys(bm, BM_CLOSE, fd);
	ck_assert_int_eq(bm_touch(bm, at, BM_READS), 1);
	ck_assert_int_eq(bm_sys(bm, BM_MUNMAP, at, 16 * PAGE), 0);
	ck_assert_uint_le(bm_pages(bm), used + 4); /* tables, and small objects' pages */
}
END_TEST

START_TEST(beyond_a_files_end_is_a_bus_error)
{
	long fd = memfd();

	bm_sys(bm, BM_FTRUNCATE, fd, 1);
	bm_sys(bm, BM_MMAP, at, 2 * PAGE, R, SHARED | 0x10, fd, 0);
	ck_assert_int_eq(bm_touch(bm, at + PAGE - 1, BM_READS), 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_READS), -1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, 7);
}
END_TEST

START_TEST(the_program_can_read_and_map_itself)
{
	long fd = open_file("/proc/self/exe", O_RDONLY);
	char magic[4];

	ck_assert_int_eq(fd, 3);
	ck_assert_int_eq(bm_sys(bm, BM_READ, fd, BUF, 4), 4);
	bm_peek(bm, BUF, magic, 4);
	ck_assert_mem_eq(magic, "\177ELF", 4);
	ck_assert_int_eq(bm_sys(bm, BM_LSEEK, fd, 0, 2), 2 * PAGE);
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, fd, BUF, 4), -EBADF);
	ck_assert_int_eq(bm_sys(bm, BM_FTRUNCATE, fd, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_MMAP, 0, PAGE, R | W, SHARED, fd, 0), -EACCES);
	ck_assert_int_eq(bm_sys(bm, BM_MMAP, at, 2 * PAGE, R | X, PRIVATE | 0x10, fd, 0),
			 (long)at);
	/* both pages are in memory: one fault maps them */
	ck_assert_int_eq(bm_touch(bm, at, BM_EXECUTES), 1);
	ck_assert_int_eq(bm_touch(bm, at + PAGE, BM_EXECUTES), 0);
	ck_assert_uint_eq(*bm_byte(bm, at + PAGE), 0xda);
	ck_assert_int_eq(open_file("/agent", O_RDWR), -ETXTBSY);
	ck_assert_int_eq(open_file("/nothing", O_RDONLY), -ENOENT);
	ck_assert_int_eq(open_file("", O_RDONLY), -ENOENT);
	ck_assert_int_eq(bm_sys(bm, BM_OPENAT, AT_FDCWD, 16, 0, 0), -EFAULT);
}
END_TEST

static long eventfd(uint64_t count, int flags)
{
	return bm_sys(bm, EVENTFD2, count, flags);
}

static long put(long fd, uint64_t value)
{
	bm_poke(bm, BUF, &value, sizeof(value));
	return bm_sys(bm, BM_WRITE, fd, BUF, 8);
}

static long get(long fd, uint64_t *value)
{
	long n = bm_sys(bm, BM_READ, fd, BUF, 8);

	if (n > 0)
		bm_peek(bm, BUF, value, sizeof(*value));
	return n;
}

START_TEST(an_eventfd_adds_up)
{
	long fd = eventfd(3, O_NONBLOCK);
	uint64_t value = 0;

	ck_assert_int_eq(put(fd, 4), 8);
	ck_assert_int_eq(get(fd, &value), 8);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(get(fd, &value), -EAGAIN);
	ck_assert_int_eq(put(fd, UINT64_MAX), -EINVAL);
	ck_assert_int_eq(put(fd, UINT64_MAX - 1), 8);
	ck_assert_int_eq(put(fd, 1), -EAGAIN);
	ck_assert_int_eq(put(fd, 0), 8);
	ck_assert_int_eq(bm_sys(bm, BM_READ, fd, BUF, 7), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_WRITE, fd, BUF, 7), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_LSEEK, fd, 0, 0), -ESPIPE);
	ck_assert_int_eq(eventfd(0, 2), -EINVAL);
	fd = eventfd(2, SEMAPHORE | O_NONBLOCK);
	ck_assert_int_eq(get(fd, &value), 8);
	ck_assert_uint_eq(value, 1);
	ck_assert_int_eq(get(fd, &value), 8);
	ck_assert_int_eq(get(fd, &value), -EAGAIN);
}
END_TEST

START_TEST(an_eventfd_is_polled)
{
	struct {
		int32_t fd;
		int16_t events, revents;
	} p = { .events = 5 };
	const int64_t now[2] = { 0, 0 };

	p.fd = (int32_t)eventfd(0, O_NONBLOCK);
	bm_poke(bm, BUF, &p, sizeof(p));
	bm_poke(bm, BUF + 64, now, sizeof(now));
	ck_assert_int_eq(bm_sys(bm, BM_PPOLL, BUF, 1, BUF + 64, 0), 1);
	bm_peek(bm, BUF, &p, sizeof(p));
	ck_assert_int_eq(p.revents, 4);
	put(p.fd, UINT64_MAX - 1);
	bm_poke(bm, BUF, &p, sizeof(p));
	ck_assert_int_eq(bm_sys(bm, BM_PPOLL, BUF, 1, BUF + 64, 0), 1);
	bm_peek(bm, BUF, &p, sizeof(p));
	ck_assert_int_eq(p.revents, 1);
}
END_TEST

START_TEST(a_number_of_proc_is_read_once_from_its_beginning)
{
	long fd = open_file("/proc/sys/kernel/perf_event_paranoid", O_RDWR);

	ck_assert_str_eq(read_text(fd), "3\n");
	ck_assert_str_eq(read_text(fd), "");
	/* kernel.sysctl_writes_strict: a write further on is swallowed */
	ck_assert_int_eq(write_text(fd, "1\n"), 2);
	bm_sys(bm, BM_LSEEK, fd, 0, 0);
	ck_assert_str_eq(read_text(fd), "3\n");
	bm_sys(bm, BM_LSEEK, fd, 0, 0);
	ck_assert_int_eq(write_text(fd, " -1 7"), 4);
	ck_assert_int_eq(ksys_sysctl(bm->sys, KSYS_SYSCTL_PARANOID), -1);
	ck_assert_int_eq(open_file("/proc/sys/kernel/perf_event_paranoi", O_RDONLY), -ENOENT);
	ck_assert_int_eq(open_file("/proc/sys/kernel/perf_event_paranoidd", O_RDONLY), -ENOENT);
}
END_TEST

static const struct {
	const char *name, *text;
	long result, value;
} writes[] = {
	{ "perf_event_paranoid", "2", 1, 2 },
	{ "perf_event_paranoid", "0x10\n", 5, 16 },
	{ "perf_event_paranoid", "010", 3, 8 },
	{ "perf_event_paranoid", "-2147483648", 11, INT32_MIN },
	{ "perf_event_paranoid", "2147483648", -EINVAL, 3 },
	{ "perf_event_paranoid", "x", -EINVAL, 3 },
	{ "perf_event_paranoid", "1x", -EINVAL, 3 },
	{ "perf_event_paranoid", "- 1", -EINVAL, 3 },
	{ "perf_event_paranoid", "\n", -EINVAL, 3 },
	{ "perf_event_mlock_kb", "0", 1, 0 },
	/* the percentage is 0 */
	{ "perf_event_max_sample_rate", "100000", -EINVAL, 100000000 },
	{ "perf_event_max_sample_rate", "", -EINVAL, 100000000 },
	{ "perf_cpu_time_max_percent", "25", 2, 25 },
	{ "perf_cpu_time_max_percent", "100", 3, 100 },
	{ "perf_cpu_time_max_percent", "101", -EINVAL, 0 },
	{ "perf_cpu_time_max_percent", "-1", -EINVAL, 0 },
	{ "perf_event_max_stack", "655360", 6, 655360 },
	{ "perf_event_max_stack", "655361", -EINVAL, 127 },
	{ "perf_event_max_contexts_per_stack", "1001", -EINVAL, 8 },
};

START_TEST(a_number_of_proc_is_written_as_linux_parses_it)
{
	static const char *const order[] = {
		"perf_event_paranoid",	     "perf_event_max_sample_rate",
		"perf_event_mlock_kb",	     "perf_cpu_time_max_percent",
		"perf_event_max_stack",	     "perf_event_max_contexts_per_stack",
	};
	char path[96] = "/proc/sys/kernel/";
	enum ksys_sysctl n = 0;
	long fd;

	strcat(path, writes[_i].name);
	while (strcmp(order[n], writes[_i].name) != 0)
		n++;
	fd = open_file(path, O_WRONLY);
	ck_assert_int_eq(fd, 3);
	ck_assert_int_eq(write_text(fd, writes[_i].text), writes[_i].result);
	ck_assert_int_eq(ksys_sysctl(bm->sys, n), writes[_i].value);
	ck_assert_int_eq(bm_sys(bm, BM_READ, fd, BUF, 8), -EBADF);
}
END_TEST

START_TEST(the_rate_is_refused_at_the_percentages_ends)
{
	long rate = open_file("/proc/sys/kernel/perf_event_max_sample_rate", O_WRONLY);
	long percent = open_file("/proc/sys/kernel/perf_cpu_time_max_percent", O_WRONLY);

	ck_assert_int_eq(write_text(percent, "25"), 2);
	ck_assert_int_eq(write_text(rate, "1000"), 4);
	ck_assert_int_eq(ksys_sysctl(bm->sys, KSYS_SYSCTL_MAX_SAMPLE_RATE), 1000);
	bm_sys(bm, BM_LSEEK, rate, 0, 0);
	ck_assert_int_eq(write_text(rate, "0"), -EINVAL);
	bm_sys(bm, BM_LSEEK, percent, 0, 0);
	ck_assert_int_eq(write_text(percent, "100"), 3);
	ck_assert_int_eq(write_text(rate, "2000"), -EINVAL);
}
END_TEST

START_TEST(only_root_may_write_a_number)
{
	ck_assert_int_eq(bm_sys(bm, SETUID, 1000), 0);
	ck_assert_int_eq(open_file("/proc/sys/kernel/perf_event_paranoid", O_RDWR), -EACCES);
	ck_assert_int_eq(open_file("/proc/sys/kernel/perf_event_paranoid", O_RDONLY), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("special");
	TCase *tc = tcase_create("special");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_memfd_is_read_written_and_cut);
	tcase_add_test(tc, a_memfds_mapping_is_its_contents);
	tcase_add_test(tc, beyond_a_files_end_is_a_bus_error);
	tcase_add_test(tc, the_program_can_read_and_map_itself);
	tcase_add_test(tc, an_eventfd_adds_up);
	tcase_add_test(tc, an_eventfd_is_polled);
	tcase_add_test(tc, a_number_of_proc_is_read_once_from_its_beginning);
	tcase_add_loop_test(tc, a_number_of_proc_is_written_as_linux_parses_it, 0,
			    (int)(sizeof(writes) / sizeof(writes[0])));
	tcase_add_test(tc, the_rate_is_refused_at_the_percentages_ends);
	tcase_add_test(tc, only_root_may_write_a_number);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
