/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/symbol_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MIN 1024u
#define NAME_BYTES_PER_ADDRESS                                                                     \
	64u /* C++ names have about 60 on average, and addresses share them */
#define STRINGS_MIN (1u << 20)

void symbol_files_init(struct symbol_files *s, const struct symbols_limits *limits,
		       struct symbols_counters *counters)
{
	*s = (struct symbol_files){
		.open_max = limits->open_files,
		.records_max = limits->open_files * 4,
		.addresses_max = limits->cached_addresses,
		.counters = counters,
		.strings_max = (uint64_t)limits->cached_addresses * NAME_BYTES_PER_ADDRESS,
	};
	if (s->records_max < RECORDS_MIN)
		s->records_max = RECORDS_MIN;
	if (s->strings_max < STRINGS_MIN)
		s->strings_max = STRINGS_MIN;
}

static struct symbol_file **bucket(struct symbol_files *s, uint64_t file_id)
{
	return &s->buckets[file_id % SYMBOL_FILE_BUCKETS];
}

struct symbol_file *symbol_files_find(struct symbol_files *s, uint64_t file_id)
{
	struct symbol_file *f = *bucket(s, file_id);

	while (f && f->file_id != file_id)
		f = f->next_in_bucket;
	return f;
}

static void list_remove(struct symbol_files *s, struct symbol_file *f)
{
	*(f->newer ? &f->newer->older : &s->newest) = f->older;
	*(f->older ? &f->older->newer : &s->oldest) = f->newer;
	f->newer = NULL;
	f->older = NULL;
}

static void list_put(struct symbol_files *s, struct symbol_file *f)
{
	f->older = s->newest;
	f->newer = NULL;
	*(s->newest ? &s->newest->newer : &s->oldest) = f;
	s->newest = f;
}

void symbol_files_touch(struct symbol_files *s, struct symbol_file *f)
{
	if (s->newest == f)
		return;
	list_remove(s, f);
	list_put(s, f);
}

static void close_descriptor(struct symbol_files *s, struct symbol_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	s->open--;
}

void symbol_files_clear_cache(struct symbol_files *s, struct symbol_file *f)
{
	s->addresses -= f->cache.count;
	s->strings -= f->strings_counted;
	f->strings_counted = 0;
	symbol_cache_clear(&f->cache);
	f->queued = 0;
}

void symbol_files_count_strings(struct symbol_files *s, struct symbol_file *f)
{
	s->strings += f->cache.strings_len - f->strings_counted;
	f->strings_counted = f->cache.strings_len;
}

void symbol_files_remove(struct symbol_files *s, struct symbol_file *f)
{
	struct symbol_file **at = bucket(s, f->file_id);

	while (*at != f)
		at = &(*at)->next_in_bucket;
	*at = f->next_in_bucket;
	list_remove(s, f);
	close_descriptor(s, f);
	symbol_files_clear_cache(s, f);
	free(f);
	s->records--;
}

/*
 * No answer about it is on its way. What waits for a file that may never be sent again is no reason
 * to keep it.
 */
static bool at_rest(const struct symbol_file *f)
{
	return !f->in_flight && (f->queued == 0 || f->fd < 0);
}

struct symbol_file *symbol_files_add(struct symbol_files *s, uint64_t file_id)
{
	struct symbol_file *f = s->oldest;

	if (s->records >= s->records_max) {
		while (f && (f->pinned || !at_rest(f)))
			f = f->newer;
		if (!f)
			return NULL;
		s->counters->files_evicted += f->fd >= 0;
		symbol_files_remove(s, f);
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->file_id = file_id;
	f->fd = -1;
	f->next_in_bucket = *bucket(s, file_id);
	*bucket(s, file_id) = f;
	list_put(s, f);
	s->records++;
	return f;
}

bool symbol_files_open(struct symbol_files *s, struct symbol_file *f, int fd)
{
	struct symbol_file *old = s->oldest;

	while (s->open >= s->open_max && old) {
		/*
		 * A file with queued offsets may lose its descriptor: it is then asked for again.
		 */
		if (old->fd >= 0 && !old->in_flight && !old->pinned) {
			close_descriptor(s, old);
			s->counters->files_evicted++;
		}
		old = old->newer;
	}
	if (s->open >= s->open_max)
		return false;
	f->fd = fd;
	f->told_missing_ms = 0;
	s->open++;
	return true;
}

static bool full(const struct symbol_files *s)
{
	return s->addresses >= s->addresses_max || s->strings > s->strings_max;
}

bool symbol_files_make_room(struct symbol_files *s, struct symbol_file *f)
{
	struct symbol_file *old = s->oldest;

	/*
	 * A file whose names fill its share starts anew, or its later functions would never be
	 * named.
	 */
	if (f->cache.strings_len > SYMBOL_CACHE_STRINGS_MAX - 8192 && !f->in_flight &&
	    f->queued == 0)
		symbol_files_clear_cache(s, f);
	while (full(s) && old) {
		if (old != f && at_rest(old) && old->cache.count)
			symbol_files_clear_cache(s, old);
		old = old->newer;
	}
	if (full(s) && !f->in_flight && f->queued == 0)
		symbol_files_clear_cache(s, f);
	return s->addresses < s->addresses_max;
}

void symbol_files_deny(struct symbol_files *s, const struct symbol_file *f, uint64_t until_ms)
{
	s->denials[s->next_denial] = (struct symbol_denial){
		.device = f->device,
		.inode = f->inode,
		.size = f->size,
		.change_time = f->change_time,
		.until_ms = until_ms,
	};
	s->next_denial = (s->next_denial + 1) % SYMBOL_DENIALS;
}

uint64_t symbol_files_denied(const struct symbol_files *s, const struct symbol_file *f,
			     uint64_t now_ms)
{
	for (uint32_t i = 0; i < SYMBOL_DENIALS; i++) {
		const struct symbol_denial *d = &s->denials[i];

		if (d->until_ms > now_ms && d->device == f->device && d->inode == f->inode &&
		    d->size == f->size && d->change_time == f->change_time)
			return d->until_ms;
	}
	return 0;
}
