/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: gathers records into batches of up to 64 KiB and hands them to the sample channel. Never
 * blocks: batches wait in a bounded queue; when it is full the newest batch's samples are dropped
 * and counted.
 */
#ifndef BELFRY_COLLECTOR_STREAM_H
#define BELFRY_COLLECTOR_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/message_channel.h"
#include "ipc/sample_channel.h"

struct stream;

struct stream_options {
	uint64_t stream_id;
	uint32_t frequency;	/* samples a second and CPU, for the batch headers */
	uint32_t queue_batches; /* bound of the queue; a batch takes memory only while it waits */
};

int stream_new(struct stream **out, const struct stream_options *o);

/* The channel is opened late, when the role is confined, and given to the stream then. */
void stream_attach(struct stream *s, struct message_channel *channel);

void stream_add_sample(struct stream *s, const struct sample_record *h, const void *frames);
void stream_add_process(struct stream *s, const struct process_record *p);
void stream_add_mapping(struct stream *s, const struct mapping_record *m);
void stream_add_exit(struct stream *s, const struct exit_record *e);
void stream_add_counters(struct stream *s, const struct counters_record *c);
void stream_add_end(struct stream *s);

/*
 * Sends what the channel takes now, oldest first. While nobody takes anything, the batch under
 * construction keeps on filling: only full ones go to the queue.
 */
void stream_flush(struct stream *s);

/* True when no record waits. */
bool stream_idle(const struct stream *s);

/*
 * The symbolizer has gone, or a new one has come: what it was told about processes is lost. Batches
 * that still wait are kept: their samples count.
 */
void stream_peer_changed(struct stream *s);

/*
 * True once after records about processes were lost, with a dropped batch or with a peer: processes
 * must be announced again (processes_forget_announcements()).
 */
bool stream_take_announcements_lost(struct stream *s);

uint64_t stream_sent(const struct stream *s);	 /* samples handed to the channel */
uint64_t stream_held(const struct stream *s);	 /* samples waiting here */
uint64_t stream_dropped(const struct stream *s); /* samples dropped for lack of room */

uint64_t stream_peers_refused(
	const struct stream *s); /* ends of the channel that were not the symbolizer's */

/* Gives up everything that waits, records under construction included; counts its samples as
 * dropped. For the end of the stream. */
void stream_abandon(struct stream *s);

void stream_free(struct stream *s);

#endif
