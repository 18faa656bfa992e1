/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/counters.h"

/*
 * Held = what waits here (stream, and the drain's one record) + what is in the ring still. The
 * ring's content is known by difference; it is 0 once sampling has stopped and the ring has been
 * drained, which the end of a run checks.
 */
void counters_account(struct counters_record *out, const struct sampler_totals *sampler,
		      const struct drain_counters *drain, uint64_t sent, uint64_t held,
		      uint64_t dropped)
{
	const uint64_t *v = sampler->value;

	out->value[COLLECTOR_EVENTS] = v[SAMPLER_EVENTS];
	out->value[COLLECTOR_IDLE] = v[SAMPLER_IDLE];
	out->value[COLLECTOR_AGENT] = v[SAMPLER_AGENT];
	out->value[COLLECTOR_FILTERED] = v[SAMPLER_FILTERED];
	out->value[COLLECTOR_TAKEN] = v[SAMPLER_TAKEN];
	out->value[COLLECTOR_RING_FULL] = v[SAMPLER_RING_FULL];
	out->value[COLLECTOR_INVALID] = drain->invalid;
	out->value[COLLECTOR_QUEUE_FULL] = dropped;
	out->value[COLLECTOR_SENT] = sent;
	out->value[COLLECTOR_HELD] =
		held + drain->held + (v[SAMPLER_TAKEN] - v[SAMPLER_RING_FULL] - drain->taken);
}

void counters_collect(const struct counters_sources *from, struct counters_record *out)
{
	const struct broker_counters *files = broker_counters(from->broker);
	const struct processes_counters *processes = processes_counters(from->processes);
	const struct sideband_counters *sideband = sideband_counters(from->sideband);
	struct sampler_totals totals;

	*out = (struct counters_record){ 0 };
	sampler_totals(from->sampler, &totals);
	counters_account(out, &totals, drain_counters(from->drain), stream_sent(from->stream),
			 stream_held(from->stream), stream_dropped(from->stream));
	out->value[COLLECTOR_FILES_SENT] = files->sent;
	out->value[COLLECTOR_FILES_REFUSED] = files->refused;
	out->value[COLLECTOR_FILES_FAILED] = files->failed;
	out->value[COLLECTOR_FILES_DEFERRED] = files->deferred;
	out->value[COLLECTOR_PEER_REFUSED] =
		files->peer_refused + stream_peers_refused(from->stream);
	out->value[COLLECTOR_SIDEBAND_LOST] = sideband->lost;
	out->value[COLLECTOR_SIDEBAND_BAD] = sideband->bad;
	out->value[COLLECTOR_PROCESSES] = processes->known;
	out->value[COLLECTOR_PROCESSES_GONE] = processes->gone;
}
