/* SPDX-License-Identifier: MIT */
/* Images made by hand, into 64 MiB of RAM unless a case says otherwise. */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "emu/loader.h"

#define BASE UINT64_C(0x40000000)
#define MiB (UINT64_C(1) << 20)

enum {
	DTB = 0x10000,
	FILE_MAX = 1 << 16
};

static uint8_t *host;
static size_t host_size;
static struct loader_ram ram;
static struct loader_layout layout;
static char err[160];
static uint8_t bytes[FILE_MAX];

/* Pages from the host: malloc's fill patterns would touch all of them. */
static void power_on(uint64_t size)
{
	if (host)
		munmap(host, host_size);
	host_size = size;
	host = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(host, MAP_FAILED);
	ram = (struct loader_ram){.host = host, .base = BASE, .size = size};
}

static void set_up(void)
{
	power_on(64 * MiB);
	memset(bytes, 0, sizeof(bytes));
	memset(&layout, 0xee, sizeof(layout));
	memset(err, 0, sizeof(err));
}

static int load(const void *data, size_t size)
{
	/* exactly as long as it says: a sanitizer sees each byte beyond */
	void *copy = malloc(size ? size : 1);
	struct loader_file file = {copy, size};
	int ret;

	memcpy(copy, data, size);
	ret = loader_load(&ram, &file, NULL, DTB, &layout, err, sizeof(err));
	free(copy);
	return ret;
}

static void expect_refused(const void *data, size_t size, int ret, const char *text)
{
	ck_assert_int_eq(load(data, size), ret);
	ck_assert_msg(strstr(err, text) != NULL, "\"%s\" lacks \"%s\"", err, text);
	ck_assert_ptr_null(strchr(err, '\n'));
}

static void put64(uint8_t *p, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

/* A Linux header, and a byte to find again at the file's end. */
static void linux_header(size_t size, uint64_t text_offset, uint64_t image_size,
			 uint64_t flags)
{
	memset(bytes, 0, sizeof(bytes));
	put64(bytes + 8, text_offset);
	put64(bytes + 16, image_size);
	put64(bytes + 24, flags);
	memcpy(bytes + 56, "ARM\x64", 4);
	bytes[size - 1] = 0xa5;
}

static void expect_at(uint64_t pa, size_t size)
{
	ck_assert_int_eq(memcmp(host + (pa - BASE), bytes, size), 0);
}

/* -- Linux ----------------------------------------------------------------------- */

START_TEST(loader_image_goes_where_qemu_puts_it)
{
	static const struct {
		uint64_t text_offset, image_size, at, end;
	} cases[] = {
		/* as 5.8 and later: 0 would hit QEMU's own boot code */
		{0, 0x100000, 0x200000, 0x300000},
		{0xfff, 0x100000, 0x200fff, 0x300fff},
		{0x1000, 0x100000, 0x1000, 0x101000},
		{0x80000, 0x100000, 0x80000, 0x180000},
		/* a file longer than it says is still all of it */
		{0x80000, 0x10, 0x80000, 0x81000},
		/* no size: the header is older than its meaning */
		{0, 0, 0x80000, 0x81000},
		{0x12345, 0, 0x80000, 0x81000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(host, 0, 4 * MiB);
		linux_header(0x1000, cases[i].text_offset, cases[i].image_size, 0xa);
		ck_assert_int_eq(load(bytes, 0x1000), 0);
		ck_assert_int_eq(layout.kind, LOADER_IMAGE);
		ck_assert_uint_eq(layout.entry, BASE + cases[i].at);
		ck_assert_uint_eq(layout.image, BASE + cases[i].at);
		ck_assert_uint_eq(layout.image_end, BASE + cases[i].end);
		expect_at(layout.image, 0x1000);
	}
}
END_TEST

START_TEST(loader_image_that_cannot_run_is_refused)
{
	linux_header(0x1000, 0, 0x100000, 1);
	expect_refused(bytes, 0x1000, -EINVAL, "big-endian");
	linux_header(0x1000, 0, 62 * MiB, 0);
	ck_assert_int_eq(load(bytes, 0x1000),
			 -ENOSPC); /* room for it, not for the tree */
	linux_header(0x1000, 0, 62 * MiB + 1, 0);
	expect_refused(bytes, 0x1000, -ENOSPC, "64 MiB of RAM");
	linux_header(0x1000, UINT64_MAX - 0x100, 0x100, 0);
	expect_refused(bytes, 0x1000, -ENOSPC, "beyond its end");
	linux_header(0x1000, 0, UINT64_MAX, 0);
	expect_refused(bytes, 0x1000, -ENOSPC, "does not fit");
}
END_TEST

/* -- flat ------------------------------------------------------------------------ */

START_TEST(loader_flat_lies_at_512_k)
{
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	ck_assert_int_eq(load(bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(layout.kind, LOADER_FLAT);
	ck_assert_uint_eq(layout.entry, BASE + 0x80000);
	ck_assert_uint_eq(layout.image_end, BASE + 0x80000 + sizeof(bytes));
	expect_at(BASE + 0x80000, sizeof(bytes));
	ck_assert_uint_eq(host[0x7ffff] | host[0x80000 + sizeof(bytes)], 0);
	/* shorter than any header, down to one instruction or less */
	ck_assert_int_eq(load(bytes, 1), 0);
	ck_assert_int_eq(layout.kind, LOADER_FLAT);
	expect_refused(bytes, 0, -EINVAL, "empty");
	ram.size = 0x80000 + 4;
	expect_refused(bytes, 5, -ENOSPC, "flat image of 5 bytes");
}
END_TEST

/* -- ELF ------------------------------------------------------------------------- */

enum {
	SEG = 0x400
};

static Elf64_Ehdr *ehdr(void)
{
	return (Elf64_Ehdr *)(void *)bytes;
}

static Elf64_Phdr *phdr(unsigned i)
{
	return (Elf64_Phdr *)(void *)(bytes + sizeof(Elf64_Ehdr)) + i;
}

/* Two segments of SEG bytes, linked high, at 1 and 2 MiB of RAM; the second has
 * twice the memory. */
static void elf(void)
{
	memset(bytes, 0, sizeof(bytes));
	memcpy(ehdr()->e_ident, ELFMAG, SELFMAG);
	ehdr()->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr()->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr()->e_ident[EI_VERSION] = EV_CURRENT;
	ehdr()->e_type = ET_EXEC;
	ehdr()->e_machine = EM_AARCH64;
	ehdr()->e_version = EV_CURRENT;
	ehdr()->e_entry = UINT64_C(0xffff800010200010);
	ehdr()->e_phoff = sizeof(Elf64_Ehdr);
	ehdr()->e_ehsize = sizeof(Elf64_Ehdr);
	ehdr()->e_phentsize = sizeof(Elf64_Phdr);
	ehdr()->e_phnum = 3;
	phdr(0)->p_type = PT_NOTE;
	for (unsigned i = 1; i < 3; i++) {
		phdr(i)->p_type = PT_LOAD;
		phdr(i)->p_offset = 0x1000 * i;
		phdr(i)->p_vaddr = UINT64_C(0xffff800010000000) + 0x100000 * i;
		phdr(i)->p_paddr = BASE + 0x100000 * i;
		phdr(i)->p_filesz = SEG;
		phdr(i)->p_memsz = SEG * i;
		memset(bytes + 0x1000 * i, (int)(0x10 + i), SEG);
	}
}

enum {
	ELF_SIZE = 0x2000 + SEG
};

START_TEST(loader_elf_goes_to_its_physical_addresses)
{
	elf();
	ck_assert_int_eq(load(bytes, ELF_SIZE), 0);
	ck_assert_int_eq(layout.kind, LOADER_ELF);
	ck_assert_uint_eq(layout.entry, BASE + 0x200010);
	ck_assert_uint_eq(layout.image, BASE + 0x100000);
	ck_assert_uint_eq(layout.image_end, BASE + 0x200000 + 2 * SEG);
	for (unsigned i = 1; i < 3; i++) {
		const uint8_t *p = host + 0x100000 * i;

		ck_assert_int_eq(memcmp(p, bytes + 0x1000 * i, SEG), 0);
		ck_assert_uint_eq(p[-1] | p[SEG], 0);
	}
}
END_TEST

/* Position independent: linked at 0, placed from 2 MiB on. */
START_TEST(loader_elf_without_a_place_gets_one)
{
	elf();
	ehdr()->e_type = ET_DYN;
	ehdr()->e_entry = 0x100020;
	for (unsigned i = 1; i < 3; i++)
		phdr(i)->p_vaddr = phdr(i)->p_paddr = 0x100000 * i;
	ck_assert_int_eq(load(bytes, ELF_SIZE), 0);
	ck_assert_uint_eq(layout.entry, BASE + 0x300020);
	ck_assert_uint_eq(layout.image, BASE + 0x300000);
	ck_assert_uint_eq(host[0x400000], 0x12);
}
END_TEST

START_TEST(loader_bad_elf_is_refused)
{
	elf();
	ehdr()->e_machine = EM_X86_64;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "not for little-endian AArch64");
	elf();
	ehdr()->e_ident[EI_CLASS] = ELFCLASS32;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "not for little-endian AArch64");
	elf();
	ehdr()->e_ident[EI_DATA] = ELFDATA2MSB;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "not for little-endian AArch64");
	elf();
	ehdr()->e_type = ET_REL;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "no executable");
	elf();
	phdr(1)->p_type = phdr(2)->p_type = PT_NULL;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "without a segment");
	elf();
	phdr(2)->p_memsz = SEG - 1;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "outside the file");
	elf();
	phdr(2)->p_offset = UINT64_MAX - 1;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "outside the file");
	elf();
	expect_refused(bytes, ELF_SIZE - 1, -EINVAL, "outside the file");
	elf();
	phdr(2)->p_paddr = 0x1000;
	expect_refused(bytes, ELF_SIZE, -ENOSPC, "at 0x1000");
	elf();
	phdr(2)->p_memsz = 63 * MiB;
	expect_refused(bytes, ELF_SIZE, -ENOSPC, "ELF segment");
	elf();
	ehdr()->e_entry = 0x1000;
	expect_refused(bytes, ELF_SIZE, -EINVAL, "entry point 0x1000");
	elf();
	expect_refused(bytes, 4, -EINVAL, "ELF");
	expect_refused(bytes, sizeof(Elf64_Ehdr) + 8, -EINVAL, "ELF");
}
END_TEST

/* -- compressed ------------------------------------------------------------------- */

static size_t gzip(const void *data, size_t size, uint8_t *out, size_t room)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};

	ck_assert_int_eq(
		deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
		Z_OK);
	z.next_out = out;
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static uint8_t packed[FILE_MAX];

START_TEST(loader_unpacks_gzip_of_any_kind)
{
	size_t n;

	linux_header(0x8000, 0, 0x100000, 0);
	n = gzip(bytes, 0x8000, packed, sizeof(packed));
	ck_assert_int_eq(load(packed, n), 0);
	ck_assert_int_eq(layout.kind, LOADER_IMAGE);
	ck_assert_uint_eq(layout.entry, BASE + 0x200000);
	expect_at(layout.image, 0x8000);
	elf();
	n = gzip(bytes, ELF_SIZE, packed, sizeof(packed));
	ck_assert_int_eq(load(packed, n), 0);
	ck_assert_int_eq(layout.kind, LOADER_ELF);
	ck_assert_uint_eq(layout.entry, BASE + 0x200010);
}
END_TEST

START_TEST(loader_refuses_bad_gzip)
{
	uint8_t twice[0x1000];
	size_t n, m;

	ram.size = 4 * MiB; /* room for it is asked for each time */
	linux_header(0x8000, 0, 0x100000, 0);
	n = gzip(bytes, 0x8000, packed, sizeof(packed));
	for (size_t cut = 2; cut < n; cut++)
		expect_refused(packed, cut, -EINVAL, "ends too early");
	m = gzip(packed, n, twice, sizeof(twice));
	expect_refused(twice, m, -EINVAL, "gzip within gzip");
	packed[n - 6] ^= 1; /* its checksum */
	expect_refused(packed, n, -EINVAL, "damaged");
	packed[2] = 9; /* its method */
	expect_refused(packed, n, -EINVAL, "damaged");
	ram.size = 0x7fff; /* unpacked it is one byte more */
	n = gzip(bytes, 0x8000, packed, sizeof(packed));
	expect_refused(packed, n, -ENOSPC, "unpacks to more");
}
END_TEST

static size_t zboot(const char *compression, uint32_t size)
{
	memset(bytes, 0, 64);
	memcpy(bytes, "MZ\0\0zimg", 8);
	put64(bytes + 8, 0x100 | (uint64_t)size << 32);
	memcpy(bytes + 24, compression, strlen(compression));
	memcpy(bytes + 0x100, packed, size);
	return 0x100 + size;
}

START_TEST(loader_unwraps_efi_zboot)
{
	size_t n, size;

	linux_header(0x1000, 0x80000, 0x100000, 0);
	n = gzip(bytes, 0x1000, packed, sizeof(packed));
	size = zboot("gzip", (uint32_t)n);
	ck_assert_int_eq(load(bytes, size), 0);
	ck_assert_int_eq(layout.kind, LOADER_IMAGE);
	ck_assert_uint_eq(layout.entry, BASE + 0x80000);
	expect_refused(bytes, size - 1, -EINVAL, "zboot image ends too early");
	expect_refused(bytes, 0x80, -EINVAL, "zboot image ends too early");
	expect_refused(bytes, 40, -EINVAL, "ends in its header");
	size = zboot("zstd22", (uint32_t)n);
	expect_refused(bytes, size, -EINVAL, "compression zstd22");
}
END_TEST

/* -- what lies behind it ----------------------------------------------------------- */

static int load_with(size_t initrd_size, size_t dtb_size)
{
	static uint8_t initrd[1 << 20];
	const struct loader_file file = {bytes, 0x1000}, second = {initrd, initrd_size};

	memset(initrd, 0x77, sizeof(initrd));
	return loader_load(&ram, &file, &second, dtb_size, &layout, err, sizeof(err));
}

START_TEST(loader_initrd_and_tree_lie_above_the_image)
{
	static const struct {
		uint64_t ram, image_size, initrd;
	} cases[] = {
		{64, 0x100000, 32 * MiB},	       /* half of RAM */
		{64, 40 * MiB, 42 * MiB},	       /* the image needs more */
		{64, 40 * MiB + 1, 42 * MiB + 0x1000}, /* whole pages */
		{256, 0x100000, 128 * MiB},
		{512, 0x100000, 128 * MiB}, /* never higher than that */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t size = 0x12345;

		power_on(cases[i].ram * MiB);
		linux_header(0x1000, 0, cases[i].image_size, 0);
		ck_assert_int_eq(load_with(size, DTB), 0);
		ck_assert_uint_eq(layout.initrd, BASE + cases[i].initrd);
		ck_assert_uint_eq(layout.initrd_end, layout.initrd + size);
		ck_assert_uint_ge(layout.initrd, layout.image_end);
		ck_assert_uint_eq(layout.dtb % (2 * MiB), 0);
		ck_assert_uint_ge(layout.dtb, layout.initrd_end);
		ck_assert_uint_lt(layout.dtb - layout.initrd_end, 2 * MiB);
		ck_assert_uint_eq(layout.dtb_end - layout.dtb, DTB);
		ck_assert_uint_eq(host[layout.initrd - BASE], 0x77);
		ck_assert_uint_eq(host[layout.initrd - BASE + size - 1], 0x77);
		ck_assert_uint_eq(host[layout.initrd - BASE + size], 0);
	}
}
END_TEST

START_TEST(loader_without_initrd_the_tree_is_half_way_up)
{
	linux_header(0x1000, 0, 0x100000, 0);
	ck_assert_int_eq(load(bytes, 0x1000), 0);
	ck_assert_uint_eq(layout.initrd, layout.initrd_end);
	ck_assert_uint_eq(layout.dtb, BASE + 32 * MiB);
}
END_TEST

START_TEST(loader_needs_room_for_all_three)
{
	linux_header(0x1000, 0, 0x100000, 0);
	ram.size = 3 * MiB; /* the image ends there */
	expect_refused(bytes, 0x1000, -ENOSPC, "device tree");
	ck_assert_int_eq(load_with(1, DTB), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err, "initrd of 1 bytes"));
	ram.size = 4 * MiB;
	ck_assert_int_eq(load_with(1 << 20, 1),
			 -ENOSPC); /* the tree would begin at its end */
	ck_assert_ptr_nonnull(strstr(err, "device tree"));
	ram.size = 4 * MiB + DTB;
	ck_assert_int_eq(load_with(1 << 20, DTB), 0);
	ck_assert_uint_eq(layout.dtb_end, BASE + ram.size);
	ck_assert_int_eq(load_with(1 << 20, DTB + 1), -ENOSPC);
}
END_TEST

START_TEST(loader_kinds_have_names)
{
	ck_assert_str_eq(loader_kind_name(LOADER_IMAGE), "Image");
	ck_assert_str_eq(loader_kind_name(LOADER_ELF), "ELF");
	ck_assert_str_eq(loader_kind_name(LOADER_FLAT), "flat");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("loader");
	TCase *tc = tcase_create("images");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, loader_image_goes_where_qemu_puts_it);
	tcase_add_test(tc, loader_image_that_cannot_run_is_refused);
	tcase_add_test(tc, loader_flat_lies_at_512_k);
	tcase_add_test(tc, loader_elf_goes_to_its_physical_addresses);
	tcase_add_test(tc, loader_elf_without_a_place_gets_one);
	tcase_add_test(tc, loader_bad_elf_is_refused);
	tcase_add_test(tc, loader_unpacks_gzip_of_any_kind);
	tcase_add_test(tc, loader_refuses_bad_gzip);
	tcase_add_test(tc, loader_unwraps_efi_zboot);
	tcase_add_test(tc, loader_initrd_and_tree_lie_above_the_image);
	tcase_add_test(tc, loader_without_initrd_the_tree_is_half_way_up);
	tcase_add_test(tc, loader_needs_room_for_all_three);
	tcase_add_test(tc, loader_kinds_have_names);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);

	const int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
