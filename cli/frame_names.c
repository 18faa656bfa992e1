// SPDX-License-Identifier: Apache-2.0
#include "cli/frame_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/index_table.h"

#define UNNAMED_MAX 160 /* bytes of module+0xoffset; a longer module name is cut at its front */

struct name_key {
	const struct frame_names *n;
	struct pprof_string name;
};

static bool name_equal(const void *key, uint32_t index)
{
	const struct name_key *k = key;
	const struct pprof_string *there = &k->n->names.items[index];

	return there->len == k->name.len && memcmp(there->text, k->name.text, k->name.len) == 0;
}

static bool names_append(struct frame_names *n, struct pprof_string name)
{
	void *grown = budget_grow(&n->budget, n->names.items, &n->names.capacity,
				  n->names.count + 1ull, sizeof(name));

	if (!grown)
		return false;
	n->names.items = grown;
	n->names.items[n->names.count++] = name;
	return true;
}

/* Number of the name; `copy` when its text does not outlive the call. INDEX_NONE without memory. */
static uint32_t name_number(struct frame_names *n, struct index_table *t, uint64_t seed,
			    struct pprof_string name, bool copy)
{
	struct name_key key = { n, name };
	uint64_t hash = hash_bytes(seed, name.text, name.len);
	uint32_t index = index_table_find(t, hash, name_equal, &key);
	char *text;

	if (index != INDEX_NONE)
		return index;
	if (copy) {
		text = arena_allocate(&n->arena, name.len);
		if (!text)
			return INDEX_NONE;
		memcpy(text, name.text, name.len);
		name.text = text;
	}
	index = n->names.count;
	return names_append(n, name) && index_table_add(t, hash, index) ? index : INDEX_NONE;
}

/* The last component of a mapping's path. */
static struct pprof_string module_name(const struct pprof *p, const struct pprof_mapping *m)
{
	struct pprof_string s = p->strings.items[m->filename];

	for (uint32_t i = s.len; s.len && s.text[0] == '/' && i > 0; i--)
		if (s.text[i - 1] == '/')
			return (struct pprof_string){ s.text + i, s.len - i };
	return s;
}

static struct pprof_string unnamed(const struct pprof *p, const struct pprof_location *l, char *out)
{
	struct pprof_string module = { "", 0 };
	uint64_t offset = l->address;
	int len;

	if (l->mapping != PPROF_NONE) {
		const struct pprof_mapping *m = &p->mappings.items[l->mapping];

		module = module_name(p, m);
		offset = l->address - m->start + m->offset;
	}
	if (module.len > UNNAMED_MAX - 32) {
		module.text += module.len - (UNNAMED_MAX - 32);
		module.len = UNNAMED_MAX - 32;
	}
	len = module.len ? snprintf(out, UNNAMED_MAX, "%.*s+0x%" PRIx64, (int)module.len,
				    module.text, offset)
			 : snprintf(out, UNNAMED_MAX, "0x%" PRIx64, l->address);
	return (struct pprof_string){ out, (uint32_t)len };
}

static struct pprof_string function_name(const struct pprof *p, const struct pprof_function *f)
{
	struct pprof_string name = p->strings.items[f->name];

	return name.len ? name : p->strings.items[f->system_name];
}

static bool name_location(struct frame_names *n, struct index_table *t, uint64_t seed,
			  uint32_t location)
{
	const struct pprof *p = n->p;
	const struct pprof_location *l = &p->locations.items[location];
	char buffer[UNNAMED_MAX];
	struct pprof_string name;

	for (uint32_t i = 0; i < l->line_count; i++) {
		uint32_t line = l->first_line + i;
		bool copy = false;

		name = function_name(p, &p->functions.items[p->lines.items[line].function]);
		if (!name.len) {
			name = unnamed(p, l, buffer);
			copy = true;
		}
		n->of_line[line] = name_number(n, t, seed, name, copy);
		if (n->of_line[line] == INDEX_NONE)
			return false;
	}
	if (l->line_count)
		return true;
	n->of_location[location] = name_number(n, t, seed, unnamed(p, l, buffer), true);
	return n->of_location[location] != INDEX_NONE;
}

bool frame_names_make(struct frame_names *n, const struct pprof *p)
{
	struct index_table t = { 0 };
	uint64_t seed = hash_seed();
	bool ok;

	*n = (struct frame_names){ .p = p, .budget = { .limit = PPROF_MEMORY_MAX } };
	n->arena.budget = &n->budget;
	n->of_line = calloc(p->lines.count + 1ull, sizeof(*n->of_line));
	n->of_location = calloc(p->locations.count + 1ull, sizeof(*n->of_location));
	ok = n->of_line && n->of_location;
	for (uint32_t i = 0; i < p->locations.count && ok; i++)
		ok = name_location(n, &t, seed, i);
	index_table_free(&t);
	return ok;
}

void frame_names_free(struct frame_names *n)
{
	free(n->names.items);
	free(n->of_line);
	free(n->of_location);
	arena_free(&n->arena);
}

uint32_t frame_count(const struct frame_names *n, uint32_t location)
{
	uint32_t lines = n->p->locations.items[location].line_count;

	return lines ? lines : 1;
}

uint32_t frame_name(const struct frame_names *n, uint32_t location, uint32_t i)
{
	const struct pprof_location *l = &n->p->locations.items[location];

	return l->line_count ? n->of_line[l->first_line + i] : n->of_location[location];
}
