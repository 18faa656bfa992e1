/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/seqpacket.h"

int control_open(struct control *c, int fd)
{
	c->fd = -1;
	if (fd < 0)
		return 0;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
		log_error("control_fd", "descriptor %d of the control channel: %s", fd,
			  strerror(errno));
		return -errno;
	}
	c->fd = fd;
	return 0;
}

pid_t control_peer(const struct control *c)
{
	uid_t uid;
	pid_t pid = 0;

	return c->fd >= 0 && seqpacket_peer(c->fd, &uid, &pid) == 0 ? pid : 0;
}

void control_close(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

int control_next(struct control *c, struct control_message *m)
{
	uint8_t packet[CONTROL_MESSAGE_MAX];
	const char *wrong;
	ssize_t n;

	if (c->fd < 0)
		return 0;
	n = seqpacket_receive(c->fd, packet, sizeof(packet), NULL);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n <= 0) {
		if (n < 0)
			log_warn("control_closed", "control channel: %s", strerror((int)-n));
		control_close(c);
		return -1;
	}
	wrong = control_message_decode(control_rules_to_collector, control_rules_to_collector_count,
				       packet, (uint32_t)n, 0, m);
	if (!wrong)
		return 1;
	log_warn("control_refused", "control channel closed: %s", wrong);
	control_close(c);
	return -1;
}

void control_send(struct control *c, enum control_message_type type,
		  const struct counters_record *counters)
{
	struct control_message m = { .type = type };
	uint8_t packet[CONTROL_MESSAGE_MAX];
	int error;

	if (c->fd < 0)
		return;
	if (counters)
		m.counters = *counters;
	error = seqpacket_send(c->fd, packet, control_message_encode(&m, packet), -1);
	if (!error)
		return;
	log_warn("control_closed", "answer on the control channel: %s", strerror(-error));
	control_close(c);
}
