/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms_line: one line of /proc/kallsyms: `ffffffff81000000 T name` with `\t[module]` behind it
 * for a module's.
 */
#ifndef BELFRY_SYMBOLIZER_KALLSYMS_LINE_H
#define BELFRY_SYMBOLIZER_KALLSYMS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define KALLSYMS_LINE_MAX 1024 /* the kernel's own limit of a name is 512 */

struct kallsyms_line {
	uint64_t address;
	char type;	  /* letter as in nm(1) */
	const char *name; /* into the line, not NUL-terminated */
	uint32_t name_len;
	const char *module; /* without brackets; module_len 0 for the kernel proper */
	uint32_t module_len;
};

/*
 * `line` without its newline. False when it is not of that form. What stands behind the module is
 * ignored.
 */
bool kallsyms_line_parse(const char *line, uint32_t len, struct kallsyms_line *out);

/* Types that are code: t, T, w, W. */
bool kallsyms_line_is_text(const struct kallsyms_line *l);

#endif
