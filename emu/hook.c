/* SPDX-License-Identifier: MIT */
#include "emu/hook.h"

/* A jump to slow(), so that nothing is saved for the sake of the usual way. */
#define EXPORT __attribute__((visibility("default"), aligned(64)))

EXPORT void hook_block(void *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct hook *hook = opaque;
	const uint64_t previous = hook->block_end;

	hook->left -= size;
	if (__builtin_expect((int64_t)hook->left < 0 || *hook_mark(hook, previous), 0)) {
		hook->slow(hook, address, size);
		return;
	}
	hook->block_end = address + size;
}

EXPORT void hook_block_el0(void *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct hook *hook = opaque;

	hook->left -= size;
	if (__builtin_expect((int64_t)hook->left < 0, 0)) {
		hook->slow(hook, address, size);
		return;
	}
	hook->block_end = address + size;
}
