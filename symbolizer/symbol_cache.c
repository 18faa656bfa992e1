/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/symbol_cache.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u

void symbol_cache_clear(struct symbol_cache *c)
{
	free(c->entries);
	free(c->strings);
	free(c->names);
	index_table_free(&c->by_offset);
	index_table_free(&c->by_name);
	*c = (struct symbol_cache){ 0 };
}

struct offset_key {
	const struct symbol_cache *c;
	uint64_t offset;
};

static bool offset_equal(const void *key, uint32_t index)
{
	const struct offset_key *k = key;

	return k->c->entries[index].offset == k->offset;
}

uint32_t symbol_cache_find(const struct symbol_cache *c, uint64_t offset)
{
	const struct offset_key key = { c, offset };

	return index_table_find(&c->by_offset, hash_number(c->seed, offset), offset_equal, &key);
}

static bool grow_entries(struct symbol_cache *c)
{
	uint32_t room = c->room ? c->room * 2 : ROOM_FIRST;
	struct symbol_entry_known *more = realloc(c->entries, (size_t)room * sizeof(*more));

	if (!more)
		return false;
	c->entries = more;
	c->room = room;
	return true;
}

static void choose_seed(struct symbol_cache *c)
{
	if (!c->seed)
		c->seed = hash_seed();
}

uint32_t symbol_cache_add(struct symbol_cache *c, uint64_t offset)
{
	choose_seed(c);
	if ((c->count == c->room && !grow_entries(c)) ||
	    !index_table_add(&c->by_offset, hash_number(c->seed, offset), c->count))
		return SYMBOL_CACHE_NONE;
	c->entries[c->count] = (struct symbol_entry_known){
		.offset = offset,
		.name = SYMBOL_CACHE_NONE,
		.system_name = SYMBOL_CACHE_NONE,
		.state = ENTRY_QUEUED,
	};
	return c->count++;
}

struct name_key {
	const struct symbol_cache *c;
	const char *name;
	uint32_t len;
};

static bool name_equal(const void *key, uint32_t index)
{
	const struct name_key *k = key;
	const char *known = k->c->strings + k->c->names[index];

	return strncmp(known, k->name, k->len) == 0 && known[k->len] == '\0';
}

static bool grow_names(struct symbol_cache *c)
{
	uint32_t room = c->name_room ? c->name_room * 2 : ROOM_FIRST;
	uint32_t *more = realloc(c->names, (size_t)room * sizeof(*more));

	if (!more)
		return false;
	c->names = more;
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
	const struct name_key key = { c, name, len };
	uint32_t known, at = c->strings_len;
	uint64_t hash;

	choose_seed(c);
	hash = hash_bytes(c->seed, name, len);
	known = index_table_find(&c->by_name, hash, name_equal, &key);
	if (known != INDEX_NONE)
		return c->names[known];
	if ((c->name_count == c->name_room && !grow_names(c)) || !grow_strings(c, at + len + 1) ||
	    !index_table_add(&c->by_name, hash, c->name_count))
		return SYMBOL_CACHE_NONE;
	memcpy(c->strings + at, name, len);
	c->strings[at + len] = '\0';
	c->strings_len += len + 1;
	c->names[c->name_count++] = at;
	return at;
}
