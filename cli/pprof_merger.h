/* SPDX-License-Identifier: Apache-2.0 */
/* pprof_merger: the state that pprof_merge.c (samples, profiles) and pprof_merge_tables.c share. */
#ifndef BELFRY_CLI_PPROF_MERGER_H
#define BELFRY_CLI_PPROF_MERGER_H

#include "ipc/index_table.h"
#include "cli/pprof_merge.h"

struct pprof_merge {
	struct pprof out;
	struct index_table strings;
	struct index_table functions;
	struct index_table mappings;
	struct index_table locations;
	struct index_table samples;
	PPROF_ARRAY(uint64_t)
	weights;	    /* weights[i]: samples of processes whose main program is mapping i */
	uint32_t preferred; /* main mapping of a preferred profile, or PPROF_NONE */
	uint64_t seed;
	bool started; /* a profile has set the sample types */
	int64_t end;  /* ns since 1970: latest end of a profile */
	const char *problem;
};

/* Where the items of the profile that is being added are in the result. */
struct translation {
	const struct pprof *in;
	uint32_t *strings;
	uint32_t *functions;
	uint32_t *mappings;
	uint32_t *locations;
};

/* Keeps "no memory" as the problem unless `ok`. */
void merge_check(struct pprof_merge *m, bool ok);

/* Index of the string in the result, repaired where it is not UTF-8. */
uint32_t merge_string(struct pprof_merge *m, struct pprof_string s);
uint32_t merge_text(struct pprof_merge *m, const char *text);

/* Puts all tables of t->in into the result and fills the translation. */
void merge_tables(struct pprof_merge *m, struct translation *t);

#endif
