// SPDX-License-Identifier: Apache-2.0
#include "cli/arena.h"

#include <stdlib.h>

#define BLOCK_LEN (256u * 1024)

struct arena_block {
	struct arena_block *next;
	void *memory;
	uint32_t len;
	uint32_t used;
};

bool arena_adopt(struct arena *a, void *buffer, uint32_t len)
{
	struct arena_block *block;

	if (len > a->budget->limit - a->budget->used) {
		a->budget->refused++;
		return false;
	}
	block = malloc(sizeof(*block));
	if (!block)
		return false;
	*block = (struct arena_block){
		.next = a->blocks, .memory = buffer, .len = len, .used = len
	};
	a->blocks = block;
	a->budget->used += len;
	return true;
}

void *arena_allocate(struct arena *a, uint32_t len)
{
	struct arena_block *block = a->blocks;
	uint32_t size = len > BLOCK_LEN ? len : BLOCK_LEN;
	void *memory;

	if (!block || len > block->len - block->used) {
		memory = malloc(size);
		if (!memory || !arena_adopt(a, memory, size)) {
			free(memory);
			return NULL;
		}
		block = a->blocks;
		block->used = 0;
	}
	memory = (char *)block->memory + block->used;
	block->used += len;
	return memory;
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks->memory);
		free(a->blocks);
		a->blocks = next;
	}
}
