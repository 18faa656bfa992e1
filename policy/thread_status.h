/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_status: the rights of one thread, as the kernel tells them in /proc/PID/task/TID/status.
 * Rights are per thread: reading the process's own status only would miss a thread that was started
 * too early.
 */
#ifndef BELFRY_POLICY_THREAD_STATUS_H
#define BELFRY_POLICY_THREAD_STATUS_H

#include <stdint.h>
#include <sys/types.h>

#define THREAD_STATUS_GROUPS   32
#define THREAD_STATUS_TEXT_MAX 8192 /* bytes of a status file that are looked at */

struct thread_status {
	uid_t uid[4]; /* real, effective, saved, file system */
	gid_t gid[4];
	gid_t groups[THREAD_STATUS_GROUPS];
	uint32_t group_count; /* may be above THREAD_STATUS_GROUPS: the rest is not listed */
	pid_t inner_pid;      /* process id in its innermost pid namespace */
	uint64_t inheritable;
	uint64_t permitted;
	uint64_t effective;
	uint64_t bounding;
	uint64_t ambient;
	uint32_t no_new_privileges;
	uint32_t seccomp; /* 0 none, 1 strict, 2 filter */
};

/* Parses the text of a status file. Returns NULL, or a constant sentence that names what is
 * missing. */
const char *thread_status_parse(const char *text, struct thread_status *out);

/* Reads the file at `path`. Returns 0, -errno, or -EBADMSG for a text that lacks a line. */
int thread_status_read(const char *path, struct thread_status *out);

/* The calling thread, asked by system calls: also works where Landlock has closed /proc. */
int thread_status_self(struct thread_status *out);

#endif
