/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sideband: one dummy software event a CPU, whose ring brings what processes do: mmap, comm, exec,
 * fork, exit. Records are copied out of the rings, put into time order over all CPUs and handed to
 * processes.
 */
#ifndef BELFRY_COLLECTOR_SIDEBAND_H
#define BELFRY_COLLECTOR_SIDEBAND_H

#include <stdint.h>

#include "collector/processes.h"

struct sideband;

struct sideband_counters {
	uint64_t events; /* handed to processes */
	uint64_t lost;	 /* records that the kernel reports as lost */
	uint64_t bad;	 /* records whose layout was wrong */
};

/* `cpus`: how many CPUs the host can ever have (possible ones); bounds the table. Returns 0 or
 * -ENOMEM. */
int sideband_new(struct sideband **out, uint32_t cpus, struct processes *processes);

/*
 * Opens event and ring of one CPU that is online (needs CAP_PERFMON); its ring is halved until the
 * kernel's limit on locked memory lets it pass. Each descriptor becomes readable when its ring
 * holds records. Returns 0 or -errno (logged); a CPU that is open already is left alone.
 */
int sideband_open_cpu(struct sideband *s, uint32_t cpu);

/* Drains the ring of a CPU that has gone offline, then closes it. Harmless for one that is not
 * open. */
void sideband_close_cpu(struct sideband *s, uint32_t cpu);

/* Descriptor to poll for POLLIN, -1 where the CPU is not open. The caller sleeps >= 2 ms between
 * drains, so bursts batch. */
int sideband_poll_fd(const struct sideband *s, uint32_t cpu);

/*
 * Takes everything that was in the rings when the call began, decodes it, sorts all CPUs' events by
 * time and feeds processes_event(); losses go to processes_events_lost(). After it returns, every
 * event before the call is known.
 */
void sideband_drain(struct sideband *s);

const struct sideband_counters *sideband_counters(const struct sideband *s);

/* Closes all events and rings. */
void sideband_free(struct sideband *s);

#endif
