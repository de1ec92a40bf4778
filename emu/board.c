/* SPDX-License-Identifier: MIT */
#include "emu/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug.h"
#include "emu/psci.h"
#include "emu/virt_fdt.h"

enum {
	REG_ZERO = 31,
	FSC_EXTERNAL = 0x10, /* synchronous external abort, not on a walk */
	SEMIHOST_HLT = 0xf000,
	INSN_BYTES = 4,
};

#define ESR_IL	(UINT64_C(1) << 25)
#define ESR_ISV (UINT64_C(1) << 24)
#define ESR_SSE (UINT64_C(1) << 21)
#define ESR_SF	(UINT64_C(1) << 15)
#define ESR_WNR (UINT64_C(1) << 6)

struct board {
	struct board_config config;
	struct machine *machine;
	struct virt virt;
	struct psci_ops psci;
	bool off, reset;
	struct {
		uint64_t insns, pc; /* where the exception before led, and when */
		unsigned again;
	} vector[MACHINE_CPUS];
	char error[160];
};

/* Exceptions at one vector in a row, with nothing executed between them, after which
 * nothing else will come: a CPU would take them for ever. */
enum { EXCEPTIONS_IN_VAIN = 4 };

/* -- PSCI ----------------------------------------------------------------- */

static bool psci_is_on(void *opaque, unsigned cpu)
{
	const struct board *board = opaque;

	return board->machine->cpu[cpu].on;
}

static bool psci_is_code(void *opaque, uint64_t entry)
{
	struct board *board = opaque;

	return machine_ram(board->machine, entry, INSN_BYTES);
}

static void psci_cpu_on(void *opaque, unsigned cpu, uint64_t entry, uint64_t context)
{
	struct board *board = opaque;

	machine_start_cpu(board->machine, &board->machine->cpu[cpu], entry, context);
}

static void psci_cpu_off(void *opaque, unsigned cpu)
{
	struct board *board = opaque;

	board->machine->cpu[cpu].on = false;
}

static void psci_wait(void *opaque, unsigned cpu)
{
	struct board *board = opaque;

	board->machine->cpu[cpu].waiting = true;
}

static void psci_system_off(void *opaque)
{
	struct board *board = opaque;

	board->off = true;
}

static void psci_system_reset(void *opaque)
{
	struct board *board = opaque;

	board->off = true;
	board->reset = true;
}

static void hypercall(struct board *board)
{
	struct cpu *core = board->machine->core;
	uint64_t arg[7], ret;

	cpu_get_x_range(core, 0, 7, arg);
	if ((board->config.hypercall &&
	     board->config.hypercall(board->config.opaque, board->machine, arg, &ret)) ||
	    psci_call(&board->psci, board->machine->current->id, arg, &ret))
		cpu_set_x(core, 0, ret);
}

/* -- devices -------------------------------------------------------------- */

/* The vector itself cannot be executed: no VBAR_EL1, no memory, no rights. */
static bool leads_nowhere(struct board *board, const struct cpu_exception *exc)
{
	const struct machine *m = board->machine;
	const unsigned cpu = m->current->id;

	if (board->vector[cpu].insns != m->insns || board->vector[cpu].pc != exc->elr)
		board->vector[cpu].again = 0;
	return ++board->vector[cpu].again > EXCEPTIONS_IN_VAIN;
}

/* EL1, by an exception. */
static void enter(struct board *board, const struct cpu_exception *exc)
{
	struct machine *m = board->machine;

	if (leads_nowhere(board, exc)) {
		snprintf(board->error, sizeof(board->error),
			 "pc 0x%llx: the exception vector itself takes an exception, ESR 0x%llx: "
			 "nothing can run any more",
			 (unsigned long long)exc->elr, (unsigned long long)exc->esr);
		return;
	}
	machine_exception_taken(m, cpu_el(m->core));
	cpu_deliver(m->core, exc);
	debug_entered(m);
	board->vector[m->current->id].insns = m->insns;
	board->vector[m->current->id].pc = cpu_pc(m->core);
}

static void deliver(struct board *board, uint64_t ec, uint64_t iss)
{
	struct machine *m = board->machine;
	struct cpu_exception exc = {
		.target = 1,
		.esr = ec << CPU_EC_SHIFT | ESR_IL | iss,
		.far = m->exc.far,
		.elr = m->exc.elr,
	};

	trace_emit(&m->bus, m->current->id, TRACE_EXCEPTION, exc.esr, exc.elr, exc.far);
	enter(board, &exc);
}

static uint64_t loaded(uint64_t value, unsigned size, uint64_t esr)
{
	unsigned bits = 8 * size;

	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	if (esr & ESR_SSE && value >> (bits - 1) & 1)
		value |= bits < 64 ? ~UINT64_C(0) << bits : 0;
	return esr & ESR_SF ? value : (uint32_t)value;
}

/* An access that stage 2 does not map, with the register in its syndrome. */
static bool device_access(struct board *board)
{
	struct machine *m = board->machine;
	const struct cpu_exception *exc = &m->exc;
	unsigned size = 1U << (exc->esr >> 22 & 3);
	unsigned reg = exc->esr >> 16 & 31;
	uint64_t value = 0;

	if (!(exc->esr & ESR_ISV)) {
		snprintf(board->error, sizeof(board->error),
			 "pc 0x%llx: a device at 0x%llx by an instruction of several accesses",
			 (unsigned long long)exc->elr, (unsigned long long)exc->ipa);
		return false;
	}
	if (exc->esr & ESR_WNR && reg != REG_ZERO)
		value = cpu_x(m->core, reg);
	if (exc->esr & ESR_WNR ?
		    !virt_mmio_write(&board->virt, exc->ipa, size,
				     loaded(value, size, ESR_SF)) :
		    !virt_mmio_read(&board->virt, exc->ipa, size, &value)) {
		deliver(board, cpu_el(m->core) ? CPU_EC_DABORT_SAME : CPU_EC_DABORT_LOWER,
			FSC_EXTERNAL | (exc->esr & ESR_WNR));
		return true;
	}
	if (!(exc->esr & ESR_WNR) && reg != REG_ZERO)
		cpu_set_x(m->core, reg, loaded(value, size, exc->esr));
	cpu_set_pc(m->core, exc->elr + INSN_BYTES);
	machine_emulated(m);
	return true;
}

/* -- semihosting ---------------------------------------------------------- */

static bool load_word(void *opaque, uint64_t va, uint64_t *value)
{
	struct board *board = opaque;
	const void *from;
	uint64_t pa;

	if (!cpu_translate(board->machine->core, va, &pa))
		return false;
	from = machine_ram(board->machine, pa, sizeof(*value));
	if (!from)
		return false;
	memcpy(value, from, sizeof(*value));
	return true;
}

/* HLT #0xf000 arrives as undefined, as without an external debugger. */
static bool semihosting(struct board *board)
{
	struct cpu *core = board->machine->core;
	uint64_t pa, pc = board->machine->exc.elr;
	const void *from;
	uint32_t word;

	if (board->machine->exc.esr >> CPU_EC_SHIFT != CPU_EC_UNKNOWN ||
	    !cpu_translate(core, pc, &pa))
		return false;
	from = machine_ram(board->machine, pa, sizeof(word));
	if (!from)
		return false;
	memcpy(&word, from, sizeof(word));
	if (word != (UINT32_C(0xd4400000) | SEMIHOST_HLT << 5))
		return false;
	if (virt_semihosting(&board->virt, (uint32_t)cpu_x(core, 0), cpu_x(core, 1),
			     load_word, board) == VIRT_SEMIHOST_EXIT) {
		board->off = true;
		return true;
	}
	cpu_set_x(core, 0, UINT64_MAX);
	cpu_set_pc(core, pc + INSN_BYTES);
	machine_emulated(board->machine);
	return true;
}

/* -- running -------------------------------------------------------------- */

static bool exception(struct board *board)
{
	struct machine *m = board->machine;
	const struct cpu_exception *exc = &m->exc;

	if (exc->target == 1) {
		if (!semihosting(board))
			enter(board, exc);
		return true;
	}
	switch (exc->esr >> CPU_EC_SHIFT) {
	case CPU_EC_DABORT_LOWER:
		return device_access(board);
	case CPU_EC_IABORT_LOWER:
		deliver(board, cpu_el(m->core) ? CPU_EC_IABORT_SAME : CPU_EC_IABORT_LOWER,
			FSC_EXTERNAL);
		return true;
	case CPU_EC_HVC64:
		machine_exception_taken(m, cpu_el(m->core));
		hypercall(board);
		return true;
	default:
		snprintf(board->error, sizeof(board->error),
			 "pc 0x%llx: an exception to EL2 with ESR 0x%llx",
			 (unsigned long long)exc->elr, (unsigned long long)exc->esr);
		return false;
	}
}

static void take_irq(struct machine *m)
{
	trace_emit(&m->bus, m->current->id, TRACE_TAKEN, cpu_pc(m->core),
		   cpu_pstate(m->core), 0);
	machine_exception_taken(m, cpu_el(m->core));
	cpu_deliver_irq(m->core);
	debug_entered(m);
}

enum turn { TURN_OVER, TURN_END, TURN_LIMIT, TURN_ERROR };

/* The current CPU until its slice ends, it waits or is off. */
static enum turn run_turn(struct board *board)
{
	struct machine *m = board->machine;
	struct machine_cpu *cpu = m->current;

	while (!board->off && cpu->on) {
		if (cpu->waiting && !cpu->irq)
			return TURN_OVER;
		cpu->waiting = false;
		switch (machine_run(m)) {
		case MACHINE_STOP_EXCEPTION:
			if (!exception(board) || board->error[0])
				return TURN_ERROR;
			break;
		case MACHINE_STOP_IRQ:
			take_irq(m);
			break;
		case MACHINE_STOP_WAIT:
			cpu->waiting = true;
			break;
		case MACHINE_STOP_SLICE:
			return TURN_OVER;
		case MACHINE_STOP_LIMIT:
			return TURN_LIMIT;
		case MACHINE_STOP_ERROR:
			snprintf(board->error, sizeof(board->error), "%s",
				 machine_error(m));
			return TURN_ERROR;
		}
	}
	return board->off ? TURN_END : TURN_OVER;
}

static void wait_some(struct machine *m, uint64_t end)
{
	uint64_t n = machine_wait_deadline(m->current);

	machine_wait(m, n < end - m->now ? n : end - m->now);
}

/* The current CPU has nothing to execute until @end: its clock goes there, and
 * stops on the way for whatever wakes it. */
static void idle_until(struct machine *m, uint64_t end)
{
	while (m->now < end && !(m->current->waiting && m->current->irq))
		wait_some(m, end);
}

/* The same, whatever wakes it: each thing that is due at its own time. */
static void wait_until(struct machine *m, uint64_t end)
{
	while (m->now < end)
		wait_some(m, end);
}

/* One turn of every CPU that is on, from cycle @start to @end. */
static enum turn run_round(struct board *board, uint64_t start, uint64_t end)
{
	struct machine *m = board->machine;

	for (unsigned i = 0; i < m->ncpus; i++) {
		enum turn turn = TURN_OVER;

		if (!m->cpu[i].on)
			continue;
		machine_switch(m, &m->cpu[i]);
		m->now = start + m->cpu[i].overrun;
		m->slice_end = end;
		while (turn == TURN_OVER && m->now < end && m->current->on) {
			turn = run_turn(board);
			if (turn == TURN_OVER && m->current->on)
				idle_until(m, end);
		}
		if (turn != TURN_OVER)
			return turn;
		m->cpu[i].overrun = m->now > end ? m->now - end : 0;
	}
	m->now = end;
	return TURN_OVER;
}

/* The one CPU that has something to execute; NULL: none or several do. */
static struct machine_cpu *only_runner(const struct board *board)
{
	struct machine *m = board->machine;
	struct machine_cpu *runner = NULL;

	for (unsigned i = 0; i < m->ncpus; i++) {
		struct machine_cpu *cpu = &m->cpu[i];

		if (!cpu->on || (cpu->waiting && !cpu->irq))
			continue;
		if (runner)
			return NULL;
		runner = cpu;
	}
	return runner;
}

/* @runner goes on while the others wait, until one of them is woken, by its own
 * timer or by what @runner does: as long as no other would have had a turn. */
static enum turn run_alone(struct board *board, struct machine_cpu *runner)
{
	struct machine *m = board->machine;
	uint64_t start = m->now, end, due = UINT64_MAX;
	enum turn turn;

	for (unsigned i = 0; i < m->ncpus; i++) {
		uint64_t n;

		if (!m->cpu[i].on || &m->cpu[i] == runner)
			continue;
		n = machine_wait_deadline(&m->cpu[i]);
		if (due > n)
			due = n;
	}
	machine_switch(m, runner);
	m->now = start + runner->overrun;
	runner->overrun = 0;
	m->slice_end = due > UINT64_MAX - start ? UINT64_MAX : start + due;
	m->alone = true;
	turn = run_turn(board);
	m->alone = false;
	end = m->now;
	for (unsigned i = 0; i < m->ncpus; i++) {
		if (!m->cpu[i].waiting || &m->cpu[i] == runner)
			continue;
		machine_switch(m, &m->cpu[i]);
		m->now = start + m->cpu[i].overrun;
		wait_until(m, end);
		m->cpu[i].overrun = m->now - end;
	}
	m->now = end;
	return turn;
}

/* The end of a round from @start: a quantum, or, where every CPU waits, the
 * first thing due. 0: nothing ever is. */
static uint64_t round_end(const struct board *board, uint64_t start)
{
	const struct machine *m = board->machine;
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < m->ncpus; i++) {
		const struct machine_cpu *cpu = &m->cpu[i];
		uint64_t n;

		if (!cpu->on)
			continue;
		if (!cpu->waiting || cpu->irq)
			return start + (board->config.quantum ? board->config.quantum :
								BOARD_QUANTUM);
		n = machine_wait_deadline(cpu);
		if (due > n)
			due = n;
	}
	return due == UINT64_MAX ? 0 : start + due;
}

enum board_end board_run(struct board *board)
{
	struct machine *m = board->machine;

	for (;;) {
		struct machine_cpu *runner = only_runner(board);
		uint64_t end = runner ? 0 : round_end(board, m->now);

		if (!runner && !end)
			return BOARD_STUCK;
		switch (runner ? run_alone(board, runner) : run_round(board, m->now, end)) {
		case TURN_OVER:
			break;
		case TURN_END:
			return board->reset ? BOARD_RESET : BOARD_OFF;
		case TURN_LIMIT:
			return BOARD_LIMIT;
		case TURN_ERROR:
			return BOARD_ERROR;
		}
	}
}

/* -- start-up ------------------------------------------------------------- */

static void console_put(void *opaque, uint8_t byte)
{
	struct board *board = opaque;

	if (board->config.output)
		board->config.output(board->config.opaque, byte);
}

static void init_virt(struct board *board)
{
	struct machine *m = board->machine;
	struct gic_ppi *gic[MACHINE_CPUS];
	struct gtimer *timer[MACHINE_CPUS];
	struct virt_config config = {
		.cpus = m->ncpus,
		.gic = gic,
		.timer = timer,
		.bus = &m->bus,
		.console = { console_put, board },
		.guest_error = board->config.guest_error,
		.opaque = board->config.opaque,
	};

	for (unsigned i = 0; i < m->ncpus; i++) {
		gic[i] = &m->cpu[i].gic;
		timer[i] = &m->cpu[i].timer;
	}
	virt_init(&board->virt, &config);
	m->timers = true;
	board->psci = (struct psci_ops){
		.ncpus = m->ncpus,
		.is_on = psci_is_on,
		.is_code = psci_is_code,
		.cpu_on = psci_cpu_on,
		.cpu_off = psci_cpu_off,
		.wait = psci_wait,
		.system_off = psci_system_off,
		.system_reset = psci_system_reset,
		.opaque = board,
	};
}

static int load(struct board *board, char *err, size_t errsize)
{
	struct machine *m = board->machine;
	const struct loader_ram ram = {
		.host = m->ram,
		.base = MACHINE_RAM_BASE,
		.size = m->config.ram_size,
	};
	struct loader_layout layout;
	struct virt_fdt fdt = {
		.cpus = m->ncpus,
		.ram_size = m->config.ram_size,
		.bootargs = board->config.append,
		.kaslr_seed = board->config.kaslr_seed,
		.pmu_irq = !m->config.no_pmu_irq,
	};
	size_t room = VIRT_FDT_SIZE + (fdt.bootargs ? strlen(fdt.bootargs) : 0);
	void *at;

	if (loader_load(&ram, &board->config.image,
			board->config.initrd.data ? &board->config.initrd : NULL, room,
			&layout, err, errsize))
		return -1;
	fdt.initrd = layout.initrd;
	fdt.initrd_end = layout.initrd_end;
	at = machine_ram(m, layout.dtb, room);
	if (!at || virt_fdt_build(&fdt, at, room) < 0) {
		snprintf(err, errsize, "no room for the device tree");
		return -1;
	}
	cpu_sync_icache(m->core, MACHINE_RAM_BASE, m->config.ram_size);
	cpu_set_pc(m->core, layout.entry);
	cpu_set_x(m->core, 0, layout.dtb);
	return 0;
}

struct board *board_create(const struct board_config *config, char *err, size_t errsize)
{
	struct board *board = calloc(1, sizeof(*board));

	if (!board) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	board->config = *config;
	board->machine = machine_create(&config->machine, err, errsize);
	if (!board->machine) {
		free(board);
		return NULL;
	}
	init_virt(board);
	if (load(board, err, errsize)) {
		board_destroy(board);
		return NULL;
	}
	return board;
}

void board_destroy(struct board *board)
{
	if (!board)
		return;
	machine_destroy(board->machine);
	free(board);
}

int board_exit_status(const struct board *board)
{
	return board->virt.exit_by == VIRT_EXIT_NONE ? -1 : board->virt.exit_status;
}

const char *board_error(const struct board *board)
{
	return board->error;
}

struct machine *board_machine(struct board *board)
{
	return board->machine;
}
