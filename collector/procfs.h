/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs: pure decoders of the few /proc texts that the collector reads. The kernel writes them,
 * but names inside are chosen by the profiled processes: only fixed leading fields are looked at,
 * and names are passed on as bytes. Each refuses text that is longer than its limit, returns NULL
 * or a constant sentence, and is proven by `make prove`.
 */
#ifndef BELFRY_COLLECTOR_PROCFS_H
#define BELFRY_COLLECTOR_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/* Two paths of PATH_MAX bytes, each byte escaped to four, do not quite fit: such a line is unknown.
 */
#define PROC_LINE_MAX	32768
#define PROC_STAT_MAX	1024
#define PROC_FDINFO_MAX 1024

#define PROC_MOUNT_TYPE_LEN 32

/* One line of /proc/PID/maps, without its newline (proc_pid_maps(5)). */
struct proc_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint32_t device_major;
	uint32_t device_minor;
	bool executable;
	const uint8_t *path; /* foreign bytes inside the line, not owned */
	uint32_t path_len;   /* 0 where there is none */
};

const char *proc_mapping_decode(const uint8_t *line, uint32_t len, struct proc_mapping *m);

/* /proc/PID/stat (proc_pid_stat(5)), as far as it tells one process from another. */
struct proc_stat {
	uint32_t parent;
	uint64_t start_ticks; /* after boot, in USER_HZ */
};

const char *proc_stat_decode(const uint8_t *text, uint32_t len, struct proc_stat *s);

/* The mount id in /proc/PID/fdinfo/N. */
const char *proc_fdinfo_decode(const uint8_t *text, uint32_t len, uint64_t *mount_id);

/* One line of /proc/PID/mountinfo, without its newline (proc_pid_mountinfo(5)). */
struct proc_mount {
	uint64_t id;
	uint32_t device_major;
	uint32_t device_minor;
	char type[PROC_MOUNT_TYPE_LEN]; /* of the file system, NUL padded; a longer one is cut */
};

const char *proc_mount_decode(const uint8_t *line, uint32_t len, struct proc_mount *m);

/* File systems whose answers come from another process or host: opening or reading may block for
 * ever. */
bool proc_mount_is_remote(const struct proc_mount *m);

#endif
