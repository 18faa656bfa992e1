/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_sections: the call frame information that an ELF file brings: .eh_frame and .debug_frame.
 * Found by section name, or, where the section table is gone, .eh_frame through PT_GNU_EH_FRAME.
 * Read by copy, never mapped.
 */
#ifndef BELFRY_SYMBOLIZER_CFI_UNWIND_SECTIONS_H
#define BELFRY_SYMBOLIZER_CFI_UNWIND_SECTIONS_H

#include <stdint.h>

#include "symbolizer/cfi/frame_section.h"
#include "symbolizer/elf/elf_file.h"

#define UNWIND_SECTION_MAX    (256u << 20) /* bytes of one; the largest seen has 8 MiB */
#define UNWIND_SECTIONS_FOUND 2

struct unwind_sections {
	struct frame_section found[UNWIND_SECTIONS_FOUND]; /* their data is owned here */
	const char *names[UNWIND_SECTIONS_FOUND];
	uint32_t count;
	const char *skipped; /* what is there but could not be used; NULL = nothing */
};

/* Finds what there is, perhaps nothing. */
void unwind_sections_read(struct unwind_sections *u, const struct elf_file *e);
void unwind_sections_free(struct unwind_sections *u);

#endif
