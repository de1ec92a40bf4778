/* SPDX-License-Identifier: MIT */
/*
 * bench-marks COMMAND [ARG...]: runs it, and for each line of its output that
 * begins with @ prints the CPU time, in seconds, that the process and its threads
 * had taken when the line came, and the line. Last comes `@end` with all of it.
 * Exit status: the command's; 126 when there is no telling.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GIVEN_UP = 126 };

/* Nanoseconds that a thread ran; 0 when it is gone. */
static uint64_t thread_ns(pid_t pid, const char *thread)
{
	char path[320];
	uint64_t ns = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, thread);
	in = fopen(path, "r");
	if (!in)
		return 0;
	if (fscanf(in, "%" SCNu64, &ns) != 1)
		ns = 0;
	fclose(in);
	return ns;
}

/* Of threads that live: QEMU's do, to the end. */
static double cpu_seconds(pid_t pid)
{
	const struct dirent *entry;
	uint64_t ns = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			ns += thread_ns(pid, entry->d_name);
	closedir(dir);
	return (double)ns / 1e9;
}

static void relay(pid_t pid, FILE *in)
{
	size_t size = 0;
	char *line = NULL;

	while (getline(&line, &size, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '@')
			printf("%.6f %s\n", cpu_seconds(pid), line);
	}
	free(line);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int fd[2], status;
	FILE *in;
	pid_t pid;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		fprintf(argc < 2 ? stderr : stdout, "usage: bench-marks COMMAND [ARG...]\n");
		return argc < 2 ? GIVEN_UP : 0;
	}
	if (pipe(fd) || (pid = fork()) < 0) {
		fprintf(stderr, "bench-marks: cannot start a process\n");
		return GIVEN_UP;
	}
	if (!pid) {
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execvp(argv[1], argv + 1);
		_exit(GIVEN_UP);
	}
	close(fd[1]);
	in = fdopen(fd[0], "r");
	if (in)
		relay(pid, in);
	if (!in || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status))
		return GIVEN_UP;
	printf("%.6f @end\n",
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	return WEXITSTATUS(status);
}
