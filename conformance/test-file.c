/* SPDX-License-Identifier: MIT */
/* Descriptors, what they share, and their limits: Linux fs/file.c, fcntl.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "conformance/bare-machine.h"

enum {
	F_DUPFD,
	F_GETFD,
	F_SETFD,
	F_GETFL,
	F_SETFL,
	F_DUPFD_CLOEXEC = 1030,
	O_RDWR = 02,
	O_NONBLOCK = 04000,
	O_CLOEXEC = 02000000,
	FIOCLEX = 0x5451,
	RLIMIT_NOFILE = 7,
	LIMITS = BM_DATA + 0x100,
	EVENT_CLOEXEC = 8, /* PERF_FLAG_FD_CLOEXEC */
};

static void set_nofile(struct bare_machine *bm, uint64_t cur, uint64_t max)
{
	const uint64_t pair[2] = { cur, max };

	bm_poke(bm, LIMITS, pair, sizeof(pair));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, RLIMIT_NOFILE, LIMITS), 0);
}

START_TEST(an_event_lives_until_its_last_descriptor_is_closed)
{
	struct bare_machine *bm = bm_create();
	int fd = bm_event(bm);

	ck_assert_int_eq(fd, 3);
	ck_assert_int_eq(bm_sys(bm, BM_DUP, fd), 4);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, 9, 0), 9);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_DUPFD, 6), 6);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 3), 0);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 3), -EBADF);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 4), 0);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 6), 0);
	ck_assert_int_eq(bm_sys(bm, BM_READ, 9, BM_DATA, 8), 1);
	ck_assert_str_eq(bm_diary(bm), "open1");
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 9), 0);
	ck_assert_str_eq(bm_diary(bm), "release1");
	bm_destroy(bm);
}
END_TEST

START_TEST(dup3_releases_what_the_number_was)
{
	struct bare_machine *bm = bm_create();
	int one = bm_event(bm), two = bm_event(bm);

	bm_diary(bm);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, one, two, 0), two);
	ck_assert_str_eq(bm_diary(bm), "release2");
	ck_assert_int_eq(bm_sys(bm, BM_IOCTL, two, 0x2400, 0), 101);
	bm_destroy(bm);
}
END_TEST

START_TEST(dup3_refuses_in_linux_order)
{
	struct bare_machine *bm = bm_create();
	int fd = bm_event(bm);

	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, 9, O_NONBLOCK), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, fd, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, 77, 77, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, 77, 9, 0), -EBADF);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, -1, 0), -EBADF);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, 1024, 0), -EBADF);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, 1023, 0), 1023);
	bm_destroy(bm);
}
END_TEST

START_TEST(cloexec_is_the_numbers_and_flags_are_the_files)
{
	struct bare_machine *bm = bm_create();
	long fd = bm_sys(bm, BM_PERF_EVENT_OPEN, 0, 0, -1, -1, EVENT_CLOEXEC);
	long other = bm_sys(bm, BM_DUP, fd);

	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETFD), 1);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, other, F_GETFD), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETFD, 0), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETFD), 0);
	ck_assert_int_eq(bm_sys(bm, BM_IOCTL, other, FIOCLEX), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, other, F_GETFD), 1);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETFD), 0);
	fd = bm_sys(bm, BM_FCNTL, other, F_DUPFD_CLOEXEC, 20);
	ck_assert_int_eq(fd, 20);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETFD), 1);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, fd, 21, O_CLOEXEC), 21);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, 21, F_GETFD), 1);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, other, F_GETFL), O_RDWR | O_NONBLOCK);
	bm_destroy(bm);
}
END_TEST

START_TEST(the_lowest_free_number_is_given)
{
	struct bare_machine *bm = bm_create();

	for (int fd = 3; fd < 10; fd++)
		ck_assert_int_eq(bm_event(bm), fd);
	bm_sys(bm, BM_CLOSE, 7);
	bm_sys(bm, BM_CLOSE, 4);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, 3, F_DUPFD, 5), 7);
	ck_assert_int_eq(bm_event(bm), 4);
	ck_assert_int_eq(bm_event(bm), 10);
	/* a number that an open took and gave back */
	ck_assert_int_eq(bm_sys(bm, BM_PERF_EVENT_OPEN, 1, 0, -1, -1, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_CLOSE, 11), -EBADF);
	ck_assert_int_eq(bm_event(bm), 11);
	bm_destroy(bm);
}
END_TEST

START_TEST(rlimit_nofile_is_emfile)
{
	struct bare_machine *bm = bm_create();

	bm_event(bm);
	set_nofile(bm, 5, 4096);
	ck_assert_int_eq(bm_event(bm), 4);
	ck_assert_int_eq(bm_sys(bm, BM_PERF_EVENT_OPEN, 0, 0, -1, -1, 0), -EMFILE);
	ck_assert_int_eq(bm_sys(bm, BM_DUP, 3), -EMFILE);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, 3, F_DUPFD, 4), -EMFILE);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, 3, F_DUPFD, 5), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_DUP3, 3, 5, 0), -EBADF);
	/* what is open above a lowered limit stays open */
	set_nofile(bm, 1, 4096);
	ck_assert_int_eq(bm_sys(bm, BM_READ, 4, BM_DATA, 8), 2);
	set_nofile(bm, 0, 4096);
	ck_assert_int_eq(bm_sys(bm, BM_DUP, 3), -EMFILE);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, 3, F_DUPFD, 0), -EINVAL);
	bm_destroy(bm);
}
END_TEST

START_TEST(a_thousand_descriptors)
{
	struct bare_machine *bm = bm_create();

	bm_event(bm);
	for (int fd = 4; fd < 1024; fd++)
		ck_assert_int_eq(bm_sys(bm, BM_DUP, 3), fd);
	ck_assert_int_eq(bm_sys(bm, BM_DUP, 3), -EMFILE);
	set_nofile(bm, 4096, 4096);
	ck_assert_int_eq(bm_sys(bm, BM_DUP, 3), 1024);
	bm_diary(bm);
	bm_sys(bm, BM_EXIT, 0);
	ck_assert_str_eq(bm_diary(bm), "release1 exit free");
	bm_destroy(bm);
}
END_TEST

START_TEST(limits_are_set_and_read_as_prlimit_says)
{
	struct bare_machine *bm = bm_create();
	uint64_t pair[2] = { 9, 8 };

	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, RLIMIT_NOFILE, 0, LIMITS), 0);
	bm_peek(bm, LIMITS, pair, sizeof(pair));
	ck_assert_uint_eq(pair[0], 1024);
	ck_assert_uint_eq(pair[1], 4096);
	pair[0] = 4097;
	bm_poke(bm, LIMITS, pair, sizeof(pair));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, RLIMIT_NOFILE, LIMITS), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_SETRLIMIT, RLIMIT_NOFILE, LIMITS), -EINVAL);
	pair[0] = 0;
	pair[1] = 1048577;
	bm_poke(bm, LIMITS, pair, sizeof(pair));
	ck_assert_int_eq(bm_sys(bm, BM_SETRLIMIT, RLIMIT_NOFILE, LIMITS), -EPERM);
	ck_assert_int_eq(bm_sys(bm, BM_SETRLIMIT, RLIMIT_NOFILE, 16), -EFAULT);
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, 16, 0, 0), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 999, 16, 0, 0), -ESRCH);
	/* the old values go out after the new ones are in */
	pair[1] = 4096;
	bm_poke(bm, LIMITS, pair, sizeof(pair));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, RLIMIT_NOFILE, LIMITS, 16), -EFAULT);
	ck_assert_int_eq(bm_sys(bm, BM_GETRLIMIT, RLIMIT_NOFILE, LIMITS + 32), 0);
	bm_peek(bm, LIMITS + 32, pair, sizeof(pair));
	ck_assert_uint_eq(pair[0], 0);
	bm_destroy(bm);
}
END_TEST

START_TEST(exit_closes_in_the_order_of_the_numbers)
{
	struct bare_machine *bm = bm_create();

	for (int i = 0; i < 3; i++)
		bm_event(bm);
	bm_sys(bm, BM_CLOSE, 3);
	ck_assert_int_eq(bm_event(bm), 3);
	bm_diary(bm);
	bm_sys(bm, BM_EXIT, 0);
	ck_assert_str_eq(bm_diary(bm), "release4 release2 release3 exit free");
	bm_destroy(bm);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file");
	TCase *tc = tcase_create("descriptors");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, an_event_lives_until_its_last_descriptor_is_closed);
	tcase_add_test(tc, dup3_releases_what_the_number_was);
	tcase_add_test(tc, dup3_refuses_in_linux_order);
	tcase_add_test(tc, cloexec_is_the_numbers_and_flags_are_the_files);
	tcase_add_test(tc, the_lowest_free_number_is_given);
	tcase_add_test(tc, rlimit_nofile_is_emfile);
	tcase_add_test(tc, a_thousand_descriptors);
	tcase_add_test(tc, limits_are_set_and_read_as_prlimit_says);
	tcase_add_test(tc, exit_closes_in_the_order_of_the_numbers);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
