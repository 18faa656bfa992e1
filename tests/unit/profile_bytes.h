/* SPDX-License-Identifier: Apache-2.0 */
/* profile_bytes: builds profile.proto messages by hand, field by field, for tests. */
#ifndef BELFRY_TESTS_UNIT_PROFILE_BYTES_H
#define BELFRY_TESTS_UNIT_PROFILE_BYTES_H

#include <stdint.h>
#include <string.h>

struct bytes {
	uint8_t data[4096];
	uint32_t len;
};

static inline void put_varint(struct bytes *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		b->data[b->len++] = (uint8_t)(v | 0x80);
	b->data[b->len++] = (uint8_t)v;
}

static inline void put_number(struct bytes *b, uint32_t field, uint64_t v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static inline void put_bytes(struct bytes *b, uint32_t field, const void *data, uint32_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void put_message(struct bytes *b, uint32_t field, const struct bytes *m)
{
	put_bytes(b, field, m->data, m->len);
}

static inline void put_string(struct bytes *b, const char *s)
{
	put_bytes(b, 6, s, (uint32_t)strlen(s));
}

static inline void put_value_type(struct bytes *b, uint32_t field, uint32_t type, uint32_t unit)
{
	struct bytes m = { .len = 0 };

	put_number(&m, 1, type);
	put_number(&m, 2, unit);
	put_message(b, field, &m);
}

static inline void put_function(struct bytes *b, uint64_t id, uint32_t name)
{
	struct bytes m = { .len = 0 };

	put_number(&m, 1, id);
	put_number(&m, 2, name);
	put_message(b, 5, &m);
}

static inline void put_mapping(struct bytes *b, uint64_t id, uint64_t start, uint32_t file)
{
	struct bytes m = { .len = 0 };

	put_number(&m, 1, id);
	put_number(&m, 2, start);
	put_number(&m, 3, start + 0x1000);
	put_number(&m, 5, file);
	put_message(b, 3, &m);
}

/* `function` 0: a location without lines. */
static inline void put_location(struct bytes *b, uint64_t id, uint64_t mapping, uint64_t address,
				uint64_t function)
{
	struct bytes line = { .len = 0 };
	struct bytes m = { .len = 0 };

	put_number(&m, 1, id);
	put_number(&m, 2, mapping);
	put_number(&m, 3, address);
	if (function) {
		put_number(&line, 1, function);
		put_message(&m, 4, &line);
	}
	put_message(b, 4, &m);
}

/* Leaf and caller, one value, one label (0 = none). */
static inline void put_sample(struct bytes *b, uint64_t leaf, uint64_t caller, uint64_t value,
			      uint32_t label_key, uint32_t label_text)
{
	struct bytes packed = { .len = 0 };
	struct bytes label = { .len = 0 };
	struct bytes m = { .len = 0 };

	put_varint(&packed, leaf);
	put_varint(&packed, caller);
	put_message(&m, 1, &packed);
	put_number(&m, 2, value); /* not packed: one field an element */
	if (label_key) {
		put_number(&label, 1, label_key);
		put_number(&label, 2, label_text);
		put_message(&m, 3, &label);
	}
	put_message(b, 2, &m);
}

#endif
