/* SPDX-License-Identifier: MIT */
#include "tools/code.h"

#include <capstone/capstone.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/decode.h"
#include "conformance/runner.h"

struct code {
	struct decode_symbols *symbols;
	char *elf; /* the file */
	size_t size;
	Elf *view;
	csh capstone;
	int ready; /* capstone is */
};

void code_free(struct code *code)
{
	if (!code)
		return;
	if (code->ready)
		cs_close(&code->capstone);
	if (code->view)
		elf_end(code->view);
	decode_symbols_free(code->symbols);
	free(code->elf);
	free(code);
}

struct code *code_load(const char *path, char *err, size_t errsize)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	code->symbols = decode_symbols_load(path, err, errsize);
	if (code->symbols)
		code->elf = runner_slurp(path, &code->size, err, errsize);
	if (!code->elf) {
		code_free(code);
		return NULL;
	}
	code->view = elf_memory(code->elf, code->size);
	if (!code->view || cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &code->capstone)) {
		snprintf(err, errsize, "%s: cannot disassemble", path);
		code_free(code);
		return NULL;
	}
	code->ready = 1;
	return code;
}

/* The word at @pc in a segment that is loaded from the file. */
static const uint8_t *word_at(const struct code *code, uint64_t pc)
{
	size_t n;

	if (elf_getphdrnum(code->view, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(code->view, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || pc < ph.p_vaddr || ph.p_filesz < 4 ||
		    pc - ph.p_vaddr > ph.p_filesz - 4 || ph.p_offset > code->size ||
		    ph.p_filesz > code->size - ph.p_offset)
			continue;
		return (const uint8_t *)code->elf + ph.p_offset + (pc - ph.p_vaddr);
	}
	return NULL;
}

void code_insn(const struct code *code, uint64_t pc, char *text, size_t size)
{
	const uint8_t *word = word_at(code, pc);
	cs_insn *insn = NULL;

	text[0] = '\0';
	if (!word || cs_disasm(code->capstone, word, 4, pc, 1, &insn) != 1)
		return;
	snprintf(text, size, "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "",
		 insn->op_str);
	cs_free(insn, 1);
}

void code_name(const struct code *code, uint64_t pc, char *text, size_t size)
{
	if (pc >> 63)
		snprintf(text, size, "the kernel");
	else
		decode_symbols_name(code->symbols, pc, text, size);
}
