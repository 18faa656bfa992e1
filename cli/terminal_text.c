// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ipc/utf8.h"

/* Control characters (C0, DEL, C1), and what changes direction or has no width: Unicode 15,
 * chapter 23. */
static bool code_point_is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

static uint64_t escape_byte(unsigned char byte, char *out)
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
	return 4;
}

static uint64_t escape_code_point(uint32_t c, char *out)
{
	char text[16];
	int len;

	if (c < 0x80)
		return escape_byte((unsigned char)c, out);
	len = snprintf(text, sizeof(text), "\\u{%x}", c);
	memcpy(out, text, (size_t)len);
	return (uint64_t)len;
}

uint64_t terminal_text_escape(const char *text, uint32_t len, int folded, char *out)
{
	uint64_t written = 0;
	uint32_t code_point;
	uint32_t step;

	for (uint32_t i = 0; i < len; i += step) {
		step = utf8_decode(text + i, len - i, &code_point);
		if (!step) {
			written += escape_byte((unsigned char)text[i], out + written);
			step = 1;
		} else if (code_point_is_hidden(code_point) || (folded && code_point == ';')) {
			written += escape_code_point(code_point, out + written);
		} else if (code_point == '\\') {
			out[written++] = '\\';
			out[written++] = '\\';
		} else {
			memcpy(out + written, text + i, step);
			written += step;
		}
	}
	return written;
}
