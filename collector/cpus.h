/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus: keeps a clock event and a side-band ring open on every CPU that is online, and follows CPUs
 * that go and come.
 */
#ifndef BELFRY_COLLECTOR_CPUS_H
#define BELFRY_COLLECTOR_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/perf_events.h"
#include "collector/processes.h"
#include "collector/sampler.h"
#include "collector/sideband.h"

struct cpus;

struct cpus_parts {
	const struct sampler *sampler;
	struct perf_events *events;
	struct sideband *sideband;
	struct processes *processes;
	uint32_t count; /* from cpus_possible() */
	uint32_t frequency;
};

/* How many CPUs the host can ever have online (highest number + 1), 0 when sysfs does not tell
 * (logged). */
uint32_t cpus_possible(void);

/* Opens everything on the CPUs that are online now. Returns 0, or -errno when not one clock event
 * opened. */
int cpus_open(struct cpus **out, const struct cpus_parts *parts);

/*
 * Reads again which CPUs are online: closes what is gone, opens what came back (needs CAP_PERFMON).
 * A CPU whose event has stopped ticking is opened anew: it was off and on again between two looks.
 * Once a second is enough.
 */
void cpus_follow(struct cpus *c, uint64_t now_ms, bool sampling);

void cpus_free(struct cpus *c);

#endif
