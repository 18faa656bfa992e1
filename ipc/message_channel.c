/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/message_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ipc/builder.h"
#include "ipc/log.h"
#include "ipc/log_limit.h"
#include "ipc/message_piece.h"
#include "ipc/seqpacket.h"

#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS  1000
#define PACKET_MAX     (MESSAGE_HEADER_LEN + MESSAGE_PIECE_MAX)

struct message_channel {
	struct message_channel_options options;
	struct message_channel_counters counters;
	struct log_limit refusal_said;
	struct log_limit broken_said;
	int epoll;
	int listener; /* -1 at the end that connects */
	int timer;    /* -1 at the end that listens */
	int peer;     /* -1 = none */
	unsigned int retry_ms;
	/* Sending: the message under way. */
	uint8_t *message;
	size_t message_len;
	size_t message_sent; /* bytes that this peer has got */
	bool under_way;
	/* Receiving: the packet, and the pieces so far of a message of several packets. */
	struct message_assembly assembly;
	uint8_t packet[PACKET_MAX];
};

/* ---- connecting ---- */

static int watch(struct message_channel *c, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void retry_later(struct message_channel *c)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = c->retry_ms / 1000,
			      .tv_nsec = c->retry_ms % 1000 * 1000000L },
	};

	if (c->timer < 0)
		return;
	timerfd_settime(c->timer, 0, &when, NULL);
	c->retry_ms = c->retry_ms * 2 < RETRY_LAST_MS ? c->retry_ms * 2 : RETRY_LAST_MS;
}

static void disconnect(struct message_channel *c)
{
	if (c->peer < 0)
		return;
	close(c->peer); /* leaves the epoll set by itself */
	c->peer = -1;
	c->message_sent = 0; /* what the old peer got in part, the next one gets whole */
	message_assembly_reset(&c->assembly);
	retry_later(c);
}

static void refuse(struct message_channel *c, int fd, const char *why)
{
	c->counters.peers_refused++;
	if (log_limit_passes(&c->refusal_said))
		log_warn("channel_peer_refused", "%s: %s: connection closed (%llu so far)",
			 c->options.path, why, (unsigned long long)c->counters.peers_refused);
	close(fd);
}

static void break_off(struct message_channel *c)
{
	c->counters.rules_broken++;
	if (log_limit_passes(&c->broken_said))
		log_warn("channel_rule_broken",
			 "%s: a packet broke the rules: connection closed (%llu so far)",
			 c->options.path, (unsigned long long)c->counters.rules_broken);
	disconnect(c);
}

/* Takes a fresh connection over, or closes it. */
static void take_peer(struct message_channel *c, int fd)
{
	uid_t uid;
	pid_t pid;

	if (seqpacket_peer(fd, &uid, &pid) != 0 || uid != c->options.peer_uid) {
		refuse(c, fd, "the other end does not run as the user it should");
		retry_later(c);
		return;
	}
	c->peer = fd;
	if (watch(c, fd, EPOLLRDHUP | (c->options.sends ? EPOLLOUT : EPOLLIN)) != 0) {
		disconnect(c);
		return;
	}
	c->retry_ms = RETRY_FIRST_MS;
	c->counters.connections++;
}

/* A peer that is gone must not keep the next one out, even if its end was not noticed yet. What a
 * sender of messages has left behind is received first; what was said to one that only sends counts
 * for nothing. */
static bool peer_is_gone(const struct message_channel *c)
{
	struct pollfd peer = { .fd = c->peer, .events = POLLRDHUP };
	uint8_t byte;

	if (c->options.sends)
		return poll(&peer, 1, 0) > 0;
	return recv(c->peer, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void accept_peer(struct message_channel *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (c->peer >= 0 && peer_is_gone(c))
		disconnect(c);
	if (c->peer >= 0) {
		refuse(c, fd, "there is a peer already");
		return;
	}
	take_peer(c, fd);
}

static void connect_peer(struct message_channel *c)
{
	uint64_t expirations;
	int fd;

	if (read(c->timer, &expirations, sizeof(expirations)) != sizeof(expirations) ||
	    c->peer >= 0)
		return;
	fd = seqpacket_connect(c->options.path);
	if (fd >= 0)
		take_peer(c, fd);
	else
		retry_later(c);
}

/* Whatever happened since the last call, but for messages. */
static void service(struct message_channel *c)
{
	struct epoll_event events[4];
	int count = epoll_wait(c->epoll, events, 4, 0);

	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == c->listener)
			accept_peer(c);
		else if (events[i].data.fd == c->timer)
			connect_peer(c);
		else if (c->options.sends && events[i].data.fd == c->peer &&
			 (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
			disconnect(c);
	}
}

static int open_descriptors(struct message_channel *c)
{
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		return -errno;
	if (c->options.listens) {
		c->listener = seqpacket_listen(c->options.path);
		return c->listener < 0 ? c->listener : watch(c, c->listener, EPOLLIN);
	}
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->timer < 0)
		return -errno;
	c->retry_ms = 1; /* the first time at once */
	retry_later(c);
	c->retry_ms = RETRY_FIRST_MS;
	return watch(c, c->timer, EPOLLIN);
}

int message_channel_open(struct message_channel **out, const struct message_channel_options *o)
{
	struct message_channel *c = calloc(1, sizeof(*c));
	int error;

	if (!c)
		return -ENOMEM;
	c->options = *o;
	c->epoll = c->listener = c->timer = c->peer = -1;
	c->assembly.message_max = o->message_max;
	error = open_descriptors(c);
	if (error) {
		message_channel_close(c);
		return error;
	}
	*out = c;
	return 0;
}

void message_channel_close(struct message_channel *c)
{
	const int fds[] = { c->peer, c->listener, c->timer, c->epoll };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	message_assembly_reset(&c->assembly);
	free(c->message);
	free(c);
}

int message_channel_poll_fd(const struct message_channel *c)
{
	return c->epoll;
}

bool message_channel_connected(const struct message_channel *c)
{
	return c->peer >= 0;
}

const struct message_channel_counters *message_channel_counters(const struct message_channel *c)
{
	return &c->counters;
}

/* ---- sending ---- */

/* Sends the piece at `offset`. Returns how many bytes of the message went, 0 when it is not the
 * time, -1 when the peer is gone. */
static ssize_t send_piece(struct message_channel *c, const uint8_t *message, size_t len,
			  size_t offset)
{
	uint8_t header[MESSAGE_HEADER_LEN];
	struct builder b = builder_over(header, sizeof(header));
	size_t piece = len - offset < MESSAGE_PIECE_MAX ? len - offset : MESSAGE_PIECE_MAX;
	struct iovec parts[2] = { { header, sizeof(header) },
				  { (void *)(uintptr_t)(message + offset), piece } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

	builder_u32(&b, (uint32_t)len);
	builder_u32(&b, (uint32_t)offset);
	for (;;) {
		if (sendmsg(c->peer, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return (ssize_t)piece;
		if (errno == EAGAIN || errno == ENOBUFS)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

/* Sends from `*sent` on as far as it goes; true when all of it has gone. */
static bool send_pieces(struct message_channel *c, const uint8_t *message, size_t len, size_t *sent)
{
	while (*sent < len && c->peer >= 0) {
		ssize_t bytes = send_piece(c, message, len, *sent);

		if (bytes == 0)
			return false;
		if (bytes < 0) {
			disconnect(c);
			*sent = 0;
			return false;
		}
		*sent += (size_t)bytes;
	}
	return *sent == len;
}

bool message_channel_flush(struct message_channel *c)
{
	service(c);
	if (c->under_way && c->peer >= 0 &&
	    send_pieces(c, c->message, c->message_len, &c->message_sent)) {
		free(c->message);
		c->message = NULL;
		c->under_way = false;
	}
	return !c->under_way;
}

int message_channel_send(struct message_channel *c, const void *data, size_t len)
{
	size_t sent = 0;

	if (len == 0 || len > c->options.message_max)
		return -EMSGSIZE;
	if (!message_channel_flush(c) || c->peer < 0)
		return -EAGAIN;
	if (send_pieces(c, data, len, &sent))
		return 0;
	if (sent == 0)
		return -EAGAIN;
	/* Some of it has gone: the rest follows when there is room, or all of it to another. */
	c->message = malloc(len);
	if (!c->message) {
		disconnect(c);
		return -ENOMEM;
	}
	memcpy(c->message, data, len);
	c->message_len = len;
	c->message_sent = sent;
	c->under_way = true;
	return 0;
}

/* ---- receiving ---- */

int message_channel_receive(struct message_channel *c, const uint8_t **data, size_t *len)
{
	service(c);
	while (c->peer >= 0) {
		ssize_t got = seqpacket_receive(c->peer, c->packet, sizeof(c->packet), NULL);
		enum message_progress progress;

		if (got == -EAGAIN)
			return 0;
		if (got == 0 || (got < 0 && got != -EMSGSIZE)) {
			disconnect(c);
			return 0;
		}
		progress = got < 0 ? MESSAGE_BROKEN
				   : message_assembly_add(&c->assembly, c->packet, (uint32_t)got,
							  data, len);
		if (progress == MESSAGE_WHOLE)
			return 1;
		if (progress == MESSAGE_BROKEN)
			break_off(c);
	}
	return 0;
}
