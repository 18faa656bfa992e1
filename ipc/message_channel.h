/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_channel: messages one way between two roles, over a SEQPACKET socket with a path. One end listens, the other
 * connects, again and again if need be; either may be the one that sends. One peer at a time, known by its uid. A message longer
 * than a packet is cut into pieces and put together again; whoever breaks a rule is disconnected and counted.
 * Nothing blocks, nothing starts a thread, and what is not yet sent when the peer goes away is sent to the next one.
 *
 * A packet: u32 length of the message, u32 offset of this piece in it, then the piece (MESSAGE_PIECE_MAX bytes but for the last).
 */
#ifndef BELFRY_IPC_MESSAGE_CHANNEL_H
#define BELFRY_IPC_MESSAGE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MESSAGE_PIECE_MAX (64 * 1024) /* bytes: a batch of samples is one packet */
#define MESSAGE_HEADER_LEN 8

struct message_channel;

struct message_channel_options {
	const char *path;   /* of the socket, at most 107 bytes; not owned, must stay */
	bool sends;         /* this end sends, else it receives */
	bool listens;       /* this end listens, else it connects */
	uid_t peer_uid;     /* the only uid accepted at the other end */
	size_t message_max; /* bytes of a message; a longer one ends the connection */
};

/* Returns 0 and a channel that the caller owns, or -errno (logged by the caller). */
int message_channel_open(struct message_channel **out, const struct message_channel_options *o);

/*
 * A descriptor that is readable (POLLIN) when send, respectively receive, may get on: a peer has come or gone, there is room, there
 * is a message, it is time to try to connect. A sender polls it only while it has something to send.
 */
int message_channel_poll_fd(const struct message_channel *c);

/* Takes a copy of the message. Returns 0 when it was taken, -EAGAIN when nobody takes it now, -EMSGSIZE, -ENOMEM. */
int message_channel_send(struct message_channel *c, const void *data, size_t len);

/* Sends on what was taken; true when nothing of it waits here any more. */
bool message_channel_flush(struct message_channel *c);

/*
 * Receives one message. Returns 1 with *data (owned by the channel until the next receive) and *len, 0 when there is none.
 */
int message_channel_receive(struct message_channel *c, const uint8_t **data, size_t *len);

bool message_channel_connected(const struct message_channel *c);

struct message_channel_counters {
	uint64_t connections;
	uint64_t peers_refused; /* another uid, or a second peer */
	uint64_t rules_broken;  /* packets that broke a rule: their senders were disconnected */
};

const struct message_channel_counters *message_channel_counters(const struct message_channel *c);

void message_channel_close(struct message_channel *c);

#endif
