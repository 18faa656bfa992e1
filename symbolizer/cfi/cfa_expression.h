/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfa_expression: recognises the few DWARF expressions (DWARF 5 §2.5) that compilers and linkers
 * put into call frame information. An expression of any other shape is not guessed at.
 */
#ifndef BELFRY_SYMBOLIZER_CFI_CFA_EXPRESSION_H
#define BELFRY_SYMBOLIZER_CFI_CFA_EXPRESSION_H

#include <stdbool.h>

#include "ipc/cursor.h"
#include "symbolizer/cfi/unwind_rule.h"

/* For DW_CFA_def_cfa_expression: sets the cfa_* fields. Returns false when the shape is unknown. */
bool cfa_expression_of_cfa(struct cursor e, struct unwind_rule *rule);

/* For DW_CFA_expression: where a register is saved. Returns false when the shape is unknown. */
bool cfa_expression_of_register(struct cursor e, struct saved_rule *rule);

#endif
