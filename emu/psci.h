/* SPDX-License-Identifier: MIT */
/*
 * Power State Coordination Interface 1.0 (Arm DEN 0022) as a function of one
 * call's arguments and what the machine can do.
 */
#ifndef PMULAB_EMU_PSCI_H
#define PMULAB_EMU_PSCI_H

#include <stdbool.h>
#include <stdint.h>

enum psci_result {
	PSCI_SUCCESS = 0,
	PSCI_NOT_SUPPORTED = -1,
	PSCI_INVALID_PARAMETERS = -2,
	PSCI_DENIED = -3,
	PSCI_ALREADY_ON = -4,
	PSCI_ON_PENDING = -5,
	PSCI_INTERNAL_FAILURE = -6,
	PSCI_NOT_PRESENT = -7,
	PSCI_DISABLED = -8,
	PSCI_INVALID_ADDRESS = -9,
};

/* None may be NULL. CPUs are numbers below ncpus. */
struct psci_ops {
	unsigned ncpus;
	bool (*is_on)(void *opaque, unsigned cpu);
	/* May a CPU start at physical @entry? */
	bool (*is_code)(void *opaque, uint64_t entry);
	/* @cpu, which is off, starts at physical @entry at EL1 with the MMU off,
	 * DAIF set and x0 = @context. */
	void (*cpu_on)(void *opaque, unsigned cpu, uint64_t entry, uint64_t context);
	void (*cpu_off)(void *opaque, unsigned cpu);
	/* As WFI: the call returns when an interrupt is pending. */
	void (*wait)(void *opaque, unsigned cpu);
	void (*system_off)(void *opaque);
	void (*system_reset)(void *opaque);
	void *opaque;
};

/* CPU @cpu made an HVC with x0..x3 in @arg. True: it goes on with x0 = *ret.
 * False: it does not return (CPU_OFF, SYSTEM_OFF, SYSTEM_RESET); the op was
 * called. */
bool psci_call(const struct psci_ops *ops, unsigned cpu, const uint64_t arg[4],
	       uint64_t *ret);

#endif
