/* SPDX-License-Identifier: MIT */
#include "kernelcore/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernelcore/hal.h"

/* Every kind of operation, its cost in EL1 cycles (= instructions), and where
 * an interrupt taken after it returns to (an address in no guest's map). */
enum op {
	OP_SYSREG_READ,
	OP_SYSREG_WRITE,
	OP_ISB,
	OP_IRQ_SAVE,
	OP_IRQ_RESTORE,
	OP_IRQ_ENABLE,
	OP_IRQ_DISABLE,
	OP_CLOCK,
	OP_COPY,
	OP_MMIO,
	OP_CONSOLE,
	OP_WAIT,
	OP_LAB,
	OP_SYNC_ENTRY,
	OP_SYNC_EXIT,
	OP_IRQ_ENTRY,
	OP_IRQ_EXIT,
	OPS,
};

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
	[OP_WAIT]	  = 50,
	[OP_LAB]	  = 10,
	[OP_SYNC_ENTRY]	  = 150,
	[OP_SYNC_EXIT]	  = 120,
	[OP_IRQ_ENTRY]	  = 295,
	[OP_IRQ_EXIT]	  = 135,
};
/* clang-format on */

#define KERNEL_TEXT UINT64_C(0xffff800008000000)
#define ICC_PMR_EL1 SYSREG(3, 0, 4, 6, 0)

enum { PSTATE_EL1H = 0x5, PMR_ALL = 0xf0 };

struct plan {
	uint64_t op; /* absolute operation number, 0: none */
	unsigned counter;
	uint64_t events;
	unsigned el;
	bool forced;
};

struct hal {
	struct machine *machine;
	struct ksys *sys;
	bool masked; /* PSTATE.I at EL1 */
	uint64_t ops;
	struct plan at_op;
	struct plan at_armed; /* op counts the notes that are still to come */
	unsigned armed_counter;
	bool at_op_pending; /* at_op.op is relative to the next system call */
	void (*output)(void *opaque, const void *buf, size_t n);
	void *opaque;
};

struct host {
	struct hal hal;
	struct gic_ppi_pin timer_pin;
	struct ksys *sys;
};

static void take_irq(struct hal *hal, uint64_t pc, uint64_t pstate);

static void set_masked(struct hal *hal, bool masked)
{
	if (masked != hal->masked)
		trace_emit(&hal->machine->bus, 0, TRACE_MASK, masked, 0, 0);
	hal->masked = masked;
}

static void inject(struct hal *hal, const struct plan *plan)
{
	pmuv3_inject(&hal->machine->cpu[0].pmu, plan->counter, plan->events, plan->el,
		     plan->forced);
}

/* Time before the operation's effect. */
static void spend(struct hal *hal, enum op op)
{
	machine_spend(hal->machine, cost[op]);
}

/* After the effect: the planned overflow, then whatever may interrupt. */
static void interrupt_point(struct hal *hal, enum op op)
{
	hal->ops++;
	if (hal->at_op.op == hal->ops && !hal->at_op_pending) {
		hal->at_op.op = 0;
		inject(hal, &hal->at_op);
	}
	while (machine_irq(hal->machine) && !hal->masked && hal->sys)
		take_irq(hal, KERNEL_TEXT + 4 * (uint64_t)op, PSTATE_EL1H);
}

/* Exception entry masks IRQs; the way back restores what it interrupted. */
static void take_irq(struct hal *hal, uint64_t pc, uint64_t pstate)
{
	struct hal_regs regs = { .pc = pc, .pstate = pstate };

	trace_emit(&hal->machine->bus, 0, TRACE_TAKEN, pc, pstate, 0);
	set_masked(hal, true);
	machine_exception_taken(hal->machine, pstate == PSTATE_EL1H);
	spend(hal, OP_IRQ_ENTRY);
	interrupt_point(hal, OP_IRQ_ENTRY);
	kentry_irq(hal->sys, hal, &regs);
	spend(hal, OP_IRQ_EXIT);
	interrupt_point(hal, OP_IRQ_EXIT);
	machine_exception_return(hal->machine);
	trace_emit(&hal->machine->bus, 0, TRACE_ERET, pc, pstate, 0);
	set_masked(hal, false);
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

	spend(hal, OP_SYSREG_READ);
	if (!machine_sysreg_read(hal->machine, reg, &value))
		no_such_register(hal, reg);
	interrupt_point(hal, OP_SYSREG_READ);
	return value;
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
	spend(hal, OP_SYSREG_WRITE);
	/* Unicorn forgets the old translations when the ASID changes, and then only. */
	if (reg == HAL_TTBR0_EL1)
		machine_sysreg_write(hal->machine, reg, value ^ UINT64_C(1) << 48);
	if (!machine_sysreg_write(hal->machine, reg, value))
		no_such_register(hal, reg);
	interrupt_point(hal, OP_SYSREG_WRITE);
}

/* TCR_EL1.EPD1: nothing is there. */
uint64_t hal_tcr_upper(struct hal *hal)
{
	(void)hal;
	return UINT64_C(1) << 23;
}

void hal_isb(struct hal *hal)
{
	spend(hal, OP_ISB);
	interrupt_point(hal, OP_ISB);
}

unsigned long hal_irq_save(struct hal *hal)
{
	bool masked = hal->masked;

	spend(hal, OP_IRQ_SAVE);
	set_masked(hal, true);
	interrupt_point(hal, OP_IRQ_SAVE);
	return masked;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
	spend(hal, OP_IRQ_RESTORE);
	set_masked(hal, flags);
	interrupt_point(hal, OP_IRQ_RESTORE);
}

void hal_irq_enable(struct hal *hal)
{
	spend(hal, OP_IRQ_ENABLE);
	set_masked(hal, false);
	interrupt_point(hal, OP_IRQ_ENABLE);
}

void hal_irq_disable(struct hal *hal)
{
	spend(hal, OP_IRQ_DISABLE);
	set_masked(hal, true);
	interrupt_point(hal, OP_IRQ_DISABLE);
}

uint64_t hal_clock_ns(struct hal *hal)
{
	const struct gtimer *timer = &hal->machine->cpu[0].timer;
	uint64_t count, ns;

	spend(hal, OP_CLOCK);
	count = gtimer_count(timer);
	/* Seconds apart, so that the product fits for any uptime. */
	ns = count / timer->cntfrq * UINT64_C(1000000000) +
	     count % timer->cntfrq * UINT64_C(1000000000) / timer->cntfrq;
	interrupt_point(hal, OP_CLOCK);
	return ns;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	spend(hal, OP_COPY);
	memcpy(dst, src, n);
	interrupt_point(hal, OP_COPY);
}

uint32_t hal_mmio_read32(struct hal *hal, uint64_t pa)
{
	uint32_t value = 0;

	spend(hal, OP_MMIO);
	machine_mmio_read(hal->machine, pa, &value);
	interrupt_point(hal, OP_MMIO);
	return value;
}

void hal_mmio_write32(struct hal *hal, uint64_t pa, uint32_t value)
{
	spend(hal, OP_MMIO);
	machine_mmio_write(hal->machine, pa, value);
	interrupt_point(hal, OP_MMIO);
}

struct hal *hal_this_cpu(struct hal *any)
{
	return any;
}

unsigned hal_ncpus(struct hal *any)
{
	(void)any;
	return 1;
}

struct hal *hal_cpu(struct hal *any, unsigned n)
{
	(void)n;
	return any;
}

void hal_cpu_call(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg)
{
	unsigned long flags = hal_irq_save(hal);

	(void)cpu;
	fn(arg);
	hal_irq_restore(hal, flags);
}

void hal_user_set_x0(struct hal *hal, uint64_t value)
{
	cpu_set_x(hal->machine->core, 0, value);
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
	(void)hal;
	return 0;
}

void hal_sync_icache(struct hal *hal, uint64_t pa, size_t n)
{
	cpu_sync_icache(hal->machine->core, pa, n);
}

void hal_console_write(struct hal *hal, const void *buf, size_t n)
{
	spend(hal, OP_CONSOLE);
	if (hal->output)
		hal->output(hal->opaque, buf, n);
	interrupt_point(hal, OP_CONSOLE);
}

/* Nothing but the clock moves while the CPU waits. */
void hal_wait_until(struct hal *hal, uint64_t ns)
{
	const struct machine_preset *preset = hal->machine->config.preset;
	uint64_t cycles = ns / 1000000000 * preset->cpu_hz +
			  ns % 1000000000 * preset->cpu_hz / 1000000000;

	spend(hal, OP_WAIT);
	while (hal->machine->now < cycles && !hal->machine->current->irq) {
		uint64_t left = cycles - hal->machine->now;
		uint64_t wrap = machine_wait_deadline(&hal->machine->cpu[0]);

		machine_spend(hal->machine, left < wrap ? left : wrap);
	}
	interrupt_point(hal, OP_WAIT);
}

int hal_irq_wired(struct hal *hal, unsigned intid)
{
	return intid == GIC_PPI_PMU && !hal->machine->config.no_pmu_irq;
}

uint64_t hal_gicr_sgi(struct hal *hal)
{
	(void)hal;
	return MACHINE_GICR_SGI;
}

void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b)
{
	struct trace_bus *bus = &hal->machine->bus;

	switch (note) {
	case HAL_NOTE_RECORD:
		trace_emit(bus, 0, TRACE_RECORD, a, b, 0);
		break;
	case HAL_NOTE_LOST:
		trace_emit(bus, 0, TRACE_LOST, a, b, 0);
		break;
	case HAL_NOTE_WAKEUP:
		trace_emit(bus, 0, TRACE_WAKEUP, a, b, 0);
		break;
	case HAL_NOTE_ARMED:
		if (hal->at_armed.op && a == hal->armed_counter && !--hal->at_armed.op)
			inject(hal, &hal->at_armed);
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

	trace_emit_data(&hal->machine->bus, 0, kind[what], id, a, b, data);
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
	return args[3] <= 1 && (args[1] < hal->machine->cpu[0].pmu.config.counters ||
				args[1] == PMUV3_CYCLE);
}

static long lab(struct hal *hal, enum hal_lab call, const uint64_t *args)
{
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
		hal->at_op = plan_of(args, args[4]);
		hal->at_op_pending = true;
		return 0;
	case HAL_LAB_AT_ARMED:
		if (!plan_ok(hal, args) || !args[5])
			return -EINVAL;
		hal->at_armed = plan_of(args, args[5]);
		hal->armed_counter = (unsigned)args[4];
		return 0;
	case HAL_LAB_CALLS:
		break;
	}
	return -ENOSYS;
}

long hal_lab_call(struct hal *hal, enum hal_lab call, const uint64_t args[6])
{
	long rc;

	spend(hal, OP_LAB);
	rc = lab(hal, call, args);
	interrupt_point(hal, OP_LAB);
	return rc;
}

static void wire_timer(struct host *host)
{
	struct machine_cpu *cpu = &host->hal.machine->cpu[0];

	gtimer_wire(&cpu->timer, GTIMER_VIRT,
		    gic_ppi_line(&cpu->gic, &host->timer_pin, GTIMER_VIRT_INTID));
	cpu->machine->timers = true;
}

struct host *host_create(const struct host_config *config, char *err, size_t errsize)
{
	struct host *host = calloc(1, sizeof(*host));
	struct machine_config machine = config->machine;
	int rc;

	if (!host) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	machine.el0_only = true;
	host->hal.output = config->output;
	host->hal.opaque = config->opaque;
	host->hal.masked = true;
	host->hal.machine = machine_create(&machine, err, errsize);
	if (!host->hal.machine) {
		free(host);
		return NULL;
	}
	wire_timer(host);
	rc = kentry_boot(&host->hal, config->profile, &host->sys);
	if (rc) {
		snprintf(err, errsize, rc == -ENOENT ? "no such profile: %s" :
						       "%s: the kernel cannot boot",
			 config->profile);
		host_destroy(host);
		return NULL;
	}
	host->hal.sys = host->sys;
	return host;
}

void host_destroy(struct host *host)
{
	if (!host)
		return;
	if (host->sys)
		kentry_shutdown(host->sys);
	machine_destroy(host->hal.machine);
	free(host);
}

/* The engine stands still at EL0 while the kernel runs. */
void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	const struct cpu *core = hal->machine->core;

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

static void enter_user(struct hal *hal)
{
	struct machine *m = hal->machine;

	machine_exception_return(m);
	trace_emit(&m->bus, 0, TRACE_ERET, cpu_pc(m->core), cpu_pstate(m->core), 0);
	set_masked(hal, false);
}

static void sync_exception(struct hal *hal)
{
	struct machine *m = hal->machine;
	struct hal_regs regs = {
		.pc = m->exc.elr,
		.pstate = cpu_pstate(m->core),
		.sp = cpu_sp(m->core),
	};

	cpu_get_x_range(m->core, 0, 9, regs.x);
	if (hal->at_op_pending) { /* counts from the first [op] of this call */
		hal->at_op_pending = false;
		hal->at_op.op += hal->ops;
	}
	set_masked(hal, true);
	machine_exception_taken(m, 0);
	spend(hal, OP_SYNC_ENTRY);
	interrupt_point(hal, OP_SYNC_ENTRY);
	kentry_sync(hal->sys, hal, &regs, m->exc.esr, m->exc.far);
	spend(hal, OP_SYNC_EXIT);
	interrupt_point(hal, OP_SYNC_EXIT);
	enter_user(hal);
}

enum host_result host_run(struct host *host, const void *elf, size_t elf_size,
			  const void *input, size_t input_size, char *err,
			  size_t errsize)
{
	struct hal *hal = &host->hal;
	struct machine *m = hal->machine;
	struct kentry_start start;
	int rc = kentry_exec(host->sys, elf, elf_size, input, input_size, &start);

	if (rc) {
		snprintf(err, errsize, rc == -ENOEXEC ? "not a static AArch64 program" :
							"no memory for the program");
		return HOST_ERROR;
	}
	cpu_set_pstate(m->core, 0);
	cpu_set_pc(m->core, start.pc);
	cpu_set_sp(m->core, start.sp);
	enter_user(hal);
	while (!kentry_status(host->sys).exited) {
		switch (machine_run(m)) {
		case MACHINE_STOP_EXCEPTION:
			sync_exception(hal);
			break;
		case MACHINE_STOP_IRQ:
			take_irq(hal, cpu_pc(m->core), cpu_pstate(m->core));
			break;
		case MACHINE_STOP_WAIT: /* EL0 may not wait: it falls through */
			break;
		case MACHINE_STOP_SLICE:
		case MACHINE_STOP_LIMIT:
			return HOST_LIMIT;
		case MACHINE_STOP_ERROR:
			snprintf(err, errsize, "%s", machine_error(m));
			return HOST_ERROR;
		}
	}
	return HOST_EXITED;
}

struct kentry_status host_status(const struct host *host)
{
	return kentry_status(host->sys);
}

struct machine *host_machine(struct host *host)
{
	return host->hal.machine;
}

uint64_t host_ops(const struct host *host)
{
	return host->hal.ops;
}

void host_inject_at(struct host *host, uint64_t op, unsigned counter, uint64_t events,
		    bool forced)
{
	host->hal.at_op = (struct plan){
		.op = events ? op : 0,
		.counter = counter,
		.events = events,
		.el = 1,
		.forced = forced,
	};
	host->hal.at_op_pending = false;
}
