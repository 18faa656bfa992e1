// SPDX-License-Identifier: Apache-2.0
#include "ipc/index_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct index_slot {
	uint32_t hash;
	uint32_t index; /* INDEX_NONE = free */
};

#define FIRST_CAPACITY 64u

uint64_t hash_seed(void)
{
	uint64_t seed;
	struct timespec now;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	/* Early boot without entropy: the clock is better than a constant. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return hash_number((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
}

/*
 * Both halves of a 64 x 64 bit product: every bit of the input reaches every bit of the result. A factor of 0 would
 * wipe out the seed and all that came before, so that whoever chooses the number could make all hashes equal.
 */
uint64_t hash_number(uint64_t hash, uint64_t number)
{
	uint64_t factor = number ^ 0xd1b54a32d192ed03ull;
	unsigned __int128 product = (unsigned __int128)(hash ^ 0x9e3779b97f4a7c15ull) *
				    (factor ? factor : 0x94d049bb133111ebull);

	return (uint64_t)product ^ (uint64_t)(product >> 64) ^ (number << 1 | 1) * 0xbf58476d1ce4e5b9ull;
}

uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t word;

	hash = hash_number(hash, len);
	for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = hash_number(hash, word);
	}
	word = 0;
	if (len) {
		memcpy(&word, bytes, len);
		hash = hash_number(hash, word);
	}
	return hash;
}

static uint32_t slot_hash(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

uint32_t index_table_find(const struct index_table *t, uint64_t hash, index_equal *equal,
			  const void *key)
{
	uint32_t wanted = slot_hash(hash);

	if (!t->capacity)
		return INDEX_NONE;
	for (uint32_t i = wanted & (t->capacity - 1);; i = (i + 1) & (t->capacity - 1)) {
		const struct index_slot *s = &t->slots[i];

		if (s->index == INDEX_NONE)
			return INDEX_NONE;
		if (s->hash == wanted && equal(key, s->index))
			return s->index;
	}
}

static void slot_place(struct index_slot *slots, uint32_t capacity, struct index_slot entry)
{
	uint32_t i = entry.hash & (capacity - 1);

	while (slots[i].index != INDEX_NONE)
		i = (i + 1) & (capacity - 1);
	slots[i] = entry;
}

static bool table_double(struct index_table *t)
{
	uint64_t capacity = t->capacity ? 2ull * t->capacity : FIRST_CAPACITY;
	struct index_slot *slots;

	if (capacity > 1ull << 31)
		return false;
	slots = malloc(capacity * sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < capacity; i++)
		slots[i] = (struct index_slot){ .index = INDEX_NONE };
	for (uint32_t i = 0; i < t->capacity; i++)
		if (t->slots[i].index != INDEX_NONE)
			slot_place(slots, (uint32_t)capacity, t->slots[i]);
	free(t->slots);
	t->slots = slots;
	t->capacity = (uint32_t)capacity;
	return true;
}

bool index_table_add(struct index_table *t, uint64_t hash, uint32_t index)
{
	/* At most two thirds full, so that the search always meets a free slot soon. */
	if ((uint64_t)t->count * 3 >= (uint64_t)t->capacity * 2 && !table_double(t))
		return false;
	slot_place(t->slots, t->capacity, (struct index_slot){ slot_hash(hash), index });
	t->count++;
	return true;
}

void index_table_free(struct index_table *t)
{
	free(t->slots);
	*t = (struct index_table){ 0 };
}
