/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string_table: NUL-terminated strings of an ELF string table, read through a window since the
 * table may be huge.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_STRING_TABLE_H
#define BELFRY_SYMBOLIZER_ELF_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer/elf/elf_source.h"

#define STRING_WINDOW (32u << 10) /* bytes; no string longer than this is asked for */

struct string_table {
	const struct elf_source *source; /* not owned */
	uint64_t offset;		 /* of the table in the file */
	uint64_t size;
	uint64_t window_start; /* offset in the table of window[0] */
	uint32_t window_len;
	uint8_t window[STRING_WINDOW];
};

void string_table_over(struct string_table *t, const struct elf_source *source, uint64_t offset,
		       uint64_t size);

/*
 * Copies the string at `at`, cut to `size` - 1 bytes, with a NUL; returns its (cut) length. 0 for
 * an empty string and for one that lies outside of the table or the file. A string that the table's
 * end cuts is taken as it is.
 */
size_t string_table_get(struct string_table *t, uint64_t at, char *out, size_t size);

#endif
