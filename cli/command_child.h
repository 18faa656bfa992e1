/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_child: COMMAND, run as the invoking user with that user's groups, no inherited
 * descriptors and no capabilities, in the terminal's foreground like any command.
 *
 * Between it and the launcher stands a guard: a process of the same user that waits for it and can
 * still signal it when the launcher has become somebody else. COMMAND waits until it is released,
 * so that not even its first instruction is missed.
 */
#ifndef BELFRY_CLI_COMMAND_CHILD_H
#define BELFRY_CLI_COMMAND_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/invoking_user.h"

struct command_child {
	pid_t guard;
	int channel; /* -1: there is no command */
	pid_t pid;   /* of COMMAND */
	bool ended;
	int status;	/* wait status, when it ended */
	int exec_error; /* errno of a failed execve(), 0 = it runs or ran */
};

/* Forks guard and COMMAND, which waits. Call as root. Returns 0 or -errno. */
int command_child_start(struct command_child *c, char **argv, const struct invoking_user *u);

/* Lets COMMAND run. */
void command_child_release(struct command_child *c);

/* Takes what the guard has to say; true when COMMAND has ended or could not be started. Never
 * blocks. */
bool command_child_read(struct command_child *c);

/* Ends COMMAND if it still runs (SIGTERM, after 2 s SIGKILL), and the guard. */
void command_child_close(struct command_child *c);

#endif
