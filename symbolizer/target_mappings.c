/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/target_mappings.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/valid_text.h"

#define ROOM_FIRST 16 /* mappings that room is made for at first */

/* ---- memory, counted for the target and for all ---------------------------------------------------- */

static bool charge(struct target *t, uint64_t bytes)
{
	struct target_memory *all = t->memory;

	if (bytes > all->limit_each - t->memory_used || bytes > all->limit - all->used)
		return false;
	t->memory_used += bytes;
	all->used += bytes;
	return true;
}

static void refund(struct target *t, uint64_t bytes)
{
	t->memory_used -= bytes;
	t->memory->used -= bytes;
}

static uint64_t path_bytes(uint32_t len)
{
	return sizeof(struct target_path) + len + 1;
}

void target_path_release(struct target_path *p)
{
	if (!p || --p->users > 0)
		return;
	refund(p->owner, path_bytes(p->len));
	free(p);
}

/* ---- live mappings --------------------------------------------------------------------------------- */

static struct target_mapping *live_at(const struct target *t, uint32_t i)
{
	return &t->live[t->order[i]];
}

/* Index of the first live mapping that ends above `address`. */
static uint32_t first_above(const struct target *t, uint64_t address)
{
	uint32_t low = 0, high = t->live_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (live_at(t, middle)->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The path as text; a neighbour's is shared when it is the same: a file has several mappings in a row. */
static struct target_path *path_of(struct target *t, const struct mapping_record *r)
{
	char text[TARGET_PATH_MAX];
	uint32_t len = (uint32_t)valid_text_copy(r->path, r->path_len, text, sizeof(text));
	uint32_t at = first_above(t, r->start);
	struct target_path *p;

	/* Only the two neighbours: a target may have as many mappings, each with a path of its own, as it likes. */
	for (uint32_t i = at > 0 ? at - 1 : 0; i < t->live_count && i <= at; i++) {
		p = live_at(t, i)->path;
		if (live_at(t, i)->file_id == r->file_id && strcmp(p->text, text) == 0) {
			p->users++;
			return p;
		}
	}
	if (!charge(t, path_bytes(len)))
		return NULL;
	p = malloc(path_bytes(len));
	if (!p) {
		refund(t, path_bytes(len));
		return NULL;
	}
	p->owner = t;
	p->users = 1;
	p->len = len;
	memcpy(p->text, text, len + 1);
	return p;
}

static bool grow_live(struct target *t, uint32_t room)
{
	uint64_t bytes = (uint64_t)(room - t->live_room) * (sizeof(*t->live) + sizeof(*t->order));
	struct target_mapping *live;
	uint32_t *order;

	if (!charge(t, bytes))
		return false;
	live = realloc(t->live, room * sizeof(*live));
	if (live)
		t->live = live;
	order = realloc(t->order, room * sizeof(*order));
	if (order)
		t->order = order;
	if (!live || !order) {
		refund(t, bytes);
		return false;
	}
	for (uint32_t i = t->live_room; i < room; i++)
		order[i] = i;
	t->live_room = room;
	return true;
}

static bool make_room(struct target *t, uint32_t more)
{
	uint32_t room = t->live_room ? t->live_room : ROOM_FIRST;

	while (room < t->live_count + more)
		room *= 2;
	return room == t->live_room || grow_live(t, room);
}

/* Only numbers are moved: a target that maps downwards puts each of its mappings before all others. */
static void insert_at(struct target *t, uint32_t at, const struct target_mapping *m)
{
	uint32_t slot = t->order[t->live_count];

	memmove(&t->order[at + 1], &t->order[at], (t->live_count - at) * sizeof(*t->order));
	t->order[at] = slot;
	t->live[slot] = *m;
	t->live_count++;
}

static void remove_at(struct target *t, uint32_t at)
{
	uint32_t slot = t->order[at];

	t->live_count--;
	memmove(&t->order[at], &t->order[at + 1], (t->live_count - at) * sizeof(*t->order));
	t->order[t->live_count] = slot;
}

/* ---- past mappings --------------------------------------------------------------------------------- */

/* The i-th oldest. */
static struct target_mapping *past_at(const struct target *t, uint32_t i)
{
	return &t->past[(t->past_first + i) % TARGET_PAST_MAX];
}

/* Room for one more, by dropping the oldest when there are too many. */
static bool make_past_room(struct target *t)
{
	uint32_t room = t->past_room ? 2 * t->past_room : ROOM_FIRST;
	struct target_mapping *grown;

	if (t->past_count < t->past_room)
		return true;
	if (t->past_room == TARGET_PAST_MAX) {
		target_path_release(past_at(t, 0)->path);
		t->past_first = (t->past_first + 1) % TARGET_PAST_MAX;
		t->past_count--;
		return true;
	}
	if (!charge(t, (room - t->past_room) * sizeof(*grown)))
		return false;
	grown = realloc(t->past, room * sizeof(*grown));
	if (!grown) {
		refund(t, (room - t->past_room) * sizeof(*grown));
		return false;
	}
	t->past = grown;
	t->past_room = room;
	return true;
}

/* Keeps a mapping that has ended, if there is room. Takes its path over. */
static void keep_past(struct target *t, const struct target_mapping *m, uint64_t until)
{
	struct target_mapping *kept;

	if (m->from >= until || !make_past_room(t)) {
		target_path_release(m->path);
		return;
	}
	kept = past_at(t, t->past_count++);
	*kept = *m;
	kept->until = until;
}

/* ---- changes --------------------------------------------------------------------------------------- */

/* Ends what [start, end) overlaps; the parts that stick out on either side stay. Needs room for 2 more. */
static void cut_out(struct target *t, uint64_t start, uint64_t end, uint64_t time)
{
	uint32_t at = first_above(t, start);

	while (at < t->live_count && live_at(t, at)->start < end) {
		struct target_mapping old = *live_at(t, at);

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

static void free_live(struct target *t)
{
	free(t->live);
	free(t->order);
	refund(t, (uint64_t)t->live_room * (sizeof(*t->live) + sizeof(*t->order)));
	t->live = NULL;
	t->order = NULL;
	t->live_count = 0;
	t->live_room = 0;
}

void target_mappings_retire(struct target *t, uint64_t time)
{
	for (uint32_t i = 0; i < t->live_count; i++)
		keep_past(t, live_at(t, i), time);
	free_live(t);
}

void target_mappings_free(struct target *t)
{
	for (uint32_t i = 0; i < t->live_count; i++)
		target_path_release(live_at(t, i)->path);
	free_live(t);
	for (uint32_t i = 0; i < t->past_count; i++)
		target_path_release(past_at(t, i)->path);
	free(t->past);
	refund(t, t->past_room * sizeof(*t->past));
}

const struct target_mapping *target_find(const struct target *t, uint64_t address, uint64_t time)
{
	uint32_t at = first_above(t, address);
	const struct target_mapping *live = NULL;

	if (at < t->live_count && live_at(t, at)->start <= address)
		live = live_at(t, at);
	if (live && live->from <= time)
		return live;
	for (uint32_t i = t->past_count; i > 0; i--) {
		const struct target_mapping *m = past_at(t, i - 1);

		if (address >= m->start && address < m->end && time >= m->from && time < m->until)
			return m;
	}
	/* Better a mapping that came a moment later than none: munmap and mprotect are not told. */
	return live;
}

const char *target_exe(const struct target *t)
{
	for (uint32_t i = 0; i < t->live_count; i++) {
		const struct target_mapping *m = live_at(t, i);

		if (m->kind == MAPPING_FILE || m->kind == MAPPING_OTHER_FILE)
			return m->path->text;
	}
	return "";
}
