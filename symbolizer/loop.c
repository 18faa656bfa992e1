/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"

#define WORKER_FDS_MAX 64
#define BATCHES_A_TURN 64
#define STOP_WAIT_MS 2000            /* for the uploader to take the last window */
#define TARGET_GRACE_NS 30000000000ull /* an exited process is remembered that long */
#define NSEC_PER_MSEC 1000000ull

enum {
	FD_SIGNAL,
	FD_SAMPLES,
	FD_PROFILES,
	FD_LISTENER,
	FD_FILES,
	FD_WORKERS
};

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static struct window_clock now(void)
{
	return (struct window_clock){ nanoseconds(CLOCK_REALTIME), nanoseconds(CLOCK_MONOTONIC) };
}

static uint64_t now_ms(void)
{
	return nanoseconds(CLOCK_MONOTONIC) / NSEC_PER_MSEC;
}

/* ---- windows --------------------------------------------------------------------------------------- */

static void on_closed(void *context, struct window *w)
{
	struct symbolizer_loop *l = context;

	closing_begin(&l->closing, w, now_ms());
}

static void close_window(struct symbolizer_loop *l)
{
	struct window *w = batch_intake_close_window(&l->batches, now());

	l->window_end_ms = now_ms() + l->window_ms;
	if (w)
		closing_begin(&l->closing, w, now_ms());
	targets_expire(l->targets, nanoseconds(CLOCK_MONOTONIC) - TARGET_GRACE_NS);
	notify_send("WATCHDOG=1");
}

/* After the last window of a stream the uploader is told that it was the last. */
static void tell_end(struct symbolizer_loop *l)
{
	static struct profile_message m; /* its labels are too large for the stack */

	if (!l->end_pending || l->closing.window)
		return;
	memset(&m, 0, sizeof(m));
	m.type = PROFILE_END;
	/* The last window once more, in case its own messages are lost; a life that closed none says which stream it is. */
	if (l->closing.last.collector_stream == l->batches.stream_id)
		m.account = l->closing.last;
	m.account.collector_stream = l->batches.stream_id;
	m.account.symbolizer_id = l->batches.symbolizer_id;
	m.account.collector = l->batches.collector; /* newer than the window's where nothing came after it */
	/* Where there is no room now, it is tried again after each event. */
	l->end_pending = outlet_add(l->outlet, &m) != 0;
}

static void run_windows(struct symbolizer_loop *l)
{
	if (l->batches.ended) {
		l->batches.ended = false;
		l->end_pending = true;
		close_window(l);
	}
	if (now_ms() >= l->window_end_ms ||
	    (window_nearly_full(l->batches.open) && !l->closing.window))
		close_window(l);
	closing_run(&l->closing, now_ms(), false);
	tell_end(l);
	outlet_flush(l->outlet);
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void take_batches(struct symbolizer_loop *l)
{
	for (int i = 0; i < BATCHES_A_TURN && !l->batches.ended; i++) {
		const uint8_t *data;
		size_t len;
		int got = message_channel_receive(l->samples, &data, &len);

		if (got <= 0)
			return;
		batch_intake_take(&l->batches, data, len, now());
	}
}

static void take_signal(struct symbolizer_loop *l)
{
	struct signalfd_siginfo info;

	if (read(l->signal_fd, &info, sizeof(info)) != sizeof(info) || l->stopping)
		return;
	notify_send("STOPPING=1");
	take_batches(l);
	l->stopping = true;
	l->stop_ms = now_ms() + STOP_WAIT_MS + CLOSING_WAIT_MS;
	l->end_pending = true;
	close_window(l);
}

static int shorter(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static int until(uint64_t moment, uint64_t from)
{
	return moment > from ? (int)(moment - from) : 0;
}

static int timeout(const struct symbolizer_loop *l)
{
	uint64_t at = now_ms();
	int t = until(l->window_end_ms, at);

	t = shorter(t, closing_timeout(&l->closing, at));
	t = shorter(t, symbols_timeout(l->symbols, at));
	return l->stopping ? shorter(t, until(l->stop_ms, at)) : t;
}

static size_t fill(struct symbolizer_loop *l, struct pollfd *fds)
{
	fds[FD_SIGNAL] = (struct pollfd){ .fd = l->signal_fd, .events = POLLIN };
	fds[FD_SAMPLES] = (struct pollfd){ .fd = message_channel_poll_fd(l->samples), .events = POLLIN };
	fds[FD_PROFILES] = (struct pollfd){ .fd = outlet_empty(l->outlet) ? -1 : message_channel_poll_fd(l->profiles),
					    .events = POLLIN };
	fds[FD_LISTENER] = (struct pollfd){ .fd = l->files.listener, .events = POLLIN };
	fds[FD_FILES] = (struct pollfd){ .fd = l->files.connection, .events = POLLIN };
	return FD_WORKERS + symbols_poll(l->symbols, fds + FD_WORKERS, WORKER_FDS_MAX);
}

static void handle(struct symbolizer_loop *l, const struct pollfd *fds)
{
	/* Files before samples: a name that is wanted soon had better be there. */
	if (fds[FD_LISTENER].revents)
		file_intake_accept(&l->files);
	if (fds[FD_FILES].revents && l->files.connection == fds[FD_FILES].fd)
		file_intake_receive(&l->files);
	if (fds[FD_SAMPLES].revents)
		take_batches(l);
	if (fds[FD_SIGNAL].revents)
		take_signal(l);
	symbols_handle(l->symbols, now_ms());
	symbols_start(l->symbols);
	file_intake_want(&l->files);
	run_windows(l);
}

static bool finished(const struct symbolizer_loop *l)
{
	if (!l->stopping)
		return false;
	return (!l->closing.window && !l->end_pending && outlet_empty(l->outlet)) || now_ms() >= l->stop_ms;
}

int symbolizer_loop_run(struct symbolizer_loop *l)
{
	struct pollfd fds[FD_WORKERS + WORKER_FDS_MAX];

	l->batches.on_closed = on_closed;
	l->batches.context = l;
	l->window_end_ms = now_ms() + l->window_ms;
	if (batch_intake_start(&l->batches, now()) != 0)
		return -ENOMEM;
	while (!finished(l)) {
		size_t count = fill(l, fds);

		if (poll(fds, count, timeout(l)) < 0 && errno != EINTR) {
			log_error("poll", "%s", strerror(errno));
			return -errno;
		}
		handle(l, fds);
		if (symbols_broken(l->symbols)) {
			log_error("zygote", "the zygote is gone: ending, to be started again");
			return -EPIPE;
		}
	}
	return 0;
}
