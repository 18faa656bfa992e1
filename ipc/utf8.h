/* SPDX-License-Identifier: Apache-2.0 */
/* utf8: decoding one character at a time, strictly (RFC 3629: no overlong forms, no surrogates). */
#ifndef BELFRY_IPC_UTF8_H
#define BELFRY_IPC_UTF8_H

#include <stdint.h>

/*
 * Length in bytes of the character at text[0], of `len` (>= 1) readable bytes, and its code point.
 * 0 when the bytes there are not UTF-8.
 */
uint32_t utf8_decode(const char *text, uint32_t len, uint32_t *code_point);

#endif
