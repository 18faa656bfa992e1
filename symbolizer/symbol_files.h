/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_files: the files that the collector passed on: descriptor, what is known of each, and its
 * cache. Bounded in descriptors, records, addresses and bytes of names; the least recently used
 * goes first, never one that a worker is reading.
 */
#ifndef BELFRY_SYMBOLIZER_SYMBOL_FILES_H
#define BELFRY_SYMBOLIZER_SYMBOL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/symbol_cache.h"
#include "symbolizer/symbols.h"

#define SYMBOL_FILE_BUCKETS 4096u
#define SYMBOL_DENIALS	    256u

struct symbol_file {
	uint64_t file_id;
	uint64_t device; /* identity, as the collector measured it */
	uint64_t inode;
	uint64_t size;
	uint64_t change_time;
	int fd; /* owned; -1 = none */
	struct file_info info;
	bool identified; /* the build id was asked for */
	bool hopeless;	 /* no offset of it has an address: nothing to ask */
	bool in_flight;	 /* a worker is reading it */
	bool pinned;	 /* never given up: the vDSO */
	uint32_t queued; /* entries in state QUEUED */
	uint64_t denied_until_ms;
	uint64_t told_missing_ms; /* 0 = not yet */
	struct symbol_cache cache;
	uint32_t strings_counted; /* bytes of its names that are part of symbol_files.strings */
	struct symbol_file *newer;
	struct symbol_file *older;
	struct symbol_file *next_in_bucket;
};

/* A file that killed a worker. It may come back under another id, so its identity is remembered. */
struct symbol_denial {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t change_time;
	uint64_t until_ms;
};

struct symbol_files {
	uint32_t open_max;
	uint32_t records_max;
	uint32_t addresses_max;
	uint64_t strings_max;
	uint32_t open;
	uint32_t records;
	uint64_t addresses;		   /* entries over all caches */
	uint64_t strings;		   /* bytes of names over all caches */
	struct symbols_counters *counters; /* not owned */
	struct symbol_file *buckets[SYMBOL_FILE_BUCKETS];
	struct symbol_file *newest;
	struct symbol_file *oldest;
	struct symbol_denial denials[SYMBOL_DENIALS];
	uint32_t next_denial;
};

void symbol_files_init(struct symbol_files *s, const struct symbols_limits *limits,
		       struct symbols_counters *counters);

struct symbol_file *symbol_files_find(struct symbol_files *s, uint64_t file_id);

/* A record without a descriptor. NULL when every record is in use or memory is short. */
struct symbol_file *symbol_files_add(struct symbol_files *s, uint64_t file_id);

/* Marks as most recently used. */
void symbol_files_touch(struct symbol_files *s, struct symbol_file *f);

/*
 * Gives `f` its descriptor, from another file where the limit is reached. False: no room, fd still
 * the caller's.
 */
bool symbol_files_open(struct symbol_files *s, struct symbol_file *f, int fd);

void symbol_files_remove(struct symbol_files *s, struct symbol_file *f);
void symbol_files_clear_cache(struct symbol_files *s, struct symbol_file *f);

/* Takes note of the names that an answer added to `f`. */
void symbol_files_count_strings(struct symbol_files *s, struct symbol_file *f);

/* Makes room for one more entry in `f`'s cache, if need be by clearing caches. */
bool symbol_files_make_room(struct symbol_files *s, struct symbol_file *f);

void symbol_files_deny(struct symbol_files *s, const struct symbol_file *f, uint64_t until_ms);
/* When the denial of a file with this identity ends; 0 = it is not denied. */
uint64_t symbol_files_denied(const struct symbol_files *s, const struct symbol_file *f,
			     uint64_t now_ms);

#endif
