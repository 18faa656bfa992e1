/* SPDX-License-Identifier: Apache-2.0 */
/* procfs_read: reads /proc files, bounded in bytes and in line length, and hands their text to the
 * decoders of procfs. */
#ifndef BELFRY_COLLECTOR_PROCFS_READ_H
#define BELFRY_COLLECTOR_PROCFS_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/procfs.h"

/* A /proc file that is read line by line. Large: it holds the longest line. */
struct proc_lines {
	int fd;
	uint32_t from; /* unread bytes are buffer[from, to) */
	uint32_t to;
	uint64_t left; /* bytes that may still be read of the file */
	bool skipping; /* inside a line that is longer than the buffer */
	uint8_t buffer[PROC_LINE_MAX];
};

/* Opens /proc/PID/`name`, of which at most `bytes` are read. Returns 0 or -errno. */
int proc_lines_open(struct proc_lines *l, pid_t pid, const char *name, uint64_t bytes);

/*
 * The next line without its newline, valid until the next call. Lines that are longer than
 * PROC_LINE_MAX - 1 are skipped. Returns 1, 0 at the end, -EFBIG when the bound of bytes was
 * reached, or -errno.
 */
int proc_lines_next(struct proc_lines *l, const uint8_t **line, uint32_t *len);

void proc_lines_close(struct proc_lines *l);

/* Reads up to `size` bytes of /proc/PID/`name`. Returns how many, or -errno. */
ssize_t proc_read(pid_t pid, const char *name, uint8_t *out, uint32_t size);

/* Parent and start of a process. Returns 0 or -errno (-ENOENT, -ESRCH: it is gone). */
int proc_read_stat(pid_t pid, struct proc_stat *s);

#endif
