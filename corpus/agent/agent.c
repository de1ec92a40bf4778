/* SPDX-License-Identifier: MIT */
/*
 * The agent's two ends, before the dispatcher's start and after its end, where
 * nothing is measured: reading and checking an image, printing the log. The
 * form of both stands in agent-abi.h; all numbers of the log are hexadecimal.
 */
#include "corpus/agent/agent-abi.h"
#include "corpus/agent/bare.h"

#include <stdbool.h>

#define PROT_RW 3
#define MAP_SHARED_FIXED 0x11
#define MAP_PRIVATE_FIXED 0x32

#define LINE_BYTES 32 /* of data a line */
#define BUFFER 4096
#define LINE_ROOM 128 /* a longest line is 2 + 16 + 1 + 64 + 1 characters */

static struct {
	char text[BUFFER];
	size_t used;
	uint64_t lines;
} out;

void agent_load(void);
__attribute__((noreturn)) void agent_run_tasks(void);
__attribute__((noreturn)) void agent_print_tasks(void);
__attribute__((noreturn)) void agent_print(const uint64_t *results_end,
					   const uint8_t *log_end);

__attribute__((noreturn)) static void die(const char *what)
{
	bare_write(2, "agent: ", 7);
	bare_write(2, what, bare_strlen(what));
	bare_write(2, "\n", 1);
	bare_exit(2);
}

static uint64_t field(uint64_t address, unsigned bytes)
{
	const uint8_t *p = (const uint8_t *)address;
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static uint64_t read_image(void)
{
	uint64_t got = 0;

	for (;;) {
		long n;

		if (got == AGENT_SIZE)
			die("the image is larger than its area");
		n = bare_syscall(__NR_read, 0, (long)(AGENT_BASE + got),
				 (long)(AGENT_SIZE - got), 0, 0);
		if (n == -4) /* EINTR */
			continue;
		if (n < 0)
			die("cannot read the image");
		if (n == 0)
			return got;
		got += (uint64_t)n;
	}
}

static bool is_kind(uint64_t kind)
{
	return kind < AGENT_KIND_HOLE ||
	       (kind >= AGENT_KIND_HOLE_END && kind < AGENT_KINDS);
}

/* ---- several tasks */

static uint64_t task_table(void)
{
	return AGENT_BASE + field(AGENT_BASE + AGENT_HDR_DATA, 4);
}

static void check_tasks(uint64_t data, uint64_t data_size, uint64_t nops)
{
	uint64_t table = AGENT_BASE + data, n = 0;

	if (data_size >= 8)
		n = field(table, 4);
	if (!n || n > AGENT_MAX_TASKS || data_size < 8 + 8 * n)
		die("no table of tasks");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t first = field(table + 8 + 8 * i, 4);
		uint64_t count = field(table + 12 + 8 * i, 4);

		if (first > nops + 1 || count > nops + 1 - first)
			die("a task's operations leave the image");
	}
}

static void map_shared(uint64_t base, uint64_t size, uint64_t offset)
{
	if (bare_mmap((long)base, (long)size, PROT_RW, MAP_SHARED_FIXED, AGENT_SHARED_FD,
		      (long)offset) != (long)base)
		die("cannot map shared memory");
}

/* Written without a change: a page is then the task's to write. */
static void dirty(uint64_t base, uint64_t size)
{
	for (uint64_t at = base; at < base + size; at += 4096) {
		volatile uint64_t *word = (volatile uint64_t *)at;

		*word = *word;
	}
}

/* From here on image, results, log and values outlive fork and exec. */
static void share(uint64_t size, uint64_t nops)
{
	long fd = bare_syscall(__NR_memfd_create, (long)"pmulab", 0, 0, 0, 0);
	volatile uint64_t *result = (volatile uint64_t *)AGENT_RESULTS;
	uint64_t ntasks = field(task_table(), 4);

	if (fd < 0 || bare_syscall(__NR_ftruncate, fd, AGENT_SHARED_SIZE, 0, 0, 0) < 0 ||
	    bare_syscall(__NR_dup3, fd, AGENT_SHARED_FD, 0, 0, 0) < 0)
		die("no shared memory");
	bare_syscall(__NR_close, fd, 0, 0, 0, 0);
	bare_write(AGENT_SHARED_FD, (const char *)AGENT_BASE, size);
	map_shared(AGENT_BASE, AGENT_SIZE, 0);
	map_shared(AGENT_RESULTS, AGENT_RESULTS_SIZE, AGENT_AT_RESULTS);
	map_shared(AGENT_LOG, AGENT_TASKS_LOG_SIZE, AGENT_AT_LOG);
	map_shared(AGENT_VALUES, AGENT_VALUES_SIZE, AGENT_AT_VALUES);
	if (bare_mmap(AGENT_STACKS, AGENT_MAX_TASKS * AGENT_STACK_SIZE, PROT_RW,
		      MAP_PRIVATE_FIXED, -1, 0) != AGENT_STACKS)
		die("cannot map stacks");
	dirty(AGENT_BASE, size);
	dirty(AGENT_LOG, ntasks * AGENT_TASK_LOG);
	dirty(AGENT_VALUES, AGENT_VALUES_SIZE);
	dirty(AGENT_STACKS, AGENT_MAX_TASKS * AGENT_STACK_SIZE);
	for (uint64_t i = 0; i <= nops; i++)
		result[i] = AGENT_NOT_RUN;
}

/* The dispatcher trusts kinds and the end mark: look at them here, once. */
void agent_load(void)
{
	uint64_t size = read_image();
	uint64_t nops, ops_end, data, data_size, i;
	bool tasks;

	if (size < AGENT_HDR_OPS + AGENT_OP_SIZE)
		die("the image is too short");
	tasks = field(AGENT_BASE + AGENT_HDR_MAGIC, 4) == AGENT_MAGIC_TASKS;
	if (!tasks && field(AGENT_BASE + AGENT_HDR_MAGIC, 4) != AGENT_MAGIC)
		die("this is no image");
	nops = field(AGENT_BASE + AGENT_HDR_NOPS, 4);
	ops_end = AGENT_HDR_OPS + (nops + 1) * AGENT_OP_SIZE;
	if (ops_end > size || nops > AGENT_RESULTS_SIZE / 8)
		die("more operations than the image holds");
	data = field(AGENT_BASE + AGENT_HDR_DATA, 4);
	data_size = field(AGENT_BASE + AGENT_HDR_DATA_SIZE, 4);
	if (data_size > AGENT_SIZE || data > AGENT_SIZE - data_size)
		die("the data area leaves the image's area");
	for (i = 0; i <= nops; i++) {
		uint64_t op = AGENT_BASE + AGENT_HDR_OPS + i * AGENT_OP_SIZE;
		uint64_t kind = field(op + AGENT_OP_KIND, 2);

		if (!is_kind(kind) || (i == nops && kind != AGENT_END) ||
		    (!tasks && i < nops && kind == AGENT_END))
			die("an operation of no known kind");
	}
	if (!tasks) {
		/* Goldens hold these registers, which a compiler may use or not. */
		__asm__ volatile("mov x11, xzr\n\tmov x12, xzr" ::: "x11", "x12");
		return;
	}
	check_tasks(data, data_size, nops);
	share(size, nops);
	agent_run_tasks();
}

static void put(char c)
{
	out.text[out.used++] = c;
}

static void put_hex(uint64_t value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put("0123456789abcdef"[value >> shift & 15]);
}

static void put_bytes(const uint8_t *p, uint64_t n)
{
	while (n--) {
		put("0123456789abcdef"[*p >> 4]);
		put("0123456789abcdef"[*p++ & 15]);
	}
}

static void end_line(void)
{
	put('\n');
	out.lines++;
	if (out.used > BUFFER - LINE_ROOM) {
		bare_write(1, out.text, out.used);
		out.used = 0;
	}
}

static void put_area(char letter, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint64_t n = (uint64_t)(end - p);

		if (n > LINE_BYTES)
			n = LINE_BYTES;
		put(letter);
		put(' ');
		if (letter == 'd') {
			put_hex((uint64_t)p);
			put(' ');
		}
		put_bytes(p, n);
		end_line();
		p += n;
	}
}

static void put_results(uint64_t nops)
{
	const uint64_t *result = (const uint64_t *)AGENT_RESULTS;

	bare_write(1, "@pmulab-log v1\n", 15);
	for (uint64_t op = 0; op < nops; op++) {
		put('r');
		put(' ');
		put_hex(op);
		put(' ');
		put_hex(result[op]);
		end_line();
	}
}

static void put_data(void)
{
	const uint8_t *data =
		(const uint8_t *)(AGENT_BASE + field(AGENT_BASE + AGENT_HDR_DATA, 4));

	put_area('d', data, data + field(AGENT_BASE + AGENT_HDR_DATA_SIZE, 4));
}

__attribute__((noreturn)) static void put_end(void)
{
	bare_write(1, out.text, out.used);
	out.used = 0;
	for (const char *p = "@end "; *p; p++)
		put(*p);
	put_hex(out.lines);
	put('\n');
	bare_write(1, out.text, out.used);
	bare_exit(0);
}

void agent_print(const uint64_t *results_end, const uint8_t *log_end)
{
	put_results((uint64_t)(results_end - (const uint64_t *)AGENT_RESULTS));
	put_data();
	put_area('l', (const uint8_t *)AGENT_LOG, log_end);
	put_end();
}

/* What the operations of one task drained, if they ran and did not fail. */
static uint64_t log_used(uint64_t first, uint64_t n)
{
	const uint64_t *result = (const uint64_t *)AGENT_RESULTS;
	uint64_t used = 0;

	for (uint64_t i = first; i < first + n; i++) {
		uint64_t op = AGENT_BASE + AGENT_HDR_OPS + i * AGENT_OP_SIZE;
		uint64_t kind = field(op + AGENT_OP_KIND, 2);

		if ((kind == AGENT_DRAIN || kind == AGENT_PEEK || kind == AGENT_PAGE) &&
		    !(result[i] >> 63))
			used += 8 + result[i];
	}
	return used;
}

void agent_print_tasks(void)
{
	uint64_t table = task_table(), n = field(table, 4);

	put_results(field(AGENT_BASE + AGENT_HDR_NOPS, 4));
	put_data();
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *log = (const uint8_t *)(AGENT_LOG + i * AGENT_TASK_LOG);
		uint64_t used = log_used(field(table + 8 + 8 * i, 4),
					 field(table + 12 + 8 * i, 4));

		if (used > AGENT_TASK_LOG)
			used = AGENT_TASK_LOG;
		put_area('l', log, log + used);
	}
	put_end();
}
