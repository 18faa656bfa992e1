/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_dir: the private directory of one recording.
 *
 *   /run/belfry-record.XXXXXX   root, 0711: nothing of others' making can appear in it
 *     ipc/                      the symbolizer's, group ipc, 0750: the sockets
 *     profiles/                 the uploader's, group reader, 02750: what it writes the launcher
 * can read
 *
 * The roles' supervisors empty the two folders, since these belong to their users. A keeper removes
 * the rest: a process of uid 0 without any capability that can read a pipe, remove names, and
 * nothing else (seccomp).
 */
#ifndef BELFRY_CLI_RUN_DIR_H
#define BELFRY_CLI_RUN_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/output_file.h"
#include "cli/role_users.h"

#define RUN_DIR_PATH_MAX 64

struct run_dir {
	char path[RUN_DIR_PATH_MAX];
	char ipc[RUN_DIR_PATH_MAX];	 /* path of ipc/ */
	char profiles[RUN_DIR_PATH_MAX]; /* path of profiles/ */
	int ipc_fd;
	int profiles_fd;
	uint64_t profile_bytes; /* what profiles/ may grow to */
	int keeper_pipe;	/* -1: no keeper runs */
	pid_t keeper;
};

/* Makes the directory. Returns false and a sentence; what was made is removed again. */
bool run_dir_make(struct run_dir *d, const struct role_users *u, char *problem, size_t size);

/* Starts the keeper, while the caller is root. Returns 0 or -errno. */
int run_dir_keep(struct run_dir *d, const struct output_file *output);

/* The keeper removes the output file, which the caller has no right to remove any more. */
void run_dir_discard_output(struct run_dir *d);

/* The keeper removes the directory and ends. Call when the supervisors have ended. */
void run_dir_end(struct run_dir *d);

/* Removes what is in the directory, at most two folders deep, as far as the caller may. */
void run_dir_empty(int fd);

#endif
