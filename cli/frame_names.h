/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names: what each frame of a profile is called: its function, else module+0xoffset, else the
 * address. Equal names have equal numbers, so that a report can add them up.
 */
#ifndef BELFRY_CLI_FRAME_NAMES_H
#define BELFRY_CLI_FRAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/arena.h"
#include "cli/pprof.h"

struct frame_names {
	const struct pprof *p; /* not owned; must outlive this */
	PPROF_ARRAY(struct pprof_string) names;
	uint32_t *of_line;     /* name of lines[i] */
	uint32_t *of_location; /* name of locations[i], where it has no line */
	struct memory_budget budget;
	struct arena arena;
};

/* False when memory is out. frame_names_free() in either case. */
bool frame_names_make(struct frame_names *n, const struct pprof *p);
void frame_names_free(struct frame_names *n);

/* Frames that a location stands for: one, or as many as functions were inlined into one another. */
uint32_t frame_count(const struct frame_names *n, uint32_t location);

/* Name of frame `i` of a location, innermost first. */
uint32_t frame_name(const struct frame_names *n, uint32_t location, uint32_t i);

#endif
