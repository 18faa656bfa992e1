/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table: where functions start according to .eh_frame_hdr (LSB Core 5.0, 10.6.2): it knows
 * functions whose symbols were stripped. Only the form that linkers write is read; anything else
 * counts as absent.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_FRAME_TABLE_H
#define BELFRY_SYMBOLIZER_ELF_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/elf/elf_file.h"

struct frame_table {
	const struct elf_file *file; /* not owned */
	uint64_t base;		     /* address of .eh_frame_hdr; entries are relative to it */
	uint64_t entries_offset;     /* in the file */
	uint32_t count;		     /* 0 = no table */
};

void frame_table_find(struct frame_table *t, const struct elf_file *e);

/* Whether a function is known to start in (after, address]. */
bool frame_table_starts_between(const struct frame_table *t, uint64_t after, uint64_t address);

#endif
