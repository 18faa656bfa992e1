/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/elf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/cursor.h"

/* Header fields that are needed only while the tables are read. */
struct header {
	uint16_t segment_entry_size;
	uint16_t section_entry_size;
	uint32_t segment_count;
	uint32_t section_count;
};

void elf_file_warn(struct elf_file *e, const char *what)
{
	if (!e->warning)
		e->warning = what;
}

static struct elf_section take_section(struct cursor *c)
{
	struct elf_section s;

	s.name = cursor_u32(c);
	s.type = cursor_u32(c);
	s.flags = cursor_u64(c);
	s.address = cursor_u64(c);
	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	s.link = cursor_u32(c);
	s.info = cursor_u32(c);
	cursor_skip(c, 8); /* sh_addralign */
	s.entry_size = cursor_u64(c);
	return s;
}

static struct elf_segment take_segment(struct cursor *c)
{
	struct elf_segment s;

	s.type = cursor_u32(c);
	s.flags = cursor_u32(c);
	s.offset = cursor_u64(c);
	s.vaddr = cursor_u64(c);
	cursor_skip(c, 8); /* p_paddr */
	s.file_size = cursor_u64(c);
	s.memory_size = cursor_u64(c);
	s.align = cursor_u64(c);
	return s;
}

static enum elf_status read_header(struct elf_file *e, struct header *h, const char **why)
{
	uint8_t raw[sizeof(Elf64_Ehdr)];
	struct cursor c = cursor_over(raw, sizeof(raw));
	const uint8_t *ident;

	*why = "not an ELF file";
	if (!elf_source_read(&e->source, raw, SELFMAG, 0) || memcmp(raw, ELFMAG, SELFMAG) != 0)
		return ELF_NOT_ELF;
	*why = "ELF header ends after the file";
	if (!elf_source_read(&e->source, raw, sizeof(raw), 0))
		return ELF_MALFORMED;
	ident = cursor_bytes(&c, EI_NIDENT);
	*why = "32-bit ELF is not supported";
	if (ident[EI_CLASS] == ELFCLASS32)
		return ELF_MALFORMED;
	*why = "big-endian ELF is not supported";
	if (ident[EI_DATA] == ELFDATA2MSB)
		return ELF_MALFORMED;
	*why = "unknown ELF class, byte order or version";
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
	    ident[EI_VERSION] != EV_CURRENT)
		return ELF_MALFORMED;
	e->type = cursor_u16(&c);
	e->machine = cursor_u16(&c);
	cursor_skip(&c, 4 + 8); /* e_version, e_entry */
	e->segments_offset = cursor_u64(&c);
	e->sections_offset = cursor_u64(&c);
	cursor_skip(&c, 4 + 2); /* e_flags, e_ehsize */
	h->segment_entry_size = cursor_u16(&c);
	h->segment_count = cursor_u16(&c);
	h->section_entry_size = cursor_u16(&c);
	h->section_count = cursor_u16(&c);
	e->names_index = cursor_u16(&c);
	return ELF_OK;
}

/*
 * Counts that do not fit their 16 bits live in section header 0 (gABI, "Extended Section Header"):
 * the number of sections in sh_size, that of segments in sh_info.
 */
static const char *read_extended_counts(struct elf_file *e, struct header *h)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	struct cursor c = cursor_over(raw, sizeof(raw));
	bool many_sections = h->section_count == 0 && e->sections_offset != 0;
	bool many_segments = h->segment_count == PN_XNUM;
	struct elf_section first;

	if (!many_sections && !many_segments)
		return NULL;
	if (h->section_entry_size != sizeof(raw) ||
	    !elf_source_read(&e->source, raw, sizeof(raw), e->sections_offset)) {
		/*
		 * Without it the sections are unknown, which is survivable; the segments are not.
		 */
		elf_file_warn(e, "section header 0 ends after the file");
		return many_segments ? "section header 0, which counts the segments, is missing"
				     : NULL;
	}
	first = take_section(&c);
	if (many_sections)
		h->section_count = first.size > UINT32_MAX ? UINT32_MAX : (uint32_t)first.size;
	if (many_segments)
		h->segment_count = first.info;
	return NULL;
}

static const char *read_segments(struct elf_file *e, const struct header *h)
{
	uint32_t bytes = h->segment_count * (uint32_t)sizeof(Elf64_Phdr);
	struct cursor c;
	void *raw;

	if (h->segment_count == 0)
		return NULL;
	if (h->segment_count > ELF_SEGMENTS_MAX)
		return "more program headers than allowed";
	if (h->segment_entry_size != sizeof(Elf64_Phdr))
		return "program headers have a wrong entry size";
	raw = elf_source_copy(&e->source, e->segments_offset, bytes);
	if (!raw)
		return "program headers end after the file";
	e->segments = calloc(h->segment_count, sizeof(*e->segments));
	if (!e->segments) {
		free(raw);
		return "no memory for the program headers";
	}
	c = cursor_over(raw, bytes);
	for (uint32_t i = 0; i < h->segment_count; i++)
		e->segments[i] = take_segment(&c);
	e->segment_count = h->segment_count;
	free(raw);
	return NULL;
}

static const char *read_sections(struct elf_file *e, const struct header *h)
{
	uint32_t bytes = h->section_count * (uint32_t)sizeof(Elf64_Shdr);
	struct cursor c;
	void *raw;

	if (e->sections_offset == 0 || h->section_count == 0)
		return NULL;
	if (h->section_count > ELF_SECTIONS_MAX)
		return "more section headers than allowed";
	if (h->section_entry_size != sizeof(Elf64_Shdr))
		return "section headers have a wrong entry size";
	raw = elf_source_copy(&e->source, e->sections_offset, bytes);
	if (!raw)
		return "section headers end after the file";
	e->sections = calloc(h->section_count, sizeof(*e->sections));
	if (!e->sections) {
		free(raw);
		return "no memory for the section headers";
	}
	c = cursor_over(raw, bytes);
	for (uint32_t i = 0; i < h->section_count; i++)
		e->sections[i] = take_section(&c);
	e->section_count = h->section_count;
	if (e->names_index == SHN_XINDEX)
		e->names_index = e->sections[0].link;
	free(raw);
	return NULL;
}

static void check_segments(struct elf_file *e)
{
	for (uint32_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && !elf_source_has(&e->source, s->offset, s->file_size))
			elf_file_warn(e, "a segment ends after the file");
	}
}

static int order_ranges(const void *a, const void *b)
{
	const struct elf_code_range *x = a;
	const struct elf_code_range *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_range(struct elf_file *e, uint64_t start, uint64_t size)
{
	if (size == 0)
		return;
	e->code[e->code_count].start = start;
	e->code[e->code_count].end = start + size < start ? UINT64_MAX : start + size;
	e->code_count++;
}

static const char *collect_code(struct elf_file *e)
{
	uint32_t most = e->segment_count + e->section_count;

	e->code = calloc(most ? most : 1, sizeof(*e->code));
	if (!e->code)
		return "no memory for the code ranges";
	for (uint32_t i = 0; i < e->section_count; i++) {
		const struct elf_section *s = &e->sections[i];

		if ((s->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR))
			add_range(e, s->address, s->size);
	}
	for (uint32_t i = 0; i < e->segment_count && e->section_count == 0; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && (s->flags & PF_X))
			add_range(e, s->vaddr, s->file_size);
	}
	qsort(e->code, e->code_count, sizeof(*e->code), order_ranges);
	return NULL;
}

enum elf_status elf_file_open(struct elf_file *e, const struct elf_source *source, const char **why)
{
	struct header h = { 0 };
	enum elf_status status;
	const char *warning;

	*e = (struct elf_file){ .source = *source };
	status = read_header(e, &h, why);
	if (status != ELF_OK)
		return status;
	*why = read_extended_counts(e, &h);
	if (!*why)
		*why = read_segments(e, &h);
	if (!*why) {
		warning = read_sections(e, &h);
		if (warning)
			elf_file_warn(e, warning);
		check_segments(e);
		*why = collect_code(e);
	}
	if (*why) {
		elf_file_close(e);
		return ELF_MALFORMED;
	}
	return ELF_OK;
}

void elf_file_close(struct elf_file *e)
{
	free(e->segments);
	free(e->sections);
	free(e->code);
	*e = (struct elf_file){ 0 };
}

const struct elf_code_range *elf_file_code_at(const struct elf_file *e, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = e->code_count;

	/*
	 * The last range that starts at or before `address`. Overlapping ranges are a lie of the
	 * file: one of them answers.
	 */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (e->code[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= e->code[low - 1].end)
		return NULL;
	return &e->code[low - 1];
}
