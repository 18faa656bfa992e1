// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal_text.h"

#define PATH_SHOWN_MAX 512

static void write_text(const struct pprof *p, uint32_t string, FILE *out)
{
	struct pprof_string s = p->strings.items[string];
	char escaped[TERMINAL_TEXT_MAX(PATH_SHOWN_MAX)];
	uint32_t len = s.len > PATH_SHOWN_MAX ? PATH_SHOWN_MAX : s.len;

	fwrite(escaped, 1, terminal_text_escape(s.text, len, 0, escaped), out);
	if (len < s.len)
		fputs("...", out);
}

static void write_mapping(const struct pprof *p, const struct pprof_mapping *m, uint32_t locations,
			  FILE *out)
{
	fprintf(out, "%16" PRIx64 "-%-16" PRIx64 " %8" PRIx64 " %9u %s%s%s%s ", m->start, m->limit,
		m->offset, locations, m->has_functions ? "F" : "-", m->has_filenames ? "f" : "-",
		m->has_line_numbers ? "l" : "-", m->has_inline_frames ? "i" : "-");
	if (m->build_id)
		write_text(p, m->build_id, out);
	else
		fputc('-', out);
	fputc(' ', out);
	write_text(p, m->filename, out);
	fputc('\n', out);
}

bool report_mappings(const struct pprof *p, FILE *out)
{
	uint32_t *locations = calloc(p->mappings.count + 1ull, sizeof(*locations));

	if (!locations)
		return false;
	for (uint32_t i = 0; i < p->locations.count; i++)
		if (p->locations.items[i].mapping != PPROF_NONE)
			locations[p->locations.items[i].mapping]++;
	fprintf(out, "%16s-%-16s %8s %9s %s %s %s\n", "start", "limit", "offset", "locations",
		"has ", "build-id", "file");
	for (uint32_t i = 0; i < p->mappings.count; i++)
		write_mapping(p, &p->mappings.items[i], locations[i], out);
	free(locations);
	return true;
}
