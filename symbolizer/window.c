/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/window.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/cursor.h"

#define TABLE_ENTRY_COST 16 /* bytes that an index table needs for each item */
#define STACK_MAX (BELFRY_KERNEL_FRAMES_MAX + BELFRY_USER_FRAMES_MAX + 3)

struct window *window_new(uint64_t budget, uint64_t now_real, uint64_t now_mono)
{
	struct window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->budget = budget;
	w->seed = hash_seed();
	w->start_time = now_real;
	w->start_mono = now_mono;
	return w;
}

static void free_contents(struct window *w)
{
	/* Paths before the targets that own them. */
	for (uint32_t i = 0; i < w->mappings.count; i++)
		target_path_release(window_mapping_at(w, i)->path);
	for (uint32_t i = 0; i < w->processes.count; i++)
		target_release(window_process_at(w, i)->target);
	index_table_free(&w->process_table);
	index_table_free(&w->mapping_table);
	index_table_free(&w->location_table);
	index_table_free(&w->stack_table);
	index_table_free(&w->entry_table);
	free(w->processes.items);
	free(w->mappings.items);
	free(w->locations.items);
	free(w->frames.items);
	free(w->stacks.items);
	free(w->entries.items);
}

void window_free(struct window *w)
{
	if (!w)
		return;
	free_contents(w);
	free(w);
}

void window_clear(struct window *w, uint64_t now_real, uint64_t now_mono)
{
	free_contents(w);
	*w = (struct window){ .budget = w->budget, .seed = w->seed, .start_time = now_real,
			      .start_mono = now_mono };
}

bool window_nearly_full(const struct window *w)
{
	return w->used > w->budget / 2 || w->largest_share > w->budget / 4;
}

/* False when the budget, or the process's half of it, is used up. */
static bool charge(struct window *w, struct window_process *p, uint64_t bytes)
{
	if (bytes > w->budget - w->used)
		return false;
	if (p && bytes > w->budget / 2 - p->used)
		return false;
	w->used += bytes;
	if (p)
		p->used += bytes;
	if (p && p->used > w->largest_share)
		w->largest_share = p->used;
	return true;
}

/* Room for `more` items. */
static bool array_room(struct window_array *a, uint32_t more, size_t size)
{
	uint64_t room = a->room ? a->room : 64;
	void *grown;

	while (room < (uint64_t)a->count + more)
		room *= 2;
	if (room == a->room)
		return true;
	if (room > UINT32_MAX)
		return false;
	grown = realloc(a->items, room * size);
	if (!grown)
		return false;
	a->items = grown;
	a->room = (uint32_t)room;
	return true;
}

/* ---- each kind of item is found by its contents, or added ------------------------------------------ */

struct lookup {
	const struct window *w;
	const void *item;
};

static bool process_equal(const void *key, uint32_t index)
{
	const struct lookup *l = key;

	return window_process_at(l->w, index)->target == l->item;
}

static uint32_t process_index(struct window *w, struct target *t)
{
	struct lookup l = { w, t };
	uint64_t hash = hash_number(w->seed, (uintptr_t)t);
	uint32_t index = index_table_find(&w->process_table, hash, process_equal, &l);

	if (index != INDEX_NONE)
		return index;
	index = w->processes.count;
	/* The target that it holds is its cost, too. */
	if (!charge(w, NULL, sizeof(struct window_process) + sizeof(*t) + TABLE_ENTRY_COST) ||
	    !array_room(&w->processes, 1, sizeof(struct window_process)) ||
	    !index_table_add(&w->process_table, hash, index))
		return INDEX_NONE;
	target_hold(t);
	*window_process_at(w, w->processes.count++) = (struct window_process){ .target = t };
	return index;
}

static bool mapping_equal(const void *key, uint32_t index)
{
	const struct lookup *l = key;
	const struct window_mapping *a = window_mapping_at(l->w, index), *b = l->item;

	return a->process == b->process && a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->file_id == b->file_id && a->path == b->path;
}

static uint32_t mapping_index(struct window *w, uint32_t process, const struct target_mapping *m)
{
	struct window_mapping wanted = { process, m->kind, m->start, m->end, m->offset, m->file_id, m->path };
	struct lookup l = { w, &wanted };
	uint64_t hash = hash_number(hash_number(w->seed ^ process, m->start), m->file_id);
	uint32_t index = index_table_find(&w->mapping_table, hash, mapping_equal, &l);

	if (index != INDEX_NONE)
		return index;
	index = w->mappings.count;
	if (!charge(w, window_process_at(w, process), sizeof(wanted) + TABLE_ENTRY_COST) ||
	    !array_room(&w->mappings, 1, sizeof(wanted)) ||
	    !index_table_add(&w->mapping_table, hash, index))
		return INDEX_NONE;
	m->path->users++;
	*window_mapping_at(w, w->mappings.count++) = wanted;
	return index;
}

static bool location_equal(const void *key, uint32_t index)
{
	const struct lookup *l = key;
	const struct window_location *a = window_location_at(l->w, index), *b = l->item;

	return a->process == b->process && a->mapping == b->mapping && a->address == b->address;
}

static uint32_t location_index(struct window *w, const struct window_location *wanted)
{
	struct lookup l = { w, wanted };
	uint64_t hash = hash_number(hash_number(w->seed, wanted->address),
				    (uint64_t)wanted->process << 32 | wanted->mapping);
	uint32_t index = index_table_find(&w->location_table, hash, location_equal, &l);

	if (index != INDEX_NONE)
		return index;
	index = w->locations.count;
	if (!charge(w, window_process_at(w, wanted->process), sizeof(*wanted) + TABLE_ENTRY_COST) ||
	    !array_room(&w->locations, 1, sizeof(*wanted)) ||
	    !index_table_add(&w->location_table, hash, index))
		return INDEX_NONE;
	*window_location_at(w, w->locations.count++) = *wanted;
	return index;
}

struct stack_lookup {
	const struct window *w;
	const uint32_t *frames;
	uint32_t count;
};

static bool stack_equal(const void *key, uint32_t index)
{
	const struct stack_lookup *l = key;
	const struct window_stack *s = window_stack_at(l->w, index);

	return s->count == l->count &&
	       memcmp(window_frames_at(l->w, s->first), l->frames, l->count * sizeof(uint32_t)) == 0;
}

static uint32_t stack_index(struct window *w, uint32_t process, const uint32_t *frames, uint32_t count)
{
	struct stack_lookup l = { w, frames, count };
	uint64_t hash = hash_bytes(w->seed, frames, count * sizeof(*frames));
	uint32_t index = index_table_find(&w->stack_table, hash, stack_equal, &l);

	if (index != INDEX_NONE)
		return index;
	index = w->stacks.count;
	if (!charge(w, window_process_at(w, process),
		    sizeof(struct window_stack) + TABLE_ENTRY_COST + count * sizeof(*frames)) ||
	    !array_room(&w->stacks, 1, sizeof(struct window_stack)) ||
	    !array_room(&w->frames, count, sizeof(*frames)) ||
	    !index_table_add(&w->stack_table, hash, index))
		return INDEX_NONE;
	*window_stack_at(w, w->stacks.count++) = (struct window_stack){ w->frames.count, count };
	memcpy((uint32_t *)w->frames.items + w->frames.count, frames, count * sizeof(*frames));
	w->frames.count += count;
	return index;
}

static bool entry_equal(const void *key, uint32_t index)
{
	const struct lookup *l = key;
	const struct window_entry *a = window_entry_at(l->w, index), *b = l->item;

	/* A full one is never the one: the next sample opens another. */
	return a->samples < UINT32_MAX && a->process == b->process && a->stack == b->stack &&
	       a->thread_id == b->thread_id &&
	       memcmp(a->thread_name, b->thread_name, sizeof(a->thread_name)) == 0;
}

static bool count_entry(struct window *w, const struct window_entry *wanted)
{
	struct lookup l = { w, wanted };
	uint64_t hash = hash_bytes(hash_number(hash_number(w->seed, (uint64_t)wanted->process << 32 |
								    wanted->stack),
					       wanted->thread_id),
				   wanted->thread_name, sizeof(wanted->thread_name));
	uint32_t index = index_table_find(&w->entry_table, hash, entry_equal, &l);

	if (index != INDEX_NONE) {
		window_entry_at(w, index)->samples++;
		return true;
	}
	index = w->entries.count;
	if (!charge(w, window_process_at(w, wanted->process), sizeof(*wanted) + TABLE_ENTRY_COST) ||
	    !array_room(&w->entries, 1, sizeof(*wanted)) ||
	    !index_table_add(&w->entry_table, hash, index))
		return false;
	*window_entry_at(w, w->entries.count++) = *wanted;
	return true;
}

/* ---- one sample ------------------------------------------------------------------------------------ */

struct stack_builder {
	struct window *w;
	uint32_t process;
	uint32_t count;
	bool full;
	uint32_t frames[STACK_MAX];
};

static void push(struct stack_builder *b, uint32_t mapping, uint64_t address)
{
	/* The kernel's addresses and the markers are the same for all processes, but a profile is of one. */
	struct window_location wanted = { b->process, mapping, address };
	uint32_t index = b->count < STACK_MAX ? location_index(b->w, &wanted) : INDEX_NONE;

	if (index == INDEX_NONE)
		b->full = true;
	else
		b->frames[b->count++] = index;
}

static void push_user(struct stack_builder *b, const struct target *t, uint64_t address, uint64_t time)
{
	const struct target_mapping *m = target_find(t, address, time);
	uint32_t mapping = m ? mapping_index(b->w, b->process, m) : 0;

	if (!m)
		push(b, WINDOW_UNMAPPED, address);
	else if (mapping == INDEX_NONE)
		b->full = true;
	else
		push(b, mapping + WINDOW_MAPPING_FIRST, address);
}

/* The marker at the root of a user stack that did not end as a stack should. */
static void push_status(struct stack_builder *b, const struct sample_record *s)
{
	switch (s->status) {
	case SAMPLE_STACK_TRUNCATED:
		push(b, WINDOW_MARKER, MARKER_TRUNCATED);
		break;
	case SAMPLE_STACK_READ_FAILED:
		push(b, WINDOW_MARKER, MARKER_UNREADABLE);
		break;
	case SAMPLE_STACK_IMPLAUSIBLE:
		/* Also how the walk ends in a C library without frame pointers, below a whole chain: only a bare leaf says so. */
		if (s->user_frames <= 1)
			push(b, WINDOW_MARKER, MARKER_IMPLAUSIBLE);
		break;
	case SAMPLE_STACK_NO_REGISTERS:
		push(b, WINDOW_MARKER, MARKER_NO_REGISTERS);
		break;
	default:
		break;
	}
}

/* Leaf first. A return address stands behind its call, which may be the function's last byte: the byte before it is looked up. */
static void build_stack(struct stack_builder *b, const struct target *t, const struct sample_record *s,
			const uint8_t *frames)
{
	struct cursor c = cursor_over(frames, 8u * ((uint32_t)s->kernel_frames + s->user_frames));

	for (uint32_t i = 0; i < s->kernel_frames; i++) {
		uint64_t address = cursor_u64(&c);

		push(b, WINDOW_KERNEL, i ? address - 1 : address);
	}
	if (s->flags & SAMPLE_FLAG_KERNEL_TRUNCATED)
		push(b, WINDOW_MARKER, MARKER_KERNEL_TRUNCATED);
	for (uint32_t i = 0; i < s->user_frames; i++) {
		uint64_t address = cursor_u64(&c);
		bool is_return_address = i > 0;

		push_user(b, t, is_return_address ? address - 1 : address, s->time);
	}
	push_status(b, s);
	if (b->count == 0 && !b->full)
		push(b, WINDOW_MARKER, MARKER_EMPTY);
}

bool window_add(struct window *w, struct target *t, const struct sample_record *s,
		const uint8_t *frames)
{
	struct stack_builder b = { .w = w, .process = process_index(w, t) };
	struct window_entry wanted = { .process = b.process, .thread_id = s->tid, .samples = 1 };

	if (b.process == INDEX_NONE)
		return false;
	build_stack(&b, t, s, frames);
	if (b.full)
		return false;
	wanted.stack = stack_index(w, b.process, b.frames, b.count);
	memcpy(wanted.thread_name, s->comm, sizeof(wanted.thread_name));
	if (wanted.stack == INDEX_NONE || !count_entry(w, &wanted))
		return false;
	window_process_at(w, b.process)->samples++;
	window_process_at(w, b.process)->last_time = s->time;
	return true;
}

void window_bind_late(struct window *w)
{
	for (uint32_t i = 0; i < w->locations.count; i++) {
		struct window_location *l = window_location_at(w, i);
		const struct window_process *p = window_process_at(w, l->process);
		const struct target_mapping *m;
		uint32_t mapping;

		if (l->mapping != WINDOW_UNMAPPED)
			continue;
		m = target_find(p->target, l->address, p->last_time);
		mapping = m ? mapping_index(w, l->process, m) : INDEX_NONE;
		/* The table no longer finds it under its new contents, but nothing is added to a closed window. */
		if (mapping != INDEX_NONE)
			window_location_at(w, i)->mapping = mapping + WINDOW_MAPPING_FIRST;
	}
}
