/* SPDX-License-Identifier: MIT */
/* The EL1 image's memcpy, memmove, memset and memcmp as a program: every offset to
 * 8, every length to 34. The exit status says which one is wrong. */
#include <stddef.h>
#include <stdint.h>

enum { ROOM = 64, OFFSETS = 9, LENGTHS = 34, GUARD = 10 };

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void _start(void);

static uint8_t from[ROOM], to[ROOM], want[ROOM];

static void fill(void)
{
	for (volatile unsigned i = 0; i < ROOM; i++) {
		from[i] = (uint8_t)(i * 7 + 1);
		to[i] = want[i] = (uint8_t)(i * 3 + 2);
	}
}

static int differs(const uint8_t *a, const uint8_t *b)
{
	for (volatile unsigned i = 0; i < ROOM; i++)
		if (a[i] != b[i])
			return 1;
	return 0;
}

static int try(unsigned d, unsigned s, unsigned n)
{
	volatile unsigned i;
	void *ret;

	fill();
	for (i = 0; i < n; i++)
		want[GUARD + d + i] = from[GUARD + s + i];
	ret = memcpy(to + GUARD + d, from + GUARD + s, n);
	if (ret != to + GUARD + d || differs(to, want))
		return 1;
	fill();
	for (i = 0; i < n; i++)
		want[GUARD + d + i] = to[GUARD + s + i];
	ret = memmove(to + GUARD + d, to + GUARD + s, n);
	if (ret != to + GUARD + d || differs(to, want))
		return 2;
	fill();
	for (i = 0; i < n; i++)
		want[GUARD + d + i] = 0xc3;
	ret = memset(to + GUARD + d, 0x15c3, n);
	if (ret != to + GUARD + d || differs(to, want))
		return 3;
	fill();
	memcpy(to + GUARD + d, from + GUARD + s, n);
	if (memcmp(to + GUARD + d, from + GUARD + s, n))
		return 4;
	if (!n)
		return 0;
	to[GUARD + d + n - 1] ^= 0x80;
	if ((memcmp(to + GUARD + d, from + GUARD + s, n) > 0) !=
	    (to[GUARD + d + n - 1] > from[GUARD + s + n - 1]))
		return 5;
	return 0;
}

__attribute__((noreturn)) static void leave(long code)
{
	register long nr __asm__("x8") = 93;
	register long status __asm__("x0") = code;

	__asm__ volatile("svc #0" : : "r"(nr), "r"(status));
	__builtin_unreachable();
}

void _start(void)
{
	int bad = 0;

	for (unsigned d = 0; d < OFFSETS && !bad; d++)
		for (unsigned s = 0; s < OFFSETS && !bad; s++)
			for (unsigned n = 0; n <= LENGTHS && !bad; n++)
				bad = try(d, s, n);
	leave(bad);
}
