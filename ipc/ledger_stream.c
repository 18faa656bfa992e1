// SPDX-License-Identifier: Apache-2.0
/* ledger_stream: which positions of one collector's stream windows cover, and what the gaps mean.
 */
#include "ipc/ledger_state.h"

#include <string.h>

/*
 * Why nobody accounts for the positions between two windows. A symbolizer's first window begins at
 * the first sample it ever saw: what lies before went down with its predecessor. Two consecutive
 * windows of one symbolizer have nothing between them but what never reached it. Else a whole
 * window is missing.
 */
static enum ledger_loss gap_loss(const struct ledger_mark *before, const struct ledger_mark *after)
{
	if (!after->known || after->window == 0)
		return LEDGER_SYMBOLIZER_LOST;
	if (before->known && before->symbolizer == after->symbolizer &&
	    after->window <= before->window + 1)
		return LEDGER_IN_TRANSIT;
	return LEDGER_PROFILE_LOST;
}

struct ledger_mark ledger_stream_low(const struct ledger_stream *s)
{
	return s->range_count ? s->ranges[0].low : (struct ledger_mark){ 0 };
}

struct ledger_mark ledger_stream_high(const struct ledger_stream *s)
{
	return s->range_count ? s->ranges[s->range_count - 1].high : (struct ledger_mark){ 0 };
}

enum ledger_cover ledger_stream_covered(const struct ledger_stream *s, uint64_t first, uint64_t end)
{
	enum ledger_cover cover = LEDGER_COVER_NONE;

	for (uint32_t i = 0; i < s->range_count && first < end; i++) {
		const struct ledger_range *r = &s->ranges[i];

		if (r->first == r->end)
			continue;
		if (r->first <= first && end <= r->end)
			return LEDGER_COVER_ALL;
		if (r->first < end && first < r->end)
			cover = LEDGER_COVER_PART;
	}
	return cover;
}

static void remove_range(struct ledger_stream *s, uint32_t i)
{
	s->range_count--;
	memmove(&s->ranges[i], &s->ranges[i + 1], (s->range_count - i) * sizeof(s->ranges[0]));
}

/* The oldest gap will hardly be filled any more. */
static void fold_oldest_gap(struct ledger_stream *s)
{
	struct ledger_range *low = &s->ranges[0];
	const struct ledger_range *high = &s->ranges[1];

	s->folded[gap_loss(&low->high, &high->low)] += high->first - low->end;
	low->end = high->end;
	low->high = high->high;
	remove_range(s, 1);
}

static bool follows(const struct ledger_mark *a, const struct ledger_mark *b)
{
	return a->symbolizer == b->symbolizer && a->window + 1 == b->window;
}

/* An empty window at the edge of a range moves the range's mark on, so that it is not missed later.
 */
static bool extend_by_empty(struct ledger_stream *s, uint64_t position,
			    const struct ledger_mark *by)
{
	for (uint32_t i = 0; i < s->range_count; i++) {
		struct ledger_range *r = &s->ranges[i];

		if (position < r->first || position > r->end)
			continue;
		if (position == r->end && follows(&r->high, by))
			r->high = *by;
		else if (position == r->first && follows(by, &r->low))
			r->low = *by;
		return true;
	}
	return false;
}

static void insert_range(struct ledger_stream *s, const struct ledger_range *r)
{
	uint32_t i = 0;

	/* Behind an empty range at the same position: that window came first. */
	while (i < s->range_count &&
	       (s->ranges[i].first < r->first ||
		(s->ranges[i].first == r->first && s->ranges[i].end == r->first)))
		i++;
	memmove(&s->ranges[i + 1], &s->ranges[i], (s->range_count - i) * sizeof(s->ranges[0]));
	s->ranges[i] = *r;
	s->range_count++;
}

static void merge_touching(struct ledger_stream *s)
{
	for (uint32_t i = 0; i + 1 < s->range_count;) {
		struct ledger_range *r = &s->ranges[i];

		if (r->end < s->ranges[i + 1].first) {
			i++;
			continue;
		}
		if (s->ranges[i + 1].end >= r->end) {
			r->end = s->ranges[i + 1].end;
			r->high = s->ranges[i + 1].high;
		}
		remove_range(s, i + 1);
	}
}

void ledger_stream_make_room(struct ledger_stream *s)
{
	if (s->range_count == LEDGER_RANGES)
		fold_oldest_gap(s);
}

void ledger_stream_cover(struct ledger_stream *s, uint64_t first, uint64_t end,
			 const struct ledger_mark *by)
{
	const struct ledger_range r = { .first = first, .end = end, .low = *by, .high = *by };

	if (first == end && extend_by_empty(s, first, by))
		return;
	insert_range(s, &r);
	merge_touching(s);
}

static const enum collector_counter cumulative[] = {
	COLLECTOR_TAKEN,   COLLECTOR_RING_FULL, COLLECTOR_QUEUE_FULL,
	COLLECTOR_INVALID, COLLECTOR_SENT,	COLLECTOR_EVENTS,
};

bool ledger_stream_count(struct ledger_stream *s, const struct counters_record *c)
{
	bool earlier = false;
	bool later = false;

	for (size_t i = 0; i < sizeof(cumulative) / sizeof(cumulative[0]); i++) {
		uint64_t was = s->counters.value[cumulative[i]];
		uint64_t is = c->value[cumulative[i]];

		earlier |= is < was;
		later |= is > was;
	}
	if (earlier && later)
		return false;
	/* Equal ones are taken over as well: what is held may have changed alone. */
	if (!earlier)
		s->counters = *c;
	return true;
}

static void sum_gaps(const struct ledger_stream *s, const struct ledger_mark *before,
		     struct ledger_table *t)
{
	struct ledger_mark low_side = *before;
	uint64_t position = 0;

	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		ledger_add(t, &t->lost[i], s->folded[i]);
	for (uint32_t i = 0; i < s->range_count; i++) {
		const struct ledger_range *r = &s->ranges[i];

		ledger_add(t, &t->lost[gap_loss(&low_side, &r->low)], r->first - position);
		position = r->end;
		low_side = r->high;
	}
}

/* Positions behind the last window: on their way while the stream lives, lost with it afterwards.
 */
static void sum_tail(const struct ledger_stream *s, uint64_t tail, bool closed,
		     const struct ledger_mark *after, struct ledger_table *t)
{
	struct ledger_mark high = ledger_stream_high(s);
	const struct ledger_mark *next = s->end.known ? &s->end : after;

	if (!closed)
		ledger_add(t, &t->underway, tail);
	else
		ledger_add(t, &t->lost[gap_loss(&high, next)], tail);
}

/* Samples taken that the collector neither sent nor counted as lost. */
static void sum_inside(const struct ledger_stream *s, uint64_t inside, bool closed,
		       struct ledger_table *t)
{
	uint64_t held = s->counters.value[COLLECTOR_HELD];

	if (s->final) {
		held = inside < held ? inside : held;
		ledger_add(t, &t->lost[LEDGER_COLLECTOR_LOST], held);
		ledger_add(t, &t->unexplained, inside - held);
	} else if (closed || s->end.known) {
		ledger_add(t, &t->lost[LEDGER_COLLECTOR_LOST], inside);
	} else {
		ledger_add(t, &t->underway, inside);
	}
}

void ledger_stream_sum(const struct ledger_stream *s, bool closed, const struct ledger_mark *before,
		       const struct ledger_mark *after, struct ledger_table *t)
{
	const uint64_t *c = s->counters.value;
	uint64_t covered = s->range_count ? s->ranges[s->range_count - 1].end : 0;
	/* Counters travel in the stream itself, and may be older than the window they came with. */
	uint64_t sent = c[COLLECTOR_SENT] > covered ? c[COLLECTOR_SENT] : covered;
	uint64_t explained = sent + c[COLLECTOR_RING_FULL] + c[COLLECTOR_QUEUE_FULL] +
			     c[COLLECTOR_INVALID]; /* each at most LEDGER_SAMPLES_MAX */
	uint64_t taken = c[COLLECTOR_TAKEN];

	ledger_add(t, &t->lost[LEDGER_RING_FULL], c[COLLECTOR_RING_FULL]);
	ledger_add(t, &t->lost[LEDGER_QUEUE_FULL], c[COLLECTOR_QUEUE_FULL]);
	ledger_add(t, &t->lost[LEDGER_INVALID], c[COLLECTOR_INVALID]);
	sum_gaps(s, before, t);
	sum_tail(s, sent - covered, closed || s->end.known, after, t);
	if (taken > explained)
		sum_inside(s, taken - explained, closed, t);
	else if (s->final)
		ledger_add(t, &t->surplus, explained - taken);
	else if (taken < explained)
		taken = explained;
	/* Counters that came with END may have lost the last set on their way: then they do not
	 * reach as far. */
	if (!s->final && (closed || s->end.known) &&
	    (!s->end.known || c[COLLECTOR_TAKEN] < explained))
		t->unfinished++;
	ledger_add(t, &t->taken, taken);
	t->streams++;
}
