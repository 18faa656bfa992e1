/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake: takes the symbolizer's messages, one by one, into the account and the sink. Every message
 * is checked by its decoder, then against the account: a bad one, one that came before, one of a
 * window that is closed already and one that contradicts what is known are each refused and
 * counted.
 */
#ifndef BELFRY_UPLOADER_INTAKE_H
#define BELFRY_UPLOADER_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/profile_channel.h"
#include "uploader/journal.h"
#include "uploader/sink_directory.h"

struct intake_counters {
	uint64_t messages;
	uint64_t bad;	     /* broke the channel's rules */
	uint64_t missing;    /* gaps in the symbolizer's numbering */
	uint64_t duplicates; /* profiles that came before */
	uint64_t late;	     /* of a window that is closed already */
	uint64_t refused;    /* contradict the account */
	uint64_t written;    /* profiles */
	uint64_t failed;     /* profiles that could not be written */
	uint64_t ends;	     /* END messages */
};

struct intake {
	struct sink *sink;	 /* lent */
	struct journal *journal; /* lent */
	bool sync;		 /* bring the journal to the disk at each new window */
	uint64_t symbolizer;	 /* whose numbering is followed */
	uint64_t next_sequence;
	struct intake_counters counters;
	struct profile_message
		message; /* the one in hand: too large for the stack of a confined process */
};

/* Handles one message; nothing of `data` is kept. */
void intake_message(struct intake *i, const uint8_t *data, size_t len);

/* For struct sink_options: `context` is the journal. */
void intake_on_removed(void *context, const char *file, uint64_t bytes);

#endif
