/* SPDX-License-Identifier: Apache-2.0 */
/* role_users: under which uids the three roles run. */
#ifndef BELFRY_CLI_ROLE_USERS_H
#define BELFRY_CLI_ROLE_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* systemd's range for dynamic users (systemd's doc/UIDS-GIDS): no package and no administrator uses
 * it. */
#define DYNAMIC_UID_FIRST 61184u
#define DYNAMIC_UID_LAST  65519u

struct role_users {
	uid_t collector;
	uid_t symbolizer;
	uid_t uploader;
	gid_t ipc;    /* group of all three: who may connect to the sockets */
	gid_t reader; /* group that may read the profiles: the uploader's own, and the launcher's */
	bool dynamic; /* free uids, since the system users do not exist */
	int lock;     /* held until the roles run under their uids; -1 when no lock is needed */
};

/*
 * The system users of the policies where all exist, else free uids. A lock keeps two recordings
 * that start at the same time from choosing the same. Returns false and a sentence in `problem`.
 */
bool role_users_find(struct role_users *u, char *problem, size_t size);

/* The roles are visible under their uids now. */
void role_users_settled(struct role_users *u);

/* A set of uids and gids that are in use. */
struct uid_set {
	unsigned char taken[DYNAMIC_UID_LAST - DYNAMIC_UID_FIRST + 1];
};

/* First run of `count` free uids at or after `from`, wrapping around once; 0 when there is none. */
uid_t uid_set_find(const struct uid_set *s, uid_t from, unsigned int count);

#endif
