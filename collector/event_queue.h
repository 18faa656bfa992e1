/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue: side-band events that wait until the samples before them have been seen, in time
 * order. So each sample finds its process as it was at the sample's time, although a ring of
 * samples is drained long after.
 */
#ifndef BELFRY_COLLECTOR_EVENT_QUEUE_H
#define BELFRY_COLLECTOR_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/mapping_set.h"
#include "collector/sideband_record.h"

struct queued_event {
	uint64_t time;
	enum sideband_type type; /* MMAP, EXEC, FORK, EXIT */
	uint32_t tgid;
	uint32_t tid;
	uint32_t parent_tgid;
	uint32_t loss_epoch; /* losses counted when it arrived */
	union {
		struct mapping mapping;	    /* MMAP; the queue is a user of its name */
		char comm[BELFRY_COMM_LEN]; /* EXEC */
	};
};

struct event_queue;

int event_queue_new(struct event_queue **out);

/* Puts it at its place in time. False when the queue is full or there is no memory: apply the
 * oldest first. */
bool event_queue_put(struct event_queue *q, const struct queued_event *e);

/* Takes the oldest one whose time is at most `until`. */
bool event_queue_take(struct event_queue *q, uint64_t until, struct queued_event *e);

void event_queue_free(struct event_queue *q);

#endif
