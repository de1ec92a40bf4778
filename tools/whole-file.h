/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all; a device or a pipe is written to as it is. */
#ifndef PMULAB_TOOLS_WHOLE_FILE_H
#define PMULAB_TOOLS_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
	const char *path; /* the caller's, until it is closed */
	FILE *file;
	char *tmp; /* becomes path; NULL: file is path itself */
};

/* 0, or -1 when it has complained. */
int whole_file_open(struct whole_file *whole, const char *path);
/* @good: all is written; else nothing shall be left. 0, or -1 when it was not good or it
 * has complained. Also for one that could not be opened. */
int whole_file_close(struct whole_file *whole, bool good);

#endif
