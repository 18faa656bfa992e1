/* SPDX-License-Identifier: Apache-2.0 */
/* log_limit: lets a message of one kind pass once a minute, since a hostile process can cause it at
 * will. Counters tell the rest. */
#ifndef BELFRY_IPC_LOG_LIMIT_H
#define BELFRY_IPC_LOG_LIMIT_H

#include <stdbool.h>
#include <time.h>

#define LOG_LIMIT_SECONDS 60

struct log_limit {
	time_t next; /* CLOCK_MONOTONIC */
};

static inline bool log_limit_passes(struct log_limit *l)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < l->next)
		return false;
	l->next = now.tv_sec + LOG_LIMIT_SECONDS;
	return true;
}

#endif
