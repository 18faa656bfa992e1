/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/kallsyms_line.h"

#include "ipc/cursor.h"

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool take_address(struct cursor *c, uint64_t *address)
{
	uint32_t digits = 0;
	uint8_t byte;

	*address = 0;
	while (cursor_left(c) && (byte = cursor_u8(c)) != ' ') {
		int digit = hex_digit(byte);

		if (digit < 0 || ++digits > 16)
			return false;
		*address = *address << 4 | (uint64_t)digit;
	}
	return digits > 0;
}

/* Bytes up to a blank or the end. */
static uint32_t word_length(const struct cursor *c)
{
	uint32_t n = 0;

	while (n < cursor_left(c) && c->data[c->offset + n] != ' ' &&
	       c->data[c->offset + n] != '\t')
		n++;
	return n;
}

static void skip_blanks(struct cursor *c)
{
	while (cursor_left(c) && (c->data[c->offset] == ' ' || c->data[c->offset] == '\t'))
		cursor_skip(c, 1);
}

bool kallsyms_line_parse(const char *line, uint32_t len, struct kallsyms_line *out)
{
	struct cursor c = cursor_over(line, len);
	uint32_t n;

	*out = (struct kallsyms_line){ .module = "" };
	if (!take_address(&c, &out->address))
		return false;
	out->type = (char)cursor_u8(&c);
	if (cursor_u8(&c) != ' ' || !cursor_ok(&c))
		return false;
	out->name_len = word_length(&c);
	out->name = (const char *)cursor_bytes(&c, out->name_len);
	if (out->name_len == 0)
		return false;
	skip_blanks(&c);
	n = word_length(&c);
	if (n == 0)
		return true;
	out->module = (const char *)cursor_bytes(&c, n);
	if (n < 3 || out->module[0] != '[' || out->module[n - 1] != ']')
		return false;
	out->module++;
	out->module_len = n - 2;
	return true;
}

bool kallsyms_line_is_text(const struct kallsyms_line *l)
{
	return l->type == 't' || l->type == 'T' || l->type == 'w' || l->type == 'W';
}
