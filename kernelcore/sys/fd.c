/* SPDX-License-Identifier: MIT */
/* Tables of file descriptors: chunks, so that a large one needs no run of pages. */
#include "kernelcore/sys/file.h"

#include <string.h>

#include "kernelcore/sys/internal.h"
#include "kernelcore/sys/rlimit.h"

/* Sizes that fill what ksys_alloc() gives. */
enum { CHUNK_FDS = 120, CHUNKS = 60, WORD = 64 };

struct chunk {
	struct file *file[CHUNK_FDS];
	uint64_t cloexec[(CHUNK_FDS + WORD - 1) / WORD];
};

struct files {
	unsigned refs;
	unsigned next; /* no number below is free */
	struct chunk *chunk[CHUNKS];
};

static struct file **slot(const struct files *files, uint64_t fd)
{
	struct chunk *chunk = fd < CHUNK_FDS * CHUNKS ? files->chunk[fd / CHUNK_FDS] : NULL;

	return chunk ? &chunk->file[fd % CHUNK_FDS] : NULL;
}

static struct file **make_slot(struct ksys *sys, struct files *files, unsigned fd)
{
	struct chunk **chunk = &files->chunk[fd / CHUNK_FDS];

	if (!*chunk)
		*chunk = ksys_alloc(sys, sizeof(**chunk));
	return *chunk ? &(*chunk)->file[fd % CHUNK_FDS] : NULL;
}

static uint64_t *cloexec_word(const struct files *files, uint64_t fd)
{
	return &files->chunk[fd / CHUNK_FDS]->cloexec[fd % CHUNK_FDS / WORD];
}

static void set_cloexec(struct files *files, uint64_t fd, bool on)
{
	uint64_t bit = UINT64_C(1) << fd % WORD, *word = cloexec_word(files, fd);

	*word = on ? *word | bit : *word & ~bit;
}

static bool get_cloexec(const struct files *files, uint64_t fd)
{
	return *cloexec_word(files, fd) >> fd % WORD & 1;
}

struct files *files_create(struct ksys *sys)
{
	struct files *files = ksys_alloc(sys, sizeof(*files));

	if (files)
		files->refs = 1;
	return files;
}

void files_get(struct files *files)
{
	files->refs++;
}

/* A number that another thread has reserved is nobody's in the copy. */
static void copy_chunk(struct files *to, const struct chunk *from, unsigned n)
{
	struct chunk *chunk = to->chunk[n];

	memcpy(chunk, from, sizeof(*chunk));
	for (unsigned i = 0; i < CHUNK_FDS; i++) {
		if (chunk->file[i] && chunk->file[i]->kind == FILE_RESERVED)
			chunk->file[i] = NULL;
		if (chunk->file[i])
			file_get(chunk->file[i]);
	}
}

struct files *files_copy(struct ksys *sys, const struct files *files)
{
	struct files *copy = files_create(sys);

	for (unsigned i = 0; copy && i < CHUNKS; i++) {
		if (!files->chunk[i])
			continue;
		copy->chunk[i] = ksys_alloc(sys, sizeof(*copy->chunk[i]));
		if (!copy->chunk[i]) {
			files_put(sys, copy);
			return NULL;
		}
		copy_chunk(copy, files->chunk[i], i);
	}
	return copy;
}

/* The number is free before the file's teardown can see it. */
static void drop(struct ksys *sys, struct files *files, unsigned fd)
{
	struct file **at = slot(files, fd), *file = *at;

	*at = NULL;
	set_cloexec(files, fd, false);
	if (fd < files->next)
		files->next = fd;
	file_put(sys, file);
}

static void drop_all(struct ksys *sys, struct files *files, bool all)
{
	for (unsigned fd = 0; fd < CHUNK_FDS * CHUNKS; fd++) {
		struct file **at = slot(files, fd);

		if (!at) /* no chunk: on to the next */
			fd += CHUNK_FDS - 1;
		else if (*at && (all || get_cloexec(files, fd)))
			drop(sys, files, fd);
	}
}

void files_put(struct ksys *sys, struct files *files)
{
	if (!files || --files->refs)
		return;
	drop_all(sys, files, true);
	for (unsigned i = 0; i < CHUNKS; i++)
		ksys_free(sys, files->chunk[i]);
	ksys_free(sys, files);
}

void files_exec(struct ksys *sys, struct files *files)
{
	drop_all(sys, files, false);
}

struct file *fd_get(struct ksys_task *task, int64_t fd)
{
	struct file **at = fd < 0 ? NULL : slot(task->files, (uint64_t)fd);

	return at && *at && (*at)->kind != FILE_RESERVED ? *at : NULL;
}

bool fd_cloexec(const struct ksys_task *task, int64_t fd)
{
	return get_cloexec(task->files, (uint64_t)fd);
}

void fd_set_cloexec(struct ksys_task *task, int64_t fd, bool on)
{
	set_cloexec(task->files, (uint64_t)fd, on);
}

int fd_add(struct ksys *sys, struct ksys_task *task, struct file *file, unsigned from,
	   bool cloexec)
{
	struct files *files = task->files;
	uint64_t limit = rlimit_cur(task, RLIMIT_NOFILE);
	unsigned fd = from > files->next ? from : files->next;

	if (limit > CHUNK_FDS * CHUNKS)
		limit = CHUNK_FDS * CHUNKS;
	for (; fd < limit; fd++) {
		struct file **at = make_slot(sys, files, fd);

		if (!at)
			return -ENOMEM;
		if (*at)
			continue;
		*at = file;
		set_cloexec(files, fd, cloexec);
		if (from <= files->next)
			files->next = fd + 1;
		return (int)fd;
	}
	return -EMFILE;
}

long fd_close(struct ksys *sys, int64_t fd)
{
	struct ksys_task *task = ksys_current(sys);

	if (!fd_get(task, fd))
		return -EBADF;
	drop(sys, task->files, (unsigned)fd);
	return 0;
}

/* dup3(2). A number that somebody has reserved is busy, as in Linux do_dup2(). */
long fd_dup_to(struct ksys *sys, struct file *file, int64_t fd, bool cloexec)
{
	struct ksys_task *task = ksys_current(sys);
	struct file **at, *old;

	if (fd < 0 || (uint64_t)fd >= rlimit_cur(task, RLIMIT_NOFILE) ||
	    fd >= CHUNK_FDS * CHUNKS)
		return -EBADF;
	at = make_slot(sys, task->files, (unsigned)fd);
	if (!at)
		return -ENOMEM;
	old = *at;
	if (old && old->kind == FILE_RESERVED)
		return -EBUSY;
	file_get(file);
	*at = file;
	set_cloexec(task->files, (uint64_t)fd, cloexec);
	file_put(sys, old);
	return fd;
}

/* What perf opens: the file is made with the number, so that installing it
 * cannot fail. */
int ksys_fd_reserve(struct ksys *sys, bool cloexec)
{
	struct file *file = file_create(sys, FILE_RESERVED, O_RDWR);
	int fd = file ? fd_add(sys, ksys_current(sys), file, 0, cloexec) : -ENOMEM;

	if (file && fd < 0)
		file_put(sys, file);
	return fd;
}

void ksys_fd_cancel(struct ksys *sys, int fd)
{
	drop(sys, ksys_current(sys)->files, (unsigned)fd);
}

void ksys_fd_install(struct ksys *sys, int fd, struct kperf_event *event)
{
	struct file *file = *slot(ksys_current(sys)->files, (unsigned)fd);

	file->event = event;
	file->kind = FILE_PERF;
}

int ksys_fd_event(struct ksys *sys, int fd, struct kperf_event **out)
{
	struct file *file = fd_get(ksys_current(sys), fd);

	if (!file)
		return -EBADF;
	if (file->kind != FILE_PERF)
		return -EINVAL;
	*out = file->event;
	return 0;
}
