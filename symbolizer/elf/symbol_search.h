/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_search: names for a batch of addresses by one pass over both symbol tables. No index is
 * built: the tables stream through a small buffer while each address keeps the best symbol seen, so
 * memory depends on the question, not on the file.
 *
 * Which symbol names an address:
 * - a symbol with a size covers [value, value + size), cut at the end of its code range;
 * - among those that cover it, the one that starts last; for aliases: .symtab before .dynsym,
 *   function before untyped, global before weak before local, the longer one (so that all addresses
 *   of a function agree), fewer leading underscores, shorter name, first in byte order;
 * - where none covers it, the last symbol without a size before it, if no other symbol and no
 *   function of .eh_frame_hdr starts in between; not beyond the code range. In .dynsym only its
 *   very first byte: between two exports may lie any number of unlisted functions.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_SYMBOL_SEARCH_H
#define BELFRY_SYMBOLIZER_ELF_SYMBOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbol_table.h"

struct symbol_match {
	bool found;
	enum symbol_table_kind table;
	uint64_t start;
	uint64_t end;  /* exclusive; start for a symbol without a size */
	uint32_t name; /* offset into the table's strings */
};

struct symbol_search;

/* Finds the tables of `e`, which must outlive the search. NULL without memory. */
struct symbol_search *symbol_search_new(struct elf_file *e);
void symbol_search_free(struct symbol_search *s);

/* Whether the file has any symbol at all in that table. */
bool symbol_search_has(const struct symbol_search *s, enum symbol_table_kind table);

/*
 * `addresses`: ascending, `count` of them; `out`: as many. Returns NULL or a constant sentence (a
 * table could not be read to its end: what was found until then stands; no memory: nothing is
 * found).
 */
const char *symbol_search_run(struct symbol_search *s, const uint64_t *addresses, uint32_t count,
			      struct symbol_match *out);

/* Name of a match, cut to size - 1 bytes; returns its length. */
size_t symbol_search_name(struct symbol_search *s, const struct symbol_match *m, char *out,
			  size_t size);

#endif
