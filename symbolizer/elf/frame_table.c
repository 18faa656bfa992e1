/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/frame_table.h"

#include <elf.h>

#include "ipc/cursor.h"

#define HEADER_LEN 12u /* version, three encodings, pointer to .eh_frame, number of entries */
#define ENTRY_LEN  8u  /* start of the function, its FDE: both 32 bits, signed */

/* DWARF pointer encodings (LSB Core 5.0, 10.5.1). */
#define ENCODING_UDATA4		0x03
#define ENCODING_PCREL_SDATA4	0x1b
#define ENCODING_DATAREL_SDATA4 0x3b

void frame_table_find(struct frame_table *t, const struct elf_file *e)
{
	uint8_t raw[HEADER_LEN];
	struct cursor c = cursor_over(raw, sizeof(raw));
	const struct elf_segment *s = NULL;
	uint32_t count;

	*t = (struct frame_table){ .file = e };
	for (uint32_t i = 0; i < e->segment_count && !s; i++)
		if (e->segments[i].type == PT_GNU_EH_FRAME)
			s = &e->segments[i];
	if (!s || s->file_size < HEADER_LEN ||
	    !elf_source_read(&e->source, raw, sizeof(raw), s->offset))
		return;
	if (cursor_u8(&c) != 1 || cursor_u8(&c) != ENCODING_PCREL_SDATA4 ||
	    cursor_u8(&c) != ENCODING_UDATA4 || cursor_u8(&c) != ENCODING_DATAREL_SDATA4)
		return;
	cursor_skip(&c, 4);
	count = cursor_u32(&c);
	if (count > (s->file_size - HEADER_LEN) / ENTRY_LEN)
		return;
	t->base = s->vaddr;
	t->entries_offset = s->offset + HEADER_LEN;
	t->count = count;
}

static bool entry_start(const struct frame_table *t, uint32_t index, uint64_t *start)
{
	uint8_t raw[4];
	struct cursor c = cursor_over(raw, sizeof(raw));

	if (!elf_source_read(&t->file->source, raw, sizeof(raw),
			     t->entries_offset + (uint64_t)index * ENTRY_LEN))
		return false;
	*start = t->base + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
	return true;
}

bool frame_table_starts_between(const struct frame_table *t, uint64_t after, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = t->count;
	uint64_t start;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!entry_start(t, middle, &start))
			return false;
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && entry_start(t, low - 1, &start) && start > after && start <= address;
}
