/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder: the writing twin of cursor. Appends little-endian fields to a
 * buffer of fixed capacity; the first overflow sticks and is checked once.
 */
#ifndef BELFRY_IPC_BUILDER_H
#define BELFRY_IPC_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct builder {
	uint8_t *data;     /* not owned */
	uint32_t capacity; /* bytes writable at data */
	uint32_t len;      /* bytes written */
	bool bad;          /* sticky: a write did not fit */
};

static inline struct builder builder_over(void *data, uint32_t capacity)
{
	return (struct builder){ .data = data, .capacity = capacity };
}

static inline void builder_bytes(struct builder *b, const void *bytes, uint32_t n)
{
	if (b->bad || n > b->capacity - b->len) {
		b->bad = true;
		return;
	}
	if (n)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
}

static inline void builder_u8(struct builder *b, uint8_t v)
{
	builder_bytes(b, &v, 1);
}

static inline void builder_u16(struct builder *b, uint16_t v)
{
	uint8_t raw[2] = { (uint8_t)v, (uint8_t)(v >> 8) };

	builder_bytes(b, raw, sizeof(raw));
}

static inline void builder_u32(struct builder *b, uint32_t v)
{
	builder_u16(b, (uint16_t)v);
	builder_u16(b, (uint16_t)(v >> 16));
}

static inline void builder_u64(struct builder *b, uint64_t v)
{
	builder_u32(b, (uint32_t)v);
	builder_u32(b, (uint32_t)(v >> 32));
}

#endif
