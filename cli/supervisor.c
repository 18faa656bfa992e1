// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor.h"

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
#include <time.h>
#include <unistd.h>

#include "cli/inherited_fds.h"
#include "cli/role_limits.h"
#include "cli/run_dir.h"
#include "ipc/builder.h"
#include "ipc/cursor.h"
#include "ipc/seqpacket.h"

#define MESSAGE_LEN    8  /* event, detail: 4 bytes each */
#define END_ROLE       1u /* the launcher's only message: END_ROLE, ms until SIGKILL */
#define END_MS	       5000
#define END_HURRY_MS   300
#define EARLY_DEATH_MS 1000
#define CANNOT_RUN     127 /* exit code where execve() failed, as a shell has it */
#define EARLY_PAUSE_MS 100

/* -- the supervisor's own process -----------------------------------------------------------------
 */

struct keeping {
	const struct supervisor_options *o;
	int channel;
	pid_t role;  /* 0 = does not run */
	int role_fd; /* pidfd */
	int64_t started_ms;
	int64_t deaths[SUPERVISOR_RESTARTS]; /* ms of the last deaths, a ring */
	uint32_t death_count;
	bool resting; /* told to end the role, gave up, or the role has finished */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void tell(const struct keeping *k, uint32_t event, int detail)
{
	uint8_t message[MESSAGE_LEN];
	struct builder b = builder_over(message, sizeof(message));

	builder_u32(&b, event);
	builder_u32(&b, (uint32_t)detail);
	/* A launcher that does not listen any more has nothing to be told. */
	if (seqpacket_send(k->channel, message, sizeof(message), -1))
		return;
}

static void __attribute__((noreturn)) role_exec(const struct supervisor_options *o, pid_t parent)
{
	inherited_signals_reset();
	inherited_fds_close((int[]){ o->command->folder }, 1);
	/* A killed supervisor must not leave its role behind. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(1);
	role_command_exec(o->command);
	_exit(CANNOT_RUN);
}

static void role_start(struct keeping *k)
{
	pid_t self = getpid();
	pid_t pid = fork();

	if (!pid)
		role_exec(k->o, self);
	k->role = pid > 0 ? pid : 0;
	k->role_fd = pid > 0 ? pidfd_open(pid, 0) : -1;
	k->started_ms = now_ms();
	if (pid > 0)
		tell(k, SUPERVISOR_STARTED, pid);
}

/* Whether this death is one too many. */
static bool too_many_deaths(struct keeping *k)
{
	int64_t *oldest = &k->deaths[k->death_count % SUPERVISOR_RESTARTS];
	bool full = k->death_count >= SUPERVISOR_RESTARTS;
	int64_t now = now_ms();
	bool many = full && now - *oldest < SUPERVISOR_RESTARTS_SECONDS * 1000;

	*oldest = now;
	k->death_count++;
	return many;
}

/* The program is not there, or not for this user: trying again is of no use. */
static bool cannot_run(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN;
}

/* The role has ended: by itself, by a signal, or since it could not be started. */
static void role_ended(struct keeping *k, int status)
{
	bool early = now_ms() - k->started_ms < EARLY_DEATH_MS;

	if (k->role_fd >= 0)
		close(k->role_fd);
	k->role = 0;
	k->role_fd = -1;
	if (k->resting)
		return;
	if (k->o->quiet_exit && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		k->resting = true;
		tell(k, SUPERVISOR_FINISHED, 0);
		return;
	}
	if (cannot_run(status) || too_many_deaths(k)) {
		k->resting = true;
		tell(k, SUPERVISOR_GAVE_UP, status);
		return;
	}
	tell(k, SUPERVISOR_DIED, status);
	if (early && WIFEXITED(status))
		poll(NULL, 0, EARLY_PAUSE_MS); /* it refuses to start: no reason to hurry */
	role_start(k);
}

/* Waits up to `ms` for the role's end. */
static bool role_reap(struct keeping *k, int ms)
{
	struct pollfd p = { .fd = k->role_fd, .events = POLLIN };
	int status;

	while (poll(&p, 1, ms) < 0 && errno == EINTR)
		;
	if (waitpid(k->role, &status, WNOHANG) != k->role)
		return false;
	role_ended(k, status);
	return true;
}

static void role_end(struct keeping *k, uint32_t ms)
{
	k->resting = true;
	if (!k->role)
		return;
	kill(k->role, SIGTERM);
	if (role_reap(k, (int)ms))
		return;
	kill(k->role, SIGKILL);
	role_reap(k, END_MS);
}

/* False when the launcher is gone. */
static bool launcher_read(struct keeping *k)
{
	uint8_t message[MESSAGE_LEN];
	ssize_t len = seqpacket_receive(k->channel, message, sizeof(message), NULL);
	struct cursor c = cursor_over(message, len > 0 ? (uint32_t)len : 0);
	uint32_t kind;
	uint32_t ms;

	if (len == -EAGAIN || len == -EINTR)
		return true;
	kind = cursor_u32(&c);
	ms = cursor_u32(&c);
	if (!cursor_finished(&c) || kind != END_ROLE)
		return false;
	role_end(k, ms < END_MS ? ms : END_MS);
	tell(k, SUPERVISOR_FINISHED, 0);
	return true;
}

static void __attribute__((noreturn)) keep(const struct supervisor_options *o, int channel)
{
	struct keeping k = { .o = o, .channel = channel, .role_fd = -1 };
	bool launcher = true;

	role_start(&k);
	while (launcher) {
		struct pollfd p[2] = { { .fd = channel, .events = POLLIN },
				       { .fd = k.role_fd, .events = POLLIN } };

		if (!k.role && !k.resting)
			role_ended(&k, 0x0100); /* fork failed: counted like a death, exit code 1 */
		else if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			launcher = launcher_read(&k);
		if (launcher && k.role && p[1].revents)
			role_reap(&k, 0);
	}
	role_end(&k, END_MS);
	run_dir_empty(o->folder);
	_exit(0);
}

static void __attribute__((noreturn))
supervisor_run(const struct supervisor_options *o, int channel)
{
	int kept[] = { channel, o->folder, o->command->folder };
	int error;

	inherited_fds_close(kept, 3);
	inherited_input_close();
	inherited_signals_reset();
	setsid(); /* Ctrl-C at the terminal is the launcher's to act on */
	role_limits_raise();
	error = privileges_drop(o->who);
	if (error) {
		dprintf(STDERR_FILENO, "belfry: cannot become user %u for the %s: %s\n",
			o->who->uid, o->role, strerror(-error));
		_exit(2);
	}
	keep(o, channel);
}

/* -- the launcher's side --------------------------------------------------------------------------
 */

int supervisor_start(struct supervisor *s, const struct supervisor_options *o)
{
	int ends[2];
	pid_t pid;

	*s = (struct supervisor){ .role = o->role, .pid = -1, .channel = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	pid = fork();
	if (!pid)
		supervisor_run(o, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		int error = errno;

		close(ends[0]);
		return -error;
	}
	s->pid = pid;
	s->channel = ends[0];
	return 0;
}

static void take_event(struct supervisor *s, uint32_t event, int detail)
{
	switch (event) {
	case SUPERVISOR_STARTED:
		s->started = true;
		break;
	case SUPERVISOR_DIED:
		s->deaths++;
		s->last_status = detail;
		break;
	case SUPERVISOR_FINISHED:
		s->finished = true;
		break;
	case SUPERVISOR_GAVE_UP:
		s->gave_up = true;
		s->last_status = detail;
		break;
	default:
		s->gone = true; /* not what a supervisor says */
	}
}

bool supervisor_read(struct supervisor *s)
{
	uint8_t message[MESSAGE_LEN];
	struct cursor c;
	uint32_t event;
	ssize_t len;

	if (s->channel < 0 || s->gone)
		return false;
	len = seqpacket_receive(s->channel, message, sizeof(message), NULL);
	if (len == -EAGAIN || len == -EINTR)
		return false;
	c = cursor_over(message, len > 0 ? (uint32_t)len : 0);
	event = cursor_u32(&c);
	take_event(s, event, (int)cursor_u32(&c));
	if (!cursor_finished(&c))
		s->gone = true;
	return true;
}

void supervisor_end_role(struct supervisor *s, bool hurry)
{
	uint8_t message[MESSAGE_LEN];
	struct builder b = builder_over(message, sizeof(message));

	builder_u32(&b, END_ROLE);
	builder_u32(&b, hurry ? END_HURRY_MS : END_MS);
	if (s->channel >= 0 && seqpacket_send(s->channel, message, sizeof(message), -1))
		s->gone = true;
}

void supervisor_close(struct supervisor *s)
{
	if (s->channel < 0)
		return;
	close(s->channel);
	s->channel = -1;
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
