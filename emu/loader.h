/* SPDX-License-Identifier: MIT */
/*
 * What `pmulab boot` boots, into guest RAM: a Linux arm64 Image (plain or
 * gzipped), an AArch64 ELF by its physical addresses, or a flat binary; the
 * initrd and the device tree behind it. Where things go is QEMU's rule
 * (hw/arm/boot.c), so that one image runs at one address on both.
 */
#ifndef PMULAB_EMU_LOADER_H
#define PMULAB_EMU_LOADER_H

#include <stddef.h>
#include <stdint.h>

enum loader_kind {
	LOADER_IMAGE, /* has the Linux arm64 header */
	LOADER_ELF,
	LOADER_FLAT, /* neither: at RAM + 0x80000 */
};

struct loader_ram {
	uint8_t *host; /* zeroed */
	uint64_t base;
	uint64_t size;
};

struct loader_file {
	const void *data; /* borrowed */
	size_t size;
};

struct loader_layout {
	enum loader_kind kind;
	uint64_t entry;		     /* physical */
	uint64_t image, image_end;   /* the memory it asked for, end exclusive */
	uint64_t initrd, initrd_end; /* equal: none */
	uint64_t dtb, dtb_end;	     /* room for the device tree */
};

/*
 * Place @image and @initrd (NULL: none) in @ram and find room for @dtb_size
 * bytes of device tree, to be written by the caller (see virt_fdt_build()).
 * 0; -EINVAL (not bootable), -ENOSPC (does not fit) or -ENOMEM with one line in
 * @err, which names no file. RAM may have been written then.
 */
int loader_load(const struct loader_ram *ram, const struct loader_file *image,
		const struct loader_file *initrd, size_t dtb_size,
		struct loader_layout *layout, char *err, size_t errsize);

/* "Image", "ELF", "flat". */
const char *loader_kind_name(enum loader_kind kind);

#endif
