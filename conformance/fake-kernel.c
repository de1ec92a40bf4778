/* SPDX-License-Identifier: MIT */
#include "conformance/fake-kernel.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- CPUs -------------------------------------------------------------------- */

static struct hal *hal_of(struct fake_kernel *fk, unsigned cpu)
{
	return cpu ? &fk->more[cpu] : &fk->hal;
}

/* Nobody uses another CPU's handle to reach its registers. */
static struct fake_kernel *here(struct hal *hal)
{
	/* Check writes each assertion to a file: not here */
	if (hal->cpu != hal->fk->cpu)
		ck_assert_msg(false, "CPU %u reaches over to CPU %u", hal->fk->cpu, hal->cpu);
	return hal->fk;
}

static void change_cpu(struct fake_kernel *fk, unsigned cpu)
{
	struct fk_cpu *from = &fk->still[fk->cpu], *to = &fk->still[cpu];

	if (cpu == fk->cpu)
		return;
	*from = (struct fk_cpu){
		.pmu = fk->pmu,
		.line = fk->line,
		.masked = fk->masked,
		.in_irq = fk->in_irq,
		.tick_needed = fk->tick_needed,
		.irq_enabled = fk->irq_enabled,
		.at_el0 = fk->at_el0,
		.online = from->online,
		.pc = fk->pc,
		.current = fk->current,
		.work = fk->work,
		.irq_regs = fk->irq_regs,
	};
	fk->cpu = cpu;
	fk->pmu = to->pmu;
	fk->line = to->line;
	fk->masked = to->masked;
	fk->in_irq = to->in_irq;
	fk->tick_needed = to->tick_needed;
	fk->irq_enabled = to->irq_enabled;
	fk->at_el0 = to->at_el0;
	fk->pc = to->pc;
	fk->current = to->current;
	fk->work = to->work;
	fk->irq_regs = to->irq_regs;
}

static int cpu_of(const struct fake_kernel *fk, const struct ksys_task *task)
{
	if (fk->current == task)
		return (int)fk->cpu;
	for (unsigned i = 0; i < FK_CPUS; i++)
		if (i != fk->cpu && fk->still[i].online && fk->still[i].current == task)
			return (int)i;
	return -1;
}

/* --- interrupts ------------------------------------------------------------ */

static void run_work(struct fake_kernel *fk)
{
	bool masked = fk->masked;

	fk->masked = true;
	while (fk->work) {
		struct ksys_irq_work *work = fk->work;

		fk->work = work->next;
		work->queued = false;
		work->fn(work->arg);
	}
	fk->masked = masked;
}

static void take_irq(struct fake_kernel *fk)
{
	struct hal_regs regs = {
		.pc = fk->at_el0 ? fk->pc : FK_KERNEL_PC + fk->ops,
		.pstate = fk->at_el0 ? 0 : 5,
	};
	bool at_el0 = fk->at_el0;

	fk->masked = fk->in_irq = true;
	fk->at_el0 = false;
	fk->irqs++;
	if (!kperf_irq(fk->perf, hal_of(fk, fk->cpu), &regs))
		fk->spurious++;
	run_work(fk);
	fk->masked = fk->in_irq = false;
	fk->at_el0 = at_el0;
}

static struct ksys_hrtimer **due(struct fake_kernel *fk)
{
	struct ksys_hrtimer **at;

	for (at = &fk->timers; *at; at = &(*at)->next)
		if ((*at)->cpu == fk->cpu)
			return (*at)->expires <= fk->ns ? at : NULL;
	return NULL;
}

static void take_timers(struct fake_kernel *fk)
{
	bool masked = fk->masked, in_irq = fk->in_irq, at_el0 = fk->at_el0;
	struct hal_regs regs = {
		.pc = at_el0 ? fk->pc : FK_KERNEL_PC + fk->ops,
		.pstate = at_el0 ? 0 : 5,
	};
	struct ksys_hrtimer **at;

	if (!due(fk))
		return;
	fk->masked = fk->in_irq = true;
	fk->at_el0 = false;
	fk->irq_regs = &regs;
	while ((at = due(fk)) != NULL) {
		struct ksys_hrtimer *timer = *at;

		*at = timer->next;
		timer->queued = false;
		timer->fn(timer->arg);
	}
	run_work(fk);
	fk->irq_regs = NULL;
	fk->masked = masked;
	fk->in_irq = in_irq;
	fk->at_el0 = at_el0;
}

static void interrupt_point(struct fake_kernel *fk)
{
	for (unsigned n = 0; fk->line && fk->irq_enabled && !fk->masked; n++) {
		ck_assert_msg(n < 100, "the line never goes low");
		take_irq(fk);
	}
	if (!fk->masked && !fk->in_irq)
		take_timers(fk);
	if (!fk->masked && !fk->in_irq && fk->work)
		run_work(fk);
}

static void call_hook(struct fake_kernel *fk)
{
	void (*hook)(struct fake_kernel * fk) = fk->hook;

	fk->hook = NULL;
	hook(fk);
}

static void op(struct fake_kernel *fk)
{
	fk->ops++;
	if (fk->inject_n && fk->ops == fk->inject_op) {
		fk->injected_counted =
			fk->pmu.pmcr & 1 && fk->pmu.pmcnten >> fk->inject_counter & 1;
		pmuv3_inject(&fk->pmu, fk->inject_counter, fk->inject_n, 1, false);
	}
	if (fk->hook && fk->ops == fk->hook_op)
		call_hook(fk);
	interrupt_point(fk);
}

static void set_line(void *opaque, int level)
{
	((struct fake_kernel *)opaque)->line = level;
}

/* How many of @n ns until this CPU's next timer. */
static uint64_t before_timer(const struct fake_kernel *fk, uint64_t n)
{
	for (const struct ksys_hrtimer *at = fk->timers; at; at = at->next)
		if (at->cpu == fk->cpu && at->expires > fk->ns &&
		    at->expires - fk->ns < n)
			return at->expires - fk->ns;
	return n;
}

void fk_run(struct fake_kernel *fk, uint64_t n)
{
	fk->at_el0 = true;
	interrupt_point(fk);
	while (n) {
		uint64_t part = pmuv3_deadline(&fk->pmu, 0, 1);

		if (part > n)
			part = n;
		part = before_timer(fk, part);
		pmuv3_advance(&fk->pmu, &(struct pmuv3_step){
						.insns = part, .cycles = part, .el = 0});
		fk->pc += 4 * part;
		fk->ns += part;
		n -= part;
		interrupt_point(fk);
	}
	fk->at_el0 = false;
}

void fk_inject(struct fake_kernel *fk, unsigned counter, uint64_t n, unsigned el)
{
	fk->at_el0 = el == 0;
	ck_assert_int_eq(pmuv3_inject(&fk->pmu, counter, n, el, false), 0);
	interrupt_point(fk);
	fk->at_el0 = false;
}

void fk_tick(struct fake_kernel *fk)
{
	struct hal_regs regs = {.pc = fk->pc};

	fk->masked = fk->in_irq = true;
	kperf_tick(fk->perf, hal_of(fk, fk->cpu), &regs);
	run_work(fk);
	fk->masked = fk->in_irq = false;
	interrupt_point(fk);
}

void fk_cpu(struct fake_kernel *fk, unsigned cpu)
{
	change_cpu(fk, cpu);
	interrupt_point(fk);
}

void fk_switch(struct fake_kernel *fk, struct ksys_task *next)
{
	struct hal *hal = hal_of(fk, fk->cpu);

	ck_assert(!next || cpu_of(fk, next) < 0);
	fk->masked = true;
	kperf_sw_event(fk->perf, hal, KPERF_SW_CONTEXT_SWITCHES, 1, NULL, 0);
	kperf_sched_out(fk->perf, hal, fk->current);
	fk->current = next;
	kperf_sched_in(fk->perf, hal, next);
	if (next && next->cpu != (int)fk->cpu && next->cpu >= 0)
		kperf_sw_event(fk->perf, hal, KPERF_SW_CPU_MIGRATIONS, 1, NULL, 0);
	if (next)
		next->cpu = (int)fk->cpu;
	fk->masked = false;
	interrupt_point(fk);
}

void fk_exit(struct fake_kernel *fk)
{
	fk->current->dead = true;
	kperf_task_exit(fk->perf, fk->current);
	fk_switch(fk, NULL);
}

void fk_reap(struct fake_kernel *fk, struct ksys_task *task)
{
	ck_assert(task->dead && cpu_of(fk, task) < 0);
	kperf_task_free(fk->perf, task);
	ck_assert_ptr_null(task->perf);
	ksys_task_put(&fk->sys, task);
}

void fk_sleep(struct fake_kernel *fk, uint64_t ns)
{
	while (ns) {
		uint64_t part = before_timer(fk, ns);

		fk->ns += part;
		ns -= part;
		interrupt_point(fk);
	}
}

void fk_mask(struct fake_kernel *fk)
{
	fk->masked = true;
}

void fk_unmask(struct fake_kernel *fk)
{
	fk->masked = false;
	interrupt_point(fk);
}

/* --- hal.h ----------------------------------------------------------------- */

static void record(struct fake_kernel *fk, bool write, uint32_t reg, uint64_t value)
{
	if (fk->nlog < FK_LOG)
		fk->log[fk->nlog++] = (struct fk_access){write, reg, value};
}

uint64_t hal_sysreg_read(struct hal *hal, uint32_t reg)
{
	uint64_t value = 62500000; /* CNTFRQ_EL0 */

	if (reg == HAL_ID_AA64DFR0_EL1)
		value = (uint64_t)here(hal)->pmu.config.version << 8;
	else if (reg != HAL_CNTFRQ_EL0)
		ck_assert_int_eq(sysreg_read(&here(hal)->regs, 1, reg, 1, &value),
				 SYSREG_OK);
	record(here(hal), false, reg, value);
	op(here(hal));
	return value;
}

void hal_sysreg_write(struct hal *hal, uint32_t reg, uint64_t value)
{
	record(here(hal), true, reg, value);
	ck_assert_int_eq(sysreg_write(&here(hal)->regs, 1, reg, 1, value), SYSREG_OK);
	op(here(hal));
}

void hal_isb(struct hal *hal)
{
	record(here(hal), true, 0, 0);
	op(here(hal));
}

unsigned long hal_irq_save(struct hal *hal)
{
	unsigned long flags = here(hal)->masked;

	here(hal)->masked = true;
	op(here(hal));
	return flags;
}

void hal_irq_restore(struct hal *hal, unsigned long flags)
{
	here(hal)->masked = flags;
	op(here(hal));
}

uint64_t hal_clock_ns(struct hal *hal)
{
	uint64_t ns = here(hal)->ns;

	here(hal)->ns += FK_NS_A_CLOCK_READ;
	op(here(hal));
	return ns;
}

void hal_copy(struct hal *hal, void *dst, const void *src, size_t n)
{
	ck_assert_uint_le(n, 4096);
	memcpy(dst, src, n);
	here(hal)->copy_op++;
	if (here(hal)->hook && here(hal)->copy_op == here(hal)->hook_copy)
		call_hook(here(hal));
	op(here(hal));
}

unsigned hal_cpu_id(struct hal *hal)
{
	return hal->cpu;
}

void hal_story(struct hal *hal, enum hal_story what, uint64_t id, uint64_t a, uint64_t b,
	       const void *data)
{
	(void)hal;
	(void)what;
	(void)id;
	(void)a;
	(void)b;
	(void)data;
}

void hal_note(struct hal *hal, enum hal_note note, uint64_t a, uint64_t b)
{
	struct fake_kernel *fk = here(hal);

	if (fk->nnotes < FK_LOG)
		fk->notes[fk->nnotes++] = (struct fk_note){note, a, b};
	if (note == HAL_NOTE_ARMED && fk->armed_inject) {
		uint64_t n = fk->armed_inject;

		fk->armed_inject = 0;
		pmuv3_inject(&fk->pmu, (unsigned)a, n, 0, false);
	}
}

void hal_user_regs(struct hal *hal, struct hal_regs *regs)
{
	*regs = here(hal)->user_regs;
	regs->pc = here(hal)->pc;
	regs->pstate = 0;
}

void hal_irq_regs(struct hal *hal, const struct hal_regs *irq, struct hal_regs *full)
{
	*full = *irq;
	if (hal_regs_user(irq))
		hal_user_regs(hal, full);
}

/* --- ksys.h ---------------------------------------------------------------- */

struct hal *ksys_hal(struct ksys *sys)
{
	return hal_of(sys->fk, sys->fk->cpu);
}

bool ksys_cpu_online(struct ksys *sys, unsigned cpu)
{
	return cpu < FK_CPUS && sys->fk->still[cpu].online;
}

int ksys_cpu_call(struct ksys *sys, unsigned cpu, void (*fn)(void *arg), void *arg)
{
	struct fake_kernel *fk = sys->fk;
	unsigned caller = fk->cpu;
	unsigned long flags;
	bool masked, in_irq;

	if (!ksys_cpu_online(sys, cpu))
		return -ENXIO;
	if (cpu == caller) {
		flags = hal_irq_save(ksys_hal(sys));
		fn(arg);
		hal_irq_restore(ksys_hal(sys), flags);
		return 0;
	}
	ck_assert(!fk->in_irq);
	fk->cpu_calls++;
	change_cpu(fk, cpu);
	masked = fk->masked;
	in_irq = fk->in_irq;
	ck_assert(!masked); /* it is at EL0 or idle */
	fk->masked = fk->in_irq = true;
	fn(arg);
	run_work(fk);
	fk->masked = masked;
	fk->in_irq = in_irq;
	change_cpu(fk, caller);
	return 0;
}

const struct hal_regs *ksys_irq_regs(struct ksys *sys)
{
	return sys->fk->irq_regs;
}

void ksys_hrtimer_cancel(struct ksys *sys, struct ksys_hrtimer *timer)
{
	struct ksys_hrtimer **at = &sys->fk->timers;

	if (!timer->queued)
		return;
	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	timer->queued = false;
}

void ksys_hrtimer_start(struct ksys *sys, struct ksys_hrtimer *timer, uint64_t expires)
{
	struct ksys_hrtimer **at = &sys->fk->timers;

	ksys_hrtimer_cancel(sys, timer);
	timer->expires = expires;
	timer->cpu = sys->fk->cpu;
	while (*at && (*at)->expires <= expires)
		at = &(*at)->next;
	timer->next = *at;
	timer->queued = true;
	*at = timer;
}


unsigned ksys_ncpus(struct ksys *sys)
{
	return sys->fk->ncpus;
}

void *ksys_alloc(struct ksys *sys, size_t size)
{
	ck_assert_uint_le(size, 65536);
	ck_assert(!sys->fk->in_irq);
	if (sys->fk->fail_alloc && --sys->fk->fail_alloc == 0)
		return NULL;
	sys->fk->allocations++;
	return calloc(1, size);
}

void ksys_free(struct ksys *sys, void *p)
{
	if (!p)
		return;
	ck_assert(!sys->fk->in_irq);
	sys->fk->allocations--;
	free(p);
}

void *ksys_page_alloc(struct ksys *sys)
{
	return ksys_alloc(sys, KSYS_PAGE_SIZE);
}

void ksys_page_free(struct ksys *sys, void *page)
{
	ksys_free(sys, page);
}

static void *user(struct fake_kernel *fk, uint64_t uaddr, size_t size)
{
	if (uaddr < FK_USER_BASE || uaddr >= fk->user_limit ||
	    size > fk->user_limit - uaddr)
		return NULL;
	return fk->user + (uaddr - FK_USER_BASE);
}

int ksys_copy_from_user(struct ksys *sys, void *dst, uint64_t uaddr, size_t size)
{
	void *src = user(sys->fk, uaddr, size);

	op(sys->fk);
	if (!src)
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

int ksys_copy_to_user(struct ksys *sys, uint64_t uaddr, const void *src, size_t size)
{
	void *dst = user(sys->fk, uaddr, size);

	op(sys->fk);
	if (!dst)
		return -EFAULT;
	memcpy(dst, src, size);
	return 0;
}

size_t ksys_copy_from_user_nofault(struct ksys *sys, void *dst, uint64_t uaddr,
				   size_t size)
{
	size_t n = size;

	while (n && !user(sys->fk, uaddr, n))
		n--;
	if (n)
		memcpy(dst, user(sys->fk, uaddr, n), n);
	op(sys->fk);
	return size - n;
}

uint64_t ksys_user_page_size(struct ksys *sys, uint64_t uaddr)
{
	return user(sys->fk, uaddr, 1) || uaddr >= FK_CODE ? KSYS_PAGE_SIZE : 0;
}

struct ksys_task *ksys_current(struct ksys *sys)
{
	return sys->fk->current;
}

struct ksys_task *ksys_find_task(struct ksys *sys, int32_t pid)
{
	struct fake_kernel *fk = sys->fk;

	for (int i = 0; i < fk->ntasks; i++) {
		struct ksys_task *task = &fk->tasks[i];

		if (pid ? task->tid == pid : task == fk->current) {
			task->refs++;
			return task;
		}
	}
	return NULL;
}

void ksys_task_get(struct ksys_task *task)
{
	task->refs++;
}

void ksys_task_put(struct ksys *sys, struct ksys_task *task)
{
	if (!task)
		return;
	if (!task->refs)
		ck_assert_msg(false, "nobody holds that task");
	/* whoever looks at it from now on */
	if (--task->refs == 0)
		*task = (struct ksys_task){.tgid = -9, .tid = -9, .dead = true, .cpu = -1};
}

int ksys_task_cpu(const struct ksys_task *task)
{
	return cpu_of(task->fk, task);
}

bool ksys_task_dead(const struct ksys_task *task)
{
	return task->dead;
}

bool ksys_may_attach(struct ksys *sys, const struct ksys_task *task)
{
	return sys->fk->may_attach || task == sys->fk->current;
}

static int32_t number(const struct ksys_task *task, const struct ksys_task *observer,
		      int32_t outer, int32_t inner)
{
	if (!observer || !observer->refs)
		ck_assert_msg(false, "nobody observes");
	if (task->dead)
		return -1;
	if (!observer->ns)
		return outer;
	return observer->ns == task->ns ? inner : 0;
}

int32_t ksys_task_tgid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return number(task, observer, task->tgid, task->inner_tgid);
}

int32_t ksys_task_tid(const struct ksys_task *task, const struct ksys_task *observer)
{
	return number(task, observer, task->tid, task->inner_tid);
}

void **ksys_task_perf(struct ksys_task *task)
{
	return &task->perf;
}

int ksys_fd_reserve(struct ksys *sys, bool cloexec)
{
	for (int fd = 3; fd < sys->fk->nfds; fd++) {
		if (!sys->fk->fds[fd] && !sys->fk->fd_other[fd]) {
			sys->fk->fd_other[fd] = true;
			return fd;
		}
	}
	return -EMFILE;
}

void ksys_fd_cancel(struct ksys *sys, int fd)
{
	sys->fk->fd_other[fd] = false;
}

void ksys_fd_install(struct ksys *sys, int fd, struct kperf_event *event)
{
	sys->fk->fd_other[fd] = false;
	sys->fk->fds[fd] = event;
}

int ksys_fd_event(struct ksys *sys, int fd, struct kperf_event **out)
{
	if (fd < 0 || fd >= sys->fk->nfds || (!sys->fk->fds[fd] && !sys->fk->fd_other[fd]))
		return -EBADF;
	if (!sys->fk->fds[fd])
		return -EINVAL;
	*out = sys->fk->fds[fd];
	return 0;
}

bool ksys_capable(struct ksys *sys, enum ksys_cap cap)
{
	return sys->fk->caps[cap];
}

/* One user, one address space, Linux's 8 MiB. */
int ksys_lock_pages(struct ksys *sys, uint64_t pages, uint64_t user_limit, bool enforce,
		    struct ksys_lock *lock)
{
	uint64_t room = user_limit > sys->fk->locked ? user_limit - sys->fk->locked : 0;

	lock->user_pages = pages < room ? pages : room;
	lock->pinned = pages - lock->user_pages;
	if (enforce && sys->fk->pinned + lock->pinned > 2048)
		return -EPERM;
	sys->fk->locked += lock->user_pages;
	sys->fk->pinned += lock->pinned;
	return 0;
}

void ksys_unlock_pages(struct ksys *sys, struct ksys_lock *lock)
{
	sys->fk->locked -= lock->user_pages;
	sys->fk->pinned -= lock->pinned;
}

int64_t ksys_sysctl(struct ksys *sys, enum ksys_sysctl name)
{
	return sys->fk->sysctl[name];
}

int ksys_irq_request(struct ksys *sys, unsigned intid)
{
	ck_assert_uint_eq(intid, 23);
	return sys->fk->irq_wired ? 0 : -ENOENT;
}

void ksys_irq_enable(struct ksys *sys, struct hal *hal, unsigned intid, bool on)
{
	sys->fk->irq_enabled = on;
}

void ksys_tick_need(struct ksys *sys, struct hal *hal, bool on)
{
	ck_assert(sys->fk->tick_needed != on && hal == ksys_hal(sys));
	sys->fk->tick_needed = on;
}

void ksys_irq_work_queue(struct ksys *sys, struct ksys_irq_work *work)
{
	struct ksys_irq_work **end = &sys->fk->work;

	if (work->queued)
		return;
	while (*end)
		end = &(*end)->next;
	work->queued = true;
	work->next = NULL;
	*end = work;
}

void ksys_irq_work_cancel(struct ksys *sys, struct ksys_irq_work *work)
{
	struct ksys_irq_work **at = &sys->fk->work;

	while (*at && *at != work)
		at = &(*at)->next;
	if (*at)
		*at = work->next;
	work->queued = false;
}

void ksys_poll_wake(struct ksys *sys, struct kperf_event *event)
{
	sys->fk->wakes++;
	sys->fk->last_woken = event;
}

bool ksys_sigio_wanted(struct ksys *sys, const struct kperf_event *event)
{
	return sys->fk->async;
}

void ksys_sigio(struct ksys *sys, struct kperf_event *event, bool hup)
{
	if (!sys->fk->async)
		return;
	sys->fk->sigio_hup += hup;
	sys->fk->sigio_in += !hup;
}

/* --- the tests' side ------------------------------------------------------- */

void fk_grow(struct fake_kernel *fk, int ntasks, int nfds)
{
	free(fk->fds);
	free(fk->fd_other);
	free(fk->tasks);
	fk->nfds = nfds;
	fk->fds = calloc((size_t)nfds, sizeof(*fk->fds));
	fk->fd_other = calloc((size_t)nfds, sizeof(*fk->fd_other));
	fk->ntasks = ntasks;
	fk->tasks = calloc((size_t)ntasks, sizeof(*fk->tasks));
	ck_assert(fk->fds && fk->fd_other && fk->tasks);
	for (int i = 0; i < ntasks; i++)
		fk->tasks[i] = (struct ksys_task){
			.fk = fk, .tgid = 100, .tid = 100 + i, .refs = 1, .cpu = -1};
	fk->current = &fk->tasks[0];
	fk->current->cpu = 0;
}

static struct fake_kernel *create(const char *profile, unsigned counters, bool irq_wired,
				  unsigned ncpus, unsigned online)
{
	static const uint16_t events[] = {0x00, 0x08, 0x11};
	struct pmuv3_config config = {
		.counters = counters,
		.version = PMUV3_P0,
		.events = events,
		.nevents = 3,
		.poison_reset = true,
	};
	struct fake_kernel *fk = calloc(1, sizeof(*fk));

	ck_assert_ptr_nonnull(fk);
	fk->sys.fk = fk->hal.fk = fk;
	ck_assert_int_eq(
		pmuv3_init(&fk->pmu, &config, (struct irq_line){set_line, fk}, NULL), 0);
	fk->regs = pmuv3_sysregs(&fk->pmu);
	fk->pc = FK_CODE;
	for (unsigned i = 1; i < FK_CPUS; i++) {
		fk->more[i] = (struct hal){.fk = fk, .cpu = i};
		fk->still[i] = (struct fk_cpu){.pmu = fk->pmu, .pc = FK_CODE};
	}
	fk->ns = 1000000;
	fk->user_limit = FK_USER_BASE + FK_USER_SIZE;
	fk_grow(fk, FK_TASKS, FK_FDS);
	fk->caps[KSYS_CAP_PERFMON] = true;
	fk->caps[KSYS_CAP_SYS_ADMIN] = true;
	fk->caps[KSYS_CAP_IPC_LOCK] = true;
	fk->sysctl[KSYS_SYSCTL_PARANOID] = 3;
	/* as the recorder sets it: nothing is throttled */
	fk->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 100000000;
	fk->sysctl[KSYS_SYSCTL_MLOCK_KB] = 516;
	fk->sysctl[KSYS_SYSCTL_MAX_STACK] = 127;
	fk->sysctl[KSYS_SYSCTL_MAX_CONTEXTS] = 8;
	fk->ncpus = ncpus;
	fk->irq_wired = irq_wired;
	ck_assert_int_eq(kperf_create(&fk->sys, profile, &fk->perf), 0);
	for (unsigned i = 0; i < online; i++) {
		change_cpu(fk, i);
		ck_assert_int_eq(kperf_cpu_online(fk->perf, ksys_hal(&fk->sys)), 0);
		fk->still[i].online = true;
	}
	change_cpu(fk, 0);
	fk_log_clear(fk);
	return fk;
}

struct fake_kernel *fk_create(const char *profile, unsigned counters, bool irq_wired)
{
	return create(profile, counters, irq_wired, 2, 1); /* the second never comes up */
}

struct fake_kernel *fk_create_smp(const char *profile, unsigned counters, unsigned ncpus)
{
	return create(profile, counters, true, ncpus, ncpus);
}

void fk_destroy(struct fake_kernel *fk)
{
	for (int fd = 0; fd < fk->nfds; fd++)
		if (fk->fds[fd])
			fk_close(fk, fd);
	kperf_destroy(fk->perf);
	ck_assert_uint_eq(fk->allocations, 0);
	ck_assert_ptr_null(fk->work);
	ck_assert_ptr_null(fk->timers);
	for (int i = 0; i < fk->ntasks; i++) {
		ck_assert_ptr_null(fk->tasks[i].perf);
		ck_assert_uint_le(fk->tasks[i].refs, 1);
	}
	free(fk->fds);
	free(fk->fd_other);
	free(fk->tasks);
	free(fk);
}

long fk_open_args(struct fake_kernel *fk, const struct perf_event_attr *attr, int32_t pid,
		  int32_t cpu, int32_t group_fd, uint64_t flags)
{
	memcpy(fk->user, attr, sizeof(*attr));
	return kperf_open(fk->perf, FK_USER_BASE, pid, cpu, group_fd, flags);
}

long fk_open(struct fake_kernel *fk, const struct perf_event_attr *attr, int group_fd)
{
	return fk_open_args(fk, attr, 0, -1, group_fd, 0);
}

long fk_open_task(struct fake_kernel *fk, const struct perf_event_attr *attr,
		  const struct ksys_task *task, int group_fd)
{
	return fk_open_args(fk, attr, task->tid, -1, group_fd, 0);
}

void fk_close(struct fake_kernel *fk, long fd)
{
	struct kperf_event *event = fk->fds[fd];

	fk->fds[fd] = NULL;
	kperf_release(event);
}

long fk_ioctl(struct fake_kernel *fk, long fd, uint32_t cmd, uint64_t arg)
{
	return kperf_ioctl(fk->fds[fd], cmd, arg);
}

long fk_set_period(struct fake_kernel *fk, long fd, uint64_t period)
{
	memcpy(fk->user, &period, sizeof(period));
	return fk_ioctl(fk, fd, PERF_EVENT_IOC_PERIOD, FK_USER_BASE);
}

uint64_t fk_id(struct fake_kernel *fk, long fd)
{
	uint64_t id;

	ck_assert_int_eq(fk_ioctl(fk, fd, PERF_EVENT_IOC_ID, FK_USER_BASE), 0);
	memcpy(&id, fk->user, sizeof(id));
	return id;
}

long fk_read(struct fake_kernel *fk, long fd, uint64_t *values, uint64_t size)
{
	long ret = kperf_read(fk->fds[fd], FK_USER_BASE, size);

	if (ret > 0)
		memcpy(values, fk->user, (size_t)ret);
	return ret;
}

uint64_t fk_count(struct fake_kernel *fk, long fd)
{
	uint64_t values[16];

	ck_assert_int_ge(fk_read(fk, fd, values, sizeof(values)), 8);
	return values[0];
}

long fk_mmap(struct fake_kernel *fk, long fd, uint64_t pages, unsigned prot,
	     struct fk_ring *ring)
{
	long ret = kperf_mmap(fk->fds[fd], (pages + 1) * KSYS_PAGE_SIZE, 0, prot,
			      KPERF_MAP_SHARED, &ring->pages, &ring->npages);

	if (ret == 0)
		ring->page = ring->pages[0];
	return ret;
}

static void copy_out(const struct fk_ring *ring, uint64_t pos, void *dst, size_t n)
{
	uint64_t size = (ring->npages - 1) * KSYS_PAGE_SIZE;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = (pos + i) % size;
		const uint8_t *page = ring->pages[1 + at / KSYS_PAGE_SIZE];

		((uint8_t *)dst)[i] = page[at % KSYS_PAGE_SIZE];
	}
}

size_t fk_record(const struct fk_ring *ring, uint64_t pos, void *buf)
{
	struct perf_event_header header;

	copy_out(ring, pos, &header, sizeof(header));
	copy_out(ring, pos, buf, header.size);
	return header.size;
}

unsigned fk_records(const struct fk_ring *ring, uint64_t from, uint32_t type)
{
	struct perf_event_header header;
	unsigned n = 0;

	for (uint64_t pos = from; pos != ring->page->data_head; pos += header.size) {
		copy_out(ring, pos, &header, sizeof(header));
		ck_assert_uint_ge(header.size, sizeof(header));
		n += header.type == type;
	}
	return n;
}

unsigned fk_writes(const struct fake_kernel *fk, uint32_t reg, uint64_t *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fk->nlog; i++) {
		if (fk->log[i].write && fk->log[i].reg == reg) {
			*last = fk->log[i].value;
			n++;
		}
	}
	return n;
}

unsigned fk_notes(const struct fake_kernel *fk, enum hal_note note)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fk->nnotes; i++)
		n += fk->notes[i].note == note;
	return n;
}

void fk_log_clear(struct fake_kernel *fk)
{
	fk->nlog = fk->nnotes = 0;
}

struct perf_event_attr fk_attr(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_HARDWARE;
	attr.size = sizeof(attr);
	attr.config = config;
	attr.sample_period = period;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}
