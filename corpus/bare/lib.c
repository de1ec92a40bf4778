/* SPDX-License-Identifier: MIT */
#include "corpus/bare/bare.h"

#define UART_DR	     UINT64_C(0x09000000)
#define GICD	     UINT64_C(0x08000000)
#define GICR	     UINT64_C(0x080a0000)
#define GICR_STRIDE  UINT64_C(0x20000)
#define GICR_SGI     UINT64_C(0x10000)
#define GICR_WAKER   0x14
#define PSCI_CPU_ON  UINT64_C(0xc4000003)

volatile uint64_t bare_fault_esr, bare_fault_far;
volatile unsigned bare_faults;

/* -- saying --------------------------------------------------------------- */

static void put(char c)
{
	bare_mmio_write(UART_DR, (uint8_t)c);
}

void say_text(const char *text)
{
	while (*text)
		put(*text++);
}

void say_number(uint64_t value)
{
	if (value >= 10)
		say_number(value / 10);
	put((char)('0' + value % 10));
}

void say_hex(uint64_t value)
{
	int shift = 60;

	say_text("0x");
	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put("0123456789abcdef"[value >> shift & 15]);
}

void say(const char *name, uint64_t value)
{
	say_text(name);
	put(' ');
	say_hex(value);
	put('\n');
}

void say_count(const char *name, uint64_t value)
{
	say_text(name);
	put(' ');
	say_number(value);
	put('\n');
}

void say_of(const char *what, const char *name, uint64_t value)
{
	say_text(what);
	put('.');
	say_count(name, value);
}

void say_absent(const char *name)
{
	say_text(name);
	say_text(" absent\n");
}

/* -- exceptions ----------------------------------------------------------- */

bool (*bare_debug)(struct bare_frame *frame);

void bare_trap(struct bare_frame *frame, unsigned vector)
{
	if (vector % 4 == 1) {
		bare_irq(frame);
		return;
	}
	if (vector >= 8 && frame->esr >> 26 == EC_SVC) {
		frame->elr = (uint64_t)bare_el0_back;
		frame->spsr = 0x3c5; /* EL1h, all masked */
		return;
	}
	if (bare_debug && bare_debug(frame))
		return;
	bare_fault_esr = frame->esr;
	bare_fault_far = frame->far;
	bare_faults++;
	frame->elr += 4;
}

/* -- the PMU -------------------------------------------------------------- */

unsigned bare_counters(void)
{
	return mrs(pmcr_el0) >> 11 & 31;
}

unsigned bare_pmuver(void)
{
	return mrs(id_aa64dfr0_el1) >> 8 & 15;
}

bool bare_has_event(unsigned event)
{
	const uint64_t ceid = event & 32 ? mrs(pmceid1_el0) : mrs(pmceid0_el0);

	return ceid >> (event & 31) & 1;
}

void bare_pmu_reset(uint64_t pmcr)
{
	msr(pmcr_el0, PMCR_P | PMCR_C);
	msr(pmcntenclr_el0, UINT32_MAX);
	msr(pmintenclr_el1, UINT32_MAX);
	msr(pmovsclr_el0, UINT32_MAX);
	msr(pmuserenr_el0, 0);
	msr(pmccfiltr_el0, 0);
	for (unsigned n = 0; n < bare_counters(); n++) {
		msr(pmselr_el0, n);
		isb();
		msr(pmxevtyper_el0, 0);
	}
	msr(pmselr_el0, 0);
	msr(pmcr_el0, pmcr);
	isb();
}

/* -- the board ------------------------------------------------------------ */

uint32_t bare_mmio_read(uint64_t pa)
{
	uint32_t value;

	/* One plain access: a trapped one has its register in the syndrome. */
	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(pa) : "memory");
	return value;
}

void bare_mmio_write(uint64_t pa, uint32_t value)
{
	__asm__ volatile("str %w0, [%1]" ::"r"(value), "r"(pa) : "memory");
}

uint64_t bare_gicr(void)
{
	return GICR + GICR_STRIDE * (mrs(mpidr_el1) & 7) + GICR_SGI;
}

void bare_gic_init(void)
{
	const uint64_t rd = bare_gicr() - GICR_SGI, sgi = bare_gicr();

	bare_mmio_write(GICD, 0x12); /* ARE_NS, EnableGrp1; DS is read-only one */
	bare_mmio_write(rd + GICR_WAKER,
			bare_mmio_read(rd + GICR_WAKER) & ~UINT32_C(2));
	bare_mmio_write(sgi + GICR_ICENABLER0, UINT32_MAX);
	bare_mmio_write(sgi + GICR_IGROUPR0, UINT32_MAX);
	for (unsigned i = 0; i < 32; i += 4)
		bare_mmio_write(sgi + GICR_IPRIORITYR0 + i, 0xa0a0a0a0);
	msr(S3_0_C12_C12_5, 1); /* ICC_SRE_EL1 */
	isb();
	msr(S3_0_C4_C6_0, 0xff);   /* ICC_PMR_EL1 */
	msr(S3_0_C12_C12_4, 0);	   /* ICC_CTLR_EL1 */
	msr(S3_0_C12_C12_7, 1);	   /* ICC_IGRPEN1_EL1 */
	isb();
}

int64_t bare_cpu_on(unsigned cpu, void (*fn)(void))
{
	register uint64_t x0 __asm__("x0") = PSCI_CPU_ON;
	register uint64_t x1 __asm__("x1") = cpu;
	register uint64_t x2 __asm__("x2") = (uint64_t)bare_secondary;
	register uint64_t x3 __asm__("x3") = (uint64_t)fn;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
	return (int64_t)x0;
}
