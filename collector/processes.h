/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes: which processes there are, and what each has mapped. Kept by (tgid, start time), from
 * side-band events and, for a process that was there before us, from /proc/PID/maps. Tells the
 * stream about a process and its mappings before the first sample that needs them, and hands its
 * files to the broker.
 */
#ifndef BELFRY_COLLECTOR_PROCESSES_H
#define BELFRY_COLLECTOR_PROCESSES_H

#include <stdint.h>

#include "bpf/shared.h"
#include "collector/broker.h"
#include "collector/sideband_record.h"
#include "collector/stream.h"

struct processes;

struct processes_limits {
	uint32_t processes;	       /* known at once; the least recently sampled go first */
	uint32_t mappings_per_process; /* >= 16384 */
	uint32_t exit_grace_ms;	       /* how long an exited process stays known */
};

struct processes_counters {
	uint64_t known;
	uint64_t gone;		   /* announced from side-band events alone */
	uint64_t mappings_refused; /* above mappings_per_process */
	uint64_t evicted;
	uint64_t reused; /* same tgid, other start time */
};

int processes_new(struct processes **out, struct broker *broker, struct stream *stream,
		  const struct processes_limits *limits);

/* A decoded side-band record: mmap2, comm, fork, exit. Events of one drain come in time order. */
void processes_event(struct processes *p, const struct sideband_event *e);

/* Side-band records were lost: what is known of mappings may be stale, so it is read again at next
 * sight. */
void processes_events_lost(struct processes *p, uint64_t count);

/* Must run before stream_add_sample() of the same sample. */
void processes_before_sample(struct processes *p, const struct sample_record *s);

/* The symbolizer is a new one: tell it everything again, at next sight of each process. */
void processes_forget_announcements(struct processes *p);

/* Removes what has exited longer ago than the grace period. `now_ns`: CLOCK_MONOTONIC. */
void processes_expire(struct processes *p, uint64_t now_ns);

const struct processes_counters *processes_counters(const struct processes *p);

/* Forgets everything and tells nobody. */
void processes_free(struct processes *p);

#endif
