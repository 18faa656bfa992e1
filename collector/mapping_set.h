/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping_set: the executable mappings of one process, sorted, without overlaps. A fork shares its
 * parent's set until one of the two changes it.
 */
#ifndef BELFRY_COLLECTOR_MAPPING_SET_H
#define BELFRY_COLLECTOR_MAPPING_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/mapped_names.h"

struct mapping {
	uint64_t start; /* [start, end) */
	uint64_t end;
	uint64_t offset; /* in the file, of start */
	uint64_t time;	 /* CLOCK_MONOTONIC ns from which it is valid, 0 = from the start */
	uint64_t serial; /* grows with each mapping added to any set: what a process has announced
			    up to */
	struct mapped_name *name; /* the set is one of its users */
};

struct mapping_set {
	uint32_t users;
	uint32_t count;
	uint32_t capacity;
	uint64_t newest; /* greatest serial inside */
	struct mapping at[];
};

/* An empty set, with one user. NULL when there is no memory. */
struct mapping_set *mapping_set_new(void);

struct mapping_set *mapping_set_share(struct mapping_set *s);
void mapping_set_release(struct mapping_set *s, struct mapped_names *names);

enum mapping_added {
	MAPPING_ADDED = 0,
	MAPPING_KNOWN,	 /* was there already, the same */
	MAPPING_NO_ROOM, /* the set holds `most`, or there is no memory; m->name was released */
};

/*
 * Adds `m`, which replaces whatever it overlaps (munmap is not told to us: newer wins); the set
 * takes over the use of m->name. A shared set is copied first: *s may change.
 */
enum mapping_added mapping_set_add(struct mapping_set **s, const struct mapping *m, uint32_t most,
				   struct mapped_names *names);

/* Gives mappings of `s` that `old` has as well the time and serial that they have there. */
void mapping_set_keep_told(struct mapping_set *s, const struct mapping_set *old);

/* True when every mapping of `a` is in `b` as well. */
bool mapping_set_is_within(const struct mapping_set *a, const struct mapping_set *b);

#endif
