/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_message: what the main process asks a worker and what it believes of the answer. A worker
 * has parsed a hostile file and may be in its owner's hands: each field is checked, and an answer
 * that breaks a rule counts as the worker's death.
 *
 * One SEQPACKET socket pair a request. The request comes with the file's descriptor; the answer is
 * one FILE packet, NAMES packets that cover the offsets in the order of the request, and END. Or a
 * single BUSY, from the zygote: no worker could be forked.
 */
#ifndef BELFRY_SYMBOLIZER_WORKER_MESSAGE_H
#define BELFRY_SYMBOLIZER_WORKER_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/builder.h"
#include "ipc/cursor.h"

#define WORKER_OFFSETS_MAX  4096u
#define WORKER_NAME_MAX	    4096u /* bytes of a name, NUL not counted; a longer one is cut */
#define WORKER_PACKET_MAX   (32u << 10)
#define WORKER_REQUEST_MAX  (24 + 8 * WORKER_OFFSETS_MAX)
#define WORKER_DETAIL_MAX   95u
#define WORKER_BUILD_ID_MAX 128u /* hex digits */

struct worker_request {
	uint64_t file_size;
	bool identify; /* the build id is wanted as well */
	uint32_t count;
	uint64_t offsets[WORKER_OFFSETS_MAX]; /* in the file */
};

enum worker_packet_type {
	WORKER_FILE = 1,
	WORKER_NAMES,
	WORKER_END,
	WORKER_BUSY,
	WORKER_PACKET_TYPES
};

enum worker_file_status {
	WORKER_FILE_OK = 1,
	WORKER_FILE_NOT_ELF,
	WORKER_FILE_MALFORMED,
	WORKER_FILE_STATUSES
};

/* Bits of worker_file.parts: what the file has. */
#define WORKER_HAS_SYMTAB   1u
#define WORKER_HAS_DYNSYM   2u
#define WORKER_HAS_SEGMENTS 4u /* without any, no offset of it will ever have an address */

struct worker_file {
	enum worker_file_status status;
	uint32_t parts;
	char build_id[WORKER_BUILD_ID_MAX + 1]; /* lower-case hex, "" unknown or not asked for */
	char detail[WORKER_DETAIL_MAX + 1];	/* printable ASCII, "" nothing to say */
};

struct worker_name {
	bool has_address;
	bool has_symbol; /* never without has_address */
	uint64_t address;
	uint64_t function_start; /* never above address */
	const char *name;	 /* not NUL-terminated; no NUL inside */
	uint32_t name_len;
	const char *system_name; /* the same pointer where they are equal */
	uint32_t system_name_len;
};

void worker_request_encode(struct builder *b, const struct worker_request *r);
/* Returns NULL or a constant sentence. */
const char *worker_request_decode(const uint8_t *data, uint32_t len, struct worker_request *r);

void worker_file_encode(struct builder *b, const struct worker_file *f);
void worker_bare_encode(struct builder *b, enum worker_packet_type type); /* END, BUSY */

/*
 * A NAMES packet is begun, filled until one does not fit (false; the packet is as before), and
 * sent.
 */
void worker_names_begin(struct builder *b);
bool worker_names_add(struct builder *b, const struct worker_name *n);
uint32_t worker_names_count(const struct builder *b);

/* One packet of an answer. */
struct worker_packet {
	enum worker_packet_type type;
	struct worker_file file; /* FILE */
	uint32_t count;		 /* NAMES: records in `body` */
	struct cursor body;
};

const char *worker_packet_decode(const uint8_t *data, uint32_t len, struct worker_packet *p);

/* Takes one record of a NAMES packet. Pointers point into the packet. */
const char *worker_name_decode(struct cursor *body, struct worker_name *n);

#endif
