/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_table: where a file keeps its symbols (.symtab, .dynsym, or the dynamic segment where
 * there are no section headers), and how one entry reads. gABI chapter 4, "Symbol Table"; chapter
 * 5, "Dynamic Section".
 */
#ifndef BELFRY_SYMBOLIZER_ELF_SYMBOL_TABLE_H
#define BELFRY_SYMBOLIZER_ELF_SYMBOL_TABLE_H

#include <stdint.h>

#include "ipc/cursor.h"
#include "symbolizer/elf/elf_file.h"

#define SYMBOL_ENTRY_LEN       24u
#define SYMBOL_TABLE_BYTES_MAX (256u << 20)
#define STRING_TABLE_BYTES_MAX (256u << 20)

enum symbol_table_kind {
	SYMBOL_TABLE_FULL = 0, /* .symtab */
	SYMBOL_TABLE_DYNAMIC,  /* .dynsym */
	SYMBOL_TABLE_KINDS
};

struct symbol_table {
	uint64_t offset; /* in the file */
	uint32_t count;	 /* entries; 0 = the file has no such table */
	uint64_t strings_offset;
	uint64_t strings_size;
};

struct symbol_entry {
	uint32_t name; /* offset into the string table */
	uint8_t type;  /* STT_* */
	uint8_t bind;  /* STB_* */
	uint16_t section;
	uint64_t value;
	uint64_t size;
};

/* Finds both tables. Damage is noted as the file's warning and leaves that table empty. */
void symbol_tables_find(struct elf_file *e, struct symbol_table tables[SYMBOL_TABLE_KINDS]);

/* The dynamic table by PT_DYNAMIC alone; count 0 where there is none. */
void dynamic_symbols_find(struct elf_file *e, struct symbol_table *out);

struct symbol_entry symbol_entry_take(struct cursor *c);

#endif
