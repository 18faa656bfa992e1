/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch under construction is written in place and sent from there; only when it is full and
 * nobody takes it does it move to the queue. Headers are written at the moment of sending: numbers
 * are given to what leaves, so that what was dropped here leaves no gap that a receiver would count
 * as lost in transit.
 */
#include "collector/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/log.h"

struct batch {
	struct batch *next;
	uint32_t len; /* bytes used, header included */
	uint32_t samples;
	uint32_t records;
	bool announces; /* holds records about processes */
	uint8_t data[BATCH_MAX];
};

struct stream {
	struct stream_options options;
	struct message_channel *channel; /* NULL until attached */
	struct batch *current;		 /* under construction, never NULL */
	struct batch *oldest;		 /* queue of full batches */
	struct batch *newest;
	uint32_t queued;
	uint64_t queued_samples;
	uint64_t sequence; /* of the next batch to be sent */
	uint64_t sent;
	uint64_t dropped;
	bool announcements_lost;
};

static void batch_reset(struct batch *b)
{
	b->next = NULL;
	b->len = BATCH_HEADER_LEN;
	b->samples = 0;
	b->records = 0;
	b->announces = false;
}

static struct batch *batch_new(void)
{
	struct batch *b = malloc(sizeof(*b));

	if (b)
		batch_reset(b);
	return b;
}

int stream_new(struct stream **out, const struct stream_options *o)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	s->current = batch_new();
	if (!s->current) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void stream_attach(struct stream *s, struct message_channel *channel)
{
	s->channel = channel;
}

/* Returns whether the channel took it. */
static bool send_batch(struct stream *s, struct batch *b)
{
	struct batch_header h = { .stream_id = s->options.stream_id,
				  .sequence = s->sequence,
				  .first_sample = s->sent,
				  .samples = b->samples,
				  .records = b->records,
				  .frequency = s->options.frequency };

	if (!s->channel)
		return false;
	batch_header_encode(&h, b->data);
	if (message_channel_send(s->channel, b->data, b->len) != 0)
		return false;
	s->sequence++;
	s->sent += b->samples;
	return true;
}

static void send_queue(struct stream *s)
{
	while (s->oldest && send_batch(s, s->oldest)) {
		struct batch *b = s->oldest;

		s->oldest = b->next;
		if (!s->oldest)
			s->newest = NULL;
		s->queued--;
		s->queued_samples -= b->samples;
		free(b);
	}
}

void stream_flush(struct stream *s)
{
	send_queue(s);
	if (!s->oldest && s->current->records && send_batch(s, s->current))
		batch_reset(s->current);
}

/* The newest goes: what waits longer is nearer to being complete with its announcements. */
static void drop_current(struct stream *s)
{
	s->dropped += s->current->samples;
	if (s->current->announces)
		s->announcements_lost = true;
	batch_reset(s->current);
}

/* Makes room for a new batch: sends the full one, or queues it, or drops it. */
static void close_current(struct stream *s)
{
	struct batch *fresh;

	stream_flush(s);
	if (!s->current->records)
		return;
	fresh = s->queued < s->options.queue_batches ? batch_new() : NULL;
	if (!fresh) {
		if (s->dropped == 0)
			log_warn("queue_full",
				 "samples are dropped: %u batches wait for the symbolizer",
				 s->queued);
		drop_current(s);
		return;
	}
	if (s->newest)
		s->newest->next = s->current;
	else
		s->oldest = s->current;
	s->newest = s->current;
	s->queued++;
	s->queued_samples += s->current->samples;
	s->current = fresh;
}

/* Room after the records that stand in the current batch. */
static struct builder room(const struct stream *s)
{
	return builder_over(s->current->data + s->current->len, BATCH_MAX - s->current->len);
}

static void keep(struct stream *s, const struct builder *b)
{
	s->current->len += b->len;
	s->current->records++;
}

/* The largest record fits an empty batch (checked where the encoders are), so a second try always
 * fits. */
#define ADD(s, encode, ...)                                                                        \
	do {                                                                                       \
		struct builder b_ = room(s);                                                       \
                                                                                                   \
		encode(&b_, ##__VA_ARGS__);                                                        \
		if (b_.bad) {                                                                      \
			close_current(s);                                                          \
			b_ = room(s);                                                              \
			encode(&b_, ##__VA_ARGS__);                                                \
		}                                                                                  \
		keep(s, &b_);                                                                      \
	} while (0)

void stream_add_sample(struct stream *s, const struct sample_record *h, const void *frames)
{
	ADD(s, record_encode_sample, h, frames);
	s->current->samples++;
}

void stream_add_process(struct stream *s, const struct process_record *p)
{
	ADD(s, record_encode_process, p);
	s->current->announces = true;
}

void stream_add_mapping(struct stream *s, const struct mapping_record *m)
{
	ADD(s, record_encode_mapping, m);
	s->current->announces = true;
}

void stream_add_exit(struct stream *s, const struct exit_record *e)
{
	ADD(s, record_encode_exit, e);
}

void stream_add_counters(struct stream *s, const struct counters_record *c)
{
	ADD(s, record_encode_counters, c);
}

void stream_add_end(struct stream *s)
{
	ADD(s, record_encode_end);
}

bool stream_idle(const struct stream *s)
{
	return !s->oldest && !s->current->records;
}

void stream_peer_changed(struct stream *s)
{
	s->announcements_lost = true;
}

bool stream_take_announcements_lost(struct stream *s)
{
	bool lost = s->announcements_lost;

	s->announcements_lost = false;
	return lost;
}

uint64_t stream_sent(const struct stream *s)
{
	return s->sent;
}

uint64_t stream_held(const struct stream *s)
{
	return s->queued_samples + s->current->samples;
}

uint64_t stream_dropped(const struct stream *s)
{
	return s->dropped;
}

uint64_t stream_peers_refused(const struct stream *s)
{
	return s->channel ? message_channel_counters(s->channel)->peers_refused : 0;
}

void stream_abandon(struct stream *s)
{
	while (s->oldest) {
		struct batch *b = s->oldest;

		s->oldest = b->next;
		s->dropped += b->samples;
		free(b);
	}
	s->newest = NULL;
	s->queued = 0;
	s->queued_samples = 0;
	s->announcements_lost = true;
	drop_current(s);
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	stream_abandon(s);
	free(s->current);
	free(s);
}
