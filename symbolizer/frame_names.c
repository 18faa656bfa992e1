/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/frame_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/valid_text.h"

/*
 * Kernel and modules are placed by whole pages: the bits below give nothing away, so an address without a name is shown by them
 * alone, and one with a name by its distance from the function's start.
 */
#define KERNEL_NAME_SHOWN 512 /* bytes of a kernel symbol that are shown */
#define KERNEL_OFFSET_MASK 0xfffull

static uint64_t file_offset(const struct window_mapping *m, uint64_t address)
{
	return address - m->start + m->offset;
}

static uint64_t symbol_file(const struct window_mapping *m)
{
	return m->kind == MAPPING_VDSO ? FILE_ID_VDSO : m->file_id;
}

void frame_names_want(struct symbols *s, const struct window *w)
{
	for (uint32_t i = 0; i < w->locations.count; i++) {
		const struct window_location *l = window_location_at(w, i);
		const struct window_mapping *m;

		if (l->mapping < WINDOW_MAPPING_FIRST)
			continue;
		m = window_mapping_at(w, l->mapping - WINDOW_MAPPING_FIRST);
		if (symbol_file(m) != FILE_ID_NONE)
			symbols_want(s, symbol_file(m), file_offset(m, l->address));
	}
}

const char *mapping_file_name(const struct window_mapping *m)
{
	switch (m->kind) {
	case MAPPING_ANONYMOUS:
		return "[anon]";
	case MAPPING_VDSO:
		return "[vdso]";
	case MAPPING_VSYSCALL:
		return "[vsyscall]";
	default:
		return *m->path->text ? m->path->text : "[file]";
	}
}

static void name_kernel(const struct kernel_symbols *k, uint64_t address, struct frame_name *out)
{
	const char *name, *module;
	uint64_t start;

	out->address = address & KERNEL_OFFSET_MASK;
	if (kernel_symbols_lookup(k, address, &name, &module, &start)) {
		char valid[KERNEL_NAME_SHOWN];

		valid_text_copy(name, strlen(name), valid, sizeof(valid));
		out->address = address - start;
		out->is_symbol = true;
		snprintf(out->buffer, sizeof(out->buffer), *module ? "%s [%s]" : "%s", valid, module);
	} else {
		snprintf(out->buffer, sizeof(out->buffer), "[kernel]+0x%" PRIx64, out->address);
	}
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void name_mapped(struct symbols *s, const struct window_mapping *m, uint64_t address,
			struct frame_name *out)
{
	uint64_t offset = file_offset(m, address);
	struct symbol symbol;

	if (symbol_file(m) != FILE_ID_NONE && symbols_lookup(s, symbol_file(m), offset, &symbol)) {
		if (symbol.name) {
			valid_text_copy(symbol.name, strlen(symbol.name), out->buffer, sizeof(out->buffer));
			valid_text_copy(symbol.system_name, strlen(symbol.system_name), out->system_buffer,
					sizeof(out->system_buffer));
			out->system_name = out->system_buffer;
			out->is_symbol = true;
			return;
		}
		if (symbol.has_address)
			offset = symbol.address;
	}
	if (m->kind == MAPPING_ANONYMOUS)
		offset = address - m->start;
	snprintf(out->buffer, sizeof(out->buffer), "%s+0x%" PRIx64, last_component(mapping_file_name(m)),
		 offset);
}

static void name_marker(uint64_t marker, struct frame_name *out)
{
	static const char *const names[STACK_MARKERS] = {
		[MARKER_TRUNCATED] = "[truncated]",
		[MARKER_UNREADABLE] = "[stack unreadable]",
		[MARKER_IMPLAUSIBLE] = "[no frame pointer]",
		[MARKER_NO_REGISTERS] = "[no user registers]",
		[MARKER_KERNEL_TRUNCATED] = "[kernel stack truncated]",
		[MARKER_EMPTY] = "[no stack]",
	};

	out->address = 0;
	snprintf(out->buffer, sizeof(out->buffer), "%s", marker < STACK_MARKERS ? names[marker] : "[unknown]");
}

void frame_name_of(struct symbols *s, const struct kernel_symbols *k, const struct window *w,
		   const struct window_location *l, struct frame_name *out)
{
	out->name = out->buffer;
	out->system_name = NULL;
	out->address = l->address;
	out->is_symbol = false;
	switch (l->mapping) {
	case WINDOW_KERNEL:
		name_kernel(k, l->address, out);
		break;
	case WINDOW_UNMAPPED:
		snprintf(out->buffer, sizeof(out->buffer), "[unmapped]+0x%" PRIx64, l->address);
		break;
	case WINDOW_MARKER:
		name_marker(l->address, out);
		break;
	default:
		name_mapped(s, window_mapping_at(w, l->mapping - WINDOW_MAPPING_FIRST), l->address, out);
	}
	if (!out->system_name)
		out->system_name = out->name;
}
