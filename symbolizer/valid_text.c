/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/valid_text.h"

#include <string.h>

#include "ipc/utf8.h"

size_t valid_text_copy(const void *text, size_t len, char *out, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const char *in = text;
	size_t used = 0;

	for (size_t at = 0; at < len && in[at];) {
		uint32_t left = len - at < 4 ? (uint32_t)(len - at) : 4;
		uint32_t point = 0;
		uint32_t bytes = utf8_decode(in + at, left, &point);
		const char *piece = in + at;
		uint32_t piece_len = bytes;

		if (bytes == 0) {
			piece = replacement;
			piece_len = sizeof(replacement) - 1;
		} else if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
			piece = "?";
			piece_len = 1;
		}
		if (used + piece_len + 1 > size)
			break;
		memcpy(out + used, piece, piece_len);
		used += piece_len;
		at += bytes ? bytes : 1;
	}
	out[used] = '\0';
	return used;
}
