/* SPDX-License-Identifier: MIT */
/* The agent's functions, by libelf: what stands at an address. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/decode.h"

struct symbol {
	uint64_t address, size;
	char *name;
};

struct decode_symbols {
	struct symbol *symbols; /* by address */
	size_t n;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_symbol(struct decode_symbols *symbols, const GElf_Sym *sym,
		       const char *name)
{
	struct symbol *symbol;

	if (!(symbols->n & (symbols->n - 1))) {
		size_t room = symbols->n ? 2 * symbols->n : 1;

		symbols->symbols = realloc(symbols->symbols, room * sizeof(*symbol));
		if (!symbols->symbols)
			abort();
	}
	symbol = &symbols->symbols[symbols->n++];
	symbol->address = sym->st_value;
	symbol->size = sym->st_size;
	symbol->name = strdup(name);
	if (!symbol->name)
		abort();
}

static void add_table(struct decode_symbols *symbols, Elf *elf, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; data && i < n; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (name && *name)
			add_symbol(symbols, &sym, name);
	}
}

static const char *read_elf(struct decode_symbols *symbols, int fd)
{
	Elf_Scn *section = NULL;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return "libelf is too old";
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return "not an ELF file";
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			add_table(symbols, elf, section, &header);
	}
	elf_end(elf);
	return symbols->n ? NULL : "no function symbols";
}

struct decode_symbols *decode_symbols_load(const char *path, char *err, size_t errsize)
{
	struct decode_symbols *symbols = calloc(1, sizeof(*symbols));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *what;

	if (!symbols)
		abort();
	what = fd < 0 ? strerror(errno) : read_elf(symbols, fd);
	if (fd >= 0)
		close(fd);
	if (what) {
		snprintf(err, errsize, "%s: %s", path, what);
		decode_symbols_free(symbols);
		return NULL;
	}
	qsort(symbols->symbols, symbols->n, sizeof(*symbols->symbols), by_address);
	return symbols;
}

void decode_symbols_free(struct decode_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n; i++)
		free(symbols->symbols[i].name);
	free(symbols->symbols);
	free(symbols);
}

void decode_symbols_name(const struct decode_symbols *symbols, uint64_t address,
			 char *text, size_t size)
{
	size_t low = 0, high = symbols ? symbols->n : 0;
	const struct symbol *symbol;

	/* The first symbol behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	symbol = low ? &symbols->symbols[low - 1] : NULL;
	if (symbol && address - symbol->address < symbol->size)
		snprintf(text, size, "%s+0x%llx", symbol->name,
			 (unsigned long long)(address - symbol->address));
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
}
