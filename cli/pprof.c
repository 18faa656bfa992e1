// SPDX-License-Identifier: Apache-2.0
#include "cli/pprof.h"

#include <stdlib.h>
#include <string.h>

void pprof_init(struct pprof *p)
{
	*p = (struct pprof){ .budget = { .limit = PPROF_MEMORY_MAX } };
	p->arena.budget = &p->budget;
}

void pprof_free(struct pprof *p)
{
	arena_free(&p->arena);
	free(p->strings.items);
	free(p->mappings.items);
	free(p->functions.items);
	free(p->locations.items);
	free(p->lines.items);
	free(p->samples.items);
	free(p->stack.items);
	free(p->labels.items);
	free(p->values.items);
	free(p->comments.items);
	pprof_init(p);
}

bool pprof_string_is(const struct pprof *p, uint32_t string, const char *text)
{
	const struct pprof_string *s = &p->strings.items[string];

	return s->len == strlen(text) && memcmp(s->text, text, s->len) == 0;
}

uint32_t pprof_shown_type(const struct pprof *p)
{
	const struct pprof_string *wanted;

	if (!p->sample_type_count)
		return 0;
	wanted = &p->strings.items[p->default_sample_type];
	for (uint32_t i = 0; wanted->len && i < p->sample_type_count; i++) {
		const struct pprof_string *s = &p->strings.items[p->sample_types[i].type];

		if (s->len == wanted->len && memcmp(s->text, wanted->text, s->len) == 0)
			return i;
	}
	return p->sample_type_count - 1;
}

struct pprof_string pprof_sample_label(const struct pprof *p, const struct pprof_sample *s,
				       const char *key)
{
	for (uint32_t i = 0; i < s->label_count; i++) {
		const struct pprof_label *l = &p->labels.items[s->first_label + i];

		if (l->str && pprof_string_is(p, l->key, key))
			return p->strings.items[l->str];
	}
	return (struct pprof_string){ "", 0 };
}
