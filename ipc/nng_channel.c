/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/nng_channel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>

#define PATH_MAX_BYTES 100
#define RECONNECT_MIN_MS 200
#define RECONNECT_MAX_MS 5000

struct nng_channel {
	nng_socket socket;
	bool push;
	uint64_t peer_uid;
	atomic_int accepted;    /* id of the one pipe that was let in, 0 = none (nng's ids start at 1) */
	atomic_uint_fast64_t refused;
	nng_msg *received;      /* lent to the caller until the next receive */
};

static int errno_of(int nng_error)
{
	switch (nng_error) {
	case 0:
		return 0;
	case NNG_EAGAIN:
	case NNG_ETIMEDOUT:
		return -EAGAIN;
	case NNG_ENOMEM:
		return -ENOMEM;
	case NNG_EADDRINUSE:
		return -EADDRINUSE;
	case NNG_EPERM:
		return -EPERM;
	case NNG_ENOENT:
		return -ENOENT;
	case NNG_EMSGSIZE:
		return -EMSGSIZE;
	case NNG_ECONNREFUSED:
		return -ECONNREFUSED;
	default:
		return -EIO;
	}
}

/*
 * Runs on an nng thread before a pipe carries anything. Any local process that reaches the socket
 * file may connect; only the one uid that belongs at the other end is let in, one at a time.
 */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument)
{
	struct nng_channel *c = argument;
	uint64_t uid = UINT64_MAX;
	int id = nng_pipe_id(pipe);
	int none = 0;

	if (event == NNG_PIPE_EV_REM_POST) {
		/* Comes for refused pipes as well: only the accepted one makes room for the next. */
		atomic_compare_exchange_strong(&c->accepted, &id, 0);
		return;
	}
	if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) != 0 || uid != c->peer_uid ||
	    !atomic_compare_exchange_strong(&c->accepted, &none, id)) {
		atomic_fetch_add(&c->refused, 1);
		nng_pipe_close(pipe);
	}
}

static int set_options(struct nng_channel *c, const struct nng_channel_options *o)
{
	int error = nng_socket_set_size(c->socket, NNG_OPT_RECVMAXSZ, o->receive_max);

	/* nng's own queues stay empty: what waits, waits where it is counted. */
	if (!error && !o->push)
		error = nng_socket_set_int(c->socket, NNG_OPT_RECVBUF, 1);
	if (!error && o->push)
		error = nng_socket_set_int(c->socket, NNG_OPT_SENDBUF, 0);
	if (!error)
		error = nng_socket_set_ms(c->socket, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS);
	if (!error)
		error = nng_socket_set_ms(c->socket, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
	if (!error)
		error = nng_pipe_notify(c->socket, NNG_PIPE_EV_ADD_PRE, on_pipe, c);
	if (!error)
		error = nng_pipe_notify(c->socket, NNG_PIPE_EV_REM_POST, on_pipe, c);
	return error;
}

static int listen_at(struct nng_channel *c, const char *url)
{
	nng_listener listener;
	int error = nng_listener_create(&listener, c->socket, url);

	if (!error)
		error = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, 0660);
	if (!error)
		error = nng_listener_start(listener, 0);
	return error;
}

int nng_channel_open(struct nng_channel **out, const struct nng_channel_options *o)
{
	char url[sizeof("ipc://") + PATH_MAX_BYTES];
	struct nng_channel *c;
	int error;

	if (strlen(o->path) > PATH_MAX_BYTES)
		return -ENAMETOOLONG;
	snprintf(url, sizeof(url), "ipc://%s", o->path);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->push = o->push;
	c->peer_uid = o->peer_uid;
	error = o->push ? nng_push0_open(&c->socket) : nng_pull0_open(&c->socket);
	if (error) {
		free(c);
		return errno_of(error);
	}
	error = set_options(c, o);
	if (!error && o->listen)
		error = listen_at(c, url);
	else if (!error)
		error = nng_dial(c->socket, url, NULL, NNG_FLAG_NONBLOCK);
	if (error)
		return errno_of(error); /* the socket stays open: closing it races in nng 1.5 */
	/* nng makes the pipe behind it when first asked: now, since pipe2() is not in any role's filter. */
	if (nng_channel_poll_fd(c) < 0)
		return -EMFILE;
	*out = c;
	return 0;
}

int nng_channel_poll_fd(struct nng_channel *c)
{
	int fd = -1;

	if (nng_socket_get_int(c->socket, c->push ? NNG_OPT_SENDFD : NNG_OPT_RECVFD, &fd) != 0)
		return -1;
	return fd;
}

int nng_channel_send(struct nng_channel *c, const void *data, size_t len)
{
	nng_msg *message;
	int error = nng_msg_alloc(&message, len);

	if (error)
		return errno_of(error);
	memcpy(nng_msg_body(message), data, len);
	error = nng_sendmsg(c->socket, message, NNG_FLAG_NONBLOCK);
	if (error)
		nng_msg_free(message);
	return errno_of(error);
}

int nng_channel_receive(struct nng_channel *c, const uint8_t **data, size_t *len)
{
	int error;

	if (c->received) {
		nng_msg_free(c->received);
		c->received = NULL;
	}
	error = nng_recvmsg(c->socket, &c->received, NNG_FLAG_NONBLOCK);
	if (error) {
		c->received = NULL;
		error = errno_of(error);
		return error == -EAGAIN ? 0 : error;
	}
	*data = nng_msg_body(c->received);
	*len = nng_msg_len(c->received);
	return 1;
}

uint64_t nng_channel_refused(struct nng_channel *c)
{
	return atomic_load(&c->refused);
}
