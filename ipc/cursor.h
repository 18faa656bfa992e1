/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor: the only way in which foreign bytes are read.
 *
 * A cursor is an offset into a buffer of known length. Each getter checks the
 * length first; the first failure sticks, yields zeros from then on, and the
 * caller checks `cursor_ok()` once at the end. Offsets, not pointers: interval
 * analysis (make prove) can then bound every access.
 *
 * Integers are little-endian unless the name says otherwise.
 */
#ifndef BELFRY_IPC_CURSOR_H
#define BELFRY_IPC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *data; /* not owned */
	uint32_t len;        /* bytes readable at data */
	uint32_t offset;     /* next byte; never above len */
	bool bad;            /* sticky: a read went past len */
};

static inline struct cursor cursor_over(const void *data, uint32_t len)
{
	return (struct cursor){ .data = data, .len = len };
}

static inline bool cursor_ok(const struct cursor *c)
{
	return !c->bad;
}

static inline uint32_t cursor_left(const struct cursor *c)
{
	return c->len - c->offset;
}

/* True when every byte was consumed and no read failed. */
static inline bool cursor_finished(const struct cursor *c)
{
	return !c->bad && c->offset == c->len;
}

/* Makes `n` bytes available: returns their offset, or fails and returns 0. */
static inline bool cursor_need(struct cursor *c, uint32_t n)
{
	/* In this form interval analysis bounds offset by len - n without knowing how they relate. */
	if (c->bad || n > c->len || c->offset > c->len - n) {
		c->bad = true;
		return false;
	}
	return true;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (!cursor_need(c, 1))
		return 0;
	return c->data[c->offset++];
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	uint32_t o = c->offset;

	if (!cursor_need(c, 2))
		return 0;
	c->offset = o + 2;
	return (uint16_t)(c->data[o] | (uint32_t)c->data[o + 1] << 8);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t o = c->offset;

	if (!cursor_need(c, 4))
		return 0;
	c->offset = o + 4;
	return (uint32_t)c->data[o] | (uint32_t)c->data[o + 1] << 8 |
	       (uint32_t)c->data[o + 2] << 16 | (uint32_t)c->data[o + 3] << 24;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t low = cursor_u32(c);

	return low | (uint64_t)cursor_u32(c) << 32;
}

/* Returns `n` readable bytes inside the buffer (not owned), or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint32_t n)
{
	uint32_t o = c->offset;

	if (!cursor_need(c, n))
		return NULL;
	c->offset = o + n;
	return c->data + o;
}

static inline void cursor_skip(struct cursor *c, uint32_t n)
{
	if (cursor_need(c, n))
		c->offset += n;
}

/* Copies `n` bytes to `out`; fills it with zeros where they are not there. */
static inline void cursor_copy(struct cursor *c, void *out, uint32_t n)
{
	uint8_t *to = out;
	uint32_t o = c->offset;
	bool there = cursor_need(c, n);

	for (uint32_t i = 0; i < n; i++)
		to[i] = there ? c->data[o + i] : 0;
	if (there)
		c->offset = o + n;
}

#endif
