/* SPDX-License-Identifier: Apache-2.0 */
/* A section of call frame information of any bytes: it ends, reads nothing outside, and its rows
 * are in order. */
#include <stdlib.h>

#include "symbolizer/cfi/unwind_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct order {
	uint64_t last;
	bool any;
};

static void check_order(void *context, const struct unwind_row *row)
{
	struct order *o = context;

	if (o->any && row->pc <= o->last)
		abort();
	o->last = row->pc;
	o->any = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_section s = { .data = data + 1,
				   .bases = { .section = 0x10000, .data = 0x20000 } };
	struct unwind_counts counts;
	struct order o = { 0 };

	if (size < 1 || size > 1 << 20)
		return 0;
	s.len = (uint32_t)size - 1;
	s.debug_frame = data[0] & 1;
	s.ends_at_zero = data[0] & 2;
	unwind_rows_build(&s, 1, check_order, &o, &counts);
	return 0;
}
