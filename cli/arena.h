/* SPDX-License-Identifier: Apache-2.0 */
/* arena: small pieces of memory that are all given back at once, counted in a budget. */
#ifndef BELFRY_CLI_ARENA_H
#define BELFRY_CLI_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/memory_budget.h"

struct arena {
	struct memory_budget *budget; /* not owned */
	struct arena_block *blocks;
};

/* Unaligned bytes for text; NULL when the budget or the system has no room. */
void *arena_allocate(struct arena *a, uint32_t len);

/* Takes over a malloc()ed buffer. False when the budget has no room: still the caller's then. */
bool arena_adopt(struct arena *a, void *buffer, uint32_t len);

void arena_free(struct arena *a);

#endif
