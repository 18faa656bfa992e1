/* SPDX-License-Identifier: Apache-2.0 */
/* gzip_read: bounded decompression of whole gzip files, several members included (RFC 1952 §2.2).
 */
#ifndef BELFRY_CLI_GZIP_READ_H
#define BELFRY_CLI_GZIP_READ_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the bytes begin as a gzip member does. */
bool gzip_recognise(const uint8_t *data, uint32_t len);

/*
 * Decompresses data[0 .. len) into a malloc()ed buffer of at most `most` bytes.
 * Returns NULL and *out (caller frees) and *out_len, or a constant sentence that says what was
 * wrong.
 */
const char *gzip_read(const uint8_t *data, uint32_t len, uint32_t most, uint8_t **out,
		      uint32_t *out_len);

#endif
