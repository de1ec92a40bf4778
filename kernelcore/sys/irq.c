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
	PMU_INTID = 23,
};

void irq_init(struct ksys *sys)
{
	struct hal *hal = sys->hal;
	uint64_t gicr = hal_gicr_sgi(hal);

	sys->work_head = NULL;
	sys->work_tail = &sys->work_head;
	hal_mmio_write32(hal, gicr + GICR_IGROUPR0, ~UINT32_C(0));
	hal_mmio_write32(hal, gicr + GICR_ICENABLER0, ~UINT32_C(0));
	for (uint32_t n = 0; n < INTIDS; n += 4)
		hal_mmio_write32(hal, gicr + GICR_IPRIORITYR + n,
				 PRIORITY_DEFAULT * UINT32_C(0x01010101));
	hal_sysreg_write(hal, HAL_ICC_SRE_EL1, 1);
	hal_sysreg_write(hal, HAL_ICC_PMR_EL1, PRIORITY_MASK_ALL);
	hal_sysreg_write(hal, HAL_ICC_BPR1_EL1, 0);
	hal_sysreg_write(hal, HAL_ICC_IGRPEN1_EL1, 1);
	hal_isb(hal);
}

int ksys_irq_request(struct ksys *sys, unsigned intid)
{
	if (intid != PMU_INTID || !hal_irq_wired(sys->hal, intid))
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
	if (work->queued)
		return;
	work->queued = true;
	work->next = NULL;
	*sys->work_tail = work;
	sys->work_tail = &work->next;
}

void ksys_irq_work_cancel(struct ksys *sys, struct ksys_irq_work *work)
{
	struct ksys_irq_work **at = &sys->work_head;

	if (!work->queued)
		return;
	while (*at && *at != work)
		at = &(*at)->next;
	if (*at) {
		*at = work->next;
		if (sys->work_tail == &work->next)
			sys->work_tail = at;
	}
	work->queued = false;
}

/* Linux runs these from a self-IPI right after the interrupt that queued them;
 * one pass over what is queued now, so a work that queues itself cannot hold
 * the CPU. */
void irq_work_run(struct ksys *sys)
{
	struct ksys_irq_work *work = sys->work_head;

	sys->work_head = NULL;
	sys->work_tail = &sys->work_head;
	while (work) {
		struct ksys_irq_work *next = work->next;

		work->queued = false;
		work->fn(work->arg);
		work = next;
	}
}

void kentry_irq(struct ksys *sys, const struct hal_regs *regs)
{
	struct hal *hal = sys->hal;
	uint64_t intid = hal_sysreg_read(hal, HAL_ICC_IAR1_EL1);

	if (intid >= INTID_SPURIOUS_FIRST)
		return;
	sys->irq_depth++;
	if (intid == PMU_INTID && sys->irq_requested & UINT32_C(1) << PMU_INTID)
		kperf_irq(sys->perf, hal, regs);
	sys->irq_depth--;
	hal_sysreg_write(hal, HAL_ICC_EOIR1_EL1, intid);
	if (!sys->irq_depth)
		irq_work_run(sys);
}
