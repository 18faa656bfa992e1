/* SPDX-License-Identifier: Apache-2.0 */
/* pprof_reader: the state that pprof_read.c (fields) and pprof_resolve.c (references) share. */
#ifndef BELFRY_CLI_PPROF_READER_H
#define BELFRY_CLI_PPROF_READER_H

#include "cli/pprof.h"

#define IDS_ARRAY PPROF_ARRAY(uint64_t)

/*
 * References as they stand in the file. The tables that they point into may come later in the
 * file, so they are resolved when all of it has been read.
 */
struct reader {
	struct pprof *p;
	IDS_ARRAY mapping_ids; /* id of mappings[i] */
	IDS_ARRAY function_ids;
	IDS_ARRAY location_ids;
	IDS_ARRAY location_mappings; /* mapping id that locations[i] names */
	IDS_ARRAY line_functions;    /* function id that lines[i] names */
	IDS_ARRAY stack_ids;	     /* location ids of the samples, back to back */
	uint32_t sample_values;	     /* values of the first sample; each further one has as many */
	uint64_t seed;
	const char *problem;
};

/* Appends to an array of the reader, within the profile's budget. */
#define READER_APPEND(r, array, value)                                                             \
	do {                                                                                       \
		void *grown_ =                                                                     \
			budget_grow(&(r)->p->budget, (r)->array.items, &(r)->array.capacity,       \
				    (uint64_t)(r)->array.count + 1, sizeof(*(r)->array.items));    \
		if (grown_) {                                                                      \
			(r)->array.items = grown_;                                                 \
			(r)->array.items[(r)->array.count++] = (value);                            \
		} else {                                                                           \
			reader_fail(r, pprof_no_memory);                                           \
		}                                                                                  \
	} while (0)

/* Keeps the first problem; reading stops there. */
void reader_fail(struct reader *r, const char *problem);

/* Fails with `no memory` unless `ok`. */
void reader_check(struct reader *r, bool ok);

/* Turns every reference of a completely read profile into an index, or fails. */
void reader_resolve(struct reader *r);

extern const char pprof_no_memory[];

#endif
