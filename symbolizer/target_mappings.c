/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/target_mappings.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/valid_text.h"

void target_path_release(struct target_path *p)
{
	if (p && --p->users == 0)
		free(p);
}

/* Index of the first live mapping that ends above `address`. */
static uint32_t first_above(const struct target *t, uint64_t address)
{
	uint32_t low = 0, high = t->live_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->live[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The path as text; a neighbour's is shared when it is the same: a file has several mappings in a row. */
static struct target_path *path_of(const struct target *t, const struct mapping_record *r)
{
	char text[TARGET_PATH_MAX];
	size_t len = valid_text_copy(r->path, r->path_len, text, sizeof(text));
	uint32_t at = first_above(t, r->start);
	struct target_path *p;

	/* Only the two neighbours: a target may have as many mappings, each with a path of its own, as it likes. */
	for (uint32_t i = at > 0 ? at - 1 : 0; i < t->live_count && i <= at; i++) {
		p = t->live[i].path;
		if (t->live[i].file_id == r->file_id && strcmp(p->text, text) == 0) {
			p->users++;
			return p;
		}
	}
	p = malloc(sizeof(*p) + len + 1);
	if (!p)
		return NULL;
	p->users = 1;
	memcpy(p->text, text, len + 1);
	return p;
}

/* Keeps a mapping that has ended; the oldest goes when there are too many. Takes its path over. */
static void keep_past(struct target *t, const struct target_mapping *m, uint64_t until)
{
	if (!t->past)
		t->past = malloc(TARGET_PAST_MAX * sizeof(*t->past));
	if (!t->past || m->from >= until) {
		target_path_release(m->path);
		return;
	}
	if (t->past_count == TARGET_PAST_MAX) {
		target_path_release(t->past[0].path);
		memmove(t->past, t->past + 1, (TARGET_PAST_MAX - 1) * sizeof(*t->past));
		t->past_count--;
	}
	t->past[t->past_count] = *m;
	t->past[t->past_count++].until = until;
}

static bool make_room(struct target *t, uint32_t more)
{
	uint32_t need = t->live_count + more;
	uint32_t room = t->live_room ? t->live_room : 16;
	struct target_mapping *grown;

	if (need <= t->live_room)
		return true;
	while (room < need)
		room *= 2;
	grown = realloc(t->live, room * sizeof(*grown));
	if (!grown)
		return false;
	t->live = grown;
	t->live_room = room;
	return true;
}

static void insert_at(struct target *t, uint32_t at, const struct target_mapping *m)
{
	memmove(&t->live[at + 1], &t->live[at], (t->live_count - at) * sizeof(*t->live));
	t->live[at] = *m;
	t->live_count++;
}

static void remove_at(struct target *t, uint32_t at)
{
	memmove(&t->live[at], &t->live[at + 1], (t->live_count - at - 1) * sizeof(*t->live));
	t->live_count--;
}

/* Ends what [start, end) overlaps; the parts that stick out on either side stay. Needs room for 2 more. */
static void cut_out(struct target *t, uint64_t start, uint64_t end, uint64_t time)
{
	uint32_t at = first_above(t, start);

	while (at < t->live_count && t->live[at].start < end) {
		struct target_mapping old = t->live[at];

		remove_at(t, at);
		if (old.start < start) {
			struct target_mapping left = old;

			left.end = start;
			left.path->users++;
			insert_at(t, at++, &left);
		}
		if (old.end > end) {
			struct target_mapping right = old;

			right.offset += end - old.start;
			right.start = end;
			right.path->users++;
			insert_at(t, at++, &right);
		}
		keep_past(t, &old, time);
	}
}

bool target_mappings_add(struct target *t, const struct mapping_record *r, uint32_t limit)
{
	struct target_mapping m = { .start = r->start, .end = r->end, .offset = r->offset,
				    .file_id = r->file_id, .from = r->time, .until = UINT64_MAX,
				    .kind = r->kind };

	if (t->live_count + 2 >= limit || !make_room(t, 3))
		return false;
	m.path = path_of(t, r);
	if (!m.path)
		return false;
	cut_out(t, r->start, r->end, r->time);
	insert_at(t, first_above(t, r->start), &m);
	return true;
}

void target_mappings_retire(struct target *t, uint64_t time)
{
	for (uint32_t i = 0; i < t->live_count; i++)
		keep_past(t, &t->live[i], time);
	t->live_count = 0;
}

void target_mappings_free(struct target *t)
{
	for (uint32_t i = 0; i < t->live_count; i++)
		target_path_release(t->live[i].path);
	for (uint32_t i = 0; i < t->past_count; i++)
		target_path_release(t->past[i].path);
	free(t->live);
	free(t->past);
}

const struct target_mapping *target_find(const struct target *t, uint64_t address, uint64_t time)
{
	uint32_t at = first_above(t, address);
	const struct target_mapping *live = NULL;

	if (at < t->live_count && t->live[at].start <= address)
		live = &t->live[at];
	if (live && live->from <= time)
		return live;
	for (uint32_t i = t->past_count; i > 0; i--) {
		const struct target_mapping *m = &t->past[i - 1];

		if (address >= m->start && address < m->end && time >= m->from && time < m->until)
			return m;
	}
	/* Better a mapping that came a moment later than none: munmap and mprotect are not told. */
	return live;
}

const char *target_exe(const struct target *t)
{
	for (uint32_t i = 0; i < t->live_count; i++)
		if (t->live[i].kind == MAPPING_FILE || t->live[i].kind == MAPPING_OTHER_FILE)
			return t->live[i].path->text;
	return "";
}
