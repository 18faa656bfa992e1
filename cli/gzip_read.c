// SPDX-License-Identifier: Apache-2.0
#include "cli/gzip_read.h"

#include <stdlib.h>
#include <zlib.h>

#define FIRST_LEN (64u * 1024)
#define GZIP_ONLY (16 + MAX_WBITS) /* zlib: expect a gzip header, not a zlib one */

struct output {
	uint8_t *data;
	uint32_t len;
	uint32_t capacity;
	uint32_t most;
};

bool gzip_recognise(const uint8_t *data, uint32_t len)
{
	return len >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Doubles, so that a small file never costs more than twice its contents, whatever the limit. */
static const char *output_grow(struct output *o)
{
	uint64_t capacity = o->capacity ? 2ull * o->capacity : FIRST_LEN;
	uint8_t *moved;

	if (capacity > o->most)
		capacity = o->most;
	if (capacity <= o->len)
		return "the profile is larger than the limit after decompression";
	moved = realloc(o->data, capacity);
	if (!moved)
		return "no memory to decompress the profile";
	o->data = moved;
	o->capacity = (uint32_t)capacity;
	return NULL;
}

/* One step of inflate; *more is cleared when the last member has ended. */
static const char *inflate_step(z_stream *z, struct output *o, bool *more)
{
	const char *problem = o->len == o->capacity ? output_grow(o) : NULL;
	int result;

	if (problem)
		return problem;
	z->next_out = o->data + o->len;
	z->avail_out = o->capacity - o->len;
	result = inflate(z, Z_NO_FLUSH);
	o->len = o->capacity - z->avail_out;
	if (result == Z_STREAM_END) {
		*more = z->avail_in > 0;
		if (*more && !gzip_recognise(z->next_in, z->avail_in))
			return "bytes that belong to nothing follow the compressed profile";
		return *more && inflateReset(z) != Z_OK ? "the gzip data is damaged" : NULL;
	}
	if (result == Z_BUF_ERROR && z->avail_in == 0)
		return "the gzip data ends early: the file was cut";
	if (result != Z_OK && result != Z_BUF_ERROR)
		return "the gzip data is damaged";
	return NULL;
}

const char *gzip_read(const uint8_t *data, uint32_t len, uint32_t most, uint8_t **out,
		      uint32_t *out_len)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)data, .avail_in = len };
	struct output o = { .most = most };
	const char *problem = NULL;
	bool more = true;

	if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
		return "no memory to decompress the profile";
	while (more && !problem)
		problem = inflate_step(&z, &o, &more);
	inflateEnd(&z);
	if (problem) {
		free(o.data);
		return problem;
	}
	*out = o.data;
	*out_len = o.len;
	return NULL;
}
