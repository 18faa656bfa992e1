/* SPDX-License-Identifier: Apache-2.0 */
/* sampler: the BPF object in the kernel: loading it, its filters, its counters. Its ring is read by
 * drain. */
#ifndef BELFRY_COLLECTOR_SAMPLER_H
#define BELFRY_COLLECTOR_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/shared.h"

struct sampler;

struct sampler_options {
	uint32_t frequency;    /* samples a second and CPU */
	uint32_t cpus;	       /* CPUs that can be online */
	uint64_t table_memory; /* bytes that the maps whose size can vary may take together */
};

/* Sums over all CPUs, by enum sampler_counter. */
struct sampler_totals {
	uint64_t value[SAMPLER_COUNTERS];
};

/*
 * Loads program and maps; the object is inside this binary. When the kernel has no memory for the
 * maps, their budget is halved down to a floor, and the log says so. Needs CAP_BPF and CAP_PERFMON.
 * Returns 0 or -errno (logged).
 */
int sampler_load(struct sampler **out, const struct sampler_options *o);

int sampler_program_fd(const struct sampler *s);
int sampler_ring_fd(const struct sampler *s);
uint32_t sampler_ring_size(const struct sampler *s); /* bytes */

/* Samples of these are our own and left out. Return 0 or -errno. */
int sampler_exclude_uid(struct sampler *s, uint32_t uid);
int sampler_exclude_process(struct sampler *s, uint32_t tgid);

/*
 * A kind of filter is in force while it has entries. `descendants` is for FILTER_PROCESS. Adding
 * what is there and removing what is not are no errors. Return 0 or -errno (-E2BIG:
 * FILTER_ENTRIES_MAX entries are there).
 */
int sampler_filter_add(struct sampler *s, enum filter_kind kind, uint64_t key, bool descendants);
int sampler_filter_remove(struct sampler *s, enum filter_kind kind, uint64_t key);

/* Both read a mapping of the program's memory: no system call, no capability. */
void sampler_totals(const struct sampler *s, struct sampler_totals *out);
uint64_t sampler_cpu_events(const struct sampler *s, uint32_t cpu);

void sampler_free(struct sampler *s);

/* Bytes of ring that hold what all CPUs can take between two drains, a power of two. Exposed for
 * its test. */
uint32_t sampler_ring_size_for(const struct sampler_options *o);

#endif
