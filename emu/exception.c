/* SPDX-License-Identifier: MIT */
#include "emu/exception.h"

#include <string.h>
#include <unicorn/unicorn.h>

enum { ESR_EC_SHIFT = 26 };

static const uint32_t esr_il = UINT32_C(1) << 25;

/* Two immediates that no other word of a context is likely to hold. */
static const uint16_t probe_imm[2] = { 0x5ac3, 0xa35c };

static uint32_t svc_word(uint16_t imm)
{
	return UINT32_C(0xd4000001) | (uint32_t)imm << 5;
}

static uint32_t svc_syndrome(uint16_t imm)
{
	return (uint32_t)CPU_EC_SVC64 << ESR_EC_SHIFT | esr_il | imm;
}

static void stop_at_intr(uc_engine *uc, uint32_t intno, void *opaque)
{
	(void)intno;
	(void)opaque;
	uc_emu_stop(uc);
}

/* Copies of both contexts after one SVC each, @size bytes a context. */
static int provoke(struct exception_probe *probe, uc_engine *uc, uint64_t ram_base,
		   uint8_t *copy[2], size_t size)
{
	uint32_t code[2] = { svc_word(probe_imm[0]), svc_word(probe_imm[1]) };
	const uint32_t zero[2] = { 0, 0 };
	uc_hook hook;
	int rc = -1;

	if (uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)stop_at_intr, NULL, 1, 0))
		return -1;
	if (uc_mem_write(uc, ram_base, code, sizeof(code)))
		goto out;
	for (int i = 0; i < 2; i++) {
		if (uc_emu_start(uc, ram_base + 4 * (unsigned)i, 0, 0, 0) ||
		    uc_context_save(uc, probe->context))
			goto out;
		memcpy(copy[i], probe->context, size);
	}
	rc = 0;
out:
	uc_mem_write(uc, ram_base, zero, sizeof(zero));
	uc_ctl_remove_cache(uc, ram_base, ram_base + sizeof(code));
	uc_hook_del(uc, hook);
	return rc;
}

int exception_probe_init(struct exception_probe *probe, struct uc_struct *uc,
			 uint64_t ram_base)
{
	uint8_t *copy[2] = { NULL, NULL };
	size_t size, found = 0;
	int rc = -1;

	probe->context = NULL;
	if (uc_context_alloc(uc, &probe->context))
		return -1;
	size = uc_context_size(uc);
	copy[0] = malloc(size);
	copy[1] = malloc(size);
	if (!copy[0] || !copy[1] || provoke(probe, uc, ram_base, copy, size))
		goto out;
	for (size_t at = 0; at + 16 <= size; at += 4) {
		uint32_t word[2];

		memcpy(&word[0], copy[0] + at, 4);
		memcpy(&word[1], copy[1] + at, 4);
		if (word[0] == svc_syndrome(probe_imm[0]) &&
		    word[1] == svc_syndrome(probe_imm[1])) {
			probe->syndrome = at;
			found++;
		}
	}
	rc = found == 1 ? 0 : -1;
out:
	free(copy[0]);
	free(copy[1]);
	if (rc)
		exception_probe_free(probe);
	return rc;
}

void exception_probe_free(struct exception_probe *probe)
{
	if (probe->context)
		uc_context_free(probe->context);
	probe->context = NULL;
}

int exception_decode(const struct exception_probe *probe, struct uc_struct *uc,
		     uint32_t intno, uint64_t pc, struct cpu_exception *exc)
{
	uint32_t syndrome;
	uint64_t fault;

	if (uc_context_save(uc, probe->context))
		return -1;
	memcpy(&syndrome, (uint8_t *)probe->context + probe->syndrome, 4);
	/* The fault address follows the syndrome and a 32-bit FSR. */
	memcpy(&fault, (uint8_t *)probe->context + probe->syndrome + 8, 8);
	exc->esr = syndrome;
	exc->elr = pc;
	exc->far = intno == EXCEPTION_INTR_FETCH_ABORT ||
				   intno == EXCEPTION_INTR_DATA_ABORT ?
			   fault :
			   0;
	return 0;
}
