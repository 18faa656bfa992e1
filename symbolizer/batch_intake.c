/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/batch_intake.h"

#include <errno.h>
#include <inttypes.h>

#include "ipc/log.h"
#include "symbolizer/file_key.h"

#define NSEC_PER_SEC 1000000000ull

int batch_intake_start(struct batch_intake *b, struct window_clock now)
{
	b->open = window_new(b->window_budget, now.real, now.mono);
	return b->open ? 0 : -ENOMEM;
}

struct window *batch_intake_close_window(struct batch_intake *b, struct window_clock now)
{
	struct window *closed = b->open;
	struct window *next;
	struct window_account *a = &closed->account;

	/* No collector yet, or nothing of its stream passed: the window just goes on. */
	if (!b->stream_id || a->first_sample == a->end_sample) {
		closed->start_time = now.real;
		closed->start_mono = now.mono;
		return NULL;
	}
	next = window_new(b->window_budget, now.real, now.mono);
	if (!next)
		return NULL;
	closed->end_mono = now.mono;
	a->collector_stream = b->stream_id;
	a->symbolizer_id = b->symbolizer_id;
	a->window = b->windows++;
	a->start_time = closed->start_time;
	a->duration = now.mono - closed->start_mono;
	a->collector = b->collector;
	next->period = closed->period;
	next->account.first_sample = next->account.end_sample = b->next_sample;
	b->open = next;
	return closed;
}

/* Another collector: its files are numbered anew, its processes told anew. */
static void begin_stream(struct batch_intake *b, const struct batch_header *h, struct window_clock now)
{
	struct window *closed = batch_intake_close_window(b, now);

	log_info("stream_begin", "a collector's stream begins at sample %" PRIu64, h->first_sample);
	if (closed)
		b->on_closed(b->context, closed);
	else
		window_clear(b->open, now.real, now.mono); /* no memory for the next: its range shows as lost with us */
	targets_reset(b->targets);
	b->stream_id = h->stream_id;
	b->next_sample = h->first_sample;
	b->collector = (struct counters_record){ 0 };
	b->open->account.first_sample = b->open->account.end_sample = h->first_sample;
}

static void take_sample(struct batch_intake *b, const struct record *r)
{
	struct target *t = targets_of_sample(b->targets, &r->sample.header);

	if (!t || !window_add(b->open, t, &r->sample.header, r->sample.frames))
		b->open->account.lost[SYMBOLIZER_LOSS_STACKS_FULL]++;
	else
		b->open->account.in_profiles++;
}

static void take_record(struct batch_intake *b, struct record *r)
{
	switch (r->type) {
	case RECORD_SAMPLE:
		take_sample(b, r);
		break;
	case RECORD_PROCESS:
		targets_process(b->targets, &r->process);
		break;
	case RECORD_MAPPING:
		r->mapping.file_id = file_key(b->stream_id, r->mapping.file_id);
		targets_mapping(b->targets, &r->mapping);
		break;
	case RECORD_EXIT:
		targets_exit(b->targets, &r->exit);
		break;
	case RECORD_COUNTERS:
		b->collector = r->counters;
		break;
	case RECORD_END:
		b->ended = true;
		break;
	case RECORD_TYPES:
		break;
	}
	b->counters.records++;
}

/* Takes all records; returns how many samples were among them, and in *wrong what stopped it. */
static uint32_t take_records(struct batch_intake *b, struct cursor *body, const struct batch_header *h,
			     const char **wrong)
{
	uint32_t samples = 0;
	struct record r;

	for (;;) {
		*wrong = record_decode(body, &r);
		if (*wrong || r.type == 0)
			return samples;
		if (r.type == RECORD_SAMPLE && samples == h->samples) {
			*wrong = "batch holds more samples than it announces";
			return samples;
		}
		samples += r.type == RECORD_SAMPLE;
		take_record(b, &r);
	}
}

static void refuse(struct batch_intake *b, const char *wrong)
{
	if (b->counters.bad_batches++ == 0)
		log_warn("batch_bad", "%s", wrong);
}

void batch_intake_take(struct batch_intake *b, const uint8_t *data, size_t len, struct window_clock now)
{
	struct batch_header h;
	struct cursor body;
	const char *wrong = len > BATCH_MAX ? "batch is too long" : batch_open(data, (uint32_t)len, &h, &body);
	struct window_account *a;
	uint32_t samples;

	b->counters.batches++;
	if (wrong) {
		/* Not even its numbers can be trusted: the gap shows with the next batch. */
		refuse(b, wrong);
		return;
	}
	if (h.stream_id == 0 || (h.stream_id == b->stream_id && h.first_sample < b->next_sample)) {
		b->counters.old_batches++;
		return;
	}
	if (h.stream_id != b->stream_id)
		begin_stream(b, &h, now);
	if (h.first_sample > b->next_sample)
		b->counters.gaps++;
	b->open->period = NSEC_PER_SEC / h.frequency;
	a = &b->open->account;
	a->received += h.samples;
	a->end_sample = b->next_sample = h.first_sample + h.samples;
	samples = take_records(b, &body, &h, &wrong);
	if (!wrong && samples < h.samples)
		wrong = "batch holds fewer samples than it announces";
	if (wrong)
		refuse(b, wrong);
	a->lost[SYMBOLIZER_LOSS_BAD_BATCH] += h.samples - samples;
}
