/* SPDX-License-Identifier: MIT */
/* What can be asked of any open file. */
#ifndef PMULAB_KERNELCORE_SYS_FILE_H
#define PMULAB_KERNELCORE_SYS_FILE_H

#include <stdint.h>

struct file;
struct ksys;

/* dup, fcntl, lseek, fstat and their like, by arm64's number. */
long file_call(struct ksys *sys, uint64_t nr, const uint64_t args[6]);

/* What the VFS itself answers of ioctl(2); -ENOIOCTLCMD: ask the file. */
enum { ENOIOCTLCMD = 515 };
long file_vfs_ioctl(struct ksys *sys, struct file *file, uint32_t cmd, uint64_t arg);

#endif
