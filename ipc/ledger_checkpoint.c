// SPDX-License-Identifier: Apache-2.0
#include "ipc/ledger_checkpoint.h"

#include "ipc/ledger_state.h"

static struct journal_mark mark_out(const struct ledger_mark *m)
{
	return (struct journal_mark){ m->known, m->symbolizer, m->window };
}

static struct ledger_mark mark_in(const struct journal_mark *m)
{
	return (struct ledger_mark){ m->known != 0, m->symbolizer, m->window };
}

static int emit_totals(const struct ledger *l, uint64_t time, ledger_emit emit, void *context)
{
	struct journal_entry e = { .kind = JOURNAL_CHECKPOINT, .time = time };
	uint32_t kept = l->gone_count < LEDGER_GONE ? l->gone_count : LEDGER_GONE;
	int error;

	e.table = l->folded;
	e.low = mark_out(&l->before);
	error = emit(context, &e);
	for (uint32_t i = 0; i < kept && !error; i++) {
		/* Oldest first, so that the ring is refilled in the same order. */
		uint32_t slot = (l->gone_count - kept + i) % LEDGER_GONE;

		e = (struct journal_entry){ .kind = JOURNAL_GONE };
		e.account.collector_stream = l->gone[slot];
		error = emit(context, &e);
	}
	return error;
}

static int emit_stream(const struct ledger_stream *s, ledger_emit emit, void *context)
{
	struct journal_entry e = { .kind = JOURNAL_STREAM };
	int error;

	e.account.collector_stream = s->id;
	e.account.collector = s->counters;
	e.final = s->final;
	e.low = mark_out(&s->end);
	error = emit(context, &e);
	for (uint32_t i = 0; i < s->range_count && !error; i++) {
		const struct ledger_range *r = &s->ranges[i];

		e = (struct journal_entry){ .kind = JOURNAL_RANGE,
					    .first = r->first,
					    .end = r->end };
		e.account.collector_stream = s->id;
		e.low = mark_out(&r->low);
		e.high = mark_out(&r->high);
		error = emit(context, &e);
	}
	if (error)
		return error;
	e = (struct journal_entry){ .kind = JOURNAL_GAPS };
	e.account.collector_stream = s->id;
	for (uint32_t i = 0; i < LEDGER_LOSSES; i++)
		e.table.lost[i] = s->folded[i];
	return emit(context, &e);
}

static bool bit(const struct ledger_open *o, uint32_t i)
{
	return o->seen[i / 8] >> (i % 8) & 1;
}

static int emit_open(const struct ledger_open *o, ledger_emit emit, void *context)
{
	struct journal_entry e = { .kind = JOURNAL_OPEN, .account = o->account };
	int error;

	e.delivered = o->delivered;
	e.failed = o->failed;
	error = emit(context, &e);
	e.kind = JOURNAL_SEEN;
	/* Profiles mostly come in order: few runs. */
	for (uint32_t i = 0; i < o->account.profiles && !error; i++) {
		if (!bit(o, i))
			continue;
		e.index = i;
		while (i + 1 < o->account.profiles && bit(o, i + 1))
			i++;
		e.last = i;
		error = emit(context, &e);
	}
	return error;
}

int ledger_checkpoint(const struct ledger *l, uint64_t time, ledger_emit emit, void *context)
{
	const struct journal_entry end = { .kind = JOURNAL_CHECKPOINT_END, .time = time };
	int error = emit_totals(l, time, emit, context);

	for (uint32_t i = 0; i < l->stream_count && !error; i++)
		error = emit_stream(&l->streams[i], emit, context);
	for (uint32_t i = 0; i < l->open_count && !error; i++)
		error = emit_open(&l->open[i], emit, context);
	return error ? error : emit(context, &end);
}

static struct ledger_stream *newest(struct ledger *l, uint64_t id)
{
	struct ledger_stream *s = l->stream_count ? &l->streams[l->stream_count - 1] : NULL;

	return s && s->id == id ? s : NULL;
}

static const char *restore_stream(struct ledger *l, const struct journal_entry *e)
{
	struct ledger_stream *s;

	for (uint32_t i = 0; i < l->stream_count; i++)
		if (l->streams[i].id == e->account.collector_stream)
			return "checkpoint names a stream twice";
	if (l->stream_count == LEDGER_STREAMS)
		return "checkpoint has too many streams";
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		if (e->account.collector.value[i] > LEDGER_SAMPLES_MAX)
			return "checkpoint has a counter beyond the limit";
	s = ledger_stream_get(l, e->account.collector_stream);
	if (!s)
		return "checkpoint has a stream that is gone";
	s->counters = e->account.collector;
	s->final = e->final != 0;
	s->end = mark_in(&e->low);
	return NULL;
}

static const char *restore_range(struct ledger *l, const struct journal_entry *e)
{
	struct ledger_stream *s = newest(l, e->account.collector_stream);
	struct ledger_range *r;

	if (!s)
		return "checkpoint has a range outside its stream";
	if (s->range_count == LEDGER_RANGES)
		return "checkpoint has too many ranges";
	if (e->first > e->end || e->end > LEDGER_SAMPLES_MAX ||
	    e->low.window > LEDGER_SAMPLES_MAX || e->high.window > LEDGER_SAMPLES_MAX ||
	    (s->range_count && e->first <= s->ranges[s->range_count - 1].end))
		return "checkpoint has a range out of order";
	r = &s->ranges[s->range_count++];
	*r = (struct ledger_range){ .first = e->first, .end = e->end };
	r->low = mark_in(&e->low);
	r->high = mark_in(&e->high);
	r->low.known = true;
	r->high.known = true;
	return NULL;
}

static const char *restore_gaps(struct ledger *l, const struct journal_entry *e)
{
	struct ledger_stream *s = newest(l, e->account.collector_stream);
	uint64_t room;

	if (!s)
		return "checkpoint has gaps outside their stream";
	room = s->range_count ? s->ranges[0].end - s->ranges[0].first : 0;
	for (uint32_t i = 0; i < LEDGER_LOSSES; i++) {
		if (e->table.lost[i] > room)
			return "checkpoint has gaps larger than the range that holds them";
		room -= e->table.lost[i];
		s->folded[i] = e->table.lost[i];
	}
	return NULL;
}

static const char *restore_open(struct ledger *l, const struct journal_entry *e)
{
	struct ledger_open *o;

	if (l->open_count == LEDGER_WINDOWS)
		return "checkpoint has too many open windows";
	if (!ledger_account_plausible(&e->account) || e->delivered > e->account.in_profiles ||
	    e->failed > e->account.in_profiles - e->delivered)
		return "checkpoint has an implausible window";
	if (ledger_open_find(l, e->account.symbolizer_id, e->account.window))
		return "checkpoint has a window twice";
	o = ledger_open_add(l, &e->account);
	if (!o)
		return "no memory for an open window";
	o->delivered = e->delivered;
	o->failed = e->failed;
	return NULL;
}

static const char *restore_seen(struct ledger *l, const struct journal_entry *e)
{
	struct ledger_open *o = ledger_open_find(l, e->account.symbolizer_id, e->account.window);

	if (!o || e->index > e->last || e->last >= o->account.profiles)
		return "checkpoint has profiles outside their window";
	for (uint32_t i = e->index; i <= e->last; i++) {
		if (bit(o, i))
			return "checkpoint has a profile twice";
		o->seen[i / 8] |= (uint8_t)(1u << (i % 8));
		o->seen_count++;
	}
	return NULL;
}

const char *ledger_restore(struct ledger *l, const struct journal_entry *e)
{
	switch (e->kind) {
	case JOURNAL_CHECKPOINT:
		l->folded = e->table;
		l->before = mark_in(&e->low);
		return NULL;
	case JOURNAL_GONE:
		l->gone[l->gone_count++ % LEDGER_GONE] = e->account.collector_stream;
		return NULL;
	case JOURNAL_STREAM:
		return restore_stream(l, e);
	case JOURNAL_RANGE:
		return restore_range(l, e);
	case JOURNAL_GAPS:
		return restore_gaps(l, e);
	case JOURNAL_OPEN:
		return restore_open(l, e);
	case JOURNAL_SEEN:
		return restore_seen(l, e);
	default:
		return "checkpoint holds a line that does not belong there";
	}
}
