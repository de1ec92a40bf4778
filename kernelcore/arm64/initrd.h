/* SPDX-License-Identifier: MIT */
/* The initial RAM disk of the EL1 image: this header, then at the offsets (from
 * its start) the program's ELF image and what the program reads from fd 0. */
#ifndef PMULAB_KERNELCORE_ARM64_INITRD_H
#define PMULAB_KERNELCORE_ARM64_INITRD_H

#include <stdint.h>

#define INITRD_MAGIC UINT64_C(0x31647274696e696b) /* "kinitrd1" */

struct initrd_header {
	uint64_t magic;
	uint64_t elf, elf_size;
	uint64_t input, input_size;
};

#endif
