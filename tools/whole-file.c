/* SPDX-License-Identifier: MIT */
#include "tools/whole-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/pmulab.h"

static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int complain_of(const struct whole_file *whole)
{
	complain("%s: %s", whole->path, strerror(errno ? errno : EIO));
	return -1;
}

int whole_file_open(struct whole_file *whole, const char *path)
{
	*whole = (struct whole_file){ .path = path };
	if (!is_special(path) && asprintf(&whole->tmp, "%s.tmp", path) < 0) {
		whole->tmp = NULL;
		return complain_of(whole);
	}
	whole->file = fopen(whole->tmp ? whole->tmp : path, "w");
	return whole->file ? 0 : complain_of(whole);
}

int whole_file_close(struct whole_file *whole, bool good)
{
	bool failed = false;

	if (whole->file) {
		failed = fflush(whole->file) || ferror(whole->file);
		failed |= fclose(whole->file) != 0;
	}
	if (good && !failed && whole->tmp)
		failed = rename(whole->tmp, whole->path);
	if (good && failed)
		complain_of(whole);
	if (whole->tmp && whole->file && (!good || failed))
		unlink(whole->tmp);
	free(whole->tmp);
	return good && !failed ? 0 : -1;
}
