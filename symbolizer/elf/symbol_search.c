/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/symbol_search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/elf/frame_table.h"
#include "symbolizer/elf/string_table.h"

#define ENTRIES_AT_ONCE 10922u /* 256 KiB of table a read */
#define TIE_NAME_MAX	256u   /* bytes of a name that count when aliases are compared */
#define TIES_MAX                                                                                   \
	65536u /* comparisons by name: a file can give millions of aliases to one address */

struct candidate {
	bool present;
	bool function;
	uint8_t bind_rank; /* higher is better */
	enum symbol_table_kind table;
	uint64_t start;
	uint64_t end; /* start where the symbol has no size */
	uint64_t range_end;
	uint32_t name;
};

/* What is known so far about one address. */
struct slot {
	struct candidate sized;	   /* best that covers it */
	struct candidate sizeless; /* best whose first following address this is */
	uint64_t nearest; /* highest symbol start for which this is the first following address */
	bool has_nearest;
};

struct symbol_search {
	struct elf_file *file; /* not owned */
	struct symbol_table tables[SYMBOL_TABLE_KINDS];
	struct string_table *strings[SYMBOL_TABLE_KINDS];
	struct frame_table frames;
	uint32_t ties_left;
};

/* One run's arrays. */
struct run {
	const uint64_t *addresses;
	uint32_t count;
	struct slot *slots;
};

struct symbol_search *symbol_search_new(struct elf_file *e)
{
	struct symbol_search *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->file = e;
	s->ties_left = TIES_MAX;
	symbol_tables_find(e, s->tables);
	frame_table_find(&s->frames, e);
	for (int k = 0; k < SYMBOL_TABLE_KINDS; k++) {
		s->strings[k] = malloc(sizeof(*s->strings[k]));
		if (!s->strings[k]) {
			symbol_search_free(s);
			return NULL;
		}
		string_table_over(s->strings[k], &e->source, s->tables[k].strings_offset,
				  s->tables[k].strings_size);
	}
	return s;
}

void symbol_search_free(struct symbol_search *s)
{
	if (!s)
		return;
	for (int k = 0; k < SYMBOL_TABLE_KINDS; k++)
		free(s->strings[k]);
	free(s);
}

bool symbol_search_has(const struct symbol_search *s, enum symbol_table_kind table)
{
	/* Entry 0 is reserved and names nothing. */
	return s->tables[table].count > 1;
}

size_t symbol_search_name(struct symbol_search *s, const struct symbol_match *m, char *out,
			  size_t size)
{
	return string_table_get(s->strings[m->table], m->name, out, size);
}

static bool name_better(struct symbol_search *s, const struct candidate *a,
			const struct candidate *b)
{
	char x[TIE_NAME_MAX];
	char y[TIE_NAME_MAX];
	size_t x_len, y_len, x_lead, y_lead;

	if (a->table == b->table && a->name == b->name)
		return false;
	if (s->ties_left == 0)
		return false;
	s->ties_left--;
	x_len = string_table_get(s->strings[a->table], a->name, x, sizeof(x));
	y_len = string_table_get(s->strings[b->table], b->name, y, sizeof(y));
	if (x_len == 0 || y_len == 0)
		return x_len > y_len;
	x_lead = strspn(x, "_");
	y_lead = strspn(y, "_");
	if (x_lead != y_lead)
		return x_lead < y_lead;
	if (x_len != y_len)
		return x_len < y_len;
	return memcmp(x, y, x_len) < 0;
}

static bool candidate_better(struct symbol_search *s, const struct candidate *a,
			     const struct candidate *b)
{
	if (!b->present)
		return true;
	if (a->start != b->start)
		return a->start > b->start;
	if (a->table != b->table)
		return a->table < b->table;
	if (a->function != b->function)
		return a->function;
	if (a->bind_rank != b->bind_rank)
		return a->bind_rank > b->bind_rank;
	if (a->end != b->end)
		return a->end > b->end;
	return name_better(s, a, b);
}

static void consider(struct symbol_search *s, struct candidate *best, const struct candidate *c)
{
	if (candidate_better(s, c, best))
		*best = *c;
}

/*
 * ARM, AArch64 and RISC-V mark code and data by local symbols $a, $t, $d, $x, with or without a
 * suffix after a dot.
 */
static bool mapping_symbol(struct symbol_search *s, enum symbol_table_kind table,
			   const struct symbol_entry *e)
{
	uint16_t machine = s->file->machine;
	char name[4];

	if (e->type != STT_NOTYPE || e->bind != STB_LOCAL ||
	    (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV))
		return false;
	string_table_get(s->strings[table], e->name, name, sizeof(name));
	return name[0] == '$' && name[1] != '\0' && strchr("atdx", name[1]);
}

static bool names_code(const struct symbol_entry *e)
{
	if (e->type != STT_FUNC && e->type != STT_GNU_IFUNC && e->type != STT_NOTYPE)
		return false;
	return e->name != 0 && e->section != SHN_UNDEF && e->section != SHN_ABS &&
	       e->section != SHN_COMMON;
}

static uint8_t bind_rank(uint8_t bind)
{
	if (bind == STB_GLOBAL || bind == STB_GNU_UNIQUE)
		return 2;
	return bind == STB_WEAK;
}

/* First address at or after `start`; `count` when there is none. */
static uint32_t first_at(const struct run *r, uint64_t start)
{
	uint32_t low = 0;
	uint32_t high = r->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void visit(struct symbol_search *s, struct run *r, enum symbol_table_kind table,
		  const struct symbol_entry *e)
{
	const struct elf_code_range *range;
	struct candidate c;
	struct slot *slot;
	uint32_t first;

	if (!names_code(e))
		return;
	first = first_at(r, e->value);
	if (first == r->count)
		return;
	range = elf_file_code_at(s->file, e->value);
	if (!range || mapping_symbol(s, table, e))
		return;
	slot = &r->slots[first];
	if (!slot->has_nearest || e->value > slot->nearest)
		slot->nearest = e->value;
	slot->has_nearest = true;
	c = (struct candidate){
		.present = true,
		.function = e->type != STT_NOTYPE,
		.bind_rank = bind_rank(e->bind),
		.table = table,
		.start = e->value,
		.range_end = range->end,
		.name = e->name,
	};
	c.end = e->size < range->end - e->value ? e->value + e->size : range->end;
	if (e->size == 0)
		consider(s, &slot->sizeless, &c);
	for (uint32_t i = first; i < r->count && r->addresses[i] < c.end; i++)
		consider(s, &r->slots[i].sized, &c);
}

static const char *visit_table(struct symbol_search *s, struct run *r, enum symbol_table_kind table)
{
	const struct symbol_table *t = &s->tables[table];
	const char *why = NULL;
	uint8_t *chunk;

	if (t->count <= 1)
		return NULL;
	chunk = malloc(ENTRIES_AT_ONCE * SYMBOL_ENTRY_LEN);
	if (!chunk)
		return "no memory for the symbol table";
	for (uint32_t at = 1; at < t->count && !why;) {
		uint32_t n = t->count - at < ENTRIES_AT_ONCE ? t->count - at : ENTRIES_AT_ONCE;
		uint32_t bytes = n * SYMBOL_ENTRY_LEN;
		struct cursor c = cursor_over(chunk, bytes);

		if (!elf_source_read(&s->file->source, chunk, bytes,
				     t->offset + (uint64_t)at * SYMBOL_ENTRY_LEN)) {
			why = "symbol table ends after the file";
			break;
		}
		for (uint32_t i = 0; i < n; i++) {
			struct symbol_entry e = symbol_entry_take(&c);

			visit(s, r, table, &e);
		}
		at += n;
	}
	free(chunk);
	return why;
}

static struct symbol_match match_from(const struct candidate *c)
{
	return (struct symbol_match){
		.found = true,
		.table = c->table,
		.start = c->start,
		.end = c->end,
		.name = c->name,
	};
}

static bool sizeless_names(const struct symbol_search *s, const struct candidate *c,
			   uint64_t nearest, uint64_t address)
{
	if (!c->present || c->start != nearest || address >= c->range_end)
		return false;
	if (c->table == SYMBOL_TABLE_DYNAMIC)
		return address == c->start;
	/* The last label that a strip left must not name the functions behind it. */
	return !frame_table_starts_between(&s->frames, c->start, address);
}

/*
 * Symbols before an address were noted at the first address that follows them; here they are
 * carried on to the later ones.
 */
static void settle(struct symbol_search *s, const struct run *r, struct symbol_match *out)
{
	struct candidate sizeless = { 0 };
	uint64_t nearest = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct slot *slot = &r->slots[i];

		if (slot->has_nearest && slot->nearest > nearest)
			nearest = slot->nearest;
		if (slot->sizeless.present)
			consider(s, &sizeless, &slot->sizeless);
		if (slot->sized.present)
			out[i] = match_from(&slot->sized);
		else if (sizeless_names(s, &sizeless, nearest, r->addresses[i]))
			out[i] = match_from(&sizeless);
		else
			out[i] = (struct symbol_match){ 0 };
	}
}

const char *symbol_search_run(struct symbol_search *s, const uint64_t *addresses, uint32_t count,
			      struct symbol_match *out)
{
	struct run r = { .addresses = addresses, .count = count };
	const char *why = NULL;

	memset(out, 0, count * sizeof(*out));
	if (count == 0)
		return NULL;
	r.slots = calloc(count, sizeof(*r.slots));
	if (!r.slots)
		return "no memory for the symbol search";
	for (int k = 0; k < SYMBOL_TABLE_KINDS; k++) {
		const char *bad = visit_table(s, &r, (enum symbol_table_kind)k);

		why = why ? why : bad;
	}
	settle(s, &r, out);
	free(r.slots);
	return why;
}
