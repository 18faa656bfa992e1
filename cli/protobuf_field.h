/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_field: the wire format of protocol buffers, one field at a time, over a cursor.
 * Groups (wire types 3 and 4) are refused: profile.proto has none, and they would need recursion.
 */
#ifndef BELFRY_CLI_PROTOBUF_FIELD_H
#define BELFRY_CLI_PROTOBUF_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/cursor.h"

enum protobuf_wire_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_FIXED32 = 5,
};

struct protobuf_field {
	uint32_t number; /* 1 .. 2^29 - 1 */
	enum protobuf_wire_type type;
	uint64_t value;	     /* VARINT, FIXED64, FIXED32 */
	struct cursor bytes; /* BYTES: over its contents, inside the buffer of the message */
};

/* Reads a varint of at most 10 bytes that fits 64 bits; anything else makes the cursor bad. */
uint64_t protobuf_varint(struct cursor *c);

/* Takes the next field. False at the end of the message and when the cursor went bad. */
bool protobuf_next(struct cursor *message, struct protobuf_field *f);

#endif
