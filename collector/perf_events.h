/* SPDX-License-Identifier: Apache-2.0 */
/* perf_events: one software clock event a CPU, each running the sampler program at the sampling
 * frequency. */
#ifndef BELFRY_COLLECTOR_PERF_EVENTS_H
#define BELFRY_COLLECTOR_PERF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_events;

/* `wanted` Hz, lowered to what kernel.perf_event_max_sample_rate allows (a warning says so). */
uint32_t perf_events_frequency(uint32_t wanted);

/* `cpus`: how many CPUs the host can ever have. Nothing is opened yet. Returns 0 or -ENOMEM. */
int perf_events_new(struct perf_events **out, uint32_t cpus, uint32_t frequency, int program_fd);

/*
 * Opens the event of one CPU that is online (needs CAP_PERFMON), disabled unless
 * perf_events_enable() was called. Returns 0 or -errno (logged); a CPU that is open already is left
 * alone.
 */
int perf_events_open_cpu(struct perf_events *e, uint32_t cpu);

void perf_events_close_cpu(struct perf_events *e, uint32_t cpu);

bool perf_events_is_open(const struct perf_events *e, uint32_t cpu);

/* Needs no capability. After perf_events_disable() returns, the program runs nowhere any more. */
void perf_events_enable(struct perf_events *e);
void perf_events_disable(struct perf_events *e);

void perf_events_free(struct perf_events *e);

#endif
