/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/file_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/seqpacket.h"

#define WAIT_LEAST_MS 200
#define WAIT_MOST_MS  5000
#define HELLO_MS      5000 /* a peer that has not said HELLO by then will not */

void file_link_init(struct file_link *l, const char *path, uid_t peer_uid, uint64_t stream_id)
{
	*l = (struct file_link){
		.peer_uid = peer_uid, .stream_id = stream_id, .fd = -1, .wait_ms = WAIT_LEAST_MS
	};
	snprintf(l->path, sizeof(l->path), "%s", path);
}

void file_link_close(struct file_link *l, uint64_t now_ms)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	/* Quick again after a connection that held; slower each time after one that did not,
	 * whoever ended it. */
	if (l->phase == FILE_PHASE_OPEN && now_ms - l->since_ms >= WAIT_MOST_MS)
		l->wait_ms = WAIT_LEAST_MS;
	l->phase = 0;
	l->next_try_ms = now_ms + l->wait_ms;
	l->wait_ms = l->wait_ms * 2 > WAIT_MOST_MS ? WAIT_MOST_MS : l->wait_ms * 2;
}

void file_link_refuse(struct file_link *l, uint64_t now_ms, const char *why)
{
	l->refused++;
	if (log_limit_passes(&l->refusal_said))
		log_warn("file_peer_refused", "%s: %s: connection closed", l->path, why);
	file_link_close(l, now_ms);
}

static void try_to_connect(struct file_link *l, uint64_t now_ms)
{
	struct file_message hello = { .type = FILE_HELLO, .stream_id = l->stream_id };
	uid_t uid;
	pid_t pid;

	l->fd = seqpacket_connect(l->path);
	if (l->fd < 0) {
		log_debug("file_connect", "connect %s: %s", l->path, strerror(-l->fd));
		file_link_close(l, now_ms);
		return;
	}
	l->since_ms = now_ms;
	if (seqpacket_peer(l->fd, &uid, &pid) || uid != l->peer_uid) {
		file_link_refuse(l, now_ms, "the listener does not run as the symbolizer's user");
		return;
	}
	l->phase = FILE_PHASE_NEW;
	l->blocked = false;
	file_link_send(l, now_ms, &hello, -1);
}

void file_link_run(struct file_link *l, uint64_t now_ms)
{
	if (l->fd < 0 && now_ms >= l->next_try_ms)
		try_to_connect(l, now_ms);
	else if (l->phase == FILE_PHASE_NEW && now_ms - l->since_ms >= HELLO_MS)
		file_link_refuse(l, now_ms, "the symbolizer has not said HELLO");
}

bool file_link_is_open(const struct file_link *l)
{
	return l->phase == FILE_PHASE_OPEN;
}

int file_link_receive(struct file_link *l, uint64_t now_ms, struct file_message *m)
{
	uint8_t data[FILE_MESSAGE_MAX];
	const char *wrong;
	ssize_t n;

	if (l->fd < 0)
		return 0;
	n = seqpacket_receive(l->fd, data, sizeof(data), NULL);
	if (n == -EAGAIN)
		return 0;
	if (n == -EMSGSIZE) {
		file_link_refuse(l, now_ms, "a packet is too long or carries a descriptor");
		return 0;
	}
	if (n <= 0) {
		log_debug("file_closed", "%s: %s", l->path,
			  n ? strerror((int)-n) : "closed by the symbolizer");
		file_link_close(l, now_ms);
		return 0;
	}
	wrong = file_message_decode(file_rules_to_collector, file_rules_to_collector_count,
				    l->phase, data, (uint32_t)n, 0, m);
	if (wrong) {
		file_link_refuse(l, now_ms, wrong);
		return 0;
	}
	if (m->type == FILE_HELLO) {
		l->phase = FILE_PHASE_OPEN;
		l->connections++;
	}
	return 1;
}

int file_link_send(struct file_link *l, uint64_t now_ms, const struct file_message *m, int pass_fd)
{
	uint8_t data[FILE_MESSAGE_MAX];
	uint32_t len = file_message_encode(m, data);
	int rc;

	if (l->fd < 0)
		return -ENOTCONN;
	rc = seqpacket_send(l->fd, data, len, pass_fd);
	l->blocked = rc == -EAGAIN;
	if (rc == 0 || rc == -EAGAIN)
		return rc;
	/* ETOOMANYREFS: descriptors that nobody has taken yet count against our RLIMIT_NOFILE. */
	log_debug("file_send", "send to %s: %s", l->path, strerror(-rc));
	file_link_close(l, now_ms);
	return -ENOTCONN;
}

int file_link_timeout(const struct file_link *l, uint64_t now_ms)
{
	uint64_t at = l->next_try_ms;

	if (l->phase == FILE_PHASE_OPEN)
		return -1;
	if (l->phase == FILE_PHASE_NEW)
		at = l->since_ms + HELLO_MS;
	return at > now_ms ? (int)(at - now_ms) : 0;
}
