/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image: a small ELF file made by hand: one executable segment and section, .symtab, .strtab.
 * Layout: ELF header, program headers, text at TEXT_OFFSET (virtual TEXT_ADDRESS), symbols,
 * strings, section headers.
 */
#ifndef BELFRY_TESTS_UNIT_ELF_IMAGE_H
#define BELFRY_TESTS_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OFFSET  0x200u
#define TEXT_ADDRESS 0x401200u
#define TEXT_SIZE    0x1000u

struct image_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	uint8_t info; /* ELF64_ST_INFO(bind, type) */
	uint16_t section;
};

struct elf_image {
	uint8_t *bytes; /* freed by the test */
	uint64_t size;
	Elf64_Ehdr *header;
	Elf64_Phdr *segments; /* 1, room for 4 */
	Elf64_Shdr *sections; /* null, .text, .symtab, .strtab */
};

static inline struct elf_image elf_image_make(const struct image_symbol *symbols, uint32_t count)
{
	uint64_t symbols_at = TEXT_OFFSET + TEXT_SIZE;
	uint64_t strings_at = symbols_at + (count + 1) * sizeof(Elf64_Sym);
	uint64_t strings_size = 1;
	uint64_t sections_at;
	struct elf_image m;
	Elf64_Sym *table;

	for (uint32_t i = 0; i < count; i++)
		strings_size += strlen(symbols[i].name) + 1;
	sections_at = (strings_at + strings_size + 7) / 8 * 8;
	m.size = sections_at + 4 * sizeof(Elf64_Shdr);
	m.bytes = calloc(1, m.size);
	m.header = (Elf64_Ehdr *)m.bytes;
	m.segments = (Elf64_Phdr *)(m.bytes + sizeof(Elf64_Ehdr));
	m.sections = (Elf64_Shdr *)(m.bytes + sections_at);
	*m.header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
	};
	m.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_offset = TEXT_OFFSET,
				      .p_vaddr = TEXT_ADDRESS,
				      .p_filesz = TEXT_SIZE,
				      .p_memsz = TEXT_SIZE };
	m.sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				      .sh_addr = TEXT_ADDRESS,
				      .sh_offset = TEXT_OFFSET,
				      .sh_size = TEXT_SIZE };
	m.sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_offset = symbols_at,
				      .sh_size = (count + 1) * sizeof(Elf64_Sym),
				      .sh_link = 3,
				      .sh_entsize = sizeof(Elf64_Sym) };
	m.sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = strings_at,
				      .sh_size = strings_size };
	table = (Elf64_Sym *)(m.bytes + symbols_at);
	strings_size = 1;
	for (uint32_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Sym){ .st_name = (uint32_t)strings_size,
					    .st_info = symbols[i].info,
					    .st_shndx = symbols[i].section,
					    .st_value = symbols[i].value,
					    .st_size = symbols[i].size };
		strcpy((char *)m.bytes + strings_at + strings_size, symbols[i].name);
		strings_size += strlen(symbols[i].name) + 1;
	}
	return m;
}

#endif
