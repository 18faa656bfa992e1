// SPDX-License-Identifier: Apache-2.0
#include "cli/pprof.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_LEN (256u * 1024)

struct pprof_block {
	struct pprof_block *next;
	void *memory;
	uint32_t len;
	uint32_t used;
};

void pprof_init(struct pprof *p)
{
	*p = (struct pprof){ .budget = { .limit = PPROF_MEMORY_MAX } };
}

void pprof_free(struct pprof *p)
{
	while (p->blocks) {
		struct pprof_block *next = p->blocks->next;

		free(p->blocks->memory);
		free(p->blocks);
		p->blocks = next;
	}
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

bool pprof_adopt(struct pprof *p, void *buffer, uint32_t len)
{
	struct pprof_block *block;

	if (len > p->budget.limit - p->budget.used) {
		p->budget.refused++;
		return false;
	}
	block = malloc(sizeof(*block));
	if (!block)
		return false;
	*block = (struct pprof_block){ .next = p->blocks, .memory = buffer, .len = len, .used = len };
	p->blocks = block;
	p->budget.used += len;
	return true;
}

void *pprof_allocate(struct pprof *p, uint32_t len)
{
	struct pprof_block *block = p->blocks;
	uint32_t size = len > BLOCK_LEN ? len : BLOCK_LEN;
	void *memory;

	if (!block || len > block->len - block->used) {
		memory = malloc(size);
		if (!memory || !pprof_adopt(p, memory, size)) {
			free(memory);
			return NULL;
		}
		block = p->blocks;
		block->used = 0;
	}
	memory = (char *)block->memory + block->used;
	block->used += len;
	return memory;
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
