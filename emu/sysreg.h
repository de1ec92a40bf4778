/* SPDX-License-Identifier: MIT */
/*
 * System registers as const tables. A device is a table of rows and a pointer
 * to its state; the machine holds a list of such blocks and one outer place
 * decides what a bad access does.
 *
 * Encoding and names: Arm ARM (DDI 0487), D24 "AArch64 System Register
 * Descriptions".
 */
#ifndef PMULAB_EMU_SYSREG_H
#define PMULAB_EMU_SYSREG_H

#include <stddef.h>
#include <stdint.h>

/* The 16-bit op0:op1:CRn:CRm:op2 form, as in the MRS/MSR instruction. */
#define SYSREG(op0, op1, crn, crm, op2) \
	((uint32_t)((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))

enum sysreg_kind {
	SYSREG_RW,
	SYSREG_RO, /* a write is UNDEFINED */
	SYSREG_WO, /* a read is UNDEFINED */
	SYSREG_W1S, /* write one to set, reads the mask */
	SYSREG_W1C, /* write one to clear, reads the mask */
};

enum sysreg_result {
	SYSREG_OK,
	SYSREG_UNDEF,	 /* no such register, or not at this EL */
	SYSREG_TRAP_EL1, /* trapped to EL1 with EC 0x18 (e.g. PMUSERENR_EL0) */
};

struct sysreg_desc {
	const char *name;  /* the manual's name, lower case: "pmovsclr_el0";
			    * a family has <n> in it: "pmevcntr<n>_el0" */
	uint32_t enc;	   /* SYSREG(); the first one of a <n> family */
	uint8_t count;	   /* registers in the family, consecutive; else 1 */
	uint8_t el;	   /* lowest EL that may access it: 0 or 1 */
	enum sysreg_kind kind;
	uint64_t writable; /* bits that a write may change; the others RES0/RO */
	size_t offset;	   /* of the uint64_t behind it in the device's state */
	/* Optional; NULL means plain access to the field at offset (an array of
	 * uint64_t for a family). @index counts within a family; @value has
	 * only bits of writable. */
	uint64_t (*read)(void *dev, unsigned index);
	void (*write)(void *dev, unsigned index, uint64_t value);
	/* Instead of write, where the level of the writer matters. */
	void (*write_at)(void *dev, unsigned index, uint64_t value, unsigned el);
	/* Optional: which of a family exist in this configuration; the others
	 * are UNDEFINED. NULL: all. */
	int (*present)(void *dev, unsigned index);
	/* Optional: may this EL0 access go through? */
	enum sysreg_result (*el0)(void *dev, unsigned index, int is_write);
};

/* Rows are sorted by encoding, since look-ups are binary searches; families do
 * not overlap. */
struct sysreg_block {
	const struct sysreg_desc *desc;
	size_t ndesc;
	void *dev;
};

/* A register found: the row of a block, and which of its family. */
struct sysreg_hit {
	const struct sysreg_desc *desc; /* NULL: no such register */
	void *dev;
	unsigned index;
};

struct sysreg_hit sysreg_find(const struct sysreg_block *blocks, size_t nblocks,
			      uint32_t enc);

/* The same without a search, for who looks up many times: the rows of a list of
 * blocks by encoding (op0 is 2 or 3). The blocks may have other devices later. */
enum {
	SYSREG_MAP_ENCS = 1 << 15,
	SYSREG_MAP_ROWS = 255
};
struct sysreg_map {
	uint8_t at[SYSREG_MAP_ENCS]; /* 1 + number of the row; 0: none */
	uint8_t block[SYSREG_MAP_ROWS];
	const struct sysreg_desc *row[SYSREG_MAP_ROWS];
};
/* 0, or -ENOSPC: more rows than that. */
int sysreg_map_init(struct sysreg_map *map, const struct sysreg_block *blocks,
		    size_t nblocks);
struct sysreg_hit sysreg_map_find(const struct sysreg_map *map,
				  const struct sysreg_block *blocks, uint32_t enc);

/* What an access at exception level @el (0 or 1) would say. */
enum sysreg_result sysreg_may(const struct sysreg_hit *hit, unsigned el, int is_write);
/* An access that may be made. */
uint64_t sysreg_get(const struct sysreg_hit *hit);
void sysreg_set(const struct sysreg_hit *hit, unsigned el, uint64_t value);

/*
 * All of that at once: access register @enc at exception level @el. On anything
 * but SYSREG_OK neither *value nor the device changes.
 */
enum sysreg_result sysreg_read(const struct sysreg_block *blocks, size_t nblocks,
			       uint32_t enc, unsigned el, uint64_t *value);
enum sysreg_result sysreg_write(const struct sysreg_block *blocks, size_t nblocks,
				uint32_t enc, unsigned el, uint64_t value);

/* "pmevcntr3_el0" into @buf (at least 32 bytes); "s3_3_c9_c12_0" for a
 * register that no block has. Returns @buf. */
const char *sysreg_name(const struct sysreg_block *blocks, size_t nblocks,
			uint32_t enc, char *buf, size_t size);

/* The encoding of a register name in @blocks; -ENOENT when there is none. As
 * sysreg_name(), works on blocks without a device (dev NULL). */
int64_t sysreg_from_name(const struct sysreg_block *blocks, size_t nblocks,
			 const char *name);

#endif
