// SPDX-License-Identifier: Apache-2.0
#include "cli/protobuf_field.h"

uint64_t protobuf_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift == 63 && byte > 1) /* the tenth byte has room for one bit */
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return cursor_ok(c) ? value : 0;
	}
	c->bad = true;
	return 0;
}

static void field_bytes(struct cursor *message, struct protobuf_field *f)
{
	uint64_t len = protobuf_varint(message);

	if (len > cursor_left(message)) {
		message->bad = true;
		return;
	}
	f->bytes = cursor_over(cursor_bytes(message, (uint32_t)len), (uint32_t)len);
}

bool protobuf_next(struct cursor *message, struct protobuf_field *f)
{
	uint64_t tag;

	if (!cursor_ok(message) || cursor_left(message) == 0)
		return false;
	tag = protobuf_varint(message);
	*f = (struct protobuf_field){ .number = (uint32_t)(tag >> 3), .type = tag & 7 };
	if (tag >> 32 || !f->number) {
		message->bad = true;
		return false;
	}
	switch (f->type) {
	case PROTOBUF_VARINT:
		f->value = protobuf_varint(message);
		break;
	case PROTOBUF_FIXED64:
		f->value = cursor_u64(message);
		break;
	case PROTOBUF_BYTES:
		field_bytes(message, f);
		break;
	case PROTOBUF_FIXED32:
		f->value = cursor_u32(message);
		break;
	default:
		message->bad = true;
	}
	return cursor_ok(message);
}
