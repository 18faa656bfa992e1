/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor: a process that keeps one role running. It has become the role's user before it starts
 * the role, holds no capability, and starts the role again when that dies, although the launcher
 * has no rights left by then. The launcher holds one end of a socket pair: when it closes it, or
 * dies, the supervisor ends the role, empties the role's folder and ends itself.
 */
#ifndef BELFRY_CLI_SUPERVISOR_H
#define BELFRY_CLI_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/privileges.h"
#include "cli/role_command.h"

/* A role that dies so often cannot be helped by starting it again. */
#define SUPERVISOR_RESTARTS	    20
#define SUPERVISOR_RESTARTS_SECONDS 10

enum supervisor_event {
	SUPERVISOR_STARTED = 1, /* the role runs; detail = its pid */
	SUPERVISOR_DIED,	/* it died and is started again; detail = its wait status */
	SUPERVISOR_FINISHED,	/* it exited with 0, or was ended by supervisor_end_role() */
	SUPERVISOR_GAVE_UP,	/* it died too often; detail = its last wait status */
	SUPERVISOR_EVENTS
};

struct supervisor {
	const char *role;
	pid_t pid;
	int channel; /* -1 after supervisor_close() */
	bool started;
	bool finished;
	bool gave_up;
	bool gone; /* the supervisor itself has ended */
	uint32_t deaths;
	int last_status; /* wait status of the role's last death */
};

struct supervisor_options {
	const char *role;
	const struct role_command *command;
	const struct person *who;
	int folder;	 /* emptied at the end */
	bool quiet_exit; /* exit 0 means that its work is done; else the role is started again */
};

/* Forks it, while the caller is root. Returns 0 or -errno. */
int supervisor_start(struct supervisor *s, const struct supervisor_options *o);

/* Takes what the supervisor has to say. Returns true when it said something. Never blocks. */
bool supervisor_read(struct supervisor *s);

/*
 * Ends the role: SIGTERM, then SIGKILL when it has not gone after 5 s, or after 300 ms where it has
 * nothing left to do (`hurry`). The folder stays as it is until supervisor_close().
 */
void supervisor_end_role(struct supervisor *s, bool hurry);

/* Ends role and supervisor and waits for both. */
void supervisor_close(struct supervisor *s);

#endif
