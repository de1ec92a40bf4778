/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "emu/machine.h"
#include "emu/debug.h"
#include "emu/machine-ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20 };
enum { EL0 = 0, EL1 = 1 };

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
		.predictor = true,
		.l1i = { .sets = 64, .ways = 2, .line = 64, .policy = CACHE_LRU },
		.l1d = { .sets = 64, .ways = 2, .line = 64, .policy = CACHE_LRU },
	},
	{
		.name = "full-p4",
		.what = "the same as PMUv3 p4: 32-bit counters, joined by CHAIN",
		.counters = 6,
		.pmuver = PMUV3_P4,
		.events = full_events,
		.nevents = sizeof(full_events) / sizeof(full_events[0]),
		.cpu_hz = 1000000000,
		.cntfrq = 62500000,
		.predictor = true,
		.l1i = { .sets = 64, .ways = 2, .line = 64, .policy = CACHE_LRU },
		.l1d = { .sets = 64, .ways = 2, .line = 64, .policy = CACHE_LRU },
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

/* -- time ----------------------------------------------------------------- */

static void count(struct machine *m, const struct pmuv3_step *step)
{
	m->now += step->cycles;
	pmuv3_advance(&m->current->pmu, step);
	if (m->timers)
		gtimer_update(&m->current->timer);
}

static void core_retired(void *opaque, const struct cpu_work *work)
{
	struct machine *m = opaque;
	const struct pmuv3_step step = {
		.insns = work->insns,
		.cycles = work->cycles,
		.el = cpu_el(m->core),
		.signal = work->signal,
	};

	m->insns += work->insns;
	m->current->ss = false;
	m->current->pmu.pc = cpu_last_pc(m->core);
	count(m, &step);
	m->current->pmu.pc = 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t slice_left(const struct machine *m)
{
	return m->now < m->slice_end ? m->slice_end - m->now : 0;
}

/* Cycles until something else than a counter and the slice must be looked at. */
static uint64_t cycles_left(const struct machine *m)
{
	const struct machine_cpu *cpu = m->current;
	uint64_t n = UINT64_MAX;

	if (m->timers)
		n = least(n, gtimer_deadline(&cpu->timer));
	if (cpu->irq && cpu->irq_due > m->now)
		n = least(n, cpu->irq_due - m->now);
	return n;
}

/* Every ERET to EL0 makes the core ask for a budget, or stop: seen at its time. */
static void see_el(struct machine *m)
{
	bool at_el1 = cpu_el(m->core);

	if (m->current->at_el1 && !at_el1) {
		trace_emit(&m->bus, m->current->id, TRACE_ERET, cpu_pc(m->core),
			   cpu_pstate(m->core), 0);
		debug_returned(m);
	}
	m->current->at_el1 = at_el1;
}

static uint64_t insns_left(const struct machine *m)
{
	return m->config.max_insns ? m->config.max_insns - m->insns : UINT64_MAX;
}

/* The one machine-wide deadline. */
static void core_grant(void *opaque, struct cpu_grant *grant)
{
	struct machine *m = opaque;
	const struct machine_cpu *cpu = m->current;
	uint64_t room[PMUV3_SIGNALS];

	see_el(m);
	pmuv3_rooms(&cpu->pmu, cpu_el(m->core), room);
	grant->watch = model_watch(&cpu->model, pmuv3_signals(&cpu->pmu));
	m->soft_slice = !m->config.el0_only && !(grant->watch & MODEL_BIT(CYCLE));
	grant->soft = m->soft_slice ? slice_left(m) : UINT64_MAX;
	room[PMUV3_SIG_CYCLE] = least(room[PMUV3_SIG_CYCLE], cycles_left(m));
	if (!m->soft_slice)
		room[PMUV3_SIG_CYCLE] = least(room[PMUV3_SIG_CYCLE], slice_left(m));
	grant->insns = least(room[PMUV3_SIG_INSN], insns_left(m));
	if (debug_armed(m))
		grant->insns = least(grant->insns, m->looked == m->insns);
	if (!(grant->watch & MODEL_BIT(CYCLE)))
		grant->insns = least(grant->insns, room[PMUV3_SIG_CYCLE]);
	for (uint32_t left = grant->watch; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctz(left);

		grant->room[i] = (uint32_t)least(room[i], MODEL_ROOM);
	}
}

/* Cycles of the machine's own, or instructions of a kernel outside: until a
 * counter at @el may wrap. */
static uint64_t plain_room(const struct pmuv3 *pmu, unsigned el)
{
	return pmuv3_room(pmu, el,
			  MODEL_BIT(INSN) | MODEL_BIT(CYCLE) | MODEL_BIT(INST_SPEC) |
				  MODEL_BIT(L1I) | MODEL_BIT(BUS_CYCLES));
}

/* @n plain instructions, a cycle each, in steps that end at each wrap, so that one
 * in the middle carries its own time. */
static void advance(struct machine *m, uint64_t n, unsigned el)
{
	while (n) {
		const uint64_t most = least(plain_room(&m->current->pmu, el), MODEL_ROOM);
		const uint64_t now = least(n, most);
		const uint32_t signal[PMUV3_SIGNALS] = {
			[PMUV3_SIG_INST_SPEC] = (uint32_t)now,
			[PMUV3_SIG_L1I] = (uint32_t)now,
			[PMUV3_SIG_BUS_CYCLES] = (uint32_t)now,
		};
		const struct pmuv3_step step = {
			.insns = now,
			.cycles = now,
			.el = el,
			.signal = signal,
		};

		count(m, &step);
		n -= now;
	}
}

/* -- what the core asks for ------------------------------------------------ */

bool machine_irq(const struct machine *m)
{
	return m->current->irq && m->now >= m->current->irq_due;
}

static bool core_irq(void *opaque)
{
	return machine_irq(opaque);
}

static struct sysreg_hit register_at(const struct machine *m, uint32_t enc)
{
	return sysreg_map_find(&m->sysregs, m->current->blocks, enc);
}

static bool core_owns(void *opaque, uint32_t enc)
{
	return register_at(opaque, enc).desc;
}

static enum sysreg_result read_at(struct machine *m, uint32_t enc, unsigned el,
				  uint64_t *value)
{
	const struct sysreg_hit hit = register_at(m, enc);
	const enum sysreg_result r = sysreg_may(&hit, el, 0);

	if (r != SYSREG_OK)
		return r;
	*value = sysreg_get(&hit);
	trace_emit(&m->bus, m->current->id, TRACE_SYSREG_READ, enc, *value, 0);
	return r;
}

/* On the bus before its consequences are. */
static enum sysreg_result write_at(struct machine *m, uint32_t enc, unsigned el,
				   uint64_t value)
{
	const struct sysreg_hit hit = register_at(m, enc);
	const enum sysreg_result r = sysreg_may(&hit, el, 1);

	if (r != SYSREG_OK)
		return r;
	trace_emit(&m->bus, m->current->id, TRACE_SYSREG_WRITE, enc, value, 0);
	sysreg_set(&hit, el, value);
	return r;
}

static enum sysreg_result core_sysreg_read(void *opaque, uint32_t enc, unsigned el,
					   uint64_t *value)
{
	return read_at(opaque, enc, el, value);
}

static enum sysreg_result core_sysreg_may_write(void *opaque, uint32_t enc, unsigned el)
{
	const struct sysreg_hit hit = register_at(opaque, enc);

	return sysreg_may(&hit, el, 1);
}

static enum sysreg_result core_sysreg_write(void *opaque, uint32_t enc, unsigned el,
					    uint64_t value)
{
	return write_at(opaque, enc, el, value);
}

static void gic_irq(void *opaque, int level)
{
	struct machine_cpu *cpu = opaque;
	struct machine *m = cpu->machine;

	if (level && !cpu->irq)
		cpu->irq_due = timing_due(&cpu->model.timing, cpu->machine->now);
	cpu->irq = level;
	if (level && m->alone && cpu != m->current)
		m->slice_end = m->now;
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
	const struct model_config model = {
		.timing = m->config.timing ? m->config.timing : timing_model("icount"),
		.skid = m->config.skid,
		.predictor = preset->predictor,
		.l1i = preset->l1i,
		.l1d = preset->l1d,
	};
	struct irq_line line = { 0 };

	if (model_init(&cpu->model, &model))
		return -1;
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
	if (rc || sysreg_map_init(&m->sysregs, m->cpu[0].blocks, MACHINE_BLOCKS))
		return -1;
	m->current = &m->cpu[0];
	m->loaded = m->current;
	m->current->on = true;
	m->slice_end = UINT64_MAX;
	return 0;
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
		.grant = core_grant,
		.irq = core_irq,
		.owns = core_owns,
		.sysreg_read = core_sysreg_read,
		.sysreg_may_write = core_sysreg_may_write,
		.sysreg_write = core_sysreg_write,
		.opaque = m,
		.el0_only = config->el0_only,
		.traits = config->traits,
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
	cpu_set_model(m->core, &m->current->model);
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

static void load_current(struct machine *m)
{
	cpu_save(m->core, m->loaded->state);
	cpu_load(m->core, m->current->state);
	m->loaded = m->current;
}

struct cpu *machine_core(struct machine *m)
{
	if (m->loaded != m->current)
		load_current(m);
	return m->core;
}

/* Where it is soft, with the first branch from its end on. Whoever calls
 * machine_run() is behind an exception, which does as well. */
static bool slice_is_over(struct machine *m)
{
	if (m->insns != m->looked)
		m->at_branch = !m->soft_slice || m->now < m->slice_end ||
			       cpu_at_branch(m->core);
	return m->now >= m->slice_end && m->at_branch;
}

enum machine_stop machine_run(struct machine *m)
{
	machine_core(m);
	m->looked = m->insns;
	m->at_branch = true;
	for (;;) {
		enum cpu_stop stop;

		see_el(m);
		m->exc.began = false;
		if (slice_is_over(m))
			return MACHINE_STOP_SLICE;
		if (!insns_left(m))
			return MACHINE_STOP_LIMIT;
		if (debug_due(m)) {
			trace_emit(&m->bus, m->current->id, TRACE_EXCEPTION, m->exc.esr,
				   m->exc.elr, m->exc.far);
			return MACHINE_STOP_EXCEPTION;
		}
		m->looked = m->insns;
		stop = cpu_run(m->core, UINT64_MAX, &m->exc);
		see_el(m);
		switch (stop) {
		case CPU_STOP_BUDGET:
			break;
		case CPU_STOP_IRQ:
			/* Whether the engine sees it before it comes back for
			 * something else is its own affair: that comes first. */
			if (slice_is_over(m))
				return MACHINE_STOP_SLICE;
			if (m->looked == m->insns || !debug_armed(m))
				return MACHINE_STOP_IRQ;
			break;
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

/* -- what the caller does for the guest ------------------------------------ */

void machine_emulated(struct machine *m)
{
	m->exc.began = false;
	cpu_emulated(m->core, &m->exc);
}

/* One step without an instruction. Where the kernel is outside, its operations
 * have costs of their own. */
void machine_exception_taken(struct machine *m, unsigned el)
{
	uint32_t signal[PMUV3_SIGNALS] = { 0 };
	struct pmuv3_step step = { .el = el, .signal = signal };

	cpu_add_exception(m->core, &m->exc, !m->config.el0_only, signal);
	m->exc.began = false;
	signal[PMUV3_SIG_EXC_TAKEN] = 1;
	step.cycles = signal[PMUV3_SIG_CYCLE];
	count(m, &step);
}

void machine_exception_return(struct machine *m)
{
	static const uint32_t signal[PMUV3_SIGNALS] = {
		[PMUV3_SIG_EXC_RETURN] = 1,
		[PMUV3_SIG_BR] = 1,
		[PMUV3_SIG_PC_WRITE] = 1,
	};
	const struct pmuv3_step step = { .el = EL1, .signal = signal };

	count(m, &step);
}

void machine_start_cpu(struct machine *m, struct machine_cpu *cpu, uint64_t pc,
		       uint64_t x0)
{
	struct machine_cpu *loaded = m->loaded;

	cpu_save(m->core, loaded->state);
	cpu_load(m->core, m->reset_state);
	cpu_set_pc(m->core, pc);
	cpu_set_x(m->core, 0, x0);
	cpu_save(m->core, cpu->state);
	cpu_load(m->core, loaded->state);
	cpu->on = true;
	cpu->waiting = false;
	if (m->alone)
		m->slice_end = m->now;
}

void machine_switch(struct machine *m, struct machine_cpu *cpu)
{
	m->current = cpu;
	cpu_set_model(m->core, &cpu->model);
}

uint64_t machine_wait_deadline(const struct machine_cpu *cpu)
{
	uint64_t cycles = plain_room(&cpu->pmu, EL1);

	if (cpu->machine->timers)
		cycles = least(cycles, gtimer_deadline(&cpu->timer));
	return least(cycles, MODEL_ROOM);
}

/* Waiting retires nothing: cycles alone bring a wrap nearer. */
void machine_wait(struct machine *m, uint64_t cycles)
{
	const uint32_t signal[PMUV3_SIGNALS] = {
		[PMUV3_SIG_BUS_CYCLES] = (uint32_t)cycles,
	};
	const struct pmuv3_step step = { .cycles = cycles, .el = EL1, .signal = signal };

	count(m, &step);
}

void machine_spend(struct machine *m, uint64_t cycles)
{
	advance(m, cycles, EL1);
}

bool machine_sysreg_read(struct machine *m, uint32_t enc, uint64_t *value)
{
	if (read_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_read(machine_core(m), enc, value);
}

bool machine_sysreg_write(struct machine *m, uint32_t enc, uint64_t value)
{
	if (write_at(m, enc, EL1, value) == SYSREG_OK)
		return true;
	return cpu_sysreg_write(machine_core(m), enc, value);
}

const char *machine_sysreg_name(uint32_t enc, char *buf, size_t size)
{
	const struct sysreg_block blocks[MACHINE_BLOCKS] = {
		pmuv3_sysregs(NULL),
		gic_ppi_sysregs(NULL),
		gtimer_sysregs(NULL),
		machine_ids_sysregs(NULL),
	};

	return sysreg_name(blocks, MACHINE_BLOCKS, enc, buf, size);
}

/* Whose redistributor, and where in its SGI_base frame. */
static struct gic_ppi *redistributor(struct machine *m, uint64_t pa, uint32_t *offset)
{
	const uint64_t at = pa - MACHINE_GICR_SGI, cpu = at / MACHINE_GICR_STRIDE;

	*offset = (uint32_t)(at % MACHINE_GICR_STRIDE);
	if (pa < MACHINE_GICR_SGI || cpu >= m->ncpus || *offset >= 0x10000)
		return NULL;
	return &m->cpu[cpu].gic;
}

bool machine_mmio_read(struct machine *m, uint64_t pa, uint32_t *value)
{
	uint32_t offset;
	struct gic_ppi *gic = redistributor(m, pa, &offset);

	return gic && !gic_ppi_redist_read(gic, offset, value);
}

bool machine_mmio_write(struct machine *m, uint64_t pa, uint32_t value)
{
	uint32_t offset;
	struct gic_ppi *gic = redistributor(m, pa, &offset);

	return gic && !gic_ppi_redist_write(gic, offset, value);
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
