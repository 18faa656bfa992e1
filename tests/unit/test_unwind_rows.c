/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information by hand: one CIE as compilers write it, and FDEs of a few instructions
 * each. */
#include <string.h>

#include "tests/unit/cmocka_all.h"
#include "ipc/builder.h"
#include "symbolizer/cfi/unwind_rows.h"

#define SECTION_ADDRESS 0x10000
#define ROWS_MAX	64

struct section {
	uint8_t bytes[2048];
	struct builder b;
};

struct rows {
	struct unwind_row items[ROWS_MAX];
	uint32_t count;
};

static void collect(void *context, const struct unwind_row *row)
{
	struct rows *r = context;

	assert_true(r->count < ROWS_MAX);
	r->items[r->count++] = *row;
}

static void pad_entry(struct section *s, uint32_t length_at)
{
	uint32_t len;

	while ((s->b.len - length_at) % 4)
		builder_u8(&s->b, 0); /* DW_CFA_nop */
	len = s->b.len - length_at - 4;
	memcpy(s->bytes + length_at, &len, 4);
}

/* CIE of version 1, "zR" and `extra`: code alignment 1, data alignment -8, return address in 16;
 * FDE addresses sdata4 pc-relative (0x1b). */
static uint32_t add_cie(struct section *s, const char *extra)
{
	uint32_t at = s->b.len;

	builder_u32(&s->b, 0);
	builder_u32(&s->b, 0);
	builder_u8(&s->b, 1);
	builder_bytes(&s->b, "zR", 2);
	builder_bytes(&s->b, extra, (uint32_t)strlen(extra) + 1);
	builder_u8(&s->b, 1);
	builder_u8(&s->b, 0x78); /* sleb128 -8 */
	builder_u8(&s->b, 16);
	builder_u8(&s->b, 1); /* augmentation data */
	builder_u8(&s->b, 0x1b);
	builder_bytes(&s->b, "\x0c\x07\x08\x90\x01", 5); /* def_cfa rsp+8; ra at cfa-8 */
	pad_entry(s, at);
	return at;
}

static void add_fde(struct section *s, uint32_t cie, uint64_t start, uint32_t len, const void *code,
		    uint32_t code_len)
{
	uint32_t at = s->b.len;

	builder_u32(&s->b, 0);
	builder_u32(&s->b, s->b.len - cie);
	builder_u32(&s->b, (uint32_t)(start - (SECTION_ADDRESS + s->b.len)));
	builder_u32(&s->b, len);
	builder_u8(&s->b, 0); /* no augmentation data */
	builder_bytes(&s->b, code, code_len);
	pad_entry(s, at);
}

static struct section *begin(void)
{
	static struct section s;

	memset(&s, 0, sizeof(s));
	s.b = builder_over(s.bytes, sizeof(s.bytes));
	return &s;
}

static struct rows build(const struct section *s, struct unwind_counts *counts)
{
	const struct frame_section f = { .data = s->bytes,
					 .len = s->b.len,
					 .bases = { .section = SECTION_ADDRESS } };
	struct rows r = { 0 };

	assert_int_equal(unwind_rows_build(&f, 1, collect, &r, counts), 0);
	return r;
}

static void assert_cfa(const struct unwind_row *row, uint64_t pc, uint8_t reg, int32_t offset)
{
	assert_int_equal(row->pc, pc);
	assert_int_equal(row->rule.cfa_kind, CFA_REGISTER);
	assert_int_equal(row->rule.cfa_register, reg);
	assert_int_equal(row->rule.cfa_offset, offset);
}

/* push rbp; mov rbp, rsp; ...; pop rbp; ret: what every frame-pointer function has. */
static void a_frame_pointer_function_has_four_rows_and_a_gap(void **state)
{
	static const uint8_t code[] = {
		0x41,		  /* advance 1 */
		0x0e, 0x10,	  /* cfa offset 16 */
		0x86, 0x02,	  /* rbp at cfa-16 */
		0x43,		  /* advance 3 */
		0x0d, 0x06,	  /* cfa register rbp */
		0x02, 0x60,	  /* advance 0x60 */
		0x0c, 0x07, 0x08, /* cfa rsp+8 */
		0xc6,		  /* restore rbp */
	};
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;

	(void)state;
	add_fde(s, add_cie(s, ""), 0x1000, 0x70, code, sizeof(code));
	r = build(s, &counts);
	assert_int_equal(r.count, 5);
	assert_cfa(&r.items[0], 0x1000, DWARF_REGISTER_RSP, 8);
	assert_cfa(&r.items[1], 0x1001, DWARF_REGISTER_RSP, 16);
	assert_int_equal(r.items[1].rule.rbp.kind, RULE_AT_CFA);
	assert_int_equal(r.items[1].rule.rbp.offset, -16);
	assert_cfa(&r.items[2], 0x1004, DWARF_REGISTER_RBP, 16);
	assert_int_equal(r.items[2].rule.ra.offset, -8);
	assert_cfa(&r.items[3], 0x1064, DWARF_REGISTER_RSP, 8);
	assert_int_equal(r.items[3].rule.rbp.kind, RULE_SAME);
	assert_int_equal(r.items[4].pc, 0x1070);
	assert_int_equal(r.items[4].rule.cfa_kind, CFA_GAP);
}

static void remembered_state_comes_back_whole(void **state)
{
	static const uint8_t code[] = {
		0x41, 0x0e, 0x20, /* +1: cfa 32 */
		0x0a,		  /* remember */
		0x41, 0x0e, 0x08, /* +1: cfa 8 (an early return) */
		0x41, 0x0b,	  /* +1: as remembered */
	};
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;

	(void)state;
	add_fde(s, add_cie(s, ""), 0x1000, 0x10, code, sizeof(code));
	r = build(s, &counts);
	assert_int_equal(r.count, 5);
	assert_cfa(&r.items[1], 0x1001, DWARF_REGISTER_RSP, 32);
	assert_cfa(&r.items[2], 0x1002, DWARF_REGISTER_RSP, 8);
	assert_cfa(&r.items[3], 0x1003, DWARF_REGISTER_RSP, 32);
}

/* 300,000 does not fit 16 bits: uleb128 0xe0 0xa7 0x12. */
static void a_huge_frame_does_not_wrap(void **state)
{
	static const uint8_t code[] = { 0x41, 0x0e, 0xe0, 0xa7, 0x12 };
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;

	(void)state;
	add_fde(s, add_cie(s, ""), 0x1000, 0x10, code, sizeof(code));
	r = build(s, &counts);
	assert_cfa(&r.items[1], 0x1001, DWARF_REGISTER_RSP, 300000);
}

static void known_expressions_are_understood_and_no_other(void **state)
{
	static const uint8_t code[] = {
		/* rsp + 8 + ((rip & 15) >= 11) * 8: a linker's .plt */
		0x0f,
		0x0b,
		0x77,
		0x08,
		0x80,
		0x00,
		0x3f,
		0x1a,
		0x3b,
		0x2a,
		0x33,
		0x24,
		0x22,
		/* +1: *(rbp - 8); rbp saved at rbp + 0 */
		0x41,
		0x0f,
		0x03,
		0x76,
		0x78,
		0x06,
		0x10,
		0x06,
		0x02,
		0x76,
		0x00,
		/* +1: rsp * rsp */
		0x41,
		0x0f,
		0x05,
		0x77,
		0x00,
		0x77,
		0x00,
		0x1e,
	};
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;

	(void)state;
	add_fde(s, add_cie(s, ""), 0x1000, 0x10, code, sizeof(code));
	r = build(s, &counts);
	assert_int_equal(r.items[0].rule.cfa_kind, CFA_PLT);
	assert_int_equal(r.items[0].rule.plt_limit, 11);
	assert_int_equal(r.items[1].rule.cfa_kind, CFA_DEREF);
	assert_int_equal(r.items[1].rule.cfa_register, DWARF_REGISTER_RBP);
	assert_int_equal(r.items[1].rule.cfa_offset, -8);
	assert_int_equal(r.items[1].rule.rbp.kind, RULE_AT_REGISTER);
	assert_int_equal(r.items[2].rule.cfa_kind, CFA_BAD);
	assert_int_equal(r.items[2].rule.bad, BAD_CFA_EXPRESSION);
	assert_int_equal(counts.bad[BAD_CFA_EXPRESSION], 1);
}

static void the_outermost_frame_and_signal_frames_are_marked(void **state)
{
	static const uint8_t undefined[] = { 0x07,
					     0x10 }; /* return address undefined: _start, clone */
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;

	(void)state;
	add_fde(s, add_cie(s, "S"), 0x1000, 0x10, undefined, sizeof(undefined));
	r = build(s, &counts);
	assert_int_equal(r.items[0].rule.ra.kind, RULE_UNDEFINED);
	assert_true(r.items[0].rule.signal_frame);
}

/* Linkers leave entries of length 0 in the middle, and FDEs of functions that they dropped. */
static void zeros_and_empty_entries_are_passed_over(void **state)
{
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;
	uint32_t cie = add_cie(s, "");

	(void)state;
	builder_u32(&s->b, 0);
	add_fde(s, cie, 0x1000, 0, "", 0);
	add_fde(s, cie, 0x1000, 0x10, "\x0e\x10", 2);
	r = build(s, &counts);
	assert_int_equal(counts.empty, 2);
	assert_int_equal(r.count, 2);
	assert_cfa(&r.items[0], 0x1000, DWARF_REGISTER_RSP, 16);
}

/* In the section the second function stands first, and the third overlaps the end of the second. */
static void rows_come_in_the_order_of_addresses_and_none_twice(void **state)
{
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;
	uint32_t cie = add_cie(s, "");

	(void)state;
	add_fde(s, cie, 0x2000, 0x100, "\x0e\x20", 2);
	add_fde(s, cie, 0x1000, 0x10, "\x0e\x10", 2);
	add_fde(s, cie, 0x2080, 0x100, "\x0e\x30", 2);
	r = build(s, &counts);
	assert_int_equal(r.count, 5);
	assert_cfa(&r.items[0], 0x1000, DWARF_REGISTER_RSP, 16);
	assert_int_equal(r.items[1].pc, 0x1010); /* gap */
	assert_cfa(&r.items[2], 0x2000, DWARF_REGISTER_RSP, 32);
	assert_cfa(&r.items[3], 0x2100, DWARF_REGISTER_RSP, 48);
	assert_int_equal(r.items[4].pc, 0x2180);
	assert_int_equal(counts.overlapped, 1);
}

static void an_unknown_opcode_or_a_cut_operand_makes_the_rest_bad(void **state)
{
	struct section *s = begin();
	struct unwind_counts counts;
	struct rows r;
	uint32_t cie = add_cie(s, "");

	(void)state;
	add_fde(s, cie, 0x1000, 0x10, "\x44\x3f", 2);	  /* +4, then no opcode */
	add_fde(s, cie, 0x2000, 0x10, "\x44\x0f\x7f", 3); /* +4, then 127 bytes of nothing */
	add_fde(s, cie, 0x3000, 0x10, "\x44\x0b", 2);	  /* +4, restore without remember */
	r = build(s, &counts);
	assert_int_equal(r.items[1].rule.bad, BAD_OPCODE);
	assert_int_equal(r.items[1].pc, 0x1004);
	assert_int_equal(counts.bad[BAD_TRUNCATED], 1);
	assert_int_equal(counts.bad[BAD_STATE_STACK], 1);
}

static void every_truncation_ends_in_peace(void **state)
{
	struct section *s = begin();
	struct unwind_counts counts;
	uint32_t cie = add_cie(s, "");
	uint32_t len;

	(void)state;
	add_fde(s, cie, 0x1000, 0x10, "\x41\x0e\x10\x86\x02", 5);
	add_fde(s, cie, 0x2000, 0x10, "\x41\x0e\x20", 3);
	len = s->b.len;
	for (s->b.len = 0; s->b.len < len; s->b.len++)
		build(s, &counts);
}

static void leb128_is_bounded(void **state)
{
	static const uint8_t longest[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0x01 };
	static const uint8_t too_large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0xff, 0x02 };
	static const uint8_t minus_two[] = { 0x7e };
	struct cursor c = cursor_over(longest, sizeof(longest));

	(void)state;
	assert_true(cursor_uleb128(&c) == UINT64_MAX);
	assert_true(cursor_finished(&c));
	c = cursor_over(too_large, sizeof(too_large));
	cursor_uleb128(&c);
	assert_false(cursor_ok(&c));
	c = cursor_over(minus_two, sizeof(minus_two));
	assert_true(cursor_sleb128(&c) == -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_pointer_function_has_four_rows_and_a_gap),
		cmocka_unit_test(remembered_state_comes_back_whole),
		cmocka_unit_test(a_huge_frame_does_not_wrap),
		cmocka_unit_test(known_expressions_are_understood_and_no_other),
		cmocka_unit_test(the_outermost_frame_and_signal_frames_are_marked),
		cmocka_unit_test(zeros_and_empty_entries_are_passed_over),
		cmocka_unit_test(rows_come_in_the_order_of_addresses_and_none_twice),
		cmocka_unit_test(an_unknown_opcode_or_a_cut_operand_makes_the_rest_bad),
		cmocka_unit_test(every_truncation_ends_in_peace),
		cmocka_unit_test(leb128_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
