/* SPDX-License-Identifier: MIT */
/* Boot, the one task, and what the perf core asks about tasks. */
#include <string.h>

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/rlimit.h"

enum {
	FIRST_TASK = 2, /* 1 is the absent init */
	STACK_PAGES = 16,
	TCR_T0SZ_39 = 25,
};

static const uint64_t stack_top = UINT64_C(0x7ffff00000);

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
	page_pool_init(&sys->pool, base + sizeof(*sys), end);
	/* The recorder's settings; see the goldens' headers. */
	sys->sysctl[KSYS_SYSCTL_PARANOID] = 3;
	sys->sysctl[KSYS_SYSCTL_MAX_SAMPLE_RATE] = 100000000;
	sys->sysctl[KSYS_SYSCTL_MLOCK_KB] = 516;
	sys->unmap_failure_enomem = same(profile, "linux-6.1");
	irq_init(sys_cpu_of(sys, hal));
	rc = kperf_create(sys, profile, &sys->perf);
	if (!rc)
		rc = kperf_cpu_online(sys->perf, hal);
	if (rc)
		return rc;
	sys_cpu_of(sys, hal)->online = true;
	mmu_init(hal);
	*out = sys;
	return 0;
}

void kentry_shutdown(struct ksys *sys)
{
	if (sys->first && !sys->first->dead)
		task_exit(sys, 0, 0);
	kperf_destroy(sys->perf);
	sys->perf = NULL;
}

/* argc, argv, envp and an empty auxiliary vector (AAPCS64 Linux start-up). */
static int build_stack(struct ksys *sys, struct mm *mm, uint64_t *sp)
{
	static const char name[8] = "agent";
	uint64_t words[6] = { 1, stack_top - 16, 0, 0, 0, 0 };
	uint64_t at = stack_top - 16 - sizeof(words);
	int rc = mm_map_anon(sys, mm, stack_top - STACK_PAGES * PAGE_SIZE,
			     STACK_PAGES * PAGE_SIZE, AREA_READ | AREA_WRITE);

	if (rc)
		return rc;
	memcpy(mm_user_byte(sys, mm, stack_top - 16, AREA_WRITE), name, sizeof(name));
	memcpy(mm_user_byte(sys, mm, at, AREA_WRITE), words, sizeof(words));
	*sp = at;
	return 0;
}

/* Descriptors 0, 1 and 2, and the limits that bound their number. */
static int standard_files(struct ksys *sys, struct ksys_task *task)
{
	task->limits = limits_create(sys);
	task->files = files_create(sys);
	if (!task->limits || !task->files)
		return -ENOMEM;
	for (int fd = 0; fd < 3; fd++) {
		struct file *file = file_create(sys, fd ? FILE_OUTPUT : FILE_INPUT,
						fd ? O_RDWR | O_LARGEFILE :
						     O_RDONLY | O_LARGEFILE);

		if (!file || fd_add(sys, task, file, 0, false) < 0) {
			file_put(sys, file);
			return -ENOMEM;
		}
	}
	return 0;
}

int kentry_exec(struct ksys *sys, const void *elf, size_t elf_size, const void *input,
		size_t input_size, struct kentry_start *start)
{
	struct ksys_task *task = ksys_alloc(sys, sizeof(*task));
	unsigned long flags;
	int rc;

	if (!task)
		return -ENOMEM;
	task->refs = 1;
	task->tgid = task->tid = FIRST_TASK;
	sys->input = input;
	sys->input_size = input_size;
	rc = mm_init(sys, &task->mm);
	if (!rc)
		rc = standard_files(sys, task);
	if (!rc)
		rc = elf_load(sys, &task->mm, elf, elf_size, &start->pc);
	if (!rc)
		rc = build_stack(sys, &task->mm, &start->sp);
	if (rc) {
		if (task->mm.pgd)
			mm_destroy(sys, &task->mm);
		files_put(sys, task->files);
		limits_put(sys, task->limits);
		ksys_free(sys, task);
		return rc;
	}
	flags = hal_irq_save(ksys_hal(sys));
	sys->first = task;
	sys_this_cpu(sys)->current = task;
	task->cpu = (int)hal_cpu_id(ksys_hal(sys));
	mm_activate(sys, &task->mm);
	kperf_sched_in(sys->perf, ksys_hal(sys), task);
	hal_irq_restore(ksys_hal(sys), flags);
	return 0;
}

/* Linux do_exit's order: memory, files, then perf's view of the task. */
void task_exit(struct ksys *sys, int code, int signal)
{
	struct ksys_task *task = ksys_current(sys);
	unsigned long flags;

	task->status.code = code;
	task->status.signal = signal;
	mm_destroy(sys, &task->mm);
	files_put(sys, task->files);
	task->files = NULL;
	kperf_task_exit(sys->perf, task);
	flags = hal_irq_save(ksys_hal(sys));
	kperf_sched_out(sys->perf, ksys_hal(sys), task);
	irq_work_run(sys_this_cpu(sys));
	hal_irq_restore(ksys_hal(sys), flags);
	task->dead = true;
	task->status.exited = 1;
}

struct kentry_status kentry_status(const struct ksys *sys)
{
	return sys->first ? sys->first->status : (struct kentry_status){ 0 };
}

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

void ksys_task_get(struct ksys_task *task)
{
	task->refs++;
}

void ksys_task_put(struct ksys *sys, struct ksys_task *task)
{
	if (task && !--task->refs)
		ksys_free(sys, task);
}

struct ksys_task *ksys_find_task(struct ksys *sys, int32_t pid)
{
	struct ksys_task *task = ksys_current(sys);

	if (pid && task && (task->dead || task->tid != pid))
		task = NULL;
	if (task)
		ksys_task_get(task);
	return task;
}

int ksys_task_cpu(const struct ksys_task *task)
{
	return task->cpu;
}

bool ksys_task_dead(const struct ksys_task *task)
{
	return task->dead;
}

bool ksys_task_is_kernel(const struct ksys_task *task)
{
	(void)task; /* the idle task is none of these */
	return false;
}

bool ksys_may_attach(struct ksys *sys, const struct ksys_task *task)
{
	(void)task;
	return ksys_capable(sys, KSYS_CAP_PERFMON);
}

int32_t ksys_task_tgid(const struct ksys_task *task, const struct ksys_task *observer)
{
	(void)observer; /* one pid namespace */
	return task->dead ? -1 : task->tgid;
}

int32_t ksys_task_tid(const struct ksys_task *task, const struct ksys_task *observer)
{
	(void)observer;
	return task->dead ? -1 : task->tid;
}

void **ksys_task_perf(struct ksys_task *task)
{
	return &task->perf;
}

/* The one task is root, as PID 1's child is on the golden kernels. */
bool ksys_capable(struct ksys *sys, enum ksys_cap cap)
{
	(void)sys;
	(void)cap;
	return true;
}

int64_t ksys_sysctl(struct ksys *sys, enum ksys_sysctl name)
{
	return sys->sysctl[name];
}

void ksys_poll_wake(struct ksys *sys, struct kperf_event *event)
{
	/* Nobody sleeps in poll yet: ppoll looks by itself. */
	(void)sys;
	(void)event;
}
