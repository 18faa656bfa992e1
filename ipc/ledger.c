// SPDX-License-Identifier: Apache-2.0
#include "ipc/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/ledger_state.h"

struct ledger *ledger_new(void)
{
	return calloc(1, sizeof(struct ledger));
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->open_count; i++)
		free(l->open[i].seen);
	free(l);
}

void ledger_contradict(struct ledger *l, enum ledger_contradiction c)
{
	ledger_add(&l->folded, &l->folded.contradictions[c], 1);
	l->last_contradiction = c;
}

enum ledger_contradiction ledger_last_contradiction(const struct ledger *l)
{
	return l->last_contradiction;
}

static bool counters_plausible(const struct counters_record *c)
{
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		if (c->value[i] > LEDGER_SAMPLES_MAX)
			return false;
	return true;
}

/* The channel's decoder checks the same law; a journal's lines come here without passing it. */
bool ledger_account_plausible(const struct window_account *a)
{
	uint64_t left = a->received;

	if (a->first_sample > a->end_sample || a->end_sample > LEDGER_SAMPLES_MAX ||
	    a->window > LEDGER_SAMPLES_MAX || a->profiles > LEDGER_PROFILES_MAX ||
	    a->received > a->end_sample - a->first_sample || a->in_profiles > left)
		return false;
	left -= a->in_profiles;
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++) {
		if (a->lost[i] > left)
			return false;
		left -= a->lost[i];
	}
	return left == 0 && counters_plausible(&a->collector);
}

static bool account_same(const struct window_account *a, const struct window_account *b)
{
	return a->collector_stream == b->collector_stream && a->first_sample == b->first_sample &&
	       a->end_sample == b->end_sample && a->received == b->received &&
	       a->in_profiles == b->in_profiles && a->profiles == b->profiles &&
	       memcmp(a->lost, b->lost, sizeof(a->lost)) == 0;
}

struct ledger_open *ledger_open_find(struct ledger *l, uint64_t symbolizer, uint64_t window)
{
	for (uint32_t i = 0; i < l->open_count; i++) {
		const struct window_account *a = &l->open[i].account;

		if (a->symbolizer_id == symbolizer && a->window == window)
			return &l->open[i];
	}
	return NULL;
}

static void fold_window(struct ledger *l, uint32_t i)
{
	ledger_open_sum(&l->open[i], true, &l->folded);
	free(l->open[i].seen);
	l->open_count--;
	memmove(&l->open[i], &l->open[i + 1], (l->open_count - i) * sizeof(l->open[0]));
}

static void fold_oldest_stream(struct ledger *l)
{
	const struct ledger_stream *s = &l->streams[0];
	struct ledger_mark high = ledger_stream_high(s);
	struct ledger_mark after = ledger_stream_low(&l->streams[1]);

	for (uint32_t i = 0; i < l->open_count;) {
		if (l->open[i].account.collector_stream == s->id)
			fold_window(l, i);
		else
			i++;
	}
	ledger_stream_sum(s, true, &l->before, &after, &l->folded);
	if (high.known)
		l->before = high;
	l->gone[l->gone_count++ % LEDGER_GONE] = s->id;
	l->stream_count--;
	memmove(&l->streams[0], &l->streams[1], l->stream_count * sizeof(l->streams[0]));
}

static bool stream_gone(const struct ledger *l, uint64_t id)
{
	for (uint32_t i = 0; i < l->gone_count && i < LEDGER_GONE; i++)
		if (l->gone[i] == id)
			return true;
	return false;
}

struct ledger_stream *ledger_stream_get(struct ledger *l, uint64_t id)
{
	struct ledger_stream *s;

	for (uint32_t i = 0; i < l->stream_count; i++)
		if (l->streams[i].id == id)
			return &l->streams[i];
	if (stream_gone(l, id))
		return NULL;
	if (l->stream_count == LEDGER_STREAMS)
		fold_oldest_stream(l);
	s = &l->streams[l->stream_count++];
	memset(s, 0, sizeof(*s));
	s->id = id;
	return s;
}

struct ledger_open *ledger_open_add(struct ledger *l, const struct window_account *a)
{
	uint8_t *seen = calloc(1, a->profiles / 8 + 1);
	struct ledger_open *o;

	if (!seen)
		return NULL;
	if (l->open_count == LEDGER_WINDOWS)
		fold_window(l, 0);
	o = &l->open[l->open_count++];
	*o = (struct ledger_open){ .account = *a, .seen = seen };
	return o;
}

static enum ledger_answer refuse(struct ledger *l, enum ledger_contradiction c)
{
	ledger_contradict(l, c);
	return LEDGER_REFUSED;
}

static enum ledger_answer late(struct ledger *l)
{
	ledger_add(&l->folded, &l->folded.late, 1);
	return LEDGER_LATE;
}

static void take_counters(struct ledger *l, struct ledger_stream *s,
			  const struct counters_record *c)
{
	if (!counters_plausible(c) || !ledger_stream_count(s, c))
		ledger_contradict(l, LEDGER_COUNTERS_REVERSED);
}

enum ledger_answer ledger_window(struct ledger *l, const struct window_account *a)
{
	const struct ledger_mark by = { true, a->symbolizer_id, a->window };
	const struct ledger_open *known = ledger_open_find(l, a->symbolizer_id, a->window);
	struct ledger_stream *s;

	if (known)
		return account_same(&known->account, a) ? LEDGER_KNOWN
							: refuse(l, LEDGER_WINDOW_CHANGED);
	if (!ledger_account_plausible(a))
		return refuse(l, LEDGER_WINDOW_IMPLAUSIBLE);
	s = ledger_stream_get(l, a->collector_stream);
	if (!s)
		return late(l);
	ledger_stream_make_room(s);
	switch (ledger_stream_covered(s, a->first_sample, a->end_sample)) {
	case LEDGER_COVER_ALL:
		return late(l);
	case LEDGER_COVER_PART:
		return refuse(l, LEDGER_WINDOW_OVERLAP);
	case LEDGER_COVER_NONE:
		break;
	}
	if (!ledger_open_add(l, a))
		return LEDGER_NO_MEMORY;
	ledger_stream_cover(s, a->first_sample, a->end_sample, &by);
	/* A symbolizer that was told to stop says END as well; its successor carries it on. */
	if (s->end.known && s->end.symbolizer != a->symbolizer_id)
		s->end.known = false;
	take_counters(l, s, &a->collector);
	return LEDGER_NEW;
}

static bool was_seen(const struct ledger_open *o, uint32_t index)
{
	return o->seen[index / 8] >> (index % 8) & 1;
}

static enum ledger_answer ask(const struct ledger_open *o, uint32_t index, uint64_t samples,
			      enum ledger_contradiction *why)
{
	*why = LEDGER_PROFILE_ORPHAN;
	if (!o || index >= o->account.profiles)
		return LEDGER_REFUSED;
	if (was_seen(o, index))
		return LEDGER_KNOWN;
	*why = LEDGER_PROFILE_EXCESS;
	if (samples > o->account.in_profiles - o->delivered - o->failed)
		return LEDGER_REFUSED;
	return LEDGER_NEW;
}

enum ledger_answer ledger_ask_profile(const struct ledger *l, uint64_t symbolizer, uint64_t window,
				      uint32_t index, uint64_t samples)
{
	enum ledger_contradiction why;

	/* Nothing is changed through the pointer. */
	return ask(ledger_open_find((struct ledger *)l, symbolizer, window), index, samples, &why);
}

enum ledger_answer ledger_profile(struct ledger *l, uint64_t symbolizer, uint64_t window,
				  uint32_t index, uint64_t samples, bool written)
{
	struct ledger_open *o = ledger_open_find(l, symbolizer, window);
	enum ledger_contradiction why;
	enum ledger_answer answer = ask(o, index, samples, &why);

	if (answer == LEDGER_REFUSED)
		return refuse(l, why);
	if (answer == LEDGER_KNOWN)
		return answer;
	o->seen[index / 8] |= (uint8_t)(1u << (index % 8));
	o->seen_count++;
	*(written ? &o->delivered : &o->failed) += samples;
	if (written)
		ledger_add(&l->folded, &l->folded.profiles, 1);
	return LEDGER_NEW;
}

enum ledger_answer ledger_profile_undone(struct ledger *l, uint64_t symbolizer, uint64_t window,
					 uint32_t index, uint64_t samples)
{
	struct ledger_open *o = ledger_open_find(l, symbolizer, window);

	if (!o || index >= o->account.profiles || !was_seen(o, index) || samples > o->delivered ||
	    l->folded.profiles == 0)
		return refuse(l, LEDGER_PROFILE_ORPHAN);
	o->delivered -= samples;
	o->failed += samples;
	l->folded.profiles--;
	return LEDGER_NEW;
}

static struct ledger_stream *newest_stream(struct ledger *l)
{
	return l->stream_count ? &l->streams[l->stream_count - 1] : NULL;
}

void ledger_end(struct ledger *l, const struct window_account *a)
{
	struct ledger_stream *s;

	if (!ledger_account_plausible(a)) {
		ledger_contradict(l, LEDGER_WINDOW_IMPLAUSIBLE);
		return;
	}
	/* END may repeat the last window's account: one more chance for it to survive. */
	if (a->end_sample > a->first_sample)
		ledger_window(l, a);
	s = a->collector_stream ? ledger_stream_get(l, a->collector_stream) : newest_stream(l);
	if (!s)
		return;
	take_counters(l, s, &a->collector);
	s->end = (struct ledger_mark){ true, a->symbolizer_id, a->window };
}

void ledger_final_counters(struct ledger *l, const struct counters_record *c)
{
	struct ledger_stream *s = newest_stream(l);

	if (!s)
		s = ledger_stream_get(l, 0);
	if (!s)
		return;
	take_counters(l, s, c);
	s->final = true;
}

void ledger_removed(struct ledger *l, uint64_t bytes)
{
	ledger_add(&l->folded, &l->folded.removed_files, 1);
	ledger_add(&l->folded, &l->folded.removed_bytes, bytes);
}

/* The law itself, added up once more from what the table shows. */
static bool law_holds(struct ledger_table *t)
{
	uint64_t in = t->taken;
	uint64_t out = ledger_lost_total(t);

	ledger_add(t, &in, t->surplus);
	ledger_add(t, &out, t->delivered);
	ledger_add(t, &out, t->underway);
	ledger_add(t, &out, t->unexplained);
	return in == out;
}

static bool table_balanced(const struct ledger_table *t)
{
	for (uint32_t i = 0; i < LEDGER_CONTRADICTIONS; i++)
		if (t->contradictions[i])
			return false;
	return t->unexplained == 0 && t->surplus == 0;
}

void ledger_sum(const struct ledger *l, bool final, struct ledger_table *t)
{
	struct ledger_mark before = l->before;

	*t = l->folded;
	for (uint32_t i = 0; i < l->open_count; i++)
		ledger_open_sum(&l->open[i], final, t);
	for (uint32_t i = 0; i < l->stream_count; i++) {
		const struct ledger_stream *s = &l->streams[i];
		bool last = i + 1 == l->stream_count;
		struct ledger_mark high = ledger_stream_high(s);
		struct ledger_mark after = { 0 };

		if (!last)
			after = ledger_stream_low(&l->streams[i + 1]);
		/* One collector runs at a time: a newer stream closes the older ones. */
		ledger_stream_sum(s, final || !last, &before, &after, t);
		if (high.known)
			before = high;
	}
	if (!law_holds(t))
		t->contradictions[LEDGER_SUM_WRONG] = 1;
	t->balanced = table_balanced(t);
}
