/* SPDX-License-Identifier: MIT */
/* Interrupts: the GIC's private part, dispatch, and deferred work. */
#include "kernelcore/sys/internal.h"

enum {
	GICR_IGROUPR0 = 0x080,
	GICR_ISENABLER0 = 0x100,
	GICR_ICENABLER0 = 0x180,
	GICR_IPRIORITYR = 0x400,
	PRIORITY_MASK_ALL = 0xf0, /* Linux DEFAULT_PMR_VALUE */
	PRIORITY_DEFAULT = 0xa0,  /* Linux GICD_INT_DEF_PRI */
	INTID_SPURIOUS_FIRST = 1020,
};

void irq_init(struct ksys *sys, struct sys_cpu *cpu)
{
	struct hal *hal = cpu->hal;
	uint64_t gicr = hal_gicr_sgi(hal);

	cpu->work_head = NULL;
	cpu->work_tail = &cpu->work_head;
	cpu->armed_for = UINT64_MAX;
	hal_mmio_write32(hal, gicr + GICR_IGROUPR0, ~UINT32_C(0));
	hal_mmio_write32(hal, gicr + GICR_ICENABLER0, ~UINT32_C(0));
	for (uint32_t n = 0; n < INTIDS; n += 4)
		hal_mmio_write32(hal, gicr + GICR_IPRIORITYR + n,
				 PRIORITY_DEFAULT * UINT32_C(0x01010101));
	if (sys->ncpus > 1)
		ksys_irq_enable(sys, hal, HAL_IRQ_KICK, true);
	hal_sysreg_write(hal, HAL_ICC_SRE_EL1, 1);
	hal_sysreg_write(hal, HAL_ICC_PMR_EL1, PRIORITY_MASK_ALL);
	hal_sysreg_write(hal, HAL_ICC_BPR1_EL1, 0);
	hal_sysreg_write(hal, HAL_ICC_IGRPEN1_EL1, 1);
	hal_isb(hal);
}

int ksys_irq_request(struct ksys *sys, unsigned intid)
{
	if (intid != HAL_IRQ_PMU || !hal_irq_wired(ksys_hal(sys), intid))
		return -ENOENT;
	if (sys->irq_requested & UINT32_C(1) << intid)
		return -EBUSY;
	sys->irq_requested |= UINT32_C(1) << intid;
	return 0;
}

void ksys_irq_enable(struct ksys *sys, struct hal *hal, unsigned intid, bool on)
{
	(void)sys;
	hal_mmio_write32(hal, hal_gicr_sgi(hal) + (on ? GICR_ISENABLER0 : GICR_ICENABLER0),
			 UINT32_C(1) << intid);
}

void ksys_irq_work_queue(struct ksys *sys, struct ksys_irq_work *work)
{
	struct sys_cpu *cpu = sys_this_cpu(sys);

	if (work->queued)
		return;
	work->queued = true;
	work->next = NULL;
	*cpu->work_tail = work;
	cpu->work_tail = &work->next;
}

static bool work_drop(struct sys_cpu *cpu, struct ksys_irq_work *work)
{
	struct ksys_irq_work **at = &cpu->work_head;

	while (*at && *at != work)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = work->next;
	if (cpu->work_tail == &work->next)
		cpu->work_tail = at;
	return true;
}

void ksys_irq_work_cancel(struct ksys *sys, struct ksys_irq_work *work)
{
	for (unsigned i = 0; work->queued && i < sys->ncpus; i++)
		if (work_drop(&sys->cpu[i], work))
			break;
	work->queued = false;
}

/* Linux runs these from a self-IPI right after the interrupt that queued them;
 * one pass over what is queued now, so a work that queues itself cannot hold
 * the CPU. */
void irq_work_run(struct sys_cpu *cpu)
{
	struct ksys_irq_work *work = cpu->work_head;

	cpu->work_head = NULL;
	cpu->work_tail = &cpu->work_head;
	while (work) {
		struct ksys_irq_work *next = work->next;

		work->queued = false;
		work->fn(work->arg);
		work = next;
	}
}

const struct hal_regs *ksys_irq_regs(struct ksys *sys)
{
	return sys_this_cpu(sys)->irq_regs;
}

static void handle(struct ksys *sys, struct sys_cpu *cpu, uint64_t intid,
		   const struct hal_regs *regs)
{
	const struct hal_regs *outer = cpu->irq_regs;

	cpu->irq_regs = regs;
	if (intid == HAL_IRQ_PMU && sys->irq_requested & UINT32_C(1) << HAL_IRQ_PMU)
		kperf_irq(sys->perf, cpu->hal, regs);
	else if (intid == HAL_IRQ_TIMER)
		timer_irq(sys, cpu, regs);
	else if (intid == HAL_IRQ_KICK)
		sched_kicked(sys, cpu);
	cpu->irq_regs = outer;
}

enum kentry_next kentry_irq(struct ksys *sys, struct hal *hal, const struct hal_regs *regs)
{
	struct sys_cpu *cpu = sys_cpu_of(sys, hal);
	enum kentry_next next = KENTRY_USER;
	uint64_t intid = hal_sysreg_read(hal, HAL_ICC_IAR1_EL1);

	if (intid < INTID_SPURIOUS_FIRST) {
		handle(sys, cpu, intid, regs);
		hal_sysreg_write(hal, HAL_ICC_EOIR1_EL1, intid);
	}
	irq_work_run(cpu);
	if (!cpu->depth++) /* of a task at EL0 or of the idle one */
		next = sched_leave(sys, cpu);
	cpu->depth--;
	return next;
}

struct remote {
	struct ksys *sys;
	void (*fn)(void *arg);
	void *arg;
};

/* There; what fn has put off is done, and a task that it woke gets the CPU soon. */
static void run_remote(void *arg)
{
	const struct remote *call = arg;
	struct sys_cpu *cpu = sys_this_cpu(call->sys);

	call->fn(call->arg);
	irq_work_run(cpu);
	if (cpu->resched && !cpu->depth)
		hal_cpu_kick(cpu->hal, cpu->hal);
}

int ksys_cpu_call(struct ksys *sys, unsigned cpu, void (*fn)(void *arg), void *arg)
{
	struct remote call = { sys, fn, arg };

	if (!ksys_cpu_online(sys, cpu))
		return -ENXIO;
	if (sys->cpu[cpu].hal == ksys_hal(sys))
		hal_cpu_call(ksys_hal(sys), sys->cpu[cpu].hal, fn, arg);
	else
		hal_cpu_call(ksys_hal(sys), sys->cpu[cpu].hal, run_remote, &call);
	return 0;
}
