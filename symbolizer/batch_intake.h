/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_intake: takes batches of the sample channel apart and counts them into the open window. Keeps the account: which range of
 * the collector's stream was covered, what of it came, what had to be given up and why.
 */
#ifndef BELFRY_SYMBOLIZER_BATCH_INTAKE_H
#define BELFRY_SYMBOLIZER_BATCH_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/targets.h"
#include "symbolizer/window.h"

/* The two clocks that windows are stamped with. */
struct window_clock {
	uint64_t real; /* ns since 1970 */
	uint64_t mono; /* CLOCK_MONOTONIC ns */
};

struct batch_counters {
	uint64_t batches;
	uint64_t bad_batches;  /* broke a rule; their samples are in the account */
	uint64_t old_batches;  /* numbered below what came already: ignored */
	uint64_t gaps;         /* times that samples were missing between two batches */
	uint64_t records;
};

/* Called with a window that has to be closed since another collector's stream begins. */
typedef void window_closed(void *context, struct window *w);

struct batch_intake {
	struct targets *targets;
	uint64_t window_budget;
	uint64_t symbolizer_id;
	window_closed *on_closed;
	void *context;
	struct window *open; /* owned; never NULL after batch_intake_start() */
	uint64_t windows;    /* numbered so far */
	uint64_t stream_id;  /* 0 = none yet */
	uint64_t next_sample;
	bool ended;          /* the collector said RECORD_END; the loop clears it */
	struct counters_record collector;
	struct batch_counters counters;
};

/* Opens the first window. The fields up to `context` must be set. Returns 0 or -ENOMEM. */
int batch_intake_start(struct batch_intake *b, struct window_clock now);

/* One message of the sample channel. */
void batch_intake_take(struct batch_intake *b, const uint8_t *data, size_t len, struct window_clock now);

/*
 * Closes the open window and opens the next. Returns the closed one (caller's now), or NULL when there is nothing to tell of
 * it, or no memory for the next.
 */
struct window *batch_intake_close_window(struct batch_intake *b, struct window_clock now);

#endif
