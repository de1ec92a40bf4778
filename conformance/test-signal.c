/* SPDX-License-Identifier: MIT */
/* Signals: Linux kernel/signal.c, fs/fcntl.c, arch/arm64/kernel/signal.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bare-machine.h"
#include "kernelcore/sys/internal.h"

enum {
	KILL = 129,
	TGKILL = 131,
	RT_SIGACTION = 134,
	RT_SIGPROCMASK = 135,
	RT_SIGPENDING = 136,
	RT_SIGTIMEDWAIT = 137,
	RT_SIGRETURN = 139,
	CLONE = 220,
	EVENTFD2 = 19,
	SETUID = 146,
	F_SETFL = 4,
	F_SETOWN = 8,
	F_GETOWN = 9,
	F_SETSIG = 10,
	F_SETOWN_EX = 15,
	O_ASYNC_FLAG = 020000,
	SIGUSR1 = 10,
	RT = 40,
	SELF = 2,
	BUF = BM_DATA + 0x400,
	HANDLER = BM_CODE + 0x200,
	RETURN = BM_CODE + 0x300,
	MCONTEXT = 128 + 176,
	RECORDS = MCONTEXT + 288,
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

static void on(int signo, uint64_t handler, uint64_t flags, uint64_t mask)
{
	const uint64_t action[4] = { handler, flags | SA_RESTORER, RETURN, mask };

	bm_poke(bm, BUF, action, sizeof(action));
	ck_assert_int_eq(bm_sys(bm, RT_SIGACTION, signo, BUF, 0, 8), 0);
}

static void block(uint64_t set)
{
	bm_poke(bm, BUF, &set, sizeof(set));
	ck_assert_int_eq(bm_sys(bm, RT_SIGPROCMASK, 2, BUF, 0, 8), 0);
}

/* None is blocked; a handler is entered at once. */
static void let_in(void)
{
	const uint64_t none = 0;

	bm_poke(bm, BUF, &none, sizeof(none));
	bm_sys(bm, RT_SIGPROCMASK, 2, BUF, 0, 8);
}

static uint64_t blocked(void)
{
	uint64_t set;

	ck_assert_int_eq(bm_sys(bm, RT_SIGPROCMASK, 0, 0, BUF, 8), 0);
	bm_peek(bm, BUF, &set, sizeof(set));
	return set;
}

static uint64_t word(uint64_t va)
{
	uint64_t value;

	bm_peek(bm, va, &value, sizeof(value));
	return value;
}

static int signo_of(void)
{
	return (int)bm->user.regs.x[0];
}

/* rt_sigreturn(2) with the stack where the handler found it. */
static void sigreturn(uint64_t frame)
{
	bm->user.regs.sp = frame;
	bm_sys(bm, RT_SIGRETURN);
}

START_TEST(a_handler_is_entered_and_left)
{
	struct hal_context before;
	uint64_t frame;

	on(SIGUSR1, HANDLER, SA_SIGINFO, UINT64_C(1) << 20);
	bm->user.regs.x[19] = 0x1919;
	bm->user.regs.x[29] = 0x2929;
	bm->user.regs.x[30] = 0x3030;
	bm->user.v[3] = 0x33;
	bm->user.fpcr = 1 << 24;
	bm->user.regs.pstate = UINT64_C(0x60000000);
	before = bm->user;
	bm_sys(bm, KILL, SELF, SIGUSR1);
	frame = bm->user.regs.sp;
	ck_assert_int_eq(signo_of(), SIGUSR1);
	ck_assert_uint_eq(bm->user.regs.pc, HANDLER);
	ck_assert_uint_eq(bm->user.regs.x[30], RETURN);
	ck_assert_uint_eq(bm->user.regs.x[1], frame);
	ck_assert_uint_eq(bm->user.regs.x[2], frame + 128);
	ck_assert_uint_eq(frame & 15, 0);
	ck_assert_uint_eq(bm->user.regs.x[29], before.regs.sp - 16);
	ck_assert_uint_eq(word(before.regs.sp - 16), 0x2929);
	ck_assert_uint_eq(word(before.regs.sp - 8), 0x3030);
	ck_assert_uint_eq(word(frame) & 0xffffffff, SIGUSR1);
	ck_assert_uint_eq(word(frame + 16), SELF); /* si_pid, si_uid 0 */
	ck_assert_uint_eq(word(frame + MCONTEXT + 8 + 8 * 19), 0x1919);
	ck_assert_uint_eq(word(frame + MCONTEXT + 8 + 8 * 31), before.regs.sp);
	ck_assert_uint_eq(word(frame + RECORDS), UINT64_C(528) << 32 | 0x46508001);
	ck_assert_uint_eq(word(frame + RECORDS + 528), 0);
	ck_assert_uint_eq(blocked(), UINT64_C(1) << 20 | UINT64_C(1) << (SIGUSR1 - 1));
	bm->user.v[3] = 0;
	bm->user.fpcr = 0;
	sigreturn(frame);
	ck_assert_uint_eq(bm->user.regs.x[0], 0); /* kill's result */
	ck_assert_uint_eq(bm->user.regs.x[19], 0x1919);
	ck_assert_uint_eq(bm->user.regs.sp, before.regs.sp);
	ck_assert_uint_eq(bm->user.regs.pc, before.regs.pc);
	ck_assert_uint_eq(bm->user.regs.pstate, before.regs.pstate);
	ck_assert_uint_eq(bm->user.v[3], 0x33);
	ck_assert_uint_eq(bm->user.fpcr, 1 << 24);
	ck_assert_uint_eq(blocked(), 0);
}
END_TEST

START_TEST(a_frame_of_the_kernels_state_is_refused)
{
	uint64_t frame, el1 = 5;

	on(SIGUSR1, HANDLER, 0, 0);
	bm_sys(bm, KILL, SELF, SIGUSR1);
	frame = bm->user.regs.sp;
	bm_poke(bm, frame + MCONTEXT + 8 + 8 * 33, &el1, sizeof(el1));
	sigreturn(frame);
	ck_assert_int_eq(kentry_status(bm->sys).exited, 1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIG_SEGV);
}
END_TEST

START_TEST(what_is_blocked_waits_and_old_ones_are_one)
{
	on(SIGUSR1, HANDLER, 0, 0);
	on(RT, HANDLER, 0, 0);
	block(UINT64_MAX);
	ck_assert_uint_eq(blocked(), ~(UINT64_C(1) << 8 | UINT64_C(1) << 18));
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(bm_sys(bm, KILL, SELF, SIGUSR1), 0);
		ck_assert_int_eq(bm_sys(bm, TGKILL, SELF, SELF, RT), 0);
	}
	ck_assert_int_eq(bm_sys(bm, RT_SIGPENDING, BUF, 8), 0);
	ck_assert_uint_eq(word(BUF), UINT64_C(1) << (RT - 1) | UINT64_C(1) << (SIGUSR1 - 1));
	for (int i = 0; i < 4; i++) {
		const uint64_t set = ~UINT64_C(0), none[2] = { 0, 0 };

		bm_poke(bm, BUF, &set, 8);
		bm_poke(bm, BUF + 16, none, 16);
		ck_assert_int_eq(bm_sys(bm, RT_SIGTIMEDWAIT, BUF, 0, BUF + 16, 8),
				 i < 3 ? RT : SIGUSR1);
	}
	ck_assert_int_eq(bm_sys(bm, RT_SIGTIMEDWAIT, BUF, 0, BUF + 16, 8), -EAGAIN);
}
END_TEST

START_TEST(default_actions_end_or_do_nothing)
{
	ck_assert_int_eq(bm_sys(bm, KILL, SELF, SIG_CHLD), 0);
	ck_assert_int_eq(bm_sys(bm, KILL, SELF, SIG_URG), 0);
	on(SIGUSR1, SIG_IGN, 0, 0);
	ck_assert_int_eq(bm_sys(bm, KILL, SELF, SIGUSR1), 0);
	ck_assert_int_eq(bm_sys(bm, KILL, SELF, 0), 0);
	ck_assert_int_eq(bm_sys(bm, KILL, 999, 0), -ESRCH);
	ck_assert_int_eq(bm_sys(bm, KILL, SELF, 65), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, TGKILL, SELF + 1, SELF, 0), -ESRCH);
	ck_assert_int_eq(bm_sys(bm, TGKILL, 0, SELF, 0), -EINVAL);
	ck_assert_int_eq(kentry_status(bm->sys).exited, 0);
	bm_sys(bm, KILL, SELF, SIG_IO);
	ck_assert_int_eq(kentry_status(bm->sys).exited, 1);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIG_IO);
}
END_TEST

/* Linux complete_signal(): what a sleeper in rt_sigtimedwait() blocks is nobody's end,
 * though its default action would be, and sig_ignored(): nor is it dropped. */
START_TEST(what_is_waited_for_is_taken_by_who_waits)
{
	static const int waited[] = { SIGUSR1, SIG_CHLD, RT };

	for (unsigned i = 0; i < 3; i++) {
		const uint64_t set = UINT64_C(1) << (waited[i] - 1);

		block(set);
		ck_assert_int_gt(bm_sys(bm, CLONE, 0), SELF);
		bm_poke(bm, BUF, &set, sizeof(set));
		/* it sleeps, and the child goes on behind its clone() */
		ck_assert_int_eq(bm_sys(bm, RT_SIGTIMEDWAIT, BUF, 0, 0, 8), 0);
		ck_assert_int_eq(bm_sys(bm, KILL, SELF, waited[i]), 0);
		ck_assert_int_eq(bm_sys(bm, BM_EXIT, 0), waited[i]);
		ck_assert_int_eq(bm_sys(bm, BM_GETPID), SELF);
		ck_assert_int_eq(kentry_status(bm->sys).exited, 0);
		ck_assert_uint_eq(blocked(), set);
	}
}
END_TEST

START_TEST(a_fault_goes_to_its_handler)
{
	uint64_t frame;

	on(SIG_SEGV, HANDLER, SA_SIGINFO, 0);
	bm_fault(bm, UINT64_C(0x92000046), 0x1238); /* a write, level 2 translation */
	frame = bm->user.regs.sp;
	ck_assert_int_eq(signo_of(), SIG_SEGV);
	ck_assert_uint_eq(word(frame + 8) & 0xffffffff, 1); /* SEGV_MAPERR */
	ck_assert_uint_eq(word(frame + 16), 0x1238);
	ck_assert_uint_eq(word(frame + MCONTEXT), 0x1238);
	ck_assert_uint_eq(word(frame + RECORDS + 528), UINT64_C(16) << 32 | 0x45535201);
	ck_assert_uint_eq(word(frame + RECORDS + 536), 0x92000046);
	/* again in the handler, where it is blocked */
	bm_fault(bm, UINT64_C(0x92000046), 0x1238);
	ck_assert_int_eq(kentry_status(bm->sys).signal, SIG_SEGV);
	ck_assert_uint_eq(kentry_status(bm->sys).far, 0x1238);
}
END_TEST

START_TEST(sigio_tells_the_file_when_asked_to)
{
	int fd = bm_event(bm);
	uint64_t frame;

	on(SIG_IO, HANDLER, SA_SIGINFO, 0);
	on(RT, HANDLER, SA_SIGINFO, 0);
	/* nobody owns it, nobody has asked */
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETFL, O_ASYNC_FLAG), 0);
	ksys_sigio(bm->sys, bm->event[0], false);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETOWN, 999), -ESRCH);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETOWN), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETOWN, SELF), 0);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_GETOWN), SELF);
	ksys_sigio(bm->sys, bm->event[0], false);
	bm_sys(bm, BM_GETPID);
	frame = bm->user.regs.sp;
	ck_assert_int_eq(signo_of(), SIG_IO);
	ck_assert_uint_eq(word(frame + 8) & 0xffffffff, SI_KERNEL);
	sigreturn(frame);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETSIG, 65), -EINVAL);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETSIG, RT), 0);
	block(UINT64_C(1) << (RT - 1));
	ksys_sigio(bm->sys, bm->event[0], false);
	ksys_sigio(bm->sys, bm->event[0], true);
	let_in();
	frame = bm->user.regs.sp;
	ck_assert_int_eq(signo_of(), RT);
	ck_assert_uint_eq(word(frame + 8) & 0xffffffff, 1); /* POLL_IN */
	ck_assert_uint_eq(word(frame + 16), 0x41);
	ck_assert_uint_eq(word(frame + 24) & 0xffffffff, (uint64_t)fd);
	sigreturn(frame);
	frame = bm->user.regs.sp;
	ck_assert_uint_eq(word(frame + 8) & 0xffffffff, 6); /* POLL_HUP */
	ck_assert_uint_eq(word(frame + 16), 0x18);
	sigreturn(frame);
	ck_assert_int_eq(bm_sys(bm, BM_FCNTL, fd, F_SETFL, 0), 0);
	ksys_sigio(bm->sys, bm->event[0], false);
	ck_assert_int_eq(bm_sys(bm, BM_GETPID), SELF);
}
END_TEST

START_TEST(a_closed_file_tells_nobody)
{
	int fd = bm_event(bm);

	on(SIG_IO, HANDLER, 0, 0);
	bm_sys(bm, BM_FCNTL, fd, F_SETOWN, SELF);
	bm_sys(bm, BM_FCNTL, fd, F_SETFL, O_ASYNC_FLAG);
	bm_sys(bm, BM_CLOSE, fd);
	ck_assert_ptr_null(bm->sys->async_files);
	ksys_sigio(bm->sys, bm->event[0], false);
	ck_assert_int_eq(bm_sys(bm, BM_GETPID), SELF);
}
END_TEST

START_TEST(a_full_queue_falls_back_to_sigio)
{
	int fd = bm_event(bm);

	bm_sys(bm, BM_FCNTL, fd, F_SETOWN, SELF);
	bm_sys(bm, BM_FCNTL, fd, F_SETSIG, RT);
	bm_sys(bm, BM_FCNTL, fd, F_SETFL, O_ASYNC_FLAG);
	block(UINT64_MAX);
	for (int i = 0; i < 256; i++)
		ksys_sigio(bm->sys, bm->event[0], false);
	ck_assert_int_eq(bm_sys(bm, RT_SIGPENDING, BUF, 8), 0);
	ck_assert_uint_eq(word(BUF), UINT64_C(1) << (RT - 1));
	ksys_sigio(bm->sys, bm->event[0], false);
	ck_assert_int_eq(bm_sys(bm, RT_SIGPENDING, BUF, 8), 0);
	ck_assert_uint_eq(word(BUF), UINT64_C(1) << (RT - 1) | UINT64_C(1) << (SIG_IO - 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("signal");
	TCase *tc = tcase_create("signal");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_handler_is_entered_and_left);
	tcase_add_test(tc, a_frame_of_the_kernels_state_is_refused);
	tcase_add_test(tc, what_is_blocked_waits_and_old_ones_are_one);
	tcase_add_test(tc, default_actions_end_or_do_nothing);
	tcase_add_test(tc, what_is_waited_for_is_taken_by_who_waits);
	tcase_add_test(tc, a_fault_goes_to_its_handler);
	tcase_add_test(tc, sigio_tells_the_file_when_asked_to);
	tcase_add_test(tc, a_closed_file_tells_nobody);
	tcase_add_test(tc, a_full_queue_falls_back_to_sigio);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
