/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sideband.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ipc/log_limit.h"
#include "collector/perf_ring.h"
#include "collector/sideband_record.h"
#include "ipc/log.h"

/* One CPU. `event` is the oldest one of it that has not been handed over; its name points into the
 * ring. */
struct lane {
	struct perf_ring *ring; /* NULL where the CPU is offline */
	bool pending;
	struct sideband_event event;
};

struct sideband {
	struct processes *processes;
	struct sideband_counters counters;
	struct log_limit bad_said;
	bool drained; /* the loop has begun: a CPU that is opened from now on has come online behind
			 our back */
	uint32_t cpus;
	struct lane lanes[];
};

int sideband_new(struct sideband **out, uint32_t cpus, struct processes *processes)
{
	struct sideband *s = calloc(1, sizeof(*s) + cpus * sizeof(s->lanes[0]));

	if (!s)
		return -ENOMEM;
	s->processes = processes;
	s->cpus = cpus;
	*out = s;
	return 0;
}

int sideband_open_cpu(struct sideband *s, uint32_t cpu)
{
	int rc;

	if (cpu >= s->cpus)
		return -EINVAL;
	if (s->lanes[cpu].ring)
		return 0;
	rc = perf_ring_open(&s->lanes[cpu].ring, cpu);
	/* What ran there between its coming online and now was not seen. */
	if (rc == 0 && s->drained)
		processes_events_lost(s->processes, 0);
	return rc;
}

void sideband_close_cpu(struct sideband *s, uint32_t cpu)
{
	if (cpu >= s->cpus || !s->lanes[cpu].ring)
		return;
	sideband_drain(s);
	perf_ring_close(s->lanes[cpu].ring);
	s->lanes[cpu].ring = NULL;
}

int sideband_poll_fd(const struct sideband *s, uint32_t cpu)
{
	return cpu < s->cpus && s->lanes[cpu].ring ? perf_ring_fd(s->lanes[cpu].ring) : -1;
}

static void count_bad(struct sideband *s, const char *wrong)
{
	s->counters.bad++;
	if (log_limit_passes(&s->bad_said))
		log_warn("sideband_bad", "%s", wrong);
}

/* Finds the lane's next event that is of use; losses are told at once. */
static void lane_advance(struct sideband *s, struct lane *l)
{
	const uint8_t *record;
	int len;

	l->pending = false;
	while (!l->pending) {
		const char *wrong;

		len = perf_ring_next(l->ring, &record);
		if (len == 0)
			return;
		if (len < 0) {
			count_bad(s, "side-band ring holds a record of an impossible length");
			processes_events_lost(s->processes, 0);
			return;
		}
		wrong = sideband_record_decode(record, (uint32_t)len, &l->event);
		if (wrong) {
			count_bad(s, wrong);
		} else if (l->event.type == SIDEBAND_LOST) {
			s->counters.lost += l->event.lost;
			processes_events_lost(s->processes, l->event.lost);
		} else {
			l->pending = l->event.type != SIDEBAND_IGNORED;
		}
	}
}

static struct lane *oldest_lane(struct sideband *s)
{
	struct lane *oldest = NULL;

	for (uint32_t i = 0; i < s->cpus; i++) {
		struct lane *l = &s->lanes[i];

		if (l->pending && (!oldest || l->event.time < oldest->event.time))
			oldest = l;
	}
	return oldest;
}

/* Each ring is in time order already, so all of them are merged: nothing has to be copied or
 * sorted. */
void sideband_drain(struct sideband *s)
{
	struct lane *l;

	s->drained = true;
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->lanes[i].ring)
			perf_ring_begin(s->lanes[i].ring);
	}
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->lanes[i].ring)
			lane_advance(s, &s->lanes[i]);
	}
	while ((l = oldest_lane(s)) != NULL) {
		processes_event(s->processes, &l->event);
		s->counters.events++;
		lane_advance(s, l);
	}
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->lanes[i].ring)
			perf_ring_end(s->lanes[i].ring);
	}
}

const struct sideband_counters *sideband_counters(const struct sideband *s)
{
	return &s->counters;
}

void sideband_free(struct sideband *s)
{
	for (uint32_t i = 0; i < s->cpus; i++) {
		if (s->lanes[i].ring)
			perf_ring_close(s->lanes[i].ring);
	}
	free(s);
}
