/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing: a closed window on its way out. It waits for the workers' names, at most for a while, and is then encoded with what is
 * known. One window at a time: when the next is closed before the last is done, the last one goes out as it is.
 */
#ifndef BELFRY_SYMBOLIZER_CLOSING_H
#define BELFRY_SYMBOLIZER_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/profile_builder.h"

#define CLOSING_WAIT_MS 3000

struct closing {
	struct profile_builder builder;
	struct window *window; /* owned; NULL = nothing under way */
	uint64_t deadline_ms;  /* CLOCK_MONOTONIC */
	struct window_account last; /* of the window that went out last */
};

/* Takes the window over. */
void closing_begin(struct closing *c, struct window *w, uint64_t now_ms);

/* Encodes the window when its names are there, or time is up, or `at_once`. */
void closing_run(struct closing *c, uint64_t now_ms, bool at_once);

/* Milliseconds until closing_run() must be called without another event, -1 = never. */
int closing_timeout(const struct closing *c, uint64_t now_ms);

#endif
