/* SPDX-License-Identifier: MIT */
/* Who a task is and what it may: Linux kernel/sys.c, security/commoncap.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "conformance/bare-machine.h"
#include "kernelcore/sys/cred.h"
#include "kernelcore/sys/internal.h"

enum {
	CAPGET = 90,
	CAPSET = 91,
	SETREGID = 143,
	SETREUID = 145,
	SETUID = 146,
	SETRESUID = 147,
	GETRESUID = 148,
	GETUID = 174,
	GETEUID = 175,
	GETEGID = 177,
	BUF = BM_DATA + 0x100,
};

static struct bare_machine *bm;

static void setup(void)
{
	bm = bm_create();
}

static void teardown(void)
{
	bm_destroy(bm);
}

static void check_ids(uint32_t real, uint32_t effective, uint32_t saved)
{
	uint32_t id[3];

	ck_assert_int_eq(bm_sys(bm, GETRESUID, BUF, BUF + 4, BUF + 8), 0);
	bm_peek(bm, BUF, id, sizeof(id));
	ck_assert_uint_eq(id[0], real);
	ck_assert_uint_eq(id[1], effective);
	ck_assert_uint_eq(id[2], saved);
}

START_TEST(root_gives_its_rights_away_for_good)
{
	ck_assert(ksys_capable(bm->sys, KSYS_CAP_PERFMON));
	ck_assert(ksys_capable(bm->sys, KSYS_CAP_SYS_ADMIN));
	ck_assert_int_eq(bm_sys(bm, SETUID, -1), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, SETUID, 1000), 0);
	check_ids(1000, 1000, 1000);
	ck_assert(!ksys_capable(bm->sys, KSYS_CAP_PERFMON));
	ck_assert(!ksys_capable(bm->sys, KSYS_CAP_IPC_LOCK));
	ck_assert(!ksys_capable(bm->sys, KSYS_CAP_SYS_RESOURCE));
	ck_assert_uint_eq(ksys_current(bm->sys)->cred.permitted, 0);
	ck_assert_int_eq(bm_sys(bm, SETUID, 0), -EPERM);
	ck_assert_int_eq(bm_sys(bm, SETUID, 1000), 0);
	ck_assert_int_eq(bm_sys(bm, SETRESUID, -1, 0, -1), -EPERM);
}
END_TEST

START_TEST(an_effective_id_takes_the_rights_along_and_back)
{
	ck_assert_int_eq(bm_sys(bm, SETRESUID, -1, 1000, -1), 0);
	check_ids(0, 1000, 0);
	ck_assert_int_eq(bm_sys(bm, GETUID), 0);
	ck_assert_int_eq(bm_sys(bm, GETEUID), 1000);
	ck_assert(!ksys_capable(bm->sys, KSYS_CAP_SYS_ADMIN));
	ck_assert_int_eq(bm_sys(bm, SETRESUID, -1, 5, -1), -EPERM);
	/* a third one's id changes nothing before the error is found */
	ck_assert_int_eq(bm_sys(bm, SETRESUID, 1000, 1000, 7), -EPERM);
	check_ids(0, 1000, 0);
	ck_assert_int_eq(bm_sys(bm, SETRESUID, -1, 0, -1), 0);
	ck_assert(ksys_capable(bm->sys, KSYS_CAP_SYS_ADMIN));
}
END_TEST

START_TEST(setreuid_moves_the_saved_id)
{
	/* not by an effective id that is the real one */
	ck_assert_int_eq(bm_sys(bm, SETRESUID, -1, -1, 5), 0);
	ck_assert_int_eq(bm_sys(bm, SETREUID, -1, 0), 0);
	check_ids(0, 0, 5);
	ck_assert_int_eq(bm_sys(bm, SETREUID, -1, 1000), 0);
	check_ids(0, 1000, 1000);
	ck_assert_int_eq(bm_sys(bm, SETREUID, 1000, 0), 0);
	check_ids(1000, 0, 0);
	ck_assert(ksys_capable(bm->sys, KSYS_CAP_PERFMON));
	ck_assert_int_eq(bm_sys(bm, SETREGID, -1, 5), 0);
	ck_assert_int_eq(bm_sys(bm, GETEGID), 5);
}
END_TEST

START_TEST(single_rights_are_dropped)
{
	uint32_t header[2] = { 0x20080522, 0 }, words[6];

	bm_poke(bm, BUF, header, sizeof(header));
	ck_assert_int_eq(bm_sys(bm, CAPGET, BUF, BUF + 16), 0);
	bm_peek(bm, BUF + 16, words, sizeof(words));
	ck_assert_uint_eq(words[0], 0xffffffff);
	ck_assert_uint_eq(words[3], 0x1ff);
	words[3] &= ~(1u << (KSYS_CAP_PERFMON - 32));
	bm_poke(bm, BUF + 16, words, sizeof(words));
	ck_assert_int_eq(bm_sys(bm, CAPSET, BUF, BUF + 16), 0);
	ck_assert(!ksys_capable(bm->sys, KSYS_CAP_PERFMON));
	ck_assert(ksys_capable(bm->sys, KSYS_CAP_SYS_ADMIN));
	words[4] &= ~(1u << (KSYS_CAP_PERFMON - 32));
	bm_poke(bm, BUF + 16, words, sizeof(words));
	ck_assert_int_eq(bm_sys(bm, CAPSET, BUF, BUF + 16), 0);
	words[4] |= 1u << (KSYS_CAP_PERFMON - 32);
	bm_poke(bm, BUF + 16, words, sizeof(words));
	ck_assert_int_eq(bm_sys(bm, CAPSET, BUF, BUF + 16), -EPERM);
	/* another version is told the right one */
	header[0] = 1;
	bm_poke(bm, BUF, header, sizeof(header));
	ck_assert_int_eq(bm_sys(bm, CAPGET, BUF, BUF + 16), -EINVAL);
	bm_peek(bm, BUF, header, sizeof(header));
	ck_assert_uint_eq(header[0], 0x20080522);
}
END_TEST

START_TEST(attaching_asks_for_the_same_user)
{
	struct ksys_task other = { 0 };

	cred_init(&other.cred);
	ck_assert(ksys_may_attach(bm->sys, &other));
	bm_sys(bm, SETUID, 1000);
	ck_assert(!ksys_may_attach(bm->sys, &other));
	other.cred = ksys_current(bm->sys)->cred;
	/* who has changed sides may hold secrets still */
	ck_assert(!other.cred.dumpable);
	ck_assert(!ksys_may_attach(bm->sys, &other));
	cred_exec(&other.cred);
	ck_assert(ksys_may_attach(bm->sys, &other));
	other.cred.suid = 0;
	ck_assert(!ksys_may_attach(bm->sys, &other));
	/* oneself always */
	ck_assert(ksys_may_attach(bm->sys, ksys_current(bm->sys)));
}
END_TEST

START_TEST(limits_are_raised_by_who_may)
{
	uint64_t limit[2] = { 10, 10 };

	bm_sys(bm, SETUID, 1000);
	bm_poke(bm, BUF, limit, sizeof(limit));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, 7, BUF, 0), 0);
	limit[1] = 11;
	bm_poke(bm, BUF, limit, sizeof(limit));
	ck_assert_int_eq(bm_sys(bm, BM_PRLIMIT64, 0, 7, BUF, 0), -EPERM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cred");
	TCase *tc = tcase_create("cred");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, root_gives_its_rights_away_for_good);
	tcase_add_test(tc, an_effective_id_takes_the_rights_along_and_back);
	tcase_add_test(tc, setreuid_moves_the_saved_id);
	tcase_add_test(tc, single_rights_are_dropped);
	tcase_add_test(tc, attaching_asks_for_the_same_user);
	tcase_add_test(tc, limits_are_raised_by_who_may);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
