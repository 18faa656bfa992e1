/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_section: the entries of .eh_frame (LSB core 5.0, §10.6) and .debug_frame (DWARF 5 §6.4.1).
 * Entries come in the order of the section, which is not that of addresses.
 */
#ifndef BELFRY_SYMBOLIZER_CFI_FRAME_SECTION_H
#define BELFRY_SYMBOLIZER_CFI_FRAME_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/cursor.h"
#include "symbolizer/cfi/cfa_program.h"
#include "symbolizer/cfi/pointer_encoding.h"

struct frame_section {
	const uint8_t *data; /* not owned */
	uint32_t len;
	bool debug_frame;  /* else .eh_frame: they differ in how an FDE finds its CIE */
	bool ends_at_zero; /* an entry of length 0 is the end; else it is passed over (linkers leave
			      some in the middle) */
	struct pointer_bases bases;
};

/* One FDE: `instructions` and those of `cie` are cursors over the whole section, cut at their ends.
 */
struct fde {
	uint64_t start;
	uint64_t end;
	struct cie cie;
	struct cursor instructions;
};

enum frame_entry {
	FRAME_ENTRY_END = 0,
	FRAME_ENTRY_CIE,     /* nothing to do */
	FRAME_ENTRY_FDE,     /* *out is filled in */
	FRAME_ENTRY_EMPTY,   /* covers no address: linkers leave such behind for code that they
				dropped */
	FRAME_ENTRY_INVALID, /* its length is right, but what is inside cannot be read: skipped */
	FRAME_ENTRY_BROKEN, /* its length leads out of the section: nothing after it can be found */
};

/* Reads the entry at `at` (a cursor over the whole section, advanced behind it). */
enum frame_entry frame_section_next(const struct frame_section *s, struct cursor *at,
				    struct fde *out);

/* Reads the FDE at a section offset, as .eh_frame_hdr points to. */
enum frame_entry frame_section_at(const struct frame_section *s, uint32_t offset, struct fde *out);

#endif
