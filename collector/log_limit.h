/* SPDX-License-Identifier: Apache-2.0 */
/* log_limit: lets a message of one kind pass once a minute, since a hostile process can cause it at
 * will. Counters tell the rest. */
#ifndef BELFRY_COLLECTOR_LOG_LIMIT_H
#define BELFRY_COLLECTOR_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/clock.h"

#define LOG_LIMIT_NS (60 * NSEC_PER_SEC)

struct log_limit {
	uint64_t next_ns; /* CLOCK_MONOTONIC */
};

static inline bool log_limit_passes(struct log_limit *l)
{
	uint64_t now = clock_ns();

	if (now < l->next_ns)
		return false;
	l->next_ns = now + LOG_LIMIT_NS;
	return true;
}

#endif
