/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nng_channel: the two one-way nng channels. PUSH and PULL over ipc://, never
 * abstract; the peer's uid is checked before a pipe is used, one pipe at a time,
 * a receive limit is set on every socket, reconnects between 200 ms and 5 s.
 * nng starts threads: open a channel only after capabilities are dropped.
 * A channel is opened once and never closed before _exit() (nng 1.5 races otherwise).
 */
#ifndef BELFRY_IPC_NNG_CHANNEL_H
#define BELFRY_IPC_NNG_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nng_channel;

struct nng_channel_options {
	const char *path;     /* of the unix socket, at most 100 bytes */
	bool push;            /* PUSH, else PULL */
	bool listen;          /* listener, else dialer */
	uid_t peer_uid;       /* the only uid accepted */
	size_t receive_max;   /* bytes of a message; larger ones close the pipe */
};

/* Returns 0 and a channel that the caller owns, or a negative errno (logged by the caller). */
int nng_channel_open(struct nng_channel **out, const struct nng_channel_options *o);

/* Readable (POLLIN) when a receive, respectively a send, would not block. */
int nng_channel_poll_fd(struct nng_channel *c);

/* Sends a copy of the bytes. Returns 0, -EAGAIN when nobody takes it now, or another -errno. */
int nng_channel_send(struct nng_channel *c, const void *data, size_t len);

/*
 * Receives one message. Returns 1 with *data (owned by the channel until the next
 * receive) and *len, 0 when there is none, or -errno.
 */
int nng_channel_receive(struct nng_channel *c, const uint8_t **data, size_t *len);

/* Peers refused for their uid or as a second peer, since the start. */
uint64_t nng_channel_refused(struct nng_channel *c);

#endif
