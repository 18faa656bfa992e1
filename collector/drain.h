/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: takes samples out of the kernel's ring, checks the layout of each, has its process
 * announced, and adds it to the stream.
 */
#ifndef BELFRY_COLLECTOR_DRAIN_H
#define BELFRY_COLLECTOR_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "collector/processes.h"
#include "collector/stream.h"

struct drain;

struct drain_counters {
	uint64_t taken;	  /* records taken out of the ring, the held one included */
	uint64_t held;	  /* 1 while a record waits for the next drain */
	uint64_t invalid; /* records whose layout was wrong: dropped */
};

/* Maps the ring. Returns 0 or -errno. */
int drain_new(struct drain **out, int ring_fd, struct processes *processes, struct stream *stream);

/*
 * Takes every sample of CLOCK_MONOTONIC time `until` or earlier; the first later one is held back
 * and ends the drain, so that its mappings can be learnt first. Returns the bytes taken.
 */
uint64_t drain_run(struct drain *d, uint64_t until);

const struct drain_counters *drain_counters(const struct drain *d);

/* Returns NULL, or a constant sentence that names what is wrong with a ring record of `size` bytes.
 */
const char *drain_check_layout(const void *record, size_t size);

void drain_free(struct drain *d);

#endif
