/* SPDX-License-Identifier: Apache-2.0 */
/* Batches become windows, and every sample of the stream is in the account: in a profile, lost for
 * a reason, or missing from the range. */
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/sample_channel.h"
#include "symbolizer/batch_intake.h"
#include "symbolizer/file_key.h"

#define STREAM	    0x5eed
#define BUDGET	    (1 << 20)
#define WINDOWS_MAX 256

struct bench {
	struct batch_intake intake;
	struct window_clock clock;
	struct window_account closed[WINDOWS_MAX];
	uint32_t closed_count;
};

static void keep_account(struct bench *b, struct window *w)
{
	assert_true(b->closed_count < WINDOWS_MAX);
	b->closed[b->closed_count++] = w->account;
	window_free(w);
}

static void on_closed(void *context, struct window *w)
{
	keep_account(context, w);
}

static int setup(void **state)
{
	const struct targets_limits l = { .targets = 64, .mappings = 1024, .memory = 8 << 20 };
	struct bench *b = calloc(1, sizeof(*b));

	if (!b || targets_new(&b->intake.targets, &l) != 0)
		return -1;
	b->clock = (struct window_clock){ .real = 1000000, .mono = 1000 };
	b->intake.window_budget = BUDGET;
	b->intake.symbolizer_id = 77;
	b->intake.on_closed = on_closed;
	b->intake.context = b;
	*state = b;
	return batch_intake_start(&b->intake, b->clock);
}

static int teardown(void **state)
{
	struct bench *b = *state;

	window_free(b->intake.open);
	targets_free(b->intake.targets);
	free(b);
	return 0;
}

/* ---- batches
 * --------------------------------------------------------------------------------------- */

struct batch {
	struct batch_header header;
	uint8_t data[BATCH_MAX];
	struct builder body;
};

static void batch_begin(struct batch *b, uint64_t first_sample)
{
	b->header = (struct batch_header){ .stream_id = STREAM,
					   .first_sample = first_sample,
					   .frequency = 19 };
	b->body = builder_over(b->data, sizeof(b->data));
	b->body.len = BATCH_HEADER_LEN;
}

static void batch_sample(struct batch *b, uint32_t tid)
{
	const struct sample_record s = { .tgid = 1, .start_time = 1, .tid = tid, .user_frames = 1 };
	const uint64_t frame = 0x1000;

	record_encode_sample(&b->body, &s, &frame);
	b->header.samples++;
	b->header.records++;
}

/* A batch of `samples` samples of as many threads. */
static void batch_of(struct batch *b, uint64_t first_sample, uint32_t samples)
{
	batch_begin(b, first_sample);
	for (uint32_t i = 0; i < samples; i++)
		batch_sample(b, i);
}

/* From a block of exact size, so that a sanitizer sees its end. */
static void take_bytes(struct bench *b, const void *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	batch_intake_take(&b->intake, copy, len, b->clock);
	free(copy);
}

static void take(struct bench *b, struct batch *batch)
{
	assert_false(batch->body.bad);
	batch_header_encode(&batch->header, batch->data);
	take_bytes(b, batch->data, batch->body.len);
}

static void close_window(struct bench *b)
{
	struct window *w;

	b->clock.real += 10;
	b->clock.mono += 10;
	w = batch_intake_close_window(&b->intake, b->clock);
	if (w)
		keep_account(b, w);
}

static uint64_t lost(const struct window_account *a)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		sum += a->lost[i];
	return sum;
}

/* The law of an account, and what this one says. */
static void expect(const struct window_account *a, uint64_t first, uint64_t end, uint64_t received,
		   uint64_t in_profiles)
{
	assert_int_equal(a->first_sample, first);
	assert_int_equal(a->end_sample, end);
	assert_int_equal(a->received, received);
	assert_int_equal(a->in_profiles, in_profiles);
	assert_int_equal(a->received, a->in_profiles + lost(a));
	assert_true(a->received <= a->end_sample - a->first_sample);
}

static const struct window_account *open_account(const struct bench *b)
{
	return &b->intake.open->account;
}

/* ---- ranges
 * ---------------------------------------------------------------------------------------- */

static void batches_in_a_row_leave_no_gap(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 3);
	take(b, &batch);
	batch_of(&batch, 3, 2);
	take(b, &batch);
	expect(open_account(b), 0, 5, 5, 5);
	assert_int_equal(b->intake.counters.gaps, 0);
	assert_int_equal(b->intake.counters.batches, 2);
	assert_int_equal(b->intake.counters.records, 5);
	assert_int_equal(b->intake.open->period, 1000000000 / 19);
}

static void stream_is_joined_where_it_is(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	/* What came before was sent to another symbolizer. */
	batch_of(&batch, 1000, 2);
	take(b, &batch);
	expect(open_account(b), 1000, 1002, 2, 2);
	assert_int_equal(b->intake.counters.gaps, 0);
}

static void missing_batch_is_a_gap_in_the_range(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 3);
	take(b, &batch);
	batch_of(&batch, 10, 2); /* 3 to 9 are missing */
	take(b, &batch);
	expect(open_account(b), 0, 12, 5, 5);
	assert_int_equal(b->intake.counters.gaps, 1);
}

static void gap_between_windows_belongs_to_the_later_one(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 3);
	take(b, &batch);
	close_window(b);
	batch_of(&batch, 10, 2);
	take(b, &batch);
	close_window(b);
	assert_int_equal(b->closed_count, 2);
	expect(&b->closed[0], 0, 3, 3, 3);
	expect(&b->closed[1], 3, 12, 2, 2);
}

static void old_and_repeated_batches_are_ignored(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 10, 3);
	take(b, &batch);
	take(b, &batch);
	batch_of(&batch, 0, 3); /* before */
	take(b, &batch);
	batch_of(&batch, 12, 3); /* overlaps */
	take(b, &batch);
	expect(open_account(b), 10, 13, 3, 3);
	assert_int_equal(b->intake.counters.old_batches, 3);
	assert_int_equal(window_process_at(b->intake.open, 0)->samples, 3);
}

static void stream_zero_is_no_stream(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 3);
	batch.header.stream_id = 0;
	take(b, &batch);
	assert_int_equal(b->intake.counters.old_batches, 1);
	expect(open_account(b), 0, 0, 0, 0);
}

static void last_numbers_of_a_stream_do_not_overflow(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 1, 1);
	take(b, &batch);
	batch_of(&batch, UINT64_MAX - 2, 2);
	take(b, &batch);
	expect(open_account(b), 1, UINT64_MAX, 3, 3);
	batch_of(&batch, UINT64_MAX - 1, 2); /* its end would be 2^64 */
	take(b, &batch);
	expect(open_account(b), 1, UINT64_MAX, 3, 3);
	assert_int_equal(b->intake.counters.bad_batches, 1);
}

/* ---- bad batches
 * ----------------------------------------------------------------------------------- */

static void unreadable_header_changes_no_account(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 3);
	take(b, &batch);
	batch_of(&batch, 3, 3);
	batch_header_encode(&batch.header, batch.data);
	batch.data[0] ^= 1;
	take_bytes(b, batch.data, batch.body.len);
	take_bytes(b, "", 0);
	expect(open_account(b), 0, 3, 3, 3);
	assert_int_equal(b->intake.counters.bad_batches, 2);
	/* The gap shows with the next one. */
	batch_of(&batch, 6, 1);
	take(b, &batch);
	expect(open_account(b), 0, 7, 4, 4);
}

static void too_long_a_message_is_refused(void **state)
{
	static uint8_t data[BATCH_MAX + 1];
	struct bench *b = *state;

	take_bytes(b, data, sizeof(data));
	assert_int_equal(b->intake.counters.bad_batches, 1);
}

static void broken_body_loses_what_follows(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 5);
	batch_header_encode(&batch.header, batch.data);
	/* Each record is 8 + 88 + 8 bytes: the third one's type becomes unknown. */
	batch.data[BATCH_HEADER_LEN + 2 * 104] = 0x55;
	take_bytes(b, batch.data, batch.body.len);
	expect(open_account(b), 0, 5, 5, 2);
	assert_int_equal(open_account(b)->lost[SYMBOLIZER_LOSS_BAD_BATCH], 3);
	assert_int_equal(b->intake.counters.bad_batches, 1);
	/* And the stream goes on. */
	batch_of(&batch, 5, 1);
	take(b, &batch);
	expect(open_account(b), 0, 6, 6, 3);
}

static void batch_cut_anywhere_is_counted_as_announced(void **state)
{
	static struct batch batch;
	struct bench *b = *state;
	uint64_t first = 0;

	for (uint32_t len = BATCH_HEADER_LEN; len < BATCH_HEADER_LEN + 3 * 104; len++) {
		uint32_t whole = (len - BATCH_HEADER_LEN) / 104;
		uint64_t before = open_account(b)->in_profiles;

		batch_of(&batch, first, 3);
		batch_header_encode(&batch.header, batch.data);
		take_bytes(b, batch.data, len);
		first += 3;
		assert_int_equal(open_account(b)->in_profiles - before, whole);
		expect(open_account(b), 0, first, first, before + whole);
	}
}

static void more_samples_than_announced_are_not_counted(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 5);
	batch.header.samples = 2;
	take(b, &batch);
	expect(open_account(b), 0, 2, 2, 2);
	assert_int_equal(b->intake.counters.bad_batches, 1);
	assert_int_equal(window_process_at(b->intake.open, 0)->samples, 2);
}

static void fewer_samples_than_announced_are_lost(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 2);
	batch.header.samples = batch.header.records = 5;
	take(b, &batch);
	expect(open_account(b), 0, 5, 5, 2);
	assert_int_equal(open_account(b)->lost[SYMBOLIZER_LOSS_BAD_BATCH], 3);
	assert_int_equal(b->intake.counters.bad_batches, 1);
}

static void full_window_loses_by_its_own_reason(void **state)
{
	static struct batch batch;
	struct bench *b = *state;
	uint64_t first = 0;

	for (uint32_t n = 0; n < 100; n++) {
		batch_begin(&batch, first);
		for (uint32_t i = 0; i < 500; i++)
			batch_sample(&batch, (uint32_t)first + i); /* every one of another thread */
		take(b, &batch);
		first += 500;
	}
	assert_true(open_account(b)->lost[SYMBOLIZER_LOSS_STACKS_FULL] > 0);
	assert_int_equal(lost(open_account(b)), open_account(b)->lost[SYMBOLIZER_LOSS_STACKS_FULL]);
	expect(open_account(b), 0, first, first, window_process_at(b->intake.open, 0)->samples);
}

/* ---- other records
 * --------------------------------------------------------------------------------- */

static void records_reach_targets(void **state)
{
	const struct process_record process = {
		.tgid = 1, .start_time = 1, .reason = PROCESS_SEEN, .comm = "told"
	};
	const struct mapping_record mapping = { .tgid = 1,
						.start_time = 1,
						.start = 0x1000,
						.end = 0x2000,
						.kind = MAPPING_FILE,
						.file_id = FILE_ID_FIRST,
						.path = (const uint8_t *)"/x",
						.path_len = 2 };
	const struct exit_record gone = { .tgid = 1, .start_time = 1, .time = 5 };
	static struct batch batch;
	struct bench *b = *state;
	const struct target *t;

	batch_begin(&batch, 0);
	record_encode_process(&batch.body, &process);
	record_encode_mapping(&batch.body, &mapping);
	batch_sample(&batch, 1);
	record_encode_exit(&batch.body, &gone);
	batch.header.records = 4;
	take(b, &batch);
	t = window_process_at(b->intake.open, 0)->target;
	assert_true(t->announced);
	assert_int_equal(t->exit_time, 5);
	assert_int_equal(b->intake.open->mappings.count, 1);
	/* A file's number is good for its stream only. */
	assert_int_equal(window_mapping_at(b->intake.open, 0)->file_id,
			 file_key(STREAM, FILE_ID_FIRST));
	assert_int_equal(b->intake.counters.records, 4);
}

static void counters_go_with_the_next_window(void **state)
{
	struct counters_record counters = { { 0 } };
	static struct batch batch;
	struct bench *b = *state;

	counters.value[COLLECTOR_TAKEN] = 42;
	batch_of(&batch, 0, 1);
	record_encode_counters(&batch.body, &counters);
	batch.header.records++;
	take(b, &batch);
	close_window(b);
	assert_int_equal(b->closed[0].collector.value[COLLECTOR_TAKEN], 42);
}

static void end_of_stream_is_told(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 1);
	record_encode_end(&batch.body);
	batch.header.records++;
	assert_false(b->intake.ended);
	take(b, &batch);
	assert_true(b->intake.ended);
	expect(open_account(b), 0, 1, 1, 1);
}

/* ---- windows and streams
 * --------------------------------------------------------------------------- */

static void closed_window_has_its_times_and_number(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	batch_of(&batch, 0, 1);
	take(b, &batch);
	close_window(b); /* 10 ns after the start */
	batch_of(&batch, 1, 1);
	take(b, &batch);
	close_window(b);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(b->closed[i].window, i);
		assert_int_equal(b->closed[i].symbolizer_id, 77);
		assert_int_equal(b->closed[i].collector_stream, STREAM);
		assert_int_equal(b->closed[i].start_time, 1000000 + 10 * i);
		assert_int_equal(b->closed[i].duration, 10);
	}
}

static void empty_window_is_not_told_of_and_starts_anew(void **state)
{
	static struct batch batch;
	struct bench *b = *state;

	close_window(b); /* no stream yet */
	batch_of(&batch, 5, 0);
	take(b, &batch);
	close_window(b); /* a stream, but no sample of it */
	assert_int_equal(b->closed_count, 0);
	batch_of(&batch, 5, 1);
	take(b, &batch);
	close_window(b);
	assert_int_equal(b->closed_count, 1);
	assert_int_equal(b->closed[0].window, 0);
	assert_int_equal(b->closed[0].start_time, 1000000 + 20);
	assert_int_equal(b->closed[0].duration, 10);
	expect(&b->closed[0], 5, 6, 1, 1);
}

static void another_stream_closes_the_window(void **state)
{
	const struct process_record forgotten = { .tgid = 2, .start_time = 1, .reason = PROCESS_SEEN };
	struct counters_record counters = { { 0 } };
	static struct batch batch;
	struct bench *b = *state;

	counters.value[COLLECTOR_TAKEN] = 42;
	batch_of(&batch, 0, 3);
	record_encode_counters(&batch.body, &counters);
	record_encode_process(&batch.body, &forgotten);
	batch.header.records += 2;
	take(b, &batch);
	batch_of(&batch, 7, 1);
	batch.header.stream_id = STREAM + 1;
	take(b, &batch);
	assert_int_equal(b->closed_count, 1);
	expect(&b->closed[0], 0, 3, 3, 3);
	assert_int_equal(b->closed[0].collector_stream, STREAM);
	expect(open_account(b), 7, 8, 1, 1);
	assert_int_equal(targets_counters(b->intake.targets).known, 1);
	close_window(b);
	assert_int_equal(b->closed[1].collector_stream, STREAM + 1);
	assert_int_equal(b->closed[1].collector.value[COLLECTOR_TAKEN],
			 0); /* the counters were the other's */
}

/* ---- conservation
 * ---------------------------------------------------------------------------------- */

struct stream {
	uint32_t seed;
	uint64_t sent;	  /* samples */
	uint64_t dropped; /* samples of batches that did not arrive, or with an unreadable header */
};

static uint32_t next_random(struct stream *s, uint32_t below)
{
	s->seed = s->seed * 1664525u + 1013904223u;
	return (s->seed >> 8) % below;
}

/* One batch: lost, with a bad header, with a bad body, repeated, or whole. */
static void send_one(struct bench *b, struct stream *s)
{
	static struct batch batch;
	uint32_t samples = next_random(s, 20);

	batch_of(&batch, s->sent, samples);
	s->sent += samples;
	batch_header_encode(&batch.header, batch.data);
	switch (next_random(s, 8)) {
	case 0:
		s->dropped += samples;
		break;
	case 1:
		batch.data[next_random(s, 8)] ^= 0xff; /* magic number or version */
		take_bytes(b, batch.data, batch.body.len);
		s->dropped += samples;
		break;
	case 2:
		if (samples) {
			uint32_t at = BATCH_HEADER_LEN +
				      next_random(s, batch.body.len - BATCH_HEADER_LEN);

			batch.data[at] ^= (uint8_t)(1 + next_random(s, 255));
		}
		take_bytes(b, batch.data, batch.body.len);
		break;
	case 3:
		take(b, &batch);
		if (samples)
			take(b, &batch);
		break;
	default:
		take(b, &batch);
	}
}

static void nothing_disappears_whatever_is_dropped(void **state)
{
	struct stream s = { .seed = 3 };
	struct bench *b = *state;
	uint64_t missing = 0, end = 0;
	static struct batch batch;

	batch_of(&batch, 0, 1); /* so that the stream is known from its start */
	take(b, &batch);
	s.sent = 1;
	for (uint32_t i = 0; i < 4000; i++) {
		send_one(b, &s);
		if (i % 20 == 0)
			close_window(b);
	}
	batch_of(&batch, s.sent++, 1); /* shows the last gap */
	take(b, &batch);
	close_window(b);
	assert_true(b->closed_count > 150);
	for (uint32_t i = 0; i < b->closed_count; i++) {
		const struct window_account *a = &b->closed[i];

		expect(a, end, a->end_sample, a->received,
		       a->in_profiles); /* each begins where the last ended */
		end = a->end_sample;
		missing += a->end_sample - a->first_sample - a->received;
	}
	assert_int_equal(end, s.sent);
	assert_int_equal(missing, s.dropped);
	assert_true(b->intake.counters.old_batches > 0 && b->intake.counters.bad_batches > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batches_in_a_row_leave_no_gap),
		TEST(stream_is_joined_where_it_is),
		TEST(missing_batch_is_a_gap_in_the_range),
		TEST(gap_between_windows_belongs_to_the_later_one),
		TEST(old_and_repeated_batches_are_ignored),
		TEST(stream_zero_is_no_stream),
		TEST(last_numbers_of_a_stream_do_not_overflow),
		TEST(unreadable_header_changes_no_account),
		TEST(too_long_a_message_is_refused),
		TEST(broken_body_loses_what_follows),
		TEST(batch_cut_anywhere_is_counted_as_announced),
		TEST(more_samples_than_announced_are_not_counted),
		TEST(fewer_samples_than_announced_are_lost),
		TEST(full_window_loses_by_its_own_reason),
		TEST(records_reach_targets),
		TEST(counters_go_with_the_next_window),
		TEST(end_of_stream_is_told),
		TEST(closed_window_has_its_times_and_number),
		TEST(empty_window_is_not_told_of_and_starts_anew),
		TEST(another_stream_closes_the_window),
		TEST(nothing_disappears_whatever_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
