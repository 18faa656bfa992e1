// SPDX-License-Identifier: Apache-2.0
#include "uploader/loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log.h"

#define TICK_MS		 10000 /* how often the limits are looked after */
#define MESSAGES_AT_ONCE 64    /* before signals are looked at again */
#define LINGER_MS	 200   /* how long a channel must be silent before the end */
#define LINGER_MESSAGES	 65536

/* Takes up to `most` waiting messages. Returns how many there were, or -errno. */
static int take_messages(struct loop *l, int most)
{
	const uint8_t *data;
	size_t len;
	int taken = 0;

	while (taken < most) {
		int got = message_channel_receive(l->channel, &data, &len);

		if (got < 0) {
			log_error("channel", "receiving profiles: %s", strerror(-got));
			return got;
		}
		if (got == 0)
			break;
		intake_message(l->intake, data, len);
		taken++;
	}
	return taken;
}

/* What the symbolizer has handed over already would be lost otherwise. */
static void take_the_rest(struct loop *l)
{
	struct pollfd fd = { .fd = l->channel_fd, .events = POLLIN };
	int taken = 0;

	while (taken < LINGER_MESSAGES && poll(&fd, 1, LINGER_MS) > 0) {
		int got = take_messages(l, MESSAGES_AT_ONCE);

		if (got <= 0)
			return;
		taken += got;
	}
}

static void look_after_limits(struct loop *l)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	sink_keep_limits(l->sink, t.tv_sec > 0 ? (uint64_t)t.tv_sec : 0);
}

static uint64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int loop_run(struct loop *l)
{
	struct pollfd fds[] = {
		{ .fd = l->channel_fd, .events = POLLIN },
		{ .fd = l->signal_fd, .events = POLLIN },
	};
	uint64_t next_tick = monotonic_ms() + TICK_MS;

	while (!l->once ||
	       (l->intake->counters.ends == 0 && !journal_found_end(l->intake->journal))) {
		uint64_t now = monotonic_ms();

		if (now >= next_tick) {
			look_after_limits(l);
			next_tick = now + TICK_MS;
		}
		if (poll(fds, 2, (int)(next_tick > now ? next_tick - now : 0)) < 0 &&
		    errno != EINTR) {
			log_error("poll", "waiting for profiles: %s", strerror(errno));
			return -errno;
		}
		if (fds[1].revents) {
			take_the_rest(l);
			return 0;
		}
		if (fds[0].revents && take_messages(l, MESSAGES_AT_ONCE) < 0)
			return -EIO;
	}
	return 0;
}
