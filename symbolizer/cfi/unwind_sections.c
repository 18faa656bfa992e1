/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/unwind_sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/cursor.h"
#include "symbolizer/elf/segments.h"
#include "symbolizer/elf/string_table.h"

#define NAME_MAX_BYTES 32
#define HDR_LEN	       8 /* of .eh_frame_hdr: version, three encodings, a 4-byte pointer to .eh_frame */

static void skip(struct unwind_sections *u, const char *why)
{
	if (!u->skipped)
		u->skipped = why;
}

static void add(struct unwind_sections *u, const struct elf_file *e, const char *name,
		uint64_t offset, uint64_t size, uint64_t address)
{
	struct frame_section *s = &u->found[u->count];

	if (size > UNWIND_SECTION_MAX || !elf_source_has(&e->source, offset, size)) {
		skip(u, "a section of call frame information is too large or lies outside of the "
			"file");
		return;
	}
	s->data = elf_source_copy(&e->source, offset, (size_t)size);
	if (!s->data) {
		skip(u, "a section of call frame information cannot be read");
		return;
	}
	s->len = (uint32_t)size;
	s->bases.section = address;
	s->debug_frame = strcmp(name, ".debug_frame") == 0;
	u->names[u->count++] = name;
}

static void add_by_name(struct unwind_sections *u, const struct elf_file *e,
			const struct elf_section *s, const char *name)
{
	static const char *const wanted[] = { ".eh_frame", ".debug_frame" };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(name, wanted[i]) != 0 || s->type == SHT_NOBITS || s->size == 0 ||
		    u->count == UNWIND_SECTIONS_FOUND)
			continue;
		if (s->flags & SHF_COMPRESSED)
			skip(u, ".debug_frame is compressed");
		else
			add(u, e, wanted[i], s->offset, s->size, s->address);
	}
}

/* .got, which DW_EH_PE_datarel is relative to on x86-64. */
static void set_data_base(struct unwind_sections *u, uint64_t address)
{
	for (uint32_t i = 0; i < UNWIND_SECTIONS_FOUND; i++)
		u->found[i].bases.data = address;
}

static void find_by_sections(struct unwind_sections *u, const struct elf_file *e,
			     uint32_t names_index)
{
	struct string_table *names = malloc(sizeof(*names));

	if (!names || names_index >= e->section_count) {
		free(names);
		return;
	}
	string_table_over(names, &e->source, e->sections[names_index].offset,
			  e->sections[names_index].size);
	for (uint32_t i = 0; i < e->section_count; i++) {
		char name[NAME_MAX_BYTES];

		string_table_get(names, e->sections[i].name, name, sizeof(name));
		add_by_name(u, e, &e->sections[i], name);
		if (strcmp(name, ".got") == 0)
			set_data_base(u, e->sections[i].address);
	}
	free(names);
}

/* Without sections nothing says where .eh_frame ends, but a linker's terminator does (DWARF's zero
 * length). */
static void find_by_header(struct unwind_sections *u, const struct elf_file *e)
{
	for (uint32_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];
		uint8_t raw[HDR_LEN];
		struct cursor c = cursor_over(raw, sizeof(raw));
		uint64_t address, offset, room;

		if (s->type != PT_GNU_EH_FRAME ||
		    !elf_source_read(&e->source, raw, sizeof(raw), s->offset))
			continue;
		if (cursor_u8(&c) != 1 || cursor_u8(&c) != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
			continue;
		cursor_skip(&c, 2);
		address = s->vaddr + 4 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
		if (!segments_offset(e, address, &offset, &room))
			continue;
		add(u, e, ".eh_frame", offset,
		    room < UNWIND_SECTION_MAX ? room : UNWIND_SECTION_MAX, address);
		if (u->count)
			u->found[0].ends_at_zero = true;
		return;
	}
}

void unwind_sections_read(struct unwind_sections *u, const struct elf_file *e)
{
	*u = (struct unwind_sections){ 0 };
	find_by_sections(u, e, e->names_index);
	if (u->count == 0)
		find_by_header(u, e);
}

void unwind_sections_free(struct unwind_sections *u)
{
	for (uint32_t i = 0; i < u->count; i++)
		free((void *)(uintptr_t)u->found[i].data);
}
