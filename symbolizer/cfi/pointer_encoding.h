/* SPDX-License-Identifier: Apache-2.0 */
/* pointer_encoding: LEB128 numbers and the DW_EH_PE_* encodings of pointers (LSB core 5.0,
 * §10.5.1). */
#ifndef BELFRY_SYMBOLIZER_CFI_POINTER_ENCODING_H
#define BELFRY_SYMBOLIZER_CFI_POINTER_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/cursor.h"

#define DW_EH_PE_absptr	  0x00
#define DW_EH_PE_uleb128  0x01
#define DW_EH_PE_udata2	  0x02
#define DW_EH_PE_udata4	  0x03
#define DW_EH_PE_udata8	  0x04
#define DW_EH_PE_sleb128  0x09
#define DW_EH_PE_sdata2	  0x0a
#define DW_EH_PE_sdata4	  0x0b
#define DW_EH_PE_sdata8	  0x0c
#define DW_EH_PE_pcrel	  0x10
#define DW_EH_PE_textrel  0x20
#define DW_EH_PE_datarel  0x30
#define DW_EH_PE_funcrel  0x40
#define DW_EH_PE_aligned  0x50
#define DW_EH_PE_indirect 0x80
#define DW_EH_PE_omit	  0xff

/* What relative encodings are relative to. */
struct pointer_bases {
	uint64_t section; /* virtual address of the cursor's byte 0, for pcrel and aligned */
	uint64_t text;	  /* for textrel */
	uint64_t data;	  /* for datarel: .got, or the start of .eh_frame_hdr there */
};

/* At most 10 bytes; bits above 64 must be zero (or the sign). A longer number makes the cursor bad.
 */
uint64_t cursor_uleb128(struct cursor *c);
int64_t cursor_sleb128(struct cursor *c);

/*
 * A pointer in `encoding`. Of an indirect one the address of the pointer is returned: nothing
 * follows it in a file. `function` is for funcrel. An unknown encoding makes the cursor bad.
 */
uint64_t cursor_encoded_pointer(struct cursor *c, uint8_t encoding,
				const struct pointer_bases *bases, uint64_t function);

#endif
