/* SPDX-License-Identifier: MIT */
#include "emu/gtimer.h"

#include <string.h>

/* cycles times counts a second needs 128 bits; emu/ is only ever hosted on
 * 64-bit machines, where both compilers have them. */
__extension__ typedef unsigned __int128 u128;

enum {
	CTL_ENABLE = 1 << 0,
	CTL_IMASK = 1 << 1,
	CTL_ISTATUS = 1 << 2,
};

enum {
	CNTKCTL_EL0PCTEN = 1 << 0,
	CNTKCTL_EL0VCTEN = 1 << 1,
	CNTKCTL_EL0VTEN = 1 << 8,
	CNTKCTL_EL0PTEN = 1 << 9,
	/* With the event stream's EVNTEN, EVNTDIR and EVNTI, which are stored
	 * only: it wakes WFE, and WFE may always end early. */
	CNTKCTL_WRITABLE = 0x3ff,
};

uint64_t gtimer_count(const struct gtimer *timer)
{
	return (uint64_t)((u128)*timer->now * timer->cntfrq / timer->cpu_hz);
}

/* -- the timers -------------------------------------------------------------- */

/* The counter reaches @count at cycle ceil(count * cpu_hz / cntfrq). Divided once
 * for each write, since time is looked at as often as once an instruction. */
static uint64_t cycle_of(const struct gtimer *timer, uint64_t count)
{
	const u128 at = ((u128)count * timer->cpu_hz + timer->cntfrq - 1) / timer->cntfrq;

	return at < UINT64_MAX ? (uint64_t)at : UINT64_MAX;
}

/* The timer condition compares as unsigned numbers (Arm ARM, D12.2.4). */
static int condition(const struct gtimer *timer, const struct gtimer_compare *t)
{
	return (t->ctl & CTL_ENABLE) && *timer->now >= t->due;
}

void gtimer_update(struct gtimer *timer)
{
	for (unsigned i = 0; i < GTIMERS; i++) {
		struct gtimer_compare *t = &timer->timer[i];
		const int level = !(t->ctl & CTL_IMASK) && condition(timer, t);

		if (level == t->level)
			continue;
		t->level = level;
		irq_line_set(&t->line, level);
	}
}

uint64_t gtimer_deadline(const struct gtimer *timer)
{
	uint64_t nearest = UINT64_MAX;

	for (unsigned i = 0; i < GTIMERS; i++) {
		const struct gtimer_compare *t = &timer->timer[i];

		if ((t->ctl & (CTL_ENABLE | CTL_IMASK)) != CTL_ENABLE ||
		    condition(timer, t) || t->due == UINT64_MAX)
			continue;
		if (t->due - *timer->now < nearest)
			nearest = t->due - *timer->now;
	}
	return nearest;
}

/* -- registers --------------------------------------------------------------- */

static uint64_t read_count(void *dev, unsigned index)
{
	return gtimer_count(dev);
}

/* ISTATUS is UNKNOWN while the timer is off: 0 here, as in QEMU. */
static uint64_t read_ctl(const struct gtimer *timer, enum gtimer_which which)
{
	const struct gtimer_compare *t = &timer->timer[which];

	return t->ctl | (condition(timer, t) ? CTL_ISTATUS : 0);
}

static void write_ctl(struct gtimer *timer, enum gtimer_which which, uint64_t value)
{
	timer->timer[which].ctl = value;
	gtimer_update(timer);
}

static void write_cval(struct gtimer *timer, enum gtimer_which which, uint64_t value)
{
	timer->timer[which].cval = value;
	timer->timer[which].due = cycle_of(timer, value);
	gtimer_update(timer);
}

/* The 32-bit distance to the compare value, negative once it is past. */
static uint64_t read_tval(const struct gtimer *timer, enum gtimer_which which)
{
	return (uint32_t)(timer->timer[which].cval - gtimer_count(timer));
}

static void write_tval(struct gtimer *timer, enum gtimer_which which, uint64_t value)
{
	write_cval(timer, which, gtimer_count(timer) + (uint64_t)(int64_t)(int32_t)value);
}

static uint64_t read_cntp_ctl(void *dev, unsigned index)
{
	return read_ctl(dev, GTIMER_PHYS);
}

static void write_cntp_ctl(void *dev, unsigned index, uint64_t value)
{
	write_ctl(dev, GTIMER_PHYS, value);
}

static void write_cntp_cval(void *dev, unsigned index, uint64_t value)
{
	write_cval(dev, GTIMER_PHYS, value);
}

static uint64_t read_cntp_tval(void *dev, unsigned index)
{
	return read_tval(dev, GTIMER_PHYS);
}

static void write_cntp_tval(void *dev, unsigned index, uint64_t value)
{
	write_tval(dev, GTIMER_PHYS, value);
}

static uint64_t read_cntv_ctl(void *dev, unsigned index)
{
	return read_ctl(dev, GTIMER_VIRT);
}

static void write_cntv_ctl(void *dev, unsigned index, uint64_t value)
{
	write_ctl(dev, GTIMER_VIRT, value);
}

static void write_cntv_cval(void *dev, unsigned index, uint64_t value)
{
	write_cval(dev, GTIMER_VIRT, value);
}

static uint64_t read_cntv_tval(void *dev, unsigned index)
{
	return read_tval(dev, GTIMER_VIRT);
}

static void write_cntv_tval(void *dev, unsigned index, uint64_t value)
{
	write_tval(dev, GTIMER_VIRT, value);
}

/* -- who may at EL0: any of these bits of CNTKCTL_EL1 ------------------------- */

static enum sysreg_result allowed(const struct gtimer *timer, uint64_t bits)
{
	return timer->cntkctl & bits ? SYSREG_OK : SYSREG_TRAP_EL1;
}

/* No write from EL0 at all, and that comes before the trap: it is UNDEFINED. */
static enum sysreg_result frequency_at_el0(void *dev, unsigned index, int is_write)
{
	return is_write ? SYSREG_UNDEF
			: allowed(dev, CNTKCTL_EL0PCTEN | CNTKCTL_EL0VCTEN);
}

static enum sysreg_result physical_count_at_el0(void *dev, unsigned index, int is_write)
{
	return allowed(dev, CNTKCTL_EL0PCTEN);
}

static enum sysreg_result virtual_count_at_el0(void *dev, unsigned index, int is_write)
{
	return allowed(dev, CNTKCTL_EL0VCTEN);
}

static enum sysreg_result physical_timer_at_el0(void *dev, unsigned index, int is_write)
{
	return allowed(dev, CNTKCTL_EL0PTEN);
}

static enum sysreg_result virtual_timer_at_el0(void *dev, unsigned index, int is_write)
{
	return allowed(dev, CNTKCTL_EL0VTEN);
}

#define STATE(field) .offset = offsetof(struct gtimer, field)
#define COMPARE(which)                                      \
	.offset = offsetof(struct gtimer, timer) +          \
		  (which) * sizeof(struct gtimer_compare) + \
		  offsetof(struct gtimer_compare, cval)

/* CNTFRQ_EL0 is writable at the highest EL that there is: EL1 here. */
/* clang-format off */
static const struct sysreg_desc rows[] = {
	{ .name = "cntkctl_el1", .enc = SYSREG(3, 0, 14, 1, 0), .count = 1, .el = 1,
	  .kind = SYSREG_RW, .writable = CNTKCTL_WRITABLE, STATE(cntkctl) },
	{ .name = "cntfrq_el0", .enc = SYSREG(3, 3, 14, 0, 0), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = 0xffffffff, STATE(cntfrq_el0),
	  .el0 = frequency_at_el0 },
	{ .name = "cntpct_el0", .enc = SYSREG(3, 3, 14, 0, 1), .count = 1, .el = 0,
	  .kind = SYSREG_RO, .read = read_count, .el0 = physical_count_at_el0 },
	{ .name = "cntvct_el0", .enc = SYSREG(3, 3, 14, 0, 2), .count = 1, .el = 0,
	  .kind = SYSREG_RO, .read = read_count, .el0 = virtual_count_at_el0 },
	{ .name = "cntp_tval_el0", .enc = SYSREG(3, 3, 14, 2, 0), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = 0xffffffff, .read = read_cntp_tval,
	  .write = write_cntp_tval, .el0 = physical_timer_at_el0 },
	{ .name = "cntp_ctl_el0", .enc = SYSREG(3, 3, 14, 2, 1), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = CTL_ENABLE | CTL_IMASK, .read = read_cntp_ctl,
	  .write = write_cntp_ctl, .el0 = physical_timer_at_el0 },
	{ .name = "cntp_cval_el0", .enc = SYSREG(3, 3, 14, 2, 2), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = UINT64_MAX, COMPARE(GTIMER_PHYS),
	  .write = write_cntp_cval, .el0 = physical_timer_at_el0 },
	{ .name = "cntv_tval_el0", .enc = SYSREG(3, 3, 14, 3, 0), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = 0xffffffff, .read = read_cntv_tval,
	  .write = write_cntv_tval, .el0 = virtual_timer_at_el0 },
	{ .name = "cntv_ctl_el0", .enc = SYSREG(3, 3, 14, 3, 1), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = CTL_ENABLE | CTL_IMASK, .read = read_cntv_ctl,
	  .write = write_cntv_ctl, .el0 = virtual_timer_at_el0 },
	{ .name = "cntv_cval_el0", .enc = SYSREG(3, 3, 14, 3, 2), .count = 1, .el = 0,
	  .kind = SYSREG_RW, .writable = UINT64_MAX, COMPARE(GTIMER_VIRT),
	  .write = write_cntv_cval, .el0 = virtual_timer_at_el0 },
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

/* -- life -------------------------------------------------------------------- */

void gtimer_wire(struct gtimer *timer, enum gtimer_which which, struct irq_line line)
{
	timer->timer[which].line = line;
}

/* Only ENABLE has a defined reset value, and not even that on a warm reset. Of
 * CNTKCTL_EL1 Linux's choice is as good as any: the virtual counter at EL0. */
void gtimer_reset(struct gtimer *timer)
{
	timer->cntkctl = CNTKCTL_EL0VCTEN;
	timer->cntfrq_el0 = timer->cntfrq;
	for (unsigned i = 0; i < GTIMERS; i++) {
		timer->timer[i].ctl = 0;
		timer->timer[i].cval = 0;
		timer->timer[i].due = 0;
	}
	gtimer_update(timer);
}

void gtimer_init(struct gtimer *timer, const uint64_t *now, uint64_t cpu_hz,
		 uint64_t cntfrq)
{
	memset(timer, 0, sizeof(*timer));
	timer->now = now;
	timer->cpu_hz = cpu_hz;
	timer->cntfrq = cntfrq;
	gtimer_reset(timer);
}
