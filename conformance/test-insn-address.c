/* SPDX-License-Identifier: MIT */
/*
 * insn_address() against the CPU that executes: random loads and stores at
 * addresses where nothing is, and the fault address that they leave.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine.h"

enum {
	RAM_SIZE = 1 << 20,
	CODE = 0x8000,
	WORDS = 6000,
	FORMS = 16,
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static uint64_t reg(void *opaque, unsigned n, bool sp)
{
	const struct machine *m = opaque;

	if (n < 31)
		return cpu_x(m->core, n);
	return sp ? cpu_sp(m->core) : 0;
}

/* What insn-address.c tells apart. */
static unsigned form_of(uint32_t word)
{
	if ((word & 0xffffffe0) == 0xd50b7420)
		return 0;
	if ((word & 0x3a000000) == 0x28000000)
		return 1 + (word >> 23 & 3);
	if ((word & 0x3a000000) != 0x38000000)
		return 5;
	if (word >> 24 & 1)
		return 6;
	if (!(word >> 21 & 1))
		return 7 + (word >> 10 & 3);
	return (word >> 10 & 3) == 2 ? 11 + (word >> 13 & 1) + 2 * (word >> 12 & 1) : 15;
}

static void scramble(struct machine *m, uint64_t *state)
{
	for (unsigned i = 0; i < 31; i++)
		cpu_set_x(m->core, i, 0x1000000 + next_random(state) % 0x2000000 +
					      (i % 3 ? 0 : UINT64_C(0xffffffff00000000)));
	cpu_set_sp(m->core, 0x3000000);
}

START_TEST(insn_address_is_where_the_cpu_faults)
{
	const struct machine_config config = {
		.preset = machine_preset("full"),
		.counters = -1,
		.ram_size = RAM_SIZE,
	};
	unsigned seen[FORMS] = { 0 };
	uint64_t state = 4711;
	char err[128];
	struct machine *m = machine_create(&config, err, sizeof(err));

	ck_assert_msg(m != NULL, "%s", err);
	ck_assert(cpu_sysreg_write(m->core, SYSREG(3, 0, 1, 0, 2), 3 << 20));
	for (unsigned i = 0; i < WORDS; i++) {
		uint32_t word = (uint32_t)(next_random(&state) << 16 ^ next_random(&state));
		const uint64_t pc = MACHINE_RAM_BASE + CODE;
		uint64_t want, mask = UINT64_MAX;

		word = (word & ~(UINT32_C(1) << 25)) | UINT32_C(1) << 27;
		if (i % 64 == 0) {
			word = 0xd50b7420 | (word & 31);
			mask = ~UINT64_C(63);
		}
		if (!insn_access(word).size)
			continue;
		scramble(m, &state);
		memcpy(m->ram + CODE, &word, sizeof(word));
		cpu_sync_icache(m->core, pc, sizeof(word));
		cpu_set_pc(m->core, pc);
		want = insn_address(word, pc, reg, m);
		/* RAM, which a literal is in, does not fault: its successor is UDF */
		if (machine_run(m) != MACHINE_STOP_EXCEPTION || m->exc.elr != pc ||
		    m->exc.esr >> CPU_EC_SHIFT == CPU_EC_UNKNOWN)
			continue;
		ck_assert_msg((m->exc.far & mask) == (want & mask),
			      "0x%08x: 0x%llx, and the CPU says 0x%llx", word,
			      (unsigned long long)want, (unsigned long long)m->exc.far);
		seen[form_of(word)]++;
	}
	for (unsigned i = 0; i < FORMS; i++)
		ck_assert_msg(seen[i] != 0 || i == 15, "form %u was never met", i);
	machine_destroy(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("insn-address");
	TCase *t = tcase_create("oracle");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, insn_address_is_where_the_cpu_faults);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
