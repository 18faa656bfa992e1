// SPDX-License-Identifier: Apache-2.0
/*
 * The ledger against a simulated pipeline that knows the truth: samples are taken, batched, lost on the way; roles
 * are killed at random; messages are lost, doubled, and swapped. Whatever happens, the table balances and agrees
 * with the simulation.
 */
#include <stdlib.h>
#include <string.h>

#include "ipc/ledger.h"
#include "ipc/ledger_checkpoint.h"
#include "tests/unit/cmocka_all.h"

#define STEPS 400
#define PROFILES_MAX 5
#define MESSAGES_MAX (PROFILES_MAX + 1)
#ifndef RUNS
#define RUNS 60
#endif

struct random {
	uint64_t state;
};

/* splitmix64 */
static uint64_t next_random(struct random *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t below(struct random *r, uint64_t n)
{
	return next_random(r) % n;
}

static bool chance(struct random *r, uint64_t percent)
{
	return below(r, 100) < percent;
}

/* Which faults a run has, in percent. */
struct faults {
	uint64_t kill_symbolizer;
	uint64_t kill_collector;
	uint64_t lose_batch;
	uint64_t lose_message;
	uint64_t lose_window; /* all messages of a window */
	uint64_t fail_write;
	uint64_t restart_uploader; /* state goes through a checkpoint */
	uint64_t shuffle;
};

struct simulation {
	struct random random;
	struct faults faults;
	struct ledger *ledger;
	/* truth */
	uint64_t taken;
	uint64_t delivered;
	uint64_t lost[LEDGER_LOSSES];
	/* collector */
	uint64_t stream;
	struct counters_record counters;
	/* symbolizer */
	uint64_t symbolizer;
	uint64_t window;
	bool sees_stream;       /* first_sample holds */
	uint64_t first_sample;  /* of the open window */
	uint64_t end_sample;    /* last position seen */
	uint64_t received;
};

static void check(const struct simulation *s, bool final)
{
	struct ledger_table t;
	uint64_t sum;

	ledger_sum(s->ledger, final, &t);
	sum = t.delivered + ledger_lost_total(&t) + t.underway;
	assert_int_equal(t.taken, sum);
	assert_int_equal(t.delivered, s->delivered);
	assert_int_equal(t.lost[LEDGER_WRITE_FAILED], s->lost[LEDGER_WRITE_FAILED]);
	assert_true(t.balanced);
}

static int restore(void *context, const struct journal_entry *e)
{
	char line[JOURNAL_LINE_MAX];
	struct journal_entry back;
	uint32_t len = journal_entry_encode(e, line, sizeof(line));

	assert_true(len > 0);
	assert_null(journal_entry_decode(line, len - 1, &back));
	if (back.kind != JOURNAL_CHECKPOINT_END)
		assert_null(ledger_restore(context, &back));
	return 0;
}

static void restart_uploader(struct simulation *s)
{
	struct ledger *next = ledger_new();

	assert_int_equal(ledger_checkpoint(s->ledger, 0, restore, next), 0);
	ledger_free(s->ledger);
	s->ledger = next;
}

/* Splits what was received into losses and up to PROFILES_MAX profiles. */
static uint32_t close_account(struct simulation *s, struct window_account *a,
			      uint64_t samples[PROFILES_MAX])
{
	uint64_t left = s->received;
	uint32_t n = 0;

	*a = (struct window_account){ .collector_stream = s->stream,
				      .symbolizer_id = s->symbolizer,
				      .window = s->window,
				      .first_sample = s->first_sample,
				      .end_sample = s->end_sample,
				      .received = s->received,
				      .collector = s->counters };
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++) {
		a->lost[i] = chance(&s->random, 10) ? below(&s->random, left + 1) : 0;
		left -= a->lost[i];
	}
	a->in_profiles = left;
	while (left) {
		samples[n] = n + 1 == PROFILES_MAX ? left : 1 + below(&s->random, left);
		left -= samples[n++];
	}
	a->profiles = n;
	return n;
}

static void handle(struct simulation *s, const struct window_account *a, uint32_t message,
		   const uint64_t *samples)
{
	bool written = !chance(&s->random, s->faults.fail_write);
	enum ledger_answer answer = ledger_window(s->ledger, a);

	assert_true(answer == LEDGER_NEW || answer == LEDGER_KNOWN);
	if (message == 0)
		return;
	answer = ledger_profile(s->ledger, a->symbolizer_id, a->window, message - 1,
				samples[message - 1], written);
	if (answer == LEDGER_KNOWN)
		return;
	assert_int_equal(answer, LEDGER_NEW);
	if (written)
		s->delivered += samples[message - 1];
	else
		s->lost[LEDGER_WRITE_FAILED] += samples[message - 1];
}

/* Sends the messages of a window: 0 is WINDOW, i is profile i - 1. */
static void send_window(struct simulation *s, const struct window_account *a, uint32_t profiles,
			const uint64_t *samples)
{
	uint32_t order[MESSAGES_MAX];
	bool came[MESSAGES_MAX] = { false };
	bool any = false;
	bool none = chance(&s->random, s->faults.lose_window);

	for (uint32_t i = 0; i <= profiles; i++)
		order[i] = i;
	for (uint32_t i = 0; i <= profiles && chance(&s->random, s->faults.shuffle); i++) {
		uint32_t j = (uint32_t)below(&s->random, profiles + 1);
		uint32_t swapped = order[i];

		order[i] = order[j];
		order[j] = swapped;
	}
	for (uint32_t i = 0; i <= profiles; i++) {
		if (none || chance(&s->random, s->faults.lose_message))
			continue;
		came[order[i]] = any = true;
		handle(s, a, order[i], samples);
		if (chance(&s->random, s->faults.shuffle))
			handle(s, a, order[i], samples); /* twice */
	}
	if (!any) {
		/* Nobody ever hears of this window: all of its range went with its messages. */
		s->lost[LEDGER_PROFILE_LOST] += a->end_sample - a->first_sample;
		return;
	}
	s->lost[LEDGER_IN_TRANSIT] += a->end_sample - a->first_sample - a->received;
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		s->lost[LEDGER_SYMBOLIZER_LOSS + i] += a->lost[i];
	for (uint32_t i = 1; i <= profiles; i++)
		if (!came[i])
			s->lost[LEDGER_PROFILE_LOST] += samples[i - 1];
}

static void close_window(struct simulation *s)
{
	uint64_t samples[PROFILES_MAX];
	struct window_account a;
	uint32_t profiles;

	if (!s->sees_stream)
		return;
	profiles = close_account(s, &a, samples);
	send_window(s, &a, profiles, samples);
	s->window++;
	s->first_sample = s->end_sample;
	s->received = 0;
}

static void kill_symbolizer(struct simulation *s)
{
	s->symbolizer++;
	s->window = 0;
	s->received = 0;
	s->sees_stream = false;
}

/* `arrives` is false where the batch is lost on the way. */
static void send_batch(struct simulation *s, uint64_t samples, bool arrives)
{
	uint64_t first = s->counters.value[COLLECTOR_SENT];

	s->counters.value[COLLECTOR_SENT] += samples;
	if (!arrives)
		return;
	if (!s->sees_stream) {
		s->sees_stream = true;
		s->first_sample = s->window == 0 ? first : 0; /* a stream's positions begin at 0 */
	}
	s->end_sample = first + samples;
	s->received += samples;
}

static void take_samples(struct simulation *s)
{
	uint64_t *c = s->counters.value;
	uint64_t sent = below(&s->random, 50);
	uint64_t ring_full = chance(&s->random, 5) ? below(&s->random, 9) : 0;
	uint64_t queue_full = chance(&s->random, 5) ? below(&s->random, 9) : 0;
	uint64_t invalid = chance(&s->random, 2) ? below(&s->random, 9) : 0;
	uint64_t taken = sent + ring_full + queue_full + invalid;

	c[COLLECTOR_TAKEN] += taken;
	c[COLLECTOR_EVENTS] += taken;
	c[COLLECTOR_RING_FULL] += ring_full;
	c[COLLECTOR_QUEUE_FULL] += queue_full;
	c[COLLECTOR_INVALID] += invalid;
	s->taken += taken;
	s->lost[LEDGER_RING_FULL] += ring_full;
	s->lost[LEDGER_QUEUE_FULL] += queue_full;
	s->lost[LEDGER_INVALID] += invalid;
	/* What is lost before a symbolizer saw anything looks like its predecessor's: not told apart. */
	send_batch(s, sent, !s->sees_stream || !chance(&s->random, s->faults.lose_batch));
}

/* Whoever starts a collector knows its last counters only if it ends by itself. */
static void end_stream(struct simulation *s, bool killed)
{
	send_batch(s, 0, true);
	close_window(s);
	if (!killed) {
		struct window_account end = { .collector_stream = s->stream,
					      .symbolizer_id = s->symbolizer,
					      .window = s->window,
					      .collector = s->counters };

		ledger_end(s->ledger, &end);
	}
}

static void new_stream(struct simulation *s)
{
	s->stream++;
	memset(&s->counters, 0, sizeof(s->counters));
	s->sees_stream = false;
	s->end_sample = 0;
}

static void step(struct simulation *s)
{
	take_samples(s);
	if (chance(&s->random, 20))
		close_window(s);
	if (chance(&s->random, s->faults.kill_symbolizer))
		kill_symbolizer(s);
	if (chance(&s->random, s->faults.kill_collector)) {
		end_stream(s, true);
		new_stream(s);
	}
	if (chance(&s->random, s->faults.restart_uploader))
		restart_uploader(s);
	check(s, false);
}

/* Returns the table of a whole run; the simulation holds the truth. */
static struct ledger_table run(struct simulation *s, uint64_t seed, const struct faults *faults)
{
	struct ledger_table t;

	*s = (struct simulation){ .random = { seed }, .faults = *faults };
	s->ledger = ledger_new();
	s->stream = 1000;
	s->symbolizer = 50;
	for (int i = 0; i < STEPS; i++)
		step(s);
	end_stream(s, false);
	check(s, true);
	ledger_sum(s->ledger, true, &t);
	ledger_free(s->ledger);
	return t;
}

/* What no window covers went down with a symbolizer: what is left when the rest is known. */
static uint64_t truth_symbolizer_lost(const struct simulation *s)
{
	uint64_t left = s->taken - s->delivered;

	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		left -= s->lost[i];
	return left;
}

static void expect_exact(const struct simulation *s, const struct ledger_table *t)
{
	assert_int_equal(t->taken, s->taken);
	assert_int_equal(t->delivered, s->delivered);
	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		if (i != LEDGER_SYMBOLIZER_LOST)
			assert_int_equal(t->lost[i], s->lost[i]);
	assert_int_equal(t->lost[LEDGER_SYMBOLIZER_LOST], truth_symbolizer_lost(s));
	assert_int_equal(t->unfinished, 0);
}

static void no_fault_loses_nothing_but_what_roles_say(void **state)
{
	const struct faults none = { 0 };
	struct simulation s;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS / 10; seed++) {
		struct ledger_table t = run(&s, seed, &none);

		expect_exact(&s, &t);
		assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 0);
		assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 0);
		assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 0);
	}
}

static void killed_symbolizers_are_exact_by_reason(void **state)
{
	const struct faults faults = { .kill_symbolizer = 5, .lose_batch = 5, .shuffle = 20,
				       .restart_uploader = 5 };
	struct simulation s;
	uint64_t lost = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct ledger_table t = run(&s, seed, &faults);

		expect_exact(&s, &t);
		lost += t.lost[LEDGER_SYMBOLIZER_LOST];
	}
	assert_true(lost > 0);
}

static void lost_messages_are_exact_by_reason(void **state)
{
	const struct faults faults = { .lose_message = 20, .lose_window = 10, .lose_batch = 5,
				       .fail_write = 5, .shuffle = 20, .restart_uploader = 5 };
	struct simulation s;
	uint64_t lost = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct ledger_table t = run(&s, seed, &faults);

		expect_exact(&s, &t);
		lost += t.lost[LEDGER_PROFILE_LOST];
	}
	assert_true(lost > 0);
}

/* Only the sum of symbolizer_lost, profile_lost and in_transit can be told where windows are lost around a death. */
static void everything_at_once_still_adds_up(void **state)
{
	const struct faults faults = { .kill_symbolizer = 5, .lose_message = 20, .lose_window = 10,
				       .lose_batch = 5, .fail_write = 5, .shuffle = 20,
				       .restart_uploader = 5 };
	struct simulation s;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct ledger_table t = run(&s, seed, &faults);

		assert_int_equal(t.taken, s.taken);
		assert_int_equal(t.delivered, s.delivered);
		for (uint32_t i = LEDGER_RING_FULL; i <= LEDGER_COLLECTOR_LOST; i++)
			assert_int_equal(t.lost[i], s.lost[i]);
		for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
			assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOSS + i],
					 s.lost[LEDGER_SYMBOLIZER_LOSS + i]);
		assert_int_equal(t.lost[LEDGER_WRITE_FAILED], s.lost[LEDGER_WRITE_FAILED]);
	}
}

/* A killed collector's last counters are unknown: the table may know of fewer taken, never of more. */
static void killed_collectors_balance(void **state)
{
	const struct faults faults = { .kill_collector = 3, .kill_symbolizer = 2, .lose_message = 10,
				       .lose_window = 5, .lose_batch = 5, .shuffle = 10,
				       .restart_uploader = 5 };
	struct simulation s;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct ledger_table t = run(&s, seed, &faults);

		assert_int_equal(t.delivered, s.delivered);
		assert_true(t.taken <= s.taken);
		assert_true(t.balanced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_fault_loses_nothing_but_what_roles_say),
		cmocka_unit_test(killed_symbolizers_are_exact_by_reason),
		cmocka_unit_test(lost_messages_are_exact_by_reason),
		cmocka_unit_test(everything_at_once_still_adds_up),
		cmocka_unit_test(killed_collectors_balance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
