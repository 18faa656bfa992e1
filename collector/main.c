/* SPDX-License-Identifier: Apache-2.0 */
/*
 * belfry-collector: the only role that the kernel trusts. main() is its contract: what it opens
 * while it has the right to, what it gives up, and in which order. A phase never returns to an
 * earlier one. policy/collector.policy says the same in words, line by line.
 */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "collector/load.h"
#include "ipc/log.h"
#include "ipc/message_channel.h"
#include "policy/confine.h"

/* P0: limits, names, descriptors that were inherited, who we are. */
static int start(struct collector *c)
{
	const struct options *o = &c->options;
	struct identity self, symbolizer;
	sigset_t signals;

	if ((size_t)snprintf(c->samples_path, sizeof(c->samples_path), "%s/samples.sock",
			     o->run_dir) >= sizeof(c->samples_path) ||
	    (size_t)snprintf(c->files_path, sizeof(c->files_path), "%s/files.sock", o->run_dir) >=
		    sizeof(c->files_path)) {
		log_error("run_dir", "%s: path is too long for sockets", o->run_dir);
		return -ENAMETOOLONG;
	}
	if (confine_limits(&policy_collector) != 0 ||
	    identity_resolve(&policy_collector, o->user, o->group, &self) != 0)
		return -EINVAL;
	if (o->symbolizer_uid >= 0)
		c->symbolizer_uid = (uid_t)o->symbolizer_uid;
	else if (identity_resolve(&policy_symbolizer, NULL, NULL, &symbolizer) == 0)
		c->symbolizer_uid = symbolizer.uid;
	else
		return -EINVAL;
	if (getrandom(&c->stream_id, sizeof(c->stream_id), 0) != sizeof(c->stream_id)) {
		log_error("stream_id", "getrandom: %s", strerror(errno));
		return -EIO;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	c->loop.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (c->loop.signal_fd < 0) {
		log_error("signals", "signalfd: %s", strerror(errno));
		return -errno;
	}
	if (control_open(&c->loop.control, o->control_fd) != 0)
		return -EBADF;
	return confine_become(&policy_collector, &self);
}

/* P3: the way out. It connects by itself, now or when the symbolizer is there. */
static int open_channel(struct collector *c)
{
	struct message_channel_options o = { .path = c->samples_path,
					 .sends = true,
					 .peer_uid = c->symbolizer_uid,
					 .message_max = BATCH_MAX };
	struct message_channel *channel;
	int error = message_channel_open(&channel, &o);

	if (error) {
		log_error("channel", "%s: %s", c->samples_path, strerror(-error));
		return error;
	}
	stream_attach(c->loop.stream, channel);
	c->loop.send_fd = message_channel_poll_fd(channel);
	return 0;
}

int main(int argc, char **argv)
{
	struct collector c = { 0 };
	uint64_t given_up;
	bool old_kernel;
	int error;

	error = options_parse(argc, argv, &c.options);
	if (error)
		return error > 0 ? 0 : 2;
	log_init("collector", c.options.verbose);

	if (start(&c) != 0 || load(&c) != 0) /* P0, P1 */
		return 1;

	given_up = c.options.hotplug ? 0 : UINT64_C(1) << CAP_PERFMON;
	old_kernel =
		kernel_version_before(&c.kernel, 5, 19, 0); /* there, each bpf() needs CAP_BPF */
	if (confine_no_new_privileges() != 0 ||		    /* P2 */
	    confine_drop_capabilities(&policy_collector, given_up, old_kernel) != 0)
		return 1;

	if (open_channel(&c) != 0) /* P3 */
		return 1;

	if (confine_report(&policy_collector, "main", 0, given_up, old_kernel) != 0 || /* P4 */
	    confine_seccomp(&policy_collector, "main") != 0)
		return 1;

	notify_send("READY=1");
	error = loop_run(&c.loop);
	_exit(error ? 1 : 0); /* the kernel frees it all */
}
