/* SPDX-License-Identifier: Apache-2.0 */
/* progress: one line on standard error while a recording runs, when that is a terminal. */
#ifndef BELFRY_CLI_PROGRESS_H
#define BELFRY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/sample_channel.h"

struct progress {
	bool terminal;
	bool shown; /* a line stands there now */
};

struct progress progress_open(void);

/* `counters` may be NULL: not told yet. */
void progress_show(struct progress *p, uint64_t elapsed_ms, const struct counters_record *counters);

/* Says what happens instead of the counters, e.g. "stopping". */
void progress_say(struct progress *p, const char *text);

/* Removes the line, so that other text can be written. */
void progress_clear(struct progress *p);

#endif
