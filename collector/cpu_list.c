/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cpu_list.h"

#include <errno.h>
#include <unistd.h>

#include "ipc/cursor.h"

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static uint8_t peek(const struct cursor *c)
{
	return cursor_left(c) ? c->data[c->offset] : '\n';
}

static const char *parse_number(struct cursor *c, uint32_t *out)
{
	uint32_t n = 0;

	if (!is_digit(peek(c)))
		return "CPU list has something else where a number belongs";
	while (is_digit(peek(c))) {
		n = n * 10 + (cursor_u8(c) - '0');
		if (n >= CPU_LIST_MAX)
			return "CPU list names a CPU beyond what a kernel can have";
	}
	*out = n;
	return NULL;
}

static const char *parse_range(struct cursor *c, struct cpu_list *out)
{
	uint32_t first, last;
	const char *wrong = parse_number(c, &first);

	if (wrong)
		return wrong;
	last = first;
	if (peek(c) == '-') {
		cursor_skip(c, 1);
		wrong = parse_number(c, &last);
		if (wrong)
			return wrong;
		if (last < first)
			return "CPU list has a reversed range";
	}
	for (uint32_t cpu = first; cpu <= last; cpu++)
		out->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
	if (out->end < last + 1)
		out->end = last + 1;
	return NULL;
}

const char *cpu_list_parse(const uint8_t *text, uint32_t len, struct cpu_list *out)
{
	struct cursor c;
	const char *wrong;

	*out = (struct cpu_list){ 0 };
	if (len > CPU_LIST_TEXT)
		return "CPU list is too long";
	c = cursor_over(text, len);
	if (peek(&c) == '\n') /* the empty set is an empty line */
		return NULL;
	for (;;) {
		wrong = parse_range(&c, out);
		if (wrong)
			return wrong;
		if (peek(&c) == '\n')
			return NULL;
		if (cursor_u8(&c) != ',')
			return "CPU list has something else where a comma belongs";
	}
}

int cpu_list_read(int fd, struct cpu_list *out)
{
	uint8_t text[CPU_LIST_TEXT];
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n < 0)
		return -errno;
	return cpu_list_parse(text, (uint32_t)n, out) ? -EINVAL : 0;
}
