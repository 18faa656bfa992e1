// SPDX-License-Identifier: Apache-2.0
/*
 * belfry-uploader: sees finished profiles and writes them below one directory. main() is its
 * contract: what it opens, what it gives up, and in which order. policy/uploader.policy says the
 * same, line by line.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "uploader/folder.h"
#include "uploader/loop.h"
#include "uploader/options.h"

#define SOCKET_PATH_MAX 108

/* Everything the role owns. */
struct uploader {
	struct uploader_options options;
	uid_t symbolizer_uid;
	char profiles_path[SOCKET_PATH_MAX];
	int directory;
	struct journal *journal;
	struct intake intake;
	struct loop loop;
};

/* Limits, names, signals, the directory; then we are nobody else any more. */
static int start(struct uploader *u)
{
	const struct uploader_options *o = &u->options;
	struct identity self, symbolizer;
	sigset_t signals;

	if (confine_limits(&policy_uploader) != 0 ||
	    identity_resolve(&policy_uploader, o->user, o->group, &self) != 0)
		return -EINVAL;
	if (o->symbolizer_uid >= 0)
		u->symbolizer_uid = (uid_t)o->symbolizer_uid;
	else if (identity_resolve(&policy_symbolizer, NULL, NULL, &symbolizer) == 0)
		u->symbolizer_uid = symbolizer.uid;
	else
		return -EINVAL;
	if ((size_t)snprintf(u->profiles_path, sizeof(u->profiles_path), "%s/profiles.sock",
			     o->run_dir) >= sizeof(u->profiles_path)) {
		log_error("run_dir", "%s: path is too long for a socket", o->run_dir);
		return -ENAMETOOLONG;
	}
	umask(0027);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* read through the signalfd only */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a full quota is a lost profile, not a dead uploader */
	u->loop.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (u->loop.signal_fd < 0) {
		log_error("signals", "signalfd: %s", strerror(errno));
		return -errno;
	}
	u->directory = folder_open_sink(o->directory, self.uid, self.gid);
	if (u->directory < 0 || notify_open() != 0)
		return -EACCES;
	return confine_become(&policy_uploader, &self);
}

/* The account and the files of earlier runs: read with all rights given up already. */
static int open_sink(struct uploader *u)
{
	const struct uploader_options *o = &u->options;
	struct sink_options sink = { .directory = u->directory,
				     .max_bytes = o->max_bytes,
				     .max_age = o->max_age,
				     .sync = o->sync,
				     .on_removed = intake_on_removed };
	int error = journal_open(&u->journal, u->directory, o->journal_bytes);

	if (error)
		return error;
	sink.context = u->journal;
	u->intake.journal = u->journal;
	u->intake.sync = o->sync;
	return sink_new(&u->intake.sink, &sink);
}

static int open_channel(struct uploader *u)
{
	const struct message_channel_options o = { .path = u->profiles_path,
					       .peer_uid = u->symbolizer_uid,
					       .message_max = PROFILE_MESSAGE_MAX };
	int error = message_channel_open(&u->loop.channel, &o);

	if (error) {
		log_error("channel", "%s: %s", u->profiles_path, strerror(-error));
		return error;
	}
	u->loop.channel_fd = message_channel_poll_fd(u->loop.channel);
	u->loop.intake = &u->intake;
	u->loop.sink = u->intake.sink;
	u->loop.once = u->options.once;
	return u->loop.channel_fd < 0 ? -EIO : 0;
}

int main(int argc, char **argv)
{
	static struct uploader u; /* with a message's labels: too large for the stack */
	struct landlock_path sink_path = { .write = true };
	int landlock;
	int error = uploader_options_parse(argc, argv, &u.options);

	if (error)
		return error > 0 ? 0 : 2;
	log_init("uploader", u.options.verbose);

	if (start(&u) != 0)
		return 1;
	sink_path.fd = u.directory;
	if (confine_no_new_privileges() != 0)
		return 1;
	landlock = confine_landlock(&policy_uploader, &sink_path, 1);
	if (landlock < 0 || confine_drop_capabilities(&policy_uploader, 0, false) != 0)
		return 1;

	if (open_sink(&u) != 0 || open_channel(&u) != 0)
		return 1;

	if (confine_report(&policy_uploader, "main", landlock, 0, false) != 0 ||
	    confine_seccomp(&policy_uploader, "main") != 0)
		return 1;

	notify_send("READY=1");
	error = loop_run(&u.loop);
	notify_send("STOPPING=1");
	journal_close(u.journal);
	_exit(error ? 1 : 0); /* the kernel frees it all */
}
