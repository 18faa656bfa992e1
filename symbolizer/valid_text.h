/* SPDX-License-Identifier: Apache-2.0 */
/* valid_text: foreign bytes made fit for a profile: valid UTF-8, no control characters, bounded. */
#ifndef BELFRY_SYMBOLIZER_VALID_TEXT_H
#define BELFRY_SYMBOLIZER_VALID_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies at most `size - 1` bytes of `text`, up to its first NUL, to `out` and ends it with NUL. What is not UTF-8 becomes
 * U+FFFD, a control character becomes '?', and a character is never cut in two. Returns the length.
 */
size_t valid_text_copy(const void *text, size_t len, char *out, size_t size);

#endif
