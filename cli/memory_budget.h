/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_budget: arrays that grow within a stated number of bytes. A hostile profile may claim
 * anything; it gets this much and then a refusal.
 */
#ifndef BELFRY_CLI_MEMORY_BUDGET_H
#define BELFRY_CLI_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_budget {
	uint64_t limit; /* bytes */
	uint64_t used;
	uint64_t refused; /* requests above the limit, or that the system refused */
};

/*
 * Makes room for `needed` (>= 1) items of `size` bytes in the malloc()ed array `items`, which holds
 * *capacity of them now. Returns the array, perhaps moved; NULL, and nothing changed, when the
 * budget or the system has no room. New items are not cleared.
 */
void *budget_grow(struct memory_budget *b, void *items, uint32_t *capacity, uint64_t needed,
		  size_t size);

#endif
