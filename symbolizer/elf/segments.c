/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/segments.h"

#include <elf.h>

bool segments_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	bool found = false;

	for (uint32_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type != PT_LOAD || offset < s->offset || offset - s->offset >= s->file_size)
			continue;
		if (!found || (s->flags & PF_X))
			*address = s->vaddr + (offset - s->offset);
		found = true;
		if (s->flags & PF_X)
			break;
	}
	return found;
}

bool segments_offset(const struct elf_file *e, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (uint32_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type != PT_LOAD || address < s->vaddr || address - s->vaddr >= s->file_size)
			continue;
		*offset = s->offset + (address - s->vaddr);
		*room = s->file_size - (address - s->vaddr);
		return true;
	}
	return false;
}
