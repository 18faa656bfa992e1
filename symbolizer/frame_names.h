/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names: what a location of a window is called. Every location has a name: a symbol, or where it lies
 * (module+0xoffset, [anon]+0x…, [vdso]+0x…, [kernel]+0x…), or what it says about its stack.
 */
#ifndef BELFRY_SYMBOLIZER_FRAME_NAMES_H
#define BELFRY_SYMBOLIZER_FRAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/kernel_symbols.h"
#include "symbolizer/symbols.h"
#include "symbolizer/window.h"

#define FRAME_NAME_MAX 4608 /* a symbol's 4 KiB and what may follow it */

struct frame_name {
	const char *name; /* demangled; points into `buffer` or a cache */
	const char *system_name; /* as the symbol table has it, made valid text */
	uint64_t address; /* as the profile says it */
	bool is_symbol;   /* else it says where the location lies */
	char buffer[FRAME_NAME_MAX];
	char system_buffer[FRAME_NAME_MAX];
};

/* Asks workers for all that is not known of the window's locations. */
void frame_names_want(struct symbols *s, const struct window *w);

void frame_name_of(struct symbols *s, const struct kernel_symbols *k, const struct window *w,
		   const struct window_location *l, struct frame_name *out);

/* File name of a mapping as the profile shows it. */
const char *mapping_file_name(const struct window_mapping *m);

#endif
