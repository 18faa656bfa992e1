// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Back to the line's beginning, and erase to its end (ECMA-48 EL). */
#define START_OF_LINE "\r\033[K"

struct progress progress_open(void)
{
	return (struct progress){ .terminal = isatty(STDERR_FILENO) };
}

void progress_show(struct progress *p, uint64_t elapsed_ms, const struct counters_record *counters)
{
	uint64_t lost;

	if (!p->terminal)
		return;
	fprintf(stderr, START_OF_LINE "recording %" PRIu64 " s", elapsed_ms / 1000);
	if (counters) {
		lost = counters->value[COLLECTOR_RING_FULL] +
		       counters->value[COLLECTOR_QUEUE_FULL] + counters->value[COLLECTOR_INVALID];
		fprintf(stderr, ", %" PRIu64 " samples taken, %" PRIu64 " lost",
			counters->value[COLLECTOR_TAKEN], lost);
	}
	fputs(" (Ctrl-C ends)", stderr);
	p->shown = true;
}

void progress_say(struct progress *p, const char *text)
{
	if (!p->terminal)
		return;
	fprintf(stderr, START_OF_LINE "%s", text);
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs(START_OF_LINE, stderr);
	p->shown = false;
}
