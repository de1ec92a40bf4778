/* SPDX-License-Identifier: MIT */
/*
 * The scheduler. Deterministic: a FIFO of ready tasks a CPU, slices that end at a
 * tick, no preemption by a task that wakes up. A seed (kentry_seed()) makes slices
 * and places random, the same ones each time.
 */
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/nr.h"

enum {
	/* Of a tick's 4 ms: who came in less than this ago stays until the next
	 * (as Linux's CFS with its least granularity does with a few tasks). */
	SLICE_NS = 3000000,
	SEEDED_SLICE_MIN = 300, /* ns */
	SEEDED_SLICE_SPAN = 24000,
};

/* -- queues ---------------------------------------------------------------- */

static void push(struct task_queue *queue, struct ksys_task *task)
{
	task->next = NULL;
	if (queue->tail)
		queue->tail->next = task;
	else
		queue->head = task;
	queue->tail = task;
}

static void take(struct task_queue *queue, struct ksys_task *task)
{
	struct ksys_task **at = &queue->head, *before = NULL;

	while (*at != task) {
		before = *at;
		at = &before->next;
	}
	*at = task->next;
	if (queue->tail == task)
		queue->tail = before;
}

static struct ksys_task *pop(struct sys_cpu *cpu)
{
	struct ksys_task *task = cpu->ready.head;

	if (task) {
		take(&cpu->ready, task);
		cpu->nready--;
	}
	return task;
}

static unsigned cpu_number(const struct ksys *sys, const struct sys_cpu *cpu)
{
	return (unsigned)(cpu - sys->cpu);
}

/* -- placement --------------------------------------------------------------- */

/* xorshift64: Marsaglia, "Xorshift RNGs". */
static uint64_t roll(struct ksys *sys, uint64_t n)
{
	sys->seed ^= sys->seed << 13;
	sys->seed ^= sys->seed >> 7;
	sys->seed ^= sys->seed << 17;
	return sys->seed % n;
}

static bool may_run_on(const struct ksys *sys, const struct ksys_task *task, unsigned cpu)
{
	return sys->cpu[cpu].online && task->affinity >> cpu & 1;
}

static unsigned random_cpu(struct ksys *sys, const struct ksys_task *task)
{
	unsigned cpu = (unsigned)roll(sys, sys->ncpus);

	while (!may_run_on(sys, task, cpu))
		cpu = (cpu + 1) % sys->ncpus;
	return cpu;
}

/* The allowed CPU with the least to do; of those the lowest number. */
static unsigned idlest_cpu(const struct ksys *sys, const struct ksys_task *task)
{
	unsigned best = 0, least = ~0U;

	for (unsigned i = 0; i < sys->ncpus; i++) {
		const struct sys_cpu *cpu = &sys->cpu[i];
		unsigned load = cpu->nready + (cpu->current != NULL);

		if (may_run_on(sys, task, i) && load < least) {
			least = load;
			best = i;
		}
	}
	return best;
}

static unsigned place(struct ksys *sys, const struct ksys_task *task)
{
	if (sys->seed)
		return random_cpu(sys, task);
	return may_run_on(sys, task, task->on) ? task->on : idlest_cpu(sys, task);
}

/* Into the queue of CPU @to, which learns of it. */
static void enqueue(struct ksys *sys, struct ksys_task *task, unsigned to)
{
	struct sys_cpu *cpu = &sys->cpu[to], *here = sys_this_cpu(sys);

	if (task->on != to)
		task->moved = true;
	task->on = to;
	task->state = TASK_READY;
	push(&cpu->ready, task);
	cpu->nready++;
	if (cpu != here)
		hal_cpu_kick(here->hal, cpu->hal);
	else
		sched_kicked(sys, cpu);
}

void sched_kicked(struct ksys *sys, struct sys_cpu *cpu)
{
	if (!cpu->current)
		cpu->resched = cpu->nready != 0;
	else if (!sys->seed)
		timer_sched_tick(sys, cpu, cpu->nready != 0);
}

void task_start(struct ksys *sys, struct ksys_task *task)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	unsigned to = sys->seed ? random_cpu(sys, task) : idlest_cpu(sys, task);

	/* Linux wake_up_new_task(): where it begins is no migration. */
	task->on = to;
	enqueue(sys, task, to);
	hal_irq_restore(ksys_hal(sys), flags);
}

/* -- sleep and wake-up ----------------------------------------------------- */

static struct task_queue *sleepers(struct ksys *sys, struct channel channel)
{
	uint64_t key = ((uint64_t)(uintptr_t)channel.what >> 4) + (channel.which >> 2);

	return &sys->sleepers[(key ^ key >> 6) % SLEEP_BUCKETS];
}

void task_sleep_on(struct ksys *sys, struct channel channel)
{
	struct ksys_task *task = ksys_current(sys);
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	task->state = TASK_SLEEPING;
	task->channel = channel;
	task->asleep_queued = channel.what != NULL;
	if (task->asleep_queued)
		push(sleepers(sys, channel), task);
	hal_irq_restore(ksys_hal(sys), flags);
}

/* No longer asleep, and in no queue. */
static void rouse(struct ksys *sys, struct ksys_task *task)
{
	if (task->asleep_queued)
		take(sleepers(sys, task->channel), task);
	task->asleep_queued = false;
	task->state = TASK_RUNNING;
	ksys_hrtimer_cancel(sys, &task->timer);
}

void task_sleep_not(struct ksys *sys)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	struct ksys_task *task = ksys_current(sys);

	if (task->state == TASK_SLEEPING)
		rouse(sys, task);
	hal_irq_restore(ksys_hal(sys), flags);
}

void sched_forget(struct ksys *sys, struct ksys_task *task)
{
	if (task->state == TASK_SLEEPING)
		rouse(sys, task);
	if (task->state == TASK_READY) {
		take(&sys->cpu[task->on].ready, task);
		sys->cpu[task->on].nready--;
	}
	task->state = TASK_RUNNING;
}

static void time_is_over(void *arg)
{
	struct ksys_task *task = arg;

	task->call.timed_out = true;
	task_wake(task->sys, task);
}

long task_block(struct ksys *sys, uint64_t until)
{
	struct ksys_task *task = ksys_current(sys);
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	if (until != UINT64_MAX && task->state == TASK_SLEEPING) {
		task->timer.fn = time_is_over;
		task->timer.arg = task;
		ksys_hrtimer_start(sys, &task->timer, until);
	}
	hal_irq_restore(ksys_hal(sys), flags);
	return SYS_BLOCK;
}

void task_wake(struct ksys *sys, struct ksys_task *task)
{
	unsigned long flags = hal_irq_save(ksys_hal(sys));

	if (task->state == TASK_SLEEPING) {
		rouse(sys, task);
		if (task->cpu < 0) /* else it is on its way to sleep still */
			enqueue(sys, task, place(sys, task));
	}
	hal_irq_restore(ksys_hal(sys), flags);
}

unsigned task_wake_all(struct ksys *sys, struct channel channel, unsigned most)
{
	/* an interrupt could wake the next one, and the list would end elsewhere */
	unsigned long flags = hal_irq_save(ksys_hal(sys));
	struct ksys_task *task = sleepers(sys, channel)->head, *next;
	unsigned n = 0;

	for (; task && n < most; task = next) {
		next = task->next;
		if (task->channel.what != channel.what || task->channel.which != channel.which)
			continue;
		task_wake(sys, task);
		n++;
	}
	hal_irq_restore(ksys_hal(sys), flags);
	return n;
}

void task_prod(struct ksys *sys, struct ksys_task *task)
{
	task_wake(sys, task);
	if (task->cpu >= 0 && (unsigned)task->cpu != hal_cpu_id(ksys_hal(sys)))
		hal_cpu_kick(ksys_hal(sys), sys->cpu[task->cpu].hal);
}

/* -- switching --------------------------------------------------------------- */

static void slice_over(void *arg)
{
	struct sys_cpu *cpu = arg;

	cpu->resched = true;
}

static void begin_slice(struct ksys *sys, struct sys_cpu *cpu)
{
	cpu->since = hal_clock_ns(cpu->hal);
	if (!sys->seed) {
		timer_sched_tick(sys, cpu, cpu->current && cpu->nready);
		return;
	}
	cpu->slice.fn = slice_over;
	cpu->slice.arg = cpu;
	if (cpu->current)
		ksys_hrtimer_start(sys, &cpu->slice,
				   cpu->since + SEEDED_SLICE_MIN + roll(sys, SEEDED_SLICE_SPAN));
	else
		ksys_hrtimer_cancel(sys, &cpu->slice);
}

static void come_in(struct ksys *sys, struct sys_cpu *cpu, struct ksys_task *next)
{
	next->state = TASK_RUNNING;
	next->cpu = (int)cpu_number(sys, cpu);
	if (next->mm && next->mm != cpu->mm) {
		mm_activate(sys, next->mm);
		cpu->mm = next->mm;
	}
	hal_context_load(cpu->hal, &next->ctx);
}

/* Linux context_switch(), with prepare_task_switch() and finish_task_switch(). */
static void switch_to(struct ksys *sys, struct sys_cpu *cpu, struct ksys_task *prev,
		      struct ksys_task *next)
{
	kperf_sw_event(sys->perf, cpu->hal, KPERF_SW_CONTEXT_SWITCHES, 1, NULL, 0);
	kperf_sched_out(sys->perf, cpu->hal, prev);
	if (prev) {
		if (prev->state != TASK_DEAD)
			hal_context_save(cpu->hal, &prev->ctx);
		prev->cpu = -1;
	}
	cpu->current = next;
	if (next)
		come_in(sys, cpu, next);
	kperf_sched_in(sys->perf, cpu->hal, next);
	if (next && next->moved) {
		next->moved = false;
		kperf_sw_event(sys->perf, cpu->hal, KPERF_SW_CPU_MIGRATIONS, 1, NULL, 0);
	}
	begin_slice(sys, cpu);
	if (prev && prev->state == TASK_DEAD)
		ksys_task_put(sys, prev);
}

/* May, or must, @prev, which could go on, go elsewhere? */
static bool goes_away(struct ksys *sys, struct sys_cpu *cpu, const struct ksys_task *prev)
{
	if (!may_run_on(sys, prev, cpu_number(sys, cpu)))
		return true;
	return sys->seed && sys->ncpus > 1 && roll(sys, 4) == 0;
}

void sched_switch(struct ksys *sys, struct sys_cpu *cpu)
{
	struct ksys_task *prev = cpu->current, *next;
	bool runs = prev && prev->state == TASK_RUNNING;
	bool away = runs && goes_away(sys, cpu, prev);

	cpu->resched = false;
	if (runs && !away) {
		push(&cpu->ready, prev);
		cpu->nready++;
		prev->state = TASK_READY;
	}
	next = pop(cpu);
	if (next == prev) {
		if (next) {
			next->state = TASK_RUNNING;
			begin_slice(sys, cpu);
		}
		return;
	}
	switch_to(sys, cpu, prev, next);
	if (away)
		enqueue(sys, prev, place(sys, prev));
}

void sched_tick(struct ksys *sys, struct sys_cpu *cpu, uint64_t now)
{
	(void)sys;
	if (cpu->current && cpu->nready && now - cpu->since >= SLICE_NS)
		cpu->resched = true;
}

/* -- the way out of the kernel ---------------------------------------------- */

/* Who is to end does not go to sleep first (Linux signal_pending_state()). */
static bool must_switch(struct ksys *sys, struct sys_cpu *cpu)
{
	struct ksys_task *task = cpu->current;

	if (task && task->killed && task->state == TASK_SLEEPING)
		rouse(sys, task);
	return cpu->resched || (task && task->state != TASK_RUNNING);
}

enum kentry_next sched_leave(struct ksys *sys, struct sys_cpu *cpu)
{
	for (;;) {
		struct ksys_task *task;

		irq_work_run(cpu);
		while (must_switch(sys, cpu))
			sched_switch(sys, cpu);
		task = cpu->current;
		if (!task)
			return KENTRY_IDLE;
		if (!task->killed && !task->call.pending && !signal_pending(task) &&
		    !task->sig.restart)
			return KENTRY_USER;
		hal_irq_enable(cpu->hal);
		if (task->killed)
			task_exit(sys, task->group->status);
		else if (task->call.pending)
			syscall_again(sys, task);
		else
			signal_deliver(sys, cpu);
		hal_irq_disable(cpu->hal);
	}
}

/* -- system calls ------------------------------------------------------------ */

enum {
	TIMER_ABSTIME = 1,
	NSEC_PER_SEC = 1000000000,
};

static int get_time(struct ksys *sys, uint64_t uaddr, uint64_t *ns)
{
	int64_t ts[2];

	if (ksys_copy_from_user(sys, ts, uaddr, sizeof(ts)))
		return -EFAULT;
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= NSEC_PER_SEC)
		return -EINVAL;
	/* Linux ktime_set(): what does not fit is for ever */
	if (ts[0] >= INT64_MAX / NSEC_PER_SEC)
		*ns = INT64_MAX;
	else
		*ns = (uint64_t)ts[0] * NSEC_PER_SEC + (uint64_t)ts[1];
	return 0;
}

static long sleep_until(struct ksys *sys, uint64_t ureq, bool absolute)
{
	struct task_call *call = &ksys_current(sys)->call;
	uint64_t now;

	if (!call->again) {
		int rc = get_time(sys, ureq, &call->until);

		if (rc)
			return rc;
	}
	now = hal_clock_ns(ksys_hal(sys));
	if (!call->again && !absolute)
		call->until = call->until > INT64_MAX - now ? INT64_MAX : call->until + now;
	if (now >= call->until)
		return 0;
	task_sleep_on(sys, (struct channel){ 0 });
	return task_block(sys, call->until);
}

/* CLOCK_REALTIME, MONOTONIC, BOOTTIME, TAI are one clock here. */
static bool is_clock(uint64_t id)
{
	return id == 0 || id == 1 || id == 7 || id == 11;
}

/* What the caller means by a number: itself, or a task it sees. No reference. */
static struct ksys_task *named(struct ksys *sys, int32_t pid)
{
	struct ksys_task *current = ksys_current(sys);

	return pid ? pid_find(sys, current->ns, pid) : current;
}

static long set_affinity(struct ksys *sys, int32_t pid, uint64_t size, uint64_t umask)
{
	struct ksys_task *task;
	uint64_t mask = 0;
	uint32_t online = 0;

	if (ksys_copy_from_user(sys, &mask, umask, size < sizeof(mask) ? size : sizeof(mask)))
		return -EFAULT;
	task = named(sys, pid);
	if (!task)
		return -ESRCH;
	for (unsigned i = 0; i < sys->ncpus; i++)
		online |= sys->cpu[i].online ? UINT32_C(1) << i : 0;
	if (!(mask & online))
		return -EINVAL;
	task->affinity = (uint32_t)mask;
	if (task->state == TASK_READY && !may_run_on(sys, task, task->on)) {
		unsigned long flags = hal_irq_save(ksys_hal(sys));

		take(&sys->cpu[task->on].ready, task);
		sys->cpu[task->on].nready--;
		enqueue(sys, task, place(sys, task));
		hal_irq_restore(ksys_hal(sys), flags);
	} else if (task->cpu >= 0 && !may_run_on(sys, task, (unsigned)task->cpu)) {
		sys->cpu[task->cpu].resched = true;
		task_prod(sys, task);
	}
	return 0;
}

/* As many bytes as Linux's mask of up to 64 CPUs has. */
static long get_affinity(struct ksys *sys, int32_t pid, uint64_t size, uint64_t umask)
{
	struct ksys_task *task = named(sys, pid);
	uint64_t mask = 0;

	if (size * 8 < sys->ncpus || size % sizeof(mask))
		return -EINVAL;
	if (!task)
		return -ESRCH;
	for (unsigned i = 0; i < sys->ncpus; i++)
		mask |= may_run_on(sys, task, i) ? UINT64_C(1) << i : 0;
	return ksys_copy_to_user(sys, umask, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}

long sched_call(struct ksys *sys, uint64_t nr, const uint64_t a[6])
{
	switch (nr) {
	case NR_NANOSLEEP:
		return sleep_until(sys, a[0], false);
	case NR_CLOCK_NANOSLEEP:
		if (!is_clock(a[0]))
			return -EINVAL;
		return sleep_until(sys, a[2], a[1] & TIMER_ABSTIME);
	case NR_SETAFFINITY:
		return set_affinity(sys, (int32_t)a[0], (uint32_t)a[1], a[2]);
	case NR_GETAFFINITY:
		return get_affinity(sys, (int32_t)a[0], (uint32_t)a[1], a[2]);
	default: /* NR_YIELD */
		sys_this_cpu(sys)->resched = true;
		return 0;
	}
}
