/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/cfa_program.h"

#include <string.h>

#include "symbolizer/cfi/cfa_expression.h"

/* The high two bits of the first byte, or all of it. */
#define DW_CFA_advance_loc		    0x40
#define DW_CFA_offset			    0x80
#define DW_CFA_restore			    0xc0
#define DW_CFA_nop			    0x00
#define DW_CFA_set_loc			    0x01
#define DW_CFA_advance_loc1		    0x02
#define DW_CFA_advance_loc2		    0x03
#define DW_CFA_advance_loc4		    0x04
#define DW_CFA_offset_extended		    0x05
#define DW_CFA_restore_extended		    0x06
#define DW_CFA_undefined		    0x07
#define DW_CFA_same_value		    0x08
#define DW_CFA_register			    0x09
#define DW_CFA_remember_state		    0x0a
#define DW_CFA_restore_state		    0x0b
#define DW_CFA_def_cfa			    0x0c
#define DW_CFA_def_cfa_register		    0x0d
#define DW_CFA_def_cfa_offset		    0x0e
#define DW_CFA_def_cfa_expression	    0x0f
#define DW_CFA_expression		    0x10
#define DW_CFA_offset_extended_sf	    0x11
#define DW_CFA_def_cfa_sf		    0x12
#define DW_CFA_def_cfa_offset_sf	    0x13
#define DW_CFA_val_offset		    0x14
#define DW_CFA_val_offset_sf		    0x15
#define DW_CFA_val_expression		    0x16
#define DW_CFA_GNU_window_save		    0x2d
#define DW_CFA_GNU_args_size		    0x2e
#define DW_CFA_GNU_negative_offset_extended 0x2f

/* Everything that the instructions can change. 64 bits wide until it is known to fit. */
struct cfa_state {
	struct unwind_rule rule;
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_by_register; /* else the expression in rule */
};

struct machine {
	const struct cie *cie;
	const struct pointer_bases *bases;
	struct cursor code;
	uint64_t pc;
	uint64_t start;
	uint64_t end;
	struct cfa_state now;
	struct cfa_state initial; /* what DW_CFA_restore goes back to: the state after the CIE's
				     instructions */
	struct cfa_state remembered[CFA_STATES_MAX];
	uint32_t depth;
	cfa_row_callback *callback; /* NULL while the CIE runs */
	void *context;
};

static void become_bad(struct machine *m, enum bad_reason why)
{
	if (m->now.rule.bad == BAD_NONE)
		m->now.rule.bad = (uint8_t)why;
}

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* The row for the state as it is now, everything narrowed and checked. */
static struct unwind_row current_row(const struct machine *m)
{
	struct unwind_row row = { .pc = m->pc, .rule = m->now.rule };

	row.rule.signal_frame = m->cie->signal_frame;
	if (m->now.cfa_by_register) {
		row.rule.cfa_kind = CFA_REGISTER;
		if (m->now.cfa_register >= DWARF_REGISTER_RA)
			row.rule.bad = BAD_CFA_REGISTER;
		else if (!fits(m->now.cfa_offset))
			row.rule.bad = BAD_OFFSET;
		row.rule.cfa_register = (uint8_t)m->now.cfa_register;
		row.rule.cfa_offset = (int32_t)m->now.cfa_offset;
	}
	if (row.rule.bad != BAD_NONE)
		row.rule = (struct unwind_rule){ .cfa_kind = CFA_BAD, .bad = row.rule.bad };
	return row;
}

static void emit(struct machine *m)
{
	struct unwind_row row;

	if (!m->callback || m->pc < m->start || m->pc >= m->end)
		return;
	row = current_row(m);
	m->callback(m->context, &row);
}

static void advance_to(struct machine *m, uint64_t pc)
{
	emit(m);
	m->pc = pc;
}

static void advance_by(struct machine *m, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, m->cie->code_alignment, &bytes) ||
	    __builtin_add_overflow(m->pc, bytes, &bytes)) {
		m->code.bad = true;
		return;
	}
	advance_to(m, bytes);
}

/* The rule of a register that we follow, or NULL: the others' rules do not matter. */
static struct saved_rule *rule_of(struct machine *m, struct cfa_state *s, uint64_t reg)
{
	if (reg == m->cie->return_register)
		return &s->rule.ra;
	return reg == DWARF_REGISTER_RBP ? &s->rule.rbp : NULL;
}

static void bad_register_rule(struct machine *m, uint64_t reg)
{
	become_bad(m, reg == m->cie->return_register ? BAD_RA_RULE : BAD_RBP_RULE);
}

static void set_rule(struct machine *m, uint64_t reg, enum rule_kind kind, uint64_t other,
		     int64_t offset)
{
	struct saved_rule *rule = rule_of(m, &m->now, reg);

	if (!rule)
		return;
	if (!fits(offset) || other >= DWARF_REGISTERS) {
		become_bad(m, BAD_OFFSET);
		return;
	}
	*rule = (struct saved_rule){ .kind = (uint8_t)kind,
				     .reg = (uint8_t)other,
				     .offset = (int32_t)offset };
}

static void set_offset(struct machine *m, uint64_t reg, int64_t factored)
{
	int64_t offset;

	if (__builtin_mul_overflow(factored, m->cie->data_alignment, &offset))
		offset = INT64_MAX;
	set_rule(m, reg, RULE_AT_CFA, 0, offset);
}

static void restore(struct machine *m, uint64_t reg)
{
	struct saved_rule *rule = rule_of(m, &m->now, reg);

	if (rule)
		*rule = *rule_of(m, &m->initial, reg);
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->now.cfa_by_register = true;
	m->now.cfa_register = reg;
	m->now.cfa_offset = offset;
	if (m->now.rule.bad == BAD_CFA_EXPRESSION)
		m->now.rule.bad = BAD_NONE; /* a later definition replaces the one that could not be
					       expressed */
}

static int64_t factored(struct machine *m, int64_t value)
{
	int64_t offset;

	return __builtin_mul_overflow(value, m->cie->data_alignment, &offset) ? INT64_MAX : offset;
}

static struct cursor expression(struct machine *m)
{
	uint64_t len = cursor_uleb128(&m->code);
	const uint8_t *bytes =
		len <= cursor_left(&m->code) ? cursor_bytes(&m->code, (uint32_t)len) : NULL;

	if (!bytes) {
		m->code.bad = true;
		return cursor_over(NULL, 0);
	}
	return cursor_over(bytes, (uint32_t)len);
}

static void cfa_by_expression(struct machine *m)
{
	struct cursor e = expression(m);

	m->now.cfa_by_register = false;
	m->now.rule.bad = BAD_NONE;
	if (!cfa_expression_of_cfa(e, &m->now.rule))
		become_bad(m, BAD_CFA_EXPRESSION);
}

static void saved_by_expression(struct machine *m)
{
	uint64_t reg = cursor_uleb128(&m->code);
	struct cursor e = expression(m);
	struct saved_rule *rule = rule_of(m, &m->now, reg);

	if (rule && !cfa_expression_of_register(e, rule))
		bad_register_rule(m, reg);
}

static void remember(struct machine *m)
{
	if (m->depth == CFA_STATES_MAX)
		become_bad(m, BAD_STATE_STACK);
	else
		m->remembered[m->depth++] = m->now;
}

static void recall(struct machine *m)
{
	if (m->depth == 0)
		become_bad(m, BAD_STATE_STACK);
	else
		m->now = m->remembered[--m->depth];
}

/* The instructions whose operand shares the first byte. Returns false for the others. */
static bool run_packed(struct machine *m, uint8_t opcode)
{
	uint8_t operand = opcode & 0x3f;

	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc:
		advance_by(m, operand);
		return true;
	case DW_CFA_offset:
		set_offset(m, operand, (int64_t)cursor_uleb128(&m->code));
		return true;
	case DW_CFA_restore:
		restore(m, operand);
		return true;
	default:
		return false;
	}
}

static bool run_location(struct machine *m, uint8_t opcode)
{
	switch (opcode) {
	case DW_CFA_set_loc:
		advance_to(m, cursor_encoded_pointer(&m->code, m->cie->pointer_encoding, m->bases,
						     m->start));
		return true;
	case DW_CFA_advance_loc1:
		advance_by(m, cursor_u8(&m->code));
		return true;
	case DW_CFA_advance_loc2:
		advance_by(m, cursor_u16(&m->code));
		return true;
	case DW_CFA_advance_loc4:
		advance_by(m, cursor_u32(&m->code));
		return true;
	default:
		return false;
	}
}

static bool run_cfa(struct machine *m, uint8_t opcode)
{
	uint64_t reg;

	switch (opcode) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb128(&m->code);
		define_cfa(m, reg, (int64_t)cursor_uleb128(&m->code));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb128(&m->code);
		define_cfa(m, reg, factored(m, cursor_sleb128(&m->code)));
		return true;
	case DW_CFA_def_cfa_register:
		define_cfa(m, cursor_uleb128(&m->code), m->now.cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		define_cfa(m, m->now.cfa_register, (int64_t)cursor_uleb128(&m->code));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		define_cfa(m, m->now.cfa_register, factored(m, cursor_sleb128(&m->code)));
		return true;
	case DW_CFA_def_cfa_expression:
		cfa_by_expression(m);
		return true;
	default:
		return false;
	}
}

static bool run_register(struct machine *m, uint8_t opcode)
{
	uint64_t reg = 0;

	if (opcode != DW_CFA_expression)
		reg = cursor_uleb128(&m->code);
	switch (opcode) {
	case DW_CFA_offset_extended:
		set_offset(m, reg, (int64_t)cursor_uleb128(&m->code));
		break;
	case DW_CFA_offset_extended_sf:
		set_offset(m, reg, cursor_sleb128(&m->code));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(m, reg, -(int64_t)cursor_uleb128(&m->code));
		break;
	case DW_CFA_restore_extended:
		restore(m, reg);
		break;
	case DW_CFA_undefined:
		set_rule(m, reg, RULE_UNDEFINED, 0, 0);
		break;
	case DW_CFA_same_value:
		set_rule(m, reg, RULE_SAME, 0, 0);
		break;
	case DW_CFA_register:
		set_rule(m, reg, RULE_REGISTER, cursor_uleb128(&m->code), 0);
		break;
	case DW_CFA_expression:
		saved_by_expression(m);
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cursor_sleb128(&m->code);
		if (rule_of(m, &m->now, reg))
			bad_register_rule(m, reg);
		break;
	case DW_CFA_val_expression:
		expression(m);
		if (rule_of(m, &m->now, reg))
			bad_register_rule(m, reg);
		break;
	default:
		return false;
	}
	return true;
}

static bool is_register_opcode(uint8_t opcode)
{
	return (opcode >= DW_CFA_offset_extended && opcode <= DW_CFA_register) ||
	       (opcode >= DW_CFA_expression && opcode <= DW_CFA_offset_extended_sf) ||
	       (opcode >= DW_CFA_val_offset && opcode <= DW_CFA_val_expression) ||
	       opcode == DW_CFA_GNU_negative_offset_extended;
}

/* Returns false for an opcode that is not known: nothing after it can be read either. */
static bool run_one(struct machine *m, uint8_t opcode)
{
	if (run_packed(m, opcode) || run_location(m, opcode) || run_cfa(m, opcode))
		return true;
	if (is_register_opcode(opcode))
		return run_register(m, opcode);
	switch (opcode) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* arm64: toggles the signing of return addresses, which x86-64
					has not */
		return true;
	case DW_CFA_remember_state:
		remember(m);
		return true;
	case DW_CFA_restore_state:
		recall(m);
		return true;
	case DW_CFA_GNU_args_size:
		cursor_uleb128(&m->code);
		return true;
	default:
		return false;
	}
}

static void run(struct machine *m, struct cursor code)
{
	m->code = code;
	while (cursor_left(&m->code) > 0) {
		if (!run_one(m, cursor_u8(&m->code))) {
			become_bad(m, BAD_OPCODE);
			return;
		}
		if (!cursor_ok(&m->code)) {
			m->now.rule.bad = BAD_TRUNCATED;
			return;
		}
	}
}

void cfa_program_run(const struct cie *cie, struct cursor instructions, uint64_t start,
		     uint64_t end, const struct pointer_bases *bases, cfa_row_callback *callback,
		     void *context)
{
	struct machine m = {
		.cie = cie,
		.bases = bases,
		.pc = start,
		.start = start,
		.end = end,
		.context = context,
	};

	run(&m, cie->instructions);
	m.initial = m.now;
	m.pc = start;
	m.callback = callback;
	/* The operands of DW_CFA_set_loc are relative to the instruction's place; both programs lie
	 * in one section. */
	run(&m, instructions);
	emit(&m);
}
