/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_merge: many profiles into one.
 *
 * Equal strings, functions, mappings and locations become one; samples with the same stack and the
 * same labels are summed. What told the profiles apart (their process) is kept as labels of every
 * sample. The result's ids are dense, its strings valid UTF-8, its time the earliest and its
 * duration the span of all.
 */
#ifndef BELFRY_CLI_PPROF_MERGE_H
#define BELFRY_CLI_PPROF_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/pprof.h"

#define PPROF_MERGE_LABELS_MAX 16

struct pprof_merge;

/* A label that all samples of one profile get, where they do not have that key already. */
struct pprof_merge_label {
	struct pprof_string key;
	struct pprof_string text; /* empty: `number` counts */
	int64_t number;
};

/* NULL when memory is out. */
struct pprof_merge *pprof_merge_new(void);
void pprof_merge_free(struct pprof_merge *m);

/*
 * Adds a profile, which is not needed afterwards. `preferred`: its main program is the
 * result's, whatever else was sampled more. Returns NULL, or a constant sentence; after one the
 * merge may hold a part of the profile and must not be written.
 */
const char *pprof_merge_add(struct pprof_merge *m, const struct pprof *p,
			    const struct pprof_merge_label *labels, uint32_t label_count,
			    bool preferred);

/*
 * What a recording without any sample measures, so that it is a valid profile all the same:
 * samples/count and cpu/nanoseconds at `period` ns, from `time` (ns since 1970) for `duration` ns.
 * Nothing happens where a profile has been added.
 */
const char *pprof_merge_default_types(struct pprof_merge *m, int64_t period, int64_t time,
				      int64_t duration);

/* Adds a comment line. */
const char *pprof_merge_comment(struct pprof_merge *m, const char *text);

/* Puts the main program's mapping first. The profile stays the merge's; only comments may still be
 * added. */
const struct pprof *pprof_merge_finish(struct pprof_merge *m);

#endif
