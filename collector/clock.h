/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the collector's one clock, the one that the kernel stamps samples and side-band records
 * with. */
#ifndef BELFRY_COLLECTOR_CLOCK_H
#define BELFRY_COLLECTOR_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_MSEC 1000000ull

static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

#endif
