/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_mappings: the mappings of one profile. They get their ids when locations need them and are written last, when it is known
 * whether a name was found in them: has_functions says so truthfully. The main program's is always the first.
 */
#ifndef BELFRY_SYMBOLIZER_PROFILE_MAPPINGS_H
#define BELFRY_SYMBOLIZER_PROFILE_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/pprof.h"
#include "symbolizer/symbols.h"
#include "symbolizer/window.h"

struct profile_mapping_slot {
	uint32_t mapping; /* as in struct window_location, or PROFILE_MAPPING_NAME_ONLY */
	bool named;       /* a symbol was found for one of its locations */
};

/* The main program of a process. */
struct profile_main {
	const char *path; /* NULL until it is asked for, once: its target may have tens of thousands of mappings to look through */
	uint32_t mapping; /* index of the lowest of its mappings that was sampled, UINT32_MAX = none */
};

struct profile_mappings {
	const struct window *w;
	uint64_t *ids;     /* of each mapping of the window, in the profile of its process; 0 = not needed yet */
	struct profile_main *main_of; /* of each process */
	struct profile_mapping_slot *slots; /* of the profile under construction; id - 1 is the index */
	uint32_t count;
	uint64_t kernel_id;
	uint32_t process;
};

/* Looks through the window once. False when out of memory; free it all the same. */
bool profile_mappings_init(struct profile_mappings *m, const struct window *w);
void profile_mappings_free(struct profile_mappings *m);

/* Begins the profile of a process. */
void profile_mappings_begin(struct profile_mappings *m, uint32_t process);

/* Id for a location's mapping, 0 where it lies in none. `named`: its name is a symbol's. */
uint64_t profile_mappings_id(struct profile_mappings *m, uint32_t mapping, bool named);

void profile_mappings_write(const struct profile_mappings *m, struct pprof_encoder *e, struct symbols *s);

#endif
