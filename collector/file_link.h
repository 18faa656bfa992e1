/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_link: the collector's end of the file channel: connects, checks who answers, says HELLO, and
 * takes only messages that the rule table allows. Never blocks. A rule that the symbolizer breaks
 * closes the connection.
 */
#ifndef BELFRY_COLLECTOR_FILE_LINK_H
#define BELFRY_COLLECTOR_FILE_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/log_limit.h"
#include "ipc/file_channel.h"

struct file_link {
	char path[108];
	uid_t peer_uid;
	uint64_t stream_id;
	int fd;		      /* -1 while there is no connection */
	uint32_t phase;	      /* FILE_PHASE_* */
	uint64_t since_ms;    /* when the connection was made */
	uint64_t next_try_ms; /* when to connect again */
	uint64_t wait_ms;     /* between tries */
	bool blocked;	      /* the socket took no more: wait for POLLOUT */
	uint64_t connections;
	uint64_t refused; /* broken rules, wrong peers */
	struct log_limit refusal_said;
};

void file_link_init(struct file_link *l, const char *path, uid_t peer_uid, uint64_t stream_id);

/* Connects when it is time to, gives up on a peer that says no HELLO. */
void file_link_run(struct file_link *l, uint64_t now_ms);

/* True between the peer's HELLO and the end of the connection. */
bool file_link_is_open(const struct file_link *l);

/* The next message. Returns 1, or 0 when there is none now (or no connection any more). */
int file_link_receive(struct file_link *l, uint64_t now_ms, struct file_message *m);

/* Sends, with `pass_fd` unless -1. Returns 0, -EAGAIN, or -ENOTCONN when the connection is gone. */
int file_link_send(struct file_link *l, uint64_t now_ms, const struct file_message *m, int pass_fd);

/* A message said something that its rule cannot express: the connection is closed and counted. */
void file_link_refuse(struct file_link *l, uint64_t now_ms, const char *why);

/* Milliseconds until file_link_run() is needed again without an event, -1 = never. */
int file_link_timeout(const struct file_link *l, uint64_t now_ms);

void file_link_close(struct file_link *l, uint64_t now_ms);

#endif
