/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/seqpacket.h"
#include "policy/confine.h"

#define REQUEST_BYTE	'W'
#define WARM_UP_NUMBERS 256 /* 2 KiB: glibc's qsort uses the stack below 1 KiB */

static int order_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * glibc's qsort asks for the machine's memory (sysinfo) at its first large array, and never again.
 */
static void warm_up_qsort(void)
{
	uint64_t numbers[WARM_UP_NUMBERS];

	for (int i = 0; i < WARM_UP_NUMBERS; i++)
		numbers[i] = (uint64_t)(WARM_UP_NUMBERS - i);
	qsort(numbers, WARM_UP_NUMBERS, sizeof(numbers[0]), order_numbers);
}

static void set_limit(int resource, const char *name, rlim_t value)
{
	struct rlimit l = { .rlim_cur = value, .rlim_max = value };

	if (setrlimit(resource, &l) != 0) {
		log_error("zygote_limits", "RLIMIT_%s of the zygote: %s", name, strerror(errno));
		_exit(1);
	}
}

/*
 * Limits that workers inherit. Those of time are set by each worker: the zygote itself lives long.
 */
static void limit_children(const struct worker_limits *l)
{
	set_limit(RLIMIT_CORE, "CORE", 0);
	set_limit(RLIMIT_FSIZE, "FSIZE", 0);
	set_limit(RLIMIT_NOFILE, "NOFILE", 16);
	set_limit(RLIMIT_MEMLOCK, "MEMLOCK", 0);
#ifndef __SANITIZE_ADDRESS__ /* its shadow alone is 16 TiB of address space */
	set_limit(RLIMIT_AS, "AS", l->memory);
#else
	(void)l;
#endif
}

static void refuse(int socket)
{
	uint8_t packet[16];
	struct builder b = builder_over(packet, sizeof(packet));

	/*
	 * Closing a unix socket with something unread in it gives the peer ECONNRESET instead of
	 * the answer.
	 */
	seqpacket_receive(socket, packet, sizeof(packet), NULL);
	worker_bare_encode(&b, WORKER_BUSY);
	seqpacket_send(socket, b.data, b.len, -1);
}

static uint32_t reap(uint32_t alive)
{
	while (alive > 0 && waitpid(-1, NULL, WNOHANG) > 0)
		alive--;
	return alive;
}

/* Takes one request and forks its worker. Returns how many workers are alive, or exits. */
static uint32_t serve(int requests, const struct policy *p, const struct zygote_limits *l,
		      uint32_t alive)
{
	uint8_t byte;
	int socket = -1;
	ssize_t len = seqpacket_receive(requests, &byte, sizeof(byte), &socket);
	pid_t pid;

	if (len == 0 || len == -ECONNRESET)
		_exit(0);
	if (len < 0 || socket < 0 || byte != REQUEST_BYTE) {
		if (socket >= 0)
			close(socket);
		return alive;
	}
	alive = reap(alive);
	pid = alive < l->children ? fork() : -1;
	if (pid == 0) {
		close(requests);
		worker_main(socket, p, &l->worker);
	}
	if (pid < 0)
		refuse(socket);
	close(socket);
	return alive + (pid > 0);
}

static void zygote_main(int requests, const struct policy *p, const struct zygote_limits *l)
{
	uint32_t alive = 0;
	int landlock = confine_landlock(p, NULL, 0); /* no path at all, not even the sockets' */

	if (landlock < 0 || confine_report(p, "zygote", landlock, 0, false) != 0)
		_exit(1);
	limit_children(&l->worker);
	if (confine_seccomp(p, "zygote") != 0)
		_exit(1);
	for (;;) {
		struct pollfd readable = { .fd = requests, .events = POLLIN };

		/*
		 * A finished worker is a zombie until the next request: at most `children` of them.
		 */
		if (poll(&readable, 1, -1) < 0 && errno != EINTR)
			_exit(1);
		if (readable.revents)
			alive = serve(requests, p, l, alive);
	}
}

/* The zygote keeps its socket and standard error, nothing else. */
static int keep_only(int fd)
{
	if (fd != 3) {
		if (dup3(fd, 3, O_CLOEXEC) < 0)
			return -errno;
	}
	if (close_range(4, ~0u, 0) != 0)
		return -errno;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	return 0;
}

static void zygote_begin(int requests, pid_t parent, const struct policy *p,
			 const struct zygote_limits *l)
{
	sigset_t none;

	/* A mask that the role keeps for its own loop must not hold back a worker's alarm. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Ctrl-C reaches the whole foreground group; the zygote ends with its parent, not before.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
	    keep_only(requests) != 0)
		_exit(1);
	zygote_main(3, p, l);
}

int zygote_start(const struct policy *p, const struct zygote_limits *limits)
{
	pid_t parent = getpid();
	int pair[2];
	pid_t pid;

	warm_up_qsort();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		int error = -errno;

		close(pair[0]);
		close(pair[1]);
		return error;
	}
	if (pid == 0)
		zygote_begin(pair[1], parent, p, limits);
	close(pair[1]);
	return pair[0];
}

int zygote_request(int zygote, int socket)
{
	uint8_t byte = REQUEST_BYTE;

	return seqpacket_send(zygote, &byte, sizeof(byte), socket);
}
