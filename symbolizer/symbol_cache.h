/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_cache: what is known of one file's offsets. Names are kept once each. An entry is never
 * removed alone: a cache is cleared as a whole.
 */
#ifndef BELFRY_SYMBOLIZER_SYMBOL_CACHE_H
#define BELFRY_SYMBOLIZER_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/index_table.h"

#define SYMBOL_CACHE_STRINGS_MAX                                                                   \
	(4u << 20) /* bytes of names of one file; a hostile file's are all 4 KiB long */
#define SYMBOL_CACHE_NONE UINT32_MAX

enum entry_state {
	ENTRY_QUEUED = 1, /* wanted, not yet asked */
	ENTRY_ASKED,	  /* a worker has it */
	ENTRY_KNOWN,
	ENTRY_FAILED, /* the worker died; may be wanted again */
};

struct symbol_entry_known {
	uint64_t offset; /* in the file */
	uint64_t address;
	uint64_t function_start;
	uint32_t name; /* offset into strings, SYMBOL_CACHE_NONE = no symbol */
	uint32_t system_name;
	uint8_t state; /* enum entry_state */
	bool has_address;
};

/* All zero is an empty one. */
struct symbol_cache {
	uint64_t seed; /* of the hashes: offsets and names are the program's to choose. 0 until something is added */
	struct symbol_entry_known *entries;
	uint32_t count;
	uint32_t room;
	struct index_table by_offset;
	char *strings; /* NUL-terminated, back to back */
	uint32_t strings_len;
	uint32_t strings_room;
	uint32_t *names; /* offset of each distinct string */
	uint32_t name_count;
	uint32_t name_room;
	struct index_table by_name;
};

/* Frees everything and leaves an empty cache. */
void symbol_cache_clear(struct symbol_cache *c);

/* Index of the entry for `offset`, or SYMBOL_CACHE_NONE. */
uint32_t symbol_cache_find(const struct symbol_cache *c, uint64_t offset);

/* Adds an entry in state QUEUED; `offset` must not be there. SYMBOL_CACHE_NONE without memory. */
uint32_t symbol_cache_add(struct symbol_cache *c, uint64_t offset);

/*
 * Keeps `name`; returns its offset into strings, or SYMBOL_CACHE_NONE when there is no room. No NUL
 * inside.
 */
uint32_t symbol_cache_keep(struct symbol_cache *c, const char *name, uint32_t len);

#endif
