/* SPDX-License-Identifier: MIT */
/*
 * pmulab check --tap. The plan comes first, then one line a comparison. A child runs
 * the scenarios, and its words go to a file in memory and become `#` lines when
 * something fails. A scenario that crashes or hangs thus fails under its own name; the
 * next child goes on behind it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/check-item.h"

struct job {
	const char *name;
	char *broken; /* why the scenario cannot be read; NULL: it can */
	struct check_plan plan;
	uint64_t failed; /* a bit an item */
};

/* What the child tells of the scenario that it runs: shared memory. It sends a byte
 * through its socket when that is whole, and waits for one. */
struct told {
	unsigned done;
	struct {
		enum check_verdict verdict;
		off_t end; /* of its words */
	} item[CHECK_MAX_GOLDENS + 1];
	struct check_totals totals;
};

struct tap {
	const struct check_args *args;
	struct job *jobs;
	size_t njobs, nlines;
	struct told *told;
	int words;  /* a file in memory */
	int socket; /* to the child */
	pid_t pid;
	unsigned line;
	struct check_totals totals;
};

/* What need not be compared and was not asked for is no line. */
static bool is_line(const struct check_args *args, const struct check_item *item)
{
	return item->kind != CHECK_ABSENT || !args->every;
}

static void plan_job(struct tap *tap, struct job *job, const char *name)
{
	char err[512];
	struct scn *scn = read_scenario(name, err, sizeof(err));

	job->name = name;
	if (!scn) {
		job->broken = strdup(err);
		tap->nlines++;
		return;
	}
	check_plan(tap->args, scn, &job->plan);
	for (unsigned i = 0; i < job->plan.nitems; i++)
		tap->nlines += is_line(tap->args, &job->plan.item[i]);
	scn_free(scn);
}

/* -- in the child --------------------------------------------------------------- */

static void run_items(const struct tap *tap, const struct job *job, const struct scn *scn)
{
	struct told *told = tap->told;
	struct check_run run = { 0 };

	for (unsigned i = 0; i < job->plan.nitems; i++) {
		told->item[i].verdict =
			check_item(tap->args, scn, &job->plan.item[i], &run, &told->totals);
		fflush(stdout);
		told->item[i].end = lseek(STDOUT_FILENO, 0, SEEK_CUR);
		told->done = i + 1;
	}
	check_run_free(&run);
}

static void run_job(const struct tap *tap, const struct job *job)
{
	struct scn *scn = load_scenario(job->name);

	if (!scn)
		exit(EXIT_USAGE);
	run_items(tap, job, scn);
	scn_free(scn);
}

/* Of its own time: a busy machine is no failure of the scenario. */
static void start_clock(unsigned seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &limit, NULL);
}

static void child(const struct tap *tap, size_t first)
{
	char byte = 0;

	if (dup2(tap->words, STDOUT_FILENO) < 0 || dup2(tap->words, STDERR_FILENO) < 0)
		exit(EXIT_USAGE);
	for (size_t i = first; i < tap->njobs; i++) {
		if (tap->jobs[i].broken)
			continue;
		start_clock(tap->args->limit);
		run_job(tap, &tap->jobs[i]);
		if (write(tap->socket, &byte, 1) != 1 || read(tap->socket, &byte, 1) != 1)
			exit(EXIT_USAGE); /* nobody listens any more */
	}
	exit(0);
}

/* -- in the parent -------------------------------------------------------------- */

/* What is compared; @item NULL: the scenario as a whole. */
static void say_name(const struct check_args *args, const struct job *job,
		     const struct check_item *item)
{
	fputs(job->name, stdout);
	if (args->engines)
		printf(" engines");
	if (args->mode == RUNNER_GUEST)
		printf(" guest");
	if (args->timing)
		printf(" %s", args->timing->name);
	if (item && item->golden)
		printf(" %s", item->golden);
}

static void say_line(struct tap *tap, bool ok, const struct job *job,
		     const struct check_item *item)
{
	printf("%s %u - ", ok ? "ok" : "not ok", ++tap->line);
	say_name(tap->args, job, item);
}

/* From @from to @to of the child's words, as `#` lines. */
static void say_words(const struct tap *tap, off_t from, off_t to)
{
	bool fresh = true;
	char chunk[4096];
	ssize_t n;

	while (from < to) {
		n = pread(tap->words, chunk,
			  (size_t)(to - from) < sizeof(chunk) ? (size_t)(to - from) :
								sizeof(chunk),
			  from);
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++) {
			if (fresh)
				fputs("# ", stdout);
			putchar(chunk[i]);
			fresh = chunk[i] == '\n';
		}
		from += n;
	}
	if (!fresh)
		putchar('\n');
}

static void say_death(const struct tap *tap, int status)
{
	if (!WIFSIGNALED(status))
		printf("# the run ended with exit status %d\n", WEXITSTATUS(status));
	else if (WTERMSIG(status) == SIGPROF)
		printf("# the run took more than %u s of CPU time\n", tap->args->limit);
	else
		printf("# the run died of signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
}

static void say_skip(const struct check_item *item)
{
	if (item->kind == CHECK_CANNOT)
		printf(" # SKIP %s\n", item->why);
	else
		printf(" # SKIP no golden\n");
}

/* The child told nothing of item @i. */
static void say_untold(struct tap *tap, struct job *job, unsigned i, int status,
		       off_t from)
{
	say_line(tap, false, job, &job->plan.item[i]);
	putchar('\n');
	if (i == tap->told->done) {
		say_words(tap, from, lseek(tap->words, 0, SEEK_END));
		say_death(tap, status);
	} else {
		printf("# not reached\n");
	}
	job->failed |= UINT64_C(1) << i;
	tap->totals.failed++;
}

static void say_told(struct tap *tap, struct job *job, unsigned i, off_t from)
{
	const struct check_item *item = &job->plan.item[i];
	const enum check_verdict verdict = tap->told->item[i].verdict;
	const bool bad = verdict == CHECK_DIFFERS || verdict == CHECK_BAD;

	if (!is_line(tap->args, item))
		return;
	say_line(tap, !bad, job, item);
	if (verdict == CHECK_SKIPPED)
		say_skip(item);
	else
		putchar('\n');
	if (!bad)
		return;
	say_words(tap, from, tap->told->item[i].end);
	job->failed |= UINT64_C(1) << i;
}

static void add_totals(struct check_totals *sum, const struct check_totals *more)
{
	sum->passed += more->passed;
	sum->failed += more->failed;
	sum->skipped += more->skipped;
	sum->compared += more->compared;
	sum->bounded += more->bounded;
	sum->wildcarded += more->wildcarded;
	sum->raw_compared += more->raw_compared;
	sum->raw_masked += more->raw_masked;
}

static void say_job(struct tap *tap, struct job *job, int status)
{
	struct told *told = tap->told;
	off_t from = 0;

	/* Whoever dies when all is done has failed in the last. */
	if (status && told->done == job->plan.nitems)
		told->done--;
	for (unsigned i = 0; i < job->plan.nitems; i++) {
		if (i < told->done)
			say_told(tap, job, i, from);
		else if (is_line(tap->args, &job->plan.item[i]))
			say_untold(tap, job, i, status, from);
		if (i < told->done)
			from = told->item[i].end;
	}
	add_totals(&tap->totals, &told->totals);
}

static void say_broken(struct tap *tap, struct job *job)
{
	say_line(tap, false, job, NULL);
	printf("\n# %s\n", job->broken);
	tap->totals.failed++;
	job->failed = 1;
}

static int forget(struct tap *tap)
{
	memset(tap->told, 0, sizeof(*tap->told));
	return ftruncate(tap->words, 0) || lseek(tap->words, 0, SEEK_SET) ? -1 : 0;
}

static int start_child(struct tap *tap, size_t first)
{
	int end[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) || forget(tap))
		return -1;
	fflush(stdout); /* or the child says it again */
	tap->pid = fork();
	if (tap->pid < 0)
		return -1;
	tap->socket = end[!tap->pid];
	close(end[!!tap->pid]);
	if (!tap->pid)
		child(tap, first);
	return 0;
}

/* Its exit status, as of waitpid(). */
static int reap_child(struct tap *tap)
{
	int status;

	close(tap->socket);
	while (waitpid(tap->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	tap->pid = 0;
	return status;
}

static int judge(struct tap *tap, size_t i)
{
	char byte;

	if (!tap->pid && start_child(tap, i))
		return -1;
	if (read(tap->socket, &byte, 1) != 1) {
		say_job(tap, &tap->jobs[i], reap_child(tap));
		return 0;
	}
	say_job(tap, &tap->jobs[i], 0);
	if (forget(tap))
		return -1;
	/* If it died meanwhile the next read says so. */
	return send(tap->socket, &byte, 1, MSG_NOSIGNAL) < 0 && errno != EPIPE ? -1 : 0;
}

/* Who shows but the end of a long log shows these. */
static void say_end(const struct tap *tap)
{
	for (size_t i = 0; i < tap->njobs; i++) {
		const struct job *job = &tap->jobs[i];

		for (unsigned k = 0; k < 64; k++) {
			if (!(job->failed >> k & 1))
				continue;
			printf("# failed: ");
			say_name(tap->args, job, job->broken ? NULL : &job->plan.item[k]);
			putchar('\n');
		}
	}
	printf("# ");
	check_say_totals(tap->args, &tap->totals);
	putchar('\n');
}

/* The last child's way out is told too: a leak that a sanitizer found, a crash at exit. */
static bool last_child_ended_well(struct tap *tap)
{
	const int status = tap->pid ? reap_child(tap) : 0;

	if (!status)
		return true;
	say_words(tap, 0, lseek(tap->words, 0, SEEK_END));
	say_death(tap, status);
	return false;
}

static int run_all(struct tap *tap)
{
	bool well;

	printf("1..%zu\n", tap->nlines);
	for (size_t i = 0; i < tap->njobs; i++) {
		if (tap->jobs[i].broken) {
			say_broken(tap, &tap->jobs[i]);
		} else if (judge(tap, i)) {
			complain("%s: %s", tap->jobs[i].name, strerror(errno));
			return EXIT_USAGE;
		}
		fflush(stdout);
	}
	well = last_child_ended_well(tap);
	say_end(tap);
	return !well || tap->totals.failed || !tap->totals.passed ? EXIT_DIFFERS : EXIT_SAME;
}

int check_tap(const struct check_args *args, char *const *names, size_t n)
{
	struct tap tap = { .args = args, .njobs = n };
	int rc = EXIT_USAGE;

	tap.jobs = calloc(n, sizeof(*tap.jobs));
	tap.told = mmap(NULL, sizeof(*tap.told), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tap.words = memfd_create("words", MFD_CLOEXEC);
	if (tap.jobs && tap.told != MAP_FAILED && tap.words >= 0) {
		for (size_t i = 0; i < n; i++)
			plan_job(&tap, &tap.jobs[i], names[i]);
		rc = run_all(&tap);
	} else {
		complain("%s", strerror(errno));
	}
	for (size_t i = 0; tap.jobs && i < n; i++)
		free(tap.jobs[i].broken);
	free(tap.jobs);
	if (tap.told != MAP_FAILED)
		munmap(tap.told, sizeof(*tap.told));
	if (tap.words >= 0)
		close(tap.words);
	return rc;
}
