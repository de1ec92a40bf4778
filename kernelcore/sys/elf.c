/* SPDX-License-Identifier: MIT */
/* A static AArch64 ELF into an address space: its segments are private mappings of
 * the file, as Linux makes them (fs/binfmt_elf.c). The file is not trusted. */
#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/mm.h"

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

/* What the file's last page holds beyond the segment is the program's own zeroes
 * (Linux padzero()). */
static int clear_tail(struct ksys *sys, struct mm *mm, uint64_t at)
{
	uint64_t in = at & (PAGE_SIZE - 1);
	uint8_t *tail;

	if (!in)
		return 0;
	if (mm_fault(sys, mm, at, AREA_WRITE) != FAULT_DONE)
		return -ENOMEM;
	tail = mm_user_byte(sys, mm, at, AREA_WRITE);
	memset(tail, 0, PAGE_SIZE - in);
	return 0;
}

static int load_segment(struct ksys *sys, struct mm *mm, struct memobj *image,
			const struct elf_segment *seg)
{
	uint64_t start = seg->vaddr & ~(uint64_t)(PAGE_SIZE - 1);
	uint64_t file_end = page_up(seg->vaddr + seg->filesz);
	uint64_t end = page_up(seg->vaddr + seg->memsz), size = memobj_size(image);
	struct mapping how = { .obj = image, .pgoff = seg->offset >> PAGE_SHIFT };
	int rc = 0;

	if (seg->offset > size || seg->filesz > size - seg->offset ||
	    seg->filesz > seg->memsz || seg->vaddr + seg->memsz < seg->vaddr ||
	    (seg->offset ^ seg->vaddr) & (PAGE_SIZE - 1) ||
	    !mm_range_ok(start, end - start) || !mm_range_free(mm, start, end - start))
		return -ENOEXEC;
	how.prot |= seg->flags & PF_R ? AREA_READ : 0;
	how.prot |= seg->flags & PF_W ? AREA_WRITE : 0;
	how.prot |= seg->flags & PF_X ? AREA_EXEC : 0;
	if (!seg->filesz)
		file_end = start;
	if (file_end > start)
		rc = mm_map(sys, mm, start, file_end - start, &how);
	if (!rc && seg->memsz > seg->filesz && how.prot & AREA_WRITE && seg->filesz)
		rc = clear_tail(sys, mm, seg->vaddr + seg->filesz);
	how.obj = NULL;
	how.pgoff = 0;
	if (!rc && end > file_end)
		rc = mm_map(sys, mm, file_end, end - file_end, &how);
	return rc;
}

int elf_load(struct ksys *sys, struct mm *mm, struct memobj *image, uint64_t *entry)
{
	struct elf_header header;
	int rc;

	if (memobj_read(sys, image, 0, &header, sizeof(header)) != sizeof(header))
		return -ENOEXEC;
	rc = check_header(&header, memobj_size(image));
	for (unsigned i = 0; !rc && i < header.phnum; i++) {
		struct elf_segment seg;

		memobj_read(sys, image, header.phoff + i * sizeof(seg), &seg, sizeof(seg));
		if (seg.type == PT_LOAD && seg.memsz)
			rc = load_segment(sys, mm, image, &seg);
	}
	*entry = header.entry;
	return rc;
}
