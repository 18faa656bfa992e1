// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_budget.h"

#include <stdlib.h>

#define FIRST_ITEMS 16

static uint64_t capacity_above(uint64_t capacity, uint64_t needed)
{
	uint64_t grown = capacity < FIRST_ITEMS ? FIRST_ITEMS : capacity + capacity / 2;

	return grown > needed ? grown : needed;
}

void *budget_grow(struct memory_budget *b, void *items, uint32_t *capacity, uint64_t needed,
		  size_t size)
{
	uint64_t grown;
	uint64_t extra;
	void *moved;

	if (needed <= *capacity)
		return items;
	grown = capacity_above(*capacity, needed);
	extra = (grown - *capacity) * size;
	if (grown > UINT32_MAX || extra > b->limit - b->used) {
		b->refused++;
		return NULL;
	}
	moved = realloc(items, grown * size);
	if (!moved) {
		b->refused++;
		return NULL;
	}
	b->used += extra;
	*capacity = (uint32_t)grown;
	return moved;
}
