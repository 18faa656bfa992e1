/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file: headers, segments and sections of a 64-bit little-endian ELF file (System V gABI,
 * chapter 4), read through a bounded source. A damaged section table costs the sections, not the
 * file: addresses need only the program headers.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_ELF_FILE_H
#define BELFRY_SYMBOLIZER_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/elf/elf_source.h"

#define ELF_SEGMENTS_MAX 65536u
#define ELF_SECTIONS_MAX                                                                           \
	(256u << 10) /* extended numbering has no limit of its own: 16 MiB of headers */

struct elf_segment {
	uint32_t type;	/* PT_* */
	uint32_t flags; /* PF_* */
	uint64_t offset;
	uint64_t vaddr;
	uint64_t file_size;
	uint64_t memory_size;
	uint64_t align;
};

struct elf_section {
	uint32_t name; /* offset into the section name table */
	uint32_t type; /* SHT_* */
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint32_t link;
	uint32_t info;
	uint64_t entry_size;
};

/*
 * Addresses that can hold code: an executable section, or an executable segment where there are no
 * sections.
 */
struct elf_code_range {
	uint64_t start;
	uint64_t end; /* exclusive */
};

struct elf_file {
	struct elf_source source;
	uint16_t type;	  /* ET_* */
	uint16_t machine; /* EM_* */
	uint64_t segments_offset;
	uint64_t sections_offset;
	struct elf_segment *segments; /* segment_count of them */
	uint32_t segment_count;
	struct elf_section
		*sections; /* section_count of them; none where the table is missing or damaged */
	uint32_t section_count;
	uint32_t names_index; /* of the section that holds section names; may be out of range */
	struct elf_code_range *code; /* code_count of them, by start address */
	uint32_t code_count;
	const char *warning; /* what was damaged but could be done without; NULL = nothing */
};

enum elf_status {
	ELF_OK = 0,
	ELF_NOT_ELF,   /* other magic, or shorter than the magic */
	ELF_MALFORMED, /* *why says what; nothing to close */
};

/*
 * Reads the headers. `why` is set to a constant sentence unless ELF_OK. The source stays the
 * caller's.
 */
enum elf_status elf_file_open(struct elf_file *e, const struct elf_source *source,
			      const char **why);

/* Frees the tables. */
void elf_file_close(struct elf_file *e);

/* Notes the first damage that could be worked around. */
void elf_file_warn(struct elf_file *e, const char *what);

/* The code range that holds `address`, or NULL. */
const struct elf_code_range *elf_file_code_at(const struct elf_file *e, uint64_t address);

#endif
