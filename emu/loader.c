/* SPDX-License-Identifier: MIT */
/*
 * The Linux header: Documentation/arm64/booting.rst. An EFI zboot image wraps a
 * compressed Image behind an MZ header of its own (drivers/firmware/efi/libstub/
 * zboot-header.S); the gzip ones are unwrapped here too.
 */
#include "emu/loader.h"

#include <errno.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define KiB UINT64_C(1024)
#define MiB (KiB * KiB)
#define FLAT_OFFSET (512 * KiB) /* also of an Image that states no size */
#define LOW_OFFSET (4 * KiB)	/* QEMU keeps its boot code below it */
#define ALIGNMENT (2 * MiB)
#define INITRD_OFFSET (128 * MiB)
#define PAGE (4 * KiB)

enum {
	HEADER_TEXT_OFFSET = 8,
	HEADER_IMAGE_SIZE = 16,
	HEADER_FLAGS = 24,
	HEADER_MAGIC = 56,
	HEADER_SIZE = 64,
	FLAG_BIG_ENDIAN = 1,

	ZBOOT_MAGIC = 4,
	ZBOOT_PAYLOAD = 8,
	ZBOOT_PAYLOAD_SIZE = 12,
	ZBOOT_COMPRESSION = 24,
	ZBOOT_COMPRESSION_SIZE = 32,

	UNPACK_ROOM = 1 << 16, /* to begin with */
};

struct loading {
	const struct loader_ram *ram;
	struct loader_layout *layout;
	char *err;
	size_t errsize;
};

static int fail(const struct loading *l, int ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct loading *l, int ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->err, l->errsize, format, args);
	va_end(args);
	return ret;
}

const char *loader_kind_name(enum loader_kind kind)
{
	switch (kind) {
	case LOADER_IMAGE:
		return "Image";
	case LOADER_ELF:
		return "ELF";
	case LOADER_FLAT:
		return "flat";
	}
	return "?";
}

/* -- bytes ----------------------------------------------------------------------- */

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static bool has(const struct loader_file *file, size_t offset, const char *magic,
		size_t n)
{
	const uint8_t *p = file->data;

	return file->size >= offset + n && !memcmp(p + offset, magic, n);
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/* Does [pa, pa + size) lie in RAM? */
static bool fits(const struct loader_ram *ram, uint64_t pa, uint64_t size)
{
	return pa >= ram->base && size <= ram->size && pa - ram->base <= ram->size - size;
}

static int put(const struct loading *l, uint64_t pa, const void *data, size_t size,
	       uint64_t memory, const char *what)
{
	if (memory < size)
		memory = size;
	if (!fits(l->ram, pa, memory))
		return fail(l, -ENOSPC,
			    "%s of %llu bytes at %#llx does not fit into %llu MiB of RAM",
			    what, (unsigned long long)memory, (unsigned long long)pa,
			    (unsigned long long)(l->ram->size / MiB));
	memcpy(l->ram->host + (pa - l->ram->base), data, size);
	return 0;
}

/* -- compression ------------------------------------------------------------------- */

static bool is_gzip(const struct loader_file *file)
{
	return has(file, 0, "\x1f\x8b", 2);
}

/* Inflate all of @z into *out, which grows up to @most bytes. Z_BUF_ERROR: there
 * would be more. */
static int inflate_all(z_stream *z, uint8_t **out, size_t most)
{
	size_t room = 0;
	int ret = Z_OK;

	while (ret == Z_OK) {
		if (z->total_out == room) {
			uint8_t *grown;

			if (room == most)
				return Z_BUF_ERROR;
			room = room ? 2 * room : UNPACK_ROOM;
			if (room > most)
				room = most;
			grown = realloc(*out, room);
			if (!grown)
				return Z_MEM_ERROR;
			*out = grown;
		}
		z->next_out = *out + z->total_out;
		z->avail_out = room - z->total_out < UINT32_MAX
				       ? (uInt)(room - z->total_out)
				       : UINT32_MAX;
		ret = inflate(z, Z_NO_FLUSH);
		if (ret == Z_BUF_ERROR || (ret == Z_OK && !z->avail_in && z->avail_out))
			return Z_DATA_ERROR; /* wants input that is not there */
	}
	return ret;
}

/* Nothing bigger than RAM can be booted. The output in *out is to be freed. */
static int gunzip(const struct loading *l, const struct loader_file *file, uint8_t **out,
		  size_t *size)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)file->data,
		      .avail_in = (uInt)file->size};
	int ret;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return fail(l, -ENOMEM, "zlib cannot start");
	ret = inflate_all(&z, out, (size_t)l->ram->size);
	*size = z.total_out;
	inflateEnd(&z);
	switch (ret) {
	case Z_STREAM_END:
		return 0;
	case Z_MEM_ERROR:
		return fail(l, -ENOMEM, "out of memory");
	case Z_BUF_ERROR:
		return fail(l, -ENOSPC, "gzip: unpacks to more than %llu MiB of RAM",
			    (unsigned long long)(l->ram->size / MiB));
	default:
		return fail(l, -EINVAL, "gzip: %s",
			    z.avail_in ? "damaged" : "ends too early");
	}
}

/* The compressed part of an EFI zboot image. */
static int zboot_payload(const struct loading *l, const struct loader_file *file,
			 struct loader_file *payload)
{
	const uint8_t *p = file->data;
	uint32_t offset, size;

	if (file->size < ZBOOT_COMPRESSION + ZBOOT_COMPRESSION_SIZE)
		return fail(l, -EINVAL, "EFI zboot image ends in its header");
	if (strncmp((const char *)p + ZBOOT_COMPRESSION, "gzip", ZBOOT_COMPRESSION_SIZE))
		return fail(l, -EINVAL,
			    "EFI zboot image with compression %.*s: unpack it first",
			    ZBOOT_COMPRESSION_SIZE, (const char *)p + ZBOOT_COMPRESSION);
	offset = get32(p + ZBOOT_PAYLOAD);
	size = get32(p + ZBOOT_PAYLOAD_SIZE);
	if (offset > file->size || size > file->size - offset)
		return fail(l, -EINVAL, "EFI zboot image ends too early");
	*payload = (struct loader_file){p + offset, size};
	return 0;
}

/* -- the kinds of image -------------------------------------------------------------- */

static int load_linux(const struct loading *l, const struct loader_file *file)
{
	const uint8_t *header = file->data;
	uint64_t offset = get64(header + HEADER_TEXT_OFFSET);
	uint64_t memory = get64(header + HEADER_IMAGE_SIZE);

	if (get64(header + HEADER_FLAGS) & FLAG_BIG_ENDIAN)
		return fail(l, -EINVAL, "a big-endian kernel");
	if (!memory)
		offset = FLAT_OFFSET; /* before 3.17 the header meant nothing */
	else if (offset < LOW_OFFSET)
		offset += ALIGNMENT;
	if (offset > l->ram->size)
		return fail(l, -ENOSPC, "Image at RAM + %#llx, beyond its end",
			    (unsigned long long)offset);
	if (memory < file->size)
		memory = file->size;
	l->layout->kind = LOADER_IMAGE;
	l->layout->entry = l->layout->image = l->ram->base + offset;
	l->layout->image_end = l->layout->image + memory;
	return put(l, l->layout->image, file->data, file->size, memory, "Image");
}

static int load_flat(const struct loading *l, const struct loader_file *file)
{
	l->layout->kind = LOADER_FLAT;
	l->layout->entry = l->layout->image = l->ram->base + FLAT_OFFSET;
	l->layout->image_end = l->layout->image + file->size;
	return put(l, l->layout->image, file->data, file->size, file->size, "flat image");
}

static int load_segment(const struct loading *l, const struct loader_file *file,
			const GElf_Phdr *ph, uint64_t bias)
{
	struct loader_layout *layout = l->layout;
	const uint64_t pa = ph->p_paddr + bias;
	int ret;

	if (ph->p_filesz > ph->p_memsz || ph->p_offset > file->size ||
	    ph->p_filesz > file->size - ph->p_offset)
		return fail(l, -EINVAL, "ELF segment at %#llx ends outside the file",
			    (unsigned long long)ph->p_paddr);
	ret = put(l, pa, (const uint8_t *)file->data + ph->p_offset, ph->p_filesz,
		  ph->p_memsz, "ELF segment");
	if (ret)
		return ret;
	if (pa < layout->image)
		layout->image = pa;
	if (pa + ph->p_memsz > layout->image_end)
		layout->image_end = pa + ph->p_memsz;
	return 0;
}

/* The entry point is a virtual address: kernels are linked high. */
static uint64_t physical_entry(Elf *elf, size_t nsegments, uint64_t entry, uint64_t bias)
{
	GElf_Phdr ph;

	for (size_t i = 0; i < nsegments; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    entry >= ph.p_vaddr && entry - ph.p_vaddr < ph.p_memsz)
			return ph.p_paddr + (entry - ph.p_vaddr) + bias;
	return entry + bias;
}

static int load_segments(const struct loading *l, const struct loader_file *file,
			 Elf *elf)
{
	size_t nsegments = 0;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	uint64_t bias;
	int ret;

	if (!gelf_getehdr(elf, &eh) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_AARCH64)
		return fail(l, -EINVAL, "ELF, but not for little-endian AArch64");
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return fail(l, -EINVAL, "ELF, but no executable (type %u)", eh.e_type);
	if (elf_getphdrnum(elf, &nsegments))
		return fail(l, -EINVAL, "ELF: %s", elf_errmsg(-1));
	/* Position independent ones are linked at 0 and relocate themselves. */
	bias = eh.e_type == ET_DYN ? l->ram->base + ALIGNMENT : 0;
	l->layout->kind = LOADER_ELF;
	l->layout->image = UINT64_MAX;
	for (size_t i = 0; i < nsegments; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph))
			return fail(l, -EINVAL, "ELF: %s", elf_errmsg(-1));
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		ret = load_segment(l, file, &ph, bias);
		if (ret)
			return ret;
	}
	if (l->layout->image == UINT64_MAX)
		return fail(l, -EINVAL, "ELF without a segment to load");
	l->layout->entry = physical_entry(elf, nsegments, eh.e_entry, bias);
	if (!fits(l->ram, l->layout->entry, 4))
		return fail(l, -EINVAL, "ELF entry point %#llx is not in RAM",
			    (unsigned long long)l->layout->entry);
	return 0;
}

static int load_elf(const struct loading *l, const struct loader_file *file)
{
	Elf *elf;
	int ret;

	elf_version(EV_CURRENT);
	/* libelf reads only: nothing is written back through a memory handle */
	elf = elf_memory((char *)(uintptr_t)file->data, file->size);
	if (!elf)
		return fail(l, -EINVAL, "ELF: %s", elf_errmsg(-1));
	ret = load_segments(l, file, elf);
	elf_end(elf);
	return ret;
}

static int load_image(const struct loading *l, const struct loader_file *file);

static int load_compressed(const struct loading *l, const struct loader_file *file)
{
	struct loader_file inner = {0};
	uint8_t *unpacked = NULL;
	int ret = gunzip(l, file, &unpacked, &inner.size);

	inner.data = unpacked;
	if (!ret)
		ret = is_gzip(&inner) ? fail(l, -EINVAL, "gzip within gzip")
				      : load_image(l, &inner);
	free(unpacked);
	return ret;
}

static int load_image(const struct loading *l, const struct loader_file *file)
{
	struct loader_file payload;
	int ret;

	if (!file->size)
		return fail(l, -EINVAL, "an empty image");
	if (has(file, 0, ELFMAG, SELFMAG))
		return load_elf(l, file);
	if (has(file, HEADER_MAGIC, "ARM\x64", 4) && file->size >= HEADER_SIZE)
		return load_linux(l, file);
	if (has(file, 0, "MZ", 2) && has(file, ZBOOT_MAGIC, "zimg", 4)) {
		ret = zboot_payload(l, file, &payload);
		return ret ? ret : load_compressed(l, &payload);
	}
	if (is_gzip(file))
		return load_compressed(l, file);
	return load_flat(l, file);
}

/* -- what lies behind it --------------------------------------------------------------- */

/* The initrd half-way up RAM, at most 128 MiB, the tree at the next 2 MiB: both above
 * whatever the image will use beyond its own end. */
static int place(const struct loading *l, const struct loader_file *initrd,
		 size_t dtb_size)
{
	const struct loader_ram *ram = l->ram;
	struct loader_layout *layout = l->layout;
	uint64_t pa = ram->base +
		      (ram->size / 2 < INITRD_OFFSET ? ram->size / 2 : INITRD_OFFSET);
	int ret = 0;

	if (pa < layout->image_end)
		pa = layout->image_end;
	layout->initrd = layout->initrd_end = align_up(pa, PAGE);
	if (initrd) {
		layout->initrd_end += initrd->size;
		ret = put(l, layout->initrd, initrd->data, initrd->size, initrd->size,
			  "initrd");
	}
	if (ret)
		return ret;
	layout->dtb = align_up(layout->initrd_end, ALIGNMENT);
	layout->dtb_end = layout->dtb + dtb_size;
	if (!fits(ram, layout->dtb, dtb_size))
		return fail(l, -ENOSPC, "no room for the device tree in %llu MiB of RAM",
			    (unsigned long long)(ram->size / MiB));
	return 0;
}

int loader_load(const struct loader_ram *ram, const struct loader_file *image,
		const struct loader_file *initrd, size_t dtb_size,
		struct loader_layout *layout, char *err, size_t errsize)
{
	const struct loading l = {
		.ram = ram,
		.layout = layout,
		.err = err,
		.errsize = errsize,
	};
	int ret;

	memset(layout, 0, sizeof(*layout));
	ret = load_image(&l, image);
	return ret ? ret : place(&l, initrd, dtb_size);
}
