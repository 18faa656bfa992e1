/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector_child: the collector as the launcher sees it: a child that is started as root (it drops
 * its own rights), and a control channel. It is not started again when it dies: nobody has the
 * rights for that any more.
 */
#ifndef BELFRY_CLI_COLLECTOR_CHILD_H
#define BELFRY_CLI_COLLECTOR_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/role_command.h"
#include "ipc/control_channel.h"

#define COLLECTOR_CONTROL_FD 3 /* its number in the collector */

struct collector_child {
	pid_t pid;
	int pidfd;
	int control; /* -1 after it was closed */
	bool ready;
	bool stopped; /* `counters` are the final ones */
	bool exited;
	int status; /* wait status */
	bool has_counters;
	struct counters_record counters; /* last ones told */
	const char *broken;		 /* what was wrong with a message that closed the channel */
};

/* Returns 0 or -errno. */
int collector_child_start(struct collector_child *c, const struct role_command *command);

/* Sends a message without arguments. A channel that does not take it is closed. */
void collector_child_send(struct collector_child *c, enum control_message_type type);
void collector_child_filter(struct collector_child *c, enum filter_kind kind, uint64_t key,
			    bool descendants);

/* Takes messages that are there, and the exit of the process. */
void collector_child_read(struct collector_child *c);

/* Closes the channel, which ends it, and waits up to `ms` for that. */
void collector_child_close(struct collector_child *c, int ms);

#endif
