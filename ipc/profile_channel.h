/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile channel: symbolizer -> uploader, one way.
 *
 * Each closed window is announced by one WINDOW message, followed by its
 * PROFILE messages. Every PROFILE repeats the window's account, so that the
 * account survives the loss of any single message. END follows the last window
 * of a collector's stream.
 */
#ifndef BELFRY_IPC_PROFILE_CHANNEL_H
#define BELFRY_IPC_PROFILE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/builder.h"
#include "ipc/cursor.h"
#include "ipc/sample_channel.h"

#define PROFILE_CHANNEL_VERSION 1
#define PROFILE_MAGIC 0x464f5250u       /* "PROF" */
#define PROFILE_MESSAGE_MAX (8 << 20)   /* bytes, header and labels included */
#define PROFILE_HEADER_MAX (64 * 1024)  /* bytes of everything before the pprof */
#define PROFILE_LABELS_MAX 64
#define PROFILE_LABEL_NAME_MAX 128
#define PROFILE_LABEL_VALUE_MAX 4096

enum profile_message_type {
	PROFILE_WINDOW = 1,
	PROFILE_PPROF,
	PROFILE_END,
	PROFILE_MESSAGE_TYPES
};

/* Samples that the symbolizer itself had to give up, by reason. */
enum symbolizer_loss {
	SYMBOLIZER_LOSS_STACKS_FULL = 0, /* the window's budget of distinct stacks was used up */
	SYMBOLIZER_LOSS_BAD_BATCH,       /* batch that broke a rule: its samples, as its header gives them */
	SYMBOLIZER_LOSS_TOO_LARGE,       /* profile above PROFILE_MESSAGE_MAX */
	SYMBOLIZER_LOSS_ENCODER,         /* the encoder failed (memory) */
	SYMBOLIZER_LOSS_UPLOADER_AWAY,   /* queue to the uploader full */
	SYMBOLIZER_LOSSES
};

/* The account of one window: what came in, what went out. Samples, not messages. */
struct window_account {
	uint64_t collector_stream; /* stream the samples came from */
	uint64_t symbolizer_id;    /* random, one for each life of a symbolizer */
	uint64_t window;           /* 0, 1, 2 ... over the symbolizer's life */
	uint64_t start_time;       /* ns since 1970 */
	uint64_t duration;         /* measured, ns */
	uint64_t first_sample;     /* the window covers stream positions [first_sample, end_sample) */
	uint64_t end_sample;
	uint64_t received;         /* samples received; the rest of the range was lost in transit */
	uint64_t in_profiles;      /* samples in this window's profiles */
	uint64_t lost[SYMBOLIZER_LOSSES]; /* received = in_profiles + sum(lost), except BAD_BATCH:
					     those are part of received as well */
	uint32_t profiles;         /* profiles of this window */
	struct counters_record collector; /* last counters seen of the collector */
};

struct profile_label {
	const char *name;
	const char *value;
	uint32_t name_len;
	uint32_t value_len;
};

struct profile_message {
	enum profile_message_type type;
	uint64_t sequence; /* 0, 1, 2 ... over the symbolizer's life */
	struct window_account account;
	/* PPROF only: */
	uint32_t index;   /* 0 .. account.profiles - 1 */
	uint64_t samples; /* sum of samples/count */
	uint32_t label_count;
	struct profile_label labels[PROFILE_LABELS_MAX];
	const uint8_t *pprof; /* gzip-compressed profile.proto, not owned */
	uint32_t pprof_len;
};

/* Appends everything but the pprof bytes, which must follow directly. */
void profile_message_encode_header(struct builder *b, const struct profile_message *m);

/* Returns NULL, or a constant sentence that names what was wrong. Pointers point into data. */
const char *profile_message_decode(const uint8_t *data, uint32_t len, struct profile_message *m);

const char *symbolizer_loss_name(enum symbolizer_loss l);

#endif
