/* SPDX-License-Identifier: MIT */
/* The board: what is where, who interrupts whom, and how a guest says its end. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/bus-log.h"
#include "emu/virt.h"

#define CNTV_CTL_EL0 SYSREG(3, 3, 14, 3, 1)
#define CNTV_CVAL_EL0 SYSREG(3, 3, 14, 3, 2)
#define CNTP_CTL_EL0 SYSREG(3, 3, 14, 2, 1)
#define CNTP_CVAL_EL0 SYSREG(3, 3, 14, 2, 2)
#define CNTVCT_EL0 SYSREG(3, 3, 14, 0, 2)
#define ICC_PMR SYSREG(3, 0, 4, 6, 0)
#define ICC_IAR1 SYSREG(3, 0, 12, 12, 0)
#define ICC_EOIR1 SYSREG(3, 0, 12, 12, 1)
#define ICC_IGRPEN1 SYSREG(3, 0, 12, 12, 7)

enum {
	CPUS = 2,
	SPURIOUS = 1023
};

static uint64_t now;
static struct gic_ppi ppi[CPUS];
static struct gtimer timer[CPUS];
static struct wire_end irq[CPUS];
static struct virt virt;
static char console[256];
static unsigned nconsole, nerrors;
static struct guest_error last_error;

static void put(void *opaque, uint8_t byte)
{
	ck_assert_ptr_eq(opaque, console);
	ck_assert_uint_lt(nconsole, sizeof(console));
	console[nconsole++] = (char)byte;
}

static void guest_error(void *opaque, const struct guest_error *error)
{
	ck_assert_ptr_eq(opaque, &nerrors);
	nerrors++;
	last_error = *error;
}

static void wr(uint64_t pa, unsigned size, uint64_t value)
{
	ck_assert_msg(virt_mmio_write(&virt, pa, size, value), "nothing at %#llx",
		      (unsigned long long)pa);
}

static uint64_t rd(uint64_t pa, unsigned size)
{
	uint64_t value = 0x5555;

	ck_assert_msg(virt_mmio_read(&virt, pa, size, &value), "nothing at %#llx",
		      (unsigned long long)pa);
	return value;
}

static void icc(unsigned cpu, uint32_t enc, uint64_t value)
{
	const struct sysreg_block block = gic_ppi_sysregs(&ppi[cpu]);

	ck_assert_int_eq(sysreg_write(&block, 1, enc, 1, value), SYSREG_OK);
}

static uint64_t ack(unsigned cpu)
{
	const struct sysreg_block block = gic_ppi_sysregs(&ppi[cpu]);
	uint64_t value = 0;

	ck_assert_int_eq(sysreg_read(&block, 1, ICC_IAR1, 1, &value), SYSREG_OK);
	return value;
}

static void cnt(unsigned cpu, uint32_t enc, uint64_t value)
{
	const struct sysreg_block block = gtimer_sysregs(&timer[cpu]);

	ck_assert_int_eq(sysreg_write(&block, 1, enc, 1, value), SYSREG_OK);
}

static void set_up(void)
{
	struct gic_ppi *const gics[CPUS] = {&ppi[0], &ppi[1]};
	struct gtimer *const timers[CPUS] = {&timer[0], &timer[1]};
	const struct virt_config config = {
		.cpus = CPUS,
		.gic = gics,
		.timer = timers,
		.console = {put, console},
		.guest_error = guest_error,
		.opaque = &nerrors,
	};

	now = 0;
	nconsole = nerrors = 0;
	memset(irq, 0, sizeof(irq));
	for (unsigned i = 0; i < CPUS; i++) {
		gic_ppi_init(&ppi[i], (struct irq_line){wire_end_set, &irq[i]}, NULL, i);
		gtimer_init(&timer[i], &now, 1000000000, 62500000);
	}
	virt_init(&virt, &config);
}

/* Distributor on, everything in group 1, the UART and the timers enabled. */
static void set_up_gic(void)
{
	set_up();
	wr(VIRT_GICD, 4, 0x12);
	wr(VIRT_GICD + 0x84, 4, ~0u);
	wr(VIRT_GICD + 0x104, 4, 1u << (VIRT_UART_INTID - 32));
	for (unsigned i = 0; i < CPUS; i++) {
		const uint64_t sgi = VIRT_GICR + i * 0x20000 + 0x10000;

		wr(sgi + 0x80, 4, ~0u);
		wr(sgi + 0x100, 4, 1u << GTIMER_VIRT_INTID | 1u << GTIMER_PHYS_INTID);
		icc(i, ICC_PMR, 0xf0);
		icc(i, ICC_IGRPEN1, 1);
	}
	ck_assert_uint_eq(nerrors, 0);
}

START_TEST(virt_devices_are_where_qemu_has_them)
{
	ck_assert_uint_eq(rd(0x0800ffe8, 4) & 0xf0, 0x30);
	ck_assert_uint_eq(rd(0x080affe8, 4) & 0xf0, 0x30);
	ck_assert_uint_eq(rd(0x080a0008, 8), 0);
	ck_assert_uint_eq(rd(0x080c0008, 8), UINT64_C(1) << 32 | 1 << 8 | 1 << 4);
	ck_assert_uint_eq(rd(0x09000fe0, 1), 0x11);
	ck_assert_uint_eq(nerrors, 0);
}
END_TEST

START_TEST(virt_holes_are_nobodys)
{
	static const struct {
		uint64_t pa;
		unsigned size;
		int there;
	} cases[] = {
		{0x07ffffff, 1, 0},
		{0x08000000, 4, 1},
		{0x0800fffc, 4, 1},
		{0x08010000, 4, 0},
		{0x0800fffc, 8, 0},
		{0x0809fffc, 4, 0},
		{0x080a0000, 4, 1},
		{0x080dfffc, 4, 1},
		{0x080e0000, 4, 0},
		{0x08fffffc, 4, 0},
		{0x09000000, 4, 1},
		{0x09000ffc, 4, 1},
		{0x09001000, 4, 0},
		{0x09010000, 4, 0},
		{0x40000000, 4, 0},
		{0, 4, 0},
		{UINT64_MAX, 1, 0},
		{UINT64_MAX - 7, 8, 0},
		{UINT64_C(0x108000000), 4, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0x5555;

		ck_assert_msg(virt_mmio_read(&virt, cases[i].pa, cases[i].size, &value) ==
				      cases[i].there,
			      "case %zu", i);
		ck_assert(cases[i].there || value == 0x5555);
		ck_assert_msg(virt_mmio_write(&virt, cases[i].pa, cases[i].size, 0) ==
				      cases[i].there,
			      "case %zu", i);
	}
}
END_TEST

START_TEST(virt_guest_errors_are_reported_and_counted)
{
	ck_assert_uint_eq(rd(VIRT_GICD + 0x2000, 4), 0);
	ck_assert_str_eq(last_error.device, "gicd");
	wr(VIRT_GICR + 0x20, 4, 7);
	ck_assert_str_eq(last_error.device, "gicr");
	wr(VIRT_UART + 0x100, 4, 7);
	ck_assert_str_eq(last_error.device, "pl011");
	ck_assert_uint_eq(nerrors, 3);
	for (unsigned i = 0; i < 100; i++)
		rd(VIRT_UART + 0x100, 4);
	ck_assert_uint_eq(nerrors, GUEST_LOG_REPORTS);
	ck_assert_uint_eq(virt.log.count, 103);
}
END_TEST

START_TEST(virt_uart_interrupts_as_spi_1)
{
	wr(VIRT_UART + 0x38, 4, 1 << 5);
	wr(VIRT_UART, 1, 'k');
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_int_eq(irq[1].level, 0);
	ck_assert_uint_eq(ack(0), 33);
	wr(VIRT_UART + 0x44, 4, 1 << 5);
	icc(0, ICC_EOIR1, 33);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(nconsole, 1);
	ck_assert_int_eq(console[0], 'k');
}
END_TEST

START_TEST(virt_timers_are_wired_to_their_own_cpu)
{
	static const struct {
		uint32_t cval, ctl;
		unsigned intid;
	} which[] = {{CNTV_CVAL_EL0, CNTV_CTL_EL0, 27},
		     {CNTP_CVAL_EL0, CNTP_CTL_EL0, 30}};

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		for (unsigned i = 0; i < 2; i++) {
			cnt(cpu, which[i].cval, 0);
			cnt(cpu, which[i].ctl, 1);
			ck_assert_int_eq(irq[cpu].level, 1);
			ck_assert_int_eq(irq[1 - cpu].level, 0);
			ck_assert_uint_eq(ack(cpu), which[i].intid);
			cnt(cpu, which[i].ctl, 0);
			icc(cpu, ICC_EOIR1, which[i].intid);
			ck_assert_uint_eq(ack(cpu), SPURIOUS);
		}
	}
}
END_TEST

START_TEST(virt_deadline_is_the_nearest_of_all_cpus)
{
	ck_assert_uint_eq(virt_deadline(&virt), UINT64_MAX);
	cnt(0, CNTV_CVAL_EL0, 100);
	cnt(0, CNTV_CTL_EL0, 1);
	ck_assert_uint_eq(virt_deadline(&virt), 1600);
	cnt(1, CNTP_CVAL_EL0, 30);
	cnt(1, CNTP_CTL_EL0, 1);
	ck_assert_uint_eq(virt_deadline(&virt), 480);
	now = 479;
	virt_update(&virt);
	ck_assert_int_eq(irq[1].level, 0);
	now = 480;
	virt_update(&virt);
	ck_assert_int_eq(irq[1].level, 1);
	ck_assert_int_eq(irq[0].level, 0);
	ck_assert_uint_eq(virt_deadline(&virt), 1120);
	now = 1600;
	virt_update(&virt);
	ck_assert_int_eq(irq[0].level, 1);
	ck_assert_uint_eq(virt_deadline(&virt), UINT64_MAX);
}
END_TEST

START_TEST(virt_el0_starts_without_counters)
{
	for (unsigned i = 0; i < CPUS; i++) {
		const struct sysreg_block block = gtimer_sysregs(&timer[i]);
		uint64_t value;

		ck_assert_int_eq(sysreg_read(&block, 1, CNTVCT_EL0, 0, &value),
				 SYSREG_TRAP_EL1);
	}
}
END_TEST

/* -- the guest's own word about its end ---------------------------------------------- */

static void say(const char *text)
{
	const unsigned before = nconsole;

	for (const char *p = text; *p; p++)
		wr(VIRT_UART, 1, (uint8_t)*p);
	ck_assert_uint_eq(nconsole - before, strlen(text));
	ck_assert_int_eq(memcmp(console + before, text, strlen(text)), 0);
}

START_TEST(virt_exit_line_is_read_off_the_console)
{
	static const struct {
		const char *text;
		enum virt_exit_by by;
		int status;
	} cases[] = {
		{"EXIT: STATUS=1\n", VIRT_EXIT_CONSOLE, 0},
		{"EXIT: STATUS=3\n", VIRT_EXIT_CONSOLE, 1},
		{"x\r\nEXIT: STATUS=255\r\n", VIRT_EXIT_CONSOLE, 127},
		{"EXIT: STATUS=-1\n", VIRT_EXIT_CONSOLE, 255},
		{"EXIT: STATUS=1\nEXIT: STATUS=5\nmore\n", VIRT_EXIT_CONSOLE, 2},
		{"EXIT: STATUS=1", VIRT_EXIT_NONE, 0},	 /* no end of line yet */
		{"EXIT: STATUS=2\n", VIRT_EXIT_NONE, 0}, /* bit 0 is always set */
		{"EXIT: STATUS=\n", VIRT_EXIT_NONE, 0},
		{"EXIT: STATUS=1x\n", VIRT_EXIT_NONE, 0},
		{" EXIT: STATUS=1\n", VIRT_EXIT_NONE, 0},
		{"EXIT: STATUS\n", VIRT_EXIT_NONE, 0},
		{"EXIT: STATUS=1111111111111111111\n", VIRT_EXIT_NONE, 0}, /* cut off */
		{"\n\n\r\n", VIRT_EXIT_NONE, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up();
		say(cases[i].text);
		ck_assert_msg(virt.exit_by == cases[i].by, "case %zu", i);
		ck_assert_msg(virt.exit_status == cases[i].status, "case %zu", i);
	}
}
END_TEST

/* Two words at 0x1000; all else faults. */
static uint64_t block[2];

static bool load(void *opaque, uint64_t va, uint64_t *value)
{
	ck_assert_ptr_eq(opaque, block);
	if (va != 0x1000 && va != 0x1008)
		return false;
	*value = block[(va - 0x1000) / 8];
	return true;
}

START_TEST(virt_semihosting_exits)
{
	static const struct {
		uint32_t op;
		uint64_t arg, reason, status;
		enum virt_semihost ret;
		enum virt_exit_by by;
		int exit_status;
	} cases[] = {
		{0x18, 0x1000, 0x20026, 0, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING, 0},
		{0x18, 0x1000, 0x20026, 77, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING,
		 77},
		{0x20, 0x1000, 0x20026, 0x101, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING,
		 1},
		{0x20, 0x1000, 0x20023, 0, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING, 1},
		{0x18, 0x0ff8, 0x20026, 0, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING, 1},
		{0x18, 0x1008, 0, 0x20026, VIRT_SEMIHOST_EXIT, VIRT_EXIT_SEMIHOSTING, 1},
		{0x04, 0x1000, 0x20026, 0, VIRT_SEMIHOST_UNKNOWN, VIRT_EXIT_NONE, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up();
		block[0] = cases[i].reason;
		block[1] = cases[i].status;
		ck_assert_msg(virt_semihosting(&virt, cases[i].op, cases[i].arg, load,
					       block) == cases[i].ret,
			      "case %zu", i);
		ck_assert_msg(virt.exit_by == cases[i].by, "case %zu", i);
		ck_assert_msg(virt.exit_status == cases[i].exit_status, "case %zu", i);
	}
}
END_TEST

START_TEST(virt_semihosting_outweighs_the_console)
{
	say("EXIT: STATUS=3\n");
	block[0] = 0x20026;
	block[1] = 9;
	virt_semihosting(&virt, 0x18, 0x1000, load, block);
	ck_assert_int_eq(virt.exit_status, 9);
	say("EXIT: STATUS=3\n");
	ck_assert_int_eq(virt.exit_status, 9);
	ck_assert_int_eq(virt.exit_by, VIRT_EXIT_SEMIHOSTING);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("virt");
	TCase *map = tcase_create("map"), *wires = tcase_create("wires");

	tcase_add_checked_fixture(map, set_up, NULL);
	tcase_add_test(map, virt_devices_are_where_qemu_has_them);
	tcase_add_test(map, virt_holes_are_nobodys);
	tcase_add_test(map, virt_guest_errors_are_reported_and_counted);
	tcase_add_test(map, virt_el0_starts_without_counters);
	tcase_add_test(map, virt_exit_line_is_read_off_the_console);
	tcase_add_test(map, virt_semihosting_exits);
	tcase_add_test(map, virt_semihosting_outweighs_the_console);
	suite_add_tcase(s, map);

	tcase_add_checked_fixture(wires, set_up_gic, NULL);
	tcase_add_test(wires, virt_uart_interrupts_as_spi_1);
	tcase_add_test(wires, virt_timers_are_wired_to_their_own_cpu);
	tcase_add_test(wires, virt_deadline_is_the_nearest_of_all_cpus);
	suite_add_tcase(s, wires);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
