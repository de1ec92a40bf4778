/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "emu/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20 };
enum { EL0 = 0, EL1 = 1, CYCLES_PER_INSN = 1 /* timing icount */ };

static const uint16_t qemu_a57_events[] = { 0x00, 0x08, 0x11 };

static const struct machine_preset presets[] = {
	{
		.name = "qemu-a57",
		.what = "what QEMU 7.2's cortex-a57 has under -icount shift=0",
		.counters = 6,
		.pmuver = PMUV3_P0,
		.events = qemu_a57_events,
		.nevents = sizeof(qemu_a57_events) / sizeof(qemu_a57_events[0]),
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
 * the middle carries its own time; at EL0 the caller never passes one. */
static void advance(struct machine *m, uint64_t insns, unsigned el)
{
	while (insns) {
		uint64_t n = pmuv3_deadline(&m->pmu, el, CYCLES_PER_INSN);
		struct pmuv3_step step = { .el = el };

		if (n > insns)
			n = insns;
		step.insns = n;
		step.cycles = n * CYCLES_PER_INSN;
		m->now += step.cycles;
		pmuv3_advance(&m->pmu, &step);
		insns -= n;
	}
}

static void cpu_retired(void *opaque, uint64_t insns)
{
	struct machine *m = opaque;

	m->insns += insns;
	advance(m, insns, EL0);
}

static bool irq_deliverable(const struct machine *m)
{
	return m->irq && !m->user_irqs_masked;
}

static bool cpu_attention(void *opaque)
{
	return irq_deliverable(opaque);
}

static enum sysreg_result read_at(struct machine *m, uint32_t enc, unsigned el,
				  uint64_t *value)
{
	enum sysreg_result r = sysreg_read(m->blocks, MACHINE_BLOCKS, enc, el, value);

	if (r == SYSREG_OK)
		trace_emit(&m->bus, 0, TRACE_SYSREG_READ, enc, *value, 0);
	return r;
}

/* On the bus before its consequences are. */
static enum sysreg_result write_at(struct machine *m, uint32_t enc, unsigned el,
				   uint64_t value)
{
	enum sysreg_result r = sysreg_may_write(m->blocks, MACHINE_BLOCKS, enc, el);

	if (r != SYSREG_OK)
		return r;
	trace_emit(&m->bus, 0, TRACE_SYSREG_WRITE, enc, value, 0);
	return sysreg_write(m->blocks, MACHINE_BLOCKS, enc, el, value);
}

static enum sysreg_result cpu_sysreg_read_el0(void *opaque, uint32_t enc, uint64_t *value)
{
	return read_at(opaque, enc, EL0, value);
}

static enum sysreg_result cpu_sysreg_write_el0(void *opaque, uint32_t enc, uint64_t value)
{
	return write_at(opaque, enc, EL0, value);
}

static void gic_irq(void *opaque, int level)
{
	struct machine *m = opaque;

	m->irq = level;
}

static int init_devices(struct machine *m)
{
	const struct machine_preset *preset = m->config.preset;
	struct pmuv3_config pmu = {
		.counters = m->config.counters < 0 ? preset->counters :
						     (unsigned)m->config.counters,
		.version = preset->pmuver,
		.events = preset->events,
		.nevents = preset->nevents,
		.poison_reset = m->config.poison_reset,
		.idcode = 0x01,
		.imp = 0x41,
	};
	struct irq_line line = { 0 };

	gic_ppi_init(&m->gic, (struct irq_line){ gic_irq, m }, &m->bus, 0);
	if (!m->config.no_pmu_irq)
		line = gic_ppi_line(&m->gic, &m->pmu_pin, GIC_PPI_PMU);
	gtimer_init(&m->timer, &m->now, preset->cpu_hz, preset->cntfrq);
	m->blocks[0] = pmuv3_sysregs(&m->pmu);
	m->blocks[1] = gic_ppi_sysregs(&m->gic);
	m->blocks[2] = gtimer_sysregs(&m->timer);
	return pmuv3_init(&m->pmu, &pmu, line, &m->bus);
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
		.retired = cpu_retired,
		.attention = cpu_attention,
		.sysreg_read = cpu_sysreg_read_el0,
		.sysreg_write = cpu_sysreg_write_el0,
		.opaque = m,
	};

	if (!m) {
		snprintf(err, errsize, "out of memory");
		return NULL;
	}
	m->config = *config;
	trace_bus_init(&m->bus, &m->now);
	if (init_devices(m)) {
		snprintf(err, errsize, "no PMU with %d event counters", config->counters);
		machine_destroy(m);
		return NULL;
	}
	if (!map_ram(m)) {
		snprintf(err, errsize, "cannot reserve %zu bytes of RAM",
			 config->ram_size);
		machine_destroy(m);
		return NULL;
	}
	m->cpu = cpu_create(config->engine, MACHINE_RAM_BASE, m->ram, config->ram_size,
			    &ops, err, errsize);
	if (!m->cpu) {
		machine_destroy(m);
		return NULL;
	}
	return m;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	cpu_destroy(m->cpu);
	if (m->map)
		munmap(m->map, m->map_size);
	free(m);
}

/* The one machine-wide deadline, in instructions from now at EL0. */
static uint64_t deadline(const struct machine *m)
{
	uint64_t n = pmuv3_deadline(&m->pmu, EL0, CYCLES_PER_INSN);

	if (m->config.max_insns && n > m->config.max_insns - m->insns)
		n = m->config.max_insns - m->insns;
	return n;
}

enum machine_stop machine_run(struct machine *m)
{
	for (;;) {
		uint64_t budget;

		if (irq_deliverable(m))
			return MACHINE_STOP_IRQ;
		budget = deadline(m);
		if (!budget)
			return MACHINE_STOP_LIMIT;
		switch (cpu_run(m->cpu, budget, &m->exc)) {
		case CPU_STOP_BUDGET:
			break;
		case CPU_STOP_EXCEPTION:
			trace_emit(&m->bus, 0, TRACE_EXCEPTION, m->exc.esr, m->exc.elr,
				   m->exc.far);
			return MACHINE_STOP_EXCEPTION;
		case CPU_STOP_ERROR:
			snprintf(m->error, sizeof(m->error), "%s", cpu_error(m->cpu));
			return MACHINE_STOP_ERROR;
		}
	}
}

void machine_spend(struct machine *m, uint64_t cycles)
{
	advance(m, cycles / CYCLES_PER_INSN, EL1);
}

bool machine_sysreg_read(struct machine *m, uint32_t enc, uint64_t *value)
{
	if (read_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_read(m->cpu, enc, value);
}

bool machine_sysreg_write(struct machine *m, uint32_t enc, uint64_t value)
{
	if (write_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_write(m->cpu, enc, value);
}

bool machine_mmio_read(struct machine *m, uint64_t pa, uint32_t *value)
{
	return pa >= MACHINE_GICR_SGI && pa < MACHINE_GICR_SGI + 0x10000 &&
	       !gic_ppi_redist_read(&m->gic, (uint32_t)(pa - MACHINE_GICR_SGI), value);
}

bool machine_mmio_write(struct machine *m, uint64_t pa, uint32_t value)
{
	return pa >= MACHINE_GICR_SGI && pa < MACHINE_GICR_SGI + 0x10000 &&
	       !gic_ppi_redist_write(&m->gic, (uint32_t)(pa - MACHINE_GICR_SGI), value);
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
