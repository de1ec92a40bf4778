/* SPDX-License-Identifier: MIT */
#include "tools/regtext.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/pmuv3.h"

/* Fields of one register; the last one has no name. Arm ARM (DDI 0487), D24.5. */
struct field {
	const char *name;
	unsigned char low, width;
};

/* clang-format off */
static const struct field pmcr[] = {
	{ "E", 0, 1 }, { "P", 1, 1 }, { "C", 2, 1 }, { "D", 3, 1 }, { "DP", 5, 1 },
	{ "LC", 6, 1 }, { "LP", 7, 1 }, { "N", 11, 5 }, { NULL, 0, 0 },
};
static const struct field filter[] = { { "P", 31, 1 }, { "U", 30, 1 }, { NULL, 0, 0 } };
static const struct field userenr[] = {
	{ "EN", 0, 1 }, { "SW", 1, 1 }, { "CR", 2, 1 }, { "ER", 3, 1 }, { NULL, 0, 0 },
};
static const struct field intid[] = { { "INTID", 0, 24 }, { NULL, 0, 0 } };
static const struct field pmr[] = { { "priority", 0, 8 }, { NULL, 0, 0 } };
static const struct field sel[] = { { "SEL", 0, 5 }, { NULL, 0, 0 } };

static const struct {
	const char *name;
	const struct field *fields;
} tables[] = {
	{ "pmcr_el0", pmcr }, { "pmccfiltr_el0", filter }, { "pmuserenr_el0", userenr },
	{ "icc_iar1_el1", intid }, { "icc_eoir1_el1", intid }, { "icc_pmr_el1", pmr },
	{ "pmselr_el0", sel },
};

static const char *const masks[] = {
	"pmcntenset_el0", "pmcntenclr_el0", "pmovsclr_el0", "pmovsset_el0",
	"pmintenset_el1", "pmintenclr_el1", "pmswinc_el0",
};
/* clang-format on */

/* Appends; what does not fit is cut. */
static void __attribute__((format(printf, 3, 4))) add(char *text, size_t size,
						      const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
}

void regtext_bits(uint64_t mask, char *text, size_t size)
{
	text[0] = '\0';
	if (!mask)
		add(text, size, "none");
	else if ((uint32_t)mask == UINT32_MAX)
		add(text, size, "all");
	for (unsigned n = 0; (uint32_t)mask != UINT32_MAX && n < 32; n++)
		if (mask >> n & 1)
			add(text, size, "%s%u", *text ? " " : "", n);
}

int regtext_counter_of(const char *name)
{
	unsigned n;

	if (!strcmp(name, "pmccntr_el0"))
		return PMUV3_CYCLE;
	return sscanf(name, "pmevcntr%u_el0", &n) == 1 ? (int)n : -1;
}

void regtext_counter(unsigned counter, char *text, size_t size)
{
	if (counter == PMUV3_CYCLE)
		snprintf(text, size, "pmccntr_el0");
	else
		snprintf(text, size, "pmevcntr%u_el0", counter);
}

static void event_type(uint64_t value, char *text, size_t size)
{
	const struct pmuv3_event_desc *events;
	unsigned n;

	events = pmuv3_events(&n);
	add(text, size, "event 0x%02x", (unsigned)value & 0xffff);
	for (unsigned i = 0; i < n; i++)
		if (events[i].number == (value & 0xffff))
			add(text, size, " %s", events[i].name);
	add(text, size, ", P=%u U=%u", (unsigned)(value >> 31 & 1),
	    (unsigned)(value >> 30 & 1));
}

static void all_fields(const struct field *field, uint64_t value, char *text, size_t size)
{
	for (; field->name; field++)
		add(text, size, "%s%s=%u", *text ? " " : "", field->name,
		    (unsigned)(value >> field->low & ((UINT64_C(1) << field->width) - 1)));
}

void regtext_fields(const char *name, uint64_t value, char *text, size_t size)
{
	unsigned n;

	text[0] = '\0';
	if (sscanf(name, "pmevtyper%u_el0", &n) == 1)
		event_type(value, text, size);
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		char bits[100];

		if (strcmp(name, masks[i]))
			continue;
		regtext_bits(value, bits, sizeof(bits));
		add(text, size, "%s %s", value & (value - 1) ? "bits" : "bit", bits);
		if (!value)
			snprintf(text, size, "no bit");
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(name, tables[i].name))
			all_fields(tables[i].fields, value, text, size);
}

void regtext_pstate(uint64_t pstate, char *text, size_t size)
{
	static const struct {
		const char *name;
		unsigned bit;
	} flags[] = { { "N", 31 }, { "Z", 30 }, { "C", 29 }, { "V", 28 },
		      { "D", 9 },  { "A", 8 },	{ "I", 7 },  { "F", 6 } };

	snprintf(text, size, "EL%u%c", (unsigned)(pstate >> 2 & 3), pstate & 1 ? 'h' : 't');
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (pstate >> flags[i].bit & 1)
			add(text, size, " %s", flags[i].name);
}
