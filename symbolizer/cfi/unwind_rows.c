/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/unwind_rows.h"

#include <errno.h>
#include <stdlib.h>

/* Where an FDE lies; its content is read again when its turn comes, which is cheaper than keeping
 * it. */
struct fde_place {
	uint64_t start;
	uint64_t end;
	uint32_t offset; /* of the entry in its section */
	uint32_t order;	 /* section and position: among equal starts the first one counts */
};

struct fde_list {
	struct fde_place *places;
	uint32_t count;
	uint32_t capacity;
};

/* Passes rows on: cut to the part of the FDE that is its own, equal neighbours merged. */
struct row_output {
	cfa_row_callback *callback;
	void *context;
	struct unwind_counts *counts;
	uint64_t clip;		/* rows before are moved up to it */
	struct unwind_row last; /* not passed on yet: a row with the same pc may replace it */
	bool have_last;
	struct unwind_rule passed; /* rule of the row that was passed on last */
	bool have_passed;
};

static int append(struct fde_list *l, const struct fde_place *p)
{
	if (l->count == l->capacity) {
		uint32_t capacity = l->capacity ? l->capacity * 2 : 1024;
		struct fde_place *places = realloc(l->places, (size_t)capacity * sizeof(*places));

		if (!places)
			return -ENOMEM;
		l->places = places;
		l->capacity = capacity;
	}
	l->places[l->count++] = *p;
	return 0;
}

static int collect(const struct frame_section *s, uint32_t section, struct fde_list *l,
		   struct unwind_counts *counts)
{
	struct cursor at = cursor_over(s->data, s->len);

	for (;;) {
		struct fde_place place = { .offset = at.offset, .order = section << 30 | l->count };
		struct fde f;

		switch (frame_section_next(s, &at, &f)) {
		case FRAME_ENTRY_END:
			return 0;
		case FRAME_ENTRY_BROKEN:
			counts->invalid++;
			return 0;
		case FRAME_ENTRY_CIE:
			break;
		case FRAME_ENTRY_INVALID:
			counts->invalid++;
			break;
		case FRAME_ENTRY_EMPTY:
			counts->empty++;
			break;
		case FRAME_ENTRY_FDE:
			if (l->count == UNWIND_FDES_MAX) {
				counts->over_limit++;
				break;
			}
			place.start = f.start;
			place.end = f.end;
			counts->fdes++;
			if (append(l, &place))
				return -ENOMEM;
		}
	}
}

static int by_start(const void *a, const void *b)
{
	const struct fde_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void pass_on(struct row_output *o)
{
	if (!o->have_last)
		return;
	o->have_last = false;
	o->counts->rows++;
	if (o->have_passed && unwind_rule_equal(&o->passed, &o->last.rule))
		return;
	o->counts->merged_rows++;
	if (o->last.rule.cfa_kind == CFA_BAD)
		o->counts->bad[o->last.rule.bad]++;
	o->passed = o->last.rule;
	o->have_passed = true;
	o->callback(o->context, &o->last);
}

static void take_row(void *context, const struct unwind_row *row)
{
	struct row_output *o = context;
	uint64_t pc = row->pc > o->clip ? row->pc : o->clip;

	if (o->have_last && o->last.pc < pc)
		pass_on(o);
	o->last = (struct unwind_row){ .pc = pc, .rule = row->rule };
	o->have_last = true;
}

static void take_gap(struct row_output *o, uint64_t pc)
{
	const struct unwind_row gap = { .pc = pc, .rule = { .cfa_kind = CFA_GAP } };

	o->counts->gaps++;
	o->clip = pc;
	take_row(o, &gap);
}

static void emit_all(const struct frame_section *sections, const struct fde_list *l,
		     struct row_output *o)
{
	uint64_t covered = 0; /* everything below has its rows */

	for (uint32_t i = 0; i < l->count; i++) {
		const struct fde_place *p = &l->places[i];
		const struct frame_section *s = &sections[p->order >> 30];
		struct fde f;

		if (i > 0 && p->start < covered)
			o->counts->overlapped++;
		if (i > 0 && p->end <= covered)
			continue;
		if (i > 0 && p->start > covered)
			take_gap(o, covered);
		if (frame_section_at(s, p->offset, &f) != FRAME_ENTRY_FDE)
			continue;
		o->clip = i > 0 && covered > p->start ? covered : p->start;
		cfa_program_run(&f.cie, f.instructions, f.start, f.end, &s->bases, take_row, o);
		covered = p->end;
	}
	if (l->count > 0)
		take_gap(o, covered);
	pass_on(o);
}

int unwind_rows_build(const struct frame_section *sections, uint32_t section_count,
		      cfa_row_callback *callback, void *context, struct unwind_counts *counts)
{
	struct row_output o = { .callback = callback, .context = context, .counts = counts };
	struct fde_list l = { 0 };
	int error = 0;

	*counts = (struct unwind_counts){ 0 };
	for (uint32_t i = 0; i < section_count && i < UNWIND_SECTIONS_MAX && !error; i++)
		error = collect(&sections[i], i, &l, counts);
	if (!error && l.count > 0) {
		qsort(l.places, l.count, sizeof(*l.places), by_start);
		emit_all(sections, &l, &o);
	}
	free(l.places);
	return error;
}
