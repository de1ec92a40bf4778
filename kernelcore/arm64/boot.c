/* SPDX-License-Identifier: MIT */
/* From the device tree to the program, and the exceptions' way in. */
#include <errno.h>
#include <string.h>

#include "kernelcore/arm64/arm64.h"
#include "kernelcore/arm64/fdt.h"
#include "kernelcore/arm64/initrd.h"
#include "kernelcore/kperf.h"

enum {
	GICD_CTLR = 0x0000,
	GICD_CTLR_GROUP1 = 1 << 1,
	GICD_CTLR_ARE = 1 << 4,
	GICD_CTLR_RWP = 1 << 31,
	GICR_WAKER = 0x0014,
	GICR_WAKER_SLEEP = 1 << 1,
	GICR_WAKER_ASLEEP = 1 << 2,
	GICR_SGI_FRAME = 0x10000,

	UART_LCRH = 0x2c,
	UART_LCRH_8_FIFO = 0x70,
	UART_CR = 0x30,
	UART_CR_ON = 0x301, /* enable, transmit, receive */

	PPI_BASE = 16,
	PSTATE_EL0 = 0,
	PSTATE_EL1H = 5,
	STATUS_KERNEL = 255, /* the kernel's own failure */
	STATUS_SIGNAL = 128, /* + signal, as a shell has it */
	PROFILE_MAX = 32,
};

#define PSCI_SYSTEM_OFF 0x84000008

/* -- the end --------------------------------------------------------------------- */

/* On a line of its own, after whatever the program left unfinished. */
static void fresh_line(struct hal *hal)
{
	if (hal->mid_line)
		arm64_puts(hal, "\n");
}

/* The line that kvm-unit-tests end with: the status, shifted left, bit 0 set. */
void arm64_exit(struct hal *hal, unsigned status)
{
	static const uint64_t none[6];
	char text[4];
	unsigned value = status << 1 | 1, n = sizeof(text);

	for (; n == sizeof(text) || value; value /= 10)
		text[--n] = (char)('0' + value % 10);
	fresh_line(hal);
	arm64_puts(hal, "EXIT: STATUS=");
	hal_console_write(hal, text + n, sizeof(text) - n);
	arm64_puts(hal, "\n");
	arm64_hvc(PSCI_SYSTEM_OFF, none);
	for (;;)
		__asm__ volatile("wfi");
}

__attribute__((noreturn)) static void fail(struct hal *hal, const char *what)
{
	arm64_puts(hal, "kernelcore: ");
	arm64_puts(hal, what);
	arm64_puts(hal, "\n");
	arm64_exit(hal, STATUS_KERNEL);
}

static void put_field(struct hal *hal, const char *name, uint64_t value)
{
	arm64_puts(hal, name);
	arm64_puthex(hal, value);
}

void arm64_bad(struct hal_regs *regs, uint64_t what, uint64_t esr, uint64_t far)
{
	struct hal *hal = arm64_this_cpu();

	fresh_line(hal);
	arm64_puts(hal, what == BAD_EL1_SYNC ? "kernelcore: a fault at EL1:" :
					       "kernelcore: an exception that cannot be:");
	put_field(hal, " pc ", regs->pc);
	put_field(hal, " lr ", regs->x[30]);
	put_field(hal, " esr ", esr);
	put_field(hal, " far ", far);
	arm64_puts(hal, "\n");
	arm64_exit(hal, STATUS_KERNEL);
}

__attribute__((noreturn)) static void program_ended(struct hal *hal)
{
	struct kentry_status status = kentry_status(hal->sys);

	kentry_shutdown(hal->sys);
	if (!status.signal)
		arm64_exit(hal, (unsigned)status.code);
	fresh_line(hal);
	put_field(hal, "kernelcore: the program died of signal ", (uint64_t)status.signal);
	put_field(hal, " at pc ", status.pc);
	put_field(hal, ", address ", status.far);
	arm64_puts(hal, "\n");
	arm64_exit(hal, STATUS_SIGNAL + (unsigned)status.signal);
}

/* -- exceptions ------------------------------------------------------------------ */

/* WFI returns for an interrupt that PSTATE.I masks (Arm ARM, D1.17.2), so none is
 * missed between the kernel's last look and the wait, and it needs no vector. */
static enum kentry_next idle(struct hal *hal)
{
	const struct hal_regs regs = { .pc = (uint64_t)idle, .pstate = PSTATE_EL1H };

	__asm__ volatile("dsb sy\n\twfi" : : : "memory");
	return kentry_irq(hal->sys, hal, &regs);
}

/* Back to EL0, at the latest when there is something to do there. */
static void leave(struct hal *hal, enum kentry_next next)
{
	for (;;) {
		if (kentry_status(hal->sys).exited)
			program_ended(hal);
		switch (next) {
		case KENTRY_USER:
			return;
		case KENTRY_IDLE:
			next = idle(hal);
			break;
		}
	}
}

void arm64_el0_sync(struct hal_regs *regs, uint64_t esr, uint64_t far)
{
	struct hal *hal = arm64_this_cpu();

	hal->user = regs;
	leave(hal, kentry_sync(hal->sys, hal, regs, esr, far));
}

void arm64_irq(struct hal_regs *regs)
{
	struct hal *hal = arm64_this_cpu();
	enum kentry_next next;

	if (!hal_regs_user(regs)) {
		kentry_irq(hal->sys, hal, regs);
		return;
	}
	hal->user = regs;
	next = kentry_irq(hal->sys, hal, regs);
	leave(hal, next);
}

/* -- the machine ----------------------------------------------------------------- */

static const void *need(struct hal *hal, const void *dtb, const char *node, const char *name)
{
	const void *prop = fdt_prop(dtb, node, name, NULL);

	if (!prop)
		fail(hal, "the device tree lacks a device");
	return prop;
}

/* An address of /chosen; boot programs write it as one cell or as two. */
static uint64_t chosen_address(struct hal *hal, const void *dtb, const char *name)
{
	uint32_t size;
	const void *prop = fdt_prop(dtb, "chosen", name, &size);

	if (!prop)
		fail(hal, "no initrd");
	return size == 4 ? fdt_cell(prop, 0) : fdt_cells2(prop, 0);
}

/* Group 1 of the distributor, and this CPU's redistributor awake; the rest of it
 * is sys/'s. SRE first: without it the ICC registers are not there. */
static void init_gic(struct hal *hal, const void *dtb)
{
	const void *reg = need(hal, dtb, "intc", "reg");
	uint64_t gicd = fdt_cells2(reg, 0), gicr = fdt_cells2(reg, 4);

	hal->gicr_sgi = gicr + GICR_SGI_FRAME;
	arm64_mmio_write(gicd + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_GROUP1);
	while (arm64_mmio_read(gicd + GICD_CTLR) & (uint32_t)GICD_CTLR_RWP)
		;
	arm64_mmio_write(gicr + GICR_WAKER,
			 arm64_mmio_read(gicr + GICR_WAKER) & ~(uint32_t)GICR_WAKER_SLEEP);
	while (arm64_mmio_read(gicr + GICR_WAKER) & GICR_WAKER_ASLEEP)
		;
	hal_sysreg_write(hal, HAL_ICC_SRE_EL1, 1);
	hal_isb(hal);
}

static void init_uart(struct hal *hal, const void *dtb)
{
	hal->uart = fdt_cells2(need(hal, dtb, "pl011", "reg"), 0);
	arm64_mmio_write(hal->uart + UART_LCRH, UART_LCRH_8_FIFO);
	arm64_mmio_write(hal->uart + UART_CR, UART_CR_ON);
}

/* <kind number trigger>: kind 1 is a private interrupt. */
static void init_pmu(struct hal *hal, const void *dtb)
{
	const void *irq = fdt_prop(dtb, "pmu", "interrupts", NULL);

	if (irq && fdt_cell(irq, 0) == 1)
		hal->wired |= UINT32_C(1) << (PPI_BASE + (fdt_cell(irq, 1) & 15));
}

/* The kernel's memory: from behind all that was loaded to the end of RAM, which
 * both machines hand over zeroed. Not beyond what the tables map. */
static void init_ram(struct hal *hal, const void *dtb, uint64_t dtb_pa, uint64_t initrd_end)
{
	const void *reg = need(hal, dtb, "memory", "reg");
	uint64_t end = fdt_cells2(reg, 0) + fdt_cells2(reg, 2);
	uint64_t base = dtb_pa + fdt_size(dtb);

	if (base < initrd_end)
		base = initrd_end;
	if (base < (uint64_t)arm64_image_end - KERNEL_OFFSET)
		base = (uint64_t)arm64_image_end - KERNEL_OFFSET;
	if (end > 2 * (uint64_t)RAM_BASE)
		end = 2 * (uint64_t)RAM_BASE;
	hal->ram_base = (base + 4095) & ~UINT64_C(4095);
	if (end <= hal->ram_base)
		fail(hal, "no memory is left");
	hal->ram_size = end - hal->ram_base;
}

/* "profile=NAME laboratory", in any order, others ignored. */
static void parse_bootargs(struct hal *hal, const char *at, char *profile)
{
	static const char lab[] = "laboratory", prof[] = "profile=";

	while (at && *at) {
		size_t n = 0;

		while (at[n] && at[n] != ' ')
			n++;
		if (n == sizeof(lab) - 1 && !memcmp(at, lab, n))
			hal->laboratory = true;
		if (n >= sizeof(prof) - 1 && !memcmp(at, prof, sizeof(prof) - 1)) {
			n -= sizeof(prof) - 1;
			at += sizeof(prof) - 1;
			if (n >= PROFILE_MAX)
				fail(hal, "the profile's name is too long");
			memcpy(profile, at, n);
			profile[n] = 0;
		}
		at += n;
		while (*at == ' ')
			at++;
	}
}

/* -- start ----------------------------------------------------------------------- */

static void exec(struct hal *hal, const struct initrd_header *initrd, uint64_t size,
		 struct hal_regs *user)
{
	const uint8_t *base = (const void *)initrd;
	struct kentry_start start;
	int rc;

	if (size < sizeof(*initrd) || initrd->magic != INITRD_MAGIC ||
	    initrd->elf > size || initrd->elf_size > size - initrd->elf ||
	    initrd->input > size || initrd->input_size > size - initrd->input)
		fail(hal, "not an initrd of ours");
	rc = kentry_exec(hal->sys, base + initrd->elf, initrd->elf_size,
			 base + initrd->input, initrd->input_size, &start);
	if (rc)
		fail(hal, rc == -ENOEXEC ? "not a static AArch64 program" :
					   "no memory for the program");
	memset(user, 0, sizeof(*user));
	user->pc = start.pc;
	user->sp = start.sp;
	user->pstate = PSTATE_EL0;
}

void arm64_main(uint64_t dtb_pa, struct hal_regs *user)
{
	struct hal *hal = arm64_this_cpu();
	const void *dtb = hal_phys_to_virt(hal, dtb_pa);
	char profile[PROFILE_MAX] = "";
	uint64_t initrd, initrd_end;
	int rc;

	memset(hal, 0, sizeof(*hal));
	init_uart(hal, dtb);
	init_gic(hal, dtb);
	init_pmu(hal, dtb);
	hal->cntfrq = hal_sysreg_read(hal, HAL_CNTFRQ_EL0);
	initrd = chosen_address(hal, dtb, "linux,initrd-start");
	initrd_end = chosen_address(hal, dtb, "linux,initrd-end");
	init_ram(hal, dtb, dtb_pa, initrd_end);
	hal->user = user;
	parse_bootargs(hal, fdt_prop(dtb, "chosen", "bootargs", NULL), profile);
	rc = kentry_boot(hal, *profile ? profile : kperf_profile(0), &hal->sys);
	if (rc)
		fail(hal, rc == -ENOENT ? "no such profile" : "the kernel cannot boot");
	exec(hal, hal_phys_to_virt(hal, initrd), initrd_end - initrd, user);
}

_Static_assert(offsetof(struct hal_regs, sp) == FRAME_SP, "the vectors' frame");
_Static_assert(offsetof(struct hal_regs, pc) == FRAME_PC, "the vectors' frame");
_Static_assert(sizeof(struct hal_regs) == FRAME_SIZE, "the vectors' frame");
