/* SPDX-License-Identifier: MIT */
#include "kernelcore/perf/callchain.h"

#include <asm-generic/errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>

#include "kernelcore/hal.h"
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/perf.h"

enum {
	X_FP = 29
};

/* Frames count against the limit of the event, context marks do not. */
struct chain {
	uint64_t *words; /* their number first */
	unsigned frames, max;
};

int perf_callchain_check(const struct kperf_event *event)
{
	const struct perf_event_attr *a = &event->attr.u.a;

	return a->sample_type & PERF_SAMPLE_CALLCHAIN &&
			       a->sample_max_stack > PERF_CHAIN_FRAMES
		       ? -EOVERFLOW
		       : 0;
}

static void add_mark(struct chain *chain, uint64_t mark)
{
	chain->words[1 + chain->words[0]++] = mark;
}

static bool add_frame(struct chain *chain, uint64_t ip)
{
	if (chain->frames == chain->max)
		return false;
	chain->frames++;
	chain->words[1 + chain->words[0]++] = ip;
	return true;
}

/* Linux user_backtrace(): a frame record is {caller's fp, lr}, 8-byte aligned,
 * and callers lie at higher addresses, so the walk ends. User memory may hold
 * anything. */
static void add_user(struct ksys *sys, struct chain *chain, const struct hal_regs *regs)
{
	uint64_t record[2], fp = regs->x[X_FP];

	add_frame(chain, regs->pc);
	while (chain->frames < chain->max && fp && !(fp & 7)) {
		if (ksys_copy_from_user_nofault(sys, record, fp, sizeof(record)))
			return;
		if (!add_frame(chain, record[1]) || record[0] <= fp)
			return;
		fp = record[0];
	}
}

/* Linux get_perf_callchain(). This kernel keeps no frame records of its own
 * that could be walked: its part is where it was interrupted. */
const uint64_t *perf_callchain(struct perf_cpu *cpu, const struct kperf_event *event,
			       const struct hal_regs *regs)
{
	const struct perf_event_attr *a = &event->attr.u.a;
	struct ksys *sys = cpu->perf->sys;
	const struct ksys_task *current = ksys_current(sys), *target = event->ctx->task;
	struct chain chain = {.words = cpu->chain, .max = a->sample_max_stack};
	struct hal_regs user;

	chain.words[0] = 0;
	if (!a->exclude_callchain_kernel && !hal_regs_user(regs)) {
		add_mark(&chain, PERF_CONTEXT_KERNEL);
		add_frame(&chain, regs->pc);
	}
	/* nobody's user stack, or one that is not the event's to see */
	if (a->exclude_callchain_user || !current || (target && target != current))
		return chain.words;
	hal_user_regs(cpu->hal, &user);
	add_mark(&chain, PERF_CONTEXT_USER);
	add_user(sys, &chain, &user);
	return chain.words;
}
