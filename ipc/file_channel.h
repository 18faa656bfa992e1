/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file channel: collector <-> symbolizer, a SEQPACKET socket, one fixed-size
 * message a packet, at most one descriptor with it, and only from the collector.
 *
 * The symbolizer listens. The collector's first message is HELLO; the symbolizer
 * answers HELLO. After that the collector sends FILE, the symbolizer DONE or WANT.
 * Anything unknown, early, of the wrong length or with an unexpected descriptor
 * closes the connection and is counted; nothing is repaired.
 */
#ifndef BELFRY_IPC_FILE_CHANNEL_H
#define BELFRY_IPC_FILE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/message_rule.h"

#define FILE_CHANNEL_VERSION 1
#define FILE_MESSAGE_MAX 128
#define FILES_IN_FLIGHT_MAX 32 /* FILE messages that wait for their DONE */

/* Well-known file ids; the collector numbers files from FILE_ID_FIRST on. */
#define FILE_ID_NONE 0
#define FILE_ID_VDSO 1
#define FILE_ID_FIRST 16

enum file_message_type {
	FILE_HELLO = 1,  /* both ways */
	FILE_OPENED,     /* collector -> symbolizer, with one descriptor */
	FILE_KALLSYMS,   /* collector -> symbolizer, with a descriptor of /proc/kallsyms */
	FILE_DONE,       /* symbolizer -> collector: FILE_OPENED was taken */
	FILE_WANT,       /* symbolizer -> collector: send this file again */
	FILE_MESSAGE_TYPES
};

enum file_result {
	FILE_ACCEPTED = 0,
	FILE_REFUSED, /* not a file that can be read, or denied after it killed a worker */
	FILE_NO_ROOM, /* budget of open files used up */
	FILE_RESULTS
};

struct file_message {
	enum file_message_type type;
	uint64_t stream_id; /* HELLO: stream of the sample channel (collector), or 0 */
	uint64_t file_id;   /* OPENED, DONE, WANT */
	uint64_t device;    /* OPENED: identity, from fstat of the descriptor */
	uint64_t inode;
	uint64_t size;        /* bytes */
	uint64_t change_time; /* st_ctime, ns since 1970 */
	uint32_t result;      /* DONE: enum file_result */
};

/* Encodes into `out` (FILE_MESSAGE_MAX bytes); returns the length. */
uint32_t file_message_encode(const struct file_message *m, uint8_t *out);

/* Phases of a connection, for the rule tables. */
#define FILE_PHASE_NEW 1u  /* nothing received yet */
#define FILE_PHASE_OPEN 2u /* HELLO seen */

extern const struct message_rule file_rules_to_symbolizer[];
extern const unsigned int file_rules_to_symbolizer_count;
extern const struct message_rule file_rules_to_collector[];
extern const unsigned int file_rules_to_collector_count;

/*
 * Decodes one packet against a rule table. `phase` is a FILE_PHASE_* bit,
 * `fds` the number of descriptors that came with it. Returns NULL, or a
 * constant sentence that names what was wrong.
 */
const char *file_message_decode(const struct message_rule *rules, unsigned int rule_count,
				uint32_t phase, const uint8_t *data, uint32_t len, uint32_t fds,
				struct file_message *m);

#endif
