/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "emu/machine.h"
#include "emu/machine-ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20 };
enum { EL0 = 0, EL1 = 1, CYCLES_PER_INSN = 1 /* timing icount */ };

static const uint16_t qemu_a57_events[] = { 0x00, 0x08, 0x11 };
static const uint16_t full_events[] = {
	0x00, 0x01, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
	0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1b, 0x1d, 0x1e, 0x21, 0x23, 0x24,
};

static const struct machine_preset presets[] = {
	{
		.name = "qemu-a57",
		.what = "what QEMU 7.2's cortex-a57 has under -icount shift=0",
		.counters = 6,
		.pmuver = PMUV3_P0,
		.events = qemu_a57_events,
		.nevents = sizeof(qemu_a57_events) / sizeof(qemu_a57_events[0]),
		.keeps_res0 = true,
		.cpu_hz = 1000000000,
		.cntfrq = 62500000,
	},
	{
		.name = "full",
		.what = "all that is modelled, PMUv3 p5",
		.counters = 6,
		.pmuver = PMUV3_P5,
		.events = full_events,
		.nevents = sizeof(full_events) / sizeof(full_events[0]),
		.cpu_hz = 1000000000,
		.cntfrq = 62500000,
	},
};

const struct machine_preset *machine_preset_at(unsigned i)
{
	return i < sizeof(presets) / sizeof(presets[0]) ? &presets[i] : NULL;
}

const struct machine_preset *machine_preset(const char *name)
{
	const struct machine_preset *preset;

	for (unsigned i = 0; (preset = machine_preset_at(i)); i++)
		if (!strcmp(preset->name, name))
			return preset;
	return NULL;
}

/* @insns instructions at @el. The PMU's deadline splits them, so that a wrap in
 * the middle carries its own time; while guest code runs nobody passes one. */
static void advance(struct machine *m, uint64_t insns, unsigned el)
{
	struct pmuv3 *pmu = &m->current->pmu;

	while (insns) {
		uint64_t n = pmuv3_deadline(pmu, el, CYCLES_PER_INSN);
		struct pmuv3_step step = { .el = el };

		if (n > insns)
			n = insns;
		step.insns = n;
		step.cycles = n * CYCLES_PER_INSN;
		m->now += step.cycles;
		pmuv3_advance(pmu, &step);
		insns -= n;
	}
	if (m->timers)
		gtimer_update(&m->current->timer);
}

static void core_retired(void *opaque, uint64_t insns)
{
	struct machine *m = opaque;

	m->insns += insns;
	m->current->pmu.pc = cpu_last_pc(m->core);
	advance(m, insns, cpu_el(m->core));
	m->current->pmu.pc = 0;
}

/* The one machine-wide deadline, in instructions from now on the current CPU. */
static uint64_t deadline(const struct machine *m)
{
	uint64_t n = pmuv3_deadline(&m->current->pmu, cpu_el(m->core), CYCLES_PER_INSN);

	if (m->timers) {
		uint64_t cycles = gtimer_deadline(&m->current->timer);

		if (n > cycles / CYCLES_PER_INSN)
			n = cycles / CYCLES_PER_INSN;
	}
	if (n > (m->slice_end - m->now) / CYCLES_PER_INSN)
		n = (m->slice_end - m->now) / CYCLES_PER_INSN;
	if (m->config.max_insns && n > m->config.max_insns - m->insns)
		n = m->config.max_insns - m->insns;
	return n;
}

/* Every ERET to EL0 makes the core ask for a budget, or stop: seen at its time. */
static void see_el(struct machine *m)
{
	bool at_el1 = cpu_el(m->core);

	if (m->current->at_el1 && !at_el1)
		trace_emit(&m->bus, m->current->id, TRACE_ERET, cpu_pc(m->core),
			   cpu_pstate(m->core), 0);
	m->current->at_el1 = at_el1;
}

static uint64_t core_budget(void *opaque)
{
	see_el(opaque);
	return deadline(opaque);
}

static bool core_irq(void *opaque)
{
	const struct machine *m = opaque;

	return m->current->irq;
}

static bool core_owns(void *opaque, uint32_t enc)
{
	const struct machine *m = opaque;

	return sysreg_exists(m->cpu[0].blocks, MACHINE_BLOCKS, enc);
}

static enum sysreg_result read_at(struct machine *m, uint32_t enc, unsigned el,
				  uint64_t *value)
{
	enum sysreg_result r =
		sysreg_read(m->current->blocks, MACHINE_BLOCKS, enc, el, value);

	if (r == SYSREG_OK)
		trace_emit(&m->bus, m->current->id, TRACE_SYSREG_READ, enc, *value, 0);
	return r;
}

/* On the bus before its consequences are. */
static enum sysreg_result write_at(struct machine *m, uint32_t enc, unsigned el,
				   uint64_t value)
{
	enum sysreg_result r =
		sysreg_may_write(m->current->blocks, MACHINE_BLOCKS, enc, el);

	if (r != SYSREG_OK)
		return r;
	trace_emit(&m->bus, m->current->id, TRACE_SYSREG_WRITE, enc, value, 0);
	return sysreg_write(m->current->blocks, MACHINE_BLOCKS, enc, el, value);
}

static enum sysreg_result core_sysreg_read(void *opaque, uint32_t enc, unsigned el,
					   uint64_t *value)
{
	return read_at(opaque, enc, el, value);
}

static enum sysreg_result core_sysreg_may_write(void *opaque, uint32_t enc, unsigned el)
{
	const struct machine *m = opaque;

	return sysreg_may_write(m->current->blocks, MACHINE_BLOCKS, enc, el);
}

static enum sysreg_result core_sysreg_write(void *opaque, uint32_t enc, unsigned el,
					    uint64_t value)
{
	return write_at(opaque, enc, el, value);
}

static void gic_irq(void *opaque, int level)
{
	struct machine_cpu *cpu = opaque;

	cpu->irq = level;
}

static int init_cpu(struct machine *m, struct machine_cpu *cpu)
{
	const struct machine_preset *preset = m->config.preset;
	struct pmuv3_config pmu = {
		.counters = m->config.counters < 0 ? preset->counters :
						     (unsigned)m->config.counters,
		.version = m->config.pmuver ? (enum pmuv3_version)m->config.pmuver :
					      preset->pmuver,
		.keeps_res0 = preset->keeps_res0,
		.events = preset->events,
		.nevents = preset->nevents,
		.poison_reset = m->config.poison_reset,
		.idcode = 0x01,
		.imp = 0x41,
		.cpu = cpu->id,
	};
	struct irq_line line = { 0 };

	gic_ppi_init(&cpu->gic, (struct irq_line){ gic_irq, cpu }, &m->bus, cpu->id);
	if (!m->config.no_pmu_irq)
		line = gic_ppi_line(&cpu->gic, &cpu->pmu_pin, GIC_PPI_PMU);
	gtimer_init(&cpu->timer, &m->now, preset->cpu_hz, preset->cntfrq);
	machine_ids_init(&cpu->ids, cpu->id, pmu.version);
	cpu->blocks[0] = pmuv3_sysregs(&cpu->pmu);
	cpu->blocks[1] = gic_ppi_sysregs(&cpu->gic);
	cpu->blocks[2] = gtimer_sysregs(&cpu->timer);
	cpu->blocks[3] = machine_ids_sysregs(&cpu->ids);
	return pmuv3_init(&cpu->pmu, &pmu, line, &m->bus);
}

static int init_cpus(struct machine *m)
{
	int rc = 0;

	m->ncpus = m->config.cpus ? m->config.cpus : 1;
	if (m->ncpus > MACHINE_CPUS)
		return -1;
	for (unsigned i = 0; i < m->ncpus && !rc; i++) {
		m->cpu[i].machine = m;
		m->cpu[i].id = i;
		rc = init_cpu(m, &m->cpu[i]);
	}
	m->current = &m->cpu[0];
	m->current->on = true;
	m->slice_end = UINT64_MAX;
	return rc;
}

/* Zero pages from the host cost nothing until they are touched; large ones make
 * the touching cheap, where the host has them. */
static bool map_ram(struct machine *m)
{
	m->map_size = m->config.ram_size + LARGE_PAGE;
	m->map = mmap(NULL, m->map_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return false;
	}
	m->ram = m->map + (-(uintptr_t)m->map & (LARGE_PAGE - 1));
	madvise(m->ram, m->config.ram_size, MADV_HUGEPAGE);
	return true;
}

struct machine *machine_create(const struct machine_config *config, char *err,
			       size_t errsize)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct cpu_ops ops = {
		.retired = core_retired,
		.budget = core_budget,
		.irq = core_irq,
		.owns = core_owns,
		.sysreg_read = core_sysreg_read,
		.sysreg_may_write = core_sysreg_may_write,
		.sysreg_write = core_sysreg_write,
		.opaque = m,
		.el0_only = config->el0_only,
	};

	if (!m) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	m->config = *config;
	trace_bus_init(&m->bus, &m->now);
	if (init_cpus(m)) {
		snprintf(err, errsize, "no machine of %u CPUs, %d event counters and PMUVer %d",
			 config->cpus, config->counters, config->pmuver);
		machine_destroy(m);
		return NULL;
	}
	if (!map_ram(m)) {
		snprintf(err, errsize, "cannot reserve %zu bytes of RAM",
			 config->ram_size);
		machine_destroy(m);
		return NULL;
	}
	m->core = cpu_create(config->engine, MACHINE_RAM_BASE, m->ram, config->ram_size,
			     &ops, err, errsize);
	if (!m->core) {
		machine_destroy(m);
		return NULL;
	}
	for (unsigned i = 0; m->ncpus > 1 && i < m->ncpus; i++)
		m->cpu[i].state = cpu_state_new(m->core);
	if (m->ncpus > 1)
		m->reset_state = cpu_state_new(m->core);
	return m;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->ncpus; i++)
		cpu_state_free(m->cpu[i].state);
	cpu_state_free(m->reset_state);
	cpu_destroy(m->core);
	if (m->map)
		munmap(m->map, m->map_size);
	free(m);
}

enum machine_stop machine_run(struct machine *m)
{
	for (;;) {
		uint64_t budget = deadline(m);
		enum cpu_stop stop;

		see_el(m);
		if (!budget)
			return m->now >= m->slice_end ? MACHINE_STOP_SLICE :
							MACHINE_STOP_LIMIT;
		stop = cpu_run(m->core, budget, &m->exc);
		see_el(m);
		switch (stop) {
		case CPU_STOP_BUDGET:
			break;
		case CPU_STOP_IRQ:
			return MACHINE_STOP_IRQ;
		case CPU_STOP_WAIT:
			return MACHINE_STOP_WAIT;
		case CPU_STOP_EXCEPTION:
			if (m->exc.target == 1)
				trace_emit(&m->bus, m->current->id, TRACE_EXCEPTION,
					   m->exc.esr, m->exc.elr, m->exc.far);
			return MACHINE_STOP_EXCEPTION;
		case CPU_STOP_ERROR:
			snprintf(m->error, sizeof(m->error), "%s", cpu_error(m->core));
			return MACHINE_STOP_ERROR;
		}
	}
}

void machine_retire(struct machine *m, uint64_t insns)
{
	core_retired(m, insns);
}

void machine_start_cpu(struct machine *m, struct machine_cpu *cpu, uint64_t pc,
		       uint64_t x0)
{
	struct machine_cpu *current = m->current;

	cpu_save(m->core, current->state);
	cpu_load(m->core, m->reset_state, cpu->id);
	cpu_set_pc(m->core, pc);
	cpu_set_x(m->core, 0, x0);
	cpu_save(m->core, cpu->state);
	cpu_load(m->core, current->state, current->id);
	cpu->on = true;
	cpu->waiting = false;
}

void machine_switch(struct machine *m, struct machine_cpu *cpu)
{
	if (cpu == m->current)
		return;
	cpu_save(m->core, m->current->state);
	cpu_load(m->core, cpu->state, cpu->id);
	m->current = cpu;
}

uint64_t machine_wait_deadline(const struct machine_cpu *cpu)
{
	/* Waiting retires nothing, so cycles alone bring a wrap nearer: with one
	 * cycle an instruction the deadline in instructions is one in cycles. */
	uint64_t cycles = pmuv3_deadline(&cpu->pmu, EL1, 1);

	if (cpu->machine->timers) {
		uint64_t timer = gtimer_deadline(&cpu->timer);

		if (cycles > timer)
			cycles = timer;
	}
	return cycles;
}

void machine_wait(struct machine *m, uint64_t cycles)
{
	struct pmuv3_step step = { .cycles = cycles, .el = EL1 };

	m->now += cycles;
	pmuv3_advance(&m->current->pmu, &step);
	if (m->timers)
		gtimer_update(&m->current->timer);
}

void machine_spend(struct machine *m, uint64_t cycles)
{
	advance(m, cycles, EL1);
}

bool machine_sysreg_read(struct machine *m, uint32_t enc, uint64_t *value)
{
	if (read_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_read(m->core, enc, value);
}

bool machine_sysreg_write(struct machine *m, uint32_t enc, uint64_t value)
{
	if (write_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_write(m->core, enc, value);
}

bool machine_mmio_read(struct machine *m, uint64_t pa, uint32_t *value)
{
	return pa >= MACHINE_GICR_SGI && pa < MACHINE_GICR_SGI + 0x10000 &&
	       !gic_ppi_redist_read(&m->current->gic, (uint32_t)(pa - MACHINE_GICR_SGI),
				    value);
}

bool machine_mmio_write(struct machine *m, uint64_t pa, uint32_t value)
{
	return pa >= MACHINE_GICR_SGI && pa < MACHINE_GICR_SGI + 0x10000 &&
	       !gic_ppi_redist_write(&m->current->gic, (uint32_t)(pa - MACHINE_GICR_SGI),
				     value);
}

void *machine_ram(struct machine *m, uint64_t pa, size_t n)
{
	if (pa < MACHINE_RAM_BASE || n > m->config.ram_size ||
	    pa - MACHINE_RAM_BASE > m->config.ram_size - n)
		return NULL;
	return m->ram + (pa - MACHINE_RAM_BASE);
}

const char *machine_error(const struct machine *m)
{
	return m->error;
}
