// SPDX-License-Identifier: Apache-2.0
/* The conservation law: one worked example for each way in which a sample can be lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ledger.h"
#include "tests/unit/cmocka_all.h"

#define STREAM 7u
#define SYMBOLIZER 100u

static int setup(void **state)
{
	*state = ledger_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	ledger_free(*state);
	return 0;
}

/* A window over [first, end) whose samples were all received and are all in `profiles` profiles. */
static struct window_account window(uint64_t number, uint64_t first, uint64_t end, uint32_t profiles)
{
	return (struct window_account){
		.collector_stream = STREAM,
		.symbolizer_id = SYMBOLIZER,
		.window = number,
		.first_sample = first,
		.end_sample = end,
		.received = end - first,
		.in_profiles = end - first,
		.profiles = profiles,
	};
}

static struct counters_record counters(uint64_t taken, uint64_t sent)
{
	struct counters_record c = { { 0 } };

	c.value[COLLECTOR_TAKEN] = taken;
	c.value[COLLECTOR_SENT] = sent;
	c.value[COLLECTOR_EVENTS] = taken;
	return c;
}

static void deliver(struct ledger *l, const struct window_account *a, uint32_t index,
		    uint64_t samples)
{
	assert_int_equal(ledger_profile(l, a->symbolizer_id, a->window, index, samples, true),
			 LEDGER_NEW);
}

static struct ledger_table final_table(const struct ledger *l)
{
	struct ledger_table t;

	ledger_sum(l, true, &t);
	return t;
}

static void nothing_at_all_balances(void **state)
{
	struct ledger_table t = final_table(*state);

	assert_int_equal(t.taken, 0);
	assert_int_equal(ledger_lost_total(&t), 0);
	assert_true(t.balanced);
}

static void all_delivered_when_every_profile_comes(void **state)
{
	struct window_account a = window(0, 0, 100, 2);
	struct counters_record c = counters(100, 100);
	struct ledger_table t;

	assert_int_equal(ledger_window(*state, &a), LEDGER_NEW);
	deliver(*state, &a, 0, 60);
	deliver(*state, &a, 1, 40);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.taken, 100);
	assert_int_equal(t.delivered, 100);
	assert_int_equal(ledger_lost_total(&t), 0);
	assert_int_equal(t.profiles, 2);
	assert_int_equal(t.windows, 1);
	assert_int_equal(t.unfinished, 0);
	assert_true(t.balanced);
}

/* taken 115 = 100 sent + 10 ring_full + 3 queue_full + 2 invalid */
static void collector_losses_are_its_own_counters(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct counters_record c = counters(115, 100);
	struct ledger_table t;

	c.value[COLLECTOR_RING_FULL] = 10;
	c.value[COLLECTOR_QUEUE_FULL] = 3;
	c.value[COLLECTOR_INVALID] = 2;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.taken, 115);
	assert_int_equal(t.lost[LEDGER_RING_FULL], 10);
	assert_int_equal(t.lost[LEDGER_QUEUE_FULL], 3);
	assert_int_equal(t.lost[LEDGER_INVALID], 2);
	assert_true(t.balanced);
}

/* 120 taken, 100 sent, 20 said to be held when the collector ended. */
static void held_at_the_end_is_lost_with_the_collector(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct counters_record c = counters(120, 100);
	struct ledger_table t;

	c.value[COLLECTOR_HELD] = 20;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_COLLECTOR_LOST], 20);
	assert_true(t.balanced);
}

/* The window covers 100 positions, 70 arrived. */
static void in_transit_is_what_a_window_did_not_receive(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct ledger_table t;

	a.received = a.in_profiles = 70;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 70);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 30);
	assert_int_equal(t.delivered, 70);
	assert_int_equal(t.taken, 100);
	assert_true(t.balanced);
}

/* Life 100 reports [0, 100) and dies with [100, 130); life 101 sees 130 first, as its window 0. */
static void gap_before_a_first_window_went_down_with_the_predecessor(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(0, 130, 200, 1);
	struct ledger_table t;

	b.symbolizer_id = 101;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 70);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 30);
	assert_int_equal(t.taken, 200);
	assert_true(t.balanced);
}

/* Windows 0 and 2 came; 1 covered [100, 140), and none of its messages arrived. */
static void gap_where_a_window_is_missing_is_profile_lost(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(2, 140, 200, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 60);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 40);
	assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 0);
	assert_true(t.balanced);
}

/* Windows 0 and 2 with an empty window 1 between them: no window is missing, so 40 were lost on the way. */
static void gap_between_consecutive_windows_is_in_transit(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account empty = window(1, 100, 100, 0);
	struct window_account b = window(2, 140, 200, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_window(*state, &empty);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 60);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 40);
	assert_true(t.balanced);
}

/* 100 received = 60 in profiles + 5 + 6 + 7 + 8 + 14 by reason. */
static void symbolizer_losses_are_told_by_reason(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	const uint64_t lost[SYMBOLIZER_LOSSES] = { 5, 6, 7, 8, 14 };
	struct ledger_table t;

	a.in_profiles = 60;
	memcpy(a.lost, lost, sizeof(lost));
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 60);
	t = final_table(*state);
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOSS + i], lost[i]);
	assert_int_equal(ledger_lost_total(&t), 40);
	assert_true(t.balanced);
}

/* Three profiles of 50, 30, 20; the second never came. */
static void profile_lost_is_what_a_windows_profiles_lack(void **state)
{
	struct window_account a = window(0, 0, 100, 3);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 50);
	deliver(*state, &a, 2, 20);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 30);
	assert_int_equal(t.delivered, 70);
	assert_true(t.balanced);

	ledger_sum(*state, false, &t);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 0);
	assert_int_equal(t.underway, 30);
}

static void write_failed_is_what_came_and_could_not_be_written(void **state)
{
	struct window_account a = window(0, 0, 100, 2);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 60);
	assert_int_equal(ledger_profile(*state, SYMBOLIZER, 0, 1, 40, false), LEDGER_NEW);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_WRITE_FAILED], 40);
	assert_int_equal(t.delivered, 60);
	assert_true(t.balanced);
}

static void undone_profile_becomes_write_failed(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	assert_int_equal(ledger_profile_undone(*state, SYMBOLIZER, 0, 0, 100), LEDGER_NEW);
	t = final_table(*state);
	assert_int_equal(t.delivered, 0);
	assert_int_equal(t.profiles, 0);
	assert_int_equal(t.lost[LEDGER_WRITE_FAILED], 100);
	assert_true(t.balanced);
}

static void removed_files_are_delivered_all_the_same(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_removed(*state, 4096);
	t = final_table(*state);
	assert_int_equal(t.delivered, 100);
	assert_int_equal(t.removed_files, 1);
	assert_int_equal(t.removed_bytes, 4096);
	assert_true(t.balanced);
}

/* Told by PPROF messages alone, which carry the account as well. */
static void account_survives_the_loss_of_its_window_message(void **state)
{
	struct window_account a = window(0, 0, 100, 2);

	assert_int_equal(ledger_window(*state, &a), LEDGER_NEW);
	deliver(*state, &a, 1, 40);
	assert_int_equal(ledger_window(*state, &a), LEDGER_KNOWN);
	deliver(*state, &a, 0, 60);
	assert_int_equal(final_table(*state).delivered, 100);
}

static void messages_may_come_in_any_order(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(1, 100, 150, 1);
	struct ledger_table t;

	ledger_window(*state, &b);
	deliver(*state, &b, 0, 50);
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	t = final_table(*state);
	assert_int_equal(t.delivered, 150);
	assert_int_equal(ledger_lost_total(&t), 0);
	assert_true(t.balanced);
}

static void profile_that_came_before_is_known(void **state)
{
	struct window_account a = window(0, 0, 100, 1);

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	assert_int_equal(ledger_ask_profile(*state, SYMBOLIZER, 0, 0, 100), LEDGER_KNOWN);
	assert_int_equal(ledger_profile(*state, SYMBOLIZER, 0, 0, 100, true), LEDGER_KNOWN);
	assert_int_equal(final_table(*state).delivered, 100);
}

/* Window 0 lacks a profile; LEDGER_WINDOWS later windows close it for good. */
static void profile_of_a_folded_window_is_late_and_stays_lost(void **state)
{
	struct window_account a = window(0, 0, 100, 2);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 60);
	for (uint64_t i = 1; i <= LEDGER_WINDOWS; i++) {
		struct window_account w = window(i, 100 * i, 100 * i + 100, 1);

		assert_int_equal(ledger_window(*state, &w), LEDGER_NEW);
		deliver(*state, &w, 0, 100);
	}
	assert_int_equal(ledger_window(*state, &a), LEDGER_LATE);
	ledger_sum(*state, false, &t);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 40);
	assert_int_equal(t.underway, 0);
	assert_int_equal(t.late, 1);
	assert_int_equal(t.taken, 1700);
	assert_true(t.balanced);
}

static void window_told_with_two_accounts_is_shown(void **state)
{
	struct window_account a = window(0, 0, 100, 1);

	ledger_window(*state, &a);
	a.in_profiles = 90;
	a.lost[0] = 10;
	assert_int_equal(ledger_window(*state, &a), LEDGER_REFUSED);
	assert_int_equal(ledger_last_contradiction(*state), LEDGER_WINDOW_CHANGED);
	assert_false(final_table(*state).balanced);
}

static void overlapping_windows_are_shown_and_counted_once(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(1, 90, 200, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	assert_int_equal(ledger_window(*state, &b), LEDGER_REFUSED);
	t = final_table(*state);
	assert_int_equal(t.contradictions[LEDGER_WINDOW_OVERLAP], 1);
	assert_int_equal(t.taken, 100);
	assert_false(t.balanced);
}

static void profiles_above_their_window_are_refused(void **state)
{
	struct window_account a = window(0, 0, 100, 2);

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 60);
	assert_int_equal(ledger_profile(*state, SYMBOLIZER, 0, 1, 41, true), LEDGER_REFUSED);
	assert_int_equal(final_table(*state).contradictions[LEDGER_PROFILE_EXCESS], 1);
}

/* Both profiles came, but hold 90 of the 100 samples that the window claims. */
static void profiles_below_their_window_are_shown(void **state)
{
	struct window_account a = window(0, 0, 100, 2);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 60);
	deliver(*state, &a, 1, 30);
	t = final_table(*state);
	assert_int_equal(t.contradictions[LEDGER_PROFILE_SHORT], 1);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 10);
	assert_false(t.balanced);
}

static void taken_without_an_explanation_is_shown(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct counters_record c = counters(105, 100);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.unexplained, 5);
	assert_false(t.balanced);
}

static void delivered_beyond_taken_is_shown(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct counters_record c = counters(95, 100);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.surplus, 5);
	assert_false(t.balanced);
}

static void counters_that_run_both_ways_are_shown(void **state)
{
	struct window_account a = window(0, 0, 100, 0);
	struct window_account b = window(1, 100, 200, 0);

	a.in_profiles = b.in_profiles = 0;
	a.lost[0] = b.lost[0] = 100;
	a.collector = counters(100, 90);
	b.collector = counters(90, 100);
	ledger_window(*state, &a);
	ledger_window(*state, &b);
	assert_int_equal(final_table(*state).contradictions[LEDGER_COUNTERS_REVERSED], 1);
}

/* A message that was overtaken brings older counters: nothing wrong. */
static void older_counters_change_nothing(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(1, 100, 200, 1);
	struct ledger_table t;

	a.collector = counters(100, 100);
	b.collector = counters(250, 200);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 100);
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_sum(*state, false, &t);
	assert_int_equal(t.taken, 250);
	assert_int_equal(t.underway, 50);
	assert_true(t.balanced);
}

/*
 * Life 7 of the collector: 130 taken, 110 sent when last heard of, 100 of them in window 0. It is killed. Life 8
 * begins with window 1 of the same symbolizer: 10 were lost on the way, 20 with the collector, and how many it
 * took after that nobody knows.
 */
static void killed_collector_is_closed_by_its_successor(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(1, 0, 50, 1);
	struct ledger_table t;

	a.collector = counters(130, 110);
	b.collector_stream = 8;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_sum(*state, false, &t);
	assert_int_equal(t.underway, 30);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 50);
	ledger_sum(*state, false, &t);
	assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 10);
	assert_int_equal(t.lost[LEDGER_COLLECTOR_LOST], 20);
	assert_int_equal(t.taken, 180);
	assert_int_equal(t.underway, 0);
	assert_int_equal(t.streams, 2);
	assert_int_equal(t.unfinished, 1);
	assert_true(t.balanced);
}

/*
 * The symbolizer dies with [100, 140); its successor sees nothing but the end record, which stands at 140: an empty
 * window 0, then END.
 */
static void end_alone_shows_what_the_predecessor_took_along(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account end = window(0, 140, 140, 0);
	struct ledger_table t;

	end.symbolizer_id = 101;
	end.collector = counters(140, 140);
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_window(*state, &end);
	ledger_end(*state, &end);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 40);
	assert_int_equal(t.taken, 140);
	assert_int_equal(t.unfinished, 0);
	assert_true(t.balanced);
}

/*
 * Told to stop, the symbolizer says END although the collector goes on: 100 more samples come by way of its successor,
 * and 30 after that are on their way.
 */
static void end_of_a_symbolizer_that_was_stopped_is_not_the_end(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(0, 100, 200, 1);
	struct ledger_table t;

	a.collector = counters(100, 100);
	b.symbolizer_id = 101;
	b.collector = counters(230, 200);
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_end(*state, &a);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, 100);
	ledger_sum(*state, false, &t);
	assert_int_equal(t.delivered, 200);
	assert_int_equal(t.underway, 30);
	assert_int_equal(t.unfinished, 0);
	assert_true(t.balanced);
}

/* A successor that saw nothing of the stream but its end knows not even its name: 20 of the newest went down. */
static void end_without_a_stream_ends_the_newest(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	const struct window_account end = { 0 };
	struct counters_record c = counters(120, 120);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_end(*state, &end);
	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.taken, 120);
	assert_int_equal(t.streams, 1);
	assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 20);
	assert_true(t.balanced);
}

/* END repeats the account of window 1, whose own message was lost. */
static void end_heals_the_last_window(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct window_account b = window(1, 100, 140, 1);
	struct ledger_table t;

	b.collector = counters(140, 140);
	b.received = b.in_profiles = 35;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_end(*state, &b);
	t = final_table(*state);
	assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 5);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 35);
	assert_true(t.balanced);
}

/* The collector's last counters were lost on their way; END came. 100 is what is known, and it is said so. */
static void end_with_old_counters_is_unfinished(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct ledger_table t;

	a.collector = counters(90, 80);
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 100);
	ledger_end(*state, &a);
	t = final_table(*state);
	assert_int_equal(t.taken, 100);
	assert_int_equal(t.unfinished, 1);
	assert_true(t.balanced);
}

/* No message ever came; the collector says 50 taken, all sent. */
static void counters_without_any_window(void **state)
{
	struct counters_record c = counters(50, 50);
	struct ledger_table t;

	ledger_final_counters(*state, &c);
	t = final_table(*state);
	assert_int_equal(t.taken, 50);
	assert_int_equal(t.lost[LEDGER_SYMBOLIZER_LOST], 50);
	assert_true(t.balanced);
}

/* 3 * 2^32 samples in one window, twice. */
static void totals_beyond_32_bits(void **state)
{
	const uint64_t many = 3ull << 32;
	struct window_account a = window(0, 0, many, 1);
	struct window_account b = window(1, many, 2 * many, 1);
	struct ledger_table t;

	ledger_window(*state, &a);
	deliver(*state, &a, 0, many);
	ledger_window(*state, &b);
	deliver(*state, &b, 0, many - 1);
	t = final_table(*state);
	assert_true(t.taken == 6ull << 32);
	assert_true(t.delivered == (6ull << 32) - 1);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 1);
}

static void numbers_beyond_the_limits_are_refused(void **state)
{
	struct window_account a = window(0, 0, LEDGER_SAMPLES_MAX + 1, 1);
	struct window_account b = window(0, 0, 100, LEDGER_PROFILES_MAX + 1);

	assert_int_equal(ledger_window(*state, &a), LEDGER_REFUSED);
	assert_int_equal(ledger_window(*state, &b), LEDGER_REFUSED);
	assert_int_equal(final_table(*state).taken, 0);
	assert_int_equal(final_table(*state).contradictions[LEDGER_WINDOW_IMPLAUSIBLE], 2);
}

/* 100 windows of 10 samples with 10 missing between any two: more gaps than are kept apart. */
static void more_gaps_than_ranges_lose_nothing(void **state)
{
	struct ledger_table t;

	for (uint64_t i = 0; i < 100; i++) {
		struct window_account a = window(2 * i, 20 * i, 20 * i + 10, 1);

		assert_int_equal(ledger_window(*state, &a), LEDGER_NEW);
		deliver(*state, &a, 0, 10);
	}
	t = final_table(*state);
	assert_int_equal(t.delivered, 1000);
	assert_int_equal(t.lost[LEDGER_PROFILE_LOST], 990);
	assert_int_equal(t.taken, 1990);
	assert_true(t.balanced);
}

/* 100 lives of the collector, 10 samples each, 4 of them lost in transit. */
static void more_streams_than_are_kept_lose_nothing(void **state)
{
	struct ledger_table t;

	for (uint64_t i = 0; i < 100; i++) {
		struct window_account a = window(i, 0, 10, 1);

		a.collector_stream = 1000 + i;
		a.received = a.in_profiles = 6;
		a.collector = counters(10, 10);
		ledger_window(*state, &a);
		deliver(*state, &a, 0, 6);
		ledger_end(*state, &a);
	}
	t = final_table(*state);
	assert_int_equal(t.taken, 1000);
	assert_int_equal(t.delivered, 600);
	assert_int_equal(t.lost[LEDGER_IN_TRANSIT], 400);
	assert_int_equal(t.streams, 100);
	assert_true(t.balanced);
}

static void message_of_a_folded_stream_is_late(void **state)
{
	struct window_account a = window(0, 0, 10, 0);

	a.in_profiles = 0;
	a.lost[0] = 10;
	for (uint64_t i = 0; i < LEDGER_STREAMS + 1; i++) {
		a.collector_stream = i;
		a.window = i;
		assert_int_equal(ledger_window(*state, &a), LEDGER_NEW);
	}
	a.collector_stream = 0;
	a.window = 0;
	assert_int_equal(ledger_window(*state, &a), LEDGER_LATE);
	assert_int_equal(final_table(*state).taken, 90);
}

/* A hostile symbolizer: 100 streams of 2^60 samples each are more than 2^64. */
static void sums_that_overflow_stick_and_are_shown(void **state)
{
	struct ledger_table t;

	for (uint64_t i = 0; i < 100; i++) {
		struct window_account a = window(i, 0, LEDGER_SAMPLES_MAX, 1);

		a.collector_stream = i;
		ledger_window(*state, &a);
		deliver(*state, &a, 0, LEDGER_SAMPLES_MAX);
	}
	t = final_table(*state);
	assert_true(t.taken == UINT64_MAX);
	assert_int_equal(t.contradictions[LEDGER_OVERFLOW], 1);
	assert_false(t.balanced);
}

static void printed_form_names_each_loss(void **state)
{
	struct window_account a = window(0, 0, 100, 1);
	struct ledger_table t;
	char comment[256];
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	a.received = a.in_profiles = 70;
	ledger_window(*state, &a);
	deliver(*state, &a, 0, 70);
	t = final_table(*state);
	ledger_comment(&t, comment, sizeof(comment));
	assert_string_equal(comment, "belfry account: taken=100 delivered=70 lost=30 in_transit=30"
				     " balanced=yes");
	assert_int_equal(ledger_comment(&t, comment, 10), 9);
	assert_string_equal(comment, "belfry ac");
	ledger_print(&t, out);
	fclose(out);
	assert_non_null(strstr(text, "in_transit"));
	assert_non_null(strstr(text, "collector-symbolizer"));
	assert_non_null(strstr(text, "balanced: every sample is accounted for"));
	assert_null(strstr(text, "ring_full"));
	free(text);
}

static void names_are_stable(void **state)
{
	static const char *const names[LEDGER_LOSSES] = {
		"ring_full",	     "queue_full",     "invalid",	"collector_lost",
		"in_transit",	     "symbolizer_lost", "stacks_full", "bad_batch",
		"profile_too_large", "encoder_failed", "uploader_away", "profile_lost",
		"write_failed",
	};

	(void)state;
	for (int i = 0; i < LEDGER_LOSSES; i++)
		assert_string_equal(ledger_loss_name((enum ledger_loss)i), names[i]);
	assert_string_equal(ledger_loss_name(LEDGER_LOSSES), "unknown");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_at_all_balances),
		TEST(all_delivered_when_every_profile_comes),
		TEST(collector_losses_are_its_own_counters),
		TEST(held_at_the_end_is_lost_with_the_collector),
		TEST(in_transit_is_what_a_window_did_not_receive),
		TEST(gap_before_a_first_window_went_down_with_the_predecessor),
		TEST(gap_where_a_window_is_missing_is_profile_lost),
		TEST(gap_between_consecutive_windows_is_in_transit),
		TEST(symbolizer_losses_are_told_by_reason),
		TEST(profile_lost_is_what_a_windows_profiles_lack),
		TEST(write_failed_is_what_came_and_could_not_be_written),
		TEST(undone_profile_becomes_write_failed),
		TEST(removed_files_are_delivered_all_the_same),
		TEST(account_survives_the_loss_of_its_window_message),
		TEST(messages_may_come_in_any_order),
		TEST(profile_that_came_before_is_known),
		TEST(profile_of_a_folded_window_is_late_and_stays_lost),
		TEST(window_told_with_two_accounts_is_shown),
		TEST(overlapping_windows_are_shown_and_counted_once),
		TEST(profiles_above_their_window_are_refused),
		TEST(profiles_below_their_window_are_shown),
		TEST(taken_without_an_explanation_is_shown),
		TEST(delivered_beyond_taken_is_shown),
		TEST(counters_that_run_both_ways_are_shown),
		TEST(older_counters_change_nothing),
		TEST(killed_collector_is_closed_by_its_successor),
		TEST(end_alone_shows_what_the_predecessor_took_along),
		TEST(end_of_a_symbolizer_that_was_stopped_is_not_the_end),
		TEST(end_without_a_stream_ends_the_newest),
		TEST(end_heals_the_last_window),
		TEST(end_with_old_counters_is_unfinished),
		TEST(counters_without_any_window),
		TEST(totals_beyond_32_bits),
		TEST(numbers_beyond_the_limits_are_refused),
		TEST(more_gaps_than_ranges_lose_nothing),
		TEST(more_streams_than_are_kept_lose_nothing),
		TEST(message_of_a_folded_stream_is_late),
		TEST(sums_that_overflow_stick_and_are_shown),
		TEST(printed_form_names_each_loss),
		TEST(names_are_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
