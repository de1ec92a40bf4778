/* SPDX-License-Identifier: MIT */
/* A static AArch64 ELF into an address space. The file is not trusted. */
#include <string.h>

#include "kernelcore/sys/internal.h"

struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

enum { ET_EXEC = 2, EM_AARCH64 = 183, PT_LOAD = 1, PF_X = 1, PF_W = 2, PF_R = 4 };

static int check_header(const struct elf_header *h, size_t size)
{
	static const uint8_t magic[6] = { 0x7f, 'E', 'L', 'F', 2, 1 };

	if (memcmp(h->ident, magic, sizeof(magic)) || h->type != ET_EXEC ||
	    h->machine != EM_AARCH64 || h->phentsize != sizeof(struct elf_segment))
		return -ENOEXEC;
	if (h->phoff > size ||
	    (uint64_t)h->phnum * sizeof(struct elf_segment) > size - h->phoff)
		return -ENOEXEC;
	return 0;
}

static int load_segment(struct ksys *sys, struct mm *mm, const uint8_t *image,
			size_t size, const struct elf_segment *seg)
{
	uint64_t start = seg->vaddr & ~(uint64_t)(PAGE_SIZE - 1);
	uint64_t end = page_up(seg->vaddr + seg->memsz);
	unsigned prot = 0;
	int rc;

	if (seg->offset > size || seg->filesz > size - seg->offset ||
	    seg->filesz > seg->memsz || seg->vaddr + seg->memsz < seg->vaddr)
		return -ENOEXEC;
	prot |= seg->flags & PF_R ? AREA_READ : 0;
	prot |= seg->flags & PF_W ? AREA_WRITE : 0;
	prot |= seg->flags & PF_X ? AREA_EXEC : 0;
	rc = mm_map_anon(sys, mm, start, end - start, prot);
	if (rc)
		return rc;
	for (uint64_t at = 0; at < seg->filesz;) {
		uint8_t *to = mm_user_byte(sys, mm, seg->vaddr + at, AREA_READ);
		uint64_t n = PAGE_SIZE - ((seg->vaddr + at) & (PAGE_SIZE - 1));

		if (n > seg->filesz - at)
			n = seg->filesz - at;
		memcpy(to, image + seg->offset + at, n);
		hal_sync_icache(ksys_hal(sys), hal_virt_to_phys(ksys_hal(sys), to), n);
		at += n;
	}
	return 0;
}

int elf_load(struct ksys *sys, struct mm *mm, const uint8_t *image, size_t size,
	     uint64_t *entry)
{
	struct elf_header header;
	int rc;

	if (size < sizeof(header))
		return -ENOEXEC;
	memcpy(&header, image, sizeof(header));
	rc = check_header(&header, size);
	for (unsigned i = 0; !rc && i < header.phnum; i++) {
		struct elf_segment seg;

		memcpy(&seg, image + header.phoff + i * sizeof(seg), sizeof(seg));
		if (seg.type == PT_LOAD && seg.memsz)
			rc = load_segment(sys, mm, image, size, &seg);
	}
	*entry = header.entry;
	return rc;
}
