/* SPDX-License-Identifier: Apache-2.0 */
/*
 * belfry-symbolizer: where foreign bytes are parsed, and therefore the role with the fewest rights. main() is its contract: what it
 * opens, what it gives up, and in which order, all before the first foreign byte. policy/symbolizer.policy says the same, line by line.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "symbolizer/loop.h"
#include "symbolizer/options.h"
#include "symbolizer/tables.h"
#include "symbolizer/valid_text.h"
#include "symbolizer/zygote.h"

#define PATH_BYTES 108
#define MEBIBYTE (1024ull * 1024)

/* The stated budget of the role; each refusal is counted where it happens. */
static const struct targets_limits target_limits = { .targets = 8192, .mappings = 65536, .memory = 32 * MEBIBYTE };
static const struct symbols_limits symbol_limits = { .open_files = 2048,
						     .cached_addresses = 131072,
						     .workers = 2,
						     .worker_wall_ms = 10000,
						     .deny_seconds = 300 };
static const struct zygote_limits zygote_limits = {
	.children = 8,
	.worker = { .cpu_seconds = 5, .wall_ms = 10000, .memory = 1024 * MEBIBYTE },
};
#define WINDOW_BYTES (16 * MEBIBYTE)
#define OUTLET_BYTES (16 * MEBIBYTE)

struct symbolizer {
	struct symbolizer_options options;
	struct host_labels host;
	uid_t collector_uid;
	uid_t uploader_uid;
	char samples_path[PATH_BYTES];
	char profiles_path[PATH_BYTES];
	char files_path[PATH_BYTES];
	struct symbolizer_loop loop;
};

static int resolve_peers(struct symbolizer *s)
{
	struct identity peer;

	s->collector_uid = (uid_t)s->options.collector_uid;
	if (s->options.collector_uid < 0) {
		if (identity_resolve(&policy_collector, NULL, NULL, &peer) != 0)
			return -ENOENT;
		s->collector_uid = peer.uid;
	}
	s->uploader_uid = (uid_t)s->options.uploader_uid;
	if (s->options.uploader_uid < 0) {
		if (identity_resolve(&policy_uploader, NULL, NULL, &peer) != 0)
			return -ENOENT;
		s->uploader_uid = peer.uid;
	}
	return 0;
}

static int name_sockets(struct symbolizer *s)
{
	const char *dir = s->options.run_dir;

	if ((size_t)snprintf(s->samples_path, PATH_BYTES, "%s/samples.sock", dir) >= PATH_BYTES ||
	    (size_t)snprintf(s->profiles_path, PATH_BYTES, "%s/profiles.sock", dir) >= PATH_BYTES ||
	    (size_t)snprintf(s->files_path, PATH_BYTES, "%s/files.sock", dir) >= PATH_BYTES) {
		log_error("run_dir", "%s: path is too long for sockets", dir);
		return -ENAMETOOLONG;
	}
	return 0;
}

static void name_host(struct symbolizer *s)
{
	struct utsname u = { 0 };
	const char *node;

	uname(&u);
	node = s->options.node ? s->options.node : u.nodename;
	valid_text_copy(node, strlen(node), s->host.node, sizeof(s->host.node));
	valid_text_copy(u.release, strlen(u.release), s->host.kernel_release, sizeof(s->host.kernel_release));
}

static int block_signals(struct symbolizer *s)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* read through the signalfd only */
	signal(SIGPIPE, SIG_IGN);
	s->loop.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->loop.signal_fd < 0 ? -errno : 0;
}

/* Limits, names, signals; then we are nobody else any more. */
static int start(struct symbolizer *s)
{
	struct identity self;

	if (confine_limits(&policy_symbolizer) != 0 || resolve_peers(s) != 0 || name_sockets(s) != 0 ||
	    identity_resolve(&policy_symbolizer, s->options.user, s->options.group, &self) != 0 ||
	    block_signals(s) != 0 || notify_open() != 0)
		return -EINVAL;
	name_host(s);
	return confine_become(&policy_symbolizer, &self);
}

static int open_channels(struct symbolizer *s)
{
	const struct message_channel_options samples = { .path = s->samples_path, .listens = true,
						     .peer_uid = s->collector_uid, .message_max = BATCH_MAX };
	const struct message_channel_options profiles = { .path = s->profiles_path, .listens = true, .sends = true,
						      .peer_uid = s->uploader_uid,
							  .message_max = PROFILE_MESSAGE_MAX };
	int error = message_channel_open(&s->loop.samples, &samples);

	if (!error)
		error = message_channel_open(&s->loop.profiles, &profiles);
	if (error)
		log_error("channel", "listening in %s: %s", s->options.run_dir, strerror(-error));
	else
		outlet_attach(s->loop.outlet, s->loop.profiles);
	return error;
}

/* The zygote is made before any foreign byte; the sockets are bound by path, so that nothing is opened or bound after Landlock. */
static int open_files(struct symbolizer *s)
{
	struct symbolizer_loop *l = &s->loop;
	int zygote = zygote_start(&policy_symbolizer, &zygote_limits);

	if (zygote < 0 || symbols_new(&l->symbols, zygote, &symbol_limits) != 0 ||
	    kernel_symbols_new(&l->files.kernel) != 0 || targets_new(&l->targets, &target_limits) != 0 ||
	    outlet_new(&l->outlet, OUTLET_BYTES) != 0) {
		log_error("memory", "no memory or no zygote to start with");
		return -ENOMEM;
	}
	l->files.symbols = l->symbols;
	l->files.collector_uid = s->collector_uid;
	l->batches.targets = l->targets;
	l->batches.window_budget = WINDOW_BYTES;
	l->window_ms = s->options.window_seconds * 1000ull;
	l->closing.builder = (struct profile_builder){ l->symbols, l->files.kernel, l->outlet, &s->host };
	if (getrandom(&l->batches.symbolizer_id, sizeof(l->batches.symbolizer_id), 0) !=
	    sizeof(l->batches.symbolizer_id))
		return -EIO;
	if (file_intake_open(&l->files, s->files_path) != 0)
		return -EIO;
	return open_channels(s);
}

int main(int argc, char **argv)
{
	static struct symbolizer s;
	int landlock;
	int error = symbolizer_options_parse(argc, argv, &s.options);

	if (error)
		return error > 0 ? 0 : 2;
	log_init("symbolizer", s.options.verbose);
	if (s.options.tables_fd >= 0) /* another program altogether, confined as a worker is */
		return tables_main(s.options.tables_fd, s.options.tables_dump);

	if (start(&s) != 0)
		return 1;
	if (confine_no_new_privileges() != 0 || confine_drop_capabilities(&policy_symbolizer, 0, false) != 0 ||
	    open_files(&s) != 0)
		return 1;

	landlock = confine_landlock(&policy_symbolizer, NULL, 0);
	if (landlock < 0)
		return 1;

	if (confine_report(&policy_symbolizer, "main", landlock, 0, false) != 0 ||
	    confine_seccomp(&policy_symbolizer, "main") != 0)
		return 1;

	notify_send("READY=1");
	error = symbolizer_loop_run(&s.loop);
	_exit(error ? 1 : 0); /* the kernel frees it all */
}
