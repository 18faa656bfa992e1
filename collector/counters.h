/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters: what the collector's modules have counted, put together in one record. The law:
 *   TAKEN = RING_FULL + INVALID + QUEUE_FULL + SENT + HELD
 */
#ifndef BELFRY_COLLECTOR_COUNTERS_H
#define BELFRY_COLLECTOR_COUNTERS_H

#include "collector/broker.h"
#include "collector/drain.h"
#include "collector/processes.h"
#include "collector/sampler.h"
#include "collector/sideband.h"
#include "collector/stream.h"

struct counters_sources {
	const struct sampler *sampler;
	const struct drain *drain;
	const struct stream *stream;
	const struct broker *broker;
	const struct processes *processes;
	const struct sideband *sideband;
};

void counters_collect(const struct counters_sources *from, struct counters_record *out);

/* The part that has to do with samples, from plain numbers. Exposed for its test. */
void counters_account(struct counters_record *out, const struct sampler_totals *sampler,
		      const struct drain_counters *drain, uint64_t sent, uint64_t held,
		      uint64_t dropped);

#endif
