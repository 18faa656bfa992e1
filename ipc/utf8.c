// SPDX-License-Identifier: Apache-2.0
#include "ipc/utf8.h"

uint32_t utf8_decode(const char *text, uint32_t len, uint32_t *code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *t = (const unsigned char *)text;
	uint32_t need;
	uint32_t c;

	if (t[0] < 0x80) {
		*code_point = t[0];
		return 1;
	}
	need = (t[0] & 0xe0) == 0xc0 ? 2 : (t[0] & 0xf0) == 0xe0 ? 3 : (t[0] & 0xf8) == 0xf0 ? 4 : 0;
	if (!need || need > len)
		return 0;
	c = t[0] & (0xffu >> (need + 1));
	for (uint32_t i = 1; i < need; i++) {
		if ((t[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (t[i] & 0x3f);
	}
	if (c < smallest[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code_point = c;
	return need;
}
