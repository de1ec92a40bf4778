/* SPDX-License-Identifier: MIT */
#include "conformance/decode-lab.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct decode_lab lab;
char lab_err[512];

void lab_put(uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

void lab_start(const char *body)
{
	char text[4096];

	memset(&lab, 0, sizeof(lab));
	snprintf(text, sizeof(text), "scenario v1\n%s", body);
	lab.scn = scn_parse("t.scn", text, strlen(text), lab_err, sizeof(lab_err));
	ck_assert_msg(lab.scn != NULL, "%s", lab_err);
	ck_assert_uint_lt(lab.scn->nops, 64);
	ck_assert_uint_le(lab.scn->data_size, sizeof(lab.data));
	lab.results[lab.scn->pid_op] = 77;
	for (unsigned i = 0; i < lab.scn->nsteps; i++) {
		const struct scn_step *step = &lab.scn->steps[i];

		if (step->verb == SCN_OPEN) {
			lab.results[step->op] = 3 + step->event;
			lab_put(lab.data + (step->id_addr - lab.scn->data),
				41 + (unsigned)step->event, 8);
		}
		if (step->verb == SCN_MMAP)
			lab.results[step->op] = 0x20000000;
	}
}

static const struct scn_step *step_of(unsigned number)
{
	return &lab.scn->steps[number - 1];
}

void lab_result(unsigned number, int64_t value)
{
	lab.results[step_of(number)->op] = value;
}

void lab_buffer(unsigned number, unsigned offset, uint64_t value)
{
	lab_put(lab.data + (step_of(number)->buf - lab.scn->data) + offset, value, 8);
}

void lab_drained(unsigned number, const uint8_t *bytes, size_t n)
{
	lab_result(number, (int64_t)n);
	lab_put(lab.drain + lab.ndrain, n, 8);
	memcpy(lab.drain + lab.ndrain + 8, bytes, n);
	lab.ndrain += 8 + n;
}

static void print_area(FILE *out, char letter, uint64_t address, const uint8_t *p,
		       size_t n, unsigned *lines)
{
	for (size_t i = 0; i < n; i += 32) {
		fprintf(out, "%c ", letter);
		if (letter == 'd')
			fprintf(out, "%llx ", (unsigned long long)address + i);
		for (size_t k = i; k < n && k < i + 32; k++)
			fprintf(out, "%02x", p[k]);
		fprintf(out, "\n");
		++*lines;
	}
}

char *lab_log_text(void)
{
	char *text = NULL;
	size_t size = 0;
	unsigned lines = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	fprintf(out, "@pmulab-log v1\n");
	for (unsigned i = 0; i < lab.scn->nops; i++, lines++)
		fprintf(out, "r %x %llx\n", i, (unsigned long long)lab.results[i]);
	print_area(out, 'd', lab.scn->data, lab.data, lab.scn->data_size, &lines);
	print_area(out, 'l', 0, lab.drain, lab.ndrain, &lines);
	fprintf(out, "@end %x\n", lines);
	fclose(out);
	return text;
}

struct tt_trace *lab_decode_with(const struct decode_symbols *symbols)
{
	struct decode_log log;
	struct tt_trace *trace;
	char *text = lab_log_text();

	lab_err[0] = '\0';
	ck_assert_msg(!decode_log_parse(&log, "t.log", text, strlen(text), lab_err,
					sizeof(lab_err)),
		      "%s", lab_err);
	trace = decode_trace(lab.scn, &log, symbols, lab_err, sizeof(lab_err));
	decode_log_free(&log);
	free(text);
	return trace;
}

struct tt_trace *lab_decode(void)
{
	struct tt_trace *trace = lab_decode_with(NULL);

	ck_assert_msg(trace != NULL, "%s", lab_err);
	return trace;
}

void lab_check_from(struct tt_trace *trace, unsigned number, const char *want)
{
	char *text = NULL, at[16], *from;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(tt_write(trace, out), 0);
	fclose(out);
	snprintf(at, sizeof(at), "\nstep %u ", number);
	from = strstr(text, at);
	ck_assert_ptr_nonnull(from);
	ck_assert_str_eq(from + 1, want);
	free(text);
}

const struct tt_field *lab_field(const struct tt_trace *trace, unsigned step,
				 size_t record, const char *name)
{
	const struct tt_field *field;

	ck_assert_uint_lt(record, trace->steps[step - 1].nrecords);
	field = tt_field_get(&trace->steps[step - 1].records[record], name);
	ck_assert_msg(field != NULL, "no field %s", name);
	return field;
}

void lab_check_mask(const struct tt_trace *trace, unsigned step, size_t record,
		    const char *want)
{
	const struct tt_record *r = &trace->steps[step - 1].records[record];
	char text[256] = "";

	ck_assert_uint_le(r->nraw, sizeof(text) - 1);
	for (size_t i = 0; i < r->nraw; i++)
		text[i] = r->mask[i] == 0xff ? 'x' : r->mask[i] ? '?' : '.';
	ck_assert_str_eq(text, want);
}

void lab_finish(struct tt_trace *trace)
{
	tt_free(trace);
	scn_free(lab.scn);
}
