/* SPDX-License-Identifier: MIT */
/*
 * Guest mode: kernelcore's image at EL1 of the emulated CPU. What the scenarios
 * do not reach: registers over every way in, a kernel that is interrupted itself,
 * programs and boots that fail, machines of other shapes, and the cycles of the
 * overflow handler.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/tasks/mill.h"
#include "conformance/diff.h"
#include "conformance/runner.h"
#include "emu/board.h"
#include "kernelcore/arm64/initrd.h"

enum { RAM = 64 << 20, CONSOLE = 1 << 16, INITRD = 1 << 20, STATUS_KERNEL = 255 };

#define LIMIT UINT64_C(100000000)
#define EL1H  5

struct file {
	uint8_t *data;
	size_t size;
};

/* One boot: what goes in, what came out. */
struct lab {
	enum cpu_engine engine;
	const char *append;
	struct file kernel;
	uint8_t initrd[INITRD];
	size_t initrd_size;
	enum board_end end;
	int status;
	char console[CONSOLE];
	size_t nconsole;
	uint64_t taken[2]; /* from EL0, from EL1 */
};

static struct file slurp(const char *path)
{
	struct file file;
	char err[256];

	file.data = runner_slurp(path, &file.size, err, sizeof(err));
	ck_assert_msg(file.data != NULL, "%s", err);
	return file;
}

static struct lab *lab_new(const char *program, const void *input, size_t n)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	struct file elf = slurp(program);
	const struct initrd_header header = {
		.magic = INITRD_MAGIC,
		.elf = sizeof(header),
		.elf_size = elf.size,
		.input = sizeof(header) + elf.size,
		.input_size = n,
	};

	ck_assert_ptr_nonnull(lab);
	lab->append = "profile=linux-6.1";
	lab->engine = CPU_ENGINE_BLOCK;
	lab->kernel = slurp(PMULAB_KERNEL_PATH);
	lab->initrd_size = sizeof(header) + elf.size + n;
	ck_assert_uint_le(lab->initrd_size, INITRD);
	memcpy(lab->initrd, &header, sizeof(header));
	memcpy(lab->initrd + header.elf, elf.data, elf.size);
	if (n)
		memcpy(lab->initrd + header.input, input, n);
	free(elf.data);
	return lab;
}

static void lab_free(struct lab *lab)
{
	free(lab->kernel.data);
	free(lab);
}

static void put(void *opaque, uint8_t byte)
{
	struct lab *lab = opaque;

	ck_assert_uint_lt(lab->nconsole, CONSOLE - 1);
	lab->console[lab->nconsole++] = (char)byte;
}

static void on_event(void *opaque, const struct trace_event *event)
{
	struct lab *lab = opaque;

	if (event->kind == TRACE_TAKEN)
		lab->taken[(event->b & 0xf) == EL1H]++;
}

static void boot(struct lab *lab)
{
	const struct board_config config = {
		.machine = {
			.preset = machine_preset("qemu-a57"),
			.engine = lab->engine,
			.counters = -1,
			.ram_size = RAM,
			.max_insns = LIMIT,
		},
		.image = { lab->kernel.data, lab->kernel.size },
		.initrd = { lab->initrd_size ? lab->initrd : NULL, lab->initrd_size },
		.append = lab->append,
		.output = put,
		.opaque = lab,
	};
	char err[256];
	struct board *board = board_create(&config, err, sizeof(err));

	ck_assert_msg(board != NULL, "%s", err);
	ck_assert_int_eq(trace_subscribe(&board_machine(board)->bus, on_event, lab), 0);
	lab->end = board_run(board);
	ck_assert_msg(lab->end == BOARD_OFF, "end %d: %s", lab->end, board_error(board));
	lab->status = board_exit_status(board);
	board_destroy(board);
}

static void expect_console(const struct lab *lab, const char *text)
{
	ck_assert_msg(strstr(lab->console, text) != NULL, "no `%s` in `%s`", text, lab->console);
}

static const enum cpu_engine engines[] = { CPU_ENGINE_STEP, CPU_ENGINE_BLOCK };

/* An interrupt every 7 instructions, over 700 of them and 31 that set registers. */
START_TEST(guest_keeps_every_register_over_interrupts_and_calls)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "registers", NULL, 0);

	lab->engine = engines[_i];
	boot(lab);
	ck_assert_int_eq(lab->status, 0);
	ck_assert_uint_ge(lab->taken[0], 731 / 7);
	ck_assert_uint_eq(lab->taken[1], 0);
	lab_free(lab);
}
END_TEST

/* What it copies in and prints comes through, though each thousand of its own
 * instructions is interrupted. */
START_TEST(guest_kernel_goes_on_after_its_own_interrupts)
{
	static char input[5000];
	struct lab *lab;

	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (char)(i % 64 == 63 ? '\n' : 'A' + i * i % 23);
	lab = lab_new(PMULAB_GUEST_PROGRAMS "echo", input, sizeof(input));
	lab->engine = engines[_i];
	boot(lab);
	ck_assert_int_eq(lab->status, 0);
	ck_assert_uint_gt(lab->nconsole, sizeof(input));
	ck_assert_mem_eq(lab->console, input, sizeof(input));
	/* A few fall where the kernel masks them, on its way out. */
	ck_assert_uint_ge(lab->taken[1], 20);
	ck_assert_uint_ge(lab->taken[1], 5 * lab->taken[0]);
	lab_free(lab);
}
END_TEST

START_TEST(guest_program_that_faults_ends_with_its_signal)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "fault", NULL, 0);

	boot(lab);
	ck_assert_int_eq(lab->status, 128 + 11);
	expect_console(lab, "kernelcore: the program died of signal 0xb at pc 0x400004, "
			    "address 0x10\n");
	lab_free(lab);
}
END_TEST

START_TEST(guest_unmapped_memory_is_gone)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "unmap", NULL, 0);

	boot(lab);
	ck_assert_int_eq(lab->status, 128 + 11);
	expect_console(lab, ", address 0x7000000000\n");
	lab_free(lab);
}
END_TEST

/* The same program and rule in host mode, where the host's write of TTBR0_EL1 must
 * do what the image does by TLBI. */
START_TEST(host_unmapped_memory_is_gone)
{
	const struct host_config config = {
		.machine = {
			.preset = machine_preset("qemu-a57"),
			.engine = engines[_i],
			.counters = -1,
			.ram_size = RAM,
			.max_insns = LIMIT,
		},
		.profile = "linux-6.1",
	};
	struct file elf = slurp(PMULAB_GUEST_PROGRAMS "unmap");
	char err[256] = "";
	struct host *host = host_create(&config, err, sizeof(err));
	enum host_result result;

	ck_assert_msg(host != NULL, "%s", err);
	result = host_run(host, elf.data, elf.size, "", 0, err, sizeof(err));
	ck_assert_msg(result == HOST_EXITED, "%s", err);
	ck_assert_int_eq(host_status(host).signal, 11);
	ck_assert_uint_eq(host_status(host).far, 0x7000000000);
	host_destroy(host);
	free(elf.data);
}
END_TEST

START_TEST(guest_string_functions_are_right)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "string", NULL, 0);

	boot(lab);
	ck_assert_int_eq(lab->status, 0);
	lab_free(lab);
}
END_TEST

START_TEST(guest_laboratory_is_there_when_asked_for_only)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "mask", NULL, 0);

	boot(lab);
	ck_assert_int_eq(lab->status, 38); /* ENOSYS */
	lab_free(lab);
	lab = lab_new(PMULAB_GUEST_PROGRAMS "mask", NULL, 0);
	lab->append = "laboratory profile=linux-6.12 other";
	boot(lab);
	ck_assert_int_eq(lab->status, 0);
	lab_free(lab);
}
END_TEST

/* Without a profile= it is the first one. */
START_TEST(guest_boots_without_arguments)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "registers", NULL, 0);

	lab->append = NULL;
	boot(lab);
	ck_assert_int_eq(lab->status, 0);
	lab_free(lab);
}
END_TEST

enum { BAD_NONE, BAD_MAGIC, BAD_CUT, BAD_RANGE, BAD_ELF, BAD_PROFILE, BAD_LONG_PROFILE, BADS };

static void spoil(struct lab *lab, int how)
{
	struct initrd_header *header = (void *)lab->initrd;

	switch (how) {
	case BAD_NONE:
		lab->initrd_size = 0;
		break;
	case BAD_MAGIC:
		header->magic++;
		break;
	case BAD_CUT:
		lab->initrd_size = sizeof(*header) - 1;
		break;
	case BAD_RANGE:
		header->input = lab->initrd_size + 1;
		break;
	case BAD_ELF:
		lab->initrd[header->elf] ^= 1;
		break;
	case BAD_PROFILE:
		lab->append = "profile=linux-6.1x";
		break;
	case BAD_LONG_PROFILE:
		lab->append = "profile=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
		break;
	}
}

START_TEST(guest_says_why_it_cannot_start)
{
	static const char *const said[BADS] = {
		[BAD_NONE] = "kernelcore: no initrd\n",
		[BAD_MAGIC] = "kernelcore: not an initrd of ours\n",
		[BAD_CUT] = "kernelcore: not an initrd of ours\n",
		[BAD_RANGE] = "kernelcore: not an initrd of ours\n",
		[BAD_ELF] = "kernelcore: not a static AArch64 program\n",
		[BAD_PROFILE] = "kernelcore: no such profile\n",
		[BAD_LONG_PROFILE] = "kernelcore: the profile's name is too long\n",
	};
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "fault", NULL, 0);

	spoil(lab, _i);
	boot(lab);
	ck_assert_int_eq(lab->status, STATUS_KERNEL);
	expect_console(lab, said[_i]);
	lab_free(lab);
}
END_TEST

/* Each DSB ISHST becomes undefined: the first stands in the write of TTBR0_EL1. */
START_TEST(guest_kernel_that_faults_says_where)
{
	struct lab *lab = lab_new(PMULAB_GUEST_PROGRAMS "fault", NULL, 0);
	const uint32_t dsb = 0xd5033a9f, udf = 0;
	unsigned found = 0;

	for (size_t at = 0; at + 4 <= lab->kernel.size; at += 4) {
		if (memcmp(lab->kernel.data + at, &dsb, 4))
			continue;
		memcpy(lab->kernel.data + at, &udf, 4);
		found++;
	}
	ck_assert_uint_ge(found, 2);
	boot(lab);
	ck_assert_int_eq(lab->status, STATUS_KERNEL);
	expect_console(lab, "kernelcore: a fault at EL1: pc 0xffffff80402");
	expect_console(lab, " esr 0x2000000 far 0x0\n");
	lab_free(lab);
}
END_TEST

/* -- scenarios ------------------------------------------------------------------- */

static struct tt_trace *trace_of(const struct scn *scn, struct runner_config config)
{
	struct runner_result result;
	char err[512] = "";

	config.agent = PMULAB_AGENT_PATH;
	config.kernel = PMULAB_KERNEL_PATH;
	config.profile = "linux-6.1";
	ck_assert_msg(!runner_run(scn, &config, &result, err, sizeof(err)), "%s", err);
	free(result.expect_text);
	return result.trace;
}

static struct scn *parse(const char *text)
{
	char err[512];
	struct scn *scn = scn_parse("guest.scn", text, strlen(text), err, sizeof(err));

	ck_assert_msg(scn != NULL, "%s", err);
	return scn;
}

#define SAMPLING                                                                     \
	"event c hardware/cycles period=1000 sample=ip,period exclude=kernel,hv disabled\n" \
	"open c\nmmap c pages=1\nioctl c enable\nrun spin 3000\nioctl c disable\n"     \
	"read c\nrecords c\nmunmap c\nclose c\n"

static const char *const shapes[] = {
	"scenario v1\nmachine preset=qemu-a57 irq=none\n" SAMPLING,
	"scenario v1\nmachine preset=qemu-a57 counters=0\n" SAMPLING,
	"scenario v1\nmachine preset=qemu-a57 counters=31 reset=poison\n" SAMPLING,
};

START_TEST(guest_equals_host_on_machines_of_other_shapes)
{
	struct scn *scn = parse(shapes[_i]);
	struct tt_trace *host = trace_of(scn, (struct runner_config){ .mode = RUNNER_HOST });
	struct tt_trace *guest = trace_of(scn, (struct runner_config){ .mode = RUNNER_GUEST });

	ck_assert_uint_gt(host->nsteps, 8);
	ck_assert_int_eq(diff_trace(host, guest, NULL, stderr, NULL), 0);
	ck_assert_msg(strcmp(host->steps[0].result.token, "fd") == 0 || _i == 0, "step 1: %s",
		      host->steps[0].result.token);
	tt_free(host);
	tt_free(guest);
	scn_free(scn);
}
END_TEST

/* Threads, forks, sleeps and switches under the kernel at EL1: tasks and the CPU
 * count the same (test-schedules.c). */
START_TEST(guest_counts_of_many_tasks_are_conserved)
{
	for (uint64_t seed = 1; seed < 9; seed++) {
		const struct mill_config mill = {
			.seed = seed,
			.cpus = 1,
			.tasks = 1 + seed % 5,
			.acts = 4 + seed,
			.period = 500,
			.inherit = seed % 2,
		};
		struct lab *lab = lab_new(PMULAB_TASKS "mill", &mill, sizeof(mill));
		struct mill_result result;

		boot(lab);
		ck_assert_int_eq(lab->status, 0);
		ck_assert_uint_gt(lab->nconsole, sizeof(result));
		memcpy(&result, lab->console, sizeof(result));
		ck_assert_uint_eq(result.failed, 0);
		ck_assert_uint_gt(result.cpus, 1000);
		ck_assert_uint_eq(result.tasks, result.cpus);
		lab_free(lab);
	}
}
END_TEST

struct waits {
	unsigned begun;
	uint64_t control, ended; /* CNTV_CTL_EL0 at last; the cycle */
	uint64_t began;
};

static void watch_waits(void *opaque, const struct trace_event *event)
{
	struct waits *waits = opaque;

	if (event->kind != TRACE_SYSREG_WRITE)
		return;
	if (event->a == SYSREG(3, 3, 14, 3, 2)) { /* CNTV_CVAL_EL0 */
		waits->begun++;
		waits->began = event->cycle;
	} else if (event->a == SYSREG(3, 3, 14, 3, 1)) {
		waits->control = event->b;
		waits->ended = event->cycle;
	}
}

static void prepare_waits(void *opaque, struct machine *machine, struct host *host)
{
	ck_assert_int_eq(trace_subscribe(&machine->bus, watch_waits, opaque), 0);
}

/* A poll that nothing wakes waits once, for the timer, which is off again then. */
START_TEST(guest_poll_times_out_by_the_timer)
{
	struct waits waits = { 0 };
	struct scn *scn = parse("scenario v1\n"
				"event c hardware/cycles period=1000000 sample=ip "
				"exclude=kernel,hv disabled\n"
				"open c\nmmap c pages=1\npoll c timeout-ms=3\nread c\nclose c\n");
	struct tt_trace *host = trace_of(scn, (struct runner_config){ .mode = RUNNER_HOST });
	struct tt_trace *guest = trace_of(scn, (struct runner_config){
						       .mode = RUNNER_GUEST,
						       .prepare = prepare_waits,
						       .opaque = &waits,
					       });

	ck_assert_uint_eq(waits.begun, 1);
	ck_assert_uint_eq(waits.control, 0);
	ck_assert_uint_ge(waits.ended - waits.began, 2990000);
	ck_assert_uint_le(waits.ended - waits.began, 3000100);

	ck_assert_int_eq(diff_trace(host, guest, NULL, stderr, NULL), 0);
	tt_free(host);
	tt_free(guest);
	scn_free(scn);
}
END_TEST

START_TEST(guest_refuses_what_only_the_host_can_count)
{
	struct scn *scn = parse("scenario v1\n"
				"event c raw/0x0 period=1000 sample=ip disabled\n"
				"open c\nat hal 3 inject c 1000\nclose c\n");
	const struct runner_config config = {
		.mode = RUNNER_GUEST,
		.profile = "linux-6.1",
		.agent = PMULAB_AGENT_PATH,
		.kernel = PMULAB_KERNEL_PATH,
	};
	struct runner_result result;
	char err[512] = "";

	ck_assert_ptr_null(runner_cannot(scn, RUNNER_HOST));
	ck_assert_ptr_nonnull(runner_cannot(scn, RUNNER_GUEST));
	ck_assert_int_eq(runner_run(scn, &config, &result, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "guest.scn: at hal"));
	scn_free(scn);
}
END_TEST

/* -- the handler's cycles ---------------------------------------------------------- */

enum { OVERFLOWS = 10 };

struct handler {
	uint64_t wrap, taken;
	unsigned n;
	uint64_t delay[OVERFLOWS + 1], cycles[OVERFLOWS + 1], pc[2];
};

static void watch_handler(void *opaque, const struct trace_event *event)
{
	struct handler *h = opaque;

	if (event->kind == TRACE_WRAP) {
		h->wrap = event->cycle;
	} else if (event->kind == TRACE_TAKEN) {
		h->taken = event->cycle;
		h->pc[0] = event->a;
	} else if (event->kind == TRACE_ERET && h->taken) {
		ck_assert_uint_lt(h->n, OVERFLOWS + 1);
		ck_assert_uint_eq(event->a, h->pc[0]);
		h->delay[h->n] = h->taken - h->wrap;
		h->cycles[h->n++] = event->cycle - h->taken;
		h->taken = 0;
	}
}

static void prepare_handler(void *opaque, struct machine *machine, struct host *host)
{
	ck_assert_ptr_null(host);
	ck_assert_int_eq(trace_subscribe(&machine->bus, watch_handler, opaque), 0);
}

/* Ten like overflows: each is taken at the very cycle, returns to where it was taken
 * from, and takes the same time but for what the ring's position changes. */
START_TEST(guest_handler_takes_its_own_time)
{
	struct scn *scn = parse("scenario v1\n"
				"event c hardware/cycles period=100000 sample=ip "
				"exclude=kernel,hv disabled\n"
				"open c\nmmap c pages=8\nioctl c enable\nrun spin 127500\n"
				"ioctl c disable\nread c\nclose c\n");
	struct handler handler = { 0 };
	const struct runner_config config = {
		.mode = RUNNER_GUEST,
		.engine = engines[_i],
		.prepare = prepare_handler,
		.opaque = &handler,
	};

	tt_free(trace_of(scn, config));
	ck_assert_uint_eq(handler.n, OVERFLOWS);
	for (unsigned i = 0; i < OVERFLOWS; i++) {
		ck_assert_uint_eq(handler.delay[i], 0);
		ck_assert_uint_ge(handler.cycles[i], 500);
		ck_assert_uint_le(handler.cycles[i], 3000);
		if (i > 1) /* the first sample also sets the ring's time */
			ck_assert_uint_eq(handler.cycles[i], handler.cycles[1]);
	}
	scn_free(scn);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guest");
	TCase *tc = tcase_create("guest");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, guest_keeps_every_register_over_interrupts_and_calls, 0, 2);
	tcase_add_loop_test(tc, guest_kernel_goes_on_after_its_own_interrupts, 0, 2);
	tcase_add_test(tc, guest_program_that_faults_ends_with_its_signal);
	tcase_add_test(tc, guest_unmapped_memory_is_gone);
	tcase_add_loop_test(tc, host_unmapped_memory_is_gone, 0, 2);
	tcase_add_test(tc, guest_string_functions_are_right);
	tcase_add_test(tc, guest_counts_of_many_tasks_are_conserved);
	tcase_add_test(tc, guest_laboratory_is_there_when_asked_for_only);
	tcase_add_test(tc, guest_boots_without_arguments);
	tcase_add_loop_test(tc, guest_says_why_it_cannot_start, 0, BADS);
	tcase_add_test(tc, guest_kernel_that_faults_says_where);
	tcase_add_loop_test(tc, guest_equals_host_on_machines_of_other_shapes, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tc, guest_poll_times_out_by_the_timer);
	tcase_add_test(tc, guest_refuses_what_only_the_host_can_count);
	tcase_add_loop_test(tc, guest_handler_takes_its_own_time, 0, 2);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
