/* SPDX-License-Identifier: MIT */
/*
 * What the bare-metal programs share: they run on any board that is like QEMU's
 * virt (PL011 at 0x09000000, GICv3 at 0x08000000, RAM at 0x40000000, PSCI by
 * HVC) and print lines `name value`.
 */
#ifndef PMULAB_BARE_BARE_H
#define PMULAB_BARE_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define mrs(reg)                                                        \
	({                                                              \
		uint64_t value_;                                        \
		__asm__ volatile("mrs %0, " #reg : "=r"(value_)::"memory"); \
		value_;                                                 \
	})
#define msr(reg, value) \
	__asm__ volatile("msr " #reg ", %0" ::"r"((uint64_t)(value)) : "memory")
#define isb() __asm__ volatile("isb" ::: "memory")

enum {
	PMCR_E = 1 << 0,
	PMCR_P = 1 << 1,
	PMCR_C = 1 << 2,
	PMCR_D = 1 << 3,
	PMCR_LC = 1 << 6,
	PMCR_LP = 1 << 7,
	PMCR_FZO = 1 << 9,
	EC_UNKNOWN = 0x00,
	EC_SVC = 0x15,
	EC_SYSREG = 0x18,
	PMUVER_P5 = 6,
	PMUVER_P7 = 7,
	PSTATE_EL0 = 0x3c0,	/* all masked */
	PSTATE_EL0_IRQ = 0x340, /* but IRQ */
};

struct bare_frame {
	uint64_t x[31], elr, spsr, esr, far, pad;
};

/* The last synchronous exception, and how many there were; each is stepped over. */
extern volatile uint64_t bare_fault_esr, bare_fault_far;
extern volatile unsigned bare_faults;

/* A program's own handler, asked first; false: not its affair. */
extern bool (*bare_debug)(struct bare_frame *frame);

/* Each program's own. IRQs are masked at the start. */
void bare_irq(struct bare_frame *frame);
int main(void);

/* start.S */
uint64_t bare_el0(uint64_t (*fn)(uint64_t, uint64_t), uint64_t a, uint64_t b,
		  uint64_t pstate);
extern char bare_vectors[], bare_vectors_return[], bare_vectors_skip[];
extern char bare_el0_back[], bare_secondary[];
__attribute__((noreturn)) void bare_off(void);
void bare_trap(struct bare_frame *frame, unsigned vector);

/* lib.c */
void say_text(const char *text);
void say_number(uint64_t value); /* decimal */
void say_hex(uint64_t value);
void say(const char *name, uint64_t value);	/* `name 0xvalue` */
void say_count(const char *name, uint64_t value); /* `name value` */
void say_of(const char *what, const char *name, uint64_t value); /* `what.name value` */
void say_absent(const char *name); /* `name absent`: not implemented here */

unsigned bare_counters(void); /* PMCR_EL0.N */
unsigned bare_pmuver(void);   /* ID_AA64DFR0_EL1.PMUVer */
bool bare_has_event(unsigned event);
/* Everything off, zero and clear; PMCR_EL0 is @pmcr. */
void bare_pmu_reset(uint64_t pmcr);

uint32_t bare_mmio_read(uint64_t pa);
void bare_mmio_write(uint64_t pa, uint32_t value);
/* The GIC: group 1 reaches this CPU, which takes all priorities; PPIs and SGIs
 * are off, of priority 0xa0 and group 1. */
void bare_gic_init(void);
uint64_t bare_gicr(void); /* this CPU's SGI_base frame */
int64_t bare_cpu_on(unsigned cpu, void (*fn)(void));

enum {
	GICR_IGROUPR0 = 0x080,
	GICR_ISENABLER0 = 0x100,
	GICR_ICENABLER0 = 0x180,
	GICR_ISPENDR0 = 0x200,
	GICR_ICPENDR0 = 0x280,
	GICR_ISACTIVER0 = 0x300,
	GICR_ICACTIVER0 = 0x380,
	GICR_IPRIORITYR0 = 0x400,
	GICR_ICFGR0 = 0xc00,
	GICR_ICFGR1 = 0xc04,
	INTID_PMU = 23,
	INTID_VTIMER = 27,
	INTID_PTIMER = 30,
};

static inline void bare_irq_on(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}

static inline void bare_irq_off(void)
{
	__asm__ volatile("msr daifset, #2" ::: "memory");
}

#endif
