/* SPDX-License-Identifier: Apache-2.0 */
/* audit_process: what /proc says of one process of a role. */
#ifndef BELFRY_CLI_AUDIT_PROCESS_H
#define BELFRY_CLI_AUDIT_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/audit_descriptors.h"
#include "policy/limit_names.h"
#include "policy/thread_status.h"

#define AUDIT_OPTIONS_MAX 8192 /* bytes of a command line that are looked at */

struct audit_thread {
	pid_t tid;
	struct thread_status status;
};

struct audit_process {
	pid_t pid;
	pid_t parent;
	char program[PATH_MAX];
	const char *role;		 /* "collector" ... */
	const char *process;		 /* "main", "zygote", "worker" */
	char command[AUDIT_OPTIONS_MAX]; /* its words, each ended by NUL, then an empty one */
	bool dumpable;
	struct audit_thread *threads; /* owned */
	uint32_t thread_count;
	uint64_t limits[LIMIT_NAME_COUNT]; /* hard, by the order of limit_names; UINT64_MAX =
					      unlimited */
	struct audit_descriptors descriptors;
};

/* Role whose program `pid` runs, or NULL. Fills `program` (PATH_MAX bytes). */
const char *audit_process_role(pid_t pid, char *program);

/* Reads the whole of it. Returns 0, -ESRCH when it ended meanwhile, or another -errno. */
int audit_process_read(pid_t pid, struct audit_process *out);

void audit_process_free(struct audit_process *a);

/* Value of `--NAME VALUE` or `--NAME=VALUE` in its command line, or NULL. */
const char *audit_process_option(const struct audit_process *a, const char *name);

#endif
