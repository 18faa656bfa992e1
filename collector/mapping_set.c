/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/mapping_set.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8u

static struct mapping_set *set_of(uint32_t capacity)
{
	struct mapping_set *s = malloc(sizeof(*s) + capacity * sizeof(s->at[0]));

	if (s) {
		s->users = 1;
		s->count = 0;
		s->capacity = capacity;
		s->newest = 0;
	}
	return s;
}

struct mapping_set *mapping_set_new(void)
{
	return set_of(FIRST_CAPACITY);
}

struct mapping_set *mapping_set_share(struct mapping_set *s)
{
	s->users++;
	return s;
}

void mapping_set_release(struct mapping_set *s, struct mapped_names *names)
{
	if (!s || --s->users)
		return;
	for (uint32_t i = 0; i < s->count; i++)
		mapped_names_release(names, s->at[i].name);
	free(s);
}

/* Makes *s ours alone, with room for `more` mappings. */
static bool make_own(struct mapping_set **s, uint32_t more, struct mapped_names *names)
{
	uint32_t capacity = (*s)->capacity;
	struct mapping_set *own;

	while (capacity < (*s)->count + more)
		capacity *= 2;
	if ((*s)->users == 1) {
		if (capacity == (*s)->capacity)
			return true;
		own = realloc(*s, sizeof(*own) + capacity * sizeof(own->at[0]));
		if (!own)
			return false;
		own->capacity = capacity;
		*s = own;
		return true;
	}
	own = mapped_names_have_room(names, (*s)->count) ? set_of(capacity) : NULL;
	if (!own)
		return false;
	own->count = (*s)->count;
	own->newest = (*s)->newest;
	memcpy(own->at, (*s)->at, own->count * sizeof(own->at[0]));
	for (uint32_t i = 0; i < own->count; i++)
		mapped_names_share(names, own->at[i].name);
	mapping_set_release(*s, names);
	*s = own;
	return true;
}

/* Index of the first mapping that ends above `address`. */
static uint32_t first_above(const struct mapping_set *s, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->at[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->name == b->name;
}

/* Opens a gap of `n` at `i`, or closes one where n < 0. */
static void move_tail(struct mapping_set *s, uint32_t i, int n)
{
	memmove(&s->at[(int64_t)i + n], &s->at[i], (s->count - i) * sizeof(s->at[0]));
	s->count = (uint32_t)((int64_t)s->count + n);
}

/* Cuts [start, end) out of what is there. Returns the index at which a mapping of that range
 * belongs. */
static uint32_t cut_out(struct mapping_set *s, uint64_t start, uint64_t end,
			struct mapped_names *names)
{
	uint32_t i = first_above(s, start);
	uint32_t j;

	if (i < s->count && s->at[i].start < start) {
		struct mapping *m = &s->at[i];

		if (m->end > end) { /* it lies inside one: two pieces stay */
			move_tail(s, i, 1);
			mapped_names_share(names, m->name);
			s->at[i + 1].offset += end - s->at[i + 1].start;
			s->at[i + 1].start = end;
			s->at[i].end = start;
			return i + 1;
		}
		m->end = start;
		i++;
	}
	for (j = i; j < s->count && s->at[j].end <= end; j++)
		mapped_names_release(names, s->at[j].name);
	if (j > i)
		move_tail(s, j, -(int)(j - i));
	if (i < s->count && s->at[i].start < end) {
		s->at[i].offset += end - s->at[i].start;
		s->at[i].start = end;
	}
	return i;
}

enum mapping_added mapping_set_add(struct mapping_set **s, const struct mapping *m, uint32_t most,
				   struct mapped_names *names)
{
	uint32_t i = first_above(*s, m->start);

	if (i < (*s)->count && is_same(&(*s)->at[i], m)) {
		mapped_names_release(names, m->name);
		return MAPPING_KNOWN;
	}
	/* Adding makes at most two more: the new one, and the far piece of one that it lies inside.
	 */
	if ((*s)->count >= most || !make_own(s, 2, names)) {
		mapped_names_release(names, m->name);
		return MAPPING_NO_ROOM;
	}
	i = cut_out(*s, m->start, m->end, names);
	move_tail(*s, i, 1);
	(*s)->at[i] = *m;
	if (m->serial > (*s)->newest)
		(*s)->newest = m->serial;
	return MAPPING_ADDED;
}

bool mapping_set_is_within(const struct mapping_set *a, const struct mapping_set *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t j = first_above(b, a->at[i].start);

		if (j >= b->count || !is_same(&a->at[i], &b->at[j]))
			return false;
	}
	return true;
}

void mapping_set_keep_told(struct mapping_set *s, const struct mapping_set *old)
{
	s->newest = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t j = first_above(old, s->at[i].start);

		if (j < old->count && is_same(&s->at[i], &old->at[j])) {
			s->at[i].time = old->at[j].time;
			s->at[i].serial = old->at[j].serial;
		}
		if (s->at[i].serial > s->newest)
			s->newest = s->at[i].serial;
	}
}
