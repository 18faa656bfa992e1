// SPDX-License-Identifier: Apache-2.0
#include "cli/command_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inherited_fds.h"
#include "ipc/builder.h"
#include "ipc/cursor.h"
#include "ipc/seqpacket.h"

#define MESSAGE_LEN 8  /* kind, detail: 4 bytes each */
#define RELEASE	    1u /* the launcher's only message */
#define END_MS	    2000

enum guard_message {
	GUARD_FORKED = 1,  /* detail = pid of COMMAND */
	GUARD_EXEC_FAILED, /* detail = errno */
	GUARD_ENDED,	   /* detail = wait status */
};

static void send_message(int channel, uint32_t kind, int detail)
{
	uint8_t message[MESSAGE_LEN];
	struct builder b = builder_over(message, sizeof(message));

	builder_u32(&b, kind);
	builder_u32(&b, (uint32_t)detail);
	/* The other side is gone: poll() says so as well, and that is where it is acted on. */
	if (seqpacket_send(channel, message, sizeof(message), -1))
		return;
}

/* False at the end of the channel. */
static bool receive_message(int channel, uint32_t *kind, int *detail)
{
	uint8_t message[MESSAGE_LEN];
	ssize_t len = seqpacket_receive(channel, message, sizeof(message), NULL);
	struct cursor c = cursor_over(message, len > 0 ? (uint32_t)len : 0);

	*kind = 0;
	if (len == -EAGAIN || len == -EINTR)
		return true;
	*kind = cursor_u32(&c);
	*detail = (int)cursor_u32(&c);
	return cursor_finished(&c);
}

/*
 * COMMAND: `go` gives one byte when it may run; `failed` closes at execve() or takes its errno.
 * `hangup` is what SIGHUP did before all this: under nohup it must not end COMMAND either.
 */
static void __attribute__((noreturn))
command_exec(char **argv, const struct invoking_user *u, int go, int failed, sighandler_t hangup)
{
	int keep[] = { go, failed };
	char byte;
	int error;

	inherited_fds_close(keep, 2);
	inherited_signals_reset();
	signal(SIGHUP, hangup == SIG_IGN ? SIG_IGN : SIG_DFL);
	error = -privileges_become_user(&u->person);
	if (!error) {
		if (read(go, &byte, 1) != 1)
			_exit(127); /* never released: the recording did not begin */
		close(go);
		/* The samples up to the end of execve() are COMMAND's already: let them bear its
		 * name. */
		prctl(PR_SET_NAME, basename(argv[0]));
		invoking_user_environment(u);
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

/* -- the guard ------------------------------------------------------------------------------------
 */

struct guard {
	int channel;
	int go;	    /* -1 after the release */
	int failed; /* -1 when execve() has succeeded or failed */
	pid_t command;
	int command_fd; /* pidfd */
	bool ended;
};

static void guard_reap(struct guard *g)
{
	int status;

	if (g->ended || waitpid(g->command, &status, WNOHANG) != g->command)
		return;
	g->ended = true;
	send_message(g->channel, GUARD_ENDED, status);
}

static void guard_exec_result(struct guard *g)
{
	int error;

	if (read(g->failed, &error, sizeof(error)) == sizeof(error))
		send_message(g->channel, GUARD_EXEC_FAILED, error);
	close(g->failed);
	g->failed = -1;
}

/* False when the launcher is gone. */
static bool guard_read(struct guard *g)
{
	uint32_t kind;
	int detail;

	if (!receive_message(g->channel, &kind, &detail))
		return false;
	if (kind == RELEASE && g->go >= 0) {
		if (write(g->go, "g", 1) != 1)
			return true; /* COMMAND is dead, and is about to be reaped */
		close(g->go);
		g->go = -1;
	}
	return true;
}

static void guard_end_command(struct guard *g)
{
	struct pollfd p = { .fd = g->command_fd, .events = POLLIN };

	if (g->ended)
		return;
	kill(g->command, SIGTERM);
	if (poll(&p, 1, END_MS) <= 0)
		kill(g->command, SIGKILL);
}

static void guard_ignore_terminal(void)
{
	/* Ctrl-C and Ctrl-\ are for COMMAND and the launcher; the guard must outlive COMMAND. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static void __attribute__((noreturn)) guard_loop(struct guard *g)
{
	bool launcher = true;

	while (launcher) {
		struct pollfd p[3] = { { .fd = g->channel, .events = POLLIN },
				       { .fd = g->ended ? -1 : g->command_fd, .events = POLLIN },
				       { .fd = g->failed, .events = POLLIN } };

		if (poll(p, 3, -1) < 0)
			continue;
		if (p[2].revents)
			guard_exec_result(g);
		if (p[0].revents)
			launcher = guard_read(g);
		if (p[1].revents)
			guard_reap(g);
	}
	guard_end_command(g);
	_exit(0);
}

static void __attribute__((noreturn))
guard_run(char **argv, const struct invoking_user *u, int channel)
{
	struct guard g = { .channel = channel };
	sighandler_t hangup = signal(SIGHUP, SIG_IGN);
	int go[2];
	int failed[2];

	guard_ignore_terminal();
	inherited_fds_close((int[]){ channel }, 1);
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		_exit(1);
	g.command = fork();
	if (g.command < 0)
		_exit(1);
	if (!g.command)
		command_exec(argv, u, go[0], failed[1], hangup);
	close(go[0]);
	close(failed[1]);
	g.go = go[1];
	g.failed = failed[0];
	g.command_fd = pidfd_open(g.command, 0);
	/* After the fork: COMMAND itself may be more than the guard, which only waits and signals.
	 */
	if (g.command_fd < 0 || privileges_drop(&u->person))
		_exit(1);
	send_message(channel, GUARD_FORKED, g.command);
	guard_loop(&g);
}

/* -- the launcher's side --------------------------------------------------------------------------
 */

/* Waits for the guard's first message, which names COMMAND's pid. */
static int wait_forked(struct command_child *c)
{
	struct pollfd p = { .fd = c->channel, .events = POLLIN };
	uint32_t kind;
	int detail;

	if (poll(&p, 1, 5000) <= 0)
		return -ETIMEDOUT;
	if (!receive_message(c->channel, &kind, &detail) || kind != GUARD_FORKED)
		return -ECHILD;
	c->pid = detail;
	return 0;
}

int command_child_start(struct command_child *c, char **argv, const struct invoking_user *u)
{
	int ends[2];
	int error;

	*c = (struct command_child){ .channel = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	c->guard = fork();
	if (!c->guard)
		guard_run(argv, u, ends[1]);
	error = c->guard < 0 ? -errno : 0;
	close(ends[1]);
	c->channel = ends[0];
	if (!error)
		error = wait_forked(c);
	if (error) {
		close(c->channel);
		c->channel = -1;
	}
	return error;
}

void command_child_release(struct command_child *c)
{
	if (c->channel >= 0)
		send_message(c->channel, RELEASE, 0);
}

bool command_child_read(struct command_child *c)
{
	uint32_t kind;
	int detail = 0;

	if (c->channel < 0 || c->ended)
		return false;
	if (!receive_message(c->channel, &kind, &detail)) {
		c->ended = true; /* the guard was killed: COMMAND is nobody's any more */
		c->status = 0;
	} else if (kind == GUARD_EXEC_FAILED) {
		c->exec_error = detail;
	} else if (kind == GUARD_ENDED) {
		c->ended = true;
		c->status = detail;
	}
	return c->ended;
}

void command_child_close(struct command_child *c)
{
	if (c->channel < 0)
		return;
	close(c->channel);
	c->channel = -1;
	while (waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
		;
}
