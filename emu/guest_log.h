/* SPDX-License-Identifier: MIT */
/*
 * What a guest did to a device that no correct guest does: an offset that holds
 * no register, a size that it cannot be accessed in. The device reads as zero
 * and ignores the write; the log counts all of them and reports the first few,
 * since a guest that is wrong once is wrong in a loop.
 */
#ifndef PMULAB_EMU_GUEST_LOG_H
#define PMULAB_EMU_GUEST_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct guest_error {
	const char *device; /* "gicd", "gicr0", "pl011"; static */
	bool write;
	unsigned size;	 /* bytes: 1, 2, 4, 8 */
	uint64_t offset; /* from the device's base */
	uint64_t value;	 /* written; 0 for a read */
};

enum {
	GUEST_LOG_REPORTS = 16
};

struct guest_log {
	void (*report)(void *opaque, const struct guest_error *error); /* may be NULL */
	void *opaque;
	uint64_t count; /* all of them, reported or not */
};

/* @log may be NULL. */
static inline void guest_log_add(struct guest_log *log, const struct guest_error *error)
{
	if (!log)
		return;
	if (log->count++ < GUEST_LOG_REPORTS && log->report)
		log->report(log->opaque, error);
}

#endif
