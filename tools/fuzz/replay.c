/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target without libFuzzer: every file named, or in a folder named, once.
 * With -n N each file N times, and the executions a second. Prints TAP, so that
 * an old crash is an ordinary test.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	INPUT_BYTES = 1 << 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long done, times = 1;

static void replay(const char *path)
{
	static uint8_t data[INPUT_BYTES];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file) {
		perror(path);
		exit(2);
	}
	n = fread(data, 1, sizeof(data), file);
	fclose(file);
	/* the last line of a crash's output names its input */
	fprintf(stderr, "# %s\n", path);
	for (unsigned long i = 0; i < times; i++)
		LLVMFuzzerTestOneInput(data, n);
	printf("ok %lu - %s\n", ++done,
	       strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void replay_folder(const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, by_name);
	char file[4096];

	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			replay(file);
		free(entries[i]);
	}
	free(entries);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now();
	struct stat st;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-n") && i + 1 < argc)
			times = strtoul(argv[++i], NULL, 0);
		else if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			replay_folder(argv[i]);
		else
			replay(argv[i]);
	}
	printf("1..%lu\n", done);
	if (times > 1)
		printf("# %.0f executions a second\n",
		       (double)(done * times) / (now() - start));
	/* nothing replayed is nothing tested */
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
