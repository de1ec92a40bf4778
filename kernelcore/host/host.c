/* SPDX-License-Identifier: MIT */
#include "kernelcore/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelcore/host/host-priv.h"

/*
 * Calibrated against real Linux 6.1, where back-to-back overflows with an
 * IP-only record are 2.1 to 2.4 us apart, 454 of these cycles before the
 * handler turns the PMU off and 165 after it is on again. An operation stands
 * for the plain instructions around it too.
 */
/* clang-format off */
static const uint32_t cost[OPS] = {
	[OP_SYSREG_READ]  = 30,
	[OP_SYSREG_WRITE] = 30,
	[OP_ISB]	  = 10,
	[OP_IRQ_SAVE]	  = 8,
	[OP_IRQ_RESTORE]  = 8,
	[OP_IRQ_ENABLE]	  = 8,
	[OP_IRQ_DISABLE]  = 8,
	[OP_CLOCK]	  = 120,
	[OP_COPY]	  = 1250,
	[OP_MMIO]	  = 30,
	[OP_CONSOLE]	  = 1000,
	[OP_LAB]	  = 10,
	[OP_SYNC_ENTRY]	  = 150,
	[OP_SYNC_EXIT]	  = 120,
	[OP_IRQ_ENTRY]	  = 295,
	[OP_IRQ_EXIT]	  = 135,
	[OP_CONTEXT]	  = 250,
};
/* clang-format on */

#define ICC_PMR_EL1 SYSREG(3, 0, 4, 6, 0)

enum { PMR_ALL = 0xf0 };

void host_set_masked(struct hal *hal, bool masked)
{
	if (masked != hal->masked)
		trace_emit(&hal->machine->bus, hal->cpu->id, TRACE_MASK, masked, 0, 0);
	hal->masked = masked;
}

static void inject(struct hal *hal, const struct plan *plan)
{
	pmuv3_inject(&hal->cpu->pmu, plan->counter, plan->events, plan->el, plan->forced);
}

void host_spend(struct hal *hal, enum op op)
{
	machine_spend(hal->machine, cost[op]);
}

static uint64_t random_word(struct host *host)
{
	uint64_t x = host->hostile_next;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return host->hostile_next = x;
}

/* A reader of the ring who means ill: anything, anywhere on the header page, and always
 * in the fields that a careless writer would believe. */
static void scribble(struct host *host)
{
	/* struct perf_event_mmap_page: data_head, data_tail, data_offset, data_size,
	 * aux_head, aux_tail, aux_offset, aux_size */
	enum { FIRST = 1024 / 8, FIELDS = 8, OTHERS = 4, WORDS = 4096 / 8 };
	static const uint64_t kinds[] = { 0, UINT64_MAX, 0xffffffff, 0xfff, 1ull << 63, 24 };

	for (unsigned i = 0; i < FIELDS; i++) {
		uint64_t r = random_word(host), kind = r % 8;

		host->hostile[FIRST + i] = kind < 6 ? kinds[kind] : kind == 6 ? r : r >> 48;
	}
	for (unsigned i = 0; i < OTHERS; i++)
		host->hostile[random_word(host) % WORDS] = random_word(host);
}

/* The planned overflow comes first. */
void host_interrupt_point(struct hal *hal, enum op op)
{
	struct host *host = hal->host;

	host->ops++;
	if (host->hostile)
		scribble(host);
	if (host->at_op.op == host->ops && !host->at_op_pending) {
		host->at_op.op = 0;
		inject(hal, &host->at_op);
	}
	while (machine_irq(hal->machine) && !hal->masked && host->booted)
		host_take_irq(hal, HOST_KERNEL_TEXT + 4 * (uint64_t)op, HOST_PSTATE_EL1H);
}

/* A bug of the kernel, not of its user. */
static void no_such_register(const struct hal *hal, uint32_t reg)
{
	char name[32];

	fprintf(stderr, "pmulab: the kernel used %s, which this machine has not\n",
		sysreg_name(hal->machine->current->blocks, MACHINE_BLOCKS, reg, name, sizeof(name)));
	abort();
}

uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg)
{
	uint64_t value;

	host_spend(hal, OP_SYSREG_READ);
	if (!machine_sysreg_read(hal->machine, reg, &value))
		no_such_register(hal, reg);
	host_interrupt_point(hal, OP_SYSREG_READ);
	return value;
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
	host_spend(hal, OP_SYSREG_WRITE);
	/* Unicorn forgets the old translations when the ASID changes, and then only. */
	if (reg == HAL_TTBR0_EL1)
		machine_sysreg_write(hal->machine, reg, value ^ UINT64_C(1) << 48);
	if (!machine_sysreg_write(hal->machine, reg, value))
		no_such_register(hal, reg);
	host_interrupt_point(hal, OP_SYSREG_WRITE);
}

/* TCR_EL1.EPD1: nothing is there. */
uint64_t hal_tcr_upper(struct hal *hal)
{
	(void)hal;
	return UINT64_C(1) << 23;
}

void hal_isb(struct hal *hal)
{
	host_spend(hal, OP_ISB);
	host_interrupt_point(hal, OP_ISB);
}

unsigned long hal_irq_save(struct hal *hal)
{
	bool masked = hal->masked;

	host_spend(hal, OP_IRQ_SAVE);
	host_set_masked(hal, true);
	host_interrupt_point(hal, OP_IRQ_SAVE);
	return masked;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
	host_spend(hal, OP_IRQ_RESTORE);
	host_set_masked(hal, flags);
	host_interrupt_point(hal, OP_IRQ_RESTORE);
}

void hal_irq_enable(struct hal *hal)
{
	host_spend(hal, OP_IRQ_ENABLE);
	host_set_masked(hal, false);
	host_interrupt_point(hal, OP_IRQ_ENABLE);
}

void hal_irq_disable(struct hal *hal)
{
	host_spend(hal, OP_IRQ_DISABLE);
	host_set_masked(hal, true);
	host_interrupt_point(hal, OP_IRQ_DISABLE);
}

uint64_t hal_clock_ns(struct hal *hal)
{
	const struct gtimer *timer = &hal->cpu->timer;
	struct host *host = hal->host;
	uint64_t count, ns;

	host_spend(hal, OP_CLOCK);
	count = gtimer_count(timer);
	/* Seconds apart, so that the product fits for any uptime. */
	ns = count / timer->cntfrq * UINT64_C(1000000000) +
	     count % timer->cntfrq * UINT64_C(1000000000) / timer->cntfrq;
	/* CPUs' turns overlap in time, but the clock is one (run.c). */
	if (ns < host->last_ns)
		ns = host->last_ns;
	host->last_ns = ns;
	host_interrupt_point(hal, OP_CLOCK);
	return ns;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	host_spend(hal, OP_COPY);
	memcpy(dst, src, n);
	host_interrupt_point(hal, OP_COPY);
}

uint32_t hal_mmio_read32(struct hal *hal, uint64_t pa)
{
	uint32_t value = 0;

	host_spend(hal, OP_MMIO);
	machine_mmio_read(hal->machine, pa, &value);
	host_interrupt_point(hal, OP_MMIO);
	return value;
}

void hal_mmio_write32(struct hal *hal, uint64_t pa, uint32_t value)
{
	host_spend(hal, OP_MMIO);
	machine_mmio_write(hal->machine, pa, value);
	host_interrupt_point(hal, OP_MMIO);
}

struct hal *hal_this_cpu(struct hal *any)
{
	return &any->host->hal[any->machine->current->id];
}

unsigned hal_ncpus(struct hal *any)
{
	return any->host->ncpus;
}

struct hal *hal_cpu(struct hal *any, unsigned n)
{
	return &any->host->hal[n];
}

void hal_context_save(struct hal *hal, struct hal_context *ctx)
{
	struct cpu_user user;

	host_spend(hal, OP_CONTEXT);
	cpu_get_user(machine_core(hal->machine), &user);
	memcpy(ctx->regs.x, user.x, sizeof(ctx->regs.x));
	ctx->regs.sp = user.sp;
	ctx->regs.pc = user.pc;
	ctx->regs.pstate = user.pstate;
	ctx->tpidr = user.tpidr;
	ctx->fpcr = user.fpcr;
	ctx->fpsr = user.fpsr;
	memcpy(ctx->v, user.v, sizeof(ctx->v));
	host_interrupt_point(hal, OP_CONTEXT);
}

void hal_context_load(struct hal *hal, const struct hal_context *ctx)
{
	struct cpu_user user = {
		.sp = ctx->regs.sp,
		.pc = ctx->regs.pc,
		.pstate = ctx->regs.pstate,
		.tpidr = ctx->tpidr,
		.fpcr = ctx->fpcr,
		.fpsr = ctx->fpsr,
	};

	host_spend(hal, OP_CONTEXT);
	memcpy(user.x, ctx->regs.x, sizeof(user.x));
	memcpy(user.v, ctx->v, sizeof(user.v));
	cpu_set_user(machine_core(hal->machine), &user);
	host_interrupt_point(hal, OP_CONTEXT);
}

void hal_user_set_x0(struct hal *hal, uint64_t value)
{
	cpu_set_x(machine_core(hal->machine), 0, value);
}

uint64_t hal_ram_base(struct hal *hal)
{
	(void)hal;
	return MACHINE_RAM_BASE;
}

uint64_t hal_ram_size(struct hal *hal)
{
	return hal->machine->config.ram_size;
}

void *hal_phys_to_virt(struct hal *hal, uint64_t pa)
{
	return hal->machine->ram + (pa - MACHINE_RAM_BASE);
}

uint64_t hal_virt_to_phys(struct hal *hal, const void *va)
{
	return MACHINE_RAM_BASE + (uint64_t)((const uint8_t *)va - hal->machine->ram);
}

unsigned hal_cpu_id(struct hal *hal)
{
	return hal->cpu->id;
}

void hal_sync_icache(struct hal *hal, uint64_t pa, size_t n)
{
	cpu_sync_icache(hal->machine->core, pa, n);
}

void hal_console_write(struct hal *hal, const void *buf, size_t n)
{
	host_spend(hal, OP_CONSOLE);
	if (hal->host->output)
		hal->host->output(hal->host->opaque, buf, n);
	host_interrupt_point(hal, OP_CONSOLE);
}

int hal_irq_wired(struct hal *hal, unsigned intid)
{
	return intid == GIC_PPI_PMU && !hal->machine->config.no_pmu_irq;
}

uint64_t hal_gicr_sgi(struct hal *hal)
{
	return MACHINE_GICR_SGI + hal->cpu->id * (uint64_t)MACHINE_GICR_STRIDE;
}

void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b)
{
	struct trace_bus *bus = &hal->machine->bus;
	struct host *host = hal->host;

	switch (note) {
	case HAL_NOTE_RECORD:
		trace_emit(bus, hal->cpu->id, TRACE_RECORD, a, b, 0);
		break;
	case HAL_NOTE_LOST:
		trace_emit(bus, hal->cpu->id, TRACE_LOST, a, b, 0);
		break;
	case HAL_NOTE_WAKEUP:
		trace_emit(bus, hal->cpu->id, TRACE_WAKEUP, a, b, 0);
		break;
	case HAL_NOTE_ADJUST:
		trace_emit(bus, hal->cpu->id, TRACE_ADJUST, a, b, 0);
		break;
	case HAL_NOTE_ARMED:
		if (host->at_armed.op && a == host->armed_counter && !--host->at_armed.op)
			inject(hal, &host->at_armed);
		break;
	}
}

void hal_story(struct hal *hal, enum hal_story what, uint64_t id, uint64_t a, uint64_t b,
	       const void *data)
{
	static const enum trace_kind kind[] = {
		[HAL_STORY_SERVE] = TRACE_SERVE,
		[HAL_STORY_ARM] = TRACE_ARM,
		[HAL_STORY_STORE] = TRACE_STORE,
		[HAL_STORY_HEAD] = TRACE_HEAD,
	};

	trace_emit_data(&hal->machine->bus, hal->cpu->id, kind[what], id, a, b, data);
}

static struct plan plan_of(const uint64_t *args, uint64_t op)
{
	return (struct plan){
		.op = op,
		.counter = (unsigned)args[1],
		.events = args[2],
		.el = (unsigned)args[3],
		.forced = (int64_t)args[0] < 0,
	};
}

static bool plan_ok(const struct hal *hal, const uint64_t *args)
{
	return args[3] <= 1 && (args[1] < hal->cpu->pmu.config.counters ||
				args[1] == PMUV3_CYCLE);
}

static long lab(struct hal *hal, enum hal_lab call, const uint64_t *args)
{
	struct host *host = hal->host;
	struct plan now;

	switch (call) {
	case HAL_LAB_INJECT:
		if (!plan_ok(hal, args))
			return -EINVAL;
		now = plan_of(args, 0);
		inject(hal, &now);
		return 0;
	case HAL_LAB_MASK:
		machine_sysreg_write(hal->machine, ICC_PMR_EL1, 0);
		return 0;
	case HAL_LAB_UNMASK:
		machine_sysreg_write(hal->machine, ICC_PMR_EL1, PMR_ALL);
		return 0;
	case HAL_LAB_AT_OP:
		if (!plan_ok(hal, args) || !args[4])
			return -EINVAL;
		host->at_op = plan_of(args, args[4]);
		host->at_op_pending = true;
		return 0;
	case HAL_LAB_AT_ARMED:
		if (!plan_ok(hal, args) || !args[5])
			return -EINVAL;
		host->at_armed = plan_of(args, args[5]);
		host->armed_counter = (unsigned)args[4];
		return 0;
	case HAL_LAB_HOSTILE:
		host->hostile = args[0] ? hal_phys_to_virt(hal, args[0]) : NULL;
		host->hostile_next = UINT64_C(0x9e3779b97f4a7c15);
		return 0;
	case HAL_LAB_CALLS:
		break;
	}
	return -ENOSYS;
}

long hal_lab_call(struct hal *hal, enum hal_lab call, const uint64_t args[6])
{
	long rc;

	host_spend(hal, OP_LAB);
	rc = lab(hal, call, args);
	host_interrupt_point(hal, OP_LAB);
	return rc;
}

/* The engine stands still at EL0 while the kernel runs. */
void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	const struct cpu *core = machine_core(hal->machine);

	cpu_get_x_range(core, 0, 31, regs->x);
	regs->sp = cpu_sp(core);
	regs->pc = cpu_pc(core);
	regs->pstate = cpu_pstate(core);
}

void hal_irq_regs(struct hal *hal, const struct hal_regs *irq, struct hal_regs *full)
{
	if (hal_regs_user(irq)) {
		hal_user_regs(hal, full);
		return;
	}
	*full = (struct hal_regs){ .pc = irq->pc, .pstate = irq->pstate };
}
