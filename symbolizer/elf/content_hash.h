/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_hash: 128 bits over bytes, streamed. For telling files apart, not against forgery:
 * whoever makes a file chooses its build id anyway, which is why a build id is a name here and
 * never the only key.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_CONTENT_HASH_H
#define BELFRY_SYMBOLIZER_ELF_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

struct content_hash {
	uint64_t lane[2];
	uint64_t length;
	uint8_t pending[16];
	uint32_t pending_len;
};

void content_hash_start(struct content_hash *h);
void content_hash_add(struct content_hash *h, const void *bytes, size_t len);

/* Writes 16 bytes. */
void content_hash_end(struct content_hash *h, uint8_t *out);

#endif
