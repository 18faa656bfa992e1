/* SPDX-License-Identifier: Apache-2.0 */
/* The sample channel is played by a fake that takes a given number of batches and notes what their
 * headers say. */
#include <errno.h>
#include <string.h>

#include "collector/stream.h"
#include "tests/unit/cmocka_all.h"

#define BATCHES_NOTED 64

struct message_channel {
	uint32_t accepts; /* batches that it still takes */
	uint32_t taken;
	struct batch_header headers[BATCHES_NOTED];
	uint32_t lengths[BATCHES_NOTED];
	uint32_t types[RECORD_TYPES]; /* records received, by type */
};

int message_channel_send(struct message_channel *c, const void *data, size_t len)
{
	struct cursor body;
	struct record r;

	if (c->accepts == 0)
		return -EAGAIN;
	c->accepts--;
	assert_in_range(c->taken, 0, BATCHES_NOTED - 1);
	assert_null(batch_open(data, (uint32_t)len, &c->headers[c->taken], &body));
	c->lengths[c->taken++] = (uint32_t)len;
	for (;;) {
		assert_null(record_decode(&body, &r));
		if (!r.type)
			return 0;
		c->types[r.type]++;
	}
}

const struct message_channel_counters *message_channel_counters(const struct message_channel *c)
{
	static const struct message_channel_counters none;

	(void)c;
	return &none;
}

static uint64_t frames[BELFRY_USER_FRAMES_MAX];

/* A sample record of 8 + 88 + 8 * user_frames bytes. */
static void add_samples(struct stream *s, uint32_t n, uint16_t user_frames)
{
	struct sample_record r = { .tgid = 1, .user_frames = user_frames };

	for (uint32_t i = 0; i < n; i++)
		stream_add_sample(s, &r, frames);
}

static void add_process(struct stream *s)
{
	struct process_record p = { .tgid = 1, .reason = PROCESS_SEEN };

	stream_add_process(s, &p);
}

static struct stream *new_stream(struct message_channel *c, uint32_t queue_batches)
{
	struct stream_options o = { .stream_id = 7,
				    .frequency = 19,
				    .queue_batches = queue_batches };
	struct stream *s;

	assert_int_equal(stream_new(&s, &o), 0);
	if (c)
		stream_attach(s, c);
	return s;
}

static void a_flush_sends_what_there_is(void **state)
{
	struct message_channel c = { .accepts = 10 };
	struct stream *s = new_stream(&c, 4);

	(void)state;
	assert_true(stream_idle(s));
	stream_flush(s); /* nothing to send: no empty batch */
	assert_int_equal(c.taken, 0);
	add_process(s);
	add_samples(s, 3, 2);
	assert_int_equal(stream_held(s), 3);
	stream_flush(s);
	assert_int_equal(c.taken, 1);
	assert_int_equal(c.headers[0].stream_id, 7);
	assert_int_equal(c.headers[0].frequency, 19);
	assert_int_equal(c.headers[0].samples, 3);
	assert_int_equal(c.headers[0].records, 4);
	assert_int_equal(stream_held(s), 0);
	assert_int_equal(stream_sent(s), 3);
	stream_free(s);
}

static void batches_are_numbered_by_what_was_sent_before(void **state)
{
	struct message_channel c = { .accepts = 10 };
	struct stream *s = new_stream(&c, 4);

	(void)state;
	add_samples(s, 3, 2);
	stream_flush(s);
	add_samples(s, 5, 2);
	stream_flush(s);
	add_samples(s, 1, 2);
	stream_flush(s);
	/* 3, 5 and 1 samples: the batches begin at 0, 3 and 8. */
	assert_int_equal(c.headers[0].first_sample, 0);
	assert_int_equal(c.headers[1].first_sample, 3);
	assert_int_equal(c.headers[2].first_sample, 8);
	assert_int_equal(c.headers[2].sequence, 2);
	stream_free(s);
}

static void a_full_batch_is_sent_by_itself(void **state)
{
	struct message_channel c = { .accepts = 10 };
	struct stream *s = new_stream(&c, 4);

	(void)state;
	/* 8 + 88 + 8 * 1024 = 8288 bytes each: (65536 - 48) / 8288 = 7.9, so 7 fit a batch. */
	add_samples(s, 8, 1024);
	assert_int_equal(c.taken, 1);
	assert_int_equal(c.headers[0].samples, 7);
	assert_int_equal(c.lengths[0], 48 + 7 * 8288);
	assert_int_equal(stream_held(s), 1);
	stream_free(s);
}

static void the_queue_is_bounded_and_the_newest_goes(void **state)
{
	struct message_channel c = { .accepts = 0 };
	struct stream *s = new_stream(&c, 2);

	(void)state;
	/* 7 a batch: two batches wait, a third is full; the 22nd sample finds no room, and the
	 * third is dropped. */
	add_samples(s, 21, 1024);
	assert_int_equal(stream_held(s), 21);
	assert_int_equal(stream_dropped(s), 0);
	add_samples(s, 1, 1024);
	assert_int_equal(stream_held(s), 15);
	assert_int_equal(stream_dropped(s), 7);

	c.accepts = 10;
	stream_flush(s);
	/* What was dropped leaves no gap in the numbers: 0, 7, 14. */
	assert_int_equal(c.taken, 3);
	assert_int_equal(c.headers[1].first_sample, 7);
	assert_int_equal(c.headers[2].first_sample, 14);
	assert_int_equal(c.headers[2].samples, 1);
	assert_int_equal(stream_sent(s), 15);
	assert_int_equal(stream_sent(s) + stream_held(s) + stream_dropped(s), 22);
	stream_free(s);
}

static void counts_are_exact_while_the_peer_comes_and_goes(void **state)
{
	struct message_channel c = { .accepts = 0 };
	struct stream *s = new_stream(&c, 3);
	uint64_t next = 0;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		c.accepts = round % 17 == 0 ? 2 : 0;
		add_samples(s, 3, (uint16_t)(round * 37 % 1025));
		stream_flush(s);
		assert_int_equal(stream_sent(s) + stream_held(s) + stream_dropped(s),
				 3 * (round + 1));
	}
	assert_true(stream_dropped(s) > 0);
	for (uint32_t i = 0; i < c.taken; i++) {
		assert_int_equal(c.headers[i].sequence, i);
		assert_int_equal(c.headers[i].first_sample, next);
		next += c.headers[i].samples;
	}
	assert_int_equal(next, stream_sent(s));
	assert_int_equal(c.types[RECORD_SAMPLE], next);
	stream_free(s);
}

static void without_a_channel_everything_waits(void **state)
{
	struct message_channel c = { .accepts = 10 };
	struct stream *s = new_stream(NULL, 4);

	(void)state;
	add_samples(s, 10, 1024);
	stream_flush(s);
	assert_int_equal(stream_held(s), 10);
	stream_attach(s, &c);
	stream_flush(s);
	assert_int_equal(stream_sent(s), 10);
	assert_true(stream_idle(s));
	stream_free(s);
}

static void a_dropped_announcement_is_told_once(void **state)
{
	struct message_channel c = { .accepts = 0 };
	struct stream *s = new_stream(&c, 0);

	(void)state;
	add_samples(s, 8, 1024); /* first batch dropped: it announced nothing */
	assert_false(stream_take_announcements_lost(s));
	add_process(s);
	add_samples(s, 8, 1024); /* second batch dropped, with the process */
	assert_true(stream_take_announcements_lost(s));
	assert_false(stream_take_announcements_lost(s));
	stream_peer_changed(s);
	assert_true(stream_take_announcements_lost(s));
	stream_free(s);
}

static void giving_up_counts_what_waited(void **state)
{
	struct message_channel c = { .accepts = 0 };
	struct stream *s = new_stream(&c, 4);

	(void)state;
	add_samples(s, 10, 1024); /* 7 in the queue, 3 under construction */
	stream_abandon(s);
	assert_int_equal(stream_dropped(s), 10);
	assert_int_equal(stream_held(s), 0);
	assert_true(stream_idle(s));
	/* The end still gets through. */
	c.accepts = 1;
	stream_add_end(s);
	stream_flush(s);
	assert_int_equal(c.types[RECORD_END], 1);
	assert_int_equal(c.headers[0].first_sample, 0);
	stream_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flush_sends_what_there_is),
		cmocka_unit_test(batches_are_numbered_by_what_was_sent_before),
		cmocka_unit_test(a_full_batch_is_sent_by_itself),
		cmocka_unit_test(the_queue_is_bounded_and_the_newest_goes),
		cmocka_unit_test(counts_are_exact_while_the_peer_comes_and_goes),
		cmocka_unit_test(without_a_channel_everything_waits),
		cmocka_unit_test(a_dropped_announcement_is_told_once),
		cmocka_unit_test(giving_up_counts_what_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
