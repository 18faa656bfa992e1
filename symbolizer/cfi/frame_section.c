/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/frame_section.h"

/* The frame of one entry: where its content begins and ends, and how wide its CIE pointer is. */
struct entry {
	struct cursor content; /* behind the CIE id or pointer, cut at the end of the entry */
	uint64_t id;
	uint32_t id_offset; /* where the id stands: .eh_frame's CIE pointers are relative to it */
	bool wide;	    /* 64-bit DWARF */
};

/* Takes the header of an entry off `at`. An entry of length 0 has no content and id_offset 0. */
static enum frame_entry read_entry(const struct frame_section *s, struct cursor *at,
				   struct entry *e)
{
	uint64_t len = cursor_u32(at);
	uint32_t end;

	*e = (struct entry){ 0 };
	if (len == 0xffffffff) {
		e->wide = true;
		len = cursor_u64(at);
	} else if (len >= 0xfffffff0) {
		return FRAME_ENTRY_BROKEN;
	}
	if (!cursor_ok(at) || len > cursor_left(at))
		return FRAME_ENTRY_BROKEN;
	end = at->offset + (uint32_t)len;
	e->content = (struct cursor){ .data = s->data, .len = end, .offset = at->offset };
	at->offset = end;
	if (len == 0)
		return FRAME_ENTRY_EMPTY;
	e->id_offset = e->content.offset;
	/* .eh_frame's pointer has 4 bytes even in a 64-bit entry, .debug_frame's follows the entry.
	 */
	e->id = e->wide && s->debug_frame ? cursor_u64(&e->content) : cursor_u32(&e->content);
	return cursor_ok(&e->content) ? FRAME_ENTRY_FDE : FRAME_ENTRY_INVALID;
}

static bool is_cie(const struct frame_section *s, const struct entry *e)
{
	if (!s->debug_frame)
		return e->id == 0;
	return e->id == (e->wide ? UINT64_MAX : UINT32_MAX);
}

/* The letters that say what stands in the augmentation data. An unknown one ends what we can know,
 * with 'z' harmlessly. */
static bool read_augmentation(struct cursor *c, const uint8_t *letters,
			      const struct frame_section *s, struct cie *cie)
{
	uint32_t data_end = 0;

	if (*letters == 'z') {
		uint64_t len = cursor_uleb128(c);

		if (len > cursor_left(c))
			return false;
		cie->augmented = true;
		data_end = c->offset + (uint32_t)len;
		letters++;
	}
	for (; *letters; letters++) {
		if (*letters == 'R')
			cie->pointer_encoding = cursor_u8(c);
		else if (*letters == 'L')
			cie->lsda_encoding = cursor_u8(c);
		else if (*letters == 'P')
			cursor_encoded_pointer(c, cursor_u8(c), &s->bases, 0);
		else if (*letters == 'S')
			cie->signal_frame = true;
		else if (*letters != 'B' && !cie->augmented)
			return false;
		else if (*letters != 'B')
			break;
	}
	if (cie->augmented && c->offset <= data_end)
		c->offset = data_end;
	return cursor_ok(c);
}

static bool read_cie(const struct frame_section *s, uint64_t offset, struct cie *cie)
{
	struct cursor at = { .data = s->data, .len = s->len, .offset = (uint32_t)offset };
	const uint8_t *letters;
	struct entry e;
	uint8_t version;

	*cie = (struct cie){ .lsda_encoding = DW_EH_PE_omit };
	if (offset >= s->len || read_entry(s, &at, &e) != FRAME_ENTRY_FDE || !is_cie(s, &e))
		return false;
	version = cursor_u8(&e.content);
	if (version != 1 && version != 3 && version != 4)
		return false;
	letters = e.content.data + e.content.offset;
	while (cursor_u8(&e.content) != 0)
		;
	if (version == 4 && (cursor_u8(&e.content) != 8 || cursor_u8(&e.content) != 0))
		return false; /* address size 8, no segments: x86-64 */
	cie->code_alignment = cursor_uleb128(&e.content);
	cie->data_alignment = cursor_sleb128(&e.content);
	if (version == 1) {
		cie->return_register = cursor_u8(&e.content);
	} else {
		uint64_t reg = cursor_uleb128(&e.content);

		cie->return_register = reg < DWARF_REGISTERS ? (uint8_t)reg : UINT8_MAX;
	}
	if (!cursor_ok(&e.content) || cie->return_register == UINT8_MAX ||
	    !read_augmentation(&e.content, letters, s, cie))
		return false;
	cie->instructions = e.content;
	return true;
}

static enum frame_entry read_fde(const struct frame_section *s, struct entry *e, struct fde *out)
{
	/* Of the length only the format counts: it is never relative. */
	const struct pointer_bases none = { 0 };
	uint64_t cie_at = s->debug_frame ? e->id : e->id_offset - e->id;
	uint64_t length;

	if ((!s->debug_frame && e->id > e->id_offset) || !read_cie(s, cie_at, &out->cie))
		return FRAME_ENTRY_INVALID;
	out->start = cursor_encoded_pointer(&e->content, out->cie.pointer_encoding, &s->bases, 0);
	length = cursor_encoded_pointer(&e->content, out->cie.pointer_encoding & 0x0f, &none, 0);
	if (out->cie.augmented) {
		uint64_t skip = cursor_uleb128(&e->content);

		cursor_skip(&e->content, skip <= UINT32_MAX ? (uint32_t)skip : UINT32_MAX);
	}
	if (!cursor_ok(&e->content) || __builtin_add_overflow(out->start, length, &out->end))
		return FRAME_ENTRY_INVALID;
	out->instructions = e->content;
	return length ? FRAME_ENTRY_FDE : FRAME_ENTRY_EMPTY;
}

enum frame_entry frame_section_next(const struct frame_section *s, struct cursor *at,
				    struct fde *out)
{
	enum frame_entry what;
	struct entry e;

	if (cursor_left(at) < 4)
		return FRAME_ENTRY_END;
	what = read_entry(s, at, &e);
	if (what == FRAME_ENTRY_EMPTY && s->ends_at_zero && e.id_offset == 0)
		return FRAME_ENTRY_END;
	if (what != FRAME_ENTRY_FDE)
		return what;
	return is_cie(s, &e) ? FRAME_ENTRY_CIE : read_fde(s, &e, out);
}

enum frame_entry frame_section_at(const struct frame_section *s, uint32_t offset, struct fde *out)
{
	struct cursor at = { .data = s->data, .len = s->len, .offset = offset };

	return offset < s->len ? frame_section_next(s, &at, out) : FRAME_ENTRY_BROKEN;
}
