/* SPDX-License-Identifier: MIT */
/* The first program, and execve(2). */
#include <string.h>

#include "kernelcore/sys/file.h"
#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/memobj.h"
#include "kernelcore/sys/mm.h"
#include "kernelcore/sys/rlimit.h"

enum {
	STACK_PAGES = 33, /* Linux: room of 128 KiB from the start */
	ARGS_MAX = 32 * 1024, /* bytes of all strings */
	PATH_MAX = 256,
	STACK_ALIGN = 16,
};

static const uint64_t stack_top = UINT64_C(0x7ffff00000);

/* Arguments, then environment, each with its NUL. */
struct strings {
	const char *text;
	size_t used;
	unsigned argc, envc;
};

/* -- a new stack ------------------------------------------------------------- */

static void poke(struct ksys *sys, struct mm *mm, uint64_t va, uint64_t word)
{
	memcpy(mm_user_byte(sys, mm, va, AREA_WRITE), &word, sizeof(word));
}

static void poke_text(struct ksys *sys, struct mm *mm, uint64_t va, const char *text, size_t n)
{
	while (n) {
		size_t part = PAGE_SIZE - (va & (PAGE_SIZE - 1));

		if (part > n)
			part = n;
		memcpy(mm_user_byte(sys, mm, va, AREA_WRITE), text, part);
		va += part;
		text += part;
		n -= part;
	}
}

static size_t text_end(const struct strings *s, size_t at)
{
	while (s->text[at])
		at++;
	return at + 1;
}

/* argc, argv, envp and an empty auxiliary vector, the strings above them (AAPCS64
 * Linux start-up). */
static int build_stack(struct ksys *sys, struct mm *mm, const struct strings *s, uint64_t *sp)
{
	uint64_t words = 1 + s->argc + 1 + s->envc + 1 + 2;
	uint64_t text = stack_top - ((s->used + STACK_ALIGN - 1) & ~(uint64_t)(STACK_ALIGN - 1));
	uint64_t at = (text - words * 8) & ~(uint64_t)(STACK_ALIGN - 1);
	size_t from = 0;
	const struct mapping how = { .prot = AREA_READ | AREA_WRITE, .grows_down = true };
	uint64_t low = at & ~(uint64_t)(PAGE_SIZE - 1);
	int rc = mm_map(sys, mm, stack_top - STACK_PAGES * PAGE_SIZE, STACK_PAGES * PAGE_SIZE,
			&how);

	if (rc)
		return rc;
	mm_populate(sys, mm, low, stack_top - low);
	if (!mm_user_byte(sys, mm, low, AREA_WRITE))
		return -ENOMEM;
	*sp = at;
	poke_text(sys, mm, text, s->text, s->used);
	poke(sys, mm, at, s->argc);
	at += 8;
	for (unsigned i = 0; i < s->argc + s->envc; i++) {
		if (i == s->argc)
			at += 8; /* argv's NULL is there: the stack is zero */
		poke(sys, mm, at, text + from);
		at += 8;
		from = text_end(s, from);
	}
	return 0;
}

static int new_image(struct ksys *sys, struct mm *mm, const struct strings *s,
		     struct kentry_start *start)
{
	int rc = elf_load(sys, mm, sys->image, &start->pc);

	return rc ? rc : build_stack(sys, mm, s, &start->sp);
}

/* -- the first program ------------------------------------------------------- */

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

static int first_task(struct ksys *sys, struct ksys_task *task, struct kentry_start *start)
{
	static const char name[] = "agent";
	const struct strings args = { .text = name, .used = sizeof(name), .argc = 1 };
	int rc;

	memcpy(task->comm, name, sizeof(name));
	cred_init(&task->cred);
	task->mm = mm_create(sys);
	task->sig.hand = sighand_create(sys);
	if (!task->mm || !task->sig.hand)
		return -ENOMEM;
	rc = standard_files(sys, task);
	if (!rc)
		rc = pid_assign(sys, task, sys->pid_ns);
	return rc ? rc : new_image(sys, task->mm, &args, start);
}

int kentry_exec(struct ksys *sys, const void *elf, size_t elf_size, const void *input,
		size_t input_size, struct kentry_start *start)
{
	struct ksys_task *task = task_create(sys);
	struct sys_cpu *cpu = sys_this_cpu(sys);
	unsigned long flags;
	int rc;

	if (!task)
		return -ENOMEM;
	sys->input = input;
	sys->input_size = input_size;
	sys->image = memobj_from(sys, elf, elf_size);
	rc = sys->image ? first_task(sys, task, start) : -ENOMEM;
	if (rc) {
		mm_put(sys, task->mm);
		files_put(sys, task->files);
		limits_put(sys, task->limits);
		signal_exit(sys, task);
		pid_release(sys, task);
		ksys_task_put(sys, task);
		return rc;
	}
	flags = hal_irq_save(cpu->hal);
	sys->first = task->group;
	task->state = TASK_RUNNING;
	task->cpu = (int)hal_cpu_id(cpu->hal);
	task->on = (unsigned)task->cpu;
	cpu->current = task;
	cpu->mm = task->mm;
	mm_activate(sys, task->mm);
	kperf_sched_in(sys->perf, cpu->hal, task);
	hal_irq_restore(cpu->hal, flags);
	return 0;
}

/* -- execve ------------------------------------------------------------------ */

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* A string of the user's with its NUL into @to; how long, or -EFAULT, @toolong. */
static long copy_string(struct ksys *sys, char *to, size_t room, uint64_t uaddr, int toolong)
{
	for (size_t n = 0; n < room; n++) {
		if (ksys_copy_from_user(sys, to + n, uaddr + n, 1))
			return -EFAULT;
		if (!to[n])
			return (long)n + 1;
	}
	return toolong;
}

static long copy_vector(struct ksys *sys, struct strings *s, char *text, uint64_t uvec,
			unsigned *count)
{
	for (; uvec; uvec += 8) {
		uint64_t uaddr;
		long n;

		if (ksys_copy_from_user(sys, &uaddr, uvec, sizeof(uaddr)))
			return -EFAULT;
		if (!uaddr)
			return 0;
		n = copy_string(sys, text + s->used, ARGS_MAX - s->used, uaddr, -E2BIG);
		if (n < 0)
			return n;
		s->used += (size_t)n;
		++*count;
	}
	return 0;
}

/* There is one program, under two names. */
static long find_program(struct ksys *sys, uint64_t upath, char *path)
{
	long n = copy_string(sys, path, PATH_MAX, upath, -ENAMETOOLONG);

	if (n < 0)
		return n;
	return same(path, "/proc/self/exe") || same(path, "/agent") ? 0 : -ENOENT;
}

/* Linux de_thread(): the caller becomes its group's only thread and takes the
 * leader's number over. */
static void become_leader(struct ksys *sys, struct ksys_task *task)
{
	struct group *group = task->group;
	struct ksys_task *old = group->leader;

	group->execing = NULL;
	if (old == task)
		return;
	pid_exchange(sys, task, old);
	group->leader = task;
	pid_release(sys, old);
	ksys_task_put(sys, old); /* it waited for its group's end */
}

static const char *basename(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static void set_comm(struct ksys_task *task, const char *path)
{
	const char *name = basename(path);
	size_t n = 0;

	memset(task->comm, 0, COMM_SIZE);
	for (; name[n] && n < COMM_SIZE - 1; n++)
		task->comm[n] = name[n];
}

/* From here on nothing fails (Linux begin_new_exec()). */
static void replace(struct ksys *sys, struct ksys_task *task, struct mm *mm, const char *path,
		    const struct kentry_start *start)
{
	struct sys_cpu *cpu = sys_this_cpu(sys);
	struct mm *old = task->mm;
	struct hal_context ctx;
	unsigned long flags = hal_irq_save(cpu->hal);

	task->mm = mm;
	cpu->mm = mm;
	mm_activate(sys, mm);
	hal_irq_restore(cpu->hal, flags);
	task->clear_tid = 0;
	task_vfork_done(sys, task);
	mm_put(sys, old);
	files_exec(sys, task->files);
	cred_exec(&task->cred);
	signal_exec(sys, task);
	kperf_exec(sys->perf, task);
	set_comm(task, path);
	hal_context_init(&ctx, start->pc, start->sp);
	flags = hal_irq_save(cpu->hal);
	hal_context_load(cpu->hal, &ctx);
	hal_irq_restore(cpu->hal, flags);
}

static long exec_alone(struct ksys *sys, struct ksys_task *task, const char *path,
		       const struct strings *s)
{
	struct mm *mm = mm_create(sys);
	struct kentry_start start;
	struct files *files;
	int rc = mm ? new_image(sys, mm, s, &start) : -ENOMEM;

	files = rc ? NULL : files_copy(sys, task->files);
	if (!files) {
		mm_put(sys, mm);
		return rc ? rc : -ENOMEM;
	}
	become_leader(sys, task);
	files_put(sys, task->files); /* the table is nobody else's any more */
	task->files = files;
	replace(sys, task, mm, path, &start);
	return SYS_NO_RESULT;
}

long sys_execve(struct ksys *sys, const uint64_t a[6])
{
	struct ksys_task *task = ksys_current(sys);
	struct strings s = { 0 };
	char path[PATH_MAX], *text;
	long rc = find_program(sys, a[0], path);

	if (rc)
		return rc;
	if (task->group->nthreads > 1) {
		group_kill(sys, task->group, task);
		task->group->execing = task;
		task_sleep_on(sys, (struct channel){ 0 });
		return task_block(sys, UINT64_MAX);
	}
	text = ksys_alloc(sys, ARGS_MAX);
	if (!text)
		return -ENOMEM;
	s.text = text;
	rc = copy_vector(sys, &s, text, a[1], &s.argc);
	if (!rc)
		rc = copy_vector(sys, &s, text, a[2], &s.envc);
	if (!rc)
		rc = exec_alone(sys, task, path, &s);
	ksys_free(sys, text);
	return rc;
}
