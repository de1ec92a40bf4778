/* SPDX-License-Identifier: MIT */
/* The agent's code: what instruction stands at an address, and where that is. */
#ifndef PMULAB_TOOLS_CODE_H
#define PMULAB_TOOLS_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code;

/* Of an AArch64 ELF. NULL with a line in @err. */
struct code *code_load(const char *elf, char *err, size_t errsize);
void code_free(struct code *code); /* NULL is allowed */

/* "subs x0, x0, #1", or "" where the file has no code. */
void code_insn(const struct code *code, uint64_t pc, char *text, size_t size);
/* "spin+0x24", "the kernel" for the upper half, hex elsewhere. */
void code_name(const struct code *code, uint64_t pc, char *text, size_t size);

#endif
