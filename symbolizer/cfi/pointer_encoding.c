/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cfi/pointer_encoding.h"

uint64_t cursor_uleb128(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift == 63 && (byte & 0x7e))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

int64_t cursor_sleb128(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift == 63 && (byte & 0x7f) != 0 && (byte & 0x7f) != 0x7f)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			value |= ~0ULL << (shift + 7);
		return (int64_t)value;
	}
	c->bad = true;
	return 0;
}

static uint64_t read_value(struct cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb128(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb128(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		c->bad = true;
		return 0;
	}
}

uint64_t cursor_encoded_pointer(struct cursor *c, uint8_t encoding,
				const struct pointer_bases *bases, uint64_t function)
{
	uint64_t here = bases->section + c->offset; /* cursors run over the whole section */
	uint64_t value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	if ((encoding & 0x70) == DW_EH_PE_aligned) {
		cursor_skip(c, (uint32_t)(-here & 7));
		return cursor_u64(c);
	}
	value = read_value(c, encoding & 0x0f);
	switch (encoding & 0x70) {
	case 0:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_textrel:
		return value + bases->text;
	case DW_EH_PE_datarel:
		return value + bases->data;
	case DW_EH_PE_funcrel:
		return value + function;
	default:
		c->bad = true;
		return 0;
	}
}
