/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rule: how to get from one frame to its caller at one program counter, as the call frame
 * information says it (DWARF 5 §6.4), reduced to what x86-64 unwinding needs: the CFA, the caller's
 * RBP, the return address.
 */
#ifndef BELFRY_SYMBOLIZER_CFI_UNWIND_RULE_H
#define BELFRY_SYMBOLIZER_CFI_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF register numbers of x86-64 (psABI, figure 3.36). */
enum {
	DWARF_REGISTER_RBP = 6,
	DWARF_REGISTER_RSP = 7,
	DWARF_REGISTER_RA = 16,
	DWARF_REGISTERS = 17, /* the general ones and the return address: all that matters here */
};

enum cfa_kind {
	CFA_REGISTER = 0, /* register + offset */
	CFA_DEREF,	  /* *(register + offset) + addend */
	CFA_PLT,	  /* rsp + 8 + ((rip & 15) >= plt_limit) * 8: what linkers write for .plt */
	CFA_BAD,	  /* cannot be expressed: `bad` says why */
	CFA_GAP,	  /* no information: hand-written or generated code */
};

enum rule_kind {
	RULE_SAME = 0,	  /* the caller's value is the register's own */
	RULE_AT_CFA,	  /* saved at CFA + offset */
	RULE_AT_REGISTER, /* saved at register + offset */
	RULE_REGISTER,	  /* in another register */
	RULE_UNDEFINED,	  /* for the return address: the outermost frame */
};

enum bad_reason {
	BAD_NONE = 0,
	BAD_CFA_EXPRESSION, /* a CFA expression of an unknown shape */
	BAD_CFA_REGISTER,   /* a register that x86-64 has not */
	BAD_RA_RULE,	    /* a return address rule of an unknown shape */
	BAD_RBP_RULE,	    /* an RBP rule of an unknown shape */
	BAD_OFFSET,	    /* an offset outside +-2 GiB */
	BAD_OPCODE,	    /* an unknown DW_CFA opcode */
	BAD_STATE_STACK,    /* remember/restore deeper than CFA_STATES_MAX, or unbalanced */
	BAD_TRUNCATED,	    /* instructions end inside an operand */
	BAD_REASONS,
};

struct saved_rule {
	uint8_t kind; /* enum rule_kind */
	uint8_t reg;
	int32_t offset;
};

struct unwind_rule {
	uint8_t cfa_kind; /* enum cfa_kind */
	uint8_t cfa_register;
	uint8_t plt_limit;
	uint8_t bad; /* enum bad_reason */
	bool signal_frame;
	int32_t cfa_offset;
	int32_t cfa_addend;
	struct saved_rule rbp;
	struct saved_rule ra;
};

/* One row: the rule holds from `pc` to the next row's pc. */
struct unwind_row {
	uint64_t pc; /* virtual address of the file */
	struct unwind_rule rule;
};

bool unwind_rule_equal(const struct unwind_rule *a, const struct unwind_rule *b);

#endif
