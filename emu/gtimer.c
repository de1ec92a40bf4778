/* SPDX-License-Identifier: MIT */
#include "emu/gtimer.h"

/* cycles times counts a second needs 128 bits; emu/ is only ever hosted on
 * 64-bit machines, where both compilers have them. */
__extension__ typedef unsigned __int128 u128;

void gtimer_init(struct gtimer *timer, const uint64_t *now, uint64_t cpu_hz,
		 uint64_t cntfrq)
{
	timer->now = now;
	timer->cpu_hz = cpu_hz;
	timer->cntfrq = cntfrq;
}

uint64_t gtimer_count(const struct gtimer *timer)
{
	return (uint64_t)((u128)*timer->now * timer->cntfrq / timer->cpu_hz);
}

static uint64_t read_count(void *dev, unsigned index)
{
	return gtimer_count(dev);
}

/* CNTKCTL_EL1 is not modelled; the answer is what it says under Linux
 * (EL0VCTEN set, EL0PCTEN clear: arch_timer's arch_counter_set_user_access). */
static enum sysreg_result physical_at_el0(void *dev, unsigned index, int is_write)
{
	return SYSREG_TRAP_EL1;
}

/* CNTFRQ_EL0 is writable at the highest EL only, and by firmware only in
 * practice: read-only here. */
/* clang-format off */
static const struct sysreg_desc rows[] = {
	{ .name = "cntfrq_el0", .enc = SYSREG(3, 3, 14, 0, 0), .count = 1,
	  .el = 0, .kind = SYSREG_RO, .offset = offsetof(struct gtimer, cntfrq) },
	{ .name = "cntpct_el0", .enc = SYSREG(3, 3, 14, 0, 1), .count = 1,
	  .el = 0, .kind = SYSREG_RO, .read = read_count, .el0 = physical_at_el0 },
	{ .name = "cntvct_el0", .enc = SYSREG(3, 3, 14, 0, 2), .count = 1,
	  .el = 0, .kind = SYSREG_RO, .read = read_count },
};
/* clang-format on */

struct sysreg_block gtimer_sysregs(struct gtimer *timer)
{
	return (struct sysreg_block){
		.desc = rows,
		.ndesc = sizeof(rows) / sizeof(rows[0]),
		.dev = timer,
	};
}
