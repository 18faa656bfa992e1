// SPDX-License-Identifier: Apache-2.0
/* Strings, functions, mappings and locations of a merged profile: each kept once. */
#include "cli/pprof_merger.h"

#include <string.h>

#include "ipc/utf8.h"

static const char no_memory[] = "the merged profile needs more memory than the limit";

void merge_check(struct pprof_merge *m, bool ok)
{
	if (!ok && !m->problem)
		m->problem = no_memory;
}

/* What an equality callback is given: the result so far, and the item that is looked for. */
struct merge_key {
	const struct pprof *out;
	const void *item;
};

/* -- strings ----------------------------------------------------------------------------------- */

static bool string_equal(const void *key, uint32_t index)
{
	const struct merge_key *k = key;
	const struct pprof_string *s = k->item;
	const struct pprof_string *there = &k->out->strings.items[index];

	return s->len == there->len && memcmp(s->text, there->text, s->len) == 0;
}

static bool string_is_valid(struct pprof_string s)
{
	uint32_t code_point;
	uint32_t step;

	for (uint32_t i = 0; i < s.len; i += step) {
		step = utf8_decode(s.text + i, s.len - i, &code_point);
		if (!step)
			return false;
	}
	return true;
}

/*
 * A copy in which each byte that is not UTF-8 has become U+FFFD: receivers refuse a whole
 * profile for one bad string.
 */
static struct pprof_string string_repair(struct pprof_merge *m, struct pprof_string s)
{
	char *text = s.len <= UINT32_MAX / 3 ? arena_allocate(&m->out.arena, 3 * s.len) : NULL;
	uint32_t code_point;
	uint32_t len = 0;
	uint32_t step;

	if (!text) {
		m->problem = no_memory;
		return (struct pprof_string){ "", 0 };
	}
	for (uint32_t i = 0; i < s.len; i += step ? step : 1) {
		step = utf8_decode(s.text + i, s.len - i, &code_point);
		memcpy(text + len, step ? s.text + i : "\xef\xbf\xbd", step ? step : 3);
		len += step ? step : 3;
	}
	return (struct pprof_string){ text, len };
}

uint32_t merge_string(struct pprof_merge *m, struct pprof_string s)
{
	bool repaired = !string_is_valid(s);
	struct merge_key key = { &m->out, &s };
	uint64_t hash;
	uint32_t index;
	char *text;

	if (repaired)
		s = string_repair(m, s);
	hash = hash_bytes(m->seed, s.text, s.len);
	index = index_table_find(&m->strings, hash, string_equal, &key);
	if (index != INDEX_NONE)
		return index;
	if (!repaired) {
		text = arena_allocate(&m->out.arena, s.len);
		if (text && s.len)
			memcpy(text, s.text, s.len);
		s.text = text;
	}
	index = m->out.strings.count;
	merge_check(m, s.text && PPROF_APPEND(&m->out, strings, s) &&
			       index_table_add(&m->strings, hash, index));
	return index;
}

uint32_t merge_text(struct pprof_merge *m, const char *text)
{
	return merge_string(m, (struct pprof_string){ text, (uint32_t)strlen(text) });
}

/* -- functions, mappings, locations -------------------------------------------------------------
 */

static bool function_equal(const void *key, uint32_t index)
{
	const struct merge_key *k = key;
	const struct pprof_function *f = k->item;
	const struct pprof_function *there = &k->out->functions.items[index];

	return f->name == there->name && f->system_name == there->system_name &&
	       f->filename == there->filename && f->start_line == there->start_line;
}

static uint32_t merge_function(struct pprof_merge *m, struct pprof_function f)
{
	struct merge_key key = { &m->out, &f };
	uint64_t hash = hash_number(m->seed, (uint64_t)f.name << 32 | f.system_name);
	uint32_t index;

	hash = hash_number(hash_number(hash, f.filename), (uint64_t)f.start_line);
	index = index_table_find(&m->functions, hash, function_equal, &key);
	if (index != INDEX_NONE)
		return index;
	index = m->out.functions.count;
	merge_check(m, PPROF_APPEND(&m->out, functions, f) &&
			       index_table_add(&m->functions, hash, index));
	return index;
}

static bool mapping_equal(const void *key, uint32_t index)
{
	const struct merge_key *k = key;
	const struct pprof_mapping *p = k->item;
	const struct pprof_mapping *there = &k->out->mappings.items[index];

	return p->start == there->start && p->limit == there->limit && p->offset == there->offset &&
	       p->filename == there->filename && p->build_id == there->build_id;
}

/* What one profile could not name, the merged mapping does not claim to have. */
static void mapping_flags_join(struct pprof_mapping *there, const struct pprof_mapping *p)
{
	there->has_functions &= p->has_functions;
	there->has_filenames &= p->has_filenames;
	there->has_line_numbers &= p->has_line_numbers;
	there->has_inline_frames &= p->has_inline_frames;
}

static uint32_t merge_mapping(struct pprof_merge *m, struct pprof_mapping p)
{
	struct merge_key key = { &m->out, &p };
	uint64_t hash = hash_number(hash_number(m->seed, p.start), p.limit);
	uint32_t index;
	void *weights;

	hash = hash_number(hash_number(hash, p.offset), (uint64_t)p.filename << 32 | p.build_id);
	index = index_table_find(&m->mappings, hash, mapping_equal, &key);
	if (index != INDEX_NONE) {
		mapping_flags_join(&m->out.mappings.items[index], &p);
		return index;
	}
	index = m->out.mappings.count;
	weights = budget_grow(&m->out.budget, m->weights.items, &m->weights.capacity, index + 1ull,
			      sizeof(*m->weights.items));
	if (weights) {
		m->weights.items = weights;
		m->weights.items[index] = 0;
	}
	merge_check(m, weights && PPROF_APPEND(&m->out, mappings, p) &&
			       index_table_add(&m->mappings, hash, index));
	return index;
}

/* A location of the profile that is being added; its references are the result's. */
struct location_key {
	const struct pprof *out;
	struct pprof_location location;
	const struct pprof_line *lines; /* location.line_count */
};

static bool location_equal(const void *key, uint32_t index)
{
	const struct location_key *k = key;
	const struct pprof_location *l = &k->location;
	const struct pprof_location *there = &k->out->locations.items[index];

	if (l->address != there->address || l->mapping != there->mapping ||
	    l->line_count != there->line_count || l->is_folded != there->is_folded)
		return false;
	for (uint32_t i = 0; i < l->line_count; i++) {
		const struct pprof_line *line = &k->out->lines.items[there->first_line + i];

		if (line->function != k->lines[i].function || line->line != k->lines[i].line)
			return false;
	}
	return true;
}

static uint64_t location_hash(const struct pprof_merge *m, const struct location_key *k)
{
	uint64_t hash = hash_number(hash_number(m->seed, k->location.address), k->location.mapping);

	for (uint32_t i = 0; i < k->location.line_count; i++) {
		hash = hash_number(hash, k->lines[i].function);
		hash = hash_number(hash, (uint64_t)k->lines[i].line);
	}
	return hash;
}

/*
 * Appends the translated lines to the result's, where they stay if the location is new: the
 * key points at them.
 */
static uint32_t merge_location(struct pprof_merge *m, const struct translation *t,
			       const struct pprof_location *l)
{
	struct pprof *out = &m->out;
	struct location_key key = { out, *l, NULL };
	uint64_t hash;
	uint32_t index;

	key.location.first_line = out->lines.count;
	key.location.mapping = l->mapping == PPROF_NONE ? PPROF_NONE : t->mappings[l->mapping];
	for (uint32_t i = 0; i < l->line_count; i++) {
		struct pprof_line line = t->in->lines.items[l->first_line + i];

		line.function = t->functions[line.function];
		merge_check(m, PPROF_APPEND(out, lines, line));
	}
	if (m->problem)
		return INDEX_NONE;
	key.lines = PPROF_RANGE(out->lines, key.location.first_line, l->line_count);
	hash = location_hash(m, &key);
	index = index_table_find(&m->locations, hash, location_equal, &key);
	if (index != INDEX_NONE) {
		out->lines.count = key.location.first_line;
		return index;
	}
	index = out->locations.count;
	merge_check(m, PPROF_APPEND(out, locations, key.location) &&
			       index_table_add(&m->locations, hash, index));
	return index;
}

/* -- a whole profile ----------------------------------------------------------------------------
 */

void merge_tables(struct pprof_merge *m, struct translation *t)
{
	const struct pprof *in = t->in;

	for (uint32_t i = 0; i < in->strings.count && !m->problem; i++)
		t->strings[i] = merge_string(m, in->strings.items[i]);
	for (uint32_t i = 0; i < in->functions.count && !m->problem; i++) {
		struct pprof_function f = in->functions.items[i];

		f.name = t->strings[f.name];
		f.system_name = t->strings[f.system_name];
		f.filename = t->strings[f.filename];
		t->functions[i] = merge_function(m, f);
	}
	for (uint32_t i = 0; i < in->mappings.count && !m->problem; i++) {
		struct pprof_mapping p = in->mappings.items[i];

		p.filename = t->strings[p.filename];
		p.build_id = t->strings[p.build_id];
		t->mappings[i] = merge_mapping(m, p);
	}
	for (uint32_t i = 0; i < in->locations.count && !m->problem; i++)
		t->locations[i] = merge_location(m, t, &in->locations.items[i]);
}
