/* SPDX-License-Identifier: MIT */
/* A task's life: fork, exec, and what it asks of all its events. */
#include "kernelcore/perf/event.h"
#include "kernelcore/perf/freq.h"
#include "kernelcore/perf/perf.h"

int kperf_fork(struct kperf *perf, struct ksys_task *parent, struct ksys_task *child,
	       uint64_t flags)
{
	/* no event is inherited yet */
	(void)perf;
	(void)parent;
	(void)flags;
	*ksys_task_perf(child) = NULL;
	return 0;
}

void kperf_exec(struct kperf *perf, struct ksys_task *task)
{
	(void)perf;
	(void)task;
}

void kperf_task_free(struct kperf *perf, struct ksys_task *task)
{
	(void)perf;
	(void)task;
}

long kperf_prctl(struct kperf *perf, bool enable)
{
	struct ksys_task *task = ksys_current(perf->sys);
	struct kperf_event *event;

	perf_list_for_each(event, &perf->events, struct kperf_event, all)
	{
		if (event->observer != task)
			continue;
		if (enable)
			perf_ctx_enable(event);
		else
			perf_ctx_disable(event);
	}
	return 0;
}

void kperf_tick(struct kperf *perf, struct hal *hal, const struct hal_regs *regs)
{
	(void)regs;
	perf_freq_tick(perf_this_cpu(perf, hal));
}

void kperf_sw_event(struct kperf *perf, struct hal *hal, enum kperf_sw sw, uint64_t nr,
		    const struct hal_regs *regs, uint64_t addr)
{
	(void)perf;
	(void)hal;
	(void)sw;
	(void)nr;
	(void)regs;
	(void)addr;
}
