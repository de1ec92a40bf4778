/* SPDX-License-Identifier: MIT */
/*
 * The agent's two ends, before the dispatcher's start and after its end, where
 * nothing is measured: reading and checking an image, printing the log. The
 * form of both stands in agent-abi.h; all numbers of the log are hexadecimal.
 */
#include "corpus/agent/agent-abi.h"
#include "corpus/agent/bare.h"

#define LINE_BYTES 32 /* of data a line */
#define BUFFER 4096
#define LINE_ROOM 128 /* a longest line is 2 + 16 + 1 + 64 + 1 characters */

static struct {
	char text[BUFFER];
	size_t used;
	uint64_t lines;
} out;

void agent_load(void);
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

/* The dispatcher trusts kinds and the end mark: look at them here, once. */
void agent_load(void)
{
	uint64_t size = read_image();
	uint64_t nops, ops_end, data, data_size, i;

	if (size < AGENT_HDR_OPS + AGENT_OP_SIZE)
		die("the image is too short");
	if (field(AGENT_BASE + AGENT_HDR_MAGIC, 4) != AGENT_MAGIC)
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

		if (kind >= AGENT_KINDS || (kind == AGENT_END) != (i == nops))
			die("an operation of no known kind");
	}
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

void agent_print(const uint64_t *results_end, const uint8_t *log_end)
{
	const uint64_t *result = (const uint64_t *)AGENT_RESULTS;
	const uint8_t *data =
		(const uint8_t *)(AGENT_BASE + field(AGENT_BASE + AGENT_HDR_DATA, 4));
	uint64_t data_size = field(AGENT_BASE + AGENT_HDR_DATA_SIZE, 4);
	uint64_t op;

	bare_write(1, "@pmulab-log v1\n", 15);
	for (op = 0; result < results_end; op++, result++) {
		put('r');
		put(' ');
		put_hex(op);
		put(' ');
		put_hex(*result);
		end_line();
	}
	put_area('d', data, data + data_size);
	put_area('l', (const uint8_t *)AGENT_LOG, log_end);
	bare_write(1, out.text, out.used);
	out.used = 0;
	for (const char *p = "@end "; *p; p++)
		put(*p);
	put_hex(out.lines);
	put('\n');
	bare_write(1, out.text, out.used);
	bare_exit(0);
}
