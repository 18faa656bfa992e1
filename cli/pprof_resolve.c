// SPDX-License-Identifier: Apache-2.0
/* References of a profile: ids to indexes, and every string in range. */
#include "ipc/index_table.h"
#include "cli/pprof_reader.h"

/* -- resolving ids to indexes ------------------------------------------------------------------ */

struct id_index {
	const uint64_t *ids;
	uint32_t count;
	bool in_order; /* ids are 1 .. count: no table needed */
	struct index_table table;
	uint64_t seed;
};

struct id_key {
	const uint64_t *ids;
	uint64_t id;
};

static bool id_equal(const void *key, uint32_t index)
{
	const struct id_key *k = key;

	return k->ids[index] == k->id;
}

static uint32_t id_find(const struct id_index *x, uint64_t id)
{
	struct id_key key = { x->ids, id };

	if (x->in_order)
		return id && id <= x->count ? (uint32_t)(id - 1) : INDEX_NONE;
	return index_table_find(&x->table, hash_number(x->seed, id), id_equal, &key);
}

static struct id_index id_index_make(struct reader *r, const uint64_t *ids, uint32_t count)
{
	struct id_index x = { .ids = ids, .count = count, .in_order = true, .seed = r->seed };

	for (uint32_t i = 0; i < count && x.in_order; i++)
		x.in_order = ids[i] == (uint64_t)i + 1;
	for (uint32_t i = 0; i < count && !x.in_order && !r->problem; i++) {
		if (!ids[i])
			reader_fail(r, "a mapping, location or function has the id 0");
		else if (id_find(&x, ids[i]) != INDEX_NONE)
			reader_fail(r, "two mappings, locations or functions have the same id");
		else
			reader_check(r, index_table_add(&x.table, hash_number(x.seed, ids[i]), i));
	}
	return x;
}

static void resolve_locations(struct reader *r)
{
	struct pprof *p = r->p;
	struct id_index mappings = id_index_make(r, r->mapping_ids.items, r->mapping_ids.count);

	for (uint32_t i = 0; i < p->locations.count && !r->problem; i++) {
		uint64_t id = r->location_mappings.items[i];

		/* An unknown mapping is taken as none, which is what google/pprof does. */
		p->locations.items[i].mapping = id ? id_find(&mappings, id) : PPROF_NONE;
	}
	index_table_free(&mappings.table);
}

static void resolve_lines(struct reader *r)
{
	struct pprof *p = r->p;
	struct id_index functions = id_index_make(r, r->function_ids.items, r->function_ids.count);

	for (uint32_t i = 0; i < p->lines.count && !r->problem; i++) {
		uint32_t function = id_find(&functions, r->line_functions.items[i]);

		if (function == INDEX_NONE)
			reader_fail(r, "a line names a function that is not there");
		p->lines.items[i].function = function;
	}
	index_table_free(&functions.table);
}

static void resolve_stacks(struct reader *r)
{
	struct pprof *p = r->p;
	struct id_index locations = id_index_make(r, r->location_ids.items, r->location_ids.count);

	for (uint32_t i = 0; i < r->stack_ids.count && !r->problem; i++) {
		uint32_t location = id_find(&locations, r->stack_ids.items[i]);

		if (location == INDEX_NONE)
			reader_fail(r, "a sample names a location that is not there");
		reader_check(r, PPROF_APPEND(p, stack, location));
	}
	index_table_free(&locations.table);
}

/* -- checking string references ---------------------------------------------------------------- */

static void check_string(struct reader *r, uint32_t string)
{
	if (string >= r->p->strings.count)
		reader_fail(r, "a string reference is out of range");
}

static void check_value_type(struct reader *r, const struct pprof_value_type *v)
{
	check_string(r, v->type);
	check_string(r, v->unit);
}

static void check_tables(struct reader *r)
{
	const struct pprof *p = r->p;

	for (uint32_t i = 0; i < p->mappings.count; i++) {
		check_string(r, p->mappings.items[i].filename);
		check_string(r, p->mappings.items[i].build_id);
	}
	for (uint32_t i = 0; i < p->functions.count; i++) {
		check_string(r, p->functions.items[i].name);
		check_string(r, p->functions.items[i].system_name);
		check_string(r, p->functions.items[i].filename);
	}
	for (uint32_t i = 0; i < p->labels.count; i++) {
		check_string(r, p->labels.items[i].key);
		check_string(r, p->labels.items[i].str);
		check_string(r, p->labels.items[i].unit);
	}
	for (uint32_t i = 0; i < p->comments.count; i++)
		check_string(r, p->comments.items[i]);
}

static void check_strings(struct reader *r)
{
	const struct pprof *p = r->p;

	if (!p->strings.count) {
		reader_fail(r, "not a profile: it has no string table");
		return;
	}
	for (uint32_t i = 0; i < p->sample_type_count; i++)
		check_value_type(r, &p->sample_types[i]);
	check_value_type(r, &p->period_type);
	check_string(r, p->drop_frames);
	check_string(r, p->keep_frames);
	check_string(r, p->default_sample_type);
	check_tables(r);
}

void reader_resolve(struct reader *r)
{
	if (r->p->samples.count && !r->p->sample_type_count)
		reader_fail(r, "the profile has samples, but no sample types");
	if (r->p->samples.count && r->sample_values != r->p->sample_type_count)
		reader_fail(r,
			    "a sample's number of values differs from the number of sample types");
	check_strings(r);
	resolve_locations(r);
	resolve_lines(r);
	resolve_stacks(r);
}
