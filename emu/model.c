/* SPDX-License-Identifier: MIT */
#include "emu/model.h"

#include <errno.h>
#include <string.h>

enum { INSN_BYTES = 4 };

int model_init(struct model *model, const struct model_config *config)
{
	struct timing_config timing = {
		.model = config->timing,
		.predictor = config->predictor,
		.skid = config->skid,
	};

	model->predictor = config->predictor;
	model->caches = config->l1i.sets != 0;
	predict_reset(&model->predict);
	model->fetched = UINT64_MAX;
	if (model->caches) {
		if (cache_init(&model->l1i, &config->l1i) ||
		    cache_init(&model->l1d, &config->l1d))
			return -EINVAL;
		timing.l1i_line = config->l1i.line;
		timing.l1d_line = config->l1d.line;
	}
	if (timing_init(&model->timing, &timing))
		return -EINVAL;
	model->always = timing_is_flat(&model->timing) ? 0 : MODEL_BIT(CYCLE);
	if (timing_needs(&model->timing) >> TIMING_TAKEN & 1)
		model->always |= MODEL_BIT(PC_WRITE);
	if (timing_needs(&model->timing) >> TIMING_MISPREDICT & 1)
		model->always |= MODEL_BIT(BR_MIS_PRED);
	if (timing_needs(&model->timing) >> TIMING_L1I_REFILL & 1)
		model->always |= MODEL_BIT(L1I_REFILL);
	if (timing_needs(&model->timing) >> TIMING_L1D_REFILL & 1)
		model->always |= MODEL_BIT(L1D_REFILL);
	return 0;
}

/* Instructions are counted anyway, exceptions by whoever takes them. */
uint32_t model_watch(const struct model *model, uint32_t signals)
{
	uint32_t watch = signals & ~(MODEL_BIT(INSN) | MODEL_BIT(EXC_TAKEN));

	if (timing_is_flat(&model->timing))
		watch &= ~(MODEL_BIT(CYCLE) | MODEL_BIT(STALL_FRONTEND) |
			   MODEL_BIT(STALL_BACKEND));
	return watch | model->always;
}

/* -- what words say ------------------------------------------------------- */

void model_decode(const struct model *model, uint32_t word, struct model_insn *insn)
{
	struct insn_counts counts = { 0 };

	insn_count(&counts, word);
	*insn = (struct model_insn){
		.word = word,
		.classes = insn_classify(word),
		.ones = MODEL_BIT(INSN) | MODEL_BIT(INST_SPEC) | MODEL_BIT(L1I) |
			(counts.ld ? MODEL_BIT(LD) : 0) | (counts.st ? MODEL_BIT(ST) : 0) |
			(counts.br ? MODEL_BIT(BR) : 0) |
			(counts.br_immed ? MODEL_BIT(BR_IMMED) : 0) |
			(counts.br_return ? MODEL_BIT(BR_RETURN) : 0) |
			(counts.pc_write ? MODEL_BIT(PC_WRITE) : 0) |
			(counts.exc_return ? MODEL_BIT(EXC_RETURN) : 0) |
			(counts.cid_write ? MODEL_BIT(CID_WRITE) : 0),
		.access = insn_access(word),
		.cost = timing_insn(&model->timing, word),
		.status = (int8_t)insn_status_register(word),
		.mem = (uint8_t)counts.mem,
	};
	if (predict_covers(insn->classes))
		insn->ones |= MODEL_BIT(BR_PRED);
}

static void add_stalls(uint32_t *signal, struct timing_cost cost)
{
	signal[PMUV3_SIG_STALL_FRONTEND] += cost.frontend;
	signal[PMUV3_SIG_STALL_BACKEND] += cost.backend;
	signal[PMUV3_SIG_CYCLE] += cost.frontend + cost.backend;
	signal[PMUV3_SIG_BUS_CYCLES] += cost.frontend + cost.backend;
}

/* Lines that @n instructions touch wherever they begin in one. */
static uint32_t lines(const struct model *model, unsigned n)
{
	return model->caches ? (n * INSN_BYTES - INSN_BYTES) / model->l1i.config.line + 2 :
			       0;
}

/* What may come to a block in the end: its branch, and its lines. */
static void bound(const struct model *model, unsigned n, uint32_t *signal)
{
	const struct timing *timing = &model->timing;

	signal[PMUV3_SIG_PC_WRITE]++;
	signal[PMUV3_SIG_BR_MIS_PRED]++;
	signal[PMUV3_SIG_L1I_REFILL] += lines(model, n);
	add_stalls(signal, timing_extra(timing, TIMING_TAKEN, 1));
	add_stalls(signal, timing_extra(timing, TIMING_MISPREDICT, 1));
	add_stalls(signal, timing_extra(timing, TIMING_L1I_REFILL, lines(model, n)));
}

bool model_is_blind(const struct model_insn *insn)
{
	uint64_t target;

	return insn->classes & INSN_BR_COND && insn_branch_target(insn->word, 0, &target) &&
	       target == INSN_BYTES;
}

void model_sum(const struct model *model, const struct model_insn *insn, unsigned n,
	       struct model_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < n; i++) {
		for (uint32_t left = insn[i].ones; left; left &= left - 1)
			sum->sum[__builtin_ctz(left)]++;
		sum->sum[PMUV3_SIG_MEM] += insn[i].mem;
		sum->sum[PMUV3_SIG_CYCLE]++;
		sum->sum[PMUV3_SIG_BUS_CYCLES]++;
		add_stalls(sum->sum, insn[i].cost);
		if (insn[i].status >= 0)
			sum->exclusive = true;
	}
	sum->blind = n && model_is_blind(&insn[n - 1]);
	memcpy(sum->bound, sum->sum, sizeof(sum->bound));
	bound(model, n, sum->bound);
}

/* -- counting ------------------------------------------------------------- */

static void stall(struct model_tally *tally, struct timing_cost cost)
{
	if (!(cost.frontend | cost.backend))
		return;
	model_add(tally, PMUV3_SIG_STALL_FRONTEND, cost.frontend);
	model_add(tally, PMUV3_SIG_STALL_BACKEND, cost.backend);
	model_add(tally, PMUV3_SIG_CYCLE, cost.frontend + cost.backend);
	model_add(tally, PMUV3_SIG_BUS_CYCLES, cost.frontend + cost.backend);
}

static void extra(struct model *model, struct model_tally *tally, enum timing_extra what,
		  uint32_t n)
{
	stall(tally, timing_extra(&model->timing, what, n));
}

void model_insn(struct model_tally *tally, const struct model_insn *insn, bool failed)
{
	const uint32_t ones = insn->ones & ~(failed ? MODEL_STATUS : 0);

	for (uint32_t left = ones & tally->watch; left; left &= left - 1)
		model_add(tally, (unsigned)__builtin_ctz(left), 1);
	if (insn->mem && !failed)
		model_add(tally, PMUV3_SIG_MEM, insn->mem);
	model_add(tally, PMUV3_SIG_CYCLE, 1);
	model_add(tally, PMUV3_SIG_BUS_CYCLES, 1);
	stall(tally, insn->cost);
}

void model_block(struct model_tally *restrict tally, const struct model_sum *restrict sum)
{
	for (unsigned i = 0; i < MODEL_LANES; i++)
		tally->signal[i] += sum->sum[i];
}

/* Signed, which hosts compare faster; rooms are below half of the range. */
bool model_fits(const struct model_tally *tally, const struct model_sum *sum)
{
	uint32_t full = 0;

	for (unsigned i = 0; i < MODEL_LANES; i++)
		full |= (int32_t)(tally->signal[i] + sum->bound[i]) >= (int32_t)tally->room[i];
	return !full;
}

static void fetch_line(struct model *model, struct model_tally *tally, uint64_t pa)
{
	unsigned refills;

	model->fetched = pa >> model->l1i.shift;
	refills = cache_access(&model->l1i, pa, INSN_BYTES, false);
	if (!refills)
		return;
	model_add(tally, PMUV3_SIG_L1I_REFILL, refills);
	extra(model, tally, TIMING_L1I_REFILL, refills);
}

void model_fetch(struct model *model, struct model_tally *tally, uint64_t pa, unsigned n)
{
	const uint64_t line = model->l1i.config.line, end = pa + (uint64_t)n * INSN_BYTES;

	if (!model->caches || !(tally->watch & MODEL_BIT(L1I_REFILL)))
		return;
	for (; pa < end; pa = (pa & ~(line - 1)) + line)
		if (pa >> model->l1i.shift != model->fetched)
			fetch_line(model, tally, pa);
}

void model_branch(struct model *model, struct model_tally *tally,
		  const struct model_insn *insn, uint64_t pc, uint64_t next, bool taken)
{
	if (!(insn->classes & INSN_BRANCH))
		return;
	if (!(insn->classes & INSN_BR_COND) || next != pc + INSN_BYTES)
		taken = true;
	if (insn->classes & INSN_BR_COND && taken)
		model_add(tally, PMUV3_SIG_PC_WRITE, 1);
	if (taken && !model->predictor && !(insn->classes & INSN_ERET))
		extra(model, tally, TIMING_TAKEN, 1);
	if (!model->predictor || !(tally->watch & MODEL_BIT(BR_MIS_PRED)))
		return;
	if (predict_classified(&model->predict, pc, insn->classes, taken, next)) {
		model_add(tally, PMUV3_SIG_BR_MIS_PRED, 1);
		extra(model, tally, TIMING_MISPREDICT, 1);
	}
}

/* The lines of one access, and those that had to be brought in. */
static void look_up(struct model *model, struct model_tally *tally, uint64_t va,
		    unsigned size, bool write, model_translate_fn translate, void *opaque)
{
	const unsigned line = model->l1d.config.line;
	uint32_t n = cache_lines(&model->l1d, va, size), refills = 0;
	uint64_t pa;

	model_add(tally, PMUV3_SIG_L1D, n);
	if (!(tally->watch & MODEL_BIT(L1D_REFILL)))
		return;
	for (; n; n--, va = (va & ~(uint64_t)(line - 1)) + line)
		if (translate(opaque, va, &pa))
			refills += cache_access(&model->l1d, pa, 1, write);
	model_add(tally, PMUV3_SIG_L1D_REFILL, refills);
	extra(model, tally, TIMING_L1D_REFILL, refills);
}

void model_data(struct model *model, struct model_tally *tally,
		const struct model_insn *insn, uint64_t va, model_translate_fn translate,
		void *opaque)
{
	const struct insn_access *access = &insn->access;

	if (!access->size)
		return;
	if (insn_unaligned(access, va))
		model_add(tally, PMUV3_SIG_UNALIGNED, 1);
	if (!translate || !model->caches ||
	    !(tally->watch & (MODEL_BIT(L1D) | MODEL_BIT(L1D_REFILL))))
		return;
	for (unsigned i = 0; i < access->reads; i++)
		look_up(model, tally, va + i * access->size, access->size, false,
			translate, opaque);
	for (unsigned i = 0; i < access->writes; i++)
		look_up(model, tally, va + i * access->size, access->size, true, translate,
			opaque);
}

void model_exception(struct model *model, struct model_tally *tally)
{
	extra(model, tally, TIMING_EXCEPTION, 1);
}
