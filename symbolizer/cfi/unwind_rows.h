/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rows: all rows of a file, in the order of addresses, none twice, neighbours with equal
 * rules merged, gaps marked.
 */
#ifndef BELFRY_SYMBOLIZER_CFI_UNWIND_ROWS_H
#define BELFRY_SYMBOLIZER_CFI_UNWIND_ROWS_H

#include <stdint.h>

#include "symbolizer/cfi/frame_section.h"
#include "symbolizer/cfi/unwind_rule.h"

#define UNWIND_FDES_MAX	    (4u << 20) /* of one file; the largest seen has 160,805 */
#define UNWIND_SECTIONS_MAX 3

struct unwind_counts {
	uint64_t fdes;
	uint64_t empty;	     /* FDEs that cover nothing */
	uint64_t invalid;    /* entries that could not be read */
	uint64_t overlapped; /* FDEs, or parts of them, that an earlier one covers already */
	uint64_t over_limit; /* FDEs above UNWIND_FDES_MAX */
	uint64_t rows;	     /* before neighbours are merged */
	uint64_t merged_rows;
	uint64_t gaps;
	uint64_t bad[BAD_REASONS]; /* rows that cannot be expressed, by reason */
};

/*
 * Calls back for each row. The sections are taken in their order: where two cover an address, the
 * first one's FDE counts. Returns 0 or -ENOMEM.
 */
int unwind_rows_build(const struct frame_section *sections, uint32_t section_count,
		      cfa_row_callback *callback, void *context, struct unwind_counts *counts);

#endif
