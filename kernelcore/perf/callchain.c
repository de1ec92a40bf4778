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

enum {
	/* Linux gets a buffer for each of four levels by one kmalloc() a CPU, which
	 * gives no more than 4 MiB. */
	LEVELS = 4,
	KMALLOC_MAX = 4 << 20,
	/* What ksys_alloc() has room for; a record has less, see sample.c. */
	MAX_ENTRIES = 8191,
};

/* Frames count against the limit of the event, marks against that of contexts: behind
 * a mark for which there is no room nothing is taken any more. */
struct chain {
	uint64_t *words; /* their number first */
	unsigned entries, frames, max, marks, max_marks;
	bool full;
};

static void release(struct kperf *perf)
{
	for (unsigned i = 0; i < KSYS_MAX_CPUS; i++) {
		ksys_free(perf->sys, perf->cpus[i].chain);
		perf->cpus[i].chain = NULL;
	}
}

static int allocate(struct kperf *perf)
{
	uint64_t entries = (uint64_t)(ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_STACK) +
				      ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_CONTEXTS));

	if (LEVELS * (1 + entries) * sizeof(uint64_t) > KMALLOC_MAX)
		return -ENOMEM;
	perf->chain_entries = entries < MAX_ENTRIES ? (unsigned)entries : MAX_ENTRIES;
	for (unsigned i = 0; i < ksys_ncpus(perf->sys) && i < KSYS_MAX_CPUS; i++) {
		perf->cpus[i].chain = ksys_alloc(
			perf->sys, (1 + perf->chain_entries) * sizeof(uint64_t));
		if (!perf->cpus[i].chain) {
			release(perf);
			return -ENOMEM;
		}
	}
	return 0;
}

int perf_callchain_get(struct kperf *perf, const struct kperf_event *event)
{
	int ret = 0;

	if (event->attr.u.a.sample_max_stack >
	    ksys_sysctl(perf->sys, KSYS_SYSCTL_MAX_STACK))
		return -EOVERFLOW;
	if (!perf->chain_events)
		ret = allocate(perf);
	perf->chain_events += !ret;
	return ret;
}

void perf_callchain_put(struct kperf *perf)
{
	if (!--perf->chain_events)
		release(perf);
}

static void add(struct chain *chain, uint64_t entry)
{
	if (chain->words[0] < chain->entries)
		chain->words[1 + chain->words[0]++] = entry;
}

static void add_mark(struct chain *chain, uint64_t mark)
{
	chain->full = chain->marks == chain->max_marks;
	if (chain->full)
		return;
	chain->marks++;
	add(chain, mark);
}

static bool add_frame(struct chain *chain, uint64_t ip)
{
	if (chain->full || chain->frames == chain->max)
		return false;
	chain->frames++;
	add(chain, ip);
	return true;
}

/* Linux user_backtrace(): a frame record is {caller's fp, lr}, 8-byte aligned,
 * and callers lie at higher addresses, so the walk ends. User memory may hold
 * anything. */
static void add_user(struct ksys *sys, struct chain *chain, const struct hal_regs *regs)
{
	uint64_t record[2], fp = regs->x[X_FP];

	if (!add_frame(chain, regs->pc))
		return;
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
			       const struct hal_regs *regs, unsigned room)
{
	const struct perf_event_attr *a = &event->attr.u.a;
	struct ksys *sys = cpu->perf->sys;
	const struct ksys_task *current = ksys_current(sys), *target = event->ctx->task;
	struct chain chain = {
		.words = cpu->chain,
		.entries = room < cpu->perf->chain_entries ? room : cpu->perf->chain_entries,
		.max = a->sample_max_stack,
		.max_marks = (unsigned)ksys_sysctl(sys, KSYS_SYSCTL_MAX_CONTEXTS),
	};
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
