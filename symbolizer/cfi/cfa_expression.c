/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/cfa_expression.h"

#include <string.h>

#include "symbolizer/cfi/pointer_encoding.h"

#define DW_OP_deref	  0x06
#define DW_OP_plus	  0x22
#define DW_OP_plus_uconst 0x23
#define DW_OP_lit0	  0x30
#define DW_OP_lit31	  0x4f
#define DW_OP_breg0	  0x70
#define DW_OP_breg31	  0x8f

/* register + offset: one DW_OP_breg. */
static bool read_breg(struct cursor *e, uint8_t *reg, int32_t *offset)
{
	uint8_t opcode = cursor_u8(e);
	int64_t value;

	if (opcode < DW_OP_breg0 || opcode > DW_OP_breg31 ||
	    opcode - DW_OP_breg0 >= DWARF_REGISTER_RA)
		return false;
	value = cursor_sleb128(e);
	if (!cursor_ok(e) || value < INT32_MIN || value > INT32_MAX)
		return false;
	*reg = (uint8_t)(opcode - DW_OP_breg0);
	*offset = (int32_t)value;
	return true;
}

/*
 * What linkers write for .plt, where an entry pushes one word somewhere between its first and its
 * last byte: rsp + 8 + ((rip & 15) >= limit) << 3. Only `limit` differs: 11, or 10 with IBT.
 */
static bool is_plt(struct cursor e, uint8_t *limit)
{
	static const uint8_t shape[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
					 0,    0x2a, 0x33, 0x24, 0x22 };
	const uint8_t *bytes =
		cursor_left(&e) == sizeof(shape) ? cursor_bytes(&e, sizeof(shape)) : NULL;

	if (!bytes || memcmp(bytes, shape, 6) != 0 || memcmp(bytes + 7, shape + 7, 4) != 0)
		return false;
	if (bytes[6] < DW_OP_lit0 || bytes[6] > DW_OP_lit0 + 15)
		return false;
	*limit = bytes[6] - DW_OP_lit0;
	return true;
}

/* An optional constant that is added: nothing, plus_uconst n, or lit n and plus. */
static bool read_addend(struct cursor *e, int32_t *addend)
{
	uint8_t opcode;
	uint64_t value;

	*addend = 0;
	if (cursor_finished(e))
		return true;
	opcode = cursor_u8(e);
	if (opcode == DW_OP_plus_uconst) {
		value = cursor_uleb128(e);
		*addend = value <= INT32_MAX ? (int32_t)value : 0;
		return value <= INT32_MAX && cursor_finished(e);
	}
	if (opcode < DW_OP_lit0 || opcode > DW_OP_lit31 || cursor_u8(e) != DW_OP_plus)
		return false;
	*addend = opcode - DW_OP_lit0;
	return cursor_finished(e);
}

bool cfa_expression_of_cfa(struct cursor e, struct unwind_rule *rule)
{
	uint8_t limit;

	if (is_plt(e, &limit)) {
		rule->cfa_kind = CFA_PLT;
		rule->plt_limit = limit;
		return true;
	}
	if (!read_breg(&e, &rule->cfa_register, &rule->cfa_offset))
		return false;
	if (cursor_finished(&e)) {
		rule->cfa_kind = CFA_REGISTER;
		return true;
	}
	if (cursor_u8(&e) != DW_OP_deref || !read_addend(&e, &rule->cfa_addend))
		return false;
	rule->cfa_kind = CFA_DEREF;
	return true;
}

bool cfa_expression_of_register(struct cursor e, struct saved_rule *rule)
{
	struct saved_rule read = { .kind = RULE_AT_REGISTER };

	if (!read_breg(&e, &read.reg, &read.offset) || !cursor_finished(&e))
		return false;
	*rule = read;
	return true;
}
