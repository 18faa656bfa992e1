/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/symbol_cache.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u

void symbol_cache_clear(struct symbol_cache *c)
{
	free(c->entries);
	free(c->by_offset.slots);
	free(c->strings);
	free(c->names);
	free(c->by_name.slots);
	*c = (struct symbol_cache){ 0 };
}

static uint32_t hash_number(uint64_t n)
{
	return (uint32_t)(n * 0x9e3779b97f4a7c15ull >> 32);
}

static uint32_t hash_name(const char *name, uint32_t len)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return hash_number(h);
}

static void index_put(struct index_table *t, uint32_t hash, uint32_t index)
{
	uint32_t slot = hash & (t->size - 1);

	while (t->slots[slot])
		slot = (slot + 1) & (t->size - 1);
	t->slots[slot] = index + 1;
}

/* A table for `room` indexes, empty. */
static bool index_renew(struct index_table *t, uint32_t room)
{
	uint32_t *slots = calloc((size_t)room * 2, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->size = room * 2;
	return true;
}

uint32_t symbol_cache_find(const struct symbol_cache *c, uint64_t offset)
{
	const struct index_table *t = &c->by_offset;

	if (t->size == 0)
		return SYMBOL_CACHE_NONE;
	for (uint32_t slot = hash_number(offset);; slot++) {
		uint32_t index = t->slots[slot & (t->size - 1)];

		if (index == 0)
			return SYMBOL_CACHE_NONE;
		if (c->entries[index - 1].offset == offset)
			return index - 1;
	}
}

static bool grow_entries(struct symbol_cache *c)
{
	uint32_t room = c->room ? c->room * 2 : ROOM_FIRST;
	struct symbol_entry_known *more = realloc(c->entries, (size_t)room * sizeof(*more));

	if (!more)
		return false;
	c->entries = more;
	if (!index_renew(&c->by_offset, room))
		return false;
	for (uint32_t i = 0; i < c->count; i++)
		index_put(&c->by_offset, hash_number(c->entries[i].offset), i);
	c->room = room;
	return true;
}

uint32_t symbol_cache_add(struct symbol_cache *c, uint64_t offset)
{
	if (c->count == c->room && !grow_entries(c))
		return SYMBOL_CACHE_NONE;
	c->entries[c->count] = (struct symbol_entry_known){
		.offset = offset,
		.name = SYMBOL_CACHE_NONE,
		.system_name = SYMBOL_CACHE_NONE,
		.state = ENTRY_QUEUED,
	};
	index_put(&c->by_offset, hash_number(offset), c->count);
	return c->count++;
}

static uint32_t find_name(const struct symbol_cache *c, uint32_t hash, const char *name,
			  uint32_t len)
{
	const struct index_table *t = &c->by_name;

	if (t->size == 0)
		return SYMBOL_CACHE_NONE;
	for (uint32_t slot = hash;; slot++) {
		uint32_t index = t->slots[slot & (t->size - 1)];
		const char *known;

		if (index == 0)
			return SYMBOL_CACHE_NONE;
		known = c->strings + c->names[index - 1];
		if (strncmp(known, name, len) == 0 && known[len] == '\0')
			return c->names[index - 1];
	}
}

static bool grow_names(struct symbol_cache *c)
{
	uint32_t room = c->name_room ? c->name_room * 2 : ROOM_FIRST;
	uint32_t *more = realloc(c->names, (size_t)room * sizeof(*more));

	if (!more)
		return false;
	c->names = more;
	if (!index_renew(&c->by_name, room))
		return false;
	for (uint32_t i = 0; i < c->name_count; i++) {
		const char *name = c->strings + c->names[i];

		index_put(&c->by_name, hash_name(name, (uint32_t)strlen(name)), i);
	}
	c->name_room = room;
	return true;
}

static bool grow_strings(struct symbol_cache *c, uint32_t needed)
{
	uint32_t room = c->strings_room ? c->strings_room : 1024;
	char *more;

	if (needed > SYMBOL_CACHE_STRINGS_MAX)
		return false;
	while (room < needed)
		room *= 2;
	if (room == c->strings_room)
		return true;
	more = realloc(c->strings, room);
	if (!more)
		return false;
	c->strings = more;
	c->strings_room = room;
	return true;
}

uint32_t symbol_cache_keep(struct symbol_cache *c, const char *name, uint32_t len)
{
	uint32_t hash = hash_name(name, len);
	uint32_t at = find_name(c, hash, name, len);

	if (at != SYMBOL_CACHE_NONE)
		return at;
	at = c->strings_len;
	if ((c->name_count == c->name_room && !grow_names(c)) || !grow_strings(c, at + len + 1))
		return SYMBOL_CACHE_NONE;
	memcpy(c->strings + at, name, len);
	c->strings[at + len] = '\0';
	c->strings_len += len + 1;
	c->names[c->name_count] = at;
	index_put(&c->by_name, hash, c->name_count);
	c->name_count++;
	return at;
}
