/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "collector/clock.h"
#include "ipc/log.h"
#include "policy/confine.h"

#define DRAIN_FAST_MS	     20
#define DRAIN_SLOW_MS	     100
#define REST_MS		     2	 /* after process events: what comes in bursts is taken together */
#define FLUSH_MS	     250 /* most that a sample waits for company before it is sent */
#define SECOND_MS	     1000
#define STOP_MS		     8000 /* for the symbolizer to take the rest: a reconnect takes up to 5 s */
#define FILES_QUIET_MS	     50	 /* without a file passed on: none waits any more */
#define LINGER_MS	     500 /* after the end, for files that the symbolizer asks for again */
#define LINGER_CONTROLLED_MS 10000

enum { POLL_SIGNAL, POLL_CONTROL, POLL_SEND, POLL_BROKER, POLL_SIDEBAND };

struct loop_state {
	struct loop *l;
	struct pollfd *polls; /* POLL_SIDEBAND + CPU */
	uint64_t now;	      /* CLOCK_MONOTONIC, ms */
	uint64_t rest_until;  /* the side-band rings are left alone until then */
	uint64_t next_drain;
	uint64_t next_flush;
	uint64_t next_second;
	bool sampling;
	bool stopping;
	bool blocked; /* the last flush left something behind */
	bool connected;
};

static struct counters_record collect(const struct loop *l)
{
	struct counters_sources from = { l->sampler, l->drain,	   l->stream,
					 l->broker,  l->processes, l->sideband };
	struct counters_record record;

	counters_collect(&from, &record);
	return record;
}

/*
 * The order is what makes samples resolvable: all process events up to now are known before any
 * sample up to now is told, and later samples wait for the next drain.
 */
static void drain(struct loop_state *s)
{
	uint64_t until = clock_ns();
	uint64_t bytes;

	sideband_drain(s->l->sideband);
	bytes = drain_run(s->l->drain, until);
	s->next_drain = s->now + (bytes > sampler_ring_size(s->l->sampler) / 32 ? DRAIN_FAST_MS
										: DRAIN_SLOW_MS);
}

static void flush(struct loop_state *s)
{
	stream_flush(s->l->stream);
	s->blocked = !stream_idle(s->l->stream);
	s->next_flush = s->now + FLUSH_MS;
}

static void each_second(struct loop_state *s)
{
	struct counters_record counters = collect(s->l);

	stream_add_counters(s->l->stream, &counters);
	processes_expire(s->l->processes, s->now * NSEC_PER_MSEC);
	if (s->l->follow_cpus)
		cpus_follow(s->l->cpus, s->now, s->sampling);
	notify_send("WATCHDOG=1");
	s->next_second = s->now + SECOND_MS;
}

static void run_broker(struct loop_state *s)
{
	bool greeted = broker_run(s->l->broker, s->now);
	bool connected = broker_poll(s->l->broker).fd >= 0;

	/* What a dead symbolizer was told is told again, to the queue that its successor will read.
	 */
	if (greeted || (s->connected && !connected))
		stream_peer_changed(s->l->stream);
	s->connected = connected;
}

static void start_sampling(struct loop_state *s)
{
	if (s->sampling)
		return;
	s->sampling = true;
	perf_events_enable(s->l->events);
}

static void change_filter(struct loop_state *s, const struct control_message *m)
{
	int error =
		m->type == CONTROL_FILTER_ADD
			? sampler_filter_add(s->l->sampler, (enum filter_kind)m->filter, m->key,
					     m->descendants != 0)
			: sampler_filter_remove(s->l->sampler, (enum filter_kind)m->filter, m->key);

	if (error)
		log_warn("filter", "filter kind %u key %llu: errno %d", m->filter,
			 (unsigned long long)m->key, -error);
}

static void answer_counters(struct loop_state *s)
{
	struct counters_record counters = collect(s->l);

	control_send(&s->l->control, CONTROL_COUNTERS, &counters);
}

static void obey(struct loop_state *s, const struct control_message *m)
{
	switch (m->type) {
	case CONTROL_FILTER_ADD:
	case CONTROL_FILTER_REMOVE:
		change_filter(s, m);
		break;
	case CONTROL_START:
		start_sampling(s);
		break;
	case CONTROL_STOP:
		s->stopping = true;
		break;
	case CONTROL_GET_COUNTERS:
		answer_counters(s);
		break;
	case CONTROL_READY:
	case CONTROL_COUNTERS:
	case CONTROL_STOPPED:
	case CONTROL_MESSAGE_TYPES:
		break; /* the decoder's rules let none of these through */
	}
}

/* Without its launcher a controlled collector has no purpose: it ends as if told to. */
static void take_commands(struct loop_state *s)
{
	struct control_message m;
	int taken;

	while (!s->stopping && (taken = control_next(&s->l->control, &m)) != 0) {
		if (taken > 0)
			obey(s, &m);
		else
			s->stopping = true;
	}
}

static bool take_signal(const struct loop *l)
{
	struct signalfd_siginfo info;

	return read(l->signal_fd, &info, sizeof(info)) == sizeof(info);
}

/* Returns the number of descriptors to poll. */
static nfds_t prepare_polls(struct loop_state *s, bool with_sideband)
{
	const struct loop *l = s->l;

	s->polls[POLL_SIGNAL] = (struct pollfd){ .fd = l->signal_fd, .events = POLLIN };
	s->polls[POLL_CONTROL] = (struct pollfd){ .fd = l->control.fd, .events = POLLIN };
	s->polls[POLL_SEND] =
		(struct pollfd){ .fd = s->blocked ? l->send_fd : -1, .events = POLLIN };
	s->polls[POLL_BROKER] = broker_poll(l->broker);
	if (!with_sideband)
		return POLL_SIDEBAND;
	for (uint32_t cpu = 0; cpu < l->cpu_count; cpu++)
		s->polls[POLL_SIDEBAND + cpu] =
			(struct pollfd){ .fd = sideband_poll_fd(l->sideband, cpu),
					 .events = POLLIN };
	return POLL_SIDEBAND + l->cpu_count;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int timeout_until(const struct loop_state *s, uint64_t deadline)
{
	int broker = broker_timeout(s->l->broker, s->now);
	uint64_t wait = deadline > s->now ? deadline - s->now : 0;

	return (int)(broker >= 0 ? earlier(wait, (uint64_t)broker) : wait);
}

static void wait_for(struct loop_state *s, nfds_t polled, uint64_t deadline)
{
	int n = poll(s->polls, polled, timeout_until(s, deadline));

	if (n < 0)
		for (nfds_t i = 0; i < polled; i++)
			s->polls[i].revents = 0;
	s->now = clock_ns() / NSEC_PER_MSEC;
}

static bool sideband_ready(const struct loop_state *s, nfds_t polled)
{
	for (nfds_t i = POLL_SIDEBAND; i < polled; i++) {
		if (s->polls[i].revents & POLLIN)
			return true;
	}
	return false;
}

static void turn(struct loop_state *s)
{
	/* The rest bounds how often a host on which processes come and go can wake us. */
	bool resting = s->now < s->rest_until;
	nfds_t polled = prepare_polls(s, !resting);
	uint64_t deadline = earlier(s->next_drain, earlier(s->next_flush, s->next_second));

	wait_for(s, polled, resting ? earlier(deadline, s->rest_until) : deadline);

	if ((s->polls[POLL_SIGNAL].revents & POLLIN) && take_signal(s->l))
		s->stopping = true;
	if (s->polls[POLL_CONTROL].revents)
		take_commands(s);
	run_broker(s);
	if (sideband_ready(s, polled)) {
		s->rest_until = s->now + REST_MS;
		drain(s);
	} else if (s->now >= s->next_drain) {
		drain(s);
	}
	if (s->now >= s->next_second)
		each_second(s);
	if (s->now >= s->next_flush || (s->polls[POLL_SEND].revents & POLLIN))
		flush(s);
}

/*
 * Sends what waits and passes on the files that wait, until both are done or `deadline`. A second
 * signal ends the wait. Returns false when records still wait.
 */
static bool send_rest(struct loop_state *s, uint64_t deadline)
{
	uint64_t files = 0;
	uint64_t quiet_since = s->now;

	for (;;) {
		uint64_t sent = broker_counters(s->l->broker)->sent;

		run_broker(s);
		flush(s);
		if (sent != files)
			quiet_since = s->now;
		files = sent;
		if (!s->blocked && s->now >= quiet_since + FILES_QUIET_MS)
			return true;
		if (s->now >= deadline)
			return !s->blocked;
		wait_for(s, prepare_polls(s, false), earlier(deadline, s->now + FILES_QUIET_MS));
		if ((s->polls[POLL_SIGNAL].revents & POLLIN) && take_signal(s->l))
			return false;
	}
}

static void log_summary(const struct loop *l, const struct counters_record *c)
{
	struct sampler_totals totals;
	const uint64_t *status = totals.value + SAMPLER_STATUS;

	sampler_totals(l->sampler, &totals);
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		log_info("counter", "%s=%llu", collector_counter_name((enum collector_counter)i),
			 (unsigned long long)c->value[i]);
	log_info("stacks",
		 "complete %llu, no user stack %llu, truncated %llu, read failed %llu, implausible "
		 "%llu, no "
		 "registers %llu",
		 (unsigned long long)status[SAMPLE_STACK_COMPLETE],
		 (unsigned long long)status[SAMPLE_STACK_NO_USER],
		 (unsigned long long)status[SAMPLE_STACK_TRUNCATED],
		 (unsigned long long)status[SAMPLE_STACK_READ_FAILED],
		 (unsigned long long)status[SAMPLE_STACK_IMPLAUSIBLE],
		 (unsigned long long)status[SAMPLE_STACK_NO_REGISTERS]);
	if (c->value[COLLECTOR_HELD])
		log_error("account", "%llu samples are neither sent nor counted as lost",
			  (unsigned long long)c->value[COLLECTOR_HELD]);
}

/* Samples first, then the account of them, then the end: the account that travels is then the final
 * one. */
static void end_stream(struct loop_state *s)
{
	uint64_t deadline = s->now + STOP_MS;
	struct counters_record counters;
	bool sent;

	notify_send("STOPPING=1");
	perf_events_disable(s->l->events);
	s->sampling = false;
	sideband_drain(s->l->sideband);
	drain_run(s->l->drain, UINT64_MAX);
	sent = send_rest(s, deadline);
	if (!sent)
		stream_abandon(s->l->stream);
	counters = collect(s->l);
	stream_add_counters(s->l->stream, &counters);
	stream_add_end(s->l->stream);
	if (!send_rest(s, sent ? deadline : s->now))
		log_warn("end_not_sent", "the symbolizer did not take the end of the stream");
	stream_abandon(s->l->stream);
	counters = collect(s->l);
	control_send(&s->l->control, CONTROL_STOPPED, &counters);
	log_summary(s->l, &counters);
}

/* The last window is being resolved: the symbolizer may want a file again. The launcher ends this
 * by closing its end. */
static void linger(struct loop_state *s)
{
	bool controlled = s->l->control.fd >= 0;
	uint64_t deadline = s->now + (controlled ? LINGER_CONTROLLED_MS : LINGER_MS);
	struct control_message m;

	s->blocked = false;
	while (s->now < deadline && (s->l->control.fd >= 0 || !controlled)) {
		wait_for(s, prepare_polls(s, false), deadline);
		if ((s->polls[POLL_SIGNAL].revents & POLLIN) && take_signal(s->l))
			return;
		if (s->polls[POLL_CONTROL].revents)
			(void)control_next(&s->l->control, &m);
		run_broker(s);
	}
}

int loop_run(struct loop *l)
{
	struct loop_state s = { .l = l, .now = clock_ns() / NSEC_PER_MSEC };
	bool controlled = l->control.fd >= 0;

	s.polls = calloc(POLL_SIDEBAND + l->cpu_count, sizeof(*s.polls));
	if (!s.polls)
		return -ENOMEM;
	s.next_second = s.now + SECOND_MS;
	if (controlled)
		control_send(&l->control, CONTROL_READY, NULL);
	else
		start_sampling(&s);
	while (!s.stopping) {
		turn(&s);
		/* An answer that found nobody has closed the channel without an event that would tell. */
		if (controlled && l->control.fd < 0)
			s.stopping = true;
	}
	end_stream(&s);
	linger(&s);
	free(s.polls);
	return 0;
}
