/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/unwind_rule.h"

static bool saved_equal(const struct saved_rule *a, const struct saved_rule *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

bool unwind_rule_equal(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return a->cfa_kind == b->cfa_kind && a->cfa_register == b->cfa_register &&
	       a->plt_limit == b->plt_limit && a->bad == b->bad &&
	       a->signal_frame == b->signal_frame && a->cfa_offset == b->cfa_offset &&
	       a->cfa_addend == b->cfa_addend && saved_equal(&a->rbp, &b->rbp) &&
	       saved_equal(&a->ra, &b->ra);
}
