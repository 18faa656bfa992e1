// SPDX-License-Identifier: Apache-2.0
#include "cli/collector_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inherited_fds.h"
#include "cli/role_limits.h"
#include "ipc/seqpacket.h"

static void __attribute__((noreturn))
collector_exec(const struct role_command *command, int control)
{
	int keep[] = { COLLECTOR_CONTROL_FD };

	inherited_signals_reset();
	inherited_input_close();
	role_limits_raise();
	setsid(); /* Ctrl-C at the terminal is the launcher's to act on */
	/* dup2() clears close-on-exec, but does nothing where the numbers are equal. */
	if (control == COLLECTOR_CONTROL_FD ? fcntl(control, F_SETFD, 0)
					    : dup2(control, COLLECTOR_CONTROL_FD) < 0)
		_exit(127);
	inherited_fds_close(keep, 1);
	execve(command->path, command->argv, role_environment());
	dprintf(STDERR_FILENO, "belfry: cannot run %s: %s\n", command->path, strerror(errno));
	_exit(127);
}

int collector_child_start(struct collector_child *c, const struct role_command *command)
{
	int ends[2];

	*c = (struct collector_child){ .pid = -1, .pidfd = -1, .control = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		collector_exec(command, ends[1]);
	if (c->pid < 0) {
		int error = errno;

		close(ends[0]);
		close(ends[1]);
		return -error;
	}
	close(ends[1]);
	c->control = ends[0];
	c->pidfd = pidfd_open(c->pid, 0);
	return c->pidfd < 0 ? -errno : 0;
}

static void close_control(struct collector_child *c)
{
	if (c->control >= 0)
		close(c->control);
	c->control = -1;
}

static void send_message(struct collector_child *c, const struct control_message *m)
{
	uint8_t packet[CONTROL_MESSAGE_MAX];
	uint32_t len = control_message_encode(m, packet);

	if (c->control >= 0 && seqpacket_send(c->control, packet, len, -1)) {
		c->broken = "it does not take commands any more";
		close_control(c);
	}
}

void collector_child_send(struct collector_child *c, enum control_message_type type)
{
	send_message(c, &(struct control_message){ .type = type });
}

void collector_child_filter(struct collector_child *c, enum filter_kind kind, uint64_t key,
			    bool descendants)
{
	send_message(c, &(struct control_message){ .type = CONTROL_FILTER_ADD,
						   .filter = kind,
						   .key = key,
						   .descendants = descendants });
}

static void take_message(struct collector_child *c, const struct control_message *m)
{
	switch (m->type) {
	case CONTROL_READY:
		c->ready = true;
		break;
	case CONTROL_COUNTERS:
	case CONTROL_STOPPED:
		c->counters = m->counters;
		c->has_counters = true;
		c->stopped = m->type == CONTROL_STOPPED;
		break;
	default: /* the rules let nothing else through */
		break;
	}
}

/* False when there is nothing more to read. */
static bool read_message(struct collector_child *c)
{
	uint8_t packet[CONTROL_MESSAGE_MAX];
	struct control_message m;
	ssize_t len;

	if (c->control < 0)
		return false;
	len = seqpacket_receive(c->control, packet, sizeof(packet), NULL);
	if (len == -EAGAIN || len == -EINTR)
		return false;
	if (len <= 0) {
		close_control(c);
		return false;
	}
	c->broken =
		control_message_decode(control_rules_to_launcher, control_rules_to_launcher_count,
				       packet, (uint32_t)len, 0, &m);
	if (c->broken)
		close_control(c);
	else
		take_message(c, &m);
	return !c->broken;
}

void collector_child_read(struct collector_child *c)
{
	while (read_message(c))
		;
	if (c->exited || waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	c->exited = true;
	/* What it said last may have arrived between the two lines above. */
	while (read_message(c))
		;
	close_control(c);
}

void collector_child_close(struct collector_child *c, int ms)
{
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

	close_control(c);
	if (c->exited || c->pid < 0)
		return;
	/* A collector that does not go is another user's process now: it is left to init. */
	if (poll(&p, 1, ms) == 1 && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->exited = true;
}
