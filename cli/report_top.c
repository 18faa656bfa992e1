// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/frame_names.h"
#include "cli/sample_value.h"
#include "cli/terminal_text.h"

#define NAME_SHOWN_MAX 160 /* bytes of a function name in the table */

struct row {
	uint32_t name;
	uint32_t last_sample; /* 1-based: the sample that was counted last, so that recursion counts
				 once */
	int64_t flat;
	int64_t cumulative;
};

static int row_compare(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->flat != y->flat)
		return x->flat > y->flat ? -1 : 1;
	if (x->cumulative != y->cumulative)
		return x->cumulative > y->cumulative ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void count_sample(const struct frame_names *n, struct row *rows, uint32_t number,
			 int64_t value)
{
	const struct pprof_sample *s = &n->p->samples.items[number];
	const uint32_t *stack = PPROF_RANGE(n->p->stack, s->first_location, s->location_count);

	for (uint32_t i = 0; i < s->location_count; i++) {
		uint32_t frames = frame_count(n, stack[i]);

		for (uint32_t f = 0; f < frames; f++) {
			struct row *row = &rows[frame_name(n, stack[i], f)];

			if (i == 0 && f == 0)
				row->flat = sample_value_add(row->flat, value);
			if (row->last_sample != number + 1)
				row->cumulative = sample_value_add(row->cumulative, value);
			row->last_sample = number + 1;
		}
	}
}

static void write_name(struct pprof_string name, FILE *out)
{
	char escaped[TERMINAL_TEXT_MAX(NAME_SHOWN_MAX)];
	uint32_t len = name.len > NAME_SHOWN_MAX ? NAME_SHOWN_MAX : name.len;

	/* Not through the middle of a character. */
	while (len < name.len && len > 0 && ((unsigned char)name.text[len] & 0xc0) == 0x80)
		len--;
	fwrite(escaped, 1, terminal_text_escape(name.text, len, 0, escaped), out);
	fputs(len < name.len ? "...\n" : "\n", out);
}

static double percent(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void write_rows(const struct frame_names *n, const struct row *rows, uint32_t count,
		       int64_t total, struct pprof_string unit, FILE *out)
{
	int64_t sum = 0;

	fprintf(out, "%10s %7s %7s %10s %7s  %s\n", "flat", "flat%", "sum%", "cum", "cum%",
		"function");
	for (uint32_t i = 0; i < count; i++) {
		char flat[SAMPLE_VALUE_MAX];
		char cumulative[SAMPLE_VALUE_MAX];

		sum = sample_value_add(sum, rows[i].flat);
		sample_value_format(rows[i].flat, unit, flat);
		sample_value_format(rows[i].cumulative, unit, cumulative);
		fprintf(out, "%10s %6.2f%% %6.2f%% %10s %6.2f%%  ", flat,
			percent(rows[i].flat, total), percent(sum, total), cumulative,
			percent(rows[i].cumulative, total));
		write_name(n->names.items[rows[i].name], out);
	}
}

static int64_t count_samples(const struct frame_names *n, uint32_t type, struct row *rows)
{
	const struct pprof *p = n->p;
	int64_t total = 0;

	for (uint32_t i = 0; i < n->names.count; i++)
		rows[i].name = i;
	for (uint32_t i = 0; i < p->samples.count; i++) {
		int64_t value = p->values.items[(size_t)i * p->sample_type_count + type];

		total = sample_value_add(total, value);
		count_sample(n, rows, i, value);
	}
	return total;
}

bool report_top(const struct pprof *p, uint32_t type, uint32_t rows_wanted, FILE *out)
{
	struct pprof_string unit = p->strings.items[p->sample_types[type].unit];
	struct frame_names n;
	struct row *rows = NULL;
	bool ok = frame_names_make(&n, p);
	int64_t total;

	if (ok)
		rows = calloc(n.names.count + 1ull, sizeof(*rows));
	if (rows) {
		total = count_samples(&n, type, rows);
		qsort(rows, n.names.count, sizeof(*rows), row_compare);
		if (rows_wanted > n.names.count)
			rows_wanted = n.names.count;
		write_rows(&n, rows, rows_wanted, total, unit, out);
	}
	ok = rows != NULL;
	free(rows);
	frame_names_free(&n);
	return ok;
}
