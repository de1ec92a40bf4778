/* SPDX-License-Identifier: MIT */
/* hal.h on the machine itself. */
#include <errno.h>
#include <string.h>

#include "kernelcore/arm64/arm64.h"
#include "kernelcore/arm64/lab.h"

enum {
	NSEC_PER_SEC = 1000000000,

	UART_DR = 0x00,
	UART_FR = 0x18,
	UART_FR_TXFE = 1 << 7, /* the transmit FIFO is empty ... */
	UART_FIFO = 16,	       /* ... and holds this much */

	PMR_ALL = 0xf0,
};

void hal_isb(struct hal *hal)
{
	__asm__ volatile("isb" : : : "memory");
}

unsigned long hal_irq_save(struct hal *hal)
{
	unsigned long daif;

	__asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(daif) : : "memory");
	return daif;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
	__asm__ volatile("msr daif, %0" : : "r"(flags) : "memory");
}

void hal_irq_enable(struct hal *hal)
{
	__asm__ volatile("msr daifclr, #2" : : : "memory");
}

void hal_irq_disable(struct hal *hal)
{
	__asm__ volatile("msr daifset, #2" : : : "memory");
}

/* Seconds apart, so that the product fits for any uptime. */
uint64_t hal_clock_ns(struct hal *hal)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
	return count / hal->cntfrq * NSEC_PER_SEC +
	       count % hal->cntfrq * NSEC_PER_SEC / hal->cntfrq;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	*regs = *hal->user;
}

void hal_irq_regs(struct hal *hal, const struct hal_regs *irq, struct hal_regs *full)
{
	*full = *irq;
}

uint32_t hal_mmio_read32(struct hal *hal, uint64_t pa)
{
	return arm64_mmio_read(pa);
}

void hal_mmio_write32(struct hal *hal, uint64_t pa, uint32_t value)
{
	arm64_mmio_write(pa, value);
}

struct hal *hal_this_cpu(struct hal *any)
{
	return arm64_this_cpu();
}

/* One CPU: the others stay off. */
unsigned hal_ncpus(struct hal *any)
{
	return 1;
}

struct hal *hal_cpu(struct hal *any, unsigned n)
{
	return any;
}

void hal_cpu_call(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg)
{
	unsigned long flags = hal_irq_save(hal);

	fn(arg);
	hal_irq_restore(hal, flags);
}

void hal_cpu_kick(struct hal *hal, struct hal *cpu)
{
	hal_sysreg_write(hal, HAL_ICC_SGI1R_EL1, (uint64_t)HAL_IRQ_KICK << 24 | 1);
	hal_isb(hal);
}

void hal_context_save(struct hal *hal, struct hal_context *ctx)
{
	ctx->regs = *hal->user;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(ctx->tpidr));
	__asm__ volatile("mrs %0, fpcr" : "=r"(ctx->fpcr));
	__asm__ volatile("mrs %0, fpsr" : "=r"(ctx->fpsr));
	arm64_save_v(ctx->v);
}

void hal_context_load(struct hal *hal, const struct hal_context *ctx)
{
	*hal->user = ctx->regs;
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(ctx->tpidr));
	__asm__ volatile("msr fpcr, %0" : : "r"(ctx->fpcr));
	__asm__ volatile("msr fpsr, %0" : : "r"(ctx->fpsr));
	arm64_load_v(ctx->v);
}

void hal_user_set_x0(struct hal *hal, uint64_t value)
{
	hal->user->x[0] = value;
}

uint64_t hal_ram_base(struct hal *hal)
{
	return hal->ram_base;
}

uint64_t hal_ram_size(struct hal *hal)
{
	return hal->ram_size;
}

void *hal_phys_to_virt(struct hal *hal, uint64_t pa)
{
	return (void *)(pa + KERNEL_OFFSET);
}

uint64_t hal_virt_to_phys(struct hal *hal, const void *va)
{
	return (uint64_t)va - KERNEL_OFFSET;
}

uint64_t hal_tcr_upper(struct hal *hal)
{
	return TCR_UPPER;
}

unsigned hal_cpu_id(struct hal *hal)
{
	return 0;
}

/* By lines of the smallest size that CTR_EL0 states (Arm ARM, B2.4.4). */
void hal_sync_icache(struct hal *hal, uint64_t pa, size_t n)
{
	const uint64_t start = pa + KERNEL_OFFSET, end = start + n;
	uint64_t ctr, line;

	__asm__("mrs %0, ctr_el0" : "=r"(ctr));
	line = UINT64_C(4) << (ctr >> 16 & 15);
	for (uint64_t va = start & ~(line - 1); va < end; va += line)
		__asm__ volatile("dc cvau, %0" : : "r"(va) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	line = UINT64_C(4) << (ctr & 15);
	for (uint64_t va = start & ~(line - 1); va < end; va += line)
		__asm__ volatile("ic ivau, %0" : : "r"(va) : "memory");
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

void hal_console_write(struct hal *hal, const void *buf, size_t n)
{
	const uint8_t *at = buf;

	if (!hal->uart || !n) /* a fault before there is one */
		return;
	hal->mid_line = at[n - 1] != '\n';
	for (size_t i = 0; i < n; i++) {
		while (i % UART_FIFO == 0 &&
		       !(arm64_mmio_read(hal->uart + UART_FR) & UART_FR_TXFE))
			;
		arm64_mmio_write(hal->uart + UART_DR, at[i]);
	}
}

void arm64_puts(struct hal *hal, const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	hal_console_write(hal, text, n);
}

void arm64_puthex(struct hal *hal, uint64_t value)
{
	char text[18] = "0x";
	unsigned n = 2;

	for (int shift = 60; shift >= 0; shift -= 4)
		if (value >> shift || !shift)
			text[n++] = "0123456789abcdef"[value >> shift & 15];
	hal_console_write(hal, text, n);
}

int hal_irq_wired(struct hal *hal, unsigned intid)
{
	return hal->wired >> intid & 1;
}

uint64_t hal_gicr_sgi(struct hal *hal)
{
	return hal->gicr_sgi;
}

/* -- the laboratory ------------------------------------------------------------ */

uint64_t arm64_hvc(uint64_t function, const uint64_t args[6])
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = args[0];
	register uint64_t x2 __asm__("x2") = args[1];
	register uint64_t x3 __asm__("x3") = args[2];
	register uint64_t x4 __asm__("x4") = args[3];
	register uint64_t x5 __asm__("x5") = args[4];
	register uint64_t x6 __asm__("x6") = args[5];

	__asm__ volatile("hvc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 : "r"(x4), "r"(x5), "r"(x6)
			 : "memory");
	return x0;
}

static long inject(const uint64_t args[4])
{
	const uint64_t six[6] = { (int64_t)args[0] < 0, args[1], args[2], args[3] };

	return (long)arm64_hvc(LAB_INJECT, six);
}

void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b)
{
	const uint64_t args[6] = { note, a, b };

	if (!hal->laboratory)
		return;
	arm64_hvc(LAB_NOTE, args);
	if (note == HAL_NOTE_ARMED && hal->armed.left && a == hal->armed.counter &&
	    !--hal->armed.left)
		inject(hal->armed.args);
}

/* Told by host mode alone: each would cost the image time. */
void hal_story(struct hal *hal, enum hal_story what, uint64_t id, uint64_t a, uint64_t b,
	       const void *data)
{
	(void)hal;
	(void)what;
	(void)id;
	(void)a;
	(void)b;
	(void)data;
}

long hal_lab_call(struct hal *hal, enum hal_lab call, const uint64_t args[6])
{
	if (!hal->laboratory)
		return -ENOSYS;
	switch (call) {
	case HAL_LAB_INJECT:
		return inject(args);
	case HAL_LAB_MASK:
		hal_sysreg_write(hal, HAL_ICC_PMR_EL1, 0);
		hal_isb(hal);
		return 0;
	case HAL_LAB_UNMASK:
		hal_sysreg_write(hal, HAL_ICC_PMR_EL1, PMR_ALL);
		hal_isb(hal);
		return 0;
	case HAL_LAB_AT_ARMED:
		if (!args[5])
			return -EINVAL;
		memcpy(hal->armed.args, args, sizeof(hal->armed.args));
		hal->armed.counter = (unsigned)args[4];
		hal->armed.left = (unsigned)args[5];
		return 0;
	case HAL_LAB_AT_OP: /* operations are the host backend's notion */
	case HAL_LAB_HOSTILE:
	case HAL_LAB_CALLS:
		break;
	}
	return -ENOSYS;
}
