/* SPDX-License-Identifier: Apache-2.0 */
/* privileges: who a process is, how it becomes somebody else for a moment or for good. */
#ifndef BELFRY_CLI_PRIVILEGES_H
#define BELFRY_CLI_PRIVILEGES_H

#include <stdint.h>
#include <sys/types.h>

#define PERSON_GROUPS_MAX 1024

/* A user with the groups that its processes have. */
struct person {
	uid_t uid;
	gid_t gid;
	uint32_t group_count;
	gid_t groups[PERSON_GROUPS_MAX]; /* supplementary */
};

/* Capabilities in the permitted set of this process: bit = CAP_*. */
uint64_t privileges_permitted(void);

/*
 * Acts as `who` until privileges_return(): effective ids only, so that files are opened and created
 * with that user's rights. Single-threaded processes only. Returns 0 or -errno.
 */
int privileges_lend(const struct person *who);

/* Back to root. A process that cannot get back must not go on: it ends. */
void privileges_return(void);

/*
 * Becomes `who` for good: all ids, groups, no capability in any set, bounding set empty,
 * no_new_privs, not dumpable. With uid 0 it remains the owner of root's files, and nothing else.
 * Verified by reading back. Returns 0 or -errno.
 */
int privileges_drop(const struct person *who);

/*
 * Becomes `who` as a login would: ids and groups, no inheritable or ambient capabilities; what that
 * user may do (sudo, ping) goes on to work, so bounding set and no_new_privs stay. Returns 0 or
 * -errno.
 */
int privileges_become_user(const struct person *who);

#endif
