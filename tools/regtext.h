/* SPDX-License-Identifier: MIT */
/* Values of system registers, field by field, for people. */
#ifndef PMULAB_TOOLS_REGTEXT_H
#define PMULAB_TOOLS_REGTEXT_H

#include <stddef.h>
#include <stdint.h>

/* "E=1 LC=1 N=6" of register @name's @value; "" for one without fields. */
void regtext_fields(const char *name, uint64_t value, char *text, size_t size);
/* "EL0t N C" of a PSTATE as SPSR_EL1 holds it. */
void regtext_pstate(uint64_t pstate, char *text, size_t size);
/* "pmccntr_el0" for 31, "pmevcntr3_el0" for 3. */
void regtext_counter(unsigned counter, char *text, size_t size);
/* "31", "0 1 31", "none": the bits of a mask of counters. */
void regtext_bits(uint64_t mask, char *text, size_t size);
/* Which counter a register is, by name; -1: none. */
int regtext_counter_of(const char *name);

#endif
