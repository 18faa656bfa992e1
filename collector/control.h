/* SPDX-License-Identifier: Apache-2.0 */
/* control: the collector's end of the control channel. A packet that breaks a rule closes it. */
#ifndef BELFRY_COLLECTOR_CONTROL_H
#define BELFRY_COLLECTOR_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/control_channel.h"

/* Over an inherited descriptor, -1 = there is no channel. */
struct control {
	int fd;
};

/* Makes the inherited descriptor ours (non-blocking, close-on-exec). Returns 0 or -errno (logged).
 */
int control_open(struct control *c, int fd);

/* Who is at the other end (the launcher), 0 where there is nobody. */
pid_t control_peer(const struct control *c);

/* Takes the next message. Returns 1, 0 when there is none, or -1 when the channel has just been
 * closed, by whom ever. */
int control_next(struct control *c, struct control_message *m);

/* A launcher that does not take its answer has its channel closed: the collector never waits for
 * it. */
void control_send(struct control *c, enum control_message_type type,
		  const struct counters_record *counters);

void control_close(struct control *c);

#endif
