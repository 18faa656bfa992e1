/* SPDX-License-Identifier: Apache-2.0 */
/* perf_ring: the ring of one CPU's side-band event: opened, mapped, read record by record
 * (perf_event_open(2), "MMAP layout"). */
#ifndef BELFRY_COLLECTOR_PERF_RING_H
#define BELFRY_COLLECTOR_PERF_RING_H

#include <stdint.h>

#include "collector/sideband_record.h"

struct perf_ring;

/* Opens the event of `cpu` and maps its ring. Returns 0 or -errno (logged). */
int perf_ring_open(struct perf_ring **out, uint32_t cpu);

int perf_ring_fd(const struct perf_ring *r);

/* Bounds what perf_ring_next() gives to what is in the ring now, so that a storm cannot hold a
 * drain for ever. */
void perf_ring_begin(struct perf_ring *r);

/*
 * The next record, header included; valid until the next call, and then given back to the kernel.
 * Returns its length, 0 at the end, or -EBADMSG when the ring holds nonsense: its contents are then
 * dropped.
 */
int perf_ring_next(struct perf_ring *r, const uint8_t **record);

/* Gives the space of everything that was read back to the kernel. */
void perf_ring_end(struct perf_ring *r);

void perf_ring_close(struct perf_ring *r);

#endif
