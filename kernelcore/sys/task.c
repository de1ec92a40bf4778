/* SPDX-License-Identifier: MIT */
/* Boot and the end, and what is asked about tasks. */
#include <string.h>

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/nr.h"

enum { TCR_T0SZ_39 = 25 };

/* Normal write-back memory in index 0, devices in 1; Linux's SCTLR_EL1
 * values where they matter: MMU, caches, EL0 stack alignment check. */
static void mmu_init(struct hal *hal)
{
	const uint64_t tcr = TCR_T0SZ_39 | UINT64_C(1) << 8 | UINT64_C(1) << 10 |
			     UINT64_C(3) << 12 | UINT64_C(2) << 32 | hal_tcr_upper(hal);
	const uint64_t sctlr = UINT64_C(0x30d00800) | 1 | UINT64_C(1) << 2 |
			       UINT64_C(1) << 12 | UINT64_C(1) << 14 | UINT64_C(1) << 15 |
			       UINT64_C(1) << 26;

	hal_sysreg_write(hal, HAL_MAIR_EL1, 0xff);
	hal_sysreg_write(hal, HAL_TCR_EL1, tcr);
	hal_sysreg_write(hal, HAL_SCTLR_EL1, sctlr);
	hal_isb(hal);
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* What every CPU does when it comes. */
static int cpu_up(struct ksys *sys, struct sys_cpu *cpu)
{
	int rc;

	irq_init(sys, cpu);
	rc = kperf_cpu_online(sys->perf, cpu->hal);
	if (rc)
		return rc;
	cpu->online = true;
	mmu_init(cpu->hal);
	return 0;
}

int kentry_boot(struct hal *hal, const char *profile, struct ksys **out)
{
	uint64_t base = hal_ram_base(hal), end = base + hal_ram_size(hal);
	struct ksys *sys = hal_phys_to_virt(hal, base);
	int rc;

	if (end - base < page_up(sizeof(*sys)))
		return -ENOMEM;
	memset(sys, 0, sizeof(*sys));
	sys->ncpus = hal_ncpus(hal);
	for (unsigned i = 0; i < sys->ncpus; i++)
		sys->cpu[i].hal = hal_cpu(hal, i);
	page_pool_init(hal, &sys->pool, base + sizeof(*sys), end);
	sysctl_init(sys);
	if (signal_init(sys))
		return -ENOMEM;
	sys->unmap_failure_enomem = same(profile, "linux-6.1");
	sys->pid_ns = pid_ns_create(sys, NULL);
	if (!sys->pid_ns)
		return -ENOMEM;
	sys->pid_ns->last = 1; /* the absent init */
	rc = kperf_create(sys, profile, &sys->perf);
	if (!rc)
		rc = cpu_up(sys, sys_cpu_of(sys, hal));
	if (rc)
		return rc;
	*out = sys;
	return 0;
}

enum kentry_next kentry_cpu_start(struct ksys *sys, struct hal *hal)
{
	cpu_up(sys, sys_cpu_of(sys, hal)); /* CPU 0 has shown that it can be done */
	return KENTRY_IDLE;
}

void kentry_seed(struct ksys *sys, uint64_t seed)
{
	sys->seed = seed;
}

/* -- shutdown ---------------------------------------------------------------- */

/* On a CPU: whoever is on it is off, as if it slept. */
static void put_off(void *arg)
{
	struct ksys *sys = arg;
	struct sys_cpu *cpu = sys_this_cpu(sys);
	struct ksys_task *task = cpu->current;

	if (!task)
		return;
	kperf_sched_out(sys->perf, cpu->hal, task);
	if (task->state == TASK_RUNNING)
		task->state = TASK_SLEEPING;
	task->cpu = -1;
	cpu->current = NULL;
}

static void end_task(struct ksys *sys, struct sys_cpu *cpu, struct ksys_task *task)
{
	unsigned long flags = hal_irq_save(cpu->hal);

	sched_forget(sys, task);
	task->cpu = (int)hal_cpu_id(cpu->hal);
	cpu->current = task;
	kperf_sched_in(sys->perf, cpu->hal, task);
	hal_irq_restore(cpu->hal, flags);
	task_exit(sys, 0);
	flags = hal_irq_save(cpu->hal);
	put_off(sys);
	irq_work_run(cpu);
	hal_irq_restore(cpu->hal, flags);
	ksys_task_put(sys, task);
}

static struct ksys_task *any_task(struct ksys *sys)
{
	struct ksys_task *task = sys->tasks;

	while (task && task->exiting)
		task = task->all_next;
	return task;
}

void kentry_shutdown(struct ksys *sys)
{
	struct sys_cpu *cpu = sys_this_cpu(sys);
	struct ksys_task *task;

	for (unsigned i = 0; i < sys->ncpus; i++)
		ksys_cpu_call(sys, i, put_off, sys);
	while ((task = any_task(sys))) {
		/* its group's end is told to nobody */
		task->group->exiting = true;
		end_task(sys, cpu, task);
	}
	kperf_destroy(sys->perf);
	sys->perf = NULL;
}

struct kentry_status kentry_status(const struct ksys *sys)
{
	return sys->status;
}

/* -- the core's questions ---------------------------------------------------- */

struct hal *ksys_hal(struct ksys *sys)
{
	return hal_this_cpu(sys->cpu[0].hal);
}

unsigned ksys_ncpus(struct ksys *sys)
{
	return sys->ncpus;
}

bool ksys_cpu_online(struct ksys *sys, unsigned cpu)
{
	return cpu < sys->ncpus && sys->cpu[cpu].online;
}

struct ksys_task *ksys_current(struct ksys *sys)
{
	return sys_this_cpu(sys)->current;
}

int ksys_task_cpu(const struct ksys_task *task)
{
	return task->cpu;
}

bool ksys_task_dead(const struct ksys_task *task)
{
	return task->exiting;
}

bool ksys_task_is_kernel(const struct ksys_task *task)
{
	(void)task; /* the idle task is none of these */
	return false;
}

void **ksys_task_perf(struct ksys_task *task)
{
	return &task->perf;
}

/* Whoever polls looks again, at all that it polls. */
void ksys_poll_wake(struct ksys *sys, struct kperf_event *event)
{
	(void)event;
	task_wake_all(sys, poll_channel(sys), ~0U);
}

/* -- system calls ------------------------------------------------------------ */

enum {
	PR_SET_NAME = 15,
	PR_GET_NAME = 16,
	PR_TASK_PERF_EVENTS_DISABLE = 31,
	PR_TASK_PERF_EVENTS_ENABLE = 32,
};

static long set_name(struct ksys *sys, struct ksys_task *task, uint64_t uname)
{
	char name[COMM_SIZE] = "";

	for (unsigned i = 0; i < COMM_SIZE - 1; i++) {
		if (ksys_copy_from_user(sys, name + i, uname + i, 1))
			return -EFAULT;
		if (!name[i])
			break;
	}
	memcpy(task->comm, name, COMM_SIZE);
	return 0;
}

static long sys_prctl(struct ksys *sys, const uint64_t *a)
{
	struct ksys_task *task = ksys_current(sys);

	switch ((int32_t)a[0]) {
	case PR_SET_NAME:
		return set_name(sys, task, a[1]);
	case PR_GET_NAME:
		return ksys_copy_to_user(sys, a[1], task->comm, COMM_SIZE);
	case PR_TASK_PERF_EVENTS_DISABLE:
	case PR_TASK_PERF_EVENTS_ENABLE:
		return kperf_prctl(sys->perf, a[0] == PR_TASK_PERF_EVENTS_ENABLE);
	default:
		return -EINVAL;
	}
}

static long parent_number(const struct ksys_task *task)
{
	const struct group *parent = task->group->parent;

	/* the absent init's child sees it as 1 in the first namespace */
	if (!parent)
		return task->ns->level ? 0 : 1;
	return pid_in(parent->leader, task->ns);
}

long task_call(struct ksys *sys, uint64_t nr, const uint64_t a[6])
{
	struct ksys_task *task = ksys_current(sys);

	switch (nr) {
	case NR_EXIT:
		task_exit(sys, (int)(a[0] & 0xff) << 8);
		return SYS_NO_RESULT;
	case NR_EXIT_GROUP:
		group_exit(sys, (int)(a[0] & 0xff) << 8);
		return SYS_NO_RESULT;
	case NR_SET_TID_ADDRESS:
		task->clear_tid = a[0];
		return pid_in(task, task->ns);
	case NR_UNSHARE:
		return sys_unshare(sys, a[0]);
	case NR_FUTEX:
		return sys_futex(sys, a);
	case NR_NANOSLEEP:
	case NR_CLOCK_NANOSLEEP:
	case NR_SETAFFINITY:
	case NR_GETAFFINITY:
	case NR_YIELD:
		return sched_call(sys, nr, a);
	case NR_PRCTL:
		return sys_prctl(sys, a);
	case NR_GETPID:
		return pid_in(task->group->leader, task->ns);
	case NR_GETPPID:
		return parent_number(task);
	case NR_GETTID:
		return pid_in(task, task->ns);
	case NR_CLONE:
		return sys_clone(sys, a);
	case NR_EXECVE:
		return sys_execve(sys, a);
	case NR_WAIT4:
		return sys_wait4(sys, a);
	default:
		return -ENOSYS;
	}
}
