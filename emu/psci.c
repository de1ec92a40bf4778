/* SPDX-License-Identifier: MIT */
/*
 * One row a function; PSCI_FEATURES answers from the same table. Function
 * identifiers with bit 30 are the 64-bit form (SMCCC, Arm DEN 0028): the others
 * take their arguments from the lower halves.
 */
#include "emu/psci.h"

#include <stddef.h>

#include "emu/gicv3.h"

#define FAST_CALL UINT32_C(0x84000000)
#define CALL_64 UINT32_C(0x40000000)
#define VERSION_1_0 0x10000
#define AFFINITY UINT64_C(0xff00ffffff)
#define NO_TRUSTED_OS 2 /* MIGRATE_INFO_TYPE: nothing to migrate */

enum affinity_state {
	AFFINITY_ON = 0,
	AFFINITY_OFF = 1
};

struct call {
	const struct psci_ops *ops;
	unsigned cpu;
	uint64_t arg[3];
	bool gone; /* does not return */
};

struct function {
	uint32_t number;
	bool has_64;
	int64_t (*run)(struct call *call);
};

static int64_t version(struct call *call)
{
	return VERSION_1_0;
}

/* Any depth asked for is entered as standby, which the caller must expect; with
 * power-down's entry address unused. */
static int64_t cpu_suspend(struct call *call)
{
	if (call->arg[0] & UINT64_C(0xfffffffffffe0000))
		return PSCI_INVALID_PARAMETERS;
	call->ops->wait(call->ops->opaque, call->cpu);
	return PSCI_SUCCESS;
}

static int64_t cpu_off(struct call *call)
{
	call->gone = true;
	call->ops->cpu_off(call->ops->opaque, call->cpu);
	return PSCI_SUCCESS;
}

static int64_t cpu_on(struct call *call)
{
	const struct psci_ops *ops = call->ops;
	unsigned target;

	for (target = 0; target < ops->ncpus; target++)
		if (call->arg[0] == gicv3_affinity(target))
			break;
	if (target == ops->ncpus)
		return PSCI_INVALID_PARAMETERS;
	if (ops->is_on(ops->opaque, target))
		return PSCI_ALREADY_ON;
	if (call->arg[1] % 4 || !ops->is_code(ops->opaque, call->arg[1]))
		return PSCI_INVALID_ADDRESS;
	ops->cpu_on(ops->opaque, target, call->arg[1], call->arg[2]);
	return PSCI_SUCCESS;
}

/* Of a level above 0: on when any CPU below it is. */
static int64_t affinity_info(struct call *call)
{
	static const uint8_t shift[] = {0, 8, 16, 32};
	const struct psci_ops *ops = call->ops;
	int64_t state = PSCI_INVALID_PARAMETERS;

	if (call->arg[1] >= sizeof(shift) || call->arg[0] & ~AFFINITY)
		return PSCI_INVALID_PARAMETERS;
	for (unsigned i = 0; i < ops->ncpus; i++) {
		if ((call->arg[0] ^ gicv3_affinity(i)) >> shift[call->arg[1]])
			continue;
		if (ops->is_on(ops->opaque, i))
			return AFFINITY_ON;
		state = AFFINITY_OFF;
	}
	return state;
}

static int64_t migrate_info_type(struct call *call)
{
	return NO_TRUSTED_OS;
}

static int64_t system_off(struct call *call)
{
	call->gone = true;
	call->ops->system_off(call->ops->opaque);
	return PSCI_SUCCESS;
}

static int64_t system_reset(struct call *call)
{
	call->gone = true;
	call->ops->system_reset(call->ops->opaque);
	return PSCI_SUCCESS;
}

static int64_t features(struct call *call);

/* clang-format off */
static const struct function functions[] = {
	{ 0x0, false, version },
	{ 0x1, true, cpu_suspend },
	{ 0x2, false, cpu_off },
	{ 0x3, true, cpu_on },
	{ 0x4, true, affinity_info },
	{ 0x6, false, migrate_info_type },
	{ 0x8, false, system_off },
	{ 0x9, false, system_reset },
	{ 0xa, false, features },
};
/* clang-format on */

static const struct function *find(uint64_t id)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const struct function *f = &functions[i];
		const uint32_t narrow = FAST_CALL | f->number;

		if (id == narrow || (f->has_64 && id == (narrow | CALL_64)))
			return f;
	}
	return NULL;
}

/* No flags for any of them: CPU_SUSPEND takes the original power_state format. */
static int64_t features(struct call *call)
{
	return find(call->arg[0]) ? PSCI_SUCCESS : PSCI_NOT_SUPPORTED;
}

bool psci_call(const struct psci_ops *ops, unsigned cpu, const uint64_t arg[4],
	       uint64_t *ret)
{
	/* The function identifier is w0, whatever lies above it. */
	const uint32_t id = (uint32_t)arg[0];
	const uint64_t mask = id & CALL_64 ? UINT64_MAX : UINT64_C(0xffffffff);
	const struct function *f = find(id);
	struct call call = {
		.ops = ops,
		.cpu = cpu,
		.arg = {arg[1] & mask, arg[2] & mask, arg[3] & mask},
	};

	*ret = (uint64_t)(f ? f->run(&call) : PSCI_NOT_SUPPORTED);
	return !call.gone;
}
