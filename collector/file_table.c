/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/file_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ipc/file_channel.h"

TAILQ_HEAD(known_files, known_file);

struct file_table {
	uint32_t most;
	uint32_t count;
	uint64_t next_id;
	uint32_t mask; /* of the three hashes */
	struct known_file **by_mapped;
	struct known_file **by_identity;
	struct known_file **by_id;
	struct known_files lru; /* first: asked for least recently */
};

static uint32_t slot(const struct file_table *t, uint64_t device, uint64_t inode)
{
	return (uint32_t)((inode * 0x9e3779b97f4a7c15ull ^ device * 0xc2b2ae3d27d4eb4full) >> 32) &
	       t->mask;
}

static uint32_t slot_mapped(const struct file_table *t, const struct mapped_file *m)
{
	return slot(t, (uint64_t)m->device_major << 32 | m->device_minor, m->inode);
}

int file_table_new(struct file_table **out, uint32_t most)
{
	struct file_table *t = calloc(1, sizeof(*t));
	uint32_t slots = 64;

	if (!t)
		return -ENOMEM;
	while (slots < most && slots < 1u << 20)
		slots *= 2;
	t->most = most;
	t->mask = slots - 1;
	t->next_id = FILE_ID_FIRST;
	t->by_mapped = calloc(slots, sizeof(struct known_file *));
	t->by_identity = calloc(slots, sizeof(struct known_file *));
	t->by_id = calloc(slots, sizeof(struct known_file *));
	TAILQ_INIT(&t->lru);
	if (!t->by_mapped || !t->by_identity || !t->by_id) {
		file_table_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

struct known_file *file_table_by_mapping(struct file_table *t, const struct mapped_file *m)
{
	struct known_file *f = t->by_mapped[slot_mapped(t, m)];

	while (f && (f->mapped.inode != m->inode || f->mapped.device_major != m->device_major ||
		     f->mapped.device_minor != m->device_minor))
		f = f->next_mapped;
	return f;
}

struct known_file *file_table_by_identity(struct file_table *t, const struct file_identity *id)
{
	struct known_file *f = t->by_identity[slot(t, id->device, id->inode)];

	while (f && (f->id == FILE_ID_NONE || f->identity.device != id->device ||
		     f->identity.inode != id->inode || f->identity.size != id->size ||
		     f->identity.change_time != id->change_time))
		f = f->next_identity;
	return f;
}

struct known_file *file_table_by_id(struct file_table *t, uint64_t id)
{
	struct known_file *f = t->by_id[id & t->mask];

	while (f && f->id != id)
		f = f->next_id;
	return f;
}

static void link_mapped(struct file_table *t, struct known_file *f)
{
	struct known_file **head = &t->by_mapped[slot_mapped(t, &f->mapped)];

	f->next_mapped = *head; /* the newest is found first */
	*head = f;
}

static void unlink_mapped(struct file_table *t, struct known_file *f)
{
	struct known_file **at = &t->by_mapped[slot_mapped(t, &f->mapped)];

	while (*at != f)
		at = &(*at)->next_mapped;
	*at = f->next_mapped;
}

static void remove_file(struct file_table *t, struct known_file *f)
{
	struct known_file **at;

	unlink_mapped(t, f);
	if (f->id != FILE_ID_NONE) {
		at = &t->by_identity[slot(t, f->identity.device, f->identity.inode)];
		while (*at != f)
			at = &(*at)->next_identity;
		*at = f->next_identity;
		at = &t->by_id[f->id & t->mask];
		while (*at != f)
			at = &(*at)->next_id;
		*at = f->next_id;
	}
	TAILQ_REMOVE(&t->lru, f, lru);
	t->count--;
	free(f);
}

static bool make_room(struct file_table *t)
{
	struct known_file *f;

	if (t->count < t->most)
		return true;
	TAILQ_FOREACH(f, &t->lru, lru)
	{
		if (f->state != FILE_QUEUED && f->state != FILE_IN_FLIGHT) {
			remove_file(t, f);
			return true;
		}
	}
	return false;
}

struct known_file *file_table_add(struct file_table *t, const struct mapped_file *m,
				  const struct file_identity *id)
{
	struct known_file *f;
	uint32_t s;

	if (!make_room(t))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->mapped = *m;
	f->state = FILE_REFUSED_HERE;
	link_mapped(t, f);
	if (id) {
		f->id = t->next_id++;
		f->state = FILE_UNSENT;
		f->identity = *id;
		s = slot(t, id->device, id->inode);
		f->next_identity = t->by_identity[s];
		t->by_identity[s] = f;
		s = f->id & t->mask;
		f->next_id = t->by_id[s];
		t->by_id[s] = f;
	}
	TAILQ_INSERT_TAIL(&t->lru, f, lru);
	t->count++;
	return f;
}

void file_table_remap(struct file_table *t, struct known_file *f, const struct mapped_file *m)
{
	unlink_mapped(t, f);
	f->mapped = *m;
	link_mapped(t, f);
}

void file_table_touch(struct file_table *t, struct known_file *f)
{
	TAILQ_REMOVE(&t->lru, f, lru);
	TAILQ_INSERT_TAIL(&t->lru, f, lru);
}

void file_table_unsend(struct file_table *t)
{
	struct known_file *f;

	TAILQ_FOREACH(f, &t->lru, lru)
	{
		if (f->state == FILE_IN_FLIGHT || f->state == FILE_SENT ||
		    f->state == FILE_REJECTED)
			f->state = FILE_UNSENT;
	}
}

void file_table_free(struct file_table *t)
{
	struct known_file *f;

	while ((f = TAILQ_FIRST(&t->lru)) != NULL)
		remove_file(t, f);
	free(t->by_mapped);
	free(t->by_identity);
	free(t->by_id);
	free(t);
}
