/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libcheck under the fake kernel: a fuzz target runs outside of
 * any test, and what must hold must hold there too.
 */
#ifndef PMULAB_TOOLS_FUZZ_CHECK_H
#define PMULAB_TOOLS_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define ck_assert(expr)                                                            \
	do {                                                                       \
		if (!(expr)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #expr); \
			abort();                                                   \
		}                                                                  \
	} while (0)
#define ck_assert_msg(expr, ...) ck_assert(expr)
#define ck_abort() ck_assert(0)
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_int_ge(a, b) ck_assert((a) >= (b))
#define ck_assert_uint_eq(a, b) ck_assert((a) == (b))
#define ck_assert_uint_ge(a, b) ck_assert((a) >= (b))
#define ck_assert_uint_le(a, b) ck_assert((a) <= (b))
#define ck_assert_uint_lt(a, b) ck_assert((a) < (b))
#define ck_assert_ptr_nonnull(p) ck_assert((p) != NULL)
#define ck_assert_ptr_null(p) ck_assert((p) == NULL)

#endif
