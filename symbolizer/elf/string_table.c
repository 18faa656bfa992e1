/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/string_table.h"

#include <string.h>

#define STRING_USUAL 128u	/* bytes that most names fit in */
#define STRING_FILL  (4u << 10) /* bytes read at least: neighbours are often asked for next */

void string_table_over(struct string_table *t, const struct elf_source *source, uint64_t offset,
		       uint64_t size)
{
	t->source = source;
	t->offset = offset;
	t->size = 0;
	if (offset <= source->size)
		t->size = size < source->size - offset ? size : source->size - offset;
	t->window_start = 0;
	t->window_len = 0;
}

/* Makes the window cover `wanted` bytes from `at`, or as many as the table has. */
static bool window_cover(struct string_table *t, uint64_t at, uint32_t wanted)
{
	uint64_t left = t->size - at;
	uint32_t fill = wanted < STRING_FILL ? STRING_FILL : wanted;

	if (at >= t->window_start && at - t->window_start <= t->window_len &&
	    (wanted < left ? wanted : left) <= t->window_len - (at - t->window_start))
		return true;
	t->window_len = left < fill ? (uint32_t)left : fill;
	t->window_start = at;
	if (elf_source_read(t->source, t->window, t->window_len, t->offset + at))
		return true;
	t->window_len = 0;
	return false;
}

/*
 * Length of the string at `at` inside the window, at most `most`; *ended tells whether its NUL was
 * seen.
 */
static size_t window_string(const struct string_table *t, uint64_t at, size_t most, bool *ended)
{
	size_t left = t->window_len - (size_t)(at - t->window_start);
	size_t limit = left < most ? left : most;
	size_t len = strnlen((const char *)t->window + (at - t->window_start), limit);

	*ended = len < limit;
	return len;
}

size_t string_table_get(struct string_table *t, uint64_t at, char *out, size_t size)
{
	bool ended;
	size_t len;

	out[0] = '\0';
	if (at >= t->size || size == 0 || size > STRING_WINDOW ||
	    !window_cover(t, at, STRING_USUAL))
		return 0;
	len = window_string(t, at, size - 1, &ended);
	if (!ended && len < size - 1) {
		if (!window_cover(t, at, (uint32_t)size - 1))
			return 0;
		len = window_string(t, at, size - 1, &ended);
	}
	memcpy(out, t->window + (at - t->window_start), len);
	out[len] = '\0';
	return len;
}
