/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/index_table.h"
#include "ipc/log.h"
#include "symbolizer/target_mappings.h"
#include "symbolizer/valid_text.h"

struct targets {
	struct targets_limits limits;
	struct targets_counters counters;
	struct target_memory memory;
	uint64_t seed;
	struct target **items; /* holes are NULL */
	uint32_t count;        /* slots of items in use, holes included */
	struct index_table table; /* (tgid, start time) -> slot; rebuilt when slots move */
};

struct target_key {
	const struct targets *t;
	uint32_t tgid;
	uint64_t start_time;
};

static bool key_equal(const void *key, uint32_t index)
{
	const struct target_key *k = key;
	const struct target *item = k->t->items[index];

	return item && item->tgid == k->tgid && item->start_time == k->start_time;
}

static uint64_t key_hash(const struct targets *t, uint32_t tgid, uint64_t start_time)
{
	return hash_number(hash_number(t->seed, tgid), start_time);
}

int targets_new(struct targets **out, const struct targets_limits *l)
{
	struct targets *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->limits = *l;
	t->memory = (struct target_memory){ .limit = l->memory, .limit_each = l->memory / 8 };
	t->seed = hash_seed();
	t->items = calloc(l->targets, sizeof(struct target *));
	if (!t->items) {
		free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void targets_free(struct targets *t)
{
	targets_reset(t);
	free(t->items);
	free(t);
}

void target_hold(struct target *t)
{
	t->users++;
}

void target_release(struct target *t)
{
	if (--t->users > 0)
		return;
	target_mappings_free(t);
	free(t);
}

/* Closes the holes and builds the table anew; holes are made in bulk, so this is rare. */
static void compact(struct targets *t)
{
	uint32_t kept = 0;

	index_table_free(&t->table);
	for (uint32_t i = 0; i < t->count; i++) {
		struct target *item = t->items[i];

		if (!item)
			continue;
		t->items[i] = NULL;
		if (!index_table_add(&t->table, key_hash(t, item->tgid, item->start_time), kept)) {
			t->counters.known--;
			target_release(item);
			continue;
		}
		t->items[kept++] = item;
	}
	t->count = kept;
}

static void remove_at(struct targets *t, uint32_t index)
{
	target_release(t->items[index]);
	t->items[index] = NULL;
	t->counters.known--;
}

/* The least useful first: the exited ones, each kind by its last sample. */
static int by_use(const void *a, const void *b)
{
	const struct target *x = *(const struct target *const *)a, *y = *(const struct target *const *)b;

	if ((x->exit_time == 0) != (y->exit_time == 0))
		return x->exit_time ? -1 : 1;
	return x->last_sample < y->last_sample ? -1 : x->last_sample > y->last_sample;
}

/* Makes room for a quarter and one at once, so that a full table does not sort for each newcomer. */
static void evict(struct targets *t)
{
	uint32_t goal = t->limits.targets - t->limits.targets / 4 - 1;

	compact(t);
	qsort(t->items, t->count, sizeof(struct target *), by_use);
	for (uint32_t i = 0; i < t->count && t->counters.known > goal; i++) {
		remove_at(t, i);
		t->counters.evicted++;
	}
	compact(t);
}

static struct target *find(struct targets *t, uint32_t tgid, uint64_t start_time)
{
	struct target_key key = { t, tgid, start_time };
	uint32_t index = index_table_find(&t->table, key_hash(t, tgid, start_time), key_equal, &key);

	return index == INDEX_NONE ? NULL : t->items[index];
}

static struct target *find_or_add(struct targets *t, uint32_t tgid, uint64_t start_time)
{
	struct target *item = find(t, tgid, start_time);

	if (item)
		return item;
	if (t->counters.known >= t->limits.targets)
		evict(t);
	if (t->count == t->limits.targets)
		compact(t);
	item = calloc(1, sizeof(*item));
	if (!item || !index_table_add(&t->table, key_hash(t, tgid, start_time), t->count)) {
		free(item);
		return NULL;
	}
	item->tgid = tgid;
	item->start_time = start_time;
	item->memory = &t->memory;
	item->users = 1;
	t->items[t->count++] = item;
	t->counters.known++;
	return item;
}

struct target *targets_of_sample(struct targets *t, const struct sample_record *s)
{
	struct target *item = find_or_add(t, s->tgid, s->start_time);

	if (!item)
		return NULL;
	item->last_sample = s->time;
	item->uid = s->uid;
	/* The sample's own word is the freshest: a process may rename itself. */
	valid_text_copy(s->process_comm, BELFRY_COMM_LEN, item->comm, sizeof(item->comm));
	return item;
}

/*
 * The process has become another program: samples of the one before keep the name and the path that it had then. Only what a
 * window holds is worth that, and a process that does nothing but exec gets no more than its share of profiles.
 */
static struct target *next_image(struct targets *t, struct target *item)
{
	struct target_key key = { t, item->tgid, item->start_time };
	uint32_t slot = index_table_find(&t->table, key_hash(t, item->tgid, item->start_time), key_equal, &key);
	struct target *next;

	if (item->users == 1 || item->images >= TARGET_IMAGES_MAX || slot == INDEX_NONE)
		return item;
	next = calloc(1, sizeof(*next));
	if (!next)
		return item;
	next->tgid = item->tgid;
	next->start_time = item->start_time;
	next->last_sample = item->last_sample;
	next->cgroup = item->cgroup;
	next->images = item->images + 1;
	next->memory = &t->memory;
	next->users = 1;
	t->items[slot] = next;
	target_release(item);
	return next;
}

void targets_process(struct targets *t, const struct process_record *r)
{
	struct target *item = find_or_add(t, r->tgid, r->start_time);

	if (!item)
		return;
	if (r->reason == PROCESS_EXEC)
		item = next_image(t, item);
	item->announced = true;
	item->uid = r->uid;
	if (!item->last_sample)
		item->last_sample = r->time;
	valid_text_copy(r->comm, BELFRY_COMM_LEN, item->comm, sizeof(item->comm));
	if (r->cgroup_len)
		cgroup_labels_read(r->cgroup, r->cgroup_len, &item->cgroup);
	/* Its mappings follow: all of them, or those of its new program. */
	target_mappings_retire(item, r->time);
}

void targets_mapping(struct targets *t, const struct mapping_record *r)
{
	struct target *item = find(t, r->tgid, r->start_time);

	if (item && target_mappings_add(item, r, t->limits.mappings))
		return;
	if (t->counters.mappings_refused++ == 0)
		log_warn("mapping_refused", "a mapping of process %" PRIu32 " was refused: %s", r->tgid,
			 item ? "too many mappings, or too long paths" : "the process is not known");
}

void targets_exit(struct targets *t, const struct exit_record *r)
{
	struct target *item = find(t, r->tgid, r->start_time);

	if (item)
		item->exit_time = r->time ? r->time : 1;
}

void targets_reset(struct targets *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i])
			remove_at(t, i);
	compact(t);
}

void targets_expire(struct targets *t, uint64_t before)
{
	bool removed = false;

	for (uint32_t i = 0; i < t->count; i++) {
		if (t->items[i] && t->items[i]->exit_time && t->items[i]->exit_time < before) {
			remove_at(t, i);
			removed = true;
		}
	}
	if (removed)
		compact(t);
}

struct targets_counters targets_counters(const struct targets *t)
{
	struct targets_counters c = t->counters;

	c.memory = t->memory.used;
	return c;
}
