/* SPDX-License-Identifier: Apache-2.0 */
/* target_mappings: the mappings of one target over time. What is replaced is kept for a while, for samples that were taken before. */
#ifndef BELFRY_SYMBOLIZER_TARGET_MAPPINGS_H
#define BELFRY_SYMBOLIZER_TARGET_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/targets.h"

#define TARGET_PAST_MAX 256 /* replaced mappings that are kept */

/* Adds a mapping; what it overlaps ends at its time. False when the target's share, or that of all, is used up. */
bool target_mappings_add(struct target *t, const struct mapping_record *r, uint32_t limit);

/* All live mappings end at `time`: the program was replaced, or everything is told anew. */
void target_mappings_retire(struct target *t, uint64_t time);

void target_mappings_free(struct target *t);

#endif
