/* SPDX-License-Identifier: MIT */
/*
 * The machine's CPUs in turn: EL0 on the engine, the kernel as calls into sys/.
 *
 * Several CPUs take turns of HOST_QUANTUM cycles, in order, each with a clock of
 * its own within the round; kernel code always runs to its end, so a turn may be
 * longer, and the CPU's next one is shorter by that. What one CPU's kernel does is
 * therefore atomic to the others, and the same run twice is the same run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernelcore/host/host-priv.h"

/* -- entries ----------------------------------------------------------------- */

static void enter_user(struct hal *hal)
{
	struct machine *m = hal->machine;
	struct cpu *core = machine_core(m);

	machine_exception_return(m);
	trace_emit(&m->bus, hal->cpu->id, TRACE_ERET, cpu_pc(core), cpu_pstate(core), 0);
	host_set_masked(hal, false);
}

/* Linux's idle task: WFI with interrupts masked, which it lets in afterwards. */
static void enter_idle(struct hal *hal)
{
	hal->idle = true;
	host_set_masked(hal, false);
}

static void go_on(struct hal *hal, enum kentry_next next)
{
	switch (next) {
	case KENTRY_USER:
		enter_user(hal);
		break;
	case KENTRY_IDLE:
		enter_idle(hal);
		break;
	}
}

static void irq_entry(struct hal *hal, uint64_t pc, uint64_t pstate)
{
	hal->idle = false;
	trace_emit(&hal->machine->bus, hal->cpu->id, TRACE_TAKEN, pc, pstate, 0);
	host_set_masked(hal, true);
	machine_exception_taken(hal->machine, pstate == HOST_PSTATE_EL1H);
	host_spend(hal, OP_IRQ_ENTRY);
	host_interrupt_point(hal, OP_IRQ_ENTRY);
}

static void irq_return(struct hal *hal, uint64_t pc, uint64_t pstate)
{
	machine_exception_return(hal->machine);
	trace_emit(&hal->machine->bus, hal->cpu->id, TRACE_ERET, pc, pstate, 0);
	host_set_masked(hal, false);
}

static enum kentry_next serve_irq(struct hal *hal, uint64_t pc, uint64_t pstate)
{
	const struct hal_regs regs = { .pc = pc, .pstate = pstate };
	enum kentry_next next;

	irq_entry(hal, pc, pstate);
	next = kentry_irq(hal->host->sys, hal, &regs);
	host_spend(hal, OP_IRQ_EXIT);
	host_interrupt_point(hal, OP_IRQ_EXIT);
	return next;
}

/* One that interrupted the kernel. */
void host_take_irq(struct hal *hal, uint64_t pc, uint64_t pstate)
{
	serve_irq(hal, pc, pstate);
	irq_return(hal, pc, pstate);
}

static void irq_at_user(struct hal *hal)
{
	const struct cpu *core = machine_core(hal->machine);

	go_on(hal, serve_irq(hal, cpu_pc(core), cpu_pstate(core)));
}

/* It goes back to the idle task in any case; that may find a task to run. */
static void irq_at_idle(struct hal *hal)
{
	go_on(hal, serve_irq(hal, HOST_IDLE_PC, HOST_PSTATE_EL1H));
}

static void sync_exception(struct hal *hal)
{
	struct machine *m = hal->machine;
	struct host *host = hal->host;
	enum kentry_next next;
	struct hal_regs regs = {
		.pc = m->exc.elr,
		.pstate = cpu_pstate(m->core),
		.sp = cpu_sp(m->core),
	};

	cpu_get_x_range(m->core, 0, 9, regs.x);
	if (host->at_op_pending) { /* counts from the first [op] of this call */
		host->at_op_pending = false;
		host->at_op.op += host->ops;
	}
	host_set_masked(hal, true);
	machine_exception_taken(m, 0);
	host_spend(hal, OP_SYNC_ENTRY);
	host_interrupt_point(hal, OP_SYNC_ENTRY);
	next = kentry_sync(host->sys, hal, &regs, m->exc.esr, m->exc.far);
	host_spend(hal, OP_SYNC_EXIT);
	host_interrupt_point(hal, OP_SYNC_EXIT);
	go_on(hal, next);
}

/* -- other CPUs -------------------------------------------------------------- */

/* An idle CPU's time goes by; it stops on the way for whatever wakes it. */
static void idle_until(struct hal *hal, uint64_t end)
{
	struct machine *m = hal->machine;

	while (m->now < end && !machine_irq(m)) {
		uint64_t n = machine_wait_deadline(hal->cpu), left = end - m->now;

		/* another CPU, whose turn is later in time, has sent it already */
		if (hal->cpu->irq && hal->cpu->irq_due - m->now < left)
			left = hal->cpu->irq_due - m->now;
		machine_wait(m, n < left ? n : left);
	}
}

void host_switch(struct host *host, struct hal *hal)
{
	struct machine *m = host->machine;

	if (m->current == hal->cpu)
		return;
	host->hal[m->current->id].now = m->now;
	machine_switch(m, hal->cpu);
	m->now = hal->now;
}

/* @cpu is at EL0 or idle, and takes the SGI at once. */
static void call_there(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg)
{
	struct machine *m = hal->machine;
	const uint64_t now = m->now;
	const bool idle = cpu->idle;
	uint64_t pc = HOST_IDLE_PC, pstate = HOST_PSTATE_EL1H;

	host_switch(hal->host, cpu);
	if (idle) {
		idle_until(cpu, now);
	} else {
		pc = cpu_pc(machine_core(m));
		pstate = cpu_pstate(m->core);
	}
	irq_entry(cpu, pc, pstate);
	fn(arg);
	host_spend(cpu, OP_IRQ_EXIT);
	host_interrupt_point(cpu, OP_IRQ_EXIT);
	irq_return(cpu, pc, pstate);
	cpu->idle = idle;
	host_switch(hal->host, hal);
	/* what it is woken by may be due at another time now */
	if (m->alone)
		m->slice_end = m->now;
}

void hal_cpu_call(struct hal *hal, struct hal *cpu, void (*fn)(void *arg), void *arg)
{
	unsigned long flags = hal_irq_save(hal);

	if (cpu == hal) {
		fn(arg);
	} else {
		host_spend(hal, OP_SYSREG_WRITE);
		call_there(hal, cpu, fn, arg);
		host_spend(hal, OP_IRQ_ENTRY); /* until the answer is seen */
		host_interrupt_point(hal, OP_SYSREG_WRITE);
	}
	hal_irq_restore(hal, flags);
}

void hal_cpu_kick(struct hal *hal, struct hal *cpu)
{
	hal_sysreg_write(hal, HAL_ICC_SGI1R_EL1,
			 (uint64_t)HAL_IRQ_KICK << 24 | UINT64_C(1) << cpu->cpu->id);
}

/* -- running ----------------------------------------------------------------- */

enum { HOST_QUANTUM = 20000 }; /* cycles */

enum turn { TURN_OVER, TURN_END, TURN_LIMIT, TURN_ERROR };

/* Nothing but the wire of its GIC wakes an idle CPU. */
static bool sleeps(const struct hal *hal)
{
	return hal->idle && !hal->cpu->irq;
}

/* The current CPU until its slice ends or it idles. */
static enum turn run_turn(struct hal *hal)
{
	struct machine *m = hal->machine;

	while (!kentry_status(hal->host->sys).exited) {
		if (hal->idle) {
			if (hal->cpu->irq)
				idle_until(hal, m->slice_end);
			if (!machine_irq(m))
				return TURN_OVER;
			irq_at_idle(hal);
			continue;
		}
		switch (machine_run(m)) {
		case MACHINE_STOP_EXCEPTION:
			sync_exception(hal);
			break;
		case MACHINE_STOP_IRQ:
			irq_at_user(hal);
			break;
		case MACHINE_STOP_WAIT: /* EL0 may not wait: it falls through */
			break;
		case MACHINE_STOP_SLICE:
			return TURN_OVER;
		case MACHINE_STOP_LIMIT:
			return TURN_LIMIT;
		case MACHINE_STOP_ERROR:
			return TURN_ERROR;
		}
	}
	return TURN_END;
}

static enum turn run_round(struct host *host, uint64_t end)
{
	struct machine *m = host->machine;

	for (unsigned i = 0; i < host->ncpus; i++) {
		struct hal *hal = &host->hal[i];
		enum turn turn = TURN_OVER;

		host_switch(host, hal);
		m->slice_end = end;
		while (turn == TURN_OVER && m->now < end) {
			turn = run_turn(hal);
			if (turn == TURN_OVER && hal->idle)
				idle_until(hal, end);
		}
		if (turn != TURN_OVER)
			return turn;
	}
	return TURN_OVER;
}

/* The one CPU that does not sleep; NULL: none or several do not. */
static struct hal *only_runner(struct host *host)
{
	struct hal *runner = NULL;

	for (unsigned i = 0; i < host->ncpus; i++) {
		if (sleeps(&host->hal[i]))
			continue;
		if (runner)
			return NULL;
		runner = &host->hal[i];
	}
	return runner;
}

static uint64_t now_of(const struct hal *hal)
{
	return hal->machine->current == hal->cpu ? hal->machine->now : hal->now;
}

/* When the first of the sleeping CPUs has something due; UINT64_MAX: never. */
static uint64_t next_due(const struct host *host)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < host->ncpus; i++) {
		const struct hal *hal = &host->hal[i];
		uint64_t now = now_of(hal), n;

		if (!sleeps(hal))
			continue;
		n = machine_wait_deadline(hal->cpu);
		if (n < UINT64_MAX - now && now + n < due)
			due = now + n;
	}
	return due;
}

/* @runner goes on until another CPU wakes, by its own timer or by what @runner
 * does: as long as no other would have had a turn. */
static enum turn run_alone(struct host *host, struct hal *runner)
{
	struct machine *m = host->machine;
	enum turn turn;
	uint64_t end;

	host_switch(host, runner);
	m->slice_end = next_due(host);
	m->alone = host->ncpus > 1;
	turn = m->now < m->slice_end ? run_turn(runner) : TURN_OVER;
	m->alone = false;
	end = m->now;
	for (unsigned i = 0; i < host->ncpus; i++) {
		struct hal *hal = &host->hal[i];

		if (!hal->idle)
			continue;
		host_switch(host, hal);
		idle_until(hal, end);
	}
	return turn;
}

static uint64_t earliest(const struct host *host)
{
	uint64_t now = UINT64_MAX;

	for (unsigned i = 0; i < host->ncpus; i++)
		if (now > now_of(&host->hal[i]))
			now = now_of(&host->hal[i]);
	return now;
}

/* Only a timer or the PMU wakes CPUs that all sleep. A counter that goes on and may
 * not interrupt has its wraps, but wakes nobody. */
static bool may_wake(const struct host *host)
{
	for (unsigned i = 0; i < host->ncpus; i++) {
		const struct machine_cpu *cpu = host->hal[i].cpu;

		if (gtimer_deadline(&cpu->timer) != UINT64_MAX || cpu->pmu.pminten)
			return true;
	}
	return false;
}

/* The end of a round that begins now: a quantum, or, where every CPU sleeps, the
 * first thing due. 0: nothing ever is. */
static uint64_t round_end(struct host *host)
{
	uint64_t due;

	for (unsigned i = 0; i < host->ncpus; i++)
		if (!sleeps(&host->hal[i]))
			return earliest(host) + HOST_QUANTUM;
	due = may_wake(host) ? next_due(host) : UINT64_MAX;
	return due == UINT64_MAX ? 0 : due;
}

static enum host_result run(struct host *host, char *err, size_t errsize)
{
	for (;;) {
		struct hal *runner = only_runner(host);
		uint64_t end = runner ? 0 : round_end(host);

		if (!runner && !end) {
			snprintf(err, errsize, "every task sleeps, and nothing will wake one");
			return HOST_ERROR;
		}
		switch (runner ? run_alone(host, runner) : run_round(host, end)) {
		case TURN_OVER:
			break;
		case TURN_END:
			return HOST_EXITED;
		case TURN_LIMIT:
			return HOST_LIMIT;
		case TURN_ERROR:
			snprintf(err, errsize, "%s", machine_error(host->machine));
			return HOST_ERROR;
		}
	}
}

enum host_result host_run(struct host *host, const void *elf, size_t elf_size,
			  const void *input, size_t input_size, char *err, size_t errsize)
{
	struct machine *m = host->machine;
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
	host->hal[0].idle = false;
	enter_user(&host->hal[0]);
	return run(host, err, errsize);
}

/* -- life -------------------------------------------------------------------- */

static void send_sgi(void *opaque, unsigned from, unsigned group, uint64_t value)
{
	struct host *host = opaque;

	for (unsigned i = 0; i < host->ncpus; i++)
		gic_ppi_take_sgi(&host->hal[i].cpu->gic, from, group, value);
}

static unsigned no_shared(void *opaque, unsigned cpu, uint8_t *priority)
{
	(void)opaque;
	(void)cpu;
	(void)priority;
	return GIC_PPI_SPURIOUS;
}

static void no_state(void *opaque, unsigned intid)
{
	(void)opaque;
	(void)intid;
}

static void wire(struct host *host)
{
	const struct gic_shared shared = {
		.highest = no_shared,
		.activate = no_state,
		.deactivate = no_state,
		.sgi = send_sgi,
		.opaque = host,
	};
	struct machine *m = host->machine;

	host->ncpus = m->ncpus;
	for (unsigned i = 0; i < m->ncpus; i++) {
		struct machine_cpu *cpu = &m->cpu[i];

		host->hal[i] = (struct hal){
			.host = host, .machine = m, .cpu = cpu, .masked = true, .idle = true,
		};
		gtimer_wire(&cpu->timer, GTIMER_VIRT,
			    gic_ppi_line(&cpu->gic, &host->hal[i].timer_pin,
					 GTIMER_VIRT_INTID));
		if (m->ncpus > 1) {
			gic_ppi_attach(&cpu->gic, &shared);
			gic_ppi_forward(&cpu->gic, true);
		}
	}
	m->timers = true;
}

/* CPU 0 has booted; the others come one after another, before there is a task. */
static void start_others(struct host *host)
{
	struct machine *m = host->machine;

	for (unsigned i = 1; i < host->ncpus; i++) {
		struct hal *hal = &host->hal[i];

		hal->now = m->now;
		machine_start_cpu(m, hal->cpu, 0, 0);
		host_switch(host, hal);
		cpu_set_pstate(machine_core(m), 0);
		go_on(hal, kentry_cpu_start(host->sys, hal));
	}
	for (unsigned i = 0; i < host->ncpus; i++)
		host->hal[i].now = m->now;
	machine_switch(m, host->hal[0].cpu);
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
	host->output = config->output;
	host->opaque = config->opaque;
	host->machine = machine_create(&machine, err, errsize);
	if (!host->machine) {
		free(host);
		return NULL;
	}
	wire(host);
	rc = kentry_boot(&host->hal[0], config->profile, &host->sys);
	if (rc) {
		snprintf(err, errsize, rc == -ENOENT ? "no such profile: %s" :
						       "%s: the kernel cannot boot",
			 config->profile);
		host_destroy(host);
		return NULL;
	}
	if (config->seed)
		kentry_seed(host->sys, config->seed);
	start_others(host);
	host->booted = true;
	return host;
}

void host_destroy(struct host *host)
{
	if (!host)
		return;
	if (host->sys)
		kentry_shutdown(host->sys);
	machine_destroy(host->machine);
	free(host);
}

struct kentry_status host_status(const struct host *host)
{
	return kentry_status(host->sys);
}

struct machine *host_machine(struct host *host)
{
	return host->machine;
}

uint64_t host_ops(const struct host *host)
{
	return host->ops;
}

void host_inject_at(struct host *host, uint64_t op, unsigned counter, uint64_t events,
		    bool forced)
{
	host->at_op = (struct plan){
		.op = events ? op : 0,
		.counter = counter,
		.events = events,
		.el = 1,
		.forced = forced,
	};
	host->at_op_pending = false;
}
