/* SPDX-License-Identifier: Apache-2.0 */
/* cfa_program: runs the call frame instructions of a CIE and an FDE (DWARF 5 §6.4.2) and yields a
 * row at each change. */
#ifndef BELFRY_SYMBOLIZER_CFI_CFA_PROGRAM_H
#define BELFRY_SYMBOLIZER_CFI_CFA_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/cursor.h"
#include "symbolizer/cfi/pointer_encoding.h"
#include "symbolizer/cfi/unwind_rule.h"

#define CFA_STATES_MAX 16 /* depth of DW_CFA_remember_state; compilers use 1 or 2 */

/* What a CIE says for all of its FDEs. */
struct cie {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint8_t return_register;
	uint8_t pointer_encoding; /* DW_EH_PE_* of FDE addresses, and of DW_CFA_set_loc */
	uint8_t lsda_encoding;
	bool augmented;	   /* augmentation begins with z: FDEs carry an augmentation length */
	bool signal_frame; /* S */
	struct cursor instructions;
};

/* Called for each row, in the order of the instructions; a row with the pc of the one before
 * replaces it. */
typedef void cfa_row_callback(void *context, const struct unwind_row *row);

/*
 * Runs `cie` and then `instructions` for the range [start, end). Rows outside the range are left
 * out. What cannot be expressed becomes a row with CFA_BAD; an instruction that cannot be read
 * makes the rest of the range bad.
 */
void cfa_program_run(const struct cie *cie, struct cursor instructions, uint64_t start,
		     uint64_t end, const struct pointer_bases *bases, cfa_row_callback *callback,
		     void *context);

#endif
