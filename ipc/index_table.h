/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_table: finds the index of an item by its contents. The items live in an array of the caller's;
 * the table holds their hashes and indexes only.
 * Hashes are seeded at random, since names and ids come from profiled programs, which could
 * otherwise choose them to collide.
 */
#ifndef BELFRY_IPC_INDEX_TABLE_H
#define BELFRY_IPC_INDEX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot;

struct index_table {
	struct index_slot *slots; /* owned; NULL while empty */
	uint32_t capacity;        /* a power of two, or 0 */
	uint32_t count;
};

/* Whether item `index` is the one that `key` describes. */
typedef bool index_equal(const void *key, uint32_t index);

/* Index of the item that equals `key`, or INDEX_NONE. */
uint32_t index_table_find(const struct index_table *t, uint64_t hash, index_equal *equal,
			  const void *key);

/* Adds an item that is not there yet. False when memory is out; the table is unchanged then. */
bool index_table_add(struct index_table *t, uint64_t hash, uint32_t index);

void index_table_free(struct index_table *t);

/* A seed from the kernel's random numbers. */
uint64_t hash_seed(void);
uint64_t hash_number(uint64_t hash, uint64_t number);
uint64_t hash_bytes(uint64_t hash, const void *data, size_t len);

#endif
