/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any messages of the sample channel, through the decoder into targets and windows: a hostile
 * collector, or a hostile program's names and stacks in an honest one. Whatever comes, each
 * window's account adds up and its entries are its processes' samples.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "symbolizer/batch_intake.h"

#define WINDOW_BUDGET (64 << 10) /* small, so that its end is met */
#define MEMORY	      (64 << 10)

static void check_account(const struct window *w, bool closed)
{
	const struct window_account *a = &w->account;
	uint64_t sum = a->in_profiles;

	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		sum += a->lost[i];
	assert(sum == a->received);
	assert(a->first_sample <= a->end_sample);
	assert(a->received <= a->end_sample - a->first_sample);
	assert(!closed || a->end_sample > a->first_sample);
}

static void check_contents(const struct window *w)
{
	uint64_t entries = 0, processes = 0;

	for (uint32_t i = 0; i < w->processes.count; i++)
		processes += window_process_at(w, i)->samples;
	for (uint32_t i = 0; i < w->entries.count; i++) {
		const struct window_entry *e = window_entry_at(w, i);
		const struct window_stack *s = window_stack_at(w, e->stack);

		assert(e->stack < w->stacks.count && e->process < w->processes.count);
		assert(s->count > 0 && s->count <= w->frames.count - s->first);
		for (uint32_t f = 0; f < s->count; f++) {
			const struct window_location *l =
				window_location_at(w, *window_frames_at(w, s->first + f));

			assert(l->process == e->process);
			assert(l->mapping < WINDOW_MAPPING_FIRST + w->mappings.count);
		}
		entries += e->samples;
	}
	assert(entries == processes && entries == w->account.in_profiles);
	assert(w->used <= w->budget);
}

static void take_closed(void *context, struct window *w)
{
	(void)context;
	window_bind_late(w);
	check_account(w, true);
	check_contents(w);
	window_free(w);
}

/* Input: messages, each behind its length in two bytes; after one of an odd length the window is
 * closed. */
static void feed(struct batch_intake *b, const uint8_t *data, size_t size)
{
	struct window_clock clock = { 0, 0 };
	size_t from = 0;

	while (size - from >= 2) {
		size_t len = data[from] | (size_t)data[from + 1] << 8;
		struct window *closed;
		uint8_t *message;

		from += 2;
		if (len > size - from)
			len = size - from;
		message = malloc(
			len ? len
			    : 1); /* of the exact length, so that the sanitizer sees its end */
		assert(message);
		memcpy(message, data + from, len);
		from += len;
		clock.real++;
		clock.mono++;
		batch_intake_take(b, message, len, clock);
		free(message);
		check_account(b->open, false);
		assert(targets_counters(b->targets).memory <= MEMORY);
		closed = len % 2 ? batch_intake_close_window(b, clock) : NULL;
		if (closed)
			take_closed(NULL, closed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct targets_limits limits = { .targets = 8, .mappings = 64, .memory = MEMORY };
	static struct targets *targets; /* one for all runs, so that it warns of refusals once */
	struct batch_intake b = { .window_budget = WINDOW_BUDGET,
				  .symbolizer_id = 1,
				  .on_closed = take_closed,
				  .counters.bad_batches = 1 /* which keeps it from warning */ };

	if (!targets && targets_new(&targets, &limits) != 0)
		abort();
	b.targets = targets;
	if (batch_intake_start(&b, (struct window_clock){ 0, 0 }) != 0)
		abort();
	feed(&b, data, size);
	assert(targets_counters(targets).known <= limits.targets);
	check_contents(b.open);
	window_free(b.open);
	targets_reset(targets);
	assert(targets_counters(targets).memory == 0);
	return 0;
}
