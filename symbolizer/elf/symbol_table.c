/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/symbol_table.h"

#include <elf.h>

struct symbol_entry symbol_entry_take(struct cursor *c)
{
	struct symbol_entry s;
	uint8_t info;

	s.name = cursor_u32(c);
	info = cursor_u8(c);
	s.type = ELF64_ST_TYPE(info);
	s.bind = ELF64_ST_BIND(info);
	cursor_skip(c, 1); /* st_other: visibility */
	s.section = cursor_u16(c);
	s.value = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static const char *table_from_section(const struct elf_file *e, const struct elf_section *s,
				      struct symbol_table *out)
{
	const struct elf_section *strings;

	if (s->entry_size != SYMBOL_ENTRY_LEN)
		return "symbol table has a wrong entry size";
	if (!elf_source_has(&e->source, s->offset, s->size))
		return "symbol table ends after the file";
	if (s->size > SYMBOL_TABLE_BYTES_MAX)
		return "symbol table is larger than allowed";
	if (s->link >= e->section_count || e->sections[s->link].type != SHT_STRTAB)
		return "symbol table has no string table";
	strings = &e->sections[s->link];
	if (!elf_source_has(&e->source, strings->offset, strings->size))
		return "string table ends after the file";
	if (strings->size > STRING_TABLE_BYTES_MAX)
		return "string table is larger than allowed";
	out->offset = s->offset;
	out->count = (uint32_t)(s->size / SYMBOL_ENTRY_LEN);
	out->strings_offset = strings->offset;
	out->strings_size = strings->size;
	return NULL;
}

void symbol_tables_find(struct elf_file *e, struct symbol_table tables[SYMBOL_TABLE_KINDS])
{
	for (int k = 0; k < SYMBOL_TABLE_KINDS; k++)
		tables[k] = (struct symbol_table){ 0 };
	for (uint32_t i = 0; i < e->section_count; i++) {
		const struct elf_section *s = &e->sections[i];
		struct symbol_table *t;
		const char *why;

		if (s->type == SHT_SYMTAB)
			t = &tables[SYMBOL_TABLE_FULL];
		else if (s->type == SHT_DYNSYM)
			t = &tables[SYMBOL_TABLE_DYNAMIC];
		else
			continue;
		if (t->count) /* the gABI allows one of each */
			continue;
		why = table_from_section(e, s, t);
		if (why)
			elf_file_warn(e, why);
	}
	if (tables[SYMBOL_TABLE_DYNAMIC].count == 0)
		dynamic_symbols_find(e, &tables[SYMBOL_TABLE_DYNAMIC]);
}
