// SPDX-License-Identifier: Apache-2.0
#include "cli/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/journal_entry.h"

#define TICK_MS	    1000   /* between two progress lines */
#define STOP_MS	    10000  /* for the collector's last counters */
#define QUIET_MS    5000   /* without a new journal line: nothing more will come */
#define ARRIVE_MS   120000 /* for everything, however busy the roles still are */
#define END_ROLE_MS 12000  /* above what a supervisor gives its role */

int64_t recording_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* nohup: the terminal may go away, and the recording goes on. */
static bool hangup_is_ignored(void)
{
	struct sigaction now;

	return !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

int recording_signals(struct recording *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!hangup_is_ignored())
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signal(SIGPIPE, SIG_IGN); /* a reader of the output that goes away is a write error */
	signal(SIGXFSZ, SIG_IGN); /* and so is a file that grew to the user's limit */
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

static void take_signals(struct recording *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info))
		r->interrupts++;
}

/* Waits for anything to happen, and takes it. */
static void take_events(struct recording *r, int ms)
{
	struct pollfd p[] = {
		{ .fd = r->signal_fd, .events = POLLIN },
		{ .fd = r->collector.control, .events = POLLIN },
		{ .fd = r->collector.exited ? -1 : r->collector.pidfd, .events = POLLIN },
		{ .fd = r->symbolizer.gone ? -1 : r->symbolizer.channel, .events = POLLIN },
		{ .fd = r->uploader.gone ? -1 : r->uploader.channel, .events = POLLIN },
		{ .fd = r->command.ended ? -1 : r->command.channel, .events = POLLIN },
	};

	if (poll(p, sizeof(p) / sizeof(p[0]), ms) <= 0)
		return;
	take_signals(r);
	if (r->collector.pid > 0)
		collector_child_read(&r->collector);
	while (supervisor_read(&r->symbolizer) || supervisor_read(&r->uploader))
		;
	command_child_read(&r->command);
}

bool recording_wait(struct recording *r, bool (*condition)(const struct recording *), int64_t ms)
{
	int64_t end = recording_now_ms() + ms;

	while (!condition(r)) {
		int64_t left = ms < 0 ? -1 : end - recording_now_ms();

		if (ms >= 0 && left <= 0)
			return false;
		take_events(r, (int)left);
	}
	return true;
}

static bool supervisor_failed(const struct supervisor *s)
{
	return s->gave_up || s->gone;
}

bool recording_role_failed(const struct recording *r)
{
	bool collector = r->collector.exited || r->collector.broken ||
			 (r->collector.pid > 0 && r->collector.control < 0);

	return (collector && !r->collector.stopped) || supervisor_failed(&r->symbolizer) ||
	       supervisor_failed(&r->uploader);
}

static bool recording_is_over(const struct recording *r)
{
	return r->interrupts || r->command.ended || recording_role_failed(r);
}

static int64_t time_left(const struct recording *r)
{
	uint64_t duration = r->options->duration_ms;

	return duration ? r->started_ms + (int64_t)duration - recording_now_ms() : INT64_MAX;
}

void recording_run(struct recording *r)
{
	int64_t left = time_left(r);

	while (left > 0 && !recording_wait(r, recording_is_over, left < TICK_MS ? left : TICK_MS)) {
		left = time_left(r);
		if (!r->progress.terminal)
			continue;
		/* The answer is shown with the next line: a second old, and nobody has to wait for
		 * it. */
		progress_show(&r->progress, (uint64_t)(recording_now_ms() - r->started_ms),
			      r->collector.has_counters ? &r->collector.counters : NULL);
		collector_child_send(&r->collector, CONTROL_GET_COUNTERS);
	}
	r->elapsed_ms = (uint64_t)(recording_now_ms() - r->started_ms);
}

static bool is_aborted(const struct recording *r)
{
	return r->interrupts > 1;
}

static bool collector_has_stopped(const struct recording *r)
{
	return r->collector.stopped || r->collector.exited || r->collector.control < 0 ||
	       is_aborted(r);
}

static bool uploader_has_finished(const struct recording *r)
{
	return r->uploader.finished || supervisor_failed(&r->uploader) || is_aborted(r);
}

static bool symbolizer_has_ended(const struct recording *r)
{
	return r->symbolizer.finished || supervisor_failed(&r->symbolizer) || is_aborted(r);
}

/* Grows with every profile that arrives. */
static off_t journal_size(const struct recording *r)
{
	struct stat st;

	return fstatat(r->dir.profiles_fd, JOURNAL_NAME, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_size;
}

/* The uploader ends by itself after the stream's END. Where that was lost, silence is the end. */
static void wait_for_profiles(struct recording *r)
{
	int64_t last = recording_now_ms() + ARRIVE_MS;
	off_t before = -1;
	off_t size = journal_size(r);

	while (size != before && recording_now_ms() < last) {
		if (recording_wait(r, uploader_has_finished, QUIET_MS))
			return;
		before = size;
		size = journal_size(r);
	}
}

/* The stream's END has not arrived: a symbolizer that is told to end sends what it still has. */
static void end_roles(struct recording *r)
{
	supervisor_end_role(&r->symbolizer, false);
	recording_wait(r, symbolizer_has_ended, END_ROLE_MS);
	recording_wait(r, uploader_has_finished, TICK_MS);
	supervisor_end_role(&r->uploader, false);
	recording_wait(r, uploader_has_finished, END_ROLE_MS);
}

void recording_stop(struct recording *r)
{
	/* Two at once, as from a terminal and from timeout(1), are one. */
	r->interrupts = r->interrupts ? 1 : 0;
	progress_say(&r->progress, "stopping");
	collector_child_send(&r->collector, CONTROL_STOP);
	recording_wait(r, collector_has_stopped, STOP_MS);
	progress_say(&r->progress, "symbolizing");
	wait_for_profiles(r);
	if (!uploader_has_finished(r))
		end_roles(r);
	progress_clear(&r->progress);
}

void recording_close(struct recording *r)
{
	command_child_close(&r->command);
	collector_child_close(&r->collector, STOP_MS);
	supervisor_end_role(&r->symbolizer, true);
	supervisor_end_role(&r->uploader, true);
	supervisor_close(&r->symbolizer);
	supervisor_close(&r->uploader);
	run_dir_end(&r->dir);
}
