/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/profile_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "symbolizer/frame_names.h"
#include "symbolizer/pprof.h"
#include "symbolizer/profile_mappings.h"
#include "symbolizer/valid_text.h"

#define STACK_LOCATIONS_MAX (BELFRY_KERNEL_FRAMES_MAX + BELFRY_USER_FRAMES_MAX + 3)

/* A finished profile that waits for the window's account. */
struct built_profile {
	struct pprof_encoder *encoder; /* owns the bytes */
	const uint8_t *data;
	size_t len;
	uint32_t process;
	uint64_t samples;
};

struct build {
	const struct profile_builder *p;
	struct window *w;
	uint32_t *order;        /* entries, grouped by process */
	uint64_t *location_ids; /* in the profile of the location's process; 0 = not written yet */
	struct profile_mappings mappings;
	struct built_profile *profiles;
	uint32_t profile_count;
	uint64_t bytes;
	struct frame_name name;
};

/* ---- one profile ----------------------------------------------------------------------------------- */

static uint64_t location_id(struct build *b, struct pprof_encoder *e, uint32_t index)
{
	const struct window_location *l = window_location_at(b->w, index);
	uint64_t mapping, function;

	if (b->location_ids[index])
		return b->location_ids[index];
	frame_name_of(b->p->symbols, b->p->kernel, b->w, l, &b->name);
	mapping = profile_mappings_id(&b->mappings, l->mapping, b->name.is_symbol);
	function = encoder_function(e, b->name.name, b->name.system_name, "");
	b->location_ids[index] = encoder_location(e, mapping, b->name.address, function);
	return b->location_ids[index];
}

static void write_entry(struct build *b, struct pprof_encoder *e, const struct window_entry *entry)
{
	const struct window_stack *s = window_stack_at(b->w, entry->stack);
	const uint32_t *frames = window_frames_at(b->w, s->first);
	uint64_t ids[STACK_LOCATIONS_MAX];
	char thread_name[3 * BELFRY_COMM_LEN + 1];

	for (uint32_t i = 0; i < s->count; i++)
		ids[i] = location_id(b, e, frames[i]);
	valid_text_copy(entry->thread_name, BELFRY_COMM_LEN, thread_name, sizeof(thread_name));
	encoder_sample(e, ids, s->count, entry->samples, entry->thread_id, thread_name);
}

static void write_comments(const struct build *b, struct pprof_encoder *e, const struct labels *l)
{
	const struct window_account *a = &b->w->account;
	char text[PROFILE_LABEL_VALUE_MAX + PROFILE_LABEL_NAME_MAX];

	for (uint32_t i = 0; i < l->count; i++) {
		snprintf(text, sizeof(text), "label %s=%s", l->items[i].name, l->items[i].value);
		encoder_comment(e, text);
	}
	snprintf(text, sizeof(text),
		 "belfry window: range=%" PRIu64 "-%" PRIu64 " received=%" PRIu64 " in_transit=%" PRIu64
		 " stacks_full=%" PRIu64 " bad_batch=%" PRIu64,
		 a->first_sample, a->end_sample, a->received, a->end_sample - a->first_sample - a->received,
		 a->lost[SYMBOLIZER_LOSS_STACKS_FULL], a->lost[SYMBOLIZER_LOSS_BAD_BATCH]);
	encoder_comment(e, text);
	snprintf(text, sizeof(text), "belfry collector: taken=%" PRIu64 " ring_full=%" PRIu64 " queue_full=%" PRIu64,
		 a->collector.value[COLLECTOR_TAKEN], a->collector.value[COLLECTOR_RING_FULL],
		 a->collector.value[COLLECTOR_QUEUE_FULL]);
	encoder_comment(e, text);
}

static enum symbolizer_loss loss_of(enum pprof_result r)
{
	return r == PPROF_TOO_LARGE ? SYMBOLIZER_LOSS_TOO_LARGE : SYMBOLIZER_LOSS_ENCODER;
}

static void lose(struct build *b, enum symbolizer_loss why, uint64_t samples)
{
	b->w->account.in_profiles -= samples;
	b->w->account.lost[why] += samples;
}

/* Bytes of the message that will carry it, so that what was promised in the account has its room. */
static uint64_t message_size(const struct build *b, const struct built_profile *built, const struct labels *l)
{
	struct profile_message m = { .type = PROFILE_PPROF, .label_count = l->count,
				     .pprof_len = (uint32_t)built->len };

	memcpy(m.labels, l->items, sizeof(m.labels));
	return outlet_size(b->p->outlet, &m);
}

/* Encodes the entries order[first .. end), all of one process, and keeps the result for later. */
static void build_profile(struct build *b, uint32_t first, uint32_t end)
{
	const struct window *w = b->w;
	uint32_t process = window_entry_at(w, b->order[first])->process;
	const struct pprof_header h = { w->start_time, w->account.duration, w->period };
	struct built_profile built = { .process = process,
				       .samples = window_process_at(w, process)->samples };
	struct pprof_encoder *e = encoder_new(&h, PROFILE_MESSAGE_MAX - PROFILE_HEADER_MAX);
	enum pprof_result result = PPROF_NO_MEMORY;
	uint64_t size = UINT64_MAX;
	struct labels labels;

	if (e) {
		labels_of(&labels, window_process_at(w, process)->target, b->p->host);
		profile_mappings_begin(&b->mappings, process);
		for (uint32_t i = first; i < end; i++)
			write_entry(b, e, window_entry_at(w, b->order[i]));
		profile_mappings_write(&b->mappings, e, b->p->symbols);
		write_comments(b, e, &labels);
		result = encoder_finish(e, &built.data, &built.len);
	}
	if (result == PPROF_DONE)
		size = message_size(b, &built, &labels);
	if (size != UINT64_MAX && outlet_has_room(b->p->outlet, b->bytes, size)) {
		built.encoder = e;
		b->bytes += size;
		b->profiles[b->profile_count++] = built;
		return;
	}
	lose(b, result == PPROF_DONE ? SYMBOLIZER_LOSS_UPLOADER_AWAY : loss_of(result), built.samples);
	encoder_free(e);
}

/* ---- the window ------------------------------------------------------------------------------------ */

/* Entries grouped by process, in their order inside it: a counting sort. */
static bool order_entries(struct build *b)
{
	uint32_t processes = b->w->processes.count;
	uint32_t *next = calloc((size_t)processes + 1, sizeof(*next));

	b->order = malloc((b->w->entries.count + 1) * sizeof(*b->order));
	if (!next || !b->order) {
		free(next);
		return false;
	}
	for (uint32_t i = 0; i < b->w->entries.count; i++)
		next[window_entry_at(b->w, i)->process + 1]++;
	for (uint32_t i = 0; i < processes; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < b->w->entries.count; i++)
		b->order[next[window_entry_at(b->w, i)->process]++] = i;
	free(next);
	return true;
}

static bool make_room(struct build *b)
{
	const struct window *w = b->w;

	b->location_ids = calloc((size_t)w->locations.count + 1, sizeof(*b->location_ids));
	b->profiles = calloc((size_t)w->processes.count + 1, sizeof(*b->profiles));
	return b->location_ids && b->profiles && profile_mappings_init(&b->mappings, w) && order_entries(b);
}

static void build_profiles(struct build *b)
{
	const struct window *w = b->w;

	for (uint32_t first = 0, end; first < w->entries.count; first = end) {
		uint32_t process = window_entry_at(w, b->order[first])->process;

		for (end = first; end < w->entries.count; end++)
			if (window_entry_at(w, b->order[end])->process != process)
				break;
		build_profile(b, first, end);
	}
}

static void queue_messages(struct build *b)
{
	struct profile_message m = { .type = PROFILE_WINDOW };
	struct labels labels;

	b->w->account.profiles = b->profile_count;
	m.account = b->w->account;
	if (outlet_add(b->p->outlet, &m) != 0)
		log_error("outlet", "no room for the account of window %" PRIu64, m.account.window);
	m.type = PROFILE_PPROF;
	for (uint32_t i = 0; i < b->profile_count; i++) {
		const struct built_profile *built = &b->profiles[i];

		labels_of(&labels, window_process_at(b->w, built->process)->target, b->p->host);
		memcpy(m.labels, labels.items, sizeof(m.labels));
		m.label_count = labels.count;
		m.index = i;
		m.samples = built->samples;
		m.pprof = built->data;
		m.pprof_len = (uint32_t)built->len;
		/* There was room for it a moment ago; if memory is out now, the account shows it as lost on the way. */
		if (outlet_add(b->p->outlet, &m) != 0)
			log_error("outlet", "no memory for a profile of window %" PRIu64, m.account.window);
	}
}

void profile_builder_run(const struct profile_builder *p, struct window *w)
{
	struct build *b = calloc(1, sizeof(*b));

	if (!b) {
		log_error("memory", "no memory to encode window %" PRIu64, w->account.window);
		return; /* the ledger finds the range that no window covers */
	}
	b->p = p;
	b->w = w;
	if (make_room(b))
		build_profiles(b);
	else
		lose(b, SYMBOLIZER_LOSS_ENCODER, w->account.in_profiles);
	queue_messages(b);
	for (uint32_t i = 0; i < b->profile_count; i++)
		encoder_free(b->profiles[i].encoder);
	free(b->order);
	free(b->location_ids);
	profile_mappings_free(&b->mappings);
	free(b->profiles);
	free(b);
}
