// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frame_names.h"
#include "ipc/index_table.h"
#include "cli/sample_value.h"
#include "cli/terminal_text.h"

/* A line without its value. Samples that differ in labels only fall on the same one. */
struct line {
	const char *text; /* in the arena */
	uint32_t len;
	int64_t value;
};

struct folded {
	const struct frame_names *names;
	PPROF_ARRAY(struct line) lines;
	PPROF_ARRAY(char) draft; /* the line of the sample at hand */
	struct index_table table;
	struct memory_budget budget;
	struct arena arena;
	uint64_t seed;
};

static bool line_equal(const void *key, uint32_t index)
{
	const struct folded *f = key;
	const struct line *l = &f->lines.items[index];

	return l->len == f->draft.count && memcmp(l->text, f->draft.items, l->len) == 0;
}

/* Appends a name to the draft, after a semicolon unless it is the first. */
static bool draft_append(struct folded *f, struct pprof_string name)
{
	void *grown = budget_grow(&f->budget, f->draft.items, &f->draft.capacity,
				  f->draft.count + 1 + TERMINAL_TEXT_MAX(name.len), 1);

	if (!grown)
		return false;
	f->draft.items = grown;
	if (f->draft.count)
		f->draft.items[f->draft.count++] = ';';
	f->draft.count += (uint32_t)terminal_text_escape(name.text, name.len, 1,
							 f->draft.items + f->draft.count);
	return true;
}

/* Root first: the profile has the leaf first, and a location its innermost function first. */
static bool draft_stack(struct folded *f, const struct pprof_sample *s)
{
	const struct frame_names *n = f->names;
	struct pprof_string comm = pprof_sample_label(n->p, s, "comm");

	f->draft.count = 0;
	if (comm.len && !draft_append(f, comm))
		return false;
	for (uint32_t i = s->location_count; i-- > 0;) {
		uint32_t location = n->p->stack.items[s->first_location + i];

		for (uint32_t k = frame_count(n, location); k-- > 0;)
			if (!draft_append(f, n->names.items[frame_name(n, location, k)]))
				return false;
	}
	return true;
}

static bool add_line(struct folded *f, uint64_t hash, int64_t value)
{
	void *grown = budget_grow(&f->budget, f->lines.items, &f->lines.capacity,
				  f->lines.count + 1ull, sizeof(struct line));
	char *text = arena_allocate(&f->arena, f->draft.count);

	if (grown)
		f->lines.items = grown;
	if (!grown || !text || !index_table_add(&f->table, hash, f->lines.count))
		return false;
	memcpy(text, f->draft.items, f->draft.count);
	f->lines.items[f->lines.count++] = (struct line){ text, f->draft.count, value };
	return true;
}

static bool fold_sample(struct folded *f, const struct pprof_sample *s, int64_t value)
{
	uint64_t hash;
	uint32_t index;

	if (!draft_stack(f, s))
		return false;
	if (!f->draft.count) /* no stack and no name: nothing that a line could say */
		return true;
	hash = hash_bytes(f->seed, f->draft.items, f->draft.count);
	index = index_table_find(&f->table, hash, line_equal, f);
	if (index == INDEX_NONE)
		return add_line(f, hash, value);
	f->lines.items[index].value = sample_value_add(f->lines.items[index].value, value);
	return true;
}

static int line_compare(const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

static bool fold_samples(struct folded *f, uint32_t type)
{
	const struct pprof *p = f->names->p;

	for (uint32_t i = 0; i < p->samples.count; i++) {
		int64_t value = p->values.items[(size_t)i * p->sample_type_count + type];

		if (value && !fold_sample(f, &p->samples.items[i], value))
			return false;
	}
	return true;
}

static void write_lines(struct folded *f, FILE *out)
{
	if (f->lines.count)
		qsort(f->lines.items, f->lines.count, sizeof(*f->lines.items), line_compare);
	for (uint32_t i = 0; i < f->lines.count; i++) {
		fwrite(f->lines.items[i].text, 1, f->lines.items[i].len, out);
		fprintf(out, " %" PRId64 "\n", f->lines.items[i].value);
	}
}

bool report_folded(const struct pprof *p, uint32_t type, FILE *out)
{
	struct frame_names n;
	struct folded f = { .names = &n,
			    .budget = { .limit = PPROF_MEMORY_MAX },
			    .seed = hash_seed() };
	bool ok = frame_names_make(&n, p);

	f.arena.budget = &f.budget;
	ok = ok && fold_samples(&f, type);
	if (ok)
		write_lines(&f, out);
	index_table_free(&f.table);
	arena_free(&f.arena);
	free(f.lines.items);
	free(f.draft.items);
	frame_names_free(&n);
	return ok;
}
